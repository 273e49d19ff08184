//! `setp` and `set`: comparisons, combined with another predicate.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::{BoolOp, CmpOp, PredSrc, Type};

use super::clif_helpers::{and_const, bits_as_float, float_cmp, map_part_pairs, map_parts, ushr_const};
use super::lane_parts::{blend_lanes, is_constant_splat, low_words_of_64_bit_lanes, magnitude_source, sign_extend};
use super::{
    EmitShape, LaneParts, OpCtx, RegWidth, UnsupportedInst, float as fp, half, helper_calls, moves, soft_helpers,
    splat_constant,
};

/// What a `setp` or `set` compares and combines.
pub(super) struct Comparison {
    pub(super) cmp: CmpOp,
    pub(super) ty: Type,
    pub(super) ftz: bool,
    pub(super) combine: Option<(BoolOp, PredSrc)>,
}

impl Comparison {
    /// The predicate, or its negation, combined as written. `srcs` may hold a third one.
    pub(super) fn emit_comparison(
        &self,
        cx: &mut OpCtx<'_, '_>,
        shape: EmitShape,
        srcs: &[LaneParts],
        results: &[bool],
    ) -> Result<Vec<LaneParts>, UnsupportedInst> {
        let p = self.compare_operands(cx, shape, self.ty, &srcs[0], &srcs[1])?;
        Ok(results
            .iter()
            .map(|&negated| {
                let p = if negated { negate_predicate(cx, shape, &p) } else { p.clone() };
                self.combine_predicates(cx, shape, p, srcs.get(2))
            })
            .collect())
    }

    /// The predicates of the low and the high halves of a pair type.
    pub(super) fn emit_pair_comparison(
        &self,
        cx: &mut OpCtx<'_, '_>,
        shape: EmitShape,
        srcs: &[LaneParts],
    ) -> Result<[LaneParts; 2], UnsupportedInst> {
        let ty = half_type_of_pair(self.ty);
        let halves = [false, true].map(|high| {
            let mut pick = |p: &LaneParts| {
                map_parts(cx, p, |cx, v| if high { ushr_const(cx, v, 16) } else { and_const(cx, v, 0xffff) })
            };
            (pick(&srcs[0]), pick(&srcs[1]))
        });
        let mut out = Vec::with_capacity(2);
        for (a, b) in &halves {
            let p = self.compare_operands(cx, shape, ty, a, b)?;
            out.push(self.combine_predicates(cx, shape, p, srcs.get(2)));
        }
        let high = out.pop().unwrap_or_default();
        Ok([out.pop().unwrap_or_default(), high])
    }

    fn compare_operands(
        &self,
        cx: &mut OpCtx<'_, '_>,
        shape: EmitShape,
        ty: Type,
        a: &LaneParts,
        b: &LaneParts,
    ) -> Result<LaneParts, UnsupportedInst> {
        let width = RegWidth::from_type(ty);
        match ty {
            Type::F32 | Type::F64 => {
                let masks = map_part_pairs(cx, a, b, |cx, x, y| self.compare_floats(cx, x, y));
                Ok(narrow_mask_to_predicate(cx, shape, masks, width))
            }
            Type::F16 | Type::BF16 if !self.ftz => {
                let (a, b) = (half::widen_halves(cx, ty, a), half::widen_halves(cx, ty, b));
                Ok(map_part_pairs(cx, &a, &b, |cx, x, y| self.compare_floats(cx, x, y)))
            }
            _ if ty.is_float() => {
                let helper = soft_helpers::compare_helper(self.cmp, ty, self.ftz)
                    .ok_or_else(|| unsupported_comparison(self.cmp, ty))?;
                Ok(helper_calls::call_helper(cx, shape, helper, &[a.clone(), b.clone()], &[width; 2], RegWidth::Pred))
            }
            _ => {
                let cc = int_cc(self.cmp, ty.is_signed()).ok_or_else(|| unsupported_comparison(self.cmp, ty))?;
                let (mut a, mut b) = (a.clone(), b.clone());
                if ty.is_signed() && ty.bits() < 32 {
                    a = sign_extend(cx, shape, &a, i64::from(ty.bits()));
                    b = sign_extend(cx, shape, &b, i64::from(ty.bits()));
                }
                let masks = map_part_pairs(cx, &a, &b, |cx, x, y| cx.b.ins().icmp(cc, x, y));
                Ok(narrow_mask_to_predicate(cx, shape, masks, width))
            }
        }
    }

