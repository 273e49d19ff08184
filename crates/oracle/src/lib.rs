//! A plain interpreter of PTX, and random programs to compare others with it.
//!
//! Used in tests only. [`run_kernel`] executes a kernel thread by thread with registers of 128 bits and
//! memory of bytes; it is slow, and written to be obviously right: all floating-point results come
//! from exact numbers through one rounding function ([`exact_rounding::round_to_format`]), integers are computed in
//! 128 bits and cut, bit instructions go bit by bit. None of it is shared with the virtual GPU.
//!
//! The interpreter refuses what a program must not rely on: reading a register or a byte that was
//! never written, racing accesses, shuffles from lanes that do not take part. So a program that it
//! runs has one result, and everyone else must get the same.
//!
//! `shrink.rs` makes a program smaller while it keeps a property, such as a wrong result.
#![forbid(unsafe_code)]

pub mod bigint;
mod convert;
pub mod exact_rounding;
pub mod float;
pub mod generate;
mod int;
mod interpreter;
mod matrix;
mod mbarrier;
mod memory;
mod pure_instructions;
mod random;
pub mod shrink;
pub mod texture;
mod video;

pub use generate::{GenerationTarget, TestProgram, generate_program};
pub use interpreter::{OracleBuffer, OracleError, OracleLaunch, OracleReport, run_kernel};
pub use random::Random;
