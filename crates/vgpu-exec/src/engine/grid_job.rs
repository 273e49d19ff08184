//! A running grid: what its workers share.

use super::fiber::{Warp, WarpRingLink};
use super::launch::CancelFlag;
use super::memory_slots::{self, SlotPool};
use super::{fault_report, interrupt};
use crate::check::race::RaceDetector;
use crate::check::{self, shadow};
use crate::program::Program;
use crate::window::WindowError;
use crate::{stop_reason, tid_tables};
use rtcg_vgpu_abi::fault::{Fault, FaultKind};
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;
use rtcg_vgpu_abi::schedule;
use rtcg_vgpu_abi::{IgnorePoison, TidTable, WARP_LANES, WarpCtx};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// `%smid` of a block, by the order in which blocks start: a device gives the first ones a multiprocessor each
/// (question 46 of `tests/fidelity`).
pub(crate) fn multiprocessor_of_block(number: u64) -> u32 {
    (number % u64::from(memory_slots::n_multiprocessors())) as u32
}

/// Multiprocessors that the device claims to have: `%nsmid`.
pub const MULTIPROCESSOR_COUNT: u32 = 108;

/// Shape of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// All blocks must be resident at once.
    pub cooperative: bool,
}

impl LaunchConfig {
    /// Threads of a block.
    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }
    /// Blocks of the grid.
    pub fn blocks_in_grid(&self) -> u64 {
        self.grid.iter().map(|&g| u64::from(g)).product()
    }
}

/// A grid in progress.
pub(crate) struct GridJob<'a> {
    pub(crate) program: &'a Program,
    pub(crate) shape: LaunchConfig,
    pub(crate) threads: u32,
    pub(crate) n_warps: u32,
    pub(crate) tids: Arc<[TidTable]>,
    pub(crate) params: usize,
    /// Bytes of parameters that the launch passed.
    pub(crate) param_bytes: usize,
    /// State of the random choices, when the schedule makes some: then one thread runs the job.
    random: Option<(u64, AtomicU64)>,
    /// What is known of accesses, when races are checked.
    pub(crate) race: Option<Mutex<RaceDetector>>,
    /// Only the caller may run blocks.
    pub(crate) caller_only: bool,
    /// The schedule is not the normal one.
    is_ordered_schedule: bool,
    pub(crate) workspace: u64,
    pub(crate) grid_id: u64,
    pub(crate) total_shared: u32,
    /// Why all warps are to stop, if they are ([`stop_reason`]); polled by compiled code.
    pub(crate) stop: AtomicU32,
    /// The flag that the launch runs with.
    pub(crate) cancel: &'a CancelFlag,
    /// The next block that no worker has taken.
    pub(crate) next: AtomicU64,
    pub(crate) total: u64,
    pub(crate) chunk: u64,
    /// When the launch of a program of the first tier began, as long as nothing has replaced that.
    first_tier_since: Option<Instant>,
    /// Workers other than the caller that are in this job.
    pub(crate) helpers: AtomicUsize,
    pub(crate) caller: std::thread::Thread,
    pub(crate) fault: Mutex<Option<Fault>>,
}

// SAFETY: `params` is an address that only compiled code reads; the rest is `Sync` by itself.
unsafe impl Sync for GridJob<'_> {}

static NEXT_GRID_ID: AtomicU64 = AtomicU64::new(1);

/// The parameter buffer and the grid's synchronisation words; given back when dropped.
pub(crate) struct ParamSlot {
    slot: memory_slots::MemorySlot,
    bytes: usize,
}

impl ParamSlot {
    /// Copies packed parameters into the device window and clears the synchronisation words.
    pub(crate) fn new(params: &[u8]) -> Result<ParamSlot, WindowError> {
        let bytes = memory_slots::PARAM_BYTES + memory_slots::WORKSPACE_BYTES;
        let busy =
            || WindowError { what: "parameters of launches: all buffers are in use".into(), errno: libc::ENOMEM };
        let slot = memory_slots::PARAM_SLOTS.alloc_slot(bytes)?.ok_or_else(busy)?;
        let n = params.len().min(memory_slots::PARAM_BYTES);
        // SAFETY: the slot is committed for `bytes` and nobody else uses it.
        unsafe {
            std::ptr::copy_nonoverlapping(params.as_ptr(), slot.start as *mut u8, n);
            ((slot.start + memory_slots::PARAM_BYTES) as *mut u8).write_bytes(0, memory_slots::WORKSPACE_BYTES);
        }
        shadow::mark_freed(slot.start, memory_slots::PARAM_BYTES);
        shadow::mark_constant(slot.start, n);
        shadow::mark_allocated(slot.start + memory_slots::PARAM_BYTES, memory_slots::WORKSPACE_BYTES, true);
        Ok(ParamSlot { slot, bytes: n })
    }
    fn workspace_address(&self) -> u64 {
        (self.slot.start + memory_slots::PARAM_BYTES) as u64
    }
}

