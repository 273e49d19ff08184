//! S-expressions: words and lists, read with their places and laid out within a width.
//!
//! Reading establishes that brackets match and that nesting is at most [`MAX_DEPTH`] deep, so that what walks the result
//! may be recursive.

use super::TextError;
use crate::span::Span;
use std::iter::Peekable;
use std::str::Chars;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 200;

/// The width that a list may take before it is broken.
const WIDTH: usize = 100;

/// What a text consists of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sexp {
    /// What it is.
    pub(super) kind: SexpKind,
    /// Where it stands; columns count from 0.
    pub(super) span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SexpKind {
    /// Anything without spaces, brackets and quotes.
    Word(String),
    /// `"..."`, in which a backslash stands before a quote or a backslash.
    Text(String),
    /// `( ... )`.
    List(Vec<Sexp>),
    /// `[ ... ]`.
    Brackets(Vec<Sexp>),
}

impl Sexp {
    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&str> {
        if let SexpKind::Word(word) = &self.kind { Some(word) } else { None }
    }

    /// The elements, if it is a list.
    pub(super) fn list(&self) -> Option<&[Sexp]> {
        if let SexpKind::List(items) = &self.kind { Some(items) } else { None }
    }

    /// Whether it is a list that begins with a word.
    pub(super) fn begins_with(&self, word: &str) -> bool {
        self.list().and_then(|items| items.first()?.word()) == Some(word)
    }

    /// What stands here, for messages.
    pub(super) fn describe(&self) -> String {
        let head = |items: &[Sexp]| items.first().and_then(Sexp::word).map(str::to_owned);
        match &self.kind {
            SexpKind::Word(word) => format!("`{word}`"),
            SexpKind::Text(text) => quote(text),
            SexpKind::List(items) if items.is_empty() => "`()`".into(),
            SexpKind::List(items) => head(items).map_or_else(|| "a list".into(), |word| format!("`({word} ...)`")),
            SexpKind::Brackets(_) => "`[...]`".into(),
        }
    }

    /// An error here that says what was found instead.
    pub(super) fn expected(&self, what: &str) -> TextError {
        error_at(self.span, format!("found {}, expected {what}", self.describe()))
    }
}

/// A text as it is read.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// An error at a place of the text.
pub(super) fn error_at(span: Span, message: String) -> TextError {
    TextError { line: span.line, column: span.column + 1, message }
}

/// Reads all expressions of a text whose first line has number `first_line`.
pub(super) fn read(text: &str, first_line: u32) -> Result<Vec<Sexp>, TextError> {
    let mut reader = Reader { chars: text.chars().peekable(), line: first_line, column: 0 };
    let mut all = vec![];
    while let Some(next) = reader.next_token() {
        all.push(reader.expression(next, 0)?);
    }
    Ok(all)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    line: u32,
    column: u32,
}

impl Reader<'_> {
    fn advance(&mut self) -> Option<char> {
        let next = self.chars.next()?;
        if next == '\n' {
            (self.line, self.column) = (self.line + 1, 0);
        } else {
            self.column += 1;
        }
        Some(next)
    }

    /// The first character after spaces and comments, which stays.
    fn next_token(&mut self) -> Option<char> {
        loop {
            match *self.chars.peek()? {
                ';' => {
                    while self.chars.peek().is_some_and(|next| *next != '\n') {
                        self.advance();
                    }
                }
                space if space.is_whitespace() => {
                    self.advance();
                }
                other => return Some(other),
            }
        }
    }

    fn expression(&mut self, first: char, depth: usize) -> Result<Sexp, TextError> {
        let mut span = Span { line: self.line, column: self.column, ..Span::default() };
        let kind = match first {
            '(' => SexpKind::List(self.elements(span, ')', depth)?),
            '[' => SexpKind::Brackets(self.elements(span, ']', depth)?),
            '"' => SexpKind::Text(self.read_text(span)?),
            ')' | ']' => return Err(error_at(span, format!("found `{first}`, which closes nothing"))),
            _ => SexpKind::Word(self.read_word()),
        };
        (span.end_line, span.end_column) = (self.line, self.column);
        Ok(Sexp { kind, span })
    }

    fn read_word(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.chars.peek().filter(|next| !next.is_whitespace() && !"()[];\"".contains(**next)) {
            word.push(*next);
            self.advance();
        }
        word
    }

    fn read_text(&mut self, opened: Span) -> Result<String, TextError> {
        self.advance();
        let mut text = String::new();
        loop {
            let next = self.advance();
            match if next == Some('\\') { self.advance() } else { next } {
                Some('"') if next == Some('"') => return Ok(text),
                Some(letter) => text.push(letter),
                None => return Err(error_at(opened, "found a quote, expected another one after it".into())),
            }
        }
    }

    fn elements(&mut self, opened: Span, close: char, depth: usize) -> Result<Vec<Sexp>, TextError> {
        if depth >= MAX_DEPTH {
            return Err(error_at(opened, format!("more than {MAX_DEPTH} lists in each other")));
        }
        self.advance();
        let mut items = vec![];
        loop {
            match self.next_token() {
                None => {
                    let here = Span { line: self.line, column: self.column, ..Span::default() };
                    return Err(error_at(
                        here,
                        format!(
                            "found the end of the text, expected `{close}` for the list of line {}, column {}",
                            opened.line,
                            opened.column + 1
                        ),
                    ));
                }
                Some(next) if next == close => {
                    self.advance();
                    return Ok(items);
                }
                Some(next) => items.push(self.expression(next, depth + 1)?),
            }
        }
    }
}

