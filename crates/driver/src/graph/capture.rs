//! Stream capture: submitted work becomes nodes of a graph instead of being run.

use super::retained::{RetainedObject, RetainedObjects};
use super::{Graph, GraphNode, GraphOwner};
use crate::active_captures::{ActiveCapture, CaptureTarget, find_capture_target, register_capture, unregister_capture};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::Stream;
use rtcg_cuda_sys::*;
use std::any::Any;
use std::sync::Arc;

/// The graph that a capture makes.
struct CapturedGraph {
    retained: RetainedObjects,
    /// The graph that was there before, if the capture adds to one.
    graph: Option<Graph>,
}

impl CaptureTarget for CapturedGraph {
    fn retain(&self, object: RetainedObject) {
        self.retained.retain_for_node(CUgraphNode::null(), object);
    }
}

/// The graph of the first capture that `is_wanted`.
fn find_captured_graph(is_wanted: impl Fn(&ActiveCapture) -> bool) -> Option<Arc<CapturedGraph>> {
    find_capture_target(is_wanted).and_then(as_captured_graph)
}

fn as_captured_graph(target: Arc<dyn CaptureTarget>) -> Option<Arc<CapturedGraph>> {
    let target: Arc<dyn Any + Send + Sync> = target;
    target.downcast().ok()
}

/// What is kept for a graph that is being captured.
pub(super) fn retained_objects_of_capture(graph: CUgraph) -> Option<RetainedObjects> {
    find_captured_graph(|capture| capture.handle == graph).map(|captured| captured.retained.clone())
}

/// The state of a stream capture.
#[derive(Clone, Debug)]
pub struct CaptureInfo {
    /// An identifier of the capture, unique in the process.
    pub id: u64,
    /// The graph captured so far.
    pub graph: Graph,
    /// The nodes on which the next node depends.
    pub dependencies: Vec<GraphNode>,
}

/// An error about the state of a stream, with what the state is.
fn explain_illegal_state(error: Error, detail: &str) -> Error {
    if error.code == CUresult::CUDA_ERROR_ILLEGAL_STATE { error.with_detail(detail) } else { error }
}

/// Capturing.
impl Stream {
    /// Begins a capture: submitted work becomes nodes of a new graph, until [`Stream::end_capture`]. Streams that wait
    /// for events of this one are captured too. The default stream cannot be captured.
    pub fn begin_capture(&self, mode: CUstreamCaptureMode) -> Result<()> {
        // SAFETY: the stream is alive.
        let begun = unsafe { call_if_alive!(self.context(), cuStreamBeginCapture(self.handle(), mode)) };
        begun.map_err(|error| explain_illegal_state(error, "the stream is being captured already"))?;
        self.register_capture(None)
    }

    /// Like [`Stream::begin_capture`], but adds to `graph` after the nodes in `after`. Needs a driver of CUDA 12.3.
    pub fn begin_capture_to(&self, graph: &Graph, after: &[GraphNode], mode: CUstreamCaptureMode) -> Result<()> {
        let call = "cuStreamBeginCaptureToGraph";
        graph.context().check_same_driver(self.context(), call)?;
        let after = graph.checked_handles(call, after)?;
        let (first, n) = (if after.is_empty() { std::ptr::null() } else { after.as_ptr() }, after.len());
        let (stream, handle) = (self.handle(), graph.handle());
        // SAFETY: stream, graph and nodes are alive.
        let begun = unsafe {
            call_if_alive!(
                self.context(),
                cuStreamBeginCaptureToGraph(stream, handle, first, std::ptr::null(), n, mode)
            )
        };
        begun.map_err(|error| explain_illegal_state(error, "the stream is being captured already"))?;
        self.register_capture(Some(graph.clone()))
    }

