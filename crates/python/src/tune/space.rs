//! Spaces, their configurations, expressions and searches as Python sees them.

use super::values::{config_from_dict, config_to_dict, space_error, value_from_object, value_to_object};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::driver::lock_ignoring_poison;
use rtcg::tune::formats::t1::T1;
use rtcg::tune::{
    Budget, ConfigPredicate, Configurations, Expression, Failure, FailureKind, History, Outcome, Search, Space,
    Strategy, Value, strategies,
};
use std::sync::{Arc, Mutex};

/// An expression over names.
#[pyclass(name = "Expression", module = "rtcg._native", frozen)]
pub(super) struct PyExpression(Expression);

#[pymethods]
impl PyExpression {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Expression::parse(text).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// The value for these values of the names.
    fn __call__<'py>(&self, py: Python<'py>, names: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let mut known = Vec::new();
        for name in self.0.names() {
            if let Some(value) = names.get_item(name)? {
                known.push((name.as_str(), value_from_object(&value)?));
            }
        }
        let lookup = |name: &str| known.iter().find(|known| known.0 == name).map(|known| known.1.clone());
        let value = self.0.evaluate(&lookup).map_err(|error| PyValueError::new_err(error.to_string()))?;
        value_to_object(py, &value)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// A search space; methods return a new one.
#[pyclass(name = "TuningSpace", module = "rtcg._native", frozen)]
#[derive(Clone, Default)]
pub(super) struct PySpace(Space);

#[pymethods]
impl PySpace {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// A space with one more parameter.
    #[pyo3(signature = (name, values, when = None, default = None))]
    fn with_parameter(
        &self,
        name: &str,
        values: &Bound<'_, PyAny>,
        when: Option<&str>,
        default: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let named = |error: PyErr| -> PyErr {
            PyValueError::new_err(format!("parameter {name:?}: {}", error.value(values.py())))
        };
        let items = values.try_iter().map_err(named)?;
        let values: PyResult<Vec<Value>> = items.map(|value| value_from_object(&value?)).collect();
        let values = values.map_err(named)?;
        let space = self.0.clone();
        let space = match when {
            Some(condition) => space.parameter_when(name, values, condition),
            None => space.parameter(name, values),
        };
        let space = space.map_err(space_error)?;
        match default {
            Some(value) => space.default_value(name, value_from_object(value)?).map(Self).map_err(space_error),
            None => Ok(Self(space)),
        }
    }

    /// A space with one more constraint: text, or a function of a dictionary.
    fn with_constraint(&self, constraint: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = constraint.extract::<String>() {
            return self.0.clone().require(&text).map(Self).map_err(space_error);
        }
        if !constraint.is_callable() {
            let shown = crate::errors::shown(constraint);
            return Err(PyValueError::new_err(format!("constraint is {shown}; expected text or a function")));
        }
        let name = constraint.getattr("__name__").map_or_else(|_| "function".to_owned(), |name| name.to_string());
        let function = constraint.clone().unbind();
        let predicate: ConfigPredicate = Arc::new(move |config| {
            Python::attach(|py| {
                let answer = config_to_dict(py, config).and_then(|dict| function.call1(py, (dict,)))?;
                answer.is_truthy(py)
            })
            .map_err(|error: PyErr| error.to_string())
        });
        Ok(Self(self.0.clone().require_function(&name, predicate)))
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    #[getter]
    fn constraints(&self) -> Vec<&str> {
        self.0.constraints().collect()
    }

    /// The values of a parameter.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let values = self.0.values(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let values: PyResult<Vec<_>> = values.iter().map(|value| value_to_object(py, value)).collect();
        PyList::new(py, values?)
    }

    /// The configuration with all defaults.
    fn default_config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        config_to_dict(py, &self.0.default_config())
    }

    /// Check that a configuration belongs to the space, else raise ValueError.
    fn check(&self, config: &Bound<'_, PyDict>) -> PyResult<()> {
        self.0.check(&config_from_dict(config)?).map_err(space_error)
    }

    /// All valid configurations.
    fn enumerate(&self, py: Python<'_>) -> PyResult<PyTable> {
        let table = py.detach(|| self.0.enumerate()).map_err(space_error)?;
        Ok(PyTable(Arc::new(table)))
    }

    /// `(space, kernel specification, the rest)` of a T1 file; the last two as JSON.
    #[staticmethod]
    fn from_t1(text: &str) -> PyResult<(Self, String, String)> {
        let file = T1::read(text).map_err(space_error)?;
        let [kernel, other] = [file.kernel, file.other].map(|map| rtcg::tune::formats::json_text(&map));
        Ok((Self(file.space), kernel, other))
    }

    /// The text of a T1 file; kernel and rest as JSON objects.
    fn to_t1(&self, kernel: &str, other: &str) -> PyResult<String> {
        let read = |text: &str| rtcg::tune::formats::json_object(text).map_err(space_error);
        Ok(T1 { space: self.0.clone(), kernel: read(kernel)?, other: read(other)? }.write())
    }
}

/// The valid configurations of a space.
#[pyclass(name = "TuningTable", module = "rtcg._native", frozen)]
pub(super) struct PyTable(pub(super) Arc<Configurations>);

