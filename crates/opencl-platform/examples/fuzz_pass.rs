//! Fuzzes the pass over PTX with mutations of what clang writes, on stable Rust:
//! `cargo run --release -p rtcg-opencl-platform --example fuzz_pass -- SECONDS SEED [FOLDER_FOR_FINDS]`.

#[path = "../tests/pass_inputs/mod.rs"]
mod pass_inputs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(1, 10), number(2, 1));
    let folder = args.get(3).cloned().unwrap_or_else(|| ".".into());
    let mut mutator = pass_inputs::mutator(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut n_inputs, mut n_accepted, mut n_finds) = (0u64, 0u64, 0u64);
    while Instant::now() < end && n_finds < 20 {
        let text = mutator.next_mutated_module();
        n_inputs += 1;
        match catch_unwind(AssertUnwindSafe(|| pass_inputs::check(&text).is_ok())) {
            Ok(is_accepted) => n_accepted += u64::from(is_accepted),
            Err(_) => {
                n_finds += 1;
                let path = format!("{folder}/pass-{seed}-{n_inputs}.ptx");
                println!("find: {path}");
                if let Err(error) = std::fs::write(&path, &text) {
                    println!("cannot write it: {error}");
                }
            }
        }
    }
    println!("{n_inputs} inputs, {n_accepted} of them accepted, {n_finds} finds");
    std::process::exit((n_finds > 0).into());
}
