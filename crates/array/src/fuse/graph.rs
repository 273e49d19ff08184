//! The expression graph of deferred values, each stored once.

use super::scope::DeferredBuffer;
use crate::array::GpuArray;
use crate::layout::Shape;
use crate::scalar::ScalarElement;
use rtcg_codegen::array::Op;
use rtcg_hal::{ArrayContext, DType};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Weak};

/// A graph is computed when it has so many values: compiling takes longer than in proportion.
const MAX_NODES: usize = 192;

/// Bytes of kernel arguments that may be strides.
const MAX_STRIDE_ARG_BYTES: usize = 2800;

/// Arrays of a kernel, outputs included.
const MAX_OPERANDS: usize = 31;

/// No input.
pub(super) const NO_INPUT: u16 = u16::MAX;

/// A value of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FusionNode {
    /// The elements of `leaves[..]`.
    Leaf(u16),
    /// `values[..]`.
    Value(u16),
    /// An operation on earlier nodes, [`NO_INPUT`] after the last one: what it is computed in, and what the result is
    /// stored as.
    Op { op: Op, compute: DType, out: DType, inputs: [u16; 4] },
}

/// What makes two leaves the same: address, dtype, shape and strides.
type LeafKey = (u64, DType, Shape, crate::layout::Strides);

/// A result that goes to memory that exists.
#[derive(Debug)]
pub(super) struct PendingStore {
    pub(super) target: GpuArray,
    pub(super) node: u16,
}

/// Values that were deferred and not computed yet.
#[derive(Default)]
pub(super) struct FusionGraph {
    pub(super) ctx: Option<Arc<ArrayContext>>,
    pub(super) nodes: Vec<FusionNode>,
    node_ids: FxHashMap<FusionNode, u16>,
    pub(super) leaves: Vec<GpuArray>,
    leaf_ids: FxHashMap<LeafKey, u16>,
    pub(super) values: Vec<(ScalarElement, DType)>,
    /// Results in memory that does not exist yet.
    pub(super) results: Vec<Weak<DeferredBuffer>>,
    /// Results in memory that exists; all of one shape.
    pub(super) stores: Vec<PendingStore>,
    max_ndim: usize,
}

/// The first and the last byte past an array with memory.
fn address_range(array: &GpuArray) -> Option<(u64, u64)> {
    let base = array.buffer()?.device_ptr();
    let (low, high) = array.layout().byte_extent(array.itemsize());
    Some((base.wrapping_add(low as u64), base.wrapping_add(high as u64)))
}

fn may_overlap(a: &GpuArray, b: &GpuArray) -> bool {
    match (address_range(a), address_range(b)) {
        (Some((a, a_end)), Some((b, b_end))) => a < b_end && b < a_end,
        _ => false,
    }
}

/// Whether two arrays have the same elements at the same places.
fn is_same_view(a: &GpuArray, b: &GpuArray) -> bool {
    address_of(a) == address_of(b) && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides()
}

fn address_of(array: &GpuArray) -> u64 {
    array.buffer().map_or(0, |buffer| buffer.device_ptr()).wrapping_add(array.layout().offset as u64)
}

/// Whether an operation that reads `array` may write `target`: never another element than its own.
pub(super) fn has_no_write_hazard(target: &GpuArray, array: &GpuArray) -> bool {
    !may_overlap(target, array) || is_same_view(target, array)
}

/// Whether no two indices share an element, as far as strides tell.
pub(super) fn is_writable(array: &GpuArray) -> bool {
    array.shape().iter().zip(array.strides()).all(|(&length, &stride)| length == 1 || stride != 0)
}

/// Arrays that a kernel over `ndim` axes may have, and outputs among them.
pub(super) fn max_arrays(ndim: usize) -> (usize, usize) {
    let room = (MAX_STRIDE_ARG_BYTES / (8 * ndim.max(1))).clamp(5, MAX_OPERANDS);
    (room, (room / 4).max(1))
}

