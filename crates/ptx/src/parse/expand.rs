//! Forms that stand for several instructions of the tree: negated predicates as operands, elements of arrays,
//! moves of vectors, a register plus a constant.
//!
//! Establishes: what a rule adds to [`Parser::expansion`] runs before its own instruction, under the same guard,
//! and writes nothing but registers of its own.

use super::operand::{ExtraOperands, WidthRule};
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::special_reg_from_name;
use crate::lexer::{Token, TokenKind};
use Type::*;

/// The element that `.x`, `.r` and their neighbours name.
fn vector_component_index(word: &str) -> Option<u32> {
    ["xr", "yg", "zb", "wa"].iter().position(|names| word.len() == 1 && names.contains(word)).map(|i| i as u32)
}

fn integer_type(bits: u32) -> Type {
    match bits {
        16 => U16,
        32 => U32,
        _ => U64,
    }
}

impl<'s> Parser<'s> {
    fn add_binary(&mut self, op: BinaryOp, ty: Type, dst: Reg, a: Operand, b: Operand) {
        self.expansion.push(Inst::Binary { op, ty, mods: FpMods::default(), dst, a, b });
    }

    /// The opposite of a predicate operand.
    pub(super) fn negated_predicate(&mut self, pred: Operand) -> ParseRuleResult<Operand> {
        if let Operand::Int(value) = pred {
            return Ok(Operand::Int((value == 0).into()));
        }
        let dst = self.new_temporary(Pred)?;
        self.expansion.push(Inst::Unary { op: UnaryOp::Not, ty: Pred, mods: FpMods::default(), dst, a: pred });
        Ok(Operand::Reg(dst))
    }

    /// The register that a vector's name and a component stand for, behind the name; without a component that of the
    /// element which [`Parser::parse_vector`] is at.
    pub(super) fn vector_component(&mut self, token: Token, first: Reg, width: u32) -> ParseRuleResult<Reg> {
        let component = self.peek_dot_word().and_then(vector_component_index);
        if component.is_some() {
            self.advance();
        }
        match component.or(self.vector_element) {
            Some(index) if index < width => Ok(Reg(first.0 + index)),
            _ => {
                let name = self.token_text(token);
                let names = &["x", "y", "z", "w"][..width as usize];
                let message =
                    format!("`{name}` is a vector of {width}; an operand is one of its `.{}`", names.join("`, `."));
                Err(self.semantic_error(token, message))
            }
        }
    }

    /// Elements of the vector register that stands here as a whole.
    pub(super) fn whole_vector_width(&self) -> Option<usize> {
        use super::scope::SymbolKind::Vector;
        if self.current_kind() != TokenKind::Ident || self.peek_kind(1) == TokenKind::Dot {
            return None;
        }
        match self.body.find_in_function(self.current_text()) {
            Some(Vector(_, width)) => Some(width as usize),
            _ => None,
        }
    }

    /// `[index]` behind the name of an array, where the index counts its scalar elements: the constant offset in
    /// bytes, and the register that is added to it. As ptxas has it, a register counts with 32 bits and without sign.
    fn parse_element_index(&mut self, token: Token, symbol: Symbol) -> ParseRuleResult<(i64, Option<Reg>)> {
        let var = match symbol {
            Symbol::Global(var) => &self.module.vars[var.index()],
            Symbol::Local(var) if self.body.function.vars[var.index()].space != Space::Param => {
                &self.body.function.vars[var.index()]
            }
            _ => return Err(self.semantic_error(token, format!("`{}` is not an array", self.token_text(token)))),
        };
        let bytes = i64::from(var.ty.bytes());
        self.expect_punct(b'[')?;
        if self.is_at_constant() {
            let index = self.parse_integer()?;
            self.expect_punct(b']')?;
            return Ok((index.wrapping_mul(bytes), None));
        }
        let at = self.current_token();
        let reg = self.parse_any_reg()?;
        let bits = self.body.reg_type(reg).bits();
        if !matches!(bits, 16 | 32 | 64) || self.body.reg_type(reg).is_float() {
            return Err(self.semantic_error(at, format!("register `{}` cannot be an index", self.token_text(at))));
        }
        let more = if self.eat_punct(b'+') { self.parse_integer()? } else { 0 };
        self.expect_punct(b']')?;
        let mut index = reg;
        if bits != 32 {
            index = self.new_temporary(U32)?;
            let (sty, mods) = (integer_type(bits), FpMods::default());
            self.expansion.push(Inst::Cvt { dty: U32, sty, mods, dst: index, a: Operand::Reg(reg) });
        }
        for (op, by) in [(BinaryOp::Add, i64::from(more as u32)), (BinaryOp::Mul, bytes)] {
            let dst = self.new_temporary(U32)?;
            self.add_binary(op, U32, dst, Operand::Reg(index), Operand::Int(by));
            index = dst;
        }
        Ok((0, Some(index)))
    }

