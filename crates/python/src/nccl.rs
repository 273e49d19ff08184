//! Native parts of `rtcg.nccl`.

use crate::array_calls::{BoundAny, core_array};
use crate::driver::context::PyContext;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::errors::{driver_error, generator_error, shown};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::integer::int;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rtcg::array::{GpuArray, Order};
use rtcg::driver::sys::nccl::{ncclDataType_t, ncclRedOp_t};
use rtcg::driver::{Context, Stream, lock_ignoring_poison};
use rtcg::nccl::{
    Collective, Communicator, NcclError, NcclGroup, RawCommunicator, Reduction, UniqueId, is_in_group, nccl_version,
};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The class, under the name that Python shows.
mod exception {
    pyo3::create_exception!(
        rtcg.nccl,
        NcclError,
        pyo3::exceptions::PyRuntimeError,
        "A failed call of NCCL; `status` is its code."
    );
}

/// How often a thread that waits for other ranks looks for signals such as Ctrl-C.
const SIGNAL_PERIOD: Duration = Duration::from_millis(50);

/// The most ranks: of NCCL, whose ranks are positive numbers of C.
const MAX_RANKS: isize = i32::MAX as isize;

#[cold]
fn nccl_error(py: Python<'_>, error: NcclError) -> PyErr {
    let made = exception::NcclError::new_err(error.to_string());
    let _ = made.value(py).setattr("status", error.code.0);
    made
}

fn raise(py: Python<'_>, error: rtcg::Error) -> PyErr {
    match error {
        rtcg::Error::Nccl(error) => nccl_error(py, error),
        other => generator_error(py, other),
    }
}

/// Runs what may wait for other ranks, so that Ctrl-C ends the wait. What was begun then goes on in a thread.
fn wait_interruptibly<T: Send + 'static>(
    py: Python<'_>,
    context: Context,
    body: impl FnOnce() -> rtcg::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (to, from) = channel();
    let from = Mutex::new(from);
    let run = move || {
        let _ = to.send(context.with_current(body));
    };
    std::thread::Builder::new().name("rtcg-nccl-wait".into()).spawn(run)?;
    loop {
        match py.detach(|| lock_ignoring_poison(&from).recv_timeout(SIGNAL_PERIOD)) {
            Ok(outcome) => return outcome.map_err(|error| raise(py, error)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a wait for other ranks has ended"));
            }
        }
    }
}

fn unique_id_from(id: &Bound<'_, PyAny>) -> PyResult<UniqueId> {
    let expected = || {
        let shown = shown(id);
        PyTypeError::new_err(format!("id is {shown}; expected the 128 bytes of rtcg.nccl.unique_id() of one rank"))
    };
    let bytes: Vec<u8> = id.extract().map_err(|_| expected())?;
    Ok(UniqueId::from_bytes(bytes.try_into().map_err(|_| expected())?))
}

fn device_array(name: &str, array: &Bound<'_, PyAny>) -> PyResult<GpuArray> {
    array.cast::<PyGpuArray>().map(core_array).map_err(|_| {
        let kind = array.get_type();
        let kind = kind.fully_qualified_name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "{name} is a {kind}; a collective takes arrays on the device (rtcg.numpy.asarray copies one there)"
        ))
    })
}

/// The rank of this process, thread or device in a communicator of NCCL; on virtual devices of a virtual NCCL.
///
/// Joining waits until all ranks have joined, each with the device of its current context. Collectives are enqueued in
/// ``stream`` (the current one without it) and return before they are done; arrays that are dropped meanwhile are kept
/// for them. All ranks call the same collectives in the same order. Elements go in C order, to which arrays in Fortran
/// order are copied.
///
/// In a ``with`` block the communicator is closed at the end, or aborted by an exception.
///
/// Parameters
/// ----------
/// n_ranks : int
///     The number of ranks.
/// id : bytes
///     What `unique_id` returned in one rank, which sends it to the others.
/// rank : int
///     This rank, from 0.
///
/// Raises
/// ------
/// NcclError
///     When the rank is taken, or ranks do not come (after `RTCG_NCCL_TIMEOUT` seconds with virtual devices).
#[pyclass(name = "Communicator", module = "rtcg.nccl", frozen, weakref)]
pub(crate) struct PyCommunicator(Communicator);

