//! Data-parallel programs: from a syntax tree to kernels, and their runs.
//!
//! [`rtcg_lang`] compiles; [`Program`] is called with arrays, and [`Compiled`] runs what the compiler makes.

mod compiled;
mod kernels;
mod nest;
mod program;
mod repeat;
mod run;
mod sort;
pub(crate) mod value;

pub use compiled::Compiled;
pub(crate) use nest::{NestForm, RowsForm, StoringForm};
pub use program::{Argument, Program};
pub use rtcg_lang::*;
pub use run::RunError;
pub use value::Value;
