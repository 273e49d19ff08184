//! Texture and surface objects of random programs: what they are, their text, and their contents.

use crate::exact::F16;
use crate::random::Random;
use crate::texture::{Address, Channel, Object, Sampler, Storage};
use rtcg_ptx::ast::Geometry;

/// The most objects of a program.
pub const MAX_OBJECTS: usize = 3;

const GEOMETRIES: [Geometry; 7] =
    [Geometry::D1, Geometry::D2, Geometry::D3, Geometry::A1, Geometry::A2, Geometry::Cube, Geometry::ACube];
const STORAGES: [Storage; 3] = [Storage::Array, Storage::Linear, Storage::Pitched];
const ADDRESSES: [Address; 4] = [Address::Wrap, Address::Clamp, Address::Mirror, Address::Border];
/// How a line that describes an object begins.
pub(super) const HEAD: &str = "// object";

/// The objects of a program with so many threads.
pub(super) fn objects(random: &mut Random, threads: u32) -> Vec<Object> {
    let n = 1 + random.below(MAX_OBJECTS);
    let mut list: Vec<Object> = vec![];
    for _ in 0..n {
        let object = match list.last() {
            _ if random.one_in(3) => surface(random, threads),
            // Another of the same shape, so that lanes can have different objects.
            Some(last) if last.sampler.is_some() && random.one_in(3) => {
                let mut other = *last;
                if let Some(s) = &mut other.sampler {
                    s.address = [address(random); 3];
                    unbordered(&mut other);
                }
                other
            }
            _ => texture(random),
        };
        list.push(object);
    }
    list
}

fn address(random: &mut Random) -> Address {
    ADDRESSES[random.below(4)]
}

/// Axes that are not there have no border.
fn unbordered(o: &mut Object) {
    if let Some(s) = &mut o.sampler {
        s.address[o.geometry.axes().min(3)..].fill(Address::Clamp);
    }
}

fn texture(random: &mut Random) -> Object {
    let geometry = GEOMETRIES[random.weighted(&[5, 8, 5, 2, 4, 2, 1])];
    let storage = match geometry {
        Geometry::D1 if random.one_in(3) => Storage::Linear,
        Geometry::D2 if random.one_in(3) => Storage::Pitched,
        _ => Storage::Array,
    };
    let mut extent = |most: usize| 1 + random.below(most) as u32;
    let extents = match geometry {
        Geometry::D1 | Geometry::A1 => [extent(40), 1, 1],
        Geometry::D2 | Geometry::A2 => [extent(16), extent(16), 1],
        Geometry::D3 => [extent(8), extent(6), extent(6)],
        Geometry::Cube | Geometry::ACube => [extent(8); 3],
    };
    let is_cube = matches!(geometry, Geometry::Cube | Geometry::ACube);
    let extents = if is_cube { [extents[0], extents[0], 1] } else { extents };
    let layers = match geometry {
        Geometry::A1 | Geometry::A2 => 1 + random.below(4) as u32,
        Geometry::Cube => 6,
        Geometry::ACube => 6 * (1 + random.below(2) as u32),
        _ => 1,
    };
    let channel = Channel::ALL[random.weighted(&[3, 2, 2, 2, 2, 2, 3, 5])];
    let normalized = storage != Storage::Linear && (is_cube || random.one_in(2));
    let most = extents[0].max(extents[1]).max(extents[2]).ilog2() + 1;
    let mipmap = storage == Storage::Array && normalized && random.one_in(4);
    let mut o = Object {
        geometry,
        storage,
        channel,
        channels: [1, 2, 4][random.below(3)],
        extents,
        layers,
        levels: if mipmap { 1 + random.below(most as usize) as u32 } else { 1 },
        sampler: Some(Sampler {
            address: std::array::from_fn(|_| address(random)),
            linear: false,
            normalized,
            as_integers: random.one_in(3),
            border: std::array::from_fn(|_| border(random, channel.is_signed())),
            mip_linear: false,
        }),
    };
    unbordered(&mut o);
    let filters = o.reads_floats() && storage != Storage::Linear;
    if let Some(s) = &mut o.sampler {
        s.linear = filters && !random.one_in(3);
        s.mip_linear = filters && random.one_in(2);
    }
    o
}

/// A colour of few digits from 0 or -1 to 1, not -0.
fn border(random: &mut Random, signed: bool) -> u32 {
    let x = random.below(17) as f32 / 16.0;
    (if signed && x > 0.0 && random.one_in(2) { -x } else { x }).to_bits()
}

