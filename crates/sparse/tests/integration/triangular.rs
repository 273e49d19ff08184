//! Triangular systems: chains of rows of all kinds, unit diagonals, singular ones, permutations, incomplete factors.

use crate::contexts::context;
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use crate::host_matrices::{dense, devices, download, from_rows, numbers, row, upload, upload_as};
use rtcg_array::{GpuArray, Order, Triangle};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType};
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{Csr, LinearOperator, Triangular, TriangularFactors, colours};
use std::sync::Arc;

/// The solution by substitution.
fn substituted(host: &HostCsr, triangle: Triangle, is_unit: bool, b: &[f64]) -> Vec<f64> {
    let n = host.shape[0];
    let mut x = vec![0.0; n];
    for step in 0..n {
        let i = if triangle == Triangle::Lower { step } else { n - 1 - step };
        let (mut sum, mut diagonal) = (b[i], 1.0);
        for (j, value) in row(host, i) {
            if j == i {
                diagonal = if is_unit { 1.0 } else { value };
            } else if (j < i) == (triangle == Triangle::Lower) {
                sum -= value * x[j];
            }
        }
        x[i] = sum / diagonal;
    }
    x
}

/// The length of the longest chain of rows that need each other.
fn chain_length(host: &HostCsr, triangle: Triangle) -> usize {
    let n = host.shape[0];
    let mut levels = vec![0; n];
    for step in 0..n {
        let i = if triangle == Triangle::Lower { step } else { n - 1 - step };
        let needed = row(host, i).filter(|&(j, _)| j != i && (j < i) == (triangle == Triangle::Lower));
        levels[i] = 1 + needed.map(|(j, _)| levels[j]).max().unwrap_or(0);
    }
    levels.into_iter().max().unwrap_or(0)
}

/// Full rows with a dominant diagonal: no row can be solved before the one above it.
fn full(n: usize) -> HostCsr {
    let value = |i: usize, j: usize| if i == j { 2.0 * n as f64 } else { ((i * 7 + j * 3) % 5) as f64 - 2.0 };
    from_rows([n, n], (0..n).map(|i| (0..n).map(|j| (j, value(i, j))).collect()).collect())
}

fn systems() -> Vec<(&'static str, HostCsr)> {
    vec![
        ("nothing", from_rows([0, 0], vec![])),
        ("one row", from_rows([1, 1], vec![vec![(0, -4.0)]])),
        ("a diagonal", from_rows([500, 500], (0..500).map(|i| vec![(i, 1.0 + i as f64)]).collect())),
        ("a chain", gallery::poisson(&[700])),
        ("a grid", gallery::poisson_box(&[25, 30])),
        ("full rows", full(90)),
        ("an arrow", gallery::arrow(800)),
        ("blocks", gallery::block_diagonal(400, 8, 1)),
        ("a band", gallery::banded(600, 50, 6, 2)),
    ]
}

fn analyse(ctx: &Arc<ArrayContext>, host: &HostCsr, triangle: Triangle, is_unit: bool) -> Triangular {
    Triangular::analyse(upload(ctx, host), triangle, is_unit).unwrap().expect("columns ascend")
}

/// Compares relatively to the largest element, for substitution with a unit diagonal may grow.
fn assert_same(found: &[f64], wanted: &[f64], what: &str) {
    let scale = wanted.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    let [found, wanted] = [found, wanted].map(|list| list.iter().map(|x| x / scale).collect::<Vec<_>>());
    assert_close(&found, &wanted, 1e-11, what);
}

