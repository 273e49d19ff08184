//! The tuning loop over an object of Python's.

use super::measuring::{PyObjective, current_sensors, sensor_by_name};
use super::space::{Interrupt, PyTable, end_search, failure_kind, strategy_from_object, take_interrupt};
use super::values::config_to_dict;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::driver::lock_ignoring_poison;
use rtcg::tune::statistics::WindowPlan;
use rtcg::tune::{
    Budget, Compiler, Config, Event, Failure, FailureKind, Limit, Objective, Outcome, Report, Resources, StopReason,
    Target, TrialReport, TunerOptions, WindowKind, tune,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A target of Python's: an object with `compile`, `load`, `verify` and `time`.
struct PythonTarget {
    object: Py<PyAny>,
    /// `observe(trial)` gives a dictionary of more numbers.
    observe: Py<PyAny>,
    tick_seconds: f64,
    is_noisy: bool,
    interrupt: Interrupt,
}

/// The failure that an exception of a candidate stands for. One that is no `Exception` ends the search.
fn failure_of_exception(py: Python<'_>, error: PyErr, interrupt: &Interrupt) -> Failure {
    if !error.is_instance_of::<PyException>(py) {
        let message = error.to_string();
        end_search(interrupt, error);
        return Failure::new(FailureKind::Skipped, message);
    }
    let value = error.value(py);
    let text = |name: &str| value.getattr(name).ok()?.extract::<String>().ok();
    let kind = text("kind").and_then(|name| failure_kind(&name).ok());
    match (kind, text("message")) {
        (Some(kind), Some(message)) => Failure::new(kind, message),
        _ if error.get_type(py).name().is_ok_and(|name| name == "CompileError") => {
            Failure::new(FailureKind::Compile, value.to_string())
        }
        _ => Failure::new(FailureKind::Runtime, error.to_string()),
    }
}

impl PythonTarget {
    fn call<T>(&self, body: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failure> {
        Python::attach(|py| {
            body(self.object.bind(py)).map_err(|error| failure_of_exception(py, error, &self.interrupt))
        })
    }
}

impl Target for PythonTarget {
    type Compiled = Py<PyAny>;

    fn compiler(&self) -> Compiler<Py<PyAny>> {
        let (object, interrupt) = Python::attach(|py| (self.object.clone_ref(py), self.interrupt.clone()));
        Arc::new(move |config| {
            Python::attach(|py| {
                let compiled = config_to_dict(py, config).and_then(|dict| object.call_method1(py, "compile", (dict,)));
                compiled.map_err(|error| failure_of_exception(py, error, &interrupt))
            })
        })
    }

    fn load(&mut self, config: &Config, compiled: &Py<PyAny>) -> Result<Resources, Failure> {
        self.call(|object| {
            let answer = object.call_method1("load", (config_to_dict(object.py(), config)?, compiled))?;
            if answer.is_none() {
                return Ok(Resources::default());
            }
            let get = |name: &str| answer.get_item(name).ok().filter(|value| !value.is_none());
            Ok(Resources {
                registers: get("registers").and_then(|value| value.extract().ok()),
                spill_bytes: get("spill_bytes").and_then(|value| value.extract().ok()),
                shared_bytes: get("shared_bytes").and_then(|value| value.extract().ok()),
                occupancy: get("occupancy").and_then(|value| value.extract().ok()),
            })
        })
    }

    fn verify(&mut self) -> Result<(), Failure> {
        self.call(|object| object.call_method0("verify").map(drop))
    }

    fn time(&mut self, launches: u32) -> Result<f64, Failure> {
        self.call(|object| object.call_method1("time", (launches,))?.extract())
    }

    fn check(&mut self, config: &Config) -> Result<(), Failure> {
        self.call(|object| match object.getattr_opt("check")? {
            Some(check) => check.call1((config_to_dict(object.py(), config)?,)).map(drop),
            None => Ok(()),
        })
    }

    fn repeat(&mut self, launches: u32) -> Result<f64, Failure> {
        self.call(|object| {
            let method = object.getattr_opt("repeat")?.map_or_else(|| object.getattr("time"), Ok)?;
            method.call1((launches,))?.extract()
        })
    }

    fn window_kind(&self) -> Option<WindowKind> {
        let kind = |object: &Bound<'_, PyAny>| -> PyResult<Option<WindowKind>> {
            let Some(method) = object.getattr_opt("window_kind")? else { return Ok(None) };
            Ok(method.call0()?.extract::<Option<String>>()?.and_then(|name| WindowKind::by_name(&name)))
        };
        self.call(kind).ok().flatten()
    }

    /// An exception of an observer ends the search, as it is no fault of the candidate.
    fn observe(&mut self, trial: &TrialReport) -> Result<Vec<(String, f64)>, Failure> {
        Python::attach(|py| {
            let columns = trial_to_dict(py, trial).and_then(|trial| self.observe.call1(py, (trial,)));
            let numbers = columns.and_then(|columns| {
                columns
                    .cast_bound::<PyDict>(py)?
                    .iter()
                    .map(|(name, number)| Ok((name.extract()?, number.extract()?)))
                    .collect::<PyResult<Vec<_>>>()
            });
            numbers.map_err(|error| {
                let failure = Failure::new(FailureKind::Skipped, error.to_string());
                end_search(&self.interrupt, error);
                failure
            })
        })
    }

    fn tick_seconds(&self) -> f64 {
        self.tick_seconds
    }

    fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    fn is_interrupted(&self) -> bool {
        lock_ignoring_poison(&self.interrupt).is_some()
    }
}

/// The options of a search, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct SearchOptions<'py> {
    strategy: Bound<'py, PyAny>,
    seed: u64,
    seconds: Option<f64>,
    evaluations: Option<usize>,
    threads: usize,
    finalists: usize,
    windows: usize,
    occupancy_slack: Option<f64>,
    limit: Option<(f64, String)>,
    until_fraction: Option<f64>,
    lower_bound: Option<Py<PyAny>>,
    tick_seconds: f64,
    is_noisy: bool,
    objective: Bound<'py, PyObjective>,
    sensors: Vec<String>,
    observe: Py<PyAny>,
}

