//! Between halves and single precision, without branches, so that loops over them become vectors.

/// What single precision gives for every NaN, as a half.
pub(super) const NAN_F16: u32 = 0x7fff;

/// A half in single precision, exactly; a NaN becomes some NaN.
#[inline(always)]
pub(super) fn f16_to_f32(bits: u32) -> f32 {
    let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7fff);
    let bias = if magnitude < 0x7c00 { 112 } else { 224 };
    let normal = (magnitude << 13) + (bias << 23);
    let subnormal = (magnitude as i32 as f32 * 2.0_f32.powi(-24)).to_bits();
    f32::from_bits(sign | if magnitude < 0x400 { subnormal } else { normal })
}

/// The half nearest to a number that is no NaN.
#[inline(always)]
pub(super) fn nearest_half(bits: u32) -> u32 {
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    // Adding a half puts the last place of a subnormal half at that of the sum.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let half = if magnitude < 113 << 23 { subnormal } else { normal };
    sign | if magnitude >= 143 << 23 { 0x7c00 } else { half }
}

/// The half nearest to a number, as `cvt` makes it.
#[inline(always)]
pub(super) fn f32_to_f16(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 { NAN_F16 } else { nearest_half(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::{FloatFormat, RoundMode, pack_rounded, unpack_float};

    #[test]
    fn conversions_are_exact_or_rounded_to_the_nearest() {
        for half in (0..=0xffff).filter(|half| half & 0x7fff <= 0x7c00) {
            let single = f16_to_f32(half).to_bits();
            assert_eq!(f32_to_f16(single), half);
            // Numbers around a half and around the middle between two.
            for bits in [-1, 0, 1, 0xfff, 0x1000, 0x1001].map(|step| single.wrapping_add_signed(step)) {
                let number = unpack_float(FloatFormat::F32, bits.into());
                let nearest = pack_rounded(FloatFormat::F16, RoundMode::Nearest, number) as u32;
                assert_eq!(f32_to_f16(bits), nearest, "{bits:#x}");
            }
        }
        assert!(f16_to_f32(0x7c01).is_nan() && f16_to_f32(0xffff).is_nan());
    }
}
