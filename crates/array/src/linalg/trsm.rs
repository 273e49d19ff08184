//! Triangular solves by blocks, with matrix products between the blocks.

use super::gemm_update::GemmUpdate;
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim, is_simd_cpu};
use super::matrix_helpers::{element_strides, submatrix};
use crate::array::GpuArray;
use crate::error::Result;
use rtcg_codegen::array::{LINALG_PANEL_COLUMNS, LINALG_RHS_PER_BLOCK, LINALG_RHS_PER_WARP_BLOCK, LinalgStep};

/// Rows of a block, and columns of a panel.
pub(super) const PANEL_ROWS: usize = LINALG_PANEL_COLUMNS;

/// Which part of matrices is a triangle, and how it is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrsmOptions {
    pub is_upper: bool,
    /// Ones stand for the diagonal.
    pub is_unit: bool,
    pub is_conjugated: bool,
}

/// Solves triangular systems in place of their right sides; operands are stacks of any strides.
pub(super) fn solve_triangular(triangles: &GpuArray, sides: &GpuArray, form: TrsmOptions) -> Result<()> {
    let [count, n, columns] = [0, 1, 2].map(|axis| sides.shape()[axis]);
    if sides.size() == 0 {
        return Ok(());
    }
    let (step, width) = if is_simd_cpu(sides) {
        (LinalgStep::Trsm, LINALG_RHS_PER_BLOCK)
    } else {
        (LinalgStep::TrsmWarps, LINALG_RHS_PER_WARP_BLOCK)
    };
    let step = LinalgKernel::new(sides.context(), sides.dtype(), step)?;
    let mut starts: Vec<usize> = (0..n).step_by(PANEL_ROWS).collect();
    if form.is_upper {
        starts.reverse();
    }
    for start in starts {
        let end = (start + PANEL_ROWS).min(n);
        let (x, own) = (submatrix(sides, start..end, 0..columns)?, submatrix(triangles, start..end, start..end)?);
        let ([stack, row, column], [x_stack, x_row, x_column]) = (element_strides(&own), element_strides(&x));
        let values = [
            (&own).into(),
            stack.into(),
            row.into(),
            column.into(),
            form.is_upper.into(),
            form.is_unit.into(),
            form.is_conjugated.into(),
            (&x).into(),
            x_stack.into(),
            x_row.into(),
            x_column.into(),
            (end - start).into(),
            columns.into(),
        ];
        step.launch_2d(batched_grid_dim(count, columns, width), DEFAULT_BLOCK_DIM, &values)?;
        let rest = if form.is_upper { 0..start } else { end..n };
        if !rest.is_empty() {
            let factor = submatrix(triangles, rest.clone(), start..end)?;
            let product = GemmUpdate { is_left_conjugated: form.is_conjugated, ..GemmUpdate::default() };
            product.subtract_product(&submatrix(sides, rest, 0..columns)?, &factor, &x)?;
        }
    }
    Ok(())
}
