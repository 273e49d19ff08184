//! A test that a fault names, and how it is built and run. A file of `crates/X/tests` may be a
//! program of its own or a module of one; `MutantCheck::test_target_and_filter` alone knows.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::command::{CommandResult, run_with_timeout};
use super::mutant_tree::MutantTree;
use crate::Result;

/// A test that runs longer has hung.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(120);
/// The same of a test that a fault is expected to make hang.
pub(super) const SHORT_TEST_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MutantCheck {
    /// The line as the patch says it.
    pub(super) line: String,
    kind: CheckKind,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CheckKind {
    /// Tests of `package` whose names contain `filter`, from `tests/FILE` or from `src`.
    Cargo {
        package: String,
        file: Option<String>,
        filter: String,
    },
    Pytest(Vec<String>),
}

#[derive(Debug, PartialEq)]
pub(super) enum CheckOutcome {
    Passed,
    Failed,
    TimedOut,
    /// No test ran: the line names none.
    Absent,
}

impl CheckOutcome {
    pub(super) fn outcome_text(&self) -> &'static str {
        match self {
            Self::Passed => "passes",
            Self::Failed => "fails",
            Self::TimedOut => "hangs",
            Self::Absent => "names no test that runs",
        }
    }
}

impl MutantCheck {
    /// Reads `cargo -p PACKAGE (--test FILE | --lib) FILTER` or `pytest ARGUMENTS`.
    pub(super) fn parse_caught_by(line: &str) -> std::result::Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kind = match words[..] {
            ["cargo", "-p", package, "--lib", filter] => {
                CheckKind::Cargo { package: package.into(), file: None, filter: filter.into() }
            }
            ["cargo", "-p", package, "--test", file, filter] => {
                CheckKind::Cargo { package: package.into(), file: Some(file.into()), filter: filter.into() }
            }
            ["pytest", ref rest @ ..] if !rest.is_empty() => {
                CheckKind::Pytest(rest.iter().map(|w| w.to_string()).collect())
            }
            _ => {
                return Err(format!(
                    "{line:?} is no `cargo -p PACKAGE (--test FILE | --lib) FILTER` nor `pytest TEST`"
                ));
            }
        };
        Ok(Self { line: line.to_string(), kind })
    }

    /// Builds what the test needs; the error is what the compiler says.
    pub(super) fn build_test(&self, tree: &MutantTree) -> std::result::Result<(), String> {
        let mut command = self.cargo_command(tree);
        match &self.kind {
            CheckKind::Cargo { .. } => command.arg("--no-run"),
            CheckKind::Pytest(_) => &mut command,
        };
        let ended = run_with_timeout(&mut command, Duration::MAX).map_err(|error| error.to_string())?;
        match (ended.is_success(), &self.kind) {
            (false, _) => Err(ended.error_lines()),
            (true, CheckKind::Cargo { .. }) => Ok(()),
            (true, CheckKind::Pytest(_)) => copy_python_extension(tree).map_err(|error| error.to_string()),
        }
    }

    pub(super) fn run_test(&self, tree: &MutantTree, limit: Duration) -> Result<CheckOutcome> {
        let mut command = match &self.kind {
            CheckKind::Cargo { .. } => self.cargo_command(tree),
            CheckKind::Pytest(args) => pytest_command(tree, args),
        };
        let ended = run_with_timeout(&mut command, limit)?;
        Ok(match &self.kind {
            CheckKind::Cargo { .. } => outcome_of_cargo(&ended),
            CheckKind::Pytest(_) => outcome_of_pytest(&ended),
        })
    }

    /// `cargo test` of the file and filter, or the build of the Python extension.
    fn cargo_command(&self, tree: &MutantTree) -> Command {
        let mut command = Command::new("cargo");
        set_environment(&mut command, tree);
        match &self.kind {
            CheckKind::Cargo { package, file, filter } => {
                command.args(["test", "-q", "--profile", "mutants", "-p", package]);
                let folder = tree.source_copy().join("crates").join(package.trim_start_matches("rtcg-")).join("tests");
                match file {
                    None => command.args(["--lib", filter]),
                    Some(file) => {
                        let (program, filter) = test_target_and_filter(&folder, file, filter);
                        command.args(["--test", &program, &filter])
                    }
                };
            }
            CheckKind::Pytest(_) => {
                command.args(["build", "-q", "--profile", "mutants", "-p", "rtcg-python"]);
                command.args(["--features", "extension-module"]);
            }
        }
        command
    }
}

