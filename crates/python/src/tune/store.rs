//! The store of results as Python sees it.

use super::space::failure_kind;
use super::values::{config_from_dict, config_to_dict, value_from_object};
use crate::errors::OrRaise;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::driver::{Context, lock_ignoring_poison};
use rtcg::tune::formats::json_object;
use rtcg::tune::store::{
    Details, DeviceKey, Found, KernelKey, Problem, Promise, Record, Recorder, Records, Store, StoreError,
    t4_from_records,
};
use rtcg::tune::{Config, Failure, OBJECTIVE_NAME, Outcome, Resources, Value};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The identity of a tuned kernel.
#[pyclass(name = "TuningKernelKey", module = "rtcg._native", frozen)]
pub(super) struct PyKernelKey(pub(super) KernelKey);

#[pymethods]
impl PyKernelKey {
    #[new]
    fn new(name: &str, source: &str, options: Vec<String>, parameters: Vec<String>) -> Self {
        Self(KernelKey::new(name, source, &options, &parameters))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn hash(&self) -> &str {
        &self.0.hash
    }

    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.0.parameters.clone()
    }
}

/// The identity of a device, by which results are looked up.
#[pyclass(name = "TuningDevice", module = "rtcg._native", frozen)]
pub(super) struct PyDeviceKey(DeviceKey);

#[pymethods]
impl PyDeviceKey {
    /// The device of the current context.
    #[staticmethod]
    fn current() -> PyResult<Self> {
        let device = Context::current_device().or_raise()?;
        rtcg::tune::device_key(&device).or_raise().map(Self)
    }

    #[getter]
    fn backend(&self) -> &str {
        &self.0.backend
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

fn problem_from_dict(problem: &Bound<'_, PyDict>) -> PyResult<Problem> {
    let pairs = problem.iter().map(|(name, value)| Ok((name.extract()?, value_from_object(&value)?)));
    pairs.collect::<PyResult<_>>().map(Problem)
}

fn store_error(error: StoreError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Folders of results.
#[pyclass(name = "TuningStore", module = "rtcg._native", frozen)]
pub(super) struct PyStore(Store);

#[pymethods]
impl PyStore {
    #[new]
    fn new(folder: PathBuf, read_only: Vec<PathBuf>) -> Self {
        Self(Store::new(folder, read_only))
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.0.folder().to_owned()
    }

    /// A recorder for the trials of one kernel, device and problem.
    fn recorder(
        &self,
        kernel: &PyKernelKey,
        device: &PyDeviceKey,
        problem: &Bound<'_, PyDict>,
        other: &str,
    ) -> PyResult<PyRecorder> {
        Ok(PyRecorder {
            recorder: Mutex::new(Recorder::new(&self.0, &kernel.0)),
            device: device.0.clone(),
            problem: problem_from_dict(problem)?,
            other: other.to_owned(),
        })
    }

    /// The results of a kernel, read from its files now.
    fn read(&self, py: Python<'_>, kernel: &PyKernelKey) -> PyResult<PyRecords> {
        py.detach(|| self.0.read(&kernel.0)).map(|records| PyRecords(records.into())).map_err(store_error)
    }

    /// The results of a kernel, read before or now, and those that this process added.
    fn known(&self, py: Python<'_>, kernel: &PyKernelKey) -> PyRecords {
        PyRecords(py.detach(|| self.0.table(&kernel.0).records()))
    }

    /// Read again the results that other processes may have changed.
    fn refresh(&self, py: Python<'_>, kernel: &PyKernelKey) {
        py.detach(|| self.0.refresh(&kernel.0));
    }

    fn kernels(&self) -> Vec<PyKernelKey> {
        self.0.kernels().into_iter().map(PyKernelKey).collect()
    }

    fn export_text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.export()).map_err(store_error)
    }

    /// The results of a kernel as a T4 file, and how many there are.
    fn t4_text(&self, py: Python<'_>, kernel: &PyKernelKey) -> PyResult<(String, usize)> {
        let records = py.detach(|| self.0.read(&kernel.0)).map_err(store_error)?;
        Ok((t4_from_records(&records.records).write(), records.records.len()))
    }

    /// `(results added, refused results)`
    fn import_text(&self, py: Python<'_>, text: &str) -> PyResult<(usize, Vec<String>)> {
        py.detach(|| self.0.import(text)).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// `(results added, refused results)`
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<(usize, Vec<String>)> {
        py.detach(|| self.0.merge(&other.0)).map_err(store_error)
    }

    fn publish(&self, folder: PathBuf, version: u32, keep: usize) -> PyResult<usize> {
        self.0.publish(&folder, version, keep).map_err(store_error)
    }

    fn prune(&self, kernel: &PyKernelKey, keep: usize) -> PyResult<usize> {
        self.0.prune(&kernel.0, keep).map_err(store_error)
    }
}

/// A recorder that adds the trials of a search.
#[pyclass(name = "TuningRecorder", module = "rtcg._native", frozen)]
pub(super) struct PyRecorder {
    recorder: Mutex<Recorder>,
    device: DeviceKey,
    problem: Problem,
    other: String,
}

impl PyRecorder {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&mut Recorder) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        py.detach(|| body(&mut lock_ignoring_poison(&self.recorder))).map_err(store_error)
    }
}

