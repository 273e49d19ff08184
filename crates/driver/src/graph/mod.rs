//! Graphs: work described once, as nodes and dependencies, and launched often.
//!
//! A graph is built node by node ([`Graph::new`]) or by capturing a stream
//! ([`Stream::begin_capture`](crate::Stream::begin_capture)); [`Graph::instantiate`] makes it executable. A
//! [`GraphNode`] holds its graph, so its handle is valid unless the node was removed, which every use checks. A graph
//! can retain the objects that a node works on ([`GraphNode::retain_for_node`]): they live as long as the graph, and as
//! long as executable graphs made from it still run.

mod capture;
mod exec;
mod node;
mod params;
mod retained;
mod topology;

pub use capture::CaptureInfo;
pub use exec::GraphExec;
pub use node::GraphNode;
pub use params::{ConditionalHandle, CopyEndpoint, KernelNode, MemsetNode, linear_copy_params};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::module::c_string;
use retained::RetainedObjects;
use rtcg_cuda_sys::*;
use rtcg_disk_cache::TemporaryFolder;
use rtcg_hal::lock_ignoring_poison;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Who destroys the driver's graph.
enum GraphOwner {
    /// This object.
    Own,
    /// The graph that it is a part of.
    ChildOf(#[allow(dead_code, reason = "held for its lifetime")] Graph),
    /// The driver, for as long as a stream is captured into it.
    Capture,
}

struct GraphInner {
    ctx: Context,
    handle: CUgraph,
    owner: GraphOwner,
    retained: RetainedObjects,
    removed: Mutex<HashSet<usize>>,
}

/// A graph. Cloning gives another reference to the same graph; [`Graph::duplicate`] copies it.
#[derive(Clone)]
pub struct Graph(Arc<GraphInner>);

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({:?})", self.0.handle)
    }
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Graph {}

impl Graph {
    /// Creates an empty graph for the current context.
    pub fn new() -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let mut handle = CUgraph::null();
        // SAFETY: writes one handle.
        unsafe { call_if_alive!(ctx, cuGraphCreate(&raw mut handle, 0)) }?;
        Ok(Self::from_parts(ctx, handle, GraphOwner::Own, RetainedObjects::default()))
    }

    fn from_parts(ctx: Context, handle: CUgraph, owner: GraphOwner, retained: RetainedObjects) -> Self {
        Self(Arc::new(GraphInner { ctx, handle, owner, retained, removed: Mutex::default() }))
    }

    /// A graph inside this one, as a child graph or the body of a conditional node.
    fn wrap_child_handle(&self, handle: CUgraph, retained: RetainedObjects) -> Self {
        Self::from_parts(self.0.ctx.clone(), handle, GraphOwner::ChildOf(self.clone()), retained)
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUgraph {
        self.0.handle
    }

    /// The context in which it was created.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// Copies the graph and its nodes; [`GraphNode::find_in_clone`] finds the counterpart of a node. Graphs that
    /// allocate memory cannot be copied.
    pub fn duplicate(&self) -> Result<Self> {
        let mut handle = CUgraph::null();
        // SAFETY: the graph is alive, one handle is written.
        unsafe { call_if_alive!(self.0.ctx, cuGraphClone(&raw mut handle, self.0.handle)) }?;
        Ok(Self::from_parts(self.0.ctx.clone(), handle, GraphOwner::Own, self.0.retained.clone_records()))
    }

    /// Instantiates the graph in its context. `flags` as `CUgraphInstantiate_flags`.
    pub fn instantiate(&self, flags: u64) -> Result<GraphExec> {
        GraphExec::new(self, flags)
    }

    /// Writes the graph to a file in Graphviz DOT format; `flags` as `CUgraphDebugDot_flags`.
    pub fn debug_dot_print(&self, path: &Path, flags: u32) -> Result<()> {
        let name = c_string("cuGraphDebugDotPrint", path.as_os_str().as_encoded_bytes())?;
        // SAFETY: the graph is alive, the name NUL-terminated.
        unsafe { call_if_alive!(self.0.ctx, cuGraphDebugDotPrint(self.0.handle, name.as_ptr(), flags)) }
            .map_err(|e| if e.detail.is_some() { e } else { e.with_detail(path.display().to_string()) })
    }

    /// The text that [`Graph::debug_dot_print`] writes.
    pub fn to_dot(&self, flags: u32) -> Result<String> {
        let failed = |place: &Path, error: &std::io::Error| {
            let detail = format!("{}: {error}", place.display());
            Error::new("cuGraphDebugDotPrint", CUresult::CUDA_ERROR_OPERATING_SYSTEM, detail)
        };
        let folder = TemporaryFolder::new("rtcg-graph").map_err(|error| failed(&std::env::temp_dir(), &error))?;
        let path = folder.path().join("graph.dot");
        self.debug_dot_print(&path, flags)?;
        std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))
    }

    fn invalid_value_error(call: &'static str, detail: impl Into<String>) -> Error {
        Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    }

    /// The handles of nodes that must be of this graph and still in it.
    fn checked_handles(&self, call: &'static str, nodes: &[GraphNode]) -> Result<Vec<CUgraphNode>> {
        nodes.iter().map(|node| self.checked_node_handle(call, node)).collect()
    }

    fn checked_node_handle(&self, call: &'static str, node: &GraphNode) -> Result<CUgraphNode> {
        if !node.is_node_of(self) {
            return Err(Self::invalid_value_error(call, "a node of another graph was given"));
        }
        node.checked_handle(call)
    }

    fn is_node_removed(&self, node: CUgraphNode) -> bool {
        lock_ignoring_poison(&self.0.removed).contains(&node.addr())
    }
}

impl Drop for GraphInner {
    fn drop(&mut self) {
        if matches!(self.owner, GraphOwner::Own) {
            // SAFETY: this is the last use of the handle; nodes hold the graph.
            self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuGraphDestroy(self.handle)) });
        }
    }
}
