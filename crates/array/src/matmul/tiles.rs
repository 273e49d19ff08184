//! Products by large tiles, on GPUs of compute capability 8.0 and later: the choice of the tile, the operands to copy
//! first, and the launch.

use super::{MatmulTarget, batch_layout, batch_offsets};
use crate::array::GpuArray;
use crate::layout::{Layout, Order, Shape};
use crate::views::Index;
use rtcg_codegen::array::{ArgminMatmul, MarkedMatmul, MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};
use rtcg_hal::{ArrayContext, DType, DeviceInfo, Kernel, LaunchArgs, Result, TensorBoxes, TensorMap, tunable};
use std::sync::Arc;

/// Copies to shared memory are best of so many bytes, which addresses then are multiples of.
const VECTOR_COPY_BYTES: usize = 16;
/// Products of elements from which on two operands and a result are worth to be converted.
const MIN_CONVERTED_ELEMENTS: usize = 1 << 22;
/// Most blocks of a grid along y.
pub(super) const MAX_GRID_Y: usize = 65535;

/// Multiplies if the device is one for tiles; whether it did.
pub(super) fn try_launch_tiled(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    extents: [usize; 3],
) -> Result<bool> {
    let out = target.out;
    let device_info = out.context().device_info();
    if !supports_tiles(device_info) {
        return Ok(false);
    }
    match a.dtype() {
        DType::Bool | DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
            if target.epilogue.is_some() || out.size().saturating_mul(extents[2]) < MIN_CONVERTED_ELEMENTS {
                return Ok(false);
            }
            // The low bits of sums of products are the same however wide these are.
            let wide = GpuArray::empty(out.context(), out.shape(), DType::I32, Order::C)?;
            let is_done = try_launch_tiled(
                MatmulTarget::new(&wide),
                &a.astype(DType::I32)?,
                &b.astype(DType::I32)?,
                batch,
                extents,
            )?;
            if is_done {
                out.assign(&wide)?;
            }
            Ok(is_done)
        }
        dtype => match choose_tile(out.context(), dtype, batch.iter().product(), extents) {
            Some(tile) => TiledProblem::new(target, a, b, (batch, extents), tile)?.launch_tiled(extents).map(|()| true),
            None => Ok(false),
        },
    }
}

/// Writes, for each row of `a` (m x k), the key whose lower half is the column of `b` (k x n) with the least
/// `bias[column] - 2 * product` to `keys` (uint64), if the device multiplies such arrays by tiles; whether it did.
pub(super) fn try_launch_argmin(keys: &GpuArray, a: &GpuArray, b: &GpuArray, bias: &GpuArray) -> Result<bool> {
    let ctx = keys.context();
    let extents = [a.shape()[0], b.shape()[1], a.shape()[1]];
    if !supports_tiles(ctx.device_info()) || !matches!(a.dtype(), DType::F16 | DType::BF16 | DType::F32) {
        return Ok(false);
    }
    let Some(tile) = choose_tile(ctx, a.dtype(), 1, extents) else { return Ok(false) };
    let problem = TiledProblem::new(MatmulTarget::new(keys), a, b, (&[], extents), tile)?;
    let kernel = ArgminMatmul(TiledMatmul { is_sum: false, ..problem.kernel });
    if let Some(tensor_maps) = &problem.tensor_maps {
        let mut args = problem.pack_tensor_args(tensor_maps, extents);
        args.push_address(bias.first_element_address(), 0);
        return problem
            .launch_persistent(&ctx.compiled_kernel(&kernel)?, [extents[0], extents[1]], &args)
            .map(|()| true);
    }
    let mut args = problem.pack_args_from_batch(extents, 0);
    args.push_address(bias.first_element_address(), 0);
    let tile = problem.kernel.tile;
    let [rows, columns] = tile.tile_extents();
    let tiles = (extents[0].div_ceil(rows) * extents[1].div_ceil(columns)) as u32;
    let block = [tile.threads_per_block(), 1, 1];
    ctx.launch_grid(&kernel, [tiles, 1, 1], block, problem.kernel.shared_bytes() as u32, &args)?;
    Ok(true)
}

