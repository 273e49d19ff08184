//! Eigenvalues of Hermitian matrices of any size: scaling, the method for the size, and sorting.

use super::factorizations::Triangle;
use super::iteration_limits::IterationLimits;
use super::matrix_helpers::{copy_to_stack, float_dtype, square_extent, stack_axes, unstack_axes};
use super::scaling::{KernelStatusFlags, MatrixScaling, permute_rows_into_columns};
use super::{jacobi, tridiagonal};
use crate::array::GpuArray;
use rtcg_hal::{ArrayError, DeviceInfo, Result, tunable};

/// Rows of matrices for which Jacobi rotations are the faster method; 17 KiB of shared memory in complex128.
const MAX_JACOBI_ROWS: i64 = 32;

tunable! {
    /// The method for eigenvalues of Hermitian matrices.
    pub(crate) EighMethod = "linalg.eigh";
    /// Hermitian matrices of `n` rows.
    problem EighProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
        /// Whether eigenvectors are computed.
        vectors: bool = Exact,
    }
    parameters {
        /// `jacobi` rotates matrices in shared memory; `tridiagonal` reduces them to tridiagonal form.
        method: &'static str = ["jacobi", "tridiagonal"],
        /// Threads along rows, per block of Jacobi rotations.
        width: i64 = [4, 8, 16, 32],
        /// Threads along columns, per block of Jacobi rotations.
        height: i64 = [4, 8, 16, 32],
    }
    device {}
    require {
        method != "jacobi" || (n + 1) * (n + 2) * itemsize + (n + 1) * (itemsize + 4) <= 49152;
    }
    rule eigh_rule;
}

fn eigh_rule(problem: &EighProblem, _: &DeviceInfo) -> EighMethod {
    let method = if problem.n > MAX_JACOBI_ROWS { "tridiagonal" } else { "jacobi" };
    let [width, height] = if problem.n <= 8 { [4, 8] } else { [8, 16] };
    EighMethod { method, width, height }
}

/// Eigenvalues in ascending order, and eigenvectors as columns if they are wanted.
pub(super) struct EighResult {
    pub values: GpuArray,
    pub vectors: Option<GpuArray>,
    pub report: KernelStatusFlags,
}

/// Decomposes Hermitian matrices, of which a triangle is read and which are overwritten.
pub(super) fn decompose_hermitian(
    a: &GpuArray,
    triangle: Triangle,
    limits: IterationLimits,
    has_vectors: bool,
) -> Result<EighResult> {
    let [batches, n] = [a.shape()[0], a.shape()[2]];
    let problem =
        EighProblem { itemsize: a.itemsize() as i64, batches: batches as i64, n: n as i64, vectors: has_vectors };
    let choice: EighMethod = a.context().choose(&problem);
    let scaling = MatrixScaling::new(a, Some(triangle))?;
    if a.size() > 0 && choice.method == "tridiagonal" {
        let (values, vectors) = tridiagonal::hermitian_eigenvalues(a, &scaling, limits.ql_iterations, has_vectors)?;
        return Ok(EighResult { values, vectors, report: scaling.report });
    }
    let block = [choice.width, choice.height].map(|threads| threads as usize);
    let (values, rows) = jacobi::jacobi_eigenvalues(a, &scaling.report, limits.sweeps, has_vectors, block)?;
    let (values, places) = scaling.sort_and_unscale_values(&values, a.dtype(), false)?;
    let vectors = rows.map(|rows| permute_rows_into_columns(&rows, &places, n)).transpose()?;
    Ok(EighResult { values, vectors, report: scaling.report })
}

/// Eigenvalues of Hermitian matrices: the last two axes, of which one triangle is read. Jacobi rotations for up to 32
/// rows; for more the tridiagonal form, which is divided and conquered, or bisected for eigenvalues alone. Errors are at
/// most about the length of the matrix times the precision of its elements.
impl GpuArray {
    /// Computes eigenvalues in ascending order, and unit eigenvectors as columns; waits.
    ///
    /// # Errors
    /// When a matrix has infinities or NaN, is not square, or does not converge within `limits`; for elements that
    /// cannot be factorised.
    pub fn eigh(&self, triangle: Triangle, limits: IterationLimits) -> Result<(GpuArray, GpuArray)> {
        let found = self.compute_eigh(triangle, limits, true)?;
        let vectors = found.vectors.ok_or_else(|| ArrayError::value_error("eigh: no eigenvectors were made"))?;
        Ok((unstack_axes(&found.values, stack_axes(self))?, unstack_axes(&vectors, stack_axes(self))?))
    }

    /// Computes the eigenvalues of [`GpuArray::eigh`]; waits.
    ///
    /// # Errors
    /// As [`GpuArray::eigh`].
    pub fn eigvalsh(&self, triangle: Triangle, limits: IterationLimits) -> Result<GpuArray> {
        unstack_axes(&self.compute_eigh(triangle, limits, false)?.values, stack_axes(self))
    }

    fn compute_eigh(&self, triangle: Triangle, limits: IterationLimits, has_vectors: bool) -> Result<EighResult> {
        square_extent(self)?;
        let a = copy_to_stack(self, float_dtype(&[self.dtype()])?)?;
        let found = decompose_hermitian(&a, triangle, limits, has_vectors)?;
        if self.size() > 0 && found.report.read_status_flags()? != 0 {
            return Err(ArrayError::linear_algebra_error("Eigenvalues did not converge"));
        }
        Ok(found)
    }
}
