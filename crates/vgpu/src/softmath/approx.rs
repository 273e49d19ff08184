//! The approximate functions, computed in double precision and rounded once.
//!
//! Bounds and special values: PTX ISA, "Floating Point Instructions". Results are within one unit
//! in the last place of the format, closer than any bound CUDA gives.

use super::Mode;
use super::arith::{input, output};
use super::float::{Format, Round, pack, unpack};

/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Function {
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    Rsqrt,
    Rcp,
    Sqrt,
}

/// The value of a number of format `f` as a double (exact but for double itself, where it is the same).
pub fn to_f64(f: Format, bits: u64) -> f64 {
    f64::from_bits(pack(Format::F64, Round::Nearest, unpack(f, bits)))
}

/// A double rounded to `f`.
pub fn from_f64(f: Format, value: f64) -> u64 {
    pack(f, Round::Nearest, unpack(Format::F64, value.to_bits()))
}

fn value(function: Function, x: f64) -> f64 {
    match function {
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        // The processor's log2 of -0 is minus infinity, as PTX wants; of subnormals it is exact enough.
        Function::Lg2 => x.log2(),
        Function::Ex2 => x.exp2(),
        Function::Tanh => x.tanh(),
        Function::Rsqrt => 1.0 / x.sqrt(),
        Function::Rcp => 1.0 / x,
        Function::Sqrt => x.sqrt(),
    }
}

/// Executes an `.approx` function of format `f`.
pub fn execute(function: Function, f: Format, m: Mode, a: u64) -> u64 {
    let x = to_f64(f, input(f, m, a));
    output(f, m, from_f64(f, value(function, x)))
}

/// `rsqrt.approx.f64`, which is CUDA's `rsqrt` of a double and has to be right to one unit in the
/// last place.
pub fn reciprocal_root(a: u64) -> u64 {
    let x = f64::from_bits(a);
    if x.is_nan() {
        return Format::F64.quiet(a);
    }
    if x < 0.0 {
        return Format::F64.canonical_nan();
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
pub fn upper_word(function: Function, a: u64) -> u64 {
    let upper = Format::F64.flush(a & !0xffff_ffff);
    let r = value(function, f64::from_bits(upper));
    if r.is_nan() {
        return 0x7fff_ffff_0000_0000;
    }
    let narrow = Format { exp_bits: 11, frac_bits: 20 };
    let word = pack(narrow, Round::Nearest, unpack(Format::F64, r.to_bits()));
    Format::F64.flush(word << 32)
}
