//! Arithmetic: lowers one pure PTX instruction to Cranelift, for a scalar or a chunk of lanes.
//!
//! What the caller does, and this module does not:
//!
//! * guards: the results are blended or branched around by the caller;
//! * operands: it turns every operand of [`source_operands`] into [`LaneParts`] of the named width
//!   ([`immediate_parts`] makes constants; special registers and addresses are the caller's), and
//!   narrows a register that is wider than the width asked for ([`narrow_source`]);
//! * results: [`lower_inst`] returns one [`LaneParts`] per entry of [`dest_registers`], and a destination register
//!   that is wider than its entry is extended with [`extend_result`].
//!
//! A predicate source that is written negated (`!p` of `setp`, `set`) is passed as it is; the
//! negation is done here. The carry flag is no operand: when [`reads_carry`] the caller appends
//! it to the sources as one more predicate, when [`writes_carry`] the last result is its new
//! value. The flag is the carry of an addition; a subtraction sets it when it does not borrow.
//!
//! 8- and 16-bit sources may be assumed zero-extended in their 32-bit parts, and results keep it so.

mod approx;
mod bitwise;
mod clif_helpers;
mod compare;
mod convert;
mod float;
mod half;
mod helper_calls;
mod int;
pub(crate) mod interpolator;
mod lane_parts;
mod moves;
mod rounding;
mod shift;
mod soft_helpers;
mod standalone_function;
mod unit_interval_fma;

use crate::simt::known_values::{self, KnownValue};
use crate::simt::nan_uses;
use cranelift_codegen::ir::StackSlot;
use cranelift_frontend::FunctionBuilder;
use rtcg_ptx::ast::{BinaryOp, Function, Inst, Operand, Type, UnaryOp};
use smallvec::{SmallVec, smallvec};

pub use crate::emit::function::register_values::LaneParts;
use crate::simt::pure_instructions::result_type;
pub use crate::simt::pure_instructions::{
    DestRegs, SourceOperands, dest_registers, is_pure, reads_carry, source_operands, writes_carry,
};
pub use crate::simt::register_width::{EmitShape, RegWidth};
pub(crate) use lane_parts::{
    bits_to_mask, blend_lanes, chunk_from_scalars, extract_lane, float_bits, mask_to_bits, splat_constant, splat_scalar,
};
pub use lane_parts::{extend_result, immediate_parts, narrow_source};
pub use standalone_function::StandaloneFunction;

/// What the operations share within one Cranelift function. Made once per function.
#[derive(Debug, Default)]
pub struct OpState {
    /// Where operands of Rust helpers are passed; made when first needed.
    scratch: Option<StackSlot>,
    /// Who sees the bits of NaNs in registers; empty when that is not known.
    nans: Vec<nan_uses::NanUse>,
    /// What is known of registers; empty when nothing is.
    known: Vec<KnownValue>,
    /// Whether the instruction being emitted may leave the NaN of a single-precision result as the
    /// processor makes it.
    lazy_nan: bool,
    /// Whether approximate functions of single and half precision have a GPU's bits.
    device_approximations: bool,
}

impl OpState {
    /// The state for compiling `function`; unlike the default one it knows where the bits of a NaN
    /// do not matter and what values registers have, which makes arithmetic cheaper.
    pub(crate) fn from_function(function: &Function) -> OpState {
        OpState {
            nans: nan_uses::nan_uses(function),
            known: known_values::known_values(function),
            device_approximations: crate::has_device_approximations(),
            ..OpState::default()
        }
    }

    /// The default state, with approximate functions that have a GPU's bits.
    pub fn with_device_approximations() -> OpState {
        OpState { device_approximations: true, ..OpState::default() }
    }

    /// The bits that a register holds always, if they are known.
    pub(crate) fn constant_of_register(&self, r: rtcg_ptx::ast::Reg) -> Option<u64> {
        match self.known.get(r.index()) {
            Some(KnownValue::Constant(bits)) => Some(*bits),
            _ => None,
        }
    }

    fn nan_use_of_register(&self, r: rtcg_ptx::ast::Reg) -> nan_uses::NanUse {
        self.nans.get(r.index()).copied().unwrap_or_default()
    }

    /// What is known of a 32-bit operand.
    fn known_operand_value(&self, operand: &Operand) -> KnownValue {
        match operand {
            Operand::F32(bits) => KnownValue::Constant(u64::from(*bits)),
            Operand::Reg(r) => self.known.get(r.index()).copied().unwrap_or(KnownValue::Unknown),
            _ => KnownValue::Unknown,
        }
    }
}

/// What an operand of 32 bits is as stored: a register may hold any NaN where the one is meant.
pub(crate) fn canonicalize_nan_for_store(cx: &mut OpCtx<'_, '_>, operand: &Operand, parts: LaneParts) -> LaneParts {
    match operand {
        Operand::Reg(r) if cx.state.nan_use_of_register(*r) == nan_uses::NanUse::CanonicalizedAtStore => {
            clif_helpers::map_parts(cx, &parts, float::canonicalize_nan)
        }
        _ => parts,
    }
}

