//! Compile errors, with everything that a reader needs to find the cause.

use crate::excerpt::{readable_log, source_excerpt};
use std::fmt;

/// The kind of a failure, by how the caller can react.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The compiler refused the source; change the source.
    Source,
    /// An option is unknown or contradictory; change the options.
    Option,
    /// No suitable compiler was found; install one.
    CompilerMissing,
    /// The compiler cannot produce what was requested; use another target or compiler.
    Unsupported,
    /// Files could not be read or written, or the compiler crashed.
    Io,
    /// The wait for the compilation was interrupted, for instance by Ctrl-C.
    Interrupted,
}

/// A failed compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    /// How the caller can react.
    pub kind: ErrorKind,
    /// A one-line message.
    pub message: String,
    /// The compiler's command line, or its name followed by its options.
    pub command_line: Vec<String>,
    /// The compiler's own output, unchanged.
    pub log: String,
    /// The source lines that the log refers to, numbered, each with one line of context; only for the first errors, and
    /// of long lines only the relevant part.
    pub excerpt: String,
    /// The original source; empty if no compiler ran.
    pub source: Box<str>,
}

impl CompileError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (log, excerpt, source) = Default::default();
        Self { kind, message: message.into(), command_line: Vec::new(), log, excerpt, source }
    }

    pub(crate) fn bad_option(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Option, message)
    }

    pub(crate) fn with_compiler_log(
        mut self,
        command_line: Vec<String>,
        log: String,
        name: &str,
        source: &str,
    ) -> Self {
        self.excerpt = source_excerpt(&log, name, source);
        self.command_line = command_line;
        self.log = log;
        self.source = source.into();
        self
    }

    /// The log as [`fmt::Display`] shows it: without repeated diagnostics, with a long log truncated and long lines
    /// shortened. Where the compiler quotes lines that a template generated, the lines of the original source follow.
    pub fn readable_log(&self) -> String {
        let mut text = readable_log(&self.log);
        if self.excerpt_shows_more() {
            text.push_str(&format!("\n{}", self.excerpt.trim_end()));
        }
        text
    }

    /// Whether a line that the log speaks of is not quoted there.
    fn excerpt_shows_more(&self) -> bool {
        let marked = self.excerpt.lines().filter_map(|line| line.strip_prefix('>')?.split_once(" | "));
        let mut begins =
            marked.map(|(_, line)| line.trim().trim_start_matches("...").chars().take(40).collect::<String>());
        begins.any(|text| !self.log.contains(&text))
    }
}

impl CompileError {
    /// Adds the lines of `source` that the log refers to under `name`: a part of the program with its own `#line`.
    pub fn add_excerpt(&mut self, name: &str, source: &str) {
        let excerpt = source_excerpt(&self.log, name, source);
        if !excerpt.is_empty() {
            self.excerpt.push_str(&format!("{name}:\n{excerpt}"));
        }
    }
}

impl fmt::Display for CompileError {
    /// The message and the compiler's words; `{:#}` adds the command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let log = self.readable_log();
        if !log.is_empty() {
            write!(f, "\n{log}")?;
        }
        if f.alternate() && !self.command_line.is_empty() {
            write!(f, "\n[command: {}]", self.command_line.join(" "))?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
