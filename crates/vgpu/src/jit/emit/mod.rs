//! Machine code with Cranelift: [`compile`] declares and compiles a kernel's functions, [`converged`]
//! and [`masked`] emit the two versions of each, [`ops`] the arithmetic.

pub(crate) mod access;
mod async_copy;
pub(crate) mod atomics;
mod barriers;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod code;
mod codec;
pub(crate) mod cold;
pub(crate) mod compile;
pub(crate) mod converged;
pub(crate) mod ends;
mod forms;
pub(crate) mod generate;
mod groups;
pub(crate) mod host;
pub(crate) mod image;
mod kept;
mod libcalls;
pub(crate) mod links;
pub(crate) mod masked;
pub(crate) mod memory;
pub mod ops;
pub(crate) mod phases;
mod points;
pub(crate) mod slow;
pub(crate) mod special;
pub(crate) mod spread;
mod sync;
mod tensor;
mod texture;
mod traps;
pub(crate) mod values;
pub(crate) mod warp;
