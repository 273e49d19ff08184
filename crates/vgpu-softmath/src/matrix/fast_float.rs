//! The sums of [`super::exact`], many at a time.
//!
//! A term cut to a multiple of a power of two is its float, scaled, converted to an integer: that
//! conversion cuts towards zero. So the work is done in single precision and 32-bit integers, with
//! the same result on every processor. It is not done when an element is infinite, no number or so
//! large or small that a scaled term could leave the range of single precision.
#![allow(unsafe_code, reason = "functions for instruction sets, called where the processor has them")]

use super::exact::ZERO_OF_HALF_SUMS;
use super::halves::{f16_to_f32, f32_to_f16, nearest_half};
use super::simd::{PortableVector, SimdVector};
use super::{MIXED_SUM, MmaRegisters, UnpackedMatrices, k_per_step};
use rtcg_ptx::ast::{MatrixProduct, MatrixType};
use std::mem::MaybeUninit;

/// Exponents of factors and of `c` that the quick way can handle. Products have at least twice the
/// first, and scaling brings the largest term to about `2^25`.
const ALLOWED_FACTOR_EXPONENTS: std::ops::RangeInclusive<i32> = -48..=48;
const ALLOWED_ADDEND_EXPONENTS: std::ops::RangeInclusive<i32> = -90..=96;
/// Below every sum of the above.
const MIN_EXPONENT: i32 = -96;
/// The exponent of a zero: it stays below the others when another one is added.
const ZERO_EXPONENT: i32 = -1000;

/// Elements as floats, and the exponents they are aligned by; as many as have been filled in.
struct AlignedElements<const CAP: usize> {
    value: [MaybeUninit<f32>; CAP],
    exponent: [MaybeUninit<i32>; CAP],
}

impl<const CAP: usize> AlignedElements<CAP> {
    fn new() -> Self {
        AlignedElements {
            value: [const { MaybeUninit::uninit() }; CAP],
            exponent: [const { MaybeUninit::uninit() }; CAP],
        }
    }

    fn values_ptr(&self) -> *const f32 {
        self.value.as_ptr().cast()
    }

    fn exponents_ptr(&self) -> *const i32 {
        self.exponent.as_ptr().cast()
    }

    /// Takes `raw` elements of type `ty`; false if the quick way cannot handle one.
    #[inline(always)]
    fn decode_elements(&mut self, ty: MatrixType, raw: &[u32], allowed: &std::ops::RangeInclusive<i32>) -> bool {
        match ty {
            MatrixType::F16 => self.decode_f16(raw),
            MatrixType::BF16 => self.decode_f32(raw, |x| x << 16, allowed),
            MatrixType::TF32 => self.decode_f32(raw, |x| x & 0xffff_e000, allowed),
            _ => self.decode_f32(raw, |x| x, allowed),
        }
    }

    #[inline(always)]
    fn decode_f16(&mut self, raw: &[u32]) -> bool {
        let mut largest = 0;
        for ((&x, value), exponent) in raw.iter().zip(&mut self.value).zip(&mut self.exponent) {
            let magnitude = x & 0x7fff;
            largest = largest.max(magnitude);
            let normal = (magnitude << 13) + (112 << 23);
            let subnormal = (magnitude as i32 as f32 * 2.0_f32.powi(-24)).to_bits();
            let bits = if magnitude < 0x400 { subnormal } else { normal };
            value.write(f32::from_bits(bits | (x & 0x8000) << 16));
            let field = (magnitude >> 10).max(1) as i32 - 15;
            exponent.write(if magnitude == 0 { ZERO_EXPONENT } else { field });
        }
        largest < 0x7c00
    }

    #[inline(always)]
    fn decode_f32(&mut self, raw: &[u32], bits: impl Fn(u32) -> u32, allowed: &std::ops::RangeInclusive<i32>) -> bool {
        let (low, high) = (*allowed.start(), *allowed.end());
        let mut bad = false;
        for ((&x, value), exponent) in raw.iter().zip(&mut self.value).zip(&mut self.exponent) {
            let x = bits(x);
            value.write(f32::from_bits(x));
            let field = (x >> 23 & 0xff) as i32 - 127;
            let zero = x & 0x7fff_ffff == 0;
            bad |= !zero & ((field < low) | (field > high));
            exponent.write(if zero { ZERO_EXPONENT } else { field });
        }
        !bad
    }
}

