//! Eigenvalues and singular values of sparse matrices from Rust.

use rtcg::array::Order;
use rtcg::prelude::*;
use rtcg::sparse::{
    BlockProblem, Csr, EigshOptions, LinearOperator, LobpcgOptions, WhichEigenvalues, gallery, lobpcg, svds,
};
use rtcg::typed_arrays::GpuArrayDyn;
use std::f64::consts::PI;

fn factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

fn laplacian(arrays: &ArrayFactory, n: usize) -> Csr<f64> {
    let host = gallery::poisson(&[n]);
    Csr::from_parts(arrays, host.shape, &host.data, &host.indices, &host.indptr).unwrap()
}

/// Eigenvalue `k` of the Laplacian of a line of `n` points.
fn known(n: usize, k: usize) -> f64 {
    4.0 * (PI * (k + 1) as f64 / (2 * (n + 1)) as f64).sin().powi(2)
}

#[test]
fn lanczos_waits_once_a_restart() {
    let arrays = factory();
    let n = 90;
    let a = laplacian(&arrays, n);
    let options = EigshOptions { count: 4, which: WhichEigenvalues::BothEnds, ..EigshOptions::default() };
    let (vectors, found) = a.eigsh(&options).unwrap();
    assert!(found.is_converged && found.products < 2000);
    assert_eq!(found.waits, found.restarts + 1);
    for (value, k) in found.values.iter().zip([0, 1, n - 2, n - 1]) {
        assert!((value - known(n, k)).abs() < 1e-13 * 4.0, "{value}, expected {}", known(n, k));
    }
    assert_eq!(vectors.as_dyn().shape(), [n, 4]);
    let image = a.as_dyn().apply_block(&vectors.as_dyn().to_contiguous().unwrap()).unwrap();
    let (image, vectors) = (numbers(&arrays, &image), numbers(&arrays, vectors.as_dyn()));
    for (k, (y, x)) in image.iter().zip(&vectors).enumerate() {
        assert!((y - found.values[k % 4] * x).abs() < 1e-12);
    }
    let wrong = EigshOptions { count: n, ..options };
    let message = a.eigsh(&wrong).unwrap_err().to_string();
    assert_eq!(message, "k is 90; expected at least 1, and less than 90 rows");
}

fn numbers(arrays: &ArrayFactory, array: &GpuArrayDyn) -> Vec<f64> {
    let contiguous = array.copy(Some(Order::C)).unwrap();
    arrays.typed_from_dyn::<f64>(contiguous).unwrap().to_vec().unwrap()
}

#[test]
fn blocks_are_preconditioned_and_constrained() {
    let arrays = factory();
    let n = 70;
    let a = laplacian(&arrays, n);
    let start: Vec<f64> = (0..3 * n).map(|k| ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0).collect();
    let x = arrays.from_slice(&start).unwrap().as_dyn().reshape(&[n as isize, 3], Order::C).unwrap();
    let lowest: Vec<f64> = (0..n).map(|k| (PI * (k + 1) as f64 / (n + 1) as f64).sin()).collect();
    let y = arrays.from_slice(&lowest).unwrap().as_dyn().reshape(&[n as isize, 1], Order::C).unwrap();
    let inverse = a.as_dyn().clone();
    let dense = inverse.apply_block(&identity(&arrays, n)).unwrap().inv().unwrap();
    let problem = BlockProblem { a: a.as_dyn(), b: None, m: Some(&dense), constraints: Some(&y) };
    let options = LobpcgOptions { tol: Some(1e-9), max_iterations: 100, is_largest: false };
    let found = lobpcg(arrays.array_context(), &problem, &x, &options).unwrap();
    assert!(found.is_converged && found.iterations < 40);
    for (k, value) in found.values.iter().enumerate() {
        assert!((value - known(n, k + 1)).abs() < 1e-12, "{value}, expected {}", known(n, k + 1));
    }
    assert_eq!((found.value_history.len(), found.residuals.len()), (found.iterations + 1, 3));
}

fn identity(arrays: &ArrayFactory, n: usize) -> GpuArrayDyn {
    let elements: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0))).collect();
    arrays.from_slice(&elements).unwrap().as_dyn().reshape(&[n as isize, -1], Order::C).unwrap()
}

#[test]
fn singular_values_are_roots_of_eigenvalues() {
    let arrays = factory();
    let host = gallery::linear_program([40, 70], 6, 3);
    let a = Csr::from_parts(&arrays, host.shape, &host.data, &host.indices, &host.indptr).unwrap();
    let adjoint = a.as_dyn().apply_block(&identity(&arrays, 70)).unwrap().transpose(None).unwrap();
    let options = EigshOptions { count: 3, ..EigshOptions::default() };
    let found = svds(arrays.array_context(), a.as_dyn(), &adjoint, None, &options).unwrap();
    assert!(found.is_converged);
    let all = numbers(&arrays, &adjoint.svdvals(rtcg::array::IterationLimits::default()).unwrap());
    for (s, wanted) in numbers(&arrays, &found.s).iter().rev().zip(&all) {
        assert!((s - wanted).abs() < 1e-12 * wanted);
    }
    assert_eq!((found.u.shape(), found.vh.shape()), ([40, 3].as_slice(), [3, 70].as_slice()));
}
