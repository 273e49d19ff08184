//! The error type of this crate, and the macro that converts result codes to it.

use crate::virtual_gpu;
use rtcg_cuda_sys::{CUresult, DriverTable};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The result of an operation on the driver.
pub type Result<T> = std::result::Result<T, Error>;

/// How a caller can react to an error: PyCUDA's classes, and one for faults.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A launch exceeds the resources of the device (`LaunchError`).
    Launch,
    /// A kernel faulted, for instance by an access out of bounds. Its context is lost: every later call in it returns
    /// this error, until all objects of the context are dropped and a new context is made.
    Fault,
    /// Out of memory (`MemoryError`).
    Memory,
    /// A cause outside of the program: no device, a file not found, not ready (`RuntimeError`).
    Runtime,
    /// An invalid call (`LogicError`).
    Logic,
    /// The driver reports only "unknown" (`Error`).
    Other,
}

impl ErrorKind {
    /// Classifies a result code.
    pub fn from_code(code: CUresult) -> Self {
        match code {
            code if is_kernel_fault(code) => Self::Fault,
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES | CUresult::CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING => {
                Self::Launch
            }
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::Memory,
            CUresult::CUDA_ERROR_NO_DEVICE
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_FILE_NOT_FOUND
            | CUresult::CUDA_ERROR_NOT_READY
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE => Self::Runtime,
            CUresult::CUDA_ERROR_UNKNOWN => Self::Other,
            _ => Self::Logic,
        }
    }
}

/// A failed call of the driver API.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// How the caller can react.
    pub kind: ErrorKind,
    /// The C function, without version suffix, or a name of this crate's.
    pub call: &'static str,
    /// The result code.
    pub code: CUresult,
    /// The driver's description of the code.
    pub text: Cow<'static, str>,
    /// What is known beyond the code: a JIT log, a fault report, a missing symbol.
    pub detail: Option<String>,
}

/// What is known of every failure in a forked process.
pub(crate) const FORKED: &str = "this process was forked after the driver was initialised; start processes with the \
                                 method \"spawn\", or use CUDA only in the child";

impl Error {
    /// Makes the error of a failed call of `name` through `table`, with all available details.
    #[cold]
    #[inline(never)]
    pub fn from_failed_call(table: &DriverTable, name: &'static str, code: CUresult) -> Self {
        let missing = if code == CUresult::CUDA_ERROR_NOT_SUPPORTED {
            table.missing_symbol(name).map(|m| m.to_string())
        } else {
            None
        };
        let detail = if crate::process_state::is_forked() {
            Some(FORKED.to_owned())
        } else {
            missing.or_else(|| explain_failed_call(table, code))
        };
        Self {
            kind: ErrorKind::from_code(code),
            call: without_version_suffix(name),
            code,
            text: Cow::Owned(table.error_string(code)),
            detail,
        }
    }

    /// Makes an error that this crate found before calling a driver.
    #[cold]
    pub fn new(call: &'static str, code: CUresult, detail: impl Into<String>) -> Self {
        let detail = Some(detail.into()).filter(|d| !d.is_empty());
        let text = code.description().unwrap_or("unknown error").into();
        Self { kind: ErrorKind::from_code(code), call, code, text, detail }
    }

