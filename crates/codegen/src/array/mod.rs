//! The kernels behind arrays, each a small value that can be compared and hashed, and makes its source.

mod offsets;
mod op;
mod pointwise;
mod types;

pub use offsets::{Space, division_by};
pub use op::{Op, OpTypes, Refused, Role};
pub use pointwise::{Access, Operand, Pointwise, Walk};

use std::borrow::Cow;

/// Any kernel of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayKernel {
    /// Element by element.
    Pointwise(Pointwise),
}

impl ArrayKernel {
    /// The kernel's name in its source.
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            ArrayKernel::Pointwise(kernel) => kernel.name().into(),
        }
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        match self {
            ArrayKernel::Pointwise(kernel) => kernel.source(),
        }
    }
}
