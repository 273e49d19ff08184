//! A resident block of a kernel that may wait: a fiber per warp, run round-robin.
//!
//! A warp that waits at a barrier, or has ended, hands over to the next one that can run; the scheduler
//! gets the thread back when there is none, and chooses every time where the order is to be random.
//!
//! The scheduler and the fibers' runtime calls both change a block's state, one suspended in the
//! other. What they share is therefore in cells ([`BlockState`]) and no code holds a mutable reference.

use super::fault_report;
use super::fiber::{Fiber, FiberInfo, FiberResult, FiberSwitch, PauseReason, ThreadFiberState, Warp};
use super::grid_job::{GridJob, multiprocessor_of_block, set_local_memory};
use super::memory_slots::{self, MemorySlot};
use super::runtime_calls;
use super::worker::Worker;
use crate::barrier::{Barrier, N_BARRIERS, WarpArrival};
use crate::check;
use crate::check::race::RaceDetector;
use crate::warp_barriers::{ArrivalResult, WarpBarriers};
use rtcg_vgpu_abi::{IgnorePoison, runtime::BarrierKind};
use std::cell::{Cell, UnsafeCell};

/// Rounds in which all runnable warps only yielded, before other blocks are resumed.
const MAX_IDLE_WARP_ROUNDS: u32 = 4;

/// What [`Block::run_until_blocked`] ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockRunResult {
    /// Every warp has ended.
    Done,
    /// All runnable warps wait in loops of their own; `true` if some warp made progress first.
    Yielded { progress: bool },
    /// The job is stopped.
    Stopped,
}

/// What a warp did in its time slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WarpRunResult {
    /// It waits in a loop of its own.
    Spinning,
    /// It was interrupted at random.
    Preempted,
    /// It got to a barrier or to its end.
    Progressed,
}

/// What the scheduler shares with the runtime calls of the block's warps.
struct BlockState {
    threads: u32,
    /// Threads of warps that have ended.
    finished: Cell<u32>,
    /// Warps hand over to each other.
    direct_handoff: bool,
    /// A warp has handed over since the scheduler last looked.
    handed_over: Cell<bool>,
    /// Of the thread that runs the block.
    guard: Cell<*const ThreadFiberState>,
    /// Which warps can run, and the barriers at which lanes are not counted.
    whole: WarpBarriers,
    barriers: [Cell<Barrier>; N_BARRIERS],
    /// Of each warp its fiber.
    fibers: [Cell<*const FiberInfo>; 32],
    /// Alive as long as the block.
    job: *const GridJob<'static>,
    /// Number of the block in the grid.
    number: Cell<u32>,
    /// Compiled code holds pointers to the elements.
    warps: Box<[UnsafeCell<Warp>]>,
}

/// Where code that is written by hand finds in a block what it needs.
#[allow(dead_code, reason = "not every processor has such code")]
pub(crate) mod block_state_offsets {
    use super::BlockState;
    use std::mem::offset_of;

    pub(crate) const ROUND_BARRIER_OFFSET: usize = offset_of!(BlockState, whole.round_at);
    pub(crate) const ROUND_REMAINING_OFFSET: usize = offset_of!(BlockState, whole.round_left);
    pub(crate) const FIBER_STATE_OFFSET: usize = offset_of!(BlockState, guard);
}

/// The warps of a block, their fibers and the memory they hold.
pub(crate) struct Block {
    core: Box<BlockState>,
    /// One per warp; each lives on from block to block.
    fibers: Vec<Fiber>,
    locals: Vec<MemorySlot>,
    shared: Option<MemorySlot>,
}

