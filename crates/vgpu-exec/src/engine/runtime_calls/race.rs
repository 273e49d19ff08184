//! What compiled code reports about its accesses and synchronisation, when races are checked.

use super::{job_of_warp, lane_indices, raise_fault, warp_of_ctx};
use crate::InstructionLocation;
use crate::check::race::{Accessor, RaceHazard};
use crate::check::{self, Finding, FindingKind, RaceAccess};
use crate::engine::grid_job::GridJob;
use crate::engine::report_words::describe_place;
use crate::fault_report;
use crate::fiber::Warp;
use crate::window::device_window;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::instrument::{self, ChunkAccess, RaceCalls, SYNC_ACQUIRE, SYNC_FENCE, SYNC_RELEASE, WARP_SYNC};
use rtcg_vgpu_abi::{IgnorePoison, WarpCtx};

/// The functions for compiled code.
pub(super) const RACE_CALLS: RaceCalls = RaceCalls { access: record_chunk_access, sync: record_sync };

unsafe extern "C" fn record_chunk_access(
    ctx: *mut WarpCtx,
    mask: u32,
    chunk: u32,
    site: u32,
    info: u32,
    lanes: *const ChunkAccess,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and eight lanes.
    let (job, lanes) = unsafe { (job_of_warp(warp), &*lanes) };
    let (Some(race), Ok(w)) = (&job.race, device_window()) else { return };
    let bytes = (info & instrument::BYTES_MASK) as usize;
    let write = info & instrument::WRITE_BIT != 0;
    let mut worst: Option<(usize, RaceHazard)> = None;
    let mut known = race.lock().ignore_poison();
    for i in lane_indices(mask & 0xff) {
        let address = lanes.address[i];
        if w.local_area().contains(address as usize) {
            continue;
        }
        // SAFETY: the warp is that of the running context.
        let who = unsafe {
            lane_race_accessor(job, warp, chunk as usize * 8 + i, site, info & instrument::VOLATILE_BIT != 0, false)
        };
        let value = (info & instrument::HAS_VALUES_BIT != 0).then(|| lanes.stored_value(i, bytes));
        let hazard = known.note_access(who, address, bytes as u64, write, value);
        worst = worst.or(hazard.map(|h| (chunk as usize * 8 + i, h)));
    }
    let new = worst.filter(|(_, h)| known.reported.insert((site >> 6, h.other.site >> 6, h.name)));
    drop(known);
    if let Some((lane, hazard)) = new {
        // SAFETY: compiled code owns nothing; passed on.
        unsafe { report_race(job, warp, lane, site, hazard) };
    }
}

unsafe extern "C" fn record_sync(ctx: *mut WarpCtx, what: u32) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context.
    let (job, me) = unsafe { (job_of_warp(warp), lane_race_accessor(job_of_warp(warp), warp, 0, 0, false, false)) };
    let Some(race) = &job.race else { return };
    let mut known = race.lock().ignore_poison();
    match what {
        WARP_SYNC => known.sync_warp(me.resident, me.block, u32::from(me.thread) / 32),
        SYNC_FENCE => known.publish_after_fence(me.block),
        SYNC_ACQUIRE => known.acquire_published(me.block),
        SYNC_RELEASE => {
            known.acquire_published(me.block);
            known.publish_after_fence(me.block);
        }
        _ => {}
    }
}

/// An access of one lane that a function of the runtime is about to make; `info` as for compiled code.
///
/// # Safety
/// As [`raise_fault`].
pub(super) unsafe fn record_lane_access(warp: *mut Warp, lane: usize, site: u32, address: u64, bytes: u64, info: u32) {
    // SAFETY: passed on.
    unsafe {
        let job = job_of_warp(warp);
        let Some(race) = &job.race else { return };
        let atomic = info & instrument::ATOMIC_BIT != 0;
        let who = lane_race_accessor(job, warp, lane, site, false, atomic);
        let mut known = race.lock().ignore_poison();
        let hazard = known.note_access(who, address, bytes, atomic || info & instrument::WRITE_BIT != 0, None);
        let new = hazard.filter(|h| known.reported.insert((site >> 6, h.other.site >> 6, h.name)));
        drop(known);
        if let Some(hazard) = new {
            report_race(job, warp, lane, site, hazard);
        }
    }
}

/// A wait for an `mbarrier` is over.
///
/// # Safety
/// The warp of `ctx` runs on this fiber.
pub(super) unsafe fn order_after_all_warps(ctx: *mut WarpCtx) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: the caller's contract.
    let (job, me) = unsafe { (job_of_warp(warp), lane_race_accessor(job_of_warp(warp), warp, 0, 0, false, false)) };
    if let Some(race) = &job.race {
        let mut known = race.lock().ignore_poison();
        known.order_after_all_warps(me.resident, me.block, u32::from(me.thread) / 32);
    }
}

/// # Safety
/// `warp` runs on this fiber.
unsafe fn lane_race_accessor(
    job: &GridJob<'_>,
    warp: *mut Warp,
    lane: usize,
    site: u32,
    volatile: bool,
    atomic: bool,
) -> Accessor {
    // SAFETY: the caller's contract.
    let ctx = unsafe { &(*warp).ctx };
    let thread = (ctx.first_thread as usize + lane) as u16;
    Accessor { resident: ctx.block as usize, block: job.block_number(ctx.ctaid), thread, site, volatile, atomic }
}

/// Keeps a race as a finding, and ends the launch when findings are fatal.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn report_race(job: &GridJob<'_>, warp: *mut Warp, lane: usize, site: u32, hazard: RaceHazard) {
    let what = format!("race: {} without an order between the two", hazard.name);
    // SAFETY: passed on.
    unsafe {
        let finding =
            fault_report::build_lane_finding(job, &*warp, FindingKind::Race, &what, lane as u32, site, hazard.word);
        let place = job.program.lookup_site(hazard.other.site);
        let other = race_access(job, &hazard, place.as_ref());
        let mut message = finding.message.clone();
        message.push_str(&format!("\n  after {}", describe_place(job, other.block, other.thread, other.thread)));
        if let Some(place) = &place {
            place.describe(&mut message);
        }
        check::record_finding(Finding { other: Some(other), message, ..finding });
        if check::enabled_checks().fatal {
            raise_fault(warp, FaultKind::Trap, "race", lane as u32, site, 0);
        }
    }
}

fn race_access(job: &GridJob<'_>, hazard: &RaceHazard, place: Option<&InstructionLocation>) -> RaceAccess {
    let t = u32::from(hazard.other.thread);
    let [x, y, _] = job.shape.block;
    let thread = [t % x, t / x % y, t / x / y];
    other_access(job.block_index_from_number(hazard.other.block), thread, place)
}

/// What a finding that is about two places says of the other one.
pub(super) fn other_access(block: [u32; 3], thread: [u32; 3], place: Option<&InstructionLocation>) -> RaceAccess {
    RaceAccess {
        block,
        thread,
        instruction: place.map(|p| p.instruction.clone()).unwrap_or_default(),
        ptx_line: place.map_or(0, |p| p.ptx_line),
        source: place.and_then(|p| p.source.clone()),
    }
}
