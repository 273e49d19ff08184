//! 64-bit Arm.

use super::WideExchange;
use corosensei::trap::TrapHandlerRegs;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITBuilder;

/// A signalling NaN goes before a quiet one, and the NaN of an invalid operation is positive: code
/// for double precision has to choose the NaN itself.
pub(crate) const DOUBLE_NAN_OF_FIRST: bool = false;

/// Vectors cannot be compared with "less or unordered" and the like.
pub(crate) const UNORDERED_COMPARISONS: bool = false;

/// Sets the default floating-point mode (round to nearest, subnormals kept, payloads of NaNs kept,
/// no traps: all zero) and returns the old one.
pub(crate) fn set_float_mode() -> u64 {
    let old: u64;
    // SAFETY: reads and writes the floating-point control register; zero is its default.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) old, options(nostack));
        std::arch::asm!("msr fpcr, {}", in(reg) 0_u64, options(nostack));
    }
    old
}

/// Restores what [`set_float_mode`] returned.
pub(crate) fn restore_float_mode(old: u64) {
    // SAFETY: the value was read from the register before.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) old, options(nostack)) };
}

/// The counter that user programs may read.
pub(crate) fn cycles() -> u64 {
    let now: u64;
    // SAFETY: reads the virtual counter, which Linux and macOS open to programs.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) now, options(nostack, nomem)) };
    now
}

/// A comparison and exchange of 16 bytes: not used here; a lock takes its place.
pub(crate) fn wide_exchange() -> Option<WideExchange> {
    None
}

/// Powers of two from 2^0 to 2^31 as unsigned integers.
pub(crate) fn whole_of_power(b: &mut FunctionBuilder<'_>, power: Value) -> Value {
    b.ins().fcvt_to_uint_sat(types::I32X4, power)
}

/// Makes the functions known that compiled code for this processor alone calls: none.
pub(crate) fn define_libcalls(_: &mut JITBuilder) {}

#[cfg(target_os = "linux")]
mod registers {
    use super::TrapHandlerRegs;

    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        (c.uc_mcontext.pc as usize, c.uc_mcontext.sp as usize)
    }

    /// Lets the context go on with these registers.
    pub(crate) fn set_registers(c: &mut libc::ucontext_t, r: TrapHandlerRegs) {
        let m = &mut c.uc_mcontext;
        (m.pc, m.sp) = (r.pc, r.sp);
        (m.regs[0], m.regs[1], m.regs[29], m.regs[30]) = (r.x0, r.x1, r.x29, r.lr);
    }
}

#[cfg(target_os = "macos")]
mod registers {
    use super::TrapHandlerRegs;

    /// Program counter and stack pointer of an interrupted context.
    pub(crate) fn pc_and_sp(c: &libc::ucontext_t) -> (usize, usize) {
        // SAFETY: the system passes a context with a valid machine context.
        let s = unsafe { &(*c.uc_mcontext).__ss };
        (s.__pc as usize, s.__sp as usize)
    }

    /// Lets the context go on with these registers.
    pub(crate) fn set_registers(c: &mut libc::ucontext_t, r: TrapHandlerRegs) {
        // SAFETY: as above.
        let s = unsafe { &mut (*c.uc_mcontext).__ss };
        (s.__pc, s.__sp) = (r.pc, r.sp);
        (s.__x[0], s.__x[1], s.__fp, s.__lr) = (r.x0, r.x1, r.x29, r.lr);
    }
}

pub(crate) use registers::{pc_and_sp, set_registers};

/// Whether the access that faulted was a write: the context does not say.
pub(crate) fn is_write(_: &libc::ucontext_t) -> Option<bool> {
    None
}
