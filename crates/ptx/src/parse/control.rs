//! Branches, calls, barriers, fences and warp operations.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::scope::SymbolKind;
use super::{Global, Parsed, Parser};
use crate::ast::*;
use crate::diag::DiagnosticKind;
use crate::lexer::{Kind, Token};
use crate::names::{atom_of, bool_of, scope_of, shfl_of, vote_of};
use Type::*;

impl<'s> Parser<'s> {
    pub(super) fn bra(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let uniform = m.has("uni");
        m.done()?;
        let token = self.token();
        self.ident("a label")?;
        Ok(Inst::Bra { target: self.use_label(token), uniform })
    }

    pub(super) fn brx(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if !m.has("idx") {
            return Err(m.refuse());
        }
        m.has("uni");
        m.done()?;
        let index = self.reg_of(U32, WidthRule::Exact)?;
        self.comma()?;
        let token = self.token();
        let name = self.ident("a list of labels")?;
        match self.body.find(name) {
            Some(SymbolKind::Branches(list)) => {
                Ok(Inst::Brx { index, targets: self.body.branch_lists[list as usize].clone() })
            }
            _ => Err(self.semantic(token, format!("`{name}` is not a `.branchtargets` list"))),
        }
    }

    /// `call{.uni} (ret), callee, (args){, prototype};`
    pub(super) fn call(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let uniform = m.has("uni");
        m.done()?;
        let mut rets = Vec::new();
        if self.is(b'(') {
            rets = self.call_args()?;
            self.comma()?;
        }
        let token = self.token();
        let name = self.ident("a function")?;
        let mut args = Vec::new();
        let listed = self.is(b',') && self.kind_at(1) == Kind::Punct(b'(');
        if listed {
            self.advance();
            args = self.call_args()?;
        }
        let callee = match self.body.find(name) {
            Some(SymbolKind::Reg(target)) => self.indirect(token, target)?,
            None => match self.globals.get(name) {
                Some(Global::Func(id)) => Callee::Direct(*id),
                _ => return Err(self.semantic(token, format!("function `{name}` is not declared"))),
            },
            Some(_) => return Err(self.semantic(token, format!("`{name}` is not a function"))),
        };
        self.check_call(token, &callee, &rets, &args)?;
        Ok(Inst::Call { callee, rets, args, uniform })
    }

    fn indirect(&mut self, token: Token, target: Reg) -> Parsed<Callee> {
        if self.body.reg_type(target).bits() != 64 {
            return Err(self.semantic(token, "the address of a function has 64 bits"));
        }
        self.comma()?;
        let token = self.token();
        let name = self.ident("a prototype")?;
        match self.body.find(name) {
            Some(SymbolKind::Proto(proto)) => {
                Ok(Callee::Indirect { target, proto: Some(proto), candidates: Vec::new() })
            }
            Some(SymbolKind::Calls(list)) => {
                let candidates = self.body.call_lists[list as usize].clone();
                Ok(Callee::Indirect { target, proto: None, candidates })
            }
            _ => Err(self.semantic(token, format!("`{name}` is not a prototype"))),
        }
    }

