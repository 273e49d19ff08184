//! The checks that compiled code cannot decide by itself.
//!
//! Assumes that compiled code calls [`check_lane_accesses`] only when the state of some byte was not good
//! enough, and that it marks what it writes itself whenever it was.

use super::race::other_access;
use super::{job_of_warp, lane_indices, raise_fault, warp_of_ctx};
use crate::check::shadow::{READABLE_BIT, WRITABLE_BIT, device_bit, shadow_memory};
use crate::check::{self, FindingKind};
use crate::engine::grid_job::GridJob;
use crate::engine::report_words::{describe_place, words_of};
use crate::fault_report;
use crate::fiber::Warp;
use crate::window::device_window;
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::instrument::{self, BarrierDivergenceFn, Instrumentation, LanesAtBarrier};

/// What compiled code is to do beyond the program: the checks of this process, and random choices.
/// `device` is the one it runs on, when there are several.
pub fn enabled_instrumentation(chaos: bool, device: Option<u32>) -> Instrumentation {
    let checks = check::enabled_checks();
    let states = if checks.uses_shadow_memory() { shadow_memory() } else { None };
    Instrumentation {
        memory: states.map(|s| instrument::ShadowStates { base: s.base as u64, mask: s.mask as u64 }),
        device_bit: device.filter(|_| checks.memory).map_or(0, device_bit),
        init: checks.init,
        access: check_lane_accesses,
        local: mark_local_frame,
        alloca: |start, bytes| check::shadow::mark_allocated(start as usize, bytes as usize, true),
        diverged: checks.sync.then_some(report_diverged_barrier as BarrierDivergenceFn),
        race: checks.race.then_some(super::race::RACE_CALLS),
        random: chaos.then_some(super::random_choices::random_word),
    }
}

/// Checks `[address, address + bytes)` of the lanes of `mask`.
///
/// # Safety
/// `ctx` is that of the warp on this fiber; the callers' frames own nothing.
pub(super) unsafe extern "C" fn check_lane_accesses(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    info: u32,
    addresses: *const LaneValues,
) {
    let warp = warp_of_ctx(ctx);
    let (Some(states), Ok(w)) = (shadow_memory(), device_window()) else { return };
    let bytes = (info & instrument::BYTES_MASK) as usize;
    let writes = info & (instrument::WRITE_BIT | instrument::ATOMIC_BIT) != 0;
    let reads = info & instrument::WRITE_BIT == 0;
    let (mut unwritten, mut first) = (0, None);
    for lane in lane_indices(mask) {
        // SAFETY: compiled code passes 32 addresses.
        let address = unsafe { (*addresses)[lane] } as usize;
        // Registered host memory has no states; the check of the window has checked it.
        if !w.contains(address) {
            continue;
        }
        let all = (address..address + bytes).map(|a| states.state_at(a));
        let (any, both) = all.fold((u8::MAX, 0), |(and, or), s| (and & s, or | s));
        let nothing = (address..address + bytes).any(|a| states.state_at(a) == 0);
        if nothing || (writes && any & WRITABLE_BIT == 0) {
            // SAFETY: compiled code owns nothing; passed on.
            unsafe { fault_out_of_bounds(warp, lane, site, address as u64, both != 0 && writes && !nothing) };
        }
        // SAFETY: compiled code owns nothing that a fault would leave behind.
        unsafe { check_peer_access(warp, lane, site, address as u64, any) };
        if reads && any & READABLE_BIT == 0 && check::enabled_checks().init {
            unwritten += 1;
            first = first.or(Some((lane, address as u64)));
        }
        states.mark_written(address, bytes);
    }
    if let Some((lane, address)) = first {
        // SAFETY: compiled code owns nothing that a fault would leave behind.
        unsafe {
            record_finding(
                warp,
                FindingKind::Uninitialised,
                "read of uninitialised memory",
                lane,
                site,
                address,
                unwritten,
            )
        };
    }
}

/// Ends the launch when the memory at `address`, of state `state`, is that of another device whose
/// peer this context is not.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn check_peer_access(warp: *mut Warp, lane: usize, site: u32, address: u64, state: u8) {
    // SAFETY: the job outlives its warps.
    let job = unsafe { job_of_warp(warp) };
    let Some(peers) = job.cancel.peer_access() else { return };
    if !check::enabled_checks().memory || state & device_bit(peers.device()) != 0 {
        return;
    }
    if let Some((other, lacking)) = peers.device_without_peer_access(address) {
        let here = peers.device();
        let what = format!("illegal memory access to device {other} by a kernel of device {here}, {lacking}");
        // SAFETY: the warp runs on this fiber, which is left with nothing to drop.
        unsafe {
            job.fail_with_fault(fault_report::trap_fault(
                job,
                &*warp,
                FaultKind::IllegalAddress,
                &what,
                lane as u32,
                site,
                address,
            ));
            drop(what);
            (*warp).terminate_fiber()
        }
    }
}

