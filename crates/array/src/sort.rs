//! Sorting, and searching in what is sorted.

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::{Args, BLOCK_THREADS};
use crate::layout::Order;
use rtcg_codegen::array::{ArrayKernel, SORT_TILE, Sort, SortStage};
use rtcg_codegen::{DType, Kind};

impl GpuArray {
    /// A copy sorted along `axis`, stably; NaN is larger than every number.
    ///
    /// # Errors
    /// When the elements are records.
    pub fn sorted(&self, axis: usize, descending: bool) -> Result<GpuArray> {
        self.sort_rows(axis, descending, false).map(|sorted| sorted.0)
    }

    /// The indices that sort along `axis`, stably.
    ///
    /// # Errors
    /// When the elements are records.
    pub fn argsort(&self, axis: usize, descending: bool) -> Result<GpuArray> {
        let (_, indices) = self.sort_rows(axis, descending, true)?;
        indices.ok_or_else(|| ArrayError::value("argsort: no indices were made"))
    }

    fn sort_rows(&self, axis: usize, descending: bool, indices: bool) -> Result<(GpuArray, Option<GpuArray>)> {
        if self.dtype().kind() == Kind::Record {
            return Err(ArrayError::dtype("records cannot be sorted"));
        }
        self.check_memory()?;
        let (axis, last) = (axis as isize, self.ndim() as isize - 1);
        let source = self.moveaxis(&[axis], &[last])?.to_contiguous()?;
        let n = source.shape().last().copied().unwrap_or(1);
        let rows = source.size() / n.max(1);
        let back = |array: GpuArray| array.moveaxis(&[last], &[axis]);
        let new = |dtype| GpuArray::empty(self.context(), source.shape(), dtype, Order::C);
        let mut now = (new(self.dtype())?, if indices { Some(new(DType::I64)?) } else { None });
        if source.size() == 0 {
            return Ok((back(now.0)?, now.1.map(back).transpose()?));
        }
        let kernel = |stage| Sort { dtype: self.dtype(), with_indices: indices, descending, stage };
        let ctx = self.context();
        let start = |array: &Option<GpuArray>| array.as_ref().map_or(0, GpuArray::start);
        let mut args = Args::new();
        [now.0.start(), start(&now.1), source.start(), rows as u64, n as u64].iter().for_each(|&n| args.push_u64(n));
        let tiles = (rows * n.div_ceil(SORT_TILE)).min(ctx.facts().max_blocks as usize) as u32;
        let compiled = ctx.kernel(&ArrayKernel::Sort(kernel(SortStage::Tiles)))?;
        compiled.launch([tiles, 1, 1], [SORT_TILE as u32, 1, 1], 0, args.bytes())?;
        let mut run = SORT_TILE;
        while run < n {
            let next = (new(self.dtype())?, if indices { Some(new(DType::I64)?) } else { None });
            let mut args = Args::new();
            [next.0.start(), start(&next.1), now.0.start(), start(&now.1)].iter().for_each(|&ptr| args.push_u64(ptr));
            [rows, n, run].iter().for_each(|&n| args.push_u64(n as u64));
            let compiled = ctx.kernel(&ArrayKernel::Sort(kernel(SortStage::Merge)))?;
            compiled.launch([ctx.facts().blocks_for(rows * n), 1, 1], [BLOCK_THREADS, 1, 1], 0, args.bytes())?;
            now = next;
            run *= 2;
        }
        Ok((back(now.0)?, now.1.map(back).transpose()?))
    }

    /// Where `values` would go in this sorted array of one axis: before equal elements, or behind them.
    ///
    /// # Errors
    /// When this array has another number of axes.
    pub fn search_sorted(&self, values: &GpuArray, right: bool) -> Result<GpuArray> {
        if self.ndim() != 1 {
            return Err(ArrayError::value("object too deep for desired array: the sorted array must have one axis"));
        }
        [self, values].into_iter().try_for_each(GpuArray::check_memory)?;
        let common = self.dtype().promote(values.dtype());
        let sorted = self.to_dtype(common)?.to_contiguous()?;
        let dense = values.to_dtype(common)?.to_contiguous()?;
        let out = GpuArray::empty(self.context(), values.shape(), DType::I64, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        let stage = if right { SortStage::SearchRight } else { SortStage::SearchLeft };
        let kernel = Sort { dtype: common, with_indices: false, descending: false, stage };
        let ctx = self.context();
        let mut args = Args::new();
        [out.start(), sorted.start(), sorted.size() as u64, dense.start(), dense.size() as u64]
            .iter()
            .for_each(|&n| args.push_u64(n));
        let compiled = ctx.kernel(&ArrayKernel::Sort(kernel))?;
        compiled.launch([ctx.facts().blocks_for(out.size()), 1, 1], [BLOCK_THREADS, 1, 1], 0, args.bytes())?;
        Ok(out)
    }
}
