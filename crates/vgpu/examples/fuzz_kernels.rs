//! Random PTX programs: the oracle against a device.
//!
//! `fuzz_kernels [--device virtual|real|table] [--seconds 60] [--seed 1] [--count N] [--ways 3]
//! [--finds FOLDER] [--replay FILE]`
//!
//! `virtual` is the virtual GPU's compiler in `--ways` ways per program, and mutated modules in
//! between; `real` is the first device of `libcuda`; `table` is the virtual GPU through its driver
//! functions. A program that goes wrong is made small and printed, or stored in the folder.

#[path = "../../ptx/tests/common/mod.rs"]
mod common;
#[path = "../tests/fuzz_support/mod.rs"]
mod fuzz_support;

use fuzz_support::driver::{Device, Outcome};
use fuzz_support::{find, mutants, variants};
use rtcg_cuda_sys::DriverTable;
use rtcg_oracle::{Program, Random, Target, generate};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

struct Options {
    device: String,
    seconds: u64,
    seed: u64,
    count: u64,
    ways: usize,
    capability: u64,
    folder: Option<String>,
    replay: Option<String>,
}

fn options() -> Options {
    let args: Vec<String> = std::env::args().collect();
    let text = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let number = |name: &str, default: u64| text(name).and_then(|t| t.parse().ok()).unwrap_or(default);
    Options {
        device: text("--device").unwrap_or("virtual".into()),
        seconds: number("--seconds", 60),
        seed: number("--seed", 1),
        count: number("--count", u64::MAX),
        ways: number("--ways", 3) as usize,
        capability: number("--capability", 0),
        folder: text("--finds"),
        replay: text("--replay"),
    }
}

/// Programs for compute capability 8.0 and 9.0 by turns.
fn program_of(seed: u64, options: &Options) -> Program {
    let capability = match options.capability {
        0 if seed.is_multiple_of(2) => 80,
        0 => 90,
        given => given as u32,
    };
    generate(seed, Target { capability })
}

fn main() {
    let options = options();
    let finds = match (options.device.as_str(), &options.replay) {
        ("virtual", Some(path)) => replay(path, |p| {
            let ways = variants(p.block);
            ways.iter().for_each(|&v| println!("{v:?}: {:?}", find(p, &[v])));
        }),
        ("virtual", None) => on_virtual(&options),
        (name, _) => {
            let table = if name == "real" { DriverTable::real() } else { Ok(rtcg_vgpu::table()) };
            let device = table.map_err(|e| e.to_string()).and_then(Device::open);
            match device {
                Ok(device) => on_device(device, &options),
                Err(e) => {
                    eprintln!("{e}");
                    std::process::exit(2);
                }
            }
        }
    };
    std::process::exit((finds > 0).into());
}

fn replay(path: &str, mut run: impl FnMut(&Program)) -> u64 {
    match std::fs::read_to_string(path).ok().and_then(|t| Program::from_annotated(&t)) {
        Some(program) => run(&program),
        None => eprintln!("{path} is no program of the fuzzer"),
    }
    0
}

/// Stores or prints a program that goes wrong.
fn report(options: &Options, name: &str, what: &str, text: &str) {
    let Some(folder) = &options.folder else { return println!("  {what}\n{text}") };
    let path = format!("{folder}/{name}.ptx");
    println!("  {path}: {what}");
    if let Err(e) = std::fs::write(&path, text) {
        println!("  cannot write it: {e}");
    }
}

fn on_virtual(options: &Options) -> u64 {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut mutator = common::mutate::Mutator::new(&common::corpus(), options.seed);
    let (mut n_programs, mut n_mutants, mut n_good, mut n_finds) = (0, 0, 0, 0);
    while Instant::now() < end && n_programs < options.count && n_finds < 20 {
        n_finds += u64::from(compiled(options.seed + n_programs, options));
        n_programs += 1;
        for _ in 0..10 {
            let text = mutator.next_input();
            n_mutants += 1;
            match catch_unwind(AssertUnwindSafe(|| mutants::check(&text))) {
                Ok(good) => n_good += u64::from(good),
                Err(_) => {
                    n_finds += 1;
                    println!("mutant {n_mutants} panics");
                    report(options, &format!("mutant-{}-{n_mutants}", options.seed), "", &text);
                }
            }
        }
    }
    println!(
        "{n_programs} programs from seed {}, {n_mutants} mutants ({n_good} compiled), {n_finds} finds",
        options.seed
    );
    n_finds
}

