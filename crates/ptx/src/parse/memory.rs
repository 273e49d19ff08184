//! Loads, stores, atomics, copies by `cp.async` and cache hints.
//!
//! Cache operators and eviction hints have no effect on results and are dropped, except `.cv` and
//! `.wt`, which ask for memory to be read or written anew and so count as volatile.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{atom_op_from_keyword, scope_from_keyword, space_from_keyword};
use crate::lexer::TokenKind;
use Type::*;

const MEMORY_TYPES: &[Type] = &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

fn match_eviction_hint(word: &str) -> Option<()> {
    const EVICTION_HINTS: &[&str] = &[
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_last",
    ];
    EVICTION_HINTS.contains(&word).then_some(())
}

fn match_prefetch_size(word: &str) -> Option<()> {
    matches!(word, "L2::64B" | "L2::128B" | "L2::256B").then_some(())
}

pub(super) fn semantics_from_keyword(word: &str) -> Option<MemorySemantics> {
    Some(match word {
        "weak" => MemorySemantics::Weak,
        "volatile" => MemorySemantics::Volatile,
        "relaxed" => MemorySemantics::Relaxed,
        "acquire" => MemorySemantics::Acquire,
        "release" => MemorySemantics::Release,
        "acq_rel" => MemorySemantics::AcqRel,
        _ => return None,
    })
}

/// What `ld` and `st` have in common before their types.
struct AccessPrefix {
    sem: MemorySemantics,
    scope: Option<MemoryScope>,
    space: Space,
    hint: bool,
    n: usize,
    ty: Type,
}

