//! The virtual GPU: the CUDA driver API executed on CPU cores.
//!
//! [`virtual_driver_table`] is the driver table of the virtual GPU; everything else here stands behind it.
#![allow(unsafe_code, reason = "an implementation of a C interface, and kernels that address memory by numbers")]

pub mod abi;
mod api;
pub mod check;
pub mod code_cache;
mod device;
mod driver;
mod env;
pub mod error;
pub mod exec;
mod graph;
mod handles;
pub mod jit;
mod locks;
pub mod memory;
pub mod module;
mod opengl;
mod resource;
pub mod schedule;
pub mod softmath;
mod stream;
pub mod texture;
pub mod window;

pub use api::driver_table::{last_fault_report, resolve_function, resolve_symbol, virtual_driver_table};
pub use device::memory_limit_notice;
pub use error::last_error_detail;
pub use exec::set_interrupt_check;
pub use stream::context::finish_or_cancel_work;
