//! Memory that a graph allocates: its address is fixed when the node is made.
//!
//! The memory is there as long as the graph or something made from it; allocating and freeing in
//! a launch only change whether it is in use. Memory that is in use when its graph goes becomes
//! an ordinary allocation, which the program frees.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use rtcg_cuda_sys::CUDA_MEM_ALLOC_NODE_PARAMS;

use super::{AssertSend, Graph, NodeAction};
use crate::memory::heap::MemoryKind;
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::POOL_RESERVATION_BYTES;

static GRAPH_ALLOCATIONS: Mutex<Option<HashMap<u64, Weak<GraphMemory>>>> = Mutex::new(None);
/// By ordinal of the device.
static HIGHEST_BYTES: LazyLock<Mutex<HashMap<u32, [u64; 2]>>> = LazyLock::new(Mutex::default);

/// Memory of an allocation node.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    /// First address.
    pub(crate) start: u64,
    /// As the program asked for it, with the address filled in.
    pub(crate) params: AssertSend<CUDA_MEM_ALLOC_NODE_PARAMS>,
    /// The heap's block, so that a later one at the same address is not taken for it.
    block: u64,
    device: u32,
    in_use: AtomicBool,
    /// Whether an upload or a launch has mapped it, for the report of what graphs hold.
    mapped: AtomicBool,
}

impl GraphMemory {
    /// Memory for an allocation node that comes after some nodes of a graph: what one of these, or one before them,
    /// has freed, if it has the size, else new memory.
    pub(crate) fn for_node(
        graph: &Graph,
        after: &[u64],
        ctx: &Context,
        kind: MemoryKind,
        params: CUDA_MEM_ALLOC_NODE_PARAMS,
    ) -> Res<Arc<GraphMemory>> {
        let reused = freed_memory_before(graph, after).into_iter().find(|m| m.params.0.bytesize == params.bytesize);
        reused.map_or_else(|| GraphMemory::new(ctx, kind, params), Ok)
    }

    fn new(ctx: &Context, kind: MemoryKind, mut params: CUDA_MEM_ALLOC_NODE_PARAMS) -> Res<Arc<GraphMemory>> {
        let block = ctx.alloc_with_retry(params.bytesize, kind, 0, 0)?;
        (params.dptr, params.accessDescs, params.accessDescCount) = (block.start, std::ptr::null(), 0);
        let memory = Arc::new(GraphMemory {
            start: block.start,
            params: AssertSend(params),
            block: block.id,
            device: block.owner.device,
            in_use: AtomicBool::new(false),
            mapped: AtomicBool::new(false),
        });
        GRAPH_ALLOCATIONS.lock().ignore_poison().get_or_insert_default().insert(block.start, Arc::downgrade(&memory));
        Ok(memory)
    }

    /// What a launch leaves behind: whether the memory is allocated and not freed.
    pub(crate) fn set_in_use(&self, in_use: bool) {
        self.in_use.store(in_use, Ordering::Release);
    }

    /// Whether the heap's block is still that of this memory.
    fn has_its_block(&self) -> bool {
        let heap = crate::memory::account::device_heap();
        heap.is_ok_and(|h| h.find_block(self.start).is_some_and(|b| b.id == self.block))
    }

    /// Whether a launch has allocated it and it is not freed.
    pub(crate) fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire)
    }
}

/// Frees memory of a graph, outside of it or in a launch. `None` when the address is none.
pub(crate) fn release_allocation(start: u64) -> Option<Res> {
    let memory = find_allocation(start)?;
    let was = memory.in_use.swap(false, Ordering::AcqRel);
    Some(if was { Ok(()) } else { ResultCode::INVALID_VALUE.err() })
}

/// The memory that a graph allocates at this address. When its context is gone, another block may begin there.
pub(crate) fn find_allocation(start: u64) -> Option<Arc<GraphMemory>> {
    let memory = GRAPH_ALLOCATIONS.lock().ignore_poison().as_ref()?.get(&start)?.upgrade()?;
    memory.has_its_block().then_some(memory)
}

/// Whether an address begins memory of a graph that no launch has allocated: pointers are not known before that.
pub(crate) fn is_unallocated(start: u64) -> bool {
    find_allocation(start).is_some_and(|memory| !memory.is_in_use())
}

