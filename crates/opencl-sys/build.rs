//! Compiles `probe_program/main.rs`, the program that probes vendors' libraries, which the crate holds as bytes.
//!
//! It is no binary of the package: a library cannot depend on one, and programs that use this crate are installed
//! without it. Where it cannot be linked (a target without a linker, which suffices for `cargo check`), the bytes are
//! empty, and vendors are refused with that reason.

use std::path::PathBuf;
use std::process::Command;

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=probe_program/main.rs");
    let program = PathBuf::from(variable("OUT_DIR")).join("probe");
    let is_made = variable("CARGO_CFG_TARGET_OS") == "linux" && compile(&program);
    if !is_made {
        std::fs::write(&program, []).expect("cargo's folder can be written");
    }
}

fn compile(program: &PathBuf) -> bool {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--edition=2024", "--crate-name=probe", "--crate-type=bin", "probe_program/main.rs"]);
    rustc.args(["-Copt-level=s", "-Cpanic=abort", "-Cstrip=symbols"]);
    rustc.args(["--target", &variable("TARGET"), "-o"]).arg(program);
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        rustc.arg(format!("-Clinker={linker}"));
    }
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\x1f').filter(|flag| !flag.is_empty()));
    match rustc.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("cargo:warning=no probe of OpenCL vendors: {}", message.lines().next().unwrap_or_default());
            false
        }
        Err(error) => {
            println!("cargo:warning=no probe of OpenCL vendors: rustc: {error}");
            false
        }
    }
}
