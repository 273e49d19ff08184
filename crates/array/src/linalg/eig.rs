//! Eigenvalues and eigenvectors of general matrices, from the Schur form of the balanced matrix.

use super::iteration_limits::IterationLimits;
use super::launch::LinalgKernel;
use super::matrix_helpers::{
    any_true, complex_dtype_of, copy_to_stack, empty_like, float_dtype, matrix_transpose, square_extent, stack_axes,
    stack_shape, unstack_axes, zeros_like,
};
use super::scaling::MatrixScaling;
use super::schur::{self, SchurFactors};
use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_codegen::array::{LinalgSpec, LinalgStep, Op};
use rtcg_hal::{ArrayError, Result};

/// Scales rows and columns of scaled matrices in place; the factors that eigenvectors are multiplied with.
///
/// Parlett and Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors, Numer. Math. 13, 1969,
/// without the exchange of rows.
fn balance_matrices(a: &GpuArray) -> Result<GpuArray> {
    let (count, n) = (a.shape()[0], a.shape()[2]);
    let scales = empty_like(a, &[count, n], a.dtype().real_part())?;
    if a.size() > 0 {
        let threads = if n <= 32 { 32 } else { 256 };
        let step = LinalgKernel::new(a.context(), a.dtype(), LinalgStep::Balance)?;
        step.launch_2d([count, 1], [threads, 1], &[a.into(), n.into(), (&scales).into()])?;
    }
    Ok(scales)
}

/// Eigenvectors, as columns, of matrices of which `rows` are the Schur vectors.
///
/// By substitution in Schur forms (Golub and Van Loan, Matrix Computations, 7.6.4). `is_wide` says that those of real
/// matrices are complex.
fn schur_eigenvectors(
    forms: &GpuArray,
    schur: &SchurFactors,
    rows: &GpuArray,
    scales: &GpuArray,
    is_wide: bool,
) -> Result<GpuArray> {
    let (count, n) = (forms.shape()[0], forms.shape()[2]);
    let dtype = if is_wide { complex_dtype_of(forms.dtype()) } else { forms.dtype() };
    let x = zeros_like(forms, forms.shape(), dtype)?;
    if forms.size() == 0 {
        return Ok(x);
    }
    let step = |step| {
        LinalgKernel::compile_kernel(forms.context(), LinalgSpec { is_wide, ..LinalgSpec::new(forms.dtype(), step) })
    };
    let (grid, block) = ([count, n.div_ceil(32)], [32, 1]);
    let arguments = [forms.into(), n.into(), (&schur.reals).into(), (&schur.imags).into(), (&x).into()];
    step(LinalgStep::SubstituteEigenvectors)?.launch_2d(grid, block, &arguments)?;
    let vectors = matrix_transpose(rows)?.to_dtype(dtype)?.matmul(&x)?;
    let arguments = [(&vectors).into(), n.into(), scales.into(), (&schur.imags).into()];
    step(LinalgStep::FinishEigenvectors)?.launch_2d(grid, block, &arguments)?;
    Ok(vectors)
}

/// Eigenvalues of general square matrices: the last two axes.
impl GpuArray {
    /// Computes eigenvalues, and unit eigenvectors as columns; both are always complex. Waits.
    ///
    /// # Errors
    /// When a matrix has infinities or NaN, is not square, or does not converge within `limits`; for elements that
    /// cannot be factorised.
    pub fn eig(&self, limits: IterationLimits) -> Result<(GpuArray, GpuArray)> {
        let (values, vectors) = self.compute_eig(limits, true)?;
        Ok((values, vectors.ok_or_else(|| ArrayError::value_error("eig: no eigenvectors were made"))?))
    }

    /// Computes the eigenvalues of [`GpuArray::eig`]; waits.
    ///
    /// # Errors
    /// As [`GpuArray::eig`].
    pub fn eigvals(&self, limits: IterationLimits) -> Result<GpuArray> {
        Ok(self.compute_eig(limits, false)?.0)
    }

    fn compute_eig(&self, limits: IterationLimits, has_vectors: bool) -> Result<(GpuArray, Option<GpuArray>)> {
        let n = square_extent(self)?;
        let (dtype, stack) = (float_dtype(&[self.dtype()])?, stack_axes(self));
        let forms = copy_to_stack(self, dtype)?;
        let scaling = MatrixScaling::new(&forms, None)?;
        let check = |message: &str| match self.size() > 0 && scaling.report.read_status_flags()? != 0 {
            true => Err(ArrayError::linear_algebra_error(message)),
            false => Ok(()),
        };
        check("Array must not contain infs or NaNs")?;
        let scales = balance_matrices(&forms)?;
        let schur = schur::reduce_to_schur(&forms, &scaling.report, limits.qr_iterations, has_vectors)?;
        check("Eigenvalues did not converge")?;
        let is_wide = !dtype.is_complex() && any_true(&schur.imags.binary(Op::NotEqual, 0)?)?;
        let vectors = match &schur.vectors {
            Some(rows) => {
                // Real vectors are made as such, which is quicker.
                let vectors =
                    schur_eigenvectors(&forms, &schur, rows, &scales, is_wide)?.to_dtype(complex_dtype_of(dtype))?;
                Some(unstack_axes(&vectors, stack)?)
            }
            None => None,
        };
        scaling.unscale_eigenvalues(&schur.reals, &schur.imags, dtype)?;
        let values = to_complex(&schur.reals, &schur.imags)?;
        Ok((values.reshape_to(&stack_shape(stack, &[n]), Order::C)?, vectors))
    }
}

fn to_complex(reals: &GpuArray, imags: &GpuArray) -> Result<GpuArray> {
    let numbers = empty_like(reals, reals.shape(), complex_dtype_of(reals.dtype()))?;
    numbers.real().assign(reals)?;
    numbers.imag().map_or(Ok(()), |part| part.assign(imags))?;
    Ok(numbers)
}
