//! Iterative solvers: all methods on systems that they are for, and what they do with what cannot be solved.

use crate::contexts::{context, large_gpu};
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use crate::host_matrices::{dense, devices, from_rows, numbers, product, row, transpose, upload, upload_as};
use rtcg_array::GpuArray;
use rtcg_hal::{ArrayContext, DType};
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{
    Csr, LinearOperator, Method, Preconditioner, SolveOptions, SolveProgress, SolveReport, SolverMode, StopReason,
    System, TriangularFactors, VCycle, VCycleLevel, solve, solve_columns, solve_refined,
};
use std::sync::Arc;

/// A matrix on a device with its adjoint.
struct Matrix {
    a: Csr,
    adjoint: Csr,
}

impl Matrix {
    fn new(ctx: &Arc<ArrayContext>, host: &HostCsr) -> Self {
        Self { a: upload(ctx, host), adjoint: upload(ctx, &transpose(host)) }
    }

    fn system(&self) -> System<'_> {
        System { adjoint: Some(&self.adjoint), ..System::from(&self.a as &dyn LinearOperator) }
    }
}

fn options() -> SolveOptions {
    SolveOptions { rtol: 1e-10, max_iterations: 2000, ..SolveOptions::default() }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn residual(host: &HostCsr, x: &[f64], b: &[f64]) -> f64 {
    let image = product(host, x, 1);
    norm(&b.iter().zip(&image).map(|(b, ax)| b - ax).collect::<Vec<_>>())
}

/// Solves, and checks what the report says of the residual.
fn checked(
    ctx: &Arc<ArrayContext>,
    method: &Method,
    host: &HostCsr,
    b: &[f64],
    options: &SolveOptions,
) -> (Vec<f64>, SolveReport) {
    let matrix = Matrix::new(ctx, host);
    let report = solve(method, &matrix.system(), &vector(ctx, b), None, options, None).unwrap();
    let x: Vec<f64> = elements(&report.x);
    let own = residual(host, &x, b);
    let is_close = (own - report.residual).abs() <= 1e-6 * own + 1e-12 * norm(b);
    assert!(is_close, "{}: the residual is {own}, reported as {}", method.name(), report.residual);
    (x, report)
}

fn is_for_definite_matrices(method: &Method) -> bool {
    ["cg", "fcg", "pipecg"].contains(&method.name())
}

fn is_for_squares(method: &Method) -> bool {
    !["lsqr", "lsmr"].contains(&method.name())
}

#[test]
fn every_method_solves_what_it_is_for() {
    let definite = gallery::anisotropic([16, 13], 0.1);
    let flow = gallery::convection_diffusion([14, 15], 0.4);
    for ctx in devices() {
        for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
            for (name, host) in [("definite", &definite), ("a flow", &flow)] {
                let is_symmetric = name == "definite";
                if !is_symmetric && (is_for_definite_matrices(method) || method.name() == "minres") {
                    continue;
                }
                let wanted = Random(1).numbers(host.shape[0]);
                let b = product(host, &wanted, 1);
                let (x, report) = checked(&ctx, method, host, &b, &options());
                let what = format!("{} of {name}", method.name());
                assert_eq!(report.reason, StopReason::Converged, "{what}");
                assert!(report.iterations > 3, "{what}: {}", report.iterations);
                assert_close(&x, &wanted, 1e-6, &what);
                if method.name() != "minres" {
                    assert!(report.residual <= report.threshold, "{what}");
                    assert!((report.threshold / (1e-10 * norm(&b)) - 1.0).abs() < 1e-9, "{what}");
                }
            }
        }
    }
}

#[test]
fn every_dtype_of_vectors_is_solved_for() {
    let host = gallery::poisson(&[9, 8]);
    let wanted = Random(2).whole_numbers(72, -4, 4);
    let b = product(&host, &wanted, 1);
    let ctx = context();
    for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
        for (value, of_b) in [(DType::F32, DType::F32), (DType::F32, DType::C128), (DType::C64, DType::C64)] {
            let a = upload_as(&ctx, &host, value, DType::I64);
            let system = System { adjoint: Some(&a), ..System::from(&a as &dyn LinearOperator) };
            let b = vector(&ctx, &b).astype(of_b).unwrap();
            let rtol = if method.name() == "minres" { 1e-6 } else { 1e-5 };
            let options = SolveOptions { rtol, max_iterations: 300, ..SolveOptions::default() };
            let report = solve(method, &system, &b, None, &options, None).unwrap();
            let what = format!("{} of {value} for {of_b}", method.name());
            assert_eq!((report.reason, report.x.dtype()), (StopReason::Converged, of_b), "{what}");
            assert_close(&numbers(&report.x), &wanted, 2e-3, &what);
        }
    }
}