    fn call_args(&mut self) -> Parsed<Vec<CallArg>> {
        self.expect(b'(')?;
        let mut args = Vec::new();
        while !self.is(b')') {
            args.push(self.call_arg()?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(args)
    }

    fn call_arg(&mut self) -> Parsed<CallArg> {
        let token = self.token();
        if self.at_const() {
            let ty = if matches!(self.kind(), Kind::HexF32) { F32 } else { B64 };
            let value = self.constant()?;
            return Ok(CallArg::Imm(self.immediate(token, ty, value)?));
        }
        let name = self.ident("an argument")?;
        match self.body.find(name) {
            Some(SymbolKind::Reg(reg)) => Ok(CallArg::Reg(reg)),
            Some(SymbolKind::Var(var)) if self.body.function.vars[var.index()].space == Space::Param => {
                Ok(CallArg::Param(var))
            }
            Some(_) => Err(self.semantic(token, format!("`{name}` cannot be an argument"))),
            None => Err(self.semantic(token, format!("`{name}` is not declared"))),
        }
    }

    fn check_call(&self, token: Token, callee: &Callee, rets: &[CallArg], args: &[CallArg]) -> Parsed<()> {
        let (want_rets, want_args) = match callee {
            Callee::Direct(id) => {
                let function = &self.module.functions[id.index()];
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
            let name = self.text_of(token);
            Err(self.semantic(token, format!("`{name}` takes {want} {what}, {have} are given")))
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
            if let CallArg::Param(var) = have
                && want.size != 0
                && u64::from(want.size) != self.body.function.vars[var.index()].size
            {
                let name = &self.body.function.vars[var.index()].name;
                return Err(self.semantic(token, format!("argument `{name}` does not have {} bytes", want.size)));
            }
        }
        Ok(())
    }

    pub(super) fn barrier(&mut self, m: &mut Modifiers<'s>, short: bool) -> Parsed<Inst> {
        if m.contains("cluster") {
            return self.other(m);
        }
        if short && m.words() == ["warp", "sync"] {
            return Ok(Inst::BarWarpSync { mask: self.src(B32)? });
        }
        m.has("cta");
        let form = m.need("a form", |word| ["sync", "arrive", "red"].iter().position(|&form| form == word))?;
        let op = if form == 2 {
            Some(m.need("an operation", |word| if word == "popc" { Some(None) } else { bool_of(word).map(Some) })?)
        } else {
            None
        };
        let aligned = short || m.has("aligned");
        match op {
            Some(None) => _ = m.ty_in(&[U32])?,
            Some(Some(BoolOp::Xor)) => return Err(m.refuse()),
            Some(Some(_)) => _ = m.ty_in(&[Pred])?,
            None => {}
        }
        m.done()?;
        let dst = match op {
            Some(None) => Some(self.dst_comma(U32)?),
            Some(Some(_)) => Some(self.dst_comma(Pred)?),
            None => None,
        };
        let id = self.src(U32)?;
        let (kind, count) = match (op, dst) {
            (Some(op), Some(dst)) => self.barrier_reduction(op, dst)?,
            _ if form == 1 => (BarKind::Arrive, Some(self.comma_src(U32)?)),
            _ => (BarKind::Sync, if self.is(b',') { Some(self.comma_src(U32)?) } else { None }),
        };
        Ok(Inst::Bar { kind, id, count, aligned })
    }

    /// `{, count}, {!}p` of `bar.red`.
    fn barrier_reduction(&mut self, op: Option<BoolOp>, dst: Reg) -> Parsed<(BarKind, Option<Operand>)> {
        self.comma()?;
        let mut count = None;
        if !self.is(b'!') && self.reg_bits_here() != Some(1) {
            count = Some(self.src(U32)?);
            self.comma()?;
        }
        let (pred, negated) = self.pred_reg()?;
        let kind = match op {
            None => BarKind::RedPopc { dst, pred, negated },
            Some(op) => BarKind::RedBool { op, dst, pred, negated },
        };
        Ok((kind, count))
    }

    pub(super) fn fence(&mut self, m: &mut Modifiers<'s>, membar: bool) -> Parsed<Inst> {
        let words = m.words();
        if words.iter().any(|word| word.starts_with("sync_restrict")) {
            return self.other(m);
        }
        if let Some(proxy) = words.iter().find(|word| word.starts_with("proxy")) {
            return self.fence_proxy(m, proxy);
        }
        if words == ["mbarrier_init", "release", "cluster"] {
            return Ok(Inst::Fence(FenceKind::MbarrierInit));
        }
        let (sem, scope) = if membar {
            let scope = match words {
                ["cta"] => Scope::Cta,
                ["gl"] => Scope::Gpu,
                ["sys"] => Scope::Sys,
                _ => return Err(m.refuse()),
            };
            return Ok(Inst::Fence(FenceKind::Memory { sem: Sem::SeqCst, scope }));
        } else {
            let sem = m.pick(|word| {
                Some(match word {
                    "sc" => Sem::SeqCst,
                    "acq_rel" => Sem::AcqRel,
                    "acquire" => Sem::Acquire,
                    "release" => Sem::Release,
                    _ => return None,
                })
            });
            (sem.unwrap_or(Sem::AcqRel), m.need("a scope", scope_of)?)
        };
        m.done()?;
        Ok(Inst::Fence(FenceKind::Memory { sem, scope }))
    }

    fn fence_proxy(&mut self, m: &Modifiers<'s>, proxy: &str) -> Parsed<Inst> {
        match (proxy, m.words()) {
            ("proxy", ["proxy", "alias" | "async" | "async.global"])
            | ("proxy", ["proxy", "async", "global" | "shared::cta" | "shared::cluster"]) => {
                Ok(Inst::Fence(FenceKind::Proxy))
            }
            // The tensormap forms may have operands.
            ("proxy", _) => self.other(m),
            _ => self.other(m),
        }
    }

    pub(super) fn shfl(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if !m.has("sync") {
            // Without member mask it is gone since sm_70.
            return if m.contains("b32") { self.other(m) } else { Err(m.refuse()) };
        }
        let mode = m.need("a mode", shfl_of)?;
        m.ty_in(&[B32])?;
        m.done()?;
        let dst = self.dst(B32)?;
        let pred = self.second(Pred)?;
        self.comma()?;
        let a = self.src(B32)?;
        let b = self.comma_src(B32)?;
        let c = self.comma_src(B32)?;
        Ok(Inst::Shfl { mode, dst, pred, a, b, c, mask: self.comma_src(B32)? })
    }

    /// `|p` after a destination.
    fn second(&mut self, ty: Type) -> Parsed<Option<Reg>> {
        if self.eat(b'|') { self.dst_or_sink(ty, WidthRule::Exact) } else { Ok(None) }
    }

    pub(super) fn vote(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if !m.has("sync") {
            return if m.contains("pred") || m.contains("b32") { self.other(m) } else { Err(m.refuse()) };
        }
        let mode = m.need("a mode", vote_of)?;
        let ty = m.ty_in(&[if mode == VoteMode::Ballot { B32 } else { Pred }])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let pred = self.pred_src()?;
        Ok(Inst::Vote { mode, dst, pred, mask: self.comma_src(B32)? })
    }

    pub(super) fn match_sync(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let all = m.has("all");
        if !(all || m.has("any")) || !m.has("sync") {
            return Err(m.refuse());
        }
        let ty = m.ty_in(&[B32, B64])?;
        m.done()?;
        let dst = self.dst(B32)?;
        let pred = if all { self.second(Pred)? } else { None };
        self.comma()?;
        let a = self.src(ty)?;
        Ok(Inst::Match { all, ty, dst, pred, a, mask: self.comma_src(B32)? })
    }

    pub(super) fn redux(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if !m.has("sync") {
            return Err(m.refuse());
        }
        let op = m.need("an operation", atom_of)?;
        let ty = m.ty()?;
        let float = ty == F32 && matches!(op, AtomOp::Min | AtomOp::Max);
        let fine = match op {
            AtomOp::Add | AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32) || float,
            AtomOp::And | AtomOp::Or | AtomOp::Xor => ty == B32,
            _ => false,
        };
        if !fine {
            return Err(m.refuse());
        }
        let abs = float && m.has("abs");
        let mods = FpMods { nan: float && m.has("NaN"), ..FpMods::default() };
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let a = self.src(ty)?;
        Ok(Inst::Redux { op, ty, mods, abs, dst, a, mask: self.comma_src(B32)? })
    }

    pub(super) fn activemask(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        m.ty_in(&[B32])?;
        m.done()?;
        Ok(Inst::Activemask { dst: self.dst(B32)? })
    }

    pub(super) fn elect(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.words() != ["sync"] {
            return Err(m.refuse());
        }
        let dst = self.dst_or_sink(B32, WidthRule::Exact)?;
        self.expect(b'|')?;
        let pred = self.dst_comma(Pred)?;
        Ok(Inst::Elect { dst, pred, mask: self.src(B32)? })
    }

    pub(super) fn nanosleep(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        m.ty_in(&[U32])?;
        m.done()?;
        Ok(Inst::Nanosleep { a: self.src(U32)? })
    }

    pub(super) fn pmevent(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        m.has("mask");
        m.done()?;
        self.unsigned()?;
        Ok(Inst::Hint { name: "pmevent" })
    }

    pub(super) fn griddepcontrol(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        match m.words() {
            ["launch_dependents"] => Ok(Inst::Hint { name: "griddepcontrol.launch_dependents" }),
            ["wait"] => Ok(Inst::Hint { name: "griddepcontrol.wait" }),
            _ => Err(m.refuse()),
        }
    }

    /// `alloca.type ptr, size{, align}`
    pub(super) fn alloca(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, U64])?;
        m.done()?;
        let dst = self.dst_comma(ty)?;
        let size = self.src(ty)?;
        let token = self.token();
        let align = if self.eat(b',') { self.unsigned()? } else { 8 };
        if !align.is_power_of_two() {
            return Err(self.error_at(token, DiagnosticKind::Semantic, format!("{align} is not an alignment")));
        }
        Ok(Inst::Alloca { ty, dst, size, align })
    }

    fn error_at(&self, token: Token, kind: DiagnosticKind, message: String) -> Box<crate::diag::Diagnostic> {
        crate::diag::Diagnostic::new(kind, token.span(), message)
    }

    pub(super) fn stack_save(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, U64])?;
        m.done()?;
        Ok(Inst::StackSave { ty, dst: self.dst(ty)? })
    }

    pub(super) fn stack_restore(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.ty_in(&[U32, U64])?;
        m.done()?;
        Ok(Inst::StackRestore { ty, src: self.src(ty)? })
    }
}
