//! Runs core programs on the host, one statement and one element after the other.
//!
//! What this gives is what a program means; everything else is compared with it. It is therefore as plain as possible, and
//! as slow: for tests, and for the constants of a compiler ([`operate`], [`cast`]).
//!
//! Reductions and scans combine elements in order. A value of the program that depends on the order of floating-point
//! additions may differ from a kernel's in its last digits.

mod cast;
mod complex;
mod integer;
mod interpreter;
mod operation;
mod real;
mod value;

pub use cast::cast;
pub use operation::operate;
pub use value::{HostArray, HostValue};

use crate::ir::Program;
use crate::span::Span;
use std::fmt;

/// How many statements and elements [`evaluate`] computes at most.
pub const STEP_LIMIT: u64 = 1 << 32;

/// Why a program has no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluateError {
    /// The program is inconsistent, or the inputs do not fit its parameters.
    Inputs(String),
    /// An index is outside of an array.
    OutOfBounds {
        /// The index.
        index: i64,
        /// The axis of the array.
        axis: usize,
        /// The length of the axis.
        length: usize,
        /// The statement.
        span: Span,
        /// Whether the program claims to have shown that there is no such index.
        claimed_inside: bool,
    },
    /// A value that an expression has no result for, such as a negative length.
    Value {
        /// What was found, and what is expected.
        message: String,
        /// The statement.
        span: Span,
    },
    /// The program has not ended after this many steps.
    StepLimit(u64),
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, span) = match self {
            EvaluateError::Inputs(message) => (message.clone(), Span::default()),
            EvaluateError::OutOfBounds { index, axis, length, span, claimed_inside } => {
                let claim = if *claimed_inside { ", although the program claims that it is inside" } else { "" };
                (format!("index {index} is out of bounds for axis {axis} with length {length}{claim}"), *span)
            }
            EvaluateError::Value { message, span } => (message.clone(), *span),
            EvaluateError::StepLimit(limit) => {
                (format!("the program has not ended after {limit} statements and elements"), Span::default())
            }
        };
        match span.is_known() {
            true => write!(f, "line {}, column {}: {message}", span.line, span.column + 1),
            false => f.write_str(&message),
        }
    }
}

impl std::error::Error for EvaluateError {}

/// The results of a program.
///
/// # Errors
/// When the program is inconsistent, the inputs do not fit its parameters, an index is out of bounds (the first one; what
/// was computed with the clamped index is lost), an expression has no result, or the program takes more than
/// [`STEP_LIMIT`] steps.
pub fn evaluate(program: &Program, inputs: &[HostValue]) -> Result<Vec<HostValue>, EvaluateError> {
    evaluate_within(program, inputs, STEP_LIMIT)
}

/// [`evaluate`] with another limit of steps.
///
/// # Errors
/// As for [`evaluate`].
pub fn evaluate_within(
    program: &Program,
    inputs: &[HostValue],
    step_limit: u64,
) -> Result<Vec<HostValue>, EvaluateError> {
    interpreter::run(program, inputs, step_limit)
}
