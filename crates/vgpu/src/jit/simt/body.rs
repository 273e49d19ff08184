//! A function's statements as the JIT sees them, split into basic blocks.
//!
//! Establishes: only simple instructions carry guards (a guarded branch, return, call, barrier,
//! warp operation or trap has become a branch); warp operations start a block, calls and barriers
//! end one; blocks are numbered in a reverse post-order in which the blocks of a loop come before
//! those it exits to. That number is a lane's program counter in masked code.

use super::operands::{for_each_def, for_each_use};
use super::width::Width;
use rtcg_ptx::ast::{BarKind, Function, Guard, Inst, Reg, Type};
use std::borrow::Cow;

/// A statement; `index` is its number in the function's original body.
#[derive(Debug, Clone)]
pub(crate) struct Stmt<'m> {
    pub(crate) guard: Option<Guard>,
    /// Lanes that the guard excludes keep the old values of the destinations; when false anything
    /// may be written to them.
    pub(crate) merges_old_values: bool,
    pub(crate) inst: Cow<'m, Inst>,
    pub(crate) index: u32,
}

/// How a block ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    /// Goes on at a block; also after a call or barrier, which is the block's last statement.
    Jump(usize),
    /// Two ways by a predicate.
    Branch { guard: Guard, taken: usize, fall: usize },
    /// As `Branch`, but while converged lanes that disagree all go to `some`, whose statements
    /// are guarded such that each lane only feels its own. Masked code never goes there.
    PredicatedSplit { guard: Guard, all: usize, some: usize, none: usize },
    /// While converged all lanes take the branch when one of them wants to; the statements on the
    /// way are guarded. In masked code a `Branch`.
    UniformAny { guard: Guard, taken: usize, fall: usize },
    /// `brx.idx`
    Table { index: Reg, targets: Vec<usize> },
    /// Leaves the function.
    Return,
    /// Ends the lanes.
    Exit,
    /// The last statement never returns (`trap`).
    Unreachable,
}

impl Term {
    /// Successors, with repetitions.
    pub(crate) fn successors(&self) -> Vec<usize> {
        match self {
            Term::Jump(b) => vec![*b],
            Term::Branch { taken, fall, .. } | Term::UniformAny { taken, fall, .. } => vec![*taken, *fall],
            Term::PredicatedSplit { all, some, none, .. } => vec![*all, *some, *none],
            Term::Table { targets, .. } => targets.clone(),
            Term::Return | Term::Exit | Term::Unreachable => vec![],
        }
    }
    /// Successors in masked code.
    pub(crate) fn masked_successors(&self) -> Vec<usize> {
        match self {
            Term::PredicatedSplit { all, none, .. } => vec![*all, *none],
            other => other.successors(),
        }
    }
    pub(crate) fn map(&mut self, f: &dyn Fn(usize) -> usize) {
        match self {
            Term::Jump(b) => *b = f(*b),
            Term::Branch { taken, fall, .. } | Term::UniformAny { taken, fall, .. } => {
                *taken = f(*taken);
                *fall = f(*fall);
            }
            Term::PredicatedSplit { all, some, none, .. } => {
                *all = f(*all);
                *some = f(*some);
                *none = f(*none);
            }
            Term::Table { targets, .. } => targets.iter_mut().for_each(|t| *t = f(*t)),
            _ => {}
        }
    }
}

/// A basic block.
#[derive(Debug, Clone)]
pub(crate) struct Block<'m> {
    pub(crate) stmts: Vec<Stmt<'m>>,
    pub(crate) term: Term,
    /// The statement that the terminator came from, for sites.
    pub(crate) term_index: u32,
    pub(crate) preds: Vec<usize>,
}

/// A function in blocks.
#[derive(Debug, Clone)]
pub(crate) struct Body<'m> {
    pub(crate) blocks: Vec<Block<'m>>,
    /// Width of each register: those of the function, the carry flag, those of the compiler.
    pub(crate) widths: Vec<Width>,
    carry: Reg,
}

/// What an instruction means for block boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockRole {
    /// May carry a guard, has no say in control flow.
    Simple,
    /// Exchanges values between lanes: starts a block.
    WarpOp,
    /// A call or barrier: ends a block.
    EndsBlock,
    /// Ends the block without a successor, or with its own.
    Control,
}

/// The kind of an instruction.
pub(crate) fn kind(inst: &Inst) -> BlockRole {
    use Inst::*;
    match inst {
        Shfl { .. } | Vote { .. } | Match { .. } | Redux { .. } | BarWarpSync { .. } | Elect { .. } | Matrix(_) => {
            BlockRole::WarpOp
        }
        Call { .. } | Bar { .. } => BlockRole::EndsBlock,
        Bra { .. } | Brx { .. } | Ret | Exit | Trap => BlockRole::Control,
        _ => BlockRole::Simple,
    }
}

