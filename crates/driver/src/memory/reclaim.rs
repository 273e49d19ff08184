//! What is tried when memory is short: whatever the program can give up, then what pools hold unused.

use crate::error::{Error, Result};
use rtcg_cuda_sys::CUresult;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

type Hook = Arc<dyn Fn() + Send + Sync>;

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);
static POOLS: Mutex<Vec<Weak<dyn Reclaim>>> = Mutex::new(Vec::new());

/// Something that holds memory which it does not need.
pub(crate) trait Reclaim: Send + Sync {
    fn reclaim(&self);
}

/// Sets what runs when an allocation fails for lack of memory, before it is tried once more: a
/// garbage collection, say. It runs in the allocating thread and may use the driver.
pub fn set_reclaim_hook(hook: impl Fn() + Send + Sync + 'static) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
}

/// Runs the hook.
pub(crate) fn run_hook() {
    let hook = HOOK.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(hook) = hook {
        hook();
    }
}

/// Counts a pool among those that give up what they hold unused.
pub(crate) fn register(pool: Weak<dyn Reclaim>) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|known| known.strong_count() > 0);
    pools.push(pool);
}

/// Has all pools give their unused blocks back to the driver.
pub(crate) fn empty_pools() {
    let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    pools.iter().filter_map(Weak::upgrade).for_each(|pool| pool.reclaim());
}

pub(crate) fn is_out_of_memory(error: &Error) -> bool {
    error.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY
}

/// Allocates; without enough memory again after the hook, and again after pools gave up theirs.
pub(crate) fn with_retries<T>(allocate: impl Fn() -> Result<T>) -> Result<T> {
    let mut result = allocate();
    for make_room in [run_hook, empty_pools] {
        match &result {
            Err(error) if is_out_of_memory(error) => make_room(),
            _ => return result,
        }
        result = allocate();
    }
    result
}
