//! Structures: checks on the host and on the device, order of elements, extremes of rows, features.

use crate::contexts::context;
use crate::host_arrays::{Random, elements, message, vector};
use crate::host_matrices::{Rows, devices, edges, from_rows, numbers, random, row, upload, upload_as};
use rtcg_hal::DType;
use rtcg_sparse::{MatrixFeatures, check_device_structure, check_structure, gallery, index_extremes, order_by_row};

#[test]
fn host_and_device_refuse_the_same_structures() {
    // Indices, indptr, and a part of both messages; the matrix has 3 rows and 4 columns.
    let cases: [(&[i64], &[i64], &str); 9] = [
        (&[0, 3, 1], &[0, 2, 2, 3], ""),
        (&[], &[0, 0, 0, 0], ""),
        (&[0, 3, 1, 2], &[0, 2, 2, 3], ""),
        (&[0, 3, 1], &[0, 2, 3], "index pointer size 3 should be 4"),
        (&[0, 3, 1], &[1, 2, 2, 3], "index pointer should start with 0"),
        (&[0, 3], &[0, 2, 2, 3], "Last value of index pointer should be less than the size of index and data arrays"),
        (&[0, 3, 1], &[0, 3, 2, 3], "indptr must be a non-decreasing sequence"),
        (&[0, 4, 1], &[0, 2, 2, 3], "indices must be < 4"),
        (&[0, 3, -1], &[0, 2, 2, 3], "indices must be >= 0"),
    ];
    for ctx in devices() {
        for (indices, indptr, part) in cases {
            let on_host = check_structure([3, 4], indices, indptr);
            let on_device = check_device_structure([3, 4], &vector(&ctx, indices), &vector(&ctx, indptr));
            if part.is_empty() {
                on_host.unwrap();
                assert_eq!(on_device.unwrap()[0], *indptr.last().unwrap() as usize);
            } else {
                let texts = [message(on_host), message(on_device)];
                assert!(texts.iter().all(|text| text.contains(part)), "{part}: {texts:?}");
            }
        }
        for (name, host) in edges() {
            let a = upload(&ctx, &host);
            let longest = (0..host.shape[0]).map(|i| row(&host, i).count()).max().unwrap_or(0);
            let found = check_device_structure(host.shape, a.indices(), a.indptr()).unwrap();
            assert_eq!(found, [host.data.len(), longest], "{name}");
        }
    }
}

#[test]
fn one_wrong_index_among_many_is_found_wherever_it_is() {
    let n = 200_000usize;
    let indptr: Vec<i32> = (0..=n as i32).collect();
    for ctx in devices() {
        for place in [0, 1, 77_777, n - 1] {
            for (wrong, text) in [(-5, "indices must be >= 0; one is -5"), (9, "indices must be < 9; one is 9")] {
                let mut indices: Vec<i32> = (0..n as i32).map(|k| k % 9).collect();
                indices[place] = wrong;
                let found = check_device_structure([n, 9], &vector(&ctx, &indices), &vector(&ctx, &indptr));
                assert_eq!(message(found), text, "at {place}");
            }
            let mut falling = indptr.clone();
            falling[place + 1] -= 2;
            let indices = vector(&ctx, &vec![0i32; n]);
            let found = message(check_device_structure([n, 9], &indices, &vector(&ctx, &falling)));
            let is_last = place == n - 1;
            assert!(found.contains("it falls by 1"), "at {place}, which is the last: {is_last}: {found}");
        }
    }
}

#[test]
fn extremes_of_arrays_of_either_kind() {
    for ctx in devices() {
        let mut random = Random(1);
        let list: Vec<i64> = (0..70_000).map(|_| random.integer(-1_000_000_000_000, 1_000_000_000_000)).collect();
        let extremes = [*list.iter().min().unwrap(), *list.iter().max().unwrap()];
        let found = index_extremes(&vector(&ctx, &list), None).unwrap();
        assert_eq!((found.indices, found.row_lengths, found.ends), (Some(extremes), [0, 0], [0, 0]));
        let found = index_extremes(&vector(&ctx, &[7i32]), Some(&vector(&ctx, &[0i32, 0, 1]))).unwrap();
        assert_eq!((found.indices, found.row_lengths, found.ends), (Some([7, 7]), [0, 1], [0, 1]));
        let nothing: [i32; 0] = [];
        let found = index_extremes(&vector(&ctx, &nothing), Some(&vector(&ctx, &[5i32, 3, 8]))).unwrap();
        assert_eq!((found.indices, found.row_lengths, found.ends), (None, [-2, 5], [5, 8]));
    }
    let ctx = context();
    let wrong = index_extremes(&vector(&ctx, &[1.0]), None);
    assert!(message(wrong).contains("dtype float64; expected contiguous vectors of int32 or int64"));
    assert!(index_extremes(&vector(&ctx, &[1i32]), Some(&vector(&ctx, &[0i64, 1]))).is_err(), "one dtype");
}

#[test]
fn triples_are_sorted_by_row_and_stay_in_order() {
    let mut random = Random(2);
    let rows: Vec<i32> = (0..5000).map(|_| random.below(70) as i32).collect();
    let (starts, order) = order_by_row(71, &rows).unwrap();
    let mut wanted: Vec<usize> = (0..5000).collect();
    wanted.sort_by_key(|&k| rows[k]);
    assert_eq!(order, wanted);
    assert!((0..71).all(|i| starts[i + 1] - starts[i] == rows.iter().filter(|&&row| row as usize == i).count()));
    assert_eq!(order_by_row(0, &[0i64; 0]).unwrap(), (vec![0], vec![]));
    assert_eq!(message(order_by_row(3, &[0, 3])), "axis 0 index 3 exceeds matrix dimension 3");
    assert_eq!(message(order_by_row(3, &[0i64, -1])), "negative axis 0 index: -1");
}

