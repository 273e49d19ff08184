//! Binary formats, and the one function that rounds an exact number to any of them.

use crate::big::Big;
use std::cmp::Ordering;

/// A binary floating-point format: sign, exponent, fraction, from the highest bit down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent field.
    pub exp_bits: u32,
    /// Bits of the fraction field.
    pub frac_bits: u32,
    /// Whether the largest exponent means infinity and NaN; else only all ones is NaN.
    pub has_infinity: bool,
}

const fn format(exp_bits: u32, frac_bits: u32, has_infinity: bool) -> Format {
    Format { exp_bits, frac_bits, has_infinity }
}

/// `.f16`
pub const F16: Format = format(5, 10, true);
/// `.bf16`
pub const BF16: Format = format(8, 7, true);
/// `.tf32`: the upper 19 bits of 32.
pub const TF32: Format = format(8, 10, true);
/// `.f32`
pub const F32: Format = format(8, 23, true);
/// `.f64`
pub const F64: Format = format(11, 52, true);
/// `.e4m3`
pub const E4M3: Format = format(4, 3, false);
/// `.e5m2`
pub const E5M2: Format = format(5, 2, true);

impl Format {
    /// All bits of a number.
    pub fn bits(self) -> u32 {
        1 + self.exp_bits + self.frac_bits
    }
    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }
    /// Everything but the sign.
    pub fn magnitude(self, bits: u64) -> u64 {
        bits & (self.sign() - 1)
    }
    /// Whether the sign bit is set.
    pub fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }
    fn bias(self) -> i64 {
        (1 << (self.exp_bits - 1)) - 1
    }
    /// The exponent of the smallest normal number.
    pub fn min_exponent(self) -> i64 {
        1 - self.bias()
    }
    /// Infinity.
    pub fn infinity(self) -> u64 {
        ((1 << self.exp_bits) - 1) << self.frac_bits
    }
    /// The largest finite number.
    pub fn largest(self) -> u64 {
        if self.has_infinity { self.infinity() - 1 } else { self.sign() - 2 }
    }
    /// Whether it is a NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > if self.has_infinity { self.infinity() } else { self.largest() }
    }
    /// The number 1.
    pub fn one(self) -> u64 {
        (self.bias() as u64) << self.frac_bits
    }
    /// Whether it is subnormal; zero is not.
    pub fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = self.magnitude(bits);
        magnitude > 0 && magnitude < 1 << self.frac_bits
    }
    /// Zero of the same sign instead of a subnormal number.
    pub fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }
}

/// What the bits of a format mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
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
pub fn decode(f: Format, bits: u64) -> Number {
    let negative = f.is_negative(bits);
    let magnitude = f.magnitude(bits);
    if f.is_nan(bits) {
        return Number::Nan;
    }
    if f.has_infinity && magnitude == f.infinity() {
        return Number::Infinity(negative);
    }
    let (field, fraction) = (magnitude >> f.frac_bits, magnitude & ((1 << f.frac_bits) - 1));
    let lowest = f.min_exponent() - i64::from(f.frac_bits);
    match field {
        0 => Number::Finite { negative, n: fraction, exp: lowest },
        _ => Number::Finite { negative, n: fraction | 1 << f.frac_bits, exp: lowest + field as i64 - 1 },
    }
}

