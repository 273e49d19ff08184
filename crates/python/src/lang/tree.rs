//! From Python's tree to the compiler's.

use super::unsupported::{node as unsupported_node, unsupported};
use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyString};
use rtcg::lang::ir::Number;
use rtcg::lang::span::{File, Span};
use rtcg::lang::surface::{
    BinaryOperator, Comparison, Expr, ExprKind, Function, Generator, Pattern, Stmt, UnaryOperator, Unsupported,
};
use std::sync::Arc;

/// Expressions and blocks within each other, at most: each is walked by recursion, here and in the compiler.
const MAX_DEPTH: usize = 400;

type Node<'py> = Bound<'py, PyAny>;

/// Walks over the tree of one function.
pub(super) struct Walker<'a> {
    file: &'a File,
    index: u32,
    depth: usize,
}

/// A field of a node.
macro_rules! field {
    ($node:expr, $name:literal) => {
        $node.getattr(intern!($node.py(), $name))
    };
}

impl<'a> Walker<'a> {
    /// For a function in this file, which has this index.
    pub(super) fn new(file: &'a File, index: usize) -> Self {
        Walker { file, index: index as u32, depth: 0 }
    }

    /// A `FunctionDef`, `AsyncFunctionDef` or `Lambda`.
    pub(super) fn function(&mut self, node: &Node<'_>) -> PyResult<Function> {
        let span = self.span(node)?;
        let mut body = Vec::new();
        if class(node)? == "AsyncFunctionDef" {
            body.push(Stmt::Unsupported(unsupported_node("AsyncFunctionDef"), span));
        }
        let params = self.params(&field!(node, "args")?, &mut body)?;
        let contents = field!(node, "body")?;
        let name = if let Ok(stmts) = contents.cast::<PyList>() {
            self.body(stmts, &mut body)?;
            name(node, "name")?
        } else {
            let value = self.expr(&contents)?;
            let span = value.span;
            body.push(Stmt::Return(Some(value), span));
            "<lambda>".into()
        };
        Ok(Function { name, params, body, span, outside: Arc::from([]) })
    }

    /// The parameters; those that the language does not have become statements.
    fn params(&self, arguments: &Node<'_>, body: &mut Vec<Stmt>) -> PyResult<Vec<Pattern>> {
        let mut params = Vec::new();
        for kind in ["posonlyargs", "args"] {
            for param in arguments.getattr(kind)?.try_iter()? {
                let param = param?;
                params.push(Pattern::Name(name(&param, "arg")?, self.span(&param)?));
            }
        }
        for kind in ["vararg", "kwonlyargs", "kwarg", "defaults"] {
            let nodes = arguments.getattr(kind)?;
            let nodes =
                if nodes.is_instance_of::<PyList>() { nodes } else { PyList::new(nodes.py(), [nodes])?.into_any() };
            for node in nodes.try_iter()?.filter(|node| node.as_ref().map_or(true, |node| !node.is_none())) {
                body.push(Stmt::Unsupported(unsupported_node(kind), self.span(&node?)?));
            }
        }
        Ok(params)
    }

