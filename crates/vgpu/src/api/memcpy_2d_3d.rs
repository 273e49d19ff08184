//! Copies of rectangles and boxes between host and device memory.

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::{Handle, driver_functions};
use crate::context::context_by_handle;
use crate::driver::ARRAYS;
use crate::error::{Res, ResultCode, ensure};
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::copy::{self, CopyExtent, MemoryLocation, PitchedRange, check_device_range, check_host_range};

/// One side of a copy, as the C structures describe it.
struct CopyEndpoint {
    kind: CUmemorytype,
    host: u64,
    device: u64,
    array: u64,
    origin: [usize; 3],
    pitch: usize,
    height: usize,
}

/// A copy that has been checked.
struct CheckedCopy {
    dst: PitchedRange,
    src: PitchedRange,
    extent: CopyExtent,
    dst_place: MemoryLocation,
    src_place: MemoryLocation,
}

impl CopyEndpoint {
    /// The side's first byte and strides, with its whole reach checked.
    fn check_endpoint(&self, extent: CopyExtent) -> Res<(PitchedRange, MemoryLocation)> {
        let base = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => self.host,
            CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => self.device,
            CUmemorytype::CU_MEMORYTYPE_ARRAY => return self.check_array(extent),
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        let [width, height, depth] = extent;
        let [x, y, z] = self.origin.map(|v| v as u64);
        let row = x.checked_add(width).ok_or(ResultCode::INVALID_VALUE)?;
        // A pitch of zero stands for rows without gaps; a height of zero for slices without gaps.
        let pitch = if self.pitch == 0 { row } else { self.pitch as u64 };
        let rows = if self.height == 0 { y.saturating_add(height) } else { self.height as u64 };
        ensure(pitch >= row && (depth <= 1 || rows >= y.saturating_add(height)), ResultCode::INVALID_VALUE)?;
        let slice = pitch.checked_mul(rows).ok_or(ResultCode::INVALID_VALUE)?;
        let skip = z.checked_mul(slice).zip(y.checked_mul(pitch)).and_then(|(a, b)| a.checked_add(b)?.checked_add(x));
        let start = skip.and_then(|s| s.checked_add(base)).ok_or(ResultCode::INVALID_VALUE)?;
        let side = PitchedRange { start, pitch, slice };
        let reach = side.touched_bytes(extent)?;
        let place = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_DEVICE => check_device_range(start, reach).map(|()| MemoryLocation::Device)?,
            _ => check_host_range(start, reach)?,
        };
        Ok((side, place))
    }

    /// The same for an array, which has strides of its own.
    fn check_array(&self, extent: CopyExtent) -> Res<(PitchedRange, MemoryLocation)> {
        let array = ARRAYS.get_object(self.array)?;
        let origin = self.origin.map(|v| v as u64);
        for d in 0..3 {
            let end = origin[d].checked_add(extent[d]).ok_or(ResultCode::INVALID_VALUE)?;
            ensure(end <= array.extents[d], ResultCode::INVALID_VALUE)?;
        }
        let [pitch, rows, _] = array.extents;
        let skip = (origin[2] * rows + origin[1]) * pitch + origin[0];
        Ok((PitchedRange { start: array.start + skip, pitch, slice: pitch * rows }, MemoryLocation::Device))
    }
}

macro_rules! check_memcpy_3d {
    ($c:expr) => {{
        let c = $c;
        let dst = CopyEndpoint {
            kind: c.dstMemoryType,
            host: c.dstHost.addr() as u64,
            device: c.dstDevice,
            array: c.dstArray.handle_number(),
            origin: [c.dstXInBytes, c.dstY, c.dstZ],
            pitch: c.dstPitch,
            height: c.dstHeight,
        };
        let src = CopyEndpoint {
            kind: c.srcMemoryType,
            host: c.srcHost.addr() as u64,
            device: c.srcDevice,
            array: c.srcArray.handle_number(),
            origin: [c.srcXInBytes, c.srcY, c.srcZ],
            pitch: c.srcPitch,
            height: c.srcHeight,
        };
        ensure(c.srcLOD == 0 && c.dstLOD == 0, ResultCode::INVALID_VALUE)?;
        check_copy(&dst, &src, [c.WidthInBytes, c.Height, c.Depth])
    }};
}

fn check_copy(dst: &CopyEndpoint, src: &CopyEndpoint, extent: [usize; 3]) -> Res<Option<CheckedCopy>> {
    if extent.contains(&0) {
        return Ok(None);
    }
    let extent = extent.map(|v| v as u64);
    let (dst, dst_place) = dst.check_endpoint(extent)?;
    let (src, src_place) = src.check_endpoint(extent)?;
    Ok(Some(CheckedCopy { dst, src, extent, dst_place, src_place }))
}

