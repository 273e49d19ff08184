//! Moves, conversions, comparisons and selections.

use super::inst::Modifiers;
use super::operand::{ExtraOperands, WidthRule};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::names::{bool_of, cmp_of, rounding_of, space_of};
use Type::*;

const SCALARS: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];

/// Whether every value of the second integer type is one of the first.
fn contains(outer: Type, inner: Type) -> bool {
    match (outer.is_signed(), inner.is_signed()) {
        (true, true) | (false, false) => outer.bits() >= inner.bits(),
        (true, false) => outer.bits() > inner.bits(),
        (false, true) => false,
    }
}

fn is_float(ty: Type) -> bool {
    ty.is_float()
}

impl<'s> Parser<'s> {
    pub(super) fn mov(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty()?;
        if !SCALARS.contains(&ty) && !matches!(ty, Pred | B128) {
            return Err(m.refuse());
        }
        m.done()?;
        if self.is(b'{') {
            return self.unpack(m, ty);
        }
        let dst = self.dst_comma(ty)?;
        if self.is(b'{') {
            let n = self.count_elements();
            let part = self.part_of(m, ty, n)?;
            return Ok(Inst::MovPack { ty, dst, srcs: self.vector_src(part, n, WidthRule::Exact)? });
        }
        Ok(Inst::Mov { ty, dst, src: self.source(ty, WidthRule::Exact, ExtraOperands::AddressOrSpecial)? })
    }

    fn unpack(&mut self, m: &Modifiers<'s>, ty: Type) -> Parsed<Inst> {
        let n = self.count_elements();
        let part = self.part_of(m, ty, n)?;
        let dsts = self.vector_dst(part, n, WidthRule::Exact)?;
        Ok(Inst::MovUnpack { ty, dsts, src: self.comma_src(ty)? })
    }

    /// Elements of the vector that begins here.
    fn count_elements(&self) -> usize {
        let commas = (0..9).map(|i| self.kind_at(i)).take_while(|kind| *kind != crate::lexer::Kind::Punct(b'}'));
        1 + commas.filter(|kind| *kind == crate::lexer::Kind::Punct(b',')).count()
    }

    /// The type of one of `n` parts of `ty`.
    fn part_of(&self, m: &Modifiers<'s>, ty: Type, n: usize) -> Parsed<Type> {
        if !matches!(ty, B16 | B32 | B64 | B128) {
            return Err(m.refuse());
        }
        match (ty.bits(), n) {
            (16, 2) | (32, 4) => Ok(B8),
            (32, 2) | (64, 4) => Ok(B16),
            (64, 2) | (128, 4) => Ok(B32),
            (128, 2) => Ok(B64),
            _ => Err(m.refuse()),
        }
    }

    pub(super) fn selp(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(SCALARS)?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        self.comma()?;
        if self.eat(b'!') {
            return Ok(Inst::Selp { ty, dst, a: b, b: a, pred: self.src(Pred)? });
        }
        Ok(Inst::Selp { ty, dst, a, b, pred: self.src(Pred)? })
    }

    pub(super) fn slct(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(SCALARS)?;
        let cty = m.ty_in(&[S32, F32])?;
        let ftz = cty == F32 && m.has("ftz");
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        Ok(Inst::Slct { ty, cty, ftz, dst, a, b, c: self.comma_src(cty)? })
    }

    /// Comparison, its type, `.ftz` and the combining operator of `setp` and `set`.
    fn comparison(
        &mut self,
        m: &mut Modifiers<'s>,
        dty: Option<&mut Type>,
    ) -> Parsed<(CmpOp, Type, bool, Option<BoolOp>)> {
        let cmp = m.need("a comparison", cmp_of)?;
        if let Some(dty) = dty {
            *dty = m.ty()?;
        }
        let ty = m.ty()?;
        let combine = m.pick(bool_of);
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        use CmpOp::*;
        let fine = match cmp {
            Eq | Ne => half || SCALARS.contains(&ty),
            Lt | Le | Gt | Ge => half || (SCALARS.contains(&ty) && !matches!(ty, B16 | B32 | B64)),
            Lo | Ls | Hi | Hs => matches!(ty, U16 | U32 | U64),
            Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan => half || matches!(ty, F32 | F64),
        };
        if !fine {
            return Err(m.refuse());
        }
        let ftz = matches!(ty, F32 | F16 | F16x2) && m.has("ftz");
        m.done()?;
        Ok((cmp, ty, ftz, combine))
    }

    fn combined(&mut self, combine: Option<BoolOp>) -> Parsed<Option<(BoolOp, PredSrc)>> {
        let Some(op) = combine else { return Ok(None) };
        self.comma()?;
        Ok(Some((op, self.pred_src()?)))
    }

