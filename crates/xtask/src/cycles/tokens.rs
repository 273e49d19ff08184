//! Rust source to the tokens that name modules and paths: names, strings, `::` and single
//! characters. Comments, lifetimes and the digits of numbers are dropped.

/// A token and the line it stands on.
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name(String),
    Text(String),
    Separator,
    Mark(char),
}

impl Token {
    pub(super) fn identifier(&self) -> Option<&str> {
        if let TokenKind::Name(name) = &self.kind { Some(name) } else { None }
    }

    pub(super) fn is_punctuation(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

pub(super) fn rust_tokens(source: &str) -> Vec<Token> {
    let chars = source.chars().collect();
    let mut lexer = RustLexer { chars, at: 0, line: 1, out: Vec::new() };
    while lexer.at < lexer.chars.len() {
        lexer.lex_token();
    }
    lexer.out
}

struct RustLexer {
    chars: Vec<char>,
    at: usize,
    line: u32,
    out: Vec<Token>,
}

impl RustLexer {
    fn peek_char(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn next_char(&mut self) -> char {
        let c = self.peek_char(0);
        self.line += u32::from(c == '\n');
        self.at += 1;
        c
    }

    fn push_token(&mut self, kind: TokenKind) {
        self.out.push(Token { kind, line: self.line });
    }

    fn lex_token(&mut self) {
        match (self.peek_char(0), self.peek_char(1)) {
            ('/', '/') => self.skip_line(),
            ('/', '*') => self.skip_block_comment(),
            ('"', _) => self.string_literal(0, false),
            ('r', '"' | '#') | ('b', 'r') if self.raw_string_prefix().is_some() => {
                let (prefix, hashes) = self.raw_string_prefix().expect("just seen");
                self.at += prefix + hashes;
                self.string_literal(hashes, true);
            }
            ('r', '#') => self.at += 2, // A raw name: `r#type`.
            ('\'', _) => self.lifetime_or_char(),
            (':', ':') => {
                self.at += 2;
                self.push_token(TokenKind::Separator);
            }
            (c, _) if is_identifier_char(c) => self.identifier_or_number(),
            (c, _) => {
                self.next_char();
                if !c.is_whitespace() {
                    self.push_token(TokenKind::Mark(c));
                }
            }
        }
    }

    /// Lengths of the prefix and of the hashes of a raw string that begins here.
    fn raw_string_prefix(&self) -> Option<(usize, usize)> {
        let prefix = if self.peek_char(0) == 'b' { 2 } else { 1 };
        let hashes = (prefix..).take_while(|&i| self.peek_char(i) == '#').count();
        (self.peek_char(prefix + hashes) == '"').then_some((prefix, hashes))
    }

    fn skip_line(&mut self) {
        while self.at < self.chars.len() && self.peek_char(0) != '\n' {
            self.at += 1;
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.next_char(), self.peek_char(0)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ if self.at > self.chars.len() => return,
                _ => continue,
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn string_literal(&mut self, hashes: usize, is_raw: bool) {
        let line = self.line;
        self.next_char();
        let mut text = String::new();
        while self.at < self.chars.len() {
            match self.next_char() {
                '\\' if !is_raw => {
                    self.next_char();
                }
                '"' if (0..hashes).all(|i| self.peek_char(i) == '#') => break,
                c => text.push(c),
            }
        }
        self.at += hashes;
        self.out.push(Token { kind: TokenKind::Text(text), line });
    }

    fn lifetime_or_char(&mut self) {
        self.next_char();
        if is_identifier_char(self.peek_char(0)) && self.peek_char(1) != '\'' {
            while is_identifier_char(self.peek_char(0)) {
                self.at += 1;
            }
            return;
        }
        while self.at < self.chars.len() {
            match self.next_char() {
                '\\' => {
                    self.next_char();
                }
                '\'' => return,
                _ => {}
            }
        }
    }

    fn identifier_or_number(&mut self) {
        let start = self.at;
        while is_identifier_char(self.peek_char(0)) {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            self.push_token(TokenKind::Name(word));
        }
    }
}

fn is_identifier_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
