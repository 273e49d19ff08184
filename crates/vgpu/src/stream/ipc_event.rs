//! Events that several processes record and wait for.
//!
//! Establishes: the state of such an event is a few words in its record's file, which every process
//! that has the event maps: how often it was recorded, and how many of these records have been passed. A
//! waiting thread sleeps on the second word (futex).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::memory::ipc::{
    HANDLE_BYTES, IPC_RECORD_BYTES, IpcKind, IpcRecord, PAYLOAD_OFFSET, RemoteIpcRecord, SharedBlock,
};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// An event that several processes record and wait for: it counts what is recorded, and how far that
/// has been passed.
#[derive(Debug)]
pub(crate) struct IpcEvent {
    words: *mut SharedEventState,
    /// Keeps the record alive in the process that made it.
    ipc_record: Option<IpcRecord>,
}

#[repr(C)]
struct SharedEventState {
    recorded: AtomicU32,
    passed: AtomicU32,
    /// Who recorded last.
    recorder: AtomicU32,
}

// SAFETY: the words are atomics in a mapping that lives as long as the value.
unsafe impl Send for IpcEvent {}
// SAFETY: the words are atomics in a mapping that lives as long as the value.
unsafe impl Sync for IpcEvent {}

impl Drop for IpcEvent {
    fn drop(&mut self) {
        let page = self.words.cast::<u8>().wrapping_sub(PAYLOAD_OFFSET);
        // SAFETY: the mapping was made by `map_shared_state` and nothing refers to it any more.
        unsafe { libc::munmap(page.cast(), IPC_RECORD_BYTES) };
    }
}

fn map_shared_state(file: &File) -> Res<*mut SharedEventState> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping of a file of this size.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), IPC_RECORD_BYTES, access, flags, file.as_raw_fd(), 0) };
    ensure(p != libc::MAP_FAILED, ResultCode::MAP_FAILED)?;
    Ok(p.cast::<u8>().wrapping_add(PAYLOAD_OFFSET).cast())
}

impl IpcEvent {
    /// An event of this process.
    pub(crate) fn new() -> Res<Arc<IpcEvent>> {
        let ticket = IpcRecord::new(IpcKind::Event, SharedBlock::default())?;
        Ok(Arc::new(IpcEvent { words: map_shared_state(&ticket.file)?, ipc_record: Some(ticket) }))
    }

    /// The event of another process.
    pub(crate) fn open_remote(handle: &[u8; HANDLE_BYTES]) -> Res<Arc<IpcEvent>> {
        let foreign = RemoteIpcRecord::open_handle(handle, IpcKind::Event)?;
        Ok(Arc::new(IpcEvent { words: map_shared_state(&foreign.file)?, ipc_record: None }))
    }

    /// What other processes open it with; an event of another process has no handle of its own.
    pub(crate) fn ipc_handle(&self) -> Res<[u8; HANDLE_BYTES]> {
        self.ipc_record.as_ref().map(IpcRecord::ipc_handle).ok_or_else(|| ResultCode::INVALID_VALUE.into())
    }

    fn shared_state(&self) -> &SharedEventState {
        // SAFETY: the mapping lives as long as the value, and other processes use it as atomics too.
        unsafe { &*self.words }
    }

    /// The event is recorded once more: the number to [`mark_record_completed`](Self::mark_record_completed).
    pub(crate) fn next_record_number(&self) -> u32 {
        let words = self.shared_state();
        words.recorder.store(std::process::id(), Ordering::Release);
        words.recorded.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The record of this number has been passed.
    pub(crate) fn mark_record_completed(&self, number: u32) {
        let passed = &self.shared_state().passed;
        let newer = |old: u32| (number.wrapping_sub(old) as i32 > 0).then_some(number);
        if passed.fetch_update(Ordering::AcqRel, Ordering::Acquire, newer).is_ok() {
            // SAFETY: wakes those that wait for this word, in any process.
            unsafe { libc::syscall(libc::SYS_futex, passed.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
    }

    /// The number of the latest record.
    pub(crate) fn latest_record_number(&self) -> u32 {
        self.shared_state().recorded.load(Ordering::Acquire)
    }

    /// Whether a record has been passed. Those of a process that has ended count as passed.
    pub(crate) fn is_record_completed(&self, number: u32) -> bool {
        let words = self.shared_state();
        if number.wrapping_sub(words.passed.load(Ordering::Acquire)) as i32 <= 0 {
            return true;
        }
        let recorder = words.recorder.load(Ordering::Acquire);
        // SAFETY: signal 0 is not sent; the call says whether the process is there.
        let there = unsafe { libc::kill(recorder as i32, 0) } == 0
            || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH);
        !there
    }

    /// Waits until something is passed, for at most `time`.
    pub(crate) fn wait_for_progress(&self, number: u32, time: Duration) {
        let passed = &self.shared_state().passed;
        let now = passed.load(Ordering::Acquire);
        if number.wrapping_sub(now) as i32 <= 0 {
            return;
        }
        let limit = libc::timespec { tv_sec: 0, tv_nsec: time.as_nanos() as i64 };
        // SAFETY: waits on the word while it has the value that was read; the limit outlives the call.
        unsafe { libc::syscall(libc::SYS_futex, passed.as_ptr(), libc::FUTEX_WAIT, now, &raw const limit) };
    }
}