impl BlockState {
    fn new(job: &GridJob<'_>, worker: u32) -> BlockState {
        BlockState {
            threads: job.threads,
            finished: Cell::new(0),
            direct_handoff: !job.has_random_schedule(),
            handed_over: Cell::new(false),
            guard: Cell::new(std::ptr::null()),
            whole: WarpBarriers::new(
                job.n_warps,
                job.has_random_schedule() || job.race.is_some() || check::enabled_checks().sync,
            ),
            fibers: [const { Cell::new(std::ptr::null()) }; 32],
            barriers: [const { Cell::new(Barrier::new()) }; N_BARRIERS],
            job: std::ptr::from_ref(job).cast(),
            number: Cell::new(0),
            warps: (0..job.n_warps).map(|_| UnsafeCell::new(job.new_warp(worker))).collect(),
        }
    }

    fn reset_for_block(&self) {
        self.finished.set(0);
        self.lane_counted_barriers().for_each(|id| self.barriers[id].set(Barrier::new()));
        self.whole.reset_for_block();
    }

    fn lane_counted_barriers(&self) -> impl Iterator<Item = usize> {
        let counted = self.whole.lane_counted_barriers();
        (0..N_BARRIERS).take_while(move |id| counted >> id != 0).filter(move |id| counted >> id & 1 != 0)
    }

    /// The fiber of the next warp after number `warp` that can run.
    #[inline(always)]
    fn next_runnable_fiber(&self, warp: u32) -> Option<*const FiberInfo> {
        let runnable = self.whole.runnable_warps();
        if runnable == 0 {
            return None;
        }
        // In turns: a warp that polls between barriers must not keep others from what it waits for.
        let above = runnable & !(2_u32 << warp).wrapping_sub(1);
        let next = if above != 0 { above } else { runnable }.trailing_zeros();
        Some(self.fibers[next as usize].get())
    }

    /// Warp `warp` gives way: to the next warp that can run, else to the scheduler.
    ///
    /// # Safety
    /// Must be called on the fiber of `warp`, which is one of this block.
    #[inline(always)]
    unsafe fn yield_to_next_warp(&self, warp: *mut Warp, why: PauseReason) {
        // SAFETY: fibers of runnable warps are alive and suspended, and the scheduler has set the guard.
        unsafe {
            match self.next_runnable_fiber((*warp).ctx.warp_id) {
                Some(next) if self.direct_handoff => {
                    self.handed_over.set(true);
                    (*warp).switch_to_fiber(next, self.guard.get());
                }
                _ => (*warp).pause_warp(why),
            }
        }
    }

    /// Warp `warp`, which waits at a barrier where lanes are not counted, is to hand over to the next warp that can run.
    /// Where there is none, it waits in here for the scheduler.
    ///
    /// # Safety
    /// As [`BlockState::yield_to_next_warp`].
    #[inline(always)]
    unsafe fn switch_to_next_warp(&self, warp: *mut Warp) -> FiberSwitch {
        // SAFETY: as in `yield_to_next_warp`. Lanes are counted at all barriers where the order is random.
        unsafe {
            let ring = &(*warp).ring;
            let guard = &*self.guard.get();
            self.handed_over.set(true);
            if self.whole.is_next_warp_runnable(ring.next_bit) {
                guard.current.set(ring.next);
                return FiberSwitch { from: ring.resume_sp, to: ring.next_resume_sp.get() };
            }
            let Some(next) = self.next_runnable_fiber((*warp).ctx.warp_id) else {
                wait_for_barrier(warp);
                return FiberSwitch::NO_SWITCH;
            };
            guard.current.set(next);
            FiberSwitch { from: ring.resume_sp, to: (*(*next).resume_sp).get() }
        }
    }

    /// Reports a barrier for all threads at which warps arrive without lanes that have ended. (Whole
    /// warps that have ended are not missed: the barrier is for those that have not.)
    fn report_missing_threads(&self, id: usize, b: &Barrier) {
        if b.expected == 0 && b.exited > 0 && check::enabled_checks().sync {
            // SAFETY: the job outlives its blocks, and no reference to a warp is kept.
            unsafe {
                let lacks = |i: &usize| {
                    let ctx = &(*self.warps[*i].get()).ctx;
                    b.has_warp(*i) && ctx.live & ctx.exited != 0
                };
                let warps: Vec<usize> = (0..self.warps.len()).filter(lacks).collect();
                let first = &*self.warps[warps.first().copied().unwrap_or(0)].get();
                runtime_calls::record_missing_threads(&*self.job, first, warps.len() as u32, id, b.exited);
            }
        }
    }

