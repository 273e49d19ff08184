//! `parse_mbarrier` objects and copies that complete on them, vector atomics, and what a cluster of one
//! block answers by itself.
//!
//! A device of compute capability 8.0 has no clusters, so a block is a cluster of its own: shared
//! memory of the cluster is that of the block, and every address of it belongs to rank 0.

use super::inst::Modifiers;
use super::operand::{ExtraOperands, WidthRule};
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{atom_op_from_keyword, scope_from_keyword, space_from_keyword};
use Type::*;

impl<'s> Parser<'s> {
    pub(super) fn parse_mbarrier(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        match m.all_words().first() {
            Some(&"pending_count") => self.parse_mbarrier_pending_count(m),
            Some(&("test_wait" | "try_wait")) => self.parse_mbarrier_wait(m),
            Some(&("arrive" | "arrive_drop")) => self.parse_mbarrier_arrive(m),
            Some(&("init" | "inval")) => self.parse_mbarrier_init_inval(m),
            Some(&("expect_tx" | "complete_tx")) => self.parse_mbarrier_tx(m),
            _ => Err(m.invalid_combination()),
        }
    }

    /// `.shared{::cta,::cluster}` or nothing, and `.b64`, which end the modifiers.
    fn parse_mbarrier_space(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Space> {
        let space = m.take_first_matching(space_from_keyword).unwrap_or(Space::Generic);
        m.take_type_in(&[B64])?;
        if !matches!(space, Space::Generic | Space::Shared) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        Ok(space)
    }

    /// `.sem.scope`, both or neither. All are executed alike.
    fn check_mbarrier_semantics(&self, m: &mut Modifiers<'s>, sems: &[&str]) -> ParseRuleResult<()> {
        let sem = m.take_first_matching(|word| sems.contains(&word).then_some(()));
        let scope = m.take_first_matching(|word| {
            scope_from_keyword(word).filter(|s| matches!(s, MemoryScope::Cta | MemoryScope::Cluster))
        });
        if sem.is_some() != scope.is_some() { Err(m.invalid_combination()) } else { Ok(()) }
    }

    fn parse_mbarrier_pending_count(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("pending_count");
        m.take_type_in(&[B64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(B32)?;
        let a = self.parse_src(B64)?;
        Ok(Inst::Unary { op: UnaryOp::PendingCount, ty: B64, mods: FpMods::default(), dst, a })
    }

    fn parse_mbarrier_init_inval(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let init = m.take_modifier("init");
        if !init {
            m.take_modifier("inval");
        }
        let space = self.parse_mbarrier_space(m)?;
        let addr = self.parse_addr(space)?;
        let op = if init { MbarrierOp::Init } else { MbarrierOp::Inval };
        let a = if init { Some(self.parse_comma_src(B32)?) } else { None };
        Ok(Inst::Mbarrier { op, space, dst: None, addr, a, b: None })
    }

    fn parse_mbarrier_tx(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let op = if m.take_modifier("expect_tx") { MbarrierOp::ExpectTx } else { MbarrierOp::CompleteTx };
        m.take_modifier("complete_tx");
        self.check_mbarrier_semantics(m, &["relaxed"])?;
        let space = self.parse_mbarrier_space(m)?;
        let addr = self.parse_addr(space)?;
        Ok(Inst::Mbarrier { op, space, dst: None, addr, a: Some(self.parse_comma_src(B32)?), b: None })
    }

    fn parse_mbarrier_arrive(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let drop = m.take_modifier("arrive_drop");
        if !drop {
            m.take_modifier("arrive");
        }
        let expect = m.take_modifier("expect_tx");
        let no_complete = !expect && m.take_modifier("noComplete");
        self.check_mbarrier_semantics(m, &["release", "relaxed"])?;
        let space = self.parse_mbarrier_space(m)?;
        let dst = self.parse_dst_or_sink(B64, WidthRule::Exact)?;
        self.expect_comma()?;
        let addr = self.parse_addr(space)?;
        let counted = expect || no_complete || self.is_punct(b',');
        let a = if counted { Some(self.parse_comma_src(B32)?) } else { None };
        let op = if expect { MbarrierOp::ArriveExpectTx { drop } } else { MbarrierOp::Arrive { drop, no_complete } };
        Ok(Inst::Mbarrier { op, space, dst, addr, a, b: None })
    }

    fn parse_mbarrier_wait(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let may_block = m.take_modifier("try_wait");
        if !may_block {
            m.take_modifier("test_wait");
        }
        let parity = m.take_modifier("parity");
        self.check_mbarrier_semantics(m, &["acquire", "relaxed"])?;
        let space = self.parse_mbarrier_space(m)?;
        let dst = self.parse_dst_comma(Pred)?;
        let addr = self.parse_addr(space)?;
        let a = self.parse_comma_src(if parity { B32 } else { B64 })?;
        let b = if may_block && self.is_punct(b',') { Some(self.parse_comma_src(B32)?) } else { None };
        Ok(Inst::Mbarrier { op: MbarrierOp::Wait { may_block, parity }, space, dst: Some(dst), addr, a: Some(a), b })
    }

    /// `cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [a]`
    pub(super) fn parse_cp_async_arrive(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let known = m.take_modifier("async") && m.take_modifier("mbarrier") && m.take_modifier("arrive");
        if !known {
            return Err(m.invalid_combination());
        }
        let op = MbarrierOp::CopiesArrive { noinc: m.take_modifier("noinc") };
        let space = self.parse_mbarrier_space(m)?;
        Ok(Inst::Mbarrier { op, space, dst: None, addr: self.parse_addr(space)?, a: None, b: None })
    }

    /// `cp.async.bulk...` and `cp.reduce.async.bulk...` of plain bytes; those of tensors, to several
    /// blocks and under a mask of bytes are for devices that have clusters.
    pub(super) fn parse_bulk_copy(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.all_words().iter().any(|w| w.starts_with("tensor") || w.starts_with("multicast") || *w == "cp_mask") {
            return self.parse_unsupported(m);
        }
        let reduces = m.take_modifier("reduce");
        if !(m.take_modifier("async") && m.take_modifier("bulk")) {
            return Err(m.invalid_combination());
        }
        match m.all_words() {
            ["async", "bulk", "commit_group"] => return Ok(Inst::BulkCommit),
            ["async", "bulk", "wait_group"] => return Ok(Inst::BulkWait { n: self.parse_unsigned()?, read: false }),
            ["async", "bulk", "wait_group", "read"] => {
                return Ok(Inst::BulkWait { n: self.parse_unsigned()?, read: true });
            }
            ["async", "bulk", "prefetch", ..] => return self.parse_bulk_prefetch(m),
            _ => {}
        }
        let (Some(to), Some(from)) =
            (m.take_first_matching(space_from_keyword), m.take_first_matching(space_from_keyword))
        else {
            return Err(m.invalid_combination());
        };
        let signals = m.take_modifier("mbarrier::complete_tx::bytes");
        let fine = match (to, from) {
            (Space::Shared, Space::Global) => signals && !reduces,
            (Space::Shared, Space::Shared) => signals,
            (Space::Global, Space::Shared) => !signals && m.take_modifier("bulk_group"),
            _ => false,
        };
        if !fine {
            return Err(m.invalid_combination());
        }
        let hint = m.take_modifier("L2::cache_hint");
        let reduce = if reduces { Some(self.parse_bulk_reduce_op(m, to)?) } else { None };
        m.check_all_taken()?;
        let dst = self.parse_addr(to)?;
        self.expect_comma()?;
        let src = self.parse_addr(from)?;
        let size = self.parse_comma_src(U32)?;
        let mut barrier = None;
        if signals {
            self.expect_comma()?;
            barrier = Some(self.parse_addr(Space::Shared)?);
        }
        self.parse_cache_policy(hint)?;
        Ok(Inst::BulkCopy { to, from, dst, src, size, barrier, reduce })
    }

    fn parse_bulk_reduce_op(&mut self, m: &mut Modifiers<'s>, to: Space) -> ParseRuleResult<(AtomOp, Type)> {
        let op = m.take_required_modifier("an operation", atom_op_from_keyword)?;
        let noftz = m.take_modifier("noftz");
        let ty = m.take_type()?;
        let half = matches!(ty, F16 | BF16);
        let global = to == Space::Global;
        let fine = match op {
            AtomOp::Add if global => matches!(ty, U32 | S32 | U64 | F32 | F64) || half,
            AtomOp::Add => matches!(ty, U32 | S32 | U64),
            AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32) || (global && (half || matches!(ty, U64 | S64))),
            AtomOp::And | AtomOp::Or | AtomOp::Xor => ty == B32 || (global && ty == B64),
            AtomOp::Inc | AtomOp::Dec => ty == U32,
            AtomOp::Exch | AtomOp::Cas => false,
        };
        if fine && noftz == (half && op == AtomOp::Add) { Ok((op, ty)) } else { Err(m.invalid_combination()) }
    }

    /// `cp.async.bulk.prefetch.L2.global [a], size`: a hint.
    fn parse_bulk_prefetch(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let known = m.take_modifier("prefetch")
            && m.take_modifier("L2")
            && m.take_first_matching(space_from_keyword) == Some(Space::Global);
        let hint = m.take_modifier("L2::cache_hint");
        if !known {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let addr = self.parse_addr(Space::Global)?;
        self.parse_comma_src(U32)?;
        self.parse_cache_policy(hint)?;
        Ok(Inst::Prefetch { space: Space::Global, addr })
    }

    /// `atom` and `red` of 2, 4 or 8 elements in global memory. Each element is atomic by itself.
    pub(super) fn parse_atom_vector(&mut self, m: &mut Modifiers<'s>, returns: bool) -> ParseRuleResult<Inst> {
        let sem = m.take_first_matching(super::memory::semantics_from_keyword).unwrap_or(MemorySemantics::Relaxed);
        let scope = m.take_first_matching(scope_from_keyword).unwrap_or(MemoryScope::Gpu);
        let space = m.take_first_matching(space_from_keyword).unwrap_or(Space::Generic);
        let op = m.take_required_modifier("an operation", atom_op_from_keyword)?;
        let noftz = m.take_modifier("noftz");
        let hint = m.take_modifier("L2::cache_hint");
        let n = m.take_required_modifier("a number of elements", |w| {
            ["v2", "v4", "v8"].iter().position(|&v| v == w).map(|i| 2 << i)
        })?;
        let ty = m.take_type()?;
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        let ordered = if returns {
            matches!(
                sem,
                MemorySemantics::Relaxed
                    | MemorySemantics::Acquire
                    | MemorySemantics::Release
                    | MemorySemantics::AcqRel
            )
        } else {
            matches!(sem, MemorySemantics::Relaxed | MemorySemantics::Release)
        };
        let fine = match op {
            AtomOp::Add => ty == F32 || half,
            AtomOp::Min | AtomOp::Max => half,
            _ => false,
        };
        let bytes = ty.bytes() as usize * n;
        if !fine || !ordered || noftz != half || bytes > 16 || !matches!(space, Space::Generic | Space::Global) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let mut dsts = None;
        if returns {
            dsts = Some(self.parse_vector_dst(ty, n, WidthRule::Exact)?);
            self.expect_comma()?;
        }
        let addr = self.parse_addr(space)?;
        self.expect_comma()?;
        let srcs = self.parse_vector_src(ty, n, WidthRule::Exact)?;
        self.parse_cache_policy(hint)?;
        Ok(Inst::AtomVector { space, op, ty, sem, scope, dsts, addr, srcs })
    }

    /// `mapa{.shared::cluster}.type d, a, rank`: `a` itself, for there is only rank 0.
    pub(super) fn parse_mapa(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("shared::cluster");
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(ty)?;
        let src = self.parse_src_with_rules(ty, WidthRule::Exact, ExtraOperands::Address)?;
        self.parse_comma_src(U32)?;
        Ok(Inst::Mov { ty, dst, src })
    }

    /// `getctarank{.shared::cluster}.type d, a`: 0.
    pub(super) fn parse_getctarank(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("shared::cluster");
        let ty = m.take_type_in(&[U32, U64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(U32)?;
        self.parse_src_with_rules(ty, WidthRule::Exact, ExtraOperands::Address)?;
        Ok(Inst::Mov { ty: U32, dst, src: Operand::Int(0) })
    }
}
