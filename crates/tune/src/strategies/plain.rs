//! Strategies without learning: every configuration in order, or in random order.

use super::moves::Board;
use crate::configurations::Configurations;
use crate::random::Random;
use crate::strategy::{History, Strategy};

/// All rows, from the first to the last.
#[derive(Debug, Default)]
pub(super) struct Exhaustive {
    next: u32,
}

impl Strategy for Exhaustive {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let board = Board::new(space, history, pending);
        let mut rows = Vec::new();
        while rows.len() < count && (self.next as usize) < space.len() {
            if board.is_open(self.next) {
                rows.push(self.next);
            }
            self.next += 1;
        }
        rows
    }
}

/// Random rows.
#[derive(Debug)]
pub(super) struct RandomOrder(Random);

impl RandomOrder {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl Strategy for RandomOrder {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let mut board = Board::new(space, history, pending);
        let mut rows = Vec::new();
        for _ in 0..count {
            let Some(row) = board.random_open(&mut self.0) else { break };
            board.take(row);
            rows.push(row);
        }
        rows
    }
}