    /// Tells those who look for races, with the names of this block.
    fn with_block_race_detector(&self, tell: impl FnOnce(&mut RaceDetector, usize, u32)) {
        // SAFETY: the job outlives its blocks.
        if let Some(race) = unsafe { &(*self.job).race } {
            let mut race = race.lock().ignore_poison();
            tell(&mut race, std::ptr::from_ref(self) as usize, self.number.get());
        }
    }

    /// Lets the warps that wait at barrier `id` go on.
    fn release_barrier(&self, id: usize) {
        let b = self.barriers[id].replace(Barrier::new());
        self.whole.finish_counting_lanes(id);
        self.whole.make_runnable(b.waiting);
        // Nobody reads the result of a barrier that only synchronises.
        let mut waiting = if b.kind == BarrierKind::Sync as u32 { 0 } else { b.waiting };
        while waiting != 0 {
            let warp = self.warps[waiting.trailing_zeros() as usize].get();
            // SAFETY: the warp is suspended; nobody holds a reference to it.
            unsafe { (*warp).barrier_result = b.reduction_result() };
            waiting &= waiting - 1;
        }
    }

    /// Counts the lanes of the whole warps that wait at barrier `id`, and those that arrive from here on.
    fn count_lanes_at_barrier(&self, id: usize) {
        let mut waiting = self.whole.start_counting_lanes(id);
        while waiting != 0 {
            // SAFETY: the warp is suspended; nobody holds a reference to it.
            let ctx = unsafe { &(*self.warps[waiting.trailing_zeros() as usize].get()).ctx };
            let mut b = self.barriers[id].get();
            b.count_arrival(WarpArrival::full_warp_arrival(ctx));
            b.waiting |= waiting & waiting.wrapping_neg();
            self.barriers[id].set(b);
            waiting &= waiting - 1;
        }
    }

    /// A warp arrives at barrier `id`: the reduction's result when it need not wait.
    fn arrive_at_barrier(&self, warp: u32, id: usize, arrival: WarpArrival) -> Option<u32> {
        self.count_lanes_at_barrier(id);
        // SAFETY: the warps of a block run one at a time, and nothing below looks at the barrier by another way
        // while this reference is in use.
        let b = unsafe { &mut *self.barriers[id].as_ptr() };
        b.count_arrival(arrival);
        self.with_block_race_detector(|race, resident, block| race.arrive_at_barrier(resident, block, warp, id));
        if b.is_complete(self.threads, self.finished.get()) {
            self.report_missing_threads(id, b);
            let waits = arrival.kind != BarrierKind::Arrive as u32;
            let waiting = b.waiting | if waits { 1 << warp } else { 0 };
            let result = b.reduction_result();
            self.with_block_race_detector(|race, resident, block| race.complete_barrier(resident, block, waiting, id));
            self.release_barrier(id);
            return Some(result);
        }
        let waits = arrival.kind != BarrierKind::Arrive as u32;
        if waits {
            b.waiting |= 1 << warp;
            self.whole.make_waiting(1 << warp);
        }
        if waits { None } else { Some(0) }
    }

    /// Warp `i`, with `live` threads, has ended.
    fn finish_warp(&self, i: usize, live: u32) {
        self.finished.set(self.finished.get() + live);
        self.whole.finish_warp(1 << i);
        for id in self.lane_counted_barriers() {
            let b = self.barriers[id].get();
            if b.waiting != 0 && b.is_complete(self.threads, self.finished.get()) {
                self.report_missing_threads(id, &b);
                self.with_block_race_detector(|race, resident, block| {
                    race.complete_barrier(resident, block, b.waiting, id)
                });
                self.release_barrier(id);
            }
        }
    }
}

