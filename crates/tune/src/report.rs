//! Reports of searches.

use crate::objective::Objective;
use crate::outcome::{FailureKind, Outcome};
use crate::pareto::pareto_front;
use crate::sensors::Sensor;
use crate::statistics::{Interval, median};
use crate::trial::TrialReport;
use crate::value::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// Every configuration was tried.
    Exhausted,
    /// The budget was spent.
    Budget,
    /// The best configuration is as close to the device's limit as requested.
    Limit,
    /// The caller ended it.
    Interrupted,
}

/// The least time that the device's limits permit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Seconds.
    pub seconds: f64,
    /// The limiting resource: `memory` or `compute`.
    pub binds: String,
}

/// A candidate of the final comparison, in interleaved rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Finalist {
    /// Its row.
    pub row: u32,
    /// Its windows, one per round.
    pub samples: Vec<f64>,
    /// The multiprocessor clock in MHz after each window, if known.
    pub clocks_mhz: Vec<f64>,
    /// The temperature in degrees Celsius after each window, if known.
    pub temperatures_celsius: Vec<f64>,
}

impl Finalist {
    pub(crate) fn new(row: u32) -> Self {
        Self { row, samples: Vec::new(), clocks_mhz: Vec::new(), temperatures_celsius: Vec::new() }
    }

    /// Gives a trial the columns of sensors that it lacks.
    pub(crate) fn add_readings(&self, trial: &mut TrialReport) {
        for (sensor, readings) in [(Sensor::Clock, &self.clocks_mhz), (Sensor::Temperature, &self.temperatures_celsius)]
        {
            if !readings.is_empty() && trial.observation(sensor.name()).is_none() {
                trial.observed.push((sensor.name().to_owned(), median(readings)));
            }
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Report {
    /// All trials, in order.
    pub trials: Vec<TrialReport>,
    /// The objective of their scores.
    pub objective: Objective,
    /// The index of the best trial.
    pub best: Option<usize>,
    /// The index of the default configuration's trial, if it was tried.
    pub default: Option<usize>,
    /// The speedup of the best over the default, from the rounds of the finalists.
    pub speedup: Option<Interval>,
    /// A candidate whose median was far below the default's without being significantly faster: its index and the ratio
    /// of the medians. The default is then the best.
    pub unconfirmed: Option<(usize, f64)>,
    /// The candidates of the last rounds.
    pub finalists: Vec<Finalist>,
    /// The device's limit, if the work was stated.
    pub limit: Option<Limit>,
    /// Why the search ended.
    pub stopped_by: StopReason,
    /// Duration of the search in seconds.
    pub seconds: f64,
    /// Seconds spent in the strategy.
    pub strategy_seconds: f64,
    /// Number of valid configurations in the space.
    pub space_len: usize,
}

/// The scores of the trials with one value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueEffect {
    /// The value.
    pub value: Value,
    /// The lowest score with it.
    pub best: f64,
    /// The median score with it.
    pub median: f64,
    /// Number of trials with a score.
    pub count: usize,
}

impl Report {
    /// The best trial.
    pub fn best_trial(&self) -> Option<&TrialReport> {
        self.best.map(|place| &self.trials[place])
    }

    /// For each trial that improved the best score: its number, the time in seconds, and the new best score.
    pub fn best_so_far(&self) -> Vec<(usize, f64, f64)> {
        let mut best = f64::INFINITY;
        let mut steps = Vec::new();
        for (number, trial) in self.trials.iter().enumerate() {
            if let Outcome::Score(score) = trial.outcome
                && score < best
            {
                best = score;
                steps.push((number + 1, trial.at_seconds, score));
            }
        }
        steps
    }

    /// The number of failed trials per stage.
    pub fn failures(&self) -> BTreeMap<FailureKind, usize> {
        let mut counts = BTreeMap::new();
        for trial in &self.trials {
            if let Outcome::Failed(failure) = &trial.outcome {
                *counts.entry(failure.kind).or_default() += 1;
            }
        }
        counts
    }

    /// The effect of each value, for each parameter that has several.
    pub fn parameter_effects(&self) -> Vec<(String, Vec<ValueEffect>)> {
        let Some(first) = self.trials.first() else { return Vec::new() };
        let effects = first.config.iter().map(|(name, _)| (name.to_owned(), self.effects_of(name)));
        effects.filter(|(_, effects)| effects.len() > 1).collect()
    }

    fn effects_of(&self, name: &str) -> Vec<ValueEffect> {
        let mut scores: Vec<(Value, Vec<f64>)> = Vec::new();
        for trial in &self.trials {
            let (Outcome::Score(score), Some(value)) = (&trial.outcome, trial.config.get(name)) else { continue };
            match scores.iter_mut().find(|known| known.0 == *value) {
                Some(known) => known.1.push(*score),
                None => scores.push((value.clone(), vec![*score])),
            }
        }
        let effect = |(value, scores): (Value, Vec<f64>)| ValueEffect {
            value,
            best: scores.iter().copied().fold(f64::INFINITY, f64::min),
            median: median(&scores),
            count: scores.len(),
        };
        scores.into_iter().map(effect).collect()
    }

    /// The indices of the trials that no other trial dominates in these columns; each column says whether more is
    /// better. Trials that failed or lack a number are left out.
    ///
    /// ```
    /// # use rtcg_tune::{Report, TrialReport};
    /// fn fastest_and_thriftiest(report: &Report) -> Vec<&TrialReport> {
    ///     let front = report.pareto(&[("score", false), ("energy", false)]);
    ///     front.into_iter().map(|place| &report.trials[place]).collect()
    /// }
    /// ```
    pub fn pareto(&self, columns: &[(&str, bool)]) -> Vec<usize> {
        let cost = |trial: &TrialReport, &(column, is_maximized): &(&str, bool)| {
            let number = trial.number("score").and_then(|_| trial.number(column)).unwrap_or(f64::NAN);
            if is_maximized { -number } else { number }
        };
        let costs = self.trials.iter().map(|trial| columns.iter().map(|column| cost(trial, column)).collect());
        pareto_front(&costs.collect::<Vec<_>>())
    }

    /// The largest relative change of the clock of one finalist between rounds: 0.03 is 3 %. `None` if the clock is
    /// unknown.
    pub fn clock_change(&self) -> Option<f64> {
        let change = |clocks: &[f64]| {
            let (low, high) = clocks.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), &c| (l.min(c), h.max(c)));
            (low > 0.0 && high > 0.0).then(|| high / low - 1.0)
        };
        self.finalists.iter().filter_map(|finalist| change(&finalist.clocks_mhz)).max_by(f64::total_cmp)
    }

