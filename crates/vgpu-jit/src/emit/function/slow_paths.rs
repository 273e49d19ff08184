//! The functions that compiled code calls when the quick check of an address fails: they find the lane at fault,
//! and pass addresses outside the device window to the runtime.
#![allow(unsafe_code, reason = "called by compiled code, with pointers to its lanes")]

use crate::emit::code::host_state::KernelHostState;
use crate::simt::function_plan::frame_header::BAR_KIND_ALIGNED;
use crate::{Instrumentation, WindowAddress};
use rtcg_ptx::ast::{AtomOp, Type};
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::instrument::LanesAtBarrier;
use rtcg_vgpu_abi::runtime::RuntimeCalls;
use rtcg_vgpu_abi::{TrapKind, WarpCtx};
use rtcg_vgpu_softmath::FloatMode;
use rtcg_vgpu_softmath::arith::{self, FloatOp};
use rtcg_vgpu_softmath::float::FloatFormat;

/// What the slow paths need; lives as long as the compiled code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlowPathEnv {
    pub(crate) runtime: RuntimeCalls,
    pub(crate) instrument: Instrumentation,
    pub(crate) window: WindowAddress,
}

impl SlowPathEnv {
    /// Whether an address lies in the device window.
    pub(crate) fn is_in_window(&self, address: u64) -> bool {
        (address ^ self.window.base) >> self.window.bits == 0
    }

    /// Whether lanes a stride apart, the first of them at `first`, access `bytes` each in the window or in one range of
    /// host memory, with their alignment.
    pub(crate) fn are_strided_addresses_good(&self, first: u64, stride: i64, lanes: u32, bytes: u32) -> bool {
        let last = first.wrapping_add_signed(stride.wrapping_mul(i64::from(lanes) - 1));
        let (low, high) = if stride < 0 { (last, first) } else { (first, last) };
        let align = u64::from(bytes.next_power_of_two() - 1);
        let length = high.wrapping_sub(low).saturating_add(bytes.into());
        let in_window = || self.is_in_window(low) && self.is_in_window(high);
        // SAFETY: the function takes any range.
        (first | stride as u64) & align == 0
            && (in_window() || unsafe { (self.runtime.is_host_range)(low, length) } != 0)
    }

    /// Checks the addresses of the lanes of `mask`.
    ///
    /// # Safety
    /// `ctx` is the running warp's.
    pub(crate) unsafe fn check_addresses(
        &self,
        ctx: *mut WarpCtx,
        mask: u32,
        site: u32,
        bytes: u32,
        addresses: &LaneValues,
    ) {
        let active = |lane: &usize| mask >> lane & 1 != 0;
        let align = u64::from(bytes.next_power_of_two() - 1);
        let outside = |lane: usize| !self.is_in_window(addresses[lane]);
        if (0..32).filter(active).any(outside) {
            // SAFETY: the caller passes its own context.
            unsafe { (self.runtime.check_addresses)(ctx, mask, site, bytes, addresses) };
        }
        if let Some(lane) = (0..32).filter(active).find(|&l| addresses[l] & align != 0) {
            // SAFETY: the caller passes its own context.
            unsafe { (self.runtime.trap)(ctx, TrapKind::MisalignedAddress as u32, lane as u32, site, addresses[lane]) };
        }
    }

    /// Checks the states of the bytes that the lanes of `mask` access; `info` says how.
    ///
    /// # Safety
    /// As [`SlowPathEnv::check_addresses`].
    pub(crate) unsafe fn check_shadow_states(
        &self,
        ctx: *mut WarpCtx,
        mask: u32,
        site: u32,
        info: u32,
        addresses: &LaneValues,
    ) {
        // SAFETY: by contract.
        unsafe {
            let mask = mask & (*ctx).live & !(*ctx).exited;
            (self.instrument.access)(ctx, mask, site, info, addresses);
        }
    }
}

/// Codes of [`match_or_redux`]: `redux` operations are these plus 16, signed ones plus 32, those of floats
/// plus 64 (and [`REDUX_ABS`], [`REDUX_NAN`]).
pub(crate) const MATCH_ANY: u32 = 0;
/// See [`MATCH_ANY`].
pub(crate) const MATCH_ALL: u32 = 1;

