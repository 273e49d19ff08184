//! C++ text to words and signs, for reading declarations: comments and literals are removed, object
//! macros are replaced.
//!
//! Assumes nothing of the text: what is no C++ gives words of no use and no error. Conditions of
//! the preprocessor are not evaluated, so a macro that has two definitions is replaced by [`UNKNOWN_TYPE`].

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
        define_macro(&mut defined, name, value);
    }
    let text = blank_comments(source);
    let mut raw = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        match line.trim_start().strip_prefix('#') {
            Some(directive) => apply_macro_directive(directive.trim_start(), &mut defined),
            None => tokenize_line(line, &mut raw),
        }
    }
    let mut out = Vec::with_capacity(raw.len());
    raw.into_iter().for_each(|token| expand_macro(token, &defined, 0, &mut out));
    out
}

/// The identifiers of a source, those of its macros replaced: what may be the name of a variable.
pub fn expanded_identifiers(source: &str) -> BTreeSet<String> {
    let starts_a_name = |token: &String| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    declaration_tokens(source, &[]).into_iter().filter(starts_a_name).collect()
}

fn apply_macro_directive(text: &str, defined: &mut HashMap<String, Vec<String>>) {
    if let Some(rest) = text.strip_prefix("define") {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !is_identifier_char(c)).unwrap_or(rest.len());
        if !rest[end..].starts_with('(') {
            define_macro(defined, &rest[..end], &rest[end..]);
        }
    } else if let Some(name) = text.strip_prefix("undef") {
        defined.insert(name.trim().to_owned(), vec![UNKNOWN_TYPE.to_owned()]);
    }
}

fn define_macro(defined: &mut HashMap<String, Vec<String>>, name: &str, value: &str) {
    let mut body = Vec::new();
    tokenize_line(value, &mut body);
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

/// The text with comments and the contents of literals as blanks. Lines stay lines.
fn blank_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' || (c == '\'' && !out.ends_with(|last: char| last.is_ascii_digit())) {
            literal_length(rest, c)
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.push(' ');
        out.extend(rest[..skipped].matches('\n'));
        rest = &rest[skipped..];
    }
    out
}

/// The length of the literal at the start of `text`, its quotes included; it ends with its line.
fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_identifier_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Words, `::` and single signs.
fn tokenize_line(line: &str, out: &mut Vec<String>) {
    let mut rest = line.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = if is_identifier_char(c) {
            rest.find(|c| !is_identifier_char(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        out.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
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
        assert_eq!(joined_tokens("a/*b\nc*/d // e\n\"f\\\"g\" 'h' 1'000 i", &[]), "a d 1 ' 000 i");
        assert_eq!(joined_tokens("#define real double\n real x;", &[]), "double x ;");
        assert_eq!(joined_tokens("real x;", &["real=float", "FAST"]), "float x ;");
        assert_eq!(joined_tokens("#if A\n#define real float\n#else\n#define real double\n#endif\nreal x", &[]), "? x");
        assert_eq!(joined_tokens("#define F(x) x\nF(1)", &[]), "F ( 1 )");
        assert_eq!(joined_tokens("#define a b\n#define b a\na", &[]), "a");
        assert_eq!(joined_tokens("#define two \\\n unsigned int\ntwo *p", &[]), "unsigned int * p");
    }
}
