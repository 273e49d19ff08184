//! Atomic operations, lane after lane in ascending order.
//!
//! Global memory is accessed with the processor's atomics, sequentially consistent, which is at
//! least as strong as every PTX ordering. The shared memory of a block is only accessed by the
//! thread that runs the block, so plain accesses do there. When all lanes name the same address
//! their operations are applied to one value and exchanged once, which is not observable.

use super::super::fiber::Warp;
use super::{check_lane_access, lane_indices, raise_fault, warp_of_ctx, with_fault_site};
use crate::window::{SHARED_SPAN_BYTES, device_window};
use half::{bf16, f16};
use rtcg_ptx::ast::{AtomOp, Type};
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::{AtomicCode, AtomicLaneOperands};
use rtcg_vgpu_abi::{WARP_LANES, WarpCtx};
use rtcg_vgpu_softmath::arith::{self, FloatOp};
use rtcg_vgpu_softmath::{FloatFormat, FloatMode};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// An unsigned integer that memory holds atomically.
trait AtomicWord: Copy + Eq {
    fn from_lane_bits(lane: u64) -> Self;
    fn to_lane_bits(self) -> u64;
    /// # Safety
    /// `at` is aligned and may be accessed, or faults.
    unsafe fn load_word(at: *mut Self) -> Self;
    /// The value found when it is not `old`.
    ///
    /// # Safety
    /// As [`AtomicWord::load_word`].
    unsafe fn compare_exchange_word(at: *mut Self, old: Self, new: Self) -> Result<Self, Self>;
    /// The processor's own addition; the old value.
    ///
    /// # Safety
    /// As [`AtomicWord::load_word`].
    unsafe fn fetch_add(at: *mut Self, b: Self) -> Self;
}

macro_rules! impl_atomic_word {
    ($word:ty, $atomic:ty) => {
        impl AtomicWord for $word {
            fn from_lane_bits(lane: u64) -> Self {
                lane as $word
            }
            fn to_lane_bits(self) -> u64 {
                u64::from(self)
            }
            unsafe fn load_word(at: *mut Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { <$atomic>::from_ptr(at).load(SeqCst) }
            }
            unsafe fn compare_exchange_word(at: *mut Self, old: Self, new: Self) -> Result<Self, Self> {
                // SAFETY: the caller's contract.
                unsafe { <$atomic>::from_ptr(at).compare_exchange_weak(old, new, SeqCst, SeqCst) }
            }
            unsafe fn fetch_add(at: *mut Self, b: Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { <$atomic>::from_ptr(at).fetch_add(b, SeqCst) }
            }
        }
    };
}
impl_atomic_word!(u16, AtomicU16);
impl_atomic_word!(u32, AtomicU32);
impl_atomic_word!(u64, AtomicU64);

/// A whole instruction, ready to run.
struct WarpAtomic<'a> {
    warp: *mut Warp,
    lanes: &'a mut AtomicLaneOperands,
    mask: u32,
    site: u32,
    /// No other thread can access the memory.
    private: bool,
    /// The old values are wanted.
    returns: bool,
}

pub(super) unsafe extern "C" fn run_atomic(
    ctx: *mut WarpCtx,
    code: u32,
    mask: u32,
    site: u32,
    lanes: *mut AtomicLaneOperands,
) {
    let warp = warp_of_ctx(ctx);
    if mask == 0 {
        return;
    }
    // SAFETY: compiled code passes its own context and operands, which live on the fiber's stack.
    unsafe {
        let Some(code) = AtomicCode::decode_atomic_code(code) else {
            raise_fault(warp, FaultKind::Trap, "internal error: unknown atomic operation", u32::MAX, site, 0)
        };
        let bytes = code.ty.bytes() as usize * code.elements as usize;
        if !all_aligned_and_in_window(&(*lanes).address, mask, bytes) {
            check_lane_accesses(warp, &(*lanes).address, mask, site, bytes);
        }
        let op = WarpAtomic { warp, lanes: &mut *lanes, mask, site, private: code.shared, returns: code.returns };
        if !dispatch_atomic(op, code) {
            raise_fault(warp, FaultKind::Trap, "this atomic operation is not supported", u32::MAX, site, 0);
        }
    }
}

