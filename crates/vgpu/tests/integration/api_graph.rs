//! Graphs: put together node by node, captured from streams, changed, launched.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::api_common::*;
use rtcg_cuda_sys::*;

/// `add`: p[i] += v. `times`: p[i] *= v.
const KERNELS_PTX: &std::ffi::CStr = c".version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 v)
{
    .reg .b64 %rd<4>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
    mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry times(.param .u64 p, .param .u32 v)
{
    .reg .b64 %rd<4>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
    mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1]; mul.lo.u32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3;
    ret;
}
";

struct GraphFixture {
    ctx: CUcontext,
    add: CUfunction,
    times: CUfunction,
    p: CUdeviceptr,
}

fn new_fixture() -> GraphFixture {
    let ctx = new_context();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, KERNELS_PTX.as_ptr().cast()));
    let (mut add, mut times) = (CUfunction::null(), CUfunction::null());
    ok!(cuModuleGetFunction(&raw mut add, module, c"add".as_ptr()));
    ok!(cuModuleGetFunction(&raw mut times, module, c"times".as_ptr()));
    let p = alloc(4096);
    ok!(cuMemsetD32(p, 0, 1024));
    GraphFixture { ctx, add, times, p }
}

fn read_u32(p: CUdeviceptr) -> u32 {
    let mut value = 0_u32;
    ok!(cuMemcpyDtoH((&raw mut value).cast(), p, 4));
    value
}

fn new_graph() -> CUgraph {
    let mut graph = CUgraph::null();
    ok!(cuGraphCreate(&raw mut graph, 0));
    graph
}

fn launch(f: CUfunction, p: CUdeviceptr, v: u32, s: CUstream) {
    let mut arguments: [*mut c_void; 2] = [(&raw const p).cast_mut().cast(), (&raw const v).cast_mut().cast()];
    ok!(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, arguments.as_mut_ptr(), null_mut()));
}

/// Calls `f` with the parameters of a kernel node.
fn with_kernel_params<R>(
    f: CUfunction,
    p: CUdeviceptr,
    v: u32,
    call: impl FnOnce(*const CUDA_KERNEL_NODE_PARAMS) -> R,
) -> R {
    let mut arguments: [*mut c_void; 2] = [(&raw const p).cast_mut().cast(), (&raw const v).cast_mut().cast()];
    let params = CUDA_KERNEL_NODE_PARAMS {
        func: f,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: arguments.as_mut_ptr(),
        ..Default::default()
    };
    call(&raw const params)
}

fn kernel_node(g: CUgraph, after: &[CUgraphNode], f: CUfunction, p: CUdeviceptr, v: u32) -> CUgraphNode {
    let mut node = CUgraphNode::null();
    with_kernel_params(f, p, v, |params| {
        ok!(cuGraphAddKernelNode(&raw mut node, g, after.as_ptr(), after.len(), params))
    });
    node
}

fn instantiate(g: CUgraph) -> CUgraphExec {
    let mut exec = CUgraphExec::null();
    ok!(cuGraphInstantiateWithFlags(&raw mut exec, g, 0));
    exec
}

#[test]
fn nodes_run_in_the_order_of_their_edges() {
    let GraphFixture { ctx, add, times, p } = new_fixture();
    let g = new_graph();
    let one = 1_u32;
    let mut set = CUgraphNode::null();
    let params = CUDA_MEMSET_NODE_PARAMS { dst: p, pitch: 0, value: 3, elementSize: 4, width: 32, height: 1 };
    ok!(cuGraphAddMemsetNode(&raw mut set, g, null(), 0, &raw const params, ctx));
    // (3 + 4) * 5 = 35, although the product was added first.
    let product = kernel_node(g, &[], times, p, 5);
    let sum = kernel_node(g, &[set], add, p, 4);
    ok!(cuGraphAddDependencies(g, &raw const sum, &raw const product, null(), 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, &raw const sum, &raw const product, null(), 1));
    let mut seen = 0_u32;
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p + 124,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: (&raw mut seen).cast(),
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    let mut back = CUgraphNode::null();
    ok!(cuGraphAddMemcpyNode(&raw mut back, g, &raw const product, 1, &raw const copy, ctx));
    static HOST_NODE_CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn count_host_node_call(by: *mut c_void) {
        // SAFETY: the test passes the address of a number that lives on.
        HOST_NODE_CALLS.fetch_add(unsafe { *by.cast::<u32>() }, Ordering::SeqCst);
    }
    let mut host = CUgraphNode::null();
    let params =
        CUDA_HOST_NODE_PARAMS { fn_: Some(count_host_node_call), userData: (&raw const one).cast_mut().cast() };
    ok!(cuGraphAddHostNode(&raw mut host, g, &raw const back, 1, &raw const params));
    let exec = instantiate(g);
    let s = new_stream(1);
    for i in 1..=3 {
        ok!(cuGraphLaunch(exec, s));
        ok!(cuStreamSynchronize(s));
        assert_eq!((seen, read_u32(p), HOST_NODE_CALLS.load(Ordering::SeqCst)), (35, 35, i));
        seen = 0;
    }
    let (mut n, mut kind) = (0, CUgraphNodeType::default());
    ok!(cuGraphGetNodes(g, null_mut(), &raw mut n));
    assert_eq!(n, 5);
    ok!(cuGraphGetEdges(g, null_mut(), null_mut(), null_mut(), &raw mut n));
    assert_eq!(n, 4);
    ok!(cuGraphNodeGetType(host, &raw mut kind));
    assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST);
    let mut roots = [CUgraphNode::null(); 4];
    n = 4;
    ok!(cuGraphGetRootNodes(g, roots.as_mut_ptr(), &raw mut n));
    assert_eq!((n, roots), (1, [set, CUgraphNode::null(), CUgraphNode::null(), CUgraphNode::null()]));
    let mut params = CUDA_KERNEL_NODE_PARAMS::default();
    ok!(cuGraphKernelNodeGetParams(product, &raw mut params));
    // SAFETY: the parameters of the node, which exists.
    assert_eq!((params.func, unsafe { *(*params.kernelParams.add(1)).cast::<u32>() }), (times, 5));
    // A cycle is found when the graph is instantiated.
    ok!(cuGraphAddDependencies(g, &raw const product, &raw const set, null(), 1));
    let mut none = CUgraphExec::null();
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&raw mut none, g, 0));
    ok!(cuGraphDestroy(g));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(host, &raw mut kind));
    // The executable graph does not need the graph.
    ok!(cuGraphLaunch(exec, s));
    ok!(cuStreamSynchronize(s));
    ok!(cuGraphExecDestroy(exec));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, s));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn executable_graphs_can_be_changed() {
    let GraphFixture { ctx, add, times, p } = new_fixture();
    let g = new_graph();
    let a = kernel_node(g, &[], add, p, 1);
    let b = kernel_node(g, &[a], add, p, 10);
    let exec = instantiate(g);
    let run = |exec| {
        ok!(cuMemsetD32(p, 0, 32));
        ok!(cuGraphLaunch(exec, CUstream::null()));
        ok!(cuCtxSynchronize());
        read_u32(p)
    };
    assert_eq!(run(exec), 11);
    with_kernel_params(add, p, 20, |params| ok!(cuGraphExecKernelNodeSetParams(exec, b, params)));
    assert_eq!(run(exec), 21);
    ok!(cuGraphNodeSetEnabled(exec, a, 0));
    assert_eq!(run(exec), 20);
    let mut enabled = 7;
    ok!(cuGraphNodeGetEnabled(exec, a, &raw mut enabled));
    assert_eq!(enabled, 0);
    ok!(cuGraphNodeSetEnabled(exec, a, 1));
    // The graph itself is as it was.
    assert_eq!(run(instantiate(g)), 11);
    with_kernel_params(times, p, 7, |params| ok!(cuGraphKernelNodeSetParams(b, params)));
    let mut info = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate(exec, g, &raw mut info));
    assert_eq!((info.result, run(exec)), (CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS, 7));
    let mut empty = CUgraphNode::null();
    ok!(cuGraphAddEmptyNode(&raw mut empty, g, &raw const b, 1));
    fails!(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, g, &raw mut info));
    assert_eq!(info.result, CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    // A child graph is a copy: what becomes of the original changes nothing.
    let outer = new_graph();
    let before = kernel_node(outer, &[], add, p, 2);
    let mut child = CUgraphNode::null();
    ok!(cuGraphAddChildGraphNode(&raw mut child, outer, &raw const before, 1, g));
    ok!(cuGraphDestroy(g));
    assert_eq!(run(instantiate(outer)), 21);
    let mut clone = CUgraph::null();
    ok!(cuGraphClone(&raw mut clone, outer));
    let mut twin = CUgraphNode::null();
    ok!(cuGraphNodeFindInClone(&raw mut twin, before, clone));
    with_kernel_params(add, p, 3, |params| ok!(cuGraphKernelNodeSetParams(twin, params)));
    assert_eq!((run(instantiate(clone)), run(instantiate(outer))), (28, 21));
    let path = std::env::temp_dir().join(format!("rtcg_graph_{}.dot", std::process::id()));
    let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    ok!(cuGraphDebugDotPrint(outer, c_path.as_ptr(), 0));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(text.starts_with("digraph") && text.contains("subgraph") && text.contains("times"), "{text}");
    ok!(cuCtxDestroy(ctx));
}

