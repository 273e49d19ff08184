//! Binary operators: result types and the C expression of each.

use crate::error::{ArrayError, Result};
use rtcg_codegen::{DType, Kind};

/// An arithmetic operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    TrueDivide,
}

impl BinaryOp {
    /// NumPy's name of the operation.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Subtract => "subtract",
            BinaryOp::Multiply => "multiply",
            BinaryOp::TrueDivide => "true_divide",
        }
    }

    /// The type of the result for operands that promote to `common`.
    ///
    /// # Errors
    /// Subtraction of booleans, which NumPy refuses too.
    pub fn result_type(self, common: DType) -> Result<DType> {
        match self {
            BinaryOp::TrueDivide => Ok(common.true_divide()),
            BinaryOp::Subtract if common == DType::Bool => {
                Err(ArrayError::dtype("boolean subtract is not supported; use logical_xor or cast to an integer type"))
            }
            _ => Ok(common),
        }
    }

    /// The C expression for operands already converted to the computation type of `dtype`.
    pub(crate) fn expression(self, dtype: DType, x: &str, y: &str) -> String {
        let symbol = match (self, dtype.kind()) {
            (BinaryOp::Add, Kind::Bool) => "||",
            (BinaryOp::Multiply, Kind::Bool) => "&&",
            (BinaryOp::Add, _) => "+",
            (BinaryOp::Subtract, _) => "-",
            (BinaryOp::Multiply, _) => "*",
            (BinaryOp::TrueDivide, _) => "/",
        };
        format!("{x} {symbol} {y}")
    }
}
