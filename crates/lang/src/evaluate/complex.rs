//! Operations computed in complex64 and complex128.
//!
//! Arithmetic has the roundings of kernels. Functions are computed in float64 by the formulas of W. Kahan ("Branch cuts
//! for complex elementary functions", 1987) and rounded; signs of zero are right, infinities and NaN are what the formulas
//! give.

use super::real::Real;
use crate::ir::Number;
use rtcg_codegen::array::Op;
use std::ops::{Add, Div, Mul, Sub};

/// A complex number.
#[derive(Clone, Copy)]
struct Complex<R> {
    re: R,
    im: R,
}

/// A complex number.
fn complex<R>(re: R, im: R) -> Complex<R> {
    Complex { re, im }
}

impl<R: Real> Add for Complex<R> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        complex(self.re + other.re, self.im + other.im)
    }
}

impl<R: Real> Sub for Complex<R> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        complex(self.re - other.re, self.im - other.im)
    }
}

impl<R: Real> Mul for Complex<R> {
    type Output = Self;
    /// Of the two products of each part the first one is not rounded.
    fn mul(self, other: Self) -> Self {
        complex(self.re.mul_add(other.re, -(self.im * other.im)), self.re.mul_add(other.im, self.im * other.re))
    }
}

impl<R: Real> Div for Complex<R> {
    type Output = Self;
    /// After R. L. Smith (Algorithm 116, CACM 1962).
    fn div(self, other: Self) -> Self {
        let zero = R::of(0.0);
        if other.re.abs() >= other.im.abs() {
            if other.re == zero && other.im == zero {
                return complex(self.re / other.re.abs(), self.im / other.re.abs());
            }
            let ratio = other.im / other.re;
            let scale = other.re + other.im * ratio;
            return complex((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale);
        }
        let ratio = other.re / other.im;
        let scale = other.re * ratio + other.im;
        complex((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
    }
}

impl<R: Real> Complex<R> {
    fn is_true(self) -> bool {
        self.re != R::of(0.0) || self.im != R::of(0.0)
    }

    fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }

    fn parts(self) -> [f64; 2] {
        [self.re.wide(), self.im.wide()]
    }

    /// Ordered by the real part, then by the imaginary part; nothing is less than a NaN.
    fn is_less(self, other: Self) -> bool {
        (self.re < other.re && !self.im.is_nan() && !other.im.is_nan()) || (self.re == other.re && self.im < other.im)
    }

    fn is_less_equal(self, other: Self) -> bool {
        (self.re < other.re && !self.im.is_nan() && !other.im.is_nan()) || (self.re == other.re && self.im <= other.im)
    }

    fn maximum(self, other: Self) -> Self {
        if self.is_nan() || other.is_less_equal(self) { self } else { other }
    }

    fn minimum(self, other: Self) -> Self {
        if self.is_nan() || self.is_less_equal(other) { self } else { other }
    }

    fn length(self) -> R {
        self.re.hypot(self.im)
    }
}

/// An operation of complex numbers.
pub(super) fn complex_operation<R: Real>(op: Op, operands: &[Number]) -> Number {
    let at = |index: usize| match operands.get(index) {
        Some(Number::Complex(re, im)) => complex(R::of(*re), R::of(*im)),
        _ => complex(R::of(0.0), R::of(0.0)),
    };
    let (x, y, z, w) = (at(0), at(1), at(2), at(3));
    let truth = match op {
        Op::Equal => Some(x.re == y.re && x.im == y.im),
        Op::NotEqual => Some(x.re != y.re || x.im != y.im),
        Op::Less => Some(x.is_less(y)),
        Op::LessEqual => Some(x.is_less_equal(y)),
        Op::Greater => Some(y.is_less(x)),
        Op::GreaterEqual => Some(y.is_less_equal(x)),
        Op::LogicalAnd => Some(x.is_true() && y.is_true()),
        Op::LogicalOr => Some(x.is_true() || y.is_true()),
        Op::LogicalXor => Some(x.is_true() != y.is_true()),
        Op::LogicalNot => Some(!x.is_true()),
        Op::Isnan => Some(x.is_nan()),
        Op::Isinf => Some(x.parts().iter().any(|part| part.is_infinite())),
        Op::Isfinite => Some(x.parts().iter().all(|part| part.is_finite())),
        _ => None,
    };
    if let Some(truth) = truth {
        return Number::Bool(truth);
    }
    let difference = x - y;
    let part = match op {
        Op::Absolute => Some(x.length()),
        Op::Angle => Some(x.im.atan2(x.re)),
        Op::Real => Some(x.re),
        Op::Imag => Some(x.im),
        Op::SquaredDeviation => Some(difference.re * difference.re + difference.im * difference.im),
        _ => None,
    };
    if let Some(part) = part {
        return Number::Float(part.wide());
    }
    let value = match op {
        Op::Add => x + y,
        Op::Subtract => difference,
        Op::Multiply => x * y,
        Op::Square => x * x,
        Op::TrueDivide => x / y,
        Op::Axpby => x * y + z * w,
        Op::Maximum => x.maximum(y),
        Op::Minimum => x.minimum(y),
        Op::Fmax => {
            if y.is_nan() || (!x.is_nan() && y.is_less_equal(x)) {
                x
            } else {
                y
            }
        }
        Op::Fmin => {
            if y.is_nan() || (!x.is_nan() && x.is_less_equal(y)) {
                x
            } else {
                y
            }
        }
        Op::Clip => x.maximum(y).minimum(z),
        Op::Positive => x,
        Op::Negative => complex(-x.re, -x.im),
        Op::Conjugate => complex(x.re, -x.im),
        Op::Sign => sign(x),
        Op::Reciprocal => reciprocal(x),
        Op::Rint => complex(x.re.round_ties_even(), x.im.round_ties_even()),
        _ => {
            let wide = |value: Complex<R>| complex(value.re.wide(), value.im.wide());
            let value =
                if matches!(op, Op::Power | Op::FloatPower) { power(wide(x), wide(y)) } else { function(op, wide(x)) };
            complex(R::of(value.re), R::of(value.im))
        }
    };
    Number::Complex(value.re.wide(), value.im.wide())
}

/// As a quotient of 1, but NaN for zero.
fn reciprocal<R: Real>(x: Complex<R>) -> Complex<R> {
    let nan = R::of(f64::NAN);
    if x.is_true() { complex(R::of(1.0), R::of(0.0)) / x } else { complex(nan, nan) }
}

fn sign<R: Real>(x: Complex<R>) -> Complex<R> {
    let (zero, one, length) = (R::of(0.0), R::of(1.0), x.length());
    if length == zero {
        return complex(zero, zero);
    }
    if !length.wide().is_infinite() {
        return complex(x.re / length, x.im / length);
    }
    // One infinite part decides the direction, two do not.
    match (x.re.wide().is_infinite(), x.im.wide().is_infinite()) {
        (true, false) => complex(one.copysign(x.re), zero),
        (false, true) => complex(zero, one.copysign(x.im)),
        _ => {
            let sum = x.re / length + x.im / length;
            complex(sum, sum)
        }
    }
}

type C = Complex<f64>;

/// A function of one complex number.
fn function(op: Op, x: C) -> C {
    match op {
        Op::Sqrt => sqrt(x),
        Op::Exp => exp(x),
        Op::Exp2 => exp(scale(x, std::f64::consts::LN_2)),
        Op::Expm1 => {
            let half_sine = (x.im / 2.0).sin();
            complex(x.re.exp_m1() * x.im.cos() - 2.0 * half_sine * half_sine, x.re.exp() * x.im.sin())
        }
        Op::Log => log(x),
        Op::Log2 => scale(log(x), std::f64::consts::LOG2_E),
        Op::Log10 => scale(log(x), std::f64::consts::LOG10_E),
        Op::Log1p => log(complex(x.re + 1.0, x.im)),
        Op::Sin => backward(sinh(forward(x))),
        Op::Cos => cosh(forward(x)),
        Op::Tan => backward(tanh(forward(x))),
        Op::Arcsin => arcsin(x),
        Op::Arccos => {
            let (below, above) = (sqrt(complex(1.0 - x.re, -x.im)), sqrt(complex(1.0 + x.re, x.im)));
            complex(2.0 * below.re.atan2(above.re), (above.re * below.im - above.im * below.re).asinh())
        }
        Op::Arctan => backward(arctanh(forward(x))),
        Op::Sinh => sinh(x),
        Op::Cosh => cosh(x),
        Op::Tanh => tanh(x),
        Op::Arcsinh => backward(arcsin(forward(x))),
        Op::Arccosh => {
            let (below, above) = (sqrt(complex(x.re - 1.0, x.im)), sqrt(complex(x.re + 1.0, x.im)));
            complex((below.re * above.re + below.im * above.im).asinh(), 2.0 * below.im.atan2(above.re))
        }
        Op::Arctanh => arctanh(x),
        _ => x,
    }
}

fn scale(x: C, factor: f64) -> C {
    complex(x.re * factor, x.im * factor)
}

/// Multiplied by i.
fn forward(x: C) -> C {
    complex(-x.im, x.re)
}

/// Multiplied by -i.
fn backward(x: C) -> C {
    complex(x.im, -x.re)
}

fn exp(x: C) -> C {
    let length = x.re.exp();
    if x.im == 0.0 { complex(length, x.im) } else { complex(length * x.im.cos(), length * x.im.sin()) }
}

/// Near the unit circle the logarithm of the length is that of its square's difference from 1.
fn log(x: C) -> C {
    let length = x.length();
    let (larger, smaller) = (x.re.abs().max(x.im.abs()), x.re.abs().min(x.im.abs()));
    let real = if (0.5..2.0).contains(&length) {
        0.5 * ((larger - 1.0) * (larger + 1.0) + smaller * smaller).ln_1p()
    } else {
        length.ln()
    };
    complex(real, x.im.atan2(x.re))
}

fn sqrt(x: C) -> C {
    if x.re == 0.0 && x.im == 0.0 {
        return complex(0.0, x.im);
    }
    let root = ((x.length() + x.re.abs()) * 0.5).sqrt();
    let other = x.im / (2.0 * root);
    if x.re >= 0.0 { complex(root, other) } else { complex(other.abs(), root.copysign(x.im)) }
}

fn sinh(x: C) -> C {
    if x.im == 0.0 { complex(x.re.sinh(), x.im) } else { complex(x.re.sinh() * x.im.cos(), x.re.cosh() * x.im.sin()) }
}

fn cosh(x: C) -> C {
    complex(x.re.cosh() * x.im.cos(), x.re.sinh() * x.im.sin())
}

fn tanh(x: C) -> C {
    if x.re.abs() > 20.0 {
        let rest = (-2.0 * x.re.abs()).exp();
        return complex(1f64.copysign(x.re), 4.0 * x.im.sin() * x.im.cos() * rest);
    }
    let (t, s) = (x.im.tan(), x.re.sinh());
    let beta = 1.0 + t * t;
    let denominator = 1.0 + beta * s * s;
    complex(beta * (1.0 + s * s).sqrt() * s / denominator, t / denominator)
}

fn arcsin(x: C) -> C {
    let (below, above) = (sqrt(complex(1.0 - x.re, -x.im)), sqrt(complex(1.0 + x.re, x.im)));
    let real_of_product = below.re * above.re - below.im * above.im;
    complex(x.re.atan2(real_of_product), (below.re * above.im - below.im * above.re).asinh())
}

fn arctanh(x: C) -> C {
    let real = 0.25 * (4.0 * x.re.abs() / ((1.0 - x.re.abs()).powi(2) + x.im * x.im)).ln_1p();
    let angle = (2.0 * x.im).atan2((1.0 - x.re.abs()) * (1.0 + x.re.abs()) - x.im * x.im);
    complex(real.copysign(x.re), 0.5 * angle)
}

fn power(x: C, y: C) -> C {
    let one = complex(1.0, 0.0);
    if !y.is_true() {
        return one;
    }
    if !x.is_true() {
        return if y.re > 0.0 { complex(0.0, 0.0) } else { complex(f64::NAN, f64::NAN) };
    }
    if y.im == 0.0 && y.re.abs() < 100.0 && y.re == y.re.trunc() {
        let product = (0..y.re.abs() as u32).fold(one, |product, _| product * x);
        return if y.re < 0.0 { one / product } else { product };
    }
    exp(y * log(x))
}
