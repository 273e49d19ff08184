//! Operands of operations, as callers pass them and as kernels read them.

use crate::array::GpuArray;
use crate::scalar::{Scalar, ScalarElement};
use rtcg_hal::{DType, OperandType, WeakScalar};

/// An operand of an operation.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    /// An array, which is broadcast.
    Array(&'a GpuArray),
    /// A Python or NumPy scalar.
    Scalar(Scalar),
}

impl<'a> From<&'a GpuArray> for Arg<'a> {
    fn from(array: &'a GpuArray) -> Self {
        Arg::Array(array)
    }
}

impl From<Scalar> for Arg<'_> {
    fn from(scalar: Scalar) -> Self {
        Arg::Scalar(scalar)
    }
}

impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Arg::Scalar(Scalar::Weak(WeakScalar::Float(value)))
    }
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Scalar(Scalar::Weak(WeakScalar::Int(value.into())))
    }
}

impl Arg<'_> {
    /// What promotion sees of it.
    pub(crate) fn operand_type(&self) -> OperandType {
        match *self {
            Arg::Array(array) => OperandType::Strong(array.dtype()),
            Arg::Scalar(Scalar::Strong(dtype, _)) => OperandType::Strong(dtype),
            Arg::Scalar(Scalar::Weak(value)) => OperandType::Weak(value),
        }
    }

    pub(crate) fn has_elements(&self) -> bool {
        match self {
            Arg::Array(array) => array.size() > 0,
            Arg::Scalar(_) => true,
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Arg::Array(array) => array.shape(),
            Arg::Scalar(_) => &[],
        }
    }
}

/// An operand ready for a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperandSource<'a> {
    Array(&'a GpuArray),
    Value(ScalarElement, DType),
}

impl<'a> OperandSource<'a> {
    pub(crate) fn as_array(&self) -> Option<&'a GpuArray> {
        match self {
            OperandSource::Array(array) => Some(array),
            OperandSource::Value(..) => None,
        }
    }
}
