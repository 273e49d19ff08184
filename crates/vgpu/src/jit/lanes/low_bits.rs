//! The lowest bits of integers: how many of them are known before the launch, and what they are in
//! each lane.
//!
//! `threadIdx.x` of a block whose rows are multiples of 32 threads ends in the five bits of the lane's
//! number; so does `blockIdx.x * blockDim.x + threadIdx.x`. With that, masks, shifts and remainders by
//! powers of two are seen to be uniform or to have a stride (see [`super::classes`]), and steps from
//! lane to lane that leave the upper bits alone are seen not to wrap around.
//!
//! Establishes: what is said of a register holds of each lane by itself wherever the register is read,
//! whichever way the lane has come, because every definition of the register agrees with it.

use super::body::{Body, Stmt, stmt_defs};
use super::flow::BitSet;
use super::pure;
use super::width::Width;
use crate::abi::WARP_LANES;
use crate::jit::Variant;
use rtcg_ptx::ast::*;
use std::collections::HashMap;

/// A number in each lane.
pub(crate) type Lanes = [u64; WARP_LANES];

/// The lowest bits of a number in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Low {
    /// How many bits are known.
    pub(crate) bits: u32,
    /// The known bits; those above are zero here.
    pub(crate) lanes: Lanes,
}

/// The lowest `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { !0 } else { (1 << bits) - 1 }
}

impl Low {
    const NOTHING: Low = Low { bits: 0, lanes: [0; WARP_LANES] };

    pub(crate) fn new(bits: u32, lane: impl Fn(usize) -> u64) -> Low {
        Low { bits, lanes: std::array::from_fn(|l| lane(l) & mask(bits)) }
    }

    fn constant(n: i64, width: u32) -> Low {
        Low::new(width, |_| n as u64)
    }

    /// The bits that both agree on.
    fn join(&self, other: &Low) -> Low {
        let agree = |l: usize| (self.lanes[l] ^ other.lanes[l]).trailing_zeros();
        let bits = (0..WARP_LANES).map(agree).min().unwrap_or(0).min(self.bits).min(other.bits);
        self.cut(bits)
    }

    /// No more than `bits` of them.
    fn cut(&self, bits: u32) -> Low {
        let bits = bits.min(self.bits);
        Low::new(bits, |l| self.lanes[l])
    }

    /// The lowest bits that are zero in all lanes.
    fn zeros(&self) -> u32 {
        self.lanes.iter().map(|v| v.trailing_zeros()).min().unwrap_or(0).min(self.bits)
    }

    /// The number itself, if all of its `width` bits are known and the same in all lanes.
    fn value(&self, width: u32) -> Option<u64> {
        (self.bits >= width && self.lanes.iter().all(|&v| v == self.lanes[0])).then_some(self.lanes[0])
    }

    fn map(&self, other: &Low, bits: u32, f: impl Fn(u64, u64) -> u64) -> Low {
        Low::new(bits, |l| f(self.lanes[l], other.lanes[l]))
    }

    /// A sum or difference, or another operation whose low bits depend on low bits alone.
    fn carry(&self, other: &Low, f: impl Fn(u64, u64) -> u64) -> Low {
        self.map(other, self.bits.min(other.bits), f)
    }

    fn times(&self, other: &Low, width: u32) -> Low {
        let bits = (self.bits + other.zeros()).min(other.bits + self.zeros()).min(width);
        self.map(other, bits, u64::wrapping_mul)
    }

    /// Conjunction or disjunction; a bit that equals `decides` in one operand decides the result's.
    fn logic(&self, other: &Low, decides: u64, f: impl Fn(u64, u64) -> u64) -> Low {
        let (a, b) = (mask(self.bits), mask(other.bits));
        let known = |l: usize| (a & b) | (a & !(self.lanes[l] ^ decides)) | (b & !(other.lanes[l] ^ decides));
        let bits = (0..WARP_LANES).map(|l| known(l).trailing_ones()).min().unwrap_or(0);
        self.map(other, bits, f)
    }

