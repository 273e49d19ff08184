//! `mbarrier` objects, copies that complete on them and vector atomics to text.

use super::FunctionPrinter;
use super::inst::{semantics_suffix, space_suffix, text_if};
use crate::ast::*;
use crate::keywords::*;

impl FunctionPrinter<'_> {
    /// An instruction that this file knows.
    pub(super) fn sync_text(&self, inst: &Inst) -> String {
        match inst {
            Inst::Mbarrier { op, space: s, dst, addr, a, b } => {
                let words = mbarrier_opcode(*op);
                let dst = match op {
                    MbarrierOp::Arrive { .. } | MbarrierOp::ArriveExpectTx { .. } | MbarrierOp::Wait { .. } => {
                        format!("{}, ", self.reg_or_sink(*dst))
                    }
                    _ => String::new(),
                };
                let rest: String =
                    [a, b].into_iter().flatten().map(|o| format!(", {}", self.operand_text(o))).collect();
                format!("{words}{}.b64 {dst}{}{rest}", space_suffix(*s), self.addr_text(addr))
            }
            Inst::BulkCopy { to, from, dst, src, size, barrier, reduce } => {
                let opcode = if reduce.is_some() { "cp.reduce.async.bulk" } else { "cp.async.bulk" };
                let completes = if barrier.is_some() { ".mbarrier::complete_tx::bytes" } else { ".bulk_group" };
                let op = reduce.map_or(String::new(), |(op, ty)| {
                    let half = op == AtomOp::Add && matches!(ty, Type::F16 | Type::BF16);
                    format!(".{}{}.{}", atom_op_name(op), text_if(half, ".noftz"), type_name(ty))
                });
                let barrier = barrier.as_ref().map_or(String::new(), |b| format!(", {}", self.addr_text(b)));
                let (to, from) = (bulk_copy_space_suffix(*to, barrier.is_empty()), bulk_copy_space_suffix(*from, true));
                let (dst, src, size) = (self.addr_text(dst), self.addr_text(src), self.operand_text(size));
                format!("{opcode}{to}{from}{completes}{op} {dst}, {src}, {size}{barrier}")
            }
            Inst::BulkCommit => "cp.async.bulk.commit_group".into(),
            Inst::BulkWait { n, read } => format!("cp.async.bulk.wait_group{} {n}", text_if(*read, ".read")),
            Inst::AtomVector { space: s, op, ty, sem: order, scope, dsts, addr, srcs } => {
                let half = *ty != Type::F32;
                let (order, scope, s) = (semantics_suffix(*order), scope_name(*scope), space_suffix(*s));
                let (op, noftz, n, ty) = (atom_op_name(*op), text_if(half, ".noftz"), srcs.len(), type_name(*ty));
                let opcode = if dsts.is_some() { "atom" } else { "red" };
                let dsts = dsts.as_ref().map_or(String::new(), |d| format!("{}, ", self.destination_list(d)));
                let (addr, srcs) = (self.addr_text(addr), self.source_list(srcs));
                format!("{opcode}{order}.{scope}{s}.{op}{noftz}.v{n}.{ty} {dsts}{addr}, {srcs}")
            }
            _ => String::new(),
        }
    }
}

/// Destinations in shared memory that are signalled are those of a cluster.
fn bulk_copy_space_suffix(space: Space, own: bool) -> &'static str {
    match space {
        Space::Shared if own => ".shared::cta",
        Space::Shared => ".shared::cluster",
        _ => ".global",
    }
}

fn mbarrier_opcode(op: MbarrierOp) -> String {
    let dropped = |drop| text_if(drop, "_drop");
    match op {
        MbarrierOp::Init => "mbarrier.init".into(),
        MbarrierOp::Inval => "mbarrier.inval".into(),
        MbarrierOp::ExpectTx => "mbarrier.expect_tx.relaxed.cta".into(),
        MbarrierOp::CompleteTx => "mbarrier.complete_tx.relaxed.cta".into(),
        MbarrierOp::Arrive { drop, no_complete } => {
            format!("mbarrier.arrive{}{}", dropped(drop), text_if(no_complete, ".noComplete"))
        }
        MbarrierOp::ArriveExpectTx { drop } => format!("mbarrier.arrive{}.expect_tx", dropped(drop)),
        MbarrierOp::Wait { may_block, parity } => {
            format!("mbarrier.{}_wait{}", if may_block { "try" } else { "test" }, text_if(parity, ".parity"))
        }
        MbarrierOp::CopiesArrive { noinc } => format!("cp.async.mbarrier.arrive{}", text_if(noinc, ".noinc")),
    }
}
