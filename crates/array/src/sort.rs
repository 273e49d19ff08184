//! Sorting, and searching in sorted arrays.

use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_codegen::array::{
    LabelSweepSpec, RADIX_BINS, RADIX_HISTOGRAM_THREADS, RadixSpec, RadixStage, SortPayload, SortSpec, SortStage,
};
use rtcg_hal::{ArrayError, BLOCK_THREADS, DType, DTypeKind, DeviceInfo, LaunchArgs, Result, tunable};

tunable! {
    /// How rows are sorted.
    pub(crate) SortRoute = "sort.route";
    /// Rows of `n` adjacent keys.
    problem SortProblem {
        /// The dtype of the keys.
        dtype: DType = Exact,
        /// Bytes per key.
        itemsize: i64 = Exact,
        /// Number of rows.
        rows: i64 = PowerOfTwo,
        /// Keys per row.
        n: i64 = PowerOfTwo,
        /// Whether indices are moved together with the keys.
        indices: bool = Exact,
    }
    parameters {
        /// `radix` sorts one row after the other by digits, `merge` all rows together by comparisons.
        kernel: &'static str = ["radix", "merge"],
        /// Keys that a block sorts before runs are merged, with as many threads.
        tile: i64 = [64, 128, 256, 512, 1024],
    }
    device {}
    require {
        kernel != "radix" || n <= 1073741824 && dtype != DType::C64 && dtype != DType::C128;
        2 * tile * (itemsize + 2) <= 49152;
    }
    rule sort_route_rule;
}

/// Rows that are so long that sorting them digit by digit, one after the other, is faster than merging all of them
/// together.
fn sort_route_rule(problem: &SortProblem, _: &DeviceInfo) -> SortRoute {
    let SortProblem { dtype, itemsize, rows, n, .. } = *problem;
    let long = if itemsize > 4 { 1 << 17 } else { 1 << 15 };
    let most = RadixSpec::MAX_KEYS as i64;
    let prefers_radix = RadixSpec::supports_dtype(dtype) && (long * rows.min(32)..=most).contains(&n) && rows <= 256;
    SortRoute { kernel: if prefers_radix { "radix" } else { "merge" }, tile: 256 }
}

tunable! {
    /// The tiles of radix sort.
    pub(crate) RadixChoice = "sort.radix";
    /// A row of `n` keys.
    problem RadixProblem {
        /// Bytes per key.
        itemsize: i64 = Exact,
        /// Keys in the row.
        n: i64 = PowerOfTwo,
        /// Whether indices are moved together with the keys.
        indices: bool = Exact,
    }
    parameters {
        /// Threads per block.
        threads: i64 = [256, 384, 512],
        /// Keys per thread.
        items: i64 = [4, 8, 11, 14, 17, 20, 24, 28],
        /// Blocks that should be resident on a multiprocessor at once.
        blocks_per_sm: i64 = [1, 2, 3, 4, 6],
    }
    device {}
    require {
        // Keys, places and counts lie in shared memory, one after the other.
        threads * items * itemsize <= 46080 && threads * items * 4 <= 46080;
        threads * blocks_per_sm <= 1536;
    }
    rule radix_rule;
}

/// Tiles that keep shared memory and registers in bounds. On devices whose lanes are those of a processor's vectors,
/// what is unrolled only takes long to compile.
fn radix_rule(problem: &RadixProblem, device_info: &DeviceInfo) -> RadixChoice {
    let items = match problem.itemsize {
        _ if device_info.vector_bytes < 16 => 8,
        5.. => 14,
        _ => 28,
    };
    RadixChoice { threads: 256, items, blocks_per_sm: 3 }
}

impl GpuArray {
    /// Returns a copy sorted along `axis`, stably; NaN is larger than every number.
    ///
    /// # Errors
    /// When the elements are records.
    pub fn sorted(&self, axis: usize, descending: bool) -> Result<GpuArray> {
        self.sort_rows(axis, descending, false, None).map(|sorted| sorted.0)
    }

    /// Returns the indices that sort along `axis`, stably.
    ///
    /// # Errors
    /// When the elements are records.
    pub fn argsort(&self, axis: usize, descending: bool) -> Result<GpuArray> {
        let (_, indices) = self.sort_rows(axis, descending, true, None)?;
        indices.ok_or_else(|| ArrayError::value_error("argsort: no indices were made"))
    }

