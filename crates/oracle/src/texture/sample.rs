//! What `tex` and `tld4` give: texels as they are, or their weighted sum, rounded once (integers of 8 and 16 bits to
//! 16 bits before they are divided, halves to halves).

use super::position::{AxisCoordinate, LinearTaps, cube_face_and_position};
use super::{AddressMode, ChannelFormat, SamplerState, TexelStorage, TextureObject};
use crate::bigint::BigUint;
use crate::exact_rounding::{DecodedFloat, ExactMagnitude, F16, F32, RoundingMode, decode_float, round_to_format};
use crate::int;
use rtcg_ptx::ast::TextureGeometry;
use std::cmp::Ordering;

/// Where a texture is read.
#[derive(Debug, Clone)]
pub(crate) struct SamplePoint {
    /// Coordinates by axis, bits of `.f32` or `.s32`.
    pub(crate) at: Vec<u32>,
    /// Texels are named by number.
    pub(crate) whole: bool,
    /// The layer asked for.
    pub(crate) layer: u32,
    /// Texels to go on along each axis.
    pub(crate) shift: [i32; 3],
}

/// Reads texels: bits of the channel at an offset in the object.
pub(crate) type FetchTexel<'a> = dyn FnMut(usize, usize) -> Result<u64, String> + 'a;

/// A number as sign, significand, exponent.
type FloatTerm = (bool, u64, i64);

/// The colour of a place: four words.
pub(crate) type ColorWords = [u32; 4];

/// A place in a level: a texel, or the border.
type TexelCoordinates = Option<[u32; 3]>;

/// Levels and texels with weights, in units of two to minus the second.
type WeightedTexels = (Vec<(u32, TexelCoordinates, u64)>, i64);

/// A texture with what reads it.
pub(crate) struct SampleSource<'a, 'f> {
    pub(crate) object: &'a TextureObject,
    pub(crate) sampler: &'a SamplerState,
    pub(crate) fetch: &'a mut FetchTexel<'f>,
}

fn unspecified_error<T>(what: &str) -> Result<T, String> {
    Err(format!("{what}: no single result"))
}

impl SampleSource<'_, '_> {
    /// `tex` at a level of detail: the level in 1/256.
    pub(crate) fn sample_lod(&mut self, spot: &SamplePoint, detail: u32) -> Result<ColorWords, String> {
        self.check_specified(spot)?;
        let (level, rest) = (detail / 256, detail % 256);
        if spot.whole {
            // In one dimension a number names a texel of linear memory.
            let is_array = self.object.geometry == TextureGeometry::D1 && self.object.storage != TexelStorage::Linear;
            return if is_array { Ok(ColorWords::default()) } else { self.fetch_by_index(spot, level) };
        }
        if !self.object.reads_floats() {
            let at = self.nearest_texel_coordinates(spot, level)?;
            return self.unfiltered_color(level, at);
        }
        let (mut places, scale) = self.weighted_texels(spot, level)?;
        if rest == 0 && !self.sampler.linear {
            return self.unfiltered_color(level, places[0].1);
        }
        let mut scale = scale;
        if rest != 0 {
            let (more, other_scale) = self.weighted_texels(spot, level + 1)?;
            places.iter_mut().for_each(|p| p.2 *= 256 - u64::from(rest));
            places.extend(more.into_iter().map(|(l, at, w)| (l, at, w * u64::from(rest))));
            if scale != other_scale {
                return unspecified_error("levels of different filters");
            }
            scale += 8;
        }
        let mut colour = [0; 4];
        for (c, word) in colour.iter_mut().enumerate().take(self.object.channels) {
            let terms: Result<Vec<(FloatTerm, u64)>, String> =
                places.iter().map(|&(l, at, w)| Ok((self.channel_term(l, at, c)?, w))).collect();
            *word = weighted_sum(self.object.channel, &terms?, scale)?;
        }
        Ok(colour)
    }

