//! The blocks of one context, and which streams may still use them.
//!
//! Establishes: a block is handed to a stream only if that stream used it last, if its work comes
//! after that of the last user by CUDA's own rules, or if an event said that the last user has passed
//! it. Nothing here calls the driver: all of it happens under the pool's lock.

use super::bins::{N_BINS, alloc_size};
use crate::context::Context;
use crate::event::Event;
use crate::stream::Stream;
use rtcg_cuda_sys::CU_STREAM_PER_THREAD;

/// The lane of the legacy default stream.
pub(super) const DEFAULT_LANE: u32 = 0;
/// The lane of blocks that no stream uses any more.
const FREE_LANE: u32 = u32::MAX;
/// So many streams are known before those that only the pool still knows are forgotten.
const MANY_LANES: usize = 16;

/// A block that waits in its bin.
struct Held {
    ptr: u64,
    /// The stream that used it last.
    lane: u32,
    /// When it was given back, by the arena's clock.
    mark: u64,
}

/// A block that several streams used.
struct Shared {
    block: Held,
    bin: usize,
    /// The other streams.
    others: Vec<u32>,
}

/// A stream, as far as blocks are concerned.
#[derive(Default)]
struct Lane {
    /// `None` is the default stream, and a lane without a stream.
    stream: Option<Stream>,
    is_vacant: bool,
    /// Whether it is the default stream of whichever thread uses it.
    is_of_threads: bool,
    /// Whether the legacy default stream and this one wait for each other.
    is_blocking: bool,
    n_active: usize,
    /// Blocks with smaller marks are used no more.
    passed: u64,
    /// One more than the largest mark of a block.
    used_until: u64,
    event: Option<Event>,
    /// What the event stands for: blocks with smaller marks.
    recorded: Option<u64>,
    is_polled: bool,
}

/// A lane whose progress is to be found out, without the lock.
pub(super) struct Poll {
    pub(super) lane: u32,
    pub(super) stream: Option<Stream>,
    pub(super) event: Option<Event>,
    /// What the event stands for; `None` when it is to be recorded first, for `clock`.
    pub(super) recorded: Option<u64>,
    pub(super) clock: u64,
    pub(super) has_passed: bool,
}

/// What an arena held beside blocks.
pub(super) struct Leftovers {
    _ctx: Option<Context>,
    _lanes: Vec<Lane>,
}

/// The blocks of a context.
pub(super) struct Arena {
    /// `None` while the arena has no blocks, so that a pool without blocks holds no context.
    pub(super) ctx: Option<Context>,
    /// Whether each block is allocated for itself, of the size asked for, so that checks see its ends.
    pub(super) is_exact: bool,
    bins: Vec<Vec<Held>>,
    shared: Vec<Shared>,
    lanes: Vec<Lane>,
    clock: u64,
    pub(super) n_active: usize,
    pub(super) n_held: usize,
}

impl Arena {
    pub(super) fn new() -> Self {
        let bins = (0..N_BINS).map(|_| Vec::new()).collect();
        let lanes = vec![Lane::default()];
        Self { ctx: None, is_exact: false, bins, shared: Vec::new(), lanes, clock: 0, n_active: 0, n_held: 0 }
    }

    /// The lane of a stream that was seen before.
    #[inline]
    pub(super) fn lane_of(&self, stream: Option<&Stream>) -> Option<u32> {
        let Some(stream) = stream.filter(|stream| !stream.is_legacy_default()) else { return Some(DEFAULT_LANE) };
        let found = self.lanes.iter().position(|lane| lane.stream.as_ref().is_some_and(|known| known.is_same(stream)));
        found.map(|index| index as u32)
    }

    /// The lane of a stream, made if need be.
    pub(super) fn lane_for(&mut self, stream: Option<(&Stream, bool)>) -> u32 {
        if let Some(lane) = self.lane_of(stream.map(|(stream, _)| stream)) {
            return lane;
        }
        let Some((stream, is_blocking)) = stream else { return DEFAULT_LANE };
        let is_of_threads = stream.handle() == CU_STREAM_PER_THREAD;
        let fresh = Lane { stream: Some(stream.clone()), is_blocking, is_of_threads, ..Lane::default() };
        match self.lanes.iter().position(|lane| lane.is_vacant) {
            Some(index) => {
                // The event goes on, so that no event is destroyed under the lock.
                let event = self.lanes[index].event.take();
                self.lanes[index] = Lane { event, ..fresh };
                index as u32
            }
            None => {
                self.lanes.push(fresh);
                (self.lanes.len() - 1) as u32
            }
        }
    }

    /// The stream of a lane; `None` is the default one.
    pub(super) fn stream_of(&self, lane: u32) -> Option<Stream> {
        self.lanes.get(lane as usize)?.stream.clone()
    }

    /// Whether work of `lane` comes after all uses of a block.
    fn is_usable(&self, block: &Held, lane: u32) -> bool {
        if block.lane == lane || block.lane == FREE_LANE {
            return true;
        }
        // The default stream waits for blocking ones too, but what is allocated for it is often used in blocking streams
        // at once, which do not wait for each other.
        let waits = block.lane == DEFAULT_LANE && self.lanes[lane as usize].is_blocking;
        waits || block.mark < self.lanes[block.lane as usize].passed
    }

    /// Takes a block for `lane` out of a bin, if there is one that it may use.
    #[inline]
    pub(super) fn take(&mut self, bin: usize, lane: u32) -> Option<u64> {
        let block = match self.bins[bin].last()? {
            top if top.lane == lane => self.bins[bin].pop()?,
            _ => {
                let index = self.bins[bin].iter().rposition(|block| self.is_usable(block, lane))?;
                self.bins[bin].remove(index)
            }
        };
        self.n_held -= 1;
        Some(block.ptr)
    }

