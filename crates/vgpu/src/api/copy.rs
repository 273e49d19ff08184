//! Copies of contiguous ranges.
//!
//! Synchronous copies run in the legacy default stream and return when they are done; copies
//! within the device are asynchronous, as in CUDA. An asynchronous copy from pageable memory takes
//! the data before it returns, one to pageable memory returns when it is done.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::pointer::{is_copied_synchronously, location_device};
use super::{Handle, driver_functions};
use crate::driver::stream_and_context;
use crate::error::set_failed_batch_index;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::memory::copy::{self, MemoryLocation, check_device_range, check_host_range, check_writable};
use crate::stream::Stream;
use crate::stream::context::{Context, context_by_handle, current};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::MAX_BATCH_COPY_FLAGS;
use rtcg_vgpu_exec::runtime_calls::printf;

/// Work up to this many bytes is done by the calling thread if the stream is idle: waking another
/// thread costs more.
pub(crate) const MAX_INLINE_COPY_BYTES: u64 = 256 << 10;
/// `CU_STREAM_LEGACY`
const CU_STREAM_LEGACY_NUMBER: u64 = 1;
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
    pub(crate) fn synchronous_copy_queue() -> Res<CopyQueue> {
        let ctx = current()?;
        capture::refuse_if_blocking_stream_captures(&ctx)?;
        let stream = ctx.legacy.clone();
        Ok(CopyQueue { ctx, stream, is_async: false })
    }

    /// The lane of asynchronous calls.
    pub(crate) fn stream_copy_queue(stream: CUstream) -> Res<CopyQueue> {
        let (ctx, stream) = stream_and_context(stream.handle_number())?;
        Ok(CopyQueue { ctx, stream, is_async: true })
    }

    /// Runs work that touches only memory of the device: never waits for it.
    pub(crate) fn submit_device_work(&self, bytes: u64, work: impl FnOnce() -> Res + Send + 'static) -> Res {
        self.stream.run_or_submit(&self.ctx, bytes <= MAX_INLINE_COPY_BYTES, work)
    }

    /// [`CopyQueue::submit_device_work`] for work on memory at `places`, whose copies the program may want to be
    /// synchronous.
    pub(crate) fn submit_work_on(
        &self,
        places: &[u64],
        bytes: u64,
        work: impl FnOnce() -> Res + Send + 'static,
    ) -> Res {
        if !self.is_async && places.iter().any(|&place| is_copied_synchronously(place)) {
            return self.run_synchronously(work);
        }
        self.submit_device_work(bytes, work)
    }

    /// Runs work that is done when the call returns.
    pub(crate) fn run_synchronously(&self, work: impl FnOnce() -> Res + Send + 'static) -> Res {
        let outcome = self.stream.run_and_wait(&self.ctx, work);
        printf::flush_output();
        outcome
    }
}

/// Copies when it reaches the head of the stream. Ranges are checked again then, because the program may have freed
/// memory too early; that must be its error, not the end of the process.
fn run_checked_copy(dst: u64, src: u64, len: u64) -> Res {
    let still = |address| {
        check_host_range(address, len).map(drop).map_err(|_| {
            ResultCode::ILLEGAL_ADDRESS.with_detail("a copy uses memory that was freed before the copy ran")
        })
    };
    still(dst)?;
    still(src)?;
    check_writable(dst, len)?;
    // SAFETY: ranges in the device window were just found live; others are the caller's promise.
    unsafe { copy::copy_bytes(dst, src, len) };
    Ok(())
}

