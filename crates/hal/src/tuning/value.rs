//! Values of parameters and of problem fields.

use crate::DType;
use std::fmt;

/// A value of a parameter or of a problem field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParameterValue {
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// One of several names.
    Name(&'static str),
}

/// As Python's `repr`.
impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Bool(true) => f.write_str("True"),
            ParameterValue::Bool(false) => f.write_str("False"),
            ParameterValue::Int(number) => write!(f, "{number}"),
            ParameterValue::Name(name) => write!(f, "'{name}'"),
        }
    }
}

/// A type of fields whose values convert to [`ParameterValue`]s.
pub trait ParameterType: Copy {
    /// Converts to a value.
    fn to_value(self) -> ParameterValue;
    /// Converts from a value of this type.
    fn from_value(value: ParameterValue) -> Option<Self>;
}

macro_rules! field {
    ($($ty:ty => $variant:ident),*) => {$(
        impl ParameterType for $ty {
            fn to_value(self) -> ParameterValue {
                ParameterValue::$variant(self)
            }

            fn from_value(value: ParameterValue) -> Option<Self> {
                if let ParameterValue::$variant(value) = value { Some(value) } else { None }
            }
        }
    )*};
}
field!(bool => Bool, i64 => Int, &'static str => Name);

/// By NumPy's names. Records, which nothing is computed with, share one.
impl ParameterType for DType {
    fn to_value(self) -> ParameterValue {
        ParameterValue::Name(self.name())
    }

    fn from_value(value: ParameterValue) -> Option<Self> {
        if let ParameterValue::Name(name) = value { DType::from_name(name) } else { None }
    }
}
