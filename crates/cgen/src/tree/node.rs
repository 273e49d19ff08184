//! Statements, preprocessor lines, comments and blocks.

use super::declarator::{Declarator, Struct};
use crate::dtype::Dtype;
use crate::expr::Expr;

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A declaration, with its semicolon.
    Declaration(Declarator),
    /// `if`
    If(If),
    /// `for`
    For(For),
    /// `while`
    While(While),
    /// `do ... while`
    DoWhile(DoWhile),
    /// A loop with raw text for its first and last lines.
    CustomLoop(CustomLoop),
    /// A declaration with a value.
    Initializer(Initializer),
    /// A declaration of an array with its values.
    ArrayInitializer(ArrayInitializer),
    /// A function with its body.
    FunctionBody(FunctionBody),
    /// Nodes in braces.
    Block(Block),
    /// Nodes in sequence; also a module.
    Collection(Vec<Node>),
    /// Nodes in a namespace of this name, which a `using` directive opens at once.
    PrivateNamespace(String, Vec<Node>),
    /// `#ifdef`
    Conditional(Conditional),
    /// An integer type with named values.
    Enum(Enum),
    /// An assignment.
    Assign(Assign),
    /// An expression as a statement.
    ExpressionStatement(Expr),
    /// A statement as text, without its semicolon.
    Statement(String),
    /// `#define symbol value`
    Define(String, String),
    /// `#include <name>`, or with quotes if the flag is false.
    Include(String, bool),
    /// `#pragma` with this text.
    Pragma(String),
    /// A line of raw text.
    Line(String),
    /// A one-piece comment; the flag omits the spaces inside the stars.
    Comment(String, bool),
    /// A multi-line comment; the flag omits the spaces inside the stars.
    MultilineComment(String, bool),
    /// A comment `// ...`.
    LineComment(String),
    /// Foreign lines.
    Literal(Literal),
    /// A node after a `#line` that refers to the code that built it.
    At(Position, Box<Node>),
}

/// A line in a file of the program that builds the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
}

/// Foreign lines; a block is put in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The lines.
    pub lines: Vec<String>,
    /// Whether they are put in braces.
    pub is_block: bool,
}

/// `if (condition) then else otherwise`
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The condition.
    pub condition: Expr,
    /// The statement that runs if it holds.
    pub then: Box<Node>,
    /// The statement that runs if it does not hold.
    pub otherwise: Option<Box<Node>>,
}

/// The start of a `for` loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// An expression, e.g. an assignment.
    Expr(Expr),
    /// A loop variable.
    Declaration(Initializer),
}

/// `for (start; condition; update) body`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The start.
    pub start: Start,
    /// The condition.
    pub condition: Expr,
    /// The update after each iteration.
    pub update: Expr,
    /// The body.
    pub body: Box<Node>,
}

/// `while (condition) body`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// The condition.
    pub condition: Expr,
    /// The body.
    pub body: Box<Node>,
}

/// `do body while (condition);`
#[derive(Clone, Debug, PartialEq)]
pub struct DoWhile {
    /// The condition.
    pub condition: Expr,
    /// The body.
    pub body: Box<Node>,
}

/// A body between two lines of raw text.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomLoop {
    /// The line before the body.
    pub intro: Option<String>,
    /// The body.
    pub body: Box<Node>,
    /// The line after the body.
    pub outro: Option<String>,
}

/// A declaration with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Initializer {
    /// The declaration.
    pub declarator: Declarator,
    /// Its value.
    pub value: Expr,
}

/// A declaration of an array with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayInitializer {
    /// The declaration.
    pub declarator: Declarator,
    /// Its values.
    pub values: Vec<Expr>,
}

/// A function with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionBody {
    /// The function's declaration.
    pub declaration: Declarator,
    /// Its body.
    pub body: Box<Node>,
}

/// Nodes in braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The nodes.
    pub contents: Vec<Node>,
}

/// `#ifdef symbol`, or `#ifndef` if `negated`, with an `#else` part if that has nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The macro.
    pub symbol: String,
    /// `#ifndef`
    pub negated: bool,
    /// Nodes if the condition holds.
    pub then: Vec<Node>,
    /// Nodes if it does not hold.
    pub otherwise: Vec<Node>,
}

/// An integer type with named values.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Name of the type.
    pub name: String,
    /// The integer type.
    pub dtype: Dtype,
    /// The prefix of the values' names.
    pub prefix: String,
    /// Names and values.
    pub values: Vec<(String, i64)>,
}

/// `target = value;`
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// The target of the assignment.
    pub target: Expr,
    /// The value.
    pub value: Expr,
}

impl If {
    /// An `if` without an `else`.
    pub fn new(condition: impl Into<Expr>, then: impl Into<Node>) -> Self {
        Self { condition: condition.into(), then: Box::new(then.into()), otherwise: None }
    }

    /// Sets the `else`.
    pub fn otherwise(mut self, node: impl Into<Node>) -> Self {
        self.otherwise = Some(Box::new(node.into()));
        self
    }

