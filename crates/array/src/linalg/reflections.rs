//! Householder reflections: of matrices, by panels of columns, and applied to others.

use super::block_reflections as blocks;
use super::factorizations::{Triangle, triangle_of};
use super::launch::{Step, Strips, are_lanes, parts};
use super::matrices::{identities, part, steps, zeros};
use crate::array::GpuArray;
use crate::error::Result;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_BLOCK, LINALG_THREADS, Linalg, LinalgStep};

/// Columns of a panel, which a block of threads reflects, and of what a block applies reflections to.
const COLUMNS: usize = 32;

/// The kernel that does a step for columns of `m` rows, and the threads of its block: several have the rows of a column,
/// unless they are lanes of a processor's vectors.
fn step_of(a: &GpuArray, step: LinalgStep, m: usize) -> Result<(Step, [usize; 2])> {
    let most = if are_lanes(a) { 1 } else { LINALG_THREADS as usize / COLUMNS };
    let group = m.div_ceil(16).next_power_of_two().min(most);
    let step = Step::of(a.context(), Linalg { group: group as u16, ..Linalg::new(a.dtype(), step) })?;
    Ok((step, [COLUMNS * group, 1]))
}

/// Matrices with R in their upper triangles and the vectors of reflections below.
#[derive(Debug, Clone)]
pub(super) struct Reflected {
    pub matrices: GpuArray,
    /// The factors of the reflections.
    pub factors: GpuArray,
}

impl Reflected {
    /// Reflects stacks of matrices in C order in their own place.
    pub(super) fn new(a: GpuArray) -> Result<Self> {
        let [count, m, n] = [0, 1, 2].map(|axis| a.shape()[axis]);
        let factors = zeros(&a, &[count, m.min(n)], a.dtype())?;
        let reflected = Self { matrices: a, factors };
        if reflected.matrices.size() > 0 {
            (0..m.min(n)).step_by(COLUMNS).try_for_each(|start| reflected.reflect_panel(start))?;
        }
        Ok(reflected)
    }

    /// Reflects the panel that begins in a column, and what is on its right.
    fn reflect_panel(&self, start: usize) -> Result<()> {
        let a = &self.matrices;
        let [m, n] = [1, 2].map(|axis| a.shape()[axis]);
        let end = (start + COLUMNS).min(n);
        let (panel, factors) = (part(a, start..m, start..end)?, self.factors_from(start)?);
        let factor_stack = m.min(n) as isize;
        match Strips::new(a, m - start) {
            Some(strips) => reflect_strips(strips, &panel, &factors, factor_stack)?,
            None => reflect_whole(&panel, &factors, factor_stack)?,
        }
        if end == n {
            return Ok(());
        }
        apply_reflections(&panel, &factors, factor_stack, &part(a, start..m, end..n)?, Applied::Adjoint)
    }

    fn factors_from(&self, start: usize) -> Result<GpuArray> {
        let length = self.factors.shape()[1];
        self.factors.index(&[Index::Ellipsis, Index::from(start as isize..length as isize)])
    }

    /// The first columns of the unitary matrices.
    pub(super) fn unitary(&self, columns: usize) -> Result<GpuArray> {
        let a = &self.matrices;
        let (count, m, length) = (a.shape()[0], a.shape()[1], self.factors.shape()[1]);
        let q = identities(a.context(), &[count, m, columns], a.dtype())?;
        if q.size() > 0 && length > 0 {
            let vectors = part(a, 0..m, 0..length)?;
            apply_reflections(&vectors, &self.factors, length as isize, &q, Applied::ToIdentity)?;
        }
        Ok(q)
    }

    /// The first rows of the triangular matrices.
    pub(super) fn triangular(&self, rows: usize) -> Result<GpuArray> {
        triangle_of(&part(&self.matrices, 0..rows, 0..self.matrices.shape()[2])?, Triangle::Upper)
    }
}

/// Reflects panels by one kernel, which works on them where they are.
fn reflect_whole(panel: &GpuArray, factors: &GpuArray, factor_stack: isize) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), steps(panel));
    let (step, block) = step_of(panel, LinalgStep::Reflect, m)?;
    let values = [panel.into(), stack.into(), row.into(), m.into(), n.into(), factors.into(), factor_stack.into()];
    step.launch([count, 1], block, &values)
}

/// Reflects panels strip by strip.
fn reflect_strips(strips: Strips, panel: &GpuArray, factors: &GpuArray, factor_stack: isize) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), steps(panel));
    let step = strips.step(panel, LinalgStep::ReflectStrip)?;
    for start in (0..m.min(n)).step_by(strips.width) {
        let end = (start + strips.width).min(n);
        let strip = part(panel, start..m, start..end)?;
        let own = factors.index(&[Index::Ellipsis, Index::from(start as isize..factors.shape()[1] as isize)])?;
        let values = [
            (&strip).into(),
            stack.into(),
            row.into(),
            (m - start).into(),
            (end - start).into(),
            (&own).into(),
            factor_stack.into(),
        ];
        step.launch([count, 1], [strips.threads, 1], &values)?;
        apply_reflections(&strip, &own, factor_stack, &part(panel, start..m, end..n)?, Applied::Adjoint)?;
    }
    Ok(())
}

/// What columns are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied {
    /// The product of the reflections.
    Product,
    /// The product, where the columns are those of the identity.
    ToIdentity,
    /// The adjoint of the product.
    Adjoint,
}

/// Multiplies columns with the product of the reflections whose vectors are the columns of `vectors` at and below the
/// diagonal, or with its adjoint. `factor_stack` is from the factors of one matrix to those of the next.
pub(super) fn apply_reflections(
    vectors: &GpuArray,
    factors: &GpuArray,
    factor_stack: isize,
    columns: &GpuArray,
    how: Applied,
) -> Result<()> {
    if columns.size() == 0 || vectors.size() == 0 {
        return Ok(());
    }
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    // Blocks of reflections take memory beside the matrices: many times as much as small ones.
    if m > LINALG_BLOCK && !are_lanes(columns) {
        return blocks::apply(vectors, factors, factor_stack, columns, how);
    }
    let [[stack, row, _], [column_stack, column_row, _]] = [steps(vectors), steps(columns)];
    let values = [
        vectors.into(),
        stack.into(),
        row.into(),
        m.into(),
        m.min(vectors.shape()[2]).into(),
        factors.into(),
        factor_stack.into(),
        columns.into(),
        column_stack.into(),
        column_row.into(),
        n.into(),
        (how == Applied::Adjoint).into(),
        (how == Applied::ToIdentity).into(),
    ];
    let (step, block) = step_of(columns, LinalgStep::ApplyReflections, m)?;
    step.launch(parts(count, n, COLUMNS), block, &values)
}
