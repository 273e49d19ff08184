//! Classes of registers in converged code: one scalar for all lanes, a scalar plus a constant
//! stride, or a value per lane.
//!
//! Establishes: while all lanes have taken the same path, a register holds what its class says.
//! Whether it still does after a detour through masked code is checked there at run time, so the
//! treatment of divergent branches here only decides how often that check succeeds.

use super::body::{Body, Stmt, Term, stmt_defs};
use super::flow::{BitSet, influence};
use super::low_bits::{KnownLowBits, LowBits, is_word};
use super::pure;
use super::width::{CHUNK_LANES, Width};
use crate::jit::Variant;
use rtcg_ptx::ast::*;
use std::collections::HashMap;

/// What the lanes of a register have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The same value in all lanes.
    Uniform,
    /// Lane `i` holds lane 0's value plus `i` times this stride (modulo the register's width).
    Affine(i64),
    /// Within each chunk of eight lanes as `Affine`; the chunks have nothing in common.
    Chunked(i64),
    /// Anything.
    Varying,
}

impl Class {
    fn join(self, other: Class) -> Class {
        match (self.stride(), other.stride()) {
            _ if self == other => self,
            (Some(a), Some(b)) if a == b => Class::Chunked(a),
            _ => Class::Varying,
        }
    }
    /// Whether one scalar stands for all lanes, or one for each chunk.
    pub(crate) fn is_scalar(self) -> bool {
        self != Class::Varying
    }
    /// The step from lane to lane within a chunk.
    pub(crate) fn stride(self) -> Option<i64> {
        match self {
            Class::Uniform => Some(0),
            Class::Affine(s) | Class::Chunked(s) => Some(s),
            Class::Varying => None,
        }
    }
}

/// Lanes farther apart than this are no affine register: where the addresses of lane 0 and lane 31 lie
/// in the device window, those between them must too, which needs that they do not wrap around.
pub(crate) const MAX_LANE_DISTANCE: u64 = 1 << 48;

/// Binary logarithm of the lanes of a chunk.
pub(crate) const CHUNKED_BITS: i64 = CHUNK_LANES.trailing_zeros() as i64;

/// The result of the analysis of one function.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    of: Vec<Option<Class>>,
    low: LowBits,
    /// See [`super::signed_division`].
    biased_dividends: HashMap<Reg, Reg>,
    widths: Vec<Width>,
    carry: Reg,
    linear_tid: bool,
    tid_contiguous_8: bool,
    entry: bool,
    /// Stride of the address of each `.local` variable; `None` for variables of other spaces.
    local_stride: Vec<Option<i64>>,
    /// See [`super::rarely_divergent`].
    rarely_divergent: BitSet,
}

/// How converged code executes a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exec {
    /// Once, on scalars; each result is uniform.
    Uniform,
    /// Once, on the values of lane 0; each result has this stride.
    Affine(i64),
    /// Once per chunk, on the values of its first lane; each result has this stride in the chunk.
    Chunked(i64),
    /// For the lanes of each chunk.
    Lanes,
}

impl Exec {
    pub(crate) fn class(self) -> Class {
        match self {
            Exec::Uniform => Class::Uniform,
            Exec::Affine(s) => Class::Affine(s),
            Exec::Chunked(s) => Class::Chunked(s),
            Exec::Lanes => Class::Varying,
        }
    }
}

impl Classes {
    /// Analyses `body`.
    pub(crate) fn of(
        body: &Body<'_>,
        f: &Function,
        pitch: u32,
        ipdom: &[Option<usize>],
        live: &[BitSet],
        variant: Variant,
    ) -> Classes {
        let mut c = Classes {
            of: vec![None; body.widths.len()],
            low: LowBits::of(body, variant),
            biased_dividends: super::signed_division::biased_dividends(body, live),
            widths: body.widths.clone(),
            carry: body.carry(),
            linear_tid: variant.linear_tid,
            tid_contiguous_8: variant.tid_contiguous_8,
            entry: f.entry,
            local_stride: f.vars.iter().map(|v| (v.space == Space::Local).then_some(i64::from(pitch))).collect(),
            rarely_divergent: BitSet::new(body.widths.len()),
        };
        c.solve(body);
        let mut handled = BitSet::new(body.blocks.len());
        let mut spread = BitSet::new(body.widths.len());
        loop {
            c.rarely_divergent = super::rarely_divergent::registers(body, &c, &spread);
            let mut changed = false;
            for (b, block) in body.blocks.iter().enumerate() {
                if c.diverges(&block.term) && !c.rarely_diverges(&block.term) && handled.insert(b) {
                    changed |= c.spread(body, b, ipdom[b], live, &mut spread);
                }
            }
            if !changed {
                return c;
            }
            c.solve(body);
        }
    }