#[test]
fn a_right_side_of_zeros_needs_no_iterations() {
    let host = gallery::convection_diffusion([6, 7], 0.3);
    for ctx in devices() {
        let matrix = Matrix::new(&ctx, &host);
        let x0 = vector(&ctx, &Random(3).numbers(42));
        for method in &Method::ALL {
            for x0 in [None, Some(&x0)] {
                let zeros = vector(&ctx, &[0.0; 42]);
                let report = solve(method, &matrix.system(), &zeros, x0, &options(), None).unwrap();
                assert_eq!(report.reason, StopReason::Converged, "{}", method.name());
                let x: Vec<f64> = elements(&report.x);
                // Solvers of least squares begin at x0.
                if is_for_squares(method) {
                    assert_eq!((x, report.iterations), (vec![0.0; 42], 0), "{}", method.name());
                } else {
                    assert!(norm(&x) < 1e-6, "{}: {}", method.name(), norm(&x));
                }
            }
        }
    }
}

#[test]
fn a_solution_to_begin_with_needs_no_iterations() {
    let host = gallery::poisson(&[6, 7]);
    let wanted = Random(4).whole_numbers(42, -5, 5);
    for ctx in devices() {
        let matrix = Matrix::new(&ctx, &host);
        let b = vector(&ctx, &product(&host, &wanted, 1));
        for method in &Method::ALL {
            let x0 = vector(&ctx, &wanted);
            let report = solve(method, &matrix.system(), &b, Some(&x0), &options(), None).unwrap();
            assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0), "{}", method.name());
            assert_eq!(elements::<f64>(&report.x), wanted, "{}", method.name());
            assert_eq!(elements::<f64>(&x0), wanted, "it is not written to");
        }
    }
}

#[test]
fn systems_of_one_row_and_of_none_are_solved() {
    for ctx in devices() {
        for method in &Method::ALL {
            let one = from_rows([1, 1], vec![vec![(0, 4.0)]]);
            let (x, report) = checked(&ctx, method, &one, &[6.0], &options());
            assert_eq!((x, report.reason), (vec![1.5], StopReason::Converged), "{}", method.name());
            let none = from_rows([0, 0], vec![]);
            let matrix = Matrix::new(&ctx, &none);
            let nothing: [f64; 0] = [];
            let report = solve(method, &matrix.system(), &vector(&ctx, &nothing), None, &options(), None).unwrap();
            assert_eq!((report.reason, report.x.size()), (StopReason::Converged, 0), "{}", method.name());
        }
    }
}

#[test]
fn limits_of_iterations_are_kept() {
    let host = gallery::poisson(&[20, 20]);
    let b = Random(5).numbers(400);
    for ctx in devices() {
        for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
            for max_iterations in [0, 1, 3] {
                let options = SolveOptions { max_iterations, restart: 5, ..options() };
                let (_, report) = checked(&ctx, method, &host, &b, &options);
                assert_eq!(report.reason, StopReason::MaxIterations, "{} of {max_iterations}", method.name());
                // Those of solvers with a basis are cycles.
                let is_cycle = ["gmres", "fgmres", "gcrotmk"].iter().any(|name| method.name().contains(name));
                let most = if is_cycle { 10 * max_iterations } else { max_iterations };
                assert!(report.iterations <= most, "{}: {} of {max_iterations}", method.name(), report.iterations);
            }
        }
    }
}

