//! Arithmetic, bit and floating-point instructions.

use super::inst::Modifiers;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::names::{prmt_of, type_of};
use Type::*;

const INTS: &[Type] = &[U16, U32, U64, S16, S32, S64];
const BITS: &[Type] = &[B16, B32, B64];

fn is_int(ty: Type) -> bool {
    INTS.contains(&ty)
}

/// The floating-point modifiers an instruction admits at one type.
#[derive(Clone, Copy)]
struct Floats {
    /// Admitted roundings.
    rnd: &'static [Rounding],
    /// Whether one must be written.
    need_rnd: bool,
    ftz: bool,
    sat: bool,
}

const ALL_RND: &[Rounding] = &[Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp];
const RN: &[Rounding] = &[Rounding::Rn];

/// What `add`, `sub`, `mul`, `fma` admit for floats.
fn arithmetic(ty: Type, need_rnd: bool) -> Option<Floats> {
    Some(match ty {
        F32 => Floats { rnd: ALL_RND, need_rnd, ftz: true, sat: true },
        F64 => Floats { rnd: ALL_RND, need_rnd, ftz: false, sat: false },
        F16 | F16x2 => Floats { rnd: RN, need_rnd, ftz: true, sat: true },
        BF16 | BF16x2 => Floats { rnd: RN, need_rnd, ftz: false, sat: false },
        _ => return None,
    })
}

impl Modifiers<'_> {
    fn floats(&mut self, admit: Floats) -> Parsed<FpMods> {
        let rnd = self.rounding();
        if (rnd == Rounding::Default && admit.need_rnd) || (rnd != Rounding::Default && !admit.rnd.contains(&rnd)) {
            return Err(self.refuse());
        }
        let ftz = admit.ftz && self.has("ftz");
        let sat = admit.sat && self.has("sat");
        Ok(FpMods { rnd, ftz, sat, ..FpMods::default() })
    }

    /// Whether a type or modifier belongs to an extension that is read but not understood.
    fn is_extended(&self) -> bool {
        let types = self.words().iter().filter(|word| type_of(word).is_some()).count();
        self.contains("f32x2") || (types == 2 && self.contains("f32"))
    }
}

impl<'s> Parser<'s> {
    fn unary(&mut self, op: UnaryOp, ty: Type, dty: Type, mods: FpMods) -> Parsed<Inst> {
        let dst = self.dst_comma(dty)?;
        Ok(Inst::Unary { op, ty, mods, dst, a: self.src(ty)? })
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, dty: Type, mods: FpMods) -> Parsed<Inst> {
        let dst = self.dst_comma(dty)?;
        let a = self.src(ty)?;
        Ok(Inst::Binary { op, ty, mods, dst, a, b: self.comma_src(ty)? })
    }

    fn ternary_inst(&mut self, op: TernaryOp, types: [Type; 4], ty: Type, mods: FpMods) -> Parsed<Inst> {
        let dst = self.dst_comma(types[0])?;
        let a = self.src(types[1])?;
        let b = self.comma_src(types[2])?;
        Ok(Inst::Ternary { op, ty, mods, dst, a, b, c: self.comma_src(types[3])? })
    }

