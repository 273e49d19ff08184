//! Failed calls of the driver: panics that become errors, and the details that callers may ask for.

use rtcg_vgpu_abi::error::{Error, Res, ResultCode};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A feature that this driver does not have.
pub(crate) fn unsupported_feature(what: &str) -> Error {
    ResultCode::NOT_SUPPORTED.with_detail(format!("{what}: not supported on the virtual GPU"))
}

/// Runs something that must not panic into its caller; a panic is a bug and becomes
/// `CUDA_ERROR_UNKNOWN` with the panic's message.
pub(crate) fn catch_panic(body: impl FnOnce() -> Res) -> Res {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(ResultCode::UNKNOWN.with_detail(format!("bug in the virtual GPU: {}", text.unwrap_or("panic"))))
    })
}

thread_local! {
    static LAST_ERROR_DETAIL: RefCell<Option<Box<str>>> = const { RefCell::new(None) };
    static FAILED_BATCH_INDEX: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Remembers which copy of a batch failed for [`failed_batch_index`].
pub(crate) fn set_failed_batch_index(index: Option<usize>) {
    let _ = FAILED_BATCH_INDEX.try_with(|slot| slot.set(index));
}

/// Which copy made the calling thread's last batch of copies fail, if it was one.
pub fn failed_batch_index() -> Option<usize> {
    FAILED_BATCH_INDEX.try_with(Cell::get).ok().flatten()
}

/// Remembers the detail of a failed call for [`last_error_detail`].
pub(crate) fn set_last_error_detail(error: &Error) {
    let detail = error.detail.clone();
    // A thread that is being torn down has no storage left; then there is nobody to ask either.
    let _ = LAST_ERROR_DETAIL.try_with(|slot| *slot.borrow_mut() = detail);
}

/// The detail of the calling thread's most recent failed driver call, if it had one.
///
/// Successful calls leave it alone: ask only after a call that failed.
pub fn last_error_detail() -> Option<String> {
    LAST_ERROR_DETAIL.try_with(|slot| slot.borrow().as_deref().map(str::to_owned)).ok().flatten()
}
