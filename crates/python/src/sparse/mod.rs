//! Native parts of `rtcg.sparse`: [`csr`] and the other [`formats`], [`products`] of two matrices, [`triangular`]
//! systems, and what is done with [`operators`]: to [`solve`] a system, and to find eigenvalues ([`eigen`]).

use crate::gpuarray::PyGpuArray;
use pyo3::prelude::*;
use rtcg::array::GpuArray;

mod csr;
mod eigen;
mod formats;
mod gallery;
mod operators;
mod packets;
mod products;
mod solve;
mod triangular;

pub(crate) fn new_array(py: Python<'_>, array: GpuArray) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, PyGpuArray::from_array(array))?.into_any())
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    csr::add_to_module(m)?;
    eigen::add_to_module(m)?;
    formats::add_to_module(m)?;
    gallery::add_to_module(m)?;
    operators::add_to_module(m)?;
    packets::add_to_module(m)?;
    products::add_to_module(m)?;
    solve::add_to_module(m)?;
    triangular::add_to_module(m)
}
