//! x86-64.

use super::CompareExchange16Fn;
use crate::engine::block::block_state_offsets;
use crate::fiber::{ThreadFiberState, Warp};
use rtcg_vgpu_abi::WarpCtx;
use std::mem::offset_of;

/// Round to nearest, subnormals kept, all exceptions masked.
const DEFAULT_MXCSR: u32 = 0x1f80;
/// The flags of exceptions that have occurred, which are no part of the mode.
const MXCSR_EXCEPTION_FLAGS: u32 = 0x3f;

/// Sets the default floating-point mode and returns the old one.
pub(crate) fn set_default_float_mode() -> u64 {
    let mut old = 0_u32;
    let default = DEFAULT_MXCSR;
    // SAFETY: stores and loads the SSE control register; no exception is enabled by the new value.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack));
        if old & !MXCSR_EXCEPTION_FLAGS != DEFAULT_MXCSR {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const default, options(nostack));
        }
    }
    u64::from(old)
}

/// Restores what [`set_default_float_mode`] returned.
pub(crate) fn restore_float_mode(old: u64) {
    let old = old as u32;
    if old & !MXCSR_EXCEPTION_FLAGS != DEFAULT_MXCSR {
        // SAFETY: the value was read from the register before.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const old, options(nostack)) };
    }
}

/// The processor's cycle counter.
pub(crate) fn read_cycle_counter() -> u64 {
    // SAFETY: every x86-64 processor has a time stamp counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The processor's comparison and exchange of 16 bytes, which gives what was found, if it has one.
pub(crate) fn compare_exchange_16_bytes_fn() -> Option<CompareExchange16Fn> {
    std::is_x86_feature_detected!("cmpxchg16b").then_some(compare_exchange_16_bytes as CompareExchange16Fn)
}

/// By hand, because the compiler's own may become a library call that is not provided.
///
/// # Safety
/// The processor has the instruction; `at` is aligned and may be accessed, or faults.
unsafe fn compare_exchange_16_bytes(at: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: the caller's contract; RBX, which operands cannot name, is put back.
    unsafe {
        std::arch::asm!(
            "xchg {new_low}, rbx",
            "lock cmpxchg16b [{at}]",
            "mov rbx, {new_low}",
            at = in(reg) at,
            new_low = inout(reg) new as u64 => _,
            in("rcx") (new >> 64) as u64,
            inout("rax") low,
            inout("rdx") high,
            options(nostack)
        );
    }
    u128::from(low) | u128::from(high) << 64
}

/// Leaves this stack: stores at `save` where it goes on, and goes on at `to`, another stack's place
/// that was stored so or [prepared](prepare_fiber_stack), which is given `value`. Returns what this stack is given
/// when somebody goes on there.
///
/// Jumps rather than returns, so that the processor predicts it: returns are predicted by the calls
/// before them, which were on another stack.
///
/// # Safety
/// `to` is such a place, used once, on a stack that is alive.
#[inline(always)]
pub(crate) unsafe fn switch_stacks(save: *mut usize, to: usize, value: usize) -> usize {
    let given: usize;
    // SAFETY: all registers but RBX, RBP and RSP, which are put back, are declared as changed.
    unsafe {
        std::arch::asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "mov rax, rdx",
            "pop rcx",
            "jmp rcx",
            "2:",
            "pop rbx",
            "pop rbp",
            in("rdi") save,
            in("rsi") to,
            in("rdx") value,
            lateout("rax") given,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
            clobber_abi("sysv64"),
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
        (resume_sp as *mut [usize; 4]).write([fiber_entry as *const () as usize, run as *const () as usize, 0, 0])
    };
    resume_sp
}

/// Where a new stack begins: calls the function that lies on it, with nothing above to return to.
#[unsafe(naked)]
extern "C" fn fiber_entry() -> ! {
    std::arch::naked_asm!("pop rcx", "lea rdi, [rsp + 16]", "xor ebp, ebp", "call rcx", "ud2")
}

/// Calls the runtime's barrier and jumps back rather than returns. Warp after warp leaves one barrier and calls the
/// next, so that a return would be predicted to where the warp before has called that one; a jump is
/// predicted to where the warp before has jumped.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn barrier_trampoline(_: *mut WarpCtx, _: u32, _: u32, _: u32, _: u32, _: u32) -> u32 {
    std::arch::naked_asm!("sub rsp, 8", "call {}", "add rsp, 8", "pop rcx", "jmp rcx", sym crate::runtime_calls::barrier_call)
}

