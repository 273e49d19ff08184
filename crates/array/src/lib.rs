//! Device arrays with a dynamic dtype, built on the narrow trait [`DeviceRuntime`].
//!
//! This crate decides shapes, result types and which kernel runs. The runtime allocates memory and compiles and
//! launches kernels, so that the same arrays work on CUDA and other back ends.
#![forbid(unsafe_code)]

mod array;
mod blocking_regions;
mod bounded_cache;
mod call_cache;
mod decisions;
mod einsum;
mod elementwise;
mod error;
mod fft;
pub mod fuse;
mod gather;
mod iteration_plan;
#[cfg(test)]
mod iteration_plan_proptests;
mod launch;
mod layout;
mod linalg;
mod matmul;
mod out_argument;
mod real_numbers;
mod reduce;
mod reduction_plan;
mod runtime;
mod scalar;
mod scan;
mod segments;
mod sort;
mod thread_choices;
mod thread_flag;
mod views;

pub use array::{Arg, GpuArray, push_arrays, push_optional};
pub use blocking_regions::{
    BlockingHook, blocking_region, check_interrupt, lock_blocking, set_blocking_hook, set_interrupt_check,
};
pub use bounded_cache::{BoundedCache, CacheUse};
pub use decisions::decisions;
pub use einsum::{EinsumOptions, EinsumPath, einsum};
pub use elementwise::{OpOptions, apply_elementwise, binary_with_power_shortcuts, result_type};
pub use error::{ArrayError, ArrayErrorKind, Result};
pub use fft::{FftKind, MAX_FFT_TABLE_BYTES};
pub use gather::FancyIndex;
pub use launch::{BLOCK_THREADS, PackedKernelArgs};
pub use layout::{Layout, MAX_NDIM, Order, PythonTuple, Shape, Strides, broadcast_shapes, repeated_axis};
pub use linalg::{IterationLimits, LeastSquares, MatrixNorm, SlogDet, Svd, Tolerance, Triangle};
pub use matmul::Epilogue;
pub use out_argument::{can_cast_same_kind, check_out};
pub use real_numbers::is_real;
pub use reduce::{ReduceOptions, ReducedAxes, Statistic};
pub use rtcg_codegen::array::{BoundsMode, Op, ReductionOp, ScanOp};
pub use rtcg_codegen::tuning;
pub use rtcg_codegen::{DType, DTypeKind, DeviceInfo, KernelSpec, WeakScalar};
pub use runtime::{
    Allocator, ArrayBuffer, ArrayContext, Cooperative, DeviceRuntime, Graphs, LaunchableGraph, LaunchableKernel,
    PinnedReads, ReadSlot,
};
pub use scalar::{Scalar, ScalarElement};
pub use segments::{reduce_by_key, unique_by_key};
pub use thread_choices::{compile_ahead, is_compiling_ahead, with_thread_choices};
pub use thread_flag::ThreadFlag;
pub use views::{Index, normalize_axes, normalize_axis};