    pub(super) fn add_sub(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> Parsed<Inst> {
        if m.contains("cc") {
            return self.carry(m, if op == BinaryOp::Add { CarryOp::Add } else { CarryOp::Sub }, false);
        }
        if m.is_extended() {
            return self.other(m);
        }
        let ty = m.ty()?;
        let mods = match ty {
            S32 => FpMods { sat: m.has("sat"), ..FpMods::default() },
            U16x2 | S16x2 if op == BinaryOp::Add => FpMods::default(),
            _ if is_int(ty) => FpMods::default(),
            _ => match arithmetic(ty, false) {
                Some(admit) => m.floats(admit)?,
                None => return Err(m.refuse()),
            },
        };
        m.done()?;
        self.binary(op, ty, ty, mods)
    }

    pub(super) fn carry(&mut self, m: &mut Modifiers<'s>, op: CarryOp, cc_in: bool) -> Parsed<Inst> {
        let cc_out = m.has("cc");
        let ty = m.ty_in(&[U32, S32, U64, S64])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        Ok(Inst::Carry { op, ty, cc_in, cc_out, dst, a, b: self.comma_src(ty)?, c: None })
    }

    pub(super) fn mad_carry(&mut self, m: &mut Modifiers<'s>, cc_in: bool) -> Parsed<Inst> {
        let op = match (m.has("lo"), m.has("hi")) {
            (true, false) => CarryOp::MadLo,
            (false, true) => CarryOp::MadHi,
            _ => return Err(m.refuse()),
        };
        let cc_out = m.has("cc");
        let ty = m.ty_in(&[U32, S32, U64, S64])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        Ok(Inst::Carry { op, ty, cc_in, cc_out, dst, a, b, c: Some(self.comma_src(ty)?) })
    }

    pub(super) fn mul(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.is_extended() {
            return self.other(m);
        }
        let ty = m.ty()?;
        if !is_int(ty) {
            let Some(admit) = arithmetic(ty, false) else { return Err(m.refuse()) };
            let mods = m.floats(admit)?;
            m.done()?;
            return self.binary(BinaryOp::Mul, ty, ty, mods);
        }
        let (op, dty) = match self.product_half(m, ty)? {
            Half::Lo => (BinaryOp::Mul, ty),
            Half::Hi => (BinaryOp::MulHi, ty),
            Half::Wide(dty) => (BinaryOp::MulWide, dty),
        };
        m.done()?;
        self.binary(op, ty, dty, FpMods::default())
    }

    fn product_half(&self, m: &mut Modifiers<'s>, ty: Type) -> Parsed<Half> {
        match (m.has("lo"), m.has("hi"), m.has("wide")) {
            (true, false, false) => Ok(Half::Lo),
            (false, true, false) => Ok(Half::Hi),
            (false, false, true) => match ty {
                U16 => Ok(Half::Wide(U32)),
                S16 => Ok(Half::Wide(S32)),
                U32 => Ok(Half::Wide(U64)),
                S32 => Ok(Half::Wide(S64)),
                _ => Err(m.refuse()),
            },
            _ => Err(m.refuse()),
        }
    }

    pub(super) fn mad(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.contains("cc") {
            return self.mad_carry(m, false);
        }
        let ty = m.ty()?;
        if matches!(ty, F32 | F64) {
            // Before sm_20 `mad.f32` had no rounding and another result; it is not known here.
            let Some(admit) = arithmetic(ty, true) else { return Err(m.refuse()) };
            let mods = m.floats(admit)?;
            m.done()?;
            return self.ternary_inst(TernaryOp::Fma, [ty; 4], ty, mods);
        }
        if !is_int(ty) {
            return Err(m.refuse());
        }
        let (op, wide) = match self.product_half(m, ty)? {
            Half::Lo => (TernaryOp::MadLo, ty),
            Half::Hi => (TernaryOp::MadHi, ty),
            Half::Wide(dty) => (TernaryOp::MadWide, dty),
        };
        let sat = op == TernaryOp::MadHi && ty == S32 && m.has("sat");
        m.done()?;
        self.ternary_inst(op, [wide, ty, ty, wide], ty, FpMods { sat, ..FpMods::default() })
    }

    pub(super) fn fma(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.is_extended() || m.contains("oob") {
            return self.other(m);
        }
        let ty = m.ty()?;
        let Some(admit) = arithmetic(ty, true) else { return Err(m.refuse()) };
        let mut mods = m.floats(admit)?;
        mods.relu = matches!(ty, F16 | F16x2 | BF16 | BF16x2) && !mods.sat && m.has("relu");
        m.done()?;
        self.ternary_inst(TernaryOp::Fma, [ty; 4], ty, mods)
    }

    pub(super) fn int_binary(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> Parsed<Inst> {
        let ty = m.ty_in(INTS)?;
        m.done()?;
        self.binary(op, ty, ty, FpMods::default())
    }

    pub(super) fn div(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty()?;
        let mut mods = FpMods::default();
        match ty {
            F32 => {
                mods.approx = m.has("approx");
                mods.full = !mods.approx && m.has("full");
                let need_rnd = !mods.approx && !mods.full;
                let rnd = if need_rnd { ALL_RND } else { &[] };
                let floats = m.floats(Floats { rnd, need_rnd, ftz: true, sat: false })?;
                mods = FpMods { approx: mods.approx, full: mods.full, ..floats };
            }
            F64 => mods = m.floats(Floats { rnd: ALL_RND, need_rnd: true, ftz: false, sat: false })?,
            _ if is_int(ty) => {}
            _ => return Err(m.refuse()),
        }
        m.done()?;
        self.binary(BinaryOp::Div, ty, ty, mods)
    }

    pub(super) fn min_max(&mut self, m: &mut Modifiers<'s>, op: BinaryOp, three: TernaryOp) -> Parsed<Inst> {
        let ty = m.ty()?;
        let mut mods = FpMods::default();
        match ty {
            F32 | F16 | F16x2 | BF16 | BF16x2 => {
                mods.ftz = !matches!(ty, BF16 | BF16x2) && m.has("ftz");
                mods.nan = m.has("NaN");
                if m.has("xorsign") {
                    mods.xorsign_abs = m.has("abs");
                    if !mods.xorsign_abs {
                        return Err(m.refuse());
                    }
                }
                if ty == F32 && m.contains("abs") && !mods.xorsign_abs {
                    return self.other(m);
                }
            }
            S32 | S16x2 => mods.relu = m.has("relu"),
            F64 | U16x2 => {}
            _ if is_int(ty) => {}
            _ => return Err(m.refuse()),
        }
        m.done()?;
        let inst = self.binary(op, ty, ty, mods)?;
        let Inst::Binary { dst, a, b, .. } = inst else { return Ok(inst) };
        if ty == F32 && self.is(b',') && !mods.xorsign_abs {
            return Ok(Inst::Ternary { op: three, ty, mods, dst, a, b, c: self.comma_src(ty)? });
        }
        Ok(Inst::Binary { op, ty, mods, dst, a, b })
    }

    pub(super) fn abs_neg(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> Parsed<Inst> {
        let ty = m.ty_in(&[S16, S32, S64, F32, F64, F16, F16x2, BF16, BF16x2])?;
        let ftz = matches!(ty, F32 | F16 | F16x2) && m.has("ftz");
        m.done()?;
        self.unary(op, ty, ty, FpMods { ftz, ..FpMods::default() })
    }

    pub(super) fn logic(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> Parsed<Inst> {
        let ty = m.ty_in(&[Pred, B16, B32, B64])?;
        m.done()?;
        self.binary(op, ty, ty, FpMods::default())
    }

    pub(super) fn not(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        self.same(m, UnaryOp::Not, &[Pred, B16, B32, B64])
    }

    /// A one-operand instruction whose result has the type of its operand.
    pub(super) fn same(&mut self, m: &mut Modifiers<'s>, op: UnaryOp, types: &[Type]) -> Parsed<Inst> {
        let ty = m.ty_in(types)?;
        m.done()?;
        self.unary(op, ty, ty, FpMods::default())
    }

    pub(super) fn shift(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> Parsed<Inst> {
        let ty = m.ty()?;
        let fine = BITS.contains(&ty) || (op == BinaryOp::Shr && is_int(ty));
        if !fine {
            return Err(m.refuse());
        }
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        Ok(Inst::Binary { op, ty, mods: FpMods::default(), dst, a, b: self.comma_src(U32)? })
    }

    pub(super) fn mul24(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, S32])?;
        let op = match self.product_half(m, ty)? {
            Half::Lo => BinaryOp::Mul24Lo,
            Half::Hi => BinaryOp::Mul24Hi,
            Half::Wide(_) => return Err(m.refuse()),
        };
        m.done()?;
        self.binary(op, ty, ty, FpMods::default())
    }

    pub(super) fn mad24(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, S32])?;
        let op = match self.product_half(m, ty)? {
            Half::Lo => TernaryOp::Mad24Lo,
            Half::Hi => TernaryOp::Mad24Hi,
            Half::Wide(_) => return Err(m.refuse()),
        };
        let sat = op == TernaryOp::Mad24Hi && ty == S32 && m.has("sat");
        m.done()?;
        self.ternary_inst(op, [ty; 4], ty, FpMods { sat, ..FpMods::default() })
    }

    pub(super) fn sad(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(INTS)?;
        m.done()?;
        self.ternary_inst(TernaryOp::Sad, [ty; 4], ty, FpMods::default())
    }

    /// `popc` and `clz`, which count into a u32.
    pub(super) fn count(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> Parsed<Inst> {
        let ty = m.ty_in(&[B32, B64])?;
        m.done()?;
        self.unary(op, ty, U32, FpMods::default())
    }

    pub(super) fn bfind(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let shiftamt = m.has("shiftamt");
        let ty = m.ty_in(&[U32, U64, S32, S64])?;
        m.done()?;
        self.unary(UnaryOp::Bfind { shiftamt }, ty, U32, FpMods::default())
    }

    pub(super) fn bfe(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, U64, S32, S64])?;
        m.done()?;
        self.ternary_inst(TernaryOp::Bfe, [ty, ty, U32, U32], ty, FpMods::default())
    }

