//! The common core of device and host pools: allocating blocks, taking them back, and calling the driver.
//!
//! Establishes: the lock is never held while the driver, a hook or a drop of another object runs, so that whatever
//! these wait for may use the pool meanwhile.
//!
//! If checks track the state of memory, a pool allocates a new block of exactly the requested size and frees it on
//! return, because a cached or rounded block would hide the errors that the checks look for.

use super::arena::{Arena, ClosedArena, StreamPoll};
use super::bins::{alloc_size, bin_number};
use super::block_source::BlockSource;
use super::lease::BlockLease;
use super::statistics::PoolStatistics;
use super::trim;
use crate::active_captures::{exchange_capture_mode_of_driver, is_any_capturing, with_relaxed_capture_mode};
use crate::context::Device;
use crate::context::{Context, with_current_context};
use crate::error::{Error, Result};
use crate::hidden_captures::between_hidden_captures;
use crate::memory::reclaim;
use crate::stream::Event;
use crate::stream::{Stream, any_thread_has_current_stream, checked_stream_handle};
use crate::{process_state, virtual_gpu};
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// How a pool differs from the usual one.
#[derive(Clone, Copy, Default)]
pub(super) struct PoolOptions {
    pub(super) is_labelled: bool,
    pub(super) trims_when_idle: bool,
}

#[derive(Default)]
pub(super) struct PoolState {
    arenas: Vec<Arena>,
    statistics: PoolStatistics,
    stopped: bool,
    /// Blocks handed out so far and blocks kept, when it was last asked whether the pool is idle.
    last_activity: (u64, usize),
}

/// A pool.
pub(super) struct PoolCore {
    pub(super) source: BlockSource,
    trims_when_idle: bool,
    state: Mutex<PoolState>,
    /// What the blocks in use are for, in a pool that is being debugged: address, size and label.
    labels: Option<Mutex<BlockLabels>>,
}

pub(super) type BlockLabels = HashMap<u64, (usize, Arc<str>)>;

/// Whom a new lease is for.
#[derive(Clone, Copy)]
pub(super) struct BlockOrigin {
    pub(super) arena: u32,
    pub(super) stream_idx: u32,
    /// Whether the block is only as large as was requested, because a larger one did not fit. It is not kept.
    pub(super) is_exact_size: bool,
}

impl BlockOrigin {
    /// The size of a block that was handed out for `nbytes`.
    #[inline]
    fn block_bytes(self, nbytes: usize) -> usize {
        if self.is_exact_size { nbytes } else { alloc_size(bin_number(nbytes)).unwrap_or(0) }
    }
}

impl PoolState {
    #[inline]
    fn find_arena(&self, ctx: &Context) -> Option<usize> {
        self.arenas.iter().position(|arena| arena.ctx.as_ref().is_some_and(|known| known == ctx))
    }

    /// The arena of a context, made if need be.
    fn get_or_add_arena(&mut self, ctx: &Context) -> usize {
        if let Some(index) = self.find_arena(ctx) {
            return index;
        }
        let vacant = self.arenas.iter().position(|arena| arena.ctx.is_none() && arena.is_idle());
        let index = vacant.unwrap_or_else(|| {
            self.arenas.push(Arena::new());
            self.arenas.len() - 1
        });
        self.arenas[index].ctx = Some(ctx.clone());
        self.arenas[index].is_exact = virtual_gpu::is_memory_checked(ctx.driver_table());
        index
    }

    /// Closes arenas that hold nothing, and drops the blocks of contexts that were destroyed.
    fn close_dead_arenas(&mut self) -> Vec<ClosedArena> {
        let mut leftovers = Vec::new();
        for arena in &mut self.arenas {
            if arena.ctx.as_ref().is_some_and(|ctx| !ctx.is_alive()) {
                while let Some((bin, _)) = arena.take_largest_free_block() {
                    self.statistics.held_blocks -= 1;
                    self.statistics.count_freed_block(alloc_size(bin).unwrap_or(0));
                }
            }
            if arena.ctx.is_some() && arena.is_idle() {
                leftovers.push(arena.close_arena());
            }
        }
        leftovers
    }
}

