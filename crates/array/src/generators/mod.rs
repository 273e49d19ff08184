//! Kernels from short C snippets: elementwise kernels, reductions, scans and random numbers.
//!
//! [`rtcg_codegen`] generates the source of each form of a kernel, a value like the kernels of arrays, which the context
//! compiles once. This module checks the arguments, decides the form by the arrays' layouts, derives the grid from the
//! device's occupancy, and enqueues the launch in the current queue. Arrays are passed as [`ArrayView`]s, so memory of
//! any owner can be used.

mod argument_checks;
mod builders;
mod cached_launch;
mod dense_copies;
mod elementwise;
mod launch_choices;
mod loaded_kernel;
mod operand;
mod random;
mod reduction;
mod scan;
mod walk;

pub use builders::{ElementwiseBuilder, ReductionBuilder, ScanBuilder};
pub use cached_launch::CachedLaunch;
pub use elementwise::{ElementwiseKernel, IndexRange};
pub use operand::{ArrayView, GeneratedKernelArg, TracksUse, UseTracker};
pub use random::{DistributionParameters, Generator, SequentialGenerators, SkipUnit};
pub use reduction::ReductionKernel;
pub use rtcg_hal::CompileSettings;
pub use rtcg_hal::tuning::LaunchChoice;
pub use scan::ScanKernel;