/// What one call of a collective is about.
struct Call<'a, 'py> {
    what: Collective,
    a: Option<&'a Bound<'py, PyAny>>,
    out: Option<&'a Bound<'py, PyAny>>,
    op: &'a str,
    stream: Option<&'a Bound<'py, PyStream>>,
}

impl PyCommunicator {
    /// Runs a collective. `new_shape` says what shape the result has if there is no `out`; `None` for a rank without
    /// one.
    fn run<'py>(
        &self,
        py: Python<'py>,
        call: Call<'_, 'py>,
        new_shape: impl FnOnce(&GpuArray) -> Option<Vec<usize>>,
    ) -> PyResult<BoundAny<'py>> {
        let op: Reduction = call.op.parse().map_err(|error| raise(py, error))?;
        let stream = as_driver_stream(call.stream)?;
        let sent = call.a.map(|a| device_array("a", a)).transpose()?;
        let (result, received) = match (call.out, &sent, call.a) {
            (Some(out), _, _) => {
                let name = if matches!(call.what, Collective::Recv { .. }) { "a" } else { "out" };
                (Some(out.clone()), Some(device_array(name, out)?))
            }
            (None, Some(sent), Some(a)) => match new_shape(sent) {
                None => (None, None),
                Some(shape) => {
                    let empty = || GpuArray::empty(sent.context(), &shape, sent.dtype(), Order::C);
                    let a = a.cast::<PyGpuArray>()?;
                    let array = PyGpuArray::with_allocator_of(a, || rtcg::run_in_stream(stream, empty));
                    let array = to_py_result(py, array)?;
                    (Some(PyGpuArray::new_like(a, array.clone())?), Some(array))
                }
            },
            _ => (None, None),
        };
        let run = || self.0.run(call.what, op, sent.as_ref(), received.as_ref(), stream);
        // A call may wait for other ranks to connect, and one on virtual devices runs at once; in a group neither.
        let outcome = if is_in_group() { run() } else { py.detach(run) };
        outcome.map_err(|error| raise(py, error))?;
        Ok(result.unwrap_or_else(|| py.None().into_bound(py)))
    }

    fn rank_argument(&self, name: &str, rank: isize) -> PyResult<usize> {
        let n = self.0.n_ranks();
        usize::try_from(rank)
            .ok()
            .filter(|rank| *rank < n)
            .ok_or_else(|| PyValueError::new_err(format!("{name}={rank} is no rank of a communicator of {n} ranks")))
    }
}

/// A colour, or none.
fn color_of(color: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if color.is_none() {
        return Ok(None);
    }
    let number: Option<i64> = color.extract().ok();
    number.and_then(|n| i32::try_from(n).ok()).and_then(|n| u32::try_from(n).ok()).map(Some).ok_or_else(|| {
        let shown = shown(color);
        PyValueError::new_err(format!("color={shown}; expected None or an integer from 0 to {}", i32::MAX))
    })
}

fn repeated_shape(n_ranks: usize, array: &GpuArray) -> Vec<usize> {
    [&[n_ranks], array.shape()].concat()
}

