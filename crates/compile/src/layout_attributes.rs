//! Moves attributes after the closing brace of a class (`struct { ... } __align__(32) name;`), which NVRTC drops or
//! applies to the declarator, in front of the name, where NVRTC respects them.
//!
//! Establishes that the text keeps its lines. This is not a C++ parser: if a brace cannot be matched reliably
//! (preprocessor branches that open different classes), the text stays and the line is reported.

use crate::source_tokens::{TextOrMacro, split_text_and_macros};
use rtcg_c_lex::{Token, join_tokens, tokenize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

/// What the names of attributes begin with; a source with none of these needs no reading.
const ATTRIBUTE_PREFIXES: [&str; 3] = ["__align__", "__attribute", "__builtin_align__"];

/// Changes with this file: programs in the cache were made from texts that it changed.
pub(crate) const SOURCE_HASH: u64 = crate::hash::fnv1a(include_bytes!("layout_attributes.rs"), 0xcbf2_9ce4_8422_2325);

/// What is said of a line whose attributes could not be moved.
const IGNORED_ATTRIBUTES_WARNING: &str = "warning: NVRTC ignores the attributes behind this closing brace, so the layout is \
                                  not the one asked for; write them in front of the name: struct __align__(8) name";

/// Macros that stand for attributes, of a source and its headers.
struct AttributeMacros(HashSet<String>);

/// A text whose attributes are in front of names.
#[derive(Debug, PartialEq, Eq)]
struct TextWithMovedAttributes<'a> {
    text: Cow<'a, str>,
    /// Lines, counted from 1, of attributes that decide about layouts and could not be moved.
    unmovable_lines: Vec<usize>,
    /// Lines of those that were.
    moved: Vec<usize>,
}

/// A program's source, and what is to be said of it and its headers.
pub(crate) struct SourceWithMovedAttributes<'a> {
    pub(crate) source: Cow<'a, str>,
    pub(crate) warnings: String,
}

/// Moves the attributes of a source called `name`. The compiler reads its `headers` itself, so that their lines are
/// only reported.
pub(crate) fn move_attributes<'a>(
    name: &str,
    source: &'a str,
    headers: &[(PathBuf, String)],
) -> SourceWithMovedAttributes<'a> {
    let mut warnings = String::new();
    let texts: Vec<&str> = std::iter::once(source).chain(headers.iter().map(|(_, text)| text.as_str())).collect();
    let Some(macros) = AttributeMacros::find_attribute_macros(&texts) else {
        return SourceWithMovedAttributes { source: source.into(), warnings };
    };
    let mut warn =
        |name: &str, line: usize| warnings.push_str(&format!("{name}({line}): {IGNORED_ATTRIBUTES_WARNING}\n"));
    let moved = macros.move_attributes_in_source(source);
    moved.unmovable_lines.iter().for_each(|&line| warn(name, line));
    for (file, text) in headers {
        let moved = macros.move_attributes_in_source(text);
        moved.unmovable_lines.iter().chain(&moved.moved).for_each(|&line| warn(&file.display().to_string(), line));
    }
    SourceWithMovedAttributes { source: moved.text, warnings }
}

impl AttributeMacros {
    /// Those of `texts`; `None` where no text has any attribute.
    fn find_attribute_macros(texts: &[&str]) -> Option<Self> {
        let with_marks = || texts.iter().filter(|text| ATTRIBUTE_PREFIXES.iter().any(|mark| text.contains(mark)));
        with_marks().next()?;
        let mut macros = Self(HashSet::new());
        for text in with_marks() {
            for piece in split_text_and_macros(text) {
                if let TextOrMacro::Define { name, body } = piece
                    && !body.is_empty()
                    && macros.attributes_end(&body, 0) == body.len()
                {
                    macros.0.insert(name.to_owned());
                }
            }
        }
        Some(macros)
    }

