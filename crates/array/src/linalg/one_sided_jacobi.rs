//! Singular values by one-sided Jacobi rotations: one block of threads per small matrix, several launches for a large
//! one.

use super::eigh::decompose_hermitian;
use super::factorizations::Triangle;
use super::iteration_limits::IterationLimits;
use super::launch::{KernelArg, LinalgKernel};
use super::matrix_helpers::{
    any_true, conjugate, empty_like, identity_matrices, machine_epsilon, matrix_transpose, read_first_i32, reduce_axis,
    rows_and_columns, scalar_arg, stack_axes, submatrix, where_select, zeros_like,
};
use super::scaling::KernelStatusFlags;
use crate::array::GpuArray;
use rtcg_codegen::array::{LINALG_NOT_CONVERGED, LinalgSpec, LinalgStep, Op, ReductionOp};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

/// Threads of a warp.
const WARP_THREADS: usize = 32;
/// Threads that have a pair of columns: a warp, or `LONG_COLUMN_THREADS` if columns have more rows.
const LONG_COLUMN_THREADS: i64 = 128;
const MAX_WARP_COLUMN_ROWS: i64 = 512;
/// Matrices of more columns take many blocks each, unless there are many of them.
const MAX_SINGLE_BLOCK_COLUMNS: i64 = 32;
const MIN_SINGLE_BLOCK_BATCH: i64 = 32;
const MAX_BATCHED_SINGLE_BLOCK_COLUMNS: i64 = 128;

tunable! {
    /// How rotations orthogonalise columns.
    pub(crate) RotationChoice = "linalg.rotations";
    /// Matrices of `m` rows and `n <= m` columns.
    problem RotationProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        m: i64 = PowerOfTwo,
        /// Number of columns.
        n: i64 = PowerOfTwo,
        /// Whether the product of the rotations is needed.
        vectors: bool = Exact,
    }
    parameters {
        /// Whether a block handles a whole matrix, rather than a pair of columns for one round.
        one_block: bool = [false, true],
        /// Whether eigenvectors make the columns nearly orthogonal first.
        preconditioned: bool = [false, true],
        /// Threads per pair of columns; at most a warp if a block handles a whole matrix.
        group: i64 = [8, 16, 32, 64, 128, 256],
        /// Maximum threads per block that handles a whole matrix.
        threads: i64 = [64, 128, 256, 512],
    }
    device {}
    require {
        one_block || group >= 32;
    }
    rule rotation_rule;
}

fn rotation_rule(problem: &RotationProblem, _: &DeviceInfo) -> RotationChoice {
    let RotationProblem { batches, m, n, .. } = *problem;
    let is_small = n <= MAX_SINGLE_BLOCK_COLUMNS;
    let group = match m {
        0..=16 if n <= 16 => 8,
        0..=MAX_WARP_COLUMN_ROWS => WARP_THREADS as i64,
        _ => LONG_COLUMN_THREADS,
    };
    RotationChoice {
        one_block: is_small || (batches >= MIN_SINGLE_BLOCK_BATCH && n <= MAX_BATCHED_SINGLE_BLOCK_COLUMNS),
        preconditioned: !is_small,
        group,
        threads: 256,
    }
}

impl RotationChoice {
    /// For the columns of matrices, or the rows of wide ones.
    pub(super) fn of_matrices(a: &GpuArray, dtype: DType, vectors: bool) -> Result<Self> {
        let [rows, columns] = rows_and_columns(a)?;
        let batches = stack_axes(a).iter().product();
        let [itemsize, batches, m, n] =
            [dtype.itemsize(), batches, rows.max(columns), rows.min(columns)].map(|number: usize| number as i64);
        Ok(a.context().choose(&RotationProblem { itemsize, batches, m, n, vectors }))
    }

    /// The length to which columns are filled up with zeros: all threads of a group have as many elements.
    pub(super) fn padded_length(self, length: usize) -> usize {
        length.next_multiple_of(self.group as usize)
    }
}

