//! Expressions.

use super::Elaborator;
use super::value::{Closure, Env, Scalar, Seq, Value};
use crate::ir::{Atom, Bounds, Number};
use crate::problem::ProblemKind;
use crate::span::Span;
use crate::surface::{BinaryOperator, Comparison, Expr, ExprKind, Outside, UnaryOperator, Unsupported};
use rtcg_codegen::array::Op;
use std::rc::Rc;
use std::sync::Arc;

impl Elaborator<'_> {
    pub(super) fn expression(&mut self, expr: &Expr, env: &Env) -> Value {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, env, span),
            ExprKind::Number(number) => Scalar::python(*number).into(),
            ExprKind::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.expression(part, env)).collect()),
            ExprKind::List(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.expression(part, env)).collect();
                if self.stencil.is_some() { Value::Tuple(parts) } else { self.list(parts, span) }
            }
            ExprKind::Lambda(function) => {
                Value::Closure(Rc::new(Closure { function: function.clone(), env: env.clone(), index: None }))
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.expression(left, env), self.expression(right, env));
                self.binary(*operator, &left, &right, span)
            }
            ExprKind::Unary(operator, operand) => {
                let value = self.expression(operand, env);
                self.unary(*operator, &value, span)
            }
            ExprKind::Compare(first, rest) => self.comparison(first, rest, env, span),
            ExprKind::Logical { is_and, operands } => self.logical(*is_and, operands, env, span),
            ExprKind::IfElse(cond, then, other) => {
                let value = self.expression(cond, env);
                let Some(truth) = self.truth(&value, cond.span) else {
                    self.expression(then, env);
                    self.expression(other, env);
                    return Value::Poison;
                };
                self.choose(truth, span, |this| this.expression(then, env), |this| this.expression(other, env))
            }
            ExprKind::Call(function, arguments) => self.call(function, arguments, env, span),
            ExprKind::Attribute(value, name) => self.attribute(value, name, env, span),
            ExprKind::Subscript(value, index) => {
                let (value, index) = (self.expression(value, env), self.expression(index, env));
                self.subscript(&value, &index, span)
            }
            ExprKind::Comprehension { element, generators } => self.comprehension(element, generators, env, span),
            ExprKind::Unsupported(what) => self.unsupported(what, span),
        }
    }

    pub(super) fn unsupported(&mut self, Unsupported { what, advice }: &Unsupported, span: Span) -> Value {
        let text = format!("a @cu function cannot contain {what}");
        self.problem(ProblemKind::Language, span, text, advice.to_string())
    }

    fn name(&mut self, name: &Arc<str>, env: &Env, span: Span) -> Value {
        if let Some(value) = env.get(name) {
            return value.clone();
        }
        let near = super::prelude::nearest(name, env.names().map(|known| &**known));
        let advice = near.map_or_else(String::new, |near| format!("Did you mean '{near}'?"));
        self.problem(ProblemKind::Language, span, format!("the name '{name}' is not defined here"), advice)
    }

    /// The value of a name from outside.
    pub(super) fn outside(&mut self, outside: &Outside) -> Value {
        match outside {
            Outside::Prelude(name) => Value::Prelude(name.clone()),
            Outside::Function(index) => match self.source.functions.get(*index) {
                Some(function) => Value::Closure(Rc::new(Closure {
                    function: function.clone(),
                    env: Env::default(),
                    index: Some(*index),
                })),
                None => Value::Poison,
            },
            Outside::WeakNumber(number) => Scalar::python(*number).into(),
            Outside::Number(number, dtype) => Scalar::strong(Atom::Const(*number, *dtype)).into(),
            Outside::Elementwise(name) => match Op::from_name(name) {
                Some(op) => Value::Elementwise(op),
                None => Value::Unusable { what: format!("the function '{name}'").into(), advice: "".into() },
            },
            Outside::DType(dtype) => Value::DType(*dtype),
            Outside::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.outside(part)).collect()),
            Outside::Module(name, members) => Value::Module(name.clone(), members.clone()),
            Outside::Unusable { what, advice } => Value::Unusable { what: what.clone(), advice: advice.clone() },
        }
    }

    fn attribute(&mut self, of: &Expr, name: &Arc<str>, env: &Env, span: Span) -> Value {
        let value = self.expression(of, env);
        match &value {
            Value::Poison => Value::Poison,
            Value::Module(module, members) => match members.iter().find(|(known, _)| known == name) {
                Some((_, member)) => {
                    let member = member.clone();
                    self.outside(&member)
                }
                None => {
                    let text = format!("the module '{module}' has no '{name}' that a @cu function can use");
                    self.problem(ProblemKind::Language, span, text, "")
                }
            },
            Value::Scalar(scalar) if &**name == "real" || &**name == "imag" => {
                let op = if &**name == "real" { Op::Real } else { Op::Imag };
                self.prim(op, &[*scalar], span).map_or(Value::Poison, Value::from)
            }
            other => {
                let text = format!("{} has no attribute '{name}' in a @cu function", self.describe(other));
                let advice = match &**name {
                    "get" | "item" | "tolist" => "The function is compiled: values leave it as results only.",
                    "T" => "Write transpose(x).",
                    "shape" | "size" => "Write len(x).",
                    "dtype" => "Write cast_to(y, x) to convert y to the type of x.",
                    _ => "",
                };
                self.problem(ProblemKind::Language, span, text, advice)
            }
        }
    }

    pub(super) fn binary(&mut self, operator: BinaryOperator, left: &Value, right: &Value, span: Span) -> Value {
        match (left, right) {
            (Value::Poison, _) | (_, Value::Poison) => Value::Poison,
            (Value::Scalar(x), Value::Scalar(y)) => {
                self.prim(operator.op(), &[*x, *y], span).map_or(Value::Poison, Value::from)
            }
            _ => {
                let text = format!(
                    "the operands of '{}' are {} and {}; expected numbers",
                    operator.symbol(),
                    self.describe(left),
                    self.describe(right)
                );
                let name = operator.prelude_name();
                let advice = match (left, right) {
                    (Value::Seq(_), Value::Seq(_)) => format!("Write map({name}, x, y)."),
                    (Value::Seq(_), _) => format!("Write [xi {} y for xi in x].", operator.symbol()),
                    (_, Value::Seq(_)) => format!("Write [x {} yi for yi in y].", operator.symbol()),
                    (Value::Field(field), _) | (_, Value::Field(field)) => {
                        let zeros = vec!["0"; self.program.var_type(*field).ndim].join(", ");
                        format!("Write u[{zeros}] for the element itself.")
                    }
                    _ => String::new(),
                };
                self.problem(ProblemKind::Type, span, text, advice)
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator, value: &Value, span: Span) -> Value {
        match value {
            Value::Poison => Value::Poison,
            Value::Scalar(scalar) if operator == UnaryOperator::Not => {
                let Some(truth) = self.truth(&Value::Scalar(*scalar), span) else { return Value::Poison };
                self.prim(Op::LogicalNot, &[truth], span).map_or(Value::Poison, Value::from)
            }
            Value::Scalar(scalar) => self.prim(operator.op(), &[*scalar], span).map_or(Value::Poison, Value::from),
            other => {
                let name = operator.op().name();
                let text = format!("the operand of '{name}' is {}; expected a number", self.describe(other));
                let advice = if matches!(other, Value::Seq(_)) { "Write [... for xi in x]." } else { "" };
                self.problem(ProblemKind::Type, span, text, advice)
            }
        }
    }

    fn comparison(&mut self, first: &Expr, rest: &[(Comparison, Expr)], env: &Env, span: Span) -> Value {
        let mut left = self.expression(first, env);
        let mut all: Option<Scalar> = None;
        for (comparison, right) in rest {
            let right = self.expression(right, env);
            let one = self.compare(*comparison, &left, &right, span);
            let Value::Scalar(one) = one else { return Value::Poison };
            all = match all {
                None => Some(one),
                Some(before) => self.prim(Op::LogicalAnd, &[before, one], span),
            };
            left = right;
        }
        all.map_or(Value::Poison, Value::from)
    }

    pub(super) fn compare(&mut self, comparison: Comparison, left: &Value, right: &Value, span: Span) -> Value {
        match (left, right) {
            (Value::Poison, _) | (_, Value::Poison) => Value::Poison,
            (Value::Scalar(x), Value::Scalar(y)) => {
                self.prim(comparison.op(), &[*x, *y], span).map_or(Value::Poison, Value::from)
            }
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() && !a.is_empty() => {
                self.compare_tuples(comparison, a, b, span)
            }
            _ => {
                let text = format!(
                    "the operands of a comparison are {} and {}; expected numbers",
                    self.describe(left),
                    self.describe(right)
                );
                self.type_problem(span, text)
            }
        }
    }

    /// Tuples in the order of dictionaries, as Python compares them.
    fn compare_tuples(&mut self, comparison: Comparison, a: &[Value], b: &[Value], span: Span) -> Value {
        if let Comparison::Eq | Comparison::NotEq = comparison {
            let mut all: Option<Scalar> = None;
            for (x, y) in a.iter().zip(b) {
                let Value::Scalar(one) = self.compare(Comparison::Eq, x, y, span) else { return Value::Poison };
                all = match all {
                    None => Some(one),
                    Some(before) => self.prim(Op::LogicalAnd, &[before, one], span),
                };
            }
            let Some(all) = all else { return Value::Poison };
            if comparison == Comparison::Eq {
                return all.into();
            }
            return self.prim(Op::LogicalNot, &[all], span).map_or(Value::Poison, Value::from);
        }
        let (x, y) = (&a[0], &b[0]);
        if a.len() == 1 {
            return self.compare(comparison, x, y, span);
        }
        let strict = match comparison {
            Comparison::Lt | Comparison::LtE => Comparison::Lt,
            _ => Comparison::Gt,
        };
        let before = self.compare(strict, x, y, span);
        let same = self.compare(Comparison::Eq, x, y, span);
        let rest = self.compare_tuples(comparison, &a[1..], &b[1..], span);
        let (Value::Scalar(before), Value::Scalar(same), Value::Scalar(rest)) = (before, same, rest) else {
            return Value::Poison;
        };
        let both = self.prim(Op::LogicalAnd, &[same, rest], span);
        both.and_then(|both| self.prim(Op::LogicalOr, &[before, both], span)).map_or(Value::Poison, Value::from)
    }

    /// `and` and `or`, which compute the second operand only where it decides.
    fn logical(&mut self, is_and: bool, operands: &[Expr], env: &Env, span: Span) -> Value {
        let (first, rest) = (&operands[0], &operands[1..]);
        let value = self.expression(first, env);
        if rest.is_empty() {
            return value;
        }
        let Some(truth) = self.truth(&value, first.span) else {
            self.logical(is_and, rest, env, span);
            return Value::Poison;
        };
        let is_truth = |this: &Self, value: &Value| matches!(value, Value::Scalar(scalar) if this.program.dtype(scalar.atom) == rtcg_hal::DType::Bool);
        let kept = if is_truth(self, &value) { Scalar::python(Number::Bool(!is_and)).into() } else { value };
        let other = |this: &mut Self| this.logical(is_and, rest, env, span);
        if is_and { self.choose(truth, span, other, |_| kept) } else { self.choose(truth, span, |_| kept, other) }
    }

    /// `value[index]`.
    pub(super) fn subscript(&mut self, value: &Value, index: &Value, span: Span) -> Value {
        match (value, index) {
            (Value::Poison, _) | (_, Value::Poison) => Value::Poison,
            (Value::Field(field), index) => self.field_element(*field, index, span),
            (Value::Tuple(parts), Value::Scalar(scalar)) => {
                let n = parts.len() as i128;
                match scalar.constant_int() {
                    Some(at) if (-n..n).contains(&at) => parts[at.rem_euclid(n) as usize].clone(),
                    Some(at) => self.type_problem(span, format!("index {at} of a tuple of {n} parts")),
                    None => {
                        self.type_problem(span, "the index of a tuple is computed; expected a number of the program")
                    }
                }
            }
            (Value::Seq(seq), Value::Scalar(scalar)) => {
                let Some(index) = self.position(seq, *scalar, span) else { return Value::Poison };
                self.element_at(&seq.clone(), index, Bounds::Checked, span)
            }
            (Value::Seq(_), Value::Tuple(parts)) => {
                let mut found = value.clone();
                for part in parts {
                    found = self.subscript(&found, part, span);
                }
                found
            }
            _ => {
                let text = format!(
                    "{} is indexed with {}; expected a sequence or a tuple, and an integer",
                    self.describe(value),
                    self.describe(index)
                );
                let advice = if matches!((value, index), (Value::Seq(_), Value::Seq(_))) {
                    "Write gather(x, indices)."
                } else {
                    ""
                };
                self.problem(ProblemKind::Type, span, text, advice)
            }
        }
    }

    /// An index of a sequence, counted from the end if it is negative.
    pub(super) fn position(&mut self, seq: &Seq, index: Scalar, span: Span) -> Option<Atom> {
        let dtype = self.program.dtype(index.atom);
        if !dtype.is_integer() {
            let text = format!("an index is {}; expected an integer", self.leaf(index));
            self.problem(ProblemKind::Type, span, text, "Write int64(i) to convert it.");
            return None;
        }
        let to = super::value::Leaf { dtype: rtcg_hal::DType::I64, weak: true };
        let at = self.convert_scalar(index, to, span);
        match at.constant_int() {
            Some(known) if known >= 0 => Some(at.atom),
            Some(_) => Some(self.index_sum(seq.length, at.atom, span)),
            None if dtype.kind() == rtcg_hal::DTypeKind::Unsigned || self.is_known_positive(at.atom) => Some(at.atom),
            None => {
                let wrapped = self.index_sum(at.atom, seq.length, span);
                let is_negative = self.prim(Op::Less, &[at, Scalar::weak(Atom::index(0))], span)?;
                Some(self.prim(Op::Where, &[is_negative, Scalar::weak(wrapped), at], span)?.atom)
            }
        }
    }
}
