//! Graphs: operations with their order, put together once and launched often.
//!
//! Establishes: a node belongs to one graph for as long as both exist, edges join nodes of one
//! graph, and a child graph is a copy of its own that only its node holds. What a node does is
//! replaced as a whole ([`NodeAction`] is immutable), so that an executable graph keeps what it was
//! made from.

pub(crate) mod capture;
pub(crate) mod condition;
pub(crate) mod exec;
pub(crate) mod memory;
pub(crate) mod update;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use rtcg_cuda_sys::{CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraphEdgeData, CUgraphNodeType};

use crate::module::Launch;
use crate::resource::function::DriverFunction;
use crate::stream::attributes::AdviceAttributes;
use crate::stream::external_work::StartFunction;
use crate::stream::memory_op::MemOp;
pub(crate) use condition::ConditionalNode;
pub(crate) use memory::GraphMemory;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
pub(crate) use rtcg_vgpu_exec::graph_conditional::GraphConditional;

/// Graphs by handle.
pub(crate) static GRAPHS: HandleTable<Graph> = HandleTable::new(0x1b);
/// Nodes by handle.
pub(crate) static NODES: HandleTable<Node> = HandleTable::new(0x1c);

/// A structure of the program that holds addresses of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssertSend<T>(pub(crate) T);

// SAFETY: the addresses in it are only used as the program that gave them asks for.
unsafe impl<T> Send for AssertSend<T> {}
// SAFETY: the addresses in it are only used as the program that gave them asks for.
unsafe impl<T> Sync for AssertSend<T> {}

impl<T: Copy> AssertSend<T> {
    /// By value, so that a closure captures the whole.
    pub(crate) fn get(&self) -> T {
        self.0
    }
}

/// A kernel with all it needs.
#[derive(Debug)]
pub(crate) struct KernelAction {
    /// The handle that the program gave.
    pub(crate) handle: u64,
    /// What it stands for.
    pub(crate) function: Arc<DriverFunction>,
    /// Grid, block, packed parameters.
    pub(crate) launch: Launch,
    /// Advice that the program gave.
    pub(crate) attributes: AdviceAttributes,
    /// Addresses of the parameters within `launch.params`, for `cuGraphKernelNodeGetParams`.
    pub(crate) pointers: AssertSend<Box<[*mut std::ffi::c_void]>>,
}

impl KernelAction {
    /// A kernel to be launched like this.
    pub(crate) fn new(handle: u64, function: Arc<DriverFunction>, launch: Launch) -> KernelAction {
        let start = launch.params.as_ptr();
        let pointer = |p: &crate::module::ParamInfo| start.wrapping_add(p.offset).cast_mut().cast();
        let pointers = AssertSend(function.kernel.kernel_params().iter().map(pointer).collect());
        KernelAction { handle, function, launch, attributes: AdviceAttributes::default(), pointers }
    }
}

/// What a node does.
#[derive(Debug, Clone)]
pub(crate) enum NodeAction {
    /// Runs a kernel.
    Kernel(Arc<KernelAction>),
    /// Copies a box.
    Copy(AssertSend<CUDA_MEMCPY3D>),
    /// Fills memory.
    Memset(AssertSend<CUDA_MEMSET_NODE_PARAMS>),
    /// Calls a function of the program with a pointer of the program.
    Host(unsafe extern "C" fn(*mut std::ffi::c_void), AssertSend<*mut std::ffi::c_void>),
    /// Work that something beside the driver does: the function that starts it, each time with this data.
    External(StartFunction, AssertSend<*mut std::ffi::c_void>),
    /// Does what a graph of its own does.
    Child(Arc<Graph>),
    /// Does what one of several graphs of its own does.
    Conditional(Arc<ConditionalNode>),
    /// Nothing.
    Empty,
    /// Records the event with this handle.
    Record(u64),
    /// Waits for the event with this handle.
    Wait(u64),
    /// Makes memory available.
    Alloc(Arc<GraphMemory>),
    /// Takes it back.
    Free(u64),
    /// Reads and writes single values.
    MemOps(Arc<[MemOp]>, Arc<[AssertSend<rtcg_cuda_sys::CUstreamBatchMemOpParams>]>),
}

