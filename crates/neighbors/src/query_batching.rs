//! Batches the queries of several threads: one thread searches for all that wait, then hands over to a thread that came
//! meanwhile, and wakes those it searched for.
//!
//! Each thread waits on its own condition variable and needs nothing else meanwhile; results are copied to the host in
//! one copy. The thread that asks checks its queries, so that errors in them are its own. If a search fails, the thread
//! that did it gets the error, and another one searches for the rest. No lock is held during a search.

use crate::vectors::Vectors;
use crate::{HostNeighbors, Index, Neighbors};
use rtcg_array::{GpuArray, Index as At, Order};
use rtcg_hal::{ArrayError, DType, Result, lock_ignoring_poison};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest wait for threads that asked a moment before, which is at most half of what the last search took.
const MAX_GATHERING: Duration = Duration::from_micros(500);

/// Points that many threads search at once.
#[derive(Debug)]
pub struct BatchingIndex {
    index: Index,
    process: u32,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Arc<Request>>,
    /// Whether a thread searches, or is told to.
    is_busy: bool,
    /// Requests that may come together: those of the last search, and what came while it ran.
    expected: usize,
    gathering: Duration,
}

#[derive(Debug)]
struct Request {
    queries: Queries,
    count: usize,
    k: usize,
    is_host: bool,
    slot: Mutex<Slot>,
    woken: Condvar,
}

/// Finite queries of the dtype in which they are searched.
#[derive(Debug)]
enum Queries {
    Host(Vec<u8>),
    Device(GpuArray),
}

#[derive(Debug, Default)]
struct Slot {
    /// Whether this thread searches for all that wait.
    leads: bool,
    /// Whether the thread has gone, interrupted.
    is_dropped: bool,
    outcome: Option<Result<Answer>>,
}

/// The results of one thread: rows of a batched search, which was copied to the host once for all threads.
#[derive(Debug, Clone)]
pub struct Answer {
    found: Arc<(Neighbors, Option<Vec<u8>>)>,
    rows: Range<usize>,
}

/// A requested search. Dropping it early discards the thread's results and does not affect others.
#[derive(Debug)]
pub struct Ticket<'a> {
    batching: &'a BatchingIndex,
    request: Arc<Request>,
}

/// The requests of a search that runs. After an error or a panic, which is the outcome of this thread alone, another
/// one searches for the rest.
struct Batch<'a> {
    batching: &'a BatchingIndex,
    /// The place of the request of the thread that searches.
    own: usize,
    requests: Vec<Arc<Request>>,
    outcomes: Vec<Option<Result<Answer>>>,
    start: Instant,
}

impl BatchingIndex {
    /// Makes an index whose searches are batching.
    pub fn new(index: Index) -> Self {
        let (state, arrived) = (Mutex::default(), Condvar::new());
        Self { index, process: std::process::id(), state, arrived }
    }

