//! Makes scalars that depend on arrays elements that are computed on the device.
//!
//! Establishes: a scalar statement outside of elements has operands that the host knows, or is a condition that the host
//! has to know; all others are a [`Exp::Gen`] without axes.

use crate::ir::{Atom, Block, Exp, Program, Stmt, Var};
use std::collections::HashSet;

/// Where a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The host knows it when it launches kernels.
    Host,
    /// A kernel computes it.
    Device,
}

/// The variables outside of elements that are on the device.
#[derive(Debug, Default)]
pub struct Places(HashSet<Var>);

impl Places {
    /// Where an operand is.
    pub fn of(&self, atom: Atom) -> Place {
        match atom {
            Atom::Var(var) if self.0.contains(&var) => Place::Device,
            _ => Place::Host,
        }
    }
}

/// Where the scalars of a program are.
pub fn places(program: &Program) -> Places {
    let mut found = Places::default();
    loop {
        let before = found.0.len();
        mark(program, &program.body, &mut found);
        if found.0.len() == before {
            return found;
        }
    }
}

fn mark(program: &Program, block: &Block, found: &mut Places) {
    for stmt in &block.stmts {
        let on_device = match &stmt.exp {
            Exp::Prim { args, .. } => args.iter().any(|arg| found.of(*arg) == Place::Device),
            Exp::Cast { arg, .. } => found.of(*arg) == Place::Device,
            Exp::Clamp { index, length } => [*index, *length].iter().any(|arg| found.of(*arg) == Place::Device),
            // Lengths are known once the arrays are there.
            Exp::Length { .. } | Exp::Same { .. } => false,
            Exp::If { then, other, .. } => {
                mark(program, then, found);
                mark(program, other, found);
                for (at, out) in stmt.outs.iter().enumerate() {
                    let sources = [then.results[at], other.results[at]];
                    if sources.iter().any(|source| found.of(*source) == Place::Device) {
                        found.0.insert(*out);
                    }
                }
                continue;
            }
            Exp::Loop { params, init, cond, body } => {
                for (at, param) in params.iter().enumerate() {
                    if [init[at], body.results[at]].iter().any(|source| found.of(*source) == Place::Device) {
                        found.0.extend([*param, stmt.outs[at]]);
                    }
                }
                mark(program, cond, found);
                mark(program, body, found);
                continue;
            }
            _ => true,
        };
        if on_device {
            found.0.extend(stmt.outs.iter().filter(|out| program.var_type(**out).ndim == 0));
        }
    }
}

pub(super) fn run(program: &mut Program) {
    let places = places(program);
    let mut body = std::mem::take(&mut program.body);
    in_block(&mut body, &places, program);
    program.body = body;
}

fn in_block(block: &mut Block, places: &Places, program: &mut Program) {
    for stmt in &mut block.stmts {
        match &mut stmt.exp {
            Exp::If { then, other, .. } => {
                in_block(then, places, program);
                in_block(other, places, program);
            }
            Exp::Loop { cond, body, .. } => {
                in_block(cond, places, program);
                in_block(body, places, program);
            }
            Exp::Prim { .. } | Exp::Cast { .. } | Exp::Read { .. } | Exp::Clamp { .. } | Exp::Segment { .. }
                if places.of(stmt.outs[0].into()) == Place::Device =>
            {
                let out = stmt.outs[0];
                let inner = program.new_var(program.var_type(out).dtype, 0);
                let exp = std::mem::replace(&mut stmt.exp, Exp::Gen { space: Vec::new(), body: Block::default() });
                let body = Block {
                    stmts: vec![Stmt { outs: vec![inner], exp, span: stmt.span }],
                    results: vec![inner.into()],
                };
                stmt.exp = Exp::Gen { space: Vec::new(), body };
            }
            _ => {}
        }
    }
}
