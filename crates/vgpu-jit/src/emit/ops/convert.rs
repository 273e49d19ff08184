//! `cvt`.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{FpMods, Rounding, Type};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, emit_per_lane, float_as_bits, map_part_pairs,
    map_parts, select_lanes, shl_const,
};
use super::lane_parts::{extend_to_64_bit, narrow_to_32_bit, sign_extend};
use super::{EmitShape, LaneParts, OpCtx, RegWidth, float as fp, half, rounding};

/// Emits a conversion; `None` when a helper has to do it.
pub(super) fn emit_conversion(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    sty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    match (dty.is_float(), sty.is_float()) {
        (false, false) => int_to_int(cx, shape, dty, sty, mods, a),
        (true, false) => int_to_float(cx, shape, dty, sty, mods, a),
        (false, true) => float_to_int(cx, shape, dty, sty, mods, a),
        (true, true) => float_to_float(cx, shape, dty, sty, mods, a),
    }
}

fn int_to_int(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    sty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    if mods.sat {
        return None;
    }
    let (to, from) = (dty.bits(), sty.bits());
    // The source at 32 or 64 bits, extended by its own sign.
    let a = match from {
        8 | 16 if sty.is_signed() => sign_extend(cx, shape, a, from.into()),
        8 => map_parts(cx, a, |cx, x| and_const(cx, x, 0xff)),
        _ => a.clone(),
    };
    let word = if from == 64 && to < 64 { narrow_to_32_bit(cx, shape, &a) } else { a };
    Some(match to {
        64 if from < 64 => extend_to_64_bit(cx, shape, &word, sty.is_signed()),
        8 if dty.is_signed() => {
            let r = sign_extend(cx, shape, &word, 8);
            map_parts(cx, &r, |cx, x| and_const(cx, x, 0xffff))
        }
        8 => map_parts(cx, &word, |cx, x| and_const(cx, x, 0xff)),
        16 => map_parts(cx, &word, |cx, x| and_const(cx, x, 0xffff)),
        _ => word,
    })
}

fn rounds_to_nearest(mods: &FpMods) -> bool {
    matches!(mods.rnd, Rounding::Default | Rounding::Rn)
}

fn int_to_float(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    sty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    let (signed, small) = (sty.is_signed(), sty.bits() < 32);
    // A double holds any 32-bit integer, single precision any 16-bit one: no rounding then.
    let exact = dty == Type::F64 && sty.bits() <= 32 || dty == Type::F32 && small;
    let directed = dty == Type::F32 && sty.bits() == 32 && !rounds_to_nearest(mods);
    if mods.sat || !(rounds_to_nearest(mods) || exact || directed) {
        return None;
    }
    if directed {
        let wide = int_to_double_bits(cx, shape, signed, a);
        return Some(rounding::round_directed(cx, shape, mods, &wide));
    }
    let a = match sty.bits() {
        n @ (8 | 16) if signed => sign_extend(cx, shape, a, n.into()),
        8 => map_parts(cx, a, |cx, x| and_const(cx, x, 0xff)),
        _ => a.clone(),
    };
    match (dty, sty.bits()) {
        (Type::F32, 64) => Some(emit_per_lane(cx, shape, &[(&a, RegWidth::W64)], RegWidth::W32, |cx, v| {
            let r = if signed {
                cx.b.ins().fcvt_from_sint(types::F32, v[0])
            } else {
                cx.b.ins().fcvt_from_uint(types::F32, v[0])
            };
            float_as_bits(cx, r)
        })),
        (Type::F32, _) => {
            // Small unsigned numbers are positive 32-bit ones, which convert faster.
            let signed = signed || small;
            Some(map_parts(cx, &a, |cx, x| int_to_same_size_float(cx, signed, x)))
        }
        (Type::F64, 64) => Some(map_parts(cx, &a, |cx, x| int_to_same_size_float(cx, signed, x))),
        (Type::F64, _) => Some(int_to_double_bits(cx, shape, signed || small, &a)),
        _ => None,
    }
}

/// 32-bit integers as the bits of doubles.
pub(super) fn int_to_double_bits(cx: &mut OpCtx<'_, '_>, shape: EmitShape, signed: bool, a: &LaneParts) -> LaneParts {
    if shape == EmitShape::Scalar {
        return map_parts(cx, a, |cx, x| {
            let r = if signed {
                cx.b.ins().fcvt_from_sint(types::F64, x)
            } else {
                cx.b.ins().fcvt_from_uint(types::F64, x)
            };
            float_as_bits(cx, r)
        });
    }
    // The back end converts the widened lower half of a vector with one instruction.
    widen_words_to_64_bit(cx, a)
        .into_iter()
        .map(|x| {
            let wide = if signed { cx.b.ins().swiden_low(x) } else { cx.b.ins().uwiden_low(x) };
            int_to_same_size_float(cx, signed, wide)
        })
        .collect()
}