/// A surface with a texel for each thread.
fn surface(random: &mut Random, threads: u32) -> Object {
    let geometry = GEOMETRIES[random.weighted(&[3, 5, 2, 2, 2])];
    let (extents, layers) = match geometry {
        Geometry::D1 => ([threads, 1, 1], 1),
        Geometry::D2 => ([32, threads.div_ceil(32), 1], 1),
        Geometry::A1 => ([32, 1, 1], threads.div_ceil(32)),
        Geometry::A2 => ([8, 8, 1], threads.div_ceil(64)),
        _ => ([8, 8, threads.div_ceil(64)], 1),
    };
    Object {
        geometry,
        storage: Storage::Array,
        channel: Channel::ALL[random.weighted(&[2, 2, 2, 2, 4, 4, 2, 2])],
        channels: [1, 1, 2, 4][random.below(4)],
        extents,
        layers,
        levels: 1,
        sampler: None,
    }
}

/// Contents of an object before the launch: whatever the kernel may do with it is defined.
pub(super) fn contents(o: &Object, random: &mut Random) -> Vec<u8> {
    let filtered = o.sampler.is_some_and(|s| s.linear || s.mip_linear);
    let n = o.size() / o.channel.bytes();
    let mut bytes = vec![];
    for _ in 0..n {
        let few = random.below(1025) as f32 / 16.0 - 32.0;
        let value = match o.channel {
            Channel::F32 if filtered => few.to_bits().into(),
            Channel::F16 if o.sampler.is_some() => loop {
                // Finite, and if filtered not -0.
                let x = random.interesting(16);
                if F16.magnitude(x) < F16.infinity() && !(filtered && x == F16.sign()) {
                    break x;
                }
            },
            // A NaN that arithmetic would change.
            Channel::F32 if random.one_in(40) => 0xff80_0001 + random.below(9) as u64,
            channel => random.interesting(8 * channel.bytes() as u32),
        };
        bytes.extend(&value.to_le_bytes()[..o.channel.bytes()]);
    }
    bytes.resize(o.size(), 0);
    bytes
}

/// An object as a line of text.
pub(super) fn line_of(o: &Object) -> String {
    let place = |list: &[Geometry]| list.iter().position(|g| *g == o.geometry).unwrap_or(0) as u32;
    let storage = STORAGES.iter().position(|s| *s == o.storage).unwrap_or(0) as u32;
    let channel = Channel::ALL.iter().position(|c| *c == o.channel).unwrap_or(0) as u32;
    let mut numbers = vec![place(&GEOMETRIES), storage, channel, o.channels as u32];
    numbers.extend(o.extents);
    numbers.extend([o.layers, o.levels]);
    if let Some(s) = &o.sampler {
        numbers.extend(s.address.map(|a| ADDRESSES.iter().position(|b| *b == a).unwrap_or(0) as u32));
        numbers.extend([s.linear, s.normalized, s.as_integers, s.mip_linear].map(u32::from));
        numbers.extend(s.border);
    }
    numbers.iter().fold(HEAD.to_owned(), |line, n| line + " " + &n.to_string())
}

/// The object that a line describes.
pub(super) fn from_line(line: &str) -> Option<Object> {
    let numbers: Option<Vec<u32>> =
        line.strip_prefix(HEAD)?.split_whitespace().map(|w| w.parse::<u32>().ok()).collect();
    let numbers = numbers?;
    let (&[geometry, storage, channel, channels, x, y, z, layers, levels], rest) = numbers.split_first_chunk::<9>()?;
    let sampler = match rest {
        [] => None,
        &[a, b, c, linear, normalized, as_integers, mip_linear, r, g, blue, alpha] => Some(Sampler {
            address: [*ADDRESSES.get(a as usize)?, *ADDRESSES.get(b as usize)?, *ADDRESSES.get(c as usize)?],
            linear: linear != 0,
            normalized: normalized != 0,
            as_integers: as_integers != 0,
            mip_linear: mip_linear != 0,
            border: [r, g, blue, alpha],
        }),
        _ => return None,
    };
    Some(Object {
        geometry: *GEOMETRIES.get(geometry as usize)?,
        storage: *STORAGES.get(storage as usize)?,
        channel: *Channel::ALL.get(channel as usize)?,
        channels: channels as usize,
        extents: [x, y, z],
        layers,
        levels,
        sampler,
    })
}
