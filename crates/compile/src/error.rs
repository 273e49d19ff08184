//! What can go wrong between source and binary, with everything a reader needs to see why.

use std::collections::BTreeSet;
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
    /// The compiler cannot produce what was asked for: another target or compiler is needed.
    Unsupported,
    /// Files could not be read or written, or the compiler broke down.
    Io,
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
    /// The source lines that the log speaks of, numbered, with one line of context around each.
    pub excerpt: String,
}

impl CompileError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), command_line: Vec::new(), log: String::new(), excerpt: String::new() }
    }

    pub(crate) fn option(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Option, message)
    }

    pub(crate) fn with_log(mut self, command_line: Vec<String>, log: String, name: &str, source: &str) -> Self {
        self.excerpt = excerpt(&log, name, source);
        self.command_line = command_line;
        self.log = log;
        self
    }
}

impl CompileError {
    /// Adds the lines of `source` that the log speaks of under `name`: a part of the program that has a `#line`
    /// of its own.
    pub fn add_excerpt(&mut self, name: &str, source: &str) {
        let excerpt = excerpt(&self.log, name, source);
        if !excerpt.is_empty() {
            self.excerpt.push_str(&format!("{name}:\n{excerpt}"));
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.command_line.is_empty() {
            write!(f, "\n[command: {}]", self.command_line.join(" "))?;
        }
        if !self.log.trim().is_empty() {
            write!(f, "\n[log:\n{}]", self.log.trim_end())?;
        }
        if !self.excerpt.is_empty() {
            write!(f, "\n[source:\n{}]", self.excerpt.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}

/// The lines of `source` that `log` names as `name(LINE)` or `name:LINE`.
fn excerpt(log: &str, name: &str, source: &str) -> String {
    let named = lines_named(log, name);
    let lines: Vec<&str> = source.lines().collect();
    let shown: BTreeSet<usize> =
        named.iter().flat_map(|&n| n.saturating_sub(1)..=n + 1).filter(|n| (1..=lines.len()).contains(n)).collect();
    let width = shown.last().map_or(0, |n| n.to_string().len());
    let mut text = String::new();
    let mut previous = None;
    for n in shown {
        if previous.is_some_and(|p| p + 1 != n) {
            text.push_str("...\n");
        }
        let mark = if named.contains(&n) { '>' } else { ' ' };
        text.push_str(&format!("{mark} {n:>width$} | {}\n", lines[n - 1]));
        previous = Some(n);
    }
    text
}

fn lines_named(log: &str, name: &str) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for (at, _) in log.match_indices(name) {
        let rest = &log[at + name.len()..];
        if let Some(rest) = rest.strip_prefix(['(', ':']) {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Ok(line) = rest[..digits].parse() {
                found.insert(line);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn excerpt_shows_named_lines_with_their_neighbours() {
        let source = "one\ntwo\nthree\nfour\nfive\nsix\nseven";
        let log = "kernel.cu(2): error: x\n  two\nkernel.cu(6): error: y\nkernel.cu(900): error: z";
        let expected = "  1 | one\n> 2 | two\n  3 | three\n...\n  5 | five\n> 6 | six\n  7 | seven\n";
        assert_eq!(excerpt(log, "kernel.cu", source), expected);
        assert_eq!(excerpt("no line is named", "kernel.cu", source), "");
        assert_eq!(excerpt("kernel.cu(0): odd", "kernel.cu", source), "  1 | one\n");
    }
}