/// Whether all addresses of `mask` are aligned and in the window.
fn all_aligned_and_in_window(addresses: &[u64; WARP_LANES], mask: u32, bytes: usize) -> bool {
    let Ok(w) = device_window() else { return false };
    let (base, bits, low) = (w.base_address() as u64, w.size_log2(), bytes as u64 - 1);
    let mut bad = 0;
    for (lane, &a) in addresses.iter().enumerate() {
        let active = u64::from(mask >> lane & 1).wrapping_neg();
        bad |= active & (((a ^ base) >> bits) | (a & low));
    }
    bad == 0
}

/// Finds the lane that [`all_aligned_and_in_window`] complains about; returns when all use registered host memory.
///
/// # Safety
/// As [`raise_fault`].
#[cold]
unsafe fn check_lane_accesses(warp: *mut Warp, addresses: &[u64; WARP_LANES], mask: u32, site: u32, bytes: usize) {
    for lane in lane_indices(mask) {
        let address = addresses[lane];
        // SAFETY: passed on.
        unsafe {
            if !(address as usize).is_multiple_of(bytes) {
                raise_fault(warp, FaultKind::MisalignedAddress, "misaligned memory access", lane as u32, site, address);
            }
            check_lane_access(warp, lane, site, address, bytes);
        }
    }
}

/// Whether there is such an operation.
///
/// # Safety
/// The addresses of `op` are aligned and checked.
unsafe fn dispatch_atomic(op: WarpAtomic<'_>, code: AtomicCode) -> bool {
    use Type::*;
    // SAFETY: passed on.
    unsafe {
        match (code.op, code.ty) {
            (AtomOp::Min | AtomOp::Max, B64 | U64 | S64) if op.private && op.returns => {
                update_in_rounds(op, |old, b| extreme_of_64_bits(code, old, b));
            }
            (AtomOp::Exch, B16 | U16 | S16) => update_each_lane::<u16>(op, |_, b, _| b),
            (AtomOp::Cas, B16 | U16 | S16) => update_each_lane::<u16>(op, |old, b, c| if old == b { c } else { old }),
            (AtomOp::Add, F16) => update_each_lane::<u16>(op, |old, b, _| add_f16(old, b)),
            (AtomOp::Add, BF16) => update_each_lane::<u16>(op, |old, b, _| add_bf16(old, b)),
            (AtomOp::Add, F16x2) => update_each_lane::<u32>(op, |old, b, _| map_halves(old, b, add_f16)),
            (AtomOp::Add, BF16x2) => update_each_lane::<u32>(op, |old, b, _| map_halves(old, b, add_bf16)),
            (AtomOp::Min | AtomOp::Max, F16 | BF16) => {
                update_each_lane::<u16>(op, |old, b, _| min_max_16_bit(code, old, b))
            }
            (AtomOp::Min | AtomOp::Max, F16x2 | BF16x2) => {
                update_each_lane::<u32>(op, |old, b, _| map_halves(old, b, |old, b| min_max_16_bit(code, old, b)));
            }
            (AtomOp::Add, F32) => add_f32(op),
            (AtomOp::Add, F64) => add_f64(op),
            (AtomOp::Min, S32) => update_each_lane::<u32>(op, |old, b, _| (old as i32).min(b as i32) as u32),
            (AtomOp::Max, S32) => update_each_lane::<u32>(op, |old, b, _| (old as i32).max(b as i32) as u32),
            (AtomOp::Min, S64) => update_each_lane::<u64>(op, |old, b, _| (old as i64).min(b as i64) as u64),
            (AtomOp::Max, S64) => update_each_lane::<u64>(op, |old, b, _| (old as i64).max(b as i64) as u64),
            (_, B32 | U32 | S32 | F32) => return run_integer_atomic_32(op, code),
            (_, B64 | U64 | S64 | F64) => return run_integer_atomic_64(op, code),
            _ => return false,
        }
    }
    true
}

