//! Native parts of `rtcg.sparse`: matrices in compressed sparse rows, and iterative solvers.

use crate::gpuarray::{PyGpuArray, to_py_result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::array::{ArrayError, DType, GpuArray, Launch, Order, Result};
use rtcg::sparse::{
    Bsr, CsrDyn, Dia, Hub, IndexElement, LinearOperator, MatrixFeatures, Method, Preconditioner, Sell, SolveCallback,
    SolveOptions, SolveProgress, SolveReport, SolverMode, SpmvPlan, StopReason, System, Triangle, Triangular,
    TriangularFactors, VCycle, VCycleLevel, compile_plan_kernels, gallery,
};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::sparse_formats::{PyBsrMatrix, PyDiaMatrix, PySellMatrix, plan_of_format};
use crate::sparse_triangular::{PyTriangular, PyTriangularFactors};

pub(crate) fn new_array(py: Python<'_>, array: GpuArray) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, PyGpuArray::from_array(array))?.into_any())
}

/// A matrix in compressed sparse rows. It shares the arrays that it was made from.
#[pyclass(name = "CsrMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PyCsrMatrix {
    pub(crate) csr: CsrDyn,
    data: Py<PyGpuArray>,
    indices: Py<PyGpuArray>,
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

    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyGpuArray> {
        self.data.clone_ref(py)
    }

    #[getter]
    fn indices(&self, py: Python<'_>) -> Py<PyGpuArray> {
        self.indices.clone_ref(py)
    }

    #[getter]
    fn indptr(&self, py: Python<'_>) -> Py<PyGpuArray> {
        self.indptr.clone_ref(py)
    }

    /// The same matrix with a plan for its products with vectors: "rows" of `lanes`, "merge", "hub" (with renumbered
    /// columns), or another format.
    #[pyo3(signature = (kernel, lanes = 1))]
    fn planned(&self, kernel: &BoundAny<'_>, lanes: u8) -> PyResult<Self> {
        let py = kernel.py();
        let plan = match kernel.extract::<&str>() {
            Ok("rows") => SpmvPlan::Rows { lanes },
            Ok("merge") => SpmvPlan::MergePath,
            Ok("hub") => to_py_result(py, Hub::from_csr(&self.csr))?.into(),
            _ => plan_of_format(kernel)?,
        };
        let csr = to_py_result(py, self.csr.clone().with_plan(plan))?;
        let [data, indices, indptr] = [&self.data, &self.indices, &self.indptr].map(|array| array.clone_ref(py));
        Ok(Self { csr, data, indices, indptr })
    }

    /// The features that a plan depends on: the longest row, the sum of squared lengths, the bandwidth, elements of
    /// slices of 32 rows, diagonals, and the fill of blocks of 2 to 6 rows and columns. Waits.
    fn features(&self, py: Python<'_>) -> PyResult<(usize, f64, usize, usize, usize, [f64; 5])> {
        let found = to_py_result(py, py.detach(|| MatrixFeatures::of(&self.csr)))?;
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
        to_py_result(py, made)?.map(|bsr| PyBsrMatrix::of(py, bsr)).transpose()
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

fn parse_mode(mode: &str) -> PyResult<SolverMode> {
    Ok(match mode {
        "auto" => SolverMode::Auto,
        "stream" => SolverMode::Stream,
        "graph" => SolverMode::Graph,
        "device" => SolverMode::Device,
        "persistent" => SolverMode::Persistent,
        _ => {
            let message = format!("mode is '{mode}'; expected 'auto', 'stream', 'graph', 'device' or 'persistent'");
            return Err(PyValueError::new_err(message));
        }
    })
}

fn mode_name(mode: SolverMode) -> &'static str {
    match mode {
        SolverMode::Auto => "auto",
        SolverMode::Stream => "stream",
        SolverMode::Graph => "graph",
        SolverMode::Device => "device",
        SolverMode::Persistent => "persistent",
    }
}

/// A word for why iterations ended, and SciPy's code of a breakdown.
fn reason_name(reason: StopReason) -> (&'static str, i32) {
    match reason {
        StopReason::Converged => ("converged", 0),
        StopReason::MaxIterations => ("maxiter", 0),
        StopReason::Stagnated => ("stagnated", 0),
        StopReason::Breakdown(code) => ("breakdown", code),
    }
}

/// The report as a dictionary.
fn report_object(py: Python<'_>, report: SolveReport) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let (reason, code) = reason_name(report.reason);
    dict.set_item("reason", reason)?;
    dict.set_item("code", code)?;
    dict.set_item("iterations", report.iterations)?;
    dict.set_item("wasted_iterations", report.wasted_iterations)?;
    dict.set_item("restarts", report.restarts)?;
    dict.set_item("waits_in_loop", report.waits_in_loop)?;
    dict.set_item("waits_at_end", report.waits_at_end)?;
    dict.set_item("residual", report.residual)?;
    dict.set_item("recurrence_residual", report.recurrence_residual)?;
    dict.set_item("threshold", report.threshold)?;
    dict.set_item("mode", mode_name(report.mode))?;
    dict.set_item("mode_reason", report.mode_reason)?;
    dict.set_item("history", report.history)?;
    dict.set_item("scalars", report.scalars)?;
    Ok(dict)
}

/// A preconditioner from Python: nothing, a vector (a diagonal), or an operator; and the adjoint of an operator.
struct PreconditionerArg {
    diagonal: Option<GpuArray>,
    operator: Option<BoxedOperator>,
    adjoint: Option<BoxedOperator>,
}

impl PreconditionerArg {
    fn extract(pair: &(Option<BoundAny<'_>>, Option<BoundAny<'_>>), dtype: DType) -> PyResult<Self> {
        let diagonal = pair.0.as_ref().and_then(|m| m.cast::<PyGpuArray>().ok()).map(core_array);
        let operator = pair.0.as_ref().filter(|_| diagonal.is_none());
        let extract = |object: Option<&BoundAny<'_>>| object.map(|m| extract_operator(m, dtype)).transpose();
        Ok(Self { operator: extract(operator)?, adjoint: extract(pair.1.as_ref())?, diagonal })
    }

    fn preconditioner(&self) -> Preconditioner<'_> {
        match (&self.diagonal, &self.operator) {
            (Some(diagonal), _) => Preconditioner::Diagonal(diagonal.clone()),
            (None, Some(operator)) => Preconditioner::Operator(&**operator),
            (None, None) => Preconditioner::Identity,
        }
    }
}

