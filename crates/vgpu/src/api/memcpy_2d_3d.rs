//! Copies of rectangles and boxes between host and device memory.

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::{Handle, driver_functions};
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::account::device_heap;
use crate::memory::box_copy::{CheckedCopy, CopyEndpoint, check_copy, check_memcpy_3d, memcpy_task};
use crate::memory::copy::MemoryLocation;
use crate::memory::heap::MemoryKind;
use crate::stream::context::context_by_handle;
use rtcg_vgpu_abi::error::{Res, ResultCode};

fn run_pitched_copy(lane: &CopyQueue, checked: CheckedCopy) -> Res {
    let work = memcpy_task(&checked);
    let CheckedCopy { extent, dst_place, src_place, dst, src } = checked;
    let only_device = dst_place == MemoryLocation::Device && src_place == MemoryLocation::Device;
    // A copy within device memory is asynchronous; page-locked host memory must be complete when a synchronous call returns.
    let within_device = only_device && [dst.start, src.start].into_iter().all(is_on_device);
    if within_device || lane.is_async && only_device {
        lane.submit_device_work(extent.iter().product(), work)
    } else {
        lane.run_synchronously(work)
    }
}

/// Whether an address is of memory of the device itself.
fn is_on_device(address: u64) -> bool {
    let block = device_heap().ok().and_then(|heap| heap.find_block(address));
    block.is_some_and(|block| block.kind == MemoryKind::Device)
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
        level: 0,
    };
    let src = CopyEndpoint {
        kind: c.srcMemoryType,
        host: c.srcHost.addr() as u64,
        device: c.srcDevice,
        array: c.srcArray.handle_number(),
        origin: [c.srcXInBytes, c.srcY, 0],
        pitch: c.srcPitch,
        height: 0,
        level: 0,
    };
    (dst, src, [c.WidthInBytes, c.Height, 1])
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_2d(lane: &CopyQueue, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let (dst, src, extent) = copy_endpoints_2d(copy);
    // A copy of nothing leaves no node, and one that is refused leaves a capture as it is.
    let Some(checked) = check_copy(&dst, &src, extent)? else { return Ok(()) };
    if capture::capture_operation(&lane.stream, || Ok(NodeAction::Copy(AssertSend(memcpy_2d_as_3d(copy)))))? {
        return Ok(());
    }
    run_pitched_copy(lane, checked)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let Some(checked) = check_memcpy_3d!(copy)? else { return Ok(()) };
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
    check_memcpy_3d!(copy)?.map_or(Ok(()), |checked| run_pitched_copy(lane, checked))
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
