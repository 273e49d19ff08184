//! Barriers at which whole warps alone have arrived, to wait for all threads of the block: what kernels
//! do at nearly every barrier.
//!
//! Establishes: such a barrier is complete when every warp that has not ended has arrived at it, so that a
//! bit per warp says all there is to know. Where anything else arrives, or somebody looks on, lanes are
//! [counted](super::barrier::Barrier) instead.

use super::barrier::N_BARRIERS;
use std::cell::Cell;

/// What the arrival of a whole warp has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// It waits.
    Waits,
    /// It was the last: all these warps, one bit each, go on.
    Last(u32),
    /// Lanes are counted at this barrier, so nothing has changed.
    Counted,
}

/// The arrivals of whole warps in one block.
pub(crate) struct WholeWarps {
    /// Warps that have not ended, one bit each.
    unfinished: Cell<u32>,
    /// Of each barrier the warps that wait, one bit each.
    waiting: [Cell<u32>; N_BARRIERS],
    /// Barriers at which lanes are counted, one bit each. No whole warp waits there.
    counted: Cell<u32>,
    /// What is counted from the start.
    always_counted: u32,
}

impl WholeWarps {
    /// Of a block that has not started. With `count`, lanes are counted at all barriers.
    pub(crate) fn new(count: bool) -> WholeWarps {
        let always_counted = if count { (1 << N_BARRIERS) - 1 } else { 0 };
        WholeWarps {
            unfinished: Cell::new(0),
            waiting: [const { Cell::new(0) }; N_BARRIERS],
            counted: Cell::new(always_counted),
            always_counted,
        }
    }

    /// A block begins with these warps, one bit each.
    pub(crate) fn reset(&self, warps: u32) {
        self.unfinished.set(warps);
        self.counted.set(self.always_counted);
        self.waiting.iter().for_each(|w| w.set(0));
    }

    /// Barriers at which lanes are counted, one bit each.
    pub(crate) fn counted(&self) -> u32 {
        self.counted.get()
    }

    /// A whole warp, by its bit, arrives at barrier `id` to wait for all others.
    #[inline(always)]
    pub(crate) fn arrive(&self, warp: u32, id: usize) -> Arrived {
        if self.counted.get() >> id & 1 != 0 {
            return Arrived::Counted;
        }
        let all = self.waiting[id].get() | warp;
        if all == self.unfinished.get() {
            self.waiting[id].set(0);
            return Arrived::Last(all);
        }
        self.waiting[id].set(all);
        Arrived::Waits
    }

    /// From here on lanes are counted at barrier `id`. Returns the warps that wait there.
    pub(crate) fn count(&self, id: usize) -> u32 {
        self.counted.set(self.counted.get() | 1 << id);
        self.waiting[id].replace(0)
    }

    /// The barrier `id` at which lanes were counted is complete.
    pub(crate) fn completed(&self, id: usize) {
        self.counted.set(self.counted.get() & !(1 << id) | self.always_counted);
    }

    /// A warp, by its bit, has ended. Returns those that need wait for it no longer.
    pub(crate) fn finish(&self, warp: u32) -> u32 {
        let left = self.unfinished.get() & !warp;
        self.unfinished.set(left);
        // Two barriers at which all warps that are left wait there cannot be.
        let complete = self.waiting.iter().find(|w| w.get() == left && left != 0);
        complete.map_or(0, |w| w.replace(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_warp_lets_all_go_on() {
        let w = WholeWarps::new(false);
        w.reset(0b111);
        assert_eq!(w.arrive(0b010, 3), Arrived::Waits);
        assert_eq!(w.arrive(0b001, 3), Arrived::Waits);
        assert_eq!(w.arrive(0b100, 3), Arrived::Last(0b111));
        assert_eq!(w.arrive(0b100, 3), Arrived::Waits);
    }

    #[test]
    fn barriers_are_apart() {
        let w = WholeWarps::new(false);
        w.reset(0b11);
        assert_eq!(w.arrive(0b01, 0), Arrived::Waits);
        assert_eq!(w.arrive(0b10, 1), Arrived::Waits);
        assert_eq!((w.count(0), w.count(1), w.count(2)), (0b01, 0b10, 0));
    }

    #[test]
    fn the_end_of_a_warp_completes_what_the_others_wait_at() {
        let w = WholeWarps::new(false);
        w.reset(0b111);
        assert_eq!(w.arrive(0b001, 0), Arrived::Waits);
        assert_eq!(w.finish(0b100), 0);
        assert_eq!(w.finish(0b010), 0b001);
        assert_eq!(w.finish(0b001), 0);
    }

    #[test]
    fn lanes_are_counted_until_the_barrier_is_complete() {
        let w = WholeWarps::new(false);
        w.reset(0b11);
        assert_eq!(w.arrive(0b01, 5), Arrived::Waits);
        assert_eq!(w.count(5), 0b01);
        assert_eq!(w.arrive(0b10, 5), Arrived::Counted);
        w.completed(5);
        assert_eq!(w.arrive(0b10, 5), Arrived::Waits);
        let w = WholeWarps::new(true);
        w.reset(0b11);
        w.completed(5);
        assert_eq!(w.arrive(0b10, 5), Arrived::Counted);
    }
}
