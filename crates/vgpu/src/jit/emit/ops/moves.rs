//! `mov` with packing and unpacking, `selp`, `slct`.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::Type;

use super::emit::{and_const, fcmp_const, float, icmp_const, map1, map2, shl, shr};
use super::parts::{blend, extend64, narrow64, shuffle_words};
use super::{OpCtx, Parts, Shape, Width, float as fp};

/// Joins elements, low part first, into a value of type `ty`.
pub(super) fn pack(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, srcs: &[Parts]) -> Parts {
    let mut bits = ty.bits() / srcs.len() as u32;
    let mut level: Vec<Parts> = srcs.to_vec();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| join(cx, shape, bits, &pair[0], &pair[1])).collect();
        bits *= 2;
    }
    level.swap_remove(0)
}

/// A value of `2 * bits` bits from its halves.
fn join(cx: &mut OpCtx<'_, '_>, shape: Shape, bits: u32, low: &[Value], high: &[Value]) -> Parts {
    match bits {
        8 | 16 => map2(cx, low, high, |cx, l, h| {
            let l = and_const(cx, l, (1 << bits) - 1);
            let h = and_const(cx, h, (1 << bits) - 1);
            let h = shl(cx, h, bits);
            cx.b.ins().bor(l, h)
        }),
        32 => join32(cx, shape, low, high),
        _ => low.iter().chain(high).copied().collect(),
    }
}

/// 64-bit values from their 32-bit halves.
pub(super) fn join32(cx: &mut OpCtx<'_, '_>, shape: Shape, low: &[Value], high: &[Value]) -> Parts {
    if shape == Shape::Scalar {
        let l = extend64(cx, shape, low, false)[0];
        let h = extend64(cx, shape, high, false)[0];
        let h = shl(cx, h, 32);
        return Parts::from_elem(cx.b.ins().bor(l, h), 1);
    }
    let mut parts = Parts::new();
    for (&l, &h) in low.iter().zip(high) {
        for words in [[0, 4, 1, 5], [2, 6, 3, 7]] {
            let v = shuffle_words(cx, l, h, words);
            parts.push(super::parts::as_type(cx, v, cranelift_codegen::ir::types::I64X2));
        }
    }
    parts
}

/// The upper halves of 64-bit values.
pub(super) fn high32(cx: &mut OpCtx<'_, '_>, shape: Shape, parts: &[Value]) -> Parts {
    if shape == Shape::Scalar {
        let h = map1(cx, parts, |cx, p| shr(cx, p, 32));
        return narrow64(cx, shape, &h);
    }
    parts.chunks(2).map(|pair| shuffle_words(cx, pair[0], pair[1], [1, 3, 5, 7])).collect()
}

/// Splits a value of type `ty` into `n` elements, low part first.
pub(super) fn unpack(cx: &mut OpCtx<'_, '_>, shape: Shape, ty: Type, n: usize, src: &Parts) -> Vec<Parts> {
    let mut bits = ty.bits();
    let mut level = vec![src.clone()];
    while level.len() < n {
        bits /= 2;
        level = level.iter().flat_map(|p| split(cx, shape, bits, p)).collect();
    }
    level
}

/// The halves, of `bits` bits each.
fn split(cx: &mut OpCtx<'_, '_>, shape: Shape, bits: u32, value: &Parts) -> [Parts; 2] {
    match bits {
        8 | 16 => {
            let low = map1(cx, value, |cx, v| and_const(cx, v, (1 << bits) - 1));
            [low, map1(cx, value, |cx, v| shr(cx, v, bits))]
        }
        32 => [narrow64(cx, shape, value), high32(cx, shape, value)],
        _ => {
            let (low, high) = value.split_at(value.len() / 2);
            [Parts::from_slice(low), Parts::from_slice(high)]
        }
    }
}

/// `slct`: `a` where `c` is not below zero, else `b` (also for NaN).
pub(super) fn slct(cx: &mut OpCtx<'_, '_>, shape: Shape, width: Width, cty: Type, ftz: bool, srcs: &[Parts]) -> Parts {
    let cond = map1(cx, &srcs[2], |cx, c| {
        if cty == Type::F32 {
            let c = if ftz { fp::flush(cx, c) } else { c };
            let c = float(cx, c);
            fcmp_const(cx, FloatCC::GreaterThanOrEqual, c, 0)
        } else {
            icmp_const(cx, IntCC::SignedGreaterThanOrEqual, c, 0)
        }
    });
    blend(cx, shape, &cond, &srcs[0], &srcs[1], width)
}
