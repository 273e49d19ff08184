//! Index arithmetic keeps its strides, however the CUDA source spells it: if an address of these
//! kernels fell to a value per lane, their accesses would become gathers and several times slower.

use super::body::Terminator;
use super::function_plan::FunctionPlan;
use super::lane_classes::LaneClass;
use crate::{Instrumentation, LaunchVariant};
use rtcg_ptx::ast::*;

const GRID_STRIDE_SIGNED_PTX: &str = include_str!("affine_tests/grid_stride_signed.ptx");
const GRID_STRIDE_UNSIGNED_PTX: &str = include_str!("affine_tests/grid_stride_unsigned.ptx");
const MATRIX_PRODUCT_PTX: &str = include_str!("affine_tests/matrix_product.ptx");

fn with_function_plan(text: &str, block: [u32; 3], look: impl FnOnce(&FunctionPlan<'_>)) {
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
    let plan = FunctionPlan::new(
        &parsed.module,
        FuncId(0),
        LaunchVariant::from_block_shape(block),
        0,
        (&Instrumentation::NO_INSTRUMENTATION, &Default::default()),
    );
    look(&plan.expect("a plan"));
}

/// The classes of the addresses of all accesses to global memory.
fn global_address_classes(plan: &FunctionPlan<'_>) -> Vec<LaneClass> {
    let statements = plan.body.blocks.iter().flat_map(|b| &b.stmts);
    let global = |inst: &Inst| match inst {
        Inst::Ld { space: Space::Global, addr, .. } | Inst::St { space: Space::Global, addr, .. } => {
            Some(plan.classes.address_class(addr))
        }
        _ => None,
    };
    statements.filter_map(|st| global(&st.inst)).collect()
}

#[test]
fn grid_stride_loops_access_memory_contiguously() {
    for (text, accesses) in [(GRID_STRIDE_UNSIGNED_PTX, 3), (GRID_STRIDE_SIGNED_PTX, 15)] {
        with_function_plan(text, [256, 1, 1], |plan| {
            let found = global_address_classes(plan);
            assert!(found.len() >= accesses, "{found:?}");
            assert_eq!(found, vec![LaneClass::Affine(4); found.len()]);
        });
    }
}

/// A loop over `long i` that begins at an `int`, as clang compiles it: the sum is made with 64 bits, and its lowest 32 are
/// widened again.
#[test]
fn sums_of_64_bits_keep_their_stride_when_their_low_half_is_widened() {
    let text = "mov.u32 %r8, %tid.x; cvt.u64.u32 %d1, %r8; mov.u32 %r9, %ctaid.x; cvt.u64.u32 %d2, %r9;
        mov.u32 %r10, %ntid.x; cvt.u64.u32 %d3, %r10; mad.lo.s64 %d4, %d2, %d3, %d1; cvt.s64.s32 %d5, %d4;
        cvt.s64.s32 %d6, %r4; $next: shl.b64 %d7, %d5, 2; add.s64 %d7, %d0, %d7; st.global.u32 [%d7], %r4;
        add.s64 %d5, %d5, %d6; setp.lt.s64 %p1, %d5, %d6; @%p1 bra $next; mov.u32 %r0, 0;";
    with_function_plan(&kernel_with_body(text), [128, 1, 1], |plan| {
        let found = global_address_classes(plan);
        // The last one is the store that ends the kernel.
        assert!(found.len() > 1 && found.ends_with(&[LaneClass::Uniform]), "{found:?}");
        assert_eq!(found[..found.len() - 1], vec![LaneClass::Affine(4); found.len() - 1]);
    });
}

#[test]
fn matrix_products_access_rows_and_columns_without_gathers() {
    with_function_plan(MATRIX_PRODUCT_PTX, [32, 8, 1], |plan| {
        let found = global_address_classes(plan);
        assert!(found.iter().all(|c| matches!(c, LaneClass::Uniform | LaneClass::Affine(4))), "{found:?}");
    });
    with_function_plan(MATRIX_PRODUCT_PTX, [16, 16, 1], |plan| {
        let found = global_address_classes(plan);
        assert!(found.iter().all(|c| matches!(c, LaneClass::Chunked(0 | 4))), "{found:?}");
    });
}

/// The ends of the loops ask two lanes, not 32.
#[test]
fn bounds_are_decided_by_branch_endpoints() {
    for text in [GRID_STRIDE_UNSIGNED_PTX, GRID_STRIDE_SIGNED_PTX] {
        with_function_plan(text, [256, 1, 1], |plan| {
            let parting = |b: &usize| match plan.body.blocks[*b].term {
                Terminator::Branch { guard, .. } | Terminator::PredicatedSplit { guard, .. } => {
                    !plan.classes.lane_class_of(guard.reg).is_scalar()
                }
                _ => false,
            };
            let ends =
                |b: usize| super::branch_endpoints::find_branch_comparison(&plan.body, &plan.classes, &plan.live, b);
            let found: Vec<bool> =
                (0..plan.body.blocks.len()).filter(parting).map(|b| ends(b).is_some_and(|e| e.deferred)).collect();
            // The numbers of rounds of the unrolled loop are values per lane.
            assert!(found.iter().filter(|&&e| e).count() >= 2, "{found:?}");
        });
    }
}

/// In how many pieces the segment with the most is emitted.
fn max_fission_groups(plan: &FunctionPlan<'_>) -> usize {
    let pieces = |(b, block): (usize, &super::body::Block<'_>)| {
        let segments = super::segments::split_into_segments(&plan.classes, plan.body.carry_flag(), &block.stmts, false);
        let ends = super::segment_fission::fission_points(
            &plan.body,
            &plan.classes,
            &block.stmts,
            &segments,
            plan.live_out(b),
        );
        for (ends, (from, to, _)) in ends.iter().zip(&segments) {
            assert!(ends.is_sorted() && ends.last() == Some(&(to - from)), "{ends:?}");
        }
        ends.iter().map(Vec::len).max().unwrap_or(1)
    };
    plan.body.blocks.iter().enumerate().map(pieces).max().unwrap_or(1)
}

#[test]
fn sums_are_fissioned_term_by_term() {
    for block in [[32, 8, 1], [16, 16, 1]] {
        with_function_plan(MATRIX_PRODUCT_PTX, block, |plan| assert!(max_fission_groups(plan) >= 4));
    }
    for text in [GRID_STRIDE_UNSIGNED_PTX, GRID_STRIDE_SIGNED_PTX] {
        with_function_plan(text, [256, 1, 1], |plan| assert_eq!(max_fission_groups(plan), 1));
    }
}

/// How many loads and stores each segment of the block with the most stores has, in converged code.
fn accesses_of_segments(plan: &FunctionPlan<'_>) -> Vec<(usize, usize)> {
    let count = |stmts: &[super::body::Stmt<'_>]| {
        let loads = |inst: &Inst| matches!(inst, Inst::Ld { space: Space::Global, .. });
        let stores = |inst: &Inst| matches!(inst, Inst::St { .. });
        (stmts.iter().filter(|st| loads(&st.inst)).count(), stmts.iter().filter(|st| stores(&st.inst)).count())
    };
    let block = plan.body.blocks.iter().max_by_key(|b| count(&b.stmts).1).expect("a block");
    super::segments::split_into_segments(&plan.classes, plan.body.carry_flag(), &block.stmts, false)
        .into_iter()
        .map(|(from, to, _)| count(&block.stmts[from..to]))
        .collect()
}

/// How many segments the block with the most stores has, in converged code.
fn segments_of_block_with_most_stores(plan: &FunctionPlan<'_>) -> usize {
    accesses_of_segments(plan).len()
}

/// What a round of an unrolled loop loads does not wait in registers until the round before has stored.
#[test]
fn rounds_of_an_unrolled_loop_are_segments() {
    with_function_plan(GRID_STRIDE_SIGNED_PTX, [256, 1, 1], |plan| {
        assert_eq!(accesses_of_segments(plan), [(2, 1); 4]);
    });
}

/// Lanes need not wait for each other where each array is a parameter of its own.
#[test]
fn elementwise_statements_are_one_segment() {
    // The unrolled loop has four stores to one array, at a step that is not known.
    for (text, segments) in [(GRID_STRIDE_UNSIGNED_PTX, 1), (GRID_STRIDE_SIGNED_PTX, 4)] {
        with_function_plan(text, [256, 1, 1], |plan| assert_eq!(segments_of_block_with_most_stores(plan), segments));
    }
}

/// Lanes wait where they may access what others have: one array, at another place.
#[test]
fn accesses_through_one_pointer_are_ordered() {
    let address = "mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;";
    let far = "mul.wide.u32 %d3, %r5, 4; bra $next; $next: add.s64 %d4, %d2, %d3;";
    for (text, segments) in [
        ("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2], %r8; st.global.u32 [%d2+128], %r8; mov.u32 %r0, 0;", 2),
        ("ld.global.u32 %r8, [%d2+4]; st.global.u32 [%d2], %r8; st.global.u32 [%d2+128], %r8; mov.u32 %r0, 0;", 3),
        ("ld.global.u32 %r8, [%d4]; st.global.u32 [%d2], %r8; mov.u32 %r0, 0;", 3),
        ("st.global.u32 [%d2], %r1; st.global.u32 [%d4], %r1; mov.u32 %r0, 0;", 3),
    ] {
        with_function_plan(&kernel_with_body(&format!("{address} {far} {text}")), [32, 1, 1], |plan| {
            assert_eq!(segments_of_block_with_most_stores(plan), segments, "{text}");
        });
    }
}

/// A kernel with these instructions. `%r1` is `%tid.x`, `%r2` the thread's index in its block, `%r3` its
/// number in a grid of one dimension, `%r4` a parameter; `%r0` is stored at the end.
fn kernel_with_body(text: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 d, .param .u32 n) {{
        .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; ld.param.u64 %d0, [d]; ld.param.u32 %r4, [n];
        mov.u32 %r1, %tid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.y; mad.lo.s32 %r2, %r6, %r5, %r1;
        mov.u32 %r7, %ctaid.x; mad.lo.s32 %r3, %r7, %r5, %r1; setp.eq.u32 %p0, %r4, 1;
        {text} st.global.u32 [%d0], %r0; ret; }}"
    )
}

