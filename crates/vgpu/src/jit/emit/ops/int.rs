//! Integer and bit instructions.
//!
//! 8- and 16-bit operands are computed in 32 bits: signed ones are sign-extended first where it
//! matters, and every result is cut to its bits again.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{BinaryOp, CarryOp, FpMods, Operand, TernaryOp, Type, UnaryOp};

use super::emit::{
    and_const, bits, by_lane, choose, float, icmp_const, keep_if, map1, map2, map3, same, sar, shl, shr, type_of,
};
use super::parts::{as_type, extend64, narrow64, sign_extend};
use super::{OpCtx, Parts, Shape, Width, bitwise, compare, convert, moves, shift};

/// The immediate value of an operand.
pub(super) fn immediate(op: &Operand) -> Option<u32> {
    match op {
        Operand::Int(v) => Some(*v as u32),
        _ => None,
    }
}

/// Results of less than 32 bits, cut.
pub(super) fn cut(cx: &mut OpCtx<'_, '_>, ty: Type, parts: Parts) -> Parts {
    match ty.bits() {
        n @ (8 | 16) => map1(cx, &parts, |cx, v| and_const(cx, v, (1 << n) - 1)),
        _ => parts,
    }
}

/// An operand of `ty` with its sign in 32 bits, if it is signed and smaller.
pub(super) fn widened(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, parts: &Parts) -> Parts {
    if ty.is_signed() && ty.bits() < 32 { sign_extend(cx, shape, parts, ty.bits().into()) } else { parts.clone() }
}

/// One-operand instructions; `None` when a helper has to do it.
pub(super) fn unary(cx: &mut OpCtx<'_, '_>, shape: Shape, op: UnaryOp, ty: Type, a: &Parts) -> Option<Parts> {
    if matches!(ty, Type::U16x2 | Type::S16x2 | Type::B128) {
        return None;
    }
    let width = Width::of(ty);
    Some(match op {
        UnaryOp::Not if ty == Type::Pred => compare::not(cx, shape, a),
        UnaryOp::Not => {
            let r = map1(cx, a, |cx, x| cx.b.ins().bnot(x));
            cut(cx, ty, r)
        }
        UnaryOp::Neg => {
            let r = map1(cx, a, |cx, x| cx.b.ins().ineg(x));
            cut(cx, ty, r)
        }
        UnaryOp::Abs => {
            let a = if ty.bits() < 32 { sign_extend(cx, shape, a, ty.bits().into()) } else { a.clone() };
            let r = map1(cx, &a, |cx, x| cx.b.ins().iabs(x));
            cut(cx, ty, r)
        }
        UnaryOp::Cnot => map1(cx, a, |cx, x| {
            let zero = icmp_const(cx, IntCC::Equal, x, 0);
            let one = same(cx, x, 1);
            keep_if(cx, zero, one)
        }),
        UnaryOp::Popc if shape == Shape::Chunk && width == Width::W32 => map1(cx, a, popcount),
        UnaryOp::Popc => narrow_result(cx, shape, width, a, |cx, x| cx.b.ins().popcnt(x)),
        UnaryOp::Clz => narrow_result(cx, shape, width, a, |cx, x| cx.b.ins().clz(x)),
        UnaryOp::Brev => by_lane(cx, shape, &[(a, width)], width, |cx, v| cx.b.ins().bitrev(v[0])),
        UnaryOp::Bfind { shiftamt } => {
            let signed = ty.is_signed();
            narrow_result(cx, shape, width, a, |cx, x| bfind(cx, signed, shiftamt, x))
        }
        _ => return None,
    })
}

/// Scalar instructions whose result is 32 bits whatever the operand.
fn narrow_result(
    cx: &mut OpCtx<'_, '_>,
    shape: Shape,
    width: Width,
    a: &Parts,
    mut f: impl FnMut(&mut OpCtx<'_, '_>, Value) -> Value,
) -> Parts {
    by_lane(cx, shape, &[(a, width)], Width::W32, |cx, v| {
        let r = f(cx, v[0]);
        if width == Width::W64 { cx.b.ins().ireduce(types::I32, r) } else { r }
    })
}

fn popcount(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let bytes = as_type(cx, x, types::I8X16);
    let counts = cx.b.ins().popcnt(bytes);
    let counts = as_type(cx, counts, types::I32X4);
    let high = shr(cx, counts, 16);
    let sum = cx.b.ins().iadd(counts, high);
    let next = shr(cx, sum, 8);
    let sum = cx.b.ins().iadd(sum, next);
    and_const(cx, sum, 0xff)
}

