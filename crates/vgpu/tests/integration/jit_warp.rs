//! Warp operations, barriers with results, atomics, calls and early exits, converged and masked.

use crate::jit_support::*;
use rtcg_vgpu_exec::{FaultKind, LaunchConfig};

/// A kernel with one output pointer in `%rd1`, `%tid.x` in `%r1` and its element's address in `%rd2`.
fn kernel_text(regs: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out) {{
            .reg .pred %p<10>; .reg .b32 %r<30>; .reg .b64 %rd<10>; {regs}
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd2, %r1, 4;
            add.u64 %rd2, %rd1, %rd2;
            {body}
            ret;
        }}"
    )
}

fn run_outputs(ptx: &str, threads: u32) -> Vec<u32> {
    let n = threads as usize;
    to_u32s(&run_all_variants(ptx, "k", 1, [threads, 1, 1], &[buffer_arg(&vec![0u32; n])])[0])
}

#[test]
fn shuffles_follow_their_mode_and_segments() {
    let source = |mode: &str, lane: i64, b: i64, c: i64| {
        let (clamp, seg) = (c & 31, c >> 8 & 31);
        let (min, max) = (lane & seg, (lane & seg) | (clamp & !seg));
        let (j, ok) = match mode {
            "up" => (lane - b, lane - b >= max),
            "down" => (lane + b, lane + b <= max),
            "bfly" => (lane ^ b, lane ^ b <= max),
            _ => (min | (b & !seg), (min | (b & !seg)) <= max),
        };
        if ok { (j, 1) } else { (lane, 0) }
    };
    for (mode, b, c) in [
        ("up", 3, 0),
        ("down", 5, 31),
        ("bfly", 6, 31),
        ("idx", 9, 31),
        ("down", 2, 0x181f),
        ("up", 1, 0x1c00),
        ("bfly", 1, 0x1e1f),
    ] {
        for dynamic in [false, true] {
            let amount = if dynamic { "%r9" } else { &b.to_string() };
            // The dynamic amount is read from memory, so that no compiler knows it.
            let ptx = kernel_text(
                "",
                &format!(
                    "mov.u32 %r9, {b}; st.global.u32 [%rd2], %r9; ld.volatile.global.u32 %r9, [%rd2];
                 mul.lo.u32 %r2, %r1, 100; add.u32 %r2, %r2, 7;
                 shfl.sync.{mode}.b32 %r3|%p1, %r2, {amount}, {c}, -1;
                 selp.u32 %r4, 1, 0, %p1; shl.b32 %r4, %r4, 31; or.b32 %r3, %r3, %r4;
                 st.global.u32 [%rd2], %r3;"
                ),
            );
            let want: Vec<u32> =
                (0..32).map(|l| source(mode, l, b, c)).map(|(j, p)| (j * 100 + 7) as u32 | p << 31).collect();
            assert_eq!(run_outputs(&ptx, 32), want, "{mode} {b} {c:#x} dynamic={dynamic}");
        }
    }
}

#[test]
fn votes_count_only_the_lanes_that_came() {
    let ptx = kernel_text(
        "",
        "
        and.b32 %r2, %r1, 1;
        setp.eq.u32 %p1, %r2, 0;
        setp.lt.u32 %p2, %r1, 10;
        @%p1 bra EVEN;
        vote.sync.ballot.b32 %r3, %p2, 0xaaaaaaaa;
        activemask.b32 %r4;
        bra JOIN;
    EVEN:
        vote.sync.ballot.b32 %r3, %p2, 0x55555555;
        vote.sync.any.pred %p3, %p2, 0x55555555;
        selp.u32 %r4, 5, 6, %p3;
    JOIN:
        vote.sync.all.pred %p4, %p2, -1;
        selp.u32 %r5, 1000, 0, %p4;
        add.u32 %r4, %r4, %r5;
        add.u32 %r3, %r3, %r4;
        st.global.u32 [%rd2], %r3;",
    );
    let want: Vec<u32> =
        (0..32).map(|l| if l % 2 == 0 { 0x155 + 5 } else { 0x2aau32.wrapping_add(0xaaaa_aaaa) }).collect();
    assert_eq!(run_outputs(&ptx, 32), want);
}

#[test]
fn match_and_redux_group_by_value() {
    let ptx = kernel_text(
        "",
        "
        rem.u32 %r2, %r1, 3;
        match.any.sync.b32 %r3, %r2, -1;
        redux.sync.add.u32 %r4, %r1, %r3;
        redux.sync.max.s32 %r5, %r1, -1;
        add.u32 %r4, %r4, %r5;
        st.global.u32 [%rd2], %r4;",
    );
    let sum = |m: u32| (0..32).filter(|l| l % 3 == m).sum::<u32>();
    assert_eq!(run_outputs(&ptx, 32), (0..32).map(|l| sum(l % 3) + 31).collect::<Vec<_>>());
}

