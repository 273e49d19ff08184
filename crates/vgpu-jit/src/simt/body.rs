//! A function's statements as the JIT sees them, split into basic blocks.
//!
//! Establishes: only simple instructions carry guards (a guarded branch, return, call, barrier,
//! warp operation or trap has become a branch); warp operations start a block, calls and barriers
//! end one; blocks are numbered in a reverse post-order in which the blocks of a loop come before
//! those it exits to, where a single search can have it so. That number is a lane's program counter in masked code.

use super::operands::{for_each_def, for_each_use};
use super::register_width::RegWidth;
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
pub(crate) enum Terminator {
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

impl Terminator {
    /// Calls `f` with the register that decides about the successor.
    pub(crate) fn for_each_use(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Terminator::Branch { guard, .. }
            | Terminator::PredicatedSplit { guard, .. }
            | Terminator::UniformAny { guard, .. } => f(guard.reg),
            Terminator::Table { index, .. } => f(*index),
            _ => {}
        }
    }
    /// Successors, with repetitions.
    pub(crate) fn successors(&self) -> Vec<usize> {
        match self {
            Terminator::Jump(b) => vec![*b],
            Terminator::Branch { taken, fall, .. } | Terminator::UniformAny { taken, fall, .. } => vec![*taken, *fall],
            Terminator::PredicatedSplit { all, some, none, .. } => vec![*all, *some, *none],
            Terminator::Table { targets, .. } => targets.clone(),
            Terminator::Return | Terminator::Exit | Terminator::Unreachable => vec![],
        }
    }
    /// Successors in masked code.
    pub(crate) fn masked_successors(&self) -> Vec<usize> {
        match self {
            Terminator::PredicatedSplit { all, none, .. } => vec![*all, *none],
            other => other.successors(),
        }
    }
    pub(crate) fn map_successors(&mut self, f: &dyn Fn(usize) -> usize) {
        match self {
            Terminator::Jump(b) => *b = f(*b),
            Terminator::Branch { taken, fall, .. } | Terminator::UniformAny { taken, fall, .. } => {
                *taken = f(*taken);
                *fall = f(*fall);
            }
            Terminator::PredicatedSplit { all, some, none, .. } => {
                *all = f(*all);
                *some = f(*some);
                *none = f(*none);
            }
            Terminator::Table { targets, .. } => targets.iter_mut().for_each(|t| *t = f(*t)),
            _ => {}
        }
    }
}

/// A basic block.
#[derive(Debug, Clone)]
pub(crate) struct Block<'m> {
    pub(crate) stmts: Vec<Stmt<'m>>,
    pub(crate) term: Terminator,
    /// The statement that the terminator came from, for sites.
    pub(crate) term_index: u32,
    pub(crate) preds: Vec<usize>,
}

impl<'m> Block<'m> {
    /// The warp operation with which the block begins.
    pub(crate) fn first_warp_op(&self) -> Option<&Stmt<'m>> {
        self.stmts.first().filter(|st| block_boundary_kind(&st.inst) == BlockBoundaryKind::WarpOp)
    }
}

/// A function in blocks.
#[derive(Debug, Clone)]
pub(crate) struct FunctionBody<'m> {
    pub(crate) blocks: Vec<Block<'m>>,
    /// Width of each register: those of the function, the carry flag, those of the compiler.
    pub(crate) widths: Vec<RegWidth>,
    carry: Reg,
}

/// What an instruction means for block boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockBoundaryKind {
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
pub(crate) fn block_boundary_kind(inst: &Inst) -> BlockBoundaryKind {
    use Inst::*;
    match inst {
        Shfl { .. } | Vote { .. } | Match { .. } | Redux { .. } | BarWarpSync { .. } | Elect { .. } | Matrix(_) => {
            BlockBoundaryKind::WarpOp
        }
        Call { .. } | Bar { .. } => BlockBoundaryKind::EndsBlock,
        Bra { .. } | Brx { .. } | Ret | Exit | Trap => BlockBoundaryKind::Control,
        _ => BlockBoundaryKind::Simple,
    }
}

