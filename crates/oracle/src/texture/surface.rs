//! Where surface instructions go, and what formatted stores make of their values.

use super::{ChannelFormat, TextureObject};
use crate::exact_rounding::{DecodedFloat, ExactMagnitude, F16, F32, RoundingMode, decode_float, round_to_format};
use crate::int;
use rtcg_ptx::ast::{SurfAddress, SurfaceClamp};

/// Where an access of `size` bytes lies in a surface; `None` outside of it with `.zero`.
pub(crate) fn access_offset(
    o: &TextureObject,
    place: &SurfAddress,
    coords: &[u32],
    size: usize,
) -> Result<Option<usize>, String> {
    if place.geometry != o.geometry {
        return Err("a surface is accessed as another shape".into());
    }
    let (row, size) = (o.row_bytes(0) as i64, size as i64);
    let unit = if place.formatted { o.texel_bytes() as i64 } else { 1 };
    let layered = place.geometry.is_layered();
    let axes = &coords[usize::from(layered)..];
    let x = i64::from(axes[0] as i32) * unit;
    if row % size != 0 || x % size != 0 {
        return Err("a surface access is not aligned".into());
    }
    // The last place along each axis, and what is requested.
    let mut wanted = vec![(x / size, row / size - 1)];
    wanted.extend(axes[1..].iter().zip(&o.extents[1..]).map(|(&i, &n)| (i64::from(i as i32), i64::from(n) - 1)));
    if layered {
        wanted.push((i64::from(coords[0]), i64::from(o.layers) - 1));
    }
    let outside = wanted.iter().any(|(i, last)| !(0..=*last).contains(i));
    match place.clamp {
        SurfaceClamp::Trap if outside => return Err("a surface access is out of bounds".into()),
        SurfaceClamp::Zero if outside => return Ok(None),
        _ => {}
    }
    let at: Vec<u32> = wanted.iter().map(|&(i, last)| i.clamp(0, last) as u32).collect();
    let (row, slice) = match (place.geometry.n_axes(), layered) {
        (1, true) => (0, at[1]),
        (1, false) => (0, 0),
        (2, false) => (at[1], 0),
        _ => (at[1], at[2]),
    };
    Ok(Some(o.texel_offset(0, [0, row, slice]) + at[0] as usize * size as usize))
}

/// A 32-bit value as a channel of a surface. Floats are rounded towards zero, as an H200 does (`docs/fidelity.md`).
pub(crate) fn convert_to_channel(channel: ChannelFormat, value: u32) -> Result<u64, String> {
    let bits = 8 * channel.channel_bytes() as u32;
    Ok(match channel {
        ChannelFormat::F16 => match decode_float(F32, value.into()) {
            DecodedFloat::Nan => return Err("a NaN becomes .f16: no single result".into()),
            DecodedFloat::Infinity(negative) => F16.infinity() | if negative { F16.sign_bit() } else { 0 },
            DecodedFloat::Finite { negative, n, exp } => {
                round_to_format(F16, RoundingMode::Zero, negative, &ExactMagnitude::from_dyadic(n.into(), exp))
            }
        },
        ChannelFormat::F32 => value.into(),
        _ => {
            let x = int::interpret_bits(32, channel.is_signed(), value.into());
            int::clamp_to_type(bits, channel.is_signed(), x) as u64
        }
    })
}