#[pymethods]
impl PyTable {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The configuration of a row.
    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyDict>> {
        let at = if row < 0 { row + self.0.len() as isize } else { row };
        match u32::try_from(at).ok().filter(|&at| (at as usize) < self.0.len()) {
            Some(at) => config_to_dict(py, &self.0.config(at)),
            None => Err(PyIndexError::new_err(format!("row {row} is out of range of {}", self.0.len()))),
        }
    }

    /// The row of a configuration, or None.
    fn find(&self, config: &Bound<'_, PyDict>) -> PyResult<Option<u32>> {
        Ok(self.0.find_config(&config_from_dict(config)?))
    }
}

/// An exception that ends the search, such as a keyboard interrupt.
pub(super) type Interrupt = Arc<Mutex<Option<PyErr>>>;

/// The exception that ended a search.
pub(super) fn take_interrupt(interrupt: &Interrupt) -> Option<PyErr> {
    lock_ignoring_poison(interrupt).take()
}

/// Ends the search with an exception, unless it has one already.
pub(super) fn end_search(interrupt: &Interrupt, error: PyErr) {
    lock_ignoring_poison(interrupt).get_or_insert(error);
}

/// A strategy that is an object of Python's: `ask(count, table, tried, pending)` gives rows. What it raises ends the
/// search.
struct PythonStrategy {
    object: Py<PyAny>,
    interrupt: Interrupt,
}

impl Strategy for PythonStrategy {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let score = |outcome: &Outcome| if let Outcome::Score(score) = outcome { Some(*score) } else { None };
        let tried: Vec<(u32, Option<f64>)> =
            history.trials().iter().map(|trial| (trial.row, score(&trial.outcome))).collect();
        Python::attach(|py| {
            let table = PyTable(Arc::new(space.clone()));
            let rows = self.object.call_method1(py, "ask", (count, table, tried, pending.to_vec()));
            rows.and_then(|rows| rows.extract::<Vec<u32>>(py)).unwrap_or_else(|error| {
                end_search(&self.interrupt, error);
                Vec::new()
            })
        })
    }
}

/// The strategy that a name or an object stands for; `interrupt` gets what the object raises.
pub(super) fn strategy_from_object(
    strategy: &Bound<'_, PyAny>,
    seed: u64,
    interrupt: &Interrupt,
) -> PyResult<Box<dyn Strategy>> {
    let Ok(name) = strategy.extract::<String>() else {
        if strategy.hasattr("ask")? {
            let (object, interrupt) = (strategy.clone().unbind(), interrupt.clone());
            return Ok(Box::new(PythonStrategy { object, interrupt }));
        }
        let shown = crate::errors::shown(strategy);
        return Err(PyValueError::new_err(format!("strategy is {shown}; expected a name or an object with ask()")));
    };
    strategies::by_name(&name, seed).ok_or_else(|| {
        let known = strategies::NAMES.join(", ");
        PyValueError::new_err(format!("strategy is {name:?}; expected one of {known}"))
    })
}

/// The kind of failure of this name.
pub(super) fn failure_kind(name: &str) -> PyResult<FailureKind> {
    let known = FailureKind::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<_> = FailureKind::NAMES.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("failure is {name:?}; expected one of {}", names.join(", ")))
    })
}

/// A search with an ask-and-tell interface.
#[pyclass(name = "TuningSearch", module = "rtcg._native", frozen)]
pub(super) struct PySearch(Mutex<Search>, Interrupt);

impl PySearch {
    fn lock(&self) -> std::sync::MutexGuard<'_, Search> {
        lock_ignoring_poison(&self.0)
    }
}

#[pymethods]
impl PySearch {
    #[new]
    fn new(table: &PyTable, strategy: &Bound<'_, PyAny>, seed: u64) -> PyResult<Self> {
        let interrupt = Interrupt::default();
        let strategy = strategy_from_object(strategy, seed, &interrupt)?;
        Ok(Self(Mutex::new(Search::with_strategy(table.0.clone(), strategy)), interrupt))
    }

    fn start_with(&self, rows: Vec<u32>) {
        self.lock().start_with(&rows);
    }

    fn ask(&self, py: Python<'_>, count: usize) -> PyResult<Vec<u32>> {
        let rows = py.detach(|| self.lock().ask(count));
        take_interrupt(&self.1).map_or(Ok(rows), Err)
    }

    /// Tell a score, or with `failure` why there is none.
    #[pyo3(signature = (row, score, failure = None, message = ""))]
    fn tell(&self, row: u32, score: Option<f64>, failure: Option<&str>, message: &str) -> PyResult<()> {
        let outcome = match (score.filter(|score| score.is_finite()), failure) {
            (Some(score), None) => Outcome::Score(score),
            (_, kind) => Outcome::Failed(Failure::new(failure_kind(kind.unwrap_or("runtime"))?, message)),
        };
        let mut search = self.lock();
        if row as usize >= search.space().len() {
            return Err(PyIndexError::new_err(format!("row {row} is out of range of {}", search.space().len())));
        }
        search.tell(row, outcome);
        Ok(())
    }

    /// `(row, score)` of the best, or None.
    fn best(&self) -> Option<(u32, f64)> {
        self.lock().history().best()
    }
}

/// The seconds and evaluations that the text of a budget allows.
#[pyfunction]
pub(super) fn parse_budget(text: &str) -> PyResult<(Option<f64>, Option<usize>)> {
    let budget: Budget =
        text.parse().map_err(|error: rtcg::tune::BudgetError| PyValueError::new_err(error.to_string()))?;
    Ok((budget.seconds, budget.evaluations))
}
