//! Helpers shared by strategies: open rows, neighbours, crossover and random rows.

use crate::configurations::Configurations;
use crate::outcome::Outcome;
use crate::random::Random;
use crate::strategy::History;
use rustc_hash::FxHashSet;

/// A space with what has been tried of it, and what is asked for now.
pub(super) struct Board<'a> {
    pub(super) space: &'a Configurations,
    pub(super) history: &'a History,
    taken: FxHashSet<u32>,
}

impl<'a> Board<'a> {
    pub(super) fn new(space: &'a Configurations, history: &'a History, pending: &[u32]) -> Self {
        Self { space, history, taken: pending.iter().copied().collect() }
    }

    /// Whether a row is neither tried nor pending nor asked for.
    pub(super) fn is_open(&self, row: u32) -> bool {
        self.history.outcome(row).is_none() && !self.taken.contains(&row)
    }

    /// Asks for a row.
    pub(super) fn take(&mut self, row: u32) {
        self.taken.insert(row);
    }

    pub(super) fn open_count(&self) -> usize {
        let pending = self.taken.iter().filter(|&&row| self.history.outcome(row).is_none()).count();
        self.space.len() - self.history.trials().len() - pending
    }

    /// An open row, each as likely as the others.
    pub(super) fn random_open(&self, random: &mut Random) -> Option<u32> {
        for _ in 0..64 {
            let row = random.below(self.space.len().max(1)) as u32;
            if (row as usize) < self.space.len() && self.is_open(row) {
                return Some(row);
            }
        }
        let open: Vec<u32> = (0..self.space.len() as u32).filter(|&row| self.is_open(row)).collect();
        if open.is_empty() { None } else { Some(*random.choose(&open)) }
    }

    /// The rows with a score, the best first.
    pub(super) fn ranked(&self) -> Vec<(u32, f64)> {
        let score = |trial: &crate::strategy::Trial| match trial.outcome {
            Outcome::Score(score) => Some((trial.row, score)),
            Outcome::Failed(_) => None,
        };
        let mut ranked: Vec<(u32, f64)> = self.history.trials().iter().filter_map(score).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked
    }

    /// The rows that differ from this one in one parameter.
    pub(super) fn neighbours(&self, row: u32) -> Vec<u32> {
        let mut cells = self.space.row(row).to_vec();
        let mut found = Vec::new();
        for column in 0..cells.len() {
            let own = cells[column];
            for cell in 0..self.space.values(column).len() as u16 {
                if cell != own {
                    cells[column] = cell;
                    found.extend(self.space.find(&cells));
                }
            }
            cells[column] = own;
        }
        found
    }

    /// The rows whose cells are those of this one or next to them, at one or two places.
    pub(super) fn adjacent(&self, row: u32) -> Vec<u32> {
        let own = self.space.row(row);
        let steps: Vec<(usize, u16)> = (0..own.len())
            .flat_map(|column| {
                let last = self.space.values(column).len() as u16 - 1;
                let (lower, upper) = (own[column].checked_sub(1), Some(own[column] + 1).filter(|&cell| cell <= last));
                [lower, upper].into_iter().flatten().map(move |cell| (column, cell))
            })
            .collect();
        let mut found = Vec::new();
        for (at, &(column, cell)) in steps.iter().enumerate() {
            let mut cells = own.to_vec();
            cells[column] = cell;
            found.extend(self.space.find(&cells));
            for &(other, second) in steps[at + 1..].iter().filter(|step| step.0 != column) {
                let mut cells = cells.clone();
                cells[other] = second;
                found.extend(self.space.find(&cells));
            }
        }
        found
    }

    /// A valid row with each cell from one of two parents, some replaced by random ones.
    pub(super) fn child(&self, parents: [u32; 2], mutation: f64, random: &mut Random) -> Option<u32> {
        let [a, b] = parents.map(|parent| self.space.row(parent));
        for _ in 0..20 {
            let cells: Vec<u16> = (0..a.len())
                .map(|column| match random.unit() < mutation {
                    true => random.below(self.space.values(column).len()) as u16,
                    false => {
                        if random.bits() & 1 == 0 {
                            a[column]
                        } else {
                            b[column]
                        }
                    }
                })
                .collect();
            if let Some(row) = self.space.find(&cells) {
                return Some(row);
            }
        }
        None
    }

    /// One of the first `count` of a ranking, better ones more often.
    pub(super) fn weighted_parent(ranked: &[(u32, f64)], count: usize, random: &mut Random) -> u32 {
        let count = count.min(ranked.len());
        let total = count * (count + 1) / 2;
        let mut ticket = random.below(total);
        for (place, &(row, _)) in ranked[..count].iter().enumerate() {
            let weight = count - place;
            if ticket < weight {
                return row;
            }
            ticket -= weight;
        }
        ranked[0].0
    }

    /// Parameters in which two rows differ.
    pub(super) fn distance(&self, a: u32, b: u32) -> usize {
        self.space.row(a).iter().zip(self.space.row(b)).filter(|(a, b)| a != b).count()
    }

    /// An open row that is far from all of `others`: the farthest of some random ones.
    pub(super) fn distant_open(&self, others: &[u32], random: &mut Random) -> Option<u32> {
        let candidates: Vec<u32> = (0..16).filter_map(|_| self.random_open(random)).collect();
        let nearest = |row: u32| others.iter().map(|&other| self.distance(row, other)).min().unwrap_or(0);
        candidates.into_iter().max_by_key(|&row| nearest(row))
    }
}

/// The scores of some rows, for strategies that keep a population; failures count as infinite.
pub(super) fn score_of(history: &History, row: u32) -> Option<f64> {
    match history.outcome(row)? {
        Outcome::Score(score) => Some(*score),
        Outcome::Failed(_) => Some(f64::INFINITY),
    }
}
