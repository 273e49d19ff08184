//! Fuzzes program binaries with mutations that have a right check sum, on stable Rust:
//! `cargo run --release -p rtcg-opencl-platform --example fuzz_binary -- SECONDS SEED [FOLDER_FOR_FINDS]`.
//!
//! The last binary is written before it is tried, so that one which ends the process is there.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[path = "../tests/setup/mod.rs"]
#[macro_use]
mod setup;
#[path = "../tests/binary_inputs/mod.rs"]
mod binary_inputs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(1, 10), number(2, 1));
    let folder = args.get(3).cloned().unwrap_or_else(|| ".".into());
    let setup = setup::set_up(0);
    let mut mutator = binary_inputs::Mutator::new(&setup, seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut n_inputs, mut n_accepted, mut n_finds) = (0u64, 0u64, 0u64);
    let tried = format!("{folder}/binary-{seed}-tried");
    while Instant::now() < end && n_finds < 20 {
        let binary = mutator.next_binary();
        n_inputs += 1;
        if let Err(error) = std::fs::write(&tried, &binary) {
            println!("{tried}: {error}");
        }
        match catch_unwind(AssertUnwindSafe(|| binary_inputs::check(&setup, &binary))) {
            Ok(is_accepted) => n_accepted += u64::from(is_accepted),
            Err(_) => {
                n_finds += 1;
                let path = format!("{folder}/binary-{seed}-{n_inputs}");
                println!("find: {path}");
                let _ = std::fs::rename(&tried, &path);
            }
        }
    }
    let _ = std::fs::remove_file(&tried);
    println!("{n_inputs} inputs, {n_accepted} of them accepted, {n_finds} finds");
    std::process::exit((n_finds > 0).into());
}