const REDUX_FLOAT: u32 = 64;
const REDUX_ABS: u32 = 128;
const REDUX_NAN: u32 = 256;

/// The code of a `redux`.
pub(crate) fn redux_code(op: AtomOp, ty: Type, abs: bool, nan: bool) -> u32 {
    let op = match op {
        AtomOp::Add => 0,
        AtomOp::Min => 1,
        AtomOp::Max => 2,
        AtomOp::And => 3,
        AtomOp::Or => 4,
        _ => 5,
    };
    if ty.is_float() {
        return REDUX_FLOAT + op + if abs { REDUX_ABS } else { 0 } + if nan { REDUX_NAN } else { 0 };
    }
    16 + op + if ty.is_signed() { 16 } else { 0 }
}

/// Value and member mask of each lane in, result and flag out.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MatchReduxArgs {
    pub(in crate::emit) value: LaneValues,
    pub(in crate::emit) members: LaneValues,
    pub(in crate::emit) result: LaneValues,
    pub(in crate::emit) flag: LaneValues,
}

/// `match` and `redux` over the active lanes.
///
/// # Safety
/// `lanes` is compiled code's scratch memory.
#[inline(never)]
pub(crate) unsafe extern "C" fn match_or_redux(code: u32, active: u32, lanes: *mut MatchReduxArgs) {
    // SAFETY: by contract.
    let lanes = unsafe { &mut *lanes };
    let lanes_with = |value: u64, of: &LaneValues| (0..32).fold(0, |found, l| found | u32::from(of[l] == value) << l);
    // Lanes with the same members have one result, and equal values one match: mostly the first round is the last.
    let mut left = u32::MAX;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let members = lanes.members[lane] as u32 & active;
        let mut alike = lanes_with(lanes.members[lane], &lanes.members);
        let values = (0..32).filter(|l| members >> l & 1 != 0).map(|l| lanes.value[l]);
        let (mut result, mut is_all) = (0, false);
        if code < 16 {
            let own = if code == MATCH_ANY { Some(lanes.value[lane]) } else { values.clone().next() };
            let equal = own.map_or(0, |own| lanes_with(own, &lanes.value));
            is_all = equal & members == members;
            result = if code == MATCH_ANY || is_all { equal & members } else { 0 };
            alike &= if code == MATCH_ANY { equal } else { u32::MAX };
        } else if code & REDUX_FLOAT == 0 {
            let order = |v: u32| if code >= 32 { v ^ 0x8000_0000 } else { v };
            let words = values.clone().map(|v| v as u32);
            result = match code & 15 {
                0 => words.fold(0, u32::wrapping_add),
                1 => words.min_by_key(|&v| order(v)).unwrap_or(0),
                2 => words.max_by_key(|&v| order(v)).unwrap_or(0),
                3 => words.fold(u32::MAX, |a, b| a & b),
                4 => words.fold(0, |a, b| a | b),
                _ => words.fold(0, |a, b| a ^ b),
            };
        }
        let result = if code & REDUX_FLOAT != 0 { redux_float_lanes(code, values) } else { u64::from(result) };
        let new = alike & left;
        for l in (0..32).filter(|l| new >> l & 1 != 0) {
            (lanes.result[l], lanes.flag[l]) = (result, u64::from(is_all));
        }
        left &= !alike;
    }
}

/// `redux.sync.{min,max}{.abs}{.NaN}.f32`
fn redux_float_lanes(code: u32, values: impl Iterator<Item = u64>) -> u64 {
    let op = if code & 15 == 1 { FloatOp::Min } else { FloatOp::Max };
    let mode = FloatMode { nan: code & REDUX_NAN != 0, ..FloatMode::default() };
    let magnitude = |v: u64| if code & REDUX_ABS != 0 { v & 0x7fff_ffff } else { v };
    let single = |v| arith::execute_float_op(op, FloatFormat::F32, mode, v, v, 0);
    values
        .map(magnitude)
        .map(single)
        .reduce(|a, b| arith::execute_float_op(op, FloatFormat::F32, mode, a, b, 0))
        .unwrap_or(0)
}

