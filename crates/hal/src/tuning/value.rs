//! Values of parameters and of problem fields.

use crate::DType;
use std::fmt;

/// A value of a parameter or of a problem field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TunableValue {
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// One of several names.
    Name(&'static str),
}

/// As Python's `repr`.
impl fmt::Display for TunableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunableValue::Bool(true) => f.write_str("True"),
            TunableValue::Bool(false) => f.write_str("False"),
            TunableValue::Int(number) => write!(f, "{number}"),
            TunableValue::Name(name) => write!(f, "'{name}'"),
        }
    }
}

/// A type of fields whose values convert to [`TunableValue`]s.
pub trait TunableField: Copy {
    /// Converts to a value.
    fn to_value(self) -> TunableValue;
    /// Converts from a value of this type.
    fn from_value(value: TunableValue) -> Option<Self>;
}

macro_rules! field {
    ($($ty:ty => $variant:ident),*) => {$(
        impl TunableField for $ty {
            fn to_value(self) -> TunableValue {
                TunableValue::$variant(self)
            }

            fn from_value(value: TunableValue) -> Option<Self> {
                if let TunableValue::$variant(value) = value { Some(value) } else { None }
            }
        }
    )*};
}
field!(bool => Bool, i64 => Int, &'static str => Name);

/// By NumPy's names. Records, which nothing is computed with, share one.
impl TunableField for DType {
    fn to_value(self) -> TunableValue {
        TunableValue::Name(self.name())
    }

    fn from_value(value: TunableValue) -> Option<Self> {
        if let TunableValue::Name(name) = value { DType::from_name(name) } else { None }
    }
}
