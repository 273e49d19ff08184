//! Nodes: adding them to a graph, and changing them before the graph is instantiated.

use super::params::{ConditionalHandle, KernelNode, MemsetNode};
use super::retained::RetainedObjects;
use super::{Graph, capture};
use crate::error::{Error, Result};
use crate::stream::Event;
use crate::stream::host_call::{HostFn, host_node_params};
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::any::Any;
use std::sync::Arc;

/// A node of a graph. Cloning gives another reference to the same node.
#[derive(Clone)]
pub struct GraphNode {
    graph: Graph,
    handle: CUgraphNode,
}

impl std::fmt::Debug for GraphNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GraphNode({:?})", self.handle)
    }
}

impl PartialEq for GraphNode {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle && self.graph.0.handle == other.graph.0.handle
    }
}

impl Eq for GraphNode {}

/// What a node says about itself.
impl GraphNode {
    pub(super) fn new(graph: &Graph, handle: CUgraphNode) -> Self {
        Self { graph: graph.clone(), handle }
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUgraphNode {
        self.handle
    }

    /// The graph that contains the node.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Several objects may stand for the graph that is inside a node, or captured into.
    pub(super) fn is_node_of(&self, graph: &Graph) -> bool {
        self.graph.0.handle == graph.0.handle
    }

    /// The handle, unless the node was removed.
    pub(super) fn checked_handle(&self, call: &'static str) -> Result<CUgraphNode> {
        if self.graph.is_node_removed(self.handle) {
            return Err(Graph::invalid_value_error(call, "the node was removed from its graph"));
        }
        Ok(self.handle)
    }

    /// The node's type.
    pub fn kind(&self) -> Result<CUgraphNodeType> {
        let node = self.checked_handle("cuGraphNodeGetType")?;
        let mut kind = CUgraphNodeType::default();
        // SAFETY: the node is alive, one value is written.
        unsafe { call_if_alive!(self.graph.0.ctx, cuGraphNodeGetType(node, &raw mut kind)) }?;
        Ok(kind)
    }

    /// Keeps an object alive, such as memory that the arguments point to, until the node is changed.
    pub fn retain_for_node(&self, object: Arc<dyn Any + Send + Sync>) {
        self.graph.0.retained.retain_for_node(self.handle, object);
    }

    /// Finds the counterpart of this node in `copy`, a [`Graph::duplicate`] of its graph.
    pub fn find_in_clone(&self, copy: &Graph) -> Result<GraphNode> {
        let node = self.checked_handle("cuGraphNodeFindInClone")?;
        let mut found = CUgraphNode::null();
        // SAFETY: node and graph are alive, one handle is written.
        unsafe { call_if_alive!(copy.0.ctx, cuGraphNodeFindInClone(&raw mut found, node, copy.0.handle)) }?;
        Ok(Self::new(copy, found))
    }

    /// Removes the node and its edges from the graph; the node can no longer be used.
    pub fn remove(&self) -> Result<()> {
        let node = self.checked_handle("cuGraphDestroyNode")?;
        // SAFETY: the node is alive; it is marked as removed below.
        unsafe { call_if_alive!(self.graph.0.ctx, cuGraphDestroyNode(node)) }?;
        lock_ignoring_poison(&self.graph.0.removed).insert(node.addr());
        drop(self.graph.0.retained.replace_record(node));
        Ok(())
    }

    /// The description of a kernel node; `None` if the node came from a capture.
    pub fn kernel(&self) -> Option<Arc<KernelNode>> {
        self.graph.0.retained.kernel_of_node(self.handle)
    }

    /// The graph inside a child graph node.
    pub fn child_graph(&self) -> Result<Graph> {
        let node = self.checked_handle("cuGraphChildGraphNodeGetGraph")?;
        let mut inside = CUgraph::null();
        // SAFETY: the node is alive, one handle is written.
        unsafe { call_if_alive!(self.graph.0.ctx, cuGraphChildGraphNodeGetGraph(node, &raw mut inside)) }?;
        Ok(self.graph.wrap_child_handle(inside, self.graph.0.retained.child_graphs(self.handle)))
    }
}

/// Adding nodes. Each comes after the nodes in `after`, which are of the same graph.
impl Graph {
    fn add_node(
        &self,
        call: &'static str,
        after: &[GraphNode],
        add: impl FnOnce(&DriverTable, *mut CUgraphNode, *const CUgraphNode, usize) -> Result<()>,
    ) -> Result<GraphNode> {
        let after = self.checked_handles(call, after)?;
        let mut node = CUgraphNode::null();
        let first = if after.is_empty() { std::ptr::null() } else { after.as_ptr() };
        self.0.ctx.with_current_locked(|| add(self.0.ctx.driver_table(), &raw mut node, first, after.len()))?;
        // The driver may give the handle of a removed node again.
        lock_ignoring_poison(&self.0.removed).remove(&node.addr());
        Ok(GraphNode::new(self, node))
    }