impl NodeAction {
    /// `cuGraphNodeGetType`
    pub(crate) fn node_type(&self) -> CUgraphNodeType {
        use CUgraphNodeType as T;
        match self {
            NodeAction::Kernel(_) => T::CU_GRAPH_NODE_TYPE_KERNEL,
            NodeAction::Copy(_) => T::CU_GRAPH_NODE_TYPE_MEMCPY,
            NodeAction::Memset(_) => T::CU_GRAPH_NODE_TYPE_MEMSET,
            NodeAction::Host(..) | NodeAction::External(..) => T::CU_GRAPH_NODE_TYPE_HOST,
            NodeAction::Child(_) => T::CU_GRAPH_NODE_TYPE_GRAPH,
            NodeAction::Conditional(_) => T::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            NodeAction::Empty => T::CU_GRAPH_NODE_TYPE_EMPTY,
            NodeAction::Record(_) => T::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            NodeAction::Wait(_) => T::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            NodeAction::Alloc(_) => T::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            NodeAction::Free(_) => T::CU_GRAPH_NODE_TYPE_MEM_FREE,
            NodeAction::MemOps(..) => T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        }
    }

    /// What a copy of the graph does in its place.
    fn clone_action(&self) -> Res<NodeAction> {
        Ok(match self {
            NodeAction::Child(graph) => {
                let copy = graph.clone_graph()?;
                copy.owned.store(true, Ordering::Relaxed);
                NodeAction::Child(copy)
            }
            other => other.clone(),
        })
    }
}

/// `CUgraphNode`
#[derive(Debug)]
pub(crate) struct Node {
    /// What C code holds.
    pub(crate) handle: u64,
    /// Handle of its graph.
    pub(crate) graph: u64,
    /// The node that it is a copy of, 0 for none.
    pub(crate) origin: u64,
    action: Mutex<NodeAction>,
}

impl Node {
    /// What it does.
    pub(crate) fn current_action(&self) -> NodeAction {
        self.action.lock().ignore_poison().clone()
    }

    /// Replaces what it does by something of the same type.
    pub(crate) fn set_node_action(&self, action: NodeAction) -> Res {
        let mut mine = self.action.lock().ignore_poison();
        ensure(mine.node_type() == action.node_type(), ResultCode::INVALID_VALUE)?;
        *mine = action;
        Ok(())
    }
}

/// An edge: the second node comes after the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) data: CUgraphEdgeData,
}

/// `CUgraph`
#[derive(Debug)]
pub(crate) struct Graph {
    /// What C code holds.
    pub(crate) handle: u64,
    /// It is a child graph and goes with its node.
    pub(crate) owned: AtomicBool,
    parts: Mutex<GraphContents>,
    /// Conditions that were made for it.
    pub(crate) conditions: Mutex<Vec<Arc<GraphConditional>>>,
    /// Objects of the program that live as long as the graph.
    pub(crate) objects: Mutex<Vec<Arc<UserObject>>>,
    /// Lives as long as the executable graph that gives out the memory of this one.
    memory_claim: Mutex<Weak<()>>,
}

/// Nodes in the order in which they were added, and edges.
#[derive(Debug, Default)]
pub(crate) struct GraphContents {
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) edges: Vec<Edge>,
}

impl GraphContents {
    /// The nodes that come right before a node.
    pub(crate) fn dependencies_of(&self, node: u64) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.to == node)
    }

    /// The nodes that come right after a node.
    pub(crate) fn dependents_of(&self, node: u64) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.from == node)
    }

    pub(crate) fn contains_node(&self, node: u64) -> bool {
        self.nodes.iter().any(|n| n.handle == node)
    }

    /// The nodes such that each comes after those it depends on, earlier added ones first; `None`
    /// when they form a cycle.
    pub(crate) fn topological_order(&self) -> Option<Vec<Arc<Node>>> {
        let at: std::collections::HashMap<u64, usize> =
            self.nodes.iter().enumerate().map(|(i, n)| (n.handle, i)).collect();
        let mut waits = vec![0_usize; self.nodes.len()];
        let mut next = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            let (from, to) = (*at.get(&edge.from)?, *at.get(&edge.to)?);
            waits[to] += 1;
            next[from].push(to);
        }
        let mut ready: std::collections::BTreeSet<usize> = (0..waits.len()).filter(|&i| waits[i] == 0).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(i) = ready.pop_first() {
            order.push(self.nodes[i].clone());
            for &to in &next[i] {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }
}