    /// The trial that was fastest in the search, if it is not the best of the comparison.
    fn fastest_in_search(&self) -> Option<(&TrialReport, f64)> {
        let (number, _, score) = *self.best_so_far().last()?;
        (Some(number - 1) != self.best).then(|| (&self.trials[number - 1], score))
    }

    /// Why the best of the progress line is not the best of the report.
    fn write_faster_in_search(&self, f: &mut fmt::Formatter<'_>, best_score: f64) -> fmt::Result {
        let Some((trial, score)) = self.fastest_in_search().filter(|(_, score)| *score < best_score) else {
            return Ok(());
        };
        if self.unconfirmed.is_some_and(|(place, _)| std::ptr::eq(&self.trials[place], trial)) {
            return Ok(());
        }
        writeln!(
            f,
            "  the search measured {} once for {}, which was not faster when the finalists were compared in turn",
            self.objective.format(score),
            trial.config
        )
    }

    /// The device's limit divided by the best time: 1 means that the limit is reached.
    pub fn fraction_of_limit(&self) -> Option<f64> {
        if !self.objective.is_time() {
            return None;
        }
        match self.best_trial()?.outcome {
            Outcome::Score(score) => Some(self.limit.as_ref()?.seconds / score),
            Outcome::Failed(_) => None,
        }
    }
}

/// A change of the clock that marks a search.
const LARGE_CLOCK_CHANGE: f64 = 0.02;

/// A few lines: the best, its speedup, failures, what limits it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = self.trials.len();
        match self.best_trial() {
            Some(trial) => {
                let score = if let Outcome::Score(score) = trial.outcome { score } else { f64::NAN };
                writeln!(f, "best of {tried} configurations tried, of {}: {}", self.space_len, trial.config)?;
                write!(f, "  {}", self.objective.format(score))?;
                match self.speedup {
                    _ if self.best == self.default => write!(f, ", the default")?,
                    Some(Interval { value, low, high }) => {
                        write!(f, ", {value:.3} times as fast as the default (95 % interval {low:.3} to {high:.3})")?;
                    }
                    None => {}
                }
                writeln!(f)?;
                self.write_faster_in_search(f, score)?;
            }
            None => writeln!(f, "none of {tried} configurations tried works, of {}", self.space_len)?,
        }
        if let Some((place, ratio)) = self.unconfirmed {
            let rounds = self.finalists.first().map_or(0, |finalist| finalist.samples.len());
            let config = &self.trials[place].config;
            write!(
                f,
                "  not confirmed: {config} was {ratio:.2} times as fast as the default in the median of {rounds} "
            )?;
            writeln!(f, "rounds, which differed too much; what was used before stays")?;
        }
        for (kind, count) in self.failures() {
            let is_kind = |trial: &&TrialReport| matches!(&trial.outcome, Outcome::Failed(found) if found.kind == kind);
            let example = self.trials.iter().find(is_kind);
            let message = example.map_or(String::new(), |trial| match &trial.outcome {
                Outcome::Failed(failure) => {
                    failure.message.lines().next().unwrap_or_default().chars().take(120).collect()
                }
                Outcome::Score(_) => String::new(),
            });
            writeln!(f, "  {count} failed ({kind}), such as: {message}")?;
        }
        if let (Some(limit), Some(fraction)) = (&self.limit, self.fraction_of_limit()) {
            match fraction {
                // The limit was measured, too.
                ..=1.0 => {
                    writeln!(f, "  {:.0} % of the device's limit, which is its {}", 100.0 * fraction, limit.binds)?
                }
                _ => writeln!(f, "  at the device's limit, which is its {}", limit.binds)?,
            }
        }
        if let Some(change) = self.clock_change().filter(|change| *change > LARGE_CLOCK_CHANGE) {
            writeln!(f, "  the clock changed by {:.1} % between the rounds: times are less certain", 100.0 * change)?;
        }
        let why = match self.stopped_by {
            StopReason::Exhausted if tried < self.space_len => "the strategy has nothing more to try",
            StopReason::Exhausted => "every configuration was tried",
            StopReason::Budget => "the budget was spent",
            StopReason::Limit => "it is near enough to the limit",
            StopReason::Interrupted => "it was interrupted",
        };
        write!(f, "  ended after {:.1} s: {why}", self.seconds)
    }
}
