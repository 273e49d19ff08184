//! Finds loops that wait for another thread: their back edges let others run.
//!
//! A loop waits when a branch out of it depends on what a volatile or synchronising load or an
//! atomic inside it returned.

use super::body::{Body, Term, stmt_defs, stmt_uses};
use super::flow;
use rtcg_ptx::ast::*;

/// The back edges of waiting loops.
pub(crate) fn waiting_back_edges(body: &Body<'_>) -> Vec<(usize, usize)> {
    let watches = |i: &Inst| match i {
        Inst::Ld { sem, space, .. } => {
            *sem != Sem::Weak && !matches!(space, Space::Local | Space::Param | Space::Const)
        }
        Inst::Atom { dst, .. } => dst.is_some(),
        Inst::AtomVector { dsts, .. } => dsts.is_some(),
        Inst::Mbarrier { op, .. } => matches!(op, MbarrierOp::Wait { .. }),
        _ => false,
    };
    if !body.blocks.iter().flat_map(|b| &b.stmts).any(|s| watches(&s.inst)) {
        return vec![];
    }
    let loops = flow::loop_exits_first(body, &flow::dominators(body)).loops;
    let mut edges = vec![];
    for (header, blocks) in loops {
        let tainted = taint(body, &blocks, &watches);
        let waits = blocks.iter().any(|b| {
            let term = &body.blocks[b].term;
            let leaves = term.successors().iter().any(|&s| !blocks.contains(s));
            leaves && matches!(term, Term::Branch { guard, .. } | Term::Split { guard, .. } | Term::Any { guard, .. } if tainted.contains(guard.reg.index()))
        });
        if waits {
            edges.extend(
                blocks.iter().filter(|&b| body.blocks[b].term.successors().contains(&header)).map(|b| (b, header)),
            );
        }
    }
    edges
}

/// Registers that depend on a watched statement of the loop.
fn taint(body: &Body<'_>, blocks: &flow::BitSet, watches: &dyn Fn(&Inst) -> bool) -> flow::BitSet {
    let carry = body.carry();
    let mut set = flow::BitSet::new(body.widths.len());
    loop {
        let mut changed = false;
        for st in blocks.iter().flat_map(|b| &body.blocks[b].stmts) {
            let mut hit = watches(&st.inst);
            stmt_uses(st, carry, &mut |r| hit |= set.contains(r.index()));
            if hit {
                stmt_defs(st, carry, &mut |r| changed |= set.insert(r.index()));
            }
        }
        if !changed {
            return set;
        }
    }
}
