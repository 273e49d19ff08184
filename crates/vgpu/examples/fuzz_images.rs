//! Fuzzes what loads images with mutated fat binaries and noise, on stable Rust:
//! `cargo run --release -p rtcg-vgpu --example fuzz_images -- SECONDS SEED [FOLDER_FOR_FINDS]`.
//!
//! Every image must be loaded, or refused with a code for images, without panic and within a second. The last one is
//! written before it is tried, so that one which ends the process is there.

#[path = "../tests/integration/fat_binaries/mod.rs"]
mod fat_binaries;

use fat_binaries::{LZ4, TEXT, ZSTD, entry, fatbin, load, lz4, whole, zstd};
use rtcg_oracle::Random;
use rtcg_vgpu_abi::error::ResultCode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Values that lengths and versions are tried with.
const NUMBERS: [u64; 8] = [0, 1, 16, 64, 1 << 29, 1 << 32, 1 << 63, u64::MAX];

fn seed_image(random: &mut Random) -> Vec<u8> {
    let long = TEXT.replace("ret;", &"{ .reg .b32 %r; mov.b32 %r, 1; } ".repeat(1 + random.next_below(4)));
    let (text, full) = (long.as_bytes(), long.len() as u64);
    match random.next_below(6) {
        0 => whole(),
        1 => fatbin(&[entry(80, 0, 0, text)]),
        2 => fatbin(&[entry(80, LZ4, full, &lz4(text))]),
        3 => fatbin(&[entry(120, ZSTD, full, &zstd(TEXT.as_bytes())), entry(75, LZ4, full, &lz4(text))]),
        4 => [&whole()[..], &whole()].concat(),
        _ => (0..random.next_below(300)).map(|_| random.next_word() as u8).collect(),
    }
}

fn mutated_image(random: &mut Random) -> Vec<u8> {
    let mut image = seed_image(random);
    for _ in 0..random.next_below(9) {
        let at = random.next_below(image.len().max(1));
        let rest = image.len() - at.min(image.len());
        match random.next_below(6) {
            0 => image.truncate(at),
            1 if rest > 8 => image[at..at + 8].copy_from_slice(&NUMBERS[random.next_below(8)].to_le_bytes()),
            2 if rest > 4 => image[at..at + 4].copy_from_slice(&(NUMBERS[random.next_below(6)] as u32).to_le_bytes()),
            3 => image.extend_from_within(at..at + random.next_below(rest + 1)),
            4 if rest > 0 => drop(image.drain(at..at + random.next_below(rest) + 1)),
            _ if rest > 0 => image[at] ^= 1 << random.next_below(8),
            _ => {}
        }
    }
    image
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(1, 10), number(2, 1));
    let folder = args.get(3).cloned().unwrap_or_else(|| ".".into());
    let tried = format!("{folder}/image-{seed}-tried");
    let mut random = Random::new(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut n_inputs, mut n_loaded, mut n_finds) = (0u64, 0u64, 0u64);
    while Instant::now() < end && n_finds < 20 {
        let image = mutated_image(&mut random);
        n_inputs += 1;
        std::fs::write(&tried, &image).expect("a folder for finds");
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| load(&image)));
        let is_slow = begun.elapsed() > Duration::from_secs(1);
        n_loaded += u64::from(matches!(outcome, Ok(ResultCode::SUCCESS)));
        if outcome.is_err() || is_slow {
            n_finds += 1;
            let path = format!("{folder}/image-{seed}-{n_inputs}");
            println!("find: {path}{}", if is_slow { " (slow)" } else { "" });
            std::fs::write(&path, &image).expect("a folder for finds");
        }
    }
    let _ = std::fs::remove_file(&tried);
    println!("{n_inputs} inputs, {n_loaded} of them loaded, {n_finds} finds");
    std::process::exit((n_finds > 0).into());
}
