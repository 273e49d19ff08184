//! Fourier transforms of arrays with a static element type.

use super::element::{ArrayElement, Float};
use super::gpu_array::GpuArray;
use num_complex::Complex;
use rtcg_array::{FftKind, normalize_axes, normalize_axis};
use rtcg_cuda::Result;

/// Fourier transforms; they do not wait. Any length will do; quickest are those without prime factors above 13.
///
/// ```
/// use num_complex::Complex;
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = ArrayFactory::new(&Context::new()?)?;
/// let wave = arrays.from_slice(&[1.0f32, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0])?;
/// let coefficients = wave.rfft(-1)?;
/// let [none, all] = [Complex::new(0.0, 0.0), Complex::new(4.0, 0.0)];
/// assert_eq!(coefficients.to_vec()?, [none, none, all, none, none]);
/// assert_eq!(coefficients.irfft(-1, 8)?.to_vec()?, wave.to_vec()?);
/// # Ok(())
/// # }
/// ```
impl<T: ArrayElement> GpuArray<Complex<T>>
where
    Complex<T>: ArrayElement,
{
    /// Computes the discrete Fourier transform over `axes`, with exp(-2 pi i j k / n) and without scaling.
    ///
    /// # Errors
    /// When an axis does not exist, is named twice or has no elements, or the device is out of memory.
    pub fn fft(&self, axes: &[isize]) -> Result<Self> {
        self.fft_over_axes(FftKind::Forward, axes)
    }

    /// Computes the inverse of [`GpuArray::fft`], divided by the lengths of `axes`.
    ///
    /// # Errors
    /// As [`GpuArray::fft`].
    pub fn ifft(&self, axes: &[isize]) -> Result<Self> {
        self.fft_over_axes(FftKind::Inverse, axes)
    }

    fn fft_over_axes(&self, kind: FftKind, axes: &[isize]) -> Result<Self> {
        let mut array = self.as_dyn().clone();
        for axis in normalize_axes(axes, self.ndim())? {
            let n = self.shape()[axis];
            let scale = if kind == FftKind::Inverse { 1.0 / n as f64 } else { 1.0 };
            array = array.fft(kind, axis, n, scale)?;
        }
        self.typed_result(array)
    }

    /// Computes the `n` real numbers whose first `n / 2 + 1` coefficients along `axis` these are: the inverse of
    /// [`GpuArray::rfft`]. Missing coefficients are zero.
    ///
    /// # Errors
    /// When there is no such axis, `n` is 0, or the device is out of memory.
    pub fn irfft(&self, axis: isize, n: usize) -> Result<GpuArray<T>> {
        let axis = normalize_axis(axis, self.ndim())?;
        self.typed_result(self.as_dyn().fft(FftKind::RealInverse, axis, n, 1.0 / n as f64)?)
    }
}

/// Fourier transforms of real numbers.
impl<T: Float> GpuArray<T>
where
    Complex<T>: ArrayElement,
{
    /// Computes the first `n / 2 + 1` Fourier coefficients along `axis`, which has `n` elements; the others are
    /// conjugates of these. Does not wait.
    ///
    /// # Errors
    /// When there is no such axis, it has no elements, or the device is out of memory.
    pub fn rfft(&self, axis: isize) -> Result<GpuArray<Complex<T>>> {
        let axis = normalize_axis(axis, self.ndim())?;
        self.typed_result(self.as_dyn().fft(FftKind::RealForward, axis, self.shape()[axis], 1.0)?)
    }
}
