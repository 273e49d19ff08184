//! Programs written in Rust: terms that make the syntax tree a front end would hand over.
//!
//! ```
//! use rtcg_lang::builder::{lambda, map, program, sum};
//!
//! // sum(map(lambda xi, yi: a * xi * yi, x, y))
//! let dot = program("dot", |[a, x, y]| sum(map(lambda(|[xi, yi]| a * xi * yi), [x, y])));
//! assert_eq!(dot.functions[0].params.len(), 3);
//! ```

use crate::ir::Number;
use crate::span::{Files, Span};
use crate::surface::{
    BinaryOperator, Comparison, Expr, ExprKind, Function, Outside, Pattern, Source, Stmt, UnaryOperator,
};
use std::cell::Cell;
use std::ops;
use std::sync::Arc;

/// A term of a program: a number, a sequence, a tuple or a function.
#[derive(Debug, Clone)]
#[must_use = "a term is a part of a program"]
pub struct Term(Expr);

thread_local! {
    static NEXT_NAME: Cell<u64> = const { Cell::new(0) };
}

fn new_name() -> Arc<str> {
    NEXT_NAME.with(|next| {
        next.set(next.get() + 1);
        format!("t{}", next.get()).into()
    })
}

fn term(kind: ExprKind) -> Term {
    Term(Expr { kind, span: Span::default() })
}

/// A function with names for its parameters.
fn function<const N: usize>(name: &str, body: impl FnOnce([Term; N]) -> Term) -> Function {
    let names: [Arc<str>; N] = std::array::from_fn(|_| new_name());
    let value = body(names.clone().map(|name| term(ExprKind::Name(name))));
    Function {
        name: name.into(),
        params: names.into_iter().map(|name| Pattern::Name(name, Span::default())).collect(),
        body: vec![Stmt::Return(Some(value.0), Span::default())],
        span: Span::default(),
        outside: Arc::new([]),
    }
}

/// A program of `N` arguments.
pub fn program<const N: usize>(name: &str, body: impl FnOnce([Term; N]) -> Term) -> Source {
    let mut function = function(name, body);
    let mut names = Vec::new();
    prelude_names(&function.body, &mut names);
    function.outside = names.into_iter().map(|name| (name.clone(), Outside::Prelude(name))).collect();
    Source { functions: vec![Arc::new(function)], files: Files::default(), arguments: Vec::new() }
}

/// A program that calls itself: `body` is given the function, to be called as the last thing that it does.
pub fn recursive<const N: usize>(body: impl FnOnce(&dyn Fn([Term; N]) -> Term, [Term; N]) -> Term) -> Recursive<N> {
    let name = new_name();
    let own = name.clone();
    let call = move |arguments: [Term; N]| {
        term(ExprKind::Call(
            Box::new(term(ExprKind::Name(own.clone())).0),
            arguments.into_iter().map(|argument| argument.0).collect(),
        ))
    };
    let function = function(&name, |params| body(&call, params));
    Recursive { name, function: Arc::new(function) }
}

/// A function that calls itself, with `N` parameters.
#[derive(Debug, Clone)]
pub struct Recursive<const N: usize> {
    name: Arc<str>,
    function: Arc<Function>,
}

impl<const N: usize> Recursive<N> {
    /// Its value for arguments.
    pub fn call(&self, arguments: [Term; N]) -> Term {
        // A lambda of no parameters defines it, and calls it.
        let call = ExprKind::Call(
            Box::new(term(ExprKind::Name(self.name.clone())).0),
            arguments.into_iter().map(|argument| argument.0).collect(),
        );
        let around = Function {
            name: "<lambda>".into(),
            params: Vec::new(),
            body: vec![Stmt::Def(self.function.clone()), Stmt::Return(Some(term(call).0), Span::default())],
            span: Span::default(),
            outside: Arc::new([]),
        };
        term(ExprKind::Call(Box::new(term(ExprKind::Lambda(Arc::new(around))).0), Vec::new()))
    }
}