    fn compare_floats(&self, cx: &mut OpCtx<'_, '_>, x: Value, y: Value) -> Value {
        // How programs ask for NaN: only that is not at most infinity. Its sign does not matter.
        if self.cmp == CmpOp::Gtu && self.ty == Type::F32 && is_constant_splat(cx, y, 0x7f80_0000) {
            let x = bits_as_float(cx, x);
            let x = magnitude_source(cx, x).unwrap_or(x);
            return cx.b.ins().fcmp(FloatCC::Unordered, x, x);
        }
        let (x, y) = if self.ftz { (fp::flush_subnormals(cx, x), fp::flush_subnormals(cx, y)) } else { (x, y) };
        let (x, y) = (bits_as_float(cx, x), bits_as_float(cx, y));
        float_compare(cx, self.cmp, x, y)
    }

    fn combine_predicates(
        &self,
        cx: &mut OpCtx<'_, '_>,
        shape: EmitShape,
        p: LaneParts,
        other: Option<&LaneParts>,
    ) -> LaneParts {
        let Some((op, source)) = self.combine else { return p };
        let q = match (source, other) {
            (PredSrc::Reg { negated: true, .. }, Some(q)) => negate_predicate(cx, shape, q),
            (PredSrc::Reg { .. }, Some(q)) => q.clone(),
            (PredSrc::Const(c), _) => splat_constant(cx, shape, RegWidth::Pred, u64::from(c)),
            (PredSrc::Reg { .. }, None) => return p,
        };
        map_part_pairs(cx, &p, &q, |cx, x, y| match op {
            BoolOp::And => cx.b.ins().band(x, y),
            BoolOp::Or => cx.b.ins().bor(x, y),
            BoolOp::Xor => cx.b.ins().bxor(x, y),
        })
    }
}

fn unsupported_comparison(cmp: CmpOp, ty: Type) -> UnsupportedInst {
    UnsupportedInst(format!("the comparison {cmp:?} of {ty:?}"))
}

/// Whether a comparison of `ty` can be emitted.
pub(super) fn is_comparison_supported(cmp: CmpOp, ty: Type) -> bool {
    match ty {
        Type::F16x2 | Type::BF16x2 => true,
        _ if ty.is_float() => soft_helpers::compare_helper(cmp, ty, false).is_some(),
        Type::U16x2 | Type::S16x2 | Type::Pred | Type::B128 => false,
        _ => int_cc(cmp, ty.is_signed()).is_some(),
    }
}

/// The type of one half of a pair.
pub(super) fn half_type_of_pair(ty: Type) -> Type {
    match ty {
        Type::F16x2 => Type::F16,
        Type::BF16x2 => Type::BF16,
        other => other,
    }
}

/// `!p`
pub(super) fn negate_predicate(cx: &mut OpCtx<'_, '_>, shape: EmitShape, p: &[Value]) -> LaneParts {
    map_parts(cx, p, |cx, p| match shape {
        EmitShape::Scalar => cx.b.ins().bxor_imm_u(p, 1),
        EmitShape::Chunk => cx.b.ins().bnot(p),
    })
}

/// Comparison results of 64-bit lanes as a predicate; others are one already.
pub(super) fn narrow_mask_to_predicate(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    masks: LaneParts,
    width: RegWidth,
) -> LaneParts {
    if shape == EmitShape::Scalar || width != RegWidth::W64 {
        return masks;
    }
    masks.chunks(2).map(|pair| low_words_of_64_bit_lanes(cx, pair[0], pair[1])).collect()
}

