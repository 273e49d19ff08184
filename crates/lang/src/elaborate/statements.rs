//! Statements: single assignment, `if` with any branches, `return`.

use super::value::{Closure, Env, Value};
use super::{Elaborator, EmitAt};
use crate::ir::Number;
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{Pattern, Stmt};
use std::rc::Rc;
use std::sync::Arc;

/// What is computed at the end of statements that return nothing.
pub(super) type Rest<'r, 'a> = &'r mut dyn FnMut(&mut Elaborator<'a>, Env) -> Value;

impl<'a> Elaborator<'a> {
    /// The value that statements return; what comes after them is in `rest`.
    pub(super) fn statements(&mut self, stmts: &[Stmt], mut env: Env, rest: Rest<'_, 'a>) -> Value {
        for (at, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Assign(pattern, value, span) => {
                    let value = self.expression(value, &env);
                    self.bind(pattern, value, &mut env, *span);
                }
                Stmt::Return(Some(value), _) => return self.returned(value, &env),
                Stmt::Return(None, span) => {
                    return self.problem(
                        Code::Return,
                        *span,
                        "`return` without a value",
                        "return a value on every path",
                    );
                }
                Stmt::Def(function) => {
                    let closure = Closure { function: function.clone(), env: env.clone(), index: None };
                    env.set(function.name.clone(), Value::Closure(Rc::new(closure)));
                }
                Stmt::Nothing => {}
                Stmt::Unsupported(what, span) => {
                    self.unsupported(what, *span);
                    env.set(super::expressions::AFTER_REFUSED.into(), Value::Poison);
                }
                Stmt::If(cond, then, other, span) => {
                    let value = self.expression(cond, &env);
                    let truth = self.truth(&value, cond.span);
                    let after = &stmts[at + 1..];
                    let returns =
                        always_returns(then) || always_returns(other) || may_return(then) || may_return(other);
                    let Some(truth) = truth else {
                        self.statements(then, env.clone(), &mut |_, _| Value::Poison);
                        self.statements(other, env.clone(), &mut |_, _| Value::Poison);
                        return Value::Poison;
                    };
                    if !returns && truth.constant().is_none() {
                        env = self.merged(truth, then, other, &env, *span);
                        continue;
                    }
                    // What follows is part of each branch that reaches it.
                    let (first, second) = (env.clone(), env.clone());
                    let mut rest_cell = rest;
                    return match truth.constant() {
                        Some(Number::Bool(true)) => {
                            self.statements(then, first, &mut |this, env| this.statements(after, env, &mut *rest_cell))
                        }
                        Some(_) => self
                            .statements(other, second, &mut |this, env| this.statements(after, env, &mut *rest_cell)),
                        None => self.branch(truth, (then, other), (first, second), after, &mut rest_cell, *span),
                    };
                }
            }
        }
        rest(self, env)
    }

    fn branch(
        &mut self,
        truth: super::value::Scalar,
        (then, other): (&[Stmt], &[Stmt]),
        (first, second): (Env, Env),
        after: &[Stmt],
        rest: Rest<'_, 'a>,
        span: Span,
    ) -> Value {
        if let Some(known) = self.tail_choice(then, other, after, &first) {
            let (stmts, env) = if known { (then, first) } else { (other, second) };
            return self.statements(stmts, env, &mut |this, env| this.statements(after, env, &mut *rest));
        }
        let rest = std::cell::RefCell::new(rest);
        self.choose_between(
            truth,
            (value_span(then, span), value_span(if other.is_empty() { after } else { other }, span)),
            span,
            |this| this.statements(then, first, &mut |this, env| this.statements(after, env, &mut **rest.borrow_mut())),
            |this| {
                this.statements(other, second, &mut |this, env| this.statements(after, env, &mut **rest.borrow_mut()))
            },
        )
    }

    /// The names after an `if` whose branches only assign.
    fn merged(&mut self, truth: super::value::Scalar, then: &[Stmt], other: &[Stmt], env: &Env, span: Span) -> Env {
        let mut names: Vec<Arc<str>> = Vec::new();
        assigned_names(then, &mut names);
        assigned_names(other, &mut names);
        let mut after = env.clone();
        let values_of = |env: &Env, names: &[Arc<str>]| -> Option<Vec<Value>> {
            names.iter().map(|name| env.get(name).cloned()).collect()
        };
        // A name that one branch lacks is not defined afterwards.
        let in_branch = |stmts: &[Stmt]| {
            let mut own = Vec::new();
            assigned_names(stmts, &mut own);
            own
        };
        let (own_then, own_other) = (in_branch(then), in_branch(other));
        for name in names.iter().filter(|name| env.get(name).is_none()) {
            let (what, advice) = ("assigned in one branch of an `if` only", "assign it in the other branch, too");
            after.set(name.clone(), Value::Unusable { what: what.into(), advice: advice.into() });
        }
        names.retain(|name| env.get(name).is_some() || (own_then.contains(name) && own_other.contains(name)));
        let spans = (value_span(then, span), value_span(other, span));
        let was_merging = std::mem::replace(&mut self.is_merging, true);
        let merged = self.choose_between(
            truth,
            spans,
            span,
            |this| {
                this.statements(then, env.clone(), &mut |_, env| {
                    values_of(&env, &names).map_or(Value::Poison, Value::Tuple)
                })
            },
            |this| {
                this.statements(other, env.clone(), &mut |_, env| {
                    values_of(&env, &names).map_or(Value::Poison, Value::Tuple)
                })
            },
        );
        self.is_merging = was_merging;
        match merged {
            Value::Tuple(values) => {
                names.into_iter().zip(values).for_each(|(name, value)| after.set(name, value));
            }
            _ => names.into_iter().for_each(|name| after.set(name, Value::Poison)),
        }
        after
    }

    /// Binds names to a value and its parts.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: Value, env: &mut Env, span: Span) {
        match (pattern, value) {
            (Pattern::Name(name, _), value) => {
                if let Value::Seq(seq) = &value {
                    let mut arrays = Vec::new();
                    seq.element.arrays(&mut arrays);
                    for array in arrays {
                        self.program.names.entry(array).or_insert_with(|| name.clone());
                    }
                }
                env.set(name.clone(), value);
            }
            (Pattern::Tuple(parts, _), Value::Tuple(values)) if parts.len() == values.len() => {
                parts.iter().zip(values).for_each(|(part, value)| self.bind(part, value, env, span));
            }
            (Pattern::Tuple(parts, at), value) => {
                if !value.is_poison() {
                    let n = parts.len();
                    let text =
                        format!("{} is taken apart into {n} names; expected a tuple of {n}", self.describe(&value));
                    let span = if at.is_known() { *at } else { span };
                    self.plain_problem(Code::Unpack, span, text);
                }
                parts.iter().for_each(|part| self.bind(part, Value::Poison, env, span));
            }
        }
    }

    /// Closes and drops a block, for what was elaborated only to find its type.
    pub(super) fn tentatively<T>(&mut self, at: EmitAt, what: impl FnOnce(&mut Self) -> T) -> T {
        self.open_block(at);
        let found = what(self);
        self.close_block(Vec::new());
        found
    }
}

