//! Work that something beside the driver does in the order of a stream: how a library of collectives parks streams of
//! the virtual GPU without holding one of its threads.

use crate::types::{CUresult, CUstream, c_char, c_int, c_void};

/// Names an operation that was started and is not finished. Passed to [`ExternalWork::complete`] exactly once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct ExternalOperation(pub *mut c_void);

// SAFETY: the handle of an operation, which any thread may finish.
unsafe impl Send for ExternalOperation {}
// SAFETY: as above.
unsafe impl Sync for ExternalOperation {}

/// The functions of a virtual GPU for such work, which `libcuda.so.1` returns from its function `rtcg_external_work`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ExternalWork {
    /// Appends an operation to a stream. When the stream reaches it, `start` is called with `data`, from any thread, and
    /// must not wait. What follows in the stream waits for [`ExternalWork::complete`].
    pub submit: unsafe extern "C" fn(
        stream: CUstream,
        start: unsafe extern "C" fn(data: *mut c_void, operation: ExternalOperation),
        data: *mut c_void,
    ) -> CUresult,
    /// Finishes a started operation. With a code other than success the next wait for the context fails, and explains
    /// it with `detail`, a string or null.
    pub complete: unsafe extern "C" fn(operation: ExternalOperation, code: CUresult, detail: *const c_char),
    /// Whether a started operation must no longer touch memory, for its context was interrupted or destroyed (1 or 0).
    pub is_dropped: unsafe extern "C" fn(operation: ExternalOperation) -> c_int,
    /// Checks that a range is memory that the device may use, and notes that it is written if `writes` is not 0.
    pub access: unsafe extern "C" fn(address: u64, bytes: u64, writes: c_int) -> CUresult,
}
