//! The functions of the [interpolator](super) for sixteen lanes, by vectors of 512 bits: tables are looked up in registers.
//!
//! The functions of one lane are the definition; a test compares both. Sums of 41 bits are formed as two of 32: the slope
//! is split so that what lies behind the result's unit is added first, and only its carry goes on. Where a sum is wanted
//! whole it is formed in doubles, where all of its terms are exact.
#![allow(unsafe_code, reason = "loads vectors from tables")]

use super::lanes::WARP_LANES;
use super::{
    EX2_ROUNDING, INFINITY, INVERSE_TURN, LANES, LG2_ROUNDING, NAN, ONE, Piece, RCP_ROUNDING, ROOT_ROUNDING, SIGN,
    TANH_OCTAVES, tables,
};
use std::arch::x86_64::*;

/// Sixteen words.
type Words = __m512i;
/// Sixteen doubles.
type Doubles = [__m512d; 2];

/// Whether this processor has what the functions here need.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// A table of `N` pieces for mantissas of 24 bits: the constants less 2^23, in units of 2^-8 and with what the rounding
/// adds to them; slope and curvature in one word.
struct FractionTable<const N: usize> {
    constants: [u32; N],
    others: [u32; N],
    /// What the rounding adds behind the unit of the constants.
    behind: i32,
}

/// A table of `N` pieces whose sums are wanted whole; constants in eighths.
struct WholeTable<const N: usize> {
    constants: [u32; N],
    slopes: [u32; N],
    curvatures: [u32; N],
}

/// Bits of the curvature beside a slope.
const CURVATURE_BITS: u32 = 13;

impl<const N: usize> FractionTable<N> {
    const fn new(pieces: &[Piece; N], rounding: i64) -> FractionTable<N> {
        let mut table = FractionTable { constants: [0; N], others: [0; N], behind: (rounding & 0x1ff) as i32 };
        let mut i = 0;
        while i < N {
            let Piece(constant, slope, curvature) = pieces[i];
            assert!(slope << CURVATURE_BITS >> CURVATURE_BITS == slope);
            assert!(curvature << (32 - CURVATURE_BITS) >> (32 - CURVATURE_BITS) == curvature);
            let constant = (constant.wrapping_sub(1 << 26) << 5) as i32;
            table.constants[i] = constant.wrapping_add((rounding >> 9) as i32) as u32;
            table.others[i] = (slope << CURVATURE_BITS) as u32 | curvature as u32 & ((1 << CURVATURE_BITS) - 1);
            i += 1;
        }
        table
    }
}

impl WholeTable<64> {
    const fn new(pieces: &[Piece]) -> WholeTable<64> {
        let mut table = WholeTable { constants: [0; 64], slopes: [0; 64], curvatures: [0; 64] };
        let mut i = 0;
        while i < pieces.len() {
            table.constants[i] = pieces[i].0;
            table.slopes[i] = pieces[i].1 as u32;
            table.curvatures[i] = pieces[i].2 as u32;
            i += 1;
        }
        table
    }
}

static RCP: FractionTable<128> = FractionTable::new(&tables::RCP, RCP_ROUNDING);
static RSQRT: FractionTable<128> = FractionTable::new(&tables::RSQRT, ROOT_ROUNDING);
static SQRT: FractionTable<128> = FractionTable::new(&tables::SQRT, ROOT_ROUNDING);
static EX2: FractionTable<64> = FractionTable::new(&tables::EX2, EX2_ROUNDING);
static LG2: WholeTable<64> = WholeTable::new(&tables::LG2);
static SIN: WholeTable<64> = WholeTable::new(&tables::SIN);
static TANH: WholeTable<64> = WholeTable::new(&tables::TANH);
static TANH_FIRST: [u32; 32] = tanh_octaves(false);
static TANH_SHIFT: [u32; 32] = tanh_octaves(true);

/// First pieces, or how far fractions are shifted, of the octaves of [`TANH_OCTAVES`].
const fn tanh_octaves(shifts: bool) -> [u32; 32] {
    let (mut column, mut i) = ([0; 32], 0);
    while i < TANH_OCTAVES.len() {
        let (first, bits) = TANH_OCTAVES[i];
        column[i] = if shifts { 23 - bits } else { first as u32 };
        i += 1;
    }
    column
}

