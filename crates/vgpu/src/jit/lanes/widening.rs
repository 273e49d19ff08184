//! The check that a widening of an affine register needs: the lanes' 32-bit values must not wrap
//! around between lane 0 and lane 31, or the 64-bit values have no constant stride.
//!
//! The check is made where a block begins, before anything of it has happened; when it fails,
//! the whole warp goes on in masked code from the beginning of that block.

use super::body::Stmt;
use super::classes::{Class, Classes, Exec};
use rtcg_ptx::ast::*;

/// The operand whose lanes must not wrap, and whether they are read as signed.
pub(crate) fn checked_operand(classes: &Classes, st: &Stmt<'_>) -> Option<(Operand, bool, Class)> {
    let (operand, ty) = match &*st.inst {
        Inst::Binary { op: BinOp::MulWide, ty, a, b, .. } | Inst::Ternary { op: TerOp::MadWide, ty, a, b, .. } => {
            let is_affine = |o: Operand| matches!(classes.operand(o), Class::Affine(_) | Class::Chunked(1.. | ..=-1));
            if is_affine(*a) {
                (*a, *ty)
            } else if is_affine(*b) {
                (*b, *ty)
            } else {
                return None;
            }
        }
        Inst::Cvt { dty, sty, a, .. } if dty.bits() == 64 && sty.bits() == 32 => (*a, *sty),
        _ => return None,
    };
    match (classes.operand(operand), classes.exec(st)) {
        (
            class @ (Class::Affine(_) | Class::Chunked(1.. | ..=-1)),
            Exec::Affine(_) | Exec::Uniform | Exec::Chunked(_),
        ) => Some((operand, ty.is_signed(), class)),
        _ => None,
    }
}

/// Whether converged code checks something for `st`.
pub(crate) fn needs_check(classes: &Classes, st: &Stmt<'_>) -> bool {
    checked_operand(classes, st).is_some()
}
