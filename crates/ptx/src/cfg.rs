//! The control-flow graph of one function.
//!
//! Blocks are numbered so that every edge that does not close a loop goes to a higher number, a
//! loop's blocks are contiguous (in reducible code), and among equals the order of the text
//! decides. So "run the block with the smallest number first" lets lanes meet again at the
//! post-dominator, and a loop finishes before what follows it. Unreachable blocks are dropped.
//!
//! Calls and barriers do not end blocks; a consumer that needs them to says so to [`ControlFlowGraph::build_with_boundaries`].

use crate::ast::*;
use crate::liveness::{Liveness, RegSet};

/// A block's number.
pub type BlockId = u32;

/// Where a consumer wants a block boundary beyond the necessary ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockBoundary {
    /// The statement begins a block.
    pub before: bool,
    /// The statement ends a block.
    pub after: bool,
}

/// How control leaves a block. The statement itself, if there is one, is the block's last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terminator {
    /// Falls or jumps to a block.
    Jump(BlockId),
    /// A guarded branch.
    Branch {
        /// Its guard.
        guard: Guard,
        /// Where lanes go whose guard holds.
        taken: BlockId,
        /// Where the others go.
        otherwise: BlockId,
    },
    /// `brx.idx`; under a guard with a block for the other lanes.
    Switch {
        /// The index into `targets`.
        index: Reg,
        /// The targets in the order of the list.
        targets: Vec<BlockId>,
        /// The guard and where lanes go for which it does not hold.
        guard: Option<(Guard, BlockId)>,
    },
    /// `ret`, `exit`, `trap`, or the end of the body, which returns.
    Exit,
    /// A guarded `ret` or `exit`.
    ExitIf {
        /// Its guard.
        guard: Guard,
        /// Where the other lanes go.
        otherwise: BlockId,
    },
}

impl Terminator {
    /// Calls `f` for each successor; one that is named twice comes twice.
    pub fn for_each_successor(&self, mut f: impl FnMut(BlockId)) {
        match self {
            Terminator::Jump(to) => f(*to),
            Terminator::Branch { taken, otherwise, .. } => {
                f(*taken);
                f(*otherwise);
            }
            Terminator::Switch { targets, guard, .. } => {
                targets.iter().copied().for_each(&mut f);
                guard.iter().for_each(|(_, otherwise)| f(*otherwise));
            }
            Terminator::ExitIf { otherwise, .. } => f(*otherwise),
            Terminator::Exit => {}
        }
    }

    fn renumber_targets(&mut self, number: &[u32]) {
        let renumber = |id: &mut BlockId| *id = number[*id as usize];
        match self {
            Terminator::Jump(to) => renumber(to),
            Terminator::Branch { taken, otherwise, .. } => {
                renumber(taken);
                renumber(otherwise);
            }
            Terminator::Switch { targets, guard, .. } => {
                targets.iter_mut().for_each(renumber);
                guard.iter_mut().for_each(|(_, otherwise)| renumber(otherwise));
            }
            Terminator::ExitIf { otherwise, .. } => renumber(otherwise),
            Terminator::Exit => {}
        }
    }
}

/// A basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasicBlock {
    /// First statement in the body.
    pub start: u32,
    /// One past the last statement.
    pub end: u32,
    /// How control leaves.
    pub terminator: Terminator,
    /// Distinct successors in ascending order.
    pub successors: Vec<BlockId>,
    /// Distinct predecessors in ascending order.
    pub predecessors: Vec<BlockId>,
}

impl BasicBlock {
    /// The statements' range in the body.
    pub fn statement_range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A natural loop; loops with the same header are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaturalLoop {
    /// Its only entry.
    pub header: BlockId,
    /// Blocks with an edge back to the header.
    pub latches: Vec<BlockId>,
    /// All its blocks in ascending order, inner loops included.
    pub blocks: Vec<BlockId>,
    /// The loop around it.
    pub parent: Option<u32>,
}

/// The control-flow graph of a function with what follows from it.
#[derive(Debug, Clone)]
pub struct ControlFlowGraph {
    /// Blocks; the entry is number 0.
    pub blocks: Vec<BasicBlock>,
    /// Immediate dominator of each block; the entry's is itself.
    pub idom: Vec<BlockId>,
    /// Immediate post-dominator; `None` is the function's exit, also for endless loops.
    pub ipdom: Vec<Option<BlockId>>,
    /// Natural loops, outer ones before inner ones.
    pub loops: Vec<NaturalLoop>,
    /// The innermost loop of each block, an index into `loops`.
    pub loop_of: Vec<Option<u32>>,
    /// Whether every retreating edge leads to a block that dominates its source.
    pub reducible: bool,
    liveness: Liveness,
}

impl ControlFlowGraph {
    /// The graph with the necessary boundaries only.
    pub fn new(function: &Function) -> Self {
        Self::build_with_boundaries(function, |_| BlockBoundary::default())
    }

