//! Arrays on a device with a dynamic dtype, over a narrow [`Runtime`] trait.
//!
//! The crate decides shapes, result types and which kernel runs; how memory is allocated and
//! kernels are compiled and launched is the runtime's business, so that CUDA and other back ends
//! stand behind the same arrays.
#![forbid(unsafe_code)]

mod array;
mod error;
mod kernels;
mod layout;
mod operators;
mod runtime;
mod scalar;

pub use array::GpuArray;
pub use error::{ArrayError, ArrayErrorKind, Result};
pub use layout::{Layout, Order};
pub use operators::BinaryOp;
pub use rtcg_codegen::{DType, WeakScalar};
pub use runtime::{ArrayContext, Buffer, Kernel, KernelArg, Runtime};
pub use scalar::Scalar;
