//! Instructions whose results depend on their operands alone.
//!
//! [`eval_pure`] gives the registers that an instruction writes with their new values, as the bits of
//! the instruction's type, zero-extended unless the instruction says otherwise. To add an
//! instruction, add an arm; what has none is refused by name.

use crate::convert::{self, float_format_of_type};
use crate::exact_rounding::{F32, F64, FloatFormat};
use crate::float::{self, ArithOp};
use crate::int::{self, truncate_bits};
use rtcg_ptx::ast::*;

/// What an instruction writes.
pub(crate) type RegisterWrites = Vec<(Reg, u128)>;

/// Reads operands for [`eval_pure`].
pub(crate) trait OperandSource {
    /// The bits of an operand, cut to `bits`.
    fn operand_bits(&self, operand: &Operand, bits: u32) -> Result<u128, String>;
    /// A predicate.
    fn predicate_value(&self, pred: &PredSrc) -> Result<bool, String>;
    /// The condition code.
    fn carry_flag(&self) -> Result<bool, String>;
    /// Notes that the result depends on what CUDA leaves open; see [`crate::OracleReport::unspecified`].
    fn record_unspecified_result(&self);
    /// Declared size of a register.
    fn register_size(&self, reg: Reg) -> u32;
}

/// The results of a pure instruction and, if it writes it, the condition code.
pub(crate) fn eval_pure(inst: &Inst, r: &dyn OperandSource) -> Result<(RegisterWrites, Option<bool>), String> {
    let one = |dst: &Reg, value: u128| Ok((vec![(*dst, value)], None));
    match inst {
        Inst::Unary { op, ty, mods, dst, a } => one(dst, eval_unary(*op, *ty, mods, r.operand_bits(a, ty.bits())?)?),
        Inst::Binary { op, ty, mods, dst, a, b } if let Some(same) = operand_that_is_passed(*op, *ty, mods, a, b) => {
            one(dst, r.operand_bits(same, ty.bits())?)
        }
        Inst::Binary { op, ty, mods, dst, a, b } => {
            let b_bits = if is_second_operand_bit_count(*op) { 32 } else { ty.bits() };
            let copies = *op == BinaryOp::CopySign;
            if *ty == Type::F64 && !copies && has_different_f64_nans(&[r.operand_bits(a, 64)?, r.operand_bits(b, 64)?])
            {
                r.record_unspecified_result();
            }
            one(dst, eval_binary(*op, *ty, mods, r.operand_bits(a, ty.bits())?, r.operand_bits(b, b_bits)?)?)
        }
        Inst::Ternary { op, ty, mods, dst, a, b, c } => {
            let [ab, bb, cb] = ternary_bits(*op, *ty);
            if *ty == Type::F64
                && has_different_f64_nans(&[r.operand_bits(a, 64)?, r.operand_bits(b, 64)?, r.operand_bits(c, 64)?])
            {
                r.record_unspecified_result();
            }
            one(
                dst,
                eval_ternary(*op, *ty, mods, r.operand_bits(a, ab)?, r.operand_bits(b, bb)?, r.operand_bits(c, cb)?)?,
            )
        }
        Inst::Bfi { ty, dst, a, b, pos, len } => {
            let (a, b) = (r.operand_bits(a, ty.bits())?, r.operand_bits(b, ty.bits())?);
            one(dst, int::bfi(ty.bits(), a, b, r.operand_bits(pos, 32)? as u32, r.operand_bits(len, 32)? as u32))
        }
        Inst::Carry { op, ty, cc_in, cc_out, dst, a, b, c } => {
            let carry = if *cc_in { r.carry_flag()? } else { false };
            let c = c.as_ref().map_or(Ok(0), |c| r.operand_bits(c, ty.bits()))?;
            let (value, out) =
                eval_carry(*op, *ty, r.operand_bits(a, ty.bits())?, r.operand_bits(b, ty.bits())?, c, carry);
            Ok((vec![(*dst, value)], cc_out.then_some(out)))
        }
        Inst::Slct { ty, cty, ftz, dst, a, b, c } => {
            let c = r.operand_bits(c, 32)?;
            let first = match cty {
                Type::F32 => float::compare_floats(F32, *ftz, CmpOp::Ge, c as u64, 0),
                _ => int::interpret_bits(32, true, c) >= 0,
            };
            one(dst, r.operand_bits(if first { a } else { b }, ty.bits())?)
        }
        Inst::Selp { ty, dst, a, b, pred } => {
            let first = r.operand_bits(pred, 1)? != 0;
            one(dst, r.operand_bits(if first { a } else { b }, ty.bits())?)
        }
        Inst::Setp { cmp, ty, ftz, combine, dst, dst2, a, b } => {
            let truths =
                eval_comparisons(*cmp, *ty, *ftz, r.operand_bits(a, ty.bits())?, r.operand_bits(b, ty.bits())?)?;
            let second = truths.get(1).copied().unwrap_or(!truths[0]);
            let (p, q) = (combine_predicate(r, combine, truths[0])?, combine_predicate(r, combine, second)?);
            let writes = [(dst, p), (dst2, q)];
            Ok((writes.iter().filter_map(|(d, v)| d.map(|d| (d, u128::from(*v)))).collect(), None))
        }
        Inst::Set { cmp, dty, ty, ftz, combine, dst, a, b } => {
            let truths =
                eval_comparisons(*cmp, *ty, *ftz, r.operand_bits(a, ty.bits())?, r.operand_bits(b, ty.bits())?)?;
            let part = dty.bits() / truths.len() as u32;
            let mut value = 0;
            for (i, truth) in truths.into_iter().enumerate() {
                let yes = match float_format_of_type(*dty) {
                    Some(f) => f.one_bits().into(),
                    None => truncate_bits(part, u128::MAX),
                };
                value |= if combine_predicate(r, combine, truth)? { yes << (part * i as u32) } else { 0 };
            }
            one(dst, value)
        }
        Inst::Cvt { dty, sty, mods, dst, a } => {
            let value = eval_cvt(*dty, *sty, mods, r.operand_bits(a, sty.bits())?);
            // A wider register gets the value extended.
            let wide = if dty.is_signed() { int::interpret_bits(dty.bits(), true, value) as u128 } else { value };
            one(dst, truncate_bits(r.register_size(*dst), wide))
        }
        Inst::CvtPack { dty, sty, mods, dst, a, b } => {
            let (high, low) = (r.operand_bits(a, sty.bits())?, r.operand_bits(b, sty.bits())?);
            let half = dty.bits() / 2;
            one(dst, narrow_to_packed(*dty, *sty, mods, high) << half | narrow_to_packed(*dty, *sty, mods, low))
        }
        Inst::CvtIntPack { bits, signed, dst, a, b, c } => {
            let n = u32::from(*bits);
            let part = |o: &Operand| -> Result<u128, String> {
                Ok(int::clamp_to_type(n, *signed, int::interpret_bits(32, true, r.operand_bits(o, 32)?)))
            };
            let above = if n == 16 { 0 } else { r.operand_bits(c, 32)? << (2 * n) };
            one(dst, truncate_bits(32, part(b)? | part(a)? << n | above))
        }
        Inst::Video { video, dst, a, b, c } => one(
            dst,
            crate::video::eval_video(video, r.operand_bits(a, 32)?, r.operand_bits(b, 32)?, r.operand_bits(c, 32)?),
        ),
        Inst::MovUnpack { ty, dsts, src } => {
            let (value, part) = (r.operand_bits(src, ty.bits())?, ty.bits() / dsts.len() as u32);
            let parts = (0..).zip(dsts).filter_map(|(i, d)| d.map(|d| (d, truncate_bits(part, value >> (part * i)))));
            Ok((parts.collect(), None))
        }
        Inst::MovPack { ty, dst, srcs } => {
            let part = ty.bits() / srcs.len() as u32;
            let mut value = 0;
            for (i, src) in (0..).zip(srcs) {
                value |= r.operand_bits(src, part)? << (part * i);
            }
            one(dst, value)
        }
        other => Err(format!("the oracle does not know {other:?}")),
    }
}

