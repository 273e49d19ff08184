//! Checks that the strides of converged code need.
//!
//! Where an affine register is widened, the lanes' 32-bit values must not wrap around between lane 0
//! and lane 31, or the 64-bit values have no constant stride. Where a quotient is rounded toward zero
//! (see [`super::signed_division`]), the dividend must not be negative.
//!
//! A check is made where a block begins, before anything of it has happened; when it fails,
//! the whole warp goes on in masked code from the beginning of that block.

use super::body::Stmt;
use super::lane_classes::{ExecMode, LaneClass, LaneClasses};
use rtcg_ptx::ast::*;

/// What converged code checks of an operand and its class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StrideCheck {
    /// No wrap around between the lanes, whose values are signed or not.
    NoWrap { operand: Operand, class: LaneClass, signed: bool },
    /// No lane is negative; all have one sign.
    NonNegative { operand: Operand, class: LaneClass, bits: u32 },
}

/// What converged code checks for `st`.
pub(crate) fn stride_check(classes: &LaneClasses, st: &Stmt<'_>) -> Option<StrideCheck> {
    match &*st.inst {
        Inst::Binary { op: BinaryOp::Add, ty, dst, .. } => {
            let operand = Operand::Reg(classes.biased_dividend(*dst)?);
            let class = classes.operand_class(operand);
            has_stride(classes.exec_mode(st).result_lane_class()).then_some(StrideCheck::NonNegative {
                operand,
                class,
                bits: ty.bits(),
            })
        }
        _ => {
            let (operand, signed) = widened_operand(classes, &st.inst)?;
            let class = classes.operand_class(operand);
            let scalar = classes.exec_mode(st) != ExecMode::Lanes;
            (scalar && has_stride(class) && !classes.lanes_never_wrap(operand, 32)).then_some(StrideCheck::NoWrap {
                operand,
                class,
                signed,
            })
        }
    }
}

fn has_stride(class: LaneClass) -> bool {
    matches!(class, LaneClass::Affine(_) | LaneClass::Chunked(1.. | ..=-1))
}

/// The operand with a stride that is widened, and whether it is read as signed.
fn widened_operand(classes: &LaneClasses, inst: &Inst) -> Option<(Operand, bool)> {
    match inst {
        Inst::Binary { op: BinaryOp::MulWide, ty, a, b, .. }
        | Inst::Ternary { op: TernaryOp::MadWide, ty, a, b, .. } => {
            let affine = [a, b].into_iter().find(|o| has_stride(classes.operand_class(**o)))?;
            Some((*affine, ty.is_signed()))
        }
        Inst::Cvt { dty, sty, a, .. } if dty.bits() == 64 && sty.bits() == 32 => Some((*a, sty.is_signed())),
        _ => None,
    }
}

/// Whether converged code checks something for `st`.
pub(crate) fn needs_stride_check(classes: &LaneClasses, st: &Stmt<'_>) -> bool {
    stride_check(classes, st).is_some()
}