/// The length to which rows of products of rotations are filled up with zeros.
fn padded_vector_length(length: usize) -> usize {
    length.next_multiple_of(match length {
        0..=16 => 8,
        17..=512 => WARP_THREADS,
        _ => LONG_COLUMN_THREADS as usize,
    })
}

/// Stacks of columns as rows of `padded` length, and the product of the rotations so far if it is wanted.
struct JacobiColumns<'a> {
    w: &'a GpuArray,
    v_rows: Option<GpuArray>,
    /// Cosines up to this one are those of right angles.
    tolerance: f64,
    one_block: bool,
    /// Threads of a pair, and pairs of a block.
    group: usize,
    pairs: usize,
}

/// What [`one_sided_jacobi`] has found.
pub(super) struct JacobiSvd {
    /// The singular values, in no order.
    pub norms: GpuArray,
    /// The right singular vectors as rows of `padded` length.
    pub v_rows: Option<GpuArray>,
}

/// Makes columns of scaled matrices, the rows of `w` of [`RotationChoice::padded_length`], orthonormal by rotations from the right.
/// Negligible columns become zeros.
///
/// One-sided Jacobi rotations in parallel order: Hestenes, Inversion of matrices by biorthogonalization, J. SIAM 6,
/// 1958; de Rijk, A one-sided Jacobi algorithm for computing the singular value decomposition on a vector computer, SIAM
/// J. Sci. Stat. Comput. 10, 1989; many columns are prepared as Drmac and Veselic advise, New fast and accurate Jacobi
/// SVD algorithm, SIAM J. Matrix Anal. Appl. 29, 2008, but by eigenvectors rather than by a QR factorization.
pub(super) fn one_sided_jacobi(
    w: &GpuArray,
    report: &KernelStatusFlags,
    limits: IterationLimits,
    choice: RotationChoice,
    has_v_rows: bool,
) -> Result<JacobiSvd> {
    let [count, n, m] = [0, 1, 2].map(|axis| w.shape()[axis]);
    let norms = empty_like(w, &[count, n], w.dtype().real_part())?;
    let v_rows = match has_v_rows {
        _ if choice.preconditioned && w.size() > 0 => precondition_columns(w, limits, has_v_rows)?,
        true => Some(identity_matrices(w.context(), &[count, n, padded_vector_length(n)], w.dtype())?),
        false => None,
    };
    if w.size() == 0 {
        return Ok(JacobiSvd { norms, v_rows });
    }
    let [group, threads] = [choice.group, choice.threads].map(|number| number as usize);
    let pairs = n.div_ceil(2).min(threads / group.min(WARP_THREADS));
    let pairs = (pairs * group).next_multiple_of(WARP_THREADS) / group;
    let tolerance = machine_epsilon(w.dtype()) * (4.0 + (m as f64).sqrt());
    let columns = JacobiColumns { w, v_rows, tolerance, one_block: choice.one_block, group, pairs };
    columns.sweep_until_orthogonal(report, limits.sweeps)?;
    columns.normalize_columns(&norms, report)?;
    Ok(JacobiSvd { norms, v_rows: columns.v_rows })
}

/// Makes columns nearly orthogonal, the longest first, in place; the rotations that did it, if they are wanted.
///
/// By the eigenvectors of A^H A, which lose half of the digits and leave few rotations.
fn precondition_columns(w: &GpuArray, limits: IterationLimits, has_v_rows: bool) -> Result<Option<GpuArray>> {
    let (count, n) = (w.shape()[0], w.shape()[1]);
    let wide = w.to_dtype(w.dtype().promote(DType::F64))?;
    let product = conjugate(&wide)?.matmul(&matrix_transpose(&wide)?)?;
    let Some(vectors) = decompose_hermitian(&product, Triangle::Lower, limits, true)?.vectors else { return Ok(None) };
    let turn = matrix_transpose(&vectors.flip(Some(&[-1]))?)?.to_dtype(w.dtype())?;
    let v_rows = match has_v_rows {
        true => Some(zeros_like(w, &[count, n, padded_vector_length(n)], w.dtype())?),
        false => None,
    };
    if let Some(v_rows) = &v_rows {
        submatrix(v_rows, 0..n, 0..n)?.assign(&turn)?;
    }
    w.assign(&turn.matmul(w)?)?;
    Ok(v_rows)
}

