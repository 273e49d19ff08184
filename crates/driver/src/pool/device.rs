//! Pools of device memory.

use super::block_source::BlockSource;
use super::core::{PoolCore, PoolOptions};
use super::lease::BlockLease;
use super::methods::{allocation_methods, pool_methods};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{memcpy_dtoh_with_table, memcpy_htod_with_table};
use rtcg_cuda_sys::{CUdeviceptr, CUresult};
use std::sync::Arc;

/// A pool that keeps freed device memory for the next allocation of about the same size, per context.
///
/// Cloning gives another reference to the same pool. It may be used from any thread, and dropped at any time, even
/// after contexts were destroyed or while its memory is in use.
#[derive(Clone)]
pub struct DeviceMemoryPool(pub(super) Arc<PoolCore>);

impl Default for DeviceMemoryPool {
    fn default() -> Self {
        Self::new()
    }
}

impl DeviceMemoryPool {
    /// Makes an empty pool.
    pub fn new() -> Self {
        Self(PoolCore::new(BlockSource::Device, PoolOptions::default()))
    }

    /// Makes an empty pool that caches unused blocks only while its process keeps allocating: after one to two seconds
    /// without allocations or frees, they go back to the driver.
    pub fn trimmed_when_idle() -> Self {
        Self(PoolCore::new(BlockSource::Device, PoolOptions { trims_when_idle: true, ..PoolOptions::default() }))
    }
}

pool_methods! {
    /// Allocates `nbytes` bytes (0 is allowed) for work in `stream`, in the stream's context; without a stream, for
    /// work in the current context's default stream.
    ///
    /// Memory that the same stream gave back is reused at once; memory of another stream only when that stream has
    /// finished its work. When the device is out of memory, the program's reclaim hook
    /// ([`crate::memory::set_reclaim_hook`]) runs first, then unused blocks go back to the driver, the largest first.
    DeviceMemoryPool of PooledDeviceAllocation
}

/// Device memory from a pool, to which it returns when dropped.
pub struct PooledDeviceAllocation(pub(super) BlockLease);

impl std::fmt::Debug for PooledDeviceAllocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PooledDeviceAllocation({:#x}, {} bytes)", self.ptr(), self.nbytes())
    }
}

allocation_methods!(PooledDeviceAllocation, free = "pooled_device_allocation::free");

impl PooledDeviceAllocation {
    /// The address of the first byte.
    #[inline]
    pub fn ptr(&self) -> CUdeviceptr {
        self.0.ptr()
    }

    /// Whether streams other than the default one have used it. Copies in the default stream need not wait for them.
    #[inline]
    pub fn has_uses_in_other_streams(&self) -> bool {
        self.0.has_uses_in_other_streams()
    }

    /// A stream behind which all work with the memory is done that is pending now; `None` when nothing is. Does not wait.
    ///
    /// # Errors
    /// When that work failed.
    pub fn pending_stream(&self) -> Result<Option<crate::stream::Stream>> {
        self.0.pending_stream()
    }

    /// Waits for work that used it in streams other than the default one, and for graphs that may use it.
    pub fn wait_for_uses(&self) -> Result<()> {
        self.0.wait_for_uses()
    }

    /// Copies host bytes to `offset`; waits for completion.
    pub fn write(&self, offset: usize, src: &[u8]) -> Result<()> {
        let dst = self.checked_range("cuMemcpyHtoD", offset, src.len())?;
        let ctx = self.context_or_error("cuMemcpyHtoD")?;
        // SAFETY: the range lies within this memory, which `checked_range` checked.
        ctx.with_current_locked(|| unsafe { memcpy_htod_with_table(ctx.driver_table(), dst, src) })
    }

    /// Copies bytes from `offset` to the host; waits for completion.
    pub fn read(&self, offset: usize, dst: &mut [u8]) -> Result<()> {
        let src = self.checked_range("cuMemcpyDtoH", offset, dst.len())?;
        let ctx = self.context_or_error("cuMemcpyDtoH")?;
        // SAFETY: the range is inside the block, which this object holds, and `dst` is as long.
        ctx.with_current_locked(|| unsafe { memcpy_dtoh_with_table(ctx.driver_table(), dst, src) })
    }

    fn context_or_error(&self, call: &'static str) -> Result<Context> {
        self.0.context().ok_or_else(|| Error::new(call, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, ""))
    }

    fn checked_range(&self, call: &'static str, offset: usize, nbytes: usize) -> Result<CUdeviceptr> {
        let size = self.nbytes();
        let detail = match offset.checked_add(nbytes) {
            _ if self.is_freed() => "the memory was freed".to_owned(),
            Some(end) if end <= size => return Ok(self.ptr() + offset as u64),
            _ => format!("{nbytes} bytes at {offset} are outside {size} bytes"),
        };
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail))
    }
}