impl PoolCore {
    pub(super) fn new(source: BlockSource, options: PoolOptions) -> Arc<Self> {
        let labels = options.is_labelled.then(Mutex::default);
        let trims_when_idle = options.trims_when_idle;
        let core = Arc::new(Self { source, trims_when_idle, state: Mutex::default(), labels });
        if source == BlockSource::Device {
            let weak: Weak<Self> = Arc::downgrade(&core);
            reclaim::register_pool(weak);
        }
        core
    }

    /// The labels of the blocks in use; none in a pool that is not being debugged.
    pub(super) fn block_labels(&self) -> Option<MutexGuard<'_, BlockLabels>> {
        self.labels.as_ref().map(|labels| lock_ignoring_poison(labels))
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        lock_ignoring_poison(&self.state)
    }

    /// A block that was used before, if there is one that the stream may use.
    #[inline]
    pub(super) fn lease_held_block(self: &Arc<Self>, nbytes: usize, stream: Option<&Stream>) -> Option<BlockLease> {
        if process_state::is_forked() {
            return None;
        }
        let entered = current_stream_for_none(stream);
        match stream.or(entered.as_ref()) {
            Some(stream) => self.find_and_lease_held_block(stream.context(), nbytes, Some(stream), None),
            None => with_current_context(|ctx| self.find_and_lease_held_block(ctx?, nbytes, None, None)),
        }
    }

    /// [`PoolCore::lease_held_block`] in `ctx` rather than the current context.
    #[inline]
    pub(super) fn lease_held_block_of_context(
        self: &Arc<Self>,
        ctx: &Context,
        nbytes: usize,
        stream: Option<&Stream>,
    ) -> Option<BlockLease> {
        if stream.is_some() || any_thread_has_current_stream() || process_state::is_forked() {
            return self.lease_held_block(nbytes, stream);
        }
        self.find_and_lease_held_block(ctx, nbytes, None, None)
    }

    /// [`PoolCore::lease_held_block`] in a context. A stream that was not seen before is taken up only when it is
    /// said whether the default stream waits for it.
    #[inline]
    fn find_and_lease_held_block(
        self: &Arc<Self>,
        ctx: &Context,
        nbytes: usize,
        stream: Option<&Stream>,
        is_blocking: Option<bool>,
    ) -> Option<BlockLease> {
        let bin = bin_number(nbytes);
        let mut guard = self.lock();
        let state = &mut *guard;
        let index = state.find_arena(ctx)?;
        let arena = &mut state.arenas[index];
        let stream_idx = match arena.find_stream_idx(stream) {
            Some(stream_idx) => stream_idx,
            None => arena.get_or_add_stream_idx(Some((stream?, is_blocking?))),
        };
        if !ctx.is_alive() || arena.is_exact {
            return None;
        }
        let ptr = arena.take_from_bin(bin, stream_idx)?;
        arena.begin_lease(stream_idx);
        state.statistics.held_blocks -= 1;
        state.statistics.n_reused += 1;
        state.statistics.count_lease(nbytes);
        drop(guard);
        Some(BlockLease::new(
            self.clone(),
            ptr,
            nbytes,
            BlockOrigin { arena: index as u32, stream_idx, is_exact_size: false },
        ))
    }

    /// A block for a stream, from the driver when there is no other.
    pub(super) fn lease_block(self: &Arc<Self>, nbytes: usize, stream: Option<&Stream>) -> Result<BlockLease> {
        let entered = current_stream_for_none(stream);
        let stream = stream.or(entered.as_ref());
        if let Some(lease) = self.lease_held_block(nbytes, stream) {
            return Ok(lease);
        }
        let ctx = match stream {
            Some(stream) => stream.context().clone(),
            None => Context::current_or_error()?,
        };
        ctx.driver_table_if_alive("memory_pool::allocate")?;
        let is_blocking = stream.map(|stream| stream.is_blocking());
        self.poll_streams(&ctx, bin_number(nbytes));
        if let Some(lease) = self.find_and_lease_held_block(&ctx, nbytes, stream, is_blocking) {
            return Ok(lease);
        }
        self.lease_from_driver(&ctx, nbytes, stream, is_blocking)
    }

    fn lease_from_driver(
        self: &Arc<Self>,
        ctx: &Context,
        nbytes: usize,
        stream: Option<&Stream>,
        is_blocking: Option<bool>,
    ) -> Result<BlockLease> {
        let of_bin = alloc_size(bin_number(nbytes)).unwrap_or(nbytes);
        let is_exact = virtual_gpu::is_memory_checked(ctx.driver_table());
        let size = if is_exact { nbytes.max(1) } else { of_bin };
        let allocate = || self.source.allocate_block(ctx, size);
        // Blocks that a graph keeps are not handed out again within the capture, so it may need more than the same work
        // did before.
        let first = with_relaxed_capture_mode(allocate);
        let (ptr, is_exact_size) = match first {
            Err(error) if reclaim::is_out_of_memory(&error) => {
                reclaim::run_reclaim_hook();
                if let Some(lease) = self.find_and_lease_held_block(ctx, nbytes, stream, is_blocking) {
                    return Ok(lease);
                }
                with_relaxed_capture_mode(|| self.allocate_after_freeing(ctx, nbytes, size))?
            }
            other => (other?, false),
        };
        let mut guard = self.lock();
        let state = &mut *guard;
        let index = state.get_or_add_arena(ctx);
        let arena = &mut state.arenas[index];
        let stream_idx = arena.get_or_add_stream_idx(stream.zip(is_blocking));
        arena.begin_lease(stream_idx);
        let origin = BlockOrigin { arena: index as u32, stream_idx, is_exact_size };
        state.statistics.count_new_block(origin.block_bytes(nbytes));
        state.statistics.count_lease(nbytes);
        drop(guard);
        Ok(BlockLease::new(self.clone(), ptr, nbytes, origin))
    }

    /// Gives held blocks of the device back to the driver, the largest first, until it can allocate `size` bytes, which
    /// the pool takes for a request of `nbytes`; if that is never the case, has all pools do so, and takes only
    /// `nbytes` if need be. Whether that was so comes with the block.
    fn allocate_after_freeing(&self, ctx: &Context, nbytes: usize, size: usize) -> Result<(u64, bool)> {
        let is_short = |error: &Error| reclaim::is_out_of_memory(error);
        loop {
            match self.source.allocate_block(ctx, size) {
                Err(error) if is_short(&error) && self.free_largest_held(Some(ctx.device())) => {}
                Err(error) if is_short(&error) => break,
                other => return other.map(|ptr| (ptr, false)),
            }
        }
        reclaim::free_unused_pool_memory(ctx.device());
        let asked = nbytes.max(1);
        let error = match self.source.allocate_block(ctx, size) {
            Err(error) if is_short(&error) && size > asked && self.source == BlockSource::Device => {
                match self.source.allocate_block(ctx, asked) {
                    Err(error) => error,
                    Ok(ptr) => return Ok((ptr, true)),
                }
            }
            Err(error) => error,
            Ok(ptr) => return Ok((ptr, false)),
        };
        if is_short(&error) { Err(self.out_of_memory_error(error, nbytes, size)) } else { Err(error) }
    }

    /// The driver's report, with the requested size and what the pool holds.
    fn out_of_memory_error(&self, error: Error, nbytes: usize, size: usize) -> Error {
        let all = self.statistics();
        let (held, active) = (all.held_blocks, all.active_blocks);
        let asked = if size == nbytes || self.source == BlockSource::Device {
            String::new()
        } else {
            format!("{nbytes} bytes were asked of the pool, which rounds up: ")
        };
        let detail = error.detail.clone().unwrap_or_default();
        error.with_detail(format!(
            "{asked}{detail}; the pool holds {held} unused blocks, and {active} blocks with {} bytes are in use",
            all.active_bytes
        ))
    }

    /// Gives the largest held block, or the largest one on a device, back to the driver. False when there is none.
    fn free_largest_held(&self, device: Option<Device>) -> bool {
        let is_there = |arena: &Arena| arena.ctx.as_ref().map(Context::device) == device;
        let mut guard = self.lock();
        let state = &mut *guard;
        let held = state.arenas.iter_mut().filter(|arena| arena.n_held > 0);
        let arenas = held.filter(|arena| device.is_none() || is_there(arena));
        let Some(arena) = arenas.max_by_key(|arena| arena.largest_bin()) else { return false };
        let Some((bin, ptr)) = arena.take_largest_free_block() else { return false };
        let ctx = arena.ctx.clone();
        state.statistics.held_blocks -= 1;
        state.statistics.count_freed_block(alloc_size(bin).unwrap_or(0));
        drop(guard);
        if let Some(ctx) = ctx {
            self.free_block(&ctx, ptr);
        }
        true
    }

    fn free_block(&self, ctx: &Context, ptr: u64) {
        if let Err(error) = with_relaxed_capture_mode(|| self.source.free_block(ctx, ptr)) {
            crate::context::loaded_drivers::report_cleanup_error(&error);
        }
    }

    /// Gives all held blocks back to the driver.
    pub(super) fn free_held(&self) {
        if process_state::is_forked_or_exiting() {
            return;
        }
        while self.free_largest_held(None) {}
        let leftovers = self.lock().close_dead_arenas();
        drop(leftovers);
    }

    /// [`PoolCore::free_held`] in a thread of this crate, which does no harm to what others capture.
    fn free_held_in_background(&self) {
        let ctx = self.lock().arenas.iter().find_map(|arena| arena.ctx.clone());
        let Some(ctx) = ctx else { return };
        if ctx
            .with_current_locked(|| exchange_capture_mode_of_driver(ctx.driver_table(), CU_STREAM_CAPTURE_MODE_RELAXED))
            .is_ok()
        {
            self.free_held();
        }
    }

    /// Keeps nothing from now on.
    pub(super) fn stop_holding(&self) {
        if process_state::is_forked_or_exiting() {
            return;
        }
        self.lock().stopped = true;
        self.free_held();
    }

    /// Whether blocks that are given back go to the driver at once.
    pub(super) fn is_holding_stopped(&self) -> bool {
        self.lock().stopped
    }

    pub(super) fn statistics(&self) -> PoolStatistics {
        if process_state::is_forked_or_exiting() {
            return PoolStatistics::default();
        }
        let mut guard = self.lock();
        let leftovers = guard.close_dead_arenas();
        let statistics = guard.statistics;
        drop(guard);
        drop(leftovers);
        statistics
    }

    /// The context of a block in use, unless it was destroyed.
    pub(super) fn context_of_block(&self, origin: BlockOrigin) -> Option<Context> {
        if process_state::is_forked_or_exiting() {
            return None;
        }
        self.lock().arenas[origin.arena as usize].ctx.clone().filter(Context::is_alive)
    }

    /// The stream that a block was allocated for, unless it is the default one.
    pub(super) fn stream_of_block(&self, origin: BlockOrigin) -> Option<Stream> {
        self.lock().arenas[origin.arena as usize].stream_at_idx(origin.stream_idx)
    }

    /// Takes a block back.
    #[inline]
    pub(super) fn return_block(&self, ptr: u64, nbytes: usize, origin: BlockOrigin, others: Vec<Option<Stream>>) {
        if process_state::is_forked_or_exiting() {
            return;
        }
        if let Some(mut labels) = self.block_labels() {
            labels.remove(&ptr);
        }
        // Asked before the lock is taken, since the driver answers.
        let streams: Vec<_> = match others.is_empty() {
            true => Vec::new(),
            false => others.iter().map(|other| other.as_ref().map(|stream| (stream, stream.is_blocking()))).collect(),
        };
        let bin = bin_number(nbytes);
        let mut guard = self.lock();
        let state = &mut *guard;
        let arena = &mut state.arenas[origin.arena as usize];
        arena.end_lease(origin.stream_idx);
        state.statistics.count_lease_end(nbytes);
        // What a graph that is being captured refers to stays allocated.
        let is_kept = !state.stopped && !origin.is_exact_size && (!arena.is_exact || is_any_capturing());
        if is_kept && arena.ctx.as_ref().is_some_and(Context::is_alive) {
            let stream_idxs = match streams.is_empty() {
                true => Vec::new(),
                false => streams.iter().map(|stream| arena.get_or_add_stream_idx(*stream)).collect(),
            };
            arena.insert_free(bin, ptr, origin.stream_idx, stream_idxs);
            state.statistics.held_blocks += 1;
            if self.trims_when_idle {
                trim::request_idle_trim(state.statistics.managed_bytes - state.statistics.active_bytes);
            }
            return;
        }
        let ctx = arena.ctx.clone();
        let may_need_other_ranks = self.source == BlockSource::Device
            && arena.is_exact
            && !is_any_capturing()
            && !virtual_gpu::is_all_external_work_done();
        let own = may_need_other_ranks.then(|| arena.stream_at_idx(origin.stream_idx));
        state.statistics.count_freed_block(origin.block_bytes(nbytes));
        let leftovers = state.close_dead_arenas();
        drop(guard);
        match (ctx, own) {
            (Some(ctx), Some(own)) => free_block_behind(&ctx, ptr, others.iter().cloned().chain([own])),
            (Some(ctx), None) => self.free_block(&ctx, ptr),
            (None, _) => {}
        }
        drop(leftovers);
        // `others` goes last: its streams may be destroyed with it.
        drop(others);
    }

    /// Asks how far the streams are that used blocks, where a block of this bin could come of it.
    fn poll_streams(&self, ctx: &Context, bin: usize) {
        // An event in the legacy stream would make captures invalid.
        if is_any_capturing() {
            return;
        }
        let mut guard = self.lock();
        let Some(index) = guard.find_arena(ctx) else { return };
        let mut polls = guard.arenas[index].begin_stream_polls(bin);
        drop(guard);
        if polls.is_empty() {
            return;
        }
        let _ = ctx.with_current_locked(|| {
            polls.iter_mut().for_each(|poll| poll.poll_event(ctx));
            Ok(())
        });
        // A stream that is being polled keeps its arena from being closed, so the index still fits.
        let streams = self.lock().arenas[index].finish_stream_polls(polls);
        drop(streams);
    }
}

