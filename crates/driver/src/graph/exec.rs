//! Executable graphs: launching them, and updating their nodes.

use super::retained::{RetainedObjects, drop_after_streams, drop_retired_objects};
use super::{Graph, GraphNode, KernelNode, MemsetNode};
use crate::error::{Error, Result};
use crate::release_region::releasing_region;
use crate::stream::Event;
use crate::stream::host_call::{HostFn, host_node_params};
use crate::stream::{Stream, checked_stream_handle};
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

struct GraphExecInner {
    /// What it was made from: its nodes name what is changed here.
    graph: Graph,
    handle: CUgraphExec,
    retained: RetainedObjects,
    /// The streams that it was launched in.
    streams: Mutex<Vec<Option<Stream>>>,
}

/// An executable graph. Cloning gives another reference to the same graph.
#[derive(Clone)]
pub struct GraphExec(Arc<GraphExecInner>);

impl std::fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphExec({:?})", self.0.handle)
    }
}

impl GraphExec {
    pub(super) fn new(graph: &Graph, flags: u64) -> Result<Self> {
        drop_retired_objects();
        let ctx = graph.context();
        let mut handle = CUgraphExec::null();
        let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS { flags, ..Default::default() };
        let made = ctx.with_current_locked(|| {
            let table = ctx.driver_table();
            // SAFETY: the graph is alive, one handle and the outcome are written.
            unsafe {
                if table.has_function(DriverFn::cuGraphInstantiateWithParams) {
                    call_driver!(table, cuGraphInstantiateWithParams(&raw mut handle, graph.handle(), &raw mut params))
                } else {
                    call_driver!(table, cuGraphInstantiateWithFlags(&raw mut handle, graph.handle(), flags))
                }
            }
        });
        made.map_err(|error| explain_instantiate_error(graph, error, &params))?;
        let retained = graph.0.retained.clone_records();
        Ok(Self(Arc::new(GraphExecInner { graph: graph.clone(), handle, retained, streams: Mutex::default() })))
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUgraphExec {
        self.0.handle
    }

    /// The graph from which it was instantiated.
    pub fn graph(&self) -> &Graph {
        &self.0.graph
    }

    /// The flags with which it was instantiated.
    pub fn flags(&self) -> Result<u64> {
        let mut flags = 0;
        // SAFETY: the executable graph is alive, one value is written.
        unsafe { call_if_alive!(self.0.graph.context(), cuGraphExecGetFlags(self.0.handle, &raw mut flags)) }?;
        Ok(flags)
    }

    /// Runs the graph in stream order; `stream` must not be capturing. Launches of one executable graph never overlap.
    ///
    /// This is safe because the caller that added a kernel has promised that it may run.
    pub fn launch(&self, stream: Option<&Stream>) -> Result<()> {
        drop_retired_objects();
        let ctx = self.0.graph.context();
        let handle = checked_stream_handle("cuGraphLaunch", ctx.driver_table_if_alive("cuGraphLaunch")?, stream)?;
        self.record_launch_stream(stream);
        let launched = match stream {
            // SAFETY: graph and stream are alive and of the same driver.
            Some(_) => unsafe { call_if_alive!(ctx, cuGraphLaunch(self.0.handle, handle)) },
            // The default stream is that of the current context.
            // SAFETY: the graph is alive, and its context is current.
            None => ctx.with_current_locked(|| unsafe {
                call_driver!(ctx.driver_table(), cuGraphLaunch(self.0.handle, handle))
            }),
        };
        launched.map_err(|error| match error.code {
            CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED => error.with_detail(
                "an executable graph cannot be launched in a stream that is being captured; \
                 add the graph it was made from as a child graph node",
            ),
            _ => error,
        })
    }

    /// Uploads the graph to the device, which makes the next launch faster.
    pub fn upload(&self, stream: Option<&Stream>) -> Result<()> {
        let ctx = self.0.graph.context();
        let handle = checked_stream_handle("cuGraphUpload", ctx.driver_table_if_alive("cuGraphUpload")?, stream)?;
        // SAFETY: graph and stream are alive and of the same driver.
        ctx.with_current_locked(|| unsafe { call_driver!(ctx.driver_table(), cuGraphUpload(self.0.handle, handle)) })
    }

    fn record_launch_stream(&self, stream: Option<&Stream>) {
        let handle_of = |stream: Option<&Stream>| stream.map(Stream::handle);
        let mut streams = lock_ignoring_poison(&self.0.streams);
        if !streams.iter().any(|known| handle_of(known.as_ref()) == handle_of(stream)) {
            streams.push(stream.cloned());
        }
    }

    /// Lets objects go when the launches so far have ended.
    fn drop_objects_after_launches(&self, objects: impl Any + Send) {
        let streams = lock_ignoring_poison(&self.0.streams).clone();
        drop_after_streams(objects, &streams);
    }

    /// Updates all nodes from `graph`, which must have the same topology. On failure nothing changes and the error says
    /// how the graph differs.
    pub fn update(&self, graph: &Graph) -> Result<()> {
        let ctx = self.0.graph.context();
        graph.context().check_same_driver(ctx, "cuGraphExecUpdate")?;
        let mut info = CUgraphExecUpdateResultInfo::default();
        // SAFETY: both are alive, the outcome is written.
        let updated = ctx.with_current_locked(|| unsafe {
            call_driver!(ctx.driver_table(), cuGraphExecUpdate(self.0.handle, graph.handle(), &raw mut info))
        });
        updated.map_err(|error| {
            let reason = info.result.name().unwrap_or("an unknown reason");
            let reason = reason.trim_start_matches("CU_GRAPH_EXEC_UPDATE_ERROR_").to_lowercase().replace('_', " ");
            error.with_detail(format!("the graphs differ: {reason}{}", describe_node(graph, info.errorNode)))
        })?;
        self.drop_objects_after_launches(self.0.retained.replace_all_records(graph.0.retained.clone_records()));
        Ok(())
    }
}

/// What the driver tells about a graph that it does not take.
fn explain_instantiate_error(graph: &Graph, error: Error, params: &CUDA_GRAPH_INSTANTIATE_PARAMS) -> Error {
    let reason = match params.result_out {
        CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE => "its structure is invalid, it may have a cycle",
        CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED => "a node does what a device cannot launch",
        CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED => "its nodes are of several contexts",
        _ => return error,
    };
    error.with_detail(format!("{reason}{}", describe_node(graph, params.hErrNode_out)))
}

fn describe_node(graph: &Graph, node: CUgraphNode) -> String {
    if node.is_null() {
        return String::new();
    }
    let nodes = graph.nodes().unwrap_or_default();
    match nodes.iter().position(|n| n.handle() == node) {
        Some(index) => {
            let kind = nodes[index].kind().ok().and_then(CUgraphNodeType::name).unwrap_or("");
            format!(" (node {index}, {})", kind.trim_start_matches("CU_GRAPH_NODE_TYPE_"))
        }
        None => String::new(),
    }
}

/// Changing what single nodes do in later launches. The nodes are those of the graph that this was
/// made from, which does not change.
impl GraphExec {
    fn set_node_params(
        &self,
        call: &'static str,
        node: &GraphNode,
        set: impl FnOnce(&DriverTable, CUgraphExec, CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        // Nodes of graphs inside the graph may be named too; the driver finds them.
        let handle = node.checked_handle(call)?;
        let ctx = self.0.graph.context();
        node.graph().context().check_same_driver(ctx, call)?;
        ctx.with_current_locked(|| set(ctx.driver_table(), self.0.handle, handle))
    }

    /// Replaces what a kernel node launches; objects retained for it are released once unused.
    ///
    /// # Safety
    /// As [`Graph::add_kernel_node`].
    pub unsafe fn set_kernel(&self, node: &GraphNode, kernel: KernelNode) -> Result<()> {
        kernel.check_limits("cuGraphExecKernelNodeSetParams")?;
        self.set_node_params("cuGraphExecKernelNodeSetParams", node, |table, exec, node| {
            // SAFETY: the description is valid for the call, which copies the arguments.
            kernel
                .with_raw_params(|raw| unsafe { call_driver!(table, cuGraphExecKernelNodeSetParams(exec, node, raw)) })
        })?;
        self.drop_objects_after_launches(self.0.retained.record_kernel(node.handle(), Arc::new(kernel)));
        Ok(())
    }

    /// The current description of a kernel node; `None` if the node came from a capture.
    pub fn kernel_of_node(&self, node: &GraphNode) -> Option<Arc<KernelNode>> {
        self.0.retained.kernel_of_node(node.handle())
    }

    /// Keeps an object alive until the node is changed.
    pub fn retain_for_node(&self, node: &GraphNode, object: Arc<dyn Any + Send + Sync>) {
        self.0.retained.retain_for_node(node.handle(), object);
    }

    /// Replaces what a copy node copies.
    ///
    /// # Safety
    /// As [`Graph::add_memcpy_node`].
    pub unsafe fn set_memcpy(&self, node: &GraphNode, copy: &CUDA_MEMCPY3D) -> Result<()> {
        let ctx = self.0.graph.context().handle();
        // SAFETY: the description is valid for the call.
        self.set_node_params("cuGraphExecMemcpyNodeSetParams", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphExecMemcpyNodeSetParams(exec, node, copy, ctx))
        })?;
        self.drop_objects_after_launches(self.0.retained.replace_record(node.handle()));
        Ok(())
    }

