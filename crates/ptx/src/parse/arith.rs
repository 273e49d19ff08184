//! Arithmetic, bit and floating-point instructions.

use super::inst::Modifiers;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{prmt_mode_from_keyword, type_from_keyword};
use Type::*;

const INTEGER_TYPES: &[Type] = &[U16, U32, U64, S16, S32, S64];
const BIT_TYPES: &[Type] = &[B16, B32, B64];

fn is_int(ty: Type) -> bool {
    INTEGER_TYPES.contains(&ty)
}

/// The floating-point modifiers an instruction admits at one type.
#[derive(Clone, Copy)]
struct AllowedFloatModifiers {
    /// Admitted roundings.
    rnd: &'static [Rounding],
    /// Whether one must be written.
    need_rnd: bool,
    ftz: bool,
    sat: bool,
}

const ALL_ROUNDINGS: &[Rounding] = &[Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp];
const ONLY_RN: &[Rounding] = &[Rounding::Rn];

/// What `add`, `sub`, `parse_mul`, `parse_fma` admit for floats.
fn allowed_float_modifiers(ty: Type, need_rnd: bool) -> Option<AllowedFloatModifiers> {
    Some(match ty {
        F32 => AllowedFloatModifiers { rnd: ALL_ROUNDINGS, need_rnd, ftz: true, sat: true },
        F64 => AllowedFloatModifiers { rnd: ALL_ROUNDINGS, need_rnd, ftz: false, sat: false },
        F16 | F16x2 => AllowedFloatModifiers { rnd: ONLY_RN, need_rnd, ftz: true, sat: true },
        BF16 | BF16x2 => AllowedFloatModifiers { rnd: ONLY_RN, need_rnd, ftz: false, sat: false },
        _ => return None,
    })
}

impl Modifiers<'_> {
    fn take_float_modifiers(&mut self, admit: AllowedFloatModifiers) -> ParseRuleResult<FpMods> {
        let rnd = self.take_rounding();
        if (rnd == Rounding::Default && admit.need_rnd) || (rnd != Rounding::Default && !admit.rnd.contains(&rnd)) {
            return Err(self.invalid_combination());
        }
        let ftz = admit.ftz && self.take_modifier("ftz");
        let sat = admit.sat && self.take_modifier("sat");
        Ok(FpMods { rnd, ftz, sat, ..FpMods::default() })
    }

    /// Whether a type or modifier belongs to an extension that is read but not understood.
    fn is_unsupported_extension(&self) -> bool {
        let types = self.all_words().iter().filter(|word| type_from_keyword(word).is_some()).count();
        self.has_modifier("f32x2") || (types == 2 && self.has_modifier("f32"))
    }
}

