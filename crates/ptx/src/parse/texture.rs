//! Texture and surface instructions.
//!
//! Multi-sample geometries and depth comparison are PTX, but no driver function makes resources
//! for them; they are stored as text like everything that is not supported.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::lexer::Kind;
use crate::names::{clamp_of, geometry_of, opaque_of, query_of, surf_op_of};
use Type::*;

/// Components of `tld4`.
const COMPONENTS: [&str; 4] = ["r", "g", "b", "a"];

/// Elements that PTX wants in a vector of `n` values.
fn padded(n: usize) -> usize {
    if n == 3 { 4 } else { n }
}

fn multi_sample(word: &str) -> Option<()> {
    matches!(word, "2dms" | "a2dms").then_some(())
}

fn width_of(word: &str) -> Option<usize> {
    match word {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    }
}

/// The texture, sampler and coordinates within brackets.
struct Place {
    texture: Handle,
    sampler: Option<Handle>,
    coords: Vec<Operand>,
}

impl<'s> Parser<'s> {
    /// `tex`
    pub(super) fn tex(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let (level, grad, _) = (m.has("level"), m.has("grad"), m.has("base"));
        if m.pick(multi_sample).is_some() {
            return self.other(m);
        }
        let geometry = m.need("a geometry", geometry_of)?;
        let n = m.need("`.v4`", width_of)?;
        let dty = m.ty_in(&[U32, S32, F16, F32, F16x2])?;
        let cty = m.ty_in(&[S32, F32])?;
        let cube = matches!(geometry, Geometry::Cube | Geometry::ACube);
        if (level && grad) || (n == 2) != (dty == F16x2) || (cube && cty != F32) || (grad && cty != F32) {
            return Err(m.refuse());
        }
        m.done()?;
        let (dsts, pred) = self.tex_results(dty, n)?;
        let place = self.tex_place(geometry, cty)?;
        let level = match (level, grad) {
            (true, _) => TexLevel::Level(self.comma_src(cty)?),
            (_, true) => TexLevel::Grad(self.axes_vector(geometry, F32)?, self.axes_vector(geometry, F32)?),
            _ => TexLevel::Base,
        };
        self.sampled(m, Sampled { geometry, level, dty, cty, dsts, pred, place })
    }

    /// `tld4`
    pub(super) fn tld4(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let of = |word: &str| COMPONENTS.iter().position(|c| *c == word);
        let component = m.need("a component", of)? as u8;
        let geometry = m.need("a geometry", geometry_of)?;
        let n = m.need("`.v4`", width_of)?;
        let dty = m.ty_in(&[U32, S32, F32])?;
        let cty = m.ty_in(&[F32])?;
        if n != 4 || matches!(geometry, Geometry::D1 | Geometry::D3 | Geometry::A1) {
            return Err(m.refuse());
        }
        m.done()?;
        let (dsts, pred) = self.tex_results(dty, n)?;
        let place = self.tex_place(geometry, cty)?;
        let level = TexLevel::Gather(component);
        self.sampled(m, Sampled { geometry, level, dty, cty, dsts, pred, place })
    }

    fn sampled(&mut self, m: &Modifiers<'s>, s: Sampled) -> Parsed<Inst> {
        let mut offsets = Vec::new();
        if self.is(b',') {
            if self.kind_at(1) != Kind::Punct(b'{') {
                return self.other(m);
            }
            offsets = self.axes_vector(s.geometry, S32)?;
        }
        if self.is(b',') {
            return self.other(m);
        }
        let Sampled { geometry, level, dty, cty, dsts, pred, place } = s;
        let Place { texture, sampler, coords } = place;
        let tex = Tex { geometry, level, dty, cty, dsts, pred, texture, sampler, coords, offsets };
        Ok(Inst::Texture(Box::new(TexInst::Sample(tex))))
    }

    /// `{a, b, c, d}|p`
    fn tex_results(&mut self, dty: Type, n: usize) -> Parsed<(Vec<Option<Reg>>, Option<Reg>)> {
        let dsts = self.vector_dst(dty, n, WidthRule::Exact)?;
        let pred = if self.eat(b'|') { Some(self.reg_of(Pred, WidthRule::Exact)?) } else { None };
        self.comma()?;
        Ok((dsts, pred))
    }

