//! Makes maps whose elements are arrays maps over more axes.
//!
//! Establishes: the values of a [`Exp::Gen`] outside of elements are scalars.

use super::forward_views::read;
use crate::ir::{Atom, Axis, Block, Exp, Program, Stmt, Var};
use crate::problem::{Code, Problem, Problems};
use crate::rewrite::{Renaming, copy_block, copy_space};
use crate::span::Span;
use rtcg_hal::DType;

pub(super) fn run(program: &mut Program, problems: &mut Problems) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body, problems);
    program.body = body;
}

fn in_block(program: &mut Program, block: &mut Block, problems: &mut Problems) {
    let stmts = std::mem::take(&mut block.stmts);
    for mut stmt in stmts {
        match &mut stmt.exp {
            Exp::If { then, other, .. } => {
                in_block(program, then, problems);
                in_block(program, other, problems);
            }
            Exp::Loop { cond, body, .. } => {
                in_block(program, cond, problems);
                in_block(program, body, problems);
            }
            Exp::Gen { body, .. } if body.results.iter().any(|result| program.ndim(*result) > 0) => {
                split(program, block, &stmt, problems);
                continue;
            }
            _ => {}
        }
        block.stmts.push(stmt);
    }
}

/// One statement for all scalars, and one for each array.
fn split(program: &mut Program, block: &mut Block, stmt: &Stmt, problems: &mut Problems) {
    let Exp::Gen { space, body } = &stmt.exp else { return };
    let is_array = |at: &usize| program.ndim(body.results[*at]) > 0;
    let (arrays, scalars): (Vec<usize>, Vec<usize>) = (0..body.results.len()).partition(is_array);
    if !scalars.is_empty() {
        let (space, body) = copy(program, space, body, &scalars);
        let outs = scalars.iter().map(|at| stmt.outs[*at]).collect();
        block.stmts.push(Stmt { outs, exp: Exp::Gen { space, body }, span: stmt.span });
    }
    for at in arrays {
        let (space, body) = copy(program, space, body, &[at]);
        flatten(program, block, stmt.outs[at], space, body, stmt.span, problems);
    }
}

/// A copy of a body with some of its values.
fn copy(program: &mut Program, space: &[Axis], body: &Block, values: &[usize]) -> (Vec<Axis>, Block) {
    let mut renaming = Renaming::new();
    let space = copy_space(program, space, &mut renaming);
    let mut body = copy_block(program, body, &mut renaming);
    body.results = values.iter().map(|at| body.results[*at]).collect();
    crate::simplify::remove_dead(&mut body);
    (space, body)
}

/// The array of arrays as one.
fn flatten(
    program: &mut Program,
    block: &mut Block,
    out: Var,
    mut space: Vec<Axis>,
    mut body: Block,
    span: Span,
    problems: &mut Problems,
) {
    while let Some(value) = body.results[0].as_var() {
        let ndim = program.var_type(value).ndim;
        if ndim == 0 {
            break;
        }
        let Some(at) = body.stmts.iter().position(|stmt| stmt.outs.contains(&value)) else {
            // An array from outside, for each element.
            read_whole(program, block, &mut space, &mut body, value, Vec::new(), span);
            break;
        };
        let inner = body.stmts[at].clone();
        let own: std::collections::HashSet<Var> = space
            .iter()
            .map(|axis| axis.index)
            .chain(body.stmts.iter().flat_map(|stmt| stmt.outs.iter().copied()))
            .collect();
        let varies = |length: &Atom| length.as_var().is_some_and(|var| own.contains(&var));
        if inner.exp.space().iter().any(|axis| varies(&axis.length)) {
            let text = "this makes a sequence for each element, of a length that depends on the element";
            let problem = Problem::new(Code::Nested, inner.span, text);
            problems.add(Problem { related: vec![(span, "the map".into())], ..problem });
            return;
        }
        match inner.exp {
            Exp::Gen { space: more, body: values } => {
                let which = inner.outs.iter().position(|out| *out == value).unwrap_or(0);
                body.stmts.remove(at);
                space.extend(more);
                body.stmts.extend(values.stmts);
                body.results = vec![values.results[which]];
            }
            Exp::Scan { space: more, body: values, op, prefix: None, direction, finish: None, .. }
                if inner.outs.len() == 1 =>
            {
                body.stmts.remove(at);
                space.extend(more);
                body.stmts.extend(values.stmts);
                body.results = values.results;
                let exp = Exp::Scan { space, body, op, prefix: None, direction, finish: None, targets: Vec::new() };
                block.stmts.push(Stmt { outs: vec![out], exp, span });
                return;
            }
            Exp::Row { array, index, .. } => {
                body.stmts.remove(at);
                read_whole(program, block, &mut space, &mut body, array, index, span);
                break;
            }
            Exp::Slice { array, start, length } => {
                body.stmts.remove(at);
                let first = program.new_var(DType::I64, 0);
                space.push(Axis { index: first, length });
                let place = super::forward_views::sum(program, &mut body, start, first.into(), &span);
                read_whole(program, block, &mut space, &mut body, array, vec![place], span);
                break;
            }
            _ => {
                let problem = Problem::sequence_of_element(inner.span);
                problems.add(Problem { related: vec![(span, "the map".into())], ..problem });
                return;
            }
        }
    }
    block.stmts.push(Stmt { outs: vec![out], exp: Exp::Gen { space, body }, span });
}

/// Reads the elements of what is left of an array after some indices, along axes that are added to the space.
fn read_whole(
    program: &mut Program,
    block: &mut Block,
    space: &mut Vec<Axis>,
    body: &mut Block,
    array: Var,
    mut index: Vec<Atom>,
    span: Span,
) {
    for axis in index.len()..program.var_type(array).ndim {
        let length = program.new_var(DType::I64, 0);
        block.stmts.push(Stmt { outs: vec![length], exp: Exp::Length { array, axis }, span });
        let at = program.new_var(DType::I64, 0);
        space.push(Axis { index: at, length: length.into() });
        index.push(at.into());
    }
    let element = read(program, array, index, span);
    body.results = vec![element.outs[0].into()];
    body.stmts.push(element);
}
