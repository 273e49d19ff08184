//! Binary formats, and the one function that rounds an exact number to any of them.

use crate::bigint::BigUint;
use std::cmp::Ordering;

/// A binary floating-point format: sign, exponent, fraction, from the highest bit down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    /// Bits of the exponent field.
    pub exp_bits: u32,
    /// Bits of the fraction field.
    pub frac_bits: u32,
    /// Whether the largest exponent means infinity and NaN; else only all ones is NaN.
    pub has_infinity: bool,
}

const fn float_format(exp_bits: u32, frac_bits: u32, has_infinity: bool) -> FloatFormat {
    FloatFormat { exp_bits, frac_bits, has_infinity }
}

/// `.f16`
pub const F16: FloatFormat = float_format(5, 10, true);
/// `.bf16`
pub const BF16: FloatFormat = float_format(8, 7, true);
/// `.tf32`: the upper 19 bits of 32.
pub const TF32: FloatFormat = float_format(8, 10, true);
/// `.f32`
pub const F32: FloatFormat = float_format(8, 23, true);
/// `.f64`
pub const F64: FloatFormat = float_format(11, 52, true);
/// `.e4m3`
pub const E4M3: FloatFormat = float_format(4, 3, false);
/// `.e5m2`
pub const E5M2: FloatFormat = float_format(5, 2, true);

impl FloatFormat {
    /// All bits of a number.
    pub fn total_bits(self) -> u32 {
        1 + self.exp_bits + self.frac_bits
    }
    /// The sign bit.
    pub fn sign_bit(self) -> u64 {
        1 << (self.total_bits() - 1)
    }
    /// Everything but the sign.
    pub fn magnitude_bits(self, bits: u64) -> u64 {
        bits & (self.sign_bit() - 1)
    }
    /// Whether the sign bit is set.
    pub fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }
    fn exponent_bias(self) -> i64 {
        (1 << (self.exp_bits - 1)) - 1
    }
    /// The exponent of the smallest normal number.
    pub fn min_exponent(self) -> i64 {
        1 - self.exponent_bias()
    }
    /// Infinity.
    pub fn infinity(self) -> u64 {
        ((1 << self.exp_bits) - 1) << self.frac_bits
    }
    /// The largest finite number.
    pub fn largest_finite(self) -> u64 {
        if self.has_infinity { self.infinity() - 1 } else { self.sign_bit() - 2 }
    }
    /// Whether it is a NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        self.magnitude_bits(bits) > if self.has_infinity { self.infinity() } else { self.largest_finite() }
    }
    /// The number 1.
    pub fn one_bits(self) -> u64 {
        (self.exponent_bias() as u64) << self.frac_bits
    }
    /// Whether it is subnormal; zero is not.
    pub fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = self.magnitude_bits(bits);
        magnitude > 0 && magnitude < 1 << self.frac_bits
    }
    /// Zero of the same sign instead of a subnormal number.
    pub fn flush_subnormal(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign_bit() } else { bits }
    }
}

/// What the bits of a format mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodedFloat {
    /// Not a number.
    Nan,
    /// Infinity; true is negative.
    Infinity(bool),
    /// `(-1)^negative * n * 2^exp`, zero included.
    Finite {
        /// The sign, of zero too.
        negative: bool,
        /// The significand.
        n: u64,
        /// The exponent of its lowest bit.
        exp: i64,
    },
}

/// Reads the bits of a format.
pub fn decode_float(f: FloatFormat, bits: u64) -> DecodedFloat {
    let negative = f.is_negative(bits);
    let magnitude = f.magnitude_bits(bits);
    if f.is_nan(bits) {
        return DecodedFloat::Nan;
    }
    if f.has_infinity && magnitude == f.infinity() {
        return DecodedFloat::Infinity(negative);
    }
    let (field, fraction) = (magnitude >> f.frac_bits, magnitude & ((1 << f.frac_bits) - 1));
    let lowest = f.min_exponent() - i64::from(f.frac_bits);
    match field {
        0 => DecodedFloat::Finite { negative, n: fraction, exp: lowest },
        _ => DecodedFloat::Finite { negative, n: fraction | 1 << f.frac_bits, exp: lowest + field as i64 - 1 },
    }
}

/// The magnitude of an exact result.
#[derive(Debug, Clone)]
pub enum ExactMagnitude {
    /// `n * 2^exp`
    Dyadic {
        /// Significand.
        n: BigUint,
        /// Exponent.
        exp: i64,
    },
    /// `n / d * 2^exp`
    Quotient {
        /// Dividend.
        n: BigUint,
        /// Divisor.
        d: u64,
        /// Exponent.
        exp: i64,
    },
    /// The square root of `n * 2^exp`.
    Root {
        /// Radicand.
        n: u64,
        /// Its exponent.
        exp: i64,
    },
}

/// How what was cut off compares with half a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundingRemainder {
    /// Nothing.
    Zero,
    /// Less than half.
    BelowHalf,
    /// Exactly half.
    Half,
    /// More than half.
    AboveHalf,
}

impl RoundingRemainder {
    /// Compares the remainder `rest` with half of `unit`.
    fn compare_with_half(rest: &BigUint, unit: &BigUint) -> RoundingRemainder {
        match rest.shift_left(1).cmp(unit) {
            _ if rest.is_zero() => RoundingRemainder::Zero,
            Ordering::Less => RoundingRemainder::BelowHalf,
            Ordering::Equal => RoundingRemainder::Half,
            Ordering::Greater => RoundingRemainder::AboveHalf,
        }
    }
}

