//! Runs the programs of `tests/lang` on a device, in each form that nested reductions have, and compares the results with
//! those that the files state for the evaluator.

use rtcg::Context;
use rtcg::array::DeviceInfo;
use rtcg::array::tuning::{Choices, Config, ParameterValue, Problem};
use rtcg::array::{ArrayContext, GpuArray, Order, with_thread_choices};
use rtcg::lang::arguments::{ArgType, ResultType};
use rtcg::lang::evaluate::HostValue;
use rtcg::lang::ir::Program;
use rtcg::lang::text::cases::{Case, Expected, Run, parse_cases};
use rtcg::lang::{Compiled, Value};
use std::sync::Arc;

/// Runs all nested reductions in one form, and maps, if `rows`, with blocks that have several rows, and together with the
/// reductions that follow them.
struct Nested {
    form: &'static str,
    rows: bool,
}

impl Choices for Nested {
    fn choose(&self, problem: &Problem, _: &Config, _: &DeviceInfo) -> Option<Config> {
        let value = match problem.decision.name {
            "copperhead.nest" => ParameterValue::Name(self.form),
            "copperhead.rows" => ParameterValue::Int(if self.rows { 2 } else { 0 }),
            "copperhead.storing" => ParameterValue::Bool(self.rows),
            _ => return None,
        };
        Some(Config { decision: problem.decision, values: [value].into_iter().collect() })
    }
}

fn upload(ctx: &Arc<ArrayContext>, value: &HostValue) -> Value {
    if value.shape().is_empty() {
        return Value::Host(value.elements()[0], value.dtype());
    }
    let array = GpuArray::empty(ctx, value.shape(), value.dtype(), Order::C).unwrap();
    if array.size() > 0 {
        array.write(&value.to_bytes().unwrap(), Order::C).unwrap();
    }
    Value::Array(array)
}

fn download(value: &Value) -> Result<HostValue, String> {
    match value {
        Value::Host(number, dtype) => Ok(HostValue::scalar(*number, *dtype)),
        Value::Array(array) => {
            let array = array.to_contiguous().map_err(|error| error.to_string())?;
            let mut bytes = vec![0; array.nbytes()];
            array.read(&mut bytes, Order::C).map_err(|error| error.to_string())?;
            HostValue::from_bytes(array.dtype(), array.shape().to_vec(), &bytes).ok_or_else(|| "no value".to_owned())
        }
    }
}

fn result_type(program: &Program) -> ResultType {
    let one = |atom: &rtcg::lang::ir::Atom| match (program.dtype(*atom), program.ndim(*atom)) {
        (dtype, 0) => ArgType::Scalar { dtype, weak: false },
        (dtype, ndim) => ArgType::Array { dtype, ndim, weak: false },
    };
    ArgType::Tuple(program.body.results.iter().map(one).collect())
}

/// What is wrong with a run.
fn mismatch(ctx: &Arc<ArrayContext>, compiled: &Compiled, case: &Case, run: &Run) -> Option<String> {
    // What only the evaluator finds, kernels do not look for.
    if matches!(run.expected, Expected::Failure(_)) {
        return None;
    }
    let inputs = run.inputs.iter().map(|input| upload(ctx, input)).collect();
    let outcome = compiled
        .run(ctx, inputs)
        .map_err(|error| error.to_string())
        .and_then(|values| values.iter().map(download).collect::<Result<Vec<_>, _>>());
    match (&run.expected, outcome) {
        (Expected::Values(expected), Ok(found)) if expected.len() == found.len() => {
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs.find_map(|(at, (found, expected))| {
                let difference = found.difference(expected, case.tolerance.max(1e-14))?;
                Some(format!("line {}: result {at}: {difference}", run.line))
            })
        }
        (expected, outcome) => Some(format!("line {}: found {outcome:?}, expected {expected:?}", run.line)),
    }
}

/// Programs that kernels cannot compute yet, by what is said of them, with their number.
const UNSUPPORTED: usize = 3;

#[test]
fn core_programs_compute_on_a_device_what_the_evaluator_computes() {
    let ctx = rtcg::CudaRuntime::array_context(&Context::new().unwrap()).unwrap();
    let (mut mismatches, mut unsupported) = (Vec::new(), Vec::new());
    for (name, text) in crate::text_files::load_files("lang", "lang") {
        for case in parse_cases(&text).unwrap() {
            let compiled = match Compiled::of_program(case.program.clone(), result_type(&case.program)) {
                Ok(compiled) => compiled,
                Err(problems) => {
                    unsupported.push(format!("{name}, line {}: {}", case.line, problems.all()[0].message));
                    continue;
                }
            };
            if let Some(kernels) = case.kernels {
                assert_eq!(compiled.kernel_statements().len(), kernels, "{name}, line {}", case.line);
            }
            let forms: &[_] = if compiled.has_nested_reductions() {
                &["thread", "lanes8", "warp", "split", "rows"]
            } else {
                &["thread"]
            };
            for (form, rows) in forms.iter().map(|form| (*form, false)).chain([("thread", true)]) {
                let run_all =
                    || case.runs.iter().filter_map(|run| mismatch(&ctx, &compiled, &case, run)).collect::<Vec<_>>();
                let found = with_thread_choices(Arc::new(Nested { form, rows }), run_all);
                mismatches.extend(found.into_iter().map(|found| format!("{name} ({form}), {found}")));
            }
        }
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    assert_eq!(unsupported.len(), UNSUPPORTED, "{}", unsupported.join("\n"));
}
