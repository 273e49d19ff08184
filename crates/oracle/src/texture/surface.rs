//! Where surface instructions go, and what formatted stores make of their values.

use super::{Channel, Object};
use crate::exact::{Exact, F16, F32, Mode, Number, decode, round};
use crate::int;
use rtcg_ptx::ast::{Clamp, SurfPlace};

/// Where an access of `size` bytes lies in a surface; `None` outside of it with `.zero`.
pub(crate) fn place(o: &Object, place: &SurfPlace, coords: &[u32], size: usize) -> Result<Option<usize>, String> {
    if place.geometry != o.geometry {
        return Err("a surface is accessed as another shape".into());
    }
    let (row, size) = (o.row(0) as i64, size as i64);
    let unit = if place.formatted { o.texel() as i64 } else { 1 };
    let layered = place.geometry.layered();
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
        Clamp::Trap if outside => return Err("a surface access is out of bounds".into()),
        Clamp::Zero if outside => return Ok(None),
        _ => {}
    }
    let at: Vec<u32> = wanted.iter().map(|&(i, last)| i.clamp(0, last) as u32).collect();
    let (row, slice) = match (place.geometry.axes(), layered) {
        (1, true) => (0, at[1]),
        (1, false) => (0, 0),
        (2, false) => (at[1], 0),
        _ => (at[1], at[2]),
    };
    Ok(Some(o.offset(0, [0, row, slice]) + at[0] as usize * size as usize))
}

/// A 32-bit value as a channel of a surface.
pub(crate) fn converted(channel: Channel, value: u32) -> Result<u64, String> {
    let bits = 8 * channel.bytes() as u32;
    Ok(match channel {
        Channel::F16 => match decode(F32, value.into()) {
            Number::Nan => return Err("a NaN becomes .f16: no single result".into()),
            Number::Infinity(negative) => F16.infinity() | if negative { F16.sign() } else { 0 },
            Number::Finite { negative, n, exp } => round(F16, Mode::Nearest, negative, &Exact::dyadic(n.into(), exp)),
        },
        Channel::F32 => value.into(),
        _ => {
            let x = int::read(32, channel.is_signed(), value.into());
            int::clamp(bits, channel.is_signed(), x) as u64
        }
    })
}
