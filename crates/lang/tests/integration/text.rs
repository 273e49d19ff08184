//! Programs as text: printing and reading are inverses, and what is no program is refused with its place.

use rtcg_lang::ir::{Atom, Block, Exp, Number, Program, Stmt};
use rtcg_lang::span::Span;
use rtcg_lang::text::{parse_program, print_program};

use rtcg_codegen::array::Op;
use rtcg_hal::DType;

/// A program with every kind of expression, in the layout in which it is printed.
const EVERY_EXPRESSION: &str = include_str!("every_expression.lang");

#[test]
fn every_expression_is_printed_as_it_was_read() {
    let program = parse_program(EVERY_EXPRESSION).unwrap();
    assert_eq!(print_program(&program), EVERY_EXPRESSION);
    assert_eq!(parse_program(&print_program(&program)).unwrap(), program);
}

#[test]
fn numbers_of_variables_stay_until_they_are_read_again() {
    let mut program = Program::default();
    let unused = program.new_var(DType::F32, 0);
    let (x, y) = (program.new_var(DType::F32, 0), program.new_var(DType::F32, 0));
    program.params = vec![x];
    let two = Atom::Const(Number::Int(2), DType::F32);
    let exp = Exp::Prim { op: Op::Multiply, compute: DType::F32, args: vec![x.into(), two] };
    program.body = Block { stmts: vec![Stmt { outs: vec![y], exp, span: Span::default() }], results: vec![y.into()] };
    let text = print_program(&program);
    assert_eq!(text, "(program ((v1 float32)) (let (v2 float32) (multiply float32 v1 2:float32)) (results v2))\n");
    let read = parse_program(&text).unwrap();
    assert_eq!((read.vars.len(), unused.0), (2, 0));
    let again = parse_program(&print_program(&read)).unwrap();
    assert_eq!(print_program(&again), print_program(&read));
    assert_eq!(print_program(&read), text.replace("v1", "v0").replace("v2", "v1"));
}

#[test]
fn names_may_be_used_again_after_their_block() {
    let text = "(program ((n int64))
  (let (a [int64]) (gen ((i n)) (let (t int64) (add int64 i 1)) (results t)))
  (let (b [int64]) (gen ((i n)) (let (t int64) (add int64 i 2)) (results t)))
  (results a b))";
    let program = parse_program(text).unwrap();
    assert_eq!(program.vars.len(), 7);
    assert_eq!(program.body.stmts[1].span, Span { file: 0, line: 3, column: 2, end_line: 3, end_column: 77 });
}

