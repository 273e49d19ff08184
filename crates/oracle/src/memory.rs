//! Memory as vectors of bytes, with bounds, what was written, and who accessed what when.
//!
//! Two accesses of one byte race when they are of different threads, one of them writes, not both
//! are atomic, and no barrier of the whole block lies between them. Threads of different blocks
//! have no barrier, so they always race.

/// An access for the search for races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedAccess {
    /// Index of the thread in the grid.
    pub(crate) thread: u32,
    /// Number of its block.
    pub(crate) block: u32,
    /// Barriers that its block has passed.
    pub(crate) epoch: u32,
    /// Whether the access is atomic.
    pub(crate) atomic: bool,
}

impl RecordedAccess {
    /// Whether a later access `now` of another thread may happen at the same time.
    fn races_with(&self, now: &RecordedAccess) -> bool {
        let ordered = self.block == now.block && self.epoch < now.epoch;
        self.thread != now.thread && !ordered && !(self.atomic && now.atomic)
    }
}

/// What is known of a byte.
#[derive(Debug, Clone, Copy, Default)]
struct ByteAccessState {
    written: bool,
    writer: Option<RecordedAccess>,
    reader: Option<RecordedAccess>,
    /// Another thread than `reader` has read it too since the last barrier.
    has_other_readers: bool,
}

/// A piece of memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryRegion {
    /// Its first address.
    pub(crate) base: u64,
    /// Its contents.
    pub(crate) bytes: Vec<u8>,
    writable: bool,
    cells: Vec<ByteAccessState>,
}

impl MemoryRegion {
    /// Memory with contents.
    pub(crate) fn new(base: u64, bytes: Vec<u8>, writable: bool) -> MemoryRegion {
        let cells = vec![ByteAccessState { written: true, ..ByteAccessState::default() }; bytes.len()];
        MemoryRegion { base, bytes, writable, cells }
    }

    /// Memory that nobody has written.
    pub(crate) fn new_uninitialised(base: u64, size: usize) -> MemoryRegion {
        MemoryRegion { base, bytes: vec![0; size], writable: true, cells: vec![ByteAccessState::default(); size] }
    }

    /// Where an access of `len` bytes at `address` begins, if it lies inside.
    pub(crate) fn offset_of(&self, address: u64, len: usize) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(self.base)?).ok()?;
        (at.checked_add(len)? <= self.bytes.len()).then_some(at)
    }

    /// Reads bytes.
    pub(crate) fn read_bytes(&mut self, at: usize, len: usize, access: RecordedAccess) -> Result<u128, String> {
        for cell in &mut self.cells[at..at + len] {
            if !cell.written {
                return Err("reads memory that was never written".into());
            }
            if cell.writer.is_some_and(|w| w.races_with(&access)) {
                return Err("a read races with a write of another thread".into());
            }
            let old = cell.reader.filter(|r| r.block != access.block || r.epoch == access.epoch);
            cell.has_other_readers = old.is_some_and(|r| r.thread != access.thread || cell.has_other_readers);
            cell.reader = Some(access);
        }
        Ok(self.bytes[at..at + len].iter().rev().fold(0, |x, &b| x << 8 | u128::from(b)))
    }

    /// Reads bytes for a texture, which sees only what was there before the launch.
    pub(crate) fn fetch_texels(&mut self, at: usize, len: usize, access: RecordedAccess) -> Result<u128, String> {
        if self.cells[at..at + len].iter().any(|c| c.writer.is_some()) {
            return Err("a texture reads what the launch has written".into());
        }
        self.read_bytes(at, len, access)
    }

    /// Writes the low bytes of `value`.
    pub(crate) fn write_bytes(
        &mut self,
        at: usize,
        len: usize,
        value: u128,
        access: RecordedAccess,
    ) -> Result<(), String> {
        if !self.writable {
            return Err("writes memory that is constant".into());
        }
        for (i, cell) in self.cells[at..at + len].iter_mut().enumerate() {
            let read_by_other = cell.reader.is_some_and(|r| {
                r.races_with(&access)
                    || (cell.has_other_readers
                        && (r.block != access.block || r.epoch == access.epoch)
                        && !(r.atomic && access.atomic))
            });
            if read_by_other || cell.writer.is_some_and(|w| w.races_with(&access)) {
                return Err("a write races with an access of another thread".into());
            }
            cell.writer = Some(access);
            cell.written = true;
            self.bytes[at + i] = (value >> (8 * i)) as u8;
        }
        Ok(())
    }
}

impl MemoryRegion {
    /// Takes over the contents of a smaller region with the same base.
    pub(crate) fn copy_from_region(&mut self, old: &MemoryRegion) {
        self.bytes[..old.bytes.len()].copy_from_slice(&old.bytes);
        self.cells[..old.cells.len()].copy_from_slice(&old.cells);
    }

    /// Gives up the end.
    pub(crate) fn shrink_to(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.cells.truncate(len);
    }
}
