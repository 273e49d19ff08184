//! Linear algebra of arrays with a static element type.

use super::element::MatrixElement;
use super::gpu_array::GpuArray;
use rtcg_array::{IterationLimits, MatrixNorm, ReducedAxes, Tolerance, Triangle};
use rtcg_cuda::Result;

/// A singular value decomposition A = U diag(S) V^H.
#[derive(Debug, Clone)]
pub struct Svd<T: MatrixElement> {
    /// Left singular vectors as columns.
    pub u: GpuArray<T>,
    /// Singular values in descending order.
    pub s: GpuArray<T::Real>,
    /// Right singular vectors, conjugated, as rows.
    pub vh: GpuArray<T>,
}

/// The result of [`GpuArray::lstsq`].
#[derive(Debug, Clone)]
pub struct LeastSquares<T: MatrixElement> {
    /// The minimum-norm solutions.
    pub solution: GpuArray<T>,
    /// The sum of squared residuals for each right-hand side; empty unless the matrix has more rows than columns and
    /// full rank.
    pub residuals: GpuArray<T::Real>,
    /// The effective rank: the number of singular values above the cutoff.
    pub rank: usize,
    /// All singular values, in descending order.
    pub singular_values: GpuArray<T::Real>,
}

/// Which singular values count: those above `ratio` times the largest one, or above what the precision allows.
fn relative_tolerance(ratio: Option<f64>) -> Tolerance<'static> {
    ratio.map_or(Tolerance::Epsilon, |ratio| Tolerance::Relative(ratio.into()))
}

