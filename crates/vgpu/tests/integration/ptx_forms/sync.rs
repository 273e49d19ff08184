//! `mbarrier` objects, named barriers, copies, wide and vector atomics, executed in every variant.

use crate::jit_support::{
    Arg, buffer_arg, compile, launch, launch_variants, parse_module, run_all_variants, to_f32s, to_u32s,
};
use rtcg_vgpu_exec::LaunchConfig;

/// A kernel with an output buffer in `%out`, an input in `%in`, and these registers.
fn kernel_text(vars: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out, .param .u64 in) {{
    .reg .pred %p<9>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %d<20>; .reg .b128 %q<4>;
    .reg .b64 %out, %in; .reg .b32 %t;
    {vars}
    ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x;
    {body}
    ret;
}}"
    )
}

/// Stores `%r0` of each thread.
const STORE_R0_PTX: &str = "mul.wide.u32 %d0, %t, 4; add.s64 %d0, %out, %d0; st.global.u32 [%d0], %r0;";

fn run_u32(vars: &str, body: &str, n: usize, input: &[u32]) -> Vec<u32> {
    let text = kernel_text(vars, &format!("{body}\n{STORE_R0_PTX}"));
    to_u32s(&run_all_variants(&text, "k", 1, [n as u32, 1, 1], &[buffer_arg(&vec![0u32; n]), buffer_arg(input)])[0])
}

/// One warp fills a buffer, the other empties it, with an mbarrier for each way.
#[test]
fn producer_and_consumer_alternate_with_mbarriers() {
    for wait in ["mbarrier.test_wait", "mbarrier.try_wait"] {
        let body = format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared.b64 [full], 32; mbarrier.init.shared::cta.b64 [empty], 32;
    MADE: bar.sync 0;
    mov.u32 %r1, 0; mov.u32 %r0, 0; and.b32 %r2, %t, 31; shl.b32 %r3, %r2, 2; mov.u32 %r4, data; add.u32 %r3, %r3, %r4;
    setp.ge.u32 %p2, %t, 32; @%p2 bra CONSUME;
    PRODUCE:
    mad.lo.u32 %r5, %r1, 100, %r2; st.shared.u32 [%r3], %r5;
    mbarrier.arrive.shared.b64 %d1, [full];
    and.b32 %r6, %r1, 1;
    EMPTY: {wait}.parity.shared.b64 %p3, [empty], %r6; @!%p3 bra EMPTY;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 7; @%p4 bra PRODUCE; bra DONE;
    CONSUME:
    and.b32 %r6, %r1, 1;
    FULL: {wait}.parity.acquire.cta.shared::cta.b64 %p3, [full], %r6; @!%p3 bra FULL;
    ld.shared.u32 %r5, [%r3]; add.u32 %r0, %r0, %r5;
    mbarrier.arrive.shared.b64 _, [empty];
    add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 7; @%p4 bra CONSUME;
    DONE:"
        );
        let vars = ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 4 .b8 data[128];";
        let got = run_u32(vars, &body, 64, &[0]);
        let want: Vec<u32> = (0..64).map(|t| if t < 32 { 0 } else { 2100 + 7 * (t - 32) }).collect();
        assert_eq!(got, want);
    }
}

/// Lanes of one warp wait for each other at an mbarrier, on different ways.
#[test]
fn divergent_lanes_meet_at_an_mbarrier() {
    let body = "setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared.b64 [b], 40; st.shared.u32 [sum], 0;
    MADE: bar.sync 0;
    and.b32 %r1, %t, 3; setp.eq.u32 %p2, %r1, 1; @%p2 bra ODD;
    atom.shared.add.u32 %r2, [sum], 1; mbarrier.arrive.shared.b64 %d1, [b];
    W1: mbarrier.test_wait.shared.b64 %p3, [b], %d1; @!%p3 bra W1; bra OUT;
    ODD: atom.shared.add.u32 %r2, [sum], 100; mov.u32 %r9, 1; mbarrier.arrive.release.cta.shared::cta.b64 %d1, [b], %r9;
    W2: mbarrier.try_wait.shared.b64 %p3, [b], %d1, 100; @!%p3 bra W2;
    OUT: ld.volatile.shared.u32 %r0, [sum];
    mbarrier.pending_count.b64 %r3, %d1; setp.gt.u32 %p4, %r3, 40; @%p4 trap;";
    let got = run_u32(".shared .align 8 .b64 b; .shared .align 4 .u32 sum;", body, 40, &[0]);
    assert_eq!(got, vec![1030; 40]);
}

