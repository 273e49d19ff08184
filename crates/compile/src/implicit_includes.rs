//! What nvcc's implicit `#include <cuda_runtime.h>` and its host compiler add to every source but NVRTC does not:
//! types, macros, functions, and names of `std`. A program gets those whose names it uses.
//!
//! A name that the program seems to declare itself is left out at first. The text does not tell whether it really does,
//! because preprocessor conditions may not hold, so [`ImplicitChoices`] learns it from the compiler's errors. A macro
//! that is defined under a condition is supplied in any case.

use crate::source_tokens::{split_directive, token_lines};
use rtcg_c_lex::{Token, TokenKind, tokenize};
use std::collections::HashMap;
use std::sync::OnceLock;

const IMPLICIT_TYPES: &[(&str, &str)] = &[
    ("uint", "unsigned int"),
    ("ushort", "unsigned short"),
    ("ulong", "unsigned long"),
    ("u_char", "unsigned char"),
    ("u_short", "unsigned short"),
    ("u_int", "unsigned int"),
    ("u_long", "unsigned long"),
    ("int8_t", "signed char"),
    ("int16_t", "short"),
    ("int32_t", "int"),
    ("int64_t", "long long"),
    ("uint8_t", "unsigned char"),
    ("uint16_t", "unsigned short"),
    ("uint32_t", "unsigned int"),
    ("uint64_t", "unsigned long long"),
    ("u_int8_t", "unsigned char"),
    ("u_int16_t", "unsigned short"),
    ("u_int32_t", "unsigned int"),
    ("u_int64_t", "unsigned long"),
    ("uintptr_t", "unsigned long long"),
    ("intptr_t", "long long"),
    ("ssize_t", "long"),
    ("off_t", "long"),
    ("time_t", "long"),
    ("pid_t", "int"),
    ("float_t", "float"),
    ("double_t", "double"),
];

/// Object macros, `NAME value` in each line.
pub(crate) const IMPLICIT_MACROS: &str = include_str!("headers/implicit-macros.h");

