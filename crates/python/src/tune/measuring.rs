//! Objectives, sensors and the launch timer as Python sees them.

use crate::errors::driver_error;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use rtcg::driver::{Context, lock_ignoring_poison};
use rtcg::tune::{EnqueueError, LaunchTimer, Objective, Sensor, Sensors, device_sensors};
use std::sync::{Arc, Mutex};

/// What a search minimises or maximises.
#[pyclass(name = "TuningObjective", module = "rtcg._native", frozen)]
pub(super) struct PyObjective(pub(super) Objective);

#[pymethods]
impl PyObjective {
    #[new]
    #[pyo3(signature = (name, maximize = false, bytes = None, flops = None))]
    fn new(name: &str, maximize: bool, bytes: Option<f64>, flops: Option<f64>) -> PyResult<Self> {
        Objective::by_name(name, maximize, bytes, flops).map(Self).map_err(PyValueError::new_err)
    }

    /// A column of trials, under any name.
    #[staticmethod]
    fn column(name: String, maximize: bool) -> Self {
        Self(Objective::Column { name, maximize })
    }

    /// The objective of the stored results with this name.
    #[staticmethod]
    fn of_stored(name: &str) -> Self {
        Self(Objective::of_stored(name))
    }

    /// The name that distinguishes results from times in the store; None for times.
    #[getter]
    fn stored_name(&self) -> Option<String> {
        self.0.stored_name()
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn unit(&self) -> &'static str {
        self.0.unit()
    }

    /// Whether scores are seconds.
    #[getter]
    fn is_time(&self) -> bool {
        self.0.is_time()
    }

    #[getter]
    fn is_maximized(&self) -> bool {
        self.0.is_maximized()
    }

    /// The value that a score represents.
    fn value(&self, score: f64) -> f64 {
        self.0.value(score)
    }

    /// The value that a score represents, with its unit.
    fn format(&self, score: f64) -> String {
        self.0.format(score)
    }
}

pub(super) fn sensor_by_name(name: &str) -> PyResult<Sensor> {
    let known = Sensor::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, sensor)| *sensor).ok_or_else(|| {
        let names: Vec<_> = Sensor::NAMES.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!("observer is {name}; expected a function, or one of {}", names.join(", ")))
    })
}

/// The sensors of the current context's device, or why there are none.
pub(super) fn current_sensors() -> Result<Arc<dyn Sensors>, String> {
    device_sensors(&Context::current_device().map_err(|error| error.to_string())?)
}

/// The present sensor readings of the current context's device, None for missing sensors: MHz, watts, joules
/// since the driver was loaded, degrees Celsius.
#[pyfunction]
pub(super) fn read_sensor(name: &str) -> PyResult<Option<f64>> {
    let sensor = sensor_by_name(name)?;
    Ok(current_sensors().ok().and_then(|sensors| sensors.read(sensor)))
}

/// The indices of the non-dominated points, where lower is better.
#[pyfunction]
pub(super) fn pareto_front(costs: Vec<Vec<f64>>) -> Vec<usize> {
    rtcg::tune::pareto_front(&costs)
}

/// Timer of windows of launches in the current context: back to back, in a graph, or each with cold caches.
#[pyclass(name = "LaunchTimer", module = "rtcg._native", frozen)]
pub(super) struct PyLaunchTimer(Mutex<LaunchTimer>);

impl PyLaunchTimer {
    fn with<T>(&self, body: impl FnOnce(&mut LaunchTimer) -> T) -> T {
        body(&mut lock_ignoring_poison(&self.0))
    }
}

#[pymethods]
impl PyLaunchTimer {
    #[new]
    fn new(cold: bool, max_captured: u32) -> PyResult<Self> {
        let timer = if cold { LaunchTimer::cold().map_err(driver_error)? } else { LaunchTimer::new(max_captured) };
        Ok(Self(Mutex::new(timer)))
    }

    /// Start timing the candidate with this name.
    fn start_candidate(&self, name: &str) {
        self.with(|timer| timer.start_candidate(name));
    }

    /// Set how windows of the present candidate are timed.
    #[getter]
    fn window(&self) -> &'static str {
        self.with(|timer| timer.window_kind().name())
    }

    /// The seconds per launch over `launches` launches; `enqueue(n)` makes n of them. Waits for the device.
    fn time(&self, py: Python<'_>, launches: u32, enqueue: Py<PyAny>) -> PyResult<f64> {
        // What a capture refuses is no error, but an interrupt is one.
        let mut interrupt = None;
        let outcome = py.detach(|| {
            self.with(|timer| {
                timer.time(launches, |count| {
                    Python::attach(|py| {
                        enqueue.call1(py, (count,)).map(drop).inspect_err(|error| {
                            if !error.is_instance_of::<PyException>(py) {
                                interrupt = Some(error.clone_ref(py));
                            }
                        })
                    })
                })
            })
        });
        match (interrupt, outcome) {
            (Some(error), _) | (None, Err(EnqueueError::Enqueue(error))) => Err(error),
            (None, Err(EnqueueError::Driver(error))) => Err(driver_error(error)),
            (None, Ok(seconds)) => Ok(seconds),
        }
    }
}