#[test]
fn states_counts_bytes_and_drops() {
    // Each step of thread 0 adds a digit of what the object says.
    let body = "
    mbarrier.init.shared.b64 [b], 3;
    mbarrier.arrive.noComplete.shared.b64 %d1, [b], 2; mbarrier.pending_count.b64 %r1, %d1;
    mbarrier.test_wait.shared.b64 %p1, [b], %d1; selp.u32 %r2, 10, 0, %p1;
    mbarrier.arrive_drop.shared.b64 %d2, [b]; mbarrier.pending_count.b64 %r3, %d2;
    mbarrier.test_wait.shared.b64 %p1, [b], %d1; selp.u32 %r4, 100, 0, %p1;
    mbarrier.arrive.shared.b64 %d3, [b]; mbarrier.pending_count.b64 %r5, %d3;
    mbarrier.arrive.expect_tx.shared.b64 %d4, [b], 64;
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 1; selp.u32 %r6, 1000, 0, %p1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 64;
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 1; selp.u32 %r7, 10000, 0, %p1;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 32; mbarrier.arrive.shared::cta.b64 %d5, [b], 2;
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 0; selp.u32 %r8, 100000, 0, %p1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 32;
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 0; selp.u32 %r9, 1000000, 0, %p1;
    mbarrier.inval.shared.b64 [b];
    mad.lo.u32 %r0, %r1, 10000000, %r2; add.u32 %r0, %r0, %r3; add.u32 %r0, %r0, %r4; mad.lo.u32 %r0, %r5, 100000000, %r0;
    add.u32 %r0, %r0, %r6; add.u32 %r0, %r0, %r7; add.u32 %r0, %r0, %r8; add.u32 %r0, %r0, %r9;";
    let got = run_u32(".shared .align 8 .b64 b;", body, 1, &[0]);
    // Pending before: 3, then 1; the phase has ended after the drop, whose next one expects 2.
    assert_eq!(got, vec![30_000_000 + 1 + 100 + 200_000_000 + 10_000 + 1_000_000]);
}

#[test]
fn copies_arrive_at_an_mbarrier() {
    for (noinc, expected) in [("", 64), (".noinc", 128)] {
        let body = format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra MADE; mbarrier.init.shared.b64 [b], {expected};
    MADE: bar.sync 0;
    mul.wide.u32 %d1, %t, 4; add.s64 %d1, %in, %d1; shl.b32 %r1, %t, 2; mov.u32 %r2, data; add.u32 %r1, %r1, %r2;
    setp.gt.u32 %p2, %t, 50;
    cp.async.ca.shared.global [%r1], [%d1], 4, %p2;
    cp.async.mbarrier.arrive{noinc}.shared.b64 [b];
    mbarrier.arrive.shared.b64 %d2, [b];
    W: mbarrier.try_wait.shared.b64 %p3, [b], %d2; @!%p3 bra W;
    xor.b32 %r3, %t, 63; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2; ld.shared.u32 %r0, [%r3];"
        );
        let input: Vec<u32> = (0..64).map(|i| 1000 + i * i).collect();
        let got = run_u32(".shared .align 8 .b64 b; .shared .align 16 .b8 data[256];", &body, 64, &input);
        let want: Vec<u32> = (0..64).map(|t| 63 - t).map(|t| if t > 50 { 0 } else { input[t] }).collect();
        assert_eq!(got, want);
    }
}

