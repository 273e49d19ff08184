//! Items of module scope: header directives, functions, debug sections.

use super::scope::{FunctionScope, SymbolKind, rename_names_that_hide_globals};
use super::{GlobalSymbol, ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lexer::TokenKind;

/// Highest number of a `.file` directive.
const MAX_FILE_NUMBER: u32 = 1 << 16;

impl<'s> Parser<'s> {
    pub(super) fn parse_module_items(&mut self) {
        // NVRTC always writes the address size; the ISA's default of 32 has no target any more.
        self.module.address_size = 64;
        while self.current_kind() != TokenKind::Eof {
            let first = self.at;
            let result = self.parse_module_item();
            if self.report_error(result).is_none() {
                self.skip_to_next_item(first);
            }
        }
        if self.n_errors == 0 && (self.module.version == (0, 0) || self.module.target == 0) {
            let missing = if self.module.target == 0 { ".target" } else { ".version" };
            let error = self.error_here(DiagnosticKind::Syntax, format!("the module has no `{missing}` directive"));
            self.report_diagnostic(error);
        }
    }

    /// See [`rename_names_that_hide_globals`].
    pub(super) fn finish_module(&mut self) {
        let globals = &self.globals;
        for function in &mut self.module.functions {
            rename_names_that_hide_globals(function, |name| globals.contains_key(name));
        }
    }

    /// Goes behind the item that began at token `from`: its `;` or its closing brace.
    fn skip_to_next_item(&mut self, from: usize) {
        self.at = self.at.max(from);
        let mut depth = 0usize;
        loop {
            match self.current_kind() {
                TokenKind::Eof => return,
                TokenKind::Punct(b';') if depth == 0 => return self.advance(),
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth <= 1 => return self.advance(),
                TokenKind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    fn parse_module_item(&mut self) -> ParseRuleResult<()> {
        let first = self.at;
        if self.is_punct(b';') {
            self.advance();
            return Ok(());
        }
        let Some(word) = self.peek_dot_word() else { return Err(self.expected_error("a directive")) };
        match word {
            "version" => self.parse_version(),
            "target" => self.parse_target(),
            "address_size" => self.parse_address_size(),
            "file" => self.parse_file(),
            "loc" => self.parse_loc(),
            "section" => self.skip_section(),
            "pragma" => self.skip_pragma(),
            "alias" => self.parse_alias(),
            _ => {
                let linkage = self.parse_linkage();
                match self.peek_dot_word() {
                    Some("entry" | "func") => self.parse_function(first, linkage),
                    Some("global" | "const" | "shared" | "tex") => self.parse_global_vars(first, linkage),
                    _ => Err(self.unknown_directive()),
                }
            }
        }
    }

    pub(super) fn unknown_directive(&self) -> Box<Diagnostic> {
        if self.current_kind() != TokenKind::Dot {
            return self.expected_error("a directive");
        }
        self.error_here(
            DiagnosticKind::Unknown,
            format!("unknown directive `{}`", super::shorten_token_text(self.current_text())),
        )
    }

    fn parse_linkage(&mut self) -> Option<Linkage> {
        let linkage = match self.peek_dot_word()? {
            "extern" => Linkage::Extern,
            "visible" => Linkage::Visible,
            "weak" => Linkage::Weak,
            "common" => Linkage::Common,
            _ => return None,
        };
        self.advance();
        Some(linkage)
    }

    fn parse_version(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let token = self.current_token();
        let numbers = self.current_text().split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some(version) = numbers.filter(|_| token.kind == TokenKind::Float) else {
            return Err(self.expected_error("a version such as 8.0"));
        };
        self.advance();
        if !(1..=9).contains(&version.0) {
            let message = format!("PTX version {}.{} is not known", version.0, version.1);
            return Err(Diagnostic::new(DiagnosticKind::Unknown, token.span(), message));
        }
        self.module.version = version;
        Ok(())
    }

    fn parse_target(&mut self) -> ParseRuleResult<()> {
        self.advance();
        loop {
            let token = self.current_token();
            let name = self.expect_ident("a target")?;
            match name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_")) {
                Some(arch) => self.parse_architecture(token, arch)?,
                None => match name {
                    "debug" | "texmode_unified" | "texmode_independent" | "map_f64_to_f32" => {
                        self.module.target_options.push(name.into());
                    }
                    _ => {
                        let message = format!("unknown target `{name}`");
                        return Err(Diagnostic::new(DiagnosticKind::Unknown, token.span(), message));
                    }
                },
            }
            if !self.eat_punct(b',') {
                return Ok(());
            }
        }
    }

    fn parse_architecture(&mut self, token: crate::lexer::Token, arch: &str) -> ParseRuleResult<()> {
        let digits = arch.trim_end_matches(['a', 'f']);
        let number = digits.parse::<u32>().ok().filter(|n| (10..1000).contains(n) && arch.len() <= digits.len() + 1);
        let Some(number) = number.filter(|_| digits.bytes().all(|b| b.is_ascii_digit())) else {
            let message = format!("unknown target `{}`", self.token_text(token));
            return Err(Diagnostic::new(DiagnosticKind::Unknown, token.span(), message));
        };
        self.module.target = number;
        self.module.target_suffix = arch[digits.len()..].chars().next();
        Ok(())
    }

    fn parse_address_size(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let token = self.current_token();
        let size = self.parse_unsigned()?;
        if size != 64 {
            let kind = if size == 32 { DiagnosticKind::Unsupported } else { DiagnosticKind::Semantic };
            self.report_diagnostic(Diagnostic::new(
                kind,
                token.span(),
                format!("addresses of {size} bits are not supported"),
            ));
        }
        self.module.address_size = size;
        Ok(())
    }

    /// `.file number "name" {, timestamp, size}`
    pub(super) fn parse_file(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let token = self.current_token();
        let number = self.parse_unsigned()?;
        if number > MAX_FILE_NUMBER {
            return Err(self.semantic_error(token, format!("a file number above {MAX_FILE_NUMBER} is not supported")));
        }
        if self.current_kind() != TokenKind::Str {
            return Err(self.expected_error("a file name in quotes"));
        }
        let text = self.current_text();
        let name = text.get(1..text.len() - 1).unwrap_or("");
        self.advance();
        if self.eat_punct(b',') {
            self.parse_integer()?;
            self.expect_punct(b',')?;
            self.parse_integer()?;
        }
        let files = &mut self.module.files;
        if files.len() <= number as usize {
            files.resize(number as usize + 1, "".into());
        }
        files[number as usize] = name.into();
        Ok(())
    }

    /// `.loc file line column {, function_name label{+n}, inlined_at file line column}`
    pub(super) fn parse_loc(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let (file, line, column) = (self.parse_unsigned()?, self.parse_unsigned()?, self.parse_unsigned()?);
        self.body.line = Some(SourceLine { file, line, column });
        while self.eat_punct(b',') {
            let word = self.expect_ident("`function_name` or `inlined_at`")?;
            match word {
                "function_name" => {
                    self.expect_ident("a label")?;
                    if self.eat_punct(b'+') {
                        self.parse_integer()?;
                    }
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.parse_unsigned()?;
                    }
                }
                _ => return Err(self.expected_error("`function_name` or `inlined_at`")),
            }
        }
        Ok(())
    }

    /// `.section .name { ... }`: debug information, which nobody reads; `.loc` has the lines.
    pub(super) fn skip_section(&mut self) -> ParseRuleResult<()> {
        self.advance();
        if self.current_kind() != TokenKind::Dot {
            return Err(self.expected_error("the name of a section"));
        }
        self.advance();
        self.skip_braces()
    }

    /// Steps over a balanced `{ ... }`.
    pub(super) fn skip_braces(&mut self) -> ParseRuleResult<()> {
        self.expect_punct(b'{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.current_kind() {
                TokenKind::Eof => return Err(self.expected_error("`}`")),
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    /// `.pragma "...", "...";`: hints to an optimiser.
    pub(super) fn skip_pragma(&mut self) -> ParseRuleResult<()> {
        self.advance();
        loop {
            if self.current_kind() != TokenKind::Str {
                return Err(self.expected_error("a string"));
            }
            self.advance();
            if !self.eat_punct(b',') {
                return self.expect_punct(b';');
            }
        }
    }

    /// `.alias name, other;`
    fn parse_alias(&mut self) -> ParseRuleResult<()> {
        self.advance();
        let name = self.parse_function_name()?;
        self.expect_punct(b',')?;
        let other = self.parse_function_name()?;
        self.expect_punct(b';')?;
        self.module.aliases.push((name, other));
        Ok(())
    }

    pub(super) fn parse_function_name(&mut self) -> ParseRuleResult<FuncId> {
        let token = self.current_token();
        let name = self.expect_ident("a function")?;
        match self.globals.get(name) {
            Some(GlobalSymbol::Func(id)) => Ok(*id),
            _ => Err(self.semantic_error(token, format!("function `{name}` is not declared"))),
        }
    }

    fn parse_function(&mut self, first: usize, linkage: Option<Linkage>) -> ParseRuleResult<()> {
        self.body = FunctionScope::new();
        let entry = self.peek_dot_word() == Some("entry");
        self.advance();
        let mut function = Function { entry, linkage, ..Function::default() };
        self.parse_function_attributes(&mut function)?;
        if !entry && self.is_punct(b'(') {
            function.returns = self.parse_params(ParamList::Returns)?;
        }
        let name_token = self.current_token();
        let name = self.expect_ident("the name of a function")?;
        self.check_name(name_token)?;
        function.name = name.into();
        if self.is_punct(b'(') {
            function.params = self.parse_params(ParamList::Params)?;
        }
        self.parse_function_attributes(&mut function)?;
        function.span = self.span_from(first);
        function.regs = std::mem::take(&mut self.body.function.regs);
        let id = self.declare_function(name_token, function)?;
        if self.eat_punct(b';') {
            return Ok(());
        }
        if !self.is_punct(b'{') {
            return Err(self.expected_error("`{` or `;`"));
        }
        if self.module.functions[id.index()].defined {
            return Err(self.semantic_error(name_token, format!("function `{name}` is defined twice")));
        }
        self.body.function = std::mem::take(&mut self.module.functions[id.index()]);
        // The name must resolve while the body is read (recursion), also its signature.
        self.module.functions[id.index()] = function_signature(&self.body.function);
        self.parse_function_body();
        self.body.function.defined = true;
        self.module.functions[id.index()] = std::mem::take(&mut self.body.function);
        Ok(())
    }

    /// Enters a function's header into the module, or checks it against an earlier one.
    fn declare_function(&mut self, token: crate::lexer::Token, mut function: Function) -> ParseRuleResult<FuncId> {
        let name = self.token_text(token);
        let id = match self.globals.get(name) {
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.globals.insert(name, GlobalSymbol::Func(id));
                self.module.functions.push(function);
                return Ok(id);
            }
            Some(GlobalSymbol::Func(id)) => *id,
            Some(_) => return Err(self.semantic_error(token, format!("`{name}` is already a variable"))),
        };
        let earlier = &mut self.module.functions[id.index()];
        let shape = |list: &[Param]| list.iter().map(|p| (p.ty.bits(), p.size)).collect::<Vec<_>>();
        let same = |a: &[Param], b: &[Param]| shape(a) == shape(b);
        if earlier.entry != function.entry
            || !same(&earlier.params, &function.params)
            || !same(&earlier.returns, &function.returns)
        {
            return Err(self.semantic_error(token, format!("`{name}` was declared differently before")));
        }
        if earlier.defined {
            // A declaration after the definition adds nothing; a second body is refused later.
            return Ok(id);
        }
        if function.linkage.is_none() && earlier.linkage != Some(Linkage::Extern) {
            function.linkage = earlier.linkage;
        }
        function.noreturn |= earlier.noreturn;
        *earlier = function;
        Ok(id)
    }

    /// `.noreturn`, `.maxntid` and its like, `.pragma`, `.attribute`, in any order.
    fn parse_function_attributes(&mut self, function: &mut Function) -> ParseRuleResult<()> {
        loop {
            let Some(word) = self.peek_dot_word() else { return Ok(()) };
            if matches!(word, "explicitcluster" | "blocksareclusters" | "maxclusterrank" | "reqnctapercluster") {
                self.require_target(self.current_token().span(), word, 90)?;
            }
            let bounds = &mut function.bounds;
            match word {
                "noreturn" if function.entry => {
                    return Err(self.semantic_error(self.current_token(), "a kernel returns".to_owned()));
                }
                "noreturn" => function.noreturn = true,
                "explicitcluster" => bounds.explicit_cluster = true,
                "blocksareclusters" => {
                    self.report_diagnostic(
                        self.error_here(DiagnosticKind::Unsupported, "`.blocksareclusters` is not supported"),
                    );
                }
                "abi_preserve"
                | "abi_preserve_control"
                | "maxclusterrank"
                | "minnctapersm"
                | "maxnctapersm"
                | "maxnreg" => {
                    self.advance();
                    let value = self.parse_unsigned()?;
                    match word {
                        "minnctapersm" => bounds.min_ncta_per_sm = Some(value),
                        "maxnreg" => bounds.max_nreg = Some(value),
                        _ => {}
                    }
                    continue;
                }
                "maxntid" | "reqntid" | "reqnctapercluster" => {
                    let token = self.current_token();
                    self.advance();
                    let value = Some(self.parse_dim3()?);
                    match word {
                        "maxntid" => bounds.max_ntid = value,
                        "reqntid" => bounds.req_ntid = value,
                        _ => bounds.req_nctapercluster = value,
                    }
                    if value.is_some_and(|extents| extents.contains(&0)) {
                        return Err(self.semantic_error(token, format!("`.{word}` is at least 1 in every dimension")));
                    }
                    if bounds.max_ntid.is_some() && bounds.req_ntid.is_some() {
                        return Err(
                            self.semantic_error(token, "`.reqntid` and `.maxntid` exclude each other".to_owned())
                        );
                    }
                    continue;
                }
                "pragma" => {
                    self.skip_pragma()?;
                    continue;
                }
                "attribute" => {
                    self.parse_attribute()?;
                    continue;
                }
                // A function may be preceded by its line.
                "loc" => {
                    self.parse_loc()?;
                    continue;
                }
                _ => return Err(self.unknown_directive()),
            }
            self.advance();
        }
    }

    /// One to three numbers, the missing ones are 1.
    fn parse_dim3(&mut self) -> ParseRuleResult<[u32; 3]> {
        let mut extent = [self.parse_unsigned()?, 1, 1];
        for value in &mut extent[1..] {
            if !self.eat_punct(b',') {
                break;
            }
            *value = self.parse_unsigned()?;
        }
        Ok(extent)
    }

    /// `.attribute(.managed)` or `.attribute(.unified(n, n))`; gives whether `.managed` is in it.
    pub(super) fn parse_attribute(&mut self) -> ParseRuleResult<bool> {
        self.advance();
        self.expect_punct(b'(')?;
        let mut managed = false;
        loop {
            match self.peek_dot_word() {
                Some("managed") => {
                    managed = true;
                    self.advance();
                }
                Some("unified") => {
                    self.advance();
                    self.expect_punct(b'(')?;
                    self.parse_integer()?;
                    self.expect_punct(b',')?;
                    self.parse_integer()?;
                    self.expect_punct(b')')?;
                }
                _ => return Err(self.unknown_directive()),
            }
            if !self.eat_punct(b',') {
                self.expect_punct(b')')?;
                return Ok(managed);
            }
        }
    }

    /// A parenthesised parameter list, its names bound unless it belongs to a prototype.
    pub(super) fn parse_params(&mut self, list: ParamList) -> ParseRuleResult<Vec<Param>> {
        self.expect_punct(b'(')?;
        let mut params: Vec<Param> = Vec::new();
        let mut end = 0u32;
        while !self.is_punct(b')') {
            let token = self.current_token();
            let mut param = self.parse_param(list, params.len() as u32)?;
            param.offset = end.next_multiple_of(param.align);
            end = param.offset.checked_add(param.size).filter(|&end| end <= MAX_PARAM_BYTES).ok_or_else(|| {
                self.semantic_error(token, format!("parameters of more than {MAX_PARAM_BYTES} bytes are not supported"))
            })?;
            params.push(param);
            if !self.eat_punct(b',') {
                break;
            }
        }
        self.expect_punct(b')')?;
        Ok(params)
    }

    fn parse_param(&mut self, list: ParamList, number: u32) -> ParseRuleResult<Param> {
        if self.eat_dot_word(".reg") {
            let ty = self.parse_type()?;
            let token = self.current_token();
            let name = self.expect_ident("the name of a parameter")?;
            // A prototype has no registers; there the number only says that the parameter is one.
            let reg = if list == ParamList::Prototype { Reg(number) } else { self.declare_reg(token, ty)? };
            let name = if list == ParamList::Prototype { name } else { &self.body.function.regs[reg.index()].name };
            let size = ty.bytes();
            return Ok(Param { name: name.into(), ty, align: size, size, ptr: false, offset: 0, reg: Some(reg) });
        }
        if !self.eat_dot_word(".param") {
            return Err(self.expected_error("`.param` or `.reg`"));
        }
        let mut align = self.parse_align()?;
        let ty = self.parse_memory_type()?;
        align = align.or(self.parse_align()?);
        let ptr = self.eat_dot_word(".ptr");
        if ptr {
            if matches!(self.peek_dot_word(), Some("global" | "shared" | "local" | "const")) {
                self.advance();
            }
            // The alignment of what it points to.
            self.parse_align()?;
        }
        let token = self.current_token();
        let name = self.expect_ident("the name of a parameter")?;
        let entity = if list == ParamList::Returns { SymbolKind::Return(number) } else { SymbolKind::Param(number) };
        let name = if list == ParamList::Prototype { name.into() } else { self.declare_name(token, entity)? };
        let (count, _) = self.parse_dimensions()?;
        let size = u64::from(ty.bytes()).saturating_mul(count.iter().product());
        let size = u32::try_from(size).ok().filter(|&size| size <= MAX_PARAM_BYTES);
        let Some(size) = size else { return Err(self.semantic_error(token, "this parameter is too large")) };
        Ok(Param { name, ty, align: align.unwrap_or(ty.bytes()), size, ptr, offset: 0, reg: None })
    }
}

/// Bytes of parameters that one function may have.
pub(super) const MAX_PARAM_BYTES: u32 = 1 << 20;

/// Which list [`Parser::parse_params`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParamList {
    Params,
    Returns,
    Prototype,
}

/// A function's header without its body.
fn function_signature(function: &Function) -> Function {
    Function {
        name: function.name.clone(),
        entry: function.entry,
        linkage: function.linkage,
        params: function.params.clone(),
        returns: function.returns.clone(),
        noreturn: function.noreturn,
        span: function.span,
        ..Function::default()
    }
}
