//! What a library beside the driver, such as one of collectives, is given of streams.

use std::ffi::c_void;

use rtcg_cuda_sys::{CUresult, CUstream, ExternalWork};

use super::{Handle, call_if_initialised};
use crate::driver::stream_and_context;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::stream::external_work::{StartFunction, external_work_functions, submit_external};

/// The functions by which such a library does work in the order of a stream.
pub fn external_work() -> &'static ExternalWork {
    static FUNCTIONS: ExternalWork = external_work_functions(submit);
    &FUNCTIONS
}

unsafe extern "C" fn submit(stream: CUstream, start: StartFunction, data: *mut c_void) -> CUresult {
    call_if_initialised("rtcg_external_work", || {
        let (ctx, stream) = stream_and_context(stream.handle_number())?;
        if !capture::capture_operation(&stream, || Ok(NodeAction::External(start, AssertSend(data))))? {
            submit_external(&ctx, &stream, start, data);
        }
        Ok(())
    })
}