/// Whether two different NaNs of double precision meet: CUDA does not say which one is kept, and
/// assemblers exchange operands.
fn has_different_f64_nans(operands: &[u128]) -> bool {
    let mut nans = operands.iter().filter(|&&x| F64.is_nan(x as u64));
    let first = nans.next();
    nans.any(|x| Some(x) != first)
}

fn is_second_operand_bit_count(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Shl | Shr | BmskClamp | BmskWrap | SzextClamp | SzextWrap)
}

/// Sizes of the operands.
fn ternary_bits(op: TernaryOp, ty: Type) -> [u32; 3] {
    let n = ty.bits();
    match op {
        TernaryOp::MadWide => [n, n, 2 * n],
        TernaryOp::Bfe => [n, 32, 32],
        _ => [n; 3],
    }
}

/// Applies `f` to the parts of a pair type, or to the whole of another.
fn map_pair_parts(ty: Type, operands: [u128; 3], f: impl Fn([u64; 3]) -> u64) -> u128 {
    if !matches!(ty, Type::F16x2 | Type::BF16x2 | Type::U16x2 | Type::S16x2) {
        return f(operands.map(|x| x as u64)).into();
    }
    let low = f(operands.map(|x| (x & 0xffff) as u64));
    let high = f(operands.map(|x| (x >> 16 & 0xffff) as u64));
    u128::from(low) | u128::from(high) << 16
}

