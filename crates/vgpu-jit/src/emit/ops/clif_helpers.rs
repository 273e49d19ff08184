//! Small words for emitting code that is the same for scalars and vectors.
//!
//! Cranelift's instructions take both; what differs is constants, comparisons (a Boolean or a lane
//! mask) and selection, which these functions hide. A *part* is one `Value` of a [`LaneParts`].

use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Type, Value, ValueDef, types};

use super::lane_parts::{bitcast_to, const_i32x4, const_i64x2, select_int_lanes};
use super::{EmitShape, LaneParts, OpCtx, RegWidth, chunk_from_scalars, extract_lane};
use crate::emit::function::register_values::CHUNK_LANES;
use crate::isa::HAS_UNORDERED_VECTOR_COMPARES;

/// Applies `f` to each part.
pub(super) fn map_parts(
    cx: &mut OpCtx<'_, '_>,
    a: &[Value],
    mut f: impl FnMut(&mut OpCtx<'_, '_>, Value) -> Value,
) -> LaneParts {
    a.iter().map(|&x| f(cx, x)).collect()
}

/// Applies `f` to each pair of parts.
pub(super) fn map_part_pairs(
    cx: &mut OpCtx<'_, '_>,
    a: &[Value],
    b: &[Value],
    mut f: impl FnMut(&mut OpCtx<'_, '_>, Value, Value) -> Value,
) -> LaneParts {
    a.iter().zip(b).map(|(&x, &y)| f(cx, x, y)).collect()
}

/// Applies `f` to each triple of parts.
pub(super) fn map_part_triples(
    cx: &mut OpCtx<'_, '_>,
    a: &[Value],
    b: &[Value],
    c: &[Value],
    mut f: impl FnMut(&mut OpCtx<'_, '_>, Value, Value, Value) -> Value,
) -> LaneParts {
    a.iter().zip(b).zip(c).map(|((&x, &y), &z)| f(cx, x, y, z)).collect()
}

/// The type of a value.
pub(super) fn clif_type_of(cx: &OpCtx<'_, '_>, v: Value) -> Type {
    cx.b.func.dfg.value_type(v)
}

/// A constant of the integer or float type of `like`, given by the bits of a lane.
pub(super) fn const_of_type_like(cx: &mut OpCtx<'_, '_>, like: Value, bits: u64) -> Value {
    let ty = clif_type_of(cx, like);
    const_of_type(cx, ty, bits)
}

/// A constant of type `ty` in every lane.
pub(super) fn const_of_type(cx: &mut OpCtx<'_, '_>, ty: Type, bits: u64) -> Value {
    let v = match (ty.lane_bits(), ty.is_vector()) {
        (32, true) => const_i32x4(cx, [bits as u32; 4]),
        (64, true) => const_i64x2(cx, [bits; 2]),
        (64, false) => cx.b.ins().iconst(types::I64, bits as i64),
        (8, false) => cx.b.ins().iconst(types::I8, (bits & 0xff) as i64),
        _ => cx.b.ins().iconst(types::I32, i64::from(bits as u32)),
    };
    bitcast_to(cx, v, ty)
}

/// Integer bits read as floats of the same size.
pub(super) fn bits_as_float(cx: &mut OpCtx<'_, '_>, v: Value) -> Value {
    let ty = match clif_type_of(cx, v) {
        types::I32 => types::F32,
        types::I64 => types::F64,
        types::I32X4 => types::F32X4,
        types::I64X2 => types::F64X2,
        other => other,
    };
    bitcast_to(cx, v, ty)
}

/// Floats as their bits.
pub(super) fn float_as_bits(cx: &mut OpCtx<'_, '_>, v: Value) -> Value {
    let ty = match clif_type_of(cx, v) {
        types::F32 => types::I32,
        types::F64 => types::I64,
        types::F32X4 => types::I32X4,
        types::F64X2 => types::I64X2,
        other => other,
    };
    bitcast_to(cx, v, ty)
}

/// `cond ? x : y`, where `cond` is what a comparison of the same shape and lane size gave.
pub(super) fn select_lanes(cx: &mut OpCtx<'_, '_>, cond: Value, x: Value, y: Value) -> Value {
    let ty = clif_type_of(cx, x);
    if !ty.is_vector() {
        return cx.b.ins().select(cond, x, y);
    }
    // The mask keeps its integer type, so that the back end recognises the comparison and blends.
    let mask_type = clif_type_of(cx, cond);
    let (x, y) = (bitcast_to(cx, x, mask_type), bitcast_to(cx, y, mask_type));
    let r = select_int_lanes(cx, cond, x, y);
    bitcast_to(cx, r, ty)
}

/// `x < y ? x : y` of floats: `y` when one is NaN or both are zeros. One instruction.
pub(super) fn float_lesser(cx: &mut OpCtx<'_, '_>, x: Value, y: Value) -> Value {
    let less = cx.b.ins().fcmp(FloatCC::LessThan, x, y);
    select_min_max_form(cx, less, x, y)
}