    pub(super) fn bfi(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[B32, B64])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        let pos = self.comma_src(U32)?;
        Ok(Inst::Bfi { ty, dst, a, b, pos, len: self.comma_src(U32)? })
    }

    /// `bmsk` and `szext`.
    pub(super) fn clamp_wrap(&mut self, m: &mut Modifiers<'s>, ops: [BinaryOp; 2], types: &[Type]) -> Parsed<Inst> {
        let op = match (m.has("clamp"), m.has("wrap")) {
            (true, false) => ops[0],
            (false, true) => ops[1],
            _ => return Err(m.refuse()),
        };
        let ty = m.ty_in(types)?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        Ok(Inst::Binary { op, ty, mods: FpMods::default(), dst, a, b: self.comma_src(U32)? })
    }

    pub(super) fn dot_product(&mut self, m: &mut Modifiers<'s>, two: bool) -> Parsed<Inst> {
        let hi = match (two, m.has("lo"), m.has("hi")) {
            (false, false, false) | (true, true, false) => false,
            (true, false, true) => true,
            _ => return Err(m.refuse()),
        };
        let aty = m.ty_in(&[U32, S32])?;
        let bty = m.ty_in(&[U32, S32])?;
        m.done()?;
        let (a_signed, b_signed) = (aty == S32, bty == S32);
        let op = if two { TernaryOp::Dp2a { a_signed, b_signed, hi } } else { TernaryOp::Dp4a { a_signed, b_signed } };
        let ty = if a_signed || b_signed { S32 } else { U32 };
        self.ternary_inst(op, [ty, B32, B32, ty], ty, FpMods::default())
    }

    pub(super) fn find_nth_set(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.words() != ["b32"] {
            return Err(m.refuse());
        }
        self.ternary_inst(TernaryOp::Fns, [B32, B32, U32, S32], B32, FpMods::default())
    }

    /// The forms that CUDA's headers use; signed, saturating and masked ones stay text.
    pub(super) fn abs_diff4(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let sum = match m.words() {
            ["u32", "u32", "u32"] => false,
            ["u32", "u32", "u32", "add"] => true,
            _ => return self.other(m),
        };
        self.ternary_inst(TernaryOp::AbsDiff4 { sum }, [U32, U32, U32, U32], U32, FpMods::default())
    }

    pub(super) fn lop3(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.words() != ["b32"] {
            // `lop3.or.b32 d|p, ...`
            return if matches!(m.words(), ["and" | "or" | "xor", "b32"]) { self.other(m) } else { Err(m.refuse()) };
        }
        let dst = self.dst_comma(B32)?;
        let a = self.src(B32)?;
        let b = self.comma_src(B32)?;
        let c = self.comma_src(B32)?;
        self.comma()?;
        let token = self.token();
        let table = self.integer()?;
        let Ok(table) = u8::try_from(table) else {
            return Err(self.semantic(token, format!("{table} is not a table of `lop3`")));
        };
        Ok(Inst::Ternary { op: TernaryOp::Lop3(table), ty: B32, mods: FpMods::default(), dst, a, b, c })
    }

    pub(super) fn funnel(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let op = match m.words() {
            ["l", "clamp", "b32"] => TernaryOp::ShfLClamp,
            ["l", "wrap", "b32"] => TernaryOp::ShfLWrap,
            ["r", "clamp", "b32"] => TernaryOp::ShfRClamp,
            ["r", "wrap", "b32"] => TernaryOp::ShfRWrap,
            _ => return Err(m.refuse()),
        };
        self.ternary_inst(op, [B32, B32, B32, U32], B32, FpMods::default())
    }

    pub(super) fn prmt(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[B32])?;
        let mode = m.pick(prmt_of).unwrap_or(PrmtMode::Index);
        m.done()?;
        self.ternary_inst(TernaryOp::Prmt(mode), [B32; 4], ty, FpMods::default())
    }

    pub(super) fn testp(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let op = m.need("a test", |word| {
            Some(match word {
                "finite" => UnaryOp::TestFinite,
                "infinite" => UnaryOp::TestInfinite,
                "number" => UnaryOp::TestNumber,
                "notanumber" => UnaryOp::TestNotANumber,
                "normal" => UnaryOp::TestNormal,
                "subnormal" => UnaryOp::TestSubnormal,
                _ => return None,
            })
        })?;
        let ty = m.ty_in(&[F32, F64])?;
        m.done()?;
        self.unary(op, ty, Pred, FpMods::default())
    }

    pub(super) fn copysign(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[F32, F64])?;
        m.done()?;
        self.binary(BinaryOp::CopySign, ty, ty, FpMods::default())
    }

    pub(super) fn rcp_sqrt(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> Parsed<Inst> {
        let ty = m.ty_in(&[F32, F64])?;
        let approx = m.has("approx");
        let rnd = if approx { &[] } else { ALL_RND };
        let mut mods = m.floats(Floats { rnd, need_rnd: !approx, ftz: ty == F32 || approx, sat: false })?;
        // `rcp.approx.ftz.f64` is the only approximate form at f64.
        if ty == F64 && approx && (op != UnaryOp::Rcp || !mods.ftz) {
            return Err(m.refuse());
        }
        mods.approx = approx;
        m.done()?;
        self.unary(op, ty, ty, mods)
    }

    pub(super) fn rsqrt(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[F32, F64])?;
        if !m.has("approx") {
            return Err(m.refuse());
        }
        let ftz = m.has("ftz");
        m.done()?;
        self.unary(UnaryOp::Rsqrt, ty, ty, FpMods { approx: true, ftz, ..FpMods::default() })
    }

    /// `sin`, `cos`, `lg2`, `ex2`, `tanh`.
    pub(super) fn approx(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> Parsed<Inst> {
        let ty = m.ty()?;
        if !m.has("approx") {
            return Err(m.refuse());
        }
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        if ty != F32 && !(half && matches!(op, UnaryOp::Ex2 | UnaryOp::Tanh)) {
            return Err(m.refuse());
        }
        let ftz = op != UnaryOp::Tanh && m.has("ftz");
        // `ex2` of bf16 always flushes and says so; of f16 it never does.
        if op == UnaryOp::Ex2 && half && ftz != matches!(ty, BF16 | BF16x2) {
            return Err(m.refuse());
        }
        m.done()?;
        self.unary(op, ty, ty, FpMods { approx: true, ftz, ..FpMods::default() })
    }
}

/// The part of a product that `mul` and `mad` keep; the wide form has its own result type.
enum Half {
    Lo,
    Hi,
    Wide(Type),
}