/// Computes the parts of a product that are marked, one byte for 64 x 64 elements, if the device multiplies such arrays by
/// tiles; whether it does.
pub(super) fn launch_marked(out: &GpuArray, a: &GpuArray, b: &GpuArray, marks: &GpuArray) -> Result<bool> {
    let ctx = out.context();
    let extents = [a.shape()[0], b.shape()[1], a.shape()[1]];
    let Some(tile) = choose_tile(ctx, a.dtype(), 1, extents) else { return Ok(false) };
    let problem = TiledProblem::new(MatmulTarget::new(out), a, b, (&[], extents), tile)?;
    let mut args = problem.pack_args_from_batch(extents, 0);
    args.push_address(marks.first_element_address(), 0);
    let kernel = problem.kernel;
    let [rows, columns] = kernel.tile.tile_extents();
    let tiles = (extents[0].div_ceil(rows) * extents[1].div_ceil(columns)) as u32;
    let block = [kernel.tile.threads_per_block(), 1, 1];
    ctx.launch_grid(&MarkedMatmul(kernel), [tiles, 1, 1], block, kernel.shared_bytes() as u32, &args)?;
    Ok(true)
}

/// Whether the device is one for tiles.
pub(super) fn supports_tiles(device_info: DeviceInfo) -> bool {
    !device_info.is_simd_cpu() && device_info.compute_capability >= 80
}

/// Whether small tiles have more rows than columns.
pub(super) fn prefers_tall_tiles(device_info: DeviceInfo, dtype: DType) -> bool {
    supports_tiles(device_info) && dtype == DType::F64
}

/// Blocks of the tile that is chosen for a product.
pub(super) fn n_blocks(ctx: &ArrayContext, dtype: DType, batches: usize, extents: [usize; 3]) -> Option<usize> {
    supports_tiles(ctx.device_info()).then_some(())?;
    let [rows, columns] = choose_tile(ctx, dtype, batches, extents)?.tile_extents();
    Some(extents[0].div_ceil(rows) * extents[1].div_ceil(columns) * batches)
}

/// A tile, and how fast a multiprocessor is with as many blocks as it runs at once, and with one, beside the fastest tile.
/// As measured on an H200.
struct TileCandidate {
    tile: MatmulTile,
    throughput_full: f64,
    throughput_single: f64,
}

impl TileCandidate {
    /// The time that a product takes: of all blocks of the multiprocessor that gets most.
    fn estimated_time(&self, device_info: DeviceInfo, batches: usize, [m, n, _]: [usize; 3]) -> f64 {
        let [rows, columns] = self.tile.tile_extents();
        let blocks = m.div_ceil(rows) * n.div_ceil(columns) * batches;
        let waves = blocks.div_ceil(device_info.multiprocessors.max(1) as usize);
        let others = f64::from(self.tile.blocks_per_sm - 1).max(1.0);
        let co_resident = ((waves - 1) as f64 / others).min(1.0);
        (waves * rows * columns) as f64
            / (self.throughput_single + (self.throughput_full - self.throughput_single) * co_resident)
    }

    fn fits_device(&self, device_info: DeviceInfo, dtype: DType) -> bool {
        let operand = MatmulOperand { is_k_contiguous: true, is_vectorizable: true };
        let kernel = TiledMatmul { dtype, is_sum: false, tile: self.tile, a: operand, b: operand, stores_boxes: false };
        let has_unit = match self.tile.unit {
            MatmulUnit::Wgmma => device_info.compute_capability == 90,
            MatmulUnit::Dmma { rows: 16, .. } => device_info.compute_capability >= 90,
            _ => true,
        };
        has_unit && kernel.shared_bytes() <= device_info.shared_bytes as usize
    }
}

/// Warps (or warpgroups), the part of each, the depth of a stage, stages, blocks that run at once.
type TileShape = ([u8; 2], [u16; 2], u8, u8, u8);

const fn new_candidate(
    unit: MatmulUnit,
    shape: TileShape,
    throughput_full: f64,
    throughput_single: f64,
) -> TileCandidate {
    let (warps, part, depth, stages, blocks_per_sm) = shape;
    TileCandidate {
        tile: MatmulTile { unit, warps, part, depth, stages, blocks_per_sm },
        throughput_full,
        throughput_single,
    }
}