fn memset_node(g: CUgraph, p: CUdeviceptr, value: u32, width: usize, height: usize) -> CUgraphNode {
    let params = CUDA_MEMSET_NODE_PARAMS { dst: p, pitch: 512, value, elementSize: 1, width, height };
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddMemsetNode(&raw mut node, g, null(), 0, &raw const params, CUcontext::null()));
    node
}

/// A copy between device memory and, on one side or none, host memory.
fn copy_node(g: CUgraph, host: &mut [u32; 16], p: CUdeviceptr, way: &str, width: usize) -> CUgraphNode {
    let (from, to) = way.split_once(' ').unwrap();
    let kind = |side| {
        if side == "host" { CUmemorytype::CU_MEMORYTYPE_HOST } else { CUmemorytype::CU_MEMORYTYPE_DEVICE }
    };
    let params = CUDA_MEMCPY3D {
        srcMemoryType: kind(from),
        srcHost: host.as_ptr().cast(),
        srcDevice: p,
        dstMemoryType: kind(to),
        dstHost: host.as_mut_ptr().cast(),
        dstDevice: p + 1024,
        WidthInBytes: width,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddMemcpyNode(&raw mut node, g, null(), 0, &raw const params, CUcontext::null()));
    node
}

#[test]
fn an_update_keeps_what_a_device_keeps() {
    use CUgraphExecUpdateResult as R;
    const SAME: R = R::CU_GRAPH_EXEC_UPDATE_SUCCESS;
    const TOPOLOGY: R = R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    const PARAMETERS: R = R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    let GraphFixture { ctx, add, times, p } = new_fixture();
    let host = std::cell::RefCell::new([0_u32; 16]);
    // The result, and which nodes are named: that of the difference, and the one before it.
    let update = |old: &dyn Fn(CUgraph), new: &dyn Fn(CUgraph)| {
        let (from, to) = (new_graph(), new_graph());
        old(from);
        new(to);
        let mut info = CUgraphExecUpdateResultInfo::default();
        let code = call!(cuGraphExecUpdate(instantiate(from), to, &raw mut info));
        assert_eq!(code.is_ok(), info.result == SAME);
        (info.result, !info.errorNode.is_null(), !info.errorFromNode.is_null())
    };
    let set = |value, width, height| {
        move |g| {
            memset_node(g, p, value, width, height);
        }
    };
    assert_eq!(update(&set(1, 16, 1), &set(3, 32, 1)), (SAME, false, false));
    assert_eq!(update(&set(1, 16, 2), &set(3, 16, 2)), (SAME, false, false));
    assert_eq!(update(&set(1, 16, 1), &set(1, 16, 2)), (PARAMETERS, true, false));
    assert_eq!(update(&set(1, 16, 2), &set(1, 16, 1)), (PARAMETERS, true, false));
    assert_eq!(update(&set(1, 16, 2), &set(1, 32, 2)), (PARAMETERS, true, false));
    let copy = |way: &'static str, width| {
        let host = &host;
        move |g| {
            copy_node(g, &mut host.borrow_mut(), p, way, width);
        }
    };
    assert_eq!(update(&copy("host device", 64), &copy("host device", 32)), (SAME, false, false));
    assert_eq!(update(&copy("host device", 64), &copy("device host", 64)), (PARAMETERS, true, false));
    assert_eq!(update(&copy("host device", 64), &copy("device device", 64)), (PARAMETERS, true, false));
    let pair = |edge: bool| {
        move |g| {
            let a = kernel_node(g, &[], add, p, 1);
            kernel_node(g, if edge { std::slice::from_ref(&a) } else { &[] }, times, p, 2);
        }
    };
    let chain = |from: usize| {
        move |g| {
            let first = [kernel_node(g, &[], add, p, 1), kernel_node(g, &[], add, p, 2)];
            let third = kernel_node(g, &first[from..=from], add, p, 3);
            kernel_node(g, &[first[1 - from], third], add, p, 4);
        }
    };
    assert_eq!(update(&pair(false), &pair(true)), (TOPOLOGY, false, false));
    assert_eq!(update(&pair(true), &pair(false)), (TOPOLOGY, true, false));
    assert_eq!(update(&pair(true), &set(1, 16, 1)), (TOPOLOGY, false, false));
    assert_eq!(update(&set(1, 16, 1), &pair(true)), (TOPOLOGY, false, false));
    assert_eq!(update(&chain(0), &chain(1)).0, TOPOLOGY);
    // The calls for one node keep the same.
    let g = new_graph();
    let (fill, moved) = (memset_node(g, p, 1, 16, 2), copy_node(g, &mut host.borrow_mut(), p, "host device", 64));
    let exec = instantiate(g);
    let mut params = CUDA_MEMSET_NODE_PARAMS::default();
    ok!(cuGraphMemsetNodeGetParams(fill, &raw mut params));
    params.value = 9;
    ok!(cuGraphExecMemsetNodeSetParams(exec, fill, &raw const params, ctx));
    params.height = 3;
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(exec, fill, &raw const params, ctx));
    let mut params = CUDA_MEMCPY3D::default();
    ok!(cuGraphMemcpyNodeGetParams(moved, &raw mut params));
    params.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, moved, &raw const params, ctx));
    ok!(cuCtxDestroy(ctx));
}

