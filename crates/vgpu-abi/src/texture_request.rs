//! A texture or surface instruction as compiled code hands it to the runtime: one word that says
//! what to do, and arrays of operands by lane.

use crate::{LaneValues, WARP_LANES};
use rtcg_ptx::ast::{OpaqueType, SurfOp, SurfaceClamp, TexQuery, TextureGeometry, Type};

/// 32-bit operands that an instruction can have: four coordinates, two derivatives by three axes,
/// three offsets.
pub(crate) const MAX_OPERAND_WORDS: usize = 13;

/// Operands and results of one instruction. Lanes that take no part hold garbage.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct TextureLanes {
    /// Texture or surface; only lane 0 counts when [`TextureRequest::uniform`] is set.
    pub handle: LaneValues,
    /// Values to store, or results of 64 bits, by element.
    pub wide: [LaneValues; 4],
    /// Coordinates (layer first), then level or derivatives, then offsets.
    pub words: [[u32; WARP_LANES]; MAX_OPERAND_WORDS],
    /// Results by element.
    pub results: [[u32; WARP_LANES]; 4],
    /// Not zero: the predicate result is true.
    pub flag: [u32; WARP_LANES],
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureOp {
    /// `tex`
    Sample,
    /// `tld4` of a component.
    Gather(u8),
    /// `txq` and `suq`
    Query(TexQuery),
    /// `istypep`
    IsType(OpaqueType),
    /// `suld.b`
    Load,
    /// `sust`
    Store,
    /// `sured`
    Reduce(SurfOp),
}

/// How the level of detail is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// It is 0.
    Base,
    /// A word.
    Explicit,
    /// By derivatives.
    Gradient,
}

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureRequest {
    /// What is done.
    pub op: TextureOp,
    /// The shape that the instruction names.
    pub geometry: TextureGeometry,
    /// The level of detail.
    pub level: LevelKind,
    /// Coordinates are texel numbers (and the level too).
    pub whole: bool,
    /// There are offsets.
    pub offsets: bool,
    /// All lanes use the handle of lane 0.
    pub uniform: bool,
    /// Type of an element, of a result for `tex`.
    pub ty: Type,
    /// Elements of a surface access.
    pub n: u8,
    /// Beyond the edges of a surface.
    pub clamp: SurfaceClamp,
    /// `.p`
    pub formatted: bool,
}

impl Default for TextureRequest {
    fn default() -> TextureRequest {
        TextureRequest {
            op: TextureOp::Sample,
            geometry: TextureGeometry::D2,
            level: LevelKind::Base,
            whole: false,
            offsets: false,
            uniform: false,
            ty: Type::F32,
            n: 1,
            clamp: SurfaceClamp::Trap,
            formatted: false,
        }
    }
}

const TEXTURE_GEOMETRIES: [TextureGeometry; 7] = [
    TextureGeometry::D1,
    TextureGeometry::D2,
    TextureGeometry::D3,
    TextureGeometry::A1,
    TextureGeometry::A2,
    TextureGeometry::Cube,
    TextureGeometry::ACube,
];
const ELEMENT_TYPES: [Type; 12] = [
    Type::F32,
    Type::U32,
    Type::S32,
    Type::F16,
    Type::F16x2,
    Type::B8,
    Type::B16,
    Type::B32,
    Type::B64,
    Type::U64,
    Type::S64,
    Type::U8,
];
const SURFACE_CLAMPS: [SurfaceClamp; 3] = [SurfaceClamp::Trap, SurfaceClamp::Clamp, SurfaceClamp::Zero];
const SURF_OPS: [SurfOp; 5] = [SurfOp::Add, SurfOp::Min, SurfOp::Max, SurfOp::And, SurfOp::Or];
const OPAQUE_TYPES: [OpaqueType; 3] = [OpaqueType::Texture, OpaqueType::Sampler, OpaqueType::Surface];
const TEX_QUERIES: [TexQuery; 15] = [
    TexQuery::Width,
    TexQuery::Height,
    TexQuery::Depth,
    TexQuery::ChannelDataType,
    TexQuery::ChannelOrder,
    TexQuery::NormalizedCoords,
    TexQuery::ArraySize,
    TexQuery::NumMipmapLevels,
    TexQuery::NumSamples,
    TexQuery::MemoryLayout,
    TexQuery::ForceUnnormalizedCoords,
    TexQuery::FilterMode,
    TexQuery::AddrMode0,
    TexQuery::AddrMode1,
    TexQuery::AddrMode2,
];

