//! Tail recursion becomes a loop.
//!
//! The body of a function that calls itself last is a tree of conditions with two kinds of leaves: it is *done* with a
//! value, or goes on *again* with other arguments. It is followed three times: for whether it goes on, for the next
//! arguments, and, after the loop, for the value. Where the condition needs work on sequences, that work would be done
//! three times: the loop then carries the value along with the arguments.

use super::types::Type;
use super::value::{Closure, Env, Scalar, Value};
use super::{Elaborator, EmitAt};
use crate::ir::{Atom, Block, Exp, Number};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{Expr, ExprKind, Function, Outside, Stmt};
use std::rc::Rc;

/// What the leaves of a body are followed for.
#[derive(Debug, Clone)]
pub(super) enum Follow {
    /// Whether it goes on.
    Condition,
    /// The next arguments.
    Arguments,
    /// The value.
    Value,
    /// All of them: a flag, the arguments, and the value, of which there are some already.
    All { arguments: Vec<Value>, value: Value },
}

/// A recursive function whose body is followed.
#[derive(Debug)]
pub(super) struct TailFrame {
    function: *const Function,
    /// How many calls there are in its body.
    depth: usize,
    follow: Follow,
}

/// Which leaves statements have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Leaves {
    done: bool,
    again: bool,
}

/// The most times that the types of arguments may change.
const MAX_TYPE_STEPS: usize = 8;

impl<'a> Elaborator<'a> {
    /// Whether a function mentions itself.
    pub(super) fn is_recursive(&mut self, closure: &Rc<Closure>) -> bool {
        let function = &raw const *closure.function;
        if let Some(known) = self.recursive.get(&function) {
            return *known;
        }
        let is_self = |name: &str| match closure.index {
            Some(index) => closure
                .function
                .outside
                .iter()
                .any(|(known, what)| &**known == name && *what == Outside::Function(index)),
            None => name == &*closure.function.name,
        };
        let found = mentions(&closure.function.body, &is_self);
        self.recursive.insert(function, found);
        found
    }

    /// A call of a recursive function that is being followed: not a tail call, or it would have been seen as one.
    pub(super) fn recursive_call(&mut self, closure: &Rc<Closure>, _arguments: &[Value], span: Span) -> Option<Value> {
        let function = &raw const *closure.function;
        if !self.calls.iter().any(|call| call.function == function) || !self.is_recursive(closure) {
            return None;
        }
        let name = &closure.function.name;
        let text = format!("`{name}` calls itself, and the call is not the last step");
        let around = self.returned.last().filter(|at| **at != span && at.file == span.file && at.line <= span.line);
        let around = around.map(|at| (*at, "the result of the call is used here".to_owned()));
        let advice = "pass what is computed so far as one more argument, and return the call itself; or write `reduce` or \
                      `scan`";
        Some(self.problem_with(Code::Recursion, span, text, around.into_iter().collect(), advice))
    }

    /// Whether only the condition of a loop is of interest.
    pub(super) fn follows_condition(&self) -> bool {
        self.tails.iter().any(|frame| matches!(frame.follow, Follow::Condition))
    }

    fn frame(&self) -> Option<&TailFrame> {
        self.tails.last().filter(|frame| frame.depth == self.calls.len())
    }

