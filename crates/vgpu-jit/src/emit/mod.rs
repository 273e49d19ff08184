//! Machine code with Cranelift: [`compile`] declares and compiles a kernel's functions, [`converged_code`]
//! and [`masked_code`] emit the two versions of each, [`ops`] the arithmetic.

mod address_groups;
pub(crate) mod addresses;
mod async_copy;
pub(crate) mod atomics;
mod barriers;
pub(crate) mod branch_endpoints;
pub(crate) mod calls;
pub(crate) mod code_image;
mod code_image_serialization;
pub(crate) mod compile;
pub(crate) mod converged_code;
pub(crate) mod emitter;
mod host_functions;
pub(crate) mod host_state;
mod libcalls;
pub(crate) mod loaded_code;
pub(crate) mod loads_and_stores;
pub(crate) mod masked_code;
mod matrix_encoding;
mod matrix_instructions;
pub mod ops;
mod ordering_points;
pub(crate) mod out_of_line;
pub(crate) mod register_values;
pub(crate) mod relocations;
mod runtime_ordering_points;
pub(crate) mod scalar_spill;
pub(crate) mod segment_emission;
mod serialization;
pub(crate) mod shadow_checks;
pub(crate) mod slow_paths;
pub(crate) mod special_registers;
mod texture;
mod traps;
pub(crate) mod warp_ops;
