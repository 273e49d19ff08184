//! Turns arithmetic that changes no number into moves, as ptxas does: `mul d, a, 1.0`, `max d, a, a`, `min d, a, a`.
//!
//! The difference shows in NaNs, which arithmetic makes canonical and a move passes with their payload. Seen on an H200
//! (driver 580; question q12 of `tests/fidelity`): only the product without a rounding modifier is folded, only by an
//! immediate 1, and nothing that flushes subnormal numbers. Sums with zero, quotients and multiply-adds are computed.
//!
//! Assumes nothing of the body; establishes nothing that other passes need.

use super::body::FunctionBody;
use rtcg_ptx::ast::{BinaryOp, FpMods, Inst, Operand, Rounding, Type};
use std::borrow::Cow;

/// Replaces the instructions of all blocks.
pub(crate) fn fold_identities(body: &mut FunctionBody<'_>) {
    for st in body.blocks.iter_mut().flat_map(|block| &mut block.stmts) {
        if let Some(folded) = folded(&st.inst) {
            st.inst = Cow::Owned(folded);
        }
    }
}

/// The move that an instruction amounts to.
fn folded(inst: &Inst) -> Option<Inst> {
    let Inst::Binary { op, ty, mods, dst, a, b } = inst else { return None };
    if !matches!(ty, Type::F32 | Type::F64) || *mods != (FpMods { rnd: mods.rnd, ..FpMods::default() }) {
        return None;
    }
    let src = match op {
        BinaryOp::Mul if mods.rnd == Rounding::Default && is_one(*b) => a,
        BinaryOp::Mul if mods.rnd == Rounding::Default && is_one(*a) => b,
        BinaryOp::Min | BinaryOp::Max if a == b && matches!(a, Operand::Reg(_)) => a,
        _ => return None,
    };
    Some(Inst::Mov { ty: *ty, dst: *dst, src: *src })
}

/// Whether an operand is an immediate 1.0.
fn is_one(operand: Operand) -> bool {
    match operand {
        Operand::F32(bits) => f32::from_bits(bits) == 1.0,
        Operand::F64(bits) => f64::from_bits(bits) == 1.0,
        _ => false,
    }
}
