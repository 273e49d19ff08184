//! Elementwise functions of two matrices.

use crate::checks::product_dtype;
use crate::csr::Csr;
use crate::indices::{MAX_I32_ELEMENTS, wider_index};
use crate::kernels::THREADS;
pub use crate::kernels::elementwise::ElementOp;
use crate::kernels::elementwise::{ElementwiseSpec, ElementwiseStage};
use crate::launch::{empty, read_numbers};
use rtcg_array::{GpuArray, Index, PythonTuple, ScanOp, array_args, push_arrays};
use rtcg_hal::{ArrayError, DType, Result};

impl Csr {
    /// Computes `op(A, B)` elementwise in the common dtype and drops zeros; comparisons return truth values, and
    /// columns ascend. The caller guarantees that the columns of both matrices ascend strictly in each row
    /// ([`Csr::has_sorted_indices`]). Waits once, for the number of elements.
    ///
    /// # Errors
    /// When shapes differ, or the device fails.
    pub fn combine(&self, other: &Csr, op: ElementOp) -> Result<Csr> {
        let [rows, columns] = self.shape();
        if self.shape() != other.shape() {
            let (a, b) = (PythonTuple(&self.shape()), PythonTuple(&other.shape()));
            return Err(ArrayError::value_error(format!("inconsistent shapes {a} and {b}")));
        }
        let vector = product_dtype(self.data().dtype(), other.data().dtype())?;
        let result = if op.is_comparison() { DType::Bool } else { vector };
        let index = wider_index(self, other);
        let (a, b) = (self.with_index(index)?, other.with_index(index)?);
        let (ctx, count) = (self.context(), a.nnz() + b.nnz());
        if count == 0 || rows == 0 {
            let indptr = empty(ctx, rows + 1, index)?;
            indptr.memset_zero()?;
            return Csr::new([rows, columns], empty(ctx, 0, result)?, empty(ctx, 0, index)?, indptr);
        }
        let values = [a.data().dtype(), b.data().dtype()];
        let launch = |stage, result_index, left: &[&GpuArray]| {
            let spec = ElementwiseSpec { values, vector, index, result_index, op, stage };
            let mut args = array_args(left)?;
            push_arrays(&mut args, &[a.data(), a.indices(), a.indptr(), b.data(), b.indices(), b.indptr()])?;
            [rows, a.nnz(), b.nnz()].iter().for_each(|&n| args.push_i64(n as i64));
            let blocks = ctx.device_info().grid_block_count(count.max(rows + 1));
            ctx.launch(&spec, blocks, THREADS, &args)
        };
        let flags = empty(ctx, count, DType::U8)?;
        launch(ElementwiseStage::Flags, index, &[&flags])?;
        let sums = flags.cumulative(ScanOp::Sum, 0, Some(DType::I64))?;
        let last = sums.index(&[Index::from(count as isize - 1..count as isize)])?;
        let nnz = read_numbers(&last)?[0];
        let index = if nnz > MAX_I32_ELEMENTS { DType::I64 } else { index };
        let (data, indices) = (empty(ctx, nnz as usize, result)?, empty(ctx, nnz as usize, index)?);
        let indptr = empty(ctx, rows + 1, index)?;
        launch(ElementwiseStage::Fill, index, &[&data, &indices, &indptr, &sums])?;
        Csr::new([rows, columns], data, indices, indptr)
    }
}
