//! The approximate functions with a GPU's bits: calls of the interpolator of `rtcg_vgpu_softmath` for the lanes of a chunk or
//! of a warp.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use rtcg_ptx::ast::{FpMods, Inst, Type, UnaryOp};
use rtcg_vgpu_softmath::interpolator::lanes::{LANES, LaneFunction};

use super::clif_helpers::{
    bits_as_float, clif_type_of, const_of_type_like, fcmp_const, float_as_bits, map_parts, select_lanes,
};
use super::helper_calls::helper_frame_slot;
use super::{LaneParts, OpCtx, float as fp, half};
use crate::emit::code::relocations::{self, RelocTarget};
use crate::simt::interpolated::{is_interpolated, is_warp_function};

/// The function that converged code calls once for a warp, if it does.
pub(crate) fn warp_function(inst: &Inst) -> Option<LaneFunction> {
    match inst {
        Inst::Unary { op, mods, .. } if is_warp_function(inst) => Some(single_precision(*op, mods.ftz)),
        _ => None,
    }
}

/// The results of a [`warp_function`] before the modifiers of its instruction.
pub(crate) fn apply_modifiers(cx: &mut OpCtx<'_, '_>, mods: &FpMods, results: &LaneParts) -> LaneParts {
    map_parts(cx, results, |cx, r| fp::apply_result_modifiers(cx, &FpMods { ftz: false, ..*mods }, r))
}

