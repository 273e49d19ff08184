//! `CsrMatrix`: a matrix in compressed sparse rows, with a plan for its products. And checks of its structure.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse::formats::{PyBsrMatrix, PyDiaMatrix, PySellMatrix, plan_of_format};
use crate::sparse::new_array;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rtcg::sparse::{Bsr, CsrDyn, Dia, HotColumns, IndexElement, MatrixFeatures, Sell, SpmvPlan, compile_plan_kernels};

/// A matrix in compressed sparse rows. It shares the arrays that it was made from.
#[pyclass(name = "CsrMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PyCsrMatrix {
    pub(crate) csr: CsrDyn,
    #[pyo3(get)]
    data: Py<PyGpuArray>,
    #[pyo3(get)]
    indices: Py<PyGpuArray>,
    #[pyo3(get)]
    indptr: Py<PyGpuArray>,
}

#[pymethods]
impl PyCsrMatrix {
    /// Of arrays whose indices are known to be good.
    #[new]
    #[pyo3(signature = (shape, data, indices, indptr, longest_row = 0))]
    fn new(
        shape: [usize; 2],
        data: Bound<'_, PyGpuArray>,
        indices: Bound<'_, PyGpuArray>,
        indptr: Bound<'_, PyGpuArray>,
        longest_row: usize,
    ) -> PyResult<Self> {
        let csr = CsrDyn::new(shape, core_array(&data), core_array(&indices), core_array(&indptr));
        let csr = to_py_result(data.py(), csr)?.with_longest_row(longest_row);
        Ok(Self { csr, data: data.unbind(), indices: indices.unbind(), indptr: indptr.unbind() })
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.csr.shape().into()
    }

    #[getter]
    fn nnz(&self) -> usize {
        self.csr.nnz()
    }

    /// The same matrix with a plan for its products with vectors: "rows" of `lanes`, "merge", "hub" (with renumbered
    /// columns), or another format.
    #[pyo3(signature = (kernel, lanes = 1))]
    fn planned(&self, kernel: &BoundAny<'_>, lanes: u8) -> PyResult<Self> {
        let py = kernel.py();
        let plan = match kernel.extract::<&str>() {
            Ok("rows") => SpmvPlan::Rows { lanes },
            Ok("merge") => SpmvPlan::MergePath,
            Ok("hub") => to_py_result(py, HotColumns::from_csr(&self.csr))?.into(),
            _ => plan_of_format(kernel)?,
        };
        let csr = to_py_result(py, self.csr.clone().with_plan(plan))?;
        let [data, indices, indptr] = [&self.data, &self.indices, &self.indptr].map(|array| array.clone_ref(py));
        Ok(Self { csr, data, indices, indptr })
    }

    /// The features that a plan depends on: the longest row, the sum of squared lengths, the bandwidth, elements of
    /// slices of 32 rows, diagonals, and the fill of blocks of 2 to 6 rows and columns. Waits.
    fn features(&self, py: Python<'_>) -> PyResult<(usize, f64, usize, usize, usize, [f64; 5])> {
        let found = to_py_result(py, py.detach(|| MatrixFeatures::from_csr(&self.csr)))?;
        let MatrixFeatures { longest_row, squared_lengths, bandwidth, slice_elements, diagonals, block_fill } = found;
        Ok((longest_row, squared_lengths, bandwidth, slice_elements, diagonals, block_fill))
    }

    /// Compile the kernels that products with vectors of this dtype may use.
    fn compile_kernels(&self, py: Python<'_>) -> PyResult<()> {
        to_py_result(py, py.detach(|| compile_plan_kernels(&self.csr)))
    }

    /// This matrix in SELL-32-sigma, or None if that would store more than `max_fill` times the elements. Waits.
    fn to_sell(&self, py: Python<'_>, sigma: usize, max_fill: f64) -> PyResult<Option<PySellMatrix>> {
        let made = py.detach(|| Sell::from_csr(&self.csr, sigma, max_fill));
        Ok(to_py_result(py, made)?.map(PySellMatrix))
    }

    /// This matrix by its diagonals, or None if it has more than `max_diagonals` or rows of more than 256 elements.
    /// Waits.
    fn to_dia(&self, py: Python<'_>, max_diagonals: usize) -> PyResult<Option<PyDiaMatrix>> {
        let made = py.detach(|| Dia::from_csr(&self.csr, max_diagonals));
        Ok(to_py_result(py, made)?.map(PyDiaMatrix))
    }

    /// This matrix in dense blocks of `size` rows and columns, or None if those have more than `max_fill` times the
    /// elements. Waits.
    fn to_bsr(&self, py: Python<'_>, size: usize, max_fill: f64) -> PyResult<Option<PyBsrMatrix>> {
        let made = py.detach(|| Bsr::from_csr(&self.csr, size, max_fill));
        to_py_result(py, made)?.map(|bsr| PyBsrMatrix::from_bsr(py, bsr)).transpose()
    }

    /// The largest or smallest element of each row, and the first column that has it; does not wait.
    fn row_extremes<'py>(
        &self,
        py: Python<'py>,
        is_largest: bool,
        ignores_nan: bool,
    ) -> PyResult<(BoundAny<'py>, BoundAny<'py>)> {
        let [values, places] = to_py_result(py, self.csr.row_extremes(is_largest, ignores_nan))?;
        Ok((new_array(py, values)?, new_array(py, places)?))
    }

    /// The product with a dense matrix; does not wait.
    fn matmat<'py>(&self, x: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
        let dense = core_array(x);
        PyGpuArray::make_like(x, || self.csr.multiply_dense(&dense))
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
            None => PyGpuArray::make_like(x, || self.csr.multiply(&vector)),
            Some(out) => {
                to_py_result(x.py(), self.csr.multiply_into(&vector, &core_array(&out), accumulate))?;
                Ok(out.into_any())
            }
        }
    }
}

fn check<I: IndexElement + numpy::Element>(
    py: Python<'_>,
    shape: [usize; 2],
    indices: &PyReadonlyArray1<'_, I>,
    indptr: &PyReadonlyArray1<'_, I>,
) -> PyResult<()> {
    to_py_result(py, rtcg::sparse::check_structure(shape, indices.as_slice()?, indptr.as_slice()?))
}

/// Check the structure of a matrix on the host; both index arrays are int32 or int64.
#[pyfunction]
fn sparse_check(shape: [usize; 2], indices: &BoundAny<'_>, indptr: &BoundAny<'_>) -> PyResult<()> {
    let py = indices.py();
    if let (Ok(indices), Ok(indptr)) = (indices.extract(), indptr.extract()) {
        return check::<i32>(py, shape, &indices, &indptr);
    }
    check::<i64>(py, shape, &indices.extract()?, &indptr.extract()?)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyCsrMatrix>()?;
    m.add_function(wrap_pyfunction!(sparse_check, m)?)
}
