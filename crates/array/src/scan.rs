//! Running sums, products, maxima and minima.

use crate::array::GpuArray;
use crate::error::Result;
use crate::launch::{Args, BLOCK_THREADS};
use crate::layout::Order;
use rtcg_codegen::array::{ArrayKernel, SCAN_THREADS, SCAN_TILE, Scan, ScanOp, ScanStage};
use rtcg_codegen::{DType, Kind};

/// An array seen as (outer, n, inner).
#[derive(Debug, Clone, Copy)]
struct Rows {
    outer: usize,
    n: usize,
    inner: usize,
}

impl GpuArray {
    /// Running totals along `axis`; sums and products of small integers are computed in 64 bits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn cumulative(&self, op: ScanOp, axis: usize, dtype: Option<DType>) -> Result<GpuArray> {
        let widened = match (op, self.dtype().kind()) {
            (ScanOp::Sum | ScanOp::Product, Kind::Bool | Kind::Signed) => DType::I64,
            (ScanOp::Sum | ScanOp::Product, Kind::Unsigned) => DType::U64,
            _ => self.dtype(),
        };
        let dtype = dtype.unwrap_or(widened);
        self.check_memory()?;
        let source = self.to_contiguous()?;
        let out = GpuArray::empty(self.context(), self.shape(), dtype, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        let rows = Rows {
            outer: self.shape()[..axis].iter().product(),
            n: self.shape()[axis],
            inner: self.shape()[axis + 1..].iter().product(),
        };
        scan(op, &source, &out, rows)?;
        Ok(out)
    }
}

fn scan(op: ScanOp, x: &GpuArray, out: &GpuArray, rows: Rows) -> Result<()> {
    let ctx = x.context();
    let n_rows = rows.outer * rows.inner;
    let kernel = |stage| Scan { op, x: x.dtype(), out: out.dtype(), stage };
    let push_rows = |args: &mut Args| {
        [rows.outer, rows.n, rows.inner].iter().for_each(|&n| args.push_u64(n as u64));
    };
    // Rows that fill the device, or are short, are not worth cutting.
    let enough = ctx.facts().max_blocks as usize * BLOCK_THREADS as usize / 8;
    if rows.n <= 64 || n_rows >= enough {
        let mut args = Args::new();
        [out.start(), x.start()].iter().for_each(|&ptr| args.push_u64(ptr));
        push_rows(&mut args);
        let compiled = ctx.kernel(&ArrayKernel::Scan(kernel(ScanStage::Rows)))?;
        return compiled.launch([ctx.facts().blocks_for(n_rows), 1, 1], [BLOCK_THREADS, 1, 1], 0, args.bytes());
    }
    let tiles = rows.n.div_ceil(SCAN_TILE);
    let totals = GpuArray::empty(ctx, &[n_rows, tiles], out.dtype(), Order::C)?;
    let mut args = Args::new();
    [out.start(), x.start(), totals.start()].iter().for_each(|&ptr| args.push_u64(ptr));
    push_rows(&mut args);
    args.push_u64(tiles as u64);
    let compiled = ctx.kernel(&ArrayKernel::Scan(kernel(ScanStage::Tiles)))?;
    let blocks = (n_rows * tiles).min(ctx.facts().max_blocks as usize) as u32;
    compiled.launch([blocks, 1, 1], [SCAN_THREADS, 1, 1], 0, args.bytes())?;
    if tiles == 1 {
        return Ok(());
    }
    let before = GpuArray::empty(ctx, &[n_rows, tiles], out.dtype(), Order::C)?;
    scan(op, &totals, &before, Rows { outer: n_rows, n: tiles, inner: 1 })?;
    let mut args = Args::new();
    [out.start(), before.start()].iter().for_each(|&ptr| args.push_u64(ptr));
    push_rows(&mut args);
    args.push_u64(tiles as u64);
    let add = Scan { x: out.dtype(), ..kernel(ScanStage::Add) };
    let compiled = ctx.kernel(&ArrayKernel::Scan(add))?;
    compiled.launch([ctx.facts().blocks_for(out.size()), 1, 1], [BLOCK_THREADS, 1, 1], 0, args.bytes())
}
