//! Products of two CSR matrices.

use crate::checks::product_dtype;
use crate::csr::Csr;
use crate::elementwise::ElementOp;
use crate::indices::{MAX_I32_ELEMENTS, wider_index};
use crate::kernels::THREADS;
use crate::kernels::spgemm::{BIN_LIMITS, BINS, LAST_FILLED_BIN, LONG_BIN, SpgemmSpec, SpgemmStage, Team};
use crate::launch::{empty, read_numbers};
use rtcg_array::{GpuArray, Index, Order, PythonTuple, ScanOp, array_args, push_arrays};
use rtcg_hal::{ArrayContext, ArrayError, DType, LaunchArgs, Result};
use std::sync::Arc;

/// Memory of bitmaps and tables, beyond which less rows are computed at once.
const TABLE_BYTES: usize = 256 << 20;

impl Csr {
    /// Computes `A B` as a CSR matrix, in the common dtype. Columns ascend strictly in each row, and zeros are dropped.
    /// Rows are counted and filled by kernels for bins of similar size, with hash tables in shared memory (Nagasaka,
    /// Nukada and Matsuoka 2017), or with bitmaps of columns for the longest ones. Besides the result this takes 33
    /// bytes per row, and at most 256 MiB of bitmaps, or those of one block. Every run gives the same bits. Waits three
    /// times, for the sizes of bins and the number of zeros.
    ///
    /// # Errors
    /// When `other` does not have as many rows as this matrix has columns, or the device fails.
    pub fn multiply_sparse(&self, other: &Csr) -> Result<Csr> {
        self.multiply_sparse_by(other, self.context().device_info().is_simd_cpu())
    }

    /// Like [`Csr::multiply_sparse`], either with one thread per row, which is best for a SIMD CPU, or with warps and
    /// blocks. The order of sums differs.
    ///
    /// # Errors
    /// As [`Csr::multiply_sparse`].
    pub fn multiply_sparse_by(&self, other: &Csr, has_thread_rows: bool) -> Result<Csr> {
        let ([rows, inner], [other_rows, columns]) = (self.shape(), other.shape());
        if inner != other_rows {
            let (a, b) = (PythonTuple(&self.shape()), PythonTuple(&other.shape()));
            return Err(ArrayError::value_error(format!("dimension mismatch: {a} and {b}")));
        }
        let result = product_dtype(self.data().dtype(), other.data().dtype())?;
        let index = wider_index(self, other);
        let (a, b) = (self.with_index(index)?, other.with_index(index)?);
        let ctx = self.context();
        let sizes = GpuArray::empty(ctx, &[rows + 1], DType::I64, Order::C)?;
        sizes.memset_zero()?;
        if rows == 0 || a.nnz() == 0 || b.nnz() == 0 {
            return Csr::new([rows, columns], empty(ctx, 0, result)?, empty(ctx, 0, index)?, sizes.to_dtype(index)?);
        }
        let product = Product { a: &a, b: &b, result, index, columns, has_thread_rows };
        let row_sizes = sizes.index(&[Index::from(1..)])?;
        product.launch_work(&row_sizes)?;
        let bins = product.bin_rows(&row_sizes, true)?;
        let lanes = product.lanes(&bins);
        product.count(&bins, lanes, &row_sizes)?;
        let bins = product.bin_rows(&row_sizes, false)?;
        let index = if bins.total > MAX_I32_ELEMENTS { DType::I64 } else { index };
        let indptr = sizes.cumulative(ScanOp::Sum, 0, Some(DType::I64))?.to_dtype(index)?;
        let nnz = bins.total as usize;
        let (data, indices) = (empty(ctx, nnz, result)?, empty(ctx, nnz, index)?);
        let zeros = empty(ctx, 1, DType::I64)?;
        zeros.memset_zero()?;
        product.fill(&bins, lanes, &zeros, [&data, &indices, &indptr])?;
        let made = Csr::new([rows, columns], data, indices, indptr)?;
        if nnz == 0 || read_numbers(&zeros)?[0] == 0 { Ok(made) } else { made.without_zeros() }
    }