const SIMT_UNIT: MatmulUnit = MatmulUnit::Simt;
const DMMA_M8_UNIT: MatmulUnit = MatmulUnit::Dmma { rows: 8, depth: 4 };
const DMMA_M16_UNIT: MatmulUnit = MatmulUnit::Dmma { rows: 16, depth: 8 };
const DMMA_M16_K16_UNIT: MatmulUnit = MatmulUnit::Dmma { rows: 16, depth: 16 };

const F32_TILES: &[TileCandidate] = &[
    new_candidate(SIMT_UNIT, ([2, 2], [16, 8], 8, 4, 2), 1.06, 0.86),
    new_candidate(SIMT_UNIT, ([4, 2], [8, 8], 16, 3, 2), 1.0, 0.92),
    new_candidate(SIMT_UNIT, ([2, 2], [8, 8], 16, 3, 3), 0.98, 0.78),
    new_candidate(SIMT_UNIT, ([2, 2], [8, 4], 16, 3, 4), 0.87, 0.59),
    new_candidate(SIMT_UNIT, ([2, 2], [4, 4], 16, 4, 6), 0.72, 0.41),
];
const C64_TILES: &[TileCandidate] = &[
    new_candidate(SIMT_UNIT, ([4, 2], [8, 4], 16, 3, 2), 1.0, 0.9),
    new_candidate(SIMT_UNIT, ([2, 2], [4, 4], 16, 3, 4), 0.83, 0.45),
];
const F16_TILES: &[TileCandidate] = &[
    new_candidate(MatmulUnit::Wgmma, ([2, 1], [64, 256], 64, 4, 1), 1.63, 1.28),
    new_candidate(MatmulUnit::Wgmma, ([2, 1], [64, 128], 64, 5, 1), 1.28, 0.92),
    new_candidate(MatmulUnit::Wgmma, ([1, 1], [64, 128], 64, 4, 2), 1.12, 0.58),
    new_candidate(MatmulUnit::Wgmma, ([1, 1], [64, 64], 64, 4, 3), 0.87, 0.3),
    new_candidate(MatmulUnit::Mma16, ([2, 2], [64, 64], 64, 3, 2), 1.0, 0.65),
    new_candidate(MatmulUnit::Mma16, ([2, 2], [32, 64], 64, 4, 2), 0.85, 0.45),
    new_candidate(MatmulUnit::Mma16, ([2, 2], [32, 32], 64, 4, 3), 0.74, 0.25),
];
const F64_TILES: &[TileCandidate] = &[
    new_candidate(DMMA_M16_K16_UNIT, ([2, 2], [32, 32], 16, 4, 2), 1.0, 0.53),
    new_candidate(DMMA_M16_UNIT, ([2, 2], [32, 16], 16, 4, 3), 0.85, 0.37),
    new_candidate(DMMA_M8_UNIT, ([2, 2], [32, 32], 16, 4, 2), 0.5, 0.26),
    new_candidate(DMMA_M8_UNIT, ([2, 2], [32, 16], 16, 4, 3), 0.45, 0.2),
];
const C128_TILES: &[TileCandidate] = &[
    new_candidate(DMMA_M16_UNIT, ([2, 2], [32, 16], 8, 4, 3), 1.0, 0.53),
    new_candidate(DMMA_M16_UNIT, ([2, 2], [16, 16], 8, 4, 4), 0.96, 0.31),
    new_candidate(DMMA_M8_UNIT, ([2, 2], [32, 16], 8, 4, 3), 0.57, 0.3),
];

fn tile_candidates(dtype: DType) -> &'static [TileCandidate] {
    match dtype {
        DType::F32 | DType::I32 | DType::U32 => F32_TILES,
        DType::C64 | DType::I64 | DType::U64 => C64_TILES,
        DType::F16 | DType::BF16 => F16_TILES,
        DType::F64 => F64_TILES,
        DType::C128 => C128_TILES,
        _ => &[],
    }
}