    pub(super) fn setp(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let (cmp, ty, ftz, combine) = self.comparison(m, None)?;
        let dst = self.dst_or_sink(Pred, WidthRule::Exact)?;
        let mut dst2 = None;
        if self.eat(b'|') {
            // Comparisons of single halves have one result only.
            if matches!(ty, F16 | BF16) {
                return Err(m.refuse());
            }
            dst2 = self.dst_or_sink(Pred, WidthRule::Exact)?;
        }
        self.comma()?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        Ok(Inst::Setp { cmp, ty, ftz, combine: self.combined(combine)?, dst, dst2, a, b })
    }

    pub(super) fn set(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let mut dty = Pred;
        let (cmp, ty, ftz, combine) = self.comparison(m, Some(&mut dty))?;
        let fine = match ty {
            F16 => matches!(dty, F16 | U16 | S16 | U32 | S32),
            BF16 => matches!(dty, BF16 | U16 | S16 | U32 | S32),
            F16x2 => matches!(dty, F16x2 | U32 | S32),
            BF16x2 => matches!(dty, BF16x2 | U32 | S32),
            _ => matches!(dty, U32 | S32 | F32) || (matches!(dty, F16 | BF16) && SCALARS.contains(&ty)),
        };
        if !fine || (ftz && dty == BF16) {
            return Err(m.refuse());
        }
        let dst = self.dst_comma(dty)?;
        let a = self.src(ty)?;
        let b = self.comma_src(ty)?;
        Ok(Inst::Set { cmp, dty, ty, ftz, combine: self.combined(combine)?, dst, a, b })
    }

