//! Capturing streams: work that is submitted becomes nodes of a graph instead of being done.

use super::retained::{RetainedObject, RetainedObjects};
use super::{Graph, GraphNode, GraphOwner};
use crate::context::{Context, current_driver_table};
use crate::error::{Error, Result};
use crate::host_call;
use crate::stream::Stream;
use rtcg_cuda_sys::*;
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A capture that was begun here.
struct StreamCapture {
    id: u64,
    /// The stream in which it was begun, and so ends: a capture that has become invalid has no number.
    origin: CaptureOrigin,
    handle: CUgraph,
    retained: RetainedObjects,
    /// The graph that was there before, if the capture adds to one.
    graph: Option<Graph>,
}

/// A stream of a driver.
#[derive(Clone, Copy)]
struct CaptureOrigin {
    driver: &'static DriverTable,
    stream: CUstream,
}

impl PartialEq for CaptureOrigin {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.driver, other.driver) && self.stream == other.stream
    }
}

static ACTIVE_CAPTURES: Mutex<Vec<StreamCapture>> = Mutex::new(Vec::new());
/// How many there are, so that launches pay nothing while there is none.
static N_CAPTURES: AtomicUsize = AtomicUsize::new(0);

fn active_captures() -> MutexGuard<'static, Vec<StreamCapture>> {
    ACTIVE_CAPTURES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is kept for a graph that is being captured.
pub(super) fn retained_objects_of_capture(graph: CUgraph) -> Option<RetainedObjects> {
    active_captures().iter().find(|capture| capture.handle == graph).map(|capture| capture.retained.clone())
}

/// What a stream that is being captured says about it.
#[derive(Clone, Debug)]
pub struct CaptureInfo {
    /// A number of the capture, unique in the process.
    pub id: u64,
    /// The graph so far.
    pub graph: Graph,
    /// The nodes that the next one comes after.
    pub dependencies: Vec<GraphNode>,
}

/// Whether any stream is being captured by this crate. Costs nothing.
pub fn is_any_capturing() -> bool {
    N_CAPTURES.load(Ordering::Relaxed) != 0
}

/// Keeps an object as long as the graph that `stream` is being captured into; false if it is not
/// being captured. Costs nothing while no stream is.
///
/// Launches keep their kernels and pools their blocks by themselves; this is for whatever else the
/// work in a stream needs.
#[inline]
pub fn retain_in_capture<T: Any + Send + Sync>(stream: Option<&Stream>, object: impl FnOnce() -> Arc<T>) -> bool {
    is_any_capturing() && retain_in_stream_capture(stream, || object())
}

#[cold]
fn retain_in_stream_capture(stream: Option<&Stream>, object: impl FnOnce() -> RetainedObject) -> bool {
    let entered = if stream.is_none() { Stream::current() } else { None };
    // Of a capture that does not take the object the program hears when it ends.
    stream.or(entered.as_ref()).is_some_and(|stream| retain_in_any_capture(stream, object).unwrap_or(true))
}

/// [`retain_in_capture`] whichever library began the capture, at the cost of a driver call.
pub(crate) fn retain_in_any_capture(stream: &Stream, object: impl FnOnce() -> RetainedObject) -> Result<bool> {
    let Some(raw) = stream.query_capture()? else { return Ok(false) };
    let retained = active_captures().iter().find(|c| c.id == raw.id).map(|c| c.retained.clone());
    match retained {
        Some(retained) => retained.retain_for_node(CUgraphNode::null(), object()),
        // A capture that has become invalid gives no graph.
        None if raw.graph.is_null() => {}
        None => retain_as_user_object(stream.context(), raw.graph, object())?,
    }
    Ok(true)
}