/// Functions that are compiled for these vectors.
macro_rules! vector_functions {
    ($($(#[$doc:meta])* fn $name:ident$(<const $n:ident: usize>)?($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            fn $name$(<const $n: usize>)?($($arg: $ty),*) -> $ret $body
        )*
    };
}

vector_functions! {
    fn all(word: u32) -> Words { _mm512_set1_epi32(word as i32) }
    fn and(a: Words, mask: u32) -> Words { _mm512_and_si512(a, all(mask)) }
    fn add(a: Words, b: Words) -> Words { _mm512_add_epi32(a, b) }
    fn or(a: Words, b: Words) -> Words { _mm512_or_si512(a, b) }
    fn product(a: Words, b: Words) -> Words { _mm512_mullo_epi32(a, b) }
    fn select(condition: __mmask16, a: Words, b: Words) -> Words { _mm512_mask_blend_epi32(condition, b, a) }
    fn equal(a: Words, b: u32) -> __mmask16 { _mm512_cmpeq_epi32_mask(a, all(b)) }
    fn is_nan(a: Words, infinity: u32) -> __mmask16 { _mm512_cmpgt_epu32_mask(and(a, !SIGN), all(infinity)) }
    fn times(a: Words, by: f32) -> Words {
        _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_set1_ps(by)))
    }

    /// The entries of a table of 32, 64 or 128 words.
    fn lookup<const N: usize>(table: &[u32; N], index: Words) -> Words {
        const { assert!(N == 32 || N == 64 || N == 128) };
        let of_32 = |first: usize| {
            let half = |at: usize| {
                // SAFETY: the table has `N` words, and `first` is below it by 32 or more.
                unsafe { _mm512_loadu_epi32(table.as_ptr().cast::<i32>().add(at)) }
            };
            _mm512_permutex2var_epi32(half(first), index, half(first + 16))
        };
        let of_64 = |first: usize| {
            let upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
            _mm512_mask_blend_epi32(upper, of_32(first), of_32(first + 32))
        };
        match N {
            32 => of_32(0),
            64 => of_64(0),
            _ => {
                let upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(64));
                _mm512_mask_blend_epi32(upper, of_64(0), of_64(64))
            }
        }
    }

    /// The square of numbers of 17 bits as the unit forms it: products of two bits at a time.
    fn truncated_square(position: Words) -> Words {
        const fn kept(bit: u32) -> u32 { 0x1ff & !((1 << (9 - bit)) - 1) }
        let (high, low) = (_mm512_srli_epi32::<9>(position), and(position, 0x1ff));
        let (highs, lows) = (or(high, _mm512_slli_epi32::<16>(high)), or(low, _mm512_slli_epi32::<16>(low)));
        let pair = |a: u32, b: u32| {
            _mm512_madd_epi16(and(lows, kept(a) | kept(b) << 16), and(highs, 1 << a | 1 << (b + 16)))
        };
        // The last bit, beside 2^8 times the square of the upper bits.
        let scaled = _mm512_slli_epi32::<20>(high);
        let last = _mm512_madd_epi16(or(and(low, kept(1)), scaled), or(and(high, 2), scaled));
        let sum = add(add(pair(7, 6), pair(5, 4)), add(pair(3, 2), last));
        _mm512_srli_epi32::<9>(sum)
    }

    /// Mantissas of 24 bits, less 2^23.
    fn fraction<const N: usize>(table: &FractionTable<N>, piece: Words, position: Words) -> Words {
        let (constant, others) = (lookup(&table.constants, piece), lookup(&table.others, piece));
        let slope = _mm512_srai_epi32::<13>(others);
        let curvature = _mm512_srai_epi32::<18>(_mm512_slli_epi32::<19>(others));
        let square = product(curvature, truncated_square(position));
        let behind = add(add(product(and(slope, 0x1ff), position), square), all(table.behind as u32));
        let before = add(product(_mm512_srai_epi32::<9>(slope), position), constant);
        _mm512_srli_epi32::<8>(add(_mm512_srai_epi32::<9>(behind), before))
    }

    /// Integers as doubles.
    fn doubles(a: Words) -> Doubles {
        [_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64::<1>(a)].map(|half| _mm512_cvtepi32_pd(half))
    }

    /// Whole sums in units of 2^-17, less the rounding.
    fn sum(table: &WholeTable<64>, piece: Words, position: Words) -> Doubles {
        let constant = doubles(lookup(&table.constants, piece));
        let (slope, curvature) = (doubles(lookup(&table.slopes, piece)), doubles(lookup(&table.curvatures, piece)));
        let square = doubles(_mm512_slli_epi32::<1>(truncated_square(position)));
        let position = doubles(position);
        [0, 1].map(|half| {
            let constant = _mm512_mul_pd(constant[half], _mm512_set1_pd(16_384.0));
            let rest = _mm512_fmadd_pd(curvature[half], square[half], constant);
            _mm512_fmadd_pd(slope[half], position[half], rest)
        })
    }

    /// Doubles times a power of two, truncated to single precision.
    fn truncated(a: Doubles, unit: f64) -> Words {
        let mask = _mm512_castsi512_pd(_mm512_set1_epi64(!0x1fff_ffff));
        let [low, high] = a.map(|half| _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_and_pd(half, mask), _mm512_set1_pd(unit))));
        _mm512_castps_si512(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high))
    }

    fn rcp_ftz(a: Words) -> Words {
        let bits = and(a, 0x7f_ffff);
        let position = _mm512_slli_epi32::<1>(and(bits, 0xffff));
        let mantissa = fraction(&RCP, _mm512_srli_epi32::<16>(bits), position);
        let field = and(a, INFINITY);
        let r = add(_mm512_sub_epi32(all(253 << 23), field), mantissa);
        let normal = _mm512_cmpgt_epi32_mask(r, all((1 << 23) - 1));
        let r = _mm512_maskz_mov_epi32(normal, r);
        let r = or(and(a, SIGN), select(equal(field, 0), all(INFINITY), r));
        select(is_nan(a, INFINITY), all(NAN), r)
    }

    fn rcp(a: Words) -> Words {
        let field = and(a, INFINITY);
        let large = _mm512_cmpgt_epi32_mask(field, all(252 << 23));
        let scale = select(equal(field, 0), all(0x4b80_0000), select(large, all(0x3e80_0000), all(ONE)));
        let scale = _mm512_castsi512_ps(scale);
        let r = rcp_ftz(_mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), scale)));
        let r = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(r), scale));
        select(is_nan(a, INFINITY), all(NAN), r)
    }

    /// Mantissas of roots, less 2^23, of fractions of 23 bits; `odd` is 64 where the exponent is odd.
    fn root(table: &FractionTable<128>, bits: Words, odd: Words) -> Words {
        fraction(table, add(_mm512_srli_epi32::<17>(bits), odd), and(bits, 0x1_ffff))
    }

    /// What roots and logarithms have in common: results of infinity and of zero, none of negative numbers.
    fn of_positive(a: Words, r: Words, of_infinity: u32, of_zero: Words) -> Words {
        let r = select(equal(a, INFINITY), all(of_infinity), r);
        let r = select(_mm512_movepi32_mask(a), all(NAN), r);
        let r = select(equal(and(a, INFINITY), 0), of_zero, r);
        select(is_nan(a, INFINITY), all(NAN), r)
    }

    /// 64 where an exponent is odd, and half the exponent where the field is.
    fn root_exponent(a: Words) -> (Words, Words) {
        let odd = and(_mm512_srli_epi32::<17>(_mm512_xor_si512(a, all(1 << 23))), 64);
        let half = _mm512_srai_epi32::<24>(_mm512_sub_epi32(a, all(ONE)));
        (odd, _mm512_slli_epi32::<23>(half))
    }

    fn rsqrt_ftz(a: Words) -> Words {
        let (odd, half) = root_exponent(a);
        let mantissa = root(&RSQRT, and(a, 0x7f_ffff), odd);
        let mantissa = select(equal(and(a, 0xff_ffff), 0x80_0000), all(0x80_0000), mantissa);
        let r = add(_mm512_sub_epi32(all(126 << 23), half), mantissa);
        of_positive(a, r, 0, or(and(a, SIGN), all(INFINITY)))
    }

    fn sqrt_ftz(a: Words) -> Words {
        let (odd, half) = root_exponent(a);
        let r = add(add(all(ONE), half), root(&SQRT, and(a, 0x7f_ffff), odd));
        of_positive(a, r, INFINITY, and(a, SIGN))
    }

    /// Where numbers are subnormal or zero.
    fn is_subnormal(a: Words) -> __mmask16 { equal(and(a, INFINITY), 0) }

    /// Numbers, the subnormal ones of them times 2^24.
    fn scaled(a: Words) -> Words { select(is_subnormal(a), times(a, 16_777_216.0), a) }

    fn rsqrt(a: Words) -> Words {
        let r = rsqrt_ftz(scaled(a));
        select(is_subnormal(a), times(r, 4096.0), r)
    }

    fn sqrt(a: Words) -> Words {
        let r = sqrt_ftz(scaled(a));
        select(is_subnormal(a), times(r, 1.0 / 4096.0), r)
    }

    fn ex2_ftz(a: Words) -> Words {
        // Powers of numbers beyond are infinite or zero, as those of the limit are.
        let limited = _mm512_min_epu32(and(a, !SIGN), all(0x4300_0000));
        let fixed = _mm512_cvttps_epi32(_mm512_castsi512_ps(times(limited, 8_388_608.0)));
        let negative = _mm512_srai_epi32::<31>(a);
        let whole = _mm512_maskz_mov_epi32(equal(and(fixed, 0x7f_ffff), 0), negative);
        let x = _mm512_sub_epi32(_mm512_xor_si512(fixed, negative), whole);
        let bits = and(x, 0x7f_ffff);
        let mantissa = fraction(&EX2, _mm512_srli_epi32::<17>(bits), and(bits, 0x1_ffff));
        let r = add(add(and(x, 0xff80_0000), all(ONE)), mantissa);
        let normal = _mm512_cmpgt_epi32_mask(r, all((1 << 23) - 1));
        select(is_nan(a, INFINITY), all(NAN), _mm512_maskz_mov_epi32(normal, r))
    }

    fn ex2(a: Words) -> Words {
        // Below -126 the power is the square of that of half the argument.
        let small = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_castsi512_ps(a), _mm512_set1_ps(-126.0));
        let r = ex2_ftz(select(small, times(a, 0.5), a));
        let root = _mm512_castsi512_ps(r);
        select(small, _mm512_castps_si512(_mm512_mul_ps(root, root)), r)
    }

    fn lg2_ftz(a: Words) -> Words {
        let bits = and(a, 0x7f_ffff);
        let mantissas = sum(&LG2, _mm512_srli_epi32::<17>(bits), and(bits, 0x1_ffff));
        let exponent = doubles(_mm512_sub_epi32(and(_mm512_srli_epi32::<23>(a), 0xff), all(128)));
        // In units of 2^-36; n of numbers from 0 on, and -n - 1 of those below.
        let fixed = [0, 1].map(|half| {
            let mantissas = _mm512_add_pd(mantissas[half], _mm512_set1_pd(LG2_ROUNDING as f64));
            let exponent = _mm512_mul_pd(exponent[half], _mm512_set1_pd((1_u64 << 40) as f64));
            let fixed = _mm512_mul_pd(_mm512_add_pd(mantissas, exponent), _mm512_set1_pd(1.0 / 16.0));
            _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(fixed)
        });
        let half = _mm512_set1_pd(0.5);
        let magnitude = fixed.map(|fixed| _mm512_sub_pd(_mm512_abs_pd(_mm512_add_pd(fixed, half)), half));
        let [low, high] = fixed.map(|fixed| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(fixed, _mm512_setzero_pd()));
        let negative = u16::from(low) | u16::from(high) << 8;
        let r = truncated(magnitude, 1.0 / (1_u64 << 36) as f64);
        let r = or(r, _mm512_maskz_mov_epi32(negative, all(SIGN)));
        let r = select(equal(a, ONE), all(0), r);
        of_positive(a, r, INFINITY, all(SIGN | INFINITY))
    }

    fn lg2(a: Words) -> Words {
        let r = lg2_ftz(scaled(a));
        let less = _mm512_sub_ps(_mm512_castsi512_ps(r), _mm512_set1_ps(24.0));
        select(is_subnormal(a), _mm512_castps_si512(less), r)
    }

    fn sin_or_cos(a: Words, cosine: u32) -> Words {
        // 1 / (2 pi) in single precision: the product is exact, and then truncated.
        let magnitude = _mm512_castsi512_ps(and(a, !SIGN));
        let halves = [_mm512_castps512_ps256(magnitude), _mm512_extractf32x8_ps::<1>(magnitude)];
        let [low, high] = halves.map(|half| {
            let inverse = _mm512_set1_pd(f64::from(f32::from_bits(INVERSE_TURN)));
            let turns = _mm512_mul_pd(_mm512_cvtps_pd(half), inverse);
            let turns = _mm512_and_pd(turns, _mm512_castsi512_pd(_mm512_set1_epi64(!0x1fff_ffff)));
            let whole = _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(turns);
            _mm512_cvttpd_epi32(_mm512_mul_pd(_mm512_sub_pd(turns, whole), _mm512_set1_pd(33_554_432.0)))
        });
        let phase = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let quarter = add(_mm512_srli_epi32::<23>(phase), all(cosine));
        let odd = _mm512_sub_epi32(all(0), and(quarter, 1));
        let place = and(_mm512_xor_si512(phase, odd), 0x7f_ffff);
        let value = sum(&SIN, _mm512_srli_epi32::<17>(place), and(place, 0x1_ffff));
        let value = truncated(value, 1.0 / (1_u64 << 41) as f64);
        let sign = if cosine == 0 { and(a, SIGN) } else { all(0) };
        let sign = _mm512_xor_si512(sign, _mm512_slli_epi32::<30>(and(quarter, 2)));
        select(equal(and(a, INFINITY), INFINITY), all(NAN), _mm512_xor_si512(value, sign))
    }

    fn sin(a: Words) -> Words { sin_or_cos(a, 0) }

    fn cos(a: Words) -> Words { sin_or_cos(a, 1) }

    fn tanh(a: Words) -> Words {
        let field = and(_mm512_srli_epi32::<23>(a), 0xff);
        let octave = _mm512_sub_epi32(_mm512_max_epu32(_mm512_min_epu32(field, all(129)), all(119)), all(119));
        let place = _mm512_srlv_epi32(and(a, 0x7f_ffff), lookup(&TANH_SHIFT, octave));
        let piece = add(lookup(&TANH_FIRST, octave), _mm512_srli_epi32::<17>(place));
        let value = truncated(sum(&TANH, piece, and(place, 0x1_ffff)), 1.0 / (1_u64 << 41) as f64);
        let value = select(_mm512_cmpgt_epu32_mask(field, all(129)), all(ONE), value);
        let r = or(value, and(a, SIGN));
        let r = select(_mm512_cmplt_epu32_mask(field, all(119)), a, r);
        select(is_nan(a, INFINITY), all(NAN), r)
    }

    /// `rcp.approx.ftz.f64` of upper words.
    fn rcp_upper_word(a: Words) -> Words {
        let bits = _mm512_slli_epi32::<3>(and(a, 0xf_ffff));
        let position = _mm512_slli_epi32::<1>(and(bits, 0xffff));
        let mantissa = fraction(&RCP, _mm512_srli_epi32::<16>(bits), position);
        let field = and(a, 0x7ff0_0000);
        let r = add(_mm512_sub_epi32(all(2045 << 20), field), _mm512_srli_epi32::<3>(mantissa));
        let normal = _mm512_cmpgt_epi32_mask(r, all((1 << 20) - 1));
        let r = _mm512_maskz_mov_epi32(normal, r);
        let r = or(and(a, SIGN), select(equal(field, 0), all(0x7ff0_0000), r));
        select(is_nan(a, 0x7ff0_0000), all(NAN), r)
    }

    /// `rsqrt.approx.ftz.f64` of upper words.
    fn rsqrt_upper_word(a: Words) -> Words {
        let odd = and(_mm512_srli_epi32::<14>(_mm512_xor_si512(a, all(1 << 20))), 64);
        let half = _mm512_srai_epi32::<21>(_mm512_sub_epi32(a, all(1023 << 20)));
        let mantissa = root(&RSQRT, _mm512_slli_epi32::<3>(and(a, 0xf_ffff)), odd);
        let mantissa = select(equal(and(a, 0x1f_ffff), 0x10_0000), all(0x80_0000), mantissa);
        let r = _mm512_sub_epi32(all(1022 << 20), _mm512_slli_epi32::<20>(half));
        let r = add(r, _mm512_srli_epi32::<3>(mantissa));
        let r = select(equal(a, 0x7ff0_0000), all(0), r);
        let r = select(_mm512_movepi32_mask(a), all(NAN), r);
        let r = select(equal(and(a, 0x7ff0_0000), 0), or(and(a, SIGN), all(0x7ff0_0000)), r);
        select(is_nan(a, 0x7ff0_0000), all(NAN), r)
    }
}

