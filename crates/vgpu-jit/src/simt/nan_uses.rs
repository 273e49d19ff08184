//! Which registers' NaN bits are never observed.
//!
//! Single-precision arithmetic gives one NaN on a GPU and any on the processor. Making it the one
//! costs two instructions, which are left out when every reader of the register is arithmetic that
//! treats all NaNs alike: the inner links of a chain of multiply-adds, say. A reader that stores the
//! bits, or looks at the sign of a NaN, counts as looking; one that copies them, to another lane too,
//! if its copy is looked at. Where a loop computes what
//! is stored behind it (a sum), the store makes the NaN the one.

use rtcg_ptx::ast::{BinaryOp, Function, Inst, Operand, Reg, Rounding, Statement, TernaryOp, Type};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// What matters of a register's NaNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NanUse {
    /// Its bits.
    #[default]
    BitsObserved,
    /// Nothing but that it is one.
    BitsIgnored,
    /// Nothing until it is stored; the store sees to its bits.
    CanonicalizedAtStore,
}

/// For each register of `function` who looks at the bits of a NaN in it.
pub(crate) fn nan_uses(function: &Function) -> Vec<NanUse> {
    let word = |r: &rtcg_ptx::ast::RegDecl| if r.ty.bits() == 32 { NanUse::BitsIgnored } else { NanUse::BitsObserved };
    let mut found: Vec<NanUse> = function.regs.iter().map(word).collect();
    for statement in function.body.iter().filter(|s| !reads_as_float(&s.inst)) {
        if copied_register(&statement.inst).is_some() {
            continue;
        }
        let stores = matches!(statement.inst, Inst::St { ty, .. } if ty.bits() == 32);
        super::operands::for_each_operand(&statement.inst, &mut |operand| {
            if let Operand::Reg(r) = operand
                && let Some(bits) = found.get_mut(r.index())
            {
                *bits = if stores && *bits != NanUse::BitsObserved {
                    NanUse::CanonicalizedAtStore
                } else {
                    NanUse::BitsObserved
                };
            }
        });
    }
    // What a function returns in a register, its caller sees.
    for r in function.returns.iter().filter_map(|p| p.reg) {
        if let Some(bits) = found.get_mut(r.index()) {
            *bits = NanUse::BitsObserved;
        }
    }
    propagate_through_copies(function, &mut found);
    restrict_to_arithmetic_stores(function, &mut found);
    found
}

/// What a register is a copy of, perhaps of another lane's.
fn copied_register(inst: &Inst) -> Option<(Reg, Reg)> {
    match inst {
        Inst::Mov { ty, dst, src: Operand::Reg(src) } if ty.bits() == 32 => Some((*dst, *src)),
        Inst::Shfl { dst, pred: _, a: Operand::Reg(src), b, c, mask, .. }
            if [b, c, mask].iter().all(|&&o| o != Operand::Reg(*src)) =>
        {
            Some((*dst, *src))
        }
        _ => None,
    }
}

/// An observer of the bits of a copy observes those of the original.
fn propagate_through_copies(function: &Function, found: &mut [NanUse]) {
    let copies: Vec<(Reg, Reg)> = function.body.iter().filter_map(|s| copied_register(&s.inst)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (dst, src) in &copies {
            let seen = found.get(dst.index()).is_none_or(|bits| *bits != NanUse::BitsIgnored);
            if let Some(bits) = found.get_mut(src.index()).filter(|bits| seen && **bits != NanUse::BitsObserved) {
                *bits = NanUse::BitsObserved;
                changed = true;
            }
        }
    }
}

/// Where a register is written and stored, and whether arithmetic alone writes it.
#[derive(Default)]
struct RegisterAccesses {
    defs: Vec<usize>,
    stores: Vec<usize>,
    other: bool,
}

/// Leaves `Stored` those registers only that hold nothing but results of arithmetic, some of them
/// made in a loop that does not store them.
fn restrict_to_arithmetic_stores(function: &Function, found: &mut [NanUse]) {
    let mut places: HashMap<Reg, RegisterAccesses> = HashMap::new();
    for (r, _) in found.iter().enumerate().filter(|(_, b)| **b == NanUse::CanonicalizedAtStore) {
        places.insert(Reg(r as u32), RegisterAccesses::default());
    }
    if places.is_empty() {
        return;
    }
    for (i, s) in function.body.iter().enumerate() {
        super::operands::for_each_def(&s.inst, &mut |r| {
            if let Some(p) = places.get_mut(&r) {
                p.defs.push(i);
                p.other |= !produces_canonical_nan(s);
            }
        });
        if let Inst::St { srcs, .. } = &s.inst {
            for src in srcs {
                if let Operand::Reg(r) = src
                    && let Some(p) = places.get_mut(r)
                {
                    p.stores.push(i);
                }
            }
        }
    }
    for r in function.params.iter().filter_map(|p| p.reg) {
        places.entry(r).and_modify(|p| p.other = true);
    }
    let loops = backward_jump_ranges(function);
    for (r, p) in places {
        let pays =
            |l: &RangeInclusive<usize>| p.defs.iter().any(|d| l.contains(d)) && !p.stores.iter().any(|s| l.contains(s));
        if p.other || !loops.iter().any(pays) {
            found[r.index()] = NanUse::BitsObserved;
        }
    }
}

