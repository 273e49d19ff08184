//! What is wrong with a program: every problem with its place, what was found and what to write instead.

use crate::span::{Files, Span};
use std::fmt::Write;

/// Which exception a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The language has no such construct.
    Language,
    /// Types do not fit.
    Type,
    /// Lengths do not fit.
    Shape,
    /// A number does not fit.
    Range,
}

/// Declares [`Code`], with the name, the kind and the meaning of each.
macro_rules! codes {
    ($($kind:ident { $($code:ident $name:literal $meaning:literal)+ })+) => {
        /// What is wrong, by a name that stays the same from version to version and that reports show in brackets.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $meaning] $code,)+)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$($(Self::$code,)+)+];

            /// The name, as reports have it.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$code => $name,)+)+
                }
            }

            /// Which exception it is.
            pub fn kind(self) -> ProblemKind {
                match self {
                    $($(Self::$code)|+ => ProblemKind::$kind,)+
                }
            }

            /// What is wrong.
            pub fn meaning(self) -> &'static str {
                match self {
                    $($(Self::$code => $meaning,)+)+
                }
            }
        }
    };
}

codes! {
    Language {
        Construct "construct" "A statement or an expression that programs do not have."
        Name "name" "A name without a value."
        Foreign "foreign" "A function, a module or an object from outside that programs cannot use."
        Attribute "attribute" "An attribute or a method of a value."
        Recursion "recursion" "A call of itself that is not the last step, or that has no end."
        Return "return" "A path without a result."
        Nested "nested" "A sequence for each element, of a form that kernels cannot compute."
        Static "static" "A value that must be known before the call, and is not."
        Size "size" "A program of too many statements."
        Source "source" "A function whose source is not found, or is not that of the function."
    }
    Type {
        Arity "arity" "A call with too many or too few arguments."
        Call "call" "A call of what is no function."
        Argument "argument" "An argument of a type that the function does not take."
        Operand "operand" "An operand of a type that the operator does not take."
        Number "number" "A number that its type does not hold."
        Index "index" "An index that is no integer, or an element of what has none."
        Condition "condition" "A condition that is no truth value."
        Branches "branches" "Branches of different types."
        Element "element" "Elements of different types, or of one that sequences do not have."
        Combine "combine" "A function of `reduce` or `scan` that changes the type."
        Repeat "repeat" "An argument that changes its type when a function calls itself."
        Unpack "unpack" "A tuple with another number of parts than names."
        Result "result" "A result that no value can be, such as a function."
    }
    Shape {
        Length "length" "Lengths that differ and have to be equal, or no element where one is needed."
        Axes "axes" "An array with another number of axes than expected."
    }
    Range {
        Overflow "overflow" "A number that is computed when the program runs, and that its type does not hold."
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub code: Code,
    /// Where it is.
    pub span: Span,
    /// What was found, and what is allowed.
    pub message: String,
    /// What to write instead; may be empty.
    pub advice: String,
    /// Other places that have to do with it, each with what is there.
    pub related: Vec<(Span, String)>,
}

impl Problem {
    /// One without advice and other places.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), advice: String::new(), related: Vec::new() }
    }

    /// That an element makes a sequence.
    pub(crate) fn sequence_of_element(span: Span) -> Self {
        let text = "this makes a sequence for each element, which kernels cannot compute yet";
        let advice =
            "compute it for all elements at once, outside of the map; of elements that are not kept, give a number \
                      that changes nothing, as in `max([v if v < limit else least for v in x])`"
                .to_owned();
        Self { advice, ..Self::new(Code::Nested, span, text) }
    }
}

/// The most problems that one report has.
const MAX_PROBLEMS: usize = 20;

/// All problems of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    found: Vec<Problem>,
    n_left_out: usize,
}

impl Problems {
    /// Adds one, if it is not there yet.
    pub fn add(&mut self, problem: Problem) {
        if self.found.iter().any(|known| known.span == problem.span && known.message == problem.message) {
            return;
        }
        if self.found.len() == MAX_PROBLEMS {
            self.n_left_out += 1;
            return;
        }
        self.found.push(problem);
    }

    /// Whether one of them is in a range of lines.
    pub fn has_within(&self, around: Span) -> bool {
        let lines = around.line..=around.end_line;
        self.found.iter().any(|problem| problem.span.file == around.file && lines.contains(&problem.span.line))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All, in the order of their places.
    pub fn all(&self) -> Vec<&Problem> {
        let mut all: Vec<_> = self.found.iter().collect();
        all.sort_by_key(|problem| (problem.span.file, problem.span.line, problem.span.column));
        all
    }

    /// The kind of the whole report: that of the language comes first.
    pub fn kind(&self) -> ProblemKind {
        let has = |kind| self.found.iter().any(|problem| problem.code.kind() == kind);
        let order = [ProblemKind::Language, ProblemKind::Type, ProblemKind::Range];
        order.into_iter().find(|kind| has(*kind)).unwrap_or(ProblemKind::Shape)
    }

    /// The report.
    pub fn report(&self, files: &Files) -> String {
        let mut text = String::new();
        for (at, problem) in self.all().into_iter().enumerate() {
            if at > 0 {
                text.push_str("\n\n");
            }
            let _ = write!(text, "{} [{}]", problem.message, problem.code.name());
            put_place(&mut text, files, problem.span, "");
            for (span, what) in &problem.related {
                put_place(&mut text, files, *span, what);
            }
            if !problem.advice.is_empty() {
                let _ = write!(text, "\n  help: {}", problem.advice);
            }
        }
        if self.n_left_out > 0 {
            let _ = write!(text, "\n\n... and {} more", self.n_left_out);
        }
        text
    }
}

/// Writes a place, its line and a caret range below it.
fn put_place(text: &mut String, files: &Files, span: Span, what: &str) {
    if !span.is_known() {
        return;
    }
    let name = files.0.get(span.file as usize).map_or("?", |file| &file.name);
    let _ = write!(text, "\n  {name}:{}:{}", span.line, span.column + 1);
    let Some(line) = files.line(span.file, span.line) else { return };
    let line = line.trim_end();
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let shown: String = line.chars().skip(indent).collect();
    let n = line.chars().count();
    let from = (span.column as usize).clamp(indent, n);
    let to = if span.end_line == span.line { (span.end_column as usize).clamp(from, n) } else { n };
    let _ = write!(text, "\n    {shown}\n    {}{}", " ".repeat(from - indent), "^".repeat((to - from).max(1)));
    if !what.is_empty() {
        let _ = write!(text, " {what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::File;

    #[test]
    fn reports_show_the_line_and_a_caret_range() {
        let lines: Vec<String> = vec!["def f(x):".into(), "    return x +  é(x)".into()];
        let files = Files(vec![File { name: "a.py".into(), first_line: 7, lines: lines.into() }]);
        let mut problems = Problems::default();
        let span = Span { file: 0, line: 8, column: 16, end_line: 8, end_column: 20 };
        let problem = Problem {
            code: Code::Construct,
            span,
            message: "there is no function 'é'".into(),
            advice: "write e".into(),
            related: vec![],
        };
        problems.add(problem.clone());
        problems.add(problem);
        assert_eq!(
            problems.report(&files),
            "there is no function 'é' [construct]\n  a.py:8:17\n    return x +  é(x)\n                ^^^^\n  help: write e"
                .replace("                ^^^^", &format!("    {}^^^^", " ".repeat(12)))
        );
    }
}
