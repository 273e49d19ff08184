//! Reduces what a filter keeps inside of elements without making it: elements that are not kept count as the neutral
//! element of the operation.

use crate::emit::kernels::neutral_numbers;
use crate::ir::{Atom, Block, Exp, Program, Stmt, Var};
use crate::rewrite::{Renaming, copy_block, copy_space, replace_in_block};
use crate::simplify::{all_operands, remove_dead};
use rtcg_hal::DType;

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body, false, &mut Vec::new());
    program.body = body;
}

/// `made` has the filters of elements around a statement, and the lengths of what they keep.
fn in_block(program: &mut Program, block: &mut Block, is_element: bool, made: &mut Vec<Stmt>) {
    let n_outside = made.len();
    for stmt in &mut block.stmts {
        let is_host = !is_element && matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. });
        stmt.exp.blocks_mut().into_iter().for_each(|inner| in_block(program, inner, !is_host, made));
        match &stmt.exp {
            Exp::Filter { .. } | Exp::Length { axis: 0, .. } if is_element => made.push(stmt.clone()),
            Exp::Reduce { .. } => {
                if let Some(folded) = folded(program, stmt, made) {
                    stmt.exp = folded;
                }
            }
            _ => {}
        }
    }
    made.truncate(n_outside);
}

/// A reduction of what a filter keeps, as one of all elements; `None` if it is another one.
fn folded(program: &mut Program, stmt: &Stmt, made: &[Stmt]) -> Option<Exp> {
    let Exp::Reduce { space, body, op, init, commutative } = stmt.exp.clone() else { return None };
    let [axis] = space.as_slice() else { return None };
    let maker = |var: Var| made.iter().find(|stmt| stmt.outs.contains(&var));
    let Exp::Length { array, .. } = maker(axis.length.as_var()?)?.exp else { return None };
    let Stmt { outs: kept, exp: Exp::Filter { space: all, body: filter }, .. } = maker(array)?.clone() else {
        return None;
    };
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    let neutral = neutral_numbers(&op, &dtypes, &init)?;
    let neutral = neutral.into_iter().zip(&dtypes).map(|(number, dtype)| Atom::Const(number, *dtype)).collect();

    let mut renaming = Renaming::new();
    let space = copy_space(program, &all, &mut renaming);
    let Block { mut stmts, results } = copy_block(program, &filter, &mut renaming);
    let (keeps, values) = results.split_first()?;
    // Reads of what is kept are its values; nothing else may depend on where they are.
    let mut then = copy_block(program, &body, &mut Renaming::new());
    let mut found = Renaming::new();
    then.stmts.retain(|stmt| match &stmt.exp {
        Exp::Read { array, index, .. } if *index == [Atom::Var(axis.index)] => {
            let value = kept.iter().position(|out| out == array).and_then(|which| values.get(which));
            value.map(|value| found.insert(stmt.outs[0], *value)).is_none()
        }
        _ => true,
    });
    replace_in_block(&mut then, &found);
    let mut depends = then.results.contains(&Atom::Var(axis.index));
    let mut see = |var: Var| depends |= var == axis.index || kept.contains(&var);
    then.stmts.iter().for_each(|stmt| all_operands(&stmt.exp, &mut see));
    if depends {
        return None;
    }
    let outs: Vec<Var> = dtypes.iter().map(|dtype| program.new_var(*dtype, 0)).collect();
    let other = Block { stmts: Vec::new(), results: neutral };
    stmts.push(Stmt { outs: outs.clone(), exp: Exp::If { cond: *keeps, then, other }, span: stmt.span });
    let mut body = Block { stmts, results: outs.into_iter().map(Atom::Var).collect() };
    remove_dead(&mut body);
    Some(Exp::Reduce { space, body, op, init, commutative })
}
