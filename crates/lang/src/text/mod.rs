//! Core programs as text: s-expressions that a person can read and that compare line by line.
//!
//! ```text
//! (program ((x [float32]) (n int64))         ; parameters: a scalar has a dtype, an array its dtype in brackets
//!   (let (y [float32])                       ; one (name type) for each value of the expression
//!     (gen ((i n))                           ; the space: an index variable and a length for each axis
//!       (let (a float32) (read checked x i))
//!       (let (b float32) (multiply float32 a 2.0:float32))
//!       (results b)))
//!   (results y))
//! ```
//!
//! | expression | form |
//! |---|---|
//! | `Prim` | `(NAME COMPUTE-DTYPE ATOM...)`, by NumPy's name of the operation |
//! | `Cast` | `(cast DTYPE ATOM)` |
//! | `Read`, `Row` | `(read [checked] ARRAY ATOM...)`, `(row [checked] ARRAY ATOM...)` |
//! | `Length` | `(length ARRAY AXIS)` |
//! | `If` | `(if ATOM (then BLOCK) (else BLOCK))` |
//! | `Loop` | `(loop ((NAME TYPE INITIAL)...) (while BLOCK) (do BLOCK))` |
//! | `Gen`, `Filter` | `(gen SPACE BLOCK)`, `(filter SPACE BLOCK)` |
//! | `Rows` | `(rows SPACE OFFSETS BLOCK)` |
//! | `Reduce` | `(reduce [commutative] SPACE (body BLOCK) (op PARAMETERS BLOCK) (init ATOM...))` |
//! | `Scan` | `(scan [backward] SPACE (body BLOCK) (op PARAMETERS BLOCK) [(prefix ATOM...)])` |
//! | `Scatter` | `(scatter [checked] (ARRAY...) SPACE BLOCK)` |
//! | `Sort` | `(sort (ARRAY...) (less PARAMETERS BLOCK))` |
//! | `Slice` | `(slice ARRAY START LENGTH)` |
//! | `Same` | `(same (ATOM "WHAT IT IS THE LENGTH OF")...)` |
//! | `Segment` | `(segment OFFSETS AT)` |
//!
//! A block is any number of `(let (NAME TYPE)... EXPRESSION)` and then `(results ATOM...)`. An atom is a name or a number:
//! `3` is an int64, `3.0`, `inf` and `nan` are float64, `1.0+2.0j` is complex128, `true` is a bool; another dtype follows a
//! colon, as in `3:uint8`. A `;` begins a comment.
//!
//! [`print_program`] and [`parse_program`] are inverses up to the numbers of variables and to spans.

pub mod cases;
mod number;
mod parse;
mod print;
mod sexp;

pub use parse::parse_program;
pub use print::print_program;

use std::fmt;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What was found, and what is expected.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}
