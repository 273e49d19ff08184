//! The default context, for threads of programs that make none: the primary context of the default device, as in the
//! CUDA runtime. A program that has made a context or retained a primary one must make one current in each thread.

use super::{Context, Device, loaded_drivers};
use crate::error::Result;
use crate::process_state;
use rtcg_hal::lock_ignoring_poison;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program has chosen a context.
static HAS_CHOSEN_CONTEXT: AtomicBool = AtomicBool::new(false);

/// Kept for the life of the process.
static DEFAULT_CONTEXT: Mutex<Option<Context>> = Mutex::new(None);

/// The program has made a context, or retained a primary one.
pub(crate) fn mark_context_chosen() {
    HAS_CHOSEN_CONTEXT.store(true, Ordering::Relaxed);
}

/// The default context, pushed onto the calling thread's stack; `None` where the program has chosen one, and in a
/// forked process.
pub(crate) fn push_default_context() -> Result<Option<Context>> {
    if HAS_CHOSEN_CONTEXT.load(Ordering::Relaxed) || process_state::is_forked() {
        return Ok(None);
    }
    let mut taken = lock_ignoring_poison(&DEFAULT_CONTEXT);
    let ctx = match taken.clone().filter(Context::is_alive) {
        Some(ctx) => ctx,
        None => {
            loaded_drivers::init(0)?;
            taken.insert(Context::retain_primary_handle(Device::from_env_or_first()?)?).clone()
        }
    };
    ctx.push()?;
    Ok(Some(ctx))
}
