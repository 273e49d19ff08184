//! Memory ordering, atomics, warp operations, fences and barriers.

use super::{BoolOp, Reg};

/// Memory ordering semantics of loads, stores, atomics and fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MemorySemantics {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    Mmio,
}

/// Synchronisation scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MemoryScope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Operations of `atom`, `red` (and, a subset, of `redux`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Inc,
    Dec,
    Cas,
}

/// Warp shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Warp votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// What kind of fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FenceKind {
    /// `membar.{cta,gl,sys}` and `fence.{sc,acq_rel,acquire,release}.scope`
    Memory { sem: MemorySemantics, scope: MemoryScope },
    /// `fence.proxy.*`: between kinds of memory access; no effect on one coherent memory.
    Proxy,
    /// `fence.mbarrier_init...`
    MbarrierInit,
}

/// The form of a `bar`/`barrier` instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum BarKind {
    Sync,
    Arrive,
    /// `bar.red.popc.u32 d, a, [b], p`
    RedPopc {
        dst: Reg,
        pred: Reg,
        negated: bool,
    },
    /// `bar.red.{and,or}.pred d, a, [b], p`
    RedBool {
        op: BoolOp,
        dst: Reg,
        pred: Reg,
        negated: bool,
    },
}

/// Operations on an `mbarrier` object: a count of pending arrivals and of pending bytes in shared
/// memory, whose phase ends when both are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MbarrierOp {
    /// `init`: `a` is the number of arrivals of each phase.
    Init,
    /// `inval`
    Inval,
    /// `expect_tx`: the phase waits for `a` more bytes.
    ExpectTx,
    /// `complete_tx`: `a` bytes have come.
    CompleteTx,
    /// `arrive`, `arrive_drop`: `a` arrivals (1 when not written); the result is the phase's state.
    Arrive {
        /// Later phases expect as many arrivals less.
        drop: bool,
        /// The program promises that this does not end the phase.
        no_complete: bool,
    },
    /// `arrive.expect_tx`, `arrive_drop.expect_tx`: waits for `a` more bytes, then arrives once.
    ArriveExpectTx {
        /// As in [`MbarrierOp::Arrive`].
        drop: bool,
    },
    /// `test_wait`, `try_wait`: whether the phase of state `a` has ended; `b` limits the wait.
    Wait {
        /// `try_wait`
        may_block: bool,
        /// `a` is the phase's parity rather than a state.
        parity: bool,
    },
    /// `cp.async.mbarrier.arrive`: arrives when all earlier `cp.async` of the thread are done.
    CopiesArrive {
        /// The arrival is one of those that the phase expects.
        noinc: bool,
    },
}
