//! Registers whose lanes hold one value in nearly every warp, though nothing forces them to: the
//! outcome of comparing thread indices with a bound, the number of iterations of a grid-stride loop, and
//! what is computed from them.
//!
//! A branch on such a register is treated as if it were uniform when registers get their classes
//! (see [`super::lane_classes`]): the rare warp that does diverge continues in masked code. So the
//! addresses of unrolled grid-stride loops stay affine, although the number of their first iterations differs
//! between the lanes of one warp of the grid.

use super::body::{FunctionBody, Stmt, stmt_defs};
use super::control_flow::BitSet;
use super::lane_classes::{LaneClass, LaneClasses};
use super::pure_instructions;
use rtcg_ptx::ast::*;

/// A quotient by at least this many threads changes rarely within a warp.
const MIN_RARE_DIVISOR: i64 = 32;

/// The varying registers whose lanes rarely disagree; never those of `spread`, which were written
/// by some lanes only.
pub(crate) fn rarely_divergent_registers(body: &FunctionBody<'_>, classes: &LaneClasses, spread: &BitSet) -> BitSet {
    let mut set = BitSet::default();
    for r in (0..body.widths.len()).filter(|&r| !spread.contains(r)) {
        set.insert_bit(r);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for st in body.blocks.iter().flat_map(|b| &b.stmts) {
            if !result_rarely_differs(classes, &set, st) {
                stmt_defs(st, body.carry_flag(), &mut |r| {
                    changed |= set.contains(r.index());
                    set.remove_bit(r.index());
                });
            }
        }
    }
    set
}

/// Whether the results of `st` belong to the set, as far as is known.
fn result_rarely_differs(classes: &LaneClasses, set: &BitSet, st: &Stmt<'_>) -> bool {
    let level = |r: Reg| match classes.lane_class_of(r) {
        LaneClass::Uniform => true,
        LaneClass::Varying | LaneClass::Chunked(0) => set.contains(r.index()),
        _ => false,
    };
    if !pure_instructions::is_pure(&st.inst) || st.guard.is_some_and(|g| !level(g.reg)) {
        return false;
    }
    let steps = result_rarely_changes(classes, &st.inst);
    pure_instructions::source_operands(&st.inst).iter().all(|(o, _)| match o {
        Operand::Reg(r) => level(*r) || (steps && classes.lane_class_of(*r).is_scalar()),
        other => {
            classes.operand_class(*other) == LaneClass::Uniform || (steps && classes.operand_class(*other).is_scalar())
        }
    }) && !pure_instructions::reads_carry(&st.inst)
}

/// Whether the result changes rarely while one operand goes up steadily from lane to lane.
fn result_rarely_changes(classes: &LaneClasses, inst: &Inst) -> bool {
    let uniform = |o: Operand| classes.operand_class(o) == LaneClass::Uniform;
    match inst {
        Inst::Setp { cmp, ty, a, b, .. } => {
            !ty.is_float() && !matches!(cmp, CmpOp::Eq | CmpOp::Ne) && (uniform(*a) || uniform(*b))
        }
        Inst::Binary { op: BinaryOp::Div, ty, b, .. } if !ty.is_float() && uniform(*b) => {
            classes.constant_value(*b).is_none_or(|n| n >= MIN_RARE_DIVISOR)
        }
        Inst::Binary { op: BinaryOp::Shr, b, .. } => classes.constant_value(*b).is_some_and(|n| n >= 5),
        _ => false,
    }
}
