//! The lane-level form of a function: what a back end emits.
//!
//! A function becomes a [`plan::FunctionPlan`]: basic blocks of guarded statements ([`body`]), the class of
//! every register ([`classes`]: one value for all lanes, a stride, or a value per lane), the order
//! in which statements may be emitted ([`segments`]) and the layout of its frame. Nothing here
//! knows how machine code is made, so a back end with wider vectors can be put beside
//! [`super::emit`].

#[cfg(test)]
mod affine_tests;
pub(crate) mod barrier;
mod bitwise_strides;
pub(crate) mod body;
pub(crate) mod bounds;
pub(crate) mod branch_endpoints;
pub(crate) mod classes;
pub(crate) mod dead_atomic_results;
pub(crate) mod flow;
pub(crate) mod fma_contraction;
pub(crate) mod ifconvert;
pub(crate) mod inline;
pub(crate) mod known_values;
pub(crate) mod layout;
pub(crate) mod low_bits;
pub(crate) mod nan;
pub(crate) mod never_unanimous;
pub mod operands;
pub(crate) mod param_addresses;
pub(crate) mod plan;
pub(crate) mod predicated_copies;
pub(crate) mod pure_instructions;
pub(crate) mod rarely_divergent;
pub(crate) mod register_params;
mod rename;
pub(crate) mod segment_fission;
pub(crate) mod segments;
mod signed_division;
pub(crate) mod sites;
pub(crate) mod spin_loops;
pub(crate) mod stride_checks;
pub(crate) mod usage;
pub(crate) mod width;