    fn shift_left(&self, n: u32, width: u32) -> Low {
        if n >= width { Low::constant(0, width) } else { Low::new((self.bits + n).min(width), |l| self.lanes[l] << n) }
    }

    fn shift_right(&self, n: u32, width: u32, signed: bool) -> Low {
        if self.bits < width {
            return Low::new(self.bits.saturating_sub(n), |l| self.lanes[l] >> n.min(63));
        }
        let unused = 64 - width;
        Low::new(width, |l| match signed {
            true => ((self.lanes[l] << unused) as i64 >> unused >> n.min(63)) as u64,
            false => self.lanes[l].checked_shr(n).unwrap_or(0),
        })
    }

    /// As 64 bits, of 32.
    fn widened(&self, signed: bool) -> Low {
        match self.bits {
            32 if signed => Low::new(64, |l| i64::from(self.lanes[l] as u32 as i32) as u64),
            32 => Low { bits: 64, ..*self },
            _ => *self,
        }
    }
}

/// Whether registers of the type hold one integer of 32 or 64 bits.
pub(crate) fn is_word(ty: Type) -> bool {
    !ty.is_float() && matches!(ty.bits(), 32 | 64) && !matches!(ty, Type::U16x2 | Type::S16x2)
}

/// What is known of a function's registers.
#[derive(Debug, Clone)]
pub(crate) struct LowBits {
    of: HashMap<Reg, Low>,
    /// The registers of which a definition has been looked at.
    seen: BitSet,
    widths: Vec<Width>,
    linear_tid: bool,
    rows_of_8: bool,
    rows_of_32: bool,
}

impl LowBits {
    /// Analyses `body`.
    pub(crate) fn of(body: &Body<'_>, variant: Variant) -> LowBits {
        let n = body.widths.len();
        let mut low = LowBits {
            of: HashMap::new(),
            seen: BitSet::new(n),
            widths: body.widths.clone(),
            linear_tid: variant.linear_tid,
            rows_of_8: variant.rows_of_8,
            // A block of one row has full warps only if the row is a multiple of them.
            rows_of_32: variant.linear_tid && variant.full_warps,
        };
        let mut written = BitSet::new(n);
        let statements = || body.blocks.iter().flat_map(|b| &b.stmts);
        statements().for_each(|st| {
            stmt_defs(st, body.carry(), &mut |r| {
                written.insert(r.index());
            });
        });
        for r in (0..n).filter(|&r| !written.contains(r)) {
            low.seen.insert(r);
        }
        let mut changed = true;
        while changed {
            changed = false;
            statements().for_each(|st| changed |= low.visit(st, body.carry()));
        }
        low
    }

    /// Takes the results of a statement into account; says whether that told anything new.
    fn visit(&mut self, st: &Stmt<'_>, carry: Reg) -> bool {
        let read = |o: Operand, bits: u32| self.read(o, bits);
        let Some(value) = evaluate(&st.inst, &read, &|o| read(o, 32)) else { return false };
        let dests = pure::dests(&st.inst);
        let mut changed = false;
        stmt_defs(st, carry, &mut |r| {
            let fits = dests.contains(&(r, self.widths[r.index()]));
            changed |= self.define(r, if fits { value } else { Low::NOTHING });
        });
        changed
    }

    fn define(&mut self, r: Reg, value: Low) -> bool {
        let first = self.seen.insert(r.index());
        let old = self.of.get(&r).copied();
        let new = match old {
            None if first => value,
            None => return false,
            Some(old) => old.join(&value),
        };
        match new.bits {
            0 => self.of.remove(&r),
            _ => self.of.insert(r, new),
        };
        first || old != Some(new)
    }

    /// What is known of an operand that is read as `bits` bits; `None` before any definition of it has
    /// been looked at.
    fn read(&self, o: Operand, bits: u32) -> Option<Low> {
        match o {
            Operand::Reg(r) if !self.seen.holds(r.index()) => None,
            _ => Some(self.operand(o, bits)),
        }
    }

