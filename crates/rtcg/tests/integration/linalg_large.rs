//! The factorizations that matrices have on GPUs, run on whatever device is there by a runtime that claims to be one,
//! beside those of the device itself: factors are the same but for rounding.

use crate::simt_kernels::context_of_fake_gpu;
use crate::test_depth::at_depth;
use rtcg::array::{ArrayContext, ArrayErrorKind, DType, DeviceInfo, ExecutionModel, GpuArray, Op, Order, Triangle};
use rtcg::{Context, CudaRuntime};
use std::sync::Arc;

/// Arrays of a device that claims to be a large one, and of the device itself.
fn large_and_actual_contexts() -> [Arc<ArrayContext>; 2] {
    let ctx = Context::new().expect("the virtual GPU is always there");
    let actual = ArrayContext::new(Arc::new(CudaRuntime::new(&ctx).unwrap()));
    let large = DeviceInfo {
        multiprocessors: 132,
        execution: ExecutionModel::Simt,
        vector_bytes: 16,
        bulk_copy_smem_bytes: 0,
        ..actual.device_info()
    };
    [context_of_fake_gpu(large), actual]
}

/// Real and complex, in single and double precision; all four at depth.
fn tested_dtypes() -> &'static [DType] {
    at_depth(&[DType::F32, DType::C128], &[DType::F32, DType::F64, DType::C64, DType::C128])
}

/// Numbers without a pattern, in -1 to 1.
fn random_array(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    let mut state = 12345u64 + shape.iter().sum::<usize>() as u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) as f64 / (1u64 << 23) as f64 - 1.0).to_ne_bytes()
    };
    let (wide, parts) = if dtype.is_complex() { (DType::C128, 2) } else { (DType::F64, 1) };
    let array = GpuArray::empty(ctx, shape, wide, Order::C).unwrap();
    let bytes: Vec<u8> = (0..parts * array.size()).flat_map(|_| next()).collect();
    array.write(&bytes, Order::C).unwrap();
    array.astype(dtype).unwrap()
}

/// Real and imaginary parts.
fn real_and_imaginary_parts(array: &GpuArray) -> Vec<f64> {
    let wide = array.astype(if array.dtype().is_complex() { DType::C128 } else { DType::F64 }).unwrap();
    let mut bytes = vec![0; wide.nbytes()];
    wide.read(&mut bytes, Order::C).unwrap();
    bytes.chunks_exact(8).map(|eight| f64::from_ne_bytes(eight.try_into().unwrap())).collect()
}

/// That results are the same within so many times the precision, measured by the largest number.
fn assert_close([a, b]: &[GpuArray; 2], bound: f64, what: &str) {
    assert_eq!(a.shape(), b.shape(), "{what}");
    let eps = if a.dtype().real_part() == DType::F32 { f32::EPSILON.into() } else { f64::EPSILON };
    let ([a_numbers, b_numbers], dtype) = ([a, b].map(real_and_imaginary_parts), a.dtype());
    let size = b_numbers.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    let error = a_numbers.iter().zip(&b_numbers).fold(0.0, |error: f64, (x, y)| error.max((x - y).abs()));
    assert!(error <= bound * eps * size, "{what}: {} of {bound}, {dtype}", error / eps / size);
}

fn random_array_pair(contexts: &[Arc<ArrayContext>; 2], shape: &[usize], dtype: DType) -> [GpuArray; 2] {
    [0, 1].map(|which| random_array(&contexts[which], shape, dtype))
}

/// Within a strip, and over several strips and panels.
const MATRIX_SIZES: [usize; 2] = [5, 100];

#[test]
fn linear_systems_are_solved() {
    let contexts = large_and_actual_contexts();
    for &dtype in tested_dtypes() {
        for n in MATRIX_SIZES {
            let (a, b) =
                (random_array_pair(&contexts, &[2, n, n], dtype), random_array_pair(&contexts, &[n, 35], dtype));
            let bound = 10.0 * (n * n) as f64;
            assert_close(&[0, 1].map(|which| a[which].solve(&b[which]).unwrap()), bound, "solutions");
            assert_close(&a.each_ref().map(|a| a.inv().unwrap()), bound, "inverses");
            assert_close(&a.each_ref().map(|a| a.slogdet().unwrap().sign), 100.0 * n as f64, "signs");
            assert_close(&a.each_ref().map(|a| a.slogdet().unwrap().log), 100.0 * n as f64, "logarithms");
        }
    }
}