/// Where and how an operation is emitted.
pub struct OpCtx<'a, 'f> {
    /// The function under construction, positioned where the code is to go.
    pub b: &'a mut FunctionBuilder<'f>,
    /// The state of that function.
    pub state: &'a mut OpState,
}

/// An instruction form that the virtual GPU does not execute; the text names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedInst(pub String);

impl std::fmt::Display for UnsupportedInst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not supported by the virtual GPU", self.0)
    }
}

impl std::error::Error for UnsupportedInst {}

/// Whether [`lower_inst`] can emit `inst`; asked once when a module is loaded.
pub fn check_supported(inst: &Inst) -> Result<(), UnsupportedInst> {
    let known = match inst {
        Inst::Carry { ty, .. } => matches!(ty.bits(), 32 | 64),
        Inst::Setp { cmp, ty, .. } | Inst::Set { cmp, ty, .. } => compare::is_comparison_supported(*cmp, *ty),
        Inst::Slct { .. } | Inst::Selp { .. } | Inst::Mov { .. } | Inst::MovPack { .. } | Inst::MovUnpack { .. } => {
            true
        }
        Inst::Unary { op: UnaryOp::Not, ty: Type::Pred, .. } => true,
        Inst::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, ty: Type::Pred, .. } => true,
        _ => soft_helpers::helper_for_inst(inst).is_some(),
    };
    if known { Ok(()) } else { Err(unsupported_inst(inst)) }
}

fn unsupported_inst(inst: &Inst) -> UnsupportedInst {
    UnsupportedInst(match inst {
        Inst::Unary { op, ty, .. } => format!("{op:?} of {ty:?}"),
        Inst::Binary { op, ty, .. } => format!("{op:?} of {ty:?}"),
        Inst::Ternary { op, ty, .. } => format!("{op:?} of {ty:?}"),
        Inst::Carry { op, ty, .. } => format!("{op:?} with carry of {ty:?}"),
        Inst::Video { .. } => "a video instruction".into(),
        Inst::Cvt { dty, sty, .. } | Inst::CvtPack { dty, sty, .. } => format!("cvt from {sty:?} to {dty:?}"),
        Inst::Setp { cmp, ty, .. } | Inst::Set { cmp, ty, .. } => format!("the comparison {cmp:?} of {ty:?}"),
        other => format!("{other:?}"),
    })
}

/// Emits `inst`: the values of [`source_operands`] (and the carry) in, those of [`dest_registers`] (and the carry) out.
pub fn lower_inst(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    inst: &Inst,
    srcs: &[LaneParts],
) -> Result<SmallVec<[LaneParts; 2]>, UnsupportedInst> {
    if let Some(results) = lower_moves_and_predicates(cx, shape, inst, srcs)? {
        return Ok(results);
    }
    cx.state.lazy_nan =
        dest_registers(inst).iter().all(|(r, _)| cx.state.nan_use_of_register(*r) != nan_uses::NanUse::BitsObserved);
    let emitted = lower_to_clif(cx, shape, inst, srcs);
    cx.state.lazy_nan = false;
    match emitted {
        Some(r) => Ok(smallvec![r]),
        None => lower_with_helper(cx, shape, inst, srcs),
    }
}

/// As [`lower_inst`], but by the Rust helper where there is one: slow, and the definition of what is right.
pub fn lower_with_helper(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    inst: &Inst,
    srcs: &[LaneParts],
) -> Result<SmallVec<[LaneParts; 2]>, UnsupportedInst> {
    let Some(helper) = soft_helpers::helper_for_inst(inst) else { return Err(unsupported_inst(inst)) };
    let widths: SmallVec<[RegWidth; 4]> = source_operands(inst).iter().map(|s| s.1).collect();
    let ret = dest_registers(inst).first().map_or(RegWidth::W32, |d| d.1);
    Ok(smallvec![helper_calls::call_helper(cx, shape, helper, srcs, &widths, ret)])
}

/// The addresses of all helpers, in the same order in every program that was built from the same sources.
pub(super) fn helper_addresses() -> Vec<usize> {
    soft_helpers::all_helpers().into_iter().map(helper_calls::SoftHelper::fn_address).collect()
}

