//! Texels to one colour: the nearest texel, the weighted mean of 2, 4 or 8, and four texels for
//! a gather.
//!
//! Weights are products of eighths of a byte (see `addressing.rs`), sums of them are made in
//! `f64` and rounded once, as the format says. A texel whose weight is zero takes no part, so that
//! it may be infinite, and a sum of negative zeros is one.

use super::addressing::{self, LinearTap};
use super::border::BorderTexel;
use super::format::ChannelAccess;
use super::{AddressMode, MipLevel, SamplerState, TextureResource};

/// A place in one layer of a level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplePoint {
    /// Axes that count.
    pub(crate) axes: usize,
    /// Coordinates, in texels or from 0 to 1.
    pub(crate) at: [f64; 3],
    /// The layer, 0 without layers.
    pub(crate) layer: u32,
    /// Offsets in texels.
    pub(crate) shift: [i32; 3],
    /// The layer is a face of a cube.
    pub(crate) cube: bool,
}

/// A colour before [`ChannelAccess::filtered_bits`].
pub(crate) type ColorSum = [f64; 4];

/// What sums begin with: any addend, also a negative zero, is what it was.
const NOTHING: ColorSum = [-0.0; 4];

/// What a texture is made of, for one level.
#[derive(Clone, Copy)]
pub(crate) struct SampleSource<'a> {
    pub(crate) resource: &'a TextureResource,
    pub(crate) sampler: &'a SamplerState,
    pub(crate) level: &'a MipLevel,
    pub(crate) border: &'a BorderTexel,
}

impl SampleSource<'_> {
    /// A direction always meets a face: nothing lies outside of a cube.
    fn address_mode(&self, spot: &SamplePoint, axis: usize) -> AddressMode {
        if spot.cube { AddressMode::Clamp } else { self.sampler.address_mode(axis) }
    }

    /// Texel numbers of the nearest texel, the layer in the last; `None` for the border.
    #[inline(always)]
    pub(crate) fn nearest_texel(&self, spot: &SamplePoint) -> Option<[u32; 3]> {
        let mut at = [0, 0, spot.layer];
        for (axis, place) in at.iter_mut().enumerate().take(spot.axes) {
            let n = self.level.extents[axis];
            let i = addressing::nearest_texel(
                spot.at[axis],
                n,
                self.address_mode(spot, axis),
                self.sampler.normalized,
                spot.shift[axis],
            );
            if i < 0 {
                return None;
            }
            *place = i as u32;
        }
        Some(at)
    }

    /// Where a texel is; `None` is the border.
    #[inline(always)]
    pub(crate) fn texel_address(&self, at: Option<[u32; 3]>) -> *const u8 {
        at.map_or(self.border.as_ptr(), |at| self.resource.texel_address(self.level, at))
    }

    /// Channels of a texel as the filter takes them.
    ///
    /// # Safety
    /// The resource's memory may be read, or faults.
    #[inline(always)]
    unsafe fn texel_channels<C: ChannelAccess>(&self, at: Option<[u32; 3]>) -> ColorSum {
        let p = self.texel_address(at);
        let mut sum = [0.0; 4];
        for (c, v) in sum.iter_mut().enumerate().take(self.resource.format.channels as usize) {
            // SAFETY: the texel lies in the resource.
            *v = unsafe { C::channel_as_f64(p.wrapping_add(c * C::CHANNEL_BYTES), c) };
        }
        sum
    }

    /// The nearest texel as a number.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    pub(crate) unsafe fn point_sample<C: ChannelAccess>(&self, spot: &SamplePoint) -> ColorSum {
        // SAFETY: passed on.
        unsafe { self.texel_channels::<C>(self.nearest_texel(spot)) }
    }

    /// The weighted mean of the texels around a place.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    pub(crate) unsafe fn filtered_color<C: ChannelAccess>(&self, spot: &SamplePoint) -> ColorSum {
        if spot.cube && self.sampler.seamless {
            // SAFETY: passed on.
            return unsafe { self.filter_across_cube_edges::<C>(spot) };
        }
        let none = LinearTap { lo: 0, hi: 0, frac: 0 };
        let mut taps = [none; 3];
        for (axis, tap) in taps.iter_mut().enumerate().take(spot.axes) {
            let n = self.level.extents[axis];
            *tap = addressing::linear_taps(
                spot.at[axis],
                n,
                self.address_mode(spot, axis),
                self.sampler.normalized,
                spot.shift[axis],
            );
        }
        if spot.axes == 1 && self.address_mode(spot, 1) == AddressMode::Border {
            // The line lies in the middle between two rows, one of which is the border.
            taps[1] = LinearTap { lo: -1, hi: 0, frac: 128 };
        }
        if spot.axes < 3 {
            taps[2] = LinearTap { lo: spot.layer as i32, hi: 0, frac: 0 };
        }
        // SAFETY: passed on.
        unsafe { self.weighted_sum::<C>(&taps) }
    }

    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    unsafe fn weighted_sum<C: ChannelAccess>(&self, taps: &[LinearTap; 3]) -> ColorSum {
        let mut sum = AlignedSum::<C>::new();
        let pair = |t: &LinearTap| [(t.lo, 256 - t.frac), (t.hi, t.frac)];
        for (k, wk) in pair(&taps[2]) {
            for (j, wj) in pair(&taps[1]) {
                let wkj = wk * wj;
                if wkj == 0 {
                    continue;
                }
                for (i, wi) in pair(&taps[0]) {
                    if wi == 0 {
                        continue;
                    }
                    let weight = f64::from(wkj * wi) * (1.0 / 16_777_216.0);
                    let at = ((i | j | k) >= 0).then_some([i as u32, j as u32, k as u32]);
                    // SAFETY: passed on; the taps lie in the level.
                    sum.add(weight, unsafe { self.texel_channels::<C>(at) });
                }
            }
        }
        sum.total()
    }

    /// The mean across the edges of a cube; beyond a corner the three texels that exist share the
    /// weight of the fourth.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    unsafe fn filter_across_cube_edges<C: ChannelAccess>(&self, spot: &SamplePoint) -> ColorSum {
        let n = self.level.extents[0];
        let (first, face) = (spot.layer / 6 * 6, spot.layer % 6);
        let fixed = |x: f64| (x * f64::from(n) * 256.0 - 127.5).floor() as i32;
        let (u, v) = (fixed(spot.at[0]), fixed(spot.at[1]));
        let (mut sum, mut total) = (AlignedSum::<C>::new(), 0.0);
        for (j, wj) in [(v >> 8, 256 - (v & 255)), ((v >> 8) + 1, v & 255)] {
            for (i, wi) in [(u >> 8, 256 - (u & 255)), ((u >> 8) + 1, u & 255)] {
                let weight = f64::from(wi * wj);
                let Some((face, i, j)) = super::cube::texel_across_cube_edge(face, i, j, n) else { continue };
                let layer = (first + face).min(self.resource.layers - 1);
                if weight != 0.0 {
                    // SAFETY: passed on; `texel_across_cube_edge` gives texels of the face.
                    sum.add(weight, unsafe { self.texel_channels::<C>(Some([i, j, layer])) });
                    total += weight;
                }
            }
        }
        sum.total().map(|v| v / total)
    }

    /// The four texels of a bilinear footprint, from the lower left (greater y) on
    /// counter-clockwise; the last number is the layer. `None` for the border.
    pub(crate) fn bilinear_footprint(&self, spot: &SamplePoint) -> [Option<[u32; 3]>; 4] {
        let tap = |axis: usize| {
            let n = self.level.extents[axis];
            addressing::linear_taps(
                spot.at[axis],
                n,
                self.address_mode(spot, axis),
                self.sampler.normalized,
                spot.shift[axis],
            )
        };
        let (x, y) = (tap(0), tap(1));
        let texel = |i: i32, j: i32| (i >= 0 && j >= 0).then_some([i as u32, j as u32, spot.layer]);
        [texel(x.lo, y.hi), texel(x.hi, y.hi), texel(x.hi, y.lo), texel(x.lo, y.lo)]
    }
}

