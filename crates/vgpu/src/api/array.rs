//! CUDA arrays: memory with a shape and an element format.
//!
//! The layout is row after row without gaps.

use std::ffi::c_void;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::copy::{CopyQueue, copy_device_to_device, copy_device_to_host, copy_host_to_device, copy_unified};
use super::{Handle, driver_functions, write_out};
use crate::graph::capture;
use crate::memory::array::ARRAYS;
use crate::memory::array::DriverArray;
use crate::memory::heap::MemoryKind;
use crate::resource::array_shape::check_shape;
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Where arrays begin that lie one after the other, and the bytes of all.
pub(super) fn consecutive_array_offsets(given: &[CUDA_ARRAY3D_DESCRIPTOR], alignment: u64) -> Res<(Vec<u64>, u64)> {
    let mut offsets = Vec::new();
    let mut next = 0_u64;
    for d in given {
        let at = next.next_multiple_of(alignment);
        offsets.push(at);
        next = at.checked_add(check_shape(d)?.iter().product()).ok_or(ResultCode::OUT_OF_MEMORY)?;
    }
    Ok((offsets, next))
}

fn create_array_3d(given: &CUDA_ARRAY3D_DESCRIPTOR) -> Res<CUarray> {
    let context = current()?;
    capture::refuse_call_unsafe_in_capture()?;
    let extents = check_shape(given)?;
    let block = context.alloc_block(extents.iter().product(), MemoryKind::Device, 0, 0)?;
    let array = DriverArray { ctx_id: context.id, start: block.start, extents, description: *given, is_level: false };
    let made = ARRAYS.insert_with(|_| Arc::new(array));
    if made.is_err() {
        crate::memory::account::free_block(block.start)?;
    }
    Ok(CUarray::from_handle_number(made?.0))
}

/// The address of a byte of an array. Copies that count bytes are for arrays of one dimension: of others they reach
/// the first row.
fn array_byte_address(array: CUarray, offset: usize, len: usize) -> Res<u64> {
    ensure(!array.is_null(), ResultCode::INVALID_VALUE)?;
    let array = ARRAYS.get_object(array.handle_number())?;
    let end = (offset as u64).checked_add(len as u64).ok_or(ResultCode::INVALID_VALUE)?;
    ensure(end <= array.extents[0], ResultCode::INVALID_VALUE)?;
    Ok(array.start + offset as u64)
}

driver_functions! {
    fn cuArrayCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR) {
        ensure(!pHandle.is_null(), ResultCode::INVALID_VALUE)?;
        let given = pAllocateArray.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        write_out(pHandle, create_array_3d(&CUDA_ARRAY3D_DESCRIPTOR {
            Width: given.Width,
            Height: given.Height,
            Depth: 0,
            Format: given.Format,
            NumChannels: given.NumChannels,
            Flags: 0,
        })?)
    }

    fn cuArray3DCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR) {
        ensure(!pHandle.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(pHandle, create_array_3d(pAllocateArray.as_ref().ok_or(ResultCode::INVALID_VALUE)?)?)
    }

    fn cuArrayGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray) {
        let d = ARRAYS.get_object(hArray.handle_number())?.description;
        write_out(pArrayDescriptor, CUDA_ARRAY_DESCRIPTOR {
            Width: d.Width,
            Height: d.Height,
            Format: d.Format,
            NumChannels: d.NumChannels,
        })
    }

    fn cuArray3DGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray) {
        write_out(pArrayDescriptor, ARRAYS.get_object(hArray.handle_number())?.description)
    }

    fn cuArrayDestroy(hArray: CUarray) {
        let array = ARRAYS.get_object(hArray.handle_number())?;
        let context = crate::stream::context::current_or_owner_context(array.ctx_id)?;
        // A level goes with its mipmapped array.
        ensure(!array.is_level, ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        let outcome = context.synchronize();
        crate::memory::account::free_block(ARRAYS.remove_object(hArray.handle_number())?.start)?;
        outcome
    }

    fn cuMemcpyHtoA(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        copy_host_to_device(&lane, array_byte_address(dstArray, dstOffset, ByteCount)?, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyHtoAAsync(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) {
        let lane = CopyQueue::stream_copy_queue(hStream)?;
        copy_host_to_device(&lane, array_byte_address(dstArray, dstOffset, ByteCount)?, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyAtoH(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        copy_device_to_host(&lane, dstHost.addr() as u64, array_byte_address(srcArray, srcOffset, ByteCount)?, ByteCount as u64)
    }

    fn cuMemcpyAtoHAsync(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream) {
        let lane = CopyQueue::stream_copy_queue(hStream)?;
        copy_device_to_host(&lane, dstHost.addr() as u64, array_byte_address(srcArray, srcOffset, ByteCount)?, ByteCount as u64)
    }

    fn cuMemcpyDtoA(dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        copy_device_to_device(&lane, array_byte_address(dstArray, dstOffset, ByteCount)?, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyAtoD(dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        copy_device_to_device(&lane, dstDevice, array_byte_address(srcArray, srcOffset, ByteCount)?, ByteCount as u64)
    }

    fn cuMemcpyAtoA(dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        let (dst, src) = (array_byte_address(dstArray, dstOffset, ByteCount)?, array_byte_address(srcArray, srcOffset, ByteCount)?);
        copy_unified(&lane, dst, src, ByteCount as u64)
    }
}
