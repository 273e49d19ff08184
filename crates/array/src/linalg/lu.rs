//! LU factors with partial pivoting, by panels of columns.

use super::gemm_update::GemmUpdate;
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{element_strides, submatrix, zeros_like};
use super::panels::{PanelKernel, RegisterPanels, panel_width};
use super::trsm::{self, TriangularChoice, TrsmOptions};
use crate::array::GpuArray;
use rtcg_codegen::array::{LinalgSpec, LinalgStep, Op};
use rtcg_hal::{DType, Result};
use std::ops::Range;

/// Factors of stacks of square matrices.
pub(super) struct LuFactors {
    /// L below the diagonal, whose own diagonal is 1, and U. Rows of L are in the order that they had when their panel
    /// was factored.
    pub factors: GpuArray,
    /// The row that each row was exchanged with, counted from the first row of its panel.
    pub pivots: GpuArray,
    /// Columns of a panel.
    pub panel: usize,
}

impl LuFactors {
    /// Factors matrices in their own place.
    pub(super) fn new(a: GpuArray) -> Result<Self> {
        let (count, n) = (a.shape()[0], a.shape()[2]);
        let pivots = zeros_like(&a, &[count, n], DType::I32)?;
        let panel = panel_width(&a, "lu", n);
        let lu = Self { factors: a, pivots, panel };
        if lu.factors.size() > 0 {
            (0..n).step_by(panel).try_for_each(|start| lu.factor_panel(start, (start + panel).min(n)))?;
        }
        Ok(lu)
    }

    /// Factors the panel of columns from `start` to `end`, and updates what is on its right.
    fn factor_panel(&self, start: usize, end: usize) -> Result<()> {
        let a = &self.factors;
        let n = a.shape()[2];
        let panel = submatrix(a, start..n, start..end)?;
        let pivots = submatrix(&self.pivots, 0..a.shape()[0], start..end)?;
        let kernel = PanelKernel::of_rows(a, "lu", n - start);
        match kernel.register_panels(n - start) {
            Some(register_panels) => self.factor_register_panels(register_panels, &panel, &pivots)?,
            None => factor_panel_by_one_kernel(kernel.threads as usize, &panel, &pivots)?,
        }
        if end == n {
            return Ok(());
        }
        let (own, right) = (submatrix(a, start..end, start..end)?, submatrix(a, start..n, end..n)?);
        self.row_swaps(&pivots, 0, &own).swap_rows_and_solve(&right, 0..0)?;
        let (top, rest) = (submatrix(a, start..end, end..n)?, submatrix(a, end..n, end..n)?);
        GemmUpdate::default().subtract_product(&rest, &submatrix(a, end..n, start..end)?, &top)
    }

    /// The factors and pivots in LAPACK's form: rows of L are in the order of the whole matrix, and pivots are counted from
    /// its first row.
    pub(super) fn in_lapack_form(self) -> Result<(GpuArray, GpuArray)> {
        let (a, count, n) = (&self.factors, self.factors.shape()[0], self.factors.shape()[2]);
        for start in (self.panel..n).step_by(self.panel) {
            let end = (start + self.panel).min(n);
            swap_rows(&submatrix(a, start..n, 0..start)?, &submatrix(&self.pivots, 0..count, start..end)?, false)?;
            let pivots = submatrix(&self.pivots, 0..count, start..end)?;
            pivots.binary_in_place(Op::Add, start as i64)?;
        }
        Ok((self.factors, self.pivots))
    }

    /// Solves systems in place of their right sides, which are in C order.
    pub(super) fn solve_in_place(&self, sides: &GpuArray) -> Result<()> {
        let (a, n, columns) = (&self.factors, sides.shape()[1], sides.shape()[2]);
        if sides.size() == 0 {
            return Ok(());
        }
        // Rows of L are in the order that they had when their panel was done.
        for start in (0..n).step_by(self.panel) {
            let end = (start + self.panel).min(n);
            let (own, pivots) =
                (submatrix(a, start..end, start..end)?, submatrix(&self.pivots, 0..a.shape()[0], start..end)?);
            self.row_swaps(&pivots, 0, &own).swap_rows_and_solve(&submatrix(sides, start..n, 0..columns)?, 0..0)?;
            let (x, rest) = (submatrix(sides, start..end, 0..columns)?, submatrix(sides, end..n, 0..columns)?);
            GemmUpdate::default().subtract_product(&rest, &submatrix(a, end..n, start..end)?, &x)?;
        }
        trsm::solve_triangular(a, sides, TrsmOptions { is_upper: true, ..TrsmOptions::default() })
    }

    /// Factors panels one register panel after the other.
    fn factor_register_panels(
        &self,
        register_panels: RegisterPanels,
        panel: &GpuArray,
        pivots: &GpuArray,
    ) -> Result<()> {
        let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), element_strides(panel));
        let step = register_panels.panel_step_kernel(panel, LinalgStep::LuRegisterPanel)?;
        for start in (0..n).step_by(register_panels.width) {
            let end = (start + register_panels.width).min(n);
            let (strip, own) = (submatrix(panel, start..m, start..end)?, submatrix(pivots, 0..count, start..end)?);
            let values = [
                (&strip).into(),
                stack.into(),
                row.into(),
                (m - start).into(),
                (end - start).into(),
                (&own).into(),
                pivot_stride(pivots).into(),
                start.into(),
            ];
            step.launch_2d([count * register_panels.blocks, 1], [register_panels.threads, 1], &values)?;
            let top = submatrix(panel, start..end, start..end)?;
            self.row_swaps(&own, start, &top).swap_rows_and_solve(&submatrix(panel, start..m, 0..n)?, start..end)?;
            let (right, rest) = (submatrix(panel, start..end, end..n)?, submatrix(panel, end..m, end..n)?);
            GemmUpdate::default().subtract_product(&rest, &submatrix(panel, end..m, start..end)?, &right)?;
        }
        Ok(())
    }

    fn row_swaps<'a>(&self, pivots: &'a GpuArray, before: usize, triangle: &'a GpuArray) -> RowSwaps<'a> {
        RowSwaps { pivots, before, triangle, panel: self.panel, is_undone: false }
    }
}

