//! Block compressed sparse row (BSR) matrices, with dense blocks.

use crate::checks::{check_stored_dtype, check_structure_arrays, product_dtype};
use crate::kernels::bsr::BsrSpec;
use crate::launch::{full_grid, prepare_launch};
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayError, DType, Launch, Result};
use smallvec::{SmallVec, smallvec};

/// A matrix of equally sized dense blocks (BSR): block row `i` holds the blocks `data[indptr[i]..indptr[i + 1]]`, in
/// the block columns `indices` of the same range. Cloning shares the arrays.
#[derive(Debug, Clone)]
pub struct Bsr {
    shape: [usize; 2],
    block: [usize; 2],
    data: GpuArray,
    indices: GpuArray,
    indptr: GpuArray,
}

impl Bsr {
    /// Makes a matrix from existing arrays: `data` has three axes (blocks, their rows, their columns) in C order;
    /// `indices` and `indptr` have the same dtype, int32 or int64. As for [`crate::Csr::new`], the caller guarantees
    /// that their contents are valid.
    ///
    /// # Errors
    /// When dtypes or lengths do not fit.
    pub fn new(shape: [usize; 2], data: GpuArray, indices: GpuArray, indptr: GpuArray) -> Result<Self> {
        let &[_, r, c] = data.shape() else {
            let given = PythonTuple(data.shape());
            return Err(ArrayError::value_error(format!("data has shape {given}; expected three axes")));
        };
        if r == 0 || c == 0 || !shape[0].is_multiple_of(r) || !shape[1].is_multiple_of(c) {
            let (shape, block) = (PythonTuple(&shape), PythonTuple(&[r, c]));
            return Err(ArrayError::value_error(format!("blocks of {block} do not divide the shape {shape}")));
        }
        if !data.is_contiguous(Order::C) {
            return Err(ArrayError::value_error("data is not contiguous; expected C order"));
        }
        check_stored_dtype(data.dtype())?;
        check_structure_arrays(shape[0] / r, data.shape()[0], &indices, &indptr)?;
        Ok(Self { shape, block: [r, c], data, indices, indptr })
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Rows and columns of a block.
    pub fn block(&self) -> [usize; 2] {
        self.block
    }

    /// The blocks, their block columns, and where block rows begin.
    pub fn parts(&self) -> [&GpuArray; 3] {
        [&self.data, &self.indices, &self.indptr]
    }

    /// Stored elements.
    pub fn nnz(&self) -> usize {
        self.data.size()
    }

    /// Bytes of the matrix that a product reads.
    pub fn nbytes(&self) -> usize {
        self.data.nbytes() + self.indices.nbytes() + self.indptr.nbytes()
    }

    /// Computes `A X` for a dense matrix, in C order and in the common dtype; enqueued.
    ///
    /// # Errors
    /// When `x` is not a matrix with as many rows as this one has columns, or the device fails.
    pub fn multiply_dense(&self, x: &GpuArray) -> Result<GpuArray> {
        let (&[inner, columns], true) = (x.shape(), x.shape().first() == Some(&self.shape[1])) else {
            let (given, inner) = (PythonTuple(x.shape()), self.shape[1]);
            let message = format!("dimension mismatch: x has shape {given}; expected {inner} rows");
            return Err(ArrayError::value_error(message));
        };
        let dtype = product_dtype(self.data.dtype(), x.dtype())?;
        let x = x.to_dtype(dtype)?.to_contiguous()?;
        let y = GpuArray::empty(x.context(), &[self.shape[0], columns], dtype, Order::C)?;
        if inner == 0 || y.size() == 0 {
            y.memset_zero()?;
            return Ok(y);
        }
        let is_simd_cpu = x.context().device_info().is_simd_cpu();
        let lanes = if is_simd_cpu { 1 } else { columns.next_power_of_two().min(32) };
        let spec = self.spec(dtype, lanes as u8, false, true);
        let launch = self.prepare_spec(&spec, &y, &x, Some(columns), self.shape[0] * lanes)?;
        launch.map_or(Ok(()), |launch| launch.enqueue(x.context().queue()))?;
        Ok(y)
    }

    fn spec(&self, vector: DType, lanes: u8, accumulate: bool, is_dense: bool) -> BsrSpec {
        let (value, index, block) = (self.data.dtype(), self.indices.dtype(), self.block.map(|length| length as u32));
        // As many side by side as leave each lane several blocks.
        let blocks = self.indices.size() / (self.shape[0] / self.block[0]).max(1);
        let parts = (blocks / 6).clamp(1, (32 / self.block[0] / self.block[1]).max(1)) as u8;
        BsrSpec { value, vector, index, block, lanes, parts, accumulate, is_dense }
    }

    fn prepare_spec(
        &self,
        spec: &BsrSpec,
        y: &GpuArray,
        x: &GpuArray,
        columns: Option<usize>,
        threads: usize,
    ) -> Result<Option<Launch>> {
        if threads == 0 {
            return Ok(None);
        }
        let mut args = array_args(&[y, &self.data, &self.indices, &self.indptr, x])?;
        args.push_i64((self.shape[0] / self.block[0]) as i64);
        columns.iter().for_each(|&n| args.push_i64(n as i64));
        prepare_launch(x.context(), spec, full_grid(x.context(), threads), args).map(Some)
    }
}

impl ProductFormat for Bsr {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.data.dtype()
    }

    fn parts(&self) -> Option<(SmallVec<[&GpuArray; 6]>, [usize; 2])> {
        Some((smallvec![&self.data, &self.indices, &self.indptr], self.block))
    }

    fn product_launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>> {
        // A SIMD CPU gathers for every lane, so that one of them has a row there.
        let lanes = if x.context().device_info().is_simd_cpu() { 1 } else { 32 };
        let (spec, block_rows) = (self.spec(y.dtype(), lanes, accumulate, false), self.shape[0] / self.block[0]);
        let threads = if lanes == 1 { self.shape[0] } else { block_rows.div_ceil(spec.rows_of_warp()) * 32 };
        Ok(self.prepare_spec(&spec, y, x, None, threads)?.into_iter().collect())
    }
}