#[test]
fn the_order_of_columns_is_recognised() {
    for ctx in devices() {
        let sorted = |rows| {
            let a = upload(&ctx, &from_rows([2, 9], rows));
            [a.has_sorted_indices(false).unwrap(), a.has_sorted_indices(true).unwrap()]
        };
        assert_eq!(sorted(vec![vec![(1, 1.0), (5, 1.0)], vec![(0, 1.0)]]), [true, true]);
        assert_eq!(sorted(vec![vec![(1, 1.0), (1, 1.0)], vec![(0, 1.0)]]), [true, false]);
        assert_eq!(sorted(vec![vec![(8, 1.0)], vec![(5, 1.0), (4, 1.0)]]), [false, false]);
        assert_eq!(sorted(vec![vec![], vec![]]), [true, true]);
        // One pair among many, at the borders of warps and blocks too.
        for place in [0, 30, 31, 32, 255, 256, 9_998] {
            let mut long: Vec<(usize, f64)> = (0..10_000).map(|j| (j, 1.0)).collect();
            long.swap(place, place + 1);
            let a = upload(&ctx, &from_rows([1, 10_000], vec![long]));
            assert!(!a.has_sorted_indices(false).unwrap(), "at {place}");
        }
    }
}

#[test]
fn extremes_of_rows_count_what_is_not_stored() {
    for ctx in devices() {
        let mut host = random([300, 12], 14, Rows::Canonical, 3);
        host.data.iter_mut().step_by(9).for_each(|value| *value = f64::NAN);
        for (is_largest, ignores_nan) in [(true, false), (true, true), (false, false), (false, true)] {
            let [values, places] = upload(&ctx, &host).row_extremes(is_largest, ignores_nan).unwrap();
            let (values, places): (Vec<f64>, Vec<i64>) = (elements(&values), elements(&places));
            for i in 0..300 {
                let mut all = [0.0; 12];
                row(&host, i).for_each(|(j, value)| all[j] = value);
                let is_better = |a: f64, b: f64| if is_largest { a > b } else { a < b };
                let mut best = None;
                for (j, &value) in all.iter().enumerate() {
                    match best {
                        _ if value.is_nan() && ignores_nan => {}
                        Some((_, kept)) if f64::is_nan(kept) || !(value.is_nan() || is_better(value, kept)) => {}
                        _ => best = Some((j, value)),
                    }
                }
                let (column, value) = best.unwrap_or((0, f64::NAN));
                let is_same = values[i] == value || (values[i].is_nan() && value.is_nan());
                let what = format!("row {i} {all:?}, largest: {is_largest}, ignores NaN: {ignores_nan}");
                assert!(is_same && places[i] == column as i64, "{what}: {} at {}", values[i], places[i]);
            }
        }
        let of = |dtype| upload_as(&ctx, &random([5, 3], 3, Rows::Canonical, 4), dtype, DType::I32);
        assert!(message(of(DType::C64).row_extremes(true, false)).contains("a matrix of complex64 and 3 columns"));
        let [values, _] = of(DType::I8).row_extremes(false, false).unwrap();
        assert_eq!(values.dtype(), DType::I8);
        let nothing = upload(&ctx, &from_rows([0, 3], vec![])).row_extremes(true, true).unwrap();
        assert_eq!(nothing.map(|array| array.size()), [0, 0]);
        assert!(upload(&ctx, &from_rows([3, 0], vec![vec![]; 3])).row_extremes(true, true).is_err());
    }
}

#[test]
fn features_are_those_that_the_host_counts() {
    for ctx in devices() {
        for (name, host) in edges().into_iter().chain([("a grid", gallery::poisson(&[30, 40]))]) {
            let found = MatrixFeatures::from_csr(&upload(&ctx, &host)).unwrap();
            let [rows, _] = host.shape;
            let lengths: Vec<usize> = (0..rows).map(|i| row(&host, i).count()).collect();
            assert_eq!(found.longest_row, lengths.iter().copied().max().unwrap_or(0), "{name}");
            let squares: f64 = lengths.iter().map(|&n| (n * n) as f64).sum();
            assert_eq!(found.squared_lengths, squares, "{name}");
            let slices = lengths.chunks(32).map(|slice| 32 * slice.iter().max().unwrap()).sum::<usize>();
            assert_eq!(found.slice_elements, slices, "{name}");
            if lengths.iter().all(|&n| n <= 256) {
                let offset = |i| row(&host, i).map(move |(j, _)| j as isize - i as isize);
                let mut offsets: Vec<isize> = (0..rows).flat_map(offset).collect();
                offsets.sort_unstable();
                offsets.dedup();
                assert_eq!(found.diagonals, offsets.len(), "{name}");
            }
        }
        let blocks = MatrixFeatures::from_csr(&upload(&ctx, &gallery::block_diagonal(300, 3, 1))).unwrap();
        assert_eq!((blocks.block_fill[1], blocks.bandwidth), (1.0, 2));
        assert!(blocks.block_fill[0] < 1.0);
    }
}

#[test]
fn elements_of_16_bits_are_stored() {
    let ctx = context();
    let host = random([20, 20], 5, Rows::Canonical, 5);
    for dtype in [DType::F16, DType::BF16] {
        let a = upload_as(&ctx, &host, dtype, DType::I32);
        assert_eq!(numbers(a.to_dtype(DType::F32).unwrap().data()), host.data);
        assert_eq!(a.to_dtype(dtype).unwrap().data().dtype(), dtype);
    }
    assert!(upload(&ctx, &host).to_dtype(DType::Void(3)).is_err());
}
