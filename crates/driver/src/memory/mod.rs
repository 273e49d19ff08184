//! Memory: allocations on the device and the host, copies and fills.

mod address_owner;
mod array;
mod cache_flush;
mod copy;
mod copy_2d_3d;
mod device;
mod diagnosis;
mod hints;
mod host;
mod mapping;
mod memory_pool;
mod memset;
pub(crate) mod reclaim;
mod staging;

pub use address_owner::{check_accessible, inaccessible_owner_device};
pub use array::{Array, MipmappedArray, memcpy_atoa, memcpy_atod, memcpy_atoh, memcpy_dtoa, memcpy_htoa};
pub use cache_flush::CacheFlush;
pub use copy::{
    memcpy_dtod, memcpy_dtod_async, memcpy_dtoh, memcpy_dtoh_async, memcpy_dtoh_in_stream, memcpy_htod,
    memcpy_htod_async, memcpy_htod_in_stream, memcpy_peer, memcpy_peer_async,
};
pub(crate) use copy::{memcpy_dtoh_with_table, memcpy_htod_with_table};
pub use copy_2d_3d::{memcpy_2d, memcpy_2d_async, memcpy_3d, memcpy_3d_async, memcpy_3d_peer, memcpy_3d_peer_async};
pub use device::{
    DeviceAllocation, IpcMemory, ManagedAllocation, mem_alloc, mem_alloc_pitch, mem_get_address_range, mem_get_info,
    mem_get_ipc_handle,
};
pub(crate) use diagnosis::explain_allocation_error;
pub use hints::{mem_advise, mem_prefetch_async, mem_range_attribute, pointer_attribute_u64};
pub use host::{AlignedHostAllocation, HostAllocation, RegisteredHostMemory, host_device_pointer};
pub use mapping::{AccessRights, AddressRange, Mapping, PhysicalMemory, mem_granularity};
pub use memory_pool::MemoryPool;
pub use memset::{
    extent_2d, memset_d2d8, memset_d2d8_async, memset_d2d16, memset_d2d16_async, memset_d2d32, memset_d2d32_async,
    memset_d8, memset_d8_async, memset_d16, memset_d16_async, memset_d32, memset_d32_async,
};
pub use reclaim::set_reclaim_hook;
pub use staging::{StagingPolicy, set_staging_policy, staging_policy};
