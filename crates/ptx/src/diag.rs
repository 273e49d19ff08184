//! Diagnostics: what is wrong with a text, where, and of which kind, so that a consumer can distinguish
//! "this is not PTX" from "this is PTX that is not supported here".

use crate::ast::Span;

/// The kind of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The text does not follow the grammar.
    Syntax,
    /// An opcode, modifier, type or directive that is not known, or not in this combination.
    Unknown,
    /// Valid PTX that no consumer implements; the module around it is usable.
    Unsupported,
    /// A name that is not declared, a type that does not fit, a value out of range.
    Semantic,
}

/// One diagnostic of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub kind: DiagnosticKind,
    /// The bytes it refers to.
    pub span: Span,
    /// One line, without position.
    pub message: String,
}

impl Diagnostic {
    pub(crate) fn new(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Diagnostic { kind, span, message: message.into() })
    }

    /// Whether the text is wrong, rather than merely beyond the consumers.
    pub fn is_error(&self) -> bool {
        self.kind != DiagnosticKind::Unsupported
    }

    /// `path:line:column: message`, then the source line.
    pub fn render_message(&self, path: &str, source: &str) -> String {
        let (line, column, text) = line_and_column(source, self.span.start);
        format!("{path}:{line}:{column}: {}\n    {}", self.message, text.trim())
    }
}

/// Line and column (both from 1, the column in bytes) of a byte offset, and the text of its line.
pub fn line_and_column(source: &str, offset: u32) -> (u32, u32, &str) {
    let bytes = source.as_bytes();
    let at = (offset as usize).min(bytes.len());
    let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |i| at + i);
    let line = 1 + bytes[..start].iter().filter(|&&b| b == b'\n').count();
    (line as u32, (at - start + 1) as u32, source.get(start..end).unwrap_or(""))
}
