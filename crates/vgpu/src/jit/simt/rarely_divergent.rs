//! Registers whose lanes hold one value in nearly every warp, though nothing forces them to: the
//! outcome of comparing thread indices with a bound, the number of iterations of a grid-stride loop, and
//! what is computed from them.
//!
//! A branch on such a register is treated as if it were uniform when registers get their classes
//! (see [`super::classes`]): the rare warp that does diverge continues in masked code. So the
//! addresses of unrolled grid-stride loops stay affine, although the number of their first iterations differs
//! between the lanes of one warp of the grid.

use super::body::{Body, Stmt, stmt_defs};
use super::classes::{Class, Classes};
use super::flow::BitSet;
use super::pure;
use rtcg_ptx::ast::*;

/// A quotient by at least this many threads changes rarely within a warp.
const MIN_RARE_DIVISOR: i64 = 32;

/// The varying registers whose lanes rarely disagree; never those of `spread`, which were written
/// by some lanes only.
pub(crate) fn registers(body: &Body<'_>, classes: &Classes, spread: &BitSet) -> BitSet {
    let mut set = BitSet::new(body.widths.len());
    for r in (0..body.widths.len()).filter(|&r| !spread.contains(r)) {
        set.insert(r);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for st in body.blocks.iter().flat_map(|b| &b.stmts) {
            if !rarely_differs(classes, &set, st) {
                stmt_defs(st, body.carry(), &mut |r| {
                    changed |= set.contains(r.index());
                    set.remove(r.index());
                });
            }
        }
    }
    set
}

/// Whether the results of `st` belong to the set, as far as is known.
fn rarely_differs(classes: &Classes, set: &BitSet, st: &Stmt<'_>) -> bool {
    let level = |r: Reg| match classes.get(r) {
        Class::Uniform => true,
        Class::Varying | Class::Chunked(0) => set.contains(r.index()),
        _ => false,
    };
    if !pure::is_pure(&st.inst) || st.guard.is_some_and(|g| !level(g.reg)) {
        return false;
    }
    let steps = rarely_steps(classes, &st.inst);
    pure::sources(&st.inst).iter().all(|(o, _)| match o {
        Operand::Reg(r) => level(*r) || (steps && classes.get(*r).is_scalar()),
        other => classes.operand(*other) == Class::Uniform || (steps && classes.operand(*other).is_scalar()),
    }) && !pure::reads_carry(&st.inst)
}

/// Whether the result changes rarely while one operand goes up steadily from lane to lane.
fn rarely_steps(classes: &Classes, inst: &Inst) -> bool {
    let uniform = |o: Operand| classes.operand(o) == Class::Uniform;
    match inst {
        Inst::Setp { cmp, ty, a, b, .. } => {
            !ty.is_float() && !matches!(cmp, CmpOp::Eq | CmpOp::Ne) && (uniform(*a) || uniform(*b))
        }
        Inst::Binary { op: BinaryOp::Div, ty, b, .. } if !ty.is_float() && uniform(*b) => {
            classes.constant(*b).is_none_or(|n| n >= MIN_RARE_DIVISOR)
        }
        Inst::Binary { op: BinaryOp::Shr, b, .. } => classes.constant(*b).is_some_and(|n| n >= 5),
        _ => false,
    }
}
