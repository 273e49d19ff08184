//! The core of the JIT: straight lines, loops, divergence, memory, barriers.

use crate::jit_support::*;

const SAXPY_PTX: &str = "
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
    .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd2;
    cvta.to.global.u64 %rd4, %rd1;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    add.s64 %rd7, %rd3, %rd5;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}";

#[test]
fn saxpy_of_full_and_partial_warps() {
    for (n, block) in [(256usize, 64u32), (250, 64), (77, 40), (5, 5)] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let y: Vec<f32> = (0..n).map(|i| 100.0 - i as f32).collect();
        let grid = (n as u32).div_ceil(block);
        let out = run_all_variants(
            SAXPY_PTX,
            "saxpy",
            grid,
            [block, 1, 1],
            &[Arg::F32(3.0), buffer_arg(&x), buffer_arg(&y), Arg::U32(n as u32)],
        );
        let expected: Vec<f32> = (0..n).map(|i| 3.0f32.mul_add(x[i], y[i])).collect();
        assert_eq!(to_f32s(&out[1]), expected);
    }
}

const COLLATZ_PTX: &str = "
.visible .entry collatz(.param .u64 out) {
    .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
    mov.u32 %r3, 0;
LOOP:
    setp.le.u32 %p1, %r2, 1;
    @%p1 bra DONE;
    and.b32 %r4, %r2, 1;
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra EVEN;
    mad.lo.u32 %r2, %r2, 3, 1;
    bra NEXT;
EVEN:
    shr.u32 %r2, %r2, 1;
NEXT:
    add.u32 %r3, %r3, 1;
    bra LOOP;
DONE:
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}";

#[test]
fn divergent_loops_rejoin() {
    let out = run_all_variants(COLLATZ_PTX, "collatz", 1, [96, 1, 1], &[buffer_arg(&[0u32; 96])]);
    let steps = |mut n: u32| {
        let mut k = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            k += 1;
        }
        k
    };
    assert_eq!(to_u32s(&out[0]), (1..=96).map(steps).collect::<Vec<_>>());
}

const REDUCE_PTX: &str = "
.visible .entry reduce(.param .u64 in, .param .u64 out) {
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
    .shared .align 4 .b8 tile[512];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4];
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, tile;
    add.u32 %r5, %r4, %r3;
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    mov.u32 %r6, 64;
LOOP:
    setp.ge.u32 %p1, %r1, %r6;
    @%p1 bra SKIP;
    shl.b32 %r7, %r6, 2;
    add.u32 %r8, %r5, %r7;
    ld.shared.u32 %r9, [%r8];
    ld.shared.u32 %r10, [%r5];
    add.u32 %r10, %r10, %r9;
    st.shared.u32 [%r5], %r10;
SKIP:
    bar.sync 0;
    shr.u32 %r6, %r6, 1;
    setp.ne.u32 %p2, %r6, 0;
    @%p2 bra LOOP;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra DONE;
    ld.shared.u32 %r11, [tile];
    st.global.u32 [%rd2], %r11;
DONE:
    ret;
}";

#[test]
fn tree_reduction_through_shared_memory() {
    let data: Vec<u32> = (0..128).map(|i| i * i + 7).collect();
    let out = run_all_variants(REDUCE_PTX, "reduce", 1, [128, 1, 1], &[buffer_arg(&data), buffer_arg(&[0u32])]);
    assert_eq!(to_u32s(&out[1]), [data.iter().sum::<u32>()]);
}

const ROWS_KERNEL_PTX: &str = "
.visible .entry rows(.param .u64 a, .param .u64 out, .param .u32 n) {
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mul.lo.u32 %r4, %r3, %r1;
    add.u32 %r5, %r4, %r2;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.s32 %rd5, %r2, 4;
    add.s64 %rd6, %rd1, %rd5;
    mul.wide.u32 %rd7, %r1, 4;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
LOOP:
    ld.global.u32 %r8, [%rd4];
    ld.global.u32 %r9, [%rd6];
    mad.lo.u32 %r7, %r8, %r9, %r7;
    add.s64 %rd4, %rd4, 4;
    add.s64 %rd6, %rd6, %rd7;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, %r1;
    @%p1 bra LOOP;
    setp.gt.u32 %p2, %r2, %r3;
    @%p2 bra SKIP;
    add.u32 %r7, %r7, %r5;
SKIP:
    mul.wide.u32 %rd8, %r5, 4;
    add.s64 %rd9, %rd2, %rd8;
    st.global.u32 [%rd9], %r7;
    ret;
}";

#[test]
fn blocks_of_short_rows_multiply_matrices() {
    for n in [8usize, 16, 24, 12] {
        let a: Vec<u32> = (0..n * n).map(|i| (i * 7 % 31) as u32).collect();
        let out = run_all_variants(
            ROWS_KERNEL_PTX,
            "rows",
            1,
            [n as u32, n as u32, 1],
            &[buffer_arg(&a), buffer_arg(&vec![0u32; n * n]), Arg::U32(n as u32)],
        );
        let want = |i: usize| {
            let (y, x) = (i / n, i % n);
            let dot: u32 = (0..n).map(|k| a[y * n + k] * a[k * n + x]).sum();
            if x > y { dot } else { dot + i as u32 }
        };
        assert_eq!(to_u32s(&out[1]), (0..n * n).map(want).collect::<Vec<_>>(), "n = {n}");
    }
}

#[test]
fn the_mark_of_fmad_false_is_the_one_that_our_compiler_leaves() {
    assert_eq!(rtcg_vgpu_jit::FMAD_DISABLED_COMMENT, rtcg_cuda_sys::nvrtc::FMAD_DISABLED_COMMENT);
}
