//! From which pointer addresses come: a parameter of the kernel, plus numbers.
//!
//! Establishes: an address with a root is that pointer plus numbers, wherever its register is read.

use super::body::{FunctionBody, Stmt, stmt_defs};
use rtcg_ptx::ast::*;

/// Where the value of a register comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRoot {
    /// A number that leads from no pointer: of 32 bits, a product, a shifted value.
    Number,
    /// The parameter of the kernel with this number, at this offset.
    Param(u32, i64),
    /// Anything.
    Unknown,
}

impl AddressRoot {
    /// The root of a sum.
    fn plus(self, other: AddressRoot) -> AddressRoot {
        match (self, other) {
            (root, AddressRoot::Number) | (AddressRoot::Number, root) => root,
            _ => AddressRoot::Unknown,
        }
    }

    /// The root of a value that is one or the other.
    fn or(self, other: AddressRoot) -> AddressRoot {
        if self == other { self } else { AddressRoot::Unknown }
    }

    /// Whether both are parameters, and not the same.
    pub(crate) fn are_two_params(self, other: AddressRoot) -> bool {
        matches!((self, other), (AddressRoot::Param(..), AddressRoot::Param(..))) && self != other
    }
}

/// The root of each register; `None` for those that are never written.
#[derive(Debug, Clone)]
pub(crate) struct AddressRoots {
    of: Vec<Option<AddressRoot>>,
    entry: bool,
}

impl AddressRoots {
    pub(crate) fn analyze(body: &FunctionBody<'_>, entry: bool) -> AddressRoots {
        let mut roots = AddressRoots { of: vec![None; body.widths.len()], entry };
        let mut changed = true;
        while changed {
            changed = false;
            for st in body.blocks.iter().flat_map(|b| &b.stmts) {
                stmt_defs(st, body.carry_flag(), &mut |r| {
                    let old = roots.of[r.index()];
                    let narrow = body.widths[r.index()].lane_bytes() < 8;
                    let Some(found) = roots.result(st, narrow) else { return };
                    let new = Some(old.map_or(found, |o| o.or(found)));
                    changed |= new != old;
                    roots.of[r.index()] = new;
                });
            }
        }
        roots
    }

    pub(crate) fn root_of_address(&self, addr: &Addr) -> AddressRoot {
        match addr.base {
            AddrBase::Reg(r) => self.of[r.index()].unwrap_or(AddressRoot::Unknown),
            _ => AddressRoot::Unknown,
        }
    }

    /// `None` while an operand's root is not known.
    fn operand(&self, o: Operand) -> Option<AddressRoot> {
        match o {
            Operand::Reg(r) => self.of[r.index()],
            Operand::Address(..) => Some(AddressRoot::Unknown),
            _ => Some(AddressRoot::Number),
        }
    }

    fn result(&self, st: &Stmt<'_>, narrow: bool) -> Option<AddressRoot> {
        use Inst::*;
        let both = |a: Operand, b: Operand| Some((self.operand(a)?, self.operand(b)?));
        match &*st.inst {
            Ld {
                space: Space::Param, addr: Addr { base: AddrBase::Symbol(Symbol::Param(n)), offset }, dsts, ..
            } if self.entry && !narrow && dsts.len() == 1 => Some(AddressRoot::Param(*n, *offset)),
            Mov { src, .. } | Cvta { src, .. } => self.operand(*src),
            Cvt { a, dty, sty, .. } if !dty.is_float() && !sty.is_float() => self.operand(*a),
            Binary { op: BinaryOp::Add | BinaryOp::And | BinaryOp::Or, a, b, .. } => {
                both(*a, *b).map(|(a, b)| a.plus(b))
            }
            Binary { op: BinaryOp::Sub, a, b, .. } => {
                both(*a, *b).map(|(a, b)| if b == AddressRoot::Number { a } else { AddressRoot::Unknown })
            }
            Binary { op: BinaryOp::Min | BinaryOp::Max | BinaryOp::Xor, a, b, .. } => {
                both(*a, *b).map(|(a, b)| a.or(b))
            }
            Unary { a, .. } => self.operand(*a),
            Binary { .. } => Some(AddressRoot::Number),
            Ternary { op: TernaryOp::MadLo | TernaryOp::MadWide, c, .. } => self.operand(*c),
            Selp { a, b, .. } => both(*a, *b).map(|(a, b)| a.or(b)),
            _ if narrow => Some(AddressRoot::Number),
            _ => Some(AddressRoot::Unknown),
        }
    }
}