/// Instructions that are more than one function of lanes: moves, selections, predicates, carries.
fn lower_moves_and_predicates(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    inst: &Inst,
    srcs: &[LaneParts],
) -> Result<Option<SmallVec<[LaneParts; 2]>>, UnsupportedInst> {
    Ok(Some(match inst {
        Inst::Mov { .. } => smallvec![srcs[0].clone()],
        Inst::MovPack { ty, .. } => smallvec![moves::pack_elements(cx, shape, *ty, srcs)],
        Inst::MovUnpack { ty, dsts, .. } => {
            let elements = moves::unpack_elements(cx, shape, *ty, dsts.len(), &srcs[0]);
            elements.into_iter().zip(dsts).filter_map(|(e, d)| d.map(|_| e)).collect()
        }
        Inst::Selp { ty, .. } => {
            smallvec![blend_lanes(cx, shape, &srcs[2], &srcs[0], &srcs[1], RegWidth::from_type(*ty))]
        }
        Inst::Slct { ty, cty, ftz, .. } => {
            smallvec![moves::emit_slct(cx, shape, RegWidth::from_type(*ty), *cty, *ftz, srcs)]
        }
        Inst::Setp { cmp, ty, ftz, combine, dst, dst2, .. } => {
            let comparison = compare::Comparison { cmp: *cmp, ty: *ty, ftz: *ftz, combine: *combine };
            let wanted = [dst.map(|_| false), dst2.map(|_| true)];
            if matches!(ty, Type::F16x2 | Type::BF16x2) {
                let halves = comparison.emit_pair_comparison(cx, shape, srcs)?;
                halves.into_iter().zip(wanted).filter_map(|(h, w)| w.map(|_| h)).collect()
            } else {
                let wanted: SmallVec<[bool; 2]> = wanted.into_iter().flatten().collect();
                comparison.emit_comparison(cx, shape, srcs, &wanted)?.into()
            }
        }
        Inst::Set { cmp, dty, ty, ftz, combine, .. } => {
            let comparison = compare::Comparison { cmp: *cmp, ty: *ty, ftz: *ftz, combine: *combine };
            if matches!(ty, Type::F16x2 | Type::BF16x2) {
                let halves = comparison.emit_pair_comparison(cx, shape, srcs)?;
                smallvec![compare::emit_set_pair(cx, shape, *dty, &halves)]
            } else {
                let p = comparison.emit_comparison(cx, shape, srcs, &[false])?.swap_remove(0);
                smallvec![compare::emit_set_result(cx, shape, *dty, &p)]
            }
        }
        Inst::Carry { op, ty, cc_in, cc_out, .. } => {
            let cin = if *cc_in { srcs.last() } else { None };
            let Some([sum, out]) = int::lower_carry_op(cx, shape, *op, *ty, srcs, cin) else {
                return Err(unsupported_inst(inst));
            };
            let mut results: SmallVec<[LaneParts; 2]> = smallvec![sum];
            results.extend(cc_out.then_some(out));
            results
        }
        _ => return Ok(None),
    }))
}

/// Instructions with a CLIF form; `None` for those that helpers do.
fn lower_to_clif(cx: &mut OpCtx<'_, '_>, shape: EmitShape, inst: &Inst, srcs: &[LaneParts]) -> Option<LaneParts> {
    match inst {
        Inst::Unary { op, ty, mods, .. } if ty.is_float() => {
            float::lower_float_unary(cx, shape, *op, *ty, mods, &srcs[0]).or_else(|| {
                match cx.state.device_approximations {
                    true => interpolator::lower_interpolated(cx, *op, *ty, mods, &srcs[0]),
                    false => approx::lower_approx(cx, *op, *ty, mods, &srcs[0]),
                }
            })
        }
        Inst::Unary { op, ty, .. } => int::lower_int_unary(cx, shape, *op, *ty, &srcs[0]),
        Inst::Binary { op, ty, mods, .. } if ty.is_float() => {
            float::lower_float_binary(cx, shape, *op, *ty, mods, srcs)
        }
        Inst::Binary { op, ty, mods, b, .. } => int::lower_int_binary(cx, shape, *op, *ty, mods, b, srcs),
        Inst::Ternary { op, ty, mods, .. } if ty.is_float() => {
            unit_interval_fma::lower_unit_interval_fma(cx, inst, srcs)
                .or_else(|| float::lower_float_ternary(cx, shape, *op, *ty, mods, srcs))
        }
        Inst::Ternary { op, ty, mods, a, b, c, .. } => {
            int::lower_int_ternary(cx, shape, *op, *ty, mods, [a, b, c], srcs)
        }
        Inst::Bfi { ty, pos, len, .. } => bitwise::emit_bfi_constant(cx, *ty, pos, len, &srcs[0], &srcs[1]),
        Inst::Cvt { mods, .. } | Inst::CvtPack { mods, .. } if mods.satfinite => None,
        Inst::Cvt { dty, sty, mods, .. } => convert::emit_conversion(cx, shape, *dty, *sty, mods, &srcs[0]),
        Inst::CvtPack { dty, sty: Type::F32, mods, .. } => convert::emit_half_pair_pack(cx, shape, *dty, mods, srcs),
        _ => None,
    }
}
