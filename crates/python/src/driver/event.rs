//! `Event`.

use crate::driver::memory::in_flight_buffers;
use crate::driver::stream::{as_driver_stream, extract_stream};
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, Ready, ReadyArgument, closeable_methods, filled_object, impl_from_core, impl_new_for_init,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use rtcg::driver::Event;

/// A mark in a stream, to wait for and to measure time with. Destroyed at the end of a ``with`` block.
///
/// Parameters
/// ----------
/// flags : int
///     From `event_flags`. An event with DISABLE_TIMING costs less and cannot measure time.
#[pyclass(name = "Event", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyEvent(pub(crate) DropDetached<Event>);

impl_from_core!(PyEvent over Event);
impl_new_for_init!(PyEvent, "(flags=0)");

#[pymethods]
impl PyEvent {
    #[pyo3(signature = (flags = 0))]
    fn __init__(&self, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        self.0.init_value(Event::new(flags).or_raise()?)
    }
}

closeable_methods! { PyEvent;
    /// Record the event at the present end of `stream`, by default the default stream; does not wait. Returns the
    /// event.
    ///
    /// With flag 1, a captured graph records it at each launch.
    #[pyo3(signature = (stream = None, flags = 0))]
    fn record<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<Bound<'py, Self>> {
        let stream = stream.filter(|stream| !stream.is_none()).map(extract_stream).transpose()?;
        let (event, stream) = (&filled_object(slf)?.0, as_driver_stream(stream.as_ref())?);
        let record = || match flags {
            0 => event.record(stream),
            flags => event.record_with_flags(stream, flags),
        };
        // As for launches.
        if event.context().queue_may_be_full() { slf.py().detach(record) } else { record() }.or_raise()?;
        Ok(slf.clone())
    }

    /// Wait until all work before the event is done; returns the event. Raises any error that occurred.
    fn synchronize<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        let event = &filled_object(&slf)?.0;
        let result = py.detach(|| event.synchronize());
        in_flight_buffers::release_completed();
        result.or_raise()?;
        Ok(slf)
    }

    /// Whether the event has occurred.
    fn query(slf: Ready<'_, Self>) -> PyResult<bool> {
        slf.0.query().or_raise()
    }

    /// Milliseconds from `event` to this one.
    fn time_since(slf: Ready<'_, Self>, event: ReadyArgument<'_, PyEvent>) -> PyResult<f32> {
        slf.0.time_since(&event.0).or_raise()
    }

    /// Milliseconds from this event to `event`.
    fn time_till(slf: Ready<'_, Self>, event: ReadyArgument<'_, PyEvent>) -> PyResult<f32> {
        slf.0.time_till(&event.0).or_raise()
    }

    /// The interprocess handle of the event, 64 bytes, for `from_ipc_handle` in other processes.
    ///
    /// Raises `LogicError` unless the event was made with ``event_flags.INTERPROCESS | event_flags.DISABLE_TIMING``.
    fn ipc_handle<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        Ok(PyByteArray::new(py, &slf.0.ipc_handle().or_raise()?))
    }

    /// An event of another process, from the 64 bytes of its `ipc_handle`.
    ///
    /// Raises `ValueError` for another length, and `LogicError` if there is no such event or it belongs to this
    /// process.
    #[staticmethod]
    fn from_ipc_handle(handle: &Bound<'_, PyAny>) -> PyResult<Self> {
        Event::from_ipc_handle(ipc_handle_bytes(handle)?).or_raise().map(Self::from)
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }

    fn __repr__(slf: Ready<'_, Self>) -> String {
        format!("<rtcg.driver.Event {:#x}>", slf.0.handle().addr())
    }
}

/// The 64 bytes of an interprocess handle.
pub(crate) fn ipc_handle_bytes(handle: &Bound<'_, PyAny>) -> PyResult<[u8; 64]> {
    let Ok(bytes) = handle.extract::<Vec<u8>>() else {
        let kind = handle.get_type().name()?;
        return Err(PyTypeError::new_err(format!("handle is of type {kind}; expected 64 bytes")));
    };
    let length = bytes.len();
    bytes.try_into().map_err(|_| PyValueError::new_err(format!("handle has {length} bytes; expected 64")))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyEvent>()
}
