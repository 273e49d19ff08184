//! Collectives of arrays between devices, by NCCL; on virtual devices by a virtual NCCL, which needs no GPU.
//!
//! ```
//! use rtcg::nccl::{Communicator, Reduction};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! // One process with one device. With more, each thread or process joins with a rank and the same id.
//! let ctx = Context::new()?;
//! let communicator = Communicator::join(&ctx, 1, rtcg::nccl::UniqueId::new()?, 0)?;
//! let arrays = ArrayFactory::new(&ctx)?;
//! let (a, sum) = (arrays.from_slice(&[1.0f32, 2.0])?, arrays.zeros::<f32>(&[2])?);
//! communicator.all_reduce(a.as_dyn(), sum.as_dyn(), Reduction::Sum, None)?;
//! communicator.wait(None, None)?;
//! assert_eq!(sum.to_vec()?, [1.0, 2.0]);
//! communicator.close()?;
//! # Ok(())
//! # }
//! ```
//!
#![allow(unsafe_code, reason = "addresses of arrays for NCCL")]

use crate::{Context, Result, run_in_stream};
use rtcg_array::{GpuArray, Order};
use rtcg_cuda::Error;
use rtcg_driver::Stream;
use rtcg_driver::sys::nccl::{ncclDataType_t, ncclRedOp_t, ncclResult_t};
use rtcg_hal::DType;
use std::time::Duration;

pub use rtcg_driver::nccl::abort_unfinished_communicators;
pub use rtcg_driver::nccl::{
    Collective, Communicator as RawCommunicator, NcclError, NcclGroup, NcclMemory, PendingCommunicator, UniqueId,
    at_group_end, is_in_group, nccl_version,
};

/// How elements are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Their sum; of truth values, whether any is true.
    Sum,
    /// Their product; of truth values, whether all are true. Not of complex numbers.
    Prod,
    /// The greatest. Not of complex numbers.
    Max,
    /// The least. Not of complex numbers.
    Min,
    /// Their mean: floating-point numbers are divided by the number of ranks before they are added, sums of integers
    /// afterwards, towards zero.
    Avg,
}

impl std::str::FromStr for Reduction {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "sum" => Self::Sum,
            "prod" => Self::Prod,
            "max" => Self::Max,
            "min" => Self::Min,
            "avg" => Self::Avg,
            _ => {
                let message = format!("op is '{name}'; expected 'sum', 'prod', 'max', 'min' or 'avg'");
                return Err(Error::value_error(message));
            }
        })
    }
}

/// A rank of a communicator, for arrays of its context. Cloning gives another reference.
///
/// Collectives are enqueued in a stream (the calling thread's without one) and do not wait; arrays that are dropped
/// meanwhile are kept for them. What one rank calls, all ranks must call, in the same order.
#[derive(Clone, Debug)]
pub struct Communicator(RawCommunicator);

impl From<RawCommunicator> for Communicator {
    fn from(raw: RawCommunicator) -> Self {
        Self(raw)
    }
}

impl std::ops::Deref for Communicator {
    type Target = RawCommunicator;

    fn deref(&self) -> &RawCommunicator {
        &self.0
    }
}

/// Collectives: `a` and `out` are contiguous arrays of one dtype. `out` may be `a`, or where results of one rank have the
/// place of its `a`, that part of `out`. Elements go in C order: arrays in Fortran order are copied to it and from it, so
/// that ranks need not agree about the order in memory.
impl Communicator {
    /// Joins a communicator with the device of a context, and waits until all ranks have joined.
    ///
    /// # Errors
    /// As [`RawCommunicator::new`].
    pub fn join(ctx: &Context, n_ranks: usize, id: UniqueId, rank: usize) -> Result<Self> {
        Ok(Self(RawCommunicator::new_in(ctx.driver_context(), n_ranks, id, rank)?))
    }

