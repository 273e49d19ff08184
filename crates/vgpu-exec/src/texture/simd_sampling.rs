//! The usual case, for all lanes at once: two-dimensional textures of one level, without a border.
//!
//! Gives the same bits as [`super::sample`], which does one lane after the other. Texel numbers
//! and weights are computed in loops over lanes that the compiler turns into vector code. Lanes
//! that take no part are computed too: whatever their coordinates hold, texel numbers lie in the
//! texture.

use super::format::{ChannelAccess, ChannelKind, F32Channel, dispatch_channel_kind};
use super::weights::TapList;
use super::{AddressMode, SamplerState, TextureResource, addressing};
use rtcg_ptx::ast::{TextureGeometry, Type};
use rtcg_vgpu_abi::WARP_LANES;
use rtcg_vgpu_abi::model::texture::{ALIGNMENT_BITS, NORMALIZED_FRACTIONS};
use rtcg_vgpu_abi::texture_request::{LevelKind, TextureLanes, TextureOp, TextureRequest};

type PerLane<T> = [T; WARP_LANES];

/// The texels of one axis around each lane's coordinate.
struct AxisTaps {
    lo: PerLane<i32>,
    hi: PerLane<i32>,
    /// Weight of `hi` in 1/256.
    frac: PerLane<i32>,
}

/// Samples the lanes of `mask` if this is the usual case; false when it is not.
///
/// # Safety
/// As [`super::sample::sample_lanes`].
pub(super) unsafe fn try_sample_simd(
    resource: &TextureResource,
    sampler: &SamplerState,
    request: &TextureRequest,
    mask: u32,
    lanes: &mut TextureLanes,
) -> bool {
    let plain = request.op == TextureOp::Sample
        && matches!(request.geometry, TextureGeometry::D2 | TextureGeometry::A2)
        && request.level == LevelKind::Base
        && !request.whole
        && !request.offsets
        && !matches!(request.ty, Type::F16 | Type::F16x2)
        && resource.levels.len() == 1
        && resource.shown_layers == resource.layers
        && !resource.linear_memory
        && sampler.address_mode(0) != AddressMode::Border
        && sampler.address_mode(1) != AddressMode::Border;
    if !plain {
        return false;
    }
    let format = resource.format;
    // SAFETY: passed on.
    let colours = unsafe {
        if !sampler.linear || !format.kind.is_filterable() {
            dispatch_channel_kind!(format.kind, sample_nearest(resource, sampler, request, lanes))
        } else {
            match (format.kind, format.channels) {
                (ChannelKind::F32, 1) => sample_floats::<1>(resource, sampler, request, lanes),
                (ChannelKind::F32, 4) => sample_floats::<4>(resource, sampler, request, lanes),
                (ChannelKind::Unorm8, 1) => sample_bytes::<1>(resource, sampler, request, lanes),
                (ChannelKind::Unorm8, 4) => sample_bytes::<4>(resource, sampler, request, lanes),
                _ => return false,
            }
        }
    };
    let taking_part: PerLane<u32> = std::array::from_fn(|lane| (mask >> lane & 1).wrapping_neg());
    for (results, colour) in lanes.results.iter_mut().zip(colours) {
        // Other lanes may hold what another texture gave.
        for ((result, v), part) in results.iter_mut().zip(colour).zip(taking_part) {
            *result = (v & part) | (*result & !part);
        }
    }
    lanes.flag = [1; WARP_LANES];
    true
}

/// Results of all lanes by channel.
type LaneColors = [PerLane<u32>; 4];

/// What a format lacks is 0.
const NO_COLORS: LaneColors = [[0; WARP_LANES]; 4];

/// The layer of a lane.
fn lane_layer(resource: &TextureResource, request: &TextureRequest, lanes: &TextureLanes, lane: usize) -> u32 {
    if request.geometry.is_layered() { addressing::clamp_layer(lanes.words[0][lane], resource.layers) } else { 0 }
}

