//! Immediates and constant expressions, evaluated at 64 bits as the ISA defines it.

use super::{ParseRuleResult, Parser};
use crate::diag::DiagnosticKind;
use crate::lexer::TokenKind;

/// How deep parentheses and unary operators may nest.
const MAX_EXPRESSION_DEPTH: u32 = 64;

/// A constant: an integer with its signedness, or a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Constant {
    Int { value: i64, unsigned: bool },
    F32(u32),
    F64(u64),
}

impl Constant {
    pub(super) fn signed_int(value: i64) -> Self {
        Constant::Int { value, unsigned: false }
    }
}

/// An integer literal with any radix and suffix; `None` if it exceeds 64 bits.
pub(super) fn parse_int(text: &str) -> Option<Constant> {
    let body = text.strip_suffix('U').unwrap_or(text);
    let lower = body.get(..2).unwrap_or("");
    let value = match lower {
        "0x" | "0X" => u64::from_str_radix(&body[2..], 16),
        "0b" | "0B" => u64::from_str_radix(&body[2..], 2),
        _ if body.len() > 1 && body.starts_with('0') => u64::from_str_radix(&body[1..], 8),
        _ => body.parse(),
    }
    .ok()?;
    Some(Constant::Int { value: value as i64, unsigned: body.len() < text.len() || value > i64::MAX as u64 })
}

/// A two-sided operator and how tightly it binds.
fn binary_operator(first: u8, second: u8) -> Option<(&'static str, u8)> {
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

fn apply_operator(op: &str, a: i64, b: i64, unsigned: bool) -> Option<i64> {
    let (ua, ub) = (a as u64, b as u64);
    // As much as the lowest bits of the second operand say.
    let amount = ub as u32 % 64;
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
        "<<" => a << amount,
        ">>" if unsigned => (ua >> amount) as i64,
        ">>" => a >> amount,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => ua.checked_div(ub)? as i64,
        "/" => (b != 0).then(|| a.wrapping_div(b))?,
        // Remainders are those of unsigned numbers.
        _ => ua.checked_rem(ub)? as i64,
    })
}

/// An operator of floating-point numbers, whose comparisons are integers.
fn apply_float_operator(op: &str, a: f64, b: f64) -> Option<Constant> {
    let number = |value: f64| Some(Constant::F64(value.to_bits()));
    match op {
        "+" => number(a + b),
        "-" => number(a - b),
        "*" => number(a * b),
        "/" if b != 0.0 => number(a / b),
        "<" => Some(Constant::signed_int((a < b).into())),
        "<=" => Some(Constant::signed_int((a <= b).into())),
        ">" => Some(Constant::signed_int((a > b).into())),
        ">=" => Some(Constant::signed_int((a >= b).into())),
        "==" => Some(Constant::signed_int((a == b).into())),
        "!=" => Some(Constant::signed_int((a != b).into())),
        _ => None,
    }
}