    /// The underlying index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// [`Index::search`], batched with those of other threads. Waits.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn search(&self, queries: &GpuArray, k: usize) -> Result<Neighbors> {
        self.ask(queries, k, false)?.wait()?.on_device()
    }

    /// Finds the `k` points nearest to each float32 query on the host, one per row. Waits.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn search_host(&self, queries: &[f32], k: usize) -> Result<HostNeighbors> {
        Ok(self.ask_host(queries, k, true)?.wait()?.on_host())
    }

    /// Requests a search for queries on the device; `is_host` says whether results are needed on the host. Waits for
    /// the check of the queries.
    ///
    /// # Errors
    /// As [`Index::search`], for wrong arguments.
    pub fn ask(&self, queries: &GpuArray, k: usize, is_host: bool) -> Result<Ticket<'_>> {
        self.index.check_k(k)?;
        let queries = self.index.stored_queries(queries)?;
        queries.check_finite("queries")?;
        let count = queries.count();
        self.enqueue(Queries::Device(queries.array), count, k, is_host)
    }

    /// [`BatchingIndex::ask`] for float32 queries on the host, one per row. Does not wait.
    ///
    /// # Errors
    /// As [`Index::search`], for wrong arguments.
    pub fn ask_host(&self, queries: &[f32], k: usize, is_host: bool) -> Result<Ticket<'_>> {
        let dimensions = self.index.dimensions();
        if !queries.len().is_multiple_of(dimensions) {
            let message = format!("queries has {} numbers; expected a multiple of {dimensions}", queries.len());
            return Err(ArrayError::value_error(message));
        }
        self.index.check_k(k)?;
        if let Some(i) = queries.iter().position(|x| !x.is_finite()) {
            let message = format!("queries[{}] has NaN or infinity; expected finite numbers", i / dimensions);
            return Err(ArrayError::value_error(message));
        }
        let bytes = match self.index.query_dtype() {
            DType::F64 => queries.iter().flat_map(|&x| f64::from(x).to_ne_bytes()).collect(),
            _ => queries.iter().flat_map(|x| x.to_ne_bytes()).collect(),
        };
        self.enqueue(Queries::Host(bytes), queries.len() / dimensions, k, is_host)
    }

    fn enqueue(&self, queries: Queries, count: usize, k: usize, is_host: bool) -> Result<Ticket<'_>> {
        rtcg_hal::deferred::check_host_read_allowed()?;
        let (slot, woken) = (Mutex::default(), Condvar::new());
        let request = Arc::new(Request { queries, count, k, is_host, slot, woken });
        if std::process::id() != self.process {
            // After a fork, the thread that would search may not be there.
            let answer = self.search_for(std::slice::from_ref(&request))?.remove(0);
            lock_ignoring_poison(&request.slot).outcome = Some(Ok(answer));
            return Ok(Ticket { batching: self, request });
        }
        let mut state = lock_ignoring_poison(&self.state);
        state.waiting.push(request.clone());
        if !state.is_busy {
            state.is_busy = true;
            lock_ignoring_poison(&request.slot).leads = true;
        } else if state.waiting.len() >= state.expected {
            self.arrived.notify_one();
        }
        drop(state);
        Ok(Ticket { batching: self, request })
    }

    /// Searches for all that wait for as many neighbours as `own`, which is one of them.
    fn lead(&self, own: &Arc<Request>) {
        let mut state = lock_ignoring_poison(&self.state);
        let (expected, gathering) = (state.expected, state.gathering);
        if state.waiting.len() < expected {
            let is_few = |state: &mut State| state.waiting.len() < expected;
            let waited = self.arrived.wait_timeout_while(state, gathering, is_few);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let waiting = std::mem::take(&mut state.waiting);
        let (requests, others): (Vec<_>, _) = waiting.into_iter().partition(|request| request.k == own.k);
        state.waiting = others;
        drop(state);
        let outcomes = requests.iter().map(|_| None).collect();
        let Some(own) = requests.iter().position(|request| Arc::ptr_eq(request, own)) else {
            unreachable!("the request of a thread that leads waits until it is searched");
        };
        let mut batch = Batch { batching: self, own, requests, outcomes, start: Instant::now() };
        batch.search();
    }

    /// Lets a thread that waits search for all that do.
    fn hand_on(state: &mut State) {
        state.is_busy = !state.waiting.is_empty();
        if let Some(request) = state.waiting.first() {
            lock_ignoring_poison(&request.slot).leads = true;
            request.woken.notify_one();
        }
    }

    /// One search of requests with the same `k`.
    fn search_for(&self, requests: &[Arc<Request>]) -> Result<Vec<Answer>> {
        let (queries, order) = self.joined(requests)?;
        let found = self.index.search_stored(&queries, requests[0].k)?;
        let host = if requests.iter().any(|request| request.is_host) {
            Some(found.read()?)
        } else {
            // Other threads may have other streams.
            queries.check_finite("queries")?;
            None
        };
        let (found, mut first) = (Arc::new((found, host)), 0);
        let mut answers = vec![Answer { found, rows: 0..0 }; requests.len()];
        for i in order {
            answers[i].rows = first..first + requests[i].count;
            first = answers[i].rows.end;
        }
        Ok(answers)
    }

    /// All queries in one array, and the order of their requests: those of the host are copied together.
    fn joined(&self, requests: &[Arc<Request>]) -> Result<(Vectors, Vec<usize>)> {
        let dtype = self.index.query_dtype();
        let vectors = |array: &GpuArray| Vectors::new("queries", array, dtype);
        if let [Request { queries: Queries::Device(array), .. }] = requests.iter().map(|r| &**r).collect::<Vec<_>>()[..]
        {
            return Ok((vectors(array)?, vec![0]));
        }
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|&i| matches!(requests[i].queries, Queries::Device(_)));
        let count = requests.iter().map(|request| request.count).sum();
        let ctx = self.index.vectors().context();
        let all = GpuArray::empty(ctx, &[count, self.index.dimensions()], dtype, Order::C)?;
        let rows =
            |rows: Range<usize>| all.index(&[At::Slice(Some(rows.start as isize), Some(rows.end as isize), None)]);
        let (mut bytes, mut first) = (Vec::new(), 0);
        for &i in &order {
            let end = first + requests[i].count;
            match &requests[i].queries {
                Queries::Host(host) => bytes.extend_from_slice(host),
                Queries::Device(array) => rows(first..end)?.assign(array)?,
            }
            first = end;
        }
        let of_host = bytes.len() / (self.index.dimensions() * dtype.itemsize());
        rows(0..of_host)?.write(&bytes, Order::C)?;
        Ok((vectors(&all)?, order))
    }
}

