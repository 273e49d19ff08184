//! Reflections applied many at a time, as I - V T V^H, by matrix products (Bischof and Van Loan, The WY representation for
//! products of Householder matrices, 1987; Schreiber and Van Loan 1989).

use super::launch::{BLOCK, Step, parts};
use super::matrices::{empty, part, steps};
use super::products::Product;
use super::reflections::Applied;
use crate::array::GpuArray;
use crate::error::Result;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_BLOCK, LINALG_TILE, LinalgStep};

/// Rows of a part of sums, at least.
const DEPTH: usize = 64;

/// Does what `apply_reflections` does.
pub(super) fn apply(
    vectors: &GpuArray,
    factors: &GpuArray,
    factor_stack: isize,
    columns: &GpuArray,
    how: Applied,
) -> Result<()> {
    let [m, n] = [1, 2].map(|axis| columns.shape()[axis]);
    let length = m.min(vectors.shape()[2]);
    let blocks = length.div_ceil(LINALG_BLOCK);
    for turn in 0..blocks {
        let block = if how == Applied::Adjoint { turn } else { blocks - 1 - turn };
        let start = block * LINALG_BLOCK;
        let end = (start + LINALG_BLOCK).min(length);
        // Columns of the identity are alone with their ones until their own reflections come.
        let first = if how == Applied::ToIdentity { start.min(n) } else { 0 };
        let (own, changed) = (part(vectors, start..m, start..end)?, part(columns, start..m, first..n)?);
        let own_factors = factors.index(&[Index::Ellipsis, (start as isize..end as isize).into()])?;
        if changed.size() > 0 {
            apply_block(&own, &own_factors, factor_stack, &changed, how == Applied::Adjoint)?;
        }
    }
    Ok(())
}

/// Multiplies columns with I - V T V^H or its adjoint.
fn apply_block(
    vectors: &GpuArray,
    factors: &GpuArray,
    factor_stack: isize,
    columns: &GpuArray,
    is_adjoint: bool,
) -> Result<()> {
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    // The last tile has products of the vectors themselves.
    let tiles = n.div_ceil(LINALG_TILE) + 1;
    let wanted = (2 * columns.context().facts().processors as usize).div_ceil(count * tiles);
    let depth = m.div_ceil(wanted.min(m.div_ceil(DEPTH))).next_multiple_of(16);
    let sum_parts = m.div_ceil(depth);
    let sums = empty(columns, &[count, sum_parts, LINALG_BLOCK, n + LINALG_BLOCK], columns.dtype())?;
    let triangles = empty(columns, &[count, LINALG_BLOCK, LINALG_BLOCK], columns.dtype())?;
    let products = empty(columns, &[count, LINALG_BLOCK, n], columns.dtype())?;
    let [[stack, row, _], [column_stack, column_row, _]] = [steps(vectors), steps(columns)];
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
    let step = Step::new(columns.context(), columns.dtype(), LinalgStep::CrossProducts)?;
    step.launch(parts(count, tiles * sum_parts, 1), BLOCK, &values)?;
    let values = [
        (&sums).into(),
        sum_parts.into(),
        n.into(),
        vectors.shape()[2].into(),
        factors.into(),
        factor_stack.into(),
        (&triangles).into(),
    ];
    let step = Step::new(columns.context(), columns.dtype(), LinalgStep::BlockFactors)?;
    step.launch([count, 1], BLOCK, &values)?;
    let values =
        [(&sums).into(), sum_parts.into(), n.into(), (&triangles).into(), is_adjoint.into(), (&products).into()];
    let step = Step::new(columns.context(), columns.dtype(), LinalgStep::CombineProducts)?;
    step.launch(parts(count, n, 32), BLOCK, &values)?;
    let products = part(&products, 0..vectors.shape()[2], 0..n)?;
    Product { is_left_unit: true, ..Product::default() }.subtract(columns, vectors, &products)
}