fn as_operator(boxed: Option<&BoxedOperator>) -> Option<&dyn LinearOperator> {
    boxed.map(|operator| &**operator as &dyn LinearOperator)
}

type OptionalPair<'py> = Option<(BoundAny<'py>, Option<BoundAny<'py>>)>;
type OperatorPair<'py> = (Option<BoundAny<'py>>, Option<BoundAny<'py>>);

/// Solve a system by the named method. `a`, `m` and `m2` are pairs of an operator and its adjoint; `single` is
/// the matrix and the preconditioner in single precision for iterative refinement. Returns the solution and a
/// report for each right-hand side. With `takes_norms` the callback gets the norms of residuals relative to that of
/// `b`, one at a time.
#[pyfunction]
#[pyo3(signature = (method, a, b, x0, m, m2, *, rtol, atol, maxiter, check_every, mode, history, callback, numbers, restart = 20, kept = 20, takes_norms = false, single = None))]
#[allow(clippy::too_many_arguments, reason = "what a solver is asked for")]
fn sparse_solve<'py>(
    method: &str,
    a: (BoundAny<'py>, Option<BoundAny<'py>>),
    b: ArrayArg<'_, 'py>,
    x0: Option<Bound<'py, PyGpuArray>>,
    m: OperatorPair<'py>,
    m2: OperatorPair<'py>,
    rtol: f64,
    atol: f64,
    maxiter: usize,
    check_every: usize,
    mode: &str,
    history: bool,
    callback: Option<Py<PyAny>>,
    numbers: BTreeMap<String, f64>,
    restart: usize,
    kept: usize,
    takes_norms: bool,
    single: OptionalPair<'py>,
) -> PyResult<(BoundAny<'py>, Vec<Bound<'py, PyDict>>)> {
    let (py, right) = (b.py(), core_array(b));
    let dtype = right.dtype();
    let Some(method) = Method::of_name(method) else {
        return Err(PyValueError::new_err(format!("method is '{method}', which is no solver")));
    };
    let operator = extract_operator(&a.0, dtype)?;
    let adjoint = a.1.as_ref().map(|adjoint| extract_operator(adjoint, dtype)).transpose()?;
    let [m, m2] = [PreconditionerArg::extract(&m, dtype)?, PreconditionerArg::extract(&m2, dtype)?];
    let start = x0.as_ref().map(core_array);
    let mode = parse_mode(mode)?;
    let single = single.as_ref().map(|(a, m)| -> PyResult<_> {
        let m = PreconditionerArg::extract(&(m.clone(), None), dtype)?;
        Ok((extract_operator(a, dtype)?, m))
    });
    let single = single.transpose()?;
    let (max_iterations, kept_directions) = (maxiter, kept);
    let options =
        SolveOptions { rtol, atol, max_iterations, check_every, mode, history, numbers, restart, kept_directions };
    let solve = || {
        let system = System {
            a: &*operator,
            adjoint: as_operator(adjoint.as_ref()),
            m: m.preconditioner(),
            m_adjoint: as_operator(m.adjoint.as_ref()),
            m2: m2.preconditioner(),
            m2_adjoint: as_operator(m2.adjoint.as_ref()),
        };
        let mut call = |progress: &SolveProgress<'_>| {
            Python::attach(|py| match &callback {
                Some(callback) if takes_norms => {
                    let mut norms = progress.residuals.iter().map(|norm| norm / progress.right_norms[0]);
                    norms.try_for_each(|norm| callback.bind(py).call1((norm,)).map(drop))
                }
                Some(callback) => callback.bind(py).call1((new_array(py, progress.x.clone())?,)).map(drop),
                None => Ok(()),
            })
            .map_err(ArrayError::runtime_error)
        };
        let callback: Option<SolveCallback<'_>> = if callback.is_some() { Some(&mut call) } else { None };
        let start = start.as_ref();
        if let Some((a, m)) = &single {
            let single = System { m: m.preconditioner(), ..System::from(&**a as &dyn LinearOperator) };
            let report = rtcg::sparse::solve_refined(&method, &system, &single, &right, start, &options, callback)?;
            return Ok((report.x.clone(), vec![report]));
        }
        if right.ndim() == 2 {
            return rtcg::sparse::solve_columns(&method, &system, &right, start, &options, callback);
        }
        let report = rtcg::sparse::solve(&method, &system, &right, start, &options, callback)?;
        Ok((report.x.clone(), vec![report]))
    };
    let found = PyGpuArray::with_allocator_of(b, || py.detach(solve));
    let (x, reports) = to_py_result(py, found)?;
    let reports = reports.into_iter().map(|report| report_object(py, report)).collect::<PyResult<_>>()?;
    Ok((new_array(py, x)?, reports))
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

