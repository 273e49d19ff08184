//! Which descriptions of CUDA arrays are taken, and the bytes that they need.

use rtcg_cuda_sys::*;

use super::texture_descriptor::channel_bytes;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::texture::{
    GATHER_EXTENT, LAYERED_EXTENT, MAX_ARRAY_1D, MAX_ARRAY_2D, MAX_ARRAY_3D, MAX_ARRAY_3D_ALTERNATE, MAX_CUBE_LAYERS,
    MAX_LAYERS, MAX_SURFACE_1D, REFUSED_ARRAY_FLAGS,
};

/// Bytes and edge, in texels, of what a format stores as one: a texel, or a block of 4 x 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredUnit {
    bytes: usize,
    edge: usize,
}

/// The unit of a format whose channels are not stored one by one, and the channels that it has.
pub(super) fn packed_format(code: u32) -> Option<(StoredUnit, u32)> {
    let block = |bytes, channels| Some((StoredUnit { bytes, edge: 4 }, channels));
    match CUarray_format(code) {
        CUarray_format::CU_AD_FORMAT_BC1_UNORM | CUarray_format::CU_AD_FORMAT_BC1_UNORM_SRGB => block(8, 4),
        CUarray_format::CU_AD_FORMAT_BC4_UNORM | CUarray_format::CU_AD_FORMAT_BC4_SNORM => block(8, 1),
        CUarray_format::CU_AD_FORMAT_BC5_UNORM | CUarray_format::CU_AD_FORMAT_BC5_SNORM => block(16, 2),
        CUarray_format::CU_AD_FORMAT_BC6H_UF16 | CUarray_format::CU_AD_FORMAT_BC6H_SF16 => block(16, 3),
        CUarray_format(147..=150 | 157 | 158) => block(16, 4),
        CUarray_format::CU_AD_FORMAT_UNORM_INT_101010_2 => Some((StoredUnit { bytes: 4, edge: 1 }, 4)),
        _ => None,
    }
}

/// The channels that a format says itself that it has.
fn named_channels(code: u32) -> Option<u32> {
    (192..=203).contains(&code).then(|| 1 << ((code - 192) % 3))
}

fn stored_unit(d: &CUDA_ARRAY3D_DESCRIPTOR) -> Res<StoredUnit> {
    if let Some((unit, channels)) = packed_format(d.Format.0) {
        ensure(d.NumChannels == channels, ResultCode::INVALID_VALUE)?;
        return Ok(unit);
    }
    let bytes = channel_bytes(d.Format)? * d.NumChannels as usize;
    let channels = named_channels(d.Format.0).map_or(matches!(d.NumChannels, 1 | 2 | 4), |n| n == d.NumChannels);
    ensure(channels, ResultCode::INVALID_VALUE)?;
    Ok(StoredUnit { bytes, edge: 1 })
}

/// Whether the extents are within the limits of the kind of array.
fn are_extents_allowed(d: &CUDA_ARRAY3D_DESCRIPTOR) -> bool {
    let [w, h, depth] = [d.Width, d.Height, d.Depth];
    let has = |flag| d.Flags & flag != 0;
    if has(CUDA_ARRAY3D_TEXTURE_GATHER)
        && (h == 0 || depth > 0 && !has(CUDA_ARRAY3D_LAYERED) || w.max(h) > GATHER_EXTENT)
    {
        return false;
    }
    if has(CUDA_ARRAY3D_CUBEMAP) {
        let cubes =
            depth.is_multiple_of(6) && if has(CUDA_ARRAY3D_LAYERED) { depth <= MAX_CUBE_LAYERS } else { depth == 6 };
        return w == h && depth > 0 && cubes && w <= LAYERED_EXTENT;
    }
    if has(CUDA_ARRAY3D_LAYERED) {
        return (1..=MAX_LAYERS).contains(&depth) && w.max(h) <= LAYERED_EXTENT;
    }
    let within = |most: [usize; 3]| w <= most[0] && h <= most[1] && depth <= most[2];
    match (h, depth) {
        (0, 0) => w <= if has(CUDA_ARRAY3D_SURFACE_LDST) { MAX_SURFACE_1D } else { MAX_ARRAY_1D },
        (0, _) => false,
        (_, 0) => within([MAX_ARRAY_2D[0], MAX_ARRAY_2D[1], 0]),
        _ => within(MAX_ARRAY_3D) || within(MAX_ARRAY_3D_ALTERNATE),
    }
}

