//! Filling memory.

use std::ffi::{c_uchar, c_uint, c_ushort};

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::driver_functions;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::copy::{FillValue, PitchedRange, check_device_range};
use crate::memory::fill::memset_task;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Fills `height` rows of `width` elements. `pitch` is `None` for one contiguous run.
fn memset_rows(
    lane: &CopyQueue,
    start: u64,
    pitch: Option<usize>,
    element: FillValue,
    width: usize,
    height: usize,
) -> Res {
    let bytes = (width as u64).checked_mul(element.element_bytes()).ok_or(ResultCode::INVALID_VALUE)?;
    // One row has no pitch, whatever is given, and nothing has neither a place nor a pitch.
    let pitch = if height > 1 { pitch.map_or(bytes, |p| p as u64) } else { bytes };
    if width == 0 || height == 0 {
        return Ok(());
    }
    let is_aligned = [start, pitch].iter().all(|n| n.is_multiple_of(element.element_bytes()));
    ensure(is_aligned && pitch >= bytes, ResultCode::INVALID_VALUE)?;
    let side = PitchedRange { start, pitch, slice: 0 };
    let reach = side.touched_bytes([bytes, height as u64, 1])?;
    check_device_range(start, reach)?;
    let params = || CUDA_MEMSET_NODE_PARAMS {
        dst: start,
        pitch: pitch as usize,
        value: element.element_value(),
        elementSize: element.element_bytes() as c_uint,
        width,
        height,
    };
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Memset(AssertSend(params()))))? {
        return Ok(());
    }
    lane.submit_work_on(&[start], reach, memset_task(side, reach, element, width, height))
}

driver_functions! {
    fn cuMemsetD8(dstDevice: CUdeviceptr, uc: c_uchar, N: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, None, FillValue::D8(uc), N, 1)
    }

    fn cuMemsetD16(dstDevice: CUdeviceptr, us: c_ushort, N: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, None, FillValue::D16(us), N, 1)
    }

    fn cuMemsetD32(dstDevice: CUdeviceptr, ui: c_uint, N: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, None, FillValue::D32(ui), N, 1)
    }

    fn cuMemsetD2D8(dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, Some(dstPitch), FillValue::D8(uc), Width, Height)
    }

    fn cuMemsetD2D16(dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, Some(dstPitch), FillValue::D16(us), Width, Height)
    }

    fn cuMemsetD2D32(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize) {
        memset_rows(&CopyQueue::synchronous_copy_queue()?, dstDevice, Some(dstPitch), FillValue::D32(ui), Width, Height)
    }

    fn cuMemsetD8Async(dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, None, FillValue::D8(uc), N, 1)
    }

    fn cuMemsetD16Async(dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, None, FillValue::D16(us), N, 1)
    }

    fn cuMemsetD32Async(dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, None, FillValue::D32(ui), N, 1)
    }

    fn cuMemsetD2D8Async(dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, Some(dstPitch), FillValue::D8(uc), Width, Height)
    }

    fn cuMemsetD2D16Async(dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, Some(dstPitch), FillValue::D16(us), Width, Height)
    }

    fn cuMemsetD2D32Async(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream) {
        memset_rows(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, Some(dstPitch), FillValue::D32(ui), Width, Height)
    }
}
