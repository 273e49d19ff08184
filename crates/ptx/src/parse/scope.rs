//! Names inside a function: registers, variables and labels of nested blocks, resolved to indices.
//!
//! A label may be used before it is defined, and an inner block may define it after an outer one
//! did. So a use makes an entry of its own in the block it stands in; when the block ends, what
//! was not defined there is handed to the block around it.

use super::{GlobalSymbol, MAX_REGS, ParseRuleResult, Parser};
use crate::ast::*;
use crate::lexer::Token;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// How deep blocks may nest.
const MAX_NESTING: usize = 256;

/// What a name of a function is.
#[derive(Debug, Clone, Copy)]
pub(super) enum SymbolKind {
    Reg(Reg),
    /// A vector of registers: its first one and how many there are.
    Vector(Reg, u32),
    Var(LocalVar),
    Param(u32),
    Return(u32),
    Proto(ProtoId),
    /// A `.branchtargets` list: an index into [`FunctionScope::branch_lists`].
    Branches(u32),
    /// A `.calltargets` list: an index into [`FunctionScope::call_lists`].
    Calls(u32),
}

/// `%r<10>`: the names `%r0` to `%r9`, of a register or of a vector of `width` registers each.
struct RegisterRange<'s> {
    prefix: &'s str,
    count: u32,
    base: u32,
    width: u32,
}

impl RegisterRange<'_> {
    fn find_in_range(&self, name: &str) -> Option<u32> {
        let digits = name.strip_prefix(self.prefix)?.as_bytes();
        if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
            return None;
        }
        let mut number = 0u32;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + (digit - b'0') as u32;
        }
        (number < self.count).then_some(number)
    }
}

#[derive(Default)]
struct ScopeBlock<'s> {
    names: FxHashMap<&'s str, SymbolKind>,
    ranges: Vec<RegisterRange<'s>>,
    labels: FxHashMap<&'s str, u32>,
}

impl ScopeBlock<'_> {
    fn find_in_block(&self, name: &str) -> Option<SymbolKind> {
        for range in &self.ranges {
            if let Some(number) = range.find_in_range(name) {
                let first = Reg(range.base + number * range.width);
                return Some(match range.width {
                    1 => SymbolKind::Reg(first),
                    width => SymbolKind::Vector(first, width),
                });
            }
        }
        if self.names.is_empty() { None } else { self.names.get(name).copied() }
    }
}

struct LabelEntry<'s> {
    name: &'s str,
    used_at: Token,
    target: Option<u32>,
    /// Where in the text it is defined.
    defined_at: u32,
    /// The entry of an outer block that this one turned out to be.
    same_as: Option<u32>,
}

/// The function being read.
#[derive(Default)]
pub(super) struct FunctionScope<'s> {
    pub(super) function: Function,
    pub(super) line: Option<SourceLine>,
    pub(super) branch_lists: Vec<Vec<Label>>,
    pub(super) call_lists: Vec<Vec<FuncId>>,
    blocks: Vec<ScopeBlock<'s>>,
    labels: Vec<LabelEntry<'s>>,
    /// Every name this function already gave away, except those of `ranges`.
    taken: FxHashSet<Box<str>>,
    ranges: Vec<RegisterRange<'s>>,
    suffixes: FxHashMap<&'s str, u32>,
}

impl<'s> FunctionScope<'s> {
    pub(super) fn new() -> Self {
        FunctionScope { blocks: vec![ScopeBlock::default()], ..FunctionScope::default() }
    }