fn run_pitched_copy(lane: &CopyQueue, checked: Option<CheckedCopy>) -> Res {
    let Some(checked) = checked else { return Ok(()) };
    let work = memcpy_task(&checked);
    let CheckedCopy { extent, dst_place, src_place, .. } = checked;
    let only_device = dst_place == MemoryLocation::Device && src_place == MemoryLocation::Device;
    // Without pageable memory a synchronous copy between device addresses need not wait either,
    // but page-locked host memory must be complete when the call returns.
    if lane.is_async && only_device {
        lane.submit_device_work(extent.iter().product(), work)
    } else {
        lane.run_synchronously(work)
    }
}

/// What does the copy, any number of times.
fn memcpy_task(checked: &CheckedCopy) -> impl Fn() -> Res + Send + Sync + use<> {
    let CheckedCopy { dst, src, extent, .. } = *checked;
    move || {
        let still = |side: PitchedRange| {
            let live = side.touched_bytes(extent).and_then(|reach| check_host_range(side.start, reach));
            live.map(drop).map_err(|_| {
                ResultCode::ILLEGAL_ADDRESS.with_detail("a copy uses memory that was freed before the copy ran")
            })
        };
        still(dst)?;
        still(src)?;
        // SAFETY: reaches in the device window were just found live, others are the caller's promise.
        unsafe { copy::copy_pitched_bytes(dst, src, extent) };
        Ok(())
    }
}

/// A copy of a graph, checked: what does it any number of times. `None` when there is nothing to copy.
pub(crate) fn prepare_memcpy_3d(copy: &CUDA_MEMCPY3D) -> Res<Option<impl Fn() -> Res + Send + Sync + use<>>> {
    let checked = check_memcpy_3d!(copy)?;
    Ok(checked.as_ref().map(memcpy_task))
}

/// A copy between two dimensions as one of a graph.
fn memcpy_2d_as_3d(c: &CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: c.srcXInBytes,
        srcY: c.srcY,
        srcMemoryType: c.srcMemoryType,
        srcHost: c.srcHost,
        srcDevice: c.srcDevice,
        srcArray: c.srcArray,
        srcPitch: c.srcPitch,
        dstXInBytes: c.dstXInBytes,
        dstY: c.dstY,
        dstMemoryType: c.dstMemoryType,
        dstHost: c.dstHost,
        dstDevice: c.dstDevice,
        dstArray: c.dstArray,
        dstPitch: c.dstPitch,
        WidthInBytes: c.WidthInBytes,
        Height: c.Height,
        Depth: 1,
        ..Default::default()
    }
}

fn copy_endpoints_2d(c: &CUDA_MEMCPY2D) -> (CopyEndpoint, CopyEndpoint, [usize; 3]) {
    let dst = CopyEndpoint {
        kind: c.dstMemoryType,
        host: c.dstHost.addr() as u64,
        device: c.dstDevice,
        array: c.dstArray.handle_number(),
        origin: [c.dstXInBytes, c.dstY, 0],
        pitch: c.dstPitch,
        height: 0,
    };
    let src = CopyEndpoint {
        kind: c.srcMemoryType,
        host: c.srcHost.addr() as u64,
        device: c.srcDevice,
        array: c.srcArray.handle_number(),
        origin: [c.srcXInBytes, c.srcY, 0],
        pitch: c.srcPitch,
        height: 0,
    };
    (dst, src, [c.WidthInBytes, c.Height, 1])
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_2d(lane: &CopyQueue, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Copy(AssertSend(memcpy_2d_as_3d(copy)))))? {
        return Ok(());
    }
    let (dst, src, extent) = copy_endpoints_2d(copy);
    run_pitched_copy(lane, check_copy(&dst, &src, extent)?)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let checked = check_memcpy_3d!(copy)?;
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Copy(AssertSend(*copy))))? {
        return Ok(());
    }
    run_pitched_copy(lane, checked)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d_peer(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D_PEER) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    for context in [copy.srcContext, copy.dstContext] {
        context_by_handle(context.handle_number())?.check_usable()?;
    }
    capture::refuse_if_capturing(&lane.stream)?;
    run_pitched_copy(lane, check_memcpy_3d!(copy)?)
}

driver_functions! {
    fn cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) {
        copy_2d(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }

    fn cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D) {
        copy_3d(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        copy_3d(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }

    fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) {
        copy_3d_peer(&CopyQueue::synchronous_copy_queue()?, pCopy)
    }

    fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) {
        copy_3d_peer(&CopyQueue::stream_copy_queue(hStream)?, pCopy)
    }
}
