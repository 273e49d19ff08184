//! Which accesses of different threads have no order between them.
//!
//! Every block counts events (barriers, warp operations, fences). An access is remembered with the
//! number of its block's last event, and it comes before another one when
//!
//! - both are of one thread, or
//! - both are of one warp and that warp has synchronised since, or
//! - both are of one block and the other's warp has met this one at a barrier since (directly or
//!   through a third), or
//! - their blocks differ, the first one's has passed a fence since, and after that the second one's
//!   has executed an atomic or another synchronising access.
//!
//! The last rule knows no addresses, so it believes in more order than there is: it misses races,
//! but it invents none. Of the readers of a word the first two different ones are kept, which is
//! enough to find one that an unordered write disturbs.
//!
//! Assumes that one thread runs the whole launch.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const HISTORY_PAGE_BYTES: u64 = 4096;
const NO_BLOCK: u32 = u32::MAX;

/// A multiplicative hash of one number: an access is a few look-ups, and nobody chooses the keys.
#[derive(Debug, Default)]
struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        let product = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 29);
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

type FastHashMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedAccess {
    /// Number of the block in the grid.
    pub(crate) block: u32,
    /// Index of the thread in the block.
    pub(crate) thread: u16,
    /// The bytes of the word, one bit each.
    bytes: u8,
    event: u32,
    /// The instruction.
    pub(crate) site: u32,
    /// What it stores, where that is known.
    value: Option<u32>,
    /// It reads and writes at once, undisturbed by others that do.
    atomic: bool,
}

const NO_ACCESS: RecordedAccess =
    RecordedAccess { block: NO_BLOCK, thread: 0, bytes: 0, event: 0, site: 0, value: None, atomic: false };

/// What is known of a 32-bit word.
#[derive(Debug, Clone, Copy)]
struct WordHistory {
    writer: RecordedAccess,
    readers: [RecordedAccess; 2],
}

const UNACCESSED_WORD: WordHistory = WordHistory { writer: NO_ACCESS, readers: [NO_ACCESS; 2] };

/// The order between the warps of a resident block.
#[derive(Debug)]
struct WarpVectorClocks {
    block: u32,
    /// `known[a][b]`: events of warp `b` before this number come before what warp `a` does now.
    known: Box<[[u32; 32]; 32]>,
    /// Number of the last event that ordered all lanes of a warp.
    synced: [u32; 32],
    /// Warps that have arrived at each barrier, and the event of their arrival.
    arrived: [[u32; 32]; 16],
}

/// What other blocks can learn of a block.
#[derive(Debug, Default)]
struct PublishedEvents {
    /// Fences: number of the event, and the time.
    fences: Vec<(u32, u64)>,
    /// Time of the last synchronising access.
    acquired: u64,
    event: u32,
}

/// Two accesses without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RaceHazard {
    /// `read after write` and so on.
    pub(crate) name: &'static str,
    /// The earlier one.
    pub(crate) other: RecordedAccess,
    /// Address of the word.
    pub(crate) word: u64,
}

/// Who accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accessor {
    /// Identifies the resident block.
    pub(crate) resident: usize,
    /// Number of the block in the grid.
    pub(crate) block: u32,
    /// Index of the thread in the block.
    pub(crate) thread: u16,
    /// The instruction.
    pub(crate) site: u32,
    /// It is volatile: accesses of one warp keep their order.
    pub(crate) volatile: bool,
    /// It reads and writes at once, undisturbed by others that do.
    pub(crate) atomic: bool,
}

/// The accesses of one launch.
#[derive(Debug, Default)]
pub(crate) struct RaceDetector {
    pages: FastHashMap<u64, Box<[WordHistory]>>,
    warps: FastHashMap<usize, WarpVectorClocks>,
    published: FastHashMap<u32, PublishedEvents>,
    /// The block that was requested last, and its last event.
    latest: Option<(u32, u32)>,
    time: u64,
    /// Pairs of instructions that have been reported.
    pub(crate) reported: std::collections::HashSet<(u32, u32, &'static str)>,
}

impl RaceDetector {
    fn current_event(&mut self, block: u32) -> u32 {
        if let Some((b, event)) = self.latest
            && b == block
        {
            return event;
        }
        let event = self.published.entry(block).or_default().event;
        self.latest = Some((block, event));
        event
    }

