//! The lowest bits of integers: how many of them are known before the launch, and what they are in
//! each lane.
//!
//! `threadIdx.x` of a block whose rows are multiples of 32 threads ends in the five bits of the lane's
//! number; so does `blockIdx.x * blockDim.x + threadIdx.x`. With that, masks, shifts and remainders by
//! powers of two are seen to be uniform or to have a stride (see [`super::lane_classes`]), and strides
//! that leave the upper bits unchanged are seen not to wrap around.
//!
//! Establishes: what is said of a register holds of each lane by itself wherever the register is read,
//! whichever way the lane has come, because every definition of the register agrees with it.

use super::body::{FunctionBody, Stmt, stmt_defs};
use super::control_flow::BitSet;
use super::pure_instructions;
use super::register_width::RegWidth;
use crate::LaunchVariant;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WARP_LANES;
use std::collections::HashMap;

/// A number in each lane.
pub(crate) type LaneValues = [u64; WARP_LANES];

/// The lowest bits of a number in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownLowBits {
    /// How many bits are known.
    pub(crate) bits: u32,
    /// The known bits; those above are zero here.
    pub(crate) lanes: LaneValues,
}

/// The lowest `bits` bits.
pub(crate) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { !0 } else { (1 << bits) - 1 }
}

impl KnownLowBits {
    const UNKNOWN_BITS: KnownLowBits = KnownLowBits { bits: 0, lanes: [0; WARP_LANES] };

    pub(crate) fn new(bits: u32, lane: impl Fn(usize) -> u64) -> KnownLowBits {
        KnownLowBits { bits, lanes: std::array::from_fn(|l| lane(l) & low_mask(bits)) }
    }

    fn from_constant(n: i64, width: u32) -> KnownLowBits {
        KnownLowBits::new(width, |_| n as u64)
    }

    /// The bits that both agree on.
    fn agreeing_bits(&self, other: &KnownLowBits) -> KnownLowBits {
        let agree = |l: usize| (self.lanes[l] ^ other.lanes[l]).trailing_zeros();
        let bits = (0..WARP_LANES).map(agree).min().unwrap_or(0).min(self.bits).min(other.bits);
        self.truncate_to(bits)
    }

    /// No more than `bits` of them.
    fn truncate_to(&self, bits: u32) -> KnownLowBits {
        let bits = bits.min(self.bits);
        KnownLowBits::new(bits, |l| self.lanes[l])
    }

    /// The lowest bits that are zero in all lanes.
    fn common_trailing_zeros(&self) -> u32 {
        self.lanes.iter().map(|v| v.trailing_zeros()).min().unwrap_or(0).min(self.bits)
    }

    /// The number itself, if all of its `width` bits are known and the same in all lanes.
    fn uniform_value(&self, width: u32) -> Option<u64> {
        (self.bits >= width && self.lanes.iter().all(|&v| v == self.lanes[0])).then_some(self.lanes[0])
    }

    fn map_bits(&self, other: &KnownLowBits, bits: u32, f: impl Fn(u64, u64) -> u64) -> KnownLowBits {
        KnownLowBits::new(bits, |l| f(self.lanes[l], other.lanes[l]))
    }

    /// A sum or difference, or another operation whose low bits depend on low bits alone.
    fn map_arithmetic(&self, other: &KnownLowBits, f: impl Fn(u64, u64) -> u64) -> KnownLowBits {
        self.map_bits(other, self.bits.min(other.bits), f)
    }

    fn multiply(&self, other: &KnownLowBits, width: u32) -> KnownLowBits {
        let bits =
            (self.bits + other.common_trailing_zeros()).min(other.bits + self.common_trailing_zeros()).min(width);
        self.map_bits(other, bits, u64::wrapping_mul)
    }

    /// Conjunction or disjunction; a bit that equals `decides` in one operand decides the result's.
    fn map_logic(&self, other: &KnownLowBits, decides: u64, f: impl Fn(u64, u64) -> u64) -> KnownLowBits {
        let (a, b) = (low_mask(self.bits), low_mask(other.bits));
        let known = |l: usize| (a & b) | (a & !(self.lanes[l] ^ decides)) | (b & !(other.lanes[l] ^ decides));
        let bits = (0..WARP_LANES).map(|l| known(l).trailing_ones()).min().unwrap_or(0);
        self.map_bits(other, bits, f)
    }

    fn shift_left(&self, n: u32, width: u32) -> KnownLowBits {
        if n >= width {
            KnownLowBits::from_constant(0, width)
        } else {
            KnownLowBits::new((self.bits + n).min(width), |l| self.lanes[l] << n)
        }
    }

