//! Integer and bit instructions.
//!
//! 8- and 16-bit operands are computed in 32 bits: signed ones are sign-extended first where it
//! matters, and every result is cut to its bits again.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{BinaryOp, CarryOp, FpMods, Operand, TernaryOp, Type, UnaryOp};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, emit_per_lane, float_as_bits, icmp_const,
    map_part_pairs, map_part_triples, map_parts, select_lanes, select_or_zero, shl_const, sshr_const, ushr_const,
};
use super::lane_parts::{bitcast_to, extend_to_64_bit, narrow_to_32_bit, sign_extend};
use super::{EmitShape, LaneParts, OpCtx, RegWidth, bitwise, compare, convert, moves, shift};

/// The immediate value of an operand.
pub(super) fn immediate_value(op: &Operand) -> Option<u32> {
    match op {
        Operand::Int(v) => Some(*v as u32),
        _ => None,
    }
}

/// Results of less than 32 bits, cut.
pub(super) fn truncate_to_type(cx: &mut OpCtx<'_, '_>, ty: Type, parts: LaneParts) -> LaneParts {
    match ty.bits() {
        n @ (8 | 16) => map_parts(cx, &parts, |cx, v| and_const(cx, v, (1 << n) - 1)),
        _ => parts,
    }
}

/// An operand of `ty` with its sign in 32 bits, if it is signed and smaller.
pub(super) fn widen_operand(cx: &mut OpCtx<'_, '_>, shape: EmitShape, ty: Type, parts: &LaneParts) -> LaneParts {
    if ty.is_signed() && ty.bits() < 32 { sign_extend(cx, shape, parts, ty.bits().into()) } else { parts.clone() }
}

/// One-operand instructions; `None` when a helper has to do it.
pub(super) fn lower_int_unary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: UnaryOp,
    ty: Type,
    a: &LaneParts,
) -> Option<LaneParts> {
    if matches!(ty, Type::U16x2 | Type::S16x2 | Type::B128) {
        return None;
    }
    let width = RegWidth::from_type(ty);
    Some(match op {
        UnaryOp::Not if ty == Type::Pred => compare::negate_predicate(cx, shape, a),
        UnaryOp::Not => {
            let r = map_parts(cx, a, |cx, x| cx.b.ins().bnot(x));
            truncate_to_type(cx, ty, r)
        }
        UnaryOp::Neg => {
            let r = map_parts(cx, a, |cx, x| cx.b.ins().ineg(x));
            truncate_to_type(cx, ty, r)
        }
        UnaryOp::Abs => {
            let a = if ty.bits() < 32 { sign_extend(cx, shape, a, ty.bits().into()) } else { a.clone() };
            let r = map_parts(cx, &a, |cx, x| cx.b.ins().iabs(x));
            truncate_to_type(cx, ty, r)
        }
        UnaryOp::Cnot => map_parts(cx, a, |cx, x| {
            let zero = icmp_const(cx, IntCC::Equal, x, 0);
            let one = const_of_type_like(cx, x, 1);
            select_or_zero(cx, zero, one)
        }),
        UnaryOp::Popc if shape == EmitShape::Chunk && width == RegWidth::W32 => map_parts(cx, a, emit_popcount),
        UnaryOp::Popc => lower_to_32_bit_result(cx, shape, width, a, |cx, x| cx.b.ins().popcnt(x)),
        UnaryOp::Clz => lower_to_32_bit_result(cx, shape, width, a, |cx, x| cx.b.ins().clz(x)),
        UnaryOp::Brev => emit_per_lane(cx, shape, &[(a, width)], width, |cx, v| cx.b.ins().bitrev(v[0])),
        UnaryOp::Bfind { shiftamt } => {
            let signed = ty.is_signed();
            lower_to_32_bit_result(cx, shape, width, a, |cx, x| emit_bfind(cx, signed, shiftamt, x))
        }
        _ => return None,
    })
}

/// Scalar instructions whose result is 32 bits whatever the operand.
fn lower_to_32_bit_result(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    width: RegWidth,
    a: &LaneParts,
    mut f: impl FnMut(&mut OpCtx<'_, '_>, Value) -> Value,
) -> LaneParts {
    emit_per_lane(cx, shape, &[(a, width)], RegWidth::W32, |cx, v| {
        let r = f(cx, v[0]);
        if width == RegWidth::W64 { cx.b.ins().ireduce(types::I32, r) } else { r }
    })
}