/// If the active lanes have loaded from one address, which is in a register at `address_slot` of the frame (negative: a
/// symbol's), they all get what the first one loaded into the register at `slot`.
///
/// # Safety
/// `frame` is the frame of compiled code, and the slots are those of registers with so many bytes per lane.
#[inline(never)]
pub(crate) unsafe extern "C" fn share_load_of_one_address(
    frame: *mut FrameHeader,
    address_slot: i32,
    address_bytes: u32,
    slot: i32,
    bytes: u32,
) {
    // SAFETY: by contract.
    unsafe {
        let active = (*frame).mask;
        let Some(first) = active.iter().position(|&mask| mask != 0) else { return };
        let lane = |slot: i32, bytes: u32, lane: usize| {
            frame.cast::<u8>().offset(slot as isize + (bytes as usize * lane) as isize)
        };
        if address_slot >= 0 {
            let address = |l: usize| match address_bytes {
                8 => lane(address_slot, 8, l).cast::<u64>().read(),
                _ => u64::from(lane(address_slot, 4, l).cast::<u32>().read()),
            };
            let shared = address(first);
            if (0..32).any(|l| active[l] != 0 && address(l) != shared) {
                return;
            }
        }
        // 128 bits are two arrays of 64.
        let (word, words) = if bytes == 16 { (8, 2) } else { (bytes, 1) };
        for l in (first + 1..32).filter(|&l| active[l] != 0) {
            for half in 0..words {
                let part = slot + half * 256;
                std::ptr::copy_nonoverlapping(lane(part, word, first), lane(part, word, l), word as usize);
            }
        }
    }
}

/// Gives each active lane `value` bytes of the warp's local memory (the same amount to all).
/// Returns 1 when it is exhausted.
///
/// # Safety
/// Called by compiled code with its own context and scratch memory.
#[inline(never)]
pub(crate) unsafe extern "C" fn alloca_lanes(
    ctx: *mut WarpCtx,
    active: u32,
    align: u64,
    lanes: *mut MatchReduxArgs,
) -> u32 {
    // SAFETY: by contract.
    let (instrument, ctx, lanes) =
        unsafe { (KernelHostState::from_warp_ctx(ctx).env.instrument, &mut *ctx, &mut *lanes) };
    let most = (0..32).filter(|l| active >> l & 1 != 0).map(|l| lanes.value[l]).max().unwrap_or(0);
    let pitch = most.clamp(1, 1 << 40).next_multiple_of(align);
    let start = (ctx.local_sp as u64).next_multiple_of(align);
    let end = start + 32 * pitch;
    if end > ctx.local_end as u64 {
        return 1;
    }
    for lane in 0..32 {
        lanes.flag[lane] = start + lane as u64 * pitch;
    }
    (instrument.alloca)(start, end - start);
    ctx.local_sp = ctx.local_sp.wrapping_add((end - ctx.local_sp as u64) as usize);
    0
}

/// The start of a frame as the helpers see it; [`crate::simt::function_plan::frame_header`] has the offsets.
#[repr(C)]
pub(crate) struct FrameHeader {
    pub(in crate::emit) pc: [u32; 32],
    pub(in crate::emit) mask: [u32; 32],
    bar_id: [u32; 32],
    bar_count: [u32; 32],
    bar_kind: [u32; 32],
    bar_pred: [u32; 32],
    bar_result: [u32; 32],
    forced: u32,
    spins: u32,
    local: u64,
    outer: *mut FrameHeader,
    pub(in crate::emit) warp_ops_done: u32,
    _between: [u32; 329],
    /// Of lanes at barriers only with checks of these.
    parked_at: [u32; 32],
}

const _: () = assert!(
    std::mem::offset_of!(FrameHeader, parked_at)
        == crate::simt::function_plan::frame_header::WARP_OP_SITE_OFFSET as usize
);

