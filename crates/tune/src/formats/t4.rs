//! The T4 format for tuning results (1.0.0): JSON.
//!
//! Source: the open auto-tuning results schema of the AutoTuningAssociation, and the files of its benchmark hub. Those
//! files say `compilation` where the schema says `compilation_time`, `miliseconds` for the unit of time, and write
//! failures as text in place of a measured value; all of this is accepted too. Anything else that the schema forbids is
//! refused.

use super::t1::{from_json, to_json};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::space::SpaceError;
use crate::statistics::median;
use crate::strict_json::{parse, printable};
use crate::value::Value;
use serde_json::{Map, Value as Json, json};

/// The version of the schema that is written.
const SCHEMA_VERSION: &str = "1.0.0";
/// No metadata of a real file nests deeper.
const MAX_DEPTH: usize = 64;

/// A T4 file.
#[derive(Debug, Clone, PartialEq)]
pub struct T4 {
    /// `schema_version`
    pub schema_version: String,
    /// `metadata`, including `timeunit`, the unit of all times; milliseconds by default.
    pub metadata: Map<String, Json>,
    /// `results`, in their order.
    pub results: Vec<T4Result>,
}

/// One configuration of a T4 file. Times are in the file's unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct T4Result {
    /// `timestamp`
    pub timestamp: Option<String>,
    /// `configuration`: values by the names of parameters.
    pub configuration: Vec<(String, Value)>,
    /// `times`
    pub times: T4Times,
    /// `invalidity`; `None` for `correct`.
    pub failure: Option<FailureKind>,
    /// `correctness`: 1 if the result was right.
    pub correctness: f64,
    /// `measurements`
    pub measurements: Vec<T4Measurement>,
    /// `objectives`: the names of the measurements to optimise.
    pub objectives: Vec<String>,
    /// All other fields.
    pub other: Map<String, Json>,
}

/// The breakdown of a configuration's time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct T4Times {
    /// `compilation_time`
    pub compilation: Option<f64>,
    /// `runtimes`: the time of each run.
    pub runtimes: Vec<f64>,
    /// `framework`
    pub framework: Option<f64>,
    /// `search_algorithm`
    pub search_algorithm: Option<f64>,
    /// `validation`
    pub validation: Option<f64>,
    /// All other fields.
    pub other: Map<String, Json>,
}

/// A measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct T4Measurement {
    /// `name`
    pub name: String,
    /// `value`: a number, text or a list.
    pub value: Json,
    /// `unit`; empty if it is the file's unit of time, or if there is none.
    pub unit: String,
}

impl Default for T4 {
    fn default() -> Self {
        let metadata = [("timeunit".to_owned(), json!("milliseconds"))].into_iter().collect();
        Self { schema_version: SCHEMA_VERSION.into(), metadata, results: Vec::new() }
    }
}

impl T4 {
    /// Parses a file.
    ///
    /// # Errors
    /// When the schema does not allow it; the message says where.
    pub fn read(text: &str) -> Result<Self, SpaceError> {
        read_root(text).map_err(|message| SpaceError(format!("T4 file: {message}")))
    }

    /// Returns the file's text.
    pub fn write(&self) -> String {
        let results: Vec<Json> = self.results.iter().map(T4Result::to_json).collect();
        let root = json!({"schema_version": self.schema_version, "metadata": self.metadata, "results": results});
        format!("{root:#}\n")
    }

    /// The file's unit of time in seconds.
    pub fn seconds_per_unit(&self) -> f64 {
        self.metadata.get("timeunit").and_then(Json::as_str).and_then(seconds_of_unit).unwrap_or(1e-3)
    }

    /// The runs of one of this file's results, in seconds.
    pub fn samples_seconds(&self, result: &T4Result) -> Vec<f64> {
        result.times.runtimes.iter().map(|time| time * self.seconds_per_unit()).collect()
    }

