//! The engine of the virtual GPU: runs grids of compiled kernels on the cores of this machine.
//!
//! [`run_program`] runs a compiled kernel on a grid to its end, in stream threads or in the caller itself.
//! Nothing here knows modules, contexts or streams, nor how kernels are compiled.
//!
//! | file | what |
//! |---|---|
//! | `worker` | threads, the job list, when a grid is worth waking them for |
//! | `grid_job` | a running grid |
//! | `serial_blocks` | kernels that never wait: all blocks on one fiber |
//! | `resident_blocks`, `block`, `barrier` | kernels that may wait: a fiber per warp |
//! | `fiber`, `stack`, `memory_slots`, `tid` | what a warp runs on |
//! | `signals`, `fault_report`, `fault` | from a hardware exception to an error message |
//! | `stop_reason`, `watchdog`, `interrupt` | launches that are to end: cancelled, too long, Ctrl-C |
//! | `runtime_calls` | the functions that compiled code calls |
//! | `texture` | textures and surfaces, which some of these functions read |
//! | `check` | checked mode: shadow state, races, findings |
//! | `window`, `move_pages` | the reserved addresses that stand for device memory |
#![allow(unsafe_code, reason = "runs compiled code on stacks, and answers it with pointers to its frames")]
#![allow(clippy::result_large_err, reason = "a fault is made once per failed launch, so its size does not matter")]

pub mod address_space;
pub(crate) mod arch;
mod barrier;
pub(crate) mod block;
pub mod check;
pub mod condition;
mod fault_report;
pub(crate) mod fiber;
mod grid_job;
pub mod host_ranges;
mod interrupt;
pub mod launch;
pub mod limits;
pub mod program;
mod report_words;
mod resident_blocks;
pub mod runtime_calls;
mod serial_blocks;
mod signals;
mod watchdog;
pub use signals::{block_asynchronous_signals, install_fault_handlers as install_signals};
pub mod memory_slots;
pub mod move_pages;
mod stack;
mod stop_reason;
pub mod texture;
mod tid_tables;
mod warp_barriers;
pub mod window;
pub mod worker;

pub use grid_job::{LaunchConfig, MULTIPROCESSOR_COUNT};
pub use interrupt::set_interrupt_check;
pub use interrupt::{CHECK_INTERVAL, can_check_interrupt, is_interrupt_requested, mark_internal_thread};
pub use launch::CancelFlag;
pub use memory_slots::n_multiprocessors;
pub use program::{InstructionLocation, Program, SourceMap};
pub use rtcg_vgpu_abi::fault::{self, Fault, FaultAccess, FaultKind};
pub use runtime_calls::RUNTIME_CALLS;
pub use watchdog::register_cancel_flag;
pub use worker::{n_workers, run_program};