    fn shift_right(&self, n: u32, width: u32, signed: bool) -> KnownLowBits {
        if self.bits < width {
            return KnownLowBits::new(self.bits.saturating_sub(n), |l| self.lanes[l] >> n.min(63));
        }
        let unused = 64 - width;
        KnownLowBits::new(width, |l| match signed {
            true => ((self.lanes[l] << unused) as i64 >> unused >> n.min(63)) as u64,
            false => self.lanes[l].checked_shr(n).unwrap_or(0),
        })
    }

    /// As 64 bits, of 32.
    fn extend_to_64_bit(&self, signed: bool) -> KnownLowBits {
        match self.bits {
            32 if signed => KnownLowBits::new(64, |l| i64::from(self.lanes[l] as u32 as i32) as u64),
            32 => KnownLowBits { bits: 64, ..*self },
            _ => *self,
        }
    }
}

/// Whether registers of the type hold one integer of 32 or 64 bits.
pub(crate) fn is_int_word_type(ty: Type) -> bool {
    !ty.is_float() && matches!(ty.bits(), 32 | 64) && !matches!(ty, Type::U16x2 | Type::S16x2)
}

/// What is known of a function's registers.
#[derive(Debug, Clone)]
pub(crate) struct LowBitsAnalysis {
    of: HashMap<Reg, KnownLowBits>,
    /// The registers of which a definition has been looked at.
    seen: BitSet,
    widths: Vec<RegWidth>,
    linear_tid: bool,
    tid_contiguous_8: bool,
    tid_contiguous_32: bool,
}

impl LowBitsAnalysis {
    /// Analyses `body`.
    pub(crate) fn analyze(body: &FunctionBody<'_>, variant: LaunchVariant) -> LowBitsAnalysis {
        let n = body.widths.len();
        let mut low = LowBitsAnalysis {
            of: HashMap::new(),
            seen: BitSet::default(),
            widths: body.widths.clone(),
            linear_tid: variant.linear_tid && !variant.single_thread,
            tid_contiguous_8: variant.tid_contiguous_8,
            // A block of one row has full warps only if the row is a multiple of them.
            tid_contiguous_32: variant.linear_tid && variant.full_warps,
        };
        let mut written = BitSet::default();
        let statements = || body.blocks.iter().flat_map(|b| &b.stmts);
        statements().for_each(|st| {
            stmt_defs(st, body.carry_flag(), &mut |r| {
                written.insert_bit(r.index());
            });
        });
        for r in (0..n).filter(|&r| !written.contains(r)) {
            low.seen.insert_bit(r);
        }
        let mut changed = true;
        while changed {
            changed = false;
            statements().for_each(|st| changed |= low.visit_statement(st, body.carry_flag()));
        }
        low
    }

    /// Takes the results of a statement into account; says whether that told anything new.
    fn visit_statement(&mut self, st: &Stmt<'_>, carry: Reg) -> bool {
        let read = |o: Operand, bits: u32| self.read_operand(o, bits);
        let Some(value) = evaluate_inst(&st.inst, &read, &|o| read(o, 32)) else { return false };
        let dests = pure_instructions::dest_registers(&st.inst);
        let mut changed = false;
        stmt_defs(st, carry, &mut |r| {
            let fits = dests.contains(&(r, self.widths[r.index()]));
            changed |= self.define_register(r, if fits { value } else { KnownLowBits::UNKNOWN_BITS });
        });
        changed
    }

    fn define_register(&mut self, r: Reg, value: KnownLowBits) -> bool {
        let first = self.seen.insert_bit(r.index());
        let old = self.of.get(&r).copied();
        let new = match old {
            None if first => value,
            None => return false,
            Some(old) => old.agreeing_bits(&value),
        };
        match new.bits {
            0 => self.of.remove(&r),
            _ => self.of.insert(r, new),
        };
        first || old != Some(new)
    }

    /// What is known of an operand that is read as `bits` bits; `None` before any definition of it has
    /// been looked at.
    fn read_operand(&self, o: Operand, bits: u32) -> Option<KnownLowBits> {
        match o {
            Operand::Reg(r) if !self.seen.contains(r.index()) => None,
            _ => Some(self.operand_low_bits(o, bits)),
        }
    }