tunable! {
    /// The tiles of products whose operands are copied to shared memory while earlier tiles are multiplied.
    pub(crate) TileChoice = "matmul.tile";
    /// A stack of products of matrices of `m` x `k` and `k` x `n` elements.
    problem TileProblem {
        /// The dtype of the operands.
        dtype: DType = Exact,
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of the result.
        m: i64 = PowerOfTwo,
        /// Columns of the result.
        n: i64 = PowerOfTwo,
        /// Inner length of the product.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// The unit that multiplies: threads, or tensor cores by an instruction (for doubles with its rows and depth).
        unit: &'static str = ["simt", "mma16", "wgmma", "dmma_m8_k4", "dmma_m16_k4", "dmma_m16_k8", "dmma_m16_k16"],
        /// Warps (or `wgmma` warpgroups) along rows.
        warps_m: i64 = [1, 2, 4],
        /// Warps (or `wgmma` warpgroups) along columns.
        warps_n: i64 = [1, 2, 4],
        /// Rows of the result per thread (`simt`), warp or warpgroup.
        part_m: i64 = [4, 8, 16, 32, 64],
        /// Columns of the result per thread (`simt`), warp or warpgroup.
        part_n: i64 = [4, 8, 16, 32, 64, 128, 256],
        /// Elements along `k` that are loaded at once.
        depth: i64 = [8, 16, 32, 64],
        /// Tiles of each operand in shared memory.
        stages: i64 = [2, 3, 4, 5],
        /// Blocks that should be resident on a multiprocessor at once.
        blocks_per_sm: i64 = [1, 2, 3, 4, 6],
    }
    device { compute_capability, shared_bytes }
    require {
        compute_capability >= 80;
        (itemsize == 2) == (unit == "mma16" || unit == "wgmma");
        unit == "simt" || itemsize == 2 || dtype == DType::F64 || dtype == DType::C128;
        unit != "wgmma" || compute_capability == 90;
        (unit != "dmma_m16_k4" && unit != "dmma_m16_k8" && unit != "dmma_m16_k16") || compute_capability >= 90;
        // Whole vectors, fragments or swizzled lines.
        unit != "simt" || part_m * itemsize % 16 == 0 && part_n * itemsize % 16 == 0;
        unit == "simt" || part_n % 8 == 0 && part_m % 8 == 0;
        unit == "simt" || unit == "dmma_m8_k4" || part_m % 16 == 0;
        unit != "mma16" || part_n % 16 == 0;
        itemsize != 2 || depth == 64 && warps_m * part_m % 64 == 0 && warps_n * part_n % 64 == 0;
        unit != "dmma_m16_k16" || depth % 16 == 0;
        unit != "wgmma" || warps_n == 1 && part_m == 64 && stages >= 3;
        unit != "mma16" || warps_m * warps_n % 2 == 0;
        // The threads of a block fill lines with whole patches.
        unit != "simt" || part_m <= 8 * warps_n && part_n <= 4 * warps_m;
        unit == "simt" || unit == "wgmma" || part_m <= 32 * warps_n && part_n <= 32 * warps_m;
        unit != "wgmma" || part_n <= 128 * warps_m;
        itemsize == 2 || depth <= 8 * warps_m * warps_n;
        // Sums stay in registers, tiles in shared memory.
        unit != "simt" || part_m * part_n * itemsize <= 512;
        unit == "simt" || unit == "wgmma" || part_m * part_n * itemsize / 32 <= 256;
        unit == "wgmma" || 32 * warps_m * warps_n * blocks_per_sm <= 1536;
        unit != "wgmma" || 128 * warps_m * blocks_per_sm <= 1536;
        unit != "wgmma" || 128 * warps_m * blocks_per_sm * (part_n / 2 + 24) <= 65536;
        unit != "simt" || stages * depth * (4 * warps_m * part_m + 8 * warps_n * part_n + 32 / itemsize) * itemsize <= shared_bytes;
        itemsize != 2 || stages * (warps_m * part_m + warps_n * part_n) * 128 <= shared_bytes;
        unit == "simt" || itemsize == 2 || stages * (warps_m * part_m + warps_n * part_n) * (depth + 4) * itemsize <= shared_bytes;
        unit == "simt" || itemsize == 2 || stages * depth * (warps_m * part_m + warps_n * part_n + 8) * itemsize <= shared_bytes;
    }
    rule tile_rule;
}

