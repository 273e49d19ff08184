//! Snippets whose types each call determines, as in CuPy: `T x, T y` -> `T z` by `z = x * y`.
//!
//! A one-letter type is a type variable that stands for the type of the arguments declared with it. An array's name
//! stands for its element; the snippet indexes an array declared `raw` itself. For each choice of types the snippet
//! becomes one with C declarations and elements `x[i]`, in which the lines of the text do not change.

use crate::c_declarations::{Argument, ArgumentError, CType, TypeRegistry, check_name_is_free, parse_argument};
use crate::pointwise::{INDEX_NAME, SIZE_NAME};
use rtcg_c_lex::{Token, TokenKind, tokenize};
use rtcg_hal::DType;
use std::collections::BTreeMap;
use std::ops::Range;

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ParamType {
    Letter(String),
    Fixed(CType),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TypedParam {
    name: String,
    of: ParamType,
    is_raw: bool,
}

/// What a call passes for a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GivenType {
    /// An array with elements of this type.
    Array(CType),
    /// A number; it determines a type variable that no array determines.
    Number(CType),
    /// Nothing: an output that the call allocates.
    Nothing,
}

/// A snippet between inputs and outputs whose types may be variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedSnippet {
    params: Vec<TypedParam>,
    n_inputs: usize,
    operation: String,
}

/// A snippet with concrete types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledSnippet {
    /// The outputs, then the inputs.
    pub arguments: Vec<Argument>,
    /// Statements over elements `x[i]`.
    pub operation: String,
    /// How they came from the text of the user.
    pub quotes: OriginalQuotes,
}

/// A text and what [`TypedSnippet::fill`] made of it, so that compile errors can quote the former.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OriginalQuotes {
    original: String,
    filled: String,
    edits: Vec<Edit>,
}

/// A word that was replaced, by its byte ranges in both texts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    original: Range<usize>,
    filled: Range<usize>,
}

impl OriginalQuotes {
    /// A compiler's log with the lines that it quotes as the user wrote them, and its carets below the same words. Only
    /// lines after a message with a line number, `name(3): ...`, are quotes.
    pub fn restore(&self, log: &str) -> String {
        let mut lines: Vec<String> = log.split('\n').map(str::to_owned).collect();
        for at in 1..lines.len() {
            let Some(line) = diagnostic_line(&lines[at - 1]) else { continue };
            let (Some((start, filled)), Some((original_start, original))) =
                (nth_line(&self.filled, line), nth_line(&self.original, line))
            else {
                continue;
            };
            let text = filled.trim();
            if text.is_empty() || lines[at].trim() != text {
                continue;
            }
            let printed_at = lines[at].find(text).unwrap_or(0);
            lines[at] = format!("{}{}", &lines[at][..printed_at], original.trim());
            if let Some(caret) = lines.get(at + 1).filter(|line| line.trim() == "^").and_then(|line| line.find('^')) {
                let indentation = |line: &str| line.len() - line.trim_start().len();
                let in_filled = (start + indentation(filled) + caret).saturating_sub(printed_at);
                let column = self.original_offset(in_filled).saturating_sub(original_start + indentation(original));
                lines[at + 1] = format!("{}^", " ".repeat(printed_at + column));
            }
        }
        lines.join("\n")
    }

    /// Where the text of the user has what is at `at` of the filled one.
    fn original_offset(&self, at: usize) -> usize {
        match self.edits.iter().rfind(|edit| edit.filled.start <= at) {
            Some(edit) if at < edit.filled.end => {
                (edit.original.start + at - edit.filled.start).min(edit.original.end.saturating_sub(1))
            }
            Some(edit) => at - edit.filled.end + edit.original.end,
            None => at,
        }
    }
}

/// The line number of a diagnostic such as `operation(3): error: ...`.
fn diagnostic_line(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once('(')?;
    rest.split_once("): ")?.0.parse().ok()
}