impl<'s> Parser<'s> {
    fn parse_unary_operands(&mut self, op: UnaryOp, ty: Type, dty: Type, mods: FpMods) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_comma(dty)?;
        Ok(Inst::Unary { op, ty, mods, dst, a: self.parse_src(ty)? })
    }

    fn parse_binary_operands(&mut self, op: BinaryOp, ty: Type, dty: Type, mods: FpMods) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_comma(dty)?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Binary { op, ty, mods, dst, a, b: self.parse_comma_src(ty)? })
    }

    fn parse_ternary_operands(
        &mut self,
        op: TernaryOp,
        types: [Type; 4],
        ty: Type,
        mods: FpMods,
    ) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_comma(types[0])?;
        let a = self.parse_src(types[1])?;
        let b = self.parse_comma_src(types[2])?;
        Ok(Inst::Ternary { op, ty, mods, dst, a, b, c: self.parse_comma_src(types[3])? })
    }

    pub(super) fn parse_add_sub(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> ParseRuleResult<Inst> {
        if m.has_modifier("cc") {
            return self.parse_carry_inst(m, if op == BinaryOp::Add { CarryOp::Add } else { CarryOp::Sub }, false);
        }
        if m.is_unsupported_extension() {
            return self.parse_unsupported(m);
        }
        let ty = m.take_type()?;
        let mods = match ty {
            S32 => FpMods { sat: m.take_modifier("sat"), ..FpMods::default() },
            U16x2 | S16x2 if op == BinaryOp::Add => FpMods::default(),
            _ if is_int(ty) => FpMods::default(),
            _ => match allowed_float_modifiers(ty, false) {
                Some(admit) => m.take_float_modifiers(admit)?,
                None => return Err(m.invalid_combination()),
            },
        };
        m.check_all_taken()?;
        self.parse_binary_operands(op, ty, ty, mods)
    }

    pub(super) fn parse_carry_inst(
        &mut self,
        m: &mut Modifiers<'s>,
        op: CarryOp,
        cc_in: bool,
    ) -> ParseRuleResult<Inst> {
        let cc_out = m.take_modifier("cc");
        let ty = m.take_type_in(&[U32, S32, U64, S64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Carry { op, ty, cc_in, cc_out, dst, a, b: self.parse_comma_src(ty)?, c: None })
    }

    pub(super) fn parse_mad_carry(&mut self, m: &mut Modifiers<'s>, cc_in: bool) -> ParseRuleResult<Inst> {
        let op = match (m.take_modifier("lo"), m.take_modifier("hi")) {
            (true, false) => CarryOp::MadLo,
            (false, true) => CarryOp::MadHi,
            _ => return Err(m.invalid_combination()),
        };
        let cc_out = m.take_modifier("cc");
        let ty = m.take_type_in(&[U32, S32, U64, S64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        Ok(Inst::Carry { op, ty, cc_in, cc_out, dst, a, b, c: Some(self.parse_comma_src(ty)?) })
    }

    pub(super) fn parse_mul(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.is_unsupported_extension() {
            return self.parse_unsupported(m);
        }
        let ty = m.take_type()?;
        if !is_int(ty) {
            let Some(admit) = allowed_float_modifiers(ty, false) else { return Err(m.invalid_combination()) };
            let mods = m.take_float_modifiers(admit)?;
            m.check_all_taken()?;
            return self.parse_binary_operands(BinaryOp::Mul, ty, ty, mods);
        }
        let (op, dty) = match self.parse_product_half(m, ty)? {
            ProductHalf::Lo => (BinaryOp::Mul, ty),
            ProductHalf::Hi => (BinaryOp::MulHi, ty),
            ProductHalf::Wide(dty) => (BinaryOp::MulWide, dty),
        };
        m.check_all_taken()?;
        self.parse_binary_operands(op, ty, dty, FpMods::default())
    }

    fn parse_product_half(&self, m: &mut Modifiers<'s>, ty: Type) -> ParseRuleResult<ProductHalf> {
        match (m.take_modifier("lo"), m.take_modifier("hi"), m.take_modifier("wide")) {
            (true, false, false) => Ok(ProductHalf::Lo),
            (false, true, false) => Ok(ProductHalf::Hi),
            (false, false, true) => match ty {
                U16 => Ok(ProductHalf::Wide(U32)),
                S16 => Ok(ProductHalf::Wide(S32)),
                U32 => Ok(ProductHalf::Wide(U64)),
                S32 => Ok(ProductHalf::Wide(S64)),
                _ => Err(m.invalid_combination()),
            },
            _ => Err(m.invalid_combination()),
        }
    }

    pub(super) fn parse_mad(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.has_modifier("cc") {
            return self.parse_mad_carry(m, false);
        }
        let ty = m.take_type()?;
        if matches!(ty, F32 | F64) {
            // Before sm_20 `mad.f32` had no rounding and another result; it is not known here.
            let Some(admit) = allowed_float_modifiers(ty, true) else { return Err(m.invalid_combination()) };
            let mods = m.take_float_modifiers(admit)?;
            m.check_all_taken()?;
            return self.parse_ternary_operands(TernaryOp::Fma, [ty; 4], ty, mods);
        }
        if !is_int(ty) {
            return Err(m.invalid_combination());
        }
        let (op, wide) = match self.parse_product_half(m, ty)? {
            ProductHalf::Lo => (TernaryOp::MadLo, ty),
            ProductHalf::Hi => (TernaryOp::MadHi, ty),
            ProductHalf::Wide(dty) => (TernaryOp::MadWide, dty),
        };
        let sat = op == TernaryOp::MadHi && ty == S32 && m.take_modifier("sat");
        m.check_all_taken()?;
        self.parse_ternary_operands(op, [wide, ty, ty, wide], ty, FpMods { sat, ..FpMods::default() })
    }

    pub(super) fn parse_fma(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.is_unsupported_extension() || m.has_modifier("oob") {
            return self.parse_unsupported(m);
        }
        let ty = m.take_type()?;
        let Some(admit) = allowed_float_modifiers(ty, true) else { return Err(m.invalid_combination()) };
        let mut mods = m.take_float_modifiers(admit)?;
        mods.relu = matches!(ty, F16 | F16x2 | BF16 | BF16x2) && !mods.sat && m.take_modifier("relu");
        m.check_all_taken()?;
        self.parse_ternary_operands(TernaryOp::Fma, [ty; 4], ty, mods)
    }

    pub(super) fn parse_int_binary(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(INTEGER_TYPES)?;
        m.check_all_taken()?;
        self.parse_binary_operands(op, ty, ty, FpMods::default())
    }

    pub(super) fn parse_div(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type()?;
        let mut mods = FpMods::default();
        match ty {
            F32 => {
                mods.approx = m.take_modifier("approx");
                mods.full = !mods.approx && m.take_modifier("full");
                let need_rnd = !mods.approx && !mods.full;
                let rnd = if need_rnd { ALL_ROUNDINGS } else { &[] };
                let floats = m.take_float_modifiers(AllowedFloatModifiers { rnd, need_rnd, ftz: true, sat: false })?;
                mods = FpMods { approx: mods.approx, full: mods.full, ..floats };
            }
            F64 => {
                mods = m.take_float_modifiers(AllowedFloatModifiers {
                    rnd: ALL_ROUNDINGS,
                    need_rnd: true,
                    ftz: false,
                    sat: false,
                })?
            }
            _ if is_int(ty) => {}
            _ => return Err(m.invalid_combination()),
        }
        m.check_all_taken()?;
        self.parse_binary_operands(BinaryOp::Div, ty, ty, mods)
    }

    pub(super) fn parse_min_max(
        &mut self,
        m: &mut Modifiers<'s>,
        op: BinaryOp,
        three: TernaryOp,
    ) -> ParseRuleResult<Inst> {
        let ty = m.take_type()?;
        let mut mods = FpMods::default();
        match ty {
            F32 | F16 | F16x2 | BF16 | BF16x2 => {
                mods.ftz = !matches!(ty, BF16 | BF16x2) && m.take_modifier("ftz");
                mods.nan = m.take_modifier("NaN");
                if m.take_modifier("xorsign") {
                    mods.xorsign_abs = m.take_modifier("abs");
                    if !mods.xorsign_abs {
                        return Err(m.invalid_combination());
                    }
                }
                if ty == F32 && m.has_modifier("abs") && !mods.xorsign_abs {
                    return self.parse_unsupported(m);
                }
            }
            S32 | S16x2 => mods.relu = m.take_modifier("relu"),
            F64 | U16x2 => {}
            _ if is_int(ty) => {}
            _ => return Err(m.invalid_combination()),
        }
        m.check_all_taken()?;
        let inst = self.parse_binary_operands(op, ty, ty, mods)?;
        let Inst::Binary { dst, a, b, .. } = inst else { return Ok(inst) };
        if ty == F32 && self.is_punct(b',') && !mods.xorsign_abs {
            return Ok(Inst::Ternary { op: three, ty, mods, dst, a, b, c: self.parse_comma_src(ty)? });
        }
        Ok(Inst::Binary { op, ty, mods, dst, a, b })
    }

    pub(super) fn parse_abs_neg(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[S16, S32, S64, F32, F64, F16, F16x2, BF16, BF16x2])?;
        let ftz = matches!(ty, F32 | F16 | F16x2) && m.take_modifier("ftz");
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, ty, FpMods { ftz, ..FpMods::default() })
    }

    pub(super) fn parse_logic(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[Pred, B16, B32, B64])?;
        m.check_all_taken()?;
        self.parse_binary_operands(op, ty, ty, FpMods::default())
    }

    pub(super) fn parse_not(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        self.parse_same_type_unary(m, UnaryOp::Not, &[Pred, B16, B32, B64])
    }

    /// A one-operand instruction whose result has the type of its operand.
    pub(super) fn parse_same_type_unary(
        &mut self,
        m: &mut Modifiers<'s>,
        op: UnaryOp,
        types: &[Type],
    ) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(types)?;
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, ty, FpMods::default())
    }

    pub(super) fn parse_shift(&mut self, m: &mut Modifiers<'s>, op: BinaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type()?;
        let fine = BIT_TYPES.contains(&ty) || (op == BinaryOp::Shr && is_int(ty));
        if !fine {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Binary { op, ty, mods: FpMods::default(), dst, a, b: self.parse_comma_src(U32)? })
    }

    pub(super) fn parse_mul24(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, S32])?;
        let op = match self.parse_product_half(m, ty)? {
            ProductHalf::Lo => BinaryOp::Mul24Lo,
            ProductHalf::Hi => BinaryOp::Mul24Hi,
            ProductHalf::Wide(_) => return Err(m.invalid_combination()),
        };
        m.check_all_taken()?;
        self.parse_binary_operands(op, ty, ty, FpMods::default())
    }

    pub(super) fn parse_mad24(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, S32])?;
        let op = match self.parse_product_half(m, ty)? {
            ProductHalf::Lo => TernaryOp::Mad24Lo,
            ProductHalf::Hi => TernaryOp::Mad24Hi,
            ProductHalf::Wide(_) => return Err(m.invalid_combination()),
        };
        let sat = op == TernaryOp::Mad24Hi && ty == S32 && m.take_modifier("sat");
        m.check_all_taken()?;
        self.parse_ternary_operands(op, [ty; 4], ty, FpMods { sat, ..FpMods::default() })
    }

    pub(super) fn parse_sad(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(INTEGER_TYPES)?;
        m.check_all_taken()?;
        self.parse_ternary_operands(TernaryOp::Sad, [ty; 4], ty, FpMods::default())
    }

    /// `popc` and `clz`, which count into a u32.
    pub(super) fn parse_bit_count(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[B32, B64])?;
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, U32, FpMods::default())
    }

    pub(super) fn parse_bfind(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let shiftamt = m.take_modifier("shiftamt");
        let ty = m.take_type_in(&[U32, U64, S32, S64])?;
        m.check_all_taken()?;
        self.parse_unary_operands(UnaryOp::Bfind { shiftamt }, ty, U32, FpMods::default())
    }

    pub(super) fn parse_bfe(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, U64, S32, S64])?;
        m.check_all_taken()?;
        self.parse_ternary_operands(TernaryOp::Bfe, [ty, ty, U32, U32], ty, FpMods::default())
    }

    pub(super) fn parse_bfi(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[B32, B64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        let b = self.parse_comma_src(ty)?;
        let pos = self.parse_comma_src(U32)?;
        Ok(Inst::Bfi { ty, dst, a, b, pos, len: self.parse_comma_src(U32)? })
    }

    /// `bmsk` and `szext`.
    pub(super) fn parse_bmsk_szext(
        &mut self,
        m: &mut Modifiers<'s>,
        ops: [BinaryOp; 2],
        types: &[Type],
    ) -> ParseRuleResult<Inst> {
        let op = match (m.take_modifier("clamp"), m.take_modifier("wrap")) {
            (true, false) => ops[0],
            (false, true) => ops[1],
            _ => return Err(m.invalid_combination()),
        };
        let ty = m.take_type_in(types)?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Binary { op, ty, mods: FpMods::default(), dst, a, b: self.parse_comma_src(U32)? })
    }

    pub(super) fn parse_dot_product(&mut self, m: &mut Modifiers<'s>, two: bool) -> ParseRuleResult<Inst> {
        let hi = match (two, m.take_modifier("lo"), m.take_modifier("hi")) {
            (false, false, false) | (true, true, false) => false,
            (true, false, true) => true,
            _ => return Err(m.invalid_combination()),
        };
        let aty = m.take_type_in(&[U32, S32])?;
        let bty = m.take_type_in(&[U32, S32])?;
        m.check_all_taken()?;
        let (a_signed, b_signed) = (aty == S32, bty == S32);
        let op = if two { TernaryOp::Dp2a { a_signed, b_signed, hi } } else { TernaryOp::Dp4a { a_signed, b_signed } };
        let ty = if a_signed || b_signed { S32 } else { U32 };
        self.parse_ternary_operands(op, [ty, B32, B32, ty], ty, FpMods::default())
    }

    pub(super) fn parse_fns(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.all_words() != ["b32"] {
            return Err(m.invalid_combination());
        }
        self.parse_ternary_operands(TernaryOp::Fns, [B32, B32, U32, S32], B32, FpMods::default())
    }

    /// The forms that CUDA's headers use; signed, saturating and masked ones stay text.
    pub(super) fn parse_vabsdiff4(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let sum = match m.all_words() {
            ["u32", "u32", "u32"] => false,
            ["u32", "u32", "u32", "add"] => true,
            _ => return self.parse_unsupported(m),
        };
        self.parse_ternary_operands(TernaryOp::AbsDiff4 { sum }, [U32, U32, U32, U32], U32, FpMods::default())
    }

    pub(super) fn parse_lop3(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        match m.all_words() {
            ["b32"] => {}
            ["or", "b32"] => return self.parse_lop3_with_predicate(BoolOp::Or),
            ["and", "b32"] => return self.parse_lop3_with_predicate(BoolOp::And),
            _ => return Err(m.invalid_combination()),
        }
        let dst = self.parse_dst_comma(B32)?;
        self.parse_lop3_operands(dst)
    }

    /// `a, b, c, table`
    pub(super) fn parse_lop3_operands(&mut self, dst: Reg) -> ParseRuleResult<Inst> {
        let a = self.parse_src(B32)?;
        let b = self.parse_comma_src(B32)?;
        let c = self.parse_comma_src(B32)?;
        self.expect_comma()?;
        let token = self.current_token();
        let table = self.parse_integer()?;
        let Ok(table) = u8::try_from(table) else {
            return Err(self.semantic_error(token, format!("{table} is not a table of `lop3`")));
        };
        Ok(Inst::Ternary { op: TernaryOp::Lop3(table), ty: B32, mods: FpMods::default(), dst, a, b, c })
    }

    /// `clmad.{lo,hi}.{u64,s64}`
    pub(super) fn parse_clmad(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let op = match m.all_words() {
            ["lo", "u64" | "s64"] => TernaryOp::ClmadLo,
            ["hi", "u64" | "s64"] => TernaryOp::ClmadHi,
            _ => return Err(m.invalid_combination()),
        };
        self.parse_ternary_operands(op, [U64; 4], U64, FpMods::default())
    }

    pub(super) fn parse_funnel_shift(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let op = match m.all_words() {
            ["l", "clamp", "b32"] => TernaryOp::ShfLClamp,
            ["l", "wrap", "b32"] => TernaryOp::ShfLWrap,
            ["r", "clamp", "b32"] => TernaryOp::ShfRClamp,
            ["r", "wrap", "b32"] => TernaryOp::ShfRWrap,
            _ => return Err(m.invalid_combination()),
        };
        self.parse_ternary_operands(op, [B32, B32, B32, U32], B32, FpMods::default())
    }

    pub(super) fn parse_prmt(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[B32])?;
        let mode = m.take_first_matching(prmt_mode_from_keyword).unwrap_or(PrmtMode::Index);
        m.check_all_taken()?;
        self.parse_ternary_operands(TernaryOp::Prmt(mode), [B32; 4], ty, FpMods::default())
    }

    pub(super) fn parse_testp(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let op = m.take_required_modifier("a test", |word| {
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
        let ty = m.take_type_in(&[F32, F64])?;
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, Pred, FpMods::default())
    }

    pub(super) fn parse_copysign(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[F32, F64])?;
        m.check_all_taken()?;
        self.parse_binary_operands(BinaryOp::CopySign, ty, ty, FpMods::default())
    }

    pub(super) fn parse_rcp_sqrt(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[F32, F64])?;
        let approx = m.take_modifier("approx");
        let rnd = if approx { &[] } else { ALL_ROUNDINGS };
        let mut mods = m.take_float_modifiers(AllowedFloatModifiers {
            rnd,
            need_rnd: !approx,
            ftz: ty == F32 || approx,
            sat: false,
        })?;
        // `rcp.approx.ftz.f64` is the only approximate form at f64.
        if ty == F64 && approx && (op != UnaryOp::Rcp || !mods.ftz) {
            return Err(m.invalid_combination());
        }
        mods.approx = approx;
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, ty, mods)
    }

    pub(super) fn parse_rsqrt(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[F32, F64])?;
        if !m.take_modifier("approx") {
            return Err(m.invalid_combination());
        }
        let ftz = m.take_modifier("ftz");
        m.check_all_taken()?;
        self.parse_unary_operands(UnaryOp::Rsqrt, ty, ty, FpMods { approx: true, ftz, ..FpMods::default() })
    }

    /// `sin`, `cos`, `lg2`, `ex2`, `tanh`.
    pub(super) fn parse_approx_unary(&mut self, m: &mut Modifiers<'s>, op: UnaryOp) -> ParseRuleResult<Inst> {
        let ty = m.take_type()?;
        if !m.take_modifier("approx") {
            return Err(m.invalid_combination());
        }
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        if ty != F32 && !(half && matches!(op, UnaryOp::Ex2 | UnaryOp::Tanh)) {
            return Err(m.invalid_combination());
        }
        let ftz = op != UnaryOp::Tanh && m.take_modifier("ftz");
        // `ex2` of bf16 always flushes and says so; of f16 it never does.
        if op == UnaryOp::Ex2 && half && ftz != matches!(ty, BF16 | BF16x2) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        self.parse_unary_operands(op, ty, ty, FpMods { approx: true, ftz, ..FpMods::default() })
    }
}

/// The part of a product that `parse_mul` and `parse_mad` keep; the wide form has its own result type.
enum ProductHalf {
    Lo,
    Hi,
    Wide(Type),
}
