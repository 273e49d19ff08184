//! A genetic algorithm without generations: children of the best rows, by uniform crossover and mutation.

use super::moves::Board;
use crate::configurations::Configurations;
use crate::random::Random;
use crate::strategy::{History, Strategy};

/// Rows that have children.
const POPULATION: usize = 20;

/// Steady-state genetic search.
#[derive(Debug)]
pub(super) struct Genetic(Random);

impl Genetic {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl Strategy for Genetic {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let mut board = Board::new(space, history, pending);
        let ranked = board.ranked();
        let mutation = 1.0 / space.names().len().max(1) as f64;
        let mut rows = Vec::new();
        while rows.len() < count {
            let tried = history.trials().len() + pending.len() + rows.len();
            let is_born = |row: &u32| board.is_open(*row);
            let child = match tried < POPULATION || ranked.len() < 2 {
                true => None,
                false => (0..10).find_map(|_| {
                    let parents = [(); 2].map(|()| Board::weighted_parent(&ranked, POPULATION, &mut self.0));
                    board.child(parents, mutation, &mut self.0).filter(is_born)
                }),
            };
            let Some(row) = child.or_else(|| board.random_open(&mut self.0)) else { break };
            board.take(row);
            rows.push(row);
        }
        rows
    }
}
