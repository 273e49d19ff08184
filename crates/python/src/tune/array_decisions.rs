//! The decisions of arrays' kernels as Python tunes them.

use super::space::PyTable;
use super::store::PyKernelKey;
use super::values::{config_from_dict, config_to_dict, space_error, value_to_object};
use crate::errors::OrRaise;
use crate::gpuarray::context::array_context;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::array_tuning::{
    DecisionCall, StoredChoices, compile_with_config, config_from_values, decision_key, decision_problem,
    decision_space, record_decisions, shipped_incumbents, values_of_config, with_forced_config,
};
use rtcg::tune::{device_key, results_store};
use std::sync::Arc;

/// A decision that a call encountered.
#[pyclass(name = "ArrayDecision", module = "rtcg._native", frozen)]
pub(super) struct PyArrayDecision(DecisionCall);

impl PyArrayDecision {
    fn choice(&self, config: &Bound<'_, PyDict>) -> PyResult<rtcg::array::tuning::Config> {
        let refuse = |reason: String| PyValueError::new_err(format!("{}: {reason}", self.name()));
        config_from_values(self.0.problem.decision, &config_from_dict(config)?)
            .ok_or_else(|| refuse(format!("{config} has a value that is no candidate")))
    }
}

#[pymethods]
impl PyArrayDecision {
    #[getter]
    fn name(&self) -> &str {
        self.0.problem.decision.name
    }

    #[getter]
    fn key(&self) -> PyKernelKey {
        PyKernelKey(decision_key(self.0.problem.decision))
    }

    /// The problem by which results are looked up.
    #[getter]
    fn problem<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in &decision_problem(&self.0.problem).0 {
            dict.set_item(name, value_to_object(py, value)?)?;
        }
        Ok(dict)
    }

    /// The choice that the call ran with.
    #[getter]
    fn current<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        config_to_dict(py, &values_of_config(&self.0.current))
    }

    /// The choice of the default rule.
    #[getter]
    fn rule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        config_to_dict(py, &values_of_config(&self.0.rule))
    }

    /// The best shipped choices of the nearest device and problem.
    fn shipped_incumbents<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let device = device_key(&rtcg::driver::Context::current_device().or_raise()?).or_raise()?;
        let configs = shipped_incumbents(&self.0.problem, &device, count);
        configs.iter().map(|config| config_to_dict(py, &values_of_config(config))).collect()
    }

    /// All choices that kernels can run with.
    fn table(&self) -> PyResult<PyTable> {
        let space = decision_space(&self.0.problem, array_context()?.device_info()).map_err(space_error)?;
        Ok(PyTable(space.into()))
    }

    /// Compile on this thread the kernels that a function needs with this choice; the function launches nothing.
    fn compile(&self, config: &Bound<'_, PyDict>, call: &Bound<'_, PyAny>) -> PyResult<()> {
        let config = self.choice(config)?;
        compile_with_config(&*array_context()?, &self.0.problem, &config, || call.call0()).map(drop)
    }

    /// Call a function with this choice in force.
    fn force<'py>(&self, config: &Bound<'py, PyDict>, call: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let config = self.choice(config)?;
        let (result, taken) = with_forced_config(&*array_context()?, &self.0.problem, &config, || call.call0());
        let result = result?;
        taken.map_err(|refusal| PyValueError::new_err(refusal.to_string()))?;
        Ok(result)
    }
}

/// Call a function and record the decisions about array kernels that it encounters: `(result, decisions)`.
#[pyfunction]
pub(super) fn record_array_decisions<'py>(
    call: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Vec<PyArrayDecision>)> {
    let (result, met) = record_decisions(&*array_context()?, || call.call0());
    Ok((result?, met.into_iter().map(PyArrayDecision).collect()))
}

/// Make arrays of the current context follow the stored choices, or the default rules.
#[pyfunction]
pub(super) fn follow_stored_choices(is_followed: bool) -> PyResult<()> {
    let choices = || -> PyResult<Arc<StoredChoices>> {
        let device = rtcg::driver::Context::current_device().or_raise()?;
        Ok(Arc::new(StoredChoices::new(device_key(&device).or_raise()?, results_store())))
    };
    let choices = if is_followed { Some(choices()?) } else { None };
    array_context()?.install_choices(choices.map(|choices| choices as _));
    Ok(())
}

/// `(name, what is decided, [(parameter, what it is, candidates), ...], hash of its key)` of every decision.
#[pyfunction]
pub(super) fn array_decisions<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let rows: PyResult<Vec<_>> = rtcg::array_tuning::decisions()
        .into_iter()
        .map(|decision| {
            let parameter = |parameter: &rtcg::array::tuning::Parameter| {
                let values: Vec<String> = parameter.values.iter().map(ToString::to_string).collect();
                (parameter.name, parameter.doc.trim(), values)
            };
            let parameters: Vec<_> = decision.parameters.iter().map(parameter).collect();
            (decision.name, decision.doc, parameters, decision_key(decision).hash).into_pyobject(py)
        })
        .collect();
    PyList::new(py, rows?)
}
