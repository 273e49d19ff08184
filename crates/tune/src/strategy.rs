//! What a search strategy is.

use crate::configurations::Configurations;
use crate::outcome::Outcome;
use rustc_hash::FxHashMap;

/// A configuration that was tried, by its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The row of the configuration.
    pub row: u32,
    /// What became of it.
    pub outcome: Outcome,
}

/// What has been tried, in the order of trying; no row occurs twice.
#[derive(Debug, Clone, Default)]
pub struct History {
    trials: Vec<Trial>,
    places: FxHashMap<u32, usize>,
    best: Option<usize>,
}

impl History {
    /// Adds what became of a row; a row that was there gets the new outcome in its old place.
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

    /// What has been tried.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// What became of a row, if it was tried.
    pub fn outcome(&self, row: u32) -> Option<&Outcome> {
        self.places.get(&row).map(|&place| &self.trials[place].outcome)
    }

    /// The row with the lowest score, and that score.
    pub fn best(&self) -> Option<(u32, f64)> {
        let trial = &self.trials[self.best?];
        if let Outcome::Score(score) = trial.outcome { Some((trial.row, score)) } else { None }
    }
}

/// Chooses what to try next. Strategies draw their random numbers from a seed of their own, so that the same seed and
/// the same outcomes ask for the same rows.
pub trait Strategy: Send {
    /// Up to `count` rows that have not been tried and are not pending, the most promising first; none when the
    /// strategy has nothing left to ask.
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32>;
}
