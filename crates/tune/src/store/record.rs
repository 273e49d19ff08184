//! One result, and its line in a file.

use super::device::DeviceKey;
use super::error::{StoreError, StoreErrorKind};
use super::kernel_key::KernelKey;
use super::problem::Problem;
use crate::configurations::Config;
use crate::formats::t1::{from_json, to_json};
use crate::objective::{OBJECTIVE_NAME, Objective};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::strict_json::{parse, printable};
use crate::trial::Resources;
use crate::value::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines longer than this are damaged or hostile.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;
/// Names and values nest no deeper in any result of ours.
pub(super) const MAX_DEPTH: usize = 8;
/// Compilers can say more than anybody reads.
const MAX_MESSAGE_BYTES: usize = 1 << 14;

/// One measured configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The device and toolchain of the measurement.
    pub device: DeviceKey,
    /// The problem.
    pub problem: Problem,
    /// The configuration.
    pub config: Config,
    /// The score by [`Record::objective`], or the failure.
    pub outcome: Outcome,
    /// The windows, in seconds per launch.
    pub samples: Vec<f64>,
    /// The resources that it needs.
    pub resources: Resources,
    /// How it was measured.
    pub details: Details,
    /// Whether a search chose it as the best.
    pub is_chosen: bool,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Other fields to keep.
    pub other: Map<String, Json>,
}

/// How a result was measured; unknown details are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Whether its result was compared with a reference and found correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_verified: Option<bool>,
    /// The largest difference from the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_error: Option<f64>,
    /// Compile time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compile_seconds: Option<f64>,
    /// How launches were timed: `launches`, `graph` or `cold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The multiprocessor clock during timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<f64>,
    /// The device temperature during timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// The least time that the device's limits permit, divided by the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction_of_limit: Option<f64>,
    /// The versions of the components involved, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

impl Record {
    /// Makes a result with the present time.
    pub fn new(device: DeviceKey, problem: Problem, config: Config, outcome: Outcome) -> Self {
        Self {
            device,
            problem,
            config,
            outcome,
            samples: Vec::new(),
            resources: Resources::default(),
            details: Details::default(),
            is_chosen: false,
            timestamp: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            other: Map::new(),
        }
    }

    /// The objective of its score: seconds, unless its problem names another one.
    pub fn objective(&self) -> Objective {
        match self.problem.get(OBJECTIVE_NAME) {
            Some(Value::Str(name)) => Objective::of_stored(name),
            _ => Objective::Time,
        }
    }

    /// The score, if it has one.
    pub fn score(&self) -> Option<f64> {
        if let Outcome::Score(score) = self.outcome { Some(score) } else { None }
    }

    /// Its line in a file.
    ///
    /// # Errors
    /// When it could not be read again: a score or value that is not finite, names that are no parameters of the
    /// kernel, too long a line.
    pub(super) fn to_line(&self, kernel: &KernelKey) -> Result<String, StoreError> {
        let refuse = |what: String| {
            StoreError::new(StoreErrorKind::Content, format!("a result of ({}) cannot be kept: {what}", self.config))
        };
        let is_bad = |number: &&f64| !number.is_finite();
        if let Some(score) = self.score().as_ref().filter(is_bad) {
            return Err(refuse(format!("score is {score}; expected a finite number")));
        }
        if let Some(sample) = self.samples.iter().find(is_bad) {
            return Err(refuse(format!("samples have {sample}; expected finite numbers")));
        }
        let line = self.to_json().to_string();
        let read = parse_line(line.as_bytes()).and_then(|value| RecordReader::new(&kernel.parameters).read(value));
        read.map(|_| line).map_err(refuse)
    }

    pub(super) fn to_json(&self) -> Json {
        let mut root = Map::new();
        let mut put = |name: &str, value: Json| root.insert(name.to_owned(), value);
        put("device", serialised(&self.device));
        put("problem", pairs_to_json(self.problem.0.iter().map(|(name, value)| (name.as_str(), value))));
        put("config", pairs_to_json(self.config.iter()));
        match &self.outcome {
            Outcome::Score(score) => put("score", json!(score)),
            Outcome::Failed(failure) => put("failure", json!([failure.kind.to_string(), shortened(&failure.message)])),
        };
        if !self.samples.is_empty() {
            put("samples", json!(self.samples));
        }
        if self.resources != Resources::default() {
            put("resources", serialised(&self.resources));
        }
        if self.details != Details::default() {
            put("details", serialised(&self.details));
        }
        if self.is_chosen {
            put("chosen", json!(true));
        }
        put("timestamp", json!(self.timestamp));
        if !self.other.is_empty() {
            put("other", Json::Object(self.other.clone()));
        }
        Json::Object(root)
    }
}

