//! Capturing: what is submitted to a stream becomes nodes of a graph.
//!
//! Establishes: a capturing stream has a set of nodes that its next one comes after; an event that
//! is recorded in it carries that set to other streams, which thereby join the capture. A capture
//! that something went wrong in stays invalid until it is ended.

use rtcg_vgpu_abi::IgnorePoison;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use rtcg_cuda_sys::CUgraphEdgeData;

use super::{Graph, NODES, NodeAction};
use crate::stream::capture::{Capture, N_CAPTURES, StreamCapture};
use crate::stream::context::Context;
use crate::stream::{Stream, StreamKind};
use rtcg_vgpu_abi::error::{Error, Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::PROGRAMMATIC_EDGE;

/// `CU_STREAM_CAPTURE_MODE_GLOBAL`, the default of threads.
const GLOBAL_MODE: u32 = 0;
const RELAXED_MODE: u32 = 2;

static CAPTURES: Mutex<Vec<Weak<Capture>>> = Mutex::new(Vec::new());

thread_local!(static THREAD_CAPTURE_MODE: Cell<u32> = const { Cell::new(GLOBAL_MODE) });

impl Capture {
    /// The graph that it fills.
    pub(crate) fn graph(&self) -> Arc<Graph> {
        self.graph.clone().downcast().expect("captures are begun with a graph")
    }

    /// Whether something went wrong in it.
    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Acquire)
    }

    /// Whether it was ended, or all its streams are gone.
    pub(crate) fn is_ended(&self) -> bool {
        self.streams.lock().ignore_poison().is_empty()
    }

    fn invalidate_capture(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    fn add_capturing_stream(self: &Arc<Self>, stream: &Arc<Stream>, after: Vec<u64>) {
        self.streams.lock().ignore_poison().push(Arc::downgrade(stream));
        *stream.capture.lock().ignore_poison() = Some(StreamCapture { capture: self.clone(), after });
        stream.capturing.store(true, Ordering::Release);
    }

    fn release_streams(&self) {
        for stream in self.streams.lock().ignore_poison().drain(..).filter_map(|s| s.upgrade()) {
            *stream.capture.lock().ignore_poison() = None;
            stream.capturing.store(false, Ordering::Release);
        }
    }
}

/// Begins to capture what is submitted to a stream, into a graph after some of its nodes.
pub(crate) fn begin_capture(ctx: &Context, stream: &Arc<Stream>, graph: Arc<Graph>, after: Vec<u64>, mode: u32) -> Res {
    static NEXT_CAPTURE_ID: AtomicU64 = AtomicU64::new(1);
    ensure(mode <= RELAXED_MODE, ResultCode::INVALID_VALUE)?;
    if stream.kind == StreamKind::Legacy {
        refuse_if_blocking_stream_captures(ctx)?;
        return ResultCode::STREAM_CAPTURE_UNSUPPORTED.err();
    }
    ensure(!stream.capturing.load(Ordering::Acquire), ResultCode::ILLEGAL_STATE)?;
    // A graph takes one capture at a time.
    let is_taken = active_captures().iter().any(|c| c.graph().handle == graph.handle);
    ensure(!is_taken, ResultCode::ILLEGAL_STATE)?;
    ensure(after.iter().all(|&n| graph.lock_contents().contains_node(n)), ResultCode::INVALID_VALUE)?;
    let mut named = std::collections::HashSet::new();
    let after = after.into_iter().filter(|&n| named.insert(n)).collect();
    N_CAPTURES.fetch_add(1, Ordering::AcqRel);
    let capture = Arc::new(Capture {
        id: NEXT_CAPTURE_ID.fetch_add(1, Ordering::Relaxed),
        graph,
        origin: stream.id,
        ctx_id: ctx.id,
        mode,
        thread: std::thread::current().id(),
        invalid: AtomicBool::new(false),
        streams: Mutex::default(),
    });
    let mut captures = CAPTURES.lock().ignore_poison();
    captures.retain(|c| c.strong_count() > 0);
    captures.push(Arc::downgrade(&capture));
    drop(captures);
    capture.add_capturing_stream(stream, after);
    Ok(())
}

