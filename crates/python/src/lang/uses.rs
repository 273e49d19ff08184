//! The names that a function takes from outside, with the attributes that it uses of them.

use rtcg::lang::surface::{Expr, ExprKind, Function, Pattern, Stmt};
use std::collections::HashSet;
use std::sync::Arc;

/// A name that is used, and the attributes of it that are used.
pub(super) struct Use {
    pub(super) name: Arc<str>,
    pub(super) attributes: Vec<Use>,
}

/// What a function and those in it use and do not define, in the order of the text.
pub(super) fn of_function(function: &Function) -> Vec<Use> {
    let mut uses = Uses::default();
    uses.function(function);
    uses.found
}

#[derive(Default)]
struct Uses {
    scopes: Vec<HashSet<Arc<str>>>,
    found: Vec<Use>,
}

impl Uses {
    /// A name of a function is defined in all of it, wherever it is assigned.
    fn function(&mut self, function: &Function) {
        let mut scope = HashSet::new();
        function.params.iter().for_each(|pattern| add_pattern(pattern, &mut scope));
        add_assigned(&function.body, &mut scope);
        self.scopes.push(scope);
        self.body(&function.body);
        self.scopes.pop();
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Assign(_, value, _) | Stmt::Return(Some(value), _) => self.expr(value),
                Stmt::If(condition, then, other, _) => {
                    self.expr(condition);
                    self.body(then);
                    self.body(other);
                }
                Stmt::Def(function) => self.function(function),
                Stmt::Return(None, _) | Stmt::Nothing | Stmt::Unsupported(..) => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Attribute(..) => self.path(expr),
            ExprKind::Number(_) | ExprKind::Unsupported(_) => {}
            ExprKind::Call(function, arguments) => {
                self.expr(function);
                self.exprs(arguments);
            }
            ExprKind::Binary(_, left, right) | ExprKind::Subscript(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Compare(first, others) => {
                self.expr(first);
                others.iter().for_each(|(_, operand)| self.expr(operand));
            }
            ExprKind::Logical { operands: exprs, .. } | ExprKind::Tuple(exprs) | ExprKind::List(exprs) => {
                self.exprs(exprs);
            }
            ExprKind::IfElse(condition, then, other) => [condition, then, other].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Lambda(function) => self.function(function),
            ExprKind::Comprehension { element, generators } => {
                // As in Python, the first sequence belongs to the scope around the comprehension.
                let Some((first, others)) = generators.split_first() else { return };
                self.expr(&first.sequence);
                let mut scope = HashSet::new();
                generators.iter().for_each(|generator| add_pattern(&generator.pattern, &mut scope));
                self.scopes.push(scope);
                self.exprs(&first.conditions);
                for generator in others {
                    self.expr(&generator.sequence);
                    self.exprs(&generator.conditions);
                }
                self.expr(element);
                self.scopes.pop();
            }
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    /// A name, or attributes of one.
    fn path(&mut self, expr: &Expr) {
        let (mut attributes, mut root) = (Vec::new(), expr);
        while let ExprKind::Attribute(value, name) = &root.kind {
            attributes.push(name);
            root = value;
        }
        let ExprKind::Name(name) = &root.kind else { return self.expr(root) };
        if self.scopes.iter().any(|scope| scope.contains(name)) {
            return;
        }
        let mut uses = &mut self.found;
        for name in std::iter::once(name).chain(attributes.into_iter().rev()) {
            let at = uses.iter().position(|known| known.name == *name).unwrap_or_else(|| {
                uses.push(Use { name: name.clone(), attributes: Vec::new() });
                uses.len() - 1
            });
            uses = &mut uses[at].attributes;
        }
    }
}

fn add_assigned(body: &[Stmt], scope: &mut HashSet<Arc<str>>) {
    for stmt in body {
        match stmt {
            Stmt::Assign(pattern, ..) => add_pattern(pattern, scope),
            Stmt::Def(function) => {
                scope.insert(function.name.clone());
            }
            Stmt::If(_, then, other, _) => [then, other].into_iter().for_each(|body| add_assigned(body, scope)),
            Stmt::Return(..) | Stmt::Nothing | Stmt::Unsupported(..) => {}
        }
    }
}

fn add_pattern(pattern: &Pattern, scope: &mut HashSet<Arc<str>>) {
    match pattern {
        Pattern::Name(name, _) => {
            scope.insert(name.clone());
        }
        Pattern::Tuple(patterns, _) => patterns.iter().for_each(|pattern| add_pattern(pattern, scope)),
    }
}
