//! Products by large tiles, on GPUs of compute capability 8.0 and later: which tile, which operands are copied first, and
//! the launch.

use super::{batch_offsets, outer};
use crate::array::GpuArray;
use crate::elementwise::is_aligned;
use crate::error::Result;
use crate::launch::Args;
use crate::layout::{Layout, Order, Shape};
use crate::runtime::Facts;
use crate::views::Index;
use rtcg_codegen::DType;
use rtcg_codegen::array::{ArrayKernel, Matmul, MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};

/// Copies to shared memory are best of so many bytes, which addresses then are multiples of.
const WIDE: usize = 16;
/// Products of elements from which on two operands and a result are worth to be converted.
const WORTH_CONVERTING: usize = 1 << 22;
/// Most blocks of a grid along y.
const MOST_BATCHES: usize = 65535;

/// Multiplies if the device is one for tiles; whether it did.
pub(super) fn launch(out: &GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], extents: [usize; 3]) -> Result<bool> {
    let facts = out.context().facts();
    if !has_tiles(facts) {
        return Ok(false);
    }
    match a.dtype() {
        DType::Bool | DType::I8 | DType::U8 | DType::I16 | DType::U16 => {
            if out.size().saturating_mul(extents[2]) < WORTH_CONVERTING {
                return Ok(false);
            }
            // The low bits of sums of products are the same however wide these are.
            let wide = GpuArray::empty(out.context(), out.shape(), DType::I32, Order::C)?;
            let is_done = launch(&wide, &a.astype(DType::I32)?, &b.astype(DType::I32)?, batch, extents)?;
            if is_done {
                out.assign(&wide)?;
            }
            Ok(is_done)
        }
        dtype => match choose(facts, dtype, batch.iter().product(), extents) {
            Some(tile) => Product::new(out, a, b, batch, tile)?.launch(extents).map(|()| true),
            None => Ok(false),
        },
    }
}

/// Whether the device is one for tiles.
pub(super) fn has_tiles(facts: Facts) -> bool {
    !facts.are_lanes() && facts.capability >= 80
}

/// Whether small tiles have more rows than columns.
pub(super) fn are_taller(facts: Facts, dtype: DType) -> bool {
    has_tiles(facts) && dtype == DType::F64
}

/// Blocks of the tile that is chosen for a product.
pub(super) fn blocks(facts: Facts, dtype: DType, batches: usize, extents: [usize; 3]) -> Option<usize> {
    let [rows, columns] = choose(facts, dtype, batches, extents).filter(|_| has_tiles(facts))?.extents();
    Some(extents[0].div_ceil(rows) * extents[1].div_ceil(columns) * batches)
}

/// A tile, and how fast a multiprocessor is with as many blocks as it runs at once, and with one, beside the fastest tile.
/// As measured on an H200.
struct Candidate {
    tile: MatmulTile,
    full: f64,
    alone: f64,
}

impl Candidate {
    /// The time that a product takes: of all blocks of the multiprocessor that gets most.
    fn time(&self, facts: Facts, batches: usize, [m, n, _]: [usize; 3]) -> f64 {
        let [rows, columns] = self.tile.extents();
        let blocks = m.div_ceil(rows) * n.div_ceil(columns) * batches;
        let turns = blocks.div_ceil(facts.processors.max(1) as usize);
        let others = f64::from(self.tile.resident - 1).max(1.0);
        let company = ((turns - 1) as f64 / others).min(1.0);
        (turns * rows * columns) as f64 / (self.alone + (self.full - self.alone) * company)
    }

    fn fits(&self, facts: Facts, dtype: DType) -> bool {
        let operand = MatmulOperand { along_k: true, is_wide: true };
        let kernel = TiledMatmul { dtype, is_sum: false, tile: self.tile, a: operand, b: operand };
        let has_unit = match self.tile.unit {
            MatmulUnit::Warpgroups => facts.capability == 90,
            MatmulUnit::Doubles { rows: 16, .. } => facts.capability >= 90,
            _ => true,
        };
        has_unit && kernel.shared_bytes() <= facts.shared_bytes as usize
    }
}

/// Warps (or warpgroups), the part of each, the depth of a stage, stages, blocks that run at once.
type Geometry = ([u8; 2], [u16; 2], u8, u8, u8);

const fn candidate(unit: MatmulUnit, shape: Geometry, full: f64, alone: f64) -> Candidate {
    let (warps, part, depth, stages, resident) = shape;
    Candidate { tile: MatmulTile { unit, warps, part, depth, stages, resident }, full, alone }
}

const THREADS: MatmulUnit = MatmulUnit::Threads;
const SHORT: MatmulUnit = MatmulUnit::Doubles { rows: 8, depth: 4 };
const TALL: MatmulUnit = MatmulUnit::Doubles { rows: 16, depth: 8 };
const DEEP: MatmulUnit = MatmulUnit::Doubles { rows: 16, depth: 16 };

