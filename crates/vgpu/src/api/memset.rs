//! Filling memory.

use std::ffi::{c_uchar, c_uint, c_ushort};

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::driver_functions;
use crate::error::{Res, ResultCode, ensure};
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::copy::{self, FillValue, PitchedRange, check_device_range};

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
    let pitch = pitch.map_or(bytes, |p| p as u64);
    ensure(
        start.is_multiple_of(element.element_bytes()) && pitch.is_multiple_of(element.element_bytes()),
        ResultCode::INVALID_VALUE,
    )?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    ensure(height == 1 || pitch >= bytes, ResultCode::INVALID_VALUE)?;
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
    lane.submit_device_work(reach, memset_task(side, reach, element, width, height))
}

/// A memset of a graph, checked: what does it any number of times.
pub(crate) fn prepare_memset_node(p: &CUDA_MEMSET_NODE_PARAMS) -> Res<impl Fn() -> Res + Send + Sync + use<>> {
    let element = match p.elementSize {
        1 => FillValue::D8(p.value as u8),
        2 => FillValue::D16(p.value as u16),
        4 => FillValue::D32(p.value),
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    ensure(p.width > 0 && p.height > 0, ResultCode::INVALID_VALUE)?;
    let bytes = (p.width as u64).checked_mul(element.element_bytes()).ok_or(ResultCode::INVALID_VALUE)?;
    let pitch = if p.height == 1 { bytes } else { p.pitch as u64 };
    let aligned = p.dst.is_multiple_of(element.element_bytes()) && pitch.is_multiple_of(element.element_bytes());
    ensure(aligned && pitch >= bytes, ResultCode::INVALID_VALUE)?;
    let side = PitchedRange { start: p.dst, pitch, slice: 0 };
    let reach = side.touched_bytes([bytes, p.height as u64, 1])?;
    check_device_range(p.dst, reach)?;
    Ok(memset_task(side, reach, element, p.width, p.height))
}

fn memset_task(
    side: PitchedRange,
    reach: u64,
    element: FillValue,
    width: usize,
    height: usize,
) -> impl Fn() -> Res + Send + Sync + 'static {
    let start = side.start;
    move || {
        check_device_range(start, reach).map_err(|_| {
            ResultCode::ILLEGAL_ADDRESS.with_detail("a memset uses memory that was freed before it ran")
        })?;
        // SAFETY: the reach was just found live, alignment was checked above.
        unsafe { copy::fill_rows(side, element, width as u64, height as u64) };
        Ok(())
    }
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
