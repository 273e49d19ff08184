//! Random PTX programs: the oracle against a device.
//!
//! `fuzz_kernels [--device virtual|real|table] [--seconds 60] [--seed 1] [--count N] [--ways 3]
//! [--finds FOLDER] [--real] [--batch 200] [--replay FILE] [--containing WORD] [--mutants 10]
//! [--processes N] [--max-finds 40]`
//!
//! `virtual` is the virtual GPU's compiler in `--ways` ways per program, and `--mutants` mutated
//! modules in between; with `--containing` only programs whose text contains that word (`mbarrier`,
//! `mma`) are tried; `real` is the first device of `libcuda`, with programs that leave out what `ptxas` is
//! known to get wrong (`rtcg_oracle`'s `generate/hardware_filter.rs`), as the others do with `--real`; `table`
//! is the virtual GPU through its driver functions. A program that goes wrong is made small and
//! printed, or stored in the folder.
//!
//! A fault costs a real device's context, and sometimes the process. So `real` and `table` run in
//! child processes, `--batch` programs in each; after a fault or a crash the next child goes on. With
//! `--processes` there are so many at once, for `virtual` too. Each has seeds of its own: with `--count` (programs
//! of each) the next so many, else far apart. At the end, and every ten minutes, a table says what became of the programs.

#[path = "../../ptx/tests/integration/common/mod.rs"]
mod common;
#[path = "../tests/integration/fuzz_support/mod.rs"]
mod fuzz_support;

use fuzz_support::driver::{Device, ProgramOutcome};
use fuzz_support::{find_mismatch, launch_variants, mutants};
use rtcg_cuda_sys::DriverTable;
use rtcg_oracle::{GenerationTarget, Random, TestProgram, generate_program};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

struct FuzzOptions {
    device: String,
    seconds: u64,
    seed: u64,
    count: u64,
    ways: usize,
    capability: u64,
    folder: Option<String>,
    replay: Option<String>,
    batch: u64,
    /// Children at once; 0 is none for `virtual`, and one for others.
    processes: u64,
    max_finds: u64,
    /// What programs must contain.
    containing: Option<String>,
    mutants: u64,
    /// Programs leave out what `ptxas` gets wrong.
    real: bool,
    /// This process runs programs for another.
    child: bool,
}

/// Exit status without a device.
const EXIT_NO_DEVICE: i32 = 2;
/// How a child says that it must not go on.
const EXIT_DEVICE_FAULTED: i32 = 3;
/// How far apart the seeds of processes begin that go on until the time is over.
const SEED_STRIDE: u64 = 1 << 32;
/// How often a table says what became of the programs so far.
const REPORT_INTERVAL: Duration = Duration::from_secs(600);

fn parse_options() -> FuzzOptions {
    let args: Vec<String> = std::env::args().collect();
    let text = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let number = |name: &str, default: u64| text(name).and_then(|t| t.parse().ok()).unwrap_or(default);
    FuzzOptions {
        device: text("--device").unwrap_or("virtual".into()),
        seconds: number("--seconds", 60),
        seed: number("--seed", 1),
        count: number("--count", u64::MAX),
        ways: number("--ways", 3) as usize,
        capability: number("--capability", 0),
        folder: text("--finds"),
        replay: text("--replay"),
        batch: number("--batch", 200),
        processes: number("--processes", 0),
        max_finds: number("--max-finds", 40),
        containing: text("--containing"),
        mutants: number("--mutants", 10),
        real: args.iter().any(|a| a == "--real") || text("--device").as_deref() == Some("real"),
        child: args.iter().any(|a| a == "--child"),
    }
}

/// Programs for compute capability 8.0 and 9.0 by turns.
fn program_for_seed(seed: u64, options: &FuzzOptions) -> TestProgram {
    let capability = match options.capability {
        0 if seed.is_multiple_of(2) => 80,
        0 => 90,
        given => given as u32,
    };
    generate_program(seed, GenerationTarget { capability, real: options.real })
}

