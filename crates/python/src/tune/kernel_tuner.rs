//! Kernel Tuner's cache files as Python sees them.

use super::space::failure_kind;
use super::values::{config_from_dict, config_to_dict, space_error, value_from_object, value_to_object};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rtcg::tune::formats::kernel_tuner::{CacheEntry, KernelTunerCache};
use rtcg::tune::formats::{json_from_text, json_object};
use rtcg::tune::{Failure, Outcome};

/// The contents of a cache file: a dictionary with `device_name`, `kernel_name`, `parameters` (pairs of a name and its
/// values), `objective`, and `entries` (dictionaries with `config`, `score` in seconds or `failure`, `samples`).
#[pyfunction]
pub(super) fn read_kernel_tuner_cache<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let cache = py.detach(|| KernelTunerCache::read(text)).map_err(space_error)?;
    let dict = PyDict::new(py);
    dict.set_item("device_name", &cache.device_name)?;
    dict.set_item("kernel_name", &cache.kernel_name)?;
    dict.set_item("objective", &cache.objective)?;
    let mut parameters = Vec::new();
    for (name, values) in &cache.parameters {
        let values = values.iter().map(|value| value_to_object(py, value)).collect::<PyResult<Vec<_>>>()?;
        parameters.push((name.as_str(), values));
    }
    dict.set_item("parameters", parameters)?;
    let entries = PyList::empty(py);
    for entry in &cache.entries {
        let row = PyDict::new(py);
        row.set_item("config", config_to_dict(py, &cache.config(entry))?)?;
        let (score, failure) = match &entry.outcome {
            Outcome::Score(score) => (Some(*score), None),
            Outcome::Failed(failure) => (None, Some((failure.kind.to_string(), failure.message.as_str()))),
        };
        row.set_item("score", score)?;
        row.set_item("failure", failure)?;
        row.set_item("samples", &entry.samples)?;
        entries.append(row)?;
    }
    dict.set_item("entries", entries)?;
    Ok(dict)
}

/// The text of a cache file with these trials; `problem_size` is JSON, `parameters` are pairs of a name and its
/// values.
#[pyfunction]
pub(super) fn write_kernel_tuner_cache(
    device_name: String,
    kernel_name: String,
    problem_size: &str,
    parameters: Vec<(String, Vec<Bound<'_, PyAny>>)>,
    objective: String,
    trials: Vec<Bound<'_, PyDict>>,
) -> PyResult<String> {
    let values = |values: Vec<Bound<'_, PyAny>>| values.iter().map(value_from_object).collect::<PyResult<Vec<_>>>();
    let parameters = parameters.into_iter().map(|(name, list)| Ok((name, values(list)?)));
    let cache = KernelTunerCache {
        device_name,
        kernel_name,
        problem_size: json_from_text(problem_size).map_err(space_error)?,
        parameters: parameters.collect::<PyResult<_>>()?,
        objective,
        entries: trials.iter().map(entry_from_trial).collect::<PyResult<_>>()?,
    };
    Ok(cache.write())
}

fn entry_from_trial(trial: &Bound<'_, PyDict>) -> PyResult<CacheEntry> {
    let get = |name: &str| trial.get_item(name).map(|value| value.filter(|value| !value.is_none()));
    let config = get("config")?.ok_or_else(|| PyValueError::new_err("the trial has no config"))?;
    let outcome = match (get("score")?, get("failure")?) {
        (Some(score), _) => Outcome::Score(score.extract()?),
        (None, Some(failure)) => {
            let (kind, message): (String, String) = failure.extract()?;
            Outcome::Failed(Failure::new(failure_kind(&kind)?, message))
        }
        (None, None) => return Err(PyValueError::new_err("the trial has neither a score nor a failure")),
    };
    let other = get("other")?.map_or_else(|| Ok("{}".to_owned()), |other| other.extract::<String>())?;
    Ok(CacheEntry {
        values: config_from_dict(config.cast::<PyDict>()?)?.iter().map(|(_, value)| value.clone()).collect(),
        outcome,
        samples: get("samples")?.map_or_else(|| Ok(Vec::new()), |samples| samples.extract())?,
        other: json_object(&other).map_err(space_error)?,
    })
}
