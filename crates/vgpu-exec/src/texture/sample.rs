//! `tex` and `tld4` for the lanes of a warp.
//!
//! Results are 32-bit words as the texture unit gives them, whatever type the instruction names:
//! floats of float and normalised formats, integers of the others; `.f16` rounds the floats.
//! Channels that a format lacks are 0.

use super::addressing;
use super::border::BorderTexel;
use super::filter::{SamplePoint, SampleSource};
use super::format::{ChannelAccess, dispatch_channel_kind};
use super::weights::{Tap, TapList};
use super::{SamplerState, Texture, TextureResource, cube, gradient};
use half::f16;
use rtcg_ptx::ast::{TextureGeometry, Type};
use rtcg_vgpu_abi::model::texture::{FETCH_1D_READS_LINEAR_MEMORY_ONLY, LEVEL_FRACTIONS};
use rtcg_vgpu_abi::texture_request::{LevelKind, TextureLanes, TextureOp, TextureRequest};

/// A colour as a kernel sees it.
type ColorWords = [u32; 4];

/// Samples `texture` for the lanes of `mask`.
///
/// # Safety
/// The texture's memory may be read, or faults; this function owns nothing while it reads.
pub(crate) unsafe fn sample_lanes(texture: &Texture, request: &TextureRequest, mask: u32, lanes: &mut TextureLanes) {
    let Texture { resource, sampler, border } = texture;
    // SAFETY: passed on.
    unsafe {
        if !super::simd_sampling::try_sample_simd(resource, sampler, request, mask, lanes) {
            dispatch_channel_kind!(
                resource.format.kind,
                sample_lanes_of_channel(resource, sampler, border, request, mask, lanes)
            );
        }
    }
}

/// # Safety
/// As [`sample_lanes`].
unsafe fn sample_lanes_of_channel<C: ChannelAccess>(
    resource: &TextureResource,
    sampler: &SamplerState,
    border: &BorderTexel,
    request: &TextureRequest,
    mask: u32,
    lanes: &mut TextureLanes,
) {
    for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
        // SAFETY: passed on.
        let words = unsafe {
            match request.op {
                TextureOp::Gather(component) => {
                    gather_lane::<C>(resource, sampler, border, request, lanes, lane, component)
                }
                _ => sample_lane::<C>(resource, sampler, border, request, lanes, lane),
            }
        };
        store_color(request.ty, words, lanes, lane);
    }
}

/// Stores a colour as the results of a lane.
#[inline(always)]
fn store_color(ty: Type, words: ColorWords, lanes: &mut TextureLanes, lane: usize) {
    let half = |w: u32| u32::from(f16::from_f32(f32::from_bits(w)).to_bits());
    let out = match ty {
        Type::F16 => words.map(half),
        Type::F16x2 => {
            let [r, g, b, a] = words.map(half);
            [r | g << 16, b | a << 16, 0, 0]
        }
        _ => words,
    };
    for (result, word) in lanes.results.iter_mut().zip(out) {
        result[lane] = word;
    }
    lanes.flag[lane] = 1;
}