/// The tile that should take the least time.
fn tile_rule(problem: &TileProblem, device_info: &DeviceInfo) -> TileChoice {
    let TileProblem { dtype, batches, m, n, k, .. } = *problem;
    let (batches, extents) = (batches as usize, [m, n, k].map(|length| length as usize));
    let time = |candidate: &&TileCandidate| candidate.estimated_time(*device_info, batches, extents);
    let all = tile_candidates(dtype).iter().filter(|candidate| candidate.fits_device(*device_info, dtype));
    let best = all.min_by(|x, y| time(x).total_cmp(&time(y))).or(tile_candidates(dtype).last());
    TileChoice::new(best.unwrap_or(&F32_TILES[0]).tile)
}

/// The units by the names of their parameter.
const UNITS: [(&str, MatmulUnit); 7] = [
    ("simt", MatmulUnit::Simt),
    ("mma16", MatmulUnit::Mma16),
    ("wgmma", MatmulUnit::Wgmma),
    ("dmma_m8_k4", DMMA_M8_UNIT),
    ("dmma_m16_k4", MatmulUnit::Dmma { rows: 16, depth: 4 }),
    ("dmma_m16_k8", DMMA_M16_UNIT),
    ("dmma_m16_k16", DMMA_M16_K16_UNIT),
];

impl TileChoice {
    fn new(tile: MatmulTile) -> Self {
        let MatmulTile { unit, warps, part, depth, stages, blocks_per_sm } = tile;
        let ([warps_m, warps_n], [part_m, part_n]) = (warps.map(i64::from), part.map(i64::from));
        let unit = UNITS.iter().find(|(_, known)| *known == unit).map_or("simt", |(name, _)| name);
        let [depth, stages, blocks_per_sm] = [depth, stages, blocks_per_sm].map(i64::from);
        Self { unit, warps_m, warps_n, part_m, part_n, depth, stages, blocks_per_sm }
    }

    fn tile(self) -> MatmulTile {
        MatmulTile {
            unit: UNITS.iter().find(|(name, _)| *name == self.unit).map_or(MatmulUnit::Simt, |(_, unit)| *unit),
            warps: [self.warps_m as u8, self.warps_n as u8],
            part: [self.part_m as u16, self.part_n as u16],
            depth: self.depth as u8,
            stages: self.stages as u8,
            blocks_per_sm: self.blocks_per_sm as u8,
        }
    }
}

/// The tile of a product, where the device has room for one.
fn choose_tile(ctx: &ArrayContext, dtype: DType, batches: usize, [m, n, k]: [usize; 3]) -> Option<MatmulTile> {
    let device_info = ctx.device_info();
    tile_candidates(dtype).iter().any(|candidate| candidate.fits_device(device_info, dtype)).then_some(())?;
    let [batches, m, n, k] = [batches, m, n, k].map(|length| length as i64);
    let itemsize = dtype.itemsize() as i64;
    Some(ctx.choose::<TileChoice>(&TileProblem { dtype, itemsize, batches, m, n, k }).tile())
}

/// An operand as a kernel reads it.
struct TileOperand {
    array: GpuArray,
    operand_layout: MatmulOperand,
}

impl TileOperand {
    /// `common` is the axis that is summed over: 0 of rows, 1 of columns.
    fn new(array: &GpuArray, common: usize) -> Result<Self> {
        let operand_layout = operand_layout(array, common);
        let is_half = array.itemsize() == 2;
        if (operand_layout.is_vectorizable || !is_half) && array.is_aligned() && is_itemsize_aligned(array) {
            return Ok(Self { array: array.clone(), operand_layout });
        }
        let array = copy_with_padded_rows(array)?;
        let operand_layout = self::operand_layout(&array, common);
        Ok(Self { array, operand_layout })
    }

    /// The byte strides of rows and columns; 0 where there is one, as addresses behind it must be aligned, too.
    fn byte_strides(&self) -> [i64; 2] {
        last_two_axes(&self.array).map(|(n, stride)| if n == 1 { 0 } else { stride as i64 })
    }
}

/// The lengths and byte strides of rows and columns.
fn last_two_axes(array: &GpuArray) -> [(usize, isize); 2] {
    let first = array.ndim() - 2;
    [0, 1].map(|axis| (array.shape()[first + axis], array.strides()[first + axis]))
}

