//! Sorting, and searching in what is sorted.

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::{BLOCK_THREADS, PackedKernelArgs};
use crate::layout::Order;
use rtcg_codegen::array::{
    RADIX_BINS, RADIX_HISTOGRAM_THREADS, RadixSpec, RadixStage, SORT_TILE_ITEMS, SortPayload, SortSpec, SortStage,
};
use rtcg_codegen::{DType, DTypeKind};

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
        indices.ok_or_else(|| ArrayError::value_error("argsort: no indices were made"))
    }

    fn sort_rows(&self, axis: usize, descending: bool, indices: bool) -> Result<(GpuArray, Option<GpuArray>)> {
        if self.dtype().kind() == DTypeKind::Record {
            return Err(ArrayError::type_error("records cannot be sorted"));
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
        if prefers_radix(self.dtype(), rows, n) {
            let sorted = radix_sort(&source, rows, descending, indices)?;
            return Ok((back(sorted.0)?, sorted.1.map(back).transpose()?));
        }
        let kernel = |stage| SortSpec { dtype: self.dtype(), with_indices: indices, descending, stage };
        let ctx = self.context();
        let start = |array: &Option<GpuArray>| array.as_ref().map_or(0, GpuArray::first_element_address);
        let mut args = PackedKernelArgs::new();
        [now.0.first_element_address(), start(&now.1), source.first_element_address(), rows as u64, n as u64]
            .iter()
            .for_each(|&n| args.push_u64(n));
        let tiles = (rows * n.div_ceil(SORT_TILE_ITEMS)).min(ctx.device_info().max_blocks as usize) as u32;
        let compiled = ctx.compiled_kernel(&kernel(SortStage::Tiles))?;
        compiled.launch([tiles, 1, 1], [SORT_TILE_ITEMS as u32, 1, 1], 0, args.packed_bytes())?;
        let mut run = SORT_TILE_ITEMS;
        while run < n {
            let next = (new(self.dtype())?, if indices { Some(new(DType::I64)?) } else { None });
            let mut args = PackedKernelArgs::new();
            [next.0.first_element_address(), start(&next.1), now.0.first_element_address(), start(&now.1)]
                .iter()
                .for_each(|&ptr| args.push_u64(ptr));
            [rows, n, run].iter().for_each(|&n| args.push_u64(n as u64));
            let compiled = ctx.compiled_kernel(&kernel(SortStage::Merge))?;
            compiled.launch(
                [ctx.device_info().grid_block_count(rows * n), 1, 1],
                [BLOCK_THREADS, 1, 1],
                0,
                args.packed_bytes(),
            )?;
            now = next;
            run *= 2;
        }
        Ok((back(now.0)?, now.1.map(back).transpose()?))
    }

    /// Where `values` would go in this sorted array of one axis: before equal elements, or behind them.
    ///
    /// # Errors
    /// When this array has another number of axes.
    pub fn searchsorted(&self, values: &GpuArray, right: bool) -> Result<GpuArray> {
        if self.ndim() != 1 {
            return Err(ArrayError::value_error(
                "object too deep for desired array: the sorted array must have one axis",
            ));
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
        let kernel = SortSpec { dtype: common, with_indices: false, descending: false, stage };
        let ctx = self.context();
        let mut args = PackedKernelArgs::new();
        [
            out.first_element_address(),
            sorted.first_element_address(),
            sorted.size() as u64,
            dense.first_element_address(),
            dense.size() as u64,
        ]
        .iter()
        .for_each(|&n| args.push_u64(n));
        let compiled = ctx.compiled_kernel(&kernel)?;
        compiled.launch(
            [ctx.device_info().grid_block_count(out.size()), 1, 1],
            [BLOCK_THREADS, 1, 1],
            0,
            args.packed_bytes(),
        )?;
        Ok(out)
    }
}

/// Whether rows are so long that sorting them digit by digit, one after the other, is faster than merging
/// all of them together.
fn prefers_radix(dtype: DType, rows: usize, n: usize) -> bool {
    let long = if dtype.itemsize() > 4 { 1 << 17 } else { 1 << 15 };
    RadixSpec::supports_dtype(dtype) && (long * rows.min(32)..=RadixSpec::MAX_KEYS).contains(&n) && rows <= 256
}

/// Sorts the rows of a contiguous array, and their places if there are to be any.
fn radix_sort(source: &GpuArray, rows: usize, descending: bool, indices: bool) -> Result<(GpuArray, Option<GpuArray>)> {
    let (ctx, dtype) = (source.context(), source.dtype());
    let n = source.size() / rows;
    let new = |length: usize, dtype| GpuArray::empty(ctx, &[length], dtype, Order::C);
    let out = GpuArray::empty(ctx, source.shape(), dtype, Order::C)?;
    let places = indices.then(|| GpuArray::empty(ctx, source.shape(), DType::I64, Order::C)).transpose()?;
    // Keys and places go to and fro between these and the result, so that they end there.
    let other = new(n, dtype)?;
    let between = match indices {
        true => Some([new(n, DType::U32)?, new(n, DType::U32)?]),
        false => None,
    };
    let row_bytes = n * dtype.itemsize();
    for row in 0..rows {
        let keys = [out.first_element_address() + (row * row_bytes) as u64, other.first_element_address()];
        let places_at = places.as_ref().map_or(0, |places| places.first_element_address() + (row * n * 8) as u64);
        let between =
            between.as_ref().map_or([0; 2], |both| [both[0].first_element_address(), both[1].first_element_address()]);
        let row_of = RadixSortBuffers {
            source: source.first_element_address() + (row * row_bytes) as u64,
            keys,
            places: places_at,
            between,
            n,
        };
        row_of.radix_sort_row(source, descending, indices)?;
    }
    Ok((out, places))
}

/// A row that is sorted by digits: addresses of what is read, of the result and the memory beside it, of
/// the places as they are returned and of those in between.
struct RadixSortBuffers {
    source: u64,
    keys: [u64; 2],
    places: u64,
    between: [u64; 2],
    n: usize,
}

impl RadixSortBuffers {
    fn radix_sort_row(&self, like: &GpuArray, descending: bool, indices: bool) -> Result<()> {
        let (ctx, dtype) = (like.context(), like.dtype());
        let passes = dtype.itemsize();
        let kernel = |stage| match RadixSpec::new(dtype, descending, stage) {
            kernel if ctx.device_info().vector_bytes < 16 => kernel.with_few_items_per_thread(),
            kernel => kernel,
        };
        let tiles = self.n.div_ceil(kernel(RadixStage::Histogram).tile_items());
        let begins = GpuArray::empty(ctx, &[4 * RADIX_BINS * passes + 64], DType::U8, Order::C)?;
        let (counts, ticket) =
            (begins.first_element_address(), begins.first_element_address() + (4 * RADIX_BINS * passes) as u64);
        ctx.device_runtime().memset_zero(counts, begins.size())?;
        let mut args = PackedKernelArgs::new();
        [counts, ticket, self.source, self.n as u64].iter().for_each(|&n| args.push_u64(n));
        let compiled = ctx.compiled_kernel(&kernel(RadixStage::Histogram))?;
        let blocks = (ctx.device_info().max_blocks as usize / 4).clamp(1, tiles) as u32;
        compiled.launch([blocks, 1, 1], [RADIX_HISTOGRAM_THREADS, 1, 1], 0, args.packed_bytes())?;
        let state = GpuArray::empty(ctx, &[64 + 4 * RADIX_BINS * tiles], DType::U8, Order::C)?;
        for pass in 0..passes {
            ctx.device_runtime().memset_zero(state.first_element_address(), state.size())?;
            let last = pass + 1 == passes;
            let payload = match (indices, pass) {
                (false, _) => SortPayload::None,
                (true, 0) => SortPayload::Generated,
                (true, _) => SortPayload::Carried,
            };
            let side = (passes - 1 - pass) % 2;
            let from = if pass == 0 { self.source } else { self.keys[1 - side] };
            let places = if last { self.places } else { self.between[side] };
            let mut args = PackedKernelArgs::new();
            [self.keys[side], from, places, self.between[1 - side], counts + (4 * RADIX_BINS * pass) as u64]
                .iter()
                .for_each(|&n| args.push_u64(n));
            [state.first_element_address(), self.n as u64].iter().for_each(|&n| args.push_u64(n));
            args.push_u32(8 * pass as u32);
            let sweep = kernel(RadixStage::Sweep { payload, last });
            let compiled = ctx.compiled_kernel(&sweep)?;
            compiled.launch([tiles as u32, 1, 1], [sweep.threads.into(), 1, 1], 0, args.packed_bytes())?;
        }
        Ok(())
    }
}
