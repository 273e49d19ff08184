//! Coordinates to texels: exact positions, and which texels and weights follow from them.

use super::AddressMode;
use crate::bigint::BigUint;
use crate::exact_rounding::{DecodedFloat, F32, decode_float};

/// Larger than all positions that matter.
const MAX_POSITION: i128 = 1 << 90;

/// Fractional bits of a normalised coordinate.
const NORMALIZED_BITS: u32 = 21;

/// Two texels along one axis and the weight of the second in 1/256; `None` is the border.
pub(crate) type LinearTaps = ([Option<u32>; 2], u64);

/// One coordinate and the axis it runs along.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisCoordinate {
    /// Texels.
    pub(crate) n: u32,
    /// What lies outside.
    pub(crate) address: AddressMode,
    /// Coordinates go from 0 to 1.
    pub(crate) normalized: bool,
    /// Texels to go on.
    pub(crate) shift: i32,
}

/// `floor(+-n * 2^exp)`, cut to `MAX_POSITION`.
fn floor_scaled(negative: bool, n: u128, exp: i64) -> i128 {
    if n == 0 {
        return 0;
    }
    if exp >= 0 {
        let fits = i64::from(n.leading_zeros()) - exp > 28;
        let x = if fits { (n << exp) as i128 } else { MAX_POSITION };
        return if negative { -x } else { x }.clamp(-MAX_POSITION, MAX_POSITION);
    }
    let down = (-exp).min(127);
    let (whole, rest) = ((n >> down) as i128, n & ((1 << down) - 1));
    if negative { -whole - i128::from(rest != 0) } else { whole }
}

impl AxisCoordinate {
    fn is_repeating(&self) -> bool {
        self.normalized && matches!(self.address, AddressMode::Wrap | AddressMode::Mirror)
    }

    /// `floor(position * scale)`, where the position counts texels. A repeating texture's is brought into
    /// its first two periods.
    fn scaled_position(&self, x: u32, scale: u128) -> i128 {
        // A subnormal coordinate counts as zero.
        let (negative, n, exp) = match decode_float(F32, F32.flush_subnormal(x.into())) {
            DecodedFloat::Nan => return 0,
            DecodedFloat::Infinity(_) if self.is_repeating() => return 0,
            DecodedFloat::Infinity(negative) => return if negative { -MAX_POSITION } else { MAX_POSITION },
            DecodedFloat::Finite { negative, n, exp } => (negative, u128::from(n), exp),
        };
        if !self.normalized {
            return floor_scaled(negative, n * scale, exp);
        }
        let fixed = floor_scaled(negative, n << NORMALIZED_BITS, exp);
        let fixed = if self.is_repeating() { fixed.rem_euclid(2 << NORMALIZED_BITS) } else { fixed };
        self.scaled_fixed(fixed, scale)
    }

    /// `floor(x * n * scale)` of a normalised coordinate in fixed point.
    fn scaled_fixed(&self, fixed: i128, scale: u128) -> i128 {
        (fixed * i128::from(self.n) * scale as i128) >> NORMALIZED_BITS
    }

    /// The texel of a number that may lie outside.
    fn resolve_texel_index(&self, i: i128) -> Option<u32> {
        let (i, n) = (i + i128::from(self.shift), i128::from(self.n));
        let i = match self.address {
            AddressMode::Border if !(0..n).contains(&i) => return None,
            AddressMode::Wrap if self.normalized => i.rem_euclid(n),
            AddressMode::Mirror if self.normalized => {
                let j = i.rem_euclid(2 * n);
                j.min(2 * n - 1 - j)
            }
            _ => i.clamp(0, n - 1),
        };
        Some(i as u32)
    }

    /// An axis of a face of a cube.
    pub(crate) fn cube_face_axis(n: u32) -> AxisCoordinate {
        AxisCoordinate { n, address: AddressMode::Clamp, normalized: true, shift: 0 }
    }

    /// The texel that a coordinate lies in.
    pub(crate) fn nearest_texel(&self, x: u32) -> Option<u32> {
        self.resolve_texel_index(self.scaled_position(x, 1))
    }

    /// [`AxisCoordinate::nearest_texel`] of a position times 512.
    pub(crate) fn nearest_texel_at_position(&self, p: i128) -> Option<u32> {
        self.resolve_texel_index(p.div_euclid(512))
    }

    /// Number of the lower of the texels around a position, and the weight of the upper one: the
    /// position (given times 512) less one half, in units of 1/256, to the nearest, halves up.
    fn lower_texel_and_weight(&self, p: i128) -> (i128, u64) {
        // floor((p - 1/2) * 256 + 1/2) = floor((512 p - 255) / 2)
        let fixed = (p - 255).div_euclid(2);
        (fixed.div_euclid(256), fixed.rem_euclid(256) as u64)
    }

    /// The texels that linear filtering is between, and the weight of the upper one in 1/256.
    pub(crate) fn linear_taps(&self, x: u32) -> LinearTaps {
        self.linear_taps_at_position(self.scaled_position(x, 512))
    }

    /// [`AxisCoordinate::linear_taps`] of a position times 512.
    pub(crate) fn linear_taps_at_position(&self, p: i128) -> LinearTaps {
        let (i, weight) = self.lower_texel_and_weight(p);
        let both = [self.resolve_texel_index(i), self.resolve_texel_index(i + 1)];
        let is_clamped = !self.is_repeating() && self.address != AddressMode::Border;
        (both, if is_clamped && both[0] == both[1] { 0 } else { weight })
    }

