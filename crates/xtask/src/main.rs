//! Developer commands: `cargo run -p xtask -- COMMAND`.
//!
//! `cycles` lists modules that import each other. Their number may only decrease (`cycles.txt`). `mutants` runs
//! mutation tests with the faults in `tests/mutants/`. No crate depends on this one.

mod cycles;
mod mutants;

use std::path::Path;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE_TEXT: &str = "\
cycles [--verbose | --check | --record]   import cycles between the modules of each crate
mutants [NAME...]                         whether tests catch the faults of tests/mutants";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace exists");
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((command, rest)) if command == "cycles" => cycles::run_cycles(&root, rest),
        Some((command, names)) if command == "mutants" => mutants::run_mutants(&root, names),
        _ => Err(USAGE_TEXT.into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
