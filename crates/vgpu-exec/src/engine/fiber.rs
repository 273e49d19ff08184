//! Fibers: a warp (or a sequence of warps) on a stack of its own, left and re-entered by
//! switching stacks, abandoned when it faults.
//!
//! Establishes: while a fiber runs, this thread's [`ThreadFiberState`] says which one it is and whose code it
//! executes, so that the signal handler can end it. Everything on a fiber's stack is plain data:
//! compiled code, and runtime functions that own nothing when they switch away for good. So a
//! fiber is abandoned by forgetting its stack's contents.

use crate::arch;
use crate::program::Program;
use crate::stack::FiberStack;
use rtcg_vgpu_abi::WarpCtx;
use std::cell::Cell;
use std::ptr::null;

/// Why a fiber gave up control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum PauseReason {
    /// It waits at a barrier; the barrier's release makes its warp runnable.
    Barrier,
    /// It lets others run.
    Yield,
    /// It is interrupted at random.
    Preempt,
    /// The launch is [asked](crate::stop_reason::CHECK_INTERRUPT); it goes on when its caller has answered.
    InterruptCheck,
    /// Its warp has ended; resumed, it runs the same warp of the next block.
    Finished,
    /// It will not go on: a trap or a cancelled launch.
    Terminated,
    /// Its body has returned; it will not go on.
    Done,
    /// A signal has ended it; [`ThreadFiberState::signal`] has the details.
    Signal,
}

/// What [`Fiber::resume_fiber`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FiberResult {
    Done,
    AtBarrier,
    Yielded,
    Preempted,
    /// The caller of the launch is to answer, then it goes on.
    InterruptCheck,
    /// Trapped or cancelled; the reason is already recorded.
    Terminated,
    /// Ended by a signal that still has to be explained.
    Signal(SignalInfo),
}

/// What the signal handler saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SignalInfo {
    pub(crate) signal: i32,
    pub(crate) pc: usize,
    /// Address of the access; 0 when the processor does not report.
    pub(crate) address: usize,
    /// Whether it was a write, where the processor tells.
    pub(crate) write: Option<bool>,
    /// The stack's guard was hit.
    pub(crate) overflow: bool,
}

/// A warp in progress: what compiled code sees, then what the runtime keeps beside it.
///
/// Invariant: a `*mut WarpCtx` that compiled code passes points to the first field of a `Warp`.
// What barriers read of each warp lies in the first line of the cache.
#[repr(C, align(64))]
pub(crate) struct Warp {
    pub(crate) ctx: WarpCtx,
    /// The job, for reports and for its stop flag.
    pub(crate) job: *const super::grid_job::GridJob<'static>,
    /// Compiled code of the block that it runs.
    pub(crate) entry: rtcg_vgpu_abi::KernelEntry,
    /// The fiber that runs it; set when that is made.
    pub(crate) fiber: *const FiberInfo,
    pub(crate) ring: WarpRingLink,
    /// Lowest usable address of the fiber's stack.
    pub(crate) stack_bottom: usize,
    /// Result of the last barrier reduction.
    pub(crate) barrier_result: u32,
    /// Calls of `yield_now` since the last switch.
    pub(crate) yields: u32,
    pub(crate) access_site: u32,
    /// The lane whose memory is being accessed.
    pub(crate) access_lane: u32,
    pub(crate) access_write: bool,
    /// Set while a runtime function accesses device memory on behalf of `access_site`.
    pub(crate) in_access: bool,
    /// The thread is the launch's caller, who answers when the launch is asked.
    pub(crate) is_caller: bool,
}

// What a switch to the next warp reads lies in one line, and a warp takes no more than four.
const _: () = {
    assert!(size_of::<Warp>() <= 256);
    let start = std::mem::offset_of!(Warp, ring);
    assert!(start / 64 == (start + size_of::<WarpRingLink>() - 1) / 64);
};

/// The warp's place in the ring of its block's warps, in which they take turns.
///
/// The next warp's fiber goes on from what this one holds, not from what that one does: nothing need be looked up
/// on the way from one stack to the next, which is as long as anything that waiting at barriers takes.
pub(crate) struct WarpRingLink {
    /// Where the next warp's fiber goes on, while it does not run.
    pub(crate) next_resume_sp: Cell<usize>,
    /// Where the warp before looks for the place at which this warp's fiber goes on.
    pub(crate) resume_sp: *const Cell<usize>,
    pub(crate) next: *const FiberInfo,
    /// The next warp's bit among those of the block.
    pub(crate) next_bit: u32,
}

impl WarpRingLink {
    /// Of a warp that is in no ring yet.
    pub(crate) const fn new() -> WarpRingLink {
        WarpRingLink { next_resume_sp: Cell::new(0), resume_sp: null(), next: null(), next_bit: 0 }
    }
}

