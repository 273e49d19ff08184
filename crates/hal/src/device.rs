//! A device as everything above sees it: memory, compiled kernels, and the queues that copies and launches go to.

use crate::capabilities::{Cooperative, Graphs, PinnedReads};
use crate::device_info::DeviceInfo;
use crate::error::Result;
use crate::kernel_spec::KernelText;
use crate::launch::{ArgsView, Kernel};
use crate::tensor_map::{TensorBoxes, TensorMap};
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

/// Bytes that [`Queue::reduction_workspace`] returns zeroed.
pub const REDUCTION_STATE_BYTES: usize = 4096 * 36;

/// A device as arrays see it.
pub trait Device: Send + Sync {
    /// Properties of the device.
    fn device_info(&self) -> DeviceInfo;
    /// A number that differs between contexts whose kernels must not access each other's memory; 0 if unknown.
    fn context_number(&self) -> u64 {
        0
    }
    /// Allocates at least one byte, for use in the order of the current queue.
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>>;
    /// The allocator from which [`Device::alloc`] currently takes the calling thread's memory; `None` is the device's
    /// own.
    fn allocator(&self) -> Option<Allocator> {
        None
    }
    /// Like [`Device::alloc`], but from `allocator` rather than the thread's current one.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn alloc_from(&self, allocator: Option<&Allocator>, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        match allocator {
            Some(allocator) => allocator(nbytes),
            None => self.alloc(nbytes),
        }
    }
    /// Compiles a kernel, or takes it from a cache.
    fn compile(&self, text: &KernelText<'_>) -> Result<Arc<dyn Kernel>>;
    /// The queue in which the calling thread's work is enqueued.
    fn queue(&self) -> &dyn Queue;
    /// Whether kernels of the device may be launched by the calling thread as it is.
    fn is_current(&self) -> bool {
        true
    }
    /// Descriptions of the device that owns the memory at an address and of this one, if kernels of this one cannot
    /// access it.
    fn inaccessible_owner(&self, _address: u64) -> Option<[String; 2]> {
        None
    }
    /// Waits for all work of the context.
    fn synchronize(&self) -> Result<()>;
    /// Describes matrices for bulk tensor copies. `None` if the device has none, or none of these.
    fn tensor_map(&self, _boxes: &TensorBoxes) -> Option<TensorMap> {
        None
    }
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

/// Where work is enqueued; the device runs it in order.
pub trait Queue: Send + Sync {
    /// Copies host bytes to the device; waits.
    fn write(&self, dst: u64, src: &[u8]) -> Result<()>;
    /// Copies device bytes to the host; waits.
    fn read(&self, dst: &mut [u8], src: u64) -> Result<()>;
    /// Copies within the device; does not wait.
    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()>;
    /// Sets bytes to zero; does not wait.
    fn fill_zero(&self, dst: u64, nbytes: usize) -> Result<()>;
    /// Enqueues a kernel of the device; does not wait. `shared_bytes` come on top of the shared memory that the kernel
    /// declares.
    ///
    /// # Errors
    /// When the kernel is another device's, or the device fails.
    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: ArgsView<'_>,
    ) -> Result<()>;
    /// The addresses of [`REDUCTION_STATE_BYTES`] zeroed bytes, which kernels restore to
    /// zero, and of `nbytes` further bytes, which each kernel may change. Only kernels in this queue may use them.
    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)>;
    /// An identifier of the queue, unique in its context; `None` while what is enqueued is being recorded, since it does
    /// not run then.
    ///
    /// # Errors
    /// When the driver does not report it.
    fn number(&self) -> Result<Option<u64>> {
        Ok(Some(0))
    }
}
