//! Formats of `rtcg.sparse` beside compressed rows, and checks of index arrays on the device.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rtcg::array::GpuArray;
use rtcg::sparse::{Bsr, Dia, ProductFormat, Sell, SpmvPlan};

/// A matrix of diagonals.
#[pyclass(name = "DiaMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PyDiaMatrix(pub(crate) Dia);

#[pymethods]
impl PyDiaMatrix {
    #[new]
    fn new(shape: [usize; 2], data: ArrayArg<'_, '_>, offsets: ArrayArg<'_, '_>) -> PyResult<Self> {
        to_py_result(data.py(), Dia::new(shape, core_array(data), core_array(offsets))).map(Self)
    }

    /// The product with a vector; does not wait.
    fn matvec<'py>(&self, x: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        let vector = core_array(x);
        PyGpuArray::make_like(x, || self.0.multiply(&vector))
    }
}

/// A matrix in slices of 32 rows; see `rtcg_sparse::Sell`.
#[pyclass(name = "SellMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PySellMatrix(pub(crate) Sell);

#[pymethods]
impl PySellMatrix {
    /// The number of stored elements, including the padding of slices.
    #[getter]
    fn stored(&self) -> usize {
        self.0.stored()
    }

    /// Whether column indices have 16 bits.
    #[getter]
    fn has_short_columns(&self) -> bool {
        self.0.has_short_columns()
    }

    /// The number of bytes of the matrix that a product reads.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// The product with a vector; does not wait.
    fn matvec<'py>(&self, x: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        let vector = core_array(x);
        PyGpuArray::make_like(x, || self.0.multiply(&vector))
    }
}

/// A matrix of dense blocks; see `rtcg_sparse::Bsr`.
#[pyclass(name = "BsrMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PyBsrMatrix {
    bsr: Bsr,
    #[pyo3(get)]
    data: Py<PyGpuArray>,
    #[pyo3(get)]
    indices: Py<PyGpuArray>,
    #[pyo3(get)]
    indptr: Py<PyGpuArray>,
}

impl PyBsrMatrix {
    pub(crate) fn from_bsr(py: Python<'_>, bsr: Bsr) -> PyResult<Self> {
        let new = |array: &GpuArray| Ok::<_, PyErr>(Bound::new(py, PyGpuArray::from_array(array.clone()))?.unbind());
        let [data, indices, indptr] = bsr.parts().map(new);
        Ok(Self { data: data?, indices: indices?, indptr: indptr?, bsr })
    }
}

#[pymethods]
impl PyBsrMatrix {
    /// Of arrays whose indices are known to be good.
    #[new]
    fn new(
        shape: [usize; 2],
        data: Bound<'_, PyGpuArray>,
        indices: Bound<'_, PyGpuArray>,
        indptr: Bound<'_, PyGpuArray>,
    ) -> PyResult<Self> {
        let bsr = Bsr::new(shape, core_array(&data), core_array(&indices), core_array(&indptr));
        let bsr = to_py_result(data.py(), bsr)?;
        Ok(Self { bsr, data: data.unbind(), indices: indices.unbind(), indptr: indptr.unbind() })
    }

    /// The number of bytes of the matrix that a product reads.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bsr.nbytes()
    }

    /// The product with a vector, in `out` or in a new array; does not wait.
    #[pyo3(signature = (x, out = None, accumulate = false))]
    fn matvec<'py>(
        &self,
        x: ArrayArg<'_, 'py>,
        out: Option<Bound<'py, PyGpuArray>>,
        accumulate: bool,
    ) -> PyResult<BoundAny<'py>> {
        let vector = core_array(x);
        match out {
            None => PyGpuArray::make_like(x, || self.bsr.multiply(&vector)),
            Some(out) => {
                to_py_result(x.py(), self.bsr.multiply_into(&vector, &core_array(&out), accumulate))?;
                Ok(out.into_any())
            }
        }
    }

    /// The product with a dense matrix; does not wait.
    fn matmat<'py>(&self, x: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        let dense = core_array(x);
        PyGpuArray::make_like(x, || self.bsr.multiply_dense(&dense))
    }
}

/// The plan that a matrix of another format is for one in compressed rows.
pub(crate) fn plan_of_format(matrix: &BoundAny<'_>) -> PyResult<SpmvPlan> {
    if let Ok(sell) = matrix.cast::<PySellMatrix>() {
        return Ok(sell.get().0.clone().into());
    }
    if let Ok(dia) = matrix.cast::<PyDiaMatrix>() {
        return Ok(dia.get().0.clone().into());
    }
    if let Ok(bsr) = matrix.cast::<PyBsrMatrix>() {
        return Ok(bsr.get().bsr.clone().into());
    }
    Err(PyTypeError::new_err("a plan is 'rows', 'merge', 'hub', a SellMatrix, a DiaMatrix or a BsrMatrix"))
}

/// The smallest and the largest of int32 or int64 indices on the device, or None if there are none. Waits.
#[pyfunction]
fn sparse_index_extremes(indices: ArrayArg<'_, '_>) -> PyResult<Option<[i64; 2]>> {
    let (py, array) = (indices.py(), core_array(indices));
    Ok(to_py_result(py, py.detach(|| rtcg::sparse::index_extremes(&array, None)))?.indices)
}

/// Check a structure on the device; returns the number of elements and that of the longest row; waits once.
#[pyfunction]
fn sparse_check_device(shape: [usize; 2], indices: ArrayArg<'_, '_>, indptr: ArrayArg<'_, '_>) -> PyResult<[usize; 2]> {
    let (py, indices, indptr) = (indices.py(), core_array(indices), core_array(indptr));
    to_py_result(py, py.detach(|| rtcg::sparse::check_device_structure(shape, &indices, &indptr)))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyDiaMatrix, PySellMatrix, PyBsrMatrix;
        functions sparse_index_extremes, sparse_check_device;
    }
}
