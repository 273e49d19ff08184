//! What can go wrong between source and binary, with everything a reader needs to see why.

use crate::excerpt::{readable_log, source_excerpt};
use std::fmt;

/// What kind of failure it was, by what the caller can do about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The compiler refused the source: change the source.
    Source,
    /// An option is unknown or contradictory: change the options.
    Option,
    /// No compiler that could do it was found: install one.
    CompilerMissing,
    /// The compiler cannot produce what was requested: another target or compiler is needed.
    Unsupported,
    /// Files could not be read or written, or the compiler broke down.
    Io,
    /// Whoever waited for it was interrupted, as by Ctrl-C.
    Interrupted,
}

/// A failed compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    /// What the caller can do about it.
    pub kind: ErrorKind,
    /// One line.
    pub message: String,
    /// The compiler's command line, or its name followed by the options it was given.
    pub command_line: Vec<String>,
    /// The compiler's own output, unchanged.
    pub log: String,
    /// The source lines that the log speaks of, numbered, with one line of context around each; those of the
    /// first errors, and of long lines the part concerned.
    pub excerpt: String,
    /// The source as it was given; empty where no compiler ran.
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

    /// The log as [`fmt::Display`] shows it: each diagnostic once, a long log without its end, and of long lines the
    /// part concerned. Behind it stand lines of the source as it was written, where the compiler quotes others: those
    /// that a template made of them.
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
    /// Adds the lines of `source` that the log speaks of under `name`: a part of the program that has a `#line`
    /// of its own.
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
