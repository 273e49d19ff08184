//! Kernels that compute an expression of elements where others compute one operation. This file has what stands around
//! the expression, whose text comes from the compiler of data-parallel programs.
//!
//! Parameters: a pointer for each output and each array, the number of elements (`unsigned long long`), for strided
//! kernels the structure of `offsets` (outputs first), then those of the expression.

use super::element_loops::{ElementLoops, LoopArray};
use super::pointwise::{AccessPattern, OperandKind, PointwiseOperand};
use std::fmt::Write;

/// What a kernel computes of the elements of arrays, as text.
#[derive(Debug, Clone, Default)]
pub struct ExpressionSource {
    /// What stands before the kernel: helpers for all its types, and functions.
    pub preamble: String,
    /// Parameters, behind those of the kernel.
    pub parameters: Vec<String>,
    /// Statements, in which `v0`, `v1`, ... are the elements of the arrays.
    pub statements: String,
    /// The values that the kernel stores or reduces.
    pub values: Vec<String>,
}

impl ExpressionSource {
    /// The kernel that stores the values in outputs.
    pub fn kernel(
        &self,
        name: &str,
        outputs: impl Iterator<Item = PointwiseOperand>,
        arrays: &[PointwiseOperand],
        pattern: AccessPattern,
    ) -> String {
        let results = outputs.enumerate().map(|(at, output)| {
            LoopArray::result(format!("out{at}"), output.dtype, output.access == OperandKind::Unaligned)
        });
        let loops = ElementLoops::of_numbers(results.collect(), read_arrays(arrays));
        let leaf = |_: &str, indent: &str, element: &dyn Fn(usize) -> String| {
            let read = &loops.arrays[loops.n_results..];
            (self.element_statements(indent, read, &|at| element(loops.n_results + at)), self.values.clone())
        };
        self.preamble.clone() + &loops.kernel(name, pattern, &self.parameters, &leaf)
    }

    /// The statements of an element, with so many spaces before each.
    pub(super) fn element_statements(
        &self,
        indent: &str,
        arrays: &[LoopArray],
        element: &dyn Fn(usize) -> String,
    ) -> String {
        let mut text = String::new();
        for (at, array) in arrays.iter().enumerate() {
            let _ = writeln!(text, "{indent}const {} v{at} = {};", array.element, element(at));
        }
        for statement in self.statements.lines() {
            let _ = writeln!(text, "{indent}{statement}");
        }
        text
    }
}

/// The arrays `x0`, `x1`, ...
pub(super) fn read_arrays(arrays: &[PointwiseOperand]) -> impl Iterator<Item = LoopArray> {
    arrays.iter().enumerate().map(|(at, array)| LoopArray::read(format!("x{at}"), array.dtype, array.access))
}