fn begin_capture(s: CUstream) {
    ok!(cuStreamBeginCapture(s, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
}

fn end_capture(s: CUstream) -> Result<CUgraph, CUresult> {
    let mut g = CUgraph::null();
    call!(cuStreamEndCapture(s, &raw mut g)).map(|()| g)
}

#[test]
fn streams_are_captured_with_forks_and_joins() {
    let GraphFixture { ctx, add, times, p } = new_fixture();
    let (s, t) = (new_stream(1), new_stream(1));
    let (fork, join) = (new_event(2), new_event(2));
    let source = [9_u32; 32];
    begin_capture(s);
    let mut status = CUstreamCaptureStatus::default();
    ok!(cuStreamIsCapturing(s, &raw mut status));
    assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok!(cuMemcpyHtoDAsync(p, source.as_ptr().cast(), 128, s));
    ok!(cuEventRecord(fork, s));
    ok!(cuStreamWaitEvent(t, fork, 0));
    ok!(cuMemsetD32Async(p + 2048, 5, 32, t));
    launch(times, p + 2048, 3, t);
    launch(add, p, 1, s);
    ok!(cuEventRecord(join, t));
    // A question about the time that an event was recorded leaves the capture valid, and so do synchronous copies.
    let mut ms = 0.0;
    fails!(CUDA_ERROR_CAPTURED_EVENT, cuEventElapsedTime(&raw mut ms, join, join));
    ok!(cuMemsetD8(p + 4000, 1, 1));
    ok!(cuStreamWaitEvent(s, join, 0));
    let (mut id, mut made, mut nodes, mut n) = (0, CUgraph::null(), null(), 0);
    ok!(cuStreamGetCaptureInfo(s, &raw mut status, &raw mut id, &raw mut made, &raw mut nodes, null_mut(), &raw mut n));
    assert_eq!(n, 2);
    ok!(cuMemcpyDtoDAsync(p + 1024, p, 128, s));
    let g = end_capture(s).unwrap();
    assert_eq!(g, made);
    // Nothing has run yet, and the streams are as before.
    assert_eq!((read_u32(p), read_u32(p + 2048)), (0, 0));
    ok!(cuStreamIsCapturing(t, &raw mut status));
    assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
    let exec = instantiate(g);
    ok!(cuGraphLaunch(exec, s));
    ok!(cuStreamSynchronize(s));
    assert_eq!((read_u32(p), read_u32(p + 1024), read_u32(p + 2048)), (10, 10, 15));
    let mut edges = 0;
    ok!(cuGraphGetEdges(g, null_mut(), null_mut(), null_mut(), &raw mut edges));
    assert_eq!(edges, 5);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn what_cannot_be_captured_invalidates_the_capture() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let (s, t) = (new_stream(1), new_stream(1));
    let invalid = |s| {
        let mut status = CUstreamCaptureStatus::default();
        ok!(cuStreamIsCapturing(s, &raw mut status));
        assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    };
    begin_capture(s);
    fails!(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(s, CUstreamCaptureMode(0)));
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
    invalid(s);
    assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_ILLEGAL_STATE));
    begin_capture(s);
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(s));
    invalid(s);
    let e = new_event(2);
    begin_capture(s);
    ok!(cuEventRecord(e, s));
    fails!(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(e));
    invalid(s);
    begin_capture(s);
    let mut argument = p;
    let mut arguments = [(&raw mut argument).cast::<c_void>(), (&raw mut argument).cast()];
    let params = arguments.as_mut_ptr();
    fails!(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, s, params, null_mut()));
    invalid(s);
    let empty = instantiate(new_graph());
    begin_capture(s);
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphUpload(empty, s));
    invalid(s);
    // Work of another stream that nobody waits for.
    begin_capture(s);
    ok!(cuEventRecord(e, s));
    ok!(cuStreamWaitEvent(t, e, 0));
    launch(add, p, 1, t);
    assert_eq!(end_capture(t), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    begin_capture(s);
    ok!(cuEventRecord(e, s));
    ok!(cuStreamWaitEvent(t, e, 0));
    launch(add, p, 1, t);
    assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
    // An event from outside.
    ok!(cuEventRecord(e, CUstream::null()));
    begin_capture(s);
    fails!(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(s, e, 0));
    invalid(s);
    // Two captures do not mix.
    begin_capture(s);
    begin_capture(t);
    ok!(cuEventRecord(e, t));
    fails!(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(s, e, 0));
    invalid(s);
    invalid(t);
    // The legacy stream waits for blocking streams, which a capture cannot express.
    let b = new_stream(0);
    begin_capture(b);
    fails!(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(p, 0, 1, CUstream::null()));
    invalid(b);
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(CUstream::null(), CUstreamCaptureMode(2)));
    // Unless it is relaxed, a capture forbids calls that could disturb it.
    ok!(cuStreamBeginCapture(s, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(cuCtxSetCurrent(ctx));
            alloc(64);
            // The attempt ends the capture.
            assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));
        });
    });
    assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_ILLEGAL_STATE));
    ok!(cuStreamBeginCapture(s, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    let mut address = 0;
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&raw mut address, 64));
    invalid(s);
    ok!(cuStreamBeginCapture(s, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode(&raw mut mode));
    assert_eq!(mode, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL);
    alloc(64);
    ok!(cuThreadExchangeStreamCaptureMode(&raw mut mode));
    // Any number is taken.
    let mut strange = CUstreamCaptureMode(3);
    ok!(cuThreadExchangeStreamCaptureMode(&raw mut strange));
    ok!(cuThreadExchangeStreamCaptureMode(&raw mut strange));
    assert_eq!(strange, CUstreamCaptureMode(3));
    ok!(cuGraphDestroy(end_capture(s).unwrap()));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn graphs_allocate_and_free() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let s = new_stream(1);
    begin_capture(s);
    let mut q = 0;
    ok!(cuMemAllocAsync(&raw mut q, 4096, s));
    ok!(cuMemsetD32Async(q, 6, 32, s));
    launch(add, q, 1, s);
    ok!(cuMemcpyDtoDAsync(p, q, 128, s));
    ok!(cuMemFreeAsync(q, s));
    let g = end_capture(s).unwrap();
    let exec = instantiate(g);
    for _ in 0..3 {
        ok!(cuMemsetD32(p, 0, 32));
        ok!(cuGraphLaunch(exec, s));
        ok!(cuStreamSynchronize(s));
        assert_eq!(read_u32(p), 7);
    }
    // What a graph leaves allocated the program frees; until then it cannot run again.
    let g = new_graph();
    let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: 1000, ..Default::default() };
    params.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddMemAllocNode(&raw mut node, g, null(), 0, &raw mut params));
    let exec = instantiate(g);
    let mut second = CUgraphExec::null();
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&raw mut second, g, 0));
    let range = || {
        let (mut start, mut size) = (0, 0);
        call!(cuMemGetAddressRange(&raw mut start, &raw mut size, params.dptr)).map(|()| size)
    };
    assert_eq!(range(), Err(CUresult::CUDA_ERROR_NOT_FOUND));
    ok!(cuGraphLaunch(exec, s));
    assert_eq!(range(), Ok(1000));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, s));
    ok!(cuMemsetD8(params.dptr, 1, 1000));
    ok!(cuMemFreeAsync(params.dptr, s));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(params.dptr, s));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(params.dptr));
    ok!(cuGraphLaunch(exec, s));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(g));
    ok!(cuStreamSynchronize(s));
    ok!(cuMemsetD8(params.dptr, 1, 1000));
    ok!(cuMemFree(params.dptr));
    ok!(cuCtxDestroy(ctx));
}

