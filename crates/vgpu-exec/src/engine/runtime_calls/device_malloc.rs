//! `device_malloc` and `device_free` in device code.
//!
//! Establishes: allocations are 16-byte aligned, live until freed (beyond the kernel), and never
//! exceed `limits::malloc_heap_bytes` in all. What was freed last is handed out first, as by a device. When accesses are checked, freed memory is not used again.
//! What `device_free` is given must come from `device_malloc`.

use super::{ensure_stack, lane_indices, raise_fault, warp_of_ctx};
use crate::check::{self, shadow};
use crate::limits;
use crate::window::device_window;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::{IgnorePoison, LaneValues};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

const MALLOC_ALIGNMENT: usize = 16;
/// Freed allocations that are remembered, so that a report can name them.
const MAX_FREED_HISTORY: usize = 256;

#[derive(Debug, Default)]
struct MallocHeap {
    /// Free ranges, start to length, never adjacent; without the last one freed.
    free: BTreeMap<usize, usize>,
    /// Start and length of the range that was freed last.
    last_freed: Option<(usize, usize)>,
    /// Start to the bytes asked for and the bytes taken.
    used: BTreeMap<usize, (usize, usize)>,
    /// Start and size of what was freed, oldest first.
    freed: VecDeque<(usize, usize)>,
    used_bytes: usize,
    /// End of what was ever handed out or is free.
    top: usize,
}

static MALLOC_HEAP: Mutex<Option<MallocHeap>> = Mutex::new(None);

fn lock_malloc_heap() -> MutexGuard<'static, Option<MallocHeap>> {
    MALLOC_HEAP.lock().ignore_poison()
}

/// Forgets all allocations and gives their memory back: the context that owns them was destroyed.
pub fn reset_heap() {
    let Some(heap) = lock_malloc_heap().take() else { return };
    let Ok(w) = device_window() else { return };
    let start = w.malloc_area().start;
    shadow::mark_freed(start, heap.top.saturating_sub(start));
    if heap.top > start {
        // SAFETY: no kernel of the context runs any more, and nothing else uses this area. Memory
        // that the system does not take back stays committed, which is harmless.
        let _ = unsafe { w.decommit_pages(start, heap.top - start) };
    }
}

impl MallocHeap {
    fn allocate_block(&mut self, bytes: usize) -> Option<usize> {
        let zone = if check::enabled_checks().memory { MALLOC_ALIGNMENT } else { 0 };
        let len = bytes.max(1).checked_next_multiple_of(MALLOC_ALIGNMENT)?.checked_add(zone)?;
        if self.used_bytes.checked_add(len)? > limits::malloc_heap_bytes() {
            return None;
        }
        let last = self.alloc_from_last_freed(len);
        let start = last.or_else(|| self.alloc_from_free_list(len)).or_else(|| self.grow_heap(len))?;
        self.used.insert(start, (bytes, len));
        self.used_bytes += len;
        shadow::mark_allocated(start, bytes, false);
        Some(start)
    }

    fn alloc_from_last_freed(&mut self, len: usize) -> Option<usize> {
        let (start, have) = self.last_freed.take()?;
        if have < len {
            self.add_free_range(start, have);
            return None;
        }
        if have > len {
            self.add_free_range(start + len, have - len);
        }
        Some(start)
    }

    fn alloc_from_free_list(&mut self, len: usize) -> Option<usize> {
        let (&start, &have) = self.free.iter().find(|(_, have)| **have >= len)?;
        self.free.remove(&start);
        if have > len {
            self.free.insert(start + len, have - len);
        }
        Some(start)
    }

    fn grow_heap(&mut self, len: usize) -> Option<usize> {
        let w = device_window().ok()?;
        let area = w.malloc_area();
        // The first one has something before it that belongs to nobody, too.
        let start = self.top.max(area.start + MALLOC_ALIGNMENT);
        let end = start.checked_add(len).filter(|&e| e <= area.end())?;
        w.commit_pages(start, len).ok()?;
        self.top = end;
        Some(start)
    }

    fn release_block(&mut self, start: usize) -> bool {
        let Some((size, len)) = self.used.remove(&start) else { return false };
        self.used_bytes -= len;
        shadow::mark_freed(start, size);
        self.freed.push_back((start, size));
        if self.freed.len() > MAX_FREED_HISTORY {
            self.freed.pop_front();
        }
        // Neither a use after the free nor an access of the next owner is to look like another thing.
        if check::enabled_checks().memory || check::enabled_checks().race {
            return true;
        }
        if let Some((start, len)) = self.last_freed.replace((start, len)) {
            self.add_free_range(start, len);
        }
        true
    }

