//! Memory ordering, atomics, warp operations, fences and barriers.

use super::{BoolOp, Reg};

/// Memory ordering semantics of loads, stores, atomics and fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemorySemantics {
    /// No ordering; what loads and stores are without a word.
    Weak,
    /// As `Relaxed` with the scope of the system.
    Volatile,
    /// Atomic, without ordering of other accesses.
    Relaxed,
    /// Later accesses stay behind it.
    Acquire,
    /// Earlier accesses stay before it.
    Release,
    /// Both.
    AcqRel,
    /// Both, and in one order for all threads (`fence.sc`).
    SeqCst,
    /// Memory-mapped input and output: performed exactly once.
    Mmio,
}

/// Synchronisation scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryScope {
    /// The block.
    Cta,
    /// The cluster of blocks.
    Cluster,
    /// The device.
    Gpu,
    /// All devices and the host.
    Sys,
}

/// Operations of `atom`, `red` (and, a subset, of `redux`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomOp {
    /// Sum.
    Add,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Bits that both have.
    And,
    /// Bits that one or both have.
    Or,
    /// Bits that differ.
    Xor,
    /// The new value.
    Exch,
    /// Plus 1, from the bound on 0.
    Inc,
    /// Less 1, from 0 (or above the bound) the bound.
    Dec,
    /// The new value if the old one is as expected.
    Cas,
}

/// Warp shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShflMode {
    /// From the lane `b` places below.
    Up,
    /// From the lane `b` places above.
    Down,
    /// From the lane whose number differs in the bits `b`.
    Bfly,
    /// From lane `b`.
    Idx,
}

/// Warp votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoteMode {
    /// Whether all lanes have it true.
    All,
    /// Whether a lane has it true.
    Any,
    /// Whether all lanes have the same.
    Uni,
    /// A bit for each lane.
    Ballot,
}

/// What kind of fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FenceKind {
    /// `membar.{cta,gl,sys}` and `fence.{sc,acq_rel,acquire,release}.scope`
    Memory {
        /// Which accesses it orders.
        sem: MemorySemantics,
        /// For which threads.
        scope: MemoryScope,
    },
    /// `fence.proxy.*`: between kinds of memory access; no effect on one coherent memory.
    Proxy,
    /// `fence.mbarrier_init...`
    MbarrierInit,
}

/// The form of a `bar`/`barrier` instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BarKind {
    /// Arrives and waits.
    Sync,
    /// Arrives without waiting.
    Arrive,
    /// `bar.red.popc.u32 d, a, [b], p`
    RedPopc {
        /// The number of threads whose predicate is true.
        dst: Reg,
        /// The predicate.
        pred: Reg,
        /// Whether it is negated (`!`).
        negated: bool,
    },
    /// `bar.red.{and,or}.pred d, a, [b], p`
    RedBool {
        /// `And` or `Or`.
        op: BoolOp,
        /// The predicates of all threads combined.
        dst: Reg,
        /// The predicate.
        pred: Reg,
        /// Whether it is negated (`!`).
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
