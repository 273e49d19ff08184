//! The execution engine: runs grids of compiled kernels on the cores of this machine.
//!
//! [`validate_launch`] says what CUDA would say about a launch before it starts, [`run_launch`] runs it to its
//! end. Both are called by the API layer, `run` from stream threads or from the caller itself.
//! Nothing here knows contexts or streams.
//!
//! | file | what |
//! |---|---|
//! | `worker` | threads, the job list, when a grid is worth waking them for |
//! | `job` | a running grid |
//! | `serial` | kernels that never wait: all blocks on one fiber |
//! | `resident`, `block`, `barrier` | kernels that may wait: a fiber per warp |
//! | `fiber`, `stack`, `slots`, `tid` | what a warp runs on |
//! | `signals`, `report`, `fault` | from a hardware exception to an error message |
//! | `stop`, `monitor`, `interrupt` | launches that are to end: cancelled, too long, Ctrl-C |
//! | `calls` | the functions that compiled code calls |
// A fault is made once per failed launch, so its size does not matter.
#![allow(clippy::result_large_err)]

mod barrier;
pub(crate) mod block;
pub mod calls;
pub mod codes;
pub mod fault;
pub(crate) mod fiber;
pub mod host_ranges;
mod interrupt;
mod job;
pub mod launch;
pub mod limits;
pub(crate) mod mbarrier;
pub mod program;
mod report;
mod resident;
mod serial;
mod signals;
mod watchdog;
pub(crate) use signals::install_fault_handlers as install_signals;
mod memory_slots;
mod stack;
mod stop;
mod tid;
mod whole_warps;
mod worker;

pub use calls::RUNTIME_CALLS;
pub use fault::{Fault, FaultAccess, FaultKind};
pub use interrupt::set_interrupt_check;
pub(crate) use interrupt::{CHECK_INTERVAL, can_check_interrupt, is_interrupt_requested, mark_internal_thread};
pub use job::{LaunchConfig, MULTIPROCESSORS};
pub use launch::{CancelFlag, Launch, max_resident_blocks, run_launch, run_since, validate_launch};
pub(crate) use memory_slots::n_multiprocessors;
pub use program::{InstructionLocation, Program, SourceMap};
pub(crate) use watchdog::register_cancel_flag;
pub use worker::{n_workers, run_program};
