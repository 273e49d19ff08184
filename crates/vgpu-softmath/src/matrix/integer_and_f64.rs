//! Products of integers and of doubles, compiled for the vectors that the processor has.
#![allow(unsafe_code, reason = "functions for instruction sets, called where the processor has them")]

use super::{DOUBLE_NAN_ORDER, MmaRegisters, UnpackedMatrices, WARP_REGISTER_WORDS, fragment_packing};
use crate::arith::{FloatOp, execute_float_op};
use crate::float::{self, FloatFormat, RoundMode};
use crate::float_mode::FloatMode;
use rtcg_ptx::ast::{MatrixProduct, Rounding};

/// Products of integers.
pub(super) fn multiply_integers(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
        fn multiply_integers_avx512(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
            multiply_integers_for_capacity(form, planes);
        }
        #[target_feature(enable = "avx2")]
        fn multiply_integers_avx2(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
            multiply_integers_for_capacity(form, planes);
        }
        if super::has_avx512() {
            // SAFETY: the processor has these instructions.
            return unsafe { multiply_integers_avx512(form, planes) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { multiply_integers_avx2(form, planes) };
        }
    }
    multiply_integers_for_capacity(form, planes);
}

#[inline(always)]
fn multiply_integers_for_capacity(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    if super::matrices_fit(form, 512) {
        unpack_and_multiply_integers::<512>(form, planes)
    } else {
        unpack_and_multiply_integers::<2048>(form, planes)
    }
}

#[inline(always)]
fn unpack_and_multiply_integers<const CAP: usize>(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    let mut all = UnpackedMatrices::<CAP>::unpack_fragments(form, planes);
    fragment_packing::sign_extend(form.a, &mut all.a);
    fragment_packing::sign_extend(form.b, &mut all.b);
    multiply_integers_by_n(form, &mut all);
    all.pack_results(form, planes);
}

#[inline(always)]
fn multiply_integers_by_n<const CAP: usize>(form: &MatrixProduct, all: &mut UnpackedMatrices<CAP>) {
    match form.shape.n {
        8 => multiply_integers_unrolled::<8, CAP>(form, all),
        16 => multiply_integers_unrolled::<16, CAP>(form, all),
        _ => multiply_integers_unrolled::<32, CAP>(form, all),
    }
}

#[inline(always)]
fn multiply_integers_unrolled<const N: usize, const CAP: usize>(form: &MatrixProduct, all: &mut UnpackedMatrices<CAP>) {
    let (m, k) = (form.shape.m as usize, form.shape.k as usize);
    for i in 0..m {
        let mut sums = [0_i32; N];
        for (&x, row) in all.a[i * k..(i + 1) * k].iter().zip(all.b.as_chunks::<N>().0) {
            for j in 0..N {
                sums[j] = sums[j].wrapping_add((x as i32).wrapping_mul(row[j] as i32));
            }
        }
        for (c, s) in all.c[i * N..(i + 1) * N].iter_mut().zip(sums) {
            let old = *c as i32;
            *c = if form.satfinite { old.saturating_add(s) } else { old.wrapping_add(s) } as u32;
        }
    }
}

/// The largest matrices of doubles: those of `mma.m16n8k16`.
struct DoubleMatrices {
    a: [f64; 256],
    b: [f64; 128],
    c: [f64; 128],
}

