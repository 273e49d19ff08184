//! Video instructions (`vadd`, `vmad`, `vset2`, `vabsdiff4`, ...).

use super::inst::Modifiers;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::cmp_op_from_keyword;
use Type::*;

fn video_op_from_name(name: &str) -> Option<VideoOp> {
    Some(match name {
        "add" => VideoOp::Add,
        "sub" => VideoOp::Sub,
        "absdiff" => VideoOp::AbsDiff,
        "min" => VideoOp::Min,
        "max" => VideoOp::Max,
        "avrg" => VideoOp::Avg,
        "shl" => VideoOp::Shl { wrap: false },
        "shr" => VideoOp::Shr { wrap: false },
        "set" => VideoOp::Set(CmpOp::Eq),
        "mad" => VideoOp::Mad { negate_product: false, negate_c: false, plus_one: false, shift: 0 },
        _ => return None,
    })
}

/// A part of a word that a scalar instruction reads or writes.
fn parse_part_selector(word: &str) -> Option<u8> {
    ["b0", "b1", "b2", "b3", "h0", "h1"].iter().position(|&w| w == word).map(|i| i as u8 + 1)
}

/// `.h32`, `.b7654`: four bits for each of `lanes` elements, lowest lane last in the word.
fn parse_element_selector(word: &str, lanes: u8) -> Option<u16> {
    let digits = word.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    let (n, limit) = (usize::from(lanes), u32::from(2 * lanes));
    if digits.len() != n {
        return None;
    }
    digits.chars().try_fold(0, |all, c| {
        let digit = c.to_digit(10).filter(|&d| d < limit)?;
        Some(all << 4 | digit as u16)
    })
}

/// `.h10`, `.b20`: lanes in descending order, as a mask.
fn parse_lane_mask(word: &str, lanes: u8) -> Option<u8> {
    let digits = word.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    let mut last = u32::from(lanes);
    let mut mask = 0;
    for c in digits.chars() {
        let digit = c.to_digit(10).filter(|&d| d < last)?;
        mask |= 1 << digit;
        last = digit;
    }
    (mask != 0).then_some(mask)
}

impl<'s> Parser<'s> {
    /// `vop`, `vop2`, `vop4`; `opcode` without the `v`.
    pub(super) fn parse_video(&mut self, m: &mut Modifiers<'s>, opcode: &str) -> ParseRuleResult<Inst> {
        let (name, lanes) = match opcode.as_bytes().last() {
            Some(b'2') => (&opcode[..opcode.len() - 1], 2),
            Some(b'4') => (&opcode[..opcode.len() - 1], 4),
            _ => (opcode, 1),
        };
        let Some(op) = video_op_from_name(name) else { return Err(m.invalid_combination()) };
        let simd_only = op == VideoOp::Avg;
        let scalar_only = matches!(op, VideoOp::Shl { .. } | VideoOp::Shr { .. } | VideoOp::Mad { .. });
        if (simd_only && lanes == 1) || (scalar_only && lanes > 1) {
            return Err(m.invalid_combination());
        }
        let mut v = self.parse_video_types(m, op, lanes)?;
        if !matches!(op, VideoOp::Set(_)) {
            v.sat = m.take_modifier("sat");
        }
        match &mut v.op {
            VideoOp::Set(cmp) => {
                *cmp = m.take_required_modifier("a comparison", |w| {
                    cmp_op_from_keyword(w).filter(|&c| is_ordered_comparison(c))
                })?
            }
            VideoOp::Shl { wrap } | VideoOp::Shr { wrap } => {
                *wrap = m.take_required_modifier("a mode", |w| ["clamp", "wrap"].iter().position(|&x| x == w))? == 1;
                if v.bty != U32 {
                    return Err(m.invalid_combination());
                }
            }
            VideoOp::Mad { plus_one, shift, .. } => {
                *plus_one = m.take_modifier("po");
                *shift =
                    m.take_first_matching(|w| ["shr7", "shr15"].iter().position(|&x| x == w)).map_or(0, |i| [7, 15][i]);
                m.check_all_taken_unordered()?;
                return self.parse_video_mad(v);
            }
            _ => {}
        }
        v.merge = match () {
            () if m.take_modifier("add") => VideoMerge::Add,
            () if lanes == 1 && m.take_modifier("min") => VideoMerge::Min,
            () if lanes == 1 && m.take_modifier("max") => VideoMerge::Max,
            () => VideoMerge::None,
        };
        if lanes > 1 && v.sat && v.merge == VideoMerge::Add {
            return Err(m.invalid_combination());
        }
        m.check_all_taken_unordered()?;
        self.parse_video_operands(m, v)
    }

