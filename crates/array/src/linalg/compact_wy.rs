//! Blocked application of Householder reflectors as I - V T V^H, by matrix products (Bischof and Van Loan, The WY
//! representation for products of Householder matrices, 1987; Schreiber and Van Loan 1989).

use super::gemm_update::GemmUpdate;
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{element_strides, empty_like, submatrix};
use super::panels::threads_per_column;
use crate::array::GpuArray;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_WY_BLOCK_COLUMNS, LinalgSpec, LinalgStep};
use rtcg_hal::{DeviceInfo, Result, tunable};

tunable! {
    /// The kernels that apply reflectors to columns.
    pub(crate) ReflectorChoice = "linalg.reflectors";
    /// Products of `k` reflectors and matrices of `m` x `n` elements.
    problem ReflectorProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        m: i64 = PowerOfTwo,
        /// Number of columns.
        n: i64 = PowerOfTwo,
        /// Number of reflectors.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// Whether matrix products apply many reflectors at a time, rather than one after the other.
        blocked: bool = [false, true],
        /// Threads per column, unless reflectors are blocked.
        group: i64 = [1, 2, 4, 8, 16],
        /// Columns per thread, if reflectors are blocked; a block has 16 times as many.
        part: i64 = [2, 4, 8],
        /// Rows that are loaded at once.
        depth: i64 = [8, 16, 32],
        /// Blocks per multiprocessor that splitting sums into parts aims for.
        waves: i64 = [1, 2, 4, 8],
        /// Minimum rows per part of a sum.
        min_rows: i64 = [16, 32, 64, 128, 256],
    }
    device {}
    require {
        !blocked || depth * (16 * part + 34) * itemsize <= 49152;
    }
    rule reflector_rule;
}

/// Compact WY factors take memory beside the matrices: many times as much as small matrices have.
fn reflector_rule(problem: &ReflectorProblem, device_info: &DeviceInfo) -> ReflectorChoice {
    let m = problem.m as usize;
    let blocked = m > LINALG_WY_BLOCK_COLUMNS && !device_info.is_simd_cpu();
    let group = threads_per_column(m, device_info) as i64;
    ReflectorChoice { blocked, group, part: 4, depth: 16, waves: 2, min_rows: 64 }
}

impl ReflectorChoice {
    /// For `count` reflectors that are applied to columns.
    pub(super) fn of_columns(columns: &GpuArray, count: usize) -> Self {
        let [batches, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis] as i64);
        let (itemsize, k) = (columns.itemsize() as i64, count as i64);
        columns.context().choose(&ReflectorProblem { itemsize, batches, m, n, k })
    }
}

/// What columns are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApplyQ {
    /// The product of the reflectors.
    Product,
    /// The product, where the columns are those of the identity.
    Identity,
    /// The adjoint of the product.
    Adjoint,
}

/// Does what `apply_q` does.
pub(super) fn apply_compact_wy(
    choice: ReflectorChoice,
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
            apply_wy_block(choice, &own, &own_factors, tau_stride, &changed, how == ApplyQ::Adjoint)?;
        }
    }
    Ok(())
}

/// Multiplies columns with I - V T V^H or its adjoint.
fn apply_wy_block(
    choice: ReflectorChoice,
    vectors: &GpuArray,
    taus: &GpuArray,
    tau_stride: isize,
    columns: &GpuArray,
    is_adjoint: bool,
) -> Result<()> {
    let [count, m, n] = [0, 1, 2].map(|axis| columns.shape()[axis]);
    // The last tile has products of the vectors themselves.
    let [part, rows, waves, min_rows] =
        [choice.part, choice.depth, choice.waves, choice.min_rows].map(|number| number as usize);
    let tiles = n.div_ceil(16 * part) + 1;
    let wanted = (waves * columns.context().device_info().multiprocessors as usize).div_ceil(count * tiles);
    let depth = m.div_ceil(wanted.min(m.div_ceil(min_rows))).next_multiple_of(rows);
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
    let spec = LinalgSpec::new(columns.dtype(), LinalgStep::WyProducts);
    let spec = LinalgSpec { part: part as u16, depth: rows as u16, ..spec };
    let step = LinalgKernel::compile_kernel(columns.context(), spec)?;
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