impl Block {
    /// Makes the state for blocks of `job`; no block is in it yet. `None` when the job was stopped
    /// for lack of memory.
    pub(crate) fn new(job: &GridJob<'_>, worker: &mut Worker, shared: Option<MemorySlot>) -> Option<Block> {
        let n = job.n_warps as usize;
        let core = Box::new(BlockState::new(job, worker.index));
        let mut block = Block { core, fibers: Vec::with_capacity(n), locals: Vec::new(), shared };
        if (0..n).all(|i| block.add_warp(job, worker, i)) {
            return Some(block);
        }
        block.retire_block(worker);
        None
    }

    fn add_warp(&mut self, job: &GridJob<'_>, worker: &mut Worker, i: usize) -> bool {
        let Some(local) = job.alloc_local_memory() else { return false };
        self.locals.extend(local);
        let Some(stack) = worker.stacks.take_stack(job.stack_bytes()) else {
            job.fail_out_of_memory("the stacks of a block's warps");
            return false;
        };
        let core: *const BlockState = &raw const *self.core;
        let warp = self.core.warps[i].get();
        // SAFETY: no fiber runs this warp yet. The core is boxed and outlives the fibers
        // (`retire_block` ends them first), and `run_warp` owns nothing.
        unsafe {
            job.init_warp_position(&mut *warp, i as u32);
            let ctx = &mut (*warp).ctx;
            set_local_memory(ctx, local);
            ctx.block = core.cast_mut().cast();
            if let Some(s) = self.shared {
                ctx.shared = s.start as *mut u8;
            }
            let n = self.core.warps.len();
            let before = self.core.warps[(i + n - 1) % n].get();
            let resume_sp = &raw const (*before).ring.next_resume_sp;
            self.fibers.push(Fiber::new(stack, job.program, warp, resume_sp, run_warp, std::ptr::null_mut()));
            self.core.fibers[i].set((*warp).fiber);
            ((*before).ring.next, (*before).ring.next_bit) = ((*warp).fiber, 1 << i);
        }
        true
    }

    /// Starts block number `number`. The last one must have ended.
    pub(crate) fn start_block(&mut self, job: &GridJob<'_>, number: u64) {
        let ctaid = job.scheduled_block_index(number);
        self.core.number.set(job.block_number(ctaid));
        self.core.reset_for_block();
        if let Some(s) = self.shared {
            job.init_shared_memory(s.start);
        }
        for cell in &self.core.warps {
            // SAFETY: the warp's fiber is at its start or between two blocks.
            let warp = unsafe { &mut *cell.get() };
            job.update_program(warp);
            let ctx = &mut warp.ctx;
            (ctx.ctaid, ctx.exited, ctx.smid) = (ctaid, 0, multiprocessor_of_block(number));
            ctx.outer_frames = std::ptr::null_mut();
        }
    }

    /// Runs the block's warps round-robin until it ends, is stopped, or can only wait for others.
    pub(crate) fn run_until_blocked(&mut self, job: &GridJob<'_>) -> BlockRunResult {
        // SAFETY: a thread's guard lives as long as the thread.
        let guard = unsafe { &*ThreadFiberState::current_thread_fiber_state() };
        if job.has_random_schedule() {
            return self.run_random_warps(job, guard);
        }
        self.core.guard.set(guard);
        let (mut idle, mut ever) = (0, false);
        loop {
            if self.core.whole.runnable_warps() == 0 {
                return self.finish_or_report_deadlock(job);
            }
            match self.run_warps_once(job, guard) {
                Some(true) => (idle, ever) = (0, true),
                Some(false) => idle += 1,
                None => return BlockRunResult::Stopped,
            }
            if idle >= MAX_IDLE_WARP_ROUNDS {
                return BlockRunResult::Yielded { progress: ever };
            }
        }
    }