    /// The two texels that linear filtering is between.
    pub(crate) fn tap_pair(&self, x: u32) -> [Option<u32>; 2] {
        let (i, _) = self.lower_texel_and_weight(self.scaled_position(x, 512));
        [self.resolve_texel_index(i), self.resolve_texel_index(i + 1)]
    }

    /// The texel of this number.
    pub(crate) fn texel_by_index(&self, x: u32) -> Option<u32> {
        let i = i64::from(x as i32) + i64::from(self.shift);
        u32::try_from(i).ok().filter(|&i| i < self.n)
    }
}

/// `floor(x * scale)`, cut to a large number; NaN counts as 0.
pub(crate) fn fixed_point(x: u32, scale: u128) -> i128 {
    AxisCoordinate { n: 1, address: AddressMode::Clamp, normalized: false, shift: 0 }.scaled_position(x, scale)
}

/// A component of a direction after its division, at most 1 if it is finite.
#[derive(Clone, Copy)]
struct DirectionComponent {
    bits: u64,
}

impl DirectionComponent {
    /// In units of `2^-149`; `None` is no number, which is smaller than all.
    fn magnitude(self) -> Option<BigUint> {
        match decode_float(F32, self.bits) {
            DecodedFloat::Nan => None,
            DecodedFloat::Infinity(_) => Some(BigUint::new(1).shift_left(400)),
            DecodedFloat::Finite { n, exp, .. } => Some(BigUint::new(n.into()).shift_left(exp + 149)),
        }
    }

    /// The sign of a zero, or of what is no number, means nothing.
    fn is_negative(self) -> bool {
        F32.is_negative(self.bits) && self.magnitude().is_some_and(|m| !m.is_zero())
    }
}

/// The components times the reciprocal of the largest, which is approximate: known only where it is exact, 0 or infinite.
fn divide_by_largest(direction: [u32; 3]) -> Result<[DirectionComponent; 3], String> {
    let nan = F32.infinity() | 1;
    let magnitudes = direction.map(|d| F32.magnitude_bits(d.into()));
    let largest = magnitudes.into_iter().filter(|&m| !F32.is_nan(m)).max().unwrap_or(nan);
    let power = |exponent: u64| (exponent + 127) << F32.frac_bits;
    let is_tiny = F32.flush_subnormal(largest) == 0;
    let is_huge = largest > power(126);
    let is_power = largest & ((1 << F32.frac_bits) - 1) == 0;
    if !F32.is_nan(largest) && !is_tiny && !is_huge && !is_power {
        return Err("a direction whose largest component is no power of two: no single result".into());
    }
    let divided = |bits: u32| {
        let (bits, sign) = (u64::from(bits), u64::from(bits) & F32.sign_bit());
        let magnitude = F32.magnitude_bits(bits);
        if F32.is_nan(bits) || F32.is_nan(largest) {
            return nan;
        }
        if is_tiny {
            return if magnitude == 0 { nan } else { sign | F32.infinity() };
        }
        if is_huge {
            return if magnitude == F32.infinity() { nan } else { sign };
        }
        // Fields of exponents are subtracted; what becomes subnormal counts as zero.
        let field = (magnitude >> F32.frac_bits) as i64 + 127 - (largest >> F32.frac_bits) as i64;
        if F32.flush_subnormal(magnitude) == 0 || field < 1 {
            return sign;
        }
        sign | (field as u64) << F32.frac_bits | magnitude & ((1 << F32.frac_bits) - 1)
    };
    Ok(direction.map(|d| DirectionComponent { bits: divided(d) }))
}

/// A face of a cube, and the position there along each axis.
pub(crate) type FacePosition = (u32, [i128; 2]);

/// The face of a cube that a direction points at, and the position there among `n` by `n` texels, times
/// 512 and rounded down.
pub(crate) fn cube_face_and_position(direction: [u32; 3], n: u32) -> Result<FacePosition, String> {
    let d = divide_by_largest(direction)?;
    let [x, y, z] = d.map(DirectionComponent::magnitude);
    let axis = if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    let face = 2 * axis as u32 + u32::from(d[axis].is_negative());
    // Which component runs along s and t, and whether backwards.
    let [s, t] = match face {
        0 => [(2, true), (1, true)],
        1 => [(2, false), (1, true)],
        2 => [(0, false), (2, false)],
        3 => [(0, false), (2, true)],
        4 => [(0, false), (1, true)],
        _ => [(0, true), (1, true)],
    };
    let one = BigUint::new(1).shift_left(149);
    let place = |(component, backwards): (usize, bool)| {
        // (+-c + 1) / 2 in fixed point, and that times n * 512.
        let c = d[component].magnitude().unwrap_or_default().min(one.clone());
        let sum = if d[component].is_negative() != backwards { one.sub(&c) } else { one.add(&c) };
        let fixed = sum.shift_left(i64::from(NORMALIZED_BITS) - 1).div_rem(&one).0.to_u128().unwrap_or(0);
        AxisCoordinate::cube_face_axis(n).scaled_fixed(fixed as i128, 512)
    };
    Ok((face, [place(s), place(t)]))
}
