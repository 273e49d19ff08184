//! Memory that a graph allocates: its address is fixed when the node is made.
//!
//! The memory is there as long as the graph or something made from it; allocating and freeing in
//! a launch only change whether it is in use. Memory that is in use when its graph goes becomes
//! an ordinary allocation, which the program frees.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use rtcg_cuda_sys::CUDA_MEM_ALLOC_NODE_PARAMS;

use super::AssertSend;
use crate::locks::lock_mutex;
use crate::memory::heap::MemoryKind;
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode};

static GRAPH_ALLOCATIONS: Mutex<Option<HashMap<u64, Weak<GraphMemory>>>> = Mutex::new(None);

/// Memory of an allocation node.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    /// First address.
    pub(crate) start: u64,
    /// As the program asked for it, with the address filled in.
    pub(crate) params: AssertSend<CUDA_MEM_ALLOC_NODE_PARAMS>,
    /// The heap's block, so that a later one at the same address is not taken for it.
    block: u64,
    in_use: AtomicBool,
}

impl GraphMemory {
    /// Memory for an allocation node.
    pub(crate) fn new(ctx: &Context, mut params: CUDA_MEM_ALLOC_NODE_PARAMS) -> Res<Arc<GraphMemory>> {
        let block = ctx.alloc_with_retry(params.bytesize, MemoryKind::Device, 0, 0)?;
        (params.dptr, params.accessDescs, params.accessDescCount) = (block.start, std::ptr::null(), 0);
        let memory = Arc::new(GraphMemory {
            start: block.start,
            params: AssertSend(params),
            block: block.id,
            in_use: AtomicBool::new(false),
        });
        lock_mutex(&GRAPH_ALLOCATIONS).get_or_insert_default().insert(block.start, Arc::downgrade(&memory));
        Ok(memory)
    }

    /// A launch allocates it. False when it is in use.
    pub(crate) fn mark_in_use(&self) -> bool {
        !self.in_use.swap(true, Ordering::AcqRel)
    }

    /// Whether a launch has allocated it and it is not freed.
    pub(crate) fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire)
    }
}

/// Frees memory of a graph, outside of it or in a launch. `None` when the address is none.
pub(crate) fn release_allocation(start: u64) -> Option<Res> {
    let memory = lock_mutex(&GRAPH_ALLOCATIONS).as_ref()?.get(&start)?.upgrade()?;
    let was = memory.in_use.swap(false, Ordering::AcqRel);
    Some(if was { Ok(()) } else { ResultCode::INVALID_VALUE.err() })
}

/// The memory that a graph allocates at this address.
pub(crate) fn find_allocation(start: u64) -> Option<Arc<GraphMemory>> {
    lock_mutex(&GRAPH_ALLOCATIONS).as_ref()?.get(&start)?.upgrade()
}

/// Bytes in use, and bytes in all, that graphs hold on a device.
pub(crate) fn graph_memory_usage_of_device(device: u32) -> (u64, u64) {
    let all: Vec<_> =
        lock_mutex(&GRAPH_ALLOCATIONS).iter().flat_map(HashMap::values).filter_map(Weak::upgrade).collect();
    let mine = |m: &&Arc<GraphMemory>| {
        crate::memory::account::device_heap()
            .is_ok_and(|h| h.find_block(m.start).is_some_and(|b| b.owner.device == device))
    };
    let bytes = |m: &Arc<GraphMemory>| m.params.0.bytesize as u64;
    let used = all.iter().filter(mine).filter(|m| m.is_in_use()).map(bytes).sum();
    (used, all.iter().filter(mine).map(bytes).sum())
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        if let Some(all) = lock_mutex(&GRAPH_ALLOCATIONS).as_mut() {
            all.remove(&self.start);
        }
        // Its context may have taken it along.
        let is_mine = crate::memory::account::device_heap()
            .is_ok_and(|h| h.find_block(self.start).is_some_and(|b| b.id == self.block));
        if is_mine && !*self.in_use.get_mut() {
            let _ = crate::memory::account::free_block(self.start);
        }
    }
}
