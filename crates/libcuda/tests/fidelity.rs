//! The questions of `tests/fidelity`, asked of the built library: its answers are an H200's, or listed with a reason.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn questions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fidelity")
}

/// Runs a program of the questions with the environment's Python.
fn run_program(name: &str, arguments: &[&Path]) -> Output {
    let python = match std::env::var_os("VIRTUAL_ENV") {
        Some(environment) => PathBuf::from(environment).join("bin/python"),
        None => "python3".into(),
    };
    let tests = std::env::current_exe().expect("the test knows its file");
    let library = tests.with_file_name("librtcg_libcuda.so");
    assert!(library.exists(), "{} is missing: cargo build --release -p rtcg-libcuda makes it", library.display());
    let mut command = Command::new(python);
    command.arg(questions().join(name)).args(arguments).env("GPUEXAM_LIBCUDA", library);
    command
        .env_remove("RTCG_CHECK")
        .env_remove("RTCG_SCHEDULE")
        .env_remove("RTCG_APPROX")
        .env("GPUEXAM_TIMEOUT", "300");
    command.output().expect("Python starts")
}

#[test]
fn answers_are_those_of_a_card() {
    let answers = std::env::temp_dir().join(format!("rtcg-fidelity-{}.txt", std::process::id()));
    let asked = run_program("run.py", &[&answers]);
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let compared = run_program("compare.py", &[&answers, &questions().join("answers/h200.txt")]);
    let report = String::from_utf8_lossy(&compared.stdout);
    assert!(report.lines().filter(|line| line.starts_with("== q")).count() >= 70, "{report}");
    assert!(compared.status.success(), "{report}");
    let _ = std::fs::remove_file(answers);
}