    /// The class of a register; one that is never written is uniform.
    pub(crate) fn get(&self, r: Reg) -> Class {
        self.of[r.index()].unwrap_or(Class::Uniform)
    }

    /// Whether a register that this analysis has seen is held as one scalar, or one per chunk.
    pub(crate) fn is_known_scalar(&self, r: Reg) -> bool {
        self.of.get(r.index()).is_some_and(|c| c.is_some_and(Class::is_scalar))
    }

    /// Whether lanes can disagree at a terminator.
    pub(crate) fn diverges(&self, term: &Term) -> bool {
        match term {
            Term::Branch { guard, .. } => !self.get(guard.reg).is_scalar(),
            Term::Table { index, .. } => self.get(*index) != Class::Uniform,
            _ => false,
        }
    }

    /// Whether lanes disagree at a branch in few warps only, if in any.
    pub(crate) fn rarely_diverges(&self, term: &Term) -> bool {
        matches!(term, Term::Branch { guard, .. } if self.rarely_divergent.holds(guard.reg.index()))
    }

    /// The value of a register that holds one constant everywhere.
    pub(crate) fn constant(&self, o: Operand) -> Option<i64> {
        match o {
            Operand::Int(v) => Some(v),
            Operand::Reg(r) => self.low.constant(r),
            _ => None,
        }
    }

    /// What is known of the lowest bits of an operand that is read as `bits` bits.
    pub(crate) fn low(&self, o: Operand, bits: u32) -> KnownLowBits {
        let rounded = |r: Reg| self.dividend(r).filter(|_| self.get(r).stride() != Some(0));
        match o {
            Operand::Reg(r) => self.low.operand(rounded(r).map_or(o, Operand::Reg), bits),
            _ => self.low.operand(o, bits),
        }
    }

    /// What is divided, where a register holds the sum from which a quotient is taken.
    pub(crate) fn dividend(&self, sum: Reg) -> Option<Reg> {
        self.biased_dividends.get(&sum).copied()
    }

    fn solve(&mut self, body: &Body<'_>) {
        let carry = body.carry();
        let mut changed = true;
        while changed {
            changed = false;
            for st in body.blocks.iter().flat_map(|b| &b.stmts) {
                let class = self.result_class(st);
                stmt_defs(st, carry, &mut |r| {
                    let old = self.of[r.index()];
                    let new = old.map_or(class, |o| o.join(class));
                    // A predicate and a 16-bit register cannot be affine.
                    let narrow = matches!(self.widths[r.index()], Width::Pred | Width::W16 | Width::W128);
                    let new = if narrow && new != Class::Uniform { Class::Varying } else { new };
                    if old != Some(new) {
                        self.of[r.index()] = Some(new);
                        changed = true;
                    }
                });
            }
        }
    }

    /// Registers written under a divergent branch and read where the lanes meet again differ
    /// between the lanes that came along different ways.
    fn spread(&mut self, body: &Body<'_>, b: usize, end: Option<usize>, live: &[BitSet], spread: &mut BitSet) -> bool {
        let Some(end) = end else { return false };
        let carry = body.carry();
        let mut changed = false;
        for x in influence(body, b, Some(end)).iter() {
            for st in &body.blocks[x].stmts {
                stmt_defs(st, carry, &mut |r| {
                    if live[end].contains(r.index()) {
                        changed |= spread.insert(r.index());
                        self.of[r.index()] = Some(Class::Varying);
                    }
                });
            }
        }
        changed
    }

    fn result_class(&self, st: &Stmt<'_>) -> Class {
        let class = self.exec(st).class();
        match st.guard {
            Some(g) if !self.get(g.reg).is_scalar() => Class::Varying,
            _ => class,
        }
    }

    /// The class of an operand.
    pub(crate) fn operand(&self, o: Operand) -> Class {
        match o {
            Operand::Reg(r) => self.get(r),
            Operand::Special(s) => self.special(s),
            Operand::Address(Symbol::Local(v), _) => self.local_stride[v.index()].map_or(Class::Uniform, Class::Affine),
            _ => Class::Uniform,
        }
    }

