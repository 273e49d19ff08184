//! One coordinate to texel numbers.
//!
//! A normalised coordinate is rounded down to [`NORMALIZED_FRACTIONS`]; the position in texels is then
//! computed without rounding (in `f64`). For linear filtering it is brought to fixed point with 8
//! fractional bits, to the nearest, halves up: the fraction weighs the upper texel in 1/256.
//! NaN and subnormal numbers count as 0, infinities as very large (for repeating textures as 0).

use super::AddressMode;
use rtcg_vgpu_abi::model::texture::{COORDINATE_EXPONENT, NORMALIZED_FRACTIONS};

/// The two texels that a coordinate lies between; -1 means the border colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinearTap {
    /// The lower texel.
    pub(crate) lo: i32,
    /// The upper one.
    pub(crate) hi: i32,
    /// Weight of the upper one in 1/256; 0 beyond the edge of a clamped texture.
    pub(crate) frac: u32,
}

/// The bits of a coordinate, zero if it is subnormal.
#[inline(always)]
pub(crate) fn flush_subnormal(bits: u32) -> u32 {
    if bits & COORDINATE_EXPONENT == 0 { 0 } else { bits }
}

/// The greatest integer that is not above `v`, which is less than 2^31 in magnitude.
#[inline(always)]
fn floor_to_i32(v: f64) -> i32 {
    let t = v as i32;
    t - i32::from(f64::from(t) > v)
}

/// `x` less a whole multiple of `period`, in `[0, period)`.
#[inline]
fn modulo_period(x: f64, period: f64) -> f64 {
    let turns = x / period;
    // From 2^31 on an `f32` has no fraction; nor do NaN and infinities have one here. What is a little
    // below 0 is a little below the period, not there, whatever rounding makes of it.
    if turns.abs() < 2_147_483_647.0 {
        (x - period * f64::from(floor_to_i32(turns))).min(period.next_down())
    } else {
        0.0
    }
}

/// A normalised coordinate of at most 16 in magnitude, rounded down.
#[inline(always)]
fn round_down_normalized(x: f64) -> f64 {
    f64::from(floor_to_i32(x * NORMALIZED_FRACTIONS)) * (1.0 / NORMALIZED_FRACTIONS)
}

/// The position in texels, near enough to `[0, n]` that what follows is exact.
#[inline(always)]
fn texel_position(x: f64, n: u32, mode: AddressMode, normalized: bool) -> f64 {
    let size = f64::from(n);
    let x = if x.is_nan() { 0.0 } else { x };
    // Beyond the reach of offsets, which have four bits.
    let near = |u: f64| u.clamp(-16.0, size + 16.0);
    match mode {
        AddressMode::Wrap => round_down_normalized(modulo_period(x, 1.0)) * size,
        AddressMode::Mirror => round_down_normalized(modulo_period(x, 2.0)) * size,
        _ if normalized => near(round_down_normalized(x.clamp(-16.0, 17.0)) * size),
        _ => near(x),
    }
}

/// The texel that stands at number `i` when the texture is continued by `mode`.
#[inline(always)]
fn apply_address_mode(i: i32, n: u32, mode: AddressMode) -> i32 {
    let n = n as i32;
    match mode {
        AddressMode::Clamp => i.clamp(0, n - 1),
        AddressMode::Border => {
            if (0..n).contains(&i) {
                i
            } else {
                -1
            }
        }
        AddressMode::Wrap => {
            if i < 0 {
                n - 1
            } else if i >= n {
                0
            } else {
                i
            }
        }
        AddressMode::Mirror => {
            // Positions lie in two periods: `-1 ..= 2n`.
            let i = if i < 0 {
                -1 - i
            } else if i >= 2 * n {
                i - 2 * n
            } else {
                i
            };
            if i < n { i } else { 2 * n - 1 - i }
        }
    }
}