    /// The outcome of a configuration: the first objective (in seconds if it is a time), unchanged, since a file does
    /// not say whether less of it is better. If the objective is missing, the median of the runs.
    pub fn outcome(&self, result: &T4Result) -> Outcome {
        let objective = result.objectives.first().map_or("time", String::as_str);
        let measured = result.measurements.iter().find(|measurement| measurement.name == objective);
        if let Some(kind) = result.failure {
            let text = measured.and_then(|measurement| measurement.value.as_str()).unwrap_or("no message");
            return Outcome::Failed(Failure::new(kind, text));
        }
        let score = match measured {
            Some(T4Measurement { value, unit, name }) => {
                let own_unit = if name == "time" { Some(self.seconds_per_unit()) } else { None };
                let scale = seconds_of_unit(unit).or(own_unit).unwrap_or(1.0);
                value.as_f64().map(|value| value * scale)
            }
            None if objective == "time" && !result.times.runtimes.is_empty() => {
                Some(median(&result.times.runtimes) * self.seconds_per_unit())
            }
            None => None,
        };
        let missing = || Failure::new(FailureKind::Runtime, format!("no measurement of {:?}", printable(objective)));
        score.filter(|score| score.is_finite()).map_or_else(|| Outcome::Failed(missing()), Outcome::Score)
    }
}

/// The words of the schema, the spelling of older files, and the usual signs.
fn seconds_of_unit(unit: &str) -> Option<f64> {
    match unit {
        "seconds" | "s" => Some(1.0),
        "milliseconds" | "miliseconds" | "ms" => Some(1e-3),
        "microseconds" | "us" => Some(1e-6),
        "nanoseconds" | "ns" => Some(1e-9),
        _ => None,
    }
}

impl T4Result {
    fn to_json(&self) -> Json {
        let mut root = Map::new();
        root.extend(self.timestamp.iter().map(|text| ("timestamp".to_owned(), json!(text))));
        let configuration: Map<_, _> =
            self.configuration.iter().map(|(name, value)| (name.clone(), to_json(value))).collect();
        root.insert("configuration".into(), Json::Object(configuration));
        root.insert("times".into(), self.times.to_json());
        root.insert("invalidity".into(), json!(invalidity(self.failure)));
        root.insert("correctness".into(), to_number(self.correctness));
        let measurements = self.measurements.iter();
        let measurements = measurements.map(|m| json!({"name": m.name, "value": m.value, "unit": m.unit}));
        root.insert("measurements".into(), measurements.collect());
        root.insert("objectives".into(), json!(self.objectives));
        root.extend(self.other.clone());
        Json::Object(root)
    }
}

/// The schema has no word for what was not measured; nothing but constraints keeps a configuration from that.
fn invalidity(failure: Option<FailureKind>) -> String {
    match failure {
        None => "correct".into(),
        Some(FailureKind::Skipped) => FailureKind::Constraints.to_string(),
        Some(kind) => kind.to_string(),
    }
}

/// Whole numbers without a point, as other tools write them.
fn to_number(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}

impl T4Times {
    fn to_json(&self) -> Json {
        let named = [
            ("compilation_time", self.compilation),
            ("framework", self.framework),
            ("search_algorithm", self.search_algorithm),
            ("validation", self.validation),
        ];
        let mut times: Map<_, _> =
            named.into_iter().filter_map(|(name, time)| Some((name.to_owned(), json!(time?)))).collect();
        times.insert("runtimes".into(), json!(self.runtimes));
        times.extend(self.other.clone());
        Json::Object(times)
    }
}

fn read_root(text: &str) -> Result<T4, String> {
    let mut root = object(Some(parse(text.as_bytes(), MAX_DEPTH)?), "the file")?;
    let schema_version = match root.remove("schema_version") {
        None => SCHEMA_VERSION.to_owned(),
        Some(version) => text_of(version, "schema_version")?,
    };
    if !is_version(&schema_version) {
        return Err(format!("schema_version is {:?}; expected three numbers with points", printable(&schema_version)));
    }
    if !schema_version.starts_with("1.") {
        return Err(format!("schema_version is {schema_version}; this version knows 1.x"));
    }
    let metadata = root.remove("metadata").map_or_else(|| Ok(Map::new()), |value| object(Some(value), "metadata"))?;
    if let Some(unit) = metadata.get("timeunit")
        && unit.as_str().and_then(seconds_of_unit).is_none()
    {
        return Err(format!(
            "metadata.timeunit is {}; expected milliseconds or the like",
            printable(&unit.to_string())
        ));
    }
    let results = list(root.remove("results"), "results")?;
    let read = |(place, value)| read_result(value).map_err(|message| format!("results[{place}]: {message}"));
    Ok(T4 { schema_version, metadata, results: results.into_iter().enumerate().map(read).collect::<Result<_, _>>()? })
}