    /// Where the attributes end that begin at token `at`.
    fn attributes_end(&self, tokens: &[Token<'_>], mut at: usize) -> usize {
        while let Some(token) = tokens.get(at) {
            let is_builtin = ATTRIBUTE_PREFIXES.iter().any(|mark| token.text.starts_with(mark));
            if !is_builtin && !self.0.contains(token.text) {
                break;
            }
            at += 1;
            if tokens.get(at).is_some_and(|next| next.text == "(") {
                at = index_after_parentheses(tokens, at);
            }
        }
        at
    }

    /// Whether attributes say anything of layouts. What a macro stands for is taken to.
    fn any_affects_layout(&self, attributes: &[Token<'_>]) -> bool {
        let decides = |t: &Token<'_>| t.text.contains("align") || t.text.contains("packed") || self.0.contains(t.text);
        attributes.iter().any(decides)
    }

    /// Moves the attributes of `source`.
    fn move_attributes_in_source<'a>(&self, source: &'a str) -> TextWithMovedAttributes<'a> {
        let mut edits = TextEdits::default();
        for piece in split_text_and_macros(source) {
            match piece {
                TextOrMacro::Define { body, .. } => ClassAttributeScanner::new(self, &body).collect_edits(&mut edits),
                TextOrMacro::Text(tokens) => ClassAttributeScanner::new(self, &tokens).collect_edits(&mut edits),
            }
        }
        let line = |at: usize| 1 + source[..at].matches('\n').count();
        let unmovable_lines = edits.unmovable_lines.iter().map(|&at| line(at)).collect();
        let moved = edits.moves.iter().map(|(from, _)| line(from.start)).collect();
        TextWithMovedAttributes { text: edits.apply_edits(source), unmovable_lines, moved }
    }
}

/// The token behind the parentheses that open at `at`.
fn index_after_parentheses(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        depth += usize::from(token.text == "(");
        depth -= usize::from(token.text == ")");
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

#[derive(Default)]
struct TextEdits {
    /// Bytes from..to go to a place before them.
    moves: Vec<(std::ops::Range<usize>, usize)>,
    unmovable_lines: Vec<usize>,
}

impl TextEdits {
    fn apply_edits<'a>(&self, source: &'a str) -> Cow<'a, str> {
        if self.moves.is_empty() {
            return Cow::Borrowed(source);
        }
        let mut cuts: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        for (range, to) in &self.moves {
            cuts.push((*to..*to, format!(" {} ", join_tokens(&tokenize(&source[range.clone()])))));
            let keep = |c: char| if matches!(c, '\n' | '\r' | '\\') { c } else { ' ' };
            cuts.push((range.clone(), source[range.clone()].chars().map(keep).collect()));
        }
        cuts.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut text, mut at) = (String::with_capacity(source.len() + 256), 0);
        for (range, with) in cuts {
            text.push_str(&source[at..range.start]);
            text.push_str(&with);
            at = range.end;
        }
        text.push_str(&source[at..]);
        Cow::Owned(text)
    }
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceScope {
    /// A class, with the place behind its keyword.
    Class(usize),
    /// Perhaps a class.
    Unsure,
    Other,
}

/// Reads the tokens of one piece of text.
struct ClassAttributeScanner<'a> {
    macros: &'a AttributeMacros,
    tokens: &'a [Token<'a>],
    open: Vec<BraceScope>,
    /// For each condition of the preprocessor: the scopes before it, and those behind its first branch.
    branches: Vec<(Vec<BraceScope>, Option<Vec<BraceScope>>)>,
    /// The first token of the declaration.
    start: usize,
}

