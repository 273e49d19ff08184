//! The processor's floating-point mode while kernels run: round to nearest, subnormals kept, no
//! exceptions, whatever the calling thread had set.

/// Sets the default mode and returns the old one.
#[cfg(target_arch = "x86_64")]
pub(crate) fn set_default() -> u64 {
    let mut old = 0_u32;
    let default = 0x1f80_u32;
    // SAFETY: stores and loads the SSE control register; no exception is enabled by the new value.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack));
        if old & !0x3f != default {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const default, options(nostack));
        }
    }
    u64::from(old)
}

/// Restores what [`set_default`] returned.
#[cfg(target_arch = "x86_64")]
pub(crate) fn restore(old: u64) {
    let old = old as u32;
    if old & !0x3f != 0x1f80 {
        // SAFETY: the value was read from the register before.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const old, options(nostack)) };
    }
}

/// Sets the default mode and returns the old one.
#[cfg(target_arch = "aarch64")]
pub(crate) fn set_default() -> u64 {
    let old: u64;
    // SAFETY: reads and writes the floating-point control register; zero is its default.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) old, options(nostack));
        std::arch::asm!("msr fpcr, {}", in(reg) 0_u64, options(nostack));
    }
    old
}

/// Restores what [`set_default`] returned.
#[cfg(target_arch = "aarch64")]
pub(crate) fn restore(old: u64) {
    // SAFETY: the value was read from the register before.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) old, options(nostack)) };
}
