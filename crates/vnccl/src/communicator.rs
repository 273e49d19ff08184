//! A communicator: one rank's context and streams, and its way to the clique.
//!
//! Establishes: the operations of a communicator run in the order of its calls, whatever streams they are in.

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::call::{Call, Kind};
use crate::clique::{Clique, Data, Failure, Part, SplitPlace, SplitWish};
use crate::remote::{self, RemoteLink};
use crate::unique_id::{UniqueId, random_bytes};
use crate::{DRIVER, Driver};
use rtcg_cuda_sys::nccl::{NCCL_NUM_OPS, ncclDataType_t, ncclRedOp_t, ncclResult_t};
use rtcg_cuda_sys::{
    CUcontext, CUevent, CUmemorytype, CUpointer_attribute, CUresult, CUstream, CUstreamCaptureStatus,
    ExternalOperation, c_uint,
};
use rtcg_vgpu_abi::IgnorePoison;
use rtcg_vgpu_abi::handle_table::HandleTable;

pub(crate) type Res<T = ()> = Result<T, Failure>;

/// All communicators by their handles.
pub(crate) static COMMUNICATORS: HandleTable<Communicator> = HandleTable::new(0x4e);

/// The cliques of this process, which ranks still join.
static JOINING_CLIQUES: Mutex<Option<HashMap<UniqueId, Weak<Clique>>>> = Mutex::new(None);

/// An event without time, of which processes and graphs know nothing.
const EVENT_FLAGS: c_uint = 2;

/// The most ranks: more than one machine can run.
const MAX_RANKS: c_int = 65536;

pub(crate) fn failed<T>(code: ncclResult_t, text: impl Into<String>) -> Res<T> {
    Err(Failure::new(code, text))
}

pub(crate) fn driver() -> Res<Driver> {
    DRIVER.get().copied().ok_or_else(|| Failure::new(ncclResult_t::ncclSystemError, "there is no virtual GPU"))
}

/// The result of a call to the driver.
pub(crate) fn checked(call: &str, code: CUresult) -> Res {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    failed(ncclResult_t::ncclUnhandledCudaError, format!("{call}: {code:?}"))
}

fn system_failure(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(ncclResult_t::ncclSystemError, format!("{what}: {error}"))
}

/// How long ranks wait for others to join: `RTCG_NCCL_TIMEOUT` in seconds.
fn join_timeout() -> Res<Duration> {
    let Ok(text) = std::env::var("RTCG_NCCL_TIMEOUT") else { return Ok(Duration::from_secs(300)) };
    text.parse().map(Duration::from_secs).map_err(|_| {
        let text = format!("RTCG_NCCL_TIMEOUT={text}: expected a whole number of seconds");
        Failure::new(ncclResult_t::ncclInvalidArgument, text)
    })
}

/// A rank's way to the clique.
#[derive(Clone, Debug)]
enum Link {
    Local(Arc<Clique>),
    Remote(Arc<RemoteLink>),
}

impl Link {
    fn wait_until_joined(&self, until: Instant) -> Res<bool> {
        match self {
            Link::Local(clique) => clique.wait_until_joined(until),
            Link::Remote(link) => link.wait_until_joined(until),
        }
    }

    fn failure(&self) -> Option<Failure> {
        match self {
            Link::Local(clique) => clique.failure(),
            Link::Remote(link) => link.failure(),
        }
    }

    fn fail(&self, failure: Failure) {
        match self {
            Link::Local(clique) => clique.fail(failure),
            Link::Remote(link) => link.fail(failure),
        }
    }

    /// What a rank waits for, as text.
    fn awaited(&self, rank: usize) -> String {
        match self {
            Link::Local(clique) => clique.awaited(rank),
            Link::Remote(link) => link.awaited(),
        }
    }
}

/// A rank that joins a clique.
#[derive(Debug)]
pub(crate) struct Join {
    id: UniqueId,
    n_ranks: usize,
    rank: usize,
    context: CUcontext,
    device: c_int,
    link: Option<Link>,
}

