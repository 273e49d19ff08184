//! Machine code with Cranelift. [`function`] emits the functions of a kernel in two versions, converged and masked,
//! [`instructions`] what is not plain arithmetic, [`ops`] the arithmetic. [`code`] is what comes of it: relocatable
//! images, which are cached and loaded.

pub(crate) mod code;
pub(crate) mod function;
mod instructions;
pub(crate) mod isa;
pub mod ops;
