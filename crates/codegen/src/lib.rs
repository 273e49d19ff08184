//! Generates kernel source: the C types of dtypes, the rules for combining dtypes, and generators that turn short
//! expressions into complete kernels. Maps text to text and needs no driver.
#![forbid(unsafe_code)]

pub mod array;
pub mod block_reduce;
pub mod c_declarations;
mod device_info;
mod dtype;
mod elementwise;
mod kernel_spec;
mod look_back;
pub mod pointwise;
pub mod random;
pub mod reduction;
pub mod scan;
mod scan_pipeline;
pub mod snippet;
pub mod tuning;
pub mod typed_snippet;

pub use device_info::{BLOCK_THREADS, DeviceInfo};
pub use dtype::{DType, DTypeKind, OperandType, UnknownDType, WeakScalar, promote_operands};
pub use elementwise::{ElementwiseKernelSpec, KernelParam};
pub use kernel_spec::KernelSpec;
