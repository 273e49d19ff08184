//! The objects behind the handles that kernels use.
//!
//! Compiled code looks an object up for every instruction, so each thread remembers the last few;
//! [`invalidate_thread_caches`] makes all threads look again. Nothing is locked while an object is used, and a
//! fault in between leaves nothing behind.

use super::TexOrSurfObject;
use rtcg_vgpu_abi::handle_table::HandleTable;
use std::any::Any;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A texture or surface object.
pub struct TexOrSurfEntry {
    /// Identifier of its context.
    pub ctx_id: u64,
    /// What kernels see.
    pub object: TexOrSurfObject,
    /// As the program described it to the driver, which alone reads it.
    pub description: Box<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for TexOrSurfEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("ctx_id", &self.ctx_id).field("object", &self.object).finish_non_exhaustive()
    }
}

/// All texture and surface objects.
pub static TEX_AND_SURF_OBJECTS: HandleTable<TexOrSurfEntry> = HandleTable::new(0x30);

/// Counts destructions; remembered objects of an earlier count are looked up again.
static DESTROY_EPOCH: AtomicU64 = AtomicU64::new(1);

const CACHE_ENTRIES: usize = 8;

struct ThreadCacheEntry {
    handle: u64,
    epoch: u64,
    entry: Option<Arc<TexOrSurfEntry>>,
}

thread_local! {
    static THREAD_CACHE: UnsafeCell<[ThreadCacheEntry; CACHE_ENTRIES]> =
        const { UnsafeCell::new([const { ThreadCacheEntry { handle: 0, epoch: 0, entry: None } }; CACHE_ENTRIES]) };
}

/// Makes every thread forget what it remembers, after an object was taken out of [`TEX_AND_SURF_OBJECTS`].
pub fn invalidate_thread_caches() {
    DESTROY_EPOCH.fetch_add(1, Ordering::Release);
}

/// Takes out all objects of a context.
pub fn remove_objects_of_context(id: u64) {
    TEX_AND_SURF_OBJECTS.remove_orphaned_objects(|e| e.ctx_id == id);
    invalidate_thread_caches();
}

/// Calls `f` with the object behind a handle.
///
/// # Safety
/// `f` does not call this function, and the thread it began on is the one it ends on (it may end
/// by leaving its fiber for good).
pub(crate) unsafe fn with_tex_or_surf_object<R>(handle: u64, f: impl FnOnce(Option<&TexOrSurfObject>) -> R) -> R {
    // Bits above the four low zeros of a handle count its slots.
    let slot = (handle >> 4) as usize % CACHE_ENTRIES;
    THREAD_CACHE.with(|memory| {
        // SAFETY: one thread, and nobody else holds a reference while `f` runs.
        let place = unsafe { &mut (*memory.get())[slot] };
        let epoch = DESTROY_EPOCH.load(Ordering::Acquire);
        if place.handle != handle || place.epoch != epoch {
            *place = ThreadCacheEntry { handle, epoch, entry: TEX_AND_SURF_OBJECTS.get_object(handle).ok() };
        }
        f(place.entry.as_deref().map(|e| &e.object))
    })
}
