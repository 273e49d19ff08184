//! Address ranges of the device window that are handed out in equal pieces: parameter buffers,
//! local memory of warps, shared memory of blocks.
//!
//! Establishes: what a slot does not need is not committed, so that an access beyond it faults
//! (at the granularity of pages). Slots of the size that was requested are found again without a
//! system call.

use crate::window::{DeviceWindow, WindowError, device_window, page_size};
use rtcg_vgpu_abi::IgnorePoison;
use std::sync::{Mutex, MutexGuard};

/// Bytes of a parameter buffer (the most that CUDA allows, rounded up).
pub(crate) const PARAM_BYTES: usize = 32 << 10;
/// Bytes of the synchronisation words of a grid, which follow the parameters.
pub(crate) const WORKSPACE_BYTES: usize = 256;
const PARAM_SLOT_BYTES: usize = 64 << 10;
/// Local memory of a warp: 512 KiB per thread, CUDA's limit.
pub(crate) const LOCAL_SLOT_BYTES: usize = 16 << 20;

/// A piece of the window with `committed` bytes from `start` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemorySlot {
    pub(crate) start: usize,
    pub(crate) committed: usize,
}

#[derive(Debug)]
struct FreeSlots {
    slots: Vec<MemorySlot>,
    /// Index of the first slot that was never handed out.
    next_unused: usize,
}

/// A pool of equal pieces of one area.
#[derive(Debug)]
pub(crate) struct SlotPool {
    free: Mutex<FreeSlots>,
    area: fn(&DeviceWindow) -> (usize, usize),
    slot_len: usize,
}

/// Parameters of launches.
pub(crate) static PARAM_SLOTS: SlotPool =
    SlotPool::new(|w| (w.params_area().start, w.params_area().len), PARAM_SLOT_BYTES, 0);
/// Local memory of warps.
pub(crate) static LOCAL_SLOTS: SlotPool =
    SlotPool::new(|w| (w.local_area().start, w.local_area().len), LOCAL_SLOT_BYTES, 0);
/// Shared memory of blocks. The first span is never handed out: it stands for "no shared memory".
pub(crate) static SHARED_SLOTS: SlotPool =
    SlotPool::new(|w| (w.shared_area().start, w.shared_area().len), crate::window::SHARED_SPAN_BYTES, 1);

/// Blocks that can be resident at once.
pub fn resident_block_limit() -> usize {
    device_window().map_or(0, |w| w.n_shared_spans() - 1)
}

/// Multiprocessors of the device: fewer than usual where the window has no room for a block on each.
pub fn n_multiprocessors() -> u32 {
    match resident_block_limit() as u32 {
        0 => super::grid_job::MULTIPROCESSOR_COUNT,
        n => n.min(super::grid_job::MULTIPROCESSOR_COUNT),
    }
}

impl SlotPool {
    const fn new(area: fn(&DeviceWindow) -> (usize, usize), slot_len: usize, first: usize) -> SlotPool {
        SlotPool { free: Mutex::new(FreeSlots { slots: Vec::new(), next_unused: first }), area, slot_len }
    }

    fn lock_free_slots(&self) -> MutexGuard<'_, FreeSlots> {
        self.free.lock().ignore_poison()
    }

    /// A slot with exactly the pages of `bytes` committed; `Ok(None)` when all are in use.
    pub(crate) fn alloc_slot(&self, bytes: usize) -> Result<Option<MemorySlot>, WindowError> {
        let w = device_window()?;
        let pages = bytes.next_multiple_of(page_size());
        let mut free = self.lock_free_slots();
        if let Some(i) = free.slots.iter().rposition(|s| s.committed == pages) {
            return Ok(Some(free.slots.swap_remove(i)));
        }
        let (start, len) = (self.area)(w);
        let slot = if (free.next_unused + 1) * self.slot_len <= len {
            free.next_unused += 1;
            Some(MemorySlot { start: start + (free.next_unused - 1) * self.slot_len, committed: 0 })
        } else {
            free.slots.pop()
        };
        drop(free);
        slot.map(|s| resize_slot(w, s, pages)).transpose()
    }

    /// Takes a slot back; its contents stay until it is given out again.
    pub(crate) fn release_slot(&self, slot: MemorySlot) {
        self.lock_free_slots().slots.push(slot);
    }
}

fn resize_slot(w: &DeviceWindow, slot: MemorySlot, pages: usize) -> Result<MemorySlot, WindowError> {
    if pages < slot.committed {
        // SAFETY: the slot is owned by the caller and holds no Rust object.
        unsafe { w.decommit_pages(slot.start + pages, slot.committed - pages)? };
    } else if pages > slot.committed {
        w.commit_pages(slot.start + slot.committed, pages - slot.committed)?;
    }
    Ok(MemorySlot { start: slot.start, committed: pages })
}

/// An address inside the window that is never committed: `shared` of blocks without shared memory
/// and `local_sp` of warps without local memory.
pub(crate) fn unmapped_address() -> usize {
    device_window().map_or(0, |w| w.shared_area().start)
}
