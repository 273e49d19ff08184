//! `Stream`.

use crate::driver::event::PyEvent;
use crate::driver::graph::PyGraph;
use crate::driver::graph::capture::{CaptureInfo, PyStreamCapture, capture_info};
use crate::driver::graph::node::{PyGraphNode, to_driver_nodes};
use crate::driver::memory::device_pointer::DevicePtr;
use crate::driver::memory::in_flight_buffers;
use crate::enums::enum_member;
use crate::errors::OrRaise;
use crate::integer::{int, optional_int};
use crate::resource_lifetime::{
    DropDetached, FilledByInit, Ready, ReadyArgument, filled_object, impl_from_core, impl_new_for_init,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::sys::{CUstream, CUstreamCaptureMode};
use rtcg::driver::{PendingHostWork, Stream};

/// A queue of work.
///
/// ``None`` means the default stream wherever a stream is expected; inside ``with stream:`` it means that stream,
/// in the thread that runs the block.
///
/// Parameters
/// ----------
/// flags : int
///     1: this stream and the legacy default stream do not wait for each other.
/// priority : int, optional
///     Smaller numbers go first; see `Context.get_stream_priority_range`.
#[pyclass(name = "Stream", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyStream(pub(crate) DropDetached<Stream>);

impl_from_core!(PyStream over Stream);
impl_new_for_init!(PyStream, "(flags=0, priority=None)");

#[pymethods]
impl PyStream {
    #[pyo3(signature = (flags = 0, priority = None))]
    fn __init__(
        &self,
        #[pyo3(from_py_with = int)] flags: u32,
        #[pyo3(from_py_with = optional_int)] priority: Option<i32>,
    ) -> PyResult<()> {
        let stream = match priority {
            Some(priority) => Stream::with_priority(flags, priority),
            None => Stream::new(flags),
        };
        self.0.init_value(stream.or_raise()?)
    }

    /// Wait until all work in the stream is done; raises any error that occurred in it.
    fn synchronize(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        let result = py.detach(|| slf.0.synchronize());
        in_flight_buffers::release_completed();
        result.or_raise()
    }

    /// Whether all work in the stream is done; does not wait. Raises any error that occurred in it.
    fn is_done(slf: Ready<'_, Self>) -> PyResult<bool> {
        slf.0.is_done().or_raise()
    }

    /// Same as `is_done`.
    fn query(slf: Ready<'_, Self>) -> PyResult<bool> {
        slf.0.is_done().or_raise()
    }

    /// A stream of another library in the current context, from its handle or its ``__cuda_stream__``.
    ///
    /// The stream is not destroyed here; `owner` is kept alive as long as the result.
    #[staticmethod]
    #[pyo3(signature = (handle, owner = None))]
    fn from_handle(handle: &Bound<'_, PyAny>, owner: Option<Py<PyAny>>) -> PyResult<Self> {
        if let Some(handle) = cuda_stream_protocol_handle(handle)? {
            return wrap_external_stream(handle.0, Some(handle.1));
        }
        let number = handle.extract::<usize>();
        wrap_external_stream(
            number
                .map_err(|_| stream_type_error(handle, "a stream's handle (int) or an object with __cuda_stream__"))?,
            owner,
        )
    }

    /// The legacy default stream, which synchronises with all blocking streams.
    #[staticmethod]
    fn legacy_default() -> PyResult<Self> {
        Stream::legacy_default().or_raise().map(Self::from)
    }

    /// The per-thread default stream of the thread that uses it.
    #[staticmethod]
    fn per_thread_default() -> PyResult<Self> {
        Stream::per_thread_default().or_raise().map(Self::from)
    }

    /// The stream that `None` means in this thread, if a ``with`` block has set one.
    #[staticmethod]
    fn get_current() -> Option<Self> {
        Stream::current().map(Self::from)
    }

    fn __enter__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        filled_object(&slf)?.0.push_current_stream().or_raise()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(slf: Ready<'_, Self>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        slf.0.pop_current_stream().or_raise()
    }

    /// Destroy the stream now; work in it still runs. Further calls do nothing.
    fn close(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<()> {
        py.detach(|| slf.0.close()).or_raise()
    }

    /// Whether `close` was called.
    #[getter]
    fn is_closed(slf: Ready<'_, Self>) -> bool {
        slf.0.is_closed()
    }

    /// The flags of its creation; 1: it does not wait for the legacy default stream.
    #[getter]
    fn flags(slf: Ready<'_, Self>) -> PyResult<u32> {
        slf.0.flags().or_raise()
    }

    /// A number that is unique among all streams of the process, past and present.
    #[getter]
    fn id(slf: Ready<'_, Self>) -> PyResult<u64> {
        slf.0.id().or_raise()
    }

    /// Call `callback(error)` on a thread of the driver when all earlier work is done.
    ///
    /// `error` is None, or the error that occurred. Later work in the stream waits for the callback, which must not
    /// call CUDA. Its exceptions go to `sys.unraisablehook`.
    fn add_callback(slf: Ready<'_, Self>, py: Python<'_>, callback: Py<PyAny>) -> PyResult<()> {
        check_callable(callback.bind(py))?;
        let run = move |result: rtcg::driver::Result<()>| {
            Python::try_attach(|py| {
                let error = result.err().map(|error| crate::errors::driver_error(error).into_value(py));
                report_callback_error(py, &callback, callback.call1(py, (error,)));
            });
        };
        let _with_interpreter = PendingHostWork::new();
        py.detach(|| slf.0.add_callback(run)).or_raise()
    }

    /// Call `function(*args)` like a callback, unless earlier work failed; can be captured into a graph.
    #[pyo3(signature = (function, *args))]
    fn launch_host_func(slf: Ready<'_, Self>, py: Python<'_>, function: Py<PyAny>, args: Py<PyTuple>) -> PyResult<()> {
        check_callable(function.bind(py))?;
        let run = move || {
            Python::try_attach(|py| report_callback_error(py, &function, function.call1(py, args.bind(py))));
        };
        let _with_interpreter = PendingHostWork::new();
        py.detach(|| slf.0.launch_host_func(run)).or_raise()
    }

    /// Write `size` bytes, 4 or 8, to device memory when all earlier work is done.
    #[pyo3(signature = (ptr, value, flags = 0, size = 4))]
    fn write_value(
        slf: Ready<'_, Self>,
        ptr: DevicePtr,
        #[pyo3(from_py_with = int)] value: u64,
        #[pyo3(from_py_with = int)] flags: u32,
        #[pyo3(from_py_with = int)] size: usize,
    ) -> PyResult<()> {
        ptr.check_bytes("cuStreamWriteValue", size)?;
        match stream_value_of_size(value, size)? {
            // SAFETY: the driver checks the address; that the memory lives until then is the user's.
            StreamValue::Short(value) => unsafe { slf.0.write_value32(ptr.0, value, flags) },
            // SAFETY: the driver checks the address; that the memory lives until then is the user's.
            StreamValue::Long(value) => unsafe { slf.0.write_value64(ptr.0, value, flags) },
        }
        .or_raise()
    }

    /// Make later work wait until `size` bytes of device memory compare with `value`.
    ///
    /// `flags` 0: greater or equal (cyclic), 1: equal, 2: a common bit is set, 3: not all bits are set in either.
    #[pyo3(signature = (ptr, value, flags = 0, size = 4))]
    fn wait_value(
        slf: Ready<'_, Self>,
        ptr: DevicePtr,
        #[pyo3(from_py_with = int)] value: u64,
        #[pyo3(from_py_with = int)] flags: u32,
        #[pyo3(from_py_with = int)] size: usize,
    ) -> PyResult<()> {
        ptr.check_bytes("cuStreamWaitValue", size)?;
        match stream_value_of_size(value, size)? {
            // SAFETY: as for `write_value`.
            StreamValue::Short(value) => unsafe { slf.0.wait_value32(ptr.0, value, flags) },
            // SAFETY: the driver checks the address; that the memory lives until then is the user's.
            StreamValue::Long(value) => unsafe { slf.0.wait_value64(ptr.0, value, flags) },
        }
        .or_raise()
    }

    /// The protocol by which libraries exchange streams: ``(version, handle)``.
    fn __cuda_stream__(slf: Ready<'_, Self>) -> (u32, usize) {
        (0, slf.0.handle().addr())
    }

    fn __eq__(slf: Ready<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyStream>().is_ok_and(|other| other.get().is_filled() && other.get().0 == slf.0)
    }

    fn __hash__(slf: Ready<'_, Self>) -> u64 {
        slf.0.handle().addr() as u64
    }

    /// Make later work of this stream wait for `evt`.
    fn wait_for_event(slf: Ready<'_, Self>, evt: ReadyArgument<'_, PyEvent>) -> PyResult<()> {
        slf.0.wait_for_event(&evt.0).or_raise()
    }

    /// Capture work from now on as nodes of a new graph (or of `graph`) instead of executing it.
    ///
    /// Streams that wait for events of this one are captured too. `mode`, of `capture_mode`, says which calls of other
    /// threads are errors meanwhile. Launch arguments and buffers of asynchronous copies live as long as the graph.
    #[pyo3(signature = (mode = 0, graph = None))]
    fn begin_capture(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = int)] mode: u32,
        graph: Option<ReadyArgument<'_, PyGraph>>,
    ) -> PyResult<()> {
        let mode = CUstreamCaptureMode(mode);
        match graph {
            Some(graph) => slf.0.begin_capture_to(&graph.0, &[], mode).or_raise(),
            None => slf.0.begin_capture(mode).or_raise(),
        }
    }

    /// End the capture. Raises if the capture has become invalid; it ends in that case too.
    fn end_capture(slf: Ready<'_, Self>) -> PyResult<PyGraph> {
        slf.0.end_capture().or_raise().map(PyGraph::from)
    }

    /// Capture a block: ``with stream.capture() as graph:``. Requires a driver of CUDA 12.3.
    #[pyo3(signature = (mode = 0, graph = None))]
    fn capture(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = int)] mode: u32,
        graph: Option<ReadyArgument<'_, PyGraph>>,
    ) -> PyStreamCapture {
        PyStreamCapture::new(&slf.0, mode, graph.as_deref())
    }

    /// Whether the stream is capturing.
    fn is_capturing(slf: Ready<'_, Self>) -> PyResult<bool> {
        slf.0.is_capturing().or_raise()
    }

    /// ``NONE``, ``ACTIVE``, or ``INVALIDATED`` if the capture has become invalid.
    #[getter]
    fn capture_status<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enum_member(py, "capture_status", slf.0.capture_status().or_raise()?.0)
    }

    /// Status, id, graph so far, and the nodes that the next one will depend on; None if the stream is not
    /// capturing.
    fn get_capture_info<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Option<CaptureInfo<'py>>> {
        capture_info(py, &slf.0)
    }

    /// Set (or, unless `only`, extend) the nodes that the next captured node will depend on.
    #[pyo3(signature = (nodes, only = true))]
    fn update_capture_dependencies(
        slf: Ready<'_, Self>,
        nodes: Vec<Bound<'_, PyGraphNode>>,
        only: bool,
    ) -> PyResult<()> {
        slf.0.update_capture_dependencies(&to_driver_nodes(nodes), only).or_raise()
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }

    /// The priority; smaller numbers go first.
    #[getter]
    fn priority(slf: Ready<'_, Self>) -> PyResult<i32> {
        slf.0.priority().or_raise()
    }

    fn __repr__(slf: Ready<'_, Self>) -> String {
        let state = if slf.0.is_closed() { " (closed)" } else { "" };
        format!("<rtcg.driver.Stream {:#x}{state}>", slf.0.handle().addr())
    }
}

