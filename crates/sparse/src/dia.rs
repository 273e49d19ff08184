//! Diagonal-storage (DIA) matrices.

use crate::checks::check_stored_dtype;
use crate::kernels::dia::DiaSpmvSpec;
use crate::kernels::spmv::SpmvEpilogue;
use crate::launch::{elements_ahead, full_grid, prepare_launch};
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayError, DType, Launch, Result};
use smallvec::{SmallVec, smallvec};

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
}

impl ProductFormat for Dia {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.data.dtype()
    }

    fn parts(&self) -> Option<(SmallVec<[&GpuArray; 6]>, [usize; 2])> {
        Some((smallvec![&self.data, &self.offsets], [0; 2]))
    }

    fn product_launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>> {
        let [rows, columns] = self.shape;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let epilogue = if accumulate { SpmvEpilogue::Accumulate } else { SpmvEpilogue::Store };
        let is_cached = self.data.nbytes() <= CACHED_BYTES;
        let ahead = if is_cached { 1 } else { elements_ahead(x.context(), y.dtype()) };
        let spec = DiaSpmvSpec { value: self.data.dtype(), vector: y.dtype(), epilogue, ahead };
        let &[count, width] = self.data.shape() else { return Ok(Vec::new()) };
        let mut args = array_args(&[y, &self.data, &self.offsets, x])?;
        [rows, columns.min(width), width].iter().for_each(|&n| args.push_i64(n as i64));
        args.push_u32(count as u32);
        prepare_launch(x.context(), &spec, full_grid(x.context(), rows), args).map(|launch| vec![launch])
    }
}
