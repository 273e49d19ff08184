//! Memory of the window for tests that run code without the driver: from the upper half of the heap, which the
//! driver's allocations do not reach.

use rtcg_vgpu_exec::window::device_window;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Between two ranges, so that what runs over the end of one faults.
const GUARD_BYTES: usize = 1 << 16;

/// The address of `bytes` committed bytes, followed by a page without access; never freed.
pub fn commit_guarded(bytes: usize) -> usize {
    static NEXT_OFFSET: AtomicUsize = AtomicUsize::new(0);
    let heap = device_window().unwrap().heap_area();
    let bytes = bytes.max(1).next_multiple_of(4096);
    let start = heap.start
        + heap.len / 2
        + NEXT_OFFSET.fetch_add(bytes.next_multiple_of(GUARD_BYTES) + GUARD_BYTES, Ordering::Relaxed);
    device_window().unwrap().commit_pages(start, bytes).unwrap();
    start
}
