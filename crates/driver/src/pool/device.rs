//! Pools of device memory.

use super::bins;
use super::core::Core;
use super::lease::Lease;
use super::source::Source;
use super::statistics::PoolStatistics;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::{memcpy_dtoh_in, memcpy_htod_in};
use crate::stream::Stream;
use rtcg_cuda_sys::{CUdeviceptr, CUresult};
use std::sync::Arc;

/// The size of a bin's blocks, as an error of `alloc_size` where there is no such bin.
pub(super) fn checked_alloc_size(bin: usize) -> Result<usize> {
    bins::alloc_size(bin).ok_or_else(|| {
        let detail = format!("there is no bin {bin}; expected less than {}", bins::N_BINS);
        Error::new("memory_pool::alloc_size", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    })
}

/// Keeps freed device memory for the next allocation of about the same size, per context.
///
/// Cloning gives another reference to the same pool. It may be used from any thread, and dropped at
/// any time, also when contexts are gone or while its memory is in use.
#[derive(Clone)]
pub struct DeviceMemoryPool(pub(super) Arc<Core>);

impl Default for DeviceMemoryPool {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for DeviceMemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceMemoryPool({:?})", self.statistics())
    }
}

impl DeviceMemoryPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self(Core::new(Source::Device, false))
    }

    /// Memory of `nbytes` bytes (0 is allowed) for work in `stream`, in the stream's context; without
    /// one for work in the default stream of the current context.
    ///
    /// Memory that the same stream gave back is handed out at once, memory of another stream only when
    /// that has passed its work. When the device is out of memory, the program's reclaim hook
    /// ([`crate::memory::set_reclaim_hook`]) runs, then unused blocks go back to the driver, the
    /// largest first.
    pub fn allocate(&self, nbytes: usize, stream: Option<&Stream>) -> Result<PooledDeviceAllocation> {
        self.0.lease(nbytes, stream).map(PooledDeviceAllocation)
    }

    /// [`DeviceMemoryPool::allocate`] without the driver: `None` if no unused block fits.
    #[inline]
    pub fn allocate_held(&self, nbytes: usize, stream: Option<&Stream>) -> Option<PooledDeviceAllocation> {
        self.0.lease_held(nbytes, stream).map(PooledDeviceAllocation)
    }

    /// What it has and did.
    pub fn statistics(&self) -> PoolStatistics {
        self.0.statistics()
    }

    /// The bin of a size in bytes; sizes of a bin share blocks.
    pub fn bin_number(nbytes: usize) -> usize {
        bins::bin_number(nbytes)
    }

    /// The size in bytes of the blocks of a bin.
    pub fn alloc_size(bin: usize) -> Result<usize> {
        checked_alloc_size(bin)
    }

    /// Gives all unused blocks back to the driver.
    pub fn free_held(&self) {
        self.0.free_held();
    }

    /// Gives all unused blocks back to the driver, now and from now on.
    pub fn stop_holding(&self) {
        self.0.stop_holding();
    }
}

/// Device memory from a pool, which gets it back when this is dropped.
pub struct PooledDeviceAllocation(pub(super) Lease);

impl std::fmt::Debug for PooledDeviceAllocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PooledDeviceAllocation({:#x}, {} bytes)", self.ptr(), self.nbytes())
    }
}

impl PooledDeviceAllocation {
    /// The address of the first byte.
    #[inline]
    pub fn ptr(&self) -> CUdeviceptr {
        self.0.ptr()
    }

    /// The size in bytes, as asked for.
    #[inline]
    pub fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// Whether giving it back may wait for the device, because its pool keeps nothing any more.
    pub fn may_wait(&self) -> bool {
        self.0.may_wait()
    }

    /// Whether [`PooledDeviceAllocation::free`] was called.
    #[inline]
    pub fn is_freed(&self) -> bool {
        self.0.is_freed()
    }

    /// Says that work in another stream than the one it was allocated for uses this memory (`None` is
    /// the default stream): when it is given back, it is handed out again only when that stream has
    /// passed what is in it then.
    pub fn used_in(&self, stream: Option<&Stream>) {
        self.0.used_in(stream);
    }

    /// Gives the memory back to the pool now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        self.0.free("pooled_device_allocation::free")
    }

    /// Copies host bytes to `offset`; waits until they are there.
    pub fn write(&self, offset: usize, src: &[u8]) -> Result<()> {
        let dst = self.range("cuMemcpyHtoD", offset, src.len())?;
        let ctx = self.context("cuMemcpyHtoD")?;
        // SAFETY: the range lies within this memory, which `range` checked.
        ctx.hold_current(|| unsafe { memcpy_htod_in(ctx.table(), dst, src) })
    }

    /// Copies bytes from `offset` to the host; waits until they are there.
    pub fn read(&self, offset: usize, dst: &mut [u8]) -> Result<()> {
        let src = self.range("cuMemcpyDtoH", offset, dst.len())?;
        let ctx = self.context("cuMemcpyDtoH")?;
        // SAFETY: as above.
        ctx.hold_current(|| unsafe { memcpy_dtoh_in(ctx.table(), dst, src) })
    }

    fn context(&self, call: &'static str) -> Result<Context> {
        self.0.context().ok_or_else(|| Error::new(call, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, ""))
    }

    fn range(&self, call: &'static str, offset: usize, nbytes: usize) -> Result<CUdeviceptr> {
        let size = self.nbytes();
        let detail = match offset.checked_add(nbytes) {
            _ if self.is_freed() => "the memory was freed".to_owned(),
            Some(end) if end <= size => return Ok(self.ptr() + offset as u64),
            _ => format!("{nbytes} bytes at {offset} are outside {size} bytes"),
        };
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail))
    }
}
