//! Texels to one colour: the nearest texel, the weighted mean of 2, 4 or 8, and four texels for
//! a gather.
//!
//! Weights are those of `weights.rs`; a format makes a result of the weighted texels (see `format.rs`). A texel on the
//! far side of a fraction that is zero takes no part, so that it may be infinite.

use super::addressing::{self, LinearTap};
use super::border::BorderTexel;
use super::format::ChannelAccess;
use super::weights::{TapList, split_weight};
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

/// A colour as a filter takes it.
pub(crate) type ColorSum = [f64; 4];

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
    pub(crate) unsafe fn texel_channels<C: ChannelAccess>(&self, at: Option<[u32; 3]>) -> ColorSum {
        let p = self.texel_address(at);
        let mut sum = [0.0; 4];
        for (c, v) in sum.iter_mut().enumerate().take(self.resource.format.channels as usize) {
            // SAFETY: the texel lies in the resource.
            *v = unsafe { C::channel_as_f64(p.wrapping_add(c * C::CHANNEL_BYTES), c) };
        }
        sum
    }

    /// Adds the nearest texel to `taps`.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    pub(crate) unsafe fn add_nearest<C: ChannelAccess>(
        &self,
        spot: &SamplePoint,
        weight: i32,
        slice: usize,
        taps: &mut TapList,
    ) {
        // SAFETY: passed on.
        taps.push(weight, slice, unsafe { self.texel_channels::<C>(self.nearest_texel(spot)) });
    }

    /// Adds the texels around a place to `taps`; they share `weight`.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    pub(crate) unsafe fn add_footprint<C: ChannelAccess>(
        &self,
        spot: &SamplePoint,
        weight: i32,
        slice: usize,
        taps: &mut TapList,
    ) {
        if spot.cube && self.sampler.seamless {
            // SAFETY: passed on.
            return unsafe { self.add_across_cube_edges::<C>(spot, weight, slice, taps) };
        }
        let [x, y, z] = self.linear_taps(spot);
        if spot.axes == 3 {
            // Halves, which only the weights of two levels have, go to the lower slice.
            let upper = (weight * z.frac as i32 + 127) >> 8;
            // SAFETY: passed on; the taps lie in the level.
            unsafe {
                self.add_plane::<C>(&x, &y, z.lo, weight - upper, 2 * slice, taps);
                if z.frac != 0 {
                    self.add_plane::<C>(&x, &y, z.hi, upper, 2 * slice + 1, taps);
                }
            }
        } else {
            // SAFETY: passed on; the taps lie in the level.
            unsafe { self.add_plane::<C>(&x, &y, spot.layer as i32, weight, slice, taps) };
        }
    }

    /// The taps of each axis; those that do not count have one texel.
    #[inline(always)]
    fn linear_taps(&self, spot: &SamplePoint) -> [LinearTap; 3] {
        let mut taps = [LinearTap { lo: 0, hi: 0, frac: 0 }; 3];
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
        if spot.axes == 1 && !self.resource.layered && self.address_mode(spot, 1) == AddressMode::Border {
            // The line lies in the middle between two rows, one of which is the border.
            taps[1] = LinearTap { lo: -1, hi: 0, frac: 128 };
        }
        taps
    }

    /// Adds the four texels around a place of a layer.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    #[inline(always)]
    unsafe fn add_plane<C: ChannelAccess>(
        &self,
        x: &LinearTap,
        y: &LinearTap,
        layer: i32,
        weight: i32,
        slice: usize,
        taps: &mut TapList,
    ) {
        let weights = split_weight(weight, x.frac as i32, y.frac as i32);
        let corners = [
            (x.lo, y.lo, true),
            (x.hi, y.lo, x.frac != 0),
            (x.lo, y.hi, y.frac != 0),
            (x.hi, y.hi, x.frac != 0 && y.frac != 0),
        ];
        for ((i, j, takes_part), weight) in corners.into_iter().zip(weights) {
            if takes_part {
                let at = ((i | j | layer) >= 0).then_some([i as u32, j as u32, layer as u32]);
                // SAFETY: passed on; the taps lie in the level.
                taps.push(weight, slice, unsafe { self.texel_channels::<C>(at) });
            }
        }
    }

    /// Adds the texels around a place on a cube, also those across an edge; beyond a corner the three texels that exist
    /// share the weight of the fourth.
    ///
    /// # Safety
    /// As [`SampleSource::texel_channels`].
    unsafe fn add_across_cube_edges<C: ChannelAccess>(
        &self,
        spot: &SamplePoint,
        weight: i32,
        slice: usize,
        taps: &mut TapList,
    ) {
        let n = self.level.extents[0];
        let (first, face) = (spot.layer / 6 * 6, spot.layer % 6);
        let [u, v] = [0, 1].map(|axis| addressing::linear_position(spot.at[axis], n));
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| ((u >> 8) + i, (v >> 8) + j));
        let texels = corners.map(|(i, j)| super::cube::texel_across_cube_edge(face, i, j, n));
        let weights = share_missing(split_weight(weight, u & 255, v & 255), texels.map(|t| t.is_some()));
        for (texel, weight) in texels.into_iter().zip(weights) {
            let Some((face, i, j)) = texel else { continue };
            if weight != 0 {
                let layer = (first + face).min(self.resource.layers - 1);
                // SAFETY: passed on; `texel_across_cube_edge` gives texels of the face.
                taps.push(weight, slice, unsafe { self.texel_channels::<C>(Some([i, j, layer])) });
            }
        }
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

/// Weights of four texels without the one that does not exist, the others larger in proportion.
fn share_missing(weights: [i32; 4], exists: [bool; 4]) -> [i32; 4] {
    let Some(missing) = exists.iter().position(|e| !e) else { return weights };
    let whole: i32 = weights.iter().sum();
    let rest = whole - weights[missing];
    let mut shared = weights.map(|w| if rest == 0 { 0 } else { (w * whole + rest / 2) / rest });
    shared[missing] = 0;
    // The neighbour takes what rounding left.
    shared[missing ^ 1] += whole - shared.iter().sum::<i32>();
    shared
}