    /// Combines the arrays of all ranks, for all ranks: `out` has the size of `a`.
    ///
    /// # Errors
    /// When an array does not fit, or NCCL refuses the call.
    pub fn all_reduce(&self, a: &GpuArray, out: &GpuArray, op: Reduction, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::AllReduce, op, Some(a), Some(out), stream)
    }

    /// Combines the arrays of all ranks for the rank `root`; `out` is that rank's.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn reduce(
        &self,
        a: &GpuArray,
        out: Option<&GpuArray>,
        op: Reduction,
        root: usize,
        stream: Option<&Stream>,
    ) -> Result<()> {
        self.run(Collective::Reduce { root }, op, Some(a), out, stream)
    }

    /// Copies the array of the rank `root` to the arrays of all others.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn broadcast(&self, a: &GpuArray, root: usize, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::Broadcast { root }, Reduction::Sum, Some(a), Some(a), stream)
    }

    /// Gathers the arrays of all ranks for all ranks: `out` has as many elements as all of them.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn all_gather(&self, a: &GpuArray, out: &GpuArray, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::AllGather, Reduction::Sum, Some(a), Some(out), stream)
    }

    /// Combines the arrays of all ranks, and gives each rank its part: `a` has as many elements as all parts.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn reduce_scatter(&self, a: &GpuArray, out: &GpuArray, op: Reduction, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::ReduceScatter, op, Some(a), Some(out), stream)
    }

    /// Sends part `i` of each rank's array to rank `i`; `out` has the size of `a`, and is another array.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn all_to_all(&self, a: &GpuArray, out: &GpuArray, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::AllToAll, Reduction::Sum, Some(a), Some(out), stream)
    }

    /// Gathers the arrays of all ranks for the rank `root`; `out` is that rank's.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn gather(&self, a: &GpuArray, out: Option<&GpuArray>, root: usize, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::Gather { root }, Reduction::Sum, Some(a), out, stream)
    }

    /// Gives each rank its part of the array of the rank `root`; `a` is that rank's.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn scatter(&self, a: Option<&GpuArray>, out: &GpuArray, root: usize, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::Scatter { root }, Reduction::Sum, a, Some(out), stream)
    }

    /// Sends an array to the rank `peer`, which must receive as many bytes.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn send(&self, a: &GpuArray, peer: usize, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::Send { peer }, Reduction::Sum, Some(a), None, stream)
    }

    /// Receives an array from the rank `peer`.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn recv(&self, a: &GpuArray, peer: usize, stream: Option<&Stream>) -> Result<()> {
        self.run(Collective::Recv { peer }, Reduction::Sum, None, Some(a), stream)
    }

    /// Any of these; a rank's array that is not used may be absent.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn run(
        &self,
        what: Collective,
        op: Reduction,
        sent: Option<&GpuArray>,
        received: Option<&GpuArray>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (n_sent, n_received) = self.n_parts(what);
        let (sent, received) = (sent.filter(|_| n_sent > 0), received.filter(|_| n_received > 0));
        let part = self.checked_part(what, sent, received)?;
        let (count, dtype, number) = transported(what, op, part.dtype, part.elements)?;
        let stream = stream.cloned().or_else(crate::current_stream);
        if stream.as_ref().is_some_and(|stream| stream.context() != self.context()) {
            let device = self.device().ordinal();
            let message = format!("stream is of another context than the communicator, which is of device {device}");
            return Err(Error::value_error(message));
        }
        if ![sent, received].into_iter().flatten().all(|array| array.is_contiguous(Order::C)) {
            return self.run_in_c_order(what, op, sent, received, stream.as_ref());
        }
        let addresses = || (address_of(sent), address_of(received));
        let (sent_to, received_to) = match &stream {
            // What is enqueued uses the memory in that stream.
            Some(_) => run_in_stream(stream.as_ref(), addresses),
            None => addresses(),
        };
        if is_in_group() {
            let kept = [sent.cloned(), received.cloned()];
            at_group_end(move || {
                drop(kept);
                Ok(())
            })?;
        }
        // SAFETY: the arrays are memory of this context, as large as checked, and kept for the stream.
        Ok(unsafe { self.0.enqueue(what, sent_to, received_to, count, dtype, number, stream.as_ref()) }?)
    }

    /// [`Self::run`] with copies in C order.
    #[cold]
    fn run_in_c_order(
        &self,
        what: Collective,
        op: Reduction,
        sent: Option<&GpuArray>,
        received: Option<&GpuArray>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let is_unread = matches!(what, Collective::Broadcast { root } if root != self.rank());
        let (from, to) = run_in_stream(stream, || {
            let to = received.map(|out| match out.is_contiguous(Order::C) {
                true => Ok(out.clone()),
                false => GpuArray::empty(out.context(), out.shape(), out.dtype(), Order::C),
            });
            let to = to.transpose()?;
            let from = if is_unread { to.clone() } else { sent.map(GpuArray::to_contiguous).transpose()? };
            Result::Ok((from, to))
        })?;
        self.run(what, op, from.as_ref(), to.as_ref(), stream)?;
        let (Some(out), Some(to)) = (received.filter(|out| !out.is_contiguous(Order::C)).cloned(), to) else {
            return Ok(());
        };
        let stream = stream.cloned();
        let copy_back = move || {
            let copied = run_in_stream(stream.as_ref(), || out.assign(&to));
            let failed = ncclResult_t::ncclUnhandledCudaError;
            copied.map_err(|error| NcclError::refused("Communicator::run", failed, error.to_string()))
        };
        Ok(at_group_end(copy_back)?)
    }

    /// How many parts this rank sends and receives.
    fn n_parts(&self, what: Collective) -> (usize, usize) {
        let n_ranks = self.n_ranks();
        let if_root = |root: usize, n: usize| if root == self.rank() { n } else { 0 };
        match what {
            Collective::AllReduce | Collective::Broadcast { .. } => (1, 1),
            Collective::Reduce { root } => (1, if_root(root, 1)),
            Collective::AllGather => (1, n_ranks),
            Collective::ReduceScatter => (n_ranks, 1),
            Collective::AllToAll => (n_ranks, n_ranks),
            Collective::Gather { root } => (1, if_root(root, n_ranks)),
            Collective::Scatter { root } => (if_root(root, n_ranks), 1),
            Collective::Send { .. } => (1, 0),
            Collective::Recv { .. } => (0, 1),
        }
    }

    /// Checks the arrays that a rank uses.
    fn checked_part(
        &self,
        what: Collective,
        sent: Option<&GpuArray>,
        received: Option<&GpuArray>,
    ) -> Result<PartOfRank> {
        let n_ranks = self.n_ranks();
        let peer = match what {
            Collective::Reduce { root }
            | Collective::Broadcast { root }
            | Collective::Gather { root }
            | Collective::Scatter { root } => Some(("root", root)),
            Collective::Send { peer } | Collective::Recv { peer } => Some(("peer", peer)),
            _ => None,
        };
        if let Some((name, rank)) = peer.filter(|(_, rank)| *rank >= n_ranks) {
            return Err(Error::value_error(format!("{name}={rank} is no rank of a communicator of {n_ranks} ranks")));
        }
        let (n_sent, n_received) = self.n_parts(what);
        let is_in_place = matches!(what, Collective::Recv { .. } | Collective::Broadcast { .. });
        let received_name = if is_in_place { "a" } else { "out" };
        let sides = [("a", sent, n_sent), (received_name, received, n_received)];
        let mut part: Option<PartOfRank> = None;
        for (name, array, n_parts) in sides {
            let Some(array) = array else {
                if n_parts > 0 {
                    let rank = self.rank();
                    return Err(Error::value_error(format!("{name} is missing, which rank {rank} needs here")));
                }
                continue;
            };
            self.check_array(name, array)?;
            if array.size() % n_parts != 0 {
                let message = format!("{name} has {} elements, which are no {n_parts} equal parts", array.size());
                return Err(Error::value_error(message));
            }
            let own = PartOfRank { dtype: array.dtype(), elements: array.size() / n_parts };
            match part {
                Some(first) if first != own => {
                    let (dtype, n) = (first.dtype, first.elements * n_parts);
                    let (shape, own) = (array.shape(), own.dtype);
                    let message =
                        format!("{name} has shape {shape:?} and dtype {own}; expected {n} elements of {dtype}");
                    return Err(Error::value_error(message));
                }
                _ => part = Some(own),
            }
        }
        if let (Some(sent), Some(received)) = (sent, received) {
            check_overlap(what, self.rank(), sent, received)?;
        }
        part.ok_or_else(|| Error::value_error("there is no array"))
    }

    fn check_array(&self, name: &str, array: &GpuArray) -> Result<()> {
        if array.context().context_number() != self.context().handle_number() {
            let device = self.device().ordinal();
            let message = format!(
                "{name} is an array of another device, or of another context than the communicator's, which is of device \
                 {device}; make it in that context (in Python `with rtcg.devices.use({device}):` for a primary one)"
            );
            return Err(Error::value_error(message));
        }
        if !array.is_contiguous(Order::C) && !array.is_contiguous(Order::F) {
            let message = format!(
                "{name}, of shape {:?} with strides {:?}, is not contiguous; send a copy",
                array.shape(),
                array.strides()
            );
            return Err(Error::value_error(message));
        }
        Ok(array.check_memory()?)
    }
}

