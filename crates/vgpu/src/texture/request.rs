//! A texture or surface instruction as compiled code hands it to the runtime: one word that says
//! what to do, and arrays of operands by lane.

use crate::abi::WARP_LANES;
use crate::jit::runtime::Lanes;
use rtcg_ptx::ast::{Clamp, Geometry, OpaqueType, SurfOp, TexQuery, Type};

/// 32-bit operands that an instruction can have: four coordinates, two derivatives by three axes,
/// three offsets.
pub const MAX_WORDS: usize = 13;

/// Operands and results of one instruction. Lanes that take no part hold garbage.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct TextureLanes {
    /// Texture or surface; only lane 0 counts when [`Request::uniform`] is set.
    pub handle: Lanes,
    /// Values to store, or results of 64 bits, by element.
    pub wide: [Lanes; 4],
    /// Coordinates (layer first), then level or derivatives, then offsets.
    pub words: [[u32; WARP_LANES]; MAX_WORDS],
    /// Results by element.
    pub results: [[u32; WARP_LANES]; 4],
    /// Not zero: the predicate result is true.
    pub flag: [u32; WARP_LANES],
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
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
pub struct Request {
    /// What is done.
    pub op: Op,
    /// The shape that the instruction names.
    pub geometry: Geometry,
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
    pub clamp: Clamp,
    /// `.p`
    pub formatted: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            op: Op::Sample,
            geometry: Geometry::D2,
            level: LevelKind::Base,
            whole: false,
            offsets: false,
            uniform: false,
            ty: Type::F32,
            n: 1,
            clamp: Clamp::Trap,
            formatted: false,
        }
    }
}

const GEOMETRIES: [Geometry; 7] =
    [Geometry::D1, Geometry::D2, Geometry::D3, Geometry::A1, Geometry::A2, Geometry::Cube, Geometry::ACube];
const TYPES: [Type; 12] = [
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
const CLAMPS: [Clamp; 3] = [Clamp::Trap, Clamp::Clamp, Clamp::Zero];
const SURF_OPS: [SurfOp; 5] = [SurfOp::Add, SurfOp::Min, SurfOp::Max, SurfOp::And, SurfOp::Or];
const OPAQUE: [OpaqueType; 3] = [OpaqueType::Texture, OpaqueType::Sampler, OpaqueType::Surface];
const QUERIES: [TexQuery; 15] = [
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

fn number_of<T: PartialEq>(list: &[T], value: &T) -> Option<u64> {
    list.iter().position(|v| v == value).map(|i| i as u64)
}

impl Op {
    fn encode(self) -> Option<u64> {
        let (kind, detail) = match self {
            Op::Sample => (0, 0),
            Op::Gather(component) => (1, u64::from(component & 3)),
            Op::Query(query) => (2, number_of(&QUERIES, &query)?),
            Op::IsType(ty) => (3, number_of(&OPAQUE, &ty)?),
            Op::Load => (4, 0),
            Op::Store => (5, 0),
            Op::Reduce(op) => (6, number_of(&SURF_OPS, &op)?),
        };
        Some(kind | detail << 4)
    }

    fn decode(word: u64) -> Option<Op> {
        let detail = (word >> 4 & 15) as usize;
        Some(match word & 15 {
            0 => Op::Sample,
            1 => Op::Gather(detail as u8 & 3),
            2 => Op::Query(*QUERIES.get(detail)?),
            3 => Op::IsType(*OPAQUE.get(detail)?),
            4 => Op::Load,
            5 => Op::Store,
            6 => Op::Reduce(*SURF_OPS.get(detail)?),
            _ => return None,
        })
    }
}

impl Request {
    /// The word; `None` for what no instruction has.
    pub fn encode(self) -> Option<u64> {
        let level = match self.level {
            LevelKind::Base => 0,
            LevelKind::Explicit => 1,
            LevelKind::Gradient => 2,
        };
        let flags = [self.whole, self.offsets, self.uniform, self.formatted];
        let flags = flags.into_iter().enumerate().fold(0, |all, (i, flag)| all | u64::from(flag) << i);
        Some(
            self.op.encode()?
                | number_of(&GEOMETRIES, &self.geometry)? << 8
                | level << 12
                | number_of(&TYPES, &self.ty)? << 16
                | u64::from(self.n) << 20
                | number_of(&CLAMPS, &self.clamp)? << 24
                | flags << 28,
        )
    }

    /// The inverse of [`Request::encode`].
    pub fn decode(word: u64) -> Option<Request> {
        let flag = |i: u64| word >> (28 + i) & 1 != 0;
        Some(Request {
            op: Op::decode(word)?,
            geometry: *GEOMETRIES.get((word >> 8 & 15) as usize)?,
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
            ty: *TYPES.get((word >> 16 & 15) as usize)?,
            n: (word >> 20 & 15) as u8,
            clamp: *CLAMPS.get((word >> 24 & 15) as usize)?,
        })
    }

    /// Where level or derivatives begin among the words.
    pub fn level_at(&self) -> usize {
        self.geometry.n_coords()
    }

    /// Where the offsets begin among the words.
    pub fn offsets_at(&self) -> usize {
        let axes = self.geometry.axes();
        self.level_at()
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
        let one = Request {
            op: Op::Gather(2),
            geometry: Geometry::ACube,
            offsets: true,
            uniform: true,
            ty: Type::U32,
            n: 4,
            clamp: Clamp::Zero,
            ..Request::default()
        };
        let two = Request {
            op: Op::Query(TexQuery::AddrMode2),
            level: LevelKind::Gradient,
            whole: true,
            formatted: true,
            ty: Type::S64,
            ..Request::default()
        };
        for r in [one, two, Request::default()] {
            assert_eq!(r.encode().and_then(Request::decode), Some(r));
        }
        assert_eq!(Request::decode(15), None);
    }
}
