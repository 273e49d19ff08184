//! The blocks of one context, and the streams that may still use them.
//!
//! Establishes: a block is handed to a stream only if that stream used it last, if the stream's work comes after that
//! of the last user by CUDA's own rules, or if an event has shown that the last user has passed it. Nothing here calls
//! the driver, because it all runs under the pool's lock.

use super::bins::{N_BINS, alloc_size};
use crate::context::Context;
use crate::stream::Event;
use crate::stream::Stream;
use rtcg_cuda_sys::CU_STREAM_PER_THREAD;

/// The index of the legacy default stream.
pub(super) const DEFAULT_STREAM_IDX: u32 = 0;
/// The index of blocks that no stream uses any more.
const NO_STREAM_IDX: u32 = u32::MAX;
/// So many streams are known before those that only the pool still knows are forgotten.
const MAX_IDLE_STREAMS: usize = 16;

/// A block that waits in its bin.
struct FreeBlock {
    ptr: u64,
    /// The stream that used it last.
    stream_idx: u32,
    /// When it was given back, by the arena's clock.
    freed_at: u64,
}

/// A block that several streams used.
struct MultiStreamBlock {
    block: FreeBlock,
    bin: usize,
    /// The other streams.
    others: Vec<u32>,
}

/// A stream, as far as blocks are concerned.
#[derive(Default)]
struct StreamState {
    /// `None` is the default stream, and a free entry.
    stream: Option<Stream>,
    is_vacant: bool,
    /// Whether it is the default stream of whichever thread uses it.
    is_per_thread: bool,
    /// Whether the legacy default stream and this one wait for each other.
    is_blocking: bool,
    n_active: usize,
    /// Blocks with smaller marks are used no more.
    passed_until: u64,
    /// One more than the largest mark of a block.
    used_until: u64,
    event: Option<Event>,
    /// What the event stands for: blocks with smaller marks.
    recorded: Option<u64>,
    is_polled: bool,
}

/// A stream whose progress is to be found out, without the lock.
pub(super) struct StreamPoll {
    pub(super) stream_idx: u32,
    pub(super) stream: Option<Stream>,
    pub(super) event: Option<Event>,
    /// What the event stands for; `None` when it is to be recorded first, for `clock`.
    pub(super) recorded: Option<u64>,
    pub(super) clock: u64,
    pub(super) has_passed: bool,
}

/// What an arena held beside blocks.
pub(super) struct ClosedArena {
    _ctx: Option<Context>,
    _stream_states: Vec<StreamState>,
}

/// The blocks of a context.
pub(super) struct Arena {
    /// `None` while the arena has no blocks, so that a pool without blocks holds no context.
    pub(super) ctx: Option<Context>,
    /// Whether each block is allocated for itself, of the requested size, so that checks see its ends.
    pub(super) is_exact: bool,
    bins: Vec<Vec<FreeBlock>>,
    shared: Vec<MultiStreamBlock>,
    stream_states: Vec<StreamState>,
    clock: u64,
    pub(super) n_active: usize,
    pub(super) n_held: usize,
}

impl Arena {
    pub(super) fn new() -> Self {
        let bins = (0..N_BINS).map(|_| Vec::new()).collect();
        let stream_states = vec![StreamState::default()];
        Self { ctx: None, is_exact: false, bins, shared: Vec::new(), stream_states, clock: 0, n_active: 0, n_held: 0 }
    }

    /// The index of a stream that was seen before.
    #[inline]
    pub(super) fn find_stream_idx(&self, stream: Option<&Stream>) -> Option<u32> {
        let Some(stream) = stream.filter(|stream| !stream.is_legacy_default()) else { return Some(DEFAULT_STREAM_IDX) };
        let found = self
            .stream_states
            .iter()
            .position(|state| state.stream.as_ref().is_some_and(|known| known.is_same_object(stream)));
        found.map(|index| index as u32)
    }

    /// The index of a stream, made if need be.
    pub(super) fn get_or_add_stream_idx(&mut self, stream: Option<(&Stream, bool)>) -> u32 {
        if let Some(stream_idx) = self.find_stream_idx(stream.map(|(stream, _)| stream)) {
            return stream_idx;
        }
        let Some((stream, is_blocking)) = stream else { return DEFAULT_STREAM_IDX };
        let is_per_thread = stream.handle() == CU_STREAM_PER_THREAD;
        let fresh = StreamState { stream: Some(stream.clone()), is_blocking, is_per_thread, ..StreamState::default() };
        match self.stream_states.iter().position(|state| state.is_vacant) {
            Some(index) => {
                // The event goes on, so that no event is destroyed under the lock.
                let event = self.stream_states[index].event.take();
                self.stream_states[index] = StreamState { event, ..fresh };
                index as u32
            }
            None => {
                self.stream_states.push(fresh);
                (self.stream_states.len() - 1) as u32
            }
        }
    }