/// The program that holds the tests of `tests/FILE.rs` and how it names them: a program of its own,
/// or the module FILE of the program that declares it.
pub(super) fn test_target_and_filter(folder: &Path, file: &str, filter: &str) -> (String, String) {
    if folder.join(file).join("main.rs").exists() {
        return (file.into(), filter.into());
    }
    let declaration = format!("mod {file};");
    let programs = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| {
        let path = entry.ok()?.path();
        let (program, root) =
            if path.is_dir() { (path.file_name()?, path.join("main.rs")) } else { (path.file_stem()?, path.clone()) };
        let text = std::fs::read_to_string(root).ok()?;
        text.lines().any(|line| line.trim() == declaration).then(|| program.to_str().map(str::to_string))?
    });
    match programs.min() {
        Some(program) => (program, format!("{file}::{filter}")),
        None => (file.into(), filter.into()),
    }
}

fn set_environment(command: &mut Command, tree: &MutantTree) {
    let environment = tree.working_tree().join(".venv");
    command
        .current_dir(tree.source_copy())
        .env("CARGO_TARGET_DIR", tree.target_folder().join("build"))
        .env("PYCUDA_CACHE_DIR", tree.target_folder().join("cache"))
        .env("PYTHONPATH", tree.source_copy().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYO3_PYTHON", environment.join("bin/python"))
        // Where NVRTC is found. A test that passes over what needs it catches nothing, which shows.
        .env("VIRTUAL_ENV", environment);
}

/// The same examples at every run: with a fixed seed, and without those that an earlier run has kept.
fn pytest_command(tree: &MutantTree, args: &[String]) -> Command {
    let _ = std::fs::remove_dir_all(tree.source_copy().join(".hypothesis"));
    let mut command = Command::new(tree.working_tree().join(".venv/bin/python"));
    set_environment(&mut command, tree);
    command.args(["-m", "pytest", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--device", "virtual"]);
    command.args(args);
    command
}

/// Puts the extension that was built where the copy's Python modules find it.
fn copy_python_extension(tree: &MutantTree) -> Result<()> {
    let built = tree.target_folder().join("build/mutants/lib_native.so");
    let place = tree.source_copy().join("python/rtcg/_native.abi3.so");
    let _ = std::fs::remove_file(&place);
    std::fs::copy(&built, &place).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(())
}

fn outcome_of_cargo(ended: &CommandResult) -> CheckOutcome {
    let ran = |text: &str| {
        let counts = text.lines().filter_map(|line| line.strip_prefix("test result: "));
        counts
            .filter_map(|rest| rest.split(['.', ';']).nth(1)?.trim().split(' ').next()?.parse::<u32>().ok())
            .sum::<u32>()
            > 0
    };
    match ended.code {
        None if ended.timed_out => CheckOutcome::TimedOut,
        Some(0) if ran(&ended.output) => CheckOutcome::Passed,
        Some(0) => CheckOutcome::Absent,
        _ => CheckOutcome::Failed,
    }
}

fn outcome_of_pytest(ended: &CommandResult) -> CheckOutcome {
    match ended.code {
        None if ended.timed_out => CheckOutcome::TimedOut,
        Some(0) if ended.output.contains(" passed") => CheckOutcome::Passed,
        // Nothing collected, a wrong command line, or all skipped.
        Some(0 | 4 | 5) => CheckOutcome::Absent,
        _ => CheckOutcome::Failed,
    }
}