/// Line `number`, from 1, and where it begins.
fn nth_line(text: &str, number: usize) -> Option<(usize, &str)> {
    let mut start = 0;
    for (at, line) in text.split('\n').enumerate() {
        if at + 1 == number {
            return Some((start, line));
        }
        start += line.len() + 1;
    }
    None
}

impl TypedSnippet {
    /// Parses the declarations of inputs and outputs: `T x`, `float32 y`, `raw T table`, separated by commas.
    ///
    /// # Errors
    /// When a declaration is invalid, a name is used twice or is `i` or `n`, or there is no output.
    pub fn parse(inputs: &str, outputs: &str, operation: &str, registry: &TypeRegistry) -> Result<Self, ArgumentError> {
        let mut params: Vec<TypedParam> = vec![];
        let mut n_inputs = 0;
        for (text, is_input) in [(inputs, true), (outputs, false)] {
            for declaration in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                let param = parse_param(declaration, registry)?;
                check_name_is_free(&param.name, &[INDEX_NAME, SIZE_NAME])
                    .map_err(|reason| param_error(declaration, reason))?;
                if params.iter().any(|other| other.name == param.name) {
                    return Err(param_error(declaration, format!("the name '{}' is used twice", param.name)));
                }
                params.push(param);
                n_inputs += usize::from(is_input);
            }
        }
        if params.len() == n_inputs {
            return Err(param_error(outputs, "an output is missing"));
        }
        Ok(Self { params, n_inputs, operation: operation.to_owned() })
    }

    /// The names of the inputs, then of the outputs, and whether each is declared `raw`.
    pub fn params(&self) -> impl Iterator<Item = (&str, bool)> {
        self.params.iter().map(|param| (&param.name[..], param.is_raw))
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Fills in the types for what a call passes, in the order of the parameters.
    ///
    /// # Errors
    /// When arrays give a type variable two types, nothing determines a variable, or a number is passed for an array.
    pub fn fill(&self, given: &[GivenType]) -> Result<FilledSnippet, ArgumentError> {
        let letters = self.letter_types(given)?;
        let mut arguments = vec![];
        for (at, (param, given)) in self.params.iter().zip(given).enumerate() {
            let is_input = at < self.n_inputs;
            let is_vector = !matches!(given, GivenType::Number(_));
            if !is_vector && (param.is_raw || !is_input) {
                return Err(param_error(&param.name, "a number was given; expected an array"));
            }
            let ctype = match &param.of {
                ParamType::Fixed(ctype) => ctype.clone(),
                ParamType::Letter(letter) => letters.get(&letter[..]).cloned().ok_or_else(|| {
                    param_error(&param.name, format!("no argument decides the type {letter}; give the output"))
                })?,
            };
            arguments.push(Argument { name: param.name.clone(), ctype, is_vector, is_const: is_vector && is_input });
        }
        let quotes = self.rewrite(&arguments, &letters);
        arguments.rotate_left(self.n_inputs);
        Ok(FilledSnippet { arguments, operation: quotes.filled.clone(), quotes })
    }

    /// The type of each letter: that of arrays, else that of the first number.
    fn letter_types(&self, given: &[GivenType]) -> Result<BTreeMap<&str, CType>, ArgumentError> {
        let mut letters: BTreeMap<&str, CType> = BTreeMap::new();
        let with_letters = || {
            let letter = |param: &'_ TypedParam| matches!(param.of, ParamType::Letter(_));
            self.params.iter().zip(given).filter(move |(param, _)| letter(param))
        };
        for (param, given) in with_letters() {
            if let (ParamType::Letter(letter), GivenType::Array(ctype)) = (&param.of, given) {
                let known = letters.entry(letter).or_insert_with(|| ctype.clone());
                if known != ctype {
                    let text = format!(
                        "its elements are {}, but {letter} is {} by the arguments before it",
                        ctype.name, known.name
                    );
                    return Err(param_error(&param.name, text));
                }
            }
        }
        for (param, given) in with_letters() {
            if let (ParamType::Letter(letter), GivenType::Number(ctype)) = (&param.of, given) {
                letters.entry(letter).or_insert_with(|| ctype.clone());
            }
        }
        Ok(letters)
    }

    /// The text with `x[i]` for the element `x`, types for letters, and `n` for `_ind.size()`.
    fn rewrite(&self, arguments: &[Argument], letters: &BTreeMap<&str, CType>) -> OriginalQuotes {
        let text = &self.operation;
        let tokens = tokenize(text);
        let is_size = |at: usize| {
            let words: Vec<_> = tokens[at..].iter().take(5).map(|token| token.text).collect();
            words == ["_ind", ".", "size", "(", ")"]
        };
        let (mut out, mut taken, mut at, mut edits) = (String::new(), 0, 0, vec![]);
        while at < tokens.len() {
            let token = tokens[at];
            let count = if is_size(at) { 5 } else { 1 };
            if let Some(word) =
                if count > 1 { Some("n".to_owned()) } else { self.replacement(&tokens, at, arguments, letters) }
            {
                out.push_str(&text[taken..token.at]);
                taken = tokens[at + count - 1].end();
                edits.push(Edit { original: token.at..taken, filled: out.len()..out.len() + word.len() });
                out.push_str(&word);
            }
            at += count;
        }
        out.push_str(&text[taken..]);
        OriginalQuotes { original: text.clone(), filled: out, edits }
    }

    fn replacement(
        &self,
        tokens: &[Token<'_>],
        at: usize,
        arguments: &[Argument],
        letters: &BTreeMap<&str, CType>,
    ) -> Option<String> {
        let is_member = at > 0 && matches!(tokens[at - 1].text, "." | "->" | "::");
        let word = tokens[at].text;
        if tokens[at].kind != TokenKind::Word || is_member {
            return None;
        }
        if let Some(ctype) = letters.get(word) {
            return Some(ctype.name.clone());
        }
        let (param, argument) = self.params.iter().zip(arguments).find(|(param, _)| param.name == word)?;
        (argument.is_vector && !param.is_raw).then(|| format!("{word}[i]"))
    }
}

fn parse_param(declaration: &str, registry: &TypeRegistry) -> Result<TypedParam, ArgumentError> {
    let (is_raw, rest) = match declaration.strip_prefix("raw ") {
        Some(rest) => (true, rest.trim()),
        None => (false, declaration),
    };
    if let Some((of, name)) = rest.rsplit_once(char::is_whitespace) {
        let (of, name) = (of.trim(), name.to_owned());
        if let ([b'A'..=b'Z' | b'a'..=b'z'], None) = (of.as_bytes(), registry.lookup(of)) {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            return if is_name && !name.starts_with(|c: char| c.is_ascii_digit()) {
                Ok(TypedParam { name, of: ParamType::Letter(of.to_owned()), is_raw })
            } else {
                Err(param_error(declaration, "a name is missing"))
            };
        }
    }
    // The names of NumPy are types here.
    let word = rest.split_whitespace().next().unwrap_or_default();
    let in_c = DType::from_name(word).map_or_else(|| rest.to_owned(), |dtype| rest.replacen(word, dtype.c_type(), 1));
    let argument = parse_argument(&in_c, registry)?;
    if argument.is_vector {
        return Err(param_error(declaration, "pointers are not declared here; elements have the name of their array"));
    }
    Ok(TypedParam { name: argument.name, of: ParamType::Fixed(argument.ctype), is_raw })
}

fn param_error(declaration: &str, reason: impl Into<String>) -> ArgumentError {
    ArgumentError { declaration: declaration.trim().into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ctype(name: &str) -> CType {
        TypeRegistry::new().lookup(name).unwrap()
    }

    fn parse(inputs: &str, outputs: &str, operation: &str) -> Result<TypedSnippet, String> {
        TypedSnippet::parse(inputs, outputs, operation, &TypeRegistry::new()).map_err(|error| error.to_string())
    }

    fn declared(filled: &FilledSnippet) -> Vec<String> {
        filled.arguments.iter().map(Argument::declarator).collect()
    }

    #[test]
    fn letters_are_filled_in_and_elements_indexed() {
        let snippet =
            parse("T x, float64 y, raw T table", "T z", "T t = x;\n z = t * (T)y + table[i % 4] - w.x").unwrap();
        let array = |name: &str| GivenType::Array(ctype(name));
        let given = [array("float"), GivenType::Number(ctype("double")), array("float"), GivenType::Nothing];
        let filled = snippet.fill(&given).unwrap();
        assert_eq!(declared(&filled), ["float *z", "const float *x", "double y", "const float *table"]);
        assert_eq!(filled.operation, "float t = x[i];\n z[i] = t * (float)y + table[i % 4] - w.x");
        let filled = snippet.fill(&[array("int"), array("double"), array("int"), GivenType::Nothing]).unwrap();
        assert_eq!(filled.operation, "int t = x[i];\n z[i] = t * (int)y[i] + table[i % 4] - w.x");
    }

    #[test]
    fn sizes_and_numbers() {
        let snippet = parse("S a", "S z", "z = a * _ind.size()").unwrap();
        let filled = snippet.fill(&[GivenType::Number(ctype("double")), GivenType::Nothing]).unwrap();
        assert_eq!((&filled.operation[..], &declared(&filled)[0][..]), ("z[i] = a * n", "double *z"));
        assert_eq!(snippet.params().collect::<Vec<_>>(), [("a", false), ("z", false)]);
    }

    #[test]
    fn errors_quote_the_text_of_the_user() {
        let snippet = parse("T x", "T y", "T t = x;\n  y = t + x ** 2").unwrap();
        let filled = snippet.fill(&[GivenType::Array(ctype("float")), GivenType::Nothing]).unwrap();
        assert_eq!(filled.operation, "float t = x[i];\n  y[i] = t + x[i] ** 2");
        let log = |quoted: &str, caret: usize| {
            format!("operation(2): error: a message\n    {quoted}\n    {}^\n\n1 error\n", " ".repeat(caret))
        };
        assert_eq!(filled.quotes.restore(&log("y[i] = t + x[i] ** 2", 17)), log("y = t + x ** 2", 11));
        assert_eq!(filled.quotes.restore(&log("y[i] = t + x[i] ** 2", 11)), log("y = t + x ** 2", 8));
        assert_eq!(filled.quotes.restore(&log("another line", 3)), log("another line", 3));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (inputs, outputs, reason) in [
            ("T x", "", "an output is missing"),
            ("T x", "T x", "the name 'x' is used twice"),
            ("T x, T i", "T z", "the name 'i' stands for the index of the element; choose another one"),
            ("T x, int n", "T z", "the name 'n' stands for the number of elements"),
            ("T", "T z", "a type or a name is missing"),
            ("float *x", "T z", "pointers are not declared here"),
            ("foo x", "T z", "unknown type 'foo'"),
            ("T 1x", "T z", "a name is missing"),
        ] {
            let message = parse(inputs, outputs, "z = x").unwrap_err();
            assert!(message.contains(reason), "{inputs} | {outputs}: {message}");
        }
        let snippet = parse("T x, T y", "U z", "z = x").unwrap();
        let arrays = ["float", "double"].map(|name| GivenType::Array(ctype(name)));
        let [float, double] = arrays;
        let fill = |given: [GivenType; 3]| snippet.fill(&given).unwrap_err().to_string();
        assert!(fill([float.clone(), double, float.clone()]).contains("T is float by the arguments before it"));
        assert!(fill([float.clone(), float.clone(), GivenType::Nothing]).contains("no argument decides the type U"));
        assert!(fill([float.clone(), float, GivenType::Number(ctype("int"))]).contains("expected an array"));
    }
}
