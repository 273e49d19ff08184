//! Video instructions as devices since compute capability 5.0 emulate them, on 64-bit intermediate values.
//!
//! A device has no such instructions; `ptxas` replaces each by a sequence, whose results differ from the pseudo code of
//! the PTX ISA in scalar instructions that saturate, that insert into `.h1`, or that compare with `c`. The rules here
//! give the results of those sequences (of `ptxas` 13.0 for sm_90, for all forms) and of the device (question 34 of
//! `tests/fidelity`).

use rtcg_ptx::ast::{CmpOp, Type, Video, VideoMerge, VideoOp};

const VIDEO_COMPARISONS: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
const VIDEO_MERGES: [VideoMerge; 5] =
    [VideoMerge::None, VideoMerge::Add, VideoMerge::Min, VideoMerge::Max, VideoMerge::Insert];

/// A video instruction in one word, so that compiled code can pass it as an operand.
#[inline]
pub fn encode_video(v: &Video) -> u64 {
    let position = |list: &[CmpOp], cmp| list.iter().position(|&c| c == cmp).unwrap_or(0) as u64;
    let (op, extra) = match v.op {
        VideoOp::Add => (0, 0),
        VideoOp::Sub => (1, 0),
        VideoOp::AbsDiff => (2, 0),
        VideoOp::Min => (3, 0),
        VideoOp::Max => (4, 0),
        VideoOp::Avg => (5, 0),
        VideoOp::Shl { wrap } => (6, u64::from(wrap)),
        VideoOp::Shr { wrap } => (7, u64::from(wrap)),
        VideoOp::Set(cmp) => (8, position(&VIDEO_COMPARISONS, cmp)),
        VideoOp::Mad { negate_product, negate_c, plus_one, shift } => {
            let flags = u64::from(negate_product) | u64::from(negate_c) << 1 | u64::from(plus_one) << 2;
            (9, flags | u64::from(shift) << 3)
        }
    };
    let merge = VIDEO_MERGES.iter().position(|&m| m == v.merge).unwrap_or(0) as u64;
    let signs = [v.dty, v.aty, v.bty].iter().enumerate().fold(0, |w, (i, t)| w | u64::from(t.is_signed()) << i);
    let head = op | u64::from(v.lanes) << 4 | signs << 7 | u64::from(v.sat) << 10 | merge << 11 | extra << 14;
    head | u64::from(v.d) << 24 | u64::from(v.a) << 32 | u64::from(v.b) << 48
}

/// The inverse of [`encode_video`].
#[inline]
pub fn decode_video(word: u64) -> Video {
    let field = |at: u32, bits: u32| word >> at & ((1 << bits) - 1);
    let ty = |i: u32| if field(7 + i, 1) != 0 { Type::S32 } else { Type::U32 };
    let extra = field(14, 10);
    let op = match field(0, 4) {
        0 => VideoOp::Add,
        1 => VideoOp::Sub,
        2 => VideoOp::AbsDiff,
        3 => VideoOp::Min,
        4 => VideoOp::Max,
        5 => VideoOp::Avg,
        6 => VideoOp::Shl { wrap: extra != 0 },
        7 => VideoOp::Shr { wrap: extra != 0 },
        8 => VideoOp::Set(VIDEO_COMPARISONS[extra as usize % 6]),
        _ => VideoOp::Mad {
            negate_product: extra & 1 != 0,
            negate_c: extra & 2 != 0,
            plus_one: extra & 4 != 0,
            shift: (extra >> 3 & 15) as u8,
        },
    };
    Video {
        op,
        lanes: field(4, 3) as u8,
        dty: ty(0),
        aty: ty(1),
        bty: ty(2),
        sat: field(10, 1) != 0,
        merge: VIDEO_MERGES[field(11, 3) as usize % 5],
        d: field(24, 8) as u8,
        a: field(32, 16) as u16,
        b: field(48, 16) as u16,
    }
}

/// `bits` bits of `word` from `at` on, extended.
fn extract_field(word: u64, at: u32, bits: u32, signed: bool) -> i64 {
    let up = (word << (64 - bits - at)) as i64;
    if signed { up >> (64 - bits) } else { (up as u64 >> (64 - bits)) as i64 }
}

