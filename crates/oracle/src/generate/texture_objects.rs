//! Texture and surface objects of random programs: what they are, their text, and their contents.

use crate::exact_rounding::F16;
use crate::random::Random;
use crate::texture::{AddressMode, ChannelFormat, SamplerState, TexelStorage, TextureObject};
use rtcg_ptx::ast::TextureGeometry;

/// The most objects of a program.
pub const MAX_OBJECTS: usize = 3;

const OBJECT_GEOMETRIES: [TextureGeometry; 7] = [
    TextureGeometry::D1,
    TextureGeometry::D2,
    TextureGeometry::D3,
    TextureGeometry::A1,
    TextureGeometry::A2,
    TextureGeometry::Cube,
    TextureGeometry::ACube,
];
const OBJECT_STORAGES: [TexelStorage; 3] = [TexelStorage::Array, TexelStorage::Linear, TexelStorage::Pitched];
const ADDRESS_MODES: [AddressMode; 4] =
    [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
/// How a line that describes an object begins.
pub(super) const OBJECT_LINE_PREFIX: &str = "// object";

/// The objects of a program with so many threads.
pub(super) fn random_objects(random: &mut Random, threads: u32) -> Vec<TextureObject> {
    let n = 1 + random.next_below(MAX_OBJECTS);
    let mut list: Vec<TextureObject> = vec![];
    for _ in 0..n {
        let object = match list.last() {
            _ if random.chance_one_in(3) => random_surface(random, threads),
            // Another of the same shape, so that lanes can have different objects.
            Some(last) if last.sampler.is_some() && random.chance_one_in(3) => {
                let mut other = *last;
                if let Some(s) = &mut other.sampler {
                    s.address = [random_address_mode(random); 3];
                    reset_unused_address_modes(&mut other);
                }
                other
            }
            _ => random_texture(random),
        };
        list.push(object);
    }
    list
}

fn random_address_mode(random: &mut Random) -> AddressMode {
    ADDRESS_MODES[random.next_below(4)]
}

/// Axes that are not there have no border.
fn reset_unused_address_modes(o: &mut TextureObject) {
    if let Some(s) = &mut o.sampler {
        s.address[o.geometry.n_axes().min(3)..].fill(AddressMode::Clamp);
    }
}

fn random_texture(random: &mut Random) -> TextureObject {
    let geometry = OBJECT_GEOMETRIES[random.weighted_index(&[5, 8, 5, 2, 4, 2, 1])];
    let storage = match geometry {
        TextureGeometry::D1 if random.chance_one_in(3) => TexelStorage::Linear,
        TextureGeometry::D2 if random.chance_one_in(3) => TexelStorage::Pitched,
        _ => TexelStorage::Array,
    };
    let mut extent = |most: usize| 1 + random.next_below(most) as u32;
    let extents = match geometry {
        TextureGeometry::D1 | TextureGeometry::A1 => [extent(40), 1, 1],
        TextureGeometry::D2 | TextureGeometry::A2 => [extent(16), extent(16), 1],
        TextureGeometry::D3 => [extent(8), extent(6), extent(6)],
        TextureGeometry::Cube | TextureGeometry::ACube => [extent(8); 3],
    };
    let is_cube = matches!(geometry, TextureGeometry::Cube | TextureGeometry::ACube);
    let extents = if is_cube { [extents[0], extents[0], 1] } else { extents };
    let layers = match geometry {
        TextureGeometry::A1 | TextureGeometry::A2 => 1 + random.next_below(4) as u32,
        TextureGeometry::Cube => 6,
        TextureGeometry::ACube => 6 * (1 + random.next_below(2) as u32),
        _ => 1,
    };
    let channel = ChannelFormat::ALL_FORMATS[random.weighted_index(&[3, 2, 2, 2, 2, 2, 3, 5])];
    let normalized = storage != TexelStorage::Linear && (is_cube || random.chance_one_in(2));
    let most = extents[0].max(extents[1]).max(extents[2]).ilog2() + 1;
    let mipmap = storage == TexelStorage::Array && normalized && random.chance_one_in(4);
    let mut o = TextureObject {
        geometry,
        storage,
        channel,
        channels: [1, 2, 4][random.next_below(3)],
        extents,
        layers,
        levels: if mipmap { 1 + random.next_below(most as usize) as u32 } else { 1 },
        sampler: Some(SamplerState {
            address: std::array::from_fn(|_| random_address_mode(random)),
            linear: false,
            normalized,
            as_integers: random.chance_one_in(3),
            border: std::array::from_fn(|_| random_border(random, channel.is_signed())),
            mip_linear: false,
        }),
    };
    reset_unused_address_modes(&mut o);
    let filters = o.reads_floats() && storage != TexelStorage::Linear;
    if let Some(s) = &mut o.sampler {
        s.linear = filters && !random.chance_one_in(3);
        s.mip_linear = filters && random.chance_one_in(2);
    }
    o
}

/// A colour of few digits from 0 or -1 to 1, not -0.
fn random_border(random: &mut Random, signed: bool) -> u32 {
    let x = random.next_below(17) as f32 / 16.0;
    (if signed && x > 0.0 && random.chance_one_in(2) { -x } else { x }).to_bits()
}

/// A surface with a texel for each thread.
fn random_surface(random: &mut Random, threads: u32) -> TextureObject {
    let geometry = OBJECT_GEOMETRIES[random.weighted_index(&[3, 5, 2, 2, 2])];
    let (extents, layers) = match geometry {
        TextureGeometry::D1 => ([threads, 1, 1], 1),
        TextureGeometry::D2 => ([32, threads.div_ceil(32), 1], 1),
        TextureGeometry::A1 => ([32, 1, 1], threads.div_ceil(32)),
        TextureGeometry::A2 => ([8, 8, 1], threads.div_ceil(64)),
        _ => ([8, 8, threads.div_ceil(64)], 1),
    };
    TextureObject {
        geometry,
        storage: TexelStorage::Array,
        channel: ChannelFormat::ALL_FORMATS[random.weighted_index(&[2, 2, 2, 2, 4, 4, 2, 2])],
        channels: [1, 1, 2, 4][random.next_below(4)],
        extents,
        layers,
        levels: 1,
        sampler: None,
    }
}

/// Contents of an object before the launch: whatever the kernel may do with it is defined.
pub(super) fn initial_texels(o: &TextureObject, random: &mut Random) -> Vec<u8> {
    let filtered = o.sampler.is_some_and(|s| s.linear || s.mip_linear);
    let n = o.total_bytes() / o.channel.channel_bytes();
    let mut bytes = vec![];
    for _ in 0..n {
        let few = random.next_below(1025) as f32 / 16.0 - 32.0;
        let value = match o.channel {
            ChannelFormat::F32 if filtered => few.to_bits().into(),
            ChannelFormat::F16 if o.sampler.is_some() => loop {
                // Finite, and if filtered not -0.
                let x = random.edge_case_bits(16);
                if F16.magnitude_bits(x) < F16.infinity() && !(filtered && x == F16.sign_bit()) {
                    break x;
                }
            },
            // A NaN that arithmetic would change.
            ChannelFormat::F32 if random.chance_one_in(40) => 0xff80_0001 + random.next_below(9) as u64,
            channel => random.edge_case_bits(8 * channel.channel_bytes() as u32),
        };
        bytes.extend(&value.to_le_bytes()[..o.channel.channel_bytes()]);
    }
    bytes.resize(o.total_bytes(), 0);
    bytes
}

/// An object as a line of text.
pub(super) fn object_to_line(o: &TextureObject) -> String {
    let place = |list: &[TextureGeometry]| list.iter().position(|g| *g == o.geometry).unwrap_or(0) as u32;
    let storage = OBJECT_STORAGES.iter().position(|s| *s == o.storage).unwrap_or(0) as u32;
    let channel = ChannelFormat::ALL_FORMATS.iter().position(|c| *c == o.channel).unwrap_or(0) as u32;
    let mut numbers = vec![place(&OBJECT_GEOMETRIES), storage, channel, o.channels as u32];
    numbers.extend(o.extents);
    numbers.extend([o.layers, o.levels]);
    if let Some(s) = &o.sampler {
        numbers.extend(s.address.map(|a| ADDRESS_MODES.iter().position(|b| *b == a).unwrap_or(0) as u32));
        numbers.extend([s.linear, s.normalized, s.as_integers, s.mip_linear].map(u32::from));
        numbers.extend(s.border);
    }
    numbers.iter().fold(OBJECT_LINE_PREFIX.to_owned(), |line, n| line + " " + &n.to_string())
}

/// The object that a line describes.
pub(super) fn object_from_line(line: &str) -> Option<TextureObject> {
    let numbers: Option<Vec<u32>> =
        line.strip_prefix(OBJECT_LINE_PREFIX)?.split_whitespace().map(|w| w.parse::<u32>().ok()).collect();
    let numbers = numbers?;
    let (&[geometry, storage, channel, channels, x, y, z, layers, levels], rest) = numbers.split_first_chunk::<9>()?;
    let sampler = match rest {
        [] => None,
        &[a, b, c, linear, normalized, as_integers, mip_linear, r, g, blue, alpha] => Some(SamplerState {
            address: [
                *ADDRESS_MODES.get(a as usize)?,
                *ADDRESS_MODES.get(b as usize)?,
                *ADDRESS_MODES.get(c as usize)?,
            ],
            linear: linear != 0,
            normalized: normalized != 0,
            as_integers: as_integers != 0,
            mip_linear: mip_linear != 0,
            border: [r, g, blue, alpha],
        }),
        _ => return None,
    };
    Some(TextureObject {
        geometry: *OBJECT_GEOMETRIES.get(geometry as usize)?,
        storage: *OBJECT_STORAGES.get(storage as usize)?,
        channel: *ChannelFormat::ALL_FORMATS.get(channel as usize)?,
        channels: channels as usize,
        extents: [x, y, z],
        layers,
        levels,
        sampler,
    })
}