    /// A name for each level of nesting that is entered; `None` if there are too many.
    fn nested<T>(&mut self, walk: impl FnOnce(&mut Self) -> PyResult<T>) -> Option<PyResult<T>> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        Some(result)
    }

    fn body(&mut self, stmts: &Node<'_>, body: &mut Vec<Stmt>) -> PyResult<()> {
        for stmt in stmts.try_iter()? {
            let node = stmt?;
            match self.nested(|walker| walker.stmt(&node, body)) {
                Some(result) => result?,
                None => body.push(Stmt::Unsupported(unsupported_node("depth"), self.span(&node)?)),
            }
        }
        Ok(())
    }

    fn stmt(&mut self, node: &Node<'_>, body: &mut Vec<Stmt>) -> PyResult<()> {
        let span = self.span(node)?;
        let class = class(node)?;
        let stmt = match class.as_str() {
            "Return" => {
                let value = field!(node, "value")?;
                Stmt::Return(if value.is_none() { None } else { Some(self.expr(&value)?) }, span)
            }
            "Assign" => {
                let targets = field!(node, "targets")?;
                if targets.len()? > 1 {
                    Stmt::Unsupported(unsupported_node("targets"), span)
                } else {
                    self.assignment(&targets.get_item(0)?, &field!(node, "value")?, span)?
                }
            }
            "AnnAssign" if field!(node, "value")?.is_none() => Stmt::Nothing,
            "AnnAssign" => self.assignment(&field!(node, "target")?, &field!(node, "value")?, span)?,
            "AugAssign" => self.augmented_assignment(node, span)?,
            "If" => {
                let condition = self.expr(&field!(node, "test")?)?;
                let (mut then, mut other) = (Vec::new(), Vec::new());
                self.body(&field!(node, "body")?, &mut then)?;
                self.body(&field!(node, "orelse")?, &mut other)?;
                Stmt::If(condition, then, other, span)
            }
            "FunctionDef" | "AsyncFunctionDef" => {
                for decorator in field!(node, "decorator_list")?.try_iter()? {
                    body.push(Stmt::Unsupported(unsupported_node("decorator"), self.span(&decorator?)?));
                }
                Stmt::Def(Arc::new(self.function(node)?))
            }
            "Pass" => Stmt::Nothing,
            "Expr" => self.expression_statement(&field!(node, "value")?)?,
            _ => Stmt::Unsupported(unsupported_node(&class), span),
        };
        body.push(stmt);
        Ok(())
    }

    fn assignment(&mut self, target: &Node<'_>, value: &Node<'_>, span: Span) -> PyResult<Stmt> {
        Ok(match self.pattern(target)? {
            Ok(pattern) => Stmt::Assign(pattern, self.expr(value)?, span),
            Err((problem, span)) => Stmt::Unsupported(problem, span),
        })
    }

    /// `x += y` as `x = x + y`.
    fn augmented_assignment(&mut self, node: &Node<'_>, span: Span) -> PyResult<Stmt> {
        let target = field!(node, "target")?;
        Ok(match (self.pattern(&target)?, operator(&field!(node, "op")?)?) {
            (Err((problem, span)), _) => Stmt::Unsupported(problem, span),
            (Ok(_), Err(problem)) => Stmt::Unsupported(problem, span),
            (Ok(pattern), Ok(operator)) => {
                let left = self.expr(&target)?;
                let right = self.expr(&field!(node, "value")?)?;
                let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
                Stmt::Assign(pattern, Expr { kind, span }, span)
            }
        })
    }

    /// A docstring, or a value that nothing uses.
    fn expression_statement(&mut self, value: &Node<'_>) -> PyResult<Stmt> {
        if class(value)? == "Constant" && field!(value, "value")?.is_instance_of::<PyString>() {
            return Ok(Stmt::Nothing);
        }
        let expr = self.expr(value)?;
        let problem = match expr.kind {
            ExprKind::Unsupported(problem) => problem,
            ExprKind::Call(function, _) if matches!(&function.kind, ExprKind::Name(name) if &**name == "print") => {
                unsupported("`print`", "return what to print: a program is compiled, and its values are on a device")
            }
            _ => unsupported_node("Expr"),
        };
        Ok(Stmt::Unsupported(problem, expr.span))
    }

    /// What is assigned to, or why it cannot be.
    fn pattern(&self, node: &Node<'_>) -> PyResult<Result<Pattern, (Unsupported, Span)>> {
        let span = self.span(node)?;
        let class = class(node)?;
        Ok(match class.as_str() {
            "Name" => Ok(Pattern::Name(name(node, "id")?, span)),
            "Tuple" | "List" => {
                let patterns = field!(node, "elts")?.try_iter()?.map(|element| self.pattern(&element?));
                let patterns: Result<Vec<_>, _> = patterns.collect::<PyResult<Vec<_>>>()?.into_iter().collect();
                patterns.map(|patterns| Pattern::Tuple(patterns, span))
            }
            _ => Err((unsupported_node(&class), span)),
        })
    }

    fn expr(&mut self, node: &Node<'_>) -> PyResult<Expr> {
        let span = self.span(node)?;
        let kind = match self.nested(|walker| walker.expr_kind(node)) {
            Some(kind) => kind?,
            None => ExprKind::Unsupported(unsupported_node("depth")),
        };
        Ok(Expr { kind, span })
    }

    fn boxed(&mut self, node: PyResult<Node<'_>>) -> PyResult<Box<Expr>> {
        Ok(Box::new(self.expr(&node?)?))
    }

    fn exprs(&mut self, nodes: PyResult<Node<'_>>) -> PyResult<Vec<Expr>> {
        nodes?.try_iter()?.map(|node| self.expr(&node?)).collect()
    }

    fn expr_kind(&mut self, node: &Node<'_>) -> PyResult<ExprKind> {
        let class = class(node)?;
        Ok(match class.as_str() {
            "Name" => ExprKind::Name(name(node, "id")?),
            "Attribute" => ExprKind::Attribute(self.boxed(field!(node, "value"))?, name(node, "attr")?),
            "Constant" => constant(&field!(node, "value")?)?,
            "Call" => {
                let called = field!(node, "func")?;
                let consumes = CONSUMERS.contains(&called_name(&called)?.as_str());
                let function = self.boxed(Ok(called))?;
                let mut arguments = Vec::new();
                for argument in field!(node, "args")?.try_iter()? {
                    let argument = argument?;
                    arguments.push(if consumes && self::class(&argument)? == "GeneratorExp" {
                        Expr { span: self.span(&argument)?, kind: self.comprehension(&argument)? }
                    } else {
                        self.expr(&argument)?
                    });
                }
                for keyword in field!(node, "keywords")?.try_iter()? {
                    let span = self.span(&keyword?)?;
                    arguments.push(Expr { kind: ExprKind::Unsupported(unsupported_node("keyword")), span });
                }
                ExprKind::Call(function, arguments)
            }
            "BinOp" => match operator(&field!(node, "op")?)? {
                Ok(operator) => {
                    ExprKind::Binary(operator, self.boxed(field!(node, "left"))?, self.boxed(field!(node, "right"))?)
                }
                Err(problem) => ExprKind::Unsupported(problem),
            },
            "UnaryOp" => ExprKind::Unary(unary_operator(&field!(node, "op")?)?, self.boxed(field!(node, "operand"))?),
            "Compare" => self.comparison(node)?,
            "BoolOp" => {
                let is_and = self::class(&field!(node, "op")?)? == "And";
                ExprKind::Logical { is_and, operands: self.exprs(field!(node, "values"))? }
            }
            "IfExp" => {
                let condition = self.boxed(field!(node, "test"))?;
                ExprKind::IfElse(condition, self.boxed(field!(node, "body"))?, self.boxed(field!(node, "orelse"))?)
            }
            "Tuple" => ExprKind::Tuple(self.exprs(field!(node, "elts"))?),
            "List" => ExprKind::List(self.exprs(field!(node, "elts"))?),
            "Subscript" => ExprKind::Subscript(self.boxed(field!(node, "value"))?, self.boxed(field!(node, "slice"))?),
            "Lambda" => ExprKind::Lambda(Arc::new(self.function(node)?)),
            "ListComp" => self.comprehension(node)?,
            _ => ExprKind::Unsupported(unsupported_node(&class)),
        })
    }

    fn comparison(&mut self, node: &Node<'_>) -> PyResult<ExprKind> {
        let first = self.boxed(field!(node, "left"))?;
        let operands = self.exprs(field!(node, "comparators"))?;
        let mut others = Vec::new();
        for (operator, operand) in field!(node, "ops")?.try_iter()?.zip(operands) {
            match comparison_operator(&operator?)? {
                Ok(operator) => others.push((operator, operand)),
                Err(problem) => return Ok(ExprKind::Unsupported(problem)),
            }
        }
        Ok(ExprKind::Compare(first, others))
    }

    fn comprehension(&mut self, node: &Node<'_>) -> PyResult<ExprKind> {
        let mut generators = Vec::new();
        for generator in field!(node, "generators")?.try_iter()? {
            let generator = generator?;
            if field!(generator, "is_async")?.is_truthy()? {
                return Ok(ExprKind::Unsupported(unsupported_node("async generator")));
            }
            let sequence = self.expr(&field!(generator, "iter")?)?;
            let conditions = self.exprs(field!(generator, "ifs"))?;
            match self.pattern(&field!(generator, "target")?)? {
                Ok(pattern) => generators.push(Generator { pattern, sequence, conditions }),
                Err((problem, _)) => return Ok(ExprKind::Unsupported(problem)),
            }
        }
        Ok(ExprKind::Comprehension { element: self.boxed(field!(node, "elt"))?, generators })
    }

    /// Where a node stands.
    fn span(&self, node: &Node<'_>) -> PyResult<Span> {
        let (line, end_line) = (field!(node, "lineno")?.extract()?, field!(node, "end_lineno")?.extract()?);
        let column = self.column(line, field!(node, "col_offset")?.extract()?);
        let end_column = self.column(end_line, field!(node, "end_col_offset")?.extract()?);
        Ok(Span { file: self.index, line, column, end_line, end_column })
    }

    /// The column in characters of an offset in bytes of UTF-8.
    fn column(&self, line: u32, offset: usize) -> u32 {
        let text = line.checked_sub(self.file.first_line).and_then(|line| self.file.lines.get(line as usize));
        let before = text.and_then(|text| text.get(..offset));
        before.map_or(offset, |before| before.chars().count()) as u32
    }
}

