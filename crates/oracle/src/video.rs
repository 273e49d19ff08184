//! Video instructions, from the description in the PTX ISA: elements are read as whole numbers, the
//! operation is done on those, and the result is fitted into what it goes to.

use crate::int::{clamp_to_type, interpret_bits, truncate_bits};
use rtcg_ptx::ast::*;

/// The result of an instruction for three words.
pub(crate) fn eval_video(v: &Video, a: u128, b: u128, c: u128) -> u128 {
    match (v.op, v.lanes) {
        (VideoOp::Mad { .. }, _) => eval_vmad(v, a, b, c),
        (_, 1) => eval_scalar_video(v, a, b, c),
        _ => eval_simd_video(v, a, b, c),
    }
}

/// First bit and number of bits of a part of a word: all of it, a byte, or a half.
fn selector_bit_range(number: u32) -> (u32, u32) {
    match number {
        0 => (0, 32),
        n @ 1..=4 => ((n - 1) * 8, 8),
        n => ((n - 5) * 16, 16),
    }
}

fn apply_video_op(op: VideoOp, x: i128, y: i128) -> i128 {
    // Shift amounts come from an unsigned operand.
    let amount = |wrap: bool| if wrap { y % 32 } else { y.min(32) };
    match op {
        VideoOp::Add => x + y,
        VideoOp::Sub => x - y,
        VideoOp::AbsDiff => (x - y).abs(),
        VideoOp::Min => x.min(y),
        VideoOp::Max => x.max(y),
        VideoOp::Avg => (x + y + i128::from(x + y >= 0)).div_euclid(2),
        VideoOp::Shl { wrap } => x * (1 << amount(wrap)),
        VideoOp::Shr { wrap } => x.div_euclid(1 << amount(wrap)),
        VideoOp::Set(cmp) => i128::from(match cmp {
            CmpOp::Eq => x == y,
            CmpOp::Ne => x != y,
            CmpOp::Lt => x < y,
            CmpOp::Le => x <= y,
            CmpOp::Gt => x > y,
            _ => x >= y,
        }),
        VideoOp::Mad { .. } => 0,
    }
}

fn eval_scalar_video(v: &Video, a: u128, b: u128, c: u128) -> u128 {
    let source = |word: u128, number: u16, ty: Type| {
        let (at, bits) = selector_bit_range(number.into());
        interpret_bits(bits, ty.is_signed(), word >> at)
    };
    let (at, bits) = selector_bit_range(v.d.into());
    let signed = v.dty.is_signed();
    let exact = apply_video_op(v.op, source(a, v.a, v.aty), source(b, v.b, v.bty));
    let word = if v.sat {
        truncate_bits(32, interpret_bits(bits, signed, clamp_to_type(bits, signed, exact)) as u128)
    } else {
        truncate_bits(32, exact as u128)
    };
    let (x, y) = (interpret_bits(32, signed, word), interpret_bits(32, signed, c));
    match v.merge {
        VideoMerge::None => word,
        VideoMerge::Add => truncate_bits(32, (x + y) as u128),
        VideoMerge::Min => truncate_bits(32, x.min(y) as u128),
        VideoMerge::Max => truncate_bits(32, x.max(y) as u128),
        VideoMerge::Insert => {
            let place = truncate_bits(bits, u128::MAX) << at;
            c & !place | truncate_bits(bits, word) << at
        }
    }
}

fn eval_simd_video(v: &Video, a: u128, b: u128, c: u128) -> u128 {
    let n = u32::from(v.lanes);
    let bits = 32 / n;
    let elements = b << 32 | a;
    let element = |list: u16, i: u32, ty: Type| {
        let number = u32::from(list >> (4 * i)) % 16;
        interpret_bits(bits, ty.is_signed(), elements >> (number * bits))
    };
    let exact = |i: u32| apply_video_op(v.op, element(v.a, i, v.aty), element(v.b, i, v.bty));
    let written = |i: &u32| v.d >> i & 1 != 0;
    if v.merge == VideoMerge::Add {
        return truncate_bits(32, (0..n).filter(written).fold(c as i128, |sum, i| sum + exact(i)) as u128);
    }
    (0..n).filter(written).fold(c, |word, i| {
        let value = if v.sat {
            clamp_to_type(bits, v.dty.is_signed(), exact(i))
        } else {
            truncate_bits(bits, exact(i) as u128)
        };
        word & !(truncate_bits(bits, u128::MAX) << (i * bits)) | value << (i * bits)
    })
}

fn eval_vmad(v: &Video, a: u128, b: u128, c: u128) -> u128 {
    let VideoOp::Mad { negate_product, negate_c, plus_one, shift } = v.op else { return 0 };
    let signed = v.aty.is_signed() || v.bty.is_signed() || negate_product || negate_c;
    let ((a_at, a_bits), (b_at, b_bits)) = (selector_bit_range(v.a.into()), selector_bit_range(v.b.into()));
    let product =
        interpret_bits(a_bits, v.aty.is_signed(), a >> a_at) * interpret_bits(b_bits, v.bty.is_signed(), b >> b_at);
    let sign = |negative: bool| if negative { -1 } else { 1 };
    let sum = sign(negate_product) * product + sign(negate_c) * interpret_bits(32, signed, c) + i128::from(plus_one);
    let shifted = sum.div_euclid(1 << shift);
    if v.sat { clamp_to_type(32, signed, shifted) } else { truncate_bits(32, shifted as u128) }
}