    /// `[texture, {coordinates}]` or `[texture, sampler, {coordinates}]`
    fn tex_place(&mut self, geometry: Geometry, cty: Type) -> Parsed<Place> {
        self.expect(b'[')?;
        let texture = self.handle(OpaqueType::Texture)?;
        self.comma()?;
        let mut sampler = None;
        // A single coordinate may stand without braces; what follows it tells it from a sampler.
        if !self.is(b'{') && self.kind_at(1) == Kind::Punct(b',') {
            sampler = Some(self.handle(OpaqueType::Sampler)?);
            self.comma()?;
        }
        let coords = self.coords(geometry, cty)?;
        self.expect(b']')?;
        Ok(Place { texture, sampler, coords })
    }

    fn coords(&mut self, geometry: Geometry, cty: Type) -> Parsed<Vec<Operand>> {
        let layered = usize::from(geometry.layered());
        self.typed_vector(geometry.n_coords(), |i| if i < layered { U32 } else { cty })
    }

    /// A comma and a vector with one element per axis.
    fn axes_vector(&mut self, geometry: Geometry, ty: Type) -> Parsed<Vec<Operand>> {
        self.comma()?;
        self.typed_vector(geometry.axes(), |_| ty)
    }

    /// `n` operands, padded to what PTX wants; the padding is dropped.
    fn typed_vector(&mut self, n: usize, ty: impl Fn(usize) -> Type) -> Parsed<Vec<Operand>> {
        if n == 1 && !self.is(b'{') {
            return Ok(vec![self.src(ty(0))?]);
        }
        let token = self.token();
        self.expect(b'{')?;
        let mut list = Vec::new();
        for i in 0..padded(n) {
            if i > 0 && !self.eat(b',') {
                break;
            }
            list.push(self.src(if i < n { ty(i) } else { B32 })?);
        }
        self.expect(b'}')?;
        if list.len() < padded(n) {
            return Err(self.semantic(token, format!("a vector of {} elements is needed here", padded(n))));
        }
        list.truncate(n);
        Ok(list)
    }

    /// A register with a handle, or an opaque variable.
    fn handle(&mut self, ty: OpaqueType) -> Parsed<Handle> {
        use super::scope::SymbolKind;
        let token = self.token();
        let name = self.ident("a texture, sampler or surface")?;
        if let Some(SymbolKind::Reg(reg)) = self.body.find(name) {
            let have = self.body.reg_type(reg);
            if have.bits() == 64 && !have.is_float() {
                return Ok(Handle::Reg(reg));
            }
            return Err(self.semantic(token, format!("register `{name}` cannot hold a handle, which has 64 bits")));
        }
        match self.symbol(name) {
            Some(symbol @ Symbol::Global(var)) if self.module.vars[var.index()].opaque == Some(ty) => {
                Ok(Handle::Symbol(symbol))
            }
            _ => {
                let what = crate::names::opaque_name(ty);
                Err(self.semantic(token, format!("`{name}` is neither a register nor a `.{what}`")))
            }
        }
    }

    /// `txq` and `suq`
    pub(super) fn tex_query(&mut self, m: &mut Modifiers<'s>, surface: bool) -> Parsed<Inst> {
        use TexQuery::*;
        let level = !surface && m.has("level");
        let query = m.need("a query", query_of)?;
        let sampler = matches!(query, ForceUnnormalizedCoords | FilterMode | AddrMode0 | AddrMode1 | AddrMode2);
        let texture_only = sampler || matches!(query, NormalizedCoords | NumMipmapLevels | NumSamples);
        let bad = if surface { texture_only } else { query == MemoryLayout };
        m.ty_in(&[B32])?;
        if bad || (level && !matches!(query, Width | Height | Depth)) {
            return Err(m.refuse());
        }
        m.done()?;
        let dst = self.dst_comma(B32)?;
        self.expect(b'[')?;
        let ty = match (surface, self.sampler_here(sampler)) {
            (true, _) => OpaqueType::Surface,
            (_, true) => OpaqueType::Sampler,
            _ => OpaqueType::Texture,
        };
        let handle = self.handle(ty)?;
        self.expect(b']')?;
        let level = if level { Some(self.comma_src(S32)?) } else { None };
        Ok(Inst::Texture(Box::new(TexInst::Query { query, surface, dst, handle, level })))
    }