/// Products of doubles: chains of fused multiply-adds.
pub(super) fn multiply_doubles(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    let mut all = DoubleMatrices { a: [0.0; 256], b: [0.0; 128], c: [0.0; 128] };
    let (m, k) = (form.shape.m as usize, form.shape.k as usize);
    let halves = m / 8;
    let at = |plane: usize, lane: usize| (plane * WARP_REGISTER_WORDS + lane) * 2;
    let read = |from: &[u32], word: usize| f64::from_bits(u64::from(from[word]) | u64::from(from[word + 1]) << 32);
    for lane in 0..WARP_REGISTER_WORDS {
        let (g, t) = (lane / 4, lane % 4);
        for r in 0..halves * k / 4 {
            all.a[(r % halves * 8 + g) * k + r / halves * 4 + t] = read(planes.a, at(r, lane));
        }
        for r in 0..k / 4 {
            all.b[(r * 4 + t) * 8 + g] = read(planes.b, at(r, lane));
        }
        for r in 0..halves * 2 {
            all.c[(r / 2 * 8 + g) * 8 + t * 2 + r % 2] = read(planes.c, at(r, lane));
        }
    }
    multiply_doubles_with_rounding(form, &mut all);
    for (lane, r) in (0..WARP_REGISTER_WORDS).flat_map(|lane| (0..halves * 2).map(move |r| (lane, r))) {
        let (g, t) = (lane / 4, lane % 4);
        let (row, col) = (r / 2 * 8 + g, t * 2 + r % 2);
        let sum = all.c[row * 8 + col];
        let bits = if sum.is_nan() {
            element_that_is_nan(form, &all, read(planes.c, at(r, lane)).to_bits(), row, col)
        } else {
            sum.to_bits()
        };
        planes.d[at(r, lane)] = bits as u32;
        planes.d[at(r, lane) + 1] = (bits >> 32) as u32;
    }
}

/// An element of the sum that begins with `c`: each step keeps one NaN, or makes one.
#[cold]
fn element_that_is_nan(form: &MatrixProduct, all: &DoubleMatrices, c: u64, row: usize, col: usize) -> u64 {
    let (k, mode) = (form.shape.k as usize, FloatMode { rnd: rounding_of_doubles(form), ..FloatMode::default() });
    (0..k).fold(c, |sum, l| {
        let (x, y) = (all.a[row * k + l].to_bits(), all.b[l * 8 + col].to_bits());
        let f = FloatFormat::F64;
        match DOUBLE_NAN_ORDER.map(|i| [x, y, sum][i]).into_iter().find(|&operand| f.is_nan(operand)) {
            Some(nan) => f.quiet_nan(nan),
            None => execute_float_op(FloatOp::Fma, f, mode, x, y, sum),
        }
    })
}

fn rounding_of_doubles(form: &MatrixProduct) -> RoundMode {
    match form.rnd {
        Rounding::Rz => RoundMode::Zero,
        Rounding::Rm => RoundMode::Down,
        Rounding::Rp => RoundMode::Up,
        _ => RoundMode::Nearest,
    }
}

fn multiply_doubles_with_rounding(form: &MatrixProduct, all: &mut DoubleMatrices) {
    let rnd = match rounding_of_doubles(form) {
        RoundMode::Nearest => {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn multiply_doubles_avx2(form: &MatrixProduct, all: &mut DoubleMatrices) {
                    multiply_with_fma(form, all, f64::mul_add);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has these instructions.
                    return unsafe { multiply_doubles_avx2(form, all) };
                }
            }
            return multiply_with_fma(form, all, f64::mul_add);
        }
        rnd => rnd,
    };
    multiply_with_fma(form, all, |x, y, z| {
        let [x, y, z] = [x, y, z].map(|v| float::unpack_float(FloatFormat::F64, v.to_bits()));
        f64::from_bits(float::fma_rounded(FloatFormat::F64, rnd, x, y, z))
    });
}

#[inline(always)]
fn multiply_with_fma(form: &MatrixProduct, all: &mut DoubleMatrices, fma: impl Fn(f64, f64, f64) -> f64) {
    let (m, k) = (form.shape.m as usize, form.shape.k as usize);
    for i in 0..m {
        for l in 0..k {
            let x = all.a[i * k + l];
            for j in 0..8 {
                all.c[i * 8 + j] = fma(x, all.b[l * 8 + j], all.c[i * 8 + j]);
            }
        }
    }
}