/// What a node before has freed is given out again; an address has one node that frees it for each that allocates it.
#[test]
fn memory_of_a_graph_is_used_again() {
    let ctx = new_context();
    let s = new_stream(1);
    let g = new_graph();
    let alloc_node = |after: &[CUgraphNode], bytesize| {
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize, ..Default::default() };
        params.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        let mut node = CUgraphNode::null();
        ok!(cuGraphAddMemAllocNode(&raw mut node, g, after.as_ptr(), after.len(), &raw mut params));
        (node, params.dptr)
    };
    let free_node = |after: CUgraphNode, start| {
        let mut node = CUgraphNode::null();
        call!(cuGraphAddMemFreeNode(&raw mut node, g, &raw const after, 1, start)).map(|()| node)
    };
    let (first, p) = alloc_node(&[], 1000);
    let freed = free_node(first, p).unwrap();
    assert_eq!(free_node(first, p), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_ne!(alloc_node(&[], 1000).1, p, "nothing orders these");
    let (again, q) = alloc_node(&[freed], 1000);
    assert_eq!(q, p);
    assert_ne!(alloc_node(&[again], 1000).1, p, "it is in use again");
    let attribute = |number| {
        let mut bytes = 7_u64;
        ok!(cuDeviceGetGraphMemAttribute(0, CUgraphMem_attribute(number), (&raw mut bytes).cast()));
        bytes
    };
    let exec = instantiate(g);
    ok!(cuGraphLaunch(exec, s));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, s));
    ok!(cuMemFreeAsync(p, s));
    ok!(cuStreamSynchronize(s));
    let piece = 32 << 20;
    assert!([0, 1, 2, 3].map(attribute).iter().all(|&bytes| bytes >= piece && bytes.is_multiple_of(piece)));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn graphs_record_and_wait_for_events() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let e = new_event(0);
    let g = new_graph();
    let a = kernel_node(g, &[], add, p, 1);
    let (mut record, mut wait) = (CUgraphNode::null(), CUgraphNode::null());
    ok!(cuGraphAddEventRecordNode(&raw mut record, g, &raw const a, 1, e));
    ok!(cuGraphAddEventWaitNode(&raw mut wait, g, &raw const record, 1, e));
    kernel_node(g, &[wait], add, p, 1);
    let exec = instantiate(g);
    ok!(cuGraphLaunch(exec, new_stream(1)));
    ok!(cuEventSynchronize(e));
    ok!(cuCtxSynchronize());
    assert_eq!(read_u32(p), 2);
    // User objects go with the last graph that keeps them.
    static DESTROY_CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn count_destroy_call(_: *mut c_void) {
        DESTROY_CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let mut object = CUuserObject::null();
    ok!(cuUserObjectCreate(&raw mut object, null_mut(), Some(count_destroy_call), 1, 1));
    ok!(cuGraphRetainUserObject(g, object, 1, 1));
    assert_eq!(DESTROY_CALLS.load(Ordering::SeqCst), 0);
    ok!(cuGraphDestroy(g));
    assert_eq!(DESTROY_CALLS.load(Ordering::SeqCst), 1);
    ok!(cuCtxDestroy(ctx));
}

/// Prints what a launch of 100 small kernels costs, alone and as a graph; checks the results only.
#[test]
fn a_hundred_small_kernels() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let s = new_stream(1);
    begin_capture(s);
    (0..100).for_each(|_| launch(add, p, 1, s));
    let exec = instantiate(end_capture(s).unwrap());
    let time = |work: &dyn Fn()| {
        (0..20).for_each(|_| work());
        let begun = Instant::now();
        (0..100).for_each(|_| work());
        ok!(cuStreamSynchronize(s));
        begun.elapsed().as_secs_f64() * 1e4
    };
    let graph = time(&|| ok!(cuGraphLaunch(exec, s)));
    let single = time(&|| (0..100).for_each(|_| launch(add, p, 1, s)));
    println!("100 kernels of 32 threads: {graph:.1} us as a graph, {single:.1} us one by one");
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_u32(p), 24_000);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn lists_edges_and_attributes_are_as_on_a_device() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let g = new_graph();
    let [a, b, c] = [0; 3].map(|_| kernel_node(g, &[], add, p, 1));
    // All edges or none.
    let (from, to) = ([a, a], [b, a]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, from.as_ptr(), to.as_ptr(), null(), 2));
    let mut n = 0;
    ok!(cuGraphGetEdges(g, null_mut(), null_mut(), null_mut(), &raw mut n));
    assert_eq!(n, 0);
    let mut node = CUgraphNode::null();
    let twice = [a, a];
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&raw mut node, g, twice.as_ptr(), 2));
    let mut nodes = [CUgraphNode::null(); 4];
    n = 0;
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(g, nodes.as_mut_ptr(), &raw mut n));
    n = 4;
    ok!(cuGraphGetNodes(g, nodes.as_mut_ptr(), &raw mut n));
    assert_eq!((n, nodes[3].is_null()), (3, true));
    let value = CUkernelNodeAttrValue { priority: -2 };
    ok!(cuGraphKernelNodeSetAttribute(b, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY, &raw const value));
    ok!(cuGraphKernelNodeCopyAttributes(c, b));
    let mut told = CUkernelNodeAttrValue::default();
    ok!(cuGraphKernelNodeGetAttribute(c, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY, &raw mut told));
    // SAFETY: the member that was asked for.
    assert_eq!(unsafe { told.priority }, -2);
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute(c, CUlaunchAttributeID(3), &raw mut told));
    // Only what does something on the device can be switched off.
    ok!(cuGraphAddEmptyNode(&raw mut node, g, null(), 0));
    let (exec, mut enabled) = (instantiate(g), 9);
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(exec, node, &raw mut enabled));
    ok!(cuGraphNodeGetEnabled(exec, a, &raw mut enabled));
    assert_eq!(enabled, 1);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn an_event_of_an_ended_capture_stands_for_nothing() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let (s, t, e) = (new_stream(1), new_stream(1), new_event(0));
    begin_capture(s);
    launch(add, p, 1, s);
    ok!(cuEventRecord(e, s));
    end_capture(s).unwrap();
    fails!(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(t, e, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuEventQuery(e));
    fails!(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(e));
    ok!(cuEventRecord(e, t));
    ok!(cuEventSynchronize(e));
    // Nodes that record or wait exist in captures only.
    fails!(CUDA_ERROR_ILLEGAL_STATE, cuEventRecordWithFlags(e, t, 1));
    fails!(CUDA_ERROR_ILLEGAL_STATE, cuStreamWaitEvent(t, e, 1));
    // What the stream itself has left behind need not be joined.
    begin_capture(s);
    launch(add, p, 1, s);
    ok!(cuStreamUpdateCaptureDependencies(s, null_mut(), null(), 0, 1));
    launch(add, p, 1, s);
    assert!(end_capture(s).is_ok());
    ok!(cuCtxDestroy(ctx));
}

