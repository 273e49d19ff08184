//! Facts about the control-flow graph of a [`FunctionBody`]: dominators, post-dominators, loops,
//! liveness. Assumes that blocks are numbered with every reachable block once.

use super::body::{FunctionBody, stmt_defs, stmt_uses};
use rtcg_ptx::ast::Reg;

/// A set of small numbers. It takes the space that its largest number needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub(crate) fn insert_bit(&mut self, i: usize) -> bool {
        if self.0.len() <= i / 64 {
            self.0.resize(i / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.0[i / 64], 1 << (i % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
    pub(crate) fn remove_bit(&mut self, i: usize) {
        if let Some(word) = self.0.get_mut(i / 64) {
            *word &= !(1 << (i % 64));
        }
    }
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 != 0)
    }
    /// Adds all of `other`; says whether anything was new.
    pub(crate) fn union_with(&mut self, other: &BitSet) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
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

#[cfg(test)]
impl PartialEq for BitSet {
    fn eq(&self, other: &BitSet) -> bool {
        self.iter_bits().eq(other.iter_bits())
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
    let mut seen = BitSet::default();
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
                loops.push((h, BitSet::default()));
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
    let carry = body.carry_flag();
    let mut uses = vec![];
    // What some block reads before it writes it.
    let mut passed_on = BitSet::default();
    for block in &body.blocks {
        let (mut used, mut killed) = (BitSet::default(), BitSet::default());
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
        passed_on.union_with(&used);
        uses.push(used);
    }
    let mut kills = vec![];
    for block in &body.blocks {
        let mut killed = BitSet::default();
        for st in &block.stmts {
            stmt_defs(st, carry, &mut |r| {
                if passed_on.contains(r.index()) {
                    killed.insert_bit(r.index());
                }
            });
        }
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
    let mut out = BitSet::default();
    for s in body.blocks[b].term.successors() {
        out.union_with(&live[s]);
    }
    out
}

/// Blocks that lie between a branch at the end of `b` and its post-dominator `end`: reachable
/// from `b`'s successors without passing through `end`.
pub(crate) fn influence_region(body: &FunctionBody<'_>, b: usize, end: Option<usize>) -> BitSet {
    let mut set = BitSet::default();
    let mut work = body.blocks[b].term.successors();
    while let Some(x) = work.pop() {
        if Some(x) != end && set.insert_bit(x) {
            work.extend(body.blocks[x].term.successors());
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::super::body::{FunctionBody, Terminator};
    use super::*;
    use rtcg_ptx::ast::Module;

    fn kernel_module(body: &str) -> Module {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<8>;\n.reg .b32 %r<16>;\n{body}\n}}\n"
        );
        let result = rtcg_ptx::parse(text);
        assert!(result.diagnostics.is_empty(), "{}", result.render_diagnostics("k.ptx"));
        result.module
    }

    fn is_live_in(module: &Module, body: &FunctionBody<'_>, block: usize, name: &str) -> bool {
        let register = module.functions[0].regs.iter().position(|r| &*r.name == name).expect("a register");
        live_in(body)[block].contains(register)
    }

    fn terminators<'b>(body: &'b FunctionBody<'_>) -> Vec<&'b Terminator> {
        body.blocks.iter().map(|block| &block.term).collect()
    }

    #[test]
    fn if_else_branches_rejoin() {
        let module = kernel_module(
            "@%p1 bra $else; mov.u32 %r1, 1; bra $join; $else: mov.u32 %r1, 2; $join: mov.u32 %r2, %r1; ret;",
        );
        let body = FunctionBody::from_function(&module.functions[0]);
        assert_eq!(immediate_dominators(&body), [0, 0, 0, 0]);
        assert_eq!(post_dominators(&body), [Some(3), Some(3), Some(3), None]);
        assert!(matches!(body.blocks[0].term, Terminator::Branch { taken: 2, fall: 1, .. }));
        assert!(is_live_in(&module, &body, 3, "%r1") && is_live_in(&module, &body, 0, "%p1"));
        assert!(!is_live_in(&module, &body, 1, "%r1"));
    }

    #[test]
    fn loop_blocks_precede_what_follows_the_loop() {
        // The exit of the loop is the fall-through and stands in the middle of the text.
        let module = kernel_module(
            "$head: @%p1 bra $body; bra $done; $done: ret;\n\
             $body: @%p2 bra $left; add.u32 %r1, %r1, 1; bra $latch; $left: @%p3 bra $done; $latch: bra $head;",
        );
        let body = FunctionBody::from_function(&module.functions[0]);
        let nest = find_natural_loops(&body, &immediate_dominators(&body));
        let [(header, blocks)] = &nest.loops[..] else { panic!("{} loops", nest.loops.len()) };
        let blocks: Vec<usize> = blocks.iter_bits().collect();
        assert_eq!(blocks, Vec::from_iter(*header..header + blocks.len()), "contiguous");
        let leave = terminators(&body).iter().position(|term| **term == Terminator::Exit).expect("an exit");
        assert!(leave > *blocks.last().expect("blocks"));
    }

    #[test]
    fn endless_loops_have_no_post_dominator() {
        let module = kernel_module("@%p1 ret; $a: bra $a;");
        // Who leaves does so through the block of the `ret`.
        assert_eq!(post_dominators(&FunctionBody::from_function(&module.functions[0])), [Some(2), None, None]);
    }

    #[test]
    fn unreachable_blocks_are_dropped_and_the_end_returns() {
        let module = kernel_module("bra $x; mov.u32 %r1, 1; $x: @%p1 exit;");
        let body = FunctionBody::from_function(&module.functions[0]);
        assert!(body.blocks.iter().all(|block| block.stmts.is_empty()));
        assert_eq!(terminators(&body)[2..], [&Terminator::Exit; 2]);
        let module = kernel_module("$list: .branchtargets $a, $b, $a; brx.idx %r1, $list; $a: ret; $b: ret;");
        let body = FunctionBody::from_function(&module.functions[0]);
        assert!(matches!(&body.blocks[0].term, Terminator::Table { targets, .. } if *targets == [2, 1, 2]));
    }

    #[test]
    fn barriers_end_blocks_and_guarded_writes_keep_values_live() {
        let module = kernel_module("mov.u32 %r1, 0; bar.sync 0; @%p1 mov.u32 %r1, 1; mov.u32 %r2, %r1; ret;");
        let body = FunctionBody::from_function(&module.functions[0]);
        assert_eq!(body.blocks.iter().map(|block| block.stmts.len()).collect::<Vec<_>>(), [2, 2]);
        assert!(is_live_in(&module, &body, 1, "%r1") && !is_live_in(&module, &body, 0, "%r1"));
    }

    /// Blocks that can be reached from `from` without entering `without`.
    fn reachable_blocks(body: &FunctionBody<'_>, from: usize, without: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; body.blocks.len()];
        let mut stack = vec![from];
        while let Some(b) = stack.pop() {
            if Some(b) != without && !std::mem::replace(&mut seen[b], true) {
                stack.extend(body.blocks[b].term.successors());
            }
        }
        seen
    }

    fn check_dominators(body: &FunctionBody<'_>, idom: &[usize]) {
        for a in 0..body.blocks.len() {
            let around = reachable_blocks(body, 0, Some(a));
            (0..body.blocks.len()).for_each(|b| assert_eq!(block_dominates(idom, a, b), !around[b], "{a} and {b}"));
            assert!(idom[a] < a || a == 0);
        }
    }

    /// `p` post-dominates `a` if `a` cannot leave without it; the immediate one is the nearest.
    fn check_post_dominators(body: &FunctionBody<'_>) {
        let leaves = |from, without| {
            let seen = reachable_blocks(body, from, without);
            (0..seen.len()).any(|b| seen[b] && body.blocks[b].term.successors().is_empty())
        };
        for (a, found) in post_dominators(body).into_iter().enumerate() {
            let others = (0..body.blocks.len()).filter(|&p| p != a && leaves(a, None) && !leaves(a, Some(p)));
            let all: Vec<usize> = others.collect();
            let is_nearest = |p: &usize| all.iter().all(|&q| q == *p || !leaves(*p, Some(q)));
            assert_eq!(found, all.iter().copied().find(is_nearest), "block {a} of {all:?}");
        }
    }

    /// Natural loops are what reaches a back edge without the header, which comes first.
    fn check_loops(body: &FunctionBody<'_>, idom: &[usize]) {
        for (header, blocks) in find_natural_loops(body, idom).loops {
            assert_eq!(blocks.iter_bits().next(), Some(header));
            for b in blocks.iter_bits() {
                let ahead = reachable_blocks(body, b, None);
                assert!(block_dominates(idom, header, b) && ahead[header], "block {b} of the loop at {header}");
            }
        }
    }

    /// Liveness again, statement by statement until nothing changes.
    fn check_liveness(body: &FunctionBody<'_>) {
        let mut into = vec![BitSet::default(); body.blocks.len()];
        loop {
            let before = into.clone();
            for (b, block) in body.blocks.iter().enumerate() {
                let mut live = live_out(body, &into, b);
                block.term.for_each_use(&mut |r| _ = live.insert_bit(r.index()));
                for st in block.stmts.iter().rev() {
                    stmt_defs(st, body.carry_flag(), &mut |r| live.remove_bit(r.index()));
                    stmt_uses(st, body.carry_flag(), &mut |r| _ = live.insert_bit(r.index()));
                }
                into[b] = live;
            }
            if into == before {
                return assert_eq!(into, live_in(body));
            }
        }
    }

    #[test]
    fn facts_about_real_kernels_match_the_definitions() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/corpus");
        let mut n_graphs = 0;
        for entry in std::fs::read_dir(folder).expect("the corpus") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let module = rtcg_ptx::parse(std::fs::read_to_string(&path).expect("a file")).module;
            for function in module.functions.iter().filter(|function| function.defined) {
                let body = FunctionBody::from_function(function);
                if body.blocks.len() > 400 {
                    continue;
                }
                println!("{}: {}, {} blocks", path.display(), function.name, body.blocks.len());
                n_graphs += 1;
                let idom = immediate_dominators(&body);
                check_dominators(&body, &idom);
                check_post_dominators(&body);
                check_loops(&body, &idom);
                check_liveness(&body);
            }
        }
        assert!(n_graphs > 100);
    }
}
