//! Branches on a comparison of an affine value with a bound: lane 0 and lane 31 decide for all,
//! unless they disagree or the values wrap around between them.

use super::body::{FunctionBody, Terminator, stmt_defs, stmt_uses};
use super::control_flow::BitSet;
use super::lane_classes::{LaneClass, LaneClasses};
use rtcg_ptx::ast::*;

/// Strides beyond this could wrap around more than once.
const MAX_BRANCH_STRIDE: i64 = 1 << 20;

/// The comparison that a block's branch depends on, with the affine operand on the left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchEndpoints {
    /// Its number among the statements of the block.
    pub(crate) at: usize,
    pub(crate) affine: Operand,
    pub(crate) stride: i64,
    pub(crate) bound: Operand,
    pub(crate) cmp: CmpOp,
    pub(crate) ty: Type,
    /// Only lanes that disagree need the predicate: it is made where they part.
    pub(crate) deferred: bool,
}

/// The comparison at the end of block `b`, if it is of that kind.
pub(crate) fn find_branch_comparison(
    body: &FunctionBody<'_>,
    classes: &LaneClasses,
    live: &[BitSet],
    b: usize,
) -> Option<BranchEndpoints> {
    let block = &body.blocks[b];
    let (guard, agreed) = match block.term {
        Terminator::Branch { guard, taken, fall } => (guard, [taken, fall]),
        Terminator::PredicatedSplit { guard, all, none, .. } => (guard, [all, none]),
        _ => return None,
    };
    let carry = body.carry_flag();
    let writes = |st: &super::body::Stmt<'_>, o: Operand| {
        let mut found = false;
        stmt_defs(st, carry, &mut |r| found |= o == Operand::Reg(r));
        found
    };
    let at = block.stmts.iter().rposition(|st| writes(st, Operand::Reg(guard.reg)))?;
    let st = &block.stmts[at];
    let Inst::Setp { cmp, ty, combine: None, dst: Some(_), dst2: None, a, b: c, .. } = *st.inst else { return None };
    let integer = !ty.is_float() && matches!(ty.bits(), 32 | 64) && !matches!(ty, Type::U16x2 | Type::S16x2);
    if !integer
        || st.guard.is_some()
        || !classes.operand_matches_type_width(a, ty)
        || !classes.operand_matches_type_width(c, ty)
    {
        return None;
    }
    let (affine, stride, bound, cmp) = match (classes.operand_class(a), classes.operand_class(c)) {
        (LaneClass::Affine(s), LaneClass::Uniform) => (a, s, c, cmp),
        (LaneClass::Uniform, LaneClass::Affine(s)) => (c, s, a, swap_comparison_operands(cmp)),
        _ => return None,
    };
    let rest = &block.stmts[at + 1..];
    let kept = rest.iter().all(|st| !writes(st, affine) && !writes(st, bound));
    if !kept || stride == 0 || stride.abs() > MAX_BRANCH_STRIDE {
        return None;
    }
    let mut used = agreed.iter().any(|&s| live[s].contains(guard.reg.index()));
    rest.iter().for_each(|st| stmt_uses(st, carry, &mut |r| used |= r == guard.reg));
    Some(BranchEndpoints { at, affine, stride, bound, cmp, ty, deferred: !used })
}

/// The comparison with its operands exchanged.
fn swap_comparison_operands(cmp: CmpOp) -> CmpOp {
    match cmp {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        CmpOp::Lo => CmpOp::Hi,
        CmpOp::Ls => CmpOp::Hs,
        CmpOp::Hi => CmpOp::Lo,
        CmpOp::Hs => CmpOp::Ls,
        other => other,
    }
}
