//! Tokenises C++ text for reading declarations: removes comments and literals, and expands object-like macros.
//!
//! Assumes nothing about the text: invalid C++ gives useless tokens but no error. Preprocessor conditions are not
//! evaluated, so a macro with two definitions is replaced by [`UNKNOWN_TYPE`].

use crate::source_tokens::{split_directive, token_lines};
use rtcg_c_lex::Token;
use std::collections::{BTreeSet, HashMap};

/// What stands for something that cannot be known without the compiler.
pub(crate) const UNKNOWN_TYPE: &str = "?";

/// How often a macro is searched for in what a macro became.
const MAX_MACRO_NESTING: usize = 8;

/// From here on macros are no longer replaced: they may grow without bound.
const MAX_TOKENS: usize = 1 << 20;

/// The tokens of a source and of macros given as options (`NAME` or `NAME=value`).
pub(crate) fn declaration_tokens(source: &str, macros: &[String]) -> Vec<String> {
    let mut defined = HashMap::new();
    for text in macros {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        define_macro(&mut defined, name, &token_lines(value).concat());
    }
    let mut raw = Vec::new();
    for line in token_lines(source) {
        match split_directive(&line) {
            Some((word, rest)) => apply_macro_directive(word.text, rest, &mut defined),
            None => push_words(&line, &mut raw),
        }
    }
    let mut out = Vec::with_capacity(raw.len());
    raw.into_iter().for_each(|token| expand_macro(token, &defined, 0, &mut out));
    out
}

/// The identifiers of a source after macro expansion: possible names of variables.
pub fn expanded_identifiers(source: &str) -> BTreeSet<String> {
    let starts_a_name = |token: &String| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    declaration_tokens(source, &[]).into_iter().filter(starts_a_name).collect()
}

fn apply_macro_directive(word: &str, rest: &[Token<'_>], defined: &mut HashMap<String, Vec<String>>) {
    let Some((name, body)) = rest.split_first() else { return };
    let has_parameters = body.first().is_some_and(|next| next.text == "(" && next.at == name.end());
    match word {
        "define" if !has_parameters => define_macro(defined, name.text, body),
        "undef" => _ = defined.insert(name.text.to_owned(), vec![UNKNOWN_TYPE.to_owned()]),
        _ => {}
    }
}

fn define_macro(defined: &mut HashMap<String, Vec<String>>, name: &str, value: &[Token<'_>]) {
    let mut body = Vec::new();
    push_words(value, &mut body);
    let known = defined.entry(name.to_owned()).or_insert_with(|| body.clone());
    if *known != body {
        *known = vec![UNKNOWN_TYPE.to_owned()];
    }
}

fn expand_macro(token: String, defined: &HashMap<String, Vec<String>>, depth: usize, out: &mut Vec<String>) {
    match defined.get(&token).filter(|_| depth < MAX_MACRO_NESTING && out.len() < MAX_TOKENS) {
        Some(body) => {
            body.iter().filter(|t| **t != token).for_each(|t| expand_macro(t.clone(), defined, depth + 1, out))
        }
        None => out.push(token),
    }
}

/// The words of a line: `::` is one.
fn push_words(line: &[Token<'_>], out: &mut Vec<String>) {
    for (i, token) in line.iter().enumerate() {
        let joins = token.text == ":" && i > 0 && line[i - 1].text == ":" && line[i - 1].end() == token.at;
        match out.last_mut().filter(|last| joins && *last == ":") {
            Some(last) => last.push(':'),
            None => out.push(token.text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_tokens(source: &str, macros: &[&str]) -> String {
        declaration_tokens(source, &macros.iter().map(|m| (*m).to_string()).collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn each_identifier_is_listed_once() {
        let found =
            expanded_identifiers("#define N taps\n__constant__ float N[9] = {1.5f}; // no\nfloat _x = taps[3];");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["__constant__", "_x", "float", "taps"]);
    }

    #[test]
    fn comments_are_dropped_and_macros_expanded() {
        assert_eq!(joined_tokens("a/*b\nc*/d // e\n\"f\\\"g\" 'h' 1'000 i", &[]), "a d 1'000 i");
        assert_eq!(joined_tokens("#define real double\n real x;", &[]), "double x ;");
        assert_eq!(joined_tokens("real x;", &["real=float", "FAST"]), "float x ;");
        assert_eq!(joined_tokens("#if A\n#define real float\n#else\n#define real double\n#endif\nreal x", &[]), "? x");
        assert_eq!(joined_tokens("#define F(x) x\nF(1)", &[]), "F ( 1 )");
        assert_eq!(joined_tokens("#define a b\n#define b a\na", &[]), "a");
        assert_eq!(joined_tokens("#define two \\\n unsigned int\ntwo *p", &[]), "unsigned int * p");
    }
}