/// Calls `f` with number, weights of the four texels (low row first) and their addresses of each lane.
#[inline(always)]
fn for_each_lane_footprint(
    resource: &TextureResource,
    sampler: &SamplerState,
    request: &TextureRequest,
    lanes: &TextureLanes,
    mut f: impl FnMut(usize, [i32; 4], [*const u8; 4]),
) {
    let level = &resource.levels[0];
    let first = usize::from(request.geometry.is_layered());
    let axis =
        |a: usize| axis_taps(&lanes.words[first + a], level.extents[a], sampler.address_mode(a), sampler.normalized);
    let (x, y) = (axis(0), axis(1));
    for lane in 0..WARP_LANES {
        let layer = lane_layer(resource, request, lanes, lane);
        let texel = |i: i32, j: i32| resource.texel_address(level, [i as u32, j as u32, layer]);
        let weights = plane_weights(x.frac[lane], y.frac[lane]);
        let (l, r, t, u) = (x.lo[lane], x.hi[lane], y.lo[lane], y.hi[lane]);
        f(lane, weights, [texel(l, t), texel(r, t), texel(l, u), texel(r, u)]);
    }
}

/// [`super::weights::split_weight`] of 256.
#[inline(always)]
fn plane_weights(x: i32, y: i32) -> [i32; 4] {
    let both = (x * y + 128) >> 8;
    [256 - x - y + both, x - both, y - both, both]
}

/// # Safety
/// As [`try_sample_simd`]; the format has `N` channels of `f32`.
unsafe fn sample_floats<const N: usize>(
    resource: &TextureResource,
    sampler: &SamplerState,
    request: &TextureRequest,
    lanes: &TextureLanes,
) -> LaneColors {
    let mut out = NO_COLORS;
    for_each_lane_footprint(resource, sampler, request, lanes, |lane, weights, places| {
        for (c, out) in out.iter_mut().enumerate().take(N) {
            // SAFETY: the four texels lie in the texture.
            let texels = places.map(|p| unsafe { p.cast::<u32>().wrapping_add(c).read_unaligned() });
            out[lane] = usual_mean(weights, texels).unwrap_or_else(|| unusual_mean(weights, texels));
        }
    });
    out
}

/// The mean of four floats, as [`F32Channel`] filters them, unless there are infinities, NaNs, very small numbers or zeros
/// whose sign may count.
#[inline(always)]
fn usual_mean(weights: [i32; 4], texels: [u32; 4]) -> Option<u32> {
    let magnitudes: [u32; 4] = std::array::from_fn(|k| if weights[k] != 0 { texels[k] & 0x7fff_ffff } else { 0 });
    let exponent = magnitudes.iter().fold(0, |most, m| most.max(*m)) >> 23;
    // All texels are finite, and those that are subnormal vanish.
    if !(40..0xff).contains(&exponent) || texels.iter().any(|t| t << 1 >= 0xff << 24) {
        return None;
    }
    // Places of the largest texel, of 28 bits, are whole.
    let scale = f64::from_bits(u64::from(1023 + 126 + ALIGNMENT_BITS[1] as u32 - exponent) << 52);
    let cut = |k: usize| {
        let scaled = if weights[k] != 0 { f64::from(f32::from_bits(texels[k])) * scale } else { 0.0 };
        // SAFETY: a texel that has a weight is less than 2 to the power of 28 now.
        f64::from(weights[k]) * f64::from(unsafe { scaled.to_int_unchecked::<i32>() })
    };
    let sum = (cut(0) + cut(1)) + (cut(2) + cut(3));
    if sum == 0.0 {
        return None;
    }
    let mean = sum * f64::from_bits(u64::from(1023 - 126 - 8 - ALIGNMENT_BITS[1] as u32 + exponent) << 52);
    // Halves are rounded away from zero; what is left has 24 bits.
    Some((f64::from_bits((mean.to_bits() + (1 << 28)) & !((1 << 29) - 1)) as f32).to_bits())
}

/// [`usual_mean`] of any numbers.
#[cold]
fn unusual_mean(weights: [i32; 4], texels: [u32; 4]) -> u32 {
    let (x, y) = (weights[1] + weights[3], weights[2] + weights[3]);
    let takes_part = [true, x != 0, y != 0, x != 0 && y != 0];
    let mut taps = TapList::new();
    for ((weight, texel), _) in weights.into_iter().zip(texels).zip(takes_part).filter(|(_, part)| *part) {
        let v = f32::from_bits(texel);
        let v = if v.is_subnormal() { 0.0_f32.copysign(v) } else { v };
        taps.push(weight, 0, [f64::from(v), 0.0, 0.0, 0.0]);
    }
    F32Channel::filter(taps.as_slice(), 0)
}

