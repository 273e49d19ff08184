//! The sixteen barriers of a block.
//!
//! Establishes: a barrier over all threads (`count` 0) is complete when every thread of the block
//! has arrived or exited; one with a count when that many threads have arrived. Warps of a block
//! never run at the same time, so nothing here is atomic.

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
    pub(crate) exited: u32,
}

impl WarpArrival {
    /// All lanes that have not exited arrive, to wait for all threads of the block.
    pub(crate) fn full_warp_arrival(ctx: &WarpCtx) -> WarpArrival {
        let exited = (ctx.live & ctx.exited).count_ones();
        let arriving = ctx.live.count_ones() - exited;
        WarpArrival { kind: BarrierKind::Sync as u32, count: 0, arriving, trues: 0, exited }
    }

    /// Whether this is [`WarpArrival::full_warp_arrival`].
    pub(crate) fn is_full_warp_arrival(&self, ctx: &WarpCtx) -> bool {
        let all = self.arriving + self.exited == ctx.live.count_ones();
        all && self.arriving > 0 && self.count == 0 && self.kind == BarrierKind::Sync as u32
    }
}

impl Barrier {
    pub(crate) const fn new() -> Barrier {
        Barrier { arrived: 0, exited: 0, trues: 0, expected: 0, waiting: 0, kind: 0 }
    }

    /// Counts an arrival in.
    pub(crate) fn count_arrival(&mut self, a: WarpArrival) {
        self.arrived += a.arriving;
        self.exited += a.exited;
        self.trues += a.trues;
        self.expected = a.count;
        if a.kind != BarrierKind::Arrive as u32 {
            self.kind = a.kind;
        }
    }

    /// Whether all have come. `threads` and `finished` are of the block: all its threads, and
    /// those of warps that have ended.
    pub(crate) fn is_complete(&self, threads: u32, finished: u32) -> bool {
        match self.expected {
            0 => self.arrived + self.exited + finished >= threads && self.arrived > 0,
            n => self.arrived >= n,
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
