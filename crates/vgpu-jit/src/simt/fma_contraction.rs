//! Joins a product and the sum it goes into to one fused multiply-add, as ptxas does.
//!
//! PTX leaves it to the implementation whether `mul` and `add` without a rounding modifier are
//! rounded twice or once, and nvcc relies on the second: `-fmad=true`, its default, only means that
//! it writes no `.rn`. So that a kernel gives the same bits here and on a GPU, this follows what
//! ptxas was seen to do: a product is fused when all its uses are additions and subtractions of
//! its basic block; where both operands are such products, the first is. The negation of a product
//! is a product too when nothing else uses that product (but for pairs of bfloat16); its absolute value is none.
//!
//! Assumes nothing of the body; establishes nothing that other passes need.

use super::body::{Block, FunctionBody, Stmt, stmt_defs, stmt_uses};
use rtcg_ptx::ast::{BinaryOp, FpMods, Inst, Module, Operand, Reg, Rounding, TernaryOp, Type, UnaryOp};
use std::borrow::Cow;
use std::collections::HashMap;

/// The last line of PTX that was compiled with `-fmad=false`: NVRTC leaves no trace of that in half precision.
pub const FMAD_DISABLED_COMMENT: &str = "// compiled with -fmad=false";

/// Whether the module says that it was compiled with `-fmad=false`.
pub(crate) fn is_contraction_forbidden(module: &Module) -> bool {
    module.source.trim_end().ends_with(FMAD_DISABLED_COMMENT)
}

/// Fuses what can be fused in all blocks.
pub(crate) fn contract_fmas(body: &mut FunctionBody<'_>) {
    if !body.blocks.iter().any(|b| b.stmts.iter().any(|st| fusable_product(st).is_some())) {
        return;
    }
    let counts = UseCounts::count_uses(body);
    for block in &mut body.blocks {
        fuse_block(block, &counts);
    }
}

/// How often each register is read and written in the whole function.
struct UseCounts {
    uses: HashMap<Reg, u32>,
    defs: HashMap<Reg, u32>,
}

impl UseCounts {
    fn count_uses(body: &FunctionBody<'_>) -> UseCounts {
        let carry = body.carry_flag();
        let mut counts = UseCounts { uses: HashMap::new(), defs: HashMap::new() };
        for st in body.blocks.iter().flat_map(|b| &b.stmts) {
            stmt_uses(st, carry, &mut |r| *counts.uses.entry(r).or_default() += 1);
            stmt_defs(st, carry, &mut |r| *counts.defs.entry(r).or_default() += 1);
        }
        counts
    }
}

/// A product that may be fused: `dst = a * b`, or `dst = -(a * b)`.
#[derive(Clone)]
struct FusableProduct {
    /// Where the product is, and its negation.
    at: usize,
    negated_at: Option<usize>,
    /// How often `dst` is read before it is written again.
    uses: u32,
    ty: Type,
    ftz: bool,
    dst: Reg,
    /// The register of the product itself.
    plain: Reg,
    a: Operand,
    b: Operand,
}

fn fusable_product(st: &Stmt<'_>) -> Option<FusableProduct> {
    match &*st.inst {
        Inst::Binary { op: BinaryOp::Mul, ty, mods, dst, a, b }
            if st.guard.is_none() && is_fusable(*ty, mods) && !mods.sat =>
        {
            let (dst, plain) = (*dst, *dst);
            Some(FusableProduct { at: 0, negated_at: None, uses: 0, ty: *ty, ftz: mods.ftz, dst, plain, a: *a, b: *b })
        }
        _ => None,
    }
}

fn is_fusable(ty: Type, mods: &FpMods) -> bool {
    let float = matches!(ty, Type::F32 | Type::F64 | Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2);
    float && mods.rnd == Rounding::Default
}

/// A sum that a product may go into.
struct FusableSum {
    subtract: bool,
    ty: Type,
    mods: FpMods,
    dst: Reg,
    a: Operand,
    b: Operand,
}

fn fusable_sum(st: &Stmt<'_>) -> Option<FusableSum> {
    match &*st.inst {
        Inst::Binary { op: op @ (BinaryOp::Add | BinaryOp::Sub), ty, mods, dst, a, b }
            if st.guard.is_none() && is_fusable(*ty, mods) =>
        {
            Some(FusableSum { subtract: *op == BinaryOp::Sub, ty: *ty, mods: *mods, dst: *dst, a: *a, b: *b })
        }
        _ => None,
    }
}

fn is_same_register(operand: &Operand, reg: Reg) -> bool {
    matches!(operand, Operand::Reg(r) if *r == reg)
}

/// Which product each sum takes, and as which operand.
type FusionPlan = HashMap<usize, (FusableProduct, bool)>;

fn fuse_block(block: &mut Block<'_>, counts: &UseCounts) {
    let mut plan = plan_fusions(block, counts);
    // A product with a use left over is computed anyway, and its register is then no place for a
    // negated operand.
    loop {
        let mut fused: HashMap<usize, u32> = HashMap::new();
        plan.values().for_each(|(p, _)| *fused.entry(p.at).or_default() += 1);
        let before = plan.len();
        plan.retain(|_, (p, _)| fused[&p.at] == p.uses);
        if plan.len() == before {
            break;
        }
    }
    if plan.is_empty() {
        return;
    }
    let gone: Vec<usize> = plan.values().flat_map(|(p, _)| [Some(p.at), p.negated_at]).flatten().collect();
    let old = std::mem::take(&mut block.stmts);
    for (i, st) in old.into_iter().enumerate() {
        match (plan.remove(&i), fusable_sum(&st)) {
            (Some((product, first)), Some(sum)) => emit_fma(&mut block.stmts, &st, &product, sum, first),
            _ if gone.contains(&i) => {}
            _ => block.stmts.push(st),
        }
    }
}