#[test]
fn what_cannot_be_divided_by_is_a_breakdown() {
    // A swap: the curvature of the first direction is 0. And a matrix of zeros.
    let swap = from_rows([2, 2], vec![vec![(1, 1.0)], vec![(0, 1.0)]]);
    let zeros = from_rows([2, 2], vec![vec![(0, 0.0)], vec![]]);
    for ctx in devices() {
        for host in [&swap, &zeros] {
            for method in Method::ALL.iter().filter(|method| is_for_definite_matrices(method)) {
                let (_, report) = checked(&ctx, method, host, &[1.0, 0.0], &options());
                assert!(matches!(report.reason, StopReason::Breakdown(_)), "{}: {:?}", method.name(), report.reason);
            }
        }
        let (x, report) = checked(&ctx, &Method::MINRES, &swap, &[1.0, 0.0], &options());
        assert_eq!(report.reason, StopReason::Converged);
        assert_close(&x, &[0.0, 1.0], 1e-12, "minres is for indefinite matrices");
        for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
            let (x, report) = checked(&ctx, method, &zeros, &[1.0, 0.0], &options());
            assert_ne!(report.reason, StopReason::Converged, "{}", method.name());
            assert!(x.iter().all(|x| x.is_finite()), "{}: {x:?}", method.name());
        }
    }
}

#[test]
fn nan_is_a_breakdown_and_no_endless_loop() {
    let host = gallery::poisson(&[10, 10]);
    let mut spoiled = host.clone();
    spoiled.data[77] = f64::NAN;
    for ctx in devices() {
        for method in &Method::ALL {
            for (name, host, b) in
                [("matrix", &spoiled, 1.0), ("right side", &host, f64::NAN), ("right side", &host, f64::INFINITY)]
            {
                let matrix = Matrix::new(&ctx, host);
                let mut right = vec![1.0; 100];
                right[50] = b;
                let report = solve(method, &matrix.system(), &vector(&ctx, &right), None, &options(), None).unwrap();
                let what = format!("{}, {b} in the {name}", method.name());
                assert!(matches!(report.reason, StopReason::Breakdown(_)), "{what}: {:?}", report.reason);
                assert!(report.iterations < 200, "{what}: {}", report.iterations);
            }
        }
    }
}

#[test]
fn singular_systems_have_the_solutions_that_they_have() {
    // Differences around a circle: constants are lost.
    let n = 60;
    let circle =
        from_rows([n, n], (0..n).map(|i| sorted([(i, 2.0), ((i + 1) % n, -1.0), ((i + n - 1) % n, -1.0)])).collect());
    let x = Random(6).numbers(n);
    let mean = x.iter().sum::<f64>() / n as f64;
    let b = product(&circle, &x, 1);
    for ctx in devices() {
        for method in [Method::CG, Method::MINRES, Method::GMRES, Method::LSQR, Method::LSMR] {
            let options = SolveOptions { restart: 60, ..options() };
            let (found, report) = checked(&ctx, &method, &circle, &b, &options);
            assert_eq!(report.reason, StopReason::Converged, "{}", method.name());
            let wanted: Vec<f64> = x.iter().map(|x| x - mean).collect();
            assert_close(&found, &wanted, 1e-5, method.name());
        }
    }
}

fn sorted(mut row: [(usize, f64); 3]) -> Vec<(usize, f64)> {
    row.sort_by_key(|entry| entry.0);
    row.to_vec()
}

#[test]
fn preconditioners_save_iterations() {
    let host = gallery::anisotropic([16, 13], 0.05);
    let n = host.shape[0];
    // Badly scaled, so that the diagonal helps.
    let scale = |i: usize| 2f64.powi((i % 5) as i32);
    let rows = (0..n).map(|i| row(&host, i).map(|(j, value)| (j, value * scale(i) * scale(j))).collect());
    let host = from_rows([n, n], rows.collect());
    let b = Random(7).numbers(n);
    let ctx = context();
    let matrix = Matrix::new(&ctx, &host);
    let diagonal: Vec<f64> =
        (0..n).map(|i| 1.0 / row(&host, i).find(|&(j, _)| j == i).expect("a diagonal").1).collect();
    let factors = TriangularFactors::ilu0(&matrix.a).unwrap().unwrap();
    let adjoint = factors.transposed(true).unwrap();
    for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
        let solved = |m: Preconditioner<'_>, m_adjoint| {
            let system = System { m, m_adjoint, ..matrix.system() };
            let has_basis = ["gmres", "fgmres", "gcrotmk"].contains(&method.name());
            // A basis so long that restarts do not hide what a preconditioner does.
            let (max_iterations, restart) = if has_basis { (5, 100) } else { (1000, 100) };
            let options = SolveOptions { rtol: 1e-8, max_iterations, restart, ..SolveOptions::default() };
            let report = solve(method, &system, &vector(&ctx, &b), None, &options, None).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{} of {} iterations", method.name(), report.iterations);
            report.iterations
        };
        let plain = solved(Preconditioner::Identity, None);
        let by_diagonal = solved(Preconditioner::Diagonal(vector(&ctx, &diagonal)), None);
        let by_factors = solved(Preconditioner::Operator(&factors), Some(&adjoint as &dyn LinearOperator));
        assert!(
            by_factors < by_diagonal && by_diagonal < plain,
            "{}: {by_factors} iterations with factors, {by_diagonal} with the diagonal, {plain} without",
            method.name()
        );
    }
}