impl SearchOptions<'_> {
    fn tuner_options(&self, interrupt: &Interrupt) -> PyResult<TunerOptions> {
        let bound = self.lower_bound.as_ref().map(|function| Python::attach(|py| function.clone_ref(py)));
        let objective = self.objective.get().0.clone();
        // A search of exact scores has no device.
        let sensors = if self.is_noisy { current_sensors() } else { Err("nothing runs on a device".to_owned()) };
        if let (Objective::Energy, Err(reason)) = (&objective, &sensors) {
            return Err(PyRuntimeError::new_err(format!(
                "objective is \"energy\", which needs the device's sensors: {reason}"
            )));
        }
        Ok(TunerOptions {
            budget: Budget { seconds: self.seconds, evaluations: self.evaluations },
            threads: self.threads,
            windows: WindowPlan { max_windows: self.windows, ..WindowPlan::default() },
            finalists: self.finalists,
            occupancy_slack: self.occupancy_slack,
            lower_bound: bound.map(|function| -> rtcg::tune::LowerBound {
                let interrupt = interrupt.clone();
                Arc::new(move |config| {
                    Python::attach(|py| {
                        let answer = config_to_dict(py, config).and_then(|dict| function.call1(py, (dict,)));
                        answer.and_then(|answer| answer.extract(py)).unwrap_or_else(|error| {
                            end_search(&interrupt, error);
                            0.0
                        })
                    })
                })
            }),
            limit: self.limit.clone().map(|(seconds, binds)| Limit { seconds, binds }),
            until_fraction: self.until_fraction,
            objective,
            sensors: sensors.ok(),
            observers: self.sensors.iter().map(|name| sensor_by_name(name)).collect::<PyResult<_>>()?,
        })
    }
}

