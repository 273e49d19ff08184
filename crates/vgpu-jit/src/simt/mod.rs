//! The lane-level form of a function: what a back end emits.
//!
//! A function becomes a [`function_plan::FunctionPlan`]: basic blocks of guarded statements ([`body`]), the class of
//! every register ([`lane_classes`]: one value for all lanes, a stride, or a value per lane), the order
//! in which statements may be emitted ([`segments`]) and the layout of its frame. Nothing here
//! knows how machine code is made, so a back end with wider vectors can be put beside
//! [`super::emit`].

mod address_roots;
#[cfg(test)]
mod affine_tests;
pub(crate) mod barrier_results;
mod bitwise_strides;
pub(crate) mod body;
pub(crate) mod branch_endpoints;
pub(crate) mod control_flow;
pub(crate) mod dead_atomic_results;
pub(crate) mod fma_contraction;
mod folded_identities;
pub(crate) mod function_plan;
pub(crate) mod ifconvert;
pub(crate) mod inline;
mod inline_renaming;
pub(crate) mod instruction_sites;
pub(crate) mod interpolated;
pub(crate) mod kernel_usage;
pub(crate) mod known_values;
pub(crate) mod lane_accesses;
pub(crate) mod lane_classes;
pub(crate) mod low_bits;
pub(crate) mod nan_uses;
pub(crate) mod never_unanimous;
pub(crate) mod offset_bounds;
pub mod operands;
pub(crate) mod param_addresses;
pub(crate) mod param_bounds;
pub(crate) mod predicated_copies;
pub(crate) mod pure_instructions;
pub(crate) mod rarely_divergent;
pub(crate) mod register_needs;
pub(crate) mod register_params;
pub(crate) mod register_width;
pub(crate) mod segment_fission;
pub(crate) mod segments;
mod signed_division;
pub(crate) mod single_thread;
pub(crate) mod spin_loops;
pub(crate) mod stride_checks;
pub(crate) mod symbol_layout;
mod warp_op_operands;
