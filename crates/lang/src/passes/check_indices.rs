//! Turns checked reads into clamped indices and reads inside.
//!
//! Establishes: every [`Exp::Read`] and [`Exp::Row`] is inside.

use crate::ir::{Atom, Block, Bounds, Exp, Program, Stmt, Var};
use rtcg_hal::DType;

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body);
    program.body = body;
}

fn in_block(program: &mut Program, block: &mut Block) {
    let stmts = std::mem::take(&mut block.stmts);
    for mut stmt in stmts {
        stmt.exp.blocks_mut().into_iter().for_each(|block| in_block(program, block));
        let span = stmt.span;
        if let Exp::Read { array, index, bounds } | Exp::Row { array, index, bounds } = &mut stmt.exp
            && std::mem::replace(bounds, Bounds::Inside) == Bounds::Checked
        {
            for (axis, at) in index.iter_mut().enumerate() {
                let length = emit(program, block, Exp::Length { array: *array, axis }, span);
                let clamped = emit(program, block, Exp::Clamp { index: *at, length: length.into() }, span);
                *at = Atom::Var(clamped);
            }
        }
        block.stmts.push(stmt);
    }
}

fn emit(program: &mut Program, block: &mut Block, exp: Exp, span: crate::span::Span) -> Var {
    let out = program.new_var(DType::I64, 0);
    block.stmts.push(Stmt { outs: vec![out], exp, span });
    out
}
