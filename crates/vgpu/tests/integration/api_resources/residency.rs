//! Blocks that wait for each other: as many as the device says run at once; and barriers within
//! functions that not all lanes of a warp call.

use super::support::{get_function, launch_and_wait, load_module, read_u32s};
use crate::api_common::{alloc, new_context};
use rtcg_cuda_sys::*;

/// The first thread of each block counts it in and waits until all blocks have come, twice; the
/// number of blocks after that goes to the block's place.
const GRID_BARRIER: &str = "
.visible .entry meet(.param .u64 words, .param .u64 out) {
    .shared .align 4 .b8 tile[512];
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [words]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x;
    mov.u32 %r8, 0;
AGAIN:
    add.u32 %r8, %r8, %r2;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TOGETHER;
    membar.gl;
    atom.global.add.u32 %r4, [%rd1], 1;
WAIT:
    ld.volatile.global.u32 %r5, [%rd1];
    setp.lt.u32 %p2, %r5, %r8;
    @%p2 bra WAIT;
    mov.u32 %r9, tile; st.shared.u32 [%r9], %r5;
TOGETHER:
    bar.sync 0;
    setp.eq.u32 %p3, %r8, %r2;
    @%p3 bra AGAIN;
    @%p1 bra END;
    mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd2, %rd3;
    ld.shared.u32 %r10, [tile]; st.global.u32 [%rd4], %r10;
END:
    ret;
}";

#[test]
fn as_many_blocks_run_at_once_as_the_device_says() {
    let ctx = new_context();
    let f = get_function(load_module(GRID_BARRIER), c"meet");
    let mut multiprocessors = 0;
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    ok!(cuDeviceGetAttribute(&raw mut multiprocessors, attribute, 0));
    for threads in [32, 96, 512] {
        let mut each = 0;
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut each, f, threads, 0));
        let blocks = (each * multiprocessors) as usize;
        assert!(blocks > 100);
        let (words, out) = (alloc(4), alloc(blocks * 4));
        ok!(cuMemsetD32(words, 0, 1));
        assert_eq!(launch_and_wait(f, blocks as u32, threads as u32, &[words, out]), Ok(()));
        assert_eq!(read_u32s(out, blocks), vec![2 * blocks as u32; blocks]);
        assert_eq!(read_u32s(words, 1), [2 * blocks as u32]);
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn two_grids_that_fill_the_device_do_not_deadlock_on_residency() {
    let ctx = new_context();
    let f = get_function(load_module(GRID_BARRIER), c"meet");
    let blocks = 9 * 108;
    let launches: Vec<_> = (0..2).map(|_| (crate::api_common::new_stream(1), alloc(4), alloc(blocks * 4))).collect();
    for (stream, words, out) in &launches {
        ok!(cuMemsetD32(*words, 0, 1));
        let mut places = [std::ptr::from_ref(words).cast_mut().cast(), std::ptr::from_ref(out).cast_mut().cast()];
        let none = std::ptr::null_mut();
        ok!(cuLaunchKernel(f, blocks as u32, 1, 1, 32, 1, 1, 0, *stream, places.as_mut_ptr(), none));
    }
    ok!(cuCtxSynchronize());
    for (_, words, _) in &launches {
        assert_eq!(read_u32s(*words, 1), [2 * blocks as u32]);
    }
    ok!(cuCtxDestroy(ctx));
}

/// Odd threads publish their number within `share`, which waits for all; what even ones do meanwhile is
/// the kernels' difference. Then odd ones (`left`) or all read what the thread 33 places further has
/// published.
const DIVERGENT_CALLS_PTX: &str = "
.shared .align 4 .b8 tile[512];
.func share(.param .b32 n) {
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    ret;
}
.func (.param .b32 c) count(.param .b32 n) {
    .reg .pred %p<2>; .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    setp.gt.u32 %p1, %r1, 20;
    bar.red.popc.u32 %r2, 0, %p1;
    st.param.b32 [c], %r2;
    ret;
}
.visible .entry left(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra END;
    { .param .b32 p0; st.param.b32 [p0], %r1; call share, (p0); }
    xor.b32 %r3, %r1, 34; shl.b32 %r3, %r3, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3];
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;
END:
    ret;
}
.visible .entry beside(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r4, tile;
    @%p1 bra OTHER;
    { .param .b32 p0; st.param.b32 [p0], %r1; call share, (p0); }
    bra BOTH;
OTHER:
    shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r1;
    bar.sync 0;
BOTH:
    xor.b32 %r3, %r1, 33; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3];
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;
    ret;
}
.visible .entry reduce(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
    setp.gt.u32 %p2, %r1, 20;
    @%p1 bra OTHER;
    { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 r0; call (r0), count, (p0); ld.param.b32 %r5, [r0]; }
    bra BOTH;
OTHER:
    bar.red.popc.u32 %r5, 0, %p2;
BOTH:
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;
    ret;
}";

#[test]
fn lanes_that_do_not_call_a_function_count_at_its_barrier() {
    let ctx = new_context();
    let m = load_module(DIVERGENT_CALLS_PTX);
    let out = alloc(256);
    let kernel = |name| {
        ok!(cuMemsetD32(out, 1000, 64));
        assert_eq!(
            launch_and_wait(get_function(m, name), 3, 64, &[out]),
            Ok(()),
            "{name:?}: {:?}",
            rtcg_vgpu::last_error_detail()
        );
        read_u32s(out, 64)
    };
    let left: Vec<u32> = (0..64).map(|i| if i % 2 == 0 { 1000 } else { i ^ 34 }).collect();
    assert_eq!(kernel(c"left"), left);
    let beside: Vec<u32> = (0..64).map(|i| i ^ 33).collect();
    assert_eq!(kernel(c"beside"), beside);
    assert_eq!(kernel(c"reduce"), vec![43; 64]);
    ok!(cuCtxDestroy(ctx));
}
