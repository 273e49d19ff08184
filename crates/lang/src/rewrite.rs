//! Copies blocks with new variables, and replaces variables.

use crate::ir::{Atom, Axis, Block, Exp, Lambda, Program, Stmt, Var};
use rtcg_hal::DType;
use std::collections::HashMap;

/// What variables stand for in a copy.
pub(crate) type Renaming = HashMap<Var, Atom>;

/// A copy of a block whose variables are new; those of `renaming` are replaced.
pub(crate) fn copy_block(program: &mut Program, block: &Block, renaming: &mut Renaming) -> Block {
    let stmts = block.stmts.iter().map(|stmt| copy_stmt(program, stmt, renaming)).collect();
    Block { stmts, results: block.results.iter().map(|atom| renamed(*atom, renaming)).collect() }
}

/// A copy of a statement with new variables, which are added to the renaming.
pub(crate) fn copy_stmt(program: &mut Program, stmt: &Stmt, renaming: &mut Renaming) -> Stmt {
    let mut exp = stmt.exp.clone();
    for_each_bound(&mut exp, &mut |var| *var = renew(program, *var, renaming));
    rename_operands(&mut exp, renaming);
    for block in exp.blocks_mut() {
        *block = copy_block(program, block, renaming);
    }
    let outs = stmt.outs.iter().map(|out| renew(program, *out, renaming)).collect();
    Stmt { outs, exp, span: stmt.span }
}

/// A copy of axes with new indices, which are added to the renaming.
pub(crate) fn copy_space<'s>(
    program: &mut Program,
    space: impl IntoIterator<Item = &'s Axis>,
    renaming: &mut Renaming,
) -> Vec<Axis> {
    let copied = |axis: &Axis| {
        let index = program.new_var(DType::I64, 0);
        renaming.insert(axis.index, index.into());
        Axis { index, length: axis.length }
    };
    space.into_iter().map(copied).collect()
}

fn renew(program: &mut Program, var: Var, renaming: &mut Renaming) -> Var {
    let found = program.var_type(var).clone();
    let new = program.new_var(found.dtype, found.ndim);
    renaming.insert(var, new.into());
    new
}

pub(crate) fn renamed(atom: Atom, renaming: &Renaming) -> Atom {
    match atom {
        Atom::Var(var) => renaming.get(&var).copied().unwrap_or(atom),
        Atom::Const(..) => atom,
    }
}

/// Replaces variables everywhere in a block.
pub(crate) fn replace_in_block(block: &mut Block, renaming: &Renaming) {
    if renaming.is_empty() {
        return;
    }
    for stmt in &mut block.stmts {
        replace_in_exp(&mut stmt.exp, renaming);
    }
    replace_results(block, renaming);
}

/// Replaces variables in the results of a block alone.
pub(crate) fn replace_results(block: &mut Block, renaming: &Renaming) {
    block.results.iter_mut().for_each(|atom| *atom = renamed(*atom, renaming));
}

pub(crate) fn replace_in_exp(exp: &mut Exp, renaming: &Renaming) {
    rename_operands(exp, renaming);
    exp.blocks_mut().into_iter().for_each(|block| replace_in_block(block, renaming));
}

/// Calls `see` with each variable that the expression itself binds: indices and parameters.
pub(crate) fn for_each_bound(exp: &mut Exp, see: &mut dyn FnMut(&mut Var)) {
    let of_lambda = |lambda: &mut Lambda, see: &mut dyn FnMut(&mut Var)| lambda.params.iter_mut().for_each(see);
    match exp {
        Exp::Loop { params, .. } => params.iter_mut().for_each(see),
        Exp::Gen { space, .. } | Exp::Filter { space, .. } | Exp::Rows { space, .. } | Exp::Scatter { space, .. } => {
            space.iter_mut().for_each(|axis| see(&mut axis.index));
        }
        Exp::Reduce { space, op, .. } => {
            space.iter_mut().for_each(|axis| see(&mut axis.index));
            of_lambda(op, see);
        }
        Exp::Scan { space, op, finish, .. } => {
            space.iter_mut().for_each(|axis| see(&mut axis.index));
            of_lambda(op, see);
            finish.iter_mut().for_each(|finish| of_lambda(finish, see));
        }
        Exp::Sort { less, .. } => of_lambda(less, see),
        _ => {}
    }
}

/// Replaces the operands of the expression itself.
pub(crate) fn rename_operands(exp: &mut Exp, renaming: &Renaming) {
    let on = |atom: &mut Atom| *atom = renamed(*atom, renaming);
    // An array is never replaced by a constant.
    let on_var = |var: &mut Var| {
        if let Some(Atom::Var(new)) = renaming.get(var) {
            *var = *new;
        }
    };
    let on_space = |space: &mut Vec<Axis>| space.iter_mut().for_each(|axis| on(&mut axis.length));
    match exp {
        Exp::Prim { args, .. } => args.iter_mut().for_each(on),
        Exp::Cast { arg, .. } => on(arg),
        Exp::Read { array, index, .. } | Exp::Row { array, index, .. } => {
            on_var(array);
            index.iter_mut().for_each(on);
        }
        Exp::Length { array, .. } => on_var(array),
        Exp::If { cond, .. } => on(cond),
        Exp::Loop { init, .. } => init.iter_mut().for_each(on),
        Exp::Gen { space, .. } | Exp::Filter { space, .. } => on_space(space),
        Exp::Rows { space, offsets, .. } => {
            on_space(space);
            on_var(offsets);
        }
        Exp::Reduce { space, init, .. } => {
            on_space(space);
            init.iter_mut().for_each(on);
        }
        Exp::Scan { space, prefix, targets, .. } => {
            on_space(space);
            prefix.iter_mut().flatten().for_each(on);
            targets.iter_mut().for_each(on_var);
        }
        Exp::Scatter { targets, space, .. } => {
            targets.iter_mut().for_each(on_var);
            on_space(space);
        }
        Exp::Sort { arrays, .. } => arrays.iter_mut().for_each(on_var),
        Exp::Slice { array, start, length } => {
            on_var(array);
            on(start);
            on(length);
        }
        Exp::Clamp { index, length } => [index, length].into_iter().for_each(on),
        Exp::Same { lengths, .. } => lengths.iter_mut().for_each(on),
        Exp::Segment { offsets, at } => {
            on_var(offsets);
            on(at);
        }
    }
}