/// Bulk copies to and from shared memory, and one that adds.
#[test]
fn bulk_copies() {
    let body = "setp.ne.u32 %p1, %t, 0; @%p1 bra MADE;
    mbarrier.init.shared.b64 [b], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d1, [b], 256;
    mov.u32 %r1, data; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 128, [b];
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data+128], [%in+128], 128, [b];
    MADE: bar.sync 0;
    W: mbarrier.try_wait.parity.shared.b64 %p3, [b], 0; @!%p3 bra W;
    shl.b32 %r2, %t, 2; mov.u32 %r1, data; add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; add.u32 %r3, %r3, 5; st.shared.u32 [%r2], %r3;
    fence.proxy.async.shared::cta; bar.sync 0; @%p1 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%out+256], [data], 256;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out+256], [data+16], 192;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
    END: mov.u32 %r0, %r3;";
    let text =
        kernel_text(".shared .align 8 .b64 b; .shared .align 16 .b8 data[256];", &format!("{body}\n{STORE_R0_PTX}"));
    let input: Vec<u32> = (0..64).map(|i| 7 * i).collect();
    let got = to_u32s(&run_all_variants(&text, "k", 1, [64, 1, 1], &[buffer_arg(&[0u32; 128]), buffer_arg(&input)])[0]);
    let first: Vec<u32> = input.iter().map(|v| v + 5).collect();
    let second: Vec<u32> = (0..64).map(|i| first[i] + if i < 48 { first[i + 4] } else { 0 }).collect();
    assert_eq!(got[..64], first);
    assert_eq!(got[64..], second);
}

#[test]
fn wrong_uses_of_mbarriers_end_the_launch() {
    let cases = [
        ("mbarrier.init.shared.b64 [b+4], 1;", "misaligned"),
        ("mbarrier.init.shared.b64 [b], 0;", "counts from 1"),
        ("mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.shared::cta.b64 %d1, [b], 2;", "more threads arrive"),
        ("mbarrier.init.b64 [%out], 1;", "outside the shared memory"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%out+8], [b], 16;", "multiples of 16"),
        ("mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.noComplete.shared.b64 %d1, [b], 1;", "noComplete"),
    ];
    for (body, what) in cases {
        let m = parse_module(&kernel_text(".shared .align 16 .b64 b;", body));
        let shape = LaunchConfig { grid: [1, 1, 1], block: [1, 1, 1], dynamic_shared: 0, cooperative: false };
        for v in launch_variants([1, 1, 1]) {
            let fault = launch(&m, "k", v, shape, &[buffer_arg(&[0u64; 2]), buffer_arg(&[0u64; 2])]).unwrap_err();
            assert!(fault.to_string().contains(what), "{body}: {fault}");
        }
    }
}

/// Named barriers: producers arrive without waiting, consumers wait; ids and counts from registers.
#[test]
fn named_barriers_of_part_of_a_block() {
    let body = "shr.u32 %r1, %t, 5; and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; add.u32 %r3, %r3, 14;
    shl.b32 %r4, %t, 2; mov.u32 %r5, data; add.u32 %r4, %r4, %r5; mov.u32 %r6, 64; mov.u32 %r0, 7;
    setp.ne.u32 %p1, %r2, 0; @%p1 bra CONSUME;
    mul.lo.u32 %r7, %t, 3; st.shared.u32 [%r4], %r7; barrier.cta.arrive %r3, %r6; bra DONE;
    CONSUME: bar.sync %r3, %r6; ld.shared.u32 %r0, [%r4+-128];
    DONE:";
    let got = run_u32(".shared .align 4 .b8 data[512];", body, 128, &[0]);
    let want: Vec<u32> = (0..128).map(|t| if t / 32 % 2 == 0 { 7 } else { 3 * (t - 32) }).collect();
    assert_eq!(got, want);
    // Reductions over part of the block.
    let body = "shr.u32 %r1, %t, 6; add.u32 %r2, %r1, 3; and.b32 %r3, %t, 4; setp.ne.u32 %p1, %r3, 0;
    bar.red.popc.u32 %r0, %r2, 64, %p1; setp.lt.u32 %p2, %t, 64; bar.red.and.pred %p3, %r2, 64, %p2; bar.red.or.pred %p4, %r2, 64, !%p2;
    selp.u32 %r4, 1000, 0, %p3; selp.u32 %r5, 10000, 0, %p4; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5;";
    let got = run_u32("", body, 128, &[0]);
    assert_eq!(got, (0..128).map(|t| 32 + if t < 64 { 1000 } else { 10000 }).collect::<Vec<u32>>());
}