/// Parameters of the general form.
fn general_params(kind: CUgraphNodeType, set: impl FnOnce(&mut CUgraphNodeParams_anon0)) -> CUgraphNodeParams {
    let mut params = CUgraphNodeParams { type_: kind, ..Default::default() };
    set(&mut params.anon0);
    params
}

fn memset_params(p: CUdeviceptr, ctx: CUcontext) -> CUgraphNodeParams {
    general_params(CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET, |union| {
        union.memset =
            CUDA_MEMSET_NODE_PARAMS_v2 { dst: p, pitch: 0, value: 1, elementSize: 4, width: 8, height: 1, ctx };
    })
}

fn child_params(graph: CUgraph, ownership: i32) -> CUgraphNodeParams {
    let ownership = CUgraphChildGraphNodeOwnership(ownership as _);
    general_params(CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH, |union| {
        union.graph = CUDA_CHILD_GRAPH_NODE_PARAMS { graph, ownership };
    })
}

fn add_general(g: CUgraph, params: &mut CUgraphNodeParams) -> Result<CUgraphNode, CUresult> {
    let mut node = CUgraphNode::null();
    call!(cuGraphAddNode(&raw mut node, g, null(), null(), 0, params)).map(|()| node)
}

/// Every call with parameters of the general form, for every type: what a type does not use is zero.
#[test]
fn reserved_bytes_of_node_parameters_are_zero() {
    use CUgraphNodeType as T;
    let GraphFixture { ctx, p, .. } = new_fixture();
    let (event, child) = (new_event(2), new_graph());
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: p + 512,
        WidthInBytes: 64,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let host = CUDA_HOST_NODE_PARAMS_v2 { fn_: Some(nothing), ..Default::default() };
    let memcpy = CUDA_MEMCPY_NODE_PARAMS { flags: 0, reserved: 0, copyCtx: ctx, copyParams: copy };
    for (params, used) in [
        (memset_params(p, ctx), size_of::<CUDA_MEMSET_NODE_PARAMS_v2>()),
        (general_params(T::CU_GRAPH_NODE_TYPE_MEMCPY, |u| u.memcpy = memcpy), size_of::<CUDA_MEMCPY_NODE_PARAMS>()),
        (general_params(T::CU_GRAPH_NODE_TYPE_HOST, |u| u.host = host), size_of::<CUDA_HOST_NODE_PARAMS_v2>()),
        (child_params(child, 0), size_of::<CUDA_CHILD_GRAPH_NODE_PARAMS>()),
        (general_params(T::CU_GRAPH_NODE_TYPE_EMPTY, |_| {}), 0),
        (general_params(T::CU_GRAPH_NODE_TYPE_EVENT_RECORD, |u| u.eventRecord.event = event), 8),
        (general_params(T::CU_GRAPH_NODE_TYPE_WAIT_EVENT, |u| u.eventWait.event = event), 8),
    ] {
        let g = new_graph();
        let mut good = params;
        let node = add_general(g, &mut good).unwrap();
        let exec = instantiate(g);
        ok!(cuGraphNodeSetParams(node, &raw mut good));
        ok!(cuGraphExecNodeSetParams(exec, node, &raw mut good));
        let memcpy_flags = if params.type_ == T::CU_GRAPH_NODE_TYPE_MEMCPY { vec![16, 20] } else { vec![] };
        for at in [4, 8, 12, 16 + used, 244, 248, 252].into_iter().chain(memcpy_flags) {
            let mut bad = params;
            // SAFETY: within the structure, which any bytes are a value of.
            unsafe { (&raw mut bad).cast::<u8>().add(at).write(1) };
            assert_eq!(add_general(g, &mut bad), Err(CUresult::CUDA_ERROR_INVALID_VALUE), "{:?} at {at}", params.type_);
            let mut other = CUgraphNode::null();
            fails!(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode_v1(&raw mut other, g, null(), 0, &raw mut bad));
            fails!(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &raw mut bad));
            fails!(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, node, &raw mut bad));
        }
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn parameters_of_memory_nodes_and_the_shape_of_children_stay() {
    let GraphFixture { ctx, p, .. } = new_fixture();
    let mut alloc = general_params(CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC, |union| {
        union.alloc = CUDA_MEM_ALLOC_NODE_PARAMS_v2 { bytesize: 4096, ..Default::default() };
    });
    // SAFETY: the member that was set.
    let pool = unsafe { &mut alloc.anon0.alloc.poolProps };
    pool.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    pool.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let g = new_graph();
    let node = add_general(g, &mut alloc).unwrap();
    let (mut again, mut set) = (alloc, memset_params(p, ctx));
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeSetParams(node, &raw mut again));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &raw mut set));
    // A child graph may become another one, but not in an executable graph.
    let shape = |n: usize| {
        let g = new_graph();
        for i in 0..n {
            memset_node(g, p, i as u32, 8, 1);
        }
        g
    };
    let g = new_graph();
    let node = add_general(g, &mut child_params(shape(1), 0)).unwrap();
    let exec = instantiate(g);
    let (mut one, mut two) = (child_params(shape(1), 0), child_params(shape(2), 0));
    ok!(cuGraphExecNodeSetParams(exec, node, &raw mut one));
    fails!(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecNodeSetParams(exec, node, &raw mut two));
    fails!(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecChildGraphNodeSetParams(exec, node, shape(2)));
    ok!(cuGraphNodeSetParams(node, &raw mut two));
    ok!(cuCtxDestroy(ctx));
}