fn unsupported_operation_error<T>(what: impl std::fmt::Debug, ty: Type) -> Result<T, String> {
    Err(format!("the oracle does not know {what:?} of {ty:?}"))
}

fn eval_unary(op: UnaryOp, ty: Type, mods: &FpMods, a: u128) -> Result<u128, String> {
    let n = ty.bits();
    if let Some(f) = float_format_of_type(ty) {
        return float_unary(op, ty, f, mods, a);
    }
    let x = int::interpret_bits(n.min(64), true, a);
    Ok(match op {
        UnaryOp::Abs => truncate_bits(n, x.unsigned_abs()),
        UnaryOp::Neg => truncate_bits(n, -x as u128),
        UnaryOp::Not => truncate_bits(n, !a),
        UnaryOp::Cnot => u128::from(a == 0),
        UnaryOp::PendingCount => crate::mbarrier::pending_arrivals(a),
        UnaryOp::Popc => (0..n).filter(|&i| int::test_bit(a, i)).count() as u128,
        UnaryOp::Clz => (0..n).rev().take_while(|&i| !int::test_bit(a, i)).count() as u128,
        UnaryOp::Brev => int::build_from_bits(n, |i| int::test_bit(a, n - 1 - i)),
        UnaryOp::Bfind { shiftamt } => int::bfind(n, ty.is_signed(), shiftamt, a),
        _ => return unsupported_operation_error(op, ty),
    })
}

fn float_unary(op: UnaryOp, ty: Type, f: FloatFormat, mods: &FpMods, a: u128) -> Result<u128, String> {
    if mods.approx {
        return Err(format!("the oracle does not know the approximate {op:?}"));
    }
    let bits = a as u64;
    let finite = f.magnitude_bits(bits) < f.infinity();
    let test = |truth: bool| Ok(truth.into());
    let arithmetic = |op| Ok(map_pair_parts(ty, [a, 0, 0], |x| float::execute_arithmetic(op, f, mods, x)));
    match op {
        UnaryOp::Abs | UnaryOp::Neg => {
            Ok(map_pair_parts(ty, [a, 0, 0], |[x, ..]| float::abs_or_neg(f, mods, op == UnaryOp::Neg, x)))
        }
        UnaryOp::Sqrt => arithmetic(ArithOp::Sqrt),
        UnaryOp::Rcp => arithmetic(ArithOp::Rcp),
        UnaryOp::TestFinite => test(finite),
        UnaryOp::TestInfinite => test(f.magnitude_bits(bits) == f.infinity()),
        UnaryOp::TestNumber => test(!f.is_nan(bits)),
        UnaryOp::TestNotANumber => test(f.is_nan(bits)),
        // Hardware counts zero among the normal numbers.
        UnaryOp::TestNormal => test(finite && !f.is_subnormal(bits)),
        UnaryOp::TestSubnormal => test(f.is_subnormal(bits)),
        _ => unsupported_operation_error(op, ty),
    }
}

fn eval_binary(op: BinaryOp, ty: Type, mods: &FpMods, a: u128, b: u128) -> Result<u128, String> {
    use BinaryOp::*;
    if let Some(f) = float_format_of_type(ty) {
        return float_binary(op, ty, f, mods, a, b);
    }
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        let part = if ty == Type::S16x2 { Type::S16 } else { Type::U16 };
        let half = |s: u32| eval_binary(op, part, mods, a >> s & 0xffff, b >> s & 0xffff);
        return Ok(half(0)? | half(16)? << 16);
    }
    let (n, signed) = (ty.bits(), ty.is_signed());
    let (x, y) = (int::interpret_bits(n.min(64), signed, a), int::interpret_bits(n.min(64), signed, b));
    let fit = |v: i128| if mods.sat { int::clamp_to_type(n, signed, v) } else { truncate_bits(n, v as u128) };
    let relu = |v: i128| truncate_bits(n, if mods.relu { v.max(0) } else { v } as u128);
    let low24 = || int::wide_product(24, signed, a, b);
    Ok(match op {
        Add => fit(x + y),
        Sub => fit(x - y),
        Div => int::div_or_rem(n, signed, false, a, b),
        Rem => int::div_or_rem(n, signed, true, a, b),
        Min => relu(x.min(y)),
        Max => relu(x.max(y)),
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Mul => truncate_bits(n, int::wide_product(n, signed, a, b)),
        MulHi => int::product_high(n, signed, a, b),
        MulWide => truncate_bits(2 * n, int::wide_product(n, signed, a, b)),
        Mul24Lo => truncate_bits(32, low24()),
        Mul24Hi => truncate_bits(32, low24() >> 16),
        Shl => int::shl(n, a, b as u32),
        Shr => int::shr(n, signed, a, b as u32),
        BmskClamp | BmskWrap => int::bmsk(op == BmskWrap, a as u32, b as u32),
        SzextClamp | SzextWrap => int::szext(op == SzextWrap, signed, a, b as u32),
        CopySign => return unsupported_operation_error(op, ty),
    })
}

