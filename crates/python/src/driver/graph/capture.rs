//! Capturing streams into graphs: the classes of Python, and what launches ask of it.

use crate::driver::graph::PyGraph;
use crate::driver::graph::node::{PyGraphNode, to_python_nodes};
use crate::enums::enum_member;
use crate::errors::{LogicError, OrRaise};
use crate::integer::int;
use crate::resource_lifetime::DropDetached;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::sys::CUstreamCaptureMode;
use rtcg::driver::{Graph, Stream, is_any_capturing, lock_ignoring_poison, retain_in_capture};
use std::sync::{Arc, Mutex};

/// A Python object that a graph holds.
pub(crate) fn retained_object(object: &Bound<'_, PyAny>) -> Arc<Py<PyAny>> {
    Arc::new(object.clone().unbind())
}

/// Keeps an object for the graph that `stream` is being captured into; false if it is not.
pub(crate) fn retain_in_captured_graph(stream: Option<&Stream>, object: &Bound<'_, PyAny>) -> bool {
    retain_in_capture(stream, || retained_object(object))
}

/// `In`, `Out` and `InOut` copy around one launch, which a graph cannot repeat.
pub(crate) fn reject_handlers_during_capture(stream: Option<&Stream>, args: &Bound<'_, PyTuple>) -> PyResult<()> {
    let entered = if stream.is_none() { Stream::current() } else { None };
    match stream.or(entered.as_ref()) {
        Some(stream) if is_any_capturing() && stream.is_capturing().or_raise()? => reject_argument_handlers(args),
        _ => Ok(()),
    }
}

/// As `In`, `Out` and `InOut` anywhere in a graph.
pub(crate) fn reject_argument_handlers(args: &Bound<'_, PyTuple>) -> PyResult<()> {
    let Some(handler) = args.iter().find(|arg| arg.hasattr("pre_call").unwrap_or(false)) else { return Ok(()) };
    let kind = handler.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    Err(LogicError::new_err(format!(
        "{kind} copies around a single launch and cannot be part of a graph; add copies as nodes, or capture memcpy_*_async"
    )))
}

/// The context manager that `Stream.capture` returns: ``with stream.capture() as graph:``.
#[pyclass(name = "StreamCapture", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyStreamCapture {
    stream: DropDetached<Stream>,
    mode: CUstreamCaptureMode,
    graph: DropDetached<Mutex<Option<Graph>>>,
}

impl PyStreamCapture {
    pub(crate) fn new(stream: &Stream, mode: u32, graph: Option<&PyGraph>) -> Self {
        let graph = Mutex::new(graph.map(|graph| graph.0.clone()));
        let (stream, graph) = (DropDetached::new(stream.clone()), DropDetached::new(graph));
        Self { stream, mode: CUstreamCaptureMode(mode), graph }
    }
}

#[pymethods]
impl PyStreamCapture {
    fn __enter__(&self) -> PyResult<PyGraph> {
        let mut slot = lock_ignoring_poison(&self.graph);
        let graph = match slot.take() {
            Some(graph) => graph,
            None => Graph::new().or_raise()?,
        };
        *slot = Some(graph.clone());
        self.stream.begin_capture_to(&graph, &[], self.mode).or_raise()?;
        Ok(PyGraph::from(graph))
    }

    /// End the capture. An exception of the block takes precedence over the error of an invalid capture.
    #[pyo3(signature = (kind, _value, _traceback))]
    fn __exit__(
        &self,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let ended = self.stream.end_capture();
        if kind.is_none() {
            ended.or_raise()?;
        }
        Ok(false)
    }
}

/// Set how strictly calls of this thread are checked while streams are captured; returns the previous mode.
#[pyfunction]
fn exchange_capture_mode(py: Python<'_>, #[pyo3(from_py_with = int)] mode: u32) -> PyResult<Bound<'_, PyAny>> {
    let before = rtcg::driver::exchange_capture_mode(CUstreamCaptureMode(mode)).or_raise()?;
    enum_member(py, "capture_mode", before.0)
}

/// What a stream says about its capture: `(status, id, graph, dependencies)`.
pub(crate) type CaptureInfo<'py> = (Bound<'py, PyAny>, u64, PyGraph, Vec<PyGraphNode>);

pub(crate) fn capture_info<'py>(py: Python<'py>, stream: &Stream) -> PyResult<Option<CaptureInfo<'py>>> {
    let status = enum_member(py, "capture_status", stream.capture_status().or_raise()?.0)?;
    let info = stream.capture_info().or_raise()?;
    Ok(info.map(|info| (status, info.id, PyGraph::from(info.graph), to_python_nodes(info.dependencies))))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyStreamCapture>()?;
    m.add_function(wrap_pyfunction!(exchange_capture_mode, m)?)
}
