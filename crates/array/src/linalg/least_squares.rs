//! Applications of singular values: pseudo-inverses, ranks and least squares.

use super::iteration_limits::IterationLimits;
use super::matrix_helpers::{
    conjugate, conjugate_transpose, empty_like, float_dtype, machine_epsilon, matrix_transpose, rows_and_columns,
    scalar_arg, stack_axes, stack_shape, submatrix, where_select, zeros_like,
};
use crate::array::{Arg, GpuArray};
use crate::elementwise::binary_with_power_shortcuts;
use crate::layout::Order;
use crate::layout::PythonTuple;
use crate::reduce::ReduceOptions;
use crate::views::Index;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{ArrayError, ArrayErrorKind, DType, Result};

/// The cutoff below which singular values count as zero; an array has one value per matrix.
#[derive(Debug, Clone, Copy, Default)]
pub enum Tolerance<'a> {
    /// The machine epsilon of the elements, times the longer side and the largest singular value.
    #[default]
    Epsilon,
    /// This multiple of the largest singular value.
    Relative(Arg<'a>),
    /// This value.
    Absolute(Arg<'a>),
}

impl Tolerance<'_> {
    /// Which singular values of a matrix of so many rows and columns count.
    fn mask_above_tolerance(self, s: &GpuArray, [m, n]: [usize; 2]) -> Result<GpuArray> {
        let largest = s.index(&[Index::Ellipsis, (0isize..1).into()])?;
        let times =
            |ratio: Arg<'_>| binary_with_power_shortcuts(s.context(), Op::Multiply, ratio, (&largest).into(), None);
        match self {
            Tolerance::Epsilon => s.binary(Op::Greater, &times((m.max(n) as f64 * machine_epsilon(s.dtype())).into())?),
            Tolerance::Relative(Arg::Array(ratios)) => {
                s.binary(Op::Greater, &times((&ratios.expand_dims(&[-1])?).into())?)
            }
            Tolerance::Relative(ratio) => s.binary(Op::Greater, &times(ratio)?),
            Tolerance::Absolute(Arg::Array(sizes)) => s.binary(Op::Greater, &sizes.expand_dims(&[-1])?),
            Tolerance::Absolute(size) => s.binary(Op::Greater, size),
        }
    }
}

/// The result of [`GpuArray::lstsq`].
#[derive(Debug, Clone)]
pub struct LeastSquares {
    /// The minimum-norm solutions.
    pub solution: GpuArray,
    /// The sum of squared residuals for each right-hand side; empty unless the matrix has more rows than columns and
    /// full rank.
    pub residuals: GpuArray,
    /// The effective rank: the number of singular values above the cutoff.
    pub rank: usize,
    /// All singular values, in descending order.
    pub singular_values: GpuArray,
}

fn check_2d(a: &GpuArray) -> Result<[usize; 2]> {
    match a.shape() {
        [rows, columns] => Ok([*rows, *columns]),
        _ => Err(ArrayError::linear_algebra_error(format!(
            "{}-dimensional array given. Array must be two-dimensional; its shape is {}",
            a.ndim(),
            PythonTuple(a.shape())
        ))),
    }
}

