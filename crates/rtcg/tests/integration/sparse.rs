//! Sparse matrices and conjugate gradients from Rust.

use num_complex::Complex;
use rtcg::array::{ArrayContext, Order};
use rtcg::array_tuning::{record_decisions, with_forced_config};
use rtcg::prelude::*;
use rtcg::sparse::{
    Bsr, Csr, CsrDyn, Dia, EigshOptions, ElementOp, LinearOperator, Method, Preconditioner, ProductFormat, SddmmScale,
    Sell, SolveOptions, SolveProgress, SolverMode, SolverOptions, SpmvPlan, StopReason, System, WhichEigenvalues,
    gallery, solve,
};
use rtcg::typed_arrays::{ArrayElement, GpuArrayDyn};
use std::f64::consts::PI;

fn factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

/// A matrix of the gallery on the device.
fn upload(arrays: &ArrayFactory, host: &gallery::HostCsr) -> Csr<f64> {
    Csr::from_parts(arrays, host.shape, &host.data, &host.indices, &host.indptr).unwrap()
}

/// The product as it is defined.
fn product(host: &gallery::HostCsr, x: &[f64]) -> Vec<f64> {
    let row =
        |pair: &[i64]| (pair[0] as usize..pair[1] as usize).map(|k| host.data[k] * x[host.indices[k] as usize]).sum();
    host.indptr.windows(2).map(row).collect()
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0).collect()
}

fn assert_close(got: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(got.len(), wanted.len());
    for (k, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() <= tolerance * (1.0 + wanted.abs()), "{k}: {got}, expected {wanted}");
    }
}

#[test]
fn products_are_those_of_the_host() {
    let arrays = factory();
    for host in [gallery::poisson(&[20, 13]), gallery::rmat(8, 8, 1), gallery::linear_program([50, 80], 9, 2)] {
        let x = numbers(host.shape[1]);
        let y = upload(&arrays, &host).multiply(&arrays.from_slice(&x).unwrap()).unwrap();
        assert_close(&y.to_vec().unwrap(), &product(&host, &x), 1e-13);
    }
}

fn check_small_product<T: ArrayElement>(arrays: &ArrayFactory, one: T, two: T, wanted: [T; 2]) {
    let a = Csr::from_triples(arrays, [2, 3], &[one, two, one], &[1, 0, 1], &[2, 1, 0]).unwrap();
    assert_eq!((a.shape(), a.nnz()), ([2, 3], 3));
    let y = a.multiply(&arrays.from_slice(&[one, two, one]).unwrap()).unwrap();
    assert_eq!(y.to_vec().unwrap(), wanted);
}

#[test]
fn elements_have_many_types() {
    let arrays = factory();
    check_small_product(&arrays, 1f32, 2.0, [4.0, 2.0]);
    check_small_product(&arrays, 1i64, 2, [4, 2]);
    check_small_product(&arrays, true, false, [false, true]);
    let i = Complex::new(0.0, 1.0);
    check_small_product(&arrays, i, Complex::new(2.0, 0.0), [Complex::new(4.0, 0.0), Complex::new(-2.0, 0.0)]);
}

#[test]
fn what_is_no_matrix_is_refused() {
    let arrays = factory();
    let message = |result: rtcg::Result<Csr<f32>>| result.err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(message(Csr::from_parts(&arrays, [1, 2], &[1.0], &[2i32], &[0, 1])), "indices must be < 2");
    assert_eq!(
        message(Csr::from_triples(&arrays, [1, 2], &[1.0], &[1], &[0])),
        "axis 0 index 1 exceeds matrix dimension 1"
    );
    let a = Csr::from_parts(&arrays, [1, 2], &[1f32], &[1i32], &[0, 1]).unwrap();
    let wrong = a.multiply(&arrays.zeros(&[3]).unwrap()).unwrap_err().to_string();
    assert_eq!(wrong, "dimension mismatch: x has shape (3,); expected (2,)");
    assert!(a.cg(&arrays.zeros(&[1]).unwrap(), &SolverOptions::default()).is_err());
}

