//! Linear algebra of arrays with a static element type: what defines each result, on matrices of every element type.

use num_complex::Complex;
use rtcg::array::{ArrayErrorKind, IterationLimits, MatrixNorm, Order, Tolerance, Triangle};
use rtcg::prelude::*;
use rtcg::typed_arrays::MatrixElement;
use rtcg::{Context, Error};

fn array_factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

/// Elements that tests draw: numbers from their parts, and the precision.
trait RandomElement: MatrixElement<Real: Into<f64>> {
    const EPS: f64;
    fn new(re: f64, im: f64) -> Self;
}

impl RandomElement for f32 {
    const EPS: f64 = f32::EPSILON as f64;
    fn new(re: f64, _: f64) -> Self {
        re as f32
    }
}

impl RandomElement for f64 {
    const EPS: f64 = f64::EPSILON;
    fn new(re: f64, _: f64) -> Self {
        re
    }
}

impl RandomElement for Complex<f32> {
    const EPS: f64 = f32::EPSILON as f64;
    fn new(re: f64, im: f64) -> Self {
        Complex::new(re as f32, im as f32)
    }
}

impl RandomElement for Complex<f64> {
    const EPS: f64 = f64::EPSILON;
    fn new(re: f64, im: f64) -> Self {
        Complex::new(re, im)
    }
}

/// Numbers without a pattern, in -1 to 1.
fn random_array<T: RandomElement>(arrays: &ArrayFactory, shape: &[usize]) -> GpuArray<T> {
    let mut state = 12345u64 + shape.iter().sum::<usize>() as u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    let values: Vec<T> = (0..shape.iter().product()).map(|_| T::new(next(), next())).collect();
    arrays.from_shape_and_values(shape, &values).unwrap()
}

fn adjoint<T: RandomElement>(a: &GpuArray<T>) -> GpuArray<T> {
    let turned = a.as_dyn().swapaxes(-2, -1).unwrap();
    a.factory().typed_from_dyn(turned.unary(rtcg::array::Op::Conjugate).unwrap()).unwrap()
}

fn random_hermitian<T: RandomElement>(arrays: &ArrayFactory, shape: &[usize]) -> GpuArray<T> {
    let a = random_array::<T>(arrays, shape);
    &a + &adjoint(&a)
}

fn identity_matrix<T: RandomElement>(arrays: &ArrayFactory, n: usize) -> GpuArray<T> {
    let one = |place: usize| T::new(if place.is_multiple_of(n + 1) { 1.0 } else { 0.0 }, 0.0);
    arrays.from_shape_and_values(&[n, n], &(0..n * n).map(one).collect::<Vec<_>>()).unwrap()
}

/// The largest absolute value.
fn max_abs<T: RandomElement>(a: &GpuArray<T>) -> f64 {
    a.vector_norm(f64::INFINITY, None).unwrap().item().unwrap().into()
}

/// That two arrays are the same within `bound` times the precision.
fn assert_close<T: RandomElement>(a: &GpuArray<T>, b: &GpuArray<T>, bound: f64, what: &str) {
    assert_eq!(a.shape(), b.shape(), "{what}");
    let error = max_abs(&(a - b)) / T::EPS;
    assert!(error <= bound, "{what}: {error} of {bound}, {}", T::DTYPE);
}

fn assert_unitary<T: RandomElement>(q: &GpuArray<T>, what: &str) {
    let &[.., m, n] = q.shape() else { panic!("{what} has no rows") };
    let product = adjoint(q).matmul(q).unwrap();
    let one = identity_matrix::<T>(q.factory(), n).broadcast_to(product.shape()).unwrap();
    assert_close(&product, &one, 10.0 * m as f64, what);
}

/// Calls a generic test for real and complex elements, in single and double precision; for all four at depth.
macro_rules! test_all_dtypes {
    ($test:ident) => {
        $test::<f32>();
        $test::<Complex<f64>>();
        if crate::test_depth::is_deep() {
            $test::<f64>();
            $test::<Complex<f32>>();
        }
    };
}

