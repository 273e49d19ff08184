//! C++ text to tokens that know their places, for changing the text: pieces of program and bodies of macros.
//!
//! Unlike [`crate::declaration_tokens`], nothing is replaced, and conditions of the preprocessor are seen.

/// A word or a single sign, or `#if`, `#else`, `#endif`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceToken<'a> {
    pub(crate) text: &'a str,
    /// Its first byte in the whole text.
    pub(crate) at: usize,
}

impl SourceToken<'_> {
    pub(crate) fn end_offset(&self) -> usize {
        self.at + self.text.len()
    }
}

/// A part of a text.
#[derive(Debug)]
pub(crate) enum TextOrMacro<'a> {
    /// All that is no directive.
    Text(Vec<SourceToken<'a>>),
    /// What a macro stands for.
    Define { name: &'a str, body: Vec<SourceToken<'a>> },
}

/// The text with comments and literals as blanks; all bytes keep their places.
pub(crate) fn blank_comments_and_literals(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'/' if rest.starts_with(b"//") => find_bytes(rest, b"\n", 0),
            b'/' if rest.starts_with(b"/*") => (find_bytes(rest, b"*/", 2) + 2).min(rest.len()),
            b'"' if at > 0 && bytes[at - 1] == b'R' => raw_literal_length(rest),
            b'"' => literal_length(rest, b'"'),
            b'\'' if !(at > 0 && bytes[at - 1].is_ascii_hexdigit()) => literal_length(rest, b'\''),
            _ => 0,
        };
        for byte in &mut out[at..at + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at += length.max(1);
    }
    // Only whole literals and comments were replaced, byte by byte.
    String::from_utf8(out).unwrap_or_else(|_| " ".repeat(source.len()))
}

fn find_bytes(bytes: &[u8], what: &[u8], from: usize) -> usize {
    bytes[from.min(bytes.len())..].windows(what.len()).position(|w| w == what).map_or(bytes.len(), |at| from + at)
}

/// The length of the literal at the start, its quotes included; it ends with its line.
fn literal_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

/// The length of `"name(...)name"`.
fn raw_literal_length(bytes: &[u8]) -> usize {
    let open = find_bytes(bytes, b"(", 1);
    let end = [b")", bytes.get(1..open).unwrap_or_default(), b"\""].concat();
    (find_bytes(bytes, &end, open) + end.len()).min(bytes.len())
}

/// The pieces of a text without comments and literals; macros first.
pub(crate) fn split_text_and_macros(blank: &str) -> Vec<TextOrMacro<'_>> {
    let (mut text, mut found, mut at) = (Vec::new(), Vec::new(), 0);
    while at < blank.len() {
        let end = logical_line_end(blank, at);
        let line = &blank[at..end];
        match line.trim_start().strip_prefix('#') {
            None => tokenize_range(blank, at, end, &mut text),
            Some(directive) => {
                let directive = directive.trim_start();
                let word = identifier_length(directive);
                let start = end - directive.len();
                match &directive[..word] {
                    "define" => found.extend(macro_body_tokens(blank, start + word, end)),
                    "if" | "ifdef" | "ifndef" => text.push(SourceToken { text: "#if", at: start }),
                    "else" | "elif" | "elifdef" | "elifndef" => text.push(SourceToken { text: "#else", at: start }),
                    "endif" => text.push(SourceToken { text: "#endif", at: start }),
                    _ => {}
                }
            }
        }
        at = end;
    }
    found.push(TextOrMacro::Text(text));
    found
}

/// The end of the line that starts at `at`, with the lines that continue it.
fn logical_line_end(text: &str, mut at: usize) -> usize {
    loop {
        let Some(length) = text[at..].find('\n') else { return text.len() };
        let line = text[at..at + length].trim_end_matches('\r');
        at += length + 1;
        if !line.ends_with('\\') {
            return at;
        }
    }
}

fn macro_body_tokens(blank: &str, at: usize, end: usize) -> Option<TextOrMacro<'_>> {
    let rest = &blank[at..end];
    let name = rest.trim_start();
    let start = end - name.len();
    let length = identifier_length(name);
    let mut body = start + length;
    if blank[body..end].starts_with('(') {
        body += blank[body..end].find(')')? + 1;
    }
    let mut tokens_of_body = Vec::new();
    tokenize_range(blank, body, end, &mut tokens_of_body);
    (length > 0).then_some(TextOrMacro::Define { name: &blank[start..start + length], body: tokens_of_body })
}

fn identifier_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len())
}

fn tokenize_range<'a>(text: &'a str, mut at: usize, end: usize, out: &mut Vec<SourceToken<'a>>) {
    while let Some(c) = text[at..end].chars().next() {
        let length = identifier_length(&text[at..end]).max(c.len_utf8());
        if !c.is_whitespace() && c != '\\' {
            out.push(SourceToken { text: &text[at..at + length], at });
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_blanks_in_place() {
        let blank = |text| blank_comments_and_literals(text);
        assert_eq!(blank("a/*b\nc*/d//e\nf"), "a   \n   d   \nf");
        assert_eq!(
            blank("x = \"q\\\"\" 'y' 1'000 R\"a(\")\")a\" z"),
            format!("x = {}1'000 R{} z", " ".repeat(10), " ".repeat(9))
        );
        assert_eq!(blank("\"ä\" /* unclosed"), " ".repeat(16));
        assert_eq!(blank("'"), " ");
    }

    #[test]
    fn macro_bodies_are_split_from_the_text() {
        let blank = blank_comments_and_literals("int a;\n#define F(x) x + \\\n 1\n#ifdef A // no\nb\n#else\n#endif");
        let found = split_text_and_macros(&blank);
        let words = |tokens: &[SourceToken<'_>]| tokens.iter().map(|t| t.text.to_owned()).collect::<Vec<_>>().join(" ");
        let [TextOrMacro::Define { name: "F", body }, TextOrMacro::Text(text)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(words(body), "x + 1");
        assert_eq!(words(text), "int a ; #if b #else #endif");
        assert!(text.iter().all(|t| t.text.starts_with('#') || blank[t.at..].starts_with(t.text)));
    }
}
