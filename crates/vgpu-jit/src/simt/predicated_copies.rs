//! Predicated copies for lanes that disagree: where a branch with one or two simple sides, or the exits of a
//! simple loop, diverge, converged code continues in a copy whose statements are predicated, instead of
//! entering masked code. Lanes that agree run the original.
//!
//! Assumes that small branches have been converted already.

use super::body::{Block, FunctionBody, Stmt, Terminator};
use super::control_flow::BitSet;
use super::ifconvert::{append_guarded_statement, can_guard_block, new_predicate, positive_guard, stable_guard};
use super::lane_classes::LaneClasses;
use rtcg_ptx::ast::*;
use std::borrow::Cow;

/// Rewrites the branches that `diverging` names; says whether anything changed.
pub(crate) fn predicate_branches(
    body: &mut FunctionBody<'_>,
    classes: &LaneClasses,
    diverging: &[bool],
    live: &[BitSet],
) -> bool {
    let mut changed = false;
    let mut taken = vec![false; body.blocks.len()];
    for head in 0..diverging.len() {
        if let Some(chain) = find_simple_loop(body, head, diverging)
            && !chain.blocks.iter().any(|&b| taken[b])
            && !chain.loses_uniformity(body, classes, diverging, live)
        {
            chain.blocks.iter().for_each(|&b| taken[b] = true);
            predicate_loop(body, &chain, live);
            changed = true;
        }
    }
    for b in 0..diverging.len() {
        if diverging[b] && !taken[b] && predicate_branch_sides(body, classes, b, live) {
            changed = true;
        }
    }
    changed
}

/// A loop of blocks one after the other that all leave to one place, if they leave.
struct LoopChain {
    blocks: Vec<usize>,
    exit: usize,
}

impl LoopChain {
    /// Whether a copy is not worth it: its lanes rarely part, and a register that is computed once
    /// for all lanes would be written for some lanes only.
    fn loses_uniformity(
        &self,
        body: &FunctionBody<'_>,
        classes: &LaneClasses,
        diverging: &[bool],
        live: &[BitSet],
    ) -> bool {
        let parting = |b: &&usize| diverging.get(**b) == Some(&true);
        let seldom = self.blocks.iter().filter(parting).all(|&b| classes.rarely_diverges(&body.blocks[b].term));
        seldom && self.blocks.iter().any(|&b| writes_scalars_under_guard(&body.blocks[b], classes, &live[self.exit]))
    }
}

/// Whether a guarded copy of `block` would write registers of one value for all lanes under a guard.
fn writes_scalars_under_guard(block: &Block<'_>, classes: &LaneClasses, keep: &BitSet) -> bool {
    block.stmts.iter().any(|st| {
        let effect = st.guard.is_some()
            || !super::pure_instructions::is_pure(&st.inst) && !matches!(&*st.inst, Inst::Cvta { .. });
        let mut found = false;
        super::operands::for_each_def(&st.inst, &mut |r| {
            found |= (effect || keep.contains(r.index())) && classes.is_known_scalar(r);
        });
        found
    })
}

/// The chain that begins at `head`, when its lanes may part.
fn find_simple_loop(body: &FunctionBody<'_>, head: usize, diverging: &[bool]) -> Option<LoopChain> {
    let mut chain = LoopChain { blocks: vec![], exit: usize::MAX };
    let mut at = head;
    let mut parts = false;
    loop {
        let block = &body.blocks[at];
        if chain.blocks.len() >= 8 || !can_guard_block(block) {
            return None;
        }
        if at != head && block.preds.len() != 1 {
            return None;
        }
        chain.blocks.push(at);
        let next = match block.term {
            Terminator::Jump(n) => n,
            Terminator::Branch { taken, fall, .. } => {
                parts |= *diverging.get(at)?;
                let (inside, outside) = loop_continuation(body, head, taken, fall, chain.exit)?;
                if chain.exit != usize::MAX && chain.exit != outside {
                    return None;
                }
                chain.exit = outside;
                inside
            }
            _ => return None,
        };
        if next == head {
            // Lanes that have left a loop that waits may hold what the others wait for, so they
            // must not wait at its end: masked code lets them take turns.
            if super::spin_loops::spin_back_edges(body, &Default::default()).contains(&(at, head)) {
                return None;
            }
            return (parts && chain.exit != usize::MAX).then_some(chain);
        }
        if chain.blocks.contains(&next) {
            return None;
        }
        at = next;
    }
}

/// Which successor stays in the loop and which leaves it.
fn loop_continuation(
    body: &FunctionBody<'_>,
    head: usize,
    taken: usize,
    fall: usize,
    exit: usize,
) -> Option<(usize, usize)> {
    if taken == head || fall == exit {
        return Some((taken, fall));
    }
    if fall == head || taken == exit {
        return Some((fall, taken));
    }
    // The exit is not known yet: it is the side from which the loop cannot be gone on with.
    let returns = |from: usize| {
        let mut x = from;
        for _ in 0..8 {
            if x == head {
                return true;
            }
            if body.blocks[x].preds.len() != 1 {
                return false;
            }
            match body.blocks[x].term {
                Terminator::Jump(n) => x = n,
                Terminator::Branch { taken, fall, .. } => {
                    if taken == head || fall == head {
                        return true;
                    }
                    x = fall;
                }
                _ => return false,
            }
        }
        false
    };
    match (returns(taken), returns(fall)) {
        (true, false) => Some((taken, fall)),
        (false, true) => Some((fall, taken)),
        _ => None,
    }
}

