//! Native parts of `rtcg.ndimage`. They run with the interpreter released; none waits for the device.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_detached, core_array};
use crate::gpuarray::PyGpuArray;
use pyo3::prelude::*;
use rtcg::array::{ArrayError, DType, Result};
use rtcg::ndimage::{
    FilterOptions, LocalNorm, Mode, Pool, convolve, correlate, filter_bank, gaussian_filter, local_norm, pool,
    uniform_filter,
};

/// How a filter lies on an image: dtype, modes, the value beyond borders, origins, axes.
#[derive(FromPyObject)]
struct Placement {
    #[pyo3(item)]
    dtype: Option<String>,
    #[pyo3(item)]
    modes: Vec<String>,
    #[pyo3(item)]
    cval: f64,
    #[pyo3(item)]
    origins: Vec<isize>,
    #[pyo3(item)]
    axes: Option<Vec<isize>>,
}

impl Placement {
    fn with<T>(&self, body: impl FnOnce(&FilterOptions<'_>) -> Result<T>) -> Result<T> {
        let unknown =
            |name: &str| ArrayError::type_error(format!("output is {name}; expected a dtype of real numbers"));
        let dtype =
            self.dtype.as_deref().map(|name| DType::from_name(name).ok_or_else(|| unknown(name))).transpose()?;
        let modes = self.modes.iter().map(|name| name.parse::<Mode>()).collect::<Result<Vec<_>>>()?;
        body(&FilterOptions {
            dtype,
            modes: &modes,
            cval: self.cval,
            origins: &self.origins,
            axes: self.axes.as_deref(),
        })
    }
}

#[pyfunction]
fn ndimage_correlate<'py>(
    input: ArrayArg<'_, 'py>,
    weights: ArrayArg<'_, 'py>,
    placement: Placement,
    is_convolution: bool,
) -> PyResult<BoundAny<'py>> {
    let weights = core_array(weights);
    let filter = if is_convolution { convolve } else { correlate };
    compute_array(input, |image| placement.with(|options| filter(image, &weights, options)))
}

#[pyfunction]
fn ndimage_uniform_filter<'py>(
    input: ArrayArg<'_, 'py>,
    sizes: Vec<usize>,
    placement: Placement,
) -> PyResult<BoundAny<'py>> {
    compute_array(input, |image| placement.with(|options| uniform_filter(image, &sizes, options)))
}

#[pyfunction]
fn ndimage_gaussian_filter<'py>(
    input: ArrayArg<'_, 'py>,
    sigmas: Vec<f64>,
    orders: Vec<usize>,
    radii: Vec<usize>,
    truncate: f64,
    placement: Placement,
) -> PyResult<BoundAny<'py>> {
    compute_array(input, |image| {
        placement.with(|options| gaussian_filter(image, &sigmas, &orders, &radii, truncate, options))
    })
}

#[pyfunction]
fn ndimage_filter_bank<'py>(
    x: ArrayArg<'_, 'py>,
    w: ArrayArg<'_, 'py>,
    activation: Option<String>,
    out: Option<ArrayArg<'_, 'py>>,
) -> PyResult<BoundAny<'py>> {
    let (filters, target) = (core_array(w), out.map(core_array));
    let found = compute_detached(x, |x| filter_bank(x, &filters, activation.as_deref(), target.as_ref()))?;
    out.map_or_else(|| PyGpuArray::new_like(x, found), |out| Ok(out.clone().into_any()))
}

/// Pool elements; without an exponent, by their maximum.
#[pyfunction]
fn ndimage_pool<'py>(
    x: ArrayArg<'_, 'py>,
    size: [usize; 2],
    strides: [usize; 2],
    exponent: Option<f64>,
) -> PyResult<BoundAny<'py>> {
    let kind = exponent.map_or(Pool::Max, Pool::Norm);
    compute_array(x, |x| pool(x, size, strides, kind))
}

#[pyfunction]
fn ndimage_local_norm<'py>(
    x: ArrayArg<'_, 'py>,
    size: [usize; 2],
    is_centered: bool,
    stretch: f64,
    threshold: f64,
) -> PyResult<BoundAny<'py>> {
    compute_array(x, |x| local_norm(x, LocalNorm { size, is_centered, stretch, threshold }))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions ndimage_correlate, ndimage_uniform_filter, ndimage_gaussian_filter, ndimage_filter_bank, ndimage_pool,
            ndimage_local_norm;
    }
}
