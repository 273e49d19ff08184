//! Products of floats by tensor cores for bytes, on devices that have `wgmma`.

use super::tiles::{self, tensor_boxes};
use crate::array::GpuArray;
use crate::layout::Order;
use crate::views::Index;
use rtcg_codegen::array::{
    EMULATION_MAX_TERMS, EMULATION_SCALE_VECTORS, EMULATION_VECTOR_BYTES, EmulationJoin, EmulationSplit, ResidueMatmul,
    emulation_norm_limit, emulation_planes, emulation_split_threads,
};
use rtcg_hal::{ArrayContext, DType, LaunchArgs, Result, TensorBoxes, TensorMap};
use std::sync::Arc;

/// Rows, columns and terms from which on integers may take less time than floats.
const MIN_EXTENT: usize = 512;
/// Bytes of planes that rows of the first factor have at once.
const MAX_PLANE_BYTES: usize = 4 << 30;
/// The error may be so many times the unit roundoff times the root of the number of terms, of the product of absolute
/// values.
const MAX_ERROR: f64 = 2.0;

/// How a product of floats is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// By instructions of the dtype. The error is at most `k u` times the product of absolute values, with `k` terms and
    /// the unit roundoff `u` (2^-53 of float64 and complex128, 2^-24 of float32 and complex64; 16-bit floats have sums in
    /// float32, rounded once).
    #[default]
    Native,
    /// Of float32, float64, complex64 and complex128 by integers on tensor cores, where that takes less time: on
    /// compute capability 9.0, if the environment has `RTCG_TENSOR_COPIES=1`, of matrices with at least 512 rows, columns
    /// and terms, and at most 32768 terms. The error is at most `2 sqrt(k) u` times the product of absolute values, plus
    /// one rounding of the result. Factors of integers have exact products, but for that rounding, if the norms of rows
    /// and columns are less than some 2^53 (2^25 in single precision). Elements for which that bound
    /// cannot be shown (rows whose largest elements meet small ones only, infinities, what is not a number) are
    /// computed natively.
    Emulated,
}

/// What is known of a factor's rows or columns, and its planes.
struct Factor {
    vectors: GpuArray,
    planes: GpuArray,
    /// Rows or columns, and those of a plane.
    count: usize,
    lines: usize,
    /// Bytes of a row of a plane.
    pitch: usize,
}

fn bytes(ctx: &Arc<ArrayContext>, count: usize) -> Result<GpuArray> {
    GpuArray::empty(ctx, &[count], DType::U8, Order::C)
}

impl Factor {
    /// `common` is the axis that is summed over: 0 of rows, 1 of columns.
    fn new(matrix: &GpuArray, common: usize) -> Result<Self> {
        let (ctx, dtype) = (matrix.context(), matrix.dtype());
        let (count, k) = (matrix.shape()[1 - common], matrix.shape()[common]);
        let is_second = common == 0;
        let lines = if is_second { count.next_multiple_of(64) } else { count };
        let pitch = k.next_multiple_of(16);
        let [across, along] = [1 - common, common].map(|axis| matrix.strides()[axis] as i64);
        let vectors = bytes(ctx, count * EMULATION_VECTOR_BYTES)?;
        let planes = bytes(ctx, (emulation_planes(dtype) + 1) * lines * pitch)?;
        let is_k_contiguous = along.unsigned_abs() <= across.unsigned_abs();
        let scale = EmulationSplit { dtype, divides: false, is_k_contiguous, is_second };
        // Both kernels are told where the factor is, and how long.
        let push_factor = |args: &mut LaunchArgs| {
            [&vectors, matrix].iter().for_each(|array| args.push_address(array.first_element_address(), 0));
            [count, k].iter().for_each(|&n| args.push_u64(n as u64));
            [across, along].iter().for_each(|&stride| args.push_i64(stride));
        };
        let mut args = LaunchArgs::new();
        push_factor(&mut args);
        args.push(&emulation_norm_limit(dtype, k).to_ne_bytes(), 8);
        ctx.launch(&scale, count.div_ceil(EMULATION_SCALE_VECTORS) as u32, 256, &args)?;
        let mut args = LaunchArgs::new();
        args.push_address(planes.first_element_address(), 0);
        push_factor(&mut args);
        [lines * pitch, pitch].iter().for_each(|&n| args.push_u64(n as u64));
        let threads = emulation_split_threads(dtype);
        let grid = [k.div_ceil(threads as usize / 4) as u32, count.div_ceil(64) as u32, 1];
        ctx.launch_grid(&EmulationSplit { divides: true, ..scale }, grid, [threads, 1, 1], 0, &args)?;
        Ok(Self { vectors, planes, count, lines, pitch })
    }

    /// The tensor map of `count` planes from `first` on, boxes of which have `lines`.
    fn map(&self, k: usize, [first, count]: [usize; 2], lines: usize) -> Option<TensorMap> {
        let plane = self.lines * self.pitch;
        let address = self.planes.first_element_address() + (first * plane) as u64;
        let strides = [self.pitch, plane].map(|stride| stride as i64);
        let boxes = tensor_boxes(DType::U8, address, [k, self.lines, count], strides, lines)?;
        self.planes.context().device().tensor_map(&boxes)
    }
}