/// Whether whole items may be copied: pairs of doubles are, and need not be multiples of their size apart.
pub(super) fn is_itemsize_aligned(array: &GpuArray) -> bool {
    let item = array.itemsize();
    let steps = array.shape().iter().zip(array.strides()).filter(|(n, _)| **n > 1);
    array.first_element_address().is_multiple_of(item as u64)
        && steps.into_iter().all(|(_, step)| step.unsigned_abs().is_multiple_of(item))
}

fn operand_layout(array: &GpuArray, common: usize) -> MatmulOperand {
    let axes = last_two_axes(array);
    let (along, across) = (axes[common], axes[1 - common]);
    let fits = |(n, stride): (usize, isize)| n == 1 || stride.unsigned_abs().is_multiple_of(VECTOR_COPY_BYTES);
    let stack = array.shape().iter().copied().zip(array.strides().iter().copied()).take(array.ndim() - 2);
    let begins = array.first_element_address().is_multiple_of(VECTOR_COPY_BYTES as u64) && stack.into_iter().all(fits);
    let are_lines =
        |(n, stride): (usize, isize), other| begins && (n == 1 || stride == array.itemsize() as isize) && fits(other);
    let is_k_contiguous = are_lines(along, across);
    if is_k_contiguous || are_lines(across, along) {
        return MatmulOperand { is_k_contiguous, is_vectorizable: true };
    }
    MatmulOperand { is_k_contiguous: along.1.unsigned_abs() <= across.1.unsigned_abs(), is_vectorizable: false }
}

/// A copy whose lines begin at multiples of [`VECTOR_COPY_BYTES`], along the axis whose elements are nearest.
fn copy_with_padded_rows(array: &GpuArray) -> Result<GpuArray> {
    let [rows, columns] = last_two_axes(array);
    if rows.1.unsigned_abs() < columns.1.unsigned_abs() {
        return copy_with_padded_last_axis(&array.swapaxes(-1, -2)?)?.swapaxes(-1, -2);
    }
    copy_with_padded_last_axis(array)
}

fn copy_with_padded_last_axis(array: &GpuArray) -> Result<GpuArray> {
    let mut shape: Shape = array.shape().into();
    let length = shape.pop().unwrap_or(1);
    shape.push(length.next_multiple_of((VECTOR_COPY_BYTES / array.itemsize()).max(1)));
    let whole = GpuArray::empty(array.context(), &shape, array.dtype(), Order::C)?;
    let copy = whole.index(&[Index::Ellipsis, Index::from(0..length as isize)])?;
    copy.assign(array)?;
    Ok(copy)
}

/// Boxes of matrices, if bulk tensor copies can have strides and coordinates like these.
pub(super) fn tensor_boxes(
    dtype: DType,
    address: u64,
    extents: [usize; 3],
    strides: [i64; 2],
    lines: usize,
) -> Option<TensorBoxes> {
    const MAX_STRIDE: u64 = 1 << 40;
    let strides = [u64::try_from(strides[0]).ok()?, u64::try_from(strides[1]).ok()?];
    let are_strides = strides.iter().all(|stride| *stride > 0 && *stride < MAX_STRIDE && stride.is_multiple_of(16));
    let are_coordinates = extents.iter().all(|&extent| extent < i32::MAX as usize);
    let extents = extents.map(|extent| extent as u64);
    (are_strides && are_coordinates && address.is_multiple_of(16)).then_some(TensorBoxes {
        dtype,
        address,
        extents,
        byte_strides: strides,
        lines: lines as u32,
    })
}

/// The bytes from each matrix to the next, if that is always the same.
fn uniform_batch_stride(stack: &Layout) -> Option<i64> {
    let mut steps = stack.shape.iter().zip(&stack.strides).filter(|(n, _)| **n > 1).rev();
    let Some((&n, &step)) = steps.next() else { return Some(0) };
    let mut span = n as isize * step;
    let is_one = steps.all(|(&n, &stride)| {
        let fits = stride == span;
        span = n as isize * stride;
        fits
    });
    is_one.then_some(step as i64)
}

