//! The sixteen barriers of a block.
//!
//! Establishes: a barrier over all threads (`count` 0) is complete when every thread of the block
//! has arrived or exited; one with a count when that many have arrived, where a warp that has arrived counts whole:
//! with its lanes that have exited, and with those that the block does not have. Warps of a block never run at the same
//! time, so nothing here is atomic.

use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::runtime::BarrierKind;

/// Barriers of a block (PTX: resources 0 to 15).
pub(crate) const N_BARRIERS: usize = 16;

/// One barrier between two completions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Barrier {
    /// Threads that have arrived.
    pub(crate) arrived: u32,
    /// Exited lanes of the warps that have arrived.
    pub(crate) exited: u32,
    /// Lanes of those warps that are no threads of the block.
    absent: u32,
    /// Warps of which lanes have arrived, one bit each.
    warps: u32,
    /// Arrived threads with a true predicate.
    trues: u32,
    /// Threads it waits for; 0 for all of the block.
    pub(crate) expected: u32,
    /// Warps that wait, one bit each.
    pub(crate) waiting: u32,
    pub(crate) kind: u32,
}

/// An arrival of a warp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WarpArrival {
    pub(crate) kind: u32,
    pub(crate) count: u32,
    pub(crate) arriving: u32,
    pub(crate) trues: u32,
    /// The number of the warp in the block.
    pub(crate) warp: u32,
    pub(crate) exited: u32,
    /// Lanes of the warp that are no threads of the block.
    pub(crate) absent: u32,
}

impl WarpArrival {
    /// All lanes that have not exited arrive, to wait for all threads of the block.
    pub(crate) fn full_warp_arrival(ctx: &WarpCtx) -> WarpArrival {
        let arriving = (ctx.live & !ctx.exited).count_ones();
        WarpArrival::of_lanes(ctx, BarrierKind::Sync as u32, 0, arriving, 0)
    }

    /// `arriving` lanes arrive, `trues` of them with a true predicate.
    pub(crate) fn of_lanes(ctx: &WarpCtx, kind: u32, count: u32, arriving: u32, trues: u32) -> WarpArrival {
        let exited = (ctx.live & ctx.exited).count_ones();
        WarpArrival { kind, count, arriving, trues, warp: ctx.warp_id % 32, exited, absent: ctx.live.count_zeros() }
    }

    /// Whether this is [`WarpArrival::full_warp_arrival`].
    pub(crate) fn is_full_warp_arrival(&self, ctx: &WarpCtx) -> bool {
        let all = self.arriving + self.exited == ctx.live.count_ones();
        all && self.arriving > 0 && self.count == 0 && self.kind == BarrierKind::Sync as u32
    }
}

impl Barrier {
    pub(crate) const fn new() -> Barrier {
        Barrier { arrived: 0, exited: 0, absent: 0, warps: 0, trues: 0, expected: 0, waiting: 0, kind: 0 }
    }

    /// Counts an arrival in.
    pub(crate) fn count_arrival(&mut self, a: WarpArrival) {
        self.arrived += a.arriving;
        if self.warps >> a.warp & 1 == 0 {
            self.warps |= 1 << a.warp;
            self.exited += a.exited;
            self.absent += a.absent;
        }
        self.trues += a.trues;
        self.expected = a.count;
        if a.kind != BarrierKind::Arrive as u32 {
            self.kind = a.kind;
        }
    }

    /// Whether lanes of a warp have arrived.
    pub(crate) fn has_warp(&self, warp: usize) -> bool {
        self.warps >> (warp % 32) & 1 != 0
    }

    /// Whether all have come. `threads` and `finished` are of the block: all its threads, and
    /// those of warps that have ended.
    pub(crate) fn is_complete(&self, threads: u32, finished: u32) -> bool {
        match self.expected {
            0 => self.arrived + self.exited + finished >= threads && self.arrived > 0,
            n => self.arrived > 0 && self.arrived + self.exited + self.absent >= n,
        }
    }

    /// Result of the reduction over those that have arrived.
    pub(crate) fn reduction_result(&self) -> u32 {
        match self.kind {
            k if k == BarrierKind::RedPopc as u32 => self.trues,
            k if k == BarrierKind::RedAnd as u32 => u32::from(self.trues == self.arrived),
            k if k == BarrierKind::RedOr as u32 => u32::from(self.trues > 0),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An arrival of `arriving` lanes of a warp of which `exited` have exited, at a barrier for `count` threads.
    fn arrival(warp: u32, arriving: u32, exited: u32, count: u32) -> WarpArrival {
        let absent = 32 - arriving - exited;
        WarpArrival { kind: BarrierKind::RedPopc as u32, count, arriving, trues: arriving, warp, exited, absent }
    }

    #[test]
    fn a_warp_counts_whole_at_a_barrier_with_a_count() {
        let mut b = Barrier::new();
        b.count_arrival(arrival(0, 30, 2, 64));
        assert!(!b.is_complete(96, 0));
        // A warp of which the block has only 20 threads.
        b.count_arrival(arrival(2, 20, 0, 64));
        assert!(b.is_complete(84, 0));
        assert_eq!(b.reduction_result(), 50);
    }

    #[test]
    fn exited_lanes_of_a_warp_that_arrives_in_parts_count_once() {
        let mut b = Barrier::new();
        b.count_arrival(arrival(1, 16, 4, 64));
        b.count_arrival(WarpArrival { arriving: 12, ..arrival(1, 12, 4, 64) });
        assert!(!b.is_complete(96, 0), "the exited lanes are counted twice");
    }
}
