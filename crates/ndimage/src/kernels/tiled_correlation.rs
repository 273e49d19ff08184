//! The kernel of correlations along up to three axes of large images, whose pixels come to shared memory once for all
//! taps. Sums are those of the other kernel bit for bit.

use super::{FilterAxis, arithmetic, preamble};
use crate::Mode;
use rtcg_hal::{DType, DeviceInfo, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Pixels of images up to which a kernel is compiled longer than it saves.
const MAX_SMALL_PIXELS: usize = 64 * 64;
/// Columns of images below which a block would have few of them.
const MIN_COLUMNS: usize = 12;
/// Shared memory that every device has for a block.
const SHARED_BYTES: usize = 48 << 10;
/// The most of it for weights.
const MAX_WEIGHT_BYTES: usize = 24 << 10;
/// Taps of a row up to which a row of pixels lies in registers as a whole.
const MAX_SHORT_TAPS: usize = 8;
/// Taps of two axes for which a thread needs few registers.
const MAX_LIGHT_TAPS: usize = 5;
/// Sums that a thread has at most, in registers of 32 bits, and products that are unrolled together.
const MAX_SUMS: usize = 64;
const MAX_UNROLLED_PRODUCTS: usize = 800;

/// Depth, rows and columns: those before the filtered axes make images, and axes beside each other that are not filtered
/// are one.
#[derive(Debug, Clone, Copy)]
struct Planes {
    images: usize,
    shape: [usize; 3],
    axes: [FilterAxis; 3],
}

const NOT_FILTERED: FilterAxis = FilterAxis { taps: 1, center: 0, mode: Mode::Nearest };

impl Planes {
    fn of(axes: &[FilterAxis], shape: &[usize]) -> Option<Self> {
        let mut merged: Vec<(FilterAxis, usize)> = Vec::new();
        for (&axis, &n) in axes.iter().zip(shape) {
            match merged.last_mut() {
                Some((last, length)) if last.taps == 1 && axis.taps == 1 => *length *= n,
                _ => merged.push((if axis.taps == 1 { NOT_FILTERED } else { axis }, n)),
            }
        }
        let has_images = merged.len() > 2 && merged[0].0.taps == 1;
        let images = if has_images { merged.remove(0).1 } else { 1 };
        if merged.len() > 3 || merged.iter().all(|(axis, _)| axis.taps == 1) {
            return None;
        }
        while merged.len() < 3 {
            merged.insert(0, (NOT_FILTERED, 1));
        }
        let [a, b, c] = [0, 1, 2].map(|k| merged[k]);
        Some(Self { images, shape: [a.1, b.1, c.1], axes: [a.0, b.0, c.0] })
    }
}

/// A correlation with this kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TiledCorrelation {
    types: [DType; 2],
    planes: Planes,
    tile: Tile,
    /// Planes of the result that a block makes.
    depth: usize,
}

/// What blocks and threads have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Tile {
    /// Threads along columns and rows.
    block: [usize; 2],
    /// Columns and rows of a thread.
    pixels: [usize; 2],
}

impl Tile {
    /// The bytes of shared memory, at most.
    fn bytes(&self, taps: [usize; 3], itemsize: usize) -> usize {
        let rows = self.block[1] * self.pixels[1] + taps[1] - 1;
        let columns = self.block[0] * self.pixels[0] + taps[2].next_multiple_of(self.pixels[0]) + self.pixels[0];
        itemsize * rows * columns + weight_bytes(taps, itemsize)
    }

    /// The largest tile that fits.
    fn of(planes: &Planes, itemsize: usize) -> Option<Self> {
        let (taps, [_, rows, columns]) = (planes.axes.map(|axis| axis.taps), planes.shape);
        let across = 16 / itemsize;
        let sums = taps[0] * across * itemsize / 4;
        let most = |threads: usize| {
            let fits = |down: &usize| sums * down <= MAX_SUMS && (*down == 1 || threads * down < 2 * rows);
            [4, 2, 1].into_iter().find(fits)
        };
        let widths = [32, 16, 8].into_iter().skip_while(|width| *width > 8 && width / 2 * across >= columns);
        // Smaller blocks wait less for each other, where pixels around a block are few.
        let threads = if taps[0] == 1 && taps[1].max(taps[2]) <= MAX_SHORT_TAPS { 128 } else { 256 };
        let blocks = widths.map(|width| [width, threads / width]);
        let is_line = rows < 4 && taps[1] == 1;
        for block in is_line.then_some([256, 1]).into_iter().chain(blocks) {
            let mut down = most(block[1])?;
            while down > 0 {
                let tile = Self { block, pixels: [across, down] };
                if tile.bytes(taps, itemsize) <= SHARED_BYTES {
                    return Some(tile);
                }
                down /= 2;
            }
        }
        None
    }
}

fn weight_bytes([z, y, x]: [usize; 3], itemsize: usize) -> usize {
    x.saturating_add(4).saturating_mul(y).saturating_mul(z).saturating_mul(itemsize)
}

/// Whether reads from memory take processors longer than barriers do.
fn has_many_taps(taps: [usize; 3]) -> bool {
    taps.iter().filter(|n| **n > 1).count() > 1 && taps.iter().product::<usize>() >= 25
}