/// A product of floats, on the vectors that the processor has. All of it is compiled for them, the
/// unpacking of planes too.
pub(super) fn multiply_floats(form: &MatrixProduct, planes: &mut MmaRegisters<'_>, quickly: bool) {
    #[cfg(target_arch = "x86_64")]
    {
        use super::simd::x86::{Avx2Vector, Avx512Vector};
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
        fn multiply_floats_avx512(form: &MatrixProduct, planes: &mut MmaRegisters<'_>, quickly: bool) {
            multiply_floats_for_capacity::<Avx512Vector>(form, planes, quickly);
        }
        #[target_feature(enable = "avx2")]
        fn multiply_floats_avx2(form: &MatrixProduct, planes: &mut MmaRegisters<'_>, quickly: bool) {
            multiply_floats_for_capacity::<Avx2Vector>(form, planes, quickly);
        }
        if form.shape.n >= 16 && super::has_avx512() {
            // SAFETY: the processor has these instructions.
            return unsafe { multiply_floats_avx512(form, planes, quickly) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { multiply_floats_avx2(form, planes, quickly) };
        }
    }
    multiply_floats_for_capacity::<PortableVector>(form, planes, quickly);
}

#[inline(always)]
fn multiply_floats_for_capacity<L: SimdVector>(form: &MatrixProduct, planes: &mut MmaRegisters<'_>, quickly: bool) {
    if super::matrices_fit(form, 256) {
        unpack_and_multiply_floats::<L, 256>(form, planes, quickly);
    } else {
        unpack_and_multiply_floats::<L, 1024>(form, planes, quickly);
    }
}

#[inline(always)]
fn unpack_and_multiply_floats<L: SimdVector, const CAP: usize>(
    form: &MatrixProduct,
    planes: &mut MmaRegisters<'_>,
    quickly: bool,
) {
    let mut all = UnpackedMatrices::<CAP>::unpack_fragments(form, planes);
    let executed = executed_form(form);
    if executed.c != form.c {
        widen_addends(&mut all.c);
    }
    if !(quickly && multiply_floats_simd::<L, CAP>(&executed, &mut all)) {
        super::multiply_floats_exactly(&executed, planes, &mut all);
    }
    if executed.d != form.d {
        narrow_results(&mut all.c);
    }
    all.pack_results(form, planes);
}

/// The product that tensor cores compute. They have none whose `c` and `d` have different types: the device's compiler
/// converts halves of `c` to single precision before one, and results to halves afterwards.
#[inline(always)]
fn executed_form(form: &MatrixProduct) -> MatrixProduct {
    if form.c == form.d { *form } else { MatrixProduct { c: MIXED_SUM, d: MIXED_SUM, ..*form } }
}

#[inline(always)]
fn widen_addends(addends: &mut [u32]) {
    addends.iter_mut().for_each(|c| *c = f16_to_f32(*c).to_bits());
}

#[inline(always)]
fn narrow_results(results: &mut [u32]) {
    results.iter_mut().for_each(|d| *d = f32_to_f16(*d));
}

/// Computes `c = a * b + c` on matrices, or returns false if that has to be done the exact way.
#[inline(always)]
fn multiply_floats_simd<L: SimdVector, const CAP: usize>(
    form: &MatrixProduct,
    all: &mut UnpackedMatrices<CAP>,
) -> bool {
    let (m, n, k) = (form.shape.m as usize, form.shape.n as usize, form.shape.k as usize);
    let (mut a, mut b, mut c) =
        (AlignedElements::<CAP>::new(), AlignedElements::<CAP>::new(), AlignedElements::<CAP>::new());
    let ok = a.decode_elements(form.a, &all.a[..m * k], &ALLOWED_FACTOR_EXPONENTS)
        & b.decode_elements(form.b, &all.b[..k * n], &ALLOWED_FACTOR_EXPONENTS)
        & c.decode_elements(form.c, &all.c[..m * n], &ALLOWED_ADDEND_EXPONENTS);
    if !ok {
        return false;
    }
    let per_step = k_per_step(form);
    let mut sums = [0; CAP];
    for first in (0..k).step_by(per_step) {
        let steps = first..(first + per_step).min(k);
        let job = TensorCoreStep { a: &a, b: &b, steps, k, n, odd: form.d == MatrixType::F16 };
        for i in 0..m {
            for j in (0..n).step_by(L::WIDTH) {
                // SAFETY: i < m and j + L::N <= n, as n is a multiple of L::N; the arrays hold
                // m * k, k * n and m * n elements.
                unsafe { job.accumulate::<L>(&mut c, i, j) };
            }
        }
        // SAFETY: `c` has been filled with m * n values.
        let values = unsafe { std::slice::from_raw_parts(c.values_ptr(), m * n) };
        if k <= per_step {
            encode_results(form.d, values, &mut all.c);
            return true;
        }
        encode_results(form.d, values, &mut sums);
        if first + per_step < k && !c.decode_elements(form.d, &sums[..m * n], &ALLOWED_ADDEND_EXPONENTS) {
            return false;
        }
    }
    all.c = sums;
    true
}

/// The bits of sums; those in half precision have been rounded to odd, and a zero of them is +0.
#[inline(always)]
fn encode_results(ty: MatrixType, sums: &[f32], out: &mut [u32]) {
    if ty == MatrixType::F16 {
        for (o, v) in out.iter_mut().zip(sums) {
            let half = nearest_half(v.to_bits());
            *o = if half & 0x7fff == 0 { ZERO_OF_HALF_SUMS as u32 } else { half };
        }
    } else {
        for (o, v) in out.iter_mut().zip(sums) {
            *o = v.to_bits();
        }
    }
}

/// One step of the tensor core for all elements.
struct TensorCoreStep<'a, const CAP: usize> {
    a: &'a AlignedElements<CAP>,
    b: &'a AlignedElements<CAP>,
    steps: std::ops::Range<usize>,
    k: usize,
    n: usize,
    /// Results are rounded to odd, for another rounding to follow.
    odd: bool,
}