fn emit_popcount(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let bytes = bitcast_to(cx, x, types::I8X16);
    let counts = cx.b.ins().popcnt(bytes);
    let counts = bitcast_to(cx, counts, types::I32X4);
    let high = ushr_const(cx, counts, 16);
    let sum = cx.b.ins().iadd(counts, high);
    let next = ushr_const(cx, sum, 8);
    let sum = cx.b.ins().iadd(sum, next);
    and_const(cx, sum, 0xff)
}

fn emit_bfind(cx: &mut OpCtx<'_, '_>, signed: bool, shiftamt: bool, x: Value) -> Value {
    let size = clif_type_of(cx, x).bits();
    let x = if signed {
        let sign = sshr_const(cx, x, size - 1);
        cx.b.ins().bxor(x, sign)
    } else {
        x
    };
    let distance = cx.b.ins().clz(x);
    let none = icmp_const(cx, IntCC::Equal, x, 0);
    let all_ones = const_of_type_like(cx, x, u64::MAX);
    let found = if shiftamt {
        distance
    } else {
        let top = const_of_type_like(cx, x, u64::from(size - 1));
        cx.b.ins().isub(top, distance)
    };
    cx.b.ins().select(none, all_ones, found)
}

/// Two-operand instructions; `None` when a helper has to do it.
pub(super) fn lower_int_binary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: BinaryOp,
    ty: Type,
    mods: &FpMods,
    second: &Operand,
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    if mods.sat || mods.relu || matches!(ty, Type::U16x2 | Type::S16x2 | Type::B128) {
        return None;
    }
    let (a, b) = (&srcs[0], &srcs[1]);
    Some(match op {
        BinaryOp::And => map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().band(x, y)),
        BinaryOp::Or => map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().bor(x, y)),
        BinaryOp::Xor => map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().bxor(x, y)),
        BinaryOp::Add => {
            let r = map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().iadd(x, y));
            truncate_to_type(cx, ty, r)
        }
        BinaryOp::Sub => {
            let r = map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().isub(x, y));
            truncate_to_type(cx, ty, r)
        }
        BinaryOp::Mul => mul_lo(cx, ty, a, b),
        BinaryOp::MulHi => mul_hi(cx, shape, ty, a, b)?,
        BinaryOp::MulWide => mul_wide(cx, shape, ty, a, b)?,
        BinaryOp::Mul24Lo => {
            let (a, b) = (low_24_bits(cx, ty, a), low_24_bits(cx, ty, b));
            map_part_pairs(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y))
        }
        BinaryOp::Min | BinaryOp::Max => min_max(cx, shape, op == BinaryOp::Max, ty, a, b),
        BinaryOp::Div | BinaryOp::Rem if ty.bits() <= 32 => emit_division(cx, shape, op == BinaryOp::Rem, ty, a, b),
        BinaryOp::Shl | BinaryOp::Shr => shift::lower_shift(cx, shape, op == BinaryOp::Shl, ty, second, a, b),
        _ => return None,
    })
}

/// The low half of a product.
fn mul_lo(cx: &mut OpCtx<'_, '_>, ty: Type, a: &LaneParts, b: &LaneParts) -> LaneParts {
    let r = map_part_pairs(cx, a, b, |cx, x, y| cx.b.ins().imul(x, y));
    truncate_to_type(cx, ty, r)
}

/// The upper half of a product.
fn mul_hi(cx: &mut OpCtx<'_, '_>, shape: EmitShape, ty: Type, a: &LaneParts, b: &LaneParts) -> Option<LaneParts> {
    let signed = ty.is_signed();
    Some(match ty.bits() {
        16 => {
            let (a, b) = (widen_operand(cx, shape, ty, a), widen_operand(cx, shape, ty, b));
            map_part_pairs(cx, &a, &b, |cx, x, y| {
                let p = cx.b.ins().imul(x, y);
                ushr_const(cx, p, 16)
            })
        }
        32 => {
            let wide = mul_wide(cx, shape, ty, a, b)?;
            moves::high_words(cx, shape, &wide)
        }
        64 => emit_per_lane(cx, shape, &[(a, RegWidth::W64), (b, RegWidth::W64)], RegWidth::W64, |cx, v| {
            if signed { cx.b.ins().smulhi(v[0], v[1]) } else { cx.b.ins().umulhi(v[0], v[1]) }
        }),
        _ => return None,
    })
}

