//! Texel formats: reading texels as bits, and as numbers that can be filtered.
//!
//! Establishes: a filter's texels of 8 and 16 bits are whole, so that their weighted sums are exact.

use super::rounding;
use super::weights::Tap;
use half::f16;
use rtcg_vgpu_abi::model::texture::{
    ALIGNMENT_BITS, FILTERED_NANS, FILTERED_UNIT, SIGNED_SUM_BITS, SRGB_BLOCK, SRGB_INTENSITIES, SUM_ALIGNMENT_BITS,
};

/// How one channel is stored and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// Integers that stay integers, zero-extended.
    U8,
    /// See above.
    U16,
    /// 32 bits, signed or not.
    Word,
    /// Sign-extended.
    S8,
    /// Sign-extended.
    S16,
    /// `f16`, read as `f32`.
    F16,
    /// `f32`
    F32,
    /// From 0 to 1.
    Unorm8,
    /// From 0 to 1.
    Unorm16,
    /// From -1 to 1.
    Snorm8,
    /// From -1 to 1.
    Snorm16,
    /// From 0 to 1 by the sRGB curve; the fourth channel is a [`ChannelKind::Unorm8`].
    Srgb8,
    /// The same with two channels, of which the second is a [`ChannelKind::Unorm8`].
    SrgbPair8,
}

/// How texels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelFormat {
    /// Every channel's kind.
    pub kind: ChannelKind,
    /// 1, 2 or 4.
    pub channels: u32,
    /// Bytes of a texel.
    pub bytes: u32,
    /// The `CUarray_format`, for queries.
    pub code: u32,
}

impl ChannelKind {
    /// Bytes of a channel.
    pub fn channel_bytes(self) -> u32 {
        use ChannelKind::*;
        match self {
            U8 | S8 | Unorm8 | Snorm8 | Srgb8 | SrgbPair8 => 1,
            U16 | S16 | F16 | Unorm16 | Snorm16 => 2,
            Word | F32 => 4,
        }
    }

    /// Whether texels are numbers that can be filtered.
    pub(crate) fn is_filterable(self) -> bool {
        use ChannelKind::*;
        !matches!(self, U8 | U16 | Word | S8 | S16)
    }

    /// The kind for a `CUarray_format` read as it is (`raw`), or as a number from 0 or -1 to 1.
    pub fn from_array_format(code: u32, raw: bool, srgb: bool) -> Option<ChannelKind> {
        use ChannelKind::*;
        Some(match (code, raw) {
            (1, true) => U8,
            (1, false) if srgb => Srgb8,
            (1, false) => Unorm8,
            (2, true) => U16,
            (2, false) => Unorm16,
            (3 | 10, _) => Word,
            (8, true) => S8,
            (8, false) => Snorm8,
            (9, true) => S16,
            (9, false) => Snorm16,
            (16, _) => F16,
            (32, _) => F32,
            // Formats that say themselves that they are numbers: one, two or four channels of each.
            (192..=194, _) if srgb => Srgb8,
            (192..=194, _) => Unorm8,
            (195..=197, _) => Unorm16,
            (198..=200, _) => Snorm8,
            (201..=203, _) => Snorm16,
            _ => return None,
        })
    }
}

impl TexelFormat {
    /// A format of `channels` channels.
    pub fn new(kind: ChannelKind, channels: u32, code: u32) -> TexelFormat {
        let kind = if kind == ChannelKind::Srgb8 && channels == 2 { ChannelKind::SrgbPair8 } else { kind };
        TexelFormat { kind, channels, bytes: kind.channel_bytes() * channels, code }
    }
}

/// A channel kind as a type, so that loops over texels are compiled for each.
pub(crate) trait ChannelAccess {
    /// Bytes of a channel.
    const CHANNEL_BYTES: usize;
    /// Results are numbers; else they are bits.
    const IS_FILTERABLE: bool = true;

    /// Channel `c` at `at` as a result that is not filtered: a float, or an integer zero- or sign-extended.
    ///
    /// # Safety
    /// `at` is the channel's address, which may be read or faults.
    unsafe fn channel_bits(at: *const u8, c: usize) -> u32;

    /// Channel `c` at `at` as a filter takes it: a float, or the integer as it is stored.
    ///
    /// # Safety
    /// As [`ChannelAccess::channel_bits`].
    unsafe fn channel_as_f64(at: *const u8, c: usize) -> f64;