impl Batch<'_> {
    fn search(&mut self) {
        match self.batching.search_for(&self.requests) {
            Ok(answers) => self.outcomes = answers.into_iter().map(|answer| Some(Ok(answer))).collect(),
            Err(error) => self.outcomes[self.own] = Some(Err(error)),
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let panicked = || Err(ArrayError::runtime_error(std::io::Error::other("a batched search panicked")));
        self.outcomes[self.own].get_or_insert_with(panicked);
        let mut state = lock_ignoring_poison(&self.batching.state);
        state.expected = self.requests.len() + state.waiting.len();
        // What failed is the failure of the thread that searched, such as its interrupt: others are searched by another.
        let left = self
            .requests
            .iter()
            .zip(&self.outcomes)
            .filter(|(request, outcome)| outcome.is_none() && !lock_ignoring_poison(&request.slot).is_dropped);
        let left: Vec<_> = left.map(|(request, _)| request.clone()).collect();
        state.waiting.splice(0..0, left);
        state.gathering = (self.start.elapsed() / 2).min(MAX_GATHERING);
        // The next search runs while these threads wake.
        BatchingIndex::hand_on(&mut state);
        drop(state);
        for (request, outcome) in self.requests.iter().zip(&mut self.outcomes) {
            if let Some(outcome) = outcome.take() {
                lock_ignoring_poison(&request.slot).outcome = Some(outcome);
                request.woken.notify_one();
            }
        }
    }
}

impl Ticket<'_> {
    /// Waits for the search, which this thread may run for all that wait.
    ///
    /// # Errors
    /// When the device fails.
    pub fn wait(self) -> Result<Answer> {
        loop {
            if let Some(outcome) = self.wait_timeout(Duration::from_secs(3600)) {
                return outcome;
            }
        }
    }

    /// [`Ticket::wait`] with a timeout while other threads search; returns `None` on timeout. The outcome can be taken
    /// once.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<Result<Answer>> {
        let is_waiting = |slot: &mut Slot| slot.outcome.is_none() && !slot.leads;
        loop {
            let waited =
                self.request.woken.wait_timeout_while(lock_ignoring_poison(&self.request.slot), timeout, is_waiting);
            let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
            if slot.outcome.is_some() || !slot.leads {
                return slot.outcome.take();
            }
            slot.leads = false;
            drop(slot);
            self.batching.lead(&self.request);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = lock_ignoring_poison(&self.batching.state);
        state.waiting.retain(|other| !Arc::ptr_eq(other, &self.request));
        let mut slot = lock_ignoring_poison(&self.request.slot);
        slot.is_dropped = true;
        let led = std::mem::take(&mut slot.leads);
        drop(slot);
        if led {
            BatchingIndex::hand_on(&mut state);
        }
    }
}

impl Answer {
    /// Distances and indices on the device, as views of the batched results.
    ///
    /// # Errors
    /// None at present.
    pub fn on_device(&self) -> Result<Neighbors> {
        self.found.0.rows(&self.rows)
    }

    /// Distances and indices on the host, without a device call.
    ///
    /// # Panics
    /// When they were not requested on the host.
    pub fn on_host(&self) -> HostNeighbors {
        let (found, bytes) = &*self.found;
        found.host_rows(bytes.as_ref().expect("results were asked for on the host"), &self.rows)
    }
}
