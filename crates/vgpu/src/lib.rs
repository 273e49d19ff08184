//! The virtual GPU: the CUDA driver API executed on CPU cores.
//!
//! [`virtual_driver_table`] is the driver table of the virtual GPU; everything else here stands behind it.
//!
//! Each of these folders and files imports only those that are listed before it.
//!
//! | folder, file | contents |
//! |---|---|
//! | `device.rs` | devices |
//! | `code_cache/` | machine code on disk |
//! | `memory/` | memory |
//! | `module/` | modules |
//! | `stream/` | contexts and streams |
//! | `resource/` | functions and libraries |
//! | `graph/` | graphs |
//! | `api/` | the driver's functions, one file per subject, under their C names |
//!
//! Functions return the error codes that a real driver returns, and no messages: `rtcg-driver` validates arguments and
//! explains errors.
#![allow(unsafe_code, reason = "an implementation of a C interface, and kernels that address memory by numbers")]

mod api;
mod c_handles;
pub mod code_cache;
mod device;
mod driver;
mod error;
mod graph;
mod memory;
pub mod module;
mod opengl;
mod resource;
mod stream;

pub use api::driver_table::{last_fault_report, resolve_function, resolve_symbol, virtual_driver_table};
pub use api::external_work::external_work;
pub use device::memory_limit_notice;
pub use driver::validate_settings;
pub use error::{failed_batch_index, last_error_detail};
pub use rtcg_vgpu_abi::schedule;
pub use rtcg_vgpu_exec::{check, set_interrupt_check};
pub use stream::context::finish_or_cancel_work;
pub use stream::external_work::is_all_external_work_done;