/// What the host compiler defines. Headers of the toolkit would take NVRTC for it.
const HOST_MACROS: &[(&str, &str)] = &[
    ("__GNUC__", "12"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "0"),
    ("__GNUG__", "12"),
    ("__NVCC__", "1"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("__gnu_linux__", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("__x86_64__", "1"),
    ("__x86_64", "1"),
    ("__amd64__", "1"),
    ("_LP64", "1"),
    ("_GNU_SOURCE", "1"),
];

/// Functions of which a whole text comes.
const IMPLICIT_FUNCTIONS: &[(&str, &str)] =
    &[("strlen", include_str!("headers/strlen.h")), ("pow", include_str!("headers/pow.h"))];

/// The headers with the names of `std` that nvcc has without any `#include`.
const IMPLICIT_STD_HEADERS: [&str; 3] = ["cmath", "cstddef", "utility"];
/// Names of `std` that those have and nvcc does not give.
const EXCLUDED_STD_NAMES: [&str; 3] = ["swap", "make_pair", "declval"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum ImplicitDeclaration {
    Type(&'static str),
    Macro(&'static str),
    HostMacro(&'static str),
    Function(&'static str),
    Std,
}

/// What a program needs before its text.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct ImplicitPrelude {
    pub(crate) text: String,
    /// Headers of `header_shims` that the text includes.
    pub(crate) headers: &'static [&'static str],
}

/// What the compiler's errors say of names that a program declares itself, or seems to.
#[derive(Default, Debug)]
pub(crate) struct ImplicitChoices {
    /// Left out, because the text seems to declare them.
    left_out: Vec<&'static str>,
    /// Given all the same.
    wanted: Vec<&'static str>,
    /// Not given, because there are declarations that the text did not show.
    unwanted: Vec<&'static str>,
    /// Given in the last prelude.
    given: Vec<&'static str>,
}

impl ImplicitChoices {
    /// Learns from the log of a refused program; false if it says nothing new.
    pub(crate) fn learn(&mut self, log: &str) -> bool {
        let says = |before: &str, name: &str| log.contains(&format!("{before} \"{name}\""));
        let is_missing = |name: &&&str| says("identifier", name) && log.contains(&format!("\"{name}\" is undefined"));
        let is_twice = |name: &&&str| says("redeclaration of type name", name);
        let missing: Vec<_> =
            self.left_out.iter().filter(|name| !self.wanted.contains(name)).filter(is_missing).collect();
        let twice: Vec<_> = self.given.iter().filter(|name| !self.unwanted.contains(name)).filter(is_twice).collect();
        let is_new = !missing.is_empty() || !twice.is_empty();
        let (missing, twice): (Vec<&str>, Vec<&str>) =
            (missing.into_iter().copied().collect(), twice.into_iter().copied().collect());
        self.wanted.extend(missing);
        self.unwanted.extend(twice);
        is_new
    }

    fn leaves_out(&mut self, name: &'static str, piece: ImplicitDeclaration, texts: &[TokenizedText<'_>]) -> bool {
        if self.unwanted.contains(&name) {
            return true;
        }
        if self.wanted.contains(&name) || !texts.iter().any(|text| text.declares(name, piece)) {
            self.given.push(name);
            return false;
        }
        self.left_out.push(name);
        true
    }
}

/// What is known of the headers that a program includes.
#[derive(Clone, Copy, Default)]
pub(crate) struct IncludeContext {
    /// There are headers of the toolkit among them, or some that were not found and that only a host compiler
    /// would need: what the host compiler defines is left out.
    pub(crate) without_host: bool,
    /// Whether the compiler has the functions.
    pub(crate) without_functions: bool,
}

fn declarations_by_name() -> &'static HashMap<&'static str, (usize, ImplicitDeclaration)> {
    static DECLARATIONS_BY_NAME: OnceLock<HashMap<&str, (usize, ImplicitDeclaration)>> = OnceLock::new();
    DECLARATIONS_BY_NAME.get_or_init(|| {
        let types = IMPLICIT_TYPES.iter().map(|(name, text)| (*name, ImplicitDeclaration::Type(text)));
        let macros = IMPLICIT_MACROS.lines().filter_map(|line| line.split_once(' '));
        let macros = macros.map(|(name, text)| (name, ImplicitDeclaration::Macro(text)));
        let host = HOST_MACROS.iter().map(|(name, text)| (*name, ImplicitDeclaration::HostMacro(text)));
        let functions = IMPLICIT_FUNCTIONS.iter().map(|(name, text)| (*name, ImplicitDeclaration::Function(text)));
        let all = types.chain(macros).chain(host).chain(functions).chain([("std", ImplicitDeclaration::Std)]);
        all.enumerate().map(|(i, (name, piece))| (name, (i, piece))).collect()
    })
}

/// What the user-written `texts` of a program need.
pub(crate) fn implicit_prelude(
    texts: &[&str],
    around: IncludeContext,
    choices: &mut ImplicitChoices,
) -> ImplicitPrelude {
    let declarations = declarations_by_name();
    let mut found: Vec<(usize, &'static str, ImplicitDeclaration)> = Vec::new();
    for text in texts {
        for (at, word) in words_with_offsets(text) {
            let Some((&name, &(i, piece))) = declarations.get_key_value(word) else { continue };
            if found.iter().all(|f| f.0 != i) && (piece != ImplicitDeclaration::Std || uses_implicit_std_name(text, at))
            {
                found.push((i, name, piece));
            }
        }
    }
    found.sort_by_key(|f| f.0);
    let mut out = ImplicitPrelude::default();
    if found.is_empty() {
        return out;
    }
    choices.left_out.clear();
    choices.given.clear();
    let texts: Vec<TokenizedText<'_>> = texts.iter().map(|text| TokenizedText::new(text)).collect();
    for (_, name, piece) in found {
        if !choices.leaves_out(name, piece, &texts) {
            out.add_declaration(name, piece, around);
        }
    }
    out
}

impl ImplicitPrelude {
    fn add_declaration(&mut self, name: &str, piece: ImplicitDeclaration, around: IncludeContext) {
        match piece {
            ImplicitDeclaration::Type(what) => self.text.push_str(&format!("typedef {what} {name};")),
            ImplicitDeclaration::HostMacro(_) if around.without_host => {}
            ImplicitDeclaration::Function(_) if around.without_functions => {}
            ImplicitDeclaration::Macro(what) | ImplicitDeclaration::HostMacro(what) => {
                self.text.push_str(&format!("\n#define {name} {what}\n"))
            }
            ImplicitDeclaration::Function(text) => self.text.push_str(&format!("\n{text}\n")),
            ImplicitDeclaration::Std => {
                IMPLICIT_STD_HEADERS.iter().for_each(|header| self.text.push_str(&format!("\n#include <{header}>\n")));
                self.headers = &IMPLICIT_STD_HEADERS;
            }
        }
    }
}

/// A text without its comments.
struct TokenizedText<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
}

impl<'a> TokenizedText<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, tokens: tokenize(text) }
    }

    /// Whether it seems to declare a name, perhaps under a condition.
    fn declares(&self, name: &str, piece: ImplicitDeclaration) -> bool {
        match piece {
            ImplicitDeclaration::Type(_) => self.defines_type(name),
            ImplicitDeclaration::Macro(_) | ImplicitDeclaration::HostMacro(_) => {
                defines_macro_unconditionally(self.text, name)
            }
            ImplicitDeclaration::Function(_) => self.defines_type(name) || self.declares_function(name),
            // A C++ library of the user's own.
            ImplicitDeclaration::Std => self.tokens.windows(2).any(|t| t[0].text == "namespace" && t[1].text == "std"),
        }
    }

    /// Where a word stands: the tokens before and behind it.
    fn places(&self, name: &str) -> impl Iterator<Item = (&[Token<'a>], &[Token<'a>])> {
        let is_it = move |token: &Token<'_>| token.kind == TokenKind::Word && token.text == name;
        let places = (0..self.tokens.len()).filter(move |&at| is_it(&self.tokens[at]));
        places.map(|at| (&self.tokens[..at], &self.tokens[at + 1..]))
    }

    /// Whether there is `... name;` behind `typedef`, `using name`, `#define name`, `struct name`.
    fn defines_type(&self, name: &str) -> bool {
        self.places(name).any(|(before, after)| {
            let mut statement = before.iter().rev().take_while(|token| !matches!(token.text, ";" | "{" | "}"));
            let ends = after.first().is_some_and(|token| matches!(token.text, ";" | ","));
            let previous = before.last().map_or("", |token| token.text);
            matches!(previous, "define" | "using" | "struct" | "class" | "enum" | "union")
                || (ends && statement.any(|token| token.text == "typedef"))
        })
    }

    /// Whether a function of this name seems to be declared: a type stands before it.
    fn declares_function(&self, name: &str) -> bool {
        const NON_TYPE_KEYWORDS: [&str; 4] = ["return", "else", "do", "case"];
        self.places(name).any(|(before, after)| {
            let is_call = after.first().is_some_and(|token| token.text == "(");
            let previous = before.last().filter(|token| token.kind == TokenKind::Word);
            is_call && previous.is_some_and(|token| !NON_TYPE_KEYWORDS.contains(&token.text))
        })
    }
}

fn is_identifier_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The words of a text with their places, those of comments and literals among them.
fn words_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(|&b| is_identifier_char(b))?;
        let start = at;
        at += bytes[at..].iter().position(|&b| !is_identifier_char(b)).unwrap_or(bytes.len() - at);
        Some((start, &text[start..at]))
    })
}

