//! Nodes of graphs: adding them, reading and replacing what they do.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::function::function_in_context;
use super::graph::{graph_from_handle, node_from_handle, node_handles};
use super::launch::pack_params;
use super::memory_pool::pool_memory_kind;
use super::occupancy::check_cooperative_size;
use super::stream_memory::{mem_op_params, mem_ops_action};
use super::{Handle, driver_functions, unsupported_feature, write_out};
use crate::device::device_by_ordinal;
use crate::graph::memory::check_free_node;
use crate::graph::{AssertSend, ConditionalNode, Graph, GraphConditional, GraphMemory, KernelAction, Node, NodeAction};
use crate::memory::heap::MemoryKind;
use crate::memory::{box_copy, fill};
use crate::module::{self, Launch};
use crate::stream::attributes::{AdviceAttributes, AttributeBytes, KERNEL_ATTRIBUTES};
use crate::stream::context::{context_by_handle, current};
use crate::stream::event::EVENTS;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::MEMORY_NODE_SET_CODE;

/// What a kernel node does.
///
/// # Safety
/// `params` is null or valid, with arguments as for `cuLaunchKernel`.
pub(crate) unsafe fn kernel_node_action(params: *const CUDA_KERNEL_NODE_PARAMS) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    let p = unsafe { params.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let ctx = if p.ctx.is_null() { current()? } else { context_by_handle(p.ctx.handle_number())? };
    let handle = if p.func.is_null() { p.kern.handle_number() } else { p.func.handle_number() };
    let function = function_in_context(&ctx, CUfunction::from_handle_number(handle))?;
    let launch = Launch {
        function: function.kernel.clone(),
        grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
        block: [p.blockDimX, p.blockDimY, p.blockDimZ],
        dynamic_shared: p.sharedMemBytes,
        // SAFETY: this function's contract.
        params: unsafe { pack_params(&function, p.kernelParams, p.extra) }?,
        cooperative: false,
    };
    module::validate_launch(&launch)?;
    check_cooperative_size(&launch)?;
    Ok(NodeAction::Kernel(Arc::new(KernelAction::new(handle, function, launch))))
}

/// Replaces the launch and the attributes of a kernel's node.
fn set_kernel(node: &Node, old: &KernelAction, launch: Launch, attributes: AdviceAttributes) -> Res {
    let made = KernelAction::new(old.handle, old.function.clone(), launch);
    node.set_node_action(NodeAction::Kernel(Arc::new(KernelAction { attributes, ..made })))
}

fn kernel_node_params(kernel: &KernelAction) -> CUDA_KERNEL_NODE_PARAMS {
    let ([gx, gy, gz], [bx, by, bz]) = (kernel.launch.grid, kernel.launch.block);
    let is_function = kernel.handle >> 56 == 0x15;
    let ctx = crate::stream::context::CONTEXTS.find_object(|c| c.id == kernel.function.ctx_id).map_or(0, |c| c.handle);
    CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction::from_handle_number(if is_function { kernel.handle } else { 0 }),
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: kernel.launch.dynamic_shared,
        kernelParams: kernel.pointers.0.as_ptr().cast_mut(),
        extra: std::ptr::null_mut(),
        kern: CUkernel::from_handle_number(if is_function { 0 } else { kernel.handle }),
        ctx: CUcontext::from_handle_number(ctx),
    }
}

/// Checks the context of a copy or memset node; null leaves it to the driver.
pub(crate) fn check_node_context(ctx: CUcontext) -> Res {
    if ctx.is_null() { Ok(()) } else { context_by_handle(ctx.handle_number()).map(drop) }
}

/// What a copy node does; the copy is checked now and again when it runs.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn memcpy_node_action(params: *const CUDA_MEMCPY3D) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let is_host = |kind| kind == CUmemorytype::CU_MEMORYTYPE_HOST;
    let within_host = is_host(params.srcMemoryType) && is_host(params.dstMemoryType);
    let is_empty = [params.WidthInBytes, params.Height, params.Depth].contains(&0);
    ensure(!within_host && !is_empty, ResultCode::INVALID_VALUE)?;
    drop(box_copy::prepare_memcpy_3d(params)?);
    Ok(NodeAction::Copy(AssertSend(*params)))
}

/// What a memset node does.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn memset_node_action(params: *const CUDA_MEMSET_NODE_PARAMS) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    drop(fill::prepare_memset_node(params)?);
    Ok(NodeAction::Memset(AssertSend(*params)))
}

/// What a host node does.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn host_node_action(params: *const CUDA_HOST_NODE_PARAMS) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    let params = unsafe { params.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    Ok(NodeAction::Host(params.fn_.ok_or(ResultCode::INVALID_VALUE)?, AssertSend(params.userData)))
}

