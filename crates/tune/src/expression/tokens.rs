//! The tokens of expressions.

use crate::value::Value;

/// A token and the byte where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) position: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Constant(Value),
    Word(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    End,
}

/// Longer symbols come before those that they begin with.
const SYMBOLS: &[&str] = &[
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~",
    "!", "(", ")", "[", "]", ",",
];

/// The tokens of a text, with an end; or where it cannot be read, and why.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, (usize, String)> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(first) = text[position..].chars().next() {
        if first.is_whitespace() {
            position += first.len_utf8();
            continue;
        }
        let (kind, length) = read_token(&text[position..], first).map_err(|message| (position, message))?;
        tokens.push(Token { kind, position });
        position += length;
    }
    tokens.push(Token { kind: TokenKind::End, position });
    Ok(tokens)
}

fn read_token(rest: &str, first: char) -> Result<(TokenKind, usize), String> {
    if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return read_number(rest);
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((TokenKind::Word(rest[..length].to_owned()), length));
    }
    if first == '"' || first == '\'' {
        return read_string(rest, first);
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    symbol.map(|symbol| (TokenKind::Symbol(symbol), symbol.len())).ok_or_else(|| format!("{first:?} is no operator"))
}

fn read_number(rest: &str) -> Result<(TokenKind, usize), String> {
    if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        let length = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let number = i64::from_str_radix(&digits[..length], 16).map_err(|error| format!("no number: {error}"))?;
        return Ok((TokenKind::Constant(Value::Int(number)), length + 2));
    }
    let bytes = rest.as_bytes();
    let is_part = |at: usize| match bytes[at] {
        b'0'..=b'9' | b'.' | b'_' | b'e' | b'E' => true,
        b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E'),
        _ => false,
    };
    let length = (1..bytes.len()).find(|&at| !is_part(at)).unwrap_or(bytes.len());
    let digits: String = rest[..length].chars().filter(|c| *c != '_').collect();
    let value = match digits.contains(['.', 'e', 'E']) {
        true => digits.parse().map(Value::Float).map_err(|error| format!("no number: {error}"))?,
        false => digits.parse().map(Value::Int).map_err(|error| format!("no number: {error}"))?,
    };
    Ok((TokenKind::Constant(value), length))
}

fn read_string(rest: &str, quote: char) -> Result<(TokenKind, usize), String> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => text.push(chars.next().ok_or("the string does not end")?.1),
            c if c == quote => return Ok((TokenKind::Constant(Value::Str(text)), at + 1)),
            c => text.push(c),
        }
    }
    Err("the string does not end".to_owned())
}