    /// The graph with further boundaries where `split` wants them.
    pub fn build_with_boundaries(function: &Function, split: impl FnMut(&Statement) -> BlockBoundary) -> Self {
        let blocks = split_statements(function, split);
        let first_order = reverse_post_order(&blocks);
        let mut blocks = renumber_blocks(blocks, &first_order);
        link_edges(&mut blocks);
        let idom = immediate_dominators(&blocks);
        let loops = natural_loops(&blocks, &idom);
        let order = loop_contiguous_order(&blocks, &innermost_loops(&loops, blocks.len()), &loops);
        let mut blocks = renumber_blocks(blocks, &order);
        link_edges(&mut blocks);
        let idom = immediate_dominators(&blocks);
        let loops = natural_loops(&blocks, &idom);
        let reducible = (0..blocks.len() as u32).all(|from| {
            let retreating = blocks[from as usize].successors.iter().filter(|&&to| to <= from);
            retreating.copied().all(|to| tree_dominates(&idom, to, from))
        });
        let liveness = Liveness::new(function, &blocks);
        ControlFlowGraph {
            ipdom: post_dominators(&blocks),
            loop_of: innermost_loops(&loops, blocks.len()),
            blocks,
            idom,
            loops,
            reducible,
            liveness,
        }
    }

    /// Whether every path from the entry to `b` goes through `a`; each block dominates itself.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        tree_dominates(&self.idom, a, b)
    }

    /// The block that holds statement `index`, unless that is unreachable.
    pub fn block_of_statement(&self, index: usize) -> Option<BlockId> {
        let found = self.blocks.iter().position(|block| block.statement_range().contains(&index));
        found.map(|id| id as u32)
    }

    /// Registers whose value on entry to the block may be read later.
    pub fn live_in(&self, block: BlockId) -> &RegSet {
        &self.liveness.live_in[block as usize]
    }

    /// Registers whose value at the block's end may be read by what follows.
    pub fn live_out(&self, block: BlockId) -> &RegSet {
        &self.liveness.live_out[block as usize]
    }

    /// Edges that go to a block with the same or a smaller number: every cycle has one.
    pub fn back_edges(&self) -> impl Iterator<Item = (BlockId, BlockId)> + '_ {
        (0u32..)
            .zip(&self.blocks)
            .flat_map(|(from, block)| block.successors.iter().filter(move |&&to| to <= from).map(move |&to| (from, to)))
    }
}

/// Whether a statement ends its block whatever the consumer wants.
fn ends_block(statement: &Statement) -> bool {
    match statement.inst {
        Inst::Bra { .. } | Inst::Brx { .. } | Inst::Ret | Inst::Exit => true,
        Inst::Trap => statement.guard.is_none(),
        _ => false,
    }
}

/// Cuts the body into blocks in the order of the text. Block 0 begins the body.
fn split_statements(function: &Function, mut split: impl FnMut(&Statement) -> BlockBoundary) -> Vec<BasicBlock> {
    let n = function.body.len();
    let mut leader = vec![false; n + 1];
    leader[0] = true;
    let position = |label: Label| function.label_targets.get(label.index()).map_or(n, |&at| (at as usize).min(n));
    for (i, statement) in function.body.iter().enumerate() {
        match &statement.inst {
            Inst::Bra { target, .. } => leader[position(*target)] = true,
            Inst::Brx { targets, .. } => targets.iter().for_each(|&target| leader[position(target)] = true),
            _ => {}
        }
        let wanted = split(statement);
        leader[i] |= wanted.before;
        leader[i + 1] |= wanted.after || ends_block(statement);
    }
    // The end of the body is a block of its own (an implicit return) where control can reach it.
    leader[n] |= n == 0
        || !matches!(function.body[n - 1], Statement { guard: None, inst: Inst::Ret | Inst::Exit | Inst::Trap, .. });
    let starts: Vec<usize> = (0..=n).filter(|&i| leader[i]).collect();
    let mut block_at = vec![0u32; n + 1];
    starts.iter().enumerate().for_each(|(id, &start)| block_at[start] = id as u32);
    let block = |(id, &start): (usize, &usize)| {
        let end = starts.get(id + 1).copied().unwrap_or(n);
        let last = if end > start { function.body.get(end - 1) } else { None };
        let terminator = match last {
            None => Terminator::Exit,
            Some(last) => block_terminator(last, id as u32 + 1, |label| block_at[position(label)]),
        };
        BasicBlock {
            start: start as u32,
            end: end as u32,
            terminator,
            successors: Vec::new(),
            predecessors: Vec::new(),
        }
    };
    starts.iter().enumerate().map(block).collect()
}

