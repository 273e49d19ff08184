//! Calls: functions are followed with the types of their arguments.

use super::value::{Closure, Env, Scalar, Value};
use super::{Call, Elaborator, MAX_CALL_DEPTH};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{Expr, ExprKind, Stmt};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::rc::Rc;

impl Elaborator<'_> {
    pub(super) fn call(&mut self, function: &Expr, arguments: &[Expr], env: &Env, span: Span) -> Value {
        if let ExprKind::Attribute(of, name) = &function.kind
            && let Some(found) = self.method(of, name, arguments, env, function.span)
        {
            return found;
        }
        let callee = self.expression(function, env);
        let spans: Vec<Span> = arguments.iter().map(|argument| argument.span).collect();
        // These take the parts of a list as they are.
        let takes_lists = matches!(&callee, Value::Prelude(name) if matches!(&**name, "join" | "update"));
        let one = |argument: &Expr| match &argument.kind {
            ExprKind::List(parts) if takes_lists => {
                Value::Tuple(parts.iter().map(|part| self.expression(part, env)).collect())
            }
            _ => self.expression(argument, env),
        };
        let arguments: Vec<Value> = arguments.iter().map(one).collect();
        if let Value::Seq(_) = callee {
            let text = format!("{} is called; expected a function", self.describe(&callee));
            let name = self.names_of(function.span).0;
            let index = spans.first().and_then(|span| self.text_of(*span)).unwrap_or_else(|| "i".into());
            return self.problem(Code::Call, span, text, format!("write `{name}[{index}]` to read an element"));
        }
        self.apply_at(&callee, arguments, &spans, span)
    }

    /// Calls a function with values.
    pub(super) fn apply(&mut self, callee: &Value, arguments: Vec<Value>, span: Span) -> Value {
        self.apply_at(callee, arguments, &[], span)
    }

    /// Calls a function with values that stand at these places; they are `span` where there is none.
    fn apply_at(&mut self, callee: &Value, arguments: Vec<Value>, spans: &[Span], span: Span) -> Value {
        match callee {
            Value::Poison => Value::Poison,
            Value::Closure(closure) => {
                if let Some(loops) = self.recursive_call(closure, &arguments, span) {
                    return loops;
                }
                self.apply_closure(closure, arguments, span)
            }
            Value::Prelude(name) => self.apply_prelude(&name.clone(), arguments, spans, span),
            Value::Elementwise(op) => self.apply_elementwise(*op, &arguments, spans, span),
            Value::DType(dtype) => self.apply_cast(*dtype, &arguments, spans, span),
            other => {
                let text = format!("{} is called; expected a function", self.describe(other));
                self.plain_problem(Code::Call, span, text)
            }
        }
    }

    /// Follows a function.
    pub(super) fn apply_closure(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, span: Span) -> Value {
        if self.is_recursive(closure) {
            return self.tail_loop(closure, arguments, span);
        }
        let Some(env) = self.enter(closure, arguments, span) else { return Value::Poison };
        let result = self.run_body(closure, env);
        self.calls.pop();
        result
    }

    /// The names of a call, which is then on the stack.
    pub(super) fn enter(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, span: Span) -> Option<Env> {
        let function = closure.function.clone();
        if function.params.len() != arguments.len() {
            // What a front end makes of parameters that the language does not have.
            let mut is_refused = false;
            for stmt in &function.body {
                let Stmt::Unsupported(what, at) = stmt else { break };
                self.unsupported(what, *at);
                is_refused = true;
            }
            if is_refused {
                return None;
            }
            let name = &function.name;
            let text = format!(
                "{} takes {}; {} given",
                if &**name == "<lambda>" { "the lambda".to_owned() } else { format!("`{name}`") },
                n_arguments(function.params.len()),
                arguments.len()
            );
            let related = vec![(function.span, "defined here".to_owned())];
            self.problem_with(Code::Arity, span, text, related, "");
            return None;
        }
        if self.is_too_deep || self.n_stmts >= super::MAX_STATEMENTS {
            return None;
        }
        if self.calls.len() >= MAX_CALL_DEPTH {
            self.give_up_calls(span);
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
            // As in Python, a name that a function assigns is its own from the beginning.
            let mut own = Vec::new();
            super::statements::assigned_names(&function.body, &mut own);
            for name in own.into_iter().filter(|name| closure.env.get(name).is_some()) {
                let what = format!("assigned in `{}`, and has no value there before", function.name);
                let advice = "a function changes no names around it: give what it computes a name of its own";
                env.set(name, Value::Unusable { what: what.into(), advice: advice.into() });
            }
        }
        for (pattern, value) in function.params.iter().zip(arguments) {
            self.bind(pattern, value, &mut env, span);
        }
        self.calls.push(Call { function: &raw const *function, name: function.name.clone(), span });
        Some(env)
    }

    pub(super) fn run_body(&mut self, closure: &Rc<Closure>, env: Env) -> Value {
        let function = closure.function.clone();
        self.statements(&function.body, env, &mut |this, _| {
            // A statement that the language does not have may have been meant to return.
            if this.problems.has_within(function.span) {
                return Value::Poison;
            }
            let text = format!("`{}` does not return a value on every path", function.name);
            this.problem(Code::Return, function.span, text, "end each path with a `return` of a value")
        })
    }

    /// A value that a call returns.
    pub(super) fn returned(&mut self, value: &Expr, env: &Env) -> Value {
        self.returned.push(value.span);
        let found = self.tail_expression(value, env);
        // The first one, for messages about the result, stays.
        if self.returned.len() > 1 {
            self.returned.pop();
        }
        found
    }

    /// Says that calls of calls have no end.
    fn give_up_calls(&mut self, span: Span) {
        self.is_too_deep = true;
        let mut names: Vec<String> = Vec::new();
        for call in self.calls.iter().rev().take(8) {
            let name = format!("`{}`", call.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.reverse();
        let text = match names.as_slice() {
            [one] => format!("{one} calls itself, by way of an argument, more than {MAX_CALL_DEPTH} deep"),
            names => {
                format!("{} call each other without an end that is known when they are compiled", names.join(" and "))
            }
        };
        let advice = "write one function that calls itself last, with an argument that says what to do next";
        self.problem(Code::Recursion, span, text, advice);
    }

    /// A call of a method, which no value has: what to write instead. `None` for members of modules.
    fn method(&mut self, of: &Expr, name: &str, arguments: &[Expr], env: &Env, span: Span) -> Option<Value> {
        let value = if let ExprKind::Name(of) = &of.kind { env.get(of)?.clone() } else { return None };
        if !matches!(value, Value::Seq(_) | Value::Scalar(_)) || !super::prelude::is_known(name) {
            return None;
        }
        let text = format!("{} has no method `{name}`", self.describe(&value));
        let mut texts = vec![self.text_of(of.span)?];
        for argument in arguments {
            texts.push(self.text_of(argument.span)?);
        }
        Some(self.problem(Code::Attribute, span, text, format!("write `{name}({})`", texts.join(", "))))
    }

    /// An elementwise function of scalars.
    pub(super) fn apply_elementwise(&mut self, op: Op, arguments: &[Value], spans: &[Span], span: Span) -> Value {
        if arguments.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        let name = op.name();
        if arguments.len() != op.arity() {
            let name = self.spelling(name);
            let text = format!("`{name}` takes {}; {} given", n_arguments(op.arity()), arguments.len());
            return self.plain_problem(Code::Arity, span, text);
        }
        let mut scalars = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Value::Scalar(scalar) => scalars.push(*scalar),
                other => {
                    let (called, found) = (self.spelling(name), self.describe(other));
                    let text = format!("an argument of `{called}` is {found}; expected a number");
                    let advice = self.map_advice(name, arguments, spans);
                    return self.problem(Code::Argument, span, text, advice);
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
    pub(super) fn apply_cast(&mut self, dtype: DType, arguments: &[Value], spans: &[Span], span: Span) -> Value {
        match arguments {
            [Value::Poison] => Value::Poison,
            [Value::Scalar(scalar)] => {
                let to = super::value::Leaf { dtype, weak: false };
                self.convert_scalar(*scalar, to, span).into()
            }
            [other] => {
                let text = format!("the argument of `{}` is {}; expected a number", dtype.name(), self.describe(other));
                let advice = self.map_advice(dtype.name(), arguments, spans);
                self.problem(Code::Argument, span, text, advice)
            }
            _ => self.plain_problem(
                Code::Arity,
                span,
                format!("`{}` takes 1 argument; {} given", dtype.name(), arguments.len()),
            ),
        }
    }

    /// How to call a function of numbers for each element, if sequences are among its arguments.
    fn map_advice(&self, name: &str, arguments: &[Value], spans: &[Span]) -> String {
        if !arguments.iter().any(|argument| matches!(argument, Value::Seq(_))) {
            return String::new();
        }
        let is_all = arguments.iter().all(|argument| matches!(argument, Value::Seq(_)));
        let texts: Option<Vec<String>> = spans.iter().map(|span| self.text_of(*span)).collect();
        let name = self.spelling(name);
        match texts.filter(|texts| is_all && texts.len() == arguments.len()) {
            Some(texts) => format!("write `map({name}, {})`", texts.join(", ")),
            None => format!("write `map(lambda xi: {name}(...), x)`, with an element for each sequence"),
        }
    }

    /// A scalar argument of a function of the prelude.
    pub(super) fn scalar_argument(&mut self, function: &str, what: &str, value: &Value, span: Span) -> Option<Scalar> {
        match value {
            Value::Scalar(scalar) => Some(*scalar),
            Value::Poison => None,
            other => {
                let text = format!("the {what} of `{function}` is {}; expected a number", self.describe(other));
                self.plain_problem(Code::Argument, span, text);
                None
            }
        }
    }
}

/// A number of arguments, in words.
pub(super) fn n_arguments(n: usize) -> String {
    if n == 1 { "1 argument".into() } else { format!("{n} arguments") }
}
