//! Graphs: operations with their order, put together once and launched often.
//!
//! Establishes: a node belongs to one graph for as long as both exist, edges join nodes of one
//! graph, and a child graph is a copy of its own that only its node holds. What a node does is
//! replaced as a whole ([`Action`] is immutable), so that an executable graph keeps what it was
//! made from.

pub(crate) mod capture;
pub(crate) mod condition;
pub(crate) mod exec;
pub(crate) mod memory;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rtcg_cuda_sys::{CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraphEdgeData, CUgraphNodeType};

use crate::api::stream_memory::Operation;
use crate::error::{Code, Res, ensure};
use crate::exec::Launch;
use crate::handles::Table;
use crate::objects::{Function, lock};
pub(crate) use condition::{Condition, ConditionalNode};
pub(crate) use memory::GraphMemory;

/// Graphs by handle.
pub(crate) static GRAPHS: Table<Graph> = Table::new(0x1b);
/// Nodes by handle.
pub(crate) static NODES: Table<Node> = Table::new(0x1c);

/// A structure of the program that holds addresses of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssertSend<T>(pub(crate) T);

// SAFETY: the addresses in it are only used as the program that gave them asks for.
unsafe impl<T> Send for AssertSend<T> {}
// SAFETY: as above.
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
    pub(crate) function: Arc<Function>,
    /// Grid, block, packed parameters.
    pub(crate) launch: Launch,
    /// Addresses of the parameters within `launch.params`, for `cuGraphKernelNodeGetParams`.
    pub(crate) pointers: AssertSend<Box<[*mut std::ffi::c_void]>>,
}

impl KernelAction {
    /// A kernel to be launched like this.
    pub(crate) fn new(handle: u64, function: Arc<Function>, launch: Launch) -> KernelAction {
        let start = launch.params.as_ptr();
        let pointer = |p: &crate::module::ParamInfo| start.wrapping_add(p.offset).cast_mut().cast();
        let pointers = AssertSend(function.kernel.params().iter().map(pointer).collect());
        KernelAction { handle, function, launch, pointers }
    }
}

/// What a node does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// Runs a kernel.
    Kernel(Arc<KernelAction>),
    /// Copies a box.
    Copy(AssertSend<CUDA_MEMCPY3D>),
    /// Fills memory.
    Memset(AssertSend<CUDA_MEMSET_NODE_PARAMS>),
    /// Calls a function of the program with a pointer of the program.
    Host(unsafe extern "C" fn(*mut std::ffi::c_void), AssertSend<*mut std::ffi::c_void>),
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
    MemOps(Arc<[Operation]>, Arc<[AssertSend<rtcg_cuda_sys::CUstreamBatchMemOpParams>]>),
}

impl Action {
    /// `cuGraphNodeGetType`
    pub(crate) fn node_type(&self) -> CUgraphNodeType {
        use CUgraphNodeType as T;
        match self {
            Action::Kernel(_) => T::CU_GRAPH_NODE_TYPE_KERNEL,
            Action::Copy(_) => T::CU_GRAPH_NODE_TYPE_MEMCPY,
            Action::Memset(_) => T::CU_GRAPH_NODE_TYPE_MEMSET,
            Action::Host(..) => T::CU_GRAPH_NODE_TYPE_HOST,
            Action::Child(_) => T::CU_GRAPH_NODE_TYPE_GRAPH,
            Action::Conditional(_) => T::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            Action::Empty => T::CU_GRAPH_NODE_TYPE_EMPTY,
            Action::Record(_) => T::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Action::Wait(_) => T::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Action::Alloc(_) => T::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Action::Free(_) => T::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Action::MemOps(..) => T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        }
    }

    /// What a copy of the graph does in its place.
    fn cloned(&self) -> Res<Action> {
        Ok(match self {
            Action::Child(graph) => {
                let copy = graph.cloned()?;
                copy.owned.store(true, Ordering::Relaxed);
                Action::Child(copy)
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
    action: Mutex<Action>,
}

impl Node {
    /// What it does.
    pub(crate) fn action(&self) -> Action {
        lock(&self.action).clone()
    }

    /// Replaces what it does by something of the same type.
    pub(crate) fn set_action(&self, action: Action) -> Res {
        let mut mine = lock(&self.action);
        ensure(mine.node_type() == action.node_type(), Code::INVALID_VALUE)?;
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
    pub(crate) conditions: Mutex<Vec<Arc<Condition>>>,
    /// Objects of the program that live as long as the graph.
    pub(crate) objects: Mutex<Vec<Arc<UserObject>>>,
}

/// Nodes in the order in which they were added, and edges.
#[derive(Debug, Default)]
pub(crate) struct GraphContents {
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) edges: Vec<Edge>,
}

impl GraphContents {
    /// The nodes that come right before a node.
    pub(crate) fn before(&self, node: u64) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.to == node)
    }

    /// The nodes that come right after a node.
    pub(crate) fn after(&self, node: u64) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.from == node)
    }