/// Words that compiled code has just stored: they are loaded as they were stored, 16 bytes at a time, for the processor
/// forwards no two stores to one load.
///
/// # Safety
/// `N` times 16 bytes from `at` on may be read, and are aligned to 16.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn stored_words<const N: usize>(at: *const __m128i) -> Words {
    const { assert!(N == 2 || N == 4) };
    // SAFETY: the caller's promise.
    unsafe {
        let words = _mm512_zextsi128_si512(at.read_volatile());
        let words = _mm512_inserti64x2::<1>(words, at.add(1).read_volatile());
        if N == 2 {
            return words;
        }
        let words = _mm512_inserti64x2::<2>(words, at.add(2).read_volatile());
        _mm512_inserti64x2::<3>(words, at.add(3).read_volatile())
    }
}

/// Defines functions that compiled code calls: for the lanes of a chunk, and for those of a warp.
macro_rules! entries_of_words {
    ($($entry:ident $of_warp:ident = $function:ident;)*) => {
        $(
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) extern "C" fn $entry(lanes: &mut [u32; LANES]) {
                let at = lanes.as_mut_ptr().cast::<__m128i>();
                // SAFETY: the array has eight words, and compiled code aligns it to 16 bytes.
                unsafe { _mm256_storeu_si256(at.cast(), _mm512_castsi512_si256($function(stored_words::<2>(at)))) };
            }

            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) extern "C" fn $of_warp(lanes: &mut [u32; WARP_LANES]) {
                let at = lanes.as_mut_ptr().cast::<__m128i>();
                // SAFETY: the array has twice sixteen words, and compiled code aligns it to 16 bytes.
                unsafe {
                    let (low, high) = (stored_words::<4>(at), stored_words::<4>(at.add(4)));
                    _mm512_storeu_si512(at.cast(), $function(low));
                    _mm512_storeu_si512(at.add(4).cast(), $function(high));
                }
            }
        )*
    };
}

