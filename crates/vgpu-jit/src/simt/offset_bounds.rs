//! Which 64-bit registers hold no more than an offset within an array: how large their values can
//! be and what they are multiples of.
//!
//! Compilers make addresses of a pointer and of 32-bit indices that are widened and scaled. The sum
//! is as good an address as the pointer, as far as the guards around the device window reach.

use super::body::{FunctionBody, stmt_defs};
use super::control_flow::{block_dominates, immediate_dominators};
use super::operands::for_each_def;
use rtcg_ptx::ast::{BinaryOp, Inst, Operand, Reg, Type};
use std::collections::HashMap;

/// Every value is less than `limit` away from zero and a multiple of `align`, a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffsetBound {
    pub(crate) limit: u64,
    pub(crate) align: u64,
}

impl OffsetBound {
    fn from_constant(n: i64) -> OffsetBound {
        OffsetBound { limit: n.unsigned_abs().saturating_add(1), align: 1 << n.trailing_zeros().min(32) }
    }
    fn scaled_by(self, n: i64) -> OffsetBound {
        let by = OffsetBound::from_constant(n);
        let align = self.align.saturating_mul(by.align).min(1 << 32);
        OffsetBound { limit: self.limit.saturating_mul(n.unsigned_abs().max(1)), align }
    }
    pub(crate) fn add_bound(self, other: OffsetBound) -> OffsetBound {
        OffsetBound { limit: self.limit.saturating_add(other.limit), align: self.align.min(other.align) }
    }
}

/// A widened number of type `ty`, which has at most 32 bits.
fn from_widened_int(ty: Type) -> OffsetBound {
    OffsetBound { limit: if ty.is_signed() { (1 << 31) + 1 } else { 1 << 32 }, align: 1 }
}

/// Largest limit worth knowing.
const MAX_OFFSET_LIMIT: u64 = 1 << 48;

/// Where a statement stands: its block, and its place in it.
type StatementPosition = (usize, usize);

/// What is known of a function's sums of addresses.
#[derive(Debug, Default)]
pub(crate) struct OffsetBounds {
    /// By register: where its only definition stands, and its bound.
    of: HashMap<Reg, (StatementPosition, OffsetBound)>,
    roots: HashMap<StatementPosition, (Operand, OffsetBound)>,
}

impl OffsetBounds {
    /// Of a function whose blocks are numbered in reverse post-order.
    pub(crate) fn from_function_body(body: &FunctionBody<'_>) -> OffsetBounds {
        let idom = immediate_dominators(body);
        let mut writes = vec![0_u32; body.widths.len()];
        for st in body.blocks.iter().flat_map(|b| &b.stmts) {
            stmt_defs(st, body.carry_flag(), &mut |r| writes[r.index()] += 1);
        }
        let mut bounds = OffsetBounds::default();
        for (b, block) in body.blocks.iter().enumerate() {
            for (k, st) in block.stmts.iter().enumerate().filter(|(_, st)| st.guard.is_none()) {
                let known = |o: Operand| bounds.operand_bound(&idom, (b, k), o);
                let bound = result_bound(&st.inst, &known).filter(|b| b.limit <= MAX_OFFSET_LIMIT);
                if let Some(root) = sum_unbounded_addend(&st.inst, &known) {
                    bounds.roots.insert((b, k), root);
                }
                if let Some(bound) = bound {
                    for_each_def(&st.inst, &mut |r| {
                        if writes[r.index()] == 1 {
                            bounds.of.insert(r, ((b, k), bound));
                        }
                    });
                }
            }
        }
        bounds
    }

    /// What is known of a 64-bit operand of the statement at `at`. A definition that does not come
    /// before it on every way tells nothing.
    fn operand_bound(&self, idom: &[usize], at: StatementPosition, o: Operand) -> Option<OffsetBound> {
        match o {
            Operand::Reg(r) => {
                let &((b, k), bound) = self.of.get(&r)?;
                let before = if b == at.0 { k < at.1 } else { block_dominates(idom, b, at.0) };
                before.then_some(bound)
            }
            Operand::Int(n) => Some(OffsetBound::from_constant(n)),
            _ => None,
        }
    }

    /// For the sum of 64 bits at `at`: its operand that is not bounded, with the bound of the other one.
    pub(crate) fn unbounded_addend(&self, at: StatementPosition) -> Option<(Operand, OffsetBound)> {
        self.roots.get(&at).copied()
    }
}

