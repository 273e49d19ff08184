//! Gives the crate the identity of its code generator (see `src/code_cache/fingerprint.rs`).

#[path = "src/code_cache/fingerprint.rs"]
mod fingerprint;

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    for source in fingerprint::source_folders(&package) {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    // The order of fields in memory is the compiler's.
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|o| o.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    println!("cargo:rustc-env=RTCG_CODE_GENERATOR={} {}", fingerprint::source_fingerprint(&package), version.trim());
}