/// Calls `g` with the registers a statement reads: operands, guard, carry, and the old value of a
/// destination that a guard may leave alone.
pub(crate) fn stmt_uses(st: &Stmt<'_>, carry: Reg, g: &mut dyn FnMut(Reg)) {
    for_each_use(&st.inst, g);
    if super::pure::reads_carry(&st.inst) {
        g(carry);
    }
    if let Some(guard) = st.guard {
        g(guard.reg);
        if st.merges_old_values {
            stmt_defs(st, carry, g);
        }
    }
}

/// Calls `g` with the registers a statement writes.
pub(crate) fn stmt_defs(st: &Stmt<'_>, carry: Reg, g: &mut dyn FnMut(Reg)) {
    for_each_def(&st.inst, g);
    if super::pure::writes_carry(&st.inst) {
        g(carry);
    }
}

impl<'m> Body<'m> {
    /// Splits the body of `f` into blocks.
    pub(crate) fn build(f: &'m Function) -> Body<'m> {
        let mut widths: Vec<Width> = f.regs.iter().map(|r| Width::of(r.ty)).collect();
        widths.push(Width::of(Type::Pred));
        let carry = Reg(f.regs.len() as u32);
        let mut body = Body { blocks: split(f), widths, carry };
        if !f.entry {
            super::register_params::add(&mut body, f);
        }
        body.renumber();
        body
    }

    /// The carry flag.
    pub(crate) fn carry(&self) -> Reg {
        self.carry
    }

    /// A new register of the compiler's own.
    pub(crate) fn add_register(&mut self, width: Width) -> Reg {
        self.widths.push(width);
        Reg(self.widths.len() as u32 - 1)
    }

    /// Cuts block `b` in two before statement `at`; the caller renumbers.
    pub(crate) fn split_block(&mut self, b: usize, at: usize) {
        let next = self.blocks.len();
        let stmts = self.blocks[b].stmts.split_off(at);
        let term = std::mem::replace(&mut self.blocks[b].term, Term::Jump(next));
        let term_index = self.blocks[b].term_index;
        self.blocks[b].term_index = self.blocks[b].stmts.last().map_or(term_index, |s| s.index);
        self.blocks.push(Block { stmts, term, term_index, preds: vec![] });
    }

    /// Drops unreachable blocks, numbers the rest in reverse post-order and fills `preds`.
    pub(crate) fn renumber(&mut self) {
        let first = post_order(&self.blocks, &|_, s| s);
        self.permute(&first);
        let dom = super::flow::dominators(self);
        let depth = super::flow::loop_exits_first(self, &dom);
        let second = post_order(&self.blocks, &|b, mut s: Vec<usize>| {
            s.sort_by_key(|&t| depth.rank(b, t));
            s
        });
        self.permute(&second);
    }

    fn permute(&mut self, post: &[usize]) {
        let mut number = vec![usize::MAX; self.blocks.len()];
        for (i, &b) in post.iter().rev().enumerate() {
            number[b] = i;
        }
        let mut old: Vec<Option<Block<'m>>> = std::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        for &b in post.iter().rev() {
            if let Some(mut block) = old[b].take() {
                block.term.map(&|t| number[t]);
                block.preds.clear();
                self.blocks.push(block);
            }
        }
        for b in 0..self.blocks.len() {
            for s in self.blocks[b].term.successors() {
                if !self.blocks[s].preds.contains(&b) {
                    self.blocks[s].preds.push(b);
                }
            }
        }
    }
}

/// Blocks reachable from block 0 in post-order; `order` may reorder the successors, the first
/// of which comes first in post-order (last in the numbering).
fn post_order(blocks: &[Block<'_>], order: &dyn Fn(usize, Vec<usize>) -> Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; blocks.len()];
    let mut post = vec![];
    let mut stack = vec![(0usize, order(0, blocks[0].term.successors()), 0usize)];
    seen[0] = true;
    while let Some((b, succs, i)) = stack.last_mut() {
        if let Some(&s) = succs.get(*i) {
            *i += 1;
            if !seen[s] {
                seen[s] = true;
                stack.push((s, order(s, blocks[s].term.successors()), 0));
            }
        } else {
            post.push(*b);
            stack.pop();
        }
    }
    post
}

/// Collects blocks while walking the statements; jump targets are statement numbers until the end.
struct BlockBuilder<'m> {
    f: &'m Function,
    blocks: Vec<Block<'m>>,
    current: Vec<Stmt<'m>>,
    /// Block that begins at a statement.
    start_of: Vec<Option<usize>>,
    /// Terminators whose targets are statement numbers plus [`STATEMENT`].
    begun: bool,
}

/// Added to a target that is still a statement number.
const STATEMENT: usize = 1 << 40;