#[pymethods]
impl PyCommunicator {
    #[new]
    #[pyo3(signature = (n_ranks, id, rank))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = int)] n_ranks: isize,
        id: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] rank: isize,
    ) -> PyResult<Self> {
        let id = unique_id_from(id)?;
        if n_ranks > MAX_RANKS {
            let message = format!("n_ranks={n_ranks}; expected an integer from 1 to {MAX_RANKS}");
            return Err(PyValueError::new_err(message));
        }
        if n_ranks < 1 || rank < 0 || rank >= n_ranks {
            let message = format!("rank={rank} is no rank of a communicator of n_ranks={n_ranks} ranks");
            return Err(PyValueError::new_err(message));
        }
        if GROUPS.with_borrow(|groups| !groups.is_empty()) {
            let message = "a communicator cannot be made inside a group: use init_all for several ranks of one thread";
            return Err(PyRuntimeError::new_err(message));
        }
        let context = Context::current_or_error().map_err(driver_error)?;
        let own = context.clone();
        let join = move || Ok(RawCommunicator::new_in(&own, n_ranks as usize, id, rank as usize)?);
        Ok(Self(wait_interruptibly(py, context, join)?.into()))
    }

    /// One communicator for each context, in their order: those of one process with several devices.
    #[staticmethod]
    fn _of_contexts(py: Python<'_>, contexts: Vec<Bound<'_, PyContext>>) -> PyResult<Vec<Self>> {
        let contexts: Vec<Context> = contexts.iter().map(|context| Context::clone(&context.get().0)).collect();
        let Some(first) = contexts.first().cloned() else { return Ok(Vec::new()) };
        let made = wait_interruptibly(py, first, move || Ok(RawCommunicator::init_all(&contexts)?))?;
        Ok(made.into_iter().map(|raw| Self(raw.into())).collect())
    }

    /// This rank.
    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// The number of ranks.
    #[getter]
    fn size(&self) -> usize {
        self.0.n_ranks()
    }

    /// The number of ranks, by the name of the parameter.
    #[getter]
    fn n_ranks(&self) -> usize {
        self.0.n_ranks()
    }

    /// The ordinal of this rank's device.
    #[getter]
    fn device_id(&self) -> usize {
        self.0.device().ordinal()
    }

    /// Whether `close` or `abort` was called.
    #[getter]
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn __repr__(&self) -> String {
        let closed = if self.0.is_closed() { ", closed" } else { "" };
        let device = self.0.device().ordinal();
        format!("Communicator(rank {} of {}, device {device}{closed})", self.0.rank(), self.0.n_ranks())
    }

    /// Combine the arrays of all ranks, for all ranks.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     A contiguous array, of one size and dtype on all ranks.
    /// out : GPUArray, optional
    ///     The result, of the size and dtype of `a`; may be `a`.
    /// op : {"sum", "prod", "max", "min", "avg"}
    ///     How: in rank order on virtual devices, in an order of NCCL's own on others. The mean of floating-point
    ///     numbers is the sum of ``x / n``; that of integers is rounded towards zero. Complex numbers have "sum" and
    ///     "avg" only; 16-bit integers have none.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or a new array of the shape of `a`.
    #[pyo3(signature = (a, out = None, op = "sum", stream = None))]
    fn all_reduce<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        op: &str,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let call = Call { what: Collective::AllReduce, a: Some(a), out, op, stream };
        self.run(py, call, |a| Some(a.shape().to_vec()))
    }

    /// Combine the arrays of all ranks for one rank.
    ///
    /// Parameters
    /// ----------
    /// a, out, op, stream
    ///     As in `all_reduce`; `out` is used on the rank `root` only.
    /// root : int
    ///     The rank that gets the result.
    ///
    /// Returns
    /// -------
    /// GPUArray or None
    ///     The result on the rank `root`, None on others.
    #[pyo3(signature = (a, out = None, op = "sum", root = 0, stream = None))]
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        op: &str,
        #[pyo3(from_py_with = int)] root: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let root = self.rank_argument("root", root)?;
        let out = out.filter(|_| root == self.0.rank());
        let call = Call { what: Collective::Reduce { root }, a: Some(a), out, op, stream };
        self.run(py, call, |a| (root == self.0.rank()).then(|| a.shape().to_vec()))
    }

    /// Copy the array of one rank to the arrays of all others.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     What is sent on the rank `root`, and where it is received on others; contiguous.
    /// root : int
    ///     The rank that sends.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `a`.
    #[pyo3(signature = (a, root = 0, stream = None))]
    fn broadcast<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = int)] root: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let root = self.rank_argument("root", root)?;
        let call = Call { what: Collective::Broadcast { root }, a: Some(a), out: Some(a), op: "sum", stream };
        self.run(py, call, |_| None)
    }

    /// Gather the arrays of all ranks, in the order of ranks, for all ranks.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     A contiguous array, of one size and dtype on all ranks; may be this rank's part of `out`.
    /// out : GPUArray, optional
    ///     The result: ``size`` times as many elements.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or a new array of the shape ``(size, *a.shape)``.
    #[pyo3(signature = (a, out = None, stream = None))]
    fn all_gather<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let call = Call { what: Collective::AllGather, a: Some(a), out, op: "sum", stream };
        self.run(py, call, |a| Some(repeated_shape(self.0.n_ranks(), a)))
    }

    /// Combine the arrays of all ranks, and give each rank its part.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     A contiguous array of ``size`` parts; without `out` it has a first axis of that length.
    /// out : GPUArray, optional
    ///     This rank's part of the result; may be this rank's part of `a`.
    /// op, stream
    ///     As in `all_reduce`.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or a new array of the shape ``a.shape[1:]``.
    #[pyo3(signature = (a, out = None, op = "sum", stream = None))]
    fn reduce_scatter<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        op: &str,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        if out.is_none() {
            self.check_first_axis(a)?;
        }
        let call = Call { what: Collective::ReduceScatter, a: Some(a), out, op, stream };
        self.run(py, call, |a| Some(a.shape()[1..].to_vec()))
    }

    /// Send part ``i`` of each rank's array to rank ``i``.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     A contiguous array of ``size`` parts.
    /// out : GPUArray, optional
    ///     The parts of all ranks for this one: another array of the size of `a`.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or a new array of the shape of `a`.
    #[pyo3(signature = (a, out = None, stream = None))]
    fn all_to_all<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let call = Call { what: Collective::AllToAll, a: Some(a), out, op: "sum", stream };
        self.run(py, call, |a| Some(a.shape().to_vec()))
    }

    /// Gather the arrays of all ranks for one rank.
    ///
    /// Parameters
    /// ----------
    /// a, out, stream
    ///     As in `all_gather`; `out` is used on the rank `root` only.
    /// root : int
    ///     The rank that gets the result.
    ///
    /// Returns
    /// -------
    /// GPUArray or None
    ///     The result on the rank `root`, None on others.
    #[pyo3(signature = (a, out = None, root = 0, stream = None))]
    fn gather<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = int)] root: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let root = self.rank_argument("root", root)?;
        let out = out.filter(|_| root == self.0.rank());
        let call = Call { what: Collective::Gather { root }, a: Some(a), out, op: "sum", stream };
        self.run(py, call, |a| (root == self.0.rank()).then(|| repeated_shape(self.0.n_ranks(), a)))
    }

    /// Give each rank its part of the array of one rank.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray or None
    ///     A contiguous array of ``size`` parts; used on the rank `root` only.
    /// out : GPUArray
    ///     Where this rank receives its part; may be omitted on the rank `root`.
    /// root : int
    ///     The rank that sends.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or on the rank `root` a new array of the shape ``a.shape[1:]``.
    #[pyo3(signature = (a, out = None, root = 0, stream = None))]
    fn scatter<'py>(
        &self,
        py: Python<'py>,
        a: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = int)] root: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let root = self.rank_argument("root", root)?;
        let a = a.filter(|_| root == self.0.rank());
        if let (Some(a), None) = (a, out) {
            self.check_first_axis(a)?;
        }
        let call = Call { what: Collective::Scatter { root }, a, out, op: "sum", stream };
        self.run(py, call, |a| Some(a.shape()[1..].to_vec()))
    }

    /// Send an array to one rank, which calls `recv`.
    ///
    /// Several ranks of one thread, and ranks that send to each other, do so in a `group`.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     A contiguous array.
    /// peer : int
    ///     The rank that receives.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    #[pyo3(signature = (a, peer, stream = None))]
    fn send<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = int)] peer: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<()> {
        let peer = self.rank_argument("peer", peer)?;
        let call = Call { what: Collective::Send { peer }, a: Some(a), out: None, op: "sum", stream };
        self.run(py, call, |_| None).map(drop)
    }

    /// Receive an array from one rank, which calls `send` with as many bytes.
    ///
    /// Parameters
    /// ----------
    /// a : GPUArray
    ///     Where it is received: a contiguous array.
    /// peer : int
    ///     The rank that sends.
    /// stream : Stream, optional
    ///     Where to enqueue it.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `a`.
    #[pyo3(signature = (a, peer, stream = None))]
    fn recv<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = int)] peer: isize,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<BoundAny<'py>> {
        let peer = self.rank_argument("peer", peer)?;
        let call = Call { what: Collective::Recv { peer }, a: None, out: Some(a), op: "sum", stream };
        self.run(py, call, |_| None)
    }

    /// Split the communicator. Waits for all ranks.
    ///
    /// Parameters
    /// ----------
    /// color : int or None
    ///     Ranks with one colour are a new communicator; None for a rank that takes no part.
    /// key : int, optional
    ///     The order of ranks in it; ranks with one key keep their order.
    ///
    /// Returns
    /// -------
    /// Communicator or None
    ///     The new one; None for a rank that takes no part.
    #[pyo3(signature = (color, key = 0))]
    fn split(
        &self,
        py: Python<'_>,
        color: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] key: i32,
    ) -> PyResult<Option<Self>> {
        let (parent, color) = (self.0.clone(), color_of(color)?);
        let context = self.0.context().clone();
        Ok(wait_interruptibly(py, context, move || parent.split(color, key))?.map(Self))
    }

    /// `split` of several ranks of this process at once.
    #[staticmethod]
    fn _split_all(py: Python<'_>, ranks: Vec<(Py<Self>, Bound<'_, PyAny>, i32)>) -> PyResult<Vec<Option<Self>>> {
        let rank = |(rank, color, key): &(Py<Self>, Bound<'_, PyAny>, i32)| {
            PyResult::Ok((rank.get().0.clone(), color_of(color)?, *key))
        };
        let ranks: Vec<_> = ranks.iter().map(rank).collect::<PyResult<_>>()?;
        let Some(context) = ranks.first().map(|(first, _, _)| first.context().clone()) else { return Ok(Vec::new()) };
        let split = move || {
            let raw: Vec<_> = ranks.iter().map(|(rank, color, key)| (&**rank, *color, *key)).collect();
            Ok(RawCommunicator::split_all(&raw)?)
        };
        let made = wait_interruptibly(py, context, split)?;
        Ok(made.into_iter().map(|new| new.map(|raw| Self(raw.into()))).collect())
    }

    /// Make a communicator without some ranks. Waits for those that remain, which all call it.
    ///
    /// Parameters
    /// ----------
    /// excluded : sequence of int
    ///     The ranks that are left out.
    /// abort : bool, optional
    ///     First end the work of this communicator: needed when a rank has died.
    ///
    /// Returns
    /// -------
    /// Communicator
    ///     The new one; ranks keep their order.
    #[pyo3(signature = (excluded, abort = false))]
    fn shrink(&self, py: Python<'_>, excluded: &Bound<'_, PyAny>, abort: bool) -> PyResult<Self> {
        let (n, own) = (self.0.n_ranks(), self.0.rank());
        let expected = || {
            let shown = shown(excluded);
            PyValueError::new_err(format!(
                "excluded={shown}; expected other ranks than {own} of a communicator of {n} ranks, at least one"
            ))
        };
        let excluded: Vec<usize> = excluded.extract().map_err(|_| expected())?;
        if excluded.is_empty() || excluded.iter().any(|rank| *rank >= n || *rank == own) {
            return Err(expected());
        }
        let parent = self.0.clone();
        let context = self.0.context().clone();
        wait_interruptibly(py, context, move || parent.shrink(&excluded, abort)).map(Self)
    }

    /// Wait until the work in a stream is done, and notice when a rank fails meanwhile.
    ///
    /// If one does, or the time is over, all communicators of this process that were made together are aborted.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     The stream; the current one without it.
    /// timeout : float, optional
    ///     Seconds to wait; without it, as long as it takes.
    ///
    /// Raises
    /// ------
    /// NcclError
    ///     What failed, or that the time is over.
    #[pyo3(signature = (stream = None, timeout = None))]
    fn wait(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>, timeout: Option<f64>) -> PyResult<()> {
        let limit = match timeout {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                PyValueError::new_err(format!("timeout={seconds}; expected a number of seconds that is not negative"))
            })?),
        };
        let current = rtcg::current_stream().or_else(Stream::current);
        let stream = as_driver_stream(stream)?.cloned().or(current);
        let communicator = self.0.clone();
        let context = self.0.context().clone();
        let given_up = Arc::new(AtomicBool::new(false));
        let is_given_up = given_up.clone();
        let wait =
            move || Ok(communicator.wait_unless(stream.as_ref(), limit, || is_given_up.load(Ordering::Acquire))?);
        wait_interruptibly(py, context, wait).inspect_err(|_| given_up.store(true, Ordering::Release))
    }

    /// Raise what went wrong in work that was enqueued. Does not wait.
    fn check_async_error(&self, py: Python<'_>) -> PyResult<()> {
        self.0.check_async_error().map_err(|error| nccl_error(py, error))
    }

    /// Wait for the communicator's work, then destroy it; later calls of it fail, but for this one.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let communicator = self.0.clone();
        wait_interruptibly(py, self.0.context().clone(), move || Ok(communicator.close()?))
    }

    /// End the communicator's work, and the communicator, at once.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.0.abort());
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            self.abort(py);
            return Ok(());
        }
        self.close(py)
    }

    /// Register the memory of an array, which lets NCCL use faster paths for it; returns NCCL's handle.
    fn _register(&self, py: Python<'_>, a: &Bound<'_, PyAny>) -> PyResult<usize> {
        let array = device_array("a", a)?;
        // SAFETY: the object that `rtcg.nccl` makes of the handle keeps the array.
        unsafe { self.0.register_array(&array) }.map_err(|error| raise(py, error))
    }

    fn _deregister(&self, py: Python<'_>, registration: usize) -> PyResult<()> {
        // SAFETY: `rtcg.nccl` ends a registration once.
        unsafe { self.0.deregister(registration) }.map_err(|error| nccl_error(py, error))
    }

    /// A collective of addresses, for `NcclCommunicator`; `stream` is a handle.
    #[allow(clippy::too_many_arguments, reason = "NCCL's arguments")]
    fn _enqueue(
        &self,
        py: Python<'_>,
        what: &str,
        sent: u64,
        received: u64,
        count: usize,
        dtype: u32,
        op: u32,
        peer: isize,
        stream: usize,
    ) -> PyResult<()> {
        let rank = || self.rank_argument("root or peer", peer);
        let what = match what {
            "allReduce" => Collective::AllReduce,
            "reduce" => Collective::Reduce { root: rank()? },
            "broadcast" => Collective::Broadcast { root: rank()? },
            "allGather" => Collective::AllGather,
            "reduceScatter" => Collective::ReduceScatter,
            "send" => Collective::Send { peer: rank()? },
            _ => Collective::Recv { peer: rank()? },
        };
        let (dtype, op) = (ncclDataType_t(dtype), ncclRedOp_t(op));
        // SAFETY: these are addresses and handles, as in C.
        let enqueue = || unsafe {
            let stream = match stream {
                0 => None,
                handle => {
                    let handle = std::ptr::with_exposed_provenance_mut(handle);
                    Some(Stream::from_external_in(self.0.context(), rtcg::driver::sys::CUstream(handle)))
                }
            };
            self.0.enqueue(what, sent, received, count, dtype, op, stream.as_ref())
        };
        py.detach(enqueue).map_err(|error| nccl_error(py, error))
    }
}

