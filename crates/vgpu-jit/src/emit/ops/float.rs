//! Single- and double-precision arithmetic.
//!
//! The processor computes rounding to nearest. Directed rounding of single precision is computed
//! in double precision, where the error of the sum is known exactly ([`super::rounding`]); of double
//! precision it is left to a helper.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::{BinaryOp, FpMods, Rounding, TernaryOp, Type, UnaryOp};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, fcmp_const, float_as_bits, float_greater, float_lesser,
    icmp_const, map_part_pairs, map_part_triples, map_parts, select_lanes, shl_const, ushr_const,
};
use super::half;
use super::lane_parts::{is_load_result, negated_source};
use super::rounding::{
    SUBNORMAL_SCALE, demote_to_single, double_to_single_rounded, emit_directed_sum, flush_by_scaled_result,
    join_demoted_halves, repromote_to_double, round_directed_and_flush, single_bits_to_double,
};
use super::{EmitShape, LaneParts, OpCtx, interpolator};
use crate::isa::F64_NAN_FROM_FIRST_OPERAND;

pub(super) const SIGN_MASK_F32: u64 = 0x8000_0000;
const EXPONENT_MASK_F32: u64 = 0x7f80_0000;
const CANONICAL_NAN_F32: u64 = 0x7fff_ffff;
const ONE_F32: u64 = 0x3f80_0000;

/// Subnormal single-precision bits become a zero of their sign; 64-bit values are left alone.
pub(super) fn flush_subnormals(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    if clif_type_of(cx, x).lane_bits() != 32 {
        return x;
    }
    let exponent = and_const(cx, x, EXPONENT_MASK_F32);
    let tiny = icmp_const(cx, IntCC::Equal, exponent, 0);
    if clif_type_of(cx, x).is_vector() {
        let all_but_sign = ushr_const(cx, tiny, 1);
        return cx.b.ins().band_not(x, all_but_sign);
    }
    let sign = and_const(cx, x, SIGN_MASK_F32);
    select_lanes(cx, tiny, sign, x)
}

/// Replaces NaN bits by the one NaN that single-precision arithmetic gives.
pub(super) fn canonicalize_nan(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    if clif_type_of(cx, x).lane_bits() != 32 {
        return x;
    }
    let f = bits_as_float(cx, x);
    let nan = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
    let one = const_of_type_like(cx, x, CANONICAL_NAN_F32);
    select_lanes(cx, nan, one, x)
}

/// Clamps to [+0, 1]; NaN becomes +0.
pub(super) fn saturate_to_unit(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let one_bits = if clif_type_of(cx, x).lane_bits() == 64 { 0x3ff0_0000_0000_0000 } else { ONE_F32 };
    let f = bits_as_float(cx, x);
    let (zero, one) = (const_of_type_like(cx, f, 0), const_of_type_like(cx, f, one_bits));
    let positive = float_greater(cx, f, zero);
    let r = float_lesser(cx, positive, one);
    float_as_bits(cx, r)
}

/// [`apply_result_modifiers`] for conversions whose NaN keeps its payload.
pub(super) fn apply_result_modifiers_keeping_nan(cx: &mut OpCtx<'_, '_>, mods: &FpMods, x: Value) -> Value {
    let x = if mods.ftz { flush_subnormals(cx, x) } else { x };
    if mods.sat { saturate_to_unit(cx, x) } else { x }
}

/// Result bits after NaN, `.ftz` and `.sat`.
pub(super) fn apply_result_modifiers(cx: &mut OpCtx<'_, '_>, mods: &FpMods, x: Value) -> Value {
    let x = if mods.ftz { flush_subnormals(cx, x) } else { x };
    if mods.sat {
        saturate_to_unit(cx, x)
    } else if cx.state.lazy_nan {
        x
    } else {
        canonicalize_nan(cx, x)
    }
}

/// Operand bits as floats, flushed when asked.
pub(super) fn operand_as_float(cx: &mut OpCtx<'_, '_>, mods: &FpMods, x: Value) -> Value {
    let x = if mods.ftz { flush_subnormals(cx, x) } else { x };
    bits_as_float(cx, x)
}

