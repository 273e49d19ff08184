//! Native parts of `rtcg.neighbors`. They run with the interpreter released: most wait for the device.

use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse_formats::{ArrayArg, BoundAny, core_array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::array::Result;
use rtcg::neighbors::{Candidates, Index, Metric, Neighbors, knn, radius_count, topk};

type Pair<'py> = (BoundAny<'py>, BoundAny<'py>);

/// What `body` makes, in memory from the allocator of an array and with the interpreter released.
pub(crate) fn compute_like<T: Send>(like: ArrayArg<'_, '_>, body: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let py = like.py();
    to_py_result(py, PyGpuArray::with_allocator_of(like, || py.detach(body)))
}

fn pair_of<'py>(like: ArrayArg<'_, 'py>, found: Neighbors) -> PyResult<Pair<'py>> {
    Ok((PyGpuArray::new_like(like, found.distances)?, PyGpuArray::new_like(like, found.indices)?))
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
        let (array, metric) = (core_array(vectors), metric_of(vectors.py(), metric)?);
        let candidates = candidates_named(candidates)?;
        compute_like(vectors, || Index::new(&array, metric)?.with_candidates(candidates)).map(Self)
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
    fn search<'py>(&self, queries: ArrayArg<'_, 'py>, k: usize) -> PyResult<Pair<'py>> {
        let array = core_array(queries);
        pair_of(queries, compute_like(queries, || self.0.search(&array, k))?)
    }

    /// How many points are within a radius of each query; waits for the check of queries.
    fn radius_count<'py>(&self, queries: ArrayArg<'_, 'py>, radius: f64) -> PyResult<BoundAny<'py>> {
        let array = core_array(queries);
        PyGpuArray::new_like(queries, compute_like(queries, || self.0.radius_count(&array, radius))?)
    }
}

/// Distances and indices of the nearest of some points; waits for the check of both.
#[pyfunction]
fn neighbors_knn<'py>(
    queries: ArrayArg<'_, 'py>,
    points: ArrayArg<'_, 'py>,
    k: usize,
    metric: &str,
) -> PyResult<Pair<'py>> {
    let (from, among, metric) = (core_array(queries), core_array(points), metric_of(queries.py(), metric)?);
    pair_of(queries, compute_like(queries, || knn(&from, &among, k, metric))?)
}

/// How many of some points are within a radius of each query; waits for the check of both.
#[pyfunction]
fn neighbors_radius_count<'py>(
    queries: ArrayArg<'_, 'py>,
    points: ArrayArg<'_, 'py>,
    radius: f64,
    metric: &str,
) -> PyResult<BoundAny<'py>> {
    let (from, among, metric) = (core_array(queries), core_array(points), metric_of(queries.py(), metric)?);
    PyGpuArray::new_like(queries, compute_like(queries, || radius_count(&from, &among, radius, metric))?)
}

/// The largest or smallest elements along the last axis, and their indices; does not wait.
#[pyfunction]
fn neighbors_topk<'py>(values: ArrayArg<'_, 'py>, k: usize, is_largest: bool) -> PyResult<Pair<'py>> {
    let array = core_array(values);
    let [found, indices] = compute_like(values, || topk(&array, k, is_largest))?;
    Ok((PyGpuArray::new_like(values, found)?, PyGpuArray::new_like(values, indices)?))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyNeighborIndex>()?;
    m.add_function(wrap_pyfunction!(neighbors_knn, m)?)?;
    m.add_function(wrap_pyfunction!(neighbors_radius_count, m)?)?;
    m.add_function(wrap_pyfunction!(neighbors_topk, m)?)
}