    /// Replaces what a memset node fills.
    ///
    /// # Safety
    /// As [`Graph::add_memset_node`].
    pub unsafe fn set_memset(&self, node: &GraphNode, fill: &MemsetNode) -> Result<()> {
        let (ctx, raw) = (self.0.graph.context().handle(), fill.raw_params());
        // SAFETY: the description is valid for the call.
        self.set_node_params("cuGraphExecMemsetNodeSetParams", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphExecMemsetNodeSetParams(exec, node, &raw const raw, ctx))
        })?;
        self.drop_objects_after_launches(self.0.retained.replace_record(node.handle()));
        Ok(())
    }

    /// Replaces what a host node calls.
    pub fn set_host_function(&self, node: &GraphNode, function: Box<HostFn>) -> Result<()> {
        let (raw, object) = host_node_params(function);
        // SAFETY: the description is valid for the call, what it points to lives with the node.
        self.set_node_params("cuGraphExecHostNodeSetParams", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphExecHostNodeSetParams(exec, node, &raw const raw))
        })?;
        self.drop_objects_after_launches(self.0.retained.replace_record(node.handle()));
        self.retain_for_node(node, object);
        Ok(())
    }

    /// Replaces the event that a node records or waits for.
    pub fn set_event(&self, node: &GraphNode, event: &Event) -> Result<()> {
        let records = node.kind()? == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        // SAFETY: the event is alive as long as the node.
        self.set_node_params("cuGraphExecEventRecordNodeSetEvent", node, |table, exec, node| unsafe {
            if records {
                call_driver!(table, cuGraphExecEventRecordNodeSetEvent(exec, node, event.handle()))
            } else {
                call_driver!(table, cuGraphExecEventWaitNodeSetEvent(exec, node, event.handle()))
            }
        })?;
        self.drop_objects_after_launches(self.0.retained.replace_record(node.handle()));
        self.retain_for_node(node, Arc::new(event.clone()));
        Ok(())
    }

    /// Updates the nodes of a child graph from those of `child`, which must have the same topology.
    pub fn set_child_graph(&self, node: &GraphNode, child: &Graph) -> Result<()> {
        // SAFETY: the child is alive; the driver copies it.
        self.set_node_params("cuGraphExecChildGraphNodeSetParams", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphExecChildGraphNodeSetParams(exec, node, child.handle()))
        })?;
        self.drop_objects_after_launches(
            self.0.retained.set_child_graphs(node.handle(), vec![child.0.retained.clone_records()]),
        );
        Ok(())
    }

    /// Enables or disables a kernel, copy or memset node.
    pub fn set_enabled(&self, node: &GraphNode, enabled: bool) -> Result<()> {
        // SAFETY: both are alive.
        self.set_node_params("cuGraphNodeSetEnabled", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphNodeSetEnabled(exec, node, u32::from(enabled)))
        })
    }

    /// Whether a kernel, copy or memset node is enabled.
    pub fn is_enabled(&self, node: &GraphNode) -> Result<bool> {
        let mut enabled = 0;
        // SAFETY: both are alive, one value is written.
        self.set_node_params("cuGraphNodeGetEnabled", node, |table, exec, node| unsafe {
            call_driver!(table, cuGraphNodeGetEnabled(exec, node, &raw mut enabled))
        })?;
        Ok(enabled != 0)
    }
}

impl Drop for GraphExecInner {
    fn drop(&mut self) {
        let ctx = self.graph.context().clone();
        // SAFETY: this is the last use of the handle; launches that run end nevertheless.
        ctx.free_on_drop(|table| unsafe { call_driver!(table, cuGraphExecDestroy(self.handle)) });
        if !crate::process_state::is_forked_or_exiting() && ctx.is_alive() {
            let streams = std::mem::take(self.streams.get_mut().unwrap_or_else(PoisonError::into_inner));
            let retained = self.retained.take_all_records();
            // Recording events may wait for room in a queue.
            releasing_region(|| drop_after_streams(retained, &streams));
        }
    }
}
