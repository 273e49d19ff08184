//! Declarations of variables with their initialisers, and of registers.

use super::expr::{Constant, parse_int};
use super::scope::SymbolKind;
use super::{GlobalSymbol, ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::DiagnosticKind;
use crate::keywords::{opaque_type_from_keyword, type_from_keyword};
use crate::lexer::{Token, TokenKind};

/// Bytes one variable may have.
const MAX_VARIABLE_BYTES: u64 = 1 << 40;
/// Bytes that one argument of a function may have, as those of its parameters.
const MAX_ARGUMENT_BYTES: u64 = super::module::MAX_PARAM_BYTES as u64;
/// Zeros that the initialisers of one module may imply between written values.
const MAX_PADDING_BYTES: u64 = 1 << 26;
/// Dimensions of an array, which is also how deep braces of an initialiser nest.
const MAX_ARRAY_DIMS: usize = 16;

/// What stands before the names of a declaration.
#[derive(Debug, Clone, Copy)]
struct DeclarationPrefix {
    space: Space,
    ty: Type,
    vector: u8,
    align: Option<u32>,
    managed: bool,
    opaque: Option<OpaqueType>,
    linkage: Linkage,
}

impl<'s> Parser<'s> {
    /// A dotted type.
    pub(super) fn parse_type(&mut self) -> ParseRuleResult<Type> {
        use Type::*;
        let Some(ty) = self.peek_dot_word().and_then(type_from_keyword) else {
            return Err(self.expected_error("a type"));
        };
        if matches!(ty, TF32 | E4M3 | E5M2 | E4M3x2 | E5M2x2 | U16x2 | S16x2) {
            return Err(self.expected_error("a type that registers or variables may have"));
        }
        self.advance();
        Ok(ty)
    }

    /// A type of variables in memory.
    pub(super) fn parse_memory_type(&mut self) -> ParseRuleResult<Type> {
        match self.peek_dot_word() {
            Some("pred") => Err(self.expected_error("a type that variables may have")),
            _ => self.parse_type(),
        }
    }

    /// `.align n`, if it stands here.
    pub(super) fn parse_align(&mut self) -> ParseRuleResult<Option<u32>> {
        if !self.eat_dot_word(".align") {
            return Ok(None);
        }
        let token = self.current_token();
        let align = self.parse_unsigned()?;
        if align.is_power_of_two() && align <= 1 << 16 {
            return Ok(Some(align));
        }
        Err(self.semantic_error(token, format!("{align} is not an alignment")))
    }

    /// `[4][5]`; the flag says that the first one was empty, and then it counts as 0.
    pub(super) fn parse_dimensions(&mut self) -> ParseRuleResult<(Vec<u64>, bool)> {
        let mut dims = Vec::new();
        let mut open = false;
        while self.eat_punct(b'[') {
            if dims.is_empty() && self.is_punct(b']') {
                open = true;
                dims.push(0);
            } else {
                let token = self.current_token();
                let count = self.parse_integer()?;
                if !(0..=MAX_VARIABLE_BYTES as i64).contains(&count) || dims.len() == MAX_ARRAY_DIMS {
                    return Err(self.semantic_error(token, "this array is too large"));
                }
                dims.push(count as u64);
            }
            self.expect_punct(b']')?;
        }
        let total = dims.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        if total.is_none_or(|n| n > MAX_VARIABLE_BYTES) {
            return Err(self.error_here(DiagnosticKind::Semantic, "this array is too large"));
        }
        Ok((dims, open))
    }

    /// The words of a variable declaration up to its first name.
    fn parse_declaration_prefix(&mut self, linkage: Linkage) -> ParseRuleResult<DeclarationPrefix> {
        let tex = self.peek_dot_word() == Some("tex");
        let space = match self.peek_dot_word() {
            Some("global" | "tex") => Space::Global,
            Some("const") => Space::Const,
            Some("shared") => Space::Shared,
            Some("local") => Space::Local,
            Some("param") => Space::Param,
            _ => return Err(self.unknown_directive()),
        };
        self.advance();
        let mut declared = DeclarationPrefix {
            space,
            ty: Type::B64,
            vector: 1,
            align: None,
            managed: false,
            opaque: tex.then_some(OpaqueType::Texture),
            linkage,
        };
        loop {
            match self.peek_dot_word() {
                Some("align") => declared.align = self.parse_align()?,
                Some("attribute") => declared.managed |= self.parse_attribute()?,
                Some("v2") => declared.vector = 2,
                Some("v4") => declared.vector = 4,
                Some(word @ ("texref" | "surfref" | "samplerref")) => {
                    declared.opaque = opaque_type_from_keyword(word);
                    self.advance();
                    return Ok(declared);
                }
                _ => {
                    declared.ty = self.parse_memory_type()?;
                    return Ok(declared);
                }
            }
            if matches!(self.peek_dot_word(), Some("v2" | "v4")) && declared.vector > 1 {
                self.advance();
            }
        }
    }

    /// One name of a declaration with its dimensions and initialiser.
    fn parse_var(&mut self, declared: &DeclarationPrefix) -> ParseRuleResult<(Token, Var)> {
        let first = self.at;
        let token = self.current_token();
        let name = self.expect_ident("the name of a variable")?;
        self.check_name(token)?;
        let (dims, open) = self.parse_dimensions()?;
        let element = u64::from(declared.ty.bytes()) * u64::from(declared.vector);
        let mut size = dims.iter().product::<u64>() * element;
        let mut init = Vec::new();
        if self.eat_punct(b'=') {
            if declared.opaque.is_some() {
                self.skip_braces()?;
            } else {
                let mut shape = dims.clone();
                if declared.vector > 1 {
                    shape.push(declared.vector.into());
                }
                let filled = self.parse_initialiser(declared.ty, &shape, open, &mut init)?;
                let row = dims.iter().skip(1).product::<u64>() * element;
                size = if open { filled.next_multiple_of(row.max(1)) } else { size };
                if filled > size {
                    return Err(self.semantic_error(token, format!("`{name}` has more initial values than elements")));
                }
            }
        }
        let align = declared.align.unwrap_or(element as u32);
        let var = Var {
            name: name.into(),
            space: declared.space,
            ty: declared.ty,
            vector: declared.vector,
            align,
            size,
            unsized_array: open && init.is_empty(),
            init,
            linkage: declared.linkage,
            managed: declared.managed,
            opaque: declared.opaque,
            span: self.span_from(first),
        };
        Ok((token, var))
    }

    /// Variables of module scope.
    pub(super) fn parse_global_vars(&mut self, _first: usize, linkage: Option<Linkage>) -> ParseRuleResult<()> {
        let declared = self.parse_declaration_prefix(linkage.unwrap_or(Linkage::Internal))?;
        loop {
            let (token, var) = self.parse_var(&declared)?;
            self.declare_var(token, var)?;
            if !self.eat_punct(b',') {
                return self.expect_punct(b';');
            }
        }
    }

    fn declare_var(&mut self, token: Token, var: Var) -> ParseRuleResult<()> {
        let name = self.token_text(token);
        let id = match self.globals.get(name) {
            None => {
                let id = GlobalVar(self.module.vars.len() as u32);
                self.globals.insert(name, GlobalSymbol::Var(id));
                self.module.vars.push(var);
                return Ok(());
            }
            Some(GlobalSymbol::Var(id)) => id.index(),
            Some(_) => return Err(self.semantic_error(token, format!("`{name}` is already a function"))),
        };
        let earlier = &mut self.module.vars[id];
        if earlier.space != var.space || earlier.ty.bits() != var.ty.bits() {
            return Err(self.semantic_error(token, format!("`{name}` was declared differently before")));
        }
        if earlier.linkage == Linkage::Extern {
            *earlier = var;
        } else if var.linkage != Linkage::Extern {
            return Err(self.semantic_error(token, format!("`{name}` is defined twice")));
        }
        Ok(())
    }

    /// Variables of function scope.
    pub(super) fn parse_local_vars(&mut self) -> ParseRuleResult<()> {
        let declared = self.parse_declaration_prefix(Linkage::Internal)?;
        loop {
            let (token, mut var) = self.parse_var(&declared)?;
            if var.space == Space::Param && !(1..=MAX_ARGUMENT_BYTES).contains(&var.size) {
                let message = format!("an argument has 1 to {MAX_ARGUMENT_BYTES} bytes, this one {}", var.size);
                return Err(self.semantic_error(token, message));
            }
            let id = LocalVar(self.body.function.vars.len() as u32);
            var.name = self.declare_name(token, SymbolKind::Var(id))?;
            self.body.function.vars.push(var);
            if !self.eat_punct(b',') {
                return self.expect_punct(b';');
            }
        }
    }

    /// `.reg .b32 %r<10>, %x;`
    pub(super) fn parse_registers(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let width = match self.peek_dot_word() {
            Some("v2") => 2,
            Some("v4") => 4,
            _ => 1,
        };
        if width > 1 {
            self.advance();
        }
        let token = self.current_token();
        let ty = self.parse_type()?;
        if width > 1 && (ty == Type::Pred || ty.bits() * width > 128) {
            return Err(self.semantic_error(token, "a vector has at most 128 bits, and no predicates"));
        }
        loop {
            let token = self.current_token();
            self.expect_ident("the name of a register")?;
            let count = if self.eat_punct(b'<') { Some(self.parse_register_count()?) } else { None };
            match (count, width) {
                (Some(count), 1) => self.declare_regs(token, count, ty)?,
                (None, 1) => _ = self.declare_reg(token, ty)?,
                _ => self.declare_vectors(token, count, width, ty)?,
            }
            if !self.eat_punct(b',') {
                return self.expect_punct(b';');
            }
        }
    }

    fn parse_register_count(&mut self) -> ParseRuleResult<u32> {
        let token = self.current_token();
        let count = match (token.kind, parse_int(self.current_text())) {
            (TokenKind::Int, Some(Constant::Int { value, .. })) => u32::try_from(value).ok(),
            _ => None,
        };
        let Some(count) = count else { return Err(self.expected_error("a number of registers")) };
        self.advance();
        self.expect_punct(b'>')?;
        Ok(count)
    }

    /// Reads an initialiser for elements of type `ty` in the given shape; gives the bytes it fills.
    fn parse_initialiser(
        &mut self,
        ty: Type,
        shape: &[u64],
        open: bool,
        out: &mut Vec<VarInit>,
    ) -> ParseRuleResult<u64> {
        let mut filled = 0;
        if shape.is_empty() && !self.is_punct(b'{') {
            self.parse_initialiser_value(ty, &mut filled, out)?;
            return Ok(filled);
        }
        self.parse_initialiser_list(ty, shape, open, &mut filled, out)?;
        Ok(filled)
    }

    /// A braced list for one array of the given shape.
    fn parse_initialiser_list(
        &mut self,
        ty: Type,
        shape: &[u64],
        open: bool,
        filled: &mut u64,
        out: &mut Vec<VarInit>,
    ) -> ParseRuleResult<()> {
        let token = self.current_token();
        self.expect_punct(b'{')?;
        let start = *filled;
        let inner = shape.get(1..).unwrap_or(&[]);
        let unit = inner.iter().product::<u64>() * u64::from(ty.bytes());
        while !self.is_punct(b'}') {
            if self.is_punct(b'{') {
                if inner.is_empty() {
                    return Err(self.expected_error("a value"));
                }
                self.pad_initialiser_to(token, (*filled - start).next_multiple_of(unit.max(1)) + start, filled, out)?;
                let end = *filled + unit;
                self.parse_initialiser_list(ty, inner, false, filled, out)?;
                self.pad_initialiser_to(token, end, filled, out)?;
            } else {
                self.parse_initialiser_value(ty, filled, out)?;
            }
            if !self.eat_punct(b',') {
                break;
            }
        }
        self.expect_punct(b'}')?;
        let room = shape.first().copied().unwrap_or(1).saturating_mul(unit);
        if !open && *filled - start > room {
            return Err(self.semantic_error(token, "more initial values than elements"));
        }
        Ok(())
    }

    /// Fills up with zeros to `end` bytes.
    fn pad_initialiser_to(
        &mut self,
        token: Token,
        end: u64,
        filled: &mut u64,
        out: &mut Vec<VarInit>,
    ) -> ParseRuleResult<()> {
        let missing = end.saturating_sub(*filled);
        self.n_padding = self.n_padding.saturating_add(missing);
        if self.n_padding > MAX_PADDING_BYTES {
            return Err(self.semantic_error(token, "initialisers that leave out this much are not supported"));
        }
        if missing > 0 {
            trailing_bytes_mut(out).extend(std::iter::repeat_n(0, missing as usize));
            *filled += missing;
        }
        Ok(())
    }

    fn parse_initialiser_value(&mut self, ty: Type, filled: &mut u64, out: &mut Vec<VarInit>) -> ParseRuleResult<()> {
        let size = ty.bytes();
        *filled += u64::from(size);
        let next = self.peek_kind(1);
        let masked = next == TokenKind::Punct(b'(');
        if (self.current_kind() == TokenKind::Ident && self.current_text() != "WARP_SZ")
            || (self.current_kind() == TokenKind::Int && masked)
        {
            return self.parse_address_initialiser(ty, out);
        }
        let token = self.current_token();
        let plain = self.current_kind() == TokenKind::Int && matches!(next, TokenKind::Punct(b',' | b'}'));
        let value = match plain.then(|| parse_int(self.current_text())).flatten() {
            Some(value) => {
                self.advance();
                value
            }
            None => self.parse_constant()?,
        };
        let bits = self.initialiser_bits(token, ty, value)?;
        trailing_bytes_mut(out).extend_from_slice(&bits.to_le_bytes()[..size as usize]);
        Ok(())
    }

    /// The bits of a value in an initialiser, which converts as C does.
    fn initialiser_bits(&self, token: Token, ty: Type, value: Constant) -> ParseRuleResult<u128> {
        let bits = match (ty, value) {
            (Type::F32, Constant::Int { value, unsigned: false }) => (value as f32).to_bits().into(),
            (Type::F32, Constant::Int { value, .. }) => (value as u64 as f32).to_bits().into(),
            (Type::F64, Constant::Int { value, unsigned: false }) => (value as f64).to_bits().into(),
            (Type::F64, Constant::Int { value, .. }) => (value as u64 as f64).to_bits().into(),
            // Wider integers are cut, and wider elements get the sign of 64 bits.
            (_, Constant::Int { value, .. }) if !ty.is_float() => value as i128 as u128,
            (Type::B32, Constant::F64(bits)) => (f64::from_bits(bits) as f32).to_bits().into(),
            _ => match self.immediate_operand(token, ty, value)? {
                Operand::Int(value) => value as i128 as u128,
                Operand::F32(bits) => bits.into(),
                Operand::F64(bits) => bits.into(),
                _ => 0,
            },
        };
        Ok(bits)
    }

    /// `sym`, `sym+4`, `generic(sym)+4`, `0xFF00(sym)`; a wider element than its mask is filled up with zeros.
    fn parse_address_initialiser(&mut self, ty: Type, out: &mut Vec<VarInit>) -> ParseRuleResult<()> {
        let token = self.current_token();
        let size = ty.bytes();
        let mut shift = 0;
        if token.kind == TokenKind::Int {
            let mask = match parse_int(self.current_text()) {
                Some(Constant::Int { value, .. }) => value as u64,
                _ => 0,
            };
            shift = mask.trailing_zeros();
            // One byte of the address, or as many as an element has.
            let selects = |n: &u32| mask.checked_shr(shift) == Some(u64::MAX >> (64 - 8 * n));
            let Some(n_bytes) = [1, size.min(8)].into_iter().find(selects).filter(|_| shift % 8 == 0) else {
                let message = "this mask selects neither one byte nor as many as an element has";
                return Err(self.semantic_error(token, message));
            };
            self.advance();
            self.expect_punct(b'(')?;
            let (symbol, offset, generic) = self.parse_address_constant()?;
            self.expect_punct(b')')?;
            out.push(VarInit::Address { symbol, offset, size: n_bytes, generic, shift });
            if n_bytes < size {
                trailing_bytes_mut(out).extend(std::iter::repeat_n(0, (size - n_bytes) as usize));
            }
            return Ok(());
        }
        let (symbol, offset, generic) = self.parse_address_constant()?;
        if size != 4 && size != 8 {
            return Err(self.semantic_error(token, "an address does not fit an element of this type"));
        }
        out.push(VarInit::Address { symbol, offset, size, generic, shift });
        Ok(())
    }

    fn parse_address_constant(&mut self) -> ParseRuleResult<(Symbol, i64, bool)> {
        let generic = self.current_text() == "generic" && self.peek_kind(1) == TokenKind::Punct(b'(');
        if generic {
            self.advance();
            self.advance();
        }
        let token = self.current_token();
        let name = self.expect_ident("a variable or function")?;
        let symbol = match self.find_symbol(name) {
            Some(symbol @ (Symbol::Global(_) | Symbol::Local(_) | Symbol::Func(_))) => symbol,
            Some(_) => return Err(self.semantic_error(token, format!("the address of `{name}` is not a constant"))),
            None => return Err(self.semantic_error(token, format!("`{name}` is not declared"))),
        };
        let mut offset = self.parse_address_offset()?;
        if generic {
            self.expect_punct(b')')?;
            offset = offset.wrapping_add(self.parse_address_offset()?);
        }
        Ok((symbol, offset, generic))
    }
}

/// The run of raw bytes at the end of `out`.
fn trailing_bytes_mut(out: &mut Vec<VarInit>) -> &mut Vec<u8> {
    if !matches!(out.last(), Some(VarInit::Bytes(_))) {
        out.push(VarInit::Bytes(Vec::new()));
    }
    match out.last_mut() {
        Some(VarInit::Bytes(bytes)) => bytes,
        _ => unreachable!("a run of bytes was just pushed"),
    }
}
