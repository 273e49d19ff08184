//! Searches of several threads that run as one.

use crate::contexts::context;
use crate::host_arrays::{Random, elements, message};
use crate::searches::{nearest, rows};
use rtcg_hal::DType;
use rtcg_neighbors::{BatchingIndex, Index, Metric};

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    Random(seed).whole_numbers(n, -32, 32).iter().map(|x| x / 8.0).collect()
}

#[test]
fn merged_searches_of_threads_are_those_of_each() {
    let ctx = context();
    let (d, n, k) = (5, 900, 3);
    let points = numbers(n * d, 2);
    let on_device = rows(&ctx, &points, d, DType::F32);
    let merged = BatchingIndex::new(Index::new(&on_device, Metric::L2).unwrap());
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let (merged, points) = (&merged, &points);
            scope.spawn(move || {
                for round in 0..10 {
                    let queries = numbers((1 + seed % 3) * d, 10 * seed as u64 + round);
                    let single: Vec<f32> = queries.iter().map(|&x| x as f32).collect();
                    // One that nobody waits for.
                    drop(merged.ask_host(&single, k, false).unwrap());
                    let found = merged.search_host(&single, k + seed % 2).unwrap();
                    let (distances, indices) = nearest(Metric::L2, &queries, points, d, k + seed % 2);
                    assert_eq!(found.indices, indices);
                    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.max(1.0);
                    assert!(found.distances.iter().zip(&distances).all(is_close));
                }
            });
        }
    });
    let found = merged.search(&on_device, k).unwrap();
    assert_eq!(elements::<i64>(&found.indices), nearest(Metric::L2, &points, &points, d, k).1);
    assert_eq!(message(merged.search_host(&[0.0, 1.0], k)), "queries has 2 numbers; expected a multiple of 5");
    let spoiled = merged.search_host(&[0.0, f32::NAN, 0.0, 0.0, 0.0], k);
    assert_eq!(message(spoiled), "queries[0] has NaN or infinity; expected finite numbers");
    assert_eq!(message(merged.search_host(&[0.0; 5], 0)), "k is 0; expected 1 to 900, the number of points");
}

#[test]
fn a_wrong_query_fails_alone() {
    let ctx = context();
    let points = numbers(400, 3);
    let merged = BatchingIndex::new(Index::new(&rows(&ctx, &points, 2, DType::F32), Metric::L1).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..6u64 {
            let (merged, points) = (&merged, &points);
            scope.spawn(move || {
                for round in 0..20 {
                    if thread % 3 == 0 {
                        let error = message(merged.search_host(&[1.0, f32::INFINITY], 2));
                        assert_eq!(error, "queries[0] has NaN or infinity; expected finite numbers");
                        continue;
                    }
                    let query = numbers(2, 100 * thread + round);
                    let single: Vec<f32> = query.iter().map(|&x| x as f32).collect();
                    let found = merged.search_host(&single, 7).unwrap();
                    assert_eq!(found.indices, nearest(Metric::L1, &query, points, 2, 7).1);
                }
            });
        }
    });
}

#[test]
fn searches_of_no_query_and_of_double_precision_are_answered() {
    let ctx = context();
    let points = numbers(300, 4);
    let merged = BatchingIndex::new(Index::new(&rows(&ctx, &points, 3, DType::F64), Metric::SquaredL2).unwrap());
    let found = merged.search_host(&[], 2).unwrap();
    assert!(found.indices.is_empty() && found.distances.is_empty());
    let query = numbers(3, 5);
    let single: Vec<f32> = query.iter().map(|&x| x as f32).collect();
    let found = merged.search_host(&single, 100).unwrap();
    let (distances, indices) = nearest(Metric::SquaredL2, &query, &points, 3, 100);
    assert_eq!((found.distances, found.indices), (distances, indices));
    assert_eq!(merged.index().len(), 100);
}
