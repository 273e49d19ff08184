//! A function of a kernel, which [`compile`] declares and compiles. [`emitter`] is the state of emitting it;
//! [`converged_code`] and [`masked_code`] emit its two versions, block by block, and [`segment_emission`] the
//! statements of a block, with the registers and operands that they read and write. [`out_of_line`] and [`slow_paths`]
//! are what this code leaves to Rust functions.

mod branch_endpoints;
pub(crate) mod compile;
mod converged_branches;
mod converged_code;
pub(super) mod emitter;
pub mod internal_errors;
mod masked_code;
mod operand_values;
pub(crate) mod out_of_line;
pub(super) mod register_values;
mod registers;
pub(super) mod scalar_spill;
mod segment_emission;
pub(super) mod slow_paths;
mod stride_checks;
