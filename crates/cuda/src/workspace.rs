//! Device memory that kernels restore to its initial state, so that launches in one stream can share it.
//!
//! Work of one stream runs in order, so each stream has its own workspace. The memory lives until its context ends or a
//! larger workspace is needed; a workspace that was replaced is kept as well, because a captured graph may still hold
//! its address.

use crate::context::with_current;
use rtcg_driver::{Context, DeviceAllocation, Result, Stream, memory};
use rtcg_hal::{REDUCTION_STATE_BYTES, lock_ignoring_poison};
use std::collections::HashMap;
use std::sync::Mutex;

struct StreamWorkspace {
    ctx: Context,
    /// The last one is in use; keeping the stream keeps its handle from being given to another.
    memory: Vec<DeviceAllocation>,
    _stream: Option<Stream>,
}

/// A context and a stream.
type WorkspaceKey = (usize, usize);

static WORKSPACES: Mutex<Option<HashMap<WorkspaceKey, StreamWorkspace>>> = Mutex::new(None);

/// The addresses of [`REDUCTION_STATE_BYTES`] bytes of completion counters and flagged values, all zero, and of
/// `nbytes` uninitialised bytes, for launches in `stream` only.
///
/// # Errors
/// When the device is out of memory.
pub(crate) fn reduction_workspace(ctx: &Context, stream: Option<&Stream>, nbytes: usize) -> Result<(u64, u64)> {
    let start = zeroed_workspace(ctx, stream, REDUCTION_STATE_BYTES + nbytes)?;
    Ok((start, start + REDUCTION_STATE_BYTES as u64))
}

/// The address of at least `nbytes` bytes that were zero at first, for launches in `stream` only.
///
/// # Errors
/// When the device is out of memory.
#[expect(unsafe_code, reason = "memory that was just allocated is filled")]
fn zeroed_workspace(ctx: &Context, stream: Option<&Stream>, nbytes: usize) -> Result<u64> {
    let key = (ctx.handle().addr(), stream.map_or(0, |s| s.handle().addr()));
    let mut pieces = lock_ignoring_poison(&WORKSPACES);
    let pieces = pieces.get_or_insert_default();
    let known = pieces.get(&key).filter(|piece| piece.ctx == *ctx && piece.ctx.is_alive());
    if let Some(last) = known.and_then(|piece| piece.memory.last()).filter(|m| m.nbytes() >= nbytes) {
        return Ok(last.ptr());
    }
    pieces.retain(|_, piece| piece.ctx.is_alive());
    let nbytes = nbytes.next_power_of_two().max(1 << 17);
    let new = with_current(ctx, || {
        let new = DeviceAllocation::new(nbytes)?;
        // SAFETY: the memory was just allocated with this size.
        unsafe { memory::memset_d8_async(new.ptr(), 0, nbytes, stream) }?;
        Ok(new)
    })?;
    let ptr = new.ptr();
    let piece = pieces.entry(key).or_insert_with(|| StreamWorkspace {
        ctx: ctx.clone(),
        memory: Vec::new(),
        _stream: stream.cloned(),
    });
    piece.memory.push(new);
    Ok(ptr)
}

/// Frees the device memory that reductions keep for their launches, one workspace per stream.
pub fn clear_workspaces() {
    let old = lock_ignoring_poison(&WORKSPACES).take();
    drop(old);
}
