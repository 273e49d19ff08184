//! Copies of two- and three-dimensional regions, described by the driver's own structures.

use crate::context::Context;
use crate::error::Result;
use crate::stream::Stream;
use rtcg_cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER};

/// Copies a 2-D region and waits. With `aligned` false, any pitch is allowed.
///
/// # Safety
/// All pointers and handles in `copy` must be valid for the region it describes.
pub unsafe fn memcpy_2d(copy: &CUDA_MEMCPY2D, aligned: bool) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { if aligned { call_current!(cuMemcpy2D(copy)) } else { call_current!(cuMemcpy2DUnaligned(copy)) } }
}

/// [`memcpy_2d`] in stream order.
///
/// # Safety
/// As [`memcpy_2d`], until the stream has passed the copy.
pub unsafe fn memcpy_2d_async(copy: &CUDA_MEMCPY2D, stream: Option<&Stream>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpy2DAsync(copy)) }
}

/// Copies a 3-D region and waits.
///
/// # Safety
/// All pointers and handles in `copy` must be valid for the region it describes.
pub unsafe fn memcpy_3d(copy: &CUDA_MEMCPY3D) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_current!(cuMemcpy3D(copy)) }
}

/// [`memcpy_3d`] in stream order.
///
/// # Safety
/// As [`memcpy_3d`], until the stream has passed the copy.
pub unsafe fn memcpy_3d_async(copy: &CUDA_MEMCPY3D, stream: Option<&Stream>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpy3DAsync(copy)) }
}

/// A copy in which null stands for no context any more, but for the current one.
fn with_contexts(copy: &CUDA_MEMCPY3D_PEER) -> Result<CUDA_MEMCPY3D_PEER> {
    let mut copy = *copy;
    for ctx in [&mut copy.srcContext, &mut copy.dstContext] {
        if ctx.is_null() {
            *ctx = Context::require()?.handle();
        }
    }
    Ok(copy)
}

/// Copies a 3-D region between contexts and waits. A context that is null is the current one.
///
/// # Safety
/// All pointers and handles in `copy` must be valid for the region it describes.
pub unsafe fn memcpy_3d_peer(copy: &CUDA_MEMCPY3D_PEER) -> Result<()> {
    let copy = with_contexts(copy)?;
    // SAFETY: the caller's promise.
    unsafe { call_current!(cuMemcpy3DPeer(&raw const copy)) }
}

/// [`memcpy_3d_peer`] in stream order.
///
/// # Safety
/// As [`memcpy_3d_peer`], until the stream has passed the copy.
pub unsafe fn memcpy_3d_peer_async(copy: &CUDA_MEMCPY3D_PEER, stream: Option<&Stream>) -> Result<()> {
    let copy = with_contexts(copy)?;
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpy3DPeerAsync(&raw const copy)) }
}
