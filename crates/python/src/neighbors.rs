//! Native parts of `rtcg.neighbors`. They run with the interpreter released: most wait for the device.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_array_tuple, compute_detached, core_array};
use crate::gpuarray::to_py_result;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{GpuArray, Result};
use rtcg::neighbors::{Candidates, Index, Metric, Neighbors, knn, radius_count, topk};

fn pair_of<'py>(
    queries: ArrayArg<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> Result<Neighbors> + Send,
) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(queries, |queries| body(queries).map(|found| [found.distances, found.indices]))
}

fn metric_of(py: Python<'_>, name: &str) -> PyResult<Metric> {
    to_py_result(py, name.parse())
}

fn candidates_named(name: &str) -> PyResult<Candidates> {
    match name {
        "auto" => Ok(Candidates::Auto),
        "float32" => Ok(Candidates::Float32),
        "tensor" => Ok(Candidates::TensorCores),
        other => {
            let message = format!("candidates is '{other}'; expected 'auto', 'float32' or 'tensor'");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Points on the device, ready to be searched; see `rtcg_neighbors::Index`.
#[pyclass(name = "NeighborIndex", module = "rtcg._native", frozen)]
pub(crate) struct PyNeighborIndex(Index);

#[pymethods]
impl PyNeighborIndex {
    /// Of vectors, one a row, with candidates found as `"auto"`, `"float32"` or `"tensor"` says; waits.
    #[new]
    fn new(vectors: ArrayArg<'_, '_>, metric: &str, candidates: &str) -> PyResult<Self> {
        let (metric, candidates) = (metric_of(vectors.py(), metric)?, candidates_named(candidates)?);
        compute_detached(vectors, |vectors| Index::new(vectors, metric)?.with_candidates(candidates)).map(Self)
    }

    /// Points and their dimensions.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), self.0.dimensions())
    }

    /// The points as they are stored.
    #[getter]
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<BoundAny<'py>> {
        crate::sparse::new_array(py, self.0.vectors().clone())
    }

    /// Distances and indices of the nearest points of each query; waits for the check of queries.
    fn search<'py>(&self, queries: ArrayArg<'_, 'py>, k: usize) -> PyResult<Bound<'py, PyTuple>> {
        pair_of(queries, |queries| self.0.search(queries, k))
    }

    /// How many points are within a radius of each query; waits for the check of queries.
    fn radius_count<'py>(&self, queries: ArrayArg<'_, 'py>, radius: f64) -> PyResult<BoundAny<'py>> {
        compute_array(queries, |queries| self.0.radius_count(queries, radius))
    }
}

/// Distances and indices of the nearest of some points; waits for the check of both.
#[pyfunction]
fn neighbors_knn<'py>(
    queries: ArrayArg<'_, 'py>,
    points: ArrayArg<'_, 'py>,
    k: usize,
    metric: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let (points, metric) = (core_array(points), metric_of(queries.py(), metric)?);
    pair_of(queries, |queries| knn(queries, &points, k, metric))
}

/// How many of some points are within a radius of each query; waits for the check of both.
#[pyfunction]
fn neighbors_radius_count<'py>(
    queries: ArrayArg<'_, 'py>,
    points: ArrayArg<'_, 'py>,
    radius: f64,
    metric: &str,
) -> PyResult<BoundAny<'py>> {
    let (points, metric) = (core_array(points), metric_of(queries.py(), metric)?);
    compute_array(queries, |queries| radius_count(queries, &points, radius, metric))
}

/// The largest or smallest elements along the last axis, and their indices; does not wait.
#[pyfunction]
fn neighbors_topk<'py>(values: ArrayArg<'_, 'py>, k: usize, is_largest: bool) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(values, |values| topk(values, k, is_largest))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyNeighborIndex>()?;
    m.add_function(wrap_pyfunction!(neighbors_knn, m)?)?;
    m.add_function(wrap_pyfunction!(neighbors_radius_count, m)?)?;
    m.add_function(wrap_pyfunction!(neighbors_topk, m)?)
}