fn bfind(cx: &mut OpCtx<'_, '_>, signed: bool, shiftamt: bool, x: Value) -> Value {
    let size = type_of(cx, x).bits();
    let x = if signed {
        let sign = sar(cx, x, size - 1);
        cx.b.ins().bxor(x, sign)
    } else {
        x
    };
    let distance = cx.b.ins().clz(x);
    let none = icmp_const(cx, IntCC::Equal, x, 0);
    let all_ones = same(cx, x, u64::MAX);
    let found = if shiftamt {
        distance
    } else {
        let top = same(cx, x, u64::from(size - 1));
        cx.b.ins().isub(top, distance)
    };
    cx.b.ins().select(none, all_ones, found)
}

/// Two-operand instructions; `None` when a helper has to do it.
pub(super) fn binary(
    cx: &mut OpCtx<'_, '_>,
    shape: Shape,
    op: BinaryOp,
    ty: Type,
    mods: &FpMods,
    second: &Operand,
    srcs: &[Parts],
) -> Option<Parts> {
    if mods.sat || mods.relu || matches!(ty, Type::U16x2 | Type::S16x2 | Type::B128) {
        return None;
    }
    let (a, b) = (&srcs[0], &srcs[1]);
    Some(match op {
        BinaryOp::And => map2(cx, a, b, |cx, x, y| cx.b.ins().band(x, y)),
        BinaryOp::Or => map2(cx, a, b, |cx, x, y| cx.b.ins().bor(x, y)),
        BinaryOp::Xor => map2(cx, a, b, |cx, x, y| cx.b.ins().bxor(x, y)),
        BinaryOp::Add => {
            let r = map2(cx, a, b, |cx, x, y| cx.b.ins().iadd(x, y));
            cut(cx, ty, r)
        }
        BinaryOp::Sub => {
            let r = map2(cx, a, b, |cx, x, y| cx.b.ins().isub(x, y));
            cut(cx, ty, r)
        }
        BinaryOp::Mul => mul_lo(cx, ty, a, b),
        BinaryOp::MulHi => mul_hi(cx, shape, ty, a, b)?,
        BinaryOp::MulWide => mul_wide(cx, shape, ty, a, b)?,
        BinaryOp::Mul24Lo => {
            let (a, b) = (low24(cx, ty, a), low24(cx, ty, b));
            map2(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y))
        }
        BinaryOp::Min | BinaryOp::Max => min_max(cx, shape, op == BinaryOp::Max, ty, a, b),
        BinaryOp::Div | BinaryOp::Rem if ty.bits() <= 32 => division(cx, shape, op == BinaryOp::Rem, ty, a, b),
        BinaryOp::Shl | BinaryOp::Shr => shift::shift(cx, shape, op == BinaryOp::Shl, ty, second, a, b),
        _ => return None,
    })
}

/// The low half of a product.
fn mul_lo(cx: &mut OpCtx<'_, '_>, ty: Type, a: &Parts, b: &Parts) -> Parts {
    let r = map2(cx, a, b, |cx, x, y| cx.b.ins().imul(x, y));
    cut(cx, ty, r)
}

/// The upper half of a product.
fn mul_hi(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, a: &Parts, b: &Parts) -> Option<Parts> {
    let signed = ty.is_signed();
    Some(match ty.bits() {
        16 => {
            let (a, b) = (widened(cx, shape, ty, a), widened(cx, shape, ty, b));
            map2(cx, &a, &b, |cx, x, y| {
                let p = cx.b.ins().imul(x, y);
                shr(cx, p, 16)
            })
        }
        32 => {
            let wide = mul_wide(cx, shape, ty, a, b)?;
            moves::high32(cx, shape, &wide)
        }
        64 => by_lane(cx, shape, &[(a, Width::W64), (b, Width::W64)], Width::W64, |cx, v| {
            if signed { cx.b.ins().smulhi(v[0], v[1]) } else { cx.b.ins().umulhi(v[0], v[1]) }
        }),
        _ => return None,
    })
}

/// The product in twice the bits.
fn mul_wide(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, a: &Parts, b: &Parts) -> Option<Parts> {
    match ty.bits() {
        16 => {
            let (a, b) = (widened(cx, shape, ty, a), widened(cx, shape, ty, b));
            Some(map2(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y)))
        }
        32 => {
            // The back end multiplies widened vectors with one instruction.
            let (a, b) = (extend64(cx, shape, a, ty.is_signed()), extend64(cx, shape, b, ty.is_signed()));
            Some(map2(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y)))
        }
        _ => None,
    }
}

