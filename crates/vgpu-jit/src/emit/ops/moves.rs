//! `mov` with packing and unpacking, `selp`, `slct`.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::Type;

use super::clif_helpers::{
    and_const, bits_as_float, fcmp_const, icmp_const, map_part_pairs, map_parts, shl_const, ushr_const,
};
use super::lane_parts::{blend_lanes, extend_to_64_bit, narrow_to_32_bit, shuffle_words};
use super::{EmitShape, LaneParts, OpCtx, RegWidth, float as fp};

/// Joins elements, low part first, into a value of type `ty`.
pub(super) fn pack_elements(cx: &mut OpCtx<'_, '_>, shape: EmitShape, ty: Type, srcs: &[LaneParts]) -> LaneParts {
    let mut bits = ty.bits() / srcs.len() as u32;
    let mut level: Vec<LaneParts> = srcs.to_vec();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| join_halves(cx, shape, bits, &pair[0], &pair[1])).collect();
        bits *= 2;
    }
    level.swap_remove(0)
}

/// A value of `2 * bits` bits from its halves.
fn join_halves(cx: &mut OpCtx<'_, '_>, shape: EmitShape, bits: u32, low: &[Value], high: &[Value]) -> LaneParts {
    match bits {
        8 | 16 => map_part_pairs(cx, low, high, |cx, l, h| {
            let l = and_const(cx, l, (1 << bits) - 1);
            let h = and_const(cx, h, (1 << bits) - 1);
            let h = shl_const(cx, h, bits);
            cx.b.ins().bor(l, h)
        }),
        32 => join_32_bit_halves(cx, shape, low, high),
        _ => low.iter().chain(high).copied().collect(),
    }
}

/// 64-bit values from their 32-bit halves.
pub(super) fn join_32_bit_halves(cx: &mut OpCtx<'_, '_>, shape: EmitShape, low: &[Value], high: &[Value]) -> LaneParts {
    if shape == EmitShape::Scalar {
        let l = extend_to_64_bit(cx, shape, low, false)[0];
        let h = extend_to_64_bit(cx, shape, high, false)[0];
        let h = shl_const(cx, h, 32);
        return LaneParts::from_elem(cx.b.ins().bor(l, h), 1);
    }
    let mut parts = LaneParts::new();
    for (&l, &h) in low.iter().zip(high) {
        for words in [[0, 4, 1, 5], [2, 6, 3, 7]] {
            let v = shuffle_words(cx, l, h, words);
            parts.push(super::lane_parts::bitcast_to(cx, v, cranelift_codegen::ir::types::I64X2));
        }
    }
    parts
}

/// The upper halves of 64-bit values.
pub(super) fn high_words(cx: &mut OpCtx<'_, '_>, shape: EmitShape, parts: &[Value]) -> LaneParts {
    if shape == EmitShape::Scalar {
        let h = map_parts(cx, parts, |cx, p| ushr_const(cx, p, 32));
        return narrow_to_32_bit(cx, shape, &h);
    }
    parts.chunks(2).map(|pair| shuffle_words(cx, pair[0], pair[1], [1, 3, 5, 7])).collect()
}

/// Splits a value of type `ty` into `n` elements, low part first.
pub(super) fn unpack_elements(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    ty: Type,
    n: usize,
    src: &LaneParts,
) -> Vec<LaneParts> {
    let mut bits = ty.bits();
    let mut level = vec![src.clone()];
    while level.len() < n {
        bits /= 2;
        level = level.iter().flat_map(|p| split_halves(cx, shape, bits, p)).collect();
    }
    level
}

/// The halves, of `bits` bits each.
fn split_halves(cx: &mut OpCtx<'_, '_>, shape: EmitShape, bits: u32, value: &LaneParts) -> [LaneParts; 2] {
    match bits {
        8 | 16 => {
            let low = map_parts(cx, value, |cx, v| and_const(cx, v, (1 << bits) - 1));
            [low, map_parts(cx, value, |cx, v| ushr_const(cx, v, bits))]
        }
        32 => [narrow_to_32_bit(cx, shape, value), high_words(cx, shape, value)],
        _ => {
            let (low, high) = value.split_at(value.len() / 2);
            [LaneParts::from_slice(low), LaneParts::from_slice(high)]
        }
    }
}

/// `slct`: `a` where `c` is not below zero, else `b` (also for NaN).
pub(super) fn emit_slct(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    width: RegWidth,
    cty: Type,
    ftz: bool,
    srcs: &[LaneParts],
) -> LaneParts {
    let cond = map_parts(cx, &srcs[2], |cx, c| {
        if cty == Type::F32 {
            let c = if ftz { fp::flush_subnormals(cx, c) } else { c };
            let c = bits_as_float(cx, c);
            fcmp_const(cx, FloatCC::GreaterThanOrEqual, c, 0)
        } else {
            icmp_const(cx, IntCC::SignedGreaterThanOrEqual, c, 0)
        }
    });
    blend_lanes(cx, shape, &cond, &srcs[0], &srcs[1], width)
}