#[pymethods]
impl PyRecorder {
    /// Add a trial, a dictionary as the tuner reports it. A trial that cannot be written is kept and tried again
    /// later.
    fn add(&self, py: Python<'_>, trial: &Bound<'_, PyDict>, is_chosen: bool) -> PyResult<()> {
        let record = record_from_trial(self.device.clone(), self.problem.clone(), trial, is_chosen, &self.other)?;
        self.with(py, |recorder| recorder.add(&record))
    }

    /// Write the trials that could not be written before.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Recorder::flush)
    }

    #[getter]
    fn n_unwritten(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |recorder| Ok(recorder.n_unwritten()))
    }
}

fn record_from_trial(
    device: DeviceKey,
    problem: Problem,
    trial: &Bound<'_, PyDict>,
    is_chosen: bool,
    other: &str,
) -> PyResult<Record> {
    let get = |name: &str| trial.get_item(name).map(|value| value.filter(|value| !value.is_none()));
    let config = get("config")?.ok_or_else(|| PyValueError::new_err("the trial has no config"))?;
    let outcome = match (get("score")?, get("failure")?) {
        (Some(score), None) => Outcome::Score(score.extract()?),
        (None, Some(failure)) => {
            let (kind, message): (String, String) = failure.extract()?;
            Outcome::Failed(Failure::new(failure_kind(&kind)?, message))
        }
        _ => return Err(PyValueError::new_err("the trial has neither a score nor a failure")),
    };
    let observed = get("observed")?.map(|observed| observed.cast_into::<PyDict>()).transpose()?;
    let observation = |name: &str| observed.as_ref()?.get_item(name).ok()??.extract::<f64>().ok();
    let resource = |name: &str| get(name).ok().flatten();
    let config = config_from_dict(config.cast::<PyDict>()?)?;
    Ok(Record {
        samples: get("samples")?.map_or_else(|| Ok(Vec::new()), |samples| samples.extract())?,
        resources: Resources {
            registers: resource("registers").and_then(|value| value.extract().ok()),
            spill_bytes: resource("spill_bytes").and_then(|value| value.extract().ok()),
            shared_bytes: resource("shared_bytes").and_then(|value| value.extract().ok()),
            occupancy: resource("occupancy").and_then(|value| value.extract().ok()),
        },
        details: Details {
            sm_clock_mhz: observation("clock"),
            temperature_celsius: observation("temperature"),
            window: get("window")?.map(|window| window.extract()).transpose()?,
            ..Details::default()
        },
        is_chosen,
        other: json_object(other).map_err(|error| PyValueError::new_err(error.to_string()))?,
        ..Record::new(device, problem, config, outcome)
    })
}

/// Configuration, score, explanation, closeness.
type FoundTuple<'py> = (Bound<'py, PyDict>, f64, String, String, bool);

