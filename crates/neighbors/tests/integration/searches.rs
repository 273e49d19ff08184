//! Searches by every metric and way to find candidates, with ties, one query, and what is refused.

use crate::contexts::{context, context_claiming, large_gpu};
use crate::fake_device::LARGE_GPU;
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use rtcg_array::{GpuArray, Index as At, Order};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType, DeviceInfo, ExecutionModel};
use rtcg_neighbors::{Candidates, Index, Metric, Neighbors, knn, radius_count};
use std::sync::Arc;

const METRICS: [Metric; 5] = [Metric::L2, Metric::SquaredL2, Metric::L1, Metric::Chebyshev, Metric::Cosine];

/// A distance in float64, whose terms are added in the order of dimensions.
fn distance(metric: Metric, a: &[f64], b: &[f64]) -> f64 {
    let terms = || a.iter().zip(b).map(|(a, b)| a - b);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
    match metric {
        Metric::L2 => terms().fold(0.0, |sum, term| sum + term * term).sqrt(),
        Metric::SquaredL2 => terms().fold(0.0, |sum, term| sum + term * term),
        Metric::L1 => terms().fold(0.0, |sum, term| sum + term.abs()),
        Metric::Chebyshev => terms().fold(0.0, |most, term| f64::max(most, term.abs())),
        Metric::Cosine => {
            let lengths = dot(a, a).sqrt() * dot(b, b).sqrt();
            1.0 - if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
        }
    }
}

/// Distances and indices, of equal distances the lower index first.
pub(crate) fn nearest(metric: Metric, queries: &[f64], points: &[f64], d: usize, k: usize) -> (Vec<f64>, Vec<i64>) {
    let of_query = |query: &[f64]| {
        let all = points.chunks(d).map(|point| distance(metric, query, point));
        let mut order: Vec<(f64, i64)> = all.zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(k);
        order
    };
    queries.chunks(d).flat_map(of_query).unzip()
}

pub(crate) fn rows(ctx: &Arc<ArrayContext>, numbers: &[f64], d: usize, dtype: DType) -> GpuArray {
    array(ctx, &[numbers.len() / d, d], numbers).astype(dtype).unwrap()
}

fn assert_nearest(found: &Neighbors, wanted: &(Vec<f64>, Vec<i64>), tolerance: f64, what: &str) {
    let distances: Vec<f64> = elements(&found.distances.astype(DType::F64).unwrap());
    assert_close(&distances, &wanted.0, tolerance, what);
    assert_eq!(elements::<i64>(&found.indices), wanted.1, "{what}");
}

/// Multiples of 1/8, many of which are equal: all dtypes have them, and squared distances have no rounding.
fn eighths(n: usize, seed: u64) -> Vec<f64> {
    Random(seed).whole_numbers(n, -16, 16).iter().map(|x| x / 8.0).collect()
}

/// Each size, metric and dtype is a kernel that takes longer to compile than to run: every pair of them is there once.
#[test]
fn all_metrics_and_dtypes_find_what_the_host_finds() {
    let sizes = [(1, 20, 300, 5), (3, 33, 70, 70), (20, 9, 500, 3), (40, 300, 700, 17)];
    let dtypes = [DType::F64, DType::F32, DType::F16];
    for (place, ctx) in [context(), large_gpu()].iter().enumerate() {
        for (which, metric) in METRICS.into_iter().enumerate() {
            for (k_size, &(d, m, n, k)) in sizes.iter().enumerate() {
                // Cosines of other vectors are equal by chance, and by rounding only.
                if metric == Metric::Cosine && d < 20 {
                    continue;
                }
                let (queries, points) = (eighths(m * d, 1), eighths(n * d, 2));
                let wanted = nearest(metric, &queries, &points, d, k);
                let dtype = dtypes[(place + which + k_size) % 3];
                let what = format!("{metric:?} of {m} among {n} x {d} {dtype}, {k} neighbours");
                let found = knn(&rows(ctx, &queries, d, dtype), &rows(ctx, &points, d, dtype), k, metric).unwrap();
                let is_double = dtype == DType::F64;
                assert_eq!(found.distances.dtype(), if is_double { DType::F64 } else { DType::F32 }, "{what}");
                assert_nearest(&found, &wanted, if is_double { 1e-14 } else { 1e-6 }, &what);
            }
        }
    }
}