    /// The arguments if an expression calls the function that is followed.
    fn tail_call<'e>(&mut self, expr: &'e Expr, env: &Env) -> Option<&'e [Expr]> {
        let function = self.frame()?.function;
        let ExprKind::Call(callee, arguments) = &expr.kind else { return None };
        let ExprKind::Name(name) = &callee.kind else { return None };
        match env.get(name) {
            Some(Value::Closure(closure)) if &raw const *closure.function == function => Some(arguments),
            _ => None,
        }
    }

    /// The value of an expression that a function returns.
    pub(super) fn tail_expression(&mut self, expr: &Expr, env: &Env) -> Value {
        let Some(frame) = self.frame() else { return self.expression(expr, env) };
        let follow = frame.follow.clone();
        if let Some(arguments) = self.tail_call(expr, env) {
            return match follow {
                Follow::Condition => Scalar::python(Number::Bool(true)).into(),
                Follow::Value => Value::Poison,
                Follow::Arguments => Value::Tuple(self.next_arguments(arguments, env)),
                Follow::All { value, .. } => {
                    let next = self.next_arguments(arguments, env);
                    all_of(true, next, value)
                }
            };
        }
        if let ExprKind::IfElse(cond, then, other) = &expr.kind
            && (self.has_tail_call(then, env) || self.has_tail_call(other, env))
        {
            let value = self.expression(cond, env);
            let Some(truth) = self.truth(&value, cond.span) else { return Value::Poison };
            let leaves = (self.leaves_of(then, env), self.leaves_of(other, env));
            if let Some(first) = self.only_branch(leaves.0, leaves.1) {
                return self.tail_expression(if first { then } else { other }, env);
            }
            return self.choose(
                truth,
                expr.span,
                |this| this.tail_expression(then, env),
                |this| this.tail_expression(other, env),
            );
        }
        match follow {
            Follow::Condition => Scalar::python(Number::Bool(false)).into(),
            Follow::Arguments => Value::Poison,
            Follow::Value => self.expression(expr, env),
            Follow::All { arguments, .. } => {
                let value = self.expression(expr, env);
                all_of(false, arguments, value)
            }
        }
    }

    /// The arguments of a call; functions among them are no data, and stay what they are.
    fn next_arguments(&mut self, arguments: &[Expr], env: &Env) -> Vec<Value> {
        let values: Vec<Value> = arguments.iter().map(|argument| self.expression(argument, env)).collect();
        values.into_iter().map(|value| if self.type_of(&value).is_some() { value } else { Value::Poison }).collect()
    }

    fn has_tail_call(&mut self, expr: &Expr, env: &Env) -> bool {
        self.leaves_of(expr, env).again
    }

    fn leaves_of(&mut self, expr: &Expr, env: &Env) -> Leaves {
        if self.tail_call(expr, env).is_some() {
            return Leaves { done: false, again: true };
        }
        match &expr.kind {
            ExprKind::IfElse(_, then, other) => {
                let (a, b) = (self.leaves_of(then, env), self.leaves_of(other, env));
                Leaves { done: a.done || b.done, again: a.again || b.again }
            }
            _ => Leaves { done: true, again: false },
        }
    }

    fn leaves_of_statements(&mut self, stmts: &[Stmt], after: Leaves, env: &Env) -> Leaves {
        for (at, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Return(Some(expr), _) => return self.leaves_of(expr, env),
                Stmt::Return(None, _) => return Leaves { done: true, again: false },
                Stmt::If(_, then, other, _) => {
                    let rest = self.leaves_of_statements(&stmts[at + 1..], after, env);
                    let (a, b) =
                        (self.leaves_of_statements(then, rest, env), self.leaves_of_statements(other, rest, env));
                    return Leaves { done: a.done || b.done, again: a.again || b.again };
                }
                _ => {}
            }
        }
        after
    }

    /// Which branch is followed if only one has leaves of interest: `true` for the first.
    fn only_branch(&self, first: Leaves, second: Leaves) -> Option<bool> {
        let matters = |leaves: Leaves| match self.frame().map(|frame| &frame.follow) {
            Some(Follow::Arguments) => leaves.again,
            Some(Follow::Value) => leaves.done,
            _ => true,
        };
        match (matters(first), matters(second)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// As [`Elaborator::only_branch`], for an `if` with what comes after it.
    pub(super) fn tail_choice(&mut self, then: &[Stmt], other: &[Stmt], after: &[Stmt], env: &Env) -> Option<bool> {
        self.frame()?;
        let rest = self.leaves_of_statements(after, Leaves { done: true, again: false }, env);
        let first = self.leaves_of_statements(then, rest, env);
        let second = self.leaves_of_statements(other, rest, env);
        self.only_branch(first, second)
    }

    /// Follows the body with arguments.
    fn follow(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, follow: Follow, span: Span) -> Value {
        let Some(env) = self.enter(closure, arguments, span) else { return Value::Poison };
        let depth = self.calls.len();
        self.tails.push(TailFrame { function: &raw const *closure.function, depth, follow });
        let found = self.run_body(closure, env);
        self.tails.pop();
        self.calls.pop();
        found
    }

    /// The value of a call of a function that calls itself last.
    pub(super) fn tail_loop(&mut self, closure: &Rc<Closure>, arguments: Vec<Value>, span: Span) -> Value {
        if arguments.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        let Some(plan) = self.plan_loop(closure, &arguments, span) else { return Value::Poison };
        // Whether it goes on.
        self.open_block(EmitAt::Repeat);
        let current = self.loop_arguments(&plan, &arguments, span);
        let goes_on = self.follow(closure, current.clone(), Follow::Condition, span);
        let Value::Scalar(goes_on) = goes_on else {
            self.close_block(Vec::new());
            return Value::Poison;
        };
        if let Some(known) = goes_on.constant() {
            self.close_block(Vec::new());
            if known == Number::Bool(false) {
                return self.follow(closure, arguments, Follow::Value, span);
            }
            let name = &closure.function.name;
            let text = format!("`{name}` calls itself on every path, without an end");
            return self.problem(Code::Recursion, self.call_in(closure), text, "return a value on some path");
        }
        let cond = self.close_block(vec![goes_on.atom]);
        if crate::simplify::needs_work_on_arrays(&cond) {
            return self.loop_with_value(closure, &plan, &arguments, span);
        }
        // The next arguments.
        self.open_block(EmitAt::Repeat);
        let current = self.placed(&plan, &current, span);
        let next = self.follow(closure, current.clone(), Follow::Arguments, span);
        let next = self.changing_parts(&plan, &next, span);
        let body = self.close_with(&next);
        if next.is_poison() {
            return Value::Poison;
        }
        let finals = self.emit_loop(&plan, &arguments, &current, cond, body, span);
        let finals = self.placed(&plan, &finals, span);
        self.follow(closure, finals, Follow::Value, span)
    }

    /// The types of the arguments that change; the others stay what they are.
    fn plan_loop(&mut self, closure: &Rc<Closure>, arguments: &[Value], span: Span) -> Option<LoopPlan> {
        let mut plan = LoopPlan {
            types: arguments.iter().map(|argument| self.type_of(argument)).collect(),
            lengths: arguments.iter().map(|argument| self.lengths_of(argument, span)).collect(),
        };
        for _ in 0..MAX_TYPE_STEPS {
            let (next, current) = self.tentatively(EmitAt::Repeat, |this| {
                let current = this.loop_arguments(&plan, arguments, span);
                let next = this.follow(closure, current.clone(), Follow::Arguments, span);
                let types = match &next {
                    Value::Tuple(next) => Some(next.iter().map(|value| this.type_of(value)).collect::<Vec<_>>()),
                    _ => None,
                };
                let lengths = match &next {
                    Value::Tuple(next) => next.iter().map(|value| this.lengths_of(value, span)).collect(),
                    _ => Vec::new(),
                };
                ((next, types), (current, lengths))
            });
            let ((Value::Tuple(values), Some(types)), (current, lengths)) = (next, current) else {
                self.refuse_recursion(closure, arguments, span);
                return None;
            };
            if values.len() != arguments.len() {
                let (name, n) = (&closure.function.name, super::calls::n_arguments(arguments.len()));
                let text = format!("`{name}` takes {n}; it calls itself with {}", values.len());
                let at = self.call_in(closure);
                let related = vec![(closure.function.span, "defined here".to_owned())];
                self.problem_with(Code::Arity, at, text, related, "");
                return None;
            }
            let mut is_stable = plan.keep_lengths(&lengths);
            for (at, (value, ty)) in values.iter().zip(types).enumerate() {
                let Some(known) = plan.types[at].clone() else { continue };
                if atoms_of(value) == atoms_of(&current[at])
                    && atoms_of(value).iter().all(|atom| atom.as_var().is_some())
                {
                    continue;
                }
                let Some(ty) = ty else {
                    let text =
                        format!("an argument of `{}` becomes a function when it calls itself", closure.function.name);
                    let at = self.call_in(closure);
                    self.plain_problem(Code::Repeat, at, text);
                    return None;
                };
                let Some(joined) = known.join(&ty) else {
                    let text = format!(
                        "argument {} of `{}` is {known} in the first call and {ty} when it calls itself",
                        at + 1,
                        closure.function.name
                    );
                    let at = self.call_in(closure);
                    self.problem(Code::Repeat, at, text, "each argument must keep its type");
                    return None;
                };
                if joined != known {
                    is_stable = false;
                    plan.types[at] = Some(joined);
                }
            }
            if is_stable {
                // What is handed on as it is needs no variable.
                for (at, value) in values.iter().enumerate() {
                    let atoms = atoms_of(value);
                    let is_same = atoms == atoms_of(&current[at]) && atoms.iter().all(|atom| atom.as_var().is_some());
                    let was_converted = plan.types[at] != self.type_of(&arguments[at]);
                    if is_same && !was_converted {
                        plan.types[at] = None;
                    }
                }
                return Some(plan);
            }
        }
        let text = format!("the types of the arguments of `{}` change whenever it calls itself", closure.function.name);
        self.problem(Code::Repeat, self.call_in(closure), text, "each argument must keep its type");
        None
    }

    /// Says what is wrong with a function that mentions itself, where no call of it is a last step.
    fn refuse_recursion(&mut self, closure: &Rc<Closure>, arguments: &[Value], span: Span) {
        if !self.problems.is_empty() {
            return;
        }
        self.open_block(EmitAt::Repeat);
        self.follow(closure, arguments.to_vec(), Follow::Value, span);
        self.close_block(Vec::new());
        if self.problems.is_empty() {
            let text = format!("`{}` uses itself, but not as its last step", closure.function.name);
            let advice = "return the call itself, with what is computed so far as an argument";
            self.problem(Code::Recursion, closure.function.span, text, advice);
        }
    }

    /// Where a function calls itself.
    fn call_in(&self, closure: &Closure) -> Span {
        let name = &closure.function.name;
        let function = &closure.function;
        let is_self = |called: &str| match closure.index {
            Some(index) => {
                function.outside.iter().any(|(known, what)| &**known == called && *what == Outside::Function(index))
            }
            None => called == &**name,
        };
        call_in(&function.body, &is_self).unwrap_or(function.span)
    }

    /// Fresh variables for the arguments that change, in the open block.
    fn loop_arguments(&mut self, plan: &LoopPlan, arguments: &[Value], span: Span) -> Vec<Value> {
        let types = plan.types.clone();
        let fresh: Vec<Value> = types
            .iter()
            .zip(arguments)
            .map(|(ty, argument)| ty.as_ref().map_or_else(|| argument.clone(), |ty| self.fresh(ty, span)))
            .collect();
        self.placed(plan, &fresh, span)
    }

    /// Variables of a loop in a block of it: their lengths are those that stay, or found there.
    fn placed(&mut self, plan: &LoopPlan, values: &[Value], span: Span) -> Vec<Value> {
        values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                if plan.types[at].is_none() {
                    return value.clone();
                }
                let lengths = plan.lengths.get(at).cloned().unwrap_or_default();
                for (array, lengths) in atoms_of(value).into_iter().filter_map(Atom::as_var).zip(lengths) {
                    for (axis, length) in lengths.into_iter().enumerate() {
                        if let Some(length) = length {
                            self.lengths.insert((array, axis), length);
                        }
                    }
                }
                self.measured(value, span)
            })
            .collect()
    }

    /// A value whose sequences have their lengths as they are known here.
    fn measured(&mut self, value: &Value, span: Span) -> Value {
        match value {
            Value::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.measured(part, span)).collect()),
            Value::Seq(seq) => self.seq_of(seq.element.clone(), span).into(),
            other => other.clone(),
        }
    }

    /// For each scalar and array of a value the lengths of its axes.
    fn lengths_of(&mut self, value: &Value, span: Span) -> Vec<Vec<Option<Atom>>> {
        let atoms = atoms_of(value);
        let one = |this: &mut Self, atom: Atom| -> Vec<Option<Atom>> {
            let Some(var) = atom.as_var() else { return Vec::new() };
            let ndim = this.program.var_type(var).ndim;
            let length = |axis| {
                let length = this.length(var, axis, span);
                Some(this.earliest(length))
            };
            (0..ndim).map(length).collect()
        };
        atoms.into_iter().map(|atom| one(self, atom)).collect()
    }

    /// The parts of the next arguments that change, converted.
    fn changing_parts(&mut self, plan: &LoopPlan, next: &Value, span: Span) -> Value {
        let Value::Tuple(values) = next else { return Value::Poison };
        let types = plan.types.clone();
        let pairs = values.iter().zip(&types).filter_map(|(value, ty)| ty.as_ref().map(|ty| (value, ty)));
        Value::Tuple(pairs.map(|(value, ty)| self.convert(value, ty, span)).collect())
    }

    /// The loop; returns all arguments after it.
    fn emit_loop(
        &mut self,
        plan: &LoopPlan,
        arguments: &[Value],
        current: &[Value],
        cond: Block,
        body: Block,
        span: Span,
    ) -> Vec<Value> {
        let init = Value::Tuple(arguments.to_vec());
        let init = self.changing_parts(plan, &init, span);
        let changing: Vec<Value> =
            current.iter().zip(&plan.types).filter(|(_, ty)| ty.is_some()).map(|(value, _)| value.clone()).collect();
        let params = atoms_of(&Value::Tuple(changing)).into_iter().filter_map(Atom::as_var).collect();
        let types: Vec<Type> = plan.types.iter().flatten().cloned().collect();
        let leaves = super::arguments_of_type(&Type::Tuple(types.clone())).leaves();
        let outs = self.emit(Exp::Loop { params, init: atoms_of(&init), cond, body }, &leaves, span);
        let mut atoms = outs.into_iter().map(Atom::Var);
        let plan_types = plan.types.clone();
        plan_types
            .iter()
            .zip(arguments)
            .map(|(ty, argument)| match ty {
                Some(ty) => self.value_of(ty, &mut atoms, span),
                None => argument.clone(),
            })
            .collect::<Vec<_>>()
    }

    /// A loop that carries the value, for a condition that is found on the way.
    fn loop_with_value(&mut self, closure: &Rc<Closure>, plan: &LoopPlan, arguments: &[Value], span: Span) -> Value {
        let found = self.tentatively(EmitAt::Repeat, |this| {
            let current = this.loop_arguments(plan, arguments, span);
            let value = this.follow(closure, current, Follow::Value, span);
            this.type_of(&value)
        });
        let Some(value_type) = found.filter(|found| *found != Type::Any) else { return Value::Poison };
        let start = self.placeholder(&value_type, span);
        let flag_type = Type::Scalar(super::value::Leaf { dtype: rtcg_hal::DType::Bool, weak: false });
        let mut types = vec![Some(flag_type)];
        types.extend(plan.types.iter().cloned());
        types.push(Some(value_type));
        let mut lengths = vec![vec![Vec::new()]];
        lengths.extend(plan.lengths.iter().cloned());
        let all = LoopPlan { types, lengths };
        let mut first = vec![Value::from(Scalar::python(Number::Bool(true)))];
        first.extend(arguments.iter().cloned());
        first.push(start);

        self.open_block(EmitAt::Repeat);
        let current = self.loop_arguments(&all, &first, span);
        let Value::Scalar(flag) = current[0] else { return Value::Poison };
        let cond = self.close_block(vec![flag.atom]);
        self.open_block(EmitAt::Repeat);
        let current = self.placed(&all, &current, span);
        let n = arguments.len();
        let now: Vec<Value> = current[1..=n].to_vec();
        let data = |value: &Value| if self.type_of(value).is_some() { value.clone() } else { Value::Poison };
        let follow = Follow::All { arguments: now.iter().map(data).collect(), value: current[n + 1].clone() };
        let next = self.follow(closure, now, follow, span);
        let next = self.changing_parts(&all, &next, span);
        let body = self.close_with(&next);
        if next.is_poison() {
            return Value::Poison;
        }
        let finals = self.emit_loop(&all, &first, &current, cond, body, span);
        let finals = self.placed(&all, &finals, span);
        finals.last().cloned().unwrap_or(Value::Poison)
    }
}

