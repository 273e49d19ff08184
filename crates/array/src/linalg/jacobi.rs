//! Eigenvalues of small Hermitian matrices by Jacobi rotations in shared memory, with one block of threads per matrix.

use super::launch::LinalgKernel;
use super::matrix_helpers::empty_like;
use super::scaling::KernelStatusFlags;
use crate::array::GpuArray;
use rtcg_codegen::array::LinalgStep;
use rtcg_hal::{DType, Result};

fn shared_bytes(n: usize, dtype: DType) -> usize {
    let even = n.next_multiple_of(2);
    even * (even + 1) * dtype.itemsize() + even / 2 * (2 * dtype.itemsize() + 8)
}

/// Eigenvalues of scaled Hermitian matrices in no order, and their eigenvectors as rows.
///
/// Two-sided Jacobi rotations in parallel order (Golub and Van Loan, Matrix Computations, 8.5; Luk and Park, A proof of
/// convergence for two parallel Jacobi SVD algorithms, IEEE Trans. Comp. 38, 1989).
pub(super) fn jacobi_eigenvalues(
    a: &GpuArray,
    report: &KernelStatusFlags,
    sweeps: usize,
    has_vectors: bool,
    block: [usize; 2],
) -> Result<(GpuArray, Option<GpuArray>)> {
    let (count, n) = (a.shape()[0], a.shape()[2]);
    let values = empty_like(a, &[count, n], a.dtype().real_part())?;
    let vectors = if has_vectors { Some(empty_like(a, a.shape(), a.dtype())?) } else { None };
    if a.size() > 0 {
        let step = LinalgKernel::new(a.context(), a.dtype(), LinalgStep::Jacobi)?;
        let arguments =
            [a.into(), n.into(), sweeps.into(), (&values).into(), vectors.as_ref().into(), (&report.0).into()];
        step.launch_with_shared_bytes([count, 1], block, shared_bytes(n, a.dtype()), &arguments)?;
    }
    Ok((values, vectors))
}