    /// Adds a kernel launch. The node keeps the function alive; [`GraphNode::retain_for_node`] can keep alive what the
    /// arguments point to.
    ///
    /// # Safety
    /// The arguments must be what the kernel expects, and the memory they point to must be valid whenever the graph
    /// runs.
    pub unsafe fn add_kernel_node(&self, kernel: KernelNode, after: &[GraphNode]) -> Result<GraphNode> {
        kernel.check_limits("cuGraphAddKernelNode")?;
        let graph = self.0.handle;
        let node = self.add_node("cuGraphAddKernelNode", after, |table, place, first, n| {
            // SAFETY: the description is valid for the call, which copies the arguments.
            kernel.with_raw_params(|raw| unsafe {
                call_driver!(table, cuGraphAddKernelNode(place, graph, first, n, raw))
            })
        })?;
        if kernel.cooperative {
            node.set_cooperative_attribute()?;
        }
        drop(self.0.retained.record_kernel(node.handle, Arc::new(kernel)));
        Ok(node)
    }

    /// Adds a copy of a region; [`linear_copy_params`](crate::linear_copy_params) describes a contiguous one.
    ///
    /// # Safety
    /// All that `copy` points to must be valid whenever the graph runs.
    pub unsafe fn add_memcpy_node(&self, copy: &CUDA_MEMCPY3D, after: &[GraphNode]) -> Result<GraphNode> {
        let (graph, ctx) = (self.0.handle, self.0.ctx.handle());
        // SAFETY: the description is valid for the call.
        self.add_node("cuGraphAddMemcpyNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddMemcpyNode(place, graph, first, n, copy, ctx))
        })
    }

