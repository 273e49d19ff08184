//! Search spaces: named parameters with values, conditions and constraints.

use crate::configurations::Config;
use crate::expression::{Expression, ExpressionError};
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A search space.
///
/// ```
/// use rtcg_tune::Space;
///
/// let space = Space::new()
///     .parameter("bx", [16, 32, 64])?
///     .parameter("by", [1, 2, 4, 8])?
///     .parameter("stage", [false, true])?
///     .parameter_when("pad", [0, 1], "stage")?
///     .require("bx * by <= 256")?;
/// let configurations = space.enumerate()?;
/// assert_eq!(configurations.len(), 11 * 3);
/// # Ok::<(), rtcg_tune::SpaceError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Space {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) constraints: Vec<Constraint>,
}

/// A parameter.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
    /// Where this does not hold, the parameter means nothing and has its default.
    pub(crate) when: Option<Expression>,
    /// The place of the default among the values.
    pub(crate) default: usize,
}

/// What a configuration must fulfil.
#[derive(Clone)]
pub(crate) enum Constraint {
    Expression(Expression),
    /// A function of the whole configuration, and its name for messages.
    Function(String, ConfigPredicate),
}

/// Accepts or rejects a configuration; an error ends the enumeration.
pub type ConfigPredicate = Arc<dyn Fn(&Config) -> Result<bool, String> + Send + Sync>;

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Constraint {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Expression(expression) => expression.text(),
            Self::Function(name, _) => name,
        }
    }
}

impl Space {
    /// Makes a space without parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter. Its first value is the default.
    ///
    /// # Errors
    /// When the name is not an identifier or already exists, there is no value, a value is repeated, or a float is not
    /// finite.
    pub fn parameter<V: Into<Value>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, SpaceError> {
        self.add(name, values.into_iter().map(Into::into).collect(), None)
    }

    /// Adds those of the parameters that the space lacks, such as the ones that a transformed tree names.
    ///
    /// # Errors
    /// As [`Space::parameter`].
    pub fn join<N: AsRef<str>, V: Into<Value>>(
        self,
        more: impl IntoIterator<Item = (N, Vec<V>)>,
    ) -> Result<Self, SpaceError> {
        more.into_iter().try_fold(self, |space, (name, values)| match space.values(name.as_ref()) {
            Some(_) => Ok(space),
            None => space.parameter(name.as_ref(), values),
        })
    }