    #[inline]
    pub(super) fn begin_lease(&mut self, lane: u32) {
        self.n_active += 1;
        self.lanes[lane as usize].n_active += 1;
    }

    #[inline]
    pub(super) fn end_lease(&mut self, lane: u32) {
        self.n_active -= 1;
        self.lanes[lane as usize].n_active -= 1;
    }

    /// Keeps a block that `lane` used last, and `others` too.
    #[inline]
    pub(super) fn hold(&mut self, bin: usize, ptr: u64, lane: u32, mut others: Vec<u32>) {
        if self.lanes.iter().any(|lane| lane.is_of_threads) {
            self.replace_lanes_of_threads(lane, &mut others);
        }
        others.retain(|other| *other != lane);
        let mark = self.clock;
        self.clock += 1;
        self.n_held += 1;
        self.lanes[lane as usize].used_until = self.clock;
        let block = Held { ptr, lane, mark };
        if others.is_empty() {
            self.bins[bin].push(block);
        } else {
            others.iter().for_each(|other| self.lanes[*other as usize].used_until = self.clock);
            self.shared.push(Shared { block, bin, others });
        }
    }

    /// The default stream of a thread is another one in each thread. The legacy default stream waits
    /// for all of them, so it is asked in their place.
    #[cold]
    fn replace_lanes_of_threads(&self, lane: u32, others: &mut Vec<u32>) {
        let is_of_threads = |lane: &u32| self.lanes[*lane as usize].is_of_threads;
        let any = is_of_threads(&lane) || others.iter().any(is_of_threads);
        others.retain(|other| !is_of_threads(other));
        if any && !others.contains(&DEFAULT_LANE) {
            others.push(DEFAULT_LANE);
        }
    }

    /// The lanes to be asked how far they are, before `bin` is looked at again: none if that would
    /// not help.
    pub(super) fn begin_poll(&mut self, bin: usize) -> Vec<Poll> {
        if self.bins[bin].is_empty() && self.shared.is_empty() && self.lanes.len() <= MANY_LANES {
            return Vec::new();
        }
        let clock = self.clock;
        let mut polls = Vec::new();
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if lane.used_until > lane.passed && !lane.is_polled {
                lane.is_polled = true;
                let (stream, event) = (lane.stream.clone(), lane.event.take());
                let (lane, recorded) = (index as u32, lane.recorded);
                polls.push(Poll { lane, stream, event, recorded, clock, has_passed: false });
            }
        }
        polls
    }

    /// Takes up what was found out. Returns the streams that nobody but the pool knew, to be dropped
    /// without the lock.
    pub(super) fn end_poll(&mut self, polls: Vec<Poll>) -> Vec<Stream> {
        for poll in polls {
            let lane = &mut self.lanes[poll.lane as usize];
            lane.is_polled = false;
            lane.event = poll.event;
            lane.recorded = poll.recorded;
            if let (true, Some(recorded)) = (poll.has_passed, poll.recorded) {
                lane.passed = lane.passed.max(recorded);
                lane.recorded = None;
            }
        }
        self.release_shared();
        if self.lanes.len() > MANY_LANES { self.forget_lanes() } else { Vec::new() }
    }

    /// Moves blocks that all their other users have passed to their bins.
    fn release_shared(&mut self) {
        let lanes = &self.lanes;
        let is_passed = |s: &mut Shared| s.others.iter().all(|lane| s.block.mark < lanes[*lane as usize].passed);
        for done in self.shared.extract_if(.., is_passed) {
            self.bins[done.bin].push(done.block);
        }
    }

    /// Forgets streams that have passed everything and that only the pool still holds.
    fn forget_lanes(&mut self) -> Vec<Stream> {
        let is_idle = |lane: &Lane| {
            let only_here = lane.stream.as_ref().is_some_and(Stream::is_unique);
            only_here && !lane.is_polled && lane.n_active == 0 && lane.passed >= lane.used_until
        };
        let mut gone = Vec::new();
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if is_idle(lane) {
                gone.extend(lane.stream.take());
                lane.is_vacant = true;
                let held = self.bins.iter_mut().flatten().filter(|block| block.lane == index as u32);
                held.for_each(|block| block.lane = FREE_LANE);
                for shared in &mut self.shared {
                    shared.others.retain(|other| *other != index as u32);
                    if shared.block.lane == index as u32 {
                        shared.block.lane = FREE_LANE;
                    }
                }
            }
        }
        gone
    }

    /// Takes out the block of the largest bin, whoever uses it: to be given back to the driver, which
    /// waits for its users.
    pub(super) fn take_largest(&mut self) -> Option<(usize, u64)> {
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

    /// Bytes of the blocks that nobody uses, as the driver counts them.
    pub(super) fn held_bytes(&self) -> usize {
        /// What drivers hand out is a multiple of this many bytes.
        const GRANULE: usize = 512;
        let size = |bin| alloc_size(bin).unwrap_or(0).next_multiple_of(GRANULE);
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
    pub(super) fn close(&mut self) -> Leftovers {
        let lanes = std::mem::replace(&mut self.lanes, vec![Lane::default()]);
        Leftovers { _ctx: self.ctx.take(), _lanes: lanes }
    }

    /// Whether nobody asks lanes right now, and nothing is left in the arena.
    pub(super) fn is_idle(&self) -> bool {
        self.n_active == 0 && self.n_held == 0 && self.lanes.iter().all(|lane| !lane.is_polled)
    }
}
