//! Whose memory the kernels of a context may use: that of its own device, and that of contexts of
//! other devices for which peer access has been enabled.

use super::heap::MemoryKind;
use super::pool::POOLS;
use rtcg_cuda_sys::CUmemAccess_flags;
use rtcg_vgpu_abi::IgnorePoison;
use rtcg_vgpu_exec::address_space::AddressSpace;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

/// The device of a context and its peers.
#[derive(Debug)]
pub(crate) struct PeerAccess {
    device: u32,
    /// Identifiers of contexts.
    enabled: Mutex<HashSet<u64>>,
}

impl PeerAccess {
    pub(crate) fn new(device: u32) -> PeerAccess {
        PeerAccess { device, enabled: Mutex::default() }
    }

    fn enabled_contexts(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.enabled.lock().ignore_poison()
    }

    /// Whether it was not enabled yet.
    pub(crate) fn enable(&self, context: u64) -> bool {
        self.enabled_contexts().insert(context)
    }

    /// Whether it was enabled.
    pub(crate) fn disable(&self, context: u64) -> bool {
        self.enabled_contexts().remove(&context)
    }
}

impl AddressSpace for PeerAccess {
    fn device(&self) -> u32 {
        self.device
    }

    /// Memory of pools has a list of devices of its own, and other processes' was opened for all.
    fn device_without_peer_access(&self, address: u64) -> Option<(u32, &'static str)> {
        let block = crate::memory::account::device_heap().ok()?.find_block(address)?;
        let owner = block.owner;
        if block.kind != MemoryKind::Device || owner.device == self.device {
            return None;
        }
        if owner.pool == 0 {
            let needed = (owner.device, "without peer access (cuCtxEnablePeerAccess)");
            return (!self.enabled_contexts().contains(&owner.ctx)).then_some(needed);
        }
        let access = POOLS.get_object(owner.pool).ok()?.device_access(self.device);
        let is_refused = access == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        is_refused.then_some((owner.device, "to whose pool it has no access (cuMemPoolSetAccess)"))
    }
}
