//! `CU_LIMIT_STACK_SIZE`: how deep a recursion may be.

use super::support::{get_function, launch_and_wait, load_module, read_u32s};
use crate::api_common::{alloc, new_context};
use crate::exec_ptx::RECURSION_PTX;
use rtcg_cuda_sys::*;

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
    let module = load_module(&RECURSION_PTX.replace(".param .u32 n", ".param .u64 n"));
    let outcome = launch_and_wait(get_function(module, c"sum"), 1, 32, &[out, levels]);
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