#[test]
fn triangles_of_all_kinds_are_solved() {
    for ctx in devices() {
        for (name, host) in systems() {
            let n = host.shape[0];
            for (triangle, is_unit) in [(Triangle::Lower, false), (Triangle::Upper, false), (Triangle::Upper, true)] {
                let what = format!("{name}, {triangle:?}, unit diagonal: {is_unit}");
                // What a unit diagonal makes of large elements is not to overflow.
                let host = match is_unit {
                    true => HostCsr { data: host.data.iter().map(|x| x / 1024.0).collect(), ..host.clone() },
                    false => host.clone(),
                };
                let solver = analyse(&ctx, &host, triangle, is_unit);
                assert_eq!(solver.levels(), chain_length(&host, triangle), "{what}");
                let b = Random(1).numbers(n);
                let wanted = substituted(&host, triangle, is_unit, &b);
                let x = solver.solve(&vector(&ctx, &b)).unwrap();
                assert_same(&elements(&x), &wanted, &what);
                let again = solver.solve(&vector(&ctx, &b)).unwrap();
                assert!(elements::<f64>(&again) == elements::<f64>(&x), "{what}: the same bits");
                // Into a vector, by the workspace of the triangle.
                let y = vector(&ctx, &vec![f64::NAN; n]);
                solver.apply(&vector(&ctx, &b), &y).unwrap();
                assert_same(&elements(&y), &wanted, &what);
            }
        }
    }
}

#[test]
fn several_right_sides_are_solved_together() {
    for ctx in devices() {
        let host = gallery::anisotropic([12, 9], 0.3);
        let solver = analyse(&ctx, &host, Triangle::Lower, false);
        for columns in [0, 1, 2, 33] {
            let b = Random(2).numbers(108 * columns);
            let x = solver.solve(&array(&ctx, &[108, columns], &b)).unwrap();
            assert_eq!(x.shape(), [108, columns]);
            let x: Vec<f64> = elements(&x);
            for k in 0..columns {
                let pick = |list: &[f64]| list.iter().skip(k).step_by(columns).copied().collect::<Vec<_>>();
                assert_same(&pick(&x), &substituted(&host, Triangle::Lower, false, &pick(&b)), "a column");
            }
        }
        let turned = array(&ctx, &[3, 108], &Random(3).numbers(324)).transpose(None).unwrap();
        let contiguous = solver.solve(&turned.copy(Some(Order::C)).unwrap()).unwrap();
        assert_eq!(elements::<f64>(&solver.solve(&turned).unwrap()), elements::<f64>(&contiguous));
    }
}

#[test]
fn dtypes_and_the_other_triangle_do_not_matter() {
    for ctx in devices() {
        let host = gallery::poisson(&[9, 11]);
        // Whole numbers: powers of 1/4 are exact in single precision for so few levels only by rounding alike.
        let b = Random(4).whole_numbers(99, -3, 3);
        let wanted = substituted(&host, Triangle::Lower, false, &b);
        for dtype in [DType::F32, DType::C64, DType::C128] {
            let matrix = upload_as(&ctx, &host, dtype, DType::I64);
            let solver = Triangular::analyse(matrix, Triangle::Lower, false).unwrap().unwrap();
            let x = solver.solve(&vector(&ctx, &b).astype(dtype).unwrap()).unwrap();
            assert_eq!(x.dtype(), dtype);
            assert_close(&numbers(&x), &wanted, 1e-5, &dtype.to_string());
        }
        let lower_only = |value: f64| {
            let rows = (0..99).map(|i| row(&host, i).map(|(j, x)| (j, if j > i { value } else { x })).collect());
            from_rows([99, 99], rows.collect())
        };
        let x = analyse(&ctx, &lower_only(f64::NAN), Triangle::Lower, false).solve(&vector(&ctx, &b)).unwrap();
        assert_same(&elements(&x), &wanted, "NaN above the diagonal");
    }
}

#[test]
fn transposed_triangles_solve_transposed_systems() {
    for ctx in devices() {
        let host = gallery::convection_diffusion([11, 10], 1.5);
        let b = Random(5).numbers(110);
        let turned = crate::host_matrices::transpose(&host);
        let solver = analyse(&ctx, &host, Triangle::Lower, false).transposed(false).unwrap();
        let wanted = substituted(&turned, Triangle::Upper, false, &b);
        assert_same(&elements(&solver.solve(&vector(&ctx, &b)).unwrap()), &wanted, "transposed");
    }
}

