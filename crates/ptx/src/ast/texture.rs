//! Texture and surface instructions.
//!
//! Operands are parts of a vector in PTX; here they are lists without the padding that PTX wants
//! (`tex.3d` has four coordinates there and three here). The layer of an arrayed geometry comes
//! first among the coordinates and is a `.u32` whatever the type of the others.

use super::{Operand, Reg, Symbol, Type};

/// The shape of a texture or surface as an instruction sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextureGeometry {
    /// One axis.
    D1,
    /// Two axes.
    D2,
    /// Three axes.
    D3,
    /// Arrays of layers.
    A1,
    /// An array of layers of two axes.
    A2,
    /// Six faces, addressed by a direction.
    Cube,
    /// An array of cubes.
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
pub enum TextureHandle {
    /// A register that holds an object's handle, or the address of a module variable.
    Reg(Reg),
    /// A `.texref`, `.samplerref` or `.surfref` of the module, or a parameter that is one.
    Symbol(Symbol),
}

/// How a texture instruction picks its level of detail.
#[derive(Debug, Clone, PartialEq)]
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
pub enum TexQuery {
    /// Width in texels.
    Width,
    /// Height in texels.
    Height,
    /// Depth in texels.
    Depth,
    /// Data type of a channel, as a number of OpenCL's.
    ChannelDataType,
    /// Order of channels, as a number of OpenCL's.
    ChannelOrder,
    /// Whether coordinates run from 0 to 1.
    NormalizedCoords,
    /// Number of layers.
    ArraySize,
    /// Number of mipmap levels.
    NumMipmapLevels,
    /// Samples of a texel.
    NumSamples,
    /// Whether memory is linear.
    MemoryLayout,
    /// Whether the sampler's coordinates count texels whatever the texture says.
    ForceUnnormalizedCoords,
    /// Nearest or linear.
    FilterMode,
    /// What is beyond the edges along x.
    AddrMode0,
    /// What is beyond the edges along y.
    AddrMode1,
    /// What is beyond the edges along z.
    AddrMode2,
}

/// What a surface access beyond the surface does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
pub enum SurfOp {
    /// Sum.
    Add,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Bits that both have.
    And,
    /// Bits that one or both have.
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
pub enum TexInst {
    /// `tex` and `tld4`
    Sample(TextureFetch),
    /// `txq` (`surface` = false) and `suq`
    Query {
        /// What is asked.
        query: TexQuery,
        /// `suq` rather than `txq`.
        surface: bool,
        /// The register that is written.
        dst: Reg,
        /// The texture, sampler or surface.
        handle: TextureHandle,
        /// Mipmap level, if it names one.
        level: Option<Operand>,
    },
    /// `istypep.{texref,samplerref,surfref}`
    IsType {
        /// The type that is asked for.
        ty: OpaqueType,
        /// The register that is written.
        dst: Reg,
        /// The texture, sampler or surface.
        handle: TextureHandle,
    },
    /// `suld.b`
    Load {
        /// The place on the surface.
        place: SurfAddress,
        /// Type of an element.
        ty: Type,
        /// The registers that are written; `None` is `_`.
        dsts: Vec<Option<Reg>>,
    },
    /// `sust.b` and `sust.p`
    Store {
        /// The place on the surface.
        place: SurfAddress,
        /// Type of an element.
        ty: Type,
        /// The source operands.
        srcs: Vec<Operand>,
    },
    /// `sured.b` and `sured.p`
    Reduce {
        /// The place on the surface.
        place: SurfAddress,
        /// The operation.
        op: SurfOp,
        /// Type of an element.
        ty: Type,
        /// The source operand.
        src: Operand,
    },
}

/// Types of opaque variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpaqueType {
    /// `.texref`
    Texture,
    /// `.samplerref`
    Sampler,
    /// `.surfref`
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
