//! Checks of trees: a tree is malformed if C would read the printed program differently, or not at all.

use std::collections::HashSet;
use std::fmt;

use super::declarator::{Declarator, Place, Struct, Wrapper};
use super::node::{Node, Start};
use crate::expr::Expr;
use crate::names::is_identifier;

/// A malformed node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    /// The path from the root to the node, e.g. `[2].body.then`.
    pub path: String,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the root" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

impl std::error::Error for TreeError {}

type Checked = Result<(), TreeError>;

fn fail(path: &str, message: impl Into<String>) -> Checked {
    Err(TreeError { path: path.trim_start_matches('.').to_owned(), message: message.into() })
}

fn expect(holds: bool, path: &str, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { fail(path, message()) }
}

fn check_name(name: &str, path: &str) -> Checked {
    let valid = name.split("::").all(is_identifier);
    expect(valid, path, || format!("'{name}' is no identifier; other text goes into a literal node"))
}

fn check_expr(expr: &Expr, path: &str) -> Checked {
    expr.malformed().map_or(Ok(()), |message| fail(path, message))
}

/// The parts of a `for` may be left out.
fn check_optional(expr: &Expr, path: &str) -> Checked {
    if expr.to_string().is_empty() { Ok(()) } else { check_expr(expr, path) }
}

fn check_nodes(nodes: &[Node], path: &str) -> Checked {
    nodes.iter().enumerate().try_for_each(|(i, node)| node.check(&format!("{path}[{i}]")))
}

fn check_one_line(text: &str, path: &str) -> Checked {
    let broken = text.contains('\n') || text.trim_end().ends_with('\\');
    expect(!broken, path, || format!("the text {text:?} does not end with its line"))
}

fn check_comment(text: &str, path: &str) -> Checked {
    expect(!text.contains("*/"), path, || format!("the comment {text:?} holds the end of a comment"))
}

impl Node {
    /// Checks the tree and returns the program's text; an error names the first malformed node.
    pub fn source(&self) -> Result<String, TreeError> {
        self.check("")?;
        Ok(self.text())
    }

    fn check(&self, path: &str) -> Checked {
        let part = |name: &str| format!("{path}.{name}");
        match self {
            Self::Declaration(declarator) => declarator.check(path),
            Self::If(node) => {
                check_expr(&node.condition, &part("condition"))?;
                node.then.check_body(&part("then"))?;
                let Some(otherwise) = &node.otherwise else { return Ok(()) };
                expect(!node.then.takes_else(), &part("then"), || {
                    "the else would belong to the inner if; put the inner one into a Block".to_owned()
                })?;
                otherwise.check_body(&part("otherwise"))
            }
            Self::For(node) => {
                match &node.start {
                    Start::Expr(expr) => check_optional(expr, &part("start"))?,
                    Start::Declaration(init) => Self::from(init.clone()).check(&part("start"))?,
                }
                check_optional(&node.condition, &part("condition"))?;
                check_optional(&node.update, &part("update"))?;
                node.body.check_body(&part("body"))
            }
            Self::While(node) => {
                check_expr(&node.condition, &part("condition"))?;
                node.body.check_body(&part("body"))
            }
            Self::DoWhile(node) => {
                check_expr(&node.condition, &part("condition"))?;
                node.body.check_body(&part("body"))
            }
            Self::CustomLoop(node) => node.body.check(&part("body")),
            Self::Initializer(node) => {
                node.declarator.check_declares(&part("declarator"))?;
                check_expr(&node.value, &part("value"))
            }
            Self::ArrayInitializer(node) => {
                node.declarator.check_declares(&part("declarator"))?;
                node.values.iter().try_for_each(|value| check_expr(value, &part("values")))
            }
            Self::FunctionBody(node) => {
                let is_function = node.declaration.is_function();
                expect(is_function, &part("declaration"), || "declares no function".to_owned())?;
                node.declaration.check(&part("declaration"))?;
                let is_block = matches!(&*node.body, Self::Block(_) | Self::Literal(_));
                expect(is_block, &part("body"), || "the body of a function is a Block".to_owned())?;
                node.body.check(&part("body"))
            }
            Self::Block(block) => check_nodes(&block.contents, path),
            Self::Collection(nodes) => check_nodes(nodes, path),
            Self::PrivateNamespace(name, nodes) => {
                check_name(name, path)?;
                check_nodes(nodes, path)
            }
            Self::Conditional(node) => {
                check_name(&node.symbol, path)?;
                check_nodes(&node.then, &part("then"))?;
                check_nodes(&node.otherwise, &part("otherwise"))
            }
            Self::Assign(node) => {
                check_expr(&node.target, &part("target"))?;
                check_expr(&node.value, &part("value"))
            }
            Self::ExpressionStatement(expr) => check_expr(expr, path),
            Self::At(_, node) => node.check(path),
            _ => self.check_text(path),
        }
    }

