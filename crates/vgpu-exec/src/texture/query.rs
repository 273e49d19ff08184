//! What `txq` and `suq` answer.
//!
//! The numbers for channel types and orders are those of the PTX ISA, which are OpenCL's.

use super::format::ChannelKind;
use super::{AddressMode, SamplerState, TextureResource};
use rtcg_ptx::ast::TexQuery;

/// The answer; `level` is that of `txq.level`, and a surface has no sampler. The depth of an array is the number of its
/// layers; of cubes only a surface has one, and of one dimension only a texture has a height.
pub(crate) fn query_value(
    resource: &TextureResource,
    sampler: Option<&SamplerState>,
    query: TexQuery,
    level: u32,
) -> u32 {
    let last = resource.levels.len() - 1;
    let extents = resource.levels[(level as usize).min(last)].extents;
    let is_surface = sampler.is_none();
    let sampler = sampler.copied().unwrap_or_default();
    match query {
        TexQuery::Width => extents[0],
        TexQuery::Height if is_surface && resource.dimensions == 1 => 0,
        TexQuery::Height => extents[1],
        TexQuery::Depth if resource.dimensions == 3 => extents[2],
        TexQuery::Depth if resource.layered && (is_surface || !resource.cube) => resource.layers,
        TexQuery::Depth => 0,
        TexQuery::ArraySize => resource.layers / if resource.cube { 6 } else { 1 },
        TexQuery::ChannelDataType => encode_channel_type(resource.format.kind, resource.format.code),
        TexQuery::ChannelOrder => match resource.format.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        TexQuery::NumMipmapLevels => resource.levels.len() as u32,
        TexQuery::NumSamples => 1,
        TexQuery::MemoryLayout => u32::from(!resource.linear_memory),
        TexQuery::NormalizedCoords => u32::from(sampler.normalized),
        TexQuery::ForceUnnormalizedCoords => u32::from(!sampler.normalized),
        TexQuery::FilterMode => u32::from(sampler.linear),
        TexQuery::AddrMode0 => encode_address_mode(sampler.address[0]),
        TexQuery::AddrMode1 => encode_address_mode(sampler.address[1]),
        TexQuery::AddrMode2 => encode_address_mode(sampler.address[2]),
    }
}

fn encode_address_mode(mode: AddressMode) -> u32 {
    match mode {
        AddressMode::Wrap => 0,
        AddressMode::Mirror => 1,
        AddressMode::Clamp => 3,
        AddressMode::Border => 4,
    }
}

fn encode_channel_type(kind: ChannelKind, code: u32) -> u32 {
    match kind {
        ChannelKind::Snorm8 => 0x10d0,
        ChannelKind::Snorm16 => 0x10d1,
        ChannelKind::Unorm8 | ChannelKind::Srgb8 | ChannelKind::SrgbPair8 => 0x10d2,
        ChannelKind::Unorm16 => 0x10d3,
        ChannelKind::S8 => 0x10d7,
        ChannelKind::S16 => 0x10d8,
        ChannelKind::Word if code == 10 => 0x10d9,
        ChannelKind::U8 => 0x10da,
        ChannelKind::U16 => 0x10db,
        ChannelKind::Word => 0x10dc,
        ChannelKind::F16 => 0x10dd,
        ChannelKind::F32 => 0x10de,
    }
}
