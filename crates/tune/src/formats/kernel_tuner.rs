//! Kernel Tuner's cache files, which contain every configuration of a kernel that was measured on one device.
//!
//! Source: the files that Kernel Tuner 1.5 writes, and its `kernel_tuner.util`. A file that is still being written ends
//! in a comma without its closing brackets; this is accepted too. Times are in milliseconds in the file and in seconds
//! here.

use super::t1::{from_json, to_json};
use crate::configurations::{Config, Configurations};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::space::SpaceError;
use crate::strict_json::printable;
use crate::value::Value;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::sync::Arc;

/// A cache file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KernelTunerCache {
    /// `device_name`
    pub device_name: String,
    /// `kernel_name`
    pub kernel_name: String,
    /// `problem_size`, as in the file: a number, text or a list.
    pub problem_size: Json,
    /// The parameters with their values, in the order of the keys.
    pub parameters: Vec<(String, Vec<Value>)>,
    /// The name of the field that is minimised or maximised, usually `time`.
    pub objective: String,
    /// The configurations, in the order of the file.
    pub entries: Vec<CacheEntry>,
}

/// One configuration of a cache file.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheEntry {
    /// The values of the parameters, in their order.
    pub values: Vec<Value>,
    /// The objective (in seconds if it is a time), or why there is none.
    pub outcome: Outcome,
    /// All measurements, in seconds.
    pub samples: Vec<f64>,
    /// All other fields: compile times and the like, in milliseconds.
    pub other: Map<String, Json>,
}

const MS: f64 = 1e-3;
/// The failures that Kernel Tuner writes in place of a time.
const FAILURES: &[(&str, FailureKind)] = &[
    ("CompilationFailedConfig", FailureKind::Compile),
    ("RuntimeFailedConfig", FailureKind::Runtime),
    ("InvalidConfig", FailureKind::Constraints),
];

impl KernelTunerCache {
    /// Parses a file, whether finished or not.
    ///
    /// # Errors
    /// When the text is not such a file; the message says where.
    pub fn read(text: &str) -> Result<Self, SpaceError> {
        let wrong = |message: String| SpaceError(format!("Kernel Tuner cache: {}", printable(&message)));
        let text = without_nan(text);
        let root: Json = match serde_json::from_str(&text) {
            Ok(root) => root,
            Err(error) => {
                let open = text.trim_end().trim_end_matches(',');
                serde_json::from_str(&format!("{open}}}}}")).map_err(|_| wrong(error.to_string()))?
            }
        };
        let text_of = |name: &str| root[name].as_str().unwrap_or_default().to_owned();
        let keys = root["tune_params_keys"].as_array().filter(|keys| !keys.is_empty());
        let keys = keys.ok_or_else(|| wrong("no tune_params_keys".into()))?;
        let parameters = keys.iter().map(|key| read_parameter(key, &root["tune_params"])).collect::<Result<_, _>>();
        let parameters: Vec<(String, Vec<Value>)> = parameters.map_err(wrong)?;
        let objective = root["objective"].as_str().unwrap_or("time").to_owned();
        let entries = root["cache"].as_object().ok_or_else(|| wrong("no cache".into()))?;
        let entry = |(key, fields): (&String, &Json)| {
            CacheEntry::read(fields, &parameters, &objective).map_err(|error| wrong(format!("entry {key:?}: {error}")))
        };
        Ok(Self {
            device_name: text_of("device_name"),
            kernel_name: text_of("kernel_name"),
            problem_size: root["problem_size"].clone(),
            entries: entries.iter().map(entry).collect::<Result<_, _>>()?,
            parameters,
            objective,
        })
    }

