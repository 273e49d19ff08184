//! Arithmetic: which instructions are pure functions of registers, and the operands, results and
//! widths of each. Every back end lowers them by these lists.

use super::width::Width;
use rtcg_ptx::ast::{BinaryOp, Inst, Operand, PredSrc, Reg, TernaryOp, Type, UnaryOp};
use smallvec::{SmallVec, smallvec};

/// Operands of an instruction in the order its lowering wants their values.
pub type Sources = SmallVec<[(Operand, Width); 4]>;
/// Destinations of an instruction in the order its lowering returns their values.
pub type Dests = SmallVec<[(Reg, Width); 2]>;

/// Whether `inst` is arithmetic on registers that back ends lower by itself: no memory, no control
/// flow, no other lane. `mov` of a symbol's address or a special register counts, its source is
/// resolved by the caller.
pub fn is_pure(inst: &Inst) -> bool {
    use Inst::*;
    matches!(
        inst,
        Unary { .. }
            | Binary { .. }
            | Ternary { .. }
            | Bfi { .. }
            | Carry { .. }
            | Slct { .. }
            | Selp { .. }
            | Setp { .. }
            | Set { .. }
            | Mov { .. }
            | MovUnpack { .. }
            | MovPack { .. }
            | Cvt { .. }
            | CvtPack { .. }
            | CvtIntPack { .. }
            | Video { .. }
    )
}

/// Whether `inst` takes the carry flag as an extra, last predicate source.
pub fn reads_carry(inst: &Inst) -> bool {
    matches!(inst, Inst::Carry { cc_in: true, .. })
}

/// Whether `inst` gives the carry flag as an extra, last predicate result.
pub fn writes_carry(inst: &Inst) -> bool {
    matches!(inst, Inst::Carry { cc_out: true, .. })
}

/// The operands of a pure instruction; empty for any other.
pub fn sources(inst: &Inst) -> Sources {
    use Inst::*;
    match inst {
        Unary { ty, a, .. } => smallvec![(*a, Width::of(*ty))],
        Binary { op, ty, a, b, .. } => smallvec![(*a, Width::of(*ty)), (*b, second_width(*op, *ty))],
        Ternary { op, ty, a, b, c, .. } => {
            let [wa, wb, wc] = ternary_widths(*op, *ty);
            smallvec![(*a, wa), (*b, wb), (*c, wc)]
        }
        Bfi { ty, a, b, pos, len, .. } => {
            let w = Width::of(*ty);
            smallvec![(*a, w), (*b, w), (*pos, Width::W32), (*len, Width::W32)]
        }
        Carry { ty, a, b, c, .. } => {
            let w = Width::of(*ty);
            [Some(*a), Some(*b), *c].into_iter().flatten().map(|x| (x, w)).collect()
        }
        Slct { ty, cty, a, b, c, .. } => smallvec![(*a, Width::of(*ty)), (*b, Width::of(*ty)), (*c, Width::of(*cty))],
        Selp { ty, a, b, pred, .. } => smallvec![(*a, Width::of(*ty)), (*b, Width::of(*ty)), (*pred, Width::Pred)],
        Setp { ty, combine, a, b, .. } | Set { ty, combine, a, b, .. } => {
            let mut list: Sources = smallvec![(*a, Width::of(*ty)), (*b, Width::of(*ty))];
            if let Some((_, PredSrc::Reg { reg, .. })) = combine {
                list.push((Operand::Reg(*reg), Width::Pred));
            }
            list
        }
        Mov { ty, src, .. } | MovUnpack { ty, src, .. } => smallvec![(*src, Width::of(*ty))],
        MovPack { ty, srcs, .. } => srcs.iter().map(|s| (*s, element_width(*ty, srcs.len()))).collect(),
        Cvt { sty, a, .. } => smallvec![(*a, Width::of(*sty))],
        CvtIntPack { a, b, c, .. } => [a, b, c].into_iter().map(|o| (*o, Width::W32)).collect(),
        // What the instruction is travels as an operand, for it does not fit anywhere else.
        Video { video, a, b, c, .. } => smallvec![
            (*a, Width::W32),
            (*b, Width::W32),
            (*c, Width::W32),
            (Operand::Int(crate::softmath::video::encode(video) as i64), Width::W64)
        ],
        CvtPack { sty, a, b, .. } => smallvec![(*a, Width::of(*sty)), (*b, Width::of(*sty))],
        _ => Sources::new(),
    }
}

/// The destinations of a pure instruction; those written as `_` are left out.
pub fn dests(inst: &Inst) -> Dests {
    use Inst::*;
    match inst {
        Unary { op, ty, dst, .. } => smallvec![(*dst, unary_result(*op, *ty))],
        Binary { op, ty, dst, .. } => {
            let w = if *op == BinaryOp::MulWide { double(*ty) } else { Width::of(*ty) };
            smallvec![(*dst, w)]
        }
        Ternary { op, ty, dst, .. } => {
            let w = if *op == TernaryOp::MadWide { double(*ty) } else { Width::of(*ty) };
            smallvec![(*dst, w)]
        }
        Bfi { ty, dst, .. }
        | Carry { ty, dst, .. }
        | Slct { ty, dst, .. }
        | Selp { ty, dst, .. }
        | Mov { ty, dst, .. }
        | MovPack { ty, dst, .. }
        | Set { dty: ty, dst, .. }
        | Cvt { dty: ty, dst, .. }
        | CvtPack { dty: ty, dst, .. } => {
            smallvec![(*dst, Width::of(*ty))]
        }
        CvtIntPack { dst, .. } | Video { dst, .. } => smallvec![(*dst, Width::W32)],
        Setp { dst, dst2, .. } => [*dst, *dst2].into_iter().flatten().map(|d| (d, Width::Pred)).collect(),
        MovUnpack { ty, dsts, .. } => dsts.iter().flatten().map(|d| (*d, element_width(*ty, dsts.len()))).collect(),
        _ => Dests::new(),
    }
}

/// The type that decides how a result is extended into a wider register.
pub(crate) fn result_type(inst: &Inst) -> Option<Type> {
    match inst {
        Inst::Cvt { dty, .. } => Some(*dty),
        _ => None,
    }
}

fn unary_result(op: UnaryOp, ty: Type) -> Width {
    use UnaryOp::*;
    match op {
        Popc | Clz | Bfind { .. } | PendingCount => Width::W32,
        TestFinite | TestInfinite | TestNumber | TestNotANumber | TestNormal | TestSubnormal => Width::Pred,
        _ => Width::of(ty),
    }
}

fn second_width(op: BinaryOp, ty: Type) -> Width {
    match op {
        BinaryOp::Shl | BinaryOp::Shr => Width::W32,
        _ => Width::of(ty),
    }
}

fn ternary_widths(op: TernaryOp, ty: Type) -> [Width; 3] {
    let w = Width::of(ty);
    match op {
        TernaryOp::MadWide => [w, w, double(ty)],
        TernaryOp::Bfe => [w, Width::W32, Width::W32],
        _ => [w; 3],
    }
}

/// The width of twice the bits of `ty`.
fn double(ty: Type) -> Width {
    match ty.bits() {
        16 => Width::W32,
        32 => Width::W64,
        _ => Width::W128,
    }
}

/// The width of one of `n` elements that make up a `ty`.
fn element_width(ty: Type, n: usize) -> Width {
    match ty.bits() / n.max(1) as u32 {
        8 | 16 => Width::W16,
        32 => Width::W32,
        64 => Width::W64,
        _ => Width::W128,
    }
}
