//! Managed memory under a cap: more of it than a device has free can make a card hang, however little is used at a time.

use crate::error::{Result, refuse};
use crate::object::Ref;
use crate::platform::device::DeviceBody;
use rtcg_driver::memory::mem_get_info;
use rtcg_driver::{CUdeviceptr, ManagedAllocation, MemAttachFlags, lock_ignoring_poison};
use rtcg_opencl_sys::CL_OUT_OF_RESOURCES;
use std::sync::{Mutex, MutexGuard};

/// Managed memory of a device.
#[derive(Default)]
pub(crate) struct ManagedUse(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    nbytes: usize,
    /// What the device had free before the first of them: what it has free later may count it or not.
    most: usize,
}

impl ManagedUse {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        lock_ignoring_poison(&self.0)
    }
}

/// An allocation that counts.
pub(crate) struct CappedAllocation {
    memory: ManagedAllocation,
    nbytes: usize,
    device: Ref<DeviceBody>,
}

impl CappedAllocation {
    /// Allocates where the device's total stays below what it has free.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES` where it does not.
    pub(crate) fn new(device: &Ref<DeviceBody>, nbytes: usize) -> Result<Self> {
        device.cuda_context()?.with_current(|| {
            let free = mem_get_info()?.0;
            let mut counts = device.managed.lock();
            if counts.nbytes == 0 {
                counts.most = free;
            }
            let left = free.min(counts.most.saturating_sub(counts.nbytes));
            if nbytes > left {
                let why = format!("size: {nbytes} bytes of shared memory, the device has {left} left for it");
                return refuse(CL_OUT_OF_RESOURCES, why);
            }
            let memory = ManagedAllocation::new(nbytes, MemAttachFlags::GLOBAL)?;
            counts.nbytes += nbytes;
            Ok(Self { memory, nbytes, device: device.clone() })
        })
    }

    /// Bytes that it has.
    pub(crate) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Where the host and the devices find it.
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.memory.ptr()
    }
}

impl Drop for CappedAllocation {
    fn drop(&mut self) {
        // The memory goes after this; a new one that comes first is refused by what is free.
        self.device.managed.lock().nbytes -= self.nbytes;
    }
}
