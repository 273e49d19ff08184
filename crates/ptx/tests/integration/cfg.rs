//! The control-flow graph on shapes drawn by hand; `corpus.rs` checks it on real kernels.

use rtcg_ptx::ast::*;
use rtcg_ptx::cfg::{BlockBoundary, Terminator};
use rtcg_ptx::{ControlFlowGraph, parse};

fn parse_function(body: &str) -> Function {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .pred %p<8>;\n.reg .b32 %r<16>;\n{body}\n}}\n"
    );
    let result = parse(text);
    assert!(result.diagnostics.is_empty(), "{}", result.render_diagnostics("k.ptx"));
    result.module.functions[0].clone()
}

fn reg_named(function: &Function, name: &str) -> Reg {
    Reg(function.regs.iter().position(|r| &*r.name == name).expect("register") as u32)
}

#[test]
fn if_else_branches_rejoin() {
    let f = parse_function(
        "@%p1 bra $else; mov.u32 %r1, 1; bra $join; $else: mov.u32 %r1, 2; $join: mov.u32 %r2, %r1; ret;",
    );
    let cfg = ControlFlowGraph::new(&f);
    assert_eq!(cfg.blocks.len(), 4);
    assert_eq!(cfg.idom, [0, 0, 0, 0]);
    assert_eq!(cfg.ipdom, [Some(3), Some(3), Some(3), None]);
    assert!(matches!(cfg.blocks[0].terminator, Terminator::Branch { taken: 2, otherwise: 1, .. }));
    assert!(cfg.live_in(3).contains_reg(reg_named(&f, "%r1")));
    assert!(cfg.live_in(0).contains_reg(reg_named(&f, "%p1")));
    assert!(!cfg.live_in(1).contains_reg(reg_named(&f, "%r1")));
}

#[test]
fn loop_blocks_precede_what_follows_the_loop() {
    // The exit of the loop is the fall-through and stands in the middle of the text.
    let f = parse_function(
        "$head: @%p1 bra $body; bra $done; $done: ret;\n\
         $body: @%p2 bra $left; add.u32 %r1, %r1, 1; bra $latch; $left: @%p3 bra $done; $latch: bra $head;",
    );
    let cfg = ControlFlowGraph::new(&f);
    assert_eq!(cfg.loops.len(), 1);
    let blocks = &cfg.loops[0].blocks;
    assert_eq!(blocks[0], cfg.loops[0].header);
    let last = *blocks.last().expect("blocks");
    assert_eq!(last - blocks[0] + 1, blocks.len() as u32, "contiguous");
    let leave = cfg.blocks.iter().position(|b| b.terminator == Terminator::Exit).expect("leave") as u32;
    assert!(leave > last);
    assert_eq!(cfg.back_edges().count(), 1);
    assert!(cfg.reducible);
}

#[test]
fn endless_and_irreducible_graphs_are_recognised() {
    let cfg = ControlFlowGraph::new(&parse_function("@%p1 bra $b; $a: @%p2 bra $b; ret; $b: bra $a;"));
    assert!(!cfg.reducible);
    assert_eq!(cfg.blocks.len(), 4);
    let cfg = ControlFlowGraph::new(&parse_function("@%p1 ret; $a: bra $a;"));
    assert_eq!(cfg.ipdom, [None, None]);
}

#[test]
fn unreachable_blocks_are_dropped_and_the_end_returns() {
    let f = parse_function("bra $x; mov.u32 %r1, 1; $x: @%p1 exit;");
    let cfg = ControlFlowGraph::new(&f);
    assert_eq!(cfg.blocks.len(), 3);
    assert_eq!(cfg.blocks[2].statement_range(), 3..3);
    assert_eq!(cfg.blocks[2].terminator, Terminator::Exit);
    assert_eq!(cfg.block_of_statement(1), None);
}

#[test]
fn boundaries_split_blocks_and_guarded_writes_keep_values_live() {
    let f = parse_function("mov.u32 %r1, 0; bar.sync 0; @%p1 mov.u32 %r1, 1; mov.u32 %r2, %r1; ret;");
    let cfg = ControlFlowGraph::build_with_boundaries(&f, |s| {
        let bar = matches!(s.inst, Inst::Bar { .. });
        BlockBoundary { before: bar, after: bar }
    });
    assert_eq!(cfg.blocks.iter().map(|b| (b.start, b.end)).collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 5)]);
    // The guarded write keeps the old value alive.
    assert!(cfg.live_in(2).contains_reg(reg_named(&f, "%r1")));
    assert!(!cfg.live_in(0).contains_reg(reg_named(&f, "%r1")));
}

#[test]
fn brx_is_a_switch_terminator() {
    let f = parse_function("$list: .branchtargets $a, $b, $a; brx.idx %r1, $list; $a: ret; $b: ret;");
    let cfg = ControlFlowGraph::new(&f);
    assert!(
        matches!(&cfg.blocks[0].terminator, Terminator::Switch { targets, guard: None, .. } if *targets == [1, 2, 1])
    );
    assert_eq!(cfg.blocks[0].successors, [1, 2]);
}