/// The texel that a coordinate lies in, `shift` texels on; -1 for the border.
#[inline(always)]
pub(crate) fn nearest_texel(x: f64, n: u32, mode: AddressMode, normalized: bool, shift: i32) -> i32 {
    let i = floor_to_i32(texel_position(x, n, mode, normalized));
    apply_address_mode_far(i, shift, n, mode)
}

/// A position less half a texel in 1/256, rounded.
#[inline(always)]
fn fixed_position(u: f64) -> i32 {
    // (u - 1/2) * 256, rounded: -128 + 1/2.
    floor_to_i32(u * 256.0 - 127.5)
}

/// The position on a face of a cube of `n` texels, less half a texel, in 1/256.
pub(crate) fn linear_position(x: f64, n: u32) -> i32 {
    fixed_position(texel_position(x, n, AddressMode::Clamp, true))
}

/// The texels around a coordinate, `shift` texels on.
#[inline(always)]
pub(crate) fn linear_taps(x: f64, n: u32, mode: AddressMode, normalized: bool, shift: i32) -> LinearTap {
    let fixed = fixed_position(texel_position(x, n, mode, normalized));
    let (i, frac) = (fixed >> 8, (fixed & 255) as u32);
    let (lo, hi) = (apply_address_mode_far(i, shift, n, mode), apply_address_mode_far(i + 1, shift, n, mode));
    let frac = if mode == AddressMode::Clamp && lo == hi { 0 } else { frac };
    LinearTap { lo, hi, frac }
}

/// [`apply_address_mode`] of `i + shift`, which may lie some periods away.
#[inline(always)]
fn apply_address_mode_far(i: i32, shift: i32, n: u32, mode: AddressMode) -> i32 {
    if shift == 0 {
        return apply_address_mode(i, n, mode);
    }
    let period = match mode {
        AddressMode::Wrap => n as i32,
        AddressMode::Mirror => 2 * n as i32,
        _ => return apply_address_mode(i + shift, n, mode),
    };
    apply_address_mode((i + shift).rem_euclid(period), n, mode)
}

/// A texel named by number; numbers outside are border.
#[inline(always)]
pub(crate) fn texel_by_index(i: i64, n: u32, shift: i32) -> i32 {
    let i = i + i64::from(shift);
    if (0..i64::from(n)).contains(&i) { i as i32 } else { -1 }
}

/// A layer number, which is brought into range.
#[inline(always)]
pub(crate) fn clamp_layer(i: u32, layers: u32) -> u32 {
    i.min(layers - 1)
}

#[cfg(test)]
mod tests {
    use super::AddressMode::*;
    use super::*;

    #[test]
    fn nearest_texel_follows_the_programming_guide() {
        for (x, clamp, border) in
            [(-0.5, 0, -1), (0.0, 0, 0), (3.999, 3, 3), (4.0, 3, -1), (1e30, 3, -1), (-1e30, 0, -1)]
        {
            assert_eq!(nearest_texel(x, 4, Clamp, false, 0), clamp, "{x}");
            assert_eq!(nearest_texel(x, 4, Border, false, 0), border, "{x}");
        }
        for (x, wrap, mirror) in
            [(0.0, 0, 0), (0.99, 3, 3), (1.0, 0, 3), (1.25, 1, 2), (2.0, 0, 0), (-0.1, 3, 0), (-1.1, 3, 3)]
        {
            assert_eq!(nearest_texel(x, 4, Wrap, true, 0), wrap, "{x}");
            assert_eq!(nearest_texel(x, 4, Mirror, true, 0), mirror, "{x}");
        }
    }

