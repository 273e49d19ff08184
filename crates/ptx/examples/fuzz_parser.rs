//! Fuzzes the PTX front end with mutated real modules, forms of instructions and noise, on stable Rust:
//! `cargo run --release -p rtcg-ptx --example fuzz_parser -- SECONDS SEED [FOLDER_FOR_FINDS]`.
//!
//! Every input must parse without panic within a second, give positions inside the text, and, if
//! it parses cleanly, print to a text that parses to the same module.

#[path = "../tests/integration/common/mod.rs"]
mod common;

use common::mutate::{Mutator, check_input};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(1, 10), number(2, 1));
    let folder = args.get(3).cloned().unwrap_or_else(|| ".".into());
    let mut mutator = Mutator::new(&common::load_corpus(), seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut n_inputs, mut n_clean, mut n_finds) = (0u64, 0u64, 0u64);
    while Instant::now() < end {
        let text = match n_inputs % 16 {
            15 => mutator.next_random_text(),
            10..15 => common::forms::random_form(|n| mutator.below(n)),
            _ => mutator.next_mutated_module(),
        };
        n_inputs += 1;
        match catch_unwind(AssertUnwindSafe(|| check_input(&text))) {
            Ok(clean) => n_clean += u64::from(clean),
            Err(_) => {
                n_finds += 1;
                let path = format!("{folder}/find-{seed}-{n_inputs}.ptx");
                println!("find: {path}");
                if let Err(error) = std::fs::write(&path, &text) {
                    println!("cannot write it: {error}");
                }
                if n_finds == 20 {
                    break;
                }
            }
        }
    }
    println!("{n_inputs} inputs, {n_clean} of them parsed cleanly and were printed, {n_finds} finds");
    std::process::exit((n_finds > 0).into());
}
