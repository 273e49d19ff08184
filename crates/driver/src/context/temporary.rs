//! Temporarily current contexts: [`Context::with_current`], and freeing of resources.
//!
//! Resources hold their [`Context`] and free themselves through [`Context::free_in_context`], which checks whether
//! there is still something to free, and makes the context current meanwhile.

use super::{Context, loaded_drivers};
use crate::active_captures::with_relaxed_capture_mode;
use crate::error::{Error, Result};
use crate::process_state;
use crate::release_region::releasing_region;
use rtcg_cuda_sys::*;
use std::cell::Cell;

thread_local! {
    /// The context that is current for the moment ([`Context::with_current`]), whatever the stack says.
    pub(super) static TEMPORARY: Cell<*const Context> = const { Cell::new(std::ptr::null()) };
}

impl Context {
    /// Runs `body` with this context current in the driver, then restores the previous one. Does not touch the calling
    /// thread's stack.
    ///
    /// # Errors
    /// Those of `body`, in any type that converts from this crate's [`Error`]; and when the context is closed.
    pub fn with_current<T, E: From<Error>>(
        &self,
        body: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
        let _entered = self.push_temporarily()?;
        drop(shared);
        body()
    }

    /// [`Context::with_current`] for one short call: other threads that detach the context wait
    /// for it. `body` must not free anything, which would take the same lock again.
    pub(crate) fn with_current_locked<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let _shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
        let _entered = self.push_temporarily()?;
        body()
    }

    fn push_temporarily(&self) -> Result<Option<TemporaryContextPush>> {
        let table = self.driver_table_if_alive("cuCtxPushCurrent")?;
        let mut current = CUcontext::null();
        // SAFETY: writes one handle; then the handle of a living context is pushed.
        unsafe {
            call_driver!(table, cuCtxGetCurrent(&raw mut current))?;
            if current == self.0.handle {
                return Ok(None);
            }
            call_driver!(table, cuCtxPushCurrent(self.0.handle))?;
        }
        Ok(Some(TemporaryContextPush { table, outer: TEMPORARY.replace(self) }))
    }

    /// Frees a resource of this context, from whichever thread: `Ok` without calling `free` when
    /// the context was destroyed, the process forked or about to exit.
    pub(crate) fn free_in_context(&self, free: impl FnOnce(&DriverTable) -> Result<()>) -> Result<()> {
        if process_state::is_forked_or_exiting() {
            return Ok(());
        }
        releasing_region(|| {
            let _shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
            if !self.is_alive() {
                return Ok(());
            }
            let _entered = self.push_temporarily()?;
            free(self.0.table)
        })
    }

    /// [`Context::free_in_context`] for a drop, where an error can only be passed to the hook.
    pub(crate) fn free_on_drop(&self, free: impl FnOnce(&DriverTable) -> Result<()>) {
        if let Err(error) = with_relaxed_capture_mode(|| self.free_in_context(free)) {
            loaded_drivers::report_cleanup_error(&error);
        }
    }
}

/// A context pushed for the moment.
struct TemporaryContextPush {
    table: &'static DriverTable,
    outer: *const Context,
}

impl Drop for TemporaryContextPush {
    fn drop(&mut self) {
        TEMPORARY.set(self.outer);
        let mut popped = CUcontext::null();
        // SAFETY: writes one handle; takes back the push of `Context::push_temporarily`.
        let _ = unsafe { self.table.cuCtxPopCurrent(&raw mut popped) };
    }
}
