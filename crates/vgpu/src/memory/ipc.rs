//! IPC: device memory, events and memory pools that this process shares with others.
//!
//! Establishes: every shared object has an *IPC record*, a small anonymous file that says what the object is
//! and whether it still exists. A handle names a process, its descriptor of the record, and the record's
//! number, which is never reused. So a handle of a process that has ended, or of freed memory, is
//! recognised. The other process opens record and memory through `/proc/PID/fd`, which the system allows to
//! processes of the same user.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::anonymous_file;
use rtcg_vgpu_abi::error::{Error, Res, ResultCode, ensure};

/// Bytes of a handle, as in CUDA.
pub(crate) const HANDLE_BYTES: usize = 64;
/// What handles and records begin with.
const IPC_MAGIC: u64 = u64::from_le_bytes(*b"rtcg-ipc");
/// Bytes of a record.
pub(crate) const IPC_RECORD_BYTES: usize = 4096;

/// What a record is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum IpcKind {
    /// A block of `cuMemAlloc`.
    Memory = 1,
    /// An event.
    Event = 2,
    /// A memory pool.
    Pool = 3,
    /// A block of a memory pool.
    PoolMemory = 4,
}

/// Where a block lies, for who maps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SharedBlock {
    /// Descriptor of the file in the process that has it.
    pub(crate) fd: u64,
    /// Number of the file in its file system, so that a descriptor that was used again is recognised.
    pub(crate) inode: u64,
    /// First byte in the file.
    pub(crate) offset: u64,
    /// Bytes of the block.
    pub(crate) size: u64,
    /// Ordinal of its device.
    pub(crate) device: u64,
    /// Number of the pool's record, 0 without one.
    pub(crate) pool: u64,
}

/// A record as it lies in its file: words, the first of which is [`IPC_MAGIC`].
const ID_WORD_INDEX: usize = 1;
const KIND_WORD_INDEX: usize = 2;
const ALIVE_WORD_INDEX: usize = 3;
const BLOCK_WORD_INDEX: usize = 4;
const RECORD_WORD_COUNT: usize = BLOCK_WORD_INDEX + 6;
/// Where a record has room for what its kind needs.
pub(crate) const PAYLOAD_OFFSET: usize = 256;

/// Something of this process that others may open; they no longer can when this is dropped.
#[derive(Debug)]
pub(crate) struct IpcRecord {
    pub(crate) file: File,
    /// Unique in the system.
    pub(crate) id: u64,
    kind: IpcKind,
}

/// A number that no other record has.
fn new_record_id() -> u64 {
    let mut bytes = [0; 8];
    let random = File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    let id = u64::from_le_bytes(bytes);
    static NEXT_FALLBACK_RECORD_ID: AtomicUsize = AtomicUsize::new(1);
    let count = NEXT_FALLBACK_RECORD_ID.fetch_add(1, Ordering::Relaxed) as u64;
    if random.is_ok() && id != 0 { id } else { u64::from(std::process::id()) << 32 | count }
}

/// A file in memory.
pub(crate) fn new_file(bytes: u64) -> Res<File> {
    let file = anonymous_file::create_memfd(c"rtcg shared", 0).ok_or(ResultCode::OPERATING_SYSTEM)?;
    file.set_len(bytes).map_err(|_| ResultCode::OUT_OF_MEMORY)?;
    Ok(file)
}

impl IpcRecord {
    /// A record for something that is there from now on.
    pub(crate) fn new(kind: IpcKind, place: SharedBlock) -> Res<IpcRecord> {
        let ticket = IpcRecord { file: new_file(IPC_RECORD_BYTES as u64)?, id: new_record_id(), kind };
        let SharedBlock { fd, inode, offset, size, device, pool } = place;
        let words = [IPC_MAGIC, ticket.id, kind as u64, 1, fd, inode, offset, size, device, pool];
        ticket.write_words(0, &words)?;
        Ok(ticket)
    }

    fn write_words(&self, word: usize, words: &[u64]) -> Res {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.file.write_all_at(&bytes, word as u64 * 8).map_err(|_| ResultCode::OPERATING_SYSTEM.into())
    }

    /// What another process opens it with.
    pub(crate) fn ipc_handle(&self) -> [u8; HANDLE_BYTES] {
        let mut handle = [0; HANDLE_BYTES];
        let whose = u64::from(std::process::id()) | (self.file.as_raw_fd() as u64) << 32;
        for (i, word) in [IPC_MAGIC, self.id, self.kind as u64, whose].into_iter().enumerate() {
            handle[i * 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        handle
    }

    /// A descriptor of the record for another process, which the caller closes.
    pub(crate) fn export_fd(&self) -> Res<RawFd> {
        // SAFETY: duplicates a descriptor that is open as long as the value lives.
        let fd = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 0) };
        ensure(fd >= 0, ResultCode::OPERATING_SYSTEM)?;
        Ok(fd)
    }
}

impl Drop for IpcRecord {
    fn drop(&mut self) {
        // Who has it open already learns it here; nobody else can open it any more.
        let _ = self.write_words(ALIVE_WORD_INDEX, &[0]);
    }
}

/// The record of another process.
#[derive(Debug)]
pub(crate) struct RemoteIpcRecord {
    pub(crate) file: File,
    /// The process, 0 when the record came as a descriptor.
    pid: u32,
    /// Number of the record.
    pub(crate) id: u64,
    /// Where the memory is.
    pub(crate) place: SharedBlock,
}

