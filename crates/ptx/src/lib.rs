//! PTX front end: text to a typed [`ast::Module`] with spans and diagnostics, a printer, and the
//! control-flow graph. Knows nothing of CPUs and never panics on any input.
#![forbid(unsafe_code)]

pub mod ast;
