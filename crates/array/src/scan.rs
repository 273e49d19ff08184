//! Scans: cumulative sums, products, maxima and minima.

use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_codegen::array::{ScanOp, ScanSpec, ScanStage};
use rtcg_codegen::scan::{ScanChoice, ScanPipeline, ScanProblem, scan_state_bytes};
use rtcg_hal::{ArrayError, BLOCK_THREADS, DType, DTypeKind, DeviceInfo, LaunchArgs, Result, tunable};

/// An array seen as (outer, n, inner).
#[derive(Debug, Clone, Copy)]
struct ScanRows {
    outer: usize,
    n: usize,
    inner: usize,
}

impl GpuArray {
    /// Computes cumulative sums, products, maxima or minima along `axis`; sums and products of small integers use 64
    /// bits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn cumulative(&self, op: ScanOp, axis: usize, dtype: Option<DType>) -> Result<GpuArray> {
        let dtype = dtype.unwrap_or_else(|| widened_dtype(op, self.dtype()));
        self.check_memory()?;
        let source = self.to_contiguous()?;
        let out = GpuArray::empty(self.context(), self.shape(), dtype, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        let rows = ScanRows {
            outer: self.shape()[..axis].iter().product(),
            n: self.shape()[axis],
            inner: self.shape()[axis + 1..].iter().product(),
        };
        launch_scan(op, &source, &out, rows)?;
        Ok(out)
    }
}

/// The dtype of sums and products of small integers, which are computed in 64 bits.
pub(crate) fn widened_dtype(op: ScanOp, dtype: DType) -> DType {
    match (op, dtype.kind()) {
        (ScanOp::Sum | ScanOp::Product, DTypeKind::Bool | DTypeKind::Signed) => DType::I64,
        (ScanOp::Sum | ScanOp::Product, DTypeKind::Unsigned) => DType::U64,
        _ => dtype,
    }
}

tunable! {
    /// The kernel of a scan.
    pub(crate) ScanRoute = "scan.route";
    /// Rows of `n` elements.
    problem ScanRouteProblem {
        /// Number of outer rows.
        outer: i64 = PowerOfTwo,
        /// Elements per row.
        n: i64 = PowerOfTwo,
        /// Number of interleaved rows.
        inner: i64 = PowerOfTwo,
        /// Bytes per item while it is combined.
        item_bytes: i64 = Exact,
    }
    parameters {
        /// `rows` uses one thread per row, `tiles` one block per part of a row.
        kernel: &'static str = ["rows", "tiles"],
    }
    device {}
    require {
        kernel == "rows" || outer * inner * (n / 32 + 1) <= 2147483647;
    }
    rule scan_route_rule;
}

fn scan_route_rule(problem: &ScanRouteProblem, device_info: &DeviceInfo) -> ScanRoute {
    let ScanRouteProblem { outer, n, inner, .. } = *problem;
    // Rows that fill the device, or are short, are not worth cutting.
    let enough = i64::from(device_info.max_blocks) * i64::from(BLOCK_THREADS) / 8;
    let is_short = n <= 64 || (outer * inner >= enough && (inner > 1 || n < 1024));
    ScanRoute { kernel: if is_short { "rows" } else { "tiles" } }
}

