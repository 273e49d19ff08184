//! Makes random programs and runs them in the oracle alone:
//! `cargo run --release -p rtcg-oracle --example programs -- FIRST_SEED COUNT [CAPABILITY] [print]`.

use rtcg_oracle::{GenerationTarget, generate_program};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (first, count, capability) = (number(1, 0), number(2, 10), number(3, 80) as u32);
    let mut wrong = 0;
    for seed in first..first + count {
        let program = generate_program(seed, GenerationTarget { capability, real: false });
        if args.len() > 4 {
            println!("{}", program.annotated_ptx());
        }
        if let Err(error) = program.expected_buffers() {
            wrong += 1;
            println!("seed {seed}: {error}");
        }
    }
    println!("{count} programs, {wrong} not well-formed");
}
