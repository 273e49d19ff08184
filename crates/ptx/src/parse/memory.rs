//! Loads, stores, atomics, copies by `cp.async` and cache hints.
//!
//! Cache operators and eviction hints have no effect on results and are dropped, except `.cv` and
//! `.wt`, which ask for memory to be read or written anew and so count as volatile.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::lexer::Kind;
use crate::names::{atom_of, scope_of, space_of};
use Type::*;

const MEMORY: &[Type] = &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

fn eviction(word: &str) -> Option<()> {
    const HINTS: &[&str] = &[
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_last",
    ];
    HINTS.contains(&word).then_some(())
}

fn prefetch_size(word: &str) -> Option<()> {
    matches!(word, "L2::64B" | "L2::128B" | "L2::256B").then_some(())
}

pub(super) fn sem_of(word: &str) -> Option<Sem> {
    Some(match word {
        "weak" => Sem::Weak,
        "volatile" => Sem::Volatile,
        "relaxed" => Sem::Relaxed,
        "acquire" => Sem::Acquire,
        "release" => Sem::Release,
        "acq_rel" => Sem::AcqRel,
        _ => return None,
    })
}

/// What `ld` and `st` have in common before their types.
struct Access {
    sem: Sem,
    scope: Option<Scope>,
    space: Space,
    hint: bool,
    n: usize,
    ty: Type,
}

impl<'s> Parser<'s> {
    fn access(&mut self, m: &mut Modifiers<'s>, ordered: Sem) -> Parsed<Access> {
        let mmio = m.has("mmio");
        let mut sem = m.pick(sem_of);
        let scope = m.pick(scope_of);
        let strong = matches!(sem, Some(Sem::Relaxed | Sem::Acquire | Sem::Release));
        if strong != scope.is_some() || matches!(sem, Some(Sem::AcqRel)) {
            return Err(m.refuse());
        }
        if matches!(sem, Some(Sem::Acquire | Sem::Release)) && sem != Some(ordered) {
            return Err(m.refuse());
        }
        if mmio {
            if sem != Some(Sem::Relaxed) || scope != Some(Scope::Sys) {
                return Err(m.refuse());
            }
            sem = Some(Sem::Mmio);
        }
        let space = m.pick(space_of).unwrap_or(Space::Generic);
        let cached = |word: &str| match word {
            "ca" | "cg" | "cs" | "lu" | "wb" => Some(false),
            "cv" | "wt" => Some(true),
            _ => None,
        };
        let cache = if sem.is_none_or(|sem| sem == Sem::Weak) { m.pick(cached) } else { None };
        if cache == Some(true) {
            sem = Some(Sem::Volatile);
        }
        let mut hinted = false;
        while m.pick(eviction).is_some() {
            hinted = true;
        }
        let hint = m.has("L2::cache_hint");
        hinted |= hint | m.pick(prefetch_size).is_some();
        let n = m.pick(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        let ty = m.ty_in(MEMORY)?;
        let n = n.unwrap_or(1);
        let global = matches!(space, Space::Global | Space::Generic);
        let shared = global || space == Space::Shared;
        // 256 bits at once are for global memory and for elements of 32 and 64 bits.
        let bits = ty.bits() as usize * n;
        let fine = bits <= 128 || (bits == 256 && matches!(ty.bits(), 32 | 64) && global);
        if n > 1 && !fine {
            return Err(m.refuse());
        }
        let ordering = sem.is_some_and(|sem| !matches!(sem, Sem::Weak | Sem::Volatile));
        let volatile = cache.is_none() && sem == Some(Sem::Volatile);
        let local = shared || space == Space::Local;
        if (hinted && !global) || (ordering && !shared) || (volatile && !local) || (mmio && !global) {
            return Err(m.refuse());
        }
        m.done()?;
        Ok(Access { sem: sem.unwrap_or(Sem::Weak), scope, space, hint, n, ty })
    }

    /// The operand of `.L2::cache_hint`, which only steers caches.
    pub(super) fn cache_policy(&mut self, hint: bool) -> Parsed<()> {
        if hint {
            self.comma_src(B64)?;
        }
        Ok(())
    }

    pub(super) fn load(&mut self, m: &mut Modifiers<'s>, uniform: bool) -> Parsed<Inst> {
        let nc = uniform || m.has("nc");
        let Access { sem, scope, space, hint, n, ty } = self.access(m, Sem::Acquire)?;
        let space_fits = space == Space::Global || (uniform && space == Space::Generic);
        if nc && (sem != Sem::Weak || !space_fits || (uniform && (n == 8 || ty.bits() as usize * n > 128))) {
            return Err(m.refuse());
        }
        // Elements of a vector may be left out, but not the only result.
        let dsts = if n == 1 {
            vec![Some(self.reg_of(ty, WidthRule::AtLeast)?)]
        } else {
            self.vector_dst(ty, n, WidthRule::AtLeast)?
        };
        self.comma()?;
        let addr = self.addr(space)?;
        if self.eat_dot(".unified") && !matches!(space, Space::Global | Space::Generic) {
            return Err(m.refuse());
        }
        self.cache_policy(hint)?;
        Ok(Inst::Ld { space, ty, sem, scope, nc, dsts, addr })
    }

    pub(super) fn store(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if matches!(m.words().first(), Some(&("async" | "bulk"))) {
            return self.other(m);
        }
        let Access { sem, scope, space, hint, n, ty } = self.access(m, Sem::Release)?;
        if space == Space::Const {
            return Err(m.refuse());
        }
        let addr = self.addr(space)?;
        self.comma()?;
        let srcs = self.vector_src(ty, n, WidthRule::AtLeast)?;
        self.cache_policy(hint)?;
        Ok(Inst::St { space, ty, sem, scope, addr, srcs })
    }

    pub(super) fn prefetch(&mut self, m: &mut Modifiers<'s>, opcode: &str) -> Parsed<Inst> {
        if m.contains("tensormap") {
            return self.other(m);
        }
        let space = m.pick(space_of).unwrap_or(Space::Generic);
        let fine = match opcode {
            "prefetch" => {
                m.has("L1")
                    || m.has("L2")
                    || (space == Space::Global && m.has("L2::evict_last"))
                    || (space == Space::Global && m.has("L2::evict_normal"))
            }
            "prefetchu" => space == Space::Generic && m.has("L1"),
            "applypriority" => m.has("L2::evict_normal"),
            _ => m.has("L2"),
        };
        if !fine || !matches!(space, Space::Generic | Space::Global | Space::Local) {
            return Err(m.refuse());
        }
        m.done()?;
        let addr = self.addr(space)?;
        if !opcode.starts_with("prefetch") {
            self.comma()?;
            self.integer()?;
        }
        Ok(Inst::Prefetch { space, addr })
    }

    /// A cache policy is opaque and only ever used by hints that are dropped: any value serves.
    pub(super) fn createpolicy(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let fractional = m.has("fractional");
        if !fractional {
            return if m.contains("range") || m.contains("cvt") { self.other(m) } else { Err(m.refuse()) };
        }
        let level = |word: &str| word.starts_with("L2::evict_").then_some(());
        m.need("a priority", level)?;
        m.pick(level);
        m.ty_in(&[B64])?;
        m.done()?;
        let dst = self.dst(B64)?;
        if self.eat(b',') {
            self.src(F32)?;
        }
        Ok(Inst::Mov { ty: B64, dst, src: Operand::Int(0) })
    }

    pub(super) fn atom(&mut self, m: &mut Modifiers<'s>, returns: bool) -> Parsed<Inst> {
        let vector = m.words().iter().any(|word| matches!(*word, "v2" | "v4" | "v8"));
        if m.contains("async") {
            return self.other(m);
        }
        if vector {
            return self.atom_vector(m, returns);
        }
        let sem = m.pick(sem_of).unwrap_or(Sem::Relaxed);
        if matches!(sem, Sem::Weak | Sem::Volatile) || (!returns && !matches!(sem, Sem::Relaxed | Sem::Release)) {
            return Err(m.refuse());
        }
        let scope = m.pick(scope_of).unwrap_or(Scope::Gpu);
        let space = m.pick(space_of).unwrap_or(Space::Generic);
        let op = m.need("an operation", atom_of)?;
        let noftz = m.has("noftz");
        let hint = m.has("L2::cache_hint");
        let ty = m.ty()?;
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
            return Err(m.refuse());
        }
        m.done()?;
        let mut dst = None;
        if returns {
            dst = self.dst_or_sink(ty, WidthRule::Exact)?;
            self.comma()?;
        }
        let addr = self.addr(space)?;
        let b = self.comma_src(ty)?;
        let c = if op == AtomOp::Cas { Some(self.comma_src(ty)?) } else { None };
        self.cache_policy(hint)?;
        Ok(Inst::Atom { space, op, ty, sem, scope, dst, addr, b, c })
    }