impl PyCommunicator {
    /// A result without `out` has the shape of a part.
    fn check_first_axis(&self, a: &Bound<'_, PyAny>) -> PyResult<()> {
        let (array, n) = (device_array("a", a)?, self.0.n_ranks());
        if array.shape().first() == Some(&n) {
            return Ok(());
        }
        let message = format!(
            "a has shape {:?}; without out, its first axis has the length {n}, one for each rank",
            array.shape()
        );
        Err(PyValueError::new_err(message))
    }
}

thread_local! {
    static GROUPS: RefCell<Vec<NcclGroup>> = const { RefCell::new(Vec::new()) };
}

/// Calls of a thread in a ``with`` block, which take effect together at its end.
#[pyclass(name = "NcclGroup", module = "rtcg._native", frozen)]
struct PyNcclGroup;

#[pymethods]
impl PyNcclGroup {
    #[new]
    fn new() -> Self {
        Self
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        nccl_group_start(py)
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let ended = nccl_group_end(py);
        // NCCL has no way to leave a group without its calls; the exception of the block says more.
        if exception.get_item(0).is_ok_and(|kind| !kind.is_none()) { Ok(()) } else { ended }
    }
}

#[pyfunction]
fn nccl_group_start(py: Python<'_>) -> PyResult<()> {
    let group = NcclGroup::begin().map_err(|error| nccl_error(py, error))?;
    GROUPS.with_borrow_mut(|groups| groups.push(group));
    Ok(())
}