/// The product along the merge path, whatever the rule says.
fn merge_product(ctx: &ArrayContext, a: &CsrDyn, x: &GpuArrayDyn) -> GpuArrayDyn {
    let (_, met) = record_decisions(ctx, || a.multiply(x).unwrap());
    let problem = &met.iter().find(|call| call.problem.decision.name == "sparse.spmv").expect("it was asked").problem;
    let config = problem.decision.parse_config([("kernel", "'merge'"), ("lanes", "1")]);
    let (y, taken) = with_forced_config(ctx, problem, &config.expect("a configuration"), || a.multiply(x).unwrap());
    taken.expect("it runs");
    y
}

#[test]
fn the_merge_path_gives_the_same_products() {
    let arrays = factory();
    for host in [gallery::arrow(9000), gallery::circuit(3000, 3, 7), gallery::poisson(&[50, 50])] {
        let (a, x) = (upload(&arrays, &host), numbers(host.shape[1]));
        let on_device = arrays.from_slice(&x).unwrap();
        let y = merge_product(arrays.array_context(), a.as_dyn(), on_device.as_dyn());
        let again = merge_product(arrays.array_context(), a.as_dyn(), on_device.as_dyn());
        let y = arrays.typed_from_dyn::<f64>(y).unwrap().to_vec().unwrap();
        assert_close(&y, &product(&host, &x), 1e-12);
        assert_eq!(arrays.typed_from_dyn::<f64>(again).unwrap().to_vec().unwrap(), y, "the same bits");
    }
}

fn options(mode: SolverMode) -> SolveOptions {
    let (rtol, max_iterations) = (1e-10, 1000);
    SolveOptions { rtol, max_iterations, check_every: 10, mode, history: true, ..SolveOptions::default() }
}

fn system(a: &dyn LinearOperator) -> System<'_> {
    System::from(a)
}

#[test]
fn systems_are_solved_without_waiting_and_in_every_mode_alike() {
    let arrays = factory();
    let host = gallery::anisotropic([17, 23], 0.1);
    let n = host.shape[0];
    let (a, b) = (upload(&arrays, &host), numbers(n));
    let right = arrays.from_slice(&b).unwrap();
    let diagonal = arrays.from_slice(&vec![1.0 / 2.2; n]).unwrap();
    let preconditioner = Preconditioner::Diagonal(diagonal.as_dyn().clone());
    let mut modes = vec![SolverMode::Stream, SolverMode::Graph, SolverMode::Persistent];
    if arrays.context().device().is_virtual() {
        modes.push(SolverMode::Device);
    }
    let mut first = None;
    let with_m = System { m: preconditioner, ..system(a.as_dyn()) };
    for mode in modes {
        let report = solve(&Method::CG, &with_m, right.as_dyn(), None, &options(mode), None).unwrap();
        assert_eq!((report.reason, report.mode), (StopReason::Converged, mode));
        assert_eq!((report.waits_in_loop, report.waits_at_end), (0, 1 + report.restarts));
        let history = report.history.unwrap();
        assert_eq!(history.len(), report.iterations + 1);
        let x = arrays.typed_from_dyn::<f64>(report.x).unwrap().to_vec().unwrap();
        let residual = product(&host, &x).iter().zip(&b).map(|(ax, b)| (b - ax).powi(2)).sum::<f64>().sqrt();
        assert!(residual < report.threshold && (residual / report.residual - 1.0).abs() < 1e-3);
        let (x_first, history_first) = first.get_or_insert_with(|| (x.clone(), history.clone()));
        assert_eq!((&x, &history), (&*x_first, &*history_first), "{mode:?}");
    }
}

/// A matrix as an operator that nobody knows to be one, with a count of its uses.
struct Opaque(CsrDyn, std::cell::Cell<usize>);

impl LinearOperator for Opaque {
    fn shape(&self) -> [usize; 2] {
        self.0.shape()
    }

    fn dtype(&self) -> rtcg::array::DType {
        self.0.data().dtype()
    }