entries_of_words! {
    rcp_lanes rcp_warp = rcp;
    rcp_ftz_lanes rcp_ftz_warp = rcp_ftz;
    rsqrt_lanes rsqrt_warp = rsqrt;
    rsqrt_ftz_lanes rsqrt_ftz_warp = rsqrt_ftz;
    sqrt_lanes sqrt_warp = sqrt;
    sqrt_ftz_lanes sqrt_ftz_warp = sqrt_ftz;
    ex2_lanes ex2_warp = ex2;
    ex2_ftz_lanes ex2_ftz_warp = ex2_ftz;
    lg2_lanes lg2_warp = lg2;
    lg2_ftz_lanes lg2_ftz_warp = lg2_ftz;
    sin_lanes sin_warp = sin;
    cos_lanes cos_warp = cos;
    tanh_lanes tanh_warp = tanh;
}

/// Defines functions of the upper words of doubles that compiled code calls.
macro_rules! entries_of_doubles {
    ($($entry:ident = $function:ident;)*) => {
        $(
            #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) extern "C" fn $entry(lanes: &mut [u64; LANES]) {
                // SAFETY: the array has eight doubles, and compiled code aligns it to 16 bytes.
                unsafe {
                    let all = stored_words::<4>(lanes.as_mut_ptr().cast());
                    let upper = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(all));
                    let r = _mm512_castsi512_si256($function(_mm512_castsi256_si512(upper)));
                    let r = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(r));
                    _mm512_storeu_epi64(lanes.as_mut_ptr().cast(), r);
                }
            }
        )*
    };
}

entries_of_doubles! {
    rcp_f64_lanes = rcp_upper_word;
    rsqrt_f64_lanes = rsqrt_upper_word;
}
