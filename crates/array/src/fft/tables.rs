//! Tables of Fourier transforms (twiddles, chirps and their transforms), made on the device and kept for later calls.
//!
//! A table is made by kernels in the stream that needs it, and used only by later work of that stream, so that nobody
//! waits. While a stream is captured, tables are part of what is captured, and are not kept.

use crate::error::Result;
use crate::runtime::{ArrayContext, Buffer};
use rtcg_codegen::DType;
use rtcg_codegen::array::FFT_STAGES;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of tables that a context keeps; those that were not used for the longest time go first.
pub const FFT_TABLE_BYTES: usize = 64 << 20;

/// What a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Table {
    /// Twiddles between the stages of a pass.
    Stages([u8; FFT_STAGES]),
    /// Twiddles of a long transform.
    Turns(usize),
    /// The chirp of a length.
    Chirp(usize),
    /// The transform of the chirp of the first length in that of the second one.
    Spectrum(usize, usize),
}

/// The number of a stream, a dtype, what a table has.
type Key = (u64, DType, Table);

struct Kept {
    memory: Arc<dyn Buffer>,
    nbytes: usize,
    /// When it was used last.
    used: u64,
}

/// The tables of a context.
#[derive(Default)]
pub(crate) struct Tables {
    kept: FxHashMap<Key, Kept>,
    clock: u64,
    nbytes: usize,
}

impl Tables {
    fn find(&mut self, key: &Key) -> Option<Arc<dyn Buffer>> {
        self.clock += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.memory.clone())
    }

    fn keep(&mut self, key: Key, memory: Arc<dyn Buffer>, nbytes: usize) {
        if nbytes > FFT_TABLE_BYTES {
            return;
        }
        let used = self.clock;
        if let Some(old) = self.kept.insert(key, Kept { memory, nbytes, used }) {
            self.nbytes -= old.nbytes;
        }
        self.nbytes += nbytes;
        while self.nbytes > FFT_TABLE_BYTES {
            let Some(oldest) = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key) else { return };
            if let Some(gone) = self.kept.remove(&oldest) {
                self.nbytes -= gone.nbytes;
            }
        }
    }
}

impl ArrayContext {
    /// A table of `nbytes` bytes, which `make` fills unless it is there.
    pub(super) fn fft_table(
        &self,
        dtype: DType,
        table: Table,
        nbytes: usize,
        make: impl FnOnce(u64) -> Result<()>,
    ) -> Result<Arc<dyn Buffer>> {
        let stream = self.runtime().stream_number()?;
        let key = stream.map(|stream| (stream, dtype, table));
        if let Some(found) = key.and_then(|key| self.fft_tables().find(&key)) {
            found.will_be_used();
            return Ok(found);
        }
        let memory = self.runtime().alloc_from(None, nbytes)?;
        memory.will_be_used();
        make(memory.device_ptr())?;
        if let Some(key) = key {
            self.fft_tables().keep(key, memory.clone(), nbytes);
        }
        Ok(memory)
    }

    /// Bytes of the tables of Fourier transforms that are kept, at most [`FFT_TABLE_BYTES`].
    pub fn fft_table_bytes(&self) -> usize {
        self.fft_tables().nbytes
    }

    /// Gives the tables of Fourier transforms back.
    pub fn clear_fft_tables(&self) {
        let old = std::mem::take(&mut *self.fft_tables());
        drop(old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nowhere;
    impl Buffer for Nowhere {
        fn device_ptr(&self) -> u64 {
            1
        }
        fn as_any(self: Arc<Self>) -> Arc<dyn std::any::Any + Send + Sync> {
            self
        }
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let mut tables = Tables::default();
        let key = |n| (0, DType::C64, Table::Chirp(n));
        let third = FFT_TABLE_BYTES / 3;
        (0..3).for_each(|n| tables.keep(key(n), Arc::new(Nowhere), third));
        assert!(tables.find(&key(0)).is_some());
        tables.keep(key(3), Arc::new(Nowhere), third);
        assert!([0, 2, 3].iter().all(|&n| tables.find(&key(n)).is_some()) && tables.find(&key(1)).is_none());
        assert_eq!(tables.nbytes, 3 * third);
        tables.keep(key(4), Arc::new(Nowhere), FFT_TABLE_BYTES + 1);
        assert!(tables.find(&key(4)).is_none() && tables.nbytes == 3 * third);
        tables.keep(key(3), Arc::new(Nowhere), third);
        assert_eq!(tables.nbytes, 3 * third);
    }
}
