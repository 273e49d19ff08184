//! Simulated annealing over neighbours, with ratios of scores instead of differences.

use super::moves::{Board, score_of};
use crate::configurations::Configurations;
use crate::random::Random;
use crate::strategy::{History, Strategy};

/// Simulated annealing.
#[derive(Debug)]
pub(super) struct Annealing {
    random: Random,
    current: Option<u32>,
    /// The row that was asked for and is judged when its score is known.
    proposed: Option<u32>,
    temperature: f64,
}

/// A score that is so much worse (as a difference of logarithms) is accepted in one of e cases, at first.
const START_TEMPERATURE: f64 = 0.5;
const COOLING: f64 = 0.98;
const END_TEMPERATURE: f64 = 0.005;

impl Annealing {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), current: None, proposed: None, temperature: START_TEMPERATURE }
    }

    fn judge(&mut self, history: &History) {
        let Some(proposed) = self.proposed else { return };
        let Some(score) = score_of(history, proposed) else { return };
        self.proposed = None;
        let current = self.current.and_then(|row| score_of(history, row)).unwrap_or(f64::INFINITY);
        let worse = (score / current).ln();
        if score <= current || self.random.unit() < (-worse / self.temperature).exp() {
            self.current = Some(proposed);
        }
        self.temperature *= COOLING;
        if self.temperature < END_TEMPERATURE {
            self.temperature = START_TEMPERATURE;
            self.current = None;
        }
    }
}

impl Strategy for Annealing {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        self.judge(history);
        let mut board = Board::new(space, history, pending);
        let mut rows = Vec::new();
        for _ in 0..count {
            let around = self.current.map(|current| board.neighbours(current)).unwrap_or_default();
            let open: Vec<u32> = around.into_iter().filter(|&row| board.is_open(row)).collect();
            let row = match open.is_empty() {
                true => board.random_open(&mut self.random),
                false => Some(*self.random.choose(&open)),
            };
            let Some(row) = row else { break };
            self.proposed = Some(row);
            board.take(row);
            rows.push(row);
        }
        rows
    }
}
