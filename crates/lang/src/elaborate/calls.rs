//! Calls: functions are followed with the types of their arguments.

use super::value::{Closure, Env, Scalar, Value};
use super::{Call, Elaborator, MAX_CALL_DEPTH};
use crate::problem::ProblemKind;
use crate::span::Span;
use crate::surface::{Expr, ExprKind};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::rc::Rc;

impl Elaborator<'_> {
    pub(super) fn call(&mut self, function: &Expr, arguments: &[Expr], env: &Env, span: Span) -> Value {
        let callee = self.expression(function, env);
        let arguments: Vec<Value> = arguments.iter().map(|argument| self.expression(argument, env)).collect();
        if let (Value::Unusable { what, advice }, ExprKind::Name(name)) = (&callee, &function.kind) {
            let text = format!("'{name}' is {what}, which a @cu function cannot call");
            let advice = match super::prelude::nearest(name, std::iter::empty()) {
                Some(near) if advice.is_empty() => format!("The nearest function of the prelude is '{near}'."),
                _ => advice.to_string(),
            };
            return self.problem(ProblemKind::Language, function.span, text, advice);
        }
        self.apply(&callee, arguments, span)
    }

    /// Calls a function with values.
    pub(super) fn apply(&mut self, callee: &Value, arguments: Vec<Value>, span: Span) -> Value {
        match callee {
            Value::Poison => Value::Poison,
            Value::Closure(closure) => {
                if let Some(loops) = self.recursive_call(closure, &arguments, span) {
                    return loops;
                }
                self.apply_closure(closure, arguments, span)
            }
            Value::Prelude(name) => self.apply_prelude(&name.clone(), arguments, span),
            Value::Elementwise(op) => self.apply_elementwise(*op, &arguments, span),
            Value::DType(dtype) => self.apply_cast(*dtype, &arguments, span),
            Value::Unusable { what, advice } => {
                let text = format!("a @cu function cannot call {what}");
                self.problem(ProblemKind::Language, span, text, advice.to_string())
            }
            other => {
                let text = format!("{} is called; expected a function", self.describe(other));
                self.type_problem(span, text)
            }
        }
    }

    /// Follows a function.
    pub(super) fn apply_closure(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, span: Span) -> Value {
        let function = closure.function.clone();
        if self.is_recursive(closure) {
            return self.tail_loop(closure, arguments, span);
        }
        let Some(env) = self.enter(closure, arguments, span) else { return Value::Poison };
        let result = self.run_body(closure, env);
        self.calls.pop();
        let _ = function;
        result
    }

    /// The names of a call, which is then on the stack.
    pub(super) fn enter(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, span: Span) -> Option<Env> {
        let function = closure.function.clone();
        if function.params.len() != arguments.len() {
            let name = &function.name;
            let text = format!(
                "{} takes {} argument(s); {} given",
                if &**name == "<lambda>" { "the lambda".to_owned() } else { format!("'{name}'") },
                function.params.len(),
                arguments.len()
            );
            self.type_problem(span, text);
            return None;
        }
        if self.calls.len() >= MAX_CALL_DEPTH {
            let text = format!("functions call each other more than {MAX_CALL_DEPTH} deep");
            self.problem(ProblemKind::Language, span, text, "Only a function that calls itself last is a loop.");
            return None;
        }
        let mut env = closure.env.clone();
        for (name, outside) in function.outside.iter() {
            if env.get(name).is_none() {
                let value = self.outside(outside);
                env.set(name.clone(), value);
            }
        }
        if closure.index.is_none() {
            env.set(function.name.clone(), Value::Closure(closure.clone()));
        }
        for (pattern, value) in function.params.iter().zip(arguments) {
            self.bind(pattern, value, &mut env, span);
        }
        self.calls.push(Call { function: &raw const *function, span });
        Some(env)
    }

    pub(super) fn run_body(&mut self, closure: &Rc<Closure>, env: Env) -> Value {
        let function = closure.function.clone();
        self.statements(&function.body, env, &mut |this, _| {
            let text = format!("'{}' does not return a value on every path", function.name);
            this.problem(ProblemKind::Language, function.span, text, "End each branch with `return`.")
        })
    }

    /// A value that a call returns.
    pub(super) fn returned(&mut self, value: &Expr, env: &Env) -> Value {
        self.tail_expression(value, env)
    }

    /// An elementwise function of scalars.
    pub(super) fn apply_elementwise(&mut self, op: Op, arguments: &[Value], span: Span) -> Value {
        if arguments.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        let name = op.name();
        if arguments.len() != op.arity() {
            let text = format!("'{name}' takes {} argument(s); {} given", op.arity(), arguments.len());
            return self.type_problem(span, text);
        }
        let mut scalars = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Value::Scalar(scalar) => scalars.push(*scalar),
                other => {
                    let text = format!("an argument of '{name}' is {}; expected a number", self.describe(other));
                    let advice =
                        if matches!(other, Value::Seq(_)) { format!("Write map({name}, x).") } else { String::new() };
                    return self.problem(ProblemKind::Type, span, text, advice);
                }
            }
        }
        if op == Op::Where {
            let Some(truth) = self.truth(&Value::Scalar(scalars[0]), span) else { return Value::Poison };
            scalars[0] = truth;
        }
        self.prim(op, &scalars, span).map_or(Value::Poison, Value::from)
    }

    /// A conversion.
    pub(super) fn apply_cast(&mut self, dtype: DType, arguments: &[Value], span: Span) -> Value {
        match arguments {
            [Value::Poison] => Value::Poison,
            [Value::Scalar(scalar)] => {
                let to = super::value::Leaf { dtype, weak: false };
                self.convert_scalar(*scalar, to, span).into()
            }
            [other] => {
                let text = format!("the argument of '{}' is {}; expected a number", dtype.name(), self.describe(other));
                let advice = if matches!(other, Value::Seq(_)) {
                    format!("Write map({}, x).", dtype.name())
                } else {
                    String::new()
                };
                self.problem(ProblemKind::Type, span, text, advice)
            }
            _ => self.type_problem(span, format!("'{}' takes 1 argument; {} given", dtype.name(), arguments.len())),
        }
    }

    /// A scalar argument of a function of the prelude.
    pub(super) fn scalar_argument(&mut self, function: &str, what: &str, value: &Value, span: Span) -> Option<Scalar> {
        match value {
            Value::Scalar(scalar) => Some(*scalar),
            Value::Poison => None,
            other => {
                let text = format!("the {what} of '{function}' is {}; expected a number", self.describe(other));
                self.type_problem(span, text);
                None
            }
        }
    }
}
