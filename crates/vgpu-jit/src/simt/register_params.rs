//! Parameters of device functions that are registers (`.func (.reg .u32 %x) f(.reg .u32 %a)`): loaded
//! from the argument record where the function begins, stored to the result record where it returns.
//!
//! Establishes that all other passes see an ordinary definition of each such register, which may be
//! the loop variable of a loop that begins with the function.

use super::body::{Block, FunctionBody, Stmt, Terminator};
use rtcg_ptx::ast::*;
use std::borrow::Cow;

fn synthetic_statement(inst: Inst, index: u32) -> Stmt<'static> {
    Stmt { guard: None, merges_old_values: true, inst: Cow::Owned(inst), index }
}

fn param_record_address(symbol: Symbol) -> Addr {
    Addr { base: AddrBase::Symbol(symbol), offset: 0 }
}

fn load_param(number: usize, param: &Param, reg: Reg) -> Inst {
    Inst::Ld {
        space: Space::Param,
        ty: param.ty,
        sem: MemorySemantics::Weak,
        scope: None,
        nc: false,
        dsts: vec![Some(reg)],
        addr: param_record_address(Symbol::Param(number as u32)),
    }
}

fn store_result(number: usize, param: &Param, reg: Reg) -> Inst {
    Inst::St {
        space: Space::Param,
        ty: param.ty,
        sem: MemorySemantics::Weak,
        scope: None,
        addr: param_record_address(Symbol::Return(number as u32)),
        srcs: vec![Operand::Reg(reg)],
    }
}

/// The first parameter in a register of a type that records do not have.
pub(crate) fn unsupported_param(f: &Function) -> Option<&Param> {
    f.params.iter().chain(&f.returns).find(|p| p.reg.is_some() && p.ty.bits() < 8)
}

/// Adds the loads and stores to the blocks of a device function; the caller renumbers.
pub(crate) fn add_param_loads_and_stores(body: &mut FunctionBody<'_>, f: &Function) {
    let with_reg = |list: &[Param], make: fn(usize, &Param, Reg) -> Inst| -> Vec<Inst> {
        list.iter().enumerate().filter_map(|(i, p)| Some(make(i, p, p.reg?))).collect()
    };
    let (loads, stores) = (with_reg(&f.params, load_param), with_reg(&f.returns, store_result));
    for block in body.blocks.iter_mut().filter(|b| b.term == Terminator::Return) {
        let index = block.term_index;
        block.stmts.extend(stores.iter().cloned().map(|inst| synthetic_statement(inst, index)));
    }
    if loads.is_empty() {
        return;
    }
    // The first block may be the head of a loop.
    let first = body.blocks.len();
    let stmts = loads.into_iter().map(|inst| synthetic_statement(inst, 0)).collect();
    let entry = Block { stmts, term: Terminator::Jump(first), term_index: 0, preds: vec![] };
    let old = std::mem::replace(&mut body.blocks[0], entry);
    body.blocks.push(old);
    body.blocks[1..].iter_mut().for_each(|b| b.term.map_successors(&|t| if t == 0 { first } else { t }));
}
