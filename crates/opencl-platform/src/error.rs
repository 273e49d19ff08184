//! Errors: a code of OpenCL with a sentence for the error stream, and how codes leave through the C interface.

use rtcg_driver::{ErrorKind, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use std::sync::Mutex;

/// A code with its reason.
#[derive(Clone, Debug)]
pub(crate) struct ClError {
    pub(crate) code: cl_int,
    pub(crate) detail: String,
}

pub(crate) type Result<T> = std::result::Result<T, ClError>;

impl ClError {
    pub(crate) fn new(code: cl_int, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    /// A result: `CL_INVALID_VALUE` with its reason.
    pub(crate) fn value<T>(detail: impl Into<String>) -> Result<T> {
        Err(Self::new(CL_INVALID_VALUE, detail))
    }
}

/// A result: an error with this code and reason.
pub(crate) fn refuse<T>(code: cl_int, detail: impl Into<String>) -> Result<T> {
    Err(ClError::new(code, detail))
}

impl From<rtcg_driver::Error> for ClError {
    fn from(error: rtcg_driver::Error) -> Self {
        let code = match error.kind {
            ErrorKind::Memory => CL_MEM_OBJECT_ALLOCATION_FAILURE,
            ErrorKind::Fault => return Self::of_fault(&error),
            ErrorKind::Launch => CL_OUT_OF_RESOURCES,
            ErrorKind::Runtime => CL_DEVICE_NOT_AVAILABLE,
            _ => CL_INVALID_OPERATION,
        };
        Self::new(code, error.to_string())
    }
}

impl ClError {
    /// A kernel has failed, and all that follows on its device does. A code says too little of that, so that the report
    /// is written once, asked for or not; a kernel that is checked has written it itself.
    fn of_fault(error: &rtcg_driver::Error) -> Self {
        static WRITTEN: Mutex<String> = Mutex::new(String::new());
        let report = match &error.detail {
            Some(detail) => detail.trim_start_matches("an earlier launch failed: ").to_owned(),
            None => error.text.to_string(),
        };
        let mut written = lock_ignoring_poison(&WRITTEN);
        if *written != report {
            let has_no_line = report.contains("\n  instruction ") && !report.contains("\n  source ");
            let advice = if has_no_line { "\n  RTCG_CHECK=1 tells the line of the source" } else { "" };
            if !are_kernels_checked() {
                eprintln!("rtcg OpenCL: {report}{advice}");
            }
            written.clone_from(&report);
        }
        let first = report.lines().next().unwrap_or_default();
        Self::new(CL_OUT_OF_RESOURCES, format!("a kernel failed before: {first}"))
    }
}

/// Runs the body of a function that returns a code. A panic becomes `CL_OUT_OF_HOST_MEMORY`: it must not cross C.
pub(crate) fn code_of(body: impl FnOnce() -> Result<()>) -> cl_int {
    match catch_panic(body) {
        Ok(()) => CL_SUCCESS,
        Err(error) => reported(error),
    }
}

/// Runs the body of a function that returns an object, with its code through `errcode_ret`.
///
/// # Safety
/// `errcode_ret` is null or writable.
pub(crate) unsafe fn object_of<T>(errcode_ret: *mut cl_int, none: T, body: impl FnOnce() -> Result<T>) -> T {
    let (code, value) = match catch_panic(body) {
        Ok(value) => (CL_SUCCESS, value),
        Err(error) => (reported(error), none),
    };
    if !errcode_ret.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *errcode_ret = code };
    }
    value
}

fn catch_panic<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        .unwrap_or_else(|_| refuse(CL_OUT_OF_HOST_MEMORY, "a panic in the platform"))
}

/// Whether `RTCG_OPENCL_ERRORS` was set when it was first asked for.
pub fn are_reasons_wanted() -> bool {
    static IS_WANTED: std::sync::LazyLock<bool> =
        std::sync::LazyLock::new(|| std::env::var_os("RTCG_OPENCL_ERRORS").is_some_and(|value| value != "0"));
    *IS_WANTED
}

/// Whether kernels are checked while they run: reports then name lines of the source.
pub(crate) fn are_kernels_checked() -> bool {
    std::env::var_os("RTCG_CHECK").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Writes the reason to the error stream where `RTCG_OPENCL_ERRORS` is set.
fn reported(error: ClError) -> cl_int {
    if are_reasons_wanted() {
        eprintln!("rtcg OpenCL: {}: {}", ClStatus(error.code), error.detail);
    }
    error.code
}
