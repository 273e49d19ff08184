//! The device window: alignment, division into areas, commit and decommit.
#![allow(unsafe_code)]

use rtcg_vgpu::memory::window::{SHARED_SPAN, page_size, window};

#[test]
fn areas_are_disjoint_and_inside() {
    let w = window().unwrap();
    assert_eq!(w.base() % w.size(), 0);
    let areas = [w.params(), w.data(), w.local(), w.malloc(), w.shared(), w.heap()];
    for pair in areas.windows(2) {
        assert!(pair[0].end() <= pair[1].start, "{pair:?}");
    }
    assert!(areas[0].start > w.base());
    assert_eq!(areas[5].end(), w.base() + w.size());
    assert!(w.n_shared_spans() >= 8);
    for i in 0..w.n_shared_spans() {
        let span = w.shared_span(i);
        assert_eq!(span.len, SHARED_SPAN);
        assert!(w.shared().contains(span.start) && span.end() <= w.shared().end());
    }
    assert!(!w.contains(0) && !w.contains(w.base() - 1) && w.contains(w.base() + w.size() - 1));
}

#[test]
fn committed_memory_is_zero_and_decommit_forgets() {
    let w = window().unwrap();
    let at = w.heap().end() - (64 << 20);
    let page = page_size();
    w.commit(at, 3 * page).unwrap();
    // SAFETY: the pages were just committed, and no other test uses the end of the heap.
    unsafe {
        let p = at as *mut u8;
        assert_eq!(p.add(2 * page).read_volatile(), 0);
        p.add(2 * page).write_volatile(7);
        w.decommit(at, 3 * page).unwrap();
        w.commit(at, 3 * page).unwrap();
        assert_eq!(p.add(2 * page).read_volatile(), 0);
        w.decommit(at, 3 * page).unwrap();
    }
}

#[test]
fn ranges_outside_are_refused() {
    let w = window().unwrap();
    assert!(w.commit(w.base() - page_size(), page_size()).is_err());
    assert!(w.commit(w.base() + w.size() - page_size(), 2 * page_size()).is_err());
    assert!(w.commit(usize::MAX - 5, 100).is_err());
    assert!(w.commit(w.heap().start, 0).is_err());
}
