//! Calls from compiled code to Rust functions that work on lanes.
//!
//! Operands are stored to a frame of one stack slot, [`OPERAND_BYTES`] apart, lane after lane; the
//! helper walks the lanes and stores its result behind them. A scalar is the same with one lane.
//! A helper is a closure without captures, so that a function pointer and the packed [`FloatMode`] are
//! all that compiled code has to hold.
#![allow(unsafe_code, reason = "compiled code calls the helpers with pointers to its operands")]

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};

use super::{EmitShape, LaneParts, OpCtx, RegWidth};
use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::function::register_values::CHUNK_LANES;
use rtcg_vgpu_softmath::FloatMode;

/// Bytes of the frame that one operand of a chunk takes.
const OPERAND_BYTES: usize = 8 * CHUNK_LANES;
/// Operands a helper can have.
const MAX_OPERANDS: usize = 4;
/// Where the result lies.
const RESULT_OFFSET: usize = MAX_OPERANDS * OPERAND_BYTES;

/// The C signature of a helper: frame, lanes and lane sizes (see [`FrameLayout`]), packed mode.
type HelperFn = extern "C" fn(*mut u8, u64, u64);

/// A Rust function for lanes, with the mode it is to be called in.
#[derive(Debug, Clone, Copy)]
pub(super) struct SoftHelper {
    entry: HelperFn,
    mode: FloatMode,
}

impl SoftHelper {
    /// A helper that sees each lane's operands zero-extended to 64 bits (predicates as 0 or all
    /// ones of 32 bits) and whose result is cut to its lane.
    pub(super) fn new<F: Fn(FloatMode, [u64; MAX_OPERANDS]) -> u64 + Copy>(mode: FloatMode, _f: F) -> SoftHelper {
        const { assert!(size_of::<F>() == 0, "a helper captures nothing") };
        SoftHelper { entry: run_generic_helper::<F>, mode }
    }

    /// A helper for two operands and a result of one lane type, without the cost of the general one.
    pub(super) fn from_binary_fn<T: LaneType, F: Fn(FloatMode, T, T) -> T + Copy>(
        mode: FloatMode,
        _f: F,
    ) -> SoftHelper {
        const { assert!(size_of::<F>() == 0, "a helper captures nothing") };
        SoftHelper { entry: run_binary_helper::<T, F>, mode }
    }

    /// The same for three operands.
    pub(super) fn from_ternary_fn<T: LaneType, F: Fn(FloatMode, T, T, T) -> T + Copy>(
        mode: FloatMode,
        _f: F,
    ) -> SoftHelper {
        const { assert!(size_of::<F>() == 0, "a helper captures nothing") };
        SoftHelper { entry: run_ternary_helper::<T, F>, mode }
    }

    /// Where its code is.
    pub(super) fn fn_address(self) -> usize {
        self.entry as usize
    }
}

/// A type of lanes in the frame.
///
/// # Safety
/// Every bit pattern must be a value of the type.
pub(super) unsafe trait LaneType: Copy + 'static {}
// SAFETY: integers have no invalid bit patterns.
unsafe impl LaneType for u32 {}
// SAFETY: integers have no invalid bit patterns.
unsafe impl LaneType for u64 {}

/// The value of a closure type without captures.
fn zero_sized_closure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: the constructors saw a value of `F`, and a value of a type of no size is no bytes.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

/// Number of lanes, and which operands (bits 8 to 11) and whether the result (bit 12) have 64 bits.
#[derive(Clone, Copy)]
struct FrameLayout(u64);

impl FrameLayout {
    fn n_lanes(self) -> usize {
        (self.0 & 0xff) as usize
    }
    fn is_64_bit_operand(self, operand: usize) -> bool {
        self.0 >> (8 + operand) & 1 != 0
    }
}

#[inline(never)]
extern "C" fn run_generic_helper<F: Fn(FloatMode, [u64; MAX_OPERANDS]) -> u64 + Copy>(
    frame: *mut u8,
    layout: u64,
    mode: u64,
) {
    let (f, layout, mode) = (zero_sized_closure::<F>(), FrameLayout(layout), FloatMode::from_word(mode));
    for lane in 0..layout.n_lanes() {
        // SAFETY: compiled code passes a frame of `RESULT + OPERAND_BYTES` bytes, aligned to 16,
        // and at most CHUNK_LANES lanes; every operand starts a multiple of OPERAND_BYTES into it.
        unsafe {
            let operands = std::array::from_fn(|i| {
                let at = frame.add(i * OPERAND_BYTES);
                if layout.is_64_bit_operand(i) {
                    *at.cast::<u64>().add(lane)
                } else {
                    u64::from(*at.cast::<u32>().add(lane))
                }
            });
            let result = f(mode, operands);
            let at = frame.add(RESULT_OFFSET);
            if layout.is_64_bit_operand(MAX_OPERANDS) {
                *at.cast::<u64>().add(lane) = result
            } else {
                *at.cast::<u32>().add(lane) = result as u32
            }
        }
    }
}