#[test]
fn permutations_apply_to_right_side_and_solution() {
    for ctx in devices() {
        let host = gallery::poisson(&[8, 8]);
        let b = Random(6).numbers(64);
        let place = |k: usize| (k * 13 + 5) % 64;
        let permutation: Vec<i64> = (0..64).map(|k| place(k) as i64).collect();
        let permuted: Vec<f64> = (0..64).map(|k| b[place(k)]).collect();
        let solved = |solver: Triangular| elements::<f64>(&solver.solve(&vector(&ctx, &b)).unwrap());
        let solver = analyse(&ctx, &host, Triangle::Upper, false);
        let given = || Some(vector(&ctx, &permutation));
        let from_source = solved(solver.clone().with_permutations(given(), None).unwrap());
        assert_same(&from_source, &substituted(&host, Triangle::Upper, false, &permuted), "source");
        let to_target = solved(solver.clone().with_permutations(None, given()).unwrap());
        let wanted = substituted(&host, Triangle::Upper, false, &b);
        assert_same(&(0..64).map(|k| to_target[place(k)]).collect::<Vec<_>>(), &wanted, "target");
        let both = solver.clone().with_permutations(given(), given()).unwrap().transposed(false).unwrap();
        let both = solved(both);
        let turned = crate::host_matrices::transpose(&host);
        let wanted = substituted(&turned, Triangle::Lower, false, &permuted);
        assert_same(&(0..64).map(|k| both[place(k)]).collect::<Vec<_>>(), &wanted, "both, transposed");
        let short = vector(&ctx, &[0i64; 3]);
        assert!(message(solver.clone().with_permutations(Some(short), None)).contains("source has shape (3,)"));
        let narrow = vector(&ctx, &[0i32; 64]);
        assert!(message(solver.with_permutations(None, Some(narrow))).contains("target is of dtype int32"));
    }
}

