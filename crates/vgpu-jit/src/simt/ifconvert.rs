//! Turns small branches into guarded instructions, so that they never diverge.
//!
//! Assumes classes for the unconverted body: only branches that may diverge are worth it. Leaves
//! a body whose semantics are the same for every lane; blocks are renumbered.

use super::body::{Block, FunctionBody, Stmt, Terminator};
use super::control_flow::BitSet;
use super::lane_classes::LaneClasses;
use super::pure_instructions;
use super::register_width::RegWidth;
use rtcg_ptx::ast::*;
use std::borrow::Cow;

/// What a side of a branch may cost to be executed by all lanes always.
const MAX_SIDE_COST: u32 = 30;
/// Statements that are worth a guarded copy, for lanes that disagree.
const MAX_COPIED_STATEMENTS: usize = 200;

/// Rewrites `body`; says whether anything changed.
pub(crate) fn if_convert(body: &mut FunctionBody<'_>, classes: &LaneClasses, live: &[BitSet]) -> bool {
    let mut diverging: Vec<bool> = body.blocks.iter().map(|b| classes.may_diverge(&b.term)).collect();
    let mut live = live.to_vec();
    let mut any = false;
    loop {
        let mut changed = false;
        for b in (0..body.blocks.len()).rev() {
            if diverging[b] && convert_branch(body, b, &live) {
                diverging[b] = false;
                changed = true;
            }
            if changed && let Some(j) = merge_with_successor(body, b) {
                diverging[b] = diverging[j];
                diverging[j] = false;
            }
        }
        if !changed {
            break;
        }
        any = true;
        recompute_predecessors(body);
        live = super::control_flow::live_in(body);
    }
    any |= super::predicated_copies::predicate_branches(body, classes, &diverging, &live);
    if any {
        body.renumber_blocks();
    }
    any
}

/// Replaces the branch at the end of `b` if its sides are small and meet again at once.
fn convert_branch(body: &mut FunctionBody<'_>, b: usize, live: &[BitSet]) -> bool {
    let Terminator::Branch { guard, taken, fall } = body.blocks[b].term else { return false };
    let only = |x: usize| body.blocks[x].preds == [b] && x != b;
    let goes = |x: usize| match body.blocks[x].term {
        Terminator::Jump(j) if j != x => Some(j),
        _ => None,
    };
    let (then, other, join) = if only(taken) && goes(taken) == Some(fall) {
        (Some(taken), None, fall)
    } else if only(fall) && goes(fall) == Some(taken) {
        (None, Some(fall), taken)
    } else {
        match (goes(taken), goes(fall)) {
            (Some(x), Some(y)) if x == y && only(taken) && only(fall) && taken != fall => (Some(taken), Some(fall), x),
            _ => return false,
        }
    };
    let sides: Vec<(usize, bool)> = then.map(|t| (t, false)).into_iter().chain(other.map(|o| (o, true))).collect();
    if !sides.iter().all(|&(s, _)| is_small_side(&body.blocks[s])) {
        return false;
    }
    let mut keep = live[join].clone();
    for &(s, _) in &sides {
        keep.union_with(&live[s]);
    }
    let guard = stable_guard(body, b, guard, &sides);
    for (s, negated) in sides {
        let stmts = std::mem::take(&mut body.blocks[s].stmts);
        body.blocks[s].term = Terminator::Unreachable;
        let g = Guard { reg: guard.reg, negated: guard.negated ^ negated };
        for st in stmts {
            append_guarded_statement(body, b, st, g, &keep);
        }
    }
    body.blocks[b].term = Terminator::Jump(join);
    true
}

fn is_small_side(block: &Block<'_>) -> bool {
    let mut cost = 0;
    for st in &block.stmts {
        match &*st.inst {
            Inst::Cvta { .. } => cost += 1,
            inst if pure_instructions::is_pure(inst) && !super::segments::is_ordering_point(inst) => {
                cost += side_cost(inst)
            }
            _ => return false,
        }
        // A guard on the carry flag would need one more blend than is worth it.
        if pure_instructions::reads_carry(&st.inst) || pure_instructions::writes_carry(&st.inst) {
            return false;
        }
    }
    cost <= MAX_SIDE_COST
}

/// Whether the statements of a block can be executed under a guard, and are not too many.
pub(crate) fn can_guard_block(block: &Block<'_>) -> bool {
    block.stmts.len() <= MAX_COPIED_STATEMENTS
        && block.stmts.iter().all(|st| match &*st.inst {
            Inst::Ld { sem: MemorySemantics::Weak, .. }
            | Inst::St { sem: MemorySemantics::Weak, .. }
            | Inst::Atom { .. }
            | Inst::Texture(_)
            | Inst::Cvta { .. } => true,
            inst => {
                let carry = pure_instructions::reads_carry(inst) || pure_instructions::writes_carry(inst);
                pure_instructions::is_pure(inst) && !carry && !super::segments::is_ordering_point(inst)
            }
        })
}

