//! Kernels from short C snippets: elementwise kernels, reductions, scans and random numbers.
//!
//! [`rtcg_codegen`] generates the source. This module compiles it (once per context and form, with the disk cache
//! below), derives the launch geometry from the device's occupancy, and launches it. Arrays are passed as
//! [`ArrayView`]s, so memory of any owner can be used.
//!
//! ```
//! use rtcg::generators::{ArrayView, ElementwiseKernel, IndexRange, GeneratedKernelArg};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let axpy = ElementwiseKernel::parse("float a, float *x, float *y", "y[i] += a * x[i]")?;
//! let (x, y) = (ctx.to_device(&[1.0f32; 1000])?, ctx.to_device(&[2.0f32; 1000])?);
//! let args = [GeneratedKernelArg::from_scalar(&3.0f32), GeneratedKernelArg::Array(x.view()), GeneratedKernelArg::Array(y.view())];
//! // SAFETY: the snippet touches element `i` of arrays that all have 1000 elements.
//! unsafe { axpy.launch(&ctx, &args, IndexRange::All, None)? };
//! assert_eq!(y.to_vec()?, [5.0; 1000]);
//! # Ok(())
//! # }
//! ```

mod argument_checks;
mod builders;
mod cached_launch;
mod compiled_kernel;
mod dense_copies;
mod elementwise;
mod launch_choices;
mod operand;
mod random;
mod reduction;
mod scan;
mod typed;

pub use builders::{ElementwiseBuilder, ReductionBuilder, ScanBuilder};
pub use cached_launch::CachedLaunch;
pub use compiled_kernel::CompileSettings;
pub use elementwise::{ElementwiseKernel, IndexRange};
pub use launch_choices::LaunchChoice;
pub use operand::{ArrayView, GeneratedKernelArg, TracksUse, UseTracker, ctype_number_type};
pub use random::{DistributionParameters, Generator, SequentialGenerators, SkipUnit};
pub use reduction::ReductionKernel;
pub use rtcg_cuda::clear_workspaces;
pub use scan::ScanKernel;
pub use typed::TypedElementwise;
