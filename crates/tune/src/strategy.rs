//! The interface of search strategies.

use crate::configurations::Configurations;
use crate::outcome::Outcome;
use rustc_hash::FxHashMap;

/// A configuration that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The row of the configuration.
    pub row: u32,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The trials so far, in order; each row occurs once.
#[derive(Debug, Clone, Default)]
pub struct History {
    trials: Vec<Trial>,
    places: FxHashMap<u32, usize>,
    best: Option<usize>,
}

impl History {
    /// Records the outcome of a row; a row that was tried before gets the new outcome in its old place.
    pub fn tell(&mut self, row: u32, outcome: Outcome) {
        let place = *self.places.entry(row).or_insert(self.trials.len());
        if place == self.trials.len() {
            self.trials.push(Trial { row, outcome });
        } else {
            self.trials[place].outcome = outcome;
        }
        let score = |trial: &Trial| if let Outcome::Score(score) = trial.outcome { Some(score) } else { None };
        let scored = self.trials.iter().enumerate().filter_map(|(place, trial)| Some((place, score(trial)?)));
        self.best = scored.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place);
    }

    /// The trials in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The outcome of a row, if it was tried.
    pub fn outcome(&self, row: u32) -> Option<&Outcome> {
        self.places.get(&row).map(|&place| &self.trials[place].outcome)
    }

    /// The row with the lowest score, and its score.
    pub fn best(&self) -> Option<(u32, f64)> {
        let trial = &self.trials[self.best?];
        if let Outcome::Score(score) = trial.outcome { Some((trial.row, score)) } else { None }
    }
}

/// Chooses what to try next. A strategy draws random numbers from its own seed, so that the same seed and the same
/// outcomes lead to the same rows.
pub trait Strategy: Send {
    /// Proposes up to `count` rows that are neither tried nor pending, the most promising first; none when the strategy
    /// has finished.
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32>;
}