impl TiledCorrelation {
    /// The correlation, where it suits this kernel.
    pub(crate) fn of(types: [DType; 2], axes: &[FilterAxis], shape: &[usize], device: DeviceInfo) -> Option<Self> {
        let size: usize = shape.iter().product();
        let planes = Planes::of(axes, shape)?;
        let itemsize = arithmetic(types[0], types[1]).itemsize();
        let [depth, rows, columns] = planes.shape;
        // Offsets in a plane are of 32 bits, and so are places of a mirrored period.
        let is_addressable = rows.saturating_mul(columns) < 1 << 31 && planes.shape.iter().all(|n| *n < 1 << 29);
        let taps = planes.axes.map(|axis| axis.taps);
        let is_slow = device.is_simd_cpu() && !has_many_taps(taps);
        let is_suited = !is_slow && size > MAX_SMALL_PIXELS && columns >= MIN_COLUMNS && is_addressable;
        if !is_suited || weight_bytes(taps, itemsize) > MAX_WEIGHT_BYTES {
            return None;
        }
        let tile = Tile::of(&planes, itemsize)?;
        let mut found = Self { types, planes, tile, depth };
        // Blocks make as many planes as takes the least time, with those that they only read.
        let resident = (device.multiprocessors.max(1) * 2) as usize;
        let time = |each: usize| {
            let blocks = Self { depth: each, ..found }.block_count();
            blocks.div_ceil(resident).saturating_mul(each + taps[0] - 1)
        };
        let parts = (1..=depth.min(64)).map(|parts| depth.div_ceil(parts));
        found.depth = parts.min_by_key(|each| time(*each))?;
        (found.block_count() < 1 << 31).then_some(found)
    }

    fn block_count(&self) -> usize {
        let Tile { block, pixels } = self.tile;
        let [depth, rows, columns] = self.planes.shape;
        let across = columns.div_ceil(block[0] * pixels[0]) * rows.div_ceil(block[1] * pixels[1]);
        self.planes.images.saturating_mul(depth.div_ceil(self.depth)).saturating_mul(across)
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.block_count() as u32
    }

    /// The last arguments of the kernel: depth, rows, columns, planes of a block.
    pub(crate) fn lengths(&self) -> [u32; 4] {
        let [depth, rows, columns] = self.planes.shape;
        [depth, rows, columns, self.depth].map(|n| n as u32)
    }

    pub(crate) fn spec(&self, is_weighted: bool, is_reversed: bool) -> TiledSpec {
        TiledSpec { types: self.types, axes: self.planes.axes, tile: self.tile, is_weighted, is_reversed }
    }
}

/// Parameters: the result, the input, weights in the dtype of sums (or null: all are 1), the value beyond borders, the divisor
/// of sums without weights, depth, rows, columns, planes of a block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TiledSpec {
    types: [DType; 2],
    axes: [FilterAxis; 3],
    tile: Tile,
    is_weighted: bool,
    is_reversed: bool,
}

impl TiledSpec {
    pub(crate) fn block(&self) -> [u32; 3] {
        [self.tile.block[0] as u32, self.tile.block[1] as u32, 1]
    }

    /// Blocks of a multiprocessor for which there shall be registers.
    fn resident(&self) -> usize {
        let threads: usize = self.tile.block.iter().product();
        let is_light = self.axes[0].taps == 1 && self.axes[1].taps.max(self.axes[2].taps) <= MAX_LIGHT_TAPS;
        if is_light { 768 / threads } else { 512 / threads }
    }

    /// Rows of taps, or vectors of long ones, that are unrolled.
    fn unrolled(&self) -> usize {
        let [planes, rows, columns] = self.axes.map(|axis| axis.taps);
        let Tile { pixels: [across, down], .. } = self.tile;
        let is_short = columns <= MAX_SHORT_TAPS;
        let products = planes * across * down * if is_short { columns } else { across };
        let whole = if is_short { rows } else { columns / across };
        let some = if is_short { down } else { 2 };
        [whole, some].into_iter().find(|n| n * products <= MAX_UNROLLED_PRODUCTS).unwrap_or(1).max(1)
    }
}

impl KernelSpec for TiledSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_correlate_tile".into()
    }

    fn source(&self) -> String {
        let mut text = preamble(self.types[0], self.types[1]) + include_str!("border.cuh");
        let Tile { block, pixels } = self.tile;
        for (name, axis) in ["Z", "Y", "X"].into_iter().zip(&self.axes) {
            let _ = writeln!(
                text,
                "enum {{ K{name} = {}, C{name} = {} }};\n#define MODE_{name} rt_{}",
                axis.taps,
                axis.center,
                axis.mode.name()
            );
        }
        let is_constant = self.axes.iter().any(|axis| axis.taps > 1 && axis.mode == Mode::Constant);
        let _ = writeln!(
            text,
            "enum {{ BX = {}, BY = {}, PX = {}, PY = {}, SHORT = {MAX_SHORT_TAPS}, UNROLL = {}, BLOCKS = {}, IS_WEIGHTED = {}, IS_REVERSED = {}, IS_CONSTANT = {} }};",
            block[0],
            block[1],
            pixels[0],
            pixels[1],
            self.unrolled(),
            self.resident(),
            i32::from(self.is_weighted),
            i32::from(self.is_reversed),
            i32::from(is_constant)
        );
        text + include_str!("tile.cuh")
    }
}
