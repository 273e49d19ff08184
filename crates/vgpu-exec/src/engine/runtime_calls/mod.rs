//! The functions that compiled code calls.
//!
//! Establishes: [`RUNTIME_CALLS`], the table for the JIT. All of them run on the warp's fiber; one that
//! ends the launch never returns, so it owns nothing at that point. None may panic: they are
//! called through frames that cannot be unwound.

mod active_lanes;
mod atomics;
mod atomics_128;
mod bulk_copy;
mod checked_mode;
mod device_malloc;
mod graph_conditional;
mod matrix;
mod mbarrier;
pub mod printf;
mod printf_format;
mod race;
mod random_choices;
mod texture;
mod traps_and_waits;

use super::fault_report;
use super::fiber::Warp;
use super::grid_job::GridJob;
use crate::host_ranges;
use crate::window::device_window;
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::RuntimeCalls;
use rtcg_vgpu_abi::{WARP_LANES, WarpCtx};
use std::sync::atomic::{Ordering, compiler_fence};

pub use checked_mode::enabled_instrumentation;
pub(crate) use checked_mode::record_missing_threads;
pub use device_malloc::reset_heap as reset_device_malloc;
pub use device_malloc::{allocations_in_use as device_memory_in_use, allocations_near as device_allocations};
pub(crate) use traps_and_waits::{barrier_arrive_all_call, barrier_call};

/// What runtime functions need of the fiber's stack.
const RUNTIME_CALL_STACK_BYTES: usize = 32 << 10;

/// The runtime's entry points.
pub static RUNTIME_CALLS: RuntimeCalls = RuntimeCalls {
    trap: traps_and_waits::report_trap,
    cancelled: traps_and_waits::terminate_if_cancelled,
    compile_failed: traps_and_waits::report_compile_failure,
    yield_now: traps_and_waits::yield_now,
    barrier: crate::arch::barrier_trampoline,
    barrier_all: crate::arch::barrier_all,
    atomic: atomics::run_atomic,
    atomic_128: atomics_128::atomic_128,
    mbarrier: mbarrier::run_mbarrier_op,
    bulk_copy: bulk_copy::bulk_copy,
    check_addresses,
    is_host_range,
    copy_active_lanes: active_lanes::copy_active_lanes,
    vprintf: printf::vprintf,
    malloc: device_malloc::device_malloc,
    free: device_malloc::device_free,
    set_conditional: graph_conditional::set_conditional,
    assertfail: printf::assertfail,
    clock64: traps_and_waits::read_clock64,
    globaltimer: traps_and_waits::read_globaltimer,
    nanosleep: traps_and_waits::nanosleep_call,
    texture: texture::run_texture,
    matrix: matrix::load_or_store_matrix,
};

/// The warp of a context, by the invariant of [`Warp`].
fn warp_of_ctx(ctx: *mut WarpCtx) -> *mut Warp {
    ctx.cast()
}

/// # Safety
/// `warp` runs on this fiber.
unsafe fn job_of_warp<'a>(warp: *mut Warp) -> &'a GridJob<'static> {
    // SAFETY: the job outlives its fibers.
    unsafe { &*(*warp).job }
}

/// Ends the launch with a fault of `lane` (or of all lanes, beyond 31).
///
/// # Safety
/// `warp` runs on this fiber; the callers' frames own nothing.
unsafe fn raise_fault(warp: *mut Warp, kind: FaultKind, what: &str, lane: u32, site: u32, address: u64) -> ! {
    // SAFETY: passed on. `fail_with_fault` drops everything it makes before the fiber is left.
    unsafe {
        let job = job_of_warp(warp);
        job.fail_with_fault(fault_report::trap_fault(job, &*warp, kind, what, lane, site, address));
        (*warp).terminate_fiber()
    }
}

/// Ends the launch with a stack overflow when little of the stack is left, before a lock is taken.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn ensure_stack(warp: *mut Warp, site: u32) {
    let here = 0_u8;
    // SAFETY: passed on.
    unsafe {
        if (&raw const here as usize) < (*warp).stack_bottom + RUNTIME_CALL_STACK_BYTES {
            let what = "the stack is exhausted (too deep a recursion)";
            raise_fault(warp, FaultKind::StackOverflow, what, u32::MAX, site, 0);
        }
    }
}

/// The lanes of a mask, ascending.
fn lane_indices(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP_LANES).filter(move |&l| mask & (1 << l) != 0)
}

/// Runs `f`, which accesses device memory: a signal in it is the fault of `site`.
///
/// # Safety
/// `warp` runs on this fiber; `f` and the callers' frames own nothing and hold no lock.
#[inline]
unsafe fn with_fault_site<R>(warp: *mut Warp, site: u32, f: impl FnOnce() -> R) -> R {
    // SAFETY: the warp is ours; the fences keep the accesses between the two stores, as seen by
    // the signal handler on this thread.
    unsafe {
        (*warp).access_site = site;
        (*warp).in_access = true;
        compiler_fence(Ordering::SeqCst);
        let result = f();
        compiler_fence(Ordering::SeqCst);
        (*warp).in_access = false;
        result
    }
}

/// Traps unless `[address, address + bytes)` may be accessed as far as the window can tell.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn check_lane_access(warp: *mut Warp, lane: usize, site: u32, address: u64, bytes: usize) {
    let a = address as usize;
    let inside = device_window().is_ok_and(|w| w.contains(a) && w.contains(a + (bytes - 1)));
    if !inside && !host_ranges::is_registered(address, bytes as u64) {
        // SAFETY: passed on.
        unsafe { raise_fault(warp, FaultKind::IllegalAddress, "illegal memory access", lane as u32, site, address) };
    }
}

unsafe extern "C" fn is_host_range(address: u64, bytes: u64) -> u32 {
    u32::from(host_ranges::is_registered(address, bytes))
}

unsafe extern "C" fn check_addresses(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    bytes: u32,
    addresses: *const LaneValues,
) {
    // Lanes mostly access the memory that the lane before accesses.
    let mut range = host_ranges::HostRange::EMPTY;
    for lane in lane_indices(mask) {
        // SAFETY: compiled code passes its context and 32 addresses.
        let address = unsafe { (*addresses)[lane] };
        if range.contains(address, bytes.max(1).into()) {
            continue;
        }
        // SAFETY: as above.
        unsafe { check_lane_access(warp_of_ctx(ctx), lane, site, address, bytes.max(1) as usize) };
        range = host_ranges::registered_range(address, bytes.max(1).into()).unwrap_or(range);
    }
}
