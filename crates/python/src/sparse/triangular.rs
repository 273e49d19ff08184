//! Triangular systems and factors of `rtcg.sparse.linalg`.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse::csr::PyCsrMatrix;
use pyo3::prelude::*;
use rtcg::array::GpuArray;
use rtcg::sparse::{CsrDyn, Triangle, Triangular, TriangularFactors};
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

/// The triangle of a matrix as an object, or None if columns are not sorted. Waits.
#[pyfunction]
#[pyo3(signature = (matrix, is_lower, is_unit, source = None, target = None))]
fn sparse_triangular(
    matrix: &Bound<'_, PyCsrMatrix>,
    is_lower: bool,
    is_unit: bool,
    source: Option<Bound<'_, PyGpuArray>>,
    target: Option<Bound<'_, PyGpuArray>>,
) -> PyResult<Option<PyTriangular>> {
    let (py, csr) = (matrix.py(), matrix.get().csr.clone());
    let triangle = if is_lower { Triangle::Lower } else { Triangle::Upper };
    let [source, target] = [&source, &target].map(|array| array.as_ref().map(core_array));
    let analyse = || {
        let made = Triangular::analyse(csr, triangle, is_unit)?;
        made.map(|made| made.with_permutations(source, target)).transpose()
    };
    Ok(to_py_result(py, py.detach(analyse))?.map(|made| PyTriangular(Arc::new(made))))
}

/// Incomplete factors: ILU(0), or IC(0) of a lower triangle; None if columns are not sorted. Waits.
#[pyfunction]
fn sparse_incomplete(matrix: &Bound<'_, PyCsrMatrix>, is_cholesky: bool) -> PyResult<Option<PyTriangularFactors>> {
    let (py, csr) = (matrix.py(), matrix.get().csr.clone());
    let make = || if is_cholesky { TriangularFactors::ic0(&csr) } else { TriangularFactors::ilu0(&csr) };
    Ok(to_py_result(py, py.detach(make))?.map(|made| PyTriangularFactors(Arc::new(made))))
}

/// Colours of rows, counted from 1, and their number; None if columns are not sorted. Waits.
#[pyfunction]
fn sparse_colours(matrix: &Bound<'_, PyCsrMatrix>) -> PyResult<Option<(PyGpuArray, usize)>> {
    let (py, csr) = (matrix.py(), matrix.get().csr.clone());
    let found = to_py_result(py, py.detach(|| rtcg::sparse::colours(&csr)))?;
    Ok(found.map(|(colours, count)| (PyGpuArray::from_array(colours), count)))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyTriangular, PyTriangularFactors;
        functions sparse_triangular, sparse_incomplete, sparse_colours;
    }
}
