//! What a scheduled program will do, for its reader: kernels in order, what each reads and writes, and why anything is
//! stored.

use crate::ir::{Atom, Block, Exp, Program, Stmt, Var};
use crate::passes::storing_reductions;
use crate::simplify::all_operands;
use crate::span::Files;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The plan of a program after [`crate::passes::schedule`], as text.
pub fn plan(program: &Program, files: &Files) -> String {
    let mut planner = Planner { program, files, n_kernels: 0, makers: HashMap::new(), text: String::new() };
    planner.block(&program.body, 0);
    let n = planner.n_kernels;
    let mut text = format!("{n} kernel{}\n", if n == 1 { "" } else { "s" });
    text.push_str(&planner.text);
    text
}

struct Planner<'p> {
    program: &'p Program,
    files: &'p Files,
    n_kernels: usize,
    /// The kernel that makes each array.
    makers: HashMap<Var, usize>,
    text: String,
}

impl Planner<'_> {
    fn block(&mut self, block: &Block, depth: usize) {
        let pairs = storing_reductions(block);
        for (at, stmt) in block.stmts.iter().enumerate() {
            let indent = "  ".repeat(depth);
            match &stmt.exp {
                Exp::If { then, other, .. } => {
                    let _ = writeln!(self.text, "{indent}if, as the host decides{}:", self.place(stmt));
                    self.block(then, depth + 1);
                    let _ = writeln!(self.text, "{indent}else:");
                    self.block(other, depth + 1);
                }
                Exp::Loop { cond, body, .. } => {
                    let _ = writeln!(self.text, "{indent}loop, as the host decides{}:", self.place(stmt));
                    self.block(cond, depth + 1);
                    self.block(body, depth + 1);
                }
                exp => {
                    let Some(kind) = kind_of(exp) else { continue };
                    self.n_kernels += 1;
                    let number = self.n_kernels;
                    self.makers.extend(stmt.outs.iter().map(|out| (*out, number)));
                    let _ = writeln!(self.text, "{indent}{number}. {kind}{}", self.place(stmt));
                    if let Some((map, ..)) = pairs.iter().find(|(_, reduction, _)| *reduction == at)
                        && let Some(map) = self.makers.get(&block.stmts[*map].outs[0])
                    {
                        let _ = writeln!(self.text, "{indent}   computed by {map}, which stores its elements, on GPUs");
                    }
                    self.reads(stmt, &indent);
                    self.writes(stmt, block, at, &indent);
                }
            }
        }
    }

    fn place(&self, stmt: &Stmt) -> String {
        let span = stmt.span;
        match self.files.line(span.file, span.line) {
            Some(line) => format!(", line {}: {}", span.line, line.trim().trim_end_matches(':')),
            None => String::new(),
        }
    }

    fn name(&self, var: Var) -> String {
        match (self.program.names.get(&var), self.makers.get(&var)) {
            (Some(name), _) => name.to_string(),
            (None, Some(kernel)) => format!("the result of {kernel}"),
            (None, None) => format!("v{}", var.0),
        }
    }

    fn reads(&mut self, stmt: &Stmt, indent: &str) {
        let mut arrays = BTreeSet::new();
        collect_reads(&stmt.exp, &mut arrays);
        if arrays.is_empty() {
            return;
        }
        let all: Vec<String> =
            arrays.iter().map(|var| format!("{} ({})", self.name(*var), self.type_of(*var))).collect();
        let bytes: usize = arrays.iter().map(|var| self.program.var_type(*var).dtype.itemsize()).sum();
        let _ = writeln!(self.text, "{indent}   reads {}: {bytes} bytes for each element", all.join(", "));
    }

    fn writes(&mut self, stmt: &Stmt, block: &Block, at: usize, indent: &str) {
        for out in &stmt.outs {
            let reason = self.reason(*out, block, at);
            let itemsize = self.program.var_type(*out).dtype.itemsize();
            let name = self.program.names.get(out).map_or_else(String::new, |name| format!("{name}, "));
            let _ = writeln!(
                self.text,
                "{indent}   writes {name}{}, {itemsize} bytes for each element, because {reason}",
                self.type_of(*out)
            );
        }
    }

    fn type_of(&self, var: Var) -> String {
        let found = self.program.var_type(var);
        let axes = if found.ndim > 1 { format!(" of {} axes", found.ndim) } else { String::new() };
        format!("{}{axes}", found.dtype.name())
    }

    /// Why an array is stored.
    fn reason(&self, out: Var, block: &Block, at: usize) -> String {
        if block.results.contains(&Atom::Var(out)) {
            let is_program = std::ptr::eq(block, &raw const self.program.body);
            return if is_program { "it is a result" } else { "the next round needs it" }.into();
        }
        let users: Vec<&Stmt> = block.stmts[at + 1..]
            .iter()
            .filter(|stmt| {
                let mut uses = false;
                all_operands(&stmt.exp, &mut |var| uses |= var == out);
                uses
            })
            .collect();
        let is_whole = |stmt: &&Stmt| {
            matches!(stmt.exp, Exp::Sort { .. } | Exp::Scatter { .. } | Exp::Slice { .. } | Exp::Row { .. })
        };
        match users.as_slice() {
            [] => "nothing reads it".into(),
            [one] if matches!(one.exp, Exp::Loop { .. } | Exp::If { .. }) => {
                "a loop or a branch of the host reads it".into()
            }
            [one] if is_whole(one) => "what follows needs all of it".into(),
            [_] => "it is computed by other means than a map, or read more than once for an element".into(),
            many => format!("{} statements read it", many.len()),
        }
    }
}

fn kind_of(exp: &Exp) -> Option<&'static str> {
    Some(match exp {
        Exp::Gen { space, .. } if space.is_empty() => "scalar",
        Exp::Gen { .. } => "map",
        Exp::Reduce { .. } => "reduction",
        Exp::Scan { targets, .. } if !targets.is_empty() => "scan, and scatter into a copy",
        Exp::Scan { .. } => "scan",
        Exp::Filter { .. } => "filter",
        Exp::Rows { .. } => "rows of different lengths",
        Exp::Scatter { .. } => "scatter into a copy",
        Exp::Sort { .. } => "sort",
        _ => return None,
    })
}

fn collect_reads(exp: &Exp, arrays: &mut BTreeSet<Var>) {
    match exp {
        Exp::Read { array, .. } | Exp::Row { array, .. } | Exp::Slice { array, .. } => {
            arrays.insert(*array);
        }
        Exp::Segment { offsets, .. } => {
            arrays.insert(*offsets);
        }
        Exp::Scatter { targets, .. } => arrays.extend(targets),
        Exp::Sort { arrays: sorted, .. } => arrays.extend(sorted),
        _ => {}
    }
    for block in exp.blocks() {
        block.stmts.iter().for_each(|stmt| collect_reads(&stmt.exp, arrays));
    }
}
