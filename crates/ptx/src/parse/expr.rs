//! Immediates and constant expressions, evaluated at 64 bits as the ISA defines it.

use super::{Parsed, Parser};
use crate::diag::DiagnosticKind;
use crate::lexer::Kind;

/// How deep parentheses and unary operators may nest.
const MAX_DEPTH: u32 = 64;

/// A constant: an integer with its signedness, or a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Const {
    Int { value: i64, unsigned: bool },
    F32(u32),
    F64(u64),
}

impl Const {
    pub(super) fn int(value: i64) -> Self {
        Const::Int { value, unsigned: false }
    }
}

/// An integer literal with any radix and suffix; `None` if it exceeds 64 bits.
pub(super) fn parse_int(text: &str) -> Option<Const> {
    let body = text.strip_suffix('U').unwrap_or(text);
    let lower = body.get(..2).unwrap_or("");
    let value = match lower {
        "0x" | "0X" => u64::from_str_radix(&body[2..], 16),
        "0b" | "0B" => u64::from_str_radix(&body[2..], 2),
        _ if body.len() > 1 && body.starts_with('0') => u64::from_str_radix(&body[1..], 8),
        _ => body.parse(),
    }
    .ok()?;
    Some(Const::Int { value: value as i64, unsigned: body.len() < text.len() || value > i64::MAX as u64 })
}

/// A two-sided operator and how tightly it binds.
fn binary(first: u8, second: u8) -> Option<(&'static str, u8)> {
    Some(match (first, second) {
        (b'|', b'|') => ("||", 1),
        (b'&', b'&') => ("&&", 2),
        (b'=', b'=') => ("==", 6),
        (b'!', b'=') => ("!=", 6),
        (b'<', b'<') => ("<<", 8),
        (b'>', b'>') => (">>", 8),
        (b'<', b'=') => ("<=", 7),
        (b'>', b'=') => (">=", 7),
        (b'|', _) => ("|", 3),
        (b'^', _) => ("^", 4),
        (b'&', _) => ("&", 5),
        (b'<', _) => ("<", 7),
        (b'>', _) => (">", 7),
        (b'+', _) => ("+", 9),
        (b'-', _) => ("-", 9),
        (b'*', _) => ("*", 10),
        (b'/', _) => ("/", 10),
        (b'%', _) => ("%", 10),
        _ => return None,
    })
}

fn apply(op: &str, a: i64, b: i64, unsigned: bool) -> Option<i64> {
    let (ua, ub) = (a as u64, b as u64);
    let amount = ub.min(64) as u32;
    Some(match op {
        "||" => (a != 0 || b != 0) as i64,
        "&&" => (a != 0 && b != 0) as i64,
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => (a == b) as i64,
        "!=" => (a != b) as i64,
        "<" => (if unsigned { ua < ub } else { a < b }) as i64,
        "<=" => (if unsigned { ua <= ub } else { a <= b }) as i64,
        ">" => (if unsigned { ua > ub } else { a > b }) as i64,
        ">=" => (if unsigned { ua >= ub } else { a >= b }) as i64,
        "<<" => a.checked_shl(amount).unwrap_or(0),
        ">>" if unsigned => ua.checked_shr(amount).unwrap_or(0) as i64,
        ">>" => a >> amount.min(63),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => ua.checked_div(ub)? as i64,
        "/" => (b != 0).then(|| a.wrapping_div(b))?,
        "%" if unsigned => ua.checked_rem(ub)? as i64,
        _ => (b != 0).then(|| a.wrapping_rem(b))?,
    })
}

