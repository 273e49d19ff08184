//! The approximate functions of each format and modifier, with the bits of a GPU.

use super::FloatMode;
use super::arith::{FloatOp, apply_result_modifiers, execute_float_op, flush_operand};
use super::float::{FloatFormat, RoundMode, pack_rounded, unpack_float};
use super::interpolator;

/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ApproxFunction {
    /// `sin.approx`
    Sin,
    /// `cos.approx`
    Cos,
    /// `lg2.approx`
    Lg2,
    /// `ex2.approx`
    Ex2,
    /// `tanh.approx`
    Tanh,
    /// `rsqrt.approx`
    Rsqrt,
    /// `rcp.approx`
    Rcp,
    /// `sqrt.approx`
    Sqrt,
}

/// The function of a number in single precision.
fn evaluate_f32(function: ApproxFunction, ftz: bool, a: u32) -> u32 {
    match function {
        ApproxFunction::Sin => interpolator::sin_or_cos(a, false),
        ApproxFunction::Cos => interpolator::sin_or_cos(a, true),
        ApproxFunction::Lg2 if ftz => interpolator::lg2_ftz(a),
        ApproxFunction::Lg2 => interpolator::lg2(a),
        ApproxFunction::Ex2 if ftz => interpolator::ex2_ftz(a),
        ApproxFunction::Ex2 => interpolator::ex2(a),
        ApproxFunction::Tanh => interpolator::tanh(a),
        ApproxFunction::Rsqrt if ftz => interpolator::rsqrt_ftz(a),
        ApproxFunction::Rsqrt => interpolator::rsqrt(a),
        ApproxFunction::Rcp if ftz => interpolator::rcp_ftz(a),
        ApproxFunction::Rcp => interpolator::rcp(a),
        ApproxFunction::Sqrt if ftz => interpolator::sqrt_ftz(a),
        ApproxFunction::Sqrt => interpolator::sqrt(a),
    }
}

/// Executes an `.approx` function of format `f`. Those of 16 bits are the single-precision
/// ones, truncated; powers above the format are infinite.
#[inline]
pub fn execute_approx(function: ApproxFunction, f: FloatFormat, m: FloatMode, a: u64) -> u64 {
    let r = if f == FloatFormat::F32 {
        evaluate_f32(function, m.ftz, a as u32).into()
    } else {
        let wide = pack_rounded(FloatFormat::F32, RoundMode::Nearest, unpack_float(f, a));
        let r = evaluate_f32(function, m.ftz, wide as u32);
        let is_huge = f == FloatFormat::F16 && f32::from_bits(r).abs() >= 65536.0;
        let rounding = if is_huge { RoundMode::Nearest } else { RoundMode::Zero };
        pack_rounded(f, rounding, unpack_float(FloatFormat::F32, r.into()))
    };
    apply_result_modifiers(f, m, r)
}

/// `div.approx.f32`: the product with the reciprocal, which is zero for divisors above 2^126.
#[inline]
pub fn div_approx(m: FloatMode, a: u64, b: u64) -> u64 {
    let tiny = b & 0x7f80_0000 == 0;
    quotient(m, a, b, if tiny && !m.ftz { 16_777_216.0 } else { 1.0 })
}

/// `div.full.f32`: as [`div_approx`], with both numbers scaled where the divisor is above 2^126.
#[inline]
pub fn div_full(m: FloatMode, a: u64, b: u64) -> u64 {
    let magnitude = b & 0x7fff_ffff;
    if magnitude > 0x7e80_0000 && magnitude <= 0x7f80_0000 { quotient(m, a, b, 0.25) } else { div_approx(m, a, b) }
}

/// `(a * scale) * rcp(b * scale)`
#[inline]
fn quotient(m: FloatMode, a: u64, b: u64, scale: f32) -> u64 {
    let [a, b] = [a, b].map(|x| f32::from_bits(flush_operand(FloatFormat::F32, m, x) as u32) * scale);
    let reciprocal = u64::from(interpolator::rcp_ftz(b.to_bits()));
    execute_float_op(FloatOp::Mul, FloatFormat::F32, m, a.to_bits().into(), reciprocal, 0)
}

/// `rsqrt.approx.f64`: the seed of the upper word, and the step of third order that NVIDIA's compiler adds to it.
#[inline]
pub fn rsqrt_approx_f64(a: u64) -> u64 {
    let x = f64::from_bits(a);
    if x.is_nan() {
        return FloatFormat::F64.quiet_nan(a);
    }
    if x < 0.0 {
        return FloatFormat::F64.canonical_nan();
    }
    if x == 0.0 || x.is_infinite() {
        return (1.0 / x.sqrt()).to_bits();
    }
    // The seed knows no subnormal numbers, and the square of a tiny one would be subnormal.
    let (x, scale) = match x {
        _ if x < f64::MIN_POSITIVE => (x * 2f64.powi(108), 2f64.powi(54)),
        _ if x > 2f64.powi(1000) => (x * 2f64.powi(-108), 2f64.powi(-54)),
        _ => (x, 1.0),
    };
    let y = f64::from_bits(approx_f64_upper_word(ApproxFunction::Rsqrt, x.to_bits()));
    let error = f64::mul_add(x, -(y * y), 1.0);
    let factor = f64::mul_add(error, 0.375, 0.5);
    (f64::mul_add(factor, error * y, y) * scale).to_bits()
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: only the upper word of operand and result counts.
#[inline]
pub fn approx_f64_upper_word(function: ApproxFunction, a: u64) -> u64 {
    let upper = (a >> 32) as u32;
    let r = match function {
        ApproxFunction::Rcp => interpolator::rcp_upper_word(upper),
        _ => interpolator::rsqrt_upper_word(upper),
    };
    u64::from(r) << 32
}
