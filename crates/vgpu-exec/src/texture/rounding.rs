//! Sums of weighted floats as a filter makes them, and their rounding.
//!
//! The texels of each slice are cut to multiples of the last place that the slice's largest has with some number
//! of bits. Their weighted sums are exact; if there are several, they are brought to a common place, rounded down, and
//! the total is rounded to the result's precision, halves away from zero. Exponents are those of `f32`, so that all of
//! this is exact in `f64`.

use super::weights::Tap;

/// 2 to the power of `e`, a normal number.
#[inline(always)]
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// The least `e` such that 2 to the power of `e` is greater than the magnitude of `v`, a normal number.
#[inline(always)]
pub(crate) fn exponent(v: f64) -> i32 {
    (v.to_bits() >> 52 & 0x7ff) as i32 - 1022
}

/// Towards zero.
#[inline(always)]
fn cut(v: f64) -> f64 {
    v as i64 as f64
}

/// [`aligned_sum`] of finite numbers in one or two slices, unless it is zero.
#[inline(always)]
pub(crate) fn usual_sum(taps: &[Tap], c: usize, bits: i32) -> Option<f64> {
    const SIGN: u64 = 1 << 63;
    let last = taps.last()?.slice;
    let (mut most, mut fields, mut least) = (0, [0; 2], u64::MAX);
    for tap in taps {
        let magnitude = tap.texel[c].to_bits() & !SIGN;
        most = most.max(magnitude);
        let counted = if tap.weight != 0 { magnitude } else { 0 };
        fields[tap.slice & 1] = fields[tap.slice & 1].max(counted >> 52);
        least = least.min(if counted != 0 { counted >> 52 } else { least });
    }
    let top = fields[0].max(fields[1]);
    if last > 1 || most >= 0x7ff << 52 || top == 0 {
        return None;
    }
    // Texels of similar size lose nothing: they have four bits less than are kept.
    if top - least <= 4 {
        let sum = taps.iter().fold(0.0, |sum, tap| sum + f64::from(tap.weight) * tap.texel[c]);
        return (sum != 0.0).then_some(sum * (1.0 / 256.0));
    }
    (last == 0).then(|| cut_sum(taps, c, bits - (top as i32 - 1022))).filter(|sum| *sum != 0.0)
}

/// The weighted sum of numbers that are cut to multiples of 2 to the power of `-places`.
#[inline(always)]
fn cut_sum(taps: &[Tap], c: usize, places: i32) -> f64 {
    let scale = power_of_two(places);
    let sum = taps.iter().fold(0.0, |sum, tap| {
        let v = if tap.weight != 0 { tap.texel[c] * scale } else { 0.0 };
        sum + f64::from(tap.weight) * f64::from(v as i32)
    });
    sum * power_of_two(-places - 8)
}

/// Slices that taps belong to.
const SLICES: usize = 4;

/// The weighted sum of numbers. `value` gives one and the exponent of the place above its highest; `bits` are the places
/// that are kept, and `more` how many more are in the sum of slices.
pub(crate) fn aligned_sum(taps: &[Tap], [bits, more]: [i32; 2], value: impl Fn(&Tap) -> (f64, i32)) -> f64 {
    let weighted = || taps.iter().filter(|tap| tap.weight != 0).map(|tap| (tap, value(tap)));
    let mut highest: [Option<i32>; SLICES] = [None; SLICES];
    let mut all_negative = !taps.is_empty();
    for (tap, (v, e)) in weighted() {
        all_negative &= v.is_sign_negative();
        if v != 0.0 {
            highest[tap.slice] = highest[tap.slice].max(Some(e));
        }
    }
    let mut sums = [0.0; SLICES];
    for (tap, (v, _)) in weighted() {
        let Some(e) = highest[tap.slice] else { continue };
        sums[tap.slice] += f64::from(tap.weight) * cut(v * power_of_two(bits - e));
    }
    let sum = sum_of_slices(highest, sums, bits, more);
    if sum == 0.0 && all_negative { -0.0 } else { sum }
}