    fn next_clock_event(&mut self, block: u32) -> u32 {
        let p = self.published.entry(block).or_default();
        p.event += 1;
        self.latest = Some((block, p.event));
        p.event
    }

    fn warp_clocks(&mut self, resident: usize, block: u32) -> &mut WarpVectorClocks {
        let w = self.warps.entry(resident).or_insert_with(|| WarpVectorClocks::new(block));
        if w.block != block {
            *w = WarpVectorClocks::new(block);
        }
        w
    }

    /// A block begins in a place that another one has left: its shared memory is new.
    pub(crate) fn forget_range(&mut self, start: u64, len: u64) {
        for page in (start / HISTORY_PAGE_BYTES)..=((start + len.max(1) - 1) / HISTORY_PAGE_BYTES) {
            self.pages.remove(&page);
        }
    }

    /// A warp arrives at a barrier (and may wait there).
    pub(crate) fn arrive_at_barrier(&mut self, resident: usize, block: u32, warp: u32, barrier: usize) {
        let event = self.next_clock_event(block);
        self.warp_clocks(resident, block).arrived[barrier % 16][warp as usize % 32] = event;
    }

    /// A barrier is complete: the warps of `waiting` come after all that have arrived.
    pub(crate) fn complete_barrier(&mut self, resident: usize, block: u32, waiting: u32, barrier: usize) {
        let event = self.next_clock_event(block);
        let w = self.warp_clocks(resident, block);
        let arrived = std::mem::take(&mut w.arrived[barrier % 16]);
        let mut joined = [0; 32];
        for b in (0..32).filter(|&b| arrived[b] != 0) {
            joined[b] = joined[b].max(arrived[b]);
            for (j, &k) in joined.iter_mut().zip(&w.known[b]) {
                *j = k.max(*j);
            }
        }
        for a in (0..32).filter(|a| waiting >> a & 1 != 0) {
            for (k, &j) in w.known[a].iter_mut().zip(&joined) {
                *k = j.max(*k);
            }
            w.synced[a] = event;
        }
    }

    /// A warp has waited for an `mbarrier`. Who arrived there is not known, so all are taken to have:
    /// races may be missed, none is invented.
    pub(crate) fn order_after_all_warps(&mut self, resident: usize, block: u32, warp: u32) {
        let event = self.next_clock_event(block);
        let w = self.warp_clocks(resident, block);
        w.known[warp as usize % 32] = [event; 32];
        w.synced[warp as usize % 32] = event;
    }

    /// The lanes of a warp synchronise.
    pub(crate) fn sync_warp(&mut self, resident: usize, block: u32, warp: u32) {
        let event = self.next_clock_event(block);
        self.warp_clocks(resident, block).synced[warp as usize % 32] = event;
    }

    /// A fence of a block, after which others may learn of what it has done.
    pub(crate) fn publish_after_fence(&mut self, block: u32) {
        self.time += 1;
        let (event, time) = (self.next_clock_event(block), self.time);
        self.published.entry(block).or_default().fences.push((event, time));
    }

    /// A synchronising access of a block.
    pub(crate) fn acquire_published(&mut self, block: u32) {
        self.time += 1;
        let time = self.time;
        self.published.entry(block).or_default().acquired = time;
    }