#[pyfunction]
fn nccl_group_end(py: Python<'_>) -> PyResult<()> {
    let group = GROUPS.with_borrow_mut(Vec::pop);
    let group = group.ok_or_else(|| PyRuntimeError::new_err("no group was started in this thread"))?;
    // It stays in this thread, whatever the interpreter does meanwhile.
    struct InThisThread(NcclGroup);
    // SAFETY: `detach` runs its closure in the calling thread.
    unsafe impl Send for InThisThread {}
    let group = InThisThread(group);
    py.detach(move || {
        let InThisThread(group) = { group };
        group.end()
    })
    .map_err(|error| nccl_error(py, error))
}

/// Abort communicators whose work waits, so that the program can end.
#[pyfunction]
fn nccl_abort_unfinished(py: Python<'_>) {
    py.detach(rtcg::nccl::abort_unfinished_communicators);
}

/// A new id of a communicator: one rank makes it, and sends it to the others.
#[pyfunction]
fn nccl_unique_id(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let id = UniqueId::new().map_err(|error| nccl_error(py, error))?;
    Ok(PyBytes::new(py, &id.to_bytes()))
}

/// The version of NCCL, ``10000 * major + 100 * minor + patch``.
#[pyfunction(name = "nccl_version")]
fn py_nccl_version(py: Python<'_>) -> PyResult<u32> {
    nccl_version().map_err(|error| nccl_error(py, error))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("NcclError", m.py().get_type::<exception::NcclError>())?;
    m.add_class::<PyCommunicator>()?;
    m.add_class::<PyNcclGroup>()?;
    m.add_function(wrap_pyfunction!(nccl_group_start, m)?)?;
    m.add_function(wrap_pyfunction!(nccl_group_end, m)?)?;
    m.add_function(wrap_pyfunction!(nccl_unique_id, m)?)?;
    m.add_function(wrap_pyfunction!(nccl_abort_unfinished, m)?)?;
    m.add_function(wrap_pyfunction!(py_nccl_version, m)?)
}
