//! A block that somebody uses, until it goes back to its pool.

use super::arena::DEFAULT_LANE;
use super::core::{Core, Place, freed_twice};
use crate::context::Context;
use crate::error::Result;
use crate::stream::{Stream, is_any_entered};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Lease {
    core: Arc<Core>,
    ptr: u64,
    nbytes: usize,
    place: Place,
    freed: AtomicBool,
    /// Further streams that use the block; `None` is the legacy default stream.
    others: Mutex<Vec<Option<Stream>>>,
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

    pub(super) fn context(&self) -> Option<Context> {
        self.core.context_of(self.place)
    }

    #[inline]
    pub(super) fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Whether giving it back may be a call of the driver, which may wait for the device.
    pub(super) fn may_wait(&self) -> bool {
        Arc::strong_count(&self.core) == 1 || self.core.is_stopped()
    }

    /// Remembers that work in another stream uses the block.
    #[inline]
    pub(super) fn used_in(&self, stream: Option<&Stream>) {
        if stream.is_some() || self.place.lane != DEFAULT_LANE || is_any_entered() {
            self.note_use(stream);
        }
    }

    fn note_use(&self, stream: Option<&Stream>) {
        let stream = stream.cloned().or_else(Stream::current).filter(|stream| !stream.is_legacy_default());
        if stream.is_none() && self.place.lane == DEFAULT_LANE {
            return;
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = others.iter().any(|known| match (known, &stream) {
            (Some(known), Some(stream)) => known.is_same(stream),
            (known, stream) => known.is_none() && stream.is_none(),
        });
        if !is_known {
            others.push(stream);
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
