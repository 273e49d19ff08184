//! Directed rounding of a number from 0 to 1, times a constant, plus a much larger constant: how
//! `expf` and its relatives split off an integer part.
//!
//! The sum has the sign of the large constant and at least half its size, so its difference from
//! the constant is exact (Sterbenz), and one more fused multiply-add gives the sign of the error.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::{FpMods, Inst, Rounding, TernaryOp, Type};

use super::clif_helpers::{bits_as_float, clif_type_of, const_of_type_like, fcmp_const, float_as_bits, map_parts};
use super::{LaneParts, OpCtx};
use crate::simt::known_values::KnownValue;

/// The sum, if `inst` is one of this kind; its first operand is `srcs[0]`.
pub(super) fn lower_unit_interval_fma(cx: &mut OpCtx<'_, '_>, inst: &Inst, srcs: &[LaneParts]) -> Option<LaneParts> {
    let Inst::Ternary { op: TernaryOp::Fma, ty: Type::F32, mods, a, b, c, .. } = inst else { return None };
    if cx.state.known_operand_value(a) != KnownValue::UnitInterval || !is_directed_rounding(mods) {
        return None;
    }
    let (KnownValue::Constant(b), KnownValue::Constant(c)) =
        (cx.state.known_operand_value(b), cx.state.known_operand_value(c))
    else {
        return None;
    };
    if !is_product_negligible(f32::from_bits(b as u32), f32::from_bits(c as u32)) {
        return None;
    }
    Some(map_parts(cx, &srcs[0], |cx, x| round_fma(cx, mods.rnd, x, b, c)))
}

fn is_directed_rounding(mods: &FpMods) -> bool {
    matches!(mods.rnd, Rounding::Rm | Rounding::Rp | Rounding::Rz) && !mods.ftz && !mods.sat && !mods.relu
}

/// Whether `x * b` is at most half of `c` for all x from 0 to 1 and does not vanish for the smallest.
fn is_product_negligible(b: f32, c: f32) -> bool {
    (1.0..=c.abs() / 2.0).contains(&b.abs()) && c.abs() < 1e30
}

fn round_fma(cx: &mut OpCtx<'_, '_>, rnd: Rounding, x: Value, b: u64, c: u64) -> Value {
    let x = bits_as_float(cx, x);
    let negative = c >> 31 != 0;
    let (b, c) = (const_of_type_like(cx, x, b), const_of_type_like(cx, x, c));
    let nearest = cx.b.ins().fma(x, b, c);
    let difference = cx.b.ins().fsub(c, nearest);
    let error = cx.b.ins().fma(x, b, difference);
    let down = rnd == Rounding::Rm || rnd == Rounding::Rz && !negative;
    let cc = if down { FloatCC::LessThan } else { FloatCC::GreaterThan };
    let wrong = fcmp_const(cx, cc, error, 0);
    let nearest = float_as_bits(cx, nearest);
    // The bits of a negative number grow as it falls.
    step_where_masked(cx, nearest, wrong, if down == negative { 1 } else { -1 })
}

/// `x + step` where `mask` holds, for a step of 1 or -1.
fn step_where_masked(cx: &mut OpCtx<'_, '_>, x: Value, mask: Value, step: i64) -> Value {
    if !clif_type_of(cx, x).is_vector() {
        let stepped = cx.b.ins().iadd_imm_s(x, step);
        return cx.b.ins().select(mask, stepped, x);
    }
    if step < 0 { cx.b.ins().iadd(x, mask) } else { cx.b.ins().isub(x, mask) }
}
