//! Classes of registers in converged code: one scalar for all lanes, a scalar plus a constant
//! stride, or a value per lane.
//!
//! Establishes: while all lanes have taken the same path, a register holds what its class says.
//! Whether it still does after a detour through masked code is checked there at run time, so the
//! treatment of divergent branches here only decides how often that check succeeds.

use super::address_roots::{AddressRoot, AddressRoots};
use super::body::{FunctionBody, Stmt, Terminator, stmt_defs};
use super::control_flow::{BitSet, influence_region};
use super::low_bits::{KnownLowBits, LowBitsAnalysis, is_int_word_type};
use super::pure_instructions;
use super::register_width::{CHUNK_LANES, RegWidth};
use crate::LaunchVariant;
use rtcg_ptx::ast::*;
use std::collections::HashMap;

/// What the lanes of a register have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneClass {
    /// The same value in all lanes.
    Uniform,
    /// Lane `i` holds lane 0's value plus `i` times this stride (modulo the register's width).
    Affine(i64),
    /// Within each chunk of eight lanes as `Affine`; the chunks have nothing in common.
    Chunked(i64),
    /// Anything.
    Varying,
}

impl LaneClass {
    fn join_with(self, other: LaneClass) -> LaneClass {
        match (self.lane_stride(), other.lane_stride()) {
            _ if self == other => self,
            (Some(a), Some(b)) if a == b => LaneClass::Chunked(a),
            _ => LaneClass::Varying,
        }
    }
    /// Whether one scalar stands for all lanes, or one for each chunk.
    pub(crate) fn is_scalar(self) -> bool {
        self != LaneClass::Varying
    }
    /// The step from lane to lane within a chunk.
    pub(crate) fn lane_stride(self) -> Option<i64> {
        match self {
            LaneClass::Uniform => Some(0),
            LaneClass::Affine(s) | LaneClass::Chunked(s) => Some(s),
            LaneClass::Varying => None,
        }
    }
}

/// Lanes farther apart than this are no affine register: where the addresses of lane 0 and lane 31 lie
/// in the device window, those between them must too, which needs that they do not wrap around.
pub(crate) const MAX_LANE_DISTANCE: u64 = 1 << 48;

/// Binary logarithm of the lanes of a chunk.
pub(crate) const CHUNK_LANES_LOG2: i64 = CHUNK_LANES.trailing_zeros() as i64;

/// The result of the analysis of one function.
#[derive(Debug, Clone)]
pub(crate) struct LaneClasses {
    of: Vec<Option<LaneClass>>,
    low: LowBitsAnalysis,
    roots: AddressRoots,
    /// See [`super::signed_division`].
    biased_dividends: HashMap<Reg, Reg>,
    widths: Vec<RegWidth>,
    carry: Reg,
    linear_tid: bool,
    single_thread: bool,
    tid_contiguous_8: bool,
    entry: bool,
    /// Stride of the address of each `.local` variable; `None` for variables of other spaces.
    local_stride: Vec<Option<i64>>,
    /// See [`super::rarely_divergent`].
    rarely_divergent: BitSet,
}

/// How converged code executes a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecMode {
    /// Once, on scalars; each result is uniform.
    Uniform,
    /// Once, on the values of lane 0; each result has this stride.
    Affine(i64),
    /// Once per chunk, on the values of its first lane; each result has this stride in the chunk.
    Chunked(i64),
    /// For the lanes of each chunk.
    Lanes,
}

impl ExecMode {
    pub(crate) fn result_lane_class(self) -> LaneClass {
        match self {
            ExecMode::Uniform => LaneClass::Uniform,
            ExecMode::Affine(s) => LaneClass::Affine(s),
            ExecMode::Chunked(s) => LaneClass::Chunked(s),
            ExecMode::Lanes => LaneClass::Varying,
        }
    }
}