/// The magnitude of an exact result.
#[derive(Debug, Clone)]
pub enum Exact {
    /// `n * 2^exp`
    Dyadic {
        /// Significand.
        n: Big,
        /// Exponent.
        exp: i64,
    },
    /// `n / d * 2^exp`
    Quotient {
        /// Dividend.
        n: Big,
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
pub enum Remainder {
    /// Nothing.
    Zero,
    /// Less than half.
    BelowHalf,
    /// Exactly half.
    Half,
    /// More than half.
    AboveHalf,
}

impl Remainder {
    /// Compares the remainder `rest` with half of `unit`.
    fn of(rest: &Big, unit: &Big) -> Remainder {
        match rest.shl(1).cmp(unit) {
            _ if rest.is_zero() => Remainder::Zero,
            Ordering::Less => Remainder::BelowHalf,
            Ordering::Equal => Remainder::Half,
            Ordering::Greater => Remainder::AboveHalf,
        }
    }
}

impl Exact {
    /// A natural number times a power of two.
    pub fn dyadic(n: u128, exp: i64) -> Exact {
        Exact::Dyadic { n: Big::new(n), exp }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Exact::Dyadic { n, .. } | Exact::Quotient { n, .. } => n.is_zero(),
            Exact::Root { n, .. } => *n == 0,
        }
    }

    /// `floor(self / 2^unit)` and how the rest compares with half of `2^unit`.
    fn split(&self, unit: i64) -> (Big, Remainder) {
        match self {
            Exact::Dyadic { n, exp } => {
                let down = unit - exp;
                if down <= 0 {
                    return (n.shl(-down), Remainder::Zero);
                }
                let whole = n.shr(down);
                let rest = n.sub(&whole.shl(down));
                (whole, Remainder::of(&rest, &Big::new(1).shl(down)))
            }
            Exact::Quotient { n, d, exp } => {
                let down = unit - exp;
                let n = n.shl((-down).max(0));
                let d = Big::new((*d).into()).shl(down.max(0));
                let (whole, rest) = n.div_rem(&d);
                (whole, Remainder::of(&rest, &d))
            }
            Exact::Root { n, exp } => {
                let up = exp - 2 * unit;
                assert!((0..=120).contains(&up), "a root has at least as many places as its operand");
                let square = u128::from(*n) << up;
                let whole = square.isqrt();
                // (whole + 1/2)^2 is no integer, so half a unit never happens.
                let rest = match square - whole * whole {
                    0 => Remainder::Zero,
                    over if over <= whole => Remainder::BelowHalf,
                    _ => Remainder::AboveHalf,
                };
                (Big::new(whole), rest)
            }
        }
    }

    /// The exponent of the leading bit: `2^top <= self < 2^(top + 1)`.
    fn top(&self) -> i64 {
        match self {
            Exact::Dyadic { n, exp } => n.bits() - 1 + exp,
            Exact::Root { n, exp } => (Big::new((*n).into()).bits() - 1 + exp).div_euclid(2),
            Exact::Quotient { n, d, exp } => {
                // The quotient of numbers of so many bits is one of two binades.
                let guess = n.bits() - Big::new((*d).into()).bits() + exp;
                if self.split(guess).0.is_zero() { guess - 1 } else { guess }
            }
        }
    }
}

/// Rounding directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
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
fn to_multiple(mode: Mode, negative: bool, x: &Exact, unit: i64) -> Big {
    let (whole, rest) = x.split(unit);
    let up = match mode {
        Mode::Nearest => rest == Remainder::AboveHalf || rest == Remainder::Half && whole.bit(0),
        Mode::Away => rest >= Remainder::Half,
        Mode::Zero => false,
        Mode::Down => negative && rest != Remainder::Zero,
        Mode::Up => !negative && rest != Remainder::Zero,
    };
    whole.add(&Big::new(up.into()))
}

/// Rounds an exact number to a format: the multiple of the last place that `mode` asks for, or
/// beyond the largest number infinity or that largest number.
pub fn round(f: Format, mode: Mode, negative: bool, x: &Exact) -> u64 {
    let sign = if negative { f.sign() } else { 0 };
    if x.is_zero() {
        return sign;
    }
    let frac = i64::from(f.frac_bits);
    let mut unit = x.top().max(f.min_exponent()) - frac;
    let mut k = to_multiple(mode, negative, x, unit);
    if k.bits() > frac + 1 {
        // The carry went into a new place: a power of two.
        k = k.shr(1);
        unit += 1;
    }
    let field = if k.bits() == frac + 1 { unit + frac + f.bias() } else { 0 };
    let n = k.to_u128().map_or(0, |n| n as u64);
    let magnitude = if field == 0 { n } else { n - (1 << frac) };
    let magnitude = u128::from(magnitude) + ((field as u128) << frac);
    if magnitude > f.largest().into() {
        let outward = match mode {
            Mode::Nearest | Mode::Away => true,
            Mode::Zero => false,
            Mode::Down => negative,
            Mode::Up => !negative,
        };
        return sign | if outward && f.has_infinity { f.infinity() } else { f.largest() };
    }
    sign | magnitude as u64
}

/// Whether the number, rounded with an unlimited range of exponents, is below the normal numbers
/// of the format and not zero. `.ftz` looks at that.
pub fn is_tiny(f: Format, mode: Mode, negative: bool, x: &Exact) -> bool {
    if x.is_zero() {
        return false;
    }
    let unit = x.top() - i64::from(f.frac_bits);
    to_multiple(mode, negative, x, unit).bits() - 1 + unit < f.min_exponent()
}

/// The integer that `mode` makes of an exact number, as its magnitude.
pub fn to_integer(mode: Mode, negative: bool, x: &Exact) -> Big {
    to_multiple(mode, negative, x, 0)
}
