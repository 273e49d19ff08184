//! Which warps of a block can run, and barriers for all threads of the block at which only whole warps have
//! arrived: the case of nearly every barrier.
//!
//! Establishes: such a barrier is complete when every warp that has not ended has arrived at it, so that a
//! bit per warp is enough. Where part of a warp arrives, or checks observe the barrier, lanes are
//! [counted](super::barrier::Barrier) instead.
//!
//! Mostly not even bits are needed: warps arrive at the same barrier one after the other, in the order of their
//! ring, and it is enough to count the missing ones. Such a *round* is converted to bits as soon as anything else
//! happens; every function here but [`WarpBarriers::arrive_at_barrier`] does that.

use super::barrier::N_BARRIERS;
use std::cell::Cell;

/// What the arrival of a whole warp has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrivalResult {
    /// It waits.
    Waits,
    /// It was the last, and all go on.
    Last,
    /// Lanes are counted at this barrier, so nothing has changed.
    Counted,
}

/// The whole warps of one block.
pub(crate) struct WarpBarriers {
    /// The barrier of the round.
    pub(crate) round_at: Cell<u32>,
    /// Warps that are still to come in the round; 0 where there is none.
    pub(crate) round_left: Cell<u32>,
    /// The number of the warp that arrived first in the round.
    round_first: Cell<u32>,
    /// Warps that can run, one bit each, as before the round.
    runnable: Cell<u32>,
    /// Warps that have not ended, one bit each.
    unfinished: Cell<u32>,
    /// How many warps the block has.
    number: u32,
    /// Of each barrier the warps that wait, one bit each, but for those of the round.
    waiting: [Cell<u32>; N_BARRIERS],
    /// Barriers at which lanes are counted, one bit each. No whole warp waits there.
    counted: Cell<u32>,
    /// What is counted from the start.
    always_counted: u32,
}

/// The bits of `number` warps.
fn low_bits_mask(number: u32) -> u32 {
    u32::MAX.checked_shr(32 - number).unwrap_or(0)
}

impl WarpBarriers {
    /// Of a block of `number` warps that has not started. With `start_counting_lanes`, lanes are counted at all barriers.
    pub(crate) fn new(number: u32, count: bool) -> WarpBarriers {
        let always_counted = if count { (1 << N_BARRIERS) - 1 } else { 0 };
        WarpBarriers {
            round_at: Cell::new(0),
            round_left: Cell::new(0),
            round_first: Cell::new(0),
            runnable: Cell::new(0),
            unfinished: Cell::new(0),
            number,
            waiting: [const { Cell::new(0) }; N_BARRIERS],
            counted: Cell::new(always_counted),
            always_counted,
        }
    }

    /// A block begins.
    pub(crate) fn reset_for_block(&self) {
        self.round_left.set(0);
        self.runnable.set(low_bits_mask(self.number));
        self.unfinished.set(low_bits_mask(self.number));
        self.counted.set(self.always_counted);
        self.waiting.iter().for_each(|w| w.set(0));
    }

    /// Puts the round into bits.
    fn convert_round_to_bits(&self) {
        let left = self.round_left.replace(0);
        if left == 0 {
            return;
        }
        let came = u64::from(low_bits_mask(self.number - left)) << self.round_first.get();
        // Those beyond the last warp are the first ones.
        let came = (came | came >> self.number) as u32 & low_bits_mask(self.number);
        let waiting = &self.waiting[self.round_at.get() as usize % N_BARRIERS];
        waiting.set(waiting.get() | came);
        self.runnable.set(self.runnable.get() & !came);
    }

    /// Warps that can run, one bit each.
    pub(crate) fn runnable_warps(&self) -> u32 {
        self.convert_round_to_bits();
        self.runnable.get()
    }

    /// Whether the next warp in the ring after one that has just arrived, by its bit, can run.
    #[inline(always)]
    pub(crate) fn is_next_warp_runnable(&self, next: u32) -> bool {
        self.runnable.get() & next != 0
    }

    /// These warps, one bit each, can run from here on.
    pub(crate) fn make_runnable(&self, warps: u32) {
        self.convert_round_to_bits();
        self.runnable.set(self.runnable.get() | warps);
    }

    /// This warp, by its bit, cannot run from here on.
    pub(crate) fn make_waiting(&self, warp: u32) {
        self.convert_round_to_bits();
        self.runnable.set(self.runnable.get() & !warp);
    }

    /// Barriers at which lanes are counted, one bit each.
    pub(crate) fn lane_counted_barriers(&self) -> u32 {
        self.counted.get()
    }

    /// The whole warp number `warp` arrives at barrier `id` to wait for all others.
    // What x86-64 does by hand where a round goes on.
    #[inline(always)]
    pub(crate) fn arrive_at_barrier(&self, warp: u32, id: usize) -> ArrivalResult {
        if self.round_at.get() as usize == id {
            match self.round_left.get() {
                0 => {}
                1 => {
                    self.round_left.set(0);
                    return ArrivalResult::Last;
                }
                left => {
                    self.round_left.set(left - 1);
                    return ArrivalResult::Waits;
                }
            }
        }
        self.begin_arrival_round(warp, id)
    }

