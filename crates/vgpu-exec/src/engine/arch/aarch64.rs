//! 64-bit Arm.

use super::CompareExchange16Fn;
use rtcg_vgpu_abi::WarpCtx;

/// Sets the default floating-point mode (round to nearest, subnormals kept, payloads of NaNs kept,
/// no traps: all zero) and returns the old one.
pub(crate) fn set_default_float_mode() -> u64 {
    let old: u64;
    // SAFETY: reads and writes the floating-point control register; zero is its default.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) old, options(nostack));
        std::arch::asm!("msr fpcr, {}", in(reg) 0_u64, options(nostack));
    }
    old
}

/// Restores what [`set_default_float_mode`] returned.
pub(crate) fn restore_float_mode(old: u64) {
    // SAFETY: the value was read from the register before.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) old, options(nostack)) };
}

/// The counter that user programs may read.
pub(crate) fn read_cycle_counter() -> u64 {
    let now: u64;
    // SAFETY: reads the virtual counter, which Linux and macOS open to programs.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) now, options(nostack, nomem)) };
    now
}

/// Leaves this stack: stores at `save` where it goes on, and goes on at `to`, another stack's place
/// that was stored so or [prepared](prepare_fiber_stack), which is given `value`. Returns what this stack is given
/// when somebody goes on there.
///
/// # Safety
/// `to` is such a place, used once, on a stack that is alive.
#[inline(always)]
pub(crate) unsafe fn switch_stacks(save: *mut usize, to: usize, value: usize) -> usize {
    let given: usize;
    // SAFETY: all registers but X19, X29 and SP, which are put back, are declared as changed (X18
    // belongs to the system).
    unsafe {
        std::arch::asm!(
            "stp x19, x29, [sp, #-32]!",
            "adr x9, 2f",
            "str x9, [sp, #16]",
            "mov x9, sp",
            "str x9, [x0]",
            "mov sp, x1",
            "mov x0, x2",
            "ldr x9, [sp, #16]",
            "br x9",
            "2:",
            "ldp x19, x29, [sp], #32",
            inlateout("x0") save => given,
            in("x1") to,
            in("x2") value,
            lateout("x20") _,
            lateout("x21") _,
            lateout("x22") _,
            lateout("x23") _,
            lateout("x24") _,
            lateout("x25") _,
            lateout("x26") _,
            lateout("x27") _,
            lateout("x28") _,
            lateout("x30") _,
            lateout("v8") _,
            lateout("v9") _,
            lateout("v10") _,
            lateout("v11") _,
            lateout("v12") _,
            lateout("v13") _,
            lateout("v14") _,
            lateout("v15") _,
            clobber_abi("C"),
        );
    }
    given
}

/// The place at which a new stack that ends at `top`, a multiple of 64, calls `run` with that address.
///
/// # Safety
/// The stack is alive and not in use.
pub(crate) unsafe fn prepare_fiber_stack(top: usize, run: unsafe extern "C" fn(usize) -> !) -> usize {
    let resume_sp = top - 32;
    // SAFETY: the caller's contract.
    unsafe {
        (resume_sp as *mut [usize; 4]).write([run as *const () as usize, 0, fiber_entry as *const () as usize, 0])
    };
    resume_sp
}

/// Where a new stack begins: calls the function that lies on it, with nothing above to return to.
#[unsafe(naked)]
extern "C" fn fiber_entry() -> ! {
    std::arch::naked_asm!("ldr x9, [sp]", "add x0, sp, #32", "mov x29, xzr", "mov x30, xzr", "blr x9", "brk #1")
}

/// The runtime's `barrier` itself.
pub(crate) use crate::runtime_calls::barrier_call as barrier_trampoline;

/// A `bar.sync` for all threads of the block.
pub(crate) unsafe extern "C" fn barrier_all(ctx: *mut WarpCtx, id: u32) {
    // SAFETY: compiled code passes its own context, and the fiber to go on with has been chosen by the block.
    unsafe { crate::runtime_calls::barrier_arrive_all_call(ctx, id).switch_stacks() };
}

/// A comparison and exchange of 16 bytes: not used here; a lock takes its place.
pub(crate) fn compare_exchange_16_bytes_fn() -> Option<CompareExchange16Fn> {
    None
}

#[cfg(target_os = "linux")]
mod ucontext_registers {
    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        (c.uc_mcontext.pc as usize, c.uc_mcontext.sp as usize)
    }

    /// Lets the context go on at `place`, which is given `value`; see [`switch_stacks`](super::switch_stacks).
    ///
    /// # Safety
    /// As for `switch_stacks`.
    pub(crate) unsafe fn set_resume_pc(c: &mut libc::ucontext_t, resume_sp: usize, value: usize) {
        let m = &mut c.uc_mcontext;
        // SAFETY: the address to go on at lies in the third word of the place.
        m.pc = unsafe { *(resume_sp as *const u64).add(2) };
        (m.sp, m.regs[0]) = (resume_sp as u64, value as u64);
    }
}

#[cfg(target_os = "macos")]
mod ucontext_registers {
    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        // SAFETY: the system passes a context with a valid machine context.
        let s = unsafe { &(*c.uc_mcontext).__ss };
        (s.__pc as usize, s.__sp as usize)
    }

    /// Lets the context go on at `place`, which is given `value`; see [`switch_stacks`](super::switch_stacks).
    ///
    /// # Safety
    /// As for `switch_stacks`.
    pub(crate) unsafe fn set_resume_pc(c: &mut libc::ucontext_t, resume_sp: usize, value: usize) {
        // SAFETY: the system passes a valid machine context; the address to go on at lies in the third word of the place.
        unsafe {
            let s = &mut (*c.uc_mcontext).__ss;
            (s.__pc, s.__sp, s.__x[0]) = (*(resume_sp as *const u64).add(2), resume_sp as u64, value as u64);
        }
    }
}

pub(crate) use ucontext_registers::{pc_and_sp, set_resume_pc};

/// Whether the access that faulted was a write: the context does not say.
pub(crate) fn fault_is_write(_: &libc::ucontext_t) -> Option<bool> {
    None
}
