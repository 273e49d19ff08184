//! `mbarrier` objects, copies that complete on them and vector atomics to text.

use super::InFunction;
use super::inst::{flag, sem, space};
use crate::ast::*;
use crate::names::*;

impl InFunction<'_> {
    /// An instruction that this file knows.
    pub(super) fn sync(&self, inst: &Inst) -> String {
        match inst {
            Inst::Mbarrier { op, space: s, dst, addr, a, b } => {
                let words = mbarrier_words(*op);
                let dst = match op {
                    MbarrierOp::Arrive { .. } | MbarrierOp::ArriveExpectTx { .. } | MbarrierOp::Wait { .. } => {
                        format!("{}, ", self.sink(*dst))
                    }
                    _ => String::new(),
                };
                let rest: String = [a, b].into_iter().flatten().map(|o| format!(", {}", self.operand(o))).collect();
                format!("{words}{}.b64 {dst}{}{rest}", space(*s), self.addr(addr))
            }
            Inst::BulkCopy { to, from, dst, src, size, barrier, reduce } => {
                let opcode = if reduce.is_some() { "cp.reduce.async.bulk" } else { "cp.async.bulk" };
                let completes = if barrier.is_some() { ".mbarrier::complete_tx::bytes" } else { ".bulk_group" };
                let op = reduce.map_or(String::new(), |(op, ty)| {
                    let half = op == AtomOp::Add && matches!(ty, Type::F16 | Type::BF16);
                    format!(".{}{}.{}", atom_name(op), flag(half, ".noftz"), type_name(ty))
                });
                let barrier = barrier.as_ref().map_or(String::new(), |b| format!(", {}", self.addr(b)));
                let (to, from) = (bulk_space(*to, barrier.is_empty()), bulk_space(*from, true));
                let (dst, src, size) = (self.addr(dst), self.addr(src), self.operand(size));
                format!("{opcode}{to}{from}{completes}{op} {dst}, {src}, {size}{barrier}")
            }
            Inst::BulkCommit => "cp.async.bulk.commit_group".into(),
            Inst::BulkWait { n, read } => format!("cp.async.bulk.wait_group{} {n}", flag(*read, ".read")),
            Inst::AtomVector { space: s, op, ty, sem: order, scope, dsts, addr, srcs } => {
                let half = *ty != Type::F32;
                let (order, scope, s) = (sem(*order), scope_name(*scope), space(*s));
                let (op, noftz, n, ty) = (atom_name(*op), flag(half, ".noftz"), srcs.len(), type_name(*ty));
                let opcode = if dsts.is_some() { "atom" } else { "red" };
                let dsts = dsts.as_ref().map_or(String::new(), |d| format!("{}, ", self.destinations(d)));
                let (addr, srcs) = (self.addr(addr), self.sources(srcs));
                format!("{opcode}{order}.{scope}{s}.{op}{noftz}.v{n}.{ty} {dsts}{addr}, {srcs}")
            }
            _ => String::new(),
        }
    }
}

/// Destinations in shared memory that are signalled are those of a cluster.
fn bulk_space(space: Space, own: bool) -> &'static str {
    match space {
        Space::Shared if own => ".shared::cta",
        Space::Shared => ".shared::cluster",
        _ => ".global",
    }
}

fn mbarrier_words(op: MbarrierOp) -> String {
    let dropped = |drop| flag(drop, "_drop");
    match op {
        MbarrierOp::Init => "mbarrier.init".into(),
        MbarrierOp::Inval => "mbarrier.inval".into(),
        MbarrierOp::ExpectTx => "mbarrier.expect_tx.relaxed.cta".into(),
        MbarrierOp::CompleteTx => "mbarrier.complete_tx.relaxed.cta".into(),
        MbarrierOp::Arrive { drop, no_complete } => {
            format!("mbarrier.arrive{}{}", dropped(drop), flag(no_complete, ".noComplete"))
        }
        MbarrierOp::ArriveExpectTx { drop } => format!("mbarrier.arrive{}.expect_tx", dropped(drop)),
        MbarrierOp::Wait { may_block, parity } => {
            format!("mbarrier.{}_wait{}", if may_block { "try" } else { "test" }, flag(parity, ".parity"))
        }
        MbarrierOp::CopiesArrive { noinc } => format!("cp.async.mbarrier.arrive{}", flag(noinc, ".noinc")),
    }
}