fn rounds_to_nearest(mods: &FpMods) -> bool {
    matches!(mods.rnd, Rounding::Default | Rounding::Rn)
}

/// The type itself when its arithmetic is emitted here (16-bit floats: without `.ftz`).
fn is_native_type(ty: Type, mods: &FpMods) -> bool {
    matches!(ty, Type::F32 | Type::F64) || matches!(ty, Type::F16 | Type::BF16) && !mods.ftz && !mods.relu
}

/// `add sub mul div min max copysign`; `None` when a helper has to do it.
pub(super) fn lower_float_binary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: BinaryOp,
    ty: Type,
    mods: &FpMods,
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    if let Some(element) = element_of_half_pair(ty) {
        return emit_per_half(cx, srcs, |cx, srcs| lower_float_binary(cx, shape, op, element, mods, srcs));
    }
    if !is_native_type(ty, mods) {
        return None;
    }
    if op == BinaryOp::CopySign {
        return Some(map_part_pairs(cx, &srcs[0], &srcs[1], |cx, a, b| emit_copysign(cx, ty, a, b)));
    }
    if matches!(ty, Type::F16 | Type::BF16) {
        return lower_half_binary(cx, op, ty, mods, srcs);
    }
    match op {
        BinaryOp::Min | BinaryOp::Max if ty == Type::F32 && !mods.xorsign_abs => {
            Some(map_part_pairs(cx, &srcs[0], &srcs[1], |cx, a, b| min_max(cx, mods, op == BinaryOp::Max, a, b)))
        }
        BinaryOp::Min | BinaryOp::Max if ty == Type::F64 => {
            Some(map_part_pairs(cx, &srcs[0], &srcs[1], |cx, a, b| min_max(cx, mods, op == BinaryOp::Max, a, b)))
        }
        BinaryOp::Div if (mods.approx || mods.full) && cx.state.device_approximations => {
            Some(divide_by_reciprocal(cx, mods, &srcs[0], &srcs[1]))
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div if rounds_to_nearest(mods) => {
            Some(map_part_pairs(cx, &srcs[0], &srcs[1], |cx, a, b| round_binary_to_nearest(cx, op, mods, a, b)))
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div if ty == Type::F32 => {
            let (a, b) =
                (single_bits_to_double(cx, shape, mods, &srcs[0]), single_bits_to_double(cx, shape, mods, &srcs[1]));
            let rounded = map_part_pairs(cx, &a, &b, |cx, x, y| match op {
                // A product is exact; a quotient that double precision rounds to a single-precision
                // number is that number, so its error need not be known.
                BinaryOp::Mul | BinaryOp::Div => {
                    let r = emit_clif_binary(cx, op, x, y);
                    round_directed_and_flush(cx, mods, r, None)
                }
                _ => {
                    let y = if op == BinaryOp::Sub { cx.b.ins().fneg(y) } else { y };
                    emit_directed_sum(cx, mods, x, y)
                }
            });
            Some(double_to_single_rounded(cx, shape, mods, &rounded))
        }
        _ => None,
    }
}

/// The element type of a pair of 16-bit floats.
pub(super) fn element_of_half_pair(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::BF16x2 => Some(Type::BF16),
        _ => None,
    }
}

/// Does `f` to the low and to the high halves and puts the results together.
pub(super) fn emit_per_half(
    cx: &mut OpCtx<'_, '_>,
    srcs: &[LaneParts],
    mut f: impl FnMut(&mut OpCtx<'_, '_>, &[LaneParts]) -> Option<LaneParts>,
) -> Option<LaneParts> {
    let low: Vec<LaneParts> = srcs.iter().map(|p| map_parts(cx, p, |cx, v| and_const(cx, v, 0xffff))).collect();
    let low = f(cx, &low)?;
    let high: Vec<LaneParts> = srcs.iter().map(|p| map_parts(cx, p, |cx, v| ushr_const(cx, v, 16))).collect();
    let high = f(cx, &high)?;
    Some(map_part_pairs(cx, &low, &high, |cx, l, h| {
        let h = shl_const(cx, h, 16);
        cx.b.ins().bor(l, h)
    }))
}

