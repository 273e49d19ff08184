//! Memory accesses of matrix instructions: one call for the warp.

use super::{check_lane_access, lane_indices, raise_fault, warp_of_ctx, with_fault_site};
use crate::check;
use crate::fiber::Warp;
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::instrument::WRITE_BIT;
use rtcg_vgpu_abi::runtime::{MatrixTransfer, TRANSFER_HEADER_BYTES};
use rtcg_vgpu_softmath::matrix::WARP_REGISTER_WORDS;
use rtcg_vgpu_softmath::matrix::load_store::{MatrixInMemory, transpose_8x8};

/// Bytes of a row of eight halves.
const TILE_ROW_BYTES: usize = 16;

pub(super) unsafe extern "C" fn load_or_store_matrix(
    ctx: *mut WarpCtx,
    form: *const MatrixTransfer,
    site: u32,
    stride: u64,
    frame: *mut u8,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its context, a form that lives for ever, and a frame that
    // begins with 32 addresses, which planes enough for the form follow.
    unsafe {
        let addresses = &*frame.cast::<LaneValues>();
        let planes = frame.add(TRANSFER_HEADER_BYTES).cast::<u32>();
        match &*form {
            MatrixTransfer::Wmma { role, layout, shape, ty, store } => {
                let stride = (stride != u64::MAX).then_some(stride);
                let memory = MatrixInMemory::new(*role, *shape, *ty, *layout, stride);
                load_or_store_wmma(warp, site, &memory, *store, addresses[0], planes);
            }
            MatrixTransfer::Tiles { count, trans, store } => {
                let planes = std::slice::from_raw_parts_mut(planes, count * WARP_REGISTER_WORDS);
                load_or_store_tiles(warp, site, addresses, *trans, *store, planes);
            }
        }
    }
}

/// Checks accesses of the lanes of `mask`: the states of the bytes, and races. Lane 0 stands for all
/// when the warp names one address.
///
/// # Safety
/// `warp` runs on this fiber, and the callers' frames own nothing.
unsafe fn check_lane_accesses(
    warp: *mut Warp,
    mask: u32,
    site: u32,
    store: bool,
    bytes: usize,
    addresses: &LaneValues,
) {
    let info = bytes as u32 | if store { WRITE_BIT } else { 0 };
    // SAFETY: by contract; a context is the start of its warp.
    unsafe {
        if check::enabled_checks().uses_shadow_memory() {
            super::checked_mode::check_lane_accesses(warp.cast(), mask, site, info, addresses);
        }
        for lane in lane_indices(mask) {
            super::race::record_lane_access(warp, lane, site, addresses[lane], bytes as u64, info);
        }
    }
}

/// # Safety
/// `warp` runs on this fiber; there are planes enough for the fragment.
unsafe fn load_or_store_wmma(
    warp: *mut Warp,
    site: u32,
    memory: &MatrixInMemory,
    store: bool,
    address: u64,
    planes: *mut u32,
) {
    let f = memory.fragment;
    let words = f.registers_per_lane() * WARP_REGISTER_WORDS * (f.ty.register_bits() / 32) as usize;
    // SAFETY: by contract; a fault in the accesses is caught, and nothing here owns anything.
    unsafe {
        let planes = std::slice::from_raw_parts_mut(planes, words);
        check_lane_access(warp, 0, site, address, usize::try_from(memory.span_bytes()).unwrap_or(usize::MAX >> 8));
        if check::enabled_checks().instruments_accesses() {
            memory.for_each_contiguous_range(|at, bytes| {
                check_lane_accesses(warp, 1, site, store, bytes, &[address.wrapping_add(at as u64); 32])
            });
        }
        (*warp).access_write = store;
        (*warp).access_lane = 0;
        with_fault_site(warp, site, || {
            if store {
                memory.store_fragment(address as *mut u8, planes);
            } else {
                memory.load_fragment(address as *const u8, planes);
            }
        });
    }
}

/// `ldmatrix` and `stmatrix`: lane `i` gives the address of row `i % 8` of matrix `i / 8`.
///
/// # Safety
/// `warp` runs on this fiber.
unsafe fn load_or_store_tiles(
    warp: *mut Warp,
    site: u32,
    addresses: &LaneValues,
    trans: bool,
    store: bool,
    planes: &mut [u32],
) {
    let rows = planes.len() / WARP_REGISTER_WORDS * 8;
    // SAFETY: by contract; see above.
    unsafe {
        for (lane, &address) in addresses.iter().enumerate().take(rows) {
            if !address.is_multiple_of(TILE_ROW_BYTES as u64) {
                raise_fault(warp, FaultKind::MisalignedAddress, "misaligned memory access", lane as u32, site, address);
            }
            check_lane_access(warp, lane, site, address, TILE_ROW_BYTES);
        }
        if check::enabled_checks().instruments_accesses() {
            let mask = u32::MAX >> (32 - rows);
            check_lane_accesses(warp, mask, site, store, TILE_ROW_BYTES, addresses);
        }
        if store && trans {
            planes.chunks_exact_mut(WARP_REGISTER_WORDS).for_each(transpose_8x8);
        }
        (*warp).access_write = store;
        with_fault_site(warp, site, || {
            for (lane, words) in planes.chunks_exact_mut(4).enumerate() {
                (&raw mut (*warp).access_lane).write_volatile(lane as u32);
                let (here, there) = (words.as_mut_ptr().cast::<u8>(), addresses[lane] as *mut u8);
                let (from, to) = if store { (here, there) } else { (there, here) };
                std::ptr::copy_nonoverlapping(from, to, TILE_ROW_BYTES);
            }
        });
        if !store && trans {
            planes.chunks_exact_mut(WARP_REGISTER_WORDS).for_each(transpose_8x8);
        }
    }
}
