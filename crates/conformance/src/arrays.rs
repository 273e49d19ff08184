//! Arrays: elements, views, reductions, scans, sorts, indexing, segments, fusion.

use crate::host_arrays::{Element, Random, array, assert_close, elements, vector};
use rtcg_array::{
    Arg, GpuArray, Index, OpOptions, Order, ReduceOptions, Scalar, apply_elementwise, fuse, reduce_by_key,
};
use rtcg_array::{BoundsMode, Op, ReductionOp, ScanOp};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType, WeakScalar};
use std::sync::Arc;

const NUMBERS: [DType; 12] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::C128,
];

/// Lengths around those of warps, blocks and vectors.
const LENGTHS: [usize; 5] = [1, 31, 257, 4099, 70_001];

/// Small numbers that every dtype has.
fn small(n: usize, high: i64, seed: u64) -> Vec<i64> {
    let mut random = Random(seed);
    (0..n).map(|_| random.integer(0, high)).collect()
}

fn integers(ctx: &Arc<ArrayContext>, shape: &[usize], numbers: &[i64], dtype: DType) -> GpuArray {
    array(ctx, shape, numbers).astype(dtype).unwrap()
}

fn numbers(array: &GpuArray) -> Vec<i64> {
    elements(&array.astype(DType::I64).unwrap())
}

fn reduce(array: &GpuArray, op: ReductionOp, axes: Option<&[isize]>) -> GpuArray {
    array.reduce(op, ReduceOptions { axes, ..ReduceOptions::default() }).unwrap()
}

fn range(from: isize, step: isize) -> Index {
    Index::Slice(Some(from), None, Some(step))
}

/// C order, Fortran order, copies of either, and arrays of zeros and of ranges.
pub fn elements_arrive_in_either_order(ctx: &Arc<ArrayContext>) {
    let given: Vec<i32> = (0..3 * 5 * 7).map(|k| k * k - 50).collect();
    let a = array(ctx, &[3, 5, 7], &given);
    let b = GpuArray::empty(ctx, &[3, 5, 7], DType::I32, Order::F).unwrap();
    b.assign(&a).unwrap();
    for copy in [&a, &b, &a.copy(Some(Order::F)).unwrap(), &b.copy(None).unwrap(), &b.to_contiguous().unwrap()] {
        assert_eq!(elements::<i32>(copy), given);
    }
    let mut bytes = vec![0; a.nbytes()];
    a.read(&mut bytes, Order::F).unwrap();
    let by_columns: Vec<i32> = bytes.chunks_exact(4).map(i32::from_bytes).collect();
    assert_eq!(by_columns, elements::<i32>(&a.transpose(None).unwrap()));
    assert_eq!(elements::<i32>(&GpuArray::zeros(ctx, &[1000], DType::I32, Order::C).unwrap()), [0; 1000]);
    let ramp = GpuArray::empty(ctx, &[1000], DType::I32, Order::C).unwrap();
    let [start, step] = [7, -3].map(|value| Scalar::Weak(WeakScalar::Int(value)));
    ramp.fill_range(start, step).unwrap();
    assert_eq!(elements::<i32>(&ramp), (0..1000).map(|k| 7 - 3 * k).collect::<Vec<_>>());
}