const SINGLES: &[Candidate] = &[
    candidate(THREADS, ([2, 2], [16, 8], 8, 4, 2), 1.06, 0.86),
    candidate(THREADS, ([4, 2], [8, 8], 16, 3, 2), 1.0, 0.92),
    candidate(THREADS, ([2, 2], [8, 8], 16, 3, 3), 0.98, 0.78),
    candidate(THREADS, ([2, 2], [8, 4], 16, 3, 4), 0.87, 0.59),
    candidate(THREADS, ([2, 2], [4, 4], 16, 4, 6), 0.72, 0.41),
];
const PAIRS: &[Candidate] = &[
    candidate(THREADS, ([4, 2], [8, 4], 16, 3, 2), 1.0, 0.9),
    candidate(THREADS, ([2, 2], [4, 4], 16, 3, 4), 0.83, 0.45),
];
const HALVES: &[Candidate] = &[
    candidate(MatmulUnit::Warpgroups, ([2, 1], [64, 256], 64, 4, 1), 1.63, 1.28),
    candidate(MatmulUnit::Warpgroups, ([2, 1], [64, 128], 64, 5, 1), 1.28, 0.92),
    candidate(MatmulUnit::Warpgroups, ([1, 1], [64, 128], 64, 4, 2), 1.12, 0.58),
    candidate(MatmulUnit::Warpgroups, ([1, 1], [64, 64], 64, 4, 3), 0.87, 0.3),
    candidate(MatmulUnit::Halves, ([2, 2], [64, 64], 64, 3, 2), 1.0, 0.65),
    candidate(MatmulUnit::Halves, ([2, 2], [32, 64], 64, 4, 2), 0.85, 0.45),
    candidate(MatmulUnit::Halves, ([2, 2], [32, 32], 64, 4, 3), 0.74, 0.25),
];
const DOUBLES: &[Candidate] = &[
    candidate(DEEP, ([2, 2], [32, 32], 16, 4, 2), 1.0, 0.53),
    candidate(TALL, ([2, 2], [32, 16], 16, 4, 3), 0.85, 0.37),
    candidate(SHORT, ([2, 2], [32, 32], 16, 4, 2), 0.5, 0.26),
    candidate(SHORT, ([2, 2], [32, 16], 16, 4, 3), 0.45, 0.2),
];
const COMPLEX_DOUBLES: &[Candidate] = &[
    candidate(TALL, ([2, 2], [32, 16], 8, 4, 3), 1.0, 0.53),
    candidate(TALL, ([2, 2], [16, 16], 8, 4, 4), 0.96, 0.31),
    candidate(SHORT, ([2, 2], [32, 16], 8, 4, 3), 0.57, 0.3),
];

fn candidates(dtype: DType) -> &'static [Candidate] {
    match dtype {
        DType::F32 | DType::I32 | DType::U32 => SINGLES,
        DType::C64 | DType::I64 | DType::U64 => PAIRS,
        DType::F16 | DType::BF16 => HALVES,
        DType::F64 => DOUBLES,
        DType::C128 => COMPLEX_DOUBLES,
        _ => &[],
    }
}

/// The tile that should take the least time.
fn choose(facts: Facts, dtype: DType, batches: usize, extents: [usize; 3]) -> Option<MatmulTile> {
    let time = |candidate: &&Candidate| candidate.time(facts, batches, extents);
    let all = candidates(dtype).iter().filter(|candidate| candidate.fits(facts, dtype));
    all.min_by(|x, y| time(x).total_cmp(&time(y))).map(|candidate| candidate.tile)
}

/// An operand as a kernel reads it.
struct Operand {
    array: GpuArray,
    how: MatmulOperand,
}

impl Operand {
    /// `common` is the axis that is summed over: 0 of rows, 1 of columns.
    fn new(array: &GpuArray, common: usize) -> Result<Self> {
        let how = how(array, common);
        let is_half = array.itemsize() == 2;
        if (how.is_wide || !is_half) && is_aligned(array) && is_aligned_item(array) {
            return Ok(Self { array: array.clone(), how });
        }
        let array = padded(array)?;
        let how = self::how(&array, common);
        Ok(Self { array, how })
    }

    /// The byte strides of rows and columns; 0 where there is one, as addresses behind it must be aligned, too.
    fn steps(&self) -> [i64; 2] {
        last_axes(&self.array).map(|(n, stride)| if n == 1 { 0 } else { stride as i64 })
    }
}

/// The lengths and byte strides of rows and columns.
fn last_axes(array: &GpuArray) -> [(usize, isize); 2] {
    let first = array.ndim() - 2;
    [0, 1].map(|axis| (array.shape()[first + axis], array.strides()[first + axis]))
}

