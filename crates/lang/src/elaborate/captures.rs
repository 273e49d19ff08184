//! Functions in functions see the values that names have when they are defined; in Python they see those at their call.
//! What would make a difference is refused here: that a function is used after a name that it uses was assigned again.

use super::Elaborator;
use super::statements::{assigned_names, pattern_names};
use crate::problem::{Code, Problem};
use crate::span::Span;
use crate::surface::{Expr, ExprKind, Function, Stmt};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A function that a name stands for, with the names around it that it uses.
#[derive(Clone)]
struct Held {
    holder: Arc<str>,
    uses: BTreeSet<Arc<str>>,
    span: Span,
    /// The first of these names that was assigned since.
    changed: Option<(Arc<str>, Span)>,
}

impl Elaborator<'_> {
    /// Looks for such uses in a function and those in it.
    pub(super) fn check_captures(&mut self, function: &Function) {
        self.check_captures_of(&function.body, &mut Vec::new());
    }

    fn check_captures_of(&mut self, stmts: &[Stmt], held: &mut Vec<Held>) {
        for stmt in stmts {
            match stmt {
                Stmt::Assign(pattern, value, span) => {
                    self.check_captures_in(value, held);
                    let mut names = Vec::new();
                    pattern_names(pattern, &mut names);
                    let mut found = Vec::new();
                    if let Some(holder) = names.first() {
                        functions_of(value, holder, held, &mut found);
                    }
                    note_assignment(&names, *span, held);
                    held.extend(found);
                }
                Stmt::Def(function) => {
                    self.check_captures(function);
                    note_assignment(std::slice::from_ref(&function.name), function.span, held);
                    held.push(Held::new(&function.name, function));
                }
                Stmt::If(condition, then, other, _) => {
                    self.check_captures_in(condition, held);
                    let mut second = held.clone();
                    self.check_captures_of(then, held);
                    self.check_captures_of(other, &mut second);
                    held.extend(second);
                }
                Stmt::Return(Some(value), _) => self.check_captures_in(value, held),
                Stmt::Return(None, _) | Stmt::Nothing | Stmt::Unsupported(..) => {}
            }
        }
    }

    fn check_captures_in(&mut self, expr: &Expr, held: &[Held]) {
        self.check_lambdas_in(expr);
        let mut read = BTreeSet::new();
        names_read_in(expr, &mut read);
        // What a function uses that is used is used too.
        loop {
            let used = held.iter().filter(|one| read.contains(&one.holder));
            let more: Vec<_> = used.flat_map(|one| &one.uses).filter(|name| !read.contains(*name)).cloned().collect();
            if more.is_empty() {
                break;
            }
            read.extend(more);
        }
        for one in held.iter().filter(|one| read.contains(&one.holder)) {
            let Some((name, span)) = &one.changed else { continue };
            let message = format!("`{name}` is assigned after `{}`, which uses it, was defined", one.holder);
            let advice = format!("assign `{name}` before and once, or give the later value another name");
            let related = vec![
                (one.span, format!("`{name}` is used in this function")),
                (expr.span, format!("`{}` is used here", one.holder)),
            ];
            self.problems.add(Problem { code: Code::Name, span: *span, message, advice, related });
        }
    }

    fn check_lambdas_in(&mut self, expr: &Expr) {
        if let ExprKind::Lambda(function) = &expr.kind {
            self.check_captures(function);
        }
        for_each_part(expr, &mut |part| self.check_lambdas_in(part));
    }
}

impl Held {
    fn new(holder: &Arc<str>, function: &Function) -> Self {
        Self { holder: holder.clone(), uses: outer_names(function), span: function.span, changed: None }
    }
}

/// Notes that names are assigned: they stand for other functions, if for any, and functions that use them differ.
fn note_assignment(names: &[Arc<str>], span: Span, held: &mut Vec<Held>) {
    held.retain(|one| !names.contains(&one.holder));
    for one in held {
        if let (None, Some(name)) = (&one.changed, names.iter().find(|name| one.uses.contains(*name))) {
            one.changed = Some((name.clone(), span));
        }
    }
}

