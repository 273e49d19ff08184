//! Bytes to tokens. Every byte of the text belongs to at most one token; whatever is no token at
//! all becomes [`Kind::Bad`], so that lexing itself cannot fail. The last token is [`Kind::Eof`].
//!
//! A word after a dot is one token with its dot and with any `::` parts (`.L2::128B`), which is
//! what makes opcodes, glued directives (`.reg.b32`) and `%tid.x` easy to read.

use crate::ast::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

const WORD: u8 = 1;
const SPACE: u8 = 2;
const DIGIT: u8 = 4;
const HEX: u8 = 8;
const FIRST: u8 = 16;

const fn classes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        let mut class = 0;
        if b.is_ascii_alphabetic() {
            class |= WORD | FIRST;
        }
        if b.is_ascii_digit() {
            class |= WORD | DIGIT;
        }
        if b.is_ascii_hexdigit() {
            class |= HEX;
        }
        if b == b'_' || b == b'$' {
            class |= WORD | FIRST;
        }
        if b == b'%' {
            class |= FIRST;
        }
        if b == b' ' || b == b'\t' || b == b'\n' || b == b'\r' || b == 0 || b == 0x0b || b == 0x0c {
            class |= SPACE;
        }
        table[i] = class;
        i += 1;
    }
    table
}

static CLASS: [u8; 256] = classes();

fn is(b: u8, class: u8) -> bool {
    CLASS[b as usize] & class != 0
}

/// All tokens of `text`, which must be shorter than 4 GiB.
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut lexer = Lexer { bytes, at: 0 };
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.next_kind();
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32 });
        if kind == Kind::Eof {
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
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn take(&mut self, class: u8) -> usize {
        let start = self.at;
        while self.at < self.bytes.len() && is(self.bytes[self.at], class) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take(SPACE);
            if self.peek(0) != b'/' {
                return;
            }
            match self.peek(1) {
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

    fn next_kind(&mut self) -> Kind {
        if self.at >= self.bytes.len() {
            return Kind::Eof;
        }
        let first = self.peek(0);
        if is(first, DIGIT) {
            return self.number();
        }
        self.at += 1;
        if is(first, FIRST) {
            // A lone `%` is the remainder operator of constant expressions.
            if self.take(WORD) == 0 && first == b'%' {
                return Kind::Punct(b'%');
            }
            return Kind::Ident;
        }
        match first {
            b'.' if is(self.peek(0), WORD) => self.dotted(),
            b'"' => self.string(),
            b'!'..=b'~' => Kind::Punct(first),
            _ => self.bad(),
        }
    }

    fn dotted(&mut self) -> Kind {
        self.take(WORD);
        while self.peek(0) == b':' && self.peek(1) == b':' && is(self.peek(2), WORD) {
            self.at += 2;
            self.take(WORD);
        }
        Kind::Dot
    }

    fn string(&mut self) -> Kind {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Kind::Str;
                }
                b'\n' => return Kind::Bad,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
        Kind::Bad
    }

    /// The rest of a run of bytes outside ASCII, so that the token ends between characters.
    fn bad(&mut self) -> Kind {
        while self.at < self.bytes.len() && self.bytes[self.at] >= 0x80 {
            self.at += 1;
        }
        Kind::Bad
    }

    fn number(&mut self) -> Kind {
        let kind = match (self.peek(0), self.peek(1)) {
            (b'0', b'x' | b'X') => self.radix(HEX),
            (b'0', b'b' | b'B') => self.radix(DIGIT),
            (b'0', b'f' | b'F') => self.bits(8, Kind::HexF32),
            (b'0', b'd' | b'D') => self.bits(16, Kind::HexF64),
            _ => self.decimal(),
        };
        // Letters glued to a number belong to it and spoil it.
        if self.take(WORD) > 0 { Kind::Bad } else { kind }
    }

    fn radix(&mut self, digits: u8) -> Kind {
        self.at += 2;
        let any = self.take(digits) > 0;
        self.unsigned_suffix();
        if any { Kind::Int } else { Kind::Bad }
    }

    fn bits(&mut self, digits: usize, kind: Kind) -> Kind {
        self.at += 2;
        if self.take(HEX) == digits { kind } else { Kind::Bad }
    }

    fn unsigned_suffix(&mut self) {
        if self.peek(0) == b'U' {
            self.at += 1;
        }
    }

    fn decimal(&mut self) -> Kind {
        self.take(DIGIT);
        let mut kind = Kind::Int;
        if self.peek(0) == b'.' {
            self.at += 1;
            self.take(DIGIT);
            kind = Kind::Float;
        }
        let sign = matches!(self.peek(1), b'+' | b'-') as usize;
        if matches!(self.peek(0), b'e' | b'E') && is(self.peek(1 + sign), DIGIT) {
            self.at += 1 + sign;
            self.take(DIGIT);
            kind = Kind::Float;
        }
        if kind == Kind::Int {
            self.unsigned_suffix();
        }
        kind
    }
}
