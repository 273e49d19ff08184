//! The driver's descriptions of resources and samplers to what is sampled.
//!
//! Establishes: the levels of a [`TextureResource`] lie within the array or allocation it is made from.

use rtcg_cuda_sys::*;

use super::array_shape::packed_format;
use crate::c_handles::Handle;
use crate::error::unsupported_feature;
use crate::memory::array::DriverArray;
use crate::memory::array::{ARRAYS, MIPMAPS};
use crate::memory::copy::check_device_range;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::texture::{ACCEPTED_TEXTURE_FLAGS, MAX_LINEAR_BYTES};
use rtcg_vgpu_exec::texture::format::{ChannelKind, TexelFormat};
use rtcg_vgpu_exec::texture::{AddressMode, MipLevel, SamplerState, TextureResource};
use rtcg_vgpu_exec::window;

/// The largest extents and pitch of a pitched texture.
const MAX_PITCHED_EXTENTS: [usize; 2] = [131_072, 65_000];
const MAX_PITCH_BYTES: usize = 2_097_120;
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` and `CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`
const TEXTURE_ALIGNMENT: u64 = 512;
const PITCH_ALIGNMENT: usize = 32;

/// Bytes of one channel of a format.
pub(crate) fn channel_bytes(format: CUarray_format) -> Res<usize> {
    let kind = ChannelKind::from_array_format(format.0, true, false);
    kind.map(|k| k.channel_bytes() as usize).ok_or(ResultCode::INVALID_VALUE.into())
}

fn texel_format(code: CUarray_format, channels: u32, flags: u32) -> Res<TexelFormat> {
    ensure(matches!(channels, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
    let code = code.0;
    let kind = ChannelKind::from_array_format(code, flags & CU_TRSF_READ_AS_INTEGER != 0, flags & CU_TRSF_SRGB != 0);
    let kind = kind.ok_or_else(|| match packed_format(code) {
        Some(_) => unsupported_feature("this texture format"),
        None => ResultCode::INVALID_VALUE.into(),
    });
    Ok(TexelFormat::new(kind?, channels, code))
}

fn mip_level_from_array(array: &DriverArray, format: TexelFormat) -> MipLevel {
    let [row, rows, slices] = array.extents;
    MipLevel {
        start: array.start,
        extents: [(row / u64::from(format.bytes)) as u32, rows as u32, slices as u32],
        pitch: row,
        slice: row * rows,
    }
}

fn resource_from_arrays(arrays: &[std::sync::Arc<DriverArray>], flags: u32) -> Res<TextureResource> {
    let first = arrays.first().ok_or(ResultCode::INVALID_VALUE)?;
    let d = &first.description;
    let format = texel_format(d.Format, d.NumChannels, flags)?;
    let cube = d.Flags & CUDA_ARRAY3D_CUBEMAP != 0;
    let layered = cube || d.Flags & CUDA_ARRAY3D_LAYERED != 0;
    let dimensions = match (d.Height, d.Depth) {
        (0, _) => 1,
        (_, 0) => 2,
        _ if layered => 2,
        _ => 3,
    };
    let layers = if layered { first.extents[2] as u32 } else { 1 };
    Ok(TextureResource {
        levels: arrays.iter().map(|a| mip_level_from_array(a, format)).collect(),
        layers,
        shown_layers: layers,
        format,
        dimensions,
        layered,
        cube,
        linear_memory: false,
    })
}

/// Linear memory, one-dimensional.
fn linear_resource(r: &CUDA_RESOURCE_DESC_res_linear, flags: u32) -> Res<TextureResource> {
    let format = texel_format(r.format, r.numChannels, flags)?;
    let n = r.sizeInBytes / format.bytes as usize;
    let is_placed = r.devPtr != 0 && r.devPtr.is_multiple_of(TEXTURE_ALIGNMENT);
    ensure(r.sizeInBytes as u64 <= MAX_LINEAR_BYTES && is_placed, ResultCode::INVALID_VALUE)?;
    resource_from_pitched_memory(r.devPtr, [n.min(u32::MAX as usize), 1], r.sizeInBytes, format, true)
}

/// Rows in linear memory.
fn pitched_resource(r: &CUDA_RESOURCE_DESC_res_pitch2D, flags: u32) -> Res<TextureResource> {
    let format = texel_format(r.format, r.numChannels, flags)?;
    let row = r.width.checked_mul(format.bytes as usize).ok_or(ResultCode::INVALID_VALUE)?;
    let sizes = r.width <= MAX_PITCHED_EXTENTS[0] && r.height <= MAX_PITCHED_EXTENTS[1];
    let pitch =
        r.pitchInBytes >= row && r.pitchInBytes <= MAX_PITCH_BYTES && r.pitchInBytes.is_multiple_of(PITCH_ALIGNMENT);
    ensure(sizes && pitch && r.devPtr.is_multiple_of(TEXTURE_ALIGNMENT), ResultCode::INVALID_VALUE)?;
    // Without an extent there is one texel.
    resource_from_pitched_memory(r.devPtr, [r.width.max(1), r.height.max(1)], r.pitchInBytes, format, false)
}

/// A texture may reach behind its allocation, where a fetch faults as a load does; it begins in memory of the device.
fn check_texture_range(start: u64, reach: u64) -> Res {
    let whole = window::device_window().is_ok_and(|w| {
        let base = w.base_address() as u64;
        start >= base && start.checked_add(reach).is_some_and(|end| end <= base + w.size_bytes() as u64)
    });
    check_device_range(start, if whole { reach.min(1) } else { reach })
}

fn resource_from_pitched_memory(
    start: u64,
    [width, height]: [usize; 2],
    pitch: usize,
    format: TexelFormat,
    linear_memory: bool,
) -> Res<TextureResource> {
    let reach = (height - 1) * pitch + width * format.bytes as usize;
    check_texture_range(start, reach as u64)?;
    let pitch = pitch as u64;
    let level = MipLevel { start, extents: [width as u32, height as u32, 1], pitch, slice: pitch * height as u64 };
    let dimensions = if linear_memory { 1 } else { 2 };
    Ok(TextureResource {
        levels: vec![level],
        layers: 1,
        shown_layers: 1,
        format,
        dimensions,
        layered: false,
        cube: false,
        linear_memory,
    })
}

/// What a description names, read with the `CU_TRSF_*` flags.
pub(crate) fn resource_from_desc(d: &CUDA_RESOURCE_DESC, flags: u32) -> Res<TextureResource> {
    ensure(d.flags == 0, ResultCode::INVALID_VALUE)?;
    // SAFETY: the members of the union are plain numbers; the type says which one was written.
    unsafe {
        match d.resType {
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
                ensure(!d.res.array.hArray.is_null(), ResultCode::INVALID_VALUE)?;
                resource_from_arrays(&[ARRAYS.get_object(d.res.array.hArray.handle_number())?], flags)
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                ensure(!d.res.mipmap.hMipmappedArray.is_null(), ResultCode::INVALID_VALUE)?;
                let mipmap = MIPMAPS.get_object(d.res.mipmap.hMipmappedArray.handle_number())?;
                resource_from_arrays(&mipmap.level_arrays()?, flags)
            }
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => linear_resource(&d.res.linear, flags),
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => pitched_resource(&d.res.pitch2D, flags),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }
}

/// Looks at a resource in another way: another format of the same size, fewer levels or layers. Linear memory has no
/// other way.
pub(crate) fn apply_resource_view(
    mut r: TextureResource,
    d: &CUDA_RESOURCE_VIEW_DESC,
    flags: u32,
) -> Res<TextureResource> {
    if r.linear_memory {
        return Ok(r);
    }
    let [width, height, _] = r.levels[0].extents;
    let rows = if r.dimensions == 1 { d.height.max(1) } else { d.height };
    ensure((d.width, rows) == (width as usize, height as usize), ResultCode::INVALID_VALUE)?;
    r.format = view_format(d.format.0, r.format.bytes, flags)?;
    let levels = view_range(d.firstMipmapLevel, d.lastMipmapLevel, r.levels.len() as u32)?;
    r.levels = r.levels[levels.start as usize..levels.end as usize].to_vec();
    let layers = view_range(d.firstLayer, d.lastLayer, if r.layered { r.layers } else { 1 })?;
    if r.layered && (d.firstLayer, d.lastLayer) != (0, 0) {
        // The view names the depth of the whole array, too, whose layers keep their number.
        ensure(d.depth == r.layers as usize, ResultCode::INVALID_VALUE)?;
        r.shown_layers = layers.end - layers.start;
        for level in &mut r.levels {
            level.start += u64::from(layers.start) * level.slice;
        }
    }
    Ok(r)
}

/// The format of a view by its `CUresourceViewFormat`, for texels of `bytes`.
fn view_format(number: u32, bytes: u32, flags: u32) -> Res<TexelFormat> {
    const CHANNEL_FORMAT_CODES: [u32; 8] = [1, 8, 2, 9, 3, 10, 16, 32];
    let n = number.checked_sub(1).ok_or(ResultCode::INVALID_VALUE)?;
    let Some(&code) = CHANNEL_FORMAT_CODES.get(n as usize / 3) else {
        let block = block_view_bytes(number).ok_or(ResultCode::INVALID_VALUE)?;
        ensure(block == bytes, ResultCode::INVALID_VALUE)?;
        return Err(unsupported_feature("a block-compressed texture view"));
    };
    let seen = texel_format(CUarray_format(code), [1, 2, 4][n as usize % 3], flags)?;
    ensure(seen.bytes == bytes, ResultCode::INVALID_VALUE)?;
    Ok(seen)
}

/// Bytes of a block of 4 x 4 texels of a view's format.
fn block_view_bytes(number: u32) -> Option<u32> {
    match number {
        0x19 | 0x1c | 0x1d => Some(8),
        0x1a | 0x1b | 0x1e..=0x22 => Some(16),
        _ => None,
    }
}

/// From the first to the last, of which there may be fewer.
fn view_range(first: u32, last: u32, n: u32) -> Res<std::ops::Range<u32>> {
    ensure(first <= last && first < n, ResultCode::INVALID_VALUE)?;
    Ok(first..last.saturating_add(1).min(n))
}

/// How a description says that texels of so many dimensions are sampled. An unknown mode of another dimension is clamping.
/// Only a cube map is sampled without seams.
pub(crate) fn sampler_from_desc(d: &CUDA_TEXTURE_DESC, dimensions: u32, cube: bool) -> Res<SamplerState> {
    let accepted = ACCEPTED_TEXTURE_FLAGS | if cube { CU_TRSF_SEAMLESS_CUBEMAP } else { 0 };
    ensure(d.flags & !accepted == 0, ResultCode::INVALID_VALUE)?;
    let mut address = [AddressMode::Clamp; 3];
    for (axis, (mode, given)) in address.iter_mut().zip(d.addressMode).enumerate() {
        *mode = match address_mode_from_cuda(given) {
            Err(_) if axis >= dimensions as usize => AddressMode::Clamp,
            known => known?,
        };
    }
    Ok(SamplerState {
        address,
        linear: is_linear_filter(d.filterMode)?,
        normalized: d.flags & CU_TRSF_NORMALIZED_COORDINATES != 0,
        border: d.borderColor,
        mip_linear: is_linear_filter(d.mipmapFilterMode)?,
        lod_bias: d.mipmapLevelBias,
        lod_clamp: [d.minMipmapLevelClamp, d.maxMipmapLevelClamp],
        seamless: d.flags & CU_TRSF_SEAMLESS_CUBEMAP != 0,
    })
}

/// A description with modes that are known.
pub(crate) fn with_known_address_modes(d: &CUDA_TEXTURE_DESC) -> CUDA_TEXTURE_DESC {
    let known = |mode| address_mode_from_cuda(mode).map_or(CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP, |_| mode);
    CUDA_TEXTURE_DESC { addressMode: d.addressMode.map(known), ..*d }
}

/// A mode by its code.
pub(crate) fn address_mode_from_cuda(mode: CUaddress_mode) -> Res<AddressMode> {
    Ok(match mode {
        CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP => AddressMode::Wrap,
        CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP => AddressMode::Clamp,
        CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR => AddressMode::Mirror,
        CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER => AddressMode::Border,
        _ => return ResultCode::INVALID_VALUE.err(),
    })
}

/// Whether a filter is the linear one.
pub(crate) fn is_linear_filter(mode: CUfilter_mode) -> Res<bool> {
    ensure(matches!(mode.0, 0 | 1), ResultCode::INVALID_VALUE)?;
    Ok(mode == CUfilter_mode::CU_TR_FILTER_MODE_LINEAR)
}