    fn apply(&self, x: &GpuArrayDyn, y: &GpuArrayDyn) -> rtcg::array::Result<()> {
        self.1.set(self.1.get() + 1);
        self.0.multiply_into(x, y, false)
    }
}

#[test]
fn operators_and_callbacks_take_part() {
    let arrays = factory();
    let host = gallery::poisson(&[15, 15]);
    let a = upload(&arrays, &host);
    let right = arrays.from_slice(&numbers(225)).unwrap();
    let opaque = Opaque(a.as_dyn().clone(), std::cell::Cell::new(0));
    let mut calls = 0;
    let mut callback = |progress: &SolveProgress<'_>| {
        calls += 1;
        assert_eq!((progress.x.shape(), progress.iterations, progress.residuals.len()), (&[225][..], calls, 1));
        Ok(())
    };
    let once = SolveOptions { check_every: 1, ..options(SolverMode::Auto) };
    let report = solve(&Method::CG, &system(&opaque), right.as_dyn(), None, &once, Some(&mut callback)).unwrap();
    assert_eq!((report.reason, calls, report.wasted_iterations), (StopReason::Converged, report.iterations, 0));
    assert_eq!(opaque.1.get(), report.iterations + 1, "one product an iteration, and one for the residual at the end");
    let known = solve(&Method::CG, &system(a.as_dyn()), right.as_dyn(), None, &once, None).unwrap();
    assert_eq!(known.iterations, report.iterations);
    assert!(solve(&Method::CG, &system(&opaque), right.as_dyn(), None, &options(SolverMode::Graph), None).is_err());
}

#[test]
fn diagonals_multiply_and_solve() {
    let arrays = factory();
    // Differences of neighbours on a line.
    let n = 300;
    let mut data = vec![-1.0f64; 3 * n];
    data[n..2 * n].fill(2.5);
    let data = arrays.from_shape_and_values(&[3, n], &data).unwrap();
    let offsets = arrays.from_slice(&[-1i64, 0, 1]).unwrap();
    let a = Dia::new([n, n], data.into(), offsets.into()).unwrap();
    let b = arrays.from_slice(&vec![1.0f64; n]).unwrap();
    let y = arrays.typed_from_dyn::<f64>(a.multiply(b.as_dyn()).unwrap()).unwrap().to_vec().unwrap();
    assert_eq!((y[0], y[1], y[n - 1]), (1.5, 0.5, 1.5));
    let report = solve(&Method::CG, &system(&a), b.as_dyn(), None, &options(SolverMode::Graph), None).unwrap();
    assert_eq!(report.reason, StopReason::Converged);
    let mut bytes = vec![0; report.x.nbytes()];
    report.x.read(&mut bytes, Order::C).unwrap();
    assert!(bytes.iter().any(|&byte| byte != 0));
}

#[test]
fn plans_multiply_and_solve_as_compressed_rows_do() {
    let arrays = factory();
    let host = gallery::elasticity(&[6, 7], 1.0, 0.3);
    let (a, x) = (upload(&arrays, &host), arrays.from_slice(&numbers(host.shape[1])).unwrap());
    let blocks = {
        // Blocks of 1x2: every pair of columns that a row has.
        let data: GpuArrayDyn = a.as_dyn().data().reshape(&[(a.nnz() / 2) as isize, 1, 2], Order::C).unwrap();
        let columns: Vec<i64> = host.indices.iter().step_by(2).map(|column| column / 2).collect();
        let starts: Vec<i64> = host.indptr.iter().map(|start| start / 2).collect();
        let [columns, starts] = [columns, starts].map(|list| arrays.from_slice(&list).unwrap().into());
        Bsr::new(host.shape, data, columns, starts).unwrap()
    };
    assert_eq!((blocks.block(), blocks.nnz()), ([1, 2], a.nnz()));
    let sell = |sigma| Sell::from_csr(a.as_dyn(), sigma, 2.0).unwrap().unwrap();
    assert!(sell(84).stored() <= sell(1).stored() && sell(1).has_short_columns());
    let plans = [SpmvPlan::Rows { lanes: 4 }, SpmvPlan::MergePath, sell(1).into(), sell(84).into(), blocks.into()];
    let b = a.multiply(&x).unwrap();
    let options = SolverOptions { rtol: 1e-12, ..SolverOptions::default() };
    for plan in plans {
        let planned = a.clone().with_plan(plan).unwrap();
        assert_close(&planned.multiply(&x).unwrap().to_vec().unwrap(), &product(&host, &numbers(host.shape[1])), 1e-13);
        let (found, report) = planned.cg(&b, &options).unwrap();
        assert_eq!((report.reason, report.waits_in_loop), (StopReason::Converged, 0));
        assert_close(&found.to_vec().unwrap(), &x.to_vec().unwrap(), 1e-8);
    }
    let other = upload(&arrays, &gallery::poisson(&[5]));
    let wrong = other.with_plan(sell(1)).err().unwrap().to_string();
    assert!(wrong.contains("the plan has shape (84, 84); expected (5, 5)"), "{wrong}");
    assert!(a.with_plan(SpmvPlan::Rows { lanes: 5 }).is_err());
}