/// A value of one of the two sizes that streams write and wait for.
enum StreamValue {
    Short(u32),
    Long(u64),
}

fn stream_value_of_size(value: u64, size: usize) -> PyResult<StreamValue> {
    match size {
        8 => Ok(StreamValue::Long(value)),
        4 => u32::try_from(value).map(StreamValue::Short).map_err(|_| {
            PyOverflowError::new_err(format!("value is {value}, which has more than 4 bytes; pass size=8"))
        }),
        _ => Err(PyValueError::new_err(format!("size is {size}; expected 4 or 8 bytes"))),
    }
}

fn check_callable(callback: &Bound<'_, PyAny>) -> PyResult<()> {
    if callback.is_callable() {
        return Ok(());
    }
    let kind = callback.get_type().name()?;
    Err(PyTypeError::new_err(format!("a host function must be callable, this is a {kind}")))
}

/// Nobody waits for what a host function returns; its exceptions go to `sys.unraisablehook`.
fn report_callback_error(py: Python<'_>, function: &Py<PyAny>, result: PyResult<Py<PyAny>>) {
    if let Err(error) = result {
        error.write_unraisable(py, Some(function.bind(py)));
    }
}

/// The handle of an object with `__cuda_stream__`, and the object.
fn cuda_stream_protocol_handle(object: &Bound<'_, PyAny>) -> PyResult<Option<(usize, Py<PyAny>)>> {
    let Ok(protocol) = object.getattr("__cuda_stream__") else { return Ok(None) };
    let pair = if protocol.is_callable() { protocol.call0()? } else { protocol };
    let (_version, handle): (u32, usize) = pair.extract()?;
    Ok(Some((handle, object.clone().unbind())))
}

