//! Kernels from snippets: elementwise kernels of every layout, reductions, scans, random numbers, and calls repeated.
#![expect(unsafe_code, reason = "launches run the snippets below, which stay inside their arrays")]

use crate::host_arrays::{Random, array, elements, vector};
use rtcg_array::generators::{
    ArrayView, DistributionParameters, ElementwiseKernel, GeneratedKernelArg, Generator, IndexRange, ReductionKernel,
    ScanKernel,
};
use rtcg_array::{EinsumOptions, GpuArray, Index, Op, Order, einsum};
use rtcg_codegen::random::{Distribution, RandomEngine};
use rtcg_hal::{ArrayContext, DType};
use std::sync::Arc;

fn views<'a>(arrays: &[&'a GpuArray]) -> Vec<GeneratedKernelArg<'a>> {
    arrays.iter().map(|array| GeneratedKernelArg::Array(ArrayView::from(*array))).collect()
}

/// Every second element.
fn even(a: &GpuArray) -> GpuArray {
    a.index(&[Index::Slice(None, None, Some(2))]).unwrap()
}

/// Contiguous arrays of one tile and of many, transposed, strided and broadcast ones, and those whose call is repeated.
pub fn snippets_are_executed_for_every_layout(ctx: &Arc<ArrayContext>) {
    let axpy = ElementwiseKernel::parse("double a, const double *x, double *z", "z[i] = a * x[i] + 1").unwrap();
    let run = |a: f64, x: &GpuArray, z: &GpuArray| {
        let bytes = a.to_ne_bytes();
        let mut args = vec![GeneratedKernelArg::Number(&bytes, DType::F64)];
        args.extend(views(&[x, z]));
        // SAFETY: as this file says.
        unsafe { axpy.launch_and_cache(ctx, &args) }.unwrap()
    };
    for n in [1, 257, 70_001] {
        let numbers = Random(1).whole_numbers(n, -9, 9);
        let (x, z) = (vector(ctx, &numbers), GpuArray::zeros(ctx, &[n], DType::F64, Order::C).unwrap());
        let cached = run(3.0, &x, &z).expect("a kernel was launched");
        let wanted = |a: f64| numbers.iter().map(|x| a * x + 1.0).collect::<Vec<_>>();
        assert_eq!(elements::<f64>(&z), wanted(3.0), "{n} elements");
        let mut packed = cached.packed_arguments();
        packed[cached.argument_offset(0)..][..8].copy_from_slice(&5f64.to_ne_bytes());
        if cached.fits_alignment(&packed) {
            // SAFETY: as this file says.
            unsafe { cached.launch(&packed) }.expect("the context is there").unwrap();
            assert_eq!(elements::<f64>(&z), wanted(5.0), "{n} elements again");
        }
        let (x, z) = (even(&x), even(&z));
        run(2.0, &x, &z);
        let wanted: Vec<f64> = numbers.iter().step_by(2).map(|x| 2.0 * x + 1.0).collect();
        assert_eq!(elements::<f64>(&z), wanted, "every second of {n}");
    }
    let (row, z) = (vector(ctx, &[1.0, 2.0, 3.0]), GpuArray::zeros(ctx, &[3, 2], DType::F64, Order::C).unwrap());
    run(1.0, &row, &z.transpose(None).unwrap());
    assert_eq!(elements::<f64>(&z), [2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
}

/// In a range, arrays with gaps are copied, and what was written is copied back.
pub fn ranges_write_to_arrays_with_gaps(ctx: &Arc<ArrayContext>) {
    let mark = ElementwiseKernel::parse("double *z", "z[i] = i").unwrap();
    let z = GpuArray::zeros(ctx, &[20], DType::F64, Order::C).unwrap();
    let part = even(&z);
    // SAFETY: as this file says.
    unsafe { mark.launch(ctx, &views(&[&part]), IndexRange::Range { start: 7, stop: 0, step: -3 }) }.unwrap();
    let wanted: Vec<f64> = (0..20).map(|k| if [14, 8, 2].contains(&k) { f64::from(k / 2) } else { 0.0 }).collect();
    assert_eq!(elements::<f64>(&z), wanted);
}

/// To one value, and over each axis, of arrays of any strides.
pub fn snippets_are_reduced(ctx: &Arc<ArrayContext>) {
    let dot =
        ReductionKernel::builder("const double *x, const double *y").map("x[i] * y[i]").reduce("a + b").neutral("0");
    let dot = dot.out("double").build().unwrap();
    for n in [1usize, 300, 100_003] {
        let numbers: Vec<f64> = (0..n).map(|k| (k % 7) as f64).collect();
        let (x, sum) = (vector(ctx, &numbers), GpuArray::zeros(ctx, &[], DType::F64, Order::C).unwrap());
        // SAFETY: as this file says.
        unsafe { dot.launch(ctx, &views(&[&x, &x]), &ArrayView::from(&sum)) }.unwrap();
        assert_eq!(elements::<f64>(&sum), [numbers.iter().map(|x| x * x).sum::<f64>()], "{n} elements");
    }
    let numbers: Vec<f64> = (0..35 * 90).map(|k| f64::from(k % 11)).collect();
    let x = array(ctx, &[35, 90], &numbers).astype(DType::F64).unwrap();
    for (axis, length) in [(0, 90), (1, 35)] {
        let sums = GpuArray::zeros(ctx, &[length], DType::F64, Order::C).unwrap();
        // SAFETY: as this file says.
        unsafe { dot.launch_axis(ctx, &views(&[&x, &x]), &[axis], &ArrayView::from(&sums)) }.unwrap();
        let at = |k: usize, l: usize| if axis == 0 { numbers[l * 90 + k] } else { numbers[k * 90 + l] };
        let over = if axis == 0 { 35 } else { 90 };
        let wanted: Vec<f64> = (0..length).map(|k| (0..over).map(|l| at(k, l).powi(2)).sum()).collect();
        assert_eq!(elements::<f64>(&sums), wanted, "axis {axis}");
    }
}

/// Of one tile and of many, with what came before each item.
pub fn snippets_are_scanned(ctx: &Arc<ArrayContext>) {
    let sums = ScanKernel::builder("const double *x, double *before, double *total").scan("a + b").neutral("0");
    let sums = sums.output("before[i] = prev_item; if (i == N - 1) *total = last_item").build().unwrap();
    for n in [1usize, 700, 150_000] {
        let numbers: Vec<f64> = (0..n).map(|k| (k % 5) as f64).collect();
        let new = |n| GpuArray::zeros(ctx, &[n], DType::F64, Order::C).unwrap();
        let (x, before, total) = (vector(ctx, &numbers), new(n), new(1));
        // SAFETY: as this file says.
        unsafe { sums.launch(ctx, &views(&[&x, &before, &total]), None) }.unwrap();
        let running = |sum: &mut f64, x: &f64| Some(std::mem::replace(sum, *sum + x));
        let wanted: Vec<f64> = numbers.iter().scan(0.0, running).collect();
        assert_eq!(elements::<f64>(&before), wanted, "{n} elements");
        assert_eq!(elements::<f64>(&total), [numbers.iter().sum::<f64>()]);
    }
}

/// Numbers depend on key, stream and position alone, and a permutation has each number once.
pub fn random_numbers_depend_on_their_position_only(ctx: &Arc<ArrayContext>) {
    let new = |n| GpuArray::zeros(ctx, &[n], DType::F64, Order::C).unwrap();
    let fill = |generator: &Generator, out: &GpuArray| {
        let (draw, parameters) = (Distribution::HalfOpen, DistributionParameters::Real(0.0, 1.0));
        generator.fill(ctx, draw, &DType::F64.into(), &ArrayView::from(out), parameters).unwrap();
    };
    let generators = [(); 2].map(|()| Generator::new(RandomEngine::Philox, 42, 0).unwrap());
    let (whole, parts) = (new(1000), [new(600), new(400)]);
    fill(&generators[0], &whole);
    parts.iter().for_each(|part| fill(&generators[1], part));
    let whole = elements::<f64>(&whole);
    assert_eq!(whole, parts.iter().flat_map(elements::<f64>).collect::<Vec<_>>());
    assert!(whole.iter().all(|x| (0.0..1.0).contains(x)) && whole[0] != whole[1]);
    let places = GpuArray::zeros(ctx, &[3001], DType::I64, Order::C).unwrap();
    generators[0].permutation(ctx, &DType::I64.into(), &ArrayView::from(&places)).unwrap();
    let mut places = elements::<i64>(&places);
    assert!(places.iter().enumerate().any(|(k, place)| *place != k as i64));
    places.sort_unstable();
    assert!(places.iter().enumerate().all(|(k, place)| *place == k as i64));
}

/// A call that is like an earlier one reads the operands that it is given, whose layouts may be others.
pub fn repeated_calls_read_their_own_operands(ctx: &Arc<ArrayContext>) {
    for round in 0..4u64 {
        let [a, b] = [1, 2].map(|seed| Random(seed + 10 * round).whole_numbers(12 * 12, -4, 4));
        let [x, y] = [&a, &b].map(|numbers| array(ctx, &[12, 12], numbers).astype(DType::F64).unwrap());
        let at = |numbers: &[f64], i: usize, j: usize| numbers[12 * i + j];
        let [a, b] = [&x, &y].map(elements::<f64>);
        let product = |turned: bool| {
            let cell = |k: usize| {
                let of_b = |l: usize| if turned { at(&b, k % 12, l) } else { at(&b, l, k % 12) };
                (0..12).map(|l| at(&a, k / 12, l) * of_b(l)).sum::<f64>()
            };
            (0..144).map(cell).collect::<Vec<_>>()
        };
        let turned = y.transpose(None).unwrap();
        assert_eq!(elements::<f64>(&x.matmul(&y).unwrap()), product(false), "round {round}");
        assert_eq!(elements::<f64>(&x.matmul(&turned).unwrap()), product(true), "round {round}");
        let rows = einsum("ij,ij->i", &[&x, &y], EinsumOptions::default()).unwrap();
        let wanted: Vec<f64> = (0..12).map(|i| (0..12).map(|j| at(&a, i, j) * at(&b, i, j)).sum()).collect();
        assert_eq!(elements::<f64>(&rows), wanted, "round {round}");
        // The same array twice, and a result in one of the operands.
        let squares = einsum("ij,ij->i", &[&x, &x], EinsumOptions::default()).unwrap();
        let wanted: Vec<f64> = (0..12).map(|i| (0..12).map(|j| at(&a, i, j).powi(2)).sum()).collect();
        assert_eq!(elements::<f64>(&squares), wanted, "round {round}");
        let out = x.copy(None).unwrap();
        for (left, what) in [(&x, "another array"), (&out, "an operand")] {
            out.assign(&x).unwrap();
            let options = EinsumOptions { out: Some(&out), ..EinsumOptions::default() };
            einsum("ij,jk->ik", &[left, &y], options).unwrap();
            assert_eq!(elements::<f64>(&out), product(false), "round {round} into {what}");
        }
        assert_eq!(elements::<f64>(&x.binary(Op::Add, &y).unwrap())[5], a[5] + b[5]);
    }
}
