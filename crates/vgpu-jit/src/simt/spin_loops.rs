//! Finds loops that wait for another thread: their back edges let others run.
//!
//! A loop waits when a branch out of it depends on what a volatile or synchronising load or an
//! atomic inside it returned, or a call of a function that does such a thing.

use super::body::{FunctionBody, Terminator, stmt_defs, stmt_uses};
use super::control_flow;
use rtcg_ptx::ast::*;
use std::collections::HashSet;

/// Whether what the instruction gives depends on other threads; a call aside.
fn is_polling_inst(i: &Inst) -> bool {
    match i {
        Inst::Ld { sem, space, .. } => {
            *sem != MemorySemantics::Weak && !matches!(space, Space::Local | Space::Param | Space::Const)
        }
        Inst::Atom { dst, .. } => dst.is_some(),
        Inst::AtomVector { dsts, .. } => dsts.is_some(),
        Inst::Mbarrier { op, .. } => matches!(op, MbarrierOp::Wait { .. }),
        _ => false,
    }
}

/// Those of `functions` that watch other threads, themselves or in what they call.
pub(crate) fn polling_functions(module: &Module, functions: &[FuncId]) -> HashSet<FuncId> {
    let mut set = HashSet::new();
    loop {
        let more: Vec<FuncId> = (functions.iter().copied())
            .filter(|f| {
                !set.contains(f) && module.functions[f.index()].body.iter().any(|st| polls_or_calls(&st.inst, &set))
            })
            .collect();
        if more.is_empty() {
            return set;
        }
        set.extend(more);
    }
}

/// A call through a pointer may go to any function.
fn polls_or_calls(i: &Inst, watching: &HashSet<FuncId>) -> bool {
    match i {
        Inst::Call { callee: Callee::Direct(f), .. } => watching.contains(f),
        Inst::Call { callee: Callee::Indirect { .. }, .. } => !watching.is_empty(),
        _ => is_polling_inst(i),
    }
}

/// The back edges of waiting loops, where the functions `watching` watch other threads.
pub(crate) fn spin_back_edges(body: &FunctionBody<'_>, watching: &HashSet<FuncId>) -> Vec<(usize, usize)> {
    let polls = |i: &Inst| polls_or_calls(i, watching);
    if !body.blocks.iter().flat_map(|b| &b.stmts).any(|s| polls(&s.inst)) {
        return vec![];
    }
    let loops = control_flow::find_natural_loops(body, &control_flow::immediate_dominators(body)).loops;
    let mut edges = vec![];
    for (header, blocks) in loops {
        let tainted = tainted_registers(body, &blocks, &polls);
        let waits = blocks.iter_bits().any(|b| {
            let term = &body.blocks[b].term;
            let leaves = term.successors().iter().any(|&s| !blocks.contains(s));
            leaves && matches!(term, Terminator::Branch { guard, .. } | Terminator::PredicatedSplit { guard, .. } | Terminator::UniformAny { guard, .. } if tainted.contains(guard.reg.index()))
        });
        if waits {
            edges.extend(
                blocks.iter_bits().filter(|&b| body.blocks[b].term.successors().contains(&header)).map(|b| (b, header)),
            );
        }
    }
    edges
}

/// Registers that depend on a watched statement of the loop.
fn tainted_registers(
    body: &FunctionBody<'_>,
    blocks: &control_flow::BitSet,
    polls: &dyn Fn(&Inst) -> bool,
) -> control_flow::BitSet {
    let carry = body.carry_flag();
    let mut set = control_flow::BitSet::default();
    // What a call gives comes by way of a record.
    let calls = |st: &&super::body::Stmt<'_>| matches!(&*st.inst, Inst::Call { .. }) && polls(&st.inst);
    let called = blocks.iter_bits().flat_map(|b| &body.blocks[b].stmts).any(|st| calls(&st));
    let polls = |i: &Inst| polls(i) || called && reads_call_record(i);
    loop {
        let mut changed = false;
        for st in blocks.iter_bits().flat_map(|b| &body.blocks[b].stmts) {
            let mut hit = polls(&st.inst);
            stmt_uses(st, carry, &mut |r| hit |= set.contains(r.index()));
            if hit {
                stmt_defs(st, carry, &mut |r| changed |= set.insert_bit(r.index()));
            }
        }
        if !changed {
            return set;
        }
    }
}

/// Whether it reads an argument or a result of a call.
fn reads_call_record(i: &Inst) -> bool {
    matches!(i, Inst::Ld { space: Space::Param, addr: Addr { base: AddrBase::Symbol(Symbol::Local(_)), .. }, .. })
}