/// A `bar.sync` for all threads of the block, called as `barrier_calling_convention` (`emit/isa` of `rtcg-vgpu-jit`) says, so by compiled code alone. Jumps
/// back like [`barrier_trampoline`]. While a round of arrivals goes on, which is nearly always, does what
/// [`barrier_arrive_all_call`](crate::runtime_calls::barrier_arrive_all_call) and [`switch_stacks`] would do in as few instructions as can be.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn barrier_all(_: *mut WarpCtx, _: u32) {
    std::arch::naked_asm!(
        "mov rax, [rdi + {cancel}]",
        "mov rdx, [rdi + {block}]",
        "cmp dword ptr [rax], 0",
        "jne 4f",
        "cmp [rdx + {round_at}], esi",
        "jne 4f",
        "mov ecx, [rdx + {round_left}]",
        "sub ecx, 1",
        "jle 4f",
        "mov [rdx + {round_left}], ecx",
        // Before the guard names the next fiber, lest this stack be exhausted then.
        "push rbp",
        "lea rcx, [rip + 2f]",
        "push rcx",
        "mov rax, [rdi + {next}]",
        "mov rcx, [rdx + {guard}]",
        "mov [rcx + {current}], rax",
        "mov rax, [rdi + {resume_sp}]",
        "mov [rax], rsp",
        "mov rsp, [rdi + {next_resume_sp}]",
        "pop rcx",
        "jmp rcx",
        "2:",
        "pop rbp",
        "3:",
        "pop rcx",
        "jmp rcx",
        "4:",
        "sub rsp, 8",
        "call {arrive}",
        "add rsp, 8",
        "test rdx, rdx",
        "jz 3b",
        "push rbp",
        "lea rcx, [rip + 2b]",
        "push rcx",
        "mov [rax], rsp",
        "mov rsp, rdx",
        "pop rcx",
        "jmp rcx",
        cancel = const offset_of!(WarpCtx, cancel),
        block = const offset_of!(WarpCtx, block),
        round_at = const block_state_offsets::ROUND_BARRIER_OFFSET,
        round_left = const block_state_offsets::ROUND_REMAINING_OFFSET,
        guard = const block_state_offsets::FIBER_STATE_OFFSET,
        current = const offset_of!(ThreadFiberState, current),
        next = const offset_of!(Warp, ring.next),
        resume_sp = const offset_of!(Warp, ring.resume_sp),
        next_resume_sp = const offset_of!(Warp, ring.next_resume_sp),
        arrive = sym crate::runtime_calls::barrier_arrive_all_call,
    )
}

#[cfg(target_os = "linux")]
mod ucontext_registers {
    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        let g = &c.uc_mcontext.gregs;
        (g[libc::REG_RIP as usize] as usize, g[libc::REG_RSP as usize] as usize)
    }

    /// Whether the access that faulted was a write, where that is known.
    pub(crate) fn fault_is_write(c: &libc::ucontext_t) -> Option<bool> {
        // Vector 14 is the page fault, whose error code has the write bit; others have none.
        let page_fault = c.uc_mcontext.gregs[libc::REG_TRAPNO as usize] == 14;
        page_fault.then(|| c.uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0)
    }

    /// Lets the context go on at `place`, which is given `value`; see [`switch_stacks`](super::switch_stacks).
    ///
    /// # Safety
    /// As for `switch_stacks`.
    pub(crate) unsafe fn set_resume_pc(c: &mut libc::ucontext_t, resume_sp: usize, value: usize) {
        let g = &mut c.uc_mcontext.gregs;
        // SAFETY: the address to go on at lies at the place.
        g[libc::REG_RIP as usize] = unsafe { *(resume_sp as *const i64) };
        g[libc::REG_RSP as usize] = resume_sp as i64 + 8;
        g[libc::REG_RAX as usize] = value as i64;
    }
}

#[cfg(target_os = "macos")]
mod ucontext_registers {
    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        // SAFETY: the system passes a context with a valid machine context.
        let s = unsafe { &(*c.uc_mcontext).__ss };
        (s.__rip as usize, s.__rsp as usize)
    }

    /// Whether the access that faulted was a write: not known here.
    pub(crate) fn fault_is_write(_: &libc::ucontext_t) -> Option<bool> {
        None
    }

    /// Lets the context go on at `place`, which is given `value`; see [`switch_stacks`](super::switch).
    ///
    /// # Safety
    /// As for `switch_stacks`.
    pub(crate) unsafe fn set_resume_pc(c: &mut libc::ucontext_t, resume_sp: usize, value: usize) {
        // SAFETY: the system passes a valid machine context; the address to go on at lies at the place.
        unsafe {
            let s = &mut (*c.uc_mcontext).__ss;
            (s.__rip, s.__rsp, s.__rax) = (*(resume_sp as *const u64), resume_sp as u64 + 8, value as u64);
        }
    }
}

pub(crate) use ucontext_registers::{fault_is_write, pc_and_sp, set_resume_pc};