    /// The same matrix without elements that are 0; columns ascend, and none is twice in a row.
    fn without_zeros(&self) -> Result<Csr> {
        let indptr = self.indptr().empty_like(self.indptr().dtype())?;
        indptr.memset_zero()?;
        let nothing = [self.data().dtype(), self.indices().dtype()].map(|dtype| empty(self.context(), 0, dtype));
        let [data, indices] = nothing;
        self.combine(&Csr::new(self.shape(), data?, indices?, indptr)?, ElementOp::Add)
    }
}

/// Rows by size.
struct Bins {
    counts: Vec<i64>,
    total: i64,
    largest: i64,
    /// No row of the right matrix has an element twice, and columns ascend.
    is_canonical: bool,
    /// Rows in the order of their bins; none where all of them are in one.
    list: Option<GpuArray>,
}

struct Product<'a> {
    a: &'a Csr,
    b: &'a Csr,
    result: DType,
    index: DType,
    columns: usize,
    has_thread_rows: bool,
}

impl Product<'_> {
    fn rows(&self) -> usize {
        self.a.shape()[0]
    }

    fn ctx(&self) -> &Arc<ArrayContext> {
        self.a.context()
    }

    fn spec(
        &self,
        stage: SpgemmStage,
        team: Team,
        slots: usize,
        lanes: u8,
        has_list: bool,
        result_index: DType,
    ) -> SpgemmSpec {
        SpgemmSpec {
            values: [self.a.data().dtype(), self.b.data().dtype()],
            result: self.result,
            index: self.index,
            result_index,
            has_wide_keys: self.has_wide_keys(),
            has_list,
            team,
            slots,
            lanes,
            stage,
        }
    }

    fn has_wide_keys(&self) -> bool {
        self.columns > i32::MAX as usize
    }

    /// Products of each row.
    fn launch_work(&self, sizes: &GpuArray) -> Result<()> {
        let mut args = array_args(&[sizes, self.a.indices(), self.a.indptr(), self.b.indptr()])?;
        [self.rows(), self.columns].iter().for_each(|&n| args.push_i64(n as i64));
        let spec = self.spec(SpgemmStage::Work, Team::Thread, 0, 1, false, self.index);
        self.ctx().launch(&spec, self.a.row_blocks(1), THREADS, &args)
    }

    /// The bins of rows, and with `looks_at_order` whether the right matrix is canonical. Waits.
    fn bin_rows(&self, sizes: &GpuArray, looks_at_order: bool) -> Result<Bins> {
        let (ctx, rows) = (self.ctx(), self.rows());
        let (of_rows, numbers) = (empty(ctx, rows, DType::U8)?, empty(ctx, BINS + 3, DType::I64)?);
        numbers.memset_zero()?;
        let mut args = array_args(&[&of_rows, &numbers, sizes])?;
        args.push_i64(rows as i64);
        let spec = self.spec(SpgemmStage::Bins, Team::Thread, 0, 1, false, self.index);
        ctx.launch(&spec, ctx.device_info().grid_block_count(rows), THREADS, &args)?;
        if looks_at_order {
            self.b.launch_order(true, numbers.first_element_address() + 8 * (BINS as u64 + 2))?;
        }
        let found = read_numbers(&numbers)?;
        let counts = found[..BINS].to_vec();
        let is_one = counts.iter().filter(|&&count| count > 0).count() == 1;
        let list = if is_one { None } else { Some(of_rows.argsort(0, false)?) };
        let [total, largest, descents] = [found[BINS], found[BINS + 1], found[BINS + 2]];
        Ok(Bins { counts, total, largest, is_canonical: descents == 0, list })
    }

    /// Lanes of a row of the right matrix, as long as these are on average. Of two elements in one place each has to have
    /// its turn.
    fn lanes(&self, bins: &Bins) -> u8 {
        let average = (bins.total as usize).div_ceil(self.a.nnz().max(1));
        if bins.is_canonical { average.next_power_of_two().clamp(1, 32) as u8 } else { 1 }
    }

    fn count(&self, bins: &Bins, lanes: u8, sizes: &GpuArray) -> Result<()> {
        let last_bin = if self.has_wide_keys() { LONG_BIN - 2 } else { LONG_BIN - 1 };
        let right = [self.a.indices(), self.a.indptr(), self.b.indices(), self.b.indptr()];
        let stage = Stage { stage: SpgemmStage::Count, last_bin, result_index: self.index, lanes };
        // Rows without products have size 0 already.
        self.for_bins(bins, &stage, &[sizes], &right)
    }

    /// Fills rows; the number of elements that are 0 is added to the one in `zeros`.
    fn fill(&self, bins: &Bins, lanes: u8, zeros: &GpuArray, result: [&GpuArray; 3]) -> Result<()> {
        let (a, b, [data, indices, indptr]) = (self.a, self.b, result);
        let right = [a.data(), a.indices(), a.indptr(), b.data(), b.indices(), b.indptr()];
        let result_index = indices.dtype();
        let stage = Stage { stage: SpgemmStage::Fill, last_bin: LAST_FILLED_BIN, result_index, lanes };
        self.for_bins(bins, &stage, &[zeros, data, indices, indptr], &right)
    }

    fn for_bins(&self, bins: &Bins, stage: &Stage, left: &[&GpuArray], right: &[&GpuArray]) -> Result<()> {
        let mut first = bins.counts[0] as usize;
        for bin in 1..BINS {
            let count = bins.counts[bin] as usize;
            if count == 0 {
                continue;
            }
            let listed = match &bins.list {
                Some(list) => list.index(&[Index::from(first as isize..(first + count) as isize)])?,
                None => left[0].clone(),
            };
            first += count;
            let team = match bin {
                _ if self.has_thread_rows => Team::Thread,
                _ if bin > stage.last_bin => Team::BlockWithBitmap,
                1..=2 => Team::Warp,
                _ => Team::Block,
            };
            let limit = BIN_LIMITS.get(bin).map_or(bins.largest as usize, |&limit| limit);
            let slots = if matches!(team, Team::Warp | Team::Block) { 2 * limit } else { 0 };
            let spec = self.spec(stage.stage, team, slots, stage.lanes, bins.list.is_some(), stage.result_index);
            let mut args = array_args(left)?;
            push_arrays(&mut args, &[&listed])?;
            args.push_i64(count as i64);
            push_arrays(&mut args, right)?;
            let blocks = count.div_ceil((THREADS / spec.team_threads()) as usize);
            match team {
                Team::Thread => self.launch_threads(&spec, args, count, limit)?,
                Team::BlockWithBitmap => self.launch_with_bitmaps(&spec, args, blocks)?,
                Team::Warp | Team::Block => {
                    let blocks = blocks.min(i32::MAX as usize) as u32;
                    self.ctx().launch(&spec, blocks, THREADS, &args)?;
                }
            }
        }
        Ok(())
    }

    fn launch_with_bitmaps(&self, spec: &SpgemmSpec, mut args: LaunchArgs, blocks: usize) -> Result<()> {
        let (ctx, words) = (self.ctx(), self.columns.div_ceil(32));
        let resident = ctx.device_info().resident_blocks().max(1);
        let blocks = blocks.min(resident).min((TABLE_BYTES / (8 * words)).max(1));
        let memory = empty(ctx, 2 * words * blocks, DType::U32)?;
        push_arrays(&mut args, &[&memory])?;
        args.push_i64(words as i64);
        ctx.launch(spec, blocks as u32, THREADS, &args)
    }

    /// Threads with tables for rows of at most `limit` elements.
    fn launch_threads(&self, spec: &SpgemmSpec, mut args: LaunchArgs, count: usize, limit: usize) -> Result<()> {
        let (ctx, slots) = (self.ctx(), (2 * limit).next_power_of_two());
        let key = if self.has_wide_keys() { DType::I64 } else { DType::I32 };
        let most = ctx.device_info().max_blocks as usize * THREADS as usize;
        let threads = count.min(most).min((TABLE_BYTES / (slots * (key.itemsize() + 4))).max(1));
        let keys = empty(ctx, slots * threads, key)?;
        push_arrays(&mut args, &[&keys])?;
        let places = empty(ctx, if spec.stage == SpgemmStage::Fill { slots * threads } else { 1 }, DType::I32)?;
        if spec.stage == SpgemmStage::Fill {
            push_arrays(&mut args, &[&places])?;
        }
        [slots, threads].iter().for_each(|&n| args.push_i64(n as i64));
        ctx.launch(spec, threads.div_ceil(THREADS as usize) as u32, THREADS, &args)
    }
}

/// What the two passes over bins differ in.
struct Stage {
    stage: SpgemmStage,
    /// The last bin whose rows fit in tables in shared memory.
    last_bin: usize,
    result_index: DType,
    lanes: u8,
}
