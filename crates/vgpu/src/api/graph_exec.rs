//! Executable graphs: making, changing and launching them.

use std::ffi::c_uint;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::graph::{graph_from_handle, node_from_handle};
use super::graph_node::{
    action_from_node_params, batch_mem_op_node_action, check_node_context, check_node_params_type,
    child_graph_node_action, host_node_action, kernel_node_action, memcpy_node_action, memset_node_action,
};
use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::driver::stream_and_context;
use crate::graph::exec::{GRAPH_EXECS, GraphExec, node_against_device_launch};
use crate::graph::update::{GraphDifference, NodePairing, UpdateProblem};
use crate::graph::{NodeAction, capture};
use crate::stream::context::current;
use crate::stream::event::EVENTS;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::UNTOLD_EXEC_FLAGS;

/// `CU_GRAPH_INSTANTIATE_FLAG_UPLOAD`
const UPLOAD_FLAG: u64 = 2;
/// `CU_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH_FLAG: u64 = 4;

fn exec_from_handle(handle: CUgraphExec) -> Res<Arc<GraphExec>> {
    GRAPH_EXECS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE)
}

/// The node that keeps a graph from being instantiated for launches by kernels; none where the flags do not ask for that.
fn node_against_flags(graph: CUgraph, flags: u64) -> Res<Option<u64>> {
    ensure(flags & !15 == 0, ResultCode::INVALID_VALUE)?;
    // What frees memory by itself cannot be launched by a kernel.
    ensure(flags & 5 != 5, ResultCode::INVALID_VALUE)?;
    let graph = graph_from_handle(graph)?;
    Ok(if flags & DEVICE_LAUNCH_FLAG == 0 { None } else { node_against_device_launch(&graph) })
}

/// The kernels that could launch such a graph do not exist here: the host may launch it, too.
fn instantiate_graph(graph: CUgraph, flags: u64) -> Res<CUgraphExec> {
    ensure(node_against_flags(graph, flags)?.is_none(), ResultCode::INVALID_VALUE)?;
    capture::refuse_call_unsafe_in_capture()?;
    let made = GraphExec::instantiate(&*current()?, &*self::graph_from_handle(graph)?, flags)?;
    GRAPH_EXECS.insert_with(|_| Arc::new(made)).map(|(handle, _)| CUgraphExec::from_handle_number(handle))
}

fn checked_event_handle(handle: CUevent) -> Res<u64> {
    EVENTS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE).map(|_| handle.handle_number())
}

/// How an update went, with the node where the graphs differ and the one before it.
fn update_result(outcome: &Result<(), UpdateProblem>) -> (CUgraphExecUpdateResult, [CUgraphNode; 2]) {
    use CUgraphExecUpdateResult as R;
    let result = match outcome.as_ref().map_err(|problem| problem.difference) {
        Ok(()) => R::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        Err(GraphDifference::Topology) => R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
        Err(GraphDifference::Type) => R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
        Err(GraphDifference::Parameters) => R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
        Err(GraphDifference::Attributes) => R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED,
        Err(GraphDifference::Unsupported) => R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED,
    };
    (result, outcome.err().map_or([0; 2], |p| [p.node, p.from]).map(CUgraphNode::from_handle_number))
}

driver_functions! {
    fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64) {
        ensure(!phGraphExec.is_null(), ResultCode::INVALID_VALUE)?;
        // An upload needs a stream, which only the other function has.
        ensure(flags & UPLOAD_FLAG == 0, ResultCode::INVALID_VALUE)?;
        write_out(phGraphExec, instantiate_graph(hGraph, flags)?)
    }

    fn cuGraphInstantiateWithParams(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) {
        ensure(!phGraphExec.is_null(), ResultCode::INVALID_VALUE)?;
        let params = instantiateParams.as_mut().ok_or(ResultCode::INVALID_VALUE)?;
        let against = node_against_flags(hGraph, params.flags).ok().flatten();
        params.hErrNode_out = CUgraphNode::from_handle_number(against.unwrap_or(0));
        let outcome = instantiate_graph(hGraph, params.flags);
        params.result_out = match outcome {
            Ok(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
            Err(_) if against.is_some() => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
            Err(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
        };
        write_out(phGraphExec, outcome?)
    }

    fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut u64) {
        write_out(flags, exec_from_handle(hGraphExec)?.flags & !UNTOLD_EXEC_FLAGS)
    }

    fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) {
        // Everything was made when the graph was instantiated, but for the report of its memory.
        let exec = exec_from_handle(hGraphExec)?;
        let (_, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        exec.upload_graph()
    }

    fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) {
        let exec = exec_from_handle(hGraphExec)?;
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        capture::refuse_if_capturing(&stream)?;
        exec.launch_graph(&context, &stream)
    }

    fn cuGraphExecDestroy(hGraphExec: CUgraphExec) {
        capture::refuse_call_unsafe_in_capture()?;
        GRAPH_EXECS.remove_object_or(hGraphExec.handle_number(), ResultCode::INVALID_VALUE).map(drop)
    }

    fn cuGraphExecKernelNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), kernel_node_action(nodeParams)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) {
        check_node_context(ctx)?;
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), memcpy_node_action(copyParams)?)
    }

    fn cuGraphExecMemsetNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) {
        check_node_context(ctx)?;
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), memset_node_action(memsetParams)?)
    }

    fn cuGraphExecHostNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), host_node_action(nodeParams)?)
    }

    fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) {
        let action = child_graph_node_action(childGraph)?;
        let outcome = exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), action.clone());
        if let NodeAction::Child(copy) = action {
            // The executable graph keeps what the nodes do, not the nodes.
            copy.destroy_handles();
        }
        outcome
    }

    fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), NodeAction::Record(self::checked_event_handle(event)?))
    }

    fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), NodeAction::Wait(self::checked_event_handle(event)?))
    }

    fn cuGraphExecBatchMemOpNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), batch_mem_op_node_action(nodeParams)?)
    }

    fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        let exec = exec_from_handle(hGraphExec)?;
        if let Ok(node) = self::node_from_handle(hNode) {
            check_node_params_type(&node, nodeParams)?;
        }
        exec.set_node_action(hNode.handle_number(), action_from_node_params(nodeParams, None)?)
    }

    fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        exec_from_handle(hGraphExec)?.set_node_enabled(hNode.handle_number(), isEnabled != 0)
    }

    fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        write_out(isEnabled, c_uint::from(exec_from_handle(hGraphExec)?.is_node_enabled(hNode.handle_number())?))
    }

    fn cuGraphExecUpdate(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) {
        let (exec, graph) = (exec_from_handle(hGraphExec)?, graph_from_handle(hGraph)?);
        let outcome = exec.update_from_graph(&graph, NodePairing::Order);
        let (result, [errorNode, errorFromNode]) = update_result(&outcome);
        write_out_if_not_null(resultInfo, CUgraphExecUpdateResultInfo { result, errorNode, errorFromNode });
        ensure(outcome.is_ok(), ResultCode::GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecUpdate_v1(hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode, updateResult_out: *mut CUgraphExecUpdateResult) {
        let (exec, graph) = (exec_from_handle(hGraphExec)?, graph_from_handle(hGraph)?);
        let outcome = exec.update_from_graph(&graph, NodePairing::Addition);
        let (result, [error_node, _]) = update_result(&outcome);
        write_out_if_not_null(hErrorNode_out, error_node);
        write_out_if_not_null(updateResult_out, result);
        ensure(outcome.is_ok(), ResultCode::GRAPH_EXEC_UPDATE_FAILURE)
    }
}
