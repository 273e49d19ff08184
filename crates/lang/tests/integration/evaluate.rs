//! What the evaluator refuses, and that it ends.

use rtcg_hal::DType;
use rtcg_lang::evaluate::{EvaluateError, HostValue, evaluate, evaluate_within};
use rtcg_lang::ir::Number;
use rtcg_lang::text::parse_program;

fn int(value: i128) -> HostValue {
    HostValue::scalar(Number::Int(value), DType::I64)
}

#[test]
fn endless_programs_reach_the_limit() {
    for text in [
        "(program () (let (y int64) (loop ((k int64 0)) (while (results true)) (do (results k)))) (results y))",
        "(program () (let (y [int64]) (gen ((i 9223372036854775807)) (results i))) (results y))",
    ] {
        let program = parse_program(text).unwrap();
        assert_eq!(evaluate_within(&program, &[], 10_000), Err(EvaluateError::StepLimit(10_000)));
    }
}

#[test]
fn inputs_must_fit_the_parameters() {
    let program = parse_program("(program ((n int64)) (results n))").unwrap();
    assert_eq!(evaluate(&program, &[int(3)]), Ok(vec![int(3)]));
    for inputs in [vec![], vec![int(1), int(2)], vec![HostValue::scalar(Number::Int(1), DType::I32)]] {
        let refused = evaluate(&program, &inputs).unwrap_err().to_string();
        assert!(refused.contains("expected [VarType { dtype: I64, ndim: 0 }]"), "{refused}");
    }
    let records = parse_program("(program ((x void12)) (results))").unwrap();
    assert!(evaluate(&records, &[int(1)]).unwrap_err().to_string().contains("a record of 12 bytes"));
}

#[test]
fn inconsistent_programs_are_not_run() {
    let mut program = parse_program("(program ((n int64)) (results n))").unwrap();
    program.vars.clear();
    assert!(matches!(evaluate(&program, &[int(3)]), Err(EvaluateError::Inputs(_))));
}

#[test]
fn indices_out_of_bounds_are_told_with_their_statement() {
    let text = "(program ((x [int64]) (i int64))\n  (let (y int64) (read checked x i))\n  (results y))";
    let program = parse_program(text).unwrap();
    let x = HostValue::array(DType::I64, vec![3], [5, 6, 7].map(Number::Int));
    assert_eq!(evaluate(&program, &[x.clone(), int(2)]), Ok(vec![int(7)]));
    let message = |index| evaluate(&program, &[x.clone(), int(index)]).unwrap_err().to_string();
    assert_eq!(message(3), "line 2, column 3: index 3 is out of bounds for axis 0 with length 3");
    assert_eq!(message(-1), "line 2, column 3: index -1 is out of bounds for axis 0 with length 3");
}
