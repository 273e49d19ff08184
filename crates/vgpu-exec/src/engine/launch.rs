//! Launches that run, and asking them to stop.

use super::{interrupt, watchdog};
use crate::address_space::AddressSpace;
use crate::stop_reason;
use rtcg_vgpu_abi::IgnorePoison;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// Most threads of a block.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// Largest block in each dimension.
pub const MAX_BLOCK_DIM: [u32; 3] = [1024, 1024, 64];
/// Largest grid in each dimension.
pub const MAX_GRID_DIM: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
/// Shared memory that a block may use without opting in.
pub const MAX_SHARED_BYTES: u32 = 48 << 10;
/// Shared memory that a block may use after `cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)`.
pub const MAX_SHARED_OPTIN_BYTES: u32 = 163 << 10;

/// Asks running launches to stop, and says how much stack their threads have. One flag may serve
/// many launches (all of a context, say).
#[derive(Debug, Default)]
pub struct CancelFlag {
    /// Bytes of stack that a thread of a recursive kernel has at least, 0 if no limit was set.
    stack_limit: AtomicUsize,
    /// Set for good.
    set: AtomicBool,
    /// Counts interruptions: what was begun under an earlier number does not start any more.
    generation: AtomicU64,
    /// Launches that run with this flag.
    running_launches: Mutex<Vec<RunningLaunch>>,
    /// Whose memory their kernels may use; not said for launches outside of contexts.
    peers: OnceLock<Arc<dyn AddressSpace>>,
}

#[derive(Debug)]
struct RunningLaunch {
    stop: *const AtomicU32,
    grid: u64,
    kernel: *const str,
    /// Its calling thread has an interrupt check.
    can_check_interrupt: bool,
}
// SAFETY: the word is an atomic; both are alive while they are in the list (`LaunchGuard` borrows them).
unsafe impl Send for RunningLaunch {}

impl CancelFlag {
    /// A flag that is not set.
    pub fn new() -> CancelFlag {
        CancelFlag::default()
    }
    /// `CU_LIMIT_STACK_SIZE` for launches with this flag. Without it the stacks of recursive kernels
    /// are large.
    pub fn set_stack_limit(&self, bytes: usize) {
        self.stack_limit.store(bytes.max(1), Ordering::Relaxed);
    }
    /// What [`set_stack_limit`](Self::set_stack_limit) was given, if it was called.
    pub(crate) fn stack_limit(&self) -> Option<usize> {
        Some(self.stack_limit.load(Ordering::Relaxed)).filter(|&n| n > 0)
    }
    /// Says whose memory the kernels of these launches may use, once and for all.
    pub fn set_peer_access(&self, peers: Arc<dyn AddressSpace>) {
        let _ = self.peers.set(peers);
    }
    /// What [`set_peer_access`](Self::set_peer_access) was given.
    pub(crate) fn peer_access(&self) -> Option<&dyn AddressSpace> {
        self.peers.get().map(|p| &**p)
    }
    /// Stops every launch that runs with this flag, and each one that is started with it later.
    pub fn cancel_launches(&self) {
        self.set.store(true, Ordering::SeqCst);
        self.stop_running_launches(stop_reason::CANCELLED);
    }
    /// Stops every launch that runs with this flag and those that were begun before.
    pub fn interrupt_launches(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.stop_running_launches(stop_reason::INTERRUPTED);
    }
    /// Whether [`CancelFlag::cancel_launches`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }
    /// How often [`CancelFlag::interrupt_launches`] was called.
    pub fn interrupt_generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
    /// Whether no launch runs with this flag.
    pub fn has_no_running_launches(&self) -> bool {
        self.lock_running_launches().is_empty()
    }
    /// The kernels that run with this flag.
    pub fn running_kernels(&self) -> Vec<String> {
        // SAFETY: listed names are alive.
        self.lock_running_launches().iter().map(|w| format!("kernel {}", unsafe { &*w.kernel })).collect()
    }
    fn stop_running_launches(&self, why: u32) {
        for watched in &*self.lock_running_launches() {
            // SAFETY: listed words are alive.
            stop_reason::set_stop_reason(unsafe { &*watched.stop }, why);
        }
    }
    fn lock_running_launches(&self) -> MutexGuard<'_, Vec<RunningLaunch>> {
        self.running_launches.lock().ignore_poison()
    }
    /// What happens to the flag sets `stop` until the result is dropped. `interrupt_generation` is the generation
    /// in which the launch was begun.
    pub(crate) fn watch_launch<'a>(
        &'a self,
        word: &'a AtomicU32,
        grid: u64,
        kernel: &'a str,
        generation: u64,
    ) -> LaunchGuard<'a> {
        self.lock_running_launches().push(RunningLaunch {
            stop: word,
            grid,
            kernel,
            can_check_interrupt: interrupt::can_check_interrupt(),
        });
        if self.set.load(Ordering::SeqCst) {
            stop_reason::set_stop_reason(word, stop_reason::CANCELLED);
        } else if self.generation.load(Ordering::SeqCst) != generation {
            stop_reason::set_stop_reason(word, stop_reason::INTERRUPTED);
        }
        watchdog::wake_watchdog();
        LaunchGuard { flag: self, stop: word }
    }
    /// Shows every running launch to `judge`, which says how long it has been running and whether
    /// that is too long.
    pub(crate) fn check_timeouts(&self, mut judge: impl FnMut(u64) -> (Duration, bool)) {
        for watched in &*self.lock_running_launches() {
            let (age, too_long) = judge(watched.grid);
            // SAFETY: listed words are alive.
            let word = unsafe { &*watched.stop };
            if too_long {
                stop_reason::set_stop_reason(word, stop_reason::TIMEOUT);
            } else if watched.can_check_interrupt && age >= interrupt::CHECK_INTERVAL {
                let _ = word.compare_exchange(
                    stop_reason::NOT_STOPPED,
                    stop_reason::CHECK_INTERRUPT,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
            }
        }
    }
}

/// A launch in the list of a flag.
pub(crate) struct LaunchGuard<'a> {
    flag: &'a CancelFlag,
    stop: &'a AtomicU32,
}

impl Drop for LaunchGuard<'_> {
    fn drop(&mut self) {
        self.flag.lock_running_launches().retain(|w| !std::ptr::eq(w.stop, self.stop));
    }
}