    fn special(&self, s: SpecialReg) -> Class {
        match s {
            SpecialReg::Tid(Dim::X) if self.linear_tid => Class::Affine(1),
            SpecialReg::Tid(_) if self.linear_tid => Class::Uniform,
            SpecialReg::Tid(Dim::X) if self.tid_contiguous_8 => Class::Chunked(1),
            SpecialReg::Tid(_) if self.tid_contiguous_8 => Class::Chunked(0),
            SpecialReg::Tid(_) => Class::Varying,
            SpecialReg::LaneId => Class::Affine(1),
            SpecialReg::LaneMaskEq
            | SpecialReg::LaneMaskLe
            | SpecialReg::LaneMaskLt
            | SpecialReg::LaneMaskGe
            | SpecialReg::LaneMaskGt => Class::Varying,
            _ => Class::Uniform,
        }
    }

    /// The class of an address.
    pub(crate) fn address(&self, a: &Addr) -> Class {
        match a.base {
            AddrBase::Reg(r) => self.get(r),
            AddrBase::Symbol(s) => self.operand(Operand::Address(s, 0)),
            AddrBase::Absolute => Class::Uniform,
        }
    }

    /// How converged code executes `st`, its guard aside.
    pub(crate) fn exec(&self, st: &Stmt<'_>) -> Exec {
        use Inst::*;
        // A scalar under a varying guard could not be blended.
        if st.guard.is_some_and(|g| !self.get(g.reg).is_scalar()) {
            return Exec::Lanes;
        }
        match &*st.inst {
            Ld { space: Space::Param, addr: Addr { base: AddrBase::Symbol(Symbol::Param(_)), .. }, .. }
                if self.entry =>
            {
                Exec::Uniform
            }
            Ld { space: Space::Param, addr, .. } if !self.entry || matches!(addr.base, AddrBase::Symbol(_)) => {
                Exec::Lanes
            }
            Ld { addr, .. } if self.address(addr) == Class::Uniform => Exec::Uniform,
            St { .. } | Ld { .. } => Exec::Lanes,
            Cvta { src, .. } => class_to_exec(self.operand(*src)),
            Isspacep { a, .. } if self.operand(*a) == Class::Uniform => Exec::Uniform,
            Activemask { .. } => Exec::Uniform,
            Vote { mask, .. } if self.operand(*mask) == Class::Uniform => Exec::Uniform,
            Redux { mask, .. } if self.operand(*mask) == Class::Uniform => Exec::Uniform,
            inst if pure::is_pure(inst) => self.exec_pure(st),
            _ => Exec::Lanes,
        }
    }

    fn exec_pure(&self, st: &Stmt<'_>) -> Exec {
        let mut all_uniform = !pure::reads_carry(&st.inst) || self.get(self.carry) == Class::Uniform;
        let mut any_varying = !all_uniform;
        let (mut chunked, mut level) = (false, true);
        for (o, _) in pure::sources(&st.inst) {
            let class = self.operand(o);
            all_uniform &= class == Class::Uniform;
            any_varying |= class == Class::Varying;
            chunked |= matches!(class, Class::Chunked(_));
            level &= class.stride() == Some(0);
        }
        if all_uniform {
            return Exec::Uniform;
        }
        if any_varying {
            return Exec::Lanes;
        }
        let exec = if level {
            Some(Exec::Uniform)
        } else {
            self.exec_affine(&st.inst).or_else(|| self.exec_masks(&st.inst, chunked))
        };
        match exec {
            // A value per chunk pays for numbers that address memory, not for predicates.
            Some(e) if chunked && pure::dests(&st.inst).iter().all(|d| matches!(d.1, Width::W32 | Width::W64)) => {
                Exec::Chunked(e.class().stride().unwrap_or(0))
            }
            Some(e) if !chunked => e,
            _ => Exec::Lanes,
        }
    }

    fn stride(&self, o: Operand) -> Option<i64> {
        self.operand(o).stride()
    }

