//! Graphs as a whole: making, copying, destroying, their structure, what they look like.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, str_from_c, write_out};
use crate::device::device_by_ordinal;
use crate::graph::{AssertSend, Edge, GRAPHS, Graph, GraphConditional, NODES, Node, NodeAction, UserObject, memory};
use crate::stream::context::context_by_handle;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};

/// Objects of the program that graphs keep.
static USER_OBJECTS: HandleTable<UserObjectHandle> = HandleTable::new(0x1e);

/// What the program knows an object by: valid as long as the program or a graph keeps the object.
struct UserObjectHandle {
    object: Weak<UserObject>,
    /// The program's references, as one, and how many they are.
    own: Mutex<(Option<Arc<UserObject>>, c_uint)>,
}

fn user_object_from_handle(handle: CUuserObject) -> Res<Arc<UserObject>> {
    let known = USER_OBJECTS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE)?;
    known.object.upgrade().ok_or(ResultCode::INVALID_VALUE.into())
}

/// The graph of a handle.
pub(crate) fn graph_from_handle(handle: CUgraph) -> Res<Arc<Graph>> {
    GRAPHS.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE)
}

/// The node of a handle.
pub(crate) fn node_from_handle(handle: CUgraphNode) -> Res<Arc<Node>> {
    NODES.get_object_or(handle.handle_number(), ResultCode::INVALID_VALUE)
}

/// The graph that a node is part of.
pub(crate) fn graph_of_node(node: &Node) -> Res<Arc<Graph>> {
    GRAPHS.get_object_or(node.graph, ResultCode::INVALID_VALUE)
}

