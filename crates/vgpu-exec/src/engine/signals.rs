//! Hardware exceptions of compiled code become faults of the launch.
//!
//! Establishes: a SIGSEGV, SIGBUS, SIGFPE or SIGILL that compiled code raises on a fiber (or a
//! runtime function while it accesses device memory for it, or anything that hits the fiber's
//! stack guard) ends that fiber with [`PauseReason::Signal`]. Every other signal goes to the handler that
//! was installed before, unchanged, with the signals blocked and the calls restarted that its owner asked for.
//!
//! Assumes: [`THREAD_FIBER_STATE`] describes the fiber that runs on this thread, and the thread has an alternate
//! signal stack ([`ensure_alternate_stack`]), because the fiber's own may be exhausted.

use super::fiber::{PauseReason, SignalInfo, THREAD_FIBER_STATE, ThreadFiberState};
use crate::arch;
use crate::move_pages;
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::Once;

const FAULT_SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// `si_code`: the memory is there, but not for this access.
const SEGV_ACCERR: i32 = 2;
const ALTERNATE_STACK_BYTES: usize = 64 << 10;

struct PreviousHandlers([UnsafeCell<MaybeUninit<libc::sigaction>>; FAULT_SIGNALS.len()]);
// SAFETY: written once before the handler is installed, only read afterwards.
unsafe impl Sync for PreviousHandlers {}
static PREVIOUS_HANDLERS: PreviousHandlers =
    PreviousHandlers([const { UnsafeCell::new(MaybeUninit::zeroed()) }; FAULT_SIGNALS.len()]);

/// Prepares this process and this thread for running fibers.
pub(crate) fn install_fault_handlers() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install_handlers);
    ensure_alternate_stack();
}

fn install_handlers() {
    for (i, &signal) in FAULT_SIGNALS.iter().enumerate() {
        // SAFETY: a zeroed sigaction is a valid one; the handler has the SA_SIGINFO signature.
        // The previous action is stored before ours can run, because it is queried first.
        unsafe {
            let previous = (*PREVIOUS_HANDLERS.0[i].get()).as_mut_ptr();
            libc::sigaction(signal, std::ptr::null(), previous);
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = fault_handler as *const () as usize;
            let kept_flags = (*previous).sa_flags & (libc::SA_RESTART | libc::SA_NODEFER);
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | kept_flags;
            action.sa_mask = (*previous).sa_mask;
            libc::sigaction(signal, &action, null_mut());
        }
    }
}

/// Leaves signals that are sent to the process (Ctrl-C, timers) to the threads of the program.
pub fn block_asynchronous_signals() {
    // SAFETY: builds a signal set and sets the mask of the calling thread.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigfillset(&mut set);
        for signal in FAULT_SIGNALS {
            libc::sigdelset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, null_mut());
    }
}

struct AlternateStack(*mut libc::c_void);

impl Drop for AlternateStack {
    fn drop(&mut self) {
        // SAFETY: disables the alternate stack of this thread if it is still ours, then unmaps it.
        unsafe {
            let mut current: libc::stack_t = zeroed();
            libc::sigaltstack(std::ptr::null(), &mut current);
            if current.ss_sp == self.0 {
                current.ss_flags = libc::SS_DISABLE;
                libc::sigaltstack(&current, null_mut());
            }
            libc::munmap(self.0, ALTERNATE_STACK_BYTES);
        }
    }
}

/// Gives this thread an alternate signal stack that is large enough, if it has none.
fn ensure_alternate_stack() {
    thread_local!(static MINE: std::cell::OnceCell<Option<AlternateStack>> = const { std::cell::OnceCell::new() });
    MINE.with(|mine| {
        mine.get_or_init(make_alternate_stack);
    });
}