/// A text to be laid out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// A word.
    Word(String),
    /// A list, and how many of its elements stay on the first line when it is broken.
    List(Vec<Layout>, usize),
}

impl Layout {
    /// A word.
    pub(super) fn word(text: impl Into<String>) -> Self {
        Layout::Word(text.into())
    }

    /// A list that stays on one line.
    pub(super) fn line(items: Vec<Layout>) -> Self {
        Layout::List(items, usize::MAX)
    }

    fn width(&self) -> usize {
        match self {
            Layout::Word(text) => text.chars().count(),
            Layout::List(items, _) => 1 + items.len().max(1) + items.iter().map(Layout::width).sum::<usize>(),
        }
    }

    /// Appends the text, whose first character is at column `indent`.
    pub(super) fn write(&self, indent: usize, text: &mut String) {
        match self {
            Layout::Word(word) => text.push_str(word),
            Layout::List(items, header) => {
                let fits = indent + self.width() <= WIDTH;
                text.push('(');
                for (at, item) in items.iter().enumerate() {
                    if fits || at < *header {
                        text.push_str(if at == 0 { "" } else { " " });
                        item.write_flat(text);
                    } else {
                        text.push('\n');
                        text.extend(std::iter::repeat_n(' ', indent + 2));
                        item.write(indent + 2, text);
                    }
                }
                text.push(')');
            }
        }
    }

    fn write_flat(&self, text: &mut String) {
        match self {
            Layout::Word(word) => text.push_str(word),
            Layout::List(items, _) => {
                text.push('(');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { " " });
                    item.write_flat(text);
                }
                text.push(')');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_first_character() {
        let all = read("; a comment\n(a [b\n  c]) d", 1).unwrap();
        let SexpKind::List(items) = &all[0].kind else { panic!("{all:?}") };
        assert_eq!((items[1].span.line, items[1].span.column, items[1].span.end_line), (2, 3, 3));
        assert_eq!((all[1].word(), all[1].span.line, all[1].span.column), (Some("d"), 3, 6));
    }

    #[test]
    fn brackets_that_do_not_match_are_named() {
        let message = |text: &str| read(text, 1).unwrap_err().to_string();
        assert_eq!(
            message("(a"),
            "line 1, column 3: found the end of the text, expected `)` for the list of line 1, column 1"
        );
        assert_eq!(message("(a]"), "line 1, column 3: found `]`, which closes nothing");
        assert_eq!(message("a\n )"), "line 2, column 2: found `)`, which closes nothing");
        assert!(message(&"(".repeat(1000)).contains("more than 200 lists"));
    }

    #[test]
    fn texts_are_read_as_they_are_quoted() {
        let text = "a (b) ; \"c\" \\";
        assert_eq!(read(&quote(text), 1).unwrap()[0].kind, SexpKind::Text(text.into()));
        assert_eq!(read("(a \"b)", 1).unwrap_err().column, 4);
    }

    #[test]
    fn lists_are_broken_after_their_header() {
        let long = Layout::word("x".repeat(60));
        let list = Layout::List(vec![Layout::word("head"), long.clone(), long], 2);
        let mut text = String::new();
        list.write(0, &mut text);
        assert_eq!(text, format!("(head {}\n  {})", "x".repeat(60), "x".repeat(60)));
    }
}