    pub(super) fn nesting_depth(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn find_in_function(&self, name: &str) -> Option<SymbolKind> {
        self.blocks.iter().rev().find_map(|block| block.find_in_block(name))
    }

    fn is_name_taken(&self, name: &str) -> bool {
        self.taken.contains(name) || self.ranges.iter().any(|range| range.find_in_range(name).is_some())
    }

    pub(super) fn reg_type(&self, reg: Reg) -> Type {
        self.function.regs.get(reg.index()).map_or(Type::Pred, |decl| decl.ty)
    }

    fn bind_name(&mut self, name: &'s str, entity: SymbolKind) -> bool {
        let Some(block) = self.blocks.last_mut() else { return false };
        if block.find_in_block(name).is_some() {
            return false;
        }
        block.names.insert(name, entity);
        true
    }
}

impl<'s> Parser<'s> {
    pub(super) fn open_block(&mut self) -> ParseRuleResult<()> {
        if self.body.blocks.len() >= MAX_NESTING {
            return Err(self.expected_error("fewer nested blocks"));
        }
        self.body.blocks.push(ScopeBlock::default());
        Ok(())
    }

    /// Ends the innermost block; its undefined labels become the business of the outer one.
    pub(super) fn close_block(&mut self) {
        let Some(block) = self.body.blocks.pop() else { return };
        let Some(outer) = self.body.blocks.last_mut() else { return };
        for (name, entry) in block.labels {
            let label = &mut self.body.labels[entry as usize];
            if label.target.is_none() {
                let outer_entry = *outer.labels.entry(name).or_insert(entry);
                label.same_as = (outer_entry != entry).then_some(outer_entry);
            }
        }
    }

    /// The name to keep for `name`: itself, or with a suffix if the function has it already.
    fn unique_name(&mut self, name: &'s str) -> Box<str> {
        if !self.body.is_name_taken(name) {
            self.body.taken.insert(name.into());
            return name.into();
        }
        let mut number = self.body.suffixes.get(name).copied().unwrap_or(0);
        loop {
            number += 1;
            let candidate = format!("{name}_{number}").into_boxed_str();
            if !self.body.is_name_taken(&candidate) {
                self.body.suffixes.insert(name, number);
                self.body.taken.insert(candidate.clone());
                return candidate;
            }
        }
    }

    pub(super) fn check_name(&self, token: Token) -> ParseRuleResult<()> {
        match self.token_text(token) {
            word @ ("_" | "WARP_SZ") => Err(self.semantic_error(token, format!("`{word}` cannot be declared"))),
            _ => Ok(()),
        }
    }

    fn duplicate_error(&self, token: Token) -> Box<crate::diag::Diagnostic> {
        self.semantic_error(token, format!("`{}` is declared twice in this scope", self.token_text(token)))
    }

    /// Binds a name of the current block and returns the unique name to keep for it.
    pub(super) fn declare_name(&mut self, token: Token, entity: SymbolKind) -> ParseRuleResult<Box<str>> {
        self.check_name(token)?;
        let name = self.token_text(token);
        if !self.body.bind_name(name, entity) {
            return Err(self.duplicate_error(token));
        }
        Ok(self.unique_name(name))
    }

    /// Declares one register.
    pub(super) fn declare_reg(&mut self, token: Token, ty: Type) -> ParseRuleResult<Reg> {
        self.check_register_limit(token, 1)?;
        let reg = Reg(self.body.function.regs.len() as u32);
        let name = self.declare_name(token, SymbolKind::Reg(reg))?;
        self.body.function.regs.push(RegDecl { name, ty });
        Ok(reg)
    }

    fn check_register_limit(&mut self, token: Token, count: u32) -> ParseRuleResult<()> {
        self.n_regs += count as usize;
        if self.n_regs <= MAX_REGS {
            return Ok(());
        }
        self.n_regs -= count as usize;
        Err(self.semantic_error(token, format!("more than {MAX_REGS} registers are not supported")))
    }

