//! Floating-point instructions on the bits of one operand of any format.

use rtcg_ptx::ast::CmpOp;

use super::FloatMode;
use super::float::{self, FloatFormat, RoundMode, unpack_float};

/// A floating-point instruction with up to three operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FloatOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a * b + c`, rounded once.
    Fma,
    /// `a / b`
    Div,
    /// The square root.
    Sqrt,
    /// `1 / a`
    Rcp,
    /// The smaller one; of a number and NaN the number.
    Min,
    /// The larger one; of a number and NaN the number.
    Max,
    /// The absolute value.
    Abs,
    /// The negative.
    Neg,
}

/// Reads an operand, flushing it when asked.
#[inline]
pub(crate) fn flush_operand(f: FloatFormat, m: FloatMode, bits: u64) -> u64 {
    if m.ftz { f.flush_subnormal(bits) } else { bits }
}

/// Applies `.ftz`, `.relu` and `.sat` to a result.
#[inline]
pub fn apply_result_modifiers(f: FloatFormat, m: FloatMode, bits: u64) -> u64 {
    let bits = if m.ftz { f.flush_subnormal(bits) } else { bits };
    let bits = if m.relu { relu_bits(f, bits) } else { bits };
    if m.sat { saturate_to_unit(f, bits) } else { bits }
}

#[inline]
fn relu_bits(f: FloatFormat, bits: u64) -> u64 {
    if bits & f.sign_bit() != 0 && !f.is_nan(bits) { 0 } else { bits }
}

/// Clamps to [+0, 1]; NaN becomes +0.
#[inline]
pub fn saturate_to_unit(f: FloatFormat, bits: u64) -> u64 {
    if f.is_nan(bits) || bits & f.sign_bit() != 0 { 0 } else { bits.min(f.encoded_one()) }
}

/// Executes `op`; operands it does not have are ignored.
#[inline]
pub fn execute_float_op(op: FloatOp, f: FloatFormat, m: FloatMode, a: u64, b: u64, c: u64) -> u64 {
    let one_operand = matches!(op, FloatOp::Sqrt | FloatOp::Rcp | FloatOp::Abs | FloatOp::Neg);
    let b = if one_operand { 0 } else { b };
    let c = if op == FloatOp::Fma { c } else { 0 };
    let (a, b, c) = (flush_operand(f, m, a), flush_operand(f, m, b), flush_operand(f, m, c));
    let r = match op {
        FloatOp::Min => min_max(f, m, a, b, false),
        FloatOp::Max => min_max(f, m, a, b, true),
        _ => match nan_result(op, f, [a, b, c]) {
            Some(nan) => nan,
            None if m.ftz && is_tiny(op, f, m, [a, b, c]) => rounded_result(op, f, m.rnd, f, [a, b, c]) & f.sign_bit(),
            None => rounded_result(op, f, m.rnd, f, [a, b, c]),
        },
    };
    apply_result_modifiers(f, m, r)
}

/// What a NaN among the operands makes the result. Double precision keeps the payload of one: the last but for
/// quotients, of a multiply-add the last factor before the sum's other operand (question 36 of `tests/fidelity`; that
/// the first factor comes before that operand, too, was not asked). Other formats have one NaN.
#[inline]
fn nan_result(op: FloatOp, f: FloatFormat, [a, b, c]: [u64; 3]) -> Option<u64> {
    let order = match op {
        FloatOp::Div => [a, b, c],
        FloatOp::Fma => [b, a, c],
        _ => [c, b, a],
    };
    let nan = order.into_iter().find(|&x| f.is_nan(x))?;
    Some(if f == FloatFormat::F64 { f.quiet_nan(nan) } else { f.canonical_nan() })
}

/// Whether the result, rounded with an unlimited range of exponents, is below the normal numbers.
/// That, not the rounded result itself, is what `.ftz` looks at.
#[inline]
fn is_tiny(op: FloatOp, f: FloatFormat, m: FloatMode, operands: [u64; 3]) -> bool {
    let wide = FloatFormat { exp_bits: 11, frac_bits: f.frac_bits };
    let r = rounded_result(op, wide, m.rnd, f, operands) & !wide.sign_bit();
    r != 0 && r < min_normal_with_wide_exponent(f)
}

/// The smallest normal number of `f` in its wide form (see [`is_tiny`]).
#[inline]
pub(super) fn min_normal_with_wide_exponent(f: FloatFormat) -> u64 {
    let bias = (1u64 << (f.exp_bits - 1)) - 1;
    (1023 + 1 - bias) << f.frac_bits
}

