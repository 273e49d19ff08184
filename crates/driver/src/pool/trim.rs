//! Returns unused memory of pools to the driver when a program has stopped allocating, so that other processes can use
//! it.
//!
//! A thread checks once a second while such a pool holds much memory; it ends when none does.

use crate::active_captures::is_any_capturing;
use crate::memory::reclaim;
use crate::process_state;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TRIM_PERIOD: Duration = Duration::from_secs(1);
/// Less than this is left to the process.
const MIN_TRIMMED_BYTES: usize = 1 << 20;

static IS_TRIM_THREAD_RUNNING: AtomicBool = AtomicBool::new(false);

/// Sees to it that memory which is kept unused goes back some time.
#[inline]
pub(super) fn request_idle_trim(unused_bytes: usize) {
    if unused_bytes >= MIN_TRIMMED_BYTES && !IS_TRIM_THREAD_RUNNING.load(Ordering::Relaxed) {
        start_trim_thread();
    }
}

#[cold]
fn start_trim_thread() {
    if IS_TRIM_THREAD_RUNNING.swap(true, Ordering::AcqRel) {
        return;
    }
    let thread = std::thread::Builder::new().name("rtcg-trim".into()).stack_size(256 << 10);
    if thread.spawn(trim_loop).is_err() {
        // Nothing is given back then, until a later block starts the thread.
        IS_TRIM_THREAD_RUNNING.store(false, Ordering::Release);
    }
}

fn trim_loop() {
    loop {
        std::thread::sleep(TRIM_PERIOD);
        if process_state::is_forked_or_exiting() {
            return;
        }
        if is_any_capturing() || reclaim::trim_idle_memory() {
            continue;
        }
        IS_TRIM_THREAD_RUNNING.store(false, Ordering::Release);
        // Blocks may have come between the look and the end, which started no thread.
        if !reclaim::trim_idle_memory() || IS_TRIM_THREAD_RUNNING.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}