/// The descriptions of matrices that a kernel with `wgmma` copies, the result last if it is stored by boxes.
struct TensorMaps {
    maps: Vec<TensorMap>,
    /// 1 where operands have a matrix for each of a stack, and 0 where they have one for all.
    batch_steps: [u32; 2],
}

/// What a launch needs.
struct TiledProblem<'a> {
    target: MatmulTarget<'a>,
    a: TileOperand,
    b: TileOperand,
    kernel: TiledMatmul,
    batches: usize,
    /// The bytes between matrices, or the offsets of each.
    steps: [i64; 2],
    offsets: Option<GpuArray>,
    tensor_maps: Option<TensorMaps>,
}

impl<'a> TiledProblem<'a> {
    fn new(
        target: MatmulTarget<'a>,
        a: &GpuArray,
        b: &GpuArray,
        (batch, extents): (&[usize], [usize; 3]),
        tile: MatmulTile,
    ) -> Result<Self> {
        let (dtype, out) = (a.dtype(), target.out);
        let (a, b) = (TileOperand::new(a, 1)?, TileOperand::new(b, 0)?);
        let batches = batch.iter().product();
        let steps = [
            uniform_batch_stride(&batch_layout(&a.array, batch)?),
            uniform_batch_stride(&batch_layout(&b.array, batch)?),
        ];
        let (steps, offsets) = match steps {
            [Some(a), Some(b)] => ([a, b], None),
            _ => ([0; 2], Some(batch_offsets(out, &a.array, &b.array, batch, batches)?)),
        };
        let kernel = TiledMatmul {
            dtype,
            is_sum: target.epilogue.is_none() && out.dtype() != dtype,
            tile,
            a: a.operand_layout,
            b: b.operand_layout,
            stores_boxes: false,
        };
        let mut problem = Self { target, a, b, kernel, batches, steps, offsets, tensor_maps: None };
        if tile.unit == MatmulUnit::Wgmma {
            problem.describe_boxes(extents);
        }
        Ok(problem)
    }

    /// Has boxes copied if the device describes those of operands: not where lines run backwards, or matrices lie in no
    /// order. Those of the result need not be described.
    fn describe_boxes(&mut self, [m, n, k]: [usize; 3]) {
        let out = self.target.out;
        let device = out.context().device();
        let stack = |step: i64| if step == 0 { 1 } else { self.batches };
        let operand = |operand: &TileOperand, common: usize, extent: usize, step: i64, lines: usize| {
            let is_k_contiguous = operand.operand_layout.is_k_contiguous;
            let stride = last_two_axes(&operand.array)[if is_k_contiguous { 1 - common } else { common }];
            let [items, rows] = if is_k_contiguous { [k, extent] } else { [extent, k] };
            let lines = if is_k_contiguous { lines } else { self.kernel.tile.depth.into() };
            let address = operand.array.first_element_address();
            let strides = [if stride.0 == 1 { 16 } else { stride.1 as i64 }, if step == 0 { 16 } else { step }];
            tensor_boxes(self.kernel.dtype, address, [items, rows, stack(step)], strides, lines)
                .and_then(|boxes| device.tensor_map(&boxes))
        };
        let [rows, columns] = self.kernel.tile.tile_extents();
        let operands = [operand(&self.a, 1, m, self.steps[0], rows), operand(&self.b, 0, n, self.steps[1], columns)];
        let tiles = m.div_ceil(rows) * n.div_ceil(columns) * self.batches;
        let ([Some(a), Some(b)], None, true) = (operands, &self.offsets, tiles < i32::MAX as usize) else { return };
        let stages = self.kernel.tile.stages;
        self.kernel.tile.unit = MatmulUnit::WgmmaBoxes;
        // Results go through shared memory.
        self.kernel.tile.stages = if self.kernel.tile.blocks_per_sm > 2 { 3 } else { 4 };
        let mut maps = vec![a, b];
        if out.itemsize() == 2 && self.target.epilogue.is_none_or(|epilogue| !epilogue.is_in_place()) {
            let strides = [2 * n, 2 * n * m].map(|stride| stride as i64);
            let boxes = tensor_boxes(out.dtype(), out.first_element_address(), [n, m, self.batches], strides, 64);
            maps.extend(boxes.and_then(|boxes| device.tensor_map(&boxes)));
        }
        self.kernel.stores_boxes = maps.len() == 3;
        let has_room =
            |kernel: &TiledMatmul| kernel.shared_bytes() <= out.context().device_info().shared_bytes as usize;
        if !has_room(&self.kernel) {
            (self.kernel.tile.stages, self.kernel.stores_boxes) = (3, false);
            maps.truncate(2);
        }
        if !has_room(&self.kernel) {
            (self.kernel.tile.unit, self.kernel.tile.stages) = (MatmulUnit::Wgmma, stages);
            return;
        }
        self.tensor_maps = Some(TensorMaps { maps, batch_steps: self.steps.map(|step| (step != 0).into()) });
    }