    /// The address of `array[index]`, behind the array's name, as an operand of 32 or 64 bits.
    pub(super) fn parse_element_address(
        &mut self,
        token: Token,
        symbol: Symbol,
        bits: u32,
    ) -> ParseRuleResult<Operand> {
        let (offset, index) = self.parse_element_index(token, symbol)?;
        let Some(index) = index else { return Ok(Operand::Address(symbol, offset)) };
        let ty = integer_type(bits);
        let (start, sum) = (self.new_temporary(ty)?, self.new_temporary(ty)?);
        self.expansion.push(Inst::Mov { ty, dst: start, src: Operand::Address(symbol, 0) });
        let mut index = index;
        if bits == 64 {
            let wide = self.new_temporary(U64)?;
            let (mods, a) = (FpMods::default(), Operand::Reg(index));
            self.expansion.push(Inst::Cvt { dty: U64, sty: U32, mods, dst: wide, a });
            index = wide;
        }
        self.add_binary(BinaryOp::Add, ty, sum, Operand::Reg(start), Operand::Reg(index));
        Ok(Operand::Reg(sum))
    }

    /// `array[index]` in place of a memory operand in brackets, in `space`.
    pub(super) fn parse_element_operand(&mut self, space: Space) -> ParseRuleResult<(Addr, Space)> {
        let token = self.current_token();
        self.expect_ident("an address")?;
        let base = self.address_base_symbol(token, space)?;
        let AddrBase::Symbol(symbol) = base else {
            return Err(self.semantic_error(token, "an array is needed here"));
        };
        let addr = match self.parse_element_address(token, symbol, 64)? {
            Operand::Reg(reg) => Addr { base: AddrBase::Reg(reg), offset: 0 },
            Operand::Address(_, offset) => Addr { base, offset },
            _ => return Err(self.semantic_error(token, "an array is needed here")),
        };
        Ok((addr, self.access_space(space, base)))
    }

    /// `mov.v4.b32 {a, b, c, d}, {0, 0, x, y}`: all sources are read before the first element is written.
    pub(super) fn parse_mov_vector(&mut self, ty: Type, n: usize) -> ParseRuleResult<Inst> {
        let token = self.current_token();
        let dsts = self.parse_vector_dst(ty, n, WidthRule::Exact)?;
        self.expect_comma()?;
        let srcs = match self.whole_special_register(ty, n) {
            Some(srcs) => srcs,
            None => self.parse_vector_src(ty, n, WidthRule::Exact)?,
        };
        let mut moves: Vec<(Reg, Operand)> =
            dsts.iter().zip(srcs).filter_map(|(dst, src)| Some(((*dst)?, src))).collect();
        let read_later = |i: usize| moves[i + 1..].iter().any(|(_, src)| *src == Operand::Reg(moves[i].0));
        if (0..moves.len()).any(read_later) {
            for (_, src) in &mut moves {
                let dst = self.new_temporary(ty)?;
                self.expansion.push(Inst::Mov { ty, dst, src: *src });
                *src = Operand::Reg(dst);
            }
        }
        let last = moves.pop().ok_or_else(|| self.semantic_error(token, "a move without a destination"))?;
        self.expansion.extend(moves.into_iter().map(|(dst, src)| Inst::Mov { ty, dst, src }));
        Ok(Inst::Mov { ty, dst: last.0, src: last.1 })
    }

    /// `%tid` without a component.
    fn whole_special_register(&mut self, ty: Type, n: usize) -> Option<Vec<Operand>> {
        let name = self.current_text();
        let whole = self.peek_kind(1) != TokenKind::Dot && self.body.find_in_function(name).is_none();
        if !whole || n != 4 || ty != U32 {
            return None;
        }
        let component = |dim: &str| special_reg_from_name(name, Some(dim)).map(Operand::Special);
        let all: Option<Vec<Operand>> = ["x", "y", "z", "w"].into_iter().map(component).collect();
        if all.is_some() {
            self.advance();
        }
        all
    }

    /// `+ constant` behind a register that is moved.
    pub(super) fn parse_mov_source(&mut self, ty: Type, dst: Reg) -> ParseRuleResult<Inst> {
        let src = self.parse_src_with_rules(ty, WidthRule::Exact, ExtraOperands::AddressOrSpecial)?;
        let integer = !ty.is_float() && matches!(ty.bits(), 16 | 32 | 64);
        if !(integer && matches!(src, Operand::Reg(_)) && self.eat_punct(b'+')) {
            return Ok(Inst::Mov { ty, dst, src });
        }
        let (token, ty) = (self.current_token(), integer_type(ty.bits()));
        let value = self.parse_constant()?;
        let b = self.immediate_operand(token, ty, value)?;
        Ok(Inst::Binary { op: BinaryOp::Add, ty, mods: FpMods::default(), dst, a: src, b })
    }

    /// `lop3.or.b32 d|p, a, b, c, table, q`: `p` is whether `d` is not zero, combined with `q`.
    pub(super) fn parse_lop3_with_predicate(&mut self, op: BoolOp) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_or_sink(B32, WidthRule::Exact)?;
        let dst = dst.map_or_else(|| self.new_temporary(B32), Ok)?;
        self.expect_punct(b'|')?;
        let pred = self.parse_dst_comma(Pred)?;
        let lop3 = self.parse_lop3_operands(dst)?;
        self.expansion.push(lop3);
        self.expect_comma()?;
        let combine = Some((op, self.parse_pred_src()?));
        let (a, b) = (Operand::Reg(dst), Operand::Int(0));
        Ok(Inst::Setp { cmp: CmpOp::Ne, ty: B32, ftz: false, combine, dst: Some(pred), dst2: None, a, b })
    }
}
