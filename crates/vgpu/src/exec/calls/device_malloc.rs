//! `malloc` and `free` in device code.
//!
//! Establishes: allocations are 16-byte aligned, live until freed (beyond the kernel), and never
//! exceed `limits::malloc_heap` in all. When accesses are checked, freed memory is not used again.
//! What `free` is given must come from `malloc`.

use super::{ensure_stack, fault, lanes_of, warp_of};
use crate::abi::WarpCtx;
use crate::check::{self, shadow};
use crate::exec::fault::FaultKind;
use crate::exec::limits;
use crate::jit::runtime::Lanes;
use crate::memory::window::window;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

const ALIGN: usize = 16;
/// Freed allocations that are remembered, so that a report can name them.
const MAX_FREED_HISTORY: usize = 256;

#[derive(Debug, Default)]
struct Heap {
    /// Free ranges, start to length, never adjacent.
    free: BTreeMap<usize, usize>,
    /// Start to the bytes asked for and the bytes taken.
    used: BTreeMap<usize, (usize, usize)>,
    /// Start and size of what was freed, oldest first.
    freed: VecDeque<(usize, usize)>,
    used_bytes: usize,
    /// End of what was ever handed out or is free.
    top: usize,
}

static HEAP: Mutex<Option<Heap>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Heap>> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets all allocations and gives their memory back: the context that owns them was destroyed.
pub fn reset() {
    let Some(heap) = lock().take() else { return };
    let Ok(w) = window() else { return };
    let start = w.malloc().start;
    shadow::released(start, heap.top.saturating_sub(start));
    if heap.top > start {
        // SAFETY: no kernel of the context runs any more, and nothing else uses this area. Memory
        // that the system does not take back stays committed, which is harmless.
        let _ = unsafe { w.decommit(start, heap.top - start) };
    }
}

impl Heap {
    fn allocate(&mut self, bytes: usize) -> Option<usize> {
        let zone = if check::enabled().memory { ALIGN } else { 0 };
        let len = bytes.max(1).checked_next_multiple_of(ALIGN)?.checked_add(zone)?;
        if self.used_bytes.checked_add(len)? > limits::malloc_heap() {
            return None;
        }
        let start = self.take_free(len).or_else(|| self.grow(len))?;
        self.used.insert(start, (bytes, len));
        self.used_bytes += len;
        shadow::allocated(start, bytes, false);
        Some(start)
    }

    fn take_free(&mut self, len: usize) -> Option<usize> {
        let (&start, &have) = self.free.iter().find(|(_, have)| **have >= len)?;
        self.free.remove(&start);
        if have > len {
            self.free.insert(start + len, have - len);
        }
        Some(start)
    }

    fn grow(&mut self, len: usize) -> Option<usize> {
        let w = window().ok()?;
        let area = w.malloc();
        // The first one has something before it that belongs to nobody, too.
        let start = self.top.max(area.start + ALIGN);
        let end = start.checked_add(len).filter(|&e| e <= area.end())?;
        w.commit(start, len).ok()?;
        self.top = end;
        Some(start)
    }

    fn release(&mut self, start: usize) -> bool {
        let Some((size, len)) = self.used.remove(&start) else { return false };
        self.used_bytes -= len;
        shadow::released(start, size);
        self.freed.push_back((start, size));
        if self.freed.len() > MAX_FREED_HISTORY {
            self.freed.pop_front();
        }
        // Neither a use after the free nor an access of the next owner is to look like another thing.
        if check::enabled().memory || check::enabled().race {
            return true;
        }
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
        true
    }
}

/// The allocations on either side of an address (or that it lies in), as start, size and whether
/// it has been freed.
pub(crate) fn near(address: usize) -> Vec<(usize, usize, bool)> {
    let guard = lock();
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
pub(crate) fn in_use() -> (usize, usize) {
    lock().as_ref().map_or((0, 0), |h| (h.used.values().map(|u| u.0).sum(), h.used.len()))
}

pub(super) unsafe extern "C" fn malloc(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    bytes: *const Lanes,
    result: *mut Lanes,
) {
    // SAFETY: compiled code passes its context and arrays of 32 lanes.
    unsafe {
        ensure_stack(warp_of(ctx), site);
        let mut heap = lock();
        let heap = heap.get_or_insert_default();
        for lane in lanes_of(mask) {
            let n = usize::try_from((*bytes)[lane]).unwrap_or(usize::MAX);
            (*result)[lane] = heap.allocate(n).unwrap_or(0) as u64;
        }
    }
}

pub(super) unsafe extern "C" fn free(ctx: *mut WarpCtx, mask: u32, site: u32, addresses: *const Lanes) {
    // SAFETY: as above. The lock is released before a fault leaves the fiber.
    unsafe {
        ensure_stack(warp_of(ctx), site);
        for lane in lanes_of(mask) {
            let address = (*addresses)[lane];
            if address == 0 {
                continue;
            }
            let released = lock().get_or_insert_default().release(address as usize);
            if !released {
                let what = "free of a pointer that malloc did not return or that is free already";
                fault(warp_of(ctx), FaultKind::IllegalAddress, what, lane as u32, site, address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_joins_and_is_used_again() {
        let mut heap = Heap::default();
        let a = heap.allocate(100).unwrap();
        let b = heap.allocate(1).unwrap();
        let c = heap.allocate(50).unwrap();
        assert!(a % 16 == 0 && b == a + 112 && c == b + 16);
        assert!(heap.release(a) && heap.release(b) && !heap.release(b));
        assert_eq!(heap.allocate(120), Some(a));
        assert_eq!(heap.allocate(limits::malloc_heap()), None);
        assert!(heap.release(a) && heap.release(c));
        assert_eq!(heap.free.len(), 1);
        assert_eq!(heap.used_bytes, 0);
    }
}