impl FusionGraph {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether `n_leaves` more arrays for an operation over `ndim` axes must wait for the next graph.
    pub(super) fn is_full(&self, n_leaves: usize, ndim: usize) -> bool {
        let (room, outputs) = max_arrays(self.max_ndim.max(ndim));
        !self.is_empty() && (self.nodes.len() >= MAX_NODES || self.leaves.len() + n_leaves > room - outputs)
    }

    pub(super) fn update_max_ndim(&mut self, ndim: usize) {
        self.max_ndim = self.max_ndim.max(ndim);
    }

    /// Whether an array in memory can be read here: a pending store may stand for it or forbid it.
    pub(super) fn can_read(&self, array: &GpuArray) -> bool {
        self.stores.iter().all(|store| has_no_write_hazard(&store.target, array))
    }

    /// Whether a result can go to `target` in this graph.
    pub(super) fn can_write(&self, target: &GpuArray) -> bool {
        let is_known = self.stores.iter().any(|store| is_same_view(&store.target, target));
        let mut targets = self.stores.iter().map(|store| &store.target);
        (is_known || self.stores.len() < max_arrays(self.max_ndim.max(target.ndim())).1)
            && targets.all(|other| other.shape() == target.shape() && has_no_write_hazard(other, target))
            && self.leaves.iter().all(|leaf| has_no_write_hazard(target, leaf))
    }

    /// The node of an array in memory, which [`FusionGraph::can_read`] has allowed.
    pub(super) fn intern_array(&mut self, array: &GpuArray) -> u16 {
        if let Some(store) = self.stores.iter().find(|store| is_same_view(&store.target, array)) {
            return store.node;
        }
        let key = (address_of(array), array.dtype(), array.layout().shape.clone(), array.layout().strides.clone());
        let next = self.leaves.len() as u16;
        let index = *self.leaf_ids.entry(key).or_insert(next);
        if index == next {
            self.leaves.push(array.clone());
        }
        self.intern_node(FusionNode::Leaf(index))
    }

    /// The node of a number. Equal numbers share one only if they are the same bits.
    pub(super) fn intern_constant(&mut self, element: ScalarElement, dtype: DType) -> u16 {
        let same = |known: &(ScalarElement, DType)| known.1 == dtype && known.0.bytes() == element.bytes();
        let index = self.values.iter().position(same).unwrap_or_else(|| {
            self.values.push((element, dtype));
            self.values.len() - 1
        });
        self.intern_node(FusionNode::Value(index as u16))
    }

    /// The node that equals `node`, which is added unless there is one.
    pub(super) fn intern_node(&mut self, node: FusionNode) -> u16 {
        let next = self.nodes.len() as u16;
        let index = *self.node_ids.entry(node).or_insert(next);
        if index == next {
            self.nodes.push(node);
        }
        index
    }

    /// The value of `target` is from now on that of `node`.
    pub(super) fn set_pending_store(&mut self, target: &GpuArray, node: u16) {
        match self.stores.iter_mut().find(|store| is_same_view(&store.target, target)) {
            Some(store) => store.node = node,
            None => self.stores.push(PendingStore { target: target.clone(), node }),
        }
    }

    /// The nodes that `outputs` need, in an order in which they can be computed.
    pub(super) fn reachable_nodes(&self, outputs: impl Iterator<Item = u16>) -> Vec<u16> {
        let mut needed = vec![false; self.nodes.len()];
        outputs.for_each(|output| needed[usize::from(output)] = true);
        for at in (0..self.nodes.len()).rev() {
            if let (true, FusionNode::Op { inputs, .. }) = (needed[at], self.nodes[at]) {
                let used = inputs.iter().filter(|input| **input != NO_INPUT);
                used.for_each(|input| needed[usize::from(*input)] = true);
            }
        }
        (0..self.nodes.len()).filter(|at| needed[*at]).map(|at| at as u16).collect()
    }
}
