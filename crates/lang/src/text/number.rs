//! Numbers and types as words: `3`, `2.5:float32`, `1.0-infj`, `[[int64]]`.

use super::TextError;
use super::sexp::{Sexp, SexpKind};
use crate::ir::{Number, VarType};
use rtcg_hal::DType;

/// The dtype of a number for which none is written.
fn dtype_of_kind(number: Number) -> DType {
    match number {
        Number::Bool(_) => DType::Bool,
        Number::Int(_) => DType::I64,
        Number::Float(_) => DType::F64,
        Number::Complex(..) => DType::C128,
    }
}

/// A number without its dtype.
pub(super) fn print_number(number: Number) -> String {
    match number {
        Number::Bool(value) => value.to_string(),
        Number::Int(value) => value.to_string(),
        Number::Float(value) => print_float(value),
        Number::Complex(re, im) => {
            let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
            format!("{}{sign}{}j", print_float(re), print_float(im))
        }
    }
}

fn print_float(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:?}") }
}

/// A number with its dtype.
pub(super) fn print_constant(number: Number, dtype: DType) -> String {
    let text = print_number(number);
    if dtype == dtype_of_kind(number) { text } else { format!("{text}:{}", print_dtype(dtype)) }
}

/// A dtype; records as `void` and their size.
pub(super) fn print_dtype(dtype: DType) -> String {
    match dtype {
        DType::Void(nbytes) => format!("void{nbytes}"),
        other => other.name().into(),
    }
}

/// A type: the dtype in a pair of brackets for each axis.
pub(super) fn print_type(ty: &VarType) -> String {
    format!("{}{}{}", "[".repeat(ty.ndim), print_dtype(ty.dtype), "]".repeat(ty.ndim))
}

/// Reads a number without a dtype.
pub(super) fn parse_number(word: &str) -> Option<Number> {
    match word {
        "true" => return Some(Number::Bool(true)),
        "false" => return Some(Number::Bool(false)),
        _ => {}
    }
    if let Ok(value) = word.parse() {
        return Some(Number::Int(value));
    }
    if let Some(value) = parse_float(word) {
        return Some(Number::Float(value));
    }
    let parts = word.strip_suffix('j')?;
    let follows_exponent = |at: usize| matches!(parts.as_bytes()[at - 1], b'e' | b'E');
    let mut signs = parts.match_indices(['+', '-']).map(|(at, _)| at).filter(|at| *at > 0 && !follows_exponent(*at));
    match signs.next_back() {
        Some(at) => Some(Number::Complex(parse_float(&parts[..at])?, parse_float(&parts[at..])?)),
        None => Some(Number::Complex(0.0, parse_float(parts)?)),
    }
}

fn parse_float(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches(['+', '-']);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if is_number || matches!(digits, "inf" | "nan") { word.parse().ok() } else { None }
}

/// Whether a word is meant as a number rather than as a name.
pub(super) fn looks_like_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'))
        || matches!(word.split(':').next(), Some("true" | "false" | "inf" | "nan" | "infj" | "nanj"))
        || ["inf+", "inf-", "nan+", "nan-"].iter().any(|start| word.starts_with(start))
}

/// Reads a number with its dtype.
pub(super) fn parse_constant(at: &Sexp, word: &str) -> Result<(Number, DType), TextError> {
    let (number, dtype) = match word.split_once(':') {
        Some((number, dtype)) => (number, Some(dtype)),
        None => (word, None),
    };
    let number = parse_number(number).ok_or_else(|| at.expected("a number, such as 3, 2.5, 1.0+2.0j or true"))?;
    match dtype {
        None => Ok((number, dtype_of_kind(number))),
        Some(name) => Ok((number, parse_dtype(name).ok_or_else(|| at.expected(DTYPE_AFTER_NUMBER))?)),
    }
}

const DTYPE_AFTER_NUMBER: &str = "a dtype after the colon, by NumPy's name, such as 3:uint8";

/// Reads a dtype.
pub(super) fn parse_dtype(word: &str) -> Option<DType> {
    match word.strip_prefix("void") {
        Some(nbytes) => nbytes.parse().ok().filter(|nbytes| *nbytes > 0).map(DType::Void),
        None => DType::from_name(word),
    }
}

/// Reads a type.
pub(super) fn parse_type(sexp: &Sexp) -> Result<VarType, TextError> {
    match &sexp.kind {
        SexpKind::Word(word) => match parse_dtype(word) {
            Some(dtype) => Ok(VarType { dtype, ndim: 0 }),
            None => Err(sexp.expected("a type, such as float32, [int64] or [[bool]]")),
        },
        SexpKind::Brackets(items) if items.len() == 1 => {
            let element = parse_type(&items[0])?;
            Ok(VarType { ndim: element.ndim + 1, ..element })
        }
        _ => Err(sexp.expected("a type, such as float32, [int64] or [[bool]]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for number in [
            Number::Bool(true),
            Number::Int(-3),
            Number::Int(u64::MAX.into()),
            Number::Float(-0.0),
            Number::Float(1e300),
            Number::Float(f64::NEG_INFINITY),
            Number::Float(5e-324),
            Number::Complex(1.5, -2.0),
            Number::Complex(1e-30, 1e30),
            Number::Complex(f64::INFINITY, -0.0),
        ] {
            let text = print_number(number);
            assert!(looks_like_number(&text), "{text}");
            assert_eq!(parse_number(&text), Some(number), "{text}");
            assert_eq!(parse_number(&text).map(print_number), Some(text));
        }
        assert_eq!(parse_number("2j"), Some(Number::Complex(0.0, 2.0)));
        assert_eq!(parse_number("1e+2-1e-2j"), Some(Number::Complex(100.0, -0.01)));
        assert!(matches!(parse_number("nan"), Some(Number::Float(value)) if value.is_nan()));
        assert_eq!(print_number(Number::Complex(f64::NAN, -f64::NAN)), "nan+nanj");
        for word in ["", "1x", "infinity", "j", "--3", "1+j", "0x10"] {
            assert_eq!(parse_number(word), None, "{word}");
        }
    }
}