/// What a node of memory operations does, which may have none.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn batch_mem_op_node_action(params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    unsafe {
        let p = params.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        ensure(p.flags == 0, ResultCode::INVALID_VALUE)?;
        mem_ops_action(&mem_op_params(p.paramArray, p.count)?)
    }
}

/// What a child graph node does: a copy of the graph.
pub(crate) fn child_graph_node_action(graph: CUgraph) -> Res<NodeAction> {
    let original = self::graph_from_handle(graph)?;
    // Memory and conditions belong to the graph that they were made in.
    let unique = |a: &NodeAction| matches!(a, NodeAction::Alloc(_) | NodeAction::Free(_) | NodeAction::Conditional(_));
    ensure(!original.contains_action(&unique), ResultCode::NOT_SUPPORTED)?;
    let copy = original.clone_graph()?;
    copy.owned.store(true, Ordering::Relaxed);
    Ok(NodeAction::Child(copy))
}

/// Where a node comes: its graph, and the nodes that it comes after.
pub(crate) struct NodePlace {
    graph: Arc<Graph>,
    after: Vec<u64>,
}

impl NodePlace {
    /// # Safety
    /// `after` has `n` elements.
    unsafe fn new(graph: CUgraph, after: *const CUgraphNode, n: usize) -> Res<NodePlace> {
        // SAFETY: this function's contract.
        Ok(NodePlace { graph: graph_from_handle(graph)?, after: unsafe { node_handles(after, n) }? })
    }
}

/// What memory a graph may allocate: on the current device, for this process, and for reading and writing.
///
/// # Safety
/// The access descriptors are as many as `p` says.
unsafe fn graph_memory_kind(p: &CUDA_MEM_ALLOC_NODE_PARAMS, ordinal: u32) -> Res<MemoryKind> {
    use CUmemLocationType as T;
    let (place, kind) = (p.poolProps.location, pool_memory_kind(p.poolProps.allocType)?);
    let is_supported = match place.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => true,
        T::CU_MEM_LOCATION_TYPE_HOST
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => false,
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    ensure(is_supported && p.poolProps.handleTypes.0 == 0, ResultCode::NOT_SUPPORTED)?;
    let device = device_by_ordinal(place.id).map_err(|_| ResultCode::INVALID_VALUE)?;
    ensure(p.bytesize > 0 && (p.accessDescCount == 0 || !p.accessDescs.is_null()), ResultCode::INVALID_VALUE)?;
    for i in 0..p.accessDescCount {
        // SAFETY: this function's contract.
        let right = unsafe { p.accessDescs.add(i).read_unaligned() };
        let is_full = right.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        ensure(is_full && right.location.type_ == T::CU_MEM_LOCATION_TYPE_DEVICE, ResultCode::NOT_SUPPORTED)?;
        device_by_ordinal(right.location.id)?;
    }
    if ordinal != device.ordinal {
        return Err(unsupported_feature("graph memory of another device than the current context's"));
    }
    Ok(kind)
}

/// # Safety
/// `params` is null or valid.
unsafe fn mem_alloc_node_action(place: &NodePlace, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Res<NodeAction> {
    // SAFETY: this function's contract.
    let p = unsafe { params.as_mut() }.ok_or(ResultCode::INVALID_VALUE)?;
    let ctx = current()?;
    // SAFETY: this function's contract.
    let kind = unsafe { graph_memory_kind(p, ctx.device.ordinal) }?;
    let memory = GraphMemory::for_node(&place.graph, &place.after, &ctx, kind, *p)?;
    p.dptr = memory.start;
    Ok(NodeAction::Alloc(memory))
}

/// What a conditional node does; tells the program the graphs that it is to fill.
fn conditional_node_action(p: &mut CUDA_CONDITIONAL_NODE_PARAMS) -> Res<NodeAction> {
    use CUgraphConditionalNodeType as K;
    let condition = GraphConditional::find(p.handle).ok_or(ResultCode::INVALID_VALUE)?;
    let fits = match p.type_ {
        K::CU_GRAPH_COND_TYPE_IF => matches!(p.size, 1 | 2),
        K::CU_GRAPH_COND_TYPE_WHILE => p.size == 1,
        K::CU_GRAPH_COND_TYPE_SWITCH => p.size > 0,
        _ => false,
    };
    ensure(fits && condition.claim_for_node(), ResultCode::INVALID_VALUE)?;
    let bodies = (0..p.size).map(|_| Graph::create_graph()).collect::<Res<Vec<_>>>()?;
    bodies.iter().for_each(|body| body.owned.store(true, Ordering::Relaxed));
    let handles: Box<[CUgraph]> = bodies.iter().map(|body| CUgraph::from_handle_number(body.handle)).collect();
    p.phGraph_out = handles.as_ptr().cast_mut();
    Ok(NodeAction::Conditional(Arc::new(ConditionalNode {
        condition,
        kind: p.type_,
        bodies,
        handles: AssertSend(handles),
    })))
}

fn mem_free_node_action(place: &NodePlace, start: u64) -> Res<NodeAction> {
    check_free_node(&place.graph, start)?;
    Ok(NodeAction::Free(start))
}

fn checked_event_handle(handle: CUevent) -> Res<u64> {
    EVENTS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE).map(|_| handle.handle_number())
}