#[test]
fn barrier_reductions_give_all_threads_the_result() {
    let ptx = kernel_text(
        "",
        "
        setp.lt.u32 %p1, %r1, 50;
        bar.red.popc.u32 %r2, 0, %p1;
        bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, %p1;
        selp.u32 %r3, 1000, 0, %p2;
        selp.u32 %r4, 2000, 0, %p3;
        add.u32 %r2, %r2, %r3;
        add.u32 %r2, %r2, %r4;
        st.global.u32 [%rd2], %r2;",
    );
    for threads in [64, 80] {
        assert_eq!(run_outputs(&ptx, threads), vec![2050; threads as usize]);
    }
}

#[test]
fn lanes_that_exit_early_stay_gone() {
    let ptx = kernel_text(
        "",
        "
        mov.u32 %r2, 1;
        setp.gt.u32 %p1, %r1, 20;
        @%p1 exit;
        setp.lt.u32 %p1, %r1, 3;
        @%p1 exit;
        bar.sync 0;
        activemask.b32 %r2;
        setp.lt.u32 %p2, %r1, 32;
        vote.sync.all.pred %p3, %p2, -1;
        selp.u32 %r2, %r2, 0, %p3;
        st.global.u32 [%rd2], %r2;",
    );
    let mut want = vec![0; 3];
    want.resize(21, 0x1f_fff8);
    want.resize(32, 0);
    assert_eq!(run_outputs(&ptx, 32), want);
}

const ATOMICS_PTX: &str = "
    .shared .align 4 .b8 s[16];
    st.shared.u32 [s], 0;
    st.shared.u32 [s+4], -1;
    bar.sync 0;
    setp.gt.u32 %p1, %r1, 4;
    mov.u32 %r5, 77;
    @%p1 atom.shared.add.u32 %r5, [s], %r1;
    red.shared.min.u32 [s+4], %r1;
    red.global.add.u32 [%rd1+128], 1;
    @%p1 red.global.max.u32 [%rd1+132], %r1;
    atom.global.cas.b32 %r6, [%rd1+136], 0, 5;
    @%p1 red.global.add.u32 [%rd1+140], %r1;
    bar.sync 0;
    ld.shared.u32 %r7, [s];
    ld.shared.u32 %r8, [s+4];
    add.u32 %r7, %r7, %r8;
    selp.u32 %r7, %r7, %r5, %p1;
    st.global.u32 [%rd2], %r7;";

#[test]
fn atomics_of_guarded_and_of_all_lanes() {
    let out = run_all_variants(&kernel_text("", ATOMICS_PTX), "k", 1, [32, 1, 1], &[buffer_arg(&[0u32; 36])]);
    let total: u32 = (5..32).sum();
    let mut want = vec![77; 5];
    want.resize(32, total);
    want.extend([32, 31, 5, total]);
    assert_eq!(to_u32s(&out[0]), want);
}

const DIVERGENT_CALLS_PTX: &str = "
.func (.param .b32 r) twice(.param .b32 a) {
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    shl.b32 %r2, %r1, 1;
    st.param.u32 [r], %r2;
    ret;
}
.func (.param .b32 r) factorial(.param .b32 a) {
    .reg .pred %p1; .reg .b32 %r<6>;
    ld.param.u32 %r1, [a];
    mov.u32 %r2, 1;
    setp.le.u32 %p1, %r1, 1;
    @%p1 bra DONE;
    sub.u32 %r3, %r1, 1;
    { .param .b32 p0; .param .b32 q0;
      st.param.b32 [p0], %r3;
      call.uni (q0), factorial, (p0);
      ld.param.b32 %r4, [q0]; }
    mul.lo.u32 %r2, %r1, %r4;
DONE:
    st.param.u32 [r], %r2;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd1, %rd2;
    and.b32 %r2, %r1, 7;
    setp.lt.u32 %p1, %r2, 3;
    mov.u64 %rd3, twice;
    mov.u64 %rd4, factorial;
    selp.b64 %rd5, %rd3, %rd4, %p1;
    { .param .b32 p0; .param .b32 q0;
      st.param.b32 [p0], %r2;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (q0), %rd5, (p0), proto;
      ld.param.b32 %r3, [q0]; }
    setp.ne.u32 %p2, %r2, 5;
    @%p2 bra SKIP;
    { .param .b32 p0; .param .b32 q0;
      st.param.b32 [p0], %r3;
      call (q0), twice, (p0);
      ld.param.b32 %r3, [q0]; }
SKIP:
    st.global.u32 [%rd2], %r3;
    ret;
}";