/// The statements from the target of each jump back to the jump.
fn backward_jump_ranges(function: &Function) -> Vec<RangeInclusive<usize>> {
    let jump = |(i, s): (usize, &Statement)| match &s.inst {
        Inst::Bra { target, .. } => {
            let to = function.label_targets[target.index()] as usize;
            (to <= i).then_some(to..=i)
        }
        _ => None,
    };
    function.body.iter().enumerate().filter_map(jump).collect()
}

/// Whether the result is a number or the one NaN once its bits have been seen to.
fn produces_canonical_nan(statement: &Statement) -> bool {
    match &statement.inst {
        Inst::Ternary { op: TernaryOp::Fma | TernaryOp::MadLo, ty: Type::F32, .. }
        | Inst::Binary { op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ty: Type::F32, .. } => true,
        Inst::Mov { src: Operand::F32(bits), .. } => !f32::from_bits(*bits).is_nan(),
        _ => false,
    }
}

/// Whether `inst` reads its 32-bit operands as floats only and treats all NaNs alike.
fn reads_as_float(inst: &Inst) -> bool {
    match inst {
        Inst::Unary { ty, .. } => *ty == Type::F32,
        Inst::Binary { op, ty, mods, .. } => *ty == Type::F32 && *op != BinaryOp::CopySign && !mods.xorsign_abs,
        Inst::Ternary { op, ty, .. } => *ty == Type::F32 && matches!(op, TernaryOp::Fma | TernaryOp::MadLo),
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
    use super::{NanUse, nan_uses};

    fn nan_use_of_register(body: &str, name: &str) -> NanUse {
        let registers = ".reg .f32 %f<8>; .reg .b32 %r<2>; .reg .b64 %d<2>; .reg .pred %p;";
        let text =
            format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{ {registers} {body} ret; }}");
        let parsed = rtcg_ptx::parse(text.as_str());
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
        let function = &parsed.module.functions[0];
        nan_uses(function)[function.regs.iter().position(|r| &*r.name == name).unwrap()]
    }

    /// Only readers that treat all NaNs alike leave a register unseen.
    #[test]
    fn copies_stores_and_sign_ops_observe_nan_bits() {
        let body =
            "fma.rn.f32 %f1, %f0, %f0, %f0; add.f32 %f2, %f1, %f1; setp.lt.f32 %p, %f2, %f1; mul.f32 %f3, %f2, %f2;
            st.global.f32 [%d0], %f3; mov.b32 %r0, %f4; not.b32 %r1, %r0; copysign.f32 %f5, %f6, %f1;";
        assert_eq!(["%f0", "%f2"].map(|r| nan_use_of_register(body, r)), [NanUse::BitsIgnored; 2]);
        assert_eq!(["%f1", "%f3", "%f4", "%f6"].map(|r| nan_use_of_register(body, r)), [NanUse::BitsObserved; 4]);
    }

    /// A copy is looked at as its original is, through another lane as well.
    #[test]
    fn nan_uses_propagate_through_copies() {
        let body = "add.f32 %f1, %f0, %f0; mov.b32 %r0, %f1; shfl.sync.down.b32 %r1, %r0, 16, 31, -1; mov.b32 %f2, %r1;
            add.f32 %f3, %f1, %f2;";
        assert_eq!(["%f1", "%f2"].map(|r| nan_use_of_register(body, r)), [NanUse::BitsIgnored; 2]);
        for reader in ["st.global.b32 [%d0], %r1;", "st.global.f32 [%d0], %f2;", "and.b32 %r0, %r1, 1;"] {
            assert_eq!(nan_use_of_register(&format!("{body} {reader}"), "%f1"), NanUse::BitsObserved, "{reader}");
        }
    }

    /// A sum that a loop makes of numbers is seen to where it is stored behind the loop.
    #[test]
    fn loop_sums_are_canonicalized_at_their_store() {
        let sum = |start: &str, inside: &str, behind: &str| {
            format!("{start} $top: add.f32 %f1, %f1, %f2; {inside} setp.lt.f32 %p, %f2, %f1; @%p bra $top; {behind}")
        };
        let store = "st.global.f32 [%d0], %f1;";
        let zero = "mov.f32 %f1, 0f00000000;";
        assert_eq!(nan_use_of_register(&sum(zero, "", store), "%f1"), NanUse::CanonicalizedAtStore);
        assert_eq!(nan_use_of_register(&sum(zero, store, ""), "%f1"), NanUse::BitsObserved);
        assert_eq!(
            nan_use_of_register(&sum(zero, "", "st.global.f32 [%d0], %f1; mov.b32 %r0, %f1; not.b32 %r1, %r0;"), "%f1"),
            NanUse::BitsObserved
        );
        for start in ["ld.global.f32 %f1, [%d1];", "mov.f32 %f1, 0f7fc00000;", "neg.f32 %f1, %f3;"] {
            assert_eq!(nan_use_of_register(&sum(start, "", store), "%f1"), NanUse::BitsObserved, "{start}");
        }
    }
}
