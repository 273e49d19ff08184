//! Singular value decompositions.

use super::factorizations::Triangle;
use super::householder::QrFactors;
use super::iteration_limits::IterationLimits;
use super::matrix_helpers::{
    conjugate, conjugate_transpose, float_dtype, matrix_transpose, rows_and_columns, scalar_arg, stack_axes,
    stack_shape, submatrix, unstack_axes, where_select, zeros_like,
};
use super::one_sided_jacobi::{RotationChoice, one_sided_jacobi};
use super::scaling::{MatrixScaling, permute_rows_into_columns};
use crate::array::GpuArray;
use crate::elementwise::binary_with_power_shortcuts;
use crate::layout::Order;
use crate::reduce::ReduceOptions;
use crate::scalar::Scalar;
use rtcg_codegen::array::{LINALG_NOT_CONVERGED, LINALG_NOT_FINITE, LINALG_RANK_DEFICIENT, Op, ReductionOp};
use rtcg_hal::{ArrayError, DType, Result, WeakScalar};

/// A singular value decomposition A = U diag(S) V^H.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Left singular vectors as columns.
    pub u: GpuArray,
    /// Singular values in descending order.
    pub s: GpuArray,
    /// Right singular vectors, conjugated, as rows.
    pub vh: GpuArray,
}

/// Decompositions of tall matrices: vectors as columns, if they were wanted.
struct TallSvd {
    values: GpuArray,
    /// Left vectors, and right ones that are not conjugated.
    vectors: Option<(GpuArray, GpuArray)>,
}

/// The columns of tall matrices, or the conjugated rows of wide ones, as rows that are filled up with zeros.
fn zero_padded_columns(a: &GpuArray, dtype: DType, choice: RotationChoice) -> Result<GpuArray> {
    let [m, n] = rows_and_columns(a)?;
    let columns = if m < n { conjugate(a)? } else { matrix_transpose(a)? };
    let [n, m] = rows_and_columns(&columns)?;
    let length = choice.padded_length(m);
    let w = zeros_like(a, &stack_shape(stack_axes(a), &[n, length]), dtype)?;
    submatrix(&w, 0..n, 0..m)?.assign(&columns)?;
    w.reshape_to(&stack_shape(&[stack_axes(a).iter().product()], &[n, length]), Order::C)
}

/// Orthonormal columns, of which the last ones may be zero, with others in place of those and up to a number.
fn complete_basis(u: GpuArray, columns: usize, is_of_full_rank: bool) -> Result<GpuArray> {
    let (m, n) = (u.shape()[1], u.shape()[2]);
    if is_of_full_rank && columns == n {
        return Ok(u);
    }
    let whole = QrFactors::new(u.copy(Some(Order::C))?)?.form_q(columns)?;
    let first = submatrix(&whole, 0..m, 0..n)?;
    if is_of_full_rank {
        first.assign(&u)?;
    } else {
        let options = ReduceOptions { axes: Some(&[1]), keepdims: true, ..Default::default() };
        let is_there = u.binary(Op::NotEqual, 0)?.reduce(ReductionOp::Any, options)?;
        first.assign(&where_select(&is_there, &u, &first)?)?;
    }
    Ok(whole)
}

/// Decomposes matrices of `m` rows whose columns are the rows of `w`, filled up.
fn decompose_tall(
    w: &GpuArray,
    m: usize,
    is_full: bool,
    limits: IterationLimits,
    choice: RotationChoice,
    has_vectors: bool,
) -> Result<TallSvd> {
    let n = w.shape()[1];
    let scaling = MatrixScaling::new(w, None)?;
    let found = one_sided_jacobi(w, &scaling.report, limits, choice, has_vectors)?;
    let (values, places) = scaling.sort_and_unscale_values(&found.norms, w.dtype(), true)?;
    let report = if w.size() > 0 { scaling.report.read_status_flags()? } else { 0 };
    if report & (LINALG_NOT_FINITE | LINALG_NOT_CONVERGED) != 0 {
        return Err(ArrayError::linear_algebra_error("SVD did not converge"));
    }
    let Some(v_rows) = found.v_rows.filter(|_| has_vectors) else { return Ok(TallSvd { values, vectors: None }) };
    let is_of_full_rank = report & LINALG_RANK_DEFICIENT == 0;
    let u = complete_basis(permute_rows_into_columns(w, &places, m)?, if is_full { m } else { n }, is_of_full_rank)?;
    Ok(TallSvd { values, vectors: Some((u, permute_rows_into_columns(&v_rows, &places, n)?)) })
}