impl<const CAP: usize> TensorCoreStep<'_, CAP> {
    /// Replaces the sums of row `i` and columns `j..j + L::N`.
    ///
    /// # Safety
    /// All elements of the row and the columns exist, and the processor has the instructions of `L`.
    #[inline(always)]
    unsafe fn accumulate<L: SimdVector>(&self, sums: &mut AlignedElements<CAP>, i: usize, j: usize) {
        // SAFETY: by contract.
        unsafe {
            let (a, ea) = (self.a.values_ptr().add(i * self.k), self.a.exponents_ptr().add(i * self.k));
            let (b, eb) = (self.b.values_ptr().add(j), self.b.exponents_ptr().add(j));
            let at = i * self.n + j;
            let mut top = L::max_int(L::splat_i32(MIN_EXPONENT), L::load_i32(sums.exponents_ptr().add(at)));
            for l in self.steps.clone() {
                let e = L::add_int(L::splat_i32(*ea.add(l)), L::load_i32(eb.add(l * self.n)));
                top = L::max_int(top, e);
            }
            let scale = L::scale_for_exponent(top);
            // Two sums, because seventeen terms may need 33 bits.
            let mut even = L::to_int_truncating(L::mul_float(L::load_f32(sums.values_ptr().add(at)), scale));
            let mut odd = L::splat_i32(0);
            let term = |l: usize| {
                let product = L::mul_float(L::splat_f32(*a.add(l)), L::load_f32(b.add(l * self.n)));
                L::to_int_truncating(L::mul_float(product, scale))
            };
            for l in self.steps.clone().step_by(2) {
                even = L::add_int(even, term(l));
                odd = L::add_int(odd, term(l + 1));
            }
            L::store_f32(
                sums.value.as_mut_ptr().cast::<f32>().add(at),
                L::add_scale_and_round(even, odd, top, self.odd),
            );
        }
    }
}
