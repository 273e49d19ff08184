//! Prints programs.
//!
//! Variables keep their numbers: `i` and the number for an index of a space, `v` and the number for others. What a pass
//! did not change therefore prints as before.

use super::number::{print_constant, print_dtype, print_type};
use super::sexp::{Layout, quote};
use crate::ir::{Atom, Axis, Block, Bounds, Direction, Exp, Lambda, Program, Stmt, Var};
use std::collections::HashSet;

/// The text of a program, with a newline at its end.
pub fn print_program(program: &Program) -> String {
    let mut indices = HashSet::new();
    collect_indices(&program.body, &mut indices);
    let printer = Printer { program, indices };
    let params = program.params.iter().map(|param| printer.binding(*param)).collect();
    let items = vec![Layout::word("program"), Layout::line(params)];
    let mut text = String::new();
    printer.with_block(items, &program.body).write(0, &mut text);
    text.push('\n');
    text
}

fn collect_indices(block: &Block, indices: &mut HashSet<Var>) {
    for stmt in &block.stmts {
        indices.extend(stmt.exp.space().iter().map(|axis| axis.index));
        stmt.exp.blocks().into_iter().for_each(|inner| collect_indices(inner, indices));
    }
}

struct Printer<'a> {
    program: &'a Program,
    indices: HashSet<Var>,
}