    /// Channel `c` of the weighted taps as a result.
    fn filter(taps: &[Tap], c: usize) -> u32;
}

/// The sum of weighted integers, times 256.
#[inline(always)]
fn integer_sum(taps: &[Tap], c: usize) -> i32 {
    // Whole numbers of at most 24 bits.
    taps.iter().fold(0.0, |sum, tap| sum + f64::from(tap.weight) * tap.texel[c]) as i32
}

/// The nearest whole number to `sum / 256`, halves up, in units of 1 over `unit`.
#[inline(always)]
fn whole_units(sum: i32, unit: f32) -> u32 {
    units((sum + 128) >> 8, unit)
}

/// Whole units as a float. Nothing is less than -1.
#[inline(always)]
fn units(whole: i32, unit: f32) -> u32 {
    (whole.max(-(unit as i32)) as f32 / unit).to_bits()
}

/// Signed bytes have seven bits and a sign; repeated, they make fifteen and some fractional bits.
#[inline(always)]
fn widened_signed_sum(sum: i32) -> i32 {
    let fixed = sum << SIGNED_SUM_BITS;
    (fixed + (fixed >> 7) + (fixed >> 15) + (1 << (SIGNED_SUM_BITS - 1))) >> SIGNED_SUM_BITS
}

macro_rules! impl_integer_channels {
    ($($name:ident $ty:ty, $wide:ty;)*) => {$(
        pub(crate) struct $name;
        impl ChannelAccess for $name {
            const CHANNEL_BYTES: usize = size_of::<$ty>();
            const IS_FILTERABLE: bool = false;
            #[inline(always)]
            unsafe fn channel_bits(at: *const u8, _: usize) -> u32 {
                // SAFETY: the caller's contract; rows of linear memory need not be aligned.
                (unsafe { at.cast::<$ty>().read_unaligned() }) as $wide as u32
            }
            #[inline(always)]
            unsafe fn channel_as_f64(at: *const u8, _: usize) -> f64 {
                // SAFETY: the caller's contract; rows of linear memory need not be aligned.
                f64::from(unsafe { at.cast::<$ty>().read_unaligned() })
            }
            /// Integers are not filtered.
            #[inline(always)]
            fn filter(taps: &[Tap], c: usize) -> u32 {
                taps.first().map_or(0, |tap| tap.texel[c] as i64 as u32)
            }
        }
    )*};
}
impl_integer_channels! {
    U8 u8, u32;
    U16 u16, u32;
    Word u32, u32;
    S8 i8, i32;
    S16 i16, i32;
}

macro_rules! impl_normalized_channels {
    ($($name:ident $ty:ty, $one:expr, $least:expr, |$sum:ident| $filtered:expr;)*) => {$(
        pub(crate) struct $name;
        impl ChannelAccess for $name {
            const CHANNEL_BYTES: usize = size_of::<$ty>();
            #[inline(always)]
            unsafe fn channel_bits(at: *const u8, _: usize) -> u32 {
                // SAFETY: the caller's contract.
                let v = unsafe { at.cast::<$ty>().read_unaligned() }.max($least);
                ((f64::from(v) / $one) as f32).to_bits()
            }
            #[inline(always)]
            unsafe fn channel_as_f64(at: *const u8, _: usize) -> f64 {
                // SAFETY: the caller's contract.
                f64::from(unsafe { at.cast::<$ty>().read_unaligned() })
            }
            #[inline(always)]
            fn filter(taps: &[Tap], c: usize) -> u32 {
                let $sum = integer_sum(taps, c);
                $filtered
            }
        }
    )*};
}
impl_normalized_channels! {
    // Texels of 8 bits are widened to 16 by repeating their bits.
    Unorm8 u8, 255.0, 0, |sum| whole_units(sum * 257, FILTERED_UNIT[0]);
    Unorm16 u16, 65535.0, 0, |sum| whole_units(sum, FILTERED_UNIT[0]);
    // The most negative value stands for -1 too, but in a mean only if the whole mean is less.
    Snorm8 i8, 127.0, -127, |sum| units(widened_signed_sum(sum), FILTERED_UNIT[1]);
    Snorm16 i16, 32767.0, -32767, |sum| whole_units(sum, FILTERED_UNIT[1]);
}