#[test]
fn ties_go_to_the_lower_index() {
    for ctx in [context(), large_gpu()] {
        for (n, d) in [(1000, 2), (3000, 48)] {
            // Four points, each many times over.
            let points: Vec<f64> = (0..n * d).map(|k| if k / d % 4 == k % 4 { 1.0 } else { 0.0 }).collect();
            let queries: Vec<f64> = points[..4 * d].to_vec();
            for (k, metric) in [(1, Metric::L1), (16, Metric::L2), (100, Metric::Chebyshev), (600, Metric::L2)] {
                let wanted = nearest(metric, &queries, &points, d, k);
                for dtype in if k == 16 { vec![DType::F32, DType::F64] } else { vec![DType::F32] } {
                    let index = Index::new(&rows(&ctx, &points, d, dtype), metric).unwrap();
                    let found = index.search(&rows(&ctx, &queries, d, dtype), k).unwrap();
                    assert_nearest(&found, &wanted, 1e-6, &format!("{metric:?}, {n} x {d} {dtype}, {k}"));
                }
            }
        }
    }
}

#[test]
fn one_query_one_point_and_no_query_are_searched() {
    for ctx in [context(), large_gpu()] {
        for metric in METRICS {
            let (query, points) = (eighths(7, 3), eighths(7 * 400, 4));
            let one = rows(&ctx, &query, 7, DType::F32);
            let found = knn(&one, &rows(&ctx, &points, 7, DType::F32), 9, metric).unwrap();
            assert_nearest(&found, &nearest(metric, &query, &points, 7, 9), 1e-6, &format!("{metric:?}, one query"));
            let found = knn(&one, &one, 1, metric).unwrap();
            assert_nearest(&found, &(vec![0.0], vec![0]), 1e-7, &format!("{metric:?}, itself"));
            let none = GpuArray::empty(&ctx, &[0, 7], DType::F32, Order::C).unwrap();
            let found = knn(&none, &one, 1, metric).unwrap();
            assert_eq!((found.distances.shape(), found.indices.shape()), (&[0, 1][..], &[0, 1][..]));
            assert_eq!(radius_count(&none, &one, 1.0, metric).unwrap().shape(), [0]);
        }
    }
}

#[test]
fn neighbours_up_to_the_most_are_sorted() {
    for ctx in [context(), large_gpu()] {
        let (queries, points) = (eighths(2 * 5, 5), Random(6).numbers(5 * 3000));
        for k in [16, 17, 65, 1024] {
            let found = knn(&rows(&ctx, &queries, 5, DType::F64), &rows(&ctx, &points, 5, DType::F64), k, Metric::L1);
            assert_nearest(&found.unwrap(), &nearest(Metric::L1, &queries, &points, 5, k), 1e-14, &k.to_string());
        }
        let points = rows(&ctx, &points, 5, DType::F64);
        assert_eq!(message(knn(&points, &points, 1025, Metric::L1)), "k is 1025; expected 1 to 1024");
    }
}

#[test]
fn close_points_are_told_apart_as_in_double_precision() {
    for ctx in [context(), large_gpu()] {
        // Distances that float32 does not tell apart: the query is searched again in float64.
        let (d, n) = (48, 600);
        let mut random = Random(7);
        let center = random.numbers(d);
        let points: Vec<f64> =
            (0..n * d).map(|k| f64::from((1000.0 + center[k % d] + 1e-3 * random.number()) as f32)).collect();
        let queries: Vec<f64> = points[..5 * d].iter().map(|x| f64::from((x + 1e-4) as f32)).collect();
        let wanted = nearest(Metric::L2, &queries, &points, d, 10);
        for candidates in [Candidates::Float32, Candidates::Auto] {
            let index = Index::new(&rows(&ctx, &points, d, DType::F32), Metric::L2).unwrap();
            let found = index.with_candidates(candidates).unwrap().search(&rows(&ctx, &queries, d, DType::F32), 10);
            assert_nearest(&found.unwrap(), &wanted, 1e-6, &format!("{candidates:?}"));
        }
    }
}

