//! A device as everything above sees it: memory, copies and compiled kernels.

use crate::capabilities::{Cooperative, Graphs, PinnedReads};
use crate::device_info::DeviceInfo;
use crate::error::Result;
use crate::launch::LaunchableKernel;
use std::any::Any;
use std::sync::Arc;

/// Device memory that is freed with the last reference.
pub trait ArrayBuffer: Send + Sync + Any {
    /// Address of the first byte on the device.
    fn device_ptr(&self) -> u64;
    /// Called before work that uses the memory is enqueued.
    fn record_use(&self) {}
    /// Waits for work with the memory for which a copy to or from the host in the current stream would not wait.
    ///
    /// # Errors
    /// When that work failed.
    fn wait_for_uses(&self) -> Result<()> {
        Ok(())
    }
    /// The concrete buffer, for users of a runtime who know its type.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Computes a deferred result, so that the address exists.
    ///
    /// # Errors
    /// When the computation fails.
    fn ensure_computed(&self) -> Result<()> {
        Ok(())
    }
    /// The address of the first byte, checked, for work that is about to be enqueued.
    ///
    /// # Errors
    /// As [`ArrayBuffer::ensure_computed`].
    fn address_recording_use(&self) -> Result<u64> {
        self.ensure_computed()?;
        self.record_use();
        Ok(self.device_ptr())
    }
}

/// Allocates at least this many bytes for arrays.
pub type Allocator = Arc<dyn Fn(usize) -> Result<Arc<dyn ArrayBuffer>> + Send + Sync>;

/// Bytes that [`DeviceRuntime::reduction_workspace`] returns zeroed.
pub const REDUCTION_STATE_BYTES: usize = 4096 * 36;

/// A device as arrays see it. Work is enqueued in the runtime's current stream of the calling thread.
pub trait DeviceRuntime: Send + Sync {
    /// Properties of the device.
    fn device_info(&self) -> DeviceInfo;
    /// A number that differs between contexts whose kernels must not access each other's memory; 0 if unknown.
    fn context_number(&self) -> u64 {
        0
    }
    /// Allocates at least one byte, for use in stream order.
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>>;
    /// The allocator from which [`DeviceRuntime::alloc`] currently takes the calling thread's memory; `None` is the
    /// runtime's own.
    fn allocator(&self) -> Option<Allocator> {
        None
    }
    /// Like [`DeviceRuntime::alloc`], but from `allocator` rather than the thread's current one.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn alloc_from(&self, allocator: Option<&Allocator>, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        match allocator {
            Some(allocator) => allocator(nbytes),
            None => self.alloc(nbytes),
        }
    }
    /// Copies host bytes to the device; waits.
    fn memcpy_htod(&self, dst: u64, src: &[u8]) -> Result<()>;
    /// Copies device bytes to the host; waits.
    fn memcpy_dtoh(&self, dst: &mut [u8], src: u64) -> Result<()>;
    /// Copies within the device; does not wait.
    fn memcpy_dtod(&self, dst: u64, src: u64, nbytes: usize) -> Result<()>;
    /// Sets bytes to zero; does not wait.
    fn memset_zero(&self, dst: u64, nbytes: usize) -> Result<()>;
    /// Compiles the kernel `name` in `source`, or takes it from a cache.
    fn compile(&self, source: &str, name: &str) -> Result<Arc<dyn LaunchableKernel>>;
    /// The addresses of [`REDUCTION_STATE_BYTES`] zeroed bytes, which kernels restore to
    /// zero, and of `nbytes` further bytes, which each kernel may change. Only kernels in the current stream may use
    /// them.
    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)>;
    /// An identifier of the current stream, unique in its context, whose work runs in order; `None` while the stream is
    /// being captured, since its work does not run.
    ///
    /// # Errors
    /// When the driver does not report it.
    fn stream_number(&self) -> Result<Option<u64>> {
        Ok(Some(0))
    }
    /// Waits for all work of the context.
    fn synchronize(&self) -> Result<()>;
    /// Asynchronous reads, if the device supports them.
    fn pinned_reads(&self) -> Option<&dyn PinnedReads> {
        None
    }
    /// Graphs, if the device supports them.
    fn graphs(&self) -> Option<&dyn Graphs> {
        None
    }
    /// Cooperative launches, if the device supports them.
    fn cooperative(&self) -> Option<&dyn Cooperative> {
        None
    }
    /// Returns cached memory to the device; the result says whether there was any.
    fn release_cached_memory(&self) -> bool {
        false
    }
    /// The size of cached memory in bytes.
    fn cached_bytes(&self) -> usize {
        0
    }
}