/// A function of `N` values.
pub fn lambda<const N: usize>(body: impl FnOnce([Term; N]) -> Term) -> Term {
    term(ExprKind::Lambda(Arc::new(function("<lambda>", body))))
}

/// A function of the prelude, called by its name there.
pub fn call(name: &str, arguments: impl IntoIterator<Item = Term>) -> Term {
    let function = term(ExprKind::Name(name.into()));
    term(ExprKind::Call(Box::new(function.0), arguments.into_iter().map(|argument| argument.0).collect()))
}

/// A function of the prelude as a value, such as `op_add`.
pub fn prelude(name: &str) -> Term {
    term(ExprKind::Name(name.into()))
}

/// `map(f, x, ...)`.
pub fn map(function: Term, sequences: impl IntoIterator<Item = Term>) -> Term {
    call("map", std::iter::once(function).chain(sequences))
}

/// `reduce(f, x, first)`.
pub fn reduce(function: Term, sequence: Term, first: impl Into<Term>) -> Term {
    call("reduce", [function, sequence, first.into()])
}

/// `scan(f, x)`.
pub fn scan(function: Term, sequence: Term) -> Term {
    call("scan", [function, sequence])
}

/// `filter(f, x)`.
pub fn filter(function: Term, sequence: Term) -> Term {
    call("filter", [function, sequence])
}

/// `sum(x)`.
pub fn sum(sequence: Term) -> Term {
    call("sum", [sequence])
}

/// `gather(x, indices)`.
pub fn gather(sequence: Term, indices: Term) -> Term {
    call("gather", [sequence, indices])
}

/// A tuple.
pub fn tuple(parts: impl IntoIterator<Item = Term>) -> Term {
    term(ExprKind::Tuple(parts.into_iter().map(|part| part.0).collect()))
}

/// `then` where the condition holds, else `other`.
pub fn if_else(condition: Term, then: impl Into<Term>, other: impl Into<Term>) -> Term {
    term(ExprKind::IfElse(Box::new(condition.0), Box::new(then.into().0), Box::new(other.into().0)))
}

impl Term {
    /// The element at an index, or the part of a tuple.
    pub fn at(self, index: impl Into<Term>) -> Term {
        term(ExprKind::Subscript(Box::new(self.0), Box::new(index.into().0)))
    }

    fn compared(self, comparison: Comparison, other: impl Into<Term>) -> Term {
        term(ExprKind::Compare(Box::new(self.0), vec![(comparison, other.into().0)]))
    }

    /// Whether it is less than another number.
    pub fn less(self, other: impl Into<Term>) -> Term {
        self.compared(Comparison::Lt, other)
    }

    /// Whether it is greater than another number.
    pub fn greater(self, other: impl Into<Term>) -> Term {
        self.compared(Comparison::Gt, other)
    }

    /// Whether it is another number.
    pub fn equal(self, other: impl Into<Term>) -> Term {
        self.compared(Comparison::Eq, other)
    }
}

macro_rules! numbers {
    ($($from:ty => $number:ident as $wide:ty),*) => {
        $(
            impl From<$from> for Term {
                fn from(value: $from) -> Self {
                    term(ExprKind::Number(Number::$number(value as $wide)))
                }
            }
        )*
    };
}

numbers! { i32 => Int as i128, i64 => Int as i128, f64 => Float as f64 }

macro_rules! operators {
    ($($trait:ident $method:ident $operator:ident),*) => {
        $(
            impl<T: Into<Term>> ops::$trait<T> for Term {
                type Output = Term;
                fn $method(self, other: T) -> Term {
                    term(ExprKind::Binary(BinaryOperator::$operator, Box::new(self.0), Box::new(other.into().0)))
                }
            }
        )*
    };
}