/// The expectation that results give.
#[pyclass(name = "TuningPromise", module = "rtcg._native", frozen)]
pub(super) struct PyPromise(Promise);

#[pymethods]
impl PyPromise {
    /// The score expected here, or None, given the score of the default here.
    fn score_here(&self, default_here: Option<f64>) -> Option<f64> {
        self.0.score_here(default_here)
    }
}

/// The results of a kernel, in memory.
#[pyclass(name = "TuningRecords", module = "rtcg._native", frozen)]
pub(super) struct PyRecords(Arc<Records>);

/// Whether Python's function takes a configuration; one that raises takes none.
fn accepts(accept: &Bound<'_, PyAny>, config: &Config) -> bool {
    let answer = config_to_dict(accept.py(), config).and_then(|dict| accept.call1((dict,))?.is_truthy());
    answer.unwrap_or(false)
}

#[pymethods]
impl PyRecords {
    fn __len__(&self) -> usize {
        self.0.records.len()
    }

    /// Lines that could not be read, and why.
    #[getter]
    fn damaged(&self) -> Vec<String> {
        self.0.damaged.clone()
    }

    /// `(configuration, score, explanation, closeness, is_chosen)` of the result to use, or None.
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        device: &PyDeviceKey,
        problem: &Bound<'py, PyDict>,
        accept: &Bound<'py, PyAny>,
    ) -> PyResult<Option<FoundTuple<'py>>> {
        let accept = |config: &Config| accepts(accept, config);
        let found = self.0.look_up(&device.0, &problem_from_dict(problem)?, &accept);
        let Some(found) = found else { return Ok(None) };
        let Found { config, score, closeness, is_chosen, .. } = &found;
        Ok(Some((config_to_dict(py, config)?, *score, found.to_string(), format!("{closeness:?}"), *is_chosen)))
    }

    /// The configurations to try first.
    fn incumbents<'py>(
        &self,
        py: Python<'py>,
        device: &PyDeviceKey,
        problem: &Bound<'py, PyDict>,
        count: usize,
        accept: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let accept = |config: &Config| accepts(accept, config);
        let configs = self.0.incumbents(&device.0, &problem_from_dict(problem)?, count, &accept);
        configs.iter().map(|config| config_to_dict(py, config)).collect()
    }

    /// The expectation from the results of the nearest device and problem, or None.
    fn promise<'py>(
        &self,
        device: &PyDeviceKey,
        problem: &Bound<'py, PyDict>,
        accept: &Bound<'py, PyAny>,
        default: &Bound<'py, PyDict>,
    ) -> PyResult<Option<PyPromise>> {
        let (problem, default) = (problem_from_dict(problem)?, config_from_dict(default)?);
        let accept = |config: &Config| accepts(accept, config);
        Ok(self.0.promise(&device.0, &problem, &accept, &default).map(PyPromise))
    }

    /// All results as dictionaries.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: PyResult<Vec<_>> = self.0.records.iter().map(|record| record_to_dict(py, record)).collect();
        PyList::new(py, rows?)
    }
}

fn record_to_dict<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("device", record.device.to_string())?;
    dict.set_item("problem", record.problem.to_string())?;
    dict.set_item("config", config_to_dict(py, &record.config)?)?;
    let (score, failure) = match &record.outcome {
        Outcome::Score(score) => (Some(*score), None),
        Outcome::Failed(failure) => (None, Some((failure.kind.to_string(), failure.message.as_str()))),
    };
    dict.set_item("score", score)?;
    dict.set_item("failure", failure)?;
    dict.set_item("samples", &record.samples)?;
    dict.set_item("chosen", record.is_chosen)?;
    let objective = match record.problem.get(OBJECTIVE_NAME) {
        Some(Value::Str(name)) => name.as_str(),
        _ => "time",
    };
    dict.set_item("objective", objective)?;
    dict.set_item("timestamp", record.timestamp)?;
    Ok(dict)
}

/// The folder of the user's results, or None.
#[pyfunction]
pub(super) fn default_results_folder() -> Option<PathBuf> {
    rtcg::tune::default_results_folder()
}
