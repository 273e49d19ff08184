//! Literals of a given type: `3`, `3u`, `3ll`, `1.5f`, `true`.

use super::{Binary, Expr, Kind, Unary};
use crate::dtype::Dtype;

/// A number from which to make a literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl Expr {
    /// Makes a literal of type `dtype`. An integer that does not fit the type becomes the first of 32-bit, 64-bit and
    /// unsigned 64-bit integers that can hold it; an error if none can.
    pub fn literal(number: Number, dtype: Dtype) -> Result<Self, String> {
        match (number, dtype) {
            (Number::Bool(value), Dtype::Bool) => Ok(Self::word(value.to_string(), dtype)),
            (Number::Bool(value), _) => Self::literal(Number::Int(value.into()), dtype),
            (Number::Int(value), Dtype::Bool) => Ok(Self::word((value != 0).to_string(), dtype)),
            (Number::Int(value), t) if t.is_float() => Ok(Self::float(value as f64, t)),
            (Number::Int(value), t) if t.is_integer() => Self::integer(value, t),
            (Number::Float(value), t) if t.is_float() => Ok(Self::float(value, t)),
            (Number::Float(value), t) if t.is_integer() => {
                Err(format!("{value:?} is no literal of the integer type '{}'", t.ctype()))
            }
            (number, t) => Err(format!("there are no literals of type '{}' for {number:?}", t.ctype())),
        }
    }

    /// Makes a literal as C and C++ users would write it beside a value of type `dtype`: a fraction beside an integer
    /// is a `double`; a number beside a complex number has the type of the components.
    pub fn number_beside(number: Number, dtype: Option<Dtype>) -> Self {
        let dtype = match (number, dtype) {
            (Number::Bool(_), _) => Dtype::Bool,
            (_, Some(Dtype::Complex64)) => Dtype::Float32,
            (_, Some(Dtype::Complex128)) => Dtype::Float64,
            (_, Some(t)) if t.is_float() => t,
            (Number::Float(_), _) => Dtype::Float64,
            (_, Some(t)) if t.is_integer() => t.promoted(t),
            _ => Dtype::Int32,
        };
        // Beyond 64 bits C has no literal; the nearest double is what C's own conversion would give.
        Self::literal(number, dtype).unwrap_or_else(|_| match number {
            Number::Int(value) => Self::float(value as f64, Dtype::Float64),
            _ => Self::float(f64::NAN, Dtype::Float64),
        })
    }

    fn word(text: String, dtype: Dtype) -> Self {
        Self::new(Kind::Word(text), Some(dtype))
    }

    fn negated(self, negative: bool) -> Self {
        if negative { Self::unary(Unary::Negate, self) } else { self }
    }

    fn integer(value: i128, dtype: Dtype) -> Result<Self, String> {
        let fits = |t: Dtype| match t {
            Dtype::Uint32 => u32::try_from(value).is_ok(),
            Dtype::Uint64 => u64::try_from(value).is_ok(),
            Dtype::Int64 => i64::try_from(value).is_ok(),
            _ => i32::try_from(value).is_ok(),
        };
        let candidates = [dtype, Dtype::Int32, Dtype::Int64, Dtype::Uint64];
        let Some(t) = candidates.into_iter().find(|&t| fits(t)) else {
            return Err(format!("{value} does not fit into 64 bits"));
        };
        let suffix = match t {
            Dtype::Uint32 => "u",
            Dtype::Uint64 => "ull",
            Dtype::Int64 => "ll",
            _ => "",
        };
        // The most negative value has no literal: its magnitude does not fit.
        let lowest = if t == Dtype::Int64 { i128::from(i64::MIN) } else { i128::from(i32::MIN) };
        if value == lowest {
            return Ok(Self::binary(Binary::Subtract, Self::integer(value + 1, t)?, Self::integer(1, t)?));
        }
        Ok(Self::word(format!("{}{suffix}", value.unsigned_abs()), t).negated(value < 0))
    }

    fn float(value: f64, dtype: Dtype) -> Self {
        let number = |value: f64| {
            let text = if dtype == Dtype::Float32 { format!("{:?}f", value as f32) } else { format!("{value:?}") };
            Self::word(text, dtype)
        };
        let rounded = if dtype == Dtype::Float32 { f64::from(value as f32) } else { value };
        // Infinity and NaN have no literals; as quotients every C dialect folds them.
        if rounded.is_nan() {
            return Self::binary(Binary::Divide, number(0.0), number(0.0));
        }
        if rounded.is_infinite() {
            return Self::binary(Binary::Divide, number(1.0).negated(rounded < 0.0), number(0.0));
        }
        number(rounded.abs()).negated(rounded.is_sign_negative())
    }
}

/// Whether a word is a literal of [`Expr::literal`] rather than an identifier.
pub(super) fn is_literal(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
}

macro_rules! numbers {
    ($variant:ident, $dtype:ident: $($t:ty),*) => {$(
        impl From<$t> for Expr {
            fn from(value: $t) -> Self {
                Self::number_beside(Number::$variant(value.into()), Some(Dtype::$dtype))
            }
        }
    )*};
}
numbers!(Bool, Bool: bool);
numbers!(Int, Int32: i32);
numbers!(Int, Uint32: u32);
numbers!(Int, Int64: i64);
numbers!(Int, Uint64: u64);
numbers!(Float, Float32: f32);
numbers!(Float, Float64: f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: Number, dtype: Dtype) -> String {
        Expr::literal(number, dtype).expect("a literal").to_string()
    }

    #[test]
    fn literals_have_the_suffix_of_their_type() {
        assert_eq!(text(Number::Float(1.5), Dtype::Float32), "1.5f");
        assert_eq!(text(Number::Float(0.1), Dtype::Float32), "0.1f");
        assert_eq!(text(Number::Float(1e-30), Dtype::Float64), "1e-30");
        assert_eq!(text(Number::Int(3), Dtype::Uint32), "3u");
        assert_eq!(text(Number::Int(3), Dtype::Float64), "3.0");
        assert_eq!(text(Number::Int(1 << 40), Dtype::Int32), "1099511627776ll");
        assert_eq!(text(Number::Int(i32::MIN.into()), Dtype::Int32), "-2147483647 - 1");
        assert_eq!(text(Number::Bool(true), Dtype::Bool), "true");
        assert_eq!(text(Number::Float(f64::NEG_INFINITY), Dtype::Float32), "-1.0f / 0.0f");
    }

    #[test]
    fn fractions_are_no_integers() {
        let error = Expr::literal(Number::Float(1.5), Dtype::Int32).unwrap_err();
        assert!(error.contains("1.5") && error.contains("int"), "{error}");
        assert!(Expr::literal(Number::Int(1 << 70), Dtype::Int32).is_err());
    }
}
