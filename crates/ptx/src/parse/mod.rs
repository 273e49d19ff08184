//! Text to module. Recursive descent over the tokens of [`crate::lexer`]; no recursion depth and
//! no allocation depends on the text without a limit.
//!
//! A statement that is wrong gives one diagnostic and is dropped; parsing goes on after its `;`
//! or before the `}` that ends its block. Names of inner scopes that hide others are made unique
//! by a suffix, so that consumers and the printer may treat a function as one flat scope.

mod arith;
mod body;
mod control;
mod convert;
mod decl;
mod expand;
mod expr;
mod inst;
mod memory;
mod module;
mod operand;
mod scope;
mod sync;
mod target;
mod tensor;
mod texture;
mod video;

use crate::ast::*;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lexer::{Token, TokenKind, tokenize};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What [`parse`] returns: as much of the module as was understood, and all diagnostics.
#[derive(Debug, Clone)]
pub struct ParseResult {
    /// The module; complete only if [`ParseResult::has_errors`] is false.
    pub module: Module,
    /// Diagnostics in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParseResult {
    /// Whether anything is wrong, as opposed to merely unsupported.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All diagnostics as text, one below the other.
    pub fn render_diagnostics(&self, path: &str) -> String {
        let lines: Vec<String> = self.diagnostics.iter().map(|d| d.render_message(path, &self.module.source)).collect();
        lines.join("\n")
    }
}

/// Parsing stops after this many errors.
const MAX_ERRORS: usize = 100;
/// Registers of all functions together.
const MAX_REGS: usize = 1 << 21;

/// Parses a PTX module. Never panics; what is wrong is in the diagnostics.
pub fn parse(text: impl Into<Arc<str>>) -> ParseResult {
    let source: Arc<str> = text.into();
    let (mut module, mut diagnostics) = if source.len() < u32::MAX as usize / 2 {
        let mut parser = Parser::new(&source);
        parser.parse_module_items();
        parser.finish_module();
        (parser.module, parser.diagnostics)
    } else {
        let message = "a PTX text of 2 GiB or more is not supported";
        (Module::default(), vec![*Diagnostic::new(DiagnosticKind::Syntax, Span::default(), message)])
    };
    diagnostics.sort_by_key(|d| d.span.start);
    module.source = source;
    ParseResult { module, diagnostics }
}

/// A failed rule carries its diagnostic.
pub(crate) type ParseRuleResult<T> = Result<T, Box<Diagnostic>>;

/// What a module-scope name is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GlobalSymbol {
    Var(GlobalVar),
    Func(FuncId),
}

pub(crate) struct Parser<'s> {
    src: &'s str,
    tokens: Vec<Token>,
    at: usize,
    module: Module,
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    globals: FxHashMap<&'s str, GlobalSymbol>,
    /// The function being read; an empty one at module scope.
    body: scope::FunctionScope<'s>,
    n_regs: usize,
    n_padding: u64,
    /// What runs before the instruction that is being read.
    expansion: Vec<Inst>,
    /// The element that a vector register stands for where it is an operand as a whole.
    vector_element: Option<u32>,
}

impl<'s> Parser<'s> {
    fn new(src: &'s str) -> Self {
        Parser {
            src,
            tokens: tokenize(src),
            at: 0,
            module: Module::default(),
            diagnostics: Vec::new(),
            n_errors: 0,
            globals: FxHashMap::default(),
            body: scope::FunctionScope::default(),
            n_regs: 0,
            n_padding: 0,
            expansion: Vec::new(),
            vector_element: None,
        }
    }

    #[expect(clippy::boxed_local, reason = "rules hand diagnostics over in a box, to keep the good case small")]
    fn report_diagnostic(&mut self, diagnostic: Box<Diagnostic>) {
        self.n_errors += diagnostic.is_error() as usize;
        self.diagnostics.push(*diagnostic);
        if self.n_errors == MAX_ERRORS {
            self.n_errors += 1;
            let message = "too many errors, the rest is not read";
            self.diagnostics.push(*Diagnostic::new(DiagnosticKind::Syntax, self.current_span(), message));
            self.at = self.tokens.len() - 1;
        }
    }

    /// Keeps the error of a rule and says whether it succeeded.
    fn report_error<T>(&mut self, result: ParseRuleResult<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.report_diagnostic(diagnostic);
                None
            }
        }
    }

    fn current_token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The kind of the token `ahead` places on.
    fn peek_kind(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::Eof, |t| t.kind)
    }

    fn current_kind(&self) -> TokenKind {
        self.current_token().kind
    }

    fn current_span(&self) -> Span {
        self.current_token().span()
    }

    /// From the start of token `first` to the end of the last token that was taken.
    fn span_from(&self, first: usize) -> Span {
        let last = self.at.saturating_sub(1).max(first);
        Span { start: self.tokens[first].start, end: self.tokens[last].end }
    }

    fn token_text(&self, token: Token) -> &'s str {
        self.src.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    fn current_text(&self) -> &'s str {
        self.token_text(self.current_token())
    }

    /// Steps over the current token; stays on the end of the file.
    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is_punct(&self, punct: u8) -> bool {
        self.current_kind() == TokenKind::Punct(punct)
    }

    fn eat_punct(&mut self, punct: u8) -> bool {
        let found = self.is_punct(punct);
        if found {
            self.advance();
        }
        found
    }

    fn expect_punct(&mut self, punct: u8) -> ParseRuleResult<()> {
        if self.eat_punct(punct) { Ok(()) } else { Err(self.expected_error(&format!("`{}`", punct as char))) }
    }

    /// Takes the dotted word `word` (given with its dot).
    fn eat_dot_word(&mut self, word: &str) -> bool {
        let found = self.current_kind() == TokenKind::Dot && self.current_text() == word;
        if found {
            self.advance();
        }
        found
    }

    /// The current dotted word without its dot.
    fn peek_dot_word(&self) -> Option<&'s str> {
        (self.current_kind() == TokenKind::Dot).then(|| &self.current_text()[1..])
    }

    fn expect_ident(&mut self, what: &str) -> ParseRuleResult<&'s str> {
        if self.current_kind() != TokenKind::Ident {
            return Err(self.expected_error(what));
        }
        let name = self.current_text();
        self.advance();
        Ok(name)
    }

    /// The diagnostic that `what` is missing at the current token.
    fn expected_error(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.current_kind() {
            TokenKind::Eof => "the end of the file".to_owned(),
            _ => format!("`{}`", shorten_token_text(self.current_text())),
        };
        self.error_here(DiagnosticKind::Syntax, format!("expected {what}, found {found}"))
    }

    fn error_here(&self, kind: DiagnosticKind, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(kind, self.current_span(), message)
    }

    fn semantic_error(&self, token: Token, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(DiagnosticKind::Semantic, token.span(), message)
    }

    /// Goes behind the `;` that ends the statement which began at token `from`, or before the `}`
    /// that ends its block. Braces of vector operands are balanced within a statement.
    fn recover_after_error(&mut self, from: usize) {
        if self.n_errors > MAX_ERRORS {
            return;
        }
        self.at = self.at.max(from);
        let stop = self.at;
        let mut depth = 0usize;
        self.at = from;
        loop {
            match self.current_kind() {
                TokenKind::Eof => return,
                TokenKind::Punct(b';') if self.at >= stop || depth == 0 => return self.advance(),
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth == 0 => return,
                TokenKind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.advance();
        }
    }
}

/// A token's text for a message: its beginning if it is long.
pub(crate) fn shorten_token_text(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