/// Between integers, floats and truth values, with the rounding and the wrapping of the host.
pub fn conversions_are_those_of_the_host(ctx: &Arc<ArrayContext>) {
    let integers: Vec<i64> =
        [0, 1, -1, 127, 128, 255, 256, 65_535, 1 << 24, (1 << 24) + 1, -(1 << 40), i64::MAX].into();
    let a = vector(ctx, &integers);
    let to = |dtype| a.astype(dtype).unwrap();
    assert_eq!(elements::<i8>(&to(DType::I8)), integers.iter().map(|&x| x as i8).collect::<Vec<_>>());
    assert_eq!(elements::<u16>(&to(DType::U16)), integers.iter().map(|&x| x as u16).collect::<Vec<_>>());
    assert_eq!(elements::<u64>(&to(DType::U64)), integers.iter().map(|&x| x as u64).collect::<Vec<_>>());
    assert_eq!(elements::<f32>(&to(DType::F32)), integers.iter().map(|&x| x as f32).collect::<Vec<_>>());
    assert_eq!(elements::<f64>(&to(DType::F64)), integers.iter().map(|&x| x as f64).collect::<Vec<_>>());
    assert_eq!(elements::<bool>(&to(DType::Bool)), integers.iter().map(|&x| x != 0).collect::<Vec<_>>());
    assert_eq!(elements::<[f64; 2]>(&to(DType::C128)), integers.iter().map(|&x| [x as f64, 0.0]).collect::<Vec<_>>());
    let floats = [0.0, -0.5, 1.5, 2.5, -7.890625, 100.25, 65_504.0];
    let a = vector(ctx, &floats);
    assert_eq!(elements::<i32>(&a.astype(DType::I32).unwrap()), floats.map(|x| x as i32));
    // All are numbers of half precision, which bfloat16 rounds.
    assert_eq!(elements::<f64>(&a.astype(DType::F16).unwrap().astype(DType::F64).unwrap())[..6], floats[..6]);
    let rounded = elements::<f64>(&a.astype(DType::BF16).unwrap().astype(DType::F64).unwrap());
    assert_eq!(rounded, [0.0, -0.5, 1.5, 2.5, -7.875, 100.0, 65_536.0]);
}

/// Sums, differences, products, quotients and remainders of every dtype of numbers.
pub fn arithmetic_is_exact_for_every_dtype(ctx: &Arc<ArrayContext>) {
    type OnHost = fn(i64, i64) -> i64;
    let operations: [(Op, OnHost); 5] = [
        (Op::Add, |x, y| x + y),
        (Op::Subtract, |x, y| (x + 10) - y),
        (Op::Multiply, |x, y| x * y),
        (Op::FloorDivide, |x, y| x / (y + 1)),
        (Op::Remainder, |x, y| x % (y + 1)),
    ];
    for (k, dtype) in NUMBERS.into_iter().enumerate() {
        let n = LENGTHS[k % LENGTHS.len()];
        let (x, y) = (small(n, 10, 1), small(n, 9, 2));
        for (op, on_host) in operations {
            let (mut left, mut right) = (x.clone(), y.clone());
            match op {
                Op::Subtract => left.iter_mut().for_each(|x| *x += 10),
                Op::FloorDivide | Op::Remainder if dtype.is_complex() => continue,
                Op::FloorDivide | Op::Remainder => right.iter_mut().for_each(|y| *y += 1),
                _ => {}
            }
            let [a, b] = [&left, &right].map(|list| integers(ctx, &[n], list, dtype));
            let result = a.binary(op, &b).unwrap();
            let wanted: Vec<i64> = x.iter().zip(&y).map(|(&x, &y)| on_host(x, y)).collect();
            assert_eq!((result.dtype(), numbers(&result)), (dtype, wanted), "{op:?} of {dtype}");
        }
    }
}

/// Transcendental functions in double precision, and a complex one.
pub fn functions_are_close_to_the_hosts(ctx: &Arc<ArrayContext>) {
    let mut random = Random(3);
    let x: Vec<f64> = random.numbers(1000).into_iter().chain([0.0, -0.0, f64::INFINITY, f64::NAN]).collect();
    let a = vector(ctx, &x);
    type OnHost = fn(f64) -> f64;
    let functions: [(Op, OnHost); 8] = [
        (Op::Sin, f64::sin),
        (Op::Exp, f64::exp),
        (Op::Log, f64::ln),
        (Op::Sqrt, f64::sqrt),
        (Op::Tanh, f64::tanh),
        (Op::Arccos, f64::acos),
        (Op::Floor, f64::floor),
        (Op::Absolute, f64::abs),
    ];
    for (op, on_host) in functions {
        let wanted: Vec<f64> = x.iter().map(|&x| on_host(x)).collect();
        assert_close(&elements(&a.unary(op).unwrap()), &wanted, 1e-13, &format!("{op:?}"));
    }
    let z = vector(ctx, &[[3.0, 4.0], [-1.0, 0.5]]);
    assert_eq!(elements::<f64>(&z.unary(Op::Absolute).unwrap()), [5.0, 1.25f64.sqrt()]);
    assert_eq!(elements::<[f64; 2]>(&z.binary(Op::Multiply, &z).unwrap()), [[-7.0, 24.0], [0.75, -1.0]]);
}