/// A weighted sum of texels. Formats that [`ChannelAccess::ALIGNMENT_BITS`] concerns need all texels before one is added.
struct AlignedSum<C> {
    sum: ColorSum,
    /// Of the texels that are still to be added.
    waiting: [(f64, ColorSum); 8],
    n_waiting: usize,
    format: std::marker::PhantomData<C>,
}

impl<C: ChannelAccess> AlignedSum<C> {
    #[inline(always)]
    fn new() -> Self {
        AlignedSum { sum: NOTHING, waiting: [(0.0, NOTHING); 8], n_waiting: 0, format: std::marker::PhantomData }
    }

    /// Adds a texel; at most eight.
    #[inline(always)]
    fn add(&mut self, weight: f64, texel: ColorSum) {
        if C::ALIGNMENT_BITS.is_some() {
            self.waiting[self.n_waiting] = (weight, texel);
            self.n_waiting += 1;
        } else {
            (0..4).for_each(|c| self.sum[c] += weight * texel[c]);
        }
    }

    #[inline(always)]
    fn total(self) -> ColorSum {
        let Some(bits) = C::ALIGNMENT_BITS else { return self.sum };
        let texels = &self.waiting[..self.n_waiting];
        std::array::from_fn(|c| aligned_sum(texels.iter().map(|(weight, texel)| (*weight, texel[c])), bits, c))
    }
}

/// A sum of numbers that are not negative, each cut to a multiple of the last place that the largest one has with `bits`
/// significant bits. The fourth channel of sRGB is not aligned.
fn aligned_sum(terms: impl Iterator<Item = (f64, f64)> + Clone, bits: i32, c: usize) -> f64 {
    let largest = terms.clone().fold(0.0, |most: f64, (_, x)| most.max(x));
    if c == 3 || largest == 0.0 {
        return terms.fold(0.0, |sum, (weight, x)| sum + weight * x);
    }
    let field = (largest.to_bits() >> 52) - (bits as u64 - 1);
    let (unit, per_unit) = (f64::from_bits(field << 52), f64::from_bits((2046 - field) << 52));
    terms.fold(0.0, |sum, (weight, x)| sum + weight * (f64::from((x * per_unit) as i32) * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The filter of sRGB values 10 and 200.
    #[test]
    fn texels_of_srgb_are_aligned_to_the_largest() {
        let (low, high) = (0.003_051_757_812_5, 0.578_125);
        for (weight, expected) in [(0.25, 0.144_531_25), (0.5, 0.289_062_5), (0.75, 0.433_593_75)] {
            assert_eq!(aligned_sum([(1.0 - weight, low), (weight, high)].into_iter(), 8, 0), expected);
        }
        assert_eq!(aligned_sum([(1.0, low)].into_iter(), 8, 0), low);
        assert_eq!(aligned_sum([(0.5, 0.5), (0.5, 0.0078125)].into_iter(), 8, 0), 0.251_953_125 + 0.001_953_125);
    }
}
