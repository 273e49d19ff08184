//! k-means and reductions by label, against loops on the host.

use crate::contexts::{context, large_gpu};
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use rtcg_array::{CategoryOp, CategoryOptions, GpuArray, ScanOp, category_reduce, histogram, nearest_columns};
use rtcg_hal::{ArrayContext, DType};
use rtcg_neighbors::{KMeansInit, KMeansOptions, kmeans};
use std::sync::Arc;

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn nearest(row: &[f64], centers: &[f64]) -> usize {
    let distances: Vec<f64> = centers.chunks(row.len()).map(|center| squared_distance(row, center)).collect();
    (0..distances.len()).min_by(|&i, &j| distances[i].total_cmp(&distances[j])).unwrap()
}

/// Centres, inertia and the number of iterations; no cluster becomes empty.
fn lloyd(rows: &[f64], d: usize, start: &[f64], weights: &[f64]) -> (Vec<f64>, f64, usize) {
    let (mut centers, mut labels, mut n_iter) = (start.to_vec(), vec![usize::MAX; rows.len() / d], 0);
    loop {
        n_iter += 1;
        let found: Vec<usize> = rows.chunks(d).map(|row| nearest(row, &centers)).collect();
        let (mut sums, mut totals) = (vec![0.0; centers.len()], vec![0.0; centers.len() / d]);
        for ((row, &label), weight) in rows.chunks(d).zip(&found).zip(weights) {
            totals[label] += weight;
            row.iter().enumerate().for_each(|(t, x)| sums[label * d + t] += x * weight);
        }
        centers = sums.iter().enumerate().map(|(i, sum)| sum / totals[i / d]).collect();
        if labels == found {
            break;
        }
        labels = found;
    }
    let distance = |(i, row): (usize, &[f64])| weights[i] * squared_distance(row, &centers[labels[i] * d..][..d]);
    (centers.clone(), rows.chunks(d).enumerate().map(distance).sum(), n_iter)
}

fn clustered_rows(random: &mut Random, n: usize, d: usize, k: usize, offset: f64) -> Vec<f64> {
    let centers = random.numbers(k * d);
    let row = |i: usize| i % k * d;
    (0..n * d)
        .map(|at| {
            offset
                + (8.0 * centers[row(at / d) + at % d] * 64.0).round() / 64.0
                + (random.number() * 128.0).round() / 64.0
        })
        .collect()
}

#[test]
fn a_start_leads_to_the_same_centers_as_on_the_host() {
    let mut random = Random(5);
    for ctx in [context(), large_gpu()] {
        for (n, d, k, dtype, offset) in [
            (300, 2, 4, DType::F64, 0.0),
            (700, 19, 70, DType::F64, 50.0),
            (300, 3, 5, DType::F32, 10.0),
            (700, 40, 9, DType::F32, 0.0),
            (400, 24, 6, DType::F16, 0.0),
            (300, 5, 3, DType::F16, 0.0),
        ] {
            let rows = clustered_rows(&mut random, n, d, k, offset);
            let weights: Vec<f64> = (0..n).map(|i| if d == 3 { 0.5 + (i % 3) as f64 } else { 1.0 }).collect();
            let x = array(&ctx, &[n, d], &rows).astype(dtype).unwrap();
            let start = array(&ctx, &[k, d], &rows[..k * d]);
            let factors = vector(&ctx, &weights);
            let options = KMeansOptions {
                init: KMeansInit::Centers(&start),
                tol: 0.0,
                weights: (d == 3).then_some(&factors),
                ..KMeansOptions::default()
            };
            let found = kmeans(&x, k, &options).unwrap();
            let (centers, inertia, n_iter) = lloyd(&rows, d, &rows[..k * d], &weights);
            let what = format!("{n} rows of {d} {dtype}, {k} clusters");
            assert_eq!(found.labels.dtype(), DType::I32);
            // Centres of float16 products are rounded to it.
            let tolerance =
                [1e-12, 1e-5, 2e-2][[DType::F64, DType::F32, DType::F16].iter().position(|&t| t == dtype).unwrap()];
            assert_close(
                &elements::<f64>(&found.centers.astype(DType::F64).unwrap()),
                &centers,
                tolerance * 50.0,
                &what,
            );
            assert_close(&[found.inertia], &[inertia], tolerance, &what);
            if dtype == DType::F64 {
                assert_eq!(found.n_iter, n_iter, "{what}");
            }
            let again = kmeans(&x, k, &options).unwrap();
            assert_eq!(again.inertia.to_bits(), found.inertia.to_bits(), "{what}");
            assert_eq!(elements::<i32>(&again.labels), elements::<i32>(&found.labels), "{what}");
        }
    }
}

