//! How a grid runs.
//!
//! | file | what |
//! |---|---|
//! | `launch`, `worker` | what starts and cancels a grid; threads, the job list, when a grid is worth waking them for |
//! | `grid_job` | a running grid |
//! | `serial_blocks` | kernels that never wait: all blocks on one fiber |
//! | `resident_blocks`, `block` | kernels that may wait: a fiber per warp |
//! | `fiber`, `memory_slots` | what a warp runs on |
//! | `signals`, `fault_report`, `report_words` | from a hardware exception to an error message |
//! | `watchdog`, `interrupt` | launches that are to end: cancelled, too long, Ctrl-C |
//! | `runtime_calls` | the functions that compiled code calls |
//! | `arch` | what differs between processors while kernels run |
//! | `move_pages` | threads that stop while memory moves |

pub(crate) mod arch;
pub(crate) mod block;
pub(crate) mod fault_report;
pub(crate) mod fiber;
pub(crate) mod grid_job;
pub(crate) mod interrupt;
pub mod launch;
pub mod memory_slots;
pub mod move_pages;
mod report_words;
mod resident_blocks;
pub mod runtime_calls;
mod serial_blocks;
pub(crate) mod signals;
pub(crate) mod watchdog;
pub mod worker;