/// `sin cos lg2 ex2 tanh rcp rsqrt sqrt` with `.approx`; `None` when a helper has to do it.
pub(super) fn lower_interpolated(
    cx: &mut OpCtx<'_, '_>,
    op: UnaryOp,
    ty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    match ty {
        _ if !is_interpolated(op, mods) => None,
        Type::F32 => {
            let r = lower_approx_f32(cx, op, mods.ftz, a);
            Some(apply_modifiers(cx, mods, &r))
        }
        Type::F16x2 | Type::BF16x2 => {
            let element = fp::element_of_half_pair(ty)?;
            fp::emit_per_half(cx, std::slice::from_ref(a), |cx, srcs| {
                lower_interpolated(cx, op, element, mods, &srcs[0])
            })
        }
        // The subnormals of bfloat16 are subnormal in single precision too.
        Type::F16 | Type::BF16 if !mods.ftz || ty == Type::BF16 => {
            let wide = half::widen_halves(cx, ty, a);
            let r = lower_approx_f32(cx, op, mods.ftz, &wide);
            Some(half::truncate_to_half(cx, ty, &r))
        }
        _ => None,
    }
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`, of upper words, and `rsqrt.approx.f64`.
pub(super) fn lower_approx_f64(cx: &mut OpCtx<'_, '_>, op: UnaryOp, ftz: bool, a: &[Value]) -> LaneParts {
    match op {
        UnaryOp::Rcp => call_lanes(cx, LaneFunction::RcpF64, a),
        _ if ftz => call_lanes(cx, LaneFunction::RsqrtF64, a),
        _ => {
            let scaled = map_parts(cx, a, scaled_for_rsqrt);
            let seeds = call_lanes(cx, LaneFunction::RsqrtF64, &scaled);
            (0..a.len()).map(|i| refined_rsqrt(cx, a[i], scaled[i], seeds[i])).collect()
        }
    }
}

/// A number for those that are subnormal, one for those whose results have subnormal squares, else one.
fn choose_scale(cx: &mut OpCtx<'_, '_>, number: Value, of_tiny: u64, of_huge: u64) -> Value {
    let tiny = fcmp_const(cx, FloatCC::LessThan, number, 0x0010_0000_0000_0000);
    let huge = fcmp_const(cx, FloatCC::GreaterThan, number, 0x7e70_0000_0000_0000);
    let [one, of_tiny, of_huge] = [0x3ff0_0000_0000_0000, of_tiny, of_huge].map(|k| const_of_type_like(cx, number, k));
    let scale = select_lanes(cx, huge, of_huge, one);
    select_lanes(cx, tiny, of_tiny, scale)
}

/// The number times 2^108 or 2^-108 where it has to be scaled by a power of four.
fn scaled_for_rsqrt(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let number = bits_as_float(cx, x);
    let scale = choose_scale(cx, number, 0x46b0_0000_0000_0000, 0x3930_0000_0000_0000);
    let scaled = cx.b.ins().fmul(number, scale);
    float_as_bits(cx, scaled)
}

/// The step of third order from the seed of the upper word.
fn refined_rsqrt(cx: &mut OpCtx<'_, '_>, x: Value, scaled: Value, seed: Value) -> Value {
    let [number, scaled, seed] = [x, scaled, seed].map(|bits| bits_as_float(cx, bits));
    let square = cx.b.ins().fmul(seed, seed);
    let square = cx.b.ins().fneg(square);
    let [one, half, three_eighths] = [0x3ff0_0000_0000_0000, 0x3fe0_0000_0000_0000, 0x3fd8_0000_0000_0000]
        .map(|k| const_of_type_like(cx, number, k));
    let error = cx.b.ins().fma(scaled, square, one);
    let factor = cx.b.ins().fma(error, three_eighths, half);
    let step = cx.b.ins().fmul(error, seed);
    let r = cx.b.ins().fma(factor, step, seed);
    let back = choose_scale(cx, number, 0x4350_0000_0000_0000, 0x3c90_0000_0000_0000);
    let r = cx.b.ins().fmul(r, back);
    let r = float_as_bits(cx, r);
    // Zeros, infinity and negative numbers have the seed.
    let zero = fcmp_const(cx, FloatCC::Equal, number, 0);
    let infinite = fcmp_const(cx, FloatCC::Equal, number, 0x7ff0_0000_0000_0000);
    let negative = fcmp_const(cx, FloatCC::LessThan, number, 0);
    let special = cx.b.ins().bor(zero, infinite);
    let seed = float_as_bits(cx, seed);
    let r = select_lanes(cx, special, seed, r);
    let nan = const_of_type_like(cx, r, 0xfff8_0000_0000_0000);
    let r = select_lanes(cx, negative, nan, r);
    fp::quiet_nan_or(cx, number, r)
}

fn lower_approx_f32(cx: &mut OpCtx<'_, '_>, op: UnaryOp, ftz: bool, a: &[Value]) -> LaneParts {
    call_lanes(cx, single_precision(op, ftz), a)
}

/// The function of single precision that an operation names.
fn single_precision(op: UnaryOp, ftz: bool) -> LaneFunction {
    match op {
        UnaryOp::Sin => LaneFunction::Sin,
        UnaryOp::Cos => LaneFunction::Cos,
        UnaryOp::Tanh => LaneFunction::Tanh,
        UnaryOp::Ex2 if ftz => LaneFunction::Ex2Ftz,
        UnaryOp::Ex2 => LaneFunction::Ex2,
        UnaryOp::Lg2 if ftz => LaneFunction::Lg2Ftz,
        UnaryOp::Lg2 => LaneFunction::Lg2,
        UnaryOp::Rcp if ftz => LaneFunction::RcpFtz,
        UnaryOp::Rcp => LaneFunction::Rcp,
        UnaryOp::Rsqrt if ftz => LaneFunction::RsqrtFtz,
        UnaryOp::Rsqrt => LaneFunction::Rsqrt,
        _ if ftz => LaneFunction::SqrtFtz,
        _ => LaneFunction::Sqrt,
    }
}

/// `rcp.approx.ftz` of single precision.
pub(super) fn rcp_ftz(cx: &mut OpCtx<'_, '_>, a: &[Value]) -> LaneParts {
    call_lanes(cx, LaneFunction::RcpFtz, a)
}

/// A function of the interpolator for all lanes of the parts, which are passed and returned in memory.
fn call_lanes(cx: &mut OpCtx<'_, '_>, function: LaneFunction, parts: &[Value]) -> LaneParts {
    let slot = helper_frame_slot(cx);
    let ty = clif_type_of(cx, parts[0]);
    let parts_of_call = LANES / ty.lane_count() as usize;
    let mut results = LaneParts::new();
    for parts in parts.chunks(parts_of_call.max(1)) {
        for (&part, at) in parts.iter().zip((0..).step_by(16)) {
            cx.b.ins().stack_store(types::I64, part, slot, at);
        }
        let frame = cx.b.ins().stack_addr(types::I64, slot, 0);
        relocations::call_target(cx.b, RelocTarget::LaneFunction(function as u32), &[frame], None);
        results.extend((0..parts.len()).map(|i| cx.b.ins().stack_load(types::I64, ty, slot, 16 * i as i32)));
    }
    results
}
