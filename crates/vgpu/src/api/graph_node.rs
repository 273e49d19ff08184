//! Nodes of graphs: adding them, reading and replacing what they do.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::function::function_in;
use super::graph::{graph, handles_of, node};
use super::launch::pack;
use super::stream_memory::operations_of;
use super::{Handle, copy_box, driver_functions, memset, unsupported, write_out};
use crate::context::{by_handle, current};
use crate::device::device;
use crate::driver::EVENTS;
use crate::error::{Code, Res, ensure};
use crate::exec::{self, Launch};
use crate::graph::{Action, AssertSend, Condition, ConditionalNode, Graph, GraphMemory, KernelAction};

/// What a kernel node does.
///
/// # Safety
/// `params` is null or valid, with arguments as for `cuLaunchKernel`.
pub(crate) unsafe fn kernel(params: *const CUDA_KERNEL_NODE_PARAMS) -> Res<Action> {
    // SAFETY: this function's contract.
    let p = unsafe { params.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    let ctx = if p.ctx.is_null() { current()? } else { by_handle(p.ctx.number())? };
    let handle = if p.func.is_null() { p.kern.number() } else { p.func.number() };
    let function = function_in(&ctx, CUfunction::from_number(handle))?;
    let launch = Launch {
        function: function.kernel.clone(),
        grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
        block: [p.blockDimX, p.blockDimY, p.blockDimZ],
        dynamic_shared: p.sharedMemBytes,
        // SAFETY: this function's contract.
        params: unsafe { pack(&function, p.kernelParams, p.extra) }?,
        cooperative: false,
    };
    exec::validate(&launch).map_err(|code| Code(code as u32))?;
    Ok(Action::Kernel(Arc::new(KernelAction::new(handle, function, launch))))
}

fn kernel_params(kernel: &KernelAction) -> CUDA_KERNEL_NODE_PARAMS {
    let ([gx, gy, gz], [bx, by, bz]) = (kernel.launch.grid, kernel.launch.block);
    let is_function = kernel.handle >> 56 == 0x15;
    let ctx = crate::context::CONTEXTS.find(|c| c.id == kernel.function.ctx_id).map_or(0, |c| c.handle);
    CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction::from_number(if is_function { kernel.handle } else { 0 }),
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: kernel.launch.dynamic_shared,
        kernelParams: kernel.pointers.0.as_ptr().cast_mut(),
        extra: std::ptr::null_mut(),
        kern: CUkernel::from_number(if is_function { 0 } else { kernel.handle }),
        ctx: CUcontext::from_number(ctx),
    }
}

/// Checks the context of a copy or memset node; null leaves it to the driver.
pub(crate) fn check_context(ctx: CUcontext) -> Res {
    if ctx.is_null() { Ok(()) } else { by_handle(ctx.number()).map(drop) }
}

/// What a copy node does; the copy is checked now and again when it runs.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn copy(params: *const CUDA_MEMCPY3D) -> Res<Action> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    drop(copy_box::prepare_3d(params)?);
    Ok(Action::Copy(AssertSend(*params)))
}

/// What a memset node does.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn set(params: *const CUDA_MEMSET_NODE_PARAMS) -> Res<Action> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    drop(memset::prepare(params)?);
    Ok(Action::Memset(AssertSend(*params)))
}

/// What a host node does.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn host(params: *const CUDA_HOST_NODE_PARAMS) -> Res<Action> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    Ok(Action::Host(params.fn_.ok_or(Code::INVALID_VALUE)?, AssertSend(params.userData)))
}

/// What a node of memory operations does.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn mem_ops(params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Res<Action> {
    // SAFETY: this function's contract.
    unsafe {
        let p = params.as_ref().ok_or(Code::INVALID_VALUE)?;
        ensure(p.flags == 0, Code::INVALID_VALUE)?;
        let operations = operations_of(p.paramArray, p.count)?;
        let given = (0..p.count as usize).map(|i| AssertSend(p.paramArray.add(i).read_unaligned())).collect();
        Ok(Action::MemOps(operations.into(), given))
    }
}

/// What a child graph node does: a copy of the graph.
pub(crate) fn child(graph: CUgraph) -> Res<Action> {
    let original = self::graph(graph)?;
    let unique = |a: &Action| matches!(a, Action::Alloc(_) | Action::Free(_) | Action::Conditional(_));
    ensure(!original.has(&unique), Code::NOT_SUPPORTED)?;
    let copy = original.cloned()?;
    copy.owned.store(true, Ordering::Relaxed);
    Ok(Action::Child(copy))
}

