//! Threads that run blocks: the caller of a launch and the persistent helpers.
//!
//! Establishes: one helper per further core (`RTCG_WORKERS` names the total). A job is offered to
//! the helpers when it is likely to take longer than waking them; the caller always takes part
//! and returns only when no helper is in the job any more, so a job may live on its stack.

use super::grid_job::{GridJob, LaunchConfig, ParamSlot};
use super::launch::CancelFlag;
use super::runtime_calls::printf;
use super::{interrupt, resident_blocks, serial_blocks, signals};
use crate::arch;
use crate::program::Program;
use crate::stack::StackPool;
use rtcg_vgpu_abi::IgnorePoison;
use rtcg_vgpu_abi::fault::{Fault, FaultKind};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// Work that is expected to take less runs on the caller alone.
const MIN_PARALLEL_NS: u64 = 8_000;
/// What a thread of an unknown kernel is assumed to cost.
const NS_PER_THREAD: u64 = 2;
/// One in so many launches of a single block is timed.
const TIMING_INTERVAL: u64 = 16;
/// Spins before a waiting thread sleeps.
const MAX_SPINS: u32 = 1_000;

/// What a thread keeps from launch to launch.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) index: u32,
    pub(crate) stacks: StackPool,
}

thread_local!(static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) });

/// Calls `f` with this thread's worker state.
fn with_worker<R>(index: u32, f: impl FnOnce(&mut Worker) -> R) -> R {
    // Taken out rather than borrowed, so that a launch from within (which should not happen) finds none.
    let mut worker = WORKER.take().unwrap_or_else(|| Worker { index, stacks: StackPool::default() });
    worker.index = index;
    let result = f(&mut worker);
    WORKER.set(Some(worker));
    result
}

/// Runs a grid to its end.
///
/// # Errors
/// The first fault.
pub fn run_program(program: &Program, shape: LaunchConfig, params: &[u8], cancel: &CancelFlag) -> Result<(), Fault> {
    run_program_in_generation(program, shape, params, cancel, cancel.interrupt_generation())
}

/// [`run_program`] for a launch that was begun when the flag was in generation `generation`.
pub fn run_program_in_generation(
    program: &Program,
    shape: LaunchConfig,
    params: &[u8],
    cancel: &CancelFlag,
    generation: u64,
) -> Result<(), Fault> {
    signals::install_fault_handlers();
    let out_of_memory = |e| Fault::launch_fault(FaultKind::OutOfMemory, &program.name, format!("{e}"));
    let slot = ParamSlot::new(params).map_err(out_of_memory)?;
    // Two grids that each want all of their blocks resident could wait for each other's room.
    static COOPERATIVE_LAUNCH_LOCK: Mutex<()> = Mutex::new(());
    let job = GridJob::new(program, shape, &slot, n_workers(), cancel);
    let watch = cancel.watch_launch(&job.stop, job.grid_id, &program.name, generation);
    let _alone = shape.cooperative.then(|| wait_for_lock(&COOPERATIVE_LAUNCH_LOCK, &job)).flatten();
    if !job.is_stopped() {
        run_job(&job);
    }
    printf::flush_output();
    drop(watch);
    job.launch_outcome()
}

/// The lock; `None` when the job was stopped while it waited.
fn wait_for_lock<'a>(mutex: &'a Mutex<()>, job: &GridJob<'_>) -> Option<MutexGuard<'a, ()>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if job.is_stopped() => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(100)),
        }
        if job.interrupt_check_requested() {
            job.check_interrupt();
        }
    }
}

fn run_job(job: &GridJob<'_>) {
    let per_block = match job.program.ns_per_block.load(Ordering::Relaxed) {
        0 => u64::from(job.threads) * NS_PER_THREAD,
        ns => u64::from(ns),
    };
    let worth = job.total > 1 && !job.caller_only && per_block.saturating_mul(job.total) > MIN_PARALLEL_NS;
    let first = job.claim_blocks();
    if worth && let Some(helpers) = HelperThreads::process_helpers() {
        helpers.offer_job(job);
        let start = Instant::now();
        let done = run_blocks(job, 0, first);
        record_block_time(job, start, done);
        helpers.withdraw_job(job);
    } else {
        // Reading the clock costs a tenth of an empty launch, so single blocks are timed now and then.
        let known = job.program.ns_per_block.load(Ordering::Relaxed) != 0;
        let skipped = known && job.total == 1 && !job.grid_id.is_multiple_of(TIMING_INTERVAL);
        let start = (!skipped).then(Instant::now);
        let done = run_blocks(job, 0, first);
        if let Some(start) = start {
            record_block_time(job, start, done);
        }
    }
    if job.program.awaits_optimized() {
        count_time(job);
    }
}

/// Keeps a running mean of the time of a block, from the `done` blocks of this thread.
fn record_block_time(job: &GridJob<'_>, start: Instant, done: u64) {
    if job.is_stopped() || done == 0 {
        return;
    }
    let spent = start.elapsed().as_nanos() as u64;
    let ns = (spent / done).clamp(1, u64::from(u32::MAX));
    let old = u64::from(job.program.ns_per_block.load(Ordering::Relaxed));
    let new = if old == 0 { ns } else { (3 * old + ns) / 4 };
    job.program.ns_per_block.store(new.max(1) as u32, Ordering::Relaxed);
}

/// Tells a program of the first tier about the time of a launch.
fn count_time(job: &GridJob<'_>) {
    let per_block = u64::from(job.program.ns_per_block.load(Ordering::Relaxed));
    job.program.add_time(per_block.saturating_mul(job.total));
}

