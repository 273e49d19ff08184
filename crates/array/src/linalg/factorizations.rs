//! Cholesky factors, and QR factors by Householder reflectors.

use super::gemm_update::GemmUpdate;
use super::householder::QrFactors;
use super::launch::{DEFAULT_BLOCK_DIM, LinalgKernel};
use super::matrix_helpers::{
    conjugate_transpose, copy_to_stack, element_strides, float_dtype, matrix_transpose, read_first_i32,
    rows_and_columns, scalar_arg, square_extent, stack_axes, submatrix, unstack_axes, where_select, zeros_like,
};
use super::panels::panel_width;
use super::trsm::{self, TrsmOptions};
use crate::array::GpuArray;
use crate::layout::{Layout, Order};
use crate::scalar::Scalar;
use crate::views::Index;
use rtcg_codegen::array::{LinalgSpec, LinalgStep, Op};
use rtcg_hal::{ArrayError, DType, Result, WeakScalar};
use std::ops::Range;

/// A triangle of a square matrix, including its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// At and below the diagonal.
    Lower,
    /// At and above the diagonal.
    Upper,
}

/// Cholesky factors of the lower triangles of matrices in place; a flag that is set if one is not positive.
fn cholesky_lower(a: &GpuArray) -> Result<GpuArray> {
    let (count, n) = (a.shape()[0], a.shape()[2]);
    let flag = zeros_like(a, &[1], DType::I32)?;
    if a.size() == 0 {
        return Ok(flag);
    }
    let width = panel_width(a, "cholesky", n);
    if !a.context().device_info().is_simd_cpu() {
        cholesky_by_panels(a, width, &flag)?;
        return Ok(flag);
    }
    let step = LinalgKernel::new(a.context(), a.dtype(), LinalgStep::Cholesky)?;
    let [stack, row, _] = element_strides(a);
    // A triangle is in shared memory.
    for start in (0..n).step_by(width) {
        let end = (start + width).min(n);
        let own = submatrix(a, start..end, start..end)?;
        let values = [(&own).into(), stack.into(), row.into(), (end - start).into(), (&flag).into()];
        let shared_bytes = (end - start) * (end - start + 1) * a.itemsize();
        step.launch_with_shared_bytes([count, 1], DEFAULT_BLOCK_DIM, shared_bytes, &values)?;
        if end < n {
            let below = submatrix(a, end..n, start..end)?;
            let form = TrsmOptions { is_conjugated: a.dtype().is_complex(), ..TrsmOptions::default() };
            trsm::solve_triangular(&own, &matrix_transpose(&below)?, form)?;
            let product = GemmUpdate { is_right_conjugated: true, is_lower: true, ..GemmUpdate::default() };
            product.subtract_product(&submatrix(a, end..n, end..n)?, &below, &matrix_transpose(&below)?)?;
        }
    }
    Ok(flag)
}

/// Columns of a block of panels, whose products are subtracted from the rest of the matrix at once.
const BLOCK_COLUMNS: usize = 256;
/// Columns of the rest that one product is for: of those above the diagonal it computes what nobody needs.
const REST_COLUMNS: usize = 1024;

/// Factors lower triangles in their own place, by panels of `width` columns and blocks of panels.
fn cholesky_by_panels(a: &GpuArray, width: usize, flag: &GpuArray) -> Result<()> {
    let (count, n) = (a.shape()[0], a.shape()[2]);
    let [stack, row, _] = element_strides(a);
    let spec = LinalgSpec { panel: width as u16, ..LinalgSpec::new(a.dtype(), LinalgStep::CholeskyPanel) };
    let step = LinalgKernel::compile_kernel(a.context(), spec)?;
    let squares = zeros_like(a, &[count, n.div_ceil(width), width, width], a.dtype())?;
    let product = GemmUpdate { is_right_conjugated: true, ..GemmUpdate::default() };
    let subtract = |start: usize, rest: Range<usize>, until: usize, columns: Range<usize>| -> Result<()> {
        let (left, right) = (submatrix(a, rest.clone(), columns.clone())?, submatrix(a, start..until, columns)?);
        product.subtract_product(&submatrix(a, rest, start..until)?, &left, &matrix_transpose(&right)?)
    };
    let block_columns = (BLOCK_COLUMNS / width).max(1) * width;
    for block in (0..n).step_by(block_columns) {
        let block_end = (block + block_columns).min(n);
        for start in (block..block_end).step_by(width) {
            let end = (start + width).min(block_end);
            let panel = submatrix(a, start..n, start..end)?;
            let own = squares.index(&[Index::from(0..count as isize), Index::At((start / width) as isize)])?;
            let values = [
                (&panel).into(),
                stack.into(),
                row.into(),
                (n - start).into(),
                (end - start).into(),
                (&own).into(),
                element_strides(&squares)[0].into(),
                flag.into(),
            ];
            let blocks = (n - end).div_ceil(width).max(1);
            step.launch_2d([count, blocks], DEFAULT_BLOCK_DIM, &values)?;
            if end < block_end {
                subtract(end, end..n, block_end, start..end)?;
            }
        }
        for start in (block_end..n).step_by(REST_COLUMNS) {
            subtract(start, start..n, (start + REST_COLUMNS).min(n), block..block_end)?;
        }
    }
    // Squares on the diagonal were kept apart.
    let (whole, rest, itemsize) = (n / width, n % width, a.itemsize() as isize);
    if whole > 0 {
        let layout = Layout {
            shape: [count, whole, width, width].as_slice().into(),
            strides: [stack, width as isize * (row + 1), row, 1].iter().map(|step| step * itemsize).collect(),
            offset: a.layout().offset,
        };
        let of_panels = |panels: Range<isize>| [Index::from(0..count as isize), Index::from(panels)];
        a.view_with_layout(layout).assign(&squares.index(&of_panels(0..whole as isize))?)?;
    }
    if rest > 0 {
        let last = squares.index(&[Index::from(0..count as isize), Index::At(whole as isize)])?;
        submatrix(a, n - rest..n, n - rest..n)?.assign(&submatrix(&last, 0..rest, 0..rest)?)?;
    }
    Ok(())
}

