//! Memory pools: what is allocated from one, and what other devices may do with it.
//!
//! A pool says that it reserves memory in large pieces, and that it keeps what was freed until a synchronisation, as
//! on a card. That is a report: the device is charged for what is allocated, so that a small one is not exhausted by
//! a pool that holds little.

use super::heap::MemoryKind;
use super::ipc::IpcRecord;
use crate::device::device_by_ordinal;
use rtcg_cuda_sys::{CUmemAccess_flags, CUmemLocationType};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::POOL_RESERVATION_BYTES;
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// Memory pools.
pub(crate) static POOLS: HandleTable<MemoryPool> = HandleTable::new(0x16);

/// `CUmemoryPool`
#[derive(Debug)]
pub(crate) struct MemoryPool {
    /// Ordinal of the device.
    pub(crate) device: u32,
    /// Type and number of the location that it was made for.
    pub(crate) location: (u32, i32),
    /// Bytes that may be reserved at once, in whole pieces; 0 for no limit.
    pub(crate) max_bytes: u64,
    /// What its memory is.
    pub(crate) kind: MemoryKind,
    /// Whether it is the default pool of a device or of another location, which cannot be destroyed.
    pub(crate) is_default: bool,
    usage: Mutex<PoolUsage>,
    /// Release threshold, and the three reuse switches, as set by the program.
    pub(crate) release_threshold: AtomicU64,
    /// `CU_MEMPOOL_ATTR_REUSE_...`, by attribute number less one.
    pub(crate) reuse: [AtomicI32; 3],
    /// What other devices may do with the memory, by their ordinals; nothing, unless it is said.
    access: Mutex<HashMap<u32, CUmemAccess_flags>>,
    /// What other processes import it with, if it was made for that.
    pub(crate) ipc_record: Option<IpcRecord>,
    /// The record of another process's pool that this one stands for; 0 for a pool of this process.
    pub(crate) imported: u64,
}

/// Bytes of a pool.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolUsage {
    /// Allocated, as asked for.
    pub(crate) used: u64,
    /// The most that was, since that was reset.
    pub(crate) used_high: u64,
    /// Reserved, in whole pieces.
    pub(crate) reserved: u64,
    /// The most that was, since that was reset.
    pub(crate) reserved_high: u64,
}

/// Whether some pool may keep memory that nobody uses.
static POOLS_KEEP_MEMORY: AtomicBool = AtomicBool::new(false);

/// What a synchronisation does with the pools: they give back what is free beyond their thresholds.
pub(crate) fn release_unused_reservations() {
    if POOLS_KEEP_MEMORY.load(Ordering::Acquire) && POOLS_KEEP_MEMORY.swap(false, Ordering::AcqRel) {
        POOLS.for_each(|pool| pool.release_beyond(pool.release_threshold.load(Ordering::Relaxed)));
    }
}

impl PoolUsage {
    /// The pieces that what is in use needs.
    fn needed(&self) -> u64 {
        self.used.next_multiple_of(POOL_RESERVATION_BYTES)
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        self.change_usage(|usage| usage.reserved = 0);
    }
}

impl MemoryPool {
    /// An empty pool.
    pub(crate) fn new(device: u32, max_bytes: u64, is_default: bool) -> MemoryPool {
        MemoryPool {
            device,
            location: (CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE.0, device as i32),
            max_bytes,
            kind: MemoryKind::Device,
            is_default,
            usage: Mutex::default(),
            release_threshold: AtomicU64::new(0),
            reuse: [const { AtomicI32::new(1) }; 3],
            access: Mutex::default(),
            ipc_record: None,
            imported: 0,
        }
    }

    /// Says what a device may do with the memory.
    pub(crate) fn set_pool_access(&self, device: u32, flags: CUmemAccess_flags) {
        self.access.lock().ignore_poison().insert(device, flags);
    }