#[test]
fn exchanges_of_128_bits() {
    for (space, at) in [("global", "%in"), ("shared", "word")] {
        // Every thread pushes itself on a list: its number and the old low half as the link.
        let body = format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra MADE; mov.u64 %d3, 0; st.{space}.v2.u64 [{at}], {{%d3, %d3}};
    MADE: bar.sync 0; cvt.u64.u32 %d1, %t; add.u64 %d1, %d1, 1;
    ld.{space}.v2.u64 {{%d2, %d3}}, [{at}];
    AGAIN: mov.b128 %q1, {{%d2, %d3}}; add.u64 %d4, %d3, %d1; mov.b128 %q2, {{%d1, %d4}};
    atom.{space}.cas.b128 %q3, [{at}], %q1, %q2; mov.b128 {{%d5, %d6}}, %q3;
    setp.eq.u64 %p2, %d5, %d2; setp.eq.and.u64 %p2, %d6, %d3, %p2; mov.u64 %d2, %d5; mov.u64 %d3, %d6; @!%p2 bra AGAIN;
    bar.sync 0; mov.b128 %q1, {{%d1, %d1}}; @%p1 bra END; atom.{space}.exch.b128 %q3, [{at}], %q1; mov.b128 {{%d5, %d6}}, %q3;
    ld.{space}.v2.u64 {{%d7, %d8}}, [{at}]; add.u64 %d6, %d6, %d7; add.u64 %d6, %d6, %d8; cvt.u32.u64 %r0, %d6; END: bar.sync 0; @!%p1 bra OUT; mov.u32 %r0, 1; OUT:"
        );
        let got = run_u32(".shared .align 16 .b8 word[16];", &body, 70, &[0; 4]);
        let want: Vec<u32> = (0..70).map(|t| if t == 0 { 70 * 71 / 2 + 2 } else { 1 }).collect();
        assert_eq!(got, want, "{space}");
    }
}

#[test]
fn atomics_of_several_elements() {
    let body = "cvt.rn.f32.u32 %f1, %t; add.f32 %f2, %f1, 0f3F800000; and.b32 %r1, %t, 1; mul.wide.u32 %d1, %r1, 16; add.s64 %d1, %in, %d1;
    atom.global.v4.f32.add {%f3, _, %f4, _}, [%d1], {%f1, %f2, %f1, 0f3F000000};
    red.global.add.v2.f32 [%d1+8], {%f2, %f2};
    mov.b16 %h1, 0x3c00; mov.b16 %h2, 0xbc00; mov.b32 %r2, {%h1, %h2};
    red.global.v8.f16.max.noftz [%in+32], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h2};
    atom.global.add.noftz.v2.f16x2 {%r3, %r4}, [%in+48], {%r2, %r2};
    red.global.min.noftz.v4.bf16x2 [%in+64], {%r2, %r2, %r2, %r2};
    mov.u32 %r0, 0;";
    let text = kernel_text("", body);
    let n = 48;
    let mut input = vec![0u32; 20];
    input[8..12].copy_from_slice(&[0x4000_c000, 0, 0x7e00_7e00, 0xbc00_3800]);
    input[16..20].copy_from_slice(&[0, 0x7fff_7fff, 0x4000_4000, 0xc000_c000]);
    let m = parse_module(&text);
    let shape = LaunchConfig { grid: [1, 1, 1], block: [n, 1, 1], dynamic_shared: 0, cooperative: false };
    for v in launch_variants([n, 1, 1]) {
        let got = launch(&m, "k", v, shape, &[Arg::U64(0), buffer_arg(&input)]).unwrap();
        let floats = to_f32s(&got[0]);
        for odd in 0..2 {
            let sum: f32 = (0..n).filter(|t| t % 2 == odd).map(|t| t as f32).sum();
            let n = n as f32 / 2.0;
            let want = [sum, sum + n, sum + sum + n, 0.5 * n + sum + n];
            assert_eq!(floats[odd as usize * 4..][..4], want, "{v:?}");
        }
        let words = to_u32s(&got[0]);
        assert_eq!(words[8..12], [0x4000_3c00, 0x0000_3c00, 0xbc00_3c00, 0xbc00_3c00], "{v:?}");
        // 48 times 1 and -1 in half precision.
        assert_eq!(words[12..14], [0xd200_5200; 2], "{v:?}");
        assert_eq!(words[16..20], [0xbc00_0000, 0xbc00_3c00, 0xbc00_3c00, 0xc000_c000], "{v:?}");
    }
}