    /// `tld4`: one component of the four texels around a place.
    pub(crate) fn gather_component(&mut self, spot: &SamplePoint, component: usize) -> Result<ColorWords, String> {
        self.check_specified(spot)?;
        if spot.whole || !matches!(self.object.geometry, TextureGeometry::D2 | TextureGeometry::A2) {
            return Err("the oracle does not know tld4 of this shape".into());
        }
        let [x, y] = [0, 1].map(|a| self.axis_coordinate(spot, 0, a).tap_pair(spot.at[a]));
        let mut colour = [0; 4];
        for (word, [i, j]) in colour.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
            let at = x[i].and_then(|x| y[j].map(|y| [x, y, self.clamped_layer(spot)]));
            *word = self.unfiltered_color(0, at)?[component];
        }
        Ok(colour)
    }

    /// Refuses what CUDA leaves open.
    fn check_specified(&self, spot: &SamplePoint) -> Result<(), String> {
        let o = self.object;
        if o.storage == TexelStorage::Linear && !spot.whole {
            return unspecified_error("linear memory with coordinates of floats");
        }
        let unused = &self.sampler.address[o.geometry.n_axes().min(3)..];
        if self.sampler.linear && o.geometry.n_axes() == 1 && unused.contains(&AddressMode::Border) {
            return unspecified_error("a border along an axis that is not there");
        }
        let is_cube = matches!(o.geometry, TextureGeometry::Cube | TextureGeometry::ACube);
        if is_cube && spot.shift != [0; 3] {
            return unspecified_error("offsets on a cube");
        }
        Ok(())
    }

    fn axis_coordinate(&self, spot: &SamplePoint, level: u32, axis: usize) -> AxisCoordinate {
        AxisCoordinate {
            n: self.object.extents_of(level)[axis],
            address: self.sampler.address[axis],
            normalized: self.sampler.normalized,
            shift: spot.shift[axis],
        }
    }

    fn clamped_layer(&self, spot: &SamplePoint) -> u32 {
        spot.layer.min(self.object.layers - 1)
    }

    /// Texels named by number; those outside are zero.
    fn fetch_by_index(&mut self, spot: &SamplePoint, level: u32) -> Result<ColorWords, String> {
        let mut at = [0, 0, self.clamped_layer(spot)];
        for (axis, &x) in spot.at.iter().enumerate() {
            match self.axis_coordinate(spot, level, axis).texel_by_index(x) {
                Some(i) => at[axis] = i,
                None => return Ok([0; 4]),
            }
        }
        self.unfiltered_color(level, Some(at))
    }

    /// Layer and positions (times 512) of a direction, and the axes of the face it meets.
    fn cube_face_position(
        &self,
        spot: &SamplePoint,
        direction: [u32; 3],
        level: u32,
    ) -> Result<(u32, [i128; 2], AxisCoordinate), String> {
        let n = self.object.extents_of(level)[0];
        let (face, place) = cube_face_and_position(direction, n)?;
        let first = spot.layer.min(self.object.layers / 6 - 1) * 6;
        Ok((first + face, place, AxisCoordinate::cube_face_axis(n)))
    }

    fn nearest_texel_coordinates(&self, spot: &SamplePoint, level: u32) -> Result<TexelCoordinates, String> {
        if let (TextureGeometry::Cube | TextureGeometry::ACube, &[x, y, z]) = (self.object.geometry, &spot.at[..]) {
            let (layer, place, axis) = self.cube_face_position(spot, [x, y, z], level)?;
            let [i, j] = place.map(|p| axis.nearest_texel_at_position(p).unwrap_or(0));
            return Ok(Some([i, j, layer]));
        }
        let mut at = [0, 0, self.clamped_layer(spot)];
        for (axis, &x) in spot.at.iter().enumerate() {
            match self.axis_coordinate(spot, level, axis).nearest_texel(x) {
                Some(i) => at[axis] = i,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// The texels of a level that a place is made of, with weights in units of `2^-scale`.
    fn weighted_texels(&self, spot: &SamplePoint, level: u32) -> Result<WeightedTexels, String> {
        if !self.sampler.linear {
            return Ok((vec![(level, self.nearest_texel_coordinates(spot, level)?, 1)], 0));
        }
        let (layer, taps): (u32, Vec<LinearTaps>) = match (self.object.geometry, &spot.at[..]) {
            (TextureGeometry::Cube | TextureGeometry::ACube, &[x, y, z]) => {
                let (layer, place, axis) = self.cube_face_position(spot, [x, y, z], level)?;
                (layer, place.iter().map(|&p| axis.linear_taps_at_position(p)).collect())
            }
            (_, at) => (
                self.clamped_layer(spot),
                at.iter().enumerate().map(|(a, &x)| self.axis_coordinate(spot, level, a).linear_taps(x)).collect(),
            ),
        };
        let mut places = vec![(level, Some([0, 0, layer]), 1)];
        for (axis, taps) in taps.iter().enumerate() {
            places = places
                .iter()
                .flat_map(|&(l, at, weight)| {
                    taps.iter().map(move |&(i, w)| {
                        let mut next = at.zip(i).map(|(at, _)| at);
                        if let (Some(next), Some(i)) = (&mut next, i) {
                            next[axis] = i;
                        }
                        (l, next, weight * w)
                    })
                })
                .collect();
        }
        Ok((places, 8 * taps.len() as i64))
    }

    /// A channel of a texel, or of the border, which is converted to the texel's type first.
    fn channel_bits(&mut self, level: u32, at: TexelCoordinates, channel: usize) -> Result<u64, String> {
        let n = self.object.channel.channel_bytes();
        let Some(at) = at else {
            let bits = border_bits(self.object, self.sampler.border[channel]);
            return Ok(int::truncate_bits(8 * n as u32, bits.into()) as u64);
        };
        (self.fetch)(self.object.texel_offset(level, at) + channel * n, n)
    }

    /// One texel, not filtered; channels that it lacks are 0.
    fn unfiltered_color(&mut self, level: u32, at: TexelCoordinates) -> Result<ColorWords, String> {
        let mut colour = [0; 4];
        for (c, word) in colour.iter_mut().enumerate().take(self.object.channels) {
            let bits = self.channel_bits(level, at, c)?;
            *word = match self.object.channel {
                ChannelFormat::F32 => bits as u32,
                channel if self.object.reads_floats() => {
                    let (negative, n, exp) = channel_number(channel, bits)?;
                    let x = ExactMagnitude::Quotient {
                        n: BigUint::new(n.into()),
                        d: channel.normalized_one().unwrap_or(1),
                        exp,
                    };
                    round_to_format(F32, RoundingMode::Nearest, negative, &x) as u32
                }
                channel => {
                    int::interpret_bits(8 * channel.channel_bytes() as u32, channel.is_signed(), bits.into()) as u32
                }
            };
        }
        Ok(colour)
    }

    /// A channel of a texel as a filter takes it.
    fn channel_term(&mut self, level: u32, at: TexelCoordinates, c: usize) -> Result<FloatTerm, String> {
        let bits = self.channel_bits(level, at, c)?;
        let (negative, n, exp) = channel_number(self.object.channel, bits)?;
        Ok((negative, widened(self.object.channel, n), exp))
    }
}

/// What the bits of a channel mean, in units of the channel.
fn channel_number(channel: ChannelFormat, bits: u64) -> Result<FloatTerm, String> {
    let Some(format) = channel.float_format() else {
        let x = int::interpret_bits(8 * channel.channel_bytes() as u32, channel.is_signed(), bits.into());
        // The least number stands for -1, as the next does.
        let least = -i128::from(channel.normalized_one().unwrap_or(u64::from(u32::MAX)));
        let x = x.max(least);
        return Ok((x < 0, x.unsigned_abs() as u64, 0));
    };
    match decode_float(format, bits) {
        DecodedFloat::Finite { negative, n, exp } => Ok((negative, n, exp)),
        _ => unspecified_error("a float that is converted or filtered and not finite"),
    }
}

/// The sum of weighted numbers in units of `2^-scale`, as a float.
fn weighted_sum(channel: ChannelFormat, terms: &[(FloatTerm, u64)], scale: i64) -> Result<u32, String> {
    let lowest = terms.iter().map(|((_, _, exp), _)| *exp).min().unwrap_or(0);
    let (mut plus, mut minus) = (BigUint::default(), BigUint::default());
    for &((negative, n, exp), weight) in terms {
        let x = BigUint::new(u128::from(n) * u128::from(weight)).shift_left(exp - lowest);
        if negative {
            minus = minus.add(&x);
        } else {
            plus = plus.add(&x);
        }
    }
    if channel == ChannelFormat::F32 && sum_significand_bits(terms) > 53 {
        return unspecified_error("a filtered sum of more than 53 bits");
    }
    let (negative, n) = match plus.cmp(&minus) {
        Ordering::Less => (true, minus.sub(&plus)),
        _ => (false, plus.sub(&minus)),
    };
    if n.is_zero() && terms.iter().any(|((negative, n, _), _)| *negative && *n == 0) {
        return unspecified_error("the sign of a filtered zero");
    }
    if let Some(unit) = filtered_unit(channel) {
        // Whole units, halves up.
        let n = whole_units(negative, n.to_u128().unwrap_or(0), scale);
        let x = ExactMagnitude::Quotient { n: BigUint::new(n.unsigned_abs()), d: unit, exp: 0 };
        return Ok(round_to_format(F32, RoundingMode::Nearest, n < 0, &x) as u32);
    }
    let x = ExactMagnitude::Quotient { n, d: 1, exp: lowest - scale };
    if channel == ChannelFormat::F16 {
        return half_to_single(round_to_format(F16, RoundingMode::Nearest, negative, &x));
    }
    Ok(round_to_format(F32, RoundingMode::Nearest, negative, &x) as u32)
}

/// `+-n * 2^-scale` to the nearest integer, halves up.
fn whole_units(negative: bool, n: u128, scale: i64) -> i128 {
    let n = if negative { -(n as i128) } else { n as i128 };
    if scale == 0 { n } else { (n + (1 << (scale - 1))) >> scale }
}

/// What filtered integers are counted in: they have 16 bits.
fn filtered_unit(channel: ChannelFormat) -> Option<u64> {
    channel.normalized_one().map(|_| if channel.is_signed() { 32767 } else { 65535 })
}

/// The magnitude of an integer of 8 bits as one of 16: its bits, repeated.
fn widened(channel: ChannelFormat, n: u64) -> u64 {
    match channel {
        ChannelFormat::U8 => n << 8 | n,
        ChannelFormat::S8 => n << 8 | n << 1 | n >> 6,
        _ => n,
    }
}

/// A finite half as bits of `.f32`.
fn half_to_single(bits: u64) -> Result<u32, String> {
    match decode_float(F16, bits) {
        DecodedFloat::Finite { negative, n, exp } => {
            let x = ExactMagnitude::from_dyadic(n.into(), exp);
            Ok(round_to_format(F32, RoundingMode::Nearest, negative, &x) as u32)
        }
        _ => unspecified_error("a filtered half that overflows"),
    }
}

/// The border's colour in the type of the texels; formats of integers that stay integers have its lowest bits.
fn border_bits(o: &TextureObject, colour: u32) -> u64 {
    let v = f32::from_bits(colour);
    match (o.channel.float_format(), o.channel.normalized_one()) {
        (Some(F16), _) if v.is_nan() => u64::from(colour >> 13 & 0x3ff | colour >> 16 & 0x8000 | 0x7e00),
        (Some(F16), _) if v.is_infinite() => u64::from(colour >> 16 & 0x8000 | 0x7c00),
        (Some(F16), _) => match decode_float(F32, colour.into()) {
            DecodedFloat::Finite { negative, n, exp } => {
                round_to_format(F16, RoundingMode::Zero, negative, &ExactMagnitude::from_dyadic(n.into(), exp))
            }
            _ => 0,
        },
        (None, Some(one)) if o.reads_floats() => {
            let v = if v.is_nan() { 0.0 } else { v.clamp(if o.channel.is_signed() { -1.0 } else { 0.0 }, 1.0) };
            // The product has single precision; halves go towards zero.
            let scaled = f64::from(v * one as f32);
            let magnitude = scaled.abs().floor() + f64::from(scaled.abs().fract() > 0.5);
            (magnitude.copysign(scaled) as i64).cast_unsigned()
        }
        _ => colour.into(),
    }
}

/// Bits between the lowest place of any summand and the highest of the sum of all magnitudes.
fn sum_significand_bits(terms: &[(FloatTerm, u64)]) -> i64 {
    let products = terms.iter().filter(|((_, n, _), _)| *n != 0);
    let lowest = products
        .clone()
        .map(|((_, n, exp), w)| exp + i64::from(n.trailing_zeros()) + i64::from(w.trailing_zeros()))
        .min()
        .unwrap_or(0);
    let total = products.fold(BigUint::default(), |all, ((_, n, exp), w)| {
        let x = BigUint::new(u128::from(*n) * u128::from(*w));
        let up = exp - lowest;
        all.add(&if up >= 0 { x.shift_left(up) } else { x.shift_right(-up) })
    });
    total.bit_length()
}