/// # Safety
/// As [`dispatch_atomic`].
unsafe fn run_integer_atomic_32(op: WarpAtomic<'_>, code: AtomicCode) -> bool {
    // SAFETY: passed on.
    unsafe {
        match code.op {
            AtomOp::Add => atomic_add_lanes::<u32>(op, |old, b, _| old.wrapping_add(b)),
            AtomOp::Exch => update_each_lane::<u32>(op, |_, b, _| b),
            AtomOp::Cas => update_each_lane::<u32>(op, |old, b, c| if old == b { c } else { old }),
            AtomOp::And => update_each_lane::<u32>(op, |old, b, _| old & b),
            AtomOp::Or => update_each_lane::<u32>(op, |old, b, _| old | b),
            AtomOp::Xor => update_each_lane::<u32>(op, |old, b, _| old ^ b),
            AtomOp::Inc => update_each_lane::<u32>(op, |old, b, _| if old >= b { 0 } else { old + 1 }),
            AtomOp::Dec => update_each_lane::<u32>(op, |old, b, _| if old == 0 || old > b { b } else { old - 1 }),
            AtomOp::Min if code.ty != Type::F32 => update_each_lane::<u32>(op, |old, b, _| old.min(b)),
            AtomOp::Max if code.ty != Type::F32 => update_each_lane::<u32>(op, |old, b, _| old.max(b)),
            AtomOp::Min | AtomOp::Max => return false,
        }
    }
    true
}

/// # Safety
/// As [`dispatch_atomic`].
unsafe fn run_integer_atomic_64(op: WarpAtomic<'_>, code: AtomicCode) -> bool {
    // SAFETY: passed on.
    unsafe {
        match code.op {
            AtomOp::Add => atomic_add_lanes::<u64>(op, |old, b, _| old.wrapping_add(b)),
            AtomOp::Exch => update_each_lane::<u64>(op, |_, b, _| b),
            AtomOp::Cas => update_each_lane::<u64>(op, |old, b, c| if old == b { c } else { old }),
            AtomOp::And => update_each_lane::<u64>(op, |old, b, _| old & b),
            AtomOp::Or => update_each_lane::<u64>(op, |old, b, _| old | b),
            AtomOp::Xor => update_each_lane::<u64>(op, |old, b, _| old ^ b),
            AtomOp::Min if code.ty != Type::F64 => update_each_lane::<u64>(op, |old, b, _| old.min(b)),
            AtomOp::Max if code.ty != Type::F64 => update_each_lane::<u64>(op, |old, b, _| old.max(b)),
            _ => return false,
        }
    }
    true
}

/// # Safety
/// As [`dispatch_atomic`].
unsafe fn atomic_add_lanes<W: AtomicWord>(op: WarpAtomic<'_>, f: impl Fn(W, W, W) -> W) {
    // SAFETY: passed on.
    unsafe { combine_or_update_lanes(op, f, |at, b, _| W::fetch_add(at, b)) };
}

/// # Safety
/// As [`dispatch_atomic`].
unsafe fn update_each_lane<W: AtomicWord>(op: WarpAtomic<'_>, f: impl Fn(W, W, W) -> W) {
    let one = |at: *mut W, b: W, c: W| {
        // SAFETY: passed on.
        unsafe { update_atomically(at, |old| f(old, b, c)) }
    };
    // SAFETY: passed on.
    unsafe { combine_or_update_lanes(op, &f, one) };
}

fn extreme_of_64_bits(code: AtomicCode, old: u64, b: u64) -> u64 {
    match (code.op, code.ty == Type::S64) {
        (AtomOp::Min, true) => (old as i64).min(b as i64) as u64,
        (AtomOp::Min, false) => old.min(b),
        (_, true) => (old as i64).max(b as i64) as u64,
        (_, false) => old.max(b),
    }
}