    /// Returns the indices that sort a vector of integers in `0..limit`, stably; skips digits that are 0 in all of
    /// them.
    ///
    /// # Errors
    /// When this is not a vector of integers.
    pub fn argsort_below(&self, limit: u64) -> Result<GpuArray> {
        if self.ndim() != 1 || !self.dtype().is_integral() {
            let message =
                format!("an array of {} axes and dtype {}; expected a vector of integers", self.ndim(), self.dtype());
            return Err(ArrayError::type_error(message));
        }
        let bits = u64::BITS - limit.saturating_sub(1).leading_zeros();
        let (_, indices) = self.sort_rows(0, false, true, Some(bits.div_ceil(8).max(1) as usize))?;
        indices.ok_or_else(|| ArrayError::value_error("argsort: no indices were made"))
    }

    fn sort_rows(
        &self,
        axis: usize,
        descending: bool,
        indices: bool,
        most_passes: Option<usize>,
    ) -> Result<(GpuArray, Option<GpuArray>)> {
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
        let ctx = self.context();
        let [itemsize, of_rows, of_n] = [self.itemsize(), rows, n].map(|length| length as i64);
        let problem = SortProblem { dtype: self.dtype(), itemsize, rows: of_rows, n: of_n, indices };
        let route: SortRoute = ctx.choose(&problem);
        if route.kernel == "radix" {
            let sorted = radix_sort(&source, rows, descending, indices, most_passes)?;
            return Ok((back(sorted.0)?, sorted.1.map(back).transpose()?));
        }
        let kernel = |stage| SortSpec { dtype: self.dtype(), with_indices: indices, descending, stage };
        let tile = route.tile as usize;
        let start = |array: &Option<GpuArray>| array.as_ref().map_or(0, GpuArray::first_element_address);
        let mut args = LaunchArgs::new();
        [now.0.first_element_address(), start(&now.1), source.first_element_address()]
            .iter()
            .for_each(|&ptr| args.push_address(ptr, 0));
        [rows, n].iter().for_each(|&n| args.push_u64(n as u64));
        let tiles = (rows * n.div_ceil(tile)).min(ctx.device_info().max_blocks as usize) as u32;
        ctx.launch(&kernel(SortStage::Tiles(tile as u16)), tiles, tile as u32, &args)?;
        let mut run = tile;
        while run < n {
            let next = (new(self.dtype())?, if indices { Some(new(DType::I64)?) } else { None });
            let mut args = LaunchArgs::new();
            [next.0.first_element_address(), start(&next.1), now.0.first_element_address(), start(&now.1)]
                .iter()
                .for_each(|&ptr| args.push_address(ptr, 0));
            [rows, n, run].iter().for_each(|&n| args.push_u64(n as u64));
            ctx.launch(&kernel(SortStage::Merge), ctx.device_info().grid_block_count(rows * n), BLOCK_THREADS, &args)?;
            now = next;
            run *= 2;
        }
        Ok((back(now.0)?, now.1.map(back).transpose()?))
    }

    /// Returns the positions at which to insert `values` in this sorted array of one axis: before equal elements, or
    /// after them if `right`.
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
        let mut args = LaunchArgs::new();
        args.push_address(out.first_element_address(), 0);
        for array in [&sorted, &dense] {
            args.push_address(array.first_element_address(), 0);
            args.push_u64(array.size() as u64);
        }
        ctx.launch(&kernel, ctx.device_info().grid_block_count(out.size()), BLOCK_THREADS, &args)?;
        Ok(out)
    }
}

/// Labels below `limit` (uint32) or at it, whose digits from the bit `shift` on are counted.
pub(crate) struct LabelDigits<'a> {
    pub(crate) labels: &'a GpuArray,
    pub(crate) limit: usize,
    pub(crate) shift: u32,
    pub(crate) passes: usize,
    /// Where each value of each digit begins.
    pub(crate) begins: &'a GpuArray,
}