/// # Safety
/// `place` is null or valid; `after` has `n` elements.
unsafe fn add_node(
    place: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    n: usize,
    action: Res<NodeAction>,
) -> Res {
    ensure(!place.is_null(), ResultCode::INVALID_VALUE)?;
    let graph = self::graph_from_handle(graph)?;
    // SAFETY: this function's contract.
    unsafe {
        let node = graph.add_node(action?, &node_handles(after, n)?, 0)?;
        if let NodeAction::Child(child) = node.current_action() {
            // A graph that was moved into the node goes with it, as a copy does.
            child.owned.store(true, Ordering::Relaxed);
        }
        write_out(place, CUgraphNode::from_handle_number(node.handle))
    }
}

/// A graph that is moved into a node of another: it is nobody's child, and not around its new parent.
fn moved_graph_action(graph: CUgraph, place: &NodePlace) -> Res<NodeAction> {
    let moved = self::graph_from_handle(graph)?;
    ensure(!moved.owned.load(Ordering::Relaxed), ResultCode::INVALID_VALUE)?;
    ensure(!moved.is_or_contains_graph(place.graph.handle), ResultCode::INVALID_VALUE)?;
    Ok(NodeAction::Child(moved))
}

/// Bytes of the parameters of a type of node, if there are nodes of it.
fn bytes_of_node_params(kind: CUgraphNodeType) -> Option<usize> {
    use CUgraphNodeType as T;
    Some(match kind {
        T::CU_GRAPH_NODE_TYPE_KERNEL => size_of::<CUDA_KERNEL_NODE_PARAMS_v3>(),
        T::CU_GRAPH_NODE_TYPE_MEMCPY => size_of::<CUDA_MEMCPY_NODE_PARAMS>(),
        T::CU_GRAPH_NODE_TYPE_MEMSET => size_of::<CUDA_MEMSET_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_HOST => size_of::<CUDA_HOST_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_GRAPH => size_of::<CUDA_CHILD_GRAPH_NODE_PARAMS>(),
        T::CU_GRAPH_NODE_TYPE_EMPTY => 0,
        T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => size_of::<CUDA_EVENT_WAIT_NODE_PARAMS>(),
        T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => size_of::<CUDA_EVENT_RECORD_NODE_PARAMS>(),
        T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL => size_of::<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => size_of::<CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_MEM_ALLOC => size_of::<CUDA_MEM_ALLOC_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_MEM_FREE => size_of::<CUDA_MEM_FREE_NODE_PARAMS>(),
        T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => size_of::<CUDA_BATCH_MEM_OP_NODE_PARAMS_v2>(),
        T::CU_GRAPH_NODE_TYPE_CONDITIONAL => size_of::<CUDA_CONDITIONAL_NODE_PARAMS>(),
        _ => return None,
    })
}

/// Fails unless the type is known and all bytes are zero that its parameters do not use.
fn check_reserved_of_node_params(p: &CUgraphNodeParams) -> Res {
    let used = bytes_of_node_params(p.type_).ok_or(ResultCode::INVALID_VALUE)?;
    let (start, len) = ((&raw const p.anon0).cast::<u8>(), size_of_val(&p.anon0));
    // SAFETY: within the union, all of whose bytes the program has given.
    let is_rest_zero = (used..len).all(|i| unsafe { start.add(i).read() } == 0);
    ensure(is_rest_zero && p.reserved0 == [0; 3] && p.reserved2 == 0, ResultCode::INVALID_VALUE)
}