/// The weighted mean of floats, unless it is not finite.
#[inline(always)]
fn float_sum(taps: &[Tap], c: usize, bits: i32) -> Result<f64, f64> {
    if let Some(sum) = rounding::usual_sum(taps, c, bits) {
        return Ok(sum);
    }
    rounding::check_finite(taps, c)?;
    Ok(rounding::aligned_sum(taps, [bits, SUM_ALIGNMENT_BITS], |tap| (tap.texel[c], rounding::exponent(tap.texel[c]))))
}

pub(crate) struct F16;
impl ChannelAccess for F16 {
    const CHANNEL_BYTES: usize = 2;
    /// A NaN keeps its bits, a signalling one too.
    #[inline(always)]
    unsafe fn channel_bits(at: *const u8, _: usize) -> u32 {
        // SAFETY: the caller's contract.
        let bits = f16::from_bits(unsafe { at.cast::<u16>().read_unaligned() });
        if bits.is_nan() {
            let bits = u32::from(bits.to_bits());
            return (bits & 0x8000) << 16 | 0x7f80_0000 | (bits & 0x3ff) << 13;
        }
        bits.to_f32().to_bits()
    }
    #[inline(always)]
    unsafe fn channel_as_f64(at: *const u8, _: usize) -> f64 {
        // SAFETY: the caller's contract.
        f16::from_bits(unsafe { at.cast::<u16>().read_unaligned() }).to_f64()
    }
    /// Filtered values are halves.
    #[inline(always)]
    fn filter(taps: &[Tap], c: usize) -> u32 {
        match float_sum(taps, c, ALIGNMENT_BITS[0]) {
            Ok(sum) => (rounding::round_half_away(sum, 11, -24) as f32).to_bits(),
            Err(v) if v.is_nan() => FILTERED_NANS[1],
            Err(infinity) => (infinity as f32).to_bits(),
        }
    }
}

pub(crate) struct F32Channel;
impl ChannelAccess for F32Channel {
    const CHANNEL_BYTES: usize = 4;
    /// As it is, a NaN too.
    #[inline(always)]
    unsafe fn channel_bits(at: *const u8, _: usize) -> u32 {
        // SAFETY: the caller's contract.
        unsafe { at.cast::<u32>().read_unaligned() }
    }
    /// Subnormal numbers are zeros.
    #[inline(always)]
    unsafe fn channel_as_f64(at: *const u8, _: usize) -> f64 {
        // SAFETY: the caller's contract; the channel need not be aligned.
        let v = unsafe { at.cast::<f32>().read_unaligned() };
        f64::from(if v.is_subnormal() { 0.0_f32.copysign(v) } else { v })
    }
    #[inline(always)]
    fn filter(taps: &[Tap], c: usize) -> u32 {
        match float_sum(taps, c, ALIGNMENT_BITS[1]) {
            // A result that is subnormal is zero.
            Ok(sum) if sum.abs() < f64::from(f32::MIN_POSITIVE) => 0.0_f32.copysign(sum as f32).to_bits(),
            Ok(sum) => (rounding::round_half_away(sum, 24, -149) as f32).to_bits(),
            Err(v) if v.is_nan() => FILTERED_NANS[0],
            Err(infinity) => (infinity as f32).to_bits(),
        }
    }
}

/// The intensity of an sRGB value, and the exponent of its block.
#[inline(always)]
fn srgb_intensity(v: u8) -> (f64, i32) {
    let intensity = |v: u8| f64::from(f32::from_bits(u32::from(SRGB_INTENSITIES[usize::from(v)]) << 16));
    (intensity(v), rounding::exponent(intensity(v | (SRGB_BLOCK - 1))))
}

/// Channel `LINEAR` is that of [`Unorm8`].
pub(crate) struct SrgbChannel<const LINEAR: usize>;
impl<const LINEAR: usize> ChannelAccess for SrgbChannel<LINEAR> {
    const CHANNEL_BYTES: usize = 1;
    #[inline(always)]
    unsafe fn channel_bits(at: *const u8, c: usize) -> u32 {
        // SAFETY: the caller's contract.
        unsafe {
            if c == LINEAR { Unorm8::channel_bits(at, c) } else { u32::from(SRGB_INTENSITIES[usize::from(*at)]) << 16 }
        }
    }
    #[inline(always)]
    unsafe fn channel_as_f64(at: *const u8, c: usize) -> f64 {
        // SAFETY: the caller's contract.
        unsafe { Unorm8::channel_as_f64(at, c) }
    }
    /// Filtered intensities are halves.
    #[inline(always)]
    fn filter(taps: &[Tap], c: usize) -> u32 {
        if c == LINEAR {
            return Unorm8::filter(taps, c);
        }
        let sum = rounding::aligned_sum(taps, [ALIGNMENT_BITS[2], SUM_ALIGNMENT_BITS + 16], |tap| {
            srgb_intensity(tap.texel[c] as u8)
        });
        (rounding::round_half_away(sum, 11, -24) as f32).to_bits()
    }
}

