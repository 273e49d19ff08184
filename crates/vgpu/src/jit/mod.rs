//! PTX to machine code: a kernel becomes a function that runs one warp of 32 lanes in lock step.
//!
//! `docs/virtual-gpu.md` explains the model. The seam with the runtime is [`compile_kernel`].

pub mod ops;
pub mod values;
