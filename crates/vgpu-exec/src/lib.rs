//! The engine of the virtual GPU: runs grids of compiled kernels on the cores of this machine.
//!
//! [`run_program`] runs a compiled kernel on a grid to its end, in stream threads or in the caller itself.
//! Nothing here knows modules or streams, nor how kernels are compiled; of contexts it knows the numbers.
//!
//! | folder, file | what |
//! |---|---|
//! | `engine` | how a grid runs: threads, blocks, fibers, what compiled code calls, faults |
//! | `check` | checked mode: shadow state, races, findings |
//! | `texture` | textures and surfaces |
//! | `window` | the reserved addresses that stand for device memory |
//! | `barrier`, `warp_barriers`, `stack`, `tid_tables` | what blocks and fibers are made of |
//! | `program`, `limits`, `graph_conditional`, `host_ranges`, `stop_reason`, `address_space` | what a launch is given |
//!
//! The engine depends on neither the compiler nor the driver.
#![allow(unsafe_code, reason = "runs compiled code on stacks, and answers it with pointers to its frames")]
#![allow(clippy::result_large_err, reason = "a fault is made once per failed launch, so its size does not matter")]

pub mod address_space;
mod barrier;
pub mod check;
mod engine;
pub mod graph_conditional;
pub mod host_ranges;
pub mod limits;
pub mod program;
mod stack;
mod stop_reason;
pub mod texture;
mod tid_tables;
mod warp_barriers;
pub mod window;

pub(crate) use engine::{arch, fault_report, fiber};
pub use engine::{launch, memory_slots, move_pages, runtime_calls, worker};

pub use engine::grid_job::{LaunchConfig, MULTIPROCESSOR_COUNT};
pub use engine::interrupt::{
    CHECK_INTERVAL, can_check_interrupt, is_interrupt_requested, mark_internal_thread, set_interrupt_check,
};
pub use engine::signals::block_asynchronous_signals;
pub use engine::watchdog::register_cancel_flag;
pub use launch::CancelFlag;
pub use memory_slots::n_multiprocessors;
pub use program::{InstructionLocation, Program, SourceMap};
pub use rtcg_vgpu_abi::fault::{self, Fault, FaultAccess, FaultKind};
pub use runtime_calls::RUNTIME_CALLS;
pub use worker::run_program;