fn make_alternate_stack() -> Option<AlternateStack> {
    // SAFETY: queries and sets the alternate stack of the calling thread; the mapping handed to
    // the system lives until the thread ends.
    unsafe {
        let mut current: libc::stack_t = zeroed();
        libc::sigaltstack(std::ptr::null(), &mut current);
        if current.ss_flags & libc::SS_DISABLE == 0 && current.ss_size >= ALTERNATE_STACK_BYTES / 2 {
            return None;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let p = libc::mmap(null_mut(), ALTERNATE_STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if p == libc::MAP_FAILED {
            return None;
        }
        let stack = libc::stack_t { ss_sp: p, ss_flags: 0, ss_size: ALTERNATE_STACK_BYTES };
        libc::sigaltstack(&stack, null_mut());
        Some(AlternateStack(p))
    }
}

/// # Safety
/// Called by the system as a SA_SIGINFO handler.
unsafe extern "C" fn fault_handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: these signals carry a valid description, and a SIGSEGV an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if signal == libc::SIGSEGV && code == SEGV_ACCERR && move_pages::may_retry_access(address) {
        return;
    }
    let ours = THREAD_FIBER_STATE.try_with(|guard| {
        // SAFETY: the system passes valid pointers.
        unsafe { terminate_faulting_fiber(guard, signal, &*info, &mut *context.cast::<libc::ucontext_t>()) }
    });
    if ours != Ok(true) {
        // SAFETY: the arguments of this handler are passed on.
        unsafe { call_previous_handler(signal, info, context) };
    }
}

/// Redirects the interrupted fiber to its end if the signal is its doing. False when it is not ours.
///
/// # Safety
/// `info` and `context` must be those of the signal being handled on this thread.
unsafe fn terminate_faulting_fiber(
    guard: &ThreadFiberState,
    signal: i32,
    info: &libc::siginfo_t,
    context: &mut libc::ucontext_t,
) -> bool {
    // SAFETY: a fiber that runs is alive, and it runs until `resume` clears the pointer.
    let Some(fiber) = (unsafe { guard.current.get().as_ref() }) else { return false };
    if info.si_code <= 0 {
        // Somebody raised the signal again from a handler of his that ran first (as Python's
        // faulthandler does when it was enabled after our handler). The instruction that really
        // faulted runs once more when that handler returns, and comes here then.
        return true;
    }
    let (pc, sp) = arch::pc_and_sp(context);
    let address = if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        // SAFETY: these signals carry an address.
        unsafe { info.si_addr() as usize }
    } else {
        0
    };
    let overflow = (fiber.guard.0..fiber.guard.1).contains(&address);
    // SAFETY: the warp and the program outlive their fiber.
    let (in_access, program) = unsafe { ((*fiber.warp).in_access, &*fiber.program) };
    if !(overflow || in_access || program.contains_pc(pc)) || !fiber.is_on_stack(sp) {
        return false;
    }
    let write = arch::fault_is_write(context);
    guard.signal.set(SignalInfo { signal, pc, address, write, overflow });
    // SAFETY: the interrupted stack pointer lies on the fiber's stack (checked), whose contents may be
    // discarded (invariant of `fiber`), and the one who resumed the fiber waits.
    unsafe { arch::set_resume_pc(context, guard.resumer_sp.get(), PauseReason::Signal as usize) };
    true
}

/// Passes the signal to the handler that was installed before.
///
/// # Safety
/// The arguments must be those of the handler.
unsafe fn call_previous_handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(i) = FAULT_SIGNALS.iter().position(|&s| s == signal) else { return };
    // SAFETY: written once before this handler was installed.
    let previous = unsafe { (*PREVIOUS_HANDLERS.0[i].get()).assume_init_ref() };
    // SAFETY: the caller's promise. No instruction raised a signal that was sent.
    let was_sent = unsafe { (*info).si_code } <= 0;
    match previous.sa_sigaction {
        libc::SIG_IGN if was_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // The instruction runs again and the system does what it does by default. A signal that was sent is sent
            // again, and arrives when this handler returns.
            // SAFETY: resets the disposition of one signal, and sends it to this thread.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                if was_sent {
                    libc::raise(signal);
                }
            }
        }
        address => {
            let entry: *mut () = with_exposed_provenance_mut(address);
            // SAFETY: the previous owner installed a function of the signature its flags name.
            unsafe {
                if previous.sa_flags & libc::SA_SIGINFO != 0 {
                    let f: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = std::mem::transmute(entry);
                    f(signal, info, context);
                } else {
                    let f: extern "C" fn(i32) = std::mem::transmute(entry);
                    f(signal);
                }
            }
        }
    }
}