    fn check_text(&self, path: &str) -> Checked {
        match self {
            Self::Enum(node) => {
                check_name(&node.name, path)?;
                expect(node.dtype.is_integer(), path, || format!("{:?} is no integer type", node.dtype))?;
                node.values.iter().try_for_each(|(name, _)| check_name(&format!("{}{name}", node.prefix), path))
            }
            Self::Define(symbol, value) => {
                check_name(symbol.split('(').next().unwrap_or(symbol), path)?;
                let continued = value.split('\n').rev().skip(1).all(|line| line.ends_with('\\'));
                expect(continued, path, || format!("the value {value:?} goes over lines without backslashes"))
            }
            Self::Include(name, system) => {
                let valid = !name.is_empty() && !name.contains(['\n', if *system { '>' } else { '"' }]);
                expect(valid, path, || format!("{name:?} is no name of a file"))
            }
            Self::Pragma(text) | Self::LineComment(text) => check_one_line(text, path),
            Self::Comment(text, _) | Self::MultilineComment(text, _) => check_comment(text, path),
            _ => Ok(()),
        }
    }

    /// A body takes one statement: what prints none or several would end it early.
    fn check_body(&self, path: &str) -> Checked {
        let count = match self {
            Self::Collection(nodes) => nodes.len(),
            Self::Define(..)
            | Self::Include(..)
            | Self::Comment(..)
            | Self::MultilineComment(..)
            | Self::LineComment(_)
            | Self::Conditional(_)
            | Self::FunctionBody(_)
            | Self::PrivateNamespace(..)
            | Self::Enum(_)
            | Self::Pragma(_) => 0,
            Self::At(_, node) => return node.check_body(path),
            _ => 1,
        };
        expect(count == 1, path, || "is not one statement; put it into a Block".to_owned())?;
        if let Self::Collection(nodes) = self {
            return nodes.iter().try_for_each(|node| node.check_body(path));
        }
        self.check(path)
    }

    /// Whether an `else` behind this node would become its own.
    fn takes_else(&self) -> bool {
        match self {
            Self::If(node) => node.otherwise.as_ref().is_none_or(|otherwise| otherwise.takes_else()),
            Self::For(node) => node.body.takes_else(),
            Self::While(node) => node.body.takes_else(),
            Self::CustomLoop(node) => node.outro.is_none() && node.body.takes_else(),
            Self::At(_, node) => node.takes_else(),
            Self::Collection(nodes) => nodes.last().is_some_and(Self::takes_else),
            _ => false,
        }
    }
}

impl Declarator {
    fn check(&self, path: &str) -> Checked {
        match self {
            Self::Pod(_, name) | Self::VectorPod(_, _, name) => check_name(name, path),
            Self::Value(typename, name) => {
                let valid = !typename.trim().is_empty() && !typename.contains([';', '{', '}', '\n']);
                expect(valid, path, || format!("{typename:?} is no name of a type"))?;
                check_name(name, path)
            }
            Self::Wrapped(wrapper, inner) => {
                wrapper.check(path)?;
                let needs_name = matches!(wrapper.place(), Place::Around(..));
                if needs_name { inner.check_declares(path) } else { inner.check(path) }
            }
            Self::Function(inner, parameters) => {
                inner.check_declares(path)?;
                let check = |(i, p): (usize, &Self)| p.check_declares(&format!("{path}.parameters[{i}]"));
                parameters.iter().enumerate().try_for_each(check)
            }
            Self::Struct(body) => body.check(path),
            Self::Template(_, inner) => inner.check(path),
            Self::Literal(lines, ..) => expect(!lines.is_empty(), path, || "a literal without lines".to_owned()),
        }
    }

    fn check_declares(&self, path: &str) -> Checked {
        let declares = self.name().is_some() || matches!(self, Self::Literal(..));
        let declares = declares || matches!(self, Self::Wrapped(_, inner) if matches!(**inner, Self::Literal(..)));
        expect(declares, path, || "declares no name".to_owned())?;
        self.check(path)
    }
}

impl Wrapper {
    fn check(&self, path: &str) -> Checked {
        match self {
            Self::Namespace(name) => check_name(name, path),
            Self::Extern(language) => {
                expect(matches!(language.as_str(), "C" | "C++"), path, || format!("there is no linkage \"{language}\""))
            }
            Self::Aligned(expr) | Self::AlignValue(expr) | Self::Array(Some(expr)) => check_expr(expr, path),
            Self::CudaLaunchBounds(threads, blocks) => {
                check_expr(threads, path)?;
                blocks.iter().try_for_each(|blocks| check_expr(blocks, path))
            }
            _ => Ok(()),
        }
    }
}

impl Struct {
    fn check(&self, path: &str) -> Checked {
        self.name.iter().chain(&self.declarator).try_for_each(|name| check_name(name, path))?;
        let mut seen = HashSet::new();
        for (i, field) in self.fields.iter().enumerate() {
            let path = format!("{path}.fields[{i}]");
            field.check(&path)?;
            let unique = field.name().is_none_or(|name| seen.insert(name));
            expect(unique, &path, || format!("there are two members '{}'", field.name().unwrap_or_default()))?;
        }
        Ok(())
    }
}
