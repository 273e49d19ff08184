//! Functions of bits: `lop3`, bit fields and byte permutations whose choice is a constant.

use cranelift_codegen::ir::{ConstantData, InstBuilder, Value, types};
use rtcg_ptx::ast::{Operand, PrmtMode, Type};

use super::clif_helpers::{
    and_const, const_of_type_like, map_part_pairs, map_parts, shl_const, sshr_const, ushr_const,
};
use super::int::immediate_value;
use super::lane_parts::bitcast_to;
use super::{EmitShape, LaneParts, OpCtx};
use rtcg_vgpu_softmath::int::{field_amount, prmt_selector};

/// The table split at `c`: each half is a function of `a` and `b`.
pub(super) fn emit_lop3(cx: &mut OpCtx<'_, '_>, table: u8, a: Value, b: Value, c: Value) -> Value {
    let when = |bit: u8| (0..4u8).fold(0, |t, i| t | (table >> (2 * i + bit) & 1) << i);
    let (set, clear) = (when(1), when(0));
    if set == clear {
        return emit_two_input_table(cx, set, a, b);
    }
    if set == 15 - clear {
        let f = emit_two_input_table(cx, clear, a, b);
        return cx.b.ins().bxor(f, c);
    }
    match (set, clear) {
        (_, 0) => {
            let f = emit_two_input_table(cx, set, a, b);
            cx.b.ins().band(f, c)
        }
        (0, _) => {
            let f = emit_two_input_table(cx, clear, a, b);
            cx.b.ins().band_not(f, c)
        }
        (15, _) => {
            let f = emit_two_input_table(cx, clear, a, b);
            cx.b.ins().bor(f, c)
        }
        _ => {
            let (x, y) = (emit_two_input_table(cx, set, a, b), emit_two_input_table(cx, clear, a, b));
            cx.b.ins().bitselect(c, x, y)
        }
    }
}

/// The function of two inputs with the table `t`, whose bit `2a + b` is the result.
fn emit_two_input_table(cx: &mut OpCtx<'_, '_>, t: u8, a: Value, b: Value) -> Value {
    match t {
        0 => const_of_type_like(cx, a, 0),
        0b1000 => cx.b.ins().band(a, b),
        0b0100 => cx.b.ins().band_not(a, b),
        0b0010 => cx.b.ins().band_not(b, a),
        0b1100 => a,
        0b1010 => b,
        0b0110 => cx.b.ins().bxor(a, b),
        0b1110 => cx.b.ins().bor(a, b),
        _ => {
            let inverse = emit_two_input_table(cx, 15 - t, a, b);
            cx.b.ins().bnot(inverse)
        }
    }
}

/// `bfe` with a constant field.
pub(super) fn emit_bfe_constant(cx: &mut OpCtx<'_, '_>, ty: Type, pos: u32, len: u32, a: &LaneParts) -> LaneParts {
    let size = ty.bits();
    let (pos, len) = (field_amount(size, pos), field_amount(size, len));
    map_parts(cx, a, |cx, x| {
        if len == 0 || (pos >= size && !ty.is_signed()) {
            return const_of_type_like(cx, x, 0);
        }
        if !ty.is_signed() {
            let down = ushr_const(cx, x, pos);
            return if len >= size { down } else { and_const(cx, down, (1 << len) - 1) };
        }
        // A field that reaches past the top is filled with the sign, as one that ends there.
        let top = (pos + len).min(size).max(1);
        let start = pos.min(top - 1);
        let up = shl_const(cx, x, size - top);
        sshr_const(cx, up, size - (top - start))
    })
}

/// `bfi` with a constant field; `None` when a helper has to do it.
pub(super) fn emit_bfi_constant(
    cx: &mut OpCtx<'_, '_>,
    ty: Type,
    pos: &Operand,
    len: &Operand,
    a: &LaneParts,
    b: &LaneParts,
) -> Option<LaneParts> {
    let size = ty.bits();
    let (pos, len) = (field_amount(size, immediate_value(pos)?), field_amount(size, immediate_value(len)?));
    if pos >= size || len == 0 {
        return Some(b.clone());
    }
    let ones = if len >= size { u64::MAX } else { (1 << len) - 1 };
    let field = ones << pos;
    Some(map_part_pairs(cx, a, b, |cx, a, b| {
        let a = shl_const(cx, a, pos);
        let inside = and_const(cx, a, field);
        let outside = and_const(cx, b, !field);
        cx.b.ins().bor(inside, outside)
    }))
}

/// `prmt` with a constant choice that replicates no signs.
pub(super) fn emit_prmt_constant(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    mode: PrmtMode,
    c: u32,
    a: &LaneParts,
    b: &LaneParts,
) -> Option<LaneParts> {
    let selector = prmt_selector(mode, c);
    if selector & 0x8888 != 0 {
        return None;
    }
    if shape == EmitShape::Scalar {
        let bytes = (0..4).map(|i| (selector >> (4 * i) & 7, i));
        let mut r = const_of_type_like(cx, a[0], 0);
        for (choice, i) in bytes {
            let word = if choice < 4 { a[0] } else { b[0] };
            let byte = ushr_const(cx, word, 8 * (choice & 3));
            let byte = and_const(cx, byte, 0xff);
            let byte = shl_const(cx, byte, 8 * i);
            r = cx.b.ins().bor(r, byte);
        }
        return Some(LaneParts::from_elem(r, 1));
    }
    let choice = |lane: u32, i: u32| {
        let k = selector >> (4 * i) & 7;
        (if k < 4 { lane * 4 + k } else { 16 + lane * 4 + k - 4 }) as u8
    };
    let mask: Vec<u8> = (0..4).flat_map(|lane| (0..4).map(move |i| choice(lane, i))).collect();
    Some(map_part_pairs(cx, a, b, |cx, x, y| {
        let (x, y) = (bitcast_to(cx, x, types::I8X16), bitcast_to(cx, y, types::I8X16));
        let mask = cx.b.func.dfg.immediates.push(ConstantData::from(&mask[..]));
        let r = cx.b.ins().shuffle(x, y, mask);
        bitcast_to(cx, r, types::I32X4)
    }))
}