const _: () = assert!(
    std::mem::offset_of!(FrameHeader, warp_ops_done)
        == crate::simt::function_plan::frame_header::WARP_OPS_DONE_OFFSET as usize
);
const _: () = assert!(
    std::mem::offset_of!(FrameHeader, outer) == crate::simt::function_plan::frame_header::CALLER_FRAME_OFFSET as usize
);

impl FrameHeader {
    /// Lanes parked at barrier `id`.
    fn lanes_parked_at_barrier(&self, id: u32) -> impl Iterator<Item = usize> + use<'_> {
        let park = crate::simt::function_plan::special_pcs::PARKED_AT_BARRIER as u32;
        let done = crate::simt::function_plan::special_pcs::PC_DONE as u32;
        (0..32).filter(move |&l| self.pc[l] >= park && self.pc[l] != done && self.bar_id[l] == id)
    }

    /// Lets lanes go on behind their barrier.
    fn release_lanes(&mut self, lanes: &[usize], result: u32) {
        for &lane in lanes {
            self.bar_result[lane] = result;
            self.pc[lane] -= crate::simt::function_plan::special_pcs::PARKED_AT_BARRIER as u32;
        }
    }
}

/// Another runnable lane's counter than the smallest, if there is one: they take turns.
///
/// # Safety
/// `frame` is the frame of compiled code.
#[inline(never)]
pub(crate) unsafe extern "C" fn pick_next_group(frame: *mut FrameHeader, min: u32) -> u32 {
    // SAFETY: by contract.
    let frame = unsafe { &mut *frame };
    let turn = (frame.spins / 16) as usize;
    frame.spins = frame.spins.wrapping_add(1);
    let parked = crate::simt::function_plan::special_pcs::PARKED_AT_WARP_OP as u32;
    let mut others = (0..32).map(|i| frame.pc[(turn + i) % 32]).filter(|&pc| pc != min && pc < parked);
    others.next().unwrap_or(min)
}

/// The block to run next, chosen at random among those that lanes stand at; decides which of its
/// lanes run. A block with a call comes last, because the lanes of a call stay together and may
/// wait for each other in there.
///
/// # Safety
/// Called by compiled code with its own context, frame and table of blocks with calls.
#[inline(never)]
pub(crate) unsafe extern "C" fn pick_random_group(
    ctx: *mut WarpCtx,
    frame: *mut FrameHeader,
    calls: *const u8,
    min: u32,
) -> u32 {
    let parked = crate::simt::function_plan::special_pcs::PARKED_AT_WARP_OP as u32;
    let late = crate::simt::function_plan::special_pcs::BEFORE_BARRIER_CALL as u32;
    // SAFETY: by contract; nobody else uses the frame, not even while the warp is suspended.
    let (pc, spins, allowed) = unsafe {
        let allowed = frame
            .cast::<u8>()
            .add(crate::simt::function_plan::frame_header::ALLOWED_LANES_OFFSET as usize)
            .cast::<[u32; 32]>();
        ((*frame).pc, (*frame).spins, &mut *allowed)
    };
    // SAFETY: compiled code passes its own context, whose kernel has a host state.
    let r = unsafe { KernelHostState::from_warp_ctx(ctx).env.instrument.random.map_or(0, |random| random(ctx)) };
    let runnable = pc.iter().enumerate().filter(|p| *p.1 < parked);
    // SAFETY: blocks are numbers within the table.
    let is_call = |pc: u32| unsafe { *calls.add((pc & !late) as usize) != 0 };
    let free: Vec<usize> = runnable.filter(|p| !is_call(*p.1)).map(|p| p.0).collect();
    let waited_long = spins % 64 == 63 && min < parked && is_call(min);
    if free.is_empty() || waited_long {
        *allowed = [u32::MAX; 32];
        return min;
    }
    let first = free[(r % free.len() as u64) as usize];
    let which = pc[first];
    let all = r >> 40 & 1 == 0;
    *allowed = std::array::from_fn(|l| {
        let chosen = all || l == first || r >> (8 + l as u32 % 32) & 1 != 0;
        let here = (pc[l] == which && chosen) || pc[l] == parked + which;
        if here { u32::MAX } else { 0 }
    });
    which
}

