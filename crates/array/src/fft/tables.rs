//! Tables of Fourier transforms (twiddles, chirps and their transforms), computed on the device and cached for later
//! calls.
//!
//! Kernels compute a table in the stream that needs it, and only later work in that stream uses it, so the host never
//! waits. While a stream is being captured, its tables become part of the graph and are not cached.

use rtcg_codegen::array::FFT_STAGES;
use rtcg_hal::{ArrayBuffer, ArrayContext, DType, Result, is_compiling_ahead, lock_ignoring_poison};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The maximum size, in bytes, of the tables that a context caches; the least recently used are evicted first.
pub const MAX_FFT_TABLE_BYTES: usize = 64 << 20;

/// What a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TableKind {
    /// Twiddles between the stages of a pass of these radices, and whether it convolves.
    StageTwiddles([u8; FFT_STAGES], bool),
    /// Twiddles of a long transform.
    Twiddles(usize),
    /// The chirp of a length.
    Chirp(usize),
    /// The transform of the chirp of the first length in that of the second one.
    Spectrum(usize, usize),
}

/// The number of a stream, a dtype, what a table has.
type TableKey = (u64, DType, TableKind);

struct CachedTable {
    memory: Arc<dyn ArrayBuffer>,
    nbytes: usize,
    /// When it was used last.
    last_used: u64,
}

/// The tables of a context.
#[derive(Default)]
struct TableCache {
    entries: FxHashMap<TableKey, CachedTable>,
    clock: u64,
    nbytes: usize,
}

impl TableCache {
    fn get_table(&mut self, key: &TableKey) -> Option<Arc<dyn ArrayBuffer>> {
        self.clock += 1;
        let kept = self.entries.get_mut(key)?;
        kept.last_used = self.clock;
        Some(kept.memory.clone())
    }

    fn insert_table(&mut self, key: TableKey, memory: Arc<dyn ArrayBuffer>, nbytes: usize) {
        if nbytes > MAX_FFT_TABLE_BYTES {
            return;
        }
        let last_used = self.clock;
        if let Some(old) = self.entries.insert(key, CachedTable { memory, nbytes, last_used }) {
            self.nbytes -= old.nbytes;
        }
        self.nbytes += nbytes;
        while self.nbytes > MAX_FFT_TABLE_BYTES {
            let Some(oldest) = self.entries.iter().min_by_key(|(_, kept)| kept.last_used).map(|(key, _)| *key) else {
                return;
            };
            if let Some(gone) = self.entries.remove(&oldest) {
                self.nbytes -= gone.nbytes;
            }
        }
    }
}

fn locked_fft_tables(ctx: &ArrayContext) -> MutexGuard<'_, TableCache> {
    lock_ignoring_poison(ctx.layer::<Mutex<TableCache>>())
}

/// A table of `nbytes` bytes, which `make` fills unless it is there.
pub(super) fn fft_table(
    ctx: &ArrayContext,
    dtype: DType,
    table: TableKind,
    nbytes: usize,
    make: impl FnOnce(u64) -> Result<()>,
) -> Result<Arc<dyn ArrayBuffer>> {
    let stream = ctx.queue().number()?;
    let key = stream.map(|stream| (stream, dtype, table));
    if let Some(found) = key.and_then(|key| locked_fft_tables(ctx).get_table(&key)) {
        found.record_use();
        return Ok(found);
    }
    let memory = ctx.device().alloc_from(None, nbytes)?;
    memory.record_use();
    make(memory.device_ptr())?;
    // What was not launched has filled nothing.
    if let Some(key) = key.filter(|_| !is_compiling_ahead()) {
        locked_fft_tables(ctx).insert_table(key, memory.clone(), nbytes);
    }
    Ok(memory)
}

/// The size, in bytes, of the cached Fourier transform tables, at most [`MAX_FFT_TABLE_BYTES`].
pub fn fft_table_bytes(ctx: &ArrayContext) -> usize {
    locked_fft_tables(ctx).nbytes
}

/// Frees the cached Fourier transform tables.
pub fn clear_fft_tables(ctx: &ArrayContext) {
    let old = std::mem::take(&mut *locked_fft_tables(ctx));
    drop(old);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NullBuffer;
    impl ArrayBuffer for NullBuffer {
        fn device_ptr(&self) -> u64 {
            1
        }
        fn as_any(self: Arc<Self>) -> Arc<dyn std::any::Any + Send + Sync> {
            self
        }
    }

    #[test]
    fn least_recently_used_table_is_evicted_first() {
        let mut tables = TableCache::default();
        let key = |n| (0, DType::C64, TableKind::Chirp(n));
        let third = MAX_FFT_TABLE_BYTES / 3;
        (0..3).for_each(|n| tables.insert_table(key(n), Arc::new(NullBuffer), third));
        assert!(tables.get_table(&key(0)).is_some());
        tables.insert_table(key(3), Arc::new(NullBuffer), third);
        assert!([0, 2, 3].iter().all(|&n| tables.get_table(&key(n)).is_some()) && tables.get_table(&key(1)).is_none());
        assert_eq!(tables.nbytes, 3 * third);
        tables.insert_table(key(4), Arc::new(NullBuffer), MAX_FFT_TABLE_BYTES + 1);
        assert!(tables.get_table(&key(4)).is_none() && tables.nbytes == 3 * third);
        tables.insert_table(key(3), Arc::new(NullBuffer), third);
        assert_eq!(tables.nbytes, 3 * third);
    }
}
