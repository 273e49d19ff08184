//! Machine code with Cranelift: [`compile`] declares and compiles a kernel's functions, [`converged`]
//! and [`masked`] emit the two versions of each, [`ops`] the arithmetic.

pub(crate) mod access;
mod address_groups;
mod async_copy;
pub(crate) mod atomics;
mod barriers;
pub(crate) mod branch_endpoints;
mod cached_image;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod code;
mod codec;
pub(crate) mod compile;
pub(crate) mod converged;
pub(crate) mod emitter;
pub(crate) mod host_state;
pub(crate) mod image;
mod libcalls;
pub(crate) mod masked;
mod matrix_encoding;
pub(crate) mod memory;
pub mod ops;
mod ordering_points;
pub(crate) mod out_of_line;
pub(crate) mod relocations;
pub(crate) mod scalar_spill;
pub(crate) mod segment_emission;
pub(crate) mod slow_paths;
pub(crate) mod special;
mod symbols;
mod sync;
mod tensor;
mod texture;
mod traps;
pub(crate) mod values;
pub(crate) mod warp;