/// What one rank has to do with one other rank, or all together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PartOfRank {
    dtype: DType,
    elements: usize,
}

fn address_of(array: Option<&GpuArray>) -> u64 {
    array.map_or(0, GpuArray::first_element_address)
}

/// Arrays may be the same where NCCL does the work in place, and are apart otherwise.
fn check_overlap(what: Collective, rank: usize, sent: &GpuArray, received: &GpuArray) -> Result<()> {
    let (Some(a), Some(out)) = (sent.device_ptr(), received.device_ptr()) else { return Ok(()) };
    let (n_a, n_out) = (sent.nbytes() as u64, received.nbytes() as u64);
    if a >= out + n_out || out >= a + n_a {
        return Ok(());
    }
    let in_place = match what {
        Collective::AllGather | Collective::Gather { .. } => a == out + rank as u64 * n_a,
        Collective::ReduceScatter | Collective::Scatter { .. } => out == a + rank as u64 * n_out,
        Collective::AllToAll => false,
        _ => a == out,
    };
    if in_place {
        return Ok(());
    }
    let place = match what {
        Collective::AllGather | Collective::Gather { .. } => "; in place, a is this rank's part of out",
        Collective::ReduceScatter | Collective::Scatter { .. } => "; in place, out is this rank's part of a",
        Collective::AllToAll => "; this collective is not done in place",
        _ => "; in place, they are the same",
    };
    Err(Error::value_error(format!("a and out overlap{place}")))
}

