//! Fibers: a warp (or a sequence of warps) on a stack of its own, left and re-entered by
//! switching stacks, abandoned when it faults.
//!
//! Establishes: while a fiber runs, this thread's [`Guard`] says which one it is and whose code it
//! executes, so that the signal handler can end it. Everything on a fiber's stack is plain data:
//! compiled code, and runtime functions that own nothing when they switch away for good. So a
//! fiber is abandoned by forgetting its stack's contents.

use super::program::Program;
use super::stack::FiberStack;
use crate::abi::WarpCtx;
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ptr::null;

/// Why a fiber gave up control before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It waits at a barrier; the barrier's release makes its warp runnable.
    Barrier,
    /// It lets others run.
    Yield,
    /// It is interrupted at random.
    Switch,
    /// The launch is [asked](super::stop::ASK); it goes on when its caller has answered.
    Asked,
    /// Its warp has ended; resumed, it runs the same warp of the next block.
    Finished,
    /// It will not go on: a trap or a cancelled launch.
    Dead,
}

/// How a fiber ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// A signal; [`Guard::signal`] has the details.
    Signal,
}

/// What [`Fiber::resume`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    Done,
    AtBarrier,
    Yielded,
    Switched,
    /// The caller of the launch is to answer, then it goes on.
    Asked,
    /// Trapped or cancelled; whoever did it has recorded why.
    Dead,
    /// Ended by a signal that still has to be explained.
    Signal(SignalInfo),
}

/// What the signal handler saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SignalInfo {
    pub(crate) signal: i32,
    pub(crate) pc: usize,
    /// Address of the access; 0 when the processor does not tell.
    pub(crate) address: usize,
    /// Whether it was a write, where the processor tells.
    pub(crate) write: Option<bool>,
    /// The stack's guard was hit.
    pub(crate) overflow: bool,
}

pub(crate) type PauseHandle = Yielder<(), Pause>;

/// A warp in progress: what compiled code sees, then what the runtime keeps beside it.
///
/// Invariant: a `*mut WarpCtx` that compiled code passes points to the first field of a `Warp`.
#[repr(C)]
pub(crate) struct Warp {
    pub(crate) ctx: WarpCtx,
    /// The job, for reports and for its stop flag.
    pub(crate) job: *const super::job::Job<'static>,
    /// How to leave the fiber; set when it starts.
    pub(crate) pause: *const PauseHandle,
    /// The thread is the launch's caller, who answers when the launch is asked.
    pub(crate) is_caller: bool,
    /// Lowest usable address of the fiber's stack.
    pub(crate) stack_bottom: usize,
    /// Result of the last barrier reduction.
    pub(crate) barrier_result: u32,
    /// Calls of `yield_now` since the last switch.
    pub(crate) yields: u32,
    /// Set while a runtime function accesses device memory on behalf of `access_site`.
    pub(crate) in_access: bool,
    pub(crate) access_site: u32,
    /// The lane whose memory is being accessed.
    pub(crate) access_lane: u32,
    pub(crate) access_write: bool,
}

/// What the signal handler needs to know of a fiber.
pub(crate) struct FiberInfo {
    pub(crate) warp: *mut Warp,
    pub(crate) program: *const Program,
    /// Addresses of the stack's guard.
    pub(crate) guard: (usize, usize),
    pub(crate) trap: CoroutineTrapHandler<Exit>,
}

/// The fiber that runs on this thread, and what the signal handler has seen of it.
pub(crate) struct Guard {
    /// Null outside [`Fiber::resume`].
    pub(crate) current: Cell<*const FiberInfo>,
    pub(crate) signal: Cell<SignalInfo>,
}

impl Guard {
    pub(crate) const fn new() -> Guard {
        Guard {
            current: Cell::new(null()),
            signal: Cell::new(SignalInfo { signal: 0, pc: 0, address: 0, write: None, overflow: false }),
        }
    }