/// The quotient or remainder of integers of at most 32 bits, by way of double precision: their
/// quotient, rounded there, truncates to the right integer. A divisor of zero gives all ones.
fn division(cx: &mut OpCtx<'_, '_>, shape: Shape, remainder: bool, ty: Type, a: &Parts, b: &Parts) -> Parts {
    let (a, b) = (widened(cx, shape, ty, a), widened(cx, shape, ty, b));
    let (x, y) = (convert::doubles(cx, shape, ty.is_signed(), &a), convert::doubles(cx, shape, ty.is_signed(), &b));
    let words = map2(cx, &x, &y, |cx, x, y| {
        let (x, y) = (float(cx, x), float(cx, y));
        let q = cx.b.ins().fdiv(x, y);
        let q = cx.b.ins().trunc(q);
        // 1.5 * 2^52, which leaves the integer (modulo 2^32) in the low word.
        let shift = same(cx, q, 0x4338_0000_0000_0000);
        let q = cx.b.ins().fadd(q, shift);
        bits(cx, q)
    });
    let q = narrow64(cx, shape, &words);
    let r = map3(cx, &q, &a, &b, |cx, q, a, b| {
        let r = if remainder {
            let back = cx.b.ins().imul(q, b);
            cx.b.ins().isub(a, back)
        } else {
            q
        };
        let by_zero = icmp_const(cx, IntCC::Equal, b, 0);
        let all_ones = same(cx, r, u64::MAX);
        choose(cx, by_zero, all_ones, r)
    });
    cut(cx, ty, r)
}

/// The low 24 bits, sign- or zero-extended.
fn low24(cx: &mut OpCtx<'_, '_>, ty: Type, a: &Parts) -> Parts {
    map1(cx, a, |cx, x| {
        let up = shl(cx, x, 8);
        if ty.is_signed() { sar(cx, up, 8) } else { shr(cx, up, 8) }
    })
}

fn min_max(cx: &mut OpCtx<'_, '_>, shape: Shape, max: bool, ty: Type, a: &Parts, b: &Parts) -> Parts {
    let (x, y) = (widened(cx, shape, ty, a), widened(cx, shape, ty, b));
    let signed = ty.is_signed();
    let r = map2(cx, &x, &y, |cx, x, y| {
        if type_of(cx, x) == types::I64X2 {
            // There is no such vector instruction.
            let cc = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
            let less = cx.b.ins().icmp(cc, x, y);
            return if max { choose(cx, less, y, x) } else { choose(cx, less, x, y) };
        }
        match (max, signed) {
            (true, true) => cx.b.ins().smax(x, y),
            (true, false) => cx.b.ins().umax(x, y),
            (false, true) => cx.b.ins().smin(x, y),
            (false, false) => cx.b.ins().umin(x, y),
        }
    });
    cut(cx, ty, r)
}

/// Three-operand instructions; `None` when a helper has to do it.
pub(super) fn ternary(
    cx: &mut OpCtx<'_, '_>,
    shape: Shape,
    op: TernaryOp,
    ty: Type,
    mods: &FpMods,
    ops: [&Operand; 3],
    srcs: &[Parts],
) -> Option<Parts> {
    if mods.sat || ty == Type::B128 {
        return None;
    }
    let (a, b, c) = (&srcs[0], &srcs[1], &srcs[2]);
    let add = |cx: &mut OpCtx<'_, '_>, p: Parts| map2(cx, &p, c, |cx, x, y| cx.b.ins().iadd(x, y));
    Some(match op {
        TernaryOp::MadLo => {
            let p = mul_lo(cx, ty, a, b);
            let r = add(cx, p);
            cut(cx, ty, r)
        }
        TernaryOp::MadHi => {
            let p = mul_hi(cx, shape, ty, a, b)?;
            let r = add(cx, p);
            cut(cx, ty, r)
        }
        TernaryOp::MadWide => {
            let p = mul_wide(cx, shape, ty, a, b)?;
            add(cx, p)
        }
        TernaryOp::Mad24Lo => {
            let (x, y) = (low24(cx, ty, a), low24(cx, ty, b));
            let p = map2(cx, &x, &y, |cx, x, y| cx.b.ins().imul(x, y));
            add(cx, p)
        }
        TernaryOp::Sad => {
            let d = difference(cx, shape, ty, a, b);
            let r = add(cx, d);
            cut(cx, ty, r)
        }
        TernaryOp::Lop3(table) => map3(cx, a, b, c, |cx, x, y, z| bitwise::lop3(cx, table, x, y, z)),
        TernaryOp::Bfe => bitwise::bfe_constant(cx, ty, immediate(ops[1])?, immediate(ops[2])?, a),
        TernaryOp::Prmt(mode) => bitwise::prmt_constant(cx, shape, mode, immediate(ops[2])?, a, b)?,
        TernaryOp::ShfLClamp | TernaryOp::ShfLWrap | TernaryOp::ShfRClamp | TernaryOp::ShfRWrap => {
            let n = immediate(ops[2]);
            shift::funnel(cx, shape, op, n, a, b, c)?
        }
        _ => return None,
    })
}

