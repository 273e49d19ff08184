//! Expressions of solver programs: numbers, names of scalars and vectors, arithmetic, comparisons and calls. Parsing is
//! independent of types; see `kernel.rs` for these.

use rtcg_hal::{ArrayError, Result};

/// An expression. Numbers stay text, so that expressions can be compared and hashed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Number(String),
    Name(String),
    Unary(&'static str, Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
    Call(String, Vec<Self>),
}

/// Operators from those that bind least to those that bind most.
const LEVELS: [&[&str]; 5] = [&["||"], &["&&"], &["<=", ">=", "==", "!=", "<", ">"], &["+", "-"], &["*", "/"]];

impl Expr {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { rest: text };
        let expr = parser.level(0)?;
        parser.skip_spaces();
        if parser.rest.is_empty() { Ok(expr) } else { parser.error("an operator") }
    }

    pub(crate) fn name(name: impl Into<String>) -> Self {
        Self::Name(name.into())
    }

    /// The expression with its parts replaced by what `change` says, from the inside out.
    pub(crate) fn map(&self, change: &mut dyn FnMut(Self) -> Result<Self>) -> Result<Self> {
        let rebuilt = match self {
            Self::Number(_) | Self::Name(_) => self.clone(),
            Self::Unary(op, a) => Self::Unary(op, Box::new(a.map(change)?)),
            Self::Binary(op, a, b) => Self::Binary(op, Box::new(a.map(change)?), Box::new(b.map(change)?)),
            Self::Call(name, args) => {
                Self::Call(name.clone(), args.iter().map(|arg| arg.map(change)).collect::<Result<_>>()?)
            }
        };
        change(rebuilt)
    }

    /// Names in it, each as often as it is there.
    pub(crate) fn names(&self, found: &mut Vec<String>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => found.push(name.clone()),
            Self::Unary(_, a) => a.names(found),
            Self::Binary(_, a, b) => {
                a.names(found);
                b.names(found);
            }
            Self::Call(_, args) => args.iter().for_each(|arg| arg.names(found)),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn error<T>(&self, expected: &str) -> Result<T> {
        Err(ArrayError::value_error(format!("a solver's program has '{}'; expected {expected}", self.rest)))
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn level(&mut self, level: usize) -> Result<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(op) = operators.iter().find(|op| self.takes(op)) {
            left = Expr::Binary(op, Box::new(left), Box::new(self.level(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        for op in ["-", "!"] {
            if self.takes(op) {
                return Ok(Expr::Unary(op, Box::new(self.unary()?)));
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Expr> {
        if self.takes("(") {
            let inner = self.level(0)?;
            return if self.takes(")") { Ok(inner) } else { self.error(")") };
        }
        let is_number = self.rest.starts_with(|c: char| c.is_ascii_digit());
        let word = self.word();
        if word.is_empty() {
            return self.error("a number, a name or (");
        }
        if is_number {
            return Ok(Expr::Number(word.to_owned()));
        }
        if !self.takes("(") {
            return Ok(Expr::name(word));
        }
        let mut args = vec![self.level(0)?];
        while self.takes(",") {
            args.push(self.level(0)?);
        }
        if self.takes(")") { Ok(Expr::Call(word.to_owned(), args)) } else { self.error(")") }
    }

    /// A name, or a number without a sign in its exponent.
    fn word(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_c() {
        let expr = Expr::parse("a + b * -c < 2 && !d").unwrap();
        let Expr::Binary("&&", left, right) = expr else { panic!("{expr:?}") };
        assert_eq!(*right, Expr::Unary("!", Box::new(Expr::name("d"))));
        let Expr::Binary("<", sum, _) = *left else { panic!("{left:?}") };
        assert!(matches!(*sum, Expr::Binary("+", ..)));
        let mut names = Vec::new();
        Expr::parse("dot(r, z - r) / 3").unwrap().names(&mut names);
        assert_eq!(names, ["r", "z", "r"]);
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["a +", "(a", "f(a", "a b", ""] {
            assert!(Expr::parse(text).is_err(), "{text}");
        }
    }
}