/// Facts of an H200 with CUDA 13.0.
#[test]
fn batches_of_memory_operations_keep_their_types() {
    use CUstreamBatchMemOpType as T;
    const WRITE: T = T::CU_STREAM_MEM_OP_WRITE_VALUE_32;
    const WAIT: T = T::CU_STREAM_MEM_OP_WAIT_VALUE_32;
    let GraphFixture { ctx, p, .. } = new_fixture();
    let s = new_stream(1);
    let word = |operation, at: u64, value64, flags| {
        let anon0 = CUstreamBatchMemOpParams_writeValue_anon0 { value64 };
        let write = CUstreamBatchMemOpParams_writeValue { operation, address: p + at, anon0, flags, alias: 0 };
        CUstreamBatchMemOpParams { writeValue: write }
    };
    let barrier = CUstreamBatchMemOpParams {
        memoryBarrier: CUstreamBatchMemOpParams_memoryBarrier { operation: T::CU_STREAM_MEM_OP_BARRIER, flags: 1 },
    };
    let first = [word(WRITE, 0, 1, 0), word(WAIT, 0, 1, 0)];
    let in_node = |operations: &[CUstreamBatchMemOpParams]| {
        let g = new_graph();
        let (array, count) = (operations.as_ptr().cast_mut(), operations.len() as u32);
        let params = CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx, count, paramArray: array, flags: 0 };
        let mut node = CUgraphNode::null();
        ok!(cuGraphAddBatchMemOpNode(&raw mut node, g, null(), 0, &raw const params));
        (g, node)
    };
    let in_capture = |operations: &[CUstreamBatchMemOpParams]| {
        begin_capture(s);
        ok!(cuStreamBatchMemOp(s, operations.len() as u32, operations.as_ptr().cast_mut(), 0));
        let g = end_capture(s).unwrap();
        let (mut node, mut n) = (CUgraphNode::null(), 1);
        ok!(cuGraphGetNodes(g, &raw mut node, &raw mut n));
        (g, node)
    };
    for (new, may_change) in [
        (vec![word(WRITE, 4, 5, 0), word(WAIT, 4, 5, 1)], true),
        (vec![word(WRITE, 4, 5, 0), word(WAIT, 4, 1, 2)], true),
        (vec![word(WRITE, 4, 5, 0)], false),
        (vec![word(WRITE, 4, 5, 0), word(WAIT, 4, 5, 0), word(WRITE, 8, 6, 0)], false),
        (vec![word(WAIT, 8, 0, 0), word(WRITE, 4, 5, 0)], false),
        (vec![word(WRITE, 4, 5, 0), word(WRITE, 8, 5, 0)], false),
        (vec![word(WRITE, 4, 5, 0), word(T::CU_STREAM_MEM_OP_WAIT_VALUE_64, 0, 0, 0)], false),
        (vec![word(T::CU_STREAM_MEM_OP_WRITE_VALUE_64, 0, 0, 0), word(WAIT, 4, 0, 0)], false),
        (vec![word(WRITE, 4, 5, 0), barrier], false),
    ] {
        let run = |exec: CUgraphExec| {
            ok!(cuMemsetD32(p, 0, 3));
            ok!(cuGraphLaunch(exec, s));
            ok!(cuStreamSynchronize(s));
            assert_eq!([read_u32(p), read_u32(p + 4)], if may_change { [0, 5] } else { [1, 0] });
        };
        let expect = |outcome: Result<(), CUresult>, refusal| {
            assert_eq!(outcome, if may_change { Ok(()) } else { Err(refusal) });
        };
        let (array, count) = (new.as_ptr().cast_mut(), new.len() as u32);
        for make in [&in_node as &dyn Fn(&[CUstreamBatchMemOpParams]) -> (CUgraph, CUgraphNode), &in_capture] {
            let (g, node) = make(&first);
            let typed = CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx, count, paramArray: array, flags: 0 };
            let exec = instantiate(g);
            let code = call!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &raw const typed));
            expect(code, CUresult::CUDA_ERROR_INVALID_VALUE);
            run(exec);
            let mut general = general_params(CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, |union| {
                union.memOp = CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 { ctx, count, paramArray: array, flags: 0 };
            });
            let exec = instantiate(g);
            expect(call!(cuGraphExecNodeSetParams(exec, node, &raw mut general)), CUresult::CUDA_ERROR_INVALID_VALUE);
            run(exec);
            let exec = instantiate(g);
            let mut info = CUgraphExecUpdateResultInfo::default();
            let code = call!(cuGraphExecUpdate(exec, make(&new).0, &raw mut info));
            expect(code, CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
            let parameters = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
            assert_eq!(info.result == parameters, !may_change);
            run(exec);
            ok!(cuGraphBatchMemOpNodeSetParams(node, &raw const typed));
        }
    }
    // Captured operations have parameters as those of nodes have, single ones too.
    begin_capture(s);
    ok!(cuStreamWriteValue32(s, p + 8, 7, 0));
    ok!(cuStreamWaitValue64(s, p + 16, 0, 1));
    let g = end_capture(s).unwrap();
    let (mut nodes, mut n) = ([CUgraphNode::null(); 2], 2);
    ok!(cuGraphGetNodes(g, nodes.as_mut_ptr(), &raw mut n));
    for (node, operation, at, value, flags) in
        [(nodes[0], WRITE, 8, 7, 0), (nodes[1], T::CU_STREAM_MEM_OP_WAIT_VALUE_64, 16, 0, 1)]
    {
        let mut params = CUDA_BATCH_MEM_OP_NODE_PARAMS::default();
        ok!(cuGraphBatchMemOpNodeGetParams(node, &raw mut params));
        assert_eq!(params.count, 1);
        // SAFETY: the one element, which is a write or a wait of the same fields.
        let given = unsafe { (*params.paramArray).writeValue };
        // SAFETY: any bytes are a number.
        assert_eq!(unsafe { given.anon0.value64 }, value);
        assert_eq!((given.operation, given.address, given.flags), (operation, p + at, flags));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_graph_is_moved_into_a_node() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let (outer, inner) = (new_graph(), new_graph());
    kernel_node(inner, &[], add, p, 3);
    assert_eq!(add_general(inner, &mut child_params(inner, 1)), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    let node = add_general(outer, &mut child_params(inner, 1)).unwrap();
    let mut child = CUgraph::null();
    ok!(cuGraphChildGraphNodeGetGraph(node, &raw mut child));
    assert_eq!(child, inner);
    // It goes with its parent, and has only one.
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inner));
    assert_eq!(add_general(new_graph(), &mut child_params(inner, 1)), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    kernel_node(inner, &[], add, p, 4);
    ok!(cuGraphLaunch(instantiate(outer), CUstream::null()));
    ok!(cuCtxSynchronize());
    assert_eq!(read_u32(p), 7);
    ok!(cuGraphDestroy(outer));
    let mut n = 0;
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(inner, null_mut(), &raw mut n));
    // Any other number stands for a copy.
    let (outer, inner) = (new_graph(), new_graph());
    add_general(outer, &mut child_params(inner, 2)).unwrap();
    ok!(cuGraphDestroy(inner));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn the_older_update_pairs_nodes_as_they_were_added() {
    use CUgraphExecUpdateResult as R;
    const SAME: R = R::CU_GRAPH_EXEC_UPDATE_SUCCESS;
    const TOPOLOGY: R = R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    const COUNT: R = R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    const ATTRIBUTES: R = R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let chain = |types: [bool; 2], edge: Option<(usize, usize)>, more: usize| {
        let g = new_graph();
        let make = |is_kernel| if is_kernel { kernel_node(g, &[], add, p, 1) } else { memset_node(g, p, 1, 8, 1) };
        let nodes = types.map(make);
        for _ in 0..more {
            memset_node(g, p, 1, 8, 1);
        }
        if let Some((from, to)) = edge {
            ok!(cuGraphAddDependencies_v1(g, &raw const nodes[from], &raw const nodes[to], 1));
        }
        g
    };
    let cooperative = || {
        let g = new_graph();
        let node = kernel_node(g, &[], add, p, 1);
        let value = CUkernelNodeAttrValue { cooperative: 1 };
        let attribute = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        ok!(cuGraphKernelNodeSetAttribute(node, attribute, &raw const value));
        g
    };
    let single = || {
        let g = new_graph();
        kernel_node(g, &[], add, p, 1);
        g
    };
    let parent = |child| {
        let g = new_graph();
        add_general(g, &mut child_params(child, 0)).unwrap();
        g
    };
    let first = || chain([true, false], Some((0, 1)), 0);
    let kernels = |edge| chain([true; 2], Some(edge), 0);
    for (old, new, now, before) in [
        (first(), first(), SAME, SAME),
        (first(), chain([false, true], Some((1, 0)), 0), SAME, TOPOLOGY),
        (kernels((0, 1)), kernels((1, 0)), SAME, TOPOLOGY),
        (first(), chain([true, false], None, 0), TOPOLOGY, TOPOLOGY),
        (first(), chain([true, false], Some((0, 1)), 1), TOPOLOGY, COUNT),
        (first(), single(), TOPOLOGY, COUNT),
        (new_graph(), single(), TOPOLOGY, COUNT),
        (parent(first()), parent(single()), TOPOLOGY, COUNT),
        (parent(kernels((0, 1))), parent(kernels((1, 0))), SAME, TOPOLOGY),
        (single(), cooperative(), ATTRIBUTES, ATTRIBUTES),
        (cooperative(), single(), ATTRIBUTES, ATTRIBUTES),
        (parent(single()), parent(cooperative()), ATTRIBUTES, ATTRIBUTES),
    ] {
        let exec = instantiate(old);
        let (mut info, mut node, mut result) =
            (CUgraphExecUpdateResultInfo::default(), CUgraphNode::null(), R::default());
        let code = call!(cuGraphExecUpdate(exec, new, &raw mut info));
        assert_eq!((info.result, code.is_ok()), (now, now == SAME));
        let code = call!(cuGraphExecUpdate_v1(exec, new, &raw mut node, &raw mut result));
        assert_eq!((result, code.is_ok()), (before, before == SAME));
        ok!(cuGraphLaunch(exec, CUstream::null()));
        ok!(cuCtxSynchronize());
    }
    ok!(cuCtxDestroy(ctx));
}