/// The types of the arguments of a loop; `None` for one that stays.
#[derive(Debug)]
struct LoopPlan {
    types: Vec<Option<Type>>,
    /// For each argument, array and axis the length, if it is that of the first argument in every round.
    lengths: Vec<Vec<Vec<Option<Atom>>>>,
}

impl LoopPlan {
    /// Keeps the lengths that a round does not change; whether those are all.
    fn keep_lengths(&mut self, next: &[Vec<Vec<Option<Atom>>>]) -> bool {
        let mut is_stable = true;
        for (known, next) in self.lengths.iter_mut().zip(next) {
            for (known, next) in known.iter_mut().zip(next) {
                for (axis, length) in known.iter_mut().enumerate() {
                    if length.is_some() && next.get(axis) != Some(length) {
                        *length = None;
                        is_stable = false;
                    }
                }
            }
        }
        is_stable
    }
}

fn all_of(goes_on: bool, arguments: Vec<Value>, value: Value) -> Value {
    let mut all = vec![Value::from(Scalar::python(Number::Bool(goes_on)))];
    all.extend(arguments);
    all.push(value);
    Value::Tuple(all)
}

fn atoms_of(value: &Value) -> Vec<Atom> {
    let mut atoms = Vec::new();
    value.atoms(&mut atoms);
    atoms
}