/// Place and size of a part of a word.
fn subword_field(part: u16) -> (u32, u32) {
    match part {
        1..=4 => (8 * u32::from(part - 1), 8),
        5 | 6 => (16 * u32::from(part - 5), 16),
        _ => (0, 32),
    }
}

fn clamp_to_width(x: i64, bits: u32, signed: bool) -> i64 {
    if signed { x.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { x.clamp(0, (1 << bits) - 1) }
}

fn video_operation(op: VideoOp, a: i64, b: i64) -> i64 {
    match op {
        VideoOp::Add => a + b,
        VideoOp::Sub => a - b,
        VideoOp::AbsDiff => (a - b).abs(),
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::Avg if a + b >= 0 => (a + b + 1) >> 1,
        VideoOp::Avg => (a + b) >> 1,
        VideoOp::Shl { wrap: true } => a << (b & 31),
        // A word that is shifted by 32 may lose its uppermost bit.
        VideoOp::Shl { wrap: false } => a << b.min(32),
        VideoOp::Shr { wrap } => a >> if wrap { b & 31 } else { b.min(32) },
        VideoOp::Set(cmp) => i64::from(match cmp {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Lt => a < b,
            CmpOp::Le => a <= b,
            CmpOp::Gt => a > b,
            _ => a >= b,
        }),
        VideoOp::Mad { .. } => 0,
    }
}

/// The result of `v` for three words.
#[inline]
pub fn execute_video(v: &Video, a: u32, b: u32, c: u32) -> u32 {
    match v.op {
        VideoOp::Mad { .. } => multiply_add(v, a, b, c),
        _ if v.lanes == 1 => execute_scalar(v, a, b, c),
        _ => execute_simd(v, a, b, c),
    }
}

fn execute_scalar(v: &Video, a: u32, b: u32, c: u32) -> u32 {
    let (a_place, b_place) = (subword_field(v.a), subword_field(v.b));
    let x = extract_field(a.into(), a_place.0, a_place.1, v.aty.is_signed());
    let y = extract_field(b.into(), b_place.0, b_place.1, v.bty.is_signed());
    let exact = video_operation(v.op, x, y);
    let t = if v.sat { saturate_scalar(v, exact) } else { exact };
    let word = t as u32;
    match v.merge {
        VideoMerge::None => word,
        VideoMerge::Add => word.wrapping_add(c),
        VideoMerge::Min | VideoMerge::Max => select_scalar(v, exact, t, c),
        VideoMerge::Insert => insert_scalar(v.d, word, c),
    }
}

fn is_shift(op: VideoOp) -> bool {
    matches!(op, VideoOp::Shl { .. } | VideoOp::Shr { .. })
}

/// `.sat`: a signed word is clamped; of an unsigned one negative values become 0, and only shifts look for an overflow.
/// Shifts saturate to a word whatever part of `d` is written; `vshl` keeps 34 bits before that. Other operations
/// saturate to a part with an unsigned minimum, so that negative values become the largest one.
fn saturate_scalar(v: &Video, exact: i64) -> i64 {
    let (bits, signed, shift) = (subword_field(v.d.into()).1, v.dty.is_signed(), is_shift(v.op));
    let t = if matches!(v.op, VideoOp::Shl { .. }) { exact << 30 >> 30 } else { exact };
    if bits < 32 && !shift {
        let largest = (1 << (bits - u32::from(signed))) - 1;
        return if t >> 32 != 0 { largest } else { t.min(largest) };
    }
    match signed {
        true => clamp_to_width(t, 32, true),
        false if shift => clamp_to_width(t, 32, false),
        false => i64::from(t.max(0) as u32),
    }
}

/// `.min` and `.max`: the comparison with `c` is one of 64 bits, for which sums, differences, and what was saturated to
/// a signed word are extended from a word as signed values.
fn select_scalar(v: &Video, exact: i64, t: i64, c: u32) -> u32 {
    let signed = if matches!(v.op, VideoOp::Set(_)) { v.aty.is_signed() } else { v.dty.is_signed() };
    let wide = match v.op {
        VideoOp::Add | VideoOp::Sub => i64::from(t as i32),
        op if v.sat && (signed || is_shift(op)) => i64::from(t as i32),
        _ if v.sat => exact.max(0),
        _ => t,
    };
    let smaller = if signed { wide < i64::from(c as i32) } else { (wide as u64) < u64::from(c) };
    let larger = if signed { wide > i64::from(c as i32) } else { (wide as u64) > u64::from(c) };
    let taken = if v.merge == VideoMerge::Min { smaller } else { larger };
    if taken { t as u32 } else { c }
}

/// `c` with a part replaced. A byte and the lower half come from the lower end of the word, the upper half from its
/// upper half.
fn insert_scalar(part: u8, word: u32, c: u32) -> u32 {
    let (at, bits) = subword_field(part.into());
    let mask = (u32::MAX >> (32 - bits)) << at;
    let placed = if bits == 16 { word } else { word << at };
    (placed & mask) | (c & !mask)
}

fn execute_simd(v: &Video, a: u32, b: u32, c: u32) -> u32 {
    let bits = 32 / u32::from(v.lanes.max(1));
    let both = u64::from(a) | u64::from(b) << 32;
    let mut sum = c;
    let mut word = 0;
    for i in 0..u32::from(v.lanes) {
        let element = |list: u16, signed| extract_field(both, u32::from(list >> (4 * i) & 15) * bits, bits, signed);
        let mut t = video_operation(v.op, element(v.a, v.aty.is_signed()), element(v.b, v.bty.is_signed()));
        if v.sat {
            t = clamp_to_width(t, bits, v.dty.is_signed());
        }
        let written = v.d >> i & 1 != 0;
        if written {
            sum = sum.wrapping_add(t as u32);
        }
        let lane = if written { t as u32 } else { c >> (i * bits) };
        word |= (lane & (u32::MAX >> (32 - bits))) << (i * bits);
    }
    if v.merge == VideoMerge::Add { sum } else { word }
}

/// `vmad`: a product of signed words even of unsigned operands, `c` extended as signed, all of it in 64 bits.
fn multiply_add(v: &Video, a: u32, b: u32, c: u32) -> u32 {
    let VideoOp::Mad { negate_product, negate_c, plus_one, shift } = v.op else { return 0 };
    let (a_place, b_place) = (subword_field(v.a), subword_field(v.b));
    let signed = v.aty.is_signed() || v.bty.is_signed() || negate_product || negate_c;
    let factor = |word: u32, (at, bits), ty: Type| extract_field(word.into(), at, bits, ty.is_signed()) as i32;
    let product = i64::from(factor(a, a_place, v.aty)) * i64::from(factor(b, b_place, v.bty));
    let addend = if negate_c { -i64::from(c as i32) } else { i64::from(c as i32) };
    let sum = (if negate_product { -product } else { product }) + addend + i64::from(plus_one);
    let shifted = if signed { sum >> shift } else { (sum as u64 >> shift) as i64 };
    if v.sat { clamp_to_width(shifted, 32, signed) as u32 } else { shifted as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_ptx::ast::Inst;

    fn parse_video(form: &str) -> Video {
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 a, b, c, d;\n";
        let parsed = rtcg_ptx::parse(format!("{head}{form};\nret; }}\n"));
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics(form));
        match parsed.module.functions[0].body[0].inst {
            Inst::Video { video, .. } => video,
            ref other => panic!("{form}: {other:?}"),
        }
    }

    /// `tests/ptx/forms/README.md` says where the results come from.
    #[test]
    fn results_are_those_of_ptxas() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ptx/forms/video.txt");
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let (form, cases) = line.split_once(" | ").expect("a form and its cases");
            let video = parse_video(form);
            assert_eq!(decode_video(encode_video(&video)), video, "{form}");
            for case in cases.split(" | ") {
                let words: Vec<u32> = case.split(' ').map(|w| u32::from_str_radix(w, 16).expect("a word")).collect();
                let got = execute_video(&video, words[0], words[1], words[2]);
                assert_eq!(got, words[3], "{form} of {case}: {got:x}");
            }
        }
    }
}
