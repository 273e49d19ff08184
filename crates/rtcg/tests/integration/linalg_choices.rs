//! Every candidate of the decisions of linear algebra computes right results: factors multiply to the matrix, and
//! orthonormal columns are such.

use super::choices::Candidates;
use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{array_bytes, context_of_fake_gpu, reduce_over_axes};
use rtcg::array::tuning::ParameterValue;
use rtcg::array::{
    ArrayContext, DType, GpuArray, IterationLimits, Op, Order, ReductionOp, Scalar, Triangle, WeakScalar,
};
use std::sync::Arc;

/// Matrices of integers without a pattern, from -9 to 9.
fn integer_matrices(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    let mut state = 12345u64 + shape.iter().sum::<usize>() as u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % 19) as f64 - 9.0
    };
    let (wide, parts) = if dtype.is_complex() { (DType::C128, 2) } else { (DType::F64, 1) };
    let array = GpuArray::empty(ctx, shape, wide, Order::C).unwrap();
    let bytes: Vec<u8> = (0..parts * array.size()).flat_map(|_| next().to_ne_bytes()).collect();
    array.write(&bytes, Order::C).unwrap();
    array.astype(dtype).unwrap()
}

/// Parts of numbers in units that rounding errors are small beside.
fn rounded(array: &GpuArray) -> Vec<i64> {
    let scale = if array.dtype().real_part() == DType::F32 { 8.0 } else { 1e6 };
    let bytes = array_bytes(&array.astype(DType::C128).unwrap());
    bytes.chunks_exact(8).map(|x| (f64::from_ne_bytes(x.try_into().unwrap()) * scale).round() as i64).collect()
}

fn adjoint(a: &GpuArray) -> GpuArray {
    a.swapaxes(-2, -1).unwrap().unary(Op::Conjugate).unwrap()
}

/// What the adjoint of a matrix with orthonormal columns multiplies it to.
fn unit_matrices(ctx: &Arc<ArrayContext>, [batches, n]: [usize; 2], dtype: DType) -> GpuArray {
    let units = GpuArray::zeros(ctx, &[batches, n, n], dtype, Order::C).unwrap();
    units.diagonal(0, -2, -1).unwrap().fill(Scalar::Weak(WeakScalar::Int(1))).unwrap();
    units
}

/// Systems with `sides` right sides, and the signs of determinants.
fn systems_of(ctx: &Arc<ArrayContext>, dtype: DType, [batches, n, sides]: [usize; 3], candidates: &mut Candidates) {
    let a = integer_matrices(ctx, &[batches, n, n], dtype);
    let x = integer_matrices(ctx, &[batches, n, sides], dtype);
    let (b, sign) = (a.matmul(&x).unwrap(), a.slogdet().unwrap().sign);
    let wanted = [rounded(&x), rounded(&sign)].concat();
    candidates.run(ctx, &wanted, || [rounded(&a.solve(&b).unwrap()), rounded(&a.slogdet().unwrap().sign)].concat());
}

fn cholesky_factors_of(ctx: &Arc<ArrayContext>, dtype: DType, [batches, n]: [usize; 2], candidates: &mut Candidates) {
    let m = integer_matrices(ctx, &[batches, n, n], dtype);
    let shift = unit_matrices(ctx, [batches, n], dtype).binary(Op::Multiply, 50).unwrap();
    let a = m.matmul(&adjoint(&m)).unwrap().binary(Op::Add, &shift).unwrap();
    candidates.run(ctx, &rounded(&a), || {
        let lower = a.cholesky(Triangle::Lower).unwrap();
        rounded(&lower.matmul(&adjoint(&lower)).unwrap())
    });
}

fn qr_factors_of(ctx: &Arc<ArrayContext>, dtype: DType, [batches, m, n]: [usize; 3], candidates: &mut Candidates) {
    let a = integer_matrices(ctx, &[batches, m, n], dtype);
    let wanted = [rounded(&a), rounded(&unit_matrices(ctx, [batches, m.min(n)], dtype))].concat();
    candidates.run(ctx, &wanted, || {
        let (q, r) = a.qr(false).unwrap();
        [&q.matmul(&r).unwrap(), &adjoint(&q).matmul(&q).unwrap()].map(rounded).concat()
    });
}

