//! Householder QR by panels of columns, and application of the reflectors to other matrices.

pub(super) use super::compact_wy::ApplyQ;
use super::compact_wy::{self, ReflectorChoice};
use super::factorizations::{Triangle, triangular_part};
use super::launch::{LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{element_strides, identity_matrices, submatrix, zeros_like};
use super::panels::{PanelKernel, REFLECTED_COLUMNS, RegisterPanels, panel_width};
use crate::array::GpuArray;
use crate::views::Index;
use rtcg_codegen::array::{LinalgSpec, LinalgStep};
use rtcg_hal::Result;

/// The kernel that does a step for columns, `group` threads for each, and its block.
fn compile_column_kernel(a: &GpuArray, step: LinalgStep, group: usize) -> Result<(LinalgKernel, [usize; 2])> {
    let threads = REFLECTED_COLUMNS * group;
    let kernel = LinalgSpec { group: group as u16, threads: threads as u16, ..LinalgSpec::new(a.dtype(), step) };
    Ok((LinalgKernel::compile_kernel(a.context(), kernel)?, [threads, 1]))
}

/// Matrices with R in their upper triangles and the reflector vectors below.
#[derive(Debug, Clone)]
pub(super) struct QrFactors {
    pub matrices: GpuArray,
    /// The scalar factors (tau) of the reflectors.
    pub taus: GpuArray,
    /// Columns of a panel.
    panel: usize,
}

impl QrFactors {
    /// Factors stacks of matrices in C order by Householder reflectors, in place.
    pub(super) fn new(a: GpuArray) -> Result<Self> {
        let [count, m, n] = [0, 1, 2].map(|axis| a.shape()[axis]);
        let taus = zeros_like(&a, &[count, m.min(n)], a.dtype())?;
        let panel = panel_width(&a, "qr", n);
        let qr_factors = Self { matrices: a, taus, panel };
        if qr_factors.matrices.size() > 0 {
            (0..m.min(n)).step_by(panel).try_for_each(|start| qr_factors.factor_panel(start))?;
        }
        Ok(qr_factors)
    }

    /// Factors the panel that begins in a column, and applies its reflectors to the columns on its right.
    fn factor_panel(&self, start: usize) -> Result<()> {
        let a = &self.matrices;
        let [m, n] = [1, 2].map(|axis| a.shape()[axis]);
        let end = (start + self.panel).min(n);
        let (panel, taus) = (submatrix(a, start..m, start..end)?, self.taus_from_column(start)?);
        let tau_stride = m.min(n) as isize;
        let kernel = PanelKernel::of_rows(a, "qr", m - start);
        match kernel.register_panels(m - start) {
            Some(register_panels) => factor_register_panels(register_panels, &panel, &taus, tau_stride)?,
            None => factor_panel_by_one_kernel(kernel.threads as usize, &panel, &taus, tau_stride)?,
        }
        if end == n {
            return Ok(());
        }
        apply_q(&panel, &taus, tau_stride, &submatrix(a, start..m, end..n)?, ApplyQ::Adjoint)
    }

    fn taus_from_column(&self, start: usize) -> Result<GpuArray> {
        let length = self.taus.shape()[1];
        self.taus.index(&[Index::Ellipsis, Index::from(start as isize..length as isize)])
    }

    /// The first columns of the unitary matrices.
    pub(super) fn form_q(&self, columns: usize) -> Result<GpuArray> {
        let a = &self.matrices;
        let (count, m, length) = (a.shape()[0], a.shape()[1], self.taus.shape()[1]);
        let q = identity_matrices(a.context(), &[count, m, columns], a.dtype())?;
        if q.size() > 0 && length > 0 {
            let vectors = submatrix(a, 0..m, 0..length)?;
            apply_q(&vectors, &self.taus, length as isize, &q, ApplyQ::Identity)?;
        }
        Ok(q)
    }

    /// The first rows of the triangular matrices.
    pub(super) fn form_r(&self, rows: usize) -> Result<GpuArray> {
        triangular_part(&submatrix(&self.matrices, 0..rows, 0..self.matrices.shape()[2])?, Triangle::Upper)
    }
}

/// Factors panels by one kernel, which works on them in memory.
fn factor_panel_by_one_kernel(threads: usize, panel: &GpuArray, taus: &GpuArray, tau_stride: isize) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), element_strides(panel));
    let (step, block) = compile_column_kernel(panel, LinalgStep::QrPanel, threads / REFLECTED_COLUMNS)?;
    let values = [panel.into(), stack.into(), row.into(), m.into(), n.into(), taus.into(), tau_stride.into()];
    step.launch_2d([count, 1], block, &values)
}

/// Factors panels one register panel after the other.
fn factor_register_panels(
    register_panels: RegisterPanels,
    panel: &GpuArray,
    taus: &GpuArray,
    tau_stride: isize,
) -> Result<()> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| panel.shape()[axis]), element_strides(panel));
    let step = register_panels.panel_step_kernel(panel, LinalgStep::QrRegisterPanel)?;
    for start in (0..m.min(n)).step_by(register_panels.width) {
        let end = (start + register_panels.width).min(n);
        let strip = submatrix(panel, start..m, start..end)?;
        let own = taus.index(&[Index::Ellipsis, Index::from(start as isize..taus.shape()[1] as isize)])?;
        let values = [
            (&strip).into(),
            stack.into(),
            row.into(),
            (m - start).into(),
            (end - start).into(),
            (&own).into(),
            tau_stride.into(),
        ];
        step.launch_2d([count * register_panels.blocks, 1], [register_panels.threads, 1], &values)?;
        apply_q(&strip, &own, tau_stride, &submatrix(panel, start..m, end..n)?, ApplyQ::Adjoint)?;
    }
    Ok(())
}

/// Multiplies columns with the product of the reflectors whose vectors are the columns of `vectors` at and below the
/// diagonal, or with its adjoint. `tau_stride` is from the taus of one matrix to those of the next.
pub(super) fn apply_q(
    vectors: &GpuArray,
    taus: &GpuArray,
    tau_stride: isize,
    columns: &GpuArray,
    how: ApplyQ,
) -> Result<()> {
    if columns.size() == 0 || vectors.size() == 0 {
        return Ok(());
    }
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    let choice = ReflectorChoice::of_columns(columns, m.min(vectors.shape()[2]));
    if choice.blocked {
        return compact_wy::apply_compact_wy(choice, vectors, taus, tau_stride, columns, how);
    }
    let [[stack, row, _], [column_stack, column_row, _]] = [element_strides(vectors), element_strides(columns)];
    let values = [
        vectors.into(),
        stack.into(),
        row.into(),
        m.into(),
        m.min(vectors.shape()[2]).into(),
        taus.into(),
        tau_stride.into(),
        columns.into(),
        column_stack.into(),
        column_row.into(),
        n.into(),
        (how == ApplyQ::Adjoint).into(),
        (how == ApplyQ::Identity).into(),
    ];
    let (step, block) = compile_column_kernel(columns, LinalgStep::ApplyReflectors, choice.group as usize)?;
    step.launch_2d(batched_grid_dim(count, n, REFLECTED_COLUMNS), block, &values)
}