/// Each vector of four words as two whose lower halves hold them in order.
fn widen_words_to_64_bit(cx: &mut OpCtx<'_, '_>, a: &LaneParts) -> LaneParts {
    a.iter().flat_map(|&x| [x, super::lane_parts::shuffle_words(cx, x, x, [2, 3, 2, 3])]).collect()
}

/// Integer to the float of the same size, as bits.
fn int_to_same_size_float(cx: &mut OpCtx<'_, '_>, signed: bool, x: Value) -> Value {
    let ty = match clif_type_of(cx, x) {
        types::I32 => types::F32,
        types::I64 => types::F64,
        types::I32X4 => types::F32X4,
        _ => types::F64X2,
    };
    let r = if signed { cx.b.ins().fcvt_from_sint(ty, x) } else { cx.b.ins().fcvt_from_uint(ty, x) };
    float_as_bits(cx, r)
}

/// Rounds to an integral float in the direction written.
fn round_to_integral(cx: &mut OpCtx<'_, '_>, rnd: Rounding, x: Value) -> Value {
    match rnd {
        Rounding::Rni | Rounding::Rn => cx.b.ins().nearest(x),
        Rounding::Rmi | Rounding::Rm => cx.b.ins().floor(x),
        Rounding::Rpi | Rounding::Rp => cx.b.ins().ceil(x),
        _ => cx.b.ins().trunc(x),
    }
}

fn float_to_int(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    sty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    match (sty, dty.bits()) {
        (_, 64) if sty == Type::F64 || sty == Type::F32 && shape == EmitShape::Chunk => None,
        (Type::F32, 8 | 16 | 32) => Some(map_parts(cx, a, |cx, x| single_to_int(cx, dty, mods, x))),
        (Type::F64, 32) => Some(double_to_int(cx, shape, dty, mods, a)),
        _ => None,
    }
}

fn single_to_int(cx: &mut OpCtx<'_, '_>, dty: Type, mods: &FpMods, x: Value) -> Value {
    let int = if clif_type_of(cx, x).is_vector() { types::I32X4 } else { types::I32 };
    let x = if mods.ftz { fp::flush_subnormals(cx, x) } else { x };
    let x = bits_as_float(cx, x);
    // Truncation is what the conversion itself does.
    let truncating = matches!(mods.rnd, Rounding::Rzi | Rounding::Rz | Rounding::Default);
    let x = if truncating { x } else { round_to_integral(cx, mods.rnd, x) };
    let signed = dty.is_signed();
    let r = if signed { cx.b.ins().fcvt_to_sint_sat(int, x) } else { cx.b.ins().fcvt_to_uint_sat(int, x) };
    clamp_to_small_int(cx, dty, r)
}

/// A converted 32-bit integer clamped to a smaller type, in a 16-bit register.
fn clamp_to_small_int(cx: &mut OpCtx<'_, '_>, dty: Type, r: Value) -> Value {
    let n = dty.bits();
    if n >= 32 {
        return r;
    }
    if !dty.is_signed() {
        let most = const_of_type_like(cx, r, (1 << n) - 1);
        return cx.b.ins().umin(r, most);
    }
    let (least, most) =
        (const_of_type_like(cx, r, -(1i64 << (n - 1)) as u64), const_of_type_like(cx, r, (1 << (n - 1)) - 1));
    let r = cx.b.ins().smax(r, least);
    let r = cx.b.ins().smin(r, most);
    and_const(cx, r, 0xffff)
}

/// Doubles to 32-bit integers: clamped and made integral as doubles, then read from the low word
/// of the sum with a power of two that puts the units there.
fn double_to_int(cx: &mut OpCtx<'_, '_>, shape: EmitShape, dty: Type, mods: &FpMods, a: &LaneParts) -> LaneParts {
    let (least, most, shift) = if dty.is_signed() {
        (f64::from(i32::MIN), f64::from(i32::MAX), 1.5 * (1u64 << 52) as f64)
    } else {
        (0.0, f64::from(u32::MAX), (1u64 << 52) as f64)
    };
    let words = map_parts(cx, a, |cx, x| {
        let f = bits_as_float(cx, x);
        let whole = round_to_integral(cx, mods.rnd, f);
        let (least, most) = (const_of_type_like(cx, f, least.to_bits()), const_of_type_like(cx, f, most.to_bits()));
        let inside = cx.b.ins().fcmp(FloatCC::GreaterThan, whole, least);
        let r = select_lanes(cx, inside, whole, least);
        let inside = cx.b.ins().fcmp(FloatCC::LessThan, r, most);
        let r = select_lanes(cx, inside, r, most);
        let shift = const_of_type_like(cx, f, shift.to_bits());
        let r = cx.b.ins().fadd(r, shift);
        let r = float_as_bits(cx, r);
        let nan = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
        let top = const_of_type_like(cx, r, 0x8000_0000);
        select_lanes(cx, nan, top, r)
    });
    narrow_to_32_bit(cx, shape, &words)
}