/// An executable graph may take over another graph's memory, which nothing else gives out then.
#[test]
fn an_update_takes_over_allocations() {
    let ctx = new_context();
    let make = || {
        let g = new_graph();
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: 1000, ..Default::default() };
        params.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        let mut node = CUgraphNode::null();
        ok!(cuGraphAddMemAllocNode(&raw mut node, g, null(), 0, &raw mut params));
        (g, params.dptr)
    };
    let ((first, _), (second, p)) = (make(), make());
    let exec = instantiate(first);
    let (mut info, mut other) = (CUgraphExecUpdateResultInfo::default(), CUgraphExec::null());
    for _ in 0..2 {
        ok!(cuGraphExecUpdate(exec, second, &raw mut info));
    }
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&raw mut other, second, 0));
    ok!(cuGraphLaunch(exec, CUstream::null()));
    ok!(cuCtxSynchronize());
    ok!(cuMemsetD8(p, 1, 1000));
    ok!(cuMemFree(p));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphInstantiateWithFlags(&raw mut other, second, 0));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn graphs_for_launches_by_kernels_have_only_work_of_the_device() {
    use CUgraphInstantiateResult as R;
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let s = new_stream(1);
    let make = |g, flags| {
        let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS { flags, hUploadStream: s, ..Default::default() };
        let mut exec = CUgraphExec::null();
        let code = call!(cuGraphInstantiateWithParams(&raw mut exec, g, &raw mut params));
        let mut told = 99;
        if code.is_ok() {
            ok!(cuGraphExecGetFlags(exec, &raw mut told));
            ok!(cuGraphLaunch(exec, s));
            ok!(cuStreamSynchronize(s));
        }
        (code, params.result_out, params.hErrNode_out, told)
    };
    let work = new_graph();
    kernel_node(work, &[], add, p, 1);
    memset_node(work, p + 512, 1, 8, 1);
    let outer = new_graph();
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddChildGraphNode(&raw mut node, outer, null(), 0, work));
    let success = R::CUDA_GRAPH_INSTANTIATE_SUCCESS;
    for (flags, told) in [(0, 0), (1, 1), (2, 0), (3, 1), (4, 4), (6, 4), (8, 0), (10, 0)] {
        assert_eq!(make(work, flags), (Ok(()), success, CUgraphNode::null(), told));
        assert_eq!(make(outer, flags).0, Ok(()));
    }
    let invalid = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    for flags in [5, 16] {
        assert_eq!(make(work, flags), (invalid, R::CUDA_GRAPH_INSTANTIATE_ERROR, CUgraphNode::null(), 99));
    }
    let event = new_event(2);
    let recording = new_graph();
    ok!(cuGraphAddEventRecordNode(&raw mut node, recording, null(), 0, event));
    let unsupported = R::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    assert_eq!(make(recording, 4), (invalid, unsupported, node, 99));
    let mut exec = CUgraphExec::null();
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&raw mut exec, recording, 4));
    let outer = new_graph();
    ok!(cuGraphAddChildGraphNode(&raw mut node, outer, null(), 0, recording));
    assert_eq!(make(outer, 4), (invalid, unsupported, node, 99));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_capture_into_a_graph_has_it_for_itself() {
    let GraphFixture { ctx, p, .. } = new_fixture();
    let (s, t) = (new_stream(1), new_stream(1));
    let begin = |s, g, after: &[CUgraphNode]| {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        call!(cuStreamBeginCaptureToGraph(s, g, after.as_ptr(), null(), after.len(), mode))
    };
    let (g, other) = (new_graph(), new_graph());
    let mut node = CUgraphNode::null();
    ok!(cuGraphAddEmptyNode(&raw mut node, g, null(), 0));
    assert_eq!(begin(s, other, &[node]), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(begin(s, g, &[node, node]), Ok(()));
    assert_eq!(begin(t, g, &[]), Err(CUresult::CUDA_ERROR_ILLEGAL_STATE));
    let (mut status, mut n, mut edges) = (CUstreamCaptureStatus::default(), 9, null());
    let nothing = null_mut::<u64>();
    ok!(cuStreamGetCaptureInfo(
        s,
        &raw mut status,
        nothing.cast(),
        nothing.cast(),
        nothing.cast(),
        &raw mut edges,
        &raw mut n
    ));
    assert_eq!(n, 1);
    // SAFETY: as many as was told.
    assert_eq!(unsafe { edges.read() }.type_, 0);
    ok!(cuMemsetD8Async(p, 1, 16, s));
    assert_eq!(end_capture(s), Ok(g));
    // A capture that fails takes the graph along.
    assert_eq!(begin(t, g, &[node]), Ok(()));
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(t));
    assert_eq!(end_capture(t), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    assert_eq!(begin(t, g, &[]), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(g));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn what_a_capture_leaves_out_and_refuses() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let s = new_stream(1);
    let copy = |width, height, depth| CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        srcPitch: 64,
        srcHeight: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: p + 2048,
        dstPitch: 64,
        dstHeight: 4,
        WidthInBytes: width,
        Height: height,
        Depth: depth,
        ..Default::default()
    };
    let flat = |width, height| CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        srcPitch: 64,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: p + 2048,
        dstPitch: 64,
        WidthInBytes: width,
        Height: height,
        ..Default::default()
    };
    begin_capture(s);
    for extent in [(0, 2, 2), (16, 0, 2), (16, 2, 0)] {
        let copy = copy(extent.0, extent.1, extent.2);
        ok!(cuMemcpy3DAsync(&raw const copy, s));
    }
    for extent in [(0, 2), (16, 0)] {
        let copy = flat(extent.0, extent.1);
        ok!(cuMemcpy2DAsync(&raw const copy, s));
    }
    let refused = CUDA_MEMCPY2D { srcPitch: 8, ..flat(16, 2) };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DAsync(&raw const refused, s));
    let g = end_capture(s).unwrap();
    let mut n = 9;
    ok!(cuGraphGetNodes(g, null_mut(), &raw mut n));
    assert_eq!(n, 0);
    begin_capture(s);
    fails!(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemcpyPeerAsync(p, ctx, p + 64, ctx, 16, s));
    assert_eq!(end_capture(s), Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    // A programmatic launch is told by its edge, where a kernel comes before.
    let attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        ..Default::default()
    };
    for (first_is_kernel, wanted) in [(true, (1, 0, 1)), (false, (0, 0, 0))] {
        begin_capture(s);
        if first_is_kernel {
            launch(add, p, 1, s);
        } else {
            ok!(cuMemsetD8Async(p, 1, 16, s));
        }
        let config = CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            hStream: s,
            attrs: (&raw const attribute).cast_mut(),
            numAttrs: 1,
            ..Default::default()
        };
        let (mut address, mut value) = (p, 1_u32);
        let mut arguments = [(&raw mut address).cast::<c_void>(), (&raw mut value).cast()];
        ok!(cuLaunchKernelEx(&raw const config, add, arguments.as_mut_ptr(), null_mut()));
        let g = end_capture(s).unwrap();
        let (mut from, mut to, mut data, mut n) =
            (CUgraphNode::null(), CUgraphNode::null(), CUgraphEdgeData::default(), 1);
        ok!(cuGraphGetEdges(g, &raw mut from, &raw mut to, &raw mut data, &raw mut n));
        assert_eq!((data.from_port, data.to_port, data.type_), wanted);
        ok!(cuGraphLaunch(instantiate(g), s));
        ok!(cuStreamSynchronize(s));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn conditions_are_made_in_a_context() {
    let ctx = new_context();
    let (g, mut handle) = (new_graph(), CUgraphConditionalHandle::default());
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate(&raw mut handle, g, CUcontext::null(), 0, 0));
    ok!(cuGraphConditionalHandleCreate(&raw mut handle, g, ctx, 0, 0));
    ok!(cuCtxDestroy(ctx));
}

