//! The search for the best configuration of a target: it asks the strategy, compiles ahead on threads, verifies, times,
//! and compares the finalists.
//!
//! The next batch of configurations is compiled while the present one is measured. It is requested when the results of
//! the previous batch are known, at fixed points, so that the seed determines the order, however long compiling takes.

use crate::budget::Budget;
use crate::configurations::{Config, Configurations};
use crate::objective::Objective;
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::report::{Finalist, Limit, Report, StopReason};
use crate::search::Search;
use crate::sensors::{Sensor, Sensors, measure_energy};
use crate::statistics::{WindowPlan, measure_windows, median, paired_ratio};
use crate::strategy::Strategy;
use crate::target::{Compiler, Target};
use crate::trial::TrialReport;
use rtcg_hal::lock_ignoring_poison;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

mod finals;
use finals::{choose_winner, unconfirmed_winner};

/// The least time, in seconds, that a configuration could take, by the device's limits.
pub type LowerBound = Arc<dyn Fn(&Config) -> f64 + Send + Sync>;

/// Options of a search.
#[derive(Clone)]
pub struct TunerOptions {
    /// When it ends.
    pub budget: Budget,
    /// Number of compiler threads.
    pub threads: usize,
    /// How candidates are timed.
    pub windows: WindowPlan,
    /// Number of candidates in the final interleaved comparison; with 0 the best score wins without it.
    pub finalists: usize,
    /// Candidates whose occupancy is below this fraction of the best one seen are not timed.
    pub occupancy_slack: Option<f64>,
    /// Candidates whose lower bound is above the best score are not compiled.
    pub lower_bound: Option<LowerBound>,
    /// The device's limit for the work.
    pub limit: Option<Limit>,
    /// The search ends when the best reaches this fraction of the limit: 0.95 is 95 %.
    pub until_fraction: Option<f64>,
    /// What to minimise. Limits, lower bounds and the comparison of finalists apply only if it is time.
    pub objective: Objective,
    /// The device's sensors, which provide the clock and temperature of finalists.
    pub sensors: Option<Arc<dyn Sensors>>,
    /// Sensors that fill columns of every trial.
    pub observers: Vec<Sensor>,
}

impl Default for TunerOptions {
    fn default() -> Self {
        Self {
            budget: Budget::of_seconds(30.0),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            windows: WindowPlan::default(),
            finalists: 5,
            occupancy_slack: None,
            lower_bound: None,
            limit: None,
            until_fraction: None,
            objective: Objective::Time,
            sensors: None,
            observers: Vec::new(),
        }
    }
}

/// An event of a running search, reported to the caller.
#[derive(Debug)]
pub enum Event<'a> {
    /// A configuration was tried; with the best score so far, if any. A finalist that fails its check is reported
    /// again.
    Tried(&'a TrialReport, Option<f64>),
    /// The comparison of finalists begins.
    Finals(usize),
}

/// Rounds in which finalists are compared. One of five that wins all of them against the default does so by chance in one
/// of fifty searches.
const FINAL_ROUNDS: usize = 8;
/// Rounds at most, where a finalist is far ahead in the median and not surely faster.
const MAX_FINAL_ROUNDS: usize = 48;
/// The part of the budget that rounds after the first ones may take, beyond what is left of it.
const EXTRA_SHARE: f64 = 0.1;

/// Searches for the best configuration. `default` is the row with which others are compared; `incumbents` are tried
/// first. After each event the caller may end the search; the best so far is kept.
pub fn tune<T: Target>(
    target: &mut T,
    space: &Arc<Configurations>,
    strategy: Box<dyn Strategy>,
    default: Option<u32>,
    incumbents: &[u32],
    options: &TunerOptions,
    on_event: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
) -> Report {
    let mut search = Search::with_strategy(Arc::clone(space), strategy);
    let first: Vec<u32> = default.into_iter().chain(incumbents.iter().copied()).collect();
    search.start_with(&first);
    let compiler = target.compiler();
    let tuning = Tuning {
        options,
        search,
        default,
        start: Instant::now(),
        strategy_seconds: 0.0,
        asked: 0,
        best_occupancy: 0.0,
        trials: Vec::new(),
        kept: FxHashMap::default(),
        on_event,
    };
    tuning.run(target, &compiler)
}

/// A configuration with its compiled form, or why there is none, and the seconds that took.
struct Candidate<C> {
    row: u32,
    config: Config,
    compiled: Result<C, Failure>,
    compile_seconds: f64,
}