    /// This thread's.
    pub(crate) fn of_thread() -> *const Guard {
        GUARD.with(|g| &raw const *g)
    }
}

thread_local! {
    /// Read by the signal handler; no destructor and no lazy initialisation.
    pub(crate) static GUARD: Guard = const { Guard::new() };
}

type Co = Coroutine<(), Pause, Exit, FiberStack>;

/// A started or startable fiber.
pub(crate) struct Fiber {
    co: Co,
    info: FiberInfo,
}

impl Fiber {
    /// A fiber that will call `body(warp, data)`.
    ///
    /// # Safety
    /// `warp`, `program` and `data` must stay valid until the fiber is done or dropped, and `body`
    /// must keep nothing on its stack that needs dropping while it calls compiled code.
    pub(crate) unsafe fn new(
        stack: FiberStack,
        program: *const Program,
        warp: *mut Warp,
        body: unsafe fn(*mut Warp, *mut ()),
        data: *mut (),
    ) -> Fiber {
        // SAFETY: the caller vouches for `warp`.
        unsafe { (*warp).stack_bottom = stack.bottom() };
        let guard = (stack.guard(), stack.bottom());
        let start = move |pause: &PauseHandle, ()| {
            // SAFETY: the caller of `new` vouches for the pointers; the handle lives on this
            // stack as long as the fiber does.
            unsafe {
                (*warp).pause = pause;
                body(warp, data);
            }
            Exit::Done
        };
        // SAFETY: `start` captures raw pointers only, whose validity the caller vouches for.
        let co = unsafe { Co::with_stack_unchecked(stack, start) };
        let info = FiberInfo { warp, program, guard, trap: co.trap_handler() };
        Fiber { co, info }
    }

    /// Runs the fiber until it pauses or ends. `guard` is this thread's.
    pub(crate) fn resume(&mut self, guard: &Guard) -> Ran {
        guard.current.set(&raw const self.info);
        let result = self.co.resume(());
        guard.current.set(null());
        match result {
            CoroutineResult::Return(Exit::Done) | CoroutineResult::Yield(Pause::Finished) => Ran::Done,
            CoroutineResult::Return(Exit::Signal) => Ran::Signal(guard.signal.get()),
            CoroutineResult::Yield(Pause::Barrier) => Ran::AtBarrier,
            CoroutineResult::Yield(Pause::Yield) => Ran::Yielded,
            CoroutineResult::Yield(Pause::Switch) => Ran::Switched,
            CoroutineResult::Yield(Pause::Asked) => Ran::Asked,
            CoroutineResult::Yield(Pause::Dead) => Ran::Dead,
        }
    }

    /// Ends the fiber wherever it is and gives its stack back.
    pub(crate) fn into_stack(mut self) -> FiberStack {
        // SAFETY: by the module's invariant nothing on the stack needs dropping.
        unsafe { self.co.force_reset() };
        self.co.into_stack()
    }
}

impl Warp {
    /// Gives up control until the scheduler resumes this warp.
    ///
    /// # Safety
    /// Must be called on this warp's fiber.
    pub(crate) unsafe fn pause(&self, why: Pause) {
        // SAFETY: on its own fiber the handle set at the start is alive.
        unsafe { (*self.pause).suspend(why) }
    }

    /// Lets the launch's caller answer, if this is his thread.
    ///
    /// # Safety
    /// As [`Warp::pause`].
    pub(crate) unsafe fn pause_if_caller(&self) {
        if self.is_caller {
            // SAFETY: passed on.
            unsafe { self.pause(Pause::Asked) }
        }
    }

    /// Gives up control for good.
    ///
    /// # Safety
    /// As [`Warp::pause`], and the caller's frames must own nothing.
    pub(crate) unsafe fn die(&self) -> ! {
        loop {
            // SAFETY: passed on. The scheduler never resumes a dead fiber.
            unsafe { self.pause(Pause::Dead) }
        }
    }
}
