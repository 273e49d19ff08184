//! What blocks need: dead statements, and what statements do.

use crate::ir::{Atom, Block, Bounds, Exp, Lambda, Number, Program, Stmt, Var};
use crate::rewrite::{Renaming, replace_in_exp, replace_results};
use rtcg_codegen::array::Op;
use std::collections::HashSet;

/// The variables that a block's results and statements that stay anyway need, found from the end.
fn needed(block: &Block, stays: fn(&Exp) -> bool) -> HashSet<Var> {
    let mut live: HashSet<Var> = block.results.iter().filter_map(|atom| atom.as_var()).collect();
    for stmt in block.stmts.iter().rev() {
        if stays(&stmt.exp) || stmt.outs.iter().any(|out| live.contains(out)) {
            all_operands(&stmt.exp, &mut |var| {
                live.insert(var);
            });
        }
    }
    live
}

/// Adds the variables that an expression binds, in all its blocks.
pub fn collect_bound(exp: &Exp, bound: &mut HashSet<Var>) {
    bound.extend(exp.space().iter().map(|axis| axis.index));
    match exp {
        Exp::Loop { params, .. } => bound.extend(params),
        Exp::Reduce { op, .. } => bound.extend(&op.params),
        Exp::Scan { op, finish, .. } => {
            bound.extend(op.params.iter().chain(finish.iter().flat_map(|last| &last.params)))
        }
        Exp::Sort { less, .. } => bound.extend(&less.params),
        _ => {}
    }
    for stmt in exp.blocks().into_iter().flat_map(|block| &block.stmts) {
        bound.extend(&stmt.outs);
        collect_bound(&stmt.exp, bound);
    }
}

/// Whether a block has loops or reductions, at any depth.
pub fn has_loop(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.exp, Exp::Loop { .. } | Exp::Reduce { .. }) || stmt.exp.blocks().into_iter().any(has_loop)
    })
}

/// Calls `see` with each variable that an expression or its blocks mention.
pub fn all_operands(exp: &Exp, see: &mut dyn FnMut(Var)) {
    exp.for_each_operand(&mut |atom| {
        if let Atom::Var(var) = atom {
            see(var);
        }
    });
    for block in exp.blocks() {
        block.results.iter().filter_map(|atom| atom.as_var()).for_each(&mut *see);
        for stmt in &block.stmts {
            all_operands(&stmt.exp, see);
        }
    }
}

/// Replaces branches that compute nothing by choices of what is there.
pub fn simplify_branches(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    simplify_in(program, &mut body);
    program.body = body;
}

fn simplify_in(program: &mut Program, block: &mut Block) {
    let stmts = std::mem::take(&mut block.stmts);
    let mut known = Renaming::new();
    for mut stmt in stmts {
        replace_in_exp(&mut stmt.exp, &known);
        stmt.exp.blocks_mut().into_iter().for_each(|inner| simplify_in(program, inner));
        let Exp::If { cond, then, other } = &stmt.exp else {
            block.stmts.push(stmt);
            continue;
        };
        let is_plain = then.stmts.is_empty()
            && other.stmts.is_empty()
            && stmt.outs.iter().all(|out| program.var_type(*out).ndim == 0);
        if !is_plain {
            block.stmts.push(stmt);
            continue;
        }
        for (out, (a, b)) in stmt.outs.iter().zip(then.results.iter().zip(&other.results)) {
            let truth = |atom: &Atom| match atom {
                Atom::Const(Number::Bool(value), _) => Some(*value),
                _ => None,
            };
            match (truth(a), truth(b)) {
                _ if a == b => {
                    known.insert(*out, *a);
                }
                (Some(true), Some(false)) => {
                    known.insert(*out, *cond);
                }
                _ => {
                    let compute = program.var_type(*out).dtype;
                    let exp = Exp::Prim { op: Op::Where, compute, args: vec![*cond, *a, *b] };
                    block.stmts.push(Stmt { outs: vec![*out], exp, span: stmt.span });
                }
            }
        }
    }
    replace_results(block, &known);
}