/// The lanes of operand `i`.
///
/// # Safety
/// `frame` must be a frame as compiled code makes it, with `n_lanes` lanes of `T` in operand `i`.
unsafe fn operand_lanes<'a, T: LaneType>(frame: *mut u8, i: usize, lanes: usize) -> &'a [T] {
    // SAFETY: the caller's promise; the frame is aligned to 16 bytes.
    unsafe { std::slice::from_raw_parts(frame.add(i * OPERAND_BYTES).cast::<T>(), lanes) }
}

/// The lanes of the result.
///
/// # Safety
/// As [`operand_lanes`].
unsafe fn result_lanes<'a, T: LaneType>(frame: *mut u8, lanes: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise; the result overlaps no operand.
    unsafe { std::slice::from_raw_parts_mut(frame.add(RESULT_OFFSET).cast::<T>(), lanes) }
}

#[inline(never)]
extern "C" fn run_binary_helper<T: LaneType, F: Fn(FloatMode, T, T) -> T + Copy>(
    frame: *mut u8,
    layout: u64,
    mode: u64,
) {
    let (f, n, mode) = (zero_sized_closure::<F>(), FrameLayout(layout).n_lanes(), FloatMode::from_word(mode));
    // SAFETY: `select` pairs this entry with operands and results of lane type `T`.
    let (a, b, r) =
        unsafe { (operand_lanes::<T>(frame, 0, n), operand_lanes::<T>(frame, 1, n), result_lanes::<T>(frame, n)) };
    for ((r, &a), &b) in r.iter_mut().zip(a).zip(b) {
        *r = f(mode, a, b);
    }
}

#[inline(never)]
extern "C" fn run_ternary_helper<T: LaneType, F: Fn(FloatMode, T, T, T) -> T + Copy>(
    frame: *mut u8,
    layout: u64,
    mode: u64,
) {
    let (f, n, mode) = (zero_sized_closure::<F>(), FrameLayout(layout).n_lanes(), FloatMode::from_word(mode));
    // SAFETY: `select` pairs this entry with operands and results of lane type `T`.
    let (a, b, c, r) = unsafe {
        (
            operand_lanes::<T>(frame, 0, n),
            operand_lanes::<T>(frame, 1, n),
            operand_lanes::<T>(frame, 2, n),
            result_lanes::<T>(frame, n),
        )
    };
    for (((r, &a), &b), &c) in r.iter_mut().zip(a).zip(b).zip(c) {
        *r = f(mode, a, b, c);
    }
}

/// Calls `helper` with operands of the given widths; the result has width `ret`.
pub(super) fn call_helper(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    helper: SoftHelper,
    srcs: &[LaneParts],
    widths: &[RegWidth],
    ret: RegWidth,
) -> LaneParts {
    let slot = helper_frame_slot(cx);
    let mut layout = if shape == EmitShape::Scalar { 1 } else { CHUNK_LANES as u64 };
    for (i, (parts, &width)) in srcs.iter().zip(widths).enumerate() {
        store_operand(cx, shape, slot, i, parts, width);
        layout |= u64::from(width == RegWidth::W64) << (8 + i);
    }
    layout |= u64::from(ret == RegWidth::W64) << (8 + MAX_OPERANDS);
    let frame = cx.b.ins().stack_addr(types::I64, slot, 0);
    let layout = cx.b.ins().iconst(types::I64, layout as i64);
    let mode = cx.b.ins().iconst(types::I64, helper.mode.to_word() as i64);
    relocations::call_target(
        cx.b,
        RelocTarget::rust_function_target(helper.fn_address()),
        &[frame, layout, mode],
        None,
    );
    load_result(cx, shape, slot, ret)
}

pub(super) fn helper_frame_slot(cx: &mut OpCtx<'_, '_>) -> StackSlot {
    if let Some(slot) = cx.state.scratch {
        return slot;
    }
    let size = (RESULT_OFFSET + OPERAND_BYTES) as u32;
    let slot = cx.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
    cx.state.scratch = Some(slot);
    slot
}

fn store_operand(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    slot: StackSlot,
    i: usize,
    parts: &[Value],
    width: RegWidth,
) {
    let base = (i * OPERAND_BYTES) as i32;
    for (k, &part) in parts.iter().enumerate() {
        let value = if shape == EmitShape::Scalar && width == RegWidth::Pred {
            let wide = cx.b.ins().uextend(types::I32, part);
            cx.b.ins().ineg(wide)
        } else {
            part
        };
        cx.b.ins().stack_store(types::I64, value, slot, base + 16 * k as i32);
    }
}

fn load_result(cx: &mut OpCtx<'_, '_>, shape: EmitShape, slot: StackSlot, ret: RegWidth) -> LaneParts {
    let base = RESULT_OFFSET as i32;
    if shape == EmitShape::Scalar && ret == RegWidth::Pred {
        let mask = cx.b.ins().stack_load(types::I64, types::I32, slot, base);
        return LaneParts::from_elem(cx.b.ins().icmp_imm_u(IntCC::NotEqual, mask, 0), 1);
    }
    let ty = ret.part_type(shape);
    (0..ret.part_count(shape)).map(|k| cx.b.ins().stack_load(types::I64, ty, slot, base + 16 * k as i32)).collect()
}
