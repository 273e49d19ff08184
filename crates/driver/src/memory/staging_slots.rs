//! The page-locked slots of a context that staged copies go through.

use crate::error::Result;
use crate::memory::HostAllocation;
use rtcg_cuda_sys::{CU_EVENT_DISABLE_TIMING, CUevent, DriverTable};

/// Bytes of a slot: a large page of the host.
pub(super) const SLOT_BYTES: usize = 2 << 20;

/// Slots, each with an event that stands for its last use by the device. They are freed by hand, while
/// the context is current.
pub(super) struct StagingSlots {
    start: *mut u8,
    events: Vec<CUevent>,
}

// SAFETY: memory and events may be used from any thread; one copy at a time uses them.
unsafe impl Send for StagingSlots {}
// SAFETY: as above.
unsafe impl Sync for StagingSlots {}

impl StagingSlots {
    /// New slots in the context that is current in the driver.
    pub(super) fn new(table: &DriverTable, count: usize) -> Result<Self> {
        let start = HostAllocation::allocate_page_locked(table, count * SLOT_BYTES, 0)?;
        let mut slots = Self { start, events: Vec::with_capacity(count) };
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

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// The slot of a chunk, and its event.
    pub(super) fn slot_of_chunk(&self, chunk: usize) -> (*mut u8, CUevent) {
        let index = chunk % self.events.len();
        (self.start.wrapping_add(index * SLOT_BYTES), self.events[index])
    }

    /// Gives memory and events back.
    ///
    /// # Safety
    /// The context they were made in must be current in the driver, and the slots must not be in use.
    pub(super) unsafe fn free_slots(self, table: &DriverTable) {
        // SAFETY: the caller's promise; errors have nobody to go to.
        unsafe {
            for event in &self.events {
                let _ = table.cuEventDestroy(*event);
            }
            let _ = table.cuMemFreeHost(self.start.cast());
        }
    }
}