/// Rows, columns, scalars, steps, reversed axes and transposes, on either side and in the result.
pub fn operands_are_broadcast_strided_and_reversed(ctx: &Arc<ArrayContext>) {
    let (rows, columns) = (37, 53);
    let (of_a, of_row, of_column) = (small(rows * columns, 99, 4), small(columns, 99, 5), small(rows, 99, 6));
    for dtype in [DType::I16, DType::F32, DType::C128] {
        let a = integers(ctx, &[rows, columns], &of_a, dtype);
        let row = integers(ctx, &[columns], &of_row, dtype);
        let column = integers(ctx, &[rows, 1], &of_column, dtype);
        let sum =
            a.binary(Op::Add, &row).unwrap().binary(Op::Subtract, &column).unwrap().binary(Op::Add, 7i64).unwrap();
        let wanted = |i: usize, j: usize| of_a[i * columns + j] + of_row[j] - of_column[i] + 7;
        let all: Vec<i64> = (0..rows * columns).map(|k| wanted(k / columns, k % columns)).collect();
        assert_eq!(numbers(&sum), all, "{dtype}");
        let view = a.index(&[range(-1, -2), range(3, 5)]).unwrap();
        let turned = view.transpose(None).unwrap();
        let twice = turned.binary(Op::Add, &turned).unwrap();
        let picked = (3..columns).step_by(5).flat_map(|j| (0..rows).rev().step_by(2).map(move |i| (i, j)));
        let picked: Vec<i64> = picked.map(|(i, j)| 2 * of_a[i * columns + j]).collect();
        assert_eq!(numbers(&twice), picked, "{dtype}");
        // Into a view: all other elements stay.
        view.binary_in_place(Op::Multiply, -1i64).unwrap();
        let is_picked = |k: usize| {
            (rows - 1 - k / columns).is_multiple_of(2) && k % columns >= 3 && (k % columns - 3).is_multiple_of(5)
        };
        let all: Vec<i64> = (0..of_a.len()).map(|k| if is_picked(k) { -of_a[k] } else { of_a[k] }).collect();
        assert_eq!(numbers(&a), all, "{dtype}");
    }
    let [a, b] = [[2, 3], [3, 2]].map(|shape| GpuArray::zeros(ctx, &shape, DType::F32, Order::C).unwrap());
    let error = a.binary(Op::Add, &b).unwrap_err();
    assert!(error.kind() == ArrayErrorKind::Value && error.to_string().contains("(2, 3) (3, 2)"), "{error}");
}

/// A shift by one within one array, forwards and backwards, and a transpose onto itself.
pub fn operands_that_overlap_are_read_before_they_are_written(ctx: &Arc<ArrayContext>) {
    let n = 10_000;
    let given: Vec<i64> = (0..n).collect();
    for [from, to] in [[0, 1], [1, 0]] {
        let a = vector(ctx, &given);
        let part = |first: isize| a.index(&[Index::Slice(Some(first), Some(first + n as isize - 1), None)]).unwrap();
        part(to).assign(&part(from)).unwrap();
        let mut wanted = given.clone();
        wanted.copy_within(from as usize..(from + n as isize - 1) as usize, to as usize);
        assert_eq!(elements::<i64>(&a), wanted, "from {from} to {to}");
    }
    let a = array(ctx, &[100, 100], &given);
    a.assign(&a.transpose(None).unwrap()).unwrap();
    assert_eq!(elements::<i64>(&a), (0..n).map(|k| k % 100 * 100 + k / 100).collect::<Vec<_>>());
}

