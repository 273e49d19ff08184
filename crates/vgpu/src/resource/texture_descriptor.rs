//! The driver's descriptions of resources and samplers to what is sampled.
//!
//! Establishes: the levels of a [`TextureResource`] lie within the array or allocation it is made from.

use rtcg_cuda_sys::*;

use crate::c_handles::Handle;
use crate::error::unsupported_feature;
use crate::memory::array::DriverArray;
use crate::memory::array::{ARRAYS, MIPMAPS};
use crate::memory::copy::check_device_range;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::texture::format::{ChannelKind, TexelFormat};
use rtcg_vgpu_exec::texture::{AddressMode, MipLevel, SamplerState, TextureResource};

/// The most texels of a texture of linear memory, and extents and pitch of a pitched one.
const MAX_LINEAR_TEXELS: usize = 1 << 28;
const MAX_PITCHED_EXTENTS: [usize; 2] = [131_072, 65_000];
const MAX_PITCH_BYTES: usize = 2_097_120;
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` and `CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`
const TEXTURE_ALIGNMENT: u64 = 512;
const PITCH_ALIGNMENT: usize = 32;

/// Bytes of one channel of a format.
pub(crate) fn channel_bytes(format: CUarray_format) -> Res<usize> {
    let kind = ChannelKind::from_array_format(format.0, true, false);
    kind.map(|k| k.channel_bytes() as usize).ok_or_else(|| unsupported_feature("this array format"))
}

fn texel_format(code: CUarray_format, channels: u32, flags: u32) -> Res<TexelFormat> {
    ensure(matches!(channels, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
    let code = code.0;
    let kind = ChannelKind::from_array_format(code, flags & CU_TRSF_READ_AS_INTEGER != 0, flags & CU_TRSF_SRGB != 0);
    Ok(TexelFormat::new(kind.ok_or_else(|| unsupported_feature("this texture format"))?, channels, code))
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
    Ok(TextureResource {
        levels: arrays.iter().map(|a| mip_level_from_array(a, format)).collect(),
        layers: if layered { first.extents[2] as u32 } else { 1 },
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
    ensure(n > 0 && n <= MAX_LINEAR_TEXELS && r.devPtr.is_multiple_of(TEXTURE_ALIGNMENT), ResultCode::INVALID_VALUE)?;
    resource_from_pitched_memory(r.devPtr, [n, 1], r.sizeInBytes, format, true)
}

/// Rows in linear memory.
fn pitched_resource(r: &CUDA_RESOURCE_DESC_res_pitch2D, flags: u32) -> Res<TextureResource> {
    let format = texel_format(r.format, r.numChannels, flags)?;
    let row = r.width.checked_mul(format.bytes as usize).ok_or(ResultCode::INVALID_VALUE)?;
    let sizes = r.width > 0 && r.height > 0 && r.width <= MAX_PITCHED_EXTENTS[0] && r.height <= MAX_PITCHED_EXTENTS[1];
    let pitch =
        r.pitchInBytes >= row && r.pitchInBytes <= MAX_PITCH_BYTES && r.pitchInBytes.is_multiple_of(PITCH_ALIGNMENT);
    ensure(sizes && pitch && r.devPtr.is_multiple_of(TEXTURE_ALIGNMENT), ResultCode::INVALID_VALUE)?;
    resource_from_pitched_memory(r.devPtr, [r.width, r.height], r.pitchInBytes, format, false)
}

fn resource_from_pitched_memory(
    start: u64,
    [width, height]: [usize; 2],
    pitch: usize,
    format: TexelFormat,
    linear_memory: bool,
) -> Res<TextureResource> {
    let reach = (height - 1) * pitch + width * format.bytes as usize;
    check_device_range(start, reach as u64)?;
    let pitch = pitch as u64;
    let level = MipLevel { start, extents: [width as u32, height as u32, 1], pitch, slice: pitch * height as u64 };
    let dimensions = if linear_memory { 1 } else { 2 };
    Ok(TextureResource {
        levels: vec![level],
        layers: 1,
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
                resource_from_arrays(&[ARRAYS.get_object(d.res.array.hArray.handle_number())?], flags)
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => resource_from_arrays(
                &MIPMAPS.get_object(d.res.mipmap.hMipmappedArray.handle_number())?.level_arrays()?,
                flags,
            ),
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => linear_resource(&d.res.linear, flags),
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => pitched_resource(&d.res.pitch2D, flags),
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }
}

/// Looks at a resource in another way: another format of the same size, fewer levels or layers.
pub(crate) fn apply_resource_view(
    mut r: TextureResource,
    d: &CUDA_RESOURCE_VIEW_DESC,
    flags: u32,
) -> Res<TextureResource> {
    const CHANNEL_FORMAT_CODES: [u32; 8] = [1, 8, 2, 9, 3, 10, 16, 32];
    ensure(!r.linear_memory, ResultCode::INVALID_VALUE)?;
    let number = d.format.0;
    if number != 0 {
        let code = number.checked_sub(1).and_then(|n| CHANNEL_FORMAT_CODES.get(n as usize / 3)).copied();
        let code = code.ok_or_else(|| unsupported_feature("a block-compressed texture view"))?;
        let channels = [1, 2, 4][(number as usize - 1) % 3];
        let seen = texel_format(CUarray_format(code), channels, flags)?;
        ensure(seen.bytes == r.format.bytes, ResultCode::INVALID_VALUE)?;
        r.format = seen;
    }
    let [width, height, _] = r.levels[0].extents;
    let same = |asked: usize, has: u32| asked == 0 || asked == has as usize;
    ensure(same(d.width, width) && same(d.height, height), ResultCode::INVALID_VALUE)?;
    let (first, last) = (d.firstMipmapLevel as usize, (d.lastMipmapLevel as usize).max(d.firstMipmapLevel as usize));
    ensure(last < r.levels.len(), ResultCode::INVALID_VALUE)?;
    r.levels = r.levels[first..=last].to_vec();
    if r.layered && (d.firstLayer, d.lastLayer) != (0, 0) {
        ensure(d.firstLayer <= d.lastLayer && d.lastLayer < r.layers, ResultCode::INVALID_VALUE)?;
        r.layers = d.lastLayer - d.firstLayer + 1;
        for level in &mut r.levels {
            level.start += u64::from(d.firstLayer) * level.slice;
        }
    }
    Ok(r)
}

/// How a description says that texels are sampled.
pub(crate) fn sampler_from_desc(d: &CUDA_TEXTURE_DESC) -> Res<SamplerState> {
    const SUPPORTED_FLAGS: u32 = CU_TRSF_READ_AS_INTEGER
        | CU_TRSF_NORMALIZED_COORDINATES
        | CU_TRSF_SRGB
        | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
        | CU_TRSF_SEAMLESS_CUBEMAP;
    ensure(d.flags & !SUPPORTED_FLAGS == 0, ResultCode::INVALID_VALUE)?;
    let mut address = [AddressMode::Clamp; 3];
    for (mode, given) in address.iter_mut().zip(d.addressMode) {
        *mode = address_mode_from_cuda(given)?;
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