#[test]
fn empty_clusters_get_the_farthest_rows() {
    let ctx = context();
    let x = array(&ctx, &[4, 1], &[0.0, 1.0, 10.0, 2.0]);
    let start = array(&ctx, &[3, 1], &[0.5, 100.0, 1.5]);
    let options = KMeansOptions { init: KMeansInit::Centers(&start), ..KMeansOptions::default() };
    let found = kmeans(&x, 3, &options).unwrap();
    assert_eq!(elements::<f64>(&found.centers), [0.5, 10.0, 2.0]);
    assert_eq!(elements::<i32>(&found.labels), [0, 0, 1, 2]);
    assert_eq!(found.inertia, 0.5);
    // More clusters than different rows.
    let same = array(&ctx, &[3, 1], &[4.0, 4.0, 4.0]);
    let found = kmeans(&same, 2, &KMeansOptions::default()).unwrap();
    assert_eq!((elements::<f64>(&found.centers), found.inertia), (vec![4.0, 4.0], 0.0));
}

#[test]
fn starts_find_separate_clusters() {
    let (ctx, mut random) = (context(), Random(9));
    let rows: Vec<f64> = (0..600).map(|i| (i / 2 % 3) as f64 * 100.0 + random.number()).collect();
    let x = array(&ctx, &[300, 2], &rows);
    let weights = vector(&ctx, &vec![2.0; 300]);
    for seed in 0..3 {
        let options = KMeansOptions { seed, ..KMeansOptions::default() };
        let found = kmeans(&x, 3, &options).unwrap();
        let mut centers: Vec<i64> = elements::<f64>(&found.centers).iter().map(|x| x.round() as i64 / 10).collect();
        centers.sort_unstable();
        assert_eq!(centers, [0, 0, 10, 10, 20, 20]);
        let options = KMeansOptions { init: KMeansInit::Random, n_init: 8, weights: Some(&weights), ..options };
        assert_close(&[kmeans(&x, 3, &options).unwrap().inertia], &[2.0 * found.inertia], 1e-12, "inertia");
    }
}

#[test]
fn bad_arguments_are_named() {
    let ctx = context();
    let x = array(&ctx, &[2, 1], &[0.0, f64::NAN]);
    assert!(message(kmeans(&x, 1, &KMeansOptions::default())).contains("x[:, 0] has NaN"));
    assert!(message(kmeans(&x, 3, &KMeansOptions::default())).contains("k is 3 for x of shape (2, 1)"));
    let start = array(&ctx, &[1, 2], &[0.0, 1.0]);
    let ones = array(&ctx, &[2, 1], &[0.0, 1.0]);
    let options = KMeansOptions { init: KMeansInit::Centers(&start), ..KMeansOptions::default() };
    assert!(message(kmeans(&ones, 1, &options)).contains("init has shape (1, 2); expected (1, 1)"));
    let negative = vector(&ctx, &[1.0, -1.0]);
    let options = KMeansOptions { weights: Some(&negative), ..KMeansOptions::default() };
    assert!(message(kmeans(&ones, 1, &options)).contains("weights have a minimum of -1"));
}

fn check_argmin(ctx: &Arc<ArrayContext>, [m, n, k]: [usize; 3], dtype: DType) -> bool {
    let mut random = Random(3);
    let mut whole = |count| random.numbers(count).iter().map(|x| (x * 4.0).round()).collect::<Vec<f64>>();
    let (rows, centers) = (whole(m * k), whole(n * k));
    let a = array(ctx, &[m, k], &rows).astype(dtype).unwrap();
    let b = array(ctx, &[n, k], &centers).astype(dtype).unwrap().swapaxes(0, 1).unwrap();
    let bias: Vec<f32> = centers.chunks(k).map(|row| row.iter().map(|x| (x * x) as f32).sum()).collect();
    let Some(keys) = nearest_columns(&a, &b, &vector(ctx, &bias)).unwrap() else { return false };
    let found: Vec<usize> = elements::<u64>(&keys).iter().map(|key| (key & 0xffff_ffff) as usize).collect();
    // All numbers are exact, and of equal ones the first is taken.
    let wanted: Vec<usize> = rows.chunks(k).map(|row| nearest(row, &centers)).collect();
    assert_eq!(found, wanted, "{m} rows, {n} columns of {k} {dtype}");
    true
}