/// `y < x ? x : y` of floats, see [`float_lesser`].
pub(super) fn float_greater(cx: &mut OpCtx<'_, '_>, x: Value, y: Value) -> Value {
    let greater = cx.b.ins().fcmp(FloatCC::LessThan, y, x);
    select_min_max_form(cx, greater, x, y)
}

/// [`select_lanes`] in the form that the back end recognises as a minimum or maximum.
fn select_min_max_form(cx: &mut OpCtx<'_, '_>, cond: Value, x: Value, y: Value) -> Value {
    let ty = clif_type_of(cx, x);
    if !ty.is_vector() {
        return cx.b.ins().select(cond, x, y);
    }
    let cond = bitcast_to(cx, cond, ty);
    cx.b.ins().bitselect(cond, x, y)
}

/// `x` where `cond` holds, else zero.
pub(super) fn select_or_zero(cx: &mut OpCtx<'_, '_>, cond: Value, x: Value) -> Value {
    if clif_type_of(cx, x).is_vector() {
        return cx.b.ins().band(x, cond);
    }
    let zero = const_of_type_like(cx, x, 0);
    cx.b.ins().select(cond, x, zero)
}

/// Compares integers with a constant.
pub(super) fn icmp_const(cx: &mut OpCtx<'_, '_>, cc: IntCC, x: Value, bits: u64) -> Value {
    let k = const_of_type_like(cx, x, bits);
    cx.b.ins().icmp(cc, x, k)
}

/// Compares floats; vectors on processors that only compare ordered numbers by the opposite comparison.
pub(super) fn float_cmp(cx: &mut OpCtx<'_, '_>, cc: FloatCC, x: Value, y: Value) -> Value {
    use FloatCC::{
        UnorderedOrGreaterThan, UnorderedOrGreaterThanOrEqual, UnorderedOrLessThan, UnorderedOrLessThanOrEqual,
    };
    let unordered = matches!(
        cc,
        UnorderedOrGreaterThan | UnorderedOrGreaterThanOrEqual | UnorderedOrLessThan | UnorderedOrLessThanOrEqual
    );
    if unordered && !HAS_UNORDERED_VECTOR_COMPARES && clif_type_of(cx, x).is_vector() {
        let opposite = cx.b.ins().fcmp(cc.complement(), x, y);
        return cx.b.ins().bnot(opposite);
    }
    cx.b.ins().fcmp(cc, x, y)
}

/// Compares floats with a constant given by its bits.
pub(super) fn fcmp_const(cx: &mut OpCtx<'_, '_>, cc: FloatCC, x: Value, bits: u64) -> Value {
    let k = const_of_type_like(cx, x, bits);
    float_cmp(cx, cc, x, k)
}

/// `x & bits`
pub(super) fn and_const(cx: &mut OpCtx<'_, '_>, x: Value, bits: u64) -> Value {
    let k = const_of_type_like(cx, x, bits);
    cx.b.ins().band(x, k)
}

/// `x << n` and friends by a constant below the lane size; by zero it is `x`.
pub(super) fn shl_const(cx: &mut OpCtx<'_, '_>, x: Value, n: u32) -> Value {
    if n == 0 { x } else { cx.b.ins().ishl_imm_u(x, i64::from(n)) }
}

/// Logical shift right, see [`shl_const`].
pub(super) fn ushr_const(cx: &mut OpCtx<'_, '_>, x: Value, n: u32) -> Value {
    if n == 0 { x } else { cx.b.ins().ushr_imm_u(x, i64::from(n)) }
}

/// Arithmetic shift right, see [`shl_const`].
pub(super) fn sshr_const(cx: &mut OpCtx<'_, '_>, x: Value, n: u32) -> Value {
    if n == 0 { x } else { cx.b.ins().sshr_imm_u(x, i64::from(n)) }
}

/// The scalar that `parts` repeats in every lane, if the code that made them says so.
pub(super) fn splatted_scalar(cx: &OpCtx<'_, '_>, parts: &[Value]) -> Option<Value> {
    let first = *parts.first()?;
    if parts.iter().any(|&p| p != first) {
        return None;
    }
    let ValueDef::Result(inst, 0) = cx.b.func.dfg.value_def(first) else { return None };
    match cx.b.func.dfg.insts[inst] {
        InstructionData::Unary { opcode: Opcode::Splat, arg } => Some(arg),
        _ => None,
    }
}

/// Computes lane after lane with scalar instructions (once when the shape is scalar). `f` gets one
/// value per operand and returns one of width `ret`.
pub(super) fn emit_per_lane(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    srcs: &[(&[Value], RegWidth)],
    ret: RegWidth,
    mut f: impl FnMut(&mut OpCtx<'_, '_>, &[Value]) -> Value,
) -> LaneParts {
    if shape == EmitShape::Scalar {
        let args: LaneParts = srcs.iter().map(|(p, _)| p[0]).collect();
        return LaneParts::from_elem(f(cx, &args), 1);
    }
    let lanes: [LaneParts; CHUNK_LANES] = std::array::from_fn(|i| {
        let args: LaneParts = srcs.iter().map(|(p, w)| extract_lane(cx, *w, p, i)[0]).collect();
        LaneParts::from_elem(f(cx, &args), 1)
    });
    chunk_from_scalars(cx, ret, &lanes)
}