impl<'m> BlockBuilder<'m> {
    fn finish(&mut self, term: Term, index: usize) {
        let stmts = std::mem::take(&mut self.current);
        self.blocks.push(Block { stmts, term, term_index: index as u32, preds: vec![] });
        self.begun = false;
    }
    fn begin(&mut self, statement: usize) {
        if self.begun {
            self.finish(Term::Jump(STATEMENT + statement), statement.saturating_sub(1));
        }
        self.start_of[statement] = Some(self.blocks.len());
        self.begun = true;
    }
    fn label(&self, l: rtcg_ptx::ast::Label) -> usize {
        STATEMENT + self.f.label_targets[l.index()] as usize
    }
    fn control_term(&self, inst: &Inst) -> Term {
        match inst {
            Inst::Bra { target, .. } => Term::Jump(self.label(*target)),
            Inst::Brx { index, targets } => {
                Term::Table { index: *index, targets: targets.iter().map(|t| self.label(*t)).collect() }
            }
            Inst::Ret if !self.f.entry => Term::Return,
            Inst::Ret | Inst::Exit => Term::Exit,
            _ => Term::Unreachable,
        }
    }
    fn control(&mut self, i: usize, guard: Option<Guard>, inst: &'m Inst) {
        let term = self.control_term(inst);
        let Some(guard) = guard else {
            if let Term::Unreachable = term {
                self.current.push(Stmt {
                    guard: None,
                    merges_old_values: true,
                    inst: Cow::Borrowed(inst),
                    index: i as u32,
                });
            }
            return self.finish(term, i);
        };
        if let Term::Jump(taken) = term {
            return self.finish(Term::Branch { guard, taken, fall: STATEMENT + i + 1 }, i);
        }
        let aside = self.blocks.len() + 1;
        self.finish(Term::Branch { guard, taken: aside, fall: STATEMENT + i + 1 }, i);
        if let Term::Unreachable = term {
            self.current.push(Stmt {
                guard: None,
                merges_old_values: true,
                inst: Cow::Borrowed(inst),
                index: i as u32,
            });
        }
        self.finish(term, i);
    }
    /// A call, barrier or warp operation; guarded ones get a block that a branch skips.
    fn single(&mut self, i: usize, guard: Option<Guard>, inst: &'m Inst, ends: bool) {
        if let Some(guard) = guard {
            let aside = self.blocks.len() + 1;
            self.finish(Term::Branch { guard, taken: aside, fall: STATEMENT + i + 1 }, i);
            self.begun = true;
        } else if !ends && !self.current.is_empty() {
            self.begin(i);
        }
        self.current.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Borrowed(inst), index: i as u32 });
        if ends || guard.is_some() {
            let bar_result = matches!(inst, Inst::Bar { kind: BarKind::RedPopc { .. } | BarKind::RedBool { .. }, .. });
            if bar_result {
                // The result is taken in a block of its own, which masked code enters after the wait.
                let next = self.blocks.len() + 1;
                self.finish(Term::Jump(next), i);
                self.current.push(Stmt {
                    guard: None,
                    merges_old_values: true,
                    inst: Cow::Owned(super::barrier::take_result(inst)),
                    index: i as u32,
                });
            }
            self.finish(Term::Jump(STATEMENT + i + 1), i);
        }
    }
}

fn split(f: &Function) -> Vec<Block<'_>> {
    let n = f.body.len();
    let mut s = BlockBuilder { f, blocks: vec![], current: vec![], start_of: vec![None; n + 1], begun: false };
    let mut starts = vec![false; n + 1];
    starts[0] = true;
    for &t in &f.label_targets {
        starts[(t as usize).min(n)] = true;
    }
    for (i, st) in f.body.iter().enumerate() {
        if starts[i] || !s.begun {
            s.begin(i);
        }
        match kind(&st.inst) {
            BlockRole::Control => s.control(i, st.guard, &st.inst),
            BlockRole::WarpOp => s.single(i, st.guard, &st.inst, false),
            BlockRole::EndsBlock => s.single(i, st.guard, &st.inst, true),
            BlockRole::Simple => s.current.push(Stmt {
                guard: st.guard,
                merges_old_values: true,
                inst: Cow::Borrowed(&st.inst),
                index: i as u32,
            }),
        }
    }
    // Falling off the end returns.
    s.begin(n);
    s.finish(if f.entry { Term::Exit } else { Term::Return }, n.saturating_sub(1));
    let start_of = s.start_of;
    let mut blocks = s.blocks;
    for b in &mut blocks {
        b.term.map(&|t| if t >= STATEMENT { start_of[t - STATEMENT].unwrap_or(0) } else { t });
        if let Term::Branch { taken, fall, .. } = b.term
            && taken == fall
        {
            b.term = Term::Jump(taken);
        }
    }
    blocks
}