fn read_result(value: Json) -> Result<T4Result, String> {
    let mut root = object(Some(value), "the result")?;
    let configuration = object(root.remove("configuration"), "configuration")?.into_iter();
    let configuration = configuration.map(|(name, value)| match from_json(&value) {
        Ok(value) => Ok((name, value)),
        Err(error) => Err(format!("configuration: {}", printable(&error))),
    });
    let word = text_of(root.remove("invalidity").unwrap_or_default(), "invalidity")?;
    let correctness = root.remove("correctness").ok_or("no correctness")?;
    Ok(T4Result {
        timestamp: root.remove("timestamp").map(|value| text_of(value, "timestamp")).transpose()?,
        configuration: configuration.collect::<Result<_, String>>()?,
        times: read_times(object(root.remove("times"), "times")?)?,
        failure: read_invalidity(&word)?,
        correctness: number(&correctness, "correctness")?,
        measurements: optional_list(root.remove("measurements"), "measurements")?
            .into_iter()
            .map(read_measurement)
            .collect::<Result<_, _>>()?,
        objectives: optional_list(root.remove("objectives"), "objectives")?
            .into_iter()
            .map(|name| text_of(name, "objectives"))
            .collect::<Result<_, _>>()?,
        other: root,
    })
}

fn read_invalidity(word: &str) -> Result<Option<FailureKind>, String> {
    if word == "correct" {
        return Ok(None);
    }
    let mut known = FailureKind::NAMES.iter().filter(|(_, kind)| *kind != FailureKind::Skipped);
    let found = known.find(|(name, _)| *name == word);
    found.map(|(_, kind)| Some(*kind)).ok_or_else(|| format!("invalidity is {:?}, which is none", printable(word)))
}

fn read_times(mut times: Map<String, Json>) -> Result<T4Times, String> {
    let mut take = |name: &str| times.remove(name).map(|value| number(&value, &format!("times.{name}"))).transpose();
    let (stated, older) = (take("compilation_time")?, take("compilation")?);
    let (framework, search_algorithm, validation) =
        (take("framework")?, take("search_algorithm")?, take("validation")?);
    let runtimes = optional_list(times.remove("runtimes"), "times.runtimes")?;
    let runtimes = runtimes.iter().map(|time| number(time, "times.runtimes")).collect::<Result<_, _>>()?;
    Ok(T4Times { compilation: stated.or(older), runtimes, framework, search_algorithm, validation, other: times })
}

fn read_measurement(value: Json) -> Result<T4Measurement, String> {
    let mut root = object(Some(value), "measurements")?;
    let value = root.remove("value").unwrap_or_default();
    if !(value.is_number() || value.is_string() || value.is_array()) {
        return Err(format!(
            "measurements: value is {}; expected a number, text or a list",
            printable(&value.to_string())
        ));
    }
    let unit = root.remove("unit").map_or_else(|| Ok(String::new()), |unit| text_of(unit, "measurements: unit"))?;
    Ok(T4Measurement { name: text_of(root.remove("name").unwrap_or_default(), "measurements: name")?, value, unit })
}

fn is_version(text: &str) -> bool {
    let mut parts = text.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.by_ref().take(3).filter(|part| is_number(part)).count() == 3 && parts.next().is_none()
}

fn object(value: Option<Json>, what: &str) -> Result<Map<String, Json>, String> {
    match value {
        Some(Json::Object(fields)) => Ok(fields),
        other => Err(expected(other, what, "an object")),
    }
}

fn list(value: Option<Json>, what: &str) -> Result<Vec<Json>, String> {
    match value {
        Some(Json::Array(items)) => Ok(items),
        other => Err(expected(other, what, "a list")),
    }
}

fn optional_list(value: Option<Json>, what: &str) -> Result<Vec<Json>, String> {
    value.map_or_else(|| Ok(Vec::new()), |value| list(Some(value), what))
}

fn text_of(value: Json, what: &str) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text),
        other => Err(expected(Some(other).filter(|other| !other.is_null()), what, "text")),
    }
}

fn number(value: &Json, what: &str) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| expected(Some(value.clone()), what, "a number"))
}

fn expected(found: Option<Json>, what: &str, kind: &str) -> String {
    match found {
        Some(value) => format!("{what} is {}; expected {kind}", printable(&value.to_string())),
        None => format!("{what} is missing; expected {kind}"),
    }
}

#[cfg(test)]
mod tests;