    /// Returns the text of the finished file.
    pub fn write(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.0.as_str()).collect();
        let values = |values: &Vec<Value>| Json::Array(values.iter().map(to_json).collect());
        let parameters: Map<_, _> = self.parameters.iter().map(|(name, list)| (name.clone(), values(list))).collect();
        let entries: Map<_, _> =
            self.entries.iter().map(|entry| (entry.key(), entry.write(&names, &self.objective))).collect();
        let root = json!({
            "device_name": self.device_name,
            "kernel_name": self.kernel_name,
            "problem_size": self.problem_size,
            "tune_params_keys": names,
            "tune_params": parameters,
            "objective": self.objective,
            "cache": entries,
        });
        format!("{root:#}\n")
    }

    /// Converts the file's configurations to a table, with the entry of each row.
    pub fn configurations(&self) -> (Configurations, Vec<&CacheEntry>) {
        let names: Vec<String> = self.parameters.iter().map(|parameter| parameter.0.clone()).collect();
        let lists: Vec<Vec<Value>> = self.parameters.iter().map(|parameter| parameter.1.clone()).collect();
        let cell =
            |(value, list): (&Value, &Vec<Value>)| list.iter().position(|known| known == value).unwrap_or(0) as u16;
        let mut rows: Vec<(Vec<u16>, &CacheEntry)> =
            self.entries.iter().map(|entry| (entry.values.iter().zip(&lists).map(cell).collect(), entry)).collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows.dedup_by(|a, b| a.0 == b.0);
        let cells = rows.iter().flat_map(|row| row.0.iter().copied()).collect();
        (Configurations::new(names, lists, cells), rows.into_iter().map(|row| row.1).collect())
    }

    /// Converts an entry to a configuration.
    pub fn config(&self, entry: &CacheEntry) -> Config {
        let names: Arc<[String]> = self.parameters.iter().map(|parameter| parameter.0.clone()).collect();
        Config::new(names, entry.values.clone())
    }
}

/// The text with `null` for the words that Python writes for numbers that JSON does not have.
fn without_nan(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['"', 'N', 'I', '-']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| from.starts_with(word));
        let length = word.map_or_else(|| string_length(from), str::len);
        out.push_str(if word.is_some() { "null" } else { &from[..length] });
        rest = &from[length..];
    }
    Cow::Owned(out + rest)
}

