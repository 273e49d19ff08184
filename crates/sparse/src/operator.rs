//! The interface that iterative solvers need of a matrix.

use crate::csr::Csr;
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, Index, Order};
use rtcg_hal::{ArrayError, DType, Launch, Result};

/// A linear map of vectors.
pub trait LinearOperator {
    /// Rows and columns.
    fn shape(&self) -> [usize; 2];

    /// The dtype of its elements.
    fn dtype(&self) -> DType;

    /// Enqueues `y = A x`. Both must be contiguous vectors of the same dtype that do not share memory.
    ///
    /// # Errors
    /// When the device fails, or the operator does not accept such vectors.
    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()>;

    /// Computes `A X` for a matrix with contiguous rows, in C order and in its dtype; enqueued. By default applies the
    /// operator column by column.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn apply_block(&self, x: &GpuArray) -> Result<GpuArray> {
        let &[n, columns] = x.shape() else {
            return Err(ArrayError::value_error(format!("x has shape {:?}; expected two axes", x.shape())));
        };
        let rows = self.shape()[0];
        let new = |shape: &[usize]| GpuArray::empty(x.context(), shape, x.dtype(), Order::C);
        let (from, to, y) = (new(&[n])?, new(&[rows])?, new(&[rows, columns])?);
        for column in 0..columns {
            let column = [Index::from(..), Index::At(column as isize)];
            from.assign(&x.index(&column)?)?;
            self.apply(&from, &to)?;
            y.index(&column)?.assign(&to)?;
        }
        Ok(y)
    }

    /// Enqueues `Y = A X` for several vectors, the rows of `x` and `y`: contiguous arrays of two axes and the same
    /// dtype that do not share memory.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn apply_rows(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        let row = |array: &GpuArray, k| array.index(&[Index::At(k)]);
        (0..x.shape()[0] as isize).try_for_each(|k| self.apply(&row(x, k)?, &row(y, k)?))
    }

    /// Whether [`LinearOperator::apply`] consists only of launches if vectors have the operator's dtype: it allocates
    /// no memory and runs nothing on the host.
    fn is_recordable(&self) -> bool {
        false
    }

    /// The launches that [`LinearOperator::apply`] makes for these vectors, in order, if it does nothing else and a
    /// format of this crate makes them. Solvers repeat them directly, and combine them into one kernel
    /// ([`crate::SolverMode::Persistent`]).
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn launches(&self, _x: &GpuArray, _y: &GpuArray) -> Result<Option<Vec<Launch>>> {
        Ok(None)
    }

    /// The matrix itself if it is a CSR matrix, for kernels that do more than multiply.
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

    fn apply_block(&self, x: &GpuArray) -> Result<GpuArray> {
        self.multiply_dense(x)?.to_dtype(x.dtype())
    }

    fn apply_rows(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.multiply_dense_into(&x.transpose(None)?, y, true)
    }

    fn is_recordable(&self) -> bool {
        self.is_recordable()
    }

    fn launches(&self, x: &GpuArray, y: &GpuArray) -> Result<Option<Vec<Launch>>> {
        self.prepared_product(x, y, false)
    }

    fn as_csr(&self) -> Option<&Csr> {
        Some(self)
    }
}

/// A dense matrix.
impl LinearOperator for GpuArray {
    fn shape(&self) -> [usize; 2] {
        match *self.shape() {
            [rows, columns] => [rows, columns],
            _ => [0, 0],
        }
    }

    fn dtype(&self) -> DType {
        self.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        y.assign(&self.matmul(x)?)
    }

    fn apply_block(&self, x: &GpuArray) -> Result<GpuArray> {
        self.matmul(x)?.to_dtype(x.dtype())
    }
}

impl<F: ProductFormat> LinearOperator for F {
    fn shape(&self) -> [usize; 2] {
        ProductFormat::shape(self)
    }

    fn dtype(&self) -> DType {
        ProductFormat::dtype(self)
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.multiply_into(x, y, false)
    }

    fn is_recordable(&self) -> bool {
        ProductFormat::is_recordable(self)
    }

    fn launches(&self, x: &GpuArray, y: &GpuArray) -> Result<Option<Vec<Launch>>> {
        ProductFormat::launches(self, x, y, false)
    }
}