    /// The stream of an index; `None` is the default one.
    pub(super) fn stream_at_idx(&self, stream_idx: u32) -> Option<Stream> {
        self.stream_states.get(stream_idx as usize)?.stream.clone()
    }

    /// Whether work of `stream_idx` comes after all uses of a block.
    fn is_usable_in_stream(&self, block: &FreeBlock, stream_idx: u32) -> bool {
        if block.stream_idx == stream_idx || block.stream_idx == NO_STREAM_IDX {
            return true;
        }
        // The default stream waits for blocking ones too, but what is allocated for it is often used in blocking streams
        // at once, which do not wait for each other.
        let waits = block.stream_idx == DEFAULT_STREAM_IDX && self.stream_states[stream_idx as usize].is_blocking;
        waits || block.freed_at < self.stream_states[block.stream_idx as usize].passed_until
    }

    /// Takes a block for `stream_idx` out of a bin, if there is one that it may use.
    #[inline]
    pub(super) fn take_from_bin(&mut self, bin: usize, stream_idx: u32) -> Option<u64> {
        let block = match self.bins[bin].last()? {
            top if top.stream_idx == stream_idx => self.bins[bin].pop()?,
            _ => {
                let index = self.bins[bin].iter().rposition(|block| self.is_usable_in_stream(block, stream_idx))?;
                self.bins[bin].remove(index)
            }
        };
        self.n_held -= 1;
        Some(block.ptr)
    }

    #[inline]
    pub(super) fn begin_lease(&mut self, stream_idx: u32) {
        self.n_active += 1;
        self.stream_states[stream_idx as usize].n_active += 1;
    }

    #[inline]
    pub(super) fn end_lease(&mut self, stream_idx: u32) {
        self.n_active -= 1;
        self.stream_states[stream_idx as usize].n_active -= 1;
    }

    /// Keeps a block that `stream_idx` used last, and `others` too.
    #[inline]
    pub(super) fn insert_free(&mut self, bin: usize, ptr: u64, stream_idx: u32, mut others: Vec<u32>) {
        if self.stream_states.iter().any(|state| state.is_per_thread) {
            self.replace_per_thread_streams(stream_idx, &mut others);
        }
        others.retain(|other| *other != stream_idx);
        let freed_at = self.clock;
        self.clock += 1;
        self.n_held += 1;
        self.stream_states[stream_idx as usize].used_until = self.clock;
        let block = FreeBlock { ptr, stream_idx, freed_at };
        if others.is_empty() {
            self.bins[bin].push(block);
        } else {
            others.iter().for_each(|other| self.stream_states[*other as usize].used_until = self.clock);
            self.shared.push(MultiStreamBlock { block, bin, others });
        }
    }

    /// The per-thread default stream is another one in each thread. The legacy default stream waits
    /// for all of them, so it is queried in their place.
    #[cold]
    fn replace_per_thread_streams(&self, stream_idx: u32, others: &mut Vec<u32>) {
        let is_per_thread = |stream_idx: &u32| self.stream_states[*stream_idx as usize].is_per_thread;
        let any = is_per_thread(&stream_idx) || others.iter().any(is_per_thread);
        others.retain(|other| !is_per_thread(other));
        if any && !others.contains(&DEFAULT_STREAM_IDX) {
            others.push(DEFAULT_STREAM_IDX);
        }
    }

    /// The streams whose progress must be queried before `bin` is searched again: none if that would
    /// not help.
    pub(super) fn begin_stream_polls(&mut self, bin: usize) -> Vec<StreamPoll> {
        if self.bins[bin].is_empty() && self.shared.is_empty() && self.stream_states.len() <= MAX_IDLE_STREAMS {
            return Vec::new();
        }
        let clock = self.clock;
        let mut polls = Vec::new();
        for (index, state) in self.stream_states.iter_mut().enumerate() {
            if state.used_until > state.passed_until && !state.is_polled {
                state.is_polled = true;
                let (stream, event) = (state.stream.clone(), state.event.take());
                let (stream_idx, recorded) = (index as u32, state.recorded);
                polls.push(StreamPoll { stream_idx, stream, event, recorded, clock, has_passed: false });
            }
        }
        polls
    }