/// The layer and the coordinates of a lane.
#[inline(always)]
fn sample_point(
    resource: &TextureResource,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> SamplePoint {
    let geometry = request.geometry;
    let layered = usize::from(geometry.is_layered());
    let word = |i: usize| lanes.words[i][lane];
    let float = |i: usize| f32::from_bits(addressing::flush_subnormal(word(layered + i)));
    let mut layer = if geometry.is_layered() { word(0) } else { 0 };
    let axes = geometry.n_axes();
    let mut shift = [0; 3];
    if request.offsets {
        for (axis, s) in shift.iter_mut().enumerate().take(axes) {
            // The hardware has four bits for an offset.
            *s = (word(request.offsets_word_index() + axis) as i32) << 28 >> 28;
        }
    }
    if matches!(geometry, TextureGeometry::Cube | TextureGeometry::ACube) {
        let (face, [s, t]) = cube::face_of_direction([0, 1, 2].map(|i| word(layered + i)));
        layer = layer.min((resource.layers / 6).max(1) - 1) * 6 + face;
        let layer = addressing::clamp_layer(layer, resource.layers);
        return SamplePoint { axes: 2, at: [s, t, 0.0], layer, shift, cube: true };
    }
    let mut at = [0.0; 3];
    for (i, v) in at.iter_mut().enumerate().take(axes) {
        *v = if request.whole { f64::from(word(layered + i) as i32) } else { f64::from(float(i)) };
    }
    // A volume sampled as something flat, or the other way round, stays within its first slice.
    let flat_volume = axes == 3 && resource.layered;
    let layer = if axes == 3 { 0 } else { addressing::clamp_layer(layer, resource.layers) };
    SamplePoint { axes: if flat_volume { 2 } else { axes }, at, layer, shift, cube: false }
}

/// The level of detail, before bias and limits.
fn level_of_detail(resource: &TextureResource, request: &TextureRequest, lanes: &TextureLanes, lane: usize) -> f32 {
    let word = |i: usize| f32::from_bits(lanes.words[request.level_word_index() + i][lane]);
    match request.level {
        LevelKind::Base => 0.0,
        LevelKind::Explicit if request.whole => f64::from(word(0).to_bits() as i32) as f32,
        LevelKind::Explicit => word(0),
        LevelKind::Gradient => {
            let axes = request.geometry.n_axes();
            let gradients =
                [0, axes].map(|first| std::array::from_fn(|axis| if axis < axes { word(first + axis) } else { 0.0 }));
            if matches!(request.geometry, TextureGeometry::Cube | TextureGeometry::ACube) {
                let layered = usize::from(request.geometry.is_layered());
                let direction = [0, 1, 2].map(|i| lanes.words[layered + i][lane]);
                let half = resource.levels[0].extents[0] / 2;
                let along = gradients.map(|g| cube::gradient_on_face(direction.map(f32::from_bits), g));
                return gradient::level_of_gradients(along, [half, half, 0]);
            }
            gradient::level_of_gradients(gradients, resource.levels[0].extents)
        }
    }
}

/// Whether the device gives zeros: a CUDA array by the number of a texel in one dimension, which reads linear memory;
/// linear memory by floats; a layer that a view does not show.
#[inline(always)]
fn reads_nothing(resource: &TextureResource, request: &TextureRequest, layer: u32) -> bool {
    let linear_memory_only =
        request.whole && request.geometry == TextureGeometry::D1 && FETCH_1D_READS_LINEAR_MEMORY_ONLY;
    let wrong_kind = if resource.linear_memory { !request.whole } else { linear_memory_only };
    wrong_kind || layer >= resource.shown_layers
}

/// The levels to sample and the weight of the second in 1/256.
fn select_mip_levels(resource: &TextureResource, sampler: &SamplerState, detail: f32) -> (usize, usize, u32) {
    let last = resource.levels.len() - 1;
    if last == 0 {
        return (0, 0, 0);
    }
    let [least, most] = sampler.lod_clamp;
    let detail = detail.max(least).min(most).clamp(0.0, last as f32);
    let detail = if detail.is_nan() { 0.0 } else { detail };
    if !sampler.mip_linear {
        let nearest = ((f64::from(detail) + 0.5).floor() as usize).min(last);
        return (nearest, nearest, 0);
    }
    let fixed = (f64::from(detail) * LEVEL_FRACTIONS).floor() as usize;
    let first = (fixed >> 8).min(last);
    (first, (first + 1).min(last), (fixed & 255) as u32)
}

/// # Safety
/// As [`sample_lanes`].
#[inline(always)]
unsafe fn sample_lane<C: ChannelAccess>(
    resource: &TextureResource,
    sampler: &SamplerState,
    border: &BorderTexel,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> ColorWords {
    let spot = sample_point(resource, request, lanes, lane);
    let (first, second, weight) = match request.level {
        LevelKind::Base if resource.levels.len() == 1 => (0, 0, 0),
        // Without a level, the bias does not count.
        LevelKind::Base => select_mip_levels(resource, sampler, 0.0),
        _ => {
            let detail = level_of_detail(resource, request, lanes, lane);
            // What is no number counts as zero.
            let detail = if detail.is_nan() { 0.0 } else { detail };
            select_mip_levels(resource, sampler, detail + sampler.lod_bias)
        }
    };
    let source = |level: usize| SampleSource { resource, sampler, border, level: &resource.levels[level] };
    // SAFETY: passed on.
    unsafe {
        if reads_nothing(resource, request, spot.layer) {
            return [0; 4];
        }
        if request.whole || resource.linear_memory {
            return fetch_texel::<C>(&source(first), &spot);
        }
        let filters = sampler.linear || sampler.mip_linear && resource.levels.len() > 1;
        if !C::IS_FILTERABLE || !filters {
            return texel_bits::<C>(&source(first), source(first).nearest_texel(&spot));
        }
        let mut taps = TapList::new();
        let mut add = |level: usize, weight: i32, slice: usize| {
            let source = source(level);
            if sampler.linear {
                source.add_footprint::<C>(&spot, weight, slice, &mut taps);
            } else {
                source.add_nearest::<C>(&spot, weight, slice, &mut taps);
            }
        };
        add(first, 256 - weight as i32, 0);
        // A level of weight zero takes no part.
        if weight != 0 {
            add(second, weight as i32, 1);
        }
        let mut words = [0; 4];
        for (c, word) in words.iter_mut().enumerate().take(resource.format.channels as usize) {
            *word = C::filter(taps.as_slice(), c);
        }
        words
    }
}

/// Address and bytes of the texel nearest to a lane's coordinates, in the first level; `None` for the
/// border.
pub(crate) fn nearest_texel_address(
    texture: &Texture,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> Option<(u64, u32)> {
    let Texture { resource, sampler, border } = texture;
    let spot = sample_point(resource, request, lanes, lane);
    let source = SampleSource { resource, sampler, border, level: &resource.levels[0] };
    if reads_nothing(resource, request, spot.layer) {
        return None;
    }
    let at = if request.whole || resource.linear_memory {
        texel_indices(&source, &spot)
    } else {
        source.nearest_texel(&spot)
    };
    at.map(|at| (resource.texel_address(source.level, at) as u64, resource.format.bytes))
}

/// A texel named by number: no filter, and zero outside.
///
/// # Safety
/// As [`sample_lanes`].
#[inline(always)]
unsafe fn fetch_texel<C: ChannelAccess>(source: &SampleSource<'_>, spot: &SamplePoint) -> ColorWords {
    match texel_indices(source, spot) {
        // SAFETY: passed on; the texel lies in the level.
        Some(at) => unsafe { texel_bits::<C>(source, Some(at)) },
        None => [0; 4],
    }
}

/// Texel numbers of a place that names them, the layer in the last; `None` outside.
#[inline(always)]
fn texel_indices(source: &SampleSource<'_>, spot: &SamplePoint) -> Option<[u32; 3]> {
    let mut at = [0, 0, spot.layer];
    for (axis, place) in at.iter_mut().enumerate().take(spot.axes) {
        let number = spot.at[axis].floor().clamp(-4e9, 4e9) as i64;
        let i = addressing::texel_by_index(number, source.level.extents[axis], spot.shift[axis]);
        if i < 0 {
            return None;
        }
        *place = i as u32;
    }
    Some(at)
}

/// A texel as bits.
///
/// # Safety
/// As [`sample_lanes`].
#[inline(always)]
unsafe fn texel_bits<C: ChannelAccess>(source: &SampleSource<'_>, at: Option<[u32; 3]>) -> ColorWords {
    let p = source.texel_address(at);
    let mut words = [0; 4];
    for (c, word) in words.iter_mut().enumerate().take(source.resource.format.channels as usize) {
        let q = p.wrapping_add(c * C::CHANNEL_BYTES);
        // SAFETY: the texel lies in the resource.
        *word = unsafe { C::channel_bits(q, c) };
    }
    words
}

/// # Safety
/// As [`sample_lanes`].
unsafe fn gather_lane<C: ChannelAccess>(
    resource: &TextureResource,
    sampler: &SamplerState,
    border: &BorderTexel,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
    component: u8,
) -> ColorWords {
    let spot = sample_point(resource, request, lanes, lane);
    if spot.layer >= resource.shown_layers {
        return [0; 4];
    }
    let source = SampleSource { resource, sampler, border, level: &resource.levels[0] };
    // SAFETY: passed on.
    source.bilinear_footprint(&spot).map(|at| unsafe { gathered_channel::<C>(&source, at, usize::from(component)) })
}

/// A channel of a texel as a gather gives it: filterable formats go through the filter.
///
/// # Safety
/// As [`sample_lanes`].
unsafe fn gathered_channel<C: ChannelAccess>(source: &SampleSource<'_>, at: Option<[u32; 3]>, c: usize) -> u32 {
    // SAFETY: passed on; the texel lies in the resource.
    unsafe {
        if C::IS_FILTERABLE && c < source.resource.format.channels as usize {
            let tap = Tap { weight: 256, slice: 0, texel: source.texel_channels::<C>(at) };
            C::filter(&[tap], c)
        } else {
            texel_bits::<C>(source, at)[c]
        }
    }
}
