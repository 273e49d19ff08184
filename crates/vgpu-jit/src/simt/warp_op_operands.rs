//! Operands of warp operations that are neither registers nor constants become registers: lanes that are parked at an
//! operation have its operands in the frame.
//!
//! Establishes that no warp operation but those on matrices reads special registers or addresses.

use super::body::{FunctionBody, Stmt};
use super::register_width::RegWidth;
use rtcg_ptx::ast::*;
use std::borrow::Cow;

/// Moves such operands to registers, in a block before that of the operation; the caller renumbers.
pub(crate) fn move_to_registers(body: &mut FunctionBody<'_>) {
    for b in 0..body.blocks.len() {
        let Some(st) = body.blocks[b].first_warp_op() else { continue };
        let (mut inst, index) = (st.inst.clone().into_owned(), st.index);
        let mut moves = vec![];
        for operand in operands_of(&mut inst) {
            if let Operand::Special(_) | Operand::Address(..) = *operand {
                let dst = body.add_register(RegWidth::W32);
                let inst = Cow::Owned(Inst::Mov { ty: Type::B32, dst, src: *operand });
                moves.push(Stmt { guard: None, merges_old_values: true, inst, index });
                *operand = Operand::Reg(dst);
            }
        }
        if !moves.is_empty() {
            let at = moves.len();
            body.blocks[b].stmts[0].inst = Cow::Owned(inst);
            body.blocks[b].stmts.splice(0..0, moves);
            body.split_block(b, at);
        }
    }
}

fn operands_of(inst: &mut Inst) -> Vec<&mut Operand> {
    match inst {
        Inst::Shfl { a, b, c, mask, .. } => vec![a, b, c, mask],
        Inst::Match { a, mask, .. } | Inst::Redux { a, mask, .. } => vec![a, mask],
        Inst::Vote { mask, .. } | Inst::Elect { mask, .. } | Inst::BarWarpSync { mask } => vec![mask],
        _ => vec![],
    }
}