/// Reads records of one kernel, whose configurations share the list of their names.
pub(super) struct RecordReader<'a> {
    parameters: &'a [String],
    names: Arc<[String]>,
}

impl<'a> RecordReader<'a> {
    /// For a kernel with these parameters.
    pub(super) fn new(parameters: &'a [String]) -> Self {
        Self { parameters, names: Arc::from([]) }
    }

    #[cfg(test)]
    pub(super) fn read_line(&mut self, line: &[u8]) -> Result<Record, String> {
        self.read(parse_line(line)?)
    }

    /// A record, if everything in it is what it should be. Its values need not be those of the space.
    pub(super) fn read(&mut self, value: Json) -> Result<Record, String> {
        let Json::Object(mut root) = value else { return Err("expected an object".into()) };
        let outcome = match (root.remove("score"), root.remove("failure")) {
            (Some(score), None) => Outcome::Score(score.as_f64().ok_or("score is no number")?),
            (None, Some(failure)) => Outcome::Failed(read_failure(&failure)?),
            _ => return Err("expected a score or a failure".into()),
        };
        let device: DeviceKey = deserialised(&mut root, "device")?.ok_or("no device")?;
        device.check()?;
        let config = self.read_config(root.remove("config"))?;
        Ok(Record {
            device,
            problem: Problem(read_pairs(root.remove("problem"), "problem")?),
            config,
            outcome,
            samples: deserialised(&mut root, "samples")?.unwrap_or_default(),
            resources: deserialised(&mut root, "resources")?.unwrap_or_default(),
            details: deserialised(&mut root, "details")?.unwrap_or_default(),
            is_chosen: deserialised(&mut root, "chosen")?.unwrap_or(false),
            timestamp: deserialised(&mut root, "timestamp")?.unwrap_or(0),
            other: deserialised(&mut root, "other")?.unwrap_or_default(),
        })
    }

    fn read_config(&mut self, config: Option<Json>) -> Result<Config, String> {
        let (names, values): (Vec<String>, Vec<Value>) = read_pairs(config, "config")?.into_iter().unzip();
        if let Some(name) = names.iter().find(|name| !self.parameters.contains(name)) {
            return Err(format!("config: {:?} is no parameter of this kernel", printable(name)));
        }
        if *self.names != *names {
            self.names = names.into();
        }
        Ok(Config::new(Arc::clone(&self.names), values))
    }
}

/// The JSON of a line.
pub(super) fn parse_line(line: &[u8]) -> Result<Json, String> {
    match line.len() {
        ..=MAX_LINE_BYTES => parse(line, MAX_DEPTH),
        n_bytes => Err(format!("{n_bytes} bytes; expected at most {MAX_LINE_BYTES}")),
    }
}

pub(super) fn pairs_to_json<'a>(pairs: impl Iterator<Item = (&'a str, &'a Value)>) -> Json {
    Json::Object(pairs.map(|(name, value)| (name.to_owned(), to_json(value))).collect())
}

pub(super) fn read_pairs(pairs: Option<Json>, what: &str) -> Result<Vec<(String, Value)>, String> {
    let Some(Json::Object(pairs)) = pairs else { return Err(format!("{what}: expected an object")) };
    let pairs = pairs.into_iter().map(|(name, value)| Ok((name, from_json(&value)?)));
    pairs.collect::<Result<_, String>>().map_err(|error| format!("{what}: {}", printable(&error)))
}

/// What a field has, if it is there.
pub(super) fn deserialised<T: DeserializeOwned>(root: &mut Map<String, Json>, name: &str) -> Result<Option<T>, String> {
    let read = |value| serde_json::from_value(value);
    root.remove(name).map(read).transpose().map_err(|error| format!("{name}: {}", printable(&error.to_string())))
}

/// Structures of numbers and texts always have a JSON form.
pub(super) fn serialised(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

fn read_failure(failure: &Json) -> Result<Failure, String> {
    let text = |at: usize| failure[at].as_str().ok_or("failure: expected its kind and a message");
    let word = text(0)?;
    let known = FailureKind::NAMES.iter().find(|(name, _)| *name == word);
    let (_, kind) = known.ok_or_else(|| format!("failure: {:?} is no kind of failure", printable(word)))?;
    Ok(Failure::new(*kind, text(1)?))
}

fn shortened(message: &str) -> &str {
    &message[..message.floor_char_boundary(MAX_MESSAGE_BYTES)]
}
