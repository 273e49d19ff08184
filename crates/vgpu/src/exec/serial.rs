//! Kernels that never wait: block after block, warp after warp, on one fiber.

use super::fiber::{Fiber, Guard, Ran, Warp};
use super::job::{Job, NoSpan, set_local};
use super::report;
use super::slots::{self, Slot};
use super::worker::Worker;
use std::ops::Range;

/// What the fiber's loop needs besides the warp.
struct Loop<'a> {
    job: &'a Job<'a>,
    /// Blocks still to run of those that were taken.
    blocks: Range<u64>,
    done: u64,
}

/// Memory that one serial run holds; given back when dropped.
struct Held {
    local: Option<Slot>,
    shared: Option<Slot>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(s) = self.local.take() {
            slots::LOCAL.give(s);
        }
        if let Some(s) = self.shared.take() {
            slots::SHARED.give(s);
        }
    }
}

/// Runs blocks of `job` until none is left or the job is stopped. `first` are blocks that the
/// caller has taken already. How many this thread ran.
pub(crate) fn run(job: &Job<'_>, worker: &mut Worker, first: Range<u64>) -> u64 {
    let Some(held) = take_memory(job) else { return 0 };
    let mut warp = job.new_warp(worker.index);
    set_local(&mut warp.ctx, held.local);
    if let Some(s) = held.shared {
        warp.ctx.shared = s.start as *mut u8;
    }
    let Some(stack) = worker.stacks.take(job.stack_bytes()) else {
        job.fail_memory("the stack of a warp");
        return 0;
    };
    let mut state = Loop { job, blocks: first, done: 0 };
    let data = (&raw mut state).cast();
    // SAFETY: `warp`, `state` and the job's program outlive the fiber, which ends below;
    // `run_loop` owns nothing.
    let mut fiber = unsafe {
        let place = &raw const warp.ring.next_place;
        Fiber::new(stack, job.program, &raw mut warp, place, run_loop, data)
    };
    // SAFETY: a thread's guard lives as long as the thread.
    let guard = unsafe { &*Guard::of_thread() };
    let mut ran = fiber.resume(guard);
    while ran == Ran::Asked {
        job.answer();
        ran = fiber.resume(guard);
    }
    worker.stacks.give(fiber.into_stack());
    if let Ran::Signal(info) = ran {
        job.fail(report::of_signal(job, &warp, info));
    }
    state.done
}

fn take_memory(job: &Job<'_>) -> Option<Held> {
    let local = job.take_local()?;
    let mut held = Held { local, shared: None };
    loop {
        match job.take_shared() {
            Ok(shared) => {
                held.shared = shared;
                return Some(held);
            }
            Err(NoSpan::Failed) => return None,
            Err(NoSpan::Busy) if job.stopped() => return None,
            Err(NoSpan::Busy) => std::thread::yield_now(),
        }
    }
}

/// The fiber's body.
///
/// # Safety
/// `data` points to a `Loop`, both pointers are valid while it runs.
unsafe fn run_loop(warp: *mut Warp, data: *mut ()) {
    // SAFETY: the caller's contract.
    let state = unsafe { &mut *data.cast::<Loop<'_>>() };
    let job = state.job;
    loop {
        if state.blocks.is_empty() {
            state.blocks = job.take_blocks();
            if state.blocks.is_empty() {
                return;
            }
        }
        let mut ctaid = job.ctaid(state.blocks.start);
        while !state.blocks.is_empty() && !job.stopped() {
            // SAFETY: `warp` is valid, and no reference to it is alive while compiled code runs.
            unsafe { run_block(job, warp, ctaid) };
            state.blocks.start += 1;
            state.done += 1;
            if job.is_asked() {
                // SAFETY: on the warp's own fiber; nothing here needs dropping.
                unsafe { (*warp).pause_if_caller() };
            }
            advance(&mut ctaid, &job.shape.grid);
        }
        if job.stopped() {
            return;
        }
    }
}

/// # Safety
/// As [`run_loop`].
unsafe fn run_block(job: &Job<'_>, warp: *mut Warp, ctaid: [u32; 3]) {
    // SAFETY: `warp` is valid; `entry` is compiled code that runs on this fiber.
    unsafe {
        (*warp).ctx.ctaid = ctaid;
        let local = (*warp).ctx.local_sp;
        job.block_begins((*warp).ctx.shared as usize);
        for i in 0..job.n_warps {
            job.place_warp(&mut *warp, i);
            (job.program.entry)(&raw mut (*warp).ctx);
            (*warp).ctx.local_sp = local;
        }
    }
}

/// The next block: x counts fastest.
fn advance(ctaid: &mut [u32; 3], grid: &[u32; 3]) {
    for d in 0..3 {
        ctaid[d] += 1;
        if ctaid[d] < grid[d] {
            return;
        }
        ctaid[d] = 0;
    }
}
