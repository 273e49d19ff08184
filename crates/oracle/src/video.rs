//! Video instructions: elements are read as whole numbers, the operation is done on those, and the result is fitted
//! into what it goes to. How a scalar result is fitted follows the sequences of two words, an upper and a lower one, that
//! `ptxas` makes of these instructions.

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
    let exact = apply_video_op(v.op, source(a, v.a, v.aty), source(b, v.b, v.bty));
    let pair = truncate_bits(64, exact as u128);
    let word = if v.sat { fit_video_word(v, pair) } else { truncate_bits(32, pair) };
    match v.merge {
        VideoMerge::None => word,
        VideoMerge::Add => truncate_bits(32, word + c),
        VideoMerge::Min | VideoMerge::Max => {
            let signed = if matches!(v.op, VideoOp::Set(_)) { v.aty } else { v.dty }.is_signed();
            let left = interpret_bits(64, signed, compared_pair(v, pair, word, signed));
            let right = interpret_bits(32, signed, c);
            let keeps_c = if v.merge == VideoMerge::Min { left >= right } else { left <= right };
            if keeps_c { c } else { word }
        }
        VideoMerge::Insert => {
            let (at, bits) = selector_bit_range(v.d.into());
            let place = truncate_bits(bits, u128::MAX) << at;
            // The upper half is that of the word, and not the lower one moved up.
            let moved = if v.d == 6 { word } else { word << at };
            c & !place | moved & place
        }
    }
}

/// The word that `.sat` leaves of a result of two words.
fn fit_video_word(v: &Video, pair: u128) -> u128 {
    let shifted = matches!(v.op, VideoOp::Shl { .. } | VideoOp::Shr { .. });
    let pair = match v.op {
        VideoOp::Shl { .. } => truncate_bits(64, interpret_bits(34, true, pair) as u128),
        _ => pair,
    };
    let (upper, lower) = (pair >> 32, truncate_bits(32, pair));
    let (negative, all) = (upper >> 31 == 1, truncate_bits(32, u128::MAX));
    let part_bits = selector_bit_range(v.d.into()).1;
    if part_bits < 32 && !shifted {
        let limit = truncate_bits(if v.dty.is_signed() { part_bits - 1 } else { part_bits }, u128::MAX);
        return limit.min(if upper == 0 { lower } else { all });
    }
    match (v.dty.is_signed(), negative) {
        (true, _) if upper == if lower >> 31 == 1 { all } else { 0 } => lower,
        (true, true) => 1 << 31,
        (true, false) => all >> 1,
        (false, true) => 0,
        (false, false) if shifted && upper != 0 => all,
        (false, false) => lower,
    }
}

/// The two words that a second operation compares with `c`.
fn compared_pair(v: &Video, pair: u128, word: u128, signed: bool) -> u128 {
    let extended = truncate_bits(64, interpret_bits(32, true, word) as u128);
    let shift = matches!(v.op, VideoOp::Shl { .. } | VideoOp::Shr { .. });
    match v.op {
        VideoOp::Add | VideoOp::Sub => extended,
        _ if !v.sat => pair,
        _ if signed || shift => extended,
        _ if pair >> 63 == 1 => 0,
        _ => pair,
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
    // The multiplication is one of signed words, whatever the operands are.
    let factor = |word: u128, number: u16, ty: Type| {
        let (at, bits) = selector_bit_range(number.into());
        interpret_bits(32, true, interpret_bits(bits, ty.is_signed(), word >> at) as u128)
    };
    let sign = |negative: bool| if negative { -1 } else { 1 };
    let product = sign(negate_product) * factor(a, v.a, v.aty) * factor(b, v.b, v.bty);
    let sum = product + sign(negate_c) * interpret_bits(32, true, c) + i128::from(plus_one);
    let shifted = interpret_bits(64, signed, sum as u128).div_euclid(1 << shift);
    // An unsigned sum whose upper bit is set counts as negative where nothing was shifted in.
    let result = interpret_bits(64, true, shifted as u128);
    if v.sat { clamp_to_type(32, signed, result) } else { truncate_bits(32, result as u128) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_ptxas() {
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 a, b, c, d;\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx/forms/video.txt");
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let (form, cases) = line.split_once(" | ").expect("a form and its cases");
            let parsed = rtcg_ptx::parse(format!("{head}{form};\nret; }}\n"));
            let Inst::Video { video, .. } = &parsed.module.functions[0].body[0].inst else { panic!("{form}") };
            for case in cases.split(" | ") {
                let words: Vec<u128> = case.split(' ').map(|w| u128::from_str_radix(w, 16).expect("a word")).collect();
                let got = eval_video(video, words[0], words[1], words[2]);
                assert_eq!(got, words[3], "{form} of {case}: {got:x}");
            }
        }
    }
}
