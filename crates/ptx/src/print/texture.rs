//! Texture and surface instructions to text.

use super::FunctionPrinter;
use crate::ast::*;
use crate::keywords::*;

impl FunctionPrinter<'_> {
    fn handle_text(&self, handle: &TextureHandle) -> String {
        match handle {
            TextureHandle::Reg(reg) => self.reg_name(*reg).to_owned(),
            TextureHandle::Symbol(symbol) => self.symbol_name(*symbol).to_owned(),
        }
    }

    /// Operands in braces, padded to the number of elements that PTX wants.
    fn padded_operands(&self, list: &[Operand]) -> String {
        let mut words: Vec<String> = list.iter().map(|o| self.operand_text(o)).collect();
        if words.len() == 3 {
            words.push(words[2].clone());
        }
        format!("{{{}}}", words.join(", "))
    }

    fn texture_result_list(&self, dsts: &[Option<Reg>]) -> String {
        let words: Vec<&str> = dsts.iter().map(|&reg| self.reg_or_sink(reg)).collect();
        format!("{{{}}}", words.join(", "))
    }

    fn sample_text(&self, t: &TextureFetch) -> String {
        let words = match &t.level {
            TexLevel::Base => "tex".into(),
            TexLevel::Level(_) => "tex.level".into(),
            TexLevel::Grad(..) => "tex.grad".into(),
            TexLevel::Gather(component) => format!("tld4.{}", ["r", "g", "b", "a"][usize::from(component & 3)]),
        };
        let types = format!("v{}.{}.{}", t.dsts.len(), type_name(t.dty), type_name(t.cty));
        let pred = t.pred.map_or(String::new(), |reg| format!("|{}", self.reg_name(reg)));
        let sampler = t.sampler.iter().map(|s| format!("{}, ", self.handle_text(s))).collect::<String>();
        let tail = match &t.level {
            TexLevel::Level(o) => format!(", {}", self.operand_text(o)),
            TexLevel::Grad(x, y) => format!(", {}, {}", self.padded_operands(x), self.padded_operands(y)),
            _ => String::new(),
        };
        let offsets =
            if t.offsets.is_empty() { String::new() } else { format!(", {}", self.padded_operands(&t.offsets)) };
        let (texture, coords, results) =
            (self.handle_text(&t.texture), self.padded_operands(&t.coords), self.texture_result_list(&t.dsts));
        let geometry = geometry_name(t.geometry);
        format!("{words}.{geometry}.{types} {results}{pred}, [{texture}, {sampler}{coords}]{tail}{offsets}")
    }

    fn surface_address_text(&self, place: &SurfAddress) -> String {
        format!("[{}, {}]", self.handle_text(&place.surface), self.padded_operands(&place.coords))
    }

    /// `.2d.v2.b32.trap`
    fn surface_modifiers_text(place: &SurfAddress, n: usize, ty: Type) -> String {
        let vector = if n > 1 { format!(".v{n}") } else { String::new() };
        let (geometry, clamp) = (geometry_name(place.geometry), surface_clamp_name(place.clamp));
        format!("{geometry}{vector}.{}.{clamp}", type_name(ty))
    }

    pub(super) fn texture_text(&self, inst: &TexInst) -> String {
        match inst {
            TexInst::Sample(t) => self.sample_text(t),
            TexInst::Query { query, surface, dst, handle, level } => {
                let opcode = if *surface { "suq" } else { "txq" };
                let (word, level) = match level {
                    Some(level) => (".level", format!(", {}", self.operand_text(level))),
                    None => ("", String::new()),
                };
                let (dst, handle) = (self.reg_name(*dst), self.handle_text(handle));
                format!("{opcode}{word}.{}.b32 {dst}, [{handle}]{level}", tex_query_name(*query))
            }
            TexInst::IsType { ty, dst, handle } => {
                format!("istypep.{} {}, {}", opaque_type_name(*ty), self.reg_name(*dst), self.handle_text(handle))
            }
            TexInst::Load { place, ty, dsts } => {
                let words = Self::surface_modifiers_text(place, dsts.len(), *ty);
                format!("suld.b.{words} {}, {}", self.texture_result_list(dsts), self.surface_address_text(place))
            }
            TexInst::Store { place, ty, srcs } => {
                let kind = if place.formatted { "p" } else { "b" };
                let srcs_text: Vec<String> = srcs.iter().map(|o| self.operand_text(o)).collect();
                let words = Self::surface_modifiers_text(place, srcs.len(), *ty);
                format!("sust.{kind}.{words} {}, {{{}}}", self.surface_address_text(place), srcs_text.join(", "))
            }
            TexInst::Reduce { place, op, ty, src } => {
                let kind = if place.formatted { "p" } else { "b" };
                let words = Self::surface_modifiers_text(place, 1, *ty);
                let (place, src) = (self.surface_address_text(place), self.operand_text(src));
                format!("sured.{kind}.{}.{words} {place}, {src}", surf_op_name(*op))
            }
        }
    }
}