#[test]
fn factors_are_part_of_graphs() {
    let host = gallery::poisson(&[20, 20]);
    let b = Random(15).numbers(400);
    for ctx in devices() {
        let matrix = Matrix::new(&ctx, &host);
        let factors = TriangularFactors::ilu0(&matrix.a).unwrap().unwrap();
        let solved = |mode| {
            let system = System { m: Preconditioner::Operator(&factors), ..matrix.system() };
            let options = SolveOptions { mode, ..options() };
            let report = solve(&Method::CG, &system, &vector(&ctx, &b), None, &options, None).unwrap();
            assert_eq!((report.mode, report.waits_in_loop), (mode, 0));
            (report.iterations, elements::<f64>(&report.x))
        };
        assert_eq!(solved(SolverMode::Graph), solved(SolverMode::Stream));
    }
}

/// The solution of the normal equations `(A^T A + damp^2) x = A^T b`, by elimination.
fn least_squares(host: &HostCsr, b: &[f64], damp: f64) -> Vec<f64> {
    let ([m, n], a) = (host.shape, dense(host));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let gram = (0..n).map(|j| {
                let dot: f64 = (0..m).map(|k| a[k * n + i] * a[k * n + j]).sum();
                dot + if i == j { damp * damp } else { 0.0 }
            });
            gram.chain([(0..m).map(|k| a[k * n + i] * b[k]).sum()]).collect()
        })
        .collect();
    for i in 0..n {
        let pivot = rows[i].clone();
        for (k, row) in rows.iter_mut().enumerate().filter(|&(k, _)| k != i) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            debug_assert!(k != i);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

#[test]
fn least_squares_are_those_of_the_normal_equations() {
    let tall = from_rows(
        [90, 20],
        (0..90).map(|i| vec![(i % 20, 3.0), ((i * 7 + 3) % 20, 1.0 + (i % 4) as f64)]).map(dedup).collect(),
    );
    let b = Random(8).numbers(90);
    for ctx in devices() {
        for method in [Method::LSQR, Method::LSMR] {
            for damp in [0.0, 0.7] {
                let tolerances = [("damp", damp), ("btol", 1e-13)].map(|(name, value)| (name.to_owned(), value));
                let options = SolveOptions { atol: 1e-13, numbers: tolerances.into(), ..options() };
                let matrix = Matrix::new(&ctx, &tall);
                let report = solve(&method, &matrix.system(), &vector(&ctx, &b), None, &options, None).unwrap();
                assert_eq!(report.reason, StopReason::Converged, "{} {damp}", method.name());
                let x: Vec<f64> = elements(&report.x);
                assert_close(&x, &least_squares(&tall, &b, damp), 1e-9, method.name());
                assert!((report.residual - residual(&tall, &x, &b)).abs() < 1e-10, "{}", method.name());
            }
            // More columns than rows: the shortest solution, which is in the space of the rows.
            let wide = transpose(&tall);
            let matrix = Matrix::new(&ctx, &wide);
            let right = product(&wide, &b, 1);
            let tolerances = [("btol".to_owned(), 1e-14)];
            let options = SolveOptions { atol: 1e-14, numbers: tolerances.into(), ..options() };
            let report = solve(&method, &matrix.system(), &vector(&ctx, &right), None, &options, None).unwrap();
            let wanted = product(&tall, &least_squares(&tall, &b, 0.0), 1);
            assert_close(&elements(&report.x), &wanted, 1e-8, method.name());
        }
    }
}

fn dedup(mut row: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    row.sort_by_key(|entry| entry.0);
    row.dedup_by_key(|entry| entry.0);
    row
}

#[test]
fn scales_far_from_one_do_not_matter() {
    let host = gallery::poisson(&[12, 12]);
    let wanted = Random(9).numbers(144);
    let ctx = context();
    for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
        for [of_matrix, of_solution] in [[1e-250, 1.0], [1e250, 1.0], [1.0, 1e-250], [1.0, 1e250], [1e-150, 1e-150]] {
            let scaled = HostCsr { data: host.data.iter().map(|x| x * of_matrix).collect(), ..host.clone() };
            let b: Vec<f64> = product(&host, &wanted, 1).iter().map(|b| b * of_matrix * of_solution).collect();
            let matrix = Matrix::new(&ctx, &scaled);
            let report = solve(method, &matrix.system(), &vector(&ctx, &b), None, &options(), None).unwrap();
            let what = format!("{}, matrix {of_matrix:e}, solution {of_solution:e}", method.name());
            assert_eq!(report.reason, StopReason::Converged, "{what}");
            let x: Vec<f64> = elements::<f64>(&report.x).iter().map(|x| x / of_solution).collect();
            assert_close(&x, &wanted, 1e-6, &what);
        }
    }
}

