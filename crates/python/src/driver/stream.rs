//! `Stream`.

use crate::driver::event::PyEvent;
use crate::driver::graph::{CaptureInfo, PyGraph, PyGraphNode, PyStreamCapture, capture_info, enum_member, nodes_of};
use crate::driver::keep_alive;
use crate::errors::OrRaise;
use pyo3::prelude::*;
use rtcg::driver::Stream;
use rtcg::driver::sys::CUstreamCaptureMode;

/// A queue of work. `None` stands for the legacy default stream wherever one is expected.
#[pyclass(name = "Stream", module = "pycuda._driver", frozen, subclass)]
pub(crate) struct PyStream(pub(crate) Stream);

#[pymethods]
impl PyStream {
    #[new]
    #[pyo3(signature = (flags = 0, priority = None))]
    fn new(flags: u32, priority: Option<i32>) -> PyResult<Self> {
        let stream = match priority {
            Some(priority) => Stream::with_priority(flags, priority),
            None => Stream::new(flags),
        };
        stream.or_raise().map(Self)
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        let result = py.detach(|| self.0.synchronize());
        keep_alive::release_passed();
        result.or_raise()
    }

    fn is_done(&self) -> PyResult<bool> {
        self.0.is_done().or_raise()
    }

    fn wait_for_event(&self, evt: &PyEvent) -> PyResult<()> {
        self.0.wait_for_event(&evt.0).or_raise()
    }

    #[pyo3(signature = (mode = 0, graph = None))]
    fn begin_capture(&self, mode: u32, graph: Option<&PyGraph>) -> PyResult<()> {
        let mode = CUstreamCaptureMode(mode);
        match graph {
            Some(graph) => self.0.begin_capture_to(&graph.0, &[], mode).or_raise(),
            None => self.0.begin_capture(mode).or_raise(),
        }
    }

    fn end_capture(&self) -> PyResult<PyGraph> {
        self.0.end_capture().or_raise().map(PyGraph)
    }

    #[pyo3(signature = (mode = 0, graph = None))]
    fn capture(&self, mode: u32, graph: Option<&PyGraph>) -> PyStreamCapture {
        PyStreamCapture::new(&self.0, mode, graph)
    }

    fn is_capturing(&self) -> PyResult<bool> {
        self.0.is_capturing().or_raise()
    }

    #[getter]
    fn capture_status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enum_member(py, "capture_status", self.0.capture_status().or_raise()?.0)
    }

    fn get_capture_info<'py>(&self, py: Python<'py>) -> PyResult<Option<CaptureInfo<'py>>> {
        capture_info(py, &self.0)
    }

    #[pyo3(signature = (nodes, only = true))]
    fn update_capture_dependencies(&self, nodes: Vec<Bound<'_, PyGraphNode>>, only: bool) -> PyResult<()> {
        self.0.update_capture_dependencies(&nodes_of(nodes), only).or_raise()
    }

    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    #[getter]
    fn priority(&self) -> PyResult<i32> {
        self.0.priority().or_raise()
    }
}

/// The stream an optional argument names.
pub(crate) fn stream_of<'a>(stream: Option<&'a Bound<'_, PyStream>>) -> Option<&'a Stream> {
    stream.map(|stream| &stream.get().0)
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyStream>()
}
