//! Filling memory.

use std::ffi::{c_uchar, c_uint, c_ushort};

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::driver_functions;
use crate::error::{Code, Res, ensure};
use crate::graph::{Action, AssertSend, capture};
use crate::memory::copy::{self, FillValue, PitchedRange, check_device};

/// Fills `height` rows of `width` elements. `pitch` is `None` for one contiguous run.
fn fill(lane: &CopyQueue, start: u64, pitch: Option<usize>, element: FillValue, width: usize, height: usize) -> Res {
    let bytes = (width as u64).checked_mul(element.bytes()).ok_or(Code::INVALID_VALUE)?;
    let pitch = pitch.map_or(bytes, |p| p as u64);
    ensure(start.is_multiple_of(element.bytes()) && pitch.is_multiple_of(element.bytes()), Code::INVALID_VALUE)?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    ensure(height == 1 || pitch >= bytes, Code::INVALID_VALUE)?;
    let side = PitchedRange { start, pitch, slice: 0 };
    let reach = side.touched_bytes([bytes, height as u64, 1])?;
    check_device(start, reach)?;
    let params = || CUDA_MEMSET_NODE_PARAMS {
        dst: start,
        pitch: pitch as usize,
        value: element.value(),
        elementSize: element.bytes() as c_uint,
        width,
        height,
    };
    if capture::intercept(&lane.stream, || Ok(Action::Memset(AssertSend(params()))))? {
        return Ok(());
    }
    lane.on_device(reach, work_of(side, reach, element, width, height))
}

/// A memset of a graph, checked: what does it any number of times.
pub(crate) fn prepare(p: &CUDA_MEMSET_NODE_PARAMS) -> Res<impl Fn() -> Res + Send + Sync + use<>> {
    let element = match p.elementSize {
        1 => FillValue::D8(p.value as u8),
        2 => FillValue::D16(p.value as u16),
        4 => FillValue::D32(p.value),
        _ => return Code::INVALID_VALUE.err(),
    };
    ensure(p.width > 0 && p.height > 0, Code::INVALID_VALUE)?;
    let bytes = (p.width as u64).checked_mul(element.bytes()).ok_or(Code::INVALID_VALUE)?;
    let pitch = if p.height == 1 { bytes } else { p.pitch as u64 };
    let aligned = p.dst.is_multiple_of(element.bytes()) && pitch.is_multiple_of(element.bytes());
    ensure(aligned && pitch >= bytes, Code::INVALID_VALUE)?;
    let side = PitchedRange { start: p.dst, pitch, slice: 0 };
    let reach = side.touched_bytes([bytes, p.height as u64, 1])?;
    check_device(p.dst, reach)?;
    Ok(work_of(side, reach, element, p.width, p.height))
}

fn work_of(
    side: PitchedRange,
    reach: u64,
    element: FillValue,
    width: usize,
    height: usize,
) -> impl Fn() -> Res + Send + Sync + 'static {
    let start = side.start;
    move || {
        check_device(start, reach)
            .map_err(|_| Code::ILLEGAL_ADDRESS.because("a memset uses memory that was freed before it ran"))?;
        // SAFETY: the reach was just found live, alignment was checked above.
        unsafe { copy::fill(side, element, width as u64, height as u64) };
        Ok(())
    }
}

driver_functions! {
    fn cuMemsetD8(dstDevice: CUdeviceptr, uc: c_uchar, N: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, None, FillValue::D8(uc), N, 1)
    }

    fn cuMemsetD16(dstDevice: CUdeviceptr, us: c_ushort, N: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, None, FillValue::D16(us), N, 1)
    }

    fn cuMemsetD32(dstDevice: CUdeviceptr, ui: c_uint, N: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, None, FillValue::D32(ui), N, 1)
    }

    fn cuMemsetD2D8(dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, Some(dstPitch), FillValue::D8(uc), Width, Height)
    }

    fn cuMemsetD2D16(dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, Some(dstPitch), FillValue::D16(us), Width, Height)
    }

    fn cuMemsetD2D32(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize) {
        fill(&CopyQueue::synchronous()?, dstDevice, Some(dstPitch), FillValue::D32(ui), Width, Height)
    }

    fn cuMemsetD8Async(dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, None, FillValue::D8(uc), N, 1)
    }

    fn cuMemsetD16Async(dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, None, FillValue::D16(us), N, 1)
    }

    fn cuMemsetD32Async(dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, None, FillValue::D32(ui), N, 1)
    }

    fn cuMemsetD2D8Async(dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, Some(dstPitch), FillValue::D8(uc), Width, Height)
    }

    fn cuMemsetD2D16Async(dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, Some(dstPitch), FillValue::D16(us), Width, Height)
    }

    fn cuMemsetD2D32Async(dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream) {
        fill(&CopyQueue::of(hStream)?, dstDevice, Some(dstPitch), FillValue::D32(ui), Width, Height)
    }
}
