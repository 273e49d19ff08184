//! C and C++ text to tokens that know their places, for programs that read a little of a source: how a snippet uses a
//! name, which macros there are, where an attribute stands.
//!
//! Assumes nothing of the text: what is no C gives tokens of no use and no error. Nothing is replaced, and conditions of
//! the preprocessor are not evaluated. Every byte that belongs to no token is white space, a comment, or a backslash
//! that continues a line.
#![forbid(unsafe_code)]

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string or character, with its quotes and a raw string's prefix.
    Literal,
    /// An operator, bracket, or other sign.
    Operator,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text.
    pub text: &'a str,
    /// The place of its first byte.
    pub at: usize,
    /// Whether it is the first of its line. Lines that a backslash or a comment continues are one.
    pub begins_line: bool,
}

impl<'a> Token<'a> {
    /// The place behind its last byte.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Its single signs if it is an operator, else itself.
    pub fn signs(self) -> impl Iterator<Item = Token<'a>> {
        let is_operator = self.kind == TokenKind::Operator;
        self.text.split_inclusive(move |_: char| is_operator).scan(self.at, move |next, text| {
            let at = std::mem::replace(next, *next + text.len());
            Some(Token { text, at, begins_line: self.begins_line && at == self.at, ..self })
        })
    }
}

/// Operators of more than one sign, the longest first.
const OPERATORS: [&str; 25] = [
    "<<=", ">>=", "...", "->*", "++", "--", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "::", "##",
];

/// The tokens of a text.
pub fn tokenize(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut at, mut begins_line) = (Vec::new(), 0, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let skipped = blank_length(rest, first);
        if skipped > 0 {
            begins_line |= first == '\n';
            at += skipped;
            continue;
        }
        let (kind, length) = token_length(rest, first);
        tokens.push(Token { kind, text: &rest[..length], at, begins_line });
        begins_line = false;
        at += length;
    }
    tokens
}

/// The text of tokens, with one space where anything stood between two of them.
pub fn join_tokens(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && tokens[i - 1].end() < token.at {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}

/// The length of the white space, comment or continued line's end at the start.
fn blank_length(rest: &str, first: char) -> usize {
    if first.is_whitespace() {
        first.len_utf8()
    } else if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if let Some(inside) = rest.strip_prefix("/*") {
        inside.find("*/").map_or(rest.len(), |end| end + 4)
    } else if rest.starts_with("\\\n") {
        2
    } else if rest.starts_with("\\\r\n") {
        3
    } else {
        0
    }
}

fn token_length(rest: &str, first: char) -> (TokenKind, usize) {
    if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return (TokenKind::Number, number_length(rest.as_bytes()));
    }
    let word = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len());
    if word > 0 {
        let is_raw = matches!(&rest[..word], "R" | "u8R" | "uR" | "UR" | "LR") && rest[word..].starts_with('"');
        return if is_raw { (TokenKind::Literal, raw_string_length(rest, word)) } else { (TokenKind::Word, word) };
    }
    if matches!(first, '"' | '\'') {
        return (TokenKind::Literal, literal_length(rest, first));
    }
    let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
    (TokenKind::Operator, operator.map_or(first.len_utf8(), |operator| operator.len()))
}

/// The length of a number: digits, letters, points, signs of exponents, and quotes between digits.
fn number_length(bytes: &[u8]) -> usize {
    let is_inside = |at: usize| match bytes[at] {
        b'+' | b'-' => matches!(bytes[at - 1] | 32, b'e' | b'p'),
        b'\'' => bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'),
    };
    (1..bytes.len()).find(|&at| !is_inside(at)).unwrap_or(bytes.len())
}

/// The length of a literal; one that is not closed ends with its line.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\n' => return at,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of `R"name(...)name"`, whose prefix has `prefix` bytes.
fn raw_string_length(text: &str, prefix: usize) -> usize {
    let inside = &text[prefix + 1..];
    let Some(open) = inside.find('(') else { return text.len() };
    let close = format!("){}\"", &inside[..open]);
    inside[open..].find(&close).map_or(text.len(), |at| prefix + 1 + open + at + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokenize(source).iter().map(|token| token.text).collect()
    }

    #[test]
    fn tokens_are_words_numbers_literals_and_operators() {
        assert_eq!(texts("x[i]+=1.5e-3f*.5;"), ["x", "[", "i", "]", "+=", "1.5e-3f", "*", ".5", ";"]);
        assert_eq!(
            texts("0x1p-3 1'000u 2-1 a->b<<=c::d"),
            ["0x1p-3", "1'000u", "2", "-", "1", "a", "->", "b", "<<=", "c", "::", "d"]
        );
        assert_eq!(texts("a/*b\nc*/d//e\nf"), ["a", "d", "f"]);
        assert_eq!(texts(r#"x = "q\"" 'y' u8R"a(")")a" z"#), ["x", "=", r#""q\"""#, "'y'", r#"u8R"a(")")a""#, "z"]);
        assert_eq!(texts("ä µ§"), ["ä", "µ", "§"]);
        let kinds: Vec<TokenKind> = tokenize("a 1 'b' +").iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [TokenKind::Word, TokenKind::Number, TokenKind::Literal, TokenKind::Operator]);
    }

    #[test]
    fn what_is_not_closed_ends_with_its_line_or_the_text() {
        assert_eq!(texts("'a\nb"), ["'a", "b"]);
        assert_eq!(texts("\"a\\\nb\" c"), ["\"a\\\nb\"", "c"]);
        assert_eq!(texts("a /* b"), ["a"]);
        assert_eq!(texts("a R\"b( c"), ["a", "R\"b( c"]);
        assert_eq!(texts("R\""), ["R\""]);
        assert_eq!(texts("'"), ["'"]);
    }

    #[test]
    fn lines_go_on_behind_backslashes_and_comments() {
        let source = "#define A \\\n 1 /* \n */ 2\nb";
        let tokens = tokenize(source);
        let lines: Vec<String> = tokens.chunk_by(|_, next| !next.begins_line).map(join_tokens).collect();
        assert_eq!(lines, ["#define A 1 2", "b"]);
        assert!(tokens.iter().all(|token| source[token.at..token.end()] == *token.text));
    }

    #[test]
    fn operators_are_split_into_signs() {
        let signs: Vec<_> = tokenize("a>>=bc §").into_iter().flat_map(Token::signs).map(|t| (t.text, t.at)).collect();
        assert_eq!(signs, [("a", 0), (">", 1), (">", 2), ("=", 3), ("bc", 4), ("§", 7)]);
    }
}
