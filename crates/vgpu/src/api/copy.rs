//! Copies of contiguous ranges.
//!
//! Synchronous copies run in the legacy default stream and return when they are done; copies
//! within the device are asynchronous, as in CUDA. An asynchronous copy from pageable memory takes
//! the data before it returns, one to pageable memory returns when it is done.

use std::ffi::c_void;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions};
use crate::context::{Context, by_handle, current};
use crate::driver::stream_and_context;
use crate::error::{Code, Res, ensure};
use crate::exec::calls::printf;
use crate::graph::{Action, AssertSend, capture};
use crate::memory::copy::{self, MemoryLocation, check_device, check_host};
use crate::stream::Stream;

/// Work up to this many bytes is done by the calling thread if the stream is idle: waking another
/// thread costs more.
pub(crate) const MAX_INLINE_BYTES: u64 = 256 << 10;
/// Up to this many bytes of pageable memory are kept aside for a copy that has to wait.
const MAX_STAGED_BYTES: u64 = 4 << 20;

/// Where a copy runs, and whether the call may return before it is done.
pub(crate) struct CopyQueue {
    /// The context.
    pub(crate) ctx: Arc<Context>,
    /// The stream.
    pub(crate) stream: Arc<Stream>,
    /// Whether the call has an asynchronous name.
    pub(crate) is_async: bool,
}

impl CopyQueue {
    /// The lane of synchronous calls.
    pub(crate) fn synchronous() -> Res<CopyQueue> {
        let ctx = current()?;
        capture::check_legacy(&ctx)?;
        capture::check_unsafe_call()?;
        let stream = ctx.legacy.clone();
        Ok(CopyQueue { ctx, stream, is_async: false })
    }

    /// The lane of asynchronous calls.
    pub(crate) fn of(stream: CUstream) -> Res<CopyQueue> {
        let (ctx, stream) = stream_and_context(stream.number())?;
        Ok(CopyQueue { ctx, stream, is_async: true })
    }

    /// Runs work that touches only memory of the device: never waits for it.
    pub(crate) fn on_device(&self, bytes: u64, work: impl FnOnce() -> Res + Send + 'static) -> Res {
        self.stream.run_or_submit(&self.ctx, bytes <= MAX_INLINE_BYTES, work)
    }

    /// Runs work that is done when the call returns.
    pub(crate) fn at_once(&self, work: impl FnOnce() -> Res + Send + 'static) -> Res {
        let outcome = self.stream.run_and_wait(&self.ctx, work);
        printf::flush();
        outcome
    }
}

/// Copies when it reaches the head of the stream. Ranges are checked again then, because the program may have freed
/// memory too early; that must be its error, not the end of the process.
fn copy_now(dst: u64, src: u64, len: u64) -> Res {
    let still = |address| {
        check_host(address, len)
            .map(drop)
            .map_err(|_| Code::ILLEGAL_ADDRESS.because("a copy uses memory that was freed before the copy ran"))
    };
    still(dst)?;
    still(src)?;
    // SAFETY: ranges in the device window were just found live; others are the caller's promise.
    unsafe { copy::copy(dst, src, len) };
    Ok(())
}

/// Makes a node of a copy if the lane's stream is capturing; whether it did.
fn captured(lane: &CopyQueue, dst: (CUmemorytype, u64), src: (CUmemorytype, u64), len: u64) -> Res<bool> {
    capture::intercept(&lane.stream, || {
        let at = |address: u64| std::ptr::with_exposed_provenance_mut(address as usize);
        Ok(Action::Copy(AssertSend(CUDA_MEMCPY3D {
            srcMemoryType: src.0,
            srcHost: at(src.1),
            srcDevice: src.1,
            dstMemoryType: dst.0,
            dstHost: at(dst.1),
            dstDevice: dst.1,
            WidthInBytes: len as usize,
            Height: 1,
            Depth: 1,
            ..Default::default()
        })))
    })
}

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// From host memory to device memory.
pub(crate) fn host_to_device(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device(dst, len)?;
    let place = check_host(src, len)?;
    if len == 0 || captured(lane, (DEVICE, dst), (HOST, src), len)? {
        return Ok(());
    }
    if !lane.is_async {
        return lane.at_once(move || copy_now(dst, src, len));
    }
    if place == MemoryLocation::Device {
        return lane.on_device(len, move || copy_now(dst, src, len));
    }
    if let Some(_turn) = lane.stream.try_run_inline(&lane.ctx) {
        return copy_now(dst, src, len);
    }
    if len > MAX_STAGED_BYTES {
        return lane.at_once(move || copy_now(dst, src, len));
    }
    // SAFETY: the caller promises that `src` is readable for `len` bytes.
    let staged = unsafe { std::slice::from_raw_parts(src as *const u8, len as usize) }.to_vec();
    lane.on_device(u64::MAX, move || copy_now(dst, staged.as_ptr() as u64, len))
}

