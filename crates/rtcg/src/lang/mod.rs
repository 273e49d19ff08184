//! Data-parallel programs: from a syntax tree to kernels, and their runs.
//!
//! [`rtcg_lang`] compiles; [`Compiled`] runs what it makes on arrays.

mod compiled;
mod kernels;
mod nest;
mod run;
mod sort;
mod value;

pub use compiled::Compiled;
pub(crate) use nest::NestForm;
pub use rtcg_lang::*;
pub use run::RunError;
pub use value::Value;
