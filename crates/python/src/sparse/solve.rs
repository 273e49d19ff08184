//! The iterative solvers of `rtcg.sparse.linalg`.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::gpuarray::{PyGpuArray, to_py_result};
use crate::sparse::new_array;
use crate::sparse::operators::{BoxedOperator, extract_operator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::array::{ArrayError, DType, GpuArray};
use rtcg::sparse::{
    LinearOperator, Method, Preconditioner, SolveCallback, SolveOptions, SolveProgress, SolveReport, SolverMode,
    StopReason, System,
};
use std::collections::BTreeMap;

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

/// The operators of a system from Python.
struct SystemArg {
    a: BoxedOperator,
    adjoint: Option<BoxedOperator>,
    preconditioners: [PreconditionerArg; 2],
}

impl SystemArg {
    fn extract(
        a: &(BoundAny<'_>, Option<BoundAny<'_>>),
        [m, m2]: [&OperatorPair<'_>; 2],
        dtype: DType,
    ) -> PyResult<Self> {
        Ok(Self {
            a: extract_operator(&a.0, dtype)?,
            adjoint: a.1.as_ref().map(|adjoint| extract_operator(adjoint, dtype)).transpose()?,
            preconditioners: [PreconditionerArg::extract(m, dtype)?, PreconditionerArg::extract(m2, dtype)?],
        })
    }

    fn system(&self) -> System<'_> {
        let [m, m2] = &self.preconditioners;
        System {
            a: &*self.a,
            adjoint: as_operator(self.adjoint.as_ref()),
            m: m.preconditioner(),
            m_adjoint: as_operator(m.adjoint.as_ref()),
            m2: m2.preconditioner(),
            m2_adjoint: as_operator(m2.adjoint.as_ref()),
        }
    }
}

/// Calls the callback with the relative norms of new residuals, one at a time, or with the solution so far.
fn report_progress(
    callback: Option<&Py<PyAny>>,
    takes_norms: bool,
    progress: &SolveProgress<'_>,
) -> rtcg::array::Result<()> {
    let Some(callback) = callback else { return Ok(()) };
    Python::attach(|py| {
        let callback = callback.bind(py);
        if takes_norms {
            let mut norms = progress.residuals.iter().map(|norm| norm / progress.right_norms[0]);
            return norms.try_for_each(|norm| callback.call1((norm,)).map(drop));
        }
        callback.call1((new_array(py, progress.x.clone())?,)).map(drop)
    })
    .map_err(ArrayError::runtime_error)
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
    let system = SystemArg::extract(&a, [&m, &m2], dtype)?;
    let start = x0.as_ref().map(core_array);
    let mode = parse_mode(mode)?;
    let single = single.map(|(a, m)| SystemArg::extract(&(a, None), [&(m, None), &(None, None)], dtype)).transpose()?;
    let (max_iterations, kept_directions) = (maxiter, kept);
    let options =
        SolveOptions { rtol, atol, max_iterations, check_every, mode, history, numbers, restart, kept_directions };
    let solve = || {
        let mut call = |progress: &SolveProgress<'_>| report_progress(callback.as_ref(), takes_norms, progress);
        let callback: Option<SolveCallback<'_>> = if callback.is_some() { Some(&mut call) } else { None };
        let (system, start) = (system.system(), start.as_ref());
        if let Some(single) = &single {
            let single = single.system();
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

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sparse_solve, m)?)
}