/// # Safety
/// `params` is null or valid.
unsafe fn alloc(params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Res<Action> {
    // SAFETY: this function's contract.
    let p = unsafe { params.as_mut() }.ok_or(Code::INVALID_VALUE)?;
    let place = p.poolProps.location;
    ensure(p.poolProps.allocType == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Code::INVALID_VALUE)?;
    ensure(place.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE && p.bytesize > 0, Code::INVALID_VALUE)?;
    let device = device(place.id)?;
    let ctx = current()?;
    if ctx.device.ordinal != device.ordinal {
        return Err(unsupported("graph memory of another device than the current context's"));
    }
    let memory = GraphMemory::new(&ctx, *p)?;
    p.dptr = memory.start;
    Ok(Action::Alloc(memory))
}

/// What a conditional node does; tells the program the graphs that it is to fill.
fn choose(p: &mut CUDA_CONDITIONAL_NODE_PARAMS) -> Res<Action> {
    use CUgraphConditionalNodeType as K;
    let condition = Condition::find(p.handle).ok_or(Code::INVALID_VALUE)?;
    let fits = match p.type_ {
        K::CU_GRAPH_COND_TYPE_IF => matches!(p.size, 1 | 2),
        K::CU_GRAPH_COND_TYPE_WHILE => p.size == 1,
        K::CU_GRAPH_COND_TYPE_SWITCH => p.size > 0,
        _ => false,
    };
    ensure(fits && condition.claim(), Code::INVALID_VALUE)?;
    let bodies = (0..p.size).map(|_| Graph::create()).collect::<Res<Vec<_>>>()?;
    bodies.iter().for_each(|body| body.owned.store(true, Ordering::Relaxed));
    let handles: Box<[CUgraph]> = bodies.iter().map(|body| CUgraph::from_number(body.handle)).collect();
    p.phGraph_out = handles.as_ptr().cast_mut();
    Ok(Action::Conditional(Arc::new(ConditionalNode {
        condition,
        kind: p.type_,
        bodies,
        handles: AssertSend(handles),
    })))
}

fn free(start: u64) -> Res<Action> {
    ensure(crate::graph::memory::find(start).is_some(), Code::INVALID_VALUE)?;
    Ok(Action::Free(start))
}

fn event(handle: CUevent) -> Res<u64> {
    EVENTS.get_or(handle.number(), Code::INVALID_VALUE).map(|_| handle.number())
}

/// # Safety
/// `place` is null or valid; `after` has `n` elements.
unsafe fn add(
    place: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    n: usize,
    action: Res<Action>,
) -> Res {
    ensure(!place.is_null(), Code::INVALID_VALUE)?;
    let graph = self::graph(graph)?;
    // SAFETY: this function's contract.
    unsafe { write_out(place, CUgraphNode::from_number(graph.add(action?, &handles_of(after, n)?, 0)?.handle)) }
}

/// What a node of the general form does.
///
/// # Safety
/// `params` is null or valid for its type.
pub(crate) unsafe fn action_of(params: *mut CUgraphNodeParams) -> Res<Action> {
    use CUgraphNodeType as T;
    // SAFETY: the type says which member of the union is set.
    unsafe {
        let p = params.as_mut().ok_or(Code::INVALID_VALUE)?;
        let kind = p.type_;
        let member: *mut c_void = (&raw mut p.anon0).cast();
        match kind {
            // The later forms of these structures only add fields at the end, which say nothing new.
            T::CU_GRAPH_NODE_TYPE_KERNEL => kernel(member.cast()),
            T::CU_GRAPH_NODE_TYPE_MEMCPY => copy(&raw const p.anon0.memcpy.copyParams),
            T::CU_GRAPH_NODE_TYPE_MEMSET => set(member.cast()),
            T::CU_GRAPH_NODE_TYPE_HOST => host(member.cast()),
            T::CU_GRAPH_NODE_TYPE_GRAPH => {
                let graph = &mut p.anon0.graph;
                ensure(graph.ownership.0 == 0, Code::NOT_SUPPORTED)?;
                child(graph.graph)
            }
            T::CU_GRAPH_NODE_TYPE_EMPTY => Ok(Action::Empty),
            T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => event(p.anon0.eventWait.event).map(Action::Wait),
            T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => event(p.anon0.eventRecord.event).map(Action::Record),
            T::CU_GRAPH_NODE_TYPE_MEM_ALLOC => alloc(member.cast()),
            T::CU_GRAPH_NODE_TYPE_MEM_FREE => free(p.anon0.free.dptr),
            T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => mem_ops(member.cast()),
            T::CU_GRAPH_NODE_TYPE_CONDITIONAL => choose(&mut p.anon0.conditional),
            T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => {
                Err(unsupported("external semaphores"))
            }
            _ => Code::INVALID_VALUE.err(),
        }
    }
}

macro_rules! read_node {
    ($node:expr, $pattern:pat => $value:expr) => {
        match node($node)?.action() {
            $pattern => $value,
            _ => return Code::INVALID_VALUE.err(),
        }
    };
}

driver_functions! {
    fn cuGraphAddKernelNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        add(phGraphNode, hGraph, dependencies, numDependencies, kernel(nodeParams))
    }

    fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) {
        write_out(nodeParams, read_node!(hNode, Action::Kernel(k) => kernel_params(&k)))
    }

    fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        node(hNode)?.set_action(kernel(nodeParams)?)
    }

    fn cuGraphKernelNodeGetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue) {
        let cooperative = read_node!(hNode, Action::Kernel(k) => k.launch.cooperative);
        let mut value = CUkernelNodeAttrValue::default();
        if attr == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
            value.cooperative = i32::from(cooperative);
        }
        ensure(attr.0 <= 16, Code::INVALID_VALUE)?;
        write_out(value_out, value)
    }

    fn cuGraphKernelNodeSetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue) {
        let value = value.as_ref().ok_or(Code::INVALID_VALUE)?;
        let node = node(hNode)?;
        let Action::Kernel(old) = node.action() else { return Code::INVALID_VALUE.err() };
        ensure(attr.0 <= 16, Code::INVALID_VALUE)?;
        // The others are advice about speed.
        if attr == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
            let launch = Launch { cooperative: value.cooperative != 0, ..old.launch.clone() };
            exec::validate(&launch).map_err(|code| Code(code as u32))?;
            node.set_action(Action::Kernel(Arc::new(KernelAction::new(old.handle, old.function.clone(), launch))))?;
        }
        Ok(())
    }

    fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        let cooperative = read_node!(src, Action::Kernel(k) => k.launch.cooperative);
        let node = node(dst)?;
        let Action::Kernel(old) = node.action() else { return Code::INVALID_VALUE.err() };
        let launch = Launch { cooperative, ..old.launch.clone() };
        node.set_action(Action::Kernel(Arc::new(KernelAction::new(old.handle, old.function.clone(), launch))))
    }

    fn cuGraphAddMemcpyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) {
        check_context(ctx)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, copy(copyParams))
    }

    fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        write_out(nodeParams, read_node!(hNode, Action::Copy(c) => c.get()))
    }

    fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        node(hNode)?.set_action(copy(nodeParams)?)
    }

    fn cuGraphAddMemsetNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) {
        check_context(ctx)?;
        add(phGraphNode, hGraph, dependencies, numDependencies, set(memsetParams))
    }

    fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        write_out(nodeParams, read_node!(hNode, Action::Memset(s) => s.get()))
    }

    fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        node(hNode)?.set_action(set(nodeParams)?)
    }

    fn cuGraphAddHostNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        add(phGraphNode, hGraph, dependencies, numDependencies, host(nodeParams))
    }

    fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        write_out(nodeParams, read_node!(hNode, Action::Host(f, data) => CUDA_HOST_NODE_PARAMS { fn_: Some(f), userData: data.get() }))
    }

    fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        node(hNode)?.set_action(host(nodeParams)?)
    }

    fn cuGraphAddChildGraphNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph) {
        add(phGraphNode, hGraph, dependencies, numDependencies, child(childGraph))
    }

    fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        write_out(phGraph, CUgraph::from_number(read_node!(hNode, Action::Child(g) => g.handle)))
    }

    fn cuGraphAddEmptyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize) {
        add(phGraphNode, hGraph, dependencies, numDependencies, Ok(Action::Empty))
    }

    fn cuGraphAddEventRecordNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) {
        add(phGraphNode, hGraph, dependencies, numDependencies, self::event(event).map(Action::Record))
    }

    fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        write_out(event_out, CUevent::from_number(read_node!(hNode, Action::Record(e) => e)))
    }

    fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        node(hNode)?.set_action(Action::Record(self::event(event)?))
    }

    fn cuGraphAddEventWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) {
        add(phGraphNode, hGraph, dependencies, numDependencies, self::event(event).map(Action::Wait))
    }

    fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        write_out(event_out, CUevent::from_number(read_node!(hNode, Action::Wait(e) => e)))
    }

    fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        node(hNode)?.set_action(Action::Wait(self::event(event)?))
    }

    fn cuGraphAddMemAllocNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        add(phGraphNode, hGraph, dependencies, numDependencies, alloc(nodeParams))
    }

    fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        write_out(params_out, read_node!(hNode, Action::Alloc(m) => m.params.get()))
    }

    fn cuGraphAddMemFreeNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr) {
        add(phGraphNode, hGraph, dependencies, numDependencies, free(dptr))
    }

    fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) {
        write_out(dptr_out, read_node!(hNode, Action::Free(start) => start))
    }

    fn cuGraphAddBatchMemOpNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        add(phGraphNode, hGraph, dependencies, numDependencies, mem_ops(nodeParams))
    }

    fn cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        // The array belongs to the node and lives until that is changed or destroyed.
        let given = read_node!(hNode, Action::MemOps(_, given) => given);
        ensure(!given.is_empty(), Code::INVALID_VALUE)?;
        let array = given.as_ptr().cast::<CUstreamBatchMemOpParams>().cast_mut();
        write_out(nodeParams_out, CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: CUcontext::null(), count: given.len() as c_uint, paramArray: array, flags: 0 })
    }

    fn cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        node(hNode)?.set_action(mem_ops(nodeParams)?)
    }

    fn cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) {
        let _ = dependencyData;
        add(phGraphNode, hGraph, dependencies, numDependencies, action_of(nodeParams))
    }

    fn cuGraphAddNode_v1(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) {
        add(phGraphNode, hGraph, dependencies, numDependencies, action_of(nodeParams))
    }

    fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        node(hNode)?.set_action(action_of(nodeParams)?)
    }
}
