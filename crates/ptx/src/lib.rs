//! PTX front end: text to a typed [`ast::Module`] with spans and diagnostics, a printer, and the
//! control-flow graph. Knows nothing of CPUs and never panics on any input.
#![forbid(unsafe_code)]

pub mod ast;
pub mod cfg;
pub mod def_use;
mod diag;
mod hash;
mod keywords;
mod lexer;
mod liveness;
pub mod opencl_launch;
mod parse;
mod print;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use cfg::ControlFlowGraph;
pub use diag::{Diagnostic, DiagnosticKind, line_and_column};
pub use liveness::RegSet;
pub use parse::{ParseResult, parse};
pub use print::print_module;
