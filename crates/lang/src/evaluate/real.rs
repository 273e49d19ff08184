//! Operations computed in float32 and float64.

use super::cast::round;
use crate::ir::Number;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

macro_rules! define_real {
    ($($name:ident($($argument:ident),*))*) => {
        /// A floating-point type of the host, with the functions that operations need.
        pub(super) trait Real:
            Copy + PartialOrd + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
            + Div<Output = Self> + Rem<Output = Self>
        {
            /// The nearest value.
            fn of(value: f64) -> Self;
            /// The same number.
            fn wide(self) -> f64;
            /// The next value towards another one; 0 has the sign of that one.
            fn next_towards(self, other: Self) -> Self;
            /// Whether it is not a number.
            fn is_nan(self) -> bool {
                self.wide().is_nan()
            }
            $(fn $name(self $(, $argument: Self)*) -> Self;)*
        }

        define_real!(f32: $($name($($argument),*))*);
        define_real!(f64: $($name($($argument),*))*);
    };
    ($real:ident: $($name:ident($($argument:ident),*))*) => {
        impl Real for $real {
            fn of(value: f64) -> Self {
                value as $real
            }
            fn wide(self) -> f64 {
                self.into()
            }
            fn next_towards(self, other: Self) -> Self {
                match self.partial_cmp(&other) {
                    None => self + other,
                    Some(std::cmp::Ordering::Equal) => other,
                    Some(std::cmp::Ordering::Less) => self.next_up(),
                    Some(std::cmp::Ordering::Greater) => self.next_down(),
                }
            }
            $(fn $name(self $(, $argument: Self)*) -> Self {
                $real::$name(self $(, $argument)*)
            })*
        }
    };
}

define_real! {
    abs() sqrt() cbrt() exp() exp2() exp_m1() ln() log2() log10() ln_1p() sin() cos() tan() asin() acos() atan() sinh()
    cosh() tanh() asinh() atanh() floor() ceil() trunc() round_ties_even() powf(exponent) atan2(x) hypot(other)
    copysign(sign) mul_add(factor, summand)
}

/// An operation of real numbers.
pub(super) fn real_operation<R: Real>(op: Op, operands: &[Number]) -> Number {
    let at = |index: usize| match operands.get(index) {
        Some(Number::Float(value)) => R::of(*value),
        _ => R::of(0.0),
    };
    let (x, y, z, w) = (at(0), at(1), at(2), at(3));
    let zero = R::of(0.0);
    let truth = match op {
        Op::Equal => Some(x == y),
        Op::NotEqual => Some(x != y),
        Op::Less => Some(x < y),
        Op::LessEqual => Some(x <= y),
        Op::Greater => Some(x > y),
        Op::GreaterEqual => Some(x >= y),
        Op::LogicalAnd => Some(x != zero && y != zero),
        Op::LogicalOr => Some(x != zero || y != zero),
        Op::LogicalXor => Some((x != zero) != (y != zero)),
        Op::LogicalNot => Some(x == zero),
        Op::Isnan => Some(x.is_nan()),
        Op::Isinf => Some(x.wide().is_infinite()),
        Op::Isfinite => Some(x.wide().is_finite()),
        Op::Signbit => Some(x.wide().is_sign_negative()),
        _ => None,
    };
    if let Some(truth) = truth {
        return Number::Bool(truth);
    }
    if op == Op::Ldexp {
        let exponent = match operands.get(1) {
            Some(Number::Int(exponent)) => *exponent,
            Some(Number::Bool(exponent)) => (*exponent).into(),
            _ => 0,
        };
        return Number::Float(R::of(ldexp(x.wide(), exponent)).wide());
    }
    let value = match op {
        Op::Logaddexp | Op::Logaddexp2 | Op::Heaviside | Op::Arctan2 | Op::Hypot | Op::Copysign | Op::Nextafter => {
            function_of_two(op, x, y)
        }
        Op::Add => x + y,
        Op::Subtract => x - y,
        Op::Multiply => x * y,
        Op::TrueDivide => x / y,
        Op::FloorDivide => floor_divide(x, y),
        Op::Remainder => remainder(x, y),
        Op::Fmod => x % y,
        Op::Power | Op::FloatPower => x.powf(y),
        Op::Maximum => maximum(x, y),
        Op::Minimum => minimum(x, y),
        Op::Fmax => {
            if x >= y || y.is_nan() {
                x
            } else {
                y
            }
        }
        Op::Fmin => {
            if x <= y || y.is_nan() {
                x
            } else {
                y
            }
        }
        Op::Clip => minimum(maximum(x, y), z),
        // Of the two products the first one is not rounded.
        Op::Axpby => x.mul_add(y, z * w),
        Op::SquaredDeviation => (x - y) * (x - y),
        _ => function_of_one(op, x),
    };
    Number::Float(value.wide())
}

