//! Memory pools: freed memory is kept for the next allocation, which makes both cheap.
//!
//! A pool knows which stream uses a block. Within a stream a block may be used again as soon as it is
//! given back, since the stream keeps its own order; another stream gets it only when an event has
//! said that the first one is through. Such events are recorded when a block is wanted, not when it is
//! freed, so the usual case costs nothing.

mod arena;
mod bins;
mod block_source;
mod core;
mod debug;
mod device;
mod host;
mod lease;
mod methods;
mod statistics;
mod trim;

pub use bins::bitlog2;
pub use debug::{BlockCount, DebugMemoryPool};
pub use device::{DeviceMemoryPool, PooledDeviceAllocation};
pub use host::{PageLockedAllocator, PageLockedMemoryPool, PooledHostAllocation};
pub use statistics::PoolStatistics;