/// The first value that statements return which is a call of a name, or chooses one.
fn call_in(stmts: &[Stmt], is_it: &dyn Fn(&str) -> bool) -> Option<Span> {
    fn of_expr(expr: &Expr, is_it: &dyn Fn(&str) -> bool) -> Option<Span> {
        match &expr.kind {
            ExprKind::Call(callee, _) => match &callee.kind {
                ExprKind::Name(name) if is_it(name) => Some(expr.span),
                _ => None,
            },
            ExprKind::IfElse(_, then, other) => of_expr(then, is_it).or_else(|| of_expr(other, is_it)),
            _ => None,
        }
    }
    stmts.iter().find_map(|stmt| match stmt {
        Stmt::Return(Some(value), _) => of_expr(value, is_it),
        Stmt::If(_, then, other, _) => call_in(then, is_it).or_else(|| call_in(other, is_it)),
        _ => None,
    })
}

/// Whether statements mention a name.
fn mentions(stmts: &[Stmt], is_it: &dyn Fn(&str) -> bool) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Assign(_, value, _) => expr_mentions(value, is_it),
        Stmt::Return(value, _) => value.as_ref().is_some_and(|value| expr_mentions(value, is_it)),
        Stmt::If(cond, then, other, _) => expr_mentions(cond, is_it) || mentions(then, is_it) || mentions(other, is_it),
        Stmt::Def(function) => mentions(&function.body, is_it),
        Stmt::Nothing | Stmt::Unsupported(..) => false,
    })
}

fn expr_mentions(expr: &Expr, is_it: &dyn Fn(&str) -> bool) -> bool {
    let see = |expr: &Expr| expr_mentions(expr, is_it);
    match &expr.kind {
        ExprKind::Name(name) => is_it(name),
        ExprKind::Number(_) | ExprKind::Unsupported(_) => false,
        ExprKind::Attribute(of, _) | ExprKind::Unary(_, of) => see(of),
        ExprKind::Call(function, arguments) => see(function) || arguments.iter().any(see),
        ExprKind::Binary(_, a, b) | ExprKind::Subscript(a, b) => see(a) || see(b),
        ExprKind::Compare(first, rest) => see(first) || rest.iter().any(|(_, expr)| see(expr)),
        ExprKind::Logical { operands, .. } | ExprKind::Tuple(operands) | ExprKind::List(operands) => {
            operands.iter().any(see)
        }
        ExprKind::IfElse(a, b, c) => see(a) || see(b) || see(c),
        ExprKind::Lambda(function) => mentions(&function.body, is_it),
        ExprKind::Comprehension { element, generators } => {
            see(element) || generators.iter().any(|part| see(&part.sequence) || part.conditions.iter().any(see))
        }
    }
}