/// Ends the capture that began in a stream; its graph. If the capture fails, the graph is gone, also one that the program
/// has given.
pub(crate) fn end_capture(stream: &Arc<Stream>) -> Res<Arc<Graph>> {
    let StreamCapture { capture, after } = capture_of_stream(stream).ok_or(ResultCode::ILLEGAL_STATE)?;
    ensure(capture.origin == stream.id, ResultCode::STREAM_CAPTURE_UNMATCHED)
        .inspect_err(|_| capture.invalidate_capture())?;
    // Where the streams stand that joined it.
    let streams: Vec<Arc<Stream>> = capture.streams.lock().ignore_poison().iter().filter_map(Weak::upgrade).collect();
    let places = streams.iter().filter(|s| s.id != capture.origin).filter_map(|s| capture_of_stream(s));
    let others: Vec<u64> = places.flat_map(|place| place.after).collect();
    // Another thread's attempt ends the capture too, and its graph is lost.
    capture.release_streams();
    let graph = capture.graph();
    check_capture_is_complete(&capture, &graph, &after, &others).inspect_err(|_| graph.destroy_handles())?;
    Ok(graph)
}

fn check_capture_is_complete(capture: &Capture, graph: &Graph, after: &[u64], others: &[u64]) -> Res {
    let here = capture.mode == RELAXED_MODE || capture.thread == std::thread::current().id();
    ensure(here, ResultCode::STREAM_CAPTURE_WRONG_THREAD)?;
    ensure(!capture.is_invalid(), ResultCode::STREAM_CAPTURE_INVALIDATED)?;
    let parts = graph.lock_contents();
    // Work of another stream that this one does not wait for would be lost to whoever waits for it.
    let loose = others.iter().any(|n| !after.contains(n) && parts.dependents_of(*n).next().is_none());
    ensure(!loose, ResultCode::STREAM_CAPTURE_UNJOINED)
}

/// A stream's part in a capture, if it has one.
pub(crate) fn capture_of_stream(stream: &Stream) -> Option<StreamCapture> {
    if !stream.capturing.load(Ordering::Acquire) {
        return None;
    }
    stream.capture.lock().ignore_poison().clone()
}

/// Makes a node of an operation if its stream is capturing; whether it did.
pub(crate) fn capture_operation(stream: &Stream, action: impl FnOnce() -> Res<NodeAction>) -> Res<bool> {
    capture_operation_with_edges(stream, action, false)
}

/// The same for a kernel; a `programmatic` one may begin before the kernels that it comes after have ended.
pub(crate) fn capture_operation_with_edges(
    stream: &Stream,
    action: impl FnOnce() -> Res<NodeAction>,
    programmatic: bool,
) -> Res<bool> {
    if !stream.capturing.load(Ordering::Acquire) {
        return Ok(false);
    }
    let mut slot = stream.capture.lock().ignore_poison();
    let Some(captured) = &mut *slot else { return Ok(false) };
    ensure(!captured.capture.is_invalid(), ResultCode::STREAM_CAPTURE_INVALIDATED)?;
    let graph = captured.capture.graph();
    let edge_from = |&node: &u64| {
        let is_kernel = || NODES.get_object(node).is_ok_and(|n| matches!(n.current_action(), NodeAction::Kernel(_)));
        (node, if programmatic && is_kernel() { programmatic_edge() } else { CUgraphEdgeData::default() })
    };
    let after: Vec<_> = captured.after.iter().map(edge_from).collect();
    let added = action().and_then(|a| graph.add_node_with_edge_data(a, &after, 0));
    let node = added.inspect_err(|_| captured.capture.invalidate_capture())?;
    captured.after = vec![node.handle];
    Ok(true)
}

fn programmatic_edge() -> CUgraphEdgeData {
    let [from_port, to_port, type_] = PROGRAMMATIC_EDGE;
    CUgraphEdgeData { from_port, to_port, type_, ..CUgraphEdgeData::default() }
}

/// Invalidates the capture that a stream takes part in, if it does.
pub(crate) fn invalidate_capture_of_stream(stream: &Stream) {
    if let Some(captured) = capture_of_stream(stream) {
        captured.capture.invalidate_capture();
    }
}

/// Fails when an event was last recorded in a capture, which a question about its completion makes invalid; after that,
/// and after the capture, the event stands for nothing.
pub(crate) fn refuse_captured_event(captured: Option<StreamCapture>) -> Res {
    match captured {
        None => Ok(()),
        Some(captured) if captured.capture.is_ended() || captured.capture.is_invalid() => {
            ResultCode::INVALID_VALUE.err()
        }
        Some(captured) => {
            captured.capture.invalidate_capture();
            ResultCode::CAPTURED_EVENT.err()
        }
    }
}