/// Minima and maxima of 64 bits in shared memory, which a device does by a loop of the lanes together (question 38 of
/// `tests/fidelity`): all that are left read the old value; those that would not change it are done with it, and of the
/// others the lowest one of each address stores.
///
/// # Safety
/// As [`dispatch_atomic`]; no other thread can access the memory.
unsafe fn update_in_rounds(op: WarpAtomic<'_>, f: impl Fn(u64, u64) -> u64) {
    let WarpAtomic { warp, lanes, mask, site, .. } = op;
    let body = || {
        let mut waiting = mask;
        while waiting != 0 {
            let mut stored = 0u32;
            let mut unchanged = 0u32;
            for l in set_bit_positions(waiting) {
                let at = lanes.address[l] as *mut u64;
                // SAFETY: the addresses are aligned and checked; a fault is caught by `with_fault_site`, and nothing
                // here owns anything.
                lanes.result[l] = unsafe {
                    (*warp).access_write = true;
                    (&raw mut (*warp).access_lane).write_volatile(l as u32);
                    at.read()
                };
                if f(lanes.result[l], lanes.b[l]) == lanes.result[l] {
                    unchanged |= 1 << l;
                }
            }
            for l in set_bit_positions(waiting & !unchanged) {
                if !set_bit_positions(stored).any(|other| lanes.address[other] == lanes.address[l]) {
                    // SAFETY: as above; the place was read.
                    unsafe { (lanes.address[l] as *mut u64).write(f(lanes.result[l], lanes.b[l])) };
                    stored |= 1 << l;
                }
            }
            waiting &= !(unchanged | stored);
        }
    };
    // SAFETY: passed on.
    unsafe { with_fault_site(warp, site, body) }
}

/// Runs an operation: `f` is what it makes of a value, `one` does it in shared memory for a
/// single lane and returns the old value.
///
/// # Safety
/// As [`dispatch_atomic`].
unsafe fn combine_or_update_lanes<W: AtomicWord>(
    op: WarpAtomic<'_>,
    f: impl Fn(W, W, W) -> W,
    one: impl Fn(*mut W, W, W) -> W,
) {
    let WarpAtomic { warp, lanes, mask, site, private, returns } = op;
    let first = mask.trailing_zeros() as usize % WARP_LANES;
    let address = lanes.address[first];
    let other = lanes.address.iter().enumerate().any(|(l, &a)| mask >> l & 1 != 0 && a != address);
    let body = || {
        let operands =
            |lanes: &AtomicLaneOperands, l: usize| (W::from_lane_bits(lanes.b[l]), W::from_lane_bits(lanes.c[l]));
        // SAFETY: the addresses are aligned and checked; a fault is caught by `in_access`, and
        // nothing here owns anything.
        unsafe {
            (*warp).access_write = true;
            (*warp).access_lane = first as u32;
            if !other {
                return combine_lanes_at_same_address(lanes, mask, address as *mut W, private, &f);
            }
            for l in set_bit_positions(mask) {
                let at = lanes.address[l] as *mut W;
                (&raw mut (*warp).access_lane).write_volatile(l as u32);
                let (b, c) = operands(lanes, l);
                let old = if private { update_nonatomically(at, |old| f(old, b, c)) } else { one(at, b, c) };
                if returns {
                    lanes.result[l] = old.to_lane_bits();
                }
            }
        }
    };
    // SAFETY: passed on.
    unsafe { with_fault_site(warp, site, body) }
}

/// The positions of the ones of `mask`.
fn set_bit_positions(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let l = (mask != 0).then_some(mask.trailing_zeros() as usize % WARP_LANES)?;
        mask &= mask - 1;
        Some(l)
    })
}

/// Replaces a value that others may change too; the old one.
///
/// # Safety
/// As [`AtomicWord::load_word`].
unsafe fn update_atomically<W: AtomicWord>(at: *mut W, mut f: impl FnMut(W) -> W) -> W {
    // SAFETY: passed on.
    unsafe {
        let mut found = W::load_word(at);
        loop {
            match W::compare_exchange_word(at, found, f(found)) {
                Ok(old) => return old,
                Err(other) => found = other,
            }
        }
    }
}

/// Replaces a value that no other thread can access; returns the old one.
///
/// # Safety
/// As [`AtomicWord::load_word`].
unsafe fn update_nonatomically<W: AtomicWord>(at: *mut W, mut f: impl FnMut(W) -> W) -> W {
    // SAFETY: passed on.
    unsafe {
        let old = at.read_volatile();
        at.write_volatile(f(old));
        old
    }
}

