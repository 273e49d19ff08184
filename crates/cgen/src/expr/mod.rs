//! C expressions with precedence: parentheses are printed only where C needs them.
//!
//! An expression carries the type of its value if known, so that a number beside it becomes a literal of that type
//! (`1.5f`, `3u`). Foreign text is [`Expr::raw`]; it is printed unchanged, and parenthesised beside operators unless it
//! is one word with optional members, subscripts and calls.

mod literal;
mod operators;
mod print;

pub use literal::Number;

use std::sync::Arc;

use crate::dtype::Dtype;

/// An expression. Clones share their parts.
#[derive(Clone, Debug)]
pub struct Expr {
    pub(crate) kind: Arc<Kind>,
    dtype: Option<Dtype>,
    depth: usize,
}

/// Equal are expressions of the same structure; types of values are notes for literals and do not count.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// Deeper expressions are dropped without recursion.
const MAX_RECURSIVE_DROP: usize = 256;

impl Drop for Expr {
    fn drop(&mut self) {
        if self.depth <= MAX_RECURSIVE_DROP {
            return;
        }
        let mut parts = vec![std::mem::replace(&mut self.kind, Arc::new(Kind::Raw(String::new())))];
        while let Some(part) = parts.pop() {
            // Shared parts stay with those who share them.
            let Some(mut kind) = Arc::into_inner(part) else { continue };
            for operand in kind.operands_mut().filter(|operand| operand.depth > MAX_RECURSIVE_DROP) {
                operand.depth = 0;
                parts.push(std::mem::replace(&mut operand.kind, Arc::new(Kind::Raw(String::new()))));
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Raw(String),
    Word(String),
    Unary(Unary, Expr),
    Binary(Binary, Expr, Expr),
    Conditional(Expr, Expr, Expr),
    Call(Expr, Vec<Expr>),
    Index(Expr, Expr),
    Member(Expr, &'static str, String),
    Cast(String, Expr),
}

impl Kind {
    fn operands(&self) -> impl Iterator<Item = &Expr> {
        let (fixed, list): ([Option<&Expr>; 3], &[Expr]) = match self {
            Self::Raw(_) | Self::Word(_) => ([None; 3], &[]),
            Self::Unary(_, a) | Self::Member(a, ..) | Self::Cast(_, a) => ([Some(a), None, None], &[]),
            Self::Binary(_, a, b) | Self::Index(a, b) => ([Some(a), Some(b), None], &[]),
            Self::Conditional(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
            Self::Call(f, arguments) => ([Some(f), None, None], arguments),
        };
        fixed.into_iter().flatten().chain(list)
    }
}

impl Kind {
    fn operands_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (fixed, list): ([Option<&mut Expr>; 3], &mut [Expr]) = match self {
            Self::Raw(_) | Self::Word(_) => ([None, None, None], &mut []),
            Self::Unary(_, a) | Self::Member(a, ..) | Self::Cast(_, a) => ([Some(a), None, None], &mut []),
            Self::Binary(_, a, b) | Self::Index(a, b) => ([Some(a), Some(b), None], &mut []),
            Self::Conditional(a, b, c) => ([Some(a), Some(b), Some(c)], &mut []),
            Self::Call(f, arguments) => ([Some(f), None, None], arguments),
        };
        fixed.into_iter().flatten().chain(list)
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-a`
    Negate,
    /// `!a`
    Not,
    /// `~a`
    Complement,
    /// `*a`
    Dereference,
    /// `&a`
    AddressOf,
    /// `++a`
    PreIncrement,
    /// `--a`
    PreDecrement,
    /// `a++`
    PostIncrement,
    /// `a--`
    PostDecrement,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a % b`
    Remainder,
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a << b`
    ShiftLeft,
    /// `a >> b`
    ShiftRight,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a & b`
    BitAnd,
    /// `a ^ b`
    BitXor,
    /// `a | b`
    BitOr,
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `a = b`
    Assign,
    /// `a += b`
    AddAssign,
    /// `a -= b`
    SubtractAssign,
    /// `a *= b`
    MultiplyAssign,
    /// `a /= b`
    DivideAssign,
}

impl Expr {
    pub(crate) fn new(kind: Kind, dtype: Option<Dtype>) -> Self {
        let depth = 1 + kind.operands().map(|e| e.depth).max().unwrap_or(0);
        Self { kind: Arc::new(kind), dtype, depth }
    }

    /// The nesting depth of the expression. Printing is recursive, so keep expressions from untrusted input below some
    /// thousands.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// A variable, or any other word. For a pointer or an array `dtype` is the element type.
    pub fn var(name: impl Into<String>, dtype: impl Into<Option<Dtype>>) -> Self {
        Self::new(Kind::Word(name.into()), dtype.into())
    }

    /// Foreign text, printed unchanged.
    pub fn raw(text: impl Into<String>) -> Self {
        Self::new(Kind::Raw(text.into()), None)
    }

    /// The type of the value, or of a pointer's elements, if known.
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype
    }

    /// Sets the type of the expression's value.
    pub fn with_dtype(mut self, dtype: impl Into<Option<Dtype>>) -> Self {
        self.dtype = dtype.into();
        self
    }

    /// An operator with one operand.
    pub fn unary(operator: Unary, operand: impl Into<Self>) -> Self {
        let operand = operand.into();
        let dtype = match operator {
            Unary::Not => Some(Dtype::Bool),
            Unary::Negate | Unary::Complement => operand.dtype.map(|t| t.promoted(t)),
            Unary::AddressOf => None,
            _ => operand.dtype,
        };
        Self::new(Kind::Unary(operator, operand), dtype)
    }

    /// An operator with two operands.
    pub fn binary(operator: Binary, left: impl Into<Self>, right: impl Into<Self>) -> Self {
        let (left, right) = (left.into(), right.into());
        let dtype = match print::level_of(operator) {
            print::ASSIGNMENT => left.dtype,
            print::SHIFT => left.dtype.map(|t| t.promoted(t)),
            level if level <= print::AND || operator.compares() => Some(Dtype::Bool),
            _ => left.dtype.zip(right.dtype).map(|(a, b)| a.promoted(b)),
        };
        Self::new(Kind::Binary(operator, left, right), dtype)
    }

    /// Applies `operator` with a number on the right, which becomes a literal of this expression's type.
    pub fn with_number(self, operator: Binary, number: Number) -> Self {
        let literal = Self::number_beside(number, self.dtype);
        Self::binary(operator, self, literal)
    }

    /// `self ? yes : no`
    pub fn conditional(self, yes: impl Into<Self>, no: impl Into<Self>) -> Self {
        let (yes, no) = (yes.into(), no.into());
        let dtype = yes.dtype.zip(no.dtype).map(|(a, b)| if a == b { a } else { a.promoted(b) });
        Self::new(Kind::Conditional(self, yes, no), dtype)
    }

    /// `self(arguments)`
    pub fn call(self, arguments: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Kind::Call(self, arguments.into_iter().collect()), None)
    }

    /// `self[index]`
    pub fn index(self, index: impl Into<Self>) -> Self {
        let dtype = self.dtype;
        Self::new(Kind::Index(self, index.into()), dtype)
    }

    /// `self.name`
    pub fn member(self, name: impl Into<String>) -> Self {
        Self::new(Kind::Member(self, ".", name.into()), None)
    }

    /// `self->name`
    pub fn arrow(self, name: impl Into<String>) -> Self {
        Self::new(Kind::Member(self, "->", name.into()), None)
    }

    /// `(typename)self`
    pub fn cast(self, typename: impl Into<String>) -> Self {
        Self::new(Kind::Cast(typename.into(), self), None)
    }

    /// `(dtype)self`; the value has that type.
    pub fn cast_to(self, dtype: Dtype) -> Self {
        self.cast(dtype.ctype()).with_dtype(dtype)
    }

    /// `*self`
    pub fn dereference(self) -> Self {
        Self::unary(Unary::Dereference, self)
    }

    /// `&self`
    pub fn address(self) -> Self {
        Self::unary(Unary::AddressOf, self)
    }

    /// The right operand of an operator whose left one is the variable `name`.
    pub(crate) fn right_of(&self, name: &str) -> Option<Self> {
        match &*self.kind {
            Kind::Binary(_, left, right) if matches!(&*left.kind, Kind::Word(word) if word == name) => {
                Some(right.clone())
            }
            _ => None,
        }
    }

    /// The first word of this expression or its operands that is no identifier where C asks for one, if any.
    pub(crate) fn malformed(&self) -> Option<String> {
        let word = |name: &str| {
            let parts = name.split("::").all(crate::names::is_identifier);
            (!parts && !literal::is_literal(name)).then(|| format!("'{name}' is no identifier"))
        };
        let own = match &*self.kind {
            Kind::Raw(text) => text.trim().is_empty().then(|| "an expression is empty".to_owned()),
            Kind::Word(name) | Kind::Member(_, _, name) => word(name),
            _ => None,
        };
        own.or_else(|| self.kind.operands().find_map(Self::malformed))
    }

    /// Replaces every variable called `name` by `value`. Raw text does not change.
    pub fn substitute(&self, name: &str, value: &Self) -> Self {
        let map = |e: &Self| e.substitute(name, value);
        let kind = match &*self.kind {
            Kind::Word(word) if word == name => return value.clone(),
            Kind::Raw(_) | Kind::Word(_) => return self.clone(),
            Kind::Unary(op, a) => Kind::Unary(*op, map(a)),
            Kind::Binary(op, a, b) => Kind::Binary(*op, map(a), map(b)),
            Kind::Conditional(a, b, c) => Kind::Conditional(map(a), map(b), map(c)),
            Kind::Call(f, arguments) => Kind::Call(map(f), arguments.iter().map(map).collect()),
            Kind::Index(a, b) => Kind::Index(map(a), map(b)),
            Kind::Member(a, separator, field) => Kind::Member(map(a), separator, field.clone()),
            Kind::Cast(typename, a) => Kind::Cast(typename.clone(), map(a)),
        };
        Self::new(kind, self.dtype)
    }
}

impl Binary {
    fn compares(self) -> bool {
        use Binary::*;
        matches!(self, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
    }
}

/// Text becomes [`Expr::raw`].
impl From<&str> for Expr {
    fn from(text: &str) -> Self {
        Self::raw(text)
    }
}

/// Text becomes [`Expr::raw`].
impl From<String> for Expr {
    fn from(text: String) -> Self {
        Self::raw(text)
    }
}
