//! Places in the user's source.

use std::sync::Arc;

/// A range of characters, with lines counted from 1 and columns from 0, as Python's `ast` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Which of the program's files; see [`Files`].
    pub file: u32,
    /// The first line; 0 if nothing is known.
    pub line: u32,
    /// The first column, in characters.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// The column after the last one.
    pub end_column: u32,
}

impl Span {
    /// Whether it says where something is.
    pub fn is_known(self) -> bool {
        self.line > 0
    }
}

/// A file in which functions of a program are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, or a name such as `<stdin>`.
    pub name: Arc<str>,
    /// The number of the first line in `lines`.
    pub first_line: u32,
    /// Lines of its text, those of the functions at least.
    pub lines: Arc<[String]>,
}

/// The files of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files(pub Vec<File>);

impl Files {
    /// The text of a line.
    pub fn line(&self, file: u32, line: u32) -> Option<&str> {
        let file = self.0.get(file as usize)?;
        file.lines.get(line.checked_sub(file.first_line)? as usize).map(String::as_str)
    }

    /// The text of a range in one line.
    pub fn text(&self, span: Span) -> Option<String> {
        let line = self.line(span.file, span.line).filter(|_| span.end_line == span.line)?;
        let n = span.end_column.checked_sub(span.column)?;
        Some(line.chars().skip(span.column as usize).take(n as usize).collect())
    }
}
