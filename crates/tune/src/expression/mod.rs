//! Expressions over parameters, with Python's syntax and semantics: constraints, conditions and grid sizes.
//!
//! An expression is parsed once. [`Expression::evaluate`] is exact; [`fast::FastProgram`] is for the enumeration of
//! spaces, which evaluates each expression many times.

mod evaluate;
pub(crate) mod fast;
mod parse;
mod tokens;

use crate::value::Value;
use std::fmt;

/// An expression such as `"bx * by <= 1024 and (stage or pad == 0)"`.
///
/// Supports numbers, strings, `True`, `False`, tuples and lists, arithmetic (`+ - * / // % **`), bit operations
/// (`& | ^ << >>`), chained comparisons, `in`, `and`, `or`, `not`, `a if c else b`, subscripts, the functions `abs`,
/// `bool`, `ceil_div`, `float`, `int`, `len`, `list`, `log2`, `max`, `min`, `next_pow2`, `range`, `round`, and list
/// comprehensions such as `[2**i for i in range(6)]`. Also accepts C's `&&`, `||` and `!`, and `p["bx"]` for `bx`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    /// The names that it depends on.
    names: Vec<String>,
    /// These and the variables of lists, as the tree counts them.
    slots: Vec<String>,
    root: Node,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// When the text is not a valid expression; the message shows where.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let (root, slots, variables) = parse::parse_expression(text)?;
        let names = slots.iter().filter(|name| !variables.contains(name)).cloned().collect();
        Ok(Self { text: text.to_owned(), names, slots, root })
    }

    /// The names on which it depends, in order of first use.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluates it with the values of names that `lookup` gives.
    ///
    /// # Errors
    /// When a name is unknown, a type does not fit an operation, a division by zero occurs, or an integer does not fit
    /// in 64 bits.
    pub fn evaluate(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExpressionError> {
        let values: Result<Vec<Value>, ExpressionError> =
            self.slots.iter().map(|name| self.look_up(name, lookup)).collect();
        let values = values?;
        evaluate::evaluate(&self.root, &values).map_err(|message| self.error(message))
    }

    /// Evaluates it to an integer.
    ///
    /// # Errors
    /// As [`Expression::evaluate`], and when the value is not an integer.
    pub fn evaluate_integer(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<i64, ExpressionError> {
        match self.evaluate(lookup)? {
            Value::Int(number) => Ok(number),
            Value::Bool(flag) => Ok(i64::from(flag)),
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok(number as i64),
            other => Err(self.error(format!("is {other}; expected an integer"))),
        }
    }

    /// A variable of a list has a value only there.
    fn look_up(&self, name: &String, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExpressionError> {
        if !self.names.contains(name) {
            return Ok(Value::Bool(false));
        }
        lookup(name).ok_or_else(|| self.error(format!("the name {name} is unknown")))
    }

    fn error(&self, message: String) -> ExpressionError {
        ExpressionError { text: self.text.clone(), position: None, message }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is not a valid expression, or an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    text: String,
    /// The byte where parsing stopped.
    position: Option<usize>,
    message: String,
}

/// Characters of an expression, and of what is said of it, that a message shows.
const SHOWN_CHARS: usize = 400;

/// The part of a text that a message shows.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of a long text the part around the place, so that a message is short.
        let place = self.position.unwrap_or(0);
        let chars: Vec<(usize, char)> = self.text.char_indices().collect();
        let before = chars.partition_point(|(at, _)| *at < place);
        let start = if chars.len() <= SHOWN_CHARS { 0 } else { before.saturating_sub(SHOWN_CHARS / 2) };
        let shown: String = chars[start..].iter().take(SHOWN_CHARS).map(|(_, c)| c).collect();
        write!(f, "expression {shown:?}: {}", self::shown(&self.message))?;
        if self.position.is_some() {
            write!(f, "\n  {shown}\n  {}^", " ".repeat(before - start))?;
        }
        Ok(())
    }
}

impl std::error::Error for ExpressionError {}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Constant(Value),
    /// A name, by its place among the names.
    Name(usize),
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<Node>, Box<Node>),
    /// `a < b <= c`
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// Condition, value where it holds, value where not.
    IfElse(Box<[Node; 3]>),
    Call(Function, Vec<Node>),
    Tuple(Vec<Node>),
    Index(Box<Node>, Box<Node>),
    /// `[body for variable in sequence]`; the variable by its place among the names.
    Comprehension {
        variable: usize,
        body: Box<Node>,
        sequence: Box<Node>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnaryOp {
    Negate,
    Plus,
    Invert,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Modulo,
    Power,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Abs,
    Bool,
    CeilDiv,
    Float,
    Int,
    Len,
    List,
    Log2,
    Max,
    Min,
    NextPow2,
    Range,
    Round,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("abs", Function::Abs),
    ("bool", Function::Bool),
    ("ceil_div", Function::CeilDiv),
    ("float", Function::Float),
    ("int", Function::Int),
    ("len", Function::Len),
    ("list", Function::List),
    ("log2", Function::Log2),
    ("max", Function::Max),
    ("min", Function::Min),
    ("next_pow2", Function::NextPow2),
    ("range", Function::Range),
    ("round", Function::Round),
];

#[cfg(test)]
mod tests;
