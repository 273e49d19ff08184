//! Texture and surface instructions.
//!
//! Multi-sample geometries and depth comparison are PTX, but no driver function makes resources
//! for them; they are stored as text like everything that is not supported.

use super::inst::Modifiers;
use super::operand::WidthRule;
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{
    geometry_from_keyword, opaque_type_from_keyword, surf_op_from_keyword, surface_clamp_from_keyword,
    tex_query_from_keyword,
};
use crate::lexer::TokenKind;
use Type::*;

/// Components of `parse_tld4`.
const TLD4_COMPONENTS: [&str; 4] = ["r", "g", "b", "a"];

/// Elements that PTX wants in a vector of `n` values.
fn padded_vector_len(n: usize) -> usize {
    if n == 3 { 4 } else { n }
}

fn match_multisample_geometry(word: &str) -> Option<()> {
    matches!(word, "2dms" | "a2dms").then_some(())
}

fn vector_len_from_keyword(word: &str) -> Option<usize> {
    match word {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    }
}

/// The texture, sampler and coordinates within brackets.
struct TextureAddress {
    texture: TextureHandle,
    sampler: Option<TextureHandle>,
    coords: Vec<Operand>,
}

impl<'s> Parser<'s> {
    /// `parse_tex`
    pub(super) fn parse_tex(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let (level, grad, _) = (m.take_modifier("level"), m.take_modifier("grad"), m.take_modifier("base"));
        if m.take_first_matching(match_multisample_geometry).is_some() {
            return self.parse_unsupported(m);
        }
        let geometry = m.take_required_modifier("a geometry", geometry_from_keyword)?;
        let n = m.take_required_modifier("`.v4`", vector_len_from_keyword)?;
        let dty = m.take_type_in(&[U32, S32, F16, F32, F16x2])?;
        let cty = m.take_type_in(&[S32, F32])?;
        let cube = matches!(geometry, TextureGeometry::Cube | TextureGeometry::ACube);
        if (level && grad) || (n == 2) != (dty == F16x2) || (cube && cty != F32) || (grad && cty != F32) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let (dsts, pred) = self.parse_tex_results(dty, n)?;
        let place = self.parse_tex_address(geometry, cty)?;
        let level = match (level, grad) {
            (true, _) => TexLevel::Level(self.parse_comma_src(cty)?),
            (_, true) => TexLevel::Grad(self.parse_axes_vector(geometry, F32)?, self.parse_axes_vector(geometry, F32)?),
            _ => TexLevel::Base,
        };
        self.finish_texture_fetch(m, SampledFetch { geometry, level, dty, cty, dsts, pred, place })
    }

    /// `parse_tld4`
    pub(super) fn parse_tld4(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let of = |word: &str| TLD4_COMPONENTS.iter().position(|c| *c == word);
        let component = m.take_required_modifier("a component", of)? as u8;
        let geometry = m.take_required_modifier("a geometry", geometry_from_keyword)?;
        let n = m.take_required_modifier("`.v4`", vector_len_from_keyword)?;
        let dty = m.take_type_in(&[U32, S32, F32])?;
        let cty = m.take_type_in(&[F32])?;
        if n != 4 || matches!(geometry, TextureGeometry::D1 | TextureGeometry::D3 | TextureGeometry::A1) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let (dsts, pred) = self.parse_tex_results(dty, n)?;
        let place = self.parse_tex_address(geometry, cty)?;
        let level = TexLevel::Gather(component);
        self.finish_texture_fetch(m, SampledFetch { geometry, level, dty, cty, dsts, pred, place })
    }

    fn finish_texture_fetch(&mut self, m: &Modifiers<'s>, s: SampledFetch) -> ParseRuleResult<Inst> {
        let mut offsets = Vec::new();
        if self.is_punct(b',') {
            if self.peek_kind(1) != TokenKind::Punct(b'{') {
                return self.parse_unsupported(m);
            }
            offsets = self.parse_axes_vector(s.geometry, S32)?;
        }
        if self.is_punct(b',') {
            return self.parse_unsupported(m);
        }
        let SampledFetch { geometry, level, dty, cty, dsts, pred, place } = s;
        let TextureAddress { texture, sampler, coords } = place;
        let tex = TextureFetch { geometry, level, dty, cty, dsts, pred, texture, sampler, coords, offsets };
        Ok(Inst::Texture(Box::new(TexInst::Sample(tex))))
    }

    /// `{a, b, c, d}|p`
    fn parse_tex_results(&mut self, dty: Type, n: usize) -> ParseRuleResult<(Vec<Option<Reg>>, Option<Reg>)> {
        let dsts = self.parse_vector_dst(dty, n, WidthRule::Exact)?;
        let pred = if self.eat_punct(b'|') { Some(self.parse_reg_of_type(Pred, WidthRule::Exact)?) } else { None };
        self.expect_comma()?;
        Ok((dsts, pred))
    }

