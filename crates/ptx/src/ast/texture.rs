//! Texture and surface instructions.
//!
//! Operands are parts of a vector in PTX; here they are lists without the padding that PTX wants
//! (`tex.3d` has four coordinates there and three here). The layer of an arrayed geometry comes
//! first among the coordinates and is a `.u32` whatever the type of the others.

use super::{Operand, Reg, Symbol, Type};

/// The shape of a texture or surface as an instruction sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TextureGeometry {
    D1,
    D2,
    D3,
    /// Arrays of layers.
    A1,
    A2,
    Cube,
    ACube,
}

impl TextureGeometry {
    /// Whether the first coordinate is a layer.
    pub fn is_layered(self) -> bool {
        matches!(self, TextureGeometry::A1 | TextureGeometry::A2 | TextureGeometry::ACube)
    }

    /// Coordinates without the layer.
    pub fn n_axes(self) -> usize {
        match self {
            TextureGeometry::D1 | TextureGeometry::A1 => 1,
            TextureGeometry::D2 | TextureGeometry::A2 => 2,
            TextureGeometry::D3 | TextureGeometry::Cube | TextureGeometry::ACube => 3,
        }
    }

    /// Coordinates, layer included.
    pub fn n_coords(self) -> usize {
        self.n_axes() + usize::from(self.is_layered())
    }
}

/// The texture, sampler or surface that an instruction names.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum TextureHandle {
    /// A register that holds an object's handle, or the address of a module variable.
    Reg(Reg),
    /// A `.texref`, `.samplerref` or `.surfref` of the module, or a parameter that is one.
    Symbol(Symbol),
}

/// How a texture instruction picks its level of detail.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum TexLevel {
    /// No word, or `.base`: the largest level.
    Base,
    /// `.level`
    Level(Operand),
    /// `.grad`: the derivatives of the coordinates by x and by y.
    Grad(Vec<Operand>, Vec<Operand>),
    /// `tld4`: four texels, one component (0 to 3) of each.
    Gather(u8),
}

/// `tex` and `tld4`.
#[derive(Debug, Clone, PartialEq)]
pub struct TextureFetch {
    /// Shape of the texture.
    pub geometry: TextureGeometry,
    /// Level of detail, or that it is `tld4`.
    pub level: TexLevel,
    /// Type of the results: `U32`, `S32`, `F32`, `F16`, or `F16x2` in two registers.
    pub dty: Type,
    /// Type of the coordinates: `F32`, or `S32` for texels by number.
    pub cty: Type,
    /// Four results, two of `F16x2`.
    pub dsts: Vec<Option<Reg>>,
    /// Whether the texel is resident.
    pub pred: Option<Reg>,
    /// The texture (and, without `sampler`, how it is sampled).
    pub texture: TextureHandle,
    /// The sampler, in independent mode.
    pub sampler: Option<TextureHandle>,
    /// Coordinates, the layer first.
    pub coords: Vec<Operand>,
    /// Offsets in texels, one per axis; empty when not written.
    pub offsets: Vec<Operand>,
}

/// What `txq` and `suq` ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TexQuery {
    Width,
    Height,
    Depth,
    ChannelDataType,
    ChannelOrder,
    NormalizedCoords,
    ArraySize,
    NumMipmapLevels,
    NumSamples,
    MemoryLayout,
    ForceUnnormalizedCoords,
    FilterMode,
    AddrMode0,
    AddrMode1,
    AddrMode2,
}

/// What a surface access beyond the surface does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SurfaceClamp {
    /// Ends the launch.
    Trap,
    /// Goes to the nearest texel.
    Clamp,
    /// Reads zero, writes nothing.
    Zero,
}

/// Operations of `sured`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SurfOp {
    Add,
    Min,
    Max,
    And,
    Or,
}

/// The place a surface instruction accesses.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfAddress {
    /// Shape of the surface.
    pub geometry: TextureGeometry,
    /// Beyond its edges.
    pub clamp: SurfaceClamp,
    /// Formatted (`.p`): x counts texels and values are converted; else (`.b`) x counts bytes.
    pub formatted: bool,
    /// The surface.
    pub surface: TextureHandle,
    /// Coordinates of type `.s32`, the layer first.
    pub coords: Vec<Operand>,
}

/// Instructions on textures and surfaces.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum TexInst {
    Sample(TextureFetch),
    /// `txq` (`surface` = false) and `suq`
    Query {
        query: TexQuery,
        surface: bool,
        dst: Reg,
        handle: TextureHandle,
        level: Option<Operand>,
    },
    /// `istypep.{texref,samplerref,surfref}`
    IsType {
        ty: OpaqueType,
        dst: Reg,
        handle: TextureHandle,
    },
    /// `suld.b`
    Load {
        place: SurfAddress,
        ty: Type,
        dsts: Vec<Option<Reg>>,
    },
    /// `sust.b` and `sust.p`
    Store {
        place: SurfAddress,
        ty: Type,
        srcs: Vec<Operand>,
    },
    /// `sured.b` and `sured.p`
    Reduce {
        place: SurfAddress,
        op: SurfOp,
        ty: Type,
        src: Operand,
    },
}

/// Types of opaque variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum OpaqueType {
    Texture,
    Sampler,
    Surface,
}

impl TexInst {
    /// Calls `f` for each source operand; a symbol comes as its address.
    pub fn for_each_operand(&self, mut f: impl FnMut(Operand)) {
        let handle = |h: &TextureHandle| match h {
            TextureHandle::Reg(r) => Operand::Reg(*r),
            TextureHandle::Symbol(s) => Operand::Address(*s, 0),
        };
        match self {
            TexInst::Sample(t) => {
                f(handle(&t.texture));
                t.sampler.iter().for_each(|s| f(handle(s)));
                t.coords.iter().chain(&t.offsets).for_each(|o| f(*o));
                match &t.level {
                    TexLevel::Level(o) => f(*o),
                    TexLevel::Grad(x, y) => x.iter().chain(y).for_each(|o| f(*o)),
                    TexLevel::Base | TexLevel::Gather(_) => {}
                }
            }
            TexInst::Query { handle: h, level, .. } => {
                f(handle(h));
                level.iter().for_each(|o| f(*o));
            }
            TexInst::IsType { handle: h, .. } => f(handle(h)),
            TexInst::Load { place, .. } => for_each_address_operand(place, handle, f),
            TexInst::Store { place, srcs, .. } => {
                srcs.iter().for_each(|o| f(*o));
                for_each_address_operand(place, handle, f);
            }
            TexInst::Reduce { place, src, .. } => {
                f(*src);
                for_each_address_operand(place, handle, f);
            }
        }
    }

    /// Calls `f` for each register that is written.
    pub fn for_each_def(&self, f: impl FnMut(Reg)) {
        match self {
            TexInst::Sample(t) => t.dsts.iter().copied().flatten().chain(t.pred).for_each(f),
            TexInst::Query { dst, .. } | TexInst::IsType { dst, .. } => Some(*dst).into_iter().for_each(f),
            TexInst::Load { dsts, .. } => dsts.iter().copied().flatten().for_each(f),
            TexInst::Store { .. } | TexInst::Reduce { .. } => {}
        }
    }
}

fn for_each_address_operand(
    place: &SurfAddress,
    handle: impl Fn(&TextureHandle) -> Operand,
    mut f: impl FnMut(Operand),
) {
    f(handle(&place.surface));
    place.coords.iter().for_each(|o| f(*o));
}