/// Removes statements that nothing needs, everywhere, but checks that the host makes.
pub fn remove_dead_statements(program: &mut Program) {
    remove_dead_of_host(&mut program.body);
}

/// Removes them from a block that the host runs: lengths and indices are checked there even if no value needs it.
pub(crate) fn remove_dead_of_host(block: &mut Block) {
    let checks: fn(&Exp) -> bool = |exp| {
        matches!(
            exp,
            Exp::Same { .. }
                | Exp::Clamp { .. }
                | Exp::Read { bounds: Bounds::Checked, .. }
                | Exp::Row { bounds: Bounds::Checked, .. }
        )
    };
    let live = needed(block, checks);
    block.stmts.retain(|stmt| checks(&stmt.exp) || stmt.outs.iter().any(|out| live.contains(out)));
    remove_dead_results(block, &live);
    for stmt in &mut block.stmts {
        let is_of_host = matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. });
        let remove = if is_of_host { remove_dead_of_host } else { remove_dead };
        stmt.exp.blocks_mut().into_iter().for_each(remove);
    }
}

/// Removes the results of maps, and of what finishes scans, that nothing needs.
fn remove_dead_results(block: &mut Block, live: &HashSet<Var>) {
    for stmt in &mut block.stmts {
        if let Exp::Gen { body, .. } | Exp::Scan { finish: Some(Lambda { body, .. }), .. } = &mut stmt.exp
            && stmt.outs.len() == body.results.len()
        {
            let lives: Vec<bool> = stmt.outs.iter().map(|out| live.contains(out)).collect();
            let mut keep = lives.iter();
            stmt.outs.retain(|_| keep.next().copied().unwrap_or(true));
            let mut keep = lives.iter();
            body.results.retain(|_| keep.next().copied().unwrap_or(true));
        }
    }
}

/// Whether an expression is there for what it finds.
fn is_same(exp: &Exp) -> bool {
    matches!(exp, Exp::Same { .. })
}

/// Removes them from a block of a kernel, with checks of indices whose value nothing needs.
pub(crate) fn remove_dead(block: &mut Block) {
    let live = needed(block, is_same);
    block.stmts.retain(|stmt| is_same(&stmt.exp) || stmt.outs.iter().any(|out| live.contains(out)));
    remove_dead_results(block, &live);
    for stmt in &mut block.stmts {
        stmt.exp.blocks_mut().into_iter().for_each(remove_dead);
    }
}

/// Whether the results of a block need an operation over a sequence, or a loop.
pub(crate) fn needs_work_on_arrays(block: &Block) -> bool {
    let live = needed(block, is_same);
    block.stmts.iter().filter(|stmt| stmt.outs.iter().any(|out| live.contains(out))).any(|stmt| {
        stmt.exp.is_kernel()
            || matches!(stmt.exp, Exp::Loop { .. })
            || stmt.exp.blocks().into_iter().any(needs_work_on_arrays)
    })
}

/// Whether each part of a function of two values is a commutative operation of the parts of both.
pub(crate) fn is_commutative(op: &Lambda) -> bool {
    let n = op.params.len() / 2;
    op.body.results.len() == n
        && op.body.stmts.len() == n
        && (0..n).all(|at| {
            let result = op.body.results[at].as_var();
            op.body.stmts.iter().any(|stmt| {
                let Exp::Prim { op: prim, args, .. } = &stmt.exp else { return false };
                let both = [Atom::Var(op.params[at]), Atom::Var(op.params[n + at])];
                Some(stmt.outs[0]) == result
                    && (args.as_slice() == both || args.as_slice() == [both[1], both[0]])
                    && matches!(
                        prim,
                        Op::Add
                            | Op::Multiply
                            | Op::BitAnd
                            | Op::BitOr
                            | Op::BitXor
                            | Op::LogicalAnd
                            | Op::LogicalOr
                            | Op::LogicalXor
                            | Op::Maximum
                            | Op::Minimum
                            | Op::Fmax
                            | Op::Fmin
                            | Op::Gcd
                            | Op::Lcm
                            | Op::Hypot
                    )
            })
        })
}