    pub(super) fn cvt(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        const OTHER: &[&str] = &["rs", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e4m3x4", "e5m2x4"];
        let fp8 = |word: &&str| matches!(*word, "e4m3x2" | "e5m2x2");
        if m.contains("pack") {
            return self.cvt_int_pack(m);
        }
        if m.words().iter().any(|word| OTHER.contains(word)) {
            return self.other(m);
        }
        let dty = m.ty()?;
        let sty = m.ty()?;
        if m.words().iter().any(fp8) {
            return self.cvt_fp8(m, dty, sty);
        }
        if dty == TF32 {
            return self.cvt_tf32(m, sty);
        }
        if matches!(dty, F16x2 | BF16x2) && sty == F32 {
            let mods = self.narrowing_mods(m, &[Rounding::Rn, Rounding::Rz])?;
            m.done()?;
            return self.cvt_pack(dty, sty, mods, dty);
        }
        let mods = self.cvt_mods(m, dty, sty)?;
        m.done()?;
        let dst = self.reg_of(dty, WidthRule::AtLeast)?;
        self.comma()?;
        Ok(Inst::Cvt { dty, sty, mods, dst, a: self.source(sty, WidthRule::AtLeast, ExtraOperands::Special)? })
    }

    fn narrowing_mods(&self, m: &mut Modifiers<'s>, roundings: &[Rounding]) -> Parsed<FpMods> {
        let rnd = m.need("a rounding", rounding_of)?;
        if !roundings.contains(&rnd) {
            return Err(m.refuse());
        }
        Ok(FpMods { rnd, relu: m.has("relu"), satfinite: m.has("satfinite"), ..FpMods::default() })
    }

    fn cvt_pack(&mut self, dty: Type, sty: Type, mods: FpMods, reg: Type) -> Parsed<Inst> {
        let dst = self.dst_comma(reg)?;
        let a = self.src(sty)?;
        Ok(Inst::CvtPack { dty, sty, mods, dst, a, b: self.comma_src(sty)? })
    }

    /// To and from pairs of 8-bit floats. `.satfinite` is required towards them, so it is implied.
    fn cvt_fp8(&mut self, m: &mut Modifiers<'s>, dty: Type, sty: Type) -> Parsed<Inst> {
        let fp8 = |ty| matches!(ty, E4M3x2 | E5M2x2);
        let mods = self.narrowing_mods(m, &[Rounding::Rn])?;
        let fine = match (dty, sty) {
            (F16x2, sty) => fp8(sty),
            (dty, F32 | F16x2) => fp8(dty) && mods.satfinite,
            _ => false,
        };
        if !fine || (dty == F16x2 && mods.satfinite) {
            return Err(m.refuse());
        }
        // It is implied, and so not kept.
        let mods = FpMods { satfinite: false, ..mods };
        m.done()?;
        if sty == F32 {
            return self.cvt_pack(dty, sty, mods, B16);
        }
        let bits = |ty: Type| if ty.bits() == 16 { B16 } else { B32 };
        let dst = self.dst_comma(bits(dty))?;
        Ok(Inst::Cvt { dty, sty, mods, dst, a: self.src(bits(sty))? })
    }

    /// `cvt.pack.sat.{u,s}{16,8,4,2}.s32{.b32}`
    fn cvt_int_pack(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        m.has("pack");
        let sized = |word: &str| {
            let signed = word.starts_with('s');
            let bits = word.strip_prefix(if signed { 's' } else { 'u' })?;
            Some((["16", "8", "4", "2"].iter().position(|&b| b == bits).map(|i| 16u8 >> i)?, signed))
        };
        if !m.has("sat") {
            return Err(m.refuse());
        }
        let (bits, signed) = m.need("a type", sized)?;
        m.ty_in(&[S32])?;
        if bits != 16 {
            m.ty_in(&[B32])?;
        }
        m.done_unordered()?;
        let dst = self.dst_comma(B32)?;
        let a = self.src(S32)?;
        let b = self.comma_src(S32)?;
        let c = if bits == 16 { Operand::Int(0) } else { self.comma_src(B32)? };
        Ok(Inst::CvtIntPack { bits, signed, dst, a, b, c })
    }

    fn cvt_tf32(&mut self, m: &mut Modifiers<'s>, sty: Type) -> Parsed<Inst> {
        let mods = self.narrowing_mods(m, &[Rounding::Rna, Rounding::Rn, Rounding::Rz])?;
        if sty != F32 || (mods.rnd == Rounding::Rna && mods.relu) {
            return Err(m.refuse());
        }
        m.done()?;
        let dst = self.dst_comma(B32)?;
        Ok(Inst::Cvt { dty: TF32, sty, mods, dst, a: self.src(F32)? })
    }

    /// Rounding and flags of a scalar `cvt`.
    fn cvt_mods(&self, m: &mut Modifiers<'s>, dty: Type, sty: Type) -> Parsed<FpMods> {
        const VALUES: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64];
        let byte = matches!(dty, U8 | S8) || matches!(sty, U8 | S8);
        if !VALUES.contains(&dty) || !VALUES.contains(&sty) || (byte && dty == BF16) {
            return Err(m.refuse());
        }
        use Rounding::*;
        let rnd = m.rounding();
        let integral = matches!(rnd, Rni | Rzi | Rmi | Rpi);
        let directed = matches!(rnd, Rn | Rz | Rm | Rp);
        let narrowing = is_float(sty) && (sty.bits() > dty.bits() || (dty != sty && dty.bits() == 16));
        let fine = match (is_float(dty), is_float(sty)) {
            (false, false) => rnd == Default,
            (false, true) => integral,
            (true, false) => directed,
            (true, true) if narrowing => directed,
            // Between equal sizes, rounding to an integral value may be asked for.
            (true, true) if dty == sty => rnd == Default || integral,
            (true, true) => rnd == Default || (directed && sty == BF16),
        };
        let mut mods = FpMods { rnd, ..FpMods::default() };
        mods.ftz = (dty == F32 || sty == F32) && m.has("ftz");
        let may_sat = dty != BF16 && sty != BF16 && (is_float(dty) || is_float(sty) || !contains(dty, sty));
        mods.sat = may_sat && m.has("sat");
        mods.relu = matches!(dty, F16 | BF16)
            && sty == F32
            && !mods.ftz
            && !mods.sat
            && matches!(rnd, Rn | Rz)
            && m.has("relu");
        mods.satfinite = matches!(dty, F16 | BF16)
            && sty == F32
            && !mods.ftz
            && !mods.sat
            && matches!(rnd, Rn | Rz)
            && m.has("satfinite");
        if fine { Ok(mods) } else { Err(m.refuse()) }
    }

    pub(super) fn cvta(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let to = m.has("to");
        let space = m.need("a state space", space_of)?;
        let ty = m.ty_in(&[U32, U64])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        Ok(Inst::Cvta { space, to, ty, dst, src: self.source(ty, WidthRule::Exact, ExtraOperands::Address)? })
    }

    pub(super) fn isspacep(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let space = m.need("a state space", space_of)?;
        m.done()?;
        let dst = self.dst_comma(Pred)?;
        let ty = if self.reg_bits_here() == Some(32) { U32 } else { U64 };
        Ok(Inst::Isspacep { space, dst, a: self.src(ty)? })
    }

    /// Size of the register that stands here.
    pub(super) fn reg_bits_here(&self) -> Option<u32> {
        match self.body.find(self.text()) {
            Some(super::scope::SymbolKind::Reg(reg)) => Some(self.body.reg_type(reg).bits()),
            _ => None,
        }
    }
}
