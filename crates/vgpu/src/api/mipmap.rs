//! Mipmapped arrays: one allocation, level after level, each an array of its own.

use rtcg_cuda_sys::*;

use super::array::consecutive_array_offsets;
use super::{Handle, driver_functions, write_out};
use crate::graph::capture;
use crate::memory::array::{ARRAYS, MIPMAPS};
use crate::memory::array::{DriverArray, MipmappedArray};
use crate::memory::heap::MemoryKind;
use crate::resource::array_shape::check_shape;
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use std::sync::Arc;

/// Where levels begin.
const LEVEL_ALIGNMENT: u64 = 512;

/// The description of a level.
fn mip_level_descriptor(d: &CUDA_ARRAY3D_DESCRIPTOR, level: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    let half = |n: usize| if n == 0 { 0 } else { (n >> level).max(1) };
    let layers = d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) != 0;
    let depth = if layers { d.Depth } else { half(d.Depth) };
    CUDA_ARRAY3D_DESCRIPTOR { Width: half(d.Width), Height: half(d.Height), Depth: depth, ..*d }
}

/// Levels down to one texel.
fn max_mip_levels(d: &CUDA_ARRAY3D_DESCRIPTOR) -> u32 {
    let layers = d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) != 0;
    let largest = d.Width.max(d.Height).max(if layers { 0 } else { d.Depth });
    largest.max(1).ilog2() + 1
}

fn create_mipmapped_array(given: &CUDA_ARRAY3D_DESCRIPTOR, n_levels: u32) -> Res<CUmipmappedArray> {
    let context = current()?;
    capture::refuse_call_unsafe_in_capture()?;
    check_shape(given)?;
    // No level at all is one level to real drivers.
    let n_levels = n_levels.clamp(1, max_mip_levels(given));
    let descriptions: Vec<_> = (0..n_levels).map(|l| mip_level_descriptor(given, l)).collect();
    let (offsets, size) = consecutive_array_offsets(&descriptions, LEVEL_ALIGNMENT)?;
    let block = context.alloc_block(size, MemoryKind::Device, 0, 0)?;
    let mut levels = Vec::new();
    for (description, offset) in descriptions.iter().zip(offsets) {
        let array = DriverArray {
            ctx_id: context.id,
            start: block.start + offset,
            extents: check_shape(description)?,
            description: *description,
            is_level: true,
        };
        levels.push(ARRAYS.insert_with(|_| Arc::new(array))?.0);
    }
    let mipmap = MipmappedArray { ctx_id: context.id, start: block.start, levels, description: *given };
    Ok(CUmipmappedArray::from_handle_number(MIPMAPS.insert_with(|_| Arc::new(mipmap))?.0))
}

driver_functions! {
    fn cuMipmappedArrayCreate(pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: c_uint) {
        ensure(!pHandle.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(pHandle, create_mipmapped_array(pMipmappedArrayDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?, numMipmapLevels)?)
    }

    fn cuMipmappedArrayGetLevel(pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: c_uint) {
        let mipmap = MIPMAPS.get_object(hMipmappedArray.handle_number())?;
        let level = mipmap.levels.get(level as usize).ok_or(ResultCode::INVALID_VALUE)?;
        write_out(pLevelArray, CUarray::from_handle_number(*level))
    }

    fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) {
        let context = crate::stream::context::current_or_owner_context(MIPMAPS.get_object(hMipmappedArray.handle_number())?.ctx_id)?;
        capture::refuse_call_unsafe_in_capture()?;
        let outcome = context.synchronize();
        let mipmap = MIPMAPS.remove_object(hMipmappedArray.handle_number())?;
        for &level in &mipmap.levels {
            // Its context may be on its way out at the same time.
            let _ = ARRAYS.remove_object(level);
        }
        crate::memory::account::free_block(mipmap.start)?;
        outcome
    }
}