/// The class of what the instructions leave in `%r0`.
fn lane_class_of(block: [u32; 3], text: &str) -> LaneClass {
    let mut class = LaneClass::Varying;
    with_function_plan(&kernel_with_body(text), block, |plan| {
        let r = plan.f.regs.iter().position(|r| &*r.name == "%r0").unwrap();
        class = plan.classes.lane_class_of(Reg(r as u32));
    });
    class
}

/// `x / 2^log` and `x % 2^log` of a signed number, as the compiler writes them.
fn signed_quotient_ptx(x: &str, log: u32) -> String {
    let bias = 32 - log;
    format!("shr.s32 %r8, {x}, 31; shr.u32 %r8, %r8, {bias}; add.s32 %r9, {x}, %r8; shr.s32 %r0, %r9, {log};")
}

fn signed_remainder_ptx(x: &str, log: u32) -> String {
    let (bias, mask) = (32 - log, -(1_i64 << log));
    format!(
        "shr.s32 %r8, {x}, 31; shr.u32 %r10, %r8, {bias}; add.s32 %r9, {x}, %r10; and.b32 %r11, %r9, {mask}; sub.s32 %r0, {x}, %r11;"
    )
}

#[test]
fn lane_and_warp_ids_have_strides() {
    let (uniform, by_one) = (LaneClass::Uniform, LaneClass::Affine(1));
    for block in [[32, 1, 1], [256, 1, 1], [32, 8, 1], [96, 2, 2]] {
        for x in ["%r1", "%r2", "%r3"] {
            for lane in [
                format!("and.b32 %r0, {x}, 31;"),
                format!("rem.u32 %r0, {x}, 32;"),
                format!("and.b32 %r0, {x}, 127;"),
                format!("bfe.u32 %r0, {x}, 0, 5;"),
                format!("and.b32 %r9, {x}, -32; sub.s32 %r0, {x}, %r9;"),
                format!("shl.b32 %r9, %r7, 10; or.b32 %r0, %r9, {x};"),
                format!("add.s32 %r9, %r5, -1; and.b32 %r0, {x}, %r9;"),
                format!("bfi.b32 %r0, %r4, {x}, 5, 27;"),
                format!("selp.b32 %r0, {x}, %r1, %p0;"),
                format!("cvt.u64.u32 %d1, {x}; and.b64 %d2, %d1, 31; cvt.u32.u64 %r0, %d2;"),
                signed_remainder_ptx(x, 5),
                signed_remainder_ptx(x, 6),
            ] {
                assert_eq!(lane_class_of(block, &lane), by_one, "{block:?} {lane}");
            }
            for warp in [
                format!("shr.u32 %r0, {x}, 5;"),
                format!("shr.s32 %r0, {x}, 7;"),
                format!("div.u32 %r0, {x}, 64;"),
                format!("and.b32 %r0, {x}, -32;"),
                format!("bfe.u32 %r0, {x}, 6, 3;"),
                format!("bfi.b32 %r0, %r4, {x}, 0, 5;"),
                signed_quotient_ptx(x, 5),
                signed_quotient_ptx(x, 8),
            ] {
                assert_eq!(lane_class_of(block, &warp), uniform, "{block:?} {warp}");
            }
            let halves =
                [("and.b32 %r0,", 15, 1), ("and.b32 %r0,", 7, 1), ("shr.u32 %r0,", 3, 0), ("shr.u32 %r0,", 4, 0)];
            for (inst, n, stride) in halves {
                assert_eq!(
                    lane_class_of(block, &format!("{inst} {x}, {n};")),
                    LaneClass::Chunked(stride),
                    "{inst} {x}, {n}"
                );
            }
        }
        assert_eq!(lane_class_of(block, "mov.u32 %r9, %laneid; and.b32 %r0, %r9, 31;"), by_one);
        assert_eq!(
            lane_class_of(block, "and.b32 %r9, %r1, 31; shl.b32 %r10, %r9, 2; or.b32 %r0, %r10, 3;"),
            LaneClass::Affine(4)
        );
        assert_eq!(lane_class_of(block, "xor.b32 %r0, %r1, 31;"), LaneClass::Affine(-1));
    }
}

