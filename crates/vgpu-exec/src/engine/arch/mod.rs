//! What differs between processors while kernels run: the floating-point mode, the cycle counter, the
//! exchange of 16 bytes, stacks, the registers of an interrupted context. `emit/isa` of
//! `rtcg-vgpu-jit` has what differs in machine code.
//!
//! Establishes the same interface for x86-64 and aarch64, on Linux and macOS; nothing but that folder, this
//! one and the sums of `rtcg-vgpu-softmath` asks for the processor (a test of `rtcg` sees to that). A processor without a
//! file here does not compile, rather than computing something else.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

/// Compares 16 bytes with the first number and replaces them by the second if equal; what was found.
pub(crate) type CompareExchange16Fn = unsafe fn(*mut u128, u128, u128) -> u128;

#[cfg(test)]
mod tests {
    use super::{read_cycle_counter, restore_float_mode, set_default_float_mode};
    use std::hint::black_box;

    #[test]
    fn float_mode_is_set_and_restored() {
        let old = set_default_float_mode();
        assert!(black_box(f32::MIN_POSITIVE) * black_box(0.5) > 0.0);
        assert_eq!(black_box(1.0f64) + black_box(f64::EPSILON / 2.0), 1.0);
        restore_float_mode(old);
        let again = set_default_float_mode();
        restore_float_mode(again);
        assert_eq!(old & !0x3f, again & !0x3f);
    }

    #[test]
    fn cycle_counter_increases() {
        let start = read_cycle_counter();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(read_cycle_counter() > start);
    }
}
