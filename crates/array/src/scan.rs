//! Scans: cumulative sums, products, maxima and minima.

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::{BLOCK_THREADS, PackedKernelArgs};
use crate::layout::Order;
use rtcg_codegen::array::{ScanOp, ScanSpec, ScanStage};
use rtcg_codegen::scan::{ScanPipeline, ScanTiling, scan_state_bytes};
use rtcg_codegen::{DType, DTypeKind};

/// An array seen as (outer, n, inner).
#[derive(Debug, Clone, Copy)]
struct ScanRows {
    outer: usize,
    n: usize,
    inner: usize,
}

impl GpuArray {
    /// Cumulative sums and products along `axis`; sums and products of small integers are computed in 64 bits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn cumulative(&self, op: ScanOp, axis: usize, dtype: Option<DType>) -> Result<GpuArray> {
        let widened = match (op, self.dtype().kind()) {
            (ScanOp::Sum | ScanOp::Product, DTypeKind::Bool | DTypeKind::Signed) => DType::I64,
            (ScanOp::Sum | ScanOp::Product, DTypeKind::Unsigned) => DType::U64,
            _ => self.dtype(),
        };
        let dtype = dtype.unwrap_or(widened);
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

fn launch_scan(op: ScanOp, x: &GpuArray, out: &GpuArray, rows: ScanRows) -> Result<()> {
    let ctx = x.context();
    let n_rows = rows.outer * rows.inner;
    let kernel = |stage| ScanSpec { op, x: x.dtype(), out: out.dtype(), stage };
    let push_rows = |args: &mut PackedKernelArgs| {
        [rows.outer, rows.n, rows.inner].iter().for_each(|&n| args.push_u64(n as u64));
    };
    // Rows that fill the device, or are short, are not worth cutting.
    let enough = ctx.device_info().max_blocks as usize * BLOCK_THREADS as usize / 8;
    let is_short = rows.n <= 64 || (n_rows >= enough && (rows.inner > 1 || rows.n < 1024));
    if is_short {
        let mut args = PackedKernelArgs::new();
        [out.first_element_address(), x.first_element_address()].iter().for_each(|&ptr| args.push_u64(ptr));
        push_rows(&mut args);
        let compiled = ctx.compiled_kernel(&kernel(ScanStage::Rows))?;
        return compiled.launch(
            [ctx.device_info().grid_block_count(n_rows), 1, 1],
            [BLOCK_THREADS, 1, 1],
            0,
            args.packed_bytes(),
        );
    }
    let item_bytes = kernel(ScanStage::Rows).item_bytes();
    let shape = ScanTiling::new(item_bytes, pack_size(x, out, rows), !ctx.device_info().is_simd_cpu());
    let tiles = rows.n.div_ceil(shape.tile_items());
    let blocks = u32::try_from(n_rows * tiles).ok().filter(|&blocks| blocks <= i32::MAX as u32);
    let blocks =
        blocks.ok_or_else(|| ArrayError::value_error(format!("{} elements are too many to scan", x.size())))?;
    let (cleared, all) = scan_state_bytes(item_bytes, n_rows * tiles);
    let state = GpuArray::empty(ctx, &[all], DType::U8, Order::C)?;
    if tiles > 1 {
        ctx.device_runtime().memset_zero(state.first_element_address(), cleared)?;
    }
    let mut args = PackedKernelArgs::new();
    [out.first_element_address(), x.first_element_address()].iter().for_each(|&ptr| args.push_u64(ptr));
    push_rows(&mut args);
    args.push_u64(tiles as u64);
    args.push_u64(state.first_element_address());
    let staying = ScanPipeline::pipeline_block_count(blocks as usize, ctx.device_info().multiprocessors)
        .zip(scan_pipeline(x, rows, shape, item_bytes));
    let compiled = ctx.compiled_kernel(&kernel(ScanStage::Tiles(shape, staying.map(|(_, pipeline)| pipeline))))?;
    let (blocks, threads, shared) = match staying {
        Some((blocks, pipeline)) => (blocks, pipeline.threads_per_block(shape), pipeline.shared_bytes()),
        None => (blocks, shape.threads, 0),
    };
    compiled.launch([blocks, 1, 1], [threads, 1, 1], shared, args.packed_bytes())
}

/// The pipeline of a scan whose rows may be copied in bulk.
fn scan_pipeline(x: &GpuArray, rows: ScanRows, shape: ScanTiling, item_bytes: usize) -> Option<ScanPipeline> {
    let is_placed =
        x.first_element_address().is_multiple_of(16) && (rows.outer == 1 || (rows.n * x.itemsize()).is_multiple_of(16));
    let pipeline = ScanPipeline::new(shape, item_bytes, x.itemsize(), x.context().device_info().bulk_copy_smem_bytes);
    pipeline.filter(|_| is_placed && rows.inner == 1)
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