#[test]
fn contiguous_groups_of_eight_have_chunk_strides() {
    for block in [[8, 4, 1], [16, 16, 1], [48, 2, 1]] {
        for x in ["%r1", "%r2"] {
            assert_eq!(lane_class_of(block, &format!("and.b32 %r0, {x}, 31;")), LaneClass::Chunked(1));
            assert_eq!(lane_class_of(block, &format!("shr.u32 %r0, {x}, 5;")), LaneClass::Chunked(0));
            assert_eq!(lane_class_of(block, &signed_quotient_ptx(x, 3)), LaneClass::Chunked(0));
        }
    }
}

#[test]
fn lanes_whose_upper_bits_may_differ_have_no_stride() {
    let cases = [
        // The grid's numbers of threads in blocks of 33 begin anywhere.
        ([33, 1, 1], "and.b32 %r0, %r3, 31;"),
        ([33, 1, 1], "shr.u32 %r0, %r3, 5;"),
        ([5, 5, 1], "and.b32 %r0, %r1, 31;"),
        ([64, 1, 1], "add.s32 %r9, %r1, 1; and.b32 %r0, %r9, 31;"),
        ([64, 1, 1], "add.s32 %r9, %r1, %r4; shr.u32 %r0, %r9, 5;"),
        ([64, 1, 1], "shl.b32 %r9, %r1, 3; and.b32 %r0, %r9, 31;"),
        ([64, 1, 1], "and.b32 %r0, %r1, 3;"),
        ([64, 1, 1], "and.b32 %r0, %r1, %r4;"),
        ([64, 1, 1], "or.b32 %r0, %r1, %r4;"),
        ([64, 1, 1], "shr.u32 %r0, %r1, 2;"),
        ([64, 1, 1], "bfi.b32 %r0, %r4, %r1, 2, 8;"),
        ([64, 1, 1], "bfi.b32 %r0, %r1, %r4, 2, %r4;"),
        ([64, 1, 1], "shr.u32 %r0, %r1, %r4;"),
        ([64, 1, 1], "mov.u32 %r9, %r1; @%p0 mov.u32 %r9, %r4; and.b32 %r0, %r9, 31;"),
        ([16, 2, 1], "add.s32 %r9, %r1, 4; and.b32 %r0, %r9, 31;"),
    ];
    for (block, text) in cases {
        assert_eq!(lane_class_of(block, text), LaneClass::Varying, "{block:?} {text}");
    }
    // A remainder of a sum that begins at no multiple has none either, be it signed or not.
    let beside = format!("add.s32 %r12, %r1, 1; {}", signed_remainder_ptx("%r12", 5));
    assert_eq!(lane_class_of([64, 1, 1], &beside), LaneClass::Varying);
}