    /// What is known of an operand that is read as `bits` bits.
    pub(crate) fn operand(&self, o: Operand, bits: u32) -> Low {
        match o {
            Operand::Reg(r) => self.of.get(&r).map_or(Low::NOTHING, |low| low.cut(bits)),
            Operand::Int(n) => Low::constant(n, bits),
            Operand::Special(s) => self.special(s).cut(bits),
            _ => Low::NOTHING,
        }
    }

    fn special(&self, s: SpecialReg) -> Low {
        match s {
            SpecialReg::LaneId => Low::new(32, |l| l as u64),
            SpecialReg::Tid(Dim::X) if self.linear_tid => Low::new(5, |l| l as u64),
            SpecialReg::Tid(Dim::X) if self.rows_of_8 => Low::new(3, |l| l as u64),
            SpecialReg::Ntid(Dim::X) if self.rows_of_32 => Low::new(5, |_| 0),
            SpecialReg::Ntid(Dim::X) if self.rows_of_8 => Low::new(3, |_| 0),
            _ => Low::NOTHING,
        }
    }

    /// The number that a register always holds, in all lanes, its sign extended.
    pub(crate) fn constant(&self, r: Reg) -> Option<i64> {
        let width = match self.widths.get(r.index())? {
            Width::W32 => 32,
            Width::W64 => 64,
            _ => return None,
        };
        let value = self.of.get(&r)?.value(width)?;
        Some(if width == 32 { i64::from(value as u32 as i32) } else { value as i64 })
    }
}

/// How the operands of an instruction are read, as so many bits; amounts of shifts by themselves.
/// `None` before any definition of an operand has been looked at.
type Read<'a> = &'a dyn Fn(Operand, u32) -> Option<Low>;
type Amount<'a> = &'a dyn Fn(Operand) -> Option<Low>;

/// What is known of the result of an instruction. `None` if an operand is.
pub(crate) fn evaluate(inst: &Inst, read: Read<'_>, amount: Amount<'_>) -> Option<Low> {
    match inst {
        Inst::Mov { ty, src, .. } if is_word(*ty) => read(*src, ty.bits()),
        Inst::Cvt { dty, sty, mods, a, .. } if is_word(*dty) && is_word(*sty) && !mods.sat => {
            let a = read(*a, sty.bits())?;
            Some(if dty.bits() > sty.bits() { a.widened(sty.is_signed()) } else { a.cut(dty.bits()) })
        }
        Inst::Unary { op: op @ (UnOp::Not | UnOp::Neg), ty, mods, a, .. } if is_word(*ty) && !mods.sat => {
            let a = read(*a, ty.bits())?;
            Some(Low::new(a.bits, |l| if *op == UnOp::Not { !a.lanes[l] } else { a.lanes[l].wrapping_neg() }))
        }
        Inst::Binary { op: op @ (BinOp::Shl | BinOp::Shr), ty, a, b, .. } if is_word(*ty) => {
            let (a, by) = (read(*a, ty.bits())?, amount(*b)?);
            let Some(by) = by.value(32).map(|n| n as u32) else { return Some(Low::NOTHING) };
            let left = *op == BinOp::Shl;
            Some(if left { a.shift_left(by, ty.bits()) } else { a.shift_right(by, ty.bits(), ty.is_signed()) })
        }
        Inst::Binary { op: BinOp::Div | BinOp::Rem, .. } => quotient(inst, read),
        Inst::Binary { op, ty, mods, a, b, .. } if is_word(*ty) && !mods.sat => {
            Some(binary(*op, *ty, &read(*a, ty.bits())?, &read(*b, ty.bits())?))
        }
        Inst::Ternary { op: op @ (TerOp::MadLo | TerOp::MadWide), ty, mods, a, b, c, .. }
            if is_word(*ty) && !mods.sat =>
        {
            let wide = *op == TerOp::MadWide;
            let product = if wide { BinOp::MulWide } else { BinOp::Mul };
            let product = binary(product, *ty, &read(*a, ty.bits())?, &read(*b, ty.bits())?);
            Some(product.carry(&read(*c, if wide { 64 } else { ty.bits() })?, u64::wrapping_add))
        }
        Inst::Ternary { op: TerOp::Bfe, ty, a, b, c, .. } if is_word(*ty) && !ty.is_signed() => {
            Some(field(*ty, &read(*a, ty.bits())?, &amount(*b)?, &amount(*c)?))
        }
        Inst::Bfi { ty, a, b, pos, len, .. } if is_word(*ty) => {
            let (a, b, w) = (read(*a, ty.bits())?, read(*b, ty.bits())?, ty.bits());
            let Some((from, ones)) = placed(w, &amount(*pos)?, &amount(*len)?) else { return Some(Low::NOTHING) };
            let (field, rest) = (Low::constant((ones << from) as i64, w), Low::constant(!(ones << from) as i64, w));
            let inserted = a.shift_left(from, w).logic(&field, 0, |x, y| x & y);
            Some(inserted.logic(&b.logic(&rest, 0, |x, y| x & y), !0, |x, y| x | y))
        }
        Inst::Selp { ty, a, b, .. } if is_word(*ty) => Some(read(*a, ty.bits())?.join(&read(*b, ty.bits())?)),
        _ => Some(Low::NOTHING),
    }
}

