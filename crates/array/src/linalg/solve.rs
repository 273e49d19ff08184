//! Systems of linear equations, inverses and determinants, by LU factors.

use super::lu::LuFactors;
use super::matrix_helpers::{
    any_true, copy_to_stack, float_dtype, identity_matrices, reduce_axis, rows_and_columns, scalar_arg, square_extent,
    stack_axes, stack_shape, unstack_axes, where_select,
};
use crate::array::GpuArray;
use crate::layout::{Order, PythonTuple, broadcast_shapes};
use crate::scalar::Scalar;
use crate::views::Index;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{ArrayError, DType, Result, WeakScalar};

/// Signs of determinants, and logarithms of their absolute values.
#[derive(Debug, Clone)]
pub struct SlogDet {
    /// -1, 0 or 1; for complex matrices a number of absolute value 1 or 0.
    pub sign: GpuArray,
    /// Natural logarithms of the absolute values; minus infinity where the determinant is zero.
    pub log: GpuArray,
}

/// Solutions of stacks of one shape, and which matrices are singular.
fn solve_stacks(a: &GpuArray, b: &GpuArray, dtype: DType) -> Result<(GpuArray, GpuArray)> {
    let lu = LuFactors::new(copy_to_stack(a, dtype)?)?;
    let x = copy_to_stack(b, dtype)?;
    let is_zero = lu.factors.diagonal(0, -2, -1)?.binary(Op::Equal, 0)?;
    let is_singular = reduce_axis(&is_zero, ReductionOp::Any, -1, false)?;
    lu.solve_in_place(&x)?;
    Ok((x.reshape_to(b.shape(), Order::C)?, is_singular))
}

/// The solutions, if no matrix is singular; waits for that.
fn check_not_singular((x, is_singular): (GpuArray, GpuArray)) -> Result<GpuArray> {
    if any_true(&is_singular)? { Err(ArrayError::linear_algebra_error("Singular matrix")) } else { Ok(x) }
}

fn inverse_stacks(a: &GpuArray) -> Result<(GpuArray, GpuArray)> {
    let (n, dtype) = (square_extent(a)?, float_dtype(&[a.dtype()])?);
    solve_stacks(a, &identity_matrices(a.context(), &[n, n], dtype)?.broadcast_to(a.shape())?, dtype)
}

/// The diagonals of LU factors, and the signs of the exchanges of rows.
fn lu_diagonals_and_signs(a: &GpuArray) -> Result<(GpuArray, GpuArray)> {
    let (n, dtype) = (square_extent(a)?, float_dtype(&[a.dtype()])?);
    let lu = LuFactors::new(copy_to_stack(a, dtype)?)?;
    let int = |value| Scalar::Weak(WeakScalar::Int(value));
    let places = GpuArray::empty(a.context(), &[n], DType::I32, Order::C)?;
    places.fill_range(int(0), int(1))?;
    let is_exchanged = lu.pivots.binary(Op::NotEqual, &places.binary(Op::Remainder, lu.panel as i64)?)?;
    let is_odd = reduce_axis(&is_exchanged, ReductionOp::Sum, -1, false)?.binary(Op::Remainder, 2)?;
    let sign = where_select(&is_odd, scalar_arg(dtype, -1.0), scalar_arg(dtype, 1.0))?;
    Ok((lu.factors.diagonal(0, -2, -1)?, sign))
}

/// Systems of equations, inverses and determinants of stacks of square matrices: the last two axes. Integers are taken
/// as float64. LU factors with partial pivoting (Golub and Van Loan, Matrix Computations, 3.4).
impl GpuArray {
    /// Solves `self @ x = b`, where `b` has one axis or is a stack of matrices, which are broadcast; waits.
    ///
    /// # Errors
    /// When a matrix is singular, when shapes do not fit, and for elements that cannot be factorised.
    pub fn solve(&self, b: &GpuArray) -> Result<GpuArray> {
        self.check_context(b)?;
        let n = square_extent(self)?;
        let is_vector = b.ndim() == 1;
        let given = b;
        let b = if is_vector { b.expand_dims(&[1])? } else { b.clone() };
        let mismatch = || {
            let (a, b) = (PythonTuple(self.shape()), PythonTuple(given.shape()));
            ArrayError::value_error(format!("solve: matrices of shape {a} and right sides of shape {b} do not fit"))
        };
        let columns = match b.shape() {
            [.., rows, columns] if *rows == n => *columns,
            _ => return Err(mismatch()),
        };
        rows_and_columns(&b)?;
        let stack = broadcast_shapes([stack_axes(self), stack_axes(&b)].into_iter()).ok_or_else(mismatch)?;
        let a = self.broadcast_to(&stack_shape(&stack, &[n, n]))?;
        let b = b.broadcast_to(&stack_shape(&stack, &[n, columns]))?;
        let x = check_not_singular(solve_stacks(&a, &b, float_dtype(&[a.dtype(), b.dtype()])?)?)?;
        if is_vector { x.index(&[Index::Ellipsis, Index::At(0)]) } else { Ok(x) }
    }

    /// Computes inverse matrices; waits.
    ///
    /// # Errors
    /// When a matrix is singular or not square, and for elements that cannot be factorised.
    pub fn inv(&self) -> Result<GpuArray> {
        check_not_singular(inverse_stacks(self)?)
    }

    /// Computes inverse matrices, filled with NaN where singular; does not wait.
    ///
    /// # Errors
    /// When matrices are not square, and for elements that cannot be factorised.
    pub fn inv_or_nan(&self) -> Result<GpuArray> {
        let (x, is_singular) = inverse_stacks(self)?;
        let is_singular = is_singular.reshape_to(&stack_shape(stack_axes(self), &[1, 1]), Order::C)?;
        where_select(&is_singular, scalar_arg(x.dtype(), f64::NAN), &x)
    }

    /// Computes determinants; does not wait.
    ///
    /// # Errors
    /// As [`GpuArray::inv_or_nan`].
    pub fn det(&self) -> Result<GpuArray> {
        let (diagonals, sign) = lu_diagonals_and_signs(self)?;
        let product = reduce_axis(&diagonals, ReductionOp::Product, -1, false)?;
        unstack_axes(&product.binary(Op::Multiply, &sign)?, stack_axes(self))
    }

    /// Computes signs of determinants and logarithms of their absolute values, which neither overflow nor underflow;
    /// does not wait.
    ///
    /// # Errors
    /// As [`GpuArray::inv_or_nan`].
    pub fn slogdet(&self) -> Result<SlogDet> {
        let (diagonals, sign) = lu_diagonals_and_signs(self)?;
        let size = diagonals.unary(Op::Absolute)?;
        let direction = if diagonals.dtype().is_complex() {
            let direction = diagonals.binary(Op::TrueDivide, &size)?;
            where_select(&size.binary(Op::Equal, 0)?, scalar_arg(diagonals.dtype(), 0.0), &direction)?
        } else {
            diagonals.unary(Op::Sign)?
        };
        let sign = sign.binary(Op::Multiply, &reduce_axis(&direction, ReductionOp::Product, -1, false)?)?;
        let log = reduce_axis(&size.unary(Op::Log)?, ReductionOp::Sum, -1, false)?;
        let stack = stack_axes(self);
        Ok(SlogDet { sign: unstack_axes(&sign, stack)?, log: unstack_axes(&log, stack)? })
    }
}
