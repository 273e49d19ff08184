//! Memory pools: what is allocated from one, and what other devices may do with it.

use super::ipc::IpcRecord;
use rtcg_cuda_sys::CUmemAccess_flags;
use rtcg_vgpu_abi::error::{Res, ResultCode};
use rtcg_vgpu_abi::handle_table::HandleTable;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Memory pools.
pub(crate) static POOLS: HandleTable<MemoryPool> = HandleTable::new(0x16);

/// `CUmemoryPool`
#[derive(Debug)]
pub(crate) struct MemoryPool {
    /// Ordinal of the device.
    pub(crate) device: u32,
    /// Bytes allowed at once, 0 for no limit.
    pub(crate) max_bytes: u64,
    /// Whether it is a device's default pool, which cannot be destroyed.
    pub(crate) is_default: bool,
    used: AtomicU64,
    used_high: AtomicU64,
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

impl MemoryPool {
    /// An empty pool.
    pub(crate) fn new(device: u32, max_bytes: u64, is_default: bool) -> MemoryPool {
        MemoryPool {
            device,
            max_bytes,
            is_default,
            used: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
            release_threshold: AtomicU64::new(0),
            reuse: [const { AtomicI32::new(1) }; 3],
            access: Mutex::default(),
            ipc_record: None,
            imported: 0,
        }
    }

    /// Says what a device may do with the memory.
    pub(crate) fn set_pool_access(&self, device: u32, flags: CUmemAccess_flags) {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).insert(device, flags);
    }

    /// What a device may do with the memory: its own one everything, and each one with other processes' memory.
    pub(crate) fn device_access(&self, device: u32) -> CUmemAccess_flags {
        if device == self.device || self.imported != 0 {
            return CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        }
        let access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        access.get(&device).copied().unwrap_or(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE)
    }

    /// Takes note of an allocation.
    pub(crate) fn charge_allocation(&self, bytes: u64) -> Res {
        let now = self.used.fetch_add(bytes, Ordering::AcqRel) + bytes;
        if self.max_bytes != 0 && now > self.max_bytes {
            self.uncharge_block(bytes);
            return ResultCode::OUT_OF_MEMORY.err();
        }
        self.used_high.fetch_max(now, Ordering::Relaxed);
        Ok(())
    }

    /// Takes note of a block that was freed.
    pub(crate) fn uncharge_block(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Bytes in use, and the most there ever were (since that was reset).
    pub(crate) fn usage_and_peak(&self) -> (u64, u64) {
        (self.used.load(Ordering::Acquire), self.used_high.load(Ordering::Acquire))
    }

    /// Resets the high-water mark.
    pub(crate) fn reset_high_water(&self) {
        self.used_high.store(self.used.load(Ordering::Acquire), Ordering::Release);
    }
}
