//! Bank conflicts of the exchanges between the stages of a pass, counted exactly, and the layouts with the fewest.
//!
//! Shared memory serves 32 banks of 4 bytes at a time. Threads of a warp that access different words of one bank wait
//! for each other, so an access takes as many wavefronts as its fullest bank has words. Lanes that take 128 bytes together
//! go at once: 16 of complex64, 8 of complex128. All elements of a butterfly are equally far apart, so that each of
//! them has the conflicts of the first one.

use rtcg_codegen::array::FftExchange;

/// Lanes of a warp.
const WARP_LANES: usize = 32;
/// Bytes that the banks serve at once.
const WAVEFRONT_BYTES: usize = 128;
/// Warps of a block that are counted: more are alike.
const COUNTED_WARPS: usize = 4;
/// Longest padding that is tried: beyond it, banks repeat.
const MAX_PADDING: usize = 16;

/// The work of a block, as far as places in shared memory are concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockShape<'a> {
    pub radices: &'a [usize],
    /// Threads per transform.
    pub threads: usize,
    /// Transforms.
    pub columns: usize,
    /// Bytes of an element.
    pub itemsize: usize,
    /// Whether adjacent threads are at the same element of adjacent transforms, in the first stage.
    pub loads_columns: bool,
    /// The same of later stages.
    pub stores_columns: bool,
}