/// A matrix of `rtcg.sparse.gallery` by name: shape, data, indices, indptr.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "three arrays")]
fn sparse_gallery<'py>(
    py: Python<'py>,
    name: &str,
    lengths: Vec<usize>,
    number: f64,
    seed: u64,
) -> PyResult<([usize; 2], Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let made = py.detach(|| {
        Some(match (name, lengths.as_slice()) {
            ("poisson", lengths) => gallery::poisson(lengths),
            ("poisson_box", lengths) => gallery::poisson_box(lengths),
            ("anisotropic", &[rows, columns]) => gallery::anisotropic([rows, columns], number),
            ("convection_diffusion", &[rows, columns]) => gallery::convection_diffusion([rows, columns], number),
            ("rmat", &[scale, edge_factor]) if scale < 32 => gallery::rmat(scale as u32, edge_factor, seed),
            ("power_law", &[n, links]) => gallery::power_law(n, links, seed),
            ("banded", &[n, bandwidth, row_length]) => gallery::banded(n, bandwidth, row_length, seed),
            ("circuit", &[n, dense]) => gallery::circuit(n, dense, seed),
            ("linear_program", &[rows, columns, length]) => gallery::linear_program([rows, columns], length, seed),
            ("block_diagonal", &[n, block]) => gallery::block_diagonal(n, block, seed),
            ("arrow", &[n]) => gallery::arrow(n),
            ("elasticity", lengths @ ([_, _] | [_, _, _])) => gallery::elasticity(lengths, 1.0, number),
            ("delaunay", &[side, is_permuted]) => gallery::delaunay(side, is_permuted > 0, seed),
            ("quadratic_tetrahedra", &[x, y, z]) => gallery::quadratic_tetrahedra([x, y, z]),
            ("discontinuous", &[rows, columns, block]) => gallery::discontinuous([rows, columns], block, seed),
            ("road_network", &[side]) => gallery::road_network(side, seed),
            _ => return None,
        })
    });
    let Some(matrix) = made else {
        return Err(PyValueError::new_err(format!("'{name}' of {lengths:?} is no matrix of the gallery")));
    };
    let [indices, indptr] = [matrix.indices, matrix.indptr].map(|list| PyArray1::from_vec(py, list));
    Ok((matrix.shape, PyArray1::from_vec(py, matrix.data), indices, indptr))
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
    m.add_class::<PyDiaMatrix>()?;
    m.add_class::<PyVCycle>()?;
    m.add_function(wrap_pyfunction!(sparse_gallery, m)?)?;
    m.add_function(wrap_pyfunction!(sparse_check, m)?)?;
    m.add_function(wrap_pyfunction!(sparse_triangular, m)?)?;
    m.add_function(wrap_pyfunction!(sparse_incomplete, m)?)?;
    m.add_function(wrap_pyfunction!(sparse_colours, m)?)?;
    m.add_function(wrap_pyfunction!(sparse_solve, m)?)
}
