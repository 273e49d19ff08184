//! Scales stacks of matrices before eigenvalues or singular values are computed, and sorts the results.

use super::factorizations::Triangle;
use super::launch::{LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{empty_like, read_first_i32, zeros_like};
use crate::array::GpuArray;
use rtcg_codegen::array::{LINALG_THREADS, LinalgStep};
use rtcg_hal::{DType, Result};

/// Blocks of warps, and the rows that a warp looks at.
const BLOCK_DIM: [usize; 2] = [32, 8];
const ROWS_PER_WARP: usize = 4;
/// Threads of a block that finds places of values.
const SORT_THREADS: usize = 64;

/// What kernels report about a stack, as bits.
#[derive(Debug, Clone)]
pub(super) struct KernelStatusFlags(pub GpuArray);

impl KernelStatusFlags {
    /// What was reported so far; waits.
    pub(super) fn read_status_flags(&self) -> Result<i32> {
        read_first_i32(&self.0)
    }
}

/// What matrices were scaled by.
pub(super) struct MatrixScaling {
    /// Exponents of powers of two, one of each matrix.
    exponents: GpuArray,
    pub report: KernelStatusFlags,
}

impl MatrixScaling {
    /// Scales matrices in place by powers of two that bring their largest parts to [0.5, 1), so that squares neither
    /// overflow nor vanish. Of Hermitian matrices one triangle is read and the other one is written.
    pub(super) fn new(a: &GpuArray, triangle: Option<Triangle>) -> Result<Self> {
        let [count, m, n] = [0, 1, 2].map(|axis| a.shape()[axis]);
        let scaling = Self::identity_scaling(a)?;
        if a.size() > 0 {
            let triangle: usize = match triangle {
                None => 0,
                Some(Triangle::Lower) => 1,
                Some(Triangle::Upper) => 2,
            };
            let sizes = zeros_like(a, &[count], DType::U64)?;
            let [measure, scale] = [LinalgStep::MaxNorms, LinalgStep::ScaleMatrices]
                .map(|step| LinalgKernel::new(a.context(), a.dtype(), step));
            let (grid, all) = (batched_grid_dim(count, m, BLOCK_DIM[1] * ROWS_PER_WARP), (&sizes).into());
            measure?.launch_2d(grid, BLOCK_DIM, &[a.into(), m.into(), n.into(), triangle.into(), all])?;
            let Self { exponents, report } = &scaling;
            let values = [a.into(), m.into(), n.into(), triangle.into(), all, exponents.into(), (&report.0).into()];
            scale?.launch_2d(grid, BLOCK_DIM, &values)?;
        }
        Ok(scaling)
    }

    /// That of matrices, the first axis of `like`, which are as they were.
    pub(super) fn identity_scaling(like: &GpuArray) -> Result<Self> {
        let exponents = zeros_like(like, &like.shape()[..1], DType::I32)?;
        Ok(Self { exponents, report: KernelStatusFlags(zeros_like(like, &[1], DType::I32)?) })
    }

    /// Values of the matrices, of elements of `dtype`, in order and scaled back; the place that each goes to.
    pub(super) fn sort_and_unscale_values(
        &self,
        values: &GpuArray,
        dtype: DType,
        is_descending: bool,
    ) -> Result<(GpuArray, GpuArray)> {
        let (count, n) = (values.shape()[0], values.shape()[1]);
        let (sort_values, places) =
            (empty_like(values, values.shape(), values.dtype())?, empty_like(values, values.shape(), DType::I32)?);
        if values.size() > 0 {
            let step = LinalgKernel::new(values.context(), dtype, LinalgStep::SortValues)?;
            let values = [
                values.into(),
                n.into(),
                is_descending.into(),
                (&self.exponents).into(),
                (&sort_values).into(),
                (&places).into(),
            ];
            step.launch_2d(batched_grid_dim(count, n, SORT_THREADS), [SORT_THREADS, 1], &values)?;
        }
        Ok((sort_values, places))
    }

    /// Scales the parts of eigenvalues of matrices of `dtype` back, in place.
    pub(super) fn unscale_eigenvalues(&self, reals: &GpuArray, imags: &GpuArray, dtype: DType) -> Result<()> {
        let (count, n) = (reals.shape()[0], reals.shape()[1]);
        if reals.size() == 0 {
            return Ok(());
        }
        let step = LinalgKernel::new(reals.context(), dtype, LinalgStep::UnscaleEigenvalues)?;
        step.launch_2d([count, 1], [64, 1], &[reals.into(), imags.into(), n.into(), (&self.exponents).into()])
    }
}

/// The first `m` elements of the rows of stacks as columns at the places of their values.
pub(super) fn permute_rows_into_columns(rows: &GpuArray, places: &GpuArray, m: usize) -> Result<GpuArray> {
    let [count, n, length] = [0, 1, 2].map(|axis| rows.shape()[axis]);
    let vectors = empty_like(rows, &[count, m, n], rows.dtype())?;
    if vectors.size() > 0 {
        let step = LinalgKernel::new(rows.context(), rows.dtype(), LinalgStep::PermuteVectors)?;
        let threads = if m > 64 { LINALG_THREADS as usize } else { 64 };
        let values = [rows.into(), n.into(), m.into(), length.into(), places.into(), (&vectors).into()];
        step.launch_2d([count, n.min(65535)], [threads, 1], &values)?;
    }
    Ok(vectors)
}
