//! Barriers: arriving, waiting, and the result of a reduction.
//!
//! A `bar.red` is split in two: the barrier, which ends its block and leaves the result in the
//! frame, and a `mov` from a pseudo register at the start of the next block. Masked code, whose
//! lanes may arrive at different times, so reads the result after all have. Converged code leaves
//! one result for all lanes: masked code must not begin at a `mov` after such a barrier.

use rtcg_ptx::ast::*;

/// Stands for the result of the barrier that the lane came from.
pub(crate) const BARRIER_RESULT_REG: SpecialReg = SpecialReg::Pm(255);

/// The `mov` that takes the result of `bar`, which must be a reduction.
pub(crate) fn read_barrier_result(bar: &Inst) -> Inst {
    let (ty, dst) = match bar {
        Inst::Bar { kind: BarKind::RedBool { dst, .. }, .. } => (Type::Pred, *dst),
        Inst::Bar { kind: BarKind::RedPopc { dst, .. }, .. } => (Type::U32, *dst),
        _ => (Type::U32, Reg(0)),
    };
    Inst::Mov { ty, dst, src: Operand::Special(BARRIER_RESULT_REG) }
}

/// Whether `inst` takes the result of a barrier.
pub(crate) fn reads_barrier_result(inst: &Inst) -> bool {
    matches!(inst, Inst::Mov { src: Operand::Special(BARRIER_RESULT_REG), .. })
}