/// Text with one mistake, and the whole message.
const MISTAKES: &[(&str, &str)] = &[
    ("", "line 1, column 1: found no text, expected `(program ...)`"),
    (
        "(programme () (results))",
        "line 1, column 1: found `(programme ...)`, expected `(program ((NAME TYPE)...) STATEMENT... (results ATOM...))`",
    ),
    ("(program () (results)) 3", "line 1, column 24: found `3`, expected the end of the text after the program"),
    ("(program)", "line 1, column 9: found the end of `(program ...)`, expected the parameters, `((NAME TYPE)...)`"),
    ("(program (x) (results))", "line 1, column 11: found `x`, expected a variable and its type, `(NAME TYPE)`"),
    (
        "(program ((x float33)) (results))",
        "line 1, column 14: found `float33`, expected a type, such as float32, [int64] or [[bool]]",
    ),
    (
        "(program ((x [float32 int64])) (results))",
        "line 1, column 14: found `[...]`, expected a type, such as float32, [int64] or [[bool]]",
    ),
    ("(program ((3 int64)) (results))", "line 1, column 12: found `3`, expected a name"),
    (
        "(program ((checked int64)) (results))",
        "line 1, column 12: found `checked`, expected another name, since this word has a meaning of its own",
    ),
    (
        "(program ((x int64) (x int64)) (results))",
        "line 1, column 22: found `x`, which is a variable already; expected a new name",
    ),
    ("(program ((x int64)))", "line 1, column 21: found the end of `(program ...)`, expected `(results ATOM...)`"),
    (
        "(program ((x int64)) (result x))",
        "line 1, column 22: found `(result ...)`, expected `(let (NAME TYPE)... EXPRESSION)` or `(results ATOM...)`",
    ),
    (
        "(program ((x int64)) (results x) (results x))",
        "line 1, column 34: found `(results ...)`, expected the end of `(program ...)`",
    ),
    (
        "(program ((x int64)) (let) (results x))",
        "line 1, column 22: found `(let ...)`, expected `(let (NAME TYPE)... EXPRESSION)`",
    ),
    (
        "(program ((x int64))\n  (let (y int64) (plus int64 x 1))\n  (results y))",
        "line 2, column 18: found `(plus ...)`, expected an expression, such as `(add float32 a b)`, `(gen ...)` or \
         `(read ...)`",
    ),
    (
        "(program ((x int64)) (let (y int64) (add x 1)) (results y))",
        "line 1, column 42: found `x`, expected a dtype, by NumPy's name",
    ),
    (
        "(program ((x int64)) (let (y int64) (add int64 x z)) (results y))",
        "line 1, column 50: found `z`, expected a variable that is defined before and in a block around this one",
    ),
    (
        "(program ((x int64)) (let (y int64) (add int64 y 1)) (results y))",
        "line 1, column 48: found `y`, expected a variable that is defined before and in a block around this one",
    ),
    (
        "(program ((n int64)) (let (y [int64]) (gen ((i n)) (results i))) (results i))",
        "line 1, column 75: found `i`, expected a variable that is defined before and in a block around this one",
    ),
    (
        "(program ((n int64)) (let (y [[int64]]) (gen ((i n) (j i)) (results j))) (results y))",
        "line 1, column 56: found `i`, expected a variable that is defined before and in a block around this one",
    ),
    ("(program () (results 3x))", "line 1, column 22: found `3x`, expected a number, such as 3, 2.5, 1.0+2.0j or true"),
    (
        "(program () (results 3:int9))",
        "line 1, column 22: found `3:int9`, expected a dtype after the colon, by NumPy's name, such as 3:uint8",
    ),
    ("(program () (results (x)))", "line 1, column 22: found `(x ...)`, expected a variable or a number"),
    (
        "(program ((x [int64])) (let (y int64) (length x n)) (results y))",
        "line 1, column 49: found `n`, expected the number of an axis",
    ),
    (
        "(program ((x [int64])) (let (y int64) (length x 0 1)) (results y))",
        "line 1, column 51: found `1`, expected the end of `(length ...)`",
    ),
    (
        "(program ((c bool)) (let (y int64) (if c (else (results 1)) (then (results 2)))) (results y))",
        "line 1, column 42: found `(else ...)`, expected `(then STATEMENT... (results ATOM...))`",
    ),
    (
        "(program ((c bool)) (let (y int64) (if c (then (results 1)))) (results y))",
        "line 1, column 60: found the end of `(if ...)`, expected `(else STATEMENT... (results ATOM...))`",
    ),
    (
        "(program ((n int64)) (let (y int64) (loop ((k int64)) (while (results true)) (do (results k)))) (results y))",
        "line 1, column 44: found `(k ...)`, expected a variable with its first value, `(NAME TYPE INITIAL)`",
    ),
    (
        "(program ((n int64)) (let (y int64) (reduce ((i n)) (body (results i)) (op ((a int64) (b int64)) (results a)))) \
         (results y))",
        "line 1, column 110: found the end of `(reduce ...)`, expected `(init ATOM...)`",
    ),
    (
        "(program ((n int64)) (let (y int64) (reduce ((i n)) (body (results i)) (op ((a int64) (b int64)) (results i)) \
         (init 0))) (results y))",
        "line 1, column 107: found `i`, expected a variable that is defined before and in a block around this one",
    ),
    (
        "(program ((n int64)) (let (y int64) (same (n \"x\") n)) (results y))",
        "line 1, column 51: found `n`, expected a length and what it is the length of, `(ATOM \"NAME\")`",
    ),
    // Mistakes in types are found by the checks; their place is the statement.
    (
        "(program ((x int64))\n  (let (y float32) (add int64 x 1))\n  (results y))",
        "line 2, column 3: the variables have types (float32), expected (int64)",
    ),
    (
        "(program ((x [float32]) (i int64))\n  (let (y float32) (read x i i))\n  (results y))",
        "line 2, column 3: x has type [float32], with 1 axes, and 2 indices; expected at most as many",
    ),
    (
        "(program ((x [float32]) (i int32))\n  (let (y float32) (read x i))\n  (results y))",
        "line 2, column 3: the index for axis 0 is i, of type int32; expected int64",
    ),
    (
        "(program ((x float32) (n int64))\n  (let (y [float32])\n    (gen ((i n))\n      (let (a float32) (add float32 x \
         1:int8 x))\n      (results a)))\n  (results y))",
        "line 4, column 7: add has 3 operands, expected 2",
    ),
];

#[test]
fn mistakes_are_refused_with_their_place() {
    for (text, message) in MISTAKES {
        let refused = parse_program(text).expect_err(text);
        assert_eq!(refused.to_string(), *message, "of {text}");
    }
}
