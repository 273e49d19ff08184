//! Everything the virtual GPU computes is what an H200 computed: replays `tests/recorded/table.xz`.
//!
//! Exact forms are compared bit for bit, approximate ones with the bounds of the PTX ISA. Forms that
//! are not executed are listed in `tests/recorded/unsupported.txt`; one that is listed and passes
//! fails the test, so that the list stays true; `differs.txt` and `accepted.txt` are such lists too. With `--nocapture` the largest errors are printed.
//! `RTCG_RECORDED_ONLY=TEXT` replays only forms that contain the text, or those that are `approximate`.

use crate::recorded_support::bounds::{ApproxInstruction, Verdict};
use crate::recorded_support::run::{self, FormRunner, RunMode};
use crate::recorded_support::table::{self, RecordedForm};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest errors of an approximate instruction.
#[derive(Debug, Clone, Copy, Default)]
struct LargestErrors {
    /// Absolute, and in units in the last place.
    ours: (f64, f64),
    gpu: (f64, f64),
    share: f64,
}

fn update_largest(largest: &mut (f64, f64), error: Option<(f64, f64)>) {
    let (absolute, units) = error.unwrap_or_default();
    *largest = (largest.0.max(absolute), largest.1.max(units));
}

#[derive(Default)]
struct ReplayReport {
    passed: usize,
    /// Text of a form and what is wrong.
    wrong: Vec<(String, String)>,
    refused: Vec<(String, String)>,
    errors: BTreeMap<String, LargestErrors>,
}

fn main_modes() -> [RunMode; 2] {
    [run::LANES_MODE, run::UNIFORM_MODE]
}

/// Every so many forms are also run in these ways.
const SAMPLE_INTERVAL: usize = 2;
const SAMPLED_MODES: [RunMode; 5] = [
    run::MASKED_MODE,
    run::OPTIMISED_MODE,
    run::OPTIMISED_UNIFORM_MODE,
    run::BASELINE_MODE,
    run::BASELINE_UNIFORM_MODE,
];

fn read_list(name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(table::recorded_folder().join(name)).unwrap_or_default();
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(String::from).collect()
}

/// The rows to run: all, or about 4000 spread evenly.
fn rows_to_run(form: &RecordedForm, way: RunMode) -> Vec<usize> {
    let n = form.pool.n_rows;
    let step = if way == run::LANES_MODE { 1 } else { n.div_ceil(4000) };
    (0..n).step_by(step).collect()
}

/// What is wrong in a way of running a form.
fn check_form(
    form: &RecordedForm,
    bench: &FormRunner,
    way: RunMode,
    errors: &mut LargestErrors,
) -> Result<Option<String>, String> {
    let parsed = run::parse(form, way.uniform)?;
    let rows = rows_to_run(form, way);
    let got = bench.run_rows(form, &parsed, way, &rows)?;
    let mut count = 0;
    let mut first = String::new();
    for (i, &row) in rows.iter().enumerate() {
        let operands = &form.pool.rows[row * form.pool.n_columns..][..form.pool.n_columns];
        for (r, wanted) in form.wanted.iter().enumerate() {
            let (ours, gpu) = (got[r][i], wanted[row]);
            let fine = if form.approximate && !has_device_approximations() {
                is_within_bounds(form, operands, ours, gpu, errors)
            } else {
                is_exact_result(form, ours, gpu)
            };
            if !fine {
                count += 1;
                if count <= 6 {
                    first += &format!("\n    {operands:x?}: result {r} is {ours:x}, not {gpu:x}");
                }
            }
        }
    }
    Ok((count > 0).then(|| format!("{} ({}): {count} of {} rows{first}", form.text, way.name, rows.len())))
}

/// Whether approximate functions are those of the device too.
fn has_device_approximations() -> bool {
    std::env::var("RTCG_APPROX").map_or(true, |setting| setting == "device")
}

/// Whether an exact result is right.
fn is_exact_result(form: &RecordedForm, ours: u64, gpu: u64) -> bool {
    let nan = |x: u64| x & !(1 << 63) > 0x7ff0_0000_0000_0000;
    // Which operand of an addition ptxas puts first shows in the payload of a NaN, and in a sequence
    // of instructions its choice is not known.
    let sequence = form.text.matches(';').count() > 1 && form.text.starts_with("mul") && form.text.contains(".f64");
    // This GPU, or its assembler, adds only the low halves in shared memory, which is not what PTX says.
    let low_half = form.text.contains(".shared.add.noftz") && form.text.contains("f16x2");
    ours == gpu || sequence && nan(ours) && nan(gpu) || low_half && ours & 0xffff == gpu & 0xffff
}

fn is_within_bounds(form: &RecordedForm, operands: &[u64], ours: u64, gpu: u64, errors: &mut LargestErrors) -> bool {
    let function = ApproxInstruction::from_instruction_text(&form.text);
    let shifts: &[u32] = if function.pair { &[0, 16] } else { &[0] };
    shifts.iter().all(|&s| {
        let cut = |x: u64| if function.pair { x >> s & 0xffff } else { x };
        let operands = [cut(operands[0]), cut(*operands.get(1).unwrap_or(&0))];
        update_largest(&mut errors.gpu, function.result_error(operands, cut(gpu)));
        update_largest(&mut errors.ours, function.result_error(operands, cut(ours)));
        match function.judge_result(operands, cut(ours), cut(gpu)) {
            Verdict::Within { share } => {
                errors.share = errors.share.max(share);
                true
            }
            Verdict::Same => true,
            Verdict::Wrong => false,
        }
    })
}