    /// Gives every runnable warp a time slice. Whether one of them did more than yield; `None` when the
    /// job is stopped.
    fn run_warps_once(&mut self, job: &GridJob<'_>, guard: &ThreadFiberState) -> Option<bool> {
        let mut progress = false;
        let mut turn = self.core.whole.runnable_warps();
        while turn != 0 {
            let i = turn.trailing_zeros() as usize;
            progress |= self.resume_warp(i, job, guard)? != WarpRunResult::Spinning;
            // Others may have run within the time slice of this one.
            turn &= turn - 1;
            turn &= self.core.whole.runnable_warps();
        }
        if job.is_stopped() { None } else { Some(progress) }
    }

    /// Lets warp `i` run until it gives way. `None` when the job is stopped.
    // Inlined, so that between two switches of stacks there is no call that has not returned: the
    // processor predicts where `barrier` returns to by the last call, which was that of the warp before.
    #[inline(always)]
    fn resume_warp(&mut self, i: usize, job: &GridJob<'_>, guard: &ThreadFiberState) -> Option<WarpRunResult> {
        let (ran, last) = self.fibers[i].resume_until_pause(guard);
        let moved = self.core.handed_over.replace(false);
        match ran {
            FiberResult::Yielded if !moved => return Some(WarpRunResult::Spinning),
            FiberResult::Preempted if !moved => return Some(WarpRunResult::Preempted),
            FiberResult::AtBarrier | FiberResult::Done | FiberResult::Yielded | FiberResult::Preempted => {}
            FiberResult::InterruptCheck => job.check_interrupt(),
            FiberResult::Terminated => return None,
            FiberResult::Signal(info) => {
                // SAFETY: the fiber, which is one of this block, has ended.
                let warp = unsafe { &*(*last).warp };
                job.fail_with_fault(fault_report::signal_fault(job, warp, info));
                return None;
            }
        }
        Some(WarpRunResult::Progressed)
    }

    /// Lets warps run at random for a while.
    fn run_random_warps(&mut self, job: &GridJob<'_>, guard: &ThreadFiberState) -> BlockRunResult {
        let (mut moved, mut waits) = (false, false);
        for _ in 0..1 + job.next_random_word() % (2 * self.fibers.len() as u64) {
            let runnable = self.core.whole.runnable_warps();
            if runnable == 0 {
                return self.finish_or_report_deadlock(job);
            }
            let n = job.next_random_word() % u64::from(runnable.count_ones());
            let i = (0..32).filter(|i| runnable >> i & 1 != 0).nth(n as usize).unwrap_or(0);
            match self.resume_warp(i, job, guard) {
                Some(WarpRunResult::Spinning) => waits = true,
                Some(WarpRunResult::Preempted) => {}
                Some(WarpRunResult::Progressed) => moved = true,
                None => return BlockRunResult::Stopped,
            }
        }
        match () {
            () if job.is_stopped() => BlockRunResult::Stopped,
            () if self.core.whole.runnable_warps() == 0 => self.finish_or_report_deadlock(job),
            () => BlockRunResult::Yielded { progress: moved || !waits },
        }
    }

    /// No warp can run: the block has ended, or its warps wait for what cannot come.
    fn finish_or_report_deadlock(&self, job: &GridJob<'_>) -> BlockRunResult {
        if self.core.finished.get() == self.core.threads {
            return BlockRunResult::Done;
        }
        (0..N_BARRIERS).for_each(|id| self.core.count_lanes_at_barrier(id));
        let barriers = self.core.barriers.iter().map(Cell::get).enumerate();
        let stuck: Vec<(usize, Barrier)> = barriers.filter(|(_, b)| b.waiting != 0).collect();
        let first = stuck.first().map_or(0, |(_, b)| b.waiting.trailing_zeros() as usize);
        // SAFETY: all fibers of the block are suspended.
        let warp = unsafe { &*self.core.warps[first].get() };
        job.fail_with_fault(fault_report::deadlock_fault(job, warp, &stuck, self.core.finished.get()));
        BlockRunResult::Stopped
    }

    /// Ends all fibers and gives back what the block holds.
    pub(crate) fn retire_block(mut self, worker: &mut Worker) {
        for fiber in self.fibers.drain(..) {
            worker.stacks.release_stack(fiber.into_stack());
        }
        self.locals.drain(..).for_each(|s| memory_slots::LOCAL_SLOTS.release_slot(s));
        if let Some(s) = self.shared.take() {
            memory_slots::SHARED_SLOTS.release_slot(s);
        }
    }
}