    /// What is known of an operand that is read as `bits` bits.
    pub(crate) fn operand_low_bits(&self, o: Operand, bits: u32) -> KnownLowBits {
        match o {
            Operand::Reg(r) => self.of.get(&r).map_or(KnownLowBits::UNKNOWN_BITS, |low| low.truncate_to(bits)),
            Operand::Int(n) => KnownLowBits::from_constant(n, bits),
            Operand::Special(s) => self.special_register_bits(s).truncate_to(bits),
            _ => KnownLowBits::UNKNOWN_BITS,
        }
    }

    fn special_register_bits(&self, s: SpecialReg) -> KnownLowBits {
        match s {
            SpecialReg::LaneId => KnownLowBits::new(32, |l| l as u64),
            SpecialReg::Tid(Dim3Component::X) if self.linear_tid => KnownLowBits::new(5, |l| l as u64),
            SpecialReg::Tid(Dim3Component::X) if self.tid_contiguous_8 => KnownLowBits::new(3, |l| l as u64),
            SpecialReg::Ntid(Dim3Component::X) if self.tid_contiguous_32 => KnownLowBits::new(5, |_| 0),
            SpecialReg::Ntid(Dim3Component::X) if self.tid_contiguous_8 => KnownLowBits::new(3, |_| 0),
            _ => KnownLowBits::UNKNOWN_BITS,
        }
    }

    /// The number that a register always holds, in all lanes, its sign extended.
    pub(crate) fn register_constant(&self, r: Reg) -> Option<i64> {
        let width = match self.widths.get(r.index())? {
            RegWidth::W32 => 32,
            RegWidth::W64 => 64,
            _ => return None,
        };
        let value = self.of.get(&r)?.uniform_value(width)?;
        Some(if width == 32 { i64::from(value as u32 as i32) } else { value as i64 })
    }
}

/// How the operands of an instruction are read, as so many bits; amounts of shifts by themselves.
/// `None` before any definition of an operand has been looked at.
type ReadOperand<'a> = &'a dyn Fn(Operand, u32) -> Option<KnownLowBits>;
type ReadShiftAmount<'a> = &'a dyn Fn(Operand) -> Option<KnownLowBits>;

/// What is known of the result of an instruction. `None` if an operand is.
pub(crate) fn evaluate_inst(inst: &Inst, read: ReadOperand<'_>, amount: ReadShiftAmount<'_>) -> Option<KnownLowBits> {
    match inst {
        Inst::Mov { ty, src, .. } if is_int_word_type(*ty) => read(*src, ty.bits()),
        Inst::Cvt { dty, sty, mods, a, .. } if is_int_word_type(*dty) && is_int_word_type(*sty) && !mods.sat => {
            let a = read(*a, sty.bits())?;
            Some(if dty.bits() > sty.bits() { a.extend_to_64_bit(sty.is_signed()) } else { a.truncate_to(dty.bits()) })
        }
        Inst::Unary { op: op @ (UnaryOp::Not | UnaryOp::Neg), ty, mods, a, .. }
            if is_int_word_type(*ty) && !mods.sat =>
        {
            let a = read(*a, ty.bits())?;
            Some(KnownLowBits::new(
                a.bits,
                |l| if *op == UnaryOp::Not { !a.lanes[l] } else { a.lanes[l].wrapping_neg() },
            ))
        }
        Inst::Binary { op: op @ (BinaryOp::Shl | BinaryOp::Shr), ty, a, b, .. } if is_int_word_type(*ty) => {
            let (a, by) = (read(*a, ty.bits())?, amount(*b)?);
            let Some(by) = by.uniform_value(32).map(|n| n as u32) else { return Some(KnownLowBits::UNKNOWN_BITS) };
            let left = *op == BinaryOp::Shl;
            Some(if left { a.shift_left(by, ty.bits()) } else { a.shift_right(by, ty.bits(), ty.is_signed()) })
        }
        Inst::Binary { op: BinaryOp::Div | BinaryOp::Rem, .. } => evaluate_division(inst, read),
        Inst::Binary { op, ty, mods, a, b, .. } if is_int_word_type(*ty) && !mods.sat => {
            Some(evaluate_binary(*op, *ty, &read(*a, ty.bits())?, &read(*b, ty.bits())?))
        }
        Inst::Ternary { op: op @ (TernaryOp::MadLo | TernaryOp::MadWide), ty, mods, a, b, c, .. }
            if is_int_word_type(*ty) && !mods.sat =>
        {
            let wide = *op == TernaryOp::MadWide;
            let product = if wide { BinaryOp::MulWide } else { BinaryOp::Mul };
            let product = evaluate_binary(product, *ty, &read(*a, ty.bits())?, &read(*b, ty.bits())?);
            Some(product.map_arithmetic(&read(*c, if wide { 64 } else { ty.bits() })?, u64::wrapping_add))
        }
        Inst::Ternary { op: TernaryOp::Bfe, ty, a, b, c, .. } if is_int_word_type(*ty) && !ty.is_signed() => {
            Some(extract_field(*ty, &read(*a, ty.bits())?, &amount(*b)?, &amount(*c)?))
        }
        Inst::Bfi { ty, a, b, pos, len, .. } if is_int_word_type(*ty) => {
            let (a, b, w) = (read(*a, ty.bits())?, read(*b, ty.bits())?, ty.bits());
            let Some((from, ones)) = field_position(w, &amount(*pos)?, &amount(*len)?) else {
                return Some(KnownLowBits::UNKNOWN_BITS);
            };
            let (field, rest) = (
                KnownLowBits::from_constant((ones << from) as i64, w),
                KnownLowBits::from_constant(!(ones << from) as i64, w),
            );
            let inserted = a.shift_left(from, w).map_logic(&field, 0, |x, y| x & y);
            Some(inserted.map_logic(&b.map_logic(&rest, 0, |x, y| x & y), !0, |x, y| x | y))
        }
        Inst::Selp { ty, a, b, .. } if is_int_word_type(*ty) => {
            Some(read(*a, ty.bits())?.agreeing_bits(&read(*b, ty.bits())?))
        }
        _ => Some(KnownLowBits::UNKNOWN_BITS),
    }
}

