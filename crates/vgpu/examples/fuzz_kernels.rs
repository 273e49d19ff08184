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

use fuzz_support::driver::{Device, Outcome};
use fuzz_support::{find, mutants, variants};
use rtcg_cuda_sys::DriverTable;
use rtcg_oracle::{GenerationTarget, Random, TestProgram, generate_program};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
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
const NO_DEVICE: i32 = 2;
/// How a child says that it must not go on.
const FAULTED: i32 = 3;
/// How far apart the seeds of processes begin that go on until the time is over.
const SEEDS_APART: u64 = 1 << 32;
/// How often a table says what became of the programs so far.
const EVERY: Duration = Duration::from_secs(600);

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
fn program_of(seed: u64, options: &Options) -> TestProgram {
    let capability = match options.capability {
        0 if seed.is_multiple_of(2) => 80,
        0 => 90,
        given => given as u32,
    };
    generate_program(seed, GenerationTarget { capability, real: options.real })
}

fn main() {
    let options = options();
    if let Some(Err(e)) = options.folder.as_ref().map(std::fs::create_dir_all) {
        eprintln!("--finds: {e}");
        std::process::exit(2);
    }
    let finds = match (options.device.as_str(), &options.replay) {
        ("virtual", Some(path)) => replay(path, |p| {
            let ways = variants(p.block);
            ways.iter().for_each(|&v| println!("{v:?}: {:?}", find(p, &[v])));
        }),
        ("virtual", None) if options.child || options.processes == 0 => on_virtual(&options),
        ("real" | "table" | "virtual", None) if !options.child => in_children(&options),
        (name, _) => {
            let table = if name == "real" { DriverTable::real_driver() } else { Ok(rtcg_vgpu::virtual_driver_table()) };
            let device = table.map_err(|e| e.to_string()).and_then(Device::open);
            match device {
                Ok(device) => on_device(device, &options),
                Err(e) => {
                    eprintln!("{e}");
                    std::process::exit(NO_DEVICE);
                }
            }
        }
    };
    std::process::exit((finds > 0).into());
}

fn replay(path: &str, mut run: impl FnMut(&TestProgram)) -> u64 {
    match std::fs::read_to_string(path).ok().and_then(|t| TestProgram::from_annotated(&t)) {
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

/// Runs programs on the virtual GPU's compiler in this process; a child says what became of each.
fn on_virtual(options: &Options) -> u64 {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut mutator = common::mutate::Mutator::new(&common::corpus(), options.seed);
    let mut table = Table::default();
    let mut add = |row: &str| {
        table.add(row, "");
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
        let wanted = |word: &String| program_of(seed, options).ptx_text().contains(word.as_str());
        if !options.containing.as_ref().is_none_or(wanted) {
            continue;
        }
        let mut bad = add(compiled(seed, options));
        for n in 0..options.mutants {
            let text = mutator.next_input();
            bad = add(match catch_unwind(AssertUnwindSafe(|| mutants::check(&text))) {
                Ok(true) => "mutant compiled",
                Ok(false) => "mutant refused",
                Err(_) => {
                    println!("mutant {n} after seed {seed} panics");
                    report(options, &format!("mutant-{seed}-{n}"), "", &text);
                    "mutant panics"
                }
            });
        }
        if bad >= options.max_finds {
            break;
        }
    }
    if !options.child {
        table.print();
        println!("seeds from {}: {} finds", options.seed, table.bad);
    }
    table.bad
}

/// Tries one program in some ways; says what became of it.
fn compiled(seed: u64, options: &Options) -> &'static str {
    let program = program_of(seed, options);
    let mut ways = variants(program.block);
    let mut random = Random::new(seed);
    while ways.len() > options.ways.max(1) {
        ways.remove(random.next_below(ways.len()));
    }
    if std::env::var_os("RTCG_FUZZ_VERBOSE").is_some() {
        eprintln!("seed {seed}");
    }
    let (variant, what) = match find(&program, &ways) {
        Ok(None) => return "same, or left open by CUDA",
        Ok(Some(found)) => found,
        Err(e) => {
            println!("seed {seed}: not well-formed: {e}");
            return "not well-formed";
        }
    };
    println!("seed {seed}: {what}\n  {variant:?}");
    let small = fuzz_support::shrink(&program, variant);
    let expected = small.expected_buffers().unwrap_or_default();
    let variant = fuzz_support::adapt(variant, small.block);
    let what = fuzz_support::check(&small, &expected, variant).err().unwrap_or_default();
    report(options, &format!("kernel-{seed}"), &what, &small.annotated_ptx());
    "different"
}

/// What became of many programs.
#[derive(Debug, Clone, Default)]
struct Table {
    rows: BTreeMap<String, u64>,
    refusals: BTreeMap<String, u64>,
    bad: u64,
    device: String,
}

impl Table {
    fn add(&mut self, row: &str, why: &str) {
        *self.rows.entry(row.to_owned()).or_default() += 1;
        match row {
            "refused" => *self.refusals.entry(why.to_owned()).or_default() += 1,
            "different" | "fault" | "crash" | "not well-formed" | "mutant panics" => self.bad += 1,
            _ => {}
        }
    }

    fn merge(&mut self, other: Table) {
        other.rows.into_iter().for_each(|(row, n)| *self.rows.entry(row).or_default() += n);
        other.refusals.into_iter().for_each(|(why, n)| *self.refusals.entry(why).or_default() += n);
        self.bad += other.bad;
        self.device = other.device;
    }

    fn print(&self) {
        self.rows.iter().for_each(|(row, n)| println!("{n:8} {row}"));
        self.refusals.iter().for_each(|(why, n)| println!("{n:8} refused: {why}"));
    }
}

/// Runs programs in child processes until the time is over, and prints what became of them.
fn in_children(options: &Options) -> u64 {
    let tables: Vec<Mutex<Table>> = (0..options.processes.max(1)).map(|_| Mutex::default()).collect();
    let sum = || {
        let mut all = Table::default();
        tables.iter().for_each(|t| all.merge(t.lock().unwrap_or_else(PoisonError::into_inner).clone()));
        all
    };
    let begin = Instant::now();
    let apart = if options.count == u64::MAX { SEEDS_APART } else { options.count };
    std::thread::scope(|scope| {
        let start =
            |(i, table): (u64, _)| scope.spawn(move || one_after_another(options, options.seed + i * apart, table));
        let workers: Vec<_> = (0..).zip(&tables).map(start).collect();
        let mut next = EVERY;
        while !workers.iter().all(|w| w.is_finished()) {
            std::thread::sleep(Duration::from_millis(200));
            if begin.elapsed() > next {
                next += EVERY;
                println!("after {} s:", begin.elapsed().as_secs());
                sum().print();
            }
        }
    });
    let table = sum();
    table.print();
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
fn one_after_another(options: &Options, first: u64, table: &Mutex<Table>) {
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut seed = first;
    while Instant::now() < end && seed - first < options.count {
        let left = (end - Instant::now()).as_secs().max(1);
        let count = options.batch.min(options.count - (seed - first));
        let mut own = Table::default();
        let next = child(options, seed, count, left, &mut own);
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.merge(own);
        let Some(next) = next.filter(|_| table.bad < options.max_finds) else { break };
        seed = next;
    }
}

/// Runs one child from a seed on; returns the seed after the last that it began, or nothing if it
/// could not begin any.
fn child(options: &Options, seed: u64, count: u64, seconds: u64, table: &mut Table) -> Option<u64> {
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
            (Some("row"), Some(row), why) => table.add(row, why.unwrap_or("")),
            _ => println!("{line}"),
        }
    }
    let status = process.wait().ok()?;
    // It has said why it has no device.
    if status.code() == Some(NO_DEVICE) {
        std::process::exit(NO_DEVICE);
    }
    let begun = begun?;
    if status.code().is_none_or(|code| ![0, 1, FAULTED].contains(&code)) {
        println!("seed {begun}: the process ends with {status}");
        table.add("crash", "");
        report(options, &format!("crash-{begun}"), "the process ends", &program_of(begun, options).annotated_ptx());
    }
    Some(begun + 1)
}