fn launch_scan(op: ScanOp, x: &GpuArray, out: &GpuArray, rows: ScanRows) -> Result<()> {
    let ctx = x.context();
    let n_rows = rows.outer * rows.inner;
    let kernel = |stage| ScanSpec { op, x: x.dtype(), out: out.dtype(), stage };
    let push_rows = |args: &mut LaunchArgs| {
        [rows.outer, rows.n, rows.inner].iter().for_each(|&n| args.push_u64(n as u64));
    };
    let item_bytes = kernel(ScanStage::Rows).item_bytes();
    let [outer, n, inner] = [rows.outer, rows.n, rows.inner].map(|length| length as i64);
    let problem = ScanRouteProblem { outer, n, inner, item_bytes: item_bytes as i64 };
    if ctx.choose::<ScanRoute>(&problem).kernel == "rows" {
        let mut args = LaunchArgs::new();
        [out, x].iter().for_each(|array| args.push_address(array.first_element_address(), 0));
        push_rows(&mut args);
        return ctx.launch(&kernel(ScanStage::Rows), ctx.device_info().grid_block_count(n_rows), BLOCK_THREADS, &args);
    }
    let pack = pack_size(x, out, rows);
    let (element_bytes, item_bytes_of) = (x.itemsize() as i64, item_bytes as i64);
    let problem = ScanProblem { outer, n, inner, element_bytes, item_bytes: item_bytes_of, pack: pack as i64 };
    let choice: ScanChoice = ctx.choose(&problem);
    let shape = choice.tiling(pack);
    let tiles = rows.n.div_ceil(shape.tile_items());
    let blocks = u32::try_from(n_rows * tiles).ok().filter(|&blocks| blocks <= i32::MAX as u32);
    let blocks =
        blocks.ok_or_else(|| ArrayError::value_error(format!("{} elements are too many to scan", x.size())))?;
    let (cleared, all) = scan_state_bytes(item_bytes, n_rows * tiles);
    let state = GpuArray::empty(ctx, &[all], DType::U8, Order::C)?;
    let min_tiles = choice.min_tiles as usize;
    let staying = ScanPipeline::pipeline_block_count(blocks as usize, ctx.device_info().multiprocessors, min_tiles)
        .zip(scan_pipeline(x, rows, &choice, [item_bytes, pack]));
    // Blocks that stay take the numbers of tiles from it, however few tiles rows have.
    if tiles > 1 || staying.is_some() {
        ctx.queue().fill_zero(state.first_element_address(), cleared)?;
    }
    let mut args = LaunchArgs::new();
    [out, x].iter().for_each(|array| args.push_address(array.first_element_address(), 0));
    push_rows(&mut args);
    args.push_u64(tiles as u64);
    args.push_address(state.first_element_address(), 0);
    let compiled = ctx.compiled_kernel(&kernel(ScanStage::Tiles(shape, staying.map(|(_, pipeline)| pipeline))))?;
    let (blocks, threads, shared) = match staying {
        Some((blocks, pipeline)) => (blocks, pipeline.threads_per_block(shape), pipeline.shared_bytes()),
        None => (blocks, shape.threads, 0),
    };
    ctx.queue().launch(&compiled, [blocks, 1, 1], [threads, 1, 1], shared, args.view())
}

/// The pipeline of a scan whose rows may be copied in bulk.
fn scan_pipeline(
    x: &GpuArray,
    rows: ScanRows,
    choice: &ScanChoice,
    [item_bytes, pack_size]: [usize; 2],
) -> Option<ScanPipeline> {
    let is_placed =
        x.first_element_address().is_multiple_of(16) && (rows.outer == 1 || (rows.n * x.itemsize()).is_multiple_of(16));
    let room = x.context().device_info().bulk_copy_smem_bytes;
    let numbers = [choice.reducer_warps as u32, choice.max_stages as u32];
    let shape = choice.tiling(pack_size);
    let pipeline = ScanPipeline::with_warps(shape, item_bytes, x.itemsize(), room, numbers);
    pipeline.filter(|_| choice.pipelined && is_placed && rows.inner == 1)
}

/// Adjacent elements that a thread may read and write at once.
fn pack_size(x: &GpuArray, out: &GpuArray, rows: ScanRows) -> usize {
    let widest = x.itemsize().max(out.itemsize());
    let pack_size = x.context().device_info().vector_bytes as usize / widest;
    let is_placed = |array: &GpuArray| {
        let bytes = pack_size * array.itemsize();
        array.first_element_address().is_multiple_of(bytes as u64)
            && (rows.outer == 1 || (rows.n * array.itemsize()).is_multiple_of(bytes))
    };
    let allowed = rows.inner == 1 && pack_size > 1 && pack_size.is_power_of_two() && is_placed(x) && is_placed(out);
    if allowed { pack_size } else { 1 }
}