#[test]
fn columns_are_solved_for_as_they_are_alone() {
    let host = gallery::poisson(&[11, 9]);
    let n = 99;
    let mut random = Random(10);
    // One that is solved at once, one of zeros, and others.
    let columns = [random.numbers(n), vec![0.0; n], product(&host, &vec![1.0; n], 1), random.numbers(n)];
    let joined: Vec<f64> = (0..4 * n).map(|k| columns[k % 4][k / 4]).collect();
    let x0: Vec<f64> = (0..4 * n).map(|k| if k % 4 == 2 { 1.0 } else { 0.0 }).collect();
    for ctx in devices() {
        let matrix = Matrix::new(&ctx, &host);
        let b = array(&ctx, &[n, 4], &joined);
        for method in [Method::CG, Method::FLEXIBLE_CG, Method::MINRES, Method::BICG, Method::BICGSTAB, Method::TFQMR] {
            let x0 = array(&ctx, &[n, 4], &x0);
            let (x, reports) = solve_columns(&method, &matrix.system(), &b, Some(&x0), &options(), None).unwrap();
            let x: Vec<f64> = elements(&x);
            for (k, (column, report)) in columns.iter().zip(&reports).enumerate() {
                let own: Vec<f64> = x.iter().skip(k).step_by(4).copied().collect();
                assert_eq!(elements::<f64>(&report.x), own);
                assert_eq!(report.reason, StopReason::Converged, "{}, column {k}", method.name());
                // MINRES compares residuals with the norms of matrix and solution.
                let bound = if method.name() == "minres" { 1e-7 } else { 1e-9 };
                assert!(residual(&host, &own, column) <= bound * norm(column).max(1e-3), "{}", method.name());
            }
            assert_eq!((reports[1].iterations, reports[2].iterations), (0, 0), "{}", method.name());
        }
        let none =
            solve_columns(&Method::CG, &matrix.system(), &array(&ctx, &[n, 0], &[0f64; 0]), None, &options(), None);
        assert_eq!(message(none.map(drop)), "b has shape (99, 0); expected a matrix of at least one column");
        let basis = solve_columns(&Method::GMRES, &matrix.system(), &b, None, &options(), None);
        assert_eq!(message(basis.map(drop)), "b has shape (99, 4); gmres takes one right side");
        let wrong = array(&ctx, &[4, n], &joined);
        let wrong = solve_columns(&Method::CG, &matrix.system(), &b, Some(&wrong), &options(), None);
        assert_eq!(message(wrong.map(drop)), "x0 has shape (4, 99); expected (99, 4)");
    }
}

