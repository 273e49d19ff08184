//! Operations that something beside the driver finishes, such as collectives that wait for other ranks.
//!
//! Establishes: no thread waits while such an operation is unfinished, so that there can be as many of them as there are
//! streams, with any number of threads.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rtcg_cuda_sys::{CUresult, CUstream, ExternalOperation, ExternalWork};

use super::{OperationWork, Stream, StreamPoints, is_interrupted_generation};
use crate::error::catch_panic;
use crate::memory::copy::{check_device_range, check_writable};
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode};
use rtcg_vgpu_exec::check::shadow;

/// Operations that are submitted and not finished.
static N_UNFINISHED: AtomicUsize = AtomicUsize::new(0);

/// One more is submitted.
pub(super) fn note_submission() {
    N_UNFINISHED.fetch_add(1, Ordering::AcqRel);
}

/// Whether no such operation is unfinished in the process.
pub fn is_all_external_work_done() -> bool {
    N_UNFINISHED.load(Ordering::Acquire) == 0
}

/// A started operation, which is finished exactly once.
#[derive(Debug)]
pub(crate) struct ExternalCompletion {
    pub(super) stream: Arc<Stream>,
    pub(super) ctx: Arc<Context>,
    pub(super) number: u64,
    pub(super) generation: u64,
}

impl ExternalCompletion {
    fn finish(self, outcome: Res) {
        if let Err(error) = outcome
            && !self.is_dropped()
        {
            self.ctx.record_failure(&error);
        }
        N_UNFINISHED.fetch_sub(1, Ordering::AcqRel);
        self.stream.complete_operation(self.number);
        self.stream.give_up_claim();
    }

    fn is_dropped(&self) -> bool {
        is_interrupted_generation(&self.ctx, self.generation) || self.ctx.is_poisoned()
    }
}

/// The function that starts work, with the data of its library.
pub(crate) type StartFunction = unsafe extern "C" fn(*mut c_void, ExternalOperation);

/// The functions for a library beside the driver; `submit` knows streams by their handles.
pub(crate) const fn external_work_functions(
    submit: unsafe extern "C" fn(CUstream, StartFunction, *mut c_void) -> CUresult,
) -> ExternalWork {
    ExternalWork { submit, complete, is_dropped, access }
}

/// Appends the operation.
pub(crate) fn submit_external(ctx: &Arc<Context>, stream: &Arc<Stream>, start: StartFunction, data: *mut c_void) {
    let data = data.expose_provenance();
    let work = move |completion: ExternalCompletion| {
        let operation = ExternalOperation(Box::into_raw(Box::new(completion)).cast());
        // SAFETY: the library's promise for its function and its data.
        unsafe { start(std::ptr::with_exposed_provenance_mut(data), operation) };
    };
    stream.submit_operation(ctx, StreamPoints::new(), OperationWork::External(Box::new(work)));
}

unsafe extern "C" fn complete(operation: ExternalOperation, code: CUresult, detail: *const c_char) {
    // SAFETY: made by `submit_external`, and passed here once.
    let completion = unsafe { Box::from_raw(operation.0.cast::<ExternalCompletion>()) };
    let outcome = if code == CUresult::CUDA_SUCCESS {
        Ok(())
    } else if detail.is_null() {
        Err(ResultCode(code.0).into())
    } else {
        // SAFETY: a string by the contract of the function.
        Err(ResultCode(code.0).with_detail(unsafe { CStr::from_ptr(detail) }.to_string_lossy().into_owned()))
    };
    completion.finish(outcome);
}

unsafe extern "C" fn is_dropped(operation: ExternalOperation) -> c_int {
    // SAFETY: made by `submit_external`, and not finished yet.
    c_int::from(unsafe { &*operation.0.cast::<ExternalCompletion>() }.is_dropped())
}

unsafe extern "C" fn access(address: u64, bytes: u64, writes: c_int) -> CUresult {
    let checked = catch_panic(|| {
        check_device_range(address, bytes)?;
        if writes != 0 {
            check_writable(address, bytes)?;
            shadow::mark_host_written(address as usize, bytes as usize);
        }
        Ok(())
    });
    checked.map_or_else(|error| CUresult(error.code.0), |()| CUresult::CUDA_SUCCESS)
}