fn block_terminator(last: &Statement, next: BlockId, block_of: impl Fn(Label) -> BlockId) -> Terminator {
    match (&last.inst, last.guard) {
        (Inst::Bra { target, .. }, None) => Terminator::Jump(block_of(*target)),
        (Inst::Bra { target, .. }, Some(guard)) => {
            Terminator::Branch { guard, taken: block_of(*target), otherwise: next }
        }
        (Inst::Brx { index, targets }, guard) => Terminator::Switch {
            index: *index,
            targets: targets.iter().map(|&target| block_of(target)).collect(),
            guard: guard.map(|guard| (guard, next)),
        },
        (Inst::Ret | Inst::Exit | Inst::Trap, None) => Terminator::Exit,
        (Inst::Ret | Inst::Exit, Some(guard)) => Terminator::ExitIf { guard, otherwise: next },
        _ => Terminator::Jump(next),
    }
}

/// Reachable blocks in reverse post-order of a depth-first walk.
fn reverse_post_order(blocks: &[BasicBlock]) -> Vec<u32> {
    let successors = |id: u32| {
        let mut list = Vec::new();
        blocks[id as usize].terminator.for_each_successor(|to| list.push(to));
        list
    };
    let mut seen = vec![false; blocks.len()];
    seen[0] = true;
    let mut order = Vec::with_capacity(blocks.len());
    let mut stack = vec![(0u32, successors(0))];
    while let Some((id, pending)) = stack.last_mut() {
        match pending.pop() {
            Some(to) if !seen[to as usize] => {
                seen[to as usize] = true;
                stack.push((to, successors(to)));
            }
            Some(_) => {}
            None => {
                order.push(*id);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Keeps the blocks of `order`, in that order.
fn renumber_blocks(blocks: Vec<BasicBlock>, order: &[u32]) -> Vec<BasicBlock> {
    let mut number = vec![0u32; blocks.len()];
    order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
    let mut blocks: Vec<Option<BasicBlock>> = blocks.into_iter().map(Some).collect();
    let mut kept: Vec<BasicBlock> = order.iter().filter_map(|&old| blocks[old as usize].take()).collect();
    kept.iter_mut().for_each(|block| block.terminator.renumber_targets(&number));
    kept
}

/// Fills in successors and predecessors.
fn link_edges(blocks: &mut [BasicBlock]) {
    blocks.iter_mut().for_each(|block| block.predecessors.clear());
    for from in 0..blocks.len() {
        let mut successors = Vec::new();
        blocks[from].terminator.for_each_successor(|to| successors.push(to));
        successors.sort_unstable();
        successors.dedup();
        successors.iter().for_each(|&to| blocks[to as usize].predecessors.push(from as u32));
        blocks[from].successors = successors;
    }
}

const NO_BLOCK: u32 = u32::MAX;

/// Where the paths from `a` and `b` up the tree meet; both are known.
fn common_dominator(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

/// Immediate dominators (Cooper, Harvey and Kennedy); the numbering is a reverse post-order.
fn immediate_dominators(blocks: &[BasicBlock]) -> Vec<u32> {
    let mut idom = vec![NO_BLOCK; blocks.len()];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for id in 1..blocks.len() {
            let known = blocks[id].predecessors.iter().copied().filter(|&p| idom[p as usize] != NO_BLOCK);
            let new = known.reduce(|a, b| common_dominator(&idom, a, b)).unwrap_or(0);
            changed |= idom[id] != new;
            idom[id] = new;
        }
    }
    idom
}

fn tree_dominates(idom: &[u32], a: u32, mut b: u32) -> bool {
    while b > a {
        b = idom[b as usize];
    }
    a == b
}

/// The same on the reversed graph, with a node 0 for the exit.
fn post_dominators(blocks: &[BasicBlock]) -> Vec<Option<BlockId>> {
    let n = blocks.len();
    let leaves = |id: u32| matches!(blocks[id as usize].terminator, Terminator::Exit | Terminator::ExitIf { .. });
    // Reverse post-order of the reversed graph from the exit; blocks that never leave are absent.
    let mut number = vec![NO_BLOCK; n];
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    let roots: Vec<u32> = (0..n as u32).filter(|&id| leaves(id)).collect();
    for &root in &roots {
        let mut stack = vec![(root, 0usize)];
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        while let Some((id, next)) = stack.last_mut() {
            match blocks[*id as usize].predecessors.get(*next) {
                Some(&p) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[p as usize], true) {
                        stack.push((p, 0));
                    }
                }
                None => {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order.iter().enumerate().for_each(|(i, &id)| number[id as usize] = i as u32 + 1);
    let mut tree = vec![NO_BLOCK; order.len() + 1];
    tree[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (i, &id) in order.iter().enumerate() {
            let exit = leaves(id).then_some(0);
            let after = blocks[id as usize].successors.iter().map(|&s| number[s as usize]).filter(|&s| s != NO_BLOCK);
            let known = exit.into_iter().chain(after).filter(|&s| tree[s as usize] != NO_BLOCK);
            let new = known.reduce(|a, b| common_dominator(&tree, a, b)).unwrap_or(0);
            changed |= tree[i + 1] != new;
            tree[i + 1] = new;
        }
    }
    let of = |id: usize| match number[id] {
        NO_BLOCK => None,
        i => tree[i as usize].checked_sub(1).map(|parent| order[parent as usize]),
    };
    (0..n).map(of).collect()
}

/// Natural loops, outer ones first.
fn natural_loops(blocks: &[BasicBlock], idom: &[u32]) -> Vec<NaturalLoop> {
    let mut loops: Vec<NaturalLoop> = Vec::new();
    for header in 0..blocks.len() as u32 {
        let back = |&p: &u32| p >= header && tree_dominates(idom, header, p);
        let latches: Vec<u32> = blocks[header as usize].predecessors.iter().copied().filter(|p| back(p)).collect();
        if latches.is_empty() {
            continue;
        }
        let mut inside = vec![false; blocks.len()];
        inside[header as usize] = true;
        let mut stack = latches.clone();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut inside[id as usize], true) {
                stack.extend(&blocks[id as usize].predecessors);
            }
        }
        let members = (0..blocks.len() as u32).filter(|&id| inside[id as usize]).collect();
        loops.push(NaturalLoop { header, latches, blocks: members, parent: None });
    }
    // A header comes after the headers of the loops around it, so parents stand before children.
    for inner in 0..loops.len() {
        let header = loops[inner].header;
        let around = (0..inner).rev().find(|&outer| loops[outer].blocks.binary_search(&header).is_ok());
        loops[inner].parent = around.map(|outer| outer as u32);
    }
    loops
}

fn innermost_loops(loops: &[NaturalLoop], n: usize) -> Vec<Option<u32>> {
    let mut of = vec![None; n];
    for (i, l) in loops.iter().enumerate() {
        l.blocks.iter().for_each(|&id| of[id as usize] = Some(i as u32));
    }
    of
}

/// An order in which forward edges go up and loops are contiguous.
///
/// A block is ready when all its forward predecessors are placed. As the header of a natural loop
/// dominates its blocks, these can all be placed before any block outside, so the innermost loop
/// that is not complete always has a ready block (in reducible code).
fn loop_contiguous_order(blocks: &[BasicBlock], loop_of: &[Option<u32>], loops: &[NaturalLoop]) -> Vec<u32> {
    let mut waiting: Vec<usize> =
        (0u32..).zip(blocks).map(|(id, block)| block.predecessors.iter().filter(|&&p| p < id).count()).collect();
    // Ready blocks of each loop (the last entry: of none), by the order of the text.
    let mut ready: Vec<std::collections::BTreeSet<(u32, u32)>> = vec![Default::default(); loops.len() + 1];
    let home = |id: u32| loop_of[id as usize].map_or(loops.len(), |l| l as usize);
    let mut order = Vec::with_capacity(blocks.len());
    ready[home(0)].insert((blocks[0].start, 0));
    let mut current = loop_of[0];
    while order.len() < blocks.len() {
        let place = current.map_or(loops.len(), |l| l as usize);
        let Some((_, id)) = ready[place].pop_first() else {
            match current {
                Some(l) => current = loops[l as usize].parent,
                // Only irreducible code comes here: the next ready block wherever it is.
                None => match ready.iter().position(|set| !set.is_empty()) {
                    Some(l) => current = Some(l as u32),
                    None => break,
                },
            }
            continue;
        };
        order.push(id);
        for &to in blocks[id as usize].successors.iter().filter(|&&to| to > id) {
            waiting[to as usize] -= 1;
            if waiting[to as usize] == 0 {
                // A ready header stands for its loop among the blocks around it.
                let around = match loop_of[to as usize] {
                    Some(l) if loops[l as usize].header == to => loops[l as usize].parent,
                    other => other,
                };
                ready[around.map_or(loops.len(), |l| l as usize)].insert((blocks[to as usize].start, to));
            }
        }
        current = loop_of[id as usize];
    }
    order
}
