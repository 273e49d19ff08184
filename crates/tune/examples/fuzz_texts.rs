//! Fuzzes what reads texts of others: expressions, T1, T4 and cache files, on stable Rust:
//! `cargo run --release -p rtcg-tune --example fuzz_texts -- SECONDS SEED [FOLDER_FOR_FINDS]`.
//!
//! Every text must be read or refused without panic and without the end of a stack of 1 MiB, within a second, by a
//! message that is short; what is read must be written to a text that is read again.

#[path = "../../../tests/support/mutate_text.rs"]
mod mutate_text;

use mutate_text::{Outcome, fuzz_in_small_stack};
use rtcg_tune::formats::{kernel_tuner::KernelTunerCache, t1::T1, t4::T4};
use rtcg_tune::{Expression, Value};

const CORPUS: &[&str] = &[
    "bx * by <= 1024 and (stage or pad == 0) and not x % 32",
    "[2**i for i in range(6)] + list(range(1, 9, 2))",
    "max(1, min(n, ceil_div(a, b))) if p[\"bx\"] in (1, 2, 3) else -x // 2",
    "0x1f << 3 | 7 & ~y ^ 1.5e3 != 'text' \"a\\\"b\" in names[0][-1]",
    include_str!("../../../tests/python/t1/stencil.json"),
    r#"{"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Type": "int", "Values": "[1, 2]", "Default": 1},
        {"Name": "b", "Values": ["x", 1.5, true, [1, 2]]}], "Conditions": [{"Expression": "a < 3", "Parameters": ["a"]}]},
        "KernelSpecification": {"KernelName": "k"}, "Budget": [{"Type": "ConfigurationCount"}]}"#,
    r#"{"device_name": "A", "kernel_name": "k", "problem_size": [4, 4], "tune_params_keys": ["bx", "m"],
        "tune_params": {"bx": [16, 32], "m": ["a", "b"]}, "objective": "time", "cache": {
        "16,a": {"bx": 16, "m": "a", "time": 2.5, "times": [2.5, NaN, -Infinity]},
        "32,b": {"bx": 32, "m": "b", "time": "CompilationFailedConfig"}}}"#,
    r#"{"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [{"timestamp": "t",
        "configuration": {"a": 1}, "times": {"compilation_time": 1.5, "runtimes": [1, 2]}, "invalidity": "correct",
        "correctness": 1, "measurements": [{"name": "time", "value": 1.5, "unit": ""}], "objectives": ["time"]}]}"#,
];

/// Longer messages are of no use to anybody.
const MAX_MESSAGE_BYTES: usize = 4000;

fn read_all(text: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let mut note = |message: Option<String>| match message {
        Some(message) => assert!(message.len() <= MAX_MESSAGE_BYTES, "a message of {} bytes", message.len()),
        None => outcome.is_read = true,
    };
    let parsed = Expression::parse(text);
    note(parsed.as_ref().err().map(ToString::to_string));
    if let Ok(parsed) = parsed {
        note(parsed.evaluate(&|_| Some(Value::Int(3))).err().map(|error| error.to_string()));
        assert_eq!(Expression::parse(parsed.text()).as_ref(), Ok(&parsed));
    }
    let t1 = T1::read(text);
    note(t1.as_ref().err().map(ToString::to_string));
    if let Ok(t1) = t1 {
        let written = t1.write();
        assert_eq!(T1::read(&written).map(|again| again.write()).as_ref(), Ok(&written));
    }
    let cache = KernelTunerCache::read(text);
    note(cache.as_ref().err().map(ToString::to_string));
    if let Ok(cache) = cache {
        let written = cache.write();
        assert!(KernelTunerCache::read(&written).is_ok(), "{written}");
        let (table, entries) = cache.configurations();
        assert_eq!(table.len(), entries.len());
    }
    let t4 = T4::read(text);
    note(t4.as_ref().err().map(ToString::to_string));
    if let Ok(t4) = t4 {
        assert_eq!(T4::read(&t4.write()).as_ref(), Ok(&t4));
    }
    outcome
}

fn main() {
    fuzz_in_small_stack(CORPUS, "txt", read_all);
}
