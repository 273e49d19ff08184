//! Updates C - A B of the trailing matrices of blocked factorisations.

use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{conjugate, element_strides, empty_like};
use crate::array::GpuArray;
use crate::matmul::try_subtract_product;
use crate::views::Index;
use rtcg_codegen::array::{LinalgSpec, LinalgStep, Op};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

/// Elements of results from which on a product that is made first, and then subtracted, is faster.
const MIN_SEPARATE_GEMM_ELEMENTS: i64 = 1 << 20;

tunable! {
    /// The kernels that subtract products from matrices.
    pub(crate) UpdateChoice = "linalg.update";
    /// Matrices of `m` x `n` elements, from which products with inner length `k` are subtracted.
    problem UpdateProblem {
        /// Their dtype.
        dtype: DType = Exact,
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        m: i64 = PowerOfTwo,
        /// Number of columns.
        n: i64 = PowerOfTwo,
        /// Inner length of the products.
        k: i64 = PowerOfTwo,
        /// Whether only lower triangles are needed.
        lower: bool = Exact,
    }
    parameters {
        /// Whether a single kernel multiplies and subtracts, rather than two.
        fused: bool = [false, true],
        /// Rows, and columns, of the result that a thread computes; a block has 16 x 16 threads.
        part: i64 = [2, 4, 8],
        /// Elements along `k` that are loaded at once.
        depth: i64 = [8, 16, 32],
    }
    device {}
    require {
        2 * depth * (16 * part + 1) * itemsize <= 49152;
        part * part * itemsize <= 512;
    }
    rule update_rule;
}

/// A SIMD CPU runs tiles in shared memory slowly.
fn update_rule(problem: &UpdateProblem, device_info: &DeviceInfo) -> UpdateChoice {
    let UpdateProblem { batches, m, n, lower, .. } = *problem;
    let is_large = batches == 1 && m * n >= MIN_SEPARATE_GEMM_ELEMENTS && !lower;
    UpdateChoice { fused: !is_large && !device_info.is_simd_cpu(), part: 4, depth: 16 }
}

/// How a product is formed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GemmUpdate {
    pub is_left_conjugated: bool,
    pub is_right_conjugated: bool,
    /// Left operands are unit lower triangular, whatever is at and above their diagonals.
    pub is_left_unit: bool,
    /// Only lower triangles of results are needed.
    pub is_lower: bool,
}

impl GemmUpdate {
    /// Takes a product from matrices in their own place; operands are stacks of any strides.
    pub(super) fn subtract_product(self, results: &GpuArray, left: &GpuArray, right: &GpuArray) -> Result<()> {
        let ([count, m, n], k) = ([0, 1, 2].map(|axis| results.shape()[axis]), left.shape()[2]);
        if results.size() == 0 || k == 0 {
            return Ok(());
        }
        let choice = self.choose(results, k);
        if !choice.fused {
            let left = &if self.is_left_unit { unit_lower(left)? } else { left.clone() };
            let left = if self.is_left_conjugated { conjugate(left)? } else { left.clone() };
            let right = if self.is_right_conjugated { conjugate(right)? } else { right.clone() };
            if count == 1 && try_subtract_product(&matrix(results)?, &matrix(&left)?, &matrix(&right)?)? {
                return Ok(());
            }
            return results.binary_in_place(Op::Subtract, &left.matmul(&right)?);
        }
        let [[stack, row, column], [l_stack, l_row, l_column], [r_stack, r_row, r_column]] =
            [results, left, right].map(element_strides);
        let values = [
            results.into(),
            stack.into(),
            row.into(),
            column.into(),
            left.into(),
            l_stack.into(),
            l_row.into(),
            l_column.into(),
            self.is_left_conjugated.into(),
            self.is_left_unit.into(),
            right.into(),
            r_stack.into(),
            r_row.into(),
            r_column.into(),
            self.is_right_conjugated.into(),
            m.into(),
            n.into(),
            k.into(),
            self.is_lower.into(),
        ];
        let (ctx, tile) = (results.context(), 16 * choice.part as usize);
        let [part, depth] = [choice.part, choice.depth].map(|number| number as u16);
        let kernel = LinalgSpec { part, depth, ..LinalgSpec::new(results.dtype(), LinalgStep::GemmUpdate) };
        let grid = batched_grid_dim(count, m.div_ceil(tile) * n.div_ceil(tile), 1);
        LinalgKernel::compile_kernel(ctx, kernel)?.launch_2d(grid, DEFAULT_BLOCK_DIM, &values)
    }

    fn choose(self, results: &GpuArray, k: usize) -> UpdateChoice {
        let numbers = [results.itemsize(), results.shape()[0], results.shape()[1], results.shape()[2], k];
        let [itemsize, batches, m, n, k] = numbers.map(|number| number as i64);
        let problem = UpdateProblem { dtype: results.dtype(), itemsize, batches, m, n, k, lower: self.is_lower };
        results.context().choose(&problem)
    }
}

/// The only matrix of a stack.
fn matrix(stack: &GpuArray) -> Result<GpuArray> {
    stack.index(&[Index::At(0)])
}

/// Lower triangles with ones on the diagonal.
fn unit_lower(a: &GpuArray) -> Result<GpuArray> {
    let ([count, m, n], [stack, row, _]) = ([0, 1, 2].map(|axis| a.shape()[axis]), element_strides(a));
    let copies = empty_like(a, &[count, m, n], a.dtype())?;
    let values = [a.into(), stack.into(), row.into(), m.into(), n.into(), (&copies).into()];
    let step = LinalgKernel::new(a.context(), a.dtype(), LinalgStep::UnitLower)?;
    step.launch_2d(batched_grid_dim(count, m * n, 4 * DEFAULT_BLOCK_DIM[0]), DEFAULT_BLOCK_DIM, &values)?;
    Ok(copies)
}