    fn parse_video_types(&mut self, m: &mut Modifiers<'s>, op: VideoOp, lanes: u8) -> ParseRuleResult<Video> {
        const VIDEO_WORD_TYPES: &[Type] = &[U32, S32];
        let dty = if matches!(op, VideoOp::Set(_)) { U32 } else { m.take_type_in(VIDEO_WORD_TYPES)? };
        let (aty, bty) = (m.take_type_in(VIDEO_WORD_TYPES)?, m.take_type_in(VIDEO_WORD_TYPES)?);
        let (a, b) = (Video::default_elements(lanes, false), Video::default_elements(lanes, true));
        Ok(Video { op, lanes, dty, aty, bty, sat: false, merge: VideoMerge::None, d: 0, a, b })
    }

    /// A word after the operand that was just read.
    fn take_selector_word(&mut self) -> Option<&'s str> {
        let word = self.peek_dot_word()?;
        self.advance();
        Some(word)
    }

    /// A source operand of a video instruction and what is read of it.
    fn parse_video_source(&mut self, m: &Modifiers<'s>, lanes: u8, elements: &mut u16) -> ParseRuleResult<Operand> {
        self.expect_comma()?;
        let operand = self.parse_src(B32)?;
        if let Some(word) = self.take_selector_word() {
            let known =
                if lanes == 1 { parse_part_selector(word).map(u16::from) } else { parse_element_selector(word, lanes) };
            *elements = known.ok_or_else(|| m.invalid_combination())?;
        }
        Ok(operand)
    }

    fn parse_video_operands(&mut self, m: &Modifiers<'s>, mut v: Video) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_reg(B32)?;
        let all = (1u8 << v.lanes) - 1;
        let selected = self.take_selector_word();
        v.d = match selected {
            Some(word) if v.lanes == 1 && v.merge == VideoMerge::None => {
                parse_part_selector(word).ok_or_else(|| m.invalid_combination())?
            }
            Some(word) if v.lanes > 1 => parse_lane_mask(word, v.lanes).ok_or_else(|| m.invalid_combination())?,
            Some(_) => return Err(m.invalid_combination()),
            None if v.lanes > 1 => all,
            None => 0,
        };
        if v.merge == VideoMerge::None && (v.lanes > 1 || selected.is_some()) {
            v.merge = VideoMerge::Insert;
        }
        let (mut a_part, mut b_part) = (v.a, v.b);
        let a = self.parse_video_source(m, v.lanes, &mut a_part)?;
        let b = self.parse_video_source(m, v.lanes, &mut b_part)?;
        (v.a, v.b) = (a_part, b_part);
        let c = if v.merge == VideoMerge::None { Operand::Int(0) } else { self.parse_comma_src(B32)? };
        Ok(Inst::Video { video: v, dst, a, b, c })
    }

    fn parse_video_mad(&mut self, mut v: Video) -> ParseRuleResult<Inst> {
        let dst = self.parse_dst_reg(B32)?;
        let mut negated = [false; 3];
        let mut operands = [Operand::Int(0); 3];
        let mut parts = [0; 3];
        for i in 0..3 {
            self.expect_comma()?;
            // A minus before a register, not before a number.
            negated[i] =
                self.is_punct(b'-') && self.peek_kind(1) == crate::lexer::TokenKind::Ident && self.eat_punct(b'-');
            operands[i] = self.parse_src(B32)?;
            if i < 2
                && let Some(word) = self.take_selector_word()
            {
                let token = self.current_token();
                parts[i] = parse_part_selector(word)
                    .ok_or_else(|| self.semantic_error(token, format!("`.{word}` is no part of a word")))?;
            }
        }
        let token = self.current_token();
        if let VideoOp::Mad { negate_product, negate_c, plus_one, .. } = &mut v.op {
            *negate_product = negated[0] != negated[1];
            *negate_c = negated[2];
            if *plus_one && negated.contains(&true) || *negate_product && *negate_c {
                return Err(self.semantic_error(token, "operands of this `vmad` cannot be negated".to_string()));
            }
        }
        (v.a, v.b) = (u16::from(parts[0]), u16::from(parts[1]));
        let [a, b, c] = operands;
        Ok(Inst::Video { video: v, dst, a, b, c })
    }
}

fn is_ordered_comparison(cmp: CmpOp) -> bool {
    matches!(cmp, CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge)
}
