//! `cp.async.bulk` and `cp.reduce.async.bulk`: copies of many bytes by one thread, made at once.

use super::super::fiber::Warp;
use super::{atomics, check_lane_access, lane_indices, mbarrier, raise_fault, warp_of_ctx, with_fault_site};
use rtcg_ptx::ast::{AtomOp, Type};
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::{AtomicCode, AtomicLaneOperands, BulkCopyCode};
use rtcg_vgpu_abi::{WARP_LANES, WarpCtx};

/// What sizes and addresses are multiples of.
const BULK_ALIGNMENT: u64 = 16;

pub(super) unsafe extern "C" fn bulk_copy(
    ctx: *mut WarpCtx,
    code: u32,
    mask: u32,
    site: u32,
    lanes: *mut AtomicLaneOperands,
) {
    let code = BulkCopyCode::decode_bulk_copy_code(code);
    // SAFETY: compiled code passes its own context and operands, which live on the fiber's stack.
    let AtomicLaneOperands { address, b, c, result } = unsafe { *lanes };
    for lane in lane_indices(mask) {
        let (to, from, n) = (address[lane], b[lane], c[lane]);
        // SAFETY: the context is the running warp's; the checks end the fiber where a range may not be used.
        unsafe {
            check_bulk_copy(warp_of_ctx(ctx), lane, site, to, from, n);
            super::checked_mode::check_copied_range(ctx, lane, site, from, n, false);
            super::checked_mode::check_copied_range(ctx, lane, site, to, n, true);
            match code.reduce {
                None => copy_bytes(warp_of_ctx(ctx), lane, site, to, from, n as usize),
                Some((op, ty)) => reduce_bulk(ctx, lane, site, (to, from, n), (op, ty), code.to_shared),
            }
            if code.signals {
                mbarrier::complete_bytes(ctx, site, lane, result[lane], n as u32);
            }
        }
    }
}

/// # Safety
/// As [`raise_fault`].
unsafe fn check_bulk_copy(warp: *mut Warp, lane: usize, site: u32, to: u64, from: u64, n: u64) {
    for (address, bytes) in [(to, n), (from, n)] {
        // SAFETY: passed on.
        unsafe {
            if !(address | bytes).is_multiple_of(BULK_ALIGNMENT) {
                let what = "addresses and size of a bulk copy must be multiples of 16";
                raise_fault(warp, FaultKind::MisalignedAddress, what, lane as u32, site, address);
            }
            if bytes > 0 {
                check_lane_access(warp, lane, site, address, bytes as usize);
            }
        }
    }
}

/// # Safety
/// The addresses are checked; an access that faults is that of `lane`.
unsafe fn copy_bytes(warp: *mut Warp, lane: usize, site: u32, to: u64, from: u64, n: usize) {
    // SAFETY: passed on.
    unsafe {
        (*warp).access_lane = lane as u32;
        (*warp).access_write = true;
        with_fault_site(warp, site, || std::ptr::copy(from as *const u8, to as *mut u8, n));
    }
}

/// Combines elements at the destination, each atomically, a warp's worth at a time.
///
/// # Safety
/// As [`copy_bytes`].
unsafe fn reduce_bulk(
    ctx: *mut WarpCtx,
    lane: usize,
    site: u32,
    (to, from, n): (u64, u64, u64),
    (op, ty): (AtomOp, Type),
    shared: bool,
) {
    let size = u64::from(ty.bytes());
    let Some(code) = (AtomicCode { op, ty, shared, returns: false, elements: 1 }).encode_atomic_code() else { return };
    let mut done = 0;
    while done < n {
        let count = ((n - done) / size).min(WARP_LANES as u64);
        let mut part = AtomicLaneOperands { address: [0; 32], b: [0; 32], c: [0; 32], result: [0; 32] };
        for i in 0..count {
            part.address[i as usize] = to + done + i * size;
        }
        // SAFETY: passed on.
        unsafe {
            read_elements(warp_of_ctx(ctx), lane, site, from + done, size as usize, &mut part.b[..count as usize]);
            let mask = if count == 32 { u32::MAX } else { (1 << count) - 1 };
            atomics::run_atomic(ctx, code, mask, site, &raw mut part);
        }
        done += count * size;
    }
}

/// # Safety
/// As [`copy_bytes`].
unsafe fn read_elements(warp: *mut Warp, lane: usize, site: u32, from: u64, size: usize, out: &mut [u64]) {
    // SAFETY: passed on.
    unsafe {
        (*warp).access_lane = lane as u32;
        (*warp).access_write = false;
        with_fault_site(warp, site, || {
            for (i, v) in out.iter_mut().enumerate() {
                let at = (from as usize + i * size) as *const u8;
                std::ptr::copy_nonoverlapping(at, std::ptr::from_mut(v).cast::<u8>(), size);
            }
        });
    }
}