/// Singular values: the last two axes are matrices. One-sided Jacobi rotations (Hestenes). Errors are at most about
/// the length of the matrix times the precision of its elements.
impl GpuArray {
    /// Computes singular value decompositions. U and V are square if `is_full`; otherwise there are as many vectors as
    /// values. Waits.
    ///
    /// # Errors
    /// When a matrix has infinities or NaN, or does not converge within `limits`; for elements that cannot be
    /// factorised.
    pub fn svd(&self, is_full: bool, limits: IterationLimits) -> Result<Svd> {
        let (found, is_wide) = self.compute_svd(is_full, limits, true)?;
        let (u, v) = found.vectors.ok_or_else(|| ArrayError::value_error("svd: no vectors were made"))?;
        let (u, v) = if is_wide { (v, u) } else { (u, v) };
        let stack = stack_axes(self);
        Ok(Svd {
            u: unstack_axes(&u, stack)?,
            s: unstack_axes(&found.values, stack)?,
            vh: unstack_axes(&conjugate_transpose(&v)?, stack)?,
        })
    }

    /// Computes the singular values in descending order; waits.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn svdvals(&self, limits: IterationLimits) -> Result<GpuArray> {
        unstack_axes(&self.compute_svd(false, limits, false)?.0.values, stack_axes(self))
    }

    fn compute_svd(&self, is_full: bool, limits: IterationLimits, has_vectors: bool) -> Result<(TallSvd, bool)> {
        let [m, n] = rows_and_columns(self)?;
        let dtype = float_dtype(&[self.dtype()])?;
        let choice = RotationChoice::of_matrices(self, dtype, has_vectors)?;
        let w = zero_padded_columns(self, dtype, choice)?;
        Ok((decompose_tall(&w, m.max(n), is_full, limits, choice, has_vectors)?, m < n))
    }

    /// [`GpuArray::svd`] of Hermitian matrices, of which the lower triangle is read, from their eigenvalues.
    ///
    /// # Errors
    /// As [`GpuArray::eigh`].
    pub fn svd_of_hermitian(&self, limits: IterationLimits) -> Result<Svd> {
        let (values, vectors) = self.eigh(Triangle::Lower, limits)?;
        let (stack, n) = (stack_axes(self), self.shape()[self.ndim() - 1]);
        let flat = |a: &GpuArray, axes: &[usize]| a.reshape_to(&stack_shape(&[stack.iter().product()], axes), Order::C);
        let sizes = flat(&values.unary(Op::Absolute)?, &[n])?;
        let (ascending, places) =
            MatrixScaling::identity_scaling(&sizes)?.sort_and_unscale_values(&sizes, vectors.dtype(), false)?;
        let from_last = Scalar::Weak(WeakScalar::Int(n as i128 - 1));
        let places =
            binary_with_power_shortcuts(self.context(), Op::Subtract, from_last.into(), (&places).into(), None)?;
        let signs = binary_with_power_shortcuts(
            self.context(),
            Op::Copysign,
            scalar_arg(values.dtype(), 1.0),
            (&values).into(),
            None,
        )?;
        let turned = vectors.binary(Op::Multiply, &signs.expand_dims(&[-2])?)?;
        let in_order = |columns: &GpuArray| -> Result<GpuArray> {
            let rows = matrix_transpose(&flat(columns, &[n, n])?)?.copy(Some(Order::C))?;
            unstack_axes(&permute_rows_into_columns(&rows, &places, n)?, stack)
        };
        let s = unstack_axes(&ascending.flip(Some(&[-1]))?.copy(Some(Order::C))?, stack)?;
        Ok(Svd { u: in_order(&vectors)?, s, vh: conjugate_transpose(&in_order(&turned)?)? })
    }

    /// Computes the singular values of [`GpuArray::svd_of_hermitian`]; waits.
    ///
    /// # Errors
    /// As [`GpuArray::eigh`].
    pub fn svdvals_of_hermitian(&self, limits: IterationLimits) -> Result<GpuArray> {
        let sizes = self.eigvalsh(Triangle::Lower, limits)?.unary(Op::Absolute)?;
        sizes.sorted(sizes.ndim() - 1, true)
    }
}