impl Graph {
    /// A new graph without nodes.
    pub(crate) fn create_graph() -> Res<Arc<Graph>> {
        let make = |handle| {
            Arc::new(Graph {
                handle,
                owned: AtomicBool::new(false),
                parts: Mutex::default(),
                conditions: Mutex::default(),
                objects: Mutex::default(),
                memory_claim: Mutex::default(),
            })
        };
        GRAPHS.insert_with(make).map(|(_, graph)| graph)
    }

    /// Its nodes and edges.
    pub(crate) fn lock_contents(&self) -> MutexGuard<'_, GraphContents> {
        self.parts.lock().ignore_poison()
    }

    /// Adds a node that comes after others of this graph.
    pub(crate) fn add_node(&self, action: NodeAction, after: &[u64], origin: u64) -> Res<Arc<Node>> {
        let dependencies: Vec<_> = after.iter().map(|&from| (from, CUgraphEdgeData::default())).collect();
        self.add_node_with_edge_data(action, &dependencies, origin)
    }

    /// The same, with the data of the edges.
    pub(crate) fn add_node_with_edge_data(
        &self,
        action: NodeAction,
        after: &[(u64, CUgraphEdgeData)],
        origin: u64,
    ) -> Res<Arc<Node>> {
        let mut parts = self.lock_contents();
        let is_repeated = |i: usize| after[..i].iter().any(|before| before.0 == after[i].0);
        ensure(after.iter().all(|n| parts.contains_node(n.0)), ResultCode::INVALID_VALUE)?;
        ensure(!(1..after.len()).any(is_repeated), ResultCode::INVALID_VALUE)?;
        let graph = self.handle;
        let (handle, node) =
            NODES.insert_with(|handle| Arc::new(Node { handle, graph, origin, action: Mutex::new(action) }))?;
        let edges = after.iter().map(|&(from, data)| Edge { from, to: handle, data });
        parts.edges.extend(edges);
        parts.nodes.push(node.clone());
        Ok(node)
    }

    /// Adds edges between nodes of this graph, all or none.
    pub(crate) fn add_edges(&self, edges: Vec<Edge>) -> Res {
        let mut parts = self.lock_contents();
        let before = parts.edges.len();
        for edge in edges {
            let good = edge.from != edge.to && parts.contains_node(edge.from) && parts.contains_node(edge.to);
            let known = parts.edges.iter().any(|e| e.from == edge.from && e.to == edge.to);
            if !good || known {
                parts.edges.truncate(before);
                return ResultCode::INVALID_VALUE.err();
            }
            parts.edges.push(edge);
        }
        Ok(())
    }

    /// Takes edges away, all or none.
    pub(crate) fn remove_edges(&self, edges: &[Edge]) -> Res {
        let mut parts = self.lock_contents();
        let mut left = parts.edges.clone();
        for edge in edges {
            let at =
                left.iter().position(|e| (e.from, e.to) == (edge.from, edge.to)).ok_or(ResultCode::INVALID_VALUE)?;
            // The order of nodes that allocate and free stays.
            let ends = parts.nodes.iter().filter(|n| [edge.from, edge.to].contains(&n.handle));
            let is_memory = |n: &Arc<Node>| matches!(n.current_action(), NodeAction::Alloc(_) | NodeAction::Free(_));
            ensure(!ends.into_iter().any(is_memory), ResultCode::NOT_SUPPORTED)?;
            left.remove(at);
        }
        parts.edges = left;
        Ok(())
    }

    /// Takes a node and its edges away.
    pub(crate) fn remove_node(&self, node: u64) -> Res {
        let mut parts = self.lock_contents();
        parts.nodes.retain(|n| n.handle != node);
        parts.edges.retain(|e| e.from != node && e.to != node);
        drop(parts);
        destroy_child_graph(&*NODES.remove_object(node)?);
        Ok(())
    }

    /// A copy with nodes of its own.
    pub(crate) fn clone_graph(&self) -> Res<Arc<Graph>> {
        let copy = Graph::create_graph()?;
        let (nodes, edges) = {
            let parts = self.lock_contents();
            (parts.nodes.clone(), parts.edges.clone())
        };
        let mut names = std::collections::HashMap::new();
        for node in nodes {
            let new = copy.add_node(node.current_action().clone_action()?, &[], node.handle)?;
            names.insert(node.handle, new.handle);
        }
        let renamed = |e: Edge| Some(Edge { from: *names.get(&e.from)?, to: *names.get(&e.to)?, data: e.data });
        copy.lock_contents().edges = edges.into_iter().filter_map(renamed).collect();
        *copy.objects.lock().ignore_poison() = self.objects.lock().ignore_poison().clone();
        Ok(copy)
    }

    /// Makes its handle and those of its nodes stale.
    pub(crate) fn destroy_handles(&self) {
        // Somebody else may have been faster; then there is nothing to do.
        let _ = GRAPHS.remove_object(self.handle);
        let nodes = std::mem::take(&mut self.lock_contents().nodes);
        for node in nodes {
            let _ = NODES.remove_object(node.handle);
            destroy_child_graph(&node);
        }
        // Dropped without the lock: this may call the program.
        drop(std::mem::take(&mut *self.objects.lock().ignore_poison()));
    }

    /// Whether it allocates or frees memory.
    pub(crate) fn has_memory_nodes(&self) -> bool {
        self.contains_action(&|action| matches!(action, NodeAction::Alloc(_) | NodeAction::Free(_)))
    }

    /// Takes the graph's memory for an executable graph; fails as long as another one has it.
    fn claim_memory(&self) -> Res<Arc<()>> {
        let mut claimed = self.memory_claim.lock().ignore_poison();
        ensure(claimed.strong_count() == 0, ResultCode::NOT_SUPPORTED)?;
        let claim = Arc::new(());
        *claimed = Arc::downgrade(&claim);
        Ok(claim)
    }

    /// Whether this is the claim upon the graph's memory that holds now.
    fn is_memory_claimed_as(&self, claim: &Arc<()>) -> bool {
        std::ptr::eq(self.memory_claim.lock().ignore_poison().as_ptr(), Arc::as_ptr(claim))
    }

    /// Whether it is this graph, or one inside of it is.
    pub(crate) fn is_or_contains_graph(&self, handle: u64) -> bool {
        let nodes = self.lock_contents().nodes.clone();
        let is_inside = |node: &Arc<Node>| match node.current_action() {
            NodeAction::Child(graph) => graph.is_or_contains_graph(handle),
            NodeAction::Conditional(choice) => choice.bodies.iter().any(|body| body.is_or_contains_graph(handle)),
            _ => false,
        };
        self.handle == handle || nodes.iter().any(is_inside)
    }

    /// Whether the graph, or a graph in it, has this kind of node.
    pub(crate) fn contains_action(&self, wanted: &dyn Fn(&NodeAction) -> bool) -> bool {
        let nodes = self.lock_contents().nodes.clone();
        nodes.iter().any(|n| match n.current_action() {
            NodeAction::Child(graph) => graph.contains_action(wanted),
            NodeAction::Conditional(choice) if choice.bodies.iter().any(|body| body.contains_action(wanted)) => true,
            action => wanted(&action),
        })
    }
}

/// A destroyed node destroys its child graph.
fn destroy_child_graph(node: &Node) {
    match node.current_action() {
        NodeAction::Child(graph) => graph.destroy_handles(),
        NodeAction::Conditional(choice) => choice.bodies.iter().for_each(|body| body.destroy_handles()),
        _ => {}
    }
}

/// What a `CUuserObject` stands for: calls the program when its last reference goes.
#[derive(Debug)]
pub(crate) struct UserObject {
    pub(crate) pointer: AssertSend<*mut std::ffi::c_void>,
    pub(crate) destroy: unsafe extern "C" fn(*mut std::ffi::c_void),
}

impl Drop for UserObject {
    fn drop(&mut self) {
        // SAFETY: the program gave this function to be called with this pointer, once.
        unsafe { (self.destroy)(self.pointer.get()) };
    }
}
