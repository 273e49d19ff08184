//! Eigenvalues and singular values of matrices whose spectra are known.

use crate::contexts::context;
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use crate::host_matrices::{devices, from_rows, numbers, product, upload, upload_as};
use rtcg_array::GpuArray;
use rtcg_hal::{ArrayContext, DType};
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{BlockProblem, EigshOptions, LinearOperator, LobpcgOptions, WhichEigenvalues, eigsh, lobpcg, svds};
use std::f64::consts::PI;
use std::sync::Arc;

/// The eigenvalues of differences on a line of `n` points, ascending.
fn line_spectrum(n: usize) -> Vec<f64> {
    (1..=n).map(|k| 4.0 * (PI * k as f64 / (2 * (n + 1)) as f64).sin().powi(2)).collect()
}

/// Those of differences on a grid: all sums, of which many are equal where it is a square.
fn grid_spectrum(n: usize) -> Vec<f64> {
    let line = line_spectrum(n);
    let mut all: Vec<f64> = line.iter().flat_map(|a| line.iter().map(move |b| a + b)).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn diagonal(values: &[f64]) -> HostCsr {
    from_rows([values.len(); 2], values.iter().enumerate().map(|(i, &value)| vec![(i, value)]).collect())
}

/// The columns of an array of two axes.
fn columns(vectors: &GpuArray) -> Vec<Vec<f64>> {
    let (all, count) = (elements::<f64>(vectors), vectors.shape()[1]);
    (0..count).map(|k| all.iter().skip(k).step_by(count).copied().collect()).collect()
}

/// Checks that columns are orthonormal, and eigenvectors.
fn assert_eigenvectors(host: &HostCsr, values: &[f64], vectors: &GpuArray, tolerance: f64, what: &str) {
    let vectors = columns(vectors);
    assert_eq!(vectors.len(), values.len(), "{what}");
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for (k, (x, &value)) in vectors.iter().zip(values).enumerate() {
        for (l, other) in vectors.iter().enumerate() {
            let wanted = if k == l { 1.0 } else { 0.0 };
            assert!((dot(x, other) - wanted).abs() < tolerance, "{what}: {k} and {l}: {}", dot(x, other));
        }
        let image: Vec<f64> = x.iter().map(|x| x * value).collect();
        assert_close(&product(host, x, 1), &image, tolerance, what);
    }
}

fn wanted(spectrum: &[f64], which: WhichEigenvalues, count: usize) -> Vec<f64> {
    let mut all = spectrum.to_vec();
    match which {
        WhichEigenvalues::Smallest => {}
        WhichEigenvalues::Largest => all.reverse(),
        WhichEigenvalues::LargestMagnitude => all.sort_by(|a, b| b.abs().total_cmp(&a.abs())),
        WhichEigenvalues::SmallestMagnitude => all.sort_by(|a, b| a.abs().total_cmp(&b.abs())),
        WhichEigenvalues::BothEnds => {
            let (low, high) = (count / 2, count - count / 2);
            all = [&spectrum[..low], &spectrum[spectrum.len() - high..]].concat();
        }
    }
    let mut found = all[..count].to_vec();
    found.sort_by(f64::total_cmp);
    found
}

#[test]
fn lanczos_finds_each_end_of_known_spectra() {
    let shifted = {
        // Negative and positive eigenvalues.
        let host = gallery::poisson(&[60]);
        let data = host.data.iter().map(|&x| if x > 0.0 { x - 1.9 } else { x }).collect();
        HostCsr { data, ..host }
    };
    let shifted_spectrum: Vec<f64> = line_spectrum(60).iter().map(|x| x - 1.9).collect();
    let cases = [
        ("a line", gallery::poisson(&[80]), line_spectrum(80)),
        ("a shifted line", shifted, shifted_spectrum),
        ("few rows", gallery::poisson(&[7]), line_spectrum(7)),
    ];
    for ctx in devices() {
        for (name, host, spectrum) in &cases {
            let a = upload(&ctx, host);
            for which in [
                WhichEigenvalues::Smallest,
                WhichEigenvalues::Largest,
                WhichEigenvalues::LargestMagnitude,
                WhichEigenvalues::BothEnds,
            ] {
                for count in [1, 3] {
                    let options = EigshOptions { count, which, ..EigshOptions::default() };
                    let found = eigsh(&ctx, &a, None, &options).unwrap();
                    let what = format!("{name}, {count} {which:?}");
                    assert!(found.is_converged, "{what}");
                    assert_close(&found.values, &wanted(spectrum, which, count), 1e-11, &what);
                    assert_eigenvectors(host, &found.values, &found.vectors, 1e-8, &what);
                }
            }
        }
    }
    for (name, which) in [
        ("LM", WhichEigenvalues::LargestMagnitude),
        ("SA", WhichEigenvalues::Smallest),
        ("BE", WhichEigenvalues::BothEnds),
    ] {
        assert_eq!(WhichEigenvalues::of_name(name), Some(which));
    }
    assert_eq!(WhichEigenvalues::of_name("sa"), None);
}

#[test]
fn multiple_eigenvalues_are_all_found() {
    for ctx in devices() {
        let host = gallery::poisson(&[12, 12]);
        let options = EigshOptions { count: 5, which: WhichEigenvalues::Largest, ..EigshOptions::default() };
        let found = eigsh(&ctx, &upload(&ctx, &host), None, &options).unwrap();
        assert_close(&found.values, &wanted(&grid_spectrum(12), options.which, 5), 1e-10, "a square");
        assert_eigenvectors(&host, &found.values, &found.vectors, 1e-7, "a square");
        // One eigenvalue alone, and none but 0.
        for value in [3.0, 0.0] {
            let host = diagonal(&[value; 40]);
            let found = eigsh(&ctx, &upload(&ctx, &host), None, &options).unwrap();
            assert!(found.restarts < 5, "{} restarts, where any vector is an eigenvector", found.restarts);
            assert_close(&found.values, &[value; 5], 1e-13, "a multiple of the identity");
            assert_eigenvectors(&host, &found.values, &found.vectors, 1e-12, "a multiple of the identity");
        }
    }
}

#[test]
fn inverses_find_eigenvalues_near_a_shift() {
    for ctx in devices() {
        let n = 40;
        let host = gallery::poisson(&[n]);
        let shift = 1.3;
        let moved: Vec<f64> = crate::host_matrices::dense(&host)
            .iter()
            .enumerate()
            .map(|(k, x)| if k % (n + 1) == 0 { x - shift } else { *x })
            .collect();
        // A dense matrix is an operator, too.
        let inverse = array(&ctx, &[n, n], &moved).inv().unwrap();
        let options = EigshOptions { count: 4, shift: Some(shift), ..EigshOptions::default() };
        let found = eigsh(&ctx, &inverse, None, &options).unwrap();
        let mut near = line_spectrum(n);
        near.sort_by(|a, b| (a - shift).abs().total_cmp(&(b - shift).abs()));
        let mut near = near[..4].to_vec();
        near.sort_by(f64::total_cmp);
        assert_close(&found.values, &near, 1e-11, "near a shift");
        assert_eigenvectors(&host, &found.values, &found.vectors, 1e-9, "near a shift");
    }
}

/// `i` above and `-i` below the diagonal: Hermitian, with the eigenvalues of a line less 2.
fn complex_line(ctx: &Arc<ArrayContext>, n: usize) -> rtcg_sparse::Csr {
    let (mut indices, mut indptr, mut data) = (Vec::new(), vec![0i32], Vec::new());
    for i in 0..n as i32 {
        for (j, value) in [(i - 1, [0.0, -1.0]), (i + 1, [0.0, 1.0])] {
            if (0..n as i32).contains(&j) {
                indices.push(j);
                data.push(value);
            }
        }
        indptr.push(indices.len() as i32);
    }
    let [indices, indptr] = [indices, indptr].map(|list| vector(ctx, &list));
    rtcg_sparse::Csr::new([n, n], vector(ctx, &data), indices, indptr).unwrap()
}

#[test]
fn hermitian_matrices_and_single_precision_have_real_eigenvalues() {
    for ctx in devices() {
        let options = EigshOptions { count: 3, which: WhichEigenvalues::Largest, ..EigshOptions::default() };
        let wanted_line = wanted(&line_spectrum(50), options.which, 3);
        let found = eigsh(&ctx, &complex_line(&ctx, 50), None, &options).unwrap();
        assert_close(&found.values, &wanted_line.iter().map(|x| x - 2.0).collect::<Vec<_>>(), 1e-11, "complex");
        assert_eq!(found.vectors.dtype(), DType::C128);
        for (value, vectors, tolerance) in
            [(DType::F32, DType::F32, 1e-4), (DType::C64, DType::C64, 1e-4), (DType::I32, DType::F64, 1e-11)]
        {
            let a = upload_as(&ctx, &gallery::poisson(&[50]), value, DType::I32);
            let found = eigsh(&ctx, &a, None, &options).unwrap();
            assert_close(&found.values, &wanted_line, tolerance, &value.to_string());
            assert_eq!(found.vectors.dtype(), vectors, "{value}");
        }
    }
}

#[test]
fn start_vectors_seeds_and_scales_do_not_matter() {
    for ctx in devices() {
        let host = gallery::poisson(&[45]);
        let options = EigshOptions { count: 2, which: WhichEigenvalues::Largest, ..EigshOptions::default() };
        let spectrum = wanted(&line_spectrum(45), options.which, 2);
        let start = vector(&ctx, &Random(1).numbers(45));
        let same = |seed, start: Option<&GpuArray>| {
            eigsh(&ctx, &upload(&ctx, &host), start, &EigshOptions { seed, ..options }).unwrap().values
        };
        assert_eq!(same(7, None), same(7, None), "the same bits");
        for values in [same(1, None), same(2, None), same(0, Some(&start))] {
            assert_close(&values, &spectrum, 1e-11, "another start");
        }
        for scale in [1e-200, 1e200] {
            let scaled = HostCsr { data: host.data.iter().map(|x| x * scale).collect(), ..host.clone() };
            let found = eigsh(&ctx, &upload(&ctx, &scaled), None, &options).unwrap();
            let values: Vec<f64> = found.values.iter().map(|x| x / scale).collect();
            assert_close(&values, &spectrum, 1e-11, "another scale");
            let problem = problem(&upload(&ctx, &scaled), |problem| lobpcg_of(&ctx, problem, 45, 2, true));
            let values: Vec<f64> = problem.0.iter().map(|x| x / scale).collect();
            let falling: Vec<f64> = spectrum.iter().rev().copied().collect();
            assert_close(&values, &falling, 1e-5, "another scale of lobpcg");
        }
    }
}

/// What a function makes of the eigenproblem of a matrix.
fn problem<T>(a: &dyn LinearOperator, body: impl FnOnce(&BlockProblem<'_>) -> T) -> T {
    body(&BlockProblem { a, b: None, m: None, constraints: None })
}

/// Eigenvalues and eigenvectors by blocks, from random columns.
fn lobpcg_of(
    ctx: &Arc<ArrayContext>,
    problem: &BlockProblem<'_>,
    n: usize,
    count: usize,
    is_largest: bool,
) -> (Vec<f64>, GpuArray) {
    let x = array(ctx, &[n, count], &Random(2).numbers(n * count));
    let options = LobpcgOptions { tol: None, max_iterations: 400, is_largest };
    let found = lobpcg(ctx, problem, &x, &options).unwrap();
    assert!(found.is_converged, "{:?} of {}", found.residuals, found.tolerance);
    assert!(found.residuals.iter().all(|&residual| residual <= found.tolerance));
    assert_eq!(found.value_history.len(), found.iterations + 1);
    assert_eq!(found.residual_history.len(), found.iterations + 1);
    (found.values, found.vectors)
}

#[test]
fn blocks_find_either_end() {
    for ctx in devices() {
        let (host, spectrum) = (gallery::poisson(&[10, 10]), grid_spectrum(10));
        let a = upload(&ctx, &host);
        for (is_largest, count) in [(true, 1), (true, 3), (false, 1), (false, 4)] {
            let (values, vectors) = problem(&a, |problem| lobpcg_of(&ctx, problem, 100, count, is_largest));
            let mut ends = spectrum.clone();
            if is_largest {
                ends.reverse();
            }
            assert_close(&values, &ends[..count], 1e-9, "blocks");
            assert_eigenvectors(&host, &values, &vectors, 1e-4, "blocks");
        }
        // So few rows that the whole space is decomposed.
        let small = gallery::poisson(&[6]);
        let (values, vectors) = problem(&upload(&ctx, &small), |problem| lobpcg_of(&ctx, problem, 6, 3, false));
        assert_close(&values, &line_spectrum(6)[..3], 1e-12, "the whole space");
        assert_eigenvectors(&small, &values, &vectors, 1e-10, "the whole space");
    }
}

#[test]
fn preconditioners_masses_and_constraints_take_part() {
    for ctx in devices() {
        let n = 90;
        let host = gallery::poisson(&[n]);
        let a = upload(&ctx, &host);
        // With B = 2 the eigenvalues are halved.
        let mass = upload(&ctx, &diagonal(&vec![2.0; n]));
        let generalised = BlockProblem { a: &a, b: Some(&mass), m: None, constraints: None };
        let (values, vectors) = lobpcg_of(&ctx, &generalised, n, 2, true);
        let spectrum = line_spectrum(n);
        assert_close(&values, &[spectrum[n - 1] / 2.0, spectrum[n - 2] / 2.0], 1e-8, "masses");
        let norms: Vec<f64> = columns(&vectors).iter().map(|x| 2.0 * x.iter().map(|x| x * x).sum::<f64>()).collect();
        assert_close(&norms, &[1.0, 1.0], 1e-10, "norms of masses");
        // The inverse of the matrix takes a few iterations.
        let inverse = array(&ctx, &[n, n], &crate::host_matrices::dense(&host)).inv().unwrap();
        let x = array(&ctx, &[n, 2], &Random(3).numbers(2 * n));
        let options = LobpcgOptions { is_largest: false, max_iterations: 60, ..LobpcgOptions::default() };
        let with_m = BlockProblem { a: &a, b: None, m: Some(&inverse), constraints: None };
        let found = lobpcg(&ctx, &with_m, &x, &options).unwrap();
        assert!(found.is_converged && found.iterations < 20, "{} iterations", found.iterations);
        assert_close(&found.values, &spectrum[..2], 1e-8, "with the inverse");
        // Orthogonal to these, the next ones are the smallest.
        let constrained = BlockProblem { a: &a, b: None, m: Some(&inverse), constraints: Some(&found.vectors) };
        let next = lobpcg(&ctx, &constrained, &x, &options).unwrap();
        assert_close(&next.values, &spectrum[2..4], 1e-6, "constraints");
    }
}

#[test]
fn singular_values_of_tall_and_wide_matrices() {
    for ctx in devices() {
        // Differences of a line: the Gram matrix is that of the second differences.
        let n = 40;
        let rows = (0..=n).map(|i: usize| {
            let before = i.checked_sub(1).map(|j| (j, -1.0));
            before.into_iter().chain((i < n).then_some((i, 1.0))).collect()
        });
        let tall = from_rows([n + 1, n], rows.collect());
        let wide = crate::host_matrices::transpose(&tall);
        let roots: Vec<f64> = line_spectrum(n)[n - 3..].iter().map(|x| x.sqrt()).collect();
        for (host, adjoint) in [(&tall, &wide), (&wide, &tall)] {
            let [m, n] = host.shape;
            let options = EigshOptions { count: 3, ..EigshOptions::default() };
            let found = svds(&ctx, &upload(&ctx, host), &upload(&ctx, adjoint), None, &options).unwrap();
            assert!(found.is_converged);
            assert_eq!((found.u.shape(), found.vh.shape()), (&[m, 3][..], &[3, n][..]));
            assert_close(&numbers(&found.s), &roots, 1e-9, "singular values");
            let right = columns(&found.vh.transpose(None).unwrap());
            for (k, (left, right)) in columns(&found.u).iter().zip(&right).enumerate() {
                let image: Vec<f64> = left.iter().map(|x| x * roots[k]).collect();
                assert_close(&product(host, right, 1), &image, 1e-7, "A v = s u");
            }
        }
        let a = upload(&ctx, &tall);
        let wrong = svds(&ctx, &a, &a, None, &EigshOptions::default());
        assert_eq!(message(wrong), "the adjoint has shape [41, 40]; expected (40, 41)");
    }
}

#[test]
fn what_does_not_fit_or_is_not_finite_is_named() {
    let ctx = context();
    let a = upload(&ctx, &gallery::poisson(&[10]));
    let of = |options: EigshOptions| message(eigsh(&ctx, &a, None, &options));
    let default = EigshOptions::default;
    assert_eq!(of(EigshOptions { count: 0, ..default() }), "k is 0; expected at least 1, and less than 10 rows");
    assert_eq!(of(EigshOptions { count: 10, ..default() }), "k is 10; expected at least 1, and less than 10 rows");
    assert_eq!(of(EigshOptions { count: 3, basis_size: Some(3), ..default() }), "ncv must be k<ncv<=n, ncv=3");
    assert_eq!(of(EigshOptions { count: 3, basis_size: Some(11), ..default() }), "ncv must be k<ncv<=n, ncv=11");
    assert_eq!(of(EigshOptions { count: 3, tol: f64::NAN, ..default() }), "tol is NaN; expected at least 0");
    let start = |numbers: &[f64]| {
        message(eigsh(&ctx, &a, Some(&vector(&ctx, numbers)), &EigshOptions { count: 2, ..default() }))
    };
    assert!(start(&[1.0; 9]).contains("(9,)"));
    assert!(start(&[0.0; 10]).contains("0"));
    let wide = upload(&ctx, &from_rows([2, 3], vec![vec![]; 2]));
    assert!(message(eigsh(&ctx, &wide, None, &default())).contains("expected square matrix (shape=(2, 3))"));
    let spoiled = upload(&ctx, &diagonal(&[1.0, f64::NAN, 2.0, 3.0]));
    let error = message(eigsh(&ctx, &spoiled, None, &EigshOptions { count: 1, ..default() }));
    assert!(error.contains("NaN") || error.contains("finite"), "{error}");
    let blocks = |x: &GpuArray| message(problem(&a, |problem| lobpcg(&ctx, problem, x, &LobpcgOptions::default())));
    assert!(blocks(&array(&ctx, &[10, 0], &[0f64; 0])).contains("X has 0 columns; expected at least 1"));
    assert!(blocks(&vector(&ctx, &[1.0; 10])).contains("X"));
    assert!(blocks(&array(&ctx, &[9, 1], &[1.0; 9])).contains("X"));
    let dependent: Vec<f64> = (0..20).map(|k| 1.0 + (k / 2) as f64).collect();
    assert!(!blocks(&array(&ctx, &[10, 2], &dependent)).is_empty());
    let b = upload(&ctx, &gallery::poisson(&[9]));
    let wrong = BlockProblem { a: &a, b: Some(&b), m: None, constraints: None };
    let x = array(&ctx, &[10, 1], &[1.0; 10]);
    let error = message(lobpcg(&ctx, &wrong, &x, &LobpcgOptions::default()));
    assert_eq!(error, "B has shape (9, 9); expected (10, 10)");
}