impl LabelDigits<'_> {
    /// Sorts labels by their digits, stably, and moves elements of up to eight bytes along, or else their places (uint32).
    pub(crate) fn sort(&self, payload: Option<&GpuArray>) -> Result<[GpuArray; 2]> {
        let (ctx, n) = (self.labels.context(), self.labels.size());
        let dtype = payload.map_or(DType::U32, GpuArray::dtype);
        let bytes = dtype.itemsize();
        let problem = RadixProblem { itemsize: bytes.max(4) as i64, n: n as i64, indices: true };
        let RadixChoice { threads, items, blocks_per_sm } = ctx.choose(&problem);
        let new = |dtype| GpuArray::empty(ctx, &[n], dtype, Order::C);
        let first = match payload {
            Some(payload) => [self.labels.clone(), payload.clone()],
            None => [self.labels.clone(), self.labels.clone()],
        };
        let mut now = first;
        for pass in 0..self.passes {
            let spec = LabelSweepSpec {
                payload_bytes: bytes as u8,
                is_generated: payload.is_none() && pass == 0,
                threads: threads as u16,
                blocks: blocks_per_sm as u8,
                items: items as u8,
            };
            let tiles = n.div_ceil(spec.tile_items());
            let state = GpuArray::empty(ctx, &[64 + 4 * RADIX_BINS * tiles], DType::U8, Order::C)?;
            state.memset_zero()?;
            let next = [new(DType::U32)?, new(dtype)?];
            let mut args = LaunchArgs::new();
            for array in [&next[0], &now[0], &next[1], &now[1]] {
                args.push_address(array.first_element_address(), 0);
            }
            args.push_address(self.begins.first_element_address(), 4 * RADIX_BINS * pass);
            args.push_address(state.first_element_address(), 0);
            args.push_u64(n as u64);
            [self.shift + 8 * pass as u32, self.limit as u32].iter().for_each(|&n| args.push_u32(n));
            ctx.launch(&spec, tiles as u32, spec.threads.into(), &args)?;
            now = next;
        }
        Ok(now)
    }
}

/// Sorts the rows of a contiguous array, and their places if there are to be any.
fn radix_sort(
    source: &GpuArray,
    rows: usize,
    descending: bool,
    indices: bool,
    most_passes: Option<usize>,
) -> Result<(GpuArray, Option<GpuArray>)> {
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
            passes: most_passes.map_or(dtype.itemsize(), |most| most.min(dtype.itemsize())),
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
    /// Digits that are sorted by, from the lowest one.
    passes: usize,
}

impl RadixSortBuffers {
    fn radix_sort_row(&self, like: &GpuArray, descending: bool, indices: bool) -> Result<()> {
        let (ctx, dtype) = (like.context(), like.dtype());
        let (digits, passes) = (dtype.itemsize(), self.passes);
        let problem = RadixProblem { itemsize: digits as i64, n: self.n as i64, indices };
        let RadixChoice { threads, items, blocks_per_sm } = ctx.choose(&problem);
        let (threads, items, blocks) = (threads as u16, items as u8, blocks_per_sm as u8);
        let kernel = |stage| RadixSpec { dtype, descending, threads, blocks, items, stage };
        let tiles = self.n.div_ceil(kernel(RadixStage::Histogram).tile_items());
        let begins = GpuArray::empty(ctx, &[4 * RADIX_BINS * digits + 64], DType::U8, Order::C)?;
        let (counts, ticket) =
            (begins.first_element_address(), begins.first_element_address() + (4 * RADIX_BINS * digits) as u64);
        ctx.queue().fill_zero(counts, begins.size())?;
        let mut args = LaunchArgs::new();
        [counts, ticket, self.source].iter().for_each(|&ptr| args.push_address(ptr, 0));
        args.push_u64(self.n as u64);
        let blocks = ctx.device_info().resident_blocks().clamp(1, tiles) as u32;
        ctx.launch(&kernel(RadixStage::Histogram), blocks, RADIX_HISTOGRAM_THREADS, &args)?;
        let state = GpuArray::empty(ctx, &[64 + 4 * RADIX_BINS * tiles], DType::U8, Order::C)?;
        for pass in 0..passes {
            ctx.queue().fill_zero(state.first_element_address(), state.size())?;
            let last = pass + 1 == passes;
            let payload = match (indices, pass) {
                (false, _) => SortPayload::None,
                (true, 0) => SortPayload::Generated,
                (true, _) => SortPayload::Carried,
            };
            let side = (passes - 1 - pass) % 2;
            let from = if pass == 0 { self.source } else { self.keys[1 - side] };
            let places = if last { self.places } else { self.between[side] };
            let mut args = LaunchArgs::new();
            let counts = counts + (4 * RADIX_BINS * pass) as u64;
            [self.keys[side], from, places, self.between[1 - side], counts, state.first_element_address()]
                .iter()
                .for_each(|&ptr| args.push_address(ptr, 0));
            args.push_u64(self.n as u64);
            args.push_u32(8 * pass as u32);
            let sweep = kernel(RadixStage::Sweep { payload, last });
            ctx.launch(&sweep, tiles as u32, sweep.threads.into(), &args)?;
        }
        Ok(())
    }
}
