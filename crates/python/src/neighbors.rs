//! Native parts of `rtcg.neighbors`. They run with the interpreter released: most wait for the device.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_array_tuple, compute_detached, core_array};
use crate::gpuarray::to_py_result;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{DType, GpuArray, Result};
use rtcg::neighbors::{Answer, BatchingIndex, Candidates, Index, Metric, Neighbors, Ticket, knn, radius_count, topk};
use std::time::Duration;

/// How often a thread that waits for others looks for signals such as Ctrl-C.
const SIGNAL_PERIOD: Duration = Duration::from_millis(100);

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

/// Waits with the interpreter released, but for signals.
fn wait_for(py: Python<'_>, ticket: Result<Ticket<'_>>) -> PyResult<Answer> {
    let ticket = to_py_result(py, ticket)?;
    loop {
        match py.detach(|| ticket.wait_timeout(SIGNAL_PERIOD)) {
            Some(answer) => return to_py_result(py, answer),
            None => py.check_signals()?,
        }
    }
}

fn host_rows<'py, T: Element>(py: Python<'py>, values: Vec<T>, k: usize) -> PyResult<BoundAny<'py>> {
    let rows = values.len() / k;
    Ok(PyArray1::from_vec(py, values).reshape([rows, k])?.into_any())
}

/// Points on the device, ready to search; see `rtcg_neighbors::BatchingIndex`.
#[pyclass(name = "NeighborIndex", module = "rtcg._native", frozen)]
pub(crate) struct PyNeighborIndex(BatchingIndex);

impl PyNeighborIndex {
    fn index(&self) -> &Index {
        self.0.index()
    }

    fn answer<'py>(&self, py: Python<'py>, answer: &Answer, k: usize, is_host: bool) -> PyResult<Bound<'py, PyTuple>> {
        if !is_host {
            let found = to_py_result(py, answer.on_device())?;
            let arrays = [found.distances, found.indices].map(|array| crate::sparse::new_array(py, array));
            return PyTuple::new(py, arrays.into_iter().collect::<PyResult<Vec<_>>>()?);
        }
        let found = answer.on_host();
        let distances = match self.index().vectors().dtype() {
            DType::F64 => host_rows(py, found.distances, k)?,
            _ => host_rows(py, found.distances.iter().map(|&x| x as f32).collect(), k)?,
        };
        PyTuple::new(py, [distances, host_rows(py, found.indices, k)?])
    }
}

#[pymethods]
impl PyNeighborIndex {
    /// Of vectors, one a row, with candidates found as `"auto"`, `"float32"` or `"tensor"` says; waits.
    #[new]
    fn new(vectors: ArrayArg<'_, '_>, metric: &str, candidates: &str) -> PyResult<Self> {
        let (metric, candidates) = (metric_of(vectors.py(), metric)?, candidates_named(candidates)?);
        let index = compute_detached(vectors, |vectors| Index::new(vectors, metric)?.with_candidates(candidates))?;
        Ok(Self(BatchingIndex::new(index)))
    }

    /// The number of points and their dimension.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.index().len(), self.index().dimensions())
    }

    /// The points as stored.
    #[getter]
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<BoundAny<'py>> {
        crate::sparse::new_array(py, self.index().vectors().clone())
    }

    /// Distances and indices of the nearest points of each query; waits to check the queries.
    fn search<'py>(&self, queries: ArrayArg<'_, 'py>, k: usize) -> PyResult<Bound<'py, PyTuple>> {
        pair_of(queries, |queries| self.index().search(queries, k))
    }

    /// The same, merged into one search with the queries of other threads; NumPy arrays if `is_host`; waits.
    fn search_batched<'py>(
        &self,
        queries: ArrayArg<'_, 'py>,
        k: usize,
        is_host: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = queries.py();
        let ticket = compute_detached(queries, |queries| Ok(self.0.ask(queries, k, is_host)))?;
        self.answer(py, &wait_for(py, ticket)?, k, is_host)
    }

    /// The same for a NumPy array with two axes, of float32 and in C order; None for anything else.
    fn search_batched_host<'py>(
        &self,
        queries: &BoundAny<'py>,
        k: usize,
        is_host: bool,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (py, Ok(queries)) = (queries.py(), queries.cast::<PyArray2<f32>>()) else { return Ok(None) };
        let queries = queries.try_readonly()?;
        let [rows, found] = [queries.dims()[0], queries.dims()[1]];
        let dimensions = self.index().dimensions();
        if found != dimensions {
            return Err(PyValueError::new_err(format!(
                "queries has shape ({rows}, {found}); expected {dimensions} dimensions, as points have"
            )));
        }
        let (true, Ok(numbers)) = (queries.is_c_contiguous(), queries.as_slice()) else { return Ok(None) };
        let ticket = self.0.ask_host(numbers, k, is_host);
        drop(queries);
        Ok(Some(self.answer(py, &wait_for(py, ticket)?, k, is_host)?))
    }

    /// The number of points within a radius of each query; waits to check the queries.
    fn radius_count<'py>(&self, queries: ArrayArg<'_, 'py>, radius: f64) -> PyResult<BoundAny<'py>> {
        compute_array(queries, |queries| self.index().radius_count(queries, radius))
    }
}

/// Distances and indices of the nearest points; waits to check points and queries.
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

/// The number of points within a radius of each query; waits to check points and queries.
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
    add_contents! { m, classes PyNeighborIndex; functions neighbors_knn, neighbors_radius_count, neighbors_topk; }
}
