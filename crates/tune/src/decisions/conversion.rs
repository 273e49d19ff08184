//! Conversions between the decisions, problems and configurations of array kernels and the types of the tuner.

use crate::store::{KernelKey, Problem};
use crate::{Config, Configurations, Space, SpaceError, Value};
use rtcg_hal::tuning::{Decision, ParameterValue};
use rtcg_hal::{DeviceInfo, tuning};
use std::sync::Arc;

/// The key under which results of a decision are stored: its name, what describes its problems, and its parameters.
pub fn decision_key(decision: &Decision) -> KernelKey {
    let fields: Vec<String> = decision.problem.iter().map(|field| field.name.to_owned()).collect();
    let parameters: Vec<String> = decision.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
    KernelKey::new(decision.name, "", &fields, &parameters)
}

/// Converts a problem to the form in which it is stored beside results.
pub fn decision_problem(problem: &tuning::Problem) -> Problem {
    let names = problem.decision.problem.iter().map(|field| field.name.to_owned());
    Problem(names.zip(problem.key().into_iter().map(value)).collect())
}

/// Lists all configurations with which a kernel can run for a problem on a device.
///
/// # Errors
/// When there is none.
pub fn decision_space(problem: &tuning::Problem, device: DeviceInfo) -> Result<Configurations, SpaceError> {
    let decision = problem.decision;
    let mut space = Space::new();
    for parameter in &decision.parameters {
        space = space.parameter(parameter.name, parameter.values.iter().copied().map(value))?;
    }
    let fields = decision.problem.iter().map(|field| field.name).zip(problem.values.iter().map(ToString::to_string));
    let quantities = device.quantities().map(|(name, number)| (name, number.to_string()));
    let known: Vec<(&str, String)> = fields.chain(quantities).collect();
    for constraint in &decision.constraints {
        space = space.require(&with_known_names(constraint, &known))?;
    }
    let problem = problem.clone();
    let is_possible = move |config: &Config| {
        let config = config_from_values(problem.decision, config);
        Ok(config.is_some_and(|config| problem.decision.check(&config, &problem, &device).is_ok()))
    };
    space.require_function("the kernel can run with it", Arc::new(is_possible)).enumerate()
}

/// Converts a decision's configuration to the tuner's type.
pub fn values_of_config(config: &tuning::Config) -> Config {
    let (names, values): (Vec<String>, Vec<Value>) =
        config.iter().map(|(name, number)| (name.to_owned(), value(number))).unzip();
    Config::new(names.into(), values)
}

/// Converts a tuner's configuration to one of a decision; `None` if one of its values is not a candidate.
pub fn config_from_values(decision: &'static Decision, config: &Config) -> Option<tuning::Config> {
    let texts: Vec<(&str, String)> = config.iter().map(|(name, value)| (name, value.to_string())).collect();
    decision.parse_config(texts.iter().map(|(name, text)| (*name, text.as_str()))).ok()
}

fn value(value: ParameterValue) -> Value {
    match value {
        ParameterValue::Bool(flag) => Value::Bool(flag),
        ParameterValue::Int(number) => Value::Int(number),
        ParameterValue::Name(name) => Value::Str(name.to_owned()),
    }
}

/// An expression with numbers and texts in place of these names.
fn with_known_names(expression: &str, known: &[(&str, String)]) -> String {
    let mut result = String::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        // What is quoted is no name.
        let end = if first == '"' { rest[1..].find('"').map_or(rest.len(), |at| at + 2) } else { end };
        let (word, behind) = rest.split_at(end);
        let replaced = known.iter().find(|(name, _)| *name == word).map_or(word, |(_, text)| text);
        result.push_str(replaced);
        rest = behind;
    }
    result
}
