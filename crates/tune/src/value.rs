//! Values of parameters.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value of a parameter. Whole floats, booleans and integers are distinct (`1`, `1.0` and `true` are three values
/// with three key texts), so that results of one are never offered for another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// A string.
    Str(String),
    /// Several values that are chosen together.
    Tuple(Vec<Value>),
}

impl Value {
    /// The value as a number; booleans count as 0 and 1, as in Python.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Str(_) | Value::Tuple(_) => None,
        }
    }

    /// Whether it is true by Python's rules.
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Str(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
            number => number.as_f64() != Some(0.0),
        }
    }
}

/// As Python's `repr`: the text by which values are told apart in keys, tables and messages.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(flag) => f.write_str(if *flag { "True" } else { "False" }),
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Str(text) => write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            Value::Tuple(items) => {
                f.write_str("(")?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}
from!(bool => Bool, i32 => Int, u32 => Int, i64 => Int, f64 => Float, &str => Str, String => Str, Vec<Value> => Tuple);
