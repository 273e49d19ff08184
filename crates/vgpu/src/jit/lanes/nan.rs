//! Which registers' NaN bits nobody looks at.
//!
//! Single-precision arithmetic gives one NaN on a GPU and any on the processor. Making it the one
//! costs two instructions, which are left out when every reader of the register is arithmetic that
//! treats all NaNs alike: the inner links of a chain of multiply-adds, say. A reader that copies or
//! stores the bits, or looks at the sign of a NaN, counts as looking.

use rtcg_ptx::ast::{BinOp, Function, Inst, Operand, Rounding, TerOp, Type};

/// For each register of `function` whether the bits of a NaN in it are never seen.
pub(crate) fn unseen(function: &Function) -> Vec<bool> {
    let mut unseen: Vec<bool> = function.regs.iter().map(|r| r.ty.bits() == 32).collect();
    for statement in &function.body {
        if !reads_as_float(&statement.inst) {
            super::operands::for_each_operand(&statement.inst, &mut |operand| {
                if let Operand::Reg(r) = operand
                    && let Some(flag) = unseen.get_mut(r.index())
                {
                    *flag = false;
                }
            });
        }
    }
    // What a function returns in a register, its caller sees.
    for r in function.returns.iter().filter_map(|p| p.reg) {
        if let Some(flag) = unseen.get_mut(r.index()) {
            *flag = false;
        }
    }
    unseen
}

/// Whether `inst` reads its 32-bit operands as floats only and treats all NaNs alike.
fn reads_as_float(inst: &Inst) -> bool {
    match inst {
        Inst::Unary { ty, .. } => *ty == Type::F32,
        Inst::Binary { op, ty, mods, .. } => *ty == Type::F32 && *op != BinOp::CopySign && !mods.xorsign_abs,
        Inst::Ternary { op, ty, .. } => *ty == Type::F32 && matches!(op, TerOp::Fma | TerOp::MadLo),
        Inst::Setp { ty, .. } => *ty == Type::F32,
        Inst::Set { ty, .. } => *ty == Type::F32,
        Inst::Cvt { dty, sty: Type::F32, mods, .. } => match dty {
            Type::F32 => mods.rnd != Rounding::Default || mods.sat || mods.ftz,
            Type::F64 => mods.ftz || mods.sat,
            Type::TF32 => mods.rnd != Rounding::Rna,
            _ => true,
        },
        Inst::CvtPack { sty, .. } => *sty == Type::F32,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::unseen;

    /// Only readers that treat all NaNs alike leave a register unseen.
    #[test]
    fn copies_stores_and_signs_see_the_bits() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .f32 %f<8>; .reg .b32 %r<2>; .reg .b64 %d<2>; .reg .pred %p;
            fma.rn.f32 %f1, %f0, %f0, %f0; add.f32 %f2, %f1, %f1; setp.lt.f32 %p, %f2, %f1; mul.f32 %f3, %f2, %f2;
            st.global.f32 [%d0], %f3; mov.b32 %r0, %f4; copysign.f32 %f5, %f6, %f1; ret; }";
        let parsed = rtcg_ptx::parse(text);
        assert!(!parsed.has_errors(), "{}", parsed.render("test"));
        let function = &parsed.module.functions[0];
        let flags = unseen(function);
        let seen = |name: &str| !flags[function.regs.iter().position(|r| &*r.name == name).unwrap()];
        assert_eq!(["%f0", "%f2"].map(seen), [false; 2]);
        assert_eq!(["%f1", "%f3", "%f4", "%f6"].map(seen), [true; 4]);
    }
}
