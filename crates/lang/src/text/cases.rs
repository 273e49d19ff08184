//! Test files: programs with inputs and the results that every executor must give.
//!
//! Comment lines after a program say what to do with it; `f` stands for the program.
//!
//! ```text
//! (program ((x [float32])) ...)
//! ; run: f([1 2 3]) == [2 4 6]
//! ; run: f(iota(1000)) == full(0.5 1000), 3
//! ; run: f(empty(0)) fails: out of bounds
//! ; tolerance: 1e-6
//! ; kernels: 2
//! ```
//!
//! Values have the types of the parameters and results. An array is written `[1 2]` or `[[1 2] [3 4]]`, as `iota(SHAPE)`
//! (0, 1, 2, ...), as `full(VALUE SHAPE)` or as `empty(SHAPE)`, of which one length is 0. A comment that is indented by
//! three spaces or more continues the line above it. `fails` is followed by a part of the message. A tolerance, for all
//! runs of a program, is that of [`HostValue::difference`]; without one, results are equal to the last bit.

use super::TextError;
use super::number::{looks_like_number, parse_number};
use super::parse::program_of;
use super::sexp::{Sexp, SexpKind, error_at, read};
use crate::check::holds;
use crate::evaluate::{EvaluateError, HostValue};
use crate::ir::{Number, Program, VarType};
use std::iter::Peekable;
use std::slice::Iter;

/// A program and its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// The line on which it begins.
    pub line: u32,
    /// What it is called with.
    pub runs: Vec<Run>,
    /// How many kernels it takes, if the file says so.
    pub kernels: Option<usize>,
    /// How close results are to the expected ones; see [`HostValue::difference`].
    pub tolerance: f64,
}

/// A call of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Where it is written.
    pub line: u32,
    /// One for each parameter.
    pub inputs: Vec<HostValue>,
    /// What comes of it.
    pub expected: Expected,
}

/// What comes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// One value for each result.
    Values(Vec<HostValue>),
    /// An error whose message has this part.
    Failure(String),
}

impl Case {
    /// What is wrong with an outcome of a run; `None` if it is the expected one.
    pub fn mismatch(&self, run: &Run, outcome: &Result<Vec<HostValue>, EvaluateError>) -> Option<String> {
        match (&run.expected, outcome) {
            (Expected::Values(expected), Ok(found)) if expected.len() == found.len() => {
                let mut pairs = found.iter().zip(expected).enumerate();
                pairs.find_map(|(at, (found, expected))| {
                    let difference = found.difference(expected, self.tolerance)?;
                    Some(format!("line {}: result {at}: {difference}", run.line))
                })
            }
            (Expected::Failure(part), Err(error)) if error.to_string().contains(part) => None,
            (expected, outcome) => Some(format!("line {}: found {outcome:?}, expected {expected:?}", run.line)),
        }
    }
}

/// Reads a test file.
///
/// # Errors
/// When a program is not one, has no runs, or a comment of the form `; word:` is none of those that are known.
pub fn parse_cases(text: &str) -> Result<Vec<Case>, TextError> {
    let mut cases = vec![];
    for sexp in read(text, 1)? {
        let program = program_of(&sexp)?;
        cases.push(Case { program, line: sexp.span.line, runs: vec![], kernels: None, tolerance: 0.0 });
    }
    for directive in directives(text) {
        let Some(case) = cases.iter_mut().rev().find(|case| case.line < directive.line) else {
            return Err(directive.error("found a comment about a program, expected a program before it"));
        };
        add_directive(case, &directive)?;
    }
    match cases.iter().find(|case| case.runs.is_empty()) {
        Some(case) => Err(TextError {
            line: case.line,
            column: 1,
            message: "found a program without runs, expected a comment such as `; run: f(1) == 2` after it".into(),
        }),
        None => Ok(cases),
    }
}

/// `; word: text`.
struct Directive {
    line: u32,
    word: String,
    text: String,
}

impl Directive {
    fn error(&self, message: &str) -> TextError {
        TextError { line: self.line, column: 1, message: message.into() }
    }
}

fn directives(text: &str) -> Vec<Directive> {
    let mut all: Vec<Directive> = vec![];
    // Whether the line above belongs to the last directive.
    let mut continues = false;
    for (line, text) in (1..).zip(text.lines()) {
        let comment = text.strip_prefix(';').unwrap_or_default();
        if let (true, Some(last), Some(more)) = (continues, all.last_mut(), comment.strip_prefix("   ")) {
            // Places in the text stay those in the file.
            last.text.push_str("\n    ");
            last.text.push_str(more);
            continue;
        }
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase());
        let parts = comment.strip_prefix(' ').and_then(|comment| comment.split_once(": "));
        let directive = parts.filter(|(word, _)| is_word(word));
        continues = directive.is_some();
        all.extend(directive.map(|(word, rest)| {
            let text = " ".repeat(text.len() - rest.len()) + rest;
            Directive { line, word: word.into(), text }
        }));
    }
    all
}

fn add_directive(case: &mut Case, directive: &Directive) -> Result<(), TextError> {
    match directive.word.as_str() {
        "run" => case.runs.push(parse_run(&case.program, directive)?),
        "tolerance" => {
            let tolerance = directive.text.trim().parse().ok().filter(|tolerance| *tolerance > 0.0);
            case.tolerance = tolerance.ok_or_else(|| directive.error("expected a tolerance above 0, such as 1e-6"))?;
        }
        "kernels" => {
            let count = directive.text.trim().parse();
            case.kernels = Some(count.map_err(|_| directive.error("expected a number of kernels"))?);
        }
        other => {
            let message = format!("found `; {other}:`, expected `; run:`, `; tolerance:` or `; kernels:`");
            return Err(directive.error(&message));
        }
    }
    Ok(())
}

