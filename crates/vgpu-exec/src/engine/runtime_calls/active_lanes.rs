//! Elements of lanes side by side, of which some are accessed: copies them one by one.

use super::{lane_indices, warp_of_ctx, with_fault_site};
use rtcg_vgpu_abi::WarpCtx;

pub(super) unsafe extern "C" fn copy_active_lanes(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    bytes: u32,
    store: u32,
    memory: u64,
    elements: *mut u8,
) {
    let (memory, store) = (memory as *mut u8, store != 0);
    // SAFETY: compiled code passes its context, and addresses that it has checked; those that are not
    // there raise a signal.
    unsafe {
        match bytes {
            1 => copy_each_lane(ctx, mask, site, store, memory, elements),
            2 => copy_each_lane::<u16>(ctx, mask, site, store, memory.cast(), elements.cast()),
            4 => copy_each_lane::<u32>(ctx, mask, site, store, memory.cast(), elements.cast()),
            _ => copy_each_lane::<u64>(ctx, mask, site, store, memory.cast(), elements.cast()),
        }
    }
}

/// # Safety
/// As [`copy_active_lanes`], for elements of type `T`.
unsafe fn copy_each_lane<T: Copy>(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    store: bool,
    memory: *mut T,
    elements: *mut T,
) {
    let warp = warp_of_ctx(ctx);
    let first = mask.trailing_zeros() as usize & !7;
    let body = || {
        for lane in lane_indices(mask) {
            let (there, here) = (memory.wrapping_add(lane), elements.wrapping_add(lane - first));
            // SAFETY: by contract. Volatile: the signal handler reads the lane, and other threads may
            // access the memory.
            unsafe {
                (&raw mut (*warp).access_lane).write_volatile(lane as u32);
                let (from, to) = if store { (here, there) } else { (there, here) };
                to.write_volatile(from.read_volatile());
            }
        }
    };
    // SAFETY: the context is that of the running warp; nothing is owned.
    unsafe { with_fault_site(warp, site, body) }
}