fn wrap_external_stream(handle: usize, owner: Option<Py<PyAny>>) -> PyResult<PyStream> {
    let handle = CUstream(std::ptr::with_exposed_provenance_mut(handle));
    // SAFETY: that this is a stream, and that it lives as long as its owner, is the user's promise.
    let stream = unsafe {
        match owner {
            Some(owner) => Stream::from_external_with_keeper(handle, Box::new(owner)),
            None => Stream::from_external(handle),
        }
    };
    stream.or_raise().map(PyStream::from)
}

#[cold]
fn stream_type_error(given: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let shown = crate::errors::shown(given);
    PyTypeError::new_err(format!("stream is {shown}; expected {wanted}"))
}

/// A stream of ours, or of a library that offers it by `__cuda_stream__`.
#[inline]
pub(crate) fn extract_stream<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyStream>> {
    if let Ok(stream) = value.cast::<PyStream>() {
        filled_object(stream)?;
        return Ok(stream.clone());
    }
    match cuda_stream_protocol_handle(value)? {
        Some((handle, owner)) => Bound::new(value.py(), wrap_external_stream(handle, Some(owner))?),
        None => Err(stream_type_error(value, "a Stream, or None for the default stream")),
    }
}

/// The stream an optional argument names.
pub(crate) fn as_driver_stream<'a>(stream: Option<&'a Bound<'_, PyStream>>) -> PyResult<Option<&'a Stream>> {
    Ok(stream.map(filled_object).transpose()?.map(|stream| &*stream.0))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyStream>()
}