#[test]
fn the_first_of_equal_pivots_is_chosen() {
    let ctx = &large_and_actual_contexts()[0];
    // Powers of two are divided without rounding, and all are as large as each other: only exchanges decide the sign.
    for n in [3, 33, 150] {
        let places: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from((e % n) == (e / n * 2 + 1) % n))).collect();
        let a = GpuArray::empty(ctx, &[n, n], DType::F64, Order::C).unwrap();
        a.write(&places.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>(), Order::C).unwrap();
        if n % 2 == 1 {
            let cycle = |row: usize| (row * 2 + 1) % n;
            let inversions = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| cycle(i) > cycle(j));
            let sign = if inversions.count() % 2 == 0 { 1.0 } else { -1.0 };
            assert_eq!(real_and_imaginary_parts(&a.det().unwrap()), [sign], "{n}");
        } else {
            let error = a.inv().unwrap_err();
            assert_eq!(error.kind(), ArrayErrorKind::LinearAlgebra, "{n}: two rows are the same");
        }
    }
    let ones = random_array(ctx, &[40, 40], DType::F64).binary(Op::Multiply, 0).unwrap().binary(Op::Add, 1).unwrap();
    assert_eq!(ones.inv().unwrap_err().kind(), ArrayErrorKind::LinearAlgebra);
    assert_eq!(real_and_imaginary_parts(&ones.det().unwrap()), [0.0]);
}

#[test]
fn solving_1x1_systems_is_exact_division() {
    let ctx = &large_and_actual_contexts()[0];
    for n in 1..60 {
        let a = GpuArray::empty(ctx, &[1, 1], DType::F64, Order::C).unwrap();
        a.write(&f64::from(n).to_ne_bytes(), Order::C).unwrap();
        assert_eq!(real_and_imaginary_parts(&a.solve(&a).unwrap()), [1.0], "{n}");
        assert_eq!(real_and_imaginary_parts(&a.inv().unwrap()), [1.0 / f64::from(n)], "{n}");
    }
}

#[test]
fn cholesky_factors_agree() {
    let contexts = large_and_actual_contexts();
    for &dtype in tested_dtypes() {
        for n in MATRIX_SIZES {
            let positive = random_array_pair(&contexts, &[2, n, n], dtype).map(|a| {
                let turned = a.swapaxes(-2, -1).unwrap().unary(Op::Conjugate).unwrap();
                let square = a.matmul(&turned).unwrap();
                let diagonal = square.diagonal(0, -2, -1).unwrap();
                diagonal
                    .binary_in_place(Op::Add, &diagonal.binary(Op::Multiply, 0).unwrap().binary(Op::Add, 9).unwrap())
                    .unwrap();
                square
            });
            for triangle in [Triangle::Lower, Triangle::Upper] {
                assert_close(
                    &positive.each_ref().map(|a| a.cholesky(triangle).unwrap()),
                    100.0 * n as f64,
                    "Cholesky factors",
                );
            }
        }
    }
}

#[test]
fn qr_factors_agree() {
    let contexts = large_and_actual_contexts();
    for &dtype in tested_dtypes() {
        for shape in [[2, 5, 5], [1, 40, 70], [2, 70, 40]] {
            let a = random_array_pair(&contexts, &shape, dtype);
            let found = a.each_ref().map(|a| a.qr(true).unwrap());
            let bound = 100.0 * shape[1].max(shape[2]) as f64;
            assert_close(&found.each_ref().map(|(q, _)| q.clone()), bound, "Q");
            assert_close(&found.each_ref().map(|(_, r)| r.clone()), bound, "R");
        }
    }
}

#[test]
fn qr_handles_large_and_small_columns() {
    for size in [1e30, 1e-30] {
        let found = large_and_actual_contexts().map(|ctx| {
            let a = random_array(&ctx, &[70, 40], DType::F32).binary(Op::Multiply, size).unwrap();
            a.qr_r().unwrap().binary(Op::TrueDivide, size).unwrap()
        });
        assert_close(&found, 1000.0, "R");
    }
}

/// A thread cannot hold its rows of so long columns, and products with them are formed before they are subtracted.
#[test]
fn qr_handles_long_columns() {
    let a = random_array_pair(&large_and_actual_contexts(), &[33_000, 66], DType::F64);
    assert_close(&a.each_ref().map(|a| a.qr_r().unwrap()), 10_000.0, "R");
}