/// All lanes that have not left are parked at barriers: those at the same one as the first
/// arrive, wait, and go on. With them arrive the lanes that this function was not called for and
/// that are parked there in a caller.
///
/// # Safety
/// Called by compiled code with its own context and frame.
#[inline(never)]
pub(crate) unsafe extern "C" fn resolve_parked_barriers(ctx: *mut WarpCtx, frame: *mut FrameHeader) {
    let park = crate::simt::function_plan::special_pcs::PARKED_AT_BARRIER as u32;
    let done = crate::simt::function_plan::special_pcs::PC_DONE as u32;
    // SAFETY: by contract.
    let f = unsafe { &mut *frame };
    let waiting = |lane: &usize| f.pc[*lane] >= park && f.pc[*lane] != done;
    let Some(first) = (0..32).filter(waiting).min_by_key(|&l| f.pc[l]) else { return };
    let (id, count, kind) = (f.bar_id[first], f.bar_count[first], f.bar_kind[first] & !BAR_KIND_ALIGNED);
    let group: Vec<usize> = f.lanes_parked_at_barrier(id).collect();
    let (mut arriving, mut trues) = (group.len(), group.iter().filter(|&&l| f.bar_pred[l] != 0).count());
    // SAFETY: callers keep the list as they call and return; their frames are on this stack.
    let outer_frames = || unsafe {
        let nearest = (*ctx).outer_frames.cast::<FrameHeader>().as_ref();
        std::iter::successors(nearest, |frame| frame.outer.as_ref())
    };
    for o in outer_frames() {
        arriving += o.lanes_parked_at_barrier(id).count();
        trues += o.lanes_parked_at_barrier(id).filter(|&l| o.bar_pred[l] != 0).count();
    }
    // SAFETY: compiled code passes its own context.
    let env = unsafe { &KernelHostState::from_warp_ctx(ctx).env };
    if let Some(diverged) = env.instrument.diverged {
        let aligned = |frame: &FrameHeader, lane: usize| frame.bar_kind[lane] & BAR_KIND_ALIGNED != 0;
        let is_aligned = (0..32).filter(waiting).any(|l| aligned(f, l))
            || outer_frames().any(|o| o.lanes_parked_at_barrier(id).any(|l| aligned(o, l)));
        let (together, apart): (Vec<usize>, Vec<usize>) =
            (0..32).filter(waiting).partition(|&l| f.pc[l] == f.pc[first]);
        let in_callers = outer_frames().flat_map(|o| o.lanes_parked_at_barrier(id).map(|l| (l, o.parked_at[l])));
        let apart: Vec<(usize, u32)> = apart.into_iter().map(|l| (l, f.parked_at[l])).chain(in_callers).collect();
        // SAFETY: compiled code passes its own context.
        unsafe { (*ctx).barrier_site = f.parked_at[first] };
        if is_aligned && let Some(&(_, site)) = apart.first() {
            let here = LanesAtBarrier { lanes: together.iter().fold(0, |m, l| m | 1 << l), site: f.parked_at[first] };
            let elsewhere = LanesAtBarrier { lanes: apart.iter().fold(0, |m, (l, _)| m | 1 << l), site };
            // SAFETY: compiled code passes its own context.
            unsafe { diverged(ctx, id, here, elsewhere) };
        }
    }
    // SAFETY: compiled code passes its own context; the frame is not touched while the warp waits.
    let result = unsafe { (env.runtime.barrier)(ctx, kind, id, count, arriving as u32, trues as u32) };
    f.release_lanes(&group, result);
    // SAFETY: frames are on the stacks of suspended callers, and no reference to them is left.
    let mut next = unsafe { (*ctx).outer_frames.cast::<FrameHeader>() };
    // SAFETY: a frame that is linked is alive and not referred to by anything else.
    while let Some(o) = unsafe { next.as_mut() } {
        let lanes: Vec<usize> = o.lanes_parked_at_barrier(id).collect();
        o.release_lanes(&lanes, result);
        next = o.outer;
    }
}