/// A sum that another block reads may have been made by masked code, from a negative number.
#[test]
fn dividends_are_checked_where_they_are_used() {
    let apart =
        "shr.s32 %r8, %r3, 31; shr.u32 %r10, %r8, 27; add.s32 %r9, %r3, %r10; setp.gt.u32 %p1, %r1, 5; @%p1 bra $on;
        st.global.u32 [%d0], %r9; $on: shr.s32 %r0, %r9, 5;";
    assert_eq!(lane_class_of([64, 1, 1], apart), LaneClass::Varying);
    let rewritten = "shr.s32 %r8, %r3, 31; shr.u32 %r10, %r8, 27; add.s32 %r3, %r3, 1; add.s32 %r9, %r3, %r10; shr.s32 %r0, %r9, 5;";
    assert_eq!(lane_class_of([64, 1, 1], rewritten), LaneClass::Varying);
}

/// All lanes of a warp go the way of the warp's number: there is nothing for lanes that part.
#[test]
fn branches_on_the_warp_id_are_uniform() {
    let branch = |x: &str| {
        format!(
            "shr.u32 %r9, {x}, 5; setp.ne.s32 %p1, %r9, 0; @%p1 bra $end; bar.sync 0;
            and.b32 %r10, {x}, -32; setp.eq.s32 %p2, %r10, 64; @%p2 bra $end; mov.u32 %r0, %r9; $end:"
        )
    };
    let part = |block: [u32; 3], x: &str| {
        let mut parts = 0;
        with_function_plan(&kernel_with_body(&branch(x)), block, |plan| {
            parts = plan.body.blocks.iter().filter(|b| plan.classes.may_diverge(&b.term)).count();
        });
        parts
    };
    for x in ["%r1", "%r2", "%r3"] {
        assert_eq!([part([128, 1, 1], x), part([32, 4, 1], x)], [0, 0], "{x}");
        assert_ne!(part([16, 16, 1], x), 0, "{x}");
    }
}
