//! Executable graphs: making, changing and launching them.

use std::ffi::c_uint;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::graph::graph_from_handle;
use super::graph_node::{
    action_from_node_params, batch_mem_op_node_action, check_node_context, child_graph_node_action, host_node_action,
    kernel_node_action, memcpy_node_action, memset_node_action,
};
use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::driver::stream_and_context;
use crate::graph::exec::{GRAPH_EXECS, GraphExec};
use crate::graph::update::GraphDifference;
use crate::graph::{NodeAction, capture};
use crate::stream::context::current;
use crate::stream::event::EVENTS;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::UNTOLD_EXEC_FLAGS;

/// `CU_GRAPH_INSTANTIATE_FLAG_UPLOAD`
const UPLOAD_FLAG: u64 = 2;

fn exec_from_handle(handle: CUgraphExec) -> Res<Arc<GraphExec>> {
    GRAPH_EXECS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE)
}

fn instantiate_graph(graph: CUgraph, flags: u64) -> Res<CUgraphExec> {
    ensure(flags & !15 == 0, ResultCode::INVALID_VALUE)?;
    // What frees memory by itself, or has memory at all, cannot be launched by a kernel.
    ensure(flags & 5 != 5, ResultCode::INVALID_VALUE)?;
    ensure(flags & 4 == 0 || !graph_from_handle(graph)?.has_memory_nodes(), ResultCode::INVALID_VALUE)?;
    // A kernel that launches the graph cannot exist here.
    ensure(flags & 4 == 0, ResultCode::NOT_SUPPORTED)?;
    capture::refuse_call_unsafe_in_capture()?;
    let made = GraphExec::instantiate(&*current()?, &*self::graph_from_handle(graph)?, flags)?;
    GRAPH_EXECS.insert_with(|_| Arc::new(made)).map(|(handle, _)| CUgraphExec::from_handle_number(handle))
}

fn checked_event_handle(handle: CUevent) -> Res<u64> {
    EVENTS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE).map(|_| handle.handle_number())
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
        params.hErrNode_out = CUgraphNode::null();
        let outcome = instantiate_graph(hGraph, params.flags);
        params.result_out = match outcome {
            Ok(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
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
        exec_from_handle(hGraphExec)?.set_node_action(hNode.handle_number(), action_from_node_params(nodeParams, None)?)
    }

    fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        exec_from_handle(hGraphExec)?.set_node_enabled(hNode.handle_number(), isEnabled != 0)
    }

    fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        write_out(isEnabled, c_uint::from(exec_from_handle(hGraphExec)?.is_node_enabled(hNode.handle_number())?))
    }

    fn cuGraphExecUpdate(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) {
        use CUgraphExecUpdateResult as R;
        let (exec, graph) = (exec_from_handle(hGraphExec)?, graph_from_handle(hGraph)?);
        let outcome = exec.update_from_graph(&graph);
        let result = match outcome.as_ref().map_err(|problem| problem.difference) {
            Ok(()) => R::CU_GRAPH_EXEC_UPDATE_SUCCESS,
            Err(GraphDifference::Topology) => R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
            Err(GraphDifference::Type) => R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
            Err(GraphDifference::Parameters) => R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
        };
        let [errorNode, errorFromNode] =
            outcome.err().map_or([0; 2], |p| [p.node, p.from]).map(CUgraphNode::from_handle_number);
        write_out_if_not_null(resultInfo, CUgraphExecUpdateResultInfo { result, errorNode, errorFromNode });
        ensure(outcome.is_ok(), ResultCode::GRAPH_EXEC_UPDATE_FAILURE)
    }
}