#[test]
fn histories_and_callbacks_see_every_iteration() {
    let host = gallery::convection_diffusion([9, 9], 0.2);
    let b = Random(11).numbers(81);
    let ctx = context();
    let matrix = Matrix::new(&ctx, &host);
    for method in Method::ALL.iter().filter(|method| !is_for_definite_matrices(method) && method.name() != "minres") {
        let options = SolveOptions { history: true, restart: 7, ..options() };
        let mut called = Vec::new();
        let mut callback = |progress: &SolveProgress<'_>| {
            assert!((progress.right_norms[0] - norm(&b)).abs() < 1e-9);
            called.push((progress.iterations, progress.residuals.len()));
            Ok(())
        };
        let right = vector(&ctx, &b);
        let report = solve(method, &matrix.system(), &right, None, &options, Some(&mut callback)).unwrap();
        let history = report.history.expect("it was asked for");
        assert_eq!(history.len(), report.iterations + 1, "{}", method.name());
        assert!(history.iter().all(|residual| residual.is_finite()) && report.mode == SolverMode::Stream);
        assert!(called.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", method.name());
        assert_eq!(called.last().map(|call| call.0), Some(report.iterations), "{}", method.name());
        // Iterations of TFQMR run in pairs.
        let per_call = if method.name() == "tfqmr" { 2 } else { 1 };
        let seen = called.iter().map(|call| call.1).sum::<usize>();
        assert_eq!(seen, report.iterations.div_ceil(per_call), "{}", method.name());
        let mut refuses = |_: &SolveProgress<'_>| Err(rtcg_hal::ArrayError::value_error("enough"));
        let stopped = solve(method, &matrix.system(), &right, None, &options, Some(&mut refuses));
        assert_eq!(message(stopped), "enough", "{}", method.name());
    }
}

#[test]
fn refinement_reaches_double_precision() {
    let host = gallery::anisotropic([13, 12], 0.3);
    let wanted = Random(12).numbers(156);
    let b = product(&host, &wanted, 1);
    for ctx in devices() {
        let (double, single) = (upload(&ctx, &host), upload_as(&ctx, &host, DType::F32, DType::I32));
        let systems = [&double, &single].map(|a| System { adjoint: Some(a), ..System::from(a as &dyn LinearOperator) });
        let options = SolveOptions { rtol: 1e-13, ..options() };
        for method in Method::ALL.iter().filter(|method| is_for_squares(method)) {
            let report =
                solve_refined(method, &systems[0], &systems[1], &vector(&ctx, &b), None, &options, None).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{}", method.name());
            assert_close(&elements(&report.x), &wanted, 1e-10, method.name());
        }
        let refused = solve_refined(&Method::LSQR, &systems[0], &systems[1], &vector(&ctx, &b), None, &options, None);
        assert_eq!(message(refused), "refine: lsqr solves least squares");
        let half = vector(&ctx, &b).astype(DType::F32).unwrap();
        let refused = solve_refined(&Method::CG, &systems[0], &systems[1], &half, None, &options, None);
        assert_eq!(message(refused), "refine: b is of dtype float32; expected float64 or complex128");
    }
}

/// Linear interpolation from every second point of a line of `2 n + 1` points.
fn prolongation(n: usize) -> HostCsr {
    let row = |i: usize| match i % 2 {
        1 => vec![(i / 2, 1.0)],
        _ => [(i / 2).checked_sub(1), Some(i / 2).filter(|&j| j < n)].into_iter().flatten().map(|j| (j, 0.5)).collect(),
    };
    from_rows([2 * n + 1, n], (0..=2 * n).map(row).collect())
}

