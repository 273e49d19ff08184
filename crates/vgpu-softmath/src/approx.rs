//! The approximate functions, computed in double precision and rounded once.
//!
//! Bounds and special values: PTX ISA, "Floating Point Instructions". Results are within one unit
//! in the last place of the format, closer than any bound CUDA gives.

use super::FloatMode;
use super::arith::{apply_result_modifiers, flush_operand};
use super::float::{FloatFormat, RoundMode, pack_rounded, unpack_float};

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

/// The value of a number of format `f` as a double (exact but for double itself, where it is the same).
#[inline]
pub fn to_f64(f: FloatFormat, bits: u64) -> f64 {
    f64::from_bits(pack_rounded(FloatFormat::F64, RoundMode::Nearest, unpack_float(f, bits)))
}

/// A double rounded to `f`.
#[inline]
pub fn from_f64(f: FloatFormat, value: f64) -> u64 {
    pack_rounded(f, RoundMode::Nearest, unpack_float(FloatFormat::F64, value.to_bits()))
}

fn evaluate_f64(function: ApproxFunction, x: f64) -> f64 {
    match function {
        ApproxFunction::Sin => x.sin(),
        ApproxFunction::Cos => x.cos(),
        // The processor's log2 of -0 is minus infinity, as PTX wants; of subnormals it is exact enough.
        ApproxFunction::Lg2 => x.log2(),
        ApproxFunction::Ex2 => x.exp2(),
        ApproxFunction::Tanh => x.tanh(),
        ApproxFunction::Rsqrt => 1.0 / x.sqrt(),
        ApproxFunction::Rcp => 1.0 / x,
        ApproxFunction::Sqrt => x.sqrt(),
    }
}

/// Executes an `.approx` function of format `f`.
#[inline]
pub fn execute_approx(function: ApproxFunction, f: FloatFormat, m: FloatMode, a: u64) -> u64 {
    let x = to_f64(f, flush_operand(f, m, a));
    apply_result_modifiers(f, m, from_f64(f, evaluate_f64(function, x)))
}

/// `rsqrt.approx.f64`, which is CUDA's `rsqrt` of a double and has to be right to one unit in the
/// last place.
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
    // A subnormal number's residual would underflow.
    let (x, scale) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(108), 2f64.powi(54)) } else { (x, 1.0) };
    let root = x.sqrt();
    let y = 1.0 / root;
    // x = root^2 + rest, so 1 / sqrt(x) = (1 / root) (1 - rest / (2 root^2)) to first order.
    let (rest, error) = (f64::mul_add(-root, root, x), f64::mul_add(-root, y, 1.0));
    (f64::mul_add(y, error - 0.5 * rest * y * y, y) * scale).to_bits()
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: only the upper word of operand and result counts.
#[inline]
pub fn approx_f64_upper_word(function: ApproxFunction, a: u64) -> u64 {
    let upper = FloatFormat::F64.flush_subnormal(a & !0xffff_ffff);
    let r = evaluate_f64(function, f64::from_bits(upper));
    if r.is_nan() {
        return 0x7fff_ffff_0000_0000;
    }
    let narrow = FloatFormat { exp_bits: 11, frac_bits: 20 };
    let word = pack_rounded(narrow, RoundMode::Nearest, unpack_float(FloatFormat::F64, r.to_bits()));
    FloatFormat::F64.flush_subnormal(word << 32)
}