fn evaluate_binary(op: BinaryOp, ty: Type, a: &KnownLowBits, b: &KnownLowBits) -> KnownLowBits {
    match op {
        BinaryOp::Add => a.map_arithmetic(b, u64::wrapping_add),
        BinaryOp::Sub => a.map_arithmetic(b, u64::wrapping_sub),
        BinaryOp::Xor => a.map_arithmetic(b, |x, y| x ^ y),
        BinaryOp::And => a.map_logic(b, 0, |x, y| x & y),
        BinaryOp::Or => a.map_logic(b, !0, |x, y| x | y),
        BinaryOp::Mul => a.multiply(b, ty.bits()),
        BinaryOp::MulWide if ty.bits() == 32 => {
            a.extend_to_64_bit(ty.is_signed()).multiply(&b.extend_to_64_bit(ty.is_signed()), 64)
        }
        BinaryOp::Min | BinaryOp::Max => a.agreeing_bits(b),
        _ => KnownLowBits::UNKNOWN_BITS,
    }
}

/// Quotient or remainder of an unsigned number by a power of two.
fn evaluate_division(inst: &Inst, read: ReadOperand<'_>) -> Option<KnownLowBits> {
    let Inst::Binary { op, ty, a, .. } = inst else { return Some(KnownLowBits::UNKNOWN_BITS) };
    let Some(n) = power_of_two_divisor(inst) else { return Some(KnownLowBits::UNKNOWN_BITS) };
    let a = read(*a, ty.bits())?;
    let remainder = KnownLowBits::from_constant(n as i64 - 1, ty.bits());
    Some(match op {
        BinaryOp::Div => a.shift_right(n.trailing_zeros(), ty.bits(), false),
        _ => a.map_logic(&remainder, 0, |x, y| x & y),
    })
}

/// The divisor of an unsigned division or remainder, if it is a power of two.
pub(crate) fn power_of_two_divisor(inst: &Inst) -> Option<u64> {
    let Inst::Binary { op: BinaryOp::Div | BinaryOp::Rem, ty, b: Operand::Int(n), .. } = inst else { return None };
    let n = *n as u64 & low_mask(ty.bits());
    (is_int_word_type(*ty) && !ty.is_signed() && n.is_power_of_two()).then_some(n)
}

/// The bits of an unsigned number from `from` on.
fn extract_field(ty: Type, a: &KnownLowBits, from: &KnownLowBits, len: &KnownLowBits) -> KnownLowBits {
    let Some((from, ones)) = field_position(ty.bits(), from, len) else { return KnownLowBits::UNKNOWN_BITS };
    let ones = KnownLowBits::from_constant(ones as i64, ty.bits());
    a.shift_right(from, ty.bits(), false).map_logic(&ones, 0, |x, y| x & y)
}

/// Where a field begins and as many ones as it has bits, if it lies within `width` bits.
fn field_position(width: u32, from: &KnownLowBits, len: &KnownLowBits) -> Option<(u32, u64)> {
    let (from, len) = (from.uniform_value(32)?, len.uniform_value(32)?);
    (from < u64::from(width) && from + len <= u64::from(width)).then_some((from as u32, low_mask(len as u32)))
}
