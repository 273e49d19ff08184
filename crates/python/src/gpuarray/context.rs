//! The arrays' side of each driver context.

use crate::errors::{OrRaise, RuntimeError, driver_error};
use pyo3::prelude::*;
use rtcg::CudaRuntime;
use rtcg::array::ArrayContext;
use rtcg::driver::lock_ignoring_poison;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

static ARRAY_CONTEXTS: Mutex<Option<HashMap<rtcg::driver::Context, Arc<ArrayContext>>>> = Mutex::new(None);

thread_local! {
    /// What this thread asked for last: nearly always the same again.
    static LAST_ARRAY_CONTEXT: RefCell<Option<(rtcg::driver::Context, std::sync::Weak<ArrayContext>)>> = const { RefCell::new(None) };
}

/// The arrays of the calling thread's current context.
pub(crate) fn array_context() -> PyResult<Arc<ArrayContext>> {
    let last = LAST_ARRAY_CONTEXT.with_borrow(|last| match last {
        Some((known, arrays)) if known.is_current() && known.is_alive() => arrays.upgrade(),
        _ => None,
    });
    if let Some(arrays) = last {
        return Ok(arrays);
    }
    let ctx = rtcg::driver::Context::current_or_error().or_raise()?;
    let arrays = find_or_create_array_context(&ctx)?;
    LAST_ARRAY_CONTEXT.set(Some((ctx, Arc::downgrade(&arrays))));
    Ok(arrays)
}

#[allow(clippy::mutable_key_type, reason = "a context hashes by its handle and table, which never change")]
fn find_or_create_array_context(ctx: &rtcg::driver::Context) -> PyResult<Arc<ArrayContext>> {
    let mut contexts = lock_ignoring_poison(&ARRAY_CONTEXTS);
    let contexts = contexts.get_or_insert_default();
    if let Some(found) = contexts.get(ctx) {
        return Ok(found.clone());
    }
    // Their memory is gone with them, so that dropping them calls no driver.
    contexts.retain(|ctx, _| ctx.is_alive());
    crate::driver::memory::pool::mark_pool_in_use();
    let arrays = CudaRuntime::array_context(&rtcg::Context::from(ctx.clone())).map_err(|error| match error {
        rtcg::Error::Driver(error) => driver_error(error),
        other => RuntimeError::new_err(other.to_string()),
    })?;
    contexts.insert(ctx.clone(), arrays.clone());
    Ok(arrays)
}

/// The context of these arrays, unless it is gone.
pub(super) fn driver_context_of(arrays: &Arc<ArrayContext>) -> Option<rtcg::driver::Context> {
    let contexts = lock_ignoring_poison(&ARRAY_CONTEXTS);
    contexts.iter().flatten().find(|(_, known)| Arc::ptr_eq(known, arrays)).map(|(ctx, _)| ctx.clone())
}

/// The device of these arrays, whichever context is current.
pub(super) fn device_of_arrays(arrays: &Arc<ArrayContext>) -> PyResult<rtcg::driver::Device> {
    match driver_context_of(arrays) {
        Some(ctx) => Ok(ctx.device()),
        None => rtcg::driver::Context::current_device().or_raise(),
    }
}

/// Discard the kernels that arrays have compiled, and release their contexts.
#[pyfunction]
pub(super) fn clear_array_contexts(py: Python<'_>) {
    LAST_ARRAY_CONTEXT.take();
    let old = lock_ignoring_poison(&ARRAY_CONTEXTS).take();
    // Pools give their memory back, which may wait for the device.
    py.detach(|| drop(old));
}

/// Return the memory that arrays keep for reuse to the device.
#[pyfunction]
pub(super) fn release_array_memory(py: Python<'_>) -> PyResult<bool> {
    let arrays = array_context()?;
    Ok(py.detach(|| arrays.device().release_cached_memory()))
}