fn float_binary(op: BinaryOp, ty: Type, f: FloatFormat, mods: &FpMods, a: u128, b: u128) -> Result<u128, String> {
    if mods.approx || mods.full {
        return Err(format!("the oracle does not know the approximate {op:?}"));
    }
    let arithmetic = |op| Ok(map_pair_parts(ty, [a, b, 0], |x| float::execute_arithmetic(op, f, mods, x)));
    match op {
        BinaryOp::Add => arithmetic(ArithOp::Add),
        BinaryOp::Sub => arithmetic(ArithOp::Sub),
        BinaryOp::Mul => arithmetic(ArithOp::Mul),
        BinaryOp::Div => arithmetic(ArithOp::Div),
        BinaryOp::Min | BinaryOp::Max => {
            Ok(map_pair_parts(ty, [a, b, 0], |[x, y, _]| float::min_max(f, mods, op == BinaryOp::Max, x, y)))
        }
        // The sign of the first operand and the magnitude of the second.
        BinaryOp::CopySign => Ok((a as u64 & f.sign_bit() | f.magnitude_bits(b as u64)).into()),
        _ => unsupported_operation_error(op, ty),
    }
}

fn eval_ternary(op: TernaryOp, ty: Type, mods: &FpMods, a: u128, b: u128, c: u128) -> Result<u128, String> {
    use TernaryOp::*;
    let (n, signed) = (ty.bits(), ty.is_signed());
    if let Some(f) = float_format_of_type(ty) {
        let first = |x: [u64; 3], max| float::min_max(f, mods, max, x[0], x[1]);
        return match op {
            Fma => Ok(map_pair_parts(ty, [a, b, c], |x| float::execute_arithmetic(ArithOp::Fma, f, mods, x))),
            Min3 | Max3 => {
                Ok(map_pair_parts(ty, [a, b, c], |x| float::min_max(f, mods, op == Max3, first(x, op == Max3), x[2])))
            }
            _ => unsupported_operation_error(op, ty),
        };
    }
    let plus = |product: u128| truncate_bits(n, product.wrapping_add(c));
    let plus_clamped = |product: u128| {
        let sum = int::interpret_bits(32, true, product) + int::interpret_bits(32, true, c);
        int::clamp_to_type(32, true, sum)
    };
    let low24 = || int::wide_product(24, signed, a, b);
    Ok(match op {
        MadLo => plus(int::wide_product(n, signed, a, b)),
        MadHi if mods.sat => plus_clamped(int::product_high(n, signed, a, b)),
        MadHi => plus(int::product_high(n, signed, a, b)),
        MadWide => truncate_bits(2 * n, int::wide_product(n, signed, a, b).wrapping_add(c)),
        Mad24Lo => plus(low24()),
        Mad24Hi if mods.sat => plus_clamped(low24() >> 16),
        Mad24Hi => plus(low24() >> 16),
        Sad => plus((int::interpret_bits(n, signed, a) - int::interpret_bits(n, signed, b)).unsigned_abs()),
        Bfe => int::bfe(n, signed, a, b as u32, c as u32),
        Lop3(table) => int::lop3(table, a, b, c),
        ShfLClamp | ShfLWrap => int::funnel_shift(true, op == ShfLWrap, a, b, c as u32),
        ShfRClamp | ShfRWrap => int::funnel_shift(false, op == ShfRWrap, a, b, c as u32),
        Prmt(mode) => int::prmt(mode, a, b, c),
        Dp4a { a_signed, b_signed } => int::dot_product(a_signed, b_signed, None, a, b, c),
        Dp2a { a_signed, b_signed, hi } => int::dot_product(a_signed, b_signed, Some(hi), a, b, c),
        Fns => int::find_nth_set(a, b as u32, c as u32 as i32),
        ClmadLo => truncate_bits(64, int::carryless_product(a, b)) ^ c,
        ClmadHi => (int::carryless_product(a, b) >> 64) ^ c,
        AbsDiff4 { sum } => int::abs_diff4(sum, a, b, c),
        _ => return unsupported_operation_error(op, ty),
    })
}