/// Runs blocks on this thread until there is none left; how many it ran.
fn run_blocks(job: &GridJob<'_>, index: u32, first: Range<u64>) -> u64 {
    let mode = arch::set_default_float_mode();
    let done = with_worker(index, |worker| {
        if job.program.suspends {
            resident_blocks::run_resident_blocks(job, worker, first)
        } else {
            serial_blocks::run_blocks_serially(job, worker, first)
        }
    });
    arch::restore_float_mode(mode);
    done
}

/// Threads that run a large grid, the caller included.
pub(crate) fn n_workers() -> usize {
    static WORKER_COUNT: OnceLock<usize> = OnceLock::new();
    *WORKER_COUNT.get_or_init(|| {
        let wanted = rtcg_vgpu_abi::env::env_setting("RTCG_WORKERS", "a number of threads", |text| text.parse().ok());
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        wanted.unwrap_or_else(cores).clamp(1, 1024)
    })
}

/// A job that helpers may join. The pointer is valid while the job is in the list or has helpers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct JobOffer(*const GridJob<'static>);
// SAFETY: `GridJob` is `Sync`; the list's protocol keeps it alive (see `HelperThreads::withdraw_job`).
unsafe impl Send for JobOffer {}

struct HelperThreads {
    offers: Mutex<Vec<JobOffer>>,
    wake: Condvar,
    /// Changes with every offer, so that helpers can spin on it before they sleep.
    generation: AtomicU32,
    n: usize,
    process: u32,
}

impl HelperThreads {
    /// The helpers of this process; `None` when there are none (a single core, or a forked child,
    /// which has only the thread that forked).
    fn process_helpers() -> Option<&'static HelperThreads> {
        static HELPER_THREADS: OnceLock<Option<&'static HelperThreads>> = OnceLock::new();
        let helpers = (*HELPER_THREADS.get_or_init(HelperThreads::start_helper_threads))?;
        (helpers.process == std::process::id()).then_some(helpers)
    }

    fn start_helper_threads() -> Option<&'static HelperThreads> {
        let n = n_workers() - 1;
        if n == 0 {
            return None;
        }
        let helpers: &'static HelperThreads = Box::leak(Box::new(HelperThreads {
            offers: Mutex::new(Vec::new()),
            wake: Condvar::new(),
            generation: AtomicU32::new(0),
            n,
            process: std::process::id(),
        }));
        let started = (1..=n).filter(|&i| {
            let name = format!("rtcg-worker-{i}");
            std::thread::Builder::new().name(name).spawn(move || helpers.helper_loop(i as u32)).is_ok()
        });
        (started.count() > 0).then_some(helpers)
    }

    fn lock_offers(&self) -> MutexGuard<'_, Vec<JobOffer>> {
        self.offers.lock().ignore_poison()
    }

    fn offer_job(&self, job: &GridJob<'_>) {
        let mut offers = self.lock_offers();
        offers.push(JobOffer(std::ptr::from_ref(job).cast()));
        // Under the lock, or a helper that is about to sleep could miss it.
        self.generation.fetch_add(1, Ordering::Release);
        drop(offers);
        if job.total > self.n as u64 {
            self.wake.notify_all();
        } else {
            (1..job.total).for_each(|_| self.wake.notify_one());
        }
    }

    /// Takes the job off the list and waits for the helpers that are in it.
    fn withdraw_job(&self, job: &GridJob<'_>) {
        let this = JobOffer(std::ptr::from_ref(job).cast());
        self.lock_offers().retain(|o| *o != this);
        // From here on no helper can enter.
        let mut spins = 0;
        while job.helpers.load(Ordering::Acquire) != 0 {
            spins += 1;
            if spins < MAX_SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::park_timeout(interrupt::CHECK_INTERVAL);
                if job.interrupt_check_requested() {
                    job.check_interrupt();
                }
            }
        }
    }

    fn helper_loop(&self, index: u32) {
        interrupt::mark_internal_thread();
        signals::block_asynchronous_signals();
        signals::install_fault_handlers();
        loop {
            let JobOffer(job) = self.wait_for_job();
            // SAFETY: `wait_for_job` has counted this helper in under the lock, and the caller does not
            // leave `withdraw_job` before it is counted out.
            let job = unsafe { &*job };
            let first = job.claim_blocks();
            if !first.is_empty() {
                run_blocks(job, index, first);
            }
            let caller = job.caller.clone();
            if job.helpers.fetch_sub(1, Ordering::AcqRel) == 1 {
                caller.unpark();
            }
        }
    }

    /// The next job with blocks left; this helper is counted in.
    fn wait_for_job(&self) -> JobOffer {
        loop {
            let seen = self.generation.load(Ordering::Acquire);
            if let Some(offer) = self.join_job(&self.lock_offers()) {
                return offer;
            }
            let mut spins = 0;
            while spins < MAX_SPINS && self.generation.load(Ordering::Relaxed) == seen {
                std::hint::spin_loop();
                spins += 1;
            }
            let mut offers = self.lock_offers();
            while self.generation.load(Ordering::Acquire) == seen {
                offers = self.wake.wait(offers).ignore_poison();
            }
        }
    }

    fn join_job(&self, offers: &MutexGuard<'_, Vec<JobOffer>>) -> Option<JobOffer> {
        // SAFETY: jobs in the list are alive, and the list is locked.
        let open = offers.iter().find(|o| unsafe { (*o.0).has_unclaimed_blocks() })?;
        // SAFETY: the job was found in the list, which is still locked, so it is alive.
        unsafe { (*open.0).helpers.fetch_add(1, Ordering::AcqRel) };
        Some(*open)
    }
}
