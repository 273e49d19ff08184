//! Moves memory that kernels may be using from private pages into a file, so that other processes can
//! map it too.
//!
//! Establishes: no write is lost. While the pages are copied they can only be read; a thread that
//! writes to them meanwhile faults, and the signal handler lets it try again when the file has taken
//! their place (`may_retry_access`).

use rtcg_vgpu_abi::IgnorePoison;
use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::window::{device_window, page_size};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Counts beginnings and ends: odd while something is being moved.
static PAGE_MOVE_EPOCH: AtomicU64 = AtomicU64::new(0);
static PAGE_MOVE_LOCK: Mutex<()> = Mutex::new(());

thread_local!(static LAST_SEEN_EPOCH: Cell<u64> = const { Cell::new(0) });

/// Copies whole pages to the beginning of `file` and maps them from there, at the same addresses.
pub fn move_pages_into_file(start: u64, len: u64, file: &File) -> Res {
    let _turn = PAGE_MOVE_LOCK.lock().ignore_poison();
    super::signals::install_fault_handlers();
    PAGE_MOVE_EPOCH.fetch_add(1, Ordering::SeqCst);
    let outcome = copy_and_map(start, len, file);
    PAGE_MOVE_EPOCH.fetch_add(1, Ordering::SeqCst);
    outcome
}

fn copy_and_map(start: u64, len: u64, file: &File) -> Res {
    let (at, bytes) = (start as *mut libc::c_void, len as usize);
    // SAFETY: the range belongs to a live block of the heap, which no Rust reference points into.
    ensure(unsafe { libc::mprotect(at, bytes, libc::PROT_READ) } == 0, ResultCode::OUT_OF_MEMORY)?;
    let mapped = copy_pages(start, len, file).is_ok() && {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        // SAFETY: no Rust reference points into the range; the file has the same contents and lives as long as it is mapped.
        unsafe { libc::mmap(at, bytes, access, flags, file.as_raw_fd(), 0) != libc::MAP_FAILED }
    };
    if !mapped {
        // SAFETY: the range is mapped as it was, and is made writable again.
        unsafe { libc::mprotect(at, bytes, libc::PROT_READ | libc::PROT_WRITE) };
    }
    ensure(mapped, ResultCode::OUT_OF_MEMORY)
}

/// Writes the pages that hold anything.
fn copy_pages(start: u64, len: u64, file: &File) -> std::io::Result<()> {
    let page = page_size();
    for offset in (0..len).step_by(page) {
        // SAFETY: the page can be read, and nobody can write to it before it has been replaced.
        let bytes = unsafe { std::slice::from_raw_parts((start + offset) as *const u8, page) };
        if bytes.iter().any(|&b| b != 0) {
            file.write_all_at(bytes, offset)?;
        }
    }
    Ok(())
}

/// Whether an access to `address` that the system has refused may be good now, because memory was moved
/// since this thread asked last. Waits for a move that is under way. Called by the signal handler:
/// nothing here takes a lock or memory.
pub(crate) fn may_retry_access(address: usize) -> bool {
    let mut epoch = PAGE_MOVE_EPOCH.load(Ordering::SeqCst);
    if epoch == 0 || !device_window().is_ok_and(|w| w.contains(address)) {
        return false;
    }
    while !epoch.is_multiple_of(2) {
        // SAFETY: lets other threads run.
        unsafe { libc::sched_yield() };
        epoch = PAGE_MOVE_EPOCH.load(Ordering::SeqCst);
    }
    LAST_SEEN_EPOCH.try_with(|seen| seen.replace(epoch) != epoch).unwrap_or(false)
}
