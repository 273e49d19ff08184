//! What templates for Python need and the engine lacks: methods of strings, lists and dictionaries, and Python's
//! formatting of numbers and containers.

use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat;

/// Methods that would change their object.
const CHANGING_METHODS: [&str; 11] =
    ["add", "append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "sort", "update"];

/// A method that the engine does not know.
pub(super) fn call_method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let found = match value.kind() {
        ValueKind::String => string_method(value.as_str().unwrap_or_default(), name, args)?,
        ValueKind::Seq => list_method(value, name, args)?,
        ValueKind::Map if name == "copy" => from_args(args).map(|()| Some(value.clone()))?,
        _ => None,
    };
    match found {
        Some(found) => Ok(found),
        None if CHANGING_METHODS.contains(&name) && matches!(value.kind(), ValueKind::Seq | ValueKind::Map) => {
            let message = format!("{name}() would change a value, which templates cannot; set another one");
            Err(Error::new(ErrorKind::InvalidOperation, message))
        }
        None => pycompat::unknown_method_callback(state, value, name, args),
    }
}

fn not_found(what: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("{what} is not in it"))
}

fn list_method(value: &Value, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(match name {
        "copy" => from_args(args).map(|()| Some(value.clone()))?,
        "index" => {
            let (wanted,): (Value,) = from_args(args)?;
            let place = value.try_iter()?.position(|item| item == wanted);
            Some(Value::from(place.ok_or_else(|| not_found(&wanted.to_string()))?))
        }
        _ => None,
    })
}

fn string_method(text: &str, name: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match name {
        "swapcase" => from_args(args).map(|()| Value::from(swap_case(text)))?,
        "casefold" => from_args(args).map(|()| Value::from(text.to_lowercase()))?,
        "isidentifier" => from_args(args).map(|()| Value::from(is_identifier(text)))?,
        "center" | "ljust" | "rjust" => Value::from(justified(text, name, args)?),
        "zfill" => {
            let (width,): (usize,) = from_args(args)?;
            let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
            let zeros = padding(name, width)?.saturating_sub(text.chars().count());
            Value::from(format!("{sign}{}{digits}", "0".repeat(zeros)))
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let is_first = name == "partition";
            let parts = if is_first { text.split_once(separator) } else { text.rsplit_once(separator) };
            let parts = match parts {
                Some((before, after)) => [before, separator, after],
                None if is_first => [text, "", ""],
                None => ["", "", text],
            };
            Value::from(minijinja::value::Tuple::from(parts.map(Value::from).to_vec()))
        }
        "index" | "rindex" => {
            let (part,): (&str,) = from_args(args)?;
            let place = if name == "index" { text.find(part) } else { text.rfind(part) };
            let place = place.ok_or_else(|| not_found(&format!("{part:?}")))?;
            Value::from(text[..place].chars().count())
        }
        "removeprefix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(part).unwrap_or(text))
        }
        "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(part).unwrap_or(text))
        }
        "format" => {
            check_field_widths(text)?;
            return Ok(None);
        }
        "rsplit" => Value::from(split_from_right(text, args)?),
        "expandtabs" => {
            let (width,): (Option<usize>,) = from_args(args)?;
            Value::from(expand_tabs(text, padding(name, width.unwrap_or(8))?))
        }
        _ => return Ok(None),
    }))
}

/// A width beyond that is a mistake.
const MAX_PADDING: usize = 1 << 16;

/// A width that a method is given.
fn padding(method: &str, width: usize) -> Result<usize, Error> {
    if width <= MAX_PADDING {
        return Ok(width);
    }
    let message = format!("{method}: a width of {width}; expected at most {MAX_PADDING}");
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// Refuses a text for `format` with a field of a large width or precision; other numbers of the text are its own.
fn check_field_widths(text: &str) -> Result<(), Error> {
    let unescaped = text.replace("{{", "");
    let fields = unescaped.split('{').skip(1).filter_map(|field| field.split('}').next()?.split_once(':'));
    for digits in fields.flat_map(|(_, spec)| spec.split(|c: char| !c.is_ascii_digit())) {
        if !digits.is_empty() {
            padding("format", digits.parse().unwrap_or(usize::MAX))?;
        }
    }
    Ok(())
}

fn swap_case(text: &str) -> String {
    let swapped = |c: char| match c.is_uppercase() {
        true => c.to_lowercase().collect::<String>(),
        false => c.to_uppercase().collect(),
    };
    text.chars().map(swapped).collect()
}

fn is_identifier(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(is_part) && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn justified(text: &str, method: &str, args: &[Value]) -> Result<String, Error> {
    let (width, fill): (usize, Option<&str>) = from_args(args)?;
    let n_missing = padding(method, width)?.saturating_sub(text.chars().count());
    // As Python shares an odd number of characters.
    let n_left = match method {
        "center" => n_missing / 2 + (n_missing & width & 1),
        "ljust" => 0,
        _ => n_missing,
    };
    let fill = fill.unwrap_or(" ");
    Ok(format!("{}{text}{}", fill.repeat(n_left), fill.repeat(n_missing - n_left)))
}

fn split_from_right(text: &str, args: &[Value]) -> Result<Vec<Value>, Error> {
    let (separator, limit): (Option<&str>, Option<i64>) = from_args(args)?;
    let n_parts =
        limit.and_then(|limit| usize::try_from(limit).ok()).map_or(usize::MAX, |limit| limit.saturating_add(1));
    let mut parts: Vec<&str> = match separator {
        Some(separator) => text.rsplitn(n_parts, separator).collect(),
        None => {
            let (mut parts, mut rest) = (Vec::new(), text.trim_end());
            while !rest.is_empty() {
                let start = rest.rfind(char::is_whitespace).filter(|_| parts.len() + 1 < n_parts);
                let start = start.map_or(0, |at| at + rest[at..].chars().next().map_or(0, char::len_utf8));
                parts.push(if start == 0 { rest.trim_start() } else { &rest[start..] });
                rest = rest[..start].trim_end();
            }
            parts
        }
    };
    parts.reverse();
    Ok(parts.into_iter().map(Value::from).collect())
}

fn expand_tabs(text: &str, width: usize) -> String {
    let (mut out, mut column) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        match c {
            '\t' => {
                let n_blanks = if width == 0 { 0 } else { width - column % width };
                out.push_str(&" ".repeat(n_blanks));
                column += n_blanks;
            }
            c => {
                column = if c == '\n' { 0 } else { column + 1 };
                out.push(c);
            }
        }
    }
    out
}

/// A value as `{{ }}` prints it: floats as Python does, bools as C does.
pub(super) fn printed(value: &Value) -> Option<String> {
    match value.kind() {
        ValueKind::Bool => Some(value.is_true().to_string()),
        ValueKind::Number if !value.is_integer() => f64::try_from(value.clone()).ok().map(float_text),
        _ => None,
    }
}

/// Python's `repr` of a float.
fn float_text(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() { "nan".to_owned() } else { number.to_string() };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) || number == 0.0 {
        let text = number.to_string();
        return if text.contains('.') { text } else { text + ".0" };
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_python() {
        let cases = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-10, "1.5e-10"),
            (1.25e100, "1.25e+100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (123_456_789.125, "123456789.125"),
        ];
        cases.iter().for_each(|(number, text)| assert_eq!(float_text(*number), *text));
    }
}