#[test]
fn reductions_of_floats_over_a_warp() {
    let body = "cvt.rn.f32.u32 %f1, %t; sub.f32 %f1, %f1, 0f41200000; setp.eq.u32 %p1, %t, 5; selp.f32 %f1, 0f7FC00000, %f1, %p1;
    redux.sync.min.f32 %f2, %f1, -1; redux.sync.max.abs.f32 %f3, %f1, -1; redux.sync.min.abs.f32 %f4, %f1, -1; redux.sync.max.NaN.f32 %f5, %f1, -1;
    cvt.rni.s32.f32 %r1, %f2; cvt.rni.s32.f32 %r2, %f3; cvt.rni.s32.f32 %r3, %f4; mad.lo.s32 %r0, %r2, 100, %r3; mad.lo.s32 %r0, %r1, -10000, %r0;
    mov.b32 %r4, %f5; setp.ne.u32 %p2, %r4, 0x7fffffff; @%p2 trap;";
    assert_eq!(run_u32("", body, 32, &[0]), vec![102_100; 32]);
}

/// What belongs to the cluster of one that every block is.
#[test]
fn a_block_is_a_cluster_of_its_own() {
    let body = "mapa.shared::cluster.u32 %r1, data, 0; getctarank.shared::cluster.u32 %r2, %r1; mov.u32 %r3, data; sub.u32 %r3, %r1, %r3;
    shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r1; st.shared::cluster.u32 [%r4], %t; ld.shared.u32 %r5, [%r4];
    cvta.shared::cluster.u64 %d1, %d2; isspacep.shared::cluster %p1, %d1; selp.u32 %r6, 1000, 0, %p1; mov.u32 %r7, %cluster_nctaid.x; mov.u32 %r8, %cluster_ctarank;
    add.u32 %r0, %r2, %r3; add.u32 %r0, %r0, %r5; add.u32 %r0, %r0, %r6; mad.lo.u32 %r0, %r7, 10000, %r0; add.u32 %r0, %r0, %r8;";
    let text = format!("mov.u64 %d2, data; {body}");
    let got = run_u32(".shared .align 4 .b8 data[256];", &text, 40, &[0]);
    assert_eq!(got, (0..40).map(|t| 11_000 + t).collect::<Vec<u32>>());
}

#[test]
fn all_variants_compile_with_a_wait_in_a_function() {
    let text = ".func (.param .b32 r) wait(.param .b32 at) { .reg .pred %p; .reg .b32 %r<3>;
    ld.param.b32 %r1, [at]; W: mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0; @!%p bra W; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 out) { .shared .align 8 .b64 b; .reg .b32 %r<5>; .reg .b64 %d<4>; .reg .pred %p;
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra M; mbarrier.init.shared.b64 [b], 33; M: bar.sync 0;
    mbarrier.arrive.shared.b64 _, [b]; mov.u32 %r2, b;
    { .param .b32 a; .param .b32 q; st.param.b32 [a], %r2; call (q), wait, (a); ld.param.b32 %r3, [q]; }
    mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; add.u32 %r3, %r3, %r1; st.global.u32 [%d2], %r3; ret; }";
    let m = parse_module(text);
    assert!(compile(&m, "k", launch_variants([33, 1, 1])[0]).is_ok_and(|k| k.suspends));
    let got = to_u32s(&run_all_variants(text, "k", 1, [33, 1, 1], &[buffer_arg(&[0u32; 33])])[0]);
    assert_eq!(got.windows(2).filter(|w| w[1] == w[0] + 1).count(), 32);
}