fn emit_copysign(cx: &mut OpCtx<'_, '_>, ty: Type, a: Value, b: Value) -> Value {
    let sign_bit = 1u64 << (ty.bits() - 1);
    let sign = and_const(cx, a, sign_bit);
    let magnitude = and_const(cx, b, sign_bit - 1);
    cx.b.ins().bor(sign, magnitude)
}

fn lower_half_binary(
    cx: &mut OpCtx<'_, '_>,
    op: BinaryOp,
    ty: Type,
    mods: &FpMods,
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    if mods.xorsign_abs || !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max)
    {
        return None;
    }
    let (a, b) = (half::widen_halves(cx, ty, &srcs[0]), half::widen_halves(cx, ty, &srcs[1]));
    let wide = map_part_pairs(cx, &a, &b, |cx, x, y| match op {
        BinaryOp::Min | BinaryOp::Max => min_max(cx, mods, op == BinaryOp::Max, x, y),
        _ => {
            let (x, y) = (bits_as_float(cx, x), bits_as_float(cx, y));
            let r = emit_clif_binary(cx, op, x, y);
            let r = float_as_bits(cx, r);
            if mods.sat { saturate_to_unit(cx, r) } else { r }
        }
    });
    Some(half::narrow_to_half(cx, ty, &wide))
}

fn emit_clif_binary(cx: &mut OpCtx<'_, '_>, op: BinaryOp, x: Value, y: Value) -> Value {
    match op {
        BinaryOp::Add => match negated_source(cx, y) {
            Some(y) => cx.b.ins().fsub(x, y),
            None => match negated_source(cx, x) {
                Some(x) => cx.b.ins().fsub(y, x),
                None => cx.b.ins().fadd(x, y),
            },
        },
        BinaryOp::Sub => match negated_source(cx, y) {
            Some(y) => cx.b.ins().fadd(x, y),
            None => cx.b.ins().fsub(x, y),
        },
        BinaryOp::Mul => cx.b.ins().fmul(x, y),
        _ => cx.b.ins().fdiv(x, y),
    }
}

fn round_binary_to_nearest(cx: &mut OpCtx<'_, '_>, op: BinaryOp, mods: &FpMods, a: Value, b: Value) -> Value {
    let (x, y) = (operand_as_float(cx, mods, a), operand_as_float(cx, mods, b));
    // Of two double-precision NaNs the processor keeps the first, a GPU the last.
    let (x, y) = if matches!(op, BinaryOp::Add | BinaryOp::Mul) { (y, x) } else { (x, y) };
    let r = emit_clif_binary(cx, op, x, y);
    let r = if op == BinaryOp::Sub { nan_of_last_operand(cx, x, y, r) } else { propagate_f64_nan(cx, &[x, y], r) };
    let r = if op == BinaryOp::Div && mods.approx { flush_huge_divisor(cx, x, y, r) } else { r };
    let r = float_as_bits(cx, r);
    let r = if mods.ftz && matches!(op, BinaryOp::Mul | BinaryOp::Div) {
        let scale = const_of_type_like(cx, x, SUBNORMAL_SCALE);
        let up = cx.b.ins().fmul(x, scale);
        let scaled = emit_clif_binary(cx, op, up, y);
        flush_by_scaled_result(cx, r, scaled)
    } else {
        r
    };
    apply_result_modifiers(cx, mods, r)
}

/// A result of double precision with the NaN that a GPU makes of NaN operands, given in the order in
/// which it looks for one. Nothing where the processor does the same; its operands are in this order.
fn propagate_f64_nan(cx: &mut OpCtx<'_, '_>, order: &[Value], r: Value) -> Value {
    if F64_NAN_FROM_FIRST_OPERAND || clif_type_of(cx, r).lane_bits() != 64 {
        return r;
    }
    let invalid = const_of_type_like(cx, r, 0xfff8_0000_0000_0000);
    let mut nan = float_as_bits(cx, invalid);
    for &x in order.iter().rev() {
        nan = quiet_nan_or(cx, x, nan);
    }
    let is_nan = cx.b.ins().fcmp(FloatCC::Unordered, r, r);
    let r = float_as_bits(cx, r);
    let r = select_lanes(cx, is_nan, nan, r);
    bits_as_float(cx, r)
}