/// # Safety
/// As [`try_sample_simd`]; the format has `N` channels of bytes from 0 to 1.
unsafe fn sample_bytes<const N: usize>(
    resource: &TextureResource,
    sampler: &SamplerState,
    request: &TextureRequest,
    lanes: &TextureLanes,
) -> LaneColors {
    let mut sums = [[0_i32; WARP_LANES]; N];
    for_each_lane_footprint(resource, sampler, request, lanes, |lane, weights, places| {
        // SAFETY: the four texels lie in the texture.
        let texels = places.map(|p| unsafe { p.cast::<[u8; N]>().read_unaligned() });
        for (c, sum) in sums.iter_mut().enumerate() {
            sum[lane] = (0..4).map(|k| weights[k] * i32::from(texels[k][c])).sum();
        }
    });
    let mut out = NO_COLORS;
    for (out, sum) in out.iter_mut().zip(&sums) {
        // Texels of 8 bits are widened to 16, and so is their mean, halves up.
        *out = sum.map(|v| (v * 257 + 0x80) >> 8).map(|v| (v as f32 / 65535.0).to_bits());
    }
    out
}

/// # Safety
/// As [`try_sample_simd`].
unsafe fn sample_nearest<C: ChannelAccess>(
    resource: &TextureResource,
    sampler: &SamplerState,
    request: &TextureRequest,
    lanes: &TextureLanes,
) -> LaneColors {
    let level = &resource.levels[0];
    let first = usize::from(request.geometry.is_layered());
    let axis =
        |a: usize| axis_texels(&lanes.words[first + a], level.extents[a], sampler.address_mode(a), sampler.normalized);
    let (x, y) = (axis(0), axis(1));
    let mut out = NO_COLORS;
    for lane in 0..WARP_LANES {
        let layer = lane_layer(resource, request, lanes, lane);
        let p = resource.texel_address(level, [x[lane] as u32, y[lane] as u32, layer]);
        for (c, out) in out.iter_mut().enumerate().take(resource.format.channels as usize) {
            let q = p.wrapping_add(c * C::CHANNEL_BYTES);
            // SAFETY: the texel lies in the texture.
            out[lane] = unsafe { C::channel_bits(q, c) };
        }
    }
    out
}

/// Not above `v`, which is less than 2^31 in magnitude.
#[inline(always)]
fn floor_to_i32(v: f64) -> i32 {
    // SAFETY: the caller's bound.
    let t = unsafe { v.to_int_unchecked::<i32>() };
    t - i32::from(f64::from(t) > v)
}

/// `x` less a whole multiple of `period`; see [`addressing`].
#[inline(always)]
fn modulo_period(x: f64, period: f64) -> f64 {
    let turns = x / period;
    let near = if turns.abs() < 2_147_483_647.0 { turns } else { 0.0 };
    let x = if turns.abs() < 2_147_483_647.0 { x } else { 0.0 };
    let x = x - period * f64::from(floor_to_i32(near));
    let most = period.next_down();
    if x < most { x } else { most }
}

/// Between `least` and `most`; NaN becomes `least`, where the mean is the first texel, as it is at 0.
#[inline(always)]
fn clamp_position(x: f64, least: f64, most: f64) -> f64 {
    let x = if x > least { x } else { least };
    if x < most { x } else { most }
}

/// The greatest integers not above `scale` times the positions, which are less than 2^31.
#[inline(always)]
fn scaled_positions(words: &PerLane<u32>, scale: f64, position: impl Fn(f64) -> f64) -> PerLane<i32> {
    words.map(|w| floor_to_i32(position(f64::from(f32::from_bits(addressing::flush_subnormal(w)))) * scale))
}