/// Fails where parameters of the general form are not for a node of this type.
///
/// # Safety
/// `params` is null or valid.
pub(crate) unsafe fn check_node_params_type(node: &Node, params: *const CUgraphNodeParams) -> Res {
    // SAFETY: this function's contract.
    let p = unsafe { params.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    ensure(node.current_action().node_type() == p.type_, ResultCode::INVALID_VALUE)
}

/// What a node of the general form does; without a place, one that has been made already.
///
/// # Safety
/// `params` is null or valid for its type.
pub(crate) unsafe fn action_from_node_params(
    params: *mut CUgraphNodeParams,
    place: Option<&NodePlace>,
) -> Res<NodeAction> {
    use CUgraphNodeType as T;
    // Memory belongs to the node that it was made for.
    let new_place = || place.ok_or(MEMORY_NODE_SET_CODE);
    // SAFETY: the type says which member of the union is set.
    unsafe {
        let p = params.as_mut().ok_or(ResultCode::INVALID_VALUE)?;
        check_reserved_of_node_params(p)?;
        let kind = p.type_;
        let member: *mut c_void = (&raw mut p.anon0).cast();
        match kind {
            // The later forms of these structures only add fields at the end, which say nothing new.
            T::CU_GRAPH_NODE_TYPE_KERNEL => kernel_node_action(member.cast()),
            T::CU_GRAPH_NODE_TYPE_MEMCPY => {
                let copy = &p.anon0.memcpy;
                ensure(copy.flags == 0 && copy.reserved == 0, ResultCode::INVALID_VALUE)?;
                memcpy_node_action(&raw const copy.copyParams)
            }
            T::CU_GRAPH_NODE_TYPE_MEMSET => memset_node_action(member.cast()),
            T::CU_GRAPH_NODE_TYPE_HOST => host_node_action(member.cast()),
            T::CU_GRAPH_NODE_TYPE_GRAPH => {
                let graph = &p.anon0.graph;
                // Whatever else this says, it stands for a copy.
                match place {
                    Some(place)
                        if graph.ownership == CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE =>
                    {
                        moved_graph_action(graph.graph, place)
                    }
                    _ => child_graph_node_action(graph.graph),
                }
            }
            T::CU_GRAPH_NODE_TYPE_EMPTY => Ok(NodeAction::Empty),
            T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => checked_event_handle(p.anon0.eventWait.event).map(NodeAction::Wait),
            T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                checked_event_handle(p.anon0.eventRecord.event).map(NodeAction::Record)
            }
            T::CU_GRAPH_NODE_TYPE_MEM_ALLOC => mem_alloc_node_action(new_place()?, member.cast()),
            T::CU_GRAPH_NODE_TYPE_MEM_FREE => mem_free_node_action(new_place()?, p.anon0.free.dptr),
            T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => batch_mem_op_node_action(member.cast()),
            T::CU_GRAPH_NODE_TYPE_CONDITIONAL => conditional_node_action(&mut p.anon0.conditional),
            T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => {
                Err(unsupported_feature("external semaphores"))
            }
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }
}

macro_rules! node_action_value {
    ($node:expr, $pattern:pat => $value:expr) => {
        match node_from_handle($node)?.current_action() {
            $pattern => $value,
            _ => return ResultCode::INVALID_VALUE.err(),
        }
    };
}

driver_functions! {
    fn cuGraphAddKernelNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, kernel_node_action(nodeParams))
    }

    fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) {
        write_out(nodeParams, node_action_value!(hNode, NodeAction::Kernel(k) => kernel_node_params(&k)))
    }

    fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        node_from_handle(hNode)?.set_node_action(kernel_node_action(nodeParams)?)
    }

    fn cuGraphKernelNodeGetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue) {
        let kernel = node_action_value!(hNode, NodeAction::Kernel(k) => k);
        if attr == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
            return write_out(value_out, CUkernelNodeAttrValue { cooperative: i32::from(kernel.launch.cooperative) });
        }
        write_out(value_out.cast::<AttributeBytes>(), kernel.attributes.get(KERNEL_ATTRIBUTES, attr.0, 0)?)
    }

    fn cuGraphKernelNodeSetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue) {
        let node = node_from_handle(hNode)?;
        let NodeAction::Kernel(old) = node.current_action() else { return ResultCode::INVALID_VALUE.err() };
        ensure(!value.is_null(), ResultCode::INVALID_VALUE)?;
        let bytes = value.cast::<AttributeBytes>().read_unaligned();
        let (mut launch, mut attributes) = (old.launch.clone(), old.attributes.clone());
        if attr == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
            launch.cooperative = bytes[..4] != [0; 4];
            module::validate_launch(&launch)?;
            check_cooperative_size(&launch)?;
        } else {
            attributes.set(KERNEL_ATTRIBUTES, attr.0, bytes)?;
        }
        set_kernel(&node, &old, launch, attributes)
    }

    fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        let from = node_action_value!(src, NodeAction::Kernel(k) => k);
        let node = node_from_handle(dst)?;
        let NodeAction::Kernel(old) = node.current_action() else { return ResultCode::INVALID_VALUE.err() };
        let launch = Launch { cooperative: from.launch.cooperative, ..old.launch.clone() };
        set_kernel(&node, &old, launch, from.attributes.clone())
    }

    fn cuGraphAddMemcpyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) {
        check_node_context(ctx)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, memcpy_node_action(copyParams))
    }

    fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D) {
        write_out(nodeParams, node_action_value!(hNode, NodeAction::Copy(c) => c.get()))
    }

    fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D) {
        node_from_handle(hNode)?.set_node_action(memcpy_node_action(nodeParams)?)
    }

    fn cuGraphAddMemsetNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) {
        check_node_context(ctx)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, memset_node_action(memsetParams))
    }

    fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS) {
        write_out(nodeParams, node_action_value!(hNode, NodeAction::Memset(s) => s.get()))
    }

    fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS) {
        node_from_handle(hNode)?.set_node_action(memset_node_action(nodeParams)?)
    }

    fn cuGraphAddHostNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, host_node_action(nodeParams))
    }

    fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS) {
        write_out(nodeParams, node_action_value!(hNode, NodeAction::Host(f, data) => CUDA_HOST_NODE_PARAMS { fn_: Some(f), userData: data.get() }))
    }

    fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        node_from_handle(hNode)?.set_node_action(host_node_action(nodeParams)?)
    }

    fn cuGraphAddChildGraphNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, child_graph_node_action(childGraph))
    }

    fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        write_out(phGraph, CUgraph::from_handle_number(node_action_value!(hNode, NodeAction::Child(g) => g.handle)))
    }

    fn cuGraphAddEmptyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, Ok(NodeAction::Empty))
    }

    fn cuGraphAddEventRecordNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, self::checked_event_handle(event).map(NodeAction::Record))
    }

    fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        write_out(event_out, CUevent::from_handle_number(node_action_value!(hNode, NodeAction::Record(e) => e)))
    }

    fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        node_from_handle(hNode)?.set_node_action(NodeAction::Record(self::checked_event_handle(event)?))
    }

    fn cuGraphAddEventWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, self::checked_event_handle(event).map(NodeAction::Wait))
    }

    fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent) {
        write_out(event_out, CUevent::from_handle_number(node_action_value!(hNode, NodeAction::Wait(e) => e)))
    }

    fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) {
        node_from_handle(hNode)?.set_node_action(NodeAction::Wait(self::checked_event_handle(event)?))
    }

    fn cuGraphAddMemAllocNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        let place = NodePlace::new(hGraph, dependencies, numDependencies)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, mem_alloc_node_action(&place, nodeParams))
    }

    fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        write_out(params_out, node_action_value!(hNode, NodeAction::Alloc(m) => m.params.get()))
    }

    fn cuGraphAddMemFreeNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr) {
        let place = NodePlace::new(hGraph, dependencies, numDependencies)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, mem_free_node_action(&place, dptr))
    }

    fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) {
        write_out(dptr_out, node_action_value!(hNode, NodeAction::Free(start) => start))
    }

    fn cuGraphAddBatchMemOpNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        add_node(phGraphNode, hGraph, dependencies, numDependencies, batch_mem_op_node_action(nodeParams))
    }

    fn cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        // The array belongs to the node and lives until that is changed or destroyed.
        let given = node_action_value!(hNode, NodeAction::MemOps(_, given) => given);
        ensure(!given.is_empty(), ResultCode::INVALID_VALUE)?;
        let array = given.as_ptr().cast::<CUstreamBatchMemOpParams>().cast_mut();
        write_out(nodeParams_out, CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: CUcontext::null(), count: given.len() as c_uint, paramArray: array, flags: 0 })
    }

    fn cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        node_from_handle(hNode)?.set_node_action(batch_mem_op_node_action(nodeParams)?)
    }

    fn cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) {
        let _ = dependencyData;
        let place = NodePlace::new(hGraph, dependencies, numDependencies)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, action_from_node_params(nodeParams, Some(&place)))
    }

    fn cuGraphAddNode_v1(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams) {
        let place = NodePlace::new(hGraph, dependencies, numDependencies)?;
        add_node(phGraphNode, hGraph, dependencies, numDependencies, action_from_node_params(nodeParams, Some(&place)))
    }

    fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        let node = node_from_handle(hNode)?;
        check_node_params_type(&node, nodeParams)?;
        node.set_node_action(action_from_node_params(nodeParams, None)?)
    }
}
