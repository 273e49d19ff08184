//! Shifts and funnel shifts of integers, by a constant, by one amount for all lanes, or by an amount
//! for each lane, which CLIF has no instruction for.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{Operand, TernaryOp, Type};

use super::clif_helpers::{
    bits_as_float, clif_type_of, const_of_type_like, emit_per_lane, icmp_const, map_part_pairs, map_part_triples,
    map_parts, select_lanes, select_or_zero, shl_const, splatted_scalar, sshr_const, ushr_const,
};
use super::int::{immediate_value, truncate_to_type, widen_operand};
use super::lane_parts::shuffle_words;
use super::{EmitShape, LaneParts, OpCtx, RegWidth, moves};

/// `shl` and `shr`: amounts above the width act as the width.
pub(super) fn lower_shift(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    left: bool,
    ty: Type,
    amount: &Operand,
    a: &LaneParts,
    n: &LaneParts,
) -> LaneParts {
    let a = if left { a.clone() } else { widen_operand(cx, shape, ty, a) };
    let arithmetic = !left && ty.is_signed();
    let r = if let Some(n) = immediate_value(amount) {
        shift_by_constant(cx, left, arithmetic, ty, &a, n)
    } else if let Some(n) = splatted_scalar(cx, n) {
        map_parts(cx, &a, |cx, x| shift_by_scalar(cx, left, arithmetic, ty, x, n))
    } else if shape == EmitShape::Scalar {
        map_parts(cx, &a, |cx, x| shift_by_scalar(cx, left, arithmetic, ty, x, n[0]))
    } else if ty.bits() <= 32 {
        map_part_pairs(cx, &a, n, |cx, x, n| shift_by_lane_amounts(cx, left, arithmetic, ty, x, n))
    } else {
        emit_per_lane(cx, shape, &[(&a, RegWidth::W64), (n, RegWidth::W32)], RegWidth::W64, |cx, v| {
            shift_by_scalar(cx, left, arithmetic, ty, v[0], v[1])
        })
    };
    truncate_to_type(cx, ty, r)
}

fn shift_by_constant(
    cx: &mut OpCtx<'_, '_>,
    left: bool,
    arithmetic: bool,
    ty: Type,
    a: &LaneParts,
    n: u32,
) -> LaneParts {
    let n = if arithmetic { n.min(ty.bits() - 1) } else { n };
    map_parts(cx, a, |cx, x| match (left, arithmetic) {
        _ if n >= ty.bits() => const_of_type_like(cx, x, 0),
        (true, _) => shl_const(cx, x, n),
        (_, true) => sshr_const(cx, x, n),
        _ => ushr_const(cx, x, n),
    })
}

/// All lanes of `x` shifted by the scalar `n`.
fn shift_by_scalar(cx: &mut OpCtx<'_, '_>, left: bool, arithmetic: bool, ty: Type, x: Value, n: Value) -> Value {
    let limit = if ty.bits() == 64 { 64 } else { 32 };
    if arithmetic {
        let most = const_of_type_like(cx, n, limit - 1);
        let n = cx.b.ins().umin(n, most);
        return cx.b.ins().sshr(x, n);
    }
    let r = if left { cx.b.ins().ishl(x, n) } else { cx.b.ins().ushr(x, n) };
    let inside = icmp_const(cx, IntCC::UnsignedLessThan, n, limit);
    if !clif_type_of(cx, x).is_vector() {
        return select_or_zero(cx, inside, r);
    }
    let mask = cx.b.ins().uextend(types::I32, inside);
    let mask = cx.b.ins().ineg(mask);
    let mask = if clif_type_of(cx, x) == types::I64X2 { cx.b.ins().sextend(types::I64, mask) } else { mask };
    let ty = clif_type_of(cx, x);
    let mask = cx.b.ins().splat(ty, mask);
    cx.b.ins().band(r, mask)
}

/// Four 32-bit lanes shifted by an amount each, through multiplication: there is no such CLIF
/// instruction.
fn shift_by_lane_amounts(cx: &mut OpCtx<'_, '_>, left: bool, arithmetic: bool, ty: Type, x: Value, n: Value) -> Value {
    if left {
        let power = power_of_two(cx, n);
        let r = cx.b.ins().imul(x, power);
        let inside = icmp_const(cx, IntCC::UnsignedLessThan, n, 32);
        return select_or_zero(cx, inside, r);
    }
    if arithmetic {
        // Without its sign bits, which the complement turns to zeros, the number shifts logically.
        let most = const_of_type_like(cx, n, u64::from(ty.bits().max(32) - 1));
        let n = cx.b.ins().umin(n, most);
        let sign = sshr_const(cx, x, 31);
        let y = cx.b.ins().bxor(x, sign);
        let y = shift_right_by_lane_amounts(cx, y, n);
        return cx.b.ins().bxor(y, sign);
    }
    let r = shift_right_by_lane_amounts(cx, x, n);
    let inside = icmp_const(cx, IntCC::UnsignedLessThan, n, 32);
    select_or_zero(cx, inside, r)
}