    /// Declares `prefix<count>`.
    pub(super) fn declare_regs(&mut self, token: Token, count: u32, ty: Type) -> ParseRuleResult<()> {
        self.check_name(token)?;
        self.check_register_limit(token, count)?;
        let prefix = self.token_text(token);
        let base = self.body.function.regs.len() as u32;
        let mut clash = self.body.taken.iter().any(|name| name.starts_with(prefix));
        clash |= self.body.ranges.iter().any(|r| r.prefix.starts_with(prefix) || prefix.starts_with(r.prefix));
        self.body.function.regs.reserve(count as usize);
        let mut text = prefix.to_owned();
        for number in 0..count {
            text.truncate(prefix.len());
            // Writing to a string cannot fail.
            let _ = write!(text, "{number}");
            let mut name: Box<str> = text.as_str().into();
            if clash {
                if self.body.blocks.last().is_some_and(|block| block.find_in_block(&name).is_some()) {
                    self.body.function.regs.truncate(base as usize);
                    return Err(self.duplicate_error(token));
                }
                name = self.unique_generated_name(name);
            }
            self.body.function.regs.push(RegDecl { name, ty });
        }
        if !clash {
            self.body.ranges.push(RegisterRange { prefix, count, base, width: 1 });
        }
        if let Some(block) = self.body.blocks.last_mut() {
            block.ranges.push(RegisterRange { prefix, count, base, width: 1 });
        }
        Ok(())
    }

    /// Declares `.v4 name`, or `.v4 name<count>`. To the module they are registers `name_0` and so on.
    pub(super) fn declare_vectors(
        &mut self,
        token: Token,
        count: Option<u32>,
        width: u32,
        ty: Type,
    ) -> ParseRuleResult<()> {
        self.check_name(token)?;
        let total = count.unwrap_or(1).saturating_mul(width);
        self.check_register_limit(token, total)?;
        let prefix = self.token_text(token);
        let base = self.body.function.regs.len() as u32;
        match count {
            None => drop(self.declare_name(token, SymbolKind::Vector(Reg(base), width))?),
            Some(count) => {
                let Some(block) = self.body.blocks.last_mut() else { return Ok(()) };
                block.ranges.push(RegisterRange { prefix, count, base, width });
            }
        }
        for i in 0..total {
            let number = count.map(|_| (i / width).to_string()).unwrap_or_default();
            let name = self.unique_generated_name(format!("{prefix}{number}_{}", i % width).into());
            self.body.function.regs.push(RegDecl { name, ty });
        }
        Ok(())
    }

    /// A register that the text does not name.
    pub(super) fn new_temporary(&mut self, ty: Type) -> ParseRuleResult<Reg> {
        self.check_register_limit(self.current_token(), 1)?;
        let reg = Reg(self.body.function.regs.len() as u32);
        let name = self.unique_generated_name(format!("%expanded_{}_", reg.0).into());
        self.body.function.regs.push(RegDecl { name, ty });
        Ok(reg)
    }

    /// [`Self::unique_name`] for a name that is not in the text.
    fn unique_generated_name(&mut self, name: Box<str>) -> Box<str> {
        let mut candidate = name.clone();
        let mut number = 0;
        while self.body.is_name_taken(&candidate) {
            number += 1;
            candidate = format!("{name}_{number}").into_boxed_str();
        }
        self.body.taken.insert(candidate.clone());
        candidate
    }

    /// The label `token` names, as seen from here; resolved when the function ends.
    pub(super) fn use_label(&mut self, token: Token) -> Label {
        let name = self.token_text(token);
        let next = self.body.labels.len() as u32;
        let Some(block) = self.body.blocks.last_mut() else { return Label(0) };
        let entry = *block.labels.entry(name).or_insert(next);
        if entry == next {
            self.body.labels.push(LabelEntry { name, used_at: token, target: None, defined_at: 0, same_as: None });
        }
        Label(entry)
    }

    /// Defines the label `token` before the next statement.
    pub(super) fn define_label(&mut self, token: Token) -> ParseRuleResult<()> {
        self.check_name(token)?;
        let label = self.use_label(token);
        let position = self.body.function.body.len() as u32;
        let Some(entry) = self.body.labels.get_mut(label.index()) else { return Ok(()) };
        if entry.target.is_some() {
            return Err(self.duplicate_error(token));
        }
        entry.target = Some(position);
        entry.defined_at = token.start;
        Ok(())
    }

