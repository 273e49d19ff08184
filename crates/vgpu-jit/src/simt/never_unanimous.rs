//! Branches that can never be unanimous in a warp, because they compare a thread index for equality, as
//! `if (lane == 0)` does: no two adjacent lanes are equal.
//!
//! The analysis covers one basic block, which converged code always runs from its beginning, so that the
//! compared register has its class.

use super::body::{Block, stmt_defs};
use super::lane_classes::{LaneClass, LaneClasses};
use rtcg_ptx::ast::*;

/// The value that a predicate at the end of `block` never has in all lanes, if that is known.
pub(crate) fn never_unanimous_value(
    block: &Block<'_>,
    classes: &LaneClasses,
    carry: Reg,
    predicate: Reg,
) -> Option<bool> {
    let (mut end, mut predicate) = (block.stmts.len(), predicate);
    loop {
        let (at, inst) = last_definition(block, carry, end, predicate)?;
        match inst {
            Inst::Mov { src: Operand::Reg(from), .. } => (end, predicate) = (at, *from),
            Inst::Setp { cmp, ty, combine: None, dst: Some(dst), dst2: None, a, b, .. }
                if *dst == predicate && ty.bits() == 32 && !ty.is_float() =>
            {
                let equal = match cmp {
                    CmpOp::Eq => true,
                    CmpOp::Ne => false,
                    _ => return None,
                };
                let uniform = |o: Operand| classes.operand_class(o) == LaneClass::Uniform;
                let differs = |o: Operand| adjacent_lanes_differ(block, classes, carry, at, o);
                return (uniform(*b) && differs(*a) || uniform(*a) && differs(*b)).then_some(equal);
            }
            _ => return None,
        }
    }
}

/// The last statement before number `end` that writes `r`, if it does so in all lanes.
fn last_definition<'b>(block: &'b Block<'_>, carry: Reg, end: usize, r: Reg) -> Option<(usize, &'b Inst)> {
    let writes = |at: &usize| {
        let mut found = false;
        stmt_defs(&block.stmts[*at], carry, &mut |d| found |= d == r);
        found
    };
    let at = (0..end).rev().find(writes)?;
    let st = &block.stmts[at];
    st.guard.is_none().then_some((at, &*st.inst))
}

/// Whether no two adjacent lanes of eight have the same value in an operand of statement `at`.
fn adjacent_lanes_differ(block: &Block<'_>, classes: &LaneClasses, carry: Reg, at: usize, o: Operand) -> bool {
    let step = |o: Operand| classes.operand_class(o).lane_stride().map_or(0, |stride| stride as u32);
    if step(o) != 0 {
        return true;
    }
    let Operand::Reg(r) = o else { return false };
    let Some((_, Inst::Binary { op: BinaryOp::And, ty, a, b, .. })) = last_definition(block, carry, at, r) else {
        return false;
    };
    // The lowest bits of a steady value change from lane to lane if those of its stride are not all zero.
    let low_ones =
        |o: Operand| classes.constant_value(o).map_or(0, |mask| (1_u64 << (mask as u32).trailing_ones()) - 1);
    let changes = |x: Operand, mask: Operand| u64::from(step(x)) & low_ones(mask) != 0;
    ty.bits() == 32 && (changes(*a, *b) || changes(*b, *a))
}

#[cfg(test)]
mod tests {
    use super::never_unanimous_value;
    use crate::simt::body::Terminator;
    use crate::simt::function_plan::FunctionPlan;
    use crate::{Instrumentation, LaunchVariant};
    use rtcg_ptx::ast::FuncId;

    /// What the predicate of the kernel's only branch never is in all lanes.
    fn is_never_unanimous(condition: &str) -> Option<bool> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 d, .param .u32 n) {{
            .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d; ld.param.u64 %d, [d]; ld.param.u32 %r1, [n];
            mov.u32 %r0, %tid.x; {condition} @%p bra $end; bar.sync 0; st.global.u32 [%d], %r0; $end: ret; }}"
        );
        let parsed = rtcg_ptx::parse(text.as_str());
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
        let variant = LaunchVariant::from_block_shape([64, 1, 1]);
        let plan = FunctionPlan::new(
            &parsed.module,
            FuncId(0),
            variant,
            0,
            (&Instrumentation::NO_INSTRUMENTATION, &Default::default()),
        )
        .unwrap();
        let branch = |t: &Terminator| match t {
            Terminator::Branch { guard, .. } | Terminator::PredicatedSplit { guard, .. } => Some(guard.reg),
            _ => None,
        };
        let block = plan.body.blocks.iter().find(|b| branch(&b.term).is_some()).unwrap();
        never_unanimous_value(block, &plan.classes, plan.body.carry_flag(), branch(&block.term).unwrap())
    }

    #[test]
    fn thread_ids_are_never_all_equal() {
        assert_eq!(is_never_unanimous("setp.eq.u32 %p, %r0, %r1;"), Some(true));
        assert_eq!(is_never_unanimous("setp.ne.s32 %p, 7, %r0;"), Some(false));
        assert_eq!(is_never_unanimous("and.b32 %r2, %r0, 31; setp.ne.s32 %p, %r2, 0;"), Some(false));
        assert_eq!(
            is_never_unanimous("mul.lo.u32 %r3, %r0, 4; and.b32 %r2, 7, %r3; setp.eq.s32 %p, %r2, %r1;"),
            Some(true)
        );
    }

    #[test]
    fn predicates_that_may_be_unanimous_are_not_excluded() {
        for condition in [
            "setp.lt.u32 %p, %r0, %r1;",
            "setp.eq.u32 %p, %r1, 3; xor.b32 %r0, %r0, 1;",
            "and.b32 %r2, %r0, 32; setp.eq.u32 %p, %r2, 0;",
            "mul.lo.u32 %r3, %r0, 8; and.b32 %r2, %r3, 7; setp.eq.u32 %p, %r2, 0;",
            "setp.eq.u32 %p, %r0, %r0;",
            "shr.u32 %r2, %r0, 5; setp.eq.u32 %p, %r2, 0;",
        ] {
            assert_ne!(is_never_unanimous(condition), Some(true), "{condition}");
            assert_ne!(is_never_unanimous(condition), Some(false), "{condition}");
        }
    }
}