fn array_error_kind<T>(result: Result<T, Error>) -> ArrayErrorKind {
    match result {
        Err(Error::Array(error)) => error.kind(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("an error was expected"),
    }
}

fn check_solve<T: RandomElement>() {
    let arrays = array_factory();
    // Within a panel, and over several.
    for n in [1, 5, 70, 150] {
        let a = random_array::<T>(&arrays, &[2, n, n]);
        let b = random_array::<T>(&arrays, &[n, 3]);
        let x = a.solve(&b).unwrap();
        let inverse = a.inv().unwrap();
        let size = max_abs(&inverse).max(1.0) * 10.0 * (n * n) as f64;
        assert_close(&a.matmul(&x).unwrap(), &b.broadcast_to(&[2, n, 3]).unwrap(), size, "A x");
        assert_close(
            &inverse.matmul(&a).unwrap(),
            &identity_matrix(&arrays, n).broadcast_to(&[2, n, n]).unwrap(),
            size,
            "A^-1 A",
        );
    }
}

#[test]
fn linear_systems_are_solved() {
    test_all_dtypes!(check_solve);
}

#[test]
fn determinants_and_slogdet_are_correct() {
    let arrays = array_factory();
    let a = arrays.from_shape_and_values(&[3, 3], &[0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0]).unwrap();
    assert_eq!(a.det().unwrap().item().unwrap(), -24.0);
    let (sign, log) = a.slogdet().unwrap();
    assert_eq!(sign.item().unwrap(), -1.0);
    assert!(f64::abs(log.item().unwrap() - f64::ln(24.0)) < 1e-15);
    // Over three panels, and larger than numbers are.
    let a = random_array::<f64>(&arrays, &[150, 150]);
    let (sign, log) = a.slogdet().unwrap();
    let (twice_sign, twice_log) = a.matmul(&a).unwrap().slogdet().unwrap();
    assert_eq!((sign.item().unwrap().abs(), twice_sign.item().unwrap()), (1.0, 1.0));
    assert!((2.0 * log.item().unwrap() - twice_log.item().unwrap()).abs() < 1e-8);
    assert_eq!((&a * 1e10).det().unwrap().item().unwrap().abs(), f64::INFINITY);
    assert_eq!(arrays.zeros::<f64>(&[2, 2]).unwrap().det().unwrap().item().unwrap(), 0.0);
}

fn check_factorizations<T: RandomElement>() {
    let arrays = array_factory();
    for n in [1, 6, 100] {
        let a = random_array::<T>(&arrays, &[2, n, n]);
        let positive = &a.matmul(&adjoint(&a)).unwrap() + &identity_matrix::<T>(&arrays, n);
        let bound = 20.0 * (n * n) as f64;
        let lower = positive.cholesky(Triangle::Lower).unwrap();
        assert_close(&lower.matmul(&adjoint(&lower)).unwrap(), &positive, bound, "L L^H");
        assert_close(&adjoint(&positive.cholesky(Triangle::Upper).unwrap()), &lower, bound, "U^H");
    }
    for [m, n] in [[4, 4], [70, 20], [20, 70]] {
        let a = random_array::<T>(&arrays, &[2, m, n]);
        for is_complete in [false, true] {
            let (q, r) = a.qr(is_complete).unwrap();
            assert_eq!(q.shape()[2], if is_complete { m } else { m.min(n) });
            assert_unitary(&q, "Q");
            assert_close(&q.matmul(&r).unwrap(), &a, 10.0 * m as f64, "Q R");
        }
    }
}

#[test]
fn factors_multiply_to_the_matrix() {
    test_all_dtypes!(check_factorizations);
}

fn check_eigh<T: RandomElement>() {
    let arrays = array_factory();
    // By Jacobi rotations, and by way of tridiagonal matrices.
    for n in [1, 2, 9, 32, 45, 100] {
        let a = random_hermitian::<T>(&arrays, &[3, n, n]);
        let (values, vectors) = a.eigh(Triangle::Lower).unwrap();
        let bound = 20.0 * (n * n) as f64;
        assert_unitary(&vectors, "V");
        let scaled = &vectors * &values.cast::<T>().unwrap().expand_dims(&[-2]).unwrap();
        assert_close(&a.matmul(&vectors).unwrap(), &scaled, bound, "A V");
        assert_close(
            &a.eigvalsh(Triangle::Upper).unwrap().cast::<T>().unwrap(),
            &values.cast().unwrap(),
            bound,
            "eigenvalues",
        );
    }
}

#[test]
fn hermitian_matrices_scale_their_eigenvectors() {
    test_all_dtypes!(check_eigh);
}

fn check_eig<T: RandomElement>()
where
    Complex<T::Real>: RandomElement,
{
    let arrays = array_factory();
    for n in [1, 2, 7, 40] {
        let a = random_array::<T>(&arrays, &[2, n, n]);
        let (values, vectors) = a.eig().unwrap();
        let wide = a.cast::<Complex<T::Real>>().unwrap();
        let scaled = &vectors * &values.expand_dims(&[-2]).unwrap();
        assert_close(&wide.matmul(&vectors).unwrap(), &scaled, 20.0 * (n * n) as f64, "A V");
        let lengths = vectors.vector_norm(2.0, Some(&[-2])).unwrap().cast::<T>().unwrap();
        let ones = arrays.full(&[2, n], T::new(1.0, 0.0)).unwrap();
        assert_close(&lengths, &ones, 10.0 * n as f64, "lengths");
        // Their sum is the trace.
        let diagonals = arrays.typed_from_dyn::<T>(a.as_dyn().diagonal(0, -2, -1).unwrap()).unwrap();
        let trace = diagonals.cast::<Complex<T::Real>>().unwrap().to_vec().unwrap();
        let found = a.eigvals().unwrap().to_vec().unwrap();
        let sum = |all: &[Complex<T::Real>]| {
            all.iter().fold(Complex::new(0.0, 0.0), |sum, z| sum + Complex::new(z.re.into(), z.im.into()))
        };
        for (values, diagonal) in found.chunks(n).zip(trace.chunks(n)) {
            assert!((sum(values) - sum(diagonal)).norm() < 20.0 * (n * n) as f64 * T::EPS);
        }
    }
}

#[test]
fn general_matrices_scale_their_eigenvectors() {
    test_all_dtypes!(check_eig);
}

fn check_svd<T: RandomElement>() {
    let arrays = array_factory();
    // Small ones, several blocks for each, and long columns.
    for [m, n] in [[1, 1], [9, 4], [4, 9], [33, 33], [50, 40], [530, 3]] {
        let a = random_array::<T>(&arrays, &[2, m, n]);
        let svd = a.svd(false).unwrap();
        let bound = 20.0 * (m * n) as f64;
        let scaled = &svd.u * &svd.s.cast::<T>().unwrap().expand_dims(&[-2]).unwrap();
        assert_close(&scaled.matmul(&svd.vh).unwrap(), &a, bound, "U S V^H");
        assert_unitary(&svd.u, "U");
        assert_unitary(&adjoint(&svd.vh), "V");
        assert_close(&a.svdvals().unwrap().cast::<T>().unwrap(), &svd.s.cast().unwrap(), bound, "singular values");
        let full = a.svd(true).unwrap();
        assert_eq!((full.u.shape(), full.vh.shape()), (&[2, m, m][..], &[2, n, n][..]));
        assert_unitary(&full.u, "square U");
    }
}

#[test]
fn svd_factors_multiply_to_the_matrix() {
    test_all_dtypes!(check_svd);
}

#[test]
fn hermitian_singular_values_are_absolute_eigenvalues() {
    let arrays = array_factory();
    for n in [5, 40] {
        let a = random_hermitian::<f64>(&arrays, &[2, n, n]);
        let svd = a.as_dyn().svd_of_hermitian(IterationLimits::default()).unwrap();
        let [u, s, vh] = [svd.u, svd.s, svd.vh].map(|part| arrays.typed_from_dyn::<f64>(part).unwrap());
        assert_close(&(&u * &s.expand_dims(&[-2]).unwrap()).matmul(&vh).unwrap(), &a, 200.0 * n as f64, "U S V^H");
        assert_close(&s, &a.svdvals().unwrap(), 100.0 * n as f64, "singular values");
        let alone = a.as_dyn().svdvals_of_hermitian(IterationLimits::default()).unwrap();
        assert_close(&arrays.typed_from_dyn(alone).unwrap(), &s, 100.0 * n as f64, "singular values alone");
    }
}

fn check_pinv_rank_lstsq<T: RandomElement>() {
    let arrays = array_factory();
    // Of rank 3.
    let a = random_array::<T>(&arrays, &[6, 3]).matmul(&random_array::<T>(&arrays, &[3, 5])).unwrap();
    assert_eq!(a.matrix_rank(None).unwrap().item().unwrap(), 3);
    assert_eq!(a.matrix_rank(Some(2.0)).unwrap().item().unwrap(), 0);
    let inverse = a.pinv(None).unwrap();
    assert_eq!(inverse.shape(), [5, 6]);
    assert_close(&a.matmul(&inverse).unwrap().matmul(&a).unwrap(), &a, 1e3, "A A^+ A");
    let b = random_array::<T>(&arrays, &[6]);
    let found = a.lstsq(&b, None).unwrap();
    assert_eq!((found.rank, found.residuals.shape()), (3, &[0][..]));
    assert_close(&found.solution, &inverse.matmul(&b).unwrap(), 1e4, "the shortest solution");
    // Of full rank: what is left is orthogonal to the columns.
    let a = random_array::<T>(&arrays, &[7, 3]);
    let b = random_array::<T>(&arrays, &[7, 2]);
    let found = a.lstsq(&b, None).unwrap();
    let left = &b - &a.matmul(&found.solution).unwrap();
    assert!(max_abs(&adjoint(&a).matmul(&left).unwrap()) < 1e3 * T::EPS);
    let squares = left.vector_norm(2.0, Some(&[0])).unwrap().cast::<T>().unwrap();
    assert_close(&found.residuals.cast::<T>().unwrap(), &(&squares * &squares), 1e3, "sums of squares");
}

#[test]
fn pinv_rank_and_lstsq_are_correct() {
    test_all_dtypes!(check_pinv_rank_lstsq);
}

#[test]
fn rank_tolerances_apply_per_matrix() {
    let arrays = array_factory();
    let a = arrays.from_shape_and_values(&[2, 2, 2], &[4.0, 0.0, 0.0, 1.0, 4.0, 0.0, 0.0, 1.0]).unwrap();
    let each = arrays.from_slice(&[0.5, 0.1]).unwrap();
    for (tolerance, ranks) in [
        (Tolerance::Relative(each.as_dyn().into()), [1, 2]),
        (Tolerance::Absolute(each.as_dyn().into()), [2, 2]),
        (Tolerance::Absolute(2.0.into()), [1, 1]),
        (Tolerance::Epsilon, [2, 2]),
    ] {
        let found = a.as_dyn().matrix_rank(tolerance, false, IterationLimits::default()).unwrap();
        assert_eq!(arrays.typed_from_dyn::<i64>(found).unwrap().to_vec().unwrap(), ranks, "{tolerance:?}");
    }
}

#[test]
fn norms_match_their_definitions() {
    let arrays = array_factory();
    let a = arrays.from_shape_and_values(&[2, 2], &[3.0, 0.0, 4.0, -1.0]).unwrap();
    for (norm, expected) in [
        (MatrixNorm::Frobenius, f64::sqrt(26.0)),
        (MatrixNorm::MaxColumnSum, 7.0),
        (MatrixNorm::MinColumnSum, 1.0),
        (MatrixNorm::MaxRowSum, 5.0),
        (MatrixNorm::MinRowSum, 3.0),
        // The squares of the singular values are 13 +- 4 sqrt(10).
        (MatrixNorm::MaxSingularValue, f64::sqrt(13.0 + f64::sqrt(160.0))),
        (MatrixNorm::MinSingularValue, f64::sqrt(13.0 - f64::sqrt(160.0))),
        (MatrixNorm::Nuclear, f64::sqrt(32.0)),
    ] {
        let found = a.matrix_norm(norm).unwrap().item().unwrap();
        assert!(f64::abs(found - expected) < 1e-14, "{norm:?}: {found}, expected {expected}");
    }
    for (order, expected) in [(0.0, 3.0), (1.0, 8.0), (3.0, f64::cbrt(92.0)), (f64::NEG_INFINITY, 0.0)] {
        let found = a.vector_norm(order, None).unwrap().item().unwrap();
        assert!(f64::abs(found - expected) < 1e-14, "{order}: {found}, expected {expected}");
    }
    assert!(f64::abs(a.cond(MatrixNorm::MaxRowSum).unwrap().item().unwrap() - 5.0 * 7.0 / 3.0) < 1e-13);
    let singular = arrays.full(&[2, 2], 1.0).unwrap();
    assert_eq!(singular.cond(MatrixNorm::MaxColumnSum).unwrap().item().unwrap(), f64::INFINITY);
}

#[test]
fn invalid_matrices_give_the_right_error_kind() {
    let arrays = array_factory();
    let singular = arrays.full(&[3, 3], 1.0f64).unwrap();
    let linear = ArrayErrorKind::LinearAlgebra;
    assert_eq!(array_error_kind(singular.inv()), linear);
    assert_eq!(array_error_kind(singular.solve(&arrays.full(&[3], 1.0).unwrap())), linear);
    assert_eq!(array_error_kind((&singular * -1.0).cholesky(Triangle::Lower)), linear);
    assert_eq!(array_error_kind(arrays.zeros::<f32>(&[2, 3]).unwrap().det()), linear);
    assert_eq!(array_error_kind(arrays.zeros::<f32>(&[3]).unwrap().svd(true)), linear);
    assert_eq!(array_error_kind(singular.solve(&arrays.full(&[2], 1.0).unwrap())), ArrayErrorKind::Value);
    let unknown = arrays.full(&[3, 3], f64::NAN).unwrap();
    assert_eq!(array_error_kind(unknown.eigh(Triangle::Lower)), linear);
    assert_eq!(array_error_kind(unknown.svdvals()), linear);
    assert_eq!(array_error_kind(unknown.eig()), linear);
    let half = rtcg::GpuArrayDyn::zeros(arrays.array_context(), &[2, 2], rtcg::array::DType::F16, Order::C).unwrap();
    assert_eq!(half.inv().unwrap_err().kind(), ArrayErrorKind::Type);
}

#[test]
fn iteration_limits_are_obeyed() {
    let arrays = array_factory();
    fn error_message<T>(result: rtcg::array::Result<T>) -> String {
        result.err().expect("iterations that do not end").to_string()
    }
    let few = IterationLimits { sweeps: 1, ql_iterations: 1, qr_iterations: 1 };
    let enough = IterationLimits::default();
    for n in [20, 40] {
        let a = random_hermitian::<f32>(&arrays, &[2, n, n]);
        let a = a.as_dyn();
        assert!(a.eigh(Triangle::Lower, enough).is_ok() && a.eig(enough).is_ok() && a.svd(true, enough).is_ok());
        assert_eq!(error_message(a.eigh(Triangle::Lower, few)), "Eigenvalues did not converge");
        assert_eq!(error_message(a.eig(few)), "Eigenvalues did not converge");
        assert_eq!(error_message(a.eigvals(few)), "Eigenvalues did not converge");
    }
    let a = random_hermitian::<Complex<f64>>(&arrays, &[2, 20, 20]);
    assert_eq!(error_message(a.as_dyn().svd(true, few)), "SVD did not converge");
    assert_eq!(error_message(a.as_dyn().svdvals(few)), "SVD did not converge");
    // Columns that nearly depend on each other need more than one round, however they were prepared.
    let hilbert: Vec<f64> = (0..1600).map(|place| 1.0 / (place / 40 + place % 40 + 1) as f64).collect();
    let hilbert = arrays.from_shape_and_values(&[40, 40], &hilbert).unwrap();
    let few_sweeps = IterationLimits { sweeps: 1, ..enough };
    assert!(hilbert.as_dyn().svd(true, enough).is_ok());
    assert_eq!(error_message(hilbert.as_dyn().svd(true, few_sweeps)), "SVD did not converge");
}

#[test]
fn empty_matrices_have_empty_results() {
    let arrays = array_factory();
    let none = arrays.zeros::<f64>(&[3, 0, 0]).unwrap();
    assert_eq!(none.inv().unwrap().shape(), [3, 0, 0]);
    assert_eq!(none.det().unwrap().to_vec().unwrap(), [1.0; 3]);
    assert_eq!(none.eigvalsh(Triangle::Lower).unwrap().shape(), [3, 0]);
    assert_eq!(none.eig().unwrap().1.shape(), [3, 0, 0]);
    assert_eq!(none.matrix_rank(None).unwrap().to_vec().unwrap(), [0; 3]);
    let wide = arrays.zeros::<f64>(&[0, 5]).unwrap();
    let svd = wide.svd(true).unwrap();
    assert_eq!((svd.u.shape(), svd.s.shape(), svd.vh.shape()), (&[0, 0][..], &[0][..], &[5, 5][..]));
    assert_eq!(max_abs(&(&svd.vh - &identity_matrix(&arrays, 5))), 0.0);
}
