//! Textures and surfaces: what a texture or surface object stands for, and the sampling itself.
//!
//! [`texture_request`](rtcg_vgpu_abi::texture_request) is the interface with compiled code, `addressing` turns coordinates into texel numbers,
//! [`mod@format`] reads texels, `border` makes one of the border's colour, `filter`, `weights` and `rounding` put them together, `surface` reads and writes surfaces.
//! The rules are those of the CUDA programming guide's appendix on texture fetching; what it
//! leaves open is decided where it is computed, in a comment.
//!
//! Assumes that the memory behind an object stays mapped or raises a signal: an object does not
//! keep its array alive, as on a GPU. Every access lies within the extents the object was made
//! with, whatever the coordinates are.

pub(crate) mod addressing;
mod border;
pub(crate) mod cube;
pub(crate) mod filter;
pub mod format;
mod gradient;
pub(crate) mod query;
pub mod registry;
mod rounding;
pub(crate) mod sample;
mod simd_sampling;
pub(crate) mod surface;
pub(crate) mod weights;

use format::TexelFormat;

/// What happens outside the texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    /// The texture repeats.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The texture repeats, every other time mirrored.
    Mirror,
    /// The border colour.
    Border,
}

/// How texels become a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplerState {
    /// By dimension.
    pub address: [AddressMode; 3],
    /// Linear filtering rather than the nearest texel.
    pub linear: bool,
    /// Coordinates from 0 to 1 rather than in texels.
    pub normalized: bool,
    /// Colour outside, for [`AddressMode::Border`].
    pub border: [f32; 4],
    /// Linear filtering between mipmap levels.
    pub mip_linear: bool,
    /// Added to the level of detail.
    pub lod_bias: f32,
    /// Least and greatest level of detail.
    pub lod_clamp: [f32; 2],
    /// Filtering goes across the edges of a cube.
    pub seamless: bool,
}

impl Default for SamplerState {
    fn default() -> SamplerState {
        SamplerState {
            address: [AddressMode::Clamp; 3],
            linear: false,
            normalized: false,
            border: [0.0; 4],
            mip_linear: false,
            lod_bias: 0.0,
            lod_clamp: [0.0, 0.0],
            seamless: false,
        }
    }
}

impl SamplerState {
    /// The mode of an axis. Coordinates in texels can neither wrap nor mirror.
    #[inline]
    pub(crate) fn address_mode(&self, axis: usize) -> AddressMode {
        match self.address[axis] {
            AddressMode::Wrap | AddressMode::Mirror if !self.normalized => AddressMode::Clamp,
            mode => mode,
        }
    }
}

/// One level of a mipmap, all its layers; a plain array has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MipLevel {
    /// Address of the first texel.
    pub start: u64,
    /// Texels in each dimension, at least one.
    pub extents: [u32; 3],
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes from a slice, or layer, to the next.
    pub slice: u64,
}

/// What is sampled or accessed.
#[derive(Debug, Clone, PartialEq)]
pub struct TextureResource {
    /// Largest level first; at least one.
    pub levels: Vec<MipLevel>,
    /// Layers (six a cube), 1 without.
    pub layers: u32,
    /// Layers that a view shows; those behind give zeros.
    pub shown_layers: u32,
    /// How texels are stored.
    pub format: TexelFormat,
    /// Dimensions of a layer, 1 to 3.
    pub dimensions: u32,
    /// The depth counts layers.
    pub layered: bool,
    /// The layers are faces of cubes.
    pub cube: bool,
    /// Plain memory for `tex1Dfetch`: texels outside are zero.
    pub linear_memory: bool,
}

/// A texture object.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// The texels.
    pub resource: TextureResource,
    /// How they are sampled.
    pub sampler: SamplerState,
    /// The border's colour as a texel.
    border: border::BorderTexel,
}

impl Texture {
    /// A resource and how it is sampled.
    pub fn new(resource: TextureResource, sampler: SamplerState) -> Texture {
        let border = border::border_texel(&resource.format, sampler.border);
        Texture { resource, sampler, border }
    }
}

/// What a handle in a kernel means.
#[derive(Debug, Clone, PartialEq)]
pub enum TexOrSurfObject {
    /// `CUtexObject`
    Texture(Texture),
    /// `CUsurfObject`
    Surface(TextureResource),
}

impl TextureResource {
    /// The texels of one layer or slice of a level.
    #[inline]
    pub(crate) fn texel_address(&self, level: &MipLevel, at: [u32; 3]) -> *const u8 {
        let offset = u64::from(at[2]) * level.slice
            + u64::from(at[1]) * level.pitch
            + u64::from(at[0]) * u64::from(self.format.bytes);
        (level.start + offset) as *const u8
    }
}
