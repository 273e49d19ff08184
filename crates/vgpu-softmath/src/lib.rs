//! PTX arithmetic on the bits of one lane, in plain Rust.
//!
//! This is the definition the compiled code is tested against, and at the same time what it calls
//! for operations that are rare or heavy. Everything CUDA defines exactly is exact here: directed
//! rounding works on integers ([`float`]), never on the processor's rounding mode. The approximate
//! functions ([`approx`]) have the bits of an H200 ([`interpolator`]).
//!
//! Functions work on one lane; those that compiled code calls may be inlined. Tensor cores are in `matrix/`, the unit
//! for approximate functions is in `interpolator/`.

pub mod approx;
pub mod arith;
pub mod convert;
pub mod float;
mod float_mode;
pub mod int;
pub mod interpolator;
pub mod matrix;
pub mod video;

pub use float::{FloatFormat, RoundMode};
pub use float_mode::FloatMode;