fn main() {
    let options = parse_options();
    if let Some(Err(e)) = options.folder.as_ref().map(std::fs::create_dir_all) {
        eprintln!("--finds: {e}");
        std::process::exit(2);
    }
    let finds = match (options.device.as_str(), &options.replay) {
        ("virtual", Some(path)) => replay_program(path, |p| {
            let ways = launch_variants(p.block);
            ways.iter().for_each(|&v| println!("{v:?}: {:?}", find_mismatch(p, &[v])));
        }),
        ("virtual", None) if options.child || options.processes == 0 => fuzz_virtual_gpu(&options),
        ("real" | "table" | "virtual", None) if !options.child => fuzz_in_child_processes(&options),
        (name, _) => {
            let table = if name == "real" { DriverTable::real_driver() } else { Ok(rtcg_vgpu::virtual_driver_table()) };
            let device = table.map_err(|e| e.to_string()).and_then(Device::open_first_device);
            match device {
                Ok(device) => fuzz_device(device, &options),
                Err(e) => {
                    eprintln!("{e}");
                    std::process::exit(EXIT_NO_DEVICE);
                }
            }
        }
    };
    std::process::exit((finds > 0).into());
}

fn replay_program(path: &str, mut run: impl FnMut(&TestProgram)) -> u64 {
    match std::fs::read_to_string(path).ok().and_then(|t| TestProgram::from_annotated_ptx(&t)) {
        Some(program) => run(&program),
        None => eprintln!("{path} is no program of the fuzzer"),
    }
    0
}

/// Stores or prints a program that goes wrong.
fn save_finding(options: &FuzzOptions, name: &str, what: &str, text: &str) {
    let Some(folder) = &options.folder else { return println!("  {what}\n{text}") };
    let path = format!("{folder}/{name}.ptx");
    println!("  {path}: {what}");
    if let Err(e) = std::fs::write(&path, text) {
        println!("  cannot write it: {e}");
    }
}

/// Runs programs on the virtual GPU's compiler in this process; a child says what became of each.
fn fuzz_virtual_gpu(options: &FuzzOptions) -> u64 {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut mutator = common::mutate::Mutator::new(&common::load_corpus(), options.seed);
    let mut table = OutcomeCounts::default();
    let mut add = |row: &str| {
        table.count_outcome(row, "");
        if options.child {
            println!("row\t{row}\t");
        }
        table.bad
    };
    if options.child {
        println!("device\tvirtual GPU");
    }
    for seed in (options.seed..).take(options.count as usize) {
        if Instant::now() >= end {
            break;
        }
        if options.child {
            println!("begin\t{seed}");
        }
        let wanted = |word: &String| program_for_seed(seed, options).ptx_text().contains(word.as_str());
        if !options.containing.as_ref().is_none_or(wanted) {
            continue;
        }
        let mut bad = add(fuzz_program(seed, options));
        for n in 0..options.mutants {
            let text = mutator.next_mutated_module();
            bad = add(match catch_unwind(AssertUnwindSafe(|| mutants::load_and_compile(&text))) {
                Ok(true) => "mutant compiled",
                Ok(false) => "mutant refused",
                Err(_) => {
                    println!("mutant {n} after seed {seed} panics");
                    save_finding(options, &format!("mutant-{seed}-{n}"), "", &text);
                    "mutant panics"
                }
            });
        }
        if bad >= options.max_finds {
            break;
        }
    }
    if !options.child {
        table.print_counts();
        println!("seeds from {}: {} finds", options.seed, table.bad);
    }
    table.bad
}

/// Tries one program in some ways; says what became of it.
fn fuzz_program(seed: u64, options: &FuzzOptions) -> &'static str {
    let program = program_for_seed(seed, options);
    let mut ways = launch_variants(program.block);
    let mut random = Random::new(seed);
    while ways.len() > options.ways.max(1) {
        ways.remove(random.next_below(ways.len()));
    }
    if std::env::var_os("RTCG_FUZZ_VERBOSE").is_some() {
        eprintln!("seed {seed}");
    }
    let (variant, what) = match find_mismatch(&program, &ways) {
        Ok(None) => return "same, or left open by CUDA",
        Ok(Some(found)) => found,
        Err(e) => {
            println!("seed {seed}: not well-formed: {e}");
            return "not well-formed";
        }
    };
    println!("seed {seed}: {what}\n  {variant:?}");
    let small = fuzz_support::shrink_mismatch(&program, variant);
    let expected = small.expected_buffers().unwrap_or_default();
    let variant = fuzz_support::adapt_variant(variant, small.block);
    let what = fuzz_support::check_variant(&small, &expected, variant).err().unwrap_or_default();
    save_finding(options, &format!("kernel-{seed}"), &what, &small.annotated_ptx());
    "different"
}

/// What became of many programs.
#[derive(Debug, Clone, Default)]
struct OutcomeCounts {
    rows: BTreeMap<String, u64>,
    refusals: BTreeMap<String, u64>,
    bad: u64,
    device: String,
}