    /// Whether a query of a sampler names a `.samplerref`; in unified mode it names a `.texref`.
    fn sampler_here(&self, sampler: bool) -> bool {
        let opaque = |symbol| match symbol {
            Symbol::Global(var) => self.module.vars[var.index()].opaque,
            _ => None,
        };
        sampler && self.symbol(self.text()).and_then(opaque) == Some(OpaqueType::Sampler)
    }

    /// `istypep`
    pub(super) fn istypep(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let ty = m.need("a type", opaque_of)?;
        m.done()?;
        let dst = self.dst_comma(Pred)?;
        let handle = Handle::Reg(self.reg_of(U64, WidthRule::Exact)?);
        Ok(Inst::Texture(Box::new(TexInst::IsType { ty, dst, handle })))
    }

    /// Words of `suld` and `sust` between `.b`/`.p` and the operands: shape, elements, type, clamp.
    fn surf_words(
        &mut self,
        m: &mut Modifiers<'s>,
        cache: &[&str],
        types: &[Type],
    ) -> Parsed<(Geometry, usize, Type, Clamp)> {
        let geometry = m.need("a geometry", geometry_of)?;
        m.pick(|word| cache.contains(&word).then_some(()));
        let n = m.pick(width_of).unwrap_or(1);
        let ty = m.ty_in(types)?;
        let clamp = m.need("what to do out of bounds", clamp_of)?;
        let cube = matches!(geometry, Geometry::Cube | Geometry::ACube);
        if cube || ty.bits() as usize * n > 128 {
            return Err(m.refuse());
        }
        m.done()?;
        Ok((geometry, n, ty, clamp))
    }

    /// `[surface, {coordinates}]`
    fn surf_place(&mut self, geometry: Geometry, clamp: Clamp, formatted: bool) -> Parsed<SurfPlace> {
        self.expect(b'[')?;
        let surface = self.handle(OpaqueType::Surface)?;
        self.comma()?;
        let coords = self.coords(geometry, B32)?;
        self.expect(b']')?;
        Ok(SurfPlace { geometry, clamp, formatted, surface, coords })
    }

    /// `suld.b`
    pub(super) fn surf_load(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if !m.has("b") {
            return Err(m.refuse());
        }
        let (geometry, n, ty, clamp) = self.surf_words(m, &["ca", "cg", "cs", "cv"], &[B8, B16, B32, B64])?;
        let dsts = self.vector_dst(ty, n, WidthRule::AtLeast)?;
        self.comma()?;
        let place = self.surf_place(geometry, clamp, false)?;
        Ok(Inst::Texture(Box::new(TexInst::Load { place, ty, dsts })))
    }

    /// `sust.b` and `sust.p`
    pub(super) fn surf_store(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let formatted = m.has("p");
        if !formatted && !m.has("b") {
            return Err(m.refuse());
        }
        let types: &[Type] = if formatted { &[B32, U32, S32, F32] } else { &[B8, B16, B32, B64] };
        let (geometry, n, ty, clamp) = self.surf_words(m, &["wb", "cg", "cs", "wt"], types)?;
        let place = self.surf_place(geometry, clamp, formatted)?;
        self.comma()?;
        let srcs = self.vector_src(ty, n, WidthRule::AtLeast)?;
        Ok(Inst::Texture(Box::new(TexInst::Store { place, ty, srcs })))
    }

    /// `sured.b` and `sured.p`
    pub(super) fn surf_reduce(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let formatted = m.has("p");
        if !formatted && !m.has("b") {
            return Err(m.refuse());
        }
        let op = m.need("an operation", surf_op_of)?;
        let types: &[Type] = match (formatted, op) {
            (true, _) => &[B32],
            (_, SurfOp::Add) => &[U32, S32, U64],
            (_, SurfOp::Min | SurfOp::Max) => &[U32, S32, U64, S64],
            _ => &[B32, B64],
        };
        let (geometry, n, ty, clamp) = self.surf_words(m, &[], types)?;
        if n != 1 {
            return Err(m.refuse());
        }
        let place = self.surf_place(geometry, clamp, formatted)?;
        let src = self.comma_src(ty)?;
        Ok(Inst::Texture(Box::new(TexInst::Reduce { place, op, ty, src })))
    }
}

/// What `tex` and `tld4` have in common, without the offsets.
struct Sampled {
    geometry: Geometry,
    level: TexLevel,
    dty: Type,
    cty: Type,
    dsts: Vec<Option<Reg>>,
    pred: Option<Reg>,
    place: Place,
}
