//! What a search found.

use crate::configurations::Config;
use crate::outcome::{FailureKind, Outcome};
use crate::statistics::{Interval, median};
use crate::target::Resources;
use crate::value::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One configuration that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialReport {
    /// Its row among the configurations.
    pub row: u32,
    /// The configuration.
    pub config: Config,
    /// Its score in seconds (or what the target measures), or its failure.
    pub outcome: Outcome,
    /// The windows that were measured: seconds of a launch each.
    pub samples: Vec<f64>,
    /// What it needs of the device, where it was loaded.
    pub resources: Option<Resources>,
    /// Seconds of compiling, on one of the threads.
    pub compile_seconds: f64,
    /// Seconds of loading, verifying and timing.
    pub measure_seconds: f64,
    /// Seconds since the search began.
    pub at_seconds: f64,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// Every configuration was tried.
    Exhausted,
    /// The budget was spent.
    Budget,
    /// The best one is as near to the device's limit as was asked for.
    Limit,
    /// The caller ended it.
    Interrupted,
}

/// The least time that the device's limits allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Seconds.
    pub seconds: f64,
    /// What binds: `memory` or `compute`.
    pub binds: String,
}

/// One of the candidates that were compared at the end, in interleaved rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Finalist {
    /// Its row.
    pub row: u32,
    /// The windows of the rounds.
    pub samples: Vec<f64>,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Report {
    /// All trials, in their order.
    pub trials: Vec<TrialReport>,
    /// The place of the best among the trials.
    pub best: Option<usize>,
    /// The place of the default configuration among the trials, where it was tried.
    pub default: Option<usize>,
    /// How much faster the best is than the default, from the rounds of finalists.
    pub speedup: Option<Interval>,
    /// The candidates of the last rounds.
    pub finalists: Vec<Finalist>,
    /// The device's limit, where the work was stated.
    pub limit: Option<Limit>,
    /// Why the search ended.
    pub stopped_by: StopReason,
    /// Seconds that it took.
    pub seconds: f64,
    /// Seconds that the strategy took.
    pub strategy_seconds: f64,
    /// Valid configurations of the space.
    pub space_len: usize,
}

/// A parameter's value, and what its trials scored.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueEffect {
    /// The value.
    pub value: Value,
    /// The lowest score with it.
    pub best: f64,
    /// The median score with it.
    pub median: f64,
    /// Trials with a score.
    pub count: usize,
}

impl Report {
    /// The best trial.
    pub fn best_trial(&self) -> Option<&TrialReport> {
        self.best.map(|place| &self.trials[place])
    }

    /// Trial number, seconds, and the lowest score so far, for each trial that improved it.
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

    /// How many trials failed, by the stage.
    pub fn failures(&self) -> BTreeMap<FailureKind, usize> {
        let mut counts = BTreeMap::new();
        for trial in &self.trials {
            if let Outcome::Failed(failure) = &trial.outcome {
                *counts.entry(failure.kind).or_default() += 1;
            }
        }
        counts
    }

    /// For each parameter with several values: what the trials with each value scored.
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

    /// The best time over the device's limit: 1 is the limit itself.
    pub fn fraction_of_limit(&self) -> Option<f64> {
        match self.best_trial()?.outcome {
            Outcome::Score(score) => Some(self.limit.as_ref()?.seconds / score),
            Outcome::Failed(_) => None,
        }
    }
}

/// A few lines: the best, its speedup, failures, what limits it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = self.trials.len();
        match self.best_trial() {
            Some(trial) => {
                let score = if let Outcome::Score(score) = trial.outcome { score } else { f64::NAN };
                writeln!(f, "best of {tried} tried ({} valid): {}", self.space_len, trial.config)?;
                write!(f, "  {}", format_seconds(score))?;
                if let Some(speedup) = self.speedup {
                    let Interval { value, low, high } = speedup;
                    write!(f, ", {value:.3} times as fast as the default (95 % interval {low:.3} to {high:.3})")?;
                }
                writeln!(f)?;
            }
            None => writeln!(f, "none of {tried} tried configurations works ({} valid)", self.space_len)?,
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
            writeln!(f, "  {:.0} % of the device's limit, which is its {}", 100.0 * fraction, limit.binds)?;
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

/// Seconds with a unit that suits them.
pub fn format_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
