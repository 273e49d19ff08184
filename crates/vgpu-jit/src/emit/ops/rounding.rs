//! Rounding to single precision: from double precision, in the direction that an instruction names,
//! and flushed as `.ftz` wants it.
//!
//! The directions are computed from the error of the result, never by switching the processor's
//! rounding mode.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{FpMods, Rounding};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, fcmp_const, float_as_bits, icmp_const, map_part_pairs,
    map_parts, select_lanes,
};
use super::float::{SIGN_MASK_F32, apply_result_modifiers, operand_as_float};
use super::half::two_sum_error;
use super::lane_parts::{bitcast_to, shuffle_words};
use super::{EmitShape, LaneParts, OpCtx};

/// 2^32, by which a result near the smallest normal number is scaled to see how it rounds there
/// with more range. Operands of such a result are far from overflow.
pub(super) const SUBNORMAL_SCALE: u64 = 0x4f80_0000;

/// Flushes `r` where `scaled`, the same result times 2^32, is below 2^-94: `.ftz` looks at the
/// result rounded with an unlimited range of exponents.
pub(super) fn flush_by_scaled_result(cx: &mut OpCtx<'_, '_>, r: Value, scaled: Value) -> Value {
    let magnitude = cx.b.ins().fabs(scaled);
    let tiny = fcmp_const(cx, FloatCC::LessThan, magnitude, 0x1080_0000);
    let sign = and_const(cx, r, SIGN_MASK_F32);
    select_lanes(cx, tiny, sign, r)
}

/// Single-precision bits as doubles.
pub(super) fn single_bits_to_double(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    mods: &FpMods,
    parts: &[Value],
) -> LaneParts {
    let floats = map_parts(cx, parts, |cx, x| operand_as_float(cx, mods, x));
    promote_to_double(cx, shape, &floats)
}

/// Singles as doubles (twice the parts of a chunk).
pub(super) fn promote_to_double(cx: &mut OpCtx<'_, '_>, shape: EmitShape, floats: &[Value]) -> LaneParts {
    if shape == EmitShape::Scalar {
        return map_parts(cx, floats, |cx, x| cx.b.ins().fpromote(types::F64, x));
    }
    let mut wide = LaneParts::new();
    for &x in floats {
        wide.push(cx.b.ins().fvpromote_low(x));
        let upper = shuffle_words(cx, x, x, [2, 3, 2, 3]);
        let upper = bitcast_to(cx, upper, types::F32X4);
        wide.push(cx.b.ins().fvpromote_low(upper));
    }
    wide
}

/// Doubles rounded to nearest single precision, in lanes as the doubles are: a vector has its two
/// results in its lower half.
pub(super) fn demote_to_single(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    if clif_type_of(cx, x).is_vector() { cx.b.ins().fvdemote(x) } else { cx.b.ins().fdemote(types::F32, x) }
}

/// Doubles rounded to nearest singles, as bits.
pub(super) fn demote_all_to_single(cx: &mut OpCtx<'_, '_>, shape: EmitShape, doubles: &[Value]) -> LaneParts {
    let singles = map_parts(cx, doubles, demote_to_single);
    join_demoted_halves(cx, shape, &singles)
}

/// Puts the lower halves that [`demote_to_single`] makes together, as bits.
pub(super) fn join_demoted_halves(cx: &mut OpCtx<'_, '_>, shape: EmitShape, singles: &[Value]) -> LaneParts {
    match shape {
        EmitShape::Scalar => map_parts(cx, singles, float_as_bits),
        EmitShape::Chunk => singles.chunks(2).map(|p| shuffle_words(cx, p[0], p[1], [0, 1, 4, 5])).collect(),
    }
}

/// `s + error` rounded in direction `rnd` to single precision; lanes as [`demote_to_single`] leaves them.
/// `error` is smaller than half a unit in the last place of the double `s`.
fn round_sum_directed(cx: &mut OpCtx<'_, '_>, rnd: Rounding, s: Value, error: Option<Value>) -> Value {
    let near = demote_to_single(cx, s);
    let back = repromote_to_double(cx, near);
    let zero = const_of_type_like(cx, s, 0);
    let mut over = |cc: FloatCC, error_cc: FloatCC| {
        let far = cx.b.ins().fcmp(cc, back, s);
        let Some(error) = error else { return far };
        let exact = cx.b.ins().fcmp(FloatCC::Equal, back, s);
        let lost = cx.b.ins().fcmp(error_cc, error, zero);
        let both = cx.b.ins().band(exact, lost);
        cx.b.ins().bor(far, both)
    };
    // Too high, or too low: the adjacent number on the other side is wanted.
    let high = || (FloatCC::GreaterThan, FloatCC::LessThan);
    let low = || (FloatCC::LessThan, FloatCC::GreaterThan);
    let (down, up) = match rnd {
        Rounding::Rm => (Some(over(high().0, high().1)), None),
        Rounding::Rp => (None, Some(over(low().0, low().1))),
        _ => {
            let (d, u) = (over(high().0, high().1), over(low().0, low().1));
            (Some(d), Some(u))
        }
    };
    step_to_neighbor(cx, rnd, s, near, down, up)
}

