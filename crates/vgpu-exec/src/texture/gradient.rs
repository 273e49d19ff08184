//! The level of detail that gradients ask for, by the arithmetic of the device's texture unit.
//!
//! The unit approximates the longer half axis of the ellipse that the two gradients span by the longest of four vectors:
//! the gradients, and their sum and their difference times 11/16. A vector's length is its largest component and parts
//! of the others, numbers keep nine bits behind the first one, and the logarithm is a table of 256 entries. In one and two
//! dimensions the results have a device's bits; in three, one in a hundred differs by 1/128 of a level or less.

use super::addressing::flush_subnormal;
use rtcg_vgpu_abi::model::texture::{
    DIAGONAL, EXTENT_BITS, GRADIENT_BITS, GRADIENT_PRODUCT_CUT, GRADIENT_PRODUCT_ROUNDING, LENGTH_PARTS,
    LEVEL_FRACTIONS, LEVEL_OF_LENGTH,
};

/// A vector in texels; axes that do not count are zero.
type Vector = [f64; 3];

/// The level of detail of two gradients as the instruction gives them, for a texture of these extents.
pub(super) fn level_of_gradients(gradients: [[f32; 3]; 2], extents: [u32; 3]) -> f32 {
    if gradients.iter().flatten().any(|v| v.is_infinite()) {
        return f32::INFINITY;
    }
    let [a, b] = gradients.map(|g| std::array::from_fn(|axis| in_texels(g[axis], extents[axis])));
    level_of_length(longest(a, b))
}

/// The longest of the four vectors, of two gradients in texels.
fn longest(a: Vector, b: Vector) -> f64 {
    let sums: Vector = std::array::from_fn(|axis| sum(a[axis], b[axis]));
    let differences: Vector = std::array::from_fn(|axis| sum(a[axis], -b[axis]));
    [length(a), length(b), scaled_length(sums), scaled_length(differences)].into_iter().fold(0.0, f64::max)
}

/// A component of a gradient times the extent of its axis; what is no number counts as zero.
fn in_texels(component: f32, extent: u32) -> f64 {
    let v = f32::from_bits(flush_subnormal(component.to_bits()));
    if v.is_nan() || v == 0.0 || extent == 0 {
        return 0.0;
    }
    let v = f64::from(v);
    let unit = power_below(v.abs()) / f64::from(1_u32 << GRADIENT_BITS);
    let mantissa = (v.abs() / unit) as u64;
    let shift = extent.ilog2() as i32 + 1 - EXTENT_BITS as i32;
    let factor = if shift >= 0 { extent >> shift } else { extent << -shift };
    let product: u64 = (0..EXTENT_BITS)
        .filter(|bit| factor >> bit & 1 != 0)
        .map(|bit| {
            let cut = GRADIENT_PRODUCT_CUT.saturating_sub(bit);
            mantissa >> cut << cut << bit
        })
        .sum();
    let product = kept((product + GRADIENT_PRODUCT_ROUNDING) as f64);
    (product * unit * 2_f64.powi(shift)).copysign(v)
}

/// The sum of two components; the smaller one of different signs keeps ten bits behind the larger one's first.
fn sum(a: f64, b: f64) -> f64 {
    let (large, small) = if a.abs() >= b.abs() { (a.abs(), b.abs()) } else { (b.abs(), a.abs()) };
    if large == 0.0 {
        0.0
    } else if (a < 0.0) == (b < 0.0) {
        kept(large + small)
    } else {
        let unit = power_below(large) / f64::from(2_u32 << GRADIENT_BITS);
        kept(large - (small / unit).floor() * unit)
    }
}

/// The length of a vector.
fn length(v: Vector) -> f64 {
    let [large, middle, small] = sorted(v);
    let last = small * LENGTH_PARTS[1];
    large + part(middle, LENGTH_PARTS[0], 11) + cut(last, power_below(small) / 1024.0)
}

/// The length of a vector times [`DIAGONAL`].
fn scaled_length(v: Vector) -> f64 {
    let [large, middle, small] = sorted(v);
    let parts = LENGTH_PARTS.map(|p| p * DIAGONAL);
    kept(part(large, DIAGONAL, 10)) + part(middle, parts[0], 12) + part(small, parts[1], 12)
}