/// The class of a node, such as `BinOp`.
fn class(node: &Node<'_>) -> PyResult<String> {
    Ok(node.get_type().name()?.to_str()?.to_owned())
}

fn name(node: &Node<'_>, field: &str) -> PyResult<Arc<str>> {
    Ok(node.getattr(field)?.cast::<PyString>()?.to_str()?.into())
}

fn constant(value: &Node<'_>) -> PyResult<ExprKind> {
    Ok(match number(value)? {
        Some(Ok(number)) => ExprKind::Number(number),
        Some(Err(problem)) => ExprKind::Unsupported(problem),
        None => ExprKind::Unsupported(unsupported_node(&class(value)?)),
    })
}

/// Functions that take the elements of an iterator once, so that a generator expression is as good as a list.
const CONSUMERS: [&str; 5] = ["all", "any", "max", "min", "sum"];

/// The last name of what is called, or nothing.
fn called_name(called: &Node<'_>) -> PyResult<String> {
    match class(called)?.as_str() {
        "Name" => field!(called, "id")?.extract(),
        "Attribute" => field!(called, "attr")?.extract(),
        _ => Ok(String::new()),
    }
}

/// A number of Python, or what is wrong with it; `None` for other objects.
pub(super) fn number(value: &Node<'_>) -> PyResult<Option<Result<Number, Unsupported>>> {
    Ok(Some(Ok(if let Ok(value) = value.cast::<PyBool>() {
        Number::Bool(value.is_true())
    } else if value.is_instance_of::<PyInt>() {
        match value.extract() {
            Ok(value) => Number::Int(value),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                let n_bits: usize = value.call_method0("bit_length")?.extract()?;
                let problem = unsupported(format!("an integer of {n_bits} bits"), "integers have at most 64 bits");
                return Ok(Some(Err(problem)));
            }
            Err(error) => return Err(error),
        }
    } else if let Ok(value) = value.cast::<PyFloat>() {
        Number::Float(value.value())
    } else if let Ok(value) = value.cast::<PyComplex>() {
        Number::Complex(value.real(), value.imag())
    } else {
        return Ok(None);
    })))
}

