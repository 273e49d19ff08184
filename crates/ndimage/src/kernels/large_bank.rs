//! The kernel of filter banks for large images on GPUs; its work is divided by counting the instructions of threads.

use super::activation_text;
use rtcg_hal::{DType, DeviceInfo, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Vectors that a thread reads before it stores them.
const LOADS: usize = 4;
/// Registers of a multiprocessor.
const REGISTERS: u32 = 1 << 16;
/// Shared memory that each block takes besides its own, and that a multiprocessor has beyond the most for one block.
const RESERVED_BYTES: u32 = 1 << 10;
/// Taps of a row up to which a row is unrolled as a whole.
const MAX_UNROLLED_TAPS: u32 = 16;

/// The lengths of images and filters that a tile is chosen for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BankShape {
    pub(crate) images: usize,
    /// Rows, columns, channels.
    pub(crate) image: [usize; 3],
    /// Rows, columns.
    pub(crate) taps: [usize; 2],
    pub(crate) filters: usize,
}

/// What a block and its threads have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LargeTile {
    /// Threads along columns, rows, and groups of filters.
    pub(crate) block: [u32; 3],
    /// Columns, rows and filters of the result that a thread has.
    pub(crate) outputs: [u32; 3],
    /// Channels in shared memory.
    channels: u32,
    /// Blocks of a multiprocessor for which there shall be registers.
    blocks: u32,
    /// Rows of taps that are unrolled.
    unrolled: u32,
}

/// Columns of the result that a block has: no fewer are whole warps, and more only leave more of them outside of images.
const COLUMNS: u32 = 32;
/// Columns, rows and filters of the result that a thread has, and registers that it then needs. More outputs leave room
/// for so few warps that nothing hides their waits; other shapes of as many read more vectors.
const OUTPUTS: [([u32; 3], u32); 2] = [([8, 2, 4], 128), ([4, 2, 4], 80)];
/// Products of rows that are unrolled together at most: more instructions leave their cache.
const MAX_UNROLLED_PRODUCTS: usize = 1300;
/// Channels that come to shared memory together at least where they fit: pixels of fewer are read in shorter vectors.
const MIN_CHANNELS: u32 = 4;

impl LargeTile {
    /// The tile that takes the least time by its counts; none where no filters fit in shared memory.
    pub(crate) fn for_bank(bank: &BankShape, device: DeviceInfo) -> Option<Self> {
        let mut best: Option<(f64, Self)> = None;
        for (outputs, registers) in OUTPUTS {
            for warps in [1, 2, 4, 8] {
                for groups in [1, 2, 4] {
                    let block = [COLUMNS / outputs[0], warps * outputs[0], groups];
                    if let Some(tile) = Self::with(bank, device, block, outputs, registers) {
                        let cycles = tile.cycles(bank, device);
                        if best.is_none_or(|(least, _)| cycles < least) {
                            best = Some((cycles, tile));
                        }
                    }
                }
            }
        }
        best.map(|(_, tile)| tile)
    }

    /// A tile of so many threads, with as many channels as leave room for the blocks that registers leave room for.
    fn with(bank: &BankShape, device: DeviceInfo, block: [u32; 3], outputs: [u32; 3], registers: u32) -> Option<Self> {
        let threads: u32 = block.iter().product();
        let is_wasteful = block[2] > 1 && (outputs[2] * block[2]) as usize >= 2 * bank.filters.next_multiple_of(4);
        let blocks = REGISTERS / (registers.next_multiple_of(8) * threads);
        if !(64..=256).contains(&threads) || is_wasteful || blocks == 0 {
            return None;
        }
        let products = outputs.iter().product::<u32>() as usize * bank.taps[1];
        let unrolled = if 2 * products <= MAX_UNROLLED_PRODUCTS { 2 } else { 1 };
        let mut tile = Self { block, outputs, channels: bank.image[2].min(8) as u32, blocks, unrolled };
        while (tile.resident(bank, device) < blocks && tile.channels > MIN_CHANNELS)
            || (tile.shared_bytes(bank) > device.shared_bytes.into() && tile.channels > 1)
        {
            tile.channels = tile.channels.div_ceil(2);
        }
        (tile.shared_bytes(bank) <= device.shared_bytes.into() && tile.grid(bank)[1] <= 65535).then_some(tile)
    }