/// Calls `g` with the registers a statement reads: operands, guard, carry, and the old value of a
/// destination that a guard may leave alone.
pub(crate) fn stmt_uses(st: &Stmt<'_>, carry: Reg, g: &mut dyn FnMut(Reg)) {
    for_each_use(&st.inst, g);
    if super::pure_instructions::reads_carry(&st.inst) {
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
    if super::pure_instructions::writes_carry(&st.inst) {
        g(carry);
    }
}

impl<'m> FunctionBody<'m> {
    /// Splits the body of `f` into blocks.
    pub(crate) fn from_function(f: &'m Function) -> FunctionBody<'m> {
        let mut widths: Vec<RegWidth> = f.regs.iter().map(|r| RegWidth::from_type(r.ty)).collect();
        widths.push(RegWidth::from_type(Type::Pred));
        let carry = Reg(f.regs.len() as u32);
        let mut body = FunctionBody { blocks: split_into_blocks(f), widths, carry };
        if !f.entry {
            super::register_params::add_param_loads_and_stores(&mut body, f);
        }
        super::warp_op_operands::move_to_registers(&mut body);
        body.renumber_blocks();
        body
    }

    /// The carry flag.
    pub(crate) fn carry_flag(&self) -> Reg {
        self.carry
    }

    /// A new register of the compiler's own.
    pub(crate) fn add_register(&mut self, width: RegWidth) -> Reg {
        self.widths.push(width);
        Reg(self.widths.len() as u32 - 1)
    }

    /// Cuts block `b` in two before statement `at`; the caller renumbers.
    pub(crate) fn split_block(&mut self, b: usize, at: usize) {
        let next = self.blocks.len();
        let stmts = self.blocks[b].stmts.split_off(at);
        let term = std::mem::replace(&mut self.blocks[b].term, Terminator::Jump(next));
        let term_index = self.blocks[b].term_index;
        self.blocks[b].term_index = self.blocks[b].stmts.last().map_or(term_index, |s| s.index);
        self.blocks.push(Block { stmts, term, term_index, preds: vec![] });
    }

    /// Drops unreachable blocks, numbers the rest in reverse post-order and fills `preds`.
    pub(crate) fn renumber_blocks(&mut self) {
        let first = post_order(&self.blocks, &|_, s| s);
        self.permute_blocks(&first);
        let dom = super::control_flow::immediate_dominators(self);
        let depth = super::control_flow::find_natural_loops(self, &dom);
        let second = post_order(&self.blocks, &|b, mut s: Vec<usize>| {
            s.sort_by_key(|&t| depth.successor_rank(b, t));
            s
        });
        self.permute_blocks(&second);
    }

    fn permute_blocks(&mut self, post: &[usize]) {
        let mut number = vec![usize::MAX; self.blocks.len()];
        for (i, &b) in post.iter().rev().enumerate() {
            number[b] = i;
        }
        let mut old: Vec<Option<Block<'m>>> = std::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        for &b in post.iter().rev() {
            if let Some(mut block) = old[b].take() {
                block.term.map_successors(&|t| number[t]);
                block.preds.clear();
                self.blocks.push(block);
            }
        }
        for b in 0..self.blocks.len() {
            for s in self.blocks[b].term.successors() {
                // Blocks come in order: a repetition is the last one.
                if self.blocks[s].preds.last() != Some(&b) {
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
    /// Terminators whose targets are statement numbers plus [`STATEMENT_TARGET_BIT`].
    begun: bool,
}

/// Added to a target that is still a statement number.
const STATEMENT_TARGET_BIT: usize = 1 << 40;

impl<'m> BlockBuilder<'m> {
    fn finish_block(&mut self, term: Terminator, index: usize) {
        let stmts = std::mem::take(&mut self.current);
        self.blocks.push(Block { stmts, term, term_index: index as u32, preds: vec![] });
        self.begun = false;
    }
    fn begin_block(&mut self, statement: usize) {
        if self.begun {
            self.finish_block(Terminator::Jump(STATEMENT_TARGET_BIT + statement), statement.saturating_sub(1));
        }
        self.start_of[statement] = Some(self.blocks.len());
        self.begun = true;
    }
    fn label_target(&self, l: rtcg_ptx::ast::Label) -> usize {
        STATEMENT_TARGET_BIT + self.f.label_targets[l.index()] as usize
    }
    fn control_terminator(&self, inst: &Inst) -> Terminator {
        match inst {
            Inst::Bra { target, .. } => Terminator::Jump(self.label_target(*target)),
            Inst::Brx { index, targets } => {
                Terminator::Table { index: *index, targets: targets.iter().map(|t| self.label_target(*t)).collect() }
            }
            Inst::Ret if !self.f.entry => Terminator::Return,
            Inst::Ret | Inst::Exit => Terminator::Exit,
            _ => Terminator::Unreachable,
        }
    }
    fn add_control_inst(&mut self, i: usize, guard: Option<Guard>, inst: &'m Inst) {
        let term = self.control_terminator(inst);
        let Some(guard) = guard else {
            if let Terminator::Unreachable = term {
                self.current.push(Stmt {
                    guard: None,
                    merges_old_values: true,
                    inst: Cow::Borrowed(inst),
                    index: i as u32,
                });
            }
            return self.finish_block(term, i);
        };
        if let Terminator::Jump(taken) = term {
            return self.finish_block(Terminator::Branch { guard, taken, fall: STATEMENT_TARGET_BIT + i + 1 }, i);
        }
        let aside = self.blocks.len() + 1;
        self.finish_block(Terminator::Branch { guard, taken: aside, fall: STATEMENT_TARGET_BIT + i + 1 }, i);
        if let Terminator::Unreachable = term {
            self.current.push(Stmt {
                guard: None,
                merges_old_values: true,
                inst: Cow::Borrowed(inst),
                index: i as u32,
            });
        }
        self.finish_block(term, i);
    }
    /// A call, barrier or warp operation; guarded ones get a block that a branch skips.
    fn add_single_statement_block(&mut self, i: usize, guard: Option<Guard>, inst: &'m Inst, ends: bool) {
        if let Some(guard) = guard {
            let aside = self.blocks.len() + 1;
            self.finish_block(Terminator::Branch { guard, taken: aside, fall: STATEMENT_TARGET_BIT + i + 1 }, i);
            self.begun = true;
        } else if !ends && !self.current.is_empty() {
            self.begin_block(i);
        }
        self.current.push(Stmt { guard: None, merges_old_values: true, inst: Cow::Borrowed(inst), index: i as u32 });
        if ends || guard.is_some() {
            let bar_result = matches!(inst, Inst::Bar { kind: BarKind::RedPopc { .. } | BarKind::RedBool { .. }, .. });
            if bar_result {
                // The result is taken in a block of its own, which masked code enters after the wait.
                let next = self.blocks.len() + 1;
                self.finish_block(Terminator::Jump(next), i);
                self.current.push(Stmt {
                    guard: None,
                    merges_old_values: true,
                    inst: Cow::Owned(super::barrier_results::read_barrier_result(inst)),
                    index: i as u32,
                });
            }
            self.finish_block(Terminator::Jump(STATEMENT_TARGET_BIT + i + 1), i);
        }
    }
}

fn split_into_blocks(f: &Function) -> Vec<Block<'_>> {
    let n = f.body.len();
    let mut s = BlockBuilder { f, blocks: vec![], current: vec![], start_of: vec![None; n + 1], begun: false };
    let mut starts = vec![false; n + 1];
    starts[0] = true;
    for &t in &f.label_targets {
        starts[(t as usize).min(n)] = true;
    }
    for (i, st) in f.body.iter().enumerate() {
        if starts[i] || !s.begun {
            s.begin_block(i);
        }
        match block_boundary_kind(&st.inst) {
            BlockBoundaryKind::Control => s.add_control_inst(i, st.guard, &st.inst),
            BlockBoundaryKind::WarpOp => s.add_single_statement_block(i, st.guard, &st.inst, false),
            BlockBoundaryKind::EndsBlock => s.add_single_statement_block(i, st.guard, &st.inst, true),
            BlockBoundaryKind::Simple => s.current.push(Stmt {
                guard: st.guard,
                merges_old_values: true,
                inst: Cow::Borrowed(&st.inst),
                index: i as u32,
            }),
        }
    }
    // Falling off the end returns.
    s.begin_block(n);
    s.finish_block(if f.entry { Terminator::Exit } else { Terminator::Return }, n.saturating_sub(1));
    let start_of = s.start_of;
    let mut blocks = s.blocks;
    for b in &mut blocks {
        b.term.map_successors(&|t| {
            if t >= STATEMENT_TARGET_BIT { start_of[t - STATEMENT_TARGET_BIT].unwrap_or(0) } else { t }
        });
        if let Terminator::Branch { taken, fall, .. } = b.term
            && taken == fall
        {
            b.term = Terminator::Jump(taken);
        }
    }
    blocks
}