fn operator(node: &Node<'_>) -> PyResult<Result<BinaryOperator, Unsupported>> {
    use BinaryOperator::*;
    let class = class(node)?;
    Ok(Ok(match class.as_str() {
        "Add" => Add,
        "Sub" => Sub,
        "Mult" => Mult,
        "Div" => Div,
        "FloorDiv" => FloorDiv,
        "Mod" => Mod,
        "Pow" => Pow,
        "LShift" => LShift,
        "RShift" => RShift,
        "BitAnd" => BitAnd,
        "BitOr" => BitOr,
        "BitXor" => BitXor,
        _ => return Ok(Err(unsupported_node(&class))),
    }))
}

fn unary_operator(node: &Node<'_>) -> PyResult<UnaryOperator> {
    Ok(match class(node)?.as_str() {
        "UAdd" => UnaryOperator::UAdd,
        "USub" => UnaryOperator::USub,
        "Invert" => UnaryOperator::Invert,
        _ => UnaryOperator::Not,
    })
}

fn comparison_operator(node: &Node<'_>) -> PyResult<Result<Comparison, Unsupported>> {
    let class = class(node)?;
    Ok(Ok(match class.as_str() {
        "Eq" => Comparison::Eq,
        "NotEq" => Comparison::NotEq,
        "Lt" => Comparison::Lt,
        "LtE" => Comparison::LtE,
        "Gt" => Comparison::Gt,
        "GtE" => Comparison::GtE,
        _ => return Ok(Err(unsupported_node(&class))),
    }))
}