/// The bits of `x`, made quiet, where it is NaN, else `other`.
pub(super) fn quiet_nan_or(cx: &mut OpCtx<'_, '_>, x: Value, other: Value) -> Value {
    let is_nan = cx.b.ins().fcmp(FloatCC::Unordered, x, x);
    let x = float_as_bits(cx, x);
    let quiet_bit = const_of_type_like(cx, x, 1 << 51);
    let quiet = cx.b.ins().bor(x, quiet_bit);
    select_lanes(cx, is_nan, quiet, other)
}

/// [`propagate_f64_nan`] for `x - y`, where a GPU looks at the last operand first and no processor does.
fn nan_of_last_operand(cx: &mut OpCtx<'_, '_>, x: Value, y: Value, r: Value) -> Value {
    if clif_type_of(cx, r).lane_bits() != 64 {
        return r;
    }
    let r = propagate_f64_nan(cx, &[y, x], r);
    let r = float_as_bits(cx, r);
    let r = quiet_nan_or(cx, y, r);
    bits_as_float(cx, r)
}

/// `div.approx` by more than 2^126 gives zero (NaN for infinity): the reciprocal is flushed.
fn flush_huge_divisor(cx: &mut OpCtx<'_, '_>, x: Value, y: Value, quotient: Value) -> Value {
    let bits_y = float_as_bits(cx, y);
    let sign = and_const(cx, bits_y, SIGN_MASK_F32);
    let zero = bits_as_float(cx, sign);
    let magnitude = cx.b.ins().fabs(y);
    let huge = fcmp_const(cx, FloatCC::GreaterThan, magnitude, 0x7e80_0000);
    let product = cx.b.ins().fmul(x, zero);
    select_lanes(cx, huge, product, quotient)
}

/// `div.approx` and `div.full` as a GPU computes them: the product with the reciprocal of [`interpolator::rcp_ftz`].
/// Where that would be subnormal, `.full` scales both numbers, and `.approx` has zero.
fn divide_by_reciprocal(cx: &mut OpCtx<'_, '_>, mods: &FpMods, a: &[Value], b: &[Value]) -> LaneParts {
    let (dividends, divisors): (LaneParts, LaneParts) =
        a.iter().zip(b).map(|(&a, &b)| scaled_quotient(cx, mods, a, b)).unzip();
    let reciprocals = interpolator::rcp_ftz(cx, &divisors);
    let product = FpMods { approx: false, full: false, ..*mods };
    map_part_pairs(cx, &dividends, &reciprocals, |cx, x, y| round_binary_to_nearest(cx, BinaryOp::Mul, &product, x, y))
}

/// Dividend and divisor for [`divide_by_reciprocal`], scaled.
fn scaled_quotient(cx: &mut OpCtx<'_, '_>, mods: &FpMods, a: Value, b: Value) -> (Value, Value) {
    let (mut x, mut y) = (operand_as_float(cx, mods, a), operand_as_float(cx, mods, b));
    if mods.full || !mods.ftz {
        let bits = float_as_bits(cx, y);
        let field = and_const(cx, bits, EXPONENT_MASK_F32);
        let tiny = icmp_const(cx, IntCC::Equal, field, 0);
        let [one, up, down] = [ONE_F32, 0x4b80_0000, 0x3e80_0000].map(|k| const_of_type_like(cx, bits, k));
        let scale = if mods.full {
            let magnitude = cx.b.ins().fabs(y);
            let huge = fcmp_const(cx, FloatCC::GreaterThan, magnitude, 0x7e80_0000);
            select_lanes(cx, huge, down, one)
        } else {
            one
        };
        let scale = if mods.ftz { scale } else { select_lanes(cx, tiny, up, scale) };
        let scale = bits_as_float(cx, scale);
        (x, y) = (cx.b.ins().fmul(x, scale), cx.b.ins().fmul(y, scale));
    }
    (float_as_bits(cx, x), float_as_bits(cx, y))
}

