//! The compiler of data-parallel programs: from a plain syntax tree to kernels.
//!
//! | file | contents |
//! |---|---|
//! | `span.rs` | places in the user's source |
//! | `surface.rs` | the syntax tree that front ends hand over |
//! | `ir.rs` | the core language |
//! | `text/` | core programs as text, printed and read |
//! | `evaluate/` | runs core programs on the host, as simply as possible |
#![forbid(unsafe_code)]

pub mod ir;
pub mod span;
pub mod surface;