/// Whether the word `std` at `at` begins one of the names that nvcc gives.
fn uses_implicit_std_name(text: &str, at: usize) -> bool {
    let Some(rest) = text[at + 3..].trim_start().strip_prefix("::") else { return false };
    let name = words_with_offsets(rest.trim_start()).next().map_or("", |(_, name)| name);
    !text[..at].trim_end().ends_with("::") && !EXCLUDED_STD_NAMES.contains(&name)
}

/// Whether a text defines a macro under no condition (that of a header's own guard aside).
fn defines_macro_unconditionally(text: &str, name: &str) -> bool {
    if !text.contains(name) {
        return false;
    }
    let mut open: Vec<bool> = Vec::new();
    let mut guard = None;
    for line in token_lines(text) {
        let Some((word, rest)) = split_directive(&line) else { continue };
        let (word, what) = (word.text, rest.first().map_or("", |token| token.text));
        let guarded = guard.take();
        match word {
            "if" | "ifdef" | "ifndef" => {
                open.push(true);
                guard = (word == "ifndef").then_some(what);
            }
            "define" => {
                let defined = what;
                // `#ifndef NAME` before `#define NAME` is a guard, unless the macro is one that is given here.
                if guarded == Some(defined) && defined != name {
                    open.pop();
                    open.push(false);
                }
                if defined == name && !open.contains(&true) {
                    return true;
                }
            }
            "endif" => drop(open.pop()),
            _ => {}
        }
    }
    false
}

