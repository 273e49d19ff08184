//! The execution engine: runs grids of compiled kernels on the cores of this machine.
//!
//! [`validate`] says what CUDA would say about a launch before it starts, [`run`] runs it to its
//! end. Both are called by the API layer, `run` from stream threads or from the caller itself.
//! Nothing here knows contexts or streams.

pub mod codes;
pub mod fault;
pub mod launch;

pub use fault::{Fault, FaultKind};
pub use launch::{CancelFlag, Launch, max_resident_blocks, run, validate};
