//! Nearest neighbours from Rust, against loops on the host.

use rtcg::neighbors::{BatchingIndex, Candidates, Index, Metric, knn, topk};
use rtcg::prelude::*;

/// Numbers of 1/8, so that distances of float32 are equal where they are equal.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 8191 % 67) as f32 / 8.0 - 4.0).collect()
}

/// Indices by a loop, of squared distances.
fn nearest_by_loop(queries: &[f32], points: &[f32], d: usize, k: usize) -> Vec<i64> {
    let mut all = Vec::new();
    for query in queries.chunks(d) {
        let distance = |point: &[f32]| query.iter().zip(point).map(|(q, p)| f64::from(q - p).powi(2)).sum::<f64>();
        let mut order: Vec<(f64, i64)> = points.chunks(d).map(distance).zip(0..).collect();
        order.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.extend(order[..k].iter().map(|&(_, i)| i));
    }
    all
}

#[test]
fn indices_are_those_of_a_loop_with_ties() {
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    for (d, m, n, k) in [(2, 150, 2500, 4), (20, 70, 1100, 3)] {
        let (queries, points) = (numbers(m * d, 1), numbers(n * d, 2));
        let on_device = |values: &[f32]| {
            let rows = (values.len() / d) as isize;
            arrays.from_slice(values).unwrap().reshape(&[rows, d as isize]).unwrap()
        };
        let found = knn(on_device(&queries).as_dyn(), on_device(&points).as_dyn(), k, Metric::L2).unwrap();
        let indices = arrays.typed_from_dyn::<i64>(found.indices).unwrap().to_vec().unwrap();
        assert_eq!(indices, nearest_by_loop(&queries, &points, d, k), "{d} dimensions");
    }
}

#[test]
fn points_are_filtered_by_a_sample() {
    use rtcg::array::DType;
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    let (n, k) = (2000, 3);
    // Those of float32 are rounded to float16.
    for (d, dtype) in [(16, DType::F16), (33, DType::F32)] {
        let points = numbers(n * d, 2);
        let on_device = |values: &[f32]| {
            let rows = arrays.from_slice(values).unwrap().reshape(&[(values.len() / d) as isize, d as isize]).unwrap();
            rows.as_dyn().to_dtype(dtype).unwrap()
        };
        let index = Index::new(&on_device(&points), Metric::L2).unwrap();
        let index = index.with_candidates(Candidates::TensorCores).unwrap();
        for m in [1, 9, 40] {
            let queries = numbers(m * d, 1);
            let found = index.search(&on_device(&queries), k).unwrap();
            let indices = arrays.typed_from_dyn::<i64>(found.indices).unwrap().to_vec().unwrap();
            assert_eq!(indices, nearest_by_loop(&queries, &points, d, k), "{m} queries, {dtype}");
        }
    }
}

#[test]
fn bad_input_is_named() {
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    let points = arrays.from_slice(&[0.0f32, 1.0, 2.0, 3.0]).unwrap().reshape(&[2, 2]).unwrap();
    let index = Index::new(points.as_dyn(), Metric::L1).unwrap();
    assert_eq!((index.len(), index.dimensions(), index.metric()), (2, 2, Metric::L1));
    let message = |error: rtcg::array::ArrayError| error.to_string();
    assert_eq!(
        index.search(points.as_dyn(), 3).map_err(message).unwrap_err(),
        "k is 3; expected 1 to 2, the number of points"
    );
    let wrong = arrays.from_slice(&[f32::NAN, 1.0]).unwrap();
    let rows = wrong.reshape(&[1, 2]).unwrap();
    let found = index.search(rows.as_dyn(), 1).map_err(message).unwrap_err();
    assert_eq!(found, "queries[0] has NaN or infinity; expected finite numbers");
    let found = index.search(wrong.as_dyn(), 1).map_err(message).unwrap_err();
    assert_eq!(found, "queries has shape (2,); expected two axes, a vector in each row");
    let found = topk(wrong.as_dyn(), 3, true).map_err(message).unwrap_err();
    assert_eq!(found, "k is 3; expected at most 2, for values of shape (2,)");
    assert!("hamming".parse::<Metric>().unwrap_err().to_string().starts_with("metric is 'hamming'; expected 'l2'"));
}

#[test]
fn merged_searches_of_threads_are_those_of_each() {
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    let (d, n, k) = (5, 900, 3);
    let points = numbers(n * d, 2);
    let on_device = arrays.from_slice(&points).unwrap().reshape(&[n as isize, d as isize]).unwrap();
    let merged = BatchingIndex::new(Index::new(on_device.as_dyn(), Metric::L2).unwrap());
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let (merged, points) = (&merged, &points);
            scope.spawn(move || {
                for round in 0..10 {
                    let queries = numbers((1 + seed % 3) * d, 10 * seed + round);
                    // One that nobody waits for.
                    drop(merged.ask_host(&queries, k, false).unwrap());
                    let found = merged.search_host(&queries, k + seed % 2).unwrap();
                    assert_eq!(found.indices, nearest_by_loop(&queries, points, d, k + seed % 2));
                }
            });
        }
    });
    let found = merged.search(on_device.as_dyn(), k).unwrap();
    let indices = arrays.typed_from_dyn::<i64>(found.indices).unwrap().to_vec().unwrap();
    assert_eq!(indices, nearest_by_loop(&points, &points, d, k));
    let message = |error: rtcg::array::ArrayError| error.to_string();
    let found = merged.search_host(&[0.0, 1.0], k).map_err(message).unwrap_err();
    assert_eq!(found, "queries has 2 numbers; expected a multiple of 5");
    let found = merged.search_host(&[0.0, f32::NAN, 0.0, 0.0, 0.0], k).map_err(message).unwrap_err();
    assert_eq!(found, "queries[0] has NaN or infinity; expected finite numbers");
}