/// Checks a copy of `n` bytes by one lane, in pieces as large as a single access.
///
/// # Safety
/// As [`raise_fault`].
pub(super) unsafe fn check_copied_range(ctx: *mut WarpCtx, lane: usize, site: u32, address: u64, n: u64, write: bool) {
    const MAX_CHECKED_PIECE: u64 = 16;
    // SAFETY: passed on.
    unsafe {
        super::race::record_lane_access(
            warp_of_ctx(ctx),
            lane,
            site,
            address,
            n,
            if write { instrument::WRITE_BIT } else { 0 },
        )
    };
    if shadow_memory().is_none() || !check::enabled_checks().uses_shadow_memory() {
        return;
    }
    let info = MAX_CHECKED_PIECE as u32 | if write { instrument::WRITE_BIT } else { 0 };
    for at in (address..address + n).step_by(MAX_CHECKED_PIECE as usize) {
        // SAFETY: passed on.
        unsafe { check_lane_accesses(ctx, 1 << lane, site, info, &[at; 32]) };
    }
}

/// Ends the launch: the access leaves its allocation, or writes to constant memory. With only
/// uninitialised reads being checked it is as good as any.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn fault_out_of_bounds(warp: *mut Warp, lane: usize, site: u32, address: u64, constant: bool) {
    if check::enabled_checks().memory {
        let what = if constant { "write to constant memory" } else { "illegal memory access" };
        // SAFETY: passed on.
        unsafe { raise_fault(warp, FaultKind::IllegalAddress, what, lane as u32, site, address) }
    }
}

/// Keeps a finding, and ends the launch when findings are fatal.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn record_finding(
    warp: *mut Warp,
    kind: FindingKind,
    what: &str,
    lane: usize,
    site: u32,
    address: u64,
    count: u64,
) {
    // SAFETY: passed on.
    unsafe {
        let finding =
            fault_report::build_lane_finding(job_of_warp(warp), &*warp, kind, what, lane as u32, site, address);
        check::record_finding(check::Finding { count, ..finding });
        if check::enabled_checks().fatal {
            raise_fault(warp, FaultKind::Trap, what, lane as u32, site, address);
        }
    }
}

/// Lanes of a warp wait at different barriers.
unsafe extern "C" fn report_diverged_barrier(
    ctx: *mut WarpCtx,
    id: u32,
    here: LanesAtBarrier,
    elsewhere: LanesAtBarrier,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and owns nothing; the job outlives its warps.
    unsafe {
        let (job, live) = (job_of_warp(warp), (*ctx).live);
        let (here_lanes, other_lanes) = (here.lanes & live, elsewhere.lanes & live);
        let (n, m) = (here_lanes.count_ones(), other_lanes.count_ones());
        if n == 0 || m == 0 {
            return;
        }
        let (item, wait) = (words_of(job).item, if m == 1 { "waits" } else { "wait" });
        let what = format!(
            "divergent barrier: {} of a warp {} at barrier {id} while {m} {} {wait} at another place",
            counted(n, item),
            if n == 1 { "arrives" } else { "arrive" },
            if m == 1 { "other" } else { "others" },
        );
        let lane = here_lanes.trailing_zeros();
        let finding = fault_report::build_lane_finding(job, &*warp, FindingKind::Divergence, &what, lane, here.site, 0);
        let (tid, at) = (&*(*ctx).tid, other_lanes.trailing_zeros() as usize);
        let place = job.program.lookup_site(elsewhere.site);
        let other = other_access((*ctx).ctaid, [tid.x[at], tid.y[at], tid.z[at]], place.as_ref());
        let mut message = finding.message.clone();
        message.push_str(&format!("\n  while {}", describe_place(job, other.block, other.thread, other.thread)));
        if let Some(place) = &place {
            place.describe(&mut message);
        }
        check::record_finding(check::Finding { other: Some(other), message, ..finding });
        if check::enabled_checks().fatal {
            raise_fault(warp, FaultKind::Trap, "divergent barrier", lane, here.site, 0);
        }
    }
}

/// `finished` threads of warps that arrive at a barrier have ended before it; `warp` is the first that has such threads,
/// `n_warps` is how many have.
pub(crate) fn record_missing_threads(job: &GridJob<'_>, warp: &Warp, n_warps: u32, id: usize, finished: u32) {
    let words = words_of(job);
    let (who, their) = if n_warps == 1 { ("a warp arrives", "its") } else { ("warps arrive", "their") };
    let have = if finished == 1 { "has" } else { "have" };
    let what = format!(
        "divergent barrier: {who} at barrier {id} without {finished} of {their} {}s, which {have} ended",
        words.item
    );
    let site = warp.ctx.barrier_site;
    let finding = fault_report::build_lane_finding(job, warp, FindingKind::Divergence, &what, u32::MAX, site, 0);
    check::record_finding(finding);
}

fn counted(n: u32, item: &str) -> String {
    format!("{n} {item}{}", if n == 1 { "" } else { "s" })
}

/// A function takes `32 * pitch` bytes of local memory, of which each lane uses the first `used`;
/// or gives them back, when `used` is 0.
unsafe extern "C" fn mark_local_frame(start: u64, pitch: u32, used: u32) {
    let Some(states) = shadow_memory() else { return };
    let (start, pitch) = (start as usize, pitch as usize);
    if used == 0 {
        return states.set_state(start, 32 * pitch, 0);
    }
    for lane in 0..32 {
        check::shadow::mark_allocated(start + lane * pitch, used as usize, false);
    }
}
