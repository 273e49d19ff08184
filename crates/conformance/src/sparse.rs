//! Sparse matrices: products in every format, products of two matrices, triangular systems, iterations, eigenvalues.

use crate::host_arrays::{Random, array, assert_close, elements, vector};
use rtcg_array::{GpuArray, Triangle};
use rtcg_hal::ArrayContext;
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{
    Bsr, Csr, Dia, EigshOptions, LinearOperator, Method, Sell, SolveOptions, SpmvPlan, StopReason, System, Triangular,
    WhichEigenvalues, eigsh, solve,
};
use std::f64::consts::PI;
use std::sync::Arc;

pub(crate) fn upload(ctx: &Arc<ArrayContext>, host: &HostCsr) -> Csr {
    let [indices, indptr] = [&host.indices, &host.indptr].map(|list| {
        let list: Vec<i32> = list.iter().map(|&index| index as i32).collect();
        vector(ctx, &list)
    });
    Csr::new(host.shape, vector(ctx, &host.data), indices, indptr).unwrap()
}

/// The product as it is defined, with as many columns as `x` has.
fn product(host: &HostCsr, x: &[f64], columns: usize) -> Vec<f64> {
    let row = |i: usize| host.indptr[i] as usize..host.indptr[i + 1] as usize;
    let element =
        |i: usize, j: usize| -> f64 { row(i).map(|k| host.data[k] * x[host.indices[k] as usize * columns + j]).sum() };
    (0..host.shape[0] * columns).map(|at| element(at / columns, at % columns)).collect()
}

/// Of rows by any number of lanes, along the merge path, of slices, diagonals and blocks, and with dense matrices.
pub fn products_of_all_formats_are_those_of_the_host(ctx: &Arc<ArrayContext>) {
    for host in [gallery::poisson(&[24, 18]), gallery::arrow(1500), gallery::linear_program([90, 120], 8, 1)] {
        let (a, mut random) = (upload(ctx, &host), Random(1));
        let x = random.numbers(host.shape[1]);
        let wanted = product(&host, &x, 1);
        let mut plans: Vec<SpmvPlan> = (0..6).map(|k| SpmvPlan::Rows { lanes: 1 << k }).collect();
        plans.push(SpmvPlan::MergePath);
        plans.extend(
            [1, 64].into_iter().filter_map(|sigma| Sell::from_csr(&a, sigma, 40.0).unwrap()).map(SpmvPlan::from),
        );
        plans.extend(Dia::from_csr(&a, 300).unwrap().map(SpmvPlan::from));
        plans.extend(Bsr::from_csr(&a, 2, 10.0).unwrap().map(SpmvPlan::from));
        for plan in plans {
            let what = format!("{plan:?}").chars().take(30).collect::<String>();
            let y = a.clone().with_plan(plan).unwrap().multiply(&vector(ctx, &x)).unwrap();
            assert_close(&elements(&y), &wanted, 1e-12, &what);
        }
        for columns in [1, 4, 37] {
            let x = random.numbers(host.shape[1] * columns);
            let y = a.multiply_dense(&array(ctx, &[host.shape[1], columns], &x)).unwrap();
            assert_close(&elements(&y), &product(&host, &x, columns), 1e-12, &format!("{columns} columns"));
        }
    }
}

/// Products of matrices of integers are exact, and what cancels is not stored.
pub fn products_of_sparse_matrices_cancel(ctx: &Arc<ArrayContext>) {
    let host = gallery::circuit(120, 2, 3);
    let whole = HostCsr { data: host.data.iter().map(|x| (4.0 * x).round()).collect(), ..host };
    let a = upload(ctx, &whole);
    let mut random = Random(2);
    let x = random.whole_numbers(120, -5, 5);
    let square = a.multiply_sparse(&a).unwrap();
    let wanted = product(&whole, &product(&whole, &x, 1), 1);
    assert_eq!(elements::<f64>(&square.multiply(&vector(ctx, &x)).unwrap()), wanted);
    assert!(elements::<f64>(square.data()).iter().all(|&element| element != 0.0));
    // (1 1) (1 -1)^T is 0.
    let ones = HostCsr { shape: [1, 2], indptr: vec![0, 2], indices: vec![0, 1], data: vec![1.0, 1.0] };
    let signs = HostCsr { shape: [2, 1], indptr: vec![0, 1, 2], indices: vec![0, 0], data: vec![1.0, -1.0] };
    assert_eq!(upload(ctx, &ones).multiply_sparse(&upload(ctx, &signs)).unwrap().nnz(), 0);
}