/// What a fiber's two sides and the signal handler share; it lies at the top of the fiber's stack.
#[repr(C, align(64))]
pub(crate) struct FiberInfo {
    /// Holds where the fiber goes on, while it does not run.
    pub(crate) resume_sp: *const Cell<usize>,
    /// Of the thread that made the fiber, which alone runs it.
    thread: *const ThreadFiberState,
    pub(crate) warp: *mut Warp,
    pub(crate) program: *const Program,
    /// Addresses of the stack's guard.
    pub(crate) guard: (usize, usize),
    body: unsafe fn(*mut Warp, *mut ()),
    data: *mut (),
}

impl FiberInfo {
    /// Whether an address lies on the stack or in its guard.
    pub(crate) fn is_on_stack(&self, address: usize) -> bool {
        (self.guard.0..std::ptr::from_ref(self) as usize).contains(&address)
    }
    /// What holds where the fiber goes on.
    fn resume_sp(&self) -> &Cell<usize> {
        // SAFETY: it lives as long as the warps of the block do.
        unsafe { &*self.resume_sp }
    }
    /// Where the one who resumed the fiber goes on.
    fn resumer_sp(&self) -> usize {
        // SAFETY: a thread's guard lives as long as the thread, and the fiber runs on that thread.
        unsafe { (*self.thread).resumer_sp.get() }
    }
}

/// A change of fibers that is still to be made. The thread's [`ThreadFiberState`] names the one that is to run.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct FiberSwitch {
    /// What is to hold where the fiber to be left goes on.
    pub(crate) from: *const Cell<usize>,
    /// Where the one goes on whose turn it is, as if it had been resumed; 0 where the fiber is not to be left.
    pub(crate) to: usize,
}

impl FiberSwitch {
    /// The fiber is not to be left.
    pub(crate) const NO_SWITCH: FiberSwitch = FiberSwitch { from: null(), to: 0 };

    /// Makes the change.
    ///
    /// # Safety
    /// Must be called on the fiber to be left; the other one is alive and does not run.
    #[inline(always)]
    pub(crate) unsafe fn switch_stacks(self) {
        if self.to != 0 {
            // SAFETY: the caller's contract.
            unsafe { arch::switch_stacks((*self.from).as_ptr(), self.to, 0) };
        }
    }
}

/// The fiber that runs on this thread, and what the signal handler has seen of it.
pub(crate) struct ThreadFiberState {
    /// Null outside [`Fiber::resume_fiber`].
    pub(crate) current: Cell<*const FiberInfo>,
    /// Where the one who resumed the current fiber goes on.
    pub(crate) resumer_sp: Cell<usize>,
    pub(crate) signal: Cell<SignalInfo>,
}

impl ThreadFiberState {
    pub(crate) const fn new() -> ThreadFiberState {
        ThreadFiberState {
            current: Cell::new(null()),
            resumer_sp: Cell::new(0),
            signal: Cell::new(SignalInfo { signal: 0, pc: 0, address: 0, write: None, overflow: false }),
        }
    }

    /// This thread's.
    pub(crate) fn current_thread_fiber_state() -> *const ThreadFiberState {
        THREAD_FIBER_STATE.with(|g| &raw const *g)
    }
}

thread_local! {
    /// Read by the signal handler; no destructor and no lazy initialisation.
    pub(crate) static THREAD_FIBER_STATE: ThreadFiberState = const { ThreadFiberState::new() };
}

/// A started or startable fiber.
pub(crate) struct Fiber {
    /// Holds what `info` points to.
    stack: FiberStack,
    info: *const FiberInfo,
}

/// A fiber's first function.
///
/// # Safety
/// `info` points to the fiber's own information; called once, on its stack.
unsafe extern "C" fn run_fiber(info: usize) -> ! {
    let info = info as *const FiberInfo;
    // SAFETY: the information lives as long as the stack, and the caller of `Fiber::new` vouches for
    // what it holds. Nothing on this stack needs dropping.
    unsafe {
        ((*info).body)((*info).warp, (*info).data);
        loop {
            arch::switch_stacks((*info).resume_sp().as_ptr(), (*info).resumer_sp(), PauseReason::Done as usize);
        }
    }
}

