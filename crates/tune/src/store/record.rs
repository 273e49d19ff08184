//! One result.

use super::keys::{DeviceKey, Problem};
use crate::configurations::Config;
use crate::formats::t1::{from_json, to_json};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::target::Resources;
use crate::value::Value;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// One measured configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Where it was measured.
    pub device: DeviceKey,
    /// For what.
    pub problem: Problem,
    /// The configuration.
    pub config: Config,
    /// The score in seconds, or the failure.
    pub outcome: Outcome,
    /// The windows: seconds of a launch each.
    pub samples: Vec<f64>,
    /// What it needed of the device.
    pub resources: Resources,
    /// Whether a search ended with it as the best.
    pub is_chosen: bool,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// What else is worth keeping: versions of driver and compiler, seconds of compiling.
    pub other: Map<String, Json>,
}

/// Names and values nest no deeper in any result of ours.
const MAX_DEPTH: usize = 8;

impl Record {
    pub(super) fn to_json(&self) -> Json {
        let pairs = |items: &mut dyn Iterator<Item = (&str, &Value)>| -> Map<String, Json> {
            items.map(|(name, value)| (name.to_owned(), to_json(value))).collect()
        };
        let mut root = Map::new();
        root.insert("device".into(), serde_json::to_value(&self.device).unwrap_or_default());
        root.insert("problem".into(), Json::Object(pairs(&mut self.problem.0.iter().map(|(n, v)| (n.as_str(), v)))));
        root.insert("config".into(), Json::Object(pairs(&mut self.config.iter())));
        match &self.outcome {
            Outcome::Score(score) => root.insert("score".into(), json!(score)),
            Outcome::Failed(failure) => {
                root.insert("failure".into(), json!([failure.kind.to_string(), failure.message]))
            }
        };
        if !self.samples.is_empty() {
            root.insert("samples".into(), json!(self.samples));
        }
        if self.resources != Resources::default() {
            root.insert("resources".into(), serde_json::to_value(&self.resources).unwrap_or_default());
        }
        if self.is_chosen {
            root.insert("chosen".into(), json!(true));
        }
        root.insert("timestamp".into(), json!(self.timestamp));
        if !self.other.is_empty() {
            root.insert("other".into(), Json::Object(self.other.clone()));
        }
        Json::Object(root)
    }

    pub(super) fn to_line(&self) -> String {
        self.to_json().to_string()
    }

    pub(super) fn from_line(line: &[u8], most: usize) -> Result<Self, String> {
        if line.len() > most {
            return Err(format!("{} bytes; expected at most {most}", line.len()));
        }
        let value: Json = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        Self::from_json(value)
    }

    pub(super) fn from_json(mut value: Json) -> Result<Self, String> {
        if depth(&value, 0) > MAX_DEPTH {
            return Err(format!("values within each other more than {MAX_DEPTH} times"));
        }
        let root = value.as_object_mut().ok_or("expected an object")?;
        let mut take = |name: &str| root.remove(name);
        let device = take("device").ok_or("no device")?;
        let outcome = match (take("score"), take("failure")) {
            (Some(score), None) => {
                let score = score.as_f64().filter(|score| score.is_finite());
                Outcome::Score(score.ok_or("score is no finite number")?)
            }
            (None, Some(failure)) => Outcome::Failed(read_failure(&failure)?),
            _ => return Err("expected a score or a failure".into()),
        };
        let samples: Vec<f64> = match take("samples") {
            Some(samples) => serde_json::from_value(samples).map_err(|error| format!("samples: {error}"))?,
            None => Vec::new(),
        };
        let (names, values): (Vec<_>, Vec<_>) = read_pairs(take("config"), "config")?.into_iter().unzip();
        Ok(Self {
            device: serde_json::from_value(device).map_err(|error| format!("device: {error}"))?,
            problem: Problem(read_pairs(take("problem"), "problem")?),
            config: Config::new(Arc::from(names), values),
            outcome,
            samples,
            resources: match take("resources") {
                Some(resources) => serde_json::from_value(resources).map_err(|error| format!("resources: {error}"))?,
                None => Resources::default(),
            },
            is_chosen: take("chosen") == Some(json!(true)),
            timestamp: take("timestamp").and_then(|stamp| stamp.as_u64()).unwrap_or(0),
            other: if let Some(Json::Object(other)) = take("other") { other } else { Map::new() },
        })
    }
}

fn read_pairs(pairs: Option<Json>, what: &str) -> Result<Vec<(String, Value)>, String> {
    let Some(Json::Object(pairs)) = pairs else { return Err(format!("{what}: expected an object")) };
    pairs
        .into_iter()
        .map(|(name, value)| Ok((name, from_json(&value).map_err(|error| format!("{what}: {error}"))?)))
        .collect()
}

fn read_failure(failure: &Json) -> Result<Failure, String> {
    let text = |at: usize| failure[at].as_str().ok_or("failure: expected its kind and a message");
    let known = FailureKind::NAMES.iter().find(|(name, _)| Ok(*name) == text(0));
    let kind = known.ok_or("failure: an unknown kind")?.1;
    Ok(Failure::new(kind, text(1)?))
}

fn depth(value: &Json, above: usize) -> usize {
    let below: &mut dyn Iterator<Item = &Json> = match value {
        Json::Array(items) => &mut items.iter(),
        Json::Object(fields) => &mut fields.values(),
        _ => return above,
    };
    if above > MAX_DEPTH { above } else { below.map(|part| depth(part, above + 1)).max().unwrap_or(above + 1) }
}