/// Comparisons, `where`, and extremes that keep NaN or ignore it.
pub fn comparisons_select_and_nan_is_kept(ctx: &Arc<ArrayContext>) {
    let (x, y) = ([1.0, 2.0, f64::NAN, -0.0, f64::INFINITY], [2.0, 2.0, 1.0, 0.0, f64::NAN]);
    let (a, b) = (vector(ctx, &x), vector(ctx, &y));
    let compare = |op| elements::<bool>(&a.binary(op, &b).unwrap());
    assert_eq!(compare(Op::Less), [true, false, false, false, false]);
    assert_eq!(compare(Op::Equal), [false, true, false, true, false]);
    assert_eq!(compare(Op::NotEqual), [true, false, true, false, true]);
    let mask = a.binary(Op::LessEqual, &b).unwrap();
    let args = [&mask, &a, &b].map(Arg::from);
    let chosen = elements::<f64>(&apply_elementwise(ctx, Op::Where, &args, OpOptions::default()).unwrap());
    assert_close(&chosen, &[1.0, 2.0, 1.0, 0.0, f64::NAN], 0.0, "where");
    assert!(chosen[3].is_sign_negative());
    let extreme = |op| elements::<f64>(&a.binary(op, &b).unwrap());
    assert_close(&extreme(Op::Maximum), &[2.0, 2.0, f64::NAN, 0.0, f64::NAN], 0.0, "maximum");
    assert_close(&extreme(Op::Fmin), &[1.0, 2.0, 1.0, 0.0, f64::INFINITY], 0.0, "fmin");
}

/// No elements along some axis, and no axis at all.
pub fn arrays_without_elements_or_axes_are_arrays(ctx: &Arc<ArrayContext>) {
    let nothing = GpuArray::empty(ctx, &[4, 0, 3], DType::F32, Order::C).unwrap();
    assert_eq!(nothing.binary(Op::Add, 1.0).unwrap().shape(), [4, 0, 3]);
    assert!(elements::<f32>(&nothing.unary(Op::Exp).unwrap()).is_empty());
    assert_eq!(nothing.cumulative(ScanOp::Sum, 1, None).unwrap().size(), 0);
    assert_eq!(nothing.sorted(1, false).unwrap().shape(), [4, 0, 3]);
    assert_eq!(nothing.nonzero().unwrap().iter().map(GpuArray::size).collect::<Vec<_>>(), [0; 3]);
    let one = array(ctx, &[], &[5.0f64]);
    let sum = one.binary(Op::Add, &one).unwrap();
    assert_eq!((sum.ndim(), elements::<f64>(&sum)), (0, vec![10.0]));
    assert_eq!(elements::<f64>(&reduce(&one, ReductionOp::Sum, None)), [5.0]);
    let row = one.broadcast_to(&[3, 1000]).unwrap();
    assert_eq!(elements::<f64>(&reduce(&row, ReductionOp::Sum, None)), [15_000.0]);
}