/// Gives a block of the device back when the streams have passed what they contain now. `cuMemFree` would wait for
/// collectives, of which this thread may have to call other ranks.
#[cold]
fn free_block_behind(ctx: &Context, ptr: u64, streams: impl Iterator<Item = Option<Stream>>) {
    ctx.free_on_drop(|table| {
        let default = || Stream::legacy_default_of(ctx);
        let last = Stream::join_pending(streams.map(|stream| Some(stream.unwrap_or_else(default))))?;
        let stream = last.map_or(CUstream::null(), |stream| stream.handle());
        // SAFETY: the block is the pool's, which has just forgotten it; the stream is alive.
        unsafe { call_driver!(table, cuMemFreeAsync(ptr, stream)) }
    });
}

impl StreamPoll {
    /// Finds out whether the stream has passed what its event stands for. An error leaves the blocks
    /// to this stream.
    fn poll_event(&mut self, ctx: &Context) {
        match self.query_or_record_event(ctx) {
            Ok(has_passed) => self.has_passed = has_passed,
            // A stream that was closed takes no event; its work is over when that of the context is.
            Err(error) if error.code == CUresult::CUDA_ERROR_INVALID_HANDLE => {
                // SAFETY: takes no arguments; the context is current in the driver.
                self.has_passed =
                    between_hidden_captures(|| unsafe { call_if_alive!(ctx, cuCtxSynchronize()) }).is_ok();
                self.recorded = Some(self.clock);
            }
            Err(_) => {}
        }
    }

