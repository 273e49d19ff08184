//! The machine code of [`crate::simt::branch_endpoints`]: a branch decided by its first and last lane.

use super::emitter::FunctionEmitter;
use super::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::ops;
use crate::simt::branch_endpoints::BranchEndpoints;
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC};
use rtcg_ptx::ast::*;

/// What the two ends say, as conditions.
pub(crate) struct EndpointConditions {
    /// The comparison may hold in some lane; `None` if it always does.
    pub(crate) some: Option<Value>,
    /// It holds in all lanes; `None` if it never can.
    pub(crate) all: Option<Value>,
}

impl FunctionEmitter<'_, '_> {
    /// What lane 0 and lane 31 say about a comparison; right for all lanes whenever `some` is there and false
    /// or `all` is true.
    pub(crate) fn compare_endpoints(&mut self, e: &BranchEndpoints) -> EndpointConditions {
        let w = RegWidth::from_type(e.ty);
        let (first, bound) = (self.scalar_operand(e.affine, w)[0], self.scalar_operand(e.bound, w)[0]);
        let last = self.add_offset(first, e.stride * 31);
        let signed = e.ty.is_signed() && !matches!(e.cmp, CmpOp::Lo | CmpOp::Ls | CmpOp::Hi | CmpOp::Hs);
        let order = |cc: IntCC| if signed { cc } else { cc.unsigned() };
        let backwards = if e.stride > 0 { IntCC::SignedLessThan } else { IntCC::SignedGreaterThan };
        let wraps = self.b.ins().icmp(order(backwards), last, first);
        let cc = match e.cmp {
            CmpOp::Lt | CmpOp::Lo => IntCC::SignedLessThan,
            CmpOp::Le | CmpOp::Ls => IntCC::SignedLessThanOrEqual,
            CmpOp::Gt | CmpOp::Hi => IntCC::SignedGreaterThan,
            CmpOp::Ge | CmpOp::Hs => IntCC::SignedGreaterThanOrEqual,
            _ => return self.compare_endpoints_for_equality(e, [first, last, bound, wraps], &order),
        };
        let (c0, c31) = (self.b.ins().icmp(order(cc), first, bound), self.b.ins().icmp(order(cc), last, bound));
        let either = self.b.ins().bor(c0, c31);
        let some = self.b.ins().bor(either, wraps);
        let both = self.b.ins().band(c0, c31);
        let steady = self.b.ins().bxor_imm_u(wraps, 1);
        let all = self.b.ins().band(both, steady);
        EndpointConditions { some: Some(some), all: Some(all) }
    }

    /// Equality holds nowhere when the bound lies beside the lanes' values, and never everywhere.
    fn compare_endpoints_for_equality(
        &mut self,
        e: &BranchEndpoints,
        values: [Value; 4],
        order: &dyn Fn(IntCC) -> IntCC,
    ) -> EndpointConditions {
        let [first, last, bound, wraps] = values;
        let (low, high) = if e.stride > 0 { (first, last) } else { (last, first) };
        let below = self.b.ins().icmp(order(IntCC::SignedLessThan), bound, low);
        let above = self.b.ins().icmp(order(IntCC::SignedGreaterThan), bound, high);
        let beside = self.b.ins().bor(below, above);
        let steady = self.b.ins().bxor_imm_u(wraps, 1);
        let nowhere = self.b.ins().band(beside, steady);
        let maybe = self.b.ins().bxor_imm_u(nowhere, 1);
        if e.cmp == CmpOp::Ne {
            return EndpointConditions { some: None, all: Some(nowhere) };
        }
        EndpointConditions { some: Some(maybe), all: None }
    }

    /// The predicate of every lane, written to its register when it is a deferred one.
    pub(crate) fn compute_lane_predicates(&mut self, e: &BranchEndpoints) -> Result<Vec<LaneParts>, JitError> {
        let plan = self.plan;
        let st = &plan.body.blocks[self.blocks.current].stmts[e.at];
        self.clear_splat_cache();
        let mut masks = vec![];
        for chunk in 0..CHUNKS_PER_WARP {
            let srcs: Vec<LaneParts> =
                ops::source_operands(&st.inst).into_iter().map(|(o, w)| self.operand_lanes(o, w, chunk)).collect();
            for (r, parts) in self.lower_pure_inst(EmitShape::Chunk, &st.inst, &srcs)? {
                if e.deferred {
                    self.write_lanes(r, chunk, parts.clone(), None);
                }
                masks.push(parts);
            }
        }
        self.clear_splat_cache();
        Ok(masks)
    }
}
