//! Floating-point instructions: special cases by table, all else exact and rounded once.
//!
//! What CUDA leaves open is as hardware does it: below double precision every NaN result has all
//! bits set but the sign; double precision keeps the payload of an operand, the last that is a NaN
//! (of a quotient the first), made quiet, and gives 0xfff8... for an invalid operation.

use crate::bigint::BigUint;
use crate::exact_rounding::{
    self, DecodedFloat, ExactMagnitude, F64, FloatFormat, RoundingMode, decode_float, round_to_format,
};
use rtcg_ptx::ast::{CmpOp, FpMods, Rounding};
use std::cmp::Ordering;

/// A sum, product, quotient or root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArithOp {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a * b
    Mul,
    /// a / b
    Div,
    /// a * b + c
    Fma,
    /// 1 / a
    Rcp,
    /// root of a
    Sqrt,
}

/// The direction of a rounding modifier.
pub fn rounding_mode(rnd: Rounding) -> RoundingMode {
    match rnd {
        Rounding::Default | Rounding::Rn | Rounding::Rni => RoundingMode::Nearest,
        Rounding::Rz | Rounding::Rzi => RoundingMode::Zero,
        Rounding::Rm | Rounding::Rmi => RoundingMode::Down,
        Rounding::Rp | Rounding::Rpi => RoundingMode::Up,
        Rounding::Rna => RoundingMode::Away,
    }
}

/// The NaN that an invalid operation gives.
pub fn default_nan(f: FloatFormat) -> u64 {
    if f == F64 { 0xfff8 << 48 } else { f.sign_bit() - 1 }
}

/// The NaN that arithmetic makes of a NaN operand.
pub(crate) fn propagated_nan(f: FloatFormat, nan: u64) -> u64 {
    if f == F64 { nan | 1 << 51 } else { default_nan(f) }
}

/// An exact magnitude with its sign, or a value without one.
enum ExactOutcome {
    Bits(u64),
    Value(bool, ExactMagnitude),
}

/// Executes an arithmetic instruction; operands it does not have are ignored.
pub fn execute_arithmetic(op: ArithOp, f: FloatFormat, mods: &FpMods, operands: [u64; 3]) -> u64 {
    let n = match op {
        ArithOp::Rcp | ArithOp::Sqrt => 1,
        ArithOp::Fma => 3,
        _ => 2,
    };
    let operands = operands.map(|x| if mods.ftz { f.flush_subnormal(x) } else { x });
    let mut nans = operands[..n].iter().copied().filter(|&x| f.is_nan(x));
    let nan = match op {
        ArithOp::Div => nans.next(),
        // A factor, the second one first, before what is added to the product.
        ArithOp::Fma => [1, 0, 2].into_iter().map(|i| operands[i]).find(|&x| f.is_nan(x)),
        _ => nans.next_back(),
    };
    let bits = match nan {
        Some(nan) => propagated_nan(f, nan),
        None => match exact_result(op, f, rounding_mode(mods.rnd), operands) {
            ExactOutcome::Bits(bits) => bits,
            ExactOutcome::Value(negative, x)
                if mods.ftz && exact_rounding::is_tiny_after_rounding(f, rounding_mode(mods.rnd), negative, &x) =>
            {
                if negative {
                    f.sign_bit()
                } else {
                    0
                }
            }
            ExactOutcome::Value(negative, x) => round_to_format(f, rounding_mode(mods.rnd), negative, &x),
        },
    };
    apply_sat_or_relu(f, mods, bits)
}

/// `.relu` makes negative numbers +0, `.sat` clamps to [+0, 1] and makes NaN +0.
pub fn apply_sat_or_relu(f: FloatFormat, mods: &FpMods, bits: u64) -> u64 {
    match (f.is_nan(bits), f.is_negative(bits)) {
        (true, _) if mods.sat => 0,
        (false, true) if mods.sat || mods.relu => 0,
        (false, false) if mods.sat => bits.min(f.one_bits()),
        _ => bits,
    }
}