    #[test]
    fn filter_weights_have_eight_bits() {
        let tap = |x| linear_taps(x, 4, Clamp, false, 0);
        assert_eq!(tap(0.5), LinearTap { lo: 0, hi: 1, frac: 0 });
        assert_eq!(tap(1.0), LinearTap { lo: 0, hi: 1, frac: 128 });
        assert_eq!(tap(0.5 + 1.0 / 512.0), LinearTap { lo: 0, hi: 1, frac: 1 });
        assert_eq!(tap(0.5 + 0.999 / 512.0), LinearTap { lo: 0, hi: 1, frac: 0 });
        assert_eq!(tap(1.5 - 1.0 / 512.0), LinearTap { lo: 1, hi: 2, frac: 0 });
        assert_eq!(tap(0.0), LinearTap { lo: 0, hi: 0, frac: 0 });
        assert_eq!(tap(4.0), LinearTap { lo: 3, hi: 3, frac: 0 });
        assert_eq!(linear_taps(0.0, 4, Border, false, 0), LinearTap { lo: -1, hi: 0, frac: 128 });
        assert_eq!(linear_taps(0.0, 4, Wrap, true, 0), LinearTap { lo: 3, hi: 0, frac: 128 });
        assert_eq!(linear_taps(0.0, 4, Mirror, true, 0), LinearTap { lo: 0, hi: 0, frac: 128 });
        assert_eq!(linear_taps(1.0, 4, Mirror, true, 0), LinearTap { lo: 3, hi: 3, frac: 128 });
    }

    /// What an H200 gives for 37 texels, a little above and below the edges of texels.
    #[test]
    fn normalised_coordinates_are_rounded_down() {
        for (bits, texel) in [
            (0x3eeb_3e47, 16),
            (0x3eb3_e455, 12),
            (0x3e79_14c2, 8),
            (0x3fbe_4532, 17),
            (0xbd5d_67c8, 34),
            (0x3cdd_67c9, 0),
            (0xbcdd_67c8, 35),
            (0x3d5d_67c9, 1),
        ] {
            assert_eq!(nearest_texel(f64::from(f32::from_bits(bits)), 37, Wrap, true, 0), texel, "{bits:#x}");
        }
    }

    #[test]
    fn no_coordinate_leaves_the_texture() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.4e38, -3.4e38, 1e-45, -1e-45, 2_147_483_648.0, -0.0];
        for x in odd {
            for n in [1, 2, 3, 131_072] {
                for mode in [Wrap, Clamp, Mirror, Border] {
                    for shift in [-8, 0, 7] {
                        let t = linear_taps(x, n, mode, true, shift);
                        for i in [t.lo, t.hi, nearest_texel(x, n, mode, true, shift)] {
                            assert!((-1..n as i32).contains(&i), "{x} {n} {mode:?} {i}");
                            assert!(i >= 0 || mode == Border);
                        }
                    }
                }
            }
        }
    }

    /// The texel just below 0 is the last one, however little is missing.
    #[test]
    fn coordinates_just_below_zero_wrap_to_the_last_texel() {
        for n in [1, 3, 4, 131_071] {
            for x in [-f32::MIN_POSITIVE, -1e-30, -1e-9] {
                assert_eq!(nearest_texel(f64::from(x), n, Wrap, true, 0), n as i32 - 1, "{x} of {n}");
                assert_eq!(nearest_texel(f64::from(x), n, Mirror, true, 0), 0, "{x} of {n}");
                assert_eq!(nearest_texel(f64::from(x), n, Mirror, true, 1), 0, "{x} of {n}");
            }
        }
    }

    #[test]
    fn offsets_are_in_texels() {
        assert_eq!(texel_by_index(-3, 8, 7), 4);
        assert_eq!(texel_by_index(9, 8, -2), 7);
        assert_eq!(texel_by_index(i64::from(i32::MIN), 8, -8), -1);
        assert_eq!(nearest_texel(0.1, 4, Wrap, true, -1), 3);
        assert_eq!(nearest_texel(0.1, 4, Wrap, true, 7), 3);
        assert_eq!(nearest_texel(0.1, 4, Mirror, true, -1), 0);
        assert_eq!(nearest_texel(0.1, 4, Mirror, true, 5), 2);
        assert_eq!(nearest_texel(1.0, 4, Border, false, 3), -1);
        assert_eq!(nearest_texel(40.25, 7, Clamp, false, -6), 6);
        assert_eq!(nearest_texel(-40.0, 7, Clamp, false, 7), 0);
        assert_eq!(linear_taps(40.0, 7, Border, false, -8).lo, -1);
    }
}
