//! Reads elements of rows and slices from the arrays that they are parts of.
//!
//! Rows and slices that are used as arrays stay.

use crate::ir::{Atom, Block, Bounds, Exp, Program, Stmt, Var};
use crate::rewrite::{Renaming, replace_results};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::HashMap;

/// What an array is a part of.
#[derive(Clone)]
enum View {
    Row {
        array: Var,
        index: Vec<Atom>,
    },
    Slice {
        array: Var,
        start: Atom,
        length: Atom,
    },
    /// A sequence whose length along the first axes is known.
    Made {
        lengths: Vec<Atom>,
    },
}

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body, &HashMap::new());
    program.body = body;
}

fn in_block(program: &mut Program, block: &mut Block, around: &HashMap<Var, View>) {
    let mut views = around.clone();
    let mut known = Renaming::new();
    let stmts = std::mem::take(&mut block.stmts);
    for mut stmt in stmts {
        crate::rewrite::replace_in_exp(&mut stmt.exp, &known);
        stmt.exp.blocks_mut().into_iter().for_each(|inner| in_block(program, inner, &views));
        match &mut stmt.exp {
            Exp::Read { array, index, .. } => {
                (*array, *index) = element_of(program, block, *array, std::mem::take(index), &views, &stmt.span);
            }
            Exp::Row { array, index, .. } => {
                if let Some(View::Row { array: whole, index: before }) = views.get(array) {
                    let all = before.iter().chain(index.iter()).copied().collect();
                    (*array, *index) = (*whole, all);
                } else if let Some(View::Slice { array: whole, start, .. }) = views.get(array).cloned() {
                    index[0] = sum(program, block, start, index[0], &stmt.span);
                    *array = whole;
                }
                views.insert(stmt.outs[0], View::Row { array: *array, index: index.clone() });
            }
            Exp::Slice { array, start, length } => {
                if let Some(View::Slice { array: whole, start: first, .. }) = views.get(array).cloned() {
                    *start = sum(program, block, first, *start, &stmt.span);
                    *array = whole;
                }
                views.insert(stmt.outs[0], View::Slice { array: *array, start: *start, length: *length });
            }
            Exp::Length { array, axis } => {
                let found = length_of(*array, *axis, &views);
                match found {
                    Ok(length) => {
                        known.insert(stmt.outs[0], length);
                        continue;
                    }
                    Err((whole, whole_axis)) => (*array, *axis) = (whole, whole_axis),
                }
            }
            exp @ (Exp::Gen { .. } | Exp::Scan { prefix: None, .. }) => {
                let lengths: Vec<Atom> = exp.space().iter().map(|axis| axis.length).collect();
                stmt.outs.iter().for_each(|out| {
                    views.insert(*out, View::Made { lengths: lengths.clone() });
                });
            }
            _ => {}
        }
        block.stmts.push(stmt);
    }
    replace_results(block, &known);
}

/// The length of an axis, or the array and the axis that have it.
fn length_of(array: Var, axis: usize, views: &HashMap<Var, View>) -> Result<Atom, (Var, usize)> {
    match views.get(&array) {
        Some(View::Row { array: whole, index }) => length_of(*whole, axis + index.len(), views),
        Some(View::Slice { length, .. }) if axis == 0 => Ok(*length),
        Some(View::Slice { array: whole, .. }) => length_of(*whole, axis, views),
        Some(View::Made { lengths }) => lengths.get(axis).copied().ok_or((array, axis)),
        None => Err((array, axis)),
    }
}

/// The array that has the element, and its index there.
fn element_of(
    program: &mut Program,
    block: &mut Block,
    mut array: Var,
    mut index: Vec<Atom>,
    views: &HashMap<Var, View>,
    span: &crate::span::Span,
) -> (Var, Vec<Atom>) {
    loop {
        match views.get(&array).cloned() {
            Some(View::Row { array: whole, index: before }) => {
                index.splice(0..0, before);
                array = whole;
            }
            Some(View::Slice { array: whole, start, .. }) => {
                index[0] = sum(program, block, start, index[0], span);
                array = whole;
            }
            _ => return (array, index),
        }
    }
}

/// The sum of two indices.
pub(super) fn sum(program: &mut Program, block: &mut Block, a: Atom, b: Atom, span: &crate::span::Span) -> Atom {
    let zero = Atom::index(0);
    if a == zero {
        return b;
    }
    if b == zero {
        return a;
    }
    let out = program.new_var(DType::I64, 0);
    let exp = Exp::Prim { op: Op::Add, compute: DType::I64, args: vec![a, b] };
    block.stmts.push(Stmt { outs: vec![out], exp, span: *span });
    out.into()
}

/// A read inside.
pub(super) fn read(program: &mut Program, array: Var, index: Vec<Atom>, span: crate::span::Span) -> Stmt {
    let out = program.new_var(program.var_type(array).dtype, 0);
    Stmt { outs: vec![out], exp: Exp::Read { array, index, bounds: Bounds::Inside }, span }
}
