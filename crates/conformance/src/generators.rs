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

/// Arrays along different axes: through tiles where the snippet leaves the order open, in C order where it counts, by
/// strides where it jumps or has several results; as one row where all have one order. Names of the user's stay the
/// user's.
pub fn snippets_walk_over_arrays_of_any_order(ctx: &Arc<ArrayContext>) {
    let (rows, columns) = (70usize, 90usize);
    let declared = "const double *x, const double *xp, double step, double *rest, double *tile";
    let numbers: Vec<Vec<f64>> = (0..2).map(|seed| Random(seed).whole_numbers(rows * columns, -9, 9)).collect();
    let plain = |numbers: &[f64], shape: &[usize]| array(ctx, shape, numbers).astype(DType::F64).unwrap();
    let (x, e) = (plain(&numbers[0], &[rows, columns]), plain(&numbers[1], &[columns, rows]).transpose(None).unwrap());
    let at = |i: usize, j: usize| (numbers[0][i * columns + j], numbers[1][j * rows + i], (i * columns + j) as f64);
    type Wanted = fn((f64, f64, f64)) -> (f64, f64);
    let cases: [(&str, Wanted); 5] = [
        ("rest[i] = step * x[i] - xp[i]", |(x, e, _)| (2.0 * x - e, 0.0)),
        ("rest[i] = x[i] + step * xp[i] + i", |(x, e, i)| (x + 2.0 * e + i, 0.0)),
        ("double first = xp[i]; if (first < 0) continue; rest[i] = first - x[i]", |(x, e, _)| {
            (if e < 0.0 { 0.0 } else { e - x }, 0.0)
        }),
        ("rest[i] = x[i] - step; tile[i] = xp[i]", |(x, e, _)| (x - 2.0, e)),
        ("tile[i] = x[i] * xp[i]; rest[i] = tile[i] + SIDE", |(x, e, _)| (x * e + 5.0, x * e)),
    ];
    for (operation, wanted) in cases {
        let kernel =
            ElementwiseKernel::builder(declared).operation(operation).preamble("__device__ const int SIDE = 5;");
        let kernel = kernel.build().unwrap();
        for order in [Order::C, Order::F] {
            let [rest, tile] =
                [order, Order::F].map(|order| GpuArray::zeros(ctx, &[rows, columns], DType::F64, order).unwrap());
            let step = 2f64.to_ne_bytes();
            let mut args = views(&[&x, &e]);
            args.push(GeneratedKernelArg::Number(&step, DType::F64));
            args.extend(views(&[&rest, &tile]));
            for _ in 0..2 {
                // SAFETY: as this file says.
                unsafe { kernel.launch_and_cache(ctx, &args) }.unwrap();
            }
            let wanted: Vec<_> = (0..rows * columns).map(|k| wanted(at(k / columns, k % columns))).collect();
            assert_eq!(
                elements::<f64>(&rest),
                wanted.iter().map(|w| w.0).collect::<Vec<_>>(),
                "{operation}, {order:?}"
            );
            assert_eq!(
                elements::<f64>(&tile),
                wanted.iter().map(|w| w.1).collect::<Vec<_>>(),
                "{operation}, {order:?}"
            );
        }
    }
    let sum = GpuArray::zeros(ctx, &[], DType::F64, Order::C).unwrap();
    for (map, wanted) in
        [("x[i] * e[i]", (|(x, e, _)| x * e) as fn((f64, f64, f64)) -> f64), ("x[i] + i * e[i]", |(x, e, i)| x + i * e)]
    {
        let kernel = ReductionKernel::builder("const double *x, const double *e").map(map).reduce("a + b").neutral("0");
        let kernel = kernel.out("double").build().unwrap();
        // SAFETY: as this file says.
        unsafe { kernel.launch(ctx, &views(&[&x, &e]), &ArrayView::from(&sum)) }.unwrap();
        let wanted: f64 = (0..rows * columns).map(|k| wanted(at(k / columns, k % columns))).sum();
        assert_eq!(elements::<f64>(&sum), [wanted], "{map}");
    }
    // Three axes in another order than C's or Fortran's, the same for both: one row, which is read in packs.
    let cube = plain(&numbers[0], &[7, 10, columns]).transpose(Some(&[1, 2, 0])).unwrap();
    let result = cube.empty_like(DType::F64).unwrap();
    let twice = ElementwiseKernel::parse("const double *x, double *z", "z[i] = 2 * x[i]").unwrap();
    // SAFETY: as this file says.
    unsafe { twice.launch(ctx, &views(&[&cube, &result]), IndexRange::All) }.unwrap();
    assert_eq!(elements::<f64>(&result), elements::<f64>(&cube).iter().map(|x| 2.0 * x).collect::<Vec<_>>());
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

/// Over any axes, of arrays in any order and of values, with the index of an element in C order.
pub fn snippets_are_reduced_over_any_axes(ctx: &Arc<ArrayContext>) {
    let shape = [5usize, 37, 66];
    let numbers: Vec<_> = (0..2).map(|seed| Random(seed).whole_numbers(shape.iter().product(), -9, 9)).collect();
    let plain = |numbers: &[f64], shape: &[usize]| array(ctx, shape, numbers).astype(DType::F64).unwrap();
    let x = plain(&numbers[0], &shape);
    let y = plain(&numbers[1], &[66, 37, 5]).transpose(None).unwrap().flip(Some(&[1])).unwrap();
    let at = |i: usize, j: usize, k: usize| {
        let y = numbers[1][(k * 37 + 36 - j) * 5 + i];
        (numbers[0][(i * 37 + j) * 66 + k], y, ((i * 37 + j) * 66 + k) as f64)
    };
    type Mapped = fn((f64, f64, f64)) -> f64;
    let cases: [(&str, Mapped); 4] = [
        ("x[i] * start", |(x, ..)| 3.0 * x),
        ("y[i] - x[i]", |(x, y, _)| y - x),
        ("y[i] + start * i", |(_, y, i)| y + 3.0 * i),
        ("x[(size_t)(i / 2) * 2]", |(x, ..)| x),
    ];
    for (map, wanted) in cases {
        let kernel = ReductionKernel::builder("const double *x, const double *y, double start").map(map);
        let kernel = kernel.reduce("a + b").neutral("0").out("double").build().unwrap();
        let gathers = map.contains("size_t");
        for axes in [&[0isize][..], &[1], &[2], &[0, 2], &[-1, 1], &[0, 1, 2]] {
            let reduced: Vec<usize> = axes.iter().map(|axis| axis.rem_euclid(3) as usize).collect();
            let kept: Vec<usize> = (0..3).filter(|axis| !reduced.contains(axis)).collect();
            let lengths: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
            let out = GpuArray::zeros(ctx, &lengths, DType::F64, Order::F).unwrap();
            let start = 3f64.to_ne_bytes();
            let mut args = views(&[&x, &y]);
            args.push(GeneratedKernelArg::Number(&start, DType::F64));
            // SAFETY: as this file says.
            unsafe { kernel.launch_axis(ctx, &args, axes, &ArrayView::from(&out)) }.unwrap();
            let mut sums = vec![0.0; lengths.iter().product()];
            for place in 0..shape.iter().product() {
                let index = [place / (37 * 66), place / 66 % 37, place % 66];
                let cell = kept.iter().fold(0, |cell, &axis| cell * shape[axis] + index[axis]);
                let read = if gathers { place / 2 * 2 } else { place };
                sums[cell] += wanted(at(read / (37 * 66), read / 66 % 37, read % 66));
            }
            assert_eq!(elements::<f64>(&out), sums, "{map} over {axes:?}");
        }
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