/// Whether whole items may be copied: pairs of doubles are, and need not be multiples of their size apart.
fn is_aligned_item(array: &GpuArray) -> bool {
    let item = array.itemsize();
    let steps = array.shape().iter().zip(array.strides()).filter(|(n, _)| **n > 1);
    array.start().is_multiple_of(item as u64)
        && steps.into_iter().all(|(_, step)| step.unsigned_abs().is_multiple_of(item))
}

fn how(array: &GpuArray, common: usize) -> MatmulOperand {
    let axes = last_axes(array);
    let (along, across) = (axes[common], axes[1 - common]);
    let fits = |(n, stride): (usize, isize)| n == 1 || stride.unsigned_abs().is_multiple_of(WIDE);
    let stack = array.shape().iter().copied().zip(array.strides().iter().copied()).take(array.ndim() - 2);
    let begins = array.start().is_multiple_of(WIDE as u64) && stack.into_iter().all(fits);
    let are_lines =
        |(n, stride): (usize, isize), other| begins && (n == 1 || stride == array.itemsize() as isize) && fits(other);
    let along_k = are_lines(along, across);
    if along_k || are_lines(across, along) {
        return MatmulOperand { along_k, is_wide: true };
    }
    MatmulOperand { along_k: along.1.unsigned_abs() <= across.1.unsigned_abs(), is_wide: false }
}

/// A copy whose lines begin at multiples of [`WIDE`], along the axis whose elements are nearest.
fn padded(array: &GpuArray) -> Result<GpuArray> {
    let [rows, columns] = last_axes(array);
    if rows.1.unsigned_abs() < columns.1.unsigned_abs() {
        return padded_rows(&array.swapaxes(-1, -2)?)?.swapaxes(-1, -2);
    }
    padded_rows(array)
}

fn padded_rows(array: &GpuArray) -> Result<GpuArray> {
    let mut shape: Shape = array.shape().into();
    let length = shape.pop().unwrap_or(1);
    shape.push(length.next_multiple_of((WIDE / array.itemsize()).max(1)));
    let whole = GpuArray::empty(array.context(), &shape, array.dtype(), Order::C)?;
    let copy = whole.index(&[Index::Ellipsis, Index::from(0..length as isize)])?;
    copy.assign(array)?;
    Ok(copy)
}

/// The bytes from each matrix to the next, if that is always the same.
fn step_of(stack: &Layout) -> Option<i64> {
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

/// What a launch needs.
struct Product<'a> {
    out: &'a GpuArray,
    a: Operand,
    b: Operand,
    kernel: TiledMatmul,
    batches: usize,
    /// The bytes between matrices, or the offsets of each.
    steps: [i64; 2],
    offsets: Option<GpuArray>,
}

impl<'a> Product<'a> {
    fn new(out: &'a GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], tile: MatmulTile) -> Result<Self> {
        let dtype = a.dtype();
        let (a, b) = (Operand::new(a, 1)?, Operand::new(b, 0)?);
        let batches = batch.iter().product();
        let steps = [step_of(&outer(&a.array, batch)?), step_of(&outer(&b.array, batch)?)];
        let (steps, offsets) = match steps {
            [Some(a), Some(b)] => ([a, b], None),
            _ => ([0; 2], Some(batch_offsets(out, &a.array, &b.array, batch, batches)?)),
        };
        let kernel = TiledMatmul { dtype, is_sum: out.dtype() != dtype, tile, a: a.how, b: b.how };
        Ok(Self { out, a, b, kernel, batches, steps, offsets })
    }

    fn launch(&self, [m, n, k]: [usize; 3]) -> Result<()> {
        let compiled = self.out.context().kernel(&ArrayKernel::Matmul(Matmul::Tiled(self.kernel)))?;
        let [rows, columns] = self.kernel.tile.extents();
        let tiles = (m.div_ceil(rows) * n.div_ceil(columns)) as u32;
        let block = [self.kernel.tile.threads(), 1, 1];
        for first in (0..self.batches).step_by(MOST_BATCHES) {
            let args = self.args([m, n, k], first);
            let batches = (self.batches - first).min(MOST_BATCHES) as u32;
            compiled.launch([tiles, batches, 1], block, self.kernel.shared_bytes() as u32, args.bytes())?;
        }
        Ok(())
    }

    /// The arguments for batches from `first` on.
    fn args(&self, [m, n, k]: [usize; 3], first: usize) -> Args {
        let mut args = Args::new();
        let start = |operand: &Operand, step: i64| operand.array.start().wrapping_add_signed(first as i64 * step);
        args.push_u64(self.out.start() + (first * m * n * self.out.itemsize()) as u64);
        args.push_u64(start(&self.a, self.steps[0]));
        args.push_u64(start(&self.b, self.steps[1]));
        [m, n, k].iter().for_each(|&n| args.push_u64(n as u64));
        let steps = [self.a.steps(), self.b.steps(), self.steps];
        steps.iter().flatten().for_each(|&step| args.push_i64(step));
        args.push_u64(self.offsets.as_ref().map_or(0, |offsets| offsets.start() + 16 * first as u64));
        args
    }
}
