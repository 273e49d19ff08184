//! Arrays without Python: views, broadcasting, reductions, indexing, sorting and products on the device.

use rtcg::Context;
use rtcg::array::{
    ArrayContext, ArrayErrorKind, DType, FancyIndex, GpuArray, Index, Op, Order, ReduceOptions, ReducedAxes,
    ReductionOp, ScanOp,
};
use std::sync::Arc;

fn array_context() -> Arc<ArrayContext> {
    rtcg::CudaRuntime::array_context(&Context::new().unwrap()).unwrap()
}

fn f32_array(ctx: &Arc<ArrayContext>, shape: &[usize], values: &[f32]) -> GpuArray {
    let array = GpuArray::empty(ctx, shape, DType::F32, Order::C).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    array.write(&bytes, Order::C).unwrap();
    array
}

fn i64_array(ctx: &Arc<ArrayContext>, values: &[i64]) -> GpuArray {
    let array = GpuArray::empty(ctx, &[values.len()], DType::I64, Order::C).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    array.write(&bytes, Order::C).unwrap();
    array
}

fn f32_values(array: &GpuArray) -> Vec<f32> {
    assert_eq!(array.dtype(), DType::F32);
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn i64_values(array: &GpuArray) -> Vec<i64> {
    assert_eq!(array.dtype(), DType::I64);
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes.chunks_exact(8).map(|eight| i64::from_le_bytes(eight.try_into().unwrap())).collect()
}

fn reduce_options(axes: ReducedAxes<'_>) -> ReduceOptions<'_> {
    ReduceOptions { axes, ..Default::default() }
}

#[test]
fn views_share_memory_and_operands_are_broadcast() {
    let ctx = array_context();
    let a = f32_array(&ctx, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let back = a.index(&[Index::Ellipsis, Index::Slice(None, None, Some(-1))]).unwrap();
    assert_eq!(back.device_ptr().unwrap(), a.device_ptr().unwrap() + 8);
    let row = a.index(&[Index::At(0)]).unwrap();
    assert_eq!(f32_values(&back.binary(Op::Add, &row).unwrap()), [4., 4., 4., 7., 7., 7.]);
    assert_eq!(f32_values(&a.transpose(None).unwrap().binary(Op::Multiply, 2).unwrap()), [2., 8., 4., 10., 6., 12.]);
    a.binary_in_place(Op::Subtract, &back).unwrap();
    assert_eq!(f32_values(&a), [-2., 0., 2., -2., 0., 2.]);
    let error = a.binary(Op::Add, &f32_array(&ctx, &[2], &[0., 0.])).unwrap_err();
    assert_eq!(error.kind(), ArrayErrorKind::Value);
    assert!(error.to_string().contains("(2, 3) (2,)"), "{error}");
}

#[test]
fn arrays_are_reduced_and_scanned_along_axes() {
    let ctx = array_context();
    let a = f32_array(&ctx, &[2, 3], &[1., 5., 3., 4., 2., 6.]);
    assert_eq!(f32_values(&a.reduce(ReductionOp::Sum, reduce_options(Some(&[0]))).unwrap()), [5., 7., 9.]);
    assert_eq!(i64_values(&a.reduce(ReductionOp::ArgMaximum, reduce_options(Some(&[-1]))).unwrap()), [1, 2]);
    assert_eq!(f32_values(&a.cumulative(ScanOp::Sum, 1, None).unwrap()), [1., 6., 9., 4., 6., 12.]);
    let many = GpuArray::empty(&ctx, &[100_000], DType::I64, Order::C).unwrap();
    many.fill(rtcg::array::Scalar::Weak(rtcg::array::WeakScalar::Int(3))).unwrap();
    assert_eq!(i64_values(&many.reduce(ReductionOp::Sum, reduce_options(None)).unwrap()), [300_000]);
    let empty = GpuArray::empty(&ctx, &[0], DType::F32, Order::C).unwrap();
    assert!(empty.reduce(ReductionOp::Maximum, reduce_options(None)).unwrap_err().to_string().contains("no identity"));
}

#[test]
fn unloaded_kernels_stay_with_calls_that_hold_them() {
    let ctx = array_context();
    let (a, b) = (f32_array(&ctx, &[3], &[1., 2., 3.]), f32_array(&ctx, &[3], &[10., 20., 30.]));
    let first = a.binary(Op::Add, &b).unwrap();
    ctx.set_kernel_capacity(2);
    for op in [Op::Subtract, Op::Multiply, Op::Maximum] {
        a.binary(op, &b).unwrap();
    }
    let usage = ctx.kernel_cache_usage();
    assert_eq!((usage.len, usage.capacity, usage.inserted, usage.evicted), (2, 2, 4, 2));
    // The sum is found again, and launches what the cache has no more.
    assert_eq!(f32_values(&a.binary(Op::Add, &b).unwrap()), f32_values(&first));
    assert_eq!(ctx.kernel_cache_usage().inserted, 4);
    // Differences of other shapes are planned anew, and compiled again.
    let wide = f32_array(&ctx, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    assert_eq!(f32_values(&wide.binary(Op::Subtract, &b).unwrap()), [-9., -18., -27., -6., -15., -24.]);
    assert_eq!((ctx.kernel_cache_usage().len, ctx.kernel_cache_usage().inserted), (2, 5));
}

#[test]
fn index_arrays_gather_and_scatter() {
    let ctx = array_context();
    let a = f32_array(&ctx, &[3, 2], &[0., 1., 2., 3., 4., 5.]);
    let rows = FancyIndex::Array(i64_array(&ctx, &[2, -3]));
    assert_eq!(f32_values(&a.take_fancy(std::slice::from_ref(&rows)).unwrap()), [4., 5., 0., 1.]);
    a.put_fancy(&[rows], &f32_array(&ctx, &[2], &[7., 8.])).unwrap();
    assert_eq!(f32_values(&a), [7., 8., 2., 3., 7., 8.]);
    let large = a.binary(Op::Greater, 6).unwrap();
    assert_eq!(f32_values(&a.take_fancy(&[FancyIndex::Array(large)]).unwrap()), [7., 8., 7., 8.]);
    let outside = a.take_fancy(&[FancyIndex::Array(i64_array(&ctx, &[9]))]).unwrap();
    let error = outside.read(&mut [0; 8], Order::C).unwrap_err();
    assert_eq!(error.kind(), ArrayErrorKind::Index);
}

#[test]
fn rows_are_sorted_and_matrices_multiplied() {
    let ctx = array_context();
    let a = f32_array(&ctx, &[2, 3], &[3., 1., 2., 0., f32::NAN, -1.]);
    assert_eq!(i64_values(&a.argsort(1, false).unwrap()), [1, 2, 0, 2, 0, 1]);
    assert_eq!(f32_values(&a.sorted(1, false).unwrap())[..5], [1., 2., 3., -1., 0.]);
    let b = f32_array(&ctx, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let product = b.matmul(&b.transpose(None).unwrap()).unwrap();
    assert_eq!(f32_values(&product), [14., 32., 32., 77.]);
    assert!(b.matmul(&b).unwrap_err().to_string().contains("(2, 3) and (2, 3)"));
}