/// Whether the device multiplies such matrices, or stacks of them, by integers.
pub(super) fn can_emulate(out: &GpuArray, a: &GpuArray, b: &GpuArray, [m, n, k]: [usize; 3]) -> bool {
    let (dtype, ctx) = (a.dtype(), a.context());
    let is_float = matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let is_worth_it = m.min(n).min(k) >= MIN_EXTENT && k <= EMULATION_MAX_TERMS;
    let is_aligned = [a, b].iter().all(|factor| factor.is_aligned() && tiles::is_itemsize_aligned(factor));
    if !is_float || !is_worth_it || !is_aligned || ctx.device_info().compute_capability != 90 {
        return false;
    }
    // The second factor is divided at once.
    let is_small = (emulation_planes(dtype) + 1) * n * k <= 4 * MAX_PLANE_BYTES && n <= 64 * tiles::MAX_GRID_Y;
    let address = out.first_element_address().next_multiple_of(16);
    let boxes = TensorBoxes { dtype: DType::U8, address, extents: [16, 1, 1], byte_strides: [16; 2], lines: 1 };
    is_small && ctx.device().tensor_map(&boxes).is_some()
}

/// Computes `out`, a matrix of adjacent rows, if the device can; whether it did.
pub(super) fn try_emulate(out: &GpuArray, a: &GpuArray, b: &GpuArray) -> Result<bool> {
    let (&[m, k], &[_, n]) = (a.shape(), b.shape()) else { return Ok(false) };
    let planes = emulation_planes(a.dtype());
    let row_bytes = (planes + 1) * (k + n);
    let rows = (MAX_PLANE_BYTES / row_bytes).max(MIN_EXTENT) / 128 * 128;
    let second = Factor::new(b, 0)?;
    for begin in (0..m).step_by(rows) {
        let range = Index::from(begin as isize..(begin + rows).min(m) as isize);
        let (part, out) = (a.index(std::slice::from_ref(&range))?, out.index(std::slice::from_ref(&range))?);
        if !emulate_rows(&out, (&part, b), &second, planes)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn emulate_rows(out: &GpuArray, (a, b): (&GpuArray, &GpuArray), second: &Factor, planes: usize) -> Result<bool> {
    let (ctx, dtype, [m, k], n) = (a.context(), a.dtype(), [a.shape()[0], a.shape()[1]], second.count);
    let first = Factor::new(a, 1)?;
    let residues = bytes(ctx, planes * m * second.lines)?;
    let marks = bytes(ctx, m.div_ceil(64) * n.div_ceil(64))?;
    marks.memset_zero()?;
    let multiprocessors = ctx.device_info().multiprocessors as usize;
    for kernel in [ResidueMatmul::Residues(dtype), ResidueMatmul::Marks] {
        let tiled = kernel.tiled();
        let [rows, columns] = tiled.tile.tile_extents();
        let (at, batches, to, width) = match kernel {
            ResidueMatmul::Residues(_) => (0, planes, &residues, second.lines),
            ResidueMatmul::Marks => (planes, 1, &marks, n),
        };
        let maps = [first.map(k, [at, batches], rows), second.map(k, [at, batches], columns)];
        let [Some(of_first), Some(of_second)] = maps else { return Ok(false) };
        let mut args = LaunchArgs::new();
        [of_first, of_second].iter().for_each(|map| args.push_tensor_map(map));
        args.push_address(to.first_element_address(), 0);
        [m, width, k].iter().for_each(|&n| args.push_u64(n as u64));
        args.push_u32(batches as u32);
        args.push_u32(1);
        args.push_u32(1);
        if kernel == ResidueMatmul::Marks {
            [&first, second].iter().for_each(|factor| args.push_address(factor.vectors.first_element_address(), 0));
            let roundoff = if dtype.real_part() == DType::F32 { -24.0 } else { -53.0 };
            // Both parts of a complex number are rounded.
            let parts: f64 = if dtype.is_complex() { 2.0 } else { 1.0 };
            let tolerance = MAX_ERROR * (k as f64 / parts).sqrt() * (roundoff + emulation_norm_limit(dtype, k)).exp2();
            args.push(&(tolerance as f32).to_ne_bytes(), 4);
        }
        let tiles = m.div_ceil(rows) * width.div_ceil(columns) * batches;
        let grid = [tiles.min(multiprocessors) as u32, 1, 1];
        let block = [tiled.tile.threads_per_block(), 1, 1];
        ctx.launch_grid(&kernel, grid, block, tiled.shared_bytes() as u32, &args)?;
    }
    let mut args = LaunchArgs::new();
    [out, &residues, &first.vectors, &second.vectors]
        .iter()
        .for_each(|array| args.push_address(array.first_element_address(), 0));
    [m, n, second.lines].iter().for_each(|&n| args.push_u64(n as u64));
    let blocks = (m * second.lines / 4).div_ceil(256).min(32 * multiprocessors) as u32;
    ctx.launch(&EmulationJoin(dtype), blocks, 256, &args)?;
    tiles::launch_marked(out, a, b, &marks)
}