fn function_of_one<R: Real>(op: Op, x: R) -> R {
    match op {
        Op::Negative => -x,
        Op::Absolute | Op::Fabs => x.abs(),
        Op::Sign if x > R::of(0.0) => R::of(1.0),
        Op::Sign if x < R::of(0.0) => R::of(-1.0),
        Op::Sign if x == R::of(0.0) => R::of(0.0),
        Op::Square => x * x,
        Op::Reciprocal => R::of(1.0) / x,
        Op::Sqrt => x.sqrt(),
        Op::Cbrt => x.cbrt(),
        Op::Exp => x.exp(),
        Op::Exp2 => x.exp2(),
        Op::Expm1 => x.exp_m1(),
        Op::Log => x.ln(),
        Op::Log2 => x.log2(),
        Op::Log10 => x.log10(),
        Op::Log1p => x.ln_1p(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tan => x.tan(),
        Op::Arcsin => x.asin(),
        Op::Arccos => x.acos(),
        Op::Arctan => x.atan(),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Arcsinh => x.asinh(),
        Op::Arccosh => arccosh(x),
        Op::Arctanh => x.atanh(),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Trunc => x.trunc(),
        Op::Rint => x.round_ties_even(),
        Op::Deg2rad => x * R::of(std::f64::consts::PI / 180.0),
        Op::Rad2deg => x * R::of(180.0 / std::f64::consts::PI),
        Op::Angle if !x.wide().is_nan() => R::of(if x.wide().is_sign_negative() { std::f64::consts::PI } else { 0.0 }),
        Op::Imag => R::of(0.0),
        // Positive, Conjugate, Real; Sign and Angle of NaN.
        _ => x,
    }
}

fn function_of_two<R: Real>(op: Op, x: R, y: R) -> R {
    match op {
        Op::Logaddexp => log_of_sum(x, y, R::of(1.0), R::exp, R::of(std::f64::consts::LN_2)),
        Op::Logaddexp2 => log_of_sum(x, y, R::of(std::f64::consts::LOG2_E), R::exp2, R::of(1.0)),
        Op::Heaviside if x < R::of(0.0) => R::of(0.0),
        Op::Heaviside if x > R::of(0.0) => R::of(1.0),
        Op::Heaviside => {
            if x == R::of(0.0) {
                y
            } else {
                x
            }
        }
        Op::Arctan2 => x.atan2(y),
        Op::Hypot => x.hypot(y),
        Op::Copysign => x.copysign(y),
        _ => x.next_towards(y),
    }
}

/// NaN wins; of two equal numbers the first is taken.
fn maximum<R: Real>(x: R, y: R) -> R {
    if x >= y || x.is_nan() { x } else { y }
}

fn minimum<R: Real>(x: R, y: R) -> R {
    if x <= y || x.is_nan() { x } else { y }
}

/// As NumPy computes it from the remainder.
fn floor_divide<R: Real>(x: R, y: R) -> R {
    let zero = R::of(0.0);
    if y == zero {
        return x / y;
    }
    let rest = x % y;
    let quotient = (x - rest) / y;
    let quotient = if rest != zero && (y < zero) != (rest < zero) { quotient - R::of(1.0) } else { quotient };
    if quotient == zero {
        return zero.copysign(x / y);
    }
    let floor = quotient.floor();
    if quotient - floor > R::of(0.5) { floor + R::of(1.0) } else { floor }
}

/// The remainder with the sign of the divisor.
fn remainder<R: Real>(x: R, y: R) -> R {
    let (zero, rest) = (R::of(0.0), x % y);
    if y == zero {
        rest
    } else if rest == zero {
        zero.copysign(y)
    } else if (y < zero) != (rest < zero) {
        rest + y
    } else {
        rest
    }
}

/// The logarithm of a sum of powers: `per` is how many units of the logarithm one power of e is.
fn log_of_sum<R: Real>(x: R, y: R, per: R, power: fn(R) -> R, log_of_two: R) -> R {
    let difference = x - y;
    if x == y {
        x + log_of_two
    } else if difference > R::of(0.0) {
        x + per * power(-difference).ln_1p()
    } else if difference <= R::of(0.0) {
        y + per * power(difference).ln_1p()
    } else {
        difference
    }
}

/// The function of the standard library overflows and is inexact near 1.
fn arccosh<R: Real>(x: R) -> R {
    let above = x - R::of(1.0);
    if above > R::of(1e9) {
        return x.ln() + R::of(std::f64::consts::LN_2);
    }
    (above + (above * (above + R::of(2.0))).sqrt()).ln_1p()
}

/// `x` times a power of two, rounded once.
fn ldexp(x: f64, exponent: i128) -> f64 {
    let (mut scaled, mut rest) = (x, exponent.clamp(-3000, 3000) as i32);
    while rest > 1023 {
        (scaled, rest) = (scaled * 2f64.powi(1023), rest - 1023);
    }
    // At least 2^-53 is left for the last product: if a step before it rounds, the result is 0 anyhow.
    while rest < -1022 {
        (scaled, rest) = (scaled * 2f64.powi(-969), rest + 969);
    }
    scaled * 2f64.powi(rest)
}

/// The next number of 16 bits.
pub(super) fn nextafter_16_bit(x: Number, y: Number, dtype: DType) -> Number {
    let (Number::Float(x), Number::Float(y)) = (x, y) else { return x };
    let (digits, least) = if dtype == DType::F16 { (10, -24) } else { (7, -133) };
    if x.is_nan() || y.is_nan() {
        return Number::Float(x + y);
    }
    if x == y {
        return Number::Float(y);
    }
    if x.is_infinite() {
        // The largest number, which everything that rounds to it finds.
        let largest = if dtype == DType::F16 { 65504.0 } else { f64::from(f32::from_bits(0x7f7f_0000)) };
        return Number::Float(largest.copysign(x));
    }
    let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
    let step = 2f64.powi((exponent - digits).max(least));
    // Below a power of two numbers are closer together.
    let is_towards_zero = x != 0.0 && (x < y) != (x > 0.0);
    let is_power_of_two = x.abs().to_bits() << 12 == 0;
    let step = if is_towards_zero && is_power_of_two { (step / 2.0).max(2f64.powi(least)) } else { step };
    let next = if x < y { x + step } else { x - step };
    Number::Float(round(if next == 0.0 { next.copysign(x) } else { next }, dtype))
}