    /// An arrival at another barrier than that of the round, or where there is none.
    fn begin_arrival_round(&self, warp: u32, id: usize) -> ArrivalResult {
        self.convert_round_to_bits();
        if self.counted.get() >> id & 1 != 0 {
            return ArrivalResult::Counted;
        }
        let (bit, every) = (1 << warp, low_bits_mask(self.number));
        let all = self.waiting[id].get() | bit;
        if all == self.unfinished.get() {
            self.waiting[id].set(0);
            self.runnable.set(self.runnable.get() | all);
            return ArrivalResult::Last;
        }
        if self.runnable.get() == every {
            self.round_at.set(id as u32);
            self.round_first.set(warp);
            self.round_left.set(self.number - 1);
        } else {
            self.waiting[id].set(all);
            self.runnable.set(self.runnable.get() & !bit);
        }
        ArrivalResult::Waits
    }

    /// From here on lanes are counted at barrier `id`. Returns the warps that wait there.
    pub(crate) fn start_counting_lanes(&self, id: usize) -> u32 {
        self.convert_round_to_bits();
        self.counted.set(self.counted.get() | 1 << id);
        self.waiting[id].replace(0)
    }

    /// The barrier `id` at which lanes were counted is complete.
    pub(crate) fn finish_counting_lanes(&self, id: usize) {
        self.counted.set(self.counted.get() & !(1 << id) | self.always_counted);
    }

    /// A warp, by its bit, has ended. Those that need wait for it no longer go on.
    pub(crate) fn finish_warp(&self, warp: u32) {
        self.make_waiting(warp);
        let left = self.unfinished.get() & !warp;
        self.unfinished.set(left);
        if self.runnable.get() == left {
            return;
        }
        // Two barriers at which all warps that are left wait there cannot be.
        if let Some(complete) = self.waiting.iter().find(|w| w.get() == left && left != 0) {
            self.make_runnable(complete.replace(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started_warp_barriers(warps: u32) -> WarpBarriers {
        let w = WarpBarriers::new(warps, false);
        w.reset_for_block();
        w
    }

    #[test]
    fn last_arriving_warp_releases_the_others() {
        let w = started_warp_barriers(3);
        for first in [1, 2, 0, 0] {
            assert_eq!(w.arrive_at_barrier(first, 3), ArrivalResult::Waits);
            assert_eq!(w.arrive_at_barrier((first + 1) % 3, 3), ArrivalResult::Waits);
            assert_eq!(w.arrive_at_barrier((first + 2) % 3, 3), ArrivalResult::Last);
            assert_eq!(w.runnable_warps(), 0b111);
        }
        assert_eq!(started_warp_barriers(1).arrive_at_barrier(0, 3), ArrivalResult::Last);
    }

    #[test]
    fn rounds_convert_to_bits_after_any_number_of_arrivals() {
        for (number, first, came) in (1..=32).flat_map(|n| (0..n).flat_map(move |f| (1..n).map(move |c| (n, f, c)))) {
            let w = started_warp_barriers(number);
            (0..came).for_each(|i| assert_eq!(w.arrive_at_barrier((first + i) % number, 2), ArrivalResult::Waits));
            let want = (0..came).fold(0, |m, i| m | 1 << ((first + i) % number));
            assert_eq!(w.runnable_warps(), low_bits_mask(number) & !want);
            // It goes on in bits.
            for i in came..number {
                let last = i + 1 == number;
                let arrived = w.arrive_at_barrier((first + i) % number, 2);
                assert_eq!(arrived, if last { ArrivalResult::Last } else { ArrivalResult::Waits });
            }
            assert_eq!(w.runnable_warps(), low_bits_mask(number));
        }
    }

    #[test]
    fn barriers_are_independent() {
        let w = started_warp_barriers(2);
        assert_eq!(w.arrive_at_barrier(0, 0), ArrivalResult::Waits);
        assert_eq!(w.arrive_at_barrier(1, 1), ArrivalResult::Waits);
        assert_eq!(w.runnable_warps(), 0);
        assert_eq!((w.start_counting_lanes(0), w.start_counting_lanes(1), w.start_counting_lanes(2)), (0b01, 0b10, 0));
    }

    #[test]
    fn finished_warp_completes_the_barrier_of_the_others() {
        let w = started_warp_barriers(3);
        assert_eq!(w.arrive_at_barrier(0, 0), ArrivalResult::Waits);
        w.finish_warp(0b100);
        assert_eq!(w.runnable_warps(), 0b010);
        w.finish_warp(0b010);
        assert_eq!(w.runnable_warps(), 0b001);
        w.finish_warp(0b001);
        assert_eq!(w.runnable_warps(), 0);
    }

    #[test]
    fn lanes_are_counted_until_the_barrier_is_complete() {
        let w = started_warp_barriers(2);
        assert_eq!(w.arrive_at_barrier(0, 5), ArrivalResult::Waits);
        assert_eq!(w.start_counting_lanes(5), 0b01);
        assert_eq!(w.arrive_at_barrier(1, 5), ArrivalResult::Counted);
        w.finish_counting_lanes(5);
        w.make_runnable(0b01);
        assert_eq!(w.arrive_at_barrier(1, 5), ArrivalResult::Waits);
        let w = WarpBarriers::new(2, true);
        w.reset_for_block();
        w.finish_counting_lanes(5);
        assert_eq!(w.arrive_at_barrier(1, 5), ArrivalResult::Counted);
    }
}