/// Magnitudes, the largest first.
fn sorted(v: Vector) -> Vector {
    let mut v = v.map(f64::abs);
    v.sort_by(|a, b| b.total_cmp(a));
    v
}

/// A number times a constant, rounded to that many bits behind the number's first; halves are rounded up.
fn part(v: f64, factor: f64, bits: i32) -> f64 {
    let unit = power_below(v) * 2_f64.powi(-bits);
    cut(v * factor + unit / 2.0, unit)
}

/// A number rounded down to a multiple of a unit, which is zero only where the number is.
fn cut(v: f64, unit: f64) -> f64 {
    if unit == 0.0 { 0.0 } else { (v / unit).floor() * unit }
}

/// The power of two at or below a positive number, 0 of zero.
fn power_below(v: f64) -> f64 {
    f64::from_bits(v.to_bits() & f64::INFINITY.to_bits())
}

/// A positive number with [`GRADIENT_BITS`] behind its first bit.
fn kept(v: f64) -> f64 {
    f64::from_bits(v.to_bits() & (!0 << (f64::MANTISSA_DIGITS - 1 - GRADIENT_BITS)))
}

/// The logarithm of a length.
fn level_of_length(length: f64) -> f32 {
    if length == 0.0 {
        return f32::NEG_INFINITY;
    }
    let bits = length.to_bits();
    let whole = (bits >> 52) as i32 - 1023;
    let fraction = LEVEL_OF_LENGTH[(bits >> 44 & 0xff) as usize];
    (f64::from(whole) + f64::from(fraction) / LEVEL_FRACTIONS) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels in 1/256.
    fn level(a: [f32; 3], b: [f32; 3], extents: [u32; 3]) -> i32 {
        (level_of_gradients([a, b], extents) * 256.0) as i32
    }

    /// Lengths that a card gave, as to question 91.
    #[test]
    fn levels_are_those_of_a_card() {
        for (a, b, extents, expected) in RECORDED {
            let [a, b] = [a, b].map(|[x, y, z]| [f32::from_bits(*x), f32::from_bits(*y), f32::from_bits(*z)]);
            assert_eq!(level(a, b, *extents), *expected, "{a:?} {b:?} {extents:?}");
        }
    }

    #[test]
    fn what_is_no_number_counts_as_zero_and_infinity_as_the_last_level() {
        let plain = level([0.25, 0.0, 0.0], [0.0; 3], [64, 64, 1]);
        assert_eq!(plain, 4 * 256);
        assert_eq!(level([0.25, f32::NAN, 0.0], [f32::NAN, 0.0, 0.0], [64, 64, 1]), plain);
        assert_eq!(level([0.25, 1e-40, 0.0], [0.0; 3], [64, 64, 1]), plain);
        let infinite = [[0.0, f32::INFINITY, 0.0], [f32::NAN, f32::NEG_INFINITY, 0.0]];
        assert_eq!(level_of_gradients(infinite, [64, 64, 1]), f32::INFINITY);
        assert_eq!(level_of_gradients([[0.0; 3]; 2], [64, 64, 1]), f32::NEG_INFINITY);
    }

    #[test]
    fn levels_grow_with_gradients() {
        let mut last = i32::MIN;
        for step in 1..4096 {
            let next = level([step as f32 / 65536.0, 0.0, 0.0], [0.0; 3], [1000, 1, 1]);
            assert!(next >= last);
            last = next;
        }
    }

    /// Gradients, extents, and the level in 1/256 that an H200 took.
    type Recorded = ([u32; 3], [u32; 3], [u32; 3], i32);
    const RECORDED: &[Recorded] = &[
        ([0x3f532141, 0xbd991107, 0x00000000], [0xbbd2ef64, 0xbf57e305, 0x00000000], [1024, 1024, 1], 2500),
        ([0xbbbe2d83, 0xbc3a9502, 0x00000000], [0xbb4d71e1, 0x39a21bdf, 0x00000000], [1024, 1024, 1], 967),
        ([0xbc335f60, 0xbc5f38ac, 0x00000000], [0x3be03622, 0xbb19352c, 0x00000000], [1024, 1024, 1], 1063),
        ([0x3c95ed24, 0x3c245904, 0x00000000], [0x3c6c526f, 0xba5ba693, 0x00000000], [1024, 1024, 1], 1192),
        ([0xbb9950c0, 0x3bdfdf8b, 0x00000000], [0x3b92d6fe, 0x3b43fa07, 0x00000000], [1024, 1024, 1], 796),
        ([0xbadcda4b, 0xbada76af, 0x00000000], [0xba868a1c, 0xb7743676, 0x00000000], [1024, 1024, 1], 310),
        ([0xbc868a43, 0x3d3d350d, 0x00000000], [0xbc340d6c, 0xbc66a98c, 0x00000000], [1024, 1024, 1], 1467),
        ([0x3b3d56e5, 0x3a986761, 0x00000000], [0x3b7a6a67, 0xbbf048e3, 0x00000000], [1024, 1024, 1], 806),
        ([0x3be42e79, 0x3bd606a2, 0x00000000], [0x3bd606a2, 0x3be42e79, 0x00000000], [1024, 1024, 1], 941),
        ([0x3c67e439, 0x3c7d4365, 0x00000000], [0x3c7d4365, 0x3c67e439, 0x00000000], [1024, 1024, 1], 1231),
        ([0x3b48ce80, 0x3abe8a63, 0x00000000], [0x3abe8a63, 0x3b48ce80, 0x00000000], [1024, 1024, 1], 536),
        ([0x3a7ed235, 0x3a689343, 0x00000000], [0x3a689343, 0x3a7ed235, 0x00000000], [1024, 1024, 1], 208),
        ([0x3991db4c, 0x3a78828a, 0x00000000], [0x3a78828a, 0x3991db4c, 0x00000000], [1024, 1024, 1], 54),
        ([0x3b471314, 0x3bfbe73f, 0x00000000], [0x3bfbe73f, 0x3b471314, 0x00000000], [1024, 1024, 1], 856),
        ([0x3a784a21, 0x39ee9636, 0x00000000], [0x39ee9636, 0x3a784a21, 0x00000000], [1024, 1024, 1], 104),
        ([0x3baef600, 0x3b6d1ebb, 0x00000000], [0x3b6d1ebb, 0x3baef600, 0x00000000], [1024, 1024, 1], 788),
        ([0x3cba5356, 0xbacdceb9, 0x00000000], [0x38881c1d, 0x3cd29c6a, 0x00000000], [1024, 1024, 1], 1208),
        ([0xbb40ff4c, 0x39ecb26d, 0x00000000], [0xbb3c2867, 0xbceed752, 0x00000000], [1024, 1024, 1], 1266),
        ([0xbcc319fb, 0x3aedc5c9, 0x00000000], [0xbb8a837e, 0x3cef4a40, 0x00000000], [1024, 1024, 1], 1273),
        ([0xbc893fb8, 0xb9421a7c, 0x00000000], [0xbb8a65ca, 0x3cd32ca1, 0x00000000], [1024, 1024, 1], 1229),
        ([0x3a9de824, 0xb938a78e, 0x00000000], [0x3a0a47ce, 0xba7f4ef9, 0x00000000], [1024, 1024, 1], 148),
        ([0x3f35fbee, 0x3c856dce, 0x00000000], [0xbe68e430, 0xbf0d43ab, 0x00000000], [1024, 1024, 1], 2467),
        ([0x3c01f03c, 0x39ef7e19, 0x00000000], [0xbae348fa, 0xbc720f1e, 0x00000000], [1024, 1024, 1], 1018),
        ([0x3ee99f82, 0xbc3447d0, 0x00000000], [0x3df41d9e, 0xbed10315, 0x00000000], [1024, 1024, 1], 2300),
        ([0x3baed441, 0x3cf1e413, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 1280),
        ([0x3f0647d3, 0x3e6a86e5, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 2373),
        ([0x3c63e4af, 0x3c81a501, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 1126),
        ([0x3d671e90, 0x3cf2d3a2, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 1559),
        ([0x3b4222f4, 0x3bf75c3c, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 802),
        ([0x3eed7b94, 0x3eb6a6a4, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 2363),
        ([0x3dda818c, 0x3d8f5e20, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 1808),
        ([0x3d34d44f, 0x3db86601, 0x00000000], [0x00000000, 0x00000000, 0x00000000], [1024, 1024, 1], 1728),
        ([0x3b55a5fb, 0x3c523f94, 0x00000000], [0x3c523f94, 0x3b55a5fb, 0x00000000], [100, 60, 1], 111),
        ([0x3c49af31, 0x3b921798, 0x00000000], [0x3b921798, 0x3c49af31, 0x00000000], [100, 60, 1], 121),
        ([0x3c500687, 0x3b82e137, 0x00000000], [0x3b82e137, 0x3c500687, 0x00000000], [100, 60, 1], 120),
        ([0x3bff2a15, 0x3c02e936, 0x00000000], [0x3c02e936, 0x3bff2a15, 0x00000000], [100, 60, 1], 99),
        ([0x3c2339f1, 0x3c31aea9, 0x00000000], [0x3c31aea9, 0x3c2339f1, 0x00000000], [100, 60, 1], 201),
        ([0x3c3898ce, 0x3c2966ca, 0x00000000], [0x3c2966ca, 0x3c3898ce, 0x00000000], [100, 60, 1], 215),
        ([0x3c0b3490, 0x3c24fa55, 0x00000000], [0x3c24fa55, 0x3c0b3490, 0x00000000], [100, 60, 1], 159),
        ([0x3c3361c1, 0x3bc43485, 0x00000000], [0x3bc43485, 0x3c3361c1, 0x00000000], [100, 60, 1], 124),
        ([0x3b36bf38, 0x3b4f2bab, 0x00000000], [0x3b4f2bab, 0x3b36bf38, 0x00000000], [1000, 1, 1], 520),
        ([0x3b9e0eb6, 0x3c72ba2a, 0x00000000], [0x3c72ba2a, 0x3b9e0eb6, 0x00000000], [1000, 1, 1], 995),
        ([0x3b318c0b, 0x3af86677, 0x00000000], [0x3af86677, 0x3b318c0b, 0x00000000], [1000, 1, 1], 426),
        ([0x3ac9755a, 0x3aff9f02, 0x00000000], [0x3aff9f02, 0x3ac9755a, 0x00000000], [1000, 1, 1], 322),
        ([0x3a68a8ea, 0x3a3c3bac, 0x00000000], [0x3a3c3bac, 0x3a68a8ea, 0x00000000], [1000, 1, 1], 36),
        ([0x3a5ffc5e, 0x3a44c102, 0x00000000], [0x3a44c102, 0x3a5ffc5e, 0x00000000], [1000, 1, 1], 36),
        ([0x3bff9815, 0x3ba31517, 0x00000000], [0x3ba31517, 0x3bff9815, 0x00000000], [1000, 1, 1], 802),
        ([0x3ab24b1d, 0x39dadfe3, 0x00000000], [0x39dadfe3, 0x3ab24b1d, 0x00000000], [1000, 1, 1], 114),
        ([0x3b235dbf, 0x00000000, 0x00000000], [0x3d50c4c0, 0x00000000, 0x00000000], [3001, 1, 1], 1857),
        ([0x3e1c9277, 0x00000000, 0x00000000], [0x3e62c576, 0x00000000, 0x00000000], [3001, 1, 1], 2455),
        ([0x3e4b3098, 0x00000000, 0x00000000], [0xbe4225f9, 0x00000000, 0x00000000], [3001, 1, 1], 2468),
        ([0x3cea10ba, 0x00000000, 0x00000000], [0x3cd1f7b4, 0x00000000, 0x00000000], [3001, 1, 1], 1741),
        ([0x3c205c29, 0x00000000, 0x00000000], [0xbb340efa, 0x00000000, 0x00000000], [3001, 1, 1], 1248),
        ([0xbe9520f5, 0x00000000, 0x00000000], [0xbe279d46, 0x00000000, 0x00000000], [3001, 1, 1], 2528),
    ];
}
