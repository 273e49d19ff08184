//! Conversions between dtypes, as kernels do them (`rt_cast` in `core.cuh`, `half.cuh` and `complex.cuh`).
//!
//! Integers wrap. Real numbers become integers through a signed integer of 32 bits, for narrower ones, or of 64 bits, to
//! which the processor clamps; what a NaN becomes there is that of PTX.

use crate::ir::Number;
use rtcg_hal::{DType, DTypeKind};

/// A number of dtype `from` as one of dtype `to`.
pub fn cast(number: Number, from: DType, to: DType) -> Number {
    match to.kind() {
        DTypeKind::Bool => Number::Bool(is_true(number)),
        DTypeKind::Unsigned | DTypeKind::Signed => Number::Int(match number {
            Number::Bool(value) => value.into(),
            Number::Int(value) => wrap(value, to),
            Number::Float(value) | Number::Complex(value, _) => {
                real_to_integer(value, from.real_part() == DType::F64, to)
            }
        }),
        DTypeKind::Float => Number::Float(real(number, to)),
        DTypeKind::Complex => {
            let im = if let Number::Complex(_, im) = number { round(im, to.real_part()) } else { 0.0 };
            Number::Complex(real(number, to.real_part()), im)
        }
        DTypeKind::Record => number,
    }
}

/// Whether a number is not zero.
pub(super) fn is_true(number: Number) -> bool {
    match number {
        Number::Bool(value) => value,
        Number::Int(value) => value != 0,
        Number::Float(value) => value != 0.0,
        Number::Complex(re, im) => re != 0.0 || im != 0.0,
    }
}

/// The real part as a floating-point number of a dtype.
fn real(number: Number, to: DType) -> f64 {
    match number {
        Number::Bool(value) => f64::from(u8::from(value)),
        // bfloat16 is rounded from float, float16 from double.
        Number::Int(value) if matches!(to, DType::F32 | DType::BF16) => round((value as f32).into(), to),
        Number::Int(value) => round(value as f64, to),
        Number::Float(value) | Number::Complex(value, _) => round(value, to),
    }
}

/// The nearest value of a floating-point dtype; of two, the even one.
pub(super) fn round(value: f64, to: DType) -> f64 {
    match to {
        DType::F32 => (value as f32).into(),
        DType::F16 => round_to(value, 11, -14, 65504.0),
        // By way of float, as kernels convert it.
        DType::BF16 => round_to((value as f32).into(), 8, -126, f64::from(f32::from_bits(0x7f7f_0000))),
        _ => value,
    }
}

/// Rounds to a format with this many significant bits, least exponent of normal numbers and largest number.
fn round_to(value: f64, bits: i32, least_exponent: i32, largest: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let biased = (value.abs().to_bits() >> 52) as i32;
    let exponent = (biased - 1023).max(least_exponent);
    // The distance between adjacent numbers; a power of two, so that both operations with it are exact.
    let step = 2f64.powi(exponent - bits + 1);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > largest { f64::INFINITY.copysign(value) } else { rounded }
}

/// An integer reduced to the range of an integer dtype.
pub(super) fn wrap(value: i128, to: DType) -> i128 {
    match to {
        DType::I8 => value as i8 as i128,
        DType::I16 => value as i16 as i128,
        DType::I32 => value as i32 as i128,
        DType::I64 => value as i64 as i128,
        DType::U8 => value as u8 as i128,
        DType::U16 => value as u16 as i128,
        DType::U32 => value as u32 as i128,
        _ => value as u64 as i128,
    }
}

fn real_to_integer(value: f64, is_double: bool, to: DType) -> i128 {
    match to {
        DType::I64 => to_signed_64(value).into(),
        DType::U64 if value < 0.0 => (to_signed_64(value) as u64).into(),
        DType::U64 if value.is_nan() => 1 << 63,
        DType::U64 => (value as u64).into(),
        _ if to.itemsize() == 4 => wrap(to_signed_64(value).into(), to),
        _ if value.is_nan() && is_double => wrap(i32::MIN.into(), to),
        _ => wrap((value as i32).into(), to),
    }
}