    /// Joins a range with its free neighbours.
    fn add_free_range(&mut self, start: usize, len: usize) {
        let (mut first, mut bytes) = (start, len);
        if let Some((&before, &n)) = self.free.range(..start).next_back()
            && before + n == start
        {
            self.free.remove(&before);
            (first, bytes) = (before, n + bytes);
        }
        if let Some(n) = self.free.remove(&(start + len)) {
            bytes += n;
        }
        self.free.insert(first, bytes);
    }
}

/// The allocations on either side of an address (or that it lies in), as start, size and whether
/// it has been freed.
pub fn allocations_near(address: usize) -> Vec<(usize, usize, bool)> {
    let guard = lock_malloc_heap();
    let Some(heap) = guard.as_ref() else { return vec![] };
    let below = heap.used.range(..=address).next_back();
    let above = heap.used.range(address..).next();
    let mut list: Vec<_> = below.into_iter().chain(above).map(|(&start, &(size, _))| (start, size, false)).collect();
    let inside = list.iter().any(|&(start, size, _)| address.wrapping_sub(start) < size);
    let freed = heap.freed.iter().rev().find(|&&(start, size)| address.wrapping_sub(start) < size);
    list.extend(freed.filter(|_| !inside).map(|&(start, size)| (start, size, true)));
    list
}

/// Bytes and number of the allocations that are in use.
pub fn allocations_in_use() -> (usize, usize) {
    lock_malloc_heap().as_ref().map_or((0, 0), |h| (h.used.values().map(|u| u.0).sum(), h.used.len()))
}

pub(super) unsafe extern "C" fn device_malloc(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    bytes: *const LaneValues,
    result: *mut LaneValues,
) {
    // SAFETY: compiled code passes its context and arrays of 32 lanes.
    unsafe {
        ensure_stack(warp_of_ctx(ctx), site);
        let mut heap = lock_malloc_heap();
        let heap = heap.get_or_insert_default();
        for lane in lane_indices(mask) {
            let n = usize::try_from((*bytes)[lane]).unwrap_or(usize::MAX);
            (*result)[lane] = heap.allocate_block(n).unwrap_or(0) as u64;
        }
    }
}

pub(super) unsafe extern "C" fn device_free(ctx: *mut WarpCtx, mask: u32, site: u32, addresses: *const LaneValues) {
    // SAFETY: compiled code passes its context and 32 addresses. The lock is released before a fault leaves the fiber.
    unsafe {
        ensure_stack(warp_of_ctx(ctx), site);
        for lane in lane_indices(mask) {
            let address = (*addresses)[lane];
            if address == 0 {
                continue;
            }
            let released = lock_malloc_heap().get_or_insert_default().release_block(address as usize);
            if !released {
                let what = "free of a pointer that malloc did not return or that is free already";
                raise_fault(warp_of_ctx(ctx), FaultKind::IllegalAddress, what, lane as u32, site, address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_coalesce_and_are_reused() {
        let mut heap = MallocHeap::default();
        let a = heap.allocate_block(100).unwrap();
        let b = heap.allocate_block(1).unwrap();
        let c = heap.allocate_block(50).unwrap();
        assert!(a % 16 == 0 && b == a + 112 && c == b + 16);
        assert!(heap.release_block(a) && heap.release_block(b) && !heap.release_block(b));
        assert_eq!(heap.allocate_block(120), Some(a));
        assert_eq!(heap.allocate_block(limits::malloc_heap_bytes()), None);
        assert!(heap.release_block(a) && heap.release_block(c));
        assert_eq!(heap.free.len(), 1);
        assert_eq!(heap.used_bytes, 0);
    }

    #[test]
    fn what_was_freed_last_is_handed_out_first() {
        let mut heap = MallocHeap::default();
        let holes = [40, 100, 100].map(|n| heap.allocate_block(n).unwrap());
        let last = heap.allocate_block(100).unwrap();
        assert!(holes.iter().all(|&hole| heap.release_block(hole)) && heap.release_block(last));
        assert_eq!(heap.allocate_block(100), Some(last));
        assert_eq!(heap.allocate_block(40), Some(holes[0]));
        assert!(heap.release_block(last));
        assert_eq!(heap.allocate_block(90), Some(last));
    }
}