/// Runs each family of matrices with candidates of its own, all of them, but for the named values.
fn all_candidates_of(name: &str, exceptions: &[ParameterValue], run: impl FnOnce(&Arc<ArrayContext>, &mut Candidates)) {
    let mut candidates = Candidates::of(name);
    run(&context_of_fake_gpu(LARGE_GPU), &mut candidates);
    candidates.assert_covered(exceptions);
}

#[test]
fn panels_of_factorizations_are_right() {
    let name = "linalg.panel";
    all_candidates_of(name, &[], |ctx, all| systems_of(ctx, DType::F64, [2, 150, 40], all));
    // Triangles of 128 rows do not fit in shared memory.
    all_candidates_of(name, &[ParameterValue::Int(128)], |ctx, all| {
        cholesky_factors_of(ctx, DType::F32, [2, 140], all)
    });
    all_candidates_of(name, &[], |ctx, all| qr_factors_of(ctx, DType::C128, [1, 150, 140], all));
}

#[test]
fn kernels_of_panels_are_right() {
    let name = "linalg.panel_kernel";
    // Clusters of 2, 4 or 8 blocks are not on this device.
    let clusters = [2, 4, 8].map(ParameterValue::Int);
    all_candidates_of(name, &clusters, |ctx, all| systems_of(ctx, DType::F64, [2, 80, 5], all));
    all_candidates_of(name, &clusters, |ctx, all| qr_factors_of(ctx, DType::F32, [2, 90, 50], all));
    // Threads hold no 32 columns of so many rows.
    let wide = [2, 4, 8, 32].map(ParameterValue::Int);
    all_candidates_of(name, &wide, |ctx, all| qr_factors_of(ctx, DType::C64, [1, 600, 40], all));
}

#[test]
fn triangular_systems_are_solved_right() {
    let name = "linalg.triangular";
    all_candidates_of(name, &[], |ctx, all| systems_of(ctx, DType::F64, [2, 100, 70], all));
    all_candidates_of(name, &[], |ctx, all| systems_of(ctx, DType::C128, [1, 80, 20], all));
}

#[test]
fn updates_of_factorizations_are_right() {
    let name = "linalg.update";
    all_candidates_of(name, &[], |ctx, all| systems_of(ctx, DType::F64, [2, 210, 3], all));
    // One matrix is updated in its place.
    all_candidates_of(name, &[], |ctx, all| systems_of(ctx, DType::F64, [1, 130, 3], all));
    all_candidates_of(name, &[], |ctx, all| cholesky_factors_of(ctx, DType::F32, [1, 290], all));
    // Threads have no 8 x 8 sums of 16 bytes.
    let large = [ParameterValue::Int(8)];
    all_candidates_of(name, &large, |ctx, all| cholesky_factors_of(ctx, DType::C128, [1, 100], all));
}

#[test]
fn applied_reflectors_are_right() {
    let name = "linalg.reflectors";
    all_candidates_of(name, &[], |ctx, all| qr_factors_of(ctx, DType::F64, [2, 300, 90], all));
    all_candidates_of(name, &[], |ctx, all| qr_factors_of(ctx, DType::C128, [1, 50, 70], all));
}

/// Columns times diagonal matrices of `values`, times rows.
fn recombine(columns: &GpuArray, values: &GpuArray, rows: &GpuArray) -> GpuArray {
    let values = values.expand_dims(&[-2]).unwrap();
    columns.binary(Op::Multiply, &values).unwrap().matmul(rows).unwrap()
}

/// Hermitian matrices from eigenvalues and eigenvectors, or eigenvalues alone.
fn eigenvalues_of(
    ctx: &Arc<ArrayContext>,
    dtype: DType,
    [batches, n]: [usize; 2],
    has_vectors: bool,
    candidates: &mut Candidates,
) {
    let m = integer_matrices(ctx, &[batches, n, n], dtype);
    let (a, limits) = (m.binary(Op::Add, &adjoint(&m)).unwrap(), IterationLimits::default());
    if !has_vectors {
        let wanted = rounded(&a.eigvalsh(Triangle::Lower, limits).unwrap());
        return candidates.run(ctx, &wanted, || rounded(&a.eigvalsh(Triangle::Lower, limits).unwrap()));
    }
    let wanted = [rounded(&a), rounded(&unit_matrices(ctx, [batches, n], dtype))].concat();
    candidates.run(ctx, &wanted, || {
        let (values, vectors) = a.eigh(Triangle::Lower, limits).unwrap();
        let rows = adjoint(&vectors);
        [&recombine(&vectors, &values, &rows), &rows.matmul(&vectors).unwrap()].map(rounded).concat()
    });
}

