//! Memory of the heads of objects, which is never given back: whether a handle can be looked at is seen by its address.

use rtcg_driver::lock_ignoring_poison;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct HeadArena {
    /// First and last address of each chunk, in the order in which they were made; zeros behind them.
    chunks: [(AtomicUsize, AtomicUsize); MAX_CHUNKS],
    free: Mutex<Free>,
}

/// What is left of the last chunk.
struct Free {
    n_chunks: usize,
    memory: &'static mut [u128],
}

/// Each chunk is twice as large as the one before.
const MAX_CHUNKS: usize = 32;
const FIRST_CHUNK_BYTES: usize = 1 << 16;

/// The heads of all kinds.
pub(crate) static HEADS: HeadArena = HeadArena {
    chunks: [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; MAX_CHUNKS],
    free: Mutex::new(Free { n_chunks: 0, memory: &mut [] }),
};

impl HeadArena {
    /// Memory for a value, with zeros in it.
    pub(crate) fn allocate<T>(&self) -> *mut T {
        const { assert!(align_of::<T>() <= align_of::<u128>() && size_of::<T>() <= FIRST_CHUNK_BYTES) };
        let count = size_of::<T>().div_ceil(size_of::<u128>());
        let mut free = lock_ignoring_poison(&self.free);
        if free.memory.len() < count {
            let chunk = vec![0u128; (FIRST_CHUNK_BYTES << free.n_chunks) / size_of::<u128>()].leak();
            let (first, last) = &self.chunks[free.n_chunks];
            last.store(chunk.as_ptr_range().end as usize - 1, Ordering::Relaxed);
            first.store(chunk.as_ptr() as usize, Ordering::Release);
            *free = Free { n_chunks: free.n_chunks + 1, memory: chunk };
        }
        let (taken, rest) = std::mem::take(&mut free.memory).split_at_mut(count);
        free.memory = rest;
        taken.as_mut_ptr().cast()
    }

    /// Whether a value at this address would be in this memory.
    pub(crate) fn has<T>(&self, address: *const T) -> bool {
        let begin = address as usize;
        let Some(end) = begin.checked_add(size_of::<T>() - 1) else { return false };
        let in_chunk = |(first, last): &(AtomicUsize, AtomicUsize)| match first.load(Ordering::Acquire) {
            0 => None,
            first => Some(first <= begin && end <= last.load(Ordering::Relaxed)),
        };
        self.chunks.iter().map_while(in_chunk).any(|is_in| is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_its_own_memory() {
        let taken: Vec<*mut [u64; 40]> = (0..1000).map(|_| HEADS.allocate()).collect();
        assert!(taken.iter().all(|address| HEADS.has(*address) && address.is_aligned()));
        let distinct: std::collections::BTreeSet<_> = taken.iter().map(|address| *address as usize / 320).collect();
        assert_eq!(distinct.len(), taken.len());
        let on_stack = [0u64; 40];
        assert!(!HEADS.has(&raw const on_stack) && !HEADS.has(std::ptr::null::<u64>()));
        assert!(!HEADS.has(usize::MAX as *const u64) && !HEADS.has(0xdead_beef as *const u64));
    }
}