/// The number that is not NaN, -0 below +0.
fn min_max(cx: &mut OpCtx<'_, '_>, mods: &FpMods, max: bool, a: Value, b: Value) -> Value {
    let (a, b) = if mods.ftz { (flush_subnormals(cx, a), flush_subnormals(cx, b)) } else { (a, b) };
    let (x, y) = (bits_as_float(cx, a), bits_as_float(cx, b));
    let cc = if max { FloatCC::GreaterThan } else { FloatCC::LessThan };
    let first = cx.b.ins().fcmp(cc, x, y);
    let r = select_lanes(cx, first, a, b);
    // Equal numbers have equal bits but for the sign of zero.
    let equal = cx.b.ins().fcmp(FloatCC::Equal, x, y);
    let either = if max { cx.b.ins().band(a, b) } else { cx.b.ins().bor(a, b) };
    let r = select_lanes(cx, equal, either, r);
    let r = if mods.nan {
        let a_nan = cx.b.ins().fcmp(FloatCC::Unordered, x, x);
        select_lanes(cx, a_nan, a, r)
    } else {
        let b_nan = cx.b.ins().fcmp(FloatCC::Unordered, y, y);
        select_lanes(cx, b_nan, a, r)
    };
    if clif_type_of(cx, r).lane_bits() == 64 {
        // Of two NaNs the last, made quiet.
        let f = bits_as_float(cx, r);
        let both = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
        let quiet_bit = const_of_type_like(cx, b, 1 << 51);
        let quiet = cx.b.ins().bor(b, quiet_bit);
        return select_lanes(cx, both, quiet, r);
    }
    if cx.state.lazy_nan { r } else { canonicalize_nan(cx, r) }
}

/// `fma`; `None` when a helper has to do it.
pub(super) fn lower_float_ternary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: TernaryOp,
    ty: Type,
    mods: &FpMods,
    srcs: &[LaneParts],
) -> Option<LaneParts> {
    if !matches!(op, TernaryOp::Fma | TernaryOp::MadLo) {
        return None;
    }
    if let Some(element) = element_of_half_pair(ty) {
        return emit_per_half(cx, srcs, |cx, srcs| lower_float_ternary(cx, shape, op, element, mods, srcs));
    }
    if !is_native_type(ty, mods) {
        return None;
    }
    if ty == Type::BF16 {
        return Some(lower_bf16_fma(cx, shape, srcs));
    }
    if ty == Type::F16 {
        let wide: Vec<LaneParts> = srcs.iter().map(|p| half::widen_halves(cx, ty, p)).collect();
        let r = map_part_triples(cx, &wide[0], &wide[1], &wide[2], |cx, a, b, c| {
            let (a, b, c) = (bits_as_float(cx, a), bits_as_float(cx, b), bits_as_float(cx, c));
            let r = half::fma_round_to_odd(cx, a, b, c);
            let r = float_as_bits(cx, r);
            if mods.sat { saturate_to_unit(cx, r) } else { r }
        });
        return Some(half::narrow_to_half(cx, ty, &r));
    }
    if rounds_to_nearest(mods) {
        return Some(map_part_triples(cx, &srcs[0], &srcs[1], &srcs[2], |cx, a, b, c| {
            let (a, b, c) =
                (operand_as_float(cx, mods, a), operand_as_float(cx, mods, b), operand_as_float(cx, mods, c));
            // The result of an instruction takes the place of the first factor: better of one that was
            // just loaded for it than of one that other lanes need as well.
            let (a, b) = if ty == Type::F32 && is_load_result(cx, b) { (b, a) } else { (a, b) };
            let (x, y, z) = (fold_negation(cx, a), fold_negation(cx, b), fold_negation(cx, c));
            let r = cx.b.ins().fma(x, y, z);
            let r = propagate_f64_nan(cx, &[b, a, c], r);
            let r = float_as_bits(cx, r);
            let r = if mods.ftz {
                let scale = const_of_type_like(cx, a, SUBNORMAL_SCALE);
                let (a, c) = (cx.b.ins().fmul(a, scale), cx.b.ins().fmul(c, scale));
                let scaled = cx.b.ins().fma(a, b, c);
                flush_by_scaled_result(cx, r, scaled)
            } else {
                r
            };
            apply_result_modifiers(cx, mods, r)
        }));
    }
    if ty != Type::F32 {
        return None;
    }
    let wide: Vec<LaneParts> = srcs.iter().map(|p| single_bits_to_double(cx, shape, mods, p)).collect();
    let rounded = map_part_triples(cx, &wide[0], &wide[1], &wide[2], |cx, a, b, c| {
        let p = cx.b.ins().fmul(a, b);
        emit_directed_sum(cx, mods, p, c)
    });
    Some(double_to_single_rounded(cx, shape, mods, &rounded))
}

