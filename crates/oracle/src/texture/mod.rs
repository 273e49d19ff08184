//! Texture and surface objects: what they are made of, and where their texels lie.
//!
//! The texels of an object lie level after level; in a level slice after slice (of a layered object
//! layer after layer, six faces a cube), in a slice row after row.

pub(crate) mod position;
pub(crate) mod sample;
pub(crate) mod surface;

use crate::exact_rounding::{F16, F32, FloatFormat};
use rtcg_ptx::ast::TextureGeometry;

/// How a channel is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelFormat {
    /// Unsigned integers of 8 bits.
    U8,
    /// Signed integers of 8 bits.
    S8,
    /// Unsigned integers of 16 bits.
    U16,
    /// Signed integers of 16 bits.
    S16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Signed integers of 32 bits.
    S32,
    /// Floats of 16 bits.
    F16,
    /// Floats of 32 bits.
    F32,
}

impl ChannelFormat {
    /// All of them, in the order of their declaration.
    pub const ALL_FORMATS: [ChannelFormat; 8] = [
        ChannelFormat::U8,
        ChannelFormat::S8,
        ChannelFormat::U16,
        ChannelFormat::S16,
        ChannelFormat::U32,
        ChannelFormat::S32,
        ChannelFormat::F16,
        ChannelFormat::F32,
    ];

    /// Bytes of one.
    pub fn channel_bytes(self) -> usize {
        match self {
            ChannelFormat::U8 | ChannelFormat::S8 => 1,
            ChannelFormat::U16 | ChannelFormat::S16 | ChannelFormat::F16 => 2,
            ChannelFormat::U32 | ChannelFormat::S32 | ChannelFormat::F32 => 4,
        }
    }

    /// The format of a channel that holds floats.
    pub fn float_format(self) -> Option<FloatFormat> {
        match self {
            ChannelFormat::F16 => Some(F16),
            ChannelFormat::F32 => Some(F32),
            _ => None,
        }
    }

    /// Whether it holds integers with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, ChannelFormat::S8 | ChannelFormat::S16 | ChannelFormat::S32)
    }

    /// The integer that stands for 1 when integers are read as normalised floats.
    pub fn normalized_one(self) -> Option<u64> {
        match self {
            ChannelFormat::U8 => Some(255),
            ChannelFormat::S8 => Some(127),
            ChannelFormat::U16 => Some(65535),
            ChannelFormat::S16 => Some(32767),
            _ => None,
        }
    }
}

/// What happens outside a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    /// It repeats.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// It repeats, every other time mirrored.
    Mirror,
    /// The border colour.
    Border,
}

/// What holds the texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelStorage {
    /// An array of the driver.
    Array,
    /// Linear memory, of which texels are named by number.
    Linear,
    /// Rows in linear memory.
    Pitched,
}

/// Bytes that rows in linear memory are padded to.
pub const PITCH_ALIGNMENT: usize = 32;

/// How a texture is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplerState {
    /// By axis.
    pub address: [AddressMode; 3],
    /// Linear filtering.
    pub linear: bool,
    /// Coordinates from 0 to 1.
    pub normalized: bool,
    /// Integers are read as they are, not as normalised floats.
    pub as_integers: bool,
    /// The border colour, as bits of `.f32`.
    pub border: [u32; 4],
    /// Linear filtering between levels.
    pub mip_linear: bool,
}

/// A texture or a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureObject {
    /// Its shape.
    pub geometry: TextureGeometry,
    /// Where its texels are.
    pub storage: TexelStorage,
    /// Format of its channels.
    pub channel: ChannelFormat,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: usize,
    /// Texels along each axis of the largest level, 1 where it has none.
    pub extents: [u32; 3],
    /// Layers, faces of cubes counted; 1 without.
    pub layers: u32,
    /// Levels, 1 without a mipmap.
    pub levels: u32,
    /// How it is read; surfaces have none.
    pub sampler: Option<SamplerState>,
}

/// An object of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundTextureObject {
    /// The number by which kernels name it.
    pub handle: u64,
    /// Address of its texels, which are a buffer of the launch.
    pub address: u64,
    /// What it is.
    pub object: TextureObject,
}

impl TextureObject {
    /// Bytes of a texel.
    pub fn texel_bytes(&self) -> usize {
        self.channel.channel_bytes() * self.channels
    }

    /// Texels along each axis of a level.
    pub fn extents_of(&self, level: u32) -> [u32; 3] {
        self.extents.map(|n| (n >> level).max(1))
    }

    /// Bytes of a row of a level.
    pub fn row_bytes(&self, level: u32) -> usize {
        let row = self.extents_of(level)[0] as usize * self.texel_bytes();
        if self.storage == TexelStorage::Pitched { row.next_multiple_of(PITCH_ALIGNMENT) } else { row }
    }

    /// Slices or layers of a level.
    pub fn n_slices(&self, level: u32) -> u32 {
        if self.layers > 1 || self.geometry.is_layered() { self.layers } else { self.extents_of(level)[2] }
    }

    /// Where a level begins.
    pub fn level_offset(&self, level: u32) -> usize {
        (0..level).map(|l| self.row_bytes(l) * self.extents_of(l)[1] as usize * self.n_slices(l) as usize).sum()
    }

    /// Bytes of all texels.
    pub fn total_bytes(&self) -> usize {
        self.level_offset(self.levels)
    }

    /// Where a texel lies: column, row, slice or layer.
    fn texel_offset(&self, level: u32, [x, y, z]: [u32; 3]) -> usize {
        let rows = z as usize * self.extents_of(level)[1] as usize + y as usize;
        self.level_offset(level) + rows * self.row_bytes(level) + x as usize * self.texel_bytes()
    }

    /// Whether texels are read as floats.
    pub fn reads_floats(&self) -> bool {
        let as_integers = self.sampler.is_none_or(|s| s.as_integers);
        self.channel.float_format().is_some() || !as_integers && self.channel.normalized_one().is_some()
    }
}