impl LaneClasses {
    /// Analyses `body`.
    pub(crate) fn analyze(
        body: &FunctionBody<'_>,
        f: &Function,
        pitch: u32,
        ipdom: &[Option<usize>],
        live: &[BitSet],
        variant: LaunchVariant,
    ) -> LaneClasses {
        let mut c = LaneClasses {
            of: vec![None; body.widths.len()],
            low: LowBitsAnalysis::analyze(body, variant),
            roots: AddressRoots::analyze(body, f.entry),
            biased_dividends: super::signed_division::biased_dividends(body, live),
            widths: body.widths.clone(),
            carry: body.carry_flag(),
            linear_tid: variant.linear_tid,
            single_thread: variant.single_thread,
            tid_contiguous_8: variant.tid_contiguous_8,
            entry: f.entry,
            local_stride: f.vars.iter().map(|v| (v.space == Space::Local).then_some(i64::from(pitch))).collect(),
            rarely_divergent: BitSet::default(),
        };
        // What may be read before it is written is zero until then, in all lanes.
        live.first().into_iter().flat_map(BitSet::iter_bits).for_each(|r| c.of[r] = Some(LaneClass::Uniform));
        c.solve_to_fixpoint(body);
        let mut handled = BitSet::default();
        let mut spread = BitSet::default();
        loop {
            c.rarely_divergent = super::rarely_divergent::rarely_divergent_registers(body, &c, &spread);
            let mut changed = false;
            for (b, block) in body.blocks.iter().enumerate() {
                if c.may_diverge(&block.term) && !c.rarely_diverges(&block.term) && handled.insert_bit(b) {
                    changed |= c.mark_divergent_writes(body, b, ipdom[b], live, &mut spread);
                }
            }
            if !changed {
                return c;
            }
            c.solve_to_fixpoint(body);
        }
    }

    /// The class of a register; one that is never written is uniform.
    pub(crate) fn lane_class_of(&self, r: Reg) -> LaneClass {
        self.of[r.index()].unwrap_or(LaneClass::Uniform)
    }

    /// Whether a register that this analysis has seen is held as one scalar, or one per chunk.
    pub(crate) fn is_known_scalar(&self, r: Reg) -> bool {
        self.of.get(r.index()).is_some_and(|c| c.is_some_and(LaneClass::is_scalar))
    }

    /// Whether lanes can disagree at a terminator.
    pub(crate) fn may_diverge(&self, term: &Terminator) -> bool {
        match term {
            Terminator::Branch { guard, .. } => !self.lane_class_of(guard.reg).is_scalar(),
            Terminator::Table { index, .. } => self.lane_class_of(*index) != LaneClass::Uniform,
            _ => false,
        }
    }

    /// Whether lanes disagree at a branch in few warps only, if in any.
    pub(crate) fn rarely_diverges(&self, term: &Terminator) -> bool {
        matches!(term, Terminator::Branch { guard, .. } if self.rarely_divergent.contains(guard.reg.index()))
    }

    /// The value of a register that holds one constant everywhere.
    pub(crate) fn constant_value(&self, o: Operand) -> Option<i64> {
        match o {
            Operand::Int(v) => Some(v),
            Operand::Reg(r) => self.low.register_constant(r),
            _ => None,
        }
    }

    /// What is known of the lowest bits of an operand that is read as `bits` bits.
    pub(crate) fn known_low_bits(&self, o: Operand, bits: u32) -> KnownLowBits {
        let rounded = |r: Reg| self.biased_dividend(r).filter(|_| self.lane_class_of(r).lane_stride() != Some(0));
        match o {
            Operand::Reg(r) => self.low.operand_low_bits(rounded(r).map_or(o, Operand::Reg), bits),
            _ => self.low.operand_low_bits(o, bits),
        }
    }

    /// What is divided, where a register holds the sum from which a quotient is taken.
    pub(crate) fn biased_dividend(&self, sum: Reg) -> Option<Reg> {
        self.biased_dividends.get(&sum).copied()
    }