/// A negated operand of a multiply-add in the form that the back end makes a part of it.
fn fold_negation(cx: &mut OpCtx<'_, '_>, operand: Value) -> Value {
    match negated_source(cx, operand) {
        Some(x) => cx.b.ins().fneg(x),
        None => operand,
    }
}

/// `fma` of bfloat16: the product is exact in double precision (in single it may leave the range), the
/// sum is rounded to odd there and in single precision, so that the last rounding is the only one.
fn lower_bf16_fma(cx: &mut OpCtx<'_, '_>, shape: EmitShape, srcs: &[LaneParts]) -> LaneParts {
    let wide: Vec<LaneParts> = srcs
        .iter()
        .map(|p| {
            let singles = half::widen_halves(cx, Type::BF16, p);
            single_bits_to_double(cx, shape, &FpMods::default(), &singles)
        })
        .collect();
    let singles = map_part_triples(cx, &wide[0], &wide[1], &wide[2], |cx, a, b, c| {
        let s = half::fma_round_to_odd(cx, a, b, c);
        let near = demote_to_single(cx, s);
        let back = repromote_to_double(cx, near);
        let error = cx.b.ins().fsub(s, back);
        // Only its sign counts, which must outlast single precision.
        let scale = const_of_type_like(cx, error, 200f64.exp2().to_bits());
        let error = cx.b.ins().fmul(error, scale);
        let error = demote_to_single(cx, error);
        half::round_to_odd(cx, near, error)
    });
    let joined = join_demoted_halves(cx, shape, &singles);
    half::narrow_to_half(cx, Type::BF16, &joined)
}

/// `abs neg rcp sqrt rsqrt`; `None` when a helper has to do it.
pub(super) fn lower_float_unary(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    op: UnaryOp,
    ty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    match (op, ty) {
        (UnaryOp::Abs | UnaryOp::Neg, Type::F16x2 | Type::BF16x2) => {
            let element = element_of_half_pair(ty)?;
            emit_per_half(cx, std::slice::from_ref(a), |cx, srcs| {
                lower_float_unary(cx, shape, op, element, mods, &srcs[0])
            })
        }
        (UnaryOp::Abs | UnaryOp::Neg, _) if !(mods.ftz && ty != Type::F32) => {
            Some(map_parts(cx, a, |cx, x| lower_abs_neg(cx, op, ty, mods, x)))
        }
        (UnaryOp::Rcp | UnaryOp::Sqrt, Type::F32) if mods.approx && cx.state.device_approximations => None,
        (UnaryOp::Rsqrt, Type::F32) if cx.state.device_approximations => None,
        (UnaryOp::Rcp | UnaryOp::Rsqrt, Type::F64) if mods.approx => {
            Some(interpolator::lower_approx_f64(cx, op, mods.ftz, a))
        }
        (UnaryOp::Rcp | UnaryOp::Sqrt, Type::F32 | Type::F64)
            if rounds_to_nearest(mods) && !(ty == Type::F64 && mods.approx) =>
        {
            Some(map_parts(cx, a, |cx, x| lower_rcp_sqrt(cx, op, mods, x)))
        }
        (UnaryOp::Rcp | UnaryOp::Sqrt, Type::F32) => {
            let wide = single_bits_to_double(cx, shape, mods, a);
            let rounded = map_parts(cx, &wide, |cx, x| {
                let one = const_of_type_like(cx, x, 0x3ff0_0000_0000_0000);
                let r = if op == UnaryOp::Sqrt { cx.b.ins().sqrt(x) } else { cx.b.ins().fdiv(one, x) };
                round_directed_and_flush(cx, mods, r, None)
            });
            Some(double_to_single_rounded(cx, shape, mods, &rounded))
        }
        (UnaryOp::Rsqrt, Type::F32) => Some(map_parts(cx, a, |cx, x| lower_rcp_sqrt(cx, op, mods, x))),
        _ => None,
    }
}

