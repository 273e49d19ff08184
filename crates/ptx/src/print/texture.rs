//! Texture and surface instructions to text.

use super::InFunction;
use crate::ast::*;
use crate::names::*;

impl InFunction<'_> {
    fn handle(&self, handle: &Handle) -> String {
        match handle {
            Handle::Reg(reg) => self.reg(*reg).to_owned(),
            Handle::Symbol(symbol) => self.symbol(*symbol).to_owned(),
        }
    }

    /// Operands in braces, padded to the number of elements that PTX wants.
    fn padded(&self, list: &[Operand]) -> String {
        let mut words: Vec<String> = list.iter().map(|o| self.operand(o)).collect();
        if words.len() == 3 {
            words.push(words[2].clone());
        }
        format!("{{{}}}", words.join(", "))
    }

    fn results(&self, dsts: &[Option<Reg>]) -> String {
        let words: Vec<&str> = dsts.iter().map(|&reg| self.sink(reg)).collect();
        format!("{{{}}}", words.join(", "))
    }

    fn sample(&self, t: &Tex) -> String {
        let words = match &t.level {
            TexLevel::Base => "tex".into(),
            TexLevel::Level(_) => "tex.level".into(),
            TexLevel::Grad(..) => "tex.grad".into(),
            TexLevel::Gather(component) => format!("tld4.{}", ["r", "g", "b", "a"][usize::from(component & 3)]),
        };
        let types = format!("v{}.{}.{}", t.dsts.len(), type_name(t.dty), type_name(t.cty));
        let pred = t.pred.map_or(String::new(), |reg| format!("|{}", self.reg(reg)));
        let sampler = t.sampler.iter().map(|s| format!("{}, ", self.handle(s))).collect::<String>();
        let tail = match &t.level {
            TexLevel::Level(o) => format!(", {}", self.operand(o)),
            TexLevel::Grad(x, y) => format!(", {}, {}", self.padded(x), self.padded(y)),
            _ => String::new(),
        };
        let offsets = if t.offsets.is_empty() { String::new() } else { format!(", {}", self.padded(&t.offsets)) };
        let (texture, coords, results) = (self.handle(&t.texture), self.padded(&t.coords), self.results(&t.dsts));
        let geometry = geometry_name(t.geometry);
        format!("{words}.{geometry}.{types} {results}{pred}, [{texture}, {sampler}{coords}]{tail}{offsets}")
    }

    fn place(&self, place: &SurfPlace) -> String {
        format!("[{}, {}]", self.handle(&place.surface), self.padded(&place.coords))
    }

    /// `.2d.v2.b32.trap`
    fn surf_words(place: &SurfPlace, n: usize, ty: Type) -> String {
        let vector = if n > 1 { format!(".v{n}") } else { String::new() };
        let (geometry, clamp) = (geometry_name(place.geometry), clamp_name(place.clamp));
        format!("{geometry}{vector}.{}.{clamp}", type_name(ty))
    }

    pub(super) fn texture(&self, inst: &TexInst) -> String {
        match inst {
            TexInst::Sample(t) => self.sample(t),
            TexInst::Query { query, surface, dst, handle, level } => {
                let opcode = if *surface { "suq" } else { "txq" };
                let (word, level) = match level {
                    Some(level) => (".level", format!(", {}", self.operand(level))),
                    None => ("", String::new()),
                };
                let (dst, handle) = (self.reg(*dst), self.handle(handle));
                format!("{opcode}{word}.{}.b32 {dst}, [{handle}]{level}", query_name(*query))
            }
            TexInst::IsType { ty, dst, handle } => {
                format!("istypep.{} {}, {}", opaque_name(*ty), self.reg(*dst), self.handle(handle))
            }
            TexInst::Load { place, ty, dsts } => {
                let words = Self::surf_words(place, dsts.len(), *ty);
                format!("suld.b.{words} {}, {}", self.results(dsts), self.place(place))
            }
            TexInst::Store { place, ty, srcs } => {
                let kind = if place.formatted { "p" } else { "b" };
                let srcs_text: Vec<String> = srcs.iter().map(|o| self.operand(o)).collect();
                let words = Self::surf_words(place, srcs.len(), *ty);
                format!("sust.{kind}.{words} {}, {{{}}}", self.place(place), srcs_text.join(", "))
            }
            TexInst::Reduce { place, op, ty, src } => {
                let kind = if place.formatted { "p" } else { "b" };
                let words = Self::surf_words(place, 1, *ty);
                let (place, src) = (self.place(place), self.operand(src));
                format!("sured.{kind}.{}.{words} {place}, {src}", surf_op_name(*op))
            }
        }
    }
}
