//! Cholesky factors, and unitary and triangular ones by Householder reflections.

use super::launch::{BLOCK, Step};
use super::matrices::{
    adjoint, choose, copied, first_number, floating, length_of_square, number, part, rows_and_columns, stack_of, steps,
    transposed, unstacked, zeros,
};
use super::products::Product;
use super::reflections::Reflected;
use super::triangles::{self, Form, PANEL};
use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::layout::Order;
use crate::scalar::Scalar;
use rtcg_codegen::array::{LinalgStep, Op};
use rtcg_codegen::{DType, WeakScalar};

/// One of the two halves of a square matrix, both with its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// At and below the diagonal.
    Lower,
    /// At and above the diagonal.
    Upper,
}

/// Cholesky factors of the lower triangles of matrices in place; a flag that is set if one is not positive.
fn factor_positive(a: &GpuArray) -> Result<GpuArray> {
    let (count, n) = (a.shape()[0], a.shape()[2]);
    let flag = zeros(a, &[1], DType::I32)?;
    if a.size() == 0 {
        return Ok(flag);
    }
    let step = Step::new(a.context(), a.dtype(), LinalgStep::FactorPositive)?;
    let [stack, row, _] = steps(a);
    // A triangle is in shared memory, of which all devices have 48 KiB.
    let width = if a.itemsize() > 8 { PANEL / 2 } else { PANEL };
    for start in (0..n).step_by(width) {
        let end = (start + width).min(n);
        let own = part(a, start..end, start..end)?;
        let values = [(&own).into(), stack.into(), row.into(), (end - start).into(), (&flag).into()];
        let shared_bytes = (end - start) * (end - start + 1) * a.itemsize();
        step.launch_with([count, 1], BLOCK, shared_bytes, &values)?;
        if end < n {
            let below = part(a, end..n, start..end)?;
            let form = Form { is_conjugated: a.dtype().is_complex(), ..Form::default() };
            triangles::solve(&own, &transposed(&below)?, form)?;
            let product = Product { is_right_conjugated: true, is_lower: true, ..Product::default() };
            product.subtract(&part(a, end..n, end..n)?, &below, &transposed(&below)?)?;
        }
    }
    Ok(flag)
}

/// What is on one side of the diagonals of stacks, with zeros on the other one.
pub(super) fn triangle_of(a: &GpuArray, triangle: Triangle) -> Result<GpuArray> {
    let (rows, columns) = (a.shape()[1], a.shape()[2]);
    let count = |length: usize| -> Result<GpuArray> {
        let range = GpuArray::empty(a.context(), &[length], DType::I32, Order::C)?;
        range.fill_range(Scalar::Weak(WeakScalar::Int(0)), Scalar::Weak(WeakScalar::Int(1)))?;
        Ok(range)
    };
    let op = if triangle == Triangle::Lower { Op::GreaterEqual } else { Op::LessEqual };
    let is_kept = count(rows)?.expand_dims(&[1])?.binary(op, &count(columns)?)?;
    choose(&is_kept, a, number(a.dtype(), 0.0))
}

/// Factorizations of stacks of matrices: the last two axes. Integers are taken as float64.
impl GpuArray {
    /// Cholesky factors of positive definite matrices, of which one triangle is read; waits to see that they are.
    /// The product of a lower triangular matrix and its adjoint, or of the adjoint of an upper one and itself (Golub and
    /// Van Loan, Matrix Computations, 4.2).
    ///
    /// # Errors
    /// When a matrix is not positive definite or not square, and for elements that cannot be factored.
    pub fn cholesky(&self, triangle: Triangle) -> Result<GpuArray> {
        length_of_square(self)?;
        let dtype = floating(&[self.dtype()])?;
        let is_upper = triangle == Triangle::Upper;
        let factors = copied(&if is_upper { adjoint(self)? } else { self.clone() }, dtype)?;
        if first_number(&factor_positive(&factors)?)? != 0 {
            return Err(ArrayError::linear_algebra("Matrix is not positive definite"));
        }
        let factors = unstacked(&triangle_of(&factors, Triangle::Lower)?, stack_of(self))?;
        if is_upper { adjoint(&factors) } else { Ok(factors) }
    }

    /// Matrices Q with orthonormal columns and upper triangular ones R, of which these are the products: as many
    /// columns of Q as of the shorter side, or square ones if `is_complete`. Does not wait. Householder reflections
    /// (Golub and Van Loan, Matrix Computations, 5.2), by panels of columns.
    ///
    /// # Errors
    /// When there are less than two axes, and for elements that cannot be factored.
    pub fn qr(&self, is_complete: bool) -> Result<(GpuArray, GpuArray)> {
        let [m, n] = rows_and_columns(self)?;
        let reflected = self.reflected()?;
        let columns = if is_complete && m > n { m } else { m.min(n) };
        let r = unstacked(&reflected.triangular(columns)?, stack_of(self))?;
        Ok((unstacked(&reflected.unitary(columns)?, stack_of(self))?, r))
    }

    /// The second of the factors of [`GpuArray::qr`].
    ///
    /// # Errors
    /// As [`GpuArray::qr`].
    pub fn qr_triangle(&self) -> Result<GpuArray> {
        let [m, n] = rows_and_columns(self)?;
        unstacked(&self.reflected()?.triangular(m.min(n))?, stack_of(self))
    }

    /// The reflections of [`GpuArray::qr`] as LAPACK leaves them: transposed matrices with R and the vectors, and the
    /// factors.
    ///
    /// # Errors
    /// As [`GpuArray::qr`].
    pub fn qr_raw(&self) -> Result<(GpuArray, GpuArray)> {
        let reflected = self.reflected()?;
        let stack = stack_of(self);
        Ok((unstacked(&transposed(&reflected.matrices)?, stack)?, unstacked(&reflected.factors, stack)?))
    }

    fn reflected(&self) -> Result<Reflected> {
        rows_and_columns(self)?;
        Reflected::new(copied(self, floating(&[self.dtype()])?)?)
    }
}
