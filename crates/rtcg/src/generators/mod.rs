//! Kernels from short C snippets: elementwise, reductions, scans, random numbers.
//!
//! The text comes from [`rtcg_codegen`]; here it is compiled (once per context and form, with the disk
//! cache below), given a geometry from the device's true occupancy, and launched. Arrays are taken as
//! [`ArrayView`]s, so that memory of any owner will do.
//!
//! ```
//! use rtcg::generators::{ArrayView, Elementwise, Region, Value};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let axpy = Elementwise::parse("float a, float *x, float *y", "y[i] += a * x[i]")?;
//! let (x, y) = (ctx.to_device(&[1.0f32; 1000])?, ctx.to_device(&[2.0f32; 1000])?);
//! let args = [Value::of(&3.0f32), Value::Array(x.view()), Value::Array(y.view())];
//! // SAFETY: the snippet touches element `i` of arrays that all have 1000 elements.
//! unsafe { axpy.launch(&ctx, &args, Region::All, None)? };
//! assert_eq!(y.to_vec()?, [5.0; 1000]);
//! # Ok(())
//! # }
//! ```

mod check;
mod elementwise;
mod error;
mod loaded;
mod operand;
mod random;
mod reduction;
mod repeat;
mod scan;
pub(crate) mod scratch;
mod staged;

pub use elementwise::{Elementwise, Region};
pub use error::{GeneratorError, GeneratorErrorKind};
pub use loaded::CompileSettings;
pub use operand::{ArrayView, Owner, UsedMemory, Value};
pub use random::{Generator, Parameters, Sequential, Skip};
pub use reduction::ReductionKernel;
pub use repeat::Repeat;
pub use scan::ScanKernel;
pub use scratch::clear_scratch;