fn int_cc(cmp: CmpOp, signed: bool) -> Option<IntCC> {
    Some(match (cmp, signed) {
        (CmpOp::Eq, _) => IntCC::Equal,
        (CmpOp::Ne, _) => IntCC::NotEqual,
        (CmpOp::Lt, true) => IntCC::SignedLessThan,
        (CmpOp::Le, true) => IntCC::SignedLessThanOrEqual,
        (CmpOp::Gt, true) => IntCC::SignedGreaterThan,
        (CmpOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (CmpOp::Lt | CmpOp::Lo, _) => IntCC::UnsignedLessThan,
        (CmpOp::Le | CmpOp::Ls, _) => IntCC::UnsignedLessThanOrEqual,
        (CmpOp::Gt | CmpOp::Hi, _) => IntCC::UnsignedGreaterThan,
        (CmpOp::Ge | CmpOp::Hs, _) => IntCC::UnsignedGreaterThanOrEqual,
        _ => return None,
    })
}

/// Compares floats; the ordered `ne` and the unordered `equ` have no vector instruction.
fn float_compare(cx: &mut OpCtx<'_, '_>, cmp: CmpOp, x: Value, y: Value) -> Value {
    use CmpOp::*;
    let cc = match cmp {
        Eq => FloatCC::Equal,
        Neu => FloatCC::NotEqual,
        Lt => FloatCC::LessThan,
        Le => FloatCC::LessThanOrEqual,
        Gt => FloatCC::GreaterThan,
        Ge => FloatCC::GreaterThanOrEqual,
        Ltu | Lo => FloatCC::UnorderedOrLessThan,
        Leu | Ls => FloatCC::UnorderedOrLessThanOrEqual,
        Gtu | Hi => FloatCC::UnorderedOrGreaterThan,
        Geu | Hs => FloatCC::UnorderedOrGreaterThanOrEqual,
        Num => FloatCC::Ordered,
        Nan => FloatCC::Unordered,
        Ne => {
            let (differ, ordered) = (cx.b.ins().fcmp(FloatCC::NotEqual, x, y), cx.b.ins().fcmp(FloatCC::Ordered, x, y));
            return cx.b.ins().band(differ, ordered);
        }
        Equ => {
            let (equal, nan) = (cx.b.ins().fcmp(FloatCC::Equal, x, y), cx.b.ins().fcmp(FloatCC::Unordered, x, y));
            return cx.b.ins().bor(equal, nan);
        }
    };
    float_cmp(cx, cc, x, y)
}

/// `set`: the predicate as a number of type `dty`: all ones or 1.0 for true.
pub(super) fn emit_set_result(cx: &mut OpCtx<'_, '_>, shape: EmitShape, dty: Type, p: &LaneParts) -> LaneParts {
    let width = RegWidth::from_type(dty);
    let yes = splat_constant(cx, shape, width, true_bits_of_set(dty));
    let no = splat_constant(cx, shape, width, 0);
    blend_lanes(cx, shape, p, &yes, &no, width)
}

fn true_bits_of_set(dty: Type) -> u64 {
    match dty {
        Type::F32 => 0x3f80_0000,
        Type::F16 | Type::F16x2 => 0x3c00,
        Type::BF16 | Type::BF16x2 => 0x3f80,
        Type::F64 => 0x3ff0_0000_0000_0000,
        _ => u64::MAX,
    }
}

/// `set` of a pair type: both halves of the result.
pub(super) fn emit_set_pair(cx: &mut OpCtx<'_, '_>, shape: EmitShape, dty: Type, halves: &[LaneParts; 2]) -> LaneParts {
    let element = match dty {
        Type::F16x2 => Type::F16,
        Type::BF16x2 => Type::BF16,
        _ => Type::U16,
    };
    let values = [0, 1].map(|i: usize| emit_set_result(cx, shape, element, &halves[i]));
    moves::pack_elements(cx, shape, Type::B32, &values)
}
