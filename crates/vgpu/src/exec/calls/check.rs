//! The checks that compiled code cannot decide by itself.
//!
//! Assumes that compiled code calls [`access`] only when the state of some byte was not good
//! enough, and that it marks what it writes itself whenever it was.

use super::{fault, job_of, lanes_of, warp_of};
use crate::abi::WarpCtx;
use crate::check::shadow::{READABLE, WRITABLE, device_bit, shadow};
use crate::check::{self, FindingKind};
use crate::exec::fault::FaultKind;
use crate::exec::fiber::Warp;
use crate::exec::job::Job;
use crate::exec::report;
use crate::jit::instrument::{self, DivergedFn, Instrument};
use crate::jit::runtime::Lanes;
use crate::memory::window::window;

/// What compiled code is to do beyond the program: the checks of this process, and random choices.
/// `device` is the one it runs on, when there are several.
pub(crate) fn instrument(chaos: bool, device: Option<u32>) -> Instrument {
    let checks = check::enabled();
    let states = if checks.uses_shadow_memory() { shadow() } else { None };
    Instrument {
        memory: states.map(|s| instrument::States { base: s.base as u64, mask: s.mask as u64 }),
        device_bit: device.filter(|_| checks.memory).map_or(0, device_bit),
        init: checks.init,
        access,
        local,
        diverged: checks.sync.then_some(diverged as DivergedFn),
        race: checks.race.then_some(super::race::CALLS),
        random: chaos.then_some(super::chaos::random),
    }
}

/// Checks `[address, address + bytes)` of the lanes of `mask`.
///
/// # Safety
/// `ctx` is that of the warp on this fiber; the callers' frames own nothing.
pub(super) unsafe extern "C" fn access(ctx: *mut WarpCtx, mask: u32, site: u32, info: u32, addresses: *const Lanes) {
    let warp = warp_of(ctx);
    let (Some(states), Ok(w)) = (shadow(), window()) else { return };
    let bytes = (info & instrument::BYTES) as usize;
    let writes = info & (instrument::WRITE | instrument::ATOMIC) != 0;
    let reads = info & instrument::WRITE == 0;
    let (mut unwritten, mut first) = (0, None);
    for lane in lanes_of(mask) {
        // SAFETY: compiled code passes 32 addresses.
        let address = unsafe { (*addresses)[lane] } as usize;
        // Registered host memory has no states; the check of the window has checked it.
        if !w.contains(address) {
            continue;
        }
        let all = (address..address + bytes).map(|a| states.get(a));
        let (any, both) = all.fold((u8::MAX, 0), |(and, or), s| (and & s, or | s));
        let nothing = (address..address + bytes).any(|a| states.get(a) == 0);
        if nothing || (writes && any & WRITABLE == 0) {
            // SAFETY: compiled code owns nothing; passed on.
            unsafe { fault_out_of_bounds(warp, lane, site, address as u64, both != 0 && writes && !nothing) };
        }
        // SAFETY: as above.
        unsafe { check_peer_access(warp, lane, site, address as u64, any) };
        if reads && any & READABLE == 0 && check::enabled().init {
            unwritten += 1;
            first = first.or(Some((lane, address as u64)));
        }
        states.written(address, bytes);
    }
    if let Some((lane, address)) = first {
        // SAFETY: as above.
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
/// As [`fault`].
unsafe fn check_peer_access(warp: *mut Warp, lane: usize, site: u32, address: u64, state: u8) {
    // SAFETY: the job outlives its warps.
    let job = unsafe { job_of(warp) };
    let Some(peers) = job.cancel.peers() else { return };
    if !check::enabled().memory || state & device_bit(peers.device) != 0 {
        return;
    }
    if let Some((other, lacking)) = peers.refuses(address) {
        let here = peers.device;
        let what = format!("illegal memory access to device {other} by a kernel of device {here}, {lacking}");
        // SAFETY: the warp runs on this fiber, which is left with nothing to drop.
        unsafe {
            job.fail(report::of_trap(job, &*warp, FaultKind::IllegalAddress, &what, lane as u32, site, address));
            drop(what);
            (*warp).die()
        }
    }
}

/// Checks a copy of `n` bytes by one lane, in pieces as large as a single access.
///
/// # Safety
/// As [`fault`].
pub(super) unsafe fn range(ctx: *mut WarpCtx, lane: usize, site: u32, address: u64, n: u64, write: bool) {
    const PIECE: u64 = 16;
    // SAFETY: passed on.
    unsafe {
        super::race::note_access(warp_of(ctx), lane, site, address, n, if write { instrument::WRITE } else { 0 })
    };
    if shadow().is_none() || !check::enabled().uses_shadow_memory() {
        return;
    }
    let info = PIECE as u32 | if write { instrument::WRITE } else { 0 };
    for at in (address..address + n).step_by(PIECE as usize) {
        // SAFETY: passed on.
        unsafe { access(ctx, 1 << lane, site, info, &[at; 32]) };
    }
}

/// Ends the launch: the access leaves its allocation, or writes to constant memory. With only
/// uninitialised reads being checked it is as good as any.
///
/// # Safety
/// As [`fault`].
unsafe fn fault_out_of_bounds(warp: *mut Warp, lane: usize, site: u32, address: u64, constant: bool) {
    if check::enabled().memory {
        let what = if constant { "write to constant memory" } else { "illegal memory access" };
        // SAFETY: passed on.
        unsafe { fault(warp, FaultKind::IllegalAddress, what, lane as u32, site, address) }
    }
}

/// Keeps a finding, and ends the launch when findings are fatal.
///
/// # Safety
/// As [`fault`].
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
        let finding = report::finding(job_of(warp), &*warp, kind, what, lane as u32, site, address);
        check::record(check::Finding { count, ..finding });
        if check::enabled().fatal {
            fault(warp, FaultKind::Trap, what, lane as u32, site, address);
        }
    }
}

/// Lanes of a warp wait at different barriers.
unsafe extern "C" fn diverged(ctx: *mut WarpCtx, id: u32, here: u32, elsewhere: u32) {
    let (n, m, lane) = (here.count_ones(), elsewhere.count_ones(), here.trailing_zeros() as usize);
    let what = format!(
        "divergent barrier: {n} threads of a warp arrive at barrier {id} while {m} others wait at another place"
    );
    // SAFETY: compiled code passes its own context and owns nothing.
    unsafe { record_finding(warp_of(ctx), FindingKind::Divergence, &what, lane, u32::MAX, 0, 1) };
}

/// `finished` threads of warps that arrive at a barrier have ended before it.
pub(in crate::exec) fn missing_threads(job: &Job<'_>, warp: &Warp, id: usize, finished: u32) {
    let what = format!(
        "divergent barrier: warps arrive at barrier {id} without {finished} of their threads, which have ended"
    );
    check::record(report::finding(job, warp, FindingKind::Divergence, &what, u32::MAX, u32::MAX, 0));
}

/// A function takes `32 * pitch` bytes of local memory, of which each lane uses the first `used`;
/// or gives them back, when `used` is 0.
unsafe extern "C" fn local(start: u64, pitch: u32, used: u32) {
    let Some(states) = shadow() else { return };
    let (start, pitch) = (start as usize, pitch as usize);
    if used == 0 {
        return states.set(start, 32 * pitch, 0);
    }
    for lane in 0..32 {
        check::shadow::allocated(start + lane * pitch, used as usize, false);
    }
}