/// A child: runs programs on a device behind a driver table and says what became of each.
fn on_device(mut device: Device, options: &Options) -> u64 {
    if let Some(path) = &options.replay {
        return replay(path, |p| println!("{:?}", p.expected_buffers().map(|e| device.check(p, &e))));
    }
    let end = Instant::now() + Duration::from_secs(options.seconds);
    println!("device\t{}", device.name);
    let mut n_finds = 0;
    for seed in (options.seed..).take(options.count as usize) {
        if Instant::now() > end || n_finds >= options.max_finds {
            break;
        }
        println!("begin\t{seed}");
        let program = program_of(seed, options);
        let (row, why, find) = judge(&mut device, &program);
        println!("row\t{row}\t{why}");
        let Some(outcome) = find else { continue };
        n_finds += 1;
        println!("seed {seed}: {outcome:?}");
        if !small_on_device(&mut device, &program, outcome, options) {
            std::process::exit(FAULTED);
        }
    }
    n_finds
}

/// Runs one program: its row of the table, why it was refused, and the outcome if it is a find.
fn judge(device: &mut Device, program: &TestProgram) -> (&'static str, String, Option<Outcome>) {
    let Ok((expected, noticed)) = program.expected_outcome() else { return ("not well-formed", String::new(), None) };
    match device.check(program, &expected) {
        Outcome::Same => ("same", String::new(), None),
        Outcome::Refused(log) => {
            let line = log.lines().find(|l| l.contains("rror")).unwrap_or(&log);
            ("refused", line.split(';').next_back().unwrap_or(line).trim().to_owned(), None)
        }
        Outcome::Differs(_) if noticed.unspecified => ("left open by CUDA", String::new(), None),
        find @ Outcome::Differs(_) => ("different", String::new(), Some(find)),
        find @ Outcome::Fault(_) => ("fault", String::new(), Some(find)),
    }
}

/// Makes a program small that differs, and reports it; says whether the device can still be used. A
/// program that faults is reported as it is: a fault costs the whole context.
fn small_on_device(device: &mut Device, program: &TestProgram, outcome: Outcome, options: &Options) -> bool {
    let mut alive = !matches!(outcome, Outcome::Fault(_));
    let mut what = outcome;
    let whole = |p: &TestProgram| p.block.iter().product::<u32>().is_multiple_of(32);
    let small = rtcg_oracle::shrink::shrink_program(program, if alive { 400 } else { 0 }, |candidate| {
        let Ok((expected, noticed)) = candidate.expected_outcome() else { return false };
        // Masks of whole warps must not name lanes that are not there.
        if !alive || noticed.unspecified || whole(program) && !whole(candidate) {
            return false;
        }
        match device.check(candidate, &expected) {
            differs @ Outcome::Differs(_) => {
                what = differs;
                true
            }
            Outcome::Fault(e) => {
                alive = false;
                let name = format!("fault-{}", program.seed);
                report(options, &name, &e, &candidate.annotated_ptx());
                false
            }
            _ => false,
        }
    });
    let kind = if matches!(what, Outcome::Fault(_)) { "fault" } else { "device" };
    report(options, &format!("{kind}-{}", program.seed), &format!("{what:?}"), &small.annotated_ptx());
    alive
}
