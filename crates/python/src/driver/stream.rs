//! `Stream`.

use crate::driver::event::PyEvent;
use crate::driver::keep_alive;
use crate::errors::OrRaise;
use pyo3::prelude::*;
use rtcg::driver::Stream;

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