    fn solve_to_fixpoint(&mut self, body: &FunctionBody<'_>) {
        let carry = body.carry_flag();
        let mut changed = true;
        while changed {
            changed = false;
            for st in body.blocks.iter().flat_map(|b| &b.stmts) {
                let class = self.result_class(st);
                stmt_defs(st, carry, &mut |r| {
                    let old = self.of[r.index()];
                    let new = old.map_or(class, |o| o.join_with(class));
                    // A predicate and a 16-bit register cannot be affine.
                    let narrow = matches!(self.widths[r.index()], RegWidth::Pred | RegWidth::W16 | RegWidth::W128);
                    let new = if narrow && new != LaneClass::Uniform { LaneClass::Varying } else { new };
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
    fn mark_divergent_writes(
        &mut self,
        body: &FunctionBody<'_>,
        b: usize,
        end: Option<usize>,
        live: &[BitSet],
        spread: &mut BitSet,
    ) -> bool {
        let Some(end) = end else { return false };
        let carry = body.carry_flag();
        let mut changed = false;
        for x in influence_region(body, b, Some(end)).iter_bits() {
            for st in &body.blocks[x].stmts {
                stmt_defs(st, carry, &mut |r| {
                    if live[end].contains(r.index()) {
                        changed |= spread.insert_bit(r.index());
                        self.of[r.index()] = Some(LaneClass::Varying);
                    }
                });
            }
        }
        changed
    }

    fn result_class(&self, st: &Stmt<'_>) -> LaneClass {
        let class = self.exec_mode(st).result_lane_class();
        match st.guard {
            Some(g) if !self.lane_class_of(g.reg).is_scalar() => LaneClass::Varying,
            _ => class,
        }
    }

    /// The class of an operand.
    pub(crate) fn operand_class(&self, o: Operand) -> LaneClass {
        match o {
            Operand::Reg(r) => self.lane_class_of(r),
            Operand::Special(s) => self.special_register_class(s),
            Operand::Address(Symbol::Local(v), _) => {
                self.local_stride[v.index()].map_or(LaneClass::Uniform, LaneClass::Affine)
            }
            _ => LaneClass::Uniform,
        }
    }

    fn special_register_class(&self, s: SpecialReg) -> LaneClass {
        match s {
            SpecialReg::Tid(_) if self.single_thread => LaneClass::Uniform,
            SpecialReg::Tid(Dim3Component::X) if self.linear_tid => LaneClass::Affine(1),
            SpecialReg::Tid(_) if self.linear_tid => LaneClass::Uniform,
            SpecialReg::Tid(Dim3Component::X) if self.tid_contiguous_8 => LaneClass::Chunked(1),
            SpecialReg::Tid(_) if self.tid_contiguous_8 => LaneClass::Chunked(0),
            SpecialReg::Tid(_) => LaneClass::Varying,
            SpecialReg::LaneId => LaneClass::Affine(1),
            SpecialReg::LaneMaskEq
            | SpecialReg::LaneMaskLe
            | SpecialReg::LaneMaskLt
            | SpecialReg::LaneMaskGe
            | SpecialReg::LaneMaskGt => LaneClass::Varying,
            _ => LaneClass::Uniform,
        }
    }

    /// The class of an address.
    pub(crate) fn address_class(&self, a: &Addr) -> LaneClass {
        match a.base {
            AddrBase::Reg(r) => self.lane_class_of(r),
            AddrBase::Symbol(s) => self.operand_class(Operand::Address(s, 0)),
            AddrBase::Absolute => LaneClass::Uniform,
        }
    }

    /// From which pointer an address comes.
    pub(crate) fn address_root(&self, a: &Addr) -> AddressRoot {
        self.roots.root_of_address(a)
    }

    /// How converged code executes `st`, its guard aside.
    pub(crate) fn exec_mode(&self, st: &Stmt<'_>) -> ExecMode {
        use Inst::*;
        // A scalar under a varying guard could not be blended.
        if st.guard.is_some_and(|g| !self.lane_class_of(g.reg).is_scalar()) {
            return ExecMode::Lanes;
        }
        match &*st.inst {
            Ld { space: Space::Param, addr: Addr { base: AddrBase::Symbol(Symbol::Param(_)), .. }, .. }
                if self.entry =>
            {
                ExecMode::Uniform
            }
            Ld { space: Space::Param, addr, .. } if !self.entry || matches!(addr.base, AddrBase::Symbol(_)) => {
                ExecMode::Lanes
            }
            Ld { addr, .. } if self.address_class(addr) == LaneClass::Uniform => ExecMode::Uniform,
            St { .. } | Ld { .. } => ExecMode::Lanes,
            Cvta { src, .. } => exec_mode_of_class(self.operand_class(*src)),
            Isspacep { a, .. } if self.operand_class(*a) == LaneClass::Uniform => ExecMode::Uniform,
            Activemask { .. } => ExecMode::Uniform,
            Vote { mask, .. } if self.operand_class(*mask) == LaneClass::Uniform => ExecMode::Uniform,
            Redux { mask, .. } if self.operand_class(*mask) == LaneClass::Uniform => ExecMode::Uniform,
            inst if pure_instructions::is_pure(inst) => self.exec_mode_of_pure(st),
            _ => ExecMode::Lanes,
        }
    }

    fn exec_mode_of_pure(&self, st: &Stmt<'_>) -> ExecMode {
        let mut all_uniform =
            !pure_instructions::reads_carry(&st.inst) || self.lane_class_of(self.carry) == LaneClass::Uniform;
        let mut any_varying = !all_uniform;
        let (mut chunked, mut level) = (false, true);
        for (o, _) in pure_instructions::source_operands(&st.inst) {
            let class = self.operand_class(o);
            all_uniform &= class == LaneClass::Uniform;
            any_varying |= class == LaneClass::Varying;
            chunked |= matches!(class, LaneClass::Chunked(_));
            level &= class.lane_stride() == Some(0);
        }
        if all_uniform {
            return ExecMode::Uniform;
        }
        if any_varying {
            return ExecMode::Lanes;
        }
        let exec = if level {
            Some(ExecMode::Uniform)
        } else {
            self.exec_mode_of_affine(&st.inst).or_else(|| self.bitwise_exec_mode(&st.inst, chunked))
        };
        match exec {
            // A value per chunk pays for numbers that address memory, not for predicates.
            Some(e)
                if chunked
                    && pure_instructions::dest_registers(&st.inst)
                        .iter()
                        .all(|d| matches!(d.1, RegWidth::W32 | RegWidth::W64)) =>
            {
                ExecMode::Chunked(e.result_lane_class().lane_stride().unwrap_or(0))
            }
            Some(e) if !chunked => e,
            _ => ExecMode::Lanes,
        }
    }

    fn operand_stride(&self, o: Operand) -> Option<i64> {
        self.operand_class(o).lane_stride()
    }

    /// Pure instructions that keep a constant stride: their result on lane 0 is the plain
    /// instruction on the values of lane 0, and the wrap check that a widening needs is emitted
    /// with it (see [`super::stride_checks`]).
    fn exec_mode_of_affine(&self, inst: &Inst) -> Option<ExecMode> {
        use Inst::*;
        let result = |bits: u32, stride: i64| {
            let stride = if bits == 32 { i64::from(stride as i32) } else { stride };
            match stride {
                0 => Some(ExecMode::Uniform),
                _ => (stride.unsigned_abs() <= MAX_LANE_DISTANCE).then_some(ExecMode::Affine(stride)),
            }
        };
        match inst {
            Mov { ty, dst, src }
                if matches!(ty.bits(), 32 | 64) && self.operands_match_type_widths(*src, *ty, *dst, *ty) =>
            {
                result(ty.bits(), self.operand_stride(*src)?)
            }
            Unary { op: UnaryOp::Not | UnaryOp::Neg, ty, mods, a, .. } if is_int_word_type(*ty) && !mods.sat => {
                result(ty.bits(), self.operand_stride(*a)?.wrapping_neg())
            }
            Binary { op, ty, mods, a, b, .. } if is_int_word_type(*ty) && !mods.sat => {
                let (sa, sb) = (self.operand_stride(*a)?, self.operand_stride(*b)?);
                match op {
                    BinaryOp::Add => result(ty.bits(), sa.wrapping_add(sb)),
                    BinaryOp::Sub => result(ty.bits(), sa.wrapping_sub(sb)),
                    BinaryOp::Mul => result(ty.bits(), self.product_stride(*a, *b)?),
                    // The complement of x is -1 - x.
                    BinaryOp::Xor if self.constant_value(*b) == Some(-1) => result(ty.bits(), sa.wrapping_neg()),
                    BinaryOp::Shl => {
                        let by = self.constant_value(*b).filter(|&n| (0..i64::from(ty.bits())).contains(&n))?;
                        result(ty.bits(), sa.wrapping_shl(by as u32))
                    }
                    BinaryOp::MulWide if ty.bits() == 32 => {
                        let (affine, factor) = self.sign_extended_factor(*a, *b, *ty)?;
                        result(64, self.operand_stride(affine)?.wrapping_mul(factor))
                    }
                    _ => None,
                }
            }
            Ternary { op: TernaryOp::MadLo, ty, mods, a, b, c, .. } if is_int_word_type(*ty) && !mods.sat => {
                result(ty.bits(), self.product_stride(*a, *b)?.wrapping_add(self.operand_stride(*c)?))
            }
            Ternary { op: TernaryOp::MadWide, ty, a, b, c, .. } if is_int_word_type(*ty) && ty.bits() == 32 => {
                let (affine, factor) = self.sign_extended_factor(*a, *b, *ty)?;
                result(64, self.operand_stride(affine)?.wrapping_mul(factor).wrapping_add(self.operand_stride(*c)?))
            }
            Selp { ty, a, b, .. } if is_int_word_type(*ty) => {
                let stride = self.operand_stride(*a).filter(|s| self.operand_stride(*b) == Some(*s))?;
                result(ty.bits(), stride)
            }
            Cvt { dty, sty, mods, dst, a, .. }
                if is_int_word_type(*dty)
                    && is_int_word_type(*sty)
                    && !mods.sat
                    && self.operand_covers_type_width(*a, *sty)
                    && self.operand_matches_type_width(Operand::Reg(*dst), *dty) =>
            {
                // Of a source that is wider than its type the lowest bits are read, which keep the stride.
                let stride = self.operand_stride(*a)?;
                result(dty.bits(), if sty.bits() == 32 { i64::from(stride as i32) } else { stride })
            }
            _ => None,
        }
    }

    /// An immediate, or a register exactly as wide as `ty`.
    pub(crate) fn operand_matches_type_width(&self, o: Operand, ty: Type) -> bool {
        !matches!(o, Operand::Reg(r) if self.widths[r.index()] != RegWidth::from_type(ty))
    }

    /// An immediate, or a register at least as wide as a type of 32 or 64 bits.
    fn operand_covers_type_width(&self, o: Operand, ty: Type) -> bool {
        self.operand_matches_type_width(o, ty)
            || (ty.bits() == 32 && matches!(o, Operand::Reg(r) if self.widths[r.index()] == RegWidth::W64))
    }

    /// Whether source and destination are exactly as wide as their types: a wider register is extended
    /// lane by lane.
    fn operands_match_type_widths(&self, src: Operand, sty: Type, dst: Reg, dty: Type) -> bool {
        self.operand_matches_type_width(src, sty) && self.operand_matches_type_width(Operand::Reg(dst), dty)
    }

    /// The stride of a product with at most one affine factor, whose other factor is a constant.
    fn product_stride(&self, a: Operand, b: Operand) -> Option<i64> {
        match (self.operand_stride(a)?, self.operand_stride(b)?) {
            (0, 0) => Some(0),
            (s, 0) => Some(s.wrapping_mul(self.constant_value(b)?)),
            (0, s) => Some(s.wrapping_mul(self.constant_value(a)?)),
            _ => None,
        }
    }

    /// The affine factor of a widening product and the other one, a constant read at `ty`.
    pub(crate) fn sign_extended_factor(&self, a: Operand, b: Operand, ty: Type) -> Option<(Operand, i64)> {
        let read = |v: i64| if ty.is_signed() { i64::from(v as i32) } else { i64::from(v as u32) };
        match (self.operand_stride(a)?, self.operand_stride(b)?) {
            (s, 0) if s != 0 => Some((a, read(self.constant_value(b)?))),
            (0, s) if s != 0 => Some((b, read(self.constant_value(a)?))),
            _ => None,
        }
    }
}

fn exec_mode_of_class(c: LaneClass) -> ExecMode {
    match c {
        LaneClass::Uniform => ExecMode::Uniform,
        LaneClass::Affine(s) => ExecMode::Affine(s),
        LaneClass::Chunked(s) => ExecMode::Chunked(s),
        LaneClass::Varying => ExecMode::Lanes,
    }
}