#[test]
fn calls_recurse_and_go_through_pointers() {
    let want = |l: u32| {
        let n = l & 7;
        let r = if n < 3 { 2 * n } else { (1..=n).product() };
        if n == 5 { 2 * r } else { r }
    };
    for threads in [32, 40] {
        assert_eq!(run_outputs(DIVERGENT_CALLS_PTX, threads), (0..threads).map(want).collect::<Vec<_>>());
    }
}

#[test]
fn local_memory_is_each_lanes_own() {
    let ptx = kernel_text(
        ".local .align 4 .b8 depot[64]; .reg .b64 %SPL;",
        "
        mov.u64 %SPL, depot;
        and.b32 %r2, %r1, 15;
        mul.wide.u32 %rd3, %r2, 4;
        add.u64 %rd4, %SPL, %rd3;
        st.local.u32 [%SPL+60], 9;
        st.local.u32 [%SPL], 8;
        st.local.u32 [%rd4], %r1;
        ld.local.u32 %r3, [%SPL];
        ld.local.u32 %r4, [%SPL+60];
        mad.lo.u32 %r3, %r3, 100, %r4;
        st.global.u32 [%rd2], %r3;",
    );
    let at = |l: u32, slot: u32, other: u32| if l & 15 == slot { l } else { other };
    assert_eq!(run_outputs(&ptx, 32), (0..32).map(|l| at(l, 0, 8) * 100 + at(l, 15, 9)).collect::<Vec<_>>());
}

#[test]
fn faults_name_the_lane() {
    let body = |offset: &str| {
        kernel_text(
            "",
            &format!(
                "setp.eq.u32 %p1, %r1, 13; selp.b64 %rd3, {offset}, 0, %p1; add.u64 %rd3, %rd2, %rd3; ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd2], %r2;"
            ),
        )
    };
    for (offset, kind) in [("2", FaultKind::MisalignedAddress), ("0x7000000000000000", FaultKind::IllegalAddress)] {
        let m = parse_module(&body(offset));
        let shape = LaunchConfig { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0, cooperative: false };
        for v in launch_variants([32, 1, 1]) {
            let fault = launch(&m, "k", v, shape, &[buffer_arg(&[0u32; 32])]).unwrap_err();
            assert_eq!((fault.kind, fault.thread), (kind, [13, 0, 0]), "{v:?}");
        }
    }
}

/// The addresses of lane 0 and lane 31 lie side by side; 31 strides are once around all of memory.
#[test]
fn strides_around_all_of_memory_are_found() {
    let ptx = kernel_text(
        "",
        "cvt.u64.u32 %rd3, %r1; mul.lo.u64 %rd3, %rd3, 8925843906633654008; add.u64 %rd3, %rd1, %rd3; ld.global.u64 %rd4, [%rd3]; st.global.u64 [%rd1], %rd4;",
    );
    let m = parse_module(&ptx);
    let shape = LaunchConfig { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0, cooperative: false };
    for v in launch_variants([32, 1, 1]) {
        let fault = launch(&m, "k", v, shape, &[buffer_arg(&[0u32; 32])]).unwrap_err();
        assert_eq!((fault.kind, fault.thread), (FaultKind::IllegalAddress, [1, 0, 0]), "{v:?}");
    }
}

/// An operation with `{d}` for its result, `{q}` for its predicate, and operands `%r4`, `%rd4` and `%p4` of each lane.
const MASKED_OPERATIONS: [&str; 15] = [
    "vote.sync.ballot.b32 {d}, %p4, {m};",
    "vote.sync.all.pred {q}, !%p4, {m};",
    "vote.sync.any.pred {q}, %p4, {m};",
    "vote.sync.uni.pred {q}, %p5, {m};",
    "shfl.sync.bfly.b32 {d}|{q}, %r4, 16, 31, {m};",
    "shfl.sync.idx.b32 {d}|{q}, %r4, %r5, 0x181f, {m};",
    "shfl.sync.up.b32 {d}|{q}, %r4, 7, 0, {m};",
    "shfl.sync.down.b32 {d}|{q}, %r4, 9, 31, {m};",
    "match.any.sync.b32 {d}, %r5, {m};",
    "match.any.sync.b64 {d}, %rd4, {m};",
    "match.all.sync.b32 {d}|{q}, %r6, {m};",
    "redux.sync.add.u32 {d}, %r4, {m};",
    "redux.sync.min.s32 {d}, %r4, {m};",
    "redux.sync.xor.b32 {d}, %r4, {m};",
    "elect.sync {d}|{q}, {m};",
];