impl OutcomeCounts {
    fn count_outcome(&mut self, row: &str, why: &str) {
        *self.rows.entry(row.to_owned()).or_default() += 1;
        match row {
            "refused" => *self.refusals.entry(why.to_owned()).or_default() += 1,
            "different" | "fault" | "crash" | "not well-formed" | "mutant panics" => self.bad += 1,
            _ => {}
        }
    }

    fn merge_counts(&mut self, other: OutcomeCounts) {
        other.rows.into_iter().for_each(|(row, n)| *self.rows.entry(row).or_default() += n);
        other.refusals.into_iter().for_each(|(why, n)| *self.refusals.entry(why).or_default() += n);
        self.bad += other.bad;
        self.device = other.device;
    }

    fn print_counts(&self) {
        self.rows.iter().for_each(|(row, n)| println!("{n:8} {row}"));
        self.refusals.iter().for_each(|(why, n)| println!("{n:8} refused: {why}"));
    }
}

/// Runs programs in child processes until the time is over, and prints what became of them.
fn fuzz_in_child_processes(options: &FuzzOptions) -> u64 {
    let tables: Vec<Mutex<OutcomeCounts>> = (0..options.processes.max(1)).map(|_| Mutex::default()).collect();
    let sum = || {
        let mut all = OutcomeCounts::default();
        tables.iter().for_each(|t| all.merge_counts(t.lock().unwrap_or_else(PoisonError::into_inner).clone()));
        all
    };
    let begin = Instant::now();
    let apart = if options.count == u64::MAX { SEED_STRIDE } else { options.count };
    std::thread::scope(|scope| {
        let start = |(i, table): (u64, _)| {
            scope.spawn(move || run_children_until_deadline(options, options.seed + i * apart, table))
        };
        let workers: Vec<_> = (0..).zip(&tables).map(start).collect();
        let mut next = REPORT_INTERVAL;
        while !workers.iter().all(|w| w.is_finished()) {
            std::thread::sleep(Duration::from_millis(200));
            if begin.elapsed() > next {
                next += REPORT_INTERVAL;
                println!("after {} s:", begin.elapsed().as_secs());
                sum().print_counts();
            }
        }
    });
    let table = sum();
    table.print_counts();
    let n: u64 = table.rows.iter().filter(|(row, _)| !row.contains("mutant")).map(|(_, n)| n).sum();
    println!(
        "{} ({}): {n} programs from seed {}, {} processes, {} s, {} finds",
        table.device,
        options.device,
        options.seed,
        tables.len(),
        begin.elapsed().as_secs(),
        table.bad
    );
    table.bad
}

/// Runs child after child from a seed on.
fn run_children_until_deadline(options: &FuzzOptions, first: u64, table: &Mutex<OutcomeCounts>) {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut seed = first;
    while Instant::now() < end && seed - first < options.count {
        let left = (end - Instant::now()).as_secs().max(1);
        let count = options.batch.min(options.count - (seed - first));
        let mut own = OutcomeCounts::default();
        let next = run_child_process(options, seed, count, left, &mut own);
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.merge_counts(own);
        let Some(next) = next.filter(|_| table.bad < options.max_finds) else { break };
        seed = next;
    }
}

/// Runs one child from a seed on; returns the seed after the last that it began, or nothing if it
/// could not begin any.
fn run_child_process(
    options: &FuzzOptions,
    seed: u64,
    count: u64,
    seconds: u64,
    table: &mut OutcomeCounts,
) -> Option<u64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["--child", "--device", &options.device]).stdout(Stdio::piped());
    let numbers = [("--seed", seed), ("--count", count), ("--seconds", seconds), ("--capability", options.capability)];
    command.args(numbers.iter().flat_map(|(name, n)| [(*name).to_owned(), n.to_string()]));
    let numbers = [("--ways", options.ways as u64), ("--mutants", options.mutants), ("--max-finds", options.max_finds)];
    command.args(numbers.iter().flat_map(|(name, n)| [(*name).to_owned(), n.to_string()]));
    command.args(options.containing.iter().flat_map(|word| ["--containing", word]));
    command.args(options.real.then_some("--real"));
    command.args(options.folder.iter().flat_map(|folder| ["--finds", folder]));
    let mut process = command.spawn().ok()?;
    let mut begun = None;
    for line in BufReader::new(process.stdout.take()?).lines().map_while(Result::ok) {
        let mut words = line.splitn(3, '\t');
        match (words.next(), words.next(), words.next()) {
            (Some("device"), Some(name), None) => name.clone_into(&mut table.device),
            (Some("begin"), Some(n), None) => begun = n.parse::<u64>().ok(),
            (Some("row"), Some(row), why) => table.count_outcome(row, why.unwrap_or("")),
            _ => println!("{line}"),
        }
    }
    let status = process.wait().ok()?;
    // It has said why it has no device.
    if status.code() == Some(EXIT_NO_DEVICE) {
        std::process::exit(EXIT_NO_DEVICE);
    }
    let begun = begun?;
    if status.code().is_none_or(|code| ![0, 1, EXIT_DEVICE_FAULTED].contains(&code)) {
        println!("seed {begun}: the process ends with {status}");
        table.count_outcome("crash", "");
        save_finding(
            options,
            &format!("crash-{begun}"),
            "the process ends",
            &program_for_seed(begun, options).annotated_ptx(),
        );
    }
    Some(begun + 1)
}