    /// Blocks that a multiprocessor runs at once.
    fn resident(&self, bank: &BankShape, device: DeviceInfo) -> u32 {
        let with_reserved = |bytes: u64| bytes + u64::from(RESERVED_BYTES);
        let shared = with_reserved(device.shared_bytes.into()) / with_reserved(self.shared_bytes(bank));
        u64::from(self.blocks).min(shared).max(1) as u32
    }

    /// Elements of images and filters that are read together.
    fn read_together(&self, bank: &BankShape) -> usize {
        most_of([bank.image[2], self.channels as usize])
    }

    /// Rows and columns of pixels in shared memory, and elements of a channel of them; as in the kernel.
    fn pixels(&self, bank: &BankShape) -> [u64; 3] {
        let [across, down] = [0, 1].map(|axis| u64::from(self.block[axis] * self.outputs[axis]));
        let rows = down + bank.taps[0] as u64 - 1;
        let vectors = (across + bank.taps[1] as u64 - 1).div_ceil(4);
        let columns = 4 * (vectors + u64::from(self.outputs[0] > 4 && vectors.is_multiple_of(2)));
        let plane = rows * columns;
        [rows, columns, plane + if plane.is_multiple_of(8) { 4 } else { 0 }]
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(&self, bank: &BankShape) -> u64 {
        let weights = (bank.taps[0] * bank.taps[1]) as u64 * u64::from(self.outputs[2] * self.block[2]);
        4 * u64::from(self.channels) * (self.pixels(bank)[2] + weights)
    }

    /// Blocks along columns, rows, and images times groups of filters.
    pub(crate) fn grid(&self, bank: &BankShape) -> [usize; 3] {
        let across = |length: usize, axis: usize| length.div_ceil((self.block[axis] * self.outputs[axis]) as usize);
        let [rows, columns] = [0, 1].map(|axis| bank.image[axis] - bank.taps[axis] + 1);
        [across(columns, 0), across(rows, 1), bank.images * across(bank.filters, 2)]
    }

    /// Cycles of the multiprocessor with most work. The numbers are fitted to times of 21 tiles for four
    /// banks on an H200, around which they scatter by 5 %.
    fn cycles(&self, bank: &BankShape, device: DeviceInfo) -> f64 {
        let [threads, outputs] = [self.block, self.outputs].map(|lengths| f64::from(lengths.iter().product::<u32>()));
        let [columns, rows, filters] = self.outputs.map(f64::from);
        let [height, width] = bank.taps.map(|length| length as f64);
        let depth = bank.image[2] as f64;
        // A row of taps: products, vectors of pixels and weights, and what a loop costs.
        let vectors = rows * ((columns + width - 1.0) / 4.0).ceil() + width;
        let row = outputs * width + vectors + 5.0 / f64::from(self.unrolled);
        // What comes to shared memory, mostly in vectors.
        let [pixel_rows, pixel_columns, _] = self.pixels(bank).map(|length| length as f64);
        let elements = pixel_rows * pixel_columns + height * width * filters * f64::from(self.block[2]);
        let thread = depth * height * row + 10.0 * elements * depth / threads + 4.0 * outputs + 200.0;
        // Waits of a block for memory: for each stage, for what a thread reads before it stores that, and for results.
        let stages = bank.image[2].div_ceil(self.channels as usize) as f64;
        let together = (LOADS * self.read_together(bank)) as f64;
        let rounds = (elements * f64::from(self.channels) / together / threads).max(1.0);
        let wait = stages * (3000.0 + 1500.0 * rounds) + 2000.0 + 200.0 * outputs;
        // Blocks of a multiprocessor: four schedulers issue for them, where warps are enough; each hides waits of others.
        let wave = |blocks: f64| {
            let issued = (blocks * threads).max(256.0) / 128.0 * thread;
            if blocks > 0.0 { issued + wait / blocks.sqrt() } else { 0.0 }
        };
        let resident = f64::from(self.resident(bank, device));
        let multiprocessors = f64::from(device.multiprocessors);
        let blocks = self.grid(bank).iter().product::<usize>() as f64;
        let waves = (blocks / (resident * multiprocessors)).floor();
        waves * wave(resident) + wave((blocks / multiprocessors - waves * resident).ceil())
    }
}

/// The most elements that fit a vector and divide what they are parts of.
fn most_of(lengths: [usize; 2]) -> usize {
    [4, 2].into_iter().find(|n| lengths.iter().all(|length| length % n == 0)).unwrap_or(1)
}

/// Parameters: the result, the input, filters, and the number of images.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LargeBankSpec {
    /// Of images, filters and result.
    pub(crate) dtype: DType,
    /// Rows, columns, channels.
    pub(crate) image: [usize; 3],
    /// Rows, columns.
    pub(crate) taps: [usize; 2],
    pub(crate) filters: usize,
    /// A C expression of `acc` and `f`.
    pub(crate) activation: Arc<str>,
    pub(crate) tile: LargeTile,
    /// Elements that addresses allow to read and to write at once.
    pub(crate) aligned: [usize; 2],
}

