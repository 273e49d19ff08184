//! Triangular systems and incomplete factors from Rust.

use num_complex::Complex;
use rtcg::prelude::*;
use rtcg::sparse::{
    Csr, LinearOperator, Method, Preconditioner, SolveOptions, SolverMode, System, Triangle, Triangular,
    TriangularFactors, colours, gallery, solve, transposed,
};

fn factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

fn upload(arrays: &ArrayFactory, host: &gallery::HostCsr) -> Csr<f64> {
    Csr::from_parts(arrays, host.shape, &host.data, &host.indices, &host.indptr).unwrap()
}

/// The residual of a triangular system, as it is defined.
fn residual(host: &gallery::HostCsr, is_lower: bool, x: &[f64], b: &[f64]) -> f64 {
    let row = |i: usize| {
        (host.indptr[i] as usize..host.indptr[i + 1] as usize)
            .map(|k| (host.indices[k] as usize, host.data[k]))
            .filter(|&(j, _)| if is_lower { j <= i } else { j >= i })
            .map(|(j, value)| value * x[j])
            .sum::<f64>()
    };
    (0..x.len()).map(|i| (row(i) - b[i]).abs()).fold(0.0, f64::max)
}

#[test]
fn triangles_are_solved_in_levels() {
    let arrays = factory();
    for (host, levels) in [(gallery::poisson(&[31, 17]), 47), (gallery::block_diagonal(300, 7, 1), 7)] {
        let b: Vec<f64> = (0..host.shape[0]).map(|k| ((k * 37) % 101) as f64 / 50.0 - 1.0).collect();
        let right = arrays.from_slice(&b).unwrap();
        for triangle in [Triangle::Lower, Triangle::Upper] {
            let csr = upload(&arrays, &host).as_dyn().clone();
            let solver = Triangular::analyse(csr, triangle, false).unwrap().expect("columns ascend");
            assert_eq!(solver.levels(), levels);
            let x = arrays.typed_from_dyn::<f64>(solver.solve(right.as_dyn()).unwrap()).unwrap().to_vec().unwrap();
            let error = residual(&host, triangle == Triangle::Lower, &x, &b);
            assert!(error < 1e-11, "{triangle:?}: {error}");
            let again = solver.transposed(true).unwrap().transposed(true).unwrap().solve(right.as_dyn()).unwrap();
            assert_eq!(arrays.typed_from_dyn::<f64>(again).unwrap().to_vec().unwrap(), x, "the same bits");
        }
    }
}

#[test]
fn transposes_are_conjugated_on_request() {
    let arrays = factory();
    let i = Complex::new(0.0f32, 1.0);
    let a = Csr::from_triples(&arrays, [2, 3], &[i, i + 1.0, i - 1.0], &[1, 0, 1], &[0, 2, 2]).unwrap();
    let x = arrays.from_slice(&[Complex::new(1.0f32, 0.0), Complex::new(2.0, 0.0)]).unwrap();
    for (conjugated, wanted) in
        [(false, [2.0 * i, 0.0 * i, 3.0 * i - 1.0]), (true, [-2.0 * i, 0.0 * i, -3.0 * i - 1.0])]
    {
        let y = transposed(a.as_dyn(), conjugated).unwrap().multiply(x.as_dyn()).unwrap();
        assert_eq!(arrays.typed_from_dyn::<Complex<f32>>(y).unwrap().to_vec().unwrap(), wanted);
    }
}

#[test]
fn incomplete_factors_precondition_in_every_mode_alike() {
    let arrays = factory();
    let host = gallery::poisson(&[20, 20]);
    let a = upload(&arrays, &host);
    let b = arrays.from_slice(&vec![1.0; host.shape[0]]).unwrap();
    let iterations = |m: Preconditioner<'_>, mode| {
        let operator: &dyn LinearOperator = a.as_dyn();
        let system = System { m, ..System::from(operator) };
        let options = SolveOptions { rtol: 1e-8, mode, ..SolveOptions::default() };
        let report = solve(&Method::CG, &system, b.as_dyn(), None, &options, None).unwrap();
        assert_eq!(report.waits_in_loop, 0);
        (report.iterations, arrays.typed_from_dyn::<f64>(report.x).unwrap().to_vec().unwrap())
    };
    let factors = TriangularFactors::ilu0(a.as_dyn()).unwrap().expect("columns ascend");
    let found = iterations(Preconditioner::Operator(&factors), SolverMode::Stream);
    assert_eq!(iterations(Preconditioner::Operator(&factors), SolverMode::Graph), found);
    assert!(2 * found.0 < iterations(Preconditioner::Identity, SolverMode::Graph).0 + 10);
    assert_eq!(colours(a.as_dyn()).unwrap().expect("columns ascend").1, 2);
}

#[test]
fn what_has_no_solution_names_its_row() {
    let arrays = factory();
    let of = |values: &[f64], rows: &[i32], columns: &[i32]| {
        Csr::from_triples(&arrays, [3, 3], values, rows, columns).unwrap().as_dyn().clone()
    };
    let missing = of(&[1.0, 1.0], &[0, 2], &[0, 2]);
    let error = Triangular::analyse(missing.clone(), Triangle::Lower, false).unwrap_err().to_string();
    assert_eq!(error, "A is singular: zero entry on diagonal in row 1.");
    assert!(Triangular::analyse(missing.clone(), Triangle::Upper, true).unwrap().is_some());
    let error = TriangularFactors::ilu0(&missing).unwrap_err().to_string();
    assert_eq!(error, "A has no element on the diagonal in row 1.");
    let descending = of(&[1.0; 4], &[0, 1, 2, 2], &[0, 1, 2, 0]);
    assert!(Triangular::analyse(descending, Triangle::Lower, false).unwrap().is_none());
    let indefinite = of(&[1.0, 1.0, -1.0], &[0, 1, 2], &[0, 1, 2]);
    let error = TriangularFactors::ic0(&indefinite).unwrap_err().to_string();
    assert_eq!(error, "the pivot of row 2 is not positive; IC(0) of A does not exist.");
}