fn exact_result(op: ArithOp, f: FloatFormat, mode: RoundingMode, [a, b, c]: [u64; 3]) -> ExactOutcome {
    let one = decode_float(f, f.one_bits());
    let minus = |x: u64| decode_float(f, x ^ f.sign_bit());
    match op {
        ArithOp::Add => exact_fma(f, mode, decode_float(f, a), one, decode_float(f, b)),
        ArithOp::Sub => exact_fma(f, mode, decode_float(f, a), one, minus(b)),
        ArithOp::Mul => exact_product(f, decode_float(f, a), decode_float(f, b)),
        ArithOp::Fma => exact_fma(f, mode, decode_float(f, a), decode_float(f, b), decode_float(f, c)),
        ArithOp::Div => exact_quotient(f, decode_float(f, a), decode_float(f, b)),
        ArithOp::Rcp => exact_quotient(f, one, decode_float(f, a)),
        ArithOp::Sqrt => exact_sqrt(f, decode_float(f, a)),
    }
}

fn infinite_outcome(f: FloatFormat, negative: bool) -> ExactOutcome {
    ExactOutcome::Bits(f.infinity() | if negative { f.sign_bit() } else { 0 })
}

fn invalid_outcome(f: FloatFormat) -> ExactOutcome {
    ExactOutcome::Bits(default_nan(f))
}

fn is_negative(x: DecodedFloat) -> bool {
    matches!(x, DecodedFloat::Infinity(true) | DecodedFloat::Finite { negative: true, .. })
}

fn is_zero(x: DecodedFloat) -> bool {
    matches!(x, DecodedFloat::Finite { n: 0, .. })
}

fn is_infinite(x: DecodedFloat) -> bool {
    matches!(x, DecodedFloat::Infinity(_))
}

/// Significand and exponent of a finite number.
fn significand_and_exponent(x: DecodedFloat) -> (u64, i64) {
    match x {
        DecodedFloat::Finite { n, exp, .. } => (n, exp),
        _ => (0, 0),
    }
}

fn exact_product(f: FloatFormat, a: DecodedFloat, b: DecodedFloat) -> ExactOutcome {
    let negative = is_negative(a) != is_negative(b);
    if is_infinite(a) || is_infinite(b) {
        return if is_zero(a) || is_zero(b) { invalid_outcome(f) } else { infinite_outcome(f, negative) };
    }
    let ((na, ea), (nb, eb)) = (significand_and_exponent(a), significand_and_exponent(b));
    ExactOutcome::Value(negative, ExactMagnitude::from_dyadic(u128::from(na) * u128::from(nb), ea + eb))
}

fn exact_quotient(f: FloatFormat, a: DecodedFloat, b: DecodedFloat) -> ExactOutcome {
    let negative = is_negative(a) != is_negative(b);
    match (is_infinite(a), is_infinite(b), is_zero(a), is_zero(b)) {
        (true, true, ..) | (_, _, true, true) => return invalid_outcome(f),
        (true, ..) | (_, _, _, true) => return infinite_outcome(f, negative),
        (_, true, ..) => return ExactOutcome::Value(negative, ExactMagnitude::from_dyadic(0, 0)),
        _ => {}
    }
    let ((n, ea), (d, eb)) = (significand_and_exponent(a), significand_and_exponent(b));
    ExactOutcome::Value(negative, ExactMagnitude::Quotient { n: BigUint::new(n.into()), d, exp: ea - eb })
}

fn exact_sqrt(f: FloatFormat, a: DecodedFloat) -> ExactOutcome {
    if is_zero(a) {
        return ExactOutcome::Value(is_negative(a), ExactMagnitude::from_dyadic(0, 0));
    }
    if is_negative(a) {
        return invalid_outcome(f);
    }
    if is_infinite(a) {
        return infinite_outcome(f, false);
    }
    let (n, exp) = significand_and_exponent(a);
    ExactOutcome::Value(false, ExactMagnitude::Root { n, exp })
}

