//! Whether a launch may make the calling thread wait.
//!
//! A driver enqueues a launch and returns, unless its queue is full: then it waits until the device has taken launches
//! off it. Establishes: a launch reported as not waiting follows so few others since the program last waited for the
//! device that no queue of a known driver is full, and it is not behind a host function. Assumes nothing about other
//! libraries that fill the same queue.

use crate::last_launch::{KernelId, LastLaunch};
use rtcg_cuda_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Queues of NVIDIA's drivers have held about a thousand launches as long as there have been queues.
const MAX_QUEUED_LAUNCHES: u32 = 256;

/// How many [`PendingHostWork`] there are.
static N_PENDING_HOST_WORK: AtomicUsize = AtomicUsize::new(0);

/// Work in this process that the device may wait for: a host function that has not run, a graph that contains one, a
/// value in memory. The work is pending until this is dropped.
///
/// A caller that holds a lock which host functions need makes one with the lock held, before it hands a function to the
/// driver: any launch made later with the lock held sees it, and any earlier launch is in the queue first.
#[derive(Debug)]
pub struct PendingHostWork(());

impl PendingHostWork {
    /// Records that the device may wait for one more thing.
    #[expect(clippy::new_without_default, reason = "it counts, and no default should")]
    pub fn new() -> Self {
        N_PENDING_HOST_WORK.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// It is not known when the device has what it waits for.
    pub(crate) fn add_never_finished() {
        std::mem::forget(Self::new());
    }
}

/// Whether the device may wait for this process.
#[inline]
pub(crate) fn is_host_work_pending() -> bool {
    N_PENDING_HOST_WORK.load(Ordering::Relaxed) != 0
}

impl Drop for PendingHostWork {
    fn drop(&mut self) {
        N_PENDING_HOST_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many launches of a context the device may not have begun.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct LaunchQueue {
    n_launches: AtomicU32,
    /// The stream of all of them, or [`MULTIPLE_STREAMS_SENTINEL`].
    stream: AtomicUsize,
    last: LastLaunch,
}

/// No stream's handle.
const MULTIPLE_STREAMS_SENTINEL: usize = usize::MAX;

/// The launches that a wait is for.
#[derive(Clone, Copy)]
pub(crate) struct AwaitedLaunches(u32);

impl LaunchQueue {
    /// Counts a launch. Of two threads that launch at once one may not be counted: the limit is far from
    /// what queues hold.
    #[inline]
    pub(crate) fn count_launch(&self, stream: CUstream, kernel: KernelId) {
        self.last.set_kernel(kernel);
        let n_launches = self.n_launches.load(Ordering::Relaxed);
        let handle = stream.addr();
        if self.stream.load(Ordering::Relaxed) != handle {
            self.stream.store(if n_launches == 0 { handle } else { MULTIPLE_STREAMS_SENTINEL }, Ordering::Relaxed);
        }
        self.n_launches.store(n_launches.saturating_add(1), Ordering::Relaxed);
    }

    /// Whether the next launch may have to wait.
    #[inline]
    pub(crate) fn may_block_on_full_queue(&self) -> bool {
        self.n_launches.load(Ordering::Relaxed) >= MAX_QUEUED_LAUNCHES || is_host_work_pending()
    }

    /// What it launched last.
    pub(crate) fn last_launch(&self) -> &LastLaunch {
        &self.last
    }

    /// How many launches there were since a wait has succeeded, and the name of the last kernel, for a message.
    #[cold]
    pub(crate) fn describe_pending(&self) -> Option<String> {
        let name = self.last.kernel_name()?;
        Some(match self.n_launches.load(Ordering::Relaxed) {
            0 => format!("the last kernel launched here was '{name}'"),
            1 => format!("since this context was last waited for, kernel '{name}' was launched"),
            n => {
                format!("since this context was last waited for, {n} kernels were launched, the last of them '{name}'")
            }
        })
    }

    /// What a wait that begins now is for.
    #[inline]
    pub(crate) fn snapshot_awaited_launches(&self) -> AwaitedLaunches {
        AwaitedLaunches(self.n_launches.load(Ordering::Relaxed))
    }

    /// The whole context has done what there was before the wait.
    #[inline]
    pub(crate) fn finish_context_wait(&self, waited: AwaitedLaunches) {
        let left = self.n_launches.load(Ordering::Relaxed).saturating_sub(waited.0);
        self.n_launches.store(left, Ordering::Relaxed);
    }

    /// One stream has done what there was before the wait; that says something only where all launches
    /// went there, and no other thread means a stream of its own by the same handle.
    #[inline]
    pub(crate) fn finish_stream_wait(&self, stream: CUstream, waited: AwaitedLaunches) {
        let stream = if stream == CU_STREAM_LEGACY { CUstream::null() } else { stream };
        if self.stream.load(Ordering::Relaxed) == stream.addr() && stream != CU_STREAM_PER_THREAD {
            self.finish_context_wait(waited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream_from_number(number: usize) -> CUstream {
        CUstream(std::ptr::without_provenance_mut(number))
    }

    #[test]
    fn a_wait_takes_launches_out_of_the_queue() {
        let queue = LaunchQueue::default();
        for _ in 0..MAX_QUEUED_LAUNCHES {
            assert!(!queue.may_block_on_full_queue());
            queue.count_launch(stream_from_number(0), KernelId::from_kernel_address(&0));
        }
        assert!(queue.may_block_on_full_queue());
        let waited = queue.snapshot_awaited_launches();
        queue.count_launch(stream_from_number(0), KernelId::from_kernel_address(&0));
        queue.finish_stream_wait(stream_from_number(16), waited);
        assert!(queue.may_block_on_full_queue(), "another stream's end says nothing");
        queue.finish_stream_wait(CU_STREAM_LEGACY, waited);
        assert_eq!(queue.n_launches.load(Ordering::Relaxed), 1, "what came during the wait is still there");
        assert!(!queue.may_block_on_full_queue());
    }

    #[test]
    fn only_a_context_wait_empties_a_queue_of_several_streams() {
        let queue = LaunchQueue::default();
        (0..MAX_QUEUED_LAUNCHES).for_each(|i| {
            queue.count_launch(stream_from_number(16 + 16 * (i as usize % 2)), KernelId::from_kernel_address(&0))
        });
        let waited = queue.snapshot_awaited_launches();
        queue.finish_stream_wait(stream_from_number(16), waited);
        queue.finish_stream_wait(stream_from_number(32), waited);
        assert!(queue.may_block_on_full_queue());
        queue.finish_context_wait(waited);
        assert!(!queue.may_block_on_full_queue());
        queue.count_launch(stream_from_number(16), KernelId::from_kernel_address(&0));
        queue.finish_stream_wait(stream_from_number(16), queue.snapshot_awaited_launches());
        assert_eq!(queue.n_launches.load(Ordering::Relaxed), 0);
    }
}