/// Checks a description; the bytes of a row, the rows of a slice and the slices.
pub(crate) fn check_shape(given: &CUDA_ARRAY3D_DESCRIPTOR) -> Res<[u64; 3]> {
    let unit = stored_unit(given)?;
    let allowed = given.Width > 0 && given.Flags & REFUSED_ARRAY_FLAGS == 0 && are_extents_allowed(given);
    ensure(allowed, ResultCode::INVALID_VALUE)?;
    let row = given.Width.div_ceil(unit.edge) * unit.bytes;
    let [rows, slices] = [given.Height.div_ceil(unit.edge).max(1), given.Depth.max(1)];
    row.checked_mul(rows * slices).ok_or(ResultCode::OUT_OF_MEMORY)?;
    Ok([row as u64, rows as u64, slices as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(extents: [usize; 3], format: u32, channels: u32, flags: u32) -> Result<[u64; 3], i32> {
        let d = CUDA_ARRAY3D_DESCRIPTOR {
            Width: extents[0],
            Height: extents[1],
            Depth: extents[2],
            Format: CUarray_format(format),
            NumChannels: channels,
            Flags: flags,
        };
        check_shape(&d).map_err(|e| e.code.0 as i32)
    }

    #[test]
    fn limits_are_those_of_the_kind_of_array() {
        for (extents, flags) in [
            ([131_072, 65_536, 0], 0),
            ([16_384, 16_384, 16_384], 0),
            ([1, 1, 32_768], 0),
            ([8, 0, 2048], CUDA_ARRAY3D_LAYERED),
            ([32_768, 8, 0], CUDA_ARRAY3D_TEXTURE_GATHER),
            ([32_768, 0, 0], CUDA_ARRAY3D_SURFACE_LDST),
            ([8, 8, 0], 1 << 31),
        ] {
            assert!(shape(extents, 32, 1, flags).is_ok(), "{extents:?} {flags}");
        }
        for (extents, flags) in [
            ([1, 65_537, 0], 0),
            ([16_385, 1, 1], 0),
            ([8_193, 1, 16_385], 0),
            ([8, 0, 2049], CUDA_ARRAY3D_LAYERED),
            ([8, 8, 8], CUDA_ARRAY3D_TEXTURE_GATHER),
            ([8, 0, 0], CUDA_ARRAY3D_TEXTURE_GATHER),
            ([32_769, 8, 0], CUDA_ARRAY3D_TEXTURE_GATHER),
            ([32_769, 0, 0], CUDA_ARRAY3D_SURFACE_LDST),
            ([8, 8, 0], CUDA_ARRAY3D_DEPTH_TEXTURE),
            ([8, 8, 0], CUDA_ARRAY3D_COLOR_ATTACHMENT),
        ] {
            assert_eq!(shape(extents, 32, 1, flags), Err(1), "{extents:?} {flags}");
        }
    }

    #[test]
    fn formats_say_how_many_channels_they_have_and_unknown_ones_are_refused() {
        assert_eq!(shape([6, 6, 0], 0x91, 4, 0), Ok([16, 2, 1]));
        assert_eq!(shape([8, 8, 0], 0x50, 4, 0), Ok([32, 8, 1]));
        assert_eq!(shape([8, 8, 0], 0xc2, 4, 0), Ok([32, 8, 1]));
        for (format, channels) in [(0xc2, 1), (0, 1), (4, 1), (0x21, 1), (0xb0, 3), (32, 3), (32, 0), (32, 5)] {
            assert_eq!(shape([8, 8, 0], format, channels, 0), Err(1), "{format:#x} {channels}");
        }
    }
}