impl<'s> Parser<'s> {
    fn parse_access_prefix(
        &mut self,
        m: &mut Modifiers<'s>,
        ordered: MemorySemantics,
    ) -> ParseRuleResult<AccessPrefix> {
        let mmio = m.take_modifier("mmio");
        let mut sem = m.take_first_matching(semantics_from_keyword);
        let scope = m.take_first_matching(scope_from_keyword);
        let strong =
            matches!(sem, Some(MemorySemantics::Relaxed | MemorySemantics::Acquire | MemorySemantics::Release));
        if strong != scope.is_some() || matches!(sem, Some(MemorySemantics::AcqRel)) {
            return Err(m.invalid_combination());
        }
        if matches!(sem, Some(MemorySemantics::Acquire | MemorySemantics::Release)) && sem != Some(ordered) {
            return Err(m.invalid_combination());
        }
        if mmio {
            if sem != Some(MemorySemantics::Relaxed) || scope != Some(MemoryScope::Sys) {
                return Err(m.invalid_combination());
            }
            sem = Some(MemorySemantics::Mmio);
        }
        let space = m.take_first_matching(space_from_keyword).unwrap_or(Space::Generic);
        let cached = |word: &str| match word {
            "ca" | "cg" | "cs" | "lu" | "wb" => Some(false),
            "cv" | "wt" => Some(true),
            _ => None,
        };
        let cache =
            if sem.is_none_or(|sem| sem == MemorySemantics::Weak) { m.take_first_matching(cached) } else { None };
        if cache == Some(true) {
            sem = Some(MemorySemantics::Volatile);
        }
        let mut hinted = false;
        while m.take_first_matching(match_eviction_hint).is_some() {
            hinted = true;
        }
        let hint = m.take_modifier("L2::cache_hint");
        hinted |= hint | m.take_first_matching(match_prefetch_size).is_some();
        let n = m.take_first_matching(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        let ty = m.take_type_in(MEMORY_TYPES)?;
        let n = n.unwrap_or(1);
        let global = matches!(space, Space::Global | Space::Generic);
        let shared = global || space == Space::Shared;
        // 256 bits at once are for global memory and for elements of 32 and 64 bits.
        let bits = ty.bits() as usize * n;
        let fine = bits <= 128 || (bits == 256 && matches!(ty.bits(), 32 | 64) && global);
        if n > 1 && !fine {
            return Err(m.invalid_combination());
        }
        let ordering = sem.is_some_and(|sem| !matches!(sem, MemorySemantics::Weak | MemorySemantics::Volatile));
        let volatile = cache.is_none() && sem == Some(MemorySemantics::Volatile);
        let local = shared || space == Space::Local;
        if (hinted && !global) || (ordering && !shared) || (volatile && !local) || (mmio && !global) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        Ok(AccessPrefix { sem: sem.unwrap_or(MemorySemantics::Weak), scope, space, hint, n, ty })
    }

    /// The operand of `.L2::cache_hint`, which only steers caches.
    pub(super) fn parse_cache_policy(&mut self, hint: bool) -> ParseRuleResult<()> {
        if hint {
            self.parse_comma_src(B64)?;
        }
        Ok(())
    }

    pub(super) fn parse_load(&mut self, m: &mut Modifiers<'s>, uniform: bool) -> ParseRuleResult<Inst> {
        let nc = uniform || m.take_modifier("nc");
        let AccessPrefix { sem, scope, space, hint, n, ty } = self.parse_access_prefix(m, MemorySemantics::Acquire)?;
        let space_fits = space == Space::Global || (uniform && space == Space::Generic);
        if nc && (sem != MemorySemantics::Weak || !space_fits || (uniform && (n == 8 || ty.bits() as usize * n > 128)))
        {
            return Err(m.invalid_combination());
        }
        // Elements of a vector may be left out, but not the only result.
        let dsts = if n == 1 {
            vec![Some(self.parse_reg_of_type(ty, WidthRule::AtLeast)?)]
        } else {
            self.parse_vector_dst(ty, n, WidthRule::AtLeast)?
        };
        self.expect_comma()?;
        let (addr, space) = self.parse_access(space, true)?;
        if self.eat_dot_word(".unified") && !matches!(space, Space::Global | Space::Generic) {
            return Err(m.invalid_combination());
        }
        self.parse_cache_policy(hint)?;
        Ok(Inst::Ld { space, ty, sem, scope, nc, dsts, addr })
    }

    pub(super) fn parse_store(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if matches!(m.all_words().first(), Some(&("async" | "bulk"))) {
            return self.parse_unsupported(m);
        }
        let AccessPrefix { sem, scope, space, hint, n, ty } = self.parse_access_prefix(m, MemorySemantics::Release)?;
        if space == Space::Const {
            return Err(m.invalid_combination());
        }
        let (addr, space) = self.parse_access(space, true)?;
        self.expect_comma()?;
        let srcs = self.parse_vector_src(ty, n, WidthRule::AtLeast)?;
        self.parse_cache_policy(hint)?;
        Ok(Inst::St { space, ty, sem, scope, addr, srcs })
    }

    pub(super) fn parse_prefetch(&mut self, m: &mut Modifiers<'s>, opcode: &str) -> ParseRuleResult<Inst> {
        if m.has_modifier("tensormap") {
            return self.parse_unsupported(m);
        }
        let space = m.take_first_matching(space_from_keyword).unwrap_or(Space::Generic);
        let fine = match opcode {
            "prefetch" => {
                m.take_modifier("L1")
                    || m.take_modifier("L2")
                    || (space == Space::Global && m.take_modifier("L2::evict_last"))
                    || (space == Space::Global && m.take_modifier("L2::evict_normal"))
            }
            "prefetchu" => space == Space::Generic && m.take_modifier("L1"),
            "applypriority" => m.take_modifier("L2::evict_normal"),
            _ => m.take_modifier("L2"),
        };
        if !fine || !matches!(space, Space::Generic | Space::Global | Space::Local) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let addr = self.parse_addr(space)?;
        if !opcode.starts_with("prefetch") {
            self.expect_comma()?;
            self.parse_integer()?;
        }
        Ok(Inst::Prefetch { space, addr })
    }

    /// A cache policy is opaque and only ever used by hints that are dropped: any value serves.
    pub(super) fn parse_createpolicy(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.has_modifier("cvt") {
            return self.parse_unsupported(m);
        }
        let of_range = m.take_modifier("range");
        if of_range {
            m.take_first_matching(|word| matches!(word, "global").then_some(()));
        } else if !m.take_modifier("fractional") {
            return Err(m.invalid_combination());
        }
        let level = |word: &str| word.starts_with("L2::evict_").then_some(());
        m.take_required_modifier("a priority", level)?;
        m.take_first_matching(level);
        m.take_type_in(&[B64])?;
        m.check_all_taken()?;
        let dst = self.parse_dst_reg(B64)?;
        if of_range {
            // The first address, the bytes of the primary range, and all bytes.
            self.expect_comma()?;
            self.parse_addr(Space::Global)?;
            for _ in 0..2 {
                self.expect_comma()?;
                self.parse_src(U32)?;
            }
        } else if self.eat_punct(b',') {
            self.parse_src(F32)?;
        }
        Ok(Inst::Mov { ty: B64, dst, src: Operand::Int(0) })
    }

    pub(super) fn parse_atom(&mut self, m: &mut Modifiers<'s>, returns: bool) -> ParseRuleResult<Inst> {
        let vector = m.all_words().iter().any(|word| matches!(*word, "v2" | "v4" | "v8"));
        if m.has_modifier("async") {
            return self.parse_unsupported(m);
        }
        if vector {
            return self.parse_atom_vector(m, returns);
        }
        let sem = m.take_first_matching(semantics_from_keyword).unwrap_or(MemorySemantics::Relaxed);
        if matches!(sem, MemorySemantics::Weak | MemorySemantics::Volatile)
            || (!returns && !matches!(sem, MemorySemantics::Relaxed | MemorySemantics::Release))
        {
            return Err(m.invalid_combination());
        }
        let scope = m.take_first_matching(scope_from_keyword).unwrap_or(MemoryScope::Gpu);
        let space = m.take_first_matching(space_from_keyword).unwrap_or(Space::Generic);
        let op = m.take_required_modifier("an operation", atom_op_from_keyword)?;
        let noftz = m.take_modifier("noftz");
        let hint = m.take_modifier("L2::cache_hint");
        let ty = m.take_type()?;
        let half = matches!(ty, F16 | F16x2 | BF16 | BF16x2);
        let fine = match op {
            AtomOp::Add => matches!(ty, U32 | S32 | U64 | F32 | F64) || half,
            AtomOp::Min | AtomOp::Max => matches!(ty, U32 | S32 | U64 | S64),
            AtomOp::And | AtomOp::Or | AtomOp::Xor => matches!(ty, B32 | B64),
            AtomOp::Exch => returns && matches!(ty, B32 | B64 | B128),
            AtomOp::Cas => returns && matches!(ty, B16 | B32 | B64 | B128),
            AtomOp::Inc | AtomOp::Dec => ty == U32,
        };
        if !fine || noftz != half || !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let mut dst = None;
        if returns {
            dst = self.parse_dst_or_sink(ty, WidthRule::Exact)?;
            self.expect_comma()?;
        }
        let (addr, space) = self.parse_access(space, false)?;
        let b = self.parse_comma_src(ty)?;
        let c = if op == AtomOp::Cas { Some(self.parse_comma_src(ty)?) } else { None };
        self.parse_cache_policy(hint)?;
        Ok(Inst::Atom { space, op, ty, sem, scope, dst, addr, b, c })
    }

    /// `cp.async...` and `cp.reduce.async...`
    pub(super) fn parse_cp(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        match m.all_words() {
            ["async", "commit_group"] => Ok(Inst::CpAsyncCommit),
            ["async", "wait_all"] => Ok(Inst::CpAsyncWait { n: None }),
            ["async", "wait_group"] => Ok(Inst::CpAsyncWait { n: Some(self.parse_unsigned()?) }),
            ["async", "ca" | "cg", ..] => self.parse_cp_async(m),
            ["async", "mbarrier", ..] => self.parse_cp_async_arrive(m),
            ["async", "bulk", ..] | ["reduce", "async", "bulk", ..] => self.parse_bulk_copy(m),
            _ => Err(m.invalid_combination()),
        }
    }

    fn parse_cp_async(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        m.take_modifier("async");
        let all = !m.take_modifier("cg");
        if all {
            m.take_modifier("ca");
        }
        let (to, from) = (m.take_first_matching(space_from_keyword), m.take_first_matching(space_from_keyword));
        let hint = m.take_modifier("L2::cache_hint");
        m.take_first_matching(match_prefetch_size);
        if to != Some(Space::Shared) || from != Some(Space::Global) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let dst = self.parse_addr(Space::Shared)?;
        self.expect_comma()?;
        let src = self.parse_addr(Space::Global)?;
        self.expect_comma()?;
        let token = self.current_token();
        let size = self.parse_unsigned()?;
        if !(size == 16 || (all && matches!(size, 4 | 8))) {
            return Err(self.semantic_error(token, format!("`cp.async` cannot copy {size} bytes")));
        }
        let (mut src_size, mut ignore_src) = (None, None);
        if self.is_punct(b',') && !(hint && self.is_last_operand_next()) {
            self.advance();
            if self.is_punct(b'!') || self.current_reg_bits() == Some(1) {
                ignore_src = Some(self.parse_pred_src()?);
            } else {
                let token = self.current_token();
                src_size = Some(self.parse_src(U32)?);
                if matches!(src_size, Some(Operand::Int(n)) if u64::from(size) < n as u64) {
                    let message = format!("`cp.async` of {size} bytes cannot read more of them");
                    return Err(self.semantic_error(token, message));
                }
            }
        }
        self.parse_cache_policy(hint)?;
        Ok(Inst::CpAsync { dst, src, size, src_size, ignore_src })
    }

    /// Whether `, x;` follows: the last operand.
    fn is_last_operand_next(&self) -> bool {
        self.peek_kind(2) == TokenKind::Punct(b';')
    }
}