#[test]
fn products_keep_the_nearest_column() {
    assert!(!check_argmin(&context(), [3, 2, 4], DType::F64));
    for dtype in [DType::F16, DType::F32] {
        for lengths in [[1, 1, 8], [130, 70, 40], [300, 257, 64], [65, 3, 16]] {
            assert!(check_argmin(&large_gpu(), lengths, dtype));
        }
    }
}

fn sums_by_label(values: &GpuArray, labels: &GpuArray, n_labels: usize, is_ordered: bool) -> Vec<f64> {
    let options = CategoryOptions { is_ordered, ..CategoryOptions::default() };
    let sums = category_reduce(values, labels, n_labels, &CategoryOp::Reduce(ScanOp::Sum), options).unwrap();
    elements::<f64>(&sums.astype(DType::F64).unwrap())
}

#[test]
fn all_kernels_of_reductions_by_label_agree() {
    let mut random = Random(2);
    for ctx in [context(), large_gpu()] {
        // Few labels, more, and so many that rows are sorted; numbers and vectors.
        for (n, n_labels, d) in
            [(0, 3, 1), (1, 1, 1), (9000, 5, 1), (9000, 2000, 1), (9000, 9001, 1), (5000, 7, 33), (5000, 900, 3)]
        {
            let rows = random.numbers(n * d).iter().map(|x| (x * 16.0).round()).collect::<Vec<f64>>();
            let labels: Vec<i32> = (0..n).map(|_| random.below(n_labels) as i32).collect();
            let mut wanted = vec![0.0; n_labels * d];
            rows.iter().enumerate().for_each(|(i, x)| wanted[labels[i / d] as usize * d + i % d] += x);
            let x = array(&ctx, &[n, d], &rows);
            let at = vector(&ctx, &labels);
            for dtype in [DType::F32, DType::F64, DType::I16] {
                let x = x.astype(dtype).unwrap();
                for is_ordered in [false, true] {
                    let what = format!("{n} rows of {d} {dtype}, {n_labels} labels, ordered: {is_ordered}");
                    assert_eq!(sums_by_label(&x, &at, n_labels, is_ordered), wanted, "{what}");
                }
            }
        }
    }
}

#[test]
fn reductions_by_label_are_the_same_bits_each_time() {
    let (ctx, mut random) = (large_gpu(), Random(4));
    for n_labels in [3, 2500, 20_000] {
        let values = vector(&ctx, &random.numbers(20_000)).astype(DType::F32).unwrap();
        let labels = vector(&ctx, &(0..20_000).map(|_| random.below(n_labels) as i64).collect::<Vec<_>>());
        let first = sums_by_label(&values, &labels, n_labels, false);
        assert!((0..3).all(|_| sums_by_label(&values, &labels, n_labels, false) == first));
    }
}

#[test]
fn expressions_keep_order_where_asked() {
    let ctx = context();
    let values = vector(&ctx, &[1_i32, 2, 3, 4, 5]);
    let labels = vector(&ctx, &[2_u8, 0, 2, 0, 2]);
    let last = CategoryOp::Custom { expression: "b".into(), neutral: "-7".into() };
    let options = CategoryOptions { is_ordered: true, ..CategoryOptions::default() };
    let found = category_reduce(&values, &labels, 4, &last, options).unwrap();
    assert_eq!(elements::<i32>(&found), [4, -7, 5, -7]);
    let product = CategoryOp::Custom { expression: "a * b".into(), neutral: "1".into() };
    let found = category_reduce(&values, &labels, 4, &product, CategoryOptions::default()).unwrap();
    assert_eq!(elements::<i32>(&found), [8, 1, 15, 1]);
    let outside = category_reduce(&values, &labels, 2, &product, CategoryOptions::default()).unwrap();
    let mut bytes = [0; 8];
    assert!(message(outside.read(&mut bytes, rtcg_array::Order::C)).contains("a label is out of range"));
}

#[test]
fn bins_are_closed_at_the_left_and_the_last_one_at_both_ends() {
    let ctx = context();
    let x = vector(&ctx, &[0.0f32, 1.0, 1.5, 2.0, 4.0, -0.5, 4.5, f32::NAN]);
    let edges = vector(&ctx, &[0.0, 1.0, 2.0, 4.0]);
    let weights = vector(&ctx, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
    for bins_per_unit in [0.0, 0.75] {
        assert_eq!(elements::<i64>(&histogram(&x, &edges, bins_per_unit, None).unwrap()), [1, 2, 2]);
        assert_eq!(elements::<f64>(&histogram(&x, &edges, bins_per_unit, Some(&weights)).unwrap()), [1.0, 6.0, 24.0]);
    }
}
