//! Blocking copies of pageable host memory through page-locked buffers.
//!
//! A driver copies pageable memory with one thread through its own buffer, and that thread also takes the page faults
//! of untouched memory. Here several threads move chunks between the memory and page-locked slots while the device
//! copies other slots. Staging does not pay off if host and device share their memory
//! ([`Device::has_discrete_memory`](crate::Device::has_discrete_memory)).
//!
//! Establishes: when a copy returns, no thread and no work of the device uses a slot or the caller's memory.

use crate::context::Context;
use crate::context::loaded_drivers::show_notice;
use crate::context::staging_buffers::{SLOT_BYTES, StagingSlots};
use crate::error::Result;
use crate::memory::diagnosis::explain_address_error;
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Shorter copies take the driver's way: threads would cost more than they gain.
const MIN_STAGED_BYTES: usize = 8 << 20;
/// More threads than this no longer make copies faster.
const MAX_WORKERS: usize = 8;

/// Which copies of pageable memory go through page-locked buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StagingPolicy {
    /// Long copies, if the device has its own memory.
    Auto = 1,
    /// No copies.
    Never = 2,
    /// All copies that are not empty, even if it is slower: for tests.
    Always = 3,
}

/// 0 is not asked yet.
static STAGING_POLICY: AtomicU8 = AtomicU8::new(0);

/// Sets the policy of this process. The default comes from the variable `RTCG_STAGING` (`auto`, `never` or `always`),
/// or is [`StagingPolicy::Auto`].
pub fn set_staging_policy(policy: StagingPolicy) {
    STAGING_POLICY.store(policy as u8, Ordering::Relaxed);
}

/// The policy of this process.
pub fn staging_policy() -> StagingPolicy {
    match STAGING_POLICY.load(Ordering::Relaxed) {
        1 => StagingPolicy::Auto,
        2 => StagingPolicy::Never,
        3 => StagingPolicy::Always,
        _ => {
            let policy = match std::env::var("RTCG_STAGING").as_deref() {
                Ok("never") => StagingPolicy::Never,
                Ok("always") => StagingPolicy::Always,
                Ok("auto" | "") | Err(_) => StagingPolicy::Auto,
                Ok(other) => {
                    show_notice(&format!("RTCG_STAGING is {other:?}; expected auto, never or always; auto is used"));
                    StagingPolicy::Auto
                }
            };
            set_staging_policy(policy);
            policy
        }
    }
}

/// One copy.
#[derive(Clone, Copy)]
pub(super) enum StagedTransfer {
    ToDevice { dst: CUdeviceptr, src: *const u8 },
    ToHost { dst: *mut u8, src: CUdeviceptr },
}

// SAFETY: a transfer is made by threads that end before the call that was given the pointers.
unsafe impl Send for StagedTransfer {}
// SAFETY: threads share the pointers, and each moves chunks of its own.
unsafe impl Sync for StagedTransfer {}

impl StagedTransfer {
    fn host_address(self) -> *const u8 {
        match self {
            StagedTransfer::ToDevice { src, .. } => src,
            StagedTransfer::ToHost { dst, .. } => dst,
        }
    }
}

/// Copies `nbytes` in the order of `stream` and waits, if that is to be done with staging. `None` leaves
/// it to the driver: for short copies, page-locked memory, other devices, when another thread is staging,
/// and when not even the first part can be enqueued, so that the driver's own copy says why.
///
/// # Safety
/// Both sides must be valid for `nbytes`, and `stream` a stream of the current context.
pub(super) unsafe fn try_staged_copy(transfer: StagedTransfer, nbytes: usize, stream: CUstream) -> Option<Result<()>> {
    let least = match staging_policy() {
        StagingPolicy::Never => return None,
        StagingPolicy::Auto => MIN_STAGED_BYTES,
        StagingPolicy::Always => 1,
    };
    if nbytes < least {
        return None;
    }
    let ctx = Context::current().filter(|ctx| ctx.is_alive() && !crate::process_state::is_forked())?;
    let staging = ctx.staging_buffers();
    let pays =
        staging_policy() == StagingPolicy::Always || staging.has_discrete_memory(|| ctx.device().has_discrete_memory());
    if !pays || !is_pageable(ctx.driver_table(), transfer.host_address()) {
        return None;
    }
    let mut slots = staging.try_lock_slots()?;
    let slots = match &mut *slots {
        Some(slots) => slots,
        // A host that has no page-locked memory left can do without.
        empty => empty.insert(StagingSlots::new(ctx.driver_table(), 2 * worker_count()).ok()?),
    };
    let job = StagedCopyJob {
        table: ctx.driver_table(),
        slots,
        transfer,
        stream,
        chunks: chunk_ranges(transfer.host_address() as usize, nbytes),
    };
    // SAFETY: the caller's promise.
    let result = unsafe { job.run_copy() }?;
    let (name, ptr) = match transfer {
        StagedTransfer::ToDevice { dst, .. } => ("dest", dst),
        StagedTransfer::ToHost { src, .. } => ("src", src),
    };
    Some(explain_address_error(ctx.driver_table(), result, &[(name, ptr, nbytes)]))
}

fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MAX_WORKERS)
}

/// Whether the driver does not know the memory. What it knows it copies without a buffer.
fn is_pageable(table: &DriverTable, host: *const u8) -> bool {
    let mut kind = 0u32;
    // SAFETY: writes one number of 4 bytes; any address may be asked about.
    let code = unsafe {
        table.cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host as CUdeviceptr)
    };
    !code.is_success() || kind == 0
}

/// The parts of a copy, which end where the host address is a multiple of a slot's size: threads that
/// touch memory for the first time then share no large page.
fn chunk_ranges(address: usize, nbytes: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::with_capacity(nbytes / SLOT_BYTES + 2);
    let mut at = 0;
    while at < nbytes {
        let room = SLOT_BYTES - address.wrapping_add(at) % SLOT_BYTES;
        let length = room.min(nbytes - at);
        parts.push((at, length));
        at += length;
    }
    parts
}

/// A staged copy that is being made.
struct StagedCopyJob<'a> {
    table: &'static DriverTable,
    slots: &'a StagingSlots,
    transfer: StagedTransfer,
    stream: CUstream,
    /// Offset and length of each part.
    chunks: Vec<(usize, usize)>,
}

impl StagedCopyJob<'_> {
    /// `None` when no thread could be started or the first part not be enqueued: nothing has happened.
    ///
    /// # Safety
    /// As [`try_staged_copy`].
    unsafe fn run_copy(&self) -> Option<Result<()>> {
        let queue = ChunkQueue::new(self.chunks.len());
        let worker_count = (self.slots.len() / 2).min(self.chunks.len());
        std::thread::scope(|scope| {
            // SAFETY: the caller's promise; each chunk is moved by one thread, in a slot that nobody else
            // uses meanwhile.
            let work = || queue.run_worker(|chunk| unsafe { self.copy_chunk_on_host(chunk) });
            let started = (0..worker_count)
                .filter(|_| std::thread::Builder::new().name("rtcg-staging".into()).spawn_scoped(scope, work).is_ok());
            let result = match started.count() {
                0 => None,
                // SAFETY: the caller's promise.
                _ => unsafe { self.pipeline_chunks(&queue) },
            };
            queue.close_queue();
            result
        })
    }

    /// Gives work to the device and to the threads, so that both always have some.
    unsafe fn pipeline_chunks(&self, queue: &ChunkQueue) -> Option<Result<()>> {
        let (n, ahead) = (self.chunks.len(), self.slots.len() / 2);
        for step in 0..n + ahead {
            let result = match self.transfer {
                // SAFETY: the caller's promise.
                StagedTransfer::ToDevice { .. } => unsafe { self.pipeline_step_to_device(queue, step, ahead) },
                // SAFETY: the caller's promise.
                StagedTransfer::ToHost { .. } => unsafe { self.pipeline_step_to_host(queue, step, ahead) },
            };
            if let Err(error) = result {
                let nothing_happened =
                    step == if matches!(self.transfer, StagedTransfer::ToHost { .. }) { 0 } else { ahead };
                queue.close_queue();
                // SAFETY: the stream is the caller's; what was enqueued still uses slots.
                let _ = unsafe { self.table.cuStreamSynchronize(self.stream) };
                return (!nothing_happened).then_some(Err(error));
            }
        }
        let last = match self.transfer {
            // SAFETY: the event belongs to the slots.
            StagedTransfer::ToDevice { .. } => unsafe { self.wait_for_all_device_copies() },
            StagedTransfer::ToHost { .. } => {
                (0..n).for_each(|chunk| queue.wait_for_chunk(chunk));
                Ok(())
            }
        };
        Some(last)
    }

    unsafe fn pipeline_step_to_device(&self, queue: &ChunkQueue, step: usize, ahead: usize) -> Result<()> {
        let n = self.chunks.len();
        if step < n {
            if step >= self.slots.len() {
                // SAFETY: the event was recorded when the slot was used last.
                unsafe { self.wait_for_device_copy(step) }?;
            }
            queue.submit_chunk(step);
        }
        if step >= ahead {
            queue.wait_for_chunk(step - ahead);
            // SAFETY: the chunk is in its slot.
            unsafe { self.enqueue_chunk(step - ahead) }?;
        }
        Ok(())
    }

    unsafe fn pipeline_step_to_host(&self, queue: &ChunkQueue, step: usize, ahead: usize) -> Result<()> {
        let n = self.chunks.len();
        if step < n {
            if step >= self.slots.len() {
                queue.wait_for_chunk(step - self.slots.len());
            }
            // SAFETY: what was in the slot has been taken out.
            unsafe { self.enqueue_chunk(step) }?;
        }
        if step >= ahead {
            // SAFETY: the event was recorded after the copy into the slot.
            unsafe { self.wait_for_device_copy(step - ahead) }?;
            queue.submit_chunk(step - ahead);
        }
        Ok(())
    }

    /// Enqueues the device's part of a chunk, and an event after it.
    unsafe fn enqueue_chunk(&self, chunk: usize) -> Result<()> {
        let (offset, nbytes) = self.chunks[chunk];
        let (slot, event) = self.slots.slot_of_chunk(chunk);
        // SAFETY: the slot is as long as a chunk at least, and the device's side is the caller's promise.
        unsafe {
            match self.transfer {
                StagedTransfer::ToDevice { dst, .. } => {
                    call_driver!(self.table, cuMemcpyHtoDAsync(dst + offset as u64, slot.cast(), nbytes, self.stream))
                }
                StagedTransfer::ToHost { src, .. } => {
                    call_driver!(self.table, cuMemcpyDtoHAsync(slot.cast(), src + offset as u64, nbytes, self.stream))
                }
            }?;
            call_driver!(self.table, cuEventRecord(event, self.stream))
        }
    }

    unsafe fn wait_for_device_copy(&self, chunk: usize) -> Result<()> {
        let (_, event) = self.slots.slot_of_chunk(chunk);
        // SAFETY: the event is alive as long as the slots.
        unsafe { call_driver!(self.table, cuEventSynchronize(event)) }
    }

    unsafe fn wait_for_all_device_copies(&self) -> Result<()> {
        // SAFETY: the last chunk's event comes after all others of the stream.
        unsafe { self.wait_for_device_copy(self.chunks.len() - 1) }
    }

    /// A thread's part of a chunk.
    unsafe fn copy_chunk_on_host(&self, chunk: usize) {
        let (offset, nbytes) = self.chunks[chunk];
        let (slot, _) = self.slots.slot_of_chunk(chunk);
        // SAFETY: the slot is as long as a chunk at least, and the host's side is the caller's promise.
        unsafe {
            match self.transfer {
                StagedTransfer::ToDevice { src, .. } => slot.copy_from_nonoverlapping(src.add(offset), nbytes),
                StagedTransfer::ToHost { dst, .. } => dst.add(offset).copy_from_nonoverlapping(slot, nbytes),
            }
        }
    }
}

