//! Decisions as data: what tools enumerate, stores hold, and checks verify.

use super::value::ParameterValue;
use crate::DeviceInfo;
use smallvec::SmallVec;
use std::fmt;

/// How precisely a number that describes a problem is stored in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// Exactly.
    Exact,
    /// Rounded up to a power of two.
    PowerOfTwo,
}

/// A field of a problem's description.
#[derive(Debug, Clone)]
pub struct ProblemField {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// How precisely it is stored in a key.
    pub bucket: Bucket,
}

/// A parameter of a configuration.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// Its candidate values.
    pub values: Vec<ParameterValue>,
}

impl Parameter {
    /// Finds the candidate with this Python `repr`.
    pub fn parse(&self, text: &str) -> Option<ParameterValue> {
        self.values.iter().copied().find(|value| value.to_string() == text)
    }
}

/// Checks a configuration for a problem on a device.
type CheckFn = fn(&Config, &Problem, &DeviceInfo) -> Result<(), Refusal>;
/// What the rule chooses.
type RuleFn = fn(&Problem, &DeviceInfo) -> Option<Config>;

/// What a kernel leaves open.
pub struct Decision {
    /// Its name: family and part, such as `scan.tiles`.
    pub name: &'static str,
    /// What is decided.
    pub doc: &'static str,
    /// The fields that describe a problem. Which result applies depends only on these and on the device.
    pub problem: Vec<ProblemField>,
    /// The parameters of a configuration.
    pub parameters: Vec<Parameter>,
    /// Constraints that every usable configuration satisfies: Python expressions over the names of the parameters, of
    /// the problem and of [`DeviceInfo::quantities`]. Few decisions have further conditions, which only
    /// [`Decision::check`] knows.
    pub constraints: Vec<String>,
    pub(super) check: CheckFn,
    pub(super) rule: RuleFn,
}

impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decision").field(&self.name).finish()
    }
}

/// Decisions are told apart by their names.
impl PartialEq for Decision {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Decision {}

impl Decision {
    #[doc(hidden)]
    #[allow(clippy::too_many_arguments, reason = "called by a macro, which keeps them in order")]
    pub fn new(
        name: &'static str,
        doc: &'static str,
        problem: Vec<ProblemField>,
        parameters: Vec<Parameter>,
        constraints: Vec<String>,
        check: CheckFn,
        rule: RuleFn,
    ) -> Self {
        Self { name, doc: doc.trim(), problem, parameters, constraints, check, rule }
    }

    /// Parses a configuration from values, each as its Python `repr`, in any order.
    ///
    /// # Errors
    /// When a parameter is missing or unknown, or a value is not a candidate.
    pub fn parse_config<'a>(
        &'static self,
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Config, Refusal> {
        let mut found: SmallVec<[Option<ParameterValue>; 12]> = SmallVec::from_elem(None, self.parameters.len());
        for (name, text) in values {
            let at = self.parameters.iter().position(|parameter| parameter.name == name);
            let at = at.ok_or_else(|| self.refusal(format!("{name} is no parameter of it")))?;
            let value = self.parameters[at].parse(text);
            found[at] = Some(value.ok_or_else(|| self.refusal(format!("{text} is no candidate of {name}")))?);
        }
        let missing = |at: usize| self.refusal(format!("{} is missing", self.parameters[at].name));
        let values = found.iter().enumerate().map(|(at, value)| value.ok_or_else(|| missing(at)));
        Ok(Config { decision: self, values: values.collect::<Result<_, _>>()? })
    }

    /// The rule's configuration.
    ///
    /// # Errors
    /// When `problem` belongs to another decision.
    pub fn default_config(&self, problem: &Problem, device: &DeviceInfo) -> Result<Config, Refusal> {
        (self.rule)(problem, device).ok_or_else(|| self.refusal("the problem is one of another decision".into()))
    }

    /// Checks that kernels can run with a configuration: its values are candidates, and the constraints hold.
    ///
    /// # Errors
    /// When they do not; the error says which value or constraint.
    pub fn check(&self, config: &Config, problem: &Problem, device: &DeviceInfo) -> Result<(), Refusal> {
        if config.decision != self || problem.decision != self {
            return Err(self.refusal("the configuration or the problem is one of another decision".into()));
        }
        for (parameter, value) in self.parameters.iter().zip(&config.values) {
            if !parameter.values.contains(value) {
                return Err(self.refusal(format!("{} = {value} is no candidate", parameter.name)));
            }
        }
        (self.check)(config, problem, device)
    }

    pub(super) fn refusal(&self, reason: String) -> Refusal {
        Refusal { decision: self.name, reason }
    }
}

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the decision.
    pub decision: &'static str,
    /// The value or constraint that is violated.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.decision, self.reason)
    }
}

impl std::error::Error for Refusal {}

/// A problem of a decision, as values in the order of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The decision.
    pub decision: &'static Decision,
    /// The values.
    pub values: SmallVec<[ParameterValue; 12]>,
}

impl Problem {
    /// The values under which results are stored: fields that are rounded to powers of two are rounded.
    pub fn key(&self) -> SmallVec<[ParameterValue; 12]> {
        let fields = self.decision.problem.iter().zip(&self.values);
        let value = |(field, value): (&ProblemField, &ParameterValue)| match (field.bucket, *value) {
            (Bucket::PowerOfTwo, ParameterValue::Int(number)) => {
                ParameterValue::Int(number.max(1).cast_unsigned().next_power_of_two().cast_signed())
            }
            (_, value) => value,
        };
        fields.map(value).collect()
    }
}

/// `scan.tiles(item_bytes=4, n=1000000)`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.decision.problem.iter().map(|field| field.name);
        write_call(f, self.decision.name, names.zip(&self.values))
    }
}

/// A configuration, as values in the order of the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The decision.
    pub decision: &'static Decision,
    /// The values.
    pub values: SmallVec<[ParameterValue; 12]>,
}

impl Config {
    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, ParameterValue)> {
        self.decision.parameters.iter().map(|parameter| parameter.name).zip(self.values.iter().copied())
    }

    /// A copy with another value of a parameter; unchanged if there is no such parameter.
    #[must_use]
    pub fn with(&self, name: &str, value: ParameterValue) -> Self {
        let mut changed = self.clone();
        let at = self.decision.parameters.iter().position(|parameter| parameter.name == name);
        if let Some(at) = at {
            changed.values[at] = value;
        }
        changed
    }
}

/// `scan.tiles(threads=256, items=16)`.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.decision.parameters.iter().map(|parameter| parameter.name);
        write_call(f, self.decision.name, names.zip(&self.values))
    }
}

fn write_call<'a>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    values: impl Iterator<Item = (&'static str, &'a ParameterValue)>,
) -> fmt::Result {
    write!(f, "{name}(")?;
    for (at, (name, value)) in values.enumerate() {
        write!(f, "{}{name}={value}", if at == 0 { "" } else { ", " })?;
    }
    f.write_str(")")
}