/// The product in twice the bits.
fn mul_wide(cx: &mut OpCtx<'_, '_>, shape: EmitShape, ty: Type, a: &LaneParts, b: &LaneParts) -> Option<LaneParts> {
    match ty.bits() {
        16 => {
            let (a, b) = (widen_operand(cx, shape, ty, a), widen_operand(cx, shape, ty, b));
            Some(map_part_pairs(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y)))
        }
        32 => {
            // The back end multiplies widened vectors with one instruction.
            let (a, b) =
                (extend_to_64_bit(cx, shape, a, ty.is_signed()), extend_to_64_bit(cx, shape, b, ty.is_signed()));
            Some(map_part_pairs(cx, &a, &b, |cx, x, y| cx.b.ins().imul(x, y)))
        }
        _ => None,
    }
}

/// The quotient or remainder of integers of at most 32 bits, by way of double precision: their
/// quotient, rounded there, truncates to the right integer. A divisor of zero gives all ones.
fn emit_division(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    remainder: bool,
    ty: Type,
    a: &LaneParts,
    b: &LaneParts,
) -> LaneParts {
    let (a, b) = (widen_operand(cx, shape, ty, a), widen_operand(cx, shape, ty, b));
    let (x, y) = (
        convert::int_to_double_bits(cx, shape, ty.is_signed(), &a),
        convert::int_to_double_bits(cx, shape, ty.is_signed(), &b),
    );
    let words = map_part_pairs(cx, &x, &y, |cx, x, y| {
        let (x, y) = (bits_as_float(cx, x), bits_as_float(cx, y));
        let q = cx.b.ins().fdiv(x, y);
        let q = cx.b.ins().trunc(q);
        // 1.5 * 2^52, which leaves the integer (modulo 2^32) in the low word.
        let shift = const_of_type_like(cx, q, 0x4338_0000_0000_0000);
        let q = cx.b.ins().fadd(q, shift);
        float_as_bits(cx, q)
    });
    let q = narrow_to_32_bit(cx, shape, &words);
    let r = map_part_triples(cx, &q, &a, &b, |cx, q, a, b| {
        let r = if remainder {
            let back = cx.b.ins().imul(q, b);
            cx.b.ins().isub(a, back)
        } else {
            q
        };
        let by_zero = icmp_const(cx, IntCC::Equal, b, 0);
        let all_ones = const_of_type_like(cx, r, u64::MAX);
        select_lanes(cx, by_zero, all_ones, r)
    });
    truncate_to_type(cx, ty, r)
}

/// The low 24 bits, sign- or zero-extended.
fn low_24_bits(cx: &mut OpCtx<'_, '_>, ty: Type, a: &LaneParts) -> LaneParts {
    map_parts(cx, a, |cx, x| {
        let up = shl_const(cx, x, 8);
        if ty.is_signed() { sshr_const(cx, up, 8) } else { ushr_const(cx, up, 8) }
    })
}

fn min_max(cx: &mut OpCtx<'_, '_>, shape: EmitShape, max: bool, ty: Type, a: &LaneParts, b: &LaneParts) -> LaneParts {
    let (x, y) = (widen_operand(cx, shape, ty, a), widen_operand(cx, shape, ty, b));
    let signed = ty.is_signed();
    let r = map_part_pairs(cx, &x, &y, |cx, x, y| {
        if clif_type_of(cx, x) == types::I64X2 {
            // There is no such vector instruction.
            let cc = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
            let less = cx.b.ins().icmp(cc, x, y);
            return if max { select_lanes(cx, less, y, x) } else { select_lanes(cx, less, x, y) };
        }
        match (max, signed) {
            (true, true) => cx.b.ins().smax(x, y),
            (true, false) => cx.b.ins().umax(x, y),
            (false, true) => cx.b.ins().smin(x, y),
            (false, false) => cx.b.ins().umin(x, y),
        }
    });
    truncate_to_type(cx, ty, r)
}

