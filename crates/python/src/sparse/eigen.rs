//! Native parts of `rtcg.sparse.linalg`: eigenvalues and singular values.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::context::array_context;
use crate::gpuarray::{PyGpuArray, dtype_of_descr, to_py_result};
use crate::sparse::new_array;
use crate::sparse::operators::{BoxedOperator, extract_operator};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::array::{ArrayError, DType, GpuArray, Result};
use rtcg::sparse::{BlockProblem, EigshOptions, LinearOperator, LobpcgOptions, WhichEigenvalues, eigsh, lobpcg, svds};

/// An operator with a function from Python for blocks of vectors.
struct BlockOperator {
    of_vector: BoxedOperator,
    of_block: Py<PyAny>,
}

impl LinearOperator for BlockOperator {
    fn shape(&self) -> [usize; 2] {
        self.of_vector.shape()
    }

    fn dtype(&self) -> DType {
        self.of_vector.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.of_vector.apply(x, y)
    }

    fn apply_block(&self, x: &GpuArray) -> Result<GpuArray> {
        let [rows, _] = self.shape();
        Python::attach(|py| {
            let result = self.of_block.bind(py).call1((new_array(py, x.clone())?,))?;
            let Ok(result) = result.cast::<PyGpuArray>() else {
                let message = format!("an operator returned {}; expected a GPUArray", result.get_type());
                return Err(PyTypeError::new_err(message));
            };
            let result = core_array(result);
            if result.shape() != [rows, x.shape()[1]] {
                let message = format!("an operator mapped {:?} to shape {:?}", x.shape(), result.shape());
                return Err(PyValueError::new_err(message));
            }
            to_py_result(py, result.to_dtype(x.dtype()))
        })
        .map_err(ArrayError::runtime_error)
    }
}

/// A matrix on the device, or a tuple of a function of vectors, the shape, and perhaps a function of blocks.
fn extract(object: &BoundAny<'_>, dtype: DType) -> PyResult<BoxedOperator> {
    if let Ok(dense) = object.cast::<PyGpuArray>() {
        return Ok(Box::new(core_array(dense)));
    }
    let Ok((function, shape, of_block)) = object.extract::<(BoundAny<'_>, BoundAny<'_>, Py<PyAny>)>() else {
        return extract_operator(object, dtype);
    };
    let of_vector = extract_operator((function, shape).into_pyobject(object.py())?.as_any(), dtype)?;
    Ok(Box::new(BlockOperator { of_vector, of_block }))
}

#[allow(clippy::too_many_arguments, reason = "what eigenvalues are asked for")]
fn options(
    k: usize,
    which: &str,
    ncv: Option<usize>,
    maxiter: Option<usize>,
    tol: f64,
    shift: Option<f64>,
    seed: u64,
) -> PyResult<EigshOptions> {
    let Some(which) = WhichEigenvalues::of_name(which) else {
        return Err(PyValueError::new_err(format!("which is '{which}'; expected LM, SM, LA, SA or BE")));
    };
    Ok(EigshOptions { count: k, which, basis_size: ncv, max_restarts: maxiter, tol, shift, seed })
}

/// Eigenvalues of an operator for vectors of `dtype`: values, vectors, and a report.
#[pyfunction]
#[pyo3(signature = (a, dtype, v0, *, k, which, ncv, maxiter, tol, shift, seed))]
#[allow(clippy::too_many_arguments, reason = "what eigenvalues are asked for")]
fn sparse_eigsh<'py>(
    a: &BoundAny<'py>,
    dtype: &Bound<'py, PyArrayDescr>,
    v0: Option<Bound<'py, PyGpuArray>>,
    k: usize,
    which: &str,
    ncv: Option<usize>,
    maxiter: Option<usize>,
    tol: f64,
    shift: Option<f64>,
    seed: u64,
) -> PyResult<(Vec<f64>, BoundAny<'py>, Bound<'py, PyDict>)> {
    let (py, ctx) = (a.py(), array_context()?);
    let operator = extract(a, dtype_of_descr(dtype)?)?;
    let options = options(k, which, ncv, maxiter, tol, shift, seed)?;
    let start = v0.as_ref().map(core_array);
    let found = to_py_result(py, py.detach(|| eigsh(&ctx, &*operator, start.as_ref(), &options)))?;
    let report = PyDict::new(py);
    report.set_item("converged", found.is_converged)?;
    report.set_item("restarts", found.restarts)?;
    report.set_item("products", found.products)?;
    report.set_item("waits", found.waits)?;
    Ok((found.values, new_array(py, found.vectors)?, report))
}

