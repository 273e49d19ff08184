//! Masks, shifts and remainders of thread indices: where the lanes differ in their lowest bits only,
//! and those are known (see [`super::low_bits`]), the result's stride is found by computing it for
//! these bits alone.

use super::lane_classes::{ExecMode, LaneClass, LaneClasses, MAX_LANE_DISTANCE};
use super::low_bits::{KnownLowBits, LaneValues, evaluate_inst, is_int_word_type, low_mask, power_of_two_divisor};
use super::register_width::CHUNK_LANES;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WARP_LANES;
use smallvec::{SmallVec, smallvec};

/// The operands of an instruction that works on each bit by itself, or moves all of them down: what it
/// makes of the upper bits and of the lower ones adds up to what it makes of both.
fn bitwise_operands(inst: &Inst) -> Option<(Type, SmallVec<[Operand; 2]>)> {
    match inst {
        Inst::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, ty, a, b, .. } => {
            Some((*ty, smallvec![*a, *b]))
        }
        Inst::Bfi { ty, a, b, .. } => Some((*ty, smallvec![*a, *b])),
        Inst::Binary { op: BinaryOp::Shr, ty, a, .. } | Inst::Ternary { op: TernaryOp::Bfe, ty, a, .. } => {
            Some((*ty, smallvec![*a]))
        }
        Inst::Binary { ty, a, .. } => power_of_two_divisor(inst).map(|_| (*ty, smallvec![*a])),
        _ => None,
    }
}

impl LaneClasses {
    /// How such an instruction is executed, if the lanes of the warp have a stride in its result, or at
    /// least those of each chunk. `chunked` says that an operand has one within chunks only.
    pub(crate) fn bitwise_exec_mode(&self, inst: &Inst, chunked: bool) -> Option<ExecMode> {
        let (ty, operands) = bitwise_operands(inst).filter(|(ty, _)| is_int_word_type(*ty))?;
        let stride = |group| self.bitwise_result_stride(inst, ty.bits(), &operands, group);
        match stride(WARP_LANES).filter(|_| !chunked) {
            Some(0) => Some(ExecMode::Uniform),
            Some(s) => Some(ExecMode::Affine(s)),
            None => stride(CHUNK_LANES).map(ExecMode::Chunked),
        }
    }

    fn bitwise_result_stride(&self, inst: &Inst, width: u32, operands: &[Operand], group: usize) -> Option<i64> {
        let lows: SmallVec<[(KnownLowBits, u32); 2]> =
            operands.iter().map(|&o| self.differing_low_bits(o, width, group)).collect::<Option<_>>()?;
        // A field is taken out of one operand and put into the other, bits of different places meet.
        let meet = !matches!(inst, Inst::Bfi { .. });
        let most = lows.iter().map(|l| l.1).max()?;
        if meet && lows.iter().any(|(low, _)| low.bits < most) {
            return None;
        }
        // The upper bits, which the lanes of a group share, count as zero.
        let lower = |o: Operand, _| {
            let (low, differ) = &lows[operands.iter().position(|x| *x == o)?];
            let kept = low_mask(if meet { most } else { *differ });
            Some(KnownLowBits::new(width, |l| low.lanes[l] & kept))
        };
        let result = evaluate_inst(inst, &lower, &|o| Some(self.known_low_bits(o, 32)))?;
        if result.bits < width {
            return None;
        }
        let stride = sign_extend(result.lanes[1].wrapping_sub(result.lanes[0]), width);
        (stride.unsigned_abs() <= MAX_LANE_DISTANCE && has_stride(&result.lanes, stride, width, group))
            .then_some(stride)
    }

    /// The low bits of an operand with a stride within each group of lanes, and how many of its lowest
    /// bits differ between the lanes of a group. All others are the same there.
    fn differing_low_bits(&self, o: Operand, width: u32, group: usize) -> Option<(KnownLowBits, u32)> {
        let class = self.operand_class(o);
        let stride = class.lane_stride().filter(|_| group <= CHUNK_LANES || !matches!(class, LaneClass::Chunked(_)))?;
        let low = self.known_low_bits(o, width);
        // The lanes have this stride in the lower bits alone, so nothing is carried to the upper ones.
        has_stride(&low.lanes, stride, width, group).then_some(())?;
        let differ = |l: usize| 64 - (low.lanes[l] ^ low.lanes[l - l % group]).leading_zeros();
        Some((low, (0..WARP_LANES).map(differ).max()?))
    }

    /// Whether the values of an operand of `width` bits do not wrap around between the first and the last
    /// lane that its class speaks of, be they signed or not.
    pub(crate) fn lanes_never_wrap(&self, o: Operand, width: u32) -> bool {
        let group = if let LaneClass::Chunked(_) = self.operand_class(o) { CHUNK_LANES } else { WARP_LANES };
        self.differing_low_bits(o, width, group).is_some_and(|(_, bits)| bits < width)
    }
}

/// Whether the numbers go up by `stride` from lane to lane in each group.
fn has_stride(lanes: &LaneValues, stride: i64, width: u32, group: usize) -> bool {
    let steps = |l: usize| (stride as u64).wrapping_mul((l % group) as u64);
    (0..WARP_LANES).all(|l| (lanes[l].wrapping_sub(lanes[l - l % group]).wrapping_sub(steps(l))) & low_mask(width) == 0)
}

/// A number of `width` bits with its sign.
fn sign_extend(n: u64, width: u32) -> i64 {
    (n << (64 - width)) as i64 >> (64 - width)
}
