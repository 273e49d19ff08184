//! Facts about the control-flow graph of a [`FunctionBody`]: dominators, post-dominators, loops,
//! liveness. Assumes that blocks are numbered with every reachable block once.

use super::body::{FunctionBody, stmt_defs, stmt_uses};
use rtcg_ptx::ast::Reg;

/// A set of small numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub(crate) fn new(n: usize) -> BitSet {
        BitSet(vec![0; n.div_ceil(64)])
    }
    pub(crate) fn insert_bit(&mut self, i: usize) -> bool {
        let (word, bit) = (&mut self.0[i / 64], 1 << (i % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
    pub(crate) fn remove_bit(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }
    /// As `contains`, for numbers that may be larger than the set was made for.
    pub(crate) fn contains_if_in_range(&self, i: usize) -> bool {
        i / 64 < self.0.len() && self.contains(i)
    }
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }
    /// Adds all of `other`; says whether anything was new.
    pub(crate) fn union_with(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }
    pub(crate) fn iter_bits(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(w, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let i = left.trailing_zeros() as usize;
                left &= left - 1;
                Some(w * 64 + i)
            })
        })
    }
}

const NO_BLOCK: usize = usize::MAX;

/// Immediate dominators (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"); assumes
/// a reverse post-order. Block 0 is its own dominator.
pub(crate) fn immediate_dominators(body: &FunctionBody<'_>) -> Vec<usize> {
    let n = body.blocks.len();
    let mut idom = vec![NO_BLOCK; n];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..n {
            let mut new = NO_BLOCK;
            for &p in body.blocks[b].preds.iter().filter(|&&p| idom[p] != NO_BLOCK) {
                new = if new == NO_BLOCK { p } else { common_dominator(&idom, &|x| x, new, p) };
            }
            if new != NO_BLOCK && idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom
}

fn common_dominator(idom: &[usize], rank: &dyn Fn(usize) -> usize, mut a: usize, mut b: usize) -> usize {
    while a != b {
        while rank(a) > rank(b) {
            a = idom[a];
        }
        while rank(b) > rank(a) {
            b = idom[b];
        }
    }
    a
}

/// Immediate post-dominators; `None` when every path onwards ends separately or never.
pub(crate) fn post_dominators(body: &FunctionBody<'_>) -> Vec<Option<usize>> {
    let n = body.blocks.len();
    // Node n is the common end. A post-order of the reversed graph, found by a depth-first search from it.
    let ends: Vec<usize> = (0..n).filter(|&b| body.blocks[b].term.successors().is_empty()).collect();
    let mut rank = vec![NO_BLOCK; n + 1];
    let mut order = vec![];
    let mut seen = BitSet::new(n + 1);
    let mut stack = vec![(n, 0usize)];
    seen.insert_bit(n);
    while let Some((b, i)) = stack.last_mut() {
        let preds: &[usize] = if *b == n { &ends } else { &body.blocks[*b].preds };
        if let Some(&p) = preds.get(*i) {
            *i += 1;
            if seen.insert_bit(p) {
                stack.push((p, 0));
            }
        } else {
            order.push(*b);
            stack.pop();
        }
    }
    order.reverse();
    for (i, &b) in order.iter().enumerate() {
        rank[b] = i;
    }
    let mut ipdom = vec![NO_BLOCK; n + 1];
    ipdom[n] = n;
    let mut changed = true;
    while changed {
        changed = false;
        for &b in order.iter().skip(1) {
            let mut succs = body.blocks[b].term.successors();
            if succs.is_empty() {
                succs.push(n);
            }
            let mut new = NO_BLOCK;
            for &s in succs.iter().filter(|&&s| rank[s] != NO_BLOCK && ipdom[s] != NO_BLOCK) {
                new = if new == NO_BLOCK { s } else { common_dominator(&ipdom, &|x| rank[x], new, s) };
            }
            if new != NO_BLOCK && ipdom[b] != new {
                ipdom[b] = new;
                changed = true;
            }
        }
    }
    (0..n).map(|b| Some(ipdom[b]).filter(|&p| p < n)).collect()
}

/// Innermost natural loops, to order successors.
pub(crate) struct LoopNest {
    /// For each loop header the blocks of its loop.
    pub(crate) loops: Vec<(usize, BitSet)>,
}

impl LoopNest {
    /// Sorts successors: those that leave more loops of `from` first.
    pub(crate) fn successor_rank(&self, from: usize, to: usize) -> usize {
        self.loops.iter().filter(|(_, l)| l.contains(from) && l.contains(to)).count()
    }
}

/// The natural loops of the graph, one per header.
pub(crate) fn find_natural_loops(body: &FunctionBody<'_>, idom: &[usize]) -> LoopNest {
    let n = body.blocks.len();
    let mut loops: Vec<(usize, BitSet)> = vec![];
    for b in 0..n {
        for h in body.blocks[b].term.successors() {
            if h > b || !block_dominates(idom, h, b) {
                continue;
            }
            let at = loops.iter().position(|(x, _)| *x == h).unwrap_or_else(|| {
                loops.push((h, BitSet::new(n)));
                loops.len() - 1
            });
            let set = &mut loops[at].1;
            set.insert_bit(h);
            let mut work = vec![b];
            while let Some(x) = work.pop() {
                if set.insert_bit(x) {
                    work.extend(&body.blocks[x].preds);
                }
            }
        }
    }
    LoopNest { loops }
}

/// Whether `a` dominates `b`. A block that cannot be reached, as rewrites leave behind, has no dominators.
pub(crate) fn block_dominates(idom: &[usize], a: usize, mut b: usize) -> bool {
    while b > a && b != NO_BLOCK {
        b = idom[b];
    }
    a == b
}

/// Registers live at the beginning of each block.
pub(crate) fn live_in(body: &FunctionBody<'_>) -> Vec<BitSet> {
    let n = body.widths.len();
    let carry = body.carry_flag();
    let mut uses = vec![];
    let mut kills = vec![];
    for block in &body.blocks {
        let (mut used, mut killed) = (BitSet::new(n), BitSet::new(n));
        let read = |r: Reg, used: &mut BitSet, killed: &BitSet| {
            if !killed.contains(r.index()) {
                used.insert_bit(r.index());
            }
        };
        for st in &block.stmts {
            stmt_uses(st, carry, &mut |r| read(r, &mut used, &killed));
            stmt_defs(st, carry, &mut |r| {
                killed.insert_bit(r.index());
            });
        }
        block.term.for_each_use(&mut |r| read(r, &mut used, &killed));
        uses.push(used);
        kills.push(killed);
    }
    let mut live = uses;
    let mut changed = true;
    while changed {
        changed = false;
        for b in (0..body.blocks.len()).rev() {
            let mut out = live_out(body, &live, b);
            for r in kills[b].iter_bits() {
                out.remove_bit(r);
            }
            changed |= live[b].union_with(&out);
        }
    }
    live
}

/// Registers live at the end of block `b`.
pub(crate) fn live_out(body: &FunctionBody<'_>, live: &[BitSet], b: usize) -> BitSet {
    let mut out = BitSet::new(body.widths.len());
    for s in body.blocks[b].term.successors() {
        out.union_with(&live[s]);
    }
    out
}

/// Blocks that lie between a branch at the end of `b` and its post-dominator `end`: reachable
/// from `b`'s successors without passing through `end`.
pub(crate) fn influence_region(body: &FunctionBody<'_>, b: usize, end: Option<usize>) -> BitSet {
    let mut set = BitSet::new(body.blocks.len());
    let mut work = body.blocks[b].term.successors();
    while let Some(x) = work.pop() {
        if Some(x) != end && set.insert_bit(x) {
            work.extend(body.blocks[x].term.successors());
        }
    }
    set
}