/// `abs` and `neg` are arithmetic: they make a NaN canonical, or quiet in double precision, where
/// its sign stays.
fn lower_abs_neg(cx: &mut OpCtx<'_, '_>, op: UnaryOp, ty: Type, mods: &FpMods, x: Value) -> Value {
    let sign_bit = 1u64 << (ty.bits() - 1);
    let x = if mods.ftz { flush_subnormals(cx, x) } else { x };
    if ty == Type::F64 && op == UnaryOp::Neg {
        let f = bits_as_float(cx, x);
        let zero = const_of_type_like(cx, f, sign_bit);
        let r = cx.b.ins().fsub(zero, f);
        return float_as_bits(cx, r);
    }
    let r = if op == UnaryOp::Abs {
        and_const(cx, x, sign_bit - 1)
    } else {
        let mask = const_of_type_like(cx, x, sign_bit);
        cx.b.ins().bxor(x, mask)
    };
    match ty {
        Type::F64 => {
            let f = bits_as_float(cx, x);
            let nan = cx.b.ins().fcmp(FloatCC::Unordered, f, f);
            let quiet = cx.b.ins().fadd(f, f);
            let quiet = float_as_bits(cx, quiet);
            select_lanes(cx, nan, quiet, r)
        }
        Type::F16 | Type::BF16 => {
            let magnitude = and_const(cx, x, 0x7fff);
            let nan =
                icmp_const(cx, IntCC::SignedGreaterThan, magnitude, if ty == Type::F16 { 0x7c00 } else { 0x7f80 });
            let canonical = const_of_type_like(cx, x, 0x7fff);
            select_lanes(cx, nan, canonical, r)
        }
        _ if cx.state.lazy_nan => r,
        _ => canonicalize_nan(cx, r),
    }
}

fn lower_rcp_sqrt(cx: &mut OpCtx<'_, '_>, op: UnaryOp, mods: &FpMods, x: Value) -> Value {
    let x = operand_as_float(cx, mods, x);
    let one_bits = if clif_type_of(cx, x).lane_bits() == 64 { 0x3ff0_0000_0000_0000 } else { ONE_F32 };
    let one = const_of_type_like(cx, x, one_bits);
    let r = match op {
        UnaryOp::Rcp => {
            let r = cx.b.ins().fdiv(one, x);
            if mods.ftz && mods.rnd != Rounding::Default {
                let scale = const_of_type_like(cx, x, SUBNORMAL_SCALE);
                let scaled = cx.b.ins().fdiv(scale, x);
                let r = float_as_bits(cx, r);
                let r = flush_by_scaled_result(cx, r, scaled);
                bits_as_float(cx, r)
            } else {
                r
            }
        }
        UnaryOp::Sqrt => cx.b.ins().sqrt(x),
        _ => {
            let root = cx.b.ins().sqrt(x);
            cx.b.ins().fdiv(one, root)
        }
    };
    let r = propagate_f64_nan(cx, &[x], r);
    let r = float_as_bits(cx, r);
    apply_result_modifiers(cx, mods, r)
}