    /// The name of PyCUDA's exception class in `pycuda.driver`.
    pub fn pycuda_class_name(&self) -> &'static str {
        match self.kind {
            ErrorKind::Launch => "LaunchError",
            ErrorKind::Fault => match self.code {
                CUresult::CUDA_ERROR_LAUNCH_FAILED | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => "LaunchError",
                _ => "LogicError",
            },
            ErrorKind::Memory => "MemoryError",
            ErrorKind::Runtime => "RuntimeError",
            ErrorKind::Logic => "LogicError",
            ErrorKind::Other => "Error",
        }
    }

    /// Sets the detail; an empty one changes nothing.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        if !detail.is_empty() {
            self.detail = Some(detail);
        }
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed: {}", self.call, self.text)?;
        match &self.detail {
            Some(detail) => write!(f, " - {detail}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Why a call failed, beyond its code: what the driver says about the call, else what happened before it.
fn explain_failed_call(table: &DriverTable, code: CUresult) -> Option<String> {
    let of_call = virtual_gpu::last_call_error_detail(table);
    let of_context = if is_kernel_fault(code) { virtual_gpu::fault_report(table) } else { None };
    if of_call.is_some() && of_call != of_context {
        return of_call;
    }
    // Whatever call meets a fault first returns it, and every later one, too.
    if is_kernel_fault(code) {
        let report = match of_context {
            Some(report) => format!(": {report}"),
            None => describe_earlier_launches(table).map_or_else(String::new, |launches| format!("; {launches}")),
        };
        return Some(format!("an earlier launch failed{report}"));
    }
    explain_capture_error(code).map(str::to_owned)
}

/// What a call did that a capture of a stream does not allow.
fn explain_capture_error(code: CUresult) -> Option<&'static str> {
    Some(match code {
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED => {
            "a stream is being captured into a graph: what is submitted to it runs when the graph is launched; \
             wait, allocate and copy before the capture begins or after it has ended"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            "a stream is being captured into a graph, and the default stream, which this call uses, waits for it; \
             use another stream, or copy before the capture begins or after it has ended"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => {
            "a call that a capture does not allow has failed; end the capture, which gives no graph, and begin a new one"
        }
        _ => return None,
    })
}

/// Says which kernels the calling thread's context launched in a driver.
type LaunchDescriber = fn(&DriverTable) -> Option<String>;

static LAUNCH_DESCRIBER: OnceLock<LaunchDescriber> = OnceLock::new();

/// Sets who knows what was launched, for errors of a driver that does not say which kernel failed.
pub(crate) fn set_launch_describer(describe: LaunchDescriber) {
    let _ = LAUNCH_DESCRIBER.set(describe);
}

fn describe_earlier_launches(table: &DriverTable) -> Option<String> {
    LAUNCH_DESCRIBER.get()?(table)
}

/// Whether a kernel that runs makes this error, which then stays with its context.
pub(crate) fn is_kernel_fault(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
    )
}

/// `1 argument`, `2 arguments`: a number with its noun.
pub(crate) fn count_with_noun(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `1 was`, `2 were`.
pub(crate) fn count_with_was_or_were(n: usize) -> String {
    if n == 1 { "1 was".to_owned() } else { format!("{n} were") }
}

/// `cuCtxCreate_v2` is `cuCtxCreate` to everyone but the linker.
fn without_version_suffix(name: &'static str) -> &'static str {
    match name.rsplit_once("_v") {
        Some((base, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Calls a function of a table: `call_driver!(table, cuMemFree(ptr))` is a `Result<()>`. Must be used in an `unsafe`
/// block. In a forked child it fails without calling the driver.
macro_rules! call_driver {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let table: &::rtcg_cuda_sys::DriverTable = $table;
        let code = if $crate::process_state::is_forked() {
            ::rtcg_cuda_sys::CUresult::CUDA_ERROR_NOT_INITIALIZED
        } else {
            table.$name($($arg),*)
        };
        if code.is_success() {
            Ok(())
        } else {
            Err($crate::error::Error::from_failed_call(table, stringify!($name), code))
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_pycudas_form() {
        let error = Error::new("cuMemFree", CUresult::CUDA_ERROR_INVALID_VALUE, "");
        assert_eq!(error.to_string(), "cuMemFree failed: invalid argument");
        let error = error.with_detail("why");
        assert_eq!(error.to_string(), "cuMemFree failed: invalid argument - why");
        assert_eq!(without_version_suffix("cuCtxCreate_v2"), "cuCtxCreate");
        assert_eq!(without_version_suffix("cuMem_vX"), "cuMem_vX");
    }

    #[test]
    fn codes_map_to_pycudas_classes() {
        let class = |code| Error::new("cuCall", CUresult(code), "").pycuda_class_name();
        assert_eq!(ErrorKind::from_code(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), ErrorKind::Fault);
        assert_eq!(ErrorKind::from_code(CUresult::CUDA_ERROR_LAUNCH_FAILED), ErrorKind::Fault);
        for code in [701, 702, 703, 719] {
            assert_eq!(class(code), "LaunchError");
        }
        assert_eq!(class(2), "MemoryError");
        for code in [100, 209, 301, 600, 214] {
            assert_eq!(class(code), "RuntimeError");
        }
        assert_eq!(class(999), "Error");
        for code in [1, 3, 201, 400, 500, 700, 710, 801, 4711] {
            assert_eq!(class(code), "LogicError");
        }
    }
}