fn index_in_list<T: PartialEq>(list: &[T], value: &T) -> Option<u64> {
    list.iter().position(|v| v == value).map(|i| i as u64)
}

impl TextureOp {
    fn encode_op(self) -> Option<u64> {
        let (kind, detail) = match self {
            TextureOp::Sample => (0, 0),
            TextureOp::Gather(component) => (1, u64::from(component & 3)),
            TextureOp::Query(query) => (2, index_in_list(&TEX_QUERIES, &query)?),
            TextureOp::IsType(ty) => (3, index_in_list(&OPAQUE_TYPES, &ty)?),
            TextureOp::Load => (4, 0),
            TextureOp::Store => (5, 0),
            TextureOp::Reduce(op) => (6, index_in_list(&SURF_OPS, &op)?),
        };
        Some(kind | detail << 4)
    }

    fn decode_op(word: u64) -> Option<TextureOp> {
        let detail = (word >> 4 & 15) as usize;
        Some(match word & 15 {
            0 => TextureOp::Sample,
            1 => TextureOp::Gather(detail as u8 & 3),
            2 => TextureOp::Query(*TEX_QUERIES.get(detail)?),
            3 => TextureOp::IsType(*OPAQUE_TYPES.get(detail)?),
            4 => TextureOp::Load,
            5 => TextureOp::Store,
            6 => TextureOp::Reduce(*SURF_OPS.get(detail)?),
            _ => return None,
        })
    }
}

impl TextureRequest {
    /// The word; `None` for what no instruction has.
    #[inline]
    pub fn encode_request(self) -> Option<u64> {
        let level = match self.level {
            LevelKind::Base => 0,
            LevelKind::Explicit => 1,
            LevelKind::Gradient => 2,
        };
        let flags = [self.whole, self.offsets, self.uniform, self.formatted];
        let flags = flags.into_iter().enumerate().fold(0, |all, (i, flag)| all | u64::from(flag) << i);
        Some(
            self.op.encode_op()?
                | index_in_list(&TEXTURE_GEOMETRIES, &self.geometry)? << 8
                | level << 12
                | index_in_list(&ELEMENT_TYPES, &self.ty)? << 16
                | u64::from(self.n) << 20
                | index_in_list(&SURFACE_CLAMPS, &self.clamp)? << 24
                | flags << 28,
        )
    }

    /// The inverse of [`TextureRequest::encode_request`].
    #[inline]
    pub fn decode_request(word: u64) -> Option<TextureRequest> {
        let flag = |i: u64| word >> (28 + i) & 1 != 0;
        Some(TextureRequest {
            op: TextureOp::decode_op(word)?,
            geometry: *TEXTURE_GEOMETRIES.get((word >> 8 & 15) as usize)?,
            level: match word >> 12 & 15 {
                0 => LevelKind::Base,
                1 => LevelKind::Explicit,
                2 => LevelKind::Gradient,
                _ => return None,
            },
            whole: flag(0),
            offsets: flag(1),
            uniform: flag(2),
            formatted: flag(3),
            ty: *ELEMENT_TYPES.get((word >> 16 & 15) as usize)?,
            n: (word >> 20 & 15) as u8,
            clamp: *SURFACE_CLAMPS.get((word >> 24 & 15) as usize)?,
        })
    }

    /// Where level or derivatives begin among the words.
    #[inline]
    pub fn level_word_index(&self) -> usize {
        self.geometry.n_coords()
    }

    /// Where the offsets begin among the words.
    #[inline]
    pub fn offsets_word_index(&self) -> usize {
        let axes = self.geometry.n_axes();
        self.level_word_index()
            + match self.level {
                LevelKind::Base => 0,
                LevelKind::Explicit => 1,
                LevelKind::Gradient => 2 * axes,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_round_trip() {
        let one = TextureRequest {
            op: TextureOp::Gather(2),
            geometry: TextureGeometry::ACube,
            offsets: true,
            uniform: true,
            ty: Type::U32,
            n: 4,
            clamp: SurfaceClamp::Zero,
            ..TextureRequest::default()
        };
        let two = TextureRequest {
            op: TextureOp::Query(TexQuery::AddrMode2),
            level: LevelKind::Gradient,
            whole: true,
            formatted: true,
            ty: Type::S64,
            ..TextureRequest::default()
        };
        for r in [one, two, TextureRequest::default()] {
            assert_eq!(r.encode_request().and_then(TextureRequest::decode_request), Some(r));
        }
        assert_eq!(TextureRequest::decode_request(15), None);
    }
}
