//! A context's page-locked slots for staged copies.

use crate::error::Result;
use rtcg_cuda_sys::{CU_EVENT_DISABLE_TIMING, CUevent, DriverTable};
use rtcg_hal::lock_ignoring_poison;
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Bytes of a slot: a large page of the host.
pub(crate) const SLOT_BYTES: usize = 2 << 20;

/// Slots, each with an event that stands for its last use by the device. They are freed by hand, while
/// the context is current.
pub(crate) struct StagingSlots {
    start: *mut u8,
    events: Vec<CUevent>,
}

// SAFETY: memory and events may be used from any thread; one copy at a time uses them.
unsafe impl Send for StagingSlots {}
// SAFETY: one copy at a time uses memory and events, under the lock of `StagingBuffers`.
unsafe impl Sync for StagingSlots {}

impl StagingSlots {
    /// New slots in the context that is current in the driver.
    pub(crate) fn new(table: &DriverTable, count: usize) -> Result<Self> {
        let mut start = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        unsafe { call_driver!(table, cuMemHostAlloc(&raw mut start, count * SLOT_BYTES, 0)) }?;
        let mut slots = Self { start: start.cast(), events: Vec::with_capacity(count) };
        for _ in 0..count {
            let mut event = CUevent::null();
            // SAFETY: writes one handle.
            if let Err(error) = unsafe { call_driver!(table, cuEventCreate(&raw mut event, CU_EVENT_DISABLE_TIMING.0)) }
            {
                // SAFETY: made in the context that is current.
                unsafe { slots.free_slots(table) };
                return Err(error);
            }
            slots.events.push(event);
        }
        Ok(slots)
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The slot of a chunk, and its event.
    pub(crate) fn slot_of_chunk(&self, chunk: usize) -> (*mut u8, CUevent) {
        let index = chunk % self.events.len();
        (self.start.wrapping_add(index * SLOT_BYTES), self.events[index])
    }

    /// Gives memory and events back.
    ///
    /// # Safety
    /// The context they were made in must be current in the driver, and the slots must not be in use.
    pub(crate) unsafe fn free_slots(self, table: &DriverTable) {
        // SAFETY: the caller's promise; errors have nobody to go to.
        unsafe {
            for event in &self.events {
                let _ = table.cuEventDestroy(*event);
            }
            let _ = table.cuMemFreeHost(self.start.cast());
        }
    }
}

/// What the context keeps for staged copies.
#[derive(Default)]
pub(crate) struct StagingBuffers {
    has_discrete_memory: OnceLock<bool>,
    slots: Mutex<Option<StagingSlots>>,
}

impl StagingBuffers {
    /// Frees the slots; a copy that uses them is waited for.
    ///
    /// # Safety
    /// The context that they were made in must be current in the driver.
    pub(crate) unsafe fn free_slots(&self, table: &DriverTable) {
        let slots = lock_ignoring_poison(&self.slots).take();
        if let Some(slots) = slots {
            // SAFETY: the caller's promise.
            unsafe { slots.free_slots(table) };
        }
    }

    /// Whether the device has memory of its own, asked for once.
    pub(crate) fn has_discrete_memory(&self, query: impl FnOnce() -> bool) -> bool {
        *self.has_discrete_memory.get_or_init(query)
    }

    /// The slots, unless a copy is using them.
    pub(crate) fn try_lock_slots(&self) -> Option<MutexGuard<'_, Option<StagingSlots>>> {
        self.slots.try_lock().ok()
    }

    pub(crate) fn has_allocated_slots(&self) -> bool {
        lock_ignoring_poison(&self.slots).is_some()
    }
}
