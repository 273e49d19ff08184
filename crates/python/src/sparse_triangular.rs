//! Triangular systems and factors of `rtcg.sparse.linalg`.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use pyo3::prelude::*;
use rtcg::array::GpuArray;
use rtcg::sparse::{CsrDyn, Triangular, TriangularFactors};
use std::sync::Arc;

/// An analysed triangle of a matrix; see `rtcg_sparse::Triangular`.
#[pyclass(name = "Triangular", module = "rtcg._native", frozen)]
pub(crate) struct PyTriangular(pub(crate) Arc<Triangular>);

/// Two analysed triangles; see `rtcg_sparse::TriangularFactors`.
#[pyclass(name = "TriangularFactors", module = "rtcg._native", frozen)]
pub(crate) struct PyTriangularFactors(pub(crate) Arc<TriangularFactors>);

fn solved<'py>(
    b: ArrayArg<'_, 'py>,
    solve: impl FnOnce(&GpuArray) -> rtcg::array::Result<GpuArray>,
) -> PyResult<BoundAny<'py>> {
    let right = core_array(b);
    PyGpuArray::make_like(b, || solve(&right))
}

/// Shape, and the arrays of the matrix of a triangle.
fn matrix_parts(csr: &CsrDyn) -> ([usize; 2], [PyGpuArray; 3]) {
    (csr.shape(), [csr.data(), csr.indices(), csr.indptr()].map(|array| PyGpuArray::from_array(array.clone())))
}

#[pymethods]
impl PyTriangular {
    /// The number of levels of rows that must be solved one after the other.
    #[getter]
    fn levels(&self) -> usize {
        self.0.levels()
    }

    /// The solution for a vector or for each column of a matrix; does not wait.
    fn solve<'py>(&self, b: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        solved(b, |b| self.0.solve(b))
    }

    /// The transposed triangle, or the adjoint one; waits.
    fn transposed(&self, py: Python<'_>, conjugated: bool) -> PyResult<Self> {
        Ok(Self(Arc::new(to_py_result(py, py.detach(|| self.0.transposed(conjugated)))?)))
    }
}

#[pymethods]
impl PyTriangularFactors {
    #[new]
    fn new(first: &Bound<'_, PyTriangular>, second: &Bound<'_, PyTriangular>) -> PyResult<Self> {
        let [first_of, second_of] = [first, second].map(|factor| Triangular::clone(&factor.get().0));
        Ok(Self(Arc::new(to_py_result(first.py(), TriangularFactors::new(first_of, second_of))?)))
    }

    /// The levels of both factors.
    #[getter]
    fn levels(&self) -> [usize; 2] {
        self.0.factors().map(Triangular::levels)
    }

    /// The matrix of which a factor is a triangle: shape, and data, indices and indptr.
    fn parts(&self, which: usize) -> ([usize; 2], [PyGpuArray; 3]) {
        matrix_parts(self.0.factors()[which.min(1)].matrix())
    }

    /// The solution for a vector or for each column of a matrix; does not wait.
    fn solve<'py>(&self, b: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        solved(b, |b| self.0.solve(b))
    }

    /// The factors of the transpose, or of the adjoint; waits.
    fn transposed(&self, py: Python<'_>, conjugated: bool) -> PyResult<Self> {
        Ok(Self(Arc::new(to_py_result(py, py.detach(|| self.0.transposed(conjugated)))?)))
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyTriangular>()?;
    m.add_class::<PyTriangularFactors>()
}
