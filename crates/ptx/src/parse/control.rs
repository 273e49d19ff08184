//! Branches, calls, barriers, fences and warp operations.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::scope::SymbolKind;
use super::{GlobalSymbol, ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::DiagnosticKind;
use crate::keywords::{
    atom_op_from_keyword, bool_op_from_keyword, scope_from_keyword, shfl_mode_from_keyword, vote_mode_from_keyword,
};
use crate::lexer::{Token, TokenKind};
use Type::*;

impl<'s> Parser<'s> {
    pub(super) fn parse_bra(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let uniform = m.take_modifier("uni");
        m.check_all_taken()?;
        let token = self.current_token();
        self.expect_ident("a label")?;
        Ok(Inst::Bra { target: self.use_label(token), uniform })
    }

    pub(super) fn parse_brx(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if !m.take_modifier("idx") {
            return Err(m.invalid_combination());
        }
        m.take_modifier("uni");
        m.check_all_taken()?;
        let index = self.parse_reg_of_type(U32, WidthRule::Exact)?;
        self.expect_comma()?;
        let token = self.current_token();
        let name = self.expect_ident("a list of labels")?;
        match self.body.find_in_function(name) {
            Some(SymbolKind::Branches(list)) => {
                Ok(Inst::Brx { index, targets: self.body.branch_lists[list as usize].clone() })
            }
            _ => Err(self.semantic_error(token, format!("`{name}` is not a `.branchtargets` list"))),
        }
    }

    /// `call{.uni} (ret), callee, (args){, prototype};`
    pub(super) fn parse_call(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let uniform = m.take_modifier("uni");
        m.check_all_taken()?;
        let mut rets = Vec::new();
        if self.is_punct(b'(') {
            rets = self.parse_call_args()?;
            self.expect_comma()?;
        }
        let token = self.current_token();
        let name = self.expect_ident("a function")?;
        let mut args = Vec::new();
        let listed = self.is_punct(b',') && self.peek_kind(1) == TokenKind::Punct(b'(');
        if listed {
            self.advance();
            args = self.parse_call_args()?;
        }
        let callee = match self.body.find_in_function(name) {
            Some(SymbolKind::Reg(target)) => self.parse_indirect_callee(token, target)?,
            None => match self.globals.get(name) {
                Some(GlobalSymbol::Func(id)) => Callee::Direct(*id),
                _ => return Err(self.semantic_error(token, format!("function `{name}` is not declared"))),
            },
            Some(_) => return Err(self.semantic_error(token, format!("`{name}` is not a function"))),
        };
        self.check_call(token, &callee, &rets, &args)?;
        Ok(Inst::Call { callee, rets, args, uniform })
    }

    fn parse_indirect_callee(&mut self, token: Token, target: Reg) -> ParseRuleResult<Callee> {
        if self.body.reg_type(target).bits() != 64 {
            return Err(self.semantic_error(token, "the address of a function has 64 bits"));
        }
        self.expect_comma()?;
        let token = self.current_token();
        let name = self.expect_ident("a prototype")?;
        match self.body.find_in_function(name) {
            Some(SymbolKind::Proto(proto)) => {
                Ok(Callee::Indirect { target, proto: Some(proto), candidates: Vec::new() })
            }
            Some(SymbolKind::Calls(list)) => {
                let candidates = self.body.call_lists[list as usize].clone();
                Ok(Callee::Indirect { target, proto: None, candidates })
            }
            _ => Err(self.semantic_error(token, format!("`{name}` is not a prototype"))),
        }
    }

    fn parse_call_args(&mut self) -> ParseRuleResult<Vec<CallArg>> {
        self.expect_punct(b'(')?;
        let mut args = Vec::new();
        while !self.is_punct(b')') {
            args.push(self.parse_call_arg()?);
            if !self.eat_punct(b',') {
                break;
            }
        }
        self.expect_punct(b')')?;
        Ok(args)
    }

    fn parse_call_arg(&mut self) -> ParseRuleResult<CallArg> {
        let token = self.current_token();
        if self.is_at_constant() {
            let ty = if matches!(self.current_kind(), TokenKind::HexF32) { F32 } else { B64 };
            let value = self.parse_constant()?;
            return Ok(CallArg::Imm(self.immediate_operand(token, ty, value)?));
        }
        let name = self.expect_ident("an argument")?;
        match self.body.find_in_function(name) {
            Some(SymbolKind::Reg(reg)) => Ok(CallArg::Reg(reg)),
            Some(SymbolKind::Var(var)) if self.body.function.vars[var.index()].space == Space::Param => {
                Ok(CallArg::Param(var))
            }
            Some(_) => Err(self.semantic_error(token, format!("`{name}` cannot be an argument"))),
            None => Err(self.semantic_error(token, format!("`{name}` is not declared"))),
        }
    }

    fn check_call(&self, token: Token, callee: &Callee, rets: &[CallArg], args: &[CallArg]) -> ParseRuleResult<()> {
        let (want_rets, want_args) = match callee {
            Callee::Direct(id) => {
                let function = &self.module.functions[id.index()];
                if function.entry {
                    return Err(self.semantic_error(token, "a kernel cannot be called"));
                }
                (&function.returns, &function.params)
            }
            Callee::Indirect { proto: Some(proto), .. } => {
                let proto = &self.body.function.prototypes[proto.index()];
                (&proto.returns, &proto.params)
            }
            Callee::Indirect { candidates, .. } => match candidates.first() {
                Some(id) => {
                    let function = &self.module.functions[id.index()];
                    (&function.returns, &function.params)
                }
                None => return Ok(()),
            },
        };
        let mismatch = |what: &str, want: usize, have: usize| {
            let name = self.token_text(token);
            Err(self.semantic_error(token, format!("`{name}` takes {want} {what}, {have} are given")))
        };
        if want_rets.len() != rets.len() {
            return mismatch("results", want_rets.len(), rets.len());
        }
        // What `...` stands for may have any size, and may not be there at all.
        let any = want_args.last().is_some_and(|p| p.size == 0);
        if want_args.len() != args.len() && !(any && want_args.len() == args.len() + 1) {
            return mismatch("arguments", want_args.len(), args.len());
        }
        for (want, have) in want_rets.iter().zip(rets).chain(want_args.iter().zip(args)) {
            self.check_argument(token, want, have)?;
        }
        Ok(())
    }

    /// Whether an argument or result is as large as its parameter, which may be any size where it has none.
    fn check_argument(&self, token: Token, want: &Param, have: &CallArg) -> ParseRuleResult<()> {
        let bytes = match have {
            CallArg::Param(var) => self.body.function.vars[var.index()].size,
            // A narrow parameter may be given in a wider register; wider ones than 8 bytes are not passed so.
            CallArg::Reg(reg) => self.body.reg_type(*reg).bytes().min(want.size).min(8).into(),
            CallArg::Imm(_) => want.size.min(8).into(),
        };
        if want.size == 0 || u64::from(want.size) == bytes {
            return Ok(());
        }
        let name = match have {
            CallArg::Param(var) => format!(" `{}`", self.body.function.vars[var.index()].name),
            CallArg::Reg(reg) => format!(" `{}`", self.body.function.regs[reg.index()].name),
            CallArg::Imm(_) => String::new(),
        };
        Err(self.semantic_error(token, format!("argument{name} does not have {} bytes", want.size)))
    }

    pub(super) fn parse_barrier(&mut self, m: &mut Modifiers<'s>, short: bool) -> ParseRuleResult<Inst> {
        if m.has_modifier("cluster") {
            return self.parse_unsupported(m);
        }
        if short && m.all_words() == ["warp", "sync"] {
            return Ok(Inst::BarWarpSync { mask: self.parse_src(B32)? });
        }
        m.take_modifier("cta");
        let form =
            m.take_required_modifier("a form", |word| ["sync", "arrive", "red"].iter().position(|&form| form == word))?;
        let op = if form == 2 {
            Some(m.take_required_modifier("an operation", |word| {
                if word == "popc" { Some(None) } else { bool_op_from_keyword(word).map(Some) }
            })?)
        } else {
            None
        };
        let aligned = short || m.take_modifier("aligned");
        match op {
            Some(None) => _ = m.take_type_in(&[U32])?,
            Some(Some(BoolOp::Xor)) => return Err(m.invalid_combination()),
            Some(Some(_)) => _ = m.take_type_in(&[Pred])?,
            None => {}
        }
        m.check_all_taken()?;
        let dst = match op {
            Some(None) => Some(self.parse_dst_comma(U32)?),
            Some(Some(_)) => Some(self.parse_dst_comma(Pred)?),
            None => None,
        };
        let id = self.parse_src(U32)?;
        let (kind, count) = match (op, dst) {
            (Some(op), Some(dst)) => self.parse_barrier_reduction(op, dst)?,
            _ if form == 1 => (BarKind::Arrive, Some(self.parse_comma_src(U32)?)),
            _ => (BarKind::Sync, if self.is_punct(b',') { Some(self.parse_comma_src(U32)?) } else { None }),
        };
        Ok(Inst::Bar { kind, id, count, aligned })
    }

    /// `{, count}, {!}p` of `bar.red`.
    fn parse_barrier_reduction(&mut self, op: Option<BoolOp>, dst: Reg) -> ParseRuleResult<(BarKind, Option<Operand>)> {
        self.expect_comma()?;
        let mut count = None;
        if !self.is_punct(b'!') && self.current_reg_bits() != Some(1) {
            count = Some(self.parse_src(U32)?);
            self.expect_comma()?;
        }
        let (pred, negated) = self.parse_pred_reg()?;
        let kind = match op {
            None => BarKind::RedPopc { dst, pred, negated },
            Some(op) => BarKind::RedBool { op, dst, pred, negated },
        };
        Ok((kind, count))
    }

    pub(super) fn parse_fence(&mut self, m: &mut Modifiers<'s>, membar: bool) -> ParseRuleResult<Inst> {
        let words = m.all_words();
        if words.iter().any(|word| word.starts_with("sync_restrict")) {
            return self.parse_unsupported(m);
        }
        if let Some(proxy) = words.iter().find(|word| word.starts_with("proxy")) {
            return self.parse_fence_proxy(m, proxy);
        }
        if words == ["mbarrier_init", "release", "cluster"] {
            return Ok(Inst::Fence(FenceKind::MbarrierInit));
        }
        let (sem, scope) = if membar {
            let scope = match words {
                ["cta"] => MemoryScope::Cta,
                ["gl"] => MemoryScope::Gpu,
                ["sys"] => MemoryScope::Sys,
                _ => return Err(m.invalid_combination()),
            };
            return Ok(Inst::Fence(FenceKind::Memory { sem: MemorySemantics::SeqCst, scope }));
        } else {
            let sem = m.take_first_matching(|word| {
                Some(match word {
                    "sc" => MemorySemantics::SeqCst,
                    "acq_rel" => MemorySemantics::AcqRel,
                    "acquire" => MemorySemantics::Acquire,
                    "release" => MemorySemantics::Release,
                    _ => return None,
                })
            });
            (sem.unwrap_or(MemorySemantics::AcqRel), m.take_required_modifier("a scope", scope_from_keyword)?)
        };
        m.check_all_taken()?;
        Ok(Inst::Fence(FenceKind::Memory { sem, scope }))
    }

    fn parse_fence_proxy(&mut self, m: &Modifiers<'s>, proxy: &str) -> ParseRuleResult<Inst> {
        match (proxy, m.all_words()) {
            ("proxy", ["proxy", "alias" | "async" | "async.global"])
            | ("proxy", ["proxy", "async", "global" | "shared::cta" | "shared::cluster"]) => {
                Ok(Inst::Fence(FenceKind::Proxy))
            }
            // The tensormap forms may have operands.
            ("proxy", _) => self.parse_unsupported(m),
            _ => self.parse_unsupported(m),
        }
    }

    pub(super) fn parse_shfl(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if !m.take_modifier("sync") {
            // Without member mask it is gone since sm_70.
            return if m.has_modifier("b32") { self.parse_unsupported(m) } else { Err(m.invalid_combination()) };
        }
        let mode = m.take_required_modifier("a mode", shfl_mode_from_keyword)?;
        m.take_type_in(&[B32])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_reg(B32)?;
        let pred = self.parse_second_destination(Pred)?;
        self.expect_comma()?;
        let a = self.parse_src(B32)?;
        let b = self.parse_comma_src(B32)?;
        let c = self.parse_comma_src(B32)?;
        Ok(Inst::Shfl { mode, dst, pred, a, b, c, mask: self.parse_comma_src(B32)? })
    }

    /// `|p` after a destination.
    fn parse_second_destination(&mut self, ty: Type) -> ParseRuleResult<Option<Reg>> {
        if self.eat_punct(b'|') { self.parse_dst_or_sink(ty, WidthRule::Exact) } else { Ok(None) }
    }

    pub(super) fn parse_vote(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if !m.take_modifier("sync") {
            return if m.has_modifier("pred") || m.has_modifier("b32") {
                self.parse_unsupported(m)
            } else {
                Err(m.invalid_combination())
            };
        }
        let mode = m.take_required_modifier("a mode", vote_mode_from_keyword)?;
        let ty = m.take_type_in(&[if mode == VoteMode::Ballot { B32 } else { Pred }])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let pred = self.parse_pred_src()?;
        Ok(Inst::Vote { mode, dst, pred, mask: self.parse_comma_src(B32)? })
    }

    pub(super) fn parse_match_sync(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let all = m.take_modifier("all");
        if !(all || m.take_modifier("any")) || !m.take_modifier("sync") {
            return Err(m.invalid_combination());
        }
        let ty = m.take_type_in(&[B32, B64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_reg(B32)?;
        let pred = if all { self.parse_second_destination(Pred)? } else { None };
        self.expect_comma()?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Match { all, ty, dst, pred, a, mask: self.parse_comma_src(B32)? })
    }

    pub(super) fn parse_redux(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if !m.take_modifier("sync") {
            return Err(m.invalid_combination());
        }
        let op = m.take_required_modifier("an operation", atom_op_from_keyword)?;
        let ty = m.take_type()?;
        let float = ty == F32 && matches!(op, AtomOp::Min | AtomOp::Max);
        let fine = match op {
            AtomOp::Add | AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32) || float,
            AtomOp::And | AtomOp::Or | AtomOp::Xor => ty == B32,
            _ => false,
        };
        if !fine {
            return Err(m.invalid_combination());
        }
        let abs = float && m.take_modifier("abs");
        let mods = FpMods { nan: float && m.take_modifier("NaN"), ..FpMods::default() };
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let a = self.parse_src(ty)?;
        Ok(Inst::Redux { op, ty, mods, abs, dst, a, mask: self.parse_comma_src(B32)? })
    }

    pub(super) fn parse_activemask(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_type_in(&[B32])?;
        m.check_all_taken()?;
        Ok(Inst::Activemask { dst: self.parse_dst_reg(B32)? })
    }

    pub(super) fn parse_elect(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.all_words() != ["sync"] {
            return Err(m.invalid_combination());
        }
        let dst = self.parse_dst_or_sink(B32, WidthRule::Exact)?;
        self.expect_punct(b'|')?;
        let pred = self.parse_dst_comma(Pred)?;
        Ok(Inst::Elect { dst, pred, mask: self.parse_src(B32)? })
    }

    pub(super) fn parse_nanosleep(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_type_in(&[U32])?;
        m.check_all_taken()?;
        Ok(Inst::Nanosleep { a: self.parse_src(U32)? })
    }

    pub(super) fn parse_pmevent(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("mask");
        m.check_all_taken()?;
        self.parse_unsigned()?;
        Ok(Inst::Hint { name: "pmevent" })
    }

    pub(super) fn parse_griddepcontrol(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        match m.all_words() {
            ["launch_dependents"] => Ok(Inst::Hint { name: "griddepcontrol.launch_dependents" }),
            ["wait"] => Ok(Inst::Hint { name: "griddepcontrol.wait" }),
            _ => Err(m.invalid_combination()),
        }
    }

    /// `alloca.type ptr, size{, align}`
    pub(super) fn parse_alloca(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let size = self.parse_src(ty)?;
        let token = self.current_token();
        let align = if self.eat_punct(b',') { self.parse_unsigned()? } else { 8 };
        if !align.is_power_of_two() {
            return Err(self.error_at(token, DiagnosticKind::Semantic, format!("{align} is not an alignment")));
        }
        Ok(Inst::Alloca { ty, dst, size, align })
    }

    fn error_at(&self, token: Token, kind: DiagnosticKind, message: String) -> Box<crate::diag::Diagnostic> {
        crate::diag::Diagnostic::new(kind, token.span(), message)
    }

    pub(super) fn parse_stack_save(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        Ok(Inst::StackSave { ty, dst: self.parse_dst_reg(ty)? })
    }

    pub(super) fn parse_stack_restore(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        Ok(Inst::StackRestore { ty, src: self.parse_src(ty)? })
    }
}