    /// Whether `first` comes before what `who` does now.
    fn happens_before(&mut self, first: RecordedAccess, who: Accessor) -> bool {
        if first.block == NO_BLOCK || (first.block == who.block && first.thread == who.thread) {
            return true;
        }
        if first.block == who.block {
            let (then, now) = (first.thread as usize / 32 % 32, who.thread as usize / 32 % 32);
            let w = self.warp_clocks(who.resident, who.block);
            return if then == now {
                who.volatile || first.event < w.synced[now]
            } else {
                first.event < w.known[now][then]
            };
        }
        let acquired = self.published.get(&who.block).map_or(0, |p| p.acquired);
        let Some(p) = self.published.get(&first.block) else { return false };
        let next = p.fences.partition_point(|f| f.0 <= first.event);
        p.fences.get(next).is_some_and(|f| f.1 < acquired)
    }

    /// An access of `bytes` bytes; the first hazard. `value` is what is stored, if that is known: two
    /// writes of the same value are no hazard.
    pub(crate) fn note_access(
        &mut self,
        who: Accessor,
        address: u64,
        bytes: u64,
        write: bool,
        value: Option<u64>,
    ) -> Option<RaceHazard> {
        let event = self.current_event(who.block);
        let mut hazard = None;
        let mut word = address & !3;
        while word < address + bytes {
            let from = address.max(word) - word;
            let to = (address + bytes).min(word + 4) - word;
            let mask = ((1_u32 << to) - (1 << from)) as u8;
            // The value as it will lie in the word.
            let value = value.map(|v| match address.max(word) - address {
                0 => (v << (8 * from)) as u32,
                past => (v >> (8 * past).min(63)) as u32,
            });
            let Accessor { block, thread, site, atomic, .. } = who;
            let access = RecordedAccess { block, thread, bytes: mask, event, site, value, atomic };
            let found = self.record_word_access(who, word, access, write);
            if let Some((name, other)) = found
                && hazard.is_none()
            {
                hazard = Some(RaceHazard { name, other, word });
            }
            word += 4;
        }
        hazard
    }

    fn record_word_access(
        &mut self,
        who: Accessor,
        at: u64,
        access: RecordedAccess,
        write: bool,
    ) -> Option<(&'static str, RecordedAccess)> {
        let (page, index) = (at / HISTORY_PAGE_BYTES, (at % HISTORY_PAGE_BYTES / 4) as usize);
        let fresh = || vec![UNACCESSED_WORD; (HISTORY_PAGE_BYTES / 4) as usize].into_boxed_slice();
        let word = self.pages.entry(page).or_insert_with(fresh)[index];
        // The same thread once more: nothing can have changed that its last access did not see.
        let again = |a: &RecordedAccess| RecordedAccess { value: a.value, ..access } == *a;
        if !write && word.readers.iter().any(again) {
            return None;
        }
        let mut new = word;
        let touches = |a: &RecordedAccess| a.bytes & access.bytes != 0;
        let mut hazard = None;
        let same =
            write && word.writer.bytes == access.bytes && access.value.is_some_and(|v| word.writer.value == Some(v));
        let both_atomic = word.writer.atomic && access.atomic;
        if touches(&word.writer) && !same && !both_atomic && !self.happens_before(word.writer, who) {
            hazard = Some((if write { "write after write" } else { "read after write" }, word.writer));
        }
        if write {
            for r in word.readers.iter().filter(|r| touches(r)) {
                if hazard.is_none() && !self.happens_before(*r, who) {
                    hazard = Some(("write after read", *r));
                }
            }
            new.writer = access;
            new.readers = [NO_ACCESS; 2];
        } else {
            new.readers = self.update_readers(word.readers, access, who);
        }
        if let Some(p) = self.pages.get_mut(&page) {
            p[index] = new;
        }
        hazard
    }

