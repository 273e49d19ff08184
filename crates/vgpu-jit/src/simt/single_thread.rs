//! Kernels that a block of one thread runs as scalar code.
//!
//! Converged code computes once what all lanes of a warp have in common. Where a block is one thread, `%tid` is 0, so a
//! kernel whose instructions do not ask which lane they are in has nothing but uniform registers: its converged code
//! is the code of that one thread, without masks. Left out is what acts once per lane (atomics, calls, barriers) or
//! is stored per lane (local memory).

use super::pure_instructions::{is_pure, source_operands};
use rtcg_ptx::ast::*;

/// Whether all registers of `kernel` are uniform where its blocks are one thread.
pub(crate) fn is_scalar_for_one_thread(kernel: &Function) -> bool {
    kernel.entry
        && kernel.vars.iter().all(|v| v.space != Space::Local)
        && kernel.body.iter().all(|st| is_alike_in_all_lanes(&st.inst))
}

fn is_alike_in_all_lanes(inst: &Inst) -> bool {
    match inst {
        Inst::Ld { space, .. } => *space != Space::Local,
        Inst::St { space, srcs, .. } => *space != Space::Local && !srcs.iter().copied().any(names_lane),
        Inst::Cvta { src, .. } => !names_lane(*src),
        Inst::Bra { .. } | Inst::Brx { .. } | Inst::Ret | Inst::Exit | Inst::Trap => true,
        Inst::Prefetch { .. } | Inst::Hint { .. } | Inst::Fence(_) => true,
        _ => is_pure(inst) && !source_operands(inst).iter().any(|(o, _)| names_lane(*o)),
    }
}

fn names_lane(o: Operand) -> bool {
    use SpecialReg::*;
    matches!(o, Operand::Special(LaneId | LaneMaskEq | LaneMaskLe | LaneMaskLt | LaneMaskGe | LaneMaskGt))
}

#[cfg(test)]
mod tests {
    use super::is_scalar_for_one_thread;
    use crate::simt::function_plan::FunctionPlan;
    use crate::simt::lane_classes::LaneClass;
    use crate::{Instrumentation, LaunchVariant};
    use rtcg_ptx::ast::{FuncId, Module, Reg};

    fn parse(body: &str) -> Module {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 d) {{
            .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<3>; ld.param.u64 %d0, [d]; mov.u32 %r0, %tid.x; {body} ret; }}"
        );
        let parsed = rtcg_ptx::parse(text.as_str());
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
        parsed.module
    }

    #[test]
    fn one_thread_has_uniform_registers_only() {
        let module = parse(
            "mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d1, %d0; $loop: ld.global.u32 %r1, [%d1]; add.s32 %r1, %r1, %r0;
            st.global.u32 [%d1], %r1; setp.lt.u32 %p, %r1, 9; @%p bra $loop;",
        );
        assert!(is_scalar_for_one_thread(&module.functions[0]));
        let plan = |variant| {
            let calls = (&Instrumentation::NO_INSTRUMENTATION, &Default::default());
            FunctionPlan::new(&module, FuncId(0), variant, 0, calls).unwrap()
        };
        let count_uniform = |variant: LaunchVariant| {
            let plan = plan(variant);
            let registers = 0..plan.body.widths.len();
            registers.filter(|&r| plan.classes.lane_class_of(Reg(r as u32)) == LaneClass::Uniform).count()
        };
        let all = plan(LaunchVariant::from_block_shape([1, 1, 1])).body.widths.len();
        assert_eq!(count_uniform(LaunchVariant::from_block_shape([1, 1, 1])), all);
        assert!(count_uniform(LaunchVariant::from_block_shape([2, 1, 1])) < all);
    }

    #[test]
    fn what_acts_once_per_lane_is_no_scalar_code() {
        for body in [
            "atom.global.add.u32 %r1, [%d0], 1;",
            "red.global.add.u32 [%d0], 1;",
            "bar.sync 0;",
            "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;",
            "mov.u32 %r1, %laneid;",
            "activemask.b32 %r1;",
            ".local .b32 own; st.local.u32 [own], %r0;",
        ] {
            assert!(!is_scalar_for_one_thread(&parse(body).functions[0]), "{body}");
        }
    }
}
