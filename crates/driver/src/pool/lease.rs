//! A block that somebody uses, until it goes back to its pool.

use super::core::{Core, Place, freed_twice};
use crate::error::Result;
use crate::stream::Stream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Lease {
    core: Arc<Core>,
    ptr: u64,
    nbytes: usize,
    place: Place,
    freed: AtomicBool,
    /// Further streams that use the block.
    others: Mutex<Vec<Stream>>,
}

impl Lease {
    #[inline]
    pub(super) fn new(core: Arc<Core>, ptr: u64, nbytes: usize, place: Place) -> Self {
        Self { core, ptr, nbytes, place, freed: AtomicBool::new(false), others: Mutex::new(Vec::new()) }
    }

    #[inline]
    pub(super) fn ptr(&self) -> u64 {
        self.ptr
    }

    #[inline]
    pub(super) fn nbytes(&self) -> usize {
        self.nbytes
    }

    pub(super) fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Remembers that work in another stream uses the block.
    pub(super) fn used_in(&self, stream: &Stream) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if !others.iter().any(|known| known.is_same(stream)) {
            others.push(stream.clone());
        }
    }

    pub(super) fn free(&self, call: &'static str) -> Result<()> {
        if self.freed.swap(true, Ordering::AcqRel) {
            return Err(freed_twice(call));
        }
        let others = std::mem::take(&mut *self.others.lock().unwrap_or_else(PoisonError::into_inner));
        self.core.give_back(self.ptr, self.nbytes, self.place, others);
        Ok(())
    }
}

impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        if !*self.freed.get_mut() {
            let others = std::mem::take(self.others.get_mut().unwrap_or_else(PoisonError::into_inner));
            self.core.give_back(self.ptr, self.nbytes, self.place, others);
        }
    }
}
