//! LU factors with partial pivoting, by panels of columns.

use super::launch::{BLOCK, Step, parts};
use super::matrices::{part, steps, zeros};
use super::triangles::{self, Form, PANEL};
use crate::array::GpuArray;
use crate::error::Result;
use rtcg_codegen::DType;
use rtcg_codegen::array::{LinalgStep, Op};

/// Threads that exchange rows, a column each.
const EXCHANGERS: usize = 128;

/// Factors of stacks of square matrices.
pub(super) struct Lu {
    /// L below the diagonal, whose own diagonal is 1, and U.
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

    fn factor_panel(&self, start: usize, end: usize) -> Result<()> {
        let a = &self.factors;
        let (count, n) = (a.shape()[0], a.shape()[2]);
        let [stack, row, _] = steps(a);
        let panel = part(a, start..n, start..end)?;
        let own = part(&self.pivots, 0..count, start..end)?;
        let values = [
            (&panel).into(),
            stack.into(),
            row.into(),
            (n - start).into(),
            (end - start).into(),
            (&own).into(),
            (n as isize).into(),
        ];
        Step::new(a.context(), a.dtype(), LinalgStep::FactorPanel)?.launch([count, 1], BLOCK, &values)?;
        for columns in [0..start, end..n] {
            self.exchange_panel(&part(a, start..n, columns)?, start, end)?;
        }
        if end < n {
            let right = part(a, start..end, end..n)?;
            let form = Form { is_unit: true, ..Form::default() };
            triangles::solve(&part(a, start..end, start..end)?, &right, form)?;
            let product = part(a, end..n, start..end)?.matmul(&right)?;
            part(a, end..n, end..n)?.binary_in_place(Op::Subtract, &product)?;
        }
        Ok(())
    }

    /// Exchanges rows, which begin with the first one of a panel, as those of that panel were.
    fn exchange_panel(&self, rows: &GpuArray, start: usize, end: usize) -> Result<()> {
        let (count, columns, n) = (rows.shape()[0], rows.shape()[2], self.pivots.shape()[1]);
        if rows.size() == 0 {
            return Ok(());
        }
        let [stack, row, _] = steps(rows);
        let own = part(&self.pivots, 0..count, start..end)?;
        let values = [
            rows.into(),
            stack.into(),
            row.into(),
            columns.into(),
            (end - start).into(),
            (&own).into(),
            (n as isize).into(),
        ];
        let step = Step::new(rows.context(), rows.dtype(), LinalgStep::ExchangeRows)?;
        step.launch(parts(count, columns, EXCHANGERS), [EXCHANGERS, 1], &values)
    }

    /// Solves systems in place of their right sides, which are in C order.
    pub(super) fn solve(&self, sides: &GpuArray) -> Result<()> {
        let (n, columns) = (sides.shape()[1], sides.shape()[2]);
        for start in (0..n).step_by(PANEL) {
            self.exchange_panel(&part(sides, start..n, 0..columns)?, start, (start + PANEL).min(n))?;
        }
        triangles::solve(&self.factors, sides, Form { is_unit: true, ..Form::default() })?;
        triangles::solve(&self.factors, sides, Form { is_upper: true, ..Form::default() })
    }
}