    /// Two different unordered readers, if there are two.
    fn update_readers(
        &mut self,
        [a, b]: [RecordedAccess; 2],
        new: RecordedAccess,
        who: Accessor,
    ) -> [RecordedAccess; 2] {
        let same = |x: RecordedAccess| x.block == new.block && x.thread == new.thread;
        match () {
            () if self.happens_before(a, who) => [new, if same(b) { NO_ACCESS } else { b }],
            () if self.happens_before(b, who) => [a, new],
            () => [a, b],
        }
    }
}

impl WarpVectorClocks {
    fn new(block: u32) -> WarpVectorClocks {
        WarpVectorClocks { block, known: Box::new([[0; 32]; 32]), synced: [0; 32], arrived: [[0; 32]; 16] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accessor(block: u32, thread: u16) -> Accessor {
        Accessor { resident: 1, block, thread, site: 0, volatile: false, atomic: false }
    }

    fn record_access_hazard(r: &mut RaceDetector, w: Accessor, at: u64, write: bool) -> Option<&'static str> {
        r.note_access(w, at, 4, write, None).map(|h| h.name)
    }

    #[test]
    fn a_barrier_orders_the_warps_that_arrive_at_it() {
        let mut r = RaceDetector::default();
        assert_eq!(record_access_hazard(&mut r, accessor(0, 0), 64, true), None);
        assert_eq!(record_access_hazard(&mut r, accessor(0, 40), 64, false), Some("read after write"));
        let mut r = RaceDetector::default();
        record_access_hazard(&mut r, accessor(0, 0), 64, true);
        r.arrive_at_barrier(1, 0, 0, 0);
        r.arrive_at_barrier(1, 0, 1, 0);
        r.complete_barrier(1, 0, 0b11, 0);
        assert_eq!(record_access_hazard(&mut r, accessor(0, 40), 64, false), None);
        // Warp 2 was not there.
        assert_eq!(record_access_hazard(&mut r, accessor(0, 70), 64, false), Some("read after write"));
        assert_eq!(record_access_hazard(&mut r, accessor(0, 1), 64, true), Some("write after read"));
    }

    #[test]
    fn lanes_of_a_warp_race_without_a_warp_sync() {
        let mut r = RaceDetector::default();
        record_access_hazard(&mut r, accessor(0, 0), 64, true);
        assert_eq!(record_access_hazard(&mut r, accessor(0, 1), 64, false), Some("read after write"));
        r.sync_warp(1, 0, 0);
        assert_eq!(record_access_hazard(&mut r, accessor(0, 2), 64, true), None);
    }

    #[test]
    fn blocks_race_without_a_fence_followed_by_an_atomic() {
        let mut r = RaceDetector::default();
        record_access_hazard(&mut r, accessor(0, 0), 64, true);
        r.acquire_published(1);
        assert_eq!(record_access_hazard(&mut r, accessor(1, 0), 64, false), Some("read after write"));
        r.publish_after_fence(0);
        assert_eq!(record_access_hazard(&mut r, accessor(2, 0), 64, false), Some("read after write"));
        r.acquire_published(3);
        assert_eq!(record_access_hazard(&mut r, accessor(3, 0), 64, false), None);
    }

    #[test]
    fn writes_of_equal_values_do_not_race() {
        let mut r = RaceDetector::default();
        assert_eq!(r.note_access(accessor(0, 0), 64, 8, true, Some(7 << 32 | 5)), None);
        assert_eq!(r.note_access(accessor(0, 40), 64, 8, true, Some(7 << 32 | 5)), None);
        assert!(r.note_access(accessor(0, 80), 68, 4, true, Some(8)).is_some());
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let mut r = RaceDetector::default();
        let atomic = |block| Accessor { atomic: true, ..accessor(block, 0) };
        assert_eq!(record_access_hazard(&mut r, atomic(0), 64, true), None);
        assert_eq!(record_access_hazard(&mut r, atomic(1), 64, true), None);
        assert_eq!(record_access_hazard(&mut r, accessor(2, 0), 64, false), Some("read after write"));
        assert_eq!(record_access_hazard(&mut r, atomic(3), 64, true), Some("write after read"));
    }

    #[test]
    fn different_bytes_of_a_word_do_not_race() {
        let mut r = RaceDetector::default();
        assert_eq!(r.note_access(accessor(0, 0), 64, 1, true, None), None);
        assert_eq!(r.note_access(accessor(0, 33), 65, 1, true, None), None);
        assert!(r.note_access(accessor(0, 34), 65, 1, false, None).is_some());
    }
}