/// Singular values of an operator and its adjoint: left vectors, values, right vectors, whether all were found.
#[pyfunction]
#[pyo3(signature = (a, adjoint, dtype, v0, *, k, which, ncv, maxiter, tol, seed))]
#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "what singular values are asked for")]
fn sparse_svds<'py>(
    a: &BoundAny<'py>,
    adjoint: &BoundAny<'py>,
    dtype: &Bound<'py, PyArrayDescr>,
    v0: Option<Bound<'py, PyGpuArray>>,
    k: usize,
    which: &str,
    ncv: Option<usize>,
    maxiter: Option<usize>,
    tol: f64,
    seed: u64,
) -> PyResult<(BoundAny<'py>, BoundAny<'py>, BoundAny<'py>, bool)> {
    let (py, ctx, dtype) = (a.py(), array_context()?, dtype_of_descr(dtype)?);
    let [a, adjoint] = [extract(a, dtype)?, extract(adjoint, dtype)?];
    let options = options(k, which, ncv, maxiter, tol, None, seed)?;
    let start = v0.as_ref().map(core_array);
    let found = to_py_result(py, py.detach(|| svds(&ctx, &*a, &*adjoint, start.as_ref(), &options)))?;
    Ok((new_array(py, found.u)?, new_array(py, found.s)?, new_array(py, found.vh)?, found.is_converged))
}

/// Eigenvalues of an operator problem, from a block of vectors: values, vectors, and a report.
#[pyfunction]
#[pyo3(signature = (a, x, b, m, y, *, tol, maxiter, largest))]
#[allow(clippy::too_many_arguments, reason = "what eigenvalues are asked for")]
fn sparse_lobpcg<'py>(
    a: &BoundAny<'py>,
    x: ArrayArg<'_, 'py>,
    b: Option<BoundAny<'py>>,
    m: Option<BoundAny<'py>>,
    y: Option<Bound<'py, PyGpuArray>>,
    tol: Option<f64>,
    maxiter: usize,
    largest: bool,
) -> PyResult<(Vec<f64>, BoundAny<'py>, Bound<'py, PyDict>)> {
    let (py, ctx, block) = (a.py(), array_context()?, core_array(x));
    let dtype = block.dtype();
    let a = extract(a, dtype)?;
    let [b, m] = [b, m].map(|operator| operator.map(|operator| extract(&operator, dtype)).transpose());
    let (b, m, constraints) = (b?, m?, y.as_ref().map(core_array));
    let options = LobpcgOptions { tol, max_iterations: maxiter, is_largest: largest };
    let solve = || {
        let [b, m] = [&b, &m].map(|operator| operator.as_ref().map(|operator| &**operator as &dyn LinearOperator));
        let problem = BlockProblem { a: &*a, b, m, constraints: constraints.as_ref() };
        lobpcg(&ctx, &problem, &block, &options)
    };
    let found = to_py_result(py, PyGpuArray::with_allocator_of(x, || py.detach(solve)))?;
    let report = PyDict::new(py);
    report.set_item("converged", found.is_converged)?;
    report.set_item("iterations", found.iterations)?;
    report.set_item("residuals", found.residuals)?;
    report.set_item("tolerance", found.tolerance)?;
    report.set_item("value_history", found.value_history)?;
    report.set_item("residual_history", found.residual_history)?;
    Ok((found.values, new_array(py, found.vectors)?, report))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, functions sparse_eigsh, sparse_svds, sparse_lobpcg; }
}
