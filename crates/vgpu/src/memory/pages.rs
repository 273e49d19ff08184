//! Whole pages of the heap's range of addresses: which are free, and which of the free ones still hold
//! memory.
//!
//! Assumes: the range is reserved without access and no other code changes its protection. Where the window is
//! not reserved, free pages are not mapped, but for those that still hold memory.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::os::fd::AsRawFd;

const HUGE_PAGE_BYTES: u64 = 2 << 20;

pub(super) fn page_bytes() -> u64 {
    rtcg_vgpu_exec::window::page_size() as u64
}

/// Whole pages: which addresses are free, and which of the free ones still hold memory.
#[derive(Debug)]
pub(super) struct PageAllocator {
    /// Free ranges by address; adjacent ranges are always merged.
    free: BTreeMap<u64, u64>,
    /// The same ranges by length.
    by_len: BTreeSet<(u64, u64)>,
    /// Freed ranges without access whose pages are still in memory, oldest first. The length is
    /// that of the block; its guard page follows.
    cached: VecDeque<(u64, u64)>,
    cached_bytes: u64,
    cache_limit: u64,
}

impl PageAllocator {
    pub(super) fn new(start: u64, len: u64, cache_limit: u64) -> PageAllocator {
        let mut pages = PageAllocator {
            free: BTreeMap::new(),
            by_len: BTreeSet::new(),
            cached: VecDeque::new(),
            cached_bytes: 0,
            cache_limit,
        };
        pages.insert_free_range(start, len);
        pages
    }

    pub(super) fn alloc_pages(&mut self, span: u64) -> Option<u64> {
        if let Some(at) = self.cached.iter().rposition(|&(_, len)| len == span) {
            let (start, _) = self.cached.remove(at)?;
            self.cached_bytes -= span;
            if set_access(start, span, true) {
                return Some(start);
            }
            self.unmap_and_free(start, span);
        }
        let alignment = if span > HUGE_PAGE_BYTES / 2 { HUGE_PAGE_BYTES } else { page_bytes() };
        self.alloc_aligned_pages(span, alignment)
    }

    /// `span` accessible bytes at a multiple of `alignment`, and a page without access behind.
    pub(super) fn alloc_aligned_pages(&mut self, span: u64, alignment: u64) -> Option<u64> {
        let start = self.carve_free_range(span + page_bytes(), alignment).or_else(|| {
            self.trim_cached_pages(0);
            self.carve_free_range(span + page_bytes(), alignment)
        })?;
        if !set_access(start, span, true) {
            self.insert_free_range(start, span + page_bytes());
            return None;
        }
        #[cfg(target_os = "linux")]
        if span >= HUGE_PAGE_BYTES {
            madvise_pages(start, span, libc::MADV_HUGEPAGE);
        }
        Some(start)
    }

    pub(super) fn release_pages(&mut self, start: u64, span: u64) {
        if !set_access(start, span, false) {
            // The system refuses to split a mapping further; then it must not be reused either,
            // but the memory itself can go.
            madvise_pages(start, span, libc::MADV_DONTNEED);
            return;
        }
        self.cached.push_back((start, span));
        self.cached_bytes += span;
        self.trim_cached_pages(self.cache_limit);
    }

    /// Drops the oldest warm ranges until at most `limit` bytes of them are left.
    pub(super) fn trim_cached_pages(&mut self, limit: u64) {
        while self.cached_bytes > limit {
            let Some((start, span)) = self.cached.pop_front() else { return };
            self.cached_bytes -= span;
            self.unmap_and_free(start, span);
        }
    }

    fn unmap_and_free(&mut self, start: u64, span: u64) {
        if rtcg_vgpu_exec::window::is_reserved() {
            madvise_pages(start, span, libc::MADV_DONTNEED);
        } else {
            unmap_pages(start, span);
        }
        self.insert_free_range(start, span + page_bytes());
    }

    /// Maps a part of a file at carved-out pages.
    pub(super) fn map_file(&self, start: u64, len: u64, file: &File, offset: u64) -> bool {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        let (at, fd) = (start as *mut libc::c_void, file.as_raw_fd());
        // SAFETY: the range was carved out of the heap's addresses, and nobody uses it yet.
        unsafe { libc::mmap(at, len as usize, access, flags, fd, offset as i64) != libc::MAP_FAILED }
    }

    /// Takes pages that a file is mapped at back, without access and without memory.
    pub(super) fn reset_pages(&mut self, start: u64, span: u64) {
        if !rtcg_vgpu_exec::window::is_reserved() {
            unmap_pages(start, span);
            return self.insert_free_range(start, span + page_bytes());
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let at = start as *mut libc::c_void;
        // SAFETY: the range belongs to this heap, and its block is gone.
        let p = unsafe { libc::mmap(at, span as usize, libc::PROT_NONE, flags, -1, 0) };
        // Addresses at which the file could not be replaced are never used again.
        if p != libc::MAP_FAILED {
            self.insert_free_range(start, span + page_bytes());
        }
    }

    /// Cuts `len` bytes out of the smallest free range that has room for them.
    pub(super) fn carve_free_range(&mut self, len: u64, alignment: u64) -> Option<u64> {
        let fits = |&&(size, at): &&(u64, u64)| at.next_multiple_of(alignment) + len <= at + size;
        let &(size, at) = self.by_len.range((len, 0)..).find(fits)?;
        let start = at.next_multiple_of(alignment);
        self.by_len.remove(&(size, at));
        self.free.remove(&at);
        self.add_free_range(at, start - at);
        self.add_free_range(start + len, at + size - (start + len));
        Some(start)
    }

    fn add_free_range(&mut self, start: u64, len: u64) {
        if len > 0 {
            self.free.insert(start, len);
            self.by_len.insert((len, start));
        }
    }

    pub(super) fn insert_free_range(&mut self, mut start: u64, mut len: u64) {
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.free.remove(&before);
            self.by_len.remove(&(size, before));
            start = before;
            len += size;
        }
        if let Some(&size) = self.free.get(&(start + len)) {
            self.free.remove(&(start + len));
            self.by_len.remove(&(size, start + len));
            len += size;
        }
        self.add_free_range(start, len);
    }
}

pub(super) fn set_access(start: u64, len: u64, access: bool) -> bool {
    if access {
        return rtcg_vgpu_exec::window::grant_access(start, len);
    }
    // SAFETY: the range was carved out of the heap's reserved addresses, which only this heap
    // manages; no Rust reference points into it.
    unsafe { libc::mprotect(start as *mut libc::c_void, len as usize, libc::PROT_NONE) == 0 }
}

/// Takes pages of a window that is not reserved away.
fn unmap_pages(start: u64, len: u64) {
    // SAFETY: as for `set_access`; free addresses of such a window are not mapped.
    let _ = unsafe { libc::munmap(start as *mut libc::c_void, len as usize) };
}

pub(super) fn madvise_pages(start: u64, len: u64, advice: i32) {
    // A refused advice costs memory or speed, never correctness.
    // SAFETY: as for `set_access`; `MADV_DONTNEED` is only used on free ranges.
    let _ = unsafe { libc::madvise(start as *mut libc::c_void, len as usize, advice) };
}
