//! Householder reflectors applied many at a time, as I - V T V^H, by matrix products (Bischof and Van Loan, The WY
//! representation for products of Householder matrices, 1987; Schreiber and Van Loan 1989).

use super::gemm_update::GemmUpdate;
use super::householder::ApplyQ;
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{element_strides, empty_like, submatrix};
use crate::array::GpuArray;
use crate::error::Result;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_TILE_SIDE, LINALG_WY_BLOCK_COLUMNS, LinalgStep};

/// Rows of a part of sums, at least.
const MIN_ROWS_PER_PARTIAL_SUM: usize = 64;

/// Does what `apply_q` does.
pub(super) fn apply_compact_wy(
    vectors: &GpuArray,
    taus: &GpuArray,
    tau_stride: isize,
    columns: &GpuArray,
    how: ApplyQ,
) -> Result<()> {
    let [m, n] = [1, 2].map(|axis| columns.shape()[axis]);
    let length = m.min(vectors.shape()[2]);
    let blocks = length.div_ceil(LINALG_WY_BLOCK_COLUMNS);
    for turn in 0..blocks {
        let block = if how == ApplyQ::Adjoint { turn } else { blocks - 1 - turn };
        let start = block * LINALG_WY_BLOCK_COLUMNS;
        let end = (start + LINALG_WY_BLOCK_COLUMNS).min(length);
        // Columns of the identity are alone with their ones until their own reflections come.
        let first = if how == ApplyQ::Identity { start.min(n) } else { 0 };
        let (own, changed) = (submatrix(vectors, start..m, start..end)?, submatrix(columns, start..m, first..n)?);
        let own_factors = taus.index(&[Index::Ellipsis, (start as isize..end as isize).into()])?;
        if changed.size() > 0 {
            apply_wy_block(&own, &own_factors, tau_stride, &changed, how == ApplyQ::Adjoint)?;
        }
    }
    Ok(())
}

/// Multiplies columns with I - V T V^H or its adjoint.
fn apply_wy_block(
    vectors: &GpuArray,
    taus: &GpuArray,
    tau_stride: isize,
    columns: &GpuArray,
    is_adjoint: bool,
) -> Result<()> {
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    // The last tile has products of the vectors themselves.
    let tiles = n.div_ceil(LINALG_TILE_SIDE) + 1;
    let wanted = (2 * columns.context().device_info().multiprocessors as usize).div_ceil(count * tiles);
    let depth = m.div_ceil(wanted.min(m.div_ceil(MIN_ROWS_PER_PARTIAL_SUM))).next_multiple_of(16);
    let sum_parts = m.div_ceil(depth);
    let sums = empty_like(
        columns,
        &[count, sum_parts, LINALG_WY_BLOCK_COLUMNS, n + LINALG_WY_BLOCK_COLUMNS],
        columns.dtype(),
    )?;
    let triangles = empty_like(columns, &[count, LINALG_WY_BLOCK_COLUMNS, LINALG_WY_BLOCK_COLUMNS], columns.dtype())?;
    let products = empty_like(columns, &[count, LINALG_WY_BLOCK_COLUMNS, n], columns.dtype())?;
    let [[stack, row, _], [column_stack, column_row, _]] = [element_strides(vectors), element_strides(columns)];
    let values = [
        vectors.into(),
        stack.into(),
        row.into(),
        m.into(),
        vectors.shape()[2].into(),
        columns.into(),
        column_stack.into(),
        column_row.into(),
        n.into(),
        (&sums).into(),
        sum_parts.into(),
        depth.into(),
    ];
    let step = LinalgKernel::new(columns.context(), columns.dtype(), LinalgStep::WyProducts)?;
    step.launch_2d(batched_grid_dim(count, tiles * sum_parts, 1), DEFAULT_BLOCK_DIM, &values)?;
    let values = [
        (&sums).into(),
        sum_parts.into(),
        n.into(),
        vectors.shape()[2].into(),
        taus.into(),
        tau_stride.into(),
        (&triangles).into(),
    ];
    let step = LinalgKernel::new(columns.context(), columns.dtype(), LinalgStep::WyFactors)?;
    step.launch_2d([count, 1], DEFAULT_BLOCK_DIM, &values)?;
    let values =
        [(&sums).into(), sum_parts.into(), n.into(), (&triangles).into(), is_adjoint.into(), (&products).into()];
    let step = LinalgKernel::new(columns.context(), columns.dtype(), LinalgStep::WyCombine)?;
    step.launch_2d(batched_grid_dim(count, n, 32), DEFAULT_BLOCK_DIM, &values)?;
    let products = submatrix(&products, 0..vectors.shape()[2], 0..n)?;
    GemmUpdate { is_left_unit: true, ..GemmUpdate::default() }.subtract_product(columns, vectors, &products)
}
