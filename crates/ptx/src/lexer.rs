//! Bytes to tokens. Every byte of the text belongs to at most one token; whatever is no token at
//! all becomes [`TokenKind::Bad`], so that lexing itself cannot fail. The last token is [`TokenKind::Eof`].
//!
//! A word after a dot is one token with its dot and with any `::` parts (`.L2::128B`), which is
//! what makes opcodes, glued directives (`.reg.b32`) and `%tid.x` easy to read.

use crate::ast::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `add`, `%r1`, `$L_x`, `_`
    Ident,
    /// `.global`, `.L2::128B`, with the dot
    Dot,
    Int,
    /// Decimal floating point.
    Float,
    /// `0f3F800000`
    HexF32,
    /// `0d3FF0000000000000`
    HexF64,
    Str,
    Punct(u8),
    Bad,
    Eof,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

const WORD_CLASS: u8 = 1;
const SPACE_CLASS: u8 = 2;
const DIGIT_CLASS: u8 = 4;
const HEX_CLASS: u8 = 8;
const WORD_START_CLASS: u8 = 16;

const fn byte_classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        let mut class = 0;
        if b.is_ascii_alphabetic() {
            class |= WORD_CLASS | WORD_START_CLASS;
        }
        if b.is_ascii_digit() {
            class |= WORD_CLASS | DIGIT_CLASS;
        }
        if b.is_ascii_hexdigit() {
            class |= HEX_CLASS;
        }
        if b == b'_' || b == b'$' {
            class |= WORD_CLASS | WORD_START_CLASS;
        }
        if b == b'%' {
            class |= WORD_START_CLASS;
        }
        if b == b' ' || b == b'\t' || b == b'\n' || b == b'\r' || b == 0 || b == 0x0b || b == 0x0c {
            class |= SPACE_CLASS;
        }
        table[i] = class;
        i += 1;
    }
    table
}

static BYTE_CLASSES: [u8; 256] = byte_classes();

fn is_byte_in_class(b: u8, class: u8) -> bool {
    BYTE_CLASSES[b as usize] & class != 0
}

/// All tokens of `text`, which must be shorter than 4 GiB.
pub(crate) fn tokenize(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut lexer = Lexer { bytes, at: 0 };
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.next_token_kind();
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32 });
        if kind == TokenKind::Eof {
            return tokens;
        }
    }
}

struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
}

impl Lexer<'_> {
    /// The byte `ahead` of the current one; 0 past the end.
    fn peek_byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn take_while(&mut self, class: u8) -> usize {
        let start = self.at;
        while self.at < self.bytes.len() && is_byte_in_class(self.bytes[self.at], class) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(SPACE_CLASS);
            if self.peek_byte(0) != b'/' {
                return;
            }
            match self.peek_byte(1) {
                b'/' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                b'*' => {
                    let rest = &self.bytes[self.at + 2..];
                    let end = rest.windows(2).position(|w| w == b"*/");
                    self.at = end.map_or(self.bytes.len(), |i| self.at + i + 4);
                }
                _ => return,
            }
        }
    }

    fn next_token_kind(&mut self) -> TokenKind {
        if self.at >= self.bytes.len() {
            return TokenKind::Eof;
        }
        let first = self.peek_byte(0);
        if is_byte_in_class(first, DIGIT_CLASS) {
            return self.lex_number();
        }
        self.at += 1;
        if is_byte_in_class(first, WORD_START_CLASS) {
            // A lone `%` is the remainder operator of constant expressions.
            if self.take_while(WORD_CLASS) == 0 && first == b'%' {
                return TokenKind::Punct(b'%');
            }
            return TokenKind::Ident;
        }
        match first {
            b'.' if is_byte_in_class(self.peek_byte(0), WORD_CLASS) => self.lex_dotted_word(),
            b'"' => self.lex_string(),
            b'!'..=b'~' => TokenKind::Punct(first),
            _ => self.lex_non_ascii_run(),
        }
    }

    fn lex_dotted_word(&mut self) -> TokenKind {
        self.take_while(WORD_CLASS);
        while self.peek_byte(0) == b':' && self.peek_byte(1) == b':' && is_byte_in_class(self.peek_byte(2), WORD_CLASS)
        {
            self.at += 2;
            self.take_while(WORD_CLASS);
        }
        TokenKind::Dot
    }

    fn lex_string(&mut self) -> TokenKind {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return TokenKind::Str;
                }
                b'\n' => return TokenKind::Bad,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
        TokenKind::Bad
    }

    /// The rest of a run of bytes outside ASCII, so that the token ends between characters.
    fn lex_non_ascii_run(&mut self) -> TokenKind {
        while self.at < self.bytes.len() && self.bytes[self.at] >= 0x80 {
            self.at += 1;
        }
        TokenKind::Bad
    }

    fn lex_number(&mut self) -> TokenKind {
        let kind = match (self.peek_byte(0), self.peek_byte(1)) {
            (b'0', b'x' | b'X') => self.lex_radix_integer(HEX_CLASS),
            (b'0', b'b' | b'B') => self.lex_radix_integer(DIGIT_CLASS),
            (b'0', b'f' | b'F') => self.lex_float_bits(8, TokenKind::HexF32),
            (b'0', b'd' | b'D') => self.lex_float_bits(16, TokenKind::HexF64),
            _ => self.lex_decimal(),
        };
        // Letters glued to a number belong to it and spoil it.
        if self.take_while(WORD_CLASS) > 0 { TokenKind::Bad } else { kind }
    }

    fn lex_radix_integer(&mut self, digits: u8) -> TokenKind {
        self.at += 2;
        let any = self.take_while(digits) > 0;
        self.skip_unsigned_suffix();
        if any { TokenKind::Int } else { TokenKind::Bad }
    }

    fn lex_float_bits(&mut self, digits: usize, kind: TokenKind) -> TokenKind {
        self.at += 2;
        if self.take_while(HEX_CLASS) == digits { kind } else { TokenKind::Bad }
    }

    fn skip_unsigned_suffix(&mut self) {
        if self.peek_byte(0) == b'U' {
            self.at += 1;
        }
    }

    fn lex_decimal(&mut self) -> TokenKind {
        self.take_while(DIGIT_CLASS);
        let mut kind = TokenKind::Int;
        if self.peek_byte(0) == b'.' {
            self.at += 1;
            self.take_while(DIGIT_CLASS);
            kind = TokenKind::Float;
        }
        let sign = matches!(self.peek_byte(1), b'+' | b'-') as usize;
        if matches!(self.peek_byte(0), b'e' | b'E') && is_byte_in_class(self.peek_byte(1 + sign), DIGIT_CLASS) {
            self.at += 1 + sign;
            self.take_while(DIGIT_CLASS);
            kind = TokenKind::Float;
        }
        if kind == TokenKind::Int {
            self.skip_unsigned_suffix();
        }
        kind
    }
}
