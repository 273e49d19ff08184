//! Known values of registers: a constant, or a single-precision number from 0 to 1, wherever the register is
//! read. Arithmetic with known operands can be cheaper.

use super::operands::for_each_def;
use rtcg_ptx::ast::{Function, Inst, Operand, Reg, Type};

/// What is known of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownValue {
    /// Nothing.
    Unknown,
    /// The bits of an immediate.
    Constant(u64),
    /// Single precision from +0 to 1, never NaN.
    UnitInterval,
}

/// For each register of `function` what all its definitions have in common.
pub(crate) fn known_values(function: &Function) -> Vec<KnownValue> {
    let mut found: Vec<Option<KnownValue>> = vec![None; function.regs.len()];
    let mut define = |r: Reg, value: KnownValue| {
        if let Some(slot) = found.get_mut(r.index()) {
            *slot = Some(if slot.is_none_or(|old| old == value) { value } else { KnownValue::Unknown });
        }
    };
    for r in function.params.iter().filter_map(|p| p.reg) {
        define(r, KnownValue::Unknown);
    }
    for statement in &function.body {
        let value = known_result(&statement.inst);
        for_each_def(&statement.inst, &mut |r| define(r, value));
    }
    found.into_iter().map(|k| k.unwrap_or(KnownValue::Unknown)).collect()
}

fn known_result(inst: &Inst) -> KnownValue {
    match inst {
        Inst::Mov { src: Operand::F32(bits), .. } => KnownValue::Constant(u64::from(*bits)),
        Inst::Mov { src: Operand::F64(bits), .. } => KnownValue::Constant(*bits),
        Inst::Mov { src: Operand::Int(n), ty, .. } if ty.bits() == 32 => KnownValue::Constant(u64::from(*n as u32)),
        Inst::Unary { ty: Type::F32, mods, .. }
        | Inst::Binary { ty: Type::F32, mods, .. }
        | Inst::Ternary { ty: Type::F32, mods, .. }
        | Inst::Cvt { dty: Type::F32, mods, .. }
            if mods.sat =>
        {
            KnownValue::UnitInterval
        }
        _ => KnownValue::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownValue, known_values};

    /// Every definition counts, also that of a parameter.
    #[test]
    fn all_definitions_must_agree() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f(.reg .f32 %f7) { .reg .f32 %f<7>;
            mov.f32 %f1, 0f40000000; fma.rn.sat.f32 %f2, %f1, %f1, %f1; mov.f32 %f3, 0f3f800000;
            add.f32 %f3, %f1, %f1; add.sat.f32 %f4, %f1, %f1; mul.sat.f32 %f4, %f1, %f1; cvt.sat.f32.f32 %f5, %f1; cvt.f32.f32 %f6, %f1;
            mov.f32 %f7, 0f00000000; ret; }";
        let parsed = rtcg_ptx::parse(text);
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
        let function = &parsed.module.functions[0];
        let known = known_values(function);
        let get = |name: &str| known[function.regs.iter().position(|r| &*r.name == name).unwrap()];
        assert_eq!(get("%f1"), KnownValue::Constant(0x4000_0000));
        assert_eq!(["%f2", "%f4", "%f5"].map(get), [KnownValue::UnitInterval; 3]);
        assert_eq!(["%f0", "%f3", "%f6", "%f7"].map(get), [KnownValue::Unknown; 4]);
    }
}