    /// Pure instructions that keep a constant stride: their result on lane 0 is the plain
    /// instruction on the values of lane 0, and the wrap check that a widening needs is emitted
    /// with it (see [`super::stride_checks`]).
    fn exec_affine(&self, inst: &Inst) -> Option<Exec> {
        use Inst::*;
        let result = |bits: u32, stride: i64| {
            let stride = if bits == 32 { i64::from(stride as i32) } else { stride };
            match stride {
                0 => Some(Exec::Uniform),
                _ => (stride.unsigned_abs() <= MAX_LANE_DISTANCE).then_some(Exec::Affine(stride)),
            }
        };
        match inst {
            Mov { ty, dst, src } if matches!(ty.bits(), 32 | 64) && self.same_widths(*src, *ty, *dst, *ty) => {
                result(ty.bits(), self.stride(*src)?)
            }
            Unary { op: UnaryOp::Not | UnaryOp::Neg, ty, mods, a, .. } if is_word(*ty) && !mods.sat => {
                result(ty.bits(), self.stride(*a)?.wrapping_neg())
            }
            Binary { op, ty, mods, a, b, .. } if is_word(*ty) && !mods.sat => {
                let (sa, sb) = (self.stride(*a)?, self.stride(*b)?);
                match op {
                    BinaryOp::Add => result(ty.bits(), sa.wrapping_add(sb)),
                    BinaryOp::Sub => result(ty.bits(), sa.wrapping_sub(sb)),
                    BinaryOp::Mul => result(ty.bits(), self.product(*a, *b)?),
                    // The complement of x is -1 - x.
                    BinaryOp::Xor if self.constant(*b) == Some(-1) => result(ty.bits(), sa.wrapping_neg()),
                    BinaryOp::Shl => {
                        let by = self.constant(*b).filter(|&n| (0..i64::from(ty.bits())).contains(&n))?;
                        result(ty.bits(), sa.wrapping_shl(by as u32))
                    }
                    BinaryOp::MulWide if ty.bits() == 32 => {
                        let (affine, factor) = self.wide_factor(*a, *b, *ty)?;
                        result(64, self.stride(affine)?.wrapping_mul(factor))
                    }
                    _ => None,
                }
            }
            Ternary { op: TernaryOp::MadLo, ty, mods, a, b, c, .. } if is_word(*ty) && !mods.sat => {
                result(ty.bits(), self.product(*a, *b)?.wrapping_add(self.stride(*c)?))
            }
            Ternary { op: TernaryOp::MadWide, ty, a, b, c, .. } if is_word(*ty) && ty.bits() == 32 => {
                let (affine, factor) = self.wide_factor(*a, *b, *ty)?;
                result(64, self.stride(affine)?.wrapping_mul(factor).wrapping_add(self.stride(*c)?))
            }
            Selp { ty, a, b, .. } if is_word(*ty) => {
                let stride = self.stride(*a).filter(|s| self.stride(*b) == Some(*s))?;
                result(ty.bits(), stride)
            }
            Cvt { dty, sty, mods, dst, a, .. }
                if is_word(*dty) && is_word(*sty) && !mods.sat && self.same_widths(*a, *sty, *dst, *dty) =>
            {
                result(dty.bits(), self.stride(*a)?)
            }
            _ => None,
        }
    }

    /// An immediate, or a register exactly as wide as `ty`.
    pub(crate) fn same_width(&self, o: Operand, ty: Type) -> bool {
        !matches!(o, Operand::Reg(r) if self.widths[r.index()] != Width::of(ty))
    }

    /// Whether source and destination are exactly as wide as their types: a wider register is extended
    /// lane by lane.
    fn same_widths(&self, src: Operand, sty: Type, dst: Reg, dty: Type) -> bool {
        self.same_width(src, sty) && self.same_width(Operand::Reg(dst), dty)
    }

    /// The stride of a product with at most one affine factor, whose other factor is a constant.
    fn product(&self, a: Operand, b: Operand) -> Option<i64> {
        match (self.stride(a)?, self.stride(b)?) {
            (0, 0) => Some(0),
            (s, 0) => Some(s.wrapping_mul(self.constant(b)?)),
            (0, s) => Some(s.wrapping_mul(self.constant(a)?)),
            _ => None,
        }
    }

    /// The affine factor of a widening product and the other one, a constant read at `ty`.
    pub(crate) fn wide_factor(&self, a: Operand, b: Operand, ty: Type) -> Option<(Operand, i64)> {
        let read = |v: i64| if ty.is_signed() { i64::from(v as i32) } else { i64::from(v as u32) };
        match (self.stride(a)?, self.stride(b)?) {
            (s, 0) if s != 0 => Some((a, read(self.constant(b)?))),
            (0, s) if s != 0 => Some((b, read(self.constant(a)?))),
            _ => None,
        }
    }
}

fn class_to_exec(c: Class) -> Exec {
    match c {
        Class::Uniform => Exec::Uniform,
        Class::Affine(s) => Exec::Affine(s),
        Class::Chunked(s) => Exec::Chunked(s),
        Class::Varying => Exec::Lanes,
    }
}