fn parse_run(program: &Program, directive: &Directive) -> Result<Run, TextError> {
    let (call, failure) = match directive.text.split_once(" fails: ") {
        Some((call, failure)) => (call, Some(failure.trim().to_owned())),
        None => (directive.text.as_str(), None),
    };
    // Commas only separate what brackets and words separate, too.
    let all = read(&call.replace(',', " "), directive.line)?;
    let mut rest = all.iter().peekable();
    let arguments = match (rest.next().and_then(Sexp::word), rest.next().and_then(Sexp::list)) {
        (Some("f"), Some(arguments)) => arguments,
        _ => return Err(directive.error("expected a call, such as `f(1, [2 3]) == 4`")),
    };
    let type_of = |var| program.var_type(var).clone();
    let inputs = values(arguments, program.params.iter().map(|param| type_of(*param)), "parameter", directive)?;
    let expected = match (rest.next().and_then(Sexp::word), failure) {
        (None, Some(part)) => Expected::Failure(part),
        (Some("=="), None) => {
            let results = program.body.results.iter();
            let types = results.map(|atom| VarType { dtype: program.dtype(*atom), ndim: program.ndim(*atom) });
            let rest: Vec<_> = rest.cloned().collect();
            Expected::Values(values(&rest, types, "result", directive)?)
        }
        _ => return Err(directive.error("expected `== VALUE, ...` or `fails: MESSAGE` after the call")),
    };
    Ok(Run { line: directive.line, inputs, expected })
}

/// Values of the given types, one after the other.
fn values(
    items: &[Sexp],
    types: impl Iterator<Item = VarType>,
    what: &str,
    directive: &Directive,
) -> Result<Vec<HostValue>, TextError> {
    let mut items = items.iter().peekable();
    let mut all = vec![];
    for ty in types {
        let missing = || directive.error(&format!("expected a value for {what} {}", all.len()));
        let first = items.next().ok_or_else(missing)?;
        let value = value(first, &mut items, &ty)?;
        if value.shape().len() != ty.ndim {
            let message = format!("found a value with {} axes, expected {}", value.shape().len(), ty.ndim);
            return Err(error_at(first.span, message));
        }
        all.push(value);
    }
    match items.next() {
        Some(more) => Err(more.expected(&format!("the end after {} values", all.len()))),
        None => Ok(all),
    }
}

fn value(first: &Sexp, rest: &mut Peekable<Iter<'_, Sexp>>, ty: &VarType) -> Result<HostValue, TextError> {
    let form = first.word().filter(|word| matches!(*word, "iota" | "full" | "empty"));
    let Some(form) = form else {
        let mut elements = vec![];
        let mut shape = array_elements(first, &mut elements)?;
        // Of `[]` the further lengths are 0, too.
        if elements.is_empty() {
            shape.resize(shape.len().max(ty.ndim), 0);
        }
        if let Some(number) = elements.iter().find(|number| !holds(ty.dtype, **number)) {
            return Err(error_at(first.span, format!("found {number:?}, expected what {} holds", ty.dtype)));
        }
        return Ok(HostValue::array(ty.dtype, shape, elements));
    };
    let arguments =
        rest.next().and_then(Sexp::list).ok_or_else(|| first.expected("`iota(...)`, `full(...)` or `empty(...)`"))?;
    let mut numbers = arguments.iter().map(number).collect::<Result<Vec<_>, _>>()?.into_iter();
    let fill = if form == "full" { numbers.next() } else { None };
    let shape = numbers.map(|length| match length {
        Number::Int(length) => usize::try_from(length).ok(),
        _ => None,
    });
    let shape = shape.collect::<Option<Vec<_>>>().ok_or_else(|| first.expected("lengths of axes"))?;
    let n_elements: usize = shape.iter().product();
    if form == "empty" && n_elements > 0 {
        return Err(error_at(first.span, format!("found the lengths {shape:?}, expected one that is 0")));
    }
    let element = |at: usize| fill.unwrap_or(Number::Int(at as i128));
    Ok(HostValue::array(ty.dtype, shape, (0..n_elements).map(element)))
}

/// Appends the elements of an array, whose shape it gives.
fn array_elements(sexp: &Sexp, elements: &mut Vec<Number>) -> Result<Vec<usize>, TextError> {
    let SexpKind::Brackets(items) = &sexp.kind else {
        elements.push(number(sexp)?);
        return Ok(vec![]);
    };
    let mut inner = None;
    for item in items {
        let shape = array_elements(item, elements)?;
        if *inner.get_or_insert_with(|| shape.clone()) != shape {
            return Err(error_at(
                item.span,
                format!("found a row of shape {shape:?}, expected {:?}", inner.unwrap_or_default()),
            ));
        }
    }
    Ok(std::iter::once(items.len()).chain(inner.unwrap_or_default()).collect())
}

fn number(sexp: &Sexp) -> Result<Number, TextError> {
    let word = sexp.word().filter(|word| looks_like_number(word));
    word.and_then(parse_number).ok_or_else(|| sexp.expected("a number without a dtype, or an array"))
}
