//! Pools of page-locked host memory.

use super::bins;
use super::core::Core;
use super::device::checked_alloc_size;
use super::lease::Lease;
use super::source::Source;
use super::statistics::PoolStatistics;
use crate::error::Result;
use crate::stream::Stream;
use std::sync::Arc;

/// How a [`PageLockedMemoryPool`] allocates.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PageLockedAllocator {
    /// `CU_MEMHOSTALLOC_*`
    pub flags: u32,
}

/// Keeps freed page-locked memory for the next allocation of about the same size, per context.
///
/// As [`super::DeviceMemoryPool`] in everything else.
#[derive(Clone)]
pub struct PageLockedMemoryPool(Arc<Core>);

impl std::fmt::Debug for PageLockedMemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PageLockedMemoryPool({:?})", self.statistics())
    }
}

impl Default for PageLockedMemoryPool {
    fn default() -> Self {
        Self::new(PageLockedAllocator::default())
    }
}

impl PageLockedMemoryPool {
    /// An empty pool.
    pub fn new(allocator: PageLockedAllocator) -> Self {
        Self(Core::new(Source::Host(allocator.flags), false))
    }

    /// Memory of `nbytes` bytes for copies in `stream`; see
    /// [`super::DeviceMemoryPool::allocate`].
    pub fn allocate(&self, nbytes: usize, stream: Option<&Stream>) -> Result<PooledHostAllocation> {
        self.0.lease(nbytes, stream).map(PooledHostAllocation)
    }

    /// [`PageLockedMemoryPool::allocate`] without the driver: `None` if no unused block fits.
    #[inline]
    pub fn allocate_held(&self, nbytes: usize, stream: Option<&Stream>) -> Option<PooledHostAllocation> {
        self.0.lease_held(nbytes, stream).map(PooledHostAllocation)
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

/// Page-locked host memory from a pool, which gets it back when this is dropped.
pub struct PooledHostAllocation(Lease);

impl std::fmt::Debug for PooledHostAllocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PooledHostAllocation({:?}, {} bytes)", self.as_ptr(), self.nbytes())
    }
}

impl PooledHostAllocation {
    /// The address of the first byte.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0.ptr() as usize)
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

    /// Whether [`PooledHostAllocation::free`] was called.
    #[inline]
    pub fn is_freed(&self) -> bool {
        self.0.is_freed()
    }

    /// Says that copies in another stream than the one it was allocated for use this memory.
    pub fn used_in(&self, stream: Option<&Stream>) {
        self.0.used_in(stream);
    }

    /// Gives the memory back to the pool now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        self.0.free("pooled_host_allocation::free")
    }
}
