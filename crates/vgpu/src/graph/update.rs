//! What may change in an executable graph: the rules of `cuGraphExecUpdate`, and of the calls that replace one node's
//! parameters.

use super::exec::ExecNode;
use super::{AssertSend, NodeAction};
use crate::memory::account::device_heap;
use crate::memory::heap::MemoryKind;
use std::collections::BTreeSet;

use rtcg_cuda_sys::{
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUmemorytype, CUstreamBatchMemOpParams, CUstreamBatchMemOpType,
};

/// How a graph differs from the one that was instantiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphDifference {
    /// Other nodes or edges.
    Topology,
    /// A node of another type.
    Type,
    /// A parameter that cannot change.
    Parameters,
    /// An attribute of a kernel that cannot change.
    Attributes,
    /// Another number of nodes, for the older form of the call.
    Unsupported,
}

/// How the nodes of the two graphs are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodePairing {
    /// By their place in the order in which they run.
    Order,
    /// By their place in the order in which they were added: the older form of the call.
    Addition,
}

/// Why an executable graph cannot take over a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UpdateProblem {
    pub(crate) difference: GraphDifference,
    /// The node of the new graph where it differs; 0 for none.
    pub(crate) node: u64,
    /// The node before it that the instantiated graph does not have there; 0 for none.
    pub(crate) from: u64,
}

fn problem<T>(difference: GraphDifference, node: u64) -> Result<T, UpdateProblem> {
    Err(UpdateProblem { difference, node, from: 0 })
}

/// Whether the nodes of `old` can take over what those of `new` do.
pub(super) fn check_update(old: &[ExecNode], new: &[ExecNode], pairing: NodePairing) -> Result<(), UpdateProblem> {
    if pairing == NodePairing::Addition {
        check_update_by_addition(old, new)?;
    }
    // A device names no node for a difference that is not at one.
    let (before, now) = (exit_nodes(old), exit_nodes(new));
    if old.len() != new.len() || now.len() < before.len() {
        return problem(GraphDifference::Topology, 0);
    }
    if now.len() > before.len() {
        return problem(GraphDifference::Topology, now.first().map_or(0, |n| n.node));
    }
    old.iter().zip(new).try_for_each(|(o, n)| check_node(o, n, new, pairing))
}

/// What the older form of the call looks at first: the nodes' number, and the edges between nodes of the same numbers.
fn check_update_by_addition(old: &[ExecNode], new: &[ExecNode]) -> Result<(), UpdateProblem> {
    if old.len() != new.len() {
        return problem(GraphDifference::Unsupported, 0);
    }
    let edges = |body: &[ExecNode]| {
        let ends = |n: &ExecNode| n.after.iter().map(|&from| (body[from].added, n.added)).collect::<Vec<_>>();
        body.iter().flat_map(ends).collect::<BTreeSet<(usize, usize)>>()
    };
    let (before, now) = (edges(old), edges(new));
    match now.symmetric_difference(&before).next() {
        None => Ok(()),
        Some(&(_, to)) => {
            let node = new.iter().find(|n| n.added == to).map_or(0, |n| n.node);
            problem(GraphDifference::Topology, node)
        }
    }
}

fn check_node(old: &ExecNode, new: &ExecNode, graph: &[ExecNode], pairing: NodePairing) -> Result<(), UpdateProblem> {
    if old.action.node_type() != new.action.node_type() {
        return problem(GraphDifference::Type, new.node);
    }
    if old.after != new.after {
        let other = new.after.iter().zip(&old.after).find(|(n, o)| n != o && new.after.len() == old.after.len());
        let from = other.map_or(0, |(&n, _)| graph[n].node);
        return Err(UpdateProblem { difference: GraphDifference::Topology, node: new.node, from });
    }
    if !can_replace(&old.action, &new.action) {
        return problem(GraphDifference::Parameters, new.node);
    }
    if !has_same_fixed_attributes(&old.action, &new.action) {
        return problem(GraphDifference::Attributes, new.node);
    }
    check_update_of_bodies(&old.inside, &new.inside, pairing)
}

pub(super) fn check_update_of_bodies(
    old: &[Vec<ExecNode>],
    new: &[Vec<ExecNode>],
    pairing: NodePairing,
) -> Result<(), UpdateProblem> {
    if old.len() != new.len() {
        return problem(GraphDifference::Parameters, 0);
    }
    old.iter().zip(new).try_for_each(|(old, new)| check_update(old, new, pairing))
}

/// Whether attributes are equal that an update cannot change; the others are advice.
fn has_same_fixed_attributes(old: &NodeAction, new: &NodeAction) -> bool {
    match (old, new) {
        (NodeAction::Kernel(old), NodeAction::Kernel(new)) => old.launch.cooperative == new.launch.cooperative,
        _ => true,
    }
}

/// The nodes after which nothing comes.
fn exit_nodes(body: &[ExecNode]) -> Vec<&ExecNode> {
    let mut is_exit = vec![true; body.len()];
    body.iter().flat_map(|n| &n.after).for_each(|&before| is_exit[before] = false);
    body.iter().zip(is_exit).filter_map(|(node, is_exit)| is_exit.then_some(node)).collect()
}

/// Whether a node may do the one instead of the other, which is of the same type.
pub(super) fn can_replace(old: &NodeAction, new: &NodeAction) -> bool {
    match (old, new) {
        (NodeAction::Copy(old), NodeAction::Copy(new)) => copy_ends(&old.get()) == copy_ends(&new.get()),
        (NodeAction::MemOps(_, old), NodeAction::MemOps(_, new)) => mem_op_types(old).eq(mem_op_types(new)),
        (NodeAction::Memset(old), NodeAction::Memset(new)) => memset_shape(&old.get()) == memset_shape(&new.get()),
        _ => true,
    }
}

/// What a batch of operations keeps; addresses, values and comparisons may change.
fn mem_op_types(given: &[AssertSend<CUstreamBatchMemOpParams>]) -> impl Iterator<Item = CUstreamBatchMemOpType> {
    // SAFETY: every member of the union begins with the type.
    given.iter().map(|given| unsafe { given.get().operation })
}

/// What a fill of several rows keeps; one of a single row may become any other of a single row.
fn memset_shape(fill: &CUDA_MEMSET_NODE_PARAMS) -> Option<(usize, usize, u32)> {
    (fill.height > 1).then_some((fill.height, fill.width, fill.elementSize))
}

/// Source and destination: a copy keeps its direction.
fn copy_ends(copy: &CUDA_MEMCPY3D) -> [CUmemorytype; 2] {
    [place_of(copy.srcMemoryType, copy.srcDevice), place_of(copy.dstMemoryType, copy.dstDevice)]
}

/// The memory that a type and an address stand for: an address that is not of a device's is the host's.
fn place_of(kind: CUmemorytype, address: u64) -> CUmemorytype {
    if !matches!(kind, CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED) {
        return kind;
    }
    let block = device_heap().ok().and_then(|heap| heap.find_block(address));
    let is_host = match block {
        Some(block) => block.kind == MemoryKind::Host,
        None => kind == CUmemorytype::CU_MEMORYTYPE_UNIFIED,
    };
    if is_host { CUmemorytype::CU_MEMORYTYPE_HOST } else { CUmemorytype::CU_MEMORYTYPE_DEVICE }
}
