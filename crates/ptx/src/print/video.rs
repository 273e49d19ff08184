//! Video instructions to text.

use super::FunctionPrinter;
use super::inst::text_if;
use crate::ast::*;
use crate::keywords::*;

impl FunctionPrinter<'_> {
    /// A video instruction.
    pub(super) fn video_text(&self, v: &Video, dst: Reg, operands: [&Operand; 3]) -> String {
        let lanes = ["", "", "2", "", "4"][usize::from(v.lanes).min(4)];
        let name = match v.op {
            VideoOp::Add => "add",
            VideoOp::Sub => "sub",
            VideoOp::AbsDiff => "absdiff",
            VideoOp::Min => "min",
            VideoOp::Max => "max",
            VideoOp::Avg => "avrg",
            VideoOp::Shl { .. } => "shl",
            VideoOp::Shr { .. } => "shr",
            VideoOp::Set(_) => "set",
            VideoOp::Mad { .. } => "mad",
        };
        let dty = if matches!(v.op, VideoOp::Set(_)) { String::new() } else { format!(".{}", type_name(v.dty)) };
        let mode = match v.op {
            VideoOp::Set(cmp) => format!(".{}", cmp_op_name(cmp)),
            VideoOp::Shl { wrap } | VideoOp::Shr { wrap } => if wrap { ".wrap" } else { ".clamp" }.into(),
            VideoOp::Mad { plus_one, shift, .. } => {
                let shift = if shift == 0 { String::new() } else { format!(".shr{shift}") };
                format!("{}{shift}", text_if(plus_one, ".po"))
            }
            _ => String::new(),
        };
        let merge = match v.merge {
            VideoMerge::Add => ".add",
            VideoMerge::Min => ".min",
            VideoMerge::Max => ".max",
            VideoMerge::None | VideoMerge::Insert => "",
        };
        let (aty, bty, sat) = (type_name(v.aty), type_name(v.bty), text_if(v.sat, ".sat"));
        let (negate_product, negate_c) = match v.op {
            VideoOp::Mad { negate_product, negate_c, .. } => (negate_product, negate_c),
            _ => (false, false),
        };
        let [a, b, c] = operands.map(|o| self.operand_text(o));
        let (a_part, b_part) = (selector_suffix(v, v.a, false), selector_suffix(v, v.b, true));
        let (minus, minus_c) = (text_if(negate_product, "-"), text_if(negate_c, "-"));
        let has_c = v.merge != VideoMerge::None || matches!(v.op, VideoOp::Mad { .. });
        let c = if has_c { format!(", {minus_c}{c}") } else { String::new() };
        let (d, d_part) = (self.reg_name(dst), destination_selector_suffix(v));
        format!("v{name}{lanes}{dty}.{aty}.{bty}{sat}{mode}{merge} {d}{d_part}, {minus}{a}{a_part}, {b}{b_part}{c}")
    }
}

const PART_SELECTOR_SUFFIXES: [&str; 7] = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];

fn selector_suffix(v: &Video, elements: u16, second: bool) -> String {
    if v.lanes == 1 {
        return PART_SELECTOR_SUFFIXES[usize::from(elements).min(6)].into();
    }
    if elements == Video::default_elements(v.lanes, second) {
        return String::new();
    }
    let digits: String = (0..v.lanes).rev().map(|i| (elements >> (4 * i) & 15).to_string()).collect();
    format!(".{}{digits}", if v.lanes == 2 { 'h' } else { 'b' })
}

fn destination_selector_suffix(v: &Video) -> String {
    if v.lanes == 1 {
        return PART_SELECTOR_SUFFIXES[usize::from(v.d).min(6)].into();
    }
    if u16::from(v.d) == (1 << v.lanes) - 1 {
        return String::new();
    }
    let digits: String = (0..v.lanes).rev().filter(|i| v.d >> i & 1 != 0).map(|i| i.to_string()).collect();
    format!(".{}{digits}", if v.lanes == 2 { 'h' } else { 'b' })
}
