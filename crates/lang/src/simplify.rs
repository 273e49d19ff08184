//! What blocks need: dead statements, and what statements do.

use crate::ir::{Atom, Block, Exp, Lambda, Program, Var};
use rtcg_codegen::array::Op;
use std::collections::HashSet;

/// The variables that a block's results need, found from the end.
fn needed(block: &Block, wanted: &HashSet<Var>) -> HashSet<Var> {
    let mut live = wanted.clone();
    live.extend(block.results.iter().filter_map(|atom| atom.as_var()));
    for stmt in block.stmts.iter().rev() {
        if stmt.outs.iter().any(|out| live.contains(out)) {
            all_operands(&stmt.exp, &mut |var| {
                live.insert(var);
            });
        }
    }
    live
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

/// Removes statements that nothing needs, everywhere.
pub fn remove_dead_statements(program: &mut Program) {
    remove_dead(&mut program.body);
}

/// Removes them from a block.
pub(crate) fn remove_dead(block: &mut Block) {
    let live = needed(block, &HashSet::new());
    block.stmts.retain(|stmt| stmt.outs.iter().any(|out| live.contains(out)));
    for stmt in &mut block.stmts {
        stmt.exp.blocks_mut().into_iter().for_each(remove_dead);
    }
}

/// Whether the results of a block need an operation over a sequence, or a loop.
pub(crate) fn needs_work_on_arrays(block: &Block) -> bool {
    let live = needed(block, &HashSet::new());
    block.stmts.iter().filter(|stmt| stmt.outs.iter().any(|out| live.contains(out))).any(|stmt| {
        matches!(
            stmt.exp,
            Exp::Gen { .. }
                | Exp::Reduce { .. }
                | Exp::Scan { .. }
                | Exp::Filter { .. }
                | Exp::Rows { .. }
                | Exp::Scatter { .. }
                | Exp::Sort { .. }
                | Exp::Loop { .. }
        ) || stmt.exp.blocks().into_iter().any(needs_work_on_arrays)
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