/// Over all axes, each axis and several, of numbers and of truth values.
pub fn reductions_are_those_of_loops(ctx: &Arc<ArrayContext>) {
    type OnHost = fn(&[i64]) -> i64;
    let place = |list: &[i64], best: i64| list.iter().position(|&x| x == best).unwrap() as i64;
    let operations: [(ReductionOp, OnHost); 5] = [
        (ReductionOp::Sum, |list| list.iter().sum()),
        (ReductionOp::Minimum, |list| *list.iter().min().unwrap()),
        (ReductionOp::Maximum, |list| *list.iter().max().unwrap()),
        (ReductionOp::CountNonzero, |list| list.iter().filter(|&&x| x != 0).count() as i64),
        (ReductionOp::Any, |list| list.iter().any(|&x| x != 0).into()),
    ];
    for (shape, dtype) in [
        ([1, 70_001, 1], DType::I32),
        ([300, 7, 19], DType::F64),
        ([3, 2000, 4], DType::U8),
        ([19, 1, 2100], DType::F32),
    ] {
        let list = small(shape.iter().product(), 100, 7);
        let a = integers(ctx, &shape, &list, dtype);
        for axis in 0..3 {
            let stride: usize = shape[axis + 1..].iter().product();
            let lines: Vec<Vec<i64>> = (0..list.len() / shape[axis])
                .map(|line| line / stride * stride * shape[axis] + line % stride)
                .map(|first| (0..shape[axis]).map(|k| list[first + k * stride]).collect())
                .collect();
            for (op, on_host) in operations {
                let wanted: Vec<i64> = lines.iter().map(|line| on_host(line)).collect();
                assert_eq!(
                    numbers(&reduce(&a, op, Some(&[axis as isize]))),
                    wanted,
                    "{op:?} of {dtype} {shape:?} over axis {axis}"
                );
            }
            let smallest = |line: &Vec<i64>| place(line, *line.iter().min().unwrap());
            let found = numbers(&reduce(&a, ReductionOp::ArgMinimum, Some(&[axis as isize])));
            assert_eq!(found, lines.iter().map(smallest).collect::<Vec<_>>(), "{shape:?} over axis {axis}");
        }
        let total: i64 = list.iter().sum();
        assert_eq!(
            numbers(&reduce(&a, ReductionOp::Sum, Some(&[0, 2])).binary(Op::Add, 0i64).unwrap()).len(),
            shape[1]
        );
        // Twice: a reduction leaves the workspace as it found it.
        assert_eq!([(); 2].map(|()| numbers(&reduce(&a, ReductionOp::Sum, None))), [[total], [total]]);
    }
}

/// The sum of nothing is 0 and its product 1; it has no extremes.
pub fn reductions_of_nothing_are_identities_or_errors(ctx: &Arc<ArrayContext>) {
    let nothing = GpuArray::empty(ctx, &[3, 0], DType::F64, Order::C).unwrap();
    assert_eq!(elements::<f64>(&reduce(&nothing, ReductionOp::Sum, None)), [0.0]);
    assert_eq!(elements::<f64>(&reduce(&nothing, ReductionOp::Product, Some(&[1]))), [1.0; 3]);
    assert_eq!(elements::<bool>(&reduce(&nothing, ReductionOp::All, Some(&[1]))), [true; 3]);
    assert_eq!(reduce(&nothing, ReductionOp::Maximum, Some(&[0])).size(), 0);
    for op in [ReductionOp::Maximum, ReductionOp::ArgMinimum] {
        let error = nothing.reduce(op, ReduceOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ArrayErrorKind::Value, "{error}");
    }
    let error = nothing.reduce(ReductionOp::Sum, ReduceOptions { axes: Some(&[2]), ..ReduceOptions::default() });
    assert_eq!(error.unwrap_err().kind(), ArrayErrorKind::Axis);
}

/// Sums and extremes so far, along each axis and across the ends of tiles.
pub fn scans_are_those_of_loops(ctx: &Arc<ArrayContext>) {
    type OnHost = fn(i64, i64) -> i64;
    let operations: [(ScanOp, OnHost); 2] = [(ScanOp::Sum, |x, y| x + y), (ScanOp::Maximum, i64::max)];
    for (shape, dtype) in [
        ([1, 70_001, 1], DType::I64),
        ([3, 5000, 2], DType::F64),
        ([400, 3, 31], DType::I32),
        ([1, 1, 20_000], DType::U8),
    ] {
        let list = small(shape.iter().product(), 100, 8);
        let a = integers(ctx, &shape, &list, dtype);
        for axis in 0..3 {
            let stride: usize = shape[axis + 1..].iter().product();
            for (op, on_host) in operations {
                let mut wanted = list.clone();
                for k in 0..list.len() {
                    if !(k / stride).is_multiple_of(shape[axis]) {
                        wanted[k] = on_host(wanted[k - stride], list[k]);
                    }
                }
                let found = numbers(&a.cumulative(op, axis, None).unwrap());
                assert!(found == wanted, "{op:?} of {dtype} {shape:?} along axis {axis}");
            }
        }
    }
}

