//! SELL-C-sigma matrices: slices of 32 rows, stored column by column, with rows sorted by length within windows.

use crate::csr::Csr;
use crate::kernels::sell::{SLICE_ROWS, SellSpec, SellStage};
use crate::kernels::spmv::SpmvEpilogue;
use crate::launch::{elements_ahead, full_grid, prepare_launch};
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, Index, Order, ReduceOptions, ReductionOp, ScanOp, array_args};
use rtcg_hal::{ArrayContext, ArrayError, DType, Launch, Result};
use smallvec::{SmallVec, smallvec};

/// A matrix in SELL-32-sigma format (Kreutzer, Hager, Wellein, Fehske and Bishop 2014). Columns are stored as 16-bit
/// distances from the smallest column of their slice if all of them fit. Cloning shares the arrays.
#[derive(Debug, Clone)]
pub struct Sell {
    shape: [usize; 2],
    nnz: usize,
    sigma: usize,
    index: DType,
    data: GpuArray,
    columns: GpuArray,
    starts: GpuArray,
    bases: GpuArray,
    /// Which row is in which place; none where rows stay where they are.
    permutation: Option<GpuArray>,
}

impl Sell {
    /// Converts a CSR matrix, sorting rows by length within windows of `sigma` rows (1 keeps their order), or returns
    /// `None` if more than `max_fill` times as many elements would be stored. Runs on the device; waits twice, for the
    /// number of stored elements and for the range of columns.
    ///
    /// # Errors
    /// When `sigma` is 0, or the device fails.
    pub fn from_csr(csr: &Csr, sigma: usize, max_fill: f64) -> Result<Option<Self>> {
        if sigma == 0 {
            return Err(ArrayError::value_error("sigma is 0; expected at least 1 row"));
        }
        let (ctx, [rows, _]) = (csr.context(), csr.shape());
        let slices = rows.div_ceil(SLICE_ROWS);
        let permutation = if sigma > 1 && rows > 1 { Some(sorted_rows(csr, sigma)?) } else { None };
        let new = |length| GpuArray::empty(ctx, &[length], DType::I64, Order::C);
        let (sizes, bases, spans) = (new(slices + 1)?, new(slices)?, new(slices)?);
        let index = csr.indices().dtype();
        let spec = |column, stage| SellSpec {
            value: csr.data().dtype(),
            vector: csr.data().dtype(),
            index,
            column,
            permutation: permutation.as_ref().map(GpuArray::dtype),
            stage,
        };
        if rows == 0 {
            sizes.memset_zero()?;
        } else {
            let order = permutation.as_ref().unwrap_or(&bases);
            let arrays = [&sizes, &bases, &spans, csr.indices(), csr.indptr(), order];
            launch(ctx, &spec(index, SellStage::Slices), &arrays, &[rows], slices * SLICE_ROWS)?;
        }
        let starts = sizes.cumulative(ScanOp::Sum, 0, Some(DType::I64))?;
        let stored = read_i64(&starts.index(&[Index::At(slices as isize)])?)? as usize;
        if stored as f64 > max_fill * csr.nnz().max(1) as f64 {
            return Ok(None);
        }
        let widest =
            if slices == 0 { 0 } else { read_i64(&spans.reduce(ReductionOp::Maximum, ReduceOptions::default())?)? };
        let column = if widest < i64::from(u16::MAX) { DType::U16 } else { index };
        let data = GpuArray::empty(ctx, &[stored], csr.data().dtype(), Order::C)?;
        let columns = GpuArray::empty(ctx, &[stored], column, Order::C)?;
        if stored > 0 {
            let order = permutation.as_ref().unwrap_or(&bases);
            let arrays = [&data, &columns, csr.data(), csr.indices(), csr.indptr(), &starts, &bases, order];
            launch(ctx, &spec(column, SellStage::Fill), &arrays, &[rows], rows)?;
        }
        let (shape, nnz) = (csr.shape(), csr.nnz());
        Ok(Some(Self { shape, nnz, sigma, index, data, columns, starts, bases, permutation }))
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Number of elements of the matrix, without padding.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Number of stored elements, with padding.
    pub fn stored(&self) -> usize {
        self.data.size()
    }

    /// Number of rows in the windows within which they were sorted.
    pub fn sigma(&self) -> usize {
        self.sigma
    }

    /// Whether columns are stored as 16-bit distances.
    pub fn has_short_columns(&self) -> bool {
        self.columns.dtype() == DType::U16
    }

    /// Bytes of the matrix that a product reads.
    pub fn nbytes(&self) -> usize {
        let order = self.permutation.as_ref().map_or(0, GpuArray::nbytes);
        self.data.nbytes() + self.columns.nbytes() + self.starts.nbytes() + self.bases.nbytes() + order
    }
}

/// Rows by falling length within windows of `sigma` rows; those of one length keep their order.
fn sorted_rows(csr: &Csr, sigma: usize) -> Result<GpuArray> {
    let ([rows, _], index) = (csr.shape(), csr.indices().dtype());
    let keys = GpuArray::empty(csr.context(), &[rows], DType::I64, Order::C)?;
    let value = csr.data().dtype();
    let spec = SellSpec { value, vector: value, index, column: index, permutation: None, stage: SellStage::Keys };
    launch(csr.context(), &spec, &[&keys, csr.indptr()], &[rows, sigma], rows)?;
    keys.argsort(0, false)?.to_dtype(if i32::try_from(rows).is_ok() { DType::I32 } else { DType::I64 })
}

/// Launches a kernel of arrays and 64-bit integers for so many threads.
fn launch(ctx: &ArrayContext, spec: &SellSpec, arrays: &[&GpuArray], numbers: &[usize], threads: usize) -> Result<()> {
    prepare(ctx, spec, arrays, numbers, threads)?.enqueue(ctx.queue())
}

/// The launch of a kernel of arrays and 64-bit integers for so many threads.
fn prepare(
    ctx: &ArrayContext,
    spec: &SellSpec,
    arrays: &[&GpuArray],
    numbers: &[usize],
    threads: usize,
) -> Result<Launch> {
    let mut args = array_args(arrays)?;
    numbers.iter().for_each(|&n| args.push_i64(n as i64));
    prepare_launch(ctx, spec, full_grid(ctx, threads), args)
}

/// The one element of an int64 array; waits.
fn read_i64(array: &GpuArray) -> Result<i64> {
    let mut bytes = [0; 8];
    array.read(&mut bytes, Order::C)?;
    Ok(i64::from_ne_bytes(bytes))
}

impl ProductFormat for Sell {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.data.dtype()
    }

    fn parts(&self) -> Option<(SmallVec<[&GpuArray; 6]>, [usize; 2])> {
        let mut parts: SmallVec<_> = smallvec![&self.data, &self.columns, &self.starts, &self.bases];
        parts.extend(&self.permutation);
        Some((parts, [self.index.itemsize(), 0]))
    }

    fn product_launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>> {
        let [rows, _] = self.shape;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let epilogue = if accumulate { SpmvEpilogue::Accumulate } else { SpmvEpilogue::Store };
        let spec = SellSpec {
            value: self.data.dtype(),
            vector: y.dtype(),
            index: self.index,
            column: self.columns.dtype(),
            permutation: self.permutation.as_ref().map(GpuArray::dtype),
            stage: SellStage::Product(epilogue, elements_ahead(x.context(), y.dtype())),
        };
        let order = self.permutation.as_ref().unwrap_or(&self.bases);
        let arrays = [y, &self.data, &self.columns, &self.starts, &self.bases, order, x];
        prepare(x.context(), &spec, &arrays, &[rows], rows).map(|launch| vec![launch])
    }
}
