//! The problem for which a result was measured.

use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The values that determine which result applies, by name: sizes and dtypes. Numbers that must match exactly, such as
/// a tolerance, belong in the options of the kernel's key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Problem(pub Vec<(String, Value)>);

impl Problem {
    /// Puts the values of these names into buckets; the others do not change.
    pub fn bucketed(mut self, buckets: &[(String, Bucket)]) -> Self {
        for (name, value) in &mut self.0 {
            if let Some((_, bucket)) = buckets.iter().find(|(known, _)| known == name) {
                *value = bucket.apply(value);
            }
        }
        self
    }

    /// Whether names and values are equal, in any order.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|(name, value)| other.get(name) == Some(value))
    }

    /// The distance between two problems: the sum of the absolute base-2 logarithms of the ratios of their numbers.
    /// `None` if they differ in names or in values that are not numbers.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        if self.0.len() != other.0.len() {
            return None;
        }
        self.0.iter().try_fold(0.0, |sum, (name, value)| Some(sum + value_distance(value, other.get(name)?)?))
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find_map(|(known, value)| (known == name).then_some(value))
    }
}

fn value_distance(ours: &Value, theirs: &Value) -> Option<f64> {
    match (ours, theirs) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            let (ours, theirs) = (ours.as_f64()?, theirs.as_f64()?);
            let log = |number: f64| number.signum() * (number.abs() + 1.0).log2();
            Some((log(ours) - log(theirs)).abs()).filter(|distance| distance.is_finite())
        }
        (Value::Tuple(ours), Value::Tuple(theirs)) if ours.len() == theirs.len() => {
            let mut pairs = ours.iter().zip(theirs);
            pairs.try_fold(0.0, |sum, (ours, theirs)| Some(sum + value_distance(ours, theirs)?))
        }
        _ => (ours == theirs).then_some(0.0),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Which numbers of a problem share results. A bucket is represented by one of its numbers, so that distances between
/// buckets are distances between sizes. A value that is not a number is its own bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bucket {
    /// Every number is its own bucket.
    #[default]
    Exact,
    /// From one power of two up to the next; represented by the lower one.
    Log2,
    /// Like [`Bucket::Log2`], but represented by the smallest power of two that is not less than the number.
    NextPow2,
    /// Numbers with the same next multiple, such as sizes with the same padding.
    MultipleOf(u32),
}

impl Bucket {
    /// The number that represents the value's bucket.
    pub fn apply(self, value: &Value) -> Value {
        match value {
            Value::Int(number) => Value::Int(self.apply_to_int(*number)),
            Value::Float(number) => Value::Float(self.apply_to_float(*number)),
            Value::Tuple(items) => Value::Tuple(items.iter().map(|item| self.apply(item)).collect()),
            Value::Bool(_) | Value::Str(_) => value.clone(),
        }
    }

    /// Numbers below zero are treated as their opposites; what does not fit 64 bits is the greatest that does.
    fn apply_to_int(self, number: i64) -> i64 {
        let size = number.unsigned_abs();
        let bucketed = match self {
            _ if size == 0 => Some(0),
            Bucket::Exact => return number,
            Bucket::Log2 => Some(1 << size.ilog2()),
            Bucket::NextPow2 => size.checked_next_power_of_two(),
            Bucket::MultipleOf(step) => size.checked_next_multiple_of(u64::from(step.max(1))),
        };
        let magnitude = bucketed.and_then(|size| i64::try_from(size).ok()).unwrap_or(i64::MAX);
        if number < 0 { -magnitude } else { magnitude }
    }

    fn apply_to_float(self, number: f64) -> f64 {
        let size = number.abs();
        let bucketed = match self {
            _ if size == 0.0 => size,
            Bucket::Exact => size,
            Bucket::Log2 => size.log2().floor().exp2(),
            Bucket::NextPow2 => size.log2().ceil().exp2(),
            Bucket::MultipleOf(step) => (size / f64::from(step.max(1))).ceil() * f64::from(step.max(1)),
        };
        if bucketed.is_finite() { bucketed.copysign(number) } else { number }
    }
}

/// `exact`, `log2`, `next_pow2`, `multiple of 32`.
impl FromStr for Bucket {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("bucket is {text:?}; expected exact, log2, next_pow2 or \"multiple of N\"");
        match text.trim() {
            "exact" => Ok(Bucket::Exact),
            "log2" => Ok(Bucket::Log2),
            "next_pow2" => Ok(Bucket::NextPow2),
            other => {
                let step = other.strip_prefix("multiple of").and_then(|step| step.trim().parse().ok());
                step.filter(|&step| step > 0).map(Bucket::MultipleOf).ok_or_else(expected)
            }
        }
    }
}
