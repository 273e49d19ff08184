//! Floating-point instructions: special cases by table, all else exact and rounded once.
//!
//! What CUDA leaves open is as hardware does it: below double precision every NaN result has all
//! bits set but the sign; double precision keeps the payload of an operand, the last that is a NaN
//! (of a quotient the first), made quiet, and gives 0xfff8... for an invalid operation.

use crate::big::Big;
use crate::exact::{self, Exact, F64, Format, Mode, Number, decode, round};
use rtcg_ptx::ast::{CmpOp, FpMods, Rounding};
use std::cmp::Ordering;

/// A sum, product, quotient or root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
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
pub fn mode(rnd: Rounding) -> Mode {
    match rnd {
        Rounding::Default | Rounding::Rn | Rounding::Rni => Mode::Nearest,
        Rounding::Rz | Rounding::Rzi => Mode::Zero,
        Rounding::Rm | Rounding::Rmi => Mode::Down,
        Rounding::Rp | Rounding::Rpi => Mode::Up,
        Rounding::Rna => Mode::Away,
    }
}

/// The NaN that an invalid operation gives.
pub fn default_nan(f: Format) -> u64 {
    if f == F64 { 0xfff8 << 48 } else { f.sign() - 1 }
}

/// The NaN that arithmetic makes of a NaN operand.
fn passed_nan(f: Format, nan: u64) -> u64 {
    if f == F64 { nan | 1 << 51 } else { default_nan(f) }
}

/// An exact magnitude with its sign, or a value without one.
enum Outcome {
    Bits(u64),
    Value(bool, Exact),
}

/// Executes an arithmetic instruction; operands it does not have are ignored.
pub fn arithmetic(op: Op, f: Format, mods: &FpMods, operands: [u64; 3]) -> u64 {
    let n = match op {
        Op::Rcp | Op::Sqrt => 1,
        Op::Fma => 3,
        _ => 2,
    };
    let operands = operands.map(|x| if mods.ftz { f.flush(x) } else { x });
    let mut nans = operands[..n].iter().copied().filter(|&x| f.is_nan(x));
    let nan = if op == Op::Div { nans.next() } else { nans.next_back() };
    let bits = match nan {
        Some(nan) => passed_nan(f, nan),
        None => match exact_result(op, f, mode(mods.rnd), operands) {
            Outcome::Bits(bits) => bits,
            Outcome::Value(negative, x) if mods.ftz && exact::is_tiny(f, mode(mods.rnd), negative, &x) => {
                if negative {
                    f.sign()
                } else {
                    0
                }
            }
            Outcome::Value(negative, x) => round(f, mode(mods.rnd), negative, &x),
        },
    };
    saturate(f, mods, bits)
}

/// `.relu` makes negative numbers +0, `.sat` clamps to [+0, 1] and makes NaN +0.
pub fn saturate(f: Format, mods: &FpMods, bits: u64) -> u64 {
    match (f.is_nan(bits), f.is_negative(bits)) {
        (true, _) if mods.sat => 0,
        (false, true) if mods.sat || mods.relu => 0,
        (false, false) if mods.sat => bits.min(f.one()),
        _ => bits,
    }
}

fn exact_result(op: Op, f: Format, mode: Mode, [a, b, c]: [u64; 3]) -> Outcome {
    let one = decode(f, f.one());
    let minus = |x: u64| decode(f, x ^ f.sign());
    match op {
        Op::Add => fma(f, mode, decode(f, a), one, decode(f, b)),
        Op::Sub => fma(f, mode, decode(f, a), one, minus(b)),
        Op::Mul => product(f, decode(f, a), decode(f, b)),
        Op::Fma => fma(f, mode, decode(f, a), decode(f, b), decode(f, c)),
        Op::Div => quotient(f, decode(f, a), decode(f, b)),
        Op::Rcp => quotient(f, one, decode(f, a)),
        Op::Sqrt => root(f, decode(f, a)),
    }
}

fn infinity(f: Format, negative: bool) -> Outcome {
    Outcome::Bits(f.infinity() | if negative { f.sign() } else { 0 })
}

fn invalid(f: Format) -> Outcome {
    Outcome::Bits(default_nan(f))
}

fn is_negative(x: Number) -> bool {
    matches!(x, Number::Infinity(true) | Number::Finite { negative: true, .. })
}

fn is_zero(x: Number) -> bool {
    matches!(x, Number::Finite { n: 0, .. })
}

fn is_infinite(x: Number) -> bool {
    matches!(x, Number::Infinity(_))
}

/// Significand and exponent of a finite number.
fn parts(x: Number) -> (u64, i64) {
    match x {
        Number::Finite { n, exp, .. } => (n, exp),
        _ => (0, 0),
    }
}

