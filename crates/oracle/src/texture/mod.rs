//! Texture and surface objects: what they are made of, and where their texels lie.
//!
//! The texels of an object lie level after level; in a level slice after slice (of a layered object
//! layer after layer, six faces a cube), in a slice row after row.

pub(crate) mod position;
pub(crate) mod sample;
pub(crate) mod surface;

use crate::exact::{F16, F32, Format};
use rtcg_ptx::ast::Geometry;

/// How a channel is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Channel {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    F16,
    F32,
}

impl Channel {
    /// All of them, in the order of their declaration.
    pub const ALL: [Channel; 8] =
        [Channel::U8, Channel::S8, Channel::U16, Channel::S16, Channel::U32, Channel::S32, Channel::F16, Channel::F32];

    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::F16 => 2,
            Channel::U32 | Channel::S32 | Channel::F32 => 4,
        }
    }

    /// The format of a channel that holds floats.
    pub fn float(self) -> Option<Format> {
        match self {
            Channel::F16 => Some(F16),
            Channel::F32 => Some(F32),
            _ => None,
        }
    }

    /// Whether it holds integers with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Channel::S8 | Channel::S16 | Channel::S32)
    }

    /// The integer that stands for 1 when integers are read as normalised floats.
    pub fn unit(self) -> Option<u64> {
        match self {
            Channel::U8 => Some(255),
            Channel::S8 => Some(127),
            Channel::U16 => Some(65535),
            Channel::S16 => Some(32767),
            _ => None,
        }
    }
}

/// What happens outside a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
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
pub enum Storage {
    /// An array of the driver.
    Array,
    /// Linear memory, of which texels are named by number.
    Linear,
    /// Rows in linear memory.
    Pitched,
}

/// Bytes that rows in linear memory are padded to.
pub const PITCH: usize = 32;

/// How a texture is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// By axis.
    pub address: [Address; 3],
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
pub struct Object {
    /// Its shape.
    pub geometry: Geometry,
    /// Where its texels are.
    pub storage: Storage,
    /// Format of its channels.
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: usize,
    /// Texels along each axis of the largest level, 1 where it has none.
    pub extents: [u32; 3],
    /// Layers, faces of cubes counted; 1 without.
    pub layers: u32,
    /// Levels, 1 without a mipmap.
    pub levels: u32,
    /// How it is read; surfaces have none.
    pub sampler: Option<Sampler>,
}

/// An object of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedObject {
    /// The number by which kernels name it.
    pub handle: u64,
    /// Address of its texels, which are a buffer of the launch.
    pub address: u64,
    /// What it is.
    pub object: Object,
}

impl Object {
    /// Bytes of a texel.
    pub fn texel(&self) -> usize {
        self.channel.bytes() * self.channels
    }

    /// Texels along each axis of a level.
    pub fn extents_of(&self, level: u32) -> [u32; 3] {
        self.extents.map(|n| (n >> level).max(1))
    }

    /// Bytes of a row of a level.
    pub fn row(&self, level: u32) -> usize {
        let row = self.extents_of(level)[0] as usize * self.texel();
        if self.storage == Storage::Pitched { row.next_multiple_of(PITCH) } else { row }
    }

    /// Slices or layers of a level.
    pub fn slices(&self, level: u32) -> u32 {
        if self.layers > 1 || self.geometry.layered() { self.layers } else { self.extents_of(level)[2] }
    }

    /// Where a level begins.
    pub fn level_offset(&self, level: u32) -> usize {
        (0..level).map(|l| self.row(l) * self.extents_of(l)[1] as usize * self.slices(l) as usize).sum()
    }

    /// Bytes of all texels.
    pub fn size(&self) -> usize {
        self.level_offset(self.levels)
    }

    /// Where a texel lies: column, row, slice or layer.
    fn offset(&self, level: u32, [x, y, z]: [u32; 3]) -> usize {
        let rows = z as usize * self.extents_of(level)[1] as usize + y as usize;
        self.level_offset(level) + rows * self.row(level) + x as usize * self.texel()
    }

    /// Whether texels are read as floats.
    pub fn reads_floats(&self) -> bool {
        let as_integers = self.sampler.is_none_or(|s| s.as_integers);
        self.channel.float().is_some() || !as_integers && self.channel.unit().is_some()
    }
}
