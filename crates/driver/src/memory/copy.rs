//! Linear copies. The plain functions wait until the data has arrived. The `async` ones do not, and their host memory
//! must stay alive and untouched until the stream has passed them.

use crate::context::{Context, current_driver_table};
use crate::error::Result;
use crate::memory::address_owner::check_accessible;
use crate::memory::diagnosis::explain_address_error;
use crate::memory::staging::{StagedTransfer, try_staged_copy};
use crate::stream::{Stream, current_table_and_stream_handle};
use rtcg_cuda_sys::{CUdeviceptr, CUstream, DriverTable};

/// Copies host bytes to the device; waits. Long copies of pageable memory go through page-locked buffers if that is
/// faster ([`super::StagingPolicy`]).
///
/// # Safety
/// `dst` must be valid for `src.len()` bytes in the current context.
pub unsafe fn memcpy_htod(dst: CUdeviceptr, src: &[u8]) -> Result<()> {
    let transfer = StagedTransfer::ToDevice { dst, src: src.as_ptr() };
    // SAFETY: the caller's promise; null is the legacy default stream, which plain copies are ordered by.
    if let Some(result) = unsafe { try_staged_copy(transfer, src.len(), CUstream::null()) } {
        return result;
    }
    let table = current_driver_table("cuMemcpyHtoD")?;
    // SAFETY: the source is a slice, the destination is the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyHtoD(dst, src.as_ptr().cast(), src.len())) };
    explain_address_error(table, result, &[("dest", dst, src.len())])
}

/// Copies device bytes to the host; waits. Stages long copies like [`memcpy_htod`].
///
/// # Safety
/// `src` must be valid for `dst.len()` bytes in the current context.
pub unsafe fn memcpy_dtoh(dst: &mut [u8], src: CUdeviceptr) -> Result<()> {
    let transfer = StagedTransfer::ToHost { dst: dst.as_mut_ptr(), src };
    // SAFETY: as in `memcpy_htod`.
    if let Some(result) = unsafe { try_staged_copy(transfer, dst.len(), CUstream::null()) } {
        return result;
    }
    let table = current_driver_table("cuMemcpyDtoH")?;
    let ctx = Context::current();
    let waited = ctx.as_ref().map(|ctx| (ctx.launch_queue(), ctx.launch_queue().snapshot_awaited_launches()));
    // SAFETY: the destination is a slice, the source is the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyDtoH(dst.as_mut_ptr().cast(), src, dst.len())) };
    explain_address_error(table, result, &[("src", src, dst.len())])?;
    if let Some((queue, waited)) = waited {
        queue.finish_stream_wait(CUstream::null(), waited);
    }
    Ok(())
}

/// [`memcpy_htod`] in stream order; waits for the stream.
///
/// # Safety
/// As [`memcpy_htod`].
pub unsafe fn memcpy_htod_in_stream(dst: CUdeviceptr, src: &[u8], stream: &Stream) -> Result<()> {
    let (_, handle) = current_table_and_stream_handle("cuMemcpyHtoDAsync", Some(stream))?;
    let transfer = StagedTransfer::ToDevice { dst, src: src.as_ptr() };
    // SAFETY: the caller's promise; the stream is one of the current context's driver.
    unsafe {
        if let Some(result) = try_staged_copy(transfer, src.len(), handle) {
            return result;
        }
        memcpy_htod_async(dst, src.as_ptr(), src.len(), Some(stream))?;
    }
    stream.synchronize()
}

/// [`memcpy_dtoh`] in stream order; waits for the stream.
///
/// # Safety
/// As [`memcpy_dtoh`].
pub unsafe fn memcpy_dtoh_in_stream(dst: &mut [u8], src: CUdeviceptr, stream: &Stream) -> Result<()> {
    let (_, handle) = current_table_and_stream_handle("cuMemcpyDtoHAsync", Some(stream))?;
    let transfer = StagedTransfer::ToHost { dst: dst.as_mut_ptr(), src };
    // SAFETY: as in `memcpy_htod_in_stream`.
    unsafe {
        if let Some(result) = try_staged_copy(transfer, dst.len(), handle) {
            return result;
        }
        memcpy_dtoh_async(dst.as_mut_ptr(), src, dst.len(), Some(stream))?;
    }
    stream.synchronize()
}

/// [`memcpy_htod`] through a given table.
///
/// # Safety
/// As [`memcpy_htod`]; a context of the table must be current.
pub(crate) unsafe fn memcpy_htod_with_table(table: &DriverTable, dst: CUdeviceptr, src: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise.
    let result = unsafe { call_driver!(table, cuMemcpyHtoD(dst, src.as_ptr().cast(), src.len())) };
    explain_address_error(table, result, &[("dest", dst, src.len())])
}

/// [`memcpy_dtoh`] through a given table.
///
/// # Safety
/// As [`memcpy_dtoh`]; a context of the table must be current.
pub(crate) unsafe fn memcpy_dtoh_with_table(table: &DriverTable, dst: &mut [u8], src: CUdeviceptr) -> Result<()> {
    // SAFETY: the caller's promise.
    let result = unsafe { call_driver!(table, cuMemcpyDtoH(dst.as_mut_ptr().cast(), src, dst.len())) };
    explain_address_error(table, result, &[("src", src, dst.len())])
}

