//! Fusion: operations are deferred and computed together, as one kernel.
//!
//! Between [`begin`] and the end of its [`FusionGuard`] (or inside of [`fuse`]), elementwise operations of the calling
//! thread return arrays whose memory does not exist yet ([`DeferredBuffer`]); shape, dtype, layout and errors are those
//! of the operation itself. When anything needs an address - a copy to the host, a sort, a user's kernel - or the block
//! ends, every array that is still referenced is computed, with one kernel for each shape. An array without references,
//! such as an intermediate result of an expression, is never stored.
//!
//! The results are bitwise those of the separate operations (`rtcg_lang::emit::emit_expression` says how), except for the
//! payload of a NaN.
//!
//! The documentation of `rtcg::CudaRuntime`, the runtime of arrays on CUDA devices, has an example.

mod graph;
mod kernel;
mod launch;
mod reduce;
mod scope;

pub(crate) use reduce::{FusableReduction, reduce_deferred};
pub use rtcg_hal::deferred::{check_host_read_allowed, flush_storing_errors};
pub(crate) use scope::defer_operation;
pub use scope::{DeferredBuffer, FusionGuard, begin, begin_traced, enter, flush, fuse, is_active, is_deferred, leave};
