//! CUDA devices, real and virtual, as [`rtcg_hal`] sees devices.
//!
//! [`CudaRuntime`] implements [`rtcg_hal::Device`] and the capabilities with the objects of [`rtcg_driver`] and
//! the compiler of [`rtcg_compile`].
//!
//! | folder, file | contents |
//! |---|---|
//! | `runtime.rs` | memory, compilation and launches |
//! | `capabilities.rs` | asynchronous reads, graphs, and cooperative launches |
//! | `workspace.rs` | scratch memory of streams |
//! | `signatures.rs` | types of kernel parameters |
//! | `error.rs` | errors, with the part that failed |

mod capabilities;
mod context;
mod error;
mod runtime;
mod signatures;
mod tuning_results;
mod workspace;

pub use context::{device_compile_target, with_current};
pub use error::{Error, Result};
pub use runtime::{
    CudaRuntime, DeviceBuffer, current_stream, driver_function, has_allocator, run_in_stream, with_allocator,
};
pub use signatures::{attach_module_source, kernel_parameters};
pub use tuning_results::{default_results_folder, device_key, results_store};
pub use workspace::clear_workspaces;