/// Elements as NCCL knows them: their number, type and operation.
fn transported(
    what: Collective,
    op: Reduction,
    dtype: DType,
    elements: usize,
) -> Result<(usize, ncclDataType_t, ncclRedOp_t)> {
    use ncclDataType_t as T;
    let op_of = |op| match op {
        Reduction::Sum => ncclRedOp_t::ncclSum,
        Reduction::Prod => ncclRedOp_t::ncclProd,
        Reduction::Max => ncclRedOp_t::ncclMax,
        Reduction::Min => ncclRedOp_t::ncclMin,
        Reduction::Avg => ncclRedOp_t::ncclAvg,
    };
    let is_reduction = matches!(what, Collective::AllReduce | Collective::Reduce { .. } | Collective::ReduceScatter);
    let known = match dtype {
        DType::I8 => Some(T::ncclInt8),
        DType::U8 => Some(T::ncclUint8),
        DType::I32 => Some(T::ncclInt32),
        DType::U32 => Some(T::ncclUint32),
        DType::I64 => Some(T::ncclInt64),
        DType::U64 => Some(T::ncclUint64),
        DType::F16 => Some(T::ncclFloat16),
        DType::BF16 => Some(T::ncclBfloat16),
        DType::F32 => Some(T::ncclFloat32),
        DType::F64 => Some(T::ncclFloat64),
        _ => None,
    };
    if let Some(known) = known {
        return Ok((elements, known, op_of(op)));
    }
    if !is_reduction {
        return Ok((elements * dtype.itemsize(), T::ncclUint8, ncclRedOp_t::ncclSum));
    }
    match (dtype, op) {
        (DType::C64, Reduction::Sum | Reduction::Avg) => Ok((2 * elements, T::ncclFloat32, op_of(op))),
        (DType::C128, Reduction::Sum | Reduction::Avg) => Ok((2 * elements, T::ncclFloat64, op_of(op))),
        (DType::Bool, Reduction::Sum | Reduction::Max) => Ok((elements, T::ncclUint8, ncclRedOp_t::ncclMax)),
        (DType::Bool, Reduction::Prod | Reduction::Min) => Ok((elements, T::ncclUint8, ncclRedOp_t::ncclMin)),
        _ => {
            let name = format!("{op:?}").to_lowercase();
            Err(Error::type_error(format!("NCCL has no reduction '{name}' of {dtype}")))
        }
    }
}

impl Communicator {
    /// Waits until the work in a stream has finished: [`RawCommunicator::wait`].
    ///
    /// # Errors
    /// [`ncclResult_t::ncclTimeout`](rtcg_driver::sys::nccl::ncclResult_t), or what went wrong.
    pub fn wait(&self, stream: Option<&Stream>, timeout: Option<Duration>) -> Result<()> {
        let stream = stream.cloned().or_else(crate::current_stream);
        Ok(self.0.wait(stream.as_ref(), timeout)?)
    }

    /// Registers the memory of an array, which lets NCCL use faster paths for it; returns NCCL's handle.
    ///
    /// # Errors
    /// When the array does not fit, or NCCL refuses it.
    ///
    /// # Safety
    /// The memory must stay allocated until [`RawCommunicator::deregister`].
    pub unsafe fn register_array(&self, a: &GpuArray) -> Result<usize> {
        self.check_array("a", a)?;
        // SAFETY: passed on.
        Ok(unsafe { self.0.register(a.first_element_address(), a.nbytes()) }?)
    }

    /// Splits the communicator: [`RawCommunicator::split`].
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Self>> {
        Ok(self.0.split(color, key)?.map(Self))
    }

    /// A communicator without some ranks: [`RawCommunicator::shrink`].
    ///
    /// # Errors
    /// As there.
    pub fn shrink(&self, excluded: &[usize], abort_first: bool) -> Result<Self> {
        Ok(Self(self.0.shrink(excluded, abort_first)?))
    }
}
