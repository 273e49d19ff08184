//! Matrices in which few columns have most elements, for products that keep these columns' part of the vector in shared
//! memory.

use crate::csr::{Csr, carry_launch};
use crate::kernels::THREADS;
use crate::kernels::hot_columns::{HotColumnsSpec, HotColumnsStage, TILES_THREADS, WARP_TILE};
use crate::kernels::merge::{MergeSpmvSpec, MergeStage};
use crate::kernels::spmv::SpmvEpilogue;
use crate::launch::{empty, full_grid, keeping, prepare_launch};
use crate::plan::ProductFormat;
use rtcg_array::{GpuArray, array_args, push_arrays};
use rtcg_hal::{ArrayError, DType, Launch, Result};

/// A CSR matrix with its columns renumbered in order of decreasing element count. It shares everything but the indices
/// with the original matrix. Cloning shares the arrays.
#[derive(Debug, Clone)]
pub struct HotColumns {
    csr: Csr,
    /// Which column is in which place.
    order: GpuArray,
    /// The rows that tiles of a warp begin in.
    starts: GpuArray,
}

impl HotColumns {
    /// Converts a CSR matrix; enqueued.
    ///
    /// # Errors
    /// When elements have fewer than four bytes, or the device fails.
    pub fn from_csr(csr: &Csr) -> Result<Self> {
        let (ctx, [_, columns], index) = (csr.context(), csr.shape(), csr.indices().dtype());
        if csr.data().itemsize() < 4 {
            let dtype = csr.data().dtype();
            return Err(ArrayError::value_error(format!("elements are {dtype}; expected at least 4 bytes of each")));
        }
        let new = |length, dtype| empty(ctx, length, dtype);
        let run = |stage, arrays: &[&GpuArray], count: usize| {
            let (value, vector) = (csr.data().dtype(), csr.data().dtype());
            let mut args = array_args(arrays)?;
            args.push_i64(count as i64);
            let spec = HotColumnsSpec { value, vector, index, accumulate: false, stage };
            ctx.launch(&spec, full_grid(ctx, count), THREADS, &args)
        };
        let (counts, keys) = (new(columns, DType::I32)?, new(columns, DType::I64)?);
        counts.memset_zero()?;
        run(HotColumnsStage::Counts, &[&counts, csr.indices()], csr.nnz())?;
        run(HotColumnsStage::Keys, &[&keys, &counts], columns)?;
        let order = keys.argsort(0, false)?.to_dtype(index)?;
        let (inverse, renumbered) = (new(columns, index)?, new(csr.nnz(), index)?);
        run(HotColumnsStage::Inverse, &[&inverse, &order], columns)?;
        run(HotColumnsStage::Renumber, &[&renumbered, csr.indices(), &inverse], csr.nnz())?;
        let csr = Csr::new(csr.shape(), csr.data().clone(), renumbered, csr.indptr().clone())?;
        let starts = csr.rows_of_tiles(csr.data().dtype(), WARP_TILE)?;
        Ok(Self { csr, order, starts })
    }
}

impl ProductFormat for HotColumns {
    fn shape(&self) -> [usize; 2] {
        self.csr.shape()
    }

    fn dtype(&self) -> DType {
        self.csr.data().dtype()
    }

    fn product_launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>> {
        let (ctx, csr, [rows, columns]) = (x.context(), &self.csr, self.csr.shape());
        let (value, vector, index) = (csr.data().dtype(), y.dtype(), csr.indices().dtype());
        let spec = |stage| HotColumnsSpec { value, vector, index, accumulate, stage };
        let permuted = empty(ctx, columns, vector)?;
        let mut args = array_args(&[&permuted, x, &self.order])?;
        args.push_i64(columns as i64);
        let permute = prepare_launch(ctx, &spec(HotColumnsStage::Permute), full_grid(ctx, columns), args)?;

        let tiles = self.starts.size() - 1;
        let (carry_rows, carry_sums) = (empty(ctx, tiles, index)?, empty(ctx, tiles, vector)?);
        let warps = TILES_THREADS / 32;
        let words = warps as usize * spec(HotColumnsStage::Tiles).warp_words();
        let room = ctx.device_info().shared_bytes as usize / vector.itemsize();
        let Some(spare) = room.checked_sub(words) else {
            let (needed, had) = (words * vector.itemsize(), ctx.device_info().shared_bytes);
            let text = format!("hub: needs {needed} bytes of shared memory for {vector}, the device has {had}");
            return Err(ArrayError::value_error(text));
        };
        let hot = spare.min(columns);
        let mut args = array_args(&[y, csr.data(), csr.indices(), csr.indptr(), &permuted])?;
        [rows, csr.nnz()].iter().for_each(|&n| args.push_i64(n as i64));
        push_arrays(&mut args, &[&carry_rows, &carry_sums, &self.starts])?;
        args.push_u32(hot as u32);
        let blocks = ctx.device_info().multiprocessors.min(tiles.div_ceil(warps as usize) as u32).max(1);
        let shared_bytes = ((hot + words) * vector.itemsize()) as u32;
        let mut product =
            ctx.prepare_launch(&spec(HotColumnsStage::Tiles), [blocks, 1, 1], [TILES_THREADS, 1, 1], args)?;
        product.shared_bytes = shared_bytes;

        let (epilogue, stage) = (SpmvEpilogue::Store, MergeStage::Carries);
        let spec = MergeSpmvSpec { value, vector, index, epilogue, tile: WARP_TILE, stage };
        let carry = carry_launch(&spec, rows, y, &carry_rows, &carry_sums)?;
        Ok(vec![permute, product, keeping(carry, &[&permuted, &carry_rows, &carry_sums])])
    }

    fn is_recordable(&self) -> bool {
        false
    }
}