fn singular_values_of(ctx: &Arc<ArrayContext>, dtype: DType, [batches, m, n]: [usize; 3], candidates: &mut Candidates) {
    let (a, limits) = (integer_matrices(ctx, &[batches, m, n], dtype), IterationLimits::default());
    let unit = rounded(&unit_matrices(ctx, [batches, m.min(n)], dtype));
    candidates.run(ctx, &[rounded(&a), unit.clone(), unit].concat(), || {
        let svd = a.svd(false, limits).unwrap();
        let [left, right] = [adjoint(&svd.u).matmul(&svd.u), svd.vh.matmul(&adjoint(&svd.vh))].map(Result::unwrap);
        [&recombine(&svd.u, &svd.s, &svd.vh), &left, &right].map(rounded).concat()
    });
}

/// General matrices, which multiply their eigenvectors by eigenvalues; their sum is that of the diagonal.
fn general_eigenvalues_of(ctx: &Arc<ArrayContext>, dtype: DType, n: usize, candidates: &mut Candidates) {
    let (a, limits) = (integer_matrices(ctx, &[2, n, n], dtype), IterationLimits::default());
    let wide = a.astype(DType::C128).unwrap();
    let sums = |values: &GpuArray| rounded(&reduce_over_axes(values, ReductionOp::Sum, &[-1]));
    let wanted = [sums(&wide.diagonal(0, -2, -1).unwrap()), vec![0; 4 * n * n], [1_000_000, 0].repeat(2 * n)];
    candidates.run(ctx, &wanted.concat(), || {
        let (values, vectors) = a.eig(limits).unwrap();
        let scaled = vectors.binary(Op::Multiply, &values.expand_dims(&[-2]).unwrap()).unwrap();
        let rest = wide.matmul(&vectors).unwrap().binary(Op::Subtract, &scaled).unwrap();
        let squares = vectors.unary(Op::Absolute).unwrap().unary(Op::Square).unwrap();
        let lengths = reduce_over_axes(&squares, ReductionOp::Sum, &[-2]);
        [sums(&values), rounded(&rest), rounded(&lengths)].concat()
    });
}

#[test]
fn methods_for_hermitian_eigenvalues_are_right() {
    let name = "linalg.eigh";
    for n in [1, 7, 30, 50] {
        all_candidates_of(name, &[], |ctx, all| eigenvalues_of(ctx, DType::F64, [2, n], true, all));
    }
    all_candidates_of(name, &[], |ctx, all| eigenvalues_of(ctx, DType::C128, [1, 40], true, all));
    all_candidates_of(name, &[], |ctx, all| eigenvalues_of(ctx, DType::F64, [2, 12], false, all));
    all_candidates_of("linalg.bisect", &[], |ctx, all| eigenvalues_of(ctx, DType::C64, [2, 70], false, all));
}

#[test]
fn reductions_to_tridiagonal_form_are_right() {
    let name = "linalg.tridiagonal";
    all_candidates_of(name, &[], |ctx, all| eigenvalues_of(ctx, DType::F64, [1, 100], true, all));
    all_candidates_of(name, &[], |ctx, all| eigenvalues_of(ctx, DType::C128, [1, 70], true, all));
    all_candidates_of("linalg.divide", &[], |ctx, all| eigenvalues_of(ctx, DType::F64, [2, 150], true, all));
}

#[test]
fn rotations_of_columns_are_right() {
    let name = "linalg.rotations";
    all_candidates_of(name, &[], |ctx, all| singular_values_of(ctx, DType::F64, [2, 20, 13], all));
    all_candidates_of(name, &[], |ctx, all| singular_values_of(ctx, DType::C128, [1, 37, 50], all));
    all_candidates_of(name, &[], |ctx, all| singular_values_of(ctx, DType::F32, [1, 540, 6], all));
}

#[test]
fn reductions_to_schur_form_are_right() {
    for (name, n) in [("linalg.hessenberg", 40), ("linalg.schur", 110)] {
        all_candidates_of(name, &[], |ctx, all| general_eigenvalues_of(ctx, DType::F64, n, all));
        all_candidates_of(name, &[], |ctx, all| general_eigenvalues_of(ctx, DType::C128, 21, all));
    }
}