    fn query_or_record_event(&mut self, ctx: &Context) -> Result<bool> {
        let event = match &self.event {
            Some(event) => event,
            None => self.event.insert(Event::new_in_context(ctx, CU_EVENT_DISABLE_TIMING.0)?),
        };
        if self.recorded.is_none() {
            // An event recorded in a stream that is captured would become part of the graph.
            if is_stream_capturing(ctx, self.stream.as_ref())? {
                return Ok(false);
            }
            let table = ctx.driver_table_if_alive("cuEventRecord")?;
            let stream = handle_or_legacy_default(table, self.stream.as_ref())?;
            // SAFETY: event and stream are alive and of the context, which is current in the driver.
            unsafe { call_driver!(table, cuEventRecord(event.handle(), stream)) }?;
            self.recorded = Some(self.clock);
        }
        event.query()
    }
}

/// The stream that `None` stands for, if the thread has entered one.
#[inline]
fn current_stream_for_none(stream: Option<&Stream>) -> Option<Stream> {
    if stream.is_none() { Stream::current() } else { None }
}

/// The handle of a stream; `None` is the legacy default stream, whatever the thread has entered.
fn handle_or_legacy_default(table: &DriverTable, stream: Option<&Stream>) -> Result<CUstream> {
    match stream {
        Some(stream) => checked_stream_handle("memory_pool::allocate", table, Some(stream)),
        None => Ok(CUstream::null()),
    }
}