/// Search for the best configuration; returns the report as a dictionary. `on_event(trial, best)` is called
/// after each trial; the option `observe(trial)` is called before it, for trials with a time, to add more numbers.
#[pyfunction]
pub(super) fn run_tuner<'py>(
    py: Python<'py>,
    target: Py<PyAny>,
    table: &PyTable,
    default: Option<u32>,
    incumbents: Vec<u32>,
    options: SearchOptions<'py>,
    on_event: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let interrupt = Interrupt::default();
    let strategy = strategy_from_object(&options.strategy, options.seed, &interrupt)?;
    let mut target = PythonTarget {
        object: target,
        observe: options.observe.clone_ref(py),
        tick_seconds: options.tick_seconds,
        is_noisy: options.is_noisy,
        interrupt: interrupt.clone(),
    };
    let tuner_options = options.tuner_options(&interrupt)?;
    let mut tell = |event: Event<'_>| {
        let told = Python::attach(|py| tell_event(py, &on_event, event).and_then(|()| py.check_signals()));
        if let Err(error) = told {
            end_search(&interrupt, error);
        }
        if lock_ignoring_poison(&interrupt).is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let space = table.0.clone();
    let report = py.detach(|| tune(&mut target, &space, strategy, default, &incumbents, &tuner_options, &mut tell));
    let dict = report_to_dict(py, &report)?;
    let raised = take_interrupt(&interrupt);
    if raised.is_some() {
        dict.set_item("stopped_by", "interrupted")?;
    }
    dict.set_item("interrupt", raised)?;
    Ok(dict)
}

/// The parameters of a kernel as declared in its source, or None; does not compile.
#[pyfunction]
pub(super) fn kernel_parameters(
    source: &str,
    options: Vec<String>,
    name: &str,
) -> Option<Vec<(String, Option<String>)>> {
    rtcg::kernel_parameters(source, &options, name)
}

fn tell_event(py: Python<'_>, on_event: &Py<PyAny>, event: Event<'_>) -> PyResult<()> {
    match event {
        Event::Tried(trial, best) => on_event.call1(py, (trial_to_dict(py, trial)?, best)),
        Event::Finals(count) => on_event.call1(py, (py.None(), count)),
    }
    .map(drop)
}

fn trial_to_dict<'py>(py: Python<'py>, trial: &TrialReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("row", trial.row)?;
    dict.set_item("config", config_to_dict(py, &trial.config)?)?;
    let (score, failure) = match &trial.outcome {
        Outcome::Score(score) => (Some(*score), None),
        Outcome::Failed(failure) => (None, Some((failure.kind.to_string(), failure.message.as_str()))),
    };
    dict.set_item("score", score)?;
    dict.set_item("failure", failure)?;
    dict.set_item("samples", &trial.samples)?;
    dict.set_item("window", trial.window.map(WindowKind::name))?;
    let observed = PyDict::new(py);
    trial.observed.iter().try_for_each(|(name, value)| observed.set_item(name, value))?;
    dict.set_item("observed", observed)?;
    let resources = trial.resources.clone().unwrap_or_default();
    dict.set_item("registers", resources.registers)?;
    dict.set_item("spill_bytes", resources.spill_bytes)?;
    dict.set_item("shared_bytes", resources.shared_bytes)?;
    dict.set_item("occupancy", resources.occupancy)?;
    dict.set_item("compile_seconds", trial.compile_seconds)?;
    dict.set_item("measure_seconds", trial.measure_seconds)?;
    dict.set_item("at_seconds", trial.at_seconds)?;
    Ok(dict)
}

fn report_to_dict<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let trials: PyResult<Vec<_>> = report.trials.iter().map(|trial| trial_to_dict(py, trial)).collect();
    dict.set_item("trials", PyList::new(py, trials?)?)?;
    dict.set_item("best", report.best)?;
    dict.set_item("default", report.default)?;
    dict.set_item("speedup", report.speedup.map(|speedup| (speedup.value, speedup.low, speedup.high)))?;
    let finalists: Vec<_> = report.finalists.iter().map(|finalist| (finalist.row, finalist.samples.clone())).collect();
    dict.set_item("finalists", finalists)?;
    dict.set_item("unconfirmed", report.unconfirmed)?;
    dict.set_item("clock_change", report.clock_change())?;
    dict.set_item("limit", report.limit.as_ref().map(|limit| (limit.seconds, limit.binds.as_str())))?;
    let stopped_by = match report.stopped_by {
        StopReason::Exhausted => "exhausted",
        StopReason::Budget => "budget",
        StopReason::Limit => "limit",
        _ => "interrupted",
    };
    dict.set_item("stopped_by", stopped_by)?;
    dict.set_item("seconds", report.seconds)?;
    dict.set_item("strategy_seconds", report.strategy_seconds)?;
    dict.set_item("space_len", report.space_len)?;
    dict.set_item("text", report.to_string())?;
    Ok(dict)
}