/// Values and places, both ways, with many equal elements.
pub fn sorts_are_stable_and_put_nan_last(ctx: &Arc<ArrayContext>) {
    for (n, rows, dtype) in [(1, 1, DType::F32), (300, 7, DType::I8), (2500, 3, DType::F64), (40_000, 1, DType::U32)] {
        let list = small(n * rows, 100, 9);
        let a = integers(ctx, &[rows, n], &list, dtype);
        for descending in [false, true] {
            let mut wanted: Vec<(i64, i64)> = Vec::new();
            for row in list.chunks(n) {
                let mut row: Vec<(i64, i64)> = row.iter().copied().zip(0..).collect();
                row.sort_by_key(|&(key, _)| if descending { -key } else { key });
                wanted.extend(row);
            }
            let (keys, places): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
            assert!(numbers(&a.sorted(1, descending).unwrap()) == keys, "{rows} x {n} {dtype} {descending}");
            assert!(numbers(&a.argsort(1, descending).unwrap()) == places, "{rows} x {n} {dtype} {descending}");
        }
    }
    let a = vector(ctx, &[f64::NAN, 1.0, -f64::INFINITY, f64::NAN, f64::INFINITY, -0.0]);
    let sorted = elements(&a.sorted(0, false).unwrap());
    assert_close(&sorted, &[-f64::INFINITY, -0.0, 1.0, f64::INFINITY, f64::NAN, f64::NAN], 0.0, "sorted");
    assert_eq!(elements::<i64>(&a.argsort(0, false).unwrap()), [2, 5, 1, 4, 0, 3]);
}

/// Before equal elements, or after them.
pub fn searches_find_where_elements_belong(ctx: &Arc<ArrayContext>) {
    let mut list = small(3000, 500, 10);
    list.sort_unstable();
    let wanted = small(2000, 520, 11);
    let (a, values) = (vector(ctx, &list), vector(ctx, &wanted));
    for right in [false, true] {
        let found = elements::<i64>(&a.searchsorted(&values, right).unwrap());
        let belongs = |&value: &i64| list.partition_point(|&x| if right { x <= value } else { x < value }) as i64;
        assert_eq!(found, wanted.iter().map(belongs).collect::<Vec<_>>(), "right: {right}");
    }
    assert!(array(ctx, &[1, 3], &[1i64, 2, 3]).searchsorted(&values, true).is_err());
}

/// Rows by their numbers; numbers outside become others, or an error at the next read.
pub fn indices_are_checked_wrapped_or_clipped(ctx: &Arc<ArrayContext>) {
    let rows: Vec<i64> = (0..20).collect();
    let a = array(ctx, &[10, 2], &rows);
    let given = [0i64, 9, -1, 3, 12, -11];
    let take = |indices: &[i64], bounds| a.take(&vector(ctx, indices), 0, bounds, None);
    let wanted = |list: [i64; 6]| list.into_iter().flat_map(|row| [2 * row, 2 * row + 1]).collect::<Vec<_>>();
    assert_eq!(elements::<i64>(&take(&given, BoundsMode::Wrap).unwrap()), wanted([0, 9, 9, 3, 2, 9]));
    assert_eq!(elements::<i64>(&take(&given, BoundsMode::Clip).unwrap()), wanted([0, 9, 0, 3, 9, 0]));
    assert_eq!(elements::<i64>(&take(&given[..4], BoundsMode::Raise).unwrap())[4..6], [18, 19]);
    let outside = take(&given, BoundsMode::Raise).unwrap();
    let error = outside.read(&mut vec![0; outside.nbytes()], Order::C).unwrap_err();
    assert_eq!(error.kind(), ArrayErrorKind::Index, "{error}");
    // Once it was told, nothing is left of it.
    assert_eq!(elements::<i64>(&a), rows);
    assert!(a.take(&vector(ctx, &[1.5f64]), 0, BoundsMode::Wrap, None).is_err());
}