    /// Applies the queried progress. Returns the streams that only the pool referenced, to be dropped
    /// without the lock.
    pub(super) fn finish_stream_polls(&mut self, polls: Vec<StreamPoll>) -> Vec<Stream> {
        for poll in polls {
            let state = &mut self.stream_states[poll.stream_idx as usize];
            state.is_polled = false;
            state.event = poll.event;
            state.recorded = poll.recorded;
            if let (true, Some(recorded)) = (poll.has_passed, poll.recorded) {
                state.passed_until = state.passed_until.max(recorded);
                state.recorded = None;
            }
        }
        self.release_multi_stream_blocks();
        if self.stream_states.len() > MAX_IDLE_STREAMS { self.remove_idle_streams() } else { Vec::new() }
    }

    /// Moves blocks that all their other users have passed to their bins.
    fn release_multi_stream_blocks(&mut self) {
        let stream_states = &self.stream_states;
        let is_passed = |s: &mut MultiStreamBlock| {
            s.others.iter().all(|stream_idx| s.block.freed_at < stream_states[*stream_idx as usize].passed_until)
        };
        for done in self.shared.extract_if(.., is_passed) {
            self.bins[done.bin].push(done.block);
        }
    }

    /// Forgets streams that have passed everything and that only the pool still holds.
    fn remove_idle_streams(&mut self) -> Vec<Stream> {
        let is_idle = |state: &StreamState| {
            let only_here = state.stream.as_ref().is_some_and(Stream::is_only_reference);
            only_here && !state.is_polled && state.n_active == 0 && state.passed_until >= state.used_until
        };
        let mut gone = Vec::new();
        for (index, state) in self.stream_states.iter_mut().enumerate() {
            if is_idle(state) {
                gone.extend(state.stream.take());
                state.is_vacant = true;
                let held = self.bins.iter_mut().flatten().filter(|block| block.stream_idx == index as u32);
                held.for_each(|block| block.stream_idx = NO_STREAM_IDX);
                for shared in &mut self.shared {
                    shared.others.retain(|other| *other != index as u32);
                    if shared.block.stream_idx == index as u32 {
                        shared.block.stream_idx = NO_STREAM_IDX;
                    }
                }
            }
        }
        gone
    }

    /// Takes out the block of the largest bin, whichever stream uses it: to be given back to the driver, which
    /// waits for its users.
    pub(super) fn take_largest_free_block(&mut self) -> Option<(usize, u64)> {
        let of_bins = self.bins.iter().rposition(|bin| !bin.is_empty());
        let of_shared = (0..self.shared.len()).max_by_key(|&index| self.shared[index].bin);
        let (bin, block) = match (of_bins, of_shared) {
            (bin, Some(index)) if bin.is_none_or(|bin| self.shared[index].bin >= bin) => {
                let shared = self.shared.swap_remove(index);
                (shared.bin, shared.block)
            }
            (Some(bin), _) => (bin, self.bins[bin].pop()?),
            (None, _) => return None,
        };
        self.n_held -= 1;
        Some((bin, block.ptr))
    }

    /// Bytes of the unused blocks, as the driver counts them.
    pub(super) fn held_bytes(&self) -> usize {
        /// What drivers hand out is a multiple of this many bytes.
        const GRANULE_BYTES: usize = 512;
        let size = |bin| alloc_size(bin).unwrap_or(0).next_multiple_of(GRANULE_BYTES);
        let in_bins = self.bins.iter().enumerate().filter(|(_, blocks)| !blocks.is_empty());
        let in_bins: usize = in_bins.map(|(bin, blocks)| blocks.len() * size(bin)).sum();
        in_bins + self.shared.iter().map(|shared| size(shared.bin)).sum::<usize>()
    }

    /// The largest bin with a block.
    pub(super) fn largest_bin(&self) -> Option<usize> {
        let of_shared = self.shared.iter().map(|shared| shared.bin).max();
        self.bins.iter().rposition(|bin| !bin.is_empty()).max(of_shared)
    }

    /// Forgets context and streams, which have to be dropped without the lock.
    pub(super) fn close_arena(&mut self) -> ClosedArena {
        let stream_states = std::mem::replace(&mut self.stream_states, vec![StreamState::default()]);
        ClosedArena { _ctx: self.ctx.take(), _stream_states: stream_states }
    }

    /// Whether no thread polls streams right now, and nothing is left in the arena.
    pub(super) fn is_idle(&self) -> bool {
        self.n_active == 0 && self.n_held == 0 && self.stream_states.iter().all(|state| !state.is_polled)
    }
}
