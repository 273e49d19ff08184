//! A search, which asks a strategy for configurations and is told their outcomes.

use crate::configurations::Configurations;
use crate::outcome::Outcome;
use crate::strategies;
use crate::strategy::{History, Strategy};
use std::collections::VecDeque;
use std::sync::Arc;

/// A search over the configurations of a space.
///
/// ```
/// use rtcg_tune::{Outcome, Search, Space};
///
/// let space = Space::new().parameter("x", 0..100)?.enumerate()?;
/// let mut search = Search::new(space, "auto", 0).expect("a known strategy");
/// for _ in 0..10 {
///     for row in search.ask(4) {
///         let x = search.space().config(row).get("x").and_then(|x| x.as_f64()).unwrap_or(0.0);
///         search.tell(row, Outcome::Score((x - 70.0).abs() + 1.0));
///     }
/// }
/// let (row, score) = search.history().best().expect("a best one");
/// assert!(score < 10.0, "{} {score}", search.space().config(row));
/// # Ok::<(), rtcg_tune::SpaceError>(())
/// ```
pub struct Search {
    space: Arc<Configurations>,
    strategy: Box<dyn Strategy>,
    history: History,
    /// Rows to be asked before the strategy is.
    first: VecDeque<u32>,
    pending: Vec<u32>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Search over {} configurations, {} tried", self.space.len(), self.history.trials().len())
    }
}

impl Search {
    /// Makes a search with a strategy from [`strategies::NAMES`]; `None` for any other name.
    pub fn new(space: impl Into<Arc<Configurations>>, strategy: &str, seed: u64) -> Option<Self> {
        Some(Self::with_strategy(space, strategies::by_name(strategy, seed)?))
    }

    /// Makes a search with the caller's own strategy.
    pub fn with_strategy(space: impl Into<Arc<Configurations>>, strategy: Box<dyn Strategy>) -> Self {
        Self { space: space.into(), strategy, history: History::default(), first: VecDeque::new(), pending: Vec::new() }
    }

    /// Makes these rows come first, in this order: incumbents of other devices, the default.
    pub fn start_with(&mut self, rows: &[u32]) {
        for &row in rows {
            if !self.first.contains(&row) && self.history.outcome(row).is_none() && (row as usize) < self.space.len() {
                self.first.push_back(row);
            }
        }
    }

    /// The configurations.
    pub fn space(&self) -> &Arc<Configurations> {
        &self.space
    }

    /// The trials so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns up to `count` rows to try next, which are pending until told; none once all have been asked.
    pub fn ask(&mut self, count: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = Vec::new();
        while rows.len() < count
            && let Some(row) = self.first.pop_front()
        {
            if self.is_open(row) {
                rows.push(row);
                self.pending.push(row);
            }
        }
        let missing = count - rows.len();
        if missing > 0 && self.history.trials().len() + self.pending.len() < self.space.len() {
            for row in self.strategy.ask(missing, &self.space, &self.history, &self.pending) {
                if rows.len() < count && self.is_open(row) {
                    rows.push(row);
                    self.pending.push(row);
                }
            }
        }
        rows
    }

    fn is_open(&self, row: u32) -> bool {
        (row as usize) < self.space.len() && self.history.outcome(row).is_none() && !self.pending.contains(&row)
    }

    /// Records the outcome of a row, whether or not it was asked for.
    pub fn tell(&mut self, row: u32, outcome: Outcome) {
        self.pending.retain(|&pending| pending != row);
        self.history.tell(row, outcome);
    }
}
