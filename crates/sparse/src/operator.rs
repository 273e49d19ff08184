//! What iterative solvers need of a matrix.

use crate::csr::Csr;
use crate::{GpuArray, Result};
use rtcg_array::DType;

/// A linear map of vectors.
pub trait LinearOperator {
    /// Rows and columns.
    fn shape(&self) -> [usize; 2];

    /// The dtype of its elements.
    fn dtype(&self) -> DType;

    /// Enqueues `y = A x`. Both are contiguous vectors of one dtype that do not share memory.
    ///
    /// # Errors
    /// When the device fails, or the operator does not take such vectors.
    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()>;

    /// Whether [`LinearOperator::apply`] is launches alone when vectors have the dtype of the operator: no memory is
    /// allocated, and nothing runs on the host.
    fn is_recordable(&self) -> bool {
        false
    }

    /// The matrix itself where it is one, for kernels that do more than multiply.
    fn as_csr(&self) -> Option<&Csr> {
        None
    }
}

impl LinearOperator for Csr {
    fn shape(&self) -> [usize; 2] {
        self.shape()
    }

    fn dtype(&self) -> DType {
        self.data().dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.multiply_into(x, y, false)
    }

    fn is_recordable(&self) -> bool {
        self.has_row_kernel() || self.has_planned_format()
    }

    fn as_csr(&self) -> Option<&Csr> {
        Some(self)
    }
}
