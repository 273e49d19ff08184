//! What [`check`] refuses in programs that were not read from text, and the types that it demands.

use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use rtcg_lang::check::check;
use rtcg_lang::ir::{Atom, Exp, Number, Program, Stmt, Var};
use rtcg_lang::span::Span;
use rtcg_lang::text::parse_program;

/// Programs in text form with one mistake each, and a part of the message.
const MISTAKES: &[(&str, &str)] = &[
    ("(program ((x int64)) (let (y int64) (add float32 x 1)) (results y))", "have types (int64), expected (float32)"),
    ("(program ((x float32)) (let (y int64) (add int64 x 1)) (results y))", "operand 0 of add is of dtype float32"),
    (
        "(program ((x complex64)) (let (y float32) (add float32 x x)) (results y))",
        "operand 0 of add is of dtype complex64",
    ),
    ("(program ((x bool)) (let (y bool) (subtract bool x x)) (results y))", "boolean subtract"),
    (
        "(program ((x int64)) (let (y float64) (sqrt int64 x)) (results y))",
        "sqrt is computed in int64, expected float64",
    ),
    ("(program ((x int64)) (let (y int64) (arange int64 x x)) (results y))", "arange needs the index of a kernel"),
    ("(program ((x [int64])) (let (y int64) (negative int64 x)) (results y))", "of type [int64]; expected a scalar"),
    ("(program ((x float64) (k float64)) (let (y float64) (ldexp float64 x k)) (results y))", "operand 1 of ldexp"),
    ("(program () (results 300:uint8))", "uint8 does not hold the constant Int(300)"),
    ("(program () (results -129:int8))", "int8 does not hold the constant Int(-129)"),
    ("(program () (results -1:uint64))", "uint64 does not hold"),
    ("(program () (results 1.5:int32))", "int32 does not hold"),
    ("(program () (results 1:bool))", "bool does not hold"),
    ("(program () (results 1j:float32))", "float32 does not hold"),
    ("(program ((x void12)) (let (y int64) (cast int64 x)) (results y))", "void cannot be converted to int64"),
    ("(program ((x int64)) (let (y int64) (read x 0)) (results y))", "x is a scalar, expected an array"),
    (
        "(program ((x [[int64]])) (let (y int64) (read x 0)) (results y))",
        "x has type [[int64]], with 2 axes, and 1 indices",
    ),
    ("(program ((x [int64])) (let (y int64) (row x 0)) (results y))", "1 indices; expected fewer"),
    (
        "(program ((x [[int64]])) (let (y [[int64]]) (row x 0)) (results y))",
        "have types ([[int64]]), expected ([int64])",
    ),
    ("(program ((x [int64])) (let (y int64) (length x 1)) (results y))", "no axis 1"),
    ("(program ((x [int64])) (let (y [int64]) (slice x 0 1:int32)) (results y))", "the length is the constant Int(1)"),
    ("(program ((x [int32])) (let (y int64) (segment x 0)) (results y))", "the array of offsets is x, of type [int32]"),
    (
        "(program ((c int64)) (let (y int64) (if c (then (results 1)) (else (results 2)))) (results y))",
        "the condition is c, of type int64; expected bool",
    ),
    (
        "(program ((c bool)) (let (y int64) (if c (then (results 1)) (else (results 2.0)))) (results y))",
        "the results of `else` have types (float64), expected (int64)",
    ),
    (
        "(program () (let (y int64) (loop ((k int64 0)) (while (results 1)) (do (results k)))) (results y))",
        "the results of `while` have types (int64), expected (bool)",
    ),
    (
        "(program () (let (y int64) (loop ((k int64 0)) (while (results true)) (do (results k k)))) (results y))",
        "the results of `do` have types (int64, int64), expected (int64)",
    ),
    (
        "(program () (let (y int64) (loop ((k int64 0.5)) (while (results true)) (do (results k)))) (results y))",
        "the first values of the loop have types (float64), expected (int64)",
    ),
    (
        "(program ((n int32)) (let (y [int64]) (gen ((i n)) (results i))) (results y))",
        "the length of an axis is n, of type int32",
    ),
    ("(program ((n int64)) (let (y [int64]) (gen ((i n) (j n)) (results i))) (results y))", "expected ([[int64]])"),
    (
        "(program ((n int64)) (let (y int64) (reduce () (body (results n)) (op ((a int64) (b int64)) (results a)) (init 0))) \
         (results y))",
        "the reduction has no axes",
    ),
    (
        "(program ((n int64)) (let (y int64) (reduce ((i n)) (body (results i)) (op ((a int64)) (results a)) (init 0))) \
         (results y))",
        "the parameters of the operator of the reduction have types (int64), expected (int64, int64)",
    ),
    (
        "(program ((n int64)) (let (y int64) (reduce ((i n)) (body (results i)) (op ((a int64) (b int64)) (results true)) \
         (init 0))) (results y))",
        "the results of the operator of the reduction have types (bool)",
    ),
    (
        "(program ((n int64)) (let (y int64) (reduce ((i n)) (body (results i)) (op ((a int64) (b int64)) (results a)) \
         (init 0 0))) (results y))",
        "the values before the reduction have types (int64, int64)",
    ),
    (
        "(program ((x [[int64]]) (n int64)) (let (y [int64]) (reduce ((i n)) (body (let (r [int64]) (row x i)) (results r)) \
         (op ((a [int64]) (b [int64])) (results a)) (init x))) (results y))",
        "a result of the reduction is of type [int64]; expected a scalar",
    ),
    (
        "(program ((n int64)) (let (y int64) (scan ((i n)) (body (results i)) (op ((a int64) (b int64)) (results a)))) \
         (results y))",
        "have types (int64), expected ([int64])",
    ),
    (
        "(program ((n int64)) (let (y int64) (same (n \"x\"))) (results y))",
        "1 lengths with 1 names, expected 2 at least",
    ),
    ("(program ((n int32)) (let (y int64) (same (n \"x\") (1 \"y\"))) (results y))", "a length is n, of type int32"),
    ("(program ((n int64)) (let (y [int64]) (filter ((i n)) (results i i))) (results y))", "no truth value"),
    (
        "(program ((n int64)) (let (y [int64]) (filter ((i n) (j n)) (results true i))) (results y))",
        "has 2 axes, expected 1",
    ),
    (
        "(program ((x [int64]) (n int64)) (let (y [int64]) (scatter (x) ((i n)) (results i))) (results y))",
        "the results of a scatter have types (int64), expected (int64, int64)",
    ),
    (
        "(program ((x [[int64]]) (n int64)) (let (y [[int64]]) (scatter (x) ((i n)) (results i i))) (results y))",
        "x, which is written to, has type [[int64]]; expected one axis",
    ),
    ("(program ((n int64)) (let (scatter () ((i n)) (results i))) (results))", "no array is written to"),
    (
        "(program ((x [int64])) (let (y [int64]) (sort (x) (less ((a int64) (b int64)) (results a)))) (results y))",
        "the results of `less` have types (int64), expected (bool)",
    ),
    (
        "(program ((x [int64])) (let (y [int64]) (sort (x) (less ((a int64)) (results true)))) (results y))",
        "the parameters of `less` have types (int64), expected (int64, int64)",
    ),
];