/// Steps `near` down or up by one where the masks (of the doubles' lanes) say so; `.rz` steps down
/// only positive numbers and up only negative ones.
fn step_to_neighbor(
    cx: &mut OpCtx<'_, '_>,
    rnd: Rounding,
    s: Value,
    near: Value,
    down: Option<Value>,
    up: Option<Value>,
) -> Value {
    let n = float_as_bits(cx, near);
    let negative = {
        let sign = float_as_bits(cx, s);
        icmp_const(cx, IntCC::SignedLessThan, sign, 0)
    };
    let one = const_of_type_like(cx, n, 1);
    let (more, less) = (cx.b.ins().iadd(n, one), cx.b.ins().isub(n, one));
    let negative_lane = narrow_mask_to_singles(cx, negative);
    // The next number down is nearer to zero when positive, farther when negative (and -0 for a
    // positive number that was rounded up from zero cannot be: the sign is that of `s`).
    let wanted = match (down, up) {
        (Some(d), None) => {
            let d = narrow_mask_to_singles(cx, d);
            let neighbour = select_lanes(cx, negative_lane, more, less);
            select_lanes(cx, d, neighbour, n)
        }
        (None, Some(u)) => {
            let u = narrow_mask_to_singles(cx, u);
            let neighbour = select_lanes(cx, negative_lane, less, more);
            select_lanes(cx, u, neighbour, n)
        }
        (Some(d), Some(u)) => {
            let (d, u) = (narrow_mask_to_singles(cx, d), narrow_mask_to_singles(cx, u));
            let away = select_lanes(cx, negative_lane, u, d);
            select_lanes(cx, away, less, n)
        }
        (None, None) => n,
    };
    let _ = rnd;
    bits_as_float(cx, wanted)
}

/// A comparison of doubles as one of the singles that [`demote_to_single`] makes of them.
fn narrow_mask_to_singles(cx: &mut OpCtx<'_, '_>, mask: Value) -> Value {
    if !clif_type_of(cx, mask).is_vector() {
        return mask;
    }
    shuffle_words(cx, mask, mask, [0, 2, 0, 2])
}

pub(super) fn repromote_to_double(cx: &mut OpCtx<'_, '_>, near: Value) -> Value {
    if clif_type_of(cx, near).is_vector() {
        cx.b.ins().fvpromote_low(near)
    } else {
        cx.b.ins().fpromote(types::F64, near)
    }
}

/// `x + y`, both exact doubles of single-precision range, rounded in direction `rnd`.
pub(super) fn emit_directed_sum(cx: &mut OpCtx<'_, '_>, mods: &FpMods, x: Value, y: Value) -> Value {
    let s = cx.b.ins().fadd(x, y);
    let error = two_sum_error(cx, x, y, s);
    let s = if mods.rnd == Rounding::Rm { fix_negative_zero(cx, x, y, s) } else { s };
    round_directed_and_flush(cx, mods, s, Some(error))
}

/// [`round_sum_directed`], flushed as `.ftz` wants it: by what the result is with more range below.
pub(super) fn round_directed_and_flush(cx: &mut OpCtx<'_, '_>, mods: &FpMods, s: Value, error: Option<Value>) -> Value {
    let r = round_sum_directed(cx, mods.rnd, s, error);
    if !mods.ftz {
        return r;
    }
    let scale = const_of_type_like(cx, s, f64::from(f32::from_bits(SUBNORMAL_SCALE as u32)).to_bits());
    let s = cx.b.ins().fmul(s, scale);
    let error = error.map(|e| cx.b.ins().fmul(e, scale));
    let scaled = round_sum_directed(cx, mods.rnd, s, error);
    let r = float_as_bits(cx, r);
    let r = flush_by_scaled_result(cx, r, scaled);
    bits_as_float(cx, r)
}

/// Rounding down, a sum that is exactly zero is -0 unless both are +0.
fn fix_negative_zero(cx: &mut OpCtx<'_, '_>, x: Value, y: Value, s: Value) -> Value {
    let is_zero = fcmp_const(cx, FloatCC::Equal, s, 0);
    let (xb, yb, sb) = (float_as_bits(cx, x), float_as_bits(cx, y), float_as_bits(cx, s));
    let signs = cx.b.ins().bor(xb, yb);
    let signs = and_const(cx, signs, 1 << 63);
    let r = select_lanes(cx, is_zero, signs, sb);
    bits_as_float(cx, r)
}

pub(super) fn double_to_single_rounded(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    mods: &FpMods,
    rounded: &[Value],
) -> LaneParts {
    let joined = join_demoted_halves(cx, shape, rounded);
    map_parts(cx, &joined, |cx, x| apply_result_modifiers(cx, mods, x))
}

/// Doubles (exact in value) rounded to single-precision bits in the direction written, which is not
/// to nearest; flushed where that is written.
pub(super) fn round_directed(cx: &mut OpCtx<'_, '_>, shape: EmitShape, mods: &FpMods, doubles: &[Value]) -> LaneParts {
    let rounded = map_parts(cx, doubles, |cx, x| {
        let x = bits_as_float(cx, x);
        round_directed_and_flush(cx, mods, x, None)
    });
    join_demoted_halves(cx, shape, &rounded)
}

/// Doubles rounded to nearest single-precision bits, flushed where that is written.
pub(super) fn round_nearest(cx: &mut OpCtx<'_, '_>, shape: EmitShape, mods: &FpMods, doubles: &[Value]) -> LaneParts {
    let doubles = map_parts(cx, doubles, bits_as_float);
    let singles = demote_all_to_single(cx, shape, &doubles);
    if !mods.ftz {
        return singles;
    }
    let scaled = map_parts(cx, &doubles, |cx, x| {
        let scale = const_of_type_like(cx, x, f64::from(f32::from_bits(SUBNORMAL_SCALE as u32)).to_bits());
        cx.b.ins().fmul(x, scale)
    });
    let scaled = demote_all_to_single(cx, shape, &scaled);
    map_part_pairs(cx, &singles, &scaled, |cx, r, scaled| {
        let scaled = bits_as_float(cx, scaled);
        flush_by_scaled_result(cx, r, scaled)
    })
}