impl ExactMagnitude {
    /// A natural number times a power of two.
    pub fn from_dyadic(n: u128, exp: i64) -> ExactMagnitude {
        ExactMagnitude::Dyadic { n: BigUint::new(n), exp }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            ExactMagnitude::Dyadic { n, .. } | ExactMagnitude::Quotient { n, .. } => n.is_zero(),
            ExactMagnitude::Root { n, .. } => *n == 0,
        }
    }

    /// `floor(self / 2^unit)` and how the rest compares with half of `2^unit`.
    fn split_at_unit(&self, unit: i64) -> (BigUint, RoundingRemainder) {
        match self {
            ExactMagnitude::Dyadic { n, exp } => {
                let down = unit - exp;
                if down <= 0 {
                    return (n.shift_left(-down), RoundingRemainder::Zero);
                }
                let whole = n.shift_right(down);
                let rest = n.sub(&whole.shift_left(down));
                (whole, RoundingRemainder::compare_with_half(&rest, &BigUint::new(1).shift_left(down)))
            }
            ExactMagnitude::Quotient { n, d, exp } => {
                let down = unit - exp;
                let n = n.shift_left((-down).max(0));
                let d = BigUint::new((*d).into()).shift_left(down.max(0));
                let (whole, rest) = n.div_rem(&d);
                (whole, RoundingRemainder::compare_with_half(&rest, &d))
            }
            ExactMagnitude::Root { n, exp } => {
                let up = exp - 2 * unit;
                assert!((0..=120).contains(&up), "a root has at least as many places as its operand");
                let square = u128::from(*n) << up;
                let whole = square.isqrt();
                // (whole + 1/2)^2 is no integer, so half a unit never happens.
                let rest = match square - whole * whole {
                    0 => RoundingRemainder::Zero,
                    over if over <= whole => RoundingRemainder::BelowHalf,
                    _ => RoundingRemainder::AboveHalf,
                };
                (BigUint::new(whole), rest)
            }
        }
    }

    /// The exponent of the leading bit: `2^top <= self < 2^(top + 1)`.
    fn leading_exponent(&self) -> i64 {
        match self {
            ExactMagnitude::Dyadic { n, exp } => n.bit_length() - 1 + exp,
            ExactMagnitude::Root { n, exp } => (BigUint::new((*n).into()).bit_length() - 1 + exp).div_euclid(2),
            ExactMagnitude::Quotient { n, d, exp } => {
                // The quotient of numbers of so many bits is one of two binades.
                let guess = n.bit_length() - BigUint::new((*d).into()).bit_length() + exp;
                if self.split_at_unit(guess).0.is_zero() { guess - 1 } else { guess }
            }
        }
    }
}

/// Rounding directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundingMode {
    /// To nearest, ties to even.
    Nearest,
    /// To nearest, ties away from zero.
    Away,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// The magnitude `k * 2^unit` that is nearest in direction `mode`.
fn round_to_multiple(mode: RoundingMode, negative: bool, x: &ExactMagnitude, unit: i64) -> BigUint {
    let (whole, rest) = x.split_at_unit(unit);
    let up = match mode {
        RoundingMode::Nearest => {
            rest == RoundingRemainder::AboveHalf || rest == RoundingRemainder::Half && whole.test_bit(0)
        }
        RoundingMode::Away => rest >= RoundingRemainder::Half,
        RoundingMode::Zero => false,
        RoundingMode::Down => negative && rest != RoundingRemainder::Zero,
        RoundingMode::Up => !negative && rest != RoundingRemainder::Zero,
    };
    whole.add(&BigUint::new(up.into()))
}

/// Rounds an exact number to a format: the multiple of the last place that `mode` asks for, or
/// beyond the largest number infinity or that largest number.
pub fn round_to_format(f: FloatFormat, mode: RoundingMode, negative: bool, x: &ExactMagnitude) -> u64 {
    let sign = if negative { f.sign_bit() } else { 0 };
    if x.is_zero() {
        return sign;
    }
    let frac = i64::from(f.frac_bits);
    let mut unit = x.leading_exponent().max(f.min_exponent()) - frac;
    let mut k = round_to_multiple(mode, negative, x, unit);
    if k.bit_length() > frac + 1 {
        // The carry went into a new place: a power of two.
        k = k.shift_right(1);
        unit += 1;
    }
    let field = if k.bit_length() == frac + 1 { unit + frac + f.exponent_bias() } else { 0 };
    let n = k.to_u128().map_or(0, |n| n as u64);
    let magnitude = if field == 0 { n } else { n - (1 << frac) };
    let magnitude = u128::from(magnitude) + ((field as u128) << frac);
    if magnitude > f.largest_finite().into() {
        let outward = match mode {
            RoundingMode::Nearest | RoundingMode::Away => true,
            RoundingMode::Zero => false,
            RoundingMode::Down => negative,
            RoundingMode::Up => !negative,
        };
        return sign | if outward && f.has_infinity { f.infinity() } else { f.largest_finite() };
    }
    sign | magnitude as u64
}

/// Whether the number, rounded with an unlimited range of exponents, is below the normal numbers
/// of the format and not zero. `.ftz` looks at that.
pub fn is_tiny_after_rounding(f: FloatFormat, mode: RoundingMode, negative: bool, x: &ExactMagnitude) -> bool {
    if x.is_zero() {
        return false;
    }
    let unit = x.leading_exponent() - i64::from(f.frac_bits);
    round_to_multiple(mode, negative, x, unit).bit_length() - 1 + unit < f.min_exponent()
}

/// The integer that `mode` makes of an exact number, as its magnitude.
pub fn round_to_integer(mode: RoundingMode, negative: bool, x: &ExactMagnitude) -> BigUint {
    round_to_multiple(mode, negative, x, 0)
}
