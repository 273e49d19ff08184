//! Search quality on recorded spaces: the fraction of the optimum that each strategy finds.
//!
//! `replay FOLDER [SEEDS] [STRATEGIES]` reads Kernel Tuner's cache files (`*.json`) and prints, for each strategy and
//! space, medians after 50, 100 and 200 evaluations as JSON lines: exact, and with one recorded sample per evaluation.

use rtcg_tune::formats::kernel_tuner::KernelTunerCache;
use rtcg_tune::{Outcome, Random, Replay, Search, strategies};
use std::path::PathBuf;
use std::time::Instant;

const BUDGETS: [usize; 3] = [50, 100, 200];
/// Configurations that are compiled at once.
const BATCH: usize = 4;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("expected a folder with cache files");
    let seeds: u64 = arguments.next().map_or(50, |text| text.parse().expect("a number of seeds"));
    let chosen = arguments.next().unwrap_or_else(|| "auto,random,local,genetic,annealing".to_owned());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let replay = Replay::new(&KernelTunerCache::read(&text).expect("a cache file"));
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for strategy in strategies::NAMES.iter().filter(|known| chosen.split(',').any(|name| name == **known)) {
            for noisy in [false, true] {
                let start = Instant::now();
                let runs: Vec<[f64; 3]> = (0..seeds).map(|seed| run(&replay, strategy, seed, noisy)).collect();
                let ms = start.elapsed().as_secs_f64() * 1e3 / (seeds as f64 * 200.0);
                let medians = [0, 1, 2].map(|at| median(runs.iter().map(|run| run[at]).collect()));
                println!(
                    "{{\"space\": \"{name}\", \"strategy\": \"{strategy}\", \"noisy\": {noisy}, \"fractions\": [{:.4}, {:.4}, {:.4}], \"ms_per_evaluation\": {ms:.3}}}",
                    medians[0], medians[1], medians[2]
                );
            }
        }
    }
}

/// The fractions of the optimum after each budget: by the recorded score of the row that the search holds for the best.
fn run(replay: &Replay, strategy: &str, seed: u64, noisy: bool) -> [f64; 3] {
    let optimum = replay.optimum().expect("a score");
    let mut random = Random::new(seed ^ 0x5eed);
    let mut search = Search::new(replay.space().clone(), strategy, seed).expect("a known strategy");
    let mut fractions = [0.0; 3];
    let mut evaluations = 0;
    while evaluations < BUDGETS[2] {
        let rows = search.ask(BATCH.min(BUDGETS[2] - evaluations));
        if rows.is_empty() {
            break;
        }
        for row in rows {
            let outcome = if noisy { replay.noisy_outcome(row, &mut random) } else { replay.outcome(row).clone() };
            search.tell(row, outcome);
            evaluations += 1;
            let held = search.history().best().map(|(row, _)| replay.outcome(row));
            let fraction = if let Some(Outcome::Score(score)) = held { optimum / score } else { 0.0 };
            for (at, budget) in BUDGETS.iter().enumerate() {
                if evaluations <= *budget {
                    fractions[at] = fraction;
                }
            }
        }
    }
    fractions
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}
