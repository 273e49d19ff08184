//! Half precision and bfloat16 by way of single precision.
//!
//! A sum, difference, product, quotient or root of such numbers, rounded to single precision and
//! then to 16 bits, is the correctly rounded one: 24 bits are enough for that. A fused
//! multiply-add is not, so its sum is first rounded to odd.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::Type;

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, float_as_bits, icmp_const, map_parts, select_lanes,
    select_or_zero, shl_const, ushr_const,
};
use super::{LaneParts, OpCtx};

/// 16-bit floats as single precision (exact; a NaN keeps its payload).
pub(super) fn widen_halves(cx: &mut OpCtx<'_, '_>, ty: Type, parts: &[Value]) -> LaneParts {
    map_parts(cx, parts, |cx, h| if ty == Type::BF16 { shl_const(cx, h, 16) } else { widen_f16(cx, h) })
}

fn widen_f16(cx: &mut OpCtx<'_, '_>, h: Value) -> Value {
    let magnitude = and_const(cx, h, 0x7fff);
    let shifted = shl_const(cx, magnitude, 13);
    // The exponent field is now 112 too small, also for subnormals.
    let scale = const_of_type_like(cx, h, 0x7780_0000);
    let (x, k) = (bits_as_float(cx, shifted), bits_as_float(cx, scale));
    let scaled = cx.b.ins().fmul(x, k);
    let scaled = float_as_bits(cx, scaled);
    let special = icmp_const(cx, IntCC::SignedGreaterThan, magnitude, 0x7bff);
    let infinity = const_of_type_like(cx, h, 0x7f80_0000);
    let infinite = cx.b.ins().bor(scaled, infinity);
    let r = select_lanes(cx, special, infinite, scaled);
    let sign = and_const(cx, h, 0x8000);
    let sign = shl_const(cx, sign, 16);
    cx.b.ins().bor(r, sign)
}

/// Single precision rounded to nearest even in 16 bits; NaN becomes the canonical one.
pub(super) fn narrow_to_half(cx: &mut OpCtx<'_, '_>, ty: Type, parts: &[Value]) -> LaneParts {
    map_parts(cx, parts, |cx, x| if ty == Type::BF16 { narrow_bf16(cx, x) } else { narrow_f16(cx, x) })
}

fn narrow_bf16(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let upper = ushr_const(cx, x, 16);
    let odd = and_const(cx, upper, 1);
    let bias = const_of_type_like(cx, x, 0x7fff);
    let bias = cx.b.ins().iadd(odd, bias);
    let rounded = cx.b.ins().iadd(x, bias);
    let rounded = ushr_const(cx, rounded, 16);
    let f = bits_as_float(cx, x);
    let nan = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
    let canonical = const_of_type_like(cx, x, 0x7fff);
    select_lanes(cx, nan, canonical, rounded)
}

fn narrow_f16(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let magnitude = and_const(cx, x, 0x7fff_ffff);
    let sign = and_const(cx, x, 0x8000_0000);
    let sign = ushr_const(cx, sign, 16);
    let normal = {
        let odd = ushr_const(cx, magnitude, 13);
        let odd = and_const(cx, odd, 1);
        let rebias = const_of_type_like(cx, x, u64::from((0u32.wrapping_sub(112 << 23)).wrapping_add(0xfff)));
        let y = cx.b.ins().iadd(magnitude, rebias);
        let y = cx.b.ins().iadd(y, odd);
        ushr_const(cx, y, 13)
    };
    // Adding one half leaves a subnormal's bits, rounded, at the end of the significand.
    let half_bits = const_of_type_like(cx, x, 0x3f00_0000);
    let half = bits_as_float(cx, half_bits);
    let f = bits_as_float(cx, magnitude);
    let aligned = cx.b.ins().fadd(f, half);
    let aligned = float_as_bits(cx, aligned);
    let subnormal = cx.b.ins().isub(aligned, half_bits);
    let small = icmp_const(cx, IntCC::SignedLessThan, magnitude, 0x3880_0000);
    let finite = select_lanes(cx, small, subnormal, normal);
    let infinity = const_of_type_like(cx, x, 0x7c00);
    let large = icmp_const(cx, IntCC::SignedGreaterThan, magnitude, 0x477f_ffff);
    let r = select_lanes(cx, large, infinity, finite);
    let r = cx.b.ins().bor(r, sign);
    let canonical = const_of_type_like(cx, x, 0x7fff);
    let nan = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
    select_lanes(cx, nan, canonical, r)
}