fn replay_form(form: &RecordedForm, index: usize, bench: &FormRunner) -> ReplayReport {
    let mut report = ReplayReport::default();
    let mut errors = LargestErrors::default();
    // The accesses of the lanes of a warp to one address would be atomics of 32 lanes.
    let memory = form.text.contains("%x6") || form.text.contains("%y5");
    let sampled: &[RunMode] =
        if index.is_multiple_of(SAMPLE_INTERVAL) || form.approximate { &SAMPLED_MODES } else { &[] };
    for &way in main_modes().iter().chain(sampled) {
        if memory && way.uniform {
            continue;
        }
        match check_form(form, bench, way, &mut errors) {
            Ok(None) => {}
            Ok(Some(complaint)) => report.wrong.push((form.text.clone(), complaint)),
            Err(reason) => {
                report.refused.push((form.text.clone(), reason));
                break;
            }
        }
    }
    report.passed = usize::from(report.wrong.is_empty() && report.refused.is_empty());
    if form.approximate {
        report.errors.insert(ApproxInstruction::from_instruction_text(&form.text).name, errors);
    }
    report
}

fn replay_all(forms: &[RecordedForm]) -> ReplayReport {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(ReplayReport::default()));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(16));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let bench = FormRunner::new();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(form) = forms.get(i) else { break };
                    let one = replay_form(form, i, &bench);
                    let mut total = total.lock().unwrap();
                    total.passed += one.passed;
                    total.wrong.extend(one.wrong);
                    total.refused.extend(one.refused);
                    total.errors.extend(one.errors);
                }
            });
        }
    });
    total.into_inner().unwrap()
}

/// What the assembler of the GPU refuses is refused here too.
#[test]
fn what_a_gpu_refuses_is_refused() {
    let known: BTreeSet<String> = read_list("accepted.txt");
    let mut accepted = BTreeSet::new();
    for line in read_list("refused.txt") {
        let Some((text, _)) = line.split_once(" | ") else { continue };
        let loaded =
            run::parse_text(text, &[], &[], false).and_then(|parsed| run::compile(&parsed, run::LANES_MODE, 128));
        if loaded.is_ok() {
            accepted.insert(text.to_string());
        }
    }
    if let Ok(path) = std::env::var("RTCG_RECORDED_REPORT") {
        std::fs::write(path + ".accepted", accepted.iter().map(|t| format!("{t}\n")).collect::<String>()).unwrap();
    }
    let new: Vec<_> = accepted.difference(&known).collect();
    let gone: Vec<_> = known.difference(&accepted).collect();
    assert!(new.is_empty(), "{} forms that do not exist are accepted: {new:#?}", new.len());
    assert!(gone.is_empty(), "these are refused now; take them out of accepted.txt: {gone:#?}");
}

/// With `RTCG_APPROX=fast`, which a process reads once, approximate forms are within the bounds that PTX gives.
#[test]
fn fast_approximate_results_are_within_their_bounds() {
    let ran = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "recorded::results_are_those_of_a_gpu", "--nocapture"])
        .envs([("RTCG_APPROX", "fast"), ("RTCG_RECORDED_ONLY", "approximate")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let n_forms = text.lines().find_map(|line| line.split_once(" forms, ")?.0.parse::<usize>().ok());
    assert!(ran.status.success() && n_forms.is_some_and(|n| n >= 30), "{text}");
}

#[test]
fn results_are_those_of_a_gpu() {
    let mut forms = table::read_forms();
    let only = std::env::var("RTCG_RECORDED_ONLY").unwrap_or_default();
    forms.retain(|f| if only == "approximate" { f.approximate } else { f.text.contains(&only) });
    let mut report = replay_all(&forms);
    report.wrong.sort();
    for (name, e) in &report.errors {
        let (ours, gpu) = (e.ours, e.gpu);
        println!(
            "{name:24} ours {:9.2} ulp {:8.1e} {:4.0} % of the bound; H200 {:9.2} ulp {:8.1e}",
            ours.1,
            ours.0,
            e.share * 100.0,
            gpu.1,
            gpu.0
        );
    }
    println!("{} forms, {} right, {} not executed", forms.len(), report.passed, report.refused.len());
    let unsupported = read_list("unsupported.txt");
    let differs = read_list("differs.txt");
    let refused: BTreeSet<&String> = report.refused.iter().map(|r| &r.0).collect();
    let wrong: BTreeSet<&String> = report.wrong.iter().map(|w| &w.0).collect();
    let mut complaints: Vec<String> =
        report.wrong.iter().filter(|w| !differs.contains(&w.0)).map(|w| w.1.clone()).collect();
    for form in forms.iter().filter(|f| differs.contains(&f.text) && !wrong.contains(&f.text)) {
        complaints.push(format!("{} is right now: take it out of differs.txt", form.text));
    }
    for (text, reason) in report.refused.iter().filter(|r| !unsupported.contains(&r.0)) {
        complaints.push(format!("{text} is refused: {reason}"));
    }
    for form in forms.iter().filter(|f| unsupported.contains(&f.text) && !refused.contains(&f.text)) {
        complaints.push(format!("{} is executed now: take it out of unsupported.txt", form.text));
    }
    if let Ok(path) = std::env::var("RTCG_RECORDED_REPORT") {
        let wrong: Vec<&str> = report.wrong.iter().map(|w| w.1.as_str()).collect();
        let complaints = [complaints.join("\n"), wrong.join("\n")];
        let all: Vec<String> = report.refused.iter().map(|r| format!("{}\n", r.0)).collect();
        std::fs::write(path, complaints.join("\n") + "\n=== refused\n" + &all.concat()).unwrap();
    }
    let shown = complaints.len().min(60);
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints[..shown].join("\n"));
}