fn stale_handle_error(what: &str) -> Error {
    ResultCode::INVALID_HANDLE.with_detail(what.to_owned())
}

fn open_process_fd(pid: u32, fd: u64) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_CLOEXEC).open(format!("/proc/{pid}/fd/{fd}"))
}

impl RemoteIpcRecord {
    /// Opens what a handle names.
    pub(crate) fn open_handle(handle: &[u8; HANDLE_BYTES], kind: IpcKind) -> Res<RemoteIpcRecord> {
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|b| handle[i * 8 + b]));
        ensure(word(0) == IPC_MAGIC && word(2) == kind as u64, ResultCode::INVALID_VALUE)?;
        let (pid, fd) = (word(3) as u32, word(3) >> 32);
        // Blocks of pools are mapped once more, other things are refused.
        if pid == std::process::id() && kind != IpcKind::PoolMemory {
            return Err(ResultCode::INVALID_CONTEXT.with_detail("a process cannot open what it shares itself"));
        }
        let file = open_process_fd(pid, fd).map_err(|e| match e.kind() {
            std::io::ErrorKind::PermissionDenied => ResultCode::NOT_PERMITTED
                .with_detail(format!("process {pid}, which shares this, belongs to another user")),
            _ => stale_handle_error("the process that shared this has ended, or has freed it"),
        })?;
        let found = RemoteIpcRecord::read_record(file, pid)?;
        ensure(found.id == word(1), ResultCode::INVALID_HANDLE)?;
        Ok(found)
    }

    /// The record behind a descriptor, which stays the caller's.
    pub(crate) fn from_fd(fd: RawFd, kind: IpcKind) -> Res<RemoteIpcRecord> {
        // SAFETY: a wrong number is an error of the call.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        ensure(copy >= 0, ResultCode::INVALID_VALUE)?;
        // SAFETY: the descriptor was just made.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(copy) });
        let found = RemoteIpcRecord::read_record(file, 0).map_err(|_| ResultCode::INVALID_VALUE)?;
        ensure(found.read_words()?[KIND_WORD_INDEX] == kind as u64, ResultCode::INVALID_VALUE)?;
        Ok(found)
    }

    fn read_record(file: File, pid: u32) -> Res<RemoteIpcRecord> {
        let mut found = RemoteIpcRecord { file, pid, id: 0, place: SharedBlock::default() };
        let words = found.read_words()?;
        ensure(words[0] == IPC_MAGIC && words[ALIVE_WORD_INDEX] == 1, ResultCode::INVALID_HANDLE)?;
        let [fd, inode, offset, size, device, pool] = std::array::from_fn(|i| words[BLOCK_WORD_INDEX + i]);
        (found.id, found.place) = (words[ID_WORD_INDEX], SharedBlock { fd, inode, offset, size, device, pool });
        Ok(found)
    }

    fn read_words(&self) -> Res<[u64; RECORD_WORD_COUNT]> {
        let mut bytes = [0; RECORD_WORD_COUNT * 8];
        self.file
            .read_exact_at(&mut bytes, 0)
            .map_err(|_| stale_handle_error("this is no handle of another process"))?;
        Ok(std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|b| bytes[i * 8 + b]))))
    }

    /// The file that the memory lies in.
    pub(crate) fn open_memory_file(&self) -> Res<File> {
        let file =
            open_process_fd(self.pid, self.place.fd).map_err(|_| stale_handle_error("the memory has been freed"))?;
        let same = file.metadata().is_ok_and(|m| m.ino() == self.place.inode);
        // Freed, and the descriptor used for something else, between the two looks.
        ensure(same && self.read_words()?[ALIVE_WORD_INDEX] == 1, ResultCode::INVALID_HANDLE)?;
        Ok(file)
    }
}

/// The records of blocks of this process, by their first address.
static EXPORTED_BLOCKS: Mutex<Option<HashMap<u64, IpcRecord>>> = Mutex::new(None);
static EXPORTED_BLOCK_COUNT: AtomicUsize = AtomicUsize::new(0);

fn lock_exported_blocks() -> MutexGuard<'static, Option<HashMap<u64, IpcRecord>>> {
    EXPORTED_BLOCKS.lock().ignore_poison()
}

/// The handle of a block, whose place `share` finds out when it is requested the first time.
pub(crate) fn export_block_handle(
    start: u64,
    kind: IpcKind,
    share: impl FnOnce() -> Res<SharedBlock>,
) -> Res<[u8; HANDLE_BYTES]> {
    let mut guard = lock_exported_blocks();
    let known = guard.get_or_insert_default();
    if let Some(ticket) = known.get(&start) {
        return Ok(ticket.ipc_handle());
    }
    let ticket = IpcRecord::new(kind, share()?)?;
    let handle = ticket.ipc_handle();
    known.insert(start, ticket);
    EXPORTED_BLOCK_COUNT.store(known.len(), Ordering::Release);
    Ok(handle)
}

/// A block is freed: its handle is good for nothing from now on.
pub(crate) fn remove_exported_block(start: u64) {
    if EXPORTED_BLOCK_COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    if let Some(known) = lock_exported_blocks().as_mut() {
        known.remove(&start);
        EXPORTED_BLOCK_COUNT.store(known.len(), Ordering::Release);
    }
}