impl BlockShape<'_> {
    pub(super) fn length(self) -> usize {
        self.radices.iter().product()
    }

    /// The column and the index in it of a thread in a stage.
    fn thread_position(self, stage: usize, thread: usize) -> (usize, usize) {
        if if stage == 0 { self.loads_columns } else { self.stores_columns } {
            (thread % self.columns, thread / self.columns)
        } else {
            (thread / self.threads, thread % self.threads)
        }
    }

    /// Wavefronts that a stage takes for the first element of each butterfly, the elements of which `first` gives: of the
    /// warps that are counted.
    fn stage_wavefronts(self, stage: usize, exchange: FftExchange, first: impl Fn(usize) -> usize) -> usize {
        let butterflies = self.length() / self.radices[stage];
        let (all, lanes) = (self.threads * self.columns, WAVEFRONT_BYTES / self.itemsize);
        let counted = all.min(COUNTED_WARPS * WARP_LANES);
        let rounds = butterflies.div_ceil(self.threads);
        let mut wavefronts = 0;
        for round in 0..rounds {
            for start in (0..counted).step_by(lanes) {
                let mut words = [0u8; WARP_LANES];
                for thread in start..(start + lanes).min(counted) {
                    let (column, index) = self.thread_position(stage, thread);
                    let butterfly = index + round * self.threads;
                    if butterfly < butterflies {
                        words[exchange.place(first(butterfly), column) % lanes] += 1;
                    }
                }
                wavefronts += usize::from(words.into_iter().max().unwrap_or(0));
            }
        }
        wavefronts * self.radices[stage]
    }

    /// Wavefronts of the exchange behind a stage, writing and reading, of the warps that are counted.
    pub(super) fn exchange_wavefronts(self, stage: usize, exchange: FftExchange) -> usize {
        let before: usize = self.radices[..stage].iter().product();
        let row = before * self.radices[stage];
        let written = self.stage_wavefronts(stage, exchange, |i| i / before * row + i % before);
        written + self.stage_wavefronts(stage + 1, exchange, |i| i)
    }

    /// Where elements lie between global memory, of which threads access adjacent elements, `used` of each transform, and
    /// the first stage, or the last one: with the fewest wavefronts.
    pub(super) fn plan_staging(self, stage: usize, used: usize) -> FftExchange {
        let lanes = WAVEFRONT_BYTES / self.itemsize;
        let counted = (self.threads * self.columns).min(COUNTED_WARPS * WARP_LANES);
        let wavefronts = |exchange: &FftExchange| {
            let mut all = self.stage_wavefronts(stage, *exchange, |i| i);
            for start in (0..counted * used / self.threads).step_by(lanes) {
                let mut words = [0u8; WARP_LANES];
                (start..start + lanes).for_each(|at| words[exchange.place(at % used, at / used) % lanes] += 1);
                all += usize::from(words.into_iter().max().unwrap_or(0));
            }
            all
        };
        let strides = used..=used + (used / 4).clamp(1, MAX_PADDING);
        let layouts = strides.map(|stride| FftExchange {
            element_stride: 1,
            column_stride: stride as u32,
            interval: 1,
            padding: 0,
        });
        layouts.min_by_key(wavefronts).unwrap_or_default()
    }

    /// The fewest wavefronts that an exchange can take.
    fn fewest_wavefronts(self) -> usize {
        let counted = (self.threads * self.columns).min(COUNTED_WARPS * WARP_LANES);
        2 * self.length() * counted.div_ceil(WAVEFRONT_BYTES / self.itemsize) / self.threads
    }

    /// Layouts of the exchange behind a stage that take at most `most` elements, the shortest padding first.
    fn layouts(self, stage: usize, most: usize) -> Vec<FftExchange> {
        let (length, columns) = (self.length(), self.columns);
        let row: usize = self.radices[..=stage].iter().product();
        let apart = length / self.radices[stage + 1];
        let mut found = Vec::new();
        for rows in (1..=apart / row).filter(|rows| (apart / row).is_multiple_of(*rows)) {
            for padding in usize::from(rows > 1)..=MAX_PADDING {
                let (interval, padding) = ((rows * row) as u16, padding as u16);
                let by_columns = FftExchange { element_stride: columns as u16, column_stride: 1, interval, padding };
                let adjacent = FftExchange { element_stride: 1, column_stride: 0, interval, padding };
                let needed = adjacent.allocated(length, 1);
                let more = if columns == 1 { 0 } else { MAX_PADDING / 2 };
                found.extend((0..=more).map(|more| FftExchange { column_stride: (needed + more) as u32, ..adjacent }));
                if (self.loads_columns || self.stores_columns) && columns > 1 {
                    found.push(by_columns);
                }
            }
        }
        found.retain(|exchange| exchange.allocated(length, columns) <= most);
        found.sort_by_key(|exchange| exchange.allocated(length, columns));
        found
    }

    /// The layouts with the fewest wavefronts, and how many they take for each that they would without conflicts.
    /// `None` where there is no room for the elements.
    pub(super) fn plan_exchanges(self, shared_bytes: usize) -> Option<(Vec<FftExchange>, f64)> {
        let elements = self.length() * self.columns;
        // Padding is no longer than a fourth of few elements, and an eighth of many, of which blocks have to share.
        let padding = if elements * self.itemsize <= 16 << 10 { elements / 4 } else { elements / 8 };
        let most = (elements + padding).min(shared_bytes / self.itemsize);
        let fewest = self.fewest_wavefronts();
        let mut all = 0;
        let mut exchanges = Vec::new();
        for stage in 0..self.radices.len() - 1 {
            let mut best: Option<(usize, FftExchange)> = None;
            for exchange in self.layouts(stage, most) {
                let wavefronts = self.exchange_wavefronts(stage, exchange);
                if best.is_none_or(|(least, _)| wavefronts < least) {
                    best = Some((wavefronts, exchange));
                }
                if wavefronts <= fewest {
                    break;
                }
            }
            let (wavefronts, exchange) = best?;
            all += wavefronts;
            exchanges.push(exchange);
        }
        let ratio = all as f64 / (fewest * exchanges.len()).max(1) as f64;
        Some((exchanges, ratio.max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_shape(radices: &[usize], threads: usize, columns: usize, itemsize: usize) -> BlockShape<'_> {
        BlockShape { radices, threads, columns, itemsize, loads_columns: false, stores_columns: false }
    }

    #[test]
    fn conflicts_are_counted_exactly() {
        let shape = block_shape(&[16, 16], 16, 2, 8);
        let plain = FftExchange { element_stride: 1, column_stride: 256, interval: 16, padding: 0 };
        // 16 lanes write elements that are 16 apart, all in one bank: 16 wavefronts each; they read without conflicts.
        assert_eq!(shape.exchange_wavefronts(0, plain), 2 * 16 * 16 + 2 * 16);
        let padded = FftExchange { padding: 1, column_stride: 272, ..plain };
        assert_eq!(shape.exchange_wavefronts(0, padded), 2 * 16 + 2 * 16);
        assert_eq!(shape.fewest_wavefronts(), 64);
    }

    #[test]
    fn powers_of_two_have_no_conflicts() {
        for (radices, threads, columns) in [(&[16, 16, 16][..], 256, 1), (&[32, 8, 32], 256, 1), (&[8, 8, 16], 64, 4)] {
            for itemsize in [8, 16] {
                let shape = block_shape(radices, threads, columns, itemsize);
                let (exchanges, ratio) = shape.plan_exchanges(200 << 10).expect("room");
                assert_eq!((exchanges.len(), ratio), (2, 1.0), "{radices:?} {itemsize}");
            }
        }
    }

    #[test]
    fn elements_have_places_of_their_own() {
        let shapes = [
            block_shape(&[10, 10, 10], 100, 3, 8),
            BlockShape { loads_columns: true, ..block_shape(&[10, 10, 10], 50, 4, 16) },
            BlockShape { loads_columns: true, stores_columns: true, ..block_shape(&[16, 4, 4], 16, 8, 8) },
            block_shape(&[25, 24], 24, 5, 8),
        ];
        for shape in shapes {
            let (exchanges, _) = shape.plan_exchanges(100 << 10).expect("room");
            for exchange in exchanges {
                let most = exchange.allocated(shape.length(), shape.columns);
                let mut taken = vec![false; most];
                for column in 0..shape.columns {
                    for element in 0..shape.length() {
                        assert!(!std::mem::replace(&mut taken[exchange.place(element, column)], true), "{shape:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn there_is_no_layout_without_room() {
        assert!(block_shape(&[16, 16], 16, 2, 8).plan_exchanges(4000).is_none());
    }
}
