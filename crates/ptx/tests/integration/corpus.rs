//! Real PTX of NVRTC: it parses, prints and parses to the same module, and its control-flow
//! graphs have the properties their documentation promises, checked from the definitions.

use crate::common::{check_round_trip, load_corpus};
use rtcg_ptx::ast::*;
use rtcg_ptx::cfg::Terminator;
use rtcg_ptx::{ControlFlowGraph, RegSet, parse};

#[test]
fn only_listed_instructions_are_unsupported() {
    let mut found = String::new();
    for (name, text) in load_corpus() {
        let result = parse(text);
        assert!(!result.has_errors(), "{}", result.render_diagnostics(&name));
        for diagnostic in &result.diagnostics {
            let words = &result.module.source[diagnostic.span.start as usize..diagnostic.span.end as usize];
            found += &format!("{name}: {words}\n");
        }
    }
    let expected = include_str!("../../../../tests/ptx/corpus/unsupported.txt");
    assert_eq!(found, expected, "the list of instructions that no consumer executes has changed");
}

#[test]
fn every_line_of_a_line_table_is_kept() {
    let (_, text) = load_corpus().into_iter().find(|(name, _)| name == "calls.80l.ptx").expect("calls.80l.ptx");
    let result = parse(text);
    let kernel = result.module.find_kernel("k").expect("kernel").1;
    assert!(kernel.body.iter().filter(|s| s.line.is_some()).count() * 2 > kernel.body.len());
    assert!(result.module.files.iter().any(|file| file.ends_with("k.cu")));
}

#[test]
fn printed_modules_parse_to_the_same_module() {
    let files = load_corpus();
    assert!(files.len() > 25);
    for (name, text) in files {
        check_round_trip(&name, parse(text).module);
    }
}

/// Blocks that can be reached from `from` without entering `without`.
fn reachable_blocks(from: u32, without: Option<u32>, next: impl Fn(u32) -> Vec<u32>, n: usize) -> Vec<bool> {
    let mut seen = vec![false; n];
    let mut stack = vec![from];
    while let Some(id) = stack.pop() {
        if Some(id) != without && !std::mem::replace(&mut seen[id as usize], true) {
            stack.extend(next(id));
        }
    }
    seen
}

fn block_successors(cfg: &ControlFlowGraph, id: u32) -> Vec<u32> {
    let mut list = Vec::new();
    cfg.blocks[id as usize].terminator.for_each_successor(|to| list.push(to));
    list
}

fn is_exit_block(cfg: &ControlFlowGraph, id: u32) -> bool {
    matches!(cfg.blocks[id as usize].terminator, Terminator::Exit | Terminator::ExitIf { .. })
}

fn check_dominators(cfg: &ControlFlowGraph) {
    let n = cfg.blocks.len();
    for a in 0..n as u32 {
        let around = reachable_blocks(0, Some(a), |id| block_successors(cfg, id), n);
        for b in 0..n as u32 {
            assert_eq!(cfg.dominates(a, b), !around[b as usize], "{a} dominates {b}");
        }
        assert!(cfg.idom[a as usize] < a || a == 0);
    }
}

/// `p` post-dominates `a` if `a` cannot leave without it; the immediate one is the nearest.
fn check_post_dominators(cfg: &ControlFlowGraph) {
    let n = cfg.blocks.len();
    let can_leave = |from: u32, without: Option<u32>| {
        let seen = reachable_blocks(from, without, |id| block_successors(cfg, id), n);
        (0..n as u32).any(|id| seen[id as usize] && is_exit_block(cfg, id))
    };
    for a in 0..n as u32 {
        if !can_leave(a, None) {
            assert_eq!(cfg.ipdom[a as usize], None);
            continue;
        }
        let all: Vec<u32> = (0..n as u32).filter(|&p| p != a && !can_leave(a, Some(p))).collect();
        match cfg.ipdom[a as usize] {
            None => assert!(all.is_empty(), "block {a} has post-dominators {all:?}"),
            Some(p) => {
                assert!(all.contains(&p));
                assert!(all.iter().all(|&q| q == p || !can_leave(p, Some(q))));
            }
        }
    }
}

fn check_block_order(cfg: &ControlFlowGraph, function: &Function) {
    for l in cfg.loops.iter().filter(|_| cfg.reducible) {
        let (first, last) = (l.blocks[0], l.blocks[l.blocks.len() - 1]);
        assert_eq!(first, l.header);
        assert_eq!((last - first + 1) as usize, l.blocks.len(), "the loop at {first} is not contiguous");
    }
    let mut covered = vec![0; function.body.len()];
    cfg.blocks.iter().for_each(|b| b.statement_range().for_each(|i| covered[i] += 1));
    assert!(covered.iter().all(|&times| times <= 1));
    for (from, to) in cfg.back_edges() {
        assert!(!cfg.reducible || cfg.dominates(to, from));
    }
}

/// Liveness again, statement by statement until nothing changes.
fn check_liveness(cfg: &ControlFlowGraph, function: &Function) {
    let n = function.regs.len();
    let mut into: Vec<RegSet> = vec![RegSet::new(n); cfg.blocks.len()];
    loop {
        let mut changed = false;
        for id in 0..cfg.blocks.len() {
            let mut live = RegSet::new(n);
            block_successors(cfg, id as u32).iter().for_each(|&to| live.union_with(&into[to as usize]));
            for statement in function.body[cfg.blocks[id].statement_range()].iter().rev() {
                if statement.guard.is_none() {
                    statement.for_each_def(|reg| live.remove_reg(reg));
                }
                statement.for_each_use(|reg| _ = live.insert_reg(reg));
            }
            changed |= live != into[id];
            into[id] = live;
        }
        if !changed {
            break;
        }
    }
    for (id, live) in (0u32..).zip(&into) {
        assert_eq!(live, cfg.live_in(id), "block {id}");
    }
}

#[test]
fn control_flow_graphs_match_the_definitions() {
    let mut n_graphs = 0;
    for (name, text) in load_corpus() {
        for function in parse(text).module.functions.iter().filter(|f| f.defined) {
            let cfg = ControlFlowGraph::new(function);
            if cfg.blocks.len() > 400 {
                continue;
            }
            println!("{name}: {}, {} blocks", function.name, cfg.blocks.len());
            n_graphs += 1;
            check_dominators(&cfg);
            check_post_dominators(&cfg);
            check_block_order(&cfg, function);
            check_liveness(&cfg, function);
        }
    }
    assert!(n_graphs > 100);
}