/// The value and the carry (of a subtraction: the borrow) of an extended-precision instruction.
fn eval_carry(op: CarryOp, ty: Type, a: u128, b: u128, c: u128, carry: bool) -> (u128, bool) {
    let (n, signed, carry) = (ty.bits(), ty.is_signed(), u128::from(carry));
    if op == CarryOp::Sub {
        let borrows = a < b + carry;
        return (truncate_bits(n, a.wrapping_sub(b + carry)), borrows);
    }
    let (x, y) = match op {
        CarryOp::MadLo => (truncate_bits(n, int::wide_product(n, signed, a, b)), c),
        CarryOp::MadHi => (int::product_high(n, signed, a, b), c),
        _ => (a, b),
    };
    let sum = x + y + carry;
    (truncate_bits(n, sum), sum >> n != 0)
}

/// One truth, or two of a pair type: low half first.
fn eval_comparisons(cmp: CmpOp, ty: Type, ftz: bool, a: u128, b: u128) -> Result<Vec<bool>, String> {
    let Some(f) = float_format_of_type(ty) else {
        let truth = int::compare_ints(ty.bits(), ty.is_signed(), cmp, a, b);
        return truth.map(|t| vec![t]).ok_or_else(|| format!("{cmp:?} of {ty:?} is no comparison"));
    };
    let compare = |shift: u32, mask: u64| {
        float::compare_floats(f, ftz, cmp, (a >> shift) as u64 & mask, (b >> shift) as u64 & mask)
    };
    Ok(match ty {
        Type::F16x2 | Type::BF16x2 => vec![compare(0, 0xffff), compare(16, 0xffff)],
        _ => vec![compare(0, u64::MAX)],
    })
}

fn combine_predicate(r: &dyn OperandSource, combine: &Option<(BoolOp, PredSrc)>, truth: bool) -> Result<bool, String> {
    let Some((op, pred)) = combine else { return Ok(truth) };
    let other = r.predicate_value(pred)?;
    Ok(match op {
        BoolOp::And => truth && other,
        BoolOp::Or => truth || other,
        BoolOp::Xor => truth != other,
    })
}

/// One number to a format that packs two.
fn narrow_to_packed(dty: Type, sty: Type, mods: &FpMods, a: u128) -> u128 {
    match (dty, float_format_of_type(dty), float_format_of_type(sty)) {
        (Type::E4M3x2 | Type::E5M2x2, Some(to), Some(from)) => convert::to_fp8(to, from, mods.relu, a as u64).into(),
        (Type::F16x2, ..) => convert::scalar_cvt(Type::F16, sty, mods, a),
        _ => convert::scalar_cvt(Type::BF16, sty, mods, a),
    }
}

fn eval_cvt(dty: Type, sty: Type, mods: &FpMods, a: u128) -> u128 {
    match (dty, sty, float_format_of_type(sty)) {
        (Type::F16x2, Type::E4M3x2 | Type::E5M2x2, Some(from)) => {
            let half = |s: u32| u128::from(convert::from_fp8(from, (a >> s) as u64 & 0xff));
            let relu = |x: u128| u128::from(float::apply_sat_or_relu(crate::exact_rounding::F16, mods, x as u64));
            relu(half(0)) | relu(half(8)) << 16
        }
        (Type::E4M3x2 | Type::E5M2x2, Type::F16x2, _) => {
            narrow_to_packed(dty, Type::F16, mods, a & 0xffff) | narrow_to_packed(dty, Type::F16, mods, a >> 16) << 8
        }
        _ => convert::scalar_cvt(dty, sty, mods, a),
    }
}

/// The operand that a device's assembler passes on unchanged, a NaN with its payload: `a * 1` and the extremes of a number
/// and itself (seen on an H200).
fn operand_that_is_passed<'o>(
    op: BinaryOp,
    ty: Type,
    mods: &FpMods,
    a: &'o Operand,
    b: &'o Operand,
) -> Option<&'o Operand> {
    let ones = [Operand::F32(1.0_f32.to_bits()), Operand::F64(1.0_f64.to_bits())];
    if *mods != FpMods::default() || !matches!(ty, Type::F32 | Type::F64) {
        return None;
    }
    match op {
        BinaryOp::Mul if ones.contains(b) => Some(a),
        BinaryOp::Mul if ones.contains(a) => Some(b),
        BinaryOp::Max | BinaryOp::Min if a == b => Some(a),
        _ => None,
    }
}