/// Walks the block with the products whose operands still have their values.
fn plan_fusions(block: &Block<'_>, counts: &UseCounts) -> FusionPlan {
    let mut alive: HashMap<Reg, FusableProduct> = HashMap::new();
    let mut plan = FusionPlan::new();
    for (i, st) in block.stmts.iter().enumerate() {
        if let Some(sum) = fusable_sum(st) {
            let candidate = |o: &Operand| match o {
                Operand::Reg(r) => alive.get(r).filter(|p| p.ty == sum.ty && p.ftz == sum.mods.ftz).cloned(),
                _ => None,
            };
            let same = matches!((&sum.a, &sum.b), (Operand::Reg(a), Operand::Reg(b)) if a == b);
            let found = candidate(&sum.a).map(|p| (p, true)).or_else(|| candidate(&sum.b).map(|p| (p, false)));
            if let Some(found) = found.filter(|_| !same) {
                plan.insert(i, found);
            }
        }
        let negated = negated_product(st, &alive);
        // The carry flag is no float: any register does for its place.
        stmt_defs(st, Reg(u32::MAX), &mut |r| {
            alive
                .retain(|&dst, p| dst != r && p.plain != r && !is_same_register(&p.a, r) && !is_same_register(&p.b, r));
        });
        let new = match negated {
            Some(p) => Some(FusableProduct { negated_at: Some(i), ..p }),
            None => fusable_product(st).map(|p| FusableProduct { at: i, ..p }),
        };
        if let Some(mut p) = new
            && !is_same_register(&p.a, p.dst)
            && !is_same_register(&p.b, p.dst)
            && let Some(uses) = uses_until_written(block, i, p.dst, counts)
        {
            p.uses = uses;
            alive.insert(p.dst, p);
        }
    }
    plan
}

/// The product that a statement negates, if nothing else reads it; its register is the result's. The
/// negation of a pair of bfloat16 is no part of a product.
fn negated_product(st: &Stmt<'_>, alive: &HashMap<Reg, FusableProduct>) -> Option<FusableProduct> {
    let Inst::Unary { op: UnaryOp::Neg, ty, mods, dst, a: Operand::Reg(r) } = &*st.inst else { return None };
    let p = alive.get(r)?;
    let fine = *ty != Type::BF16x2
        && st.guard.is_none()
        && *mods == FpMods::default()
        && p.ty == *ty
        && p.negated_at.is_none();
    (fine && p.uses == 1 && dst != r).then(|| FusableProduct { dst: *dst, ..p.clone() })
}

/// How often the value that statement `at` gives `reg` is read; `None` when that is not known,
/// because the register has several values and this one may leave the block.
///
/// The last value does not leave it when all reads are in the block and the first write goes before them.
fn uses_until_written(block: &Block<'_>, at: usize, reg: Reg, counts: &UseCounts) -> Option<u32> {
    if counts.defs.get(&reg) == Some(&1) {
        return counts.uses.get(&reg).copied();
    }
    let mut uses = 0;
    for st in &block.stmts[at + 1..] {
        stmt_uses(st, Reg(u32::MAX), &mut |r| uses += u32::from(r == reg));
        let mut written = false;
        stmt_defs(st, Reg(u32::MAX), &mut |r| written |= r == reg);
        if written {
            return st.guard.is_none().then_some(uses);
        }
    }
    let (mut reads, mut written_first) = (0, None);
    for st in &block.stmts {
        stmt_uses(st, Reg(u32::MAX), &mut |r| reads += u32::from(r == reg));
        stmt_defs(st, Reg(u32::MAX), &mut |r| {
            if r == reg {
                written_first.get_or_insert(reads == 0 && st.guard.is_none());
            }
        });
    }
    (written_first == Some(true) && counts.uses.get(&reg) == Some(&reads)).then_some(uses)
}

/// `a * b + c`; a negated operand goes through a register of the product, which is free now.
fn emit_fma<'m>(out: &mut Vec<Stmt<'m>>, at: &Stmt<'m>, product: &FusableProduct, sum: FusableSum, first: bool) {
    let FusableProduct { ty, mut a, b, .. } = *product;
    let mut c = if first { sum.b } else { sum.a };
    let mut negate = |operand: &mut Operand, spare: Reg| {
        let neg = Inst::Unary { op: UnaryOp::Neg, ty, mods: FpMods::default(), dst: spare, a: *operand };
        out.push(Stmt { inst: Cow::Owned(neg), ..at.clone() });
        *operand = Operand::Reg(spare);
    };
    if sum.subtract && first {
        negate(&mut c, product.plain);
    }
    if product.negated_at.is_some() != (sum.subtract && !first) {
        negate(&mut a, product.dst);
    }
    let mods = FpMods { rnd: Rounding::Rn, ..sum.mods };
    let fma = Inst::Ternary { op: TernaryOp::Fma, ty, mods, dst: sum.dst, a, b, c };
    out.push(Stmt { inst: Cow::Owned(fma), ..at.clone() });
}
