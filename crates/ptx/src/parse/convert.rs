//! Moves, conversions, comparisons and selections.

use super::inst::Modifiers;
use super::operand::{ExtraOperands, WidthRule};
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{bool_op_from_keyword, cmp_op_from_keyword, rounding_from_keyword, space_from_keyword};
use Type::*;

const SCALAR_TYPES: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];

/// Whether every value of the second integer type is one of the first.
fn int_type_contains(outer: Type, inner: Type) -> bool {
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
    pub(super) fn parse_mov(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type()?;
        if !SCALAR_TYPES.contains(&ty) && !matches!(ty, Pred | B128) {
            return Err(m.invalid_combination());
        }
        let n = m.take_first_matching(|word| ["v2", "v4"].iter().position(|&v| v == word).map(|i| 2 << i));
        m.check_all_taken()?;
        if let Some(n) = n {
            let fits = ty != Pred && ty.bits() as usize * n <= 128;
            return if fits { self.parse_mov_vector(ty, n) } else { Err(m.invalid_combination()) };
        }
        if self.is_at_vector() {
            return self.parse_mov_unpack(m, ty);
        }
        let dst = self.parse_dst_comma(ty)?;
        if self.is_at_vector() {
            let n = self.count_vector_elements();
            let part = self.vector_element_type(m, ty, n)?;
            return Ok(Inst::MovPack { ty, dst, srcs: self.parse_vector_src(part, n, WidthRule::Exact)? });
        }
        self.parse_mov_source(ty, dst)
    }

    fn is_at_vector(&self) -> bool {
        self.is_punct(b'{') || self.whole_vector_width().is_some()
    }

    fn parse_mov_unpack(&mut self, m: &Modifiers<'s>, ty: Type) -> ParseRuleResult<Inst> {
        let n = self.count_vector_elements();
        let part = self.vector_element_type(m, ty, n)?;
        let dsts = self.parse_vector_dst(part, n, WidthRule::Exact)?;
        Ok(Inst::MovUnpack { ty, dsts, src: self.parse_comma_src(ty)? })
    }

    /// Elements of the vector that begins here.
    fn count_vector_elements(&self) -> usize {
        if let Some(width) = self.whole_vector_width() {
            return width;
        }
        let commas = (0..9).map(|i| self.peek_kind(i)).take_while(|kind| *kind != crate::lexer::TokenKind::Punct(b'}'));
        1 + commas.filter(|kind| *kind == crate::lexer::TokenKind::Punct(b',')).count()
    }

    /// The type of one of `n` parts of `ty`.
    fn vector_element_type(&self, m: &Modifiers<'s>, ty: Type, n: usize) -> ParseRuleResult<Type> {
        if !matches!(ty, B16 | B32 | B64 | B128) {
            return Err(m.invalid_combination());
        }
        match (ty.bits(), n) {
            (16, 2) | (32, 4) => Ok(B8),
            (32, 2) | (64, 4) => Ok(B16),
            (64, 2) | (128, 4) => Ok(B32),
            (128, 2) => Ok(B64),
            _ => Err(m.invalid_combination()),
        }
    }

    pub(super) fn parse_selp(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(SCALAR_TYPES)?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        self.expect_comma()?;
        if self.eat_punct(b'!') {
            return Ok(Inst::Selp { ty, dst, a: b, b: a, pred: self.parse_src(Pred)? });
        }
        Ok(Inst::Selp { ty, dst, a, b, pred: self.parse_src(Pred)? })
    }

    pub(super) fn parse_slct(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(SCALAR_TYPES)?;
        let cty = m.take_type_in(&[S32, F32])?;
        let ftz = cty == F32 && m.take_modifier("ftz");
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        Ok(Inst::Slct { ty, cty, ftz, dst, a, b, c: self.parse_comma_src(cty)? })
    }

    /// Comparison, its type, `.ftz` and the combining operator of `parse_setp` and `parse_set`.
    fn parse_comparison(
        &mut self,
        m: &mut Modifiers<'s>,
        dty: Option<&mut Type>,
    ) -> ParseRuleResult<(CmpOp, Type, bool, Option<BoolOp>)> {
        let cmp = m.take_required_modifier("a comparison", cmp_op_from_keyword)?;
        if let Some(dty) = dty {
            *dty = m.take_type()?;
        }
        let ty = m.take_type()?;
        let combine = m.take_first_matching(bool_op_from_keyword);
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        use CmpOp::*;
        let fine = match cmp {
            Eq | Ne => half || SCALAR_TYPES.contains(&ty),
            Lt | Le | Gt | Ge => half || (SCALAR_TYPES.contains(&ty) && !matches!(ty, B16 | B32 | B64)),
            Lo | Ls | Hi | Hs => matches!(ty, U16 | U32 | U64),
            Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan => half || matches!(ty, F32 | F64),
        };
        if !fine {
            return Err(m.invalid_combination());
        }
        let ftz = matches!(ty, F32 | F16 | F16x2) && m.take_modifier("ftz");
        m.check_all_taken()?;
        Ok((cmp, ty, ftz, combine))
    }

    fn parse_combine_operand(&mut self, combine: Option<BoolOp>) -> ParseRuleResult<Option<(BoolOp, PredSrc)>> {
        let Some(op) = combine else { return Ok(None) };
        self.expect_comma()?;
        Ok(Some((op, self.parse_pred_src()?)))
    }

    pub(super) fn parse_setp(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let (cmp, ty, ftz, combine) = self.parse_comparison(m, None)?;
        let dst = self.parse_dst_or_sink(Pred, WidthRule::Exact)?;
        let mut dst2 = None;
        if self.eat_punct(b'|') {
            // Comparisons of single halves have one result only.
            if matches!(ty, F16 | BF16) {
                return Err(m.invalid_combination());
            }
            dst2 = self.parse_dst_or_sink(Pred, WidthRule::Exact)?;
        }
        self.expect_comma()?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        Ok(Inst::Setp { cmp, ty, ftz, combine: self.parse_combine_operand(combine)?, dst, dst2, a, b })
    }

    pub(super) fn parse_set(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let mut dty = Pred;
        let (cmp, ty, ftz, combine) = self.parse_comparison(m, Some(&mut dty))?;
        let fine = match ty {
            F16 => matches!(dty, F16 | U16 | S16 | U32 | S32),
            BF16 => matches!(dty, BF16 | U16 | S16 | U32 | S32),
            F16x2 => matches!(dty, F16x2 | U32 | S32),
            BF16x2 => matches!(dty, BF16x2 | U32 | S32),
            _ => matches!(dty, U32 | S32 | F32) || (matches!(dty, F16 | BF16) && SCALAR_TYPES.contains(&ty)),
        };
        if !fine || (ftz && dty == BF16) {
            return Err(m.invalid_combination());
        }
        let dst = self.parse_dst_comma(dty)?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        Ok(Inst::Set { cmp, dty, ty, ftz, combine: self.parse_combine_operand(combine)?, dst, a, b })
    }

    pub(super) fn parse_cvt(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        const UNSUPPORTED_MODIFIERS: &[&str] =
            &["rs", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e4m3x4", "e5m2x4"];
        let fp8 = |word: &&str| matches!(*word, "e4m3x2" | "e5m2x2");
        if m.has_modifier("pack") {
            return self.parse_cvt_int_pack(m);
        }
        if m.all_words().iter().any(|word| UNSUPPORTED_MODIFIERS.contains(word)) {
            return self.parse_unsupported(m);
        }
        let dty = m.take_type()?;
        let sty = m.take_type()?;
        if m.all_words().iter().any(fp8) {
            return self.parse_cvt_fp8(m, dty, sty);
        }
        if dty == TF32 {
            return self.parse_cvt_tf32(m, sty);
        }
        if matches!(dty, F16x2 | BF16x2) && sty == F32 {
            let mods = self.take_narrowing_modifiers(m, &[Rounding::Rn, Rounding::Rz])?;
            m.check_all_taken()?;
            return self.parse_cvt_pack(dty, sty, mods, dty);
        }
        let mods = self.take_cvt_modifiers(m, dty, sty)?;
        m.check_all_taken()?;
        // From bf16 a byte goes to a register of that size only.
        let byte_of_bf16 = dty.bits() == 8 && sty == BF16;
        let dst = self.parse_reg_of_type(dty, if byte_of_bf16 { WidthRule::Exact } else { WidthRule::AtLeast })?;
        self.expect_comma()?;
        Ok(Inst::Cvt {
            dty,
            sty,
            mods,
            dst,
            a: self.parse_src_with_rules(sty, WidthRule::AtLeast, ExtraOperands::Special)?,
        })
    }

    fn take_narrowing_modifiers(&self, m: &mut Modifiers<'s>, roundings: &[Rounding]) -> ParseRuleResult<FpMods> {
        let rnd = m.take_required_modifier("a rounding", rounding_from_keyword)?;
        if !roundings.contains(&rnd) {
            return Err(m.invalid_combination());
        }
        Ok(FpMods { rnd, relu: m.take_modifier("relu"), satfinite: m.take_modifier("satfinite"), ..FpMods::default() })
    }

    fn parse_cvt_pack(&mut self, dty: Type, sty: Type, mods: FpMods, reg: Type) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_comma(reg)?;
        let a = self.parse_src(sty)?;
        Ok(Inst::CvtPack { dty, sty, mods, dst, a, b: self.parse_comma_src(sty)? })
    }

    /// To and from pairs of 8-bit floats. `.satfinite` is required towards them, so it is implied.
    fn parse_cvt_fp8(&mut self, m: &mut Modifiers<'s>, dty: Type, sty: Type) -> ParseRuleResult<Inst> {
        let fp8 = |ty| matches!(ty, E4M3x2 | E5M2x2);
        let mods = self.take_narrowing_modifiers(m, &[Rounding::Rn])?;
        let fine = match (dty, sty) {
            (F16x2, sty) => fp8(sty),
            (dty, F32 | F16x2) => fp8(dty) && mods.satfinite,
            _ => false,
        };
        if !fine || (dty == F16x2 && mods.satfinite) {
            return Err(m.invalid_combination());
        }
        // It is implied, and so not kept.
        let mods = FpMods { satfinite: false, ..mods };
        m.check_all_taken()?;
        if sty == F32 {
            return self.parse_cvt_pack(dty, sty, mods, B16);
        }
        let bits = |ty: Type| if ty.bits() == 16 { B16 } else { B32 };
        let dst = self.parse_dst_comma(bits(dty))?;
        Ok(Inst::Cvt { dty, sty, mods, dst, a: self.parse_src(bits(sty))? })
    }

    /// `cvt.pack.sat.{u,s}{16,8,4,2}.s32{.b32}`
    fn parse_cvt_int_pack(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("pack");
        let sized = |word: &str| {
            let signed = word.starts_with('s');
            let bits = word.strip_prefix(if signed { 's' } else { 'u' })?;
            Some((["16", "8", "4", "2"].iter().position(|&b| b == bits).map(|i| 16u8 >> i)?, signed))
        };
        if !m.take_modifier("sat") {
            return Err(m.invalid_combination());
        }
        let (bits, signed) = m.take_required_modifier("a type", sized)?;
        m.take_type_in(&[S32])?;
        if bits != 16 {
            m.take_type_in(&[B32])?;
        }
        m.check_all_taken_unordered()?;
        let dst = self.parse_dst_comma(B32)?;
        let a = self.parse_src(S32)?;
        let b = self.parse_comma_src(S32)?;
        let c = if bits == 16 { Operand::Int(0) } else { self.parse_comma_src(B32)? };
        Ok(Inst::CvtIntPack { bits, signed, dst, a, b, c })
    }

    fn parse_cvt_tf32(&mut self, m: &mut Modifiers<'s>, sty: Type) -> ParseRuleResult<Inst> {
        let mods = self.take_narrowing_modifiers(m, &[Rounding::Rna, Rounding::Rn, Rounding::Rz])?;
        if sty != F32 || (mods.rnd == Rounding::Rna && mods.relu) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(B32)?;
        Ok(Inst::Cvt { dty: TF32, sty, mods, dst, a: self.parse_src(F32)? })
    }

    /// Rounding and flags of a scalar `parse_cvt`.
    fn take_cvt_modifiers(&self, m: &mut Modifiers<'s>, dty: Type, sty: Type) -> ParseRuleResult<FpMods> {
        const CVT_TYPES: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64];
        let byte = matches!(dty, U8 | S8) || matches!(sty, U8 | S8);
        if !CVT_TYPES.contains(&dty) || !CVT_TYPES.contains(&sty) || (byte && dty == BF16) {
            return Err(m.invalid_combination());
        }
        use Rounding::*;
        let rnd = m.take_rounding();
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
        mods.ftz = (dty == F32 || sty == F32) && m.take_modifier("ftz");
        let may_sat = dty != BF16 && sty != BF16 && (is_float(dty) || is_float(sty) || !int_type_contains(dty, sty));
        mods.sat = may_sat && m.take_modifier("sat");
        mods.relu = matches!(dty, F16 | BF16)
            && sty == F32
            && !mods.ftz
            && !mods.sat
            && matches!(rnd, Rn | Rz)
            && m.take_modifier("relu");
        mods.satfinite = matches!(dty, F16 | BF16)
            && sty == F32
            && !mods.ftz
            && !mods.sat
            && matches!(rnd, Rn | Rz)
            && m.take_modifier("satfinite");
        if fine { Ok(mods) } else { Err(m.invalid_combination()) }
    }

    pub(super) fn parse_cvta(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let to = m.take_modifier("to");
        let space = m.take_required_modifier("a state space", space_from_keyword)?;
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        Ok(Inst::Cvta {
            space,
            to,
            ty,
            dst,
            src: self.parse_src_with_rules(ty, WidthRule::Exact, ExtraOperands::Address)?,
        })
    }

    pub(super) fn parse_isspacep(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let space = m.take_required_modifier("a state space", space_from_keyword)?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(Pred)?;
        let ty = if self.current_reg_bits() == Some(32) { U32 } else { U64 };
        Ok(Inst::Isspacep { space, dst, a: self.parse_src(ty)? })
    }

    /// Size of the register that stands here.
    pub(super) fn current_reg_bits(&self) -> Option<u32> {
        match self.body.find_in_function(self.current_text()) {
            Some(super::scope::SymbolKind::Reg(reg) | super::scope::SymbolKind::Vector(reg, _)) => {
                Some(self.body.reg_type(reg).bits())
            }
            _ => None,
        }
    }
}