/// `2^n` for n below 32, by the exponent of a float.
fn power_of_two(cx: &mut OpCtx<'_, '_>, n: Value) -> Value {
    let exponent = shl_const(cx, n, 23);
    let one = const_of_type_like(cx, n, 0x3f80_0000);
    let power = cx.b.ins().iadd(exponent, one);
    let power = bits_as_float(cx, power);
    crate::isa::float_power_of_two_to_u32(cx.b, power)
}

/// `x >> n` for n below 32: the upper word of `x * 2^(32 - n)`, or `x` itself for 0.
fn shift_right_by_lane_amounts(cx: &mut OpCtx<'_, '_>, x: Value, n: Value) -> Value {
    let size = const_of_type_like(cx, n, 32);
    let up = cx.b.ins().isub(size, n);
    let power = power_of_two(cx, up);
    let halves = [false, true].map(|high| {
        let (x, p) = if high {
            (cx.b.ins().uwiden_high(x), cx.b.ins().uwiden_high(power))
        } else {
            (cx.b.ins().uwiden_low(x), cx.b.ins().uwiden_low(power))
        };
        cx.b.ins().imul(x, p)
    });
    let r = shuffle_words(cx, halves[0], halves[1], [1, 3, 5, 7]);
    let none = icmp_const(cx, IntCC::Equal, n, 0);
    select_lanes(cx, none, x, r)
}

/// `shf`: by a constant everywhere, by anything when scalar.
pub(super) fn lower_funnel_shift(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: TernaryOp,
    n: Option<u32>,
    lo: &LaneParts,
    hi: &LaneParts,
    by: &LaneParts,
) -> Option<LaneParts> {
    let left = matches!(op, TernaryOp::ShfLClamp | TernaryOp::ShfLWrap);
    let wrap = matches!(op, TernaryOp::ShfLWrap | TernaryOp::ShfRWrap);
    if let Some(n) = n {
        let n = if wrap { n & 31 } else { n.min(32) };
        let up = if left { n } else { 32 - n };
        return Some(map_part_pairs(cx, lo, hi, |cx, l, h| match up {
            0 => h,
            32 => l,
            _ => {
                let (h, l) = (shl_const(cx, h, up), ushr_const(cx, l, 32 - up));
                cx.b.ins().bor(h, l)
            }
        }));
    }
    if shape == EmitShape::Chunk {
        return Some(map_part_triples(cx, lo, hi, by, |cx, l, h, n| {
            funnel_shift_by_lane_amounts(cx, left, wrap, l, h, n)
        }));
    }
    let both = moves::join_32_bit_halves(cx, shape, lo, hi)[0];
    let limit = const_of_type_like(cx, by[0], if wrap { 31 } else { 32 });
    let n = if wrap { cx.b.ins().band(by[0], limit) } else { cx.b.ins().umin(by[0], limit) };
    let r = if left { cx.b.ins().ishl(both, n) } else { cx.b.ins().ushr(both, n) };
    let r = if left { ushr_const(cx, r, 32) } else { r };
    Some(LaneParts::from_elem(cx.b.ins().ireduce(types::I32, r), 1))
}

/// `shf` of four lanes by an amount each.
fn funnel_shift_by_lane_amounts(
    cx: &mut OpCtx<'_, '_>,
    left: bool,
    wrap: bool,
    lo: Value,
    hi: Value,
    n: Value,
) -> Value {
    let limit = const_of_type_like(cx, n, if wrap { 31 } else { 32 });
    let n = if wrap { cx.b.ins().band(n, limit) } else { cx.b.ins().umin(n, limit) };
    let size = const_of_type_like(cx, n, 32);
    let rest = cx.b.ins().isub(size, n);
    let (up, down) = if left { (n, rest) } else { (rest, n) };
    // Shifts by the whole width give zero.
    let high = shift_by_lane_amounts(cx, true, false, Type::B32, hi, up);
    let low = shift_by_lane_amounts(cx, false, false, Type::B32, lo, down);
    cx.b.ins().bor(high, low)
}