/// Both triangles, whose chains of rows are long and short.
pub fn triangular_systems_are_solved(ctx: &Arc<ArrayContext>) {
    for host in [gallery::poisson(&[300]), gallery::poisson(&[15, 20]), gallery::banded(200, 20, 5, 4)] {
        let n = host.shape[0];
        let b = Random(5).numbers(n);
        for (triangle, is_unit) in [(Triangle::Lower, false), (Triangle::Upper, false), (Triangle::Lower, true)] {
            let analysed = Triangular::analyse(upload(ctx, &host), triangle, is_unit).unwrap().unwrap();
            let mut wanted = vec![0.0; n];
            let order: Vec<usize> = if triangle == Triangle::Lower { (0..n).collect() } else { (0..n).rev().collect() };
            for i in order {
                let (mut sum, mut diagonal) = (b[i], 1.0);
                for k in host.indptr[i] as usize..host.indptr[i + 1] as usize {
                    let column = host.indices[k] as usize;
                    if column == i && !is_unit {
                        diagonal = host.data[k];
                    } else if (column < i) == (triangle == Triangle::Lower) && column != i {
                        sum -= host.data[k] * wanted[column];
                    }
                }
                wanted[i] = sum / diagonal;
            }
            let scale = wanted.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            let found: Vec<f64> = elements(&analysed.solve(&vector(ctx, &b)).unwrap());
            let [found, wanted] = [found, wanted].map(|list| list.iter().map(|x| x / scale).collect::<Vec<_>>());
            assert_close(&found, &wanted, 1e-12, &format!("{triangle:?} of {n} rows"));
        }
    }
}

/// Conjugate gradients, and a solver with a basis.
pub fn iterations_converge_in_the_default_mode(ctx: &Arc<ArrayContext>) {
    let host = gallery::anisotropic([19, 14], 0.2);
    let a = upload(ctx, &host);
    let x = Random(6).numbers(host.shape[0]);
    let b = vector(ctx, &product(&host, &x, 1));
    let options = SolveOptions { rtol: 1e-11, ..SolveOptions::default() };
    for method in [Method::CG, Method::GMRES] {
        let report = solve(&method, &System::from(&a as &dyn LinearOperator), &b, None, &options, None).unwrap();
        assert_eq!(report.reason, StopReason::Converged, "{}", method.name());
        assert_close(&elements(&report.x), &x, 1e-8, method.name());
    }
}

/// The largest eigenvalues of differences on a line, which are known.
pub fn eigenvalues_are_those_of_the_spectrum(ctx: &Arc<ArrayContext>) {
    let n = 100;
    let a = upload(ctx, &gallery::poisson(&[n]));
    let options = EigshOptions { count: 3, which: WhichEigenvalues::Largest, ..EigshOptions::default() };
    let found = eigsh(ctx, &a, None, &options).unwrap();
    let wanted: Vec<f64> = (n - 2..=n).map(|k| 2.0 - 2.0 * (PI * k as f64 / (n + 1) as f64).cos()).collect();
    assert_close(&found.values, &wanted, 1e-12, "eigenvalues");
    let images: GpuArray = a.multiply_dense(&found.vectors).unwrap();
    let (images, vectors) = (elements::<f64>(&images), elements::<f64>(&found.vectors));
    let wanted: Vec<f64> = vectors.iter().enumerate().map(|(k, x)| x * found.values[k % 3]).collect();
    assert_close(&images, &wanted, 1e-9, "images of eigenvectors");
}
