//! The store of results as Python sees it.

use super::space::failure_kind;
use super::values::{config_from_dict, config_to_dict, value_from_object};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::tune::formats::json_object;
use rtcg::tune::store::{DeviceKey, Found, KernelKey, Problem, Record, Records, Store, StoreError};
use rtcg::tune::{Config, Failure, Outcome, Resources};
use std::path::PathBuf;

/// The identity of a tuned kernel.
#[pyclass(name = "TuningKernelKey", module = "rtcg._native", frozen)]
pub(super) struct PyKernelKey(KernelKey);

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

/// `(back end, name, compute capability, multiprocessors)`
type DeviceTuple = (String, String, u32, u32);

fn device_key((backend, name, compute_capability, multiprocessors): DeviceTuple) -> DeviceKey {
    DeviceKey { backend, name, compute_capability, multiprocessors, ..DeviceKey::default() }
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

    /// Adds a trial, a dictionary as the tuner tells it.
    fn append(
        &self,
        kernel: &PyKernelKey,
        device: DeviceTuple,
        problem: &Bound<'_, PyDict>,
        trial: &Bound<'_, PyDict>,
        is_chosen: bool,
        other: &str,
    ) -> PyResult<()> {
        let record = record_from_trial(device_key(device), problem_from_dict(problem)?, trial, is_chosen, other)?;
        self.0.append(&kernel.0, &record).map_err(store_error)
    }

    fn read(&self, py: Python<'_>, kernel: &PyKernelKey) -> PyResult<PyRecords> {
        py.detach(|| self.0.read(&kernel.0)).map(PyRecords).map_err(store_error)
    }

    fn kernels(&self) -> Vec<PyKernelKey> {
        self.0.kernels().into_iter().map(PyKernelKey).collect()
    }

    fn export_text(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.export()).map_err(store_error)
    }

    /// `(results added, what was refused)`
    fn import_text(&self, py: Python<'_>, text: &str) -> PyResult<(usize, Vec<String>)> {
        py.detach(|| self.0.import(text)).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn prune(&self, kernel: &PyKernelKey, keep: usize) -> PyResult<usize> {
        self.0.prune(&kernel.0, keep).map_err(store_error)
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
        is_chosen,
        other: json_object(other).map_err(|error| PyValueError::new_err(error.to_string()))?,
        ..Record::new(device, problem, config, outcome)
    })
}

/// Configuration, score, explanation, closeness.
type FoundTuple<'py> = (Bound<'py, PyDict>, f64, String, String);

/// The results of a kernel, in memory.
#[pyclass(name = "TuningRecords", module = "rtcg._native", frozen)]
pub(super) struct PyRecords(Records);

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

    /// `(configuration, score, explanation, closeness)` of the result to use, or None.
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        device: DeviceTuple,
        problem: &Bound<'py, PyDict>,
        accept: &Bound<'py, PyAny>,
    ) -> PyResult<Option<FoundTuple<'py>>> {
        let accept = |config: &Config| accepts(accept, config);
        let found = self.0.look_up(&device_key(device), &problem_from_dict(problem)?, &accept);
        let Some(found) = found else { return Ok(None) };
        let Found { config, score, closeness, .. } = &found;
        Ok(Some((config_to_dict(py, config)?, *score, found.to_string(), format!("{closeness:?}"))))
    }

    /// The configurations to try first.
    fn incumbents<'py>(
        &self,
        py: Python<'py>,
        device: DeviceTuple,
        problem: &Bound<'py, PyDict>,
        count: usize,
        accept: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let accept = |config: &Config| accepts(accept, config);
        let configs = self.0.incumbents(&device_key(device), &problem_from_dict(problem)?, count, &accept);
        configs.iter().map(|config| config_to_dict(py, config)).collect()
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
    dict.set_item("timestamp", record.timestamp)?;
    Ok(dict)
}

/// The folder of the user's results, or None.
#[pyfunction]
pub(super) fn default_results_folder() -> Option<PathBuf> {
    rtcg::tune::default_results_folder()
}