impl Fiber {
    /// A fiber that will call `body(warp, data)`. What holds where it goes on is `place`.
    ///
    /// # Safety
    /// `warp`, `program`, `place` and `data` must stay valid until the fiber is done or dropped, and `body`
    /// must keep nothing on its stack that needs dropping while it calls compiled code. The fiber must be
    /// resumed by this thread alone.
    pub(crate) unsafe fn new(
        stack: FiberStack,
        program: *const Program,
        warp: *mut Warp,
        resume_sp: *const Cell<usize>,
        body: unsafe fn(*mut Warp, *mut ()),
        data: *mut (),
    ) -> Fiber {
        let top = (stack.top_address() - size_of::<FiberInfo>()) & !63;
        let at = top as *mut FiberInfo;
        // SAFETY: the range lies at the end of the stack, which nobody uses yet; the caller vouches
        // for `warp`.
        unsafe {
            (*resume_sp).set(arch::prepare_fiber_stack(top, run_fiber));
            let guard = (stack.guard_address(), stack.bottom_address());
            at.write(FiberInfo {
                resume_sp,
                thread: ThreadFiberState::current_thread_fiber_state(),
                warp,
                program,
                guard,
                body,
                data,
            });
            (*warp).stack_bottom = stack.bottom_address();
            (*warp).fiber = at;
            (*warp).ring.resume_sp = resume_sp;
        }
        Fiber { stack, info: at }
    }

    /// Runs the fiber until it pauses or ends. `guard` is this thread's, and that of the fiber.
    #[inline(always)]
    pub(crate) fn resume_fiber(&mut self, guard: &ThreadFiberState) -> FiberResult {
        self.resume_until_pause(guard).0
    }

    /// Runs the fiber, and those that it [hands over](Warp::switch_to_fiber) to, until one pauses or ends, which it is.
    #[inline(always)]
    pub(crate) fn resume_until_pause(&mut self, guard: &ThreadFiberState) -> (FiberResult, *const FiberInfo) {
        let info = self.info;
        guard.current.set(info);
        // SAFETY: the information lies on the stack that this value owns; the fiber does not run, so
        // it goes on at its place, and it comes back by `resumer_sp` alone.
        let why = unsafe { arch::switch_stacks(guard.resumer_sp.as_ptr(), (*info).resume_sp().get(), 0) };
        let last = guard.current.replace(null());
        const ALL_PAUSE_REASONS: [PauseReason; 8] = [
            PauseReason::Barrier,
            PauseReason::Yield,
            PauseReason::Preempt,
            PauseReason::InterruptCheck,
            PauseReason::Finished,
            PauseReason::Terminated,
            PauseReason::Done,
            PauseReason::Signal,
        ];
        let ran = match ALL_PAUSE_REASONS[why] {
            PauseReason::Done | PauseReason::Finished => FiberResult::Done,
            PauseReason::Signal => FiberResult::Signal(guard.signal.get()),
            PauseReason::Barrier => FiberResult::AtBarrier,
            PauseReason::Yield => FiberResult::Yielded,
            PauseReason::Preempt => FiberResult::Preempted,
            PauseReason::InterruptCheck => FiberResult::InterruptCheck,
            PauseReason::Terminated => FiberResult::Terminated,
        };
        (ran, last)
    }

    /// Ends the fiber wherever it is and gives its stack back: by the module's invariant nothing on
    /// it needs dropping.
    pub(crate) fn into_stack(self) -> FiberStack {
        self.stack
    }
}

impl Warp {
    /// Gives up control until the scheduler resumes this warp.
    ///
    /// # Safety
    /// Must be called on this warp's fiber.
    #[inline(always)]
    pub(crate) unsafe fn pause_warp(&self, why: PauseReason) {
        let info = self.fiber;
        // SAFETY: on its own fiber, whose information was set when it was made; who resumed it waits.
        unsafe { arch::switch_stacks((*info).resume_sp().as_ptr(), (*info).resumer_sp(), why as usize) };
    }

    /// Lets the launch's caller answer, if this is his thread.
    ///
    /// # Safety
    /// As [`Warp::pause_warp`].
    pub(crate) unsafe fn pause_for_interrupt_check(&self) {
        if self.is_caller {
            // SAFETY: passed on.
            unsafe { self.pause_warp(PauseReason::InterruptCheck) }
        }
    }

    /// Gives this thread to another warp's fiber, which goes on in its turn as if it had been resumed.
    ///
    /// # Safety
    /// Must be called on this warp's fiber; `next` is another one that does not run, and `guard` is this thread's.
    #[inline(always)]
    pub(crate) unsafe fn switch_to_fiber(&self, next: *const FiberInfo, guard: *const ThreadFiberState) {
        let info = self.fiber;
        // SAFETY: the caller's contract. Whoever resumed this fiber goes on when the other one pauses.
        unsafe {
            (*guard).current.set(next);
            arch::switch_stacks((*info).resume_sp().as_ptr(), (*next).resume_sp().get(), 0);
        }
    }

    /// Gives up control for good.
    ///
    /// # Safety
    /// As [`Warp::pause_warp`], and the caller's frames must own nothing.
    pub(crate) unsafe fn terminate_fiber(&self) -> ! {
        loop {
            // SAFETY: passed on. The scheduler never resumes a dead fiber.
            unsafe { self.pause_warp(PauseReason::Terminated) }
        }
    }
}
