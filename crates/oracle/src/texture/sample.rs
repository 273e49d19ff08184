//! What `tex` and `tld4` give: texels as they are, or their weighted sum. Integers of 8 and 16 bits are summed exactly
//! and rounded to 16 bits before they are divided. Floats are cut to the place of the largest one of a slice; the sum is
//! rounded to the texels' type, halves away from zero.

use super::position::{AxisCoordinate, LinearTaps, cube_face_and_position};
use super::{AddressMode, ChannelFormat, SamplerState, TexelStorage, TextureObject};
use crate::bigint::BigUint;
use crate::exact_rounding::{DecodedFloat, ExactMagnitude, F16, F32, RoundingMode, decode_float, round_to_format};
use crate::int;
use rtcg_ptx::ast::TextureGeometry;

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

/// A texel that a filter takes.
#[derive(Debug, Clone, Copy)]
struct WeightedTexel {
    level: u32,
    at: TexelCoordinates,
    /// In 1/256.
    weight: u64,
    /// Texels of one level and slice.
    slice: usize,
}

/// A number with its weight in 1/256 and its slice.
type WeightedTerm = (FloatTerm, u64, usize);

/// Weights of two texels by two, of which `whole` is the sum: the first index is that of y.
fn split_weight(whole: u64, x: u64, y: u64) -> [[u64; 2]; 2] {
    let right = (whole * x + 128) / 256;
    let left = whole - right;
    let upper = [(left * y + 127) / 256, (right * y + 128) / 256];
    [[left - upper[0], right - upper[1]], upper]
}

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
        let filters_levels = self.sampler.mip_linear && self.object.levels > 1;
        if !self.sampler.linear && !filters_levels {
            let at = self.nearest_texel_coordinates(spot, level)?;
            return self.unfiltered_color(level, at);
        }
        let mut texels = self.weighted_texels(spot, level, 256 - u64::from(rest), 0)?;
        if rest != 0 {
            texels.extend(self.weighted_texels(spot, level + 1, rest.into(), 2)?);
        }
        self.filtered_color(&texels)
    }

    /// The weighted sum of texels.
    fn filtered_color(&mut self, texels: &[WeightedTexel]) -> Result<ColorWords, String> {
        let mut colour = [0; 4];
        for (c, word) in colour.iter_mut().enumerate().take(self.object.channels) {
            let terms: Result<Vec<WeightedTerm>, String> =
                texels.iter().map(|t| Ok((self.channel_term(t.level, t.at, c)?, t.weight, t.slice))).collect();
            *word = weighted_sum(self.object.channel, &terms?)?;
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
            let texel = WeightedTexel { level: 0, at, weight: 256, slice: 0 };
            let texel =
                if self.object.reads_floats() { self.filtered_color(&[texel])? } else { self.unfiltered_color(0, at)? };
            *word = texel[component];
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

    /// The texels of a level that a place is made of; they share `whole`.
    fn weighted_texels(
        &self,
        spot: &SamplePoint,
        level: u32,
        whole: u64,
        slice: usize,
    ) -> Result<Vec<WeightedTexel>, String> {
        if !self.sampler.linear {
            let at = self.nearest_texel_coordinates(spot, level)?;
            return Ok(vec![WeightedTexel { level, at, weight: whole, slice }]);
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
        let axis = |a: usize| taps.get(a).copied().unwrap_or(([Some(0); 2], 0));
        let z = taps.get(2).copied().unwrap_or(([Some(layer); 2], 0));
        let upper = (whole * z.1 + 128) / 256;
        let mut texels = vec![];
        for (k, weight) in [whole - upper, upper].into_iter().enumerate() {
            for (j, row) in split_weight(weight, axis(0).1, axis(1).1).into_iter().enumerate() {
                for (i, weight) in row.into_iter().enumerate() {
                    let at = axis(0).0[i].zip(axis(1).0[j]).zip(z.0[k]).map(|((x, y), z)| [x, y, z]);
                    texels.push((WeightedTexel { level, at, weight, slice: slice + k }, [i, j, k]));
                }
            }
        }
        // What lies beyond a fraction of zero takes no part.
        let fractions = [axis(0).1, axis(1).1, z.1];
        texels.retain(|(_, side)| side.iter().zip(fractions).all(|(&side, fraction)| side == 0 || fraction != 0));
        Ok(texels.into_iter().map(|(texel, _)| texel).collect())
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
                    // The least number stands for -1, as the next does.
                    let n = n.min(channel.normalized_one().unwrap_or(n));
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
        // Subnormal numbers of 32 bits vanish.
        let bits = if self.object.channel == ChannelFormat::F32 { F32.flush_subnormal(bits) } else { bits };
        let (negative, n, exp) = channel_number(self.object.channel, bits)?;
        Ok((negative, n, exp))
    }
}

/// What the bits of a channel mean, in units of the channel.
fn channel_number(channel: ChannelFormat, bits: u64) -> Result<FloatTerm, String> {
    let Some(format) = channel.float_format() else {
        let x = int::interpret_bits(8 * channel.channel_bytes() as u32, channel.is_signed(), bits.into());
        return Ok((x < 0, x.unsigned_abs() as u64, 0));
    };
    match decode_float(format, bits) {
        DecodedFloat::Finite { negative, n, exp } => Ok((negative, n, exp)),
        _ => unspecified_error("a float that is converted or filtered and not finite"),
    }
}

/// The sum of weighted numbers, as a float.
fn weighted_sum(channel: ChannelFormat, terms: &[WeightedTerm]) -> Result<u32, String> {
    if let Some(unit) = filtered_unit(channel) {
        let sum: i128 = terms.iter().map(|((negative, n, _), w, _)| signed(*negative, *n) * i128::from(*w)).sum();
        let units = filtered_units(channel, sum).max(-i128::from(unit));
        let x = ExactMagnitude::Quotient { n: BigUint::new(units.unsigned_abs()), d: unit, exp: 0 };
        return Ok(round_to_format(F32, RoundingMode::Nearest, units < 0, &x) as u32);
    }
    let (total, exp) = aligned_sum(channel, terms);
    if total == 0 && terms.iter().any(|((negative, ..), ..)| *negative) {
        return unspecified_error("the sign of a filtered zero");
    }
    let x = ExactMagnitude::Quotient { n: BigUint::new(total.unsigned_abs()), d: 1, exp };
    if channel == ChannelFormat::F16 {
        return half_to_single(round_to_format(F16, RoundingMode::Away, total < 0, &x));
    }
    // A result that is subnormal is zero.
    Ok(F32.flush_subnormal(round_to_format(F32, RoundingMode::Away, total < 0, &x)) as u32)
}

fn signed(negative: bool, n: u64) -> i128 {
    if negative { -i128::from(n) } else { n.into() }
}

/// The sum of weighted floats and its exponent. Texels of a slice are cut to the place of the largest of them, and sums of
/// several slices to one that lies nine places below the largest of all.
fn aligned_sum(channel: ChannelFormat, terms: &[WeightedTerm]) -> (i128, i64) {
    let places = if channel == ChannelFormat::F16 { 15 } else { 28 };
    let top = |((_, n, exp), ..): &WeightedTerm| exp + i64::from(64 - n.leading_zeros());
    let counts: Vec<&WeightedTerm> = terms.iter().filter(|((_, n, _), w, _)| *w != 0 && *n != 0).collect();
    let mut slices: Vec<(i128, i64)> = vec![];
    for slice in 0..4 {
        let of_slice = || counts.iter().filter(|(_, _, s)| *s == slice);
        let Some(most) = of_slice().map(|t| top(t)).max() else { continue };
        let unit = most - places;
        let term = |((negative, n, exp), w, _): &&&WeightedTerm| {
            let cut = if *exp >= unit { n << (exp - unit) } else { n >> (unit - exp).min(63) };
            signed(*negative, cut) * i128::from(*w)
        };
        slices.push((of_slice().map(|t| term(&t)).sum(), unit - 8));
    }
    if let [one] = slices[..] {
        return one;
    }
    let place = slices.iter().map(|(_, exp)| *exp).max().unwrap_or(0) - 1;
    let down =
        |(sum, exp): &(i128, i64)| if *exp >= place { sum << (exp - place) } else { sum >> (place - exp).min(127) };
    (slices.iter().map(down).sum(), place)
}

/// What filtered integers are counted in: they have 16 bits.
fn filtered_unit(channel: ChannelFormat) -> Option<u64> {
    channel.normalized_one().map(|_| if channel.is_signed() { 32767 } else { 65535 })
}

/// A sum of integers, times 256, in whole units, halves up. Bits of 8-bit integers are repeated.
fn filtered_units(channel: ChannelFormat, sum: i128) -> i128 {
    match channel {
        ChannelFormat::U8 => (sum * 257 + 128) >> 8,
        ChannelFormat::S8 => {
            let eighths = 8 * sum;
            (eighths + (eighths >> 7) + (eighths >> 15) + 4) >> 3
        }
        _ => (sum + 128) >> 8,
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