fn side_cost(inst: &Inst) -> u32 {
    match inst {
        Inst::Binary { op: BinaryOp::Div | BinaryOp::Rem, ty, .. } if !ty.is_float() => 40,
        Inst::Binary { op: BinaryOp::Div, .. } => 20,
        Inst::Unary {
            op:
                UnaryOp::Sin
                | UnaryOp::Cos
                | UnaryOp::Tanh
                | UnaryOp::Sqrt
                | UnaryOp::Lg2
                | UnaryOp::Ex2
                | UnaryOp::Rcp
                | UnaryOp::Rsqrt,
            ..
        } => 20,
        Inst::Binary { ty, .. } | Inst::Ternary { ty, .. } if ty.bits() == 64 && !ty.is_float() => 3,
        _ => 1,
    }
}

/// The guard as a register that the sides do not write.
pub(crate) fn stable_guard(body: &mut FunctionBody<'_>, b: usize, guard: Guard, sides: &[(usize, bool)]) -> Guard {
    let mut written = false;
    for &(s, _) in sides {
        for st in &body.blocks[s].stmts {
            super::operands::for_each_def(&st.inst, &mut |r| written |= r == guard.reg);
        }
    }
    if !written {
        return guard;
    }
    let copy = new_predicate(body);
    let index = body.blocks[b].term_index;
    let inst = Inst::Mov { ty: Type::Pred, dst: copy, src: Operand::Reg(guard.reg) };
    body.blocks[b].stmts.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Owned(inst), index });
    Guard { reg: copy, negated: guard.negated }
}

/// A new predicate register; the carry flag stays the last one.
pub(crate) fn new_predicate(body: &mut FunctionBody<'_>) -> Reg {
    body.add_register(RegWidth::Pred)
}

/// Appends a statement of a side: unguarded when its results are used nowhere else.
pub(crate) fn append_guarded_statement<'m>(
    body: &mut FunctionBody<'m>,
    b: usize,
    mut st: Stmt<'m>,
    guard: Guard,
    keep: &BitSet,
) {
    let effect = !pure_instructions::is_pure(&st.inst) && !matches!(&*st.inst, Inst::Cvta { .. });
    let mut visible = false;
    super::operands::for_each_def(&st.inst, &mut |r| visible |= keep.contains(r.index()));
    if let Some(own) = st.guard {
        let both = new_predicate(body);
        let a = positive_guard(body, b, guard, st.index);
        let c = positive_guard(body, b, own, st.index);
        let inst = Inst::Binary {
            op: BinaryOp::And,
            ty: Type::Pred,
            mods: FpMods::default(),
            dst: both,
            a: Operand::Reg(a),
            b: Operand::Reg(c),
        };
        body.blocks[b].stmts.push(Stmt {
            guard: None,
            merges_old_values: true,
            inst: Cow::Owned(inst),
            index: st.index,
        });
        st.guard = Some(Guard { reg: both, negated: false });
    } else if visible || effect {
        st.guard = Some(guard);
        st.merges_old_values = visible;
    }
    body.blocks[b].stmts.push(st);
}

/// A register that is true when the guard holds.
pub(crate) fn positive_guard(body: &mut FunctionBody<'_>, b: usize, guard: Guard, index: u32) -> Reg {
    if !guard.negated {
        return guard.reg;
    }
    let dst = new_predicate(body);
    let inst =
        Inst::Unary { op: UnaryOp::Not, ty: Type::Pred, mods: FpMods::default(), dst, a: Operand::Reg(guard.reg) };
    body.blocks[b].stmts.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Owned(inst), index });
    dst
}

/// Joins `b` with its successor when that has no other predecessor; returns the block that was removed.
fn merge_with_successor(body: &mut FunctionBody<'_>, b: usize) -> Option<usize> {
    let Terminator::Jump(j) = body.blocks[b].term else { return None };
    let preds = body.blocks.iter().filter(|x| x.term.successors().contains(&j)).count();
    let ends = body.blocks[b]
        .stmts
        .last()
        .is_some_and(|s| super::body::block_boundary_kind(&s.inst) != super::body::BlockBoundaryKind::Simple);
    let starts = body.blocks[j].stmts.first().is_some_and(|s| must_start_block(&s.inst));
    if j == 0 || j == b || preds != 1 || ends || starts {
        return None;
    }
    let stmts = std::mem::take(&mut body.blocks[j].stmts);
    let term = std::mem::replace(&mut body.blocks[j].term, Terminator::Unreachable);
    body.blocks[b].term_index = body.blocks[j].term_index;
    body.blocks[b].stmts.extend(stmts);
    body.blocks[b].term = term;
    Some(j)
}

/// Warp operations and results of barriers stand first in a block.
fn must_start_block(inst: &Inst) -> bool {
    super::body::block_boundary_kind(inst) == super::body::BlockBoundaryKind::WarpOp
        || super::barrier_results::reads_barrier_result(inst)
}

pub(crate) fn recompute_predecessors(body: &mut FunctionBody<'_>) {
    let mut reached = BitSet::default();
    let mut work = vec![0];
    while let Some(x) = work.pop() {
        if reached.insert_bit(x) {
            work.extend(body.blocks[x].term.successors());
        }
    }
    body.blocks.iter_mut().for_each(|x| x.preds.clear());
    for x in reached.iter_bits() {
        for s in body.blocks[x].term.successors() {
            if !body.blocks[s].preds.contains(&x) {
                body.blocks[s].preds.push(x);
            }
        }
    }
}