/// What singular values of stacks of matrices, the last two axes, are for.
impl GpuArray {
    /// Computes pseudo-inverses, ignoring singular values up to the tolerance; waits. Reads only the lower triangle of
    /// Hermitian matrices.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn pinv(&self, tolerance: Tolerance<'_>, is_hermitian: bool, limits: IterationLimits) -> Result<GpuArray> {
        let [m, n] = rows_and_columns(self)?;
        if m.min(n) == 0 {
            return empty_like(self, &stack_shape(stack_axes(self), &[n, m]), float_dtype(&[self.dtype()])?);
        }
        let svd = if is_hermitian { self.svd_of_hermitian(limits)? } else { self.svd(false, limits)? };
        let (counts, real) = (tolerance.mask_above_tolerance(&svd.s, [m, n])?, svd.s.dtype());
        let safe = where_select(&counts, &svd.s, scalar_arg(real, 1.0))?;
        let inverse = where_select(&counts, &safe.unary(Op::Reciprocal)?, scalar_arg(real, 0.0))?;
        conjugate_transpose(&svd.vh)?
            .matmul(&inverse.expand_dims(&[-1])?.binary(Op::Multiply, &conjugate_transpose(&svd.u)?)?)
    }

    /// Counts the singular values larger than a tolerance; 0 or 1 for arrays of fewer than two axes. Waits. Reads only
    /// the lower triangle of Hermitian matrices.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn matrix_rank(
        &self,
        tolerance: Tolerance<'_>,
        is_hermitian: bool,
        limits: IterationLimits,
    ) -> Result<GpuArray> {
        if self.ndim() < 2 {
            return self
                .binary(Op::NotEqual, 0)?
                .reduce(ReductionOp::Any, ReduceOptions::default())?
                .astype(DType::I64);
        }
        let s = if is_hermitian { self.svdvals_of_hermitian(limits)? } else { self.svdvals(limits)? };
        if s.shape().last() == Some(&0) {
            return zeros_like(self, stack_axes(self), DType::I64);
        }
        let counts = tolerance.mask_above_tolerance(&s, rows_and_columns(self)?)?;
        counts.reduce(ReductionOp::CountNonzero, ReduceOptions { axes: Some(&[-1]), ..Default::default() })
    }

    /// Computes the least-squares solutions of `self @ x = b`, with the minimum norm among these, by singular values,
    /// for one matrix and one or several right-hand sides. Singular values up to `ratio` times the largest one count as
    /// zero. By default the ratio is the machine epsilon times the longer side; a negative ratio means the machine
    /// epsilon. Waits.
    ///
    /// # Errors
    /// When shapes do not fit, a matrix has infinities or NaN, or the iteration does not converge within `limits`; for
    /// elements that cannot be factorised.
    pub fn lstsq(&self, b: &GpuArray, ratio: Option<f64>, limits: IterationLimits) -> Result<LeastSquares> {
        self.check_context(b)?;
        let is_vector = b.ndim() == 1;
        let [m, n] = check_2d(self)?;
        let b = if is_vector { b.expand_dims(&[1])? } else { b.clone() };
        let [rows, columns] = check_2d(&b)?;
        if rows != m {
            let message = format!("Incompatible dimensions: a has {m} rows, b has {rows}");
            return Err(ArrayError::linear_algebra_error(message));
        }
        let dtype = float_dtype(&[self.dtype(), b.dtype()])?;
        let (a, b) = (self.to_dtype(dtype)?, b.to_dtype(dtype)?);
        let svd = a.svd(false, limits).map_err(|error| match error.kind() {
            ArrayErrorKind::LinearAlgebra => {
                ArrayError::linear_algebra_error("SVD did not converge in Linear Least Squares")
            }
            _ => error,
        })?;
        let eps = machine_epsilon(dtype);
        let ratio = ratio.map_or(eps * m.max(n) as f64, |ratio| if ratio < 0.0 { eps } else { ratio });
        let rank = if svd.s.size() > 0 { numerical_rank(&svd.s, ratio)? } else { 0 };
        let solution = if rank > 0 {
            let u = submatrix(&svd.u, 0..m, 0..rank)?;
            let s = svd.s.index(&[(0..rank as isize).into()])?.expand_dims(&[-1])?;
            let within = conjugate_transpose(&u)?.matmul(&b)?.binary(Op::TrueDivide, &s)?;
            conjugate(&matrix_transpose(&submatrix(&svd.vh, 0..rank, 0..n)?)?)?.matmul(&within)?
        } else {
            zeros_like(&a, &[n, columns], dtype)?
        };
        let residuals = if rank == n && n < m {
            let left = if n > 0 { b.binary(Op::Subtract, &a.matmul(&solution)?)? } else { b };
            let squares = left.unary(Op::Absolute)?.unary(Op::Square)?;
            squares.reduce(ReductionOp::Sum, ReduceOptions { axes: Some(&[0]), ..Default::default() })?
        } else {
            empty_like(&a, &[0], dtype.real_part())?
        };
        let solution = if is_vector { solution.index(&[Index::Ellipsis, Index::At(0)])?.copy(None)? } else { solution };
        Ok(LeastSquares { solution, residuals, rank, singular_values: svd.s })
    }
}

/// How many singular values of a matrix are larger than so many times the first; waits.
fn numerical_rank(s: &GpuArray, ratio: f64) -> Result<usize> {
    let counts = Tolerance::Relative(ratio.into()).mask_above_tolerance(s, [0, 0])?;
    let mut bytes = [0; 8];
    counts.reduce(ReductionOp::CountNonzero, ReduceOptions::default())?.read(&mut bytes, Order::C)?;
    Ok(i64::from_le_bytes(bytes) as usize)
}
