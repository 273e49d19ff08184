//! Vectors of single-precision floats and 32-bit integers, for each instruction set.
#![allow(unsafe_code, reason = "vector instructions on pointers into tiles")]

use super::exact::SUM_FRACTION_BITS;

/// Vectors of one instruction set.
///
/// # Safety
/// The functions may only be called where the processor has the instruction set; the pointers of
/// loads and stores are good for [`SimdVector::WIDTH`] elements.
pub(super) unsafe trait SimdVector {
    const WIDTH: usize;
    type Floats: Copy;
    type Ints: Copy;
    unsafe fn load_f32(at: *const f32) -> Self::Floats;
    unsafe fn load_i32(at: *const i32) -> Self::Ints;
    unsafe fn store_f32(at: *mut f32, v: Self::Floats);
    unsafe fn splat_f32(v: f32) -> Self::Floats;
    unsafe fn splat_i32(v: i32) -> Self::Ints;
    unsafe fn mul_float(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    unsafe fn add_int(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    unsafe fn max_int(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// To an integer, towards zero.
    unsafe fn to_int_truncating(v: Self::Floats) -> Self::Ints;
    /// `2^(25 - top)`
    unsafe fn scale_for_exponent(top: Self::Ints) -> Self::Floats;
    /// `(a + b) * 2^(top - 25)` cut towards zero or rounded to odd; a sum of 0 gives +0.
    unsafe fn add_scale_and_round(a: Self::Ints, b: Self::Ints, top: Self::Ints, odd: bool) -> Self::Floats;
}

/// Bits of a double's fraction that single precision does not have.
const F64_FRACTION_BITS_BEYOND_F32: u64 = (1 << 29) - 1;

/// Any processor.
pub(super) struct PortableVector;

// SAFETY: needs nothing of the processor.
unsafe impl SimdVector for PortableVector {
    const WIDTH: usize = 8;
    type Floats = [f32; 8];
    type Ints = [i32; 8];
    #[inline(always)]
    unsafe fn load_f32(at: *const f32) -> [f32; 8] {
        // SAFETY: by contract.
        unsafe { at.cast::<[f32; 8]>().read() }
    }
    #[inline(always)]
    unsafe fn load_i32(at: *const i32) -> [i32; 8] {
        // SAFETY: by contract.
        unsafe { at.cast::<[i32; 8]>().read() }
    }
    #[inline(always)]
    unsafe fn store_f32(at: *mut f32, v: [f32; 8]) {
        // SAFETY: by contract.
        unsafe { at.cast::<[f32; 8]>().write(v) };
    }
    #[inline(always)]
    unsafe fn splat_f32(v: f32) -> [f32; 8] {
        [v; 8]
    }
    #[inline(always)]
    unsafe fn splat_i32(v: i32) -> [i32; 8] {
        [v; 8]
    }
    #[inline(always)]
    unsafe fn mul_float(a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        std::array::from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    unsafe fn add_int(a: [i32; 8], b: [i32; 8]) -> [i32; 8] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    unsafe fn max_int(a: [i32; 8], b: [i32; 8]) -> [i32; 8] {
        std::array::from_fn(|i| a[i].max(b[i]))
    }
    #[inline(always)]
    unsafe fn to_int_truncating(v: [f32; 8]) -> [i32; 8] {
        v.map(|x| x as i32)
    }
    #[inline(always)]
    unsafe fn scale_for_exponent(top: [i32; 8]) -> [f32; 8] {
        top.map(|t| f32::from_bits(((SUM_FRACTION_BITS + 127 - t) << 23) as u32))
    }
    #[inline(always)]
    unsafe fn add_scale_and_round(a: [i32; 8], b: [i32; 8], top: [i32; 8], odd: bool) -> [f32; 8] {
        std::array::from_fn(|i| {
            let bits = (f64::from(a[i]) + f64::from(b[i])).to_bits();
            let sticky =
                if odd && bits & F64_FRACTION_BITS_BEYOND_F32 != 0 { F64_FRACTION_BITS_BEYOND_F32 + 1 } else { 0 };
            let cut = f64::from_bits(bits & !F64_FRACTION_BITS_BEYOND_F32 | sticky);
            let unit = f64::from_bits(((top[i] - SUM_FRACTION_BITS + 1023) as u64) << 52);
            (cut * unit) as f32
        })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::{F64_FRACTION_BITS_BEYOND_F32, SUM_FRACTION_BITS, SimdVector};
    use std::arch::x86_64::*;

    pub(in super::super) struct Avx2Vector;

    impl Avx2Vector {
        /// [`SimdVector::add_scale_and_round`] for half the lanes.
        ///
        /// # Safety
        /// As there.
        #[inline(always)]
        unsafe fn add_scale_and_round_half(a: __m128i, b: __m128i, top: __m128i, odd: bool) -> __m128 {
            // SAFETY: by contract.
            unsafe {
                let sum = _mm256_castpd_si256(_mm256_add_pd(_mm256_cvtepi32_pd(a), _mm256_cvtepi32_pd(b)));
                let beyond = _mm256_set1_epi64x(F64_FRACTION_BITS_BEYOND_F32 as i64);
                let mut cut = _mm256_andnot_si256(beyond, sum);
                if odd {
                    // A remainder carries into the bit above it.
                    let sticky = _mm256_add_epi64(_mm256_and_si256(beyond, sum), beyond);
                    cut = _mm256_or_si256(cut, _mm256_andnot_si256(beyond, sticky));
                }
                let unit = _mm256_cvtepi32_epi64(_mm_add_epi32(top, _mm_set1_epi32(1023 - SUM_FRACTION_BITS)));
                let unit = _mm256_castsi256_pd(_mm256_slli_epi64::<52>(unit));
                _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_castsi256_pd(cut), unit))
            }
        }
    }

    // SAFETY: every function needs AVX2 only.
    unsafe impl SimdVector for Avx2Vector {
        const WIDTH: usize = 8;
        type Floats = __m256;
        type Ints = __m256i;
        #[inline(always)]
        unsafe fn load_f32(at: *const f32) -> __m256 {
            // SAFETY: by contract.
            unsafe { _mm256_loadu_ps(at) }
        }
        #[inline(always)]
        unsafe fn load_i32(at: *const i32) -> __m256i {
            // SAFETY: by contract.
            unsafe { _mm256_loadu_si256(at.cast()) }
        }
        #[inline(always)]
        unsafe fn store_f32(at: *mut f32, v: __m256) {
            // SAFETY: by contract.
            unsafe { _mm256_storeu_ps(at, v) };
        }
        #[inline(always)]
        unsafe fn splat_f32(v: f32) -> __m256 {
            // SAFETY: by contract.
            unsafe { _mm256_set1_ps(v) }
        }
        #[inline(always)]
        unsafe fn splat_i32(v: i32) -> __m256i {
            // SAFETY: by contract.
            unsafe { _mm256_set1_epi32(v) }
        }
        #[inline(always)]
        unsafe fn mul_float(a: __m256, b: __m256) -> __m256 {
            // SAFETY: by contract.
            unsafe { _mm256_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn add_int(a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: by contract.
            unsafe { _mm256_add_epi32(a, b) }
        }
        #[inline(always)]
        unsafe fn max_int(a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: by contract.
            unsafe { _mm256_max_epi32(a, b) }
        }
        #[inline(always)]
        unsafe fn to_int_truncating(v: __m256) -> __m256i {
            // SAFETY: by contract.
            unsafe { _mm256_cvttps_epi32(v) }
        }
        #[inline(always)]
        unsafe fn scale_for_exponent(top: __m256i) -> __m256 {
            // SAFETY: by contract.
            unsafe {
                let e = _mm256_sub_epi32(_mm256_set1_epi32(SUM_FRACTION_BITS + 127), top);
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(e))
            }
        }
        #[inline(always)]
        unsafe fn add_scale_and_round(a: __m256i, b: __m256i, top: __m256i, odd: bool) -> __m256 {
            // SAFETY: by contract.
            unsafe {
                let low = Self::add_scale_and_round_half(
                    _mm256_castsi256_si128(a),
                    _mm256_castsi256_si128(b),
                    _mm256_castsi256_si128(top),
                    odd,
                );
                let high = Self::add_scale_and_round_half(
                    _mm256_extracti128_si256::<1>(a),
                    _mm256_extracti128_si256::<1>(b),
                    _mm256_extracti128_si256::<1>(top),
                    odd,
                );
                _mm256_set_m128(high, low)
            }
        }
    }

    pub(in super::super) struct Avx512Vector;

    impl Avx512Vector {
        /// [`SimdVector::add_scale_and_round`] for half the lanes.
        ///
        /// # Safety
        /// As there.
        #[inline(always)]
        unsafe fn add_scale_and_round_half(a: __m256i, b: __m256i, top: __m256i, odd: bool) -> __m256 {
            // SAFETY: by contract.
            unsafe {
                let sum = _mm512_castpd_si512(_mm512_add_pd(_mm512_cvtepi32_pd(a), _mm512_cvtepi32_pd(b)));
                let beyond = _mm512_set1_epi64(F64_FRACTION_BITS_BEYOND_F32 as i64);
                let mut cut = _mm512_andnot_si512(beyond, sum);
                if odd {
                    // A remainder carries into the bit above it.
                    let sticky = _mm512_add_epi64(_mm512_and_si512(beyond, sum), beyond);
                    cut = _mm512_or_si512(cut, _mm512_andnot_si512(beyond, sticky));
                }
                let unit = _mm512_cvtepi32_epi64(_mm256_add_epi32(top, _mm256_set1_epi32(1023 - SUM_FRACTION_BITS)));
                let unit = _mm512_castsi512_pd(_mm512_slli_epi64::<52>(unit));
                _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_castsi512_pd(cut), unit))
            }
        }
    }

    // SAFETY: every function needs AVX-512 F and DQ only.
    unsafe impl SimdVector for Avx512Vector {
        const WIDTH: usize = 16;
        type Floats = __m512;
        type Ints = __m512i;
        #[inline(always)]
        unsafe fn load_f32(at: *const f32) -> __m512 {
            // SAFETY: by contract.
            unsafe { _mm512_loadu_ps(at) }
        }
        #[inline(always)]
        unsafe fn load_i32(at: *const i32) -> __m512i {
            // SAFETY: by contract.
            unsafe { _mm512_loadu_si512(at.cast()) }
        }
        #[inline(always)]
        unsafe fn store_f32(at: *mut f32, v: __m512) {
            // SAFETY: by contract.
            unsafe { _mm512_storeu_ps(at, v) };
        }
        #[inline(always)]
        unsafe fn splat_f32(v: f32) -> __m512 {
            // SAFETY: by contract.
            unsafe { _mm512_set1_ps(v) }
        }
        #[inline(always)]
        unsafe fn splat_i32(v: i32) -> __m512i {
            // SAFETY: by contract.
            unsafe { _mm512_set1_epi32(v) }
        }
        #[inline(always)]
        unsafe fn mul_float(a: __m512, b: __m512) -> __m512 {
            // SAFETY: by contract.
            unsafe { _mm512_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn add_int(a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: by contract.
            unsafe { _mm512_add_epi32(a, b) }
        }
        #[inline(always)]
        unsafe fn max_int(a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: by contract.
            unsafe { _mm512_max_epi32(a, b) }
        }
        #[inline(always)]
        unsafe fn to_int_truncating(v: __m512) -> __m512i {
            // SAFETY: by contract.
            unsafe { _mm512_cvttps_epi32(v) }
        }
        #[inline(always)]
        unsafe fn scale_for_exponent(top: __m512i) -> __m512 {
            // SAFETY: by contract.
            unsafe {
                let e = _mm512_sub_epi32(_mm512_set1_epi32(SUM_FRACTION_BITS + 127), top);
                _mm512_castsi512_ps(_mm512_slli_epi32::<23>(e))
            }
        }
        #[inline(always)]
        unsafe fn add_scale_and_round(a: __m512i, b: __m512i, top: __m512i, odd: bool) -> __m512 {
            // SAFETY: by contract.
            unsafe {
                let low = Self::add_scale_and_round_half(
                    _mm512_castsi512_si256(a),
                    _mm512_castsi512_si256(b),
                    _mm512_castsi512_si256(top),
                    odd,
                );
                let high = Self::add_scale_and_round_half(
                    _mm512_extracti64x4_epi64::<1>(a),
                    _mm512_extracti64x4_epi64::<1>(b),
                    _mm512_extracti64x4_epi64::<1>(top),
                    odd,
                );
                _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
            }
        }
    }
}