/// Single precision truncated to 16 bits; above the format infinity, NaN the canonical one.
pub(super) fn truncate_to_half(cx: &mut OpCtx<'_, '_>, ty: Type, parts: &[Value]) -> LaneParts {
    map_parts(cx, parts, |cx, x| if ty == Type::BF16 { ushr_const(cx, x, 16) } else { truncate_to_f16(cx, x) })
}

fn truncate_to_f16(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let magnitude = and_const(cx, x, 0x7fff_ffff);
    let sign = and_const(cx, x, 0x8000_0000);
    let sign = ushr_const(cx, sign, 16);
    let rebias = const_of_type_like(cx, x, 112 << 23);
    let normal = cx.b.ins().isub(magnitude, rebias);
    let normal = ushr_const(cx, normal, 13);
    // Of subnormal numbers the bits are the multiple of 2^-24.
    let small = icmp_const(cx, IntCC::SignedLessThan, magnitude, 0x3880_0000);
    let number = select_or_zero(cx, small, magnitude);
    let number = bits_as_float(cx, number);
    let scale = const_of_type_like(cx, number, 0x4b80_0000);
    let units = cx.b.ins().fmul(number, scale);
    let ty = clif_type_of(cx, x);
    let units = cx.b.ins().fcvt_to_sint_sat(ty, units);
    let finite = select_lanes(cx, small, units, normal);
    let infinity = const_of_type_like(cx, x, 0x7c00);
    let large = icmp_const(cx, IntCC::SignedGreaterThan, magnitude, 0x477f_ffff);
    let r = select_lanes(cx, large, infinity, finite);
    let r = cx.b.ins().bor(r, sign);
    let canonical = const_of_type_like(cx, x, 0x7fff);
    let nan = icmp_const(cx, IntCC::SignedGreaterThan, magnitude, 0x7f80_0000);
    select_lanes(cx, nan, canonical, r)
}

/// `a * b + c` of numbers whose product is exact in the precision they are held in, rounded to odd so
/// that rounding it once more to at most half as many bits is right.
pub(super) fn fma_round_to_odd(cx: &mut OpCtx<'_, '_>, a: Value, b: Value, c: Value) -> Value {
    let p = cx.b.ins().fmul(a, b);
    let s = cx.b.ins().fadd(p, c);
    let error = two_sum_error(cx, p, c, s);
    round_to_odd(cx, s, error)
}

/// What rounding took from `a + b = s`, exactly.
pub(super) fn two_sum_error(cx: &mut OpCtx<'_, '_>, a: Value, b: Value, s: Value) -> Value {
    let b_seen = cx.b.ins().fsub(s, a);
    let a_seen = cx.b.ins().fsub(s, b_seen);
    let b_lost = cx.b.ins().fsub(b, b_seen);
    let a_lost = cx.b.ins().fsub(a, a_seen);
    cx.b.ins().fadd(a_lost, b_lost)
}

/// The number adjacent to `s` with an odd significand on the side of `error`, unless `error` is zero
/// (or NaN, when `s` is infinite) or `s` is odd already.
pub(super) fn round_to_odd(cx: &mut OpCtx<'_, '_>, s: Value, error: Value) -> Value {
    let zero = const_of_type_like(cx, s, 0);
    let below = cx.b.ins().fcmp(FloatCC::LessThan, error, zero);
    let above = cx.b.ins().fcmp(FloatCC::GreaterThan, error, zero);
    let inexact = cx.b.ins().bor(below, above);
    let s_bits = float_as_bits(cx, s);
    let e_bits = float_as_bits(cx, error);
    // Rounding to nearest even gave an odd significand only when that is the nearer of the two adjacent numbers,
    // which is also the one wanted. One step toward the error: up in magnitude if the signs agree.
    let differ = cx.b.ins().bxor(s_bits, e_bits);
    let lane = if super::clif_helpers::clif_type_of(cx, s_bits).lane_bits() == 64 { 63 } else { 31 };
    let step = super::clif_helpers::sshr_const(cx, differ, lane);
    let one = const_of_type_like(cx, s_bits, 1);
    let step = cx.b.ins().bor(step, one);
    let moved = cx.b.ins().iadd(s_bits, step);
    let odd_bit = cx.b.ins().band(s_bits, one);
    let even = icmp_const(cx, IntCC::Equal, odd_bit, 0);
    let wanted = cx.b.ins().band(inexact, even);
    let r = select_lanes(cx, wanted, moved, s_bits);
    bits_as_float(cx, r)
}