    /// A chain of `else if`, which `otherwise` ends. `None` without cases and without `otherwise`.
    pub fn chain(cases: impl IntoIterator<Item = (Expr, Node)>, otherwise: Option<Node>) -> Option<Node> {
        let cases: Vec<_> = cases.into_iter().collect();
        cases.into_iter().rev().fold(otherwise, |rest, (condition, then)| {
            Some(Node::If(Self { condition, then: Box::new(then), otherwise: rest.map(Box::new) }))
        })
    }
}

impl For {
    /// `for (start; condition; update) body`
    pub fn new(
        start: impl Into<Start>,
        condition: impl Into<Expr>,
        update: impl Into<Expr>,
        body: impl Into<Node>,
    ) -> Self {
        let body = Box::new(body.into());
        Self { start: start.into(), condition: condition.into(), update: update.into(), body }
    }

    /// The start, condition and update as text.
    pub fn head(&self) -> (String, String, String) {
        (self.start.text(), self.condition.to_string(), self.update.to_string())
    }

    /// `for (int name = first; name < end; name += step)`; a step of 1 is `++name`. `name` must be a variable.
    pub fn range(
        name: &Expr,
        first: impl Into<Expr>,
        end: impl Into<Expr>,
        step: impl Into<Expr>,
        body: impl Into<Node>,
    ) -> Self {
        let dtype = name.dtype().unwrap_or(Dtype::Int32);
        let start = Initializer::new(Declarator::pod(dtype, name.to_string()), first);
        let step = step.into();
        let update = if step.to_string() == "1" { name.increment() } else { name.add_assign(step) };
        Self::new(start, name.less(end), update, body)
    }
}

impl While {
    /// `while (condition) body`
    pub fn new(condition: impl Into<Expr>, body: impl Into<Node>) -> Self {
        Self { condition: condition.into(), body: Box::new(body.into()) }
    }
}

impl DoWhile {
    /// `do body while (condition);`
    pub fn new(condition: impl Into<Expr>, body: impl Into<Node>) -> Self {
        Self { condition: condition.into(), body: Box::new(body.into()) }
    }
}

impl Initializer {
    /// `declarator = value;`
    pub fn new(declarator: Declarator, value: impl Into<Expr>) -> Self {
        Self { declarator, value: value.into() }
    }

    /// Like [`Initializer::new`], for a constant.
    pub fn constant(declarator: Declarator, value: impl Into<Expr>) -> Self {
        Self::new(declarator.constant(), value)
    }
}

impl ArrayInitializer {
    /// `declarator = { values };`
    pub fn new(declarator: Declarator, values: impl IntoIterator<Item = Expr>) -> Self {
        Self { declarator, values: values.into_iter().collect() }
    }
}

impl FunctionBody {
    /// `declaration` with a body of these statements.
    pub fn new(declaration: Declarator, body: impl IntoIterator<Item = Node>) -> Self {
        Self { declaration, body: Box::new(Block::new(body).into()) }
    }
}

impl Block {
    /// Nodes in braces.
    pub fn new(contents: impl IntoIterator<Item = Node>) -> Self {
        Self { contents: contents.into_iter().collect() }
    }

    /// A single node unchanged, several as a block.
    pub fn if_necessary(contents: impl IntoIterator<Item = Node>) -> Node {
        let mut contents: Vec<_> = contents.into_iter().collect();
        if contents.len() == 1 { contents.remove(0) } else { Self { contents }.into() }
    }
}

impl Assign {
    /// `target = value;`
    pub fn new(target: impl Into<Expr>, value: impl Into<Expr>) -> Self {
        Self { target: target.into(), value: value.into() }
    }
}

impl Node {
    /// Puts a comment and an empty line before the node, in one block; without a comment returns the node unchanged.
    pub fn with_comment(self, comment: Option<&str>) -> Self {
        let Some(comment) = comment else { return self };
        let head = [Self::Comment(comment.to_owned(), false), Self::Line(String::new())];
        let rest = match self {
            Self::Block(block) => block.contents,
            other => vec![other],
        };
        Block::new(head.into_iter().chain(rest)).into()
    }

    /// Puts a `#line` with this position before the node.
    pub fn at(self, file: impl Into<String>, line: u32) -> Self {
        Self::At(Position { file: file.into(), line }, Box::new(self))
    }
}

macro_rules! nodes {
    ($($ty:ident),*) => {$(
        impl From<$ty> for Node {
            fn from(node: $ty) -> Self {
                Self::$ty(node)
            }
        }
    )*};
}
nodes!(
    If,
    For,
    While,
    DoWhile,
    CustomLoop,
    Initializer,
    ArrayInitializer,
    FunctionBody,
    Block,
    Conditional,
    Enum,
    Assign,
    Literal
);

impl From<Declarator> for Node {
    fn from(declarator: Declarator) -> Self {
        Self::Declaration(declarator)
    }
}

impl From<Struct> for Node {
    fn from(body: Struct) -> Self {
        Self::Declaration(body.into())
    }
}

impl From<Expr> for Node {
    fn from(expr: Expr) -> Self {
        Self::ExpressionStatement(expr)
    }
}

impl From<Initializer> for Start {
    fn from(initializer: Initializer) -> Self {
        Self::Declaration(initializer)
    }
}

impl<E: Into<Expr>> From<E> for Start {
    fn from(expr: E) -> Self {
        Self::Expr(expr.into())
    }
}