/// From device memory to host memory.
pub(crate) fn device_to_host(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device(src, len)?;
    let place = check_host(dst, len)?;
    if len == 0 || captured(lane, (HOST, dst), (DEVICE, src), len)? {
        return Ok(());
    }
    if lane.is_async && place == MemoryLocation::Device {
        return lane.on_device(len, move || copy_now(dst, src, len));
    }
    lane.at_once(move || copy_now(dst, src, len))
}

/// Within device memory.
pub(crate) fn device_to_device(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device(dst, len)?;
    check_device(src, len)?;
    if len == 0 || captured(lane, (DEVICE, dst), (DEVICE, src), len)? {
        return Ok(());
    }
    lane.on_device(len, move || copy_now(dst, src, len))
}

/// A copy whose direction the addresses tell.
pub(crate) fn any_to_any(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    match (check_host(dst, len)?, check_host(src, len)?) {
        (MemoryLocation::Device, MemoryLocation::Device) => device_to_device(lane, dst, src, len),
        (MemoryLocation::Device, MemoryLocation::Pageable) => host_to_device(lane, dst, src, len),
        (MemoryLocation::Pageable, MemoryLocation::Device) => device_to_host(lane, dst, src, len),
        (MemoryLocation::Pageable, MemoryLocation::Pageable) if captured(lane, (HOST, dst), (HOST, src), len)? => {
            Ok(())
        }
        (MemoryLocation::Pageable, MemoryLocation::Pageable) => lane.at_once(move || copy_now(dst, src, len)),
    }
}

/// The contexts that a copy between devices names; null stands for the one that the copy runs in.
fn peers(ctx: &Arc<Context>, handles: [CUcontext; 2]) -> Res<[Arc<Context>; 2]> {
    let find = |handle: CUcontext| {
        let context = if handle.is_null() { ctx.clone() } else { by_handle(handle.number())? };
        context.check().map(|()| context)
    };
    Ok([find(handles[0])?, find(handles[1])?])
}

driver_functions! {
    fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) {
        any_to_any(&CopyQueue::synchronous()?, dst, src, ByteCount as u64)
    }

    fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        any_to_any(&CopyQueue::of(hStream)?, dst, src, ByteCount as u64)
    }

    fn cuMemcpyHtoD(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) {
        host_to_device(&CopyQueue::synchronous()?, dstDevice, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyHtoDAsync(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) {
        host_to_device(&CopyQueue::of(hStream)?, dstDevice, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyDtoH(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) {
        device_to_host(&CopyQueue::synchronous()?, dstHost.addr() as u64, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoHAsync(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        device_to_host(&CopyQueue::of(hStream)?, dstHost.addr() as u64, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoD(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) {
        device_to_device(&CopyQueue::synchronous()?, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoDAsync(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        device_to_device(&CopyQueue::of(hStream)?, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyPeer(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize) {
        let lane = CopyQueue::synchronous()?;
        for peer in peers(&lane.ctx, [dstContext, srcContext])? {
            lane.ctx.wait_for_all(peer.fences())?;
        }
        device_to_device(&lane, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) {
        let lane = CopyQueue::of(hStream)?;
        peers(&lane.ctx, [dstContext, srcContext])?;
        device_to_device(&lane, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyBatchAsync(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream) {
        let _ = (attrs, attrsIdxs, numAttrs);
        ensure(hStream.number() > 1, Code::INVALID_VALUE)?;
        ensure(count > 0 && !dsts.is_null() && !srcs.is_null() && !sizes.is_null(), Code::INVALID_VALUE)?;
        let lane = CopyQueue::of(hStream)?;
        for i in 0..count {
            any_to_any(&lane, *dsts.add(i), *srcs.add(i), *sizes.add(i) as u64)?;
        }
        Ok(())
    }
}
