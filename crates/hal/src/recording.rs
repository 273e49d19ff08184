//! Records what a thread enqueues while it runs on, so that a call which turns out to be one launch can be repeated.

use crate::device::{Device, Queue};
use crate::error::Result;
use crate::launch::{ArgsView, Kernel};
use crate::repeated_launch::Launch;
use crate::thread_flag::ThreadFlag;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

thread_local! {
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
    static RECORDING: RefCell<Recording> = const { RefCell::new(Recording { launches: Vec::new(), uses_queue_memory: false, has_other_work: false }) };
}

static RECORDING_FLAG: ThreadFlag = ThreadFlag::new(&IS_RECORDING);

/// What was enqueued meanwhile.
#[derive(Debug, Default)]
pub struct Recording {
    /// The launches.
    pub launches: Vec<Launch>,
    /// Whether launches have memory of the queue, so that they can be repeated in this queue only.
    pub uses_queue_memory: bool,
    /// Whether there was anything else, such as copies.
    pub has_other_work: bool,
}

/// Whether the calling thread's work is being recorded.
#[inline]
pub(crate) fn is_recording() -> bool {
    RECORDING_FLAG.is_set()
}

/// Runs `body` and returns what this thread enqueued meanwhile; `None` within another recording, which gets it.
pub fn record_launches<T>(body: impl FnOnce() -> T) -> (T, Option<Recording>) {
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            RECORDING_FLAG.set_for_thread(false);
            let _ = RECORDING.try_with(RefCell::take);
        }
    }
    if is_recording() {
        return (body(), None);
    }
    RECORDING_FLAG.set_for_thread(true);
    let stop = Stop;
    let result = body();
    let recording = RECORDING.take();
    drop(stop);
    (result, Some(recording))
}

fn note(change: impl FnOnce(&mut Recording)) {
    let _ = RECORDING.try_with(|recording| change(&mut recording.borrow_mut()));
}

/// The current queue of a device, which notes what it is given.
pub(crate) struct RecordingQueue(pub(crate) Arc<dyn Device>);

impl RecordingQueue {
    fn after_noting_other_work(&self) -> &dyn Queue {
        note(|recording| recording.has_other_work = true);
        self.0.queue()
    }
}

impl Queue for RecordingQueue {
    fn write(&self, dst: u64, src: &[u8]) -> Result<()> {
        self.after_noting_other_work().write(dst, src)
    }

    fn read(&self, dst: &mut [u8], src: u64) -> Result<()> {
        self.after_noting_other_work().read(dst, src)
    }

    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()> {
        self.after_noting_other_work().copy(dst, src, nbytes)
    }

    fn fill_zero(&self, dst: u64, nbytes: usize) -> Result<()> {
        self.after_noting_other_work().fill_zero(dst, nbytes)
    }

    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: ArgsView<'_>,
    ) -> Result<()> {
        self.0.queue().launch(kernel, grid, block, shared_bytes, args)?;
        note(|recording| {
            recording.launches.push(Launch::recorded(kernel, [grid, block], shared_bytes, args.to_args()));
        });
        Ok(())
    }

    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)> {
        note(|recording| recording.uses_queue_memory = true);
        self.0.queue().reduction_workspace(nbytes)
    }

    fn number(&self) -> Result<Option<u64>> {
        self.after_noting_other_work().number()
    }
}