/// The handles of an array of nodes.
///
/// # Safety
/// `nodes` has `n` elements, or `n` is 0.
pub(crate) unsafe fn node_handles(nodes: *const CUgraphNode, n: usize) -> Res<Vec<u64>> {
    ensure(n == 0 || !nodes.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    Ok((0..n).map(|i| unsafe { nodes.add(i).read_unaligned() }.handle_number()).collect())
}

/// Tells how many there are when `place` is null, else fills the places that there are, nulls
/// behind the last one, and tells how many were filled.
///
/// # Safety
/// `place` is null or has `*n` elements; `n` is null or valid.
unsafe fn write_node_list(place: *mut CUgraphNode, n: *mut usize, list: &[u64]) -> Res {
    ensure(!n.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    unsafe {
        if place.is_null() {
            return write_out(n, list.len());
        }
        let room = n.read_unaligned();
        ensure(room > 0, ResultCode::INVALID_VALUE)?;
        for i in 0..room {
            place.add(i).write_unaligned(CUgraphNode::from_handle_number(list.get(i).copied().unwrap_or(0)));
        }
        write_out(n, room.min(list.len()))
    }
}

/// # Safety
/// As [`write_node_list`]; `data` is null or has as many elements.
unsafe fn write_edges(
    place: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    n: *mut usize,
    edges: &[(u64, CUgraphEdgeData)],
) -> Res {
    ensure(!n.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    unsafe {
        if !data.is_null() && !place.is_null() {
            for (i, (_, edge)) in edges.iter().enumerate().take(n.read_unaligned()) {
                data.add(i).write_unaligned(*edge);
            }
        } else {
            check_edge_data_not_lost(place.is_null(), edges.iter().map(|e| &e.1))?;
        }
        let nodes: Vec<u64> = edges.iter().map(|e| e.0).collect();
        write_node_list(place, n, &nodes)
    }
}

/// Callers that do not ask for the edges' data may not miss any.
fn check_edge_data_not_lost<'a>(only_counts: bool, mut data: impl Iterator<Item = &'a CUgraphEdgeData>) -> Res {
    ensure(only_counts || data.all(is_default_edge_data), ResultCode::LOSSY_QUERY)
}

fn is_default_edge_data(data: &CUgraphEdgeData) -> bool {
    data.from_port == 0 && data.to_port == 0 && data.type_ == 0
}

/// # Safety
/// Each array has `n` elements; `data` may be null.
unsafe fn edges_from_arrays(
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    n: usize,
) -> Res<Vec<Edge>> {
    // SAFETY: this function's contract.
    let (from, to) = unsafe { (node_handles(from, n)?, node_handles(to, n)?) };
    let data_at = |i: usize| {
        // SAFETY: not null, so it has `n` elements by this function's contract.
        if data.is_null() { CUgraphEdgeData::default() } else { unsafe { data.add(i).read_unaligned() } }
    };
    Ok((0..n).map(|i| Edge { from: from[i], to: to[i], data: data_at(i) }).collect())
}

/// # Safety
/// As [`write_node_list`], for both arrays.
unsafe fn write_graph_edges(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    n: *mut usize,
) -> Res {
    ensure(!n.is_null() && from.is_null() == to.is_null(), ResultCode::INVALID_VALUE)?;
    let edges = self::graph_from_handle(graph)?.lock_contents().edges.clone();
    // SAFETY: this function's contract.
    unsafe {
        let room = n.read_unaligned();
        let sources: Vec<_> = edges.iter().map(|e| (e.from, e.data)).collect();
        write_edges(from, data, n, &sources)?;
        if !to.is_null() {
            n.write_unaligned(room);
        }
        let targets: Vec<u64> = edges.iter().map(|e| e.to).collect();
        write_node_list(to, n, &targets)
    }
}

fn adjacent_nodes(node: CUgraphNode, before: bool) -> Res<Vec<(u64, CUgraphEdgeData)>> {
    let node = self::node_from_handle(node)?;
    let graph = graph_of_node(&node)?;
    let parts = graph.lock_contents();
    Ok(match before {
        true => parts.dependencies_of(node.handle).map(|e| (e.from, e.data)).collect(),
        false => parts.dependents_of(node.handle).map(|e| (e.to, e.data)).collect(),
    })
}

fn dot_label(action: &NodeAction) -> String {
    match action {
        NodeAction::Kernel(k) => {
            let (g, b) = (k.launch.grid, k.launch.block);
            format!(
                "{}\\n<<<({}, {}, {}), ({}, {}, {}), {}>>>",
                k.function.kernel.name(),
                g[0],
                g[1],
                g[2],
                b[0],
                b[1],
                b[2],
                k.launch.dynamic_shared
            )
        }
        NodeAction::Copy(c) => format!("memcpy\\n{} x {} x {} bytes", c.0.WidthInBytes, c.0.Height, c.0.Depth),
        NodeAction::Memset(s) => {
            format!("memset\\n{:#x}: {} x {} of {} bytes", s.0.dst, s.0.width, s.0.height, s.0.elementSize)
        }
        NodeAction::Host(..) => "host".into(),
        NodeAction::External(..) => "collective".into(),
        NodeAction::Child(_) => "graph".into(),
        NodeAction::Conditional(c) => format!("{}\\n{} graphs", c.kind.name().unwrap_or("conditional"), c.bodies.len()),
        NodeAction::Empty => "empty".into(),
        NodeAction::Record(_) => "event record".into(),
        NodeAction::Wait(_) => "event wait".into(),
        NodeAction::Alloc(m) => format!("alloc\\n{:#x}: {} bytes", m.start, m.params.0.bytesize),
        NodeAction::Free(start) => format!("free\\n{start:#x}"),
        NodeAction::MemOps(ops, _) => format!("memory operations\\n{}", ops.len()),
    }
}

/// The graph in the language of Graphviz; the graph itself and child graphs are clusters.
fn write_dot(graph: &Graph, out: &mut String) {
    let (nodes, edges) = {
        let parts = graph.lock_contents();
        (parts.nodes.clone(), parts.edges.clone())
    };
    // Writing to a string cannot fail.
    for n in &nodes {
        let action = n.current_action();
        let _ = writeln!(out, "  \"{:x}\" [shape=\"box\" label=\"{}\"];", n.handle, dot_label(&action));
        if let NodeAction::Child(child) = action {
            let _ = writeln!(out, "  subgraph cluster_{:x} {{", child.handle);
            write_dot(&child, out);
            let _ = writeln!(out, "  }}");
        } else if let NodeAction::Conditional(choice) = action {
            for body in &choice.bodies {
                let _ = writeln!(out, "  subgraph cluster_{:x} {{", body.handle);
                write_dot(body, out);
                let _ = writeln!(out, "  }}");
            }
        }
    }
    for e in &edges {
        let _ = writeln!(out, "  \"{:x}\" -> \"{:x}\";", e.from, e.to);
    }
}

driver_functions! {
    fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) {
        ensure(flags == 0 && !phGraph.is_null(), ResultCode::INVALID_VALUE)?;
        write_out(phGraph, CUgraph::from_handle_number(Graph::create_graph()?.handle))
    }

    fn cuGraphDestroy(hGraph: CUgraph) {
        let graph = graph_from_handle(hGraph)?;
        // A child graph goes with its node.
        ensure(!graph.owned.load(Ordering::Relaxed), ResultCode::INVALID_VALUE)?;
        graph.destroy_handles();
        Ok(())
    }

    fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) {
        ensure(!phGraphClone.is_null(), ResultCode::INVALID_VALUE)?;
        let original = graph_from_handle(originalGraph)?;
        // Memory has one address, which two graphs cannot both give out.
        // Nor can kernels of a copy set another condition than those of the original.
        let unique = |a: &NodeAction| matches!(a, NodeAction::Alloc(_) | NodeAction::Free(_) | NodeAction::Conditional(_));
        ensure(!original.contains_action(&unique), ResultCode::NOT_SUPPORTED)?;
        write_out(phGraphClone, CUgraph::from_handle_number(original.clone_graph()?.handle))
    }

    fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph) {
        let original = node_from_handle(hOriginalNode)?;
        let found = graph_from_handle(hClonedGraph)?.lock_contents().nodes.iter().find(|n| n.origin == original.handle).map(|n| n.handle);
        write_out(phNode, CUgraphNode::from_handle_number(found.ok_or(ResultCode::INVALID_VALUE)?))
    }

    fn cuGraphNodeGetType(hNode: CUgraphNode, type_: *mut CUgraphNodeType) {
        write_out(type_, node_from_handle(hNode)?.current_action().node_type())
    }

    fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) {
        let all: Vec<u64> = graph_from_handle(hGraph)?.lock_contents().nodes.iter().map(|n| n.handle).collect();
        write_node_list(nodes, numNodes, &all)
    }

    fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize) {
        let graph = graph_from_handle(hGraph)?;
        let roots: Vec<u64> = {
            let parts = graph.lock_contents();
            parts.nodes.iter().map(|n| n.handle).filter(|&n| parts.dependencies_of(n).next().is_none()).collect()
        };
        write_node_list(rootNodes, numRootNodes, &roots)
    }

    fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize) {
        write_graph_edges(hGraph, from, to, edgeData, numEdges)
    }

    fn cuGraphGetEdges_v1(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) {
        write_graph_edges(hGraph, from, to, std::ptr::null_mut(), numEdges)
    }

    fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize) {
        write_edges(dependencies, edgeData, numDependencies, &adjacent_nodes(hNode, true)?)
    }

    fn cuGraphNodeGetDependencies_v1(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize) {
        write_edges(dependencies, std::ptr::null_mut(), numDependencies, &adjacent_nodes(hNode, true)?)
    }

    fn cuGraphNodeGetDependentNodes(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize) {
        write_edges(dependentNodes, edgeData, numDependentNodes, &adjacent_nodes(hNode, false)?)
    }

    fn cuGraphNodeGetDependentNodes_v1(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize) {
        write_edges(dependentNodes, std::ptr::null_mut(), numDependentNodes, &adjacent_nodes(hNode, false)?)
    }

    fn cuGraphAddDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize) {
        // Programmatic launches begin when the node before has ended, which is a way to do it.
        graph_from_handle(hGraph)?.add_edges(edges_from_arrays(from, to, edgeData, numDependencies)?)
    }

    fn cuGraphAddDependencies_v1(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize) {
        graph_from_handle(hGraph)?.add_edges(edges_from_arrays(from, to, std::ptr::null(), numDependencies)?)
    }

    fn cuGraphRemoveDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize) {
        graph_from_handle(hGraph)?.remove_edges(&edges_from_arrays(from, to, edgeData, numDependencies)?)
    }

    fn cuGraphRemoveDependencies_v1(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize) {
        graph_from_handle(hGraph)?.remove_edges(&edges_from_arrays(from, to, std::ptr::null(), numDependencies)?)
    }

    fn cuGraphDestroyNode(hNode: CUgraphNode) {
        let node = node_from_handle(hNode)?;
        ensure(!matches!(node.current_action(), NodeAction::Alloc(_) | NodeAction::Free(_)), ResultCode::NOT_SUPPORTED)?;
        graph_of_node(&node)?.remove_node(node.handle)
    }

    fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint) {
        let _ = flags;
        let (graph, path) = (graph_from_handle(hGraph)?, str_from_c(path)?);
        let mut out = format!("digraph dot {{\nsubgraph cluster_{:x} {{\n", graph.handle);
        write_dot(&graph, &mut out);
        out.push_str("}\n}\n");
        std::fs::write(path, out).map_err(|e| ResultCode::OPERATING_SYSTEM.with_detail(format!("{path}: {e}")))
    }

    fn cuDeviceGraphMemTrim(dev: CUdevice) {
        memory::trim_graph_memory(device_by_ordinal(dev)?.ordinal);
        crate::memory::account::device_heap()?.trim_free_pages();
        Ok(())
    }

    fn cuDeviceGetGraphMemAttribute(dev: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        let device = device_by_ordinal(dev)?.ordinal;
        ensure(attr.0 <= 3, ResultCode::INVALID_VALUE)?;
        // Used and reserved, each as it is and as it was at most: what graphs hold is all in use.
        let bytes = match attr.0 {
            0 | 2 => memory::graph_memory_of_device(device),
            _ => memory::highest_bytes_of_device(device)[attr.0 as usize / 2],
        };
        write_out(value.cast::<u64>(), bytes)
    }

    fn cuDeviceSetGraphMemAttribute(dev: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        let device = device_by_ordinal(dev)?.ordinal;
        // Only the highest values may be set, to zero.
        ensure(matches!(attr.0, 1 | 3) && !value.is_null(), ResultCode::INVALID_VALUE)?;
        ensure(value.cast::<u64>().read_unaligned() == 0, ResultCode::INVALID_VALUE)?;
        memory::reset_highest_bytes(device, attr.0 as usize / 2);
        Ok(())
    }

    fn cuUserObjectCreate(object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint, flags: c_uint) {
        let destroy = destroy.ok_or(ResultCode::INVALID_VALUE)?;
        // The one flag says that the program does not rely on waiting for the destructor.
        ensure(flags == 1 && (1..=c_int::MAX as c_uint).contains(&initialRefcount) && !object_out.is_null(), ResultCode::INVALID_VALUE)?;
        let object = Arc::new(UserObject { pointer: AssertSend(ptr), destroy });
        let make = |_| Arc::new(UserObjectHandle { object: Arc::downgrade(&object), own: Mutex::new((Some(object), initialRefcount)) });
        write_out(object_out, CUuserObject::from_handle_number(USER_OBJECTS.insert_with(make)?.0))
    }

    fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        ensure(count > 0, ResultCode::INVALID_VALUE)?;
        let kept = user_object_from_handle(object)?;
        let known = USER_OBJECTS.get_object_or(object.handle_number(), ResultCode::INVALID_VALUE)?;
        let mut own = known.own.lock().ignore_poison();
        *own = (Some(kept), own.1.checked_add(count).ok_or(ResultCode::INVALID_VALUE)?);
        Ok(())
    }

    fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        release_user_object(object, count)
    }

    fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        ensure(count > 0 && flags <= 1, ResultCode::INVALID_VALUE)?;
        let (graph, kept) = (self::graph_from_handle(graph)?, user_object_from_handle(object)?);
        graph.objects.lock().ignore_poison().extend((0..count).map(|_| kept.clone()));
        drop(kept);
        // With the flag the program's references become the graph's.
        if flags == 1 { release_user_object(object, count) } else { Ok(()) }
    }

    fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        ensure(count > 0, ResultCode::INVALID_VALUE)?;
        let (graph, released) = (self::graph_from_handle(graph)?, user_object_from_handle(object)?);
        let mut gone = Vec::new();
        let mut objects = graph.objects.lock().ignore_poison();
        for _ in 0..count {
            let at = objects.iter().position(|o| Arc::ptr_eq(o, &released)).ok_or(ResultCode::INVALID_VALUE)?;
            gone.push(objects.swap_remove(at));
        }
        Ok(())
    }

    fn cuGraphConditionalHandleCreate(pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint) {
        ensure(!pHandle_out.is_null() && flags <= 1, ResultCode::INVALID_VALUE)?;
        let graph = graph_from_handle(hGraph)?;
        // Null is no context here.
        context_by_handle(ctx.handle_number())?;
        let (number, condition) = GraphConditional::create((flags == 1).then_some(defaultLaunchValue));
        graph.conditions.lock().ignore_poison().push(condition);
        write_out(pHandle_out, number)
    }
}

fn release_user_object(object: CUuserObject, count: c_uint) -> Res {
    ensure(count > 0, ResultCode::INVALID_VALUE)?;
    let known = USER_OBJECTS.get_object_or(object.handle_number(), ResultCode::INVALID_VALUE)?;
    let mut own = known.own.lock().ignore_poison();
    own.1 = own.1.checked_sub(count).ok_or(ResultCode::INVALID_VALUE)?;
    // Dropped without the lock: it may call the program.
    let gone = if own.1 == 0 { own.0.take() } else { None };
    drop(own);
    drop(gone);
    if known.object.strong_count() == 0 {
        USER_OBJECTS.remove_object(object.handle_number())?;
    }
    Ok(())
}