/// The sum of slices, whose sums are counted in units of 2 to the power of `highest - bits - 8`.
fn sum_of_slices(highest: [Option<i32>; SLICES], sums: [f64; SLICES], bits: i32, more: i32) -> f64 {
    let slices = || highest.iter().zip(sums).filter_map(|(e, sum)| e.map(|e| (e, sum)));
    let Some(most) = slices().map(|(e, _)| e).max() else { return 0.0 };
    if slices().count() == 1 {
        return slices().map(|(_, sum)| sum).sum::<f64>() * power_of_two(most - bits - 8);
    }
    let place = most - bits - more;
    let total: f64 = slices().map(|(e, sum)| (sum * power_of_two((e - bits - 8 - place).max(-1000))).floor()).sum();
    total * power_of_two(place)
}

/// The nearest number of `bits` significant bits, halves away from zero; none is finer than 2 to the power of `least`.
#[inline(always)]
pub(crate) fn round_half_away(v: f64, bits: u32, least: i32) -> f64 {
    if v.abs() < power_of_two(least + bits as i32 - 1) {
        let scaled = v.abs() * power_of_two(-least) + 0.5;
        return ((scaled as i64) as f64 * power_of_two(least)).copysign(v);
    }
    let lost = 53 - bits;
    f64::from_bits((v.to_bits() + (1 << (lost - 1))) >> lost << lost)
}

/// Whether a filter of floats gives a number: `Err` holds the infinity, or NaN, that it gives else.
pub(crate) fn check_finite(taps: &[Tap], c: usize) -> Result<(), f64> {
    let infinite = taps.iter().filter(|tap| !tap.texel[c].is_finite());
    let mut sum: Option<f64> = None;
    for tap in infinite {
        let v = f64::from(tap.weight) * tap.texel[c];
        sum = Some(sum.map_or(v, |s| s + v));
    }
    sum.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taps(parts: &[(i32, usize, f64)]) -> Vec<Tap> {
        parts.iter().map(|&(weight, slice, v)| Tap { weight, slice, texel: [v; 4] }).collect()
    }

    fn sum(parts: &[(i32, usize, f64)], bits: i32) -> f64 {
        aligned_sum(&taps(parts), [bits, 9], |t| (t.texel[0], exponent(t.texel[0])))
    }

    /// An H200 gives these for texels of float32.
    #[test]
    fn texels_are_cut_to_the_place_of_the_largest() {
        for (a, b, bits) in [
            ((250, -0.193_711_355_328_559_88), (6, 4.501_753_807_067_871), -11_228_840.0),
            ((246, 0.189_889_714_121_818_54), (10, -4.565_378_189_086_914), 8_884_242.0),
            ((192, 0.189_889_714_121_818_54), (64, -4.565_378_189_086_914), -16_759_219.0),
        ] {
            let v = round_half_away(sum(&[(a.0, 0, a.1), (b.0, 0, b.1)], 28), 24, -149);
            assert_eq!(v * power_of_two(24 - exponent(v)), bits);
        }
    }

    /// The lesser of two slices is rounded down to a place of the larger one, float16 of an H200.
    #[test]
    fn sums_of_slices_are_rounded_down() {
        let parts = [(14, 0, -17136.0), (11, 0, 33216.0), (73, 1, -1739.0), (7, 1, 0.140_869_140_625)];
        assert_eq!(round_half_away(sum(&parts, 15), 11, -24), -5.761_718_75);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(round_half_away(1.0 + 1.0 / 2048.0, 11, -24), 1.0 + 1.0 / 1024.0);
        assert_eq!(round_half_away(-1.0 - 1.0 / 2048.0, 11, -24), -1.0 - 1.0 / 1024.0);
        assert_eq!(round_half_away(power_of_two(-25), 11, -24), power_of_two(-24));
        assert_eq!(round_half_away(-power_of_two(-26), 11, -24).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(round_half_away(-0.0, 24, -149).to_bits(), (-0.0_f64).to_bits());
    }

    #[test]
    fn infinite_texels_make_infinities_and_nans() {
        const INF: f64 = f64::INFINITY;
        assert_eq!(check_finite(&taps(&[(3, 0, 1.0), (253, 0, 2.0)]), 0), Ok(()));
        assert_eq!(check_finite(&taps(&[(3, 0, -INF), (253, 0, 2.0)]), 0), Err(-INF));
        for parts in [[(3, 0, -INF), (253, 0, INF)], [(0, 0, INF), (256, 0, 1.0)], [(0, 0, f64::NAN), (256, 0, 1.0)]] {
            assert!(check_finite(&taps(&parts), 0).unwrap_err().is_nan());
        }
    }
}