    /// `[texture, {coordinates}]` or `[texture, sampler, {coordinates}]`
    fn parse_tex_address(&mut self, geometry: TextureGeometry, cty: Type) -> ParseRuleResult<TextureAddress> {
        self.expect_punct(b'[')?;
        let texture = self.parse_handle(OpaqueType::Texture)?;
        self.expect_comma()?;
        let mut sampler = None;
        // A single coordinate may stand without braces; what follows it tells it from a sampler.
        if !self.is_punct(b'{') && self.peek_kind(1) == TokenKind::Punct(b',') {
            sampler = Some(self.parse_handle(OpaqueType::Sampler)?);
            self.expect_comma()?;
        }
        let coords = self.parse_coords(geometry, cty)?;
        self.expect_punct(b']')?;
        Ok(TextureAddress { texture, sampler, coords })
    }

    fn parse_coords(&mut self, geometry: TextureGeometry, cty: Type) -> ParseRuleResult<Vec<Operand>> {
        let layered = usize::from(geometry.is_layered());
        self.parse_typed_vector(geometry.n_coords(), |i| if i < layered { U32 } else { cty })
    }

    /// A comma and a vector with one element per axis.
    fn parse_axes_vector(&mut self, geometry: TextureGeometry, ty: Type) -> ParseRuleResult<Vec<Operand>> {
        self.expect_comma()?;
        self.parse_typed_vector(geometry.n_axes(), |_| ty)
    }

    /// `n` operands, padded to what PTX wants; the padding is dropped.
    fn parse_typed_vector(&mut self, n: usize, ty: impl Fn(usize) -> Type) -> ParseRuleResult<Vec<Operand>> {
        if n == 1 && !self.is_punct(b'{') {
            return Ok(vec![self.parse_src(ty(0))?]);
        }
        let token = self.current_token();
        self.expect_punct(b'{')?;
        let mut list = Vec::new();
        for i in 0..padded_vector_len(n) {
            if i > 0 && !self.eat_punct(b',') {
                break;
            }
            list.push(self.parse_src(if i < n { ty(i) } else { B32 })?);
        }
        self.expect_punct(b'}')?;
        if list.len() < padded_vector_len(n) {
            return Err(
                self.semantic_error(token, format!("a vector of {} elements is needed here", padded_vector_len(n)))
            );
        }
        list.truncate(n);
        Ok(list)
    }

    /// A register with a handle, or an opaque variable.
    fn parse_handle(&mut self, ty: OpaqueType) -> ParseRuleResult<TextureHandle> {
        use super::scope::SymbolKind;
        let token = self.current_token();
        let name = self.expect_ident("a texture, sampler or surface")?;
        if let Some(SymbolKind::Reg(reg)) = self.body.find_in_function(name) {
            let have = self.body.reg_type(reg);
            if have.bits() == 64 && !have.is_float() {
                return Ok(TextureHandle::Reg(reg));
            }
            return Err(
                self.semantic_error(token, format!("register `{name}` cannot hold a handle, which has 64 bits"))
            );
        }
        match self.find_symbol(name) {
            Some(symbol @ Symbol::Global(var)) if self.module.vars[var.index()].opaque == Some(ty) => {
                Ok(TextureHandle::Symbol(symbol))
            }
            _ => {
                let what = crate::keywords::opaque_type_name(ty);
                Err(self.semantic_error(token, format!("`{name}` is neither a register nor a `.{what}`")))
            }
        }
    }

