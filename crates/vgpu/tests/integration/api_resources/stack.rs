//! `CU_LIMIT_STACK_SIZE`: how deep a recursion may be.

use super::support::{get_function, launch_and_wait, load_module, read_u32s};
use crate::api_common::{alloc, new_context};
use rtcg_cuda_sys::*;

/// Each level has 64 bytes of local memory.
const RECURSION_PTX: &str = "
.func (.param .b32 r) down(.param .b32 n) {
    .local .align 4 .b8 frame[64];
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
    ld.param.u32 %r1, [n];
    mov.u64 %rd1, frame; st.local.u32 [%rd1+8], %r1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ZERO;
    sub.u32 %r2, %r1, 1;
    { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 ret; call.uni (ret), down, (p0); ld.param.b32 %r3, [ret]; }
    ld.local.u32 %r4, [%rd1+8];
    add.u32 %r3, %r3, %r4;
    st.param.b32 [r], %r3;
    ret;
ZERO:
    st.param.b32 [r], 0;
    ret;
}
.visible .entry sum(.param .u64 out, .param .u64 n) {
    .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; add.u32 %r3, %r1, %r2;
    { .param .b32 p0; st.param.b32 [p0], %r3; .param .b32 ret; call.uni (ret), down, (p0); ld.param.b32 %r4, [ret]; }
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4;
    ret;
}";

/// The outcome of a recursion of so many levels in 32 threads, each one level deeper than the last.
fn run_recursive_sum(limit: Option<usize>, levels: u64) -> Result<(), CUresult> {
    let ctx = new_context();
    if let Some(limit) = limit {
        ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, limit));
        let mut value = 0;
        ok!(cuCtxGetLimit(&raw mut value, CUlimit::CU_LIMIT_STACK_SIZE));
        assert_eq!(value, limit);
    }
    let out = alloc(128);
    let outcome = launch_and_wait(get_function(load_module(RECURSION_PTX), c"sum"), 1, 32, &[out, levels]);
    if outcome.is_ok() {
        let expected: Vec<u32> = (levels..levels + 32).map(|n| (n * (n + 1) / 2) as u32).collect();
        assert_eq!(read_u32s(out, 32), expected);
    } else {
        let detail = rtcg_vgpu::last_error_detail().unwrap();
        assert!(detail.contains("CU_LIMIT_STACK_SIZE"), "{detail}");
    }
    let destroyed = call!(cuCtxDestroy(ctx));
    assert!(destroyed.is_ok() || outcome.is_err());
    outcome
}

#[test]
fn recursion_works_up_to_the_stack_limit_only() {
    const STACK_OVERFLOW: Result<(), CUresult> = Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    // 64 bytes of variables and 16 for the return fit so often.
    assert_eq!(run_recursive_sum(Some(4 << 10), (4 << 10) / 80 - 32), Ok(()));
    assert_eq!(run_recursive_sum(Some(4 << 10), 1000), STACK_OVERFLOW);
    assert_eq!(run_recursive_sum(Some(256 << 10), (256 << 10) / 80 - 32), Ok(()));
    assert_eq!(run_recursive_sum(Some(256 << 10), 10_000), STACK_OVERFLOW);
    assert_eq!(run_recursive_sum(Some((512 << 10) - 16), (512 << 10) / 80 - 33), Ok(()));
}

#[test]
fn without_a_limit_stacks_are_large_and_end_all_the_same() {
    assert_eq!(run_recursive_sum(None, 1000), Ok(()));
    assert_eq!(run_recursive_sum(None, 1 << 30), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

#[test]
fn limits_have_bounds() {
    let ctx = new_context();
    fails!(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 512 << 10));
    fails!(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4));
    ok!(cuCtxDestroy(ctx));
}
