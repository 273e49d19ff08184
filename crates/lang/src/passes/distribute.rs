//! Takes reductions out of maps: all rows are reduced first, by one kernel, and the map reads their results.
//!
//! Whether that is better than a reduction by each thread depends on lengths, so both forms are kept, and whoever runs
//! the program chooses.

use super::forward_views::read;
use crate::ir::{Axis, Block, Exp, Program, Stmt, Var};
use crate::rewrite::{Renaming, copy_block, copy_space, replace_in_block};
use crate::simplify::{all_operands, remove_dead};
use std::collections::HashSet;

/// The statement as others, the last of which has its outputs; `None` if it has no reduction to take out.
pub fn distribute(program: &mut Program, stmt: &Stmt) -> Option<Vec<Stmt>> {
    let Exp::Gen { space, body } = &stmt.exp else { return None };
    if space.is_empty() {
        return None;
    }
    let own: HashSet<Var> = defined(space, body);
    let mut rest = body.clone();
    let mut before = Vec::new();
    loop {
        let at = rest.stmts.iter().position(|inner| {
            let Exp::Reduce { space: axes, init, .. } = &inner.exp else { return false };
            let is_outside = |atom: &crate::ir::Atom| atom.as_var().is_none_or(|var| !own.contains(&var));
            axes.len() == 1 && is_outside(&axes[0].length) && init.iter().all(is_outside)
        })?;
        let inner = rest.stmts[at].clone();
        let Exp::Reduce { space: axes, body: values, op, init, commutative } = inner.exp else { return None };
        // What the elements need comes along; the rest of the body stays.
        let mut taken = Block { stmts: rest.stmts[..at].to_vec(), results: Vec::new() };
        taken.stmts.extend(values.stmts);
        taken.results = values.results;
        remove_dead(&mut taken);
        if taken.stmts.iter().any(|stmt| matches!(stmt.exp, Exp::Reduce { .. } | Exp::Loop { .. } | Exp::If { .. })) {
            return None;
        }
        let mut renaming = Renaming::new();
        let all = copy_space(program, space.iter().chain(&axes), &mut renaming);
        let taken = copy_block(program, &taken, &mut renaming);
        let arrays: Vec<Var> = inner
            .outs
            .iter()
            .map(|out| {
                let dtype = program.var_type(*out).dtype;
                program.new_var(dtype, space.len())
            })
            .collect();
        before.push(Stmt {
            outs: arrays.clone(),
            exp: Exp::Reduce { space: all, body: taken, op, init, commutative },
            span: inner.span,
        });
        let index: Vec<_> = space.iter().map(|axis| axis.index.into()).collect();
        let reads: Vec<Stmt> = arrays.iter().map(|array| read(program, *array, index.clone(), inner.span)).collect();
        let renaming: Renaming = inner.outs.iter().zip(&reads).map(|(out, read)| (*out, read.outs[0].into())).collect();
        rest.stmts.splice(at..=at, reads);
        let mut tail = Block { stmts: rest.stmts.split_off(at), results: std::mem::take(&mut rest.results) };
        replace_in_block(&mut tail, &renaming);
        rest.stmts.extend(tail.stmts);
        rest.results = tail.results;
        remove_dead(&mut rest);
        if !rest.stmts.iter().any(|stmt| matches!(stmt.exp, Exp::Reduce { .. })) {
            break;
        }
    }
    // A map that only hands on what the reductions make is none.
    let index: Vec<crate::ir::Atom> = space.iter().map(|axis| axis.index.into()).collect();
    let handed_on: Option<Vec<Var>> = rest
        .results
        .iter()
        .map(|result| {
            let made = rest.stmts.iter().find(|stmt| Some(stmt.outs[0]) == result.as_var())?;
            match &made.exp {
                Exp::Read { array, index: at, .. } if *at == index => Some(*array),
                _ => None,
            }
        })
        .collect();
    if let (Some(arrays), [only]) = (handed_on, before.as_mut_slice())
        && arrays == only.outs
    {
        only.outs = stmt.outs.clone();
        return Some(before);
    }
    before.push(Stmt { outs: stmt.outs.clone(), exp: Exp::Gen { space: space.clone(), body: rest }, span: stmt.span });
    Some(before)
}

/// The variables of an element.
fn defined(space: &[Axis], body: &Block) -> HashSet<Var> {
    let mut own: HashSet<Var> = space.iter().map(|axis| axis.index).collect();
    body.stmts.iter().for_each(|stmt| own.extend(&stmt.outs));
    let mut mentioned = HashSet::new();
    body.stmts.iter().for_each(|stmt| {
        all_operands(&stmt.exp, &mut |var| {
            mentioned.insert(var);
        })
    });
    own.retain(|var| mentioned.contains(var) || body.results.contains(&(*var).into()));
    own
}
