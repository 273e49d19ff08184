//! Norms of vectors and matrices, and condition numbers.

use super::iteration_limits::IterationLimits;
use super::matrix_helpers::{rows_and_columns, scalar_arg, stack_axes, where_select};
use crate::array::GpuArray;
use crate::layout::Order;
use crate::reduce::{ReduceOptions, ReducedAxes};
use crate::views::Index;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};

/// A matrix norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixNorm {
    /// The square root of the sum of squared absolute values.
    #[default]
    Frobenius,
    /// The sum of singular values.
    Nuclear,
    /// The largest singular value.
    MaxSingularValue,
    /// The smallest singular value.
    MinSingularValue,
    /// The largest column sum of absolute values.
    MaxColumnSum,
    /// The smallest column sum of absolute values.
    MinColumnSum,
    /// The largest row sum of absolute values.
    MaxRowSum,
    /// The smallest row sum of absolute values.
    MinRowSum,
}

/// The array with elements that have absolute values of a floating type.
fn as_floating(a: &GpuArray) -> Result<GpuArray> {
    if a.dtype().kind() < DTypeKind::Float { a.astype(DType::F64) } else { Ok(a.clone()) }
}

/// Sums of squares of absolute values.
fn sum_of_squares(a: &GpuArray) -> Result<GpuArray> {
    match a.imag() {
        Some(imag) => a.real().unary(Op::Square)?.binary(Op::Add, &imag.unary(Op::Square)?),
        None => a.unary(Op::Square),
    }
}

fn reduce_axes(a: &GpuArray, reduction: ReductionOp, axes: ReducedAxes<'_>, keepdims: bool) -> Result<GpuArray> {
    a.reduce(reduction, ReduceOptions { axes, keepdims, ..Default::default() })
}

/// Norms. Those of singular values wait.
impl GpuArray {
    /// Computes vector norms over axes. The norm of order p is the p-th root of the sum of p-th powers of absolute
    /// values; order (minus) infinity gives the largest (smallest) absolute value, and order 0 the number of nonzero
    /// elements.
    ///
    /// # Errors
    /// When an axis does not exist or is named twice, or has no element and the result needs one.
    pub fn vector_norm(&self, order: f64, axes: ReducedAxes<'_>, keepdims: bool) -> Result<GpuArray> {
        let a = as_floating(self)?;
        if order == 2.0 {
            return reduce_axes(&sum_of_squares(&a)?, ReductionOp::Sum, axes, keepdims)?.unary(Op::Sqrt);
        }
        let size = a.unary(Op::Absolute)?;
        match order {
            f64::INFINITY => reduce_axes(&size, ReductionOp::Maximum, axes, keepdims),
            f64::NEG_INFINITY => reduce_axes(&size, ReductionOp::Minimum, axes, keepdims),
            0.0 => reduce_axes(&a.binary(Op::NotEqual, 0)?.astype(size.dtype())?, ReductionOp::Sum, axes, keepdims),
            1.0 => reduce_axes(&size, ReductionOp::Sum, axes, keepdims),
            _ => reduce_axes(&size.binary(Op::Power, order)?, ReductionOp::Sum, axes, keepdims)?
                .binary(Op::Power, 1.0 / order),
        }
    }

    /// Computes norms of the matrices in the last two axes.
    ///
    /// # Errors
    /// When there are fewer than two axes; as [`GpuArray::svd`] for norms that need singular values; when a matrix has
    /// no element and the norm needs one.
    pub fn matrix_norm(&self, norm: MatrixNorm, limits: IterationLimits) -> Result<GpuArray> {
        rows_and_columns(self)?;
        match norm {
            MatrixNorm::Frobenius => self.vector_norm(2.0, Some(&[-2, -1]), false),
            MatrixNorm::Nuclear | MatrixNorm::MaxSingularValue | MatrixNorm::MinSingularValue => {
                self.singular_value_norm(norm, limits)
            }
            MatrixNorm::MaxColumnSum => self.row_or_column_sum_norm(-2, ReductionOp::Maximum),
            MatrixNorm::MinColumnSum => self.row_or_column_sum_norm(-2, ReductionOp::Minimum),
            MatrixNorm::MaxRowSum => self.row_or_column_sum_norm(-1, ReductionOp::Maximum),
            MatrixNorm::MinRowSum => self.row_or_column_sum_norm(-1, ReductionOp::Minimum),
        }
    }

    fn row_or_column_sum_norm(&self, axis: isize, reduction: ReductionOp) -> Result<GpuArray> {
        let sums = reduce_axes(&as_floating(self)?.unary(Op::Absolute)?, ReductionOp::Sum, Some(&[axis]), false)?;
        reduce_axes(&sums, reduction, Some(&[-1]), false)
    }

    fn singular_value_norm(&self, norm: MatrixNorm, limits: IterationLimits) -> Result<GpuArray> {
        let s = self.svdvals(limits)?;
        if s.shape().last() == Some(&0) && norm != MatrixNorm::MinSingularValue {
            return GpuArray::zeros(s.context(), stack_axes(self), s.dtype(), Order::C);
        }
        let reduction = match norm {
            MatrixNorm::Nuclear => ReductionOp::Sum,
            MatrixNorm::MinSingularValue => ReductionOp::Minimum,
            _ => ReductionOp::Maximum,
        };
        reduce_axes(&s, reduction, Some(&[-1]), false)
    }

    /// Computes condition numbers of matrices: a norm times that of the inverse, infinity for singular matrices. Norms
    /// of the largest and smallest singular values also accept non-square matrices, and wait.
    ///
    /// # Errors
    /// When a matrix has no element, or is not square and the norm needs the inverse; as [`GpuArray::svd`].
    pub fn cond(&self, norm: MatrixNorm, limits: IterationLimits) -> Result<GpuArray> {
        if rows_and_columns(self)?.contains(&0) {
            return Err(ArrayError::linear_algebra_error("cond is not defined on empty arrays"));
        }
        let result = match norm {
            MatrixNorm::MaxSingularValue | MatrixNorm::MinSingularValue => {
                let s = self.svdvals(limits)?;
                let [first, last] = [0, -1].map(|at| s.index(&[Index::Ellipsis, Index::At(at)]));
                let (first, last) = (first?, last?);
                let is_least = norm == MatrixNorm::MinSingularValue;
                let (above, below) = if is_least { (last, first) } else { (first, last) };
                above.binary(Op::TrueDivide, &below)?
            }
            _ => {
                let inverse = self.inv_or_nan()?;
                let given = self.to_dtype(inverse.dtype())?.matrix_norm(norm, limits)?;
                given.binary(Op::Multiply, &inverse.matrix_norm(norm, limits)?)?
            }
        };
        let is_given = reduce_axes(&self.unary(Op::Isnan)?, ReductionOp::Any, Some(&[-2, -1]), false)?;
        let is_unknown = result.unary(Op::Isnan)?.binary(Op::LogicalAnd, &is_given.unary(Op::LogicalNot)?)?;
        where_select(&is_unknown, scalar_arg(result.dtype(), f64::INFINITY), &result)
    }
}
