//! Pools of page-locked host memory.

use super::block_source::BlockSource;
use super::core::{PoolCore, PoolOptions};
use super::lease::BlockLease;
use super::methods::{allocation_methods, pool_methods};
use crate::flags::HostAllocFlags;
use std::sync::Arc;

/// How a [`PageLockedMemoryPool`] allocates.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PageLockedAllocator {
    /// The flags of allocations.
    pub flags: HostAllocFlags,
}

/// A pool that keeps freed page-locked memory for the next allocation of about the same size, per context.
///
/// In all other respects like [`super::DeviceMemoryPool`].
#[derive(Clone)]
pub struct PageLockedMemoryPool(Arc<PoolCore>);

impl Default for PageLockedMemoryPool {
    fn default() -> Self {
        Self::new(PageLockedAllocator::default())
    }
}

impl PageLockedMemoryPool {
    /// Makes an empty pool.
    pub fn new(allocator: PageLockedAllocator) -> Self {
        Self(PoolCore::new(BlockSource::Host(allocator.flags.0), PoolOptions::default()))
    }
}

pool_methods! {
    /// Allocates `nbytes` bytes for copies in `stream`; see [`super::DeviceMemoryPool::allocate`].
    PageLockedMemoryPool of PooledHostAllocation
}

/// Page-locked host memory from a pool, to which it returns when dropped.
pub struct PooledHostAllocation(BlockLease);

impl std::fmt::Debug for PooledHostAllocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PooledHostAllocation({:?}, {} bytes)", self.as_ptr(), self.nbytes())
    }
}

allocation_methods!(PooledHostAllocation, free = "pooled_host_allocation::free");

impl PooledHostAllocation {
    /// The address of the first byte.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0.ptr() as usize)
    }
}
