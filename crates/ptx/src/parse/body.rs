//! The statements of a function's body.

use super::scope::SymbolKind;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::lexer::Kind;
use crate::parse::module::ParamList;

impl<'s> Parser<'s> {
    /// Everything from `{` to its `}`; errors are reported, none is returned.
    pub(super) fn function_body(&mut self) {
        self.advance();
        loop {
            let first = self.at;
            match self.kind() {
                Kind::Eof => {
                    let error = self.expected("`}` at the end of a function");
                    self.report(error);
                    break;
                }
                Kind::Punct(b'}') => {
                    self.advance();
                    if self.body.depth() <= 1 {
                        break;
                    }
                    self.close_block();
                }
                Kind::Punct(b'{') => {
                    let result = self.open_block();
                    if self.keep(result).is_none() {
                        // Blocks could not be matched any more.
                        self.at = self.tokens.len() - 1;
                        return;
                    }
                    self.advance();
                }
                Kind::Punct(b';') => self.advance(),
                _ => {
                    let result = self.statement();
                    if self.keep(result).is_none() {
                        self.recover(first);
                    }
                }
            }
        }
        while self.body.depth() > 1 {
            self.close_block();
        }
        self.finish_labels();
    }

    fn statement(&mut self) -> Parsed<()> {
        match self.kind() {
            Kind::Ident if self.kind_at(1) == Kind::Punct(b':') => self.labelled(),
            Kind::Ident | Kind::Punct(b'@') => self.instruction(),
            Kind::Dot => self.directive(),
            _ => Err(self.expected("an instruction")),
        }
    }

    fn directive(&mut self) -> Parsed<()> {
        match self.dot_word().unwrap_or("") {
            "reg" => self.registers(),
            "loc" => self.loc(),
            "file" => self.file(),
            "pragma" => self.pragma(),
            "section" => self.section(),
            "param" | "local" | "shared" | "global" | "const" => self.local_vars(),
            _ => Err(self.unknown_directive()),
        }
    }

    /// `name:` before a statement, or before one of the directives that a name stands for.
    fn labelled(&mut self) -> Parsed<()> {
        let token = self.token();
        self.advance();
        self.advance();
        match self.dot_word() {
            Some("branchtargets") => {
                let list = self.body.branch_lists.len() as u32;
                self.declare(token, SymbolKind::Branches(list))?;
                self.body.branch_lists.push(Vec::new());
                self.advance();
                loop {
                    let label = self.token();
                    self.ident("a label")?;
                    let label = self.use_label(label);
                    self.body.branch_lists[list as usize].push(label);
                    if !self.eat(b',') {
                        return self.expect(b';');
                    }
                }
            }
            Some("calltargets") => {
                let list = self.body.call_lists.len() as u32;
                self.declare(token, SymbolKind::Calls(list))?;
                self.body.call_lists.push(Vec::new());
                self.advance();
                loop {
                    let function = self.function_name()?;
                    self.body.call_lists[list as usize].push(function);
                    if !self.eat(b',') {
                        return self.expect(b';');
                    }
                }
            }
            Some("callprototype") => self.prototype(token),
            _ => self.define_label(token),
        }
    }

    /// `name: .callprototype (ret) _ (params) .noreturn;`
    fn prototype(&mut self, token: crate::lexer::Token) -> Parsed<()> {
        self.advance();
        let mut returns = Vec::new();
        if self.is(b'(') {
            returns = self.params(ParamList::Prototype)?;
        }
        self.ident("`_`")?;
        let mut params = Vec::new();
        if self.is(b'(') {
            params = self.params(ParamList::Prototype)?;
        }
        let mut noreturn = false;
        while let Some(word) = self.dot_word() {
            match word {
                "noreturn" => {
                    noreturn = true;
                    self.advance();
                }
                "abi_preserve" | "abi_preserve_control" => {
                    self.advance();
                    self.unsigned()?;
                }
                _ => return Err(self.unknown_directive()),
            }
        }
        self.expect(b';')?;
        let id = ProtoId(self.body.function.prototypes.len() as u32);
        let name = self.declare(token, SymbolKind::Proto(id))?;
        self.body.function.prototypes.push(Prototype { name, returns, params, noreturn });
        Ok(())
    }

    /// `@p opcode.modifiers operands;`
    fn instruction(&mut self) -> Parsed<()> {
        let first = self.at;
        let guard = if self.eat(b'@') { Some(self.guard()?) } else { None };
        let inst = self.inst()?;
        self.expect(b';')?;
        let statement = Statement { guard, inst, span: self.span_from(first), line: self.body.line };
        self.body.function.body.push(statement);
        Ok(())
    }

    fn guard(&mut self) -> Parsed<Guard> {
        let negated = self.eat(b'!');
        let reg = self.reg_of(Type::Pred, super::operand::WidthRule::Exact)?;
        Ok(Guard { reg, negated })
    }
}
