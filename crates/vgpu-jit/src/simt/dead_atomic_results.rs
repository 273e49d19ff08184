//! Makes reductions (`red`) of atomics whose old values are never read: the compiler emits `atom` for every
//! `atomicAdd`.
//!
//! Assumes nothing of the body. Establishes that such an atomic does not count as polling ([`super::spin_loops`]).

use super::body::{FunctionBody, stmt_uses};
use rtcg_ptx::ast::{AtomOp, Inst, Type};
use std::collections::HashSet;

/// Takes the destination from each atomic that has one in vain.
pub(crate) fn drop_dead_atomic_results(body: &mut FunctionBody<'_>) {
    if !body.blocks.iter().flat_map(|b| &b.stmts).any(|st| matches!(&*st.inst, Inst::Atom { dst: Some(_), .. })) {
        return;
    }
    let carry = body.carry_flag();
    let mut read = HashSet::new();
    for st in body.blocks.iter().flat_map(|b| &b.stmts) {
        stmt_uses(st, carry, &mut |r| {
            read.insert(r);
        });
    }
    for st in body.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        let Inst::Atom { dst: Some(d), op, ty, .. } = &*st.inst else { continue };
        if is_reduction(*op, *ty)
            && !read.contains(d)
            && let Inst::Atom { dst, .. } = st.inst.to_mut()
        {
            *dst = None;
        }
    }
}

/// Whether `red` has the operation.
fn is_reduction(op: AtomOp, ty: Type) -> bool {
    !matches!(op, AtomOp::Exch | AtomOp::Cas) && ty.bits() <= 64
}
