//! `run_mbarrier_op` objects in the shared memory of the running block, lane after lane.
//!
//! The warps of a block run on one thread, so plain accesses do. `cp.async` copies at once, so an
//! arrival that waits for earlier copies is one now.

use super::super::fiber::Warp;
use super::{lane_indices, raise_fault, traps_and_waits, warp_of_ctx, with_fault_site};
use crate::window::SHARED_SPAN_BYTES;
use rtcg_ptx::ast::MbarrierOp;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::mbarrier::{Mbarrier, MbarrierError};
use rtcg_vgpu_abi::runtime::{AtomicLaneOperands, MbarrierCode};

/// How often `try_wait` lets others run before it gives up. Lanes of its own warp may have to
/// arrive, which they can only once it has returned.
const MAX_TRY_WAIT_YIELDS: u32 = 3;

/// Changes the object at an address that [`check_mbarrier_address`] has checked; what it was before.
///
/// # Safety
/// The warp runs on this fiber; the address is good or faults.
unsafe fn update_mbarrier(
    warp: *mut Warp,
    site: u32,
    lane: usize,
    address: u64,
    f: impl FnOnce(&mut Mbarrier) -> Result<(), MbarrierError>,
) -> u64 {
    let at = address as *mut u64;
    // SAFETY: passed on; nothing here owns anything.
    let (old, wrong) = unsafe {
        (*warp).access_lane = lane as u32;
        (*warp).access_write = true;
        with_fault_site(warp, site, || {
            let old = at.read_volatile();
            let mut object = Mbarrier::unpack(old);
            let result = f(&mut object);
            if result.is_ok() {
                at.write_volatile(object.pack());
            }
            (old, result.err())
        })
    };
    if let Some(wrong) = wrong {
        // SAFETY: nothing here owns anything that a fault would leave behind.
        unsafe { raise_fault(warp, FaultKind::Trap, wrong.error_message(), lane as u32, site, address) };
    }
    old
}

/// Ends the launch unless an object of the running block may lie at `address`.
///
/// # Safety
/// As [`raise_fault`].
pub(super) unsafe fn check_mbarrier_address(ctx: *mut WarpCtx, site: u32, lane: usize, address: u64) {
    // SAFETY: passed on.
    unsafe {
        let warp = warp_of_ctx(ctx);
        if !address.is_multiple_of(8) {
            raise_fault(warp, FaultKind::MisalignedAddress, "misaligned mbarrier", lane as u32, site, address);
        }
        if (address as usize).wrapping_sub((*ctx).shared as usize) >= SHARED_SPAN_BYTES {
            let what = "an mbarrier lies outside the shared memory of its block";
            raise_fault(warp, FaultKind::IllegalAddress, what, lane as u32, site, address);
        }
    }
}

/// Counts `n` bytes at the object of `lane`, after a copy.
///
/// # Safety
/// As [`raise_fault`].
pub(super) unsafe fn complete_bytes(ctx: *mut WarpCtx, site: u32, lane: usize, address: u64, n: u32) {
    // SAFETY: passed on.
    unsafe {
        check_mbarrier_address(ctx, site, lane, address);
        update_mbarrier(warp_of_ctx(ctx), site, lane, address, |b| b.complete_bytes(n));
    }
}

pub(super) unsafe extern "C" fn run_mbarrier_op(
    ctx: *mut WarpCtx,
    code: u32,
    mask: u32,
    site: u32,
    lanes: *mut AtomicLaneOperands,
) {
    let code = MbarrierCode::decode_mbarrier_code(code);
    // SAFETY: compiled code passes its own context and operands, which live on the fiber's stack.
    let lanes = unsafe { &mut *lanes };
    for lane in lane_indices(mask) {
        // SAFETY: the context is the running warp's, and nothing is owned if the address faults.
        unsafe { check_mbarrier_address(ctx, site, lane, lanes.address[lane]) };
    }
    if let MbarrierOp::Wait { may_block, parity } = code.op {
        for attempt in 0.. {
            // SAFETY: the context is the running warp's, and the addresses were checked.
            let all = unsafe { test_wait_lanes(ctx, mask, site, lanes, parity) };
            if all || !may_block || attempt == MAX_TRY_WAIT_YIELDS || mask == 0 {
                return;
            }
            // SAFETY: the context is the running warp's, and nothing is owned if it ends.
            unsafe { traps_and_waits::yield_or_terminate(ctx) };
        }
    }
    for lane in lane_indices(mask) {
        let b = lanes.b[lane] as u32;
        // SAFETY: the context is the running warp's, and the addresses were checked.
        unsafe { lanes.result[lane] = arrive_lane(ctx, code.op, site, lane, lanes.address[lane], b) };
    }
}

/// Whether the phase has ended, for each lane; true if for all.
///
/// # Safety
/// As [`update_mbarrier`].
unsafe fn test_wait_lanes(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    lanes: &mut AtomicLaneOperands,
    parity: bool,
) -> bool {
    let (mut all, mut any) = (true, false);
    for lane in lane_indices(mask) {
        // SAFETY: passed on.
        let now =
            Mbarrier::unpack(unsafe { update_mbarrier(warp_of_ctx(ctx), site, lane, lanes.address[lane], |_| Ok(())) });
        let b = lanes.b[lane];
        let done = if parity { now.parity_phase_has_ended(b as u32) } else { now.phase_has_ended(b) };
        lanes.result[lane] = u64::from(done);
        all &= done;
        any |= done;
    }
    if any {
        // SAFETY: passed on.
        unsafe { super::race::order_after_all_warps(ctx) };
    }
    all
}

/// One lane's operation, waits aside; the state it returns.
///
/// # Safety
/// As [`update_mbarrier`].
unsafe fn arrive_lane(ctx: *mut WarpCtx, op: MbarrierOp, site: u32, lane: usize, address: u64, b: u32) -> u64 {
    let change = |object: &mut Mbarrier| match op {
        MbarrierOp::Init => Mbarrier::new(b).map(|new| *object = new),
        MbarrierOp::Inval => {
            *object = Mbarrier::unpack(0);
            Ok(())
        }
        MbarrierOp::ExpectTx => object.expect_bytes(b),
        MbarrierOp::CompleteTx => object.complete_bytes(b),
        MbarrierOp::Arrive { drop, no_complete: false } => object.arrive_counted(b, drop),
        MbarrierOp::Arrive { drop, no_complete: true } => object.arrive_no_complete(b, drop),
        MbarrierOp::ArriveExpectTx { drop } => object.expect_bytes(b).and_then(|()| object.arrive_counted(1, drop)),
        MbarrierOp::CopiesArrive { noinc: true } => object.arrive_counted(1, false),
        // The arrival is one more than expected, and comes at once.
        MbarrierOp::CopiesArrive { noinc: false } | MbarrierOp::Wait { .. } => Ok(()),
    };
    // SAFETY: passed on.
    unsafe { update_mbarrier(warp_of_ctx(ctx), site, lane, address, change) }
}
