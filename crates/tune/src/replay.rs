//! Replays a recorded search without a device: the outcome and samples of every configuration are known.

use crate::configurations::Configurations;
use crate::formats::kernel_tuner::KernelTunerCache;
use crate::outcome::Outcome;
use crate::random::Random;
use std::sync::Arc;

/// Recorded outcomes of all configurations of a space.
#[derive(Debug, Clone)]
pub struct Replay {
    space: Arc<Configurations>,
    outcomes: Vec<Outcome>,
    samples: Vec<Vec<f64>>,
}

impl Replay {
    /// Makes a replay of a cache file.
    pub fn new(cache: &KernelTunerCache) -> Self {
        let (space, entries) = cache.configurations();
        Self {
            space: space.into(),
            outcomes: entries.iter().map(|entry| entry.outcome.clone()).collect(),
            samples: entries.iter().map(|entry| entry.samples.clone()).collect(),
        }
    }

    /// The configurations.
    pub fn space(&self) -> &Arc<Configurations> {
        &self.space
    }

    /// The recorded outcome of a row.
    pub fn outcome(&self, row: u32) -> &Outcome {
        &self.outcomes[row as usize]
    }

    /// A simulated measurement: one of the recorded samples, at random.
    pub fn noisy_outcome(&self, row: u32, random: &mut Random) -> Outcome {
        match (self.outcome(row), &self.samples[row as usize][..]) {
            (Outcome::Score(_), samples @ [_, ..]) => Outcome::Score(*random.choose(samples)),
            (outcome, _) => outcome.clone(),
        }
    }

    /// The lowest of all scores.
    pub fn optimum(&self) -> Option<f64> {
        let score = |outcome: &Outcome| if let Outcome::Score(score) = outcome { Some(*score) } else { None };
        self.outcomes.iter().filter_map(score).min_by(f64::total_cmp)
    }
}