    /// `txq` and `suq`
    pub(super) fn parse_tex_query(&mut self, m: &mut Modifiers<'s>, surface: bool) -> ParseRuleResult<Inst> {
        use TexQuery::*;
        let level = !surface && m.take_modifier("level");
        let query = m.take_required_modifier("a query", tex_query_from_keyword)?;
        let sampler = matches!(query, ForceUnnormalizedCoords | FilterMode | AddrMode0 | AddrMode1 | AddrMode2);
        let texture_only = sampler || matches!(query, NormalizedCoords | NumMipmapLevels | NumSamples);
        let bad = if surface { texture_only } else { query == MemoryLayout };
        m.take_type_in(&[B32])?;
        if bad || (level && !matches!(query, Width | Height | Depth)) {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(B32)?;
        self.expect_punct(b'[')?;
        let ty = match (surface, self.names_samplerref(sampler)) {
            (true, _) => OpaqueType::Surface,
            (_, true) => OpaqueType::Sampler,
            _ => OpaqueType::Texture,
        };
        let handle = self.parse_handle(ty)?;
        self.expect_punct(b']')?;
        let level = if level { Some(self.parse_comma_src(S32)?) } else { None };
        Ok(Inst::Texture(Box::new(TexInst::Query { query, surface, dst, handle, level })))
    }

    /// Whether a query of a sampler names a `.samplerref`; in unified mode it names a `.texref`.
    fn names_samplerref(&self, sampler: bool) -> bool {
        let opaque = |symbol| match symbol {
            Symbol::Global(var) => self.module.vars[var.index()].opaque,
            _ => None,
        };
        sampler && self.find_symbol(self.current_text()).and_then(opaque) == Some(OpaqueType::Sampler)
    }

    /// `parse_istypep`
    pub(super) fn parse_istypep(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let ty = m.take_required_modifier("a type", opaque_type_from_keyword)?;
        m.check_all_taken()?;
        let dst = self.parse_dst_comma(Pred)?;
        let handle = TextureHandle::Reg(self.parse_reg_of_type(U64, WidthRule::Exact)?);
        Ok(Inst::Texture(Box::new(TexInst::IsType { ty, dst, handle })))
    }

    /// Words of `suld` and `sust` between `.b`/`.p` and the operands: shape, elements, type, clamp.
    fn parse_surf_modifiers(
        &mut self,
        m: &mut Modifiers<'s>,
        cache: &[&str],
        types: &[Type],
    ) -> ParseRuleResult<(TextureGeometry, usize, Type, SurfaceClamp)> {
        let geometry = m.take_required_modifier("a geometry", geometry_from_keyword)?;
        m.take_first_matching(|word| cache.contains(&word).then_some(()));
        let n = m.take_first_matching(vector_len_from_keyword).unwrap_or(1);
        let ty = m.take_type_in(types)?;
        let clamp = m.take_required_modifier("what to do out of bounds", surface_clamp_from_keyword)?;
        let cube = matches!(geometry, TextureGeometry::Cube | TextureGeometry::ACube);
        if cube || ty.bits() as usize * n > 128 {
            return Err(m.invalid_combination());
        }
        m.check_all_taken()?;
        Ok((geometry, n, ty, clamp))
    }

    /// `[surface, {coordinates}]`
    fn parse_surf_address(
        &mut self,
        geometry: TextureGeometry,
        clamp: SurfaceClamp,
        formatted: bool,
    ) -> ParseRuleResult<SurfAddress> {
        self.expect_punct(b'[')?;
        let surface = self.parse_handle(OpaqueType::Surface)?;
        self.expect_comma()?;
        let coords = self.parse_coords(geometry, B32)?;
        self.expect_punct(b']')?;
        Ok(SurfAddress { geometry, clamp, formatted, surface, coords })
    }

    /// `suld.b`
    pub(super) fn parse_surf_load(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if !m.take_modifier("b") {
            return Err(m.invalid_combination());
        }
        let (geometry, n, ty, clamp) = self.parse_surf_modifiers(m, &["ca", "cg", "cs", "cv"], &[B8, B16, B32, B64])?;
        let dsts = self.parse_vector_dst(ty, n, WidthRule::AtLeast)?;
        self.expect_comma()?;
        let place = self.parse_surf_address(geometry, clamp, false)?;
        Ok(Inst::Texture(Box::new(TexInst::Load { place, ty, dsts })))
    }

    /// `sust.b` and `sust.p`
    pub(super) fn parse_surf_store(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let formatted = m.take_modifier("p");
        if !formatted && !m.take_modifier("b") {
            return Err(m.invalid_combination());
        }
        let types: &[Type] = if formatted { &[B32, U32, S32, F32] } else { &[B8, B16, B32, B64] };
        let (geometry, n, ty, clamp) = self.parse_surf_modifiers(m, &["wb", "cg", "cs", "wt"], types)?;
        let place = self.parse_surf_address(geometry, clamp, formatted)?;
        self.expect_comma()?;
        let srcs = self.parse_vector_src(ty, n, WidthRule::AtLeast)?;
        Ok(Inst::Texture(Box::new(TexInst::Store { place, ty, srcs })))
    }

    /// `sured.b` and `sured.p`
    pub(super) fn parse_surf_reduce(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let formatted = m.take_modifier("p");
        if !formatted && !m.take_modifier("b") {
            return Err(m.invalid_combination());
        }
        let op = m.take_required_modifier("an operation", surf_op_from_keyword)?;
        let types: &[Type] = match (formatted, op) {
            (true, _) => &[B32],
            (_, SurfOp::Add) => &[U32, S32, U64],
            (_, SurfOp::Min | SurfOp::Max) => &[U32, S32, U64, S64],
            _ => &[B32, B64],
        };
        let (geometry, n, ty, clamp) = self.parse_surf_modifiers(m, &[], types)?;
        if n != 1 {
            return Err(m.invalid_combination());
        }
        let place = self.parse_surf_address(geometry, clamp, formatted)?;
        let src = self.parse_comma_src(ty)?;
        Ok(Inst::Texture(Box::new(TexInst::Reduce { place, op, ty, src })))
    }
}

/// What `parse_tex` and `parse_tld4` have in common, without the offsets.
struct SampledFetch {
    geometry: TextureGeometry,
    level: TexLevel,
    dty: Type,
    cty: Type,
    dsts: Vec<Option<Reg>>,
    pred: Option<Reg>,
    place: TextureAddress,
}