#[test]
fn tensor_cores_find_the_same() {
    let ctx = large_gpu();
    for metric in [Metric::L2, Metric::SquaredL2, Metric::Cosine] {
        for (d, dtype) in [(16, DType::F16), (33, DType::F32), (64, DType::F16)] {
            let (n, k) = (2000, 4);
            let points = Random(8).whole_numbers(n * d, -16, 16).iter().map(|x| x / 8.0).collect::<Vec<_>>();
            let index = Index::new(&rows(&ctx, &points, d, dtype), metric).unwrap();
            let index = index.with_candidates(Candidates::TensorCores).unwrap();
            for m in [1, 9, 70] {
                let queries = eighths(m * d, 9);
                let found = index.search(&rows(&ctx, &queries, d, dtype), k).unwrap();
                let what = format!("{metric:?}, {m} queries of {d} {dtype}");
                assert_nearest(&found, &nearest(metric, &queries, &points, d, k), 1e-6, &what);
            }
        }
    }
    let old = context_claiming(DeviceInfo { compute_capability: 75, ..LARGE_GPU });
    let index = |ctx: &Arc<ArrayContext>, dtype, metric| {
        let index = Index::new(&rows(ctx, &eighths(64, 1), 32, dtype), metric).unwrap();
        message(index.with_candidates(Candidates::TensorCores))
    };
    let start = "candidates is 'tensor', but ";
    assert_eq!(
        index(&old, DType::F32, Metric::L2),
        format!("{start}the device has compute capability 7.5; expected at least 8.0")
    );
    assert_eq!(
        index(&ctx, DType::F64, Metric::L2),
        format!("{start}points are of float64; expected float16 or float32")
    );
    assert!(index(&ctx, DType::F32, Metric::L1).starts_with(&format!("{start}the metric has no products")));
}

#[test]
fn counts_within_a_radius_include_the_border() {
    for ctx in [context(), large_gpu()] {
        for metric in [Metric::L2, Metric::SquaredL2, Metric::L1, Metric::Chebyshev] {
            for (d, m, n) in [(2, 40, 900), (24, 11, 300)] {
                let (queries, points) = (eighths(m * d, 10), eighths(n * d, 11));
                let of_queries = |radius: f64| {
                    let is_near = |query: &[f64]| {
                        points.chunks(d).filter(|point| distance(metric, query, point) <= radius).count() as i64
                    };
                    queries.chunks(d).map(is_near).collect::<Vec<i64>>()
                };
                for radius in [0.0, 0.5, 2.5, 16.0, f64::INFINITY] {
                    for dtype in [DType::F64, DType::F32] {
                        let found = radius_count(
                            &rows(&ctx, &queries, d, dtype),
                            &rows(&ctx, &points, d, dtype),
                            radius,
                            metric,
                        );
                        let found = elements::<i64>(&found.unwrap());
                        assert_eq!(found, of_queries(radius), "{metric:?} {dtype} within {radius}");
                    }
                }
            }
        }
        let one = rows(&ctx, &[1.0, 2.0], 2, DType::F32);
        for radius in [-1.0, f64::NAN] {
            let error = message(radius_count(&one, &one, radius, Metric::L2));
            assert_eq!(error, format!("radius is {radius}; expected a number of at least 0"));
        }
    }
}

#[test]
fn vectors_without_length_have_the_cosine_0() {
    for ctx in [context(), large_gpu()] {
        let points = [0.0, 0.0, 3.0, 4.0, -3.0, -4.0, 0.0, 2.0];
        for dtype in [DType::F32, DType::F64] {
            let found =
                knn(&rows(&ctx, &[0.0, 0.0, 3.0, 4.0], 2, dtype), &rows(&ctx, &points, 2, dtype), 4, Metric::Cosine);
            let wanted = (vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.2, 1.0, 2.0], vec![0, 1, 2, 3, 1, 3, 0, 2]);
            assert_nearest(&found.unwrap(), &wanted, 1e-6, "cosines");
        }
    }
}

#[test]
fn integers_views_and_mixed_dtypes_are_searched() {
    for ctx in [context(), large_gpu()] {
        let (queries, points) = (Random(12).whole_numbers(60, -9, 9), Random(13).whole_numbers(900, -9, 9));
        let wanted = nearest(Metric::SquaredL2, &queries, &points, 3, 5);
        for (of_queries, of_points) in [
            (DType::I8, DType::I8),
            (DType::I64, DType::F32),
            (DType::F16, DType::F64),
            (DType::F64, DType::F32),
            (DType::I32, DType::I16),
        ] {
            let (queries, points) = (rows(&ctx, &queries, 3, of_queries), rows(&ctx, &points, 3, of_points));
            let found = knn(&queries, &points, 5, Metric::SquaredL2).unwrap();
            assert_nearest(&found, &wanted, 1e-6, &format!("{of_queries} and {of_points}"));
        }
        let turned: Vec<f64> = (0..900).map(|k| points[k % 300 * 3 + k / 300]).collect();
        let view = array(&ctx, &[3, 300], &turned).transpose(None).unwrap();
        let reversed = rows(&ctx, &queries, 3, DType::F64).index(&[At::Slice(None, None, Some(-1))]).unwrap();
        let found = Index::new(&view, Metric::SquaredL2).unwrap().search(&reversed, 5).unwrap();
        let backwards: Vec<i64> = wanted.1.chunks(5).rev().flatten().copied().collect();
        assert_eq!(elements::<i64>(&found.indices), backwards);
        let large = array(&ctx, &[1, 1], &[(1i64 << 53) + 1]);
        let error = message(Index::new(&large, Metric::L2));
        assert_eq!(
            error,
            "vectors has 9007199254740993; expected integers of at most 2**53, which float64 has exactly"
        );
    }
}

