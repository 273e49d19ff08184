//! How sums of floats are cut and sums of integers wrap.

use super::fragments::*;
use crate::jit_support::*;

#[test]
fn sums_of_integers_are_clamped_or_wrap() {
    for (sat, want) in [("", i32::MAX.wrapping_add(16 * 127 * 127)), (".satfinite", i32::MAX)] {
        let body = format!(
            ".reg .b32 %d<2>; mov.u32 %r1, 0x7f7f7f7f; mov.u32 %r2, 0x7fffffff; add.u64 %p3, %p3, %o0;
             mma.sync.aligned.m8n8k16.row.col{sat}.s32.s8.s8.s32 {{%d0, %d1}}, {{%r1}}, {{%r1}}, {{%r2, %r2}};
             st.global.u32 [%p3], %d0;"
        );
        let zero = buffer_arg(&[0_u32; 32]);
        let got = run_all_variants(
            &kernel_text(&body),
            "k",
            1,
            [32, 1, 1],
            &[zero.clone(), zero.clone(), zero.clone(), zero],
        );
        assert_eq!(to_u32s(&got[3]), [want as u32; 32]);
    }
}

/// The vectors give the bits that the definition gives, whatever the exponents.
#[test]
fn quick_sums_are_the_defined_ones() {
    use rtcg_ptx::ast::{MatrixLayout, MatrixProduct, MatrixShape, MatrixType, MmaCombineOp, Rounding};
    use rtcg_vgpu_softmath::matrix::{
        MmaRegisters, matrix_product, matrix_product_frame_words, matrix_product_reference,
    };
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let form = |wmma, m, n, k, ty, d| MatrixProduct {
        wmma,
        shape: MatrixShape { m, n, k },
        a_layout: MatrixLayout::Row,
        b_layout: MatrixLayout::Col,
        a: ty,
        b: ty,
        c: d,
        d,
        op: MmaCombineOp::Multiply,
        satfinite: false,
        rnd: Rounding::Default,
        sparse: None,
    };
    let (f16, f32) = (MatrixType::F16, MatrixType::F32);
    let forms = [
        form(true, 16, 16, 16, f16, f32),
        form(true, 8, 32, 16, f16, f16),
        form(false, 16, 8, 16, f16, f16),
        form(false, 16, 8, 8, f16, f32),
        form(true, 32, 8, 16, MatrixType::BF16, f32),
        form(false, 16, 8, 8, MatrixType::TF32, f32),
        form(false, 16, 8, 4, MatrixType::TF32, f32),
    ];
    for (round, form) in (0..120).flat_map(|round| forms.iter().map(move |form| (round, form))) {
        let mut frame: Vec<u32> = (0..matrix_product_frame_words(form)).map(|_| next()).collect();
        // Exponents near each other in early rounds, anything at last; some zeros.
        let spread = 1 + round % 60;
        for word in &mut frame {
            *word = match (form.a, next() % 7) {
                (_, 0) => 0,
                _ if round > 100 => *word,
                (MatrixType::F16, _) if round % 2 == 0 => *word & 0xbfff_bfff,
                (MatrixType::F16, _) => *word,
                (MatrixType::BF16, _) => {
                    *word & 0x807f_807f | (100 + (next() % spread)) << 23 | (100 + (next() % spread)) << 7
                }
                _ => *word & 0x807f_ffff | (100 + (next() % spread)) << 23,
            };
        }
        let mut defined = frame.clone();
        matrix_product(form, &mut MmaRegisters::from_frame_words(form, &mut frame));
        matrix_product_reference(form, &mut MmaRegisters::from_frame_words(form, &mut defined));
        assert_eq!(frame, defined, "{form:?}");
    }
}

/// A sum as the tensor core cuts it: what is below 2^-25 of the largest term is lost, with its sign.
#[test]
fn sums_are_cut_not_rounded() {
    use rtcg_ptx::ast::MatrixType::{F16, F32};
    use rtcg_vgpu_softmath::matrix::exact::{ExactNumber, exact_dot};
    let number = |v: f32| ExactNumber::from_bits(F16, half::f16::from_f32(v).to_bits().into());
    let sum = |terms: &[(f32, f32)], c: f32| {
        let terms: Vec<_> = terms.iter().map(|&(x, y)| (number(x), number(y))).collect();
        f32::from_bits(exact_dot(terms.iter().copied(), ExactNumber::from_bits(F32, c.to_bits().into()), F32) as u32)
    };
    let tiny = 2.0_f32.powi(-13);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, tiny)], 0.0), 1.0);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, -tiny)], 0.0), 1.0);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, -2.0 * tiny)], 0.0), 1.0 - 2.0_f32.powi(-24));
    // Two halves of the last place make one, since sums keep two bits more; one is cut off.
    let half = 2.0_f32.powi(-12);
    assert_eq!(sum(&[(1.0, 1.0), (half, half), (half, half)], 0.0), 1.0 + f32::EPSILON);
    assert_eq!(sum(&[(1.0, 1.0), (half, half)], 0.0), 1.0);
    assert_eq!(sum(&[(1.5, 1.5)], f32::MAX), f32::MAX);
    assert_eq!(sum(&[(-60000.0, 60000.0)], f32::NEG_INFINITY), f32::NEG_INFINITY);
    assert!(sum(&[(f32::INFINITY, 0.0)], 1.0).is_nan() && sum(&[(f32::INFINITY, 1.0)], f32::NEG_INFINITY).is_nan());
}