    fn launch_tiled(&self, [m, n, k]: [usize; 3]) -> Result<()> {
        let [rows, columns] = self.kernel.tile.tile_extents();
        let tiles = (m.div_ceil(rows) * n.div_ceil(columns)) as u32;
        let block = [self.kernel.tile.threads_per_block(), 1, 1];
        if let Some(tensor_maps) = &self.tensor_maps {
            let mut args = self.pack_tensor_args(tensor_maps, [m, n, k]);
            let compiled = self.target.compiled_kernel(self.target.out.context(), self.kernel, &mut args, 0)?;
            return self.launch_persistent(&compiled, [m, n], &args);
        }
        for first in (0..self.batches).step_by(MAX_GRID_Y) {
            let mut args = self.pack_args_from_batch([m, n, k], first);
            let compiled = self.target.compiled_kernel(self.target.out.context(), self.kernel, &mut args, first)?;
            let batches = (self.batches - first).min(MAX_GRID_Y) as u32;
            let queue = self.target.out.context().queue();
            queue.launch(&compiled, [tiles, batches, 1], block, self.kernel.shared_bytes() as u32, args.view())?;
        }
        Ok(())
    }

    /// Launches as many blocks as the device runs at once, which take one tile after the other.
    fn launch_persistent(&self, compiled: &Arc<dyn Kernel>, [m, n]: [usize; 2], args: &LaunchArgs) -> Result<()> {
        let ctx = self.target.out.context();
        let [rows, columns] = self.kernel.tile.tile_extents();
        let tiles = m.div_ceil(rows) * n.div_ceil(columns) * self.batches;
        let resident = ctx.device_info().multiprocessors as usize * usize::from(self.kernel.tile.blocks_per_sm);
        let grid = [tiles.min(resident) as u32, 1, 1];
        let block = [self.kernel.tile.threads_per_block(), 1, 1];
        ctx.queue().launch(compiled, grid, block, self.kernel.shared_bytes() as u32, args.view())
    }

    /// The arguments of a kernel that copies boxes.
    fn pack_tensor_args(&self, tensor_maps: &TensorMaps, extents: [usize; 3]) -> LaunchArgs {
        let mut args = LaunchArgs::new();
        tensor_maps.maps.iter().for_each(|map| args.push_tensor_map(map));
        args.push_address(self.target.out.first_element_address(), 0);
        extents.iter().for_each(|&n| args.push_u64(n as u64));
        args.push_u32(self.batches as u32);
        tensor_maps.batch_steps.iter().for_each(|&step| args.push_u32(step));
        args
    }

    /// The arguments for batches from `first` on.
    fn pack_args_from_batch(&self, [m, n, k]: [usize; 3], first: usize) -> LaunchArgs {
        let mut args = LaunchArgs::new();
        let out = self.target.out;
        args.push_address(out.first_element_address(), first * m * n * out.itemsize());
        for (operand, step) in [&self.a, &self.b].into_iter().zip(self.steps) {
            args.push_address(operand.array.first_element_address(), (first as i64 * step) as usize);
        }
        [m, n, k].iter().for_each(|&n| args.push_u64(n as u64));
        let steps = [self.a.byte_strides(), self.b.byte_strides(), self.steps];
        steps.iter().flatten().for_each(|&step| args.push_i64(step));
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.first_element_address() + 16 * first as u64);
        args.push_address(offsets, 0);
        args
    }
}
