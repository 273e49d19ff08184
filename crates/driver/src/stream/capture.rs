//! Streams that are being captured: their status, and the objects that their graph keeps alive.

use super::{Stream, host_call};
use crate::active_captures::{exchange_capture_mode_of_driver, find_capture_target, is_any_capturing};
use crate::context::{Context, current_driver_table};
use crate::error::Result;
use rtcg_cuda_sys::*;
use std::any::Any;
use std::sync::Arc;

/// A capture as the driver tells of it.
pub(crate) struct RawCapture {
    pub(crate) id: u64,
    pub(crate) graph: CUgraph,
    pub(crate) dependencies: Vec<CUgraphNode>,
}

/// The state of a capture.
impl Stream {
    /// Whether the stream is being captured, and whether the capture is still valid.
    pub fn capture_status(&self) -> Result<CUstreamCaptureStatus> {
        let mut status = CUstreamCaptureStatus::default();
        // SAFETY: the stream is alive, one value is written.
        unsafe { call_if_alive!(self.context(), cuStreamIsCapturing(self.handle(), &raw mut status)) }?;
        Ok(status)
    }

    /// Whether the stream is being captured.
    pub fn is_capturing(&self) -> Result<bool> {
        Ok(self.capture_status()? != CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// `None` when no capture is under way. Of an invalid one only the number is known.
    pub(crate) fn query_capture(&self) -> Result<Option<RawCapture>> {
        let mut status = CUstreamCaptureStatus::default();
        let (mut id, mut graph, mut first, mut n) = (0, CUgraph::null(), std::ptr::null(), 0);
        let ctx = self.context();
        // SAFETY: the stream is alive, the places are valid. The edges are asked for as the driver
        // refuses to hide those that say more than that one node comes after another.
        unsafe {
            let (status, id, graph) = (&raw mut status, &raw mut id, &raw mut graph);
            if ctx.driver_table().has_function(DriverFn::cuStreamGetCaptureInfo) {
                let mut edges = std::ptr::null();
                let (first, edges, n) = (&raw mut first, &raw mut edges, &raw mut n);
                call_if_alive!(ctx, cuStreamGetCaptureInfo(self.handle(), status, id, graph, first, edges, n))
            } else {
                call_if_alive!(
                    ctx,
                    cuStreamGetCaptureInfo_v2(self.handle(), status, id, graph, &raw mut first, &raw mut n)
                )
            }
        }?;
        if status == CU_STREAM_CAPTURE_STATUS_NONE {
            return Ok(None);
        }
        let is_good = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
        let n = if is_good && !first.is_null() { n } else { 0 };
        // SAFETY: the driver has written the address of `n` handles, good until the next question.
        let dependencies = (0..n).map(|i| unsafe { *first.add(i) }).collect();
        Ok(Some(RawCapture { id, graph: if is_good { graph } else { CUgraph::null() }, dependencies }))
    }
}

/// Keeps an object alive as long as the graph that `stream` is being captured into; returns false if the stream is not
/// being captured. Costs nothing while no stream is.
///
/// Launches keep their kernels alive and pools their blocks; this is for anything else that the work in a stream needs.
#[inline]
pub fn retain_in_capture<T: Any + Send + Sync>(stream: Option<&Stream>, object: impl FnOnce() -> Arc<T>) -> bool {
    is_any_capturing() && retain_in_stream_capture(stream, || object())
}

#[cold]
fn retain_in_stream_capture(stream: Option<&Stream>, object: impl FnOnce() -> Arc<dyn Any + Send + Sync>) -> bool {
    let entered = if stream.is_none() { Stream::current() } else { None };
    // Of a capture that does not take the object the program hears when it ends.
    stream.or(entered.as_ref()).is_some_and(|stream| retain_in_any_capture(stream, object).unwrap_or(true))
}

/// [`retain_in_capture`] whichever library began the capture, at the cost of a driver call.
pub(crate) fn retain_in_any_capture(
    stream: &Stream,
    object: impl FnOnce() -> Arc<dyn Any + Send + Sync>,
) -> Result<bool> {
    let Some(raw) = stream.query_capture()? else { return Ok(false) };
    match find_capture_target(|capture| capture.id == raw.id) {
        Some(target) => target.retain(object()),
        // A capture that has become invalid gives no graph.
        None if raw.graph.is_null() => {}
        None => retain_as_user_object(stream.context(), raw.graph, object())?,
    }
    Ok(true)
}

/// Lets a graph of another library hold an object.
fn retain_as_user_object(ctx: &Context, graph: CUgraph, object: Arc<dyn Any + Send + Sync>) -> Result<()> {
    unsafe extern "C" fn release_user_object(data: *mut c_void) {
        // SAFETY: the box that was given away below; the driver calls this once.
        let object = unsafe { Box::from_raw(data.cast::<Arc<dyn Any + Send + Sync>>()) };
        host_call::drop_on_driver_thread("cuUserObjectRelease", object);
    }
    let data = Box::into_raw(Box::new(object));
    let mut handle = CUuserObject::null();
    let (flags, to_graph) = (CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0, CU_GRAPH_USER_OBJECT_MOVE.0);
    // SAFETY: one handle is written; the driver hands `data` back to `release_user_object`.
    unsafe {
        call_if_alive!(ctx, cuUserObjectCreate(&raw mut handle, data.cast(), Some(release_user_object), 1, flags))
    }
    // SAFETY: the driver refused and will not call; the box is ours again.
    .inspect_err(|_| drop(unsafe { Box::from_raw(data) }))?;
    // SAFETY: the graph is that of a capture in progress; it takes over the one reference.
    let given = unsafe { call_if_alive!(ctx, cuGraphRetainUserObject(graph, handle, 1, to_graph)) };
    given.inspect_err(|_| {
        // SAFETY: the reference is still this function's.
        let _ = unsafe { call_if_alive!(ctx, cuUserObjectRelease(handle, 1)) };
    })
}

/// Sets how strictly calls of the calling thread are checked while any stream is being captured, and returns the
/// previous mode.
pub fn exchange_capture_mode(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    exchange_capture_mode_of_driver(current_driver_table("cuThreadExchangeStreamCaptureMode")?, mode)
}