/// The functions that a name stands for once an expression is assigned to it.
fn functions_of(value: &Expr, holder: &Arc<str>, held: &[Held], found: &mut Vec<Held>) {
    match &value.kind {
        ExprKind::Lambda(function) => found.push(Held::new(holder, function)),
        ExprKind::Name(name) => {
            let same = held.iter().filter(|one| one.holder == *name);
            found.extend(same.map(|one| Held { holder: holder.clone(), ..one.clone() }));
        }
        ExprKind::Tuple(parts) => parts.iter().for_each(|part| functions_of(part, holder, held, found)),
        ExprKind::IfElse(_, then, other) => {
            [then, other].iter().for_each(|part| functions_of(part, holder, held, found));
        }
        _ => {}
    }
}

/// The names that a function reads and does not bind.
fn outer_names(function: &Function) -> BTreeSet<Arc<str>> {
    let mut read = BTreeSet::new();
    names_read_by(&function.body, &mut read);
    let mut own = Vec::new();
    function.params.iter().for_each(|pattern| pattern_names(pattern, &mut own));
    assigned_names(&function.body, &mut own);
    defined_names(&function.body, &mut own);
    read.retain(|name| !own.contains(name));
    read
}

/// The names of the functions that statements define.
fn defined_names(stmts: &[Stmt], names: &mut Vec<Arc<str>>) {
    for stmt in stmts {
        match stmt {
            Stmt::Def(function) => names.push(function.name.clone()),
            Stmt::If(_, then, other, _) => [then, other].iter().for_each(|part| defined_names(part, names)),
            _ => {}
        }
    }
}

fn names_read_by(stmts: &[Stmt], read: &mut BTreeSet<Arc<str>>) {
    for stmt in stmts {
        match stmt {
            Stmt::Assign(_, value, _) | Stmt::Return(Some(value), _) => names_read_in(value, read),
            Stmt::If(condition, then, other, _) => {
                names_read_in(condition, read);
                names_read_by(then, read);
                names_read_by(other, read);
            }
            Stmt::Def(function) => read.extend(outer_names(function)),
            Stmt::Return(None, _) | Stmt::Nothing | Stmt::Unsupported(..) => {}
        }
    }
}

fn names_read_in(expr: &Expr, read: &mut BTreeSet<Arc<str>>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            read.insert(name.clone());
        }
        ExprKind::Lambda(function) => read.extend(outer_names(function)),
        ExprKind::Comprehension { generators, .. } => {
            let mut own = Vec::new();
            generators.iter().for_each(|generator| pattern_names(&generator.pattern, &mut own));
            let mut all = BTreeSet::new();
            for_each_part(expr, &mut |part| names_read_in(part, &mut all));
            read.extend(all.into_iter().filter(|name| !own.contains(name)));
        }
        _ => for_each_part(expr, &mut |part| names_read_in(part, read)),
    }
}

/// The expressions that one is made of, but for those of a lambda.
fn for_each_part<'e>(expr: &'e Expr, see: &mut dyn FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Lambda(_) | ExprKind::Unsupported(_) => {}
        ExprKind::Attribute(of, _) | ExprKind::Unary(_, of) => see(of),
        ExprKind::Call(function, arguments) => {
            see(function);
            arguments.iter().for_each(see);
        }
        ExprKind::Binary(_, a, b) | ExprKind::Subscript(a, b) => {
            see(a);
            see(b);
        }
        ExprKind::Compare(first, rest) => {
            see(first);
            rest.iter().for_each(|(_, part)| see(part));
        }
        ExprKind::Logical { operands, .. } => operands.iter().for_each(see),
        ExprKind::IfElse(a, b, c) => [a, b, c].into_iter().for_each(|part| see(part)),
        ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().for_each(see),
        ExprKind::Comprehension { element, generators } => {
            see(element);
            for generator in generators {
                see(&generator.sequence);
                generator.conditions.iter().for_each(&mut *see);
            }
        }
    }
}