/// A fiber's body: one warp of one block after the other.
///
/// # Safety
/// `warp` is valid and runs on this fiber.
unsafe fn run_warp(warp: *mut Warp, _: *mut ()) {
    // SAFETY: the job outlives its fibers; `entry` is compiled code.
    unsafe {
        let local = (*warp).ctx.local_sp;
        let core = (*warp).ctx.block.cast::<BlockState>();
        loop {
            ((*warp).entry)(&raw mut (*warp).ctx);
            (*warp).ctx.local_sp = local;
            (*core).finish_warp((*warp).ctx.warp_id as usize, (*warp).ctx.live.count_ones());
            (*core).yield_to_next_warp(warp, PauseReason::Finished);
        }
    }
}

/// The runtime's side of a `bar.sync` for all threads, at which all lanes of the warp arrive that have not exited.
/// Arrives, and says how this thread is to change fibers.
///
/// # Safety
/// As [`barrier`].
#[inline(always)]
pub(crate) unsafe fn arrive_all_lanes(warp: *mut Warp, id: u32) -> FiberSwitch {
    // SAFETY: as for `barrier`.
    unsafe {
        let core = &*(*warp).ctx.block.cast::<BlockState>();
        match core.whole.arrive_at_barrier((*warp).ctx.warp_id % 32, id as usize % N_BARRIERS) {
            ArrivalResult::Last => {}
            ArrivalResult::Waits => return core.switch_to_next_warp(warp),
            ArrivalResult::Counted => full_warp_barrier_with_lane_count(warp, id),
        }
        FiberSwitch::NO_SWITCH
    }
}

/// Gives the thread back to the scheduler until a barrier lets `warp` go on.
///
/// # Safety
/// As [`BlockState::yield_to_next_warp`].
#[cold]
#[inline(never)]
unsafe fn wait_for_barrier(warp: *mut Warp) {
    // SAFETY: passed on.
    unsafe { (*warp).pause_warp(PauseReason::Barrier) };
}

/// A whole warp arrives where lanes are counted, and waits if need be.
///
/// # Safety
/// As [`barrier`].
#[cold]
#[inline(never)]
unsafe fn full_warp_barrier_with_lane_count(warp: *mut Warp, id: u32) {
    // SAFETY: passed on.
    unsafe { barrier_with_lane_count(warp, id, WarpArrival::full_warp_arrival(&(*warp).ctx)) };
}

/// The runtime's side of `bar`: arrives and waits if need be.
///
/// # Safety
/// Must be called on the fiber of `warp`, whose block is a [`Block`].
// Inlined for the same reason as `Block::resume_warp`.
#[inline(always)]
pub(crate) unsafe fn arrive_at_barrier(warp: *mut Warp, id: u32, arrival: WarpArrival) -> u32 {
    // SAFETY: the block is alive while its warps run, and its core is only accessed in cells.
    unsafe {
        if arrival.is_full_warp_arrival(&(*warp).ctx) {
            arrive_all_lanes(warp, id).switch_stacks();
            return 0;
        }
        barrier_with_lane_count(warp, id, arrival)
    }
}

/// Arrives at a barrier where lanes are counted and waits if need be.
///
/// # Safety
/// As [`barrier`].
#[inline(always)]
unsafe fn barrier_with_lane_count(warp: *mut Warp, id: u32, arrival: WarpArrival) -> u32 {
    // SAFETY: as for `barrier`.
    unsafe {
        let number = (*warp).ctx.warp_id;
        let core = (*warp).ctx.block.cast::<BlockState>();
        if let Some(result) = (*core).arrive_at_barrier(number, id as usize % N_BARRIERS, arrival) {
            return result;
        }
        (*core).yield_to_next_warp(warp, PauseReason::Barrier);
        (*warp).barrier_result
    }
}
