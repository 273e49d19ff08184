//! Memory ordering, atomics, warp operations, fences and barriers.

use super::{BoolOp, Reg};

/// Memory ordering semantics of loads, stores, atomics and fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sem {
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
pub enum Scope {
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
    Memory { sem: Sem, scope: Scope },
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
