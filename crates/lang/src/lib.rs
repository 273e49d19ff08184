//! The compiler of data-parallel programs: from a plain syntax tree to kernels.
//!
//! | file | contents |
//! |---|---|
//! | `span.rs` | places in the user's source |
//! | `surface.rs` | the syntax tree that front ends hand over |
//! | `builder.rs` | programs written in Rust |
//! | `arguments.rs` | the types of arguments and results |
//! | `problem.rs` | what is wrong with a program, and the report of it |
//! | `elaborate/` | from the syntax tree to the core language |
//! | `ir.rs` | the core language |
//! | `passes/` | from core programs to statements that are kernels |
//! | `emit/` | from these to sources, and the expressions of fused array operations |
//! | `plan.rs` | what a program will do, as text |
//! | `rewrite.rs` | copies of blocks |
//! | `specialize/` | patterns that have kernels of their own: stencils |
//! | `simplify.rs` | what blocks need |
//! | `check.rs` | what every pass may rely on |
//! | `text/` | core programs as text, printed and read |
//! | `evaluate/` | runs core programs on the host, as simply as possible |
#![forbid(unsafe_code)]

pub mod arguments;
pub mod builder;
pub mod check;
pub mod elaborate;
pub mod emit;
pub mod evaluate;
pub mod ir;
pub mod passes;
pub mod plan;
pub mod problem;
mod rewrite;
pub mod simplify;
pub mod span;
pub mod specialize;
pub mod surface;
pub mod text;