impl Parser<'_> {
    /// Whether a constant begins here.
    pub(super) fn is_at_constant(&self) -> bool {
        match self.current_kind() {
            TokenKind::Int | TokenKind::Float | TokenKind::HexF32 | TokenKind::HexF64 => true,
            TokenKind::Punct(b) => matches!(b, b'-' | b'+' | b'~' | b'!' | b'('),
            TokenKind::Ident => self.current_text() == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub(super) fn parse_constant(&mut self) -> ParseRuleResult<Constant> {
        self.parse_conditional_expression(0)
    }

    /// A constant expression that must be an integer.
    pub(super) fn parse_integer(&mut self) -> ParseRuleResult<i64> {
        let token = self.current_token();
        match self.parse_constant()? {
            Constant::Int { value, .. } => Ok(value),
            _ => Err(self.semantic_error(token, "an integer is needed here, not a floating-point number")),
        }
    }

    /// An integer in `0..=u32::MAX`.
    pub(super) fn parse_unsigned(&mut self) -> ParseRuleResult<u32> {
        let token = self.current_token();
        let value = self.parse_integer()?;
        u32::try_from(value).map_err(|_| self.semantic_error(token, format!("{value} is out of range here")))
    }

    fn parse_conditional_expression(&mut self, depth: u32) -> ParseRuleResult<Constant> {
        let token = self.current_token();
        let condition = self.parse_binary_expression(1, depth)?;
        if !self.is_punct(b'?') {
            return Ok(condition);
        }
        let Constant::Int { value, .. } = condition else {
            return Err(self.semantic_error(token, "the condition of `?:` must be an integer"));
        };
        self.advance();
        let yes = self.parse_conditional_expression(self.next_nesting_depth(depth)?)?;
        self.expect_punct(b':')?;
        let no = self.parse_conditional_expression(self.next_nesting_depth(depth)?)?;
        Ok(if value != 0 { yes } else { no })
    }

    fn next_nesting_depth(&self, depth: u32) -> ParseRuleResult<u32> {
        if depth < MAX_EXPRESSION_DEPTH {
            return Ok(depth + 1);
        }
        Err(self.error_here(DiagnosticKind::Syntax, "a constant expression that nests this deep is not supported"))
    }

    fn parse_binary_expression(&mut self, min: u8, depth: u32) -> ParseRuleResult<Constant> {
        let mut left = self.parse_unary_expression(depth)?;
        loop {
            let (TokenKind::Punct(first), token) = (self.current_kind(), self.current_token()) else { return Ok(left) };
            let second = match self.tokens.get(self.at + 1) {
                Some(next) if next.start == token.end => match next.kind {
                    TokenKind::Punct(b) => b,
                    _ => 0,
                },
                _ => 0,
            };
            let Some((op, level)) = binary_operator(first, second).filter(|&(_, level)| level >= min) else {
                return Ok(left);
            };
            for _ in 0..op.len() {
                self.advance();
            }
            let right = self.parse_binary_expression(level + 1, self.next_nesting_depth(depth)?)?;
            if let (Constant::F64(a), Constant::F64(b)) = (left, right) {
                left = apply_float_operator(op, f64::from_bits(a), f64::from_bits(b)).ok_or_else(|| {
                    self.semantic_error(token, "this operator works on integers only, and quotients need a divisor")
                })?;
                continue;
            }
            let (Constant::Int { value: a, unsigned: ua }, Constant::Int { value: b, unsigned: ub }) = (left, right)
            else {
                return Err(self.semantic_error(token, "constant expressions work on numbers of one kind only"));
            };
            let unsigned = ua || ub || op == "%";
            let shift = op == "<<" || op == ">>";
            let signed_result = level <= 2 || level == 6 || level == 7;
            let Some(value) = apply_operator(op, a, b, if shift { ua } else { unsigned }) else {
                return Err(self.semantic_error(token, "division by zero in a constant expression"));
            };
            left = Constant::Int { value, unsigned: !signed_result && if shift { ua } else { unsigned } };
        }
    }

    fn parse_unary_expression(&mut self, depth: u32) -> ParseRuleResult<Constant> {
        let token = self.current_token();
        let op = match token.kind {
            TokenKind::Punct(b @ (b'-' | b'+' | b'~' | b'!')) => b,
            _ => return self.parse_primary_expression(depth),
        };
        self.advance();
        let value = self.parse_unary_expression(self.next_nesting_depth(depth)?)?;
        match (op, value) {
            (b'+', _) => Ok(value),
            (b'-', Constant::F32(bits)) => Ok(Constant::F32(bits ^ 1 << 31)),
            (b'-', Constant::F64(bits)) => Ok(Constant::F64(bits ^ 1 << 63)),
            (b'-', Constant::Int { value, unsigned }) => Ok(Constant::Int { value: value.wrapping_neg(), unsigned }),
            (b'~', Constant::Int { value, .. }) => Ok(Constant::Int { value: !value, unsigned: true }),
            (b'!', Constant::Int { value, .. }) => Ok(Constant::signed_int((value == 0) as i64)),
            _ => Err(self.semantic_error(token, "this operator works on integers only")),
        }
    }

    fn parse_primary_expression(&mut self, depth: u32) -> ParseRuleResult<Constant> {
        let (token, text) = (self.current_token(), self.current_text());
        let value = match token.kind {
            TokenKind::Int => {
                parse_int(text).ok_or_else(|| self.semantic_error(token, "an integer of more than 64 bits"))?
            }
            TokenKind::Float => {
                Constant::F64(text.parse::<f64>().map_err(|_| self.expected_error("a number"))?.to_bits())
            }
            TokenKind::HexF32 => {
                Constant::F32(u32::from_str_radix(&text[2..], 16).map_err(|_| self.expected_error("a number"))?)
            }
            TokenKind::HexF64 => {
                Constant::F64(u64::from_str_radix(&text[2..], 16).map_err(|_| self.expected_error("a number"))?)
            }
            TokenKind::Ident if text == "WARP_SZ" => Constant::signed_int(32),
            TokenKind::Punct(b'(') => return self.parse_parenthesised(depth),
            _ => return Err(self.expected_error("a constant")),
        };
        self.advance();
        Ok(value)
    }

    /// `(expr)` or one of the casts `(.s64)` and `(.u64)`.
    fn parse_parenthesised(&mut self, depth: u32) -> ParseRuleResult<Constant> {
        let depth = self.next_nesting_depth(depth)?;
        self.expect_punct(b'(')?;
        for (word, to_unsigned) in [(".s64", false), (".u64", true)] {
            if self.eat_dot_word(word) {
                self.expect_punct(b')')?;
                let token = self.current_token();
                return match self.parse_unary_expression(depth)? {
                    Constant::Int { value, .. } => Ok(Constant::Int { value, unsigned: to_unsigned }),
                    _ => Err(self.semantic_error(token, "only integers can be cast")),
                };
            }
        }
        let value = self.parse_conditional_expression(depth)?;
        self.expect_punct(b')')?;
        Ok(value)
    }
}