fn empty_block(index: u32) -> Block<'static> {
    Block { stmts: vec![], term: Terminator::Unreachable, term_index: index, preds: vec![] }
}

/// The guard under which a block of the chain goes on inside, and its successor there.
fn continue_guard(term: &Terminator, exit: usize) -> Option<(Guard, usize)> {
    match term {
        Terminator::Branch { guard, taken, fall } if *fall == exit => Some((*guard, *taken)),
        Terminator::Branch { guard, taken, fall } if *taken == exit => {
            Some((Guard { reg: guard.reg, negated: !guard.negated }, *fall))
        }
        _ => None,
    }
}

/// Copies the loop under a mask of the lanes that are still in it. Only what is live at the exit
/// must be kept for lanes that have left; they never come back.
fn predicate_loop(body: &mut FunctionBody<'_>, chain: &LoopChain, live: &[BitSet]) {
    let mask = new_predicate(body);
    let in_loop = Guard { reg: mask, negated: false };
    let first = body.blocks.len();
    let copy_of = |i: usize| first + i % chain.blocks.len();
    for &b in &chain.blocks {
        let index = body.blocks[b].term_index;
        body.blocks.push(empty_block(index));
    }
    for (i, &b) in chain.blocks.iter().enumerate() {
        let copy = copy_of(i);
        let (stmts, index) = (body.blocks[b].stmts.clone(), body.blocks[b].term_index);
        for st in stmts {
            append_guarded_statement(body, copy, st, in_loop, &live[chain.exit]);
        }
        let Some((guard, next)) = continue_guard(&body.blocks[b].term, chain.exit) else {
            body.blocks[copy].term = Terminator::Jump(copy_of(i + 1));
            continue;
        };
        let stays = positive_guard(body, copy, guard, index);
        let both = Inst::Binary {
            op: BinaryOp::And,
            ty: Type::Pred,
            mods: FpMods::default(),
            dst: mask,
            a: Operand::Reg(mask),
            b: Operand::Reg(stays),
        };
        body.blocks[copy].stmts.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Owned(both), index });
        body.blocks[copy].term = Terminator::UniformAny { guard: in_loop, taken: copy_of(i + 1), fall: chain.exit };
        // Lanes that part in the original enter the copy after this block.
        let entry = body.blocks.len();
        body.blocks.push(empty_block(index));
        let stays = positive_guard(body, entry, guard, index);
        let set = Inst::Mov { ty: Type::Pred, dst: mask, src: Operand::Reg(stays) };
        body.blocks[entry].stmts.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Owned(set), index });
        body.blocks[entry].term = Terminator::Jump(copy_of(i + 1));
        body.blocks[b].term = Terminator::PredicatedSplit { guard, all: next, some: entry, none: chain.exit };
    }
}

/// Copies the sides of the branch at the end of `b` into one guarded block.
fn predicate_branch_sides(body: &mut FunctionBody<'_>, classes: &LaneClasses, b: usize, live: &[BitSet]) -> bool {
    let Terminator::Branch { guard, taken, fall } = body.blocks[b].term else { return false };
    let plain = |x: usize| x < live.len() && x != b && body.blocks[x].preds == [b] && can_guard_block(&body.blocks[x]);
    let goes = |x: usize| if let Terminator::Jump(j) = body.blocks[x].term { Some(j) } else { None };
    let (sides, join) = if plain(taken) && goes(taken) == Some(fall) {
        (vec![(taken, false)], fall)
    } else if plain(fall) && goes(fall) == Some(taken) {
        (vec![(fall, true)], taken)
    } else if plain(taken) && plain(fall) && goes(taken).is_some() && goes(taken) == goes(fall) {
        (vec![(taken, false), (fall, true)], goes(taken).unwrap_or(0))
    } else {
        return false;
    };
    if join >= live.len() || join == b {
        return false;
    }
    let mut keep = live[join].clone();
    sides.iter().skip(1).for_each(|&(s, _)| {
        keep.union_with(&live[s]);
    });
    if classes.rarely_diverges(&body.blocks[b].term)
        && sides.iter().any(|&(s, _)| writes_scalars_under_guard(&body.blocks[s], classes, &keep))
    {
        return false;
    }
    let index = body.blocks[b].term_index;
    let stable = stable_guard(body, b, guard, &sides);
    let some = body.blocks.len();
    body.blocks.push(empty_block(index));
    for (s, negated) in sides {
        let g = Guard { reg: stable.reg, negated: stable.negated ^ negated };
        for st in body.blocks[s].stmts.clone() {
            append_guarded_statement(body, some, st, g, &keep);
        }
    }
    body.blocks[some].term = Terminator::Jump(join);
    body.blocks[b].term = Terminator::PredicatedSplit { guard: stable, all: taken, some, none: fall };
    true
}
