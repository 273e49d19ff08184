//! The stream captures that this crate has begun, and what they forbid the calling thread.

use crate::error::Result;
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What a capture makes: a graph, which keeps objects.
pub(crate) trait CaptureTarget: Any + Send + Sync {
    /// Keeps an object as long as the graph.
    fn retain(&self, object: Arc<dyn Any + Send + Sync>);
}

/// A capture that was begun here.
#[derive(Clone)]
pub(crate) struct ActiveCapture {
    pub(crate) id: u64,
    /// Driver and stream in which it was begun, and so ends: a capture that has become invalid has no number.
    pub(crate) driver: &'static DriverTable,
    pub(crate) stream: CUstream,
    pub(crate) handle: CUgraph,
    pub(crate) target: Arc<dyn CaptureTarget>,
}

static ACTIVE_CAPTURES: Mutex<Vec<ActiveCapture>> = Mutex::new(Vec::new());
/// How many there are, so that launches pay nothing while there is none.
static N_CAPTURES: AtomicUsize = AtomicUsize::new(0);

fn locked_captures() -> MutexGuard<'static, Vec<ActiveCapture>> {
    lock_ignoring_poison(&ACTIVE_CAPTURES)
}

/// Puts a capture on the list.
pub(crate) fn register_capture(capture: ActiveCapture) {
    let mut captures = locked_captures();
    captures.push(capture);
    N_CAPTURES.store(captures.len(), Ordering::Relaxed);
    epoch::advance_epoch();
}

/// Takes the capture that was begun in a stream off the list.
pub(crate) fn unregister_capture(driver: &'static DriverTable, stream: CUstream) -> Option<ActiveCapture> {
    let mut captures = locked_captures();
    let at = captures.iter().position(|c| std::ptr::eq(c.driver, driver) && c.stream == stream)?;
    let capture = captures.swap_remove(at);
    N_CAPTURES.store(captures.len(), Ordering::Relaxed);
    epoch::advance_epoch();
    Some(capture)
}

/// Ends the capture of a stream that is destroyed.
pub(crate) fn on_stream_destroyed(driver: &'static DriverTable, stream: CUstream) {
    if is_any_capturing() {
        drop(unregister_capture(driver, stream));
    }
}

/// The target of the first capture that `is_wanted`.
pub(crate) fn find_capture_target(is_wanted: impl Fn(&ActiveCapture) -> bool) -> Option<Arc<dyn CaptureTarget>> {
    locked_captures().iter().find(|capture| is_wanted(capture)).map(|capture| capture.target.clone())
}

/// Whether this crate is capturing any stream. Costs nothing.
pub fn is_any_capturing() -> bool {
    N_CAPTURES.load(Ordering::Relaxed) != 0
}

/// Runs a call that the library makes for its own purposes, such as a query or a free, which a capture in progress
/// would forbid and which would invalidate the capture. Costs nothing while no stream is captured.
#[inline]
pub fn with_relaxed_capture_mode<T>(body: impl FnOnce() -> T) -> T {
    if !is_any_capturing() {
        return body();
    }
    let mut drivers: Vec<_> = locked_captures().iter().map(|capture| capture.driver).collect();
    drivers.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let modes: Vec<_> =
        drivers.iter().map(|driver| exchange_capture_mode_of_driver(driver, CU_STREAM_CAPTURE_MODE_RELAXED)).collect();
    let result = body();
    // In reverse: a driver may be named twice, and its first mode is the one to restore.
    for (driver, mode) in drivers.into_iter().zip(modes).rev() {
        let _ = mode.and_then(|mode| exchange_capture_mode_of_driver(driver, mode));
    }
    result
}

/// Sets how strictly a driver checks the calling thread's calls while streams are captured; gives the mode before.
pub(crate) fn exchange_capture_mode_of_driver(
    table: &DriverTable,
    mode: CUstreamCaptureMode,
) -> Result<CUstreamCaptureMode> {
    let mut mode = mode;
    // SAFETY: one value is read and written.
    unsafe { call_driver!(table, cuThreadExchangeStreamCaptureMode(&raw mut mode)) }?;
    Ok(mode)
}
