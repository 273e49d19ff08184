//! An OpenCL 3.0 platform over the CUDA driver API.
//!
//! Every CUDA device, and the virtual GPU, is a device of this platform. [`dispatch_table`] has its functions, as the
//! ICD protocol wants them; [`rtcg_opencl_sys`] has the types. Programs in OpenCL C are compiled by a clang
//! ([`rtcg_compile::clang`]) with a library of builtins of this crate; a pass over PTX adds what a launch of OpenCL has
//! and one of CUDA lacks.
//!
//! Each function checks its handles and values, and returns the code that the specification gives; with
//! `RTCG_OPENCL_ERRORS=1` it also says on the error stream what was wrong. Nothing here panics across C.
//!
//! | folder, file | contents |
//! |---|---|
//! | `command/`, `completion/` | queues and events, and what follows when the device has completed a command |
//! | `kernel/`, `memory/`, `program/`, `platform/` | the other objects behind the table |
//! | `program/pass.rs` | the pass over clang's PTX |
//! | `builtins/` | the builtins of OpenCL C |
#![allow(unsafe_code, reason = "an implementation of a C interface")]
#![allow(non_snake_case, clippy::too_many_arguments, reason = "OpenCL's functions")]

#[cfg(test)]
#[path = "builtins/completeness.rs"]
mod builtins_completeness;
mod clock;
mod command;
mod completion;
mod context;
mod error;
mod head_arena;
mod info;
mod kernel;
mod memory;
mod object;
mod platform;
mod program;
mod sampler;
mod table;
mod unsupported;

pub use error::are_reasons_wanted;
pub use table::dispatch_table;

/// The pass over PTX alone, for tests and fuzzing: `is_local` says which arguments of which kernels are `__local`.
///
/// # Errors
/// What the pass refuses.
#[doc(hidden)]
pub fn with_launch_record(ptx: &str, is_local: impl Fn(&str, usize) -> bool) -> Result<String, String> {
    program::pass::transform(ptx, is_local).map(|transformed| transformed.ptx)
}
