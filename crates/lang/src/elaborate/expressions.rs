//! Expressions.

use super::Elaborator;
use super::value::{Closure, Env, Scalar, Seq, Value};
use crate::ir::{Atom, Bounds, Number};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{BinaryOperator, Comparison, Expr, ExprKind, Outside, UnaryOperator, Unsupported};
use rtcg_codegen::array::Op;
use std::rc::Rc;
use std::sync::Arc;

/// A name that is in an environment once a statement was refused, which may have assigned others.
pub(super) const AFTER_REFUSED: &str = "";

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
                let spans = (left.span, right.span);
                let (left, right) = (self.expression(left, env), self.expression(right, env));
                self.binary(*operator, (&left, &right), spans, span)
            }
            ExprKind::Unary(operator, operand) => {
                let value = self.expression(operand, env);
                self.unary(*operator, &value, operand.span, span)
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
                self.choose_between(
                    truth,
                    (then.span, other.span),
                    span,
                    |this| this.expression(then, env),
                    |this| this.expression(other, env),
                )
            }
            ExprKind::Call(function, arguments) => self.call(function, arguments, env, span),
            ExprKind::Attribute(value, name) => self.attribute(value, name, env, span),
            ExprKind::Subscript(value, index) => {
                let (found, at) = (self.expression(value, env), index.span);
                // One problem is enough where a dictionary is used.
                if found.is_poison() && matches!(index.kind, ExprKind::Unsupported(_)) {
                    return Value::Poison;
                }
                let index = self.expression(index, env);
                self.subscript(&found, &index, at, span)
            }
            ExprKind::Comprehension { element, generators } => self.comprehension(element, generators, env, span),
            ExprKind::Unsupported(what) => self.unsupported(what, span),
        }
    }

    pub(super) fn unsupported(&mut self, Unsupported { what, advice }: &Unsupported, span: Span) -> Value {
        let text = format!("a @cu function cannot contain {what}");
        self.problem(Code::Construct, span, text, advice.to_string())
    }

    fn name(&mut self, name: &Arc<str>, env: &Env, span: Span) -> Value {
        match env.get(name) {
            Some(Value::Unusable { what, advice }) if what.contains("not defined") => {
                let near = || super::prelude::nearest(name, env.names().map(|known| &**known));
                let advice = match name {
                    name if super::prelude::is_exported(name) => format!("write `from rtcg.copperhead import {name}`"),
                    _ => near().map_or_else(|| advice.to_string(), |near| format!("did you mean `{near}`?")),
                };
                self.problem(Code::Name, span, format!("`{name}` is not defined"), advice)
            }
            Some(value) => self.usable(&value.clone(), span),
            // It may be assigned in a statement that was refused.
            None if env.get(AFTER_REFUSED).is_some() => Value::Poison,
            None => {
                let text = format!("`{name}` has no value here");
                let advice = format!("assign to `{name}` before it is used, on each path");
                self.problem(Code::Name, span, text, advice)
            }
        }
    }

    /// A value, unless it is what programs cannot use.
    fn usable(&mut self, value: &Value, span: Span) -> Value {
        let Value::Unusable { what, advice } = value else { return value.clone() };
        let name = self.text_of(span).unwrap_or_else(|| "this".into());
        let text = match what.strip_prefix('`') {
            Some(_) => format!("a @cu function cannot use {what}"),
            None => format!("a @cu function cannot use `{name}`: it is {what}"),
        };
        let code = if what.starts_with("assigned") { Code::Name } else { Code::Foreign };
        self.problem(code, span, text, advice.to_string())
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
                    let member = self.outside(&member.clone());
                    self.usable(&member, span)
                }
                None => {
                    let text = format!("the module `{module}` has no `{name}` that a @cu function can use");
                    self.problem(Code::Foreign, span, text, "")
                }
            },
            Value::Scalar(scalar) if &**name == "real" || &**name == "imag" => {
                let op = if &**name == "real" { Op::Real } else { Op::Imag };
                self.prim(op, &[*scalar], span).map_or(Value::Poison, Value::from)
            }
            other => {
                let text = format!("{} has no attribute `{name}` in a @cu function", self.describe(other));
                let x = self.names_of(of.span).0;
                let advice = match &**name {
                    "get" | "item" | "tolist" | "numpy" | "copy" | "astype" => {
                        "the program is compiled, and its values are on a device: they leave it as results only".into()
                    }
                    "T" => format!("write `transpose({x})`"),
                    "shape" | "size" => format!("write `len({x})`"),
                    "dtype" => {
                        format!("write `cast_to_el(y, {x})` to convert `y` to the type of the elements of `{x}`")
                    }
                    _ => String::new(),
                };
                self.problem(Code::Attribute, span, text, advice)
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        (left, right): (&Value, &Value),
        spans: (Span, Span),
        span: Span,
    ) -> Value {
        match (left, right) {
            (Value::Poison, _) | (_, Value::Poison) => Value::Poison,
            (Value::Scalar(x), Value::Scalar(y)) => {
                self.prim(operator.op(), &[*x, *y], span).map_or(Value::Poison, Value::from)
            }
            _ => {
                let sign = operator.symbol();
                let (a, b) = (self.describe(left), self.describe(right));
                let text = format!("the operands of `{sign}` are {a} and {b}; expected numbers");
                let name = operator.prelude_name();
                let (x, xi) = self.names_of(spans.0);
                let (y, yi) = self.names_of(spans.1);
                let advice = match (left, right) {
                    (Value::Seq(_), Value::Seq(_)) => format!("write `map({name}, {x}, {y})`"),
                    (Value::Seq(_), Value::Scalar(_)) => format!("write `[{xi} {sign} {y} for {xi} in {x}]`"),
                    (Value::Scalar(_), Value::Seq(_)) => format!("write `[{x} {sign} {yi} for {yi} in {y}]`"),
                    (Value::Tuple(_), Value::Tuple(_)) => "compute each part of the tuples".into(),
                    (Value::Field(field), _) | (_, Value::Field(field)) => {
                        let zeros = vec!["0"; self.program.var_type(*field).ndim].join(", ");
                        format!("write `u[{zeros}]` for the element itself")
                    }
                    _ => String::new(),
                };
                self.problem(Code::Operand, span, text, advice)
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator, value: &Value, at: Span, span: Span) -> Value {
        match value {
            Value::Poison => Value::Poison,
            Value::Scalar(scalar) if operator == UnaryOperator::Not => {
                let Some(truth) = self.truth(&Value::Scalar(*scalar), span) else { return Value::Poison };
                self.prim(Op::LogicalNot, &[truth], span).map_or(Value::Poison, Value::from)
            }
            Value::Scalar(scalar) => self.prim(operator.op(), &[*scalar], span).map_or(Value::Poison, Value::from),
            other => {
                let sign = match operator {
                    UnaryOperator::UAdd => "+",
                    UnaryOperator::USub => "-",
                    UnaryOperator::Invert => "~",
                    UnaryOperator::Not => "not ",
                };
                let text = format!("the operand of `{}` is {}; expected a number", sign.trim(), self.describe(other));
                let (x, xi) = self.names_of(at);
                let advice = match other {
                    Value::Seq(_) => format!("write `[{sign}{xi} for {xi} in {x}]`"),
                    _ => String::new(),
                };
                self.problem(Code::Operand, span, text, advice)
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
                let sign = comparison.symbol();
                let (a, b) = (self.describe(left), self.describe(right));
                let text = format!("the operands of `{sign}` are {a} and {b}; expected numbers");
                let advice = match (left, right) {
                    (Value::Seq(_), Value::Seq(_)) => {
                        format!(
                            "write `[xi {sign} yi for xi, yi in zip(x, y)]`, and `all` or `any` of it for one truth value"
                        )
                    }
                    _ => String::new(),
                };
                self.problem(Code::Operand, span, text, advice)
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
    pub(super) fn subscript(&mut self, value: &Value, index: &Value, at: Span, span: Span) -> Value {
        match (value, index) {
            (Value::Poison, _) | (_, Value::Poison) => Value::Poison,
            (Value::Field(field), index) => self.field_element(*field, index, span),
            (Value::Tuple(parts), Value::Scalar(scalar)) => {
                let n = parts.len() as i128;
                match scalar.constant_int() {
                    Some(at) if (-n..n).contains(&at) => parts[at.rem_euclid(n) as usize].clone(),
                    Some(index) => {
                        let text = format!("a tuple of {n} parts has no part {index}; expected {} to {}", -n, n - 1);
                        self.plain_problem(Code::Index, at, text)
                    }
                    None => {
                        let text = "the index of a tuple is computed; expected a number that the program knows";
                        let advice = "write the number, or make a sequence: a tuple's parts may have different types";
                        self.problem(Code::Index, at, text, advice)
                    }
                }
            }
            (Value::Seq(seq), Value::Scalar(scalar)) => {
                let Some(index) = self.position(seq, *scalar, at) else { return Value::Poison };
                self.element_at(&seq.clone(), index, Bounds::Checked, span)
            }
            (Value::Seq(_), Value::Tuple(parts)) => {
                let mut found = value.clone();
                for part in parts {
                    found = self.subscript(&found, part, at, span);
                }
                found
            }
            _ => {
                let (found, by) = (self.describe(value), self.describe(index));
                let (text, advice) = match (value, index) {
                    (Value::Seq(_), Value::Seq(_)) => {
                        let indices = self.text_of(at).unwrap_or_else(|| "indices".into());
                        (format!("an index is {by}; expected an integer"), format!("write `gather(x, {indices})`"))
                    }
                    (Value::Seq(_) | Value::Tuple(_), _) => {
                        (format!("an index is {by}; expected an integer"), String::new())
                    }
                    _ => (format!("{found} is indexed; expected a sequence or a tuple"), String::new()),
                };
                self.problem(Code::Index, span, text, advice)
            }
        }
    }

    /// How to make an integer of what is written at a place.
    pub(super) fn conversion_advice(&self, span: Span) -> String {
        match self.text_of(span) {
            Some(text) if text.parse::<f64>().is_ok() => "write an integer".into(),
            Some(text) => format!("write `int64({text})` to convert it"),
            None => "write `int64(i)` to convert it".into(),
        }
    }

    /// An index of a sequence, counted from the end if it is negative.
    pub(super) fn position(&mut self, seq: &Seq, index: Scalar, span: Span) -> Option<Atom> {
        let dtype = self.program.dtype(index.atom);
        if !dtype.is_integer() {
            let text = format!("an index is {}; expected an integer", self.leaf(index));
            let advice = self.conversion_advice(span);
            self.problem(Code::Index, span, text, advice);
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