/// Calls `$f::<C>($args)` for the channel type of a kind.
macro_rules! dispatch_channel_kind {
    ($kind:expr, $f:ident($($arg:expr),*)) => {{
        use $crate::texture::format as fmt;
        match $kind {
            fmt::ChannelKind::U8 => $f::<fmt::U8>($($arg),*),
            fmt::ChannelKind::U16 => $f::<fmt::U16>($($arg),*),
            fmt::ChannelKind::Word => $f::<fmt::Word>($($arg),*),
            fmt::ChannelKind::S8 => $f::<fmt::S8>($($arg),*),
            fmt::ChannelKind::S16 => $f::<fmt::S16>($($arg),*),
            fmt::ChannelKind::F16 => $f::<fmt::F16>($($arg),*),
            fmt::ChannelKind::F32 => $f::<fmt::F32Channel>($($arg),*),
            fmt::ChannelKind::Unorm8 => $f::<fmt::Unorm8>($($arg),*),
            fmt::ChannelKind::Unorm16 => $f::<fmt::Unorm16>($($arg),*),
            fmt::ChannelKind::Snorm8 => $f::<fmt::Snorm8>($($arg),*),
            fmt::ChannelKind::Snorm16 => $f::<fmt::Snorm16>($($arg),*),
            fmt::ChannelKind::Srgb8 => $f::<fmt::SrgbChannel<3>>($($arg),*),
            fmt::ChannelKind::SrgbPair8 => $f::<fmt::SrgbChannel<1>>($($arg),*),
        }
    }};
}
pub(crate) use dispatch_channel_kind;

#[cfg(test)]
mod tests {
    use super::*;

    fn taps(parts: &[(i32, f64)]) -> Vec<Tap> {
        parts.iter().map(|&(weight, v)| Tap { weight, slice: 0, texel: [v; 4] }).collect()
    }

    /// Results of an H200.
    #[test]
    fn integers_are_filtered_with_sixteen_bits() {
        let unsigned = |units: f32| (units / 65535.0).to_bits();
        let signed = |units: f32| (units / 32767.0).to_bits();
        assert_eq!(Unorm8::filter(&taps(&[(128, 0.0), (128, 1.0)]), 0), unsigned(129.0));
        for (parts, units) in [
            ([(143, 2.0), (113, -99.0)], -10987.0),
            ([(188, -46.0), (68, 117.0)], -698.0),
            ([(199, 22.0), (57, 61.0)], 7916.0),
            ([(256, 64.0), (0, 0.0)], 16513.0),
            ([(256, -64.0), (0, 0.0)], -16512.0),
            ([(256, -128.0), (0, 0.0)], -32767.0),
        ] {
            assert_eq!(Snorm8::filter(&taps(&parts), 0), signed(units), "{parts:?}");
        }
    }

    /// Blocks of sRGB values have one exponent: the last bit of 209 is lost beside 252, not beside 230.
    #[test]
    fn srgb_values_are_filtered_by_blocks() {
        let of = |a: (i32, f64), b: (i32, f64)| f32::from_bits(SrgbChannel::<3>::filter(&taps(&[a, b]), 0));
        assert_eq!(of((128, 252.0), (128, 209.0)), (250.0 + 162.0) / 512.0);
        assert_eq!(of((128, 230.0), (128, 209.0)), (203.0 + 163.0) / 512.0);
        assert_eq!(SrgbChannel::<1>::filter(&taps(&[(256, 1.0)]), 1), (1.0_f32 / 255.0).to_bits());
    }

    #[test]
    fn subnormal_results_are_zero_in_float32_only() {
        let least = f64::from(f32::MIN_POSITIVE);
        assert_eq!(F32Channel::filter(&taps(&[(128, least), (128, 0.0)]), 0), 0);
        assert_eq!(F32Channel::filter(&taps(&[(128, -least), (128, 0.0)]), 0), 0x8000_0000);
        assert_eq!(f32::from_bits(F16::filter(&taps(&[(256, 6e-8)]), 0)), 2.0_f32.powi(-24));
    }
}