/// Applies the operations of the lanes of `mask`, which all have the address `at`.
///
/// # Safety
/// As [`dispatch_atomic`].
unsafe fn combine_lanes_at_same_address<W: AtomicWord>(
    lanes: &mut AtomicLaneOperands,
    mask: u32,
    at: *mut W,
    private: bool,
    f: &impl Fn(W, W, W) -> W,
) {
    let apply = |found: W| {
        set_bit_positions(mask).fold(found, |value, l| {
            lanes.result[l] = value.to_lane_bits();
            f(value, W::from_lane_bits(lanes.b[l]), W::from_lane_bits(lanes.c[l]))
        })
    };
    // SAFETY: the caller's contract.
    unsafe {
        if private {
            update_nonatomically(at, apply)
        } else {
            update_atomically(at, apply)
        };
    }
}

/// `atom.add.f32` flushes subnormals on global memory and keeps them on shared memory.
///
/// # Safety
/// As [`dispatch_atomic`].
unsafe fn add_f32(op: WarpAtomic<'_>) {
    let shared = is_in_shared_memory(&op);
    let add = |old: u32, b: u32| match f32::from_bits(old) + f32::from_bits(b) {
        sum if sum.is_nan() => 0x7fff_ffff,
        sum => sum.to_bits(),
    };
    // SAFETY: passed on.
    unsafe {
        if shared {
            update_each_lane::<u32>(op, |old, b, _| add(old, b));
        } else {
            update_each_lane::<u32>(op, |old, b, _| flush_subnormal(add(flush_subnormal(old), flush_subnormal(b))));
        }
    }
}

/// A subnormal becomes a zero of its sign.
fn flush_subnormal(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

// A sum of halves is rounded to 24 bits first and to 11 (8) then; since 24 >= 2 * 11 + 2 the
// result is the correctly rounded one.
fn add_f16(a: u16, b: u16) -> u16 {
    let sum = f16::from_bits(a).to_f32() + f16::from_bits(b).to_f32();
    if sum.is_nan() { 0x7fff } else { f16::from_f32(sum).to_bits() }
}

fn add_bf16(a: u16, b: u16) -> u16 {
    let sum = bf16::from_bits(a).to_f32() + bf16::from_bits(b).to_f32();
    if sum.is_nan() { 0x7fff } else { bf16::from_f32(sum).to_bits() }
}

/// `atom.add.f64` in global memory leaves a NaN as it is, even a signalling one; in shared memory it
/// is an addition that makes it quiet. Of two the operand's is kept in global memory, the other in shared.
///
/// # Safety
/// As [`dispatch_atomic`].
unsafe fn add_f64(op: WarpAtomic<'_>) {
    let shared = is_in_shared_memory(&op);
    let nan = |old: u64, b: u64| match (f64::from_bits(old).is_nan(), f64::from_bits(b).is_nan()) {
        (_, true) => b,
        (true, false) => old,
        // The sum of opposite infinities.
        _ => FloatFormat::F64.canonical_nan(),
    };
    let add = |old: u64, b: u64| match f64::from_bits(old) + f64::from_bits(b) {
        sum if !sum.is_nan() => sum.to_bits(),
        _ if shared => arith::execute_float_op(FloatOp::Add, FloatFormat::F64, FloatMode::default(), b, old, 0),
        _ => nan(old, b),
    };
    // SAFETY: passed on.
    unsafe { update_each_lane::<u64>(op, |old, b, _| add(old, b)) };
}

/// Whether an operation is on shared memory.
fn is_in_shared_memory(op: &WarpAtomic<'_>) -> bool {
    let address = op.lanes.address[op.mask.trailing_zeros() as usize % WARP_LANES] as usize;
    op.private || device_window().is_ok_and(|w| w.shared_area().contains(address) && SHARED_SPAN_BYTES > 0)
}

/// The smaller or larger half, and of a number and a NaN the number.
fn min_max_16_bit(code: AtomicCode, a: u16, b: u16) -> u16 {
    let op = if code.op == AtomOp::Min { FloatOp::Min } else { FloatOp::Max };
    let format = if matches!(code.ty, Type::F16 | Type::F16x2) { FloatFormat::F16 } else { FloatFormat::BF16 };
    arith::execute_float_op(op, format, FloatMode::default(), a.into(), b.into(), 0) as u16
}

fn map_halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let low = f(a as u16, b as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}
