//! Triangular solves by blocks, with matrix products between the blocks.

use super::gemm_update::GemmUpdate;
use super::launch::{LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{element_strides, submatrix};
use super::panels::panel_width;
use crate::array::GpuArray;
use rtcg_codegen::array::{LINALG_THREADS, LinalgSpec, LinalgStep};
use rtcg_hal::{DeviceInfo, Result, tunable};

tunable! {
    /// The kernel that solves triangular systems.
    pub(crate) TriangularChoice = "linalg.triangular";
    /// Triangles of at most `panel` rows, with right-hand sides.
    problem TriangularProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of triangles.
        batches: i64 = PowerOfTwo,
        /// Right-hand sides per triangle.
        n: i64 = PowerOfTwo,
        /// Maximum rows of a triangle.
        panel: i64 = Exact,
        /// Whether rows of the right-hand sides are exchanged first.
        swaps: bool = Exact,
    }
    parameters {
        /// `warps` keeps right-hand sides in registers, `block` in memory; with `block` a separate kernel exchanges
        /// rows.
        kernel: &'static str = ["block", "warps"],
        /// Threads per block; with `block` and row exchanges, those of the kernel that exchanges rows before the solve.
        threads: i64 = [64, 128, 256, 512],
        /// Right-hand sides per block.
        sides: i64 = [8, 16, 32, 64],
    }
    device {}
    require {
        kernel != "block" || sides <= threads;
        kernel != "warps" || sides * 32 >= threads;
        kernel != "warps" || panel * sides * itemsize <= threads * 256;
        kernel != "warps" || 32 * ((panel + 31) / 32 * 32 + 1) * itemsize + 20 * panel <= 49152;
    }
    rule triangular_rule;
}

/// A SIMD CPU runs best without shuffles. A warp solves its right sides one after the other: where there are few, it has as
/// few as leave all multiprocessors blocks.
fn triangular_rule(problem: &TriangularProblem, device_info: &DeviceInfo) -> TriangularChoice {
    let threads = LINALG_THREADS.into();
    match (device_info.is_simd_cpu(), problem.swaps) {
        (true, true) => TriangularChoice { kernel: "block", threads: 128, sides: 8 },
        (true, false) => TriangularChoice { kernel: "block", threads, sides: 8 },
        (false, _) => {
            let blocks = 4 * i64::from(device_info.multiprocessors.max(1));
            let fair = (problem.n * problem.batches).max(1).cast_unsigned().div_ceil(blocks.cast_unsigned());
            let sides = fair.next_power_of_two().clamp(8, 32).cast_signed();
            TriangularChoice { kernel: "warps", threads, sides }
        }
    }
}

impl TriangularChoice {
    /// For triangles of `panel` rows, at most, and the columns of `sides`.
    pub(super) fn of_sides(sides: &GpuArray, columns: usize, panel: usize, swaps: bool) -> Self {
        let numbers = [sides.itemsize(), sides.shape()[0], columns, panel];
        let [itemsize, batches, n, panel] = numbers.map(|number| number as i64);
        sides.context().choose(&TriangularProblem { itemsize, batches, n, panel, swaps })
    }

    /// The kernel of a step.
    pub(super) fn step_kernel(self, sides: &GpuArray, step: LinalgStep, panel: usize) -> Result<LinalgKernel> {
        let [threads, sides_of_block] = [self.threads, self.sides].map(|number| number as u16);
        let spec = LinalgSpec::new(sides.dtype(), step);
        let spec = LinalgSpec { threads, sides: sides_of_block, panel: panel as u16, ..spec };
        LinalgKernel::compile_kernel(sides.context(), spec)
    }
}

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
    let panel = panel_width(sides, "triangular", columns);
    let choice = TriangularChoice::of_sides(sides, columns, panel, false);
    let step = if choice.kernel == "block" { LinalgStep::Trsm } else { LinalgStep::TrsmWarps };
    let step = choice.step_kernel(sides, step, panel)?;
    let mut starts: Vec<usize> = (0..n).step_by(panel).collect();
    if form.is_upper {
        starts.reverse();
    }
    for start in starts {
        let end = (start + panel).min(n);
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
        let grid = batched_grid_dim(count, columns, choice.sides as usize);
        step.launch_2d(grid, [choice.threads as usize, 1], &values)?;
        let rest = if form.is_upper { 0..start } else { end..n };
        if !rest.is_empty() {
            let factor = submatrix(triangles, rest.clone(), start..end)?;
            let product = GemmUpdate { is_left_conjugated: form.is_conjugated, ..GemmUpdate::default() };
            product.subtract_product(&submatrix(sides, rest, 0..columns)?, &factor, &x)?;
        }
    }
    Ok(())
}