#[test]
fn the_longest_row_is_part_of_the_problem() {
    let arrays = factory();
    let host = gallery::arrow(5000);
    let a = upload(&arrays, &host);
    let x = arrays.from_slice(&numbers(5000)).unwrap();
    let (_, met) = record_decisions(arrays.array_context(), || a.multiply(&x).unwrap());
    let call = met.iter().find(|call| call.problem.decision.name == "sparse.spmv").expect("it was asked");
    let longest = &call.problem.values[3];
    assert_eq!(format!("{longest:?}"), "Int(5000)");
}

#[test]
fn products_of_two_matrices_are_those_of_vectors() {
    let arrays = factory();
    let x = arrays.from_slice(&numbers(300)).unwrap();
    for host in [gallery::arrow(300), gallery::banded(300, 9, 5, 1)] {
        let a = upload(&arrays, &host);
        let wanted = a.multiply(&a.multiply(&x).unwrap()).unwrap().to_vec().unwrap();
        let square = a.multiply_sparse(&a).unwrap();
        assert_close(&square.multiply(&x).unwrap().to_vec().unwrap(), &wanted, 1e-10);
        for has_thread_rows in [true, false] {
            let made = a.as_dyn().multiply_sparse_by(a.as_dyn(), has_thread_rows).unwrap();
            assert_eq!(made.nnz(), square.nnz());
            assert!(made.has_sorted_indices(true).unwrap());
        }
        let twice = a.combine(&a, ElementOp::Add).unwrap();
        let wanted: Vec<f64> = a.multiply(&x).unwrap().to_vec().unwrap().iter().map(|y| 2.0 * y).collect();
        assert_close(&twice.multiply(&x).unwrap().to_vec().unwrap(), &wanted, 1e-12);
        assert_eq!(a.combine(&a, ElementOp::Subtract).unwrap().nnz(), 0);
        assert!(a.combine(&a, ElementOp::Less).is_err());
        assert!(a.as_dyn().combine(a.as_dyn(), ElementOp::Less).unwrap().nnz() == 0);
    }
    let wide = Csr::from_triples(&arrays, [2, 3], &[1.0f64, 2.0], &[0, 1], &[2, 0]).unwrap();
    assert!(wide.multiply_sparse(&wide).unwrap_err().to_string().contains("dimension mismatch"));
    let [x, y] = [[2, 4], [4, 3]].map(|shape: [usize; 2]| arrays.full(&shape, 1.0f64).unwrap());
    let sampled = wide.sampled_matmul(&x, &y, SddmmScale::Elements).unwrap();
    assert_eq!(sampled.multiply(&arrays.from_slice(&[1.0; 3]).unwrap()).unwrap().to_vec().unwrap(), [4.0, 8.0]);
}

