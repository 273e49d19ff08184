//! Generates kernel source: the C types of dtypes, the rules for combining dtypes, and generators that turn short
//! expressions into complete kernels. Maps text to text and needs no driver.
//!
//! | folder, file | contents |
//! |---|---|
//! | `array/` | the kernels of arrays: elementwise, reductions, scans, sorting, `einsum`, `fft`, `linalg`, `matmul` |
//! | `pointwise.rs`, `reduction.rs`, `scan.rs`, `snippet_kernel.rs` | kernels from users' snippets |
//! | `block_reduce.rs`, `look_back.rs` | what all reductions and all scans share |
//! | `dialect.rs` | names for the words of CUDA C, by which kernel text stays free of them |
//! | `c_declarations/` | the registry of C types, and declarations of parameters |
//!
//! A value that implements [`rtcg_hal::KernelSpec`] describes each kernel of arrays. The source of the kernel is
//! generated from this value alone, which is also the cache key of the compiled kernel. Other crates add further kinds
//! of kernels in the same way.
#![forbid(unsafe_code)]

pub mod array;
pub mod block_reduce;
pub mod c_declarations;
pub mod dialect;
mod look_back;
pub mod pointwise;
pub mod random;
pub mod reduction;
pub mod scan;
mod scan_pipeline;
pub mod snippet;
pub mod snippet_kernel;
pub mod typed_snippet;
