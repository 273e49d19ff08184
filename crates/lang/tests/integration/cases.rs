//! Runs the programs of `tests/lang`, and reads test files with mistakes.

use rtcg_lang::evaluate::{HostValue, evaluate};
use rtcg_lang::ir::Number;
use rtcg_lang::text::cases::{Expected, parse_cases};
use rtcg_lang::text::{parse_program, print_program};

use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::HashSet;

/// The files of `tests/lang`, by name.
fn load_files() -> Vec<(String, String)> {
    crate::text_files::load_files("lang", "lang")
}

#[test]
fn programs_give_the_results_of_their_files() {
    let mut mismatches = vec![];
    for (name, text) in load_files() {
        for case in parse_cases(&text).unwrap_or_else(|wrong| panic!("{name}: {wrong}")) {
            for run in &case.runs {
                let outcome = evaluate(&case.program, &run.inputs);
                mismatches.extend(case.mismatch(run, &outcome).map(|mismatch| format!("{name}, {mismatch}")));
            }
        }
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}

#[test]
fn programs_are_the_same_after_they_are_printed() {
    for (name, text) in load_files() {
        for case in parse_cases(&text).unwrap() {
            let printed = print_program(&case.program);
            let again = parse_program(&printed).unwrap_or_else(|wrong| panic!("{name}: {wrong} of\n{printed}"));
            assert_eq!(print_program(&again), printed, "{name}");
        }
    }
}

#[test]
fn files_have_every_operation_and_dtype() {
    let texts: String = load_files().into_iter().map(|(_, text)| text).collect();
    let words: HashSet<&str> = texts.split(|letter: char| " ()[]\n".contains(letter)).collect();
    let missing: Vec<_> = Op::all_ops().filter(|op| *op != Op::Index).map(Op::name).collect();
    let missing = missing.into_iter().chain(DType::all_dtypes().map(DType::name)).filter(|name| !words.contains(name));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&str>::new());
}

const TWICE: &str = "(program ((x [float32]) (n int64))
  (let (y [float32]) (gen ((i n)) (let (a float32) (read x i)) (let (b float32) (add float32 a a)) (results b)))
  (results y n))
";

#[test]
fn runs_are_read() {
    let text = format!(
        "; Doubles.\n{TWICE}; run: f([1 2.5 -inf], 3) == [2 5 -inf], 3\n; run: f(iota(2),\n;    2) == full(0 2), 2\n\
         ; run: f(empty(0) 5) fails: out of bounds\n; run: f([1] 1) fails: out of bounds\n; tolerance: 1e-6\n; kernels: 1\n"
    );
    let [case] = &parse_cases(&text).unwrap()[..] else { panic!() };
    assert_eq!((case.line, case.kernels, case.tolerance), (2, Some(1), 1e-6));
    let array = |elements: &[f64]| {
        HostValue::array(DType::F32, vec![elements.len()], elements.iter().map(|value| Number::Float(*value)))
    };
    let int = |value| HostValue::scalar(Number::Int(value), DType::I64);
    assert_eq!(case.runs[0].inputs, [array(&[1.0, 2.5, f64::NEG_INFINITY]), int(3)]);
    assert_eq!(case.runs[1].inputs, [array(&[0.0, 1.0]), int(2)]);
    assert_eq!(case.runs[1].expected, Expected::Values(vec![array(&[0.0, 0.0]), int(2)]));
    assert_eq!((case.runs[1].line, case.runs[2].line), (6, 8));
    assert_eq!(case.runs[2].expected, Expected::Failure("out of bounds".into()));

    let outcome = |run: usize| case.mismatch(&case.runs[run], &evaluate(&case.program, &case.runs[run].inputs));
    assert_eq!(outcome(0), None);
    let wrong = "line 6: result 0: element 1 of shape [2] is Float(2.0), expected Float(0.0)";
    assert_eq!(outcome(1).as_deref(), Some(wrong));
    assert_eq!(outcome(2), None);
    let found = outcome(3).unwrap();
    assert!(found.starts_with("line 9: found Ok([Array("), "{found}");
    assert!(found.ends_with("expected Failure(\"out of bounds\")"), "{found}");
}

/// What follows the program [`TWICE`], and the whole message.
const MISTAKES: &[(&str, &str)] = &[
    ("", "line 1, column 1: found a program without runs, expected a comment such as `; run: f(1) == 2` after it"),
    ("; runs: f", "line 4, column 1: found `; runs:`, expected `; run:`, `; tolerance:` or `; kernels:`"),
    ("; run: g(1)", "line 4, column 1: expected a call, such as `f(1, [2 3]) == 4`"),
    ("; run: f([1])", "line 4, column 1: expected a value for parameter 1"),
    ("; run: f([1], 1, 2) == [2], 1", "line 4, column 18: found `2`, expected the end after 2 values"),
    ("; run: f([1], 1) == [2]", "line 4, column 1: expected a value for result 1"),
    ("; run: f([1], 1) = [2], 1", "line 4, column 1: expected `== VALUE, ...` or `fails: MESSAGE` after the call"),
    ("; run: f([1], 1) == [2], 1, 2", "line 4, column 29: found `2`, expected the end after 2 values"),
    ("; run: f([x], 1)", "line 4, column 11: found `x`, expected a number without a dtype, or an array"),
    ("; run: f([[1]], 1)", "line 4, column 10: found a value with 2 axes, expected 1"),
    ("; run: f([1 [2]], 1)", "line 4, column 13: found a row of shape [1], expected []"),
    ("; run: f([1], 1.5)", "line 4, column 15: found Float(1.5), expected what int64 holds"),
    ("; run: f(empty(3), 1)", "line 4, column 10: found the lengths [3], expected one that is 0"),
    ("; run: f(iota(2.5), 1)", "line 4, column 10: found `iota`, expected lengths of axes"),
    ("; run: f(iota 3, 1)", "line 4, column 10: found `iota`, expected `iota(...)`, `full(...)` or `empty(...)`"),
    ("; run: f([1]\n;    , 1 2)", "line 5, column 10: found `2`, expected the end after 2 values"),
    ("; tolerance: 0", "line 4, column 1: expected a tolerance above 0, such as 1e-6"),
    ("; kernels: one", "line 4, column 1: expected a number of kernels"),
];

#[test]
fn mistakes_in_runs_are_refused_with_their_place() {
    for (comment, message) in MISTAKES {
        let refused = parse_cases(&format!("{TWICE}{comment}\n")).expect_err(comment);
        assert_eq!(refused.to_string(), *message, "of {comment}");
    }
    let early = parse_cases("; run: f() == 1\n(program () (results 1))\n").unwrap_err();
    assert_eq!(early.to_string(), "line 1, column 1: found a comment about a program, expected a program before it");
}