/// Fails, and invalidates the capture, if the stream is capturing: the operation cannot be a node.
pub(crate) fn refuse_if_capturing(stream: &Stream) -> Res {
    match capture_of_stream(stream) {
        None => Ok(()),
        Some(captured) => {
            captured.capture.invalidate_capture();
            ResultCode::STREAM_CAPTURE_UNSUPPORTED.err()
        }
    }
}

/// A stream waits for an event that was recorded in a capture.
pub(crate) fn join_event_capture(stream: &Arc<Stream>, event: &StreamCapture) -> Res {
    ensure(stream.kind != StreamKind::Legacy, ResultCode::STREAM_CAPTURE_IMPLICIT)?;
    ensure(!event.capture.is_invalid(), ResultCode::STREAM_CAPTURE_INVALIDATED)?;
    match capture_of_stream(stream) {
        None => event.capture.add_capturing_stream(stream, event.after.clone()),
        Some(own) if own.capture.id == event.capture.id => {
            if let Some(captured) = &mut *stream.capture.lock().ignore_poison() {
                let new = event.after.iter().filter(|n| !own.after.contains(n));
                captured.after.extend(new);
            }
        }
        Some(own) => {
            own.capture.invalidate_capture();
            event.capture.invalidate_capture();
            return ResultCode::STREAM_CAPTURE_MERGE.err();
        }
    }
    Ok(())
}

/// A capturing stream waits for an event that was recorded outside of any capture.
pub(crate) fn capture_isolation_error(captured: &StreamCapture) -> Error {
    captured.capture.invalidate_capture();
    ResultCode::STREAM_CAPTURE_ISOLATION.into()
}

fn active_captures() -> Vec<Arc<Capture>> {
    if N_CAPTURES.load(Ordering::Acquire) == 0 {
        return Vec::new();
    }
    CAPTURES.lock().ignore_poison().iter().filter_map(Weak::upgrade).filter(|c| !c.is_ended()).collect()
}

/// Fails when a blocking stream of the context is capturing: the legacy default stream would have
/// to wait for it.
pub(crate) fn refuse_if_blocking_stream_captures(ctx: &Context) -> Res {
    match find_blocking_stream_capture(ctx) {
        None => Ok(()),
        Some(capture) => {
            capture.invalidate_capture();
            ResultCode::STREAM_CAPTURE_IMPLICIT.err()
        }
    }
}

/// Whether the legacy default stream would have to wait for a stream of the context that is capturing.
pub(crate) fn legacy_stream_waits_for_capture(ctx: &Context) -> bool {
    find_blocking_stream_capture(ctx).is_some()
}

fn find_blocking_stream_capture(ctx: &Context) -> Option<Arc<Capture>> {
    let blocking = |c: &Arc<Capture>| {
        let streams = c.streams.lock().ignore_poison();
        streams.iter().filter_map(Weak::upgrade).any(|s| s.kind == StreamKind::Blocking)
    };
    active_captures().into_iter().find(|c| c.ctx_id == ctx.id && blocking(c))
}

/// Fails when a capture forbids calls that may wait for, or disturb, streams: allocation, frees, queries, waits,
/// but not synchronous copies, which the legacy default stream orders.
pub(crate) fn refuse_call_unsafe_in_capture() -> Res {
    let me = std::thread::current().id();
    let mode = THREAD_CAPTURE_MODE.get();
    let forbids = |c: &Arc<Capture>| match (mode, c.mode) {
        (RELAXED_MODE.., _) | (_, RELAXED_MODE..) => false,
        (GLOBAL_MODE, GLOBAL_MODE) => true,
        _ => c.thread == me,
    };
    match active_captures().into_iter().find(forbids) {
        None => Ok(()),
        Some(capture) => {
            capture.invalidate_capture();
            ResultCode::STREAM_CAPTURE_UNSUPPORTED.err()
        }
    }
}

/// Fails when a stream of the context is capturing: waiting for all of it makes no sense.
pub(crate) fn refuse_if_context_captures(ctx: &Context) -> Res {
    match active_captures().into_iter().find(|c| c.ctx_id == ctx.id) {
        None => Ok(()),
        Some(capture) => {
            capture.invalidate_capture();
            ResultCode::STREAM_CAPTURE_UNSUPPORTED.err()
        }
    }
}

/// `cuThreadExchangeStreamCaptureMode`, which takes any number; one that is no mode forbids as little as the relaxed one.
pub(crate) fn exchange_capture_mode(mode: u32) -> u32 {
    THREAD_CAPTURE_MODE.replace(mode)
}