/// Factors panels by one kernel, which works on them where they are.
fn factor_panel_by_one_kernel(threads: usize, panel: &GpuArray, pivots: &GpuArray) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), element_strides(panel));
    let values =
        [panel.into(), stack.into(), row.into(), m.into(), n.into(), pivots.into(), pivot_stride(pivots).into()];
    let kernel = LinalgSpec { threads: threads as u16, ..LinalgSpec::new(panel.dtype(), LinalgStep::LuPanel) };
    LinalgKernel::compile_kernel(panel.context(), kernel)?.launch_2d([count, 1], [threads, 1], &values)
}

/// From the pivots of one matrix to those of the next.
fn pivot_stride(pivots: &GpuArray) -> isize {
    pivots.strides()[0] / pivots.itemsize() as isize
}

/// Row exchanges by the pivots of a panel or register panel.
struct RowSwaps<'a> {
    pivots: &'a GpuArray,
    /// Rows between the one from which pivots are counted and the first one that is exchanged.
    before: usize,
    /// Lower triangles with ones on the diagonal, whose systems have the exchanged rows as right sides.
    triangle: &'a GpuArray,
    /// Rows of those, at most.
    panel: usize,
    /// Whether the exchanges are undone.
    is_undone: bool,
}

impl RowSwaps<'_> {
    /// Exchanges rows of all columns but the `skipped` ones, and solves the systems of the ones behind that.
    fn swap_rows_and_solve(&self, rows: &GpuArray, skipped: Range<usize>) -> Result<()> {
        let (count, columns, n) = (rows.shape()[0], rows.shape()[2] - skipped.len(), self.pivots.shape()[1]);
        if rows.size() == 0 || columns == 0 {
            return Ok(());
        }
        let choice = TriangularChoice::of_sides(rows, columns, self.panel, true);
        if choice.kernel == "block" {
            return self.swap_rows_then_solve(rows, skipped, choice);
        }
        let ([stack, row, _], [triangle_stack, triangle_row, _]) =
            (element_strides(rows), element_strides(self.triangle));
        let values = [
            rows.into(),
            stack.into(),
            row.into(),
            columns.into(),
            skipped.start.into(),
            skipped.len().into(),
            n.into(),
            self.pivots.into(),
            pivot_stride(self.pivots).into(),
            self.before.into(),
            self.triangle.into(),
            triangle_stack.into(),
            triangle_row.into(),
        ];
        let step = choice.step_kernel(rows, LinalgStep::SwapRowsTrsm, self.panel)?;
        let width = choice.sides as usize;
        let blocks = [skipped.start, columns - skipped.start].map(|side| side.div_ceil(width)).iter().sum();
        step.launch_2d(batched_grid_dim(count, blocks, 1), [choice.threads as usize, 1], &values)
    }

    /// The same, one after the other.
    fn swap_rows_then_solve(&self, rows: &GpuArray, skipped: Range<usize>, choice: TriangularChoice) -> Result<()> {
        let (m, columns, n) = (rows.shape()[1], rows.shape()[2], self.pivots.shape()[1]);
        let (left, right) = (0..skipped.start, skipped.end..columns);
        for part in [left, right.clone()].into_iter().filter(|part| !part.is_empty()) {
            self.swap_rows(&submatrix(rows, 0..m, part)?, choice.threads as usize)?;
        }
        let form = TrsmOptions { is_unit: true, ..TrsmOptions::default() };
        trsm::solve_triangular(self.triangle, &submatrix(rows, 0..n, right)?, form)
    }

    /// Exchanges rows, by a thread for each column.
    fn swap_rows(&self, rows: &GpuArray, threads: usize) -> Result<()> {
        let ([count, _, columns], [stack, row, _]) = ([0, 1, 2].map(|axis| rows.shape()[axis]), element_strides(rows));
        let values = [
            rows.into(),
            stack.into(),
            row.into(),
            columns.into(),
            self.pivots.shape()[1].into(),
            self.pivots.into(),
            pivot_stride(self.pivots).into(),
            self.before.into(),
            self.is_undone.into(),
        ];
        let step = LinalgKernel::new(rows.context(), rows.dtype(), LinalgStep::SwapRows)?;
        step.launch_2d(batched_grid_dim(count, columns, threads), [threads, 1], &values)
    }
}

/// Exchanges rows as pivots say that are counted from the first of them, or undoes that.
pub(super) fn swap_rows(rows: &GpuArray, pivots: &GpuArray, is_undone: bool) -> Result<()> {
    if rows.size() == 0 || pivots.size() == 0 {
        return Ok(());
    }
    RowSwaps { pivots, before: 0, triangle: rows, panel: 0, is_undone }.swap_rows(rows, DEFAULT_BLOCK_DIM[0])
}