/// Copies host bytes to the device in stream order.
///
/// # Safety
/// `dst` and `src` must be valid for `nbytes` until the stream has passed the copy, and `src` must not be written
/// meanwhile.
pub unsafe fn memcpy_htod_async(
    dst: CUdeviceptr,
    src: *const u8,
    nbytes: usize,
    stream: Option<&Stream>,
) -> Result<()> {
    let (table, stream) = current_table_and_stream_handle("cuMemcpyHtoDAsync", stream)?;
    // SAFETY: the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyHtoDAsync(dst, src.cast(), nbytes, stream)) };
    explain_address_error(table, result, &[("dest", dst, nbytes)])
}

/// Copies device bytes to the host in stream order.
///
/// # Safety
/// `dst` and `src` must be valid for `nbytes` until the stream has passed the copy, and `dst` must not be accessed
/// meanwhile.
pub unsafe fn memcpy_dtoh_async(dst: *mut u8, src: CUdeviceptr, nbytes: usize, stream: Option<&Stream>) -> Result<()> {
    let (table, stream) = current_table_and_stream_handle("cuMemcpyDtoHAsync", stream)?;
    // SAFETY: the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyDtoHAsync(dst.cast(), src, nbytes, stream)) };
    explain_address_error(table, result, &[("src", src, nbytes)])
}

/// Copies within the device (or between devices of one driver).
///
/// # Safety
/// Both pointers must be valid for `nbytes` in the current context.
pub unsafe fn memcpy_dtod(dst: CUdeviceptr, src: CUdeviceptr, nbytes: usize) -> Result<()> {
    let table = current_driver_table("cuMemcpyDtoD")?;
    // SAFETY: the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyDtoD(dst, src, nbytes)) };
    explain_address_error(table, result, &[("dest", dst, nbytes), ("src", src, nbytes)])
}

/// [`memcpy_dtod`] in stream order.
///
/// # Safety
/// Both pointers must be valid for `nbytes` until the stream has passed the copy.
pub unsafe fn memcpy_dtod_async(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    nbytes: usize,
    stream: Option<&Stream>,
) -> Result<()> {
    let (table, stream) = current_table_and_stream_handle("cuMemcpyDtoDAsync", stream)?;
    // SAFETY: the caller's promise.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyDtoDAsync(dst, src, nbytes, stream)) };
    explain_address_error(table, result, &[("dest", dst, nbytes), ("src", src, nbytes)])
}

/// Copies between contexts; `None` means the current one. Memory that belongs to another device than its context's is
/// an error, if the driver knows the owner.
///
/// # Safety
/// Each pointer must be valid for `nbytes` in its context.
pub unsafe fn memcpy_peer(
    dst: CUdeviceptr,
    dst_ctx: Option<&Context>,
    src: CUdeviceptr,
    src_ctx: Option<&Context>,
    nbytes: usize,
) -> Result<()> {
    let (dst_ctx, src_ctx) = peer_copy_contexts("cuMemcpyPeer", (dst, dst_ctx), (src, src_ctx))?;
    let (to, from) = (dst_ctx.handle(), src_ctx.handle());
    let table = current_driver_table("cuMemcpyPeer")?;
    // SAFETY: the caller's promise; both contexts are alive and of the current driver.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyPeer(dst, to, src, from, nbytes)) };
    explain_address_error(table, result, &[("dest", dst, nbytes), ("src", src, nbytes)])
}

/// [`memcpy_peer`] in stream order.
///
/// # Safety
/// Each pointer must be valid for `nbytes` in its context until the stream has passed the copy.
pub unsafe fn memcpy_peer_async(
    dst: CUdeviceptr,
    dst_ctx: Option<&Context>,
    src: CUdeviceptr,
    src_ctx: Option<&Context>,
    nbytes: usize,
    stream: Option<&Stream>,
) -> Result<()> {
    let (dst_ctx, src_ctx) = peer_copy_contexts("cuMemcpyPeerAsync", (dst, dst_ctx), (src, src_ctx))?;
    let (to, from) = (dst_ctx.handle(), src_ctx.handle());
    let (table, stream) = current_table_and_stream_handle("cuMemcpyPeerAsync", stream)?;
    // SAFETY: the caller's promise; both contexts are alive and of the current driver.
    let result = unsafe { retry_if_context_displaced!(table, cuMemcpyPeerAsync(dst, to, src, from, nbytes, stream)) };
    explain_address_error(table, result, &[("dest", dst, nbytes), ("src", src, nbytes)])
}

/// An end of a copy between contexts, and the context that was named for it.
type PeerCopyEndpoint<'a> = (CUdeviceptr, Option<&'a Context>);

fn peer_copy_contexts(
    call: &'static str,
    dst: PeerCopyEndpoint<'_>,
    src: PeerCopyEndpoint<'_>,
) -> Result<(Context, Context)> {
    let pick = |name: &str, (ptr, ctx): PeerCopyEndpoint<'_>| match ctx {
        Some(ctx) => {
            ctx.check_same_driver_as_current(call)?;
            check_accessible(call, name, ptr, ctx)?;
            Ok(ctx.clone())
        }
        None => Context::current_or_error(),
    };
    Ok((pick("dest", dst)?, pick("src", src)?))
}