impl Printer<'_> {
    fn var(&self, var: Var) -> Layout {
        let letter = if self.indices.contains(&var) { 'i' } else { 'v' };
        Layout::word(format!("{letter}{}", var.0))
    }

    fn vars(&self, vars: &[Var]) -> Vec<Layout> {
        vars.iter().map(|var| self.var(*var)).collect()
    }

    fn atom(&self, atom: Atom) -> Layout {
        match atom {
            Atom::Var(var) => self.var(var),
            Atom::Const(number, dtype) => Layout::word(print_constant(number, dtype)),
        }
    }

    fn atoms<'a>(&'a self, atoms: &'a [Atom]) -> impl Iterator<Item = Layout> + 'a {
        atoms.iter().map(|atom| self.atom(*atom))
    }

    fn type_of(&self, var: Var) -> Layout {
        Layout::word(print_type(self.program.var_type(var)))
    }

    fn binding(&self, var: Var) -> Layout {
        Layout::line(vec![self.var(var), self.type_of(var)])
    }

    fn space(&self, space: &[Axis]) -> Layout {
        let axis = |axis: &Axis| Layout::line(vec![self.var(axis.index), self.atom(axis.length)]);
        Layout::line(space.iter().map(axis).collect())
    }

    /// `(head ATOM...)` on one line.
    fn words(&self, head: &str, atoms: &[Atom]) -> Layout {
        Layout::line(std::iter::once(Layout::word(head)).chain(self.atoms(atoms)).collect())
    }

    /// A list of a header and a block.
    fn with_block(&self, mut items: Vec<Layout>, block: &Block) -> Layout {
        let header = items.len();
        items.extend(block.stmts.iter().map(|stmt| self.statement(stmt)));
        items.push(self.words("results", &block.results));
        Layout::List(items, header)
    }

    fn clause(&self, head: &str, block: &Block) -> Layout {
        self.with_block(vec![Layout::word(head)], block)
    }

    fn lambda(&self, head: &str, lambda: &Lambda) -> Layout {
        let params = lambda.params.iter().map(|param| self.binding(*param)).collect();
        self.with_block(vec![Layout::word(head), Layout::line(params)], &lambda.body)
    }

    fn statement(&self, stmt: &Stmt) -> Layout {
        let mut items = vec![Layout::word("let")];
        items.extend(stmt.outs.iter().map(|out| self.binding(*out)));
        let header = items.len();
        items.push(self.expression(&stmt.exp));
        Layout::List(items, header)
    }

    /// An expression that has no blocks, on one line.
    fn flat(&self, head: &str, flag: Option<&str>, operands: impl IntoIterator<Item = Layout>) -> Layout {
        Layout::line(head_and_flag(head, flag).into_iter().chain(operands).collect())
    }

    fn expression(&self, exp: &Exp) -> Layout {
        match exp {
            Exp::Prim { op, compute, args } => {
                let dtype = Layout::word(print_dtype(*compute));
                self.flat(op.name(), None, std::iter::once(dtype).chain(self.atoms(args)))
            }
            Exp::Cast { arg, to } => self.flat("cast", None, [Layout::word(print_dtype(*to)), self.atom(*arg)]),
            Exp::Read { array, index, bounds } => self.element("read", *array, index, *bounds),
            Exp::Row { array, index, bounds } => self.element("row", *array, index, *bounds),
            Exp::Length { array, axis } => {
                self.flat("length", None, [self.var(*array), Layout::word(axis.to_string())])
            }
            Exp::Slice { array, start, length } => {
                self.flat("slice", None, [self.var(*array), self.atom(*start), self.atom(*length)])
            }
            Exp::Segment { offsets, at } => self.flat("segment", None, [self.var(*offsets), self.atom(*at)]),
            Exp::Clamp { index, length } => self.flat("clamp", None, [self.atom(*index), self.atom(*length)]),
            Exp::Same { lengths, names } => {
                // A message stands at the first length.
                let names = names.iter().cloned().chain(std::iter::repeat(String::new()));
                let pair = |(length, name): (&Atom, String)| {
                    Layout::line(vec![self.atom(*length), Layout::word(quote(&name))])
                };
                self.flat("same", None, lengths.iter().zip(names).map(pair))
            }
            Exp::If { cond, then, other } => {
                let items =
                    vec![Layout::word("if"), self.atom(*cond), self.clause("then", then), self.clause("else", other)];
                Layout::List(items, 2)
            }
            Exp::Loop { params, init, cond, body } => {
                let state = params.iter().zip(init).map(|(param, value)| {
                    Layout::line(vec![self.var(*param), self.type_of(*param), self.atom(*value)])
                });
                let state = Layout::line(state.collect());
                let items = vec![Layout::word("loop"), state, self.clause("while", cond), self.clause("do", body)];
                Layout::List(items, 2)
            }
            Exp::Gen { space, body } => self.with_block(vec![Layout::word("gen"), self.space(space)], body),
            Exp::Filter { space, body } => self.with_block(vec![Layout::word("filter"), self.space(space)], body),
            Exp::Rows { space, offsets, body } => {
                self.with_block(vec![Layout::word("rows"), self.space(space), self.var(*offsets)], body)
            }
            Exp::Scatter { targets, space, body, bounds } => {
                let mut items = head_and_flag("scatter", checked(*bounds));
                items.extend([Layout::line(self.vars(targets)), self.space(space)]);
                self.with_block(items, body)
            }
            Exp::Reduce { space, body, op, init, commutative } => {
                let flag = commutative.then_some("commutative");
                self.combination(head_and_flag("reduce", flag), space, body, op, Some(("init", init)))
            }
            Exp::Scan { space, body, op, prefix, direction, finish, targets } => {
                let flag = (*direction == Direction::Backward).then_some("backward");
                let prefix = prefix.as_deref().map(|prefix| ("prefix", prefix));
                let mut scan = self.combination(head_and_flag("scan", flag), space, body, op, prefix);
                if let (Some(finish), Layout::List(items, _)) = (finish, &mut scan) {
                    items.push(self.lambda("finish", finish));
                    if !targets.is_empty() {
                        items.push(Layout::line([vec![Layout::word("targets")], self.vars(targets)].concat()));
                    }
                }
                scan
            }
            Exp::Sort { arrays, less } => {
                let arrays = Layout::line(self.vars(arrays));
                Layout::List(vec![Layout::word("sort"), arrays, self.lambda("less", less)], 2)
            }
        }
    }

    fn element(&self, head: &str, array: Var, index: &[Atom], bounds: Bounds) -> Layout {
        self.flat(head, checked(bounds), std::iter::once(self.var(array)).chain(self.atoms(index)))
    }

    fn combination(
        &self,
        mut items: Vec<Layout>,
        space: &[Axis],
        body: &Block,
        op: &Lambda,
        first: Option<(&str, &[Atom])>,
    ) -> Layout {
        items.push(self.space(space));
        let header = items.len();
        items.extend([self.clause("body", body), self.lambda("op", op)]);
        items.extend(first.map(|(head, atoms)| self.words(head, atoms)));
        Layout::List(items, header)
    }
}

fn checked(bounds: Bounds) -> Option<&'static str> {
    (bounds == Bounds::Checked).then_some("checked")
}

fn head_and_flag(head: &str, flag: Option<&str>) -> Vec<Layout> {
    std::iter::once(head).chain(flag).map(Layout::word).collect()
}
