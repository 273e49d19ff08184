//! Executable graphs: making, changing and launching them.

use std::ffi::c_uint;
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::graph::graph;
use super::graph_node::{action_of, check_context, child, copy, host, kernel, mem_ops, set};
use super::{Handle, driver_functions, write_optional, write_out};
use crate::context::current;
use crate::driver::{EVENTS, stream_and_context};
use crate::error::{Code, Res, ensure};
use crate::graph::exec::{Difference, EXECS, Exec};
use crate::graph::{Action, capture};

fn exec(handle: CUgraphExec) -> Res<Arc<Exec>> {
    EXECS.get_or(handle.number(), Code::INVALID_VALUE)
}

fn instantiate(graph: CUgraph, flags: u64) -> Res<CUgraphExec> {
    ensure(flags & !15 == 0, Code::INVALID_VALUE)?;
    // What frees memory by itself cannot be launched by a kernel.
    ensure(flags & 5 != 5, Code::INVALID_VALUE)?;
    // A kernel that launches the graph cannot exist here.
    ensure(flags & 4 == 0, Code::NOT_SUPPORTED)?;
    capture::check_unsafe_call()?;
    let made = Exec::new(&*current()?, &*self::graph(graph)?, flags)?;
    EXECS.insert_with(|_| Arc::new(made)).map(|(handle, _)| CUgraphExec::from_number(handle))
}

fn event(handle: CUevent) -> Res<u64> {
    EVENTS.get_or(handle.number(), Code::INVALID_VALUE).map(|_| handle.number())
}

driver_functions! {
    fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64) {
        ensure(!phGraphExec.is_null(), Code::INVALID_VALUE)?;
        write_out(phGraphExec, instantiate(hGraph, flags)?)
    }

    fn cuGraphInstantiateWithParams(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) {
        ensure(!phGraphExec.is_null(), Code::INVALID_VALUE)?;
        let params = instantiateParams.as_mut().ok_or(Code::INVALID_VALUE)?;
        params.hErrNode_out = CUgraphNode::null();
        let outcome = instantiate(hGraph, params.flags);
        params.result_out = match outcome {
            Ok(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
            Err(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
        };
        write_out(phGraphExec, outcome?)
    }

    fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut u64) {
        write_out(flags, exec(hGraphExec)?.flags)
    }

    fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) {
        // Everything was made when the graph was instantiated.
        exec(hGraphExec)?;
        stream_and_context(hStream.number()).map(drop)
    }

    fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) {
        let exec = exec(hGraphExec)?;
        let (context, stream) = stream_and_context(hStream.number())?;
        capture::refuse(&stream)?;
        exec.launch(&context, &stream)
    }

    fn cuGraphExecDestroy(hGraphExec: CUgraphExec) {
        capture::check_unsafe_call()?;
        EXECS.remove_or(hGraphExec.number(), Code::INVALID_VALUE).map(drop)
    }

    fn cuGraphExecKernelNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) {
        exec(hGraphExec)?.set_action(hNode.number(), kernel(nodeParams)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext) {
        check_context(ctx)?;
        exec(hGraphExec)?.set_action(hNode.number(), copy(copyParams)?)
    }

    fn cuGraphExecMemsetNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) {
        check_context(ctx)?;
        exec(hGraphExec)?.set_action(hNode.number(), set(memsetParams)?)
    }

    fn cuGraphExecHostNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS) {
        exec(hGraphExec)?.set_action(hNode.number(), host(nodeParams)?)
    }

    fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph) {
        let action = child(childGraph)?;
        let outcome = exec(hGraphExec)?.set_action(hNode.number(), action.clone());
        if let Action::Child(copy) = action {
            // The executable graph keeps what the nodes do, not the nodes.
            copy.destroy();
        }
        outcome
    }

    fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        exec(hGraphExec)?.set_action(hNode.number(), Action::Record(self::event(event)?))
    }

    fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent) {
        exec(hGraphExec)?.set_action(hNode.number(), Action::Wait(self::event(event)?))
    }

    fn cuGraphExecBatchMemOpNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) {
        exec(hGraphExec)?.set_action(hNode.number(), mem_ops(nodeParams)?)
    }

    fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams) {
        exec(hGraphExec)?.set_action(hNode.number(), action_of(nodeParams)?)
    }

    fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint) {
        exec(hGraphExec)?.set_enabled(hNode.number(), isEnabled != 0)
    }

    fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint) {
        write_out(isEnabled, c_uint::from(exec(hGraphExec)?.is_enabled(hNode.number())?))
    }

    fn cuGraphExecUpdate(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo) {
        use CUgraphExecUpdateResult as R;
        let (exec, graph) = (exec(hGraphExec)?, graph(hGraph)?);
        let outcome = exec.update(&graph);
        let (result, node) = match outcome {
            Ok(()) => (R::CU_GRAPH_EXEC_UPDATE_SUCCESS, 0),
            Err((Difference::Topology, n)) => (R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, n),
            Err((Difference::Type, n)) => (R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, n),
            Err((Difference::Parameters, n)) => (R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, n),
        };
        let errorNode = CUgraphNode::from_number(node);
        write_optional(resultInfo, CUgraphExecUpdateResultInfo { result, errorNode, errorFromNode: CUgraphNode::null() });
        ensure(outcome.is_ok(), Code::GRAPH_EXEC_UPDATE_FAILURE)
    }
}