/// The length of the string that a text begins with, with its quotes; 1 if it begins with none.
fn string_length(text: &str) -> usize {
    if !text.starts_with('"') {
        return 1;
    }
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn read_parameter(key: &Json, lists: &Json) -> Result<(String, Vec<Value>), String> {
    let name = key.as_str().ok_or("a key of tune_params_keys is no text")?;
    let list = lists[name].as_array().ok_or_else(|| format!("no values of {name} in tune_params"))?;
    Ok((name.to_owned(), list.iter().map(from_json).collect::<Result<_, _>>()?))
}

impl CacheEntry {
    fn read(fields: &Json, parameters: &[(String, Vec<Value>)], objective: &str) -> Result<Self, String> {
        let mut fields = fields.as_object().ok_or("expected an object")?.clone();
        let mut values = Vec::with_capacity(parameters.len());
        for (name, list) in parameters {
            let value = from_json(&fields.shift_remove(name).ok_or_else(|| format!("no value of {name}"))?)?;
            if !list.contains(&value) {
                return Err(format!("{name} is {value}, which tune_params does not have"));
            }
            values.push(value);
        }
        let outcome = match fields.shift_remove(objective).ok_or_else(|| format!("no {objective}"))? {
            Json::Number(number) => number.as_f64().map(|number| Outcome::Score(number * MS)).ok_or("no number")?,
            Json::String(text) => {
                let known = FAILURES.iter().find(|(name, _)| text.contains(name));
                let kind = known.ok_or_else(|| format!("{objective} is {text:?}; expected a number or a failure"))?.1;
                Outcome::Failed(Failure { kind, message: text })
            }
            Json::Null => {
                Outcome::Failed(Failure::new(FailureKind::Runtime, format!("{objective} is no finite number")))
            }
            other => return Err(format!("{objective} is {other}; expected a number")),
        };
        let samples = match fields.shift_remove("times") {
            Some(Json::Array(times)) => times.iter().filter_map(Json::as_f64).map(|time| time * MS).collect(),
            _ => Vec::new(),
        };
        Ok(Self { values, outcome, samples, other: fields })
    }

    fn write(&self, names: &[&str], objective: &str) -> Json {
        let mut fields: Map<String, Json> =
            names.iter().zip(&self.values).map(|(name, value)| ((*name).to_owned(), to_json(value))).collect();
        let score = match &self.outcome {
            Outcome::Score(seconds) => json!(seconds / MS),
            Outcome::Failed(failure) => {
                let name =
                    FAILURES.iter().find(|(_, kind)| *kind == failure.kind).map_or("RuntimeFailedConfig", |f| f.0);
                json!(name)
            }
        };
        fields.insert(objective.to_owned(), score);
        if !self.samples.is_empty() {
            fields
                .insert("times".into(), Json::Array(self.samples.iter().map(|seconds| json!(seconds / MS)).collect()));
        }
        fields.extend(self.other.clone());
        // Kernel Tuner adds these up when it replays a file.
        for name in ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"] {
            fields.entry(name).or_insert(json!(0.0));
        }
        Json::Object(fields)
    }

    /// Kernel Tuner's key: the values in order, with commas.
    fn key(&self) -> String {
        let text = |value: &Value| match value {
            Value::Str(text) => text.clone(),
            other => other.to_string(),
        };
        self.values.iter().map(text).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"device_name": "A", "kernel_name": "k", "problem_size": [4096, 4096],
        "tune_params_keys": ["bx", "mode"], "tune_params": {"bx": [16, 32], "mode": ["a", "b"]}, "objective": "time",
        "cache": {
        "16,a": {"bx": 16, "mode": "a", "time": 2.5, "times": [2.5, 3.0], "compile_time": 100.0},
        "32,a": {"bx": 32, "mode": "a", "time": "CompilationFailedConfig"},
        "16,b": {"bx": 16, "mode": "b", "time": 1.5, "times": [1.5]}"#;

    #[test]
    fn files_are_read_whether_finished_or_not() {
        let open = KernelTunerCache::read(&format!("{FILE},\n")).unwrap();
        let cache = KernelTunerCache::read(&format!("{FILE}}}}}")).unwrap();
        assert_eq!(open, cache);
        assert_eq!(cache.entries.len(), 3);
        assert_eq!(cache.entries[0].samples, [2.5e-3, 3e-3]);
        let Outcome::Failed(failure) = &cache.entries[1].outcome else { panic!("a failure") };
        assert_eq!(failure.kind, FailureKind::Compile);
        let (table, entries) = cache.configurations();
        assert_eq!(table.config(1).to_string(), "bx=16, mode='b'");
        assert_eq!(entries[1].outcome, Outcome::Score(1.5e-3));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let cache = KernelTunerCache::read(&format!("{FILE}}}}}")).unwrap();
        let again = KernelTunerCache::read(&cache.write()).unwrap();
        assert_eq!(again.write(), cache.write());
        assert_eq!(again.entries[0].outcome, cache.entries[0].outcome);
    }

    /// Each of them is found in a time that does not depend on what follows.
    #[test]
    fn many_numbers_that_json_lacks_are_read_at_once() {
        let file = FILE.replace("3.0]", &format!("{}3.0]", "NaN, -5, -Infinity, ".repeat(100_000)));
        let begun = std::time::Instant::now();
        KernelTunerCache::read(&file).unwrap();
        assert!(begun.elapsed().as_secs() < 5);
    }

    #[test]
    fn numbers_of_python_that_are_none_are_read() {
        let file = FILE.replace("3.0]", "NaN, -Infinity, 3.0]").replace("\"A\"", "\"NaN \\\" Infinity\"") + "}}";
        let cache = KernelTunerCache::read(&file.replace("\"time\": 1.5", "\"time\": Infinity")).unwrap();
        assert_eq!(cache.device_name, "NaN \" Infinity");
        assert_eq!(cache.entries[0].samples, [2.5e-3, 3e-3]);
        assert!(
            matches!(&cache.entries[2].outcome, Outcome::Failed(failure) if failure.message.contains("no finite number"))
        );
    }

    #[test]
    fn files_cut_anywhere_are_read_or_refused() {
        let file = FILE.to_owned() + "}}";
        let whole = KernelTunerCache::read(&file).unwrap();
        for end in (0..file.len()).filter(|&end| file.is_char_boundary(end)) {
            if let Ok(cut) = KernelTunerCache::read(&file[..end]) {
                assert_eq!(cut.entries[..], whole.entries[..cut.entries.len()], "{end}");
            }
        }
    }

    #[test]
    fn other_files_are_refused() {
        let message = |text: &str| KernelTunerCache::read(text).unwrap_err().to_string();
        assert!(message("[]").contains("no tune_params_keys"));
        let keys = r#""tune_params_keys": ["bx", "mode"]"#;
        assert!(message(&FILE.replace(keys, r#""tune_params_keys": []"#)).contains("no tune_params_keys"));
        assert!(message("{\"tune").contains("Kernel Tuner cache"));
        let hostile = FILE.replace("\"bx\": 16, \"mode\": \"a\"", "\"bx\": \"16); evil(\", \"mode\": \"a\"") + "}}";
        assert!(message(&hostile).contains("which tune_params does not have"));
        assert!(message(&(FILE.replace("2.5,", "\"Odd\",") + "}}")).contains("expected a number or a failure"));
    }
}