/// Tries one program in some ways; says whether it went wrong.
fn compiled(seed: u64, options: &Options) -> bool {
    let program = program_of(seed, options);
    let mut ways = variants(program.block);
    let mut random = Random::new(seed);
    while ways.len() > options.ways.max(1) {
        ways.remove(random.below(ways.len()));
    }
    if std::env::var_os("RTCG_FUZZ_VERBOSE").is_some() {
        eprintln!("seed {seed}");
    }
    let (variant, what) = match find(&program, &ways) {
        Ok(None) => return false,
        Ok(Some(found)) => found,
        Err(e) => {
            println!("seed {seed}: not well-formed: {e}");
            return true;
        }
    };
    println!("seed {seed}: {what}\n  {variant:?}");
    let small = fuzz_support::shrink(&program, variant);
    let expected = small.expected().unwrap_or_default();
    let variant = fuzz_support::adapt(variant, small.block);
    let what = fuzz_support::check(&small, &expected, variant).err().unwrap_or_default();
    report(options, &format!("kernel-{seed}"), &what, &small.annotated());
    true
}

/// Runs programs on a device behind a driver table and prints what became of them.
fn on_device(mut device: Device, options: &Options) -> u64 {
    if let Some(path) = &options.replay {
        return replay(path, |p| println!("{:?}", p.expected().map(|e| device.check(p, &e))));
    }
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut table: BTreeMap<&str, u64> = BTreeMap::new();
    let mut refusals: BTreeMap<String, u64> = BTreeMap::new();
    let (mut seed, mut bad) = (options.seed, 0);
    while Instant::now() < end && seed - options.seed < options.count && bad < 40 {
        let program = program_of(seed, options);
        seed += 1;
        let Ok(expected) = program.expected() else {
            *table.entry("not well-formed").or_default() += 1;
            continue;
        };
        let outcome = device.check(&program, &expected);
        let (row, what) = match &outcome {
            Outcome::Same => ("same", None),
            Outcome::Refused(log) => {
                let line = log.lines().find(|l| l.contains("rror")).unwrap_or(log);
                *refusals.entry(line.split(';').next_back().unwrap_or(line).trim().to_owned()).or_default() += 1;
                ("refused", None)
            }
            Outcome::Differs(what) => ("different", Some(what)),
            Outcome::Fault(what) => ("fault", Some(what)),
        };
        *table.entry(row).or_default() += 1;
        let Some(what) = what else { continue };
        bad += 1;
        println!("seed {}: {what}", program.seed);
        small_on_device(&mut device, &program, &outcome, options);
    }
    println!("{} ({}), seeds {} to {}", device.name, options.device, options.seed, seed - 1);
    table.iter().for_each(|(row, n)| println!("{n:8} {row}"));
    refusals.iter().for_each(|(why, n)| println!("{n:8} refused: {why}"));
    bad
}

/// Makes a program small that differs; one that faults is stored as it is, for a fault costs the
/// whole context.
fn small_on_device(device: &mut Device, program: &Program, outcome: &Outcome, options: &Options) {
    let mut small = program.clone();
    if let Outcome::Fault(_) = outcome {
        if let Err(e) = device.restart() {
            println!("the device cannot be used again: {e}");
            std::process::exit(1);
        }
    } else {
        small = rtcg_oracle::shrink::shrink(program, 400, |candidate| {
            let Ok(expected) = candidate.expected() else { return false };
            match device.check(candidate, &expected) {
                Outcome::Differs(_) => true,
                Outcome::Fault(_) => {
                    let _ = device.restart();
                    false
                }
                _ => false,
            }
        });
    }
    let what = small.expected().map(|e| format!("{:?}", device.check(&small, &e))).unwrap_or_default();
    report(options, &format!("device-{}", program.seed), &what, &small.annotated());
}
