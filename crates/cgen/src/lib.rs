//! Source text as a value: C syntax trees that print themselves, expressions with precedence, and templates. Maps text
//! to text, and needs neither a driver nor a compiler.
//!
//! | folder, file | contents |
//! |---|---|
//! | `tree/`, `expr/` | syntax trees of C, and their expressions |
//! | `transform/` | transformations of loops and memory |
//! | `template/`, `source.rs` | templates, and text that records which line of a template it came from |
#![forbid(unsafe_code)]

pub mod dtype;
pub mod expr;
pub mod names;
mod source;
pub mod template;
pub mod transform;
pub mod tree;

pub use source::Source;
