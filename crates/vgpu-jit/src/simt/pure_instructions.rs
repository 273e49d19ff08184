//! Arithmetic: which instructions are pure functions of registers, and the operands, results and
//! widths of each. Every back end lowers them by these lists.

use super::register_width::RegWidth;
use rtcg_ptx::ast::{BinaryOp, Inst, Operand, PredSrc, Reg, TernaryOp, Type, UnaryOp};
use smallvec::{SmallVec, smallvec};

/// Operands of an instruction in the order its lowering wants their values.
pub type SourceOperands = SmallVec<[(Operand, RegWidth); 4]>;
/// Destinations of an instruction in the order its lowering returns their values.
pub type DestRegs = SmallVec<[(Reg, RegWidth); 2]>;

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
pub fn source_operands(inst: &Inst) -> SourceOperands {
    use Inst::*;
    match inst {
        Unary { ty, a, .. } => smallvec![(*a, RegWidth::from_type(*ty))],
        Binary { op, ty, a, b, .. } => smallvec![(*a, RegWidth::from_type(*ty)), (*b, second_operand_width(*op, *ty))],
        Ternary { op, ty, a, b, c, .. } => {
            let [wa, wb, wc] = ternary_operand_widths(*op, *ty);
            smallvec![(*a, wa), (*b, wb), (*c, wc)]
        }
        Bfi { ty, a, b, pos, len, .. } => {
            let w = RegWidth::from_type(*ty);
            smallvec![(*a, w), (*b, w), (*pos, RegWidth::W32), (*len, RegWidth::W32)]
        }
        Carry { ty, a, b, c, .. } => {
            let w = RegWidth::from_type(*ty);
            [Some(*a), Some(*b), *c].into_iter().flatten().map(|x| (x, w)).collect()
        }
        Slct { ty, cty, a, b, c, .. } => {
            smallvec![(*a, RegWidth::from_type(*ty)), (*b, RegWidth::from_type(*ty)), (*c, RegWidth::from_type(*cty))]
        }
        Selp { ty, a, b, pred, .. } => {
            smallvec![(*a, RegWidth::from_type(*ty)), (*b, RegWidth::from_type(*ty)), (*pred, RegWidth::Pred)]
        }
        Setp { ty, combine, a, b, .. } | Set { ty, combine, a, b, .. } => {
            let mut list: SourceOperands = smallvec![(*a, RegWidth::from_type(*ty)), (*b, RegWidth::from_type(*ty))];
            if let Some((_, PredSrc::Reg { reg, .. })) = combine {
                list.push((Operand::Reg(*reg), RegWidth::Pred));
            }
            list
        }
        Mov { ty, src, .. } | MovUnpack { ty, src, .. } => smallvec![(*src, RegWidth::from_type(*ty))],
        MovPack { ty, srcs, .. } => srcs.iter().map(|s| (*s, element_width(*ty, srcs.len()))).collect(),
        Cvt { sty, a, .. } => smallvec![(*a, RegWidth::from_type(*sty))],
        CvtIntPack { a, b, c, .. } => [a, b, c].into_iter().map(|o| (*o, RegWidth::W32)).collect(),
        // What the instruction is travels as an operand, for it does not fit anywhere else.
        Video { video, a, b, c, .. } => smallvec![
            (*a, RegWidth::W32),
            (*b, RegWidth::W32),
            (*c, RegWidth::W32),
            (Operand::Int(rtcg_vgpu_softmath::video::encode_video(video) as i64), RegWidth::W64)
        ],
        CvtPack { sty, a, b, .. } => smallvec![(*a, RegWidth::from_type(*sty)), (*b, RegWidth::from_type(*sty))],
        _ => SourceOperands::new(),
    }
}

/// The destinations of a pure instruction; those written as `_` are left out.
pub fn dest_registers(inst: &Inst) -> DestRegs {
    use Inst::*;
    match inst {
        Unary { op, ty, dst, .. } => smallvec![(*dst, unary_result_width(*op, *ty))],
        Binary { op, ty, dst, .. } => {
            let w = if *op == BinaryOp::MulWide { double_width(*ty) } else { RegWidth::from_type(*ty) };
            smallvec![(*dst, w)]
        }
        Ternary { op, ty, dst, .. } => {
            let w = if *op == TernaryOp::MadWide { double_width(*ty) } else { RegWidth::from_type(*ty) };
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
            smallvec![(*dst, RegWidth::from_type(*ty))]
        }
        CvtIntPack { dst, .. } | Video { dst, .. } => smallvec![(*dst, RegWidth::W32)],
        Setp { dst, dst2, .. } => [*dst, *dst2].into_iter().flatten().map(|d| (d, RegWidth::Pred)).collect(),
        MovUnpack { ty, dsts, .. } => dsts.iter().flatten().map(|d| (*d, element_width(*ty, dsts.len()))).collect(),
        _ => DestRegs::new(),
    }
}

/// The type that decides how a result is extended into a wider register.
pub(crate) fn result_type(inst: &Inst) -> Option<Type> {
    match inst {
        Inst::Cvt { dty, .. } => Some(*dty),
        _ => None,
    }
}

fn unary_result_width(op: UnaryOp, ty: Type) -> RegWidth {
    use UnaryOp::*;
    match op {
        Popc | Clz | Bfind { .. } | PendingCount => RegWidth::W32,
        TestFinite | TestInfinite | TestNumber | TestNotANumber | TestNormal | TestSubnormal => RegWidth::Pred,
        _ => RegWidth::from_type(ty),
    }
}

fn second_operand_width(op: BinaryOp, ty: Type) -> RegWidth {
    match op {
        BinaryOp::Shl | BinaryOp::Shr => RegWidth::W32,
        _ => RegWidth::from_type(ty),
    }
}

fn ternary_operand_widths(op: TernaryOp, ty: Type) -> [RegWidth; 3] {
    let w = RegWidth::from_type(ty);
    match op {
        TernaryOp::MadWide => [w, w, double_width(ty)],
        TernaryOp::Bfe => [w, RegWidth::W32, RegWidth::W32],
        _ => [w; 3],
    }
}

/// The width of twice the bits of `ty`.
fn double_width(ty: Type) -> RegWidth {
    match ty.bits() {
        16 => RegWidth::W32,
        32 => RegWidth::W64,
        _ => RegWidth::W128,
    }
}

/// The width of one of `n` elements that make up a `ty`.
fn element_width(ty: Type, n: usize) -> RegWidth {
    match ty.bits() / n.max(1) as u32 {
        8 | 16 => RegWidth::W16,
        32 => RegWidth::W32,
        64 => RegWidth::W64,
        _ => RegWidth::W128,
    }
}
