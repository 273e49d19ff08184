//! The border's colour as a texel: it is converted to the format's type first, and then read like the others.

use super::format::{ChannelKind, TexelFormat};
use half::f16;

/// A texel of the widest format.
pub(crate) type BorderTexel = [u8; 16];

/// The texel that stands for the border.
pub(crate) fn border_texel(format: &TexelFormat, colour: [f32; 4]) -> BorderTexel {
    let (mut texel, n) = ([0; 16], format.kind.channel_bytes() as usize);
    for (c, place) in texel.chunks_exact_mut(n).take(format.channels as usize).enumerate() {
        place.copy_from_slice(&channel_bits(format.kind, c, colour[c]).to_le_bytes()[..n]);
    }
    texel
}

/// A channel's bits. Formats of integers take the lowest bits of the float, without a conversion.
fn channel_bits(kind: ChannelKind, c: usize, v: f32) -> u32 {
    use ChannelKind::*;
    match kind {
        Unorm8 => normalized_bits(v, 0.0, 255.0),
        Unorm16 => normalized_bits(v, 0.0, 65535.0),
        Snorm8 => normalized_bits(v, -1.0, 127.0),
        Snorm16 => normalized_bits(v, -1.0, 32767.0),
        F16 => f16_bits(v),
        Srgb8 if c == 3 => normalized_bits(v, 0.0, 255.0),
        SrgbPair8 if c == 1 => normalized_bits(v, 0.0, 255.0),
        Srgb8 | SrgbPair8 => srgb_bits(v),
        U8 | U16 | Word | S8 | S16 | F32 => v.to_bits(),
    }
}

/// The nearest integer to `v * one`, the product in single precision; halves go towards zero. NaN is 0.
fn normalized_bits(v: f32, least: f32, one: f32) -> u32 {
    let scaled = if v.is_nan() { 0.0 } else { v.clamp(least, 1.0) * one };
    let magnitude = (scaled.abs() - 0.5).ceil().max(0.0);
    (magnitude.copysign(scaled) as i32).cast_unsigned()
}

/// Cut towards zero; what is too large becomes the largest, and infinity stays.
fn f16_bits(v: f32) -> u32 {
    if !v.is_finite() {
        let quiet = u32::from(v.is_nan()) << 9;
        return v.to_bits() >> 16 & 0x8000 | 0x7c00 | v.to_bits() >> 13 & 0x3ff | quiet;
    }
    let nearest = f16::from_f32(v);
    let too_large = f64::from(nearest.to_f32()).abs() > f64::from(v).abs();
    u32::from(nearest.to_bits()) - u32::from(too_large)
}

/// The sRGB value nearest to an intensity. NaN is 0.
fn srgb_bits(v: f32) -> u32 {
    let v = if v.is_nan() { 0.0 } else { f64::from(v).clamp(0.0, 1.0) };
    let curve = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (curve * 255.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(kind: ChannelKind, v: f32) -> u32 {
        channel_bits(kind, 0, v)
    }

    #[test]
    fn borders_are_converted_to_the_type_of_texels() {
        use ChannelKind::*;
        for (kind, v, expected) in [
            (Unorm8, 2.0, 255),
            (Unorm8, -1.0, 0),
            (Unorm8, f32::NAN, 0),
            (Unorm8, f32::INFINITY, 255),
            (Unorm8, 0.3, 76),
            (Unorm8, 0.5, 127),
            (Unorm8, 0.1, 25),
            (Snorm8, 0.1, 13),
            (Snorm8, 0.5, 63),
            (Snorm8, -3.0, 0xffff_ff81),
            (Unorm16, 0.3, 19660),
            (Unorm16, 1e-5, 1),
            (Snorm16, 0.1, 3277),
            (F16, 0.3, 0x34cc),
            (F16, 1e6, 0x7bff),
            (F16, -1e6, 0xfbff),
            (F16, f32::INFINITY, 0x7c00),
            (F16, -0.0, 0x8000),
            (F16, 1e-5, 167),
            (F16, 1e-9, 0),
            (F32, 0.3, 0x3e99_999a),
            (U8, 0.3, 0x3e99_999a),
            (Srgb8, 0.5, 188),
        ] {
            assert_eq!(bits(kind, v), expected, "{kind:?} {v}");
        }
        assert_eq!(bits(F16, f32::from_bits(0x7fc0_0000)), 0x7e00);
        let texel = border_texel(&TexelFormat::new(U8, 4, 1), [2.0, -1.0, 0.3, f32::NAN]);
        assert_eq!(texel[..4], [0, 0, 0x9a, 0]);
    }
}