/// The result in format `to` of operands of format `f` that are no NaNs.
#[inline]
fn rounded_result(op: FloatOp, to: FloatFormat, rnd: RoundMode, f: FloatFormat, [a, b, c]: [u64; 3]) -> u64 {
    let (x, y, z) = (unpack_float(f, a), unpack_float(f, b), unpack_float(f, c));
    match op {
        FloatOp::Add => float::add_rounded(to, rnd, x, y),
        FloatOp::Sub => float::add_rounded(to, rnd, x, float::negate_unpacked(y)),
        FloatOp::Mul => float::mul_rounded(to, rnd, x, y),
        FloatOp::Fma => float::fma_rounded(to, rnd, x, y, z),
        FloatOp::Div => float::div_rounded(to, rnd, x, y),
        FloatOp::Sqrt => float::sqrt_rounded(to, rnd, x),
        FloatOp::Rcp => float::div_rounded(to, rnd, unpack_float(f, f.encoded_one()), x),
        FloatOp::Abs => float::pack_rounded(to, rnd, if float::is_negative(x) { float::negate_unpacked(x) } else { x }),
        FloatOp::Neg => float::pack_rounded(to, rnd, float::negate_unpacked(x)),
        FloatOp::Min | FloatOp::Max => float::pack_rounded(to, rnd, x),
    }
}

#[inline]
fn min_max(f: FloatFormat, m: FloatMode, a: u64, b: u64, max: bool) -> u64 {
    let sign = if m.xorsign { (a ^ b) & f.sign_bit() } else { 0 };
    let (a, b) = if m.xorsign { (a & !f.sign_bit(), b & !f.sign_bit()) } else { (a, b) };
    let chosen = match (f.is_nan(a), f.is_nan(b)) {
        (true, true) if f == FloatFormat::F64 => return f.quiet_nan(b),
        (true, true) => return f.canonical_nan(),
        (true, false) | (false, true) if m.nan => return f.canonical_nan(),
        (true, false) => b,
        (false, true) => a,
        _ if (total_order_key(f, a) < total_order_key(f, b)) != max => a,
        _ => b,
    };
    chosen | sign
}

/// An integer that orders numbers as `min` does, -0 before +0.
#[inline]
fn total_order_key(f: FloatFormat, bits: u64) -> i64 {
    let magnitude = (bits & (f.sign_bit() - 1)) as i64;
    if bits & f.sign_bit() != 0 { -1 - magnitude } else { magnitude }
}

/// A comparison of floats (`ftz` in the mode).
#[inline]
pub fn compare_floats(f: FloatFormat, m: FloatMode, op: CmpOp, a: u64, b: u64) -> bool {
    let (a, b) = (flush_operand(f, m, a), flush_operand(f, m, b));
    let unordered = f.is_nan(a) || f.is_nan(b);
    // Zeros of either sign are equal: both become 0.
    let key = |x: u64| if x & !f.sign_bit() == 0 { 0 } else { total_order_key(f, x) };
    let ord = key(a).cmp(&key(b));
    use CmpOp::*;
    match op {
        Num => !unordered,
        Nan => unordered,
        Eq | Ne | Lt | Le | Gt | Ge => !unordered && ordering_satisfies(op, ord),
        Equ => unordered || ord.is_eq(),
        Neu => unordered || ord.is_ne(),
        Ltu | Lo => unordered || ord.is_lt(),
        Leu | Ls => unordered || ord.is_le(),
        Gtu | Hi => unordered || ord.is_gt(),
        Geu | Hs => unordered || ord.is_ge(),
    }
}

/// Whether an ordering satisfies an ordered or integer comparison.
#[inline]
pub(crate) fn ordering_satisfies(op: CmpOp, ord: std::cmp::Ordering) -> bool {
    use CmpOp::*;
    match op {
        Eq | Equ => ord.is_eq(),
        Ne | Neu => ord.is_ne(),
        Lt | Ltu | Lo => ord.is_lt(),
        Le | Leu | Ls => ord.is_le(),
        Gt | Gtu | Hi => ord.is_gt(),
        Ge | Geu | Hs => ord.is_ge(),
        Num => true,
        Nan => false,
    }
}

/// The tests of `testp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatTest {
    /// Neither infinite nor NaN.
    Finite,
    /// Infinite.
    Infinite,
    /// Not NaN.
    Number,
    /// NaN.
    NotANumber,
    /// Neither subnormal, infinite nor NaN.
    Normal,
    /// Subnormal.
    Subnormal,
}

/// Executes `testp`.
#[inline]
pub fn execute_testp(f: FloatFormat, test: FloatTest, a: u64) -> bool {
    let finite = a & (f.sign_bit() - 1) < f.infinity();
    match test {
        FloatTest::Finite => finite,
        FloatTest::Infinite => a & (f.sign_bit() - 1) == f.infinity(),
        FloatTest::Number => !f.is_nan(a),
        FloatTest::NotANumber => f.is_nan(a),
        // Zero counts, as on hardware.
        FloatTest::Normal => finite && !f.is_subnormal(a),
        FloatTest::Subnormal => f.is_subnormal(a),
    }
}

/// `copysign d, a, b`: the magnitude of `b` with the sign of `a`.
#[inline]
pub fn copysign_bits(f: FloatFormat, a: u64, b: u64) -> u64 {
    a & f.sign_bit() | b & !f.sign_bit()
}

/// Applies `op` to both 16-bit halves.
#[inline]
pub fn map_halves(op: impl Fn(u64, u64, u64) -> u64, a: u32, b: u32, c: u32) -> u32 {
    let half = |s: u32| op(u64::from(a >> s & 0xffff), u64::from(b >> s & 0xffff), u64::from(c >> s & 0xffff)) as u32;
    half(0) & 0xffff | half(16) << 16
}
