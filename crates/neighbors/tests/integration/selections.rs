//! The largest and smallest elements of rows.

use crate::contexts::{context, large_gpu};
use crate::host_arrays::{Element, Random, array, elements, message, vector};
use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType};
use rtcg_neighbors::topk;
use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

/// Values and indices in order: NaN is larger than every number, and equal elements keep their order.
fn selected(rows: &[f64], length: usize, k: usize, is_largest: bool) -> (Vec<f64>, Vec<i64>) {
    let compare = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap(),
        (a, b) => a.cmp(&b),
    };
    let of_row = |row: &[f64]| {
        let mut order: Vec<(f64, i64)> = row.iter().copied().zip(0..).collect();
        order.sort_by(|a, b| {
            let by_value = compare(a.0, b.0);
            let by_value = if is_largest { by_value.reverse() } else { by_value };
            if by_value == Ordering::Equal { a.1.cmp(&b.1) } else { by_value }
        });
        order.truncate(k);
        order
    };
    rows.chunks(length).flat_map(of_row).unzip()
}

fn check(ctx: &Arc<ArrayContext>, rows: &[f64], length: usize, k: usize, dtype: DType) {
    let values = array(ctx, &[rows.len() / length, length], rows).astype(dtype).unwrap();
    for is_largest in [true, false] {
        let [found, indices] = topk(&values, k, is_largest).unwrap();
        let what = format!("{k} of {length} {dtype}, largest: {is_largest}");
        assert_eq!((found.dtype(), found.shape()), (dtype, &[rows.len() / length, k][..]), "{what}");
        let (wanted, places) = selected(rows, length, k, is_largest);
        assert_same(&elements::<f64>(&found.astype(DType::F64).unwrap()), &wanted, &what);
        assert_eq!(elements::<i64>(&indices), places, "{what}");
    }
}

fn assert_same(found: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let is_same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    assert!(found.iter().zip(wanted).all(is_same), "{what}: {found:?}, expected {wanted:?}");
}

#[test]
fn rows_of_all_lengths_and_dtypes_are_selected_from() {
    let mut random = Random(1);
    for ctx in [context(), large_gpu()] {
        for (count, length, k) in [
            (1, 1, 1),
            (3, 7, 7),
            (40, 33, 2),
            (2, 5000, 63),
            (2, 5000, 64),
            (2, 5000, 65),
            (1, 70_000, 10),
            (5, 300, 0),
        ] {
            let rows = random.whole_numbers(count * length, 0, 90);
            for dtype in [DType::F32, DType::U8, DType::I64, DType::F16] {
                check(&ctx, &rows, length, k, dtype);
            }
        }
    }
}

#[test]
fn nan_is_the_largest_and_keeps_its_place() {
    let mut random = Random(2);
    for ctx in [context(), large_gpu()] {
        for length in [5, 400, 3000] {
            let mut rows = random.whole_numbers(3 * length, -9, 9);
            rows.iter_mut().step_by(4).for_each(|x| *x = f64::NAN);
            rows.iter_mut().skip(1).step_by(7).for_each(|x| *x = f64::INFINITY);
            rows.iter_mut().skip(2).step_by(9).for_each(|x| *x = f64::NEG_INFINITY);
            for k in [1, 5.min(length), 64.min(length), 100.min(length)] {
                check(&ctx, &rows, length, k, DType::F64);
                check(&ctx, &rows, length, k, DType::BF16);
            }
        }
    }
}

fn check_extremes<T: Element + Ord + Debug>(ctx: &Arc<ArrayContext>, numbers: &[T]) {
    let mut sorted = numbers.to_vec();
    sorted.sort();
    let [smallest, _] = topk(&vector(ctx, numbers), 2, false).unwrap();
    assert_eq!(elements::<T>(&smallest), sorted[..2]);
    sorted.reverse();
    let [largest, _] = topk(&vector(ctx, numbers), 2, true).unwrap();
    assert_eq!(elements::<T>(&largest), sorted[..2]);
}

#[test]
fn extremes_of_integers_are_told_apart() {
    for ctx in [context(), large_gpu()] {
        check_extremes(&ctx, &[0, i64::MIN, i64::MAX, i64::MAX - 1, i64::MIN + 1]);
        check_extremes(&ctx, &[u64::MAX - 1, 0, u64::MAX, 1]);
        check_extremes(&ctx, &[i8::MIN, 3, i8::MAX, -1]);
        check_extremes(&ctx, &[true, false, true, false]);
    }
}

#[test]
fn axes_views_and_errors() {
    let ctx = context();
    let values = array(&ctx, &[2, 3, 4], &Random(3).whole_numbers(24, 0, 99));
    let turned = values.transpose(None).unwrap();
    let [found, indices] = topk(&turned, 1, true).unwrap();
    assert_eq!((found.shape(), indices.shape()), (&[4, 3, 1][..], &[4, 3, 1][..]));
    let contiguous = turned.copy(Some(Order::C)).unwrap();
    assert_eq!(elements::<f64>(&found), elements::<f64>(&topk(&contiguous, 1, true).unwrap()[0]));
    let none = GpuArray::empty(&ctx, &[3, 0], DType::F32, Order::C).unwrap();
    assert_eq!(topk(&none, 0, true).unwrap()[0].shape(), [3, 0]);
    assert_eq!(message(topk(&none, 1, true)), "k is 1; expected at most 0, for values of shape (3, 0)");
    let rowless = GpuArray::empty(&ctx, &[0, 200], DType::F32, Order::C).unwrap();
    assert_eq!([5, 100].map(|k| topk(&rowless, k, false).unwrap()[1].size()), [0, 0]);
    assert_eq!(message(topk(&array(&ctx, &[], &[1.0]), 1, true)), "values has shape (); expected at least one axis");
    let complex = values.astype(DType::C128).unwrap();
    assert_eq!(topk(&complex, 1, true).unwrap_err().kind(), ArrayErrorKind::Type);
}