/// Positions in texels, times 512 and rounded down.
fn fixed_point_positions(words: &PerLane<u32>, n: u32, mode: AddressMode, normalized: bool) -> PerLane<i32> {
    let size = f64::from(n);
    let rounded = match mode {
        AddressMode::Wrap => scaled_positions(words, NORMALIZED_FRACTIONS, |x| modulo_period(x, 1.0)),
        AddressMode::Mirror => scaled_positions(words, NORMALIZED_FRACTIONS, |x| modulo_period(x, 2.0)),
        // From -4 to 5 there are four texels at least on each side.
        _ if normalized => scaled_positions(words, NORMALIZED_FRACTIONS, |x| clamp_position(x, -4.0, 5.0)),
        _ => return scaled_positions(words, 512.0, |x| clamp_position(x, -4.0, size + 4.0)),
    };
    let unit = size * (512.0 / NORMALIZED_FRACTIONS);
    rounded.map(|v| floor_to_i32(f64::from(v) * unit))
}

/// Texels that stand at numbers around the texture: see [`addressing`]. There is no border here.
fn apply_address_mode(numbers: &PerLane<i32>, n: u32, mode: AddressMode) -> PerLane<i32> {
    let (n, last) = (n as i32, n as i32 - 1);
    match mode {
        AddressMode::Wrap => numbers.map(|i| {
            if i < 0 {
                last
            } else if i > last {
                0
            } else {
                i
            }
        }),
        AddressMode::Mirror => numbers.map(|i| {
            let i = if i < 0 {
                -1 - i
            } else if i >= 2 * n {
                i - 2 * n
            } else {
                i
            };
            if i < n { i } else { 2 * n - 1 - i }
        }),
        _ => numbers.map(|i| i.max(0).min(last)),
    }
}

/// [`addressing::linear_taps`] of every lane.
fn axis_taps(words: &PerLane<u32>, n: u32, mode: AddressMode, normalized: bool) -> AxisTaps {
    // Halving the odd number rounds to 1/256: (512 u - 256 + 1) / 2.
    let fixed = fixed_point_positions(words, n, mode, normalized).map(|p| (p - 255) >> 1);
    AxisTaps {
        lo: apply_address_mode(&fixed.map(|f| f >> 8), n, mode),
        hi: apply_address_mode(&fixed.map(|f| (f >> 8) + 1), n, mode),
        frac: fixed.map(|f| f & 255),
    }
}

/// [`addressing::nearest_texel`] of every lane.
fn axis_texels(words: &PerLane<u32>, n: u32, mode: AddressMode, normalized: bool) -> PerLane<i32> {
    apply_address_mode(&fixed_point_positions(words, n, mode, normalized).map(|p| p >> 9), n, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECIAL_COORDINATES: [f32; 14] =
        [0.0, -0.0, 0.5, 1.0, 1.5, -3.5, 6.999, 7.0, 8.5, 1e10, -1e10, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

    fn assert_simd_equals_scalar(words: &PerLane<f32>, n: u32, mode: AddressMode, normalized: bool) {
        let bits = words.map(f32::to_bits);
        let (axis, texels) = (axis_taps(&bits, n, mode, normalized), axis_texels(&bits, n, mode, normalized));
        for (lane, &x) in words.iter().enumerate() {
            let t = addressing::linear_taps(f64::from(x), n, mode, normalized, 0);
            assert_eq!((axis.lo[lane], axis.hi[lane]), (t.lo, t.hi), "{x} of {n}, {mode:?}");
            assert!(t.lo == t.hi || axis.frac[lane] == t.frac as i32, "{x} of {n}, {mode:?}");
            assert_eq!(
                texels[lane],
                addressing::nearest_texel(f64::from(x), n, mode, normalized, 0),
                "{x} of {n}, {mode:?}"
            );
        }
    }

    #[test]
    fn simd_addressing_equals_scalar_addressing() {
        for n in [1, 7, 1024, 131_072] {
            for k in 0..100 {
                let step = (n as f32 / 97.0).max(1.0) / 512.0;
                let words = std::array::from_fn(|l| {
                    let base = SPECIAL_COORDINATES[(k + l) % SPECIAL_COORDINATES.len()];
                    if k < 20 { base } else { base + (l as f32 + k as f32 * 0.37) * step }
                });
                assert_simd_equals_scalar(&words, n, AddressMode::Clamp, false);
                for mode in [AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror] {
                    assert_simd_equals_scalar(&words, n, mode, true);
                    assert_simd_equals_scalar(&words.map(|x| x / n as f32), n, mode, true);
                }
            }
        }
    }
}
