//! Linear copies. The plain ones wait until the data has arrived; the `async` ones do not, and
//! their host memory must live and stay untouched until the stream has passed them.

use crate::context::Context;
use crate::error::Result;
use crate::stream::Stream;
use rtcg_cuda_sys::{CUdeviceptr, DriverTable};

/// Copies host bytes to the device.
///
/// # Safety
/// `dst` must be valid for `src.len()` bytes in the current context.
pub unsafe fn memcpy_htod(dst: CUdeviceptr, src: &[u8]) -> Result<()> {
    // SAFETY: the source is a slice, the destination is the caller's promise.
    unsafe { call_current!(cuMemcpyHtoD(dst, src.as_ptr().cast(), src.len())) }
}

/// Copies device bytes to the host.
///
/// # Safety
/// `src` must be valid for `dst.len()` bytes in the current context.
pub unsafe fn memcpy_dtoh(dst: &mut [u8], src: CUdeviceptr) -> Result<()> {
    // SAFETY: the destination is a slice, the source is the caller's promise.
    unsafe { call_current!(cuMemcpyDtoH(dst.as_mut_ptr().cast(), src, dst.len())) }
}

/// [`memcpy_htod`] through a given table.
///
/// # Safety
/// As [`memcpy_htod`]; a context of the table must be current.
pub(crate) unsafe fn memcpy_htod_in(table: &DriverTable, dst: CUdeviceptr, src: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call!(table, cuMemcpyHtoD(dst, src.as_ptr().cast(), src.len())) }
}

/// [`memcpy_dtoh`] through a given table.
///
/// # Safety
/// As [`memcpy_dtoh`]; a context of the table must be current.
pub(crate) unsafe fn memcpy_dtoh_in(table: &DriverTable, dst: &mut [u8], src: CUdeviceptr) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call!(table, cuMemcpyDtoH(dst.as_mut_ptr().cast(), src, dst.len())) }
}

/// Copies host bytes to the device in stream order.
///
/// # Safety
/// `dst` and `src` must be valid for `nbytes` until the stream has passed the copy, and nobody
/// may write to `src` meanwhile.
pub unsafe fn memcpy_htod_async(
    dst: CUdeviceptr,
    src: *const u8,
    nbytes: usize,
    stream: Option<&Stream>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpyHtoDAsync(dst, src.cast(), nbytes)) }
}

/// Copies device bytes to the host in stream order.
///
/// # Safety
/// `dst` and `src` must be valid for `nbytes` until the stream has passed the copy, and nobody
/// may use `dst` meanwhile.
pub unsafe fn memcpy_dtoh_async(dst: *mut u8, src: CUdeviceptr, nbytes: usize, stream: Option<&Stream>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpyDtoHAsync(dst.cast(), src, nbytes)) }
}

/// Copies within the device (or between devices of one driver).
///
/// # Safety
/// Both pointers must be valid for `nbytes` in the current context.
pub unsafe fn memcpy_dtod(dst: CUdeviceptr, src: CUdeviceptr, nbytes: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_current!(cuMemcpyDtoD(dst, src, nbytes)) }
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
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpyDtoDAsync(dst, src, nbytes)) }
}

/// Copies between contexts; `None` means the current one.
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
    let (dst_ctx, src_ctx) = peers("cuMemcpyPeer", dst_ctx, src_ctx)?;
    let (to, from) = (dst_ctx.handle(), src_ctx.handle());
    // SAFETY: the caller's promise; both contexts are alive and of the current driver.
    unsafe { call_current!(cuMemcpyPeer(dst, to, src, from, nbytes)) }
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
    let (dst_ctx, src_ctx) = peers("cuMemcpyPeerAsync", dst_ctx, src_ctx)?;
    let (to, from) = (dst_ctx.handle(), src_ctx.handle());
    // SAFETY: the caller's promise; both contexts are alive and of the current driver.
    unsafe { call_on_stream!(stream, cuMemcpyPeerAsync(dst, to, src, from, nbytes)) }
}

fn peers(call: &'static str, dst: Option<&Context>, src: Option<&Context>) -> Result<(Context, Context)> {
    let pick = |ctx: Option<&Context>| match ctx {
        Some(ctx) => ctx.check_same_table(call).map(|()| ctx.clone()),
        None => Context::require(),
    };
    Ok((pick(dst)?, pick(src)?))
}