impl Drop for ParamSlot {
    fn drop(&mut self) {
        memory_slots::PARAM_SLOTS.release_slot(self.slot);
    }
}

impl<'a> GridJob<'a> {
    pub(crate) fn new(
        program: &'a Program,
        shape: LaunchConfig,
        params: &ParamSlot,
        n_workers: usize,
        cancel: &'a CancelFlag,
    ) -> GridJob<'a> {
        let threads = shape.threads_per_block();
        let total = shape.blocks_in_grid();
        let seed = if program.random { schedule::next_launch_seed() } else { None };
        let chunk = if program.suspends { 1 } else { (total / (16 * n_workers as u64)).clamp(1, 64) };
        GridJob {
            program,
            shape,
            threads,
            n_warps: threads.div_ceil(WARP_LANES as u32),
            tids: tid_tables::tid_tables(shape.block),
            params: params.slot.start,
            param_bytes: params.bytes,
            random: seed.map(|s| (s, AtomicU64::new(s))),
            race: check::enabled_checks().race.then(Mutex::default),
            caller_only: schedule::current_schedule().is_reproducible() || check::enabled_checks().race,
            is_ordered_schedule: schedule::current_schedule().is_reproducible(),
            workspace: if shape.cooperative { params.workspace_address() } else { 0 },
            grid_id: NEXT_GRID_ID.fetch_add(1, Ordering::Relaxed),
            total_shared: (program.dynamic_shared_offset - RESERVED_SHARED_BYTES) + shape.dynamic_shared,
            stop: AtomicU32::new(stop_reason::NOT_STOPPED),
            cancel,
            next: AtomicU64::new(0),
            total,
            chunk,
            first_tier_since: program.awaits_optimized().then(Instant::now),
            helpers: AtomicUsize::new(0),
            caller: std::thread::current(),
            fault: Mutex::new(None),
        }
    }

    /// Takes the next blocks; empty when there are none left or the job is stopped.
    pub(crate) fn claim_blocks(&self) -> std::ops::Range<u64> {
        if self.is_stopped() || self.next.load(Ordering::Relaxed) >= self.total {
            return 0..0;
        }
        if let Some(since) = self.first_tier_since
            && self.next.load(Ordering::Relaxed) != 0
        {
            self.program.request_optimized_after(since.elapsed());
        }
        let first = self.next.fetch_add(self.chunk, Ordering::Relaxed);
        first.min(self.total)..(first + self.chunk).min(self.total)
    }

    /// Whether the last block is not taken yet.
    pub(crate) fn has_unclaimed_blocks(&self) -> bool {
        !self.is_stopped() && self.next.load(Ordering::Relaxed) < self.total
    }

    pub(crate) fn is_stopped(&self) -> bool {
        stop_reason::is_stop_reason(self.stop.load(Ordering::Relaxed))
    }

    /// Whether the caller of the launch is to [`check_interrupt`](GridJob::check_interrupt).
    pub(crate) fn interrupt_check_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == stop_reason::CHECK_INTERRUPT
    }

    /// Called by the launch's caller on his own stack: finds out whether to stop, and does it.
    #[cold]
    pub(crate) fn check_interrupt(&self) {
        if interrupt::is_interrupt_requested() {
            self.cancel.interrupt_launches();
            stop_reason::set_stop_reason(&self.stop, stop_reason::INTERRUPTED);
        }
        // Not if there is a reason to stop by now.
        let _ = self.stop.compare_exchange(
            stop_reason::CHECK_INTERRUPT,
            stop_reason::NOT_STOPPED,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }

    /// Stops the job; the first fault wins.
    pub(crate) fn fail_with_fault(&self, fault: Fault) {
        stop_reason::set_stop_reason(&self.stop, stop_reason::FAILED);
        // What goes wrong after a launch was stopped for another reason is of no interest: its
        // memory may be gone already.
        if self.stop.load(Ordering::Acquire) == stop_reason::FAILED {
            check::record_fault_finding(check::enabled_checks(), &fault, || self.program.sites.text_hash());
            self.fault.lock().ignore_poison().get_or_insert(fault);
        }
    }

    /// Remembers where the first warp was that left because the launch was stopped from outside.
    pub(crate) fn record_first_stopped_warp(&self, warp: &Warp) {
        let why = self.stop.load(Ordering::Acquire);
        if why != stop_reason::FAILED {
            let mut slot = self.fault.lock().ignore_poison();
            slot.get_or_insert_with(|| fault_report::stopped_fault(self, warp, why));
        }
    }

    /// How the launch has ended.
    pub(crate) fn launch_outcome(&self) -> Result<(), Fault> {
        let fault = self.fault.lock().ignore_poison().take();
        let why = self.stop.load(Ordering::Acquire);
        match fault {
            Some(fault) => Err(fault),
            None if stop_reason::is_stop_reason(why) => {
                Err(fault_report::stopped_launch_fault(&self.program.name, why))
            }
            None => Ok(()),
        }
    }

    /// Stops the job because the system refused memory.
    pub(crate) fn fail_out_of_memory(&self, what: &str) {
        self.fail_with_fault(Fault::launch_fault(
            FaultKind::OutOfMemory,
            &self.program.name,
            format!("out of memory for {what}"),
        ));
    }

    /// Number of a block in the grid by its `%ctaid`.
    pub(crate) fn block_number(&self, [x, y, z]: [u32; 3]) -> u32 {
        let [gx, gy, _] = self.shape.grid;
        x.wrapping_add(gx.wrapping_mul(y.wrapping_add(gy.wrapping_mul(z))))
    }

    /// The inverse of [`GridJob::block_number`].
    pub(crate) fn block_index_from_number(&self, n: u32) -> [u32; 3] {
        let [gx, gy, _] = self.shape.grid;
        [n % gx, n / gx % gy, n / gx / gy]
    }

    /// Whether threads are scheduled at random.
    pub(crate) fn has_random_schedule(&self) -> bool {
        self.random.is_some()
    }

    /// A block begins whose shared memory is in the slot at `start`: nobody has written to it yet. Where runs
    /// are to be repeated it has contents that are always the same; random ones show what is read
    /// too early.
    pub(crate) fn init_shared_memory(&self, start: usize) {
        if self.program.uses_reserved_shared {
            shadow::mark_shared_memory(start, RESERVED_SHARED_BYTES as usize);
            // SAFETY: the block has just been given the range, and nobody else knows it.
            unsafe { (start as *mut u8).write_bytes(0, RESERVED_SHARED_BYTES as usize) };
        }
        if self.total_shared == 0 {
            return;
        }
        let shared = start + RESERVED_SHARED_BYTES as usize;
        shadow::mark_shared_memory(shared, self.total_shared as usize);
        if let Some(race) = &self.race {
            let mut race = race.lock().ignore_poison();
            race.forget_range(shared as u64, u64::from(self.total_shared));
        }
        if self.is_ordered_schedule {
            self.fill_shared_memory(shared, self.total_shared as usize);
        }
    }

    fn fill_shared_memory(&self, start: usize, bytes: usize) {
        let byte = self.random.as_ref().map_or(0, |(seed, _)| schedule::splitmix_finalizer(*seed) as u8 | 1);
        // SAFETY: the caller has just been given the range, and nobody else knows it.
        unsafe { (start as *mut u8).write_bytes(byte, bytes) };
    }

    /// The next random word; 0 when nothing is random.
    pub(crate) fn next_random_word(&self) -> u64 {
        let Some((_, state)) = &self.random else { return 0 };
        let n = state.load(Ordering::Relaxed).wrapping_add(1);
        state.store(n, Ordering::Relaxed);
        schedule::splitmix_finalizer(n)
    }

    /// `%ctaid` of block number `n`.
    pub(crate) fn scheduled_block_index(&self, n: u64) -> [u32; 3] {
        let n = self.random.as_ref().map_or(n, |(seed, _)| schedule::permuted_index(n, self.total, *seed));
        let [gx, gy, _] = self.shape.grid.map(u64::from);
        [(n % gx) as u32, (n / gx % gy) as u32, (n / gx / gy) as u32]
    }

    /// A warp that has everything but its place in the grid.
    pub(crate) fn new_warp(&self, worker: u32) -> Warp {
        Warp {
            ctx: WarpCtx {
                params: self.params as *const u8,
                shared: memory_slots::unmapped_address() as *mut u8,
                tid: self.tids.as_ptr(),
                local_sp: memory_slots::unmapped_address() as *mut u8,
                local_end: memory_slots::unmapped_address() as *mut u8,
                cancel: &raw const self.stop,
                block: null_mut::<c_void>(),
                outer_frames: null_mut::<c_void>(),
                host: self.program.host as *const c_void,
                live: 0,
                exited: 0,
                first_thread: 0,
                warp_id: 0,
                ctaid: [0; 3],
                ntid: self.shape.block,
                nctaid: self.shape.grid,
                dynamic_shared_offset: self.program.dynamic_shared_offset,
                dynamic_shared_size: self.shape.dynamic_shared,
                total_shared_size: self.total_shared,
                smid: 0,
                nsmid: memory_slots::n_multiprocessors(),
                grid_id: self.grid_id,
                grid_workspace: self.workspace,
                chunk: 0,
                barrier_site: rtcg_vgpu_abi::NO_SITE,
            },
            ring: WarpRingLink::new(),
            job: std::ptr::from_ref(self).cast(),
            entry: self.program.entry,
            fiber: null(),
            is_caller: worker == 0,
            stack_bottom: 0,
            barrier_result: 0,
            yields: 0,
            in_access: false,
            access_site: 0,
            access_lane: 0,
            access_write: false,
        }
    }

    /// A warp that is between two blocks runs the newest code from the next one on.
    #[inline(always)]
    pub(crate) fn update_program(&self, warp: &mut Warp) {
        if self.first_tier_since.is_none() {
            return;
        }
        let program = self.program.newest_for_block();
        (warp.entry, warp.ctx.host) = (program.entry, program.host as *const c_void);
    }

    /// Puts a warp at place `index` of its block.
    pub(crate) fn init_warp_position(&self, warp: &mut Warp, index: u32) {
        let ctx = &mut warp.ctx;
        ctx.tid = &raw const self.tids[index as usize];
        ctx.live = tid_tables::live_lane_mask(self.threads, index);
        ctx.exited = 0;
        ctx.first_thread = index * WARP_LANES as u32;
        ctx.warp_id = index;
    }

    /// Native stack a fiber of this job needs.
    pub(crate) fn stack_bytes(&self) -> usize {
        let bounded = self.program.stack_bytes as usize;
        match self.cancel.stack_limit() {
            _ if !self.program.recursive => bounded,
            None => crate::stack::UNBOUNDED_STACK_BYTES,
            Some(limit) => crate::stack::stack_bytes_for_limit(limit).max(bounded),
        }
    }

    /// Local memory for a warp; `None` (after stopping the job) when there is none to be had.
    pub(crate) fn alloc_local_memory(&self) -> Option<Option<memory_slots::MemorySlot>> {
        let p = self.program;
        if p.local_bytes_per_warp == 0 && !p.recursive {
            return Some(None);
        }
        let most = memory_slots::LOCAL_SLOT_BYTES - MAX_STAGGER_BYTES;
        let bytes = match self.cancel.stack_limit() {
            _ if !p.recursive => p.local_bytes_per_warp as usize,
            None => most,
            Some(limit) => (limit * WARP_LANES).max(p.local_bytes_per_warp as usize).min(most),
        };
        self.alloc_slot(&memory_slots::LOCAL_SLOTS, bytes + MAX_STAGGER_BYTES, "local memory").map(Some)
    }

    /// Shared memory for a block. `Ok(None)` when it needs none.
    pub(crate) fn alloc_shared_memory(&self) -> Result<Option<memory_slots::MemorySlot>, SharedMemoryUnavailable> {
        if self.total_shared == 0 && !self.program.uses_reserved_shared {
            return Ok(None);
        }
        match memory_slots::SHARED_SLOTS.alloc_slot((RESERVED_SHARED_BYTES + self.total_shared) as usize) {
            Ok(Some(slot)) => {
                shadow::mark_freed(slot.start, slot.committed);
                Ok(Some(slot))
            }
            Ok(None) => Err(SharedMemoryUnavailable::Busy),
            Err(e) => {
                self.fail_out_of_memory(&format!("shared memory: {e}"));
                Err(SharedMemoryUnavailable::Failed)
            }
        }
    }

    fn alloc_slot(&self, pool: &SlotPool, bytes: usize, what: &str) -> Option<memory_slots::MemorySlot> {
        match pool.alloc_slot(bytes) {
            Ok(Some(slot)) => {
                // What a warp that was stopped has left there.
                shadow::mark_freed(slot.start, slot.committed);
                if self.is_ordered_schedule && !self.program.recursive {
                    self.fill_shared_memory(slot.start, slot.committed);
                }
                Some(slot)
            }
            Ok(None) => {
                self.fail_out_of_memory(&format!("{what}: all of it is in use"));
                None
            }
            Err(e) => {
                self.fail_out_of_memory(&format!("{what}: {e}"));
                None
            }
        }
    }
}

/// Why a block got no shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedMemoryUnavailable {
    /// Other blocks have it all; some of them will end.
    Busy,
    /// The job was stopped with the reason.
    Failed,
}

const MAX_STAGGER_BYTES: usize = 16 << 10;

/// Gives a warp its local memory, staggered so that warps do not compete for cache sets.
pub(crate) fn set_local_memory(ctx: &mut WarpCtx, slot: Option<memory_slots::MemorySlot>) {
    if let Some(slot) = slot {
        let number = slot.start / memory_slots::LOCAL_SLOT_BYTES;
        let start = slot.start + ((number * 832 % MAX_STAGGER_BYTES) & !63);
        ctx.local_sp = start as *mut u8;
        ctx.local_end = (slot.start + slot.committed) as *mut u8;
    }
}
