//! Operations on two sparse matrices, and of dense matrices at the places of a sparse one.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse::csr::PyCsrMatrix;
use crate::sparse::new_array;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::sparse::{CsrDyn, ElementOp, SddmmScale};

type Parts<'py> = [BoundAny<'py>; 3];

fn parts_of<'py>(py: Python<'py>, csr: &CsrDyn) -> PyResult<Parts<'py>> {
    let [data, indices, indptr] = [csr.data(), csr.indices(), csr.indptr()].map(|array| new_array(py, array.clone()));
    Ok([data?, indices?, indptr?])
}

/// The parts of the product of two matrices, computed by one thread or by warps and blocks per row; None chooses
/// for the device. Waits three times, for numbers of elements.
#[pyfunction]
#[pyo3(signature = (a, b, has_thread_rows = None))]
fn sparse_multiply<'py>(
    py: Python<'py>,
    a: &PyCsrMatrix,
    b: &PyCsrMatrix,
    has_thread_rows: Option<bool>,
) -> PyResult<Parts<'py>> {
    let product = py.detach(|| match has_thread_rows {
        None => a.csr.multiply_sparse(&b.csr),
        Some(has_thread_rows) => a.csr.multiply_sparse_by(&b.csr, has_thread_rows),
    });
    parts_of(py, &to_py_result(py, product)?)
}

/// The parts of a function of two canonical matrices, without zeros: "add", "subtract", "multiply", "maximum",
/// "minimum", "ne", "lt", "gt"; waits once.
#[pyfunction]
fn sparse_combine<'py>(py: Python<'py>, a: &PyCsrMatrix, b: &PyCsrMatrix, op: &str) -> PyResult<Parts<'py>> {
    let op = match op {
        "add" => ElementOp::Add,
        "subtract" => ElementOp::Subtract,
        "multiply" => ElementOp::Multiply,
        "maximum" => ElementOp::Maximum,
        "minimum" => ElementOp::Minimum,
        "ne" => ElementOp::NotEqual,
        "lt" => ElementOp::Less,
        "gt" => ElementOp::Greater,
        _ => {
            return Err(PyValueError::new_err(format!(
                "op is {op:?}; expected the name of a function of two elements"
            )));
        }
    };
    parts_of(py, &to_py_result(py, py.detach(|| a.csr.combine(&b.csr, op)))?)
}

/// Whether the indices are in ascending order within each row, strictly or not; waits.
#[pyfunction]
fn sparse_has_sorted_indices(py: Python<'_>, a: &PyCsrMatrix, is_strict: bool) -> PyResult<bool> {
    to_py_result(py, py.detach(|| a.csr.has_sorted_indices(is_strict)))
}

/// Elements of the product of two dense matrices at the positions of a sparse matrix: times its elements, or
/// scaled by `alpha` and added to these, scaled by `beta`; does not wait.
#[pyfunction]
fn sparse_sddmm<'py>(
    a: &PyCsrMatrix,
    x: ArrayArg<'_, 'py>,
    y: ArrayArg<'_, 'py>,
    scalars: Option<[[f64; 2]; 2]>,
) -> PyResult<BoundAny<'py>> {
    let (left, right) = (core_array(x), core_array(y));
    let scale = scalars.map_or(SddmmScale::Elements, SddmmScale::Sum);
    PyGpuArray::make_like(x, || a.csr.sampled_matmul(&left, &right, scale))
}

/// The indices that stably sort a vector of integers from 0 to ``limit - 1``; does not wait.
#[pyfunction]
fn sparse_argsort<'py>(keys: ArrayArg<'_, 'py>, limit: u64) -> PyResult<BoundAny<'py>> {
    let array = core_array(keys);
    PyGpuArray::make_like(keys, || array.argsort_below(limit))
}

/// For each node, the smallest node of its component, with undirected edges; does not wait.
#[pyfunction]
fn sparse_component_roots<'py>(py: Python<'py>, a: &PyCsrMatrix) -> PyResult<BoundAny<'py>> {
    let roots = to_py_result(py, a.csr.component_roots())?;
    new_array(py, roots)
}

type HostIndices<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);
type HostNumbers<'py> = Bound<'py, PyArray1<i32>>;

/// The number of strongly connected components of a graph on the host, and the component of each node.
#[pyfunction]
fn sparse_strong_components<'py>(py: Python<'py>, graph: HostIndices<'py>) -> PyResult<(usize, HostNumbers<'py>)> {
    let (indices, indptr) = (graph.0.as_slice()?, graph.1.as_slice()?);
    let (count, labels) = py.detach(|| rtcg::sparse::strong_components(indices, indptr));
    Ok((count, PyArray1::from_vec(py, labels)))
}

/// The nodes of a graph on the host in breadth-first order, and the predecessor of each.
#[pyfunction]
fn sparse_breadth_first_order<'py>(
    py: Python<'py>,
    graph: HostIndices<'py>,
    back: Option<HostIndices<'py>>,
    start: usize,
) -> PyResult<(HostNumbers<'py>, HostNumbers<'py>)> {
    let (indices, indptr) = (graph.0.as_slice()?, graph.1.as_slice()?);
    let back = match &back {
        Some(back) => Some([back.0.as_slice()?, back.1.as_slice()?]),
        None => None,
    };
    let found = py.detach(|| rtcg::sparse::breadth_first_order(indices, indptr, back, start));
    let (order, predecessors) = to_py_result(py, found)?;
    Ok((PyArray1::from_vec(py, order), PyArray1::from_vec(py, predecessors)))
}

/// An order of a symmetric structure on the host that makes its bandwidth small.
#[pyfunction]
fn sparse_reverse_cuthill_mckee<'py>(py: Python<'py>, graph: HostIndices<'py>) -> PyResult<HostNumbers<'py>> {
    let (indices, indptr) = (graph.0.as_slice()?, graph.1.as_slice()?);
    Ok(PyArray1::from_vec(py, py.detach(|| rtcg::sparse::reverse_cuthill_mckee(indices, indptr))))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions sparse_multiply, sparse_combine, sparse_has_sorted_indices, sparse_sddmm, sparse_argsort,
            sparse_component_roots, sparse_strong_components, sparse_breadth_first_order, sparse_reverse_cuthill_mckee;
    }
}
