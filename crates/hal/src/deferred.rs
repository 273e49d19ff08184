//! Work that a layer above has deferred in a thread: it is enqueued before anything else that takes an address or
//! changes the stream. That layer (fusion) is not known here, so that arrays and back ends need not know it either.

use crate::error::Result;
use crate::thread_flag::ThreadFlag;
use std::cell::Cell;

/// What a layer that defers work is asked for.
#[derive(Debug, Clone, Copy)]
pub struct DeferredWork {
    /// Enqueues what the calling thread has deferred, and keeps errors for later.
    pub flush: fn(),
    /// Refuses to copy elements to the host where that must not happen.
    pub check_host_read: fn() -> Result<()>,
}

thread_local! {
    static IS_DEFERRING: Cell<bool> = const { Cell::new(false) };
    static WORK: Cell<Option<DeferredWork>> = const { Cell::new(None) };
}
static DEFERRING_FLAG: ThreadFlag = ThreadFlag::new(&IS_DEFERRING);

/// Sets who defers work of the calling thread from now on; `None` for nobody.
pub fn set_deferred_work(work: Option<DeferredWork>) {
    WORK.set(work);
    DEFERRING_FLAG.set_for_thread(work.is_some());
}

/// Whether work of the calling thread may be deferred.
#[inline]
pub fn is_deferring() -> bool {
    DEFERRING_FLAG.is_set()
}

/// Enqueues what the calling thread has deferred. The results, and the end of the block that deferred it, report errors
/// later.
#[inline]
pub fn flush_storing_errors() {
    if is_deferring() {
        flush();
    }
}

#[cold]
fn flush() {
    if let Some(work) = WORK.get() {
        (work.flush)();
    }
}

/// Refuses to copy elements to the host while a function is being traced.
///
/// # Errors
/// Inside of a block that traces.
pub fn check_host_read_allowed() -> Result<()> {
    match is_deferring().then(|| WORK.get()).flatten() {
        Some(work) => (work.check_host_read)(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ArrayError;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static N_FLUSHES: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn only_the_thread_that_defers_is_asked() {
        flush_storing_errors();
        fn flush() {
            N_FLUSHES.fetch_add(1, Ordering::Relaxed);
        }
        set_deferred_work(Some(DeferredWork { flush, check_host_read: || Err(ArrayError::value_error("traced")) }));
        flush_storing_errors();
        std::thread::spawn(|| {
            flush_storing_errors();
            assert!(!is_deferring() && check_host_read_allowed().is_ok());
        })
        .join()
        .unwrap();
        assert_eq!(check_host_read_allowed().unwrap_err().to_string(), "traced");
        set_deferred_work(None);
        flush_storing_errors();
        assert_eq!((N_FLUSHES.load(Ordering::Relaxed), check_host_read_allowed().is_ok()), (1, true));
    }
}
