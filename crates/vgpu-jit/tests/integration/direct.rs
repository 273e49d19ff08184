//! Code emitted directly gives what the Rust helpers give, for scalars and for chunks of lanes.

use crate::support::{CompileMode, InstructionCase, cases, compile_case, operand_tuples, parse_case, results_agree};
use rtcg_vgpu_jit::ops::{self, EmitShape};

/// Compares the direct code with the helper; gives a complaint per case.
fn check_case(text: &cases::InstructionText, case: &InstructionCase, n: usize) -> Option<String> {
    let tuples = operand_tuples(case, n);
    let direct_scalar = compile_case(case, EmitShape::Scalar, CompileMode::Direct, "none").run_tuples(&tuples);
    let has_helper =
        std::panic::catch_unwind(|| compile_case(case, EmitShape::Scalar, CompileMode::Helper, "none")).ok();
    let wanted = has_helper.map_or_else(|| direct_scalar.clone(), |h| h.run_tuples(&tuples));
    let chunk = compile_case(case, EmitShape::Chunk, CompileMode::Direct, "none").run_tuples(&tuples);
    let optimised = compile_case(case, EmitShape::Chunk, CompileMode::Direct, "speed").run_tuples(&tuples);
    for (name, got) in [("scalar", &direct_scalar), ("chunk", &chunk), ("chunk, optimised", &optimised)] {
        for ((tuple, got), want) in tuples.iter().zip(got).zip(&wanted) {
            for (i, (_, width)) in case.dsts.iter().enumerate() {
                if !results_agree(text.tolerance, tuple, *width, got[i], want[i]) {
                    return Some(format!("{} ({name}) of {tuple:x?} gives {got:x?}, not {want:x?}", text.text));
                }
            }
        }
    }
    None
}

#[test]
fn direct_code_agrees_with_helpers() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut wrong = Vec::new();
    for text in cases::all_instructions() {
        let outcome = std::panic::catch_unwind(|| {
            let case = parse_case(&text.text);
            ops::check_supported(&case.inst).map_err(|e| e.to_string()).map(|()| check_case(&text, &case, 1000))
        });
        match outcome {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(complaint)) | Err(complaint)) => wrong.push(complaint),
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "panicked".into());
                wrong.push(format!("{}: {message}", text.text));
            }
        }
    }
    std::panic::set_hook(hook);
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// With the interpolator of a GPU compiled code has the very bits of the helpers.
#[test]
fn interpolated_functions_agree_with_helpers_bit_for_bit() {
    let approximate = cases::all_instructions().into_iter().filter(|text| text.tolerance != cases::Tolerance::Exact);
    let mut n_cases = 0;
    for text in approximate {
        let case = parse_case(&text.text);
        let tuples = operand_tuples(&case, 20_000);
        let wanted = compile_case(&case, EmitShape::Scalar, CompileMode::Helper, "none").run_tuples(&tuples);
        for shape in [EmitShape::Scalar, EmitShape::Chunk] {
            let found = compile_case(&case, shape, CompileMode::Device, "none").run_tuples(&tuples);
            let different = tuples.iter().zip(wanted.iter().zip(&found)).find(|(_, (wanted, found))| wanted != found);
            assert_eq!(different, None, "{} ({shape:?})", text.text);
        }
        n_cases += 1;
    }
    assert!(n_cases > 20, "{n_cases}");
}