/// Operands, then `code`, then result and predicate of each lane are stored.
fn masked_operation_kernel(code: &str) -> String {
    let header = ".version 8.3\n.target sm_90\n.address_size 64\n";
    let text = kernel_text(
        ".reg .pred %q;",
        &format!(
            "mul.lo.u32 %r4, %r1, 0x9e3779b1; shr.u32 %r5, %r4, 29; mov.u32 %r6, 5; shl.b32 %r7, %r5, 9;
             cvt.u64.u32 %rd4, %r7; shl.b64 %rd4, %rd4, 30; setp.gt.u32 %p4, %r5, 2; setp.lt.u32 %p5, %r1, 200;
             mov.u32 %r8, 0; mov.u32 %r9, -1; {code}
             shl.b32 %r9, %r8, 1; selp.u32 %r3, 1, 0, %q; xor.b32 %r9, %r9, %r3; st.global.u32 [%rd2], %r9;"
        ),
    );
    header.to_owned() + &text.replace("{q}", "%q")
}

/// Lanes that execute an operation with one mask wait for each other, wherever they are: the results are those of one
/// operation of all.
#[test]
fn operations_with_one_mask_in_several_arms_are_one() {
    for (i, operation) in MASKED_OPERATIONS.iter().enumerate() {
        for (threads, members, split) in [(32, "-1", 16), (64, "%r9", 1), (20, "0xfffff", 13)] {
            let operation = operation.replace("{m}", members);
            let wanted = masked_operation_kernel(&operation.replace("{d}", "%r8"));
            let arms = masked_operation_kernel(&format!(
                "and.b32 %r10, %r1, 31; setp.lt.u32 %p1, %r10, {split}; @%p1 bra $one; setp.eq.u32 %p2, %r10, 17; @%p2 bra $three;
                 {} add.u32 %r11, %r11, 1; bra $on;
                 $one: add.u32 %r12, %r12, 7; {} mov.u32 %r8, %r13; bra $on;
                 $three: {} mov.u32 %r8, %r14;
                 $on: bar.warp.sync {members};",
                operation.replace("{d}", "%r8"),
                operation.replace("{d}", "%r13"),
                operation.replace("{d}", "%r14"),
            ));
            // Without a result in a register there is none to move.
            let arms = if operation.contains("{d}") {
                arms
            } else {
                arms.replace("mov.u32 %r8, %r13;", "").replace("mov.u32 %r8, %r14;", "")
            };
            if threads == 20 && operation.contains("shfl") {
                continue;
            }
            assert_eq!(run_outputs(&arms, threads), run_outputs(&wanted, threads), "operation {i}, {threads} threads");
        }
    }
}

/// Each lane has its own sequence of operations: rounds of a loop pair with operations behind it.
#[test]
fn rounds_of_a_loop_pair_with_operations_elsewhere() {
    let ptx = kernel_text(
        "",
        "mov.u32 %r3, 0; mov.u32 %r4, 3; mov.u32 %r5, 0; setp.lt.u32 %p1, %r1, 8; @%p1 bra $straight;
         $again: add.u32 %r6, %r1, %r4; shfl.sync.bfly.b32 %r7, %r6, 8, 31, -1; mad.lo.u32 %r5, %r5, 100, %r7;
         sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra $again; bra $end;
         $straight: shfl.sync.bfly.b32 %r7, 50, 8, 31, -1; mad.lo.u32 %r5, %r5, 100, %r7;
         shfl.sync.bfly.b32 %r7, 51, 8, 31, -1; mad.lo.u32 %r5, %r5, 100, %r7;
         shfl.sync.bfly.b32 %r7, 52, 8, 31, -1; mad.lo.u32 %r5, %r5, 100, %r7;
         $end: st.global.u32 [%rd2], %r5;",
    );
    let value = |lane: u32, round: u32| if lane < 8 { 50 + round } else { lane + 3 - round };
    let want = |lane: u32| (0..3).fold(0, |sum, round| sum * 100 + value(lane ^ 8, round));
    assert_eq!(run_outputs(&ptx, 32), (0..32).map(want).collect::<Vec<_>>());
}

/// Lanes that never come are not waited for for ever: those that came go on together.
#[test]
fn operations_whose_other_members_leave_go_on() {
    let ptx = kernel_text(
        "",
        "setp.ge.u32 %p1, %r1, 12; setp.lt.u32 %p2, %r1, 5; setp.eq.u32 %p3, %r1, %r1; @%p1 bra $leave; @%p2 bra $first;
         vote.sync.ballot.b32 %r3, %p3, -1; st.global.u32 [%rd2], %r3; bra $end;
         $first: vote.sync.ballot.b32 %r4, %p3, -1; st.global.u32 [%rd2], %r4; bra $end;
         $leave: bar.warp.sync 0xfffff000; mov.u32 %r5, 9; st.global.u32 [%rd2], %r5; exit; $end:",
    );
    let want: Vec<u32> = (0..32).map(|lane| if lane < 12 { 0xfff } else { 9 }).collect();
    assert_eq!(run_outputs(&ptx, 32), want);
}