fn is_stream_capturing(ctx: &Context, stream: Option<&Stream>) -> Result<bool> {
    let stream = handle_or_legacy_default(ctx.driver_table_if_alive("cuStreamIsCapturing")?, stream)?;
    let mut status = CUstreamCaptureStatus::default();
    // SAFETY: the stream is held, one value is written.
    unsafe { call_if_alive!(ctx, cuStreamIsCapturing(stream, &raw mut status)) }?;
    Ok(status != CU_STREAM_CAPTURE_STATUS_NONE)
}

impl reclaim::ReclaimMemory for PoolCore {
    fn free_idle_memory(&self) {
        self.free_held();
    }

    fn unused_bytes(&self, device: Device) -> usize {
        let is_there = |ctx: &Context| ctx.is_alive() && ctx.device() == device;
        let state = self.lock();
        let arenas = state.arenas.iter().filter(|arena| arena.n_held > 0 && arena.ctx.as_ref().is_some_and(is_there));
        arenas.map(Arena::held_bytes).sum()
    }

    fn trim_idle_memory(&self) -> bool {
        if !self.trims_when_idle || process_state::is_forked_or_exiting() {
            return false;
        }
        let mut state = self.lock();
        let now = (state.statistics.n_allocations, state.statistics.held_blocks);
        let was_busy = std::mem::replace(&mut state.last_activity, now) != now;
        drop(state);
        if now.1 > 0 && !was_busy {
            self.free_held_in_background();
            return false;
        }
        now.1 > 0
    }
}

impl Drop for PoolCore {
    fn drop(&mut self) {
        self.free_held();
    }
}

/// A second `free` is an error with this call's name.
pub(super) fn double_free_error(call: &'static str) -> Error {
    Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "it was freed before")
}