/// Makes a node of a copy if the lane's stream is capturing; whether it did.
fn capture_copy(lane: &CopyQueue, dst: (CUmemorytype, u64), src: (CUmemorytype, u64), len: u64) -> Res<bool> {
    capture::capture_operation(&lane.stream, || {
        let at = |address: u64| std::ptr::with_exposed_provenance_mut(address as usize);
        Ok(NodeAction::Copy(AssertSend(CUDA_MEMCPY3D {
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

const HOST_MEMORY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE_MEMORY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// From host memory to device memory.
pub(crate) fn copy_host_to_device(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device_range(dst, len)?;
    let place = check_host_range(src, len)?;
    if len == 0 || capture_copy(lane, (DEVICE_MEMORY, dst), (HOST_MEMORY, src), len)? {
        return Ok(());
    }
    if !lane.is_async {
        return lane.run_synchronously(move || run_checked_copy(dst, src, len));
    }
    if place == MemoryLocation::Device {
        return lane.submit_device_work(len, move || run_checked_copy(dst, src, len));
    }
    if let Some(_turn) = lane.stream.try_run_inline(&lane.ctx) {
        return run_checked_copy(dst, src, len);
    }
    if len > MAX_STAGED_BYTES {
        return lane.run_synchronously(move || run_checked_copy(dst, src, len));
    }
    // SAFETY: the caller promises that `src` is readable for `len` bytes.
    let staged = unsafe { std::slice::from_raw_parts(src as *const u8, len as usize) }.to_vec();
    lane.submit_device_work(u64::MAX, move || run_checked_copy(dst, staged.as_ptr() as u64, len))
}

/// From device memory to host memory.
pub(crate) fn copy_device_to_host(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device_range(src, len)?;
    let place = check_host_range(dst, len)?;
    if len == 0 || capture_copy(lane, (HOST_MEMORY, dst), (DEVICE_MEMORY, src), len)? {
        return Ok(());
    }
    if lane.is_async && place == MemoryLocation::Device {
        return lane.submit_device_work(len, move || run_checked_copy(dst, src, len));
    }
    lane.run_synchronously(move || run_checked_copy(dst, src, len))
}

/// Within device memory.
pub(crate) fn copy_device_to_device(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    check_device_range(dst, len)?;
    check_device_range(src, len)?;
    if len == 0 || capture_copy(lane, (DEVICE_MEMORY, dst), (DEVICE_MEMORY, src), len)? {
        return Ok(());
    }
    lane.submit_work_on(&[dst, src], len, move || run_checked_copy(dst, src, len))
}

/// A copy whose direction the addresses tell.
pub(crate) fn copy_unified(lane: &CopyQueue, dst: u64, src: u64, len: u64) -> Res {
    match (check_host_range(dst, len)?, check_host_range(src, len)?) {
        (MemoryLocation::Device, MemoryLocation::Device) => copy_device_to_device(lane, dst, src, len),
        (MemoryLocation::Device, MemoryLocation::Pageable) => copy_host_to_device(lane, dst, src, len),
        (MemoryLocation::Pageable, MemoryLocation::Device) => copy_device_to_host(lane, dst, src, len),
        (MemoryLocation::Pageable, MemoryLocation::Pageable)
            if capture_copy(lane, (HOST_MEMORY, dst), (HOST_MEMORY, src), len)? =>
        {
            Ok(())
        }
        (MemoryLocation::Pageable, MemoryLocation::Pageable) => {
            lane.run_synchronously(move || run_checked_copy(dst, src, len))
        }
    }
}

/// The contexts that a copy between devices names; null stands for the one that the copy runs in.
pub(crate) fn peer_copy_contexts(ctx: &Arc<Context>, handles: [CUcontext; 2]) -> Res<[Arc<Context>; 2]> {
    let find = |handle: CUcontext| {
        let context = if handle.is_null() { ctx.clone() } else { context_by_handle(handle.handle_number())? };
        context.check_usable().map(|()| context)
    };
    Ok([find(handles[0])?, find(handles[1])?])
}

/// Where a batch runs: in a stream other than the legacy default one.
pub(crate) fn batch_queue(stream: CUstream) -> Res<CopyQueue> {
    let is_legacy = matches!(stream.handle_number(), 0 | CU_STREAM_LEGACY_NUMBER);
    ensure(!is_legacy, ResultCode::INVALID_VALUE)?;
    CopyQueue::stream_copy_queue(stream)
}

/// What `read` makes of the entry of each of `count` parts of a batch. `firsts` says from which part on each of the `n`
/// entries counts, the first from the first part on.
///
/// # Safety
/// `entries` and `firsts` are null or have `n` elements.
pub(crate) unsafe fn batch_entries<T, R: Clone>(
    entries: *const T,
    firsts: *const usize,
    n: usize,
    count: usize,
    read: impl Fn(T) -> Res<R>,
) -> Res<Vec<R>> {
    ensure((1..=count).contains(&n) && !firsts.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    let firsts: Vec<_> = (0..n).map(|i| unsafe { firsts.add(i).read_unaligned() }).collect();
    let is_ordered = firsts[0] == 0 && firsts.windows(2).all(|pair| pair[0] < pair[1]) && firsts[n - 1] < count;
    ensure(is_ordered && !entries.is_null(), ResultCode::INVALID_VALUE)?;
    let mut all = Vec::with_capacity(count);
    for (i, &first) in firsts.iter().enumerate() {
        // SAFETY: this function's contract.
        let entry = read(unsafe { entries.add(i).read_unaligned() })?;
        all.extend(std::iter::repeat_n(entry, firsts.get(i + 1).unwrap_or(&count) - first));
    }
    Ok(all)
}

/// Checks what a copy of a batch says about its source.
pub(crate) fn check_batch_attributes(order: CUmemcpySrcAccessOrder, flags: c_uint) -> Res {
    use CUmemcpySrcAccessOrder as O;
    let is_order = (O::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM.0..=O::CU_MEMCPY_SRC_ACCESS_ORDER_ANY.0).contains(&order.0);
    ensure(is_order && flags <= MAX_BATCH_COPY_FLAGS, ResultCode::INVALID_VALUE)
}

/// Where memory may be said to lie: nowhere in particular, or at a location that there is.
pub(crate) fn check_location_hint(location: CUmemLocation) -> Res {
    let is_open = location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE;
    if is_open { Ok(()) } else { location_device(location).map(drop) }
}

/// When a copy with these attributes reads its source.
fn source_order(given: CUmemcpyAttributes) -> Res<CUmemcpySrcAccessOrder> {
    check_batch_attributes(given.srcAccessOrder, given.flags)?;
    [given.srcLocHint, given.dstLocHint].into_iter().try_for_each(check_location_hint)?;
    Ok(given.srcAccessOrder)
}

/// A copy of a batch, which reads its source when the order says.
fn copy_of_batch(lane: &CopyQueue, dst: u64, src: u64, len: u64, order: CUmemcpySrcAccessOrder) -> Res {
    use CUmemcpySrcAccessOrder as O;
    ensure(len > 0, ResultCode::INVALID_VALUE)?;
    let places = [check_host_range(dst, len)?, check_host_range(src, len)?];
    if capture::capture_of_stream(&lane.stream).is_some() {
        return copy_unified(lane, dst, src, len);
    }
    match (order, places) {
        // In the stream's order also from pageable memory, which stays until then.
        (O::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, [MemoryLocation::Device, MemoryLocation::Pageable]) => {
            lane.submit_device_work(len, move || run_checked_copy(dst, src, len))
        }
        // Read before the call returns, also from memory that the device reaches.
        (O::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, [MemoryLocation::Device, MemoryLocation::Device]) => {
            if len > MAX_STAGED_BYTES {
                return lane.run_synchronously(move || run_checked_copy(dst, src, len));
            }
            let mut staged = vec![0_u8; len as usize];
            run_checked_copy(staged.as_mut_ptr().expose_provenance() as u64, src, len)?;
            lane.submit_device_work(len, move || run_checked_copy(dst, staged.as_ptr() as u64, len))
        }
        _ => copy_unified(lane, dst, src, len),
    }
}

driver_functions! {
    fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) {
        copy_unified(&CopyQueue::synchronous_copy_queue()?, dst, src, ByteCount as u64)
    }

    fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        copy_unified(&CopyQueue::stream_copy_queue(hStream)?, dst, src, ByteCount as u64)
    }

    fn cuMemcpyHtoD(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) {
        copy_host_to_device(&CopyQueue::synchronous_copy_queue()?, dstDevice, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyHtoDAsync(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) {
        copy_host_to_device(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, srcHost.addr() as u64, ByteCount as u64)
    }

    fn cuMemcpyDtoH(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) {
        copy_device_to_host(&CopyQueue::synchronous_copy_queue()?, dstHost.addr() as u64, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoHAsync(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        copy_device_to_host(&CopyQueue::stream_copy_queue(hStream)?, dstHost.addr() as u64, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoD(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) {
        copy_device_to_device(&CopyQueue::synchronous_copy_queue()?, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyDtoDAsync(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        copy_device_to_device(&CopyQueue::stream_copy_queue(hStream)?, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyPeer(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize) {
        let lane = CopyQueue::synchronous_copy_queue()?;
        for peer in peer_copy_contexts(&lane.ctx, [dstContext, srcContext])? {
            lane.ctx.wait_for_all_streams(peer.stream_points())?;
        }
        copy_device_to_device(&lane, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) {
        let lane = CopyQueue::stream_copy_queue(hStream)?;
        peer_copy_contexts(&lane.ctx, [dstContext, srcContext])?;
        // No peer copy becomes a node, not even one within a context.
        capture::refuse_if_capturing(&lane.stream)?;
        copy_device_to_device(&lane, dstDevice, srcDevice, ByteCount as u64)
    }

    fn cuMemcpyBatchAsync(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream) {
        set_failed_batch_index(None);
        let lane = batch_queue(hStream)?;
        ensure(count > 0 && !dsts.is_null() && !srcs.is_null() && !sizes.is_null(), ResultCode::INVALID_VALUE)?;
        let orders = batch_entries(attrs, attrsIdxs, numAttrs, count, source_order)?;
        for (i, order) in orders.into_iter().enumerate() {
            // The copies before the one that fails are made.
            let outcome = copy_of_batch(&lane, *dsts.add(i), *srcs.add(i), *sizes.add(i) as u64, order);
            outcome.inspect_err(|_| set_failed_batch_index(Some(i)))?;
        }
        Ok(())
    }
}
