//! Copies of two- and three-dimensional regions, described by the driver's own structures.

use crate::context::Context;
use crate::error::Result;
use crate::stream::Stream;
use rtcg_cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUcontext};

/// Copies a 2-D region and waits. If `aligned` is false, any pitch is allowed.
///
/// # Safety
/// All pointers and handles in `copy` must be valid for the region it describes.
pub unsafe fn memcpy_2d(copy: &CUDA_MEMCPY2D, aligned: bool) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        if aligned {
            call_in_current_context!(cuMemcpy2D(copy))
        } else {
            call_in_current_context!(cuMemcpy2DUnaligned(copy))
        }
    }
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
    unsafe { call_in_current_context!(cuMemcpy3D(copy)) }
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
fn fill_in_current_context(copy: &CUDA_MEMCPY3D_PEER) -> Result<CUDA_MEMCPY3D_PEER> {
    let mut copy = *copy;
    for ctx in [&mut copy.srcContext, &mut copy.dstContext] {
        if ctx.is_null() {
            *ctx = Context::current_or_error()?.handle();
        }
    }
    Ok(copy)
}

/// The copy as one inside of the current context, if both ends belong to it: that needs nothing of peers, whose
/// functions have crashed in NVIDIA's driver (580) where both ends are one context.
fn as_copy_within_one_context(copy: &CUDA_MEMCPY3D_PEER) -> Result<Option<CUDA_MEMCPY3D>> {
    let here = Context::current_or_error()?.handle();
    if (copy.srcContext, copy.dstContext) != (here, here) {
        return Ok(None);
    }
    let within = CUDA_MEMCPY3D_PEER { srcContext: CUcontext::null(), dstContext: CUcontext::null(), ..*copy };
    // SAFETY: the structures are the same but for the contexts, in whose place the other one has reserved nulls.
    Ok(Some(unsafe { std::mem::transmute::<CUDA_MEMCPY3D_PEER, CUDA_MEMCPY3D>(within) }))
}

/// Copies a 3-D region between contexts and waits. A null context means the current one.
///
/// # Safety
/// All pointers and handles in `copy` must be valid for the region it describes.
pub unsafe fn memcpy_3d_peer(copy: &CUDA_MEMCPY3D_PEER) -> Result<()> {
    let copy = fill_in_current_context(copy)?;
    if let Some(copy) = as_copy_within_one_context(&copy)? {
        // SAFETY: the caller's promise.
        return unsafe { memcpy_3d(&copy) };
    }
    // SAFETY: the caller's promise.
    unsafe { call_in_current_context!(cuMemcpy3DPeer(&raw const copy)) }
}

/// [`memcpy_3d_peer`] in stream order.
///
/// # Safety
/// As [`memcpy_3d_peer`], until the stream has passed the copy.
pub unsafe fn memcpy_3d_peer_async(copy: &CUDA_MEMCPY3D_PEER, stream: Option<&Stream>) -> Result<()> {
    let copy = fill_in_current_context(copy)?;
    if let Some(copy) = as_copy_within_one_context(&copy)? {
        // SAFETY: the caller's promise.
        return unsafe { memcpy_3d_async(&copy, stream) };
    }
    // SAFETY: the caller's promise.
    unsafe { call_on_stream!(stream, cuMemcpy3DPeerAsync(&raw const copy)) }
}