operators! {
    Add add Add, Sub sub Sub, Mul mul Mult, Div div Div, Rem rem Mod, BitAnd bitand BitAnd, BitOr bitor BitOr,
    BitXor bitxor BitXor, Shl shl LShift, Shr shr RShift
}

impl ops::Neg for Term {
    type Output = Term;
    fn neg(self) -> Term {
        term(ExprKind::Unary(UnaryOperator::USub, Box::new(self.0)))
    }
}

/// The names of the prelude in statements.
fn prelude_names(stmts: &[Stmt], names: &mut Vec<Arc<str>>) {
    for stmt in stmts {
        match stmt {
            Stmt::Return(Some(value), _) => names_in(value, names),
            Stmt::Def(function) => prelude_names(&function.body, names),
            _ => {}
        }
    }
}

fn names_in(expr: &Expr, names: &mut Vec<Arc<str>>) {
    let is_own = |name: &str| name.strip_prefix('t').is_some_and(|rest| rest.parse::<u64>().is_ok());
    match &expr.kind {
        ExprKind::Name(name) if !is_own(name) && !names.contains(name) => names.push(name.clone()),
        ExprKind::Call(function, arguments) => {
            names_in(function, names);
            arguments.iter().for_each(|argument| names_in(argument, names));
        }
        ExprKind::Binary(_, a, b) | ExprKind::Subscript(a, b) => {
            names_in(a, names);
            names_in(b, names);
        }
        ExprKind::Unary(_, a) => names_in(a, names),
        ExprKind::Compare(first, rest) => {
            names_in(first, names);
            rest.iter().for_each(|(_, other)| names_in(other, names));
        }
        ExprKind::IfElse(a, b, c) => [a, b, c].into_iter().for_each(|expr| names_in(expr, names)),
        ExprKind::Tuple(parts) => parts.iter().for_each(|part| names_in(part, names)),
        ExprKind::Lambda(function) => prelude_names(&function.body, names),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::ArgType;
    use crate::elaborate::elaborate;
    use crate::evaluate::{HostValue, evaluate};
    use rtcg_hal::DType;

    fn array(values: &[f64]) -> HostValue {
        HostValue::array(DType::F32, vec![values.len()], values.iter().map(|value| Number::Float(*value)))
    }

    #[test]
    fn terms_become_core_programs() {
        let source = program("f", |[x, y]| {
            tuple([
                sum(map(lambda(|[a, b]| a * b + 1), [x.clone(), y])),
                reduce(lambda(|[a, b]| if_else(a.clone().less(b.clone()), b, a)), x, -1.0),
            ])
        });
        let sequence = ArgType::Array { dtype: DType::F32, ndim: 1, weak: false };
        let found = elaborate(&source, &[sequence.clone(), sequence]).unwrap();
        let results = evaluate(&found.program, &[array(&[1.0, 5.0, 2.0]), array(&[2.0, 1.0, 3.0])]).unwrap();
        assert_eq!(results[0].elements(), [Number::Float(16.0)]);
        assert_eq!(results[1].elements(), [Number::Float(5.0)]);
    }

    #[test]
    fn functions_that_call_themselves_are_loops() {
        let power = recursive(|again, [x, n, so_far]| {
            if_else(n.clone().equal(0), so_far.clone(), again([x.clone(), n - 1, so_far * x]))
        });
        let source = program("f", |[x, n]| map(lambda(|[xi]| power.call([xi, n, 1.0.into()])), [x]));
        let types = [
            ArgType::Array { dtype: DType::F32, ndim: 1, weak: false },
            ArgType::Scalar { dtype: DType::I64, weak: true },
        ];
        let found = elaborate(&source, &types).unwrap();
        let inputs = [array(&[2.0, 3.0]), HostValue::scalar(Number::Int(3), DType::I64)];
        assert_eq!(evaluate(&found.program, &inputs).unwrap()[0].elements(), [Number::Float(8.0), Number::Float(27.0)]);
    }
}
