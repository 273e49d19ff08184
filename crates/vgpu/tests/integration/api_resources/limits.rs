//! Limits of contexts, and when the text of kernels appears.

use super::support::{get_function, launch_and_wait, load_module};
use crate::api_common::{alloc, new_context};
use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::*;
use std::time::Duration;

/// `say` prints a line, `take` allocates, `local` has 4000 bytes of local memory.
const PTX: &str = "
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.global .align 1 .b8 text[6] = {84, 69, 88, 84, 10, 0};
.visible .entry say() {
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    mov.u64 %rd1, text; mov.u64 %rd2, 0;
    { .param .b64 f; st.param.b64 [f], %rd1; .param .b64 a; st.param.b64 [a], %rd2; .param .b32 r; call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }
    ret;
}
.visible .entry take() {
    .reg .b64 %rd<3>;
    mov.u64 %rd1, 8;
    { .param .b64 n; st.param.b64 [n], %rd1; .param .b64 r; call.uni (r), malloc, (n); ld.param.b64 %rd2, [r]; }
    ret;
}
.visible .entry local() {
    .local .align 16 .b8 many[3992];
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    mov.u64 %rd1, many; mov.u32 %r1, 7; st.local.u32 [%rd1], %r1;
    ret;
}";

fn limit(limit: CUlimit) -> Result<usize, CUresult> {
    let mut value = 0;
    call!(cuCtxGetLimit(&raw mut value, limit)).map(|()| value)
}

#[test]
fn limits_are_rounded_and_fixed_by_the_first_use() {
    use CUlimit as L;
    let ctx = new_context();
    let module = load_module(PTX);
    let set = |number, value| call!(cuCtxSetLimit(number, value)).and_then(|()| limit(number));
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(set(L::CU_LIMIT_PRINTF_FIFO_SIZE, (1 << 20) + 1), Ok((1 << 20) + 256));
    assert_eq!(set(L::CU_LIMIT_MALLOC_HEAP_SIZE, (8 << 20) + 1), Ok((8 << 20) + (64 << 10)));
    assert_eq!(launch_and_wait(get_function(module, c"local"), 1, 1, &[]), Ok(()));
    // Neither is used by a kernel that neither prints nor allocates; the stack has grown.
    assert_eq!(set(L::CU_LIMIT_PRINTF_FIFO_SIZE, 1), Ok(512 << 10));
    assert_eq!(set(L::CU_LIMIT_MALLOC_HEAP_SIZE, 1), Ok(4 << 20));
    assert_eq!(limit(L::CU_LIMIT_STACK_SIZE), Ok(4000));
    assert_eq!(launch_and_wait(get_function(module, c"say"), 1, 1, &[]), Ok(()));
    assert_eq!(set(L::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), refused);
    assert_eq!(set(L::CU_LIMIT_MALLOC_HEAP_SIZE, 6 << 20), Ok(6 << 20));
    assert_eq!(launch_and_wait(get_function(module, c"take"), 1, 1, &[]), Ok(()));
    assert_eq!(set(L::CU_LIMIT_MALLOC_HEAP_SIZE, 6 << 20), refused);
    ok!(cuCtxDestroy(ctx));
    // Each context has limits of its own.
    let ctx = new_context();
    assert_eq!(limit(L::CU_LIMIT_PRINTF_FIFO_SIZE), Ok(8_650_752));
    assert_eq!(set(L::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), Ok(1 << 20));
    assert_eq!(limit(L::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), Err(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT));
    fails!(CUDA_ERROR_NOT_PERMITTED, cuCtxSetLimit(L::CU_LIMIT_SHMEM_SIZE, 1));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_graph_uses_limits_like_its_kernels() {
    let ctx = new_context();
    let function = get_function(load_module(PTX), c"say");
    let (mut graph, mut node, mut exec) = (CUgraph::null(), CUgraphNode::null(), CUgraphExec::null());
    ok!(cuGraphCreate(&raw mut graph, 0));
    let params = CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        ..Default::default()
    };
    ok!(cuGraphAddKernelNode(&raw mut node, graph, std::ptr::null(), 0, &raw const params));
    ok!(cuGraphInstantiateWithFlags(&raw mut exec, graph, 0));
    ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20));
    ok!(cuGraphLaunch(exec, CUstream::null()));
    fails!(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn text_appears_without_any_call() {
    if !is_child() {
        let out = rerun(module_path!(), "text_appears_without_any_call").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!((out.status.code(), text.matches("TEXT\n").count()), (Some(3), 200), "{text}");
        return;
    }
    new_context();
    let function = get_function(load_module(PTX), c"say");
    let (p, none) = (alloc(4), std::ptr::null_mut());
    // The first launches run in the calls, the one behind the copies by another thread.
    for blocks in [40, 160] {
        ok!(cuMemsetD8Async(p, 1, 4, CUstream::null()));
        ok!(cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, CUstream::null(), none, none));
    }
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: ends the process at once, with no call of the driver and without the C library's clean-up.
    unsafe { libc::_exit(3) };
}
