//! The statements of a function's body.

use super::scope::SymbolKind;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::lexer::TokenKind;
use crate::parse::module::ParamList;

impl<'s> Parser<'s> {
    /// Everything from `{` to its `}`; errors are reported, none is returned.
    pub(super) fn parse_function_body(&mut self) {
        self.advance();
        loop {
            let first = self.at;
            match self.current_kind() {
                TokenKind::Eof => {
                    let error = self.expected_error("`}` at the end of a function");
                    self.report_diagnostic(error);
                    break;
                }
                TokenKind::Punct(b'}') => {
                    self.advance();
                    if self.body.nesting_depth() <= 1 {
                        break;
                    }
                    self.close_block();
                }
                TokenKind::Punct(b'{') => {
                    let result = self.open_block();
                    if self.report_error(result).is_none() {
                        // Blocks could not be matched any more.
                        self.at = self.tokens.len() - 1;
                        return;
                    }
                    self.advance();
                }
                TokenKind::Punct(b';') => self.advance(),
                _ => {
                    let result = self.parse_statement();
                    if self.report_error(result).is_none() {
                        self.recover_after_error(first);
                    }
                }
            }
        }
        while self.body.nesting_depth() > 1 {
            self.close_block();
        }
        self.resolve_labels();
    }

    fn parse_statement(&mut self) -> ParseRuleResult<()> {
        match self.current_kind() {
            TokenKind::Ident if self.peek_kind(1) == TokenKind::Punct(b':') => self.parse_labelled(),
            TokenKind::Ident | TokenKind::Punct(b'@') => self.parse_instruction(),
            TokenKind::Dot => self.parse_directive(),
            _ => Err(self.expected_error("an instruction")),
        }
    }

    fn parse_directive(&mut self) -> ParseRuleResult<()> {
        match self.peek_dot_word().unwrap_or("") {
            "reg" => self.parse_registers(),
            "loc" => self.parse_loc(),
            "file" => self.parse_file(),
            "pragma" => self.skip_pragma(),
            "section" => self.skip_section(),
            "param" | "local" | "shared" | "global" | "const" => self.parse_local_vars(),
            _ => Err(self.unknown_directive()),
        }
    }

    /// `name:` before a statement, or before one of the directives that a name stands for.
    fn parse_labelled(&mut self) -> ParseRuleResult<()> {
        let token = self.current_token();
        self.advance();
        self.advance();
        match self.peek_dot_word() {
            Some("branchtargets") => {
                let list = self.body.branch_lists.len() as u32;
                self.declare_name(token, SymbolKind::Branches(list))?;
                self.body.branch_lists.push(Vec::new());
                self.advance();
                loop {
                    let label = self.current_token();
                    self.expect_ident("a label")?;
                    let label = self.use_label(label);
                    self.body.branch_lists[list as usize].push(label);
                    if !self.eat_punct(b',') {
                        return self.expect_punct(b';');
                    }
                }
            }
            Some("calltargets") => {
                let list = self.body.call_lists.len() as u32;
                self.declare_name(token, SymbolKind::Calls(list))?;
                self.body.call_lists.push(Vec::new());
                self.advance();
                loop {
                    let function = self.parse_function_name()?;
                    self.body.call_lists[list as usize].push(function);
                    if !self.eat_punct(b',') {
                        return self.expect_punct(b';');
                    }
                }
            }
            Some("callprototype") => self.parse_prototype(token),
            _ => self.define_label(token),
        }
    }

    /// `name: .callprototype (ret) _ (params) .noreturn;`
    fn parse_prototype(&mut self, token: crate::lexer::Token) -> ParseRuleResult<()> {
        self.advance();
        let mut returns = Vec::new();
        if self.is_punct(b'(') {
            returns = self.parse_params(ParamList::Prototype)?;
        }
        self.expect_ident("`_`")?;
        let mut params = Vec::new();
        if self.is_punct(b'(') {
            params = self.parse_params(ParamList::Prototype)?;
        }
        let mut noreturn = false;
        while let Some(word) = self.peek_dot_word() {
            match word {
                "noreturn" => {
                    noreturn = true;
                    self.advance();
                }
                "abi_preserve" | "abi_preserve_control" => {
                    self.advance();
                    self.parse_unsigned()?;
                }
                _ => return Err(self.unknown_directive()),
            }
        }
        self.expect_punct(b';')?;
        let id = ProtoId(self.body.function.prototypes.len() as u32);
        let name = self.declare_name(token, SymbolKind::Proto(id))?;
        self.body.function.prototypes.push(Prototype { name, returns, params, noreturn });
        Ok(())
    }

    /// `@p opcode.modifiers operands;`
    fn parse_instruction(&mut self) -> ParseRuleResult<()> {
        let first = self.at;
        let guard = if self.eat_punct(b'@') { Some(self.parse_guard()?) } else { None };
        self.expansion.clear();
        let inst = self.parse_inst()?;
        self.expect_punct(b';')?;
        let (span, line) = (self.span_from(first), self.body.line);
        let insts = self.expansion.drain(..).chain([inst]);
        self.body.function.body.extend(insts.map(|inst| Statement { guard, inst, span, line }));
        Ok(())
    }

    fn parse_guard(&mut self) -> ParseRuleResult<Guard> {
        let negated = self.eat_punct(b'!');
        let reg = self.parse_reg_of_type(Type::Pred, super::operand::WidthRule::Exact)?;
        Ok(Guard { reg, negated })
    }
}