/// What is on one side of the diagonals of stacks, with zeros on the other one.
pub(super) fn triangular_part(a: &GpuArray, triangle: Triangle) -> Result<GpuArray> {
    let (rows, columns) = (a.shape()[1], a.shape()[2]);
    let count = |length: usize| -> Result<GpuArray> {
        let range = GpuArray::empty(a.context(), &[length], DType::I32, Order::C)?;
        range.fill_range(Scalar::Weak(WeakScalar::Int(0)), Scalar::Weak(WeakScalar::Int(1)))?;
        Ok(range)
    };
    let op = if triangle == Triangle::Lower { Op::GreaterEqual } else { Op::LessEqual };
    let is_kept = count(rows)?.expand_dims(&[1])?.binary(op, &count(columns)?)?;
    where_select(&is_kept, a, scalar_arg(a.dtype(), 0.0))
}

/// Factorizations of stacks of matrices: the last two axes. Integers are taken as float64.
impl GpuArray {
    /// Computes Cholesky factors of positive definite matrices, of which one triangle is read; waits to check
    /// definiteness. A matrix is the product of a lower factor and its adjoint, or of an upper factor's adjoint and the
    /// factor (Golub and Van Loan, Matrix Computations, 4.2).
    ///
    /// # Errors
    /// When a matrix is not positive definite or not square, and for elements that cannot be factorised.
    pub fn cholesky(&self, triangle: Triangle) -> Result<GpuArray> {
        square_extent(self)?;
        let dtype = float_dtype(&[self.dtype()])?;
        let is_upper = triangle == Triangle::Upper;
        let factors = copy_to_stack(&if is_upper { conjugate_transpose(self)? } else { self.clone() }, dtype)?;
        if read_first_i32(&cholesky_lower(&factors)?)? != 0 {
            return Err(ArrayError::linear_algebra_error("Matrix is not positive definite"));
        }
        let factors = unstack_axes(&triangular_part(&factors, Triangle::Lower)?, stack_axes(self))?;
        if is_upper { conjugate_transpose(&factors) } else { Ok(factors) }
    }

    /// Computes QR factors: matrices Q with orthonormal columns and upper triangular matrices R. Q is square if
    /// `is_complete`; otherwise it has as many columns as the shorter side. Does not wait. Uses Householder reflections
    /// (Golub and Van Loan, Matrix Computations, 5.2), by panels of columns.
    ///
    /// # Errors
    /// When there are fewer than two axes, and for elements that cannot be factorised.
    pub fn qr(&self, is_complete: bool) -> Result<(GpuArray, GpuArray)> {
        let [m, n] = rows_and_columns(self)?;
        let qr_factors = self.qr_factors()?;
        let columns = if is_complete && m > n { m } else { m.min(n) };
        let r = unstack_axes(&qr_factors.form_r(columns)?, stack_axes(self))?;
        Ok((unstack_axes(&qr_factors.form_q(columns)?, stack_axes(self))?, r))
    }

    /// Computes only the factor R of [`GpuArray::qr`].
    ///
    /// # Errors
    /// As [`GpuArray::qr`].
    pub fn qr_r(&self) -> Result<GpuArray> {
        let [m, n] = rows_and_columns(self)?;
        unstack_axes(&self.qr_factors()?.form_r(m.min(n))?, stack_axes(self))
    }

    /// Computes the reflectors of [`GpuArray::qr`] in LAPACK's form: transposed matrices that hold R and the reflector
    /// vectors, and the taus.
    ///
    /// # Errors
    /// As [`GpuArray::qr`].
    pub fn qr_raw(&self) -> Result<(GpuArray, GpuArray)> {
        let qr_factors = self.qr_factors()?;
        let stack = stack_axes(self);
        Ok((unstack_axes(&matrix_transpose(&qr_factors.matrices)?, stack)?, unstack_axes(&qr_factors.taus, stack)?))
    }

    fn qr_factors(&self) -> Result<QrFactors> {
        rows_and_columns(self)?;
        QrFactors::new(copy_to_stack(self, float_dtype(&[self.dtype()])?)?)
    }
}
