//! The T1 format for descriptions of search spaces (1.0.0), and the older one of BAT: JSON.
//!
//! Source: the FAIR auto-tuning formats of the AutoTuningAssociation. A parameter's values are a list, or text that
//! Python would evaluate to a list.

use crate::expression::Expression;
use crate::space::{Space, SpaceError};
use crate::value::Value;
use serde_json::{Map, Value as Json, json};

/// A T1 file: the space, and unchanged what the file says about the kernel and the search.
#[derive(Debug, Clone)]
pub struct T1 {
    /// The search space.
    pub space: Space,
    /// `KernelSpecification`: language, name, file, sizes, arguments.
    pub kernel: Map<String, Json>,
    /// `General`, `Search`, `Budget` and the like.
    pub other: Map<String, Json>,
}

impl T1 {
    /// Parses a file.
    ///
    /// # Errors
    /// When the text is not a JSON object with a valid `ConfigurationSpace`; the message says where.
    pub fn read(text: &str) -> Result<Self, SpaceError> {
        let wrong = |message: &str| SpaceError(format!("T1 file: {message}"));
        let mut root: Map<String, Json> = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        let description = root.shift_remove("ConfigurationSpace").ok_or_else(|| wrong("no ConfigurationSpace"))?;
        let list = |name: &str| match &description[name] {
            Json::Array(items) => Ok(items.clone()),
            Json::Null => Ok(Vec::new()),
            other => Err(wrong(&format!("{name} is {other}; expected a list"))),
        };
        let mut space = Space::new();
        for parameter in list("TuningParameters")? {
            let name = parameter["Name"].as_str().ok_or_else(|| wrong("a parameter without a Name"))?;
            let values = read_values(&parameter["Values"]).map_err(|error| wrong(&format!("{name}: {error}")))?;
            space = space.parameter(name, values.clone())?;
            if let Some(default) = read_default(&parameter["Default"], &values) {
                space = space.default_value(name, default)?;
            }
        }
        for condition in list("Conditions")? {
            let text = condition["Expression"].as_str().ok_or_else(|| wrong("a condition without an Expression"))?;
            space = space.require(text)?;
        }
        let kernel = match root.shift_remove("KernelSpecification") {
            Some(Json::Object(kernel)) => kernel,
            _ => Map::new(),
        };
        Ok(Self { space, kernel, other: root })
    }

    /// Returns the file's text.
    pub fn write(&self) -> String {
        let parameters: Vec<Json> = self.space.parameters.iter().map(|parameter| {
            let values: Vec<Json> = parameter.values.iter().map(to_json).collect();
            let default = to_json(&parameter.values[parameter.default]);
            json!({"Name": parameter.name, "Type": type_name(&parameter.values[0]), "Values": values, "Default": default})
        }).collect();
        let names: Vec<&str> = self.space.names().collect();
        let conditions: Vec<Json> = self
            .space
            .constraints()
            .map(|text| {
                let used = Expression::parse(text).map_or_else(|_| Vec::new(), |parsed| parsed.names().to_vec());
                let used: Vec<_> = used.into_iter().filter(|name| names.contains(&name.as_str())).collect();
                json!({"Expression": text, "Parameters": used})
            })
            .collect();
        let mut root = self.other.clone();
        root.insert("ConfigurationSpace".into(), json!({"TuningParameters": parameters, "Conditions": conditions}));
        root.insert("KernelSpecification".into(), Json::Object(self.kernel.clone()));
        format!("{:#}\n", Json::Object(root))
    }
}

/// A list, or text for one.
fn read_values(values: &Json) -> Result<Vec<Value>, String> {
    match values {
        Json::Array(items) => items.iter().map(from_json).collect(),
        Json::String(text) => {
            let value = Expression::parse(text).and_then(|parsed| parsed.evaluate(&|_| None));
            match value.map_err(|error| error.to_string())? {
                Value::Tuple(items) => Ok(items),
                other => Err(format!("Values is {other}; expected a list")),
            }
        }
        other => Err(format!("Values is {other}; expected a list")),
    }
}

/// The default, where it is one of the values; files have others too.
fn read_default(default: &Json, values: &[Value]) -> Option<Value> {
    let stated = from_json(default).ok()?;
    let is_same = |value: &&Value| match (value.as_f64(), stated.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => **value == stated,
    };
    values.iter().find(is_same).cloned()
}

/// A value of JSON; lists are tuples.
pub(crate) fn from_json(value: &Json) -> Result<Value, String> {
    match value {
        Json::Bool(flag) => Ok(Value::Bool(*flag)),
        Json::String(text) => Ok(Value::Str(text.clone())),
        Json::Array(items) => items.iter().map(from_json).collect::<Result<_, _>>().map(Value::Tuple),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Value::Int(integer)),
            (None, Some(float)) if float.is_finite() => Ok(Value::Float(float)),
            _ => Err(format!("{number} is no number of 64 bits")),
        },
        other => Err(format!("{other} is no value of a parameter")),
    }
}

/// A value as JSON.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Str(text) => json!(text),
        Value::Tuple(items) => Json::Array(items.iter().map(to_json).collect()),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Str(_) => "string",
        Value::Tuple(_) => "list",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"General": {"BenchmarkName": "copy"},
        "ConfigurationSpace": {"TuningParameters": [
            {"Name": "block", "Type": "int", "Values": "[16] + list(range(32, 129, 32))", "Default": 64},
            {"Name": "unroll", "Type": "int", "Values": "[2**i for i in range(0, 3)]"},
            {"Name": "mode", "Type": "string", "Values": ["a", "b"], "Default": "none"}],
          "Conditions": [{"Expression": "block % 32 == 0 || unroll == 1", "Parameters": ["block", "unroll"]}]},
        "KernelSpecification": {"Language": "CUDA", "KernelName": "copy"}, "Budget": [{"Type": "ConfigurationCount"}]}"#;

    #[test]
    fn files_are_read_and_written() {
        let file = T1::read(FILE).unwrap();
        assert_eq!(file.kernel["KernelName"], "copy");
        assert_eq!(file.space.default_config().to_string(), "block=64, unroll=1, mode='a'");
        assert_eq!(file.space.enumerate().unwrap().len(), (4 * 3 + 1) * 2);
        let again = T1::read(&file.write()).unwrap();
        assert_eq!(again.write(), file.write());
        assert_eq!(again.space.enumerate().unwrap().len(), (4 * 3 + 1) * 2);
        assert_eq!(again.other["Budget"], file.other["Budget"]);
    }

    #[test]
    fn files_that_are_none_are_refused() {
        let message = |text: &str| T1::read(text).unwrap_err().to_string();
        assert!(message("[1]").contains("T1 file"));
        assert!(message("{}").contains("no ConfigurationSpace"));
        assert!(message(&FILE.replace("[2**i for", "[open(i) for")).contains("unroll: expression"));
        assert!(message(&FILE.replace("\"unroll\", \"Type\"", "\"block\", \"Type\"")).contains("there twice"));
    }
}
