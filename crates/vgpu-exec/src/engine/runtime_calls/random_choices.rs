//! Random choices of compiled code.

use super::traps_and_waits::terminate_if_stopped;
use super::{job_of_warp, warp_of_ctx};
use crate::fiber::PauseReason;
use rtcg_vgpu_abi::WarpCtx;

/// A random word. Every fourth time another warp may run before it is given.
pub(super) unsafe extern "C" fn random_word(ctx: *mut WarpCtx) -> u64 {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and owns nothing; it is resumed later.
    unsafe {
        terminate_if_stopped(warp);
        let r = job_of_warp(warp).next_random_word();
        if r & 3 == 0 && !(*ctx).block.is_null() {
            (*warp).pause_warp(PauseReason::Preempt);
        }
        job_of_warp(warp).next_random_word()
    }
}
