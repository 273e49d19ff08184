//! Traps, cancellation, waiting and clocks.

use super::super::block;
use super::super::fiber::{FiberSwitch, PauseReason, Warp};
use super::{job_of_warp, raise_fault, warp_of_ctx};
use crate::barrier::WarpArrival;
use crate::fault_report;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::{Fault, FaultKind};
use rtcg_vgpu_abi::model::clocks::CLOCK_STEP_NS;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Calls of `yield_now` for each real switch: short waits are cheaper spun through.
const YIELD_CALLS_PER_SWITCH: u32 = 8;

pub(super) unsafe extern "C" fn report_trap(ctx: *mut WarpCtx, kind: u32, lane: u32, site: u32, address: u64) -> ! {
    let (kind, what) = fault_report::trap_kind(kind);
    // SAFETY: compiled code passes its own context and owns nothing.
    unsafe { raise_fault(warp_of_ctx(ctx), kind, what, lane, site, address) }
}

pub(super) unsafe extern "C" fn terminate_if_cancelled(ctx: *mut WarpCtx) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and owns nothing.
    unsafe {
        let job = job_of_warp(warp);
        if job.interrupt_check_requested() {
            (*warp).pause_for_interrupt_check();
        }
        terminate_if_stopped(warp);
    }
}

pub(super) unsafe extern "C" fn report_compile_failure(ctx: *mut WarpCtx, why: *const u8, len: usize) -> ! {
    // SAFETY: compiled code passes its own context; the text is the caller's. All that is made is stored before the fiber is left.
    unsafe {
        let warp = warp_of_ctx(ctx);
        let why = String::from_utf8_lossy(std::slice::from_raw_parts(why, len));
        let what = format!("cannot be compiled for lanes that part: {why}");
        drop(why);
        let job = job_of_warp(warp);
        job.fail_with_fault(Fault::launch_fault(FaultKind::Compile, &job.program.name, what));
        (*warp).terminate_fiber()
    }
}

pub(super) unsafe extern "C" fn yield_now(ctx: *mut WarpCtx) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context.
    unsafe {
        (*warp).yields += 1;
        if (*warp).yields >= YIELD_CALLS_PER_SWITCH {
            (*warp).yields = 0;
            yield_or_terminate(ctx);
        }
    }
}

/// Leaves for good when the launch is stopped.
///
/// # Safety
/// As the functions above.
pub(super) unsafe fn terminate_if_stopped(warp: *mut Warp) {
    // SAFETY: passed on; the report that is made is dropped or stored before the fiber is left.
    unsafe {
        if job_of_warp(warp).is_stopped() {
            job_of_warp(warp).record_first_stopped_warp(&*warp);
            (*warp).terminate_fiber();
        }
    }
}

/// Lets others run, or leaves for good when the launch is stopped.
///
/// # Safety
/// As the functions above.
pub(super) unsafe fn yield_or_terminate(ctx: *mut WarpCtx) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: passed on. A kernel that was compiled as never waiting has no block to return to.
    unsafe {
        terminate_if_stopped(warp);
        if !(*ctx).block.is_null() {
            (*warp).pause_warp(PauseReason::Yield);
        }
    }
}

pub(crate) unsafe extern "C" fn barrier_call(
    ctx: *mut WarpCtx,
    kind: u32,
    id: u32,
    count: u32,
    arriving: u32,
    trues: u32,
) -> u32 {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and owns nothing; only kernels compiled as waiting have barriers.
    unsafe {
        terminate_if_stopped(warp);
        block::arrive_at_barrier(warp, id, WarpArrival::of_lanes(&(*warp).ctx, kind, count, arriving, trues))
    }
}

/// A `bar.sync` for all threads up to the change of fibers, which is left to the caller.
pub(crate) unsafe extern "C" fn barrier_arrive_all_call(ctx: *mut WarpCtx, id: u32) -> FiberSwitch {
    // SAFETY: compiled code passes its own context and owns nothing.
    unsafe {
        if (*(*ctx).cancel).load(Ordering::Relaxed) != 0 {
            terminate_if_stopped(warp_of_ctx(ctx));
        }
        block::arrive_all_lanes(warp_of_ctx(ctx), id)
    }
}

pub(super) unsafe extern "C" fn nanosleep_call(ctx: *mut WarpCtx, nanoseconds: u32) {
    // PTX: at most a millisecond.
    let length = Duration::from_nanos(u64::from(nanoseconds.min(1_000_000)));
    let start = Instant::now();
    // How often a warp gives way must not depend on time then.
    let ordered = rtcg_vgpu_abi::schedule::current_schedule().is_reproducible();
    loop {
        // SAFETY: compiled code passes its own context; nothing here is owned.
        unsafe { yield_or_terminate(ctx) };
        if ordered || start.elapsed() >= length {
            return;
        }
        std::hint::spin_loop();
    }
}

pub(super) unsafe extern "C" fn read_clock64(_: *mut WarpCtx) -> u64 {
    crate::arch::read_cycle_counter()
}

pub(super) unsafe extern "C" fn read_globaltimer(_: *mut WarpCtx) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64 / CLOCK_STEP_NS * CLOCK_STEP_NS)
}
