//! Greedy local search with restarts: it tries every neighbour of the current row and moves to the best improvement.

use super::moves::{Board, score_of};
use crate::configurations::Configurations;
use crate::random::Random;
use crate::strategy::{History, Strategy};

/// Iterated local search. A local optimum is left by two random changes of it, or after some of these from a random row.
#[derive(Debug)]
pub(super) struct LocalSearch {
    random: Random,
    current: Option<u32>,
    restarts: usize,
}

/// Perturbations of optima between two random starts.
const PERTURBATIONS: usize = 5;

impl LocalSearch {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), current: None, restarts: 0 }
    }

    /// The row to look around next, once all neighbours of the present one have been tried.
    fn next_start(&mut self, board: &Board<'_>, optimum: u32) -> Option<u32> {
        self.restarts += 1;
        if !self.restarts.is_multiple_of(PERTURBATIONS) {
            let mutation = 2.0 / board.space.names().len() as f64;
            for _ in 0..20 {
                let row = board.child([optimum, optimum], mutation, &mut self.random);
                if let Some(row) = row.filter(|&row| board.is_open(row)) {
                    return Some(row);
                }
            }
        }
        board.random_open(&mut self.random)
    }
}

impl Strategy for LocalSearch {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let mut board = Board::new(space, history, pending);
        let mut rows = Vec::new();
        while rows.len() < count && board.open_count() > 0 {
            let next = match self.current {
                None => board.random_open(&mut self.random),
                Some(current) => {
                    let mut around: Vec<u32> =
                        board.adjacent(current).into_iter().chain(board.neighbours(current)).collect();
                    let score = score_of(history, current);
                    let better = |row: &&u32| score_of(history, **row) < score;
                    let best = around.iter().filter(better).min_by(|a, b| {
                        let score = |row: u32| score_of(history, row).unwrap_or(f64::INFINITY);
                        score(**a).total_cmp(&score(**b))
                    });
                    if let (Some(&best), Some(_)) = (best, score) {
                        self.current = Some(best);
                        continue;
                    }
                    around.retain(|&row| board.is_open(row));
                    match around.is_empty() {
                        false => Some(*self.random.choose(&around)),
                        true => {
                            self.current = self.next_start(&board, current);
                            self.current
                        }
                    }
                }
            };
            let Some(row) = next else { break };
            self.current.get_or_insert(row);
            if board.is_open(row) {
                board.take(row);
                rows.push(row);
            }
        }
        rows
    }
}