#[test]
fn multigrid_cycles_make_iterations_few_whatever_the_size() {
    for ctx in devices() {
        for levels in [2, 4, 6] {
            let sizes: Vec<usize> = (0..=levels).map(|k| (4 << (levels - k)) - 1).collect();
            // Differences on each line: Galerkin's product of linear interpolation, but for the scale.
            let of_level = |k: usize| {
                let host = gallery::poisson(&[sizes[k]]);
                HostCsr { data: host.data.iter().map(|x| x / f64::from(1 << k)).collect(), ..host }
            };
            let made = (0..levels).map(|k| {
                let up = prolongation(sizes[k + 1]);
                let smoother = vec![2.0 / 3.0 / 2.0 * f64::from(1 << k); sizes[k]];
                VCycleLevel {
                    a: upload(&ctx, &of_level(k)),
                    restriction: upload(&ctx, &transpose(&up)),
                    prolongation: upload(&ctx, &up),
                    smoother: vector(&ctx, &smoother),
                }
            });
            // The inverse of differences on a line of three points.
            let inverse = [[0.75, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 0.75]];
            let inverse = inverse.map(|row| row.map(|x| x * f64::from(1 << levels)).into_iter().enumerate().collect());
            let cycle = VCycle::new(made.collect(), upload(&ctx, &from_rows([3, 3], inverse.into())), 1).unwrap();
            let host = of_level(0);
            let wanted = Random(13).numbers(sizes[0]);
            let a = upload(&ctx, &host);
            let m = Preconditioner::Operator(&cycle);
            let system = System { m, ..System::from(&a as &dyn LinearOperator) };
            let b = vector(&ctx, &product(&host, &wanted, 1));
            let report = solve(&Method::CG, &system, &b, None, &options(), None).unwrap();
            assert_eq!(report.reason, StopReason::Converged);
            assert!(report.iterations <= 12, "{levels} levels: {} iterations", report.iterations);
            assert_close(&elements(&report.x), &wanted, 1e-7, "solution");
        }
        let coarsest = || upload(&ctx, &from_rows([3, 3], vec![vec![]; 3]));
        assert_eq!(message(VCycle::new(vec![], coarsest(), 0)), "sweeps is 0; expected at least 1");
        let a = upload(&ctx, &gallery::poisson(&[7]));
        let up = upload(&ctx, &prolongation(3));
        let level = VCycleLevel { a, restriction: up.clone(), prolongation: up, smoother: vector(&ctx, &[1.0; 7]) };
        assert!(message(VCycle::new(vec![level], coarsest(), 1)).contains("the next one has 3 rows"));
    }
}

#[test]
fn small_systems_are_one_kernel_on_gpus_with_clusters() {
    let ctx = large_gpu();
    let host = gallery::poisson(&[8, 8]);
    let b = Random(14).numbers(64);
    let matrix = Matrix::new(&ctx, &host);
    let with = |mode| {
        let options = SolveOptions { mode, ..options() };
        solve(&Method::CG, &matrix.system(), &vector(&ctx, &b), None, &options, None).unwrap()
    };
    let bits: Vec<f64> = elements(&with(SolverMode::Stream).x);
    for mode in [SolverMode::Auto, SolverMode::Persistent] {
        assert_eq!(elements::<f64>(&with(mode).x), bits, "{mode:?}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ctx = context();
    let a = upload(&ctx, &gallery::poisson(&[5]));
    let system = || System::from(&a as &dyn LinearOperator);
    let b = |n: usize| vector(&ctx, &vec![1.0; n]);
    let refused = |method: &Method, system: &System<'_>, b: &GpuArray, x0: Option<&GpuArray>| {
        message(solve(method, system, b, x0, &options(), None))
    };
    assert_eq!(refused(&Method::CG, &system(), &b(4), None), "dimension mismatch: b has shape (4,); expected (5,)");
    assert_eq!(
        refused(&Method::CG, &system(), &b(5), Some(&b(4))),
        "dimension mismatch: x0 has shape (4,); expected (5,)"
    );
    let column = array(&ctx, &[5, 1], &[1.0; 5]);
    assert!(refused(&Method::CG, &system(), &column, None).contains("b has shape (5, 1); expected a vector"));
    let whole = vector(&ctx, &[1i32; 5]);
    assert!(refused(&Method::CG, &system(), &whole, None).contains("b is of dtype int32; expected float32"));
    let wide = upload(&ctx, &from_rows([2, 3], vec![vec![(0, 1.0)]; 2]));
    let wide = System::from(&wide as &dyn LinearOperator);
    assert_eq!(refused(&Method::CG, &wide, &b(2), None), "expected square matrix, but got shape=(2, 3)");
    assert!(refused(&Method::LSQR, &wide, &b(2), None).contains("needs the adjoint of A"));
    assert!(refused(&Method::BICG, &system(), &b(5), None).contains("needs the adjoint of A"));
    let m = Preconditioner::Diagonal(b(4));
    assert!(refused(&Method::CG, &System { m, ..system() }, &b(5), None).contains("M has shape (4,)"));
    let other = upload(&ctx, &gallery::poisson(&[6]));
    let m = Preconditioner::Operator(&other);
    let error = refused(&Method::CG, &System { m, ..system() }, &b(5), None);
    assert!(error.contains("matrix and preconditioner have different shapes: M is [6, 6]"), "{error}");
    let never = SolveOptions { check_every: 0, ..options() };
    let error = message(solve(&Method::CG, &system(), &b(5), None, &never, None));
    assert_eq!(error, "check_every is 0; expected at least 1");
}
