//! Memory pools: they keep freed memory for the next allocation, which makes both operations cheap.
//!
//! A pool knows which stream uses a block. The same stream may reuse a block as soon as it is freed, since a stream
//! runs in order; another stream gets it only when an event shows that the first one has finished with it. Such events
//! are recorded when a block is wanted, not when it is freed, so the common case costs nothing.

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
