//! Tests that need a process of their own (environment variables read once, process-wide state, exits and forks):
//! the test binary runs one of its tests again. Every crate's `tests/integration/main.rs` includes this file.
#![allow(dead_code, unreachable_pub, unused_macros, reason = "each crate's tests use a part")]

use std::process::Command;

const CHILD: &str = "RTCG_TEST_CHILD";

/// Whether this process was started by [`rerun`].
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// A command that runs `test` of the module `module` (its `module_path!()`) alone, with its output not captured.
pub fn rerun(module: &str, test: &str) -> Command {
    let name = match module.split_once("::") {
        Some((_, inside)) => format!("{inside}::{test}"),
        None => test.into(),
    };
    let mut command = Command::new(std::env::current_exe().expect("the test knows its file"));
    command.args(["--exact", &name, "--include-ignored", "--nocapture", "--test-threads=1"]).env(CHILD, name);
    command
}

/// Runs the test that `path` (the type name of an item inside of it) is in again, and demands that it passes.
pub fn pass_alone(path: &str, variables: &[(&str, &str)]) {
    let (test, _) = path.rsplit_once("::").expect("an item of a test");
    let (module, test) = test.rsplit_once("::").expect("a test of a module");
    let output = rerun(module, test).envs(variables.iter().copied()).output().expect("the test can start itself");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}\n{text}", output.status);
    assert!(text.contains("running 1 test"), "no test has the name {module}::{test}\n{text}");
}

/// At the start of a test: the rest of it runs in a process of its own, with these environment variables.
macro_rules! own_process {
    ($($name:literal = $value:expr),* $(,)?) => {
        if !crate::own_process::is_child() {
            struct Here;
            crate::own_process::pass_alone(std::any::type_name::<Here>(), &[$(($name, $value)),*]);
            return;
        }
    };
}
