//! Linear operators from Python: matrices, V-cycles, triangles, and functions.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse::csr::PyCsrMatrix;
use crate::sparse::formats::PyDiaMatrix;
use crate::sparse::new_array;
use crate::sparse::triangular::{PyTriangular, PyTriangularFactors};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rtcg::array::{ArrayError, DType, GpuArray, Launch, Order, Result};
use rtcg::sparse::{LinearOperator, VCycle, VCycleLevel};
use std::sync::Arc;

/// A V-cycle of a multigrid hierarchy.
#[pyclass(name = "VCycle", module = "rtcg._native", frozen)]
pub(crate) struct PyVCycle(Arc<VCycle>);

type LevelArg<'py> =
    (Bound<'py, PyCsrMatrix>, Bound<'py, PyCsrMatrix>, Bound<'py, PyCsrMatrix>, Bound<'py, PyGpuArray>);

#[pymethods]
impl PyVCycle {
    /// Of levels (matrix, prolongation, restriction, damped inverse of the diagonal), and the inverse of the coarsest.
    #[new]
    fn new(py: Python<'_>, levels: Vec<LevelArg<'_>>, coarsest: &PyCsrMatrix, sweeps: usize) -> PyResult<Self> {
        let level = |(a, prolongation, restriction, smoother): &LevelArg<'_>| {
            let [a, prolongation, restriction] = [a, prolongation, restriction].map(|matrix| matrix.get().csr.clone());
            VCycleLevel { a, prolongation, restriction, smoother: core_array(smoother) }
        };
        let levels = levels.iter().map(level).collect();
        to_py_result(py, VCycle::new(levels, coarsest.csr.clone(), sweeps)).map(|cycle| Self(Arc::new(cycle)))
    }

    /// The cycle applied to a vector; does not wait.
    fn matvec<'py>(&self, x: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        let right = core_array(x);
        PyGpuArray::make_like(x, || {
            let right = right.to_contiguous()?;
            let y = GpuArray::empty(right.context(), right.shape(), right.dtype(), Order::C)?;
            self.0.apply(&right, &y)?;
            Ok(y)
        })
    }
}

/// An operator that Python has too.
struct SharedOperator<T>(Arc<T>);

impl<T: LinearOperator> LinearOperator for SharedOperator<T> {
    fn shape(&self) -> [usize; 2] {
        self.0.shape()
    }

    fn dtype(&self) -> DType {
        self.0.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        self.0.apply(x, y)
    }

    fn is_recordable(&self) -> bool {
        self.0.is_recordable()
    }

    fn launches(&self, x: &GpuArray, y: &GpuArray) -> Result<Option<Vec<Launch>>> {
        self.0.launches(x, y)
    }
}

/// An operator that is a function from Python.
struct PyFunctionOperator {
    function: Py<PyAny>,
    shape: [usize; 2],
    dtype: DType,
}

pub(crate) type BoxedOperator = Box<dyn LinearOperator + Send + Sync>;

/// A `CsrMatrix`, a `DiaMatrix`, or a function with its shape, for vectors of a dtype.
pub(crate) fn extract_operator(object: &BoundAny<'_>, dtype: DType) -> PyResult<BoxedOperator> {
    if let Ok(matrix) = object.cast::<PyCsrMatrix>() {
        return Ok(Box::new(matrix.get().csr.clone()));
    }
    if let Ok(matrix) = object.cast::<PyDiaMatrix>() {
        return Ok(Box::new(matrix.get().0.clone()));
    }
    if let Ok(cycle) = object.cast::<PyVCycle>() {
        return Ok(Box::new(SharedOperator(cycle.get().0.clone())));
    }
    if let Ok(triangle) = object.cast::<PyTriangular>() {
        return Ok(Box::new(SharedOperator(triangle.get().0.clone())));
    }
    if let Ok(factors) = object.cast::<PyTriangularFactors>() {
        return Ok(Box::new(SharedOperator(factors.get().0.clone())));
    }
    let Ok((function, shape)) = object.extract::<(Py<PyAny>, [usize; 2])>() else {
        return Err(PyTypeError::new_err("an operator is a CsrMatrix, a DiaMatrix, or a callable with its shape"));
    };
    Ok(Box::new(PyFunctionOperator { function, shape, dtype }))
}

impl LinearOperator for PyFunctionOperator {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        Python::attach(|py| {
            let result = self.function.bind(py).call1((new_array(py, x.clone())?,))?;
            let Ok(result) = result.cast::<PyGpuArray>() else {
                let message = format!("an operator returned {}; expected a GPUArray", result.get_type());
                return Err(PyTypeError::new_err(message));
            };
            let result = core_array(result);
            let flat = if result.ndim() == 2 { to_py_result(py, result.reshape(&[-1], Order::C))? } else { result };
            to_py_result(py, y.assign(&flat))
        })
        .map_err(ArrayError::runtime_error)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyVCycle>()
}