    fn register_capture(&self, graph: Option<Graph>) -> Result<()> {
        let Some(raw) = self.query_capture()? else { return Ok(()) };
        let retained = graph.as_ref().map(|graph| graph.0.retained.clone()).unwrap_or_default();
        register_capture(ActiveCapture {
            id: raw.id,
            driver: self.context().driver_table(),
            stream: self.handle(),
            handle: raw.graph,
            target: Arc::new(CapturedGraph { retained, graph }),
        });
        Ok(())
    }

    /// Ends the capture and returns the graph. If the capture has become invalid, or if another thread
    /// began it and its mode is not relaxed, it ends as well and an error is returned.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut handle = CUgraph::null();
        // SAFETY: the stream is alive, one handle is written.
        let ended = unsafe { call_if_alive!(self.context(), cuStreamEndCapture(self.handle(), &raw mut handle)) };
        let capture = unregister_capture(self.context().driver_table(), self.handle());
        let detail = "the stream was not being captured";
        ended.map_err(|error| explain_illegal_state(error, detail))?;
        if handle.is_null() {
            return Err(Error::new("cuStreamEndCapture", CUresult::CUDA_ERROR_ILLEGAL_STATE, detail));
        }
        let captured = capture.and_then(|capture| as_captured_graph(capture.target));
        if let Some(graph) = captured.as_ref().and_then(|captured| captured.graph.clone()) {
            return Ok(graph);
        }
        let retained = captured.map(|captured| captured.retained.clone()).unwrap_or_default();
        Ok(Graph::from_parts(self.context().clone(), handle, GraphOwner::Own, retained))
    }

    /// Captures the work that `body` submits to this stream.
    ///
    /// # Errors
    /// Those of `body`, in any type that converts from this crate's [`Error`]; and when it made a call that a capture
    /// does not allow.
    pub fn capture<T, E: From<Error>>(
        &self,
        mode: CUstreamCaptureMode,
        body: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<(Graph, T), E> {
        self.begin_capture(mode)?;
        let outcome = body();
        let graph = self.end_capture();
        // The error of the body is the cause of the other.
        let outcome = outcome?;
        Ok((graph?, outcome))
    }

    /// The state of the capture that the stream takes part in, if any.
    pub fn capture_info(&self) -> Result<Option<CaptureInfo>> {
        let Some(raw) = self.query_capture()? else { return Ok(None) };
        if raw.graph.is_null() {
            return Ok(None);
        }
        let known = find_captured_graph(|capture| capture.id == raw.id).and_then(|captured| captured.graph.clone());
        let graph = known.unwrap_or_else(|| Graph::from_capture_handle(self.context(), raw.graph));
        let dependencies = raw.dependencies.into_iter().map(|node| GraphNode::new(&graph, node)).collect();
        Ok(Some(CaptureInfo { id: raw.id, graph, dependencies }))
    }

    /// Sets the nodes on which the next captured node depends; without `only` they add to those already set.
    pub fn update_capture_dependencies(&self, nodes: &[GraphNode], only: bool) -> Result<()> {
        let call = "cuStreamUpdateCaptureDependencies";
        let mut handles = nodes.iter().map(|node| node.checked_handle(call)).collect::<Result<Vec<_>>>()?;
        let (first, n, flags) = (handles.as_mut_ptr(), handles.len(), u32::from(only));
        let ctx = self.context();
        // SAFETY: stream and nodes are alive.
        unsafe {
            if ctx.driver_table().has_function(DriverFn::cuStreamUpdateCaptureDependencies) {
                call_if_alive!(ctx, cuStreamUpdateCaptureDependencies(self.handle(), first, std::ptr::null(), n, flags))
            } else {
                call_if_alive!(ctx, cuStreamUpdateCaptureDependencies_v1(self.handle(), first, n, flags))
            }
        }
    }
}

impl Context {
    /// A handle of one driver means nothing to another.
    pub(super) fn check_same_driver(&self, other: &Context, call: &'static str) -> Result<()> {
        if std::ptr::eq(self.driver_table(), other.driver_table()) {
            return Ok(());
        }
        let detail = "the objects belong to different drivers (a real and a virtual device share none)";
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, detail))
    }
}
