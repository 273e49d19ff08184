//! Diagonal-storage (DIA) matrices.

use crate::checks::{check_product, check_stored_dtype, product_dtype};
use crate::kernels::dia::DiaSpmvSpec;
use crate::kernels::spmv::SpmvEpilogue;
use crate::launch::{are_plain, elements_ahead, full_grid, prepare_launch};
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayError, DType, Launch, Result};

/// Bytes of diagonals that one product leaves in the L2 cache of a GPU for the next one, if they are read through it.
const CACHED_BYTES: usize = 24 << 20;

/// A matrix stored by diagonals (DIA): `data[k, j]` is the element in row `j - offsets[k]` and column `j`. Cloning
/// shares the arrays.
#[derive(Debug, Clone)]
pub struct Dia {
    shape: [usize; 2],
    data: GpuArray,
    offsets: GpuArray,
}

impl Dia {
    /// Makes a matrix from existing arrays: `data` with two axes in C order, and one int64 offset per row of it.
    ///
    /// # Errors
    /// When dtypes or lengths do not fit.
    pub fn new(shape: [usize; 2], data: GpuArray, offsets: GpuArray) -> Result<Self> {
        check_stored_dtype(data.dtype())?;
        let fits = data.ndim() == 2 && data.shape()[..1] == *offsets.shape() && data.is_contiguous(Order::C);
        if !fits || offsets.dtype() != DType::I64 || !offsets.is_contiguous(Order::C) {
            let (data, shape, dtype) = (PythonTuple(data.shape()), PythonTuple(offsets.shape()), offsets.dtype());
            return Err(ArrayError::value_error(format!(
                "data has shape {data}, offsets have shape {shape} and dtype {dtype}; expected contiguous arrays, and an \
                 int64 offset for each row of data"
            )));
        }
        Ok(Self { shape, data, offsets })
    }

    /// Computes `A x` in the common dtype; enqueued.
    ///
    /// # Errors
    /// When `x` does not fit, or the device fails.
    pub fn multiply(&self, x: &GpuArray) -> Result<GpuArray> {
        let dtype = product_dtype(self.data.dtype(), x.dtype())?;
        let y = GpuArray::empty(x.context(), &[self.shape[0]], dtype, Order::C)?;
        self.multiply_into(x, &y, false)?;
        Ok(y)
    }

    /// Computes `y = A x`, or `y += A x`, in the dtype of `y`, which must be contiguous and not share memory with `x`;
    /// enqueued.
    ///
    /// # Errors
    /// As [`Dia::multiply`].
    pub fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        check_product(self.shape, self.data.dtype(), x, y)?;
        let x = x.to_dtype(y.dtype())?.to_contiguous()?;
        self.prepare(&x, y, accumulate)?.map_or(Ok(()), |launch| launch.enqueue(x.context().queue()))
    }

    /// The launch of a product of vectors that are contiguous and of one dtype; none without rows.
    fn prepare(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Option<Launch>> {
        let [rows, columns] = self.shape;
        if rows == 0 {
            return Ok(None);
        }
        let epilogue = if accumulate { SpmvEpilogue::Accumulate } else { SpmvEpilogue::Store };
        let is_cached = self.data.nbytes() <= CACHED_BYTES;
        let ahead = if is_cached { 1 } else { elements_ahead(x.context(), y.dtype()) };
        let spec = DiaSpmvSpec { value: self.data.dtype(), vector: y.dtype(), epilogue, ahead };
        let &[count, width] = self.data.shape() else { return Ok(None) };
        let mut args = array_args(&[y, &self.data, &self.offsets, x])?;
        [rows, columns.min(width), width].iter().for_each(|&n| args.push_i64(n as i64));
        args.push_u32(count as u32);
        prepare_launch(x.context(), &spec, full_grid(x.context(), rows), args).map(Some)
    }

    /// The launch of a product, where vectors are taken as they are.
    fn prepared_product(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Option<Vec<Launch>>> {
        if !are_plain(x, y) {
            return Ok(None);
        }
        Ok(Some(self.prepare(x, y, accumulate)?.into_iter().collect()))
    }
}

impl ProductFormat for Dia {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.data.dtype()
    }

    fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        self.multiply_into(x, y, accumulate)
    }

    fn launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Option<Vec<Launch>>> {
        self.prepared_product(x, y, accumulate)
    }
}