fn binary(op: BinOp, ty: Type, a: &Low, b: &Low) -> Low {
    match op {
        BinOp::Add => a.carry(b, u64::wrapping_add),
        BinOp::Sub => a.carry(b, u64::wrapping_sub),
        BinOp::Xor => a.carry(b, |x, y| x ^ y),
        BinOp::And => a.logic(b, 0, |x, y| x & y),
        BinOp::Or => a.logic(b, !0, |x, y| x | y),
        BinOp::Mul => a.times(b, ty.bits()),
        BinOp::MulWide if ty.bits() == 32 => a.widened(ty.is_signed()).times(&b.widened(ty.is_signed()), 64),
        BinOp::Min | BinOp::Max => a.join(b),
        _ => Low::NOTHING,
    }
}

/// Quotient or remainder of an unsigned number by a power of two.
fn quotient(inst: &Inst, read: Read<'_>) -> Option<Low> {
    let Inst::Binary { op, ty, a, .. } = inst else { return Some(Low::NOTHING) };
    let Some(n) = power_of_two(inst) else { return Some(Low::NOTHING) };
    let a = read(*a, ty.bits())?;
    let remainder = Low::constant(n as i64 - 1, ty.bits());
    Some(match op {
        BinOp::Div => a.shift_right(n.trailing_zeros(), ty.bits(), false),
        _ => a.logic(&remainder, 0, |x, y| x & y),
    })
}

/// The divisor of an unsigned division or remainder, if it is a power of two.
pub(crate) fn power_of_two(inst: &Inst) -> Option<u64> {
    let Inst::Binary { op: BinOp::Div | BinOp::Rem, ty, b: Operand::Int(n), .. } = inst else { return None };
    let n = *n as u64 & mask(ty.bits());
    (is_word(*ty) && !ty.is_signed() && n.is_power_of_two()).then_some(n)
}

/// The bits of an unsigned number from `from` on.
fn field(ty: Type, a: &Low, from: &Low, len: &Low) -> Low {
    let Some((from, ones)) = placed(ty.bits(), from, len) else { return Low::NOTHING };
    let ones = Low::constant(ones as i64, ty.bits());
    a.shift_right(from, ty.bits(), false).logic(&ones, 0, |x, y| x & y)
}

/// Where a field begins and as many ones as it has bits, if it lies within `width` bits.
fn placed(width: u32, from: &Low, len: &Low) -> Option<(u32, u64)> {
    let (from, len) = (from.value(32)?, len.value(32)?);
    (from < u64::from(width) && from + len <= u64::from(width)).then_some((from as u32, mask(len as u32)))
}