/// Lets a graph of another library hold an object.
fn retain_as_user_object(ctx: &Context, graph: CUgraph, object: RetainedObject) -> Result<()> {
    unsafe extern "C" fn release_user_object(data: *mut c_void) {
        // SAFETY: the box that was given away below; the driver calls this once.
        let object = unsafe { Box::from_raw(data.cast::<RetainedObject>()) };
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

/// Sets how strictly calls of the calling thread are checked while streams are captured anywhere;
/// gives the mode before.
pub fn exchange_capture_mode(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    exchange_capture_mode_of_driver(current_driver_table("cuThreadExchangeStreamCaptureMode")?, mode)
}

/// Does something for the library's own purposes that captures in progress would forbid, and be made invalid by: a query,
/// a free. Costs nothing while no stream is captured.
#[inline]
pub fn with_relaxed_capture_mode<T>(body: impl FnOnce() -> T) -> T {
    if !is_any_capturing() {
        return body();
    }
    let mut drivers: Vec<_> = active_captures().iter().map(|capture| capture.origin.driver).collect();
    drivers.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let modes: Vec<_> =
        drivers.iter().map(|driver| exchange_capture_mode_of_driver(driver, CU_STREAM_CAPTURE_MODE_RELAXED)).collect();
    let result = body();
    // In reverse: a driver may be named twice, and its first mode is the one to restore.
    for (driver, mode) in drivers.into_iter().zip(modes).rev() {
        let _ = mode.and_then(|mode| exchange_capture_mode_of_driver(driver, mode));
    }
    result
}

/// [`exchange_capture_mode`] of a given driver.
pub(crate) fn exchange_capture_mode_of_driver(
    table: &DriverTable,
    mode: CUstreamCaptureMode,
) -> Result<CUstreamCaptureMode> {
    let mut mode = mode;
    // SAFETY: one value is read and written.
    unsafe { call_driver!(table, cuThreadExchangeStreamCaptureMode(&raw mut mode)) }?;
    Ok(mode)
}

/// Takes the capture that was begun in a stream off the list.
fn unregister_capture(table: &'static DriverTable, stream: CUstream) -> Option<StreamCapture> {
    let origin = CaptureOrigin { driver: table, stream };
    let mut captures = active_captures();
    let at = captures.iter().position(|capture| capture.origin == origin)?;
    let capture = captures.swap_remove(at);
    N_CAPTURES.store(captures.len(), Ordering::Relaxed);
    epoch::advance_epoch();
    Some(capture)
}

/// Ends the capture of a stream that is destroyed.
pub(crate) fn on_stream_destroyed(table: &'static DriverTable, stream: CUstream) {
    if is_any_capturing() {
        drop(unregister_capture(table, stream));
    }
}

/// An error about the state of a stream, with what the state is.
fn explain_illegal_state(error: Error, detail: &str) -> Error {
    if error.code == CUresult::CUDA_ERROR_ILLEGAL_STATE { error.with_detail(detail) } else { error }
}

struct RawCapture {
    id: u64,
    graph: CUgraph,
    dependencies: Vec<CUgraphNode>,
}

/// Capturing.
impl Stream {
    /// Begins to capture: what is submitted becomes nodes of a new graph, until
    /// [`Stream::end_capture`]. Streams that wait for events of this one are captured too. The
    /// default stream cannot be captured.
    pub fn begin_capture(&self, mode: CUstreamCaptureMode) -> Result<()> {
        // SAFETY: the stream is alive.
        let begun = unsafe { call_if_alive!(self.context(), cuStreamBeginCapture(self.handle(), mode)) };
        begun.map_err(|error| explain_illegal_state(error, "the stream is being captured already"))?;
        self.register_capture(None)
    }

    /// As [`Stream::begin_capture`], adding to `graph`, after the nodes in `after`. Needs a driver
    /// of CUDA 12.3.
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
        let mut captures = active_captures();
        let origin = CaptureOrigin { driver: self.context().driver_table(), stream: self.handle() };
        captures.push(StreamCapture { id: raw.id, origin, handle: raw.graph, retained, graph });
        N_CAPTURES.store(captures.len(), Ordering::Relaxed);
        epoch::advance_epoch();
        Ok(())
    }

    /// Ends the capture; gives the graph. A capture that something has made invalid gives an error
    /// and is over too.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut handle = CUgraph::null();
        // SAFETY: the stream is alive, one handle is written.
        let ended = unsafe { call_if_alive!(self.context(), cuStreamEndCapture(self.handle(), &raw mut handle)) };
        if let Err(error) = &ended
            && error.code == CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
        {
            // The capture goes on, and its own thread can still end it.
            return Err(error.clone());
        }
        let capture = unregister_capture(self.context().driver_table(), self.handle());
        let detail = "the stream was not being captured";
        ended.map_err(|error| explain_illegal_state(error, detail))?;
        if handle.is_null() {
            return Err(Error::new("cuStreamEndCapture", CUresult::CUDA_ERROR_ILLEGAL_STATE, detail));
        }
        match capture {
            Some(StreamCapture { graph: Some(graph), .. }) => Ok(graph),
            Some(StreamCapture { retained, .. }) => {
                Ok(Graph::from_parts(self.context().clone(), handle, GraphOwner::Own, retained))
            }
            None => Ok(Graph::from_parts(self.context().clone(), handle, GraphOwner::Own, RetainedObjects::default())),
        }
    }

    /// Captures what `body` submits to this stream.
    ///
    /// # Errors
    /// Those of `body`, in whatever type holds an [`Error`] of this crate too; and when a call in it was one that a
    /// capture does not allow.
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

    /// Whether the stream is being captured, and whether the capture is still good.
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

    /// The capture that the stream is in.
    pub fn capture_info(&self) -> Result<Option<CaptureInfo>> {
        let Some(raw) = self.query_capture()? else { return Ok(None) };
        if raw.graph.is_null() {
            return Ok(None);
        }
        let known = active_captures().iter().find(|c| c.id == raw.id).and_then(|c| c.graph.clone());
        let graph = known.unwrap_or_else(|| Graph::from_capture_handle(self.context(), raw.graph));
        let dependencies = raw.dependencies.into_iter().map(|node| GraphNode::new(&graph, node)).collect();
        Ok(Some(CaptureInfo { id: raw.id, graph, dependencies }))
    }

    /// Sets the nodes that the next captured one comes after; `only` drops those that were set.
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

    /// `None` when no capture is under way. Of an invalid one only the number is known.
    fn query_capture(&self) -> Result<Option<RawCapture>> {
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