/// Where the value of a branch is.
fn value_span(stmts: &[Stmt], otherwise: Span) -> Span {
    let place = |stmt: &Stmt| match stmt {
        Stmt::Return(Some(value), _) => Some(value.span),
        Stmt::Assign(_, value, _) => Some(value.span),
        _ => None,
    };
    let returned = stmts.iter().find(|stmt| matches!(stmt, Stmt::Return(..)));
    returned.or(stmts.last()).and_then(place).unwrap_or(otherwise)
}

fn always_returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Return(..) => true,
        Stmt::If(_, then, other, _) => always_returns(then) && always_returns(other),
        _ => false,
    })
}

fn may_return(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Return(..) => true,
        Stmt::If(_, then, other, _) => may_return(then) || may_return(other),
        _ => false,
    })
}

/// Adds the names of a pattern that are not there yet.
pub(super) fn pattern_names(pattern: &Pattern, names: &mut Vec<Arc<str>>) {
    match pattern {
        Pattern::Name(name, _) if !names.contains(name) => names.push(name.clone()),
        Pattern::Name(..) => {}
        Pattern::Tuple(parts, _) => parts.iter().for_each(|part| pattern_names(part, names)),
    }
}

pub(super) fn assigned_names(stmts: &[Stmt], names: &mut Vec<Arc<str>>) {
    for stmt in stmts {
        match stmt {
            Stmt::Assign(pattern, ..) => pattern_names(pattern, names),
            Stmt::If(_, then, other, _) => {
                assigned_names(then, names);
                assigned_names(other, names);
            }
            _ => {}
        }
    }
}