#[test]
fn types_and_counts_must_fit() {
    for (text, part) in MISTAKES {
        let message = parse_program(text).expect_err(text).message;
        assert!(message.contains(part), "of {text}: {message}");
    }
}

fn copy(out: Var, of: impl Into<Atom>) -> Stmt {
    Stmt { outs: vec![out], exp: Exp::Cast { arg: of.into(), to: DType::I64 }, span: Span::default() }
}

fn program_of(stmts: impl FnOnce(&mut Program, Var) -> Vec<Stmt>) -> Program {
    let mut program = Program::default();
    let x = program.new_var(DType::I64, 0);
    program.params = vec![x];
    program.body.stmts = stmts(&mut program, x);
    program
}

#[test]
fn variables_are_assigned_once_and_before_they_are_used() {
    let good = program_of(|program, x| vec![copy(program.new_var(DType::I64, 0), x)]);
    assert_eq!(check(&good), Ok(()));
    let twice = program_of(|_, x| vec![copy(x, x)]);
    assert_eq!(check(&twice).unwrap_err(), "v0 is assigned twice");
    let early = program_of(|program, _| {
        let (y, z) = (program.new_var(DType::I64, 0), program.new_var(DType::I64, 0));
        vec![copy(y, z), copy(z, y)]
    });
    assert_eq!(check(&early).unwrap_err(), "variable 2 is used before it is assigned");
    let unknown = program_of(|_, x| vec![copy(Var(7), x)]);
    assert_eq!(check(&unknown).unwrap_err(), "variable number 7 has no type; the program has 1");
    let escaped = program_of(|program, x| {
        let (inner, outer) = (program.new_var(DType::I64, 0), program.new_var(DType::I64, 0));
        let cond = Atom::Const(Number::Bool(true), DType::Bool);
        let block = |stmts| rtcg_lang::ir::Block { stmts, results: vec![] };
        let branch = Exp::If { cond, then: block(vec![copy(inner, x)]), other: block(vec![]) };
        vec![Stmt { outs: vec![], exp: branch, span: Span::default() }, copy(outer, inner)]
    });
    assert_eq!(check(&escaped).unwrap_err(), "v1 is used outside of the block that assigns it");
}

#[test]
fn messages_name_the_statement_where_it_is_known() {
    let mut program = program_of(|program, x| vec![copy(program.new_var(DType::I32, 0), x)]);
    program.body.stmts[0].span = Span { line: 4, column: 8, ..Span::default() };
    let message = "line 4, column 8: the variables have types (int32), expected (int64)";
    assert_eq!(check(&program).unwrap_err(), message);
}

#[test]
fn integers_without_a_common_type_may_be_compared() {
    let text = "(program ((x int64) (y uint64)) (let (z bool) (less float64 x y)) (results z))";
    assert!(parse_program(text).is_ok());
    assert_eq!(Op::Less.resolve_types(DType::I64.promote(DType::U64)).unwrap().compute, DType::F64);
}
