//! Arrays on a device with a dynamic dtype, over a narrow [`Runtime`] trait.
//!
//! The crate decides shapes, result types and which kernel runs; how memory is allocated and
//! kernels are compiled and launched is the runtime's business, so that CUDA and other back ends
//! stand behind the same arrays.
#![forbid(unsafe_code)]

mod array;
mod elementwise;
mod error;
mod fft;
pub mod fuse;
mod gather;
mod inside;
mod launch;
mod layout;
mod linalg;
mod matmul;
mod patience;
mod plan;
#[cfg(test)]
mod plan_properties;
mod reduce;
mod runtime;
mod scalar;
mod scan;
mod shortcut;
mod sort;
mod tiled;
mod views;

pub use array::GpuArray;
pub use elementwise::{Arg, Wishes, apply, binary, can_cast_same_kind, result_type};
pub use error::{ArrayError, ArrayErrorKind, Result};
pub use fft::{FFT_TABLE_BYTES, FftKind};
pub use gather::FancyIndex;
pub use inside::Inside;
pub use launch::{Args, BLOCK_THREADS};
pub use layout::{Layout, MAX_NDIM, Order, Shape, Strides, Tuple, broadcast_shapes};
pub use linalg::{LeastSquares, Limits, MatrixNorm, SignAndLog, Svd, Tolerance, Triangle};
pub use patience::{WaitHook, lock_patiently, patiently, set_wait_hook};
pub use reduce::{Axes, ReduceWishes, Statistic};
pub use rtcg_codegen::array::{Bounds, Op, Reduction, ScanOp};
pub use rtcg_codegen::{DType, Kind, WeakScalar};
pub use runtime::{Allocator, ArrayContext, Buffer, Facts, Kernel, Runtime};
pub use scalar::{Element, Scalar};
pub use views::{Index, normalize_axes, normalize_axis};
