//! Singular values, from the eigenvalues of `A^H A` or `A A^H`, whichever is smaller, and a final small decomposition.

use super::lanczos::{EigshOptions, eigsh};
use super::vector_dtype;
use crate::operator::LinearOperator;
use crate::units::{Range, Scaled, multiply_by_power, operator_exponent};
use rtcg_array::{GpuArray, IterationLimits, Op, Order};
use rtcg_hal::{ArrayContext, ArrayError, DType, Result};
use std::sync::Arc;

/// Singular values, and how they were found.
#[derive(Debug, Clone)]
pub struct SvdsResult {
    /// Left singular vectors as columns.
    pub u: GpuArray,
    /// Singular values in ascending order.
    pub s: GpuArray,
    /// Right singular vectors, conjugated, as rows.
    pub vh: GpuArray,
    /// Whether all singular values converged.
    pub is_converged: bool,
    /// Number of restarts.
    pub restarts: usize,
    /// Number of products with the operator, and as many with its adjoint.
    pub products: usize,
}

/// `second first`, of two operators that are adjoint to each other.
struct Normal<'a> {
    first: &'a dyn LinearOperator,
    second: &'a dyn LinearOperator,
    between: GpuArray,
}

impl LinearOperator for Normal<'_> {
    fn shape(&self) -> [usize; 2] {
        [self.second.shape()[0], self.first.shape()[1]]
    }

    fn dtype(&self) -> DType {
        self.between.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.first.apply(x, &self.between)?;
        self.second.apply(&self.between, y)
    }
}

/// Computes singular values of an operator whose adjoint is given, and their vectors; waits once per restart, and at
/// the end.
///
/// `options` are those of [`eigsh`] for the product, whose eigenvalues are the squares: `tol` is squared. Singular
/// values below the largest times the square root of the machine epsilon are lost in the square.
///
/// # Errors
/// As [`eigsh`], and when the adjoint has another shape.
pub fn svds(
    ctx: &Arc<ArrayContext>,
    a: &dyn LinearOperator,
    adjoint: &dyn LinearOperator,
    start: Option<&GpuArray>,
    options: &EigshOptions,
) -> Result<SvdsResult> {
    let [m, n] = a.shape();
    if adjoint.shape() != [n, m] {
        return Err(ArrayError::value_error(format!(
            "the adjoint has shape {:?}; expected ({n}, {m})",
            adjoint.shape()
        )));
    }
    let found = run(ctx, a, adjoint, start, options);
    let range = Range::from_dtype(vector_dtype(a.dtype()));
    // Eigenvalues are squares.
    if found.as_ref().is_ok_and(|(_, size)| !range.is_extreme(*size)) {
        return found.map(|(result, _)| result);
    }
    let power = operator_exponent(ctx, a, vector_dtype(a.dtype()), false)?;
    if 2 * power.abs() <= range.moderate {
        return found.map(|(result, _)| result);
    }
    let [a, adjoint] = [a, adjoint].map(|inner| Scaled { inner, power: -power });
    let (found, _) = run(ctx, &a, &adjoint, start, options)?;
    multiply_by_power(&found.s, power)?;
    Ok(found)
}

/// Singular values, and the largest eigenvalue of the product.
fn run(
    ctx: &Arc<ArrayContext>,
    a: &dyn LinearOperator,
    adjoint: &dyn LinearOperator,
    start: Option<&GpuArray>,
    options: &EigshOptions,
) -> Result<(SvdsResult, f64)> {
    let [m, n] = a.shape();
    let is_wide = m < n;
    let (first, second) = if is_wide { (adjoint, a) } else { (a, adjoint) };
    let dtype = vector_dtype(a.dtype());
    let between = GpuArray::empty(ctx, &[first.shape()[0]], dtype, Order::C)?;
    let normal = Normal { first, second, between };
    let found = eigsh(ctx, &normal, start, &EigshOptions { tol: options.tol * options.tol, shift: None, ..*options })?;
    // With `first = A`: A V = U S W^H, so that A = U S (V W)^H on the space of V.
    let images = first.apply_block(&found.vectors.to_contiguous()?)?;
    let small = images.svd(false, IterationLimits::default())?;
    let left = small.u.flip(Some(&[1]))?;
    let right = small.vh.flip(Some(&[0]))?.matmul(&adjoint_of(&found.vectors)?)?;
    let (u, vh) = if is_wide { (adjoint_of(&right)?, adjoint_of(&left)?) } else { (left, right) };
    let s = small.s.flip(None)?.to_contiguous()?;
    let (is_converged, restarts) = (found.is_converged, found.restarts);
    let products = found.products + found.values.len();
    Ok((SvdsResult { u, s, vh, is_converged, restarts, products }, found.size))
}

/// The conjugated transpose of a matrix; a view where elements are real.
pub(super) fn adjoint_of(matrix: &GpuArray) -> Result<GpuArray> {
    let transposed = matrix.transpose(None)?;
    if matrix.dtype().is_complex() { transposed.unary(Op::Conjugate) } else { Ok(transposed) }
}
