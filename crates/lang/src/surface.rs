//! The syntax tree that front ends hand over: the subset of Python that programs are written in, and what is refused.
//!
//! Names are resolved by the front end: a name of the program's own stays a [`ExprKind::Name`]; what the program takes from
//! outside (other functions, the prelude, constants) is in [`Function::outside`].

use crate::ir::Number;
use crate::span::{Files, Span};
use rtcg_hal::DType;
use std::sync::Arc;

/// A function with what it needs from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name; `<lambda>` for a lambda.
    pub name: Arc<str>,
    /// Its parameters.
    pub params: Vec<Pattern>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Where it is defined.
    pub span: Span,
    /// What the names that it does not define stand for; set for functions that a program is made of, empty for those
    /// defined in another function.
    pub outside: Arc<[(Arc<str>, Outside)]>,
}

/// What a name from outside a function stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Outside {
    /// A function of the prelude, by its name there.
    Prelude(Arc<str>),
    /// Another function of the program: an index into [`Source::functions`].
    Function(usize),
    /// A number of Python; adapts to the types around it.
    WeakNumber(Number),
    /// A number with a dtype, such as a NumPy scalar.
    Number(Number, DType),
    /// An elementwise function under NumPy's name, such as `numpy.hypot`.
    Elementwise(Arc<str>),
    /// A dtype, such as `numpy.float32`: a conversion when it is called.
    DType(DType),
    /// A tuple of such values.
    Tuple(Vec<Outside>),
    /// A module, with what the program uses of it.
    Module(Arc<str>, Vec<(Arc<str>, Outside)>),
    /// Anything else, as text for messages: its type, and what may help.
    Unusable {
        /// What it is, such as "a function that is not decorated with @cu".
        what: Arc<str>,
        /// What to write instead; may be empty.
        advice: Arc<str>,
    },
}

/// All functions of a program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Source {
    /// The functions; the first one is called.
    pub functions: Vec<Arc<Function>>,
    /// Their files.
    pub files: Files,
    /// What the functions are that the program is given as arguments; [`ArgType::Function`] has an index.
    ///
    /// [`ArgType::Function`]: crate::arguments::ArgType::Function
    pub arguments: Vec<Outside>,
}

/// What a value is bound to.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// A name.
    Name(Arc<str>, Span),
    /// The elements of a tuple.
    Tuple(Vec<Pattern>, Span),
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// `pattern = value`.
    Assign(Pattern, Expr, Span),
    /// `return value`; `None` for a bare `return`.
    Return(Option<Expr>, Span),
    /// `if`, with both branches; `elif` is an `if` in the second one.
    If(Expr, Vec<Stmt>, Vec<Stmt>, Span),
    /// A nested `def`.
    Def(Arc<Function>),
    /// A docstring, or `pass`.
    Nothing,
    /// A statement that the language does not have.
    Unsupported(Unsupported, Span),
}

/// A construct that the language does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsupported {
    /// What it is, such as "a `for` loop".
    pub what: Arc<str>,
    /// What to write instead; may be empty.
    pub advice: Arc<str>,
}

/// An operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of Python's operators in its `ast`")]
pub enum BinaryOperator {
    Add,
    Sub,
    Mult,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    BitAnd,
    BitOr,
    BitXor,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of Python's operators in its `ast`")]
pub enum Comparison {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
}

/// An operator of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of Python's operators in its `ast`")]
pub enum UnaryOperator {
    UAdd,
    USub,
    Invert,
    Not,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A name.
    Name(Arc<str>),
    /// `value.name`.
    Attribute(Box<Expr>, Arc<str>),
    /// A number of Python.
    Number(Number),
    /// `function(arguments)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `left op right`.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `op operand`.
    Unary(UnaryOperator, Box<Expr>),
    /// `first op second op third ...`.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    /// `a and b and ...`, or `or` if the flag is not set.
    Logical {
        /// Whether the operator is `and`.
        is_and: bool,
        /// Two operands or more.
        operands: Vec<Expr>,
    },
    /// `then if condition else other`: condition, then, other.
    IfElse(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(a, b, ...)`.
    Tuple(Vec<Expr>),
    /// `[a, b, ...]`.
    List(Vec<Expr>),
    /// `value[index]`.
    Subscript(Box<Expr>, Box<Expr>),
    /// `lambda params: body`, as a function with one `return`.
    Lambda(Arc<Function>),
    /// `[element for pattern in sequence if condition ...]`.
    Comprehension {
        /// The value of an element.
        element: Box<Expr>,
        /// The generators, outermost first.
        generators: Vec<Generator>,
    },
    /// An expression that the language does not have.
    Unsupported(Unsupported),
}

/// `for pattern in sequence if condition ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// What an element is bound to.
    pub pattern: Pattern,
    /// Where elements come from.
    pub sequence: Expr,
    /// Which ones are used.
    pub conditions: Vec<Expr>,
}
