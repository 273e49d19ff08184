//! Operands: registers checked against the type an instruction needs, immediates converted to it,
//! addresses, vectors.

use super::expr::Constant;
use super::scope::SymbolKind;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::keywords::{special_reg_from_name, special_reg_type, type_name};
use crate::lexer::{Token, TokenKind};

/// How a register's type must agree with an instruction's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WidthRule {
    /// The same size, and not integer against float.
    Exact,
    /// At least the size (`ld`, `st`, `cvt`).
    AtLeast,
}

/// What may stand for a source operand besides registers and constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExtraOperands {
    RegisterOrConstant,
    /// A symbol's address (`cvta`).
    Address,
    /// A special register (`cvt`).
    Special,
    /// Both (`mov`).
    AddressOrSpecial,
}

fn is_f32_or_f64(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64)
}

fn is_integer(ty: Type) -> bool {
    use Type::*;
    matches!(ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

fn register_type_fits(inst: Type, reg: Type, fit: WidthRule) -> bool {
    if inst == Type::Pred || reg == Type::Pred {
        return inst == reg;
    }
    if fit == WidthRule::AtLeast {
        return reg.bits() >= inst.bits() && !(is_f32_or_f64(inst) && is_integer(reg));
    }
    reg.bits() == inst.bits() && !(is_f32_or_f64(inst) && is_integer(reg)) && !(is_integer(inst) && is_f32_or_f64(reg))
}

impl<'s> Parser<'s> {
    pub(super) fn expect_comma(&mut self) -> ParseRuleResult<()> {
        self.expect_punct(b',')
    }

    fn undeclared_error(&self, token: Token, what: &str) -> Box<Diagnostic> {
        let name = self.token_text(token);
        match self.body.find_in_function(name).is_some() || self.globals.contains_key(name) {
            true => self.semantic_error(token, format!("`{name}` is not {what}")),
            false => self.semantic_error(token, format!("`{name}` is not declared")),
        }
    }

    /// Any register.
    pub(super) fn parse_any_reg(&mut self) -> ParseRuleResult<Reg> {
        let token = self.current_token();
        let name = self.expect_ident("a register")?;
        match self.body.find_in_function(name) {
            Some(SymbolKind::Reg(reg)) => Ok(reg),
            Some(SymbolKind::Vector(first, width)) => self.vector_component(token, first, width),
            _ => Err(self.undeclared_error(token, "a register")),
        }
    }

    /// A register for a value of type `ty`.
    pub(super) fn parse_reg_of_type(&mut self, ty: Type, fit: WidthRule) -> ParseRuleResult<Reg> {
        let token = self.current_token();
        let reg = self.parse_any_reg()?;
        self.check_reg(token, reg, ty, fit)?;
        Ok(reg)
    }

    fn check_reg(&self, token: Token, reg: Reg, ty: Type, fit: WidthRule) -> ParseRuleResult<()> {
        let have = self.body.reg_type(reg);
        if register_type_fits(ty, have, fit) {
            return Ok(());
        }
        let name = self.token_text(token);
        let message =
            format!("register `{name}` has type `.{}`, which does not fit `.{}` here", type_name(have), type_name(ty));
        Err(self.semantic_error(token, message))
    }

    /// A destination register.
    pub(super) fn parse_dst_reg(&mut self, ty: Type) -> ParseRuleResult<Reg> {
        self.parse_reg_of_type(ty, WidthRule::Exact)
    }

    /// A destination register and the comma after it.
    pub(super) fn parse_dst_comma(&mut self, ty: Type) -> ParseRuleResult<Reg> {
        let reg = self.parse_dst_reg(ty)?;
        self.expect_comma()?;
        Ok(reg)
    }

    fn is_sink(&self) -> bool {
        self.current_kind() == TokenKind::Ident && self.current_text() == "_"
    }

    /// A destination register or `_`.
    pub(super) fn parse_dst_or_sink(&mut self, ty: Type, fit: WidthRule) -> ParseRuleResult<Option<Reg>> {
        if self.is_sink() {
            self.advance();
            return Ok(None);
        }
        Ok(Some(self.parse_reg_of_type(ty, fit)?))
    }

    /// A source operand.
    pub(super) fn parse_src(&mut self, ty: Type) -> ParseRuleResult<Operand> {
        self.parse_src_with_rules(ty, WidthRule::Exact, ExtraOperands::RegisterOrConstant)
    }

    /// A comma and a source operand.
    pub(super) fn parse_comma_src(&mut self, ty: Type) -> ParseRuleResult<Operand> {
        self.expect_comma()?;
        self.parse_src(ty)
    }

    /// A source operand.
    pub(super) fn parse_src_with_rules(
        &mut self,
        ty: Type,
        fit: WidthRule,
        also: ExtraOperands,
    ) -> ParseRuleResult<Operand> {
        let token = self.current_token();
        if ty == Type::Pred && self.eat_punct(b'!') {
            let pred = self.parse_src(ty)?;
            return self.negated_predicate(pred);
        }
        if token.kind != TokenKind::Ident || self.current_text() == "WARP_SZ" {
            let value = self.parse_constant_operand()?;
            return self.immediate_operand(token, ty, value);
        }
        let name = self.current_text();
        match self.body.find_in_function(name) {
            Some(SymbolKind::Reg(reg)) => {
                self.advance();
                self.check_reg(token, reg, ty, fit)?;
                return Ok(Operand::Reg(reg));
            }
            Some(SymbolKind::Vector(first, width)) => {
                self.advance();
                let reg = self.vector_component(token, first, width)?;
                self.check_reg(token, reg, ty, fit)?;
                return Ok(Operand::Reg(reg));
            }
            None if name.starts_with('%') => return self.parse_special_register(ty, also),
            _ => {}
        }
        match self.find_symbol(name) {
            Some(symbol)
                if matches!(also, ExtraOperands::Address | ExtraOperands::AddressOrSpecial) && ty.bits() >= 32 =>
            {
                self.check_address_of(token, symbol)?;
                self.advance();
                if self.is_punct(b'[') {
                    return self.parse_element_address(token, symbol, ty.bits());
                }
                Ok(Operand::Address(symbol, self.parse_address_offset()?))
            }
            _ => Err(self.undeclared_error(token, "a register")),
        }
    }

    /// Refuses the address of what has none: the arguments that a function puts together, and its results.
    fn check_address_of(&self, token: Token, symbol: Symbol) -> ParseRuleResult<()> {
        let none = match symbol {
            Symbol::Local(var) => self.body.function.vars[var.index()].space == Space::Param,
            Symbol::Return(_) => true,
            _ => false,
        };
        if !none {
            return Ok(());
        }
        Err(self
            .semantic_error(token, format!("the address of parameter `{}` cannot be taken", self.token_text(token))))
    }

    fn parse_constant_operand(&mut self) -> ParseRuleResult<Constant> {
        if self.is_at_constant() { self.parse_constant() } else { Err(self.expected_error("an operand")) }
    }

    fn parse_special_register(&mut self, ty: Type, also: ExtraOperands) -> ParseRuleResult<Operand> {
        let token = self.current_token();
        let name = self.current_text();
        self.advance();
        let component = self.peek_dot_word();
        if component.is_some() {
            self.advance();
        }
        let Some(reg) = special_reg_from_name(name, component) else {
            return Err(match component {
                None => self.undeclared_error(token, "a register"),
                Some(dim) => self.semantic_error(token, format!("`{name}.{dim}` is not a register")),
            });
        };
        if matches!(also, ExtraOperands::RegisterOrConstant | ExtraOperands::Address) {
            return Err(
                self.semantic_error(token, format!("special register `{name}` can only be read by `mov` and `cvt`"))
            );
        }
        self.check_target_of_register(token.span(), name, reg)?;
        let have = special_reg_type(reg);
        // The three-dimensional ones were 16 bits wide in PTX 1 and may still be read so.
        if have.bits() == ty.bits() || (have == Type::U32 && ty.bits() == 16) {
            return Ok(Operand::Special(reg));
        }
        let message = format!("`{name}` has type `.{}`, which does not fit `.{}` here", type_name(have), type_name(ty));
        Err(self.semantic_error(token, message))
    }

    /// A constant as an operand of type `ty`.
    pub(super) fn immediate_operand(&self, token: Token, ty: Type, value: Constant) -> ParseRuleResult<Operand> {
        match (ty, value) {
            (Type::F32 | Type::B32, Constant::F32(bits)) => Ok(Operand::F32(bits)),
            (Type::F32, Constant::F64(bits)) => Ok(Operand::F32((f64::from_bits(bits) as f32).to_bits())),
            (Type::F64 | Type::B64, Constant::F64(bits)) => Ok(Operand::F64(bits)),
            (Type::F64, Constant::F32(bits)) => Ok(Operand::F64(f64::from(f32::from_bits(bits)).to_bits())),
            (Type::F32 | Type::F64, Constant::Int { .. }) => {
                Err(self.semantic_error(token, format!("`.{}` needs a floating-point constant", type_name(ty))))
            }
            (Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2, _) => {
                Err(self.semantic_error(token, format!("a constant cannot be an operand of type `.{}`", type_name(ty))))
            }
            (_, Constant::Int { value, .. }) => {
                let bits = if ty == Type::Pred { 32 } else { ty.bits() };
                if bits < 64 && !(-(1i64 << (bits - 1))..1i64 << bits).contains(&value) {
                    return Err(self.semantic_error(token, format!("{value} does not fit `.{}`", type_name(ty))));
                }
                Ok(Operand::Int(value))
            }
            _ => {
                Err(self.semantic_error(token, format!("a floating-point constant does not fit `.{}`", type_name(ty))))
            }
        }
    }

    /// A predicate source: `p`, `!p` or a constant.
    pub(super) fn parse_pred_src(&mut self) -> ParseRuleResult<PredSrc> {
        if matches!(self.current_kind(), TokenKind::Int) {
            return Ok(PredSrc::Const(self.parse_integer()? != 0));
        }
        let negated = self.eat_punct(b'!');
        if negated && self.current_kind() == TokenKind::Int {
            return Ok(PredSrc::Const(self.parse_integer()? == 0));
        }
        if self.current_kind() == TokenKind::Ident
            && self.current_text() == "%pt"
            && self.body.find_in_function("%pt").is_none()
        {
            self.advance();
            return Ok(PredSrc::Const(!negated));
        }
        Ok(PredSrc::Reg { reg: self.parse_reg_of_type(Type::Pred, WidthRule::Exact)?, negated })
    }

    /// A predicate that must be a register, possibly negated.
    pub(super) fn parse_pred_reg(&mut self) -> ParseRuleResult<(Reg, bool)> {
        let negated = self.eat_punct(b'!');
        Ok((self.parse_reg_of_type(Type::Pred, WidthRule::Exact)?, negated))
    }

    /// `+4`, `-4`, `+-4`, or nothing.
    pub(super) fn parse_address_offset(&mut self) -> ParseRuleResult<i64> {
        match self.current_kind() {
            TokenKind::Punct(b'+') => {
                self.advance();
                self.parse_integer()
            }
            TokenKind::Punct(b'-') => self.parse_integer(),
            _ => Ok(0),
        }
    }

    /// `[base + offset]` of a memory operand in `space`.
    pub(super) fn parse_addr(&mut self, space: Space) -> ParseRuleResult<Addr> {
        self.expect_punct(b'[')?;
        let token = self.current_token();
        let addr = if token.kind == TokenKind::Ident && !self.is_at_constant() {
            let name = self.current_text();
            self.advance();
            let base = match self.body.find_in_function(name) {
                Some(SymbolKind::Reg(reg)) => self.address_base_reg(token, reg)?,
                Some(SymbolKind::Vector(first, width)) => {
                    let reg = self.vector_component(token, first, width)?;
                    self.address_base_reg(token, reg)?
                }
                _ => self.address_base_symbol(token, space)?,
            };
            Addr { base, offset: self.parse_address_offset()? }
        } else if self.is_at_constant() {
            Addr { base: AddrBase::Absolute, offset: self.parse_integer()? }
        } else {
            return Err(self.expected_error("an address"));
        };
        self.expect_punct(b']')?;
        Ok(addr)
    }

    fn address_base_reg(&self, token: Token, reg: Reg) -> ParseRuleResult<AddrBase> {
        let have = self.body.reg_type(reg);
        if matches!(have.bits(), 32 | 64) && !have.is_float() {
            return Ok(AddrBase::Reg(reg));
        }
        let name = self.token_text(token);
        Err(self
            .semantic_error(token, format!("register `{name}` of type `.{}` cannot hold an address", type_name(have))))
    }

    /// A memory operand, and the space of the access: that of the variable that a generic one names. Where
    /// `elements` are allowed, it may be one of an array without brackets around it.
    pub(super) fn parse_access(&mut self, space: Space, elements: bool) -> ParseRuleResult<(Addr, Space)> {
        let is_name = self.current_kind() == TokenKind::Ident;
        if elements && is_name && self.peek_kind(1) == TokenKind::Punct(b'[') {
            return self.parse_element_operand(space);
        }
        let addr = self.parse_addr(space)?;
        Ok((addr, self.access_space(space, addr.base)))
    }

    pub(super) fn access_space(&self, space: Space, base: AddrBase) -> Space {
        let home = match base {
            AddrBase::Symbol(Symbol::Global(var)) => self.module.vars[var.index()].space,
            AddrBase::Symbol(Symbol::Local(var)) => self.body.function.vars[var.index()].space,
            _ => space,
        };
        // Constants are read by generic addresses, too, and never written.
        if space == Space::Generic && home != Space::Const { home } else { space }
    }

    pub(super) fn address_base_symbol(&self, token: Token, space: Space) -> ParseRuleResult<AddrBase> {
        let name = self.token_text(token);
        let Some(symbol) = self.find_symbol(name) else { return Err(self.undeclared_error(token, "an address")) };
        let home = match symbol {
            Symbol::Global(var) => self.module.vars[var.index()].space,
            Symbol::Local(var) => self.body.function.vars[var.index()].space,
            Symbol::Param(_) | Symbol::Return(_) => Space::Param,
            Symbol::Func(_) => return Err(self.semantic_error(token, format!("`{name}` is a function, not memory"))),
        };
        // Parameters have no generic address that stands in an instruction.
        if space != home && (space != Space::Generic || home == Space::Param) {
            let space = crate::keywords::space_name(space);
            return Err(self.semantic_error(token, format!("`{name}` is not in the `.{space}` state space")));
        }
        Ok(AddrBase::Symbol(symbol))
    }

    /// One register or `{a, _, b}` as destination.
    pub(super) fn parse_vector_dst(&mut self, ty: Type, n: usize, fit: WidthRule) -> ParseRuleResult<Vec<Option<Reg>>> {
        self.parse_vector(n, |parser| parser.parse_dst_or_sink(ty, fit))
    }

    /// One operand or `{a, b}` as source.
    pub(super) fn parse_vector_src(&mut self, ty: Type, n: usize, fit: WidthRule) -> ParseRuleResult<Vec<Operand>> {
        self.parse_vector(n, |parser| parser.parse_src_with_rules(ty, fit, ExtraOperands::RegisterOrConstant))
    }

    /// A vector register as `n` operands, of which each is read from the same name.
    fn parse_whole_vector<T>(
        &mut self,
        n: usize,
        width: usize,
        mut one: impl FnMut(&mut Self) -> ParseRuleResult<T>,
    ) -> ParseRuleResult<Vec<T>> {
        let (token, at) = (self.current_token(), self.at);
        if n != width {
            return Err(self.semantic_error(token, format!("a vector of {n} elements is needed here")));
        }
        let elements = (0..n as u32).map(|element| {
            self.at = at;
            self.vector_element = Some(element);
            let value = one(self);
            self.vector_element = None;
            value
        });
        elements.collect()
    }

    pub(super) fn parse_vector<T>(
        &mut self,
        n: usize,
        mut one: impl FnMut(&mut Self) -> ParseRuleResult<T>,
    ) -> ParseRuleResult<Vec<T>> {
        let token = self.current_token();
        if n == 1 && !self.is_punct(b'{') {
            return Ok(vec![one(self)?]);
        }
        if let Some(width) = self.whole_vector_width() {
            return self.parse_whole_vector(n, width, one);
        }
        self.expect_punct(b'{')?;
        let mut elements = vec![one(self)?];
        while elements.len() <= n && self.eat_punct(b',') {
            elements.push(one(self)?);
        }
        self.expect_punct(b'}')?;
        if elements.len() != n {
            return Err(self.semantic_error(token, format!("a vector of {n} elements is needed here")));
        }
        Ok(elements)
    }
}