/// The attributes of a launch, by number and first word, are those of the node that a capture makes of it.
#[test]
fn captured_launches_keep_their_attributes() {
    let GraphFixture { ctx, add, p, .. } = new_fixture();
    let s = new_stream(1);
    let run = |attribute: u32, words: &[u32]| {
        let mut given = CUlaunchAttribute { id: CUlaunchAttributeID(attribute), ..Default::default() };
        // SAFETY: the value has 64 bytes, more than the words.
        unsafe {
            (&raw mut given.value).cast::<[u32; 16]>().write_unaligned([0; 16]);
            std::ptr::copy_nonoverlapping(words.as_ptr(), (&raw mut given.value).cast(), words.len());
        }
        let config = CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 32,
            blockDimY: 1,
            blockDimZ: 1,
            hStream: s,
            attrs: &raw mut given,
            numAttrs: 1,
            ..Default::default()
        };
        let v = 1_u32;
        let mut arguments: [*mut c_void; 2] = [(&raw const p).cast_mut().cast(), (&raw const v).cast_mut().cast()];
        call!(cuLaunchKernelEx(&raw const config, add, arguments.as_mut_ptr(), null_mut()))
    };
    let captured = |attribute: u32, words: &[u32]| {
        begin_capture(s);
        let outcome = run(attribute, words);
        let (graph, mut node, mut n) = (end_capture(s), CUgraphNode::null(), 1);
        outcome?;
        ok!(cuGraphGetNodes(graph.unwrap(), &raw mut node, &raw mut n));
        let mut value = [9_u32; 16];
        let id = CUlaunchAttributeID(attribute);
        call!(cuGraphKernelNodeGetAttribute(node, id, value.as_mut_ptr().cast())).map(|()| value[0])
    };
    let less = |n: i32| n as u32;
    let kept = [(8, less(-1), less(-1)), (8, 5, 0), (14, 30, 30), (10, 1, 1), (5, 1, 1), (2, 1, 1), (13, 0, 0)];
    for (attribute, word, expected) in kept {
        assert_eq!(captured(attribute, &[word]), Ok(expected), "attribute {attribute}");
    }
    let (refused, unsupported) = (Err(CUresult::CUDA_ERROR_INVALID_VALUE), Err(CUresult::CUDA_ERROR_NOT_SUPPORTED));
    assert_eq!(captured(16, &[1]), refused);
    assert_eq!([run(13, &[0]), captured(13, &[1]).map(drop)], [unsupported; 2]);
    // What misses a window cannot persist, neither in a capture nor in a launch.
    let window = |miss: u32| [p as u32, (p >> 32) as u32, 256, 0, 0.5_f32.to_bits(), 1, miss];
    assert_eq!([captured(1, &window(2)), captured(1, &window(1)).map(|_| 0)], [refused, Ok(0)]);
    assert_eq!([run(1, &window(2)), run(1, &window(0))].map(|r| r.map(|()| 0)), [refused, Ok(0)]);
    ok!(cuCtxDestroy(ctx));
}
