//! Floating-point instructions on the bits of one operand of any format.

use rtcg_ptx::ast::CmpOp;

use super::Mode;
use super::float::{self, Format, Unpacked, unpack};

/// A floating-point instruction with up to three operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum FloatOp {
    Add, Sub, Mul, Fma, Div, Sqrt, Rcp, Min, Max, Abs, Neg,
}

/// Reads an operand, flushing it when asked.
pub fn input(f: Format, m: Mode, bits: u64) -> u64 {
    if m.ftz { f.flush(bits) } else { bits }
}

/// Applies `.ftz`, `.relu` and `.sat` to a result.
pub fn output(f: Format, m: Mode, bits: u64) -> u64 {
    let bits = if m.ftz { f.flush(bits) } else { bits };
    let bits = if m.relu { relu(f, bits) } else { bits };
    if m.sat { saturate(f, bits) } else { bits }
}

fn relu(f: Format, bits: u64) -> u64 {
    if bits & f.sign_bit() != 0 && !f.is_nan(bits) { 0 } else { bits }
}

/// Clamps to [+0, 1]; NaN becomes +0.
pub fn saturate(f: Format, bits: u64) -> u64 {
    if f.is_nan(bits) || bits & f.sign_bit() != 0 { 0 } else { bits.min(f.one()) }
}

/// Executes `op`; operands it does not have are ignored.
pub fn execute(op: FloatOp, f: Format, m: Mode, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (input(f, m, a), input(f, m, b), input(f, m, c));
    let (x, y, z) = (unpack(f, a), unpack(f, b), unpack(f, c));
    let r = match op {
        FloatOp::Add => float::add(f, m.rnd, x, y),
        FloatOp::Sub => float::add(f, m.rnd, x, float::negate(y)),
        FloatOp::Mul => float::mul(f, m.rnd, x, y),
        FloatOp::Fma => float::fma(f, m.rnd, x, y, z),
        FloatOp::Div => float::div(f, m.rnd, x, y),
        FloatOp::Sqrt => float::sqrt(f, m.rnd, x),
        FloatOp::Rcp => float::div(f, m.rnd, unpack(f, f.one()), x),
        FloatOp::Min => min_max(f, m, a, b, false),
        FloatOp::Max => min_max(f, m, a, b, true),
        FloatOp::Abs => sign_op(f, a, a & !f.sign_bit()),
        FloatOp::Neg => sign_op(f, a, a ^ f.sign_bit()),
    };
    output(f, m, r)
}

/// The result of `abs` and `neg`: NaN stays NaN, of unspecified payload.
fn sign_op(f: Format, a: u64, changed: u64) -> u64 {
    if f.is_nan(a) && f != Format::F64 { f.canonical_nan() } else { changed }
}

fn min_max(f: Format, m: Mode, a: u64, b: u64, max: bool) -> u64 {
    let sign = if m.xorsign { (a ^ b) & f.sign_bit() } else { 0 };
    let (a, b) = if m.xorsign { (a & !f.sign_bit(), b & !f.sign_bit()) } else { (a, b) };
    let chosen = match (f.is_nan(a), f.is_nan(b)) {
        (true, true) => return f.canonical_nan(),
        (true, false) | (false, true) if m.nan => return f.canonical_nan(),
        (true, false) => b,
        (false, true) => a,
        _ if (order(f, a) < order(f, b)) != max => a,
        _ => b,
    };
    chosen | sign
}

/// An integer that orders numbers as `min` does, -0 before +0.
fn order(f: Format, bits: u64) -> i64 {
    let magnitude = (bits & (f.sign_bit() - 1)) as i64;
    if bits & f.sign_bit() != 0 { -1 - magnitude } else { magnitude }
}

/// A comparison of floats (`ftz` in the mode).
pub fn compare(f: Format, m: Mode, op: CmpOp, a: u64, b: u64) -> bool {
    let (a, b) = (input(f, m, a), input(f, m, b));
    let unordered = f.is_nan(a) || f.is_nan(b);
    // Zeros of either sign are equal: both become 0.
    let key = |x: u64| if x & !f.sign_bit() == 0 { 0 } else { order(f, x) };
    let ord = key(a).cmp(&key(b));
    use CmpOp::*;
    match op {
        Num => !unordered,
        Nan => unordered,
        Eq | Ne | Lt | Le | Gt | Ge => !unordered && ordered(op, ord),
        Equ => unordered || ord.is_eq(),
        Neu => unordered || ord.is_ne(),
        Ltu | Lo => unordered || ord.is_lt(),
        Leu | Ls => unordered || ord.is_le(),
        Gtu | Hi => unordered || ord.is_gt(),
        Geu | Hs => unordered || ord.is_ge(),
    }
}

/// Whether an ordering satisfies an ordered or integer comparison.
pub fn ordered(op: CmpOp, ord: std::cmp::Ordering) -> bool {
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
#[allow(missing_docs)]
pub enum Test {
    Finite, Infinite, Number, NotANumber, Normal, Subnormal,
}

/// Executes `testp`.
pub fn test(f: Format, test: Test, a: u64) -> bool {
    let zero = matches!(unpack(f, a), Unpacked::Zero(_));
    let finite = a & (f.sign_bit() - 1) < f.infinity();
    match test {
        Test::Finite => finite,
        Test::Infinite => a & (f.sign_bit() - 1) == f.infinity(),
        Test::Number => !f.is_nan(a),
        Test::NotANumber => f.is_nan(a),
        Test::Normal => finite && !zero && !f.is_subnormal(a),
        Test::Subnormal => f.is_subnormal(a),
    }
}

/// `copysign d, a, b`: the magnitude of `b` with the sign of `a`.
pub fn copysign(f: Format, a: u64, b: u64) -> u64 {
    a & f.sign_bit() | b & !f.sign_bit()
}

/// Applies `op` to both 16-bit halves.
pub fn halves(op: impl Fn(u64, u64, u64) -> u64, a: u32, b: u32, c: u32) -> u32 {
    let half = |s: u32| op(u64::from(a >> s & 0xffff), u64::from(b >> s & 0xffff), u64::from(c >> s & 0xffff)) as u32;
    half(0) & 0xffff | half(16) << 16
}