impl JacobiColumns<'_> {
    fn jacobi_step_kernel(&self, step: LinalgStep, group: usize) -> Result<LinalgKernel> {
        let kernel = LinalgSpec { group: group as u16, ..LinalgSpec::new(self.w.dtype(), step) };
        LinalgKernel::compile_kernel(self.w.context(), kernel)
    }

    /// Rotates columns until all are orthogonal.
    fn sweep_until_orthogonal(&self, report: &KernelStatusFlags, sweeps: usize) -> Result<()> {
        let [count, n, m] = [0, 1, 2].map(|axis| self.w.shape()[axis]);
        let length = self.v_rows.as_ref().map_or(0, |v_rows| v_rows.shape()[2]);
        let tolerance = KernelArg::Real(self.w.dtype().real_part(), self.tolerance);
        let arguments = [self.w.into(), m.into(), n.into(), self.v_rows.as_ref().into(), length.into(), tolerance];
        if self.one_block {
            let group = self.group.min(WARP_THREADS);
            let all = [&arguments[..], &[sweeps.into(), (&report.0).into()]].concat();
            return self.jacobi_step_kernel(LinalgStep::OneSidedJacobi, group)?.launch_2d(
                [count, 1],
                [group, self.pairs],
                &all,
            );
        }
        let step = self.jacobi_step_kernel(LinalgStep::OneSidedJacobiRound, self.group)?;
        let (even, turned) = (n.next_multiple_of(2), zeros_like(self.w, &[1], DType::I32)?);
        for _ in 0..sweeps {
            if self.is_orthogonal()? {
                return Ok(());
            }
            turned.memset_zero()?;
            for round in 0..even - 1 {
                let all = [&arguments[..], &[round.into(), (&turned).into()]].concat();
                step.launch_2d([count, even / 2], [self.group, 1], &all)?;
            }
            if read_first_i32(&turned)? == 0 {
                return Ok(());
            }
        }
        report.0.binary_in_place(Op::BitOr, i64::from(LINALG_NOT_CONVERGED))
    }

    /// Whether no two columns need a rotation, by a product of matrices: that costs less than to try all.
    fn is_orthogonal(&self) -> Result<bool> {
        let real = self.w.dtype().real_part();
        let squares = self.w.unary(Op::Absolute)?.unary(Op::Square)?;
        let norms = reduce_axis(&squares, ReductionOp::Sum, -1, true)?.unary(Op::Sqrt)?;
        let divisors = where_select(&norms.binary(Op::Greater, 0)?, &norms, scalar_arg(real, 1.0))?;
        let unit = self.w.binary(Op::TrueDivide, &divisors)?;
        let cosines = conjugate(&unit)?.matmul(&matrix_transpose(&unit)?)?.unary(Op::Absolute)?;
        cosines.diagonal(0, -2, -1)?.memset_zero()?;
        Ok(!any_true(&cosines.binary(Op::Greater, scalar_arg(real, self.tolerance))?)?)
    }

    fn normalize_columns(&self, norms: &GpuArray, report: &KernelStatusFlags) -> Result<()> {
        let [count, n, m] = [0, 1, 2].map(|axis| self.w.shape()[axis]);
        let rows = if self.group > WARP_THREADS { 1 } else { self.pairs };
        let arguments = [self.w.into(), m.into(), n.into(), norms.into(), (&report.0).into()];
        let step = self.jacobi_step_kernel(LinalgStep::NormalizeColumns, self.group)?;
        step.launch_2d([count, n.div_ceil(rows).min(65535)], [self.group, rows], &arguments)
    }
}
