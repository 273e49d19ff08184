//! `malloc` and `free` in device code.
//!
//! Establishes: allocations are 16-byte aligned, live until freed (beyond the kernel), and never
//! exceed `limits::malloc_heap` in all. What `free` is given must come from `malloc`.

use super::{ensure_stack, fault, lanes_of, warp_of};
use crate::abi::WarpCtx;
use crate::exec::fault::FaultKind;
use crate::exec::limits;
use crate::jit::runtime::Lanes;
use crate::memory::window::window;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

const ALIGN: usize = 16;

#[derive(Debug, Default)]
struct Heap {
    /// Free ranges, start to length, never adjacent.
    free: BTreeMap<usize, usize>,
    used: HashMap<usize, usize>,
    used_bytes: usize,
    /// End of what was ever handed out or is free.
    top: usize,
}

static HEAP: Mutex<Option<Heap>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Heap>> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets all allocations and gives their memory back: the context that owns them is gone.
pub fn reset() {
    let Some(heap) = lock().take() else { return };
    let Ok(w) = window() else { return };
    let start = w.malloc().start;
    if heap.top > start {
        // SAFETY: no kernel of the context runs any more, and nothing else uses this area. Memory
        // that the system does not take back stays committed, which is harmless.
        let _ = unsafe { w.decommit(start, heap.top - start) };
    }
}

impl Heap {
    fn allocate(&mut self, bytes: usize) -> Option<usize> {
        let len = bytes.max(1).checked_next_multiple_of(ALIGN)?;
        if self.used_bytes.checked_add(len)? > limits::malloc_heap() {
            return None;
        }
        let start = self.take_free(len).or_else(|| self.grow(len))?;
        self.used.insert(start, len);
        self.used_bytes += len;
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
        let start = self.top.max(area.start);
        let end = start.checked_add(len).filter(|&e| e <= area.end())?;
        w.commit(start, len).ok()?;
        self.top = end;
        Some(start)
    }

    fn release(&mut self, start: usize) -> bool {
        let Some(len) = self.used.remove(&start) else { return false };
        self.used_bytes -= len;
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