impl Parser<'_> {
    /// Whether a constant begins here.
    pub(super) fn at_const(&self) -> bool {
        match self.kind() {
            Kind::Int | Kind::Float | Kind::HexF32 | Kind::HexF64 => true,
            Kind::Punct(b) => matches!(b, b'-' | b'+' | b'~' | b'!' | b'('),
            Kind::Ident => self.text() == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Parsed<Const> {
        self.ternary(0)
    }

    /// A constant expression that must be an integer.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        let token = self.token();
        match self.constant()? {
            Const::Int { value, .. } => Ok(value),
            _ => Err(self.semantic(token, "an integer is needed here, not a floating-point number")),
        }
    }

    /// An integer in `0..=u32::MAX`.
    pub(super) fn unsigned(&mut self) -> Parsed<u32> {
        let token = self.token();
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| self.semantic(token, format!("{value} is out of range here")))
    }

    fn ternary(&mut self, depth: u32) -> Parsed<Const> {
        let token = self.token();
        let condition = self.binary_from(1, depth)?;
        if !self.is(b'?') {
            return Ok(condition);
        }
        let Const::Int { value, .. } = condition else {
            return Err(self.semantic(token, "the condition of `?:` must be an integer"));
        };
        self.advance();
        let yes = self.ternary(self.nested(depth)?)?;
        self.expect(b':')?;
        let no = self.ternary(self.nested(depth)?)?;
        Ok(if value != 0 { yes } else { no })
    }

    fn nested(&self, depth: u32) -> Parsed<u32> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        Err(self.error(DiagnosticKind::Syntax, "a constant expression that nests this deep is not supported"))
    }

    fn binary_from(&mut self, min: u8, depth: u32) -> Parsed<Const> {
        let mut left = self.sign(depth)?;
        loop {
            let (Kind::Punct(first), token) = (self.kind(), self.token()) else { return Ok(left) };
            let second = match self.tokens.get(self.at + 1) {
                Some(next) if next.start == token.end => match next.kind {
                    Kind::Punct(b) => b,
                    _ => 0,
                },
                _ => 0,
            };
            let Some((op, level)) = binary(first, second).filter(|&(_, level)| level >= min) else { return Ok(left) };
            for _ in 0..op.len() {
                self.advance();
            }
            let right = self.binary_from(level + 1, self.nested(depth)?)?;
            let (Const::Int { value: a, unsigned: ua }, Const::Int { value: b, unsigned: ub }) = (left, right) else {
                return Err(self.semantic(token, "constant expressions work on integers only"));
            };
            let unsigned = ua || ub;
            let shift = op == "<<" || op == ">>";
            let signed_result = level <= 2 || level == 6 || level == 7;
            let Some(value) = apply(op, a, b, if shift { ua } else { unsigned }) else {
                return Err(self.semantic(token, "division by zero in a constant expression"));
            };
            left = Const::Int { value, unsigned: !signed_result && if shift { ua } else { unsigned } };
        }
    }

    fn sign(&mut self, depth: u32) -> Parsed<Const> {
        let token = self.token();
        let op = match token.kind {
            Kind::Punct(b @ (b'-' | b'+' | b'~' | b'!')) => b,
            _ => return self.primary(depth),
        };
        self.advance();
        let value = self.sign(self.nested(depth)?)?;
        match (op, value) {
            (b'+', _) => Ok(value),
            (b'-', Const::F32(bits)) => Ok(Const::F32(bits ^ 1 << 31)),
            (b'-', Const::F64(bits)) => Ok(Const::F64(bits ^ 1 << 63)),
            (b'-', Const::Int { value, unsigned }) => Ok(Const::Int { value: value.wrapping_neg(), unsigned }),
            (b'~', Const::Int { value, unsigned }) => Ok(Const::Int { value: !value, unsigned }),
            (b'!', Const::Int { value, .. }) => Ok(Const::int((value == 0) as i64)),
            _ => Err(self.semantic(token, "this operator works on integers only")),
        }
    }

    fn primary(&mut self, depth: u32) -> Parsed<Const> {
        let (token, text) = (self.token(), self.text());
        let value = match token.kind {
            Kind::Int => parse_int(text).ok_or_else(|| self.semantic(token, "an integer of more than 64 bits"))?,
            Kind::Float => Const::F64(text.parse::<f64>().map_err(|_| self.expected("a number"))?.to_bits()),
            Kind::HexF32 => Const::F32(u32::from_str_radix(&text[2..], 16).map_err(|_| self.expected("a number"))?),
            Kind::HexF64 => Const::F64(u64::from_str_radix(&text[2..], 16).map_err(|_| self.expected("a number"))?),
            Kind::Ident if text == "WARP_SZ" => Const::int(32),
            Kind::Punct(b'(') => return self.parenthesised(depth),
            _ => return Err(self.expected("a constant")),
        };
        self.advance();
        Ok(value)
    }

    /// `(expr)` or one of the casts `(.s64)` and `(.u64)`.
    fn parenthesised(&mut self, depth: u32) -> Parsed<Const> {
        let depth = self.nested(depth)?;
        self.expect(b'(')?;
        for (word, to_unsigned) in [(".s64", false), (".u64", true)] {
            if self.eat_dot(word) {
                self.expect(b')')?;
                let token = self.token();
                return match self.sign(depth)? {
                    Const::Int { value, .. } => Ok(Const::Int { value, unsigned: to_unsigned }),
                    _ => Err(self.semantic(token, "only integers can be cast")),
                };
            }
        }
        let value = self.ternary(depth)?;
        self.expect(b')')?;
        Ok(value)
    }
}
