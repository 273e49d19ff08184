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
    let triangles = triangles(vectors, length, factors, factor_stack)?;
    let blocks = triangles.shape()[1];
    for turn in 0..blocks {
        let block = if how == Applied::Adjoint { turn } else { blocks - 1 - turn };
        let start = block * LINALG_BLOCK;
        let end = (start + LINALG_BLOCK).min(length);
        // Columns of the identity are alone with their ones until their own reflections come.
        let first = if how == Applied::ToIdentity { start.min(n) } else { 0 };
        let (own, changed) = (part(vectors, start..m, start..end)?, part(columns, start..m, first..n)?);
        let triangle = triangles.index(&[Index::Ellipsis, Index::At(block as isize), (..).into(), (..).into()])?;
        if changed.size() > 0 {
            apply_block(&own, &triangle, &changed, how == Applied::Adjoint)?;
        }
    }
    Ok(())
}

/// T of each block of the first reflections.
fn triangles(vectors: &GpuArray, length: usize, factors: &GpuArray, factor_stack: isize) -> Result<GpuArray> {
    let ([count, m], blocks) = ([0, 1].map(|axis| vectors.shape()[axis]), length.div_ceil(LINALG_BLOCK));
    let triangles = empty(vectors, &[count, blocks, LINALG_BLOCK, LINALG_BLOCK], vectors.dtype())?;
    let [stack, row, _] = steps(vectors);
    let values = [
        vectors.into(),
        stack.into(),
        row.into(),
        m.into(),
        length.into(),
        factors.into(),
        factor_stack.into(),
        (&triangles).into(),
        steps(&triangles)[0].into(),
    ];
    let step = Step::new(vectors.context(), vectors.dtype(), LinalgStep::BlockFactors)?;
    step.launch([count, blocks], BLOCK, &values)?;
    Ok(triangles)
}

/// Multiplies columns with I - V T V^H or its adjoint.
fn apply_block(vectors: &GpuArray, triangle: &GpuArray, columns: &GpuArray, is_adjoint: bool) -> Result<()> {
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    let tiles = n.div_ceil(LINALG_TILE);
    let wanted = (2 * columns.context().facts().processors as usize).div_ceil(count * tiles);
    let depth = m.div_ceil(wanted.min(m.div_ceil(DEPTH))).next_multiple_of(16);
    let sum_parts = m.div_ceil(depth);
    let sums = empty(columns, &[count, sum_parts, LINALG_BLOCK, n], columns.dtype())?;
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
        triangle.into(),
        steps(triangle)[0].into(),
        is_adjoint.into(),
        (&products).into(),
    ];
    let step = Step::new(columns.context(), columns.dtype(), LinalgStep::CombineProducts)?;
    step.launch(parts(count, n, 32), BLOCK, &values)?;
    let products = part(&products, 0..vectors.shape()[2], 0..n)?;
    Product { is_left_unit: true, ..Product::default() }.subtract(columns, vectors, &products)
}
