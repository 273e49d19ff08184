//! Updates C - A B of the trailing matrices of blocked factorizations.

use super::factorizations::{Triangle, triangular_part};
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel, batched_grid_dim, is_simd_cpu};
use super::matrix_helpers::{conjugate, element_strides};
use crate::array::GpuArray;
use crate::error::Result;
use crate::scalar::Scalar;
use rtcg_codegen::WeakScalar;
use rtcg_codegen::array::{LINALG_TILE_SIDE, LinalgStep, Op};

/// Elements of results from which on a product that is made first, and then subtracted, is faster.
const MIN_SEPARATE_GEMM_ELEMENTS: usize = 1 << 20;

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
        if is_simd_cpu(results) || (count == 1 && m * n >= MIN_SEPARATE_GEMM_ELEMENTS && !self.is_lower) {
            let left = &if self.is_left_unit { unit_lower(left)? } else { left.clone() };
            let left = if self.is_left_conjugated { conjugate(left)? } else { left.clone() };
            let right = if self.is_right_conjugated { conjugate(right)? } else { right.clone() };
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
        let step = LinalgKernel::new(results.context(), results.dtype(), LinalgStep::GemmUpdate)?;
        let columns = n.div_ceil(LINALG_TILE_SIDE) * LINALG_TILE_SIDE;
        step.launch_2d(
            batched_grid_dim(count, m.div_ceil(LINALG_TILE_SIDE) * columns, LINALG_TILE_SIDE),
            DEFAULT_BLOCK_DIM,
            &values,
        )
    }
}

/// Lower triangles with ones on the diagonal.
fn unit_lower(a: &GpuArray) -> Result<GpuArray> {
    let triangles = triangular_part(a, Triangle::Lower)?;
    triangles.diagonal(0, -2, -1)?.fill(Scalar::Weak(WeakScalar::Int(1)))?;
    Ok(triangles)
}
