//! `atom.cas.b128` and `atom.exch.b128`.
//!
//! Only x86-64 with `cmpxchg16b` has them in hardware (nearly every such processor). Elsewhere a
//! lock per few addresses keeps these operations atomic among each other.

use super::super::fiber::Warp;
use super::{check_lane_access, lane_indices, raise_fault, warp_of_ctx, with_fault_site};
use crate::arch::compare_exchange_16_bytes_fn;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::Atomic128LaneOperands;

pub(super) unsafe extern "C" fn atomic_128(
    ctx: *mut WarpCtx,
    exchange: u32,
    mask: u32,
    site: u32,
    lanes: *mut Atomic128LaneOperands,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and operands, which live on the fiber's stack.
    let lanes = unsafe { &mut *lanes };
    for lane in lane_indices(mask) {
        let address = lanes.address[lane];
        let wide = |halves: &[[u64; 32]; 2]| u128::from(halves[0][lane]) | u128::from(halves[1][lane]) << 64;
        let (b, c) = (wide(&lanes.b), wide(&lanes.c));
        let f = |old: u128| if exchange != 0 { Some(b) } else { (old == b).then_some(c) };
        // SAFETY: the warp is that of the running context; nothing is owned if the address faults.
        let old = unsafe { update_lane_128(warp, lane, site, address, f) };
        lanes.result[0][lane] = old as u64;
        lanes.result[1][lane] = (old >> 64) as u64;
    }
}

/// Replaces the value at `address` by what `f` makes of it, if anything; the old value.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn update_lane_128(
    warp: *mut Warp,
    lane: usize,
    site: u32,
    address: u64,
    f: impl Fn(u128) -> Option<u128>,
) -> u128 {
    // SAFETY: passed on; the address is aligned and checked before it is accessed.
    unsafe {
        if !address.is_multiple_of(16) {
            raise_fault(warp, FaultKind::MisalignedAddress, "misaligned memory access", lane as u32, site, address);
        }
        check_lane_access(warp, lane, site, address, 16);
        (*warp).access_lane = lane as u32;
        (*warp).access_write = true;
        with_fault_site(warp, site, || update_128_atomically(address as *mut u128, f))
    }
}

/// # Safety
/// `at` is aligned and may be accessed, or faults.
unsafe fn update_128_atomically(at: *mut u128, f: impl Fn(u128) -> Option<u128>) -> u128 {
    let Some(compare_exchange) = compare_exchange_16_bytes_fn() else {
        // SAFETY: passed on.
        return unsafe { update_128_locked(at, f) };
    };
    // SAFETY: the processor has the instruction; the address is aligned to 16 bytes.
    unsafe {
        let mut old = compare_exchange(at, 0, 0);
        loop {
            let Some(new) = f(old) else { return old };
            let found = compare_exchange(at, old, new);
            if found == old {
                return old;
            }
            old = found;
        }
    }
}

/// # Safety
/// `at` is aligned and may be accessed, or faults.
unsafe fn update_128_locked(at: *mut u128, f: impl Fn(u128) -> Option<u128>) -> u128 {
    use std::sync::atomic::{AtomicBool, Ordering};
    static ADDRESS_LOCKS: [AtomicBool; 64] = [const { AtomicBool::new(false) }; 64];
    // The first touch may fault, which must not happen under the lock. A page that can be read can
    // be written.
    // SAFETY: the caller's contract.
    unsafe { at.read_volatile() };
    let lock = &ADDRESS_LOCKS[at as usize / 16 % ADDRESS_LOCKS.len()];
    while lock.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: the caller's contract.
    let old = unsafe { at.read_volatile() };
    if let Some(new) = f(old) {
        // SAFETY: the caller's contract, and the lock is held.
        unsafe { at.write_volatile(new) };
    }
    lock.store(false, Ordering::Release);
    old
}