fn to_signed_64(value: f64) -> i64 {
    if value.is_nan() { i64::MIN } else { value as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    fn float(value: f64, to: DType) -> f64 {
        let Number::Float(rounded) = cast(Number::Float(value), F64, to) else { panic!("{to}") };
        rounded
    }

    fn integer(value: f64, to: DType) -> i128 {
        let Number::Int(integer) = cast(Number::Float(value), F32, to) else { panic!("{to}") };
        integer
    }

    #[test]
    fn small_floats_are_rounded_once_to_even() {
        for (value, half) in [
            (1.0 + 2f64.powi(-11), 1.0),
            (1.0 + 3.0 * 2f64.powi(-11), 1.0 + 2f64.powi(-9)),
            (1.0 + 2f64.powi(-11) + 2f64.powi(-40), 1.0 + 2f64.powi(-10)),
            (65519.9, 65504.0),
            (65520.0, f64::INFINITY),
            (-1e30, f64::NEG_INFINITY),
            (2f64.powi(-25), 0.0),
            (1.5 * 2f64.powi(-25), 2f64.powi(-24)),
            (-3.0 * 2f64.powi(-26), -2f64.powi(-24)),
            (2f64.powi(-14) - 2f64.powi(-26), 2f64.powi(-14)),
        ] {
            assert_eq!(float(value, F16).to_bits(), half.to_bits(), "{value:e}");
        }
        assert_eq!(float(1.0 + 2f64.powi(-8), BF16), 1.0);
        assert_eq!(float(1.0 + 3.0 * 2f64.powi(-8), BF16), 1.0 + 2f64.powi(-6));
        assert_eq!(float(3.4e38, BF16), f64::INFINITY);
        assert!(float(f64::NAN, BF16).is_nan() && float(f64::NAN, F16).is_nan());
        assert_eq!(float(-1e-300, F32).to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn all_numbers_of_16_bits_are_kept() {
        for bits in 0..=u16::MAX {
            let bfloat = f64::from(f32::from_bits(u32::from(bits) << 16));
            assert!(float(bfloat, BF16) == bfloat || bfloat.is_nan(), "{bits:x}");
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let half = match exponent {
                31 => f64::INFINITY,
                0 => fraction * 2f64.powi(-24),
                _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            assert_eq!(float(half, F16), half, "{bits:x}");
        }
    }

    #[test]
    fn real_numbers_become_integers_as_processors_convert() {
        for (value, to, expected) in [
            (-1.9, I8, -1),
            (300.7, I8, 44),
            (300.7, U8, 44),
            (-1.0, U16, 65535),
            (1e10, I16, -1),
            (1e10, I32, 1410065408),
            (-1.0, U32, 4294967295),
            (1e30, I64, i64::MAX.into()),
            (-1.0, U64, u64::MAX.into()),
            (1e30, U64, u64::MAX.into()),
            (f64::NAN, I32, 0),
            (f64::NAN, I64, i64::MIN.into()),
            (f64::NAN, U64, 1 << 63),
        ] {
            assert_eq!(integer(value, to), expected, "{value} to {to}");
        }
    }

    #[test]
    fn other_conversions() {
        assert_eq!(cast(Number::Int(-1), I64, U8), Number::Int(255));
        assert_eq!(cast(Number::Int(u64::MAX.into()), U64, I64), Number::Int(-1));
        assert_eq!(cast(Number::Int((1 << 24) + 1), I64, F32), Number::Float(16777216.0));
        assert_eq!(cast(Number::Float(f64::NAN), F32, Bool), Number::Bool(true));
        assert_eq!(cast(Number::Complex(0.0, 2.0), C64, Bool), Number::Bool(true));
        assert_eq!(cast(Number::Complex(1.5, 2.0), C64, I32), Number::Int(1));
        assert_eq!(cast(Number::Float(0.1), F64, C64), Number::Complex(f64::from(0.1f32), 0.0));
        assert_eq!(cast(Number::Bool(true), Bool, C128), Number::Complex(1.0, 0.0));
    }
}
