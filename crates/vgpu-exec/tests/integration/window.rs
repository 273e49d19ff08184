//! The device window: alignment, division into areas, commit and decommit.

use rtcg_vgpu_exec::window::{SHARED_SPAN_BYTES, device_window, page_size};

#[test]
fn areas_are_disjoint_and_inside() {
    let w = device_window().unwrap();
    assert_eq!(w.base_address() % w.size_bytes(), 0);
    let areas = [w.params_area(), w.globals_area(), w.local_area(), w.malloc_area(), w.shared_area(), w.heap_area()];
    for pair in areas.windows(2) {
        assert!(pair[0].end() <= pair[1].start, "{pair:?}");
    }
    assert!(areas[0].start > w.base_address());
    assert_eq!(areas[5].end(), w.base_address() + w.size_bytes());
    assert!(w.n_shared_spans() >= 8);
    for i in 0..w.n_shared_spans() {
        let span = w.shared_span(i);
        assert_eq!(span.len, SHARED_SPAN_BYTES);
        assert!(w.shared_area().contains(span.start) && span.end() <= w.shared_area().end());
    }
    assert!(!w.contains(0) && !w.contains(w.base_address() - 1) && w.contains(w.base_address() + w.size_bytes() - 1));
}

#[test]
fn committed_memory_is_zero_and_decommit_forgets() {
    let w = device_window().unwrap();
    let at = w.heap_area().end() - (64 << 20);
    let page = page_size();
    w.commit_pages(at, 3 * page).unwrap();
    // SAFETY: the pages were just committed, and no other test uses the end of the heap.
    unsafe {
        let p = at as *mut u8;
        assert_eq!(p.add(2 * page).read_volatile(), 0);
        p.add(2 * page).write_volatile(7);
        w.decommit_pages(at, 3 * page).unwrap();
        w.commit_pages(at, 3 * page).unwrap();
        assert_eq!(p.add(2 * page).read_volatile(), 0);
        w.decommit_pages(at, 3 * page).unwrap();
    }
}

#[test]
fn ranges_outside_are_refused() {
    let w = device_window().unwrap();
    assert!(w.commit_pages(w.base_address() - page_size(), page_size()).is_err());
    assert!(w.commit_pages(w.base_address() + w.size_bytes() - page_size(), 2 * page_size()).is_err());
    assert!(w.commit_pages(usize::MAX - 5, 100).is_err());
    assert!(w.commit_pages(w.heap_area().start, 0).is_err());
}