impl Join {
    /// A rank on the device of the context.
    pub(crate) fn new(id: UniqueId, n_ranks: c_int, rank: c_int, context: CUcontext) -> Res<Self> {
        if n_ranks < 1 || rank < 0 || rank >= n_ranks {
            return failed(ncclResult_t::ncclInvalidArgument, format!("there is no rank {rank} of {n_ranks} ranks"));
        }
        if n_ranks > MAX_RANKS {
            let text = format!("nranks={n_ranks}: the ranks of one machine are at most {MAX_RANKS}");
            return failed(ncclResult_t::ncclInvalidArgument, text);
        }
        let mut device = 0;
        in_context(context, |driver| {
            // SAFETY: writes one number.
            checked("cuCtxGetDevice", unsafe { driver.table.cuCtxGetDevice((&raw mut device).cast()) })
        })?;
        Ok(Self { id, n_ranks: n_ranks as usize, rank: rank as usize, context, device, link: None })
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// Tries to join: rank 0 makes the clique, others find it. `false` if it is not there yet.
    fn try_join(&mut self) -> Res<bool> {
        if self.link.is_some() {
            return Ok(true);
        }
        let mut joining = JOINING_CLIQUES.lock().ignore_poison();
        let known = joining.get_or_insert_default();
        known.retain(|_, clique| clique.strong_count() > 0);
        let found = known.get(&self.id).and_then(Weak::upgrade);
        if self.rank == 0 && found.is_none() {
            let clique = Clique::new(self.n_ranks);
            if self.n_ranks > 1 {
                remote::listen(&clique, self.id).map_err(|error| match error.kind() {
                    std::io::ErrorKind::AddrInUse => {
                        let text = format!("two processes say that they are rank 0 of {}", self.n_ranks);
                        Failure::new(ncclResult_t::ncclInvalidArgument, text)
                    }
                    _ => system_failure("ranks of other processes cannot be listened to", &error),
                })?;
            }
            known.insert(self.id, Arc::downgrade(&clique));
            drop(joining);
            clique.join_here(0, self.n_ranks, self.device)?;
            self.link = Some(Link::Local(clique));
            return Ok(true);
        }
        drop(joining);
        if let Some(clique) = found {
            clique.join_here(self.rank, self.n_ranks, self.device)?;
            self.link = Some(Link::Local(clique));
            return Ok(true);
        }
        match RemoteLink::join(&self.id, self.rank, self.n_ranks) {
            Ok(link) => self.link = Some(Link::Remote(link)),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(system_failure("rank 0 cannot be reached", &error)),
        }
        Ok(self.link.is_some())
    }

    fn into_communicator(self) -> Communicator {
        let Self { id, n_ranks, rank, context, device, link } = self;
        let link = link.unwrap_or_else(|| Link::Local(Clique::new(n_ranks)));
        Communicator {
            id,
            n_ranks,
            rank,
            context,
            device,
            link,
            order: Mutex::new(StreamOrder { event: CUevent::null(), last_stream: None }),
            n_unfinished: Mutex::new(0),
            all_finished: Condvar::new(),
            scaled_sums: Mutex::default(),
            n_shrinks: AtomicU64::new(0),
            is_left: AtomicBool::new(false),
            is_suspended: AtomicBool::new(false),
        }
    }
}

/// Lets ranks join, and returns when all ranks of all their cliques are there.
pub(crate) fn join_all(mut joins: Vec<Join>) -> Res<Vec<Communicator>> {
    let timeout = join_timeout()?;
    let until = Instant::now() + timeout;
    loop {
        let mut all = true;
        for join in &mut joins {
            all &= join.try_join()?;
        }
        if all {
            break;
        }
        if let Some(late) = joins.iter().find(|join| join.link.is_none()).filter(|_| Instant::now() > until) {
            return Err(too_late(late.rank, "rank 0, or comes after it had all its ranks", timeout));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for join in &joins {
        let Some(link) = &join.link else { continue };
        if !link.wait_until_joined(until)? {
            let failure = too_late(join.rank, &link.awaited(join.rank), timeout);
            // The others hear of it too, or one of them was first and says more.
            link.fail(failure.clone());
            return Err(link.failure().unwrap_or(failure));
        }
    }
    Ok(joins.into_iter().map(Join::into_communicator).collect())
}

fn too_late(rank: usize, awaited: &str, timeout: Duration) -> Failure {
    let text = format!("rank {rank} has waited for {} s (RTCG_NCCL_TIMEOUT) for {awaited}", timeout.as_secs());
    Failure::new(ncclResult_t::ncclRemoteError, text)
}

/// Runs calls to the driver with a context current.
pub(crate) fn in_context<T>(context: CUcontext, calls: impl FnOnce(Driver) -> Res<T>) -> Res<T> {
    let driver = driver()?;
    // SAFETY: the driver checks the handle.
    checked("cuCtxPushCurrent", unsafe { driver.table.cuCtxPushCurrent(context) })?;
    let outcome = calls(driver);
    let mut popped = CUcontext::null();
    // SAFETY: writes one handle.
    unsafe { driver.table.cuCtxPopCurrent(&raw mut popped) };
    outcome
}

/// The device that memory was allocated on; `None` where every device has it.
fn device_of_memory(driver: &Driver, address: u64) -> Option<c_int> {
    let ask = |attribute| {
        let mut value: c_int = 0;
        // SAFETY: any number may be asked about; one number is written.
        let code = unsafe { driver.table.cuPointerGetAttribute((&raw mut value).cast(), attribute, address) };
        (code == CUresult::CUDA_SUCCESS).then_some(value)
    };
    let is_of_device =
        ask(CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE)? == CUmemorytype::CU_MEMORYTYPE_DEVICE.0 as c_int;
    let is_managed = ask(CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED)? & 1 != 0;
    if is_of_device && !is_managed { ask(CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) } else { None }
}

#[derive(Debug)]
struct StreamOrder {
    event: CUevent,
    last_stream: Option<CUstream>,
}

/// One rank.
#[derive(Debug)]
pub(crate) struct Communicator {
    id: UniqueId,
    pub(crate) n_ranks: usize,
    pub(crate) rank: usize,
    pub(crate) context: CUcontext,
    pub(crate) device: c_int,
    link: Link,
    order: Mutex<StreamOrder>,
    /// Operations of its streams that are submitted and not finished.
    n_unfinished: Mutex<u64>,
    all_finished: Condvar,
    /// Operations that the program made, with their types.
    scaled_sums: Mutex<Vec<Option<(ncclDataType_t, u64)>>>,
    n_shrinks: AtomicU64,
    is_left: AtomicBool,
    is_suspended: AtomicBool,
}

/// Calls that are one operation of a stream.
#[derive(Debug)]
struct CallSet {
    communicator: Weak<Communicator>,
    calls: Vec<PlacedCall>,
}

/// A call with the places of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedCall {
    pub(crate) call: Call,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Communicator {
    /// Why it is good for nothing any more.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.link.failure()
    }

    /// What it waits for, as text.
    pub(crate) fn awaited(&self) -> String {
        self.link.awaited(self.rank)
    }

    /// Fails if nothing can be submitted any more.
    pub(crate) fn check_usable(&self) -> Res {
        if self.is_left.load(Ordering::Acquire) {
            return failed(ncclResult_t::ncclInvalidUsage, "the communicator was finalized");
        }
        if self.is_suspended() {
            return failed(ncclResult_t::ncclInvalidUsage, "the communicator is suspended");
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// Checks the memory of a call.
    pub(crate) fn check_memory(&self, placed: &PlacedCall) -> Res {
        let driver = driver()?;
        let sent = placed.call.sent_bytes(self.rank, self.n_ranks);
        let received = placed.call.received_bytes(self.rank, self.n_ranks);
        for (what, address, bytes) in [("send", placed.sent, sent), ("receive", placed.received, received)] {
            if bytes == 0 {
                continue;
            }
            let own = self.device;
            // SAFETY: any numbers may be asked about.
            let code = unsafe { (driver.work.access)(address, bytes, 0) };
            if code != CUresult::CUDA_SUCCESS || device_of_memory(&driver, address).is_some_and(|device| device != own)
            {
                let text = format!("the {what} buffer, {bytes} bytes at {address:#x}, is no memory of device {own}");
                return failed(ncclResult_t::ncclInvalidArgument, format!("{}: {text}", placed.call));
            }
        }
        Ok(())
    }

    /// Checks that what this rank sends to itself it receives, as NVIDIA's library does at the end of a group.
    fn check_transfers_to_self(&self, calls: &[PlacedCall]) -> Res {
        let n_of =
            |kind| calls.iter().filter(|placed| placed.call.kind == kind && placed.call.peer == self.rank).count();
        let (n_sent, n_received) = (n_of(Kind::Send), n_of(Kind::Recv));
        if n_sent == n_received {
            return Ok(());
        }
        let what =
            if n_sent > n_received { "sends to itself without a recv" } else { "receives from itself without a send" };
        let text = format!("rank {} {what} in the same group", self.rank);
        failed(ncclResult_t::ncclInvalidUsage, text)
    }

    /// Submits calls as one operation of the first of `streams`, before which all streams wait for each other, and
    /// which all wait for.
    pub(crate) fn submit(self: &Arc<Self>, calls: Vec<PlacedCall>, streams: &[CUstream]) -> Res {
        let stream = streams[0];
        self.check_transfers_to_self(&calls)?;
        in_context(self.context, |driver| {
            let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
            // SAFETY: the driver checks the handle and writes one number.
            checked("cuStreamIsCapturing", unsafe { driver.table.cuStreamIsCapturing(stream, &raw mut status) })?;
            let is_captured = status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
            let set = Arc::new(CallSet { communicator: Arc::downgrade(self), calls });
            let mut order = self.order.lock().ignore_poison();
            for other in &streams[1..] {
                self.order_streams(&driver, &mut order, *other, stream)?;
            }
            if is_captured {
                // Nobody says when the last graph that makes these calls is gone.
                let data = Arc::into_raw(set).cast_mut().cast();
                // SAFETY: the function knows the data, which lives for ever.
                checked("a collective", unsafe { (driver.work.submit)(stream, start_captured, data) })?;
            } else {
                if order.last_stream.is_some_and(|last| last != stream) {
                    // SAFETY: the event was recorded after the last operation.
                    let code = unsafe { driver.table.cuStreamWaitEvent(stream, order.event, 0) };
                    checked("cuStreamWaitEvent", code)?;
                }
                let data = Arc::into_raw(set);
                *self.n_unfinished.lock().ignore_poison() += 1;
                // SAFETY: the function takes the data, once.
                let code = unsafe { (driver.work.submit)(stream, start_once, data.cast_mut().cast()) };
                if code != CUresult::CUDA_SUCCESS {
                    // SAFETY: the data was not taken.
                    drop(unsafe { Arc::from_raw(data) });
                    self.note_finished();
                    checked("a collective", code)?;
                }
                self.make_event(&driver, &mut order)?;
                // SAFETY: the event is this communicator's.
                checked("cuEventRecord", unsafe { driver.table.cuEventRecord(order.event, stream) })?;
                order.last_stream = Some(stream);
            }
            for other in &streams[1..] {
                self.order_streams(&driver, &mut order, stream, *other)?;
            }
            Ok(())
        })
    }

    fn make_event(&self, driver: &Driver, order: &mut StreamOrder) -> Res {
        if !order.event.is_null() {
            return Ok(());
        }
        // SAFETY: writes one handle.
        checked("cuEventCreate", unsafe { driver.table.cuEventCreate(&raw mut order.event, EVENT_FLAGS) })
    }

    /// Lets what comes in `after` wait for what is in `before`.
    fn order_streams(&self, driver: &Driver, order: &mut StreamOrder, before: CUstream, after: CUstream) -> Res {
        self.make_event(driver, order)?;
        // SAFETY: the driver checks the streams.
        checked("cuEventRecord", unsafe { driver.table.cuEventRecord(order.event, before) })?;
        // SAFETY: as above.
        checked("cuStreamWaitEvent", unsafe { driver.table.cuStreamWaitEvent(after, order.event, 0) })
    }

    fn start(self: &Arc<Self>, calls: &[PlacedCall], operation: ExternalOperation) {
        let Some(driver) = DRIVER.get().copied() else { return };
        let outcome = Mutex::new((calls.len(), None));
        let batch = Arc::new(Batch { driver, communicator: self.clone(), operation, outcome });
        for placed in calls {
            let part = StreamPart { batch: batch.clone(), placed: *placed };
            match &self.link {
                Link::Local(clique) => clique.arrive(self.rank, placed.call, Box::new(part)),
                Link::Remote(link) => link.arrive(placed.call, Box::new(part)),
            }
        }
    }

    fn note_finished(&self) {
        let mut n = self.n_unfinished.lock().ignore_poison();
        *n -= 1;
        if *n == 0 {
            self.all_finished.notify_all();
        }
    }

    /// Waits for its operations, then leaves the clique.
    pub(crate) fn finalize(&self) {
        let mut n = self.n_unfinished.lock().ignore_poison();
        while *n > 0 {
            n = self.all_finished.wait(n).ignore_poison();
        }
        drop(n);
        if !self.is_left.swap(true, Ordering::AcqRel) {
            match &self.link {
                Link::Local(clique) => clique.leave(self.rank),
                Link::Remote(link) => link.leave(),
            }
        }
    }

    /// Ends the communicator for all ranks, now.
    pub(crate) fn abort(&self) {
        if self.is_left.swap(true, Ordering::AcqRel) {
            return;
        }
        let text = format!("rank {} has aborted its communicator", self.rank);
        self.link.fail(Failure::new(ncclResult_t::ncclRemoteError, text));
        if let Link::Remote(link) = &self.link {
            link.leave();
        }
    }

    /// Ends its work, for all ranks, and keeps what a communicator with fewer ranks is made of.
    pub(crate) fn revoke(&self) {
        let text = format!("rank {} has revoked its communicator", self.rank);
        self.link.fail(Failure::new(ncclResult_t::ncclRemoteError, text));
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Acquire)
    }

    pub(crate) fn set_suspended(&self, suspended: bool) -> Res {
        if self.is_suspended.swap(suspended, Ordering::AcqRel) == suspended {
            let text = if suspended { "the communicator is suspended" } else { "the communicator is not suspended" };
            return failed(ncclResult_t::ncclInvalidUsage, text);
        }
        Ok(())
    }

    /// Begins a split; the reply comes when all ranks have begun it.
    pub(crate) fn begin_split(&self, wish: SplitWish) -> Res<Receiver<Res<Option<SplitPlace>>>> {
        self.check_usable()?;
        let seed = random_bytes().map_err(|error| system_failure("/dev/urandom", &error))?;
        let (to, from) = channel();
        let reply = Box::new(move |place| {
            let _ = to.send(place);
        });
        match &self.link {
            Link::Local(clique) => clique.split(self.rank, wish, seed, reply),
            Link::Remote(link) => link.split(wish, seed, reply),
        }
        Ok(from)
    }

    /// The place in the communicator that a split makes; `None` for a rank without a colour.
    pub(crate) fn end_split(&self, reply: &Receiver<Res<Option<SplitPlace>>>) -> Res<Option<Join>> {
        let timeout = join_timeout()?;
        let place = reply.recv_timeout(timeout).map_err(|error| match error {
            RecvTimeoutError::Timeout => too_late(self.rank, &self.awaited(), timeout),
            RecvTimeoutError::Disconnected => {
                Failure::new(ncclResult_t::ncclRemoteError, "the communicator has ended in a split")
            }
        })??;
        let join = |place: SplitPlace| {
            let id = UniqueId::from_seed(place.seed);
            Join::new(id, place.n_ranks as c_int, place.rank as c_int, self.context)
        };
        place.map(join).transpose()
    }

    /// The place in a communicator without some ranks.
    pub(crate) fn shrink(&self, excluded: &[usize]) -> Res<Join> {
        let mut excluded = excluded.to_vec();
        excluded.sort_unstable();
        excluded.dedup();
        if excluded.iter().any(|rank| *rank >= self.n_ranks) || excluded.is_empty() {
            let text = format!("ranks {excluded:?} cannot be excluded from {} ranks", self.n_ranks);
            return failed(ncclResult_t::ncclInvalidArgument, text);
        }
        if excluded.contains(&self.rank) {
            let text = format!("rank {} is excluded and cannot take part", self.rank);
            return failed(ncclResult_t::ncclInvalidArgument, text);
        }
        let number = self.n_shrinks.fetch_add(1, Ordering::Relaxed);
        let seed = self.id.derived_seed(std::iter::once(number).chain(excluded.iter().map(|rank| *rank as u64)));
        let before = excluded.iter().filter(|rank| **rank < self.rank).count();
        let (n_ranks, rank) = (self.n_ranks - excluded.len(), self.rank - before);
        Join::new(UniqueId::from_seed(seed), n_ranks as c_int, rank as c_int, self.context)
    }

    /// Makes an operation that multiplies by a factor, given by its bits, before it adds.
    pub(crate) fn make_scaled_sum(&self, dtype: ncclDataType_t, factor: u64) -> ncclRedOp_t {
        let mut sums = self.scaled_sums.lock().ignore_poison();
        let free = sums.iter().position(Option::is_none).unwrap_or(sums.len());
        if free == sums.len() {
            sums.push(None);
        }
        sums[free] = Some((dtype, factor));
        ncclRedOp_t(NCCL_NUM_OPS + free as u32)
    }

    /// The type and the factor of such an operation.
    pub(crate) fn scaled_sum(&self, op: ncclRedOp_t) -> Option<(ncclDataType_t, u64)> {
        let index = op.0.checked_sub(NCCL_NUM_OPS)? as usize;
        self.scaled_sums.lock().ignore_poison().get(index).copied().flatten()
    }

    /// Forgets it. Operations that were submitted have what they need.
    pub(crate) fn remove_scaled_sum(&self, op: ncclRedOp_t) -> bool {
        let mut sums = self.scaled_sums.lock().ignore_poison();
        let index = op.0.checked_sub(NCCL_NUM_OPS).map(|index| index as usize);
        index.and_then(|index| sums.get_mut(index)).and_then(Option::take).is_some()
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let event = self.order.get_mut().ignore_poison().event;
        if !event.is_null() {
            let _ = in_context(self.context, |driver| {
                // SAFETY: the event is this communicator's, which is used no more.
                checked("cuEventDestroy", unsafe { driver.table.cuEventDestroy(event) })
            });
        }
    }
}

/// Starts calls that run once.
unsafe extern "C" fn start_once(data: *mut c_void, operation: ExternalOperation) {
    // SAFETY: given by `submit`, for this one call.
    let set = unsafe { Arc::from_raw(data.cast_const().cast::<CallSet>()) };
    start(&set, operation);
}

/// Starts calls that a graph makes each time.
unsafe extern "C" fn start_captured(data: *mut c_void, operation: ExternalOperation) {
    // SAFETY: given by `submit`, and never freed.
    let set = unsafe { &*data.cast_const().cast::<CallSet>() };
    if let Some(communicator) = set.communicator.upgrade() {
        *communicator.n_unfinished.lock().ignore_poison() += 1;
    }
    start(set, operation);
}

fn start(set: &CallSet, operation: ExternalOperation) {
    let run = || match set.communicator.upgrade() {
        Some(communicator) => communicator.start(&set.calls, operation),
        // Whoever destroyed it knows.
        None => complete(operation, None),
    };
    // The stream's thread is the driver's.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
}

fn complete(operation: ExternalOperation, failure: Option<&str>) {
    let Some(driver) = DRIVER.get() else { return };
    let text = failure.map(|text| CString::new(format!("NCCL: {text}")).unwrap_or_default());
    let code = if failure.is_some() { CUresult::CUDA_ERROR_EXTERNAL_DEVICE } else { CUresult::CUDA_SUCCESS };
    let detail = text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
    // SAFETY: the operation is started, and is completed here only.
    unsafe { (driver.work.complete)(operation, code, detail) };
}

/// The calls of one operation, which is finished with the last of them.
#[derive(Debug)]
struct Batch {
    driver: Driver,
    communicator: Arc<Communicator>,
    operation: ExternalOperation,
    /// Parts that are not finished, and what became of the first that failed.
    outcome: Mutex<(usize, Option<Failure>)>,
}

/// A part whose data lies in this process.
struct StreamPart {
    batch: Arc<Batch>,
    placed: PlacedCall,
}

impl Part for StreamPart {
    fn begin(&mut self) -> Result<Data, String> {
        let Batch { driver, communicator, operation, .. } = &*self.batch;
        // SAFETY: not finished before all its parts are.
        if unsafe { (driver.work.is_dropped)(*operation) } != 0 {
            return Err("its context was interrupted, or failed".into());
        }
        let PlacedCall { call, sent, received } = self.placed;
        let n_sent = call.sent_bytes(communicator.rank, communicator.n_ranks);
        let n_received = call.received_bytes(communicator.rank, communicator.n_ranks);
        for (address, bytes, writes) in [(sent, n_sent, 0), (received, n_received, 1)] {
            // SAFETY: any numbers may be asked about.
            if bytes != 0 && unsafe { (driver.work.access)(address, bytes, writes) } != CUresult::CUDA_SUCCESS {
                return Err(format!("{call} uses {bytes} bytes at {address:#x}, which were freed"));
            }
        }
        let received = std::ptr::with_exposed_provenance_mut(received as usize);
        Ok(Data { sent: std::ptr::with_exposed_provenance(sent as usize), received })
    }

    fn finish(self: Box<Self>, outcome: Result<(), Failure>) {
        let mut state = self.batch.outcome.lock().ignore_poison();
        state.0 -= 1;
        if let Err(failure) = outcome {
            state.1.get_or_insert(failure);
        }
        if state.0 > 0 {
            return;
        }
        let failure = state.1.take();
        drop(state);
        // A rank that has aborted its communicator knows.
        let failure = failure.filter(|_| !self.batch.communicator.is_left.load(Ordering::Acquire));
        complete(self.batch.operation, failure.as_ref().map(|failure| failure.text.as_str()));
        self.batch.communicator.note_finished();
    }
}
