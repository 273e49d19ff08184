//! Index arithmetic keeps its strides, however the CUDA source spells it: if an address of these
//! kernels fell to a value per lane, their accesses would become gathers and several times slower.

use super::body::Term;
use super::classes::Class;
use super::plan::Plan;
use crate::jit::{Instrument, Variant};
use rtcg_ptx::ast::*;

const SIGNED: &str = include_str!("../../../../../tests/ptx/affine/grid_stride_signed.ptx");
const UNSIGNED: &str = include_str!("../../../../../tests/ptx/affine/grid_stride_unsigned.ptx");
const PRODUCT: &str = include_str!("../../../../../tests/ptx/affine/matrix_product.ptx");

fn with_plan(text: &str, block: [u32; 3], look: impl FnOnce(&Plan<'_>)) {
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{}", parsed.render("test"));
    let plan =
        Plan::new(&parsed.module, FuncId(0), Variant::for_block(block), 0, (&Instrument::NONE, &Default::default()));
    look(&plan.expect("a plan"));
}

/// The classes of the addresses of all accesses to global memory.
fn addresses(plan: &Plan<'_>) -> Vec<Class> {
    let statements = plan.body.blocks.iter().flat_map(|b| &b.stmts);
    let global = |inst: &Inst| match inst {
        Inst::Ld { space: Space::Global, addr, .. } | Inst::St { space: Space::Global, addr, .. } => {
            Some(plan.classes.address(addr))
        }
        _ => None,
    };
    statements.filter_map(|st| global(&st.inst)).collect()
}

#[test]
fn grid_stride_loops_access_memory_side_by_side() {
    for (text, accesses) in [(UNSIGNED, 3), (SIGNED, 15)] {
        with_plan(text, [256, 1, 1], |plan| {
            let found = addresses(plan);
            assert!(found.len() >= accesses, "{found:?}");
            assert_eq!(found, vec![Class::Affine(4); found.len()]);
        });
    }
}

#[test]
fn matrix_products_access_rows_and_columns_without_gathers() {
    with_plan(PRODUCT, [32, 8, 1], |plan| {
        let found = addresses(plan);
        assert!(found.iter().all(|c| matches!(c, Class::Uniform | Class::Affine(4))), "{found:?}");
    });
    with_plan(PRODUCT, [16, 16, 1], |plan| {
        let found = addresses(plan);
        assert!(found.iter().all(|c| matches!(c, Class::Chunked(0 | 4))), "{found:?}");
    });
}

/// The ends of the loops ask two lanes, not 32.
#[test]
fn bounds_are_decided_by_two_lanes() {
    for text in [UNSIGNED, SIGNED] {
        with_plan(text, [256, 1, 1], |plan| {
            let parting = |b: &usize| match plan.body.blocks[*b].term {
                Term::Branch { guard, .. } | Term::Split { guard, .. } => !plan.classes.get(guard.reg).is_scalar(),
                _ => false,
            };
            let ends = |b: usize| super::ends::find(&plan.body, &plan.classes, &plan.live, b);
            let found: Vec<bool> =
                (0..plan.body.blocks.len()).filter(parting).map(|b| ends(b).is_some_and(|e| e.deferred)).collect();
            // The numbers of rounds of the unrolled loop are values per lane.
            assert!(found.iter().filter(|&&e| e).count() >= 2, "{found:?}");
        });
    }
}

/// In how many pieces the segment with the most is emitted.
fn most_pieces(plan: &Plan<'_>) -> usize {
    let pieces = |(b, block): (usize, &super::body::Block<'_>)| {
        let segments = super::segments::split(&plan.classes, plan.body.carry(), &block.stmts, false);
        let ends = super::pieces::of_block(&plan.body, &plan.classes, &block.stmts, &segments, plan.live_out(b));
        for (ends, (from, to, _)) in ends.iter().zip(&segments) {
            assert!(ends.is_sorted() && ends.last() == Some(&(to - from)), "{ends:?}");
        }
        ends.iter().map(Vec::len).max().unwrap_or(1)
    };
    plan.body.blocks.iter().enumerate().map(pieces).max().unwrap_or(1)
}

#[test]
fn sums_are_emitted_term_after_term() {
    for block in [[32, 8, 1], [16, 16, 1]] {
        with_plan(PRODUCT, block, |plan| assert!(most_pieces(plan) >= 4));
    }
    for text in [UNSIGNED, SIGNED] {
        with_plan(text, [256, 1, 1], |plan| assert_eq!(most_pieces(plan), 1));
    }
}
