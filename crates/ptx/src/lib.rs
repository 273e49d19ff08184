//! PTX front end: text to a typed [`ast::Module`] with spans and diagnostics, and a printer. Knows nothing of CPUs
//! and never panics on any input.
#![forbid(unsafe_code)]

pub mod ast;
mod diag;
mod keywords;
mod lexer;
pub mod opencl_launch;
mod parse;
mod print;

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use diag::{Diagnostic, DiagnosticKind, line_and_column};
pub use parse::{ParseResult, parse};
pub use print::print_module;
