//! Conversions from and to `ndarray`.

use super::element::ArrayElement;
use super::gpu_array::{ArrayFactory, GpuArray, value_error};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};
use rtcg_cuda::Result;

impl ArrayFactory {
    /// Makes an array with a copy of a host array of any layout; waits.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let host = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let a = ArrayFactory::new(&Context::new()?)?.from_ndarray(&host.t())?;
    /// assert_eq!((&a * 2.0).to_ndarray()?, (&host.t() * 2.0).into_dyn());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn from_ndarray<S, D>(&self, host: &ArrayBase<S, D>) -> Result<GpuArray<S::Elem>>
    where
        S: Data,
        S::Elem: ArrayElement,
        D: Dimension,
    {
        match host.as_slice() {
            Some(values) => self.from_shape_and_values(host.shape(), values),
            None => self.from_shape_and_values(host.shape(), &host.iter().copied().collect::<Vec<_>>()),
        }
    }
}

impl<T: ArrayElement> GpuArray<T> {
    /// Copies all elements to an `ndarray` array in C order; waits. `into_dimensionality` gives it a static number of
    /// axes.
    ///
    /// # Errors
    /// As [`GpuArray::to_vec`].
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        let host = ArrayD::from_shape_vec(IxDyn(self.shape()), self.to_vec()?);
        Ok(host.map_err(|error| value_error(error.to_string()))?)
    }
}