/// Fails unless a graph may get another node that frees memory: there are at most as many as nodes that allocate it,
/// one if another graph allocates it.
pub(crate) fn check_free_node(graph: &Graph, start: u64) -> Res {
    ensure(find_allocation(start).is_some(), ResultCode::INVALID_VALUE)?;
    let (mut allocations, mut frees) = (0, 0);
    for node in &graph.lock_contents().nodes {
        match node.current_action() {
            NodeAction::Alloc(memory) if memory.start == start => allocations += 1,
            NodeAction::Free(freed) if freed == start => frees += 1,
            _ => {}
        }
    }
    ensure(frees < allocations.max(1), ResultCode::INVALID_VALUE)
}

/// Memory of a graph that is free where a node begins that comes after others.
fn freed_memory_before(graph: &Graph, after: &[u64]) -> Vec<Arc<GraphMemory>> {
    let parts = graph.lock_contents();
    let (mut before, mut waiting) = (HashSet::new(), after.to_vec());
    while let Some(node) = waiting.pop() {
        if before.insert(node) {
            waiting.extend(parts.dependencies_of(node).map(|edge| edge.from));
        }
    }
    // Allocations less frees, and whether all nodes that free come before.
    let mut known: Vec<(Arc<GraphMemory>, i64, bool)> = Vec::new();
    for node in &parts.nodes {
        match node.current_action() {
            NodeAction::Alloc(memory) => match known.iter_mut().find(|(m, ..)| m.start == memory.start) {
                Some((_, balance, _)) => *balance += 1,
                None => known.push((memory, 1, true)),
            },
            NodeAction::Free(start) => {
                if let Some((_, balance, all_before)) = known.iter_mut().find(|(m, ..)| m.start == start) {
                    *balance -= 1;
                    *all_before &= before.contains(&node.handle);
                }
            }
            _ => {}
        }
    }
    known.into_iter().filter(|&(_, balance, all_before)| balance == 0 && all_before).map(|(m, ..)| m).collect()
}

/// An upload or a launch maps memory.
pub(crate) fn map_memory<'a>(memory: impl Iterator<Item = &'a Arc<GraphMemory>>) {
    let devices: HashSet<u32> = memory
        .map(|m| {
            m.mapped.store(true, Ordering::Release);
            m.device
        })
        .collect();
    for device in devices {
        let bytes = graph_memory_of_device(device);
        let mut highest = HIGHEST_BYTES.lock().ignore_poison();
        highest.entry(device).or_default().iter_mut().for_each(|high| *high = bytes.max(*high));
    }
}

/// Bytes that graphs hold on a device, in the pieces in which a device gives memory to graphs.
pub(crate) fn graph_memory_of_device(device: u32) -> u64 {
    let all = GRAPH_ALLOCATIONS.lock().ignore_poison();
    let all = all.iter().flat_map(HashMap::values).filter_map(Weak::upgrade).collect::<Vec<_>>();
    let is_mapped = |m: &&Arc<GraphMemory>| m.device == device && m.mapped.load(Ordering::Acquire);
    let bytes: u64 = all.iter().filter(is_mapped).map(|m| m.params.0.bytesize as u64).sum();
    bytes.next_multiple_of(POOL_RESERVATION_BYTES)
}

/// The most bytes that graphs held on a device: in use, and reserved. Both grow alike but are reset each by itself.
pub(crate) fn highest_bytes_of_device(device: u32) -> [u64; 2] {
    HIGHEST_BYTES.lock().ignore_poison().get(&device).copied().unwrap_or_default()
}

/// Begins one of the highest values of a device anew.
pub(crate) fn reset_highest_bytes(device: u32, which: usize) {
    let now = graph_memory_of_device(device);
    HIGHEST_BYTES.lock().ignore_poison().entry(device).or_default()[which] = now;
}

/// A device takes back what no graph uses now.
pub(crate) fn trim_graph_memory(device: u32) {
    let all: Vec<_> =
        GRAPH_ALLOCATIONS.lock().ignore_poison().iter().flat_map(HashMap::values).filter_map(Weak::upgrade).collect();
    for memory in all.iter().filter(|m| m.device == device && !m.is_in_use()) {
        memory.mapped.store(false, Ordering::Release);
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        // Its context may have taken it along, and another graph may have memory there.
        let is_mine = self.has_its_block();
        if let Some(all) = GRAPH_ALLOCATIONS.lock().ignore_poison().as_mut()
            && all.get(&self.start).is_some_and(|known| known.strong_count() == 0)
        {
            all.remove(&self.start);
        }
        if is_mine && !*self.in_use.get_mut() {
            let _ = crate::memory::account::free_block(self.start);
        }
    }
}
