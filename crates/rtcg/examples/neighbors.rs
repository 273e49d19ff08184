//! Entropy of points by distances to their nearest neighbours: the estimate of the Python program `apps/entropy`.
//!
//! `cargo run --release -p rtcg --example neighbors`
//!
//! Test points and others are drawn from a Gaussian, whose entropy is known. Indices are checked against a loop in float64,
//! those of tensor cores against those of float32, and distances are counted by runs of equal ones.

use rtcg::array::{DType, ScanOp, reduce_by_key};
use rtcg::neighbors::{Candidates, Index, Metric};
use rtcg::prelude::*;

const EULER: f64 = 0.577_215_664_901_532_9;
const SPREAD: f64 = 8.0;

/// Gaussian numbers from a linear congruential generator, in pairs (Box and Muller).
fn gaussian(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let mut pair = || {
        let (radius, angle) = ((-2.0 * uniform().ln()).sqrt() * SPREAD, std::f64::consts::TAU * uniform());
        [radius * angle.cos(), radius * angle.sin()]
    };
    (0..count.div_ceil(2)).flat_map(|_| pair()).take(count).map(|x| x as f32).collect()
}

/// The nearest point of a query by a loop in float64, and its distance.
fn nearest(query: &[f32], points: &[f32]) -> (i64, f64) {
    let distance = |point: &[f32]| -> f64 {
        query.iter().zip(point).fold(0.0, |sum, (q, p)| sum + (f64::from(*q) - f64::from(*p)).powi(2))
    };
    let squares = points.chunks(query.len()).map(distance).zip(0..);
    let (square, index) = squares.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, -1));
    (index, square.sqrt())
}

/// Bits of a point, from distances to the nearest of `points` others (L. F. Kozachenko, N. N. Leonenko 1987).
fn entropy(distances: &[f32], points: usize, dimensions: usize) -> f64 {
    // The volume of a ball of radius 1, from those of two dimensions less.
    let volume = |d: usize| {
        (1..=d).rev().step_by(2).fold(1.0, |v, k| v * if k == 1 { 2.0 } else { std::f64::consts::TAU / k as f64 })
    };
    let mean: f64 = distances.iter().map(|&d| f64::from(d).log2()).sum::<f64>() / distances.len() as f64;
    dimensions as f64 * mean + ((volume(dimensions) * points as f64).ln() + EULER) / std::f64::consts::LN_2
}

fn main() -> anyhow::Result<()> {
    let ctx = Context::new()?;
    let arrays = ArrayFactory::new(&ctx)?;
    println!("device: {}", ctx.device().name()?);
    for (dimensions, tests, others) in [(3, 400, 6000), (40, 70, 1000)] {
        let (x, y) = (gaussian(tests * dimensions, 1), gaussian(others * dimensions, 2));
        let rows = |values: &[f32]| -> anyhow::Result<_> {
            Ok(arrays.from_slice(values)?.reshape(&[(values.len() / dimensions) as isize, dimensions as isize])?)
        };
        let (queries, points) = (rows(&x)?, rows(&y)?);
        let index = Index::new(points.as_dyn(), Metric::L2)?;
        let found = index.search(queries.as_dyn(), 1)?;
        let indices = arrays.typed_from_dyn::<i64>(found.indices)?.to_vec()?;
        let distances = arrays.typed_from_dyn::<f32>(found.distances)?.to_vec()?;
        for (query, (&found, &distance)) in x.chunks(dimensions).zip(indices.iter().zip(&distances)) {
            let (expected, exact) = nearest(query, &y);
            anyhow::ensure!(
                (found, distance) == (expected, exact as f32),
                "{found} at {distance}; expected {expected} at {exact}"
            );
        }
        // The same from products of float16, where the device has tensor cores.
        let by_tensor_cores = index.with_candidates(Candidates::TensorCores)?.search(queries.as_dyn(), 1)?;
        let same = arrays.typed_from_dyn::<i64>(by_tensor_cores.indices)?.to_vec()? == indices;
        anyhow::ensure!(same, "tensor cores found other points");

        let bits = entropy(&distances, others, dimensions);
        let known = dimensions as f64 / 2.0 * (std::f64::consts::TAU * std::f64::consts::E * SPREAD * SPREAD).log2();
        println!("{dimensions} dimensions: {bits:.2} bits of {others} points; the Gaussian has {known:.2}");
        anyhow::ensure!(dimensions > 3 || (bits / known - 1.0).abs() < 0.03, "{bits} bits; expected {known}");

        // How many tests have a neighbour at a distance of each whole number: runs of sorted ones.
        let whole = arrays.from_slice(&distances)?.as_dyn().astype(DType::I32)?.sorted(0, false)?;
        let ones = arrays.from_slice(&vec![1_u8; tests])?;
        let [keys, counts] = reduce_by_key(&whole, ones.as_dyn(), ScanOp::Sum, None)?;
        let counts = arrays.typed_from_dyn::<u64>(counts)?.to_vec()?;
        println!("tests by distance: {:?} {counts:?}", arrays.typed_from_dyn::<i32>(keys)?.to_vec()?);
        anyhow::ensure!(counts.iter().sum::<u64>() == tests as u64, "{counts:?}; expected {tests} in all");
    }
    Ok(())
}

#[test]
fn entropies_are_those_of_gaussians() {
    main().unwrap();
}
