//! What a tensor core makes of a sum of products of floats.
//!
//! NVIDIA does not say it. The model is the one that M. Fasi et al. ("Numerical behavior of NVIDIA
//! tensor cores", 2021), F. Khattak and M. Mikaitis ("Accurate models of NVIDIA tensor cores",
//! 2025) and P. Xie et al. ("MMA-Sim", 2025) found by experiment, with their figures for sm_90.

use crate::float::{FloatFormat, RoundMode, round_and_pack};
use rtcg_ptx::ast::MatrixType;

/// Bits after the binary point of a term whose exponent is the largest.
pub const SUM_FRACTION_BITS: i32 = 25;
/// Exponents below this one count as it.
pub const MIN_EXPONENT: i32 = -126;
/// What a sum of halves is that is zero or rounds to zero.
pub const ZERO_OF_HALF_SUMS: u64 = 0;

/// An element taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactNumber {
    /// Not a number.
    Nan,
    /// Infinity; true is negative.
    Inf(bool),
    /// `(-1)^negative * significand * 2^(exponent - fraction)`: subnormal numbers keep the least
    /// exponent of their format.
    Finite {
        /// The sign.
        negative: bool,
        /// With the hidden bit.
        significand: u64,
        /// That of the exponent field.
        exponent: i32,
        /// Bits after the binary point.
        fraction: i32,
    },
}

impl ExactNumber {
    /// The number that `bits` stand for. Of `.tf32` only the upper 19 bits of 32 count.
    pub fn from_bits(ty: MatrixType, bits: u64) -> ExactNumber {
        let (f, bits) = match ty {
            MatrixType::F16 => (FloatFormat::F16, bits),
            MatrixType::BF16 => (FloatFormat::BF16, bits),
            MatrixType::TF32 => (FloatFormat::TF32, bits >> 13),
            _ => (FloatFormat::F32, bits),
        };
        let negative = bits & f.sign_bit() != 0;
        let field = (bits >> f.frac_bits & ((1 << f.exp_bits) - 1)) as i32;
        let fraction = bits & ((1 << f.frac_bits) - 1);
        if field == (1 << f.exp_bits) - 1 {
            return if fraction == 0 { ExactNumber::Inf(negative) } else { ExactNumber::Nan };
        }
        let hidden = u64::from(field != 0) << f.frac_bits;
        ExactNumber::Finite {
            negative,
            significand: hidden | fraction,
            exponent: field.max(1) - ((1 << (f.exp_bits - 1)) - 1),
            fraction: f.frac_bits as i32,
        }
    }

    fn multiply(self, o: ExactNumber) -> ExactNumber {
        use ExactNumber::*;
        match (self, o) {
            (Nan, _) | (_, Nan) => Nan,
            (Inf(s), Inf(t)) => Inf(s != t),
            (Inf(s), Finite { negative, significand, .. }) | (Finite { negative, significand, .. }, Inf(s)) => {
                if significand == 0 {
                    Nan
                } else {
                    Inf(s != negative)
                }
            }
            (
                Finite { negative: s, significand: x, exponent: e, fraction: p },
                Finite { negative: t, significand: y, exponent: f, fraction: q },
            ) => Finite { negative: s != t, significand: x * y, exponent: e + f, fraction: p + q },
        }
    }

    /// The exponent that terms are aligned by; that of a zero does not count.
    fn alignment_exponent(self) -> i32 {
        match self {
            ExactNumber::Finite { significand, exponent, .. } if significand != 0 => exponent,
            _ => MIN_EXPONENT,
        }
    }

    /// In units of `2^unit`, cut towards zero.
    fn to_fixed_point(self, unit: i32) -> i64 {
        let ExactNumber::Finite { negative, significand, exponent, fraction } = self else { return 0 };
        let shift = exponent - fraction - unit;
        let magnitude = match shift {
            0.. => significand << shift.min(63),
            _ => significand.checked_shr(shift.unsigned_abs()).unwrap_or(0),
        };
        if negative { -(magnitude as i64) } else { magnitude as i64 }
    }
}

/// The sum of products and `c`, as a number of format `d` (`.f32` or `.f16`).
///
/// The products are exact. All terms are cut towards zero to multiples of `2^(e - 25)`, where `e`
/// is the largest exponent among them (of a product the sum of its factors' exponents), and added
/// exactly; the sum is cut towards zero to single precision or rounded to the nearest half. A result
/// of zero is +0.
pub fn exact_dot(
    terms: impl Iterator<Item = (ExactNumber, ExactNumber)> + Clone,
    c: ExactNumber,
    d: MatrixType,
) -> u64 {
    let format = if d == MatrixType::F16 { FloatFormat::F16 } else { FloatFormat::F32 };
    let all = || terms.clone().map(|(x, y)| x.multiply(y)).chain([c]);
    if let Some(special) = nan_or_infinity_result(all(), format) {
        return special;
    }
    let unit =
        all().map(ExactNumber::alignment_exponent).max().unwrap_or(MIN_EXPONENT).max(MIN_EXPONENT) - SUM_FRACTION_BITS;
    let sum: i64 = all().map(|term| term.to_fixed_point(unit)).sum();
    let (negative, magnitude) = (sum < 0, sum.unsigned_abs());
    if sum == 0 {
        return 0;
    }
    if format == FloatFormat::F16 {
        let half = round_and_pack(format, RoundMode::Nearest, negative, unit, magnitude.into(), false);
        return if half & !format.sign_bit() == 0 { ZERO_OF_HALF_SUMS } else { half };
    }
    let beyond = unit + 64 - magnitude.leading_zeros() as i32 > 128;
    let sign = if negative { format.sign_bit() } else { 0 };
    if beyond {
        sign | format.infinity()
    } else {
        round_and_pack(format, RoundMode::Zero, negative, unit, magnitude.into(), false)
    }
}

/// The result when a term is infinite or no number.
fn nan_or_infinity_result(terms: impl Iterator<Item = ExactNumber>, f: FloatFormat) -> Option<u64> {
    let (mut nan, mut plus, mut minus) = (false, false, false);
    for term in terms {
        nan |= term == ExactNumber::Nan;
        plus |= term == ExactNumber::Inf(false);
        minus |= term == ExactNumber::Inf(true);
    }
    match (nan || (plus && minus), plus, minus) {
        (true, ..) => Some(f.canonical_nan()),
        (_, true, _) => Some(f.infinity()),
        (_, _, true) => Some(f.sign_bit() | f.infinity()),
        _ => None,
    }
}
