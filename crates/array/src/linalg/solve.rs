//! Systems of linear equations, inverses and determinants, by LU factors.

use super::factorizations::Triangle;
use super::lu::{LuFactors, swap_rows};
use super::matrix_helpers::{
    any_true, copy_to_stack, float_dtype, identity_matrices, matrix_transpose, reduce_axis, rows_and_columns,
    scalar_arg, square_extent, stack_axes, stack_shape, unstack_axes, where_select,
};
use super::trsm::{self, TrsmOptions};
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

/// Whether a matrix, its transpose or its adjoint is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transposition {
    /// The matrix itself.
    #[default]
    None,
    /// Its transpose.
    Transpose,
    /// Its conjugate transpose.
    Adjoint,
}

/// The systems of [`GpuArray::solve_triangular`].
#[derive(Debug, Clone, Copy)]
pub struct TriangularSystem {
    /// The triangle that is read.
    pub triangle: Triangle,
    /// What of the triangular matrix is solved with.
    pub form: Transposition,
    /// Whether ones stand for its diagonal.
    pub is_unit: bool,
}

impl TriangularSystem {
    fn solve_in_place(self, a: &GpuArray, sides: &GpuArray) -> Result<()> {
        let is_transposed = self.form != Transposition::None;
        let options = TrsmOptions {
            is_upper: (self.triangle == Triangle::Upper) != is_transposed,
            is_unit: self.is_unit,
            is_conjugated: self.form == Transposition::Adjoint && a.dtype().is_complex(),
        };
        let a = if is_transposed { matrix_transpose(a)? } else { a.clone() };
        trsm::solve_triangular(&a, sides, options)
    }
}

/// Matrices and right sides with the axes of one stack.
struct System {
    a: GpuArray,
    b: GpuArray,
    dtype: DType,
    is_vector: bool,
}

impl System {
    fn new(function: &str, a: &GpuArray, given: &GpuArray) -> Result<Self> {
        a.check_context(given)?;
        let n = square_extent(a)?;
        let is_vector = given.ndim() == 1;
        let b = if is_vector { given.expand_dims(&[1])? } else { given.clone() };
        let mismatch = || {
            let (a, b) = (PythonTuple(a.shape()), PythonTuple(given.shape()));
            ArrayError::value_error(format!(
                "{function}: matrices of shape {a} and right sides of shape {b} do not fit"
            ))
        };
        let columns = match b.shape() {
            [.., rows, columns] if *rows == n => *columns,
            _ => return Err(mismatch()),
        };
        rows_and_columns(&b)?;
        let stack = broadcast_shapes([stack_axes(a), stack_axes(&b)].into_iter()).ok_or_else(mismatch)?;
        let dtype = float_dtype(&[a.dtype(), b.dtype()])?;
        let a = a.broadcast_to(&stack_shape(&stack, &[n, n]))?;
        let b = b.broadcast_to(&stack_shape(&stack, &[n, columns]))?;
        Ok(Self { a, b, dtype, is_vector })
    }

    /// The solution, of the axes of the right sides.
    fn solution(&self, x: GpuArray) -> Result<GpuArray> {
        if self.is_vector { x.index(&[Index::Ellipsis, Index::At(0)]) } else { Ok(x) }
    }
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
        let system = System::new("solve", self, b)?;
        system.solution(check_not_singular(solve_stacks(&system.a, &system.b, system.dtype)?)?)
    }

    /// Solves systems of triangular matrices: only that part of `self` is read. `b` is as in [`GpuArray::solve`]; waits.
    ///
    /// # Errors
    /// When a number on a diagonal is zero, when shapes do not fit, and for elements that cannot be factorised.
    pub fn solve_triangular(&self, b: &GpuArray, form: TriangularSystem) -> Result<GpuArray> {
        let system = System::new("solve_triangular", self, b)?;
        let (a, x) = (copy_to_stack(&system.a, system.dtype)?, copy_to_stack(&system.b, system.dtype)?);
        if !form.is_unit && any_true(&a.diagonal(0, -2, -1)?.binary(Op::Equal, 0)?)? {
            return Err(ArrayError::linear_algebra_error("Singular matrix: a number on its diagonal is 0"));
        }
        form.solve_in_place(&a, &x)?;
        system.solution(x.reshape_to(system.b.shape(), Order::C)?)
    }

    /// Computes LU factors with partial pivoting in LAPACK's form: matrices that have L below the diagonal, whose own
    /// diagonal is 1, and U; and for each row the one (int32) that it was exchanged with. Does not wait, and does not check
    /// whether matrices are singular.
    ///
    /// # Errors
    /// When matrices are not square, and for elements that cannot be factorised.
    pub fn lu_factor(&self) -> Result<(GpuArray, GpuArray)> {
        square_extent(self)?;
        let (factors, pivots) =
            LuFactors::new(copy_to_stack(self, float_dtype(&[self.dtype()])?)?)?.in_lapack_form()?;
        Ok((unstack_axes(&factors, stack_axes(self))?, unstack_axes(&pivots, stack_axes(self))?))
    }

    /// Solves systems by the factors of [`GpuArray::lu_factor`], where `b` is as in [`GpuArray::solve`]; waits to check the
    /// pivots. Where a factor is singular, solutions are infinite or NaN.
    ///
    /// # Errors
    /// When shapes do not fit, for pivots that are no rows, and for elements that cannot be factorised.
    pub fn lu_solve(&self, pivots: &GpuArray, b: &GpuArray, form: Transposition) -> Result<GpuArray> {
        let system = System::new("lu_solve", self, b)?;
        self.check_context(pivots)?;
        let n = system.a.shape()[system.a.ndim() - 1];
        let stack = stack_axes(&system.a);
        if !pivots.dtype().is_integral() || pivots.shape() != &self.shape()[..self.ndim() - 1] {
            return Err(ArrayError::value_error(format!(
                "lu_solve: pivots of shape {} and dtype {} were given for factors of shape {}; expected integers, one for \
                 each row",
                PythonTuple(pivots.shape()),
                pivots.dtype(),
                PythonTuple(self.shape())
            )));
        }
        let is_wrong =
            pivots.binary(Op::Less, 0)?.binary(Op::LogicalOr, &pivots.binary(Op::GreaterEqual, n as i64)?)?;
        if any_true(&is_wrong)? {
            return Err(ArrayError::value_error(format!(
                "lu_solve: a pivot is no row; expected 0 to {}",
                n.max(1) - 1
            )));
        }
        let (a, x) = (copy_to_stack(&system.a, system.dtype)?, copy_to_stack(&system.b, system.dtype)?);
        let pivots = pivots.to_dtype(DType::I32)?.broadcast_to(&stack_shape(stack, &[n]))?;
        let pivots = pivots.copy(Some(Order::C))?.reshape_to(&[a.shape()[0], n], Order::C)?;
        let lower = TriangularSystem { triangle: Triangle::Lower, form, is_unit: true };
        let upper = TriangularSystem { triangle: Triangle::Upper, form, is_unit: false };
        if form == Transposition::None {
            swap_rows(&x, &pivots, false)?;
            lower.solve_in_place(&a, &x)?;
            upper.solve_in_place(&a, &x)?;
        } else {
            upper.solve_in_place(&a, &x)?;
            lower.solve_in_place(&a, &x)?;
            swap_rows(&x, &pivots, true)?;
        }
        system.solution(x.reshape_to(system.b.shape(), Order::C)?)
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
