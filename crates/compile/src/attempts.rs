//! The text of a program that NVRTC gets, and how it is changed when NVRTC refuses it.
//!
//! The text alone does not tell what nvcc would declare implicitly and what it would give to the host compiler, because
//! a name may be declared in a branch that is not taken. So the compiler is asked: its errors say which names are
//! missing or declared twice, and which host code it cannot compile. Each attempt changes something that later ones
//! cannot change back, so the number of attempts is finite.

use crate::host_code::{device_words, has_device_code, is_host_header, without_host_code};
use crate::implicit_includes::{self, ImplicitChoices, IncludeContext};
use crate::includes::{self, IncludeScan, SearchPath};
use crate::{clang, header_shims};
use std::path::{Path, PathBuf};

/// More attempts than any real program needs.
const MAX_ATTEMPTS: usize = 32;

/// A program for NVRTC.
pub(crate) struct Program<'a> {
    /// Its name in messages.
    pub(crate) name: String,
    /// The user's text, as far as it is not the host's.
    pub(crate) source: String,
    /// Macros that options define, as `NAME=VALUE`.
    pub(crate) macros: &'a [String],
    pub(crate) scan: IncludeScan,
    /// Directories of headers that are given as virtual ones.
    pub(crate) more_include_dirs: Vec<PathBuf>,
    pub(crate) no_extern_c: bool,
    pub(crate) path: &'a SearchPath<'a>,
    pub(crate) choices: ImplicitChoices,
    pub(crate) n_attempts: usize,
    /// Whether clang compiles it, whose prelude has what NVRTC lacks.
    pub(crate) is_for_clang: bool,
    /// Lines before all others.
    pub(crate) first_lines: &'static str,
}

/// What [`Program::improve`] has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Improvement {
    /// Nothing: the errors are the program's.
    None,
    /// Declarations before the text.
    Declarations,
    /// Host code is left out. If there are further errors, the first ones are worth more.
    HostCode,
}

impl Program<'_> {
    /// The whole text, the user's between what it needs.
    pub(crate) fn full_text(&mut self) -> String {
        let headers_of_user = self.scan.user_texts.iter().map(|(_, text)| text.as_str());
        let texts: Vec<&str> = std::iter::once(self.source.as_str()).chain(headers_of_user).collect();
        let without_host = self.is_for_clang || self.scan.uses_toolkit || self.scan.lacks_a_header;
        let around = IncludeContext { without_host, without_functions: self.is_for_clang };
        let implicit = implicit_includes::implicit_prelude(&texts, around, &mut self.choices);
        let prelude =
            [self.first_lines, implicit.text.as_str(), header_shims::texture_reference_declarations(&texts)].concat();
        if !implicit.headers.is_empty() {
            includes::add_headers(&mut self.scan, implicit.headers, self.path);
        }
        wrap_extern_c(&self.source, &self.name, self.no_extern_c, &prelude)
    }

    /// Changes the program after a refusal with this log, which is also given `in_words_of_nvrtc`.
    pub(crate) fn improve(&mut self, log: &str, in_words_of_nvrtc: &str) -> Improvement {
        self.n_attempts += 1;
        if self.n_attempts > MAX_ATTEMPTS {
            return Improvement::None;
        }
        if let Some(text) = clang::cuda::improved_source(&self.source, &self.name, log).filter(|_| self.is_for_clang) {
            self.source = text;
            return Improvement::Declarations;
        }
        let log = in_words_of_nvrtc;
        if self.choices.learn(log) {
            return Improvement::Declarations;
        }
        let has_stubs = self.add_empty_host_headers(log);
        let has_less = self.leave_host_code_out(log);
        if has_stubs || has_less { Improvement::HostCode } else { Improvement::None }
    }

    /// Gives headers of the host's libraries that are nowhere as empty ones.
    fn add_empty_host_headers(&mut self, log: &str) -> bool {
        if !log.contains(" open source file \"") {
            return false;
        }
        let wanted = std::mem::take(&mut self.scan.missing_headers);
        let (host, others): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|name| is_host_header(name));
        self.scan.missing_headers = others;
        let is_any = !host.is_empty();
        self.scan.virtual_headers.extend(host.into_iter().map(|name| (name, String::new())));
        is_any
    }

    /// Leaves out host code that the log has errors in, beside code of the device: else the errors are the program's.
    fn leave_host_code_out(&mut self, log: &str) -> bool {
        let of_options: String = self.macros.iter().map(|m| format!("#define {}\n", m.replacen('=', " ", 1))).collect();
        let texts = || std::iter::once(&self.source).chain(self.scan.user_texts.iter().map(|(_, text)| text));
        let words = device_words(texts().chain([&of_options]).map(String::as_str));
        if !texts().any(|text| has_device_code(text, &words)) {
            return false;
        }
        let mut is_changed = false;
        if let Some(text) = without_host_code(&self.source, &self.name, log, &words) {
            self.source = text;
            is_changed = true;
        }
        let mut given: Vec<(String, String)> = Vec::new();
        for (file, text) in &mut self.scan.user_texts {
            let names = include_names(file, self.path.user);
            let shown = file.display().to_string();
            let found =
                std::iter::once(&shown).chain(&names).find_map(|name| without_host_code(text, name, log, &words));
            let Some(without) = found.filter(|_| !names.is_empty()) else { continue };
            *text = without;
            given.extend(names.into_iter().map(|name| (name, text.clone())));
            self.more_include_dirs.extend(file.parent().map(Path::to_owned));
        }
        is_changed |= !given.is_empty();
        for (name, text) in given {
            self.scan.virtual_headers.retain(|(known, _)| *known != name);
            self.scan.virtual_headers.push((name, text));
        }
        is_changed
    }
}

/// How a source can name a file that it includes.
fn include_names(file: &Path, dirs: &[PathBuf]) -> Vec<String> {
    let names = dirs.iter().filter_map(|dir| Some(file.strip_prefix(dir).ok()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    names.dedup();
    names
}

/// The text that a compiler sees: `prelude`, then the source inside `extern "C"` unless not wanted, its lines numbered as
/// the user's.
pub(crate) fn wrap_extern_c(source: &str, name: &str, no_extern_c: bool, prelude: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let (before, after) = if no_extern_c { ("", "") } else { ("extern \"C\" {\n", "\n}\n") };
    format!("{prelude}\n{before}#line 1 \"{name}\"\n{source}\n{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_directories() {
        let dirs = [PathBuf::from("/a"), PathBuf::from("/a/b"), PathBuf::from("/c")];
        assert_eq!(include_names(Path::new("/a/b/x.h"), &dirs), ["b/x.h", "x.h"]);
    }
}