    /// Follows what the ends of blocks found out, reports undefined labels, and rewrites all uses.
    pub(super) fn resolve_labels(&mut self) {
        let entries = std::mem::take(&mut self.body.labels);
        let mut numbers: Vec<u32> = vec![0; entries.len()];
        // In the order of the text, which does not depend on who uses them from where.
        let mut order: Vec<usize> = (0..entries.len()).filter(|&i| entries[i].same_as.is_none()).collect();
        order.sort_by_key(|&i| (entries[i].target, entries[i].defined_at));
        for i in order {
            let entry = &entries[i];
            if entry.target.is_none() {
                let error = self.semantic_error(entry.used_at, format!("label `{}` is not defined", entry.name));
                self.report_diagnostic(error);
            }
            numbers[i] = self.body.function.labels.len() as u32;
            let name = self.unique_name(entry.name);
            self.body.function.labels.push(name);
            self.body.function.label_targets.push(entry.target.unwrap_or(0));
        }
        // Every step leads to an enclosing block, so at most MAX_NESTING are needed.
        let resolve = |label: &mut Label| {
            let mut at = label.index();
            while let Some(outer) = entries.get(at).and_then(|entry| entry.same_as) {
                at = outer as usize;
            }
            label.0 = numbers.get(at).copied().unwrap_or(0);
        };
        for statement in &mut self.body.function.body {
            match &mut statement.inst {
                Inst::Bra { target, .. } => resolve(target),
                Inst::Brx { targets, .. } => targets.iter_mut().for_each(resolve),
                _ => {}
            }
        }
    }

    /// What an address or a `mov` can name, if `name` is such a thing.
    pub(super) fn find_symbol(&self, name: &str) -> Option<Symbol> {
        match self.body.find_in_function(name) {
            Some(SymbolKind::Var(var)) => Some(Symbol::Local(var)),
            Some(SymbolKind::Param(number)) => Some(Symbol::Param(number)),
            Some(SymbolKind::Return(number)) => Some(Symbol::Return(number)),
            Some(_) => None,
            None => match self.globals.get(name) {
                Some(GlobalSymbol::Var(var)) => Some(Symbol::Global(*var)),
                Some(GlobalSymbol::Func(func)) => Some(Symbol::Func(*func)),
                None => None,
            },
        }
    }
}

/// Renames what a function calls like a global of the module, so that a printed function, which is
/// one flat scope, hides no global it uses. Done last, when all globals are known.
pub(super) fn rename_names_that_hide_globals(function: &mut Function, is_global: impl Fn(&str) -> bool) {
    // The text of an instruction that is not understood holds names that could not be renamed.
    if function.body.iter().any(|s| matches!(s.inst, Inst::Other { .. })) {
        return;
    }
    let regs = function.regs.iter_mut().map(|decl| &mut decl.name);
    let vars = function.vars.iter_mut().map(|var| &mut var.name);
    let names = regs.chain(vars).chain(&mut function.labels);
    let names = names.chain(function.prototypes.iter_mut().map(|proto| &mut proto.name));
    let params = function.params.iter_mut().chain(&mut function.returns).map(|param| &mut param.name);
    let mut names: Vec<&mut Box<str>> = names.chain(params).collect();
    if !names.iter().any(|name| is_global(name)) {
        return;
    }
    let mut taken: FxHashSet<Box<str>> = names.iter().map(|name| (*name).clone()).collect();
    for name in names.iter_mut().filter(|name| is_global(name)) {
        let mut candidates = (1u32..).map(|number| format!("{name}_{number}").into_boxed_str());
        if let Some(free) = candidates.find(|candidate| !is_global(candidate) && !taken.contains(candidate)) {
            taken.insert(free.clone());
            **name = free;
        }
    }
}