fn product(f: Format, a: Number, b: Number) -> Outcome {
    let negative = is_negative(a) != is_negative(b);
    if is_infinite(a) || is_infinite(b) {
        return if is_zero(a) || is_zero(b) { invalid(f) } else { infinity(f, negative) };
    }
    let ((na, ea), (nb, eb)) = (parts(a), parts(b));
    Outcome::Value(negative, Exact::dyadic(u128::from(na) * u128::from(nb), ea + eb))
}

fn quotient(f: Format, a: Number, b: Number) -> Outcome {
    let negative = is_negative(a) != is_negative(b);
    match (is_infinite(a), is_infinite(b), is_zero(a), is_zero(b)) {
        (true, true, ..) | (_, _, true, true) => return invalid(f),
        (true, ..) | (_, _, _, true) => return infinity(f, negative),
        (_, true, ..) => return Outcome::Value(negative, Exact::dyadic(0, 0)),
        _ => {}
    }
    let ((n, ea), (d, eb)) = (parts(a), parts(b));
    Outcome::Value(negative, Exact::Quotient { n: Big::new(n.into()), d, exp: ea - eb })
}

fn root(f: Format, a: Number) -> Outcome {
    if is_zero(a) {
        return Outcome::Value(is_negative(a), Exact::dyadic(0, 0));
    }
    if is_negative(a) {
        return invalid(f);
    }
    if is_infinite(a) {
        return infinity(f, false);
    }
    let (n, exp) = parts(a);
    Outcome::Value(false, Exact::Root { n, exp })
}

/// `a * b + c`, of which a sum is the case b = 1.
fn fma(f: Format, mode: Mode, a: Number, b: Number, c: Number) -> Outcome {
    let negative = is_negative(a) != is_negative(b);
    if is_infinite(a) || is_infinite(b) {
        let opposite = is_infinite(c) && is_negative(c) != negative;
        return if is_zero(a) || is_zero(b) || opposite { invalid(f) } else { infinity(f, negative) };
    }
    if is_infinite(c) {
        return infinity(f, is_negative(c));
    }
    let ((na, ea), (nb, eb), (nc, ec)) = (parts(a), parts(b), parts(c));
    let exp = (ea + eb).min(ec);
    let p = Big::new(u128::from(na) * u128::from(nb)).shl(ea + eb - exp);
    let q = Big::new(nc.into()).shl(ec - exp);
    let (sign, sum) = match (negative == is_negative(c), p.cmp(&q)) {
        (true, _) => (negative, p.add(&q)),
        (false, Ordering::Greater) => (negative, p.sub(&q)),
        (false, Ordering::Less) => (is_negative(c), q.sub(&p)),
        // Opposite numbers, also zeros: the sign of the sum depends on the direction only.
        (false, Ordering::Equal) => (mode == Mode::Down, Big::default()),
    };
    Outcome::Value(sign, Exact::Dyadic { n: sum, exp })
}

/// `abs` and `neg` (`negate`).
pub fn sign_change(f: Format, mods: &FpMods, negate: bool, a: u64) -> u64 {
    let a = if mods.ftz { f.flush(a) } else { a };
    if f.is_nan(a) {
        return passed_nan(f, a);
    }
    if negate { a ^ f.sign() } else { f.magnitude(a) }
}

/// An integer that orders all numbers, -0 before +0.
fn key(f: Format, x: u64) -> i128 {
    let magnitude = i128::from(f.magnitude(x));
    if f.is_negative(x) { -1 - magnitude } else { magnitude }
}

/// `min` and `max`: of a number and a NaN the number, unless `.NaN` asks for the NaN.
pub fn min_max(f: Format, mods: &FpMods, max: bool, a: u64, b: u64) -> u64 {
    let (a, b) = if mods.ftz { (f.flush(a), f.flush(b)) } else { (a, b) };
    let (x, y) = if mods.xorsign_abs { (f.magnitude(a), f.magnitude(b)) } else { (a, b) };
    let chosen = match (f.is_nan(x), f.is_nan(y)) {
        (true, true) => return passed_nan(f, y),
        (true, _) | (_, true) if mods.nan => return default_nan(f),
        (true, false) => y,
        (false, true) => x,
        _ if (key(f, x) > key(f, y)) == max => x,
        _ => y,
    };
    if mods.xorsign_abs { chosen | (a ^ b) & f.sign() } else { chosen }
}

/// Comparison of floats.
pub fn compare(f: Format, ftz: bool, op: CmpOp, a: u64, b: u64) -> bool {
    let (a, b) = if ftz { (f.flush(a), f.flush(b)) } else { (a, b) };
    let unordered = f.is_nan(a) || f.is_nan(b);
    let order = if f.magnitude(a) == 0 && f.magnitude(b) == 0 { Ordering::Equal } else { key(f, a).cmp(&key(f, b)) };
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
