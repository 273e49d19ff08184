//! Whether the user wants a wait to end (Ctrl-C): a question to the program, asked on its own threads.
//!
//! Establishes: the check that the program has registered is called only on threads that came in
//! through a driver call, never on threads of the virtual GPU, and only while such a call waits or
//! runs a kernel. No lock of the virtual GPU is held meanwhile, for the check may run any code of the
//! program, driver calls included.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

/// How often a waiting thread asks.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(40);

static INTERRUPT_CHECK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local!(static OURS: Cell<bool> = const { Cell::new(false) });

/// Registers what says whether the call that waits on this thread is to be given up. The first
/// one stays.
pub fn set_interrupt_check(check: fn() -> bool) {
    if INTERRUPT_CHECK.set(check).is_ok() {
        super::watchdog::start_watchdog_if_needed();
    }
}

/// Whether the program has registered a check.
pub(crate) fn has_interrupt_check() -> bool {
    INTERRUPT_CHECK.get().is_some()
}

/// Takes note that the calling thread belongs to the virtual GPU.
pub fn mark_internal_thread() {
    OURS.set(true);
}

/// Whether the calling thread has an interrupt check.
pub fn can_check_interrupt() -> bool {
    INTERRUPT_CHECK.get().is_some() && !OURS.try_with(Cell::get).unwrap_or(true)
}

/// Asks. Always false on threads of the virtual GPU.
pub fn is_interrupt_requested() -> bool {
    can_check_interrupt() && INTERRUPT_CHECK.get().is_some_and(|check| check())
}
