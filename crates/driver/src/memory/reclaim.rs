//! Memory that is cached but unused: how much there is, and how it is returned when memory runs short: first what the
//! program's reclaim hook can free, then what pools hold unused.

use super::memory_pool;
use crate::context::Device;
use crate::error::{Error, Result};
use rtcg_cuda_sys::CUresult;
use rtcg_hal::lock_ignoring_poison;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

type ReclaimHook = Arc<dyn Fn() + Send + Sync>;

static RECLAIM_HOOK: RwLock<Option<ReclaimHook>> = RwLock::new(None);
static RECLAIMABLE_POOLS: Mutex<Vec<Weak<dyn ReclaimMemory>>> = Mutex::new(Vec::new());

/// Something that holds memory which it does not need.
pub(crate) trait ReclaimMemory: Send + Sync {
    /// Gives it back to the driver.
    fn free_idle_memory(&self);
    /// How much that is on a device.
    fn unused_bytes(&self, device: Device) -> usize;
    /// Gives it back if nothing has happened since the last call; whether there is still some.
    fn trim_idle_memory(&self) -> bool;
}

/// Sets a hook, such as a garbage collection, that runs when an allocation fails for lack of memory, before the
/// allocation is retried. It runs in the allocating thread and may use the driver.
pub fn set_reclaim_hook(hook: impl Fn() + Send + Sync + 'static) {
    *RECLAIM_HOOK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
}

/// Runs the hook.
pub(crate) fn run_reclaim_hook() {
    let hook = RECLAIM_HOOK.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(hook) = hook {
        hook();
    }
}

/// Counts a pool among those that give up what they hold unused.
pub(crate) fn register_pool(pool: Weak<dyn ReclaimMemory>) {
    let mut pools = lock_ignoring_poison(&RECLAIMABLE_POOLS);
    pools.retain(|known| known.strong_count() > 0);
    pools.push(pool);
}

fn live_pools() -> Vec<Arc<dyn ReclaimMemory>> {
    let pools = lock_ignoring_poison(&RECLAIMABLE_POOLS);
    pools.iter().filter_map(Weak::upgrade).collect()
}

/// Has all pools give their unused blocks back to the driver, and the driver's own pools on a device theirs to the
/// device.
pub(crate) fn free_unused_pool_memory(device: Device) {
    live_pools().iter().for_each(|pool| pool.free_idle_memory());
    memory_pool::trim_pools_of_device(device);
}

/// Bytes on a device that [`free_unused_pool_memory`] gives back.
pub(crate) fn unused_bytes(device: Device) -> usize {
    let of_pools: usize = live_pools().iter().map(|pool| pool.unused_bytes(device)).sum();
    of_pools + memory_pool::unused_bytes(device)
}

/// Has all pools that were idle give their unused blocks back; whether any still has some.
pub(crate) fn trim_idle_memory() -> bool {
    live_pools().iter().filter(|pool| pool.trim_idle_memory()).count() > 0
}

pub(crate) fn is_out_of_memory(error: &Error) -> bool {
    error.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Allocates on a device; without enough memory again after the hook, and again after pools gave up theirs.
pub(crate) fn allocate_with_reclaim<T>(device: Device, allocate: impl Fn() -> Result<T>) -> Result<T> {
    let mut result = allocate();
    let steps: [&dyn Fn(); 2] = [&run_reclaim_hook, &|| free_unused_pool_memory(device)];
    for make_room in steps {
        match &result {
            Err(error) if is_out_of_memory(error) => make_room(),
            _ => return result,
        }
        result = allocate();
    }
    result
}