#[test]
fn one_more_dimension_than_a_kernel_takes_is_another_kernel() {
    let metrics = [Metric::L2, Metric::L1];
    for (place, ctx) in [context(), large_gpu()].iter().enumerate() {
        for (which, d) in [16, 17, 31, 32, 33, 128, 129, 200].into_iter().enumerate() {
            let metric = metrics[(place + which) % 2];
            let (queries, points) = (eighths(3 * d, 14), eighths(90 * d, 15));
            let found = knn(&rows(ctx, &queries, d, DType::F32), &rows(ctx, &points, d, DType::F32), 4, metric);
            let what = format!("{metric:?} of {d} dimensions");
            assert_nearest(&found.unwrap(), &nearest(metric, &queries, &points, d, 4), 1e-6, &what);
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_named() {
    let simd = DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..LARGE_GPU };
    for ctx in [context(), large_gpu(), context_claiming(simd)] {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in [0, 5, 299] {
                let mut numbers = eighths(300 * 4, 16);
                numbers[place * 4 + 2] = wrong;
                let spoiled = rows(&ctx, &numbers, 4, DType::F32);
                let text = format!("[{place}] has NaN or infinity; expected finite numbers");
                assert_eq!(message(Index::new(&spoiled, Metric::L2)), format!("vectors{text}"));
                let index = Index::new(&rows(&ctx, &eighths(40, 17), 4, DType::F32), Metric::L2).unwrap();
                assert_eq!(message(index.search(&spoiled, 2)), format!("queries{text}"));
                assert_eq!(message(index.radius_count(&spoiled, 1.0)), format!("queries{text}"));
            }
        }
        // A number that float32 does not have.
        let index = Index::new(&rows(&ctx, &[1.0, 2.0], 2, DType::F32), Metric::L2).unwrap();
        let beyond = rows(&ctx, &[1e300, 0.0], 2, DType::F64);
        assert!(message(index.search(&beyond, 1)).contains("or a number beyond float32"));
        let long = rows(&ctx, &[1e160, 0.0], 2, DType::F64);
        assert!(message(Index::new(&long, Metric::L2)).contains("expected at most 1e153"));
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ctx = context();
    let points = rows(&ctx, &eighths(20, 18), 2, DType::F32);
    let index = Index::new(&points, Metric::L1).unwrap();
    assert_eq!((index.len(), index.dimensions(), index.metric(), index.is_empty()), (10, 2, Metric::L1, false));
    assert_eq!(index.vectors().dtype(), DType::F32);
    assert_eq!(message(index.search(&points, 11)), "k is 11; expected 1 to 10, the number of points");
    assert_eq!(message(index.search(&points, 0)), "k is 0; expected 1 to 10, the number of points");
    let wide = rows(&ctx, &[1.0; 3], 3, DType::F32);
    assert_eq!(message(index.search(&wide, 1)), "queries has shape (1, 3); expected 2 dimensions, as points have");
    let flat = vector(&ctx, &[1.0; 2]);
    assert_eq!(message(index.search(&flat, 1)), "queries has shape (2,); expected two axes, a vector in each row");
    let empty = |shape: &[usize]| GpuArray::empty(&ctx, shape, DType::F32, Order::C).unwrap();
    assert_eq!(
        message(Index::new(&empty(&[0, 2]), Metric::L2)),
        "vectors has shape (0, 2); expected at least one vector"
    );
    assert_eq!(
        message(Index::new(&empty(&[2, 0]), Metric::L2)),
        "vectors has shape (2, 0); expected vectors of at least one dimension"
    );
    assert_eq!(
        message(knn(&points, &empty(&[0, 2]), 1, Metric::L2)),
        "points has shape (0, 2); expected at least one vector"
    );
    let complex = points.astype(DType::C64).unwrap();
    assert_eq!(Index::new(&complex, Metric::L2).unwrap_err().kind(), ArrayErrorKind::Type);
    for (name, metric) in [("euclidean", Metric::L2), ("cityblock", Metric::L1), ("sqeuclidean", Metric::SquaredL2)] {
        assert_eq!(name.parse::<Metric>().unwrap(), metric);
    }
    assert!(message("hamming".parse::<Metric>()).starts_with("metric is 'hamming'; expected 'l2'"));
}
