//! The default strategy, which combines a model of the scores, local moves and crossover.
//!
//! After an initial space-filling sample, each batch cycles through: the neighbour of one of the best rows with the
//! best lower confidence bound, the child of good rows that the model predicts to be best, the child with the best
//! bound, and the row of the whole space that the model predicts to be best. Local moves alone get stuck if the optimum
//! is far away, and children alone are slow; together they are robust. If the best rows agree in all but one parameter
//! and nothing has improved for long, the next rows come from far away.

use super::moves::Board;
use crate::configurations::Configurations;
use crate::outcome::Outcome;
use crate::random::Random;
use crate::strategy::{History, Strategy};
use crate::surrogate::{Features, Model};

/// Rows that fill the space before a model is made.
const START_ROWS: usize = 10;
/// Rows whose neighbours are looked at.
const TOP_FOR_NEIGHBOURS: usize = 4;
/// Rows that have children.
const TOP_FOR_CHILDREN: usize = 12;
/// Children that the model chooses from.
const CHILDREN: usize = 40;
/// What a failure counts as: so much worse than the worst score, as a logarithm.
const FAILURE_PENALTY: f32 = 0.3;
/// Rows of the whole space that the model is asked about, at most.
const MAX_PREDICTED_ROWS: usize = 20_000;
/// Trials without a better score after which a search may be stuck.
const PATIENCE: usize = 24;

/// The default strategy.
pub(super) struct Auto {
    random: Random,
    features: Option<Features>,
    /// Which of the four ways is next.
    turn: usize,
    best: f64,
    /// Trials when the best score was last improved, or a restart made.
    improved_at: usize,
    /// Rows from far away that are still to be asked.
    restart_rows: usize,
}

impl Auto {
    pub(super) fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self { random, features: None, turn: 0, best: f64::INFINITY, improved_at: 0, restart_rows: 0 }
    }

    /// Notes improvements, and decides about a restart.
    fn note_progress(&mut self, board: &Board<'_>, ranked: &[(u32, f64)]) {
        let tried = board.history.trials().len();
        if let Some(&(_, best)) = ranked.first()
            && best < self.best - 0.001 * self.best.abs().min(f64::MAX)
        {
            (self.best, self.improved_at) = (best, tried);
        }
        let is_narrow = || {
            let top: Vec<u32> = ranked.iter().take(5).map(|found| found.0).collect();
            let columns = board.space.names().len();
            let differs = |&column: &usize| {
                top.iter().any(|&row| board.space.row(row)[column] != board.space.row(top[0])[column])
            };
            (0..columns).filter(differs).count() <= 1
        };
        if tried >= self.improved_at + PATIENCE && ranked.len() >= 5 && is_narrow() {
            self.improved_at = tried;
            self.restart_rows = 6;
        }
    }

    fn fit(&mut self, board: &Board<'_>, ranked: &[(u32, f64)]) -> Model {
        // Times are compared by ratio; scores of other kinds may be negative, and are compared by difference.
        let (best, worst) = (ranked.first().map_or(1.0, |found| found.1), ranked.last().map_or(1.0, |found| found.1));
        let scale = |score: f64| if best > 0.0 { score.ln() } else { (score - best) / (worst - best).max(1e-300) };
        let target = |outcome: &Outcome| match outcome {
            Outcome::Score(score) => scale(*score) as f32,
            Outcome::Failed(_) => scale(worst) as f32 + FAILURE_PENALTY,
        };
        let trials = board.history.trials().iter();
        let samples: Vec<_> = trials.map(|trial| (board.space.row(trial.row), target(&trial.outcome))).collect();
        let features = self.features.get_or_insert_with(|| Features::new(board.space));
        Model::fit(features, &samples, &mut self.random)
    }

    /// The row of some that the model likes most.
    fn best_predicted(&self, board: &Board<'_>, model: &Model, rows: &[u32], kappa: f32) -> Option<u32> {
        let features = self.features.as_ref()?;
        let open: Vec<u32> = rows.iter().copied().filter(|&row| board.is_open(row)).collect();
        let cells: Vec<&[u16]> = open.iter().map(|&row| board.space.row(row)).collect();
        let bounds = model.predict(features, &cells).into_iter().map(|found| found.mean - kappa * found.deviation);
        open.into_iter().zip(bounds).min_by(|a, b| a.1.total_cmp(&b.1)).map(|found| found.0)
    }

    /// The row of all, or of so many random ones, that the model likes most.
    fn best_of_all(&mut self, board: &Board<'_>, model: &Model) -> Option<u32> {
        let rows: Vec<u32> = match board.space.len() <= MAX_PREDICTED_ROWS {
            true => (0..board.space.len() as u32).collect(),
            false => (0..MAX_PREDICTED_ROWS).map(|_| self.random.below(board.space.len()) as u32).collect(),
        };
        self.best_predicted(board, model, &rows, 0.0)
    }

    fn children(&mut self, board: &Board<'_>, ranked: &[(u32, f64)], count: usize) -> Vec<u32> {
        let mutation = 1.0 / board.space.names().len().max(1) as f64;
        let child = |_| {
            let parents = [(); 2].map(|()| Board::weighted_parent(ranked, TOP_FOR_CHILDREN, &mut self.random));
            board.child(parents, mutation, &mut self.random).filter(|&row| board.is_open(row))
        };
        (0..count).filter_map(child).collect()
    }

    fn next_row(&mut self, board: &Board<'_>, ranked: &[(u32, f64)], model: &Model) -> Option<u32> {
        let turn = self.turn;
        self.turn += 1;
        if self.restart_rows > 0 {
            self.restart_rows -= 1;
            let top: Vec<u32> = ranked.iter().take(TOP_FOR_CHILDREN).map(|found| found.0).collect();
            return board.distant_open(&top, &mut self.random);
        }
        match turn % 4 {
            0 => {
                let top = ranked.iter().take(TOP_FOR_NEIGHBOURS);
                let around: Vec<u32> = top.flat_map(|found| board.neighbours(found.0)).collect();
                self.best_predicted(board, model, &around, 1.0)
            }
            way @ (1 | 2) => {
                let children = self.children(board, ranked, CHILDREN);
                let kappa = if way == 1 { 0.0 } else { *self.random.choose(&[0.5, 1.0, 2.0]) };
                self.best_predicted(board, model, &children, kappa)
            }
            _ => self.best_of_all(board, model),
        }
    }
}

impl Strategy for Auto {
    fn ask(&mut self, count: usize, space: &Configurations, history: &History, pending: &[u32]) -> Vec<u32> {
        let mut board = Board::new(space, history, pending);
        let ranked = board.ranked();
        self.note_progress(&board, &ranked);
        let mut rows = Vec::new();
        let started = history.trials().len() + pending.len();
        let model = (started >= START_ROWS && ranked.len() >= 2).then(|| self.fit(&board, &ranked));
        while rows.len() < count {
            let row = match &model {
                Some(model) => self.next_row(&board, &ranked, model),
                None => {
                    let known: Vec<u32> = history
                        .trials()
                        .iter()
                        .map(|trial| trial.row)
                        .chain(pending.iter().copied())
                        .chain(rows.iter().copied())
                        .collect();
                    board.distant_open(&known, &mut self.random)
                }
            };
            let Some(row) = row.or_else(|| board.random_open(&mut self.random)) else { break };
            board.take(row);
            rows.push(row);
        }
        rows
    }
}