/// Elements that are written by index, and indices of those that are not 0.
pub fn elements_are_put_and_found(ctx: &Arc<ArrayContext>) {
    let n = 5000;
    let a = GpuArray::zeros(ctx, &[n], DType::F32, Order::C).unwrap();
    let places: Vec<i64> = (0..n as i64).filter(|k| k * k % 7 == 2).collect();
    let values: Vec<f32> = places.iter().map(|&k| k as f32 + 0.5).collect();
    a.put(&vector(ctx, &places), &vector(ctx, &values), 0, BoundsMode::Raise).unwrap();
    assert_eq!(elements::<i64>(&a.flat_nonzero().unwrap()), places);
    let found = a.take(&a.flat_nonzero().unwrap(), 0, BoundsMode::Raise, None).unwrap();
    assert_eq!(elements::<f32>(&found), values);
    let [rows, columns] = &a.reshape(&[50, 100], Order::C).unwrap().nonzero().unwrap()[..] else { panic!("two axes") };
    assert_eq!(elements::<i64>(rows), places.iter().map(|k| k / 100).collect::<Vec<_>>());
    assert_eq!(elements::<i64>(columns), places.iter().map(|k| k % 100).collect::<Vec<_>>());
}

/// Sums of segments, some of them empty, and of runs of equal keys.
pub fn segments_are_reduced_by_themselves(ctx: &Arc<ArrayContext>) {
    let list = small(5000, 9, 12);
    let offsets = [0i64, 0, 1, 40, 40, 3000, 4999, 5000];
    let sums = vector(ctx, &list).segmented_reduce(ScanOp::Sum, &vector(ctx, &offsets), None).unwrap();
    let wanted = offsets.windows(2).map(|pair| list[pair[0] as usize..pair[1] as usize].iter().sum::<i64>());
    assert_eq!(elements::<i64>(&sums), wanted.collect::<Vec<_>>());
    let keys: Vec<i64> = (0..5000).map(|k| k * k / 400_000).collect();
    let [found, sums] = reduce_by_key(&vector(ctx, &keys), &vector(ctx, &list), ScanOp::Sum, None).unwrap();
    let mut unique = keys.clone();
    unique.dedup();
    let sum_of = |key: &i64| (0..5000).filter(|&k| keys[k] == *key).map(|k| list[k]).sum();
    assert_eq!(elements::<i64>(&sums), unique.iter().map(sum_of).collect::<Vec<i64>>());
    assert_eq!(elements::<i64>(&found), unique);
}

/// Fusion changes the number of kernels and no result.
pub fn fused_operations_have_the_same_bits(ctx: &Arc<ArrayContext>) {
    let mut random = Random(13);
    let (x, y) = (array(ctx, &[70, 90], &random.numbers(6300)), vector(ctx, &random.numbers(90)));
    let body = || x.binary(Op::Multiply, &y)?.binary(Op::Add, 0.3)?.unary(Op::Sin)?.binary(Op::Subtract, &x);
    let (apart, fused) = (body().unwrap(), fuse::fuse(body).unwrap());
    let bits = |array: &GpuArray| elements::<f64>(array).into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(&fused), bits(&apart));
    let total = || Ok(reduce(&body()?, ReductionOp::Sum, Some(&[1])));
    assert_eq!(bits(&fuse::fuse(total).unwrap()), bits(&total().unwrap()));
}
