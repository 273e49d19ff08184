//! LU factors with partial pivoting, by panels of columns.

use super::launch::{BLOCK, Step, Strips, are_lanes, parts};
use super::matrices::{part, steps, zeros};
use super::products::Product;
use super::triangles::{self, Form, PANEL};
use crate::array::GpuArray;
use crate::error::Result;
use rtcg_codegen::DType;
use rtcg_codegen::array::{LINALG_WARP_SIDES, LinalgStep};
use std::ops::Range;

/// Threads that exchange rows, a column each.
const EXCHANGERS: usize = 128;

/// Factors of stacks of square matrices.
pub(super) struct Lu {
    /// L below the diagonal, whose own diagonal is 1, and U. Rows of L are in the order that they had when their panel
    /// was factored.
    pub factors: GpuArray,
    /// The row that each row was exchanged with, counted from the first row of its panel.
    pub pivots: GpuArray,
}

impl Lu {
    /// Factors matrices in their own place.
    pub(super) fn new(a: GpuArray) -> Result<Self> {
        let (count, n) = (a.shape()[0], a.shape()[2]);
        let pivots = zeros(&a, &[count, n], DType::I32)?;
        let lu = Self { factors: a, pivots };
        if lu.factors.size() > 0 {
            (0..n).step_by(PANEL).try_for_each(|start| lu.factor_panel(start, (start + PANEL).min(n)))?;
        }
        Ok(lu)
    }

    /// Factors the panel of columns from `start` to `end`, and updates what is on its right.
    fn factor_panel(&self, start: usize, end: usize) -> Result<()> {
        let a = &self.factors;
        let n = a.shape()[2];
        let panel = part(a, start..n, start..end)?;
        let pivots = part(&self.pivots, 0..a.shape()[0], start..end)?;
        match Strips::new(a, n - start) {
            Some(strips) => factor_strips(strips, &panel, &pivots)?,
            None => factor_whole(&panel, &pivots)?,
        }
        if end == n {
            return Ok(());
        }
        let (own, right) = (part(a, start..end, start..end)?, part(a, start..n, end..n)?);
        Exchange { pivots: &pivots, before: 0, triangle: &own }.of(&right, 0..0)?;
        let (top, rest) = (part(a, start..end, end..n)?, part(a, end..n, end..n)?);
        Product::default().subtract(&rest, &part(a, end..n, start..end)?, &top)
    }

    /// Solves systems in place of their right sides, which are in C order.
    pub(super) fn solve(&self, sides: &GpuArray) -> Result<()> {
        let (a, n, columns) = (&self.factors, sides.shape()[1], sides.shape()[2]);
        if sides.size() == 0 {
            return Ok(());
        }
        // Rows of L are in the order that they had when their panel was done.
        for start in (0..n).step_by(PANEL) {
            let end = (start + PANEL).min(n);
            let (own, pivots) = (part(a, start..end, start..end)?, part(&self.pivots, 0..a.shape()[0], start..end)?);
            Exchange { pivots: &pivots, before: 0, triangle: &own }.of(&part(sides, start..n, 0..columns)?, 0..0)?;
            let (x, rest) = (part(sides, start..end, 0..columns)?, part(sides, end..n, 0..columns)?);
            Product::default().subtract(&rest, &part(a, end..n, start..end)?, &x)?;
        }
        triangles::solve(a, sides, Form { is_upper: true, ..Form::default() })
    }
}

/// Factors panels by one kernel, which works on them where they are.
fn factor_whole(panel: &GpuArray, pivots: &GpuArray) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), steps(panel));
    let values =
        [panel.into(), stack.into(), row.into(), m.into(), n.into(), pivots.into(), pivot_stack(pivots).into()];
    Step::new(panel.context(), panel.dtype(), LinalgStep::FactorPanel)?.launch([count, 1], BLOCK, &values)
}

/// From the pivots of one matrix to those of the next.
fn pivot_stack(pivots: &GpuArray) -> isize {
    pivots.strides()[0] / pivots.itemsize() as isize
}

/// Factors panels strip by strip.
fn factor_strips(strips: Strips, panel: &GpuArray, pivots: &GpuArray) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), steps(panel));
    let step = strips.step(panel, LinalgStep::FactorStrip)?;
    for start in (0..n).step_by(strips.width) {
        let end = (start + strips.width).min(n);
        let (strip, own) = (part(panel, start..m, start..end)?, part(pivots, 0..count, start..end)?);
        let values = [
            (&strip).into(),
            stack.into(),
            row.into(),
            (m - start).into(),
            (end - start).into(),
            (&own).into(),
            pivot_stack(pivots).into(),
            start.into(),
        ];
        step.launch([count, 1], [strips.threads, 1], &values)?;
        let top = part(panel, start..end, start..end)?;
        Exchange { pivots: &own, before: start, triangle: &top }.of(&part(panel, start..m, 0..n)?, start..end)?;
        let (right, rest) = (part(panel, start..end, end..n)?, part(panel, end..m, end..n)?);
        Product::default().subtract(&rest, &part(panel, end..m, start..end)?, &right)?;
    }
    Ok(())
}

/// Exchanges of rows as the pivots of a panel or strip say.
struct Exchange<'a> {
    pivots: &'a GpuArray,
    /// Rows between the one from which pivots are counted and the first one that is exchanged.
    before: usize,
    /// Lower triangles with ones on the diagonal, whose systems have the exchanged rows as right sides.
    triangle: &'a GpuArray,
}

impl Exchange<'_> {
    /// Exchanges rows of all columns but those of `gap`, and solves the systems of the ones behind that.
    fn of(&self, rows: &GpuArray, gap: Range<usize>) -> Result<()> {
        let (count, columns, n) = (rows.shape()[0], rows.shape()[2] - gap.len(), self.pivots.shape()[1]);
        if rows.size() == 0 || columns == 0 {
            return Ok(());
        }
        if are_lanes(rows) {
            return self.of_columns(rows);
        }
        let ([stack, row, _], [triangle_stack, triangle_row, _]) = (steps(rows), steps(self.triangle));
        let values = [
            rows.into(),
            stack.into(),
            row.into(),
            columns.into(),
            gap.start.into(),
            gap.len().into(),
            n.into(),
            self.pivots.into(),
            pivot_stack(self.pivots).into(),
            self.before.into(),
            self.triangle.into(),
            triangle_stack.into(),
            triangle_row.into(),
        ];
        let step = Step::new(rows.context(), rows.dtype(), LinalgStep::ExchangeSolve)?;
        let blocks = [gap.start, columns - gap.start].map(|side| side.div_ceil(LINALG_WARP_SIDES)).iter().sum();
        step.launch(parts(count, blocks, 1), BLOCK, &values)
    }

    /// The same without a gap, by a thread for each column.
    fn of_columns(&self, rows: &GpuArray) -> Result<()> {
        let ([count, _, columns], [stack, row, _]) = ([0, 1, 2].map(|axis| rows.shape()[axis]), steps(rows));
        let n = self.pivots.shape()[1];
        let values = [
            rows.into(),
            stack.into(),
            row.into(),
            columns.into(),
            n.into(),
            self.pivots.into(),
            pivot_stack(self.pivots).into(),
        ];
        let step = Step::new(rows.context(), rows.dtype(), LinalgStep::ExchangeRows)?;
        step.launch(parts(count, columns, EXCHANGERS), [EXCHANGERS, 1], &values)?;
        let form = Form { is_unit: true, ..Form::default() };
        triangles::solve(self.triangle, &part(rows, 0..n, 0..columns)?, form)
    }
}