/// Linear algebra of stacks of matrices, which are the last two axes; kernels are this crate's own.
///
/// ```
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = ArrayFactory::new(&Context::new()?)?;
/// let a = arrays.from_shape_and_values(&[2, 2], &[2.0, 1.0, 1.0, 3.0])?;
/// let x = a.solve(&arrays.from_slice(&[3.0, 5.0])?)?;
/// assert!(a.matmul(&x)?.to_vec()?.iter().zip([3.0, 5.0]).all(|(ax, b)| f64::abs(ax - b) < 1e-14));
/// assert!((a.det()?.item()? - 5.0).abs() < 1e-14);
/// let svd = a.svd(false)?;
/// let again = svd.u.matmul(&(&svd.s.expand_dims(&[1])? * &svd.vh))?;
/// assert!((&again - &a).abs()?.max()? < 1e-14);
/// # Ok(())
/// # }
/// ```
impl<T: MatrixElement> GpuArray<T> {
    /// Solves `self @ x = b`, where `b` has one axis or is a stack of matrices, which are broadcast; waits to check
    /// that no matrix is singular.
    ///
    /// # Errors
    /// When a matrix is singular, or shapes do not fit.
    pub fn solve(&self, b: &GpuArray<T>) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().solve(b.as_dyn())?)
    }

    /// Computes inverse matrices; waits to check that none is singular.
    ///
    /// # Errors
    /// When a matrix is singular or not square.
    pub fn inv(&self) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().inv()?)
    }

    /// Computes determinants.
    ///
    /// # Errors
    /// When matrices are not square.
    pub fn det(&self) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().det()?)
    }

    /// Computes the signs of determinants and the natural logarithms of their absolute values, which neither overflow
    /// nor underflow.
    ///
    /// # Errors
    /// When matrices are not square.
    pub fn slogdet(&self) -> Result<(GpuArray<T>, GpuArray<T::Real>)> {
        let found = self.as_dyn().slogdet()?;
        Ok((self.typed_result(found.sign)?, self.typed_result(found.log)?))
    }

    /// Computes Cholesky factors of positive definite matrices, lower or upper triangular, from that triangle of the
    /// matrices; waits to check that they are positive definite.
    ///
    /// # Errors
    /// When a matrix is not positive definite or not square.
    pub fn cholesky(&self, triangle: Triangle) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().cholesky(triangle)?)
    }

    /// Computes QR factors: matrices with orthonormal columns, and upper triangular ones. Q is square if `is_complete`;
    /// otherwise it has as many columns as the shorter side.
    ///
    /// # Errors
    /// When there are fewer than two axes.
    pub fn qr(&self, is_complete: bool) -> Result<(GpuArray<T>, GpuArray<T>)> {
        let (q, r) = self.as_dyn().qr(is_complete)?;
        Ok((self.typed_result(q)?, self.typed_result(r)?))
    }

    /// Computes the eigenvalues of Hermitian matrices, of which one triangle is read, in ascending order, and their
    /// unit eigenvectors as columns; waits to check for convergence.
    ///
    /// # Errors
    /// When a matrix has infinities or NaN, or is not square.
    pub fn eigh(&self, triangle: Triangle) -> Result<(GpuArray<T::Real>, GpuArray<T>)> {
        let (values, vectors) = self.as_dyn().eigh(triangle, IterationLimits::default())?;
        Ok((self.typed_result(values)?, self.typed_result(vectors)?))
    }

    /// Computes the eigenvalues of [`GpuArray::eigh`]; waits.
    ///
    /// # Errors
    /// As [`GpuArray::eigh`].
    pub fn eigvalsh(&self, triangle: Triangle) -> Result<GpuArray<T::Real>> {
        self.typed_result(self.as_dyn().eigvalsh(triangle, IterationLimits::default())?)
    }

    /// Computes singular value decompositions. U and V are square if `is_full`; otherwise there are as many vectors as
    /// values. Waits to check for convergence.
    ///
    /// # Errors
    /// When a matrix has infinities or NaN, or there are fewer than two axes.
    pub fn svd(&self, is_full: bool) -> Result<Svd<T>> {
        let found = self.as_dyn().svd(is_full, IterationLimits::default())?;
        Ok(Svd { u: self.typed_result(found.u)?, s: self.typed_result(found.s)?, vh: self.typed_result(found.vh)? })
    }

    /// Computes the singular values in descending order; waits.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn svdvals(&self) -> Result<GpuArray<T::Real>> {
        self.typed_result(self.as_dyn().svdvals(IterationLimits::default())?)
    }

    /// Computes pseudo-inverses, ignoring singular values up to `ratio` times the largest one (by default the machine
    /// epsilon times the longer side); waits.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn pinv(&self, ratio: Option<f64>) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().pinv(relative_tolerance(ratio), false, IterationLimits::default())?)
    }

    /// Counts the singular values larger than `ratio` times the largest one (by default the machine epsilon times the
    /// longer side); waits.
    ///
    /// # Errors
    /// As [`GpuArray::svd`].
    pub fn matrix_rank(&self, ratio: Option<f64>) -> Result<GpuArray<i64>> {
        self.typed_result(self.as_dyn().matrix_rank(relative_tolerance(ratio), false, IterationLimits::default())?)
    }

    /// Computes least-squares solutions of `self @ x = b` for one matrix and one or several right-hand sides, ignoring
    /// singular values up to `ratio` times the largest one, as [`GpuArray::pinv`] does; waits.
    ///
    /// # Errors
    /// When shapes do not fit; as [`GpuArray::svd`].
    pub fn lstsq(&self, b: &GpuArray<T>, ratio: Option<f64>) -> Result<LeastSquares<T>> {
        let found = self.as_dyn().lstsq(b.as_dyn(), ratio, IterationLimits::default())?;
        Ok(LeastSquares {
            solution: self.typed_result(found.solution)?,
            residuals: self.typed_result(found.residuals)?,
            rank: found.rank,
            singular_values: self.typed_result(found.singular_values)?,
        })
    }

    /// Computes vector norms over axes (over all without a list). The norm of order p is the p-th root of the sum of
    /// p-th powers of absolute values; order (minus) infinity gives the largest (smallest) absolute value, and order 0
    /// the number of nonzero elements.
    ///
    /// # Errors
    /// When an axis does not exist or is named twice, or has no element and the result needs one.
    pub fn vector_norm(&self, order: f64, axes: ReducedAxes<'_>) -> Result<GpuArray<T::Real>> {
        self.typed_result(self.as_dyn().vector_norm(order, axes, false)?)
    }

    /// Computes matrix norms; those that need singular values wait.
    ///
    /// # Errors
    /// When there are fewer than two axes, or a matrix has no element and the norm needs one; as [`GpuArray::svd`].
    pub fn matrix_norm(&self, norm: MatrixNorm) -> Result<GpuArray<T::Real>> {
        self.typed_result(self.as_dyn().matrix_norm(norm, IterationLimits::default())?)
    }

    /// Computes condition numbers: a norm times that of the inverse, infinity for singular matrices. Norms that need
    /// singular values wait.
    ///
    /// # Errors
    /// When a matrix has no element, or is not square and the norm needs the inverse; as [`GpuArray::svd`].
    pub fn cond(&self, norm: MatrixNorm) -> Result<GpuArray<T::Real>> {
        self.typed_result(self.as_dyn().cond(norm, IterationLimits::default())?)
    }
}

#[cfg(feature = "num-complex")]
mod general_eigen {
    use super::{GpuArray, IterationLimits, MatrixElement, Result};
    use crate::typed_arrays::ArrayElement;
    use num_complex::Complex;

    /// Arrays of the complex numbers whose parts are like those of elements.
    type ComplexArray<T> = GpuArray<Complex<<T as MatrixElement>::Real>>;

    /// Eigenvalues of general matrices.
    impl<T: MatrixElement> GpuArray<T>
    where
        Complex<T::Real>: ArrayElement,
    {
        /// Computes eigenvalues, in no particular order, and unit eigenvectors as columns; waits to check for
        /// convergence.
        ///
        /// # Errors
        /// When a matrix has infinities or NaN, or is not square.
        pub fn eig(&self) -> Result<(ComplexArray<T>, ComplexArray<T>)> {
            let (values, vectors) = self.as_dyn().eig(IterationLimits::default())?;
            Ok((self.typed_result(values)?, self.typed_result(vectors)?))
        }

        /// Computes the eigenvalues of [`GpuArray::eig`]; waits.
        ///
        /// # Errors
        /// As [`GpuArray::eig`].
        pub fn eigvals(&self) -> Result<ComplexArray<T>> {
            self.typed_result(self.as_dyn().eigvals(IterationLimits::default())?)
        }
    }
}