/// `a * b + c`, of which a sum is the case b = 1.
fn exact_fma(f: FloatFormat, mode: RoundingMode, a: DecodedFloat, b: DecodedFloat, c: DecodedFloat) -> ExactOutcome {
    let negative = is_negative(a) != is_negative(b);
    if is_infinite(a) || is_infinite(b) {
        let opposite = is_infinite(c) && is_negative(c) != negative;
        return if is_zero(a) || is_zero(b) || opposite { invalid_outcome(f) } else { infinite_outcome(f, negative) };
    }
    if is_infinite(c) {
        return infinite_outcome(f, is_negative(c));
    }
    let ((na, ea), (nb, eb), (nc, ec)) =
        (significand_and_exponent(a), significand_and_exponent(b), significand_and_exponent(c));
    let exp = (ea + eb).min(ec);
    let p = BigUint::new(u128::from(na) * u128::from(nb)).shift_left(ea + eb - exp);
    let q = BigUint::new(nc.into()).shift_left(ec - exp);
    let (sign, sum) = match (negative == is_negative(c), p.cmp(&q)) {
        (true, _) => (negative, p.add(&q)),
        (false, Ordering::Greater) => (negative, p.sub(&q)),
        (false, Ordering::Less) => (is_negative(c), q.sub(&p)),
        // Opposite numbers, also zeros: the sign of the sum depends on the direction only.
        (false, Ordering::Equal) => (mode == RoundingMode::Down, BigUint::default()),
    };
    ExactOutcome::Value(sign, ExactMagnitude::Dyadic { n: sum, exp })
}

/// `abs` and `neg` (`negate`).
pub fn abs_or_neg(f: FloatFormat, mods: &FpMods, negate: bool, a: u64) -> u64 {
    let a = if mods.ftz { f.flush_subnormal(a) } else { a };
    if f.is_nan(a) {
        return propagated_nan(f, a);
    }
    if negate { a ^ f.sign_bit() } else { f.magnitude_bits(a) }
}

/// An integer that orders all numbers, -0 before +0.
fn total_order_key(f: FloatFormat, x: u64) -> i128 {
    let magnitude = i128::from(f.magnitude_bits(x));
    if f.is_negative(x) { -1 - magnitude } else { magnitude }
}

/// `min` and `max`: of a number and a NaN the number, unless `.NaN` asks for the NaN.
pub fn min_max(f: FloatFormat, mods: &FpMods, max: bool, a: u64, b: u64) -> u64 {
    let (a, b) = if mods.ftz { (f.flush_subnormal(a), f.flush_subnormal(b)) } else { (a, b) };
    let (x, y) = if mods.xorsign_abs { (f.magnitude_bits(a), f.magnitude_bits(b)) } else { (a, b) };
    let chosen = match (f.is_nan(x), f.is_nan(y)) {
        (true, true) => return propagated_nan(f, y),
        (true, _) | (_, true) if mods.nan => return default_nan(f),
        (true, false) => y,
        (false, true) => x,
        _ if (total_order_key(f, x) > total_order_key(f, y)) == max => x,
        _ => y,
    };
    if mods.xorsign_abs { chosen | (a ^ b) & f.sign_bit() } else { chosen }
}

/// Comparison of floats.
pub fn compare_floats(f: FloatFormat, ftz: bool, op: CmpOp, a: u64, b: u64) -> bool {
    let (a, b) = if ftz { (f.flush_subnormal(a), f.flush_subnormal(b)) } else { (a, b) };
    let unordered = f.is_nan(a) || f.is_nan(b);
    let order = if f.magnitude_bits(a) == 0 && f.magnitude_bits(b) == 0 {
        Ordering::Equal
    } else {
        total_order_key(f, a).cmp(&total_order_key(f, b))
    };
    let ordered_truth = match op {
        CmpOp::Num => return !unordered,
        CmpOp::Nan => return unordered,
        CmpOp::Eq | CmpOp::Equ => order.is_eq(),
        CmpOp::Ne | CmpOp::Neu => order.is_ne(),
        CmpOp::Lt | CmpOp::Ltu | CmpOp::Lo => order.is_lt(),
        CmpOp::Le | CmpOp::Leu | CmpOp::Ls => order.is_le(),
        CmpOp::Gt | CmpOp::Gtu | CmpOp::Hi => order.is_gt(),
        CmpOp::Ge | CmpOp::Geu | CmpOp::Hs => order.is_ge(),
    };
    match op {
        CmpOp::Equ | CmpOp::Neu | CmpOp::Ltu | CmpOp::Leu | CmpOp::Gtu | CmpOp::Geu => unordered || ordered_truth,
        _ => !unordered && ordered_truth,
    }
}