/// Whether the source seems to define a type of this name.
pub(crate) fn defines_type(source: &str, name: &str) -> bool {
    source.contains(name) && TokenizedText::new(source).defines_type(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prelude(source: &str) -> ImplicitPrelude {
        implicit_prelude(&[source], IncludeContext::default(), &mut ImplicitChoices::default())
    }

    fn prelude_text(source: &str) -> String {
        prelude(source).text
    }

    #[test]
    fn the_prelude_declares_used_but_undeclared_names() {
        assert_eq!(prelude_text("__global__ void f(uint *a) {}"), "typedef unsigned int uint;");
        assert_eq!(prelude_text("typedef unsigned   uint;\n__global__ void f(uint *a) {}"), "");
        assert_eq!(prelude_text("using uint = unsigned; uint x;"), "");
        assert_eq!(prelude_text("#define M_PI 3.14f\nfloat x = M_PI;"), "");
        assert!(prelude_text("float x = M_PI;").contains("#define M_PI 3.14159"));
        assert_eq!(prelude_text("int x, M_PIX, my_uint;"), "");
        assert_eq!(prelude_text("int x = INT_MAX;"), "\n#define INT_MAX 2147483647\n");
        assert_eq!(prelude_text("float x = FLT_MAX; int y = INT32_MAX;"), "", "nvcc does not give these");
        let host = implicit_prelude(
            &["#ifdef __GNUC__"],
            IncludeContext { without_host: true, ..IncludeContext::default() },
            &mut ImplicitChoices::default(),
        );
        assert_eq!((host.text.as_str(), prelude_text("#ifdef __GNUC__").contains("12")), ("", true));
    }

    #[test]
    fn conditionally_defined_macros_are_still_provided() {
        for source in [
            "#ifdef _MSC_VER\n#define NAN 1.0f\n#endif\nfloat x = NAN;",
            "#if 0\n#define NAN 0\n#endif\nfloat x = NAN;",
            "#ifndef NAN\n#define NAN 0\n#endif\nfloat x = NAN;",
        ] {
            assert!(prelude_text(source).contains("#define NAN (__int"), "{source}");
        }
        assert_eq!(prelude_text("#if 1\n#endif\n# define NAN 0\nfloat x = NAN;"), "");
        assert_eq!(prelude_text("#ifndef MINE_H\n#define MINE_H\n#define NAN 0\n#endif\nfloat x = NAN;"), "");
    }

    #[test]
    fn comments_and_texts_declare_nothing() {
        for source in [
            "// typedef int uint;\nuint x;",
            "/* using uint = int; */ uint x;",
            "char *s = \"typedef int uint;\"; uint x;",
        ] {
            assert!(prelude_text(source).contains("typedef unsigned int uint;"), "{source}");
        }
        assert!(prelude_text("// int pow(int)\nint n = pow(2, 3);").contains("pow"));
        assert!(!prelude("// namespace std {}\nfloat x = std::abs(1.f);").headers.is_empty());
        assert!(prelude_text("/*\n#define NAN 0\n*/\nfloat x = NAN;").contains("#define NAN"));
        assert_eq!(prelude_text("typedef int uint, *uint_pointer; uint x;"), "");
    }

    #[test]
    fn choices_follow_the_errors_of_the_compiler() {
        let source = "#ifdef NO\ntypedef int uint;\n#endif\n#define MINE(T) typedef long T;\nMINE(int32_t) uint x;";
        let mut choices = ImplicitChoices::default();
        let text = |choices: &mut _| implicit_prelude(&[source], IncludeContext::default(), choices).text;
        assert_eq!(text(&mut choices), "typedef int int32_t;");
        assert!(!choices.learn("k.cu(1): error: identifier \"y\" is undefined"));
        assert!(choices.learn("k.cu(5): error: identifier \"uint\" is undefined"));
        assert_eq!(text(&mut choices), "typedef unsigned int uint;typedef int int32_t;");
        assert!(choices.learn("k.cu(5): error: invalid redeclaration of type name \"int32_t\" (declared at ...)"));
        assert_eq!(text(&mut choices), "typedef unsigned int uint;");
        assert!(!choices.learn("identifier \"uint\" is undefined; redeclaration of type name \"int32_t\""));
    }

    #[test]
    fn std_names_add_their_headers() {
        assert_eq!(prelude("x = std::abs(y);").headers, IMPLICIT_STD_HEADERS);
        for source in ["cuda::std::abs(1)", "std::swap(a, b)", "int std;", "namespace std { int f; } std::abs(1);"] {
            assert_eq!(prelude(source).headers, [""; 0], "{source}");
        }
    }

    #[test]
    fn functions_that_a_program_declares_are_not_provided() {
        assert!(prelude_text("return strlen(s) + pow(2, 3);").contains("rtcg_string"));
        assert_eq!(prelude_text("__device__ int strlen(const char *s) { return 0; } int n = strlen(s);"), "");
        assert_eq!(prelude_text("__device__ int pow (int a, int b);"), "");
    }
}
