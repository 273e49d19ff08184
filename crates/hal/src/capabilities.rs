//! Capabilities that only some devices have: asynchronous reads, graphs, and cooperative launches.

use crate::error::Result;
use crate::launch::{ArgsView, Kernel};

/// Page-locked host memory for an asynchronous copy from the device, which is polled.
pub trait ReadSlot: Send {
    /// Enqueues a copy from `src` that fills the slot. Must not be called while a copy is in flight.
    ///
    /// # Errors
    /// When the device fails.
    fn start(&mut self, src: u64) -> Result<()>;
    /// The copied bytes; `None` while the copy is in flight. Never waits.
    ///
    /// # Errors
    /// When work before the copy failed.
    fn poll(&self) -> Result<Option<&[u8]>>;
    /// The copied bytes; waits.
    ///
    /// # Errors
    /// As [`ReadSlot::poll`].
    fn wait(&self) -> Result<&[u8]>;
}

/// Capability: asynchronous reads of device memory.
pub trait PinnedReads {
    /// Allocates a slot for a read of `nbytes` bytes.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn read_slot(&self, nbytes: usize) -> Result<Box<dyn ReadSlot>>;
}

/// Recorded launches, which are launched together.
pub trait LaunchableGraph: Send {
    /// Enqueues the graph; does not wait.
    ///
    /// # Errors
    /// When the device fails.
    fn launch(&self) -> Result<()>;
}

/// Capability: recording launches as a graph.
pub trait Graphs {
    /// Records what `body` enqueues, which must not allocate, copy to or from the host, or wait.
    ///
    /// # Errors
    /// Those of `body`, and when something cannot be recorded.
    fn record(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>>;

    /// Checks whether [`Graphs::record_until`] is possible.
    ///
    /// # Errors
    /// When the device does not support loops in graphs, or a library for them is missing; the message says what to
    /// install.
    fn check_loops(&self) -> Result<()>;

    /// Records what `body` enqueues as the body of a loop. It runs without the host as long as the double at `stop` is
    /// 0 after an iteration, and at most `turns` times per launch, so that waiting for it can be interrupted.
    ///
    /// # Errors
    /// As [`Graphs::record`] and [`Graphs::check_loops`].
    fn record_until(
        &self,
        stop: u64,
        turns: u32,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Box<dyn LaunchableGraph>>;
}

/// Capability: launches whose blocks are all resident at once, so that they may wait for each other.
pub trait Cooperative {
    /// The maximum cluster size in blocks, with a hardware barrier; 0 if clusters are not supported.
    fn cluster_blocks(&self) -> u32 {
        0
    }

    /// Like [`Queue::launch`](crate::Queue::launch) in the current queue, for at most [`Kernel::resident_blocks`] blocks; with `is_cluster`, as
    /// one cluster of at most [`Cooperative::cluster_blocks`].
    ///
    /// # Errors
    /// When there are more blocks, the kernel belongs to another runtime, or the device fails.
    fn launch(
        &self,
        kernel: &dyn Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        is_cluster: bool,
        args: ArgsView<'_>,
    ) -> Result<()>;
}
