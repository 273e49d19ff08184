//! Which calls are refused before they begin: those of host functions, and those after a fault that ended the device.
//!
//! A fault ends its context only, so that a program can go on with another one. With `RTCG_FAULTS=sticky` it ends
//! the device for the process, as on a card.

use crate::stream::context::{self, faults_end_devices};
use crate::stream::is_in_host_call;
use rtcg_vgpu_abi::error::{Res, ResultCode};
use rtcg_vgpu_abi::model::calls::{CALLS_AFTER_FAULTS, CALLS_IN_HOST_FUNCTIONS};

/// Whether the calling thread may call the function of this name now.
pub(super) fn check_call(name: &str) -> Res {
    if is_in_host_call() || faults_end_devices() { check_unusual_call(name) } else { Ok(()) }
}

#[cold]
fn check_unusual_call(name: &str) -> Res {
    if is_in_host_call() && !CALLS_IN_HOST_FUNCTIONS.contains(&name) {
        return ResultCode::NOT_PERMITTED.err();
    }
    if CALLS_AFTER_FAULTS.contains(&name) || name.starts_with("cuDevice") {
        return Ok(());
    }
    context::top_of_context_stack().map_or(Ok(()), |context| context.device.check_not_ended())
}
