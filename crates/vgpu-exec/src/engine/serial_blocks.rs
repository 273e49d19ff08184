//! Kernels that never wait: block after block, warp after warp, on one fiber.

use super::fault_report;
use super::fiber::{Fiber, FiberResult, ThreadFiberState, Warp};
use super::grid_job::{GridJob, SharedMemoryUnavailable, multiprocessor_of_block, set_local_memory};
use super::memory_slots::{self, MemorySlot};
use super::worker::Worker;
use std::ops::Range;

/// What the fiber's loop needs besides the warp.
struct SerialLoop<'a> {
    job: &'a GridJob<'a>,
    /// Blocks still to run of those that were taken.
    blocks: Range<u64>,
    done: u64,
}

/// Memory that one serial run holds; given back when dropped.
struct BlockMemory {
    local: Option<MemorySlot>,
    shared: Option<MemorySlot>,
}

impl Drop for BlockMemory {
    fn drop(&mut self) {
        if let Some(s) = self.local.take() {
            memory_slots::LOCAL_SLOTS.release_slot(s);
        }
        if let Some(s) = self.shared.take() {
            memory_slots::SHARED_SLOTS.release_slot(s);
        }
    }
}

/// Runs blocks of `job` until none is left or the job is stopped. `first` are blocks that the
/// caller has taken already. How many this thread ran.
pub(crate) fn run_blocks_serially(job: &GridJob<'_>, worker: &mut Worker, first: Range<u64>) -> u64 {
    let Some(held) = alloc_block_memory(job) else { return 0 };
    let mut warp = job.new_warp(worker.index);
    set_local_memory(&mut warp.ctx, held.local);
    if let Some(s) = held.shared {
        warp.ctx.shared = s.start as *mut u8;
    }
    let Some(stack) = worker.stacks.take_stack(job.stack_bytes()) else {
        job.fail_out_of_memory("the stack of a warp");
        return 0;
    };
    let mut state = SerialLoop { job, blocks: first, done: 0 };
    let data = (&raw mut state).cast();
    // SAFETY: `warp`, `state` and the job's program outlive the fiber, which ends below;
    // `run_block_loop` owns nothing.
    let mut fiber = unsafe {
        let resume_sp = &raw const warp.ring.next_resume_sp;
        Fiber::new(stack, job.program, &raw mut warp, resume_sp, run_block_loop, data)
    };
    // SAFETY: a thread's guard lives as long as the thread.
    let guard = unsafe { &*ThreadFiberState::current_thread_fiber_state() };
    let mut ran = fiber.resume_fiber(guard);
    while ran == FiberResult::InterruptCheck {
        job.check_interrupt();
        ran = fiber.resume_fiber(guard);
    }
    worker.stacks.release_stack(fiber.into_stack());
    if let FiberResult::Signal(info) = ran {
        job.fail_with_fault(fault_report::signal_fault(job, &warp, info));
    }
    state.done
}

fn alloc_block_memory(job: &GridJob<'_>) -> Option<BlockMemory> {
    let local = job.alloc_local_memory()?;
    let mut held = BlockMemory { local, shared: None };
    loop {
        match job.alloc_shared_memory() {
            Ok(shared) => {
                held.shared = shared;
                return Some(held);
            }
            Err(SharedMemoryUnavailable::Failed) => return None,
            Err(SharedMemoryUnavailable::Busy) if job.is_stopped() => return None,
            Err(SharedMemoryUnavailable::Busy) => std::thread::yield_now(),
        }
    }
}

/// The fiber's body.
///
/// # Safety
/// `data` points to a `SerialLoop`, both pointers are valid while it runs.
unsafe fn run_block_loop(warp: *mut Warp, data: *mut ()) {
    // SAFETY: the caller's contract.
    let state = unsafe { &mut *data.cast::<SerialLoop<'_>>() };
    let job = state.job;
    loop {
        if state.blocks.is_empty() {
            state.blocks = job.claim_blocks();
            if state.blocks.is_empty() {
                return;
            }
        }
        // SAFETY: `warp` is valid, and no reference to it is alive.
        let ctx = unsafe {
            job.update_program(&mut *warp);
            &raw mut (*warp).ctx
        };
        let mut ctaid = job.scheduled_block_index(state.blocks.start);
        let mut smid = multiprocessor_of_block(state.blocks.start);
        while !state.blocks.is_empty() && !job.is_stopped() {
            // SAFETY: `warp` is valid, and no reference to it is alive while compiled code runs.
            let n_multiprocessors = unsafe {
                (*ctx).smid = smid;
                run_block(job, warp, ctaid);
                (*ctx).nsmid
            };
            smid = if smid + 1 < n_multiprocessors { smid + 1 } else { 0 };
            state.blocks.start += 1;
            state.done += 1;
            if job.interrupt_check_requested() {
                // SAFETY: on the warp's own fiber; nothing here needs dropping.
                unsafe { (*warp).pause_for_interrupt_check() };
            }
            next_block_index(&mut ctaid, &job.shape.grid);
        }
        if job.is_stopped() {
            return;
        }
    }
}

/// # Safety
/// As [`run_block_loop`].
unsafe fn run_block(job: &GridJob<'_>, warp: *mut Warp, ctaid: [u32; 3]) {
    // SAFETY: `warp` is valid; `entry` is compiled code that runs on this fiber.
    unsafe {
        (*warp).ctx.ctaid = ctaid;
        let local = (*warp).ctx.local_sp;
        job.init_shared_memory((*warp).ctx.shared as usize);
        for i in 0..job.n_warps {
            job.init_warp_position(&mut *warp, i);
            ((*warp).entry)(&raw mut (*warp).ctx);
            (*warp).ctx.local_sp = local;
        }
    }
}

/// The next block: x counts fastest.
fn next_block_index(ctaid: &mut [u32; 3], grid: &[u32; 3]) {
    for d in 0..3 {
        ctaid[d] += 1;
        if ctaid[d] < grid[d] {
            return;
        }
        ctaid[d] = 0;
    }
}
