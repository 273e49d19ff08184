//! Reads elements of the sequence that a condition chooses for an element from the one that it chose: kernels have no
//! sequences that are chosen.

use crate::ir::{Atom, Block, Exp, Program, Stmt, Var};
use crate::rewrite::{Renaming, copy_block};
use rtcg_hal::DType;
use std::collections::HashMap;

/// A condition, its branches, and which of their results is meant.
type Choice = (Atom, Block, Block, usize);

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body, &HashMap::new(), false);
    program.body = body;
}

fn in_block(program: &mut Program, block: &mut Block, around: &HashMap<Var, Choice>, is_element: bool) {
    let mut choices = around.clone();
    for mut stmt in std::mem::take(&mut block.stmts) {
        if let Some(exp) = split(program, &stmt, &choices) {
            stmt.exp = exp;
        }
        let is_inside = is_element || stmt.exp.is_kernel();
        stmt.exp.blocks_mut().into_iter().for_each(|inner| in_block(program, inner, &choices, is_inside));
        if let (true, Exp::If { cond, then, other }) = (is_element, &stmt.exp) {
            for (at, out) in stmt.outs.iter().enumerate().filter(|(_, out)| program.var_type(**out).ndim > 0) {
                choices.insert(*out, (*cond, then.clone(), other.clone(), at));
            }
        }
        block.stmts.push(stmt);
    }
}

/// A read of a chosen sequence, or its length, as a choice between those of both sequences.
fn split(program: &mut Program, stmt: &Stmt, choices: &HashMap<Var, Choice>) -> Option<Exp> {
    let (Exp::Read { array, .. } | Exp::Length { array, .. }) = &stmt.exp else { return None };
    let (cond, then, other, at) = choices.get(array)?;
    let dtype = if matches!(stmt.exp, Exp::Length { .. }) { DType::I64 } else { program.var_type(*array).dtype };
    let mut branch = |block: &Block| -> Option<Block> {
        let mut block = copy_block(program, block, &mut Renaming::new());
        let array = block.results[*at].as_var()?;
        let exp = match &stmt.exp {
            Exp::Read { index, bounds, .. } => Exp::Read { array, index: index.clone(), bounds: *bounds },
            Exp::Length { axis, .. } => Exp::Length { array, axis: *axis },
            _ => return None,
        };
        let out = program.new_var(dtype, 0);
        block.stmts.push(Stmt { outs: vec![out], exp, span: stmt.span });
        block.results = vec![out.into()];
        Some(block)
    };
    let (then, other) = (branch(then)?, branch(other)?);
    Some(Exp::If { cond: *cond, then, other })
}