fn is_integral_rounding(rnd: Rounding) -> bool {
    matches!(rnd, Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
}

fn float_to_float(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    sty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    match (dty, sty) {
        (Type::F32, Type::F32) | (Type::F64, Type::F64) if *mods == FpMods::default() => Some(a.clone()),
        (Type::F32, Type::F32) | (Type::F64, Type::F64) => Some(map_parts(cx, a, |cx, x| {
            let x = if mods.ftz { fp::flush_subnormals(cx, x) } else { x };
            let x = if is_integral_rounding(mods.rnd) {
                let f = bits_as_float(cx, x);
                let r = round_to_integral(cx, mods.rnd, f);
                float_as_bits(cx, r)
            } else {
                x
            };
            fp::apply_result_modifiers(cx, mods, x)
        })),
        (Type::F64, Type::F32) => {
            // With `.ftz` the operand goes through single-precision arithmetic first.
            let a = if mods.ftz { map_parts(cx, a, fp::canonicalize_nan) } else { a.clone() };
            let wide = rounding::single_bits_to_double(cx, shape, mods, &a);
            Some(map_parts(cx, &wide, |cx, x| {
                let x = float_as_bits(cx, x);
                fp::apply_result_modifiers(cx, mods, x)
            }))
        }
        (Type::F32, Type::F64) if rounds_to_nearest(mods) => {
            let singles = rounding::round_nearest(cx, shape, mods, a);
            Some(map_parts(cx, &singles, |cx, x| fp::apply_result_modifiers_keeping_nan(cx, mods, x)))
        }
        (Type::F32, Type::F64) => {
            let singles = rounding::round_directed(cx, shape, mods, a);
            Some(map_parts(cx, &singles, |cx, x| fp::apply_result_modifiers_keeping_nan(cx, mods, x)))
        }
        (Type::F64, Type::F16 | Type::BF16) if !mods.sat => {
            let singles = half::widen_halves(cx, sty, a);
            let wide = rounding::single_bits_to_double(cx, shape, &FpMods::default(), &singles);
            Some(map_parts(cx, &wide, float_as_bits))
        }
        (Type::F32, Type::BF16) => {
            let wide = half::widen_halves(cx, sty, a);
            Some(map_parts(cx, &wide, |cx, x| if mods.ftz { fp::apply_result_modifiers(cx, mods, x) } else { x }))
        }
        (Type::F32, Type::F16) => {
            let wide = half::widen_halves(cx, sty, a);
            Some(map_parts(cx, &wide, |cx, x| fp::apply_result_modifiers(cx, mods, x)))
        }
        (Type::F16 | Type::BF16, Type::F32) if rounds_to_nearest(mods) && !mods.relu => {
            // Conversions to half precision do not flush, whatever is written.
            let flushes = mods.ftz && dty == Type::BF16;
            let a = map_parts(cx, a, |cx, x| {
                let x = if flushes { fp::flush_subnormals(cx, x) } else { x };
                if mods.sat { fp::saturate_to_unit(cx, x) } else { x }
            });
            Some(half::narrow_to_half(cx, dty, &a))
        }
        _ => None,
    }
}

/// `cvt.rn.{f16x2,bf16x2}.f32 d, a, b`; `None` when a helper has to do it.
pub(super) fn emit_half_pair_pack(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    dty: Type,
    mods: &FpMods,
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    let element = match dty {
        Type::F16x2 => Type::F16,
        Type::BF16x2 => Type::BF16,
        _ => return None,
    };
    let high = float_to_float(cx, shape, element, Type::F32, mods, &srcs[0])?;
    let low = float_to_float(cx, shape, element, Type::F32, mods, &srcs[1])?;
    Some(map_part_pairs(cx, &high, &low, |cx, h, l| {
        let h = shl_const(cx, h, 16);
        cx.b.ins().bor(h, l)
    }))
}
