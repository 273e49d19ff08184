//! x86-64.

use super::WideExchange;
use corosensei::trap::TrapHandlerRegs;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITBuilder;
use std::arch::x86_64::__m128i;

/// Of two NaNs, double-precision arithmetic gives the first, made quiet, and the NaN of an invalid
/// operation is negative with no payload.
pub(crate) const DOUBLE_NAN_OF_FIRST: bool = true;

/// Vectors can be compared with "less or unordered" and the like.
pub(crate) const UNORDERED_COMPARISONS: bool = true;

/// Round to nearest, subnormals kept, all exceptions masked.
const DEFAULT_MODE: u32 = 0x1f80;
/// The flags of exceptions that have occurred, which are no part of the mode.
const MODE_FLAGS: u32 = 0x3f;

/// Sets the default floating-point mode and returns the old one.
pub(crate) fn set_float_mode() -> u64 {
    let mut old = 0_u32;
    let default = DEFAULT_MODE;
    // SAFETY: stores and loads the SSE control register; no exception is enabled by the new value.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack));
        if old & !MODE_FLAGS != DEFAULT_MODE {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const default, options(nostack));
        }
    }
    u64::from(old)
}

/// Restores what [`set_float_mode`] returned.
pub(crate) fn restore_float_mode(old: u64) {
    let old = old as u32;
    if old & !MODE_FLAGS != DEFAULT_MODE {
        // SAFETY: the value was read from the register before.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const old, options(nostack)) };
    }
}

/// The processor's cycle counter.
pub(crate) fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has a time stamp counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The processor's comparison and exchange of 16 bytes, which gives what was found, if it has one.
pub(crate) fn wide_exchange() -> Option<WideExchange> {
    std::is_x86_feature_detected!("cmpxchg16b").then_some(compare_exchange as WideExchange)
}

/// By hand, because the compiler's own may become a library call that nobody provides.
///
/// # Safety
/// The processor has the instruction; `at` is aligned and may be accessed, or faults.
unsafe fn compare_exchange(at: *mut u128, old: u128, new: u128) -> u128 {
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

/// `pshufb` for processors without SSSE3.
// The vector is passed in a register, as C does and Cranelift expects.
#[allow(improper_ctypes_definitions)]
extern "C" fn shuffle_bytes(source: __m128i, mask: __m128i) -> __m128i {
    // SAFETY: both types are 16 bytes without invalid values.
    let [source, mask] = [source, mask].map(|v| unsafe { std::mem::transmute::<__m128i, [u8; 16]>(v) });
    let bytes = mask.map(|m| if m & 0x80 != 0 { 0 } else { source[usize::from(m & 15)] });
    // SAFETY: as above.
    unsafe { std::mem::transmute::<[u8; 16], __m128i>(bytes) }
}

/// Powers of two from 2^0 to 2^31 as unsigned integers; the last comes from the conversion's overflow.
pub(crate) fn whole_of_power(b: &mut FunctionBuilder<'_>, power: Value) -> Value {
    b.ins().x86_cvtt2dq(types::I32X4, power)
}

/// Makes the functions known that compiled code for x86-64 alone calls.
pub(crate) fn define_libcalls(builder: &mut JITBuilder) {
    builder.symbol("__cranelift_x86_pshufb", shuffle_bytes as *const u8);
}

#[cfg(target_os = "linux")]
mod registers {
    use super::TrapHandlerRegs;

    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        let g = &c.uc_mcontext.gregs;
        (g[libc::REG_RIP as usize] as usize, g[libc::REG_RSP as usize] as usize)
    }

    /// Whether the access that faulted was a write, where that is known.
    pub(crate) fn is_write(c: &libc::ucontext_t) -> Option<bool> {
        // Vector 14 is the page fault, whose error code has the write bit; others have none.
        let page_fault = c.uc_mcontext.gregs[libc::REG_TRAPNO as usize] == 14;
        page_fault.then(|| c.uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0)
    }

    /// Lets the context go on with these registers.
    pub(crate) fn set_registers(c: &mut libc::ucontext_t, r: TrapHandlerRegs) {
        let g = &mut c.uc_mcontext.gregs;
        g[libc::REG_RIP as usize] = r.rip as i64;
        g[libc::REG_RSP as usize] = r.rsp as i64;
        g[libc::REG_RBP as usize] = r.rbp as i64;
        g[libc::REG_RDI as usize] = r.rdi as i64;
        g[libc::REG_RSI as usize] = r.rsi as i64;
    }
}

#[cfg(target_os = "macos")]
mod registers {
    use super::TrapHandlerRegs;

    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        // SAFETY: the system passes a context with a valid machine context.
        let s = unsafe { &(*c.uc_mcontext).__ss };
        (s.__rip as usize, s.__rsp as usize)
    }

    /// Whether the access that faulted was a write: not known here.
    pub(crate) fn is_write(_: &libc::ucontext_t) -> Option<bool> {
        None
    }

    /// Lets the context go on with these registers.
    pub(crate) fn set_registers(c: &mut libc::ucontext_t, r: TrapHandlerRegs) {
        // SAFETY: as above.
        let s = unsafe { &mut (*c.uc_mcontext).__ss };
        (s.__rip, s.__rsp, s.__rbp, s.__rdi, s.__rsi) = (r.rip, r.rsp, r.rbp, r.rdi, r.rsi);
    }
}

pub(crate) use registers::{is_write, pc_and_sp, set_registers};