impl<'a> ClassAttributeScanner<'a> {
    fn new(macros: &'a AttributeMacros, tokens: &'a [Token<'a>]) -> Self {
        Self { macros, tokens, open: vec![], branches: vec![], start: 0 }
    }

    fn collect_edits(mut self, edits: &mut TextEdits) {
        for at in 0..self.tokens.len() {
            match self.tokens[at].text {
                "{" => {
                    self.open.push(self.scope_of_brace(at));
                    self.start = at + 1;
                }
                "}" => {
                    let scope = self.open.pop().unwrap_or(BraceScope::Unsure);
                    self.start = at + 1;
                    self.close_brace(at, scope, edits);
                }
                ";" => self.start = at + 1,
                "#if" => self.branches.push((self.open.clone(), None)),
                "#else" => self.enter_conditional_branch(),
                "#endif" => self.end_preprocessor_conditional(),
                _ => {}
            }
        }
    }

    /// What stands behind the brace that closes `scope_of_brace`.
    fn close_brace(&self, at: usize, scope: BraceScope, edits: &mut TextEdits) {
        let conditions = self.tokens[at + 1..].iter().take_while(|t| t.text.starts_with('#')).count();
        let scope = if conditions > 0 && scope != BraceScope::Other { BraceScope::Unsure } else { scope };
        let start = at + 1 + conditions;
        let end = self.macros.attributes_end(self.tokens, start);
        let attributes = &self.tokens[start..end];
        let Some((first, last)) = attributes.first().zip(attributes.last()) else { return };
        if !self.macros.any_affects_layout(attributes) {
            return;
        }
        match scope {
            BraceScope::Class(to) => edits.moves.push((first.at..last.end(), to)),
            BraceScope::Unsure if self.ends_declaration(end) => edits.unmovable_lines.push(first.at),
            BraceScope::Unsure | BraceScope::Other => {}
        }
    }

    /// Whether what follows is the end of a class's declaration: `;` or `name;`, `*name, ...`.
    fn ends_declaration(&self, at: usize) -> bool {
        let conditions = self.tokens[at..].iter().take_while(|t| t.text.starts_with('#')).count();
        let text = |at: usize| self.tokens.get(at + conditions).map_or("", |t| t.text);
        text(at) == ";" || text(at) == "*" || matches!(text(at + 1), ";" | "," | "[" | "=")
    }

    /// What the brace at `brace` belongs to, by the declaration before it.
    fn scope_of_brace(&self, brace: usize) -> BraceScope {
        let head = &self.tokens[self.start..brace];
        let Some(keyword) = class_keyword_index(head) else { return BraceScope::Other };
        let rest = &head[keyword + 1..];
        if rest.iter().any(|t| t.text.starts_with('#')) {
            return BraceScope::Unsure;
        }
        let mut at = 0;
        while at < rest.len() {
            match rest[at].text {
                // The bases may have anything.
                ":" => break,
                "=" => return BraceScope::Other,
                "alignas" if rest.get(at + 1).is_some_and(|t| t.text == "(") => {
                    at = index_after_parentheses(rest, at + 1)
                }
                // A function that returns a class.
                "(" => return BraceScope::Other,
                _ => at = self.macros.attributes_end(rest, at).max(at + 1),
            }
        }
        BraceScope::Class(head[keyword].end())
    }

    fn enter_conditional_branch(&mut self) {
        if let Some((before, first)) = self.branches.last_mut() {
            let branch = std::mem::replace(&mut self.open, before.clone());
            first.get_or_insert(branch);
        }
    }

    /// Goes on with the scopes of the last branch, where they differ from the first one's unsure.
    fn end_preprocessor_conditional(&mut self) {
        let Some((before, first)) = self.branches.pop() else { return };
        let first = first.unwrap_or(before);
        let is_even = first.len() == self.open.len();
        for (i, scope) in self.open.iter_mut().enumerate() {
            if !is_even || first.get(i) != Some(scope) {
                *scope = BraceScope::Unsure;
            }
        }
    }
}

/// The keyword of the class that a declaration begins, not one among its template's parameters.
fn class_keyword_index(head: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0i32;
    let is_keyword = |t: &Token<'_>| matches!(t.text, "struct" | "class" | "union" | "enum");
    for (at, token) in head.iter().enumerate() {
        match token.text {
            "<" | "(" => depth += 1,
            ">" | ")" => depth -= 1,
            _ if depth == 0 && is_keyword(token) => {
                let scoped = token.text == "enum" && head.get(at + 1).is_some_and(is_keyword);
                return Some(at + usize::from(scoped));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn move_attributes(source: &str) -> (String, Vec<usize>) {
        let Some(macros) = AttributeMacros::find_attribute_macros(&[source]) else {
            return (source.to_owned(), vec![]);
        };
        let moved = macros.move_attributes_in_source(source);
        assert_eq!(moved.text.matches('\n').count(), source.matches('\n').count(), "{source}");
        let words: Vec<&str> = moved.text.split_whitespace().collect();
        (words.join(" "), moved.unmovable_lines)
    }

    fn move_all_attributes(source: &str) -> String {
        let (text, unmovable_lines) = move_attributes(source);
        assert_eq!(unmovable_lines, [0; 0], "{source}");
        text
    }

    #[test]
    fn attributes_move_in_front_of_the_class_name() {
        assert_eq!(
            move_all_attributes("typedef struct { int x; }\n__align__(32)\na1;"),
            "typedef struct __align__(32) { int x; } a1;"
        );
        assert_eq!(
            move_all_attributes("struct a5 { int x; } /* why */ __attribute__((packed));"),
            "struct __attribute__((packed)) a5 { int x; } /* why */ ;"
        );
        assert_eq!(
            move_all_attributes("template <class T, struct U> struct S : B<class V> { T a; } __align__ ( 8 ) s;"),
            "template <class T, struct U> struct __align__ ( 8 ) S : B<class V> { T a; } s;"
        );
        assert_eq!(
            move_all_attributes("struct S { union { int a; } __align__(16) m; } __align__(64) s[2];"),
            "struct __align__(64) S { union __align__(16) { int a; } m; } s[2];"
        );
        assert_eq!(
            move_all_attributes("enum class E : int { A } __attribute__((packed, aligned(2)));"),
            "enum class __attribute__((packed, aligned(2))) E : int { A } ;"
        );
        assert_eq!(
            move_all_attributes("struct __align__(8) S { int a; } __attribute__((aligned(16)));"),
            "struct __attribute__((aligned(16))) __align__(8) S { int a; } ;"
        );
    }

    #[test]
    fn attribute_macros_are_recognized() {
        let defines = "#define ALIGN(n) __align__(n) #define A16 ALIGN(16)".replace(" #", "\n#");
        let text = format!("{defines}\nstruct ALIGN(2) S {{ int x; }} A16 s; struct T {{ int x; }} ALIGN(8);\n");
        assert!(
            move_all_attributes(&text).ends_with("struct A16 ALIGN(2) S { int x; } s; struct ALIGN(8) T { int x; } ;")
        );
        let text = "#define DECLARE(n) struct n { \\\n int x; } \\\n __align__(16);\nDECLARE(s)";
        assert_eq!(
            move_all_attributes(text),
            "#define DECLARE(n) struct __align__(16) n { \\ int x; } \\ ; DECLARE(s)"
        );
        let header = "#define PACKED __attribute__((packed))";
        let source = "struct S { int x; } PACKED;";
        let macros = AttributeMacros::find_attribute_macros(&[source, header]).unwrap();
        assert_eq!(macros.move_attributes_in_source(source).text, "struct PACKED  S { int x; }       ;");
    }

    #[test]
    fn attributes_outside_classes_stay() {
        for source in [
            "struct S { int x; }; __align__(8) int y;",
            "__device__ void f() { if (1) { } }\n__attribute__((aligned(8))) int x;",
            "struct A f(int x) { return A(); }\n__align__(16) __device__ int z;",
            "struct S { int x; } __attribute__((unused)) s;",
            "struct S { int x; } s __align__(8);",
            "const char *s = \"struct { } __align__(8) x;\"; // struct { } __align__(8) y;",
            "struct S s = { 1 }\n, __align__(8) t;",
        ] {
            assert_eq!(move_all_attributes(source), source.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn conditions_that_open_different_classes_are_reported() {
        let same = "#if A\nstruct S { int x;\n#else\nstruct T { int x;\n#endif\nint y; }\n__align__(8);";
        assert_eq!(move_attributes(same).1, [7]);
        let inside = "struct S {\n#if A\nint x;\n#else\nlong x;\n#endif\n} __align__(8);";
        assert!(move_all_attributes(inside).starts_with("struct __align__(8) S {"));
        let function = "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n__attribute__((aligned(8))) int x();";
        assert_eq!(move_attributes(function).1, [0; 0]);
        let behind = "struct S { int x; }\n#if A\n__align__(8)\n#endif\n;";
        assert_eq!(move_attributes(behind).1, [3]);
    }
}
