//! The target that a form of an instruction needs at least: what `ptxas` of CUDA 13.0 refuses below it, as a table.
//!
//! A device's compiler refuses such a form in a module for an older target, even where the device could execute it
//! (questions 32, 33, 35, 37, 44 and 45 of `tests/fidelity`). What is not in the table needs no more than `sm_75`.

use super::inst::Modifiers;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::{Diagnostic, DiagnosticKind};

/// The instructions of one of the opcodes that have one of `with`, all of `and`, and none of `without`.
struct TargetRule {
    target: u32,
    /// Separated by blanks, as the other fields are; empty: any opcode.
    opcodes: &'static str,
    /// Modifiers, of which one must be there; empty: none need be.
    with: &'static str,
    /// Modifiers that must all be there.
    and: &'static str,
    /// Modifiers that must not be there.
    without: &'static str,
}

const fn rule(target: u32, opcodes: &'static str, with: &'static str) -> TargetRule {
    TargetRule { target, opcodes, with, and: "", without: "" }
}

impl TargetRule {
    const fn and(self, and: &'static str) -> Self {
        TargetRule { and, ..self }
    }

    const fn without(self, without: &'static str) -> Self {
        TargetRule { without, ..self }
    }

    fn covers(&self, opcode: &str, m: &Modifiers) -> bool {
        let listed = |list: &str, word: &str| list.as_bytes().split(|&b| b == b' ').any(|w| w == word.as_bytes());
        let has_one_of = |list: &str| m.all_words().iter().any(|word| listed(list, word));
        (self.opcodes.is_empty() || listed(self.opcodes, opcode))
            && (self.with.is_empty() || has_one_of(self.with))
            && (self.and.is_empty() || self.and.split(' ').all(|word| m.has_modifier(word)))
            && !has_one_of(self.without)
    }
}

/// All rules; of those that cover a form, the highest target counts.
const TARGET_RULES: &[TargetRule] = &[
    // Arithmetic.
    rule(80, "min max", "NaN f16 f16x2 bf16 bf16x2"),
    rule(80, "abs neg", "bf16 bf16x2"),
    rule(80, "fma", "relu bf16 bf16x2"),
    rule(86, "min max", "xorsign"),
    rule(90, "min max", "relu s16x2 u16x2"),
    rule(90, "add", "s16x2 u16x2"),
    rule(90, "add sub mul setp set ex2 tanh", "bf16 bf16x2"),
    rule(100, "min max", "abs").without("xorsign"),
    rule(90, "fma", "oob"),
    rule(100, "add sub mul fma", "f32x2"),
    rule(100, "add sub fma", "f16 bf16").and("f32"),
    // Conversions.
    rule(80, "cvt", "bf16 bf16x2 tf32 relu"),
    rule(80, "cvt", "f16x2").and("f32"),
    rule(89, "cvt", "e4m3x2 e5m2x2"),
    rule(90, "cvt", "bf16").without("f32"),
    rule(90, "cvt", "rn rz").and("tf32"),
    rule(100, "cvt", "rn rz").and("tf32 satfinite"),
    // Memory.
    rule(80, "", "L2::cache_hint L2::256B L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"),
    rule(80, "createpolicy applypriority discard", ""),
    rule(80, "cp", "async"),
    rule(90, "cp", "bulk"),
    rule(90, "", "cluster shared::cluster"),
    rule(90, "atom red", "b128 bf16 bf16x2 v2 v4 v8"),
    rule(90, "st red", "async"),
    rule(90, "prefetch", "tensormap"),
    rule(90, "fence", "async mbarrier_init tensormap::generic"),
    rule(100, "ld st", "b32 u32 s32 f32").and("v8"),
    rule(100, "ld st", "b64 u64 s64 f64").and("v4"),
    // Synchronisation.
    rule(80, "redux mbarrier", ""),
    rule(90, "mbarrier", "expect_tx complete_tx try_wait"),
    rule(90, "elect griddepcontrol mapa getctarank", ""),
    rule(90, "multimem wgmma tensormap setmaxnreg", ""),
    rule(100, "redux", "f32"),
    rule(100, "tcgen05 clusterlaunchcontrol", ""),
    // Matrices.
    rule(80, "mma wmma", "bf16 tf32 f64 m16n8k32 m16n8k64 m16n8k128 m16n8k256"),
    rule(80, "mma", "m16n8k16"),
    rule(80, "mma wmma", "and m16n16k8"),
    rule(89, "mma", "e4m3 e5m2"),
    rule(90, "mma", "m16n8k4 m16n8k8 m16n8k16").and("f64"),
    rule(90, "stmatrix", ""),
    rule(100, "ldmatrix", "m16n16 m8n16 b8"),
];

/// The target that an instruction needs for its operands or the order of its types.
fn target_of_operands(inst: &Inst) -> u32 {
    match inst {
        Inst::Cvt { dty: Type::F32, sty: Type::BF16, mods, .. } if mods.ftz => 90,
        Inst::Ternary { op: TernaryOp::Min3 | TernaryOp::Max3, .. } => 100,
        // A number of arrivals that may complete the phase.
        Inst::Mbarrier { op: MbarrierOp::Arrive { no_complete: false, .. }, a: Some(_), .. } => 90,
        _ => 0,
    }
}

fn target_of_special_register(reg: SpecialReg) -> u32 {
    use SpecialReg::*;
    match reg {
        ReservedSmemBegin | ReservedSmemEnd | ReservedSmemCap | ReservedSmemOffset(_) => 80,
        ClusterId(_) | NClusterId(_) | ClusterCtaid(_) | ClusterNctaid(_) => 90,
        ClusterCtarank | ClusterNctarank | IsExplicitCluster | AggrSmemSize => 90,
        _ => 0,
    }
}

impl Parser<'_> {
    /// Refuses what needs a newer target than the module's.
    pub(super) fn require_target(&self, span: Span, what: &str, target: u32) -> ParseRuleResult<()> {
        // A module without a target is refused for that.
        if target <= self.module.target || self.module.target == 0 {
            return Ok(());
        }
        let message = format!("`{}` requires .target sm_{target} or higher", super::shorten_token_text(what));
        Err(Diagnostic::new(DiagnosticKind::Semantic, span, message))
    }

    /// Refuses an instruction whose form needs a newer target than the module's.
    pub(super) fn check_target_of_inst(&self, opcode: &str, m: &Modifiers, inst: &Inst) -> ParseRuleResult<()> {
        // Rules that the module's target meets refuse nothing, so that their words need not be compared.
        let newer = TARGET_RULES.iter().filter(|rule| rule.target > self.module.target);
        let forms = newer.filter(|rule| rule.covers(opcode, m)).map(|rule| rule.target);
        let target = forms.max().unwrap_or(0).max(target_of_operands(inst));
        self.require_target(m.span, m.full, target)?;
        if matches!(inst, Inst::Redux { ty: Type::F32, .. }) && self.module.target_suffix.is_none() {
            let message = format!("`{}` requires .target sm_100a", m.full);
            return Err(Diagnostic::new(DiagnosticKind::Semantic, m.span, message));
        }
        Ok(())
    }

    /// Refuses a special register that the module's target does not have.
    pub(super) fn check_target_of_register(&self, span: Span, name: &str, reg: SpecialReg) -> ParseRuleResult<()> {
        self.require_target(span, name, target_of_special_register(reg))
    }
}