struct Tuning<'o, C> {
    options: &'o TunerOptions,
    search: Search,
    default: Option<u32>,
    start: Instant,
    strategy_seconds: f64,
    asked: usize,
    best_occupancy: f64,
    trials: Vec<TrialReport>,
    /// Compiled forms of the candidates that may be finalists.
    kept: FxHashMap<u32, C>,
    on_event: &'o mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
}

impl<C: Send> Tuning<'_, C> {
    fn run<T: Target<Compiled = C>>(mut self, target: &mut T, compiler: &Compiler<C>) -> Report {
        let threads = self.options.threads.max(1);
        let mut batch = self.ask(1);
        let mut compiled = compile_all(compiler, std::mem::take(&mut batch), threads);
        let mut stopped_by = StopReason::Exhausted;
        while !compiled.is_empty() {
            if let Some(reason) = self.reason_to_stop() {
                stopped_by = reason;
                break;
            }
            let next = self.ask(threads);
            let (ahead, flow) = std::thread::scope(|scope| {
                let ahead = scope.spawn(|| compile_all(compiler, next, threads));
                let flow = compiled.into_iter().try_for_each(|candidate| self.measure(target, candidate));
                (ahead.join().unwrap_or_default(), flow)
            });
            compiled = ahead;
            if flow.is_break() {
                stopped_by = self.reason_to_stop().unwrap_or(StopReason::Interrupted);
                break;
            }
            if compiled.is_empty() {
                // The strategy may have waited for these results.
                compiled = compile_all(compiler, self.ask(threads), threads);
            }
            if compiled.is_empty() {
                stopped_by = self.reason_to_stop().unwrap_or(StopReason::Exhausted);
            }
        }
        self.finish(target, stopped_by)
    }

    /// Rows to compile next, with those that cannot be the best told as skipped.
    fn ask(&mut self, count: usize) -> Vec<(u32, Config)> {
        let left = self.options.budget.evaluations.map_or(usize::MAX, |most| most.saturating_sub(self.asked));
        let start = Instant::now();
        let rows = self.search.ask(count.min(left));
        self.strategy_seconds += start.elapsed().as_secs_f64();
        self.asked += rows.len();
        rows.into_iter().map(|row| (row, self.search.space().config(row))).collect()
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        let Budget { seconds, evaluations } = self.options.budget;
        let is_late = seconds.is_some_and(|seconds| self.start.elapsed().as_secs_f64() >= seconds);
        if is_late || evaluations.is_some_and(|most| self.trials.len() >= most) {
            return Some(StopReason::Budget);
        }
        if !self.options.objective.is_time() {
            return None;
        }
        let (limit, fraction) = (self.options.limit.as_ref()?, self.options.until_fraction?);
        let (_, best) = self.search.history().best()?;
        (limit.seconds / best >= fraction).then_some(StopReason::Limit)
    }

    /// Tries a candidate and tells the strategy and the caller.
    fn measure<T: Target<Compiled = C>>(&mut self, target: &mut T, candidate: Candidate<C>) -> ControlFlow<()> {
        let start = Instant::now();
        let mut trial = TrialReport {
            row: candidate.row,
            config: candidate.config,
            outcome: Outcome::Score(f64::NAN),
            samples: Vec::new(),
            window: None,
            observed: Vec::new(),
            resources: None,
            compile_seconds: candidate.compile_seconds,
            measure_seconds: 0.0,
            at_seconds: 0.0,
        };
        let best = self.search.history().best().map(|(_, score)| score);
        trial.outcome = match self.attempt(target, &mut trial, candidate.compiled, best) {
            Ok(score) => Outcome::Score(score),
            Err(failure) => Outcome::Failed(failure),
        };
        if trial.outcome.score().is_none() && target.is_interrupted() {
            // What was not measured to its end is no trial.
            return ControlFlow::Break(());
        }
        trial.measure_seconds = start.elapsed().as_secs_f64();
        trial.at_seconds = self.start.elapsed().as_secs_f64();
        self.search.tell(trial.row, trial.outcome.clone());
        let best = self.search.history().best().map(|(_, score)| score);
        let flow = (self.on_event)(Event::Tried(&trial, best));
        self.trials.push(trial);
        flow?;
        if self.reason_to_stop().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn attempt<T: Target<Compiled = C>>(
        &mut self,
        target: &mut T,
        trial: &mut TrialReport,
        compiled: Result<C, Failure>,
        best: Option<f64>,
    ) -> Result<f64, Failure> {
        let compiled = compiled?;
        let best = best.filter(|_| self.options.objective.is_time());
        let skip = |message: String| Failure::new(FailureKind::Skipped, message);
        if let (Some(bound), Some(best)) = (&self.options.lower_bound, best)
            && bound(&trial.config) > best
        {
            return Err(skip(format!("needs {:.3e} s at least; the best takes {best:.3e}", bound(&trial.config))));
        }
        let resources = target.load(&trial.config, &compiled)?;
        trial.resources = Some(resources.clone());
        if let (Some(slack), Some(occupancy)) = (self.options.occupancy_slack, resources.occupancy) {
            if occupancy < slack * self.best_occupancy {
                return Err(skip(format!("occupancy is {occupancy:.2}; the best seen is {:.2}", self.best_occupancy)));
            }
            self.best_occupancy = self.best_occupancy.max(occupancy);
        }
        target.verify()?;
        trial.samples = if target.is_noisy() {
            let tick = target.tick_seconds();
            measure_windows(&self.options.windows, tick, best, &mut |launches| target.time(launches))?
        } else {
            vec![target.time(1)?]
        };
        trial.window = target.window_kind();
        let score = self.score(target, trial)?;
        if !score.is_finite() {
            return Err(Failure::new(FailureKind::Runtime, format!("the score is {score}; expected a finite number")));
        }
        self.keep(trial.row, score, compiled);
        Ok(score)
    }

    /// Asks sensors and observers about a trial; its score.
    fn score<T: Target<Compiled = C>>(&self, target: &mut T, trial: &mut TrialReport) -> Result<f64, Failure> {
        let (objective, measured) = (&self.options.objective, median(&trial.samples));
        if !objective.is_time() && !matches!(objective, Objective::Score { .. }) {
            trial.observed.push(("time".to_owned(), measured));
        }
        self.read_sensors(target, trial, measured)?;
        trial.outcome = Outcome::Score(objective.score(measured, trial).unwrap_or(measured));
        trial.observed.extend(target.observe(trial)?);
        let score = objective.score(measured, trial)?;
        if objective.is_maximized() && objective.is_time() {
            trial.observed.push((objective.name().to_owned(), objective.value(score)));
        }
        Ok(score)
    }

    fn read_sensors<T: Target<Compiled = C>>(
        &self,
        target: &mut T,
        trial: &mut TrialReport,
        seconds_of_launch: f64,
    ) -> Result<(), Failure> {
        let Some(sensors) = &self.options.sensors else { return Ok(()) };
        let is_asked = |sensor| {
            let is_objective = sensor == Sensor::Energy && self.options.objective == Objective::Energy;
            is_objective || self.options.observers.contains(&sensor)
        };
        let mut put = |sensor: Sensor, value: Option<f64>| {
            trial.observed.extend(value.map(|value| (sensor.name().to_owned(), value)));
        };
        // While the device is still as the launches have left it.
        for sensor in [Sensor::Clock, Sensor::Temperature].into_iter().filter(|&sensor| is_asked(sensor)) {
            put(sensor, sensors.read(sensor));
        }
        if is_asked(Sensor::Energy) || is_asked(Sensor::Power) {
            let start = Instant::now();
            let mut now = || start.elapsed().as_secs_f64();
            let mut time = |launches| target.repeat(launches);
            let found = measure_energy(sensors.as_ref(), seconds_of_launch, &mut now, &mut time)?;
            put(Sensor::Energy, found.map(|found| found.joules).filter(|_| is_asked(Sensor::Energy)));
            put(Sensor::Power, found.map(|found| found.watts).filter(|_| is_asked(Sensor::Power)));
        }
        Ok(())
    }

    /// Keeps the compiled forms of the best candidates and of the default.
    fn keep(&mut self, row: u32, score: f64, compiled: C) {
        self.kept.insert(row, compiled);
        if self.kept.len() <= self.options.finalists + 2 {
            return;
        }
        let score_of = |kept: u32| match self.search.history().outcome(kept) {
            Some(Outcome::Score(score)) => *score,
            _ => score,
        };
        let removable = self.kept.keys().copied().filter(|&kept| Some(kept) != self.default);
        if let Some(worst) = removable.max_by(|&a, &b| score_of(a).total_cmp(&score_of(b))) {
            self.kept.remove(&worst);
        }
    }

    fn finish<T: Target<Compiled = C>>(mut self, target: &mut T, stopped_by: StopReason) -> Report {
        let is_interrupted = stopped_by == StopReason::Interrupted;
        self.check_finalists(target, if is_interrupted { 1 } else { self.options.finalists.max(1) });
        let place = |trials: &[TrialReport], row| trials.iter().position(|trial| trial.row == row);
        let best = self.search.history().best().map(|(row, _)| row);
        let is_final =
            target.is_noisy() && self.options.objective.is_time() && self.options.finalists > 0 && !is_interrupted;
        let finalists = if is_final { self.compare_finalists(target) } else { Vec::new() };
        let winner = choose_winner(&finalists, self.default, &self.trials).or(best);
        let samples_of = |row| finalists.iter().find(|finalist| finalist.row == row).map(|found| &found.samples[..]);
        let unconfirmed = unconfirmed_winner(&finalists, self.default);
        let speedup = match (self.default.and_then(samples_of), winner.and_then(samples_of)) {
            (Some(slow), Some(fast)) => paired_ratio(slow, fast),
            _ => None,
        };
        for finalist in &finalists {
            if let Some(trial) = self.trials.iter_mut().find(|trial| trial.row == finalist.row) {
                finalist.add_readings(trial);
            }
        }
        Report {
            best: winner.and_then(|row| place(&self.trials, row)),
            default: self.default.and_then(|row| place(&self.trials, row)),
            speedup,
            unconfirmed: unconfirmed.and_then(|(row, ratio)| Some((place(&self.trials, row)?, ratio))),
            finalists,
            objective: self.options.objective.clone(),
            limit: self.options.limit.clone(),
            stopped_by,
            seconds: self.start.elapsed().as_secs_f64(),
            strategy_seconds: self.strategy_seconds,
            space_len: self.search.space().len(),
            trials: self.trials,
        }
    }

    /// Times the best candidates and the default in turns; one that fails now is left out.
    fn compare_finalists<T: Target<Compiled = C>>(&mut self, target: &mut T) -> Vec<Finalist> {
        let mut ranked: Vec<(u32, f64)> = self
            .kept
            .keys()
            .filter_map(|&row| match self.search.history().outcome(row) {
                Some(Outcome::Score(score)) => Some((row, *score)),
                _ => None,
            })
            .collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let is_default = |row: u32| Some(row) == self.default;
        let mut finalists: Vec<(Finalist, u32)> = ranked
            .iter()
            .enumerate()
            .filter(|(place, (row, _))| *place < self.options.finalists || is_default(*row))
            .map(|(_, &(row, score))| {
                let least = self.options.windows.window_seconds.max(100.0 * target.tick_seconds());
                (Finalist::new(row), (least / score.max(1e-9)).ceil().clamp(1.0, 1e4) as u32)
            })
            .collect();
        if finalists.len() < 2 || (self.on_event)(Event::Finals(finalists.len())).is_break() {
            return Vec::new();
        }
        let seconds = self.options.budget.seconds.unwrap_or(f64::INFINITY).max(self.start.elapsed().as_secs_f64());
        for round in 0..MAX_FINAL_ROUNDS {
            let is_late = self.start.elapsed().as_secs_f64() > (1.0 + EXTRA_SHARE) * seconds;
            if round >= FINAL_ROUNDS && (is_late || unconfirmed_winner(&samples_of(&finalists), self.default).is_none())
            {
                break;
            }
            finalists.retain_mut(|(finalist, launches)| {
                let config = self.search.space().config(finalist.row);
                let Some(compiled) = self.kept.get(&finalist.row) else { return false };
                // The first launch after loading is cold.
                let sample =
                    target.load(&config, compiled).and_then(|_| target.time(1)).and_then(|_| target.time(*launches));
                let read = |sensor| self.options.sensors.as_ref().and_then(|sensors| sensors.read(sensor));
                finalist.clocks_mhz.extend(read(Sensor::Clock));
                finalist.temperatures_celsius.extend(read(Sensor::Temperature));
                sample.map(|sample| finalist.samples.push(sample)).is_ok()
            });
        }
        samples_of(&finalists)
    }
}

fn samples_of(finalists: &[(Finalist, u32)]) -> Vec<Finalist> {
    finalists.iter().map(|(finalist, _)| finalist.clone()).collect()
}

/// Compiles configurations on threads; the results in their order.
fn compile_all<C: Send>(compiler: &Compiler<C>, batch: Vec<(u32, Config)>, threads: usize) -> Vec<Candidate<C>> {
    let compile = |(row, config): (u32, Config)| {
        let start = Instant::now();
        let compiled = compiler(&config);
        Candidate { row, config, compiled, compile_seconds: start.elapsed().as_secs_f64() }
    };
    if batch.len() < 2 || threads < 2 {
        return batch.into_iter().map(compile).collect();
    }
    let count = batch.len();
    let jobs = Mutex::new(batch.into_iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(count));
    let take = || lock_ignoring_poison(&jobs).next();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                while let Some((place, job)) = take() {
                    let candidate = compile(job);
                    lock_ignoring_poison(&results).push((place, candidate));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|result| result.0);
    results.into_iter().map(|result| result.1).collect()
}

#[cfg(test)]
mod tests;