    /// Whether kernels of a device may have memory of it.
    pub(crate) fn serves_device(&self, device: u32) -> bool {
        self.device == device || self.kind != MemoryKind::Device
    }

    /// What a device may do with the memory: its own one everything, and each one with other processes' memory.
    pub(crate) fn device_access(&self, device: u32) -> CUmemAccess_flags {
        if device == self.device || self.imported != 0 {
            return CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        }
        let access = self.access.lock().ignore_poison();
        access.get(&device).copied().unwrap_or(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE)
    }

    /// Takes note of an allocation.
    pub(crate) fn charge_allocation(&self, bytes: u64) -> Res {
        self.change_usage(|usage| {
            let used = usage.used + bytes;
            let most = self.max_bytes.checked_next_multiple_of(POOL_RESERVATION_BYTES).unwrap_or(u64::MAX);
            ensure(self.max_bytes == 0 || used <= most, ResultCode::OUT_OF_MEMORY)?;
            usage.used = used;
            usage.used_high = usage.used_high.max(used);
            usage.reserved = usage.reserved.max(usage.needed());
            usage.reserved_high = usage.reserved_high.max(usage.reserved);
            Ok(())
        })
    }

    /// Takes note of a block that was freed.
    pub(crate) fn uncharge_block(&self, bytes: u64) {
        self.change_usage(|usage| usage.used = usage.used.saturating_sub(bytes));
        POOLS_KEEP_MEMORY.store(true, Ordering::Release);
    }

    /// Gives back free pieces as long as more than so many bytes are reserved.
    pub(crate) fn release_beyond(&self, bytes: u64) {
        self.keep_at_most(bytes - bytes % POOL_RESERVATION_BYTES);
    }

    /// Gives back free pieces as long as so many bytes stay.
    pub(crate) fn trim_to(&self, bytes: u64) {
        self.keep_at_most(bytes.checked_next_multiple_of(POOL_RESERVATION_BYTES).unwrap_or(u64::MAX));
    }

    fn keep_at_most(&self, bytes: u64) {
        self.change_usage(|usage| usage.reserved = usage.reserved.min(bytes).max(usage.needed()));
    }

    /// The bytes of the pool.
    pub(crate) fn usage(&self) -> PoolUsage {
        *self.usage.lock().ignore_poison()
    }

    /// Changes the usage, and tells the device what the pool keeps.
    pub(crate) fn change_usage<R>(&self, change: impl FnOnce(&mut PoolUsage) -> R) -> R {
        let mut usage = self.usage.lock().ignore_poison();
        let before = usage.reserved;
        let result = change(&mut usage);
        if usage.reserved != before
            && let Ok(device) = device_by_ordinal(self.device as i32)
        {
            device.report().change_pool(before, usage.reserved);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reserved_in_pieces_and_kept_until_it_is_released() {
        let mib = |n: u64| n << 20;
        let pool = MemoryPool::new(0, mib(100), false);
        let usage = |pool: &MemoryPool| (pool.usage().reserved, pool.usage().used);
        pool.charge_allocation(1).unwrap();
        pool.charge_allocation(mib(40)).unwrap();
        assert_eq!(usage(&pool), (mib(64), mib(40) + 1));
        assert_eq!(pool.charge_allocation(mib(88)).unwrap_err().code, ResultCode::OUT_OF_MEMORY);
        pool.uncharge_block(mib(40));
        assert_eq!(usage(&pool), (mib(64), 1));
        pool.trim_to(mib(48));
        assert_eq!(usage(&pool), (mib(64), 1), "as much as is asked for stays");
        pool.release_beyond(mib(48));
        assert_eq!(usage(&pool), (mib(32), 1), "no more than the threshold stays");
        pool.uncharge_block(1);
        pool.release_beyond(1);
        assert_eq!((usage(&pool), pool.usage().reserved_high, pool.usage().used_high), ((0, 0), mib(64), mib(40) + 1));
    }
}