/// `|a - b|`
fn difference(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, a: &Parts, b: &Parts) -> Parts {
    let high = min_max(cx, shape, true, ty, a, b);
    let low = min_max(cx, shape, false, ty, a, b);
    map2(cx, &high, &low, |cx, h, l| cx.b.ins().isub(h, l))
}

/// The extended-precision instructions; `cin` is the carry read. Gives the result and the carry
/// out. As on the hardware a subtraction is an addition of the complement: it sets the carry when
/// it does not borrow, and takes one more away when the carry is clear. Code that mixes `sub.cc`
/// with `addc` (the 128-bit division of CUDA) relies on it.
pub(super) fn carry(
    cx: &mut OpCtx<'_, '_>,
    shape: Shape,
    op: CarryOp,
    ty: Type,
    srcs: &[Parts],
    cin: Option<&Parts>,
) -> Option<[Parts; 2]> {
    let width = Width::of(ty);
    let (a, b) = match op {
        CarryOp::Add | CarryOp::Sub => (srcs[0].clone(), srcs[1].clone()),
        CarryOp::MadLo => (mul_lo(cx, ty, &srcs[0], &srcs[1]), srcs[2].clone()),
        CarryOp::MadHi => (mul_hi(cx, shape, ty, &srcs[0], &srcs[1])?, srcs[2].clone()),
    };
    let subtract = op == CarryOp::Sub;
    let cin = cin.map(|p| if subtract { invert(cx, shape, p) } else { p.clone() });
    let one_or_zero = cin.map(|p| carry_word(cx, shape, &p, width));
    let mut sums = Parts::new();
    let mut outs = Parts::new();
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let t = if subtract { cx.b.ins().isub(x, y) } else { cx.b.ins().iadd(x, y) };
        let (before, after) = if subtract { (x, y) } else { (t, x) };
        let mut out = cx.b.ins().icmp(IntCC::UnsignedLessThan, before, after);
        let mut sum = t;
        if let Some(words) = &one_or_zero {
            let c = words[i];
            sum = if subtract { cx.b.ins().isub(t, c) } else { cx.b.ins().iadd(t, c) };
            let (before, after) = if subtract { (t, c) } else { (sum, t) };
            let again = cx.b.ins().icmp(IntCC::UnsignedLessThan, before, after);
            out = cx.b.ins().bor(out, again);
        }
        sums.push(sum);
        outs.push(out);
    }
    let out = compare::to_predicate(cx, shape, outs, width);
    let out = if subtract { invert(cx, shape, &out) } else { out };
    Some([sums, out])
}

fn invert(cx: &mut OpCtx<'_, '_>, shape: Shape, p: &Parts) -> Parts {
    match shape {
        Shape::Scalar => map1(cx, p, |cx, p| cx.b.ins().bxor_imm_u(p, 1)),
        Shape::Chunk => map1(cx, p, |cx, p| cx.b.ins().bnot(p)),
    }
}

/// A predicate as the number 0 or 1 of the width.
fn carry_word(cx: &mut OpCtx<'_, '_>, shape: Shape, p: &Parts, width: Width) -> Parts {
    match shape {
        Shape::Scalar => {
            let ty = width.part_type(shape);
            map1(cx, p, |cx, p| cx.b.ins().uextend(ty, p))
        }
        Shape::Chunk => {
            let masks = super::parts::widen_mask(cx, p, width);
            map1(cx, &masks, |cx, m| and_const(cx, m, 1))
        }
    }
}