impl KernelSpec for LargeBankSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_large_filter_bank".into()
    }

    fn source(&self) -> String {
        let mut text = activation_text(self.dtype, &self.activation);
        let LargeTile { block, outputs, channels, blocks, unrolled } = self.tile;
        let step = if self.taps[1] <= MAX_UNROLLED_TAPS as usize { self.taps[1] } else { 8 };
        let sizes = [
            ("ROWS", self.image[0]),
            ("COLUMNS", self.image[1]),
            ("D", self.image[2]),
            ("FH", self.taps[0]),
            ("FW", self.taps[1]),
            ("F", self.filters),
            ("STEP", step),
            ("IN", most_of([self.image[2], channels as usize]).min(self.aligned[0])),
            ("OUT", most_of([self.filters, outputs[2] as usize]).min(self.aligned[1])),
        ];
        let tile = [
            ("BX", block[0]),
            ("BY", block[1]),
            ("BF", block[2]),
            ("PX", outputs[0]),
            ("PY", outputs[1]),
            ("FILTERS", outputs[2]),
            ("CHANNELS", channels),
            ("BLOCKS", blocks),
            ("UNROLL_Y", unrolled),
            ("LOADS", LOADS as u32),
        ];
        for (name, number) in sizes.into_iter().chain(tile.map(|(name, number)| (name, number as usize))) {
            let _ = writeln!(text, "enum {{ {name} = {number} }};");
        }
        text + include_str!("taps.cuh") + include_str!("large_filter_bank.cuh")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::ExecutionModel;

    /// Of some 130 tiles for each bank, those that an H200 ran as fast as the fastest, but for 1.5 %.
    #[test]
    fn tiles_are_those_that_were_fast() {
        let hopper = DeviceInfo {
            multiprocessors: 132,
            max_blocks: 4 * 132 * 8,
            execution: ExecutionModel::Simt,
            vector_bytes: 16,
            bulk_copy_smem_bytes: 227 << 10,
            shared_bytes: 227 << 10,
            compute_capability: 90,
        };
        let banks = [
            ([256, 256, 8], [9, 9], 64, ([4, 16, 4], [8, 2, 4], 8, 2)),
            ([512, 512, 4], [13, 13], 32, ([4, 16, 2], [8, 2, 4], 4, 1)),
            ([1024, 1024, 8], [5, 5], 16, ([4, 8, 4], [8, 2, 4], 8, 2)),
            ([2048, 2048, 4], [8, 8], 4, ([8, 8, 1], [4, 2, 4], 4, 2)),
        ];
        for (image, taps, filters, fast) in banks {
            let bank = BankShape { images: 1, image, taps, filters };
            let tile = LargeTile::for_bank(&bank, hopper).expect("filters fit in shared memory");
            assert_eq!((tile.block, tile.outputs, tile.channels, tile.unrolled), fast, "{image:?}");
        }
    }
}