/// Three-operand instructions; `None` when a helper has to do it.
pub(super) fn lower_int_ternary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: TernaryOp,
    ty: Type,
    mods: &FpMods,
    ops: [&Operand; 3],
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    if mods.sat || ty == Type::B128 {
        return None;
    }
    let (a, b, c) = (&srcs[0], &srcs[1], &srcs[2]);
    let add = |cx: &mut OpCtx<'_, '_>, p: LaneParts| map_part_pairs(cx, &p, c, |cx, x, y| cx.b.ins().iadd(x, y));
    Some(match op {
        TernaryOp::MadLo => {
            let p = mul_lo(cx, ty, a, b);
            let r = add(cx, p);
            truncate_to_type(cx, ty, r)
        }
        TernaryOp::MadHi => {
            let p = mul_hi(cx, shape, ty, a, b)?;
            let r = add(cx, p);
            truncate_to_type(cx, ty, r)
        }
        TernaryOp::MadWide => {
            let p = mul_wide(cx, shape, ty, a, b)?;
            add(cx, p)
        }
        TernaryOp::Mad24Lo => {
            let (x, y) = (low_24_bits(cx, ty, a), low_24_bits(cx, ty, b));
            let p = map_part_pairs(cx, &x, &y, |cx, x, y| cx.b.ins().imul(x, y));
            add(cx, p)
        }
        TernaryOp::Sad => {
            let d = absolute_difference(cx, shape, ty, a, b);
            let r = add(cx, d);
            truncate_to_type(cx, ty, r)
        }
        TernaryOp::Lop3(table) => map_part_triples(cx, a, b, c, |cx, x, y, z| bitwise::emit_lop3(cx, table, x, y, z)),
        TernaryOp::Bfe => bitwise::emit_bfe_constant(cx, ty, immediate_value(ops[1])?, immediate_value(ops[2])?, a),
        TernaryOp::Prmt(mode) => bitwise::emit_prmt_constant(cx, shape, mode, immediate_value(ops[2])?, a, b)?,
        TernaryOp::ShfLClamp | TernaryOp::ShfLWrap | TernaryOp::ShfRClamp | TernaryOp::ShfRWrap => {
            let n = immediate_value(ops[2]);
            shift::lower_funnel_shift(cx, shape, op, n, a, b, c)?
        }
        _ => return None,
    })
}

/// `|a - b|`
fn absolute_difference(cx: &mut OpCtx<'_, '_>, shape: EmitShape, ty: Type, a: &LaneParts, b: &LaneParts) -> LaneParts {
    let high = min_max(cx, shape, true, ty, a, b);
    let low = min_max(cx, shape, false, ty, a, b);
    map_part_pairs(cx, &high, &low, |cx, h, l| cx.b.ins().isub(h, l))
}

/// The extended-precision instructions; `cin` is the carry read. Gives the result and the carry
/// out. As on the hardware a subtraction is an addition of the complement: it sets the carry when
/// it does not borrow, and takes one more away when the carry is clear. Code that mixes `sub.cc`
/// with `addc` (the 128-bit division of CUDA) relies on it.
pub(super) fn lower_carry_op(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: CarryOp,
    ty: Type,
    srcs: &[LaneParts],
    cin: Option<&LaneParts>,
) -> Option<[LaneParts; 2]> {
    let width = RegWidth::from_type(ty);
    let (a, b) = match op {
        CarryOp::Add | CarryOp::Sub => (srcs[0].clone(), srcs[1].clone()),
        CarryOp::MadLo => (mul_lo(cx, ty, &srcs[0], &srcs[1]), srcs[2].clone()),
        CarryOp::MadHi => (mul_hi(cx, shape, ty, &srcs[0], &srcs[1])?, srcs[2].clone()),
    };
    let subtract = op == CarryOp::Sub;
    let cin = cin.map(|p| if subtract { invert_predicate(cx, shape, p) } else { p.clone() });
    let one_or_zero = cin.map(|p| carry_as_int(cx, shape, &p, width));
    let mut sums = LaneParts::new();
    let mut outs = LaneParts::new();
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
    let out = compare::narrow_mask_to_predicate(cx, shape, outs, width);
    let out = if subtract { invert_predicate(cx, shape, &out) } else { out };
    Some([sums, out])
}

fn invert_predicate(cx: &mut OpCtx<'_, '_>, shape: EmitShape, p: &LaneParts) -> LaneParts {
    match shape {
        EmitShape::Scalar => map_parts(cx, p, |cx, p| cx.b.ins().bxor_imm_u(p, 1)),
        EmitShape::Chunk => map_parts(cx, p, |cx, p| cx.b.ins().bnot(p)),
    }
}

/// A predicate as the number 0 or 1 of the width.
fn carry_as_int(cx: &mut OpCtx<'_, '_>, shape: EmitShape, p: &LaneParts, width: RegWidth) -> LaneParts {
    match shape {
        EmitShape::Scalar => {
            let ty = width.part_type(shape);
            map_parts(cx, p, |cx, p| cx.b.ins().uextend(ty, p))
        }
        EmitShape::Chunk => {
            let masks = super::lane_parts::widen_mask(cx, p, width);
            map_parts(cx, &masks, |cx, m| and_const(cx, m, 1))
        }
    }
}