#[test]
fn singular_and_unsorted_matrices_are_found() {
    for ctx in devices() {
        let diagonal = |n: usize| (0..n).map(|i| vec![(i, 2.0)]).collect::<Vec<_>>();
        for place in [0, 31, 32, 499] {
            let mut rows = diagonal(500);
            rows[place] = vec![(place, 0.0)];
            let error = Triangular::analyse(upload(&ctx, &from_rows([500, 500], rows.clone())), Triangle::Lower, false);
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ArrayErrorKind::LinearAlgebra);
            assert_eq!(error.to_string(), format!("A is singular: zero entry on diagonal in row {place}."));
            rows[place] = vec![];
            // The first of two.
            rows[499] = vec![];
            let host = from_rows([500, 500], rows);
            for triangle in [Triangle::Lower, Triangle::Upper] {
                let error = message(Triangular::analyse(upload(&ctx, &host), triangle, false));
                assert!(error.contains(&format!("in row {place}.")), "{triangle:?}: {error}");
            }
            let unit = analyse(&ctx, &host, Triangle::Lower, true);
            assert_eq!(elements::<f64>(&unit.solve(&vector(&ctx, &[3.0; 500])).unwrap()), [3.0; 500]);
        }
        for swapped in [vec![(1, 1.0), (0, 1.0)], vec![(0, 1.0), (1, 1.0), (1, 1.0)]] {
            let host = from_rows([2, 2], vec![vec![(0, 1.0)], swapped.clone()]);
            let found = Triangular::analyse(upload(&ctx, &host), Triangle::Lower, false).unwrap();
            assert!(found.is_none(), "{swapped:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ctx = context();
    let analyse_of = |shape: [usize; 2], dtype| {
        let host = from_rows(shape, (0..shape[0]).map(|i| vec![(i, 1.0)]).collect());
        Triangular::analyse(upload_as(&ctx, &host, dtype, DType::I32), Triangle::Lower, false)
    };
    assert_eq!(message(analyse_of([2, 3], DType::F64)), "A must be a square matrix but its shape is (2, 3).");
    assert!(message(analyse_of([2, 2], DType::I32)).contains("A is of dtype int32; expected float32, float64"));
    let solver = analyse_of([2, 2], DType::F64).unwrap().unwrap();
    assert_eq!(message(solver.solve(&vector(&ctx, &[1.0; 3]))), "b has shape (3,); expected 2 rows");
    assert_eq!(message(solver.solve(&array(&ctx, &[2, 1, 1], &[1.0; 2]))), "b has shape (2, 1, 1); expected 2 rows");
    assert_eq!(message(solver.solve(&vector(&ctx, &[1f32; 2]))), "b is of dtype float32; expected float64");
    let other = analyse_of([3, 3], DType::F64).unwrap().unwrap();
    assert!(message(TriangularFactors::new(solver, other)).contains("factors of 2 rows of float64 and 3 rows"));
}

/// `L U` at the stored places, by the definition of ILU(0): Gaussian elimination that drops all else.
fn ilu0(host: &HostCsr) -> HostCsr {
    let n = host.shape[0];
    let mut rows: Vec<Vec<(usize, f64)>> = (0..n).map(|i| row(host, i).collect()).collect();
    for i in 0..n {
        for k in 0..rows[i].len() {
            let (j, value) = rows[i][k];
            if j >= i {
                break;
            }
            let upper = rows[j].clone();
            let pivot = upper.iter().find(|entry| entry.0 == j).unwrap().1;
            rows[i][k].1 = value / pivot;
            for &(column, other) in upper.iter().filter(|entry| entry.0 > j) {
                if let Some(entry) = rows[i].iter_mut().find(|entry| entry.0 == column) {
                    entry.1 -= value / pivot * other;
                }
            }
        }
    }
    from_rows(host.shape, rows)
}

#[test]
fn incomplete_factors_are_those_of_elimination() {
    for ctx in devices() {
        for host in [
            gallery::poisson(&[14, 11]),
            gallery::convection_diffusion([9, 13], 2.0),
            gallery::banded(200, 15, 4, 3),
            full(40),
        ] {
            let n = host.shape[0];
            let factors = TriangularFactors::ilu0(&upload(&ctx, &host)).unwrap().unwrap();
            let wanted = ilu0(&host);
            let found = download(factors.factors()[0].matrix());
            assert_close(&found.data, &wanted.data, 1e-12, "factors");
            let b = Random(7).numbers(n);
            let between = substituted(&wanted, Triangle::Lower, true, &b);
            let x = substituted(&wanted, Triangle::Upper, false, &between);
            assert_close(&elements(&factors.solve(&vector(&ctx, &b)).unwrap()), &x, 1e-10, "solution");
            let y = vector(&ctx, &vec![0.0; n]);
            factors.apply(&vector(&ctx, &b), &y).unwrap();
            assert_close(&elements(&y), &x, 1e-10, "solution of an operator");
            let adjoint = factors.transposed(true).unwrap();
            let turned = crate::host_matrices::transpose(&wanted);
            let between = substituted(&turned, Triangle::Lower, false, &b);
            let x = substituted(&turned, Triangle::Upper, true, &between);
            assert_close(&elements(&adjoint.solve(&vector(&ctx, &b)).unwrap()), &x, 1e-10, "transposed");
        }
    }
}

/// The lower triangle of a matrix.
fn lower(host: &HostCsr) -> HostCsr {
    let rows = (0..host.shape[0]).map(|i| row(host, i).filter(|&(j, _)| j <= i).collect());
    from_rows(host.shape, rows.collect())
}

#[test]
fn incomplete_cholesky_factors_multiply_to_the_matrix_where_it_is_stored() {
    for ctx in devices() {
        for host in [gallery::poisson(&[12, 9]), gallery::circuit(80, 2, 4), full_symmetric(30)] {
            let factors = TriangularFactors::ic0(&upload(&ctx, &lower(&host))).unwrap().unwrap();
            let n = host.shape[0];
            let l = dense(&download(factors.factors()[0].matrix()));
            for i in 0..n {
                for (j, value) in row(&host, i).filter(|&(j, _)| j <= i) {
                    let product: f64 = (0..n).map(|k| l[i * n + k] * l[j * n + k]).sum();
                    assert!((product - value).abs() < 1e-11 * value.abs().max(1.0), "{i}, {j}: {product} for {value}");
                }
            }
        }
    }
}

/// A full symmetric positive definite matrix, whose incomplete factor is complete.
fn full_symmetric(n: usize) -> HostCsr {
    let value = |i: usize, j: usize| if i == j { 1.0 + n as f64 } else { 1.0 / (1 + i.abs_diff(j)) as f64 };
    from_rows([n, n], (0..n).map(|i| (0..n).map(|j| (j, value(i, j))).collect()).collect())
}

#[test]
fn pivots_that_are_missing_or_vanish_are_named() {
    for ctx in devices() {
        let factor = |rows: Vec<Vec<(usize, f64)>>| {
            let n = rows.len();
            TriangularFactors::ilu0(&upload(&ctx, &from_rows([n, n], rows)))
        };
        let missing = factor(vec![vec![(0, 1.0)], vec![(0, 1.0)]]);
        assert_eq!(message(missing), "A has no element on the diagonal in row 1.");
        // The second pivot cancels.
        let vanished = factor(vec![vec![(0, 1.0), (1, 2.0)], vec![(0, 3.0), (1, 6.0)]]);
        assert!(message(vanished).contains("row 1"));
        let indefinite = from_rows([2, 2], vec![vec![(0, 1.0)], vec![(0, 2.0), (1, 1.0)]]);
        let error = message(TriangularFactors::ic0(&upload(&ctx, &indefinite)));
        assert_eq!(error, "the pivot of row 1 is not positive; IC(0) of A does not exist.");
        assert!(factor(vec![vec![(1, 1.0), (0, 1.0)], vec![(1, 1.0)]]).unwrap().is_none(), "columns do not ascend");
    }
}

#[test]
fn neighbours_have_different_colours_chosen_greedily() {
    for ctx in devices() {
        for host in [
            gallery::poisson(&[20, 17]),
            gallery::poisson_box(&[9, 8]),
            gallery::power_law(300, 3, 5),
            full(25),
            // More colours than a word has bits.
            full(150),
            from_rows([3, 3], vec![vec![]; 3]),
            from_rows([0, 0], vec![]),
        ] {
            let (found, count) = colours(&upload(&ctx, &host)).unwrap().expect("columns ascend");
            let mut wanted: Vec<i32> = Vec::new();
            for i in 0..host.shape[0] {
                let taken: Vec<i32> = row(&host, i).filter(|&(j, _)| j < i).map(|(j, _)| wanted[j]).collect();
                wanted.push((1..).find(|colour| !taken.contains(colour)).unwrap());
            }
            assert_eq!(elements::<i32>(&found), wanted);
            assert_eq!(count, wanted.iter().copied().max().unwrap_or(0) as usize);
        }
    }
}

#[test]
fn solves_follow_later_values_of_the_matrix() {
    let ctx = context();
    let matrix: Csr = upload(&ctx, &gallery::poisson(&[50]));
    let solver = Triangular::analyse(matrix.clone(), Triangle::Lower, false).unwrap().unwrap();
    let b = vector(&ctx, &[1.0; 50]);
    let before: Vec<f64> = elements(&solver.solve(&b).unwrap());
    let data: &GpuArray = matrix.data();
    data.binary_in_place(rtcg_array::Op::Multiply, 2.0).unwrap();
    let after: Vec<f64> = elements(&solver.solve(&b).unwrap());
    assert_eq!(after, before.iter().map(|x| x / 2.0).collect::<Vec<_>>());
}