/// A child: runs programs on a device behind a driver table and says what became of each.
fn fuzz_device(mut device: Device, options: &FuzzOptions) -> u64 {
    if let Some(path) = &options.replay {
        return replay_program(path, |p| println!("{:?}", p.expected_buffers().map(|e| device.run_and_compare(p, &e))));
    }
    let end = Instant::now() + Duration::from_secs(options.seconds);
    println!("device\t{}", device.name);
    let mut n_finds = 0;
    for seed in (options.seed..).take(options.count as usize) {
        if Instant::now() > end || n_finds >= options.max_finds {
            break;
        }
        println!("begin\t{seed}");
        let program = program_for_seed(seed, options);
        let (row, why, find) = run_and_classify(&mut device, &program);
        println!("row\t{row}\t{why}");
        let Some(outcome) = find else { continue };
        n_finds += 1;
        println!("seed {seed}: {outcome:?}");
        if !shrink_on_device(&mut device, &program, outcome, options) {
            std::process::exit(EXIT_DEVICE_FAULTED);
        }
    }
    n_finds
}

/// Runs one program: its row of the table, why it was refused, and the outcome if it is a find.
fn run_and_classify(device: &mut Device, program: &TestProgram) -> (&'static str, String, Option<ProgramOutcome>) {
    let Ok((expected, noticed)) = program.expected_outcome() else { return ("not well-formed", String::new(), None) };
    match device.run_and_compare(program, &expected) {
        ProgramOutcome::Same => ("same", String::new(), None),
        ProgramOutcome::Refused(log) => {
            let line = log.lines().find(|l| l.contains("rror")).unwrap_or(&log);
            ("refused", line.split(';').next_back().unwrap_or(line).trim().to_owned(), None)
        }
        ProgramOutcome::Differs(_) if noticed.unspecified || noticed.read_unwritten => {
            ("left open by CUDA", String::new(), None)
        }
        find @ ProgramOutcome::Differs(_) => ("different", String::new(), Some(find)),
        find @ ProgramOutcome::Fault(_) => ("fault", String::new(), Some(find)),
    }
}

/// Makes a program small that differs, and reports it; says whether the device can still be used. A
/// program that faults is reported as it is: a fault costs the whole context.
fn shrink_on_device(
    device: &mut Device,
    program: &TestProgram,
    outcome: ProgramOutcome,
    options: &FuzzOptions,
) -> bool {
    let mut alive = !matches!(outcome, ProgramOutcome::Fault(_));
    let mut what = outcome;
    let whole = |p: &TestProgram| p.block.iter().product::<u32>().is_multiple_of(32);
    let small = rtcg_oracle::shrink::shrink_program(program, if alive { 400 } else { 0 }, |candidate| {
        let Ok((expected, noticed)) = candidate.expected_outcome() else { return false };
        // Masks of whole warps must not name lanes that are not there.
        if !alive || noticed.unspecified || noticed.read_unwritten || whole(program) && !whole(candidate) {
            return false;
        }
        match device.run_and_compare(candidate, &expected) {
            differs @ ProgramOutcome::Differs(_) => {
                what = differs;
                true
            }
            ProgramOutcome::Fault(e) => {
                alive = false;
                let name = format!("fault-{}", program.seed);
                save_finding(options, &name, &e, &candidate.annotated_ptx());
                false
            }
            _ => false,
        }
    });
    let kind = if matches!(what, ProgramOutcome::Fault(_)) { "fault" } else { "device" };
    save_finding(options, &format!("{kind}-{}", program.seed), &format!("{what:?}"), &small.annotated_ptx());
    alive
}