    /// `cp.async...` and `cp.reduce.async...`
    pub(super) fn cp(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        match m.words() {
            ["async", "commit_group"] => Ok(Inst::CpAsyncCommit),
            ["async", "wait_all"] => Ok(Inst::CpAsyncWait { n: None }),
            ["async", "wait_group"] => Ok(Inst::CpAsyncWait { n: Some(self.unsigned()?) }),
            ["async", "ca" | "cg", ..] => self.cp_async(m),
            ["async", "mbarrier", ..] => self.cp_async_arrive(m),
            ["async", "bulk", ..] | ["reduce", "async", "bulk", ..] => self.bulk(m),
            _ => Err(m.refuse()),
        }
    }

    fn cp_async(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        m.has("async");
        let all = !m.has("cg");
        if all {
            m.has("ca");
        }
        let (to, from) = (m.pick(space_of), m.pick(space_of));
        let hint = m.has("L2::cache_hint");
        m.pick(prefetch_size);
        if to != Some(Space::Shared) || from != Some(Space::Global) {
            return Err(m.refuse());
        }
        m.done()?;
        let dst = self.addr(Space::Shared)?;
        self.comma()?;
        let src = self.addr(Space::Global)?;
        self.comma()?;
        let token = self.token();
        let size = self.unsigned()?;
        if !(size == 16 || (all && matches!(size, 4 | 8))) {
            return Err(self.semantic(token, format!("`cp.async` cannot copy {size} bytes")));
        }
        let (mut src_size, mut ignore_src) = (None, None);
        if self.is(b',') && !(hint && self.is_policy()) {
            self.advance();
            if self.is(b'!') || self.reg_bits_here() == Some(1) {
                ignore_src = Some(self.pred_src()?);
            } else {
                src_size = Some(self.src(U32)?);
            }
        }
        self.cache_policy(hint)?;
        Ok(Inst::CpAsync { dst, src, size, src_size, ignore_src })
    }

    /// Whether `, x;` follows: the last operand.
    fn is_policy(&self) -> bool {
        self.kind_at(2) == Kind::Punct(b';')
    }
}