fn norm_of_residual(host: &gallery::HostCsr, x: &[f64], b: &[f64]) -> f64 {
    product(host, x).iter().zip(b).map(|(ax, b)| (b - ax).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn columns_are_solved_for_together() {
    let arrays = factory();
    let host = gallery::poisson(&[16, 16]);
    let (a, n, count) = (upload(&arrays, &host), 256, 3);
    // The last column is zeros: done before the first iteration.
    let columns: Vec<Vec<f64>> = vec![numbers(n), vec![1.0; n], vec![0.0; n]];
    let b: Vec<f64> = (0..n * count).map(|k| columns[k % count][k / count]).collect();
    let b = arrays.from_shape_and_values(&[n, count], &b).unwrap();
    let options = SolverOptions { rtol: 1e-10, ..SolverOptions::default() };
    for method in [Method::CG, Method::BICGSTAB, Method::MINRES, Method::PIPELINED_CG] {
        let (x, reports) = a.solve_columns(&method, &b, &options).unwrap();
        assert_eq!((x.shape(), reports.len()), (&[n, count][..], count));
        let x = x.to_vec().unwrap();
        for (k, (column, report)) in columns.iter().zip(&reports).enumerate() {
            let alone = a.solve(&method, &arrays.from_slice(column).unwrap(), &options).unwrap().1;
            assert_eq!(report.reason, StopReason::Converged, "{}", method.name());
            assert!(report.iterations.abs_diff(alone.iterations) <= 1, "{}", method.name());
            let own: Vec<f64> = (0..n).map(|i| x[i * count + k]).collect();
            assert!(norm_of_residual(&host, &own, column) <= 1e-5);
        }
        assert_eq!(reports[2].iterations, 0);
    }
    let wrong = a.solve_columns(&Method::GMRES, &b, &options).unwrap_err().to_string();
    assert!(wrong.contains("b has shape (256, 3); gmres takes one right side"), "{wrong}");
}

#[test]
fn refinement_has_the_accuracy_of_double_precision() {
    let arrays = factory();
    let host = gallery::poisson(&[20, 20]);
    let (a, b) = (upload(&arrays, &host), numbers(400));
    let right = arrays.from_slice(&b).unwrap();
    let options = SolverOptions { rtol: 1e-12, ..SolverOptions::default() };
    for method in [Method::CG, Method::BICGSTAB] {
        let (x, report) = a.solve_refined(&method, &right, &options).unwrap();
        assert_eq!((report.reason, report.waits_in_loop), (StopReason::Converged, 0), "{}", method.name());
        assert!(report.restarts >= 1 && norm_of_residual(&host, &x.to_vec().unwrap(), &b) < report.threshold);
    }
    let few = SolverOptions { max_iterations: Some(5), ..options };
    let report = a.solve_refined(&Method::CG, &right, &few).unwrap().1;
    assert_eq!((report.reason, report.iterations), (StopReason::MaxIterations, 5));
    let single = Csr::from_triples(&arrays, [1, 1], &[1f32], &[0], &[0]).unwrap();
    assert!(single.solve_refined(&Method::CG, &arrays.from_slice(&[1f32]).unwrap(), &options).is_err());
}

#[test]
fn lanczos_waits_once_a_restart() {
    let arrays = factory();
    let n = 90;
    let a = upload(&arrays, &gallery::poisson(&[n]));
    let options = EigshOptions { count: 4, which: WhichEigenvalues::BothEnds, ..EigshOptions::default() };
    let (vectors, found) = a.eigsh(&options).unwrap();
    assert!(found.is_converged && found.products < 2000);
    assert_eq!(found.waits, found.restarts + 1);
    for (value, k) in found.values.iter().zip([0, 1, n - 2, n - 1]) {
        let known = 4.0 * (PI * (k + 1) as f64 / (2 * (n + 1)) as f64).sin().powi(2);
        assert!((value - known).abs() < 1e-13 * 4.0, "{value}, expected {known}");
    }
    assert_eq!(vectors.as_dyn().shape(), [n, 4]);
    let wrong = EigshOptions { count: n, ..options };
    let message = a.eigsh(&wrong).unwrap_err().to_string();
    assert_eq!(message, "k is 90; expected at least 1, and less than 90 rows");
}
