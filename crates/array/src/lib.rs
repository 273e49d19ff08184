//! Device arrays with a dynamic dtype, built on the narrow trait [`rtcg_hal::Device`].
//!
//! This crate decides shapes, result types and which kernel runs. The runtime allocates memory and compiles and
//! launches kernels, so that the same arrays work on CUDA and other back ends.
//!
//! | folder, file | contents |
//! |---|---|
//! | `elementwise/`, `reduce/`, `scan.rs`, `sort.rs` | operations on elements and axes |
//! | `gather.rs`, `segments.rs`, `category.rs`, `category/` | indexing with arrays; segments and runs; reductions by label |
//! | `einsum/`, `fft/`, `linalg/`, `matmul/` | products over named axes, FFT, linear algebra, matrix products |
//! | `fuse/` | fusion: deferred operations, computed together |
//! | `generators/` | kernels from users' snippets |
//! | `walk_plan.rs`, `iteration_plan.rs` | how a kernel walks over several arrays; the axes that it walks along, merged |
//! | `call_cache.rs` | cached launches: the short path for a repeated call |
//! | `decisions.rs` | the list of decisions that the tuner can override |
//!
//! The crate knows no back end, and generates no source itself: `rtcg-codegen` does. It has no unsafe code but for
//! declarations of what callers of `generators` promise.
#![deny(unsafe_code)]

mod array;
mod call_cache;
mod category;
mod decisions;
mod einsum;
mod elementwise;
mod fft;
pub mod fuse;
mod gather;
pub mod generators;
mod iteration_plan;
#[cfg(test)]
mod iteration_plan_proptests;
mod layout;
mod linalg;
mod matmul;
mod out_argument;
mod real_numbers;
mod reduce;
mod reduction_plan;
mod scalar;
mod scan;
mod segments;
mod sort;
mod views;
mod walk_plan;

pub use array::{Arg, GpuArray, array_args, push_arrays, push_optional};
pub use call_cache::{CallKey, cached_call, call_hash};
pub use category::{CategoryOp, CategoryOptions, category_reduce, category_sums, histogram};
pub use decisions::decisions;
pub use einsum::{EinsumOptions, EinsumPath, einsum};
pub use elementwise::{OpOptions, apply_elementwise, binary_with_power_shortcuts, result_type};
pub use fft::{FftFusion, FftKind, MAX_FFT_TABLE_BYTES, clear_fft_tables, fft_table_bytes};
pub use gather::FancyIndex;
pub use layout::{Layout, MAX_NDIM, Order, PythonTuple, Shape, Strides, broadcast_shapes, repeated_axis};
pub use linalg::{
    IterationLimits, LeastSquares, MatrixNorm, SlogDet, Svd, Tolerance, Transposition, Triangle, TriangularSystem,
};
pub use matmul::{Epilogue, MatmulOptions, Precision, nearest_columns};
pub use out_argument::{can_cast_same_kind, check_out};
pub use real_numbers::is_real;
pub use reduce::{ReduceOptions, ReducedAxes, Statistic};
pub use rtcg_codegen::array::{BoundsMode, Op, ReductionOp, ScanOp};
pub use scalar::{Scalar, ScalarElement};
pub use segments::{reduce_by_key, unique_by_key};
pub use views::{Index, normalize_axes, normalize_axis};
