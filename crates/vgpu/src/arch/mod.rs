//! What differs between processors, in one place: the floating-point mode, the cycle counter, the
//! exchange of 16 bytes, the registers of an interrupted context, which NaN double-precision arithmetic makes
//! and which instructions vectors have.
//!
//! Establishes the same interface for x86-64 and aarch64, on Linux and macOS; nothing else in this
//! crate asks for the processor (a test of `rtcg` sees to that). A processor without a file here
//! does not compile, rather than computing something else.

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
    use super::{F64_NAN_FROM_FIRST_OPERAND, read_cycle_counter, restore_float_mode, set_default_float_mode};
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

    #[test]
    fn f64_nan_comes_from_the_first_operand() {
        if !F64_NAN_FROM_FIRST_OPERAND {
            return;
        }
        let (a, b) = (f64::from_bits(0x7ff8_0000_0000_0001), f64::from_bits(0xfff0_0000_0000_0002));
        assert_eq!((black_box(a) + black_box(b)).to_bits(), 0x7ff8_0000_0000_0001);
        assert_eq!((black_box(b) * black_box(a)).to_bits(), 0xfff8_0000_0000_0002);
        assert_eq!((black_box(f64::INFINITY) * black_box(0.0)).to_bits(), 0xfff8_0000_0000_0000);
    }
}