    /// Adds a fill.
    ///
    /// # Safety
    /// The memory must be valid whenever the graph runs.
    pub unsafe fn add_memset_node(&self, fill: &MemsetNode, after: &[GraphNode]) -> Result<GraphNode> {
        let (graph, ctx, raw) = (self.0.handle, self.0.ctx.handle(), fill.raw_params());
        // SAFETY: the description is valid for the call.
        self.add_node("cuGraphAddMemsetNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddMemsetNode(place, graph, first, n, &raw const raw, ctx))
        })
    }

    /// Adds a call of a function on the host.
    pub fn add_host_node(&self, function: Box<HostFn>, after: &[GraphNode]) -> Result<GraphNode> {
        let (raw, object) = host_node_params(function);
        let graph = self.0.handle;
        // SAFETY: the description is valid for the call, what it points to lives with the node.
        let node = self.add_node("cuGraphAddHostNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddHostNode(place, graph, first, n, &raw const raw))
        })?;
        node.retain_for_node(object);
        Ok(node)
    }

    /// Adds a node that does nothing but join dependencies.
    pub fn add_empty_node(&self, after: &[GraphNode]) -> Result<GraphNode> {
        let graph = self.0.handle;
        // SAFETY: one handle is written.
        self.add_node("cuGraphAddEmptyNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddEmptyNode(place, graph, first, n))
        })
    }

    /// Adds a node that records an event and keeps it alive.
    pub fn add_event_record_node(&self, event: &Event, after: &[GraphNode]) -> Result<GraphNode> {
        let graph = self.0.handle;
        // SAFETY: the event is alive as long as the node.
        let node = self.add_node("cuGraphAddEventRecordNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddEventRecordNode(place, graph, first, n, event.handle()))
        })?;
        node.retain_for_node(Arc::new(event.clone()));
        Ok(node)
    }

    /// Adds a node that waits for an event and keeps it alive.
    pub fn add_event_wait_node(&self, event: &Event, after: &[GraphNode]) -> Result<GraphNode> {
        let graph = self.0.handle;
        // SAFETY: the event is alive as long as the node.
        let node = self.add_node("cuGraphAddEventWaitNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddEventWaitNode(place, graph, first, n, event.handle()))
        })?;
        node.retain_for_node(Arc::new(event.clone()));
        Ok(node)
    }

    /// Adds a copy of another graph as a single node.
    pub fn add_child_graph_node(&self, child: &Graph, after: &[GraphNode]) -> Result<GraphNode> {
        let graph = self.0.handle;
        // SAFETY: the child is alive; the driver copies it.
        let node = self.add_node("cuGraphAddChildGraphNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddChildGraphNode(place, graph, first, n, child.0.handle))
        })?;
        drop(self.0.retained.set_child_graphs(node.handle, vec![child.0.retained.clone_records()]));
        Ok(node)
    }

    /// Adds an allocation of device memory on the context's device, and returns the address, which does not change
    /// between launches. The memory exists from this node to the one that frees it.
    pub fn add_mem_alloc_node(&self, nbytes: usize, after: &[GraphNode]) -> Result<(GraphNode, CUdeviceptr)> {
        let location = CUmemLocation { type_: CU_MEM_LOCATION_TYPE_DEVICE, id: self.0.ctx.device().handle() };
        let pool = CUmemPoolProps { allocType: CU_MEM_ALLOCATION_TYPE_PINNED, location, ..Default::default() };
        let mut raw = CUDA_MEM_ALLOC_NODE_PARAMS { poolProps: pool, bytesize: nbytes, ..Default::default() };
        let graph = self.0.handle;
        // SAFETY: the description is valid for the call, which writes the address to it.
        let node = self.add_node("cuGraphAddMemAllocNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddMemAllocNode(place, graph, first, n, &raw mut raw))
        })?;
        Ok((node, raw.dptr))
    }

    /// Adds a node that frees memory which a graph has allocated.
    ///
    /// # Safety
    /// Nothing may use the memory after this node.
    pub unsafe fn add_mem_free_node(&self, ptr: CUdeviceptr, after: &[GraphNode]) -> Result<GraphNode> {
        let graph = self.0.handle;
        // SAFETY: the caller's promise.
        self.add_node("cuGraphAddMemFreeNode", after, |table, place, first, n| unsafe {
            call_driver!(table, cuGraphAddMemFreeNode(place, graph, first, n, ptr))
        })
    }

    /// Creates a condition for a conditional node of this graph. With a `default` every launch starts with that value;
    /// otherwise the condition keeps its last value.
    pub fn create_conditional_handle(&self, default: Option<u32>) -> Result<ConditionalHandle> {
        let mut handle = CUgraphConditionalHandle::default();
        let (ctx, flags) = (self.0.ctx.handle(), u32::from(default.is_some()));
        // SAFETY: the graph is alive, one value is written.
        let made = unsafe {
            let place = &raw mut handle;
            call_if_alive!(
                self.0.ctx,
                cuGraphConditionalHandleCreate(place, self.0.handle, ctx, default.unwrap_or(0), flags)
            )
        };
        made.map_err(|e| self.add_device_name_to_error(e))?;
        Ok(ConditionalHandle(handle))
    }

    /// Adds a node that runs one of `n_bodies` graphs, to be filled afterwards, depending on `kind` and the condition:
    /// IF (one body, or two with an else), WHILE (one), SWITCH (any number).
    pub fn add_conditional_node(
        &self,
        condition: ConditionalHandle,
        kind: CUgraphConditionalNodeType,
        n_bodies: u32,
        after: &[GraphNode],
    ) -> Result<(GraphNode, Vec<Graph>)> {
        let call = "cuGraphAddNode";
        let mut raw = CUgraphNodeParams { type_: CU_GRAPH_NODE_TYPE_CONDITIONAL, ..Default::default() };
        raw.anon0.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.0,
            type_: kind,
            size: n_bodies,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.0.ctx.handle(),
        };
        let graph = self.0.handle;
        let added = self.add_node(call, after, |table, place, first, n| {
            // SAFETY: the description is valid for the call, which writes to it.
            unsafe {
                if table.has_function(DriverFn::cuGraphAddNode) {
                    call_driver!(table, cuGraphAddNode(place, graph, first, std::ptr::null(), n, &raw mut raw))
                } else {
                    call_driver!(table, cuGraphAddNode_v1(place, graph, first, n, &raw mut raw))
                }
            }
        });
        let node = added.map_err(|e| self.add_device_name_to_error(e))?;
        // SAFETY: the driver has set the pointer to as many handles, which live with the node.
        let bodies: Vec<CUgraph> = unsafe {
            let first = raw.anon0.conditional.phGraph_out;
            (0..n_bodies as usize).map(|i| first.add(i).read()).collect()
        };
        let retained: Vec<RetainedObjects> = bodies.iter().map(|_| RetainedObjects::default()).collect();
        drop(self.0.retained.set_child_graphs(node.handle, retained.clone()));
        let inside =
            bodies.into_iter().zip(retained).map(|(body, retained)| self.wrap_child_handle(body, retained)).collect();
        Ok((node, inside))
    }

    /// Says on which device something is not there.
    fn add_device_name_to_error(&self, error: Error) -> Error {
        if error.code != CUresult::CUDA_ERROR_NOT_SUPPORTED {
            return error;
        }
        let name = self.0.ctx.device().name().unwrap_or_default();
        let known = error.detail.clone().unwrap_or_else(|| "conditional nodes of graphs".to_owned());
        error.with_detail(format!("{known} (device: {name})"))
    }
}