    /// Adds a parameter that only matters if `condition` holds; otherwise it has its first value, so that a meaningless
    /// choice counts as one configuration.
    ///
    /// # Errors
    /// As [`Space::parameter`], and when the condition is not a valid expression.
    pub fn parameter_when<V: Into<Value>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = V>,
        condition: &str,
    ) -> Result<Self, SpaceError> {
        let condition = Expression::parse(condition)?;
        self.add(name, values.into_iter().map(Into::into).collect(), Some(condition))
    }

    fn add(mut self, name: &str, values: Vec<Value>, when: Option<Expression>) -> Result<Self, SpaceError> {
        check_name(name)?;
        if self.parameters.iter().any(|known| known.name == name) {
            return Err(SpaceError(format!("parameter {name:?} is there twice")));
        }
        if values.is_empty() {
            return Err(SpaceError(format!("parameter {name:?} has no values; expected one or more")));
        }
        if values.len() > usize::from(u16::MAX) {
            return Err(SpaceError(format!("parameter {name:?} has {} values; expected at most 65535", values.len())));
        }
        if let Some(value) = values.iter().find(|value| !is_finite(value)) {
            return Err(SpaceError(format!("parameter {name:?} has the value {value}; expected finite numbers")));
        }
        if let Some(at) = (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
            return Err(SpaceError(format!("parameter {name:?} has the value {} twice", values[at])));
        }
        self.parameters.push(Parameter { name: name.to_owned(), values, when, default: 0 });
        Ok(self)
    }

    /// Sets the default of a parameter.
    ///
    /// # Errors
    /// When there is no such parameter, or it does not have the value.
    pub fn default_value(mut self, name: &str, value: impl Into<Value>) -> Result<Self, SpaceError> {
        let value = value.into();
        let known = self.known_names();
        let parameter = self.parameters.iter_mut().find(|parameter| parameter.name == name);
        let parameter =
            parameter.ok_or_else(|| SpaceError(format!("there is no parameter {name:?}; expected one of {known}")))?;
        parameter.default = parameter.position(&value)?;
        Ok(self)
    }

    /// Adds a constraint, which may name parameters that are added later.
    ///
    /// # Errors
    /// When the text is not a valid expression.
    pub fn require(mut self, constraint: &str) -> Result<Self, SpaceError> {
        self.constraints.push(Constraint::Expression(Expression::parse(constraint)?));
        Ok(self)
    }

    /// Adds a constraint given as a function of the whole configuration; messages refer to it by `name`.
    pub fn require_function(mut self, name: &str, predicate: ConfigPredicate) -> Self {
        self.constraints.push(Constraint::Function(name.to_owned(), predicate));
        self
    }

    /// The names of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// The values of a parameter.
    pub fn values(&self, name: &str) -> Option<&[Value]> {
        self.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| &parameter.values[..])
    }

    /// The constraints as text.
    pub fn constraints(&self) -> impl Iterator<Item = &str> {
        self.constraints.iter().map(Constraint::text)
    }

    /// The configuration of all defaults, whether or not it is valid.
    pub fn default_config(&self) -> Config {
        let names: Arc<[String]> = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        Config::new(
            names,
            self.parameters.iter().map(|parameter| parameter.values[parameter.default].clone()).collect(),
        )
    }

    /// Checks that a configuration from a store or a file belongs to this space: it must have a declared value for each
    /// parameter, have no other parameters, and satisfy all constraints.
    ///
    /// # Errors
    /// When it does not; the error says which parameter or constraint, the value, and what was expected.
    pub fn check(&self, config: &Config) -> Result<(), SpaceError> {
        if let Some((name, _)) = config.iter().find(|(name, _)| !self.names().any(|known| known == *name)) {
            let shown: String = name.chars().take(60).collect();
            return Err(SpaceError(format!("there is no parameter {shown:?}; expected {}", self.known_names())));
        }
        for parameter in &self.parameters {
            let value = config.get(&parameter.name);
            let value = value.ok_or_else(|| SpaceError(format!("parameter {:?} has no value", parameter.name)))?;
            let place = parameter.position(value)?;
            let holds =
                |when: &Expression| Ok::<_, SpaceError>(when.evaluate(&|name| config.get(name).cloned())?.is_truthy());
            if let Some(when) = &parameter.when
                && place != parameter.default
                && !holds(when)?
            {
                let default = &parameter.values[parameter.default];
                return Err(SpaceError(format!(
                    "parameter {:?} is {value}; expected {default} where {:?} does not hold",
                    parameter.name,
                    when.text()
                )));
            }
        }
        for constraint in &self.constraints {
            if !constraint.holds(config)? {
                return Err(SpaceError(format!("configuration ({config}) violates {:?}", constraint.text())));
            }
        }
        Ok(())
    }

    fn known_names(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }
}

impl Constraint {
    /// Whether a whole configuration fulfils it.
    pub(crate) fn holds(&self, config: &Config) -> Result<bool, SpaceError> {
        match self {
            Self::Expression(expression) => Ok(expression.evaluate(&|name| config.get(name).cloned())?.is_truthy()),
            Self::Function(name, predicate) => {
                predicate(config).map_err(|error| SpaceError(format!("constraint {name}, ({config}): {error}")))
            }
        }
    }
}

impl Parameter {
    fn position(&self, value: &Value) -> Result<usize, SpaceError> {
        self.values.iter().position(|known| known == value).ok_or_else(|| {
            let known: Vec<_> = self.values.iter().take(20).map(ToString::to_string).collect();
            let more = if self.values.len() > known.len() { ", ..." } else { "" };
            let shown: String = value.to_string().chars().take(60).collect();
            SpaceError(format!("parameter {:?} is {shown}; expected one of {}{more}", self.name, known.join(", ")))
        })
    }
}

fn check_name(name: &str) -> Result<(), SpaceError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_word) {
        return Err(SpaceError(format!("parameter {name:?}: expected an identifier")));
    }
    Ok(())
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::Tuple(items) => items.iter().all(is_finite),
        _ => true,
    }
}

/// What is wrong with a space or a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceError(pub(crate) String);

/// Characters of an error that are shown: names and values of a file may be of any length.
const SHOWN_ERROR_CHARS: usize = 2000;

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(SHOWN_ERROR_CHARS) {
            Some((end, _)) => write!(f, "{}...", &self.0[..end]),
            None => f.write_str(&self.0),
        }
    }
}

impl std::error::Error for SpaceError {}

impl From<ExpressionError> for SpaceError {
    fn from(error: ExpressionError) -> Self {
        Self(error.to_string())
    }
}
