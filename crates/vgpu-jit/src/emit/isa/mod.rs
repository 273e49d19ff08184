//! What differs between processors in machine code: which NaN double-precision arithmetic makes, which instructions
//! vectors have, how barriers and slow paths are called. `arch` of `rtcg-vgpu-exec` has what differs while kernels run.
#![allow(unsafe_code, reason = "trampolines are naked functions that compiled code calls")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::*;

#[cfg(test)]
mod tests {
    use super::F64_NAN_FROM_FIRST_OPERAND;
    use std::hint::black_box;

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