/// Changing what nodes do, for graphs that are instantiated later.
impl GraphNode {
    fn set_params(&self, call: &'static str, set: impl FnOnce(&DriverTable, CUgraphNode) -> Result<()>) -> Result<()> {
        let node = self.checked_handle(call)?;
        let ctx = &self.graph.0.ctx;
        ctx.with_current_locked(|| set(ctx.driver_table(), node))
    }

    fn set_cooperative_attribute(&self) -> Result<()> {
        let value = CUkernelNodeAttrValue { cooperative: 1 };
        // SAFETY: the node is alive, the value valid for the call.
        self.set_params("cuGraphKernelNodeSetAttribute", |table, node| unsafe {
            call_driver!(table, cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &raw const value))
        })
    }

    /// Replaces what a kernel node launches; objects retained for it are released.
    ///
    /// # Safety
    /// As [`Graph::add_kernel_node`].
    pub unsafe fn set_kernel(&self, kernel: KernelNode) -> Result<()> {
        kernel.check_limits("cuGraphKernelNodeSetParams")?;
        self.set_params("cuGraphKernelNodeSetParams", |table, node| {
            // SAFETY: as when adding.
            kernel.with_raw_params(|raw| unsafe { call_driver!(table, cuGraphKernelNodeSetParams(node, raw)) })
        })?;
        drop(self.graph.0.retained.record_kernel(self.handle, Arc::new(kernel)));
        Ok(())
    }

    /// Replaces what a copy node copies; objects retained for it are released.
    ///
    /// # Safety
    /// As [`Graph::add_memcpy_node`].
    pub unsafe fn set_memcpy(&self, copy: &CUDA_MEMCPY3D) -> Result<()> {
        // SAFETY: the description is valid for the call.
        self.set_params("cuGraphMemcpyNodeSetParams", |table, node| unsafe {
            call_driver!(table, cuGraphMemcpyNodeSetParams(node, copy))
        })?;
        drop(self.graph.0.retained.replace_record(self.handle));
        Ok(())
    }

    /// Replaces what a memset node fills; objects retained for it are released.
    ///
    /// # Safety
    /// As [`Graph::add_memset_node`].
    pub unsafe fn set_memset(&self, fill: &MemsetNode) -> Result<()> {
        let raw = fill.raw_params();
        // SAFETY: the description is valid for the call.
        self.set_params("cuGraphMemsetNodeSetParams", |table, node| unsafe {
            call_driver!(table, cuGraphMemsetNodeSetParams(node, &raw const raw))
        })?;
        drop(self.graph.0.retained.replace_record(self.handle));
        Ok(())
    }

    /// Replaces what a host node calls.
    pub fn set_host_function(&self, function: Box<HostFn>) -> Result<()> {
        let (raw, object) = host_node_params(function);
        // SAFETY: the description is valid for the call, what it points to lives with the node.
        self.set_params("cuGraphHostNodeSetParams", |table, node| unsafe {
            call_driver!(table, cuGraphHostNodeSetParams(node, &raw const raw))
        })?;
        let before = self.graph.0.retained.replace_record(self.handle);
        self.retain_for_node(object);
        drop(before);
        Ok(())
    }

    /// Replaces the event that a node records or waits for.
    pub fn set_event(&self, event: &Event) -> Result<()> {
        let records = self.kind()? == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        // SAFETY: the event is alive as long as the node.
        self.set_params("cuGraphEventRecordNodeSetEvent", |table, node| unsafe {
            if records {
                call_driver!(table, cuGraphEventRecordNodeSetEvent(node, event.handle()))
            } else {
                call_driver!(table, cuGraphEventWaitNodeSetEvent(node, event.handle()))
            }
        })?;
        let before = self.graph.0.retained.replace_record(self.handle);
        self.retain_for_node(Arc::new(event.clone()));
        drop(before);
        Ok(())
    }
}

impl Graph {
    /// A graph that a stream is being captured into, which the driver owns until then.
    pub(super) fn from_capture_handle(ctx: &crate::context::Context, handle: CUgraph) -> Self {
        let retained = capture::retained_objects_of_capture(handle).unwrap_or_default();
        Self::from_parts(ctx.clone(), handle, super::GraphOwner::Capture, retained)
    }
}