    fn holds(&self, node: u64) -> bool {
        self.nodes.iter().any(|n| n.handle == node)
    }

    /// The nodes such that each comes after those it depends on, earlier added ones first; `None`
    /// when they form a cycle.
    pub(crate) fn in_order(&self) -> Option<Vec<Arc<Node>>> {
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
    pub(crate) fn create() -> Res<Arc<Graph>> {
        let make = |handle| {
            Arc::new(Graph {
                handle,
                owned: AtomicBool::new(false),
                parts: Mutex::default(),
                conditions: Mutex::default(),
                objects: Mutex::default(),
            })
        };
        GRAPHS.insert_with(make).map(|(_, graph)| graph)
    }

    /// Its nodes and edges.
    pub(crate) fn parts(&self) -> MutexGuard<'_, GraphContents> {
        lock(&self.parts)
    }

    /// Adds a node that comes after others of this graph.
    pub(crate) fn add(&self, action: Action, after: &[u64], origin: u64) -> Res<Arc<Node>> {
        let mut parts = self.parts();
        ensure(after.iter().all(|&n| parts.holds(n)), Code::INVALID_VALUE)?;
        let graph = self.handle;
        let (handle, node) =
            NODES.insert_with(|handle| Arc::new(Node { handle, graph, origin, action: Mutex::new(action) }))?;
        for &from in after {
            if !parts.edges.iter().any(|e| e.from == from && e.to == handle) {
                parts.edges.push(Edge { from, to: handle, data: CUgraphEdgeData::default() });
            }
        }
        parts.nodes.push(node.clone());
        Ok(node)
    }

    /// Adds an edge between nodes of this graph.
    pub(crate) fn join(&self, edge: Edge) -> Res {
        let mut parts = self.parts();
        let good = edge.from != edge.to && parts.holds(edge.from) && parts.holds(edge.to);
        let known = parts.edges.iter().any(|e| e.from == edge.from && e.to == edge.to);
        ensure(good && !known, Code::INVALID_VALUE)?;
        parts.edges.push(edge);
        Ok(())
    }

    /// Takes an edge away.
    pub(crate) fn part(&self, from: u64, to: u64) -> Res {
        let mut parts = self.parts();
        let at = parts.edges.iter().position(|e| e.from == from && e.to == to).ok_or(Code::INVALID_VALUE)?;
        parts.edges.remove(at);
        Ok(())
    }

    /// Takes a node and its edges away.
    pub(crate) fn remove(&self, node: u64) -> Res {
        let mut parts = self.parts();
        parts.nodes.retain(|n| n.handle != node);
        parts.edges.retain(|e| e.from != node && e.to != node);
        drop(parts);
        retire(&*NODES.remove(node)?);
        Ok(())
    }

    /// A copy with nodes of its own.
    pub(crate) fn cloned(&self) -> Res<Arc<Graph>> {
        let copy = Graph::create()?;
        let (nodes, edges) = {
            let parts = self.parts();
            (parts.nodes.clone(), parts.edges.clone())
        };
        let mut names = std::collections::HashMap::new();
        for node in nodes {
            let new = copy.add(node.action().cloned()?, &[], node.handle)?;
            names.insert(node.handle, new.handle);
        }
        let renamed = |e: Edge| Some(Edge { from: *names.get(&e.from)?, to: *names.get(&e.to)?, data: e.data });
        copy.parts().edges = edges.into_iter().filter_map(renamed).collect();
        *lock(&copy.objects) = lock(&self.objects).clone();
        Ok(copy)
    }

    /// Makes its handle and those of its nodes stale.
    pub(crate) fn destroy(&self) {
        // Somebody else may have been faster; then there is nothing to do.
        let _ = GRAPHS.remove(self.handle);
        let nodes = std::mem::take(&mut self.parts().nodes);
        for node in nodes {
            let _ = NODES.remove(node.handle);
            retire(&node);
        }
        // Dropped without the lock: this may call the program.
        drop(std::mem::take(&mut *lock(&self.objects)));
    }

    /// Whether the graph, or a graph in it, has this kind of node.
    pub(crate) fn has(&self, wanted: &dyn Fn(&Action) -> bool) -> bool {
        let nodes = self.parts().nodes.clone();
        nodes.iter().any(|n| match n.action() {
            Action::Child(graph) => graph.has(wanted),
            Action::Conditional(choice) if choice.bodies.iter().any(|body| body.has(wanted)) => true,
            action => wanted(&action),
        })
    }
}

/// A destroyed node destroys its child graph.
fn retire(node: &Node) {
    match node.action() {
        Action::Child(graph) => graph.destroy(),
        Action::Conditional(choice) => choice.bodies.iter().for_each(|body| body.destroy()),
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