fn result_bound(inst: &Inst, known: &dyn Fn(Operand) -> Option<OffsetBound>) -> Option<OffsetBound> {
    match inst {
        Inst::Cvt { dty, sty, .. } => {
            let widens = dty.bits() == 64 && !dty.is_float() && !sty.is_float() && sty.bits() <= 32;
            widens.then(|| from_widened_int(*sty))
        }
        Inst::Binary { op: BinaryOp::MulWide, ty, b: Operand::Int(n), .. } => {
            (ty.bits() <= 32 && (0..1 << 31).contains(n)).then(|| from_widened_int(*ty).scaled_by(*n))
        }
        Inst::Binary { op, ty, a, b, .. } if ty.bits() == 64 && !ty.is_float() => match (op, b) {
            (BinaryOp::Add | BinaryOp::Sub, _) => Some(known(*a)?.add_bound(known(*b)?)),
            (BinaryOp::Shl, Operand::Int(n)) if (0..32).contains(n) => Some(known(*a)?.scaled_by(1 << n)),
            (BinaryOp::Mul, Operand::Int(n)) => Some(known(*a)?.scaled_by(*n)),
            _ => None,
        },
        _ => None,
    }
}

fn sum_unbounded_addend(inst: &Inst, known: &dyn Fn(Operand) -> Option<OffsetBound>) -> Option<(Operand, OffsetBound)> {
    let Inst::Binary { op, ty, a, b, .. } = inst else { return None };
    if ty.bits() != 64 || ty.is_float() {
        return None;
    }
    match (op, known(*a), known(*b)) {
        (BinaryOp::Add | BinaryOp::Sub, None, Some(bound)) => Some((*a, bound)),
        (BinaryOp::Add, Some(bound), None) => Some((*b, bound)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{OffsetBound, OffsetBounds};
    use crate::simt::body::FunctionBody;
    use rtcg_ptx::ast::Operand;

    #[test]
    fn offsets_are_bounded_and_pointers_are_not() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {
            .reg .b64 %d<12>; .reg .b32 %r<3>; .reg .pred %p;
            ld.param.u64 %d0, [p]; mul.wide.s32 %d1, %r0, 4; cvt.s64.s32 %d2, %r1; shl.b64 %d3, %d2, 3; add.s64 %d4, %d1, %d3;
            add.s64 %d5, %d0, %d4; mul.wide.s32 %d6, %r0, %r1; mul.wide.s32 %d7, %r0, 8; mov.u64 %d7, %d0; add.s64 %d8, %d5, 12;
            @%p bra $skip; mul.wide.u32 %d9, %r0, 4; add.s64 %d10, %d0, %d9;
            $skip: add.s64 %d11, %d0, %d9; ret; }";
        let parsed = rtcg_ptx::parse(text);
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
        let function = &parsed.module.functions[0];
        let bounds = OffsetBounds::from_function_body(&FunctionBody::from_function(function));
        let reg = |name: &str| function.regs.iter().position(|r| &*r.name == name).unwrap();
        let get = |name: &str| bounds.of.iter().find(|(r, _)| r.index() == reg(name)).map(|(_, b)| b.1);
        assert_eq!(get("%d1"), Some(OffsetBound { limit: (1 << 33) + 4, align: 4 }));
        assert_eq!(get("%d3"), Some(OffsetBound { limit: (1 << 34) + 8, align: 8 }));
        assert_eq!(get("%d4"), Some(OffsetBound { limit: (1 << 33) + (1 << 34) + 12, align: 4 }));
        assert_eq!(["%d0", "%d5", "%d6", "%d7", "%d8", "%d10", "%d11"].map(get), [None; 7]);
        // The sum behind the branch has no root: its offset may not have been computed.
        let mut roots: Vec<_> = bounds.roots.iter().collect();
        roots.sort_by_key(|r| r.0);
        let is = |o: &Operand, name: &str| matches!(o, Operand::Reg(r) if r.index() == reg(name));
        let found: Vec<bool> = roots.iter().zip(["%d0", "%d5", "%d0"]).map(|((_, (o, _)), name)| is(o, name)).collect();
        assert_eq!(found, [true; 3]);
        assert_eq!(roots[1].1.1, OffsetBound { limit: 13, align: 4 });
    }
}