/// Chunks for the threads, and which of them are done.
struct ChunkQueue {
    state: Mutex<QueueState>,
    has_work: Condvar,
    has_done: Condvar,
}

struct QueueState {
    waiting: VecDeque<usize>,
    done: Vec<bool>,
    is_closed: bool,
}

impl ChunkQueue {
    fn new(n_chunks: usize) -> Self {
        let state = QueueState { waiting: VecDeque::new(), done: vec![false; n_chunks], is_closed: false };
        Self { state: Mutex::new(state), has_work: Condvar::new(), has_done: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        lock_ignoring_poison(&self.state)
    }

    fn submit_chunk(&self, chunk: usize) {
        self.lock().waiting.push_back(chunk);
        self.has_work.notify_one();
    }

    fn wait_for_chunk(&self, chunk: usize) {
        let mut state = self.lock();
        while !state.done[chunk] {
            state = self.has_done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the threads once they have done what was submitted.
    fn close_queue(&self) {
        self.lock().is_closed = true;
        self.has_work.notify_all();
    }

    /// What each thread does until the queue is closed.
    fn run_worker(&self, do_chunk: impl Fn(usize)) {
        let mut state = self.lock();
        loop {
            if let Some(chunk) = state.waiting.pop_front() {
                drop(state);
                do_chunk(chunk);
                state = self.lock();
                state.done[chunk] = true;
                self.has_done.notify_one();
            } else if state.is_closed {
                return;
            } else {
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_and_end_at_large_pages() {
        for (address, nbytes) in [(0, 1), (16, SLOT_BYTES), (SLOT_BYTES - 1, 3 * SLOT_BYTES + 7), (4096, 5)] {
            let parts = chunk_ranges(address, nbytes);
            let mut end = 0;
            for &(at, length) in &parts {
                assert_eq!(at, end);
                assert!(length > 0 && length <= SLOT_BYTES);
                end += length;
            }
            assert_eq!(end, nbytes);
            assert!(parts[1..].iter().all(|(at, _)| (address + at).is_multiple_of(SLOT_BYTES)));
        }
    }
}
