//! Generates kernel source: the C types of dtypes, the rules for combining dtypes, and generators that turn short
//! expressions into complete kernels. Maps text to text and needs no driver.
#![forbid(unsafe_code)]

pub mod array;
pub mod block_reduce;
pub mod c_declarations;
mod elementwise;
mod look_back;
pub mod pointwise;
pub mod random;
pub mod reduction;
pub mod scan;
mod scan_pipeline;
pub mod snippet;
pub mod typed_snippet;

pub use elementwise::{ElementwiseKernelSpec, KernelParam};
